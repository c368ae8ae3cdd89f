"""Writing the trace while the engine runs: every row, or the results only."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wmviz.engine.aggregates import AGGREGATES
from wmviz.engine.sinks import Sink, sink_of
from wmviz.engine.window_operator import Pane
from wmviz.scenario import Event, Scenario
from wmviz.times import MIN_MS
from wmviz.trace import Content, Kind, Status, Trace, WindowOf
from wmviz.window import AnyWindow

RESULTS = frozenset({Kind.FIRED, Kind.LATE, Kind.DROPPED, Kind.WATERMARK})
# Plain ints: looking an enum member up for every row would cost more than the row.
ARRIVED, WATERMARK, ADDED, FIRED, WRITTEN, STATUS = (
    int(kind) for kind in (Kind.ARRIVED, Kind.WATERMARK, Kind.ADDED, Kind.FIRED, Kind.WRITTEN, Kind.STATUS)
)

_KEPT = frozenset(map(int, RESULTS - {Kind.WATERMARK}))


def clock_names(scenario: Scenario) -> tuple[list[str], list[str]]:
    """Name the places of a job, and all that has a watermark of its own: places, partitions and channels.

    The sink is chained to the window operator: one task, one place. A partition has a watermark of its own where a
    subtask combines several; a channel where a window task does.
    """
    sources = _numbered("source", scenario.subtasks)
    windows = _numbered("window", scenario.window_tasks)
    channels = [f"{source} → {window}" for window in windows for source in sources] if len(sources) > 1 else []
    places = [*sources, *windows]
    return places, [*places, *map("partition {}".format, combined_partitions(scenario)), *channels]


def combined_partitions(scenario: Scenario) -> list[int]:
    """Give the partitions whose watermarks a subtask of the source combines."""
    if scenario.strategy_at == "after":
        return []
    dealt = (scenario.partitions_of(subtask) for subtask in range(scenario.subtasks))
    return sorted(partition for partitions in dealt if len(partitions) > 1 for partition in partitions)


def _numbered(name: str, count: int) -> list[str]:
    return [name] if count == 1 else [f"{name}[{number}]" for number in range(count)]


def _writer(trace: Trace) -> tuple[Callable[[int, int], None], Callable[[int, int, int, int], int]]:
    """Make the functions that append a step and a row; closures, since this is where a simulation spends its time."""
    step = row = -1
    columns = (trace.kind.append, trace.subject.append, trace.value.append, trace.cause.append, trace.step.append)
    kind_append, subject_append, value_append, cause_append, step_append = columns
    place_append, at_append = trace.step_place.append, trace.step_at_ms.append

    def begin(place: int, at_ms: int) -> None:
        nonlocal step
        step += 1
        place_append(place)
        at_append(at_ms)

    def append(kind: int, subject: int, value: int, cause: int) -> int:
        nonlocal row
        row += 1
        kind_append(kind)
        subject_append(subject)
        value_append(value)
        cause_append(cause)
        step_append(step)
        return row

    return begin, append


class Recorder:
    """Writes every change into a trace; the window operator's output, and the sink behind it.

    Parameters
    ----------
    scenario
        What runs.

    Attributes
    ----------
    at_ms
        Processing time, at first that of the start; moved by the wiring.
    cause
        The row that makes the next ones happen, or -1.
    arrived, record_delivered, added
        What is called for every event; None where there is nothing to write, since a call costs as much as a row.
    """

    observed = frozenset(Kind)

    def __init__(self, scenario: Scenario) -> None:
        places, clocks = clock_names(scenario)
        self.trace = Trace(scenario, observed=self.observed, places=places, clocks=clocks)
        self.at_ms = scenario.grid_start_ms
        self.cause = -1
        self._split_clocks = {split: len(places) + i for i, split in enumerate(combined_partitions(scenario))}
        self._first_channel = len(places) + len(self._split_clocks)
        self._sources = scenario.subtasks
        self._sink: Sink = sink_of(scenario.sink)
        self._result = AGGREGATES[scenario.aggregate].result
        self._window_index: dict[tuple[str, AnyWindow], int] = {}
        self._watermarks_ms = [MIN_MS] * len(places)
        self._written_ms = [MIN_MS] * len(places)
        self._place = self._added = -1
        self._append_step, self._row = _writer(self.trace)
        self.arrived: Callable[[int, int, Event], None] | None = self._arrived
        self.record_delivered: Callable[[int], None] | None = self.delivered
        self.added: Callable[[Pane, int], None] | None = self._write_added

    def _begin(self, place: int) -> None:
        """Begin a step: one element handled at one place."""
        self._place = place
        self._append_step(place, self.at_ms)

    def _continue(self, place: int) -> None:
        """Go on with the step of a place, or begin one: what a tick changes is one step, and no step if nothing."""
        if self._place != place:
            self._begin(place)

    # ------------------------------------------------- told by the source subtasks

    def _arrived(self, place: int, index: int, event: Event) -> None:
        """A source subtask reads an event."""
        self._place = place
        self._append_step(place, self.at_ms)
        self.cause = self._row(ARRIVED, index, event.event_time_ms, -1)

    def ticked(self) -> None:
        """A periodic tick: what it makes a generator emit has no event as its cause."""
        self.cause = self._place = -1

    def ended(self, place: int) -> None:
        """The input of a source subtask ends."""
        self._begin(place)
        self.cause = self._row(Kind.ENDED, place, 0, -1)

    def split_ended(self, place: int, split: int) -> None:
        """A split has come to its end."""
        if split in self._split_clocks:
            self._begin(place)
            self.cause = self._row(Kind.ENDED, self._split_clocks[split], 0, -1)

    def split_watermark(self, place: int, split: int, watermark_ms: int) -> None:
        """The watermark of a split rises; alone in its subtask it has no clock of its own."""
        if split not in self._split_clocks:
            return
        self._continue(place)
        self.cause = self._row(WATERMARK, self._split_clocks[split], watermark_ms, self.cause)

    def split_status(self, place: int, split: int, *, idle: bool) -> None:
        """A split becomes idle or active."""
        if split not in self._split_clocks:
            return
        self._continue(place)
        self.cause = self._row(STATUS, self._split_clocks[split], Status.IDLE if idle else Status.ACTIVE, self.cause)

    def sent(self, place: int, watermark_ms: int) -> int:
        """A source subtask sends a watermark."""
        self._continue(place)
        return self._row(WATERMARK, place, watermark_ms, self.cause)

    def sent_status(self, place: int, *, idle: bool) -> int:
        """A source subtask sends a status."""
        self._continue(place)
        return self._row(STATUS, place, Status.IDLE if idle else Status.ACTIVE, self.cause)

    # ------------------------------------------------- told by the window tasks

    def delivered(self, place: int) -> None:
        """A window task takes an element from a channel."""
        self._place = place
        self._append_step(place, self.at_ms)
        self._added = -1

    def clock_moved(self, place: int) -> None:
        """The machine's clock reaches a processing-time timer of a window task."""
        self.cause = -1
        self.delivered(place)

    def channel_watermark(self, place: int, channel: int, watermark_ms: int) -> None:
        """A channel of a window task has a new watermark."""
        self.cause = self._row(WATERMARK, self._channel(place, channel), watermark_ms, self.cause)

    def channel_status(self, place: int, channel: int, status: Status) -> None:
        """A channel of a window task has a new status."""
        self.cause = self._row(STATUS, self._channel(place, channel), status, self.cause)

    def _channel(self, place: int, channel: int) -> int:
        return self._first_channel + (place - self._sources) * self._sources + channel

    def advanced(self, place: int, watermark_ms: int) -> None:
        """The watermark of a window task rises."""
        self.cause = self._row(WATERMARK, place, watermark_ms, self.cause)
        self._watermarks_ms[place] = watermark_ms

    def task_status(self, place: int, *, idle: bool) -> None:
        """A window task becomes idle or active."""
        self.cause = self._row(STATUS, place, Status.IDLE if idle else Status.ACTIVE, self.cause)

    # ------------------------------------------------- WindowOutput

    def _write_added(self, pane: Pane, event: int) -> None:
        """A window takes in an event."""
        index = pane.index if pane.index >= 0 else self._index(pane)
        value = pane.accumulator if self._result is None else self._result(pane.accumulator, len(pane.events))
        self._added = self._row(ADDED, index, value, self.cause)

    def fired(self, pane: Pane, value: int) -> None:
        """A window fires, and the sink takes the result."""
        index = self._index(pane)
        row = self._row(FIRED, index, value, self.cause if self._added < 0 else self._added)
        self.trace.contents[row] = Content(pane.events, len(pane.events))
        self._written(index, self._sink.write(pane.key, pane.window, value), row)

    def _written(self, index: int, value: int, firing: int) -> int:
        """The sink has taken a result."""
        return self._row(WRITTEN, index, value, firing)

    def merged(self, pane: Pane, windows: Sequence[AnyWindow]) -> None:
        """Live sessions have become one; the pane has its new window."""
        index = self._index(pane)
        for window in windows:
            old = self._index_of(pane.key, window)
            if old != index:
                self._row(Kind.MERGED, index, old, self.cause)

    def purged(self, pane: Pane) -> None:
        """A firing has emptied the window."""
        self._row(Kind.PURGED, self._index(pane), 0, self.cause)

    def cleaned(self, pane: Pane) -> None:
        """The window's state is deleted."""
        self._row(Kind.CLEANED, self._index(pane), 0, self.cause)

    def missed(self, event: int, key: str, windows: Sequence[AnyWindow]) -> None:
        """An event is too late for some of its windows."""
        for window in windows:
            self._row(Kind.MISSED, event, self._index_of(key, window), self.cause)

    def late(self, event: int) -> None:
        """An event goes to the side output."""
        self._row(Kind.LATE, event, self._watermarks_ms[self._place], self.cause)

    def dropped(self, event: int) -> None:
        """An event is dropped and counted."""
        self._row(Kind.DROPPED, event, self._watermarks_ms[self._place], self.cause)

    def no_window(self, event: int) -> None:
        """An event is in no window."""
        self._row(Kind.NO_WINDOW, event, 0, self.cause)

    def watermark(self, watermark_ms: int) -> None:
        """The watermark goes downstream; nothing behind the window operator keeps time."""

    def _index(self, pane: Pane) -> int:
        if pane.index < 0:
            pane.index = self._index_of(pane.key, pane.window)
        return pane.index

    def _index_of(self, key: str, window: AnyWindow) -> int:
        index = self._window_index.get((key, window))
        if index is None:
            index = self._window_index[key, window] = len(self.trace.windows)
            self.trace.windows.append(WindowOf(key, window))
        return index


