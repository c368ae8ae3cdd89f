"""Watermark generators, and the output that decides which of their watermarks leave the operator."""

from __future__ import annotations

from typing import Protocol

from wmviz.times import MAX_MS, MIN_MS


class WatermarkOutput(Protocol):
    """Where watermarks go that pass the filter of `WatermarkEmitter`."""

    def watermark(self, watermark_ms: int) -> None:
        """Take a watermark, always higher than the one before."""


class WatermarkGenerator(Protocol):
    """Flink's WatermarkGenerator: sees every event, and is asked for a watermark on each periodic tick."""

    def on_event(self, timestamp_ms: int) -> int | None:
        """Take note of an event; a punctuated generator may give a watermark at once."""

    def on_periodic_emit(self) -> int:
        """Give the watermark, in ms; the generator itself repeats values, and MIN means none yet."""


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

    def on_event(self, timestamp_ms: int) -> None:
        """Keep the highest timestamp."""
        if timestamp_ms > self._max_timestamp_ms:
            self._max_timestamp_ms = timestamp_ms

    def on_periodic_emit(self) -> int:
        """Give max − bound − 1: no event at or before this is expected any more."""
        return self._max_timestamp_ms - self._delay_ms


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

    def on_periodic_emit(self) -> int:
        """Give MIN: none yet."""
        return MIN_MS


class WatermarkEmitter:
    """Lets a watermark pass only if it is higher than the last one; so MIN is never sent.

    Parameters
    ----------
    out
        Where the watermarks go.

    Notes
    -----
    Flink 2.3.0: TimestampsAndWatermarksOperator.WatermarkEmitter, WatermarkToDataOutput.
    """

    def __init__(self, out: WatermarkOutput) -> None:
        self._out = out
        self.current_ms = MIN_MS

    def emit(self, watermark_ms: int) -> None:
        """Send the watermark on, unless it is no progress."""
        if watermark_ms > self.current_ms:
            self.current_ms = watermark_ms
            self._out.watermark(watermark_ms)

    def end_of_input(self) -> None:
        """Send MAX: nothing can come any more."""
        self.emit(MAX_MS)


class RecordOutput(WatermarkOutput, Protocol):
    """Where records go beside the watermarks."""

    def record(self, timestamp_ms: int) -> None:
        """Take a record on its way downstream."""


class TimestampsAndWatermarksOperator:
    """A strategy behind the source: makes its own watermarks and swallows those from upstream, except MAX.

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

    def process(self, timestamp_ms: int) -> None:
        """Send a record on; what it makes the generator emit follows it, never precedes it."""
        self._out.record(timestamp_ms)
        watermark_ms = self._generator.on_event(timestamp_ms)
        if watermark_ms is not None:
            self._emitter.emit(watermark_ms)

    def tick(self) -> None:
        """Ask the generator, as the timer of pipeline.auto-watermark-interval does."""
        self._emitter.emit(self._generator.on_periodic_emit())

    def watermark(self, watermark_ms: int) -> None:
        """Take a watermark from upstream: only MAX counts, the end of the input."""
        if watermark_ms == MAX_MS:
            self._emitter.end_of_input()

    def finish(self) -> None:
        """Ask the generator one last time before the operator closes."""
        self.tick()


def generator_of(strategy: str, bound_ms: int = 0) -> WatermarkGenerator:
    """Make the generator of a strategy: ``"bounded"``, ``"ascending"`` or ``"none"``."""
    if strategy == "bounded":
        return BoundedOutOfOrdernessWatermarks(bound_ms)
    return AscendingTimestampsWatermarks() if strategy == "ascending" else NoWatermarksGenerator()
