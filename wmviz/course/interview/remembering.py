"""What is kept of the mock interviews on this machine: scores, and which cards come back when."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wmviz.course import memory
from wmviz.course.interview.deck import ALL

ITEM = "interview"
"""Name under which the progress keeps it; `course.forget` deletes it with the rest."""
GOOD = 2
"""From this score on an answer is good enough."""
FIRST_PAUSE = 2
"""After so many other cards one that was missed comes back, and after twice as many again."""
TIMES = 2
"""So often it has to go well."""


def remember(name: str, score: int) -> None:
    """Count an answer. A card that was missed comes back after two cards, then after four, until it went well twice."""
    kept = _kept()
    done = _number(kept, "done") + 1
    waiting = missed()
    if score < GOOD:
        waiting[name] = {"due": done + FIRST_PAUSE, "left": TIMES}
    elif name in waiting:
        left = waiting[name]["left"] - 1
        if left > 0:
            waiting[name] = {"due": done + 2 * FIRST_PAUSE, "left": left}
        else:
            del waiting[name]
    known = scores() | {name: score}
    well = sum(known.get(card.name, 0) >= GOOD for card in ALL)
    memory.note(ITEM, tries=done, done=done, scores=known, missed=waiting, right=well == len(ALL))


def count_interview() -> int:
    """Count one more mock interview, and give how many there were before."""
    before = _number(_kept(), "interviews")
    memory.note(ITEM, interviews=before + 1)
    return before


def scores() -> dict[str, int]:
    """Give the last score of each card that was rated."""
    found = _kept().get("scores")
    return {k: v for k, v in found.items() if isinstance(v, int)} if isinstance(found, dict) else {}


def missed() -> dict[str, dict[str, int]]:
    """Give the cards that come back; what a damaged file has is left out."""
    found = _kept().get("missed")
    items = found.items() if isinstance(found, dict) else ()
    return {name: dict(state) for name, state in items if _is_whole(state)}


def first_due(names: Iterable[str]) -> str | None:
    """Give the card that has been due for longest, among some."""
    done, allowed = _number(_kept(), "done"), set(names)
    due = {n: state["due"] for n, state in missed().items() if n in allowed and state["due"] <= done}
    return min(due, key=lambda name: due[name], default=None)


def _kept() -> dict[str, Any]:
    return memory.load().get(ITEM, {})


def _number(kept: dict[str, Any], name: str) -> int:
    value = kept.get(name)
    return value if isinstance(value, int) else 0


def _is_whole(state: object) -> bool:
    return isinstance(state, dict) and all(isinstance(state.get(key), int) for key in ("due", "left"))
