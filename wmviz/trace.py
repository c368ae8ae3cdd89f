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
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from wmviz.scenario import Event, Scenario
from wmviz.times import MAX_MS, MIN_MS

if TYPE_CHECKING:
    import pandas as pd


class Kind(IntEnum):
    """What a row says about its subject."""

    ARRIVED = 0
    """The source reads an event; value: its timestamp."""
    WATERMARK = 1
    """The clock of a place moves; value: the new watermark."""
    ADDED = 2
    """A window takes in an event; value: the window's running result; cause: the row ARRIVED of that event."""
    MISSED = 3
    """An event is too late for one of its windows, but not for all; value: the index of that window."""
    LATE = 4
    """An event goes to the late side output; value: the watermark."""
    DROPPED = 5
    """An event is dropped and counted (numLateRecordsDropped); value: the watermark."""
    NO_WINDOW = 6
    """An event falls between two windows and vanishes uncounted."""
    FIRED = 7
    """A window emits its result; value: the result; cause: the watermark or the event that made it fire."""
    PURGED = 8
    """A purging trigger empties the window after a firing."""
    CLEANED = 9
    """The state of a window is deleted; cause: the watermark that reached the cleanup time."""
    WRITTEN = 10
    """The sink's row of a key and window changes; value: the new value; cause: the firing."""
    ENDED = 11
    """The input ends; a last watermark MAX follows."""


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
}
"""What kind of subject a row has. A sink row and the window that it comes from have the same index."""

FATES = {Kind.ADDED: "counted", Kind.LATE: "side output", Kind.DROPPED: "dropped", Kind.NO_WINDOW: "in no window"}
"""What becomes of an event that has arrived. Until one of these it is in flight."""

_COUNTED_AS: dict[int, str] = {
    Kind.ARRIVED: "arrived",
    Kind.LATE: "side_output",
    Kind.DROPPED: "dropped",
    Kind.NO_WINDOW: "in_no_window",
    Kind.MISSED: "missed",
}
_FATE_COUNTS = ("counted", "side_output", "dropped", "in_no_window")


class TraceError(ValueError):
    """A question that the trace cannot answer; the message is a sentence."""

    def _render_traceback_(self) -> list[str]:
        """Let a notebook show the sentence alone."""
        return [f"TraceError: {self}"]


class TimeWindow(NamedTuple):
    """A window [start, end) in ms; `maxTimestamp` is its last millisecond, end - 1 (Flink's TimeWindow)."""

    start_ms: int
    end_ms: int

    @property
    def max_timestamp_ms(self) -> int:
        """The last millisecond that belongs to the window."""
        return self.end_ms - 1 if self.end_ms > MIN_MS else MAX_MS  # an end that has overflown, as in Java


class GlobalWindow(NamedTuple):
    """The one window of GlobalWindows; it has no bounds and its maxTimestamp is MAX."""

    start_ms: None = None
    end_ms: None = None

    @property
    def max_timestamp_ms(self) -> int:
        """Flink's Long.MAX_VALUE."""
        return MAX_MS


AnyWindow = TimeWindow | GlobalWindow
GLOBAL_WINDOW = GlobalWindow()


class WindowOf(NamedTuple):
    """A window of a key: the subject of window rows and of sink rows."""

    key: str
    window: AnyWindow


class Record(NamedTuple):
    """A row of the log, as a view.

    Attributes
    ----------
    row, kind, place
        Its number, what it says, and where: ``"source"``, ``"window"``, ``"sink"``.
    subject
        The `Event`, `WindowOf` or place that changed.
    value, cause, step, at_ms
        The new value, the row that caused it (None if none did), the step, and its processing time.
    """

    row: int
    kind: Kind
    place: str
    subject: Event | WindowOf | str
    value: int
    cause: int | None
    step: int
    at_ms: int


class Firing(NamedTuple):
    """One firing of a window; `nth` counts the firings of this key and window from 1."""

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


class OpenWindow(NamedTuple):
    """A window that has state at some step: its running result, the events in it, and how often it fired."""

    key: str
    window: AnyWindow
    value: int
    event_ids: tuple[str, ...]
    firings: int


@dataclass(frozen=True)
class Ledger:
    """Where every arrived event is at some step; `balances` says that none is lost or counted twice.

    Attributes
    ----------
    arrived, in_flight, counted, side_output, dropped, in_no_window
        Numbers of events; the first is the sum of the others.
    accepted, missed
        Pairs of an event and one of its windows: taken in, or silently passed over because that window was gone.
    """

    arrived: int
    in_flight: int
    counted: int
    side_output: int
    dropped: int
    in_no_window: int
    accepted: int
    missed: int
    count_seen: Callable[[], Mapping[int, int]] = field(repr=False, compare=False)

    @property
    def seen(self) -> Mapping[int, int]:
        """How often a reader of the sink sees each arrived event counted: times → number of events."""
        return self.count_seen()

    @property
    def balances(self) -> bool:
        """Whether every event is in exactly one place."""
        fates = self.in_flight + self.counted + self.side_output + self.dropped + self.in_no_window
        return self.arrived == fates and self.in_flight >= 0


