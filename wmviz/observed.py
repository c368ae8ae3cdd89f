"""A trace made of what Flink reported, and of nothing else."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from wmviz.scenario import Scenario
from wmviz.times import MIN_MS
from wmviz.trace import Content, Kind, Trace, WindowOf
from wmviz.window import GLOBAL_WINDOW, AnyWindow, TimeWindow

OBSERVED = frozenset({Kind.ARRIVED, Kind.WATERMARK, Kind.FIRED, Kind.LATE, Kind.WRITTEN})
_PLACES = ["source", "window"]
_WINDOW = 1


class ObservedFiring(NamedTuple):
    """A firing as Flink reported it.

    Attributes
    ----------
    key
        The key.
    window
        (start, end) in ms, or None for the global window.
    value
        The result.
    event_ids
        The events in the window.
    watermark_ms
        The watermark that the window function saw.
    """

    key: str
    window: tuple[int, int] | None
    value: int
    event_ids: tuple[str, ...]
    watermark_ms: int


def observed_trace(
    scenario: Scenario,
    firings: Iterable[ObservedFiring],
    late: Iterable[str],
    dropped: int | None,
    seen: Mapping[str, int],
    engine: str = "Flink 2.3.0",
    recorded: bool = False,
    arrived_ms: Sequence[int] | None = None,
) -> Trace:
    """Put the reports of a Flink run into a trace, in the order of the replayed schedule.

    Parameters
    ----------
    firings
        In the order of each key; the order across keys says nothing.
    late
        Ids of the events in the side output.
    dropped
        numLateRecordsDropped, or None if it was not read.
    seen
        Event id → the watermark that the event met at the window operator.
    arrived_ms
        When each event was read; None: at its arrival.

    Notes
    -----
    Flink's reports carry no processing time. A firing is put behind the event that caused it: the newest one in it if
    that one met the same watermark (a late firing), otherwise the last one that met a lower watermark.
    """
    trace = Trace(scenario, engine, OBSERVED, recorded, places=list(_PLACES), reported_drops=dropped)
    trace.reported_seen = dict(seen)
    writer = _Writer(trace)
    late_ids = set(late)
    arrived_ms = arrived_ms or [event.arrival_time_ms for event in scenario.events]
    order = sorted(range(len(arrived_ms)), key=arrived_ms.__getitem__)
    turns = {index: turn for turn, index in enumerate(order)}
    clocks = list(accumulate((seen.get(scenario.events[index].id, MIN_MS) for index in order), max))
    by_event: dict[int, list[ObservedFiring]] = {}
    for firing in firings:
        events = [turns[trace.event_index(event)] for event in firing.event_ids]
        by_event.setdefault(_caused_by(events, clocks, firing.watermark_ms), []).append(firing)
    for firing in by_event.get(-1, ()):
        writer.fire(firing)
    for turn, index in enumerate(order):
        event = scenario.events[index]
        writer.at_ms = arrived_ms[index]
        if event.id in seen:
            writer.clock(seen[event.id])
            writer.row(Kind.ARRIVED, index, event.event_time_ms)
        if event.id in late_ids:
            writer.row(Kind.LATE, index, writer.watermark_ms)
        for firing in sorted(by_event.get(turn, ()), key=lambda firing: firing.watermark_ms):
            writer.clock(firing.watermark_ms)
            writer.fire(firing)
    return trace


def _caused_by(events: Sequence[int], clocks: list[int], watermark_ms: int) -> int:
    """Give the turn of the event behind which a firing belongs; `clocks` are the watermarks that the events met."""
    newest = max(events, default=-1)
    if newest >= 0 and clocks[newest] == watermark_ms:
        return newest
    return bisect_left(clocks, watermark_ms) - 1


class _Writer:
    """Appends rows to the trace, each a step of its own at the window operator."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._windows: dict[WindowOf, int] = {}
        self.at_ms = trace.scenario.grid_start_ms
        self.watermark_ms = MIN_MS

    def row(self, kind: Kind, subject: int, value: int, cause: int = -1) -> int:
        """Append a row."""
        trace = self._trace
        trace.step_place.append(_WINDOW)
        trace.step_at_ms.append(self.at_ms)
        trace.kind.append(kind)
        trace.subject.append(subject)
        trace.value.append(value)
        trace.cause.append(cause)
        trace.step.append(len(trace.step_at_ms) - 1)
        return len(trace.kind) - 1

    def clock(self, watermark_ms: int) -> None:
        """Append a row if the operator's watermark is seen to have risen."""
        if watermark_ms > self.watermark_ms:
            self.watermark_ms = watermark_ms
            self.row(Kind.WATERMARK, _WINDOW, watermark_ms)

    def fire(self, firing: ObservedFiring) -> None:
        """Append a firing and the sink's row for it."""
        trace = self._trace
        window: AnyWindow = GLOBAL_WINDOW if firing.window is None else TimeWindow(*firing.window)
        subject = WindowOf(firing.key, window)
        if subject not in self._windows:
            self._windows[subject] = len(trace.windows)
            trace.windows.append(subject)
        index = self._windows[subject]
        fired = self.row(Kind.FIRED, index, firing.value)
        events = [trace.event_index(event) for event in firing.event_ids]
        trace.contents[fired] = Content(events, len(events))
        self.row(Kind.WRITTEN, index, firing.value, fired)
