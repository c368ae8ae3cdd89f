"""Windows in local time: cut by the clock of a zone, with its days of 23 and 25 hours."""

from __future__ import annotations

from bisect import bisect_left
from datetime import datetime, timedelta, timezone, tzinfo
from functools import cached_property
from itertools import pairwise

from wmviz.engine.longs import remainder
from wmviz.times import DAY_MS, MAX_MS, time_text, zone_info
from wmviz.window import AnyWindow, TimeWindow

_EPOCH = datetime(1970, 1, 1)
_EPOCH_UTC = _EPOCH.replace(tzinfo=timezone.utc)
_HOUR_MS = 3_600_000
# What the calendar of Python reaches, with a few days to spare. After 400 years it repeats, weekdays included.
_FIRST_MS = -719_160 * DAY_MS
_LAST_MS = 2_932_890 * DAY_MS
_CYCLE_MS = 146_097 * DAY_MS
_FAR_MS = 2**62


class LocalTimeError(ArithmeticError):
    """Windows in local time that there are not; the message is a sentence."""


class LocalClock:
    """The clock on the wall of a zone, as a number: the ms at which a clock in UTC shows the same date and time.

    Parameters
    ----------
    zone
        ``"Europe/Berlin"`` or a fixed offset such as ``"+05:30"``.

    Notes
    -----
    Flink 2.3.0: TimeWindowUtil, with the zone of table.local-time-zone (where a fixed offset is ``GMT+05:30``). Before
    its first known change a zone keeps its first offset, and the last rule of its changes holds for ever, as in Java.
    For some zones the data of Java and of the system differ before 1970.
    """

    def __init__(self, zone: str) -> None:
        self.name = zone
        self._zone: tzinfo = zone_info(zone)
        self._offset_of_day_ms: dict[int, int | None] = {}
        # Java's TimeZone.useDaylightTime: the rule of the years to come changes the offset.
        self._saves_daylight = len({self._zone.utcoffset(datetime(2300, month, 15)) for month in range(1, 13)}) > 1

    def local_ms(self, epoch_ms: int) -> int:
        """Give what the clock shows at a moment (toUtcTimestampMills)."""
        day = epoch_ms // DAY_MS
        if day not in self._offset_of_day_ms:
            first_ms, last_ms = self._offset_at_ms(day * DAY_MS), self._offset_at_ms((day + 1) * DAY_MS - 1)
            self._offset_of_day_ms[day] = first_ms if first_ms == last_ms else None  # no zone changes twice in a day
        offset_ms = self._offset_of_day_ms[day]
        return epoch_ms + (self._offset_at_ms(epoch_ms) if offset_ms is None else offset_ms)

    def first_ms(self, local_ms: int) -> int:
        """Give the first moment at which the clock shows this time or, where it skips this time, a later one."""
        before_ms, after_ms = self._offset_ms(local_ms, 0), self._offset_ms(local_ms, 1)
        return self._change_ms(local_ms, before_ms, after_ms) if before_ms < after_ms else local_ms - before_ms

    def end_ms(self, local_ms: int) -> int:
        """Give the moment from which on the clock never again shows a time before this one."""
        before_ms, after_ms = self._offset_ms(local_ms - 1, 0), self._offset_ms(local_ms - 1, 1)
        return self._change_ms(local_ms, before_ms, after_ms) if before_ms < after_ms else local_ms - after_ms

    def timer_ms(self, local_ms: int) -> int:
        """Give the moment of a timer that is set for this time of the clock (toEpochMillsForTimer).

        Flink takes every change for one of an hour at a full hour of UTC. Then a time that the clock skips gives the
        moment of the change, and one that it shows twice gives the second. Where a change is another one, timers near
        it come up to an hour too early or too late; so they do here.
        """
        time_ms = local_ms - self._offset_ms(local_ms, 0)
        if not self._saves_daylight:
            return time_ms
        hour_later_ms = local_ms + _HOUR_MS - self._offset_ms(local_ms + _HOUR_MS, 0)
        if hour_later_ms == time_ms:
            return time_ms - remainder(time_ms, _HOUR_MS)
        return time_ms + _HOUR_MS if hour_later_ms - time_ms > _HOUR_MS else time_ms

    def _offset_at_ms(self, epoch_ms: int) -> int:
        """Give how far the clock is ahead of UTC at a moment."""
        moment = _EPOCH_UTC + timedelta(milliseconds=_in_calendar_ms(epoch_ms))
        return _ms(moment.astimezone(self._zone).utcoffset())

    def _offset_ms(self, local_ms: int, fold: int) -> int:
        """Give how far the clock is ahead when it shows a time; around a change, before it (fold 0) or after it (1)."""
        shown = _EPOCH + timedelta(milliseconds=_in_calendar_ms(local_ms))
        return _ms(self._zone.utcoffset(shown.replace(fold=fold)))

    def _change_ms(self, local_ms: int, before_ms: int, after_ms: int) -> int:
        """Give the moment at which the clock skips a time."""
        moments = range(local_ms - after_ms - 1, local_ms - before_ms + 2)
        return moments[bisect_left(moments, after_ms, key=self._offset_at_ms)]


