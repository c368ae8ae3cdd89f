"""Progress: one small JSON file on this machine, and one call that deletes it."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

FILE = "progress.json"


def is_still() -> bool:
    """Whether notebooks are being made or tested: then nothing is kept, and outputs are the same each time."""
    return os.environ.get("WMVIZ_STAGE") == "still"


def folder() -> Path:
    """Where progress is kept: ``WMVIZ_DATA`` if it is set, else the place for user data of this system."""
    if own := os.environ.get("WMVIZ_DATA"):
        return Path(own)
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "wmviz"
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "wmviz"
    return Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share") / "wmviz"


def load() -> dict[str, dict[str, Any]]:
    """Read what is known about each question; a missing or damaged file means that nothing is known."""
    if is_still():
        return {}
    try:
        kept = json.loads((folder() / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    answers = kept.get("answers") if isinstance(kept, dict) else None
    return {k: v for k, v in answers.items() if isinstance(v, dict)} if isinstance(answers, dict) else {}


def note(item: str, **what: Any) -> None:
    """Remember something about a question. A disk that refuses it must not spoil a lesson, so that is no error."""
    if is_still():
        return
    answers = load()
    answers[item] = {**answers.get(item, {}), **what}
    with contextlib.suppress(OSError):
        _write(json.dumps({"version": 1, "answers": answers}, indent=1, sort_keys=True))


def note_try(item: str, right: bool) -> None:
    """Remember one more try. What was right once stays right."""
    before = load().get(item, {})
    note(item, tries=_count(before, "tries") + 1, right=right or before.get("right") is True)


def note_hint(item: str, steps: int) -> None:
    """Remember how many steps of the hint were shown."""
    note(item, hints=max(steps, _count(load().get(item, {}), "hints")))


def forget() -> str:
    """Delete all progress from this machine.

    Returns
    -------
    str
        What was done.
    """
    path = folder() / FILE
    if not path.exists():
        return "There was no progress to delete."
    path.unlink()
    return "All progress on this machine is deleted."


@dataclass(frozen=True)
class Progress:
    """What was answered so far; shows as a small table."""

    answers: dict[str, dict[str, Any]]

    @property
    def done(self) -> list[str]:
        """The questions and tasks answered right."""
        return [item for item, what in self.answers.items() if what.get("right") is True]

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Question, state, tries and hints, as text."""
        return [
            (item, _state(what), str(_count(what, "tries")), str(_count(what, "hints")))
            for item, what in sorted(self.answers.items())
        ]

    def __repr__(self) -> str:
        """Return the table as text."""
        if not self.answers:
            return "No answers yet."
        return "\n".join("  ".join(cell.ljust(18) for cell in row).rstrip() for row in (_TITLES, *self.rows()))

    def _repr_html_(self) -> str:
        if not self.answers:
            return "<p>No answers yet.</p>"
        body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in self.rows())
        return f"<table><tr>{''.join(f'<th>{title}</th>' for title in _TITLES)}</tr>{body}</table>"


_TITLES = ("question", "state", "tries", "hints used")


def progress() -> Progress:
    """Show what was answered so far on this machine.

    Returns
    -------
    Progress
        A table in a notebook; ``.done`` lists what was answered right.
    """
    return Progress(load())


def _state(what: dict[str, Any]) -> str:
    """Say how a question stands. A prediction is noted, never judged, so it is not open."""
    if what.get("right") is True:
        return "right"
    return "predicted" if "prediction" in what and not _count(what, "tries") else "open"


def _count(what: dict[str, Any], name: str) -> int:
    value = what.get(name)
    return value if isinstance(value, int) else 0


def _write(text: str) -> None:
    """Replace the file in one go, so that two notebooks cannot leave half of it."""
    folder().mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=folder(), suffix=".tmp")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    Path(name).replace(folder() / FILE)