@dataclass(frozen=True)
class State:
    """Everything that stands at one step: clocks, open windows, the sink's rows, and the ledger."""

    step: int
    at_ms: int
    watermarks: Mapping[str, int]
    windows: tuple[OpenWindow, ...]
    sink: tuple[tuple[str, AnyWindow, int], ...]
    ledger: Ledger


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
    `table` (pandas), through `outcomes`, `state` and `spans`, or row by row: ``trace[i]``.

    Attributes
    ----------
    scenario, engine
        What was run, and by which engine: ``"wmviz"`` or ``"Flink 2.3.0"``.
    observed
        The kinds of rows that this run reports; others are "not observed".
    recorded
        Whether this is a stored run of Flink, not one that ran here.
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
    windows: list[WindowOf] = field(default_factory=list, repr=False)
    contents: dict[int, Content] = field(default_factory=dict, repr=False)
    reported_drops: int | None = None
    reported_seen: Mapping[str, int] | None = field(default=None, repr=False)

    # ------------------------------------------------------------------ rows

    def __len__(self) -> int:
        """Give the number of rows."""
        return len(self.kind)

    def __getitem__(self, row: int) -> Record:
        """Give one row as a `Record`; negative numbers count from the end."""
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
    def steps(self) -> int:
        """Number of steps."""
        return len(self.step_at_ms)

    def subject_of(self, row: int) -> Event | WindowOf | str:
        """Give the subject of a row: an event, a window of a key, or a place."""
        kind, index = SUBJECT_OF[Kind(self.kind[row])], self.subject[row]
        if kind == "event":
            return self.scenario.events[index]
        return self.places[index] if kind in ("clock", "input") else self.windows[index]

    def event_of(self, row: int) -> int:
        """Give the index of the event that a row is about: its subject, or the event that a window took in."""
        return self.subject[row] if SUBJECT_OF[Kind(self.kind[row])] == "event" else self.subject[self.cause[row]]

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
        except KeyError:
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
            for row, end in zip(rows, ends, strict=True)
        ]

    def state(self, step: int) -> State:
        """Give everything that stands after a step; only the subjects alive then are asked.

        Parameters
        ----------
        step
            From 0; -1 is the state before the first step.
        """
        self._needs_all("the state at a step")
        if not -1 <= step < self.steps:
            raise TraceError(f"step {step} is not there: this run has the steps 0 to {self.steps - 1}")
        clocks = {place: self.value_at(("clock", index), step) for index, place in enumerate(self.places)}
        sink = [
            (*self.windows[index], value)
            for index in self._sink_rows(step)
            if (value := self.value_at(("sink", index), step)) is not None
        ]
        return State(
            step=step,
            at_ms=self.step_at_ms[step] if step >= 0 else self.scenario.grid_start_ms,
            watermarks={place: MIN_MS if ms is None else ms for place, ms in clocks.items() if place != "sink"},
            windows=tuple(self._open_window(index, step) for index in self._alive(step)),
            sink=tuple(sink),
            ledger=self.ledger(step),
        )

    def ledger(self, step: int | None = None) -> Ledger:
        """Count where every event is after a step (the last one if none is given)."""
        self._needs_all("the ledger")
        step = self.steps - 1 if step is None else step
        end = bisect_right(self.step, step)
        column = {name: values[end] for name, values in self._running_counts.items()}
        return Ledger(
            **column,
            in_flight=column["arrived"] - sum(column[name] for name in _FATE_COUNTS),
            count_seen=lambda: self._seen(end, column["arrived"]),
        )

    @cached_property
    def _running_counts(self) -> dict[str, array[int]]:
        """How many events and pairs there are before each row, by the names of `Ledger`."""
        counts = {name: array("i", [0]) for name in ("arrived", *_FATE_COUNTS, "accepted", "missed")}
        now = dict.fromkeys(counts, 0)
        seen: set[int] = set()
        for row, kind in enumerate(self.kind):
            if kind == Kind.ADDED:
                now["accepted"] += 1
                event = self.subject[self.cause[row]]
                if event not in seen:
                    seen.add(event)
                    now["counted"] += 1
            elif kind in _COUNTED_AS:
                now[_COUNTED_AS[kind]] += 1
            for name, column in counts.items():
                column.append(now[name])
        return counts

    def _seen(self, end: int, arrived: int) -> dict[int, int]:
        """How often the sink's reader sees each event: in the last firing of a row, or in every one for append."""
        firings = [row for row in range(end) if self.kind[row] == Kind.FIRED]
        if self.scenario.sink == "upsert":
            firings = list({self.subject[row]: row for row in firings}.values())
        times = Counter(event for row in firings for event in self.firing_events(row))
        counts = Counter(times.values())
        return {0: arrived - len(times), **dict(sorted(counts.items()))} if arrived > len(times) else dict(counts)

    @cached_property
    def _lives(self) -> list[tuple[int, int, int]]:
        """(first step, end step, window index) of every stretch in which a window has state, by first step."""
        lives: list[tuple[int, int, int]] = []
        born: dict[int, int] = {}
        for row, kind in enumerate(self.kind):
            if kind == Kind.ADDED:
                born.setdefault(self.subject[row], self.step[row])
            elif kind == Kind.CLEANED:
                lives.append((born.pop(self.subject[row]), self.step[row], self.subject[row]))
        lives += [(first, self.steps, window) for window, first in born.items()]
        return sorted(lives)

    @cached_property
    def _longest_before(self) -> list[int]:
        """For each of `_lives`, the latest end among it and all before: tells where a search back may stop."""
        latest, ends = -1, []
        for _, end, _ in self._lives:
            latest = max(latest, end)
            ends.append(latest)
        return ends

    def _alive(self, step: int) -> list[int]:
        alive = []
        for position in range(bisect_right(self._lives, (step, self.steps + 1, 0)) - 1, -1, -1):
            if self._longest_before[position] <= step:
                break
            _, end, window = self._lives[position]
            if end > step:
                alive.append(window)
        return sorted(alive, key=self._window_order)

    def _sink_rows(self, step: int) -> list[int]:
        first = [(rows[0], index) for (kind, index), rows in self.rows_of.items() if kind == "sink"]
        return sorted((index for row, index in first if self.step[row] <= step), key=self._window_order)

    def _window_order(self, index: int) -> tuple[int, str]:
        key, window = self.windows[index]
        return (MIN_MS if window.start_ms is None else window.start_ms, key)

    def _open_window(self, index: int, step: int) -> OpenWindow:
        content: list[int] = []
        value = firings = 0
        for row in self.rows_of["window", index]:
            if self.step[row] > step:
                break
            kind = self.kind[row]
            if kind == Kind.ADDED:
                content.append(self.subject[self.cause[row]])
                value = self.value[row]
            elif kind == Kind.FIRED:
                firings += 1
            else:  # purged or cleaned: the content is gone
                content, value = [], 0
        key, window = self.windows[index]
        return OpenWindow(key, window, value, self._ids(content), firings)

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
        """Give the window operator's watermark at a row, in ms; MIN before there is one."""
        rows = self._clock_rows
        found = bisect_right(rows, row)
        return self.value[rows[found - 1]] if found else MIN_MS

    def _ids(self, events: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.scenario.events[event].id for event in sorted(events))

    @cached_property
    def all_firings(self) -> tuple[Firing, ...]:
        """Every firing, in order."""
        found = []
        for row in self._rows(Kind.FIRED):
            index = self.subject[row]
            key, window = self.windows[index]
            at_ms = self.step_at_ms[self.step[row]]
            ids = self._ids(self.firing_events(row))
            found.append(Firing(key, window, self.nth_firing[row], self.value[row], ids, self.watermark_at(row), at_ms))
        return tuple(found)

    @cached_property
    def _clock_rows(self) -> list[int]:
        place = self.places.index("window") if "window" in self.places else -1
        return [row for row in self._rows(Kind.WATERMARK) if self.subject[row] == place]

    def _rows(self, kind: Kind) -> Iterator[int]:
        return (row for row, other in enumerate(self.kind) if other == kind)

    @cached_property
    def seen_watermarks(self) -> Mapping[str, int]:
        """Event id → the window operator's watermark when the event reached it."""
        if self.reported_seen is not None:
            return self.reported_seen
        handled = (Kind.ADDED, Kind.LATE, Kind.DROPPED, Kind.NO_WINDOW, Kind.MISSED)
        place = self.places.index("window") if "window" in self.places else -1
        seen: dict[str, int] = {}
        watermark_ms = MIN_MS
        for row, kind in enumerate(self.kind):
            if kind == Kind.WATERMARK and self.subject[row] == place:
                watermark_ms = self.value[row]
            elif kind in handled:
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
        """What the sink holds at the end: (key, start, end) → the value, or the list of values of an append sink."""
        written: dict[tuple[str, int | None, int | None], list[int]] = {}
        for row in self._rows(Kind.WRITTEN):
            key, window = self.windows[self.subject[row]]
            written.setdefault((key, window.start_ms, window.end_ms), []).append(self.value[row])
        append = self.scenario.sink == "append"
        return {row: values if append else values[-1] for row, values in written.items()}

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
