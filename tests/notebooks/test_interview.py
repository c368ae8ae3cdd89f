"""What notebook 19 says in prose and aloud: each number is held against the engine, each version against its time."""

import re

import pytest

import wmviz
from tests.notebooks.prose import HeldProse, read_lesson
from tests.semantics.on_flink import outputs_of_all
from wmviz.course.interview.cases import LADDER, RUNGS, SILENCE, hour, rung, tried
from wmviz.times import MIN_MS, time_ms, time_text
from wmviz.trace import CheckpointPhase, Kind, Status

CELLS, PROSE = read_lesson("19-interview")
WORDS_A_MINUTE = 150

BOARD = wmviz.scenario("leaderboard")
T, BY_SERVER = wmviz.simulate(BOARD), wmviz.simulate(BOARD.by_server_clock())
QUIET, BET = wmviz.scenario("quiet-partition"), wmviz.scenario("idle-bet")
RUN = {name: wmviz.simulate(rung(name)) for name in RUNGS}
SINKS = {sink: wmviz.simulate(rung("sink", sink=sink)) for sink in ("append", "upsert", "transactional")}
SATURDAY = wmviz.scenario("busy-saturday").sample(2000)
BOUNDS = tried({f"{minutes} min": SATURDAY.replace(bound=f"{minutes} min") for minutes in (0, 2, 20)}, str)


def spoken(heading):
    """Give the paragraphs that are said aloud in the cells with this heading."""
    texts = [cell.source.partition(heading)[2] for cell in CELLS if heading in cell.source]
    return ["\n".join(re.findall(r"^> ?(?:\d\. )?(.*)$", text, re.MULTILINE)) for text in texts]


ONE = [line for text in spoken("## One minute") for line in text.splitlines()]
FIVE, MORE = spoken("**Say, in 5 minutes:**"), spoken("**Go on, in 15 minutes:**")


def words(texts):
    return [len(text.split()) for text in texts]


def of_six(trace):
    return {key: metres for (key, start_ms, _), metres in trace.totals.items() if start_ms == time_ms("6:00")}


def fired(trace, key, start="6:00"):
    return [
        (f.value, time_text(f.at_ms)) for f in trace.all_firings if f.key == key and f.window.start_ms == time_ms(start)
    ]


def met(event, trace=T):
    return time_text(trace.seen_watermarks[event])


def watermark_after(newest, bound="2 min"):
    trace = wmviz.simulate(BOARD.replace(bound=bound, events=[["r9", 1000, "6:30"], ["r7", 1000, newest]]))
    return time_text(trace.state().watermarks["window"]), bool(trace.all_firings)


def clocks(trace, at):
    return {name: time_text(ms) for name, ms in trace.state(trace.step_at(time_ms(at))).watermarks.items()}


def back_at(time, timeout):
    return fired(wmviz.simulate(rung("harm", idle_timeout=timeout, happenings=[{**SILENCE, "until": time}])), "r9")


def at(trace, kind, what=""):
    return [time_text(r.at_ms) for row, r in enumerate(trace) if r.kind is kind and what in trace.sentence(row)]


def first_seen(trace, key, values):
    """Say when a reader of the sink finds exactly these values of a runner's 6 am hour."""
    for state in map(trace.state, range(trace.steps)):
        if [value for runner, _, value in state.sink if runner == key] == values:
            return time_text(state.at_ms)
    return None


def bet(timeout):
    trace = wmviz.simulate(BET.replace(idle_timeout=timeout))
    return [time_text(f.at_ms) for f in trace.all_firings[:1]], len(trace.outcomes().late)


ALL_DAY = wmviz.simulate(
    BOARD.replace(
        start="0:00",
        lateness="20 h",
        events=[["r9", 1000, time, time] for time in (f"{h}:{m}" for h in range(24) for m in range(10, 60, 10))],
    )
)
LONG = wmviz.simulate(rung("bound", bound="15 min"))

