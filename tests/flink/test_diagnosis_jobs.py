"""The diagnosis on real jobs beside the lesson: two faults at once, and healthy jobs that look like one."""

import time
from contextlib import ExitStack

import pytest

import wmviz
from wmviz.flink import broken
from wmviz.flink.broken import AFTER_SOURCE, BOUND_2_S, JOBS, ON_SOURCE, SILENT, STEADY, BrokenJob

pytestmark = pytest.mark.flink

SETTLE_S, WAIT_S = 20, 5
SLOW = """\
    import time
    env.set_parallelism(1)
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(2))
    runs = env.from_source(Source(topic), strategy, "runs", Types.STRING())
    runs = runs.map(lambda run: (time.sleep(0.04), run)[1], Types.STRING())  # 20 events a second: busy for 0.8 s of it
    windows = runs.key_by(lambda run: run.split(",")[0]).window(TumblingEventTimeWindows.of(Time.seconds(5)))
    windows.process(Total(), Types.STRING()).sink_to(nowhere())
"""
NO_WATERMARKS = """\
    runs = env.from_source(Source(topic), WatermarkStrategy.no_watermarks(), "runs", Types.STRING())
    runs.key_by(lambda run: run.split(",")[0]).map(lambda run: run.upper(), Types.STRING()).sink_to(nowhere())
"""
BY_THE_SERVERS_CLOCK = """\
    from pyflink.datastream.window import TumblingProcessingTimeWindows
    runs = env.from_source(Source(topic), WatermarkStrategy.no_watermarks(), "runs", Types.STRING())
    windows = runs.key_by(lambda run: run.split(",")[0]).window(TumblingProcessingTimeWindows.of(Time.seconds(5)))
    windows.process(Total(), Types.STRING()).sink_to(nowhere())
"""
# Name → partitions, the lines that build it, and the causes in their order.
CASES = {
    "silent-and-late": (
        2,
        ON_SOURCE.format(
            topic=SILENT + "    topic = topic.late(5, 20_000)\n",
            parallelism=2,
            strategy="for_monotonous_timestamps()",
            windows="",
        ),
        ["idle-partition", "bound-too-small"],
    ),
    "spare-and-large-bound": (
        1,
        STEADY.replace("of_seconds(2)", "of_minutes(10)"),
        ["more-subtasks-than-partitions", "bound-too-large"],
    ),
    "spare-and-in-seconds": (
        1,
        AFTER_SOURCE.replace("set_parallelism(1)", "set_parallelism(2)"),
        ["wrong-timestamps", "more-subtasks-than-partitions"],
    ),
    "the-topic-is-silent": (
        1,
        ON_SOURCE.format(topic="    topic = topic.silent(0, 5_000)\n", parallelism=1, strategy=BOUND_2_S, windows=""),
        ["everything-idle"],
    ),
    "no-watermarks-by-design": (2, NO_WATERMARKS, []),
    "by-the-servers-clock": (2, BY_THE_SERVERS_CLOCK, []),
    "busy-but-in-time": (1, SLOW, []),
}


@pytest.fixture(scope="module")
def found(flink):
    """Run all of them at once and diagnose each; name → diagnosis."""
    for name, (partitions, build, _) in CASES.items():
        JOBS[name] = broken.JobParts(name, "A test.", partitions, build)
    try:
        with ExitStack() as stack:
            running = {name: stack.enter_context(BrokenJob(name).run()) for name in CASES}
            time.sleep(SETTLE_S)
            yield {name: job.diagnose(wait=WAIT_S) for name, job in running.items()}
    finally:
        for name in CASES:
            del JOBS[name]


@pytest.mark.parametrize("name", CASES)
def test_what_is_wrong_is_found_and_nothing_else(found, name):
    assert [cause.name for cause in found[name].causes] == CASES[name][2], repr(found[name])


def test_a_topic_that_may_sleep_is_no_fault(found, tmp_path):
    kept = found["the-topic-is-silent"].save(tmp_path / "dump.json")
    assert wmviz.diagnose(kept, acceptable_silence="8 h").healthy


def test_a_bounded_job_that_has_ended_is_healthy_in_either_mode(flink):
    with flink.cluster(taskmanagers=1, limit_s=600) as cluster:
        for mode in ("STREAMING", "BATCH"):
            env = cluster.environment({"execution.runtime-mode": mode})
            env.from_collection([1, 2, 3]).print()
            client = env.execute_async(f"bounded {mode}")
            client.get_job_execution_result().result()
            found = wmviz.diagnose(cluster, f"bounded {mode}", wait=1)
            assert found.healthy
            assert found.facts.now.state == "FINISHED"
            assert found.facts.now.is_batch == (mode == "BATCH")
