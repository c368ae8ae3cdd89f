"""What charts ask of a trace beyond its tables: the fate of every event, and few enough moments to draw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from math import ceil
from typing import TypeVar

from wmviz.stage.marks import FATE_OF, Look
from wmviz.times import MIN_MS
from wmviz.trace import Kind, Trace, TraceError

_Item = TypeVar("_Item")


def holding(kinds: Collection[Kind], trace: Trace, taker: str) -> Trace:
    """Give the trace back if it holds these kinds of rows.

    Raises
    ------
    TraceError
        If it holds results only, or if Flink does not report them.
    """
    if trace.observed.issuperset(kinds):
        return trace
    what = "holds results only" if trace.engine == "wmviz" else f"has what {trace.engine} reports, which is less"
    way = 'simulate with trace="full"' if trace.engine == "wmviz" else "give the scenario"
    raise TraceError(f"charts.{taker} needs more rows than this trace has: it {what}; {way}")


def event_looks(trace: Trace) -> list[Look]:
    """Give the fate of each event at the end; in flight is what has none that was observed.

    An event is late but counted if a window took it when the watermark had reached the window's last millisecond.
    """
    looks = [Look.IN_FLIGHT] * len(trace.scenario.events)
    full = Kind.ADDED in trace.observed
    by_event_time = trace.scenario.window.time == "event"
    clocks_ms = [MIN_MS] * max(len(trace.clocks), 1)

    def count(event: int, window: int, watermark_ms: int) -> None:
        late = by_event_time and watermark_ms >= trace.windows[window].window.max_timestamp_ms
        if looks[event] != Look.LATE_COUNTED:  # late in one of its windows is late
            looks[event] = Look.LATE_COUNTED if late else Look.ON_TIME

    for row, kind in enumerate(trace.kind):
        if kind == Kind.WATERMARK:
            clocks_ms[trace.subject[row]] = trace.value[row]
        elif kind == Kind.ADDED:
            count(trace.event_of(row), trace.subject[row], clocks_ms[trace.step_place[trace.step[row]]])
        elif kind in FATE_OF:
            looks[trace.subject[row]] = FATE_OF[Kind(kind)]
        elif kind == Kind.FIRED and not full:
            for event in trace.firing_events(row):
                met_ms = trace.seen_watermarks.get(trace.scenario.events[event].id, MIN_MS)
                count(event, trace.subject[row], met_ms)
    return looks


def thinned(items: Sequence[_Item], most: int) -> list[_Item]:
    """Give at most so many of some items, evenly spread, the last one among them."""
    if len(items) <= most:
        return list(items)
    return [items[(number + 1) * len(items) // most - 1] for number in range(most)]


def quantile(ordered: Sequence[int], share: float) -> int:
    """Give the smallest value that at least this share of the ordered values does not exceed."""
    return ordered[max(0, ceil(share * len(ordered)) - 1)]


def unique(labels: Iterable[str]) -> list[str]:
    """Make labels differ: on the night when clocks go back, two windows have the same. A repeat gets ``#2``."""
    taken: Counter[str] = Counter()
    found = []
    for label in labels:
        taken[label] += 1
        found.append(label if taken[label] == 1 else f"{label} #{taken[label]}")
    return found
