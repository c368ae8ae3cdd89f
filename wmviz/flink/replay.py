"""Run scenarios on real Flink and give what it reported as traces."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from wmviz.flink import program, recorded, startup
from wmviz.flink.limits import refuse
from wmviz.flink.report import Report
from wmviz.flink.sql import has_own_emission
from wmviz.flink.startup import ENGINE, LIMIT_S, FlinkError
from wmviz.scenario import Scenario, ScenarioError
from wmviz.trace import Trace

MOST_PIPELINES = 40
"""Pipelines in one job: more make the job graph slow."""
RECORD_SWITCH = "WMVIZ_RECORD"
"""Environment variable: if it is set, every run is stored as a recording."""
_serial = itertools.count(1)


def run(scenario: Scenario, limit_s: float = LIMIT_S) -> Trace:
    """Run a scenario on Flink in this process, in its exact order of arrivals and ticks.

    Parameters
    ----------
    limit_s
        Seconds after which the job is cancelled.

    Returns
    -------
    Trace
        Holds only what Flink reported: in a real run or, where PyFlink is missing, in a recorded one (`recorded`). If
        the input of the scenario runs on, firings at the watermark MAX, which come from the end of the replay, are
        left out.

    Raises
    ------
    FlinkError
        If Flink is not there or cannot replay the scenario, the job fails, or it does not end in time.
    """
    return run_many([scenario], limit_s)[0]


def run_many(scenarios: Iterable[Scenario], limit_s: float = LIMIT_S) -> list[Trace]:
    """Run many scenarios, about 40 to a job, each in a pipeline of its own; the traces are in the same order.

    Parameters
    ----------
    limit_s
        Seconds for each job.

    Returns
    -------
    list of Trace
        As `run` gives them: recorded ones where PyFlink is missing.

    Raises
    ------
    FlinkError
        As for `run`.
    """
    if not hasattr(scenarios, "__iter__"):
        raise ScenarioError(f"run_many takes a list of scenarios, not {type(scenarios).__name__}")
    waiting = list(scenarios)
    can, why = startup.available()
    if not can:
        return _recorded(waiting, why)
    found = list(zip(waiting, reports(waiting, limit_s), strict=True))
    if os.environ.get(RECORD_SWITCH):
        from wmviz.flink import record

        for scenario, report in found:
            recorded.save(scenario, report, record.file_name(scenario))
    return [report.trace(scenario) for scenario, report in found]


def reports(scenarios: Sequence[Scenario], limit_s: float = LIMIT_S) -> list[Report]:
    """Run scenarios and give what Flink reported of each."""
    for scenario in scenarios:
        refuse(scenario)
    return [
        report
        for first in range(0, len(scenarios), MOST_PIPELINES)
        for report in _run_job(scenarios[first : first + MOST_PIPELINES], limit_s)
    ]


def _recorded(scenarios: Sequence[Scenario], why: str) -> list[Trace]:
    """Give the recorded runs of scenarios, labelled."""
    traces, engines = [], set()
    for scenario in scenarios:
        refuse(scenario)
        report = recorded.find(scenario)
        if report is None:
            names = ", ".join(sorted({found.scenario.name for found in recorded.recordings()}))
            raise FlinkError(f"{why} There is no recorded run of this form of {scenario.name}; recorded are {names}.")
        traces.append(report.trace(scenario, recorded=True))
        engines.add(report.engine)
    for engine in sorted(engines):
        recorded.show_label(engine, why)
    return traces


def _run_job(scenarios: Sequence[Scenario], limit_s: float) -> list[Report]:
    job = startup.job()
    names = [f"replay {next(_serial)}" for _ in scenarios]
    classes = jar()
    with startup.sentences(), startup.tidy():
        env = job.environment(classes)
        streams = [
            _labelled(program.code(scenarios[number], name=names[number]).load().build(env), f"{number} ")
            for number in sorted(range(len(scenarios)), key=lambda number: has_own_emission(scenarios[number]))
        ]
        stream = streams[0].union(*streams[1:]) if len(streams) > 1 else streams[0]
    found = [Report(ENGINE) for _ in scenarios]
    for line in startup.collect(stream, "replay", limit_s):
        number, _, text = line.partition(" ")
        found[int(number)].take(json.loads(text))
    for report, name in zip(found, names, strict=True):
        report.dropped = job.dropped(f"window of {name}")
    return found


@cache
def jar() -> str:
    """Give the jar of our Java classes, compiled once for the JVM of this process."""
    names = ("ReplayStrategy.java", "ReplayInputs.java", "SqlWatermarks.java", "LateCounter.java", "Label.java")
    return startup.compiled(*map(program.source, names))


def _labelled(stream: Any, label: str) -> Any:
    java = startup.job().get_gateway().jvm
    strings = java.org.apache.flink.api.common.typeinfo.Types.STRING
    return type(stream)(stream._j_data_stream.map(java.replay.Label(label), strings))
