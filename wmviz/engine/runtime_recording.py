"""Writing down what happens to a running job: what waits, checkpoints, alignment, crashes, restores, transactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from wmviz.engine.checkpoints import Checkpoint
from wmviz.engine.recording import Recorder, ResultsRecorder
from wmviz.engine.sinks import Transaction, TransactionalSink
from wmviz.engine.window_operator import Pane, PaneSnapshot
from wmviz.scenario import Scenario
from wmviz.times import MIN_MS
from wmviz.trace import (
    SUBJECT_OF,
    CheckpointOf,
    CheckpointPhase,
    Content,
    Kind,
    Snapshot,
    Status,
    TransactionPhase,
)

JOB = "job"
_RESET: dict[str, tuple[Kind, int]] = {
    "clock": (Kind.WATERMARK, MIN_MS),
    "status": (Kind.STATUS, Status.ACTIVE),
    "queue": (Kind.EMPTIED, 0),
    "gate": (Kind.BLOCKED, 0),
    "pressure": (Kind.BACKPRESSURED, 0),
    "reading": (Kind.PAUSED, 0),
}
"""What the end of the tasks makes of each subject: the kind of the row that says so, and the value."""
_OPENS = frozenset({Kind.ADDED, Kind.RELOADED})
_CLOSES = frozenset({Kind.CLEANED, Kind.GONE})


class RuntimeRecording(Recorder):
    """What a recorder knows beside the events and windows.

    Attributes
    ----------
    sinks
        A transactional sink for each window task, in order; empty for other sinks.
    """

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario)
        sources, tasks = scenario.subtasks, scenario.window_tasks
        self._job = sources + tasks
        self.trace.places.append(JOB)
        places = self.trace.places
        self.trace.channels = [
            f"{places[source]} → {places[sources + task]}" for task in range(tasks) for source in range(sources)
        ]
        numbers = count()
        self.sinks = [
            TransactionalSink(self, scenario.transaction_timeout_ms, numbers)
            for _ in range(tasks if scenario.sink == "transactional" else 0)
        ]
        self._written_in: dict[int, list[int]] = {}  # transaction → its rows WRITTEN
        self._waited: tuple[int, int, int] | None = None
        self._alive_since = 0

    def begins(self, at_ms: int) -> None:
        """Something begins at a time: what it changes is no part of the step before."""
        self.at_ms, self.cause, self._place = at_ms, -1, -1

    def delivered(self, place: int) -> None:
        """A window task takes an element, which may have waited in its channel."""
        super().delivered(place)
        if (sink := self.sink_of(place)) is not None:
            sink.advance(self.at_ms)
            self._sink = sink
        if self._waited is not None:
            channel, waiting, queued = self._waited
            self._waited = None
            self._row(Kind.TAKEN, channel, waiting, queued)

    def sink_of(self, place: int) -> TransactionalSink | None:
        """Give the transactional sink of a window task, if it has one."""
        return self.sinks[place - self._sources] if self.sinks else None

    # ------------------------------------------------- channels

    def channel(self, place: int, source: int) -> int:
        """Give the index of a channel."""
        return (place - self._sources) * self._sources + source

    def queued(self, channel: int, waiting: int, cause: int) -> int:
        """An element has to wait in a channel."""
        self._continue(channel % self._sources)
        return self._row(Kind.QUEUED, channel, waiting, cause)

    def waited(self, channel: int, waiting: int, queued: int) -> None:
        """The next element that is delivered has waited."""
        self._waited = channel, waiting, queued

    def barrier(self, place: int, channel: int, checkpoint_id: int, cause: int) -> None:
        """A window task takes a barrier."""
        self.cause = cause
        self.delivered(place)
        self.cause = self._row(Kind.BARRIER, channel, checkpoint_id, cause)

    def blocked(self, place: int, channel: int, checkpoint_id: int) -> None:
        """A channel waits for the barriers of the others, or goes on (0)."""
        if self._sources > 1:  # a single channel has nobody to wait for
            self._continue(place)
            self._row(Kind.BLOCKED, channel, checkpoint_id, self.cause)

    def backpressured(self, place: int, is_so: bool) -> None:
        """A source subtask cannot send, or can again."""
        self._continue(place)
        self._row(Kind.BACKPRESSURED, place, int(is_so), self.cause)

    # ------------------------------------------------- checkpoints

    def checkpoint(self, checkpoint: Checkpoint, phase: CheckpointPhase) -> None:
        """A checkpoint starts, is complete, or is given up."""
        known = CheckpointOf(checkpoint.id, checkpoint.savepoint)
        checkpoints = self.trace.checkpoints
        if phase is CheckpointPhase.STARTED:
            checkpoints.append(known)
        self._begin(self._job)
        self.cause = self._row(Kind.CHECKPOINT, checkpoints.index(known), phase, -1)
        if checkpoint.failed is not None:
            self._detail(self.cause, checkpoint.failed)

    def source_snapshot(self, place: int, checkpoint_id: int, offsets: Mapping[int, int], cause: int) -> int:
        """A source subtask takes its snapshot and sends the barrier."""
        self._begin(place)
        self.cause = self._snapshot(place, checkpoint_id, Snapshot(dict(offsets)), cause)
        return self.cause

    def window_snapshot(self, place: int, checkpoint_id: int, panes: Sequence[PaneSnapshot]) -> None:
        """A window task takes its snapshot."""
        self._continue(place)
        windows = sum(pane.is_open for pane in panes)
        events = sum(pane.length for pane in panes)
        self.cause = self._snapshot(place, checkpoint_id, Snapshot({}, windows, events), self.cause)

    def _snapshot(self, place: int, checkpoint_id: int, snapshot: Snapshot, cause: int) -> int:
        row = self._row(Kind.SNAPSHOT, place, checkpoint_id, cause)
        self._detail(row, snapshot)
        return row

    def _detail(self, row: int, more: Any) -> None:
        """Keep what more there is to say of a row, if it was written."""
        if row >= 0:
            self.trace.details[row] = more

    def stored(self, place: int, checkpoint_id: int, elements: Mapping[int, list[Any]]) -> None:
        """A window task hands in what was in its channels."""
        self._continue(place)
        row = self._row(Kind.STORED, place, checkpoint_id, self.cause)
        found = {self.channel(place, source): [element.row for element in each] for source, each in elements.items()}
        self._detail(row, found)

    # ------------------------------------------------- alignment

    def paused(self, place: int, split: int | None, is_so: bool) -> None:
        """Alignment lets a subtask, or one of its partitions, wait or go on."""
        clock = place if split is None else self._split_clocks[split]
        self._continue(place)
        self._row(Kind.PAUSED, clock, int(is_so), self.cause)

    def allowed(self, watermark_ms: int, which: int) -> None:
        """The coordinator of a source announces how far it may go."""
        self.cause = -1
        self._begin(self._job)
        self.cause = self._row(Kind.ALLOWED, which, watermark_ms, -1)

    # ------------------------------------------------- crash and restore

    def down(self, kind: Kind, until_ms: int, why: str) -> None:
        """The job crashes or stops: its tasks are gone with all that was in them."""
        self._begin(self._job)
        row = self.cause = self._row(kind, 0, until_ms, -1)
        if not self._observes_all:
            self._watermarks_ms = [MIN_MS] * len(self._watermarks_ms)
            return
        if why:
            self._detail(row, why)
        for subject, value in self._standing(row).items():
            what, reset = (Kind.GONE, 0) if subject[0] == "window" else _RESET[subject[0]]
            if value != reset or subject[0] == "window":
                self._row(what, subject[1], reset, row)
        self._watermarks_ms = [MIN_MS] * len(self._watermarks_ms)

    @property
    def _observes_all(self) -> bool:
        return self.observed == frozenset(Kind)

    def _standing(self, end: int) -> dict[tuple[str, int], int]:
        """Give what the tasks have at a row: values of clocks, channels and the like, and the windows with state."""
        trace, found = self.trace, dict[tuple[str, int], int]()
        for row in range(self._alive_since, end):
            kind, subject = trace.kind[row], trace.subject[row]
            what = SUBJECT_OF[kind]  # type: ignore[index]
            if what in _RESET:
                found[what, subject] = trace.value[row]
            elif kind in _OPENS:
                found["window", subject] = 1
            elif kind in _CLOSES:
                found.pop(("window", subject), None)
            elif kind == Kind.MERGED:
                found.pop(("window", trace.value[row]), None)
                found["window", subject] = 1
        self._alive_since = end
        return found

    def restored(self, checkpoint_id: int, changed: Scenario | None) -> None:
        """The job runs again, with the state of a checkpoint, or of none (0)."""
        if changed is not None:
            self.trace.settings.append((len(self.trace), changed))
        self._begin(self._job)
        self.cause = self._row(Kind.RESTORED, 0, checkpoint_id, -1)
        for sink in self.sinks:
            sink.advance(self.at_ms)

    def reloaded(self, place: int, panes: Sequence[PaneSnapshot]) -> None:
        """A window task has its windows again."""
        self._continue(place)
        for pane in panes:
            if not pane.is_open or not self._observes_all:
                continue
            value = pane.accumulator if pane.length else 0  # it may have been purged
            if pane.length and self._result is not None:
                value = self._result(value, pane.length)
            row = self._row(Kind.RELOADED, self._index_of(pane.key, pane.window), value, self.cause)
            self.trace.contents[row] = Content(pane.events, pane.length)

    def rewound(self, event: int) -> None:
        """What became of an event is undone."""
        self._row(Kind.REWOUND, event, 0, self.cause)

    def lost(self, event: int) -> None:
        """An event is lost."""
        self._row(Kind.LOST, event, 0, self.cause)

    # ------------------------------------------------- the sink

    def _written(self, index: int, value: int, firing: int) -> int:
        """The sink has taken a result; a transactional one keeps it from some readers."""
        row = super()._written(index, value, firing)
        if self.sinks and isinstance(self._sink, TransactionalSink):
            self._written_in[self._sink.current].append(row)
        return row

    def transaction(self, transaction: Transaction) -> None:
        """A transaction begins or goes on; told by the sink in the present step."""
        phase = transaction.phase
        if self._place < 0:
            self._begin(self._job)
        self._row(Kind.TRANSACTION, transaction.number, phase, self.cause)
        if phase is TransactionPhase.OPEN:
            self._written_in[transaction.number] = []
        elif phase is TransactionPhase.COMMITTED and self._observes_all:
            for written in self._written_in[transaction.number]:
                self._row(Kind.COMMITTED, self.trace.subject[written], self.trace.value[written], written)

    def committed_at_end(self, place: int) -> None:
        """The sink of a window task, if it is transactional, commits with the end of its input."""
        if (sink := self.sink_of(place)) is not None:
            self._continue(place)
            sink.end(self.at_ms)

    def timed_out(self) -> None:
        """The broker's clock has reached the timeout of a transaction."""
        for sink in self.sinks:
            sink.advance(self.at_ms)


class RunningResultsRecorder(RuntimeRecording, ResultsRecorder):
    """Writes the results of a running job only; a transactional sink is fed all the same, since it may fail the job."""

    observed = ResultsRecorder.observed

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario)
        self.record_delivered = self.delivered

    def fired(self, pane: Pane, value: int) -> None:
        """A window fires."""
        super().fired(pane, value)
        if self.sinks:
            self._written(self._index(pane), self._sink.write(pane.key, pane.window, value), -1)
