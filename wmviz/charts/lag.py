"""The distribution of arrival lag."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from typing import Any

import altair as alt
import pandas as pd

from wmviz.charts.axes import LADDER_MS, labelled, share_axis, short_duration
from wmviz.charts.facts import quantile
from wmviz.charts.look import BLUE, ORANGE, WIDTH, check_width, count_text, headed, name_of, scale
from wmviz.lag.reading import column_ms
from wmviz.scenario import Scenario
from wmviz.times import DAY_MS, MAX_MS, MIN_MS, duration_text
from wmviz.trace import Trace, TraceError

_COLUMNS = (("event_time_ms", "arrival_time_ms"), ("event_time", "arrival_time"))
_WORDS = ("arrive in this range", "have arrived by then")
_EDGES_MS = (MIN_MS, *LADDER_MS, *(DAY_MS * 10**power for power in range(3, 9)), MAX_MS)


def lag(data: Scenario | Trace | pd.DataFrame, *, width: int = WIDTH) -> alt.LayerChart:
    """Draw the distribution of lag: arrival time minus event time.

    Bars are the share of the events in each range, from one round duration up to, not including, the next. The line is
    the share that has arrived by then.

    Parameters
    ----------
    data
        A scenario, a trace, or a pandas table with the columns ``event_time_ms`` and ``arrival_time_ms`` (ms) or
        ``event_time`` and ``arrival_time`` (timestamps, or ms).
    width
        Width of the plot in pixels.

    Returns
    -------
    altair.LayerChart
        Its data, one row per range: ``bin`` (its place on the axis), ``from_ms`` and ``to_ms`` (missing where a range
        has no end), ``events``, ``share`` and ``arrived`` (shares from 0 to 1).

    Raises
    ------
    TraceError
        If `data` is none of these or has no events, a time is missing, or `width` is no width.
    """
    name, lags_ms, width = *_lags(data), check_width(width)
    frame = bins(lags_ms)
    edges = [_edge(ms) for ms in (*frame["from_ms"], frame["to_ms"].iloc[-1])]
    x = alt.X(
        "bin:Q",
        scale=alt.Scale(domain=[0, len(frame)], nice=False),
        axis=labelled(list(enumerate(edges)), grid=False),
        title="lag: arrival time minus event time",
    )
    y = {"scale": alt.Scale(domain=[0, 1]), "axis": share_axis(), "title": "share of the events"}
    colour = alt.Color("what:N", scale=scale(_WORDS, [BLUE, ORANGE]), title=None)
    bars = alt.Chart(frame).transform_calculate(what=f"'{_WORDS[0]}'").mark_bar(xOffset=1, x2Offset=-1, opacity=0.8)
    line = alt.Chart(frame).transform_calculate(what=f"'{_WORDS[1]}'").mark_line(point={"filled": True, "size": 36})
    chart = alt.layer(
        bars.encode(x, alt.X2("bin_end:Q"), alt.Y("share:Q", **y), alt.Y2(datum=0), colour),
        line.encode(alt.X("bin_end:Q"), alt.Y("arrived:Q", **y), colour),
    )
    return headed(chart.properties(width=width, height=240), name, [_summary(lags_ms)], width)


def bins(lags_ms: list[int]) -> pd.DataFrame:
    """Count lags in ranges between round durations, from the first that holds one to the last."""
    counts = Counter(bisect_right(_EDGES_MS, lag_ms) - 1 for lag_ms in lags_ms)
    rows, so_far = [], 0
    for number, place in enumerate(range(min(counts), max(counts) + 1)):
        so_far += counts[place]
        from_ms, to_ms = _EDGES_MS[place], _EDGES_MS[place + 1]
        ends = None if from_ms == MIN_MS else from_ms, None if to_ms == MAX_MS else to_ms
        rows.append((number, number + 1, *ends, counts[place], counts[place] / len(lags_ms), so_far / len(lags_ms)))
    columns = ["bin", "bin_end", "from_ms", "to_ms", "events", "share", "arrived"]
    return pd.DataFrame(rows, columns=columns).astype({"from_ms": "Int64", "to_ms": "Int64"})


def _edge(ms: Any) -> str:
    return "" if ms is pd.NA else duration_text(int(ms)) if ms else "0"


def _summary(lags_ms: list[int]) -> str:
    ordered = sorted(lags_ms)
    half, most, last = (short_duration(quantile(ordered, share)) for share in (0.5, 0.95, 1.0))
    early = sum(1 for lag_ms in ordered if lag_ms < 0)
    text = f"{count_text(len(ordered), 'event')}: half arrive within {half}, 95 % within {most}, the last after {last}."
    return f"{text} {count_text(early, 'event')} before it happened: a clock is wrong." if early else text


def _lags(data: Any) -> tuple[str, list[int]]:
    """Give a name and the lags in ms."""
    if isinstance(data, Trace):
        data = data.scenario
    if isinstance(data, Scenario):
        name, lags_ms = name_of(data), [event.arrival_time_ms - event.event_time_ms for event in data.events]
    elif isinstance(data, pd.DataFrame):
        name, lags_ms = "Arrival lag", _frame_lags(data)
    else:
        raise TraceError(
            f"charts.lag takes a scenario, a trace or a pandas table, not {type(data).__name__}; "
            'write wmviz.charts.lag(wmviz.scenario("leaderboard"))'
        )
    if not lags_ms:
        raise TraceError("charts.lag has nothing to draw: there are no events")
    return name, lags_ms


def _frame_lags(frame: pd.DataFrame) -> list[int]:
    for event_time, arrival_time in _COLUMNS:
        if event_time in frame.columns and arrival_time in frame.columns:
            lags_ms: list[int] = (column_ms(frame, arrival_time) - column_ms(frame, event_time)).tolist()
            return lags_ms
    raise TraceError(
        "charts.lag needs a table with the columns event_time_ms and arrival_time_ms, or event_time and arrival_time; "
        f"this one has {', '.join(map(str, frame.columns[:8])) or 'none'}"
    )
