"""Named scenarios, one JSON file each."""

from __future__ import annotations

import difflib
import json
from functools import lru_cache
from html import escape
from importlib.resources import files
from pathlib import Path

from wmviz.scenario import Scenario, ScenarioError

_FOLDER = Path(str(files(__name__)))


class Names(list[str]):
    """The names of the catalogue; shows each with its line on what to look at."""

    def __repr__(self) -> str:
        """Give one scenario a line."""
        width = max(map(len, self), default=0)
        return "\n".join(f"{name:{width}}  {about}" for name, _, about in self._lines())

    def _repr_html_(self) -> str:
        """Give a table: name, title, what to look at."""
        head = "".join(f"<th style='text-align: left'>{word}</th>" for word in ("name", "title", "what to look at"))
        rows = (
            "".join(f"<td style='text-align: left; vertical-align: top'>{escape(text)}</td>" for text in line)
            for line in self._lines()
        )
        return f"<table><tr>{head}</tr>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"

    def _lines(self) -> list[tuple[str, str, str]]:
        files_of = ((name, _FOLDER / f"{name}.json") for name in self)
        read = ((name, json.loads(path.read_text(encoding="utf-8"))) for name, path in files_of)
        return [(name, data["title"], data["about"]) for name, data in read]


def names() -> Names:
    """List the names of the catalogue."""
    return Names(sorted(path.stem for path in _FOLDER.glob("*.json") if path.stem != "scenario.schema"))


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
