"""What lesson 10 says in prose: each statement with a number is held against the engine, each setting against Flink."""

import json
import re
import time
import urllib.request

import pytest

import wmviz
from tests.notebooks.prose import HeldProse, read_lesson
from wmviz.course.lessons.barriers import checkpoint_times, contents
from wmviz.flink.standalone import free_port
from wmviz.times import time_ms
from wmviz.trace import CheckpointPhase, Kind

CELLS, PROSE = read_lesson("10-barriers")

S = wmviz.scenario("barrier-alignment")
ALIGNED, QUICK, MIXED, CARELESS = (
    wmviz.simulate(wmviz.scenario(name))
    for name in ("barrier-alignment", "unaligned-barriers", "alignment-timeout", "at-least-once")
)
NUMBER_41 = wmviz.simulate(wmviz.scenario("crash-and-replay").replace(start="6:38:30", happenings=[]))


def at(trace, kind, place="window", value=1):
    """When a row of this kind was written first."""
    return next(r.at_ms for r in trace if (r.kind, r.place, r.value) == (kind, place, value))


def blocked(trace):
    return [(r.subject, r.at_ms) for r in trace if r.kind == Kind.BLOCKED and r.at_ms < time_ms("7:00:30")]


def takes(trace):
    found = contents(trace)
    return found.complete_ms - found.started_ms


def often(pause):
    return checkpoint_times(wmviz.simulate(S.replace(checkpoints={"interval": "2 s", "min_pause": pause})))[:3]


def read_again(interval):
    crashed = wmviz.simulate(wmviz.scenario("crash-and-replay").replace(checkpoints={"interval": interval}))
    restored = next(r.value for r in crashed if r.kind == Kind.RESTORED)
    return sum(r.kind == Kind.REWOUND for r in crashed), restored, tuple(crashed.totals.values())


SAVEPOINT = wmviz.simulate(
    wmviz.scenario("unaligned-barriers").replace(
        checkpoints={"first": "60 s"}, happenings=[{"what": "savepoint", "at": "7:00:02.5"}]
    )
)
SNAPSHOT_41 = next(r for r in NUMBER_41 if r.kind == Kind.SNAPSHOT and r.value == 41 and r.place == "window")
FROM_SOURCE_0 = [event for event in S.events if event.partition == 0 and event.arrival_time_ms < time_ms("7:00:02.5")]

