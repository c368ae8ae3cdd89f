"""The watermark against time."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from wmviz.charts.axes import time_axis
from wmviz.charts.facts import event_looks, holding, thinned
from wmviz.charts.look import (
    INK,
    LOOK_COLOURS,
    LOOK_SHAPES,
    LOOK_WORDS,
    TEAL,
    WIDTH,
    check_width,
    count_text,
    headed,
    name_of,
    scale,
    trace_of,
)
from wmviz.scenario import Scenario
from wmviz.stage.marks import Look
from wmviz.times import time_text
from wmviz.trace import Kind, Status, Trace

MOST_EVENTS, MOST_CHANGES, MOST_NAMED_INPUTS, MOST_STATUSES = 400, 400, 4, 12
_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [1, 3])
_STATUS_WORDS = {Status.ACTIVE: "active", Status.IDLE: "idle", Status.LEFT_OUT: "left out"}


def watermark(data: Scenario | Trace, *, width: int = WIDTH) -> alt.LayerChart:
    """Draw the watermark against time: event time reached, over processing time, with the events.

    A step is a rise of a watermark: of each input, if several are combined, and of the window operator. An event above
    the operator's line is ahead of it; one below has come behind it. The thin diagonal is an event without lag.

    Parameters
    ----------
    data
        A scenario, which is run, or a trace of ours or of Flink.
    width
        Width of the plot in pixels.

    Returns
    -------
    altair.LayerChart
        The data of its layers: lines with ``clock``, ``line``, ``at_ms`` (processing time), ``watermark_ms``,
        ``status``, ``part``; events with ``event``, ``key``, ``arrival_time_ms``, ``event_time_ms``, ``fate``. Times in
        ms since the epoch; the axes show them in the scenario's zone.

    Raises
    ------
    TraceError
        If `data` is neither, or a trace that holds results only, or `width` is no width.
    """
    trace, width = holding({Kind.ARRIVED}, trace_of(data, "watermark"), "watermark"), check_width(width)
    scenario = trace.scenario
    lines, lines_note = line_rows(trace)
    events, events_note = event_rows(trace)
    x = time_axis(
        "processing time", [*trace.step_at_ms, *(e.arrival_time_ms for e in scenario.events)], (), scenario.zone
    )
    ends = {window.end_ms for _, window in trace.windows if window.end_ms is not None}
    y = time_axis("event time", (event.event_time_ms for event in scenario.events), ends, scenario.zone)
    chart = alt.layer(
        _diagonal(x, y),
        _events(events, x, y),
        *([_lines(lines, x, y), *_statuses(lines, x, y)] if len(lines) else []),
    ).resolve_scale(color="independent", shape="independent", strokeDash="independent")
    what = [f"Watermark against time ({trace.engine}). {_told(trace)}"]
    return headed(
        chart.properties(width=width, height=300), name_of(scenario), [*what, *lines_note, *events_note], width
    )


def _told(trace: Trace) -> str:
    """Say how many events there are, and where the watermark ends."""
    events = count_text(len(trace.scenario.events), "event")
    last_ms = trace.value_at(("clock", trace.window_clock), trace.steps - 1)
    end = "there is no watermark" if last_ms is None else f"it ends at {time_text(last_ms, trace.scenario.zone)}"
    return f"{events}; {end}."


def line_rows(trace: Trace) -> tuple[pd.DataFrame, list[str]]:
    """Give the changes of the watermarks, and what a reader must know about them."""
    combined = trace.window_clock
    inputs = input_clocks(trace)
    rows: list[tuple[Any, ...]] = []
    note: list[str] = []
    for clock in [*inputs, combined]:
        name = trace.clocks[clock]
        line = ("watermark" if not inputs else f"combined ({name})") if clock == combined else name
        if clock != combined and len(inputs) > MOST_NAMED_INPUTS:
            line = f"each of {len(inputs)} inputs"
        changes = _changes(trace, clock)
        if len(changes) > MOST_CHANGES:
            note = [f"Of each line {MOST_CHANGES} of its changes are drawn."]
        rows += [(name, line, *change) for change in thinned(changes, MOST_CHANGES)]
    return pd.DataFrame(rows, columns=["clock", "line", "at_ms", "watermark_ms", "status", "part"]), note


def input_clocks(trace: Trace) -> list[int]:
    """Give the clocks of the inputs that are combined: partitions, and where there are several, source subtasks."""
    names = list(enumerate(trace.clocks))
    partitions = [clock for clock, name in names if name.startswith("partition ")]
    sources = [clock for clock, name in names if name.startswith("source[") and "→" not in name]
    return partitions + sources


def _changes(trace: Trace, clock: int) -> list[tuple[int, int, str, int]]:
    """Give (processing time, watermark, status, part) at each change; a part ends where the status changes."""
    rows = sorted([*trace.rows_of.get(("clock", clock), ()), *trace.rows_of.get(("status", clock), ())])
    changes: list[tuple[int, int, str, int]] = []
    value_ms: int | None = None
    status, part = "active", 0
    for row in rows:
        at_ms = trace.step_at_ms[trace.step[row]]
        if trace.kind[row] == Kind.WATERMARK:
            value_ms = trace.value[row]
        else:
            if value_ms is not None:
                changes.append((at_ms, value_ms, status, part))
            status, part = _STATUS_WORDS.get(Status(trace.value[row]), "active"), part + 1
        if value_ms is not None:
            changes.append((at_ms, value_ms, status, part))
    if changes and trace.step_at_ms[-1] > changes[-1][0]:
        changes.append((trace.step_at_ms[-1], *changes[-1][1:]))
    return changes


def event_rows(trace: Trace) -> tuple[pd.DataFrame, list[str]]:
    """Give the events with their fates, rare fates in full, and what a reader must know about them."""
    groups: dict[Look, list[int]] = {}
    for event, look in enumerate(event_looks(trace)):
        groups.setdefault(look, []).append(event)
    unknown = {} if trace.observed == frozenset(Kind) else {Look.IN_FLIGHT: "fate not observed"}
    words = {**LOOK_WORDS, **unknown}
    rows = []
    cut = []
    for look in sorted(groups):
        kept = thinned(groups[look], MOST_EVENTS)
        if len(kept) < len(groups[look]):
            cut.append(f"{len(kept)} of {count_text(len(groups[look]), 'event')} {words[look]}")
        events = (trace.scenario.events[index] for index in kept)
        rows += [(e.id, e.key, e.arrival_time_ms, e.event_time_ms, words[look], int(look)) for e in events]
    columns = ["event", "key", "arrival_time_ms", "event_time_ms", "fate", "look"]
    return pd.DataFrame(rows, columns=columns), [f"Drawn are {', '.join(cut)}."] if cut else []


def _diagonal(x: dict[str, Any], y: dict[str, Any]) -> alt.Chart:
    ends = [max(x["scale"].domain[0], y["scale"].domain[0]), min(x["scale"].domain[1], y["scale"].domain[1])]
    ends = ends if ends[0] < ends[1] else []
    frame = pd.DataFrame({"at_ms": ends, "no_lag_ms": ends})
    line = alt.Chart(frame).mark_line(color=INK, strokeWidth=1, strokeDash=[1, 4], clip=True)
    return line.encode(alt.X("at_ms:Q", **x), alt.Y("no_lag_ms:Q", **y))


def _events(frame: pd.DataFrame, x: dict[str, Any], y: dict[str, Any]) -> alt.Chart:
    looks = [Look(look) for look in sorted(set(frame["look"]))]
    words = list(dict.fromkeys(frame["fate"]))
    size = 50 if len(frame) <= 100 else 22
    return (
        alt.Chart(frame.drop(columns="look"))
        .mark_point(clip=True, size=size, opacity=0.9)
        .encode(
            alt.X("arrival_time_ms:Q", **x),
            alt.Y("event_time_ms:Q", **y),
            alt.Color("fate:N", scale=scale(words, [LOOK_COLOURS[look] for look in looks]), title=None),
            alt.Shape("fate:N", scale=scale(words, [LOOK_SHAPES[look] for look in looks]), title=None),
        )
    )


def _lines(frame: pd.DataFrame, x: dict[str, Any], y: dict[str, Any]) -> alt.Chart:
    words = list(dict.fromkeys(frame["line"]))[::-1]  # the combined one first
    return (
        alt.Chart(frame)
        .mark_line(interpolate="step-after", clip=True)
        .encode(
            alt.X("at_ms:Q", **x),
            alt.Y("watermark_ms:Q", **y),
            alt.Detail(["clock:N", "part:O"]),
            alt.Color("line:N", scale=scale(words, [TEAL, *[INK] * len(words)][: len(words)]), title=None),
            alt.StrokeDash("line:N", scale=scale(words, _DASHES[: len(words)]), title=None),
            alt.StrokeWidth("line:N", scale=scale(words, [2.6, *[1.6] * len(words)][: len(words)]), legend=None),
            alt.Opacity("status:N", scale=scale(list(_STATUS_WORDS.values()), [1, 0.4, 0.6]), legend=None),
        )
    )


def _statuses(frame: pd.DataFrame, x: dict[str, Any], y: dict[str, Any]) -> list[alt.Chart]:
    """Write where a line becomes idle or left out, unless there are too many to read."""
    first = frame.drop_duplicates(["clock", "part"])
    marks = first[first["status"] != "active"]
    if not 0 < len(marks) <= MOST_STATUSES:
        return []
    place = alt.X("at_ms:Q", **x), alt.Y("watermark_ms:Q", **y)
    return [
        alt.Chart(marks).mark_point(shape="triangle-right", filled=True, color=INK, size=40, clip=True).encode(*place),
        alt.Chart(marks).mark_text(align="left", dx=6, dy=-8, clip=True).encode(*place, alt.Text("status:N")),
    ]
