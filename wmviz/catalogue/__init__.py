"""Named scenarios, one JSON file each."""

from __future__ import annotations

import difflib
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from wmviz.scenario import Scenario, ScenarioError

_FOLDER = Path(str(files(__name__)))


def names() -> list[str]:
    """List the names of the catalogue."""
    return sorted(path.stem for path in _FOLDER.glob("*.json") if path.stem != "scenario.schema")


@lru_cache(maxsize=8)
def scenario(name: str) -> Scenario:
    """Get a scenario of the catalogue.

    Parameters
    ----------
    name
        One of ``wmviz.scenarios()``; each file begins with one line on what to look at (``about``).

    Raises
    ------
    ScenarioError
        If there is none of that name.
    """
    if name not in names():
        close = difflib.get_close_matches(str(name), names(), n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"there is {', '.join(names())}"
        raise ScenarioError(f"there is no scenario {name!r} in the catalogue; {hint}")
    return Scenario.load(_FOLDER / f"{name}.json")