# A piece of the prose → whether it is so.
FACTS = {
    "This job has started at 6:38:30 and takes a checkpoint every 30 s. At 6:59:00 it is the turn of number 41": (
        SNAPSHOT_41.at_ms == time_ms("6:59") == time_ms("6:38:30") + 41 * 30_000
    ),
    "The source has read **two** events. The windows hold **two** events: 9,400 m of r4471 and 1,000 m of r9": (
        [(w.key, w.value, len(w.event_ids)) for w in NUMBER_41.state(SNAPSHOT_41.step).windows]
        == [("r4471", 9400, 1), ("r9", 1000, 1)]
        and next(NUMBER_41.details[r.row].offsets for r in NUMBER_41 if r.kind == Kind.SNAPSHOT and r.value == 41)
        == {0: 2}
    ),
    "it needs 1 s for each event": S.work_ms == 1_000,
    "Checkpoint 1 starts at 7:00:02.5": contents(ALIGNED).started_ms == time_ms("7:00:02.5"),
    "Source[0] reads five events within half a second, so its barrier stands at the end of a queue": (
        max(event.arrival_time_ms for event in FROM_SOURCE_0) - FROM_SOURCE_0[0].arrival_time_ms < 500
    ),
    "Source[1] has read only one": (
        len(FROM_SOURCE_0) == 5
        and [e.id for e in S.events if e.partition == 1 and e.arrival_time_ms < time_ms("7:00:02.5")] == ["r9@6:59:50"]
    ),
    "Source[0] has stored 5, source[1] has stored 1. That is **6** events": contents(ALIGNED).read == 6,
    "The window operator stores its state at 7:00:06, with **6** events": (
        at(ALIGNED, Kind.SNAPSHOT) == time_ms("7:00:06") and contents(ALIGNED).counted == 6
    ),
    "Between 7:00:04 and 7:00:06 the operator takes nothing from source[1]": (
        [ms for name, ms in blocked(ALIGNED) if name.startswith("source[1]")]
        == [time_ms("7:00:04"), time_ms("7:00:06")]
    ),
    "that of source[0] had three events in front of it": contents(QUICK).stored == 3,
    "So the checkpoint took 3.5 s": takes(ALIGNED) == 3_500,
    "The state has r9's 2,000 m, the source reads the second kilometre again, and r9 ends with 3,000 m": (
        CARELESS.totals["r9", time_ms("6:00"), time_ms("7:00")] == 3000
        and any(r.kind == Kind.RELOADED and (r.subject.key, r.value) == ("r9", 2000) for r in CARELESS)
    ),
    "This scenario crashes at 7:00:07.5": at(CARELESS, Kind.CRASHED, "job", time_ms("7:00:08.5"))
    == time_ms("7:00:07.5"),
    "3 events in the windows and 3 stored from the channels, that is 6. And 5 + 1 = 6 were read": (
        contents(QUICK)[:3] == (6, 3, 3)
    ),
    "complete after half a second, not after 3.5 s": takes(QUICK) == 500,
    "At 7:00:04.5 the 2 s are over": time_ms("7:00:02.5") + MIXED.scenario.checkpoints.alignment_timeout_ms
    == time_ms("7:00:04.5"),
    "At 7:00:05 the operator is free": at(MIXED, Kind.SNAPSHOT) == time_ms("7:00:05"),
    "5 in the windows and 1 stored, 6 again": contents(MIXED)[:3] == (6, 5, 1),
    "(It even takes longest here: r9's kilometre went first.)": (
        takes(CARELESS) == 4_500 == max(takes(t) for t in (ALIGNED, QUICK, MIXED, CARELESS))
    ),
    "Checkpoint 1 of our slow operator takes 3.5 s": takes(ALIGNED) == 3_500,
    "number 2 starts the moment number 1 is complete, and number 3 follows the same way": (
        often("0 s")[1][1] == often("0 s")[0][2] and often("0 s")[2][1] == often("0 s")[1][2]
    ),
    "With a pause of 1 s, number 2 starts at 7:00:07, 1 s after the end of number 1": (
        often("1 s")[1][1] == time_ms("7:00:07") == often("1 s")[0][2] + 1_000
    ),
    "later due times count from there": often("1 s")[2][1] == time_ms("7:00:09"),
    "a small job that starts at 6:58:30 and crashes at 6:59:20": (
        wmviz.scenario("crash-and-replay").grid_start_ms == time_ms("6:58:30")
        and wmviz.scenario("crash-and-replay").happenings[0].at_ms == time_ms("6:59:20")
    ),
    "With 2 min there is no checkpoint yet, and the job begins at the beginning": read_again("2 min")[:2] == (3, 0),
    "The totals are the same each time": len({read_again(i)[2] for i in ("10 s", "30 s", "2 min")}) == 1,
    "Nothing is stored from the channels, and the channel of source[1] is blocked for 2 s": (
        not [r for r in SAVEPOINT if r.kind == Kind.STORED]
        and [ms for name, ms in blocked(SAVEPOINT) if name.startswith("source[1]")]
        == [time_ms("7:00:04"), time_ms("7:00:06")]
    ),
    "Here checkpoint 1 may take 3 s, but needs 3.5 s": [
        r.value
        for mode in ("aligned", "unaligned")
        for r in wmviz.simulate(S.replace(checkpoints={"timeout": "3 s", "mode": mode}))
        if r.kind == Kind.CHECKPOINT and r.at_ms < time_ms("7:00:06")
    ]
    == [CheckpointPhase.STARTED, CheckpointPhase.FAILED, CheckpointPhase.STARTED, CheckpointPhase.COMPLETED],
    "our run stops after the fourth time": sum(
        r.kind == Kind.CRASHED for r in wmviz.simulate(S.replace(checkpoints={"timeout": "3 s"}))
    )
    == 4,
    "With 4 s all barriers come in time, and the checkpoint stays aligned": (
        contents(wmviz.simulate(S.replace(checkpoints={"mode": "unaligned", "alignment_timeout": "4 s"})))[:3]
        == (6, 6, 0)
    ),
}


