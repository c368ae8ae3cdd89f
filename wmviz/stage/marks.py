"""The marks of a trace: one pass over its rows settles what each event, window and result looks like at every step.

A *moment* is what one arrival, tick or timer sets off.
"""

from __future__ import annotations

from bisect import bisect_left
from enum import IntEnum
from itertools import pairwise
from typing import Any, NamedTuple

from wmviz.engine.windows import assigner_of
from wmviz.stage.running import put
from wmviz.times import MIN_MS
from wmviz.trace import Content, Kind, Trace
from wmviz.window import AnyWindow

MOST_WRITTEN = 4
"""Values of an append sink shown in a row of the table."""


class Look(IntEnum):
    """How a marble looks: the fate of its event."""

    IN_FLIGHT = 0
    ON_TIME = 1
    LATE_COUNTED = 2
    SIDE_OUTPUT = 3
    DROPPED = 4
    NO_WINDOW = 5
    LOST = 6


LOOKS = ("in flight", "on time", "late but counted", "side output", "dropped", "in no window", "lost")
"""The words for each `Look`."""
SHAPES = (
    "M5 0A5 5 0 1 1 -5 0A5 5 0 1 1 5 0Z",
    "M5 0A5 5 0 1 1 -5 0A5 5 0 1 1 5 0Z",
    "M0 -7L7 0L0 7L-7 0Z",
    "M-5 -5H5V5H-5Z",
    "M-5 -5L5 5M5 -5L-5 5",
    "M0 -6L6 5H-6Z",
    "M6 0A6 6 0 1 1 -6 0A6 6 0 1 1 6 0ZM-4 4L4 -4",
)
"""The outline for each `Look`, around 0, 0: ring, disc, diamond, square, cross, triangle, struck ring."""
FATE_OF = {
    Kind.LATE: Look.SIDE_OUTPUT,
    Kind.DROPPED: Look.DROPPED,
    Kind.NO_WINDOW: Look.NO_WINDOW,
    Kind.REWOUND: Look.IN_FLIGHT,
    Kind.LOST: Look.LOST,
}
_TOO_LATE = (Kind.LATE, Kind.DROPPED)


class State(IntEnum):
    """The state of a band: all windows of one stretch of time, whatever their key."""

    NONE = 0
    FILLING = 1
    FIRED = 2
    CLOSED = 3


class Fire(NamedTuple):
    """A firing of one or more windows of a band at one step, and the row of the first."""

    row: int
    step: int
    results: int
    again: int
    late: bool


class Band:
    """All windows of one stretch of time: their common state, and their firings."""

    def __init__(self, window: AnyWindow) -> None:
        self.window = window
        self.alive = 0
        self.lost = False
        self.fires: list[Fire] = []
        self.states: list[tuple[int, State, bool]] = []
        self.values: dict[int, int] = {}
        self.leaders: set[int] = set()

    def state(self, step: int, clock_ms: int) -> None:
        """Settle the state after something has changed at a step; the clock is the one that the windows go by."""
        if self.alive:
            state = State.FIRED if clock_ms >= self.window.max_timestamp_ms else State.FILLING
            self.lost = False
        else:
            state = State.CLOSED if self.states and not self.lost else State.NONE
        _put(self.states, (step, state, bool(self.fires)))

    def fire(self, row: int, step: int, *, again: bool, late: bool) -> None:
        """Count a firing; those of one step are one mark, which is late if all of them are."""
        if self.fires and self.fires[-1].step == step:
            last = self.fires.pop()
            self.fires.append(Fire(last.row, step, last.results + 1, last.again + again, last.late and late))
        else:
            self.fires.append(Fire(row, step, 1, int(again), late))

    def write(self, index: int, value: int) -> set[int]:
        """Note a written value; give the windows that gain or lose the lead by it."""
        before, best = self.leaders, max((self.values[leader] for leader in self.leaders), default=value)
        shown = self.ahead
        self.values[index] = value
        if index in before and value < best:
            best = max(self.values.values())
            self.leaders = {other for other, written in self.values.items() if written == best}
        elif value > best or not before:
            self.leaders = {index}
        elif value == best:
            self.leaders = before | {index}
        return shown ^ self.ahead

    @property
    def ahead(self) -> set[int]:
        """The leaders, if there are others to be ahead of."""
        return self.leaders if len(self.leaders) < len(self.values) else set()


