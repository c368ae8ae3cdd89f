"""What in the data no bound can mend: clocks that are wrong, inputs that fall silent, too few windows to judge by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import median_low

import numpy as np
import pandas as pd

from wmviz.lag.bounds import Bounds
from wmviz.lag.measured import Measured
from wmviz.lag.reading import Flags
from wmviz.times import duration_text, time_text

_FLOOR = 0.05
_FEW_WINDOWS = 10
_LEAST_EVENTS = 20
_MOST_NAMED = 3


def from_the_future(measured: Measured, ahead_ms: int) -> Flags:
    """Say which events claim to have happened more than `ahead_ms` after they arrived."""
    return measured.event_ms - measured.arrival_ms > ahead_ms


def future_warning(measured: Measured, future: Flags, as_is: Bounds, bound_ms: int) -> str:
    """Say what events from the future do to the newest event time, and to those that come after them."""
    ahead_ms = measured.event_ms - measured.arrival_ms
    worst = int(np.argmax(ahead_ms))
    late = len(measured) - as_is.on_time(bound_ms)
    many = "1 event is" if future.sum() == 1 else f"{int(future.sum()):,} events are"
    return (
        f"{many} dated into the future, the worst (row {measured.row[worst]}) by {rough(int(ahead_ms[worst]))}: it "
        f"lifts the newest event time to {time_text(int(measured.event_ms[worst]))}, and the watermark never goes "
        f"back. As the data are, {late:,} events are late with this bound. No bound mends that: correct or drop such "
        "timestamps before the strategy. They are left out of the advice."
    )


def skews(measured: Measured) -> Iterator[str]:
    """Name partitions whose quickest events are much slower, or quicker, than those of the others."""
    frame = pd.DataFrame({"partition": measured.partition, "lag_ms": measured.lag_ms})
    by_partition = frame.groupby("partition")["lag_ms"]
    many = by_partition.size() >= _LEAST_EVENTS
    floors = by_partition.quantile(_FLOOR)[many]
    if len(floors) < 2:
        return
    usual_ms = median_low(floors)
    spread_ms = (by_partition.median()[many] - floors).median()
    for number, floor_ms in floors.items():
        off_ms = int(floor_ms - usual_ms)
        if abs(off_ms) > max(1_000, 3 * spread_ms):
            what = "later" if off_ms > 0 else "earlier"
            why = "its clock is behind, or it is read with a delay" if off_ms > 0 else "its clock is ahead"
            yield (
                f"Partition {measured.partitions[int(str(number))]} is off by {rough(abs(off_ms))}: even its quickest "
                f"events arrive so much {what} than those of the others; {why}."
            )


def early(measured: Measured, ahead_ms: int) -> Iterator[str]:
    """Say how many events arrive before they happened, though by little."""
    lag_ms = measured.lag_ms
    some = (lag_ms < 0) & (lag_ms >= -ahead_ms)
    if some.any():
        many = "1 event arrives before it" if some.sum() == 1 else f"{int(some.sum()):,} events arrive before they"
        yield (
            f"{many} happened, by up to {rough(int(-lag_ms[some].min()))}: clocks differ. "
            "Each such event makes the others look that much more out of order."
        )


def silences(measured: Measured, idle_timeout_ms: int | None) -> Iterator[str]:
    """Name partitions that are silent for longer than the idle timeout, and what their next events risk."""
    gap_ms = measured.gap_ms
    if idle_timeout_ms is None:
        return
    trips = gap_ms > idle_timeout_ms
    behind = trips & (measured.behind_ms > 0)
    for number in sorted(set(measured.partition[trips].tolist()))[:_MOST_NAMED]:
        mine = trips & (measured.partition == number)
        times = "once" if mine.sum() == 1 else f"{int(mine.sum()):,} times"
        name = f"Partition {measured.partitions[number]}" if len(measured.partitions) > 1 else "The stream"
        yield (
            f"{name} is silent for longer than the idle timeout of {duration_text(idle_timeout_ms)} {times}, at most "
            f"for {rough(int(gap_ms[mine].max()))}: it is marked idle, and the others go on without it."
        )
    if behind.any():
        many = "1 event ends" if behind.sum() == 1 else f"{int(behind.sum()):,} events end"
        yield (
            f"{many} such a silence behind the newest event, by up to {rough(int(measured.behind_ms[behind].max()))}: "
            "there the timeout puts events at risk. The curve does not model it."
        )


def holding(measured: Measured, bounds: Bounds, bound_ms: int) -> Iterator[str]:
    """Name the partition that holds the watermark back for long, if the watermark is the minimum over partitions."""
    if measured.generators < 2:
        return
    gap_ms = measured.gap_ms
    worst = int(np.argmax(gap_ms))
    if gap_ms[worst] > max(bound_ms, bounds.window_ms // 10, 1_000):
        yield (
            f"Partition {measured.partitions[measured.partition[worst]]} is silent for {rough(int(gap_ms[worst]))}. "
            "Without an idle timeout, the watermark of the whole source stands still meanwhile."
        )


def never(measured: Measured) -> Iterator[str]:
    """Say if the watermark waits for partitions or subtasks that have no events at all."""
    silent = measured.generators - len(np.unique(measured.generator))
    if silent:
        which = "1 partition or subtask sends" if silent == 1 else f"{silent:,} partitions or subtasks send"
        yield f"{which} nothing: without an idle timeout no window ever fires, whatever the bound."


def small(bounds: Bounds, goal: float) -> Iterator[str]:
    """Say if there are too few windows or events for the goal."""
    events, windows = len(bounds.measured), bounds.windows
    if windows < _FEW_WINDOWS:
        few = "There is 1 window" if windows == 1 else f"There are {windows} windows"
        yield (
            f"{few} only, and only events near a window's end can be late: measure more windows, or take the bound "
            "from the quantiles of being out of order."
        )
    if events * (1 - goal) < 10 and goal < 1:
        yield (
            f"The goal lets {events * (1 - goal):.1f} of {events:,} events be late: too few to tell. Measure at least "
            f"{round(10 / (1 - goal)):,} events."
        )


def unsteady(least_ms: Mapping[str, int]) -> Iterator[str]:
    """Say if one half of the data needs a much larger bound than the other."""
    if least_ms and max(least_ms.values()) > 2 * min(least_ms.values()) + 1_000:
        parts = " and ".join(f"{rough(ms) if ms else '0'} in the {what}" for what, ms in least_ms.items())
        yield f"The bound that reaches the goal is not steady: it is {parts}. Measure longer, and look at the curve."


def rough(ms: int) -> str:
    """Write a length of time as precisely as a reader needs."""
    grain_ms = next(
        grain
        for below, grain in ((10_000, 1), (3_600_000, 1_000), (86_400_000, 60_000), (2**63, 3_600_000))
        if ms < below
    )
    return duration_text(ms // grain_ms * grain_ms)
