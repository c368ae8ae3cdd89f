"""The marks of a trace: one pass over its rows settles what each event, window and result looks like at every step.

A *moment* is what one arrival, tick or timer sets off.
"""

from __future__ import annotations

from bisect import bisect_left
from enum import IntEnum
from typing import Any, NamedTuple

from wmviz.engine.windows import assigner_of
from wmviz.stage.readers import Members, Sights
from wmviz.stage.running import put
from wmviz.times import MIN_MS
from wmviz.trace import Kind, Trace
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
    MERGED = 4


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
        self.last_ms = window.max_timestamp_ms
        self.alive = 0
        self.lost = False
        self.closed = False
        self.fires: list[Fire] = []
        self.states: list[tuple[int, State, bool]] = []
        self.values: dict[int, int] = {}
        self.leaders: set[int] = set()

    def state(self, step: int, clock_ms: int) -> None:
        """Settle the state after something has changed at a step; the clock is the one that the windows go by."""
        if self.alive:
            state = State.FIRED if clock_ms >= self.last_ms else State.FILLING
            self.lost = False
        elif self.states and not self.lost:
            state = State.CLOSED if self.closed else State.MERGED
        else:
            state = State.NONE
        put_state(self.states, (step, state, bool(self.fires)))

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
    """One pass over the rows of a trace, which settles every mark.

    Parameters
    ----------
    trace
        A full trace.
    most_results
        How many rows the table of results may have; what the others hold is not noted.
    """

    def __init__(self, trace: Trace, most_results: int) -> None:
        self.trace = trace
        self.scenario = trace.scenario
        self.looks: list[list[int]] = [[] for _ in self.scenario.events]
        self.lives: list[list[int]] = [[] for _ in self.scenario.events]
        self.pairs: list[list[int]] = []
        self.seen: list[list[int]] = []
        self.late_from: dict[int, int] = {}
        self.rewound: dict[int, int] = {}
        order = sorted({window for _, window in trace.windows}, key=lambda w: (w.start_ms or 0, w.end_ms or 0))
        self.bands = [Band(window) for window in order]
        place = {window: index for index, window in enumerate(order)}
        self.band_of = [place[window] for _, window in trace.windows]
        self.results_left_out = max(0, len(trace.windows) - most_results)
        # By window, then in the order in which keys appear.
        self._listed = sorted(range(len(trace.windows)), key=lambda index: (self.band_of[index], index))[:most_results]
        self._changes: dict[int, list[list[Any]]] = {index: [] for index in self._listed}
        self._highest = 0
        self._start(trace)
        self._pass(trace)
        self.results = self._results()

    def _start(self, trace: Trace) -> None:
        """Set up what is known of each window, task and event while the rows go by."""
        windows = len(trace.windows)
        self._last_ms = [window.max_timestamp_ms for _, window in trace.windows]
        self._by_event_time = self.scenario.window.time == "event"
        # Window tasks keep time each for itself; the bands go by the one that is furthest behind.
        self._clocks_ms = {place: MIN_MS for place, name in enumerate(trace.places) if name.startswith("window")}
        self._lowest_ms = MIN_MS
        self._passes: dict[int, tuple[list[int], list[int]]] = {place: ([], []) for place in self._clocks_ms}
        self._assigner = assigner_of(self.scenario.window)
        self._alive: set[int] = set()
        self._open: set[int] = set()
        self._fired: set[int] = set()  # since their tasks began
        self._accepted = self._missed = 0
        self._running: list[int | None] = [None] * windows
        self._written: list[list[int]] = [[] for _ in range(windows)]
        self._uncommitted: list[list[int]] = [[] for _ in range(windows)]
        self._firings = [0] * windows
        self._status = [""] * windows
        self._sights = Sights(self.scenario.sink)
        self._last_seen = (0, 0)
        self._members = Members(windows)
        # What the rows of one step touch: windows, windows whose result is written anew, and bands that are passed.
        self._touched: set[int] = set()
        self._rewritten: set[int] = set()
        self._passed: set[int] = set()

    # ------------------------------------------------------------- the pass

    def _pass(self, trace: Trace) -> None:
        before = -1
        acts = {kind: getattr(self, name) for kind, name in _ACTS.items()}
        columns = (trace.step, trace.kind, trace.subject, trace.value)
        for row, (step, kind, subject, value) in enumerate(zip(*columns, strict=True)):
            act = acts.get(kind)
            if act is None:
                continue
            if step != before:
                self._settle(before)
                before = step
            act(step, row, subject, value)
        self._settle(before)

    def _settle(self, step: int) -> None:
        """Note what stands after the rows of a step."""
        touched = self._touched
        if touched or self._passed:
            clock_ms = self._lowest_ms if self._by_event_time else self.trace.step_at_ms[step]
            for band in self._passed.union([self.band_of[index] for index in touched]):
                self._settle_band(self.bands[band], step, clock_ms)
            for index in touched | self._leads_moved() if self._rewritten else touched:
                if index in self._changes:
                    self._result(step, index)
            self._passed.clear()
            touched.clear()
        if self._missed:
            put(self.pairs, [step, self._accepted, self._missed])
        if (self._sights.once, self._sights.more) != self._last_seen:
            self._last_seen = (self._sights.once, self._sights.more)
            self.seen.append([step, *self._last_seen])

    def _settle_band(self, band: Band, step: int, clock_ms: int) -> None:
        band.state(step, clock_ms)

    def _passed_end(self, step: int, index: int) -> bool:
        """Tell whether the task of a step has passed the last millisecond of a window."""
        return self._by_event_time and self._clocks_ms[self.trace.step_place[step]] >= self._last_ms[index]

    # -------------------------------------------------------- rows of events

    def _arrived(self, step: int, row: int, event: int, _value: int) -> None:
        self._look(step, event, Look.IN_FLIGHT)
        self.lives[event].append(row)

    def _missed_one(self, _step: int, row: int, event: int, _value: int) -> None:
        self._missed += 1
        self.lives[event].append(row)

    def _fate(self, step: int, row: int, event: int, _value: int) -> None:
        kind = self.trace.kind[row]
        self._look(step, event, FATE_OF[Kind(kind)])
        self.lives[event].append(row)
        if kind == Kind.REWOUND:
            self.rewound.setdefault(event, step)
        if kind in _TOO_LATE:
            self._late_since(step, event, self._last_cleanup_ms(event))

    def _waited(self, _step: int, row: int, _channel: int, _value: int) -> None:
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

    def _look(self, step: int, event: int, look: Look) -> None:
        looks = self.looks[event]
        if looks:
            # In several windows at once: late in one of them is late.
            if looks[-1] == look or (looks[-1] == Look.LATE_COUNTED and look == Look.ON_TIME):
                return
            if looks[-2] == step:
                del looks[-2:]
        looks += (step, look)

    # --------------------------------------------------------- the watermark

    def _watermark(self, _step: int, row: int, task: int, watermark_ms: int) -> None:
        if task not in self._clocks_ms:
            return
        values_ms, rows = self._passes[task]
        if watermark_ms < self._clocks_ms[task]:  # restored: it counts from the beginning again
            values_ms.clear()
            rows.clear()
        values_ms.append(watermark_ms)
        rows.append(row)
        self._clocks_ms[task] = watermark_ms
        before_ms, now_ms = self._lowest_ms, min(self._clocks_ms.values())
        self._lowest_ms = now_ms
        self._passed.update(band for band in self._open if before_ms < self.bands[band].last_ms <= now_ms)

    # ------------------------------------------------------- rows of windows

    def _added(self, step: int, row: int, index: int, value: int) -> None:
        event = self.trace.subject[self.trace.cause[row]]
        self._revived(index)
        late = self._passed_end(step, index)
        self._look(step, event, Look.LATE_COUNTED if late else Look.ON_TIME)
        if late:
            self._late_since(step, event, self._last_ms[index])
        self._members.added(step, index, event)
        self._accepted += 1
        self.lives[event].append(row)
        self._running[index] = value
        self._touched.add(index)

    def _fires(self, step: int, row: int, index: int, _value: int) -> None:
        again, replayed = self._firings[index] > 0, index not in self._fired
        late = again and not replayed and self._passed_end(step, index)
        self.bands[self.band_of[index]].fire(row, self._mark_step(step), again=again, late=late)
        self._firings[index] += 1
        self._fired.add(index)
        self._status[index] = "provisional"
        content = self.trace.contents[row]
        self._members.fired(step, index, content)
        for event in self._sights.fired(index, content):
            self.lives[event].append(row)
        self._touched.add(index)

    def _mark_step(self, step: int) -> int:
        """Give the step at which the flag of a firing stands."""
        return step

    def _purged(self, _step: int, _row: int, index: int, _value: int) -> None:
        self._running[index] = None
        self._touched.add(index)

    def _merged(self, step: int, _row: int, index: int, old: int) -> None:
        self._members.merged(step, index, old)
        self._ended(old)
        self._status[old] = "merged"

    def _cleaned(self, _step: int, _row: int, index: int, _value: int) -> None:
        self._ended(index)
        self.bands[self.band_of[index]].closed = True
        self._status[index] = "final" if self._firings[index] else "never fired"

    def _ended(self, index: int) -> None:
        """A window has no state any more."""
        self._alive.discard(index)
        band = self.bands[self.band_of[index]]
        band.alive -= 1
        if not band.alive:
            self._open.discard(self.band_of[index])
        self._running[index] = None
        self._touched.add(index)

    def _revived(self, index: int) -> None:
        """A window has state, for the first time or again."""
        if index not in self._alive:
            self._alive.add(index)
            band = self.bands[self.band_of[index]]
            band.closed = band.closed and band.alive > 0
            band.alive += 1
            self._open.add(self.band_of[index])
            self._status[index] = "provisional" if self._firings[index] else "filling"

    # ---------------------------------------------------------- crash and restore

    def _down(self, _step: int, _row: int, _subject: int, _value: int) -> None:
        self._fired.clear()

    def _gone(self, _step: int, _row: int, index: int, _value: int) -> None:
        """The state of a window is gone with its task."""
        self._ended(index)
        self._status[index] = "gone with the job"
        band = self.bands[self.band_of[index]]
        band.lost = not band.alive

    def _reloaded(self, _step: int, _row: int, index: int, value: int) -> None:
        self._revived(index)
        self._running[index] = value
        self._touched.add(index)

    # ---------------------------------------------------------- the results

    def _wrote(self, _step: int, _row: int, index: int, value: int) -> None:
        if self.scenario.sink == "transactional":
            self._uncommitted[index].append(value)
        else:
            self._write(index, value)
        self._touched.add(index)

    def _committed(self, _step: int, row: int, index: int, value: int) -> None:
        firing = self.trace.cause[self.trace.cause[row]]
        self._sights.committed(self.trace.contents[firing])
        self._write(index, value)
        self._touched.add(index)

    def _write(self, index: int, value: int) -> None:
        written = self._written[index]
        if self.scenario.sink == "upsert":
            written.clear()
        written.append(value)
        self._rewritten.add(index)
        self._highest = max(self._highest, abs(value))

    def _leads_moved(self) -> set[int]:
        """Give the windows that gain or lose the lead of their band by what is written in this step."""
        moved: set[int] = set()
        for index in self._rewritten:
            moved |= self.bands[self.band_of[index]].write(index, self._written[index][-1])
        self._rewritten.clear()
        return moved

    def _uncommitted_words(self, index: int) -> str:
        """Say what readers of uncommitted results find, if it is something else."""
        values = self._uncommitted[index]
        return f"uncommitted: {_listed(values)}" if values and values != self._written[index] else ""

    def _result(self, step: int, index: int) -> None:
        running, written = self._running[index], self._written[index]
        change = [
            step,
            self._holds(running),
            _listed(written),
            self._firings[index],
            self._status[index],
            written[-1] if written else 0,
            int(index in self.bands[self.band_of[index]].ahead),
            self._uncommitted_words(index),
        ]
        put(self._changes[index], change)

    @property
    def readers(self) -> list[int]:
        """How many results readers find at the end: of committed ones, of uncommitted ones; empty if it is the same."""
        if self.scenario.sink != "transactional":
            return []
        return [sum(map(len, self._written)), sum(map(len, self._uncommitted))]

    def _holds(self, running: int | None) -> str:
        """Say what a window holds."""
        return "" if running is None else f"{running:,}"

    def _results(self) -> list[dict[str, Any]]:
        """Make the rows of the table; bars are measured by the highest value of all."""
        highest = self._highest or 1
        return [
            {
                "key": self.trace.windows[index].key,
                "band": self.band_of[index],
                "made": self._members.made[index],
                "changes": [
                    [*change[:5], round(abs(change[5]) / highest, 3), *change[6:]] for change in self._changes[index]
                ],
            }
            for index in self._listed
        ]


