"""A fast and a slow source against the wall clock: with watermark alignment the fast one waits."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from wmviz.charts.axes import count_axis
from wmviz.charts.look import BLUE, INK, ORANGE, TEAL, WIDTH, check_width, headed, scale
from wmviz.flink.alignment import PLACES, AlignmentRun
from wmviz.trace import TraceError

_ALLOWED = "as far as is allowed"
_WAITS = "the fast one waits"
_LINES = {"fast source": (ORANGE, [1, 0]), "slow source": (BLUE, [1, 0]), _ALLOWED: (INK, [5, 4])}


def alignment(data: AlignmentRun, *, width: int = WIDTH) -> alt.LayerChart:
    """Draw how far a fast and a slow source have come, against the wall clock.

    The dashed line is the slow source plus the drift that is allowed. It is what the rule says, drawn also where no
    source obeys it. A band is a time in which the fast source sent nothing.

    Parameters
    ----------
    data
        ``wmviz.flink.align()``.
    width
        Width of the plot in pixels.

    Returns
    -------
    altair.LayerChart
        The data of its layers: ``line``, ``at_s`` (wall clock), ``event_time_s``; and ``from_s``, ``to_s``, ``what``.
        All in seconds from the first number.

    Raises
    ------
    TraceError
        If `data` is no such run or `width` is no width.
    """
    if not isinstance(data, AlignmentRun):
        raise TraceError(
            f"charts.alignment takes a run of two sources, not {type(data).__name__}; "
            "write wmviz.charts.alignment(wmviz.flink.align())"
        )
    width, lines = check_width(width), line_rows(data)
    x = {"scale": alt.Scale(domain=[0, lines["at_s"].max()], nice=False), "title": "wall clock (s)"}
    y = count_axis("event time (s)", int(lines["event_time_s"].max()))
    chart = alt.layer(*_bands(data, x), _lines(lines, x, y)).resolve_scale(color="independent")
    return headed(
        chart.properties(width=width, height=240), PLACES[data.where], repr(data).partition(": ")[2].split("\n"), width
    )


def line_rows(run: AlignmentRun) -> pd.DataFrame:
    """Give the points of the lines: each number of a source, and how far the slow one lets the other go."""
    rows = [(f"{look.source} source", look.at_ms / 1000, look.event_time_ms / 1000) for look in run.looks]
    if run.where != "off":
        rows += [
            (_ALLOWED, look.at_ms / 1000, (look.event_time_ms + run.drift_ms) / 1000)
            for look in run.looks
            if look.source == "slow"
        ]
    return pd.DataFrame(rows, columns=["line", "at_s", "event_time_s"])


def _lines(frame: pd.DataFrame, x: dict[str, Any], y: dict[str, Any]) -> alt.Chart:
    words = [line for line in _LINES if line in set(frame["line"])]
    colours, dashes = ([_LINES[line][part] for line in words] for part in (0, 1))
    return (
        alt.Chart(frame)
        .mark_line(interpolate="step-after", clip=True)
        .encode(
            alt.X("at_s:Q", **x),
            alt.Y("event_time_s:Q", **y),
            alt.Color("line:N", scale=scale(words, colours), title=None),
            alt.StrokeDash("line:N", scale=scale(words, dashes), title=None),
        )
    )


def _bands(run: AlignmentRun, x: dict[str, Any]) -> list[alt.Chart]:
    if not run.waits:
        return []
    rows = [(begin_ms / 1000, end_ms / 1000, _WAITS) for begin_ms, end_ms in run.waits]
    band = alt.Chart(pd.DataFrame(rows, columns=["from_s", "to_s", "what"])).mark_rect(opacity=0.16)
    return [
        band.encode(
            alt.X("from_s:Q", **x), alt.X2("to_s:Q"), alt.Color("what:N", scale=scale([_WAITS], [TEAL]), title=None)
        )
    ]
