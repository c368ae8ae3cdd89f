"""What lesson 8 says in prose: each statement with a number is held against the engine, the others against Flink."""

import json
import tempfile
import threading
import time
from pathlib import Path

import pytest

import wmviz
from tests.notebooks.prose import HeldProse, read_lesson
from wmviz.charts.state import sizes
from wmviz.course.lessons.alignment import history, lead_ms, pauses
from wmviz.flink import alignment, alignment_code, startup
from wmviz.times import time_ms, time_text
from wmviz.trace import Kind

CELLS, PROSE = read_lesson("08-alignment")
MINUTE_MS = 60_000
S = wmviz.scenario("watermark-alignment")
T = wmviz.simulate(S)
H = history()
WITH, WITHOUT = wmviz.simulate(H), wmviz.simulate(H.replace(alignment=None))
SILENCE = {"what": "silence", "at": "7:00:10", "until": "7:00:50", "partition": 1}


def most(trace, place=2):
    return max(size[place] for size in sizes(trace))


def read(trace, place, until="7:02"):
    return [r.at_ms for r in trace if r.kind is Kind.ARRIVED and r.place == place and r.at_ms <= time_ms(until)]


def newest(trace, partition):
    """Give the newest event time of those that a partition's source has read, which reads them in order."""
    of_it = [event.event_time_ms for event in trace.scenario.events if event.partition == partition]
    return of_it[len(read(trace, f"source[{partition}]")) - 1]


def times_of(partition):
    return [event.event_time_ms for event in H.events if event.partition == partition]


def with_late_event():
    rows = [[e.key, e.value, e.event_time_ms, e.arrival_time_ms, e.partition] for e in H.events]
    return H.replace(events=[*rows, ["r9", 1000, "6:00", "7:00:25", 1]])


def state_at(trace, at):
    return trace.state(max(step for step in range(trace.steps) if trace.step_at_ms[step] <= time_ms(at)))


def alignment_at(trace, kind, at):
    return [r.value for r in trace if r.kind is kind and r.at_ms == time_ms(at)]


SILENT = wmviz.simulate(H.replace(happenings=[SILENCE]))
WAITS = S.replace(
    name="reads-6-04-late",
    window="5 min",
    events=[
        ["r4471", 1000, "6:00", "7:00:00.100", 0],
        ["r9", 1000, "6:00", "7:00:00.200", 1],
        ["r4471", 1000, "6:03", "7:00:01.100", 0],
        ["r4471", 1000, "6:06", "7:00:02.100", 0],
        ["r4471", 1000, "6:09", "7:00:03.100", 0],
        ["r4471", 1000, "6:04", "7:00:04.100", 0],
        ["r9", 1000, "6:07", "7:00:08.200", 1],
    ],
)
HELD, RUNS_ON = wmviz.simulate(WAITS), wmviz.simulate(WAITS.replace(alignment=None))
IDLE = wmviz.simulate(H.replace(happenings=[SILENCE], idle_timeout="2 s"))

