"""How far each watermark was behind the clock, reading by reading, and a small line that shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from wmviz.diagnosis.facts import Facts, Moment, is_time, subtasks
from wmviz.diagnosis.words import duration

MOST_POINTS = 120
WIDTH, HEIGHT, EDGE = 120, 24, 3
INPUT = re.compile(r"(\d+)\..+\.currentInputWatermark")

Place = tuple[str, int]
"""A task's id and a subtask."""
Points = list[tuple[int, int | None]]
"""At what time of the cluster's clock a watermark was how many ms behind it; None: it had none."""


class History:
    """What was seen of each watermark, the newest `MOST_POINTS` readings of it."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._points: dict[Place, Points] = {}

    def add(self, moment: Moment) -> None:
        """Take in a reading."""
        for task in moment.tasks.values():
            for subtask in subtasks(task):
                self._add((task.id, subtask), moment.at_ms, task.mark_ms(subtask))

    def _add(self, place: Place, at_ms: int, mark_ms: int | None) -> None:
        points = self._points.setdefault(place, [])
        if points and points[-1][0] >= at_ms:
            return
        points.append((at_ms, at_ms - mark_ms if is_time(mark_ms) and mark_ms is not None else None))
        del points[:-MOST_POINTS]

    @classmethod
    def of(cls, facts: Facts) -> History:
        """Take it from two readings and what was seen between them, evenly apart."""
        made = cls()
        made.add(facts.before)
        samples = facts.answers.samples
        for number, sample in enumerate(samples, 1):
            at_ms = facts.before.at_ms + facts.elapsed_ms * number // (len(samples) + 1)
            for place, mark_ms in _marks(sample):
                made._add(place, at_ms, mark_ms)
        made.add(facts.now)
        return made

    def points(self, task: str, subtask: int) -> Points:
        """Give what is known of a place, the oldest first."""
        return self._points.get((task, subtask), [])

    def line(self, task: str, subtask: int, holds: bool = False) -> str:
        """Draw a place as SVG, on the scale of all; empty if there is nothing to draw."""
        every = [point for points in self._points.values() for point in points]
        known = [behind_ms for _, behind_ms in every if behind_ms is not None]
        points = self.points(task, subtask)
        if len(points) < 2 or not any(behind_ms is not None for _, behind_ms in points):
            return ""
        first_ms, last_ms = min(at for at, _ in every), max(at for at, _ in every)
        lowest, highest = min(0, *known), max(1, *known)

        def x(at_ms: int) -> float:
            return EDGE + (WIDTH - 2 * EDGE) * (at_ms - first_ms) / max(last_ms - first_ms, 1)

        def y(behind_ms: int) -> float:
            return HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * (behind_ms - lowest) / (highest - lowest)

        parts = "".join(
            f'<polyline points="{" ".join(f"{x(at):.1f},{y(behind):.1f}" for at, behind in part)}"/>'
            for part in _parts(points)
        )
        at_ms, behind_ms = next((at, behind) for at, behind in reversed(points) if behind is not None)
        dot = f'<circle cx="{x(at_ms):.1f}" cy="{y(behind_ms):.1f}" r="2.2"/>'
        kind = "wmviz-line wmviz-holds" if holds else "wmviz-line"
        return (
            f'<svg class="{kind}" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" '
            f'aria-label="{escape(told(points))}">{parts}{dot}</svg>'
        )


def _marks(sample: dict[str, dict[str, str]]) -> Iterator[tuple[Place, int]]:
    """Give the lowest watermark that any operator of a subtask had received; behind a source it is the source's."""
    for task, metrics in sample.items():
        found: dict[int, int] = {}
        for name, text in metrics.items():
            if (input_of := INPUT.fullmatch(name)) and text.lstrip("-").isdecimal():
                subtask = int(input_of[1])
                found[subtask] = min(found.get(subtask, int(text)), int(text))
        for subtask, mark_ms in found.items():
            yield (task, subtask), mark_ms


def _parts(points: Points) -> Iterator[list[tuple[int, int]]]:
    """Cut a line where there was no watermark."""
    part: list[tuple[int, int]] = []
    for at_ms, behind_ms in [*points, (0, None)]:
        if behind_ms is not None:
            part.append((at_ms, behind_ms))
        elif part:
            yield part
            part = []


def told(points: Points) -> str:
    """Say in words what the line shows."""
    known = [(at_ms, behind_ms) for at_ms, behind_ms in points if behind_ms is not None]
    if not known:
        return "no watermark yet"
    (since_ms, first_ms), (until_ms, last_ms) = known[0], known[-1]
    return (
        f"behind the clock by {duration(first_ms)} at first, {duration(last_ms)} after {duration(until_ms - since_ms)}"
    )
