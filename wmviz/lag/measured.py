"""Events in order of arrival, and the newest event time seen so far, as Flink's generators see it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from heapq import heapify, heapreplace

import numpy as np
import pandas as pd

from wmviz.lag.reading import Flags, Longs

NONE_MS = -(2**62)
"""Stands for no event so far, far from overflow."""


@dataclass(frozen=True, eq=False)
class Measured:
    """Events in order of arrival, as columns.

    Attributes
    ----------
    event_ms, arrival_ms
        When each happened and when it arrived.
    partition, key
        The number of its partition and of its key, from 0; all 0 where there is none.
    partitions, keys
        Their names.
    row
        Where each stands in the table.
    generator, generators
        The number of the watermark generator that sees each event, from 0, and how many there are: the watermark is the
        minimum over them. One for each partition if the strategy is on the source; if it comes after it, one for each
        subtask.
    """

    event_ms: Longs
    arrival_ms: Longs
    partition: Longs
    key: Longs
    partitions: tuple[str, ...]
    keys: tuple[str, ...]
    row: Longs
    generator: Longs
    generators: int

    def __len__(self) -> int:
        """Return the number of events."""
        return len(self.event_ms)

    @cached_property
    def lag_ms(self) -> Longs:
        """Arrival time minus event time."""
        return self.arrival_ms - self.event_ms

    @cached_property
    def newest_ms(self) -> Longs:
        """The newest event time once each event has come, over all partitions."""
        return np.maximum.accumulate(self.event_ms)

    @cached_property
    def newest_of_partition_ms(self) -> Longs:
        """The newest event time of its own partition once each event has come."""
        return self._newest_of(self.partition)

    @cached_property
    def clock_ms(self) -> Longs:
        """What the watermark goes by once each event has come: the watermark is this − bound − 1 ms.

        BoundedOutOfOrdernessWatermarks (2.3.0); over partitions the minimum (WatermarkOutputMultiplexer), and over
        subtasks too (StatusWatermarkValve).
        """
        return self._lowest_ms() if self.generators > 1 else self.newest_ms

    @cached_property
    def behind_ms(self) -> Longs:
        """How far each event is behind the newest one before it, over all partitions; 0 if it is not."""
        return _behind(before(self.newest_ms), self.event_ms)

    @cached_property
    def behind_in_partition_ms(self) -> Longs:
        """How far each event is behind the newest one before it on its own partition; 0 if it is not."""
        return self.newest_of_partition_ms - self.event_ms

    @cached_property
    def gap_ms(self) -> Longs:
        """How long its partition was silent before each event; 0 for the first one."""
        return pd.Series(self.arrival_ms).groupby(self.partition).diff().fillna(0).to_numpy(dtype=np.int64)

    def only(self, wanted: Flags) -> Measured:
        """Give the events for which `wanted` is true."""
        columns = ("event_ms", "arrival_ms", "partition", "key", "row", "generator")
        return replace(self, **{name: getattr(self, name)[wanted] for name in columns})

    def merged(self) -> Measured:
        """Give the same events, all seen by one generator."""
        return replace(self, generator=np.zeros(len(self), dtype=np.int64), generators=1)

    def _newest_of(self, group: Longs) -> Longs:
        return pd.Series(self.event_ms).groupby(group).cummax().to_numpy(dtype=np.int64)

    def _lowest_ms(self) -> Longs:
        """Give the minimum over the newest event times of the generators; none while one of them has seen nothing.

        Only events that are the newest of their generator can move it; a heap has the minimum.
        """
        newest = self._newest_of(self.generator)
        own_before = pd.Series(newest).groupby(self.generator).shift(fill_value=NONE_MS).to_numpy()
        raising = np.flatnonzero(newest > own_before)
        lowest = np.full(len(self), NONE_MS, dtype=np.int64)
        of: dict[int, int] = {}
        heap: list[tuple[int, int]] = []
        steps = zip(raising.tolist(), self.generator[raising].tolist(), newest[raising].tolist(), strict=True)
        for place, number, newest_ms in steps:
            of[number] = newest_ms
            if len(of) < self.generators:
                continue
            if not heap:
                heap = [(ms, one) for one, ms in of.items()]
                heapify(heap)
            while heap[0][0] < of[heap[0][1]]:
                heapreplace(heap, (of[heap[0][1]], heap[0][1]))
            lowest[place] = heap[0][0]
        return np.maximum.accumulate(lowest)


def before(clock_ms: Longs) -> Longs:
    """Give what stood before each event: an event meets the watermark of those before it."""
    return np.concatenate([[NONE_MS], clock_ms[:-1]]).astype(np.int64)


def _behind(newest_before_ms: Longs, event_ms: Longs) -> Longs:
    return np.maximum(newest_before_ms - event_ms, 0)
