"""Completeness against latency: what a longer bound gains, and what it costs."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import isnan
from statistics import fmean
from typing import Any, NamedTuple

import altair as alt
import pandas as pd

from wmviz.charts.axes import LADDER_MS, labelled, share_axis, short_duration
from wmviz.charts.facts import event_looks, quantile, thinned
from wmviz.charts.look import BLUE, CROSS, INK, ORANGE, RED, WIDTH, check_width, headed, name_of, scale
from wmviz.engine.simulate import simulate
from wmviz.lag import Advice
from wmviz.scenario import Scenario
from wmviz.stage.marks import Look
from wmviz.times import MAX_MS, MIN_MS, duration_ms, duration_text, shown
from wmviz.trace import Kind, Trace, TraceError, WindowOf

MOST_BOUNDS, MOST_ADVISED = 40, 10
_FIRST, _LATER, _LATE, _WAITING = "in the first result", "counted late", "late", "no result yet"
_MISSING, _LOST = "missing in the first result", "never counted"
OUTCOMES = (_FIRST, _LATER, _LATE, _WAITING)
_COLUMNS = ["bound_ms", "bound", "added_latency_ms", "wait_ms", "outcome", "events", "share"]


class Run(NamedTuple):
    """What a bound comes to: how many events have each outcome, and when each window gave its first result."""

    bound_ms: int
    outcomes: Counter[str]
    first_results_ms: dict[WindowOf, int]


def completeness(
    data: Scenario | Trace | Advice, bounds: Sequence[int | str] | None = None, *, width: int = WIDTH
) -> alt.LayerChart:
    """Draw completeness against latency, for a range of out-of-orderness bounds; each is a run of its own.

    The share of the events that are in the first result of their window, counted late (a firing within the allowed
    lateness corrects the result), or late (side output or dropped). Across: how much later, on average, a window gives
    its first result than with a bound of 0. An event in several windows counts once, by the worst of them.

    The input ends with the last event, if the scenario names no end, so that every window comes to a result. Windows
    that only this end makes fire do not count for latency.

    Parameters
    ----------
    data
        A scenario whose windows fire by the watermark, or a trace of one. A run of 170,000 events takes some 4 seconds.
        Or the advice of `wmviz.lag.choose`: then what is drawn is the share that a bound leaves out.
    bounds
        Durations: ``["0", "30 s", "2 min"]``, or ms. Without them, round ones up to the largest disorder.
    width
        Width of the plot in pixels.

    Returns
    -------
    altair.LayerChart
        Its data, one row for each bound and outcome: ``bound_ms``, ``bound`` (the same as text), ``added_latency_ms``,
        ``wait_ms`` (first result minus the window's end, on average), both missing where no window fires before the
        end; ``outcome``, ``events`` (a number), ``share`` (from 0 to 1); ``place`` (on the axis). Of an advice it has
        ``bound_ms``, ``bound``, ``place``, ``added_ms``, ``outcome`` and ``share``.

    Raises
    ------
    TraceError
        If `data` is neither, its windows do not wait for a bound, or `width` is no width.
    TimeError
        If a bound is no duration.
    """
    if isinstance(data, Advice):
        return _advised(data, bounds, check_width(width))
    scenario, width = _scenario_of(data), check_width(width)
    bounds_ms = disorder_bounds(scenario) if bounds is None else read_bounds(bounds)
    frame = completeness_rows(scenario, bounds_ms)
    what = [
        "Each point is a run with the bound above it. Added latency: compared with a bound of 0, mean over windows."
    ]
    if frame["added_latency_ms"].isna().any():
        what.append("– is no latency: only the end of the input makes windows fire.")
    drawn = frame[frame.groupby("outcome")["events"].transform("sum") > 0]
    return headed(_chart(drawn, width), name_of(scenario), what, width)


def _advised(advice: Advice, bounds: Sequence[int | str] | None, width: int) -> alt.LayerChart:
    """Draw the curve of an advice: what is missing in the first result, and what is never counted."""
    bounds_ms = list(advice.curve["bound_ms"]) if bounds is None else read_bounds(bounds)
    if bounds is None:
        bounds_ms = sorted({0, advice.bound_ms, *thinned(bounds_ms, MOST_ADVISED)})
    curve = advice.curve_at(bounds_ms)
    shares = {_MISSING: 1 - curve["on_time_share"], _LOST: curve["lost_share"]}
    parts = [curve.assign(outcome=what, share=share, place=curve.index) for what, share in shares.items()]
    frame = pd.concat(parts)[["bound_ms", "bound", "place", "added_ms", "outcome", "share"]].reset_index(drop=True)
    said = f"Advised: bound {_bound_text(advice.bound_ms)}, lateness {_bound_text(advice.lateness_ms)}."
    what = [f"{said} Added latency: compared with a bound of 0, mean over windows."]
    if curve["added_ms"].isna().any():
        what.append("– is no latency: the data end before windows fire.")
    return headed(_missing_chart(frame, advice.bound_ms, width), "What a bound leaves out", what, width)


def _missing_chart(frame: pd.DataFrame, advised_ms: int, width: int) -> alt.LayerChart:
    points = frame.drop_duplicates("bound_ms")
    across = alt.Scale(domain=[-0.4, max(len(points) - 0.6, 0.4)], nice=False)
    latency = ["–" if isnan(ms) else short_duration(ms) if ms else "0" for ms in points["added_ms"].astype(float)]
    below = labelled(list(enumerate(latency)), grid=False, labelAngle=-35)
    above = labelled(list(enumerate(points["bound"])), orient="top", grid=True, titlePadding=4, labelAngle=-35)
    most = max(frame["share"].max() * 1.15, 1e-4)
    share = {"scale": alt.Scale(domain=[0, most], nice=False), "axis": alt.Axis(format="~p")}
    base = alt.Chart().encode(
        alt.X("place:Q", scale=across, axis=below, title="added latency: how much later the first result comes"),
        alt.Y("share:Q", title="share of the events", **share),
        alt.Color("outcome:N", scale=scale((_MISSING, _LOST), (ORANGE, RED)), title=None),
        alt.Order("bound_ms:Q"),
    )
    shape = alt.Shape("outcome:N", scale=scale((_MISSING, _LOST), ("diamond", CROSS)), title=None)
    first = frame[frame["outcome"] == _MISSING]
    said = alt.Chart(first.assign(said=[f"{part:.2%}" for part in first["share"]])).mark_text(
        dx=6, dy=-10, align="left", fontSize=11
    )
    texts = said.encode(alt.X("place:Q", scale=across), alt.Y("share:Q", **share), alt.Text("said:N"))
    here = alt.Chart(points[points["bound_ms"] == advised_ms]).mark_rule(color=INK, strokeDash=[4, 3])
    advised = here.encode(alt.X("place:Q", scale=across))
    lines = alt.layer(base.mark_line(), base.mark_point(opacity=1).encode(shape), texts, advised)
    bounds = alt.Chart(points).mark_point(opacity=0)
    bounds = bounds.encode(
        alt.X("place:Q", scale=across, axis=above, title="out-of-orderness bound; the dashed one is advised")
    )
    return alt.layer(lines, bounds, data=frame).resolve_scale(x="independent").properties(width=width, height=260)


def _bound_text(ms: int) -> str:
    return duration_text(ms) if ms else "0"


def read_bounds(bounds: Any) -> list[int]:
    """Read bounds into ms, in order, each once.

    Raises
    ------
    TraceError
        If it is no list of them, or one is below 0.
    TimeError
        If one is no duration.
    """
    if isinstance(bounds, str) or not isinstance(bounds, Iterable):
        raise TraceError(f'bounds is {shown(bounds)}; write a list of durations: ["0", "30 s", "2 min"]')
    read = sorted({duration_ms(bound) for bound in bounds})
    if not 0 < len(read) <= MOST_BOUNDS:
        raise TraceError(f"bounds holds {len(read)} durations; write 1 to {MOST_BOUNDS} of them")
    if read[0] < 0:
        raise TraceError(f"bounds holds {duration_text(read[0])}; a bound is 0 or more")
    return read


def disorder_bounds(scenario: Scenario, most: int = 8) -> list[int]:
    """Give 0 and round bounds that span the disorder: how far events lie behind the newest one before them."""
    newest_ms = MIN_MS
    behind_ms = []
    for event in scenario.events:
        newest_ms = max(newest_ms, event.event_time_ms)
        behind_ms.append(newest_ms - event.event_time_ms)
    disorder_ms = sorted(filter(None, behind_ms)) or [0]
    last = min(bisect_left(LADDER_MS, disorder_ms[-1]), len(LADDER_MS) - 1)
    first = min(bisect_left(LADDER_MS, quantile(disorder_ms, 0.05)), last - 3)
    return [0, *thinned(LADDER_MS[max(1, first) : last + 1], most)]


def completeness_rows(scenario: Scenario, bounds_ms: Sequence[int]) -> pd.DataFrame:
    """Run a scenario with each bound and count what becomes of its events."""
    if scenario.end_of_input_ms is None:
        scenario = replace(scenario, end_of_input_ms=scenario.events[-1].arrival_time_ms)
    base = _run(scenario, 0)
    rows: list[tuple[Any, ...]] = []
    for bound_ms in bounds_ms:
        run = base if bound_ms == 0 else _run(scenario, bound_ms)
        firsts = run.first_results_ms
        common = firsts.keys() & base.first_results_ms.keys()
        added_ms = fmean(firsts[w] - base.first_results_ms[w] for w in common) if common else None
        wait_ms = fmean(at_ms - (w.window.end_ms or 0) for w, at_ms in firsts.items()) if firsts else None
        known = _bound_text(bound_ms), added_ms, wait_ms
        total = sum(run.outcomes.values()) or 1
        rows += [(bound_ms, *known, what, run.outcomes[what], run.outcomes[what] / total) for what in OUTCOMES]
    return pd.DataFrame(rows, columns=_COLUMNS).astype({"added_latency_ms": float, "wait_ms": float})


def _run(scenario: Scenario, bound_ms: int) -> Run:
    trace = simulate(replace(scenario, bound_ms=bound_ms))
    firsts: dict[WindowOf, int] = {}
    resulted: set[int] = set()
    ended = False
    for row, kind in enumerate(trace.kind):
        if kind == Kind.WATERMARK:
            ended = ended or trace.value[row] == MAX_MS
        elif kind == Kind.FIRED:
            resulted.update(trace.firing_events(row))
            if not ended:
                firsts.setdefault(trace.windows[trace.subject[row]], trace.step_at_ms[trace.step[row]])
    missed = {trace.subject[row] for row, kind in enumerate(trace.kind) if kind == Kind.MISSED}
    outcomes: Counter[str] = Counter()
    for event, look in enumerate(event_looks(trace)):
        if look in (Look.SIDE_OUTPUT, Look.DROPPED) or event in missed:
            outcomes[_LATE] += 1
        elif look == Look.LATE_COUNTED:
            outcomes[_LATER] += 1
        elif look == Look.ON_TIME:
            outcomes[_FIRST if event in resulted else _WAITING] += 1
    return Run(bound_ms, outcomes, firsts)


def _scenario_of(data: Any) -> Scenario:
    scenario = data.scenario if isinstance(data, Trace) else data
    if not isinstance(scenario, Scenario):
        raise TraceError(
            f"charts.completeness takes a scenario or a trace, not {type(data).__name__}; "
            'write wmviz.charts.completeness(wmviz.scenario("leaderboard"))'
        )
    if not scenario.events:
        raise TraceError("charts.completeness has nothing to draw: there are no events")
    if scenario.strategy != "bounded":
        raise TraceError(
            f'strategy is "{scenario.strategy}", which has no bound; write scenario.replace(strategy="bounded")'
        )
    window = scenario.window
    if (
        window.time != "event"
        or window.type == "global"
        or window.trigger.removeprefix("purging_")
        not in (
            "default",
            "event_time",
        )
    ):
        raise TraceError(
            "charts.completeness needs windows that fire when the watermark reaches their end; "
            'write scenario.replace(window={"type": "tumbling", "size": "1 h"})'
        )
    return scenario


def _chart(frame: pd.DataFrame, width: int) -> alt.LayerChart:
    points = frame.drop_duplicates("bound_ms").reset_index(drop=True)
    frame = frame.merge(points.assign(place=points.index)[["bound_ms", "place"]])
    words = [outcome for outcome in OUTCOMES if outcome in set(frame["outcome"])]
    colours = dict(zip(OUTCOMES, (BLUE, ORANGE, RED, INK), strict=True))
    shapes = dict(zip(OUTCOMES, ("circle", "diamond", CROSS, "triangle-up"), strict=True))
    across = alt.Scale(domain=[-0.4, max(len(points) - 0.6, 0.4)], nice=False)
    latency = ["–" if isnan(ms) else short_duration(ms) if ms else "0" for ms in points["added_latency_ms"]]
    below = labelled(list(enumerate(latency)), grid=False)
    above = labelled(list(enumerate(points["bound"])), orient="top", grid=True, titlePadding=4)
    share = {"scale": alt.Scale(domain=[0, 1.1], nice=False), "axis": share_axis(), "title": "share of the events"}
    base = alt.Chart().encode(
        alt.X("place:Q", scale=across, axis=below, title="added latency: how much later the first result comes"),
        alt.Y("share:Q", **share),
        alt.Color("outcome:N", scale=scale(words, [colours[word] for word in words]), title=None),
        alt.Order("bound_ms:Q"),
    )
    shape = alt.Shape("outcome:N", scale=scale(words, [shapes[word] for word in words]), title=None)
    lines = alt.layer(base.mark_line(), base.mark_point(opacity=1).encode(shape), _shares(frame, across, share))
    bounds = alt.Chart(points.assign(place=points.index)).mark_point(opacity=0)
    bounds = bounds.encode(alt.X("place:Q", scale=across, axis=above, title="out-of-orderness bound"))
    return alt.layer(lines, bounds, data=frame).resolve_scale(x="independent").properties(width=width, height=260)


def _shares(frame: pd.DataFrame, across: alt.Scale, share: dict[str, Any]) -> alt.Chart:
    """Write the share in the first result above its points."""
    first = frame[frame["outcome"] == _FIRST]
    said = first.assign(said=[f"{part:.1%}".replace(".0%", "%") for part in first["share"]])
    text = alt.Chart(said).mark_text(dy=-12, fontSize=11)
    return text.encode(alt.X("place:Q", scale=across), alt.Y("share:Q", **share), alt.Text("said:N"))
