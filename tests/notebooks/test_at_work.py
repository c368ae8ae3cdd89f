"""What lesson 17 says in prose: each statement with a number is held against the engine, each name against Flink."""

import json

import wmviz
from tests.notebooks.prose import HeldProse, read_lesson
from wmviz.course.lessons.at_work import first_fired_ms, read_again, resumed_with, rings_ms, steady, total
from wmviz.flink import barriers_code, recovery_code, resume_code
from wmviz.flink.barriers import RECORDINGS
from wmviz.flink.broken import broken_job
from wmviz.flink.resume import recorded_run
from wmviz.times import MAX_MS, MIN_MS, time_ms, time_text
from wmviz.trace import Kind

CELLS, PROSE = read_lesson("17-at-work")

S, Q = wmviz.scenario("new-lateness"), wmviz.scenario("quiet-partition")
T, QUIET = wmviz.simulate(S), wmviz.simulate(Q)
PLAIN, BOUND = (wmviz.simulate(resumed_with(**change)) for change in ({}, {"bound": "20 min"}))
BOTH = wmviz.simulate(resumed_with(bound="20 min", lateness="20 min"))
DROPPED = recorded_run(S, new_uid=True, drop_state=True)
KEPT = recorded_run(S)
RECOVERY = recovery_code()


def six_am(trace):
    return [w.key for w in trace.state(trace.steps - 1).windows if w.window.end_ms == time_ms("7:00")]


def watermark(trace, at=None):
    step = trace.steps - 1 if at is None else trace.step_at(time_ms(at))
    return trace.state(step).watermarks["window"]


def totals(run):
    return {key: value for (key, start, _), value in run.outcomes.totals.items() if start == time_ms("6:00")}


TWO_MIN, TEN_MIN = (wmviz.simulate(steady(every)) for every in ("2 min", "10 min"))
CRASH_MS = time_ms("7:09:56")

# A piece of the prose → whether it is so.
FACTS = {
    # What Flink does with the new size is run below; here are the events of which it speaks.
    "At their old end they fire with what they had at the savepoint: r4471 2,000 m, r9 1,300 m, r7 1,000 m": (
        {e.key: e.value for e in wmviz.scenario("new-lateness").events[:4] if e.event_time_ms < time_ms("7:00")}
        == {"r4471": 2000, "r9": 1300, "r7": 1000}
    ),
    "r4471's 6:56 makes [6:30, 7:00) with 1,000 m, and r7's 500 m are in a half hour of their own": (
        {e.id: e.value for e in wmviz.scenario("new-lateness").events[4:] if e.event_time_ms < time_ms("7:00")}
        == {"r4471@6:56": 1000, "r7@6:57": 500}
        and time_ms("6:30") == time_ms("6:56") // 1_800_000 * 1_800_000
    ),
    "It is Saturday, 7:02. The leaderboard runs with a bound of 2 min and no allowed lateness": (
        (S.bound_ms, S.lateness_ms, S.happenings[0].at_ms) == (120_000, 0, time_ms("7:02"))
    ),
    "at 7:02, when the job stops, and at 7:03, when it runs again": (
        [r.at_ms for r in T if r.kind in (Kind.STOPPED, Kind.RESTORED)] == [time_ms("7:02"), time_ms("7:03")]
    ),
    "r7's 1,000 m of 6:59": S.events[2].value == 1000 and S.events[2].id == "r7@6:59",
    "At 7:14 the late 500 m meet both: 1,000 m + 500 m = 1,500 m": (
        [(f.at_ms, f.value) for f in T.all_firings if f.key == "r7"][1] == (time_ms("7:14"), 1500)
    ),
    "r4471's kilometre of 6:56 would have been on time anyway": watermark(T, "7:01:30") < time_ms("7:00") - 1,
    "Both changes save the 500 m": [total(t, "r7") for t in (PLAIN, T, BOUND)] == [1000, 1500, 1500],
    "Lateness gives a first result at 7:13:05": first_fired_ms(T, "r7") == time_ms("7:13:05"),
    "A bound of 20 min waits: no result before 7:24:05": first_fired_ms(BOUND, "r7") == time_ms("7:24:05"),
    "for r9's 6 am window at 6:59:59.999, without lateness": six_am(T) == ["r9"],
    "r9's window of 6:00 is still there at watermark 7:21:59.999": watermark(T) == time_ms("7:22") - 1,
    "A bound can be changed without this": six_am(BOUND) == [],
    "r4471 loses 2,000 m, r7 loses 1,000 m, and r9 is not there at all": (
        (totals(KEPT), totals(DROPPED)) == ({"r9": 1300, "r7": 1500, "r4471": 3000}, {"r4471": 1000, "r7": 500})
    ),
    "Here a job counts 300 numbers with three keys, and takes a checkpoint each second": (
        "NUMBERS = 300" in RECOVERY
        and 'KEYS = "abc"' in RECOVERY
        and '"execution.checkpointing.interval": "1 s"' in RECOVERY
    ),
    "−9,223,372,036,854,775,808": MIN_MS == -9_223_372_036_854_775_808,
    "In `quiet-partition` one partition falls silent, and no window ever fires": not QUIET.all_firings,
    "The first results are due at 7:03:10, when an event passes 7:02": (
        wmviz.simulate(Q.replace(idle_timeout="5 min")).all_firings[0].at_ms == time_ms("7:03:10")
        and rings_ms(QUIET) < time_ms("7:03:10")
    ),
    "A job gets an event every 10 s and crashes at 7:09:56": (
        [r.at_ms for r in wmviz.simulate(steady("30 s")) if r.kind == Kind.CRASHED] == [time_ms("7:09:56")]
    ),
    "checkpoint 4 is that of 7:08. From 7:08:05 to 7:09:55 came 12 events": (
        [(r.at_ms, r.value) for r in TWO_MIN if r.kind == Kind.CHECKPOINT and r.subject.id == 4][-1]
        == (time_ms("7:08"), 1)
        and [e.arrival_time_ms for e in TWO_MIN.scenario.events if time_ms("7:08") < e.arrival_time_ms < CRASH_MS]
        == list(range(time_ms("7:08:05"), time_ms("7:09:55") + 1, 10_000))
        and read_again(TWO_MIN) == 12
    ),
    "With 10 min the first checkpoint is due at 7:10, after the crash, so all 60 are": (
        read_again(TEN_MIN) == 60 == sum(e.arrival_time_ms < CRASH_MS for e in TEN_MIN.scenario.events)
    ),
    "`start_delay_ms` until the first barrier came to the slow task": all(
        abs(c["duration_ms"] - c["start_delay_ms"] - c["alignment_ms"]) < 100
        for mode in ("aligned", "at-least-once")
        for c in json.loads((RECORDINGS / f"{mode}.json").read_text(encoding="utf-8"))["checkpoints"]
    ),
    "It fires at 7:24:05, for the bound": first_fired_ms(BOTH, "r7") == time_ms("7:24:05"),
    "7:19:59.999 is not reached, the watermark ends at 7:03:59.999": (
        watermark(BOTH) == time_ms("7:04") - 1 and len(six_am(BOTH)) == 3
    ),
}


