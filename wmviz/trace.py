"""What came out: an append-only log in columns, and views of it made on demand.

A *row* is one change of one subject: its kind, the subject, the new value, the row that caused it, the step. A *step*
is one element handled by one task, or one tick; its rows share a place and a processing time. What the subject column
counts depends on the kind (`SUBJECT_OF`): events and windows by their index, watermarks by their place.

Both engines write this log. A trace from Flink holds only what Flink reported (`Trace.observed`).
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from wmviz.scenario import Event, Scenario
from wmviz.times import MIN_MS
from wmviz.window import AnyWindow

if TYPE_CHECKING:
    import pandas as pd

    from wmviz.state import Ledger, State, States


_Members = TypeVar("_Members", bound="_Described")


class _Described(IntEnum):
    """Numbers whose members have a docstring."""

    def __new__(cls: type[_Members], value: int, about: str = "") -> _Members:
        """Make a member of its number and what it means."""
        member = int.__new__(cls, value)
        member._value_, member.__doc__ = value, about
        return member


def _with_members(described: type[_Members]) -> type[_Members]:
    """Let the docstring of the class, too, say what each member means: ``help(Kind)``."""
    lines = (
        f"    {member.name}\n" + fill(str(member.__doc__), 112, initial_indent=" " * 8, subsequent_indent=" " * 8)
        for member in described
    )
    described.__doc__ = f"{described.__doc__}\n\n    Members\n    -------\n" + "\n".join(lines) + "\n    "
    return described


@_with_members
class Kind(_Described):
    """What a row says about its subject, and what its value is."""

    ARRIVED = 0, "The source reads an event; value: its timestamp."
    WATERMARK = 1, "The clock of a place moves; value: the new watermark."
    ADDED = 2, "A window takes in an event; value: the window's running result; cause: the row ARRIVED of that event."
    MISSED = 3, "An event is too late for one of its windows, but not for all; value: the index of that window."
    LATE = 4, "An event goes to the late side output; value: the watermark."
    DROPPED = 5, "An event is dropped and counted (numLateRecordsDropped); value: the watermark."
    NO_WINDOW = 6, "An event falls between two windows and vanishes uncounted."
    FIRED = 7, "A window emits its result; value: the result; cause: the watermark or the event that made it fire."
    PURGED = 8, "A purging trigger empties the window after a firing."
    CLEANED = 9, "The state of a window is deleted; cause: the watermark that reached the cleanup time."
    WRITTEN = 10, "The sink's row of a key and window changes; value: the new value; cause: the firing."
    ENDED = 11, "The input of a source ends; a last watermark MAX follows, unless the source is idle."
    STATUS = 12, "A place, partition or channel becomes idle, active, or left out; value: the `Status`."
    MERGED = 13, "A session becomes part of a larger one, the subject; value: the index of the session that ends so."
    CHECKPOINT = 14, "A checkpoint starts, is complete, or is given up; value: the `CheckpointPhase`."
    SNAPSHOT = (
        15,
        "A task takes its snapshot, and a source sends the barrier; value: the checkpoint; `details`: a `Snapshot`.",
    )
    BARRIER = 16, "A task takes a barrier from a channel; value: the checkpoint."
    STORED = 17, "A task hands in what was in its channels (unaligned); value: the checkpoint; `details`: the elements."
    BLOCKED = 18, "A channel waits for the barriers of the others; value: the checkpoint, or 0 when it goes on."
    QUEUED = 19, "An element has to wait in a channel; value: how many wait there; cause: the row that sent it."
    TAKEN = 20, "A task takes an element that has waited; value: how many still wait there; cause: its row QUEUED."
    BACKPRESSURED = 21, "A source subtask cannot send, because a channel is full (1), or can again (0)."
    PAUSED = 22, "Watermark alignment lets a subtask or partition wait (1) or read again (0)."
    ALLOWED = 23, "Watermark alignment announces how far a source may go; value: that watermark."
    CRASHED = 24, "The job fails and loses all that is in its tasks; value: the time in ms at which it starts again."
    STOPPED = 25, "The job stops with a savepoint; value: the time in ms at which it resumes."
    RESTORED = 26, "The job runs again; value: the checkpoint whose state it has, or 0 for none."
    GONE = 27, "The state of a window is gone with its task."
    RELOADED = 28, "The state of a window comes back from a checkpoint; value: the window's running result."
    REWOUND = (
        29,
        "What became of an event is undone by a restore: the source gives it again, or it waits in a channel again.",
    )
    LOST = 30, "An event is lost: no state has it, and the source cannot give it again."
    TRANSACTION = 31, "A transaction of the sink begins or goes on; value: the `TransactionPhase`."
    COMMITTED = (
        32,
        "A result can be read by those who read committed results only; value: the result; cause: the transaction.",
    )
    EMPTIED = 33, "What waited in a channel is gone with the job."


@_with_members
class CheckpointPhase(_Described):
    """How far a checkpoint is."""

    STARTED = 0, "The sources are told to send its barrier."
    COMPLETED = 1, "Every task has handed in its snapshot."
    FAILED = 2, "It is given up."


@_with_members
class TransactionPhase(_Described):
    """How far a transaction is."""

    OPEN = 0, "It takes rows."
    PREPARED = 1, "A barrier has ended it; it waits for the checkpoint to be complete."
    COMMITTED = 2, "Its rows are there for readers of committed rows."
    ABORTED = 3, "Its rows will never count: the job has restarted before them, or the broker's timeout is over."
    LOST = 4, "It should have been committed but was timed out before: no replay brings its rows back."


@_with_members
class Status(_Described):
    """Whether a watermark counts for those that wait for it."""

    ACTIVE = 0, "It counts."
    IDLE = 1, "Nobody waits for it: no event has come for a while."
    LEFT_OUT = 2, "The channel is active again, but behind: nobody waits until it has caught up (StatusWatermarkValve)."


SUBJECT_OF = {
    Kind.ARRIVED: "event",
    Kind.WATERMARK: "clock",
    Kind.ADDED: "window",
    Kind.MISSED: "event",
    Kind.LATE: "event",
    Kind.DROPPED: "event",
    Kind.NO_WINDOW: "event",
    Kind.FIRED: "window",
    Kind.PURGED: "window",
    Kind.CLEANED: "window",
    Kind.WRITTEN: "sink",
    Kind.ENDED: "input",
    Kind.STATUS: "status",
    Kind.MERGED: "window",
    Kind.CHECKPOINT: "checkpoint",
    Kind.SNAPSHOT: "snapshot",
    Kind.BARRIER: "barrier",
    Kind.STORED: "snapshot",
    Kind.BLOCKED: "gate",
    Kind.QUEUED: "queue",
    Kind.TAKEN: "queue",
    Kind.BACKPRESSURED: "pressure",
    Kind.PAUSED: "reading",
    Kind.ALLOWED: "alignment",
    Kind.CRASHED: "job",
    Kind.STOPPED: "job",
    Kind.RESTORED: "job",
    Kind.GONE: "window",
    Kind.RELOADED: "window",
    Kind.REWOUND: "event",
    Kind.LOST: "event",
    Kind.TRANSACTION: "transaction",
    Kind.COMMITTED: "committed",
    Kind.EMPTIED: "queue",
}
"""What kind of subject a row has.