# A piece of the prose → whether it is so.
FACTS = {
    "reads r4471's partition four times as fast": len(read(WITHOUT, "source[0]"))
    == 4 * len(read(WITHOUT, "source[1]")),
    "The windows are 5 minutes long, the bound is 0": (H.window.size_ms, H.bound_ms) == (5 * MINUTE_MS, 0),
    "r4471's partition has been read up to 7:59, r9's up to 6:29": (
        [time_text(newest(WITHOUT, n)) for n in (0, 1)] == ["7:59", "6:29"]
    ),
    "no event is late": not WITHOUT.outcomes().late and WITHOUT.dropped_count == 0,
    "the watermark of the windows is r9's, about 6:29": (
        WITHOUT.state(WITHOUT.steps - 1).watermarks["window"] == time_ms("6:28:59.999")
    ),
    "In the end 100 events wait": most(WITHOUT) == sizes(WITHOUT)[-1][2] == 100,
    "each second r4471's events move on by a minute, r9's by a minute every two seconds": (
        {b.event_time_ms - a.event_time_ms for a, b in zip(S.events, S.events[2:], strict=False)} >= {MINUTE_MS}
        and [e.arrival_time_ms - S.grid_start_ms for e in S.events if e.partition == 1][:3] == [200, 2200, 4200]
    ),
    "The bound is 0, the drift 2 min, the interval 1 s": (
        (S.bound_ms, S.alignment.drift_ms, S.alignment.interval_ms) == (0, 2 * MINUTE_MS, 1000)
    ),
    "The window operator takes 250 ms for each event": H.work_ms == 250,
    "The last windows to fire ended at 6:25. From there r4471 has 95 kilometres, up to 7:59, and r9 has 5": (
        WITHOUT.all_firings[-1].window.end_ms == time_ms("6:25")
        and [sum(time_ms("6:25") <= ms <= newest(WITHOUT, n) for ms in times_of(n)) for n in (0, 1)] == [95, 5]
    ),
    "Here the window operator lets 4 events a second through, and each is a minute of event time. So 13 minutes are "
    "read in a little more than 3 s": 1000 // H.work_ms == 4 and 3 < 13 / 4 < 3.5,
    "2 min + 13 min = 15 min": lead_ms(WITH) == (2 + 13) * MINUTE_MS,
    "r4471's kilometre of 6:04 comes behind its 6:09. The windows have 5 minutes, and the drift is 2 min": (
        (WAITS.window.size_ms, WAITS.alignment.drift_ms) == (5 * MINUTE_MS, 2 * MINUTE_MS)
        and [event.id for event in WAITS.events if event.partition == 0][-2:] == ["r4471@6:09", "r4471@6:04"]
    ),
    "The windows stand at 5:59:59.999, for r9 is at 6:00. It counts": (
        RUNS_ON.seen_watermarks["r4471@6:04"] == time_ms("5:59:59.999") and RUNS_ON.dropped_count == 0
    ),
    "r9's 6:00 gives a limit of 5:59:59.999 + 2 min = 6:01:59.999. Source[0] is over it with its 6:03, in the sample "
    "of 7:00:02. At 7:00:04 this is the oldest of three, and it stops": (
        alignment_at(HELD, Kind.ALLOWED, "7:00:01") == [time_ms("6:01:59.999")]
        and state_at(HELD, "7:00:02").watermarks["source[0]"] == time_ms("6:02:59.999")
        and [time_text(ms) for ms in pauses(HELD)][:1] == ["7:00:04"]
    ),
    "At 7:00:08.200 comes r9's 6:07. It lifts the limit, so that 6:04 is read at 7:00:09": (
        read(HELD, "source[1]")[-1] == time_ms("7:00:08.200") and read(HELD, "source[0]")[-1] == time_ms("7:00:09")
    ),
    "it has moved the windows first, to 6:06:59.999: [6:00, 6:05) has fired": (
        HELD.seen_watermarks["r4471@6:04"] == time_ms("6:06:59.999")
        and HELD.all_firings[0].window.end_ms == time_ms("6:05")
        and set(HELD.dropped["event"]) == {"r4471@6:04"}
    ),
    "the limit **falls**: it was 7:38:59.999 at 7:00:49, and is 6:08:59.999 at 7:00:50. Source[0] stops at once": (
        [alignment_at(IDLE, Kind.ALLOWED, at) for at in ("7:00:49", "7:00:50")]
        == [[time_ms("7:38:59.999")], [time_ms("6:08:59.999")]]
        and alignment_at(IDLE, Kind.PAUSED, "7:00:50") == [1]
    ),
    "(1 s if left out)": wmviz.Scenario.of(alignment="2 min").alignment.interval_ms == 1000,
    "At 7:00:07 source[1] tells 6:52:59.999, so the limit is 6:54:59.999. Source[0] is at 6:55:59.999": (
        state_at(T, "7:00:07").watermarks["source[1]"] == time_ms("6:52:59.999")
        and alignment_at(T, Kind.ALLOWED, "7:00:07") == [time_ms("6:54:59.999")]
        and state_at(T, "7:00:07").watermarks["source[0]"] == time_ms("6:55:59.999")
    ),
    "Go to 7:00:09 with the → key, and on to 7:00:13": [time_text(r.at_ms) for r in T if r.kind is Kind.PAUSED]
    == (["7:00:09", "7:00:09", "7:00:10", "7:00:13"]),
    "Each runner has run a kilometre a minute since 6:00": (
        [[time_text(e.event_time_ms) for e in H.events if e.partition == n][:3] for n in (0, 1)]
        == [["6:00", "6:01", "6:02"]] * 2
    ),
    "In the same moment the new limit arrives, 6:55:59.999": (
        alignment_at(T, Kind.ALLOWED, "7:00:09") == [time_ms("6:55:59.999")]
        and alignment_at(T, Kind.PAUSED, "7:00:09") == [1, 0]
    ),
    "now it waits for three seconds, until the limit is 6:57:59.999": (
        alignment_at(T, Kind.PAUSED, "7:00:10") == [1]
        and alignment_at(T, Kind.PAUSED, "7:00:13") == [0]
        and alignment_at(T, Kind.ALLOWED, "7:00:13") == [time_ms("6:57:59.999")]
    ),
    "At most 25 events wait in the windows, in place of 100": most(WITH) == 25,
    "With a drift of 2 minutes source[0] was up to 15 minutes ahead": (
        H.alignment.drift_ms == 2 * MINUTE_MS and lead_ms(WITH) == 15 * MINUTE_MS
    ),
    "It does **not** make the slow source faster, and no result comes earlier": (
        read(WITH, "source[1]") == read(WITHOUT, "source[1]")
        and len(WITH.all_firings) == len(WITHOUT.all_firings)
        and all(abs(a.at_ms - b.at_ms) <= H.work_ms for a, b in zip(WITH.all_firings, WITHOUT.all_firings, strict=True))
    ),
    "What is behind the watermark of its own input is late with alignment, too": (
        wmviz.simulate(with_late_event()).dropped_count == 1
    ),
    "Without a limit it would be 20, 58 and 98": (
        [len(read(WITHOUT, "source[0]", at)) for at in ("7:00:10", "7:00:29", "7:00:49")] == [20, 58, 98]
    ),
    "source[0] reads nothing until the silence is over": (
        read(SILENT, "source[0]", "7:00:10") == read(SILENT, "source[0]", "7:00:49")
        and len(read(SILENT, "source[0]")) > len(read(SILENT, "source[0]", "7:00:49"))
    ),
    "Source[0] runs on. But the windows do not wait either": (
        len(read(IDLE, "source[0]", "7:00:49")) > 90 and IDLE.dropped_count == 25
    ),
    "Number *n* has the event time *n* seconds, and the fast one sends four numbers where the slow one sends one. The "
    "drift is 20 s, the interval 100 ms": all(
        text in alignment_code()
        for text in ("longValue() * 1000", '{"fast": 25, "slow": 100}', "DRIFT_MS = 20_000", "INTERVAL_MS = 100")
    ),
}


