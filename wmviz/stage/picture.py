"""From a Trace to the picture that the browser draws: marks, each with the steps at which it appears, changes and goes.

The browser knows no rule of Flink. What stands at a step, in which look and with which words, is settled here in one
pass over the rows. A *moment* is what one arrival, tick or timer sets off; the buttons of the stage go from moment to
moment, and in fine steps from step to step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from wmviz.explain_runtime import counted
from wmviz.scenario import Event, Scenario
from wmviz.stage.axes import Axis, axis_of, without_far
from wmviz.stage.clocks import STATUSES, Clocks, Times
from wmviz.stage.marks import LOOKS, SHAPES, Band, Fire, Marks, State, first_rows, moments
from wmviz.stage.observed_marks import OBSERVED_LOOKS, ObservedMarks, observed_moments
from wmviz.stage.pipeline import MOST_LANES, lanes_of, pipeline_of
from wmviz.times import MIN_MS, duration_text
from wmviz.times import time_text as plain_time_text
from wmviz.trace import Kind, Trace
from wmviz.window import AnyWindow

_OF_CHECKPOINTS = frozenset({Kind.CHECKPOINT, Kind.SNAPSHOT, Kind.BARRIER, Kind.BLOCKED})
MOST_BARRIERS = 2_000
"""Rows of checkpoints and barriers that the keyboard goes through."""
_YEAR = len("2026-")
MOST_RESULTS = 200
"""Rows of the table of results; a longer table says how many it leaves out."""


time_text = lru_cache(maxsize=65_536)(plain_time_text)  # most times stay while a slider moves


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
        y = axis_of(without_far(ms for trace in traces for ms in _event_times(trace)), _edges(traces, "event"), zone)
        events = traces[0].scenario.events
        return cls(events[0].arrival_time_ms if events else 0, x, y)

    def holds(self, trace: Trace) -> bool:
        """Tell whether a run fits in."""
        return self.x.holds(trace.step_at_ms) and self.y.holds(without_far(_event_times(trace)))


def picture_of(trace: Trace, frame: Frame | None = None) -> dict[str, Any]:
    """Draw up the picture of a trace.

    Parameters
    ----------
    trace
        A full trace of our engine, or what Flink reported.
    frame
        The axes; those that fit best if none are given.

    Returns
    -------
    dict
        Plain JSON. Times are ms after ``origin``; what a person reads is text already.
    """
    scenario = trace.scenario
    complete = is_complete(trace)
    marks = (Marks if complete else ObservedMarks)(trace, MOST_RESULTS)
    rows_of_steps = first_rows(trace)
    origin, x, y = frame or Frame.of(trace)
    dated = needs_dates(scenario, (band.window for band in marks.bands))
    times = Times()
    clocks = Clocks(trace)
    watermarks = clocks.written(times)
    pipeline = pipeline_of(trace, clocks, times)
    return {
        "title": scenario.title or scenario.name,
        "about": scenario.about,
        "engine": engine_name(trace),
        "complete": complete,
        "origin": origin,
        "x": _axis(x, origin, "processing time: when it arrives"),
        "y": _axis(y, origin, "event time: when it happened", _beyond(y, _event_times(trace))),
        "snap": [x.snap_ms, y.snap_ms],
        "steps": [at_ms - origin for at_ms in trace.step_at_ms],
        "clocks": _clocks(trace),
        "first_rows": rows_of_steps,
        "moments": moments(trace, rows_of_steps) if complete else observed_moments(trace),
        "looks": LOOKS if complete else OBSERVED_LOOKS,
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
        "barriers": [row for row, kind in enumerate(trace.kind) if kind in _OF_CHECKPOINTS][:MOST_BARRIERS],
        "band_axis": _band_axis(scenario),
        "overlap": _overlap(scenario),
        "merges": scenario.window.type == "session",
        "lanes": lanes_of(trace, clocks, origin),
        "inputs_left_out": clocks.lines_left_out,
        "lanes_left_out": max(0, scenario.partition_count - MOST_LANES),
        "pipeline": pipeline,
        "parts": parts_of(scenario) if complete else [part for part in parts_of(scenario) if part != "pipeline"],
        "pairs": marks.pairs,
        "seen": marks.seen,
        "results": marks.results,
        "readers": marks.readers,
        "unit": scenario.unit,
        "results_left_out": marks.results_left_out,
    }


def engine_name(trace: Trace) -> str:
    """Name the engine of a run, and say whether the run is a recorded one."""
    return f"{trace.engine} (recorded)" if trace.recorded else trace.engine


def is_complete(trace: Trace) -> bool:
    """Tell whether a trace has every row of a run, and not only what Flink reported."""
    return trace.observed == frozenset(Kind)


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


def window_text(window: AnyWindow, zone: str | None, dated: int = 0) -> str:
    """Write a window as Flink means it, half open: ``[6:00, 7:00)``.

    Parameters
    ----------
    window
        The window.
    zone
        The zone to show it in.
    dated
        What to write of dates: 0 for nothing, 1 for month and day, 2 for the year too; see `needs_dates`.
    """
    if window.start_ms is None or window.end_ms is None:
        return "the global window"
    start, end = time_text(window.start_ms, zone), time_text(window.end_ms, zone)
    if start.endswith(" ms") or end.endswith(" ms"):  # beyond the calendar
        return f"[{start}, {end})"
    (first, start), (last, end) = start.rpartition(" ")[::2], end.rpartition(" ")[::2]
    begin = _YEAR if dated == 1 else 0
    start = f"{first[begin:]} {start}" if dated and first else start
    end = f"{last[begin:]} {end}" if dated and last and last != first else end
    return f"[{start}, {end})"


def needs_dates(scenario: Scenario, windows: Iterable[AnyWindow]) -> int:
    """Tell what says which of some windows is meant: 0 if the time of day does, 1 if the day, 2 if the year too."""
    ends = (ms for w in windows if w.start_ms is not None and w.end_ms is not None for ms in (w.start_ms, w.end_ms - 1))
    days = {time_text(ms, scenario.zone).rpartition(" ")[0] for ms in ends}
    same_time_of_year = len({day[_YEAR:] for day in days}) < len(days)
    return 2 if same_time_of_year else int(len(days) > 1)


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


def _beyond(axis: Axis, times_ms: Iterable[int]) -> str:
    """Say how many events are too far off to have a place on an axis."""
    times = list(times_ms)
    sides = {"above": sum(ms > axis.to_ms for ms in times), "below": sum(ms < axis.from_ms for ms in times)}
    return ", ".join(f"{counted(count, 'event')} far {side}" for side, count in sides.items() if count)


def _axis(axis: Axis, origin: int, title: str, beyond: str = "") -> dict[str, Any]:
    brackets = "; ".join(filter(None, (axis.day, beyond)))
    return {
        "from": axis.from_ms - origin,
        "to": axis.to_ms - origin,
        "ticks": [[at_ms - origin, text] for at_ms, text in axis.ticks],
        "title": f"{title} ({brackets})" if brackets else title,
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


def _band(band: Band, marks: Marks, origin: int, dated: int) -> dict[str, Any]:
    start_ms, end_ms = band.window.start_ms, band.window.end_ms
    zone = marks.scenario.zone
    return {
        "label": window_text(band.window, zone, dated),
        "from": None if start_ms is None else start_ms - origin,
        "to": None if end_ms is None else end_ms - origin,
        "states": [[step, state, _state_text(state, fired, marks)] for step, state, fired in band.states],
        "fires": [[fire.step, fire.late, _fire_text(fire), fire.row] for fire in band.fires],
    }


def _state_text(state: State, fired: bool, marks: Marks) -> str:
    if isinstance(marks, ObservedMarks):
        return "fired"
    if state == State.FIRED:
        return "fired, provisional" if fired else "passed, not fired"
    if state == State.NONE:
        return "gone with the job"
    if state == State.MERGED:
        return "fired, then merged" if fired else "merged"
    if state == State.CLOSED:
        return "closed, final" if fired else "closed, never fired"
    return "filling"


def _fire_text(fire: Fire) -> str:
    if fire.again == fire.results:
        return "fires again" if fire.results == 1 else f"{fire.results} fire again"
    return "fires" if fire.results == 1 else f"fires, {fire.results} results"
