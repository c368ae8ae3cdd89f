"""Lesson 0, start here: ten questions, one from each of ten lessons, that say where to begin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from wmviz.course import cards, memory
from wmviz.course.questions import Question, Task, Verdict, find
from wmviz.course.session import check

GIVEN: Mapping[str, Any] = {}

PLACEMENT: Mapping[str, tuple[str, str]] = {
    "1": ("1.stamp", "Two clocks"),
    "2": ("2.seconds", "Watermarks"),
    "3": ("3.first-firing", "When a window fires"),
    "4": ("4.eight-seconds", "Late events"),
    "6": ("6.goes-on", "Many inputs and the minimum"),
    "7": ("7.bet", "Idle inputs and the bet"),
    "9": ("9.touch", "Sliding, session, global windows; time zones"),
    "10": ("10.not-in-it", "Checkpoints and barriers"),
    "11": ("11.downtime", "Crash, restore, replay"),
    "12": ("12.lost", "Exactly once to the sink"),
}
"""Number of the lesson → the question that stands for it, and the lesson's title."""

AFTER_ALL = "16"
"""The lesson for those who know all ten."""


def placement() -> cards.Card:
    """Ask the ten questions; in a running notebook, say after each answer where to begin."""
    asked = {number: cards.asking(_question(number), partial(_answered, number)) for number in PLACEMENT}
    text = "\n\n".join(map(str, asked.values()))
    return cards.Card(text, "".join(card.html for card in asked.values()), _widget)


def begin() -> cards.Card:
    """Say in which lesson to begin: that of the first question which was not answered right at the first try.

    Returns
    -------
    Card
        Also which other lessons to look into, and which can be left out.
    """
    first = {number: memory.load().get(_item(number), {}).get("first") for number in PLACEMENT}
    known = [number for number, right in first.items() if right is True]
    open_ones = [number for number in PLACEMENT if number not in known]
    missing = sum(right is None for right in first.values())
    if missing == len(PLACEMENT):
        return cards.saying("Answer the ten questions above; then this cell says where to begin.")
    if not open_ones:
        return cards.saying(
            f"You know all ten. Begin with lesson {AFTER_ALL}, and look into 5, 8, 13, 14, 15 and 17: nothing was "
            "asked from those."
        )
    start, *others = open_ones
    lines = [f"Begin with lesson {start}, {PLACEMENT[start][1]}."]
    if others:
        lines.append(f"Do not leave out {_listed(others)}.")
    if skipped := [number for number in known if int(number) < int(start)]:
        lines.append(f"You can pass over {_listed(skipped)}.")
    if missing:
        lines.append(f"Not answered, so not known: {missing} of the ten.")
    return cards.saying(*lines)


def _question(number: str) -> Question:
    """Give the question of a lesson, numbered from 1 to 10."""
    asked = find(PLACEMENT[number][0])
    assert isinstance(asked, Question)
    return replace(asked, text=f"{list(PLACEMENT).index(number) + 1}. {asked.text}")


def _item(number: str) -> str:
    return f"0.lesson-{number}"


def _answered(number: str, letter: str) -> Verdict:
    """Judge an answer, and keep the first: what counts is what was known before the right one was seen."""
    known = memory.load().get(_item(number), {})
    verdict = check(_item(number), letter)
    if "first" not in known:
        memory.note(_item(number), first=verdict.right)
    return verdict


def _listed(numbers: list[str]) -> str:
    """Write "lesson 3", "lessons 3 and 4" or "lessons 3, 4 and 6"."""
    *before, last = numbers
    return f"lessons {', '.join(before)} and {last}" if before else f"lesson {last}"


def _widget() -> Any:
    """Show the questions one below the other, and under them what they come to so far."""
    import ipywidgets as w  # type: ignore[import-untyped]

    result = w.HTML(begin().html)

    def answered(number: str, letter: str) -> Verdict:
        verdict = _answered(number, letter)
        result.value = begin().html
        return verdict

    shown = [cards.asking(_question(number), partial(answered, number)).widget for number in PLACEMENT]
    gaps = w.Layout(grid_gap="16px")
    return w.VBox([*(make() for make in shown if make is not None), result], layout=gaps)


ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    f"lesson-{number}": partial(find, item) for number, (item, _) in PLACEMENT.items()
}