class TestProse(HeldProse):
    """What the prose says is so."""

    by_hand = frozenset({"6:59:59.999", "7:00:06.5"})


def test_in_every_exact_mode_state_and_stored_events_are_what_was_read():
    for trace in (ALIGNED, QUICK, MIXED):
        found = contents(trace)
        assert found.counted + found.stored == found.read
    assert contents(CARELESS).counted > contents(CARELESS).read


# On Flink ----------------------------------------------------------------------------------------------------------


def config(lines):
    """Run lines of the lesson and give the checkpoint settings that Flink has read."""
    names: dict[str, object] = {}
    exec(lines, names)
    return names["env"].get_checkpoint_config()._j_checkpoint_config


@pytest.fixture(scope="module")
def blocks(flink):
    flink.startup.job()
    return re.findall(r"```python\n(.*?)```", PROSE, re.DOTALL)


def with_lines(first, lines):
    *head, last = first.strip().splitlines()
    return "\n".join([*head, *lines, last])


def test_the_lines_for_the_modes_do_on_flink_what_the_lesson_says(blocks):
    first, modes = blocks
    plain = config(first)
    assert plain.getCheckpointInterval() == 30_000
    assert plain.getMinPauseBetweenCheckpoints() == 10_000
    assert plain.getCheckpointTimeout() == 600_000
    assert plain.getCheckpointingConsistencyMode().toString() == "EXACTLY_ONCE"
    assert not plain.isUnalignedCheckpointsEnabled()
    assert plain.getMaxConcurrentCheckpoints() == 1

    unaligned, timeout, at_least_once = (part.splitlines() for part in modes.strip().split("\n\n"))
    assert config(with_lines(first, unaligned)).isUnalignedCheckpointsEnabled()
    mixed = config(with_lines(first, timeout))
    assert mixed.isUnalignedCheckpointsEnabled()
    assert mixed.getAlignedCheckpointTimeout().toMillis() == 30_000
    assert config(with_lines(first, at_least_once)).getCheckpointingConsistencyMode().toString() == "AT_LEAST_ONCE"
    cancelled = config(with_lines(first, unaligned + at_least_once))
    assert not cancelled.isUnalignedCheckpointsEnabled()


def test_every_option_that_the_lesson_names_is_one_of_flink(flink, blocks):
    options = flink.startup.job().get_gateway().jvm.org.apache.flink.configuration.CheckpointingOptions
    fields = [
        "CHECKPOINTING_INTERVAL",
        "CHECKPOINTS_DIRECTORY",
        "MIN_PAUSE_BETWEEN_CHECKPOINTS",
        "CHECKPOINTING_TIMEOUT",
        "ENABLE_UNALIGNED",
        "ENABLE_CHECKPOINTS_AFTER_TASKS_FINISH",
        "ALIGNED_CHECKPOINT_TIMEOUT",
        "CHECKPOINTING_CONSISTENCY_MODE",
        "TOLERABLE_FAILURE_NUMBER",
        "MAX_CONCURRENT_CHECKPOINTS",
    ]
    known = {name: getattr(options, name) for name in fields}
    named = set(re.findall(r"execution\.checkpointing\.[\w.-]+\w", PROSE))
    assert named <= {option.key() for option in known.values()}
    assert known["CHECKPOINTING_INTERVAL"].defaultValue() is None
    assert known["TOLERABLE_FAILURE_NUMBER"].defaultValue() == 0
    assert known["CHECKPOINTING_TIMEOUT"].defaultValue().toMinutes() == 10


