"""What lesson 4 says in prose: each number is held against the engine, the trap against Flink's classes."""

import zipfile
from itertools import pairwise
from pathlib import Path

import pytest

import wmviz
from tests.notebooks.prose import HeldProse, read_lesson
from wmviz.times import time_ms, time_text
from wmviz.trace import Kind

CELLS, PROSE = read_lesson("04-late-events")

S = wmviz.scenario("price-feed")
T = wmviz.simulate(S)
EVENTS = {time_text(event.event_time_ms): event for event in S.events}
START_MS, END_MS = time_ms("10:00"), time_ms("10:01")
MINUTE = [firing for firing in T.all_firings if firing.window.start_ms == START_MS]
OF_MINUTE = [event for event in S.events if START_MS <= event.event_time_ms < END_MS]
SLIDES = S.replace(lateness="0 ms", window={"type": "sliding", "size": "1 min", "slide": "30 s"})
GAPS = wmviz.scenario("sliding-gaps")
SATURDAY = wmviz.scenario("busy-saturday").sample(2000)


def run(scenario=S, **changes):
    return wmviz.simulate(scenario.replace(**changes))


def late_in(size):
    return len(run(lateness="0 ms", window={"size": size}).outcomes().late)


def counted(trigger):
    return run(aggregate="count", sink="append", window={"trigger": trigger}).totals["gold", START_MS, END_MS]


def met(time, trace=T):
    return time_text(trace.seen_watermarks[EVENTS[time].id])


def has_content_until(watermark):
    (at,) = [row.at_ms for row in T if row.kind is Kind.CLEANED]
    state = T.state(T.step_at(at))
    return time_text(state.watermarks["window"]) == watermark and not [
        window for window in state.windows if window.window.start_ms == START_MS
    ]


def all_day(until):
    """Give the ends of the hours that have state, with a lateness of 20 h and a kilometre every ten minutes."""
    times = [f"{hour}:{minute:02}" for hour in range(24) for minute in range(0, 60, 10)]
    rows = [["r9", 1000, at, at] for at in times[: times.index(until) + 1]]
    leaderboard = wmviz.scenario("leaderboard")
    return wmviz.simulate(leaderboard.replace(start="0:00", lateness="20 h", events=rows)).state()


