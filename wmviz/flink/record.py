"""Make the recorded runs again, from real runs: ``python -m wmviz.flink.record``.

Every scenario of the catalogue is recorded, a sample of the large ones. Notebooks that are named are run too, and every
scenario that they run on Flink is recorded: ``python -m wmviz.flink.record notebooks/*.ipynb``.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path

from wmviz import catalogue
from wmviz.flink import recorded, traps_pyflink
from wmviz.flink.limits import replayable
from wmviz.flink.program import plain_name
from wmviz.flink.replay import RECORD_SWITCH, reports
from wmviz.scenario import Scenario

MOST_EVENTS = 2_000
SAMPLE_KEYS = 50


def recordable(scenario: Scenario) -> Scenario:
    """Give a scenario, or its sample if it is large."""
    return scenario if len(scenario.events) <= MOST_EVENTS else scenario.sample(SAMPLE_KEYS)


def file_name(scenario: Scenario) -> str:
    """Name a recording: the scenario's name; a variation also gets a digest of what it is."""
    name = scenario.name.removesuffix("-sample")
    if name in catalogue.names() and scenario == recordable(catalogue.scenario(name)):
        return name
    text = json.dumps(scenario.to_json(), sort_keys=True)
    return f"{plain_name(scenario.name)}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def record(scenarios: list[Scenario]) -> None:
    """Run scenarios on Flink and store what it reported."""
    for scenario, report in zip(scenarios, reports(scenarios), strict=True):
        print(recorded.save(scenario, report, file_name(scenario)))


def run_notebook(path: Path) -> None:
    """Run a notebook, so that its own runs are recorded; its outputs are thrown away."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(path.parent)}}).execute()


def main(notebooks: list[str]) -> None:
    """Record the catalogue, then what the notebooks run."""
    for old in recorded.FOLDER.glob("*.json"):
        old.unlink()
    scenarios = [recordable(catalogue.scenario(name)) for name in catalogue.names()]
    record([scenario for scenario in scenarios if replayable(scenario)])
    traps_pyflink.record()
    os.environ[RECORD_SWITCH] = "1"
    for notebook in notebooks:
        run_notebook(Path(notebook))


if __name__ == "__main__":
    main(sys.argv[1:])
