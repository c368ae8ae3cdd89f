"""Watermark generators, and the output that decides which of their watermarks leave the operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from wmviz.times import MAX_MS, MIN_MS

IDLE: Final = MIN_MS - 1
"""What a generator gives in place of a watermark to mark its input idle; it is below every watermark."""


class Downstream(Protocol):
    """What comes next: takes the watermarks and statuses that an operator sends (Flink's Output)."""

    def watermark(self, watermark_ms: int) -> None:
        """Take a watermark."""

    def idle(self) -> None:
        """Take the status IDLE: no watermark comes until the next ACTIVE."""

    def active(self) -> None:
        """Take the status ACTIVE."""


class WatermarkOutput(Protocol):
    """What a generator writes to (Flink's WatermarkOutput)."""

    def emit(self, watermark_ms: int) -> None:
        """Take a watermark."""

    def mark_idle(self) -> None:
        """Take note that the input is idle: nobody waits for its watermark."""

    def mark_active(self) -> None:
        """Take note that the input is active again."""


class WatermarkGenerator(Protocol):
    """Flink's WatermarkGenerator: sees every event, and is asked for a watermark on each periodic tick."""

    def on_event(self, timestamp_ms: int) -> int | None:
        """Take note of an event; a punctuated generator may give a watermark at once."""

    def on_periodic_emit(self) -> int | None:
        """Give the watermark in ms, `IDLE`, or None for nothing; the generator itself repeats values."""


def emit_periodically(generator: WatermarkGenerator, out: WatermarkOutput) -> None:
    """Ask a generator on a periodic tick, and tell its output what it gives."""
    watermark_ms = generator.on_periodic_emit()
    if watermark_ms == IDLE:
        out.mark_idle()
    elif watermark_ms is not None:
        out.emit(watermark_ms)


class BoundedOutOfOrdernessWatermarks:
    """The watermark trails the highest timestamp seen by the bound and one millisecond more.

    Parameters
    ----------
    bound_ms
        Out-of-orderness bound in ms.

    Raises
    ------
    ValueError
        If the bound is negative.

    Notes
    -----
    Flink 2.3.0: BoundedOutOfOrdernessWatermarks. The start value of the maximum makes the first watermark exactly MIN.
    """

    def __init__(self, bound_ms: int) -> None:
        if bound_ms < 0:
            raise ValueError(f"bound is {bound_ms} ms; the out-of-orderness bound cannot be negative")
        self._delay_ms = bound_ms + 1
        self._max_timestamp_ms = MIN_MS + self._delay_ms

    def on_event(self, timestamp_ms: int) -> int | None:
        """Keep the highest timestamp."""
        if timestamp_ms > self._max_timestamp_ms:
            self._max_timestamp_ms = timestamp_ms
        return None

    def on_periodic_emit(self) -> int | None:
        """Give max − bound − 1: no event at or before this is expected any more."""
        return self._max_timestamp_ms - self._delay_ms


class BoundedAfterEveryEvent(BoundedOutOfOrdernessWatermarks):
    """The same watermarks, each emitted right behind the event that moves it, and none on ticks.

    Notes
    -----
    Flink 2.3.0: a WatermarkGenerator of one's own that emits in onEvent (punctuated).
    """

    def on_event(self, timestamp_ms: int) -> int | None:
        """Keep the highest timestamp, and emit if it is this one."""
        if timestamp_ms <= self._max_timestamp_ms:
            return None
        self._max_timestamp_ms = timestamp_ms
        return super().on_periodic_emit()

    def on_periodic_emit(self) -> None:
        """Give nothing."""


class AscendingTimestampsWatermarks(BoundedOutOfOrdernessWatermarks):
    """A bound of 0: the watermark is the highest timestamp − 1, so equal timestamps are never late.

    Notes
    -----
    Flink 2.3.0: AscendingTimestampsWatermarks.
    """

    def __init__(self) -> None:
        super().__init__(0)


class NoWatermarksGenerator:
    """Never gives a watermark.

    Notes
    -----
    Flink 2.3.0: NoWatermarksGenerator (WatermarkStrategy.noWatermarks).
    """

    def on_event(self, timestamp_ms: int) -> None:
        """Do nothing."""

    def on_periodic_emit(self) -> None:
        """Give nothing."""


class EmitOnEvent:
    """Asks a periodic generator after every event, so that watermarks hang on events and on no wall clock.

    Parameters
    ----------
    generator
        Is asked.

    Notes
    -----
    A punctuated WatermarkGenerator in Flink 2.3.0: it emits in onEvent, and nothing on ticks. What is no progress is
    emitted too: it ends the idleness of a split.
    """

    def __init__(self, generator: WatermarkGenerator) -> None:
        self._see, self._ask = generator.on_event, generator.on_periodic_emit

    def on_event(self, timestamp_ms: int) -> int | None:
        """Show the event to the generator, and ask it; of two watermarks the lower would be no progress."""
        given = [ms for ms in (self._see(timestamp_ms), self._ask()) if ms is not None]
        return max(given, default=None)

    def on_periodic_emit(self) -> None:
        """Give nothing."""


class PausableRelativeClock:
    """A clock that stands still while it is paused; pauses nest.

    It is paused while the task is under backpressure, and while watermark alignment pauses the split: then it is not
    the input that is silent.

    Parameters
    ----------
    now_ms
        Gives the time of the machine, in ms.

    Notes
    -----
    Flink 2.3.0: PausableRelativeClock.
    """

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._pauses = 0
        self._paused_at_ms = 0
        self._paused_for_ms = 0

    def relative_time_ms(self) -> int:
        """Give the time without the pauses; only differences mean something."""
        now_ms = self._paused_at_ms if self._pauses else self._now_ms()
        return now_ms - self._paused_for_ms

    def machine_time_ms(self, relative_ms: int) -> int | None:
        """Give the machine's time at which this clock shows a time; None if that is ahead of a clock that is paused."""
        if self._pauses and relative_ms > self.relative_time_ms():
            return None
        return relative_ms + self._paused_for_ms

    def pause(self) -> None:
        """Stand still, until each pause has its end."""
        if not self._pauses:
            self._paused_at_ms = self._now_ms()
        self._pauses += 1

    def unpause(self) -> None:
        """End one pause.

        Raises
        ------
        RuntimeError
            If the clock is not paused.
        """
        if not self._pauses:
            raise RuntimeError("unpause without a pause before it")
        self._pauses -= 1
        if not self._pauses:
            self._paused_for_ms += self._now_ms() - self._paused_at_ms


class WatermarksWithIdleness:
    """A generator that marks its input idle when no event has come for a time; it looks on periodic ticks only.

    Parameters
    ----------
    generator
        Makes the watermarks.
    timeout_ms
        Idle timeout in ms. It starts at the first tick without a new event and must be exceeded, so the input is idle
        no sooner than this after its last event, and up to three ticks later.
    clock
        Measures the timeout.

    Raises
    ------
    ValueError
        If the timeout is not above 0.

    Notes
    -----
    Flink 2.3.0: WatermarksWithIdleness and its IdlenessTimer. An event does not make the input active again; the next
    higher watermark does.
    """

    def __init__(self, generator: WatermarkGenerator, timeout_ms: int, clock: PausableRelativeClock) -> None:
        if timeout_ms <= 0:
            raise ValueError(f"idle timeout is {timeout_ms} ms; it must be above 0")
        self.clock = clock
        self._generator, self._timeout_ms = generator, timeout_ms
        self._events = 0
        self._events_at_last_tick = 0
        self._silent_since_ms = 0  # 0: the timer does not run
        self._marked_idle = False

    def on_event(self, timestamp_ms: int) -> int | None:
        """Show the event to the generator."""
        watermark_ms = self._generator.on_event(timestamp_ms)
        self._events += 1
        self._marked_idle = False
        return watermark_ms

    def on_periodic_emit(self) -> int | None:
        """Ask the generator, or mark the input idle, once."""
        if not self._is_idle():
            return self._generator.on_periodic_emit()
        if self._marked_idle:
            return None
        self._marked_idle = True
        return IDLE

    def due_ms(self) -> int | None:
        """Give the machine's time from which on a tick has something to do; None: after the next event or pause."""
        if self._events != self._events_at_last_tick or self._silent_since_ms == 0:
            return self.clock.machine_time_ms(self.clock.relative_time_ms())
        return None if self._marked_idle else self.clock.machine_time_ms(self._silent_since_ms + self._timeout_ms + 1)

    def _is_idle(self) -> bool:
        if self._events != self._events_at_last_tick:
            self._events_at_last_tick = self._events
            self._silent_since_ms = 0
            return False
        if self._silent_since_ms == 0:
            self._silent_since_ms = self.clock.relative_time_ms()
            return False
        return self.clock.relative_time_ms() - self._silent_since_ms > self._timeout_ms


class WatermarkEmitter:
    """Lets a watermark pass only if it is higher than the last one; so MIN is never sent.

    Parameters
    ----------
    out
        Where the watermarks and statuses go.

    Notes
    -----
    Flink 2.3.0: TimestampsAndWatermarksOperator.WatermarkEmitter, WatermarkToDataOutput. A watermark that is no
    progress does not make an idle stream active either.
    """

    def __init__(self, out: Downstream) -> None:
        self._out = out
        self.current_ms = MIN_MS
        self.is_idle = False

    def emit(self, watermark_ms: int) -> None:
        """Send the watermark on, unless it is no progress; if the stream is idle, ACTIVE goes first."""
        if watermark_ms > self.current_ms:
            self.current_ms = watermark_ms
            if self.is_idle:
                self.mark_active()
            self._out.watermark(watermark_ms)

    def mark_idle(self) -> None:
        """Send IDLE, once."""
        if not self.is_idle:
            self.is_idle = True
            self._out.idle()

    def mark_active(self) -> None:
        """Send ACTIVE, once."""
        if self.is_idle:
            self.is_idle = False
            self._out.active()

    def end_of_input(self) -> None:
        """Send MAX: nothing can come any more."""
        self.emit(MAX_MS)

    def end_of_source(self) -> None:
        """Send MAX as the task of a source does: past this filter, so that of an idle stream it is lost.

        What only MAX would fire then never fires.

        Notes
        -----
        Flink 2.3.0: SourceOperatorStreamTask.advanceToEndOfEventTime; RecordWriterOutput and ChainingOutput drop
        watermarks while the announced status is IDLE.
        """
        if not self.is_idle:
            self.emit(MAX_MS)


class RecordOutput(Downstream, Protocol):
    """Where records go beside the watermarks."""

    def record(self, record: int) -> None:
        """Take a record, by its number, on its way downstream."""


class TimestampsAndWatermarksOperator:
    """A strategy behind the source: makes its own watermarks; those from upstream end here, except MAX.

    Parameters
    ----------
    generator, out
        The generator of the strategy, and what comes next.

    Notes
    -----
    Flink 2.3.0: TimestampsAndWatermarksOperator (assignTimestampsAndWatermarks).
    """

    def __init__(self, generator: WatermarkGenerator, out: RecordOutput) -> None:
        self._generator, self._out = generator, out
        self._emitter = WatermarkEmitter(out)

    def process(self, record: int, timestamp_ms: int, split: int = 0) -> None:
        """Send a record on, of whatever split; what it makes the generator emit follows it, never precedes it."""
        self._out.record(record)
        watermark_ms = self._generator.on_event(timestamp_ms)
        if watermark_ms is not None:
            self._emitter.emit(watermark_ms)

    def tick(self) -> None:
        """Ask the generator, as the timer of pipeline.auto-watermark-interval does."""
        emit_periodically(self._generator, self._emitter)

    def watermark(self, watermark_ms: int) -> None:
        """Take a watermark from upstream: only MAX counts, the end of the input."""
        if watermark_ms == MAX_MS:
            self.end_of_input()

    def end_of_input(self) -> None:
        """Send MAX."""
        self._emitter.end_of_input()

    def end_of_source(self) -> None:
        """Send MAX as the task of a source does; for a strategy on the source of one split."""
        self._emitter.end_of_source()

    def idle(self) -> None:
        """Swallow the status from upstream: this operator has its own idleness."""

    def active(self) -> None:
        """Swallow the status from upstream."""

    def finish(self) -> None:
        """Ask the generator one last time before the operator closes."""
        self.tick()


def generator_of(strategy: str, bound_ms: int = 0, *, per_event: bool = False) -> WatermarkGenerator:
    """Make the generator of a strategy: ``"bounded"``, ``"ascending"`` or ``"none"``.

    Parameters
    ----------
    per_event
        Whether it emits behind events; otherwise on periodic ticks.
    """
    if strategy == "none":
        return NoWatermarksGenerator()
    if per_event:
        return BoundedAfterEveryEvent(bound_ms if strategy == "bounded" else 0)
    return BoundedOutOfOrdernessWatermarks(bound_ms) if strategy == "bounded" else AscendingTimestampsWatermarks()