# A piece of the prose → whether it is so.
FACTS = {
    "a kilometre of 6:56 that arrives at 7:09 counts for the 6 am badge": (
        BOARD.events[10].id == "r4471@6:56" and time_text(BOARD.events[10].arrival_time_ms) == "7:09"
    ),
    "13 minutes later": time_ms("7:09") - time_ms("6:56") == time_ms("0:13"),
    "here two minutes": BOARD.bound_ms == time_ms("0:02"),
    "By the server's clock r9 wins the 6 am badge with 2,500 m. By event time r4471 wins it with 3,000 m": (
        max(of_six(BY_SERVER).items(), key=lambda row: row[1]) == ("r9", 2500)
        and max(of_six(T).items(), key=lambda row: row[1]) == ("r4471", 3000)
    ),
    "an event of 7:01:59.999 is not enough. An event of 7:02 is": (
        [watermark_after(newest) for newest in ("7:01:59.999", "7:02")]
        == [("6:59:59.998", False), ("6:59:59.999", True)]
    ),
    "so 7:01:59.999 fires the 6 am window there, and here it does not": (
        bool(wmviz.simulate(wmviz.scenario("sql-watermark")).all_firings)
        and not wmviz.simulate(wmviz.scenario("sql-watermark").replace(api="datastream")).all_firings
        and time_text(max(e.event_time_ms for e in wmviz.scenario("sql-watermark").events)) == "7:01:59.999"
    ),
    "97 percent of the kilometres arrive within two minutes": (
        0.97
        < sum(e.arrival_time_ms - e.event_time_ms <= 120_000 for e in SATURDAY.events) / len(SATURDAY.events)
        < 0.98
    ),
    "In a sample of 2,000 runners, 0.70 percent are late": (
        f"{sum(BOUNDS.loc['2 min', ['late, counted', 'too late']]) / len(SATURDAY.events):.2%}" == "0.70%"
    ),
    "173 kilometres are late but counted": BOUNDS.loc["0 min", "late, counted"] == 173,
    "With two minutes it comes after about two minutes, and 66 are late but counted": (
        BOUNDS.loc["2 min", "late, counted"] == 66 and BOUNDS.loc["2 min", "first result after"].startswith("2 min ")
    ),
    "With 20 minutes it comes after 20 minutes, and ten are": (
        BOUNDS.loc["20 min", "late, counted"] == 10 and BOUNDS.loc["20 min", "first result after"].startswith("20 min ")
    ),
    "61, 61, and 51. So ten times the waiting buys ten kilometres": list(BOUNDS["too late"]) == [61, 61, 51],
    "the first result comes after about two seconds": BOUNDS.loc["0 min", "first result after"].startswith("1 s 8"),
    "A kilometre of 6:56 that meets the watermark 7:02:59.999 is late, but it counts": (
        met("r4471@6:56") == "7:02:59.999" and [value for value, _ in fired(T, "r4471")] == [2000, 3000]
    ),
    "At 7:19:59.999, the last millisecond plus 20 minutes, the state of the window is deleted": (
        time_text(time_ms("6:59:59.999") + BOARD.lateness_ms) == "7:19:59.999"
        and all("7:19:59.999" in T.sentence(row) for row, r in enumerate(T) if r.kind is Kind.CLEANED)
    ),
    "one millisecond earlier r12's 6:58 still counts": (
        met("r12@6:58") == "7:19:59.998" and "r12@6:58" not in T.outcomes().late
    ),
    "On my stage partition 1 is silent after 6:20. So everything waits at 6:17:59.999, without an error": (
        max(time_text(e.event_time_ms) for e in QUIET.events if e.partition == 1) == "6:20"
        and clocks(wmviz.simulate(QUIET), "8:05:10")["window"] == "6:17:59.999"
    ),
    "after a minute without events nobody waits for that partition": bool(
        wmviz.simulate(QUIET.replace(idle_timeout="1 min")).all_firings
    ),
    "the timeout is one second, an input sends every four, and three of its events are too late": (
        BET.idle_timeout_ms == 1000 and bet("1 s")[1] == 3
    ),
    "A timeout of 5 s is longer than the gaps of 4 s: nothing is too late": bet("5 s")[1] == 0 and bool(bet("5 s")[0]),
    "9,400 metres from the checkpoint, 800 read again, 1,000 read for the first time, 11,200 in all": (
        9_400 + 800 + 1_000 == 11_200 == hour(wmviz.simulate(wmviz.scenario("crash-and-replay")), "r4471")
    ),
    "The one that appends has two rows twice": (
        wmviz.simulate(wmviz.scenario("written-twice")).totals["r9", time_ms("6:00"), time_ms("7:00")] == [1200, 1200]
    ),
    "The transactional one has each result once: r4471's first total and its correction": (
        hour(wmviz.simulate(wmviz.scenario("transactional-sink")), "r4471") == [2000, 3000]
    ),
    "With 20 hours I would keep up to 21 hours for each runner": len(ALL_DAY.state().windows) == 21,
    '| 1 | `"bound"` | nothing |': RUNGS["bound"] == {},
    "partition 1 delivers nothing from 6:25 to 7:24:10": (
        RUNGS["idle"] == {"happenings": [SILENCE]}
        and (SILENCE["partition"], SILENCE["at"], SILENCE["until"]) == (1, "6:25", "7:24:10")
    ),
    "the same, with an idle timeout of 10 min": RUNGS["harm"] == {**RUNGS["idle"], "idle_timeout": "10 min"},
    "both partitions deliver; checkpoints every 10 min, a crash at 7:03:30": (
        [(h["what"], h["at"]) for h in RUNGS["crash"]["happenings"]] == [("crash", "7:03:30")]
        and RUNGS["crash"]["checkpoints"]["interval"] == "10 min"
    ),
    "as in question 3, with checkpoints and a crash at 7:24:30": (
        RUNGS["overwrite"]["happenings"][0] == SILENCE
        and RUNGS["overwrite"]["happenings"][1]["at"] == "7:24:30"
        and RUNGS["overwrite"]["idle_timeout"] == RUNGS["harm"]["idle_timeout"]
    ),
    "as in question 4, with three sinks": RUNGS["sink"] == {**RUNGS["crash"], "sink": "append"},
    "r9 sends to partition 1": {e.partition for e in LADDER.events if e.key == "r9"} == {1},
    "The bound is 2 min, the lateness 20 min": (LADDER.bound_ms, LADDER.lateness_ms) == (120_000, 1_200_000),
    "7:02, arrives at 7:02:10, and the 6 am windows fire then. r4471 has 2,000 m": (
        fired(RUN["bound"], "r4471")[0] == (2000, "7:02:10")
        and clocks(RUN["bound"], "7:02:05")["window"] == "6:59:59.998"
    ),
    "So the window fires again at 7:09, with the whole total, 3,000 m": fired(RUN["bound"], "r4471")[1:]
    == [(3000, "7:09")],
    "its state is there until 7:19:59.999": all(
        "7:19:59.999" in RUN["bound"].sentence(row) for row, r in enumerate(RUN["bound"]) if r.kind is Kind.CLEANED
    ),
    "I could raise the bound to 15 min. Then r4471 has 3,000 m in the first result, and no result is corrected": (
        fired(LONG, "r4471") == [(3000, "7:22:05")] and len(LONG.all_firings) == 3
    ),
    "all runners see their 6 am result at 7:22:05, about 20 minutes later": (
        {at for key in ("r9", "r7") for _, at in fired(LONG, key)} == {"7:22:05"}
    ),
    "The window's is 6:17:59.999. Partition 0 is at 7:19:59.999": (
        clocks(RUN["idle"], "7:22:10")["partition 0"] == "7:19:59.999"
        and clocks(RUN["idle"], "7:22:10")["window"] == "6:17:59.999"
    ),
    "If partition 1 comes back at 7:24:10, all windows fire at once, with full totals, also the 3,500 m of r9": (
        fired(RUN["idle"], "r9") == [(3500, "7:24:10")] and RUN["idle"].totals == RUN["bound"].totals
    ),
    "The 6 am results come at 7:02:10": fired(RUN["harm"], "r9") == [(3000, "7:02:10")],
    "it had r9's 500 m of 6:50": [e.value for e in LADDER.events if e.id == "r9@6:50"] == [500],
    "If it is back before the window fires, nothing happens": back_at("6:55", "10 min") == back_at("6:55", None),
    "If it is back at 7:05 or at 7:21, r9's kilometre is late but counted: 3,000 m first, 3,500 m then": (
        [back_at(time, "10 min") for time in ("7:05", "7:21")]
        == [[(3000, "7:02:10"), (3500, "7:05")], [(3000, "7:02:10"), (3500, "7:21")]]
    ),
    "At 7:24:10 the watermark is 7:19:59.999, the state is deleted, and the 500 m go to the side output": (
        met("r9@6:50", RUN["harm"]) == "7:19:59.999" and RUN["harm"].outcomes().late == {"r9@6:50"}
    ),
    "a return until partition 0 has brought an event of 7:22": at(RUN["harm"], Kind.CLEANED) == ["7:22:10"] * 3,
    "30 minutes give the same": back_at("7:24:10", "30 min") == back_at("7:24:10", "10 min") == [(3000, "7:02:10")],
    "are read again: 6:54 of r7, 7:02 of r9, and 7:01:59.999 and 7:02 of r7. Each counts once": (
        [RUN["crash"].subject_of(row).id for row, r in enumerate(RUN["crash"]) if r.kind is Kind.REWOUND]
        == ["r7@6:54", "r9@7:02", "r7@7:01:59.999", "r7@7:02"]
    ),
    "its last checkpoint is of 6:54": at(RUN["crash"], Kind.CHECKPOINT, "4 is complete") == ["6:54"]
    and bool(at(RUN["crash"], Kind.RESTORED, "checkpoint 4")),
    "At 7:03:40 it is at its lowest value": any(
        r.kind is Kind.RESTORED and RUN["crash"].state(r.step).watermarks["window"] == MIN_MS for r in RUN["crash"]
    ),
    "the 6 am windows fire **again**, at 7:03:40": fired(RUN["crash"], "r9") == [(3500, "7:02:10"), (3500, "7:03:40")],
    "r4471's 6:56 comes at 7:09 as before": fired(RUN["crash"], "r4471")[2:] == [(3000, "7:09")],
    "The same as without a crash": RUN["crash"].totals == RUN["bound"].totals,
    "goes back to the checkpoint of 7:24": at(RUN["overwrite"], Kind.CHECKPOINT, "7 is complete") == ["7:24"]
    and bool(at(RUN["overwrite"], Kind.RESTORED, "checkpoint 7")),
    "it was deleted at 7:22:10": at(RUN["overwrite"], Kind.CLEANED)[:3] == ["7:22:10"] * 3,
    "which fires at 7:26:10 with 500 m": fired(RUN["overwrite"], "r9") == [(3000, "7:02:10"), (500, "7:26:10")],
    "With a lateness of 30 min r9 has 3,500 m in the end": (
        hour(wmviz.simulate(rung("overwrite", lateness="30 min")), "r9") == 3500
    ),
    "It appends: r9 has 3,500 m twice, and r4471 has 2,000, 2,000 and 3,000": (
        (hour(SINKS["append"], "r9"), hour(SINKS["append"], "r4471")) == ([3500, 3500], [2000, 2000, 3000])
    ),
    "A reader who adds gets 7,000 m for each": 3500 + 3500 == 2000 + 2000 + 3000 == 7000,
    "one row each, 3,500 and 3,000": (hour(SINKS["upsert"], "r9"), hour(SINKS["upsert"], "r4471")) == (3500, 3000),
    "The second ones are visible at 7:04:42": first_seen(SINKS["transactional"], "r9", [3500]) == "7:04:42",
    "r4471's correction of 7:09 is visible at 7:14:42": (
        first_seen(SINKS["transactional"], "r4471", [2000, 3000]) == "7:14:42"
    ),
    "late by up to a checkpoint interval: here 10 minutes": rung("sink").checkpoints.interval_ms == time_ms("0:10"),
    "partition 1 at 6:30:12": any(
        r.kind is Kind.STATUS and r.value == Status.IDLE and time_text(r.at_ms) == "6:30:12" for r in RUN["harm"]
    ),
    "what is taken away at 7:03:30": at(RUN["crash"], Kind.CRASHED) == ["7:03:30"],
    "the band of 6 am at 7:22:10, and at 7:24:40": at(RUN["overwrite"], Kind.ADDED, "500 m")[-1:] == ["7:24:40"],
}