class ResultsRecorder(Recorder):
    """Writes firings, late and dropped events only, each with the watermark that it met."""

    observed = RESULTS

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario)
        self._append, self._row = self._row, self._result_row
        self.arrived = self.added = None
        if scenario.window_tasks == 1:  # every result is at the one place
            self._place, self.record_delivered = scenario.subtasks, None

    def delivered(self, place: int) -> None:
        """Remember the place: the next result is there."""
        self._place = place

    def sent(self, place: int, watermark_ms: int) -> int:
        """Nothing is written."""
        return -1

    def advanced(self, place: int, watermark_ms: int) -> None:
        """Remember the watermark: it is written with the next result."""
        self._watermarks_ms[place] = watermark_ms

    def fired(self, pane: Pane, value: int) -> None:
        """A window fires; the sink is not asked."""
        row = self._row(FIRED, self._index(pane), value, -1)
        self.trace.contents[row] = Content(pane.events, len(pane.events))

    def cleaned(self, pane: Pane) -> None:
        """Nothing is written."""

    def ticked(self) -> None:
        """Nothing is written."""

    def _begin(self, place: int) -> None:
        """Begin no step: only results are steps, and they are at window tasks."""

    def _result_row(self, kind: int, subject: int, value: int, cause: int) -> int:
        """Append a result as a step of its own, behind the watermark that it met if that is new."""
        if kind not in _KEPT:
            return -1
        place = self._place
        self._append_step(place, self.at_ms)
        if self._watermarks_ms[place] != self._written_ms[place]:
            self._written_ms[place] = self._watermarks_ms[place]
            self._append(WATERMARK, place, self._written_ms[place], -1)
        return self._append(kind, subject, value, -1)
