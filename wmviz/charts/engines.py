"""Two engines beside each other: our outcomes and Flink's of one scenario."""

from __future__ import annotations

from collections import Counter
from typing import Any

import altair as alt
import pandas as pd

from wmviz.charts.axes import count_axis
from wmviz.charts.facts import unique
from wmviz.charts.look import BLUE, CROSS, INK, ORANGE, RED, WIDTH, check_width, headed, name_of, scale
from wmviz.comparison import Comparison, compare
from wmviz.scenario import Scenario
from wmviz.stage.picture import needs_dates, window_text
from wmviz.trace import Trace, TraceError
from wmviz.window import GLOBAL_WINDOW, TimeWindow

LABELS = 120
MOST_FIRINGS = 30
_KINDS = {
    "firing": "firings",
    "late event": "late events",
    "dropped": "dropped events",
    "watermark seen by": "seen watermarks",
    "total": "totals",
}
_FOUND = ("the same", "different")


def engines(data: Comparison | Scenario, *, width: int = WIDTH) -> alt.VConcatChart:
    """Draw the outcomes of one scenario on our engine and on Flink.

    Above, how many outcomes of each kind are the same. Below, the value of each firing: a ring from our engine, a cross
    from Flink; a cross in its ring is agreement.

    Parameters
    ----------
    data
        ``wmviz.compare(scenario)``, or a scenario, which is compared (this runs Flink).
    width
        Width of the plot with its labels in pixels.

    Returns
    -------
    altair.VConcatChart
        The data of its two parts: ``kind``, ``found`` (``the same`` or ``different``), ``outcomes`` (a number); and
        ``firing`` (the label), ``engine``, ``value`` (in the scenario's unit), ``agrees``.

    Raises
    ------
    TraceError
        If `data` is neither, or `width` is no width.
    """
    comparison, width = _comparison_of(data), check_width(width)
    counts, firings = outcome_rows(comparison), firing_rows(comparison)
    what = [repr(comparison).splitlines()[0].removeprefix(f"{comparison.ours.scenario.name}: ") + "."]
    drawn = len(set(firings["firing"]))
    total = len(comparison.ours.outcomes().firings.keys() | comparison.flink.outcomes().firings.keys())
    if drawn < total:
        what.append(f"Of {total:,} firings {drawn} are drawn, those that differ first.")
    plot = max(width - LABELS, 120)
    parts = [_counts(counts, plot)]
    if drawn:
        parts.append(_values(firings, comparison, plot))
    chart = alt.vconcat(*parts).resolve_scale(color="independent", shape="independent")
    return headed(chart, name_of(comparison.ours.scenario), what, width)


def outcome_rows(comparison: Comparison) -> pd.DataFrame:
    """Count the outcomes of each kind on which both agree, and those on which they do not."""
    ours, flink = comparison.ours.outcomes(), comparison.flink.outcomes()
    differ = Counter(difference.what for difference in comparison.differences)
    numbers = {
        "firing": len(ours.firings.keys() | flink.firings.keys()),
        "late event": len(ours.late | flink.late),
        "watermark seen by": len(ours.seen_watermarks.keys() | flink.seen_watermarks.keys()),
        "total": len(ours.totals.keys() | flink.totals.keys()),
    }
    agreed = {what: number - differ[what] for what, number in numbers.items()}
    if flink.dropped is not None:
        agreed["dropped"] = min(ours.dropped or 0, flink.dropped)
        differ["dropped"] = abs((ours.dropped or 0) - flink.dropped)
    rows = [
        (word, found, number)
        for what, word in _KINDS.items()
        if agreed.get(what, 0) + differ[what]
        for found, number in zip(_FOUND, (agreed[what], differ[what]), strict=True)
    ]
    return pd.DataFrame(rows, columns=["kind", "found", "outcomes"])