These count the same things, each by its index: window, sink and committed rows `Trace.windows`; clock, status and
reading `Trace.clocks`; snapshot and pressure `Trace.places`; queue, gate and barrier `Trace.channels`.
"""
_LISTED_IN = {
    "window": "windows",
    "sink": "windows",
    "committed": "windows",
    "clock": "clocks",
    "status": "clocks",
    "reading": "clocks",
    "input": "clocks",
    "snapshot": "places",
    "pressure": "places",
    "queue": "channels",
    "gate": "channels",
    "barrier": "channels",
}


class TraceError(ValueError):
    """A question that the trace cannot answer; the message is a sentence."""

    def _render_traceback_(self) -> list[str]:
        """Let a notebook show the sentence alone."""
        return [f"TraceError: {self}"]


class WindowOf(NamedTuple):
    """A window of a key: the subject of window rows and of sink rows."""

    key: str
    window: AnyWindow


class Snapshot(NamedTuple):
    """What the part of a checkpoint is that one task hands in.

    Attributes
    ----------
    offsets
        Partition → number of its events that have been read; of a source.
    windows, events
        Numbers of panes and of the events in them; of a window task.
    """

    offsets: Mapping[int, int]
    windows: int = 0
    events: int = 0


class CheckpointOf(NamedTuple):
    """A checkpoint: the subject of its rows."""

    id: int
    savepoint: bool


class Record(NamedTuple):
    """A row of the log, as a view.

    Attributes
    ----------
    row, kind, place
        Its number, what it says, and where: ``"source"``, ``"window"``, ``"job"``.
    subject
        What changed: an `Event`, a `WindowOf`, a `CheckpointOf`, or the name of a place, clock or channel.
    value, cause, step, at_ms
        The new value, the row that caused it (None if none did), the step, and its processing time.
    """

    row: int
    kind: Kind
    place: str
    subject: Event | WindowOf | CheckpointOf | str
    value: int
    cause: int | None
    step: int
    at_ms: int


class Firing(NamedTuple):
    """One firing of a window.

    Attributes
    ----------
    key, window
        Whose; the window has ``start_ms`` and ``end_ms``.
    nth
        Counts the firings of this key and window from 1.
    value, event_ids
        The result, and the ids of the events that it is made of, in order of arrival.
    watermark_ms, at_ms
        The window task's watermark, and the time by the server's clock.
    """

    key: str
    window: AnyWindow
    nth: int
    value: int
    event_ids: tuple[str, ...]
    watermark_ms: int
    at_ms: int


class Span(NamedTuple):
    """A subject's value from one step up to, not including, another (None: to the end)."""

    row: int
    kind: Kind
    value: int
    first_step: int
    end_step: int | None


