"""Writing the trace while the engine runs: every row, or the results only."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wmviz.engine.aggregates import AGGREGATES
from wmviz.engine.sinks import sink_of
from wmviz.engine.window_operator import Pane
from wmviz.scenario import Event, Scenario
from wmviz.times import MIN_MS
from wmviz.trace import Content, Kind, Trace, WindowOf
from wmviz.window import AnyWindow

SOURCE, WINDOW = range(2)
PLACES = ["source", "window"]  # the sink is chained to the window operator: one task
RESULTS = frozenset({Kind.FIRED, Kind.LATE, Kind.DROPPED, Kind.WATERMARK})
# Plain ints: looking an enum member up for every row would cost more than the row.
ARRIVED, WATERMARK, ADDED, FIRED, WRITTEN, ENDED = (
    int(kind) for kind in (Kind.ARRIVED, Kind.WATERMARK, Kind.ADDED, Kind.FIRED, Kind.WRITTEN, Kind.ENDED)
)


def _appender(trace: Trace) -> Callable[[int, int, int, int, int], int]:
    """Make the function that appends a row; a closure, since this is where a simulation spends its time."""
    rows = trace.kind
    columns = (rows.append, trace.subject.append, trace.value.append, trace.cause.append, trace.step.append)
    kind_append, subject_append, value_append, cause_append, step_append = columns

    def append(kind: int, subject: int, value: int, cause: int, step: int) -> int:
        kind_append(kind)
        subject_append(subject)
        value_append(value)
        cause_append(cause)
        step_append(step)
        return len(rows) - 1

    return append


def _step_appender(trace: Trace) -> Callable[[int, int], None]:
    """Make the function that appends a step."""
    place_append, at_append = trace.step_place.append, trace.step_at_ms.append

    def append(place: int, at_ms: int) -> None:
        place_append(place)
        at_append(at_ms)

    return append


class Recorder:
    """Writes every change into a trace; the window operator's output, and the sink behind it.

    Parameters
    ----------
    scenario
        What runs.
    """

    observed = frozenset(Kind)

    def __init__(self, scenario: Scenario) -> None:
        self.trace = Trace(scenario, observed=self.observed, places=list(PLACES))
        self.at_ms = MIN_MS
        self._sink = sink_of(scenario.sink)
        self._result = AGGREGATES[scenario.aggregate].result
        self._window_index: dict[tuple[str, AnyWindow], int] = {}
        self._step = -1
        self._cause = self._added = -1
        self._watermark_ms = self._written_ms = MIN_MS
        self._append = _appender(self.trace)
        self._append_step = _step_appender(self.trace)

    def _begin(self, place: int) -> None:
        """Begin a step: one element handled at one place."""
        self._step += 1
        self._append_step(place, self.at_ms)

    def _row(self, kind: int, subject: int, value: int, cause: int) -> int:
        """Append a row and give its number."""
        return self._append(kind, subject, value, cause, self._step)

    # ------------------------------------------------- told by the wiring

    def arrived(self, index: int, event: Event) -> None:
        """The source reads an event; the window operator's step for it follows."""
        self._begin(SOURCE)
        self._cause = self._row(ARRIVED, index, event.event_time_ms, -1)
        self._added = -1
        self._begin(WINDOW)

    def emitted(self, watermark_ms: int) -> None:
        """The source sends a watermark; the window operator's step for it follows."""
        self._begin(SOURCE)
        sent = self._row(WATERMARK, SOURCE, watermark_ms, self._cause)
        self._begin(WINDOW)
        self._cause = self._row(WATERMARK, WINDOW, watermark_ms, sent)
        self._watermark_ms, self._added = watermark_ms, -1

    def ticked(self) -> None:
        """A periodic tick: what it makes the generator send has no event as its cause."""
        self._cause = -1

    def clock_moved(self) -> None:
        """The machine's clock reaches a processing-time timer."""
        self._cause = self._added = -1
        self._begin(WINDOW)

    def ended(self) -> None:
        """The input ends."""
        self._begin(SOURCE)
        self._cause = self._row(ENDED, SOURCE, 0, -1)

    # ------------------------------------------------- WindowOutput

    def added(self, pane: Pane, event: int) -> None:
        """A window takes in an event."""
        self._added = self._row(ADDED, self._index(pane), self._running(pane), self._cause)

    def fired(self, pane: Pane, value: int) -> None:
        """A window fires, and the sink takes the result."""
        index = self._index(pane)
        row = self._row(FIRED, index, value, self._cause if self._added < 0 else self._added)
        self.trace.contents[row] = Content(pane.events, len(pane.events))
        self._row(WRITTEN, index, self._sink.write(pane.key, pane.window, value), row)

    def purged(self, pane: Pane) -> None:
        """A firing has emptied the window."""
        self._row(Kind.PURGED, self._index(pane), 0, self._cause)

    def cleaned(self, pane: Pane) -> None:
        """The window's state is deleted."""
        self._row(Kind.CLEANED, self._index(pane), 0, self._cause)

    def missed(self, event: int, key: str, windows: Sequence[AnyWindow]) -> None:
        """An event is too late for some of its windows."""
        for window in windows:
            self._row(Kind.MISSED, event, self._index_of(key, window), self._cause)

    def late(self, event: int) -> None:
        """An event goes to the side output."""
        self._row(Kind.LATE, event, self._watermark_ms, self._cause)

    def dropped(self, event: int) -> None:
        """An event is dropped and counted."""
        self._row(Kind.DROPPED, event, self._watermark_ms, self._cause)

    def no_window(self, event: int) -> None:
        """An event is in no window."""
        self._row(Kind.NO_WINDOW, event, 0, self._cause)

    def watermark(self, watermark_ms: int) -> None:
        """The watermark goes downstream; nothing behind the window operator keeps time."""

    def _running(self, pane: Pane) -> int:
        result = self._result
        return pane.accumulator if result is None else result(pane.accumulator, len(pane.events))

    def _index(self, pane: Pane) -> int:
        return self._index_of(pane.key, pane.window)

    def _index_of(self, key: str, window: AnyWindow) -> int:
        index = self._window_index.get((key, window))
        if index is None:
            index = self._window_index[key, window] = len(self.trace.windows)
            self.trace.windows.append(WindowOf(key, window))
        return index