class TestProse(HeldProse):
    """What the prose says is so."""


def test_the_lesson_runs_the_two_orders_of_reading_on_flink():
    for name, dropped in (("reads-6-04-at-once", 0), ("read-as-by-the-one-that-waits", 1)):
        (output,) = (
            str(cell.outputs) for cell in CELLS if "outputs" in cell and f"{name}: wmviz and Flink" in str(cell.outputs)
        )
        assert f"agree on 2 firings, 0 late events, {dropped} dropped event" in output.partition(f"{name}: ")[2]


@pytest.mark.parametrize("interval", ["500 ms", "1 s"])
@pytest.mark.parametrize("drift", ["1 min", "2 min", "10 min"])
def test_the_lead_is_the_drift_and_what_is_read_in_three_or_four_intervals(drift, interval):
    trace = wmviz.simulate(H.replace(alignment={"drift": drift, "interval": interval}))
    over_ms = lead_ms(trace) - trace.scenario.alignment.drift_ms
    a_second = 1000 / H.work_ms  # no more can be read, and each is a minute
    assert 0 < over_ms <= 4 * trace.scenario.alignment.interval_ms / 1000 * a_second * MINUTE_MS


def test_a_source_that_has_sent_nothing_holds_nobody():
    job = H.replace(events=[e for e in H.events if e.partition == 0 or e.arrival_time_ms > time_ms("7:00:30")])
    trace = wmviz.simulate(job)
    assert pauses(trace)[0] > time_ms("7:00:30")