def idle_ms(job):
    """Give what Flink counted as idle time of the split that fell silent."""
    return [
        int(metric["value"])
        for path, answer in job.recorded().answers.readings[-1].items()
        if path.endswith("/metrics")
        for metric in answer
        if metric["id"].endswith("split.runs-1.watermark.accumulatedIdleTimeMs")
    ]


def test_the_idle_time_of_a_split_is_counted_only_with_an_idle_timeout():
    silent = broken_job("idle-partition")
    assert "with_idleness" in silent.fixed.program
    assert "with_idleness" not in silent.program
    assert idle_ms(silent) == [0]
    assert idle_ms(silent.fixed)[0] > 1000
    assert "`accumulatedIdleTimeMs` counts only where an idle timeout is set" in PROSE


class TestProse(HeldProse):
    """What the prose says is so."""


def test_the_settings_that_are_named_are_those_of_the_programs():
    assert "`execution.state-recovery.ignore-unclaimed-state`" in PROSE
    assert "execution.state-recovery.ignore-unclaimed-state" in resume_code()
    assert "/checkpoints/config" in PROSE
    assert "/checkpoints/config" in barriers_code()


def test_the_names_of_flink_are_there(flink):
    """The metrics and options that the prose names, asked of Flink's own classes."""
    java = flink.startup.job().get_gateway().jvm
    options, runtime = java.org.apache.flink.configuration, java.org.apache.flink.runtime
    assert options.HeartbeatManagerOptions.HEARTBEAT_TIMEOUT.defaultValue().toMillis() == 50_000
    assert "50 s, if you set nothing" in PROSE
    assert options.JobManagerOptions.SLOT_REQUEST_TIMEOUT.key() == "slot.request.timeout"
    assert options.JobManagerOptions.SLOT_REQUEST_TIMEOUT.defaultValue().toMinutes() == 5
    assert "after 5 min (`slot.request.timeout`)" in PROSE
    assert options.ExecutionOptions.RUNTIME_MODE.key() == "execution.runtime-mode"
    assert options.StateRecoveryOptions.SAVEPOINT_IGNORE_UNCLAIMED_STATE.key() in PROSE
    assert runtime.metrics.MetricNames.NUM_RESTARTS == "numRestarts"
    assert runtime.metrics.MetricNames.IO_CURRENT_INPUT_WATERMARK == "currentInputWatermark"
    assert runtime.metrics.MetricNames.TASK_BUSY_TIME == "busyTimeMsPerSecond"
    tracker = java.java.lang.Class.forName("org.apache.flink.runtime.checkpoint.DefaultCheckpointStatsTracker")
    names = {
        "NUMBER_OF_FAILED_CHECKPOINTS_METRIC": "numberOfFailedCheckpoints",
        "LATEST_COMPLETED_CHECKPOINT_DURATION_METRIC": "lastCheckpointDuration",
    }
    for constant, metric in names.items():
        field = tracker.getDeclaredField(constant)
        field.setAccessible(True)
        assert field.get(None) == metric
    gauge = java.java.lang.Class.forName("org.apache.flink.runtime.metrics.TimerGauge")
    span = gauge.getDeclaredField("DEFAULT_TIME_SPAN_IN_SECONDS")
    span.setAccessible(True)
    assert span.get(None) == 60  # busyTimeMsPerSecond and its sisters are of the last minute