class ResultsRecorder(Recorder):
    """Writes firings, late and dropped events only, each with the watermark that it met."""

    observed = RESULTS

    def arrived(self, index: int, event: Event) -> None:
        """Nothing is written."""

    def emitted(self, watermark_ms: int) -> None:
        """Remember the watermark; it is written with the next result."""
        self._watermark_ms = watermark_ms

    def clock_moved(self) -> None:
        """Nothing is written."""

    def ended(self) -> None:
        """Nothing is written."""

    def added(self, pane: Pane, event: int) -> None:
        """Nothing is written."""

    def fired(self, pane: Pane, value: int) -> None:
        """A window fires."""
        self._begin_result()
        row = self._row(FIRED, self._index(pane), value, -1)
        self.trace.contents[row] = Content(pane.events, len(pane.events))

    def purged(self, pane: Pane) -> None:
        """Nothing is written."""

    def cleaned(self, pane: Pane) -> None:
        """Nothing is written."""

    def missed(self, event: int, key: str, windows: Sequence[AnyWindow]) -> None:
        """Nothing is written."""

    def late(self, event: int) -> None:
        """An event goes to the side output."""
        self._begin_result()
        super().late(event)

    def dropped(self, event: int) -> None:
        """An event is dropped and counted."""
        self._begin_result()
        super().dropped(event)

    def no_window(self, event: int) -> None:
        """Nothing is written."""

    def _begin_result(self) -> None:
        self._begin(WINDOW)
        if self._watermark_ms != self._written_ms:
            self._row(WATERMARK, WINDOW, self._watermark_ms, -1)
            self._written_ms = self._watermark_ms
