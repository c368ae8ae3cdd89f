"""The jobs of sheet 15: trams that count their passengers, each run on Flink once, and what REST told of them then.

``python -m wmviz.course.sheets.trams`` runs them again and stores the answers anew; the sheet only reads them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from wmviz.flink.broken import BrokenJob, JobParts
from wmviz.flink.program import Program

RECORDINGS = Path(__file__).parent / "recordings"

BUILD = """\
{topic}    env.set_parallelism({parallelism})
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds({bound_s}))
    trams = env.from_source(Source(topic), strategy, "trams", Types.STRING())
    windows = trams.key_by(lambda tram: tram.split(",")[0]).window(TumblingEventTimeWindows.of(Time.seconds(5)))
    windows.process(Total(), Types.STRING()).sink_to(nowhere())
"""


def _job(title: str, partitions: int, parallelism: int, bound_s: int = 2, topic: str = "") -> JobParts:
    build = BUILD.format(topic=f"    topic = topic.{topic}\n" * bool(topic), parallelism=parallelism, bound_s=bound_s)
    return JobParts(title, "Trams send how many passengers have got on, 20 times a second.", partitions, build)


JOBS = {
    "three-lines": _job(
        "One of three partitions falls silent; its subtask reads another one, too.", 3, 2, 2, "silent(2, 5_000)"
    ),
    "after-outage": _job("A healthy job that reads 10 minutes of old events, four times as fast as the clock.", 2, 2),
    "spare-readers": _job("Two partitions, three source subtasks.", 2, 3),
    "summer-time": _job("The trams write their local time, two hours ahead of UTC.", 2, 2),
    "depot-closed": _job("The only partition falls silent.", 1, 1, 2, "silent(0, 5_000)"),
    "lost-passengers": _job("One event in 4 is 25 s old, and the bound is 1 s.", 2, 2, 1, "late(4, 25_000)"),
}
HAPPENED = "long happened = now - "
OTHER_CLOCKS = {
    "after-outage": "long happened = began - 600000L + number * 4000L / topic.perSecond - ",
    "summer-time": "long happened = now + 7200000L - ",
}
"""Jobs whose events have other times than the clock's; the topic of ``broken_job`` has none such."""


@dataclass(frozen=True)
class TramJob(BrokenJob):
    """One of `JOBS`; its ``recorded()`` gives the diagnosis of a recorded run, its ``rows`` what REST told."""

    @property
    def program(self) -> Program:
        """The whole program, to read, save and run alone."""
        text = super().program.replace('"runs', '"trams')
        return Program(text.replace(HAPPENED, OTHER_CLOCKS.get(self.name, HAPPENED)), self._name)

    @property
    def _parts(self) -> JobParts:
        return JOBS[self.name]

    @property
    def _recording(self) -> Path:
        return RECORDINGS / f"{self._name}.json"


def record() -> None:
    """Run every job on Flink and store what REST told."""
    for name in JOBS:
        print(TramJob(name).diagnose().save(RECORDINGS / f"{name}.json"), flush=True)


if __name__ == "__main__":
    record()
