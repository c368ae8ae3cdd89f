"""Sentences for what happens to a running job: checkpoints, channels, alignment, crash and restore, transactions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from wmviz.scenario import Event
from wmviz.times import MAX_MS, duration_text
from wmviz.trace import CheckpointOf, CheckpointPhase, Kind, Record, Snapshot, Trace, TransactionPhase, WindowOf
from wmviz.window import AnyWindow


class Words(Protocol):
    """Words for the things of one trace."""

    trace: Trace

    def time(self, ms: int) -> str:
        """A point in time."""

    def value(self, value: int) -> str:
        """A value with its unit."""

    def window(self, window: AnyWindow) -> str:
        """A window as [start, end)."""

    def place(self, name: str) -> str:
        """A task or partition in the middle of a sentence."""


_RESETS = {
    Kind.STATUS: "it counts as active",
    Kind.BLOCKED: "nothing blocks it",
    Kind.BACKPRESSURED: "no channel of it is full",
    Kind.PAUSED: "alignment does not hold it back",
}
"""What it means that a task is gone, beside what has a sentence that says so itself."""


def is_reset(trace: Trace, record: Record) -> bool:
    """Say whether a row is there only because the job went down."""
    by_job = record.cause is not None and trace.kind[record.cause] in (Kind.CRASHED, Kind.STOPPED)
    return by_job and record.kind in _RESETS


def reset_sentence(words: Words, record: Record) -> str:
    """Say what the end of its task makes of a place, partition or channel."""
    name = str(record.subject)
    who = f"channel {name}" if "→" in name else words.place(name)
    return f"{capital(who)} is back at the start with its task: {_RESETS[record.kind]}."


_FAILURES = {
    "CHECKPOINT_SUBSUMED": "a later one is complete",
    "CHECKPOINT_EXPIRED": "it took longer than its timeout",
    "CHECKPOINT_COORDINATOR_SUSPEND": "the job goes down",
    "CHECKPOINT_DECLINED_SUBSUMED": "the barrier of a later one came first",
    "CHECKPOINT_DECLINED_INPUT_END_OF_STREAM": "an input has ended",
    "CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER": "a task upstream gave it up",
}
"""CheckpointFailureReason → why."""


def _checkpoint(words: Words, record: Record) -> str:
    name = capital(_of_checkpoint(record.subject))
    if record.value == CheckpointPhase.STARTED:
        return f"{name} starts: the sources are told to send its barrier."
    if record.value == CheckpointPhase.COMPLETED:
        return f"{name} is complete: every task has handed in its snapshot{_use(words, record)}."
    why = words.trace.details.get(record.row, "")
    return f"{name} is given up: {_FAILURES.get(why, why)}."


def _use(words: Words, record: Record) -> str:
    is_savepoint = isinstance(record.subject, CheckpointOf) and record.subject.savepoint
    sink = ", and the sink may commit" if words.trace.scenario.sink == "transactional" and not is_savepoint else ""
    return sink if is_savepoint else f", so a restart would go on from here{sink}"


def _of_checkpoint(subject: Any) -> str:
    return f"{'savepoint' if subject.savepoint else 'checkpoint'} {subject.id}"


def _snapshot(words: Words, record: Record) -> str:
    who, held = capital(words.place(str(record.subject))), words.trace.details.get(record.row)
    if isinstance(held, Snapshot) and str(record.subject).startswith("source"):
        offsets = ", ".join(f"{count} of partition {partition}" for partition, count in sorted(held.offsets.items()))
        read = offsets or "nothing: it has no partition"
        return f"{who} stores how much it has read ({read}) and sends barrier {record.value} behind it."
    if isinstance(held, Snapshot):
        state = f"{counted(held.windows, 'window')} with {counted(held.events, 'event')}" if held.windows else "none"
        return f"{who} takes its snapshot for checkpoint {record.value}: state of {state}, timers, and no watermark."
    return f"{who} takes its snapshot for checkpoint {record.value}."


def _barrier(words: Words, record: Record) -> str:
    source, task = str(record.subject).split(" → ")
    return f"Barrier {record.value} of {words.place(source)} is at {words.place(task)}."


def _stored(words: Words, record: Record) -> str:
    who, held = capital(words.place(str(record.subject))), words.trace.details.get(record.row) or {}
    waiting = sum(len(rows) for rows in held.values())
    what = f"{counted(waiting, 'element')} that waited in its channels" if waiting else "no element: none waited"
    return f"All barriers of checkpoint {record.value} are at {who[0].lower() + who[1:]}: it adds {what}."


def _blocked(words: Words, record: Record) -> str:
    source, task = str(record.subject).split(" → ")
    if record.value:
        return (
            f"{capital(words.place(task))} takes nothing more from {words.place(source)}, until barrier "
            f"{record.value} has come from the others: what follows belongs to the next checkpoint."
        )
    return f"{capital(words.place(task))} takes elements from {words.place(source)} again."


def _queued(words: Words, record: Record) -> str:
    source, task = str(record.subject).split(" → ")
    what = _element(words, record.cause)
    return f"{what} has to wait in front of {words.place(task)}: {counted(record.value, 'element')} from {source} now."


def _taken(words: Words, record: Record) -> str:
    cause = record.cause
    what = _element(words, None if cause is None else words.trace[cause].cause)
    task = str(record.subject).split(" → ")[1]
    left = f"{record.value} still wait" if record.value != 1 else "1 still waits"
    return f"{what} has waited; now {words.place(task)} takes it. {left} there." if cause is not None else what


def _element(words: Words, row: int | None) -> str:
    """Name what a row has sent."""
    if row is None:
        return "An element"
    kind, value = words.trace.kind[row], words.trace.value[row]
    if kind == Kind.ARRIVED:
        return words.trace.scenario.events[words.trace.subject[row]].id
    if kind == Kind.WATERMARK:
        return "Watermark MAX" if value == MAX_MS else f"Watermark {words.time(value)}"
    return f"Barrier {value}" if kind == Kind.SNAPSHOT else "A status"


def _emptied(words: Words, record: Record) -> str:
    return f"What waited from {str(record.subject).replace(' → ', ' to ')} is gone."


def _backpressured(words: Words, record: Record) -> str:
    who = words.place(str(record.subject))
    if record.value:
        return (
            f"Backpressure: a channel of {who} is full, so it reads nothing for now, and its clock of idleness stops."
        )
    return f"{capital(who)} can send again, and reads on."


def _paused(words: Words, record: Record) -> str:
    who = words.place(str(record.subject))
    if record.value:
        return f"{capital(who)} is too far ahead: watermark alignment lets it wait, and its clock of idleness stops."
    return f"The others have caught up: {who} reads again."


def _allowed(words: Words, record: Record) -> str:
    if record.value == MAX_MS:
        return "No source is held back: all are idle or at their end."
    alignment = words.trace.settings_at(record.row).alignment
    drift = f", the lowest one plus the drift of {duration_text(alignment.drift_ms)}" if alignment else ""
    return f"Sources may go up to watermark {words.time(record.value)}{drift}."


def _crashed(words: Words, record: Record) -> str:
    why = words.trace.details.get(record.row)
    because = f": {why}" if why else ""
    if record.value == MAX_MS:
        return f"The job fails again{because}. It would go on like this, so this run ends here."
    return f"The job crashes{because}. All state in its tasks is gone; it starts again at {words.time(record.value)}."


def _stopped(words: Words, record: Record) -> str:
    return f"The job stops with a savepoint, without a last watermark; it resumes at {words.time(record.value)}."


def _restored(words: Words, record: Record) -> str:
    back = "Every watermark is back at the start: a checkpoint holds none."
    changed = changes_at(words.trace, record.row)
    new = f" Changed: {changed}." if changed else ""
    if not record.value:
        return f"The job starts again from nothing, since no checkpoint was complete. {back}{new}"
    return f"The job runs again with the state of checkpoint {record.value}. {back}{new}"


def changes_at(trace: Trace, row: int) -> str:
    """Say with which changed settings a job resumes at a row; empty if with none."""
    after = next((settings for at, settings in trace.settings if at == row), None)
    return "" if after is None else _changes(trace.settings_at(row - 1), after)


def _changes(before: Any, after: Any) -> str:
    old, new = before.to_json(), after.to_json()
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return ", ".join(f"{name} {new.get(name, 'as by default')}" for name in names) or "nothing"


def _gone(words: Words, record: Record) -> str:
    return f"The state of {_pane(words, record)} is gone with its task."


def _reloaded(words: Words, record: Record) -> str:
    events = counted(words.trace.contents[record.row].size, "event")
    return f"{capital(_pane(words, record))} has its state again: {words.value(record.value)} from {events}."


def _pane(words: Words, record: Record) -> str:
    assert isinstance(record.subject, WindowOf)
    return f"{words.window(record.subject.window)} of {record.subject.key}"


def _rewound(words: Words, record: Record) -> str:
    name = _name(record)
    if words.trace.scenario.replay == "none":
        return f"{name} waits in a channel again, as it did at the checkpoint."
    return f"What became of {name} is undone, since the restored state does not have it: it is handled again."


def _lost(words: Words, record: Record) -> str:
    return f"{_name(record)} is lost: the checkpoint does not have it, and the source cannot give it again."


def _name(record: Record) -> str:
    assert isinstance(record.subject, Event)
    return record.subject.id


def _transaction(words: Words, record: Record) -> str:
    name = capital(str(record.subject))
    if record.value == TransactionPhase.PREPARED:
        return _prepared(words, record)
    return {
        TransactionPhase.OPEN: f"{name} of the sink begins; its results are for readers of uncommitted results only.",
        TransactionPhase.COMMITTED: f"{name} is committed: every reader sees its results.",
        TransactionPhase.ABORTED: f"{name} is aborted{_why_aborted(words, record)}: its results never count.",
        TransactionPhase.LOST: f"{name} is to be committed, but its timeout was over before: its results are lost, and "
        "no replay brings them back.",
    }[TransactionPhase(record.value)]


def _prepared(words: Words, record: Record) -> str:
    """Say what ends a transaction, and what commits it: a barrier, or the end of the input without checkpoints."""
    assert record.cause is not None
    if words.trace.kind[record.cause] != Kind.SNAPSHOT:
        return f"The end of the input ends {record.subject}: it is committed at once."
    checkpoint_id = words.trace.value[record.cause]
    if CheckpointOf(checkpoint_id, savepoint=True) in words.trace.checkpoints:
        return (
            f"The barrier of savepoint {checkpoint_id} ends {record.subject}: it is committed with the next checkpoint,"
            " or with the savepoint if the job stops with it."
        )
    return f"The barrier ends {record.subject}: it is committed when the checkpoint is complete."


def _why_aborted(words: Words, record: Record) -> str:
    cause = record.cause
    if cause is not None and words.trace.kind[cause] == Kind.RESTORED:
        return ", since the checkpoint does not have it" if words.trace.value[cause] else ", since no checkpoint has it"
    timeout_ms = words.trace.scenario.transaction_timeout_ms
    return "" if timeout_ms is None else f" by the broker, after {duration_text(timeout_ms)}"


def _committed(words: Words, record: Record) -> str:
    return f"Readers of committed results now find {words.value(record.value)} for {_pane(words, record)}."


RUNTIME_SENTENCES: dict[Kind, Callable[[Any, Record], str]] = {
    Kind.CHECKPOINT: _checkpoint,
    Kind.SNAPSHOT: _snapshot,
    Kind.BARRIER: _barrier,
    Kind.STORED: _stored,
    Kind.BLOCKED: _blocked,
    Kind.QUEUED: _queued,
    Kind.TAKEN: _taken,
    Kind.EMPTIED: _emptied,
    Kind.BACKPRESSURED: _backpressured,
    Kind.PAUSED: _paused,
    Kind.ALLOWED: _allowed,
    Kind.CRASHED: _crashed,
    Kind.STOPPED: _stopped,
    Kind.RESTORED: _restored,
    Kind.GONE: _gone,
    Kind.RELOADED: _reloaded,
    Kind.REWOUND: _rewound,
    Kind.LOST: _lost,
    Kind.TRANSACTION: _transaction,
    Kind.COMMITTED: _committed,
}


def capital(sentence: str) -> str:
    """Begin with a capital letter."""
    return sentence[0].upper() + sentence[1:]


def counted(number: int, noun: str) -> str:
    """Give a number with its noun, in the plural unless it is one."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