def run_on_flink(strategy=None, **settings):
    """Run the job of the lesson, with other settings or another strategy, and give what was seen."""
    startup.job()
    job = alignment_code().load()
    if strategy is not None:
        job.strategy = strategy(job)
    with tempfile.TemporaryDirectory() as folder:
        with startup.sentences(), startup.tidy():
            stream = job.build(alignment._environment({**job.settings(), **settings}), folder, "source")
        lines = startup.collect(stream, "lesson 8", 600)
    began_ms = min(json.loads(line)["at_ms"] for line in lines)
    return alignment.AlignmentRun("source", job.DRIFT_MS, alignment._looks(lines)), began_ms


@pytest.mark.flink
def test_on_flink_sources_of_different_groups_do_not_hold_each_other(flink):
    def own_group(job):
        groups = iter(("one", "another"))

        def strategy(aligned):
            drift, interval = (job.Duration.of_millis(ms) for ms in (job.DRIFT_MS, job.INTERVAL_MS))
            made = job.WatermarkStrategy.for_monotonous_timestamps()
            made = made.with_watermark_alignment(next(groups), drift, interval)
            seconds = job.get_gateway().jvm.alignment.Seconds()
            return job.WatermarkStrategy(made._j_watermark_strategy.withTimestampAssigner(seconds))

        return strategy

    run, _ = run_on_flink(own_group)
    assert not run.is_held
    assert run.waits == []


@pytest.mark.flink
def test_on_flink_checkpoints_are_complete_while_a_source_waits(flink, tmp_path):
    complete, over = {}, threading.Event()

    def watch():
        while not over.wait(0.02):
            for path in tmp_path.glob("*/chk-*/_metadata"):
                complete.setdefault(path.parent.name, time.time_ns() // 1_000_000)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        run, began_ms = run_on_flink(
            **{
                "execution.checkpointing.interval": "200 ms",
                "execution.checkpointing.dir": Path(tmp_path).as_uri(),
                "execution.checkpointing.num-retained": "100",
            }
        )
    finally:
        over.set()
        watcher.join(20)
    assert run.is_held
    inside = [
        name
        for name, at_ms in complete.items()
        if any(begin_ms + 200 < at_ms - began_ms < end_ms for begin_ms, end_ms in run.waits)
    ]
    assert len(inside) >= 2, (complete, run.waits)


@pytest.mark.flink
def test_on_flink_a_python_assigner_on_the_source_is_ignored(flink):
    """The strategy on the source with an assigner in Python: the numbers have no event time at all."""

    def in_python(job):
        from pyflink.common.watermark_strategy import TimestampAssigner

        class Seconds(TimestampAssigner):
            def extract_timestamp(self, number, record_timestamp):
                return number * 1000

        def strategy(aligned):
            made = job.WatermarkStrategy.for_monotonous_timestamps()
            return made.with_timestamp_assigner(Seconds())

        return strategy

    run, _ = run_on_flink(in_python)
    assert {look.event_time_ms for look in run.looks} <= {-(2**63), None}