def test_on_flink_savepoints_are_aligned_in_exactly_once_mode(flink):
    jvm = flink.startup.job().get_gateway().jvm
    checkpoints = jvm.org.apache.flink.runtime.checkpoint
    savepoint = checkpoints.SavepointType.savepoint(jvm.org.apache.flink.core.execution.SavepointFormatType.CANONICAL)
    place = jvm.org.apache.flink.runtime.state.CheckpointStorageLocationReference.getDefault()
    for timeout_ms in (0, 2_000):
        of = checkpoints.CheckpointOptions.forConfig(savepoint, place, True, True, timeout_ms)
        assert of.getAlignment().toString() == "ALIGNED"
        assert not of.isTimeoutable()


def test_on_flink_a_checkpoint_that_expires_makes_the_job_fail_by_default(flink):
    from tests.differential.java import java_function

    told = java_function("CheckpointFailures")
    assert "Checkpoint expired before completing" in told("0 CHECKPOINT_EXPIRED")
    assert told("0 CHECKPOINT_EXPIRED").startswith("the job fails")
    assert told("1 CHECKPOINT_EXPIRED") == ""


def test_on_flink_several_checkpoints_at_a_time_are_refused_while_unaligned_ones_are_on(flink):
    from py4j.protocol import Py4JJavaError

    graph = flink.startup.job().get_gateway().jvm.org.apache.flink.runtime.jobgraph
    settings = graph.tasks.CheckpointCoordinatorConfiguration.builder().setMaxConcurrentCheckpoints(2)
    settings.setUnalignedCheckpointsEnabled(False).build()
    with pytest.raises(Py4JJavaError, match="maxConcurrentCheckpoints can't be > 1"):
        settings.setUnalignedCheckpointsEnabled(True).build()


def test_on_flink_checkpoints_go_on_when_one_input_is_idle_and_another_has_ended(flink, tmp_path):
    """A folder in which no file appears, and a list of one row."""
    flink.startup.job()
    from pyflink.common import Configuration, Duration, Types, WatermarkStrategy
    from pyflink.datastream import StreamExecutionEnvironment
    from pyflink.datastream.connectors.file_system import FileSource, StreamFormat

    port = free_port()
    settings = Configuration()
    chosen = {"rest.port": str(port), "python.execution-mode": "thread", "execution.checkpointing.interval": "100 ms"}
    for name, value in chosen.items():
        settings.set_string(name, value)
    with flink.startup.tidy():
        env = StreamExecutionEnvironment.get_execution_environment(settings)
        env.set_parallelism(1)
        files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), tmp_path.as_uri())
        source = files.monitor_continuously(Duration.of_seconds(1)).build()
        idle = WatermarkStrategy.no_watermarks().with_idleness(Duration.of_millis(50))
        silent = env.from_source(source, idle, "silent")
        env.from_collection(["row"], Types.STRING()).union(silent).map(len, Types.INT()).print()
        job = env.execute_async("idle and ended")
    try:
        assert complete_after_an_end(f"http://localhost:{port}/jobs/{job.get_job_id()}") >= 2
    finally:
        job.cancel().result()
    assert "Checkpoints go on without it" in PROSE


def complete_after_an_end(job, limit_s=240):
    """Count the checkpoints that are complete after one task, and only one, has ended."""

    def ask(path):
        with urllib.request.urlopen(job + path, timeout=60) as answer:
            return json.load(answer)

    end, at_the_end = time.monotonic() + limit_s, None
    while time.monotonic() < end:
        states = [task["status"] for task in ask("")["vertices"]]
        complete = ask("/checkpoints")["counts"]["completed"]
        if states.count("FINISHED") == 1 and states.count("RUNNING") == len(states) - 1:
            at_the_end = complete if at_the_end is None else at_the_end
            if complete >= at_the_end + 2:
                return complete - at_the_end
        time.sleep(0.05)
    return 0