class Marks:
    """One pass over the rows of a trace, which settles every mark."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.scenario = trace.scenario
        self.by_event_time = self.scenario.window.time == "event"
        self.looks: list[list[int]] = [[] for _ in self.scenario.events]
        self.lives: list[list[int]] = [[] for _ in self.scenario.events]
        self.pairs: list[list[int]] = []
        self.seen: list[list[int]] = []
        self.first_rows = _first_rows(trace)
        self.moments = _moments(trace, self.first_rows)
        order = sorted({window for _, window in trace.windows}, key=lambda w: (w.start_ms or 0, w.end_ms or 0))
        self.bands = [Band(window) for window in order]
        place = {window: index for index, window in enumerate(order)}
        self.band_of = [place[window] for _, window in trace.windows]
        # Window tasks keep time each for itself.
        self._clocks_ms = {place: MIN_MS for place, name in enumerate(trace.places) if name.startswith("window")}
        self._alive: set[int] = set()
        self._open: set[int] = set()
        self._passed: set[int] = set()
        self._fired: set[int] = set()  # since their tasks began
        self._uncommitted: list[list[int]] = [[] for _ in trace.windows]
        self._accepted = self._missed = 0
        self._running: list[int | None] = [None] * len(trace.windows)
        self._written: list[list[int]] = [[] for _ in trace.windows]
        self._firings = [0] * len(trace.windows)
        self._status = [""] * len(trace.windows)
        self._last_seen = (0, 0)
        self._sights = Sights(self.scenario.sink)
        self._members = Members(len(trace.windows))
        self.late_from: dict[int, int] = {}
        self.rewound: dict[int, int] = {}
        self._passes: dict[int, tuple[list[int], list[int]]] = {place: ([], []) for place in self._clocks_ms}
        self._assigner = assigner_of(self.scenario.window)
        self._changes: list[list[list[Any]]] = [[] for _ in trace.windows]
        for step, (first, end) in enumerate(pairwise(self.first_rows)):
            self._step(step, range(first, end))
        self.results = self._results()

    @property
    def _lowest_ms(self) -> int:
        """The clock that the bands go by: of several window tasks, the one that is furthest behind."""
        return min(self._clocks_ms.values())

    def _passed_end(self, step: int, index: int) -> bool:
        """Tell whether the task of a step has passed the last millisecond of a window."""
        clock_ms = self._clocks_ms[self.trace.step_place[step]]
        return self.by_event_time and clock_ms >= self.trace.windows[index].window.max_timestamp_ms

    # ------------------------------------------------------------- the pass

    def _step(self, step: int, rows: range) -> None:
        touched: set[int] = set()
        for row in rows:
            self._row(step, row, touched)
        clock_ms = self._lowest_ms if self.by_event_time else self.trace.step_at_ms[step]
        for band in {self.band_of[index] for index in touched} | self._passed:
            self.bands[band].state(step, clock_ms)
        self._passed.clear()
        for index in touched | self._leads_moved(touched):
            self._result(step, index)
        if self._missed:
            put(self.pairs, [step, self._accepted, self._missed])
        if (self._sights.once, self._sights.more) != self._last_seen:
            self._last_seen = (self._sights.once, self._sights.more)
            self.seen.append([step, *self._last_seen])

    def _row(self, step: int, row: int, touched: set[int]) -> None:
        kind, subject, value = self.trace.kind[row], self.trace.subject[row], self.trace.value[row]
        if kind == Kind.ARRIVED:
            self._look(step, subject, Look.IN_FLIGHT)
            self.lives[subject].append(row)
        elif kind == Kind.WATERMARK:
            if subject in self._clocks_ms:
                self._watermark(subject, value, row)
        elif kind == Kind.ADDED:
            self._added(step, row, touched)
        elif kind == Kind.MISSED:
            self._missed += 1
            self.lives[subject].append(row)
        elif kind in FATE_OF:
            self._look(step, subject, FATE_OF[Kind(kind)])
            self.lives[subject].append(row)
            if kind == Kind.REWOUND:
                self.rewound.setdefault(subject, step)
            if kind in _TOO_LATE:
                self._late_since(step, subject, self._last_cleanup_ms(subject))
        elif kind == Kind.FIRED:
            band = self.bands[self.band_of[subject]]
            again, replayed = self._firings[subject] > 0, subject not in self._fired
            band.fire(row, step, again=again, late=again and not replayed and self._passed_end(step, subject))
            self._firings[subject] += 1
            self._fired.add(subject)
            self._status[subject] = "provisional"
            self._members.fired(step, subject, self.trace.contents[row])
            for event in self._sights.fired(subject, self.trace.contents[row]):
                self.lives[event].append(row)
            touched.add(subject)
        elif kind == Kind.PURGED:
            self._running[subject] = None
            touched.add(subject)
        elif kind == Kind.CLEANED:
            self._cleaned(subject, touched)
        elif kind in (Kind.CRASHED, Kind.STOPPED):
            self._fired.clear()
        elif kind == Kind.GONE:
            self._gone(subject, touched)
        elif kind == Kind.RELOADED:
            self._revived(subject)
            self._running[subject] = value
            touched.add(subject)
        elif kind == Kind.COMMITTED:
            firing = self.trace.cause[self.trace.cause[row]]
            self._sights.committed(self.trace.contents[firing])
            self._write(subject, value)
            touched.add(subject)
        elif kind in (Kind.QUEUED, Kind.TAKEN):
            self._waited(row)
        elif kind == Kind.MERGED:
            self._members.merged(step, subject, value)
            self._cleaned(value, touched)
            self._status[value] = "merged"
        elif kind == Kind.WRITTEN:
            if self.scenario.sink == "transactional":
                self._uncommitted[subject].append(value)
            else:
                self._write(subject, value)
            touched.add(subject)

    def _watermark(self, task: int, watermark_ms: int, row: int) -> None:
        before_ms = self._lowest_ms
        values_ms, rows = self._passes[task]
        if watermark_ms < self._clocks_ms[task]:  # restored: it counts from the beginning again
            values_ms.clear()
            rows.clear()
        values_ms.append(watermark_ms)
        rows.append(row)
        self._clocks_ms[task] = watermark_ms
        now_ms = self._lowest_ms
        self._passed |= {band for band in self._open if before_ms < self.bands[band].window.max_timestamp_ms <= now_ms}

    def _added(self, step: int, row: int, touched: set[int]) -> None:
        index, event = self.trace.subject[row], self.trace.event_of(row)
        self._revived(index)
        late = self._passed_end(step, index)
        self._look(step, event, Look.LATE_COUNTED if late else Look.ON_TIME)
        if late:
            self._late_since(step, event, self.trace.windows[index].window.max_timestamp_ms)
        self._members.added(step, index, event)
        self._accepted += 1
        self.lives[event].append(row)
        self._running[index] = self.trace.value[row]
        touched.add(index)

    def _revived(self, index: int) -> None:
        """A window has state, for the first time or again."""
        if index not in self._alive:
            self._alive.add(index)
            self.bands[self.band_of[index]].alive += 1
            self._open.add(self.band_of[index])
            self._status[index] = "provisional" if self._firings[index] else "filling"

    def _gone(self, index: int, touched: set[int]) -> None:
        """The state of a window is gone with its task."""
        self._cleaned(index, touched)
        self._status[index] = "gone with the job"
        band = self.bands[self.band_of[index]]
        band.lost = not band.alive

    def _waited(self, row: int) -> None:
        """Note that an event waits in a channel, or no longer."""
        queued = row if self.trace.kind[row] == Kind.QUEUED else self.trace.cause[row]
        sent = self.trace.cause[queued]
        if sent >= 0 and self.trace.kind[sent] == Kind.ARRIVED:
            self.lives[self.trace.subject[sent]].append(row)

    def _last_cleanup_ms(self, event: int) -> int:
        """Give the watermark that deletes the last window of an event."""
        at_ms = self.scenario.events[event].event_time_ms
        ends_ms = [window.max_timestamp_ms for window in self._assigner.assign(at_ms)]
        return max(ends_ms, default=at_ms) + self.scenario.lateness_ms

    def _late_since(self, step: int, event: int, limit_ms: int) -> None:
        """Note the row of the watermark from which on an event is late; the first reason counts."""
        values_ms, rows = self._passes[self.trace.step_place[step]]
        found = bisect_left(values_ms, limit_ms)
        if found < len(rows):
            self.late_from.setdefault(event, rows[found])

    def _cleaned(self, index: int, touched: set[int]) -> None:
        self._alive.discard(index)
        band = self.bands[self.band_of[index]]
        band.alive -= 1
        if not band.alive:
            self._open.discard(self.band_of[index])
        self._running[index] = None
        self._status[index] = "final" if self._firings[index] else "never fired"
        touched.add(index)

    def _look(self, step: int, event: int, look: Look) -> None:
        looks = self.looks[event]
        if looks and looks[-1] == look:
            return
        if looks:
            # In several windows at once: late in one of them is late.
            if looks[-1] == Look.LATE_COUNTED and look == Look.ON_TIME:
                return
            if looks[-2] == step:
                del looks[-2:]
        looks += (step, look)

    # ---------------------------------------------------------- the results

    def _write(self, index: int, value: int) -> None:
        written = self._written[index]
        if self.scenario.sink == "upsert":
            written.clear()
        written.append(value)

    def _uncommitted_words(self, index: int) -> str:
        """Say what readers of uncommitted results find, if it is something else."""
        values = self._uncommitted[index]
        return f"uncommitted: {_listed(values)}" if values and values != self._written[index] else ""

    def _leads_moved(self, touched: set[int]) -> set[int]:
        moved: set[int] = set()
        for index in touched:
            if self._written[index]:
                moved |= self.bands[self.band_of[index]].write(index, self._written[index][-1])
        return moved

    def _result(self, step: int, index: int) -> None:
        running, written = self._running[index], self._written[index]
        change = [
            step,
            "" if running is None else f"{running:,}",
            _listed(written),
            self._firings[index],
            self._status[index],
            written[-1] if written else 0,
            int(index in self.bands[self.band_of[index]].ahead),
            self._uncommitted_words(index),
        ]
        put(self._changes[index], change)

    def _results(self) -> list[dict[str, Any]]:
        """Make the rows of the table: by window, then in the order in which keys appear."""
        order = sorted(range(len(self.trace.windows)), key=lambda index: (self.band_of[index], index))
        highest = max((abs(change[5]) for changes in self._changes for change in changes), default=0) or 1
        return [
            {
                "key": self.trace.windows[index].key,
                "band": self.band_of[index],
                "made": self._members.made[index],
                "changes": [
                    [*change[:5], round(abs(change[5]) / highest, 3), *change[6:]] for change in self._changes[index]
                ],
            }
            for index in order
        ]


class Members:
    """Which events each result is made of: those of the last firing, or until there is one, those in the window.

    Attributes
    ----------
    made
        For each window of a key, the changes of its list: [step, how many stay, the events after them].
    """

    def __init__(self, windows: int) -> None:
        self.made: list[list[list[Any]]] = [[] for _ in range(windows)]
        self._now: list[list[int]] = [[] for _ in range(windows)]
        self._fired: dict[int, Content] = {}

    def added(self, step: int, index: int, event: int) -> None:
        """A window takes in an event; a result that has fired changes only when it fires again."""
        if index not in self._fired:
            self._change(step, index, len(self._now[index]), [event])

    def merged(self, step: int, index: int, old: int) -> None:
        """A session takes in another one."""
        if index not in self._fired:
            self._change(step, index, len(self._now[index]), self._now[old])

    def fired(self, step: int, index: int, content: Content) -> None:
        """A firing: contents are longer and longer slices of one list, until it is purged."""
        before = self._fired.get(index)
        keep = before.size if before is not None and before.events is content.events else 0
        self._fired[index] = content
        self._change(step, index, keep, content.events[keep : content.size])

    def _change(self, step: int, index: int, keep: int, events: list[int]) -> None:
        now = self._now[index]
        if now[keep:] != events:
            now[keep:] = events
            self.made[index].append([step, keep, *events])


class Sights:
    """How often a reader of the sink sees each event: in the last result of a row, or in every one for append.

    `once` and `more` are the numbers of events seen once, and more often.
    """

    def __init__(self, sink: str) -> None:
        self._sink = sink
        self._times: dict[int, int] = {}
        self._rows: dict[int, Content] = {}
        self.once = self.more = 0

    def fired(self, row: int, content: Content) -> list[int]:
        """Take a firing into account; an upsert replaces what its row held before. Give the events new in the row."""
        before = self._rows.get(row)
        self._rows[row] = content
        # A window's contents are longer and longer slices of one list, until it is purged.
        grown = before is not None and before.events is content.events
        new = content.events[before.size if grown and before else 0 : content.size]
        if self._sink == "append":
            self._count(content.events[: content.size], 1)
        elif self._sink == "upsert":
            if before is not None and not grown:
                self._count(before.events[: before.size], -1)
            self._count(new, 1)
        return new

    def committed(self, content: Content) -> None:
        """Take a result into account that a transactional sink has committed."""
        self._count(content.events[: content.size], 1)

    def _count(self, events: list[int], by: int) -> None:
        for event in events:
            self._move(event, by)

    def _move(self, event: int, by: int) -> None:
        before = self._times.get(event, 0)
        self._times[event] = after = before + by
        self.once += (after == 1) - (before == 1)
        self.more += (after > 1) - (before > 1)


def _first_rows(trace: Trace) -> list[int]:
    """Give the first row of each step, and the number of rows at the end."""
    first = [len(trace)] * (trace.steps + 1)
    for row in range(len(trace) - 1, -1, -1):
        first[trace.step[row]] = row
    for step in range(trace.steps - 1, -1, -1):
        first[step] = min(first[step], first[step + 1])
    return first


def _moments(trace: Trace, first_rows: list[int]) -> list[int]:
    """Give the last step of each moment: a moment begins where a row has no cause, or where time has moved on."""
    last = []
    for step in range(1, trace.steps):
        row = first_rows[step]
        uncaused = row < first_rows[step + 1] and trace.cause[row] < 0
        if uncaused or trace.step_at_ms[step] != trace.step_at_ms[step - 1]:
            last.append(step - 1)
    return [*last, trace.steps - 1] if trace.steps else []


def _listed(written: list[int]) -> str:
    """Write the sink's value or values; of many, the last ones."""
    text = ", ".join(f"{value:,}" for value in written[-MOST_WRITTEN:])
    return f"… {text}" if len(written) > MOST_WRITTEN else text


def _put(states: list[tuple[int, State, bool]], state: tuple[int, State, bool]) -> None:
    if states and states[-1][0] == state[0]:
        states.pop()
    if not states or states[-1][1:] != state[1:]:
        states.append(state)