_ACTS: dict[int, str] = {
    Kind.ARRIVED: "_arrived",
    Kind.WATERMARK: "_watermark",
    Kind.ADDED: "_added",
    Kind.MISSED: "_missed_one",
    **dict.fromkeys(FATE_OF, "_fate"),
    Kind.FIRED: "_fires",
    Kind.PURGED: "_purged",
    Kind.CLEANED: "_cleaned",
    Kind.WRITTEN: "_wrote",
    Kind.MERGED: "_merged",
    Kind.QUEUED: "_waited",
    Kind.TAKEN: "_waited",
    Kind.CRASHED: "_down",
    Kind.STOPPED: "_down",
    Kind.GONE: "_gone",
    Kind.RELOADED: "_reloaded",
    Kind.COMMITTED: "_committed",
}


def first_rows(trace: Trace) -> list[int]:
    """Give the first row of each step, and the number of rows at the end."""
    first: list[int] = []
    for row, step in enumerate(trace.step):
        if step >= len(first):
            first += [row] * (step + 1 - len(first))
    return first + [len(trace)] * (trace.steps + 1 - len(first))


def moments(trace: Trace, first_rows: list[int]) -> list[int]:
    """Give the last step of each moment: a moment begins where a row has no cause, or where time has moved on."""
    last = []
    cause, at_ms = trace.cause, trace.step_at_ms
    for step in range(1, trace.steps):
        row = first_rows[step]
        uncaused = row < first_rows[step + 1] and cause[row] < 0
        if uncaused or at_ms[step] != at_ms[step - 1]:
            last.append(step - 1)
    return [*last, trace.steps - 1] if trace.steps else []


def _listed(written: list[int]) -> str:
    """Write the sink's value or values; of many, the last ones."""
    text = ", ".join(f"{value:,}" for value in written[-MOST_WRITTEN:])
    return f"… {text}" if len(written) > MOST_WRITTEN else text


def put_state(states: list[tuple[int, State, bool]], state: tuple[int, State, bool]) -> None:
    """Append the state of a band; one of the same step gives way, one that changes nothing is left out."""
    if states and states[-1][0] == state[0]:
        states.pop()
    if not states or states[-1][1:] != state[1:]:
        states.append(state)
