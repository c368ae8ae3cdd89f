"""Windows: the intervals themselves, how a scenario asks for them, and how that is read from a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from wmviz.fields import (
    LENGTH,
    SHIFT,
    ZONE,
    Field,
    Kind,
    ScenarioError,
    is_int,
    kind_words,
    one_of,
    optional,
    read_fields,
    same,
)
from wmviz.times import MAX_MS, MIN_MS, duration_text

MOST_WINDOWS_PER_EVENT = 10_000_000
"""Flink's limit on size / slide (SlidingEventTimeWindows)."""


class TimeWindow(NamedTuple):
    """A window [start, end) in ms; `maxTimestamp` is its last millisecond, end - 1 (Flink's TimeWindow)."""

    start_ms: int
    end_ms: int

    @property
    def max_timestamp_ms(self) -> int:
        """The last millisecond that belongs to the window."""
        return self.end_ms - 1 if self.end_ms > MIN_MS else MAX_MS  # an end that has overflown, as in Java

    def cleanup_ms(self, lateness_ms: int) -> int:
        """When its state goes: maxTimestamp + lateness, or MAX if that overflows (WindowOperator.cleanupTime)."""
        return min(self.max_timestamp_ms + lateness_ms, MAX_MS)


class GlobalWindow(NamedTuple):
    """The one window of GlobalWindows; it has no bounds and its maxTimestamp is MAX."""

    start_ms: None = None
    end_ms: None = None

    @property
    def max_timestamp_ms(self) -> int:
        """Flink's Long.MAX_VALUE."""
        return MAX_MS

    def cleanup_ms(self, lateness_ms: int) -> int:
        """MAX: its state stays."""
        return MAX_MS


AnyWindow = TimeWindow | GlobalWindow
GLOBAL_WINDOW = GlobalWindow()


@dataclass(frozen=True, slots=True)
class Window:
    """How the stream is cut into windows.

    Attributes
    ----------
    type
        ``"tumbling"``, ``"sliding"``, ``"session"`` or ``"global"``: TumblingEventTimeWindows, SlidingEventTimeWindows,
        EventTimeSessionWindows, GlobalWindows.
    size_ms, slide_ms, gap_ms, offset_ms
        Length of a window, distance of two starts (sliding), silence that ends a session, shift of the grid against the
        epoch.
    zone
        The zone in whose local time tumbling and sliding windows are cut, ``"Europe/Berlin"`` or ``"+05:30"``: a day is
        one of its days, of 23 or 25 hours where its clocks change. None for UTC. Flink has this in SQL only: TUMBLE and
        HOP over a TIMESTAMP_LTZ, with table.local-time-zone.
    time
        ``"event"``, or ``"processing"`` for windows by the clock of the machine (TumblingProcessingTimeWindows).
    trigger
        ``"default"``, ``"event_time"``, ``"processing_time"``, ``"count:N"``, ``"end_of_stream"`` (global windows),
        ``"never"``; the first three kinds also with ``"purging_"`` in front.
    """

    type: str = "tumbling"
    size_ms: int = 0
    slide_ms: int = 0
    offset_ms: int = 0
    time: str = "event"
    trigger: str = "default"
    gap_ms: int = 0
    zone: str | None = None


TRIGGERS = "default, event_time, processing_time, count:N, end_of_stream, never, or purging_ before the first four"


def _is_trigger(value: Any) -> bool:
    base = value.removeprefix("purging_") if isinstance(value, str) else ""
    if base.startswith("count:"):
        return re.fullmatch(r"[1-9][0-9]{0,8}", base[6:]) is not None
    return base in ("event_time", "processing_time") or value in ("default", "end_of_stream", "never")


TRIGGER = Kind(same, same, _is_trigger, TRIGGERS, {"type": "string", "examples": ["purging_event_time", "count:2"]})
WINDOW_FIELDS = (
    Field(
        "type",
        "type",
        one_of("tumbling", "sliding", "session", "global"),
        "tumbling",
        "How windows are cut: tumbling by size; sliding by size and slide; session by the gap between a key's events; "
        "global: one window for all time.",
    ),
    Field("size", "size_ms", LENGTH, 0, "Length of a tumbling or sliding window."),
    Field(
        "slide",
        "slide_ms",
        LENGTH,
        0,
        "Distance between the starts of two sliding windows; above the size it leaves gaps.",
    ),
    Field(
        "gap",
        "gap_ms",
        LENGTH,
        0,
        "Silence in event time that ends a session of a key; exactly as much still joins two.",
    ),
    Field("offset", "offset_ms", SHIFT, 0, "Shift of the grid of windows against 1970-01-01 00:00 of UTC or the zone."),
    Field("zone", "zone", optional(ZONE), None, "The zone in whose local time windows are cut, as in SQL; null: UTC."),
    Field(
        "time",
        "time",
        one_of("event", "processing"),
        "event",
        "What windows go by: the watermark, or the server's clock.",
    ),
    Field(
        "trigger",
        "trigger",
        TRIGGER,
        "default",
        "When a window fires. default: by its time, a global one never. count:N: with every Nth event. end_of_stream: "
        "at MAX, global only. purging_: each firing empties the window.",
    ),
)