def firing_rows(comparison: Comparison) -> pd.DataFrame:
    """Give the values of firings on both engines, those that differ first if there are too many to draw."""
    ours, flink = comparison.ours.outcomes().firings, comparison.flink.outcomes().firings
    order = sorted(ours.keys() | flink.keys(), key=lambda key: (key[1] or 0, key[2] or 0, key[0], key[3]))
    if len(order) > MOST_FIRINGS:
        order = sorted(order, key=lambda key: ours.get(key) == flink.get(key))[:MOST_FIRINGS]
    windows = {key: GLOBAL_WINDOW if key[1] is None else TimeWindow(key[1], key[2]) for key in order}  # type: ignore[arg-type]
    zone = comparison.ours.scenario.zone
    dated = needs_dates(comparison.ours.scenario, windows.values())
    rows = []
    labels = unique(f"{key[0]} {window_text(windows[key], zone, dated)}{_again(key[3])}" for key in order)
    for key, label in zip(order, labels, strict=True):
        agrees = ours.get(key) == flink.get(key)
        for engine, found in (("wmviz", ours.get(key)), (comparison.flink.engine, flink.get(key))):
            if found is not None:
                rows.append((label if agrees else f"{label} ≠", engine, found[0], agrees))
    return pd.DataFrame(rows, columns=["firing", "engine", "value", "agrees"])


def _again(nth: int) -> str:
    return f" no. {nth}" if nth > 1 else ""


def _comparison_of(data: Any) -> Comparison:
    if isinstance(data, Comparison):
        return data
    if isinstance(data, Scenario):
        return compare(data)
    hint = "compare(trace.scenario)" if isinstance(data, Trace) else 'compare(wmviz.scenario("leaderboard"))'
    raise TraceError(
        f"charts.engines takes a comparison, not {type(data).__name__}; write wmviz.charts.engines(wmviz.{hint})"
    )


def _counts(frame: pd.DataFrame, width: int) -> alt.LayerChart:
    kinds = list(dict.fromkeys(frame["kind"]))
    totals = frame.groupby("kind", sort=False)["outcomes"]
    numbers = pd.DataFrame({"total": totals.sum(), "said": totals.apply(_said)}).reset_index()
    y = alt.Y("kind:N", sort=kinds, title=None, axis=alt.Axis(ticks=False, domain=False))
    bars = (
        alt.Chart()
        .mark_bar(height={"band": 0.72})
        .encode(
            alt.X("outcomes:Q", **count_axis("outcomes", int(totals.sum().max()))),
            y,
            alt.Color("found:N", scale=scale(_FOUND, [BLUE, RED]), title=None),
            alt.Order("found:N", sort="descending"),
        )
    )
    said = alt.Chart(numbers).mark_text(align="left", dx=5).encode(alt.X("total:Q"), y, alt.Text("said:N"))
    return alt.layer(bars, said, data=frame).properties(width=width, height=alt.Step(24))


def _said(numbers: pd.Series[int]) -> str:
    same, different = numbers
    return f"{same:,} the same, {different:,} different" if different else f"{same:,} the same"


def _values(frame: pd.DataFrame, comparison: Comparison, width: int) -> alt.LayerChart:
    rows = list(dict.fromkeys(frame["firing"]))
    names = ["wmviz", comparison.flink.engine]
    unit = comparison.ours.scenario.unit
    x = {"title": f"value of the firing ({unit})" if unit else "value of the firing", "axis": alt.Axis(tickCount=5)}
    y = {"title": None, "axis": alt.Axis(grid=True, ticks=False, domain=False)}
    base = alt.Chart(frame).encode(
        alt.X("value:Q", scale=alt.Scale(zero=False, padding=12), **x), alt.Y("firing:N", sort=rows, **y)
    )
    apart = base.mark_line(color=INK, strokeWidth=1.5).encode(alt.Detail("firing:N"))
    points = base.mark_point(opacity=1).encode(
        alt.Color("engine:N", scale=scale(names, [BLUE, ORANGE]), title=None),
        alt.Shape("engine:N", scale=scale(names, ["circle", CROSS]), title=None),
        alt.Size("engine:N", scale=scale(names, [110, 40]), legend=None),
    )
    return alt.layer(apart, points).properties(width=width, height=alt.Step(22))
