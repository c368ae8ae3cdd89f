"""The valve in front of an operator's input: the watermarks of its channels become one."""

from __future__ import annotations

from wmviz.engine.watermarks import Downstream
from wmviz.times import MAX_MS, MIN_MS

_LEFT_OUT = MAX_MS + 1


class StatusWatermarkValve:
    """Lets through the lowest watermark over the aligned channels of an input.

    A channel that comes back from idleness behind the watermark that went through is not aligned: it is left out until
    its own watermark has caught up. Until then its events are mostly late.

    Parameters
    ----------
    channels
        How many channels the input has.
    out
        Takes what goes through.
    always_flushes
        The rule after 2.3 (FLINK-40475): when the last channel goes idle, the highest watermark of all goes through
        whatever that channel's own is.

    Attributes
    ----------
    watermark_ms, is_idle
        What went through last.

    Notes
    -----
    Flink 2.3.0: StatusWatermarkValve.
    """

    def __init__(self, channels: int, out: Downstream, *, always_flushes: bool = False) -> None:
        self._out, self._always_flushes = out, always_flushes
        self.watermark_ms = MIN_MS
        self.is_idle = False
        self._watermarks_ms = [MIN_MS] * channels
        self._idle = [False] * channels
        # The same watermarks with those left out above all others, so that min() finds what counts.
        self._aligned_ms = [MIN_MS] * channels

    def leaves_out(self, channel: int) -> bool:
        """Say whether a channel is active but behind what went through, so that nobody waits for it."""
        return not self._idle[channel] and self._aligned_ms[channel] == _LEFT_OUT

    def is_behind(self, channel: int) -> bool:
        """Say whether a channel's watermark is below what went through."""
        return self._watermarks_ms[channel] < self.watermark_ms

    def watermark(self, channel: int, watermark_ms: int) -> None:
        """Take a watermark of one channel; on an idle one it is ignored and not remembered."""
        if self._idle[channel] or watermark_ms <= self._watermarks_ms[channel]:
            return
        self._watermarks_ms[channel] = watermark_ms
        if self._aligned_ms[channel] != _LEFT_OUT or watermark_ms >= self.watermark_ms:
            self._aligned_ms[channel] = watermark_ms
        self._let_through(min(self._aligned_ms))

    def idle(self, channel: int) -> None:
        """Take the status IDLE of one channel; when it is the last, the highest watermark of all is flushed first."""
        if self._idle[channel]:
            return
        self._idle[channel] = True
        self._aligned_ms[channel] = _LEFT_OUT
        held_back = self._watermarks_ms[channel] == self.watermark_ms
        if not all(self._idle):
            if held_back:
                self._let_through(min(self._aligned_ms))
            return
        if held_back or self._always_flushes:
            self._let_through(max(self._watermarks_ms))
        self.is_idle = True
        self._out.idle()

    def active(self, channel: int) -> None:
        """Take the status ACTIVE of one channel; the lowest watermark is looked for at the next one, not now."""
        if not self._idle[channel]:
            return
        self._idle[channel] = False
        if self._watermarks_ms[channel] >= self.watermark_ms:
            self._aligned_ms[channel] = self._watermarks_ms[channel]
        if self.is_idle:
            self.is_idle = False
            self._out.active()

    def _let_through(self, watermark_ms: int) -> None:
        if self.watermark_ms < watermark_ms != _LEFT_OUT:
            self.watermark_ms = watermark_ms
            self._out.watermark(watermark_ms)