def read_window(value: Any, present: Window | None = None) -> Window:
    """Read a window; without a type it changes the present one."""
    if isinstance(value, Window):
        return value
    if isinstance(value, str) or is_int(value):
        value = {"type": "tumbling", "size": value}
    if not isinstance(value, Mapping):
        raise ScenarioError(f'window is {kind_words(value)}; write {{"type": "tumbling", "size": "1 h"}}')
    read = read_fields(value, WINDOW_FIELDS, "window.")
    return replace(present, **read) if present and "type" not in read else Window(**read)


def write_window(window: Window) -> dict[str, Any]:
    """Give a window as JSON data."""
    kept = (
        field for field in WINDOW_FIELDS if field.name == "type" or getattr(window, field.attribute) != field.default
    )
    return {field.name: field.write(getattr(window, field.attribute)) for field in kept}


_TAKES = {"tumbling": ("size",), "sliding": ("size", "slide"), "session": ("gap",), "global": ()}
_LENGTHS = {"size": '"1 h"', "slide": '"30 min"', "gap": '"10 min"'}


def check_window(window: Window) -> None:
    """Check each field, and that they go together as Flink wants it."""
    for field in WINDOW_FIELDS:
        field._replace(name=f"window.{field.name}").check(getattr(window, field.attribute))
    _check_lengths(window)
    if window.zone is not None:
        _check_zone(window)
    if window.type == "global" and window.time != "event":
        raise ScenarioError("window.time: global windows go by no clock; leave it out")
    _check_trigger(window)


def _check_lengths(window: Window) -> None:
    takes = _TAKES[window.type]
    for name, example in _LENGTHS.items():
        length_ms = getattr(window, f"{name}_ms")
        if name in takes and length_ms == 0:
            raise ScenarioError(f"window.{name} is 0; {window.type} windows need a duration above 0: {example}")
        if name not in takes and length_ms:
            owners = " and ".join(kind for kind, names in _TAKES.items() if name in names)
            raise ScenarioError(f"window.{name} belongs to {owners} windows; leave it out of {window.type} ones")
    grid = takes[-1] if window.type in ("tumbling", "sliding") else None
    if grid is None and window.offset_ms:
        raise ScenarioError(f"window.offset: {window.type} windows lie on no grid; leave it out")
    if grid is not None and abs(window.offset_ms) >= getattr(window, f"{grid}_ms"):
        raise ScenarioError(f"window.offset is {duration_text(window.offset_ms)}; it must be smaller than the {grid}")
    if window.slide_ms and window.size_ms // window.slide_ms > MOST_WINDOWS_PER_EVENT:
        raise ScenarioError(
            f"window.slide puts an event into more than {MOST_WINDOWS_PER_EVENT} windows; make it longer"
        )


def _check_zone(window: Window) -> None:
    if window.type not in ("tumbling", "sliding"):
        raise ScenarioError(f"window.zone: {window.type} windows lie on no grid of local time; leave it out")
    if window.time != "event":
        raise ScenarioError("window.zone belongs to event-time windows; leave it out of those by processing time")
    if window.slide_ms > window.size_ms:
        raise ScenarioError("window.slide is above the size; windows in local time must not leave gaps")


def _check_trigger(window: Window) -> None:
    base = window.trigger.removeprefix("purging_")
    if base == "end_of_stream" and window.type != "global":
        raise ScenarioError(
            'window.trigger "end_of_stream" belongs to global windows (GlobalWindows.createWithEndOfStreamTrigger)'
        )
    if base == "event_time" and window.type == "global":
        raise ScenarioError(
            f'window.trigger "{window.trigger}" needs windows with an end; write "end_of_stream" or "count:N"'
        )
    if base in ("event_time", "processing_time") and base != f"{window.time}_time":
        raise ScenarioError(
            f'window.trigger is "{window.trigger}" but the window goes by {window.time} time; make them agree'
        )