def _in_calendar_ms(ms: int) -> int:
    """Give a time within the calendar whose offset is the same."""
    if ms > _LAST_MS:
        return ms - -(-(ms - _LAST_MS) // _CYCLE_MS) * _CYCLE_MS
    return max(ms, _FIRST_MS)


def _ms(offset: timedelta | None) -> int:
    assert offset is not None
    return offset // timedelta(milliseconds=1)


class LocalWindow(TimeWindow):
    """A window of local time as the interval of the moments that lie in it.

    It is shorter or longer than its size where the clock changes. Where the clock shows some times twice and the window
    has only a part of them, the interval reaches from its first moment to its last and also covers moments of the next
    windows.

    Attributes
    ----------
    local_end_ms
        Its end as the clock shows it.
    clock
        The clock that it goes by.
    """

    local_end_ms: int
    clock: LocalClock

    @cached_property
    def max_timestamp_ms(self) -> int:
        """The time of its timer: the last millisecond, but for what `LocalClock.timer_ms` says of changes."""
        return self.clock.timer_ms(self.local_end_ms - 1)

    def cleanup_ms(self, lateness_ms: int) -> int:
        """When its state goes: the lateness is counted by the local clock, too.

        Notes
        -----
        Flink 2.3.0: InternalWindowProcessFunction.isWindowLate, isCleanupTime.
        """
        local_ms = self.local_end_ms - 1 + lateness_ms
        return MAX_MS if local_ms >= MAX_MS else min(self.clock.timer_ms(local_ms), MAX_MS)


class LocalWindows:
    """Windows of one size that start every `slide_ms` of local time.

    Parameters
    ----------
    zone
        Whose clock they go by.
    size_ms, slide_ms, offset_ms
        Length and distance of two starts, as the clock shows them, and shift of the grid against its 1970-01-01 00:00.
        With `slide_ms` = `size_ms` they tumble.

    Notes
    -----
    Flink 2.3.0: TUMBLE and HOP of SQL over a TIMESTAMP_LTZ: TumblingWindowAssigner, SlidingWindowAssigner and
    SliceAssigners of the table runtime, on TimeWindowUtil.toUtcTimestampMills. The DataStream API has none. Sliding
    windows that end in an hour that the clock skips have one timer, and here all of them fire with all of their events;
    GROUP BY HOP deletes what they share with the first that fires. Table functions can lose events that come while the
    clock changes, or in a zone without daylight saving: their buffer looks for the next end on another grid. Neither is
    rebuilt here.
    """

    def __init__(self, zone: str, size_ms: int, slide_ms: int, offset_ms: int = 0) -> None:
        if size_ms <= 0 or abs(offset_ms) >= slide_ms:
            raise ValueError(
                f"size {size_ms} ms, slide {slide_ms} ms, offset {offset_ms} ms: needs |offset| < slide and size > 0"
            )
        self._clock = LocalClock(zone)
        self._size_ms, self._slide_ms, self._offset_ms = size_ms, slide_ms, offset_ms
        self._starts = range(0)
        self._latest: list[AnyWindow] = []

    def assign(self, timestamp_ms: int) -> list[AnyWindow]:
        """Give the windows of the timestamp, newest start first.

        Raises
        ------
        LocalTimeError
            If there are no such windows, or Flink loses a part of one: see the messages.
        """
        local_ms = self._clock.local_ms(timestamp_ms)
        start_ms = local_ms - (local_ms - self._offset_ms) % self._slide_ms
        starts = range(start_ms, local_ms - self._size_ms, -self._slide_ms)
        if starts == self._starts:
            return self._latest
        if abs(timestamp_ms) > _FAR_MS or self._size_ms > _FAR_MS:
            raise LocalTimeError(f"timestamp {timestamp_ms} or the size is too far from 1970 for windows in local time")
        windows = [self._window(start_ms) for start_ms in starts]
        for newer, older in pairwise(windows):
            self._check_order(newer, older)
        self._starts, self._latest = starts, [*windows]
        return self._latest

    def _check_order(self, newer: LocalWindow, older: LocalWindow) -> None:
        """Refuse sliding windows of which the older would lose what it shares with the newer.

        On Flink the windows that overlap share their state, and the newer one deletes its first part when it has fired.
        """
        if newer.max_timestamp_ms < older.max_timestamp_ms:
            raise LocalTimeError(
                f"{self._clock.name} changes its clock, but not by an hour at a full hour of UTC: Flink sets the timer "
                f"of window {self._text(older)} behind that of the next one, which deletes a part of it. "
                "Use tumbling windows"
            )
        if newer == older:
            raise LocalTimeError(
                f"the clock of {self._clock.name} skips the starts and the ends of several windows, so that all are "
                f"{self._text(older)}; change the size"
            )

    def _text(self, window: LocalWindow) -> str:
        return f"[{time_text(window.start_ms, self._clock.name)}, {time_text(window.end_ms, self._clock.name)})"

    def _window(self, start_ms: int) -> LocalWindow:
        end_ms = start_ms + self._size_ms
        window = LocalWindow(self._clock.first_ms(start_ms), self._clock.end_ms(end_ms))
        window.local_end_ms, window.clock = end_ms, self._clock
        return window
