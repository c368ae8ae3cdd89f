"""Window assigners: which windows an event belongs to."""

from __future__ import annotations

from typing import Protocol

from wmviz.engine.local_time import LocalWindows
from wmviz.engine.longs import remainder, wrap
from wmviz.times import MAX_MS, MIN_MS
from wmviz.window import GLOBAL_WINDOW, MOST_WINDOWS_PER_EVENT, AnyWindow, TimeWindow, Window

_FAR_MS = 2**61


class NoTimestampError(RuntimeError):
    """A record without a timestamp (MIN) reached an event-time assigner; the job fails, as on Flink."""

    def __init__(self) -> None:
        super().__init__("the record has no timestamp (Long.MIN_VALUE): was a timestamp assigner attached, and last?")


class WindowAssigner(Protocol):
    """Flink's WindowAssigner."""

    def assign(self, timestamp_ms: int) -> list[AnyWindow]:
        """Give the windows of a timestamp."""


def window_start_ms(timestamp_ms: int, offset_ms: int, size_ms: int) -> int:
    """Give the start of the window that a timestamp is in: the grid of `size_ms`, shifted by the offset, rounded down.

    Notes
    -----
    Flink 2.3.0: TimeWindow.getWindowStartWithOffset, with Java's overflow at the ends of the range.
    """
    if -_FAR_MS < timestamp_ms < _FAR_MS and size_ms < _FAR_MS:  # the same, where nothing overflows
        return timestamp_ms - (timestamp_ms - offset_ms) % size_ms
    rest_ms = remainder(wrap(timestamp_ms - offset_ms), size_ms)
    return wrap(timestamp_ms - (rest_ms + size_ms if rest_ms < 0 else rest_ms))


class TumblingWindows:
    """Windows of one size that follow each other without a gap: every timestamp is in exactly one.

    Parameters
    ----------
    size_ms, offset_ms
        Length, and shift of the grid against the epoch, which is smaller than the size either way.

    Raises
    ------
    ValueError
        If the size or the offset is out of its range.

    Notes
    -----
    Flink 2.3.0: TumblingEventTimeWindows, TumblingProcessingTimeWindows.
    """

    def __init__(self, size_ms: int, offset_ms: int = 0) -> None:
        if size_ms <= 0 or abs(offset_ms) >= size_ms:
            raise ValueError(f"size {size_ms} ms, offset {offset_ms} ms: needs |offset| < size and size > 0")
        self._size_ms, self._offset_ms = size_ms, offset_ms
        self._start_ms = self._end_ms = 0
        self._latest: list[AnyWindow] = []

    def assign(self, timestamp_ms: int) -> list[AnyWindow]:
        """Give the one window of the timestamp."""
        # Most events are in the same window as the one before.
        if self._start_ms <= timestamp_ms < self._end_ms:
            return self._latest
        if timestamp_ms == MIN_MS:
            raise NoTimestampError
        start_ms = window_start_ms(timestamp_ms, self._offset_ms, self._size_ms)
        windows: list[AnyWindow] = [TimeWindow(start_ms, wrap(start_ms + self._size_ms))]
        if abs(start_ms) < MAX_MS - 2 * self._size_ms:  # nearer to the ends windows overlap, as Java's longs overflow
            self._start_ms, self._end_ms, self._latest = start_ms, start_ms + self._size_ms, windows
        return windows


class SlidingWindows:
    """Windows of one size that start every `slide_ms`; a slide above the size leaves gaps.

    Parameters
    ----------
    size_ms, slide_ms, offset_ms
        Length, distance of two starts, and shift of the grid, which is smaller than the slide either way.

    Raises
    ------
    ValueError
        If one of them is out of its range.

    Notes
    -----
    Flink 2.3.0: SlidingEventTimeWindows, SlidingProcessingTimeWindows.
    """

    def __init__(self, size_ms: int, slide_ms: int, offset_ms: int = 0) -> None:
        if size_ms <= 0 or abs(offset_ms) >= slide_ms:
            raise ValueError(
                f"size {size_ms} ms, slide {slide_ms} ms, offset {offset_ms} ms: needs |offset| < slide and size > 0"
            )
        if size_ms // slide_ms > MOST_WINDOWS_PER_EVENT:
            raise ValueError(f"an event would be in more than {MOST_WINDOWS_PER_EVENT} windows")
        self._size_ms, self._slide_ms, self._offset_ms = size_ms, slide_ms, offset_ms

    def assign(self, timestamp_ms: int) -> list[AnyWindow]:
        """Give the windows of the timestamp, newest start first; in a gap there are none."""
        if timestamp_ms == MIN_MS:
            raise NoTimestampError
        size_ms, slide_ms = self._size_ms, self._slide_ms
        start_ms = window_start_ms(timestamp_ms, self._offset_ms, slide_ms)
        behind_ms = wrap(timestamp_ms - size_ms)
        starts = range(start_ms, behind_ms, -slide_ms)
        if starts and starts[-1] - slide_ms < MIN_MS:
            # Java's loop goes on at the other end of the range and fills the memory.
            raise OverflowError(f"timestamp {timestamp_ms} is too close to Long.MIN_VALUE for a sliding window")
        return [TimeWindow(start_ms, wrap(start_ms + size_ms)) for start_ms in starts]


class SessionWindows:
    """A window of its own for each event, from its timestamp to `gap_ms` later; sessions arise by merging these.

    Parameters
    ----------
    gap_ms
        Silence that ends a session.

    Raises
    ------
    ValueError
        If the gap is not above 0.

    Notes
    -----
    Flink 2.3.0: EventTimeSessionWindows. It does not refuse a record without timestamp.
    """

    def __init__(self, gap_ms: int) -> None:
        if gap_ms <= 0:
            raise ValueError(f"gap is {gap_ms} ms; it must be above 0")
        self._gap_ms = gap_ms

    def assign(self, timestamp_ms: int) -> list[AnyWindow]:
        """Give the event's own window, before any merging."""
        return [TimeWindow(timestamp_ms, wrap(timestamp_ms + self._gap_ms))]


class GlobalWindows:
    """One window for everything.

    Notes
    -----
    Flink 2.3.0: GlobalWindows.
    """

    def __init__(self) -> None:
        self._all: list[AnyWindow] = [GLOBAL_WINDOW]

    def assign(self, timestamp_ms: int) -> list[AnyWindow]:
        """Give the global window, whatever the timestamp."""
        return self._all


def assigner_of(window: Window) -> WindowAssigner:
    """Make the assigner of a scenario's window."""
    if window.zone is not None and window.zone != "UTC":
        return LocalWindows(window.zone, window.size_ms, window.slide_ms or window.size_ms, window.offset_ms)
    if window.type == "tumbling":
        return TumblingWindows(window.size_ms, window.offset_ms)
    if window.type == "sliding":
        return SlidingWindows(window.size_ms, window.slide_ms, window.offset_ms)
    if window.type == "session":
        return SessionWindows(window.gap_ms)
    return GlobalWindows()
