"""What stands in the channels and tasks of a running job: what waits, barriers, checkpoints, crash and restore.

Everything is a list of changes, each with the step from which on it stands; the last one up to the playhead counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wmviz.explain_runtime import changes_at
from wmviz.times import MAX_MS, time_text
from wmviz.trace import CheckpointPhase, Kind, Snapshot, Trace, TransactionPhase

MOST_WAITING = 12
"""Elements of a queue that are drawn; the oldest ones."""
MOST_OFFSETS = 4
"""Partitions whose offsets are listed in the line about a snapshot."""
MOST_TRAVELS = 2_000
"""Rows of a run in which the way of each element through the channels is drawn; in longer ones only what waits is."""
_SENT = frozenset({Kind.ARRIVED, Kind.WATERMARK, Kind.STATUS, Kind.SNAPSHOT})
_TRANSACTIONS = {
    TransactionPhase.OPEN: "open",
    TransactionPhase.PREPARED: "prepared",
    TransactionPhase.COMMITTED: "committed",
    TransactionPhase.ABORTED: "aborted",
    TransactionPhase.LOST: "lost",
}

Changes = list[list[Any]]


class Running:
    """One pass over the rows of a running job.

    Parameters
    ----------
    trace
        A full trace.

    Attributes
    ----------
    queues
        Channel → [step, number that waits, element, element, …]; see `_element`.
    blocked
        Channel → [step, checkpoint, or 0].
    travels
        Channel → [first step, end step, element]: on its way, before a task takes it or it has to wait.
    notes
        Place → [step, line, line, …]: its snapshot, backpressure, alignment.
    paused
        Clock → [step, 1 or 0].
    job
        [step, whether it is down, what is said of it].
    checkpoint
        [step, line, line, …]: the latest checkpoints.
    transactions
        [step, line, line, …]: of the sink.
    allowed
        [step, watermark in ms]: how far watermark alignment lets sources go.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.queues: dict[int, Changes] = {}
        self.blocked: dict[int, Changes] = {}
        self.travels: dict[int, Changes] = {}
        self.notes: dict[int, Changes] = {}
        self.paused: dict[int, Changes] = {}
        self.job: Changes = []
        self.checkpoint: Changes = []
        self.transactions: Changes = []
        self.allowed: list[tuple[int, int]] = []
        self._channel_of = {name: index for index, name in enumerate(trace.channels or self._names())}
        self._waiting: dict[int, list[int]] = {}
        self._said: dict[int, dict[str, str]] = {}
        self._latest = ""
        self._pending: dict[int, list[str]] = {}
        self._phases: dict[int, int] = {}
        self._results: dict[int, int] = {}
        self._open: dict[int, int] = {}
        self._travelled: set[tuple[int, int]] = set()
        draws_travels = len(trace) <= MOST_TRAVELS
        for row, kind in enumerate(trace.kind):
            act = _ACTS.get(kind)
            if act is not None:
                act(self, row, trace.step[row], trace.subject[row], trace.value[row])
            if draws_travels:
                self._travel(row)

    def _names(self) -> list[str]:
        places = self.trace.places
        sources, tasks = ([name for name in places if name.startswith(role)] for role in ("source", "window"))
        return [f"{source} → {task}" for task in tasks for source in sources]

    def _element(self, row: int) -> str:
        """Name what a row has sent: ``e`` and the index of an event, ``w`` and a watermark, ``b`` checkpoint@row."""
        kind, value = self.trace.kind[row], self.trace.value[row]
        if kind == Kind.ARRIVED:
            return f"e{self.trace.subject[row]}"
        if kind == Kind.WATERMARK:
            return f"w{time_text(value, self.trace.scenario.zone)}"
        return f"b{value}@{row}" if kind == Kind.SNAPSHOT else "s"

    # ---------------------------------------------------------------- channels

    def _travel(self, row: int) -> None:
        """A row at a window task, or in front of it, whose cause is at a source: an element has come through."""
        trace, sent = self.trace, self.trace.cause[row]
        if sent < 0 or trace.kind[sent] not in _SENT:
            return
        source = trace.step_place[trace.step[sent]]
        if trace.kind[row] == Kind.QUEUED:
            channel = trace.subject[row]
        else:
            place = trace.step_place[trace.step[row]]
            found = self._channel_of.get(f"{trace.places[source]} → {trace.places[place]}")
            if found is None:
                return
            channel = found
        if (sent, channel) in self._travelled:
            return
        self._travelled.add((sent, channel))
        if trace.step[row] > trace.step[sent]:
            self.travels.setdefault(channel, []).append([trace.step[sent], trace.step[row], self._element(sent)])

    def _queued(self, row: int, step: int, channel: int, _value: int) -> None:
        self._waiting.setdefault(channel, []).append(row)
        self._queue(step, channel)

    def _taken(self, row: int, step: int, channel: int, _value: int) -> None:
        waiting = self._waiting.get(channel, [])
        if self.trace.cause[row] in waiting:
            waiting.remove(self.trace.cause[row])
        self._queue(step, channel)

    def _emptied(self, _row: int, step: int, channel: int, _value: int) -> None:
        self._waiting.pop(channel, None)
        self._queue(step, channel)

    def _queue(self, step: int, channel: int) -> None:
        waiting = self._waiting.get(channel, [])
        elements = [self._element(self.trace.cause[row]) for row in waiting[:MOST_WAITING]]
        put(self.queues.setdefault(channel, []), [step, len(waiting), *elements])

    def _blocked(self, _row: int, step: int, channel: int, checkpoint: int) -> None:
        put(self.blocked.setdefault(channel, []), [step, checkpoint])

    # ------------------------------------------------------------------- tasks

    def _note(self, step: int, place: int, about: str, words: str) -> None:
        said = self._said.setdefault(place, {})
        said[about] = words
        put(self.notes.setdefault(place, []), [step, *filter(None, said.values())])

    def _snapshot(self, row: int, step: int, place: int, checkpoint: int) -> None:
        held = self.trace.details.get(row)
        what = ""
        if isinstance(held, Snapshot) and held.offsets:
            offsets = [str(offset) for _, offset in sorted(held.offsets.items())]
            what = f": read {', '.join(offsets[:MOST_OFFSETS])}{', …' if len(offsets) > MOST_OFFSETS else ''}"
        elif isinstance(held, Snapshot):
            what = f": {_counted(held.windows, 'window')}, {_counted(held.events, 'event')}"
        self._note(step, place, "snapshot", f"snapshot {checkpoint}{what}")
        for names in self._pending.values():
            names.append(self.trace.places[place])
        self._say_checkpoints(step)

    def _pressure(self, _row: int, step: int, place: int, value: int) -> None:
        self._note(step, place, "pressure", "backpressure: cannot send" if value else "")

    def _reading(self, _row: int, step: int, clock: int, value: int) -> None:
        put(self.paused.setdefault(clock, []), [step, value])

    def _allowed(self, _row: int, step: int, _source: int, value: int) -> None:
        if value < MAX_MS:
            self.allowed.append((step, value))

    # ------------------------------------------------------------- checkpoints

    def _checkpoint(self, _row: int, step: int, index: int, phase: int) -> None:
        name = self._name(index)
        if phase == CheckpointPhase.STARTED:
            self._pending[index] = []
        else:
            self._pending.pop(index, None)
            done = phase == CheckpointPhase.COMPLETED
            self._latest = f"{name} is {'complete' if done else 'given up'}"
        self._say_checkpoints(step)

    def _name(self, index: int) -> str:
        checkpoint = self.trace.checkpoints[index]
        return f"{'Savepoint' if checkpoint.savepoint else 'Checkpoint'} {checkpoint.id}"

    def _say_checkpoints(self, step: int) -> None:
        tasks = sum(1 for name in self.trace.places if name.startswith(("source", "window")))
        pending = [
            f"{self._name(index)} is under way: {len(names)} of {tasks} snapshots"
            for index, names in self._pending.items()
        ]
        put(self.checkpoint, [step, *filter(None, [self._latest]), *pending])

    # ----------------------------------------------------------------- the job

    def _down(self, row: int, step: int, _subject: int, value: int) -> None:
        what = "The job has crashed" if self.trace.kind[row] == Kind.CRASHED else "The job has stopped"
        self.job.append([step, 1, f"{what}; it starts again at {time_text(value, self.trace.scenario.zone)}."])
        self._pending.clear()
        self._say_checkpoints(step)
        for place in self._said:
            self._note(step, place, "snapshot", "")

    def _up(self, row: int, step: int, _subject: int, checkpoint: int) -> None:
        from_ = f"the state of checkpoint {checkpoint}" if checkpoint else "no state"
        changed = changes_at(self.trace, row)
        self.job.append([step, 0, f"Running again with {from_}{f'; changed: {changed}' if changed else ''}."])

    # ---------------------------------------------------------------- the sink

    def _transaction(self, _row: int, step: int, number: int, phase: int) -> None:
        self._phases[number] = phase
        if phase == TransactionPhase.OPEN:
            self._open[self.trace.step_place[step]] = number
        self._say_transactions(step)

    def _written(self, _row: int, step: int, _window: int, _value: int) -> None:
        number = self._open.get(self.trace.step_place[step])
        if number is not None:
            self._results[number] = self._results.get(number, 0) + 1
            self._say_transactions(step)

    def _say_transactions(self, step: int) -> None:
        lines = [
            f"transaction {number} {_TRANSACTIONS[TransactionPhase(phase)]}: {self._results.get(number, 0)}"
            for number, phase in list(self._phases.items())[-3:]
        ]
        put(self.transactions, [step, *lines])


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def put(changes: Changes, change: list[Any]) -> None:
    """Append a change [step, …]; one of the same step gives way, one that changes nothing is left out."""
    if changes and changes[-1][0] == change[0]:
        changes.pop()
    if not changes or changes[-1][1:] != change[1:]:
        changes.append(change)


_ACTS: dict[int, Callable[[Running, int, int, int, int], None]] = {
    Kind.QUEUED: Running._queued,
    Kind.TAKEN: Running._taken,
    Kind.EMPTIED: Running._emptied,
    Kind.BLOCKED: Running._blocked,
    Kind.SNAPSHOT: Running._snapshot,
    Kind.BACKPRESSURED: Running._pressure,
    Kind.PAUSED: Running._reading,
    Kind.ALLOWED: Running._allowed,
    Kind.CHECKPOINT: Running._checkpoint,
    Kind.CRASHED: Running._down,
    Kind.STOPPED: Running._down,
    Kind.RESTORED: Running._up,
    Kind.TRANSACTION: Running._transaction,
    Kind.WRITTEN: Running._written,
}