def test_resumed_with_another_size_the_open_windows_fire_as_they_were(flink, tmp_path):
    """The program of the lesson with windows of half an hour from the savepoint on."""
    flink.startup.job()
    job = resume_code(S).load()
    with flink.startup.tidy():
        savepoint, _ = job.first_run(job.environment, str(tmp_path), job.free_port())
        job.SIZE_MS = 1_800_000
        after = job.second_run(job.environment, str(tmp_path), job.free_port(), savepoint)
    fired = {
        (line["fired"], time_text(line["start_ms"]), time_text(line["end_ms"])): line["value"]
        for line in after
        if "fired" in line
    }
    assert fired == {
        ("r4471", "6:00", "7:00"): 2000,
        ("r9", "6:00", "7:00"): 1300,
        ("r7", "6:00", "7:00"): 1000,
        ("r4471", "6:30", "7:00"): 1000,
        ("r7", "6:30", "7:00"): 500,
    }
    assert not [line for line in after if "late" in line]


def test_with_checkpoints_and_no_strategy_flink_tries_again_without_end(flink):
    java = flink.startup.job().get_gateway().jvm
    failover = java.org.apache.flink.runtime.executiongraph.failover
    options = java.org.apache.flink.configuration
    made = failover.RestartBackoffTimeStrategyFactoryLoader.createRestartBackoffTimeStrategyFactory(
        options.Configuration(), options.Configuration(), True
    )
    assert "ExponentialDelay" in made.getClass().getName()
    attempts = options.RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_ATTEMPTS
    assert attempts.defaultValue() == 2**31 - 1
    assert "Flink 2.3.0 tries without end, and waits longer each time" in PROSE


def test_as_a_batch_each_window_fires_once_and_nothing_is_late(flink):
    flink.startup.job()
    from pyflink.common import Configuration, Time, Types, WatermarkStrategy
    from pyflink.common.watermark_strategy import TimestampAssigner
    from pyflink.datastream import StreamExecutionEnvironment
    from pyflink.datastream.functions import ProcessWindowFunction
    from pyflink.datastream.window import TumblingEventTimeWindows

    class EventTime(TimestampAssigner):
        def extract_timestamp(self, row, record_timestamp):
            return row

    class Fired(ProcessWindowFunction):
        def process(self, key, context, rows):
            yield f"{context.window().start} {sorted(rows)} at {context.current_watermark()}"

    settings = Configuration()
    settings.set_string("execution.runtime-mode", "BATCH")
    settings.set_string("python.execution-mode", "thread")
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    env.set_parallelism(1)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(EventTime())
    rows = env.from_collection([1, 5000, 2], Types.LONG()).assign_timestamps_and_watermarks(strategy)
    windows = rows.key_by(lambda _: "all").window(TumblingEventTimeWindows.of(Time.seconds(1)))
    with windows.process(Fired(), Types.STRING()).execute_and_collect() as lines:
        assert sorted(lines) == [f"0 [1, 2] at {MAX_MS}", f"5000 [5000] at {MAX_MS}"]
    assert "there are no watermarks but `MAX` at the end" in PROSE
