"""A job while it ran, as Flink told over REST: watermarks against time, and what each task did with its time."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from wmviz.charts.axes import share_axis, time_axis
from wmviz.charts.look import BLUE, INK, ORANGE, PURPLE, RED, TEAL, WIDTH, check_width, count_text, headed, scale
from wmviz.flink.rest import LOOK, dropped, place_of, watermarks
from wmviz.times import MAX_MS
from wmviz.trace import TraceError

COLOURS = (BLUE, ORANGE, TEAL, PURPLE, RED, INK)
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [1, 3], [4, 4])
SHARES = {"busy": BLUE, "backpressured": RED, "idle": "#8a919966"}
MOST_LINES, ROW_PX = len(COLOURS), 34


def live(looks: Any, *, name: str = "A job while it ran", zone: str | None = None, width: int = WIDTH) -> Any:
    """Draw what was seen of a job: its watermarks against time, and below what its tasks did with their time.

    A line is the watermark that a task in a subtask has sent on or, where it sends none, has got. A gap is a time
    without a watermark, as after a restart. A bar says how much of the time between the first look and the last one a
    task worked (busy), waited for room in the buffers behind it (backpressured), and waited for input (idle).

    Parameters
    ----------
    looks
        What ``wmviz.flink.live(…).watch()`` gives, or the ``looks`` of ``wmviz.flink.resume()`` and
        ``wmviz.flink.barriers()``.
    name
        What stands above it.
    zone
        Time zone of the watermarks.
    width
        Width of the plot in pixels.

    Returns
    -------
    altair.VConcatChart
        The data: lines with ``place``, ``at_s``, ``watermark_ms``, ``part``; bars with ``place``, ``what``, ``ms``,
        ``share``.

    Raises
    ------
    TraceError
        If it is no such table, or an empty one, or `width` is no width.
    """
    if not isinstance(looks, pd.DataFrame) or not set(LOOK) <= set(looks.columns):
        raise TraceError("charts.live takes what wmviz.flink.live(…).watch() gives")
    if looks.empty:
        raise TraceError("charts.live has nothing to draw: nothing was seen of the job")
    width = check_width(width)
    lines, bars = line_rows(looks), bar_rows(looks)
    parts = [part for part in (_lines(lines, looks, zone, width), _bars(bars, width)) if part is not None]
    chart = alt.vconcat(*parts).resolve_scale(color="independent", strokeDash="independent")
    return headed(chart, name, [_told(looks, lines)], width)


def line_rows(looks: pd.DataFrame) -> pd.DataFrame:
    """Give the watermarks of the tasks that had one; a new part begins behind a gap, and where one begins anew."""
    seen = watermarks(looks)
    seen["watermark_ms"] = seen["watermark_ms"].where(seen["watermark_ms"] < MAX_MS)  # the last one is out of sight
    missing = seen["watermark_ms"].isna()
    fell = (seen.groupby("place")["watermark_ms"].diff() < 0).fillna(value=False)  # only a restart takes it back
    seen["part"] = (missing | fell).groupby(seen["place"]).cumsum()
    there = seen[~missing]
    return there[there["place"].isin(there["place"].unique()[:MOST_LINES])].reset_index(drop=True)


def bar_rows(looks: pd.DataFrame) -> pd.DataFrame:
    """Give what each task in each subtask did with its time while it was seen."""
    rows = []
    places = [place_of(task, subtask) for task, subtask in zip(looks["task"], looks["subtask"], strict=True)]
    each = looks.assign(place=places).drop_duplicates(["place", "at_s"])
    for place, seen in each.groupby("place", sort=False):
        # A task that is started again counts from 0, so a fall is no time.
        spent = {what: int(seen[f"{what}_ms"].dropna().diff().clip(lower=0).sum()) for what in SHARES}
        if whole := sum(spent.values()):
            rows += [(place, what, ms, ms / whole) for what, ms in spent.items()]
    return pd.DataFrame(rows, columns=["place", "what", "ms", "share"])


def _told(looks: pd.DataFrame, lines: pd.DataFrame) -> str:
    count = count_text(looks["at_s"].nunique(), "look")
    watermark = "" if len(lines) else " No task had a watermark."
    return f"What Flink told over REST in {count}. Dropped as late: {dropped(looks)}.{watermark}"


def _lines(lines: pd.DataFrame, looks: pd.DataFrame, zone: str | None, width: int) -> Any:
    if lines.empty:
        return None
    names = list(dict.fromkeys(lines["place"]))
    y = time_axis("watermark", map(int, lines["watermark_ms"]), (), zone)
    seconds = [float(lines["at_s"].min()), float(looks["at_s"].max())]  # nothing is to be seen while the job starts
    legend = alt.Legend(symbolType="stroke", symbolStrokeWidth=2)
    chart = alt.Chart(lines).mark_line(interpolate="step-after", point={"size": 18, "filled": True})
    return chart.encode(
        x=alt.X("at_s:Q", title="seconds since the first look", scale=alt.Scale(domain=seconds, nice=False)),
        y=alt.Y("watermark_ms:Q", **y),
        color=alt.Color("place:N", title=None, legend=legend, scale=scale(names, COLOURS[: len(names)])),
        strokeDash=alt.StrokeDash("place:N", title=None, legend=legend, scale=scale(names, DASHES[: len(names)])),
        detail="part:Q",
    ).properties(width=width, height=200)


def _bars(bars: pd.DataFrame, width: int) -> Any:
    if bars.empty:
        return None
    names = list(SHARES)
    order = {name: number for number, name in enumerate(names)}
    data = bars.assign(order=bars["what"].map(order))
    return (
        alt.Chart(data)
        .mark_bar()
        .encode(
            x=alt.X(
                "share:Q", title="share of the time", axis=share_axis(), scale=alt.Scale(domain=[0, 1], clamp=True)
            ),
            y=alt.Y("place:N", title=None, sort=list(dict.fromkeys(bars["place"]))),
            color=alt.Color("what:N", title=None, scale=scale(names, list(SHARES.values()))),
            order="order:O",
        )
        .properties(width=width, height=ROW_PX * data["place"].nunique())
    )
