"""Recorded runs: real runs of Flink, stored as data, for machines on which PyFlink cannot be had."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from wmviz.flink.report import Report
from wmviz.scenario import Scenario, json_text

FOLDER = Path(str(files("wmviz.flink"))) / "recordings"


class Recording(NamedTuple):
    """A scenario and what Flink reported when it ran."""

    scenario: Scenario
    report: Report


def find(scenario: Scenario) -> Report | None:
    """Give the recorded run of a scenario, or None if there is none."""
    job = _job(scenario)
    return next((found.report for found in recordings() if _job(found.scenario) == job), None)


@cache
def recordings() -> tuple[Recording, ...]:
    """Read every recording."""
    read = (json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json")))
    return tuple(Recording(Scenario.from_json(data.pop("scenario")), Report.from_json(data)) for data in read)


def save(scenario: Scenario, report: Report, name: str) -> Path:
    """Store a run.

    Returns
    -------
    Path
        The file in ``wmviz/flink/recordings/``.
    """
    path = FOLDER / f"{name}.json"
    data = report.to_json() | {"scenario": scenario.to_json()}
    path.write_text(json_text(data), encoding="utf-8")
    recordings.cache_clear()
    return path


def _job(scenario: Scenario) -> Scenario:
    """Give the scenario without what Flink does not see: names, how times are shown, the reader of the results."""
    return replace(scenario, name="", title="", about="", zone=None, generated=None, sink="upsert")


def show_label(engine: str, why: str) -> None:
    """Say in a notebook that a run is recorded.

    The label is a widget without a text form. So a notebook's text outputs are the same with and without PyFlink.
    """
    if "IPython" not in sys.modules:
        return
    from IPython.core.getipython import get_ipython
    from IPython.display import display

    if getattr(get_ipython(), "kernel", None) is None:
        return
    from ipywidgets import HTML  # type: ignore[import-untyped]

    view = "application/vnd.jupyter.widget-view+json"
    label = HTML(escape(f"This is a recorded run of {engine}. {why}"))
    display({view: label._repr_mimebundle_()[view]}, raw=True)  # type: ignore[no-untyped-call]
