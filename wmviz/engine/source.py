"""The source: a subtask that reads partitions, with a watermark strategy on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from wmviz.engine.multiplexer import DeferredOutput, ImmediateOutput, PartialWatermark, WatermarkOutputMultiplexer
from wmviz.engine.watermarks import (
    RecordOutput,
    WatermarkEmitter,
    WatermarkGenerator,
    WatermarkOutput,
    emit_periodically,
)


class SplitOutput(RecordOutput, Protocol):
    """What a source with several splits tells beside records, watermarks and statuses."""

    def split_watermark(self, split: int, watermark_ms: int) -> None:
        """Tell that the watermark of a split has risen; it stays inside the source."""

    def split_status(self, split: int, *, idle: bool) -> None:
        """Tell that a split has become idle or active."""


class _Output:
    """One of the two outputs of a source subtask, that of the splits and the main one; only both together are idle.

    Each counts as idle until it has emitted something, even if records flow.

    Notes
    -----
    Flink 2.3.0: IdlenessManager of ProgressiveTimestampsAndWatermarks.
    """

    def __init__(self, out: WatermarkOutput) -> None:
        self._out, self.other = out, self
        self._is_idle = True

    def emit(self, watermark_ms: int) -> None:
        """Pass a watermark on."""
        self._is_idle = False
        self._out.emit(watermark_ms)

    def mark_idle(self) -> None:
        """Pass it on, if the other output is idle too."""
        self._is_idle = True
        if self.other._is_idle:
            self._out.mark_idle()

    def mark_active(self) -> None:
        """Pass it on."""
        self._is_idle = False
        self._out.mark_active()


class _Split:
    """A split: its generator, and where that writes on events and on ticks."""

    __slots__ = ("deferred", "generator", "immediate", "number", "partial")

    def __init__(self, number: int, generator: WatermarkGenerator, multiplexer: WatermarkOutputMultiplexer) -> None:
        name = str(number)
        multiplexer.register(name)
        self.number, self.generator = number, generator
        self.partial: PartialWatermark = multiplexer.splits[name]
        self.immediate: ImmediateOutput = multiplexer.immediate_output(name)
        self.deferred: DeferredOutput = multiplexer.deferred_output(name)


class ProgressiveTimestampsAndWatermarks:
    """A strategy on the source: a generator for each split, whose watermarks are combined.

    Parameters
    ----------
    splits
        Their numbers.
    generator
        Makes the generator of a split, given its number.
    main
        The generator of the main output, which no event of a split reaches.
    out
        What comes next.

    Notes
    -----
    Flink 2.3.0: ProgressiveTimestampsAndWatermarks, SourceOperator.
    """

    def __init__(
        self,
        splits: Iterable[int],
        generator: Callable[[int], WatermarkGenerator],
        main: WatermarkGenerator,
        out: SplitOutput,
    ) -> None:
        self._out = out
        self._emitter = WatermarkEmitter(out)
        self._main, self._main_output, split_output = main, _Output(self._emitter), _Output(self._emitter)
        self._main_output.other, split_output.other = split_output, self._main_output
        self._multiplexer = WatermarkOutputMultiplexer(split_output)
        self._splits = {number: _Split(number, generator(number), self._multiplexer) for number in splits}

    def process(self, record: int, timestamp_ms: int, number: int) -> None:
        """Send a record of a split on; what it makes the split's generator emit follows it."""
        self._out.record(record)
        split = self._splits[number]
        watermark_ms = split.generator.on_event(timestamp_ms)
        if watermark_ms is not None:
            before = split.partial.watermark_ms, split.partial.is_idle
            # What the split says comes before what the combination makes of it.
            self._tell(split, before, max(watermark_ms, split.partial.watermark_ms), idle=False)
            split.immediate.emit(watermark_ms)

    def release(self, number: int) -> None:
        """Forget a split that has come to its end; it shows when the others are combined next."""
        if self._multiplexer.unregister(str(number)):
            del self._splits[number]

    def tick(self) -> None:
        """Ask the generator of every split, combine, and ask that of the main output."""
        for split in self._splits.values():
            before = split.partial.watermark_ms, split.partial.is_idle
            emit_periodically(split.generator, split.deferred)
            self._tell(split, before, split.partial.watermark_ms, idle=split.partial.is_idle)
        self._multiplexer.on_periodic_emit()
        emit_periodically(self._main, self._main_output)

    def end_of_input(self) -> None:
        """Send MAX."""
        self._emitter.end_of_input()

    def end_of_source(self) -> None:
        """Send MAX as the task of a source does."""
        self._emitter.end_of_source()

    def _tell(self, split: _Split, before: tuple[int, bool], watermark_ms: int, *, idle: bool) -> None:
        if idle != before[1]:
            self._out.split_status(split.number, idle=idle)
        if watermark_ms != before[0]:
            self._out.split_watermark(split.number, watermark_ms)
