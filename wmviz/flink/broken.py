"""Broken jobs to practise on: one for each cause of a silent or lossy job, small, and really run on Flink."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from string import Template
from typing import Any

from wmviz.diagnosis import Diagnosis, diagnose
from wmviz.flink import program, recorded, startup
from wmviz.flink.program import Program
from wmviz.flink.replay import RECORD_SWITCH
from wmviz.flink.rest import Rest
from wmviz.flink.standalone import Cluster, free_port
from wmviz.flink.startup import ENGINE, LIMIT_S, FlinkError
from wmviz.scenario import ScenarioError

RECORDINGS = recorded.FOLDER / "broken"
SETTLE_S = 20.0
"""A watermark must stand still for 10 s before that is a fault; the quiet partition falls silent after 5 s."""
WAIT_S = 5.0

EVENT_TIME = '''
class EventTime(TimestampAssigner):
    """The phone's time, the third field."""

    def extract_timestamp(self, run, record_timestamp):
        return int(run.split(",")[2])

'''

ON_SOURCE = """\
{topic}    env.set_parallelism({parallelism})
    strategy = WatermarkStrategy.{strategy}
    runs = env.from_source(Source(topic), strategy, "runs", Types.STRING())
    windows = runs.key_by(lambda run: run.split(",")[0]).window(TumblingEventTimeWindows.of(Time.seconds(5)))
{windows}    windows.process(Total(), Types.STRING()).sink_to(nowhere())
"""
BOUND_2_S = "for_bounded_out_of_orderness(Duration.of_seconds(2))"
STEADY = ON_SOURCE.format(topic="", parallelism=2, strategy=BOUND_2_S, windows="")

AFTER_SOURCE = """\
    topic = topic.inSeconds()  # the phones write their time in seconds
    env.set_parallelism(1)
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(2))
    strategy = strategy.with_timestamp_assigner(EventTime())
    runs = env.from_source(Source(topic), WatermarkStrategy.no_watermarks(), "runs", Types.STRING())
    runs = runs.assign_timestamps_and_watermarks(strategy)
    windows = runs.key_by(lambda run: run.split(",")[0]).window(TumblingEventTimeWindows.of(Time.seconds(5)))
    windows.process(Total(), Types.STRING()).sink_to(nowhere())
"""

SIDE_OUTPUT = """\
    topic = topic.late(5, 30_000)  # one event in 5 was kept on the phone for 30 s
    env.set_parallelism(1)
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(2))
    runs = env.from_source(Source(topic), strategy, "runs", Types.STRING())
    windows = runs.key_by(lambda run: run.split(",")[0]).window(TumblingEventTimeWindows.of(Time.seconds(5)))
    late = OutputTag("late", Types.STRING())
    totals = windows.side_output_late_data(late).process(Total(), Types.STRING())
    totals.sink_to(nowhere())
    late_runs = totals.get_side_output(late)
"""


@dataclass(frozen=True)
class JobParts:
    """What one job has that the others have not; `fix`: which texts become which."""

    title: str
    about: str
    partitions: int
    build: str
    fix: tuple[tuple[str, str], ...] = ()


SILENT = "    topic = topic.silent(1, 5_000)  # partition 1 falls silent after 5 s\n"
WITH_IDLENESS = (
    "    runs = env.from_source",
    "    strategy = strategy.with_idleness(Duration.of_seconds(3))\n    runs = env.from_source",
)
JOBS = {
    "idle-partition": JobParts(
        "A partition falls silent, and no window fires any more.",
        "Two partitions, two subtasks; nothing is written to one of them after 5 seconds.",
        2,
        ON_SOURCE.format(topic=SILENT, parallelism=2, strategy=BOUND_2_S, windows=""),
        (WITH_IDLENESS,),
    ),
    "more-subtasks-than-partitions": JobParts(
        "One partition, two source subtasks: no window ever fires.",
        "The second subtask has nothing to read.",
        1,
        STEADY,
        (('"runs", Types.STRING())', '"runs", Types.STRING()).set_parallelism(1)'),),
    ),
    "wrong-timestamps": JobParts(
        "The assigner gives seconds, and Flink expects milliseconds: no window fires for more than an hour.",
        "The phones write their time in seconds since 1970.",
        1,
        AFTER_SOURCE,
        (('int(run.split(",")[2])', 'int(run.split(",")[2]) * 1000'),),
    ),
    "bound-too-large": JobParts(
        "The bound is 10 minutes: results come, but 10 minutes late.",
        "Events are at most 300 ms out of order.",
        2,
        STEADY.replace("of_seconds(2)", "of_minutes(10)"),
        (("of_minutes(10)", "of_seconds(2)"),),
    ),
    "bound-too-small": JobParts(
        "The bound is 0, and events are out of order: many are dropped.",
        "Most events are up to 300 ms out of order; one in 5 was kept on the phone for 20 s.",
        1,
        ON_SOURCE.format(
            topic="    topic = topic.late(5, 20_000)  # one event in 5 was kept on the phone for 20 s\n",
            parallelism=1,
            strategy="for_monotonous_timestamps()",
            windows="",
        ),
        (
            ("for_monotonous_timestamps()", f"{BOUND_2_S}  # for the usual disorder"),
            (
                "    windows.process",
                "    windows = windows.allowed_lateness(30_000)  # for the tail\n    windows.process",
            ),
        ),
    ),
    "unread-side-output": JobParts(
        "Late events go to a side output, and nobody reads it.",
        "One event in 5 comes 30 s late.",
        1,
        SIDE_OUTPUT,
        (("    late_runs = totals.get_side_output(late)", "    totals.get_side_output(late).sink_to(nowhere())"),),
    ),
}
HEALTHY = {
    "steady-traffic": JobParts("A healthy job.", "Two partitions with steady traffic.", 2, STEADY),
    "quiet-partition": JobParts(
        "A healthy job with a quiet partition.",
        "Nothing is written to one of two partitions after 5 seconds; it is left out of the minimum.",
        2,
        JOBS["idle-partition"].build.replace(*WITH_IDLENESS),
    ),
}


def broken_jobs() -> list[str]:
    """Give the names of the broken jobs."""
    return list(JOBS)


def broken_job(name: str) -> BrokenJob:
    """Give a job to practise the diagnosis on.

    Parameters
    ----------
    name
        One of `broken_jobs`; or ``"steady-traffic"`` or ``"quiet-partition"``, which are healthy.

    Returns
    -------
    BrokenJob
        Its ``program``, ``fixed``, and ``diagnose()``, which runs it.

    Raises
    ------
    ScenarioError
        If there is no such job.
    """
    if name not in {**JOBS, **HEALTHY}:
        raise ScenarioError(f"there is no job {name!r}; there are: {', '.join([*JOBS, *HEALTHY])}")
    return BrokenJob(name)


@dataclass(frozen=True)
class BrokenJob:
    """A job that runs until it is stopped, with one fault.

    Attributes
    ----------
    name
        What is wrong with it.
    is_fixed
        Whether the fault is mended.
    """

    name: str
    is_fixed: bool = False

    @property
    def title(self) -> str:
        """Say in a sentence what happens."""
        return f"Mended: {self._parts.title}" if self.is_fixed else self._parts.title

    @property
    def fixed(self) -> BrokenJob:
        """The same job without the fault."""
        if not self._parts.fix:
            raise ScenarioError(f"{self.name!r} is healthy; there is nothing to fix")
        return replace(self, is_fixed=True)

    @property
    def program(self) -> Program:
        """The whole program, to read, save and run alone."""
        assigner = "EventTime()" in self.build
        side = "OutputTag" in self.build
        watermark = "from pyflink.common.watermark_strategy import TimestampAssigner\n" * assigner
        stream = f"from pyflink.datastream import {'OutputTag, ' * side}StreamExecutionEnvironment"
        text = Template(program.source("broken_job.txt")).substitute(
            title=self.title,
            about=self._parts.about,
            name=self._name,
            duration="Duration, " * ("Duration" in self.build),
            imports=watermark + stream,
            classes=self._mended(EVENT_TIME) if assigner else "",
            partitions=self._parts.partitions,
            build=self.build,
            topic=program.source("Topic.java"),
        )
        return Program(text, self._name)

    @property
    def build(self) -> str:
        """The lines that build the job; the fault is there, unless it is in the assigner."""
        return self._mended(self._parts.build)

    @property
    def _parts(self) -> JobParts:
        return {**JOBS, **HEALTHY}[self.name]

    @property
    def _name(self) -> str:
        return f"{self.name}-fixed" if self.is_fixed else self.name

    def _mended(self, text: str) -> str:
        for old, new in self._parts.fix * self.is_fixed:
            text = text.replace(old, new)
        return text

    def run(self, cluster: Cluster | None = None) -> RunningJob:
        """Start it, and come back when all its tasks run.

        Parameters
        ----------
        cluster
            From `wmviz.flink.cluster`; None: in this process, with a REST interface of its own.

        Returns
        -------
        RunningJob
            Stop it with ``.stop()`` or use it in a ``with`` statement.

        Raises
        ------
        FlinkError
            If Flink cannot run here, or the job does not start.
        """
        if not (cluster is None or isinstance(cluster, Cluster)):
            raise ScenarioError(f"cluster is {cluster!r}; make one with wmviz.flink.cluster()")
        startup.job()
        loaded = self.program.load()
        rest = Rest(f"localhost:{free_port()}") if cluster is None else cluster.rest
        with startup.sentences(), startup.tidy():
            if cluster is None:
                env = loaded.environment(rest.port)
            else:
                env = cluster.environment({n: v for n, v in loaded.SETTINGS.items() if not n.startswith("python")})
            loaded.build(env)
            client = env.execute_async(self._name)
        running = RunningJob(rest, str(client.get_job_id()), self._name, client)
        try:
            running.wait_until_it_runs()
        except BaseException:
            running.stop()
            raise
        return running

    def diagnose(
        self, cluster: Cluster | None = None, settle_s: float = SETTLE_S, wait: float | str = WAIT_S
    ) -> Diagnosis:
        """Run it, read it, stop it.

        Parameters
        ----------
        cluster
            As for `run`.
        settle_s
            Seconds for which it runs before it is read.
        wait
            From reading to reading.

        Returns
        -------
        Diagnosis
            Where PyFlink is missing, and without a cluster, that of a recorded run.
        """
        can, why = startup.available()
        if not can and cluster is None:
            recorded.show_label(ENGINE, why)
            return self.recorded()
        with self.run(cluster) as running:
            time.sleep(settle_s)
            found = running.diagnose(wait=wait)
        if os.environ.get(RECORD_SWITCH) and cluster is None:
            RECORDINGS.mkdir(exist_ok=True)
            found.save(self._recording)
        return found

    def recorded(self) -> Diagnosis:
        """Give the diagnosis of a recorded run of it."""
        return diagnose(self._recording)

    @property
    def _recording(self) -> Path:
        return RECORDINGS / f"{self._name}.json"

    def __repr__(self) -> str:
        """Say in a line what it is."""
        return f"<Job {self._name}: {self.title}>"


class RunningJob:
    """A job that runs; made by `BrokenJob.run`.

    Attributes
    ----------
    rest
        The REST interface to read it with.
    job, name
        Id and name of the job.
    """

    def __init__(self, rest: Rest, job: str, name: str, client: Any) -> None:
        """Keep whom to ask, and how to stop it."""
        self.rest, self.job, self.name, self._client = rest, job, name, client

    @property
    def address(self) -> str:
        """Address of the REST interface."""
        return self.rest.address

    def diagnose(self, **options: Any) -> Diagnosis:
        """Read it, as ``wmviz.diagnose(address, job)`` does."""
        return diagnose(self.address, self.job, **options)

    def wait_until_it_runs(self, limit_s: float = LIMIT_S) -> None:
        """Wait until each task runs and the first event has come."""
        deadline = time.monotonic() + limit_s
        while time.monotonic() < deadline:
            with suppress(FlinkError, KeyError):
                detail = self.rest.get(f"/jobs/{self.job}")
                read = sum(vertex["metrics"]["write-records"] for vertex in detail["vertices"])
                if all(vertex["status"] == "RUNNING" for vertex in detail["vertices"]) and read:
                    return
            time.sleep(0.3)
        raise FlinkError(f"Job {self.name} did not start within {limit_s:g} s and was stopped.")

    def stop(self) -> None:
        """Cancel it."""
        if self._client is not None:
            with suppress(Exception):  # where it has ended, there is nothing to cancel
                self._client.cancel().result()
            self._client = None

    def __enter__(self) -> RunningJob:
        """Use it in a ``with`` statement."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it."""
        self.stop()

    def __repr__(self) -> str:
        """Say in a line what it is."""
        return f"<Job {self.name} on {self.address}>"


def record() -> None:
    """Run every job, broken, mended and healthy, and store what REST told: ``python -m wmviz.flink.broken``."""
    os.environ[RECORD_SWITCH] = "1"
    broken = [BrokenJob(name) for name in JOBS]
    for job in (*map(BrokenJob, HEALTHY), *broken, *(job.fixed for job in broken)):
        print(job.diagnose().headline, flush=True)


if __name__ == "__main__":
    record()
