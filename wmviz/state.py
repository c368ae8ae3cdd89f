"""Everything that stands at one step of a trace: clocks, open windows, the sink's rows, and the ledger."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from operator import itemgetter
from typing import NamedTuple

from wmviz.times import MIN_MS
from wmviz.trace import CheckpointPhase, Kind, Status, Trace, TransactionPhase
from wmviz.window import AnyWindow

_FATE_COUNTS = ("in_flight", "counted", "side_output", "dropped", "in_no_window", "lost")
_FATE_OF: dict[int, str] = {
    Kind.ARRIVED: "in_flight",
    Kind.REWOUND: "in_flight",
    Kind.ADDED: "counted",
    Kind.LATE: "side_output",
    Kind.DROPPED: "dropped",
    Kind.NO_WINDOW: "in_no_window",
    Kind.LOST: "lost",
}


class OpenWindow(NamedTuple):
    """A window that has state at some step: its running result, the events in it, and how often it fired."""

    key: str
    window: AnyWindow
    value: int
    event_ids: tuple[str, ...]
    firings: int


@dataclass(frozen=True)
class Ledger:
    """Where every arrived event is at some step; `balances` says that each is in exactly one place.

    Attributes
    ----------
    arrived, in_flight, counted, side_output, dropped, in_no_window, lost
        Numbers of events; the first is the sum of the others. In flight are those in a channel, and those that a
        restored job has to read again.
    accepted, missed
        Pairs of an event and one of its windows: taken in, or silently passed over because that window was gone.

    Notes
    -----
    Lost means that the state of the job does not have the event and will not get it. With replay "none" and no
    checkpoint an upsert sink may still show a result that counts it, written before the crash; `seen` tells.
    """

    arrived: int
    in_flight: int
    counted: int
    side_output: int
    dropped: int
    in_no_window: int
    accepted: int
    missed: int
    lost: int
    count_seen: Callable[[], Mapping[int, int]] = field(repr=False, compare=False)

    @property
    def seen(self) -> Mapping[int, int]:
        """How often a reader of the sink sees each arrived event counted: times → number of events.

        Of a transactional sink the reader sees what is committed.
        """
        return self.count_seen()

    @property
    def balances(self) -> bool:
        """Whether every event is in exactly one place."""
        fates = [self.in_flight, self.counted, self.side_output, self.dropped, self.in_no_window, self.lost]
        return self.arrived == sum(fates) and min(fates) >= 0


SinkRow = tuple[str, AnyWindow, int]


class Channel(NamedTuple):
    """What stands in a channel.

    Attributes
    ----------
    waiting
        The elements, oldest first, each as the row that sent it: ARRIVED, WATERMARK, STATUS, or SNAPSHOT for a barrier.
    blocked_by
        The checkpoint whose other barriers it waits for, or 0.
    """

    waiting: tuple[int, ...]
    blocked_by: int


class PendingCheckpoint(NamedTuple):
    """A checkpoint that is neither complete nor given up, and the tasks that have taken their snapshot for it."""

    id: int
    savepoint: bool
    snapshots: tuple[str, ...]


class PendingTransaction(NamedTuple):
    """A transaction of the sink that is open or prepared, and the number of results in it."""

    number: int
    phase: TransactionPhase
    results: int


@dataclass(frozen=True)
class State:
    """Everything that stands at one step: clocks, open windows, the sink's rows, and the ledger.

    Attributes
    ----------
    watermarks, statuses
        By name: of tasks (``"window"``, or ``"window[0]"``, ``"window[1]"`` if there are several; the source alike),
        partitions (``"partition 0"``) and channels (``"source[0] → window"``).
    windows
        Those that have state.
    ledger
        Where every event is.
    is_running
        Whether the job runs: not after a crash or stop until it is restored.
    channels
        By name; only where something waits or is blocked.
    paused, under_pressure
        Names of subtasks and partitions that alignment lets wait, and of subtasks that cannot send.
    allowed_ms
        How far each source may go, by watermark alignment; empty before the first announcement.
    checkpoint, pending
        What a restart would go back to, the latest completed checkpoint (0: none); and those under way.
    transactions
        Those of the sink that are open or prepared.
    """

    step: int
    at_ms: int
    watermarks: Mapping[str, int]
    statuses: Mapping[str, Status]
    windows: tuple[OpenWindow, ...]
    ledger: Ledger
    is_running: bool
    channels: Mapping[str, Channel]
    paused: frozenset[str]
    under_pressure: frozenset[str]
    allowed_ms: tuple[int, ...]
    checkpoint: int
    pending: tuple[PendingCheckpoint, ...]
    transactions: tuple[PendingTransaction, ...]
    read_sink: Callable[[bool], tuple[SinkRow, ...]] = field(repr=False, compare=False)

    @property
    def sink(self) -> tuple[SinkRow, ...]:
        """What a reader of the sink finds: rows of (key, window, value), the earliest window first.

        An upsert sink has one row for each key and window, others one for each firing. Of a transactional one the
        reader finds only committed results.
        """
        return self.read_sink(True)

    @property
    def uncommitted(self) -> tuple[SinkRow, ...]:
        """What a reader of uncommitted results finds, aborted ones too, in such rows; of other sinks that is `sink`."""
        return self.read_sink(False)


class States:
    """Answers what stood at any step of a trace; what it needs of the whole log is built once, when first asked for.

    Parameters
    ----------
    trace
        A trace that holds every kind of row.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    def at(self, step: int) -> State:
        """Give the state after a step; -1 is the state before the first."""
        trace = self._trace
        watermarks_ms = {name: trace.value_at(("clock", index), step) for index, name in enumerate(trace.clocks)}
        statuses = {name: trace.value_at(("status", index), step) for index, name in enumerate(trace.clocks)}
        return State(
            step=step,
            at_ms=trace.step_at_ms[step] if step >= 0 else trace.scenario.grid_start_ms,
            watermarks={name: MIN_MS if ms is None else ms for name, ms in watermarks_ms.items()},
            statuses={name: Status(status or Status.ACTIVE) for name, status in statuses.items()},
            windows=tuple(self._open_window(index, step) for index in self._alive(step)),
            ledger=self.ledger(step),
            is_running=self._is_running(step),
            channels=self._channels(step),
            paused=frozenset(name for i, name in enumerate(trace.clocks) if trace.value_at(("reading", i), step)),
            under_pressure=frozenset(n for i, n in enumerate(trace.places) if trace.value_at(("pressure", i), step)),
            allowed_ms=tuple(
                ms for i in range(trace.scenario.inputs) if (ms := trace.value_at(("alignment", i), step)) is not None
            ),
            checkpoint=self._latest_checkpoint(step),
            pending=self._pending_checkpoints(step),
            transactions=self._pending_transactions(step),
            read_sink=lambda committed: tuple(self._sink(step, self._reader_sees if committed else "sink")),
        )

    # ------------------------------------------------------------------ the running job

    def _is_running(self, step: int) -> bool:
        row = self._trace.row_at(("job", 0), step)
        return row is None or self._trace.kind[row] == Kind.RESTORED

    def _channels(self, step: int) -> dict[str, Channel]:
        trace, found = self._trace, {}
        for index, name in enumerate(trace.channels):
            channel = Channel(self._waiting(index, step), trace.value_at(("gate", index), step) or 0)
            if channel.waiting or channel.blocked_by:
                found[name] = channel
        return found

    def _waiting(self, channel: int, step: int) -> tuple[int, ...]:
        """Go back over the rows of a channel until all that waits is found."""
        trace = self._trace
        missing = trace.value_at(("queue", channel), step) or 0
        rows = trace.rows_of.get(("queue", channel), [])
        taken, found = set[int](), list[int]()
        for position in range(bisect_right(rows, step, key=trace.step.__getitem__) - 1, -1, -1):
            if len(found) == missing:
                break
            row = rows[position]
            if trace.kind[row] == Kind.TAKEN:
                taken.add(trace.cause[row])
            elif row not in taken:
                found.append(trace.cause[row])
        return tuple(reversed(found))

    @cached_property
    def _recoverable(self) -> tuple[list[int], list[int]]:
        """Rows from which on a restart would go back to another checkpoint, and the number of that one."""
        trace, rows, ids = self._trace, list[int](), list[int]()
        for row, kind in enumerate(trace.kind):
            if kind == Kind.RESTORED:
                rows.append(row)
                ids.append(trace.value[row])
            elif kind == Kind.CHECKPOINT and trace.value[row] == CheckpointPhase.COMPLETED:
                checkpoint = trace.checkpoints[trace.subject[row]]
                if not checkpoint.savepoint:
                    rows.append(row)
                    ids.append(checkpoint.id)
        return rows, ids

    def _latest_checkpoint(self, step: int) -> int:
        rows, ids = self._recoverable
        done = bisect_right(rows, step, key=self._trace.step.__getitem__)
        return ids[done - 1] if done else 0

    def _pending_checkpoints(self, step: int) -> tuple[PendingCheckpoint, ...]:
        trace, found = self._trace, []
        for index in self._under_way("checkpoint", len(trace.checkpoints), CheckpointPhase.COMPLETED, step):
            if trace.value_at(("checkpoint", index), step) != CheckpointPhase.STARTED:
                continue
            checkpoint, started = trace.checkpoints[index], trace.rows_of["checkpoint", index][0]
            names = [
                name for place, name in enumerate(trace.places) if self._has_stored(place, checkpoint.id, started, step)
            ]
            found.append(PendingCheckpoint(*checkpoint, tuple(names)))
        return tuple(found)

    def _has_stored(self, place: int, checkpoint_id: int, started: int, step: int) -> bool:
        """Say whether a task has taken its snapshot for a checkpoint that started at a row."""
        trace = self._trace
        rows = trace.rows_of.get(("snapshot", place), [])
        since = rows[bisect_right(rows, started) : bisect_right(rows, step, key=trace.step.__getitem__)]
        return any(trace.value[row] == checkpoint_id for row in since)

    def _pending_transactions(self, step: int) -> tuple[PendingTransaction, ...]:
        trace, found = self._trace, []
        for index in self._under_way("transaction", self._transactions, TransactionPhase.COMMITTED, step):
            phase = TransactionPhase(trace.value_at(("transaction", index), step) or 0)
            if phase in (TransactionPhase.OPEN, TransactionPhase.PREPARED):
                rows = self._results_of[index]
                found.append(PendingTransaction(index, phase, bisect_right(rows, step, key=trace.step.__getitem__)))
        return tuple(found)

    def _under_way(self, what: str, count: int, final: int, step: int) -> list[int]:
        """Give the numbers of those that have begun by a step and have not come to a final phase."""
        trace, found, numbers = self._trace, [], range(count)
        begun = bisect_right(numbers, step, key=lambda number: trace.step[trace.rows_of[what, number][0]])
        for number in numbers[:begun]:
            rows = trace.rows_of[what, number]
            if trace.step[rows[-1]] > step or trace.value[rows[-1]] < final:
                found.append(number)
        return found

    @cached_property
    def _transactions(self) -> int:
        return sum(1 for what, _ in self._trace.rows_of if what == "transaction")

    @cached_property
    def _results_of(self) -> dict[int, list[int]]:
        """Transaction → its rows WRITTEN; the transaction of a task is the one that was begun there last."""
        trace, current, found = self._trace, dict[int, int](), dict[int, list[int]]()
        for row, kind in enumerate(trace.kind):
            place = trace.step_place[trace.step[row]]
            if kind == Kind.TRANSACTION and trace.value[row] == TransactionPhase.OPEN:
                current[place] = trace.subject[row]
                found[current[place]] = []
            elif kind == Kind.WRITTEN and place in current:
                found[current[place]].append(row)
        return found

    # ------------------------------------------------------------------ events

    def ledger(self, step: int) -> Ledger:
        """Give the ledger after a step."""
        end = bisect_right(self._trace.step, step)
        counts = {name: column[end] for name, column in self._running_counts.items()}
        return Ledger(
            **counts,
            count_seen=lambda: self._seen(end, counts["arrived"]),
        )

    @cached_property
    def _running_counts(self) -> dict[str, array[int]]:
        """How many events and pairs there are before each row, by the names of `Ledger`."""
        trace = self._trace
        columns = {name: array("i", [0]) for name in ("arrived", *_FATE_COUNTS, "accepted", "missed")}
        now = dict.fromkeys(columns, 0)
        fates: dict[int, str] = {}
        for row, kind in enumerate(trace.kind):
            if kind in _FATE_OF:
                event, fate = trace.event_of(row), _FATE_OF[kind]
                now[fates.get(event, "arrived")] += -1 if event in fates else 1
                now[fate] += 1
                fates[event] = fate
            now["accepted"] += kind == Kind.ADDED
            now["missed"] += kind == Kind.MISSED
            for name, column in columns.items():
                column.append(now[name])
        return columns

    def _seen(self, end: int, arrived: int) -> dict[int, int]:
        """How often the reader sees each event: in the last firing of a row, or in every one of a sink that appends."""
        trace = self._trace
        firings = [row for row in trace.contents if row < end and trace.kind[row] == Kind.FIRED]
        if trace.scenario.sink == "transactional":
            committed = (row for row in range(end) if trace.kind[row] == Kind.COMMITTED)
            firings = [trace.cause[trace.cause[row]] for row in committed]
        if trace.scenario.sink == "upsert":
            firings = list({trace.subject[row]: row for row in firings}.values())
        times = Counter(event for row in firings for event in trace.firing_events(row))
        counts = Counter(times.values())
        counts[0] = arrived - len(times)
        return {number: counts[number] for number in sorted(counts) if counts[number]}

    @cached_property
    def _lives(self) -> list[tuple[int, int, int]]:
        """(first step, end step, window index) of every stretch in which a window has state, by first step."""
        trace = self._trace
        lives: list[tuple[int, int, int]] = []
        born: dict[int, int] = {}
        for row, kind in enumerate(trace.kind):
            if kind in (Kind.ADDED, Kind.RELOADED):
                born.setdefault(trace.subject[row], trace.step[row])
            elif kind in (Kind.CLEANED, Kind.GONE, Kind.MERGED):
                if kind == Kind.MERGED:
                    born.setdefault(trace.subject[row], trace.step[row])
                gone = trace.value[row] if kind == Kind.MERGED else trace.subject[row]
                lives.append((born.pop(gone), trace.step[row], gone))
        lives += [(first, trace.steps, window) for window, first in born.items()]
        return sorted(lives)

    @cached_property
    def _latest_ends(self) -> list[int]:
        """For each of `_lives`, the latest end among it and all before: tells where a search back may stop."""
        return list(accumulate((end for _, end, _ in self._lives), max))

    def _alive(self, step: int) -> list[int]:
        alive = []
        for position in range(bisect_right(self._lives, step, key=itemgetter(0)) - 1, -1, -1):
            if self._latest_ends[position] <= step:
                break
            _, end, window = self._lives[position]
            if end > step:
                alive.append(window)
        return sorted(alive, key=self._order)

    def _order(self, index: int) -> tuple[int, str]:
        key, window = self._trace.windows[index]
        return (MIN_MS if window.start_ms is None else window.start_ms, key)

    def _open_window(self, index: int, step: int) -> OpenWindow:
        trace = self._trace
        rows = trace.rows_of["window", index]
        rows = rows[: bisect_right(rows, step, key=trace.step.__getitem__)]
        content = self._content(index, rows[-1] + 1)
        filled = (Kind.ADDED, Kind.RELOADED)
        last_added = next((row for row in reversed(rows) if trace.kind[row] in filled), None)
        key, window = trace.windows[index]
        return OpenWindow(
            key,
            window,
            trace.value[last_added] if content and last_added is not None else 0,
            trace.event_ids(content),
            sum(1 for row in rows if trace.kind[row] == Kind.FIRED),
        )

    @cached_property
    def _merges(self) -> dict[int, list[int]]:
        """Session → the rows at which it has become part of another."""
        trace, found = self._trace, dict[int, list[int]]()
        for row, kind in enumerate(trace.kind):
            if kind == Kind.MERGED:
                found.setdefault(trace.value[row], []).append(row)
        return found

    def _content(self, index: int, end: int) -> list[int]:
        """Give the events in a window before a row; sessions bring theirs along when they merge."""
        trace, rows = self._trace, self._trace.rows_of["window", index]
        merges = self._merges.get(index, [])
        merged = bisect_left(merges, end)
        first = bisect_right(rows, merges[merged - 1]) if merged else 0
        content: list[int] = []
        for row in rows[first : bisect_left(rows, end)]:
            kind = trace.kind[row]
            if kind == Kind.ADDED:
                content.append(trace.event_of(row))
            elif kind == Kind.RELOADED:
                content = trace.firing_events(row)
            elif kind == Kind.MERGED:
                content += self._content(trace.value[row], row)
            elif kind != Kind.FIRED:  # purged, cleaned or gone
                content = []
        return content

    @property
    def _reader_sees(self) -> str:
        """The kind of subject that a reader of the sink goes by."""
        return "committed" if self._trace.scenario.sink == "transactional" else "sink"

    @cached_property
    def _sink_subjects(self) -> list[int]:
        return sorted((index for kind, index in self._trace.rows_of if kind == "sink"), key=self._order)

    def _sink(self, step: int, what: str) -> Iterator[tuple[str, AnyWindow, int]]:
        """Give what a reader of the sink finds: one row per key and window, or one per firing of one that appends."""
        trace = self._trace
        for index in self._sink_subjects:
            rows = trace.rows_of.get((what, index), [])
            rows = rows[: bisect_right(rows, step, key=trace.step.__getitem__)]
            for row in rows[-1:] if trace.scenario.sink == "upsert" else rows:
                yield (*trace.windows[index], trace.value[row])
