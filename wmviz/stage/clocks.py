"""The clocks of a run: every watermark and status from step to step, and which input holds a combined one back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from wmviz.times import MAX_MS, MIN_MS
from wmviz.trace import Kind, Status, Trace

MOST_LINES = 8
"""Inputs whose watermarks are lines on the plane; lanes and pipeline show the others."""
MOST_NAMES = 3
"""Inputs that are named when several hold a watermark back."""
STATUSES = (*(status.name.lower().replace("_", " ") for status in Status), "ended")
"""The words for each `Status`; behind them, for a partition that has come to its end."""
ENDED = len(Status)


_READ = frozenset({Kind.WATERMARK, Kind.STATUS, Kind.ENDED, Kind.CRASHED, Kind.STOPPED})


class Held(NamedTuple):
    """Which inputs hold a combined watermark back from a step on; none if all of them are idle, or at their end."""

    step: int
    inputs: tuple[int, ...]


@dataclass
class Clock:
    """A clock of the trace.

    Attributes
    ----------
    name, role
        Its name; ``"source"``, ``"window"``, ``"partition"`` or ``"channel"``.
    into
        The clock that combines it with others, or None.
    values, statuses
        (step, watermark in ms) and (step, status) of each change; the last one of a step.
    rows
        The row of each watermark in `values`.
    held
        Which of its inputs hold it back, from step to step; empty if it combines none.
    """

    name: str
    role: str
    into: int | None = None
    values: list[tuple[int, int]] = field(default_factory=list)
    statuses: list[tuple[int, int]] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)

    @property
    def input_name(self) -> str:
        """The name of the input that it is the clock of: of a channel, the source subtask."""
        return self.name.split(" → ")[0]


class Clocks(list[Clock]):
    """Every clock of a trace, by its index there.

    Parameters
    ----------
    trace
        A full trace.
    """

    def __init__(self, trace: Trace) -> None:
        super().__init__(Clock(name, _role(name)) for name in trace.clocks)
        self.windows = [index for index, clock in enumerate(self) if clock.role == "window"]
        self._inputs = self._combined(trace)
        self._watermarks_ms = [MIN_MS] * len(self)
        self._statuses = [int(Status.ACTIVE)] * len(self)
        for into, inputs in self._inputs.items():
            for index in inputs:
                self[index].into = into
        self._read(trace)

    @property
    def lines(self) -> list[int]:
        """The clocks that are lines on the plane beside those of the window tasks.

        These are the partitions that a subtask combines, and the channels of the first window task.
        """
        return self._inputs_shown()[:MOST_LINES]

    @property
    def lines_left_out(self) -> int:
        """How many inputs have no line."""
        return max(0, len(self._inputs_shown()) - MOST_LINES)

    def _inputs_shown(self) -> list[int]:
        first = self.windows[0]
        return [index for index, clock in enumerate(self) if clock.role == "partition" or clock.into == first]

    def inputs_of(self, index: int) -> list[int]:
        """Give the clocks that one combines, if it combines several."""
        return self._inputs.get(index, [])

    def _combined(self, trace: Trace) -> dict[int, list[int]]:
        index_of = {clock.name: index for index, clock in enumerate(self)}
        inputs: dict[int, list[int]] = {}
        for index, clock in enumerate(self):
            if clock.role == "channel":
                inputs.setdefault(index_of[clock.name.split(" → ")[1]], []).append(index)
        for subtask in range(trace.scenario.subtasks):
            names = (f"partition {number}" for number in trace.scenario.partitions_of(subtask))
            if found := [index_of[name] for name in names if name in index_of]:
                inputs[subtask] = found
        return inputs

    def _read(self, trace: Trace) -> None:
        for into in self._inputs:
            self._hold(-1, into)
        touched: set[int] = set()
        before = -1
        columns = (trace.step, trace.kind, trace.subject, trace.value)
        for row, (step, kind, subject, value) in enumerate(zip(*columns, strict=True)):
            if kind not in _READ:
                continue
            if step != before:
                self._settle(before, touched)
                before = step
            if kind == Kind.WATERMARK:
                self._watermark(row, step, subject, value)
            elif kind == Kind.STATUS:
                self._status(step, subject, value)
            elif kind == Kind.ENDED and self[subject].role == "partition":
                self._status(step, subject, ENDED)
            elif kind in (Kind.CRASHED, Kind.STOPPED):  # it begins again
                for index, status in enumerate(self._statuses):
                    if status == ENDED:
                        self._status(step, index, Status.ACTIVE)
            if kind not in (Kind.CRASHED, Kind.STOPPED):
                touched |= {index for index in (subject, self[subject].into) if index in self._inputs}
        self._settle(before, touched)

    def _watermark(self, row: int, step: int, index: int, watermark_ms: int) -> None:
        clock = self[index]
        self._watermarks_ms[index] = watermark_ms
        _put(clock.values, step, watermark_ms)
        del clock.rows[len(clock.values) - 1 :]
        clock.rows.append(row)

    def _status(self, step: int, index: int, status: int) -> None:
        self._statuses[index] = status
        _put(self[index].statuses, step, status)

    def _settle(self, step: int, touched: set[int]) -> None:
        for into in touched:
            self._hold(step, into)
        touched.clear()

    def _hold(self, step: int, into: int) -> None:
        counting = [index for index in self._inputs[into] if self._statuses[index] == Status.ACTIVE]
        lowest_ms = min((self._watermarks_ms[index] for index in counting), default=MIN_MS)
        # At MAX there is nothing left to hold back.
        holds = max(lowest_ms, self._watermarks_ms[into]) < MAX_MS
        inputs = tuple(index for index in counting if holds and self._watermarks_ms[index] == lowest_ms)
        held = self[into].held
        if not held or held[-1].inputs != inputs:
            held.append(Held(step, inputs))

    def written(self, times: Times) -> list[dict[str, Any]]:
        """Give the clocks as plain JSON, with watermarks as places in a table of times."""
        lines = {index: line for line, index in enumerate(self.lines)}
        return [
            {
                "name": clock.name,
                "role": clock.role,
                "into": clock.into,
                "line": lines.get(index, -1),
                "values": list(_flat((step, times.place(ms)) for step, ms in clock.values)),
                "status": list(_flat(clock.statuses)),
                "rows": clock.rows if index in lines or clock.role == "window" else [],
                "held": [[held.step, held.inputs, self._held_words(held)] for held in clock.held],
            }
            for index, clock in enumerate(self)
        ]

    def _held_words(self, held: Held) -> str:
        names = [self[index].input_name for index in held.inputs]
        if len(names) > MOST_NAMES:
            return f"{', '.join(names[:MOST_NAMES])} and {len(names) - MOST_NAMES} more"
        return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


class Times:
    """A table of points in time, each once, since many clocks show the same ones."""

    def __init__(self) -> None:
        self._places: dict[int, int] = {}

    def place(self, at_ms: int) -> int:
        """Give the place of a time in the table."""
        return self._places.setdefault(at_ms, len(self._places))

    def __iter__(self) -> Iterator[int]:
        """Go through the times in ms, in the order of the table."""
        return iter(self._places)


def _role(name: str) -> str:
    if " → " in name:
        return "channel"
    return next(role for role in ("source", "window", "partition") if name.startswith(role))


def _put(changes: list[tuple[int, int]], step: int, value: int) -> None:
    if changes and changes[-1][0] == step:
        changes.pop()
    if not changes or changes[-1][1] != value:
        changes.append((step, value))


def _flat(pairs: Iterable[tuple[int, int]]) -> Iterator[int]:
    for pair in pairs:
        yield from pair
