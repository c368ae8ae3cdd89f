"""How often each window fires."""

from __future__ import annotations

from collections import Counter

import altair as alt
import pandas as pd

from wmviz.charts.axes import count_axis
from wmviz.charts.facts import unique
from wmviz.charts.look import BLUE, ORANGE, WIDTH, check_width, count_text, headed, name_of, scale, trace_of
from wmviz.scenario import Scenario
from wmviz.stage.picture import needs_dates, window_text
from wmviz.trace import Trace
from wmviz.window import AnyWindow

LABELS = 60
MOST_ROWS = 30
_WORDS = ("first result", "fired again")


def firings(data: Scenario | Trace, *, width: int = WIDTH) -> alt.LayerChart:
    """Draw how often each window fires: first results, and firings that correct them.

    A bar is a window with all of its keys. Where there are many windows, a bar is several that follow each other.

    Parameters
    ----------
    data
        A scenario, which is run, or a trace of ours or of Flink.
    width
        Width of the plot with its labels in pixels.

    Returns
    -------
    altair.LayerChart
        Its data: ``window`` (the label), ``start_ms`` and ``end_ms`` (ms since the epoch, missing for the global
        window), ``windows`` (how many are in the bar), ``firing`` (``first result`` or ``fired again``), ``firings`` (a
        number), ``again`` (0 or 1).

    Raises
    ------
    TraceError
        If `data` is neither, or `width` is no width.
    """
    trace, width = trace_of(data, "firings"), check_width(width)
    frame = firing_rows(trace)
    again = int(frame.loc[frame["firing"] == _WORDS[1], "firings"].sum())
    total = int(frame["firings"].sum())
    what = [f"{count_text(total, 'firing')} ({trace.engine}), {again:,} of them again: corrected results."]
    if total == 0:
        what = [f"No window fires ({trace.engine})."]
    if len(frame) and frame["windows"].max() > 1:
        what.append("Windows that follow each other share a bar.")
    rows = list(dict.fromkeys(frame["window"]))
    totals = frame.groupby("window", sort=False)["firings"]
    base = alt.Chart().encode(alt.Y("window:N", sort=rows, title=None, axis=alt.Axis(ticks=False, domain=False)))
    bars = base.mark_bar(height={"band": 0.72}).encode(
        alt.X("firings:Q", **count_axis("firings, all keys together", int(totals.sum().max() if rows else 0))),
        alt.Color("firing:N", scale=scale(_WORDS, [BLUE, ORANGE]), title=None),
        alt.Order("again:Q"),
    )
    numbers = pd.DataFrame({"total": totals.sum(), "said": totals.apply(_said)}).reset_index()
    rows_y = alt.Y("window:N", sort=rows)
    counts = alt.Chart(numbers).mark_text(align="left", dx=5).encode(alt.X("total:Q"), rows_y, alt.Text("said:N"))
    chart = alt.layer(bars, counts, data=frame).properties(width=max(width - LABELS, 120), height=alt.Step(24))
    return headed(chart, name_of(trace.scenario), what, width)


def firing_rows(trace: Trace) -> pd.DataFrame:
    """Count the firings of each window, by first and again; neighbours are put together where there are many."""
    counts: dict[AnyWindow, Counter[bool]] = {}
    for firing in trace.all_firings:
        counts.setdefault(firing.window, Counter())[firing.nth > 1] += 1
    windows = sorted(counts, key=lambda window: (window.start_ms or 0, window.end_ms or 0))
    dated = needs_dates(trace.scenario, windows)
    size = -(-len(windows) // MOST_ROWS) or 1
    groups = [windows[first : first + size] for first in range(0, len(windows), size)]
    rows = []
    for label, group in zip(unique(_label(group, trace.scenario.zone, dated) for group in groups), groups, strict=True):
        number = [sum(counts[window][again] for window in group) for again in (False, True)]
        ends = group[0].start_ms, group[-1].end_ms
        rows += [(label, *ends, len(group), _WORDS[again], number[again], again) for again in (0, 1)]
    columns = ["window", "start_ms", "end_ms", "windows", "firing", "firings", "again"]
    return pd.DataFrame(rows, columns=columns).astype({"start_ms": "Int64", "end_ms": "Int64"})


def _label(group: list[AnyWindow], zone: str | None, dated: int) -> str:
    label = window_text(group[0], zone, dated)
    return label if len(group) == 1 else f"{label} and {len(group) - 1} more"


def _said(numbers: pd.Series[int]) -> str:
    first, again = numbers
    return f"{first:,} + {again:,}" if again else f"{first:,}"
