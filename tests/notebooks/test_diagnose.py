"""What lesson 15 says in prose: each statement with a number is held against the engine or a recorded real job."""

import re

import pytest

import wmviz
from tests.notebooks.prose import HeldProse, read_lesson
from wmviz.__main__ import FAULT, HEALTHY, NOT_READ
from wmviz.diagnosis import answers, result
from wmviz.flink import replay
from wmviz.flink.broken import HEALTHY as HEALTHY_JOBS
from wmviz.flink.broken import broken_job, broken_jobs
from wmviz.times import MAX_MS, MIN_MS, time_ms

CELLS, PROSE = read_lesson("15-diagnose")

S = wmviz.scenario("leaderboard")
SLOW = wmviz.scenario("backpressure")
SILENT = broken_job("idle-partition").recorded()
SPARE = broken_job("more-subtasks-than-partitions").recorded()
WRONG = broken_job("wrong-timestamps").recorded()
LARGE = broken_job("bound-too-large").recorded()
UNREAD = broken_job("unread-side-output").recorded()
MINUTE_MS, HOUR_MS = 60_000, 3_600_000


def rows(found, role, **wanted):
    return [row for row in found.rows if row["role"] == role and all(row[name] == v for name, v in wanted.items())]


def moved(row):
    return row["watermark_ms"] - row["before_ms"]


def first(scenario):
    return min(firing.at_ms for firing in wmviz.simulate(scenario).all_firings)


def emit_lags(found):
    return [
        int(text)
        for sample in found.answers.samples
        for metrics in sample.values()
        for name, text in metrics.items()
        if name.endswith("currentEmitEventTimeLag")
    ]


def ends_with(event, trace):
    """Give the ends of the windows in whose results an event is."""
    table = trace.firings
    return {end for end, events in zip(table["end_ms"], table["events"], strict=True) if event in events}


QUICK = SLOW.replace(work="0 ms", channel_capacity=0)
SLIDING = wmviz.simulate(
    S.replace(
        window={"type": "sliding", "size": "1 h", "slide": "30 min"},
        lateness="0 ms",
        late_to="drop",
        events=[["a", 1, "6:50", "6:50"], ["a", 1, "7:03", "7:03"], ["a", 1, "6:59", "7:04"], ["a", 1, "8:40", "8:40"]],
    )
)

GAPS = wmviz.simulate(wmviz.scenario("sliding-gaps"))
SILENT_JOB = next(answer for path, answer in SILENT.answers.readings[0].items() if path.count("/") == 2)
SILENT_BEGAN_MS = SILENT_JOB["now"] - SILENT_JOB["duration"]
CHECKPOINTS_MS = [
    checkpoint["trigger_timestamp"]
    for path, answer in SILENT.answers.once.items()
    if path.endswith("/checkpoints")
    for checkpoint in answer["history"]
    if checkpoint["status"] == "COMPLETED"
]


def metric_of_silent(name):
    """Give a metric of the source subtask that is silent, at both readings."""
    ids = {f"1.Source__runs.{name}"}
    readings = [[e for p, found in r.items() if p.endswith("/metrics") for e in found] for r in SILENT.answers.readings]
    return [int(entry["value"]) for entries in readings for entry in entries if entry["id"] in ids]


