"""Several watermarks into one: the splits of a source, and the inputs of an operator."""

from __future__ import annotations

from wmviz.engine.watermarks import Downstream, WatermarkOutput
from wmviz.times import MIN_MS


class PartialWatermark:
    """Watermark and idleness of one split or input.

    Notes
    -----
    Flink 2.3.0: CombinedWatermarkStatus.PartialWatermark.
    """

    __slots__ = ("is_idle", "watermark_ms")

    def __init__(self) -> None:
        self.watermark_ms = MIN_MS
        self.is_idle = False

    def set_watermark(self, watermark_ms: int) -> bool:
        """Keep the higher watermark, and say whether it rose; even one that is no progress ends idleness."""
        self.is_idle = False
        if watermark_ms <= self.watermark_ms:
            return False
        self.watermark_ms = watermark_ms
        return True


class CombinedWatermarkStatus:
    """The lowest watermark over all parts that are not idle; over all of them the highest, when every part is idle.

    Attributes
    ----------
    partials
        The parts. A new one stands at MIN and holds the combined watermark back.
    watermark_ms, is_idle
        What they combine to; the watermark never goes back.

    Notes
    -----
    Flink 2.3.0: CombinedWatermarkStatus.
    """

    def __init__(self) -> None:
        self.partials: list[PartialWatermark] = []
        self.watermark_ms = MIN_MS
        self.is_idle = False

    def update(self) -> bool:
        """Combine anew, and say whether the watermark rose; without parts everything stays."""
        if not self.partials:
            return False
        active = [partial.watermark_ms for partial in self.partials if not partial.is_idle]
        self.is_idle = not active
        watermark_ms = min(active) if active else max(partial.watermark_ms for partial in self.partials)
        if watermark_ms <= self.watermark_ms:
            return False
        self.watermark_ms = watermark_ms
        return True


class DeferredOutput:
    """Takes what a split's generator emits on periodic ticks; it shows at the multiplexer's next tick.

    Notes
    -----
    Flink 2.3.0: WatermarkOutputMultiplexer.DeferredOutput.
    """

    def __init__(self, partial: PartialWatermark) -> None:
        self._partial = partial

    def emit(self, watermark_ms: int) -> None:
        """Keep the split's watermark."""
        self._partial.set_watermark(watermark_ms)

    def mark_idle(self) -> None:
        """Leave the split out of the combined watermark."""
        self._partial.is_idle = True

    def mark_active(self) -> None:
        """Count the split again."""
        self._partial.is_idle = False


class ImmediateOutput:
    """Takes what a split's generator emits while it handles an event; it shows at once.

    Notes
    -----
    Flink 2.3.0: WatermarkOutputMultiplexer.ImmediateOutput.
    """

    def __init__(self, partial: PartialWatermark, multiplexer: WatermarkOutputMultiplexer) -> None:
        self._partial, self._multiplexer = partial, multiplexer

    def emit(self, watermark_ms: int) -> None:
        """Keep the split's watermark; it can only matter if it is above the combined one."""
        if self._partial.set_watermark(watermark_ms) and watermark_ms > self._multiplexer.combined.watermark_ms:
            self._multiplexer.update()

    def mark_idle(self) -> None:
        """Leave the split out of the combined watermark: perhaps it held it back."""
        self._partial.is_idle = True
        self._multiplexer.update()

    def mark_active(self) -> None:
        """Count the split again."""
        self._partial.is_idle = False
        self._multiplexer.update()


class WatermarkOutputMultiplexer:
    """Combines the watermarks of the splits that one source subtask reads.

    Parameters
    ----------
    out
        Takes the combined watermark, and is marked idle when every split is.

    Attributes
    ----------
    splits
        Watermark and idleness of each registered split.
    combined
        What they combine to.

    Notes
    -----
    Flink 2.3.0: WatermarkOutputMultiplexer. A split that comes back behind the combined watermark stalls it: unlike
    the valve of an operator's input, nothing here leaves it out until it has caught up. The output is not marked
    active: its next watermark does that.
    """

    def __init__(self, out: WatermarkOutput) -> None:
        self._out = out
        self.splits: dict[str, PartialWatermark] = {}
        self.combined = CombinedWatermarkStatus()

    def register(self, split: str) -> None:
        """Add a split.

        Raises
        ------
        RuntimeError
            If the split is registered already.
        """
        if split in self.splits:
            raise RuntimeError(f"split {split!r} is registered already")
        partial = self.splits[split] = PartialWatermark()
        self.combined.partials.append(partial)

    def unregister(self, split: str) -> bool:
        """Take a finished split out, and say whether there was one; it shows when the others are combined next."""
        partial = self.splits.pop(split, None)
        if partial is None:
            return False
        self.combined.partials.remove(partial)
        return True

    def immediate_output(self, split: str) -> ImmediateOutput:
        """Give the output for what a split emits while it handles an event.

        Raises
        ------
        ValueError
            If the split is not registered.
        """
        return ImmediateOutput(self._partial(split), self)

    def deferred_output(self, split: str) -> DeferredOutput:
        """Give the output for what a split emits on periodic ticks.

        Raises
        ------
        ValueError
            If the split is not registered.
        """
        return DeferredOutput(self._partial(split))

    def on_periodic_emit(self) -> None:
        """Combine what the splits emitted on this tick."""
        self.update()

    def update(self) -> None:
        """Combine anew, and tell the output."""
        if self.combined.update():
            self._out.emit(self.combined.watermark_ms)
        if self.combined.is_idle:
            self._out.mark_idle()

    def _partial(self, split: str) -> PartialWatermark:
        if split not in self.splits:
            raise ValueError(f"split {split!r} is not registered")
        return self.splits[split]


class CombinedInputs:
    """The watermark of an operator with two or more inputs, each of which has passed its own valve.

    Parameters
    ----------
    inputs
        How many there are.
    out
        Takes the combined watermark and status.

    Notes
    -----
    Flink 2.3.0: IndexedCombinedWatermarkStatus, and processWatermark and processWatermarkStatus of
    AbstractStreamOperator. As for splits, an input that comes back behind stalls the watermark.
    """

    def __init__(self, inputs: int, out: Downstream) -> None:
        self._out = out
        self.combined = CombinedWatermarkStatus()
        self.combined.partials += [PartialWatermark() for _ in range(inputs)]

    def watermark(self, index: int, watermark_ms: int) -> None:
        """Take a watermark of one input. It ends the idleness of that input, and no status tells so downstream."""
        self.combined.partials[index].set_watermark(watermark_ms)
        if self.combined.update():
            self._out.watermark(self.combined.watermark_ms)

    def idle(self, index: int) -> None:
        """Take the status IDLE of one input."""
        if self._update_status(index, idle=True):
            self._out.idle()

    def active(self, index: int) -> None:
        """Take the status ACTIVE of one input."""
        if self._update_status(index, idle=False):
            self._out.active()

    def _update_status(self, index: int, *, idle: bool) -> bool:
        """Combine with the new status, watermark first, and say whether the combined status changed."""
        was_idle = self.combined.is_idle
        self.combined.partials[index].is_idle = idle
        if self.combined.update():
            self._out.watermark(self.combined.watermark_ms)
        return was_idle != self.combined.is_idle
