"""The unit of numbers since the epoch: named, or told by their size.

From 1985-11-05 on, a second has 9 to 11 digits, a millisecond three more, and so on: the ranges do not meet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wmviz.times import time_text

UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
"""Units, and how many nanoseconds each has."""
_SPELLED = {
    spelling: unit
    for unit, spellings in {
        "s": ("s", "sec", "secs", "seconds"),
        "ms": ("ms", "millis", "milliseconds"),
        "us": ("us", "micros", "microseconds"),
        "ns": ("ns", "nanos", "nanoseconds"),
    }.items()
    for spelling in spellings
}
_FIRST = 5e8
"""1985-11-05 in seconds: where the range of seconds begins; the others follow, each a thousand times larger."""
_FROM_ZERO_SHARE = 0.1
"""With so many small numbers, a column counts from a start of its own, and not from 1970."""
_TOO_FAR_MS = 10**15
Longs = NDArray[np.int64]


class Found(NamedTuple):
    """Numbers that were read.

    Attributes
    ----------
    unit
        Their unit.
    is_guess
        Whether it was told by their size.
    ms
        Milliseconds.
    other
        Which are of another unit, or of none.
    reasons
        Why, for those.
    mixed
        How many there are.
    """

    unit: str
    is_guess: bool
    ms: Longs
    other: NDArray[np.bool_]
    reasons: NDArray[np.object_]
    mixed: int


@dataclass(frozen=True)
class Units:
    """What is known of a column's unit before its numbers are seen: None, or the unit that somebody named."""

    named: str | None

    def read(self, numbers: NDArray[Any]) -> Found:
        """Read numbers into milliseconds.

        Parameters
        ----------
        numbers
            Finite; integers or floats.

        Returns
        -------
        Found
            The milliseconds, and which numbers are of another unit than most.
        """
        sizes = _sizes(numbers)
        # A 0 or a -1 (Kafka's NO_TIMESTAMP) is more often a missing time than the start of 1970.
        usual = _usual(sizes[(numbers != 0) & (numbers != -1)])
        unit = self.named or usual or "ms"
        own = list(UNITS).index(unit)
        # If not, the numbers count from a start of their own, or the unit was named against their size.
        other = sizes != own if usual == unit else np.zeros(len(numbers), dtype=bool)
        ms, too_far = _to_ms(numbers, unit)
        other |= too_far
        reasons = np.full(len(numbers), "", dtype=object)
        for place in np.flatnonzero(other):
            reasons[place] = _reason(numbers[place], int(sizes[place]), unit)
        return Found(unit, self.named is None, ms, other, reasons, int(other.sum()))


def units_of(name: str, time_unit: str | None) -> Units:
    """Tell the unit by what was named, or by the end of the column's name."""
    _, line, ending = str(name).lower().rpartition("_")
    return Units(time_unit or (_SPELLED.get(ending) if line else None))


def _sizes(numbers: NDArray[Any]) -> Longs:
    """Tell each number's unit by its size: its place in `UNITS`, or -1 for none."""
    size = np.abs(numbers.astype(np.float64))
    borders = [_FIRST * 1000**power for power in range(len(UNITS))]
    return np.searchsorted(borders, size, side="right").astype(np.int64) - 1


def _usual(sizes: Longs) -> str | None:
    """Give the unit that most numbers are of by their size; None if they count from a start of their own."""
    counts = np.bincount(sizes + 1, minlength=len(UNITS) + 1)
    if not len(sizes) or counts[0] >= _FROM_ZERO_SHARE * len(sizes):
        return None
    return list(UNITS)[int(np.argmax(counts[1:]))]


def _to_ms(numbers: NDArray[Any], unit: str) -> tuple[Longs, NDArray[np.bool_]]:
    """Convert to ms, down to the whole one; and say which are too far off to convert."""
    rough = np.clip(numbers.astype(np.float64), -1e200, 1e200) * (UNITS[unit] / UNITS["ms"])
    too_far = np.abs(rough) > _TOO_FAR_MS
    if numbers.dtype.kind in "iu":
        near = np.where(too_far, 0, numbers).astype(np.int64)
        scaled = near * 1000 if unit == "s" else near // (UNITS["ms"] // UNITS[unit])
        return scaled.astype(np.int64), too_far
    near = np.where(too_far, 0.0, rough)
    whole = np.rint(near)  # 1792216800.123 s is 1792216800122.99… ms
    return np.where(np.abs(near - whole) < 2e-3, whole, np.floor(near)).astype(np.int64), too_far


def _reason(number: Any, size: int, unit: str) -> str:
    if size >= 0 and size != list(UNITS).index(unit):
        return f"{number} looks like {list(UNITS)[size]}, in a column of {unit}"
    ms, too_far = _to_ms(np.array([number]), unit)
    when = "no date" if too_far[0] else f"{time_text(int(ms[0]), 'UTC')} as {unit}"
    return f"{number} is {when}: far from the others: it stands for no time"
