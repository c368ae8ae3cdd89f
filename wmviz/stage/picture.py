"""From a Trace to the picture that the browser draws: marks, each with the steps at which it appears, changes and goes.

The browser knows no rule of Flink. What stands at a step, in which look and with which words, is settled here in one
pass over the rows. A *moment* is what one arrival, tick or timer sets off; the buttons of the stage go from moment to
moment, and in fine steps from step to step.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from wmviz.engine.windows import assigner_of
from wmviz.scenario import Event, Scenario
from wmviz.stage.axes import Axis, axis_of
from wmviz.stage.clocks import STATUSES, Clocks, Times
from wmviz.stage.pipeline import MOST_LANES, lanes_of, pipeline_of
from wmviz.stage.running import put
from wmviz.times import MIN_MS, duration_text
from wmviz.times import time_text as plain_time_text
from wmviz.trace import Content, Kind, Trace
from wmviz.window import AnyWindow

MOST_OF_A_KIND = 2
"""Sentences of one kind in a moment; the panel says how many it leaves out."""
MOST_WRITTEN = 4
"""Values of an append sink shown in a row of the table."""
MOST_RESULTS = 200
"""Rows of the table of results; a longer table says how many it leaves out."""


time_text = lru_cache(maxsize=65_536)(plain_time_text)  # most times stay while a slider moves


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


WEIGHT: dict[int, int] = {
    kind: weight
    for weight, kind in enumerate(
        (
            *(Kind.TAKEN, Kind.QUEUED, Kind.WATERMARK, Kind.STATUS, Kind.ALLOWED, Kind.SNAPSHOT, Kind.BARRIER),
            *(Kind.ADDED, Kind.ENDED, Kind.BLOCKED, Kind.BACKPRESSURED, Kind.PAUSED, Kind.TRANSACTION),
            *(Kind.CLEANED, Kind.FIRED, Kind.MISSED, *FATE_OF, Kind.CHECKPOINT),
            *(Kind.STOPPED, Kind.RESTORED, Kind.CRASHED),
        ),
        start=1,
    )
}
"""What matters most in a moment has the highest weight."""


class State(IntEnum):
    """The state of a band: all windows of one stretch of time, whatever their key."""

    NONE = 0
    FILLING = 1
    FIRED = 2
    CLOSED = 3


class Frame(NamedTuple):
    """The axes of a picture, and the point in time that its numbers count from."""

    origin_ms: int
    x: Axis
    y: Axis

    @classmethod
    def of(cls, *traces: Trace) -> Frame:
        """Make the frame of one run, or one frame for several."""
        zone = traces[0].scenario.zone
        x = axis_of((ms for trace in traces for ms in trace.step_at_ms), _edges(traces, "processing"), zone)
        y = axis_of((ms for trace in traces for ms in _event_times(trace)), _edges(traces, "event"), zone)
        events = traces[0].scenario.events
        return cls(events[0].arrival_time_ms if events else 0, x, y)

    def holds(self, trace: Trace) -> bool:
        """Tell whether a run fits in."""
        return self.x.holds(trace.step_at_ms) and self.y.holds(_event_times(trace))


def picture_of(trace: Trace, frame: Frame | None = None) -> dict[str, Any]:
    """Draw up the picture of a trace.

    Parameters
    ----------
    trace
        A full trace of our engine.
    frame
        The axes; those that fit best if none are given.

    Returns
    -------
    dict
        Plain JSON. Times are ms after ``origin``; what a person reads is text already.
    """
    scenario = trace.scenario
    marks = Marks(trace)
    origin, x, y = frame or Frame.of(trace)
    dated = needs_dates(scenario, (band.window for band in marks.bands))
    times = Times()
    clocks = Clocks(trace)
    watermarks = clocks.written(times)
    pipeline = pipeline_of(trace, clocks, times)
    return {
        "title": scenario.title or scenario.name,
        "about": scenario.about,
        "engine": trace.engine,
        "origin": origin,
        "x": _axis(x, origin, "processing time: when it arrives"),
        "y": _axis(y, origin, "event time: when it happened"),
        "snap": [x.snap_ms, y.snap_ms],
        "steps": [at_ms - origin for at_ms in trace.step_at_ms],
        "clocks": _clocks(trace),
        "first_rows": marks.first_rows,
        "moments": marks.moments,
        "told": _told(trace, marks),
        "looks": LOOKS,
        "shapes": SHAPES,
        "events": [
            [event.id, event.key, event.arrival_time_ms - origin, event.event_time_ms - origin, tip, event.partition]
            for event, tip in zip(scenario.events, _tips(scenario.events, scenario.zone, scenario.unit), strict=True)
        ],
        "event_looks": marks.looks,
        "lives": marks.lives,
        "late_from": marks.late_from,
        "rewound": marks.rewound,
        "watermarks": watermarks,
        "times": [[None if ms == MIN_MS else _within(ms, y) - origin, time_text(ms, scenario.zone)] for ms in times],
        "statuses": STATUSES,
        "bands": [_band(band, marks, origin, dated) for band in marks.bands],
        "band_axis": _band_axis(scenario),
        "overlap": _overlap(scenario),
        "lanes": lanes_of(trace, clocks, origin),
        "lanes_left_out": max(0, scenario.partition_count - MOST_LANES),
        "pipeline": pipeline,
        "parts": parts_of(scenario),
        "pairs": marks.pairs,
        "seen": marks.seen,
        "results": marks.results[:MOST_RESULTS],
        "unit": scenario.unit,
        "results_left_out": max(0, len(marks.results) - MOST_RESULTS),
    }


def parts_of(scenario: Scenario) -> list[str]:
    """Give the parts of the stage that a scenario needs beside the plane."""
    several = max(scenario.subtasks, scenario.window_tasks) > 1
    runs = scenario.checkpoints or scenario.happenings or scenario.alignment or scenario.work_ms
    needed = {"lanes": scenario.partition_count > 1, "pipeline": several or bool(runs), "results": True}
    return [part for part, needs in needed.items() if needs]


@lru_cache(maxsize=8)  # they stay while a slider moves
def _tips(events: tuple[Event, ...], zone: str | None, unit: str) -> list[str]:
    """Say in a line for each event what it is, when it happened and when it arrived."""
    tips = []
    for event in events:
        lag_ms = event.arrival_time_ms - event.event_time_ms
        lag = "at once" if lag_ms == 0 else f"{duration_text(abs(lag_ms))} {'later' if lag_ms > 0 else 'before'}"
        happened, arrived = time_text(event.event_time_ms, zone), time_text(event.arrival_time_ms, zone)
        value = f"{event.value:,} {unit}".rstrip()
        tips.append(f"{value}: happened {happened}, arrived {arrived} ({lag})")
    return tips


def window_text(window: AnyWindow, zone: str | None, dated: bool = False) -> str:
    """Write a window as Flink means it, half open: ``[6:00, 7:00)``.

    Parameters
    ----------
    window
        The window.
    zone
        The zone to show it in.
    dated
        Whether to write dates, as month and day; needed where windows lie on several days.
    """
    if window.start_ms is None or window.end_ms is None:
        return "the global window"
    start, end = time_text(window.start_ms, zone), time_text(window.end_ms, zone)
    if start.endswith(" ms") or end.endswith(" ms"):  # beyond the calendar
        return f"[{start}, {end})"
    (first, start), (last, end) = start.rpartition(" ")[::2], end.rpartition(" ")[::2]
    start = f"{first[5:]} {start}" if dated and first else start
    end = f"{last[5:]} {end}" if dated and last and last != first else end
    return f"[{start}, {end})"


def needs_dates(scenario: Scenario, windows: Iterable[AnyWindow]) -> bool:
    """Tell whether windows lie on several days, so that a time of day alone does not say which one is meant."""
    ends = (ms for w in windows if w.start_ms is not None and w.end_ms is not None for ms in (w.start_ms, w.end_ms - 1))
    return len({time_text(ms, scenario.zone).rpartition(" ")[0] for ms in ends}) > 1


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


def _told(trace: Trace, marks: Marks) -> list[list[int]]:
    """Give the rows that tell each moment, at most two of a kind; the one that matters most comes first, again."""
    told = []
    first_step = 0
    for last_step in marks.moments:
        rows = range(marks.first_rows[first_step], marks.first_rows[last_step + 1])
        kept = [row for row in rows if _tells(trace, row)]
        of_kind: Counter[int] = Counter()
        shown = []
        for row in kept:
            of_kind[trace.kind[row]] += 1
            if of_kind[trace.kind[row]] <= MOST_OF_A_KIND:
                shown.append(row)
        head = max(shown, key=lambda row: (WEIGHT.get(trace.kind[row], 0), -row), default=-1)
        told.append([head, len(kept) - len(shown), *shown])
        first_step = last_step + 1
    return told


def _tells(trace: Trace, row: int) -> bool:
    """A watermark reaches channel and task with 0 ms between them: one sentence is enough."""
    if trace.kind[row] in _UNTOLD or (trace.kind[row] == Kind.WATERMARK and trace.value[row] == MIN_MS):
        return False
    if trace.kind[row] != Kind.WATERMARK:
        return True
    name = trace.clocks[trace.subject[row]]
    if " → " in name:
        return False
    several = len(trace.clocks) > len(trace.places)
    return several or not name.startswith("window") or trace.cause[row] < 0


_UNTOLD = frozenset({Kind.EMPTIED})


def _put(states: list[tuple[int, State, bool]], state: tuple[int, State, bool]) -> None:
    if states and states[-1][0] == state[0]:
        states.pop()
    if not states or states[-1][1:] != state[1:]:
        states.append(state)


def _clocks(trace: Trace) -> list[Any]:
    """Give processing time as text, where it changes: a list of step, text, step, text and so on."""
    clocks: list[Any] = []
    before_ms = None
    for step, at_ms in enumerate(trace.step_at_ms):
        if at_ms != before_ms:
            clocks += (step, time_text(at_ms, trace.scenario.zone))
            before_ms = at_ms
    return clocks


def _edges(traces: tuple[Trace, ...], time: str) -> Iterator[int]:
    for trace in traces:
        if trace.scenario.window.time == time:
            for window in {window for _, window in trace.windows}:
                if window.start_ms is not None and window.end_ms is not None:
                    yield from (window.start_ms, window.end_ms)


def _event_times(trace: Trace) -> Iterator[int]:
    return (event.event_time_ms for event in trace.scenario.events)


def _axis(axis: Axis, origin: int, title: str) -> dict[str, Any]:
    return {
        "from": axis.from_ms - origin,
        "to": axis.to_ms - origin,
        "ticks": [[at_ms - origin, text] for at_ms, text in axis.ticks],
        "title": f"{title} ({axis.day})" if axis.day else title,
    }


def _within(ms: int, axis: Axis) -> int:
    """Keep a watermark near the axis: the browser's numbers cannot hold MIN and MAX."""
    span = axis.to_ms - axis.from_ms
    return min(max(ms, axis.from_ms - span), axis.to_ms + span)


