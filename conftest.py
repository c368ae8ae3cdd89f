"""How notebooks are tested: see "Tests" in CONTRIBUTING.md."""

import os
from pathlib import Path

import pytest

EXERCISES = Path(__file__).parent / "exercises"


def pytest_configure(config: pytest.Config) -> None:
    """Give kernels that nbval starts the stage that committed notebooks hold: a still picture."""
    if config.option.nbval:
        os.environ["WMVIZ_STAGE"] = "still"


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Compare no outputs of exercise sheets: they are committed without outputs and must only run clean."""
    if EXERCISES in collector.path.parents and hasattr(collector, "compare_outputs"):
        collector.compare_outputs = False
