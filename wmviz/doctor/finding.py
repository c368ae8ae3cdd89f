"""What one check of the doctor found."""

from __future__ import annotations

from typing import NamedTuple

OK, WARNING, MISSING = "ok", "warning", "missing"
SET_UP = "run `make setup`"


class Finding(NamedTuple):
    """One line of the doctor.

    Attributes
    ----------
    name
        What was looked at.
    state
        ``"ok"``, ``"warning"`` (the course runs, but not all of it) or ``"missing"`` (something needed is not there).
    sentence
        What was found.
    advice
        What to do; empty if there is nothing to do.
    """

    name: str
    state: str
    sentence: str
    advice: str = ""


def listed(names: list[str]) -> str:
    """Join names as a sentence does."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