def _band_axis(scenario: Scenario) -> str:
    if scenario.window.type == "global":
        return "all"
    return "y" if scenario.window.time == "event" else "x"


def _overlap(scenario: Scenario) -> int:
    """Give how many windows lie over each other."""
    window = scenario.window
    return max(1, -(-window.size_ms // window.slide_ms)) if window.type == "sliding" else 1


def _band(band: Band, marks: Marks, origin: int, dated: bool) -> dict[str, Any]:
    start_ms, end_ms = band.window.start_ms, band.window.end_ms
    zone = marks.scenario.zone
    return {
        "label": window_text(band.window, zone, dated),
        "from": None if start_ms is None else start_ms - origin,
        "to": None if end_ms is None else end_ms - origin,
        "states": [[step, state, _state_text(state, fired, marks.scenario)] for step, state, fired in band.states],
        "fires": [[fire.step, fire.late, _fire_text(fire), fire.row] for fire in band.fires],
    }


def _state_text(state: State, fired: bool, scenario: Scenario) -> str:
    if state == State.FIRED:
        return "fired, provisional" if fired else "passed, not fired"
    if state == State.NONE:
        return "gone with the job"
    if state == State.CLOSED:
        return "closed, final" if fired else "closed, never fired"
    return "filling"


def _fire_text(fire: Fire) -> str:
    if fire.again == fire.results:
        return "fires again" if fire.results == 1 else f"{fire.results} fire again"
    return "fires" if fire.results == 1 else f"fires, {fire.results} results"