class TestProse(HeldProse):
    """What the prose says is so."""

    least_sums = 2
    by_hand = frozenset({"6:10"})


def test_each_version_fits_into_its_time():
    one, five, more = sum(words(ONE)), sum(words(FIVE)), sum(words(MORE))
    assert (len(ONE), len(FIVE), len(MORE)) == (6, 6, 6)
    assert 0.9 * WORDS_A_MINUTE <= one <= WORDS_A_MINUTE
    assert 0.75 * 5 * WORDS_A_MINUTE <= five <= 5 * WORDS_A_MINUTE
    assert 0.75 * 15 * WORDS_A_MINUTE <= five + more <= 15 * WORDS_A_MINUTE


def test_the_table_has_the_numbers_of_words():
    rows = re.findall(r"^\| (?:\d .+?|all) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$", PROSE, re.MULTILINE)
    counted = list(zip(words(ONE), words(FIVE), map(sum, zip(words(FIVE), words(MORE), strict=True)), strict=True))
    assert [tuple(int(number.replace(",", "")) for number in row) for row in rows] == [
        *counted,
        tuple(map(sum, zip(*counted, strict=True))),
    ]


def test_every_question_has_an_answer_and_points_from_0_to_3():
    parts = PROSE.split("### Question ")[1:]
    assert len(parts) == len(RUNGS) == 6
    for part in parts:
        assert "<summary><b>A strong answer, and points for yours</b></summary>" in part
        assert re.findall(r"^\| (\d) \| .+ \|$", part, re.MULTILINE) == ["0", "1", "2", "3"]
        assert "**On the stage**" in part


