"""Windows: the intervals themselves, how a scenario asks for them, and how that is read from a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from wmviz.fields import LENGTH, SHIFT, Field, Kind, ScenarioError, is_int, kind_words, one_of, read_fields, same
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


class GlobalWindow(NamedTuple):
    """The one window of GlobalWindows; it has no bounds and its maxTimestamp is MAX."""

    start_ms: None = None
    end_ms: None = None

    @property
    def max_timestamp_ms(self) -> int:
        """Flink's Long.MAX_VALUE."""
        return MAX_MS


AnyWindow = TimeWindow | GlobalWindow
GLOBAL_WINDOW = GlobalWindow()


@dataclass(frozen=True, slots=True)
class Window:
    """How the stream is cut into windows.

    Attributes
    ----------
    type
        ``"tumbling"``, ``"sliding"`` or ``"global"``: TumblingEventTimeWindows, SlidingEventTimeWindows, GlobalWindows.
    size_ms, slide_ms, offset_ms
        Length of a window, distance of two starts (sliding), shift of the grid against the epoch.
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


TRIGGERS = "default, event_time, processing_time, count:N, end_of_stream, never, or purging_ before the first four"


def _is_trigger(value: Any) -> bool:
    base = value.removeprefix("purging_") if isinstance(value, str) else ""
    if base.startswith("count:"):
        return re.fullmatch(r"[1-9][0-9]{0,8}", base[6:]) is not None
    return base in ("event_time", "processing_time") or value in ("default", "end_of_stream", "never")


TRIGGER = Kind(same, same, _is_trigger, TRIGGERS, {"type": "string", "examples": ["purging_event_time", "count:2"]})
WINDOW_FIELDS = (
    Field("type", "type", one_of("tumbling", "sliding", "global"), "tumbling", "How windows are cut."),
    Field("size", "size_ms", LENGTH, 0, "Length of a window; every type but global needs it."),
    Field("slide", "slide_ms", LENGTH, 0, "Distance between the starts of two sliding windows."),
    Field("offset", "offset_ms", SHIFT, 0, "Shift of the grid of windows against 1970-01-01 00:00 UTC."),
    Field("time", "time", one_of("event", "processing"), "event", "The clock that windows go by."),
    Field("trigger", "trigger", TRIGGER, "default", "When a window fires."),
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


def check_window(window: Window) -> None:
    """Check each field, and that they go together as Flink wants it."""
    for field in WINDOW_FIELDS:
        field._replace(name=f"window.{field.name}").check(getattr(window, field.attribute))
    if window.type == "global":
        if window.size_ms or window.slide_ms or window.offset_ms or window.time != "event":
            raise ScenarioError("window: global windows have no size, slide, offset or time; leave them out")
    elif window.size_ms == 0:
        raise ScenarioError('window.size is 0; write a duration above 0: "1 h"')
    if (window.type == "sliding") != (window.slide_ms > 0):
        raise ScenarioError("window.slide belongs to sliding windows: a duration above 0 there, left out elsewhere")
    grid_ms, grid = (window.slide_ms, "slide") if window.type == "sliding" else (window.size_ms, "size")
    if window.type != "global" and abs(window.offset_ms) >= grid_ms:
        raise ScenarioError(f"window.offset is {duration_text(window.offset_ms)}; it must be smaller than the {grid}")
    if window.slide_ms and window.size_ms // window.slide_ms > MOST_WINDOWS_PER_EVENT:
        raise ScenarioError(
            f"window.slide puts an event into more than {MOST_WINDOWS_PER_EVENT} windows; make it longer"
        )
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
