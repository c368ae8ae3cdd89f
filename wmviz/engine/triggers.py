"""Triggers: when a window fires."""

from __future__ import annotations

from typing import Protocol

from wmviz.times import MAX_MS
from wmviz.window import AnyWindow, Window


class TriggerState(Protocol):
    """What a trigger may look at and keep for one window of one key."""

    max_timestamp_ms: int
    count: int


class Trigger(Protocol):
    """Flink's Trigger, as far as its answers differ: fire when an element comes, and at which time of the timer."""

    def on_element(self, state: TriggerState, watermark_ms: int) -> bool:
        """Say whether the element that just came makes the window fire at once."""

    def timer_ms(self, window: AnyWindow) -> int | None:
        """Give the time at which the window fires by a timer, or None."""


class EventTimeTrigger:
    """Fires when the watermark reaches the window's last millisecond, and at once for each element after that.

    Notes
    -----
    Flink 2.3.0: EventTimeTrigger.
    """

    def on_element(self, state: TriggerState, watermark_ms: int) -> bool:
        """Fire if the watermark has passed the last millisecond already: a late firing."""
        return state.max_timestamp_ms <= watermark_ms

    def timer_ms(self, window: AnyWindow) -> int | None:
        """Give maxTimestamp = end − 1."""
        return window.max_timestamp_ms


class ProcessingTimeTrigger:
    """Fires when the machine's clock has passed the window's last millisecond.

    Notes
    -----
    Flink 2.3.0: ProcessingTimeTrigger. A processing-time timer for t runs at t + 1.
    """

    def on_element(self, state: TriggerState, watermark_ms: int) -> bool:
        """Never fire for an element."""
        return False

    def timer_ms(self, window: AnyWindow) -> int | None:
        """Give maxTimestamp = end − 1."""
        return window.max_timestamp_ms


class CountTrigger:
    """Fires at every n-th element of a window, and at no time.

    Notes
    -----
    Flink 2.3.0: CountTrigger.
    """

    def __init__(self, max_count: int) -> None:
        self._max_count = max_count

    def on_element(self, state: TriggerState, watermark_ms: int) -> bool:
        """Count, fire at n, start again."""
        state.count += 1
        if state.count < self._max_count:
            return False
        state.count = 0
        return True

    def timer_ms(self, window: AnyWindow) -> int | None:
        """Give None: counting knows no time."""
        return None


class EndOfStreamTrigger:
    """Fires when the watermark is MAX: the input has ended.

    Notes
    -----
    Flink 2.3.0: GlobalWindows.EndOfStreamTrigger.
    """

    def on_element(self, state: TriggerState, watermark_ms: int) -> bool:
        """Never fire for an element."""
        return False

    def timer_ms(self, window: AnyWindow) -> int | None:
        """Give MAX."""
        return MAX_MS


class NeverTrigger:
    """Never fires, not even at the end of the input.

    Notes
    -----
    Flink 2.3.0: GlobalWindows.NeverTrigger, the default of GlobalWindows.create().
    """

    def on_element(self, state: TriggerState, watermark_ms: int) -> bool:
        """Never fire."""
        return False

    def timer_ms(self, window: AnyWindow) -> int | None:
        """Give None."""
        return None


def trigger_of(window: Window) -> tuple[Trigger, bool]:
    """Make the trigger of a scenario's window.

    Returns
    -------
    tuple of (Trigger, bool)
        The trigger, and whether every firing also purges the content (Flink's PurgingTrigger around it).
    """
    purging = window.trigger.startswith("purging_")
    name, _, number = window.trigger.removeprefix("purging_").partition(":")
    if name == "default":
        name = "never" if window.type == "global" else f"{window.time}_time"
    if name == "count":
        return CountTrigger(int(number)), purging
    simple: dict[str, type[Trigger]] = {
        "event_time": EventTimeTrigger,
        "processing_time": ProcessingTimeTrigger,
        "end_of_stream": EndOfStreamTrigger,
        "never": NeverTrigger,
    }
    return simple[name](), purging
