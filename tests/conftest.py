"""Fixtures shared by all tests, and what happens where Chromium, Java or PyFlink is missing."""

import importlib
import os
from pathlib import Path
from types import ModuleType

import hypothesis
import pytest

from wmviz.doctor import look

REQUIRE_ALL = bool(os.environ.get("WMVIZ_REQUIRE_ALL"))
# A slow machine is no failure. Where all is required, examples are the same in every run; elsewhere they are new ones.
hypothesis.settings.register_profile("wmviz", deadline=None, derandomize=REQUIRE_ALL)
hypothesis.settings.load_profile("wmviz")


def find_chromium() -> str | None:
    """Return the browser to test with; the variable WMVIZ_CHROMIUM names another."""
    return look.chromium() or None


def flink_is_missing() -> str | None:
    """Return why Flink cannot be started here, None where it can."""
    can, why = importlib.import_module("wmviz.flink").available()
    return None if can else why


def chromium_is_missing() -> str | None:
    """Return why there is no browser, None where there is one."""
    return None if find_chromium() else "no Chromium: install it, or name one in WMVIZ_CHROMIUM"


NEEDS = {"flink": flink_is_missing, "browser": chromium_is_missing}
MARK_OF_FIXTURE = {"flink": "flink", "chromium_path": "browser"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what uses a fixture as needing it, so that `-m "not flink"` is enough."""
    for item in items:
        for fixture, mark in MARK_OF_FIXTURE.items():
            if fixture in getattr(item, "fixturenames", ()):
                item.add_marker(mark)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what cannot run here, with the reason; where all is required, fail."""
    for mark, missing in NEEDS.items():
        if item.get_closest_marker(mark) and (reason := missing()):
            if REQUIRE_ALL:
                pytest.fail(f"{reason} (WMVIZ_REQUIRE_ALL is set)", pytrace=False)
            pytest.skip(reason)


@pytest.fixture(scope="session")
def flink() -> ModuleType:
    """Return wmviz.flink; it starts one JVM in this process, when first used."""
    return importlib.import_module("wmviz.flink")


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """Return the path of the browser to test with."""
    path = find_chromium()
    assert path is not None, "pytest_runtest_setup lets no test come here without a browser"
    return path


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the folder of the repository."""
    return Path(__file__).resolve().parent.parent
