"""Watermark alignment: sources of a group tell their watermarks, hear how far they may go, and wait beyond that."""

from __future__ import annotations

from collections import deque
from typing import Protocol

from wmviz.times import MAX_MS, MIN_MS


class WatermarkAggregator:
    """The smallest of the watermarks that each of several has told last; a told watermark may go down.

    Notes
    -----
    Flink 2.3.0: SourceCoordinator.WatermarkAggregator.
    """

    def __init__(self) -> None:
        self._watermarks: dict[object, int] = {}

    @property
    def watermark_ms(self) -> int:
        """The smallest of all; MIN while nobody has told one."""
        return min(self._watermarks.values(), default=MIN_MS)

    @property
    def is_empty(self) -> bool:
        """Whether nobody has told a watermark."""
        return not self._watermarks

    def aggregate(self, key: object, watermark_ms: int) -> int | None:
        """Take in the watermark of one; give the new smallest, or None if it is the same as before."""
        before_ms = self.watermark_ms
        self._watermarks[key] = watermark_ms
        after_ms = self.watermark_ms
        return None if after_ms == before_ms else after_ms


class SourceCoordinator:
    """The part of a source's coordinator that aligns: its subtasks report, and it announces what the group allows.

    Parameters
    ----------
    name
        Of the source.
    group
        The aggregator that all sources of the alignment group share.
    max_drift_ms
        How far a source may be ahead of the slowest of the group.

    Notes
    -----
    Flink 2.3.0: SourceCoordinator.handleReportedWatermark, announceCombinedWatermark.
    """

    def __init__(self, name: str, group: WatermarkAggregator, max_drift_ms: int) -> None:
        self._name, self._group, self._max_drift_ms = name, group, max_drift_ms
        self._subtasks = WatermarkAggregator()

    def report(self, subtask: int, watermark_ms: int) -> None:
        """Take in what a subtask reports: MAX if it is idle or has finished."""
        combined_ms = self._subtasks.aggregate(subtask, watermark_ms)
        if combined_ms is not None:
            self._group.aggregate(self._name, combined_ms)

    def announce(self) -> int | None:
        """Give the highest watermark allowed, which may be lower than before; None before the first report."""
        if self._subtasks.is_empty:
            return None
        return min(self._group.watermark_ms + self._max_drift_ms, MAX_MS)


class WatermarkSampler:
    """The last samples of a watermark, the oldest of which alignment goes by: a short lead does not pause a source.

    Parameters
    ----------
    capacity
        Number of samples (pipeline.watermark-alignment.buffer-size, default 3); with 0 the latest watermark counts.

    Notes
    -----
    Flink 2.3.0: WatermarkSampler.
    """

    def __init__(self, capacity: int = 3) -> None:
        if capacity < 0:
            raise ValueError(f"the buffer of watermark samples has size {capacity}; write 0 or more")
        self.latest_ms = MIN_MS
        self._samples = deque([MIN_MS] * capacity, capacity)

    @property
    def oldest_ms(self) -> int:
        """The oldest sample; MIN until as many have been taken as the buffer holds."""
        return self._samples[0] if self._samples else self.latest_ms

    def sample(self) -> None:
        """Take a sample; the oldest one goes."""
        self._samples.append(self.latest_ms)


class AlignmentOutput(Protocol):
    """What comes out of the alignment of a source."""

    def paused(self) -> None:
        """Tell that the reader stops reading."""

    def resumed(self) -> None:
        """Tell that the reader goes on."""

    def splits_paused(self, splits: list[str]) -> None:
        """Tell which splits the reader leaves out from now on."""

    def splits_resumed(self, splits: list[str]) -> None:
        """Tell which splits it reads again."""


