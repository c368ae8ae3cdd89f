"""The sentences behind a picture: those of every row, and which of them tell each moment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Any

from wmviz.stage.marks import FATE_OF
from wmviz.times import MIN_MS
from wmviz.trace import Kind, Trace

MOST_OF_A_KIND = 2
"""Sentences of one kind in a moment; the panel says how many it leaves out."""
WEIGHT: dict[int, int] = {
    kind: weight
    for weight, kind in enumerate(
        (
            *(Kind.TAKEN, Kind.QUEUED, Kind.WATERMARK, Kind.STATUS, Kind.ALLOWED, Kind.SNAPSHOT, Kind.BARRIER),
            *(Kind.ADDED, Kind.ENDED, Kind.BLOCKED, Kind.BACKPRESSURED, Kind.PAUSED, Kind.TRANSACTION),
            *(Kind.CLEANED, Kind.FIRED, Kind.MISSED, *FATE_OF, Kind.CHECKPOINT),
            *(Kind.STOPPED, Kind.RESTORED, Kind.CRASHED),
        ),
        start=1,
    )
}
"""What matters most in a moment has the highest weight."""
_UNTOLD = frozenset({Kind.EMPTIED})


class Telling:
    """The sentences of a trace, made bit by bit: they take as long as all the rest of a picture.

    Parameters
    ----------
    trace, picture
        What they are about.
    """

    def __init__(self, trace: Trace, picture: dict[str, Any]) -> None:
        self._trace = trace
        self._picture = picture
        self._texts: list[str] = []
        self._rest: Iterator[str] = (trace.sentence(row) for row in range(len(trace)))

    def go_on(self, sentences: int) -> bool:
        """Make some more; tell whether that was all."""
        self._texts.extend(islice(self._rest, sentences))
        return len(self._texts) == len(self._trace)

    def all(self) -> dict[str, Any]:
        """Make what is missing, and give all of it.

        Returns
        -------
        dict
            ``id`` of the picture; ``texts``, the sentence of every row; ``moments``, the rows that tell each moment.
        """
        self._texts.extend(self._rest)
        moments = told_moments(self._trace, self._picture)
        return {"moments": moments, "texts": self._texts, "id": self._picture["id"]}


def told(trace: Trace, picture: dict[str, Any]) -> dict[str, Any]:
    """Give all sentences at once, as `Telling.all` does."""
    return Telling(trace, picture).all()


def told_moments(trace: Trace, picture: dict[str, Any]) -> list[list[int]]:
    """Give for each moment the row that matters most, how many rows are left out, and those that tell it, in order.

    Rows count from the first one of the moment, which keeps a saved page small; -1 is no row.
    """
    first_rows = picture["first_rows"]
    ends = [0, *(first_rows[last_step + 1] for last_step in picture["moments"])]
    names = [clock.split("[")[0] if " → " not in clock else "" for clock in trace.clocks]
    several = len(trace.clocks) > len(trace.places)
    told = []
    for first, end in pairwise(ends):
        rows = [row for row in range(first, end) if _tells(trace, row, names, several)]
        shown = rows if len(rows) <= MOST_OF_A_KIND else _few_of_a_kind(trace, rows)
        head = max(shown, key=lambda row: (WEIGHT.get(trace.kind[row], 0), -row), default=-1)
        told.append([max(head - first, -1), len(rows) - len(shown), *(row - first for row in shown)])
    return told


def _few_of_a_kind(trace: Trace, rows: list[int]) -> list[int]:
    of_kind: Counter[int] = Counter()
    shown = []
    for row in rows:
        of_kind[trace.kind[row]] += 1
        if of_kind[trace.kind[row]] <= MOST_OF_A_KIND:
            shown.append(row)
    return shown


def _tells(trace: Trace, row: int, names: list[str], several: bool) -> bool:
    """A watermark reaches channel and task with 0 ms between them: one sentence is enough."""
    if trace.kind[row] != Kind.WATERMARK:
        return trace.kind[row] not in _UNTOLD
    name = names[trace.subject[row]]
    if not name or trace.value[row] == MIN_MS:
        return False
    return several or name != "window" or trace.cause[row] < 0
