"""Axes of time: a domain, and ticks at round times of the zone that the reader sees."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from wmviz.times import DAY_MS, time_text, zone_info

_SECOND, _MINUTE, _HOUR = 1_000, 60_000, 3_600_000
_ROUND_MS = (
    *(size * scale for scale in (1, 10, 100) for size in (1, 2, 5)),
    *(size * _SECOND for size in (1, 2, 5, 10, 15, 30)),
    *(size * _MINUTE for size in (1, 2, 5, 10, 15, 30)),
    *(size * _HOUR for size in (1, 2, 3, 6, 12)),
    *(size * DAY_MS for size in (1, 2, 7, 14)),
)
_MOST_TICKS = 8
_FAR = 20
_FEW = 5
_SNAPS = 200
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Axis:
    """A stretch of time and the ticks on it.

    Attributes
    ----------
    from_ms, to_ms
        The ends, in ms since the epoch; the first is below the second.
    ticks
        (time in ms, label) of each tick, in order.
    day
        The day and zone that the labels leave out, as text; empty for times of the first day without a zone.
    """

    from_ms: int
    to_ms: int
    ticks: tuple[tuple[int, str], ...]
    day: str

    @property
    def snap_ms(self) -> int:
        """A round distance that is small on this axis: what is moved by hand lands on a multiple of it."""
        fitting = [step_ms for step_ms in _ROUND_MS if step_ms * _SNAPS <= self.to_ms - self.from_ms]
        return fitting[-1] if fitting else 1

    def holds(self, times_ms: Iterable[int]) -> bool:
        """Tell whether all of some times are on the axis."""
        return all(self.from_ms <= at_ms <= self.to_ms for at_ms in times_ms)


def axis_of(times_ms: Iterable[int], edges_ms: Iterable[int], zone: str | None) -> Axis:
    """Make the axis of some times.

    Parameters
    ----------
    times_ms
        What must be on it.
    edges_ms
        What should be on it if it is near: the edges of windows.
    zone
        The zone of the labels; UTC if none is given.
    """
    times, edges = list(times_ms) or [0, _HOUR], list(edges_ms)
    if min(times) == max(times):  # one point has no extent: its windows give one, or a second does
        times += edges or [times[0] - _SECOND // 2, times[0] + _SECOND // 2]
    low, high = min(times), max(times)
    span = max(high - low, 1)
    near = [edge for edge in edges if low - span // 5 <= edge <= high + span // 5]
    low, high = min([low, *near]), max([high, *near])
    margin = max((high - low) // 20, 1)
    low, high = low - margin, high + margin
    step_ms = _round_step(high - low)
    ticks = tuple((at_ms, tick_text(at_ms, step_ms, zone)) for at_ms in _grid(low, high, step_ms, zone))
    return Axis(low, high, ticks, _day(low, high, zone))


def without_far(times_ms: Iterable[int]) -> list[int]:
    """Leave out the few times that are so far from all others that those would lie on one line.

    At most a fifth of them is left out, on each side.
    """
    times = sorted(times_ms)
    low, high = len(times) // _FEW, len(times) - 1 - len(times) // _FEW
    reach_ms = _FAR * (times[high] - times[low]) if times else 0
    if not reach_ms:
        return times
    while high + 1 < len(times) and times[high + 1] - times[high] <= reach_ms:
        high += 1
    while low > 0 and times[low] - times[low - 1] <= reach_ms:
        low -= 1
    return times[low : high + 1]


def tick_text(at_ms: int, step_ms: int, zone: str | None) -> str:
    """Write a tick as short as its neighbours allow: a clock time, or the date at midnight and on axes of days.

    The year is there where ticks are months apart.
    """
    text = time_text(at_ms, zone)
    date, _, clock = text.rpartition(" ")
    if not date or text.endswith(" ms"):
        return text
    if step_ms > _ROUND_MS[-1]:
        return date
    if step_ms >= DAY_MS or clock in ("00:00", "0:00"):
        return date[5:]
    return clock


def _round_step(span_ms: int) -> int:
    for step_ms in _ROUND_MS:
        if span_ms <= step_ms * _MOST_TICKS:
            return step_ms
    step_ms = _ROUND_MS[-1]
    while span_ms > step_ms * _MOST_TICKS:
        step_ms *= 2
    return step_ms


def _grid(low: int, high: int, step_ms: int, zone: str | None) -> range:
    shift_ms = _offset_ms(low, zone)
    first = -((-low - shift_ms) // step_ms) * step_ms - shift_ms
    return range(first, high + 1, step_ms)


def _offset_ms(at_ms: int, zone: str | None) -> int:
    try:
        offset = (_EPOCH + timedelta(milliseconds=at_ms)).astimezone(zone_info(zone)).utcoffset()
    except OverflowError:  # outside the calendar
        return 0
    return 0 if offset is None else offset // timedelta(milliseconds=1)


def _day(low: int, high: int, zone: str | None) -> str:
    first, last = (time_text(ms, zone).rpartition(" ")[0] for ms in (low, high))
    days = first if first == last else f"{first} to {last}" if first and last else ""
    return ", ".join(part for part in (days, zone) if part)
