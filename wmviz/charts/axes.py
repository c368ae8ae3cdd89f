"""Axes of times, durations and shares. Vega knows two zones only, so the labels of times are written here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import altair as alt

from wmviz.stage.axes import axis_of
from wmviz.times import DAY_MS, duration_text

_SECOND, _MINUTE, _HOUR = 1_000, 60_000, 3_600_000
LADDER_MS = (
    0,
    *(size * scale for scale in (1, 10, 100) for size in (1, 2, 5)),
    *(size * unit for unit in (_SECOND, _MINUTE) for size in (1, 2, 5, 10, 30)),
    *(size * _HOUR for size in (1, 2, 6, 12)),
    *(size * DAY_MS for size in (1, 2, 7, 14, 30, 60, 180, 360)),
)
"""Round durations, from short to long."""
_GRAINS_MS = ((_SECOND, 1), (_HOUR, _SECOND), (DAY_MS, _MINUTE), (float("inf"), _HOUR))
_MOST_TICKS = 6


def labelled(ticks: Sequence[tuple[float, str]], **options: Any) -> alt.Axis:
    """Make an axis with ticks and labels of our own."""
    values, labels = [value for value, _ in ticks], [label for _, label in ticks]
    return alt.Axis(
        values=values, labelExpr=f"{json.dumps(labels)}[indexof({json.dumps(values)}, datum.value)]", **options
    )


def short_duration(ms: float) -> str:
    """Write a length of time as precisely as a reader needs: ``"5.1 s"``, ``"24 min 10 s"``, ``"2 h 59 min"``."""
    size = abs(ms)
    if _SECOND <= size < 10 * _SECOND:
        return f"{ms / _SECOND:.1f} s".replace(".0 ", " ")
    grain_ms = next(grain for below, grain in _GRAINS_MS if size < below)
    return duration_text(round(ms / grain_ms) * grain_ms)


def time_axis(title: str, times_ms: Iterable[int], edges_ms: Iterable[int], zone: str | None) -> dict[str, Any]:
    """Give scale, axis and title for times in ms: round times of the zone, which the title names."""
    axis = axis_of(times_ms, edges_ms, zone)
    return {
        "scale": alt.Scale(domain=[axis.from_ms, axis.to_ms], nice=False, zero=False),
        "axis": labelled(axis.ticks),
        "title": f"{title} ({axis.day})" if axis.day else title,
    }


def count_axis(title: str | None, most: int) -> dict[str, Any]:
    """Give scale, axis and title for numbers of things, from 0 on; ticks are whole numbers."""
    step = next(step for step in _round_numbers() if most <= step * _MOST_TICKS)
    ticks = list(range(0, most + step, step))
    return {
        "scale": alt.Scale(domain=[0, max(most, 1)], nice=False),
        "axis": alt.Axis(values=[tick for tick in ticks if tick <= max(most, 1)], format=",d"),
        "title": title,
    }


def _round_numbers() -> Iterator[int]:
    return (size * 10**power for power in range(19) for size in (1, 2, 5))


def share_axis() -> alt.Axis:
    """Give the axis of shares of a whole, in per cent."""
    return alt.Axis(format="%", values=[0, 0.2, 0.4, 0.6, 0.8, 1])
