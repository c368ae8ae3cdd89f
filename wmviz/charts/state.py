"""The size of window state over time."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from wmviz.charts.axes import count_axis, time_axis
from wmviz.charts.facts import holding, thinned
from wmviz.charts.look import BLUE, TEAL, WIDTH, check_width, count_text, headed, name_of, trace_of
from wmviz.scenario import Scenario
from wmviz.trace import Kind, Trace

MOST_MOMENTS = 800


def state(data: Scenario | Trace, *, width: int = WIDTH) -> alt.VConcatChart:
    """Draw the size of the window operator's state over processing time.

    Above, the live windows, one for each key; below, the events in them. A window lives from its first event to the
    watermark that reaches its cleanup time; a crash takes its state, and a restore brings it back.

    Parameters
    ----------
    data
        A scenario, which is run, or a full trace of ours.
    width
        Width of the plot in pixels.

    Returns
    -------
    altair.VConcatChart
        Its data: ``at_ms`` (processing time, ms since the epoch), ``windows``, ``events`` (numbers). The last row is
        the end of the axis, with the last size.

    Raises
    ------
    TraceError
        If `data` is neither, or a trace that holds results only, or `width` is no width.
    """
    trace, width = holding({Kind.ADDED, Kind.CLEANED}, trace_of(data, "state"), "state"), check_width(width)
    moments = sizes(trace)
    most = [max((size[column] for size in moments), default=0) for column in (1, 2)]
    frame = pd.DataFrame(_highest(moments), columns=["at_ms", "windows", "events"])
    x = time_axis("processing time", frame["at_ms"].tolist(), (), trace.scenario.zone)
    frame.loc[len(frame)] = [x["scale"].domain[1], *moments[-1][1:]]  # so that the last size is seen
    windows, events = count_text(most[0], "live window"), count_text(most[1], "event")
    what = [f"State of the window operator: at most {windows} (one for each key) and {events} in them."]
    if len(moments) > MOST_MOMENTS:
        what.append(f"Drawn is the highest of every {len(moments) / MOST_MOMENTS:,.0f} moments.")
    chart = alt.vconcat(
        _panel("windows", count_axis("live windows", most[0]), TEAL, {**x, "title": None}, width),
        _panel("events", count_axis("events in them", most[1]), BLUE, x, width),
        data=frame,
    ).resolve_scale(x="shared")
    return headed(chart, name_of(trace.scenario), what, width)


def sizes(trace: Trace) -> list[tuple[int, int, int]]:
    """Give (processing time, live windows, events in them) after every moment at which something is handled."""
    content: dict[int, int] = {}
    held = 0
    moments: list[tuple[int, int, int]] = []
    for row, (kind, subject) in enumerate(zip(trace.kind, trace.subject, strict=True)):
        if kind == Kind.ADDED:
            content[subject] = content.get(subject, 0) + 1
            held += 1
        elif kind == Kind.MERGED:
            content[subject] = content.get(subject, 0) + content.pop(trace.value[row], 0)
        elif kind == Kind.PURGED:
            held -= content.get(subject, 0)
            content[subject] = 0
        elif kind == Kind.RELOADED:
            content[subject] = trace.contents[row].size
            held += content[subject]
        elif kind in (Kind.CLEANED, Kind.GONE):
            held -= content.pop(subject, 0)
        at_ms = trace.step_at_ms[trace.step[row]]
        if moments and moments[-1][0] == at_ms:
            moments.pop()
        moments.append((at_ms, len(content), held))
    return moments


def _highest(moments: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Give the highest size of each of a number of stretches, so that no peak is lost."""
    if len(moments) <= MOST_MOMENTS:
        return moments
    ends = thinned(range(1, len(moments) + 1), MOST_MOMENTS)
    stretches = (moments[first:end] for first, end in zip([0, *ends], ends, strict=False))
    return [(part[0][0], max(size[1] for size in part), max(size[2] for size in part)) for part in stretches]


def _panel(column: str, y: dict[str, Any], colour: str, x: dict[str, Any], width: int) -> alt.Chart:
    area = alt.Chart().mark_area(line={"color": colour}, color=colour, fillOpacity=0.18, interpolate="step-after")
    return area.encode(alt.X("at_ms:Q", **x), alt.Y(f"{column}:Q", **y)).properties(width=width, height=120)