# A piece of the prose → whether it is so.
FACTS = {
    "its `watermarkLag` says 2,064 ms, twice": metric_of_silent("watermarkLag") == [2064, 2064],
    "how long ago the source handed on an event: from 19 s to 24 s": (
        [ms // 1000 for ms in metric_of_silent("sourceIdleTime")] == [19, 24]
    ),
    "Its watermark is 26 s behind the clock": {
        row["behind_ms"] // 1000 for row in SILENT.rows if row["role"] == "source" and row["subtask"] == 1
    }
    == {26},
    "This job reads each event as soon as it comes": all(lag < 1000 for lag in emit_lags(SILENT)),
    "a window task that needs 1 s for each event": SLOW.work_ms == 1000,
    "The same total, seven seconds later": (
        first(SLOW) - first(QUICK) == 7000 and wmviz.simulate(SLOW).totals == wmviz.simulate(QUICK).totals
    ),
    "(since Flink 2.1)": result.SPLIT_WATERMARKS_SINCE == (2, 1),
    "together about 1,000 ms": all(
        950 <= row["busy"] + row["idle"] + row["backpressured"] <= 1050 for row in SILENT.rows if row["role"] != "split"
    ),
    "For the **source it answers an empty list**": sorted(
        len(answer) for path, answer in SILENT.answers.readings[1].items() if path.endswith("/watermarks")
    )
    == [0, 2],
    "10 s by default": answers.USUAL_FETCHER_MS == 10_000,
    "Here it was 5 s, since these jobs set that option to 200 ms": (
        abs(SILENT.facts.elapsed_ms - 5000) < 500
        and '"metrics.fetcher.update-interval": "200"' in broken_job("idle-partition").program
    ),
    "Both window subtasks stand still: the same watermark, twice": (
        len({row["watermark_ms"] for row in rows(SILENT, "window")}) == 1
        and {moved(row) for row in rows(SILENT, "window")} == {0}
    ),
    "One source subtask stands at exactly that value. The other moved by 5 s in 5 s": (
        rows(SILENT, "source", subtask=1)[0]["watermark_ms"] == rows(SILENT, "window")[0]["watermark_ms"]
        and abs(moved(rows(SILENT, "source", subtask=0)[0]) - 5000) < 700
    ),
    "it is: `runs-1`": [row["split"] for row in rows(SILENT, "split", subtask=1)] == ["runs-1"],
    "It is not backpressured at all": rows(SILENT, "source", subtask=1)[0]["backpressured"] == 0,
    "20 events a second keep no source busy": "20 events a second in each" in broken_job("idle-partition").program,
    "Subtask 1 of the source read 0 records and has no split": (
        rows(SPARE, "source", subtask=1)[0]["records"] == 0 and not rows(SPARE, "split", subtask=1)
    ),
    "Both windows have no watermark at all": [row["watermark_ms"] for row in rows(SPARE, "window")] == [None, None],
    "it reads −9223372036854775808": MIN_MS == -9223372036854775808,
    "in five seconds it moves by five milliseconds": (
        moved(rows(WRONG, "window")[0]) == 5 and abs(WRONG.facts.elapsed_ms - 5000) < 500
    ),
    "the unit (decades off)": rows(WRONG, "window")[0]["behind_ms"] > 20 * 365 * 24 * HOUR_MS,
    "a bound of 2 hours in place of 2 minutes": S.bound_ms == 2 * MINUTE_MS,
    "**trails it by the same 10 minutes** all the time": all(
        abs(row["behind_ms"] - 10 * MINUTE_MS) < 1000 for row in LARGE.rows
    ),
    "Here it is far below a second": max(emit_lags(LARGE)) < 400,
    "On the stage one kilometre goes to the side output": len(wmviz.simulate(S).late) == 1,
    "Nothing stands still, nothing trails, and 0 are dropped": (
        all(moved(row) > 4000 and row["behind_ms"] < 3000 for row in UNREAD.rows)
        and rows(UNREAD, "window")[0]["dropped"] == 0
    ),
    "adds a small `Map` operator behind the windows": "'Map'" in UNREAD.causes[0].evidence[0],
    "the event is late for some of its windows only: it counts for the others, and nothing is dropped": (
        SLIDING.dropped_count == 0 and ends_with("a@6:59", SLIDING) == {time_ms("7:30")}
    ),
    "a job with windows of 10 min, one every 15 min. So the last five minutes of each quarter of an hour are a gap": (
        (GAPS.scenario.window.size_ms, GAPS.scenario.window.slide_ms) == (10 * MINUTE_MS, 15 * MINUTE_MS)
    ),
    "r9's 6:11 came behind the watermark. r4471's 6:12 came ahead of it, and is in no number": (
        time_ms("6:11") <= GAPS.seen_watermarks["r9@6:11"]
        and time_ms("6:12") > GAPS.seen_watermarks["r4471@6:12"]
        and GAPS.dropped_count == 1
    ),
    "The checkpoint that failed was due when the job had just begun": (
        SILENT.checkpoints["failed"] == 1 and min(CHECKPOINTS_MS) - SILENT_BEGAN_MS < 1000
    ),
    "Each of the six jobs with its fix": all(broken_job(name).fixed.recorded().healthy for name in broken_jobs())
    and len(broken_jobs()) == 6,
    "Its exit code is 0 if no fault was found, 1 if there is one, 2 if the job could not be read": (
        (HEALTHY, FAULT, NOT_READ) == (0, 1, 2)
    ),
    "its partition 1 falls silent after 5 s": "topic.silent(1, 5_000)" in broken_job("idle-partition").build,
}


class TestProse(HeldProse):
    """What the prose says is so."""

    by_hand = frozenset({"9:10"})


def test_every_cause_of_the_table_is_shown_in_a_section_of_its_own():
    table = PROSE[PROSE.index("## Step 4") : PROSE.index("### More source subtasks")]
    causes = re.findall(r"^\| ([a-z][^|]+) \|", table, re.MULTILINE)
    assert len(causes) == len(broken_jobs()) == 6
    for cause in causes[1:]:
        assert f"### {cause[0].upper()}{cause[1:]}" in PROSE


def test_healthy_jobs_are_recorded_too():
    assert all(broken_job(name).recorded().healthy for name in HEALTHY_JOBS)


def test_a_filter_beside_a_stuck_window_goes_on():
    """Only what waits for event time is silent: with a silent partition all events are read."""
    quiet = wmviz.simulate(wmviz.scenario("quiet-partition"))
    assert not quiet.all_firings
    assert len(quiet.seen_watermarks) == len(quiet.scenario.events)
    assert max(event.event_time_ms for event in quiet.scenario.events) == time_ms("8:05")


@pytest.mark.parametrize("windows", ["session", "sliding"])
def test_windows_and_records_without_a_timestamp(flink, windows):
    """Session windows take them, and fire at the end of the input only; sliding ones refuse them."""
    env = flink.startup.job().environment(replay.jar())
    from pyflink.common import Duration, Time, Types, WatermarkStrategy
    from pyflink.datastream.functions import ProcessWindowFunction
    from pyflink.datastream.window import EventTimeSessionWindows, SlidingEventTimeWindows

    class Fired(ProcessWindowFunction):
        def process(self, key, context, rows):
            yield context.current_watermark()

    assigner = {
        "session": EventTimeSessionWindows.with_gap(Time.seconds(1)),
        "sliding": SlidingEventTimeWindows.of(Time.seconds(2), Time.seconds(1)),
    }[windows]
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1))  # without an assigner
    rows = env.from_collection([1, 2], Types.LONG()).assign_timestamps_and_watermarks(strategy)
    fired = rows.key_by(lambda _: "all").window(assigner).process(Fired(), Types.LONG())
    if windows == "sliding":
        with pytest.raises(flink.FlinkError, match="timestamp"), flink.startup.sentences():
            list(fired.execute_and_collect())
        assert "Tumbling and sliding windows refuse such records" in PROSE
    else:
        with fired.execute_and_collect() as watermarks:
            assert list(watermarks) == [MAX_MS]
        assert "Session windows take them, and keep silent" in PROSE
