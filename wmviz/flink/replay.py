"""Run scenarios on real Flink and give what it reported as traces."""

from __future__ import annotations

import importlib.util
import itertools
import json
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from wmviz.flink import program, startup
from wmviz.flink.startup import ENGINE, FlinkError
from wmviz.scenario import Scenario
from wmviz.times import MAX_MS
from wmviz.trace import ObservedFiring, Trace, observed_trace

MOST_PIPELINES = 40
"""Pipelines in one job: more make the job graph slow."""
LIMIT_S = 300.0
_serial = itertools.count(1)


def refuse(scenario: Scenario) -> None:
    """Say why Flink cannot replay a scenario, if it cannot.

    Raises
    ------
    FlinkError
        If its windows go by processing time.
    """
    if scenario.window.time == "processing":
        raise FlinkError(
            f"{scenario.name} counts by the server's clock (processing time), and a wall clock cannot be replayed: "
            "every run on Flink would differ. wmviz.simulate shows it."
        )


def run(scenario: Scenario, limit_s: float = LIMIT_S) -> Trace:
    """Run a scenario on Flink in this process, in its exact order of arrivals and ticks.

    Parameters
    ----------
    limit_s
        Seconds after which the job is cancelled.

    Returns
    -------
    Trace
        Holds only what Flink reported. If the input of the scenario does not end, firings at the watermark MAX, which
        come from the end of the replay, are left out.

    Raises
    ------
    FlinkError
        If Flink is not there, the scenario goes by processing time, the job fails, or it does not end in time.
    """
    return run_many([scenario], limit_s)[0]


def run_many(scenarios: Iterable[Scenario], limit_s: float = LIMIT_S) -> list[Trace]:
    """Run many scenarios, about 40 to a job, each in a pipeline of its own; the traces are in the same order.

    Parameters
    ----------
    limit_s
        Seconds for each job.
    """
    waiting = list(scenarios)
    for scenario in waiting:
        refuse(scenario)
    return [
        trace
        for first in range(0, len(waiting), MOST_PIPELINES)
        for trace in _run_job(waiting[first : first + MOST_PIPELINES], limit_s)
    ]


@dataclass
class _Reported:
    """What Flink reported of one pipeline."""

    firings: list[ObservedFiring] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    seen: dict[str, int] = field(default_factory=dict)

    def take(self, line: dict[str, Any]) -> None:
        """Take in one line that a program prints."""
        if "fired" in line:
            window = None if line["start_ms"] is None else (line["start_ms"], line["end_ms"])
            self.firings.append(
                ObservedFiring(line["fired"], window, line["value"], tuple(line["events"]), line["watermark_ms"])
            )
        elif "late" in line:
            self.late.append(line["late"])
        else:
            self.seen[line["event"]] = line["watermark_ms"]

    def trace(self, scenario: Scenario, dropped: int) -> Trace:
        """Make the trace."""
        runs_on = scenario.end_of_input_ms is None
        firings = [firing for firing in self.firings if not (runs_on and firing.watermark_ms == MAX_MS)]
        return observed_trace(
            scenario, firings=firings, late=self.late, dropped=dropped, seen=self.seen, engine=ENGINE, recorded=False
        )


def _run_job(scenarios: Sequence[Scenario], limit_s: float) -> list[Trace]:
    job = startup.job()
    names = [f"replay {next(_serial)}" for _ in scenarios]
    with startup.sentences():
        env = job.environment(_jar())
        streams = [
            _labelled(_load(scenario, name).build(env), f"{number} ")
            for number, (scenario, name) in enumerate(zip(scenarios, names, strict=True))
        ]
        stream = streams[0].union(*streams[1:]) if len(streams) > 1 else streams[0]
    reported = [_Reported() for _ in scenarios]
    for line in startup.collect(stream, "replay", limit_s):
        number, _, text = line.partition(" ")
        reported[int(number)].take(json.loads(text))
    return [
        found.trace(scenario, job.dropped(f"window of {name}"))
        for found, scenario, name in zip(reported, scenarios, names, strict=True)
    ]


def _jar() -> str:
    """Give the jar of our Java classes, compiled once for each JVM."""
    global _compiled
    if _compiled is None:
        names = ("ReplayStrategy.java", "LateCounter.java", "Label.java")
        _compiled = startup.job().compile_java(*map(program.source, names))
    return _compiled


_compiled: str | None = None


def _load(scenario: Scenario, name: str) -> ModuleType:
    """Load the standalone program of a scenario: what runs here is what `wmviz.flink.code` shows."""
    with tempfile.TemporaryDirectory() as folder:
        path = program.code(scenario, name=name).save(folder)
        spec = importlib.util.spec_from_file_location("wmviz_replay", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


def _labelled(stream: Any, label: str) -> Any:
    java = startup.job().get_gateway().jvm
    strings = java.org.apache.flink.api.common.typeinfo.Types.STRING
    return type(stream)(stream._j_data_stream.map(java.replay.Label(label), strings))
