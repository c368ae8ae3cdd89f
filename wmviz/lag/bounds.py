"""What any bound comes to, without running it: who is on time, how long results take, how much state is kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import NamedTuple

import numpy as np

from wmviz.lag.measured import NONE_MS, Measured, before
from wmviz.lag.reading import Longs

ROUND_MS = (
    *(size * scale for scale in (1, 10, 100) for size in (1, 2, 5)),
    *(size * unit for unit in (1_000, 60_000) for size in (1, 2, 3, 5, 10, 15, 20, 30, 45)),
    *(size * 3_600_000 for size in (1, 2, 3, 6, 12, 24, 48)),
)
"""Round durations, from short to long."""
MOST_OF_THE_WINDOWS = 0.95


class Point(NamedTuple):
    """What a bound and a lateness come to.

    Attributes
    ----------
    bound_ms, lateness_ms
        The settings.
    events, on_time, late, lost
        How many events; in the first result of their window; counted late, within the lateness; behind it, so in the
        side output or dropped. The first is the sum of the others.
    wait_ms
        In 95 % of the windows the first result comes at most so long after the window's end. None if the data end
        before. Windows that do not even fire with a bound of 0 are left out.
    mean_wait_ms, added_ms
        The mean of that; and how much of it the bound adds, compared with a bound of 0.
    state
        The most windows (of a key, if there are keys) that have state at once.
    """

    bound_ms: int
    lateness_ms: int
    events: int
    on_time: int
    late: int
    lost: int
    wait_ms: int | None
    mean_wait_ms: float | None
    added_ms: float | None
    state: int


@dataclass(frozen=True, eq=False)
class Bounds:
    """Events in tumbling windows, and what becomes of them with any bound.

    An event is on time as long as its window has not fired, so there is a bound from which on it is: `needed_ms`. Once
    these are sorted, each bound is a look-up. The rules are those of WindowOperator and EventTimeTrigger (2.3.0).
    """

    measured: Measured
    window_ms: int
    offset_ms: int = 0

    @cached_property
    def end_ms(self) -> Longs:
        """The end of each event's window (TimeWindow.getWindowStartWithOffset, 2.3.0)."""
        event_ms = self.measured.event_ms
        return event_ms - (event_ms - self.offset_ms) % self.window_ms + self.window_ms

    @cached_property
    def needed_ms(self) -> Longs:
        """The smallest bound with which each event is on time, in order of arrival; 0 if it always is.

        It meets the watermark newest − bound − 1, and its window has fired at end − 1.
        """
        met_ms = before(self.measured.clock_ms)
        return np.where(met_ms == NONE_MS, 0, np.maximum(met_ms - self.end_ms + 1, 0))

    @cached_property
    def sorted_ms(self) -> Longs:
        """`needed_ms` from small to large."""
        return np.sort(self.needed_ms)

    def on_time(self, bound_ms: int) -> int:
        """How many events are on time with this bound."""
        return int(np.searchsorted(self.sorted_ms, bound_ms, side="right"))

    def least(self, share: float) -> int:
        """Give the smallest bound, in ms, with which at least this share of the events is on time."""
        return int(self.sorted_ms[max(ceil(share * len(self.sorted_ms) - 1e-9), 1) - 1])

    def at(self, bound_ms: int, lateness_ms: int) -> Point:
        """Say what a bound and a lateness come to."""
        events, on_time, kept = len(self.measured), self.on_time(bound_ms), self.on_time(bound_ms + lateness_ms)
        waits_ms, plain_ms = self.waits_ms(bound_ms, lateness_ms), self.waits_ms(0, lateness_ms)
        fires = waits_ms >= NONE_MS
        both = fires & (plain_ms >= NONE_MS)
        return Point(
            bound_ms,
            lateness_ms,
            events,
            on_time,
            kept - on_time,
            events - kept,
            _most(waits_ms[plain_ms >= NONE_MS]),
            float(waits_ms[fires].mean()) if fires.any() else None,
            float((waits_ms[both] - plain_ms[both]).mean()) if both.any() else None,
            self.state(bound_ms, lateness_ms),
        )

    def waits_ms(self, bound_ms: int, lateness_ms: int) -> Longs:
        """Give from each window's end to its first result, below `NONE_MS` where none comes.

        It fires with the event that brings the watermark to end − 1, or with its first event if that comes later.
        """
        clock_ms, arrival_ms = self.measured.clock_ms, self.measured.arrival_ms
        fires = np.searchsorted(clock_ms, self._ends_ms + bound_ms)
        gone = np.searchsorted(clock_ms, self._ends_ms + bound_ms + lateness_ms)
        at = np.maximum(fires, self._firsts)
        comes = (fires < len(arrival_ms)) & (self._firsts <= gone)
        waits: Longs = np.where(comes, arrival_ms[np.minimum(at, len(arrival_ms) - 1)] - self._ends_ms, 2 * NONE_MS)
        return waits

    def longest(self, wait_ms: int, lateness_ms: int) -> int | None:
        """Give the largest bound with which most windows have a result within `wait_ms`; None if there is none."""
        fire = self.waits_ms(0, lateness_ms) >= NONE_MS

        def holds(bound_ms: int) -> bool:
            most_ms = _most(self.waits_ms(bound_ms, lateness_ms)[fire])
            return most_ms is not None and most_ms <= wait_ms

        low, high = 0, int(self.sorted_ms[-1])
        if not holds(low):
            return None
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if holds(middle) else (low, middle - 1)
        return low

    def state(self, bound_ms: int, lateness_ms: int) -> int:
        """Give the most windows that have state at once: from the first event to watermark end − 1 + lateness."""
        firsts, ends_ms = self._panes
        gone = np.searchsorted(self.measured.clock_ms, ends_ms + bound_ms + lateness_ms)
        made = firsts <= gone
        size = len(self.measured) + 2
        # An event is added before the watermark behind it clears what is over.
        changes = np.bincount(firsts[made], minlength=size) - np.bincount(gone[made] + 1, minlength=size)
        return int(np.cumsum(changes[:-2]).max(initial=0))

    @cached_property
    def windows(self) -> int:
        """How many windows have events, whatever the key."""
        return len(self._ends_ms)

    @cached_property
    def _ends_ms(self) -> Longs:
        return np.unique(self.end_ms)

    @cached_property
    def _firsts(self) -> Longs:
        """The place of the first event to arrive for each window."""
        return np.unique(self.end_ms, return_index=True)[1].astype(np.int64)

    @cached_property
    def _panes(self) -> tuple[Longs, Longs]:
        """The place of the first event of each window of a key, and the window's end."""
        number = np.searchsorted(self._ends_ms, self.end_ms) * (len(self.measured.keys) or 1) + self.measured.key
        firsts = np.unique(number, return_index=True)[1].astype(np.int64)
        return firsts, self.end_ms[firsts]


def round_up(ms: int) -> int:
    """Give the smallest round duration that is not below."""
    return next((size for size in (0, *ROUND_MS) if size >= ms), ms)


def round_down(ms: int) -> int:
    """Give the largest round duration that is not above."""
    return max(size for size in (0, *ROUND_MS) if size <= ms)


def _most(waits_ms: Longs) -> int | None:
    """Give the smallest wait that most of the windows do not exceed; None if too many never fire."""
    came_ms, place = np.sort(waits_ms[waits_ms >= NONE_MS]), ceil(MOST_OF_THE_WINDOWS * len(waits_ms)) - 1
    return int(came_ms[place]) if 0 <= place < len(came_ms) else None