@dataclass(frozen=True)
class Outcomes:
    """What a run came to, in the form that two engines are compared in.

    Attributes
    ----------
    firings
        (key, start, end, nth) → (value, event ids, watermark).
    late
        Ids of the events in the side output.
    dropped
        Number of dropped events; None if it was not observed.
    seen_watermarks
        Event id → the window operator's watermark when the event reached it.
    totals
        What the sink holds at the end: (key, start, end) → value, or values for an append sink.
    """

    firings: Mapping[tuple[str, int | None, int | None, int], tuple[int, tuple[str, ...], int]]
    late: frozenset[str]
    dropped: int | None
    seen_watermarks: Mapping[str, int]
    totals: Mapping[tuple[str, int | None, int | None], Any]


class Content(NamedTuple):
    """The events of a firing: a slice of the list that the window was filling, never a copy."""

    events: list[int]
    size: int


@dataclass
class Trace:
    """The log of one run of a scenario, by our engine or by Flink.

    Made by ``wmviz.simulate`` and ``wmviz.flink.run``. Read it through `firings`, `late`, `dropped`, `watermarks` and
    `table` (pandas), through `totals`, `all_firings`, `outcomes`, `state`, `ledger` and `spans`, in words through
    `explain` and `sentence`, or row by row: ``trace[i]`` is a `Record`. ``help(wmviz.Kind)`` lists the kinds of rows,
    and what the value of each is.

    Attributes
    ----------
    scenario, engine
        What was run, and by which engine: ``"wmviz"`` or ``"Flink 2.3.0"``.
    observed
        The kinds of rows that this run reports; others are "not observed".
    recorded
        Whether this is a stored run of Flink, not one that ran here.
    places, clocks
        Names of the tasks, and of everything that has a watermark: the tasks, then partitions and channels. A single
        task is ``"source"`` or ``"window"``; several are ``"window[0]"``, ``"window[1]"`` and so on. Behind the tasks,
        places may have the job itself, which has none.
    channels, checkpoints, windows
        Names of the channels; the checkpoints and savepoints; the windows of keys; in the order of their indices.
    contents, details
        Row FIRED or RELOADED → the events in the window; row → what more there is to say of it.
    settings
        (row, scenario): from that row on, the job runs with other settings than at first.
    reported_drops, reported_seen
        What Flink says of dropped events (a number) and of the watermark that each event met; see `observed_trace`.
    """

    scenario: Scenario
    engine: str = "wmviz"
    observed: frozenset[Kind] = frozenset(Kind)
    recorded: bool = False
    kind: array[int] = field(default_factory=lambda: array("b"), repr=False)
    subject: array[int] = field(default_factory=lambda: array("i"), repr=False)
    value: array[int] = field(default_factory=lambda: array("q"), repr=False)
    cause: array[int] = field(default_factory=lambda: array("i"), repr=False)
    step: array[int] = field(default_factory=lambda: array("i"), repr=False)
    step_place: array[int] = field(default_factory=lambda: array("h"), repr=False)
    step_at_ms: array[int] = field(default_factory=lambda: array("q"), repr=False)
    places: list[str] = field(default_factory=list)
    clocks: list[str] = field(default_factory=list)
    windows: list[WindowOf] = field(default_factory=list, repr=False)
    channels: list[str] = field(default_factory=list, repr=False)
    checkpoints: list[CheckpointOf] = field(default_factory=list, repr=False)
    contents: dict[int, Content] = field(default_factory=dict, repr=False)
    details: dict[int, Any] = field(default_factory=dict, repr=False)
    settings: list[tuple[int, Scenario]] = field(default_factory=list, repr=False)
    reported_drops: int | None = None
    reported_seen: Mapping[str, int] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Where nothing else is said, only places have watermarks."""
        self.clocks = self.clocks or list(self.places)

    # ------------------------------------------------------------------ rows

    def __len__(self) -> int:
        """Give the number of rows."""
        return len(self.kind)

    def __getitem__(self, row: int) -> Record:
        """Give one row as a `Record`; negative numbers count from the end."""
        if not isinstance(row, int):
            raise TraceError(f"row {row!r} is no whole number; write trace[0]")
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} is not there: the trace has {len(self)} rows")
        row %= len(self)
        kind, step, cause = Kind(self.kind[row]), self.step[row], self.cause[row]
        return Record(
            row,
            kind,
            self.places[self.step_place[step]],
            self.subject_of(row),
            self.value[row],
            None if cause < 0 else cause,
            step,
            self.step_at_ms[step],
        )

    def __iter__(self) -> Iterator[Record]:
        """Go through the rows in order."""
        return (self[row] for row in range(len(self)))

    def __repr__(self) -> str:
        """Say in a line what it is."""
        how = f"a recorded run of {self.engine}" if self.recorded else self.engine
        return f"<Trace of {self.scenario.name} by {how}: {len(self)} rows, {self.steps} steps>"

    @property
    def window_clock(self) -> int:
        """Index in `clocks` of the window operator's watermark: of its first task, if there are several."""
        return next(index for index, place in enumerate(self.places) if place.startswith("window"))

    @property
    def steps(self) -> int:
        """Number of steps."""
        return len(self.step_at_ms)

    def subject_of(self, row: int) -> Event | WindowOf | CheckpointOf | str:
        """Give the subject of a row: an event, a window of a key, a checkpoint, or the name of what changed."""
        kind, index = SUBJECT_OF[Kind(self.kind[row])], self.subject[row]
        if kind == "event":
            return self.scenario.events[index]
        if kind == "checkpoint":
            return self.checkpoints[index]
        if kind in _LISTED_IN:
            named: list[Any] = getattr(self, _LISTED_IN[kind])
            return named[index]  # type: ignore[no-any-return]
        return f"transaction {index}" if kind == "transaction" else kind

    def settings_at(self, row: int) -> Scenario:
        """Give the scenario with the settings that hold at a row: a stopped job may resume with others."""
        return next((changed for first, changed in reversed(self.settings) if first <= row), self.scenario)

    def event_of(self, row: int) -> int:
        """Give the index of the event that a row is about: its subject, or the event that a window took in."""
        of_event = SUBJECT_OF[self.kind[row]] == "event"  # type: ignore[index]
        return self.subject[row] if of_event else self.subject[self.cause[row]]

    @cached_property
    def rows_of(self) -> dict[tuple[str, int], list[int]]:
        """Rows of each subject, as (kind of subject, index) → rows; built once. ADDED is listed under its event too."""
        rows: dict[tuple[str, int], list[int]] = {}
        for row, (kind, index) in enumerate(zip(self.kind, self.subject, strict=True)):
            rows.setdefault((SUBJECT_OF[kind], index), []).append(row)  # type: ignore[index]
            if kind == Kind.ADDED:
                rows.setdefault(("event", self.subject[self.cause[row]]), []).append(row)
        return rows

    def event_index(self, event_id: str) -> int:
        """Give the index of an event.

        Raises
        ------
        TraceError
            If the scenario has no event of that id.
        """
        try:
            return self._index_of[event_id]
        except (KeyError, TypeError):
            close = [other for other in self._index_of if other.split("@")[0] == str(event_id).split("@")[0]]
            hint = f"; there is {', '.join(close[:5])}" if close else ""
            raise TraceError(f"there is no event {event_id!r} in {self.scenario.name}{hint}") from None

    @cached_property
    def _index_of(self) -> dict[str, int]:
        return {event.id: index for index, event in enumerate(self.scenario.events)}

    # ----------------------------------------------------------------- spans

    def value_at(self, subject: tuple[str, int], step: int) -> int | None:
        """Give a subject's value at a step (after all its rows), or None before its first row."""
        row = self.row_at(subject, step)
        return None if row is None else self.value[row]

    def value_before(self, subject: tuple[str, int], row: int) -> int | None:
        """Give a subject's value when a row was written, that row included, or None before its first."""
        rows = self.rows_of.get(subject, [])
        found = bisect_right(rows, row)
        return self.value[rows[found - 1]] if found else None

    def row_at(self, subject: tuple[str, int], step: int) -> int | None:
        """Give the last row of a subject up to a step, found by bisection."""
        rows = self.rows_of.get(subject, [])
        found = bisect_right(rows, step, key=self.step.__getitem__)
        return rows[found - 1] if found else None

    def spans(self, subject: tuple[str, int]) -> list[Span]:
        """Give a subject's values as spans between two changes, in order."""
        rows = self.rows_of.get(subject, [])
        ends: list[int | None] = [*(self.step[row] for row in rows[1:]), None]
        return [
            Span(row, Kind(self.kind[row]), self.value[row], self.step[row], end)
            for row, end in zip(rows, ends, strict=False)
        ]

    def state(self, step: int | None = None) -> State:
        """Give everything that stands after a step; only the subjects alive then are asked.

        Parameters
        ----------
        step
            From 0, or the last one if none is given; -1 is the state before the first step. That of a time is
            ``trace.state(trace.step_at(time_ms("7:05")))``.

        Raises
        ------
        TraceError
            If there is no such step, or the trace does not hold every kind of row.
        """
        self._needs_all("the state at a step")
        return self._states.at(self._checked(step))

    def ledger(self, step: int | None = None) -> Ledger:
        """Count where every event is after a step, by default the last one; as in `state`."""
        self._needs_all("the ledger")
        return self._states.ledger(self._checked(step))

    def step_at(self, at_ms: int) -> int:
        """Give the last step up to a time of the server's clock, with all of that millisecond; -1 before the first.

        Parameters
        ----------
        at_ms
            In ms since the epoch: ``wmviz.times.time_ms("7:05")``.
        """
        if not isinstance(at_ms, int):
            raise TraceError(f'at_ms is {at_ms!r}; write milliseconds, as wmviz.times.time_ms("7:05") gives them')
        return bisect_right(self.step_at_ms, at_ms) - 1

    def _checked(self, step: int | None) -> int:
        if step is None:
            return self.steps - 1
        if not isinstance(step, int):
            raise TraceError(f"step {step!r} is no whole number; write state(0)")
        if not -1 <= step < self.steps:
            there = f"this run has the steps 0 to {self.steps - 1}" if self.steps else "this run has no steps"
            raise TraceError(f"step {step} is not there: {there}")
        return step

    @cached_property
    def _states(self) -> States:
        from wmviz.state import States

        return States(self)

    # -------------------------------------------------------------- outcomes

    def firing_events(self, row: int) -> list[int]:
        """Give the indices of the events in a firing, in order of arrival."""
        content = self.contents[row]
        return content.events[: content.size]

    @cached_property
    def nth_firing(self) -> dict[int, int]:
        """Row FIRED → which firing of its key and window it is, from 1."""
        counts: Counter[int] = Counter()
        nth = {}
        for row in self._rows(Kind.FIRED):
            counts[self.subject[row]] += 1
            nth[row] = counts[self.subject[row]]
        return nth

    def watermark_at(self, row: int) -> int:
        """Give the watermark of a row's place when the row was written, in ms; MIN before there is one."""
        watermark_ms = self.value_before(("clock", self.step_place[self.step[row]]), row)
        return MIN_MS if watermark_ms is None else watermark_ms

    def event_ids(self, events: Iterable[int]) -> tuple[str, ...]:
        """Give the ids of events, in order of arrival."""
        return tuple(self.scenario.events[event].id for event in sorted(events))

    @cached_property
    def all_firings(self) -> tuple[Firing, ...]:
        """Every firing, in order, each a `Firing` with its key, ``.window``, ``.value``, ``.event_ids`` and more."""
        found = []
        for row in self._rows(Kind.FIRED):
            index = self.subject[row]
            key, window = self.windows[index]
            at_ms = self.step_at_ms[self.step[row]]
            ids = self.event_ids(self.firing_events(row))
            found.append(Firing(key, window, self.nth_firing[row], self.value[row], ids, self.watermark_at(row), at_ms))
        return tuple(found)

    def _rows(self, kind: Kind) -> Iterator[int]:
        return (row for row, other in enumerate(self.kind) if other == kind)

    @cached_property
    def seen_watermarks(self) -> Mapping[str, int]:
        """Event id → the window operator's watermark when the event reached it."""
        if self.reported_seen is not None:
            return self.reported_seen
        handled = (Kind.ADDED, Kind.LATE, Kind.DROPPED, Kind.NO_WINDOW, Kind.MISSED)
        clocks_ms = [MIN_MS] * len(self.clocks)
        seen: dict[str, int] = {}
        for row, kind in enumerate(self.kind):
            if kind == Kind.WATERMARK:
                clocks_ms[self.subject[row]] = self.value[row]
            elif kind in handled:
                watermark_ms = clocks_ms[self.step_place[self.step[row]]]
                seen.setdefault(self.scenario.events[self.event_of(row)].id, watermark_ms)
        return seen

    def outcomes(self) -> Outcomes:
        """Give what the run came to, for comparison with another run."""
        firings = {
            (f.key, f.window.start_ms, f.window.end_ms, f.nth): (f.value, f.event_ids, f.watermark_ms)
            for f in self.all_firings
        }
        late = frozenset(self.scenario.events[self.subject[row]].id for row in self._rows(Kind.LATE))
        return Outcomes(firings, late, self.dropped_count, self.seen_watermarks, self.totals)

    @property
    def dropped_count(self) -> int | None:
        """Number of dropped events (numLateRecordsDropped); None if it was not observed."""
        return sum(1 for _ in self._rows(Kind.DROPPED)) if Kind.DROPPED in self.observed else self.reported_drops

    @cached_property
    def totals(self) -> dict[tuple[str, int | None, int | None], Any]:
        """What a reader of the sink finds at the end: (key, start_ms, end_ms) → the value of an upsert sink.

        For an append or a transactional sink it is the list of all values of that key and window, in order, also where
        there is only one: each firing is a row. Of a transactional sink only what is committed counts.
        """
        written: dict[tuple[str, int | None, int | None], list[int]] = {}
        for row in self._rows(Kind.COMMITTED if self.scenario.sink == "transactional" else Kind.WRITTEN):
            key, window = self.windows[self.subject[row]]
            written.setdefault((key, window.start_ms, window.end_ms), []).append(self.value[row])
        keeps_all = self.scenario.sink != "upsert"
        return {row: values if keeps_all else values[-1] for row, values in written.items()}

    def _needs_all(self, what: str) -> None:
        if self.observed != frozenset(Kind):
            way = "simulate with trace='full'" if self.engine == "wmviz" else "ask our own trace"
            raise TraceError(f"{what} is not in this trace, which holds only results; {way}")

    # ------------------------------------------------- views that need more than the standard library

    @property
    def firings(self) -> pd.DataFrame:
        """Every firing: key, start_ms, end_ms, nth, value, events, watermark_ms, at_ms."""
        from wmviz.tables import firings

        return firings(self)

    @property
    def late(self) -> pd.DataFrame:
        """Every event in the late side output: event, key, event_time_ms, watermark_ms, at_ms."""
        from wmviz.tables import fates

        return fates(self, Kind.LATE)

    @property
    def dropped(self) -> pd.DataFrame:
        """Every dropped event: event, key, event_time_ms, watermark_ms, at_ms."""
        from wmviz.tables import fates

        return fates(self, Kind.DROPPED)

    @property
    def watermarks(self) -> pd.DataFrame:
        """Every event and the watermark it met at the window operator: event, watermark_ms."""
        from wmviz.tables import watermarks

        return watermarks(self)

    def table(self) -> pd.DataFrame:
        """Every row of the log, with its sentence."""
        from wmviz.tables import rows

        return rows(self)

    def explain(self, event_id: str) -> Any:
        """Tell the life of one event, in sentences."""
        from wmviz.explain import life

        return life(self, event_id)

    def sentence(self, row: int) -> str:
        """Say in a sentence what a row means and why it happened."""
        from wmviz.explain import sentence

        return sentence(self, row)