# On Flink ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bound", "idle", "harm"])
def test_the_jobs_without_a_crash_are_replayed_on_flink(flink, name):
    assert wmviz.compare(rung(name)).same


def steps_of(trace):
    """Give what happens to the window operator of a run, as the steps of a case, and the events by their texts."""
    steps = []
    for record in trace:
        if record.kind in (Kind.ADDED, Kind.LATE):
            event = trace.scenario.events[trace.event_of(record.row)]
            steps.append({"op": "event", "key": event.key, "ts": event.event_time_ms, "v": event.id})
        elif record.kind is Kind.WATERMARK and record.subject == "window":
            steps.append({"op": "watermark", "ts": record.value})
        elif record.kind is Kind.CHECKPOINT and record.value == CheckpointPhase.COMPLETED:
            steps.append({"op": "checkpoint", "id": sum(step["op"] == "checkpoint" for step in steps) + 1})
        elif record.kind is Kind.CRASHED:
            steps.append({"op": "fail_and_restore"})
    return steps


def firings(outputs):
    """Give the firings among the outputs of a case; keys of one window fire in any order."""
    fires = [output["fire"] for output in outputs if "fire" in output]
    return [(f["key"], tuple(f["window"]), tuple(f["elements"]), f["at_watermark"]) for f in fires]


@pytest.mark.usefixtures("flink")
def test_the_windows_of_the_jobs_that_crash_are_those_of_flink():
    names = ["crash", "overwrite", "sink"]
    params = {"assigner": "tumbling", "size_ms": 3_600_000, "lateness_ms": LADDER.lateness_ms, "side_output": True}
    cases = [
        {"id": name, "mechanism": "recovery", "params": params, "input": steps_of(RUN[name]), "expected": []}
        for name in names
    ]
    for name, outputs in zip(names, outputs_of_all(cases), strict=True):
        ours = [(f.key, tuple(f.window), f.event_ids, f.watermark_ms) for f in RUN[name].all_firings]
        assert sorted(firings(outputs)) == sorted(ours)
        assert len(ours) >= 5
