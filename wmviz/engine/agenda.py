"""What is to be done, in order of time."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from enum import IntEnum


class Turn(IntEnum):
    """Who comes first at the same millisecond."""

    AT_ONCE = 0
    """What follows from the action before: a barrier leaves, a task is done with an event."""
    CLOCK_TIMER = 1
    """Processing-time timers of windows."""
    READ = 2
    """The source reads an event."""
    TICK = 3
    """Watermarks are asked for."""
    ALIGNMENT = 4
    """Watermarks are reported, and the limit is announced."""
    COORDINATOR = 5
    """Checkpoints start or are given up."""
    GATE = 6
    """The alignment of a barrier times out."""
    BROKER = 7
    """Transactions time out."""
    HAPPENING = 8
    """A crash, a savepoint, a stop, a restart."""
    END = 9
    """The input ends."""


class Agenda:
    """Actions by time, then by turn, then in the order in which they were planned."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, int, int, bool, bool, Callable[[], None]]] = []
        self._serial = 0
        self.foreground = 0
        """How many actions are planned that a job has something to do for, and not by the clock alone."""

    def plan(
        self,
        at_ms: int,
        turn: Turn,
        action: Callable[[], None],
        *,
        tie: int = 0,
        background: bool = False,
        outside: bool = False,
    ) -> None:
        """Put an action on the agenda.

        Parameters
        ----------
        at_ms, turn, tie
            When; at equal times by turn, and then by `tie`.
        action
            What is called.
        background
            Whether it comes again and again by the clock: a run ends when nothing else is left.
        outside
            Whether it is none of the tasks': it is still there when they are gone.
        """
        self._serial += 1
        self.foreground += not background
        heapq.heappush(self._heap, (at_ms, turn, tie, self._serial, background, outside, action))

    def drop_tasks(self) -> None:
        """Take off what the tasks had planned."""
        self._heap = [entry for entry in self._heap if entry[5]]
        heapq.heapify(self._heap)
        self.foreground = sum(not entry[4] for entry in self._heap)

    @property
    def next_ms(self) -> int | None:
        """The time of the next action, or None."""
        return self._heap[0][0] if self._heap else None

    def pop(self) -> tuple[int, bool, Callable[[], None]]:
        """Take the next action off: its time, whether it is a background one, and itself."""
        at_ms, _, _, _, background, _, action = heapq.heappop(self._heap)
        self.foreground -= not background
        return at_ms, background, action
