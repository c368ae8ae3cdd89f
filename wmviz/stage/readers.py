"""What results are made of, and how often a reader of the sink sees each event."""

from __future__ import annotations

from typing import Any

from wmviz.trace import Content


class Members:
    """Which events each result is made of: those of the last firing, or until there is one, those in the window.

    Attributes
    ----------
    made
        For each window of a key, the changes of its list: [step, how many stay, the events after them].
    """

    def __init__(self, windows: int) -> None:
        self.made: list[list[list[Any]]] = [[] for _ in range(windows)]
        self._now: list[list[int]] = [[] for _ in range(windows)]
        self._fired: dict[int, Content] = {}

    def added(self, step: int, index: int, event: int) -> None:
        """A window takes in an event; a result that has fired changes only when it fires again."""
        if index not in self._fired:
            self._change(step, index, len(self._now[index]), [event])

    def merged(self, step: int, index: int, old: int) -> None:
        """A session takes in another one."""
        if index not in self._fired:
            self._change(step, index, len(self._now[index]), self._now[old])

    def fired(self, step: int, index: int, content: Content) -> None:
        """A firing: contents are longer and longer slices of one list, until it is purged."""
        before = self._fired.get(index)
        keep = before.size if before is not None and before.events is content.events else 0
        self._fired[index] = content
        self._change(step, index, keep, content.events[keep : content.size])

    def _change(self, step: int, index: int, keep: int, events: list[int]) -> None:
        now = self._now[index]
        if now[keep:] != events:
            now[keep:] = events
            self.made[index].append([step, keep, *events])


class Sights:
    """How often a reader of the sink sees each event: in the last result of a row, or in every one for append.

    `once` and `more` are the numbers of events seen once, and more often.
    """

    def __init__(self, sink: str) -> None:
        self._sink = sink
        self._times: dict[int, int] = {}
        self._rows: dict[int, Content] = {}
        self.once = self.more = 0

    def fired(self, row: int, content: Content) -> list[int]:
        """Take a firing into account; an upsert replaces what its row held before. Give the events new in the row."""
        before = self._rows.get(row)
        self._rows[row] = content
        # A window's contents are longer and longer slices of one list, until it is purged.
        grown = before is not None and before.events is content.events
        new = content.events[before.size if grown and before else 0 : content.size]
        if self._sink == "append":
            self._count(content.events[: content.size], 1)
        elif self._sink == "upsert":
            if before is not None and not grown:
                self._count(before.events[: before.size], -1)
            self._count(new, 1)
        return new

    def committed(self, content: Content) -> None:
        """Take a result into account that a transactional sink has committed."""
        self._count(content.events[: content.size], 1)

    def _count(self, events: list[int], by: int) -> None:
        for event in events:
            self._move(event, by)

    def _move(self, event: int, by: int) -> None:
        before = self._times.get(event, 0)
        self._times[event] = after = before + by
        self.once += (after == 1) - (before == 1)
        self.more += (after > 1) - (before > 1)
