"""What lesson 6 says in prose: each statement with a number is held against the engine."""

import wmviz
from tests.notebooks.prose import HeldProse, read_lesson
from wmviz.times import MIN_MS, time_ms, time_text

CELLS, PROSE = read_lesson("06-many-inputs")

S = wmviz.scenario("quiet-partition")
T = wmviz.simulate(S)
SPARE = wmviz.scenario("spare-subtask")
HOURS = {time_text(f.window.end_ms) for f in wmviz.simulate(S.replace(strategy_at="after")).all_firings}


def last(scenario):
    trace = wmviz.simulate(scenario)
    return {name: time_text(ms) for name, ms in trace.state(trace.steps - 1).watermarks.items()}


def first_firing(name):
    return wmviz.simulate(wmviz.scenario(name)).all_firings[0]


def uneven():
    """Take the events of the morning that is read unevenly from the cell that has them."""
    (source,) = [cell.source for cell in CELLS if "read-unevenly" in cell.source]
    namespace = {"s": S, "wmviz": wmviz}
    exec(source.partition("for at in")[0], namespace)
    return namespace["uneven"]


UNEVEN = uneven()
RUNNERS = [[e.key, e.value, e.event_time_ms, e.arrival_time_ms, 0] for e in S.events if e.partition == 0]
RULES = S.replace(events=RUNNERS, subtasks=2, inputs=2)
AFTER = wmviz.simulate(UNEVEN.replace(strategy_at="after"))
ON_SOURCE = wmviz.simulate(UNEVEN)

# A piece of the prose → whether it is so.
FACTS = {
    "r4471 and r7 use queue 0, r9 uses queue 1": (
        {(e.key, e.partition) for e in S.events} == {("r4471", 0), ("r7", 0), ("r9", 1)}
    ),
    "the job starts at 6:00. At 6:20 r9 sends a kilometre": (
        S.grid_start_ms == time_ms("6:00")
        and max(e.event_time_ms for e in S.events if e.partition == 1) == time_ms("6:20")
    ),
    "At 8:05 the screen still shows **no result at all**": not T.all_firings,
    "The newest event of all is r4471's 8:05. Lesson 3 would give a watermark of 8:02:59.999, enough for the 6 am "
    "windows and the 7 am windows": (
        last(S.replace(strategy_at="after"))["window"] == "8:02:59.999" and {"7:00", "8:00"} == HOURS
    ),
    "The bound is 2 minutes": S.bound_ms == time_ms("0:02"),
    "partition 0: 8:05 − 2 min − 1 ms = 8:02:59.999": last(S)["partition 0"] == "8:02:59.999",
    "partition 1: 6:20 − 2 min − 1 ms = 6:17:59.999": last(S)["partition 1"] == "6:17:59.999",
    "the windows get the lower one, 6:17:59.999": last(S)["window"] == "6:17:59.999",
    "All 8 kilometres are in their windows": T.ledger().counted == len(S.events) == 8,
    "Here the result is the same, 6:17:59.999": last(S.replace(subtasks=2))["window"] == "6:17:59.999",
    "All events of r4471 come through partition 0": {e.partition for e in S.events if e.key == "r4471"} == {0},
    "their input stays at `MIN`, and no window behind the operator fires, though the events are far ahead": (
        (last(RULES)["source[1]"], last(RULES)["window"], last(RULES)["source[0]"]) == ("MIN", "MIN", "8:02:59.999")
    ),
    "Their input becomes idle, and nobody waits for it": (
        last(RULES.replace(idle_timeout="1 min"))["window"] == "8:02:59.999"
    ),
    "r4471's 7:03 moved the one watermark to 7:00:59.999": AFTER.seen_watermarks["r9@6:10"] == time_ms("7:00:59.999"),
    "r9's kilometres of 6:10 and 6:20 came, the windows of 6 am were gone": (
        AFTER.outcomes().late == {"r9@6:10", "r9@6:20"} and not ON_SOURCE.outcomes().late
    ),
    "no partition was out of order": all(
        sorted(times) == times
        for times in ([e.event_time_ms for e in UNEVEN.events if e.partition == p] for p in (0, 1))
    ),
    "r9 has 2,000 m": ON_SOURCE.totals["r9", time_ms("6:00"), time_ms("7:00")] == 2000,
    "Its last event is of 6:58, and at 7:00:03 it is read to the end": all(
        max(e.event_time_ms for e in s.events if e.partition == 1) == time_ms("6:58")
        and [(h.what, h.at_ms) for h in s.happenings] == [("finish", time_ms("7:00:03"))]
        for s in map(wmviz.scenario, ("finished-input", "finished-partition"))
    ),
    "the 6 am windows fire at 7:00:03": first_firing("finished-input").at_ms == time_ms("7:00:03"),
    "So the windows fire at 7:00:03.200": first_firing("finished-partition").at_ms == time_ms("7:00:03.200"),
    "every 200 ms, if nothing else is set": wmviz.scenario("finished-partition").interval_ms == 200,
    "The topic has **one** partition": (SPARE.partition_count, SPARE.subtasks) == (1, 2),
    "`MIN` is the number −9223372036854775808": MIN_MS == -9223372036854775808,
    "A smaller bound does not help: `MIN` stays `MIN`": last(SPARE.replace(bound="0"))["window"] == "MIN",
    "A second partition does not help either": not wmviz.simulate(SPARE.replace(partitions=2)).all_firings,
    "not more **source** subtasks than partitions": bool(wmviz.simulate(SPARE.replace(subtasks=1)).all_firings),
}


class TestProse(HeldProse):
    """What the prose says is so."""

    least_sums = 2
    by_hand = frozenset({"6:59:59.999"})


def test_a_silent_input_holds_what_an_ended_one_does_not():
    ended = wmviz.scenario("finished-input")
    assert wmviz.simulate(ended).all_firings
    assert not wmviz.simulate(ended.replace(happenings=[])).all_firings


def test_with_a_subtask_for_each_partition_a_quiet_one_holds_the_time_after_the_source_too():
    assert not wmviz.simulate(S.replace(strategy_at="after", subtasks=2)).all_firings
    assert wmviz.simulate(S.replace(strategy_at="after")).all_firings