def late_of_saturday():
    """Give the late kilometres of the Saturday, and those that are more than the bound on their way."""
    seen, hour_ms = wmviz.simulate(SATURDAY).seen_watermarks, time_ms("1:00")
    late = {e.id for e in SATURDAY.events if seen[e.id] >= e.event_time_ms // hour_ms * hour_ms + hour_ms - 1}
    slow = {e.id for e in SATURDAY.events if e.arrival_time_ms - e.event_time_ms > SATURDAY.bound_ms}
    return late, slow


LATE, SLOW = late_of_saturday()
EVENING = all_day("23:10")

FORUM_ROWS = [["n", 1, ms, place] for place, ms in enumerate([1, 2, 1337, 42, 3, 4, 5])]
FORUM = run(start=None, bound="9 ms", lateness="10 ms", window={"size": "10 ms"}, events=FORUM_ROWS)

# A piece of the prose → whether it is so.
FACTS = {
    "a bound of 2 s, an allowed lateness of 30 s, and a side output": (
        (S.bound_ms, S.lateness_ms, S.late_to) == (2_000, 30_000, "side")
    ),
    "These are 12 prices": len(S.events) == 12,
    "Its window fires for the first time when 10:01:05 arrives": (
        MINUTE[0].at_ms == EVENTS["10:01:05"].arrival_time_ms and time_text(MINUTE[0].watermark_ms) == "10:01:02.999"
    ),
    "Then four more prices of that minute arrive": (
        sum(event.arrival_time_ms > MINUTE[0].at_ms for event in OF_MINUTE) == 4
    ),
    "each result has the **whole content**": all(
        set(before.event_ids) < set(after.event_ids) for before, after in pairwise(MINUTE)
    ),
    "(10,200 + 10,240) ÷ 2 = 10,220": (10_200 + 10_240) / 2 == MINUTE[0].value == 10_220,
    "(10,200 + 10,240 + 10,220) ÷ 3 = 10,220": (10_200 + 10_240 + 10_220) / 3 == MINUTE[1].value == 10_220,
    "Four prices came **behind the watermark**": (
        sum(T.seen_watermarks[event.id] >= event.event_time_ms for event in S.events) == 4
    ),
    "With windows of 1 min four are late, with windows of 90 s one, with windows of 5 min none": (
        [late_in(size) for size in ("1 min", "90 s", "5 min")] == [4, 1, 0]
    ),
    "A test with windows of a day and an empty side output is not broken": late_in("24 h") == 0,
    "(bound 2 min, windows of 1 h, lateness 20 min)": (
        (SATURDAY.bound_ms, SATURDAY.window.size_ms, SATURDAY.lateness_ms)
        == (time_ms("0:02"), time_ms("1:00"), time_ms("0:20"))
    ),
    "only one in four of these is late": LATE < SLOW and 0.22 < len(LATE) / len(SLOW) < 0.28,
    "it is the bounded strategy with a bound of 0": (
        run(strategy="ascending").outcomes() == run(bound="0 ms").outcomes()
    ),
    "The first kilometre of 7:00 makes the 6 am windows fire": bool(
        run(strategy="ascending", events=[["r9", 1, "10:00:10", "10:00"], ["r7", 1, "10:01", "10:01"]]).all_firings
    ),
    "The state is gone **at** this watermark, not at 10:01:30": has_content_until("10:01:29.999"),
    "10:00:59.999 met 10:01:29.998 and was counted; 10:00:20 met 10:01:29.999 and was not": (
        (met("10:00:59.999"), met("10:00:20")) == ("10:01:29.998", "10:01:29.999")
        and T.outcomes().late == {EVENTS["10:00:20"].id}
    ),
    "The first result comes no later for it": run(lateness="0 ms").all_firings[0].at_ms == MINUTE[0].at_ms,
    "With all six prices the average would be 10,235": (
        len(OF_MINUTE) == 6 and sum(event.value for event in OF_MINUTE) / 6 == 10_235
    ),
    "Tier 2 gives 10,240": MINUTE[-1].value == 10_240,
    "Five of them should be counted": len(MINUTE[-1].event_ids) == 5,
    "2 + 3 + 4 + 5 = 14": counted("default") == [2, 3, 4, 5],
    "The minute shows 1, and no error": counted("purging_event_time")[-1] == 1,
    "2 + 1 + 1 + 1 = 5": counted("purging_event_time") == [2, 1, 1, 1],
    "10:00:58 to [10:00, 10:01) and to [10:00:30, 10:01:30)": (
        {
            (time_text(w.start_ms), time_text(w.end_ms))
            for w in (f.window for f in run(SLIDES, lateness="30 s").all_firings if "gold@10:00:58" in f.event_ids)
        }
        == {("10:00", "10:01"), ("10:00:30", "10:01:30")}
    ),
    "With a lateness of 30 s all three count in both windows": (
        [run(SLIDES, lateness=ms).ledger().missed for ms in ("0 ms", "30 s")] == [3, 0]
    ),
    "windows of 10 min start every 15 min": (
        (GAPS.window.size_ms, GAPS.window.slide_ms) == (time_ms("0:10"), time_ms("0:15"))
    ),
    "Two kilometres fall into the gap from 6:10 to 6:15": (
        sum(time_ms("6:10") <= event.event_time_ms < time_ms("6:15") for event in GAPS.events) == 2
    ),
    "(With an allowed lateness it has to be at least so far behind.)": (
        # r9@6:11 meets 6:19:59.999, so it is 8 min 59.999 s behind
        [run(GAPS, lateness=ms).dropped_count for ms in (539_999, 540_000)] == [1, 0]
    ),
    "1337 moves the watermark to 1327": max(FORUM.seen_watermarks.values()) == 1327,
    "[0, 10) is gone at 9 + 10 = 19 and [40, 50) at 49 + 10 = 59": (
        {event[2:] for event in FORUM.outcomes().late} == {"0:00:00.042", "0:00:00.003", "0:00:00.004", "0:00:00.005"}
    ),
    "The day has more than 86 million milliseconds to go": time_ms("24:00") - 1337 > 86_000_000,
    "At 23:10 the watermark is 23:07:59.999": time_text(EVENING.watermarks["window"]) == "23:07:59.999",
    "every hour that ended after 3:08 is kept: 20 of them, and the one that is running": (
        time_text(min(w.window.end_ms for w in EVENING.windows)) == "4:00" and len(EVENING.windows) == 21
    ),
    "21 × 22,000 = 462,000": 21 * 22_000 == 462_000,
    "At 10:01:32.300 the minute becomes final": EVENTS["10:01:32"].arrival_time_ms == time_ms("10:01:32.300")
    and has_content_until("10:01:29.999"),
    "for its 20 minutes": wmviz.scenario("leaderboard").lateness_ms == time_ms("0:20"),
    "whose side output has one price, though three more are missing in a window": (
        (run(SLIDES).ledger().side_output, run(SLIDES).ledger().missed) == (1, 3)
    ),
    "Only in the first job does the counter tell the whole story": (
        [
            (ledger.missed, ledger.in_no_window, ledger.side_output)
            for ledger in (
                run(lateness="0 ms", late_to="drop").ledger(),
                run(lateness="0 ms").ledger(),
                run(SLIDES, late_to="drop").ledger(),
                run(GAPS, late_to="side").ledger(),
            )
        ]
        == [(0, 0, 0), (0, 0, 4), (3, 0, 0), (0, 1, 1)]
    ),
}


class TestProse(HeldProse):
    """What the prose says is so."""

    least_sums = 4
    by_hand = frozenset({"10:00:59.999", "22:00", "22:59:59.999", "23:19:59.999", "6:10"})


def test_an_event_is_never_both_dropped_and_in_the_side_output():
    for lateness in ("0 ms", "30 s"):
        for late_to in ("drop", "side"):
            trace = run(lateness=lateness, late_to=late_to)
            assert not (trace.dropped_count and trace.outcomes().late)


COUNTED = ["WindowOperator", "RowTimeRangeBoundedPrecedingFunction", "RowTimeRowsBoundedPrecedingFunction"]
NOT_COUNTED = ["IntervalJoinOperator", "RowTimeIntervalJoin", "TemporalRowTimeJoinOperator"]


@pytest.mark.flink
def test_which_of_flinks_operators_have_the_counter():
    """Look for the name of the metric in the classes that the trap names."""
    pyflink = pytest.importorskip("pyflink")
    found = {}
    for jar in (Path(pyflink.__file__).parent / "lib").glob("flink-*-2.3.0.jar"):
        if not jar.name.startswith(("flink-dist", "flink-table-runtime")):
            continue
        with zipfile.ZipFile(jar) as classes:
            for name in classes.namelist():
                short = name.rpartition("/")[2].removesuffix(".class")
                if short in (*COUNTED, *NOT_COUNTED):
                    found[short] = found.get(short, False) or b"numLateRecordsDropped" in classes.read(name)
    assert found == dict.fromkeys(COUNTED, True) | dict.fromkeys(NOT_COUNTED, False)