class SourceOperatorAlignment:
    """Whether a source subtask reads or waits, and which of its splits: both wait if strictly over what is allowed.

    Parameters
    ----------
    out
        Is told what pauses and resumes.
    buffer_size
        Samples that the watermark and each split keep.

    Attributes
    ----------
    idle
        Whether the output of the source is idle: it then reports MAX.
    is_waiting
        Whether the reader waits. Its clock of idleness then stands still.
    paused_splits
        Those left out.

    Notes
    -----
    Flink 2.3.0: SourceOperator.checkWatermarkAlignment, checkSplitWatermarkAlignment, sampleAndEmitLatestWatermark.
    The maximum allowed is MAX until the first announcement.
    """

    def __init__(self, out: AlignmentOutput, buffer_size: int = 3) -> None:
        self.idle = self.is_waiting = False
        self.paused_splits: set[str] = set()
        self._out, self._buffer_size = out, buffer_size
        self._sampler = WatermarkSampler(buffer_size)
        self._splits: dict[str, WatermarkSampler] = {}
        self._idle_splits: set[str] = set()
        self._max_allowed_ms = MAX_MS
        self._is_finished = False

    def watermark(self, watermark_ms: int) -> None:
        """Take in the watermark that the source has emitted."""
        self._sampler.latest_ms = watermark_ms
        self._check()

    def split_watermark(self, split: str, watermark_ms: int) -> None:
        """Take in the watermark of one split, which may pause it at once."""
        self._splits.setdefault(split, WatermarkSampler(self._buffer_size)).latest_ms = watermark_ms
        if split not in self._idle_splits:
            self._pause_if_over(split)

    def split_idle(self, split: str, idle: bool) -> None:
        """Take in whether a split is idle: an idle one is neither paused nor resumed."""
        if idle:
            self._idle_splits.add(split)
        elif split in self._idle_splits:
            self._idle_splits.discard(split)
            self._pause_if_over(split)

    def split_finished(self, split: str) -> None:
        """Forget a split that has come to its end."""
        self._splits.pop(split, None)
        self._idle_splits.discard(split)

    def max_allowed(self, watermark_ms: int) -> None:
        """Take in an announcement of the coordinator."""
        self._max_allowed_ms = watermark_ms
        self._check()
        self._check_splits()

    def sample(self) -> int | None:
        """Take a sample, as in every update interval; give what to report: nothing before the first watermark."""
        if self._is_finished:
            return MAX_MS
        for sampler in self._splits.values():
            sampler.sample()
        self._sampler.sample()
        self._check()
        self._check_splits()
        if self._sampler.latest_ms == MIN_MS:
            return None
        return MAX_MS if self.idle else self._sampler.latest_ms

    def finish(self) -> int:
        """Take in that the source has no more data: it reports MAX from now on, and has nothing to wait with."""
        self._is_finished = True
        for split in list(self._splits):
            self.split_finished(split)
        self._check()
        return MAX_MS

    def _check(self) -> None:
        over = not self._is_finished and self._is_too_far()
        if over == self.is_waiting:
            return
        self.is_waiting = over
        if over:
            self._out.paused()
        else:
            self._out.resumed()

    def _is_too_far(self) -> bool:
        return self._max_allowed_ms < self._sampler.oldest_ms

    def _pause_if_over(self, split: str) -> None:
        if self._is_over(split) and split not in self.paused_splits:
            self.paused_splits.add(split)
            self._out.splits_paused([split])

    def _check_splits(self) -> None:
        judged = [split for split in self._splits if split not in self._idle_splits]
        pause = [split for split in judged if self._is_over(split) and split not in self.paused_splits]
        resume = [split for split in judged if not self._is_over(split) and split in self.paused_splits]
        self.paused_splits.update(pause)
        self.paused_splits.difference_update(resume)
        if pause:
            self._out.splits_paused(pause)
        if resume:
            self._out.splits_resumed(resume)

    def _is_over(self, split: str) -> bool:
        sampler = self._splits.get(split)
        return sampler is not None and sampler.oldest_ms > self._max_allowed_ms
