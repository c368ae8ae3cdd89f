"""A fast and a slow source against the wall clock: with watermark alignment the fast one waits."""

from __future__ import annotations

from math import ceil
from typing import Any

import altair as alt
import pandas as pd

from wmviz.charts.axes import count_axis
from wmviz.charts.look import BLUE, INK, ORANGE, TEAL, WIDTH, check_width, headed, scale
from wmviz.flink.alignment import AlignmentRun, Look
from wmviz.trace import TraceError

_ALLOWED = "slow source + drift"
_WAITS = "the fast one waits"
_LINES = {"fast source": (ORANGE, [1, 0]), "slow source": (BLUE, [1, 0]), _ALLOWED: (INK, [3, 3])}


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
    x = count_axis("wall clock (s)", ceil(lines["at_s"].max()))
    y = count_axis("event time (s)", int(lines["event_time_s"].max()))
    layers = [*_bands(data, x), _lines(lines, x, y), *_end(data, x)]
    chart = alt.layer(*layers).resolve_scale(color="independent", strokeDash="independent")
    return headed(chart.properties(width=width, height=240), data.verdict, [data.told], width)


def line_rows(run: AlignmentRun) -> pd.DataFrame:
    """Give the points of the lines: each number of a source, and how far the slow one lets the other go."""
    rows = [(f"{look.source} source", look.at_ms / 1000, look.event_time_ms / 1000) for look in run.looks]
    if run.where != "off":
        rows += [(_ALLOWED, look.at_ms / 1000, (look.event_time_ms + run.drift_ms) / 1000) for look in _slow(run)]
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


def _end(run: AlignmentRun, x: dict[str, Any]) -> list[alt.Chart | alt.LayerChart]:
    """Mark where the slow source ends, if the other one goes on: nobody is there to wait for any more."""
    slow_s, last_s = (max(look.at_ms for look in looks) / 1000 for looks in (_slow(run), run.looks))
    if last_s - slow_s < last_s / 8:
        return []
    base = alt.Chart(pd.DataFrame({"at_s": [slow_s], "said": ["the slow one has ended"]})).encode(alt.X("at_s:Q", **x))
    said = base.mark_text(align="left", baseline="top", dx=6).encode(alt.Text("said:N"), alt.Y(value=4))
    return [base.mark_rule(color=INK, strokeDash=[2, 3]), said]


def _slow(run: AlignmentRun) -> list[Look]:
    return [look for look in run.looks if look.source == "slow"]
