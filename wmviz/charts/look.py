"""How every chart looks: the theme, the colours, the words above it, and the picture that a notebook keeps."""

from __future__ import annotations

import base64
import re
import textwrap
from collections.abc import Sequence
from html import escape
from typing import Any

import altair as alt
from altair.utils.mimebundle import spec_to_mimebundle

from wmviz.engine.simulate import simulate
from wmviz.scenario import Scenario
from wmviz.stage.marks import LOOKS, Look
from wmviz.times import shown
from wmviz.trace import Trace, TraceError

NAME = "wmviz"
WIDTH = 520
_WIDTHS = range(200, 2001)

# Each has a contrast above 3.5 on white and on JupyterLab's dark paper, ink above 4.3; shapes and words say the same.
INK = "#737a82"
LINE = "#8a919966"
BLUE, ORANGE, PURPLE, RED, TEAL = "#3a7fc1", "#c46f00", "#9a6bc9", "#d9483b", "#12958d"
LOOK_COLOURS = {
    Look.IN_FLIGHT: INK,
    Look.ON_TIME: BLUE,
    Look.LATE_COUNTED: ORANGE,
    Look.SIDE_OUTPUT: PURPLE,
    Look.DROPPED: RED,
    Look.NO_WINDOW: INK,
    Look.LOST: RED,
}
CROSS = "M-.7,-.7L.7,.7M.7,-.7L-.7,.7"
LOOK_SHAPES = {
    Look.IN_FLIGHT: "stroke",
    Look.ON_TIME: "circle",
    Look.LATE_COUNTED: "diamond",
    Look.SIDE_OUTPUT: "square",
    Look.DROPPED: CROSS,
    Look.NO_WINDOW: "triangle-up",
    Look.LOST: "triangle-down",
}
LOOK_WORDS = dict(zip(Look, LOOKS, strict=True))

_UNSEEN = re.compile(r' (?:class|role|aria-[\w-]+|pointer-events)="[^"]*"')
_CONFIG: dict[str, Any] = {
    "background": "transparent",
    "font": "Liberation Sans, Arial, Helvetica, sans-serif",
    "padding": 6,
    "aria": False,
    "view": {"stroke": None, "continuousWidth": WIDTH, "continuousHeight": 260},
    "title": {
        "anchor": "start",
        "frame": "bounds",
        "color": INK,
        "fontSize": 14,
        "fontWeight": "bold",
        "subtitleColor": INK,
        "subtitleFontSize": 12.5,
        "subtitlePadding": 4,
        "offset": 12,
    },
    "axis": {
        "labelColor": INK,
        "labelFontSize": 12,
        "titleColor": INK,
        "titleFontSize": 12.5,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "domainColor": INK,
        "tickColor": INK,
        "gridColor": LINE,
        "gridOpacity": 0.5,
        "labelOverlap": "parity",
        "labelLimit": 190,
    },
    "legend": {
        "orient": "bottom",
        "direction": "horizontal",
        "labelColor": INK,
        "labelFontSize": 12,
        "labelLimit": 240,
        "titleColor": INK,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "columnPadding": 14,
        "offset": 12,
        "layout": {"bottom": {"direction": "vertical", "anchor": "start"}},
    },
    "text": {"color": INK, "fontSize": 12},
    "bar": {"color": BLUE},
    "line": {"strokeWidth": 2},
    "point": {"size": 60, "filled": False, "strokeWidth": 1.8},
    "concat": {"spacing": 14},
}


def enable() -> None:
    """Make theme and form Altair's, unless others have been chosen."""
    alt.theme.register(NAME, enable=False)(lambda: {"config": _CONFIG})
    alt.renderers.register(NAME, render)
    if alt.theme.active == "default":
        alt.theme.enable(NAME)
    if alt.renderers.active == "default":
        alt.renderers.enable(NAME)


def render(spec: dict[str, Any], **_: Any) -> dict[str, str]:
    """Draw a chart for a notebook: a picture that even an untrusted notebook shows, and its sentence as text.

    Parameters
    ----------
    spec
        A Vega-Lite specification with its data.

    Returns
    -------
    dict
        MIME type → content, the same for the same chart in every process.
    """
    text = str(spec.get("description") or "A chart")
    svg = svg_of(spec)
    drawn = base64.b64encode(svg.encode()).decode()
    width = re.search(r'<svg[^>]* width="([\d.]+)"', svg)
    size = f' width="{width[1]}"' if width else ""
    image = (
        f'<img src="data:image/svg+xml;base64,{drawn}" alt="{escape(text)}"{size} style="max-width:100%;height:auto">'
    )
    return {"text/plain": text, "text/html": image}


def svg_of(spec: dict[str, Any]) -> str:
    """Draw a specification as SVG, without what an image element ignores.

    Ids are counted from 0, and not on from the chart before: the same chart gives the same text.
    """
    bundle: Any = spec_to_mimebundle(spec, format="svg", mode="vega-lite")
    numbers: dict[str, str] = {}

    def renumber(found: re.Match[str]) -> str:
        return found[1] + numbers.setdefault(found[2], f"clip{len(numbers)}")

    svg = re.sub(r'(id="|url\(#)(clip\d+)', renumber, bundle["image/svg+xml"])
    return re.sub(r"<[^>]*>", lambda tag: _UNSEEN.sub("", tag[0]), svg)


def trace_of(value: Any, taker: str) -> Trace:
    """Give the trace itself, or run the scenario.

    Raises
    ------
    TraceError
        If it is neither, or has no events.
    """
    if isinstance(value, Trace | Scenario):
        trace = value if isinstance(value, Trace) else simulate(value)
        if trace.scenario.events:
            return trace
        raise TraceError(f"charts.{taker} has nothing to draw: there are no events")
    raise TraceError(
        f"charts.{taker} takes a scenario or a trace, not {type(value).__name__}; "
        f'write wmviz.charts.{taker}(wmviz.scenario("leaderboard"))'
    )


def check_width(width: Any) -> int:
    """Give the width back if it is one.

    Raises
    ------
    TraceError
        If it is no whole number of pixels in the range.
    """
    if isinstance(width, int) and not isinstance(width, bool) and width in _WIDTHS:
        return width
    raise TraceError(f"width is {shown(width)}; write a whole number of pixels from 200 to 2000, such as {WIDTH}")


def name_of(scenario: Scenario) -> str:
    """Give what a scenario is called."""
    return scenario.title or scenario.name


def headed(chart: Any, name: str, what: Sequence[str], width: int) -> Any:
    """Put the name of the scenario and what the chart shows above it, broken to its width, and say the same as text."""
    lines = [line for sentence in what for line in textwrap.wrap(sentence, (width + 60) // 6)]
    title = alt.Title(text=textwrap.wrap(name, (width + 60) // 8) or [""], subtitle=lines)
    return chart.properties(title=title, description=f"{name}{_stop(name)} {' '.join(what)}")


def _stop(name: str) -> str:
    return "" if name.endswith((".", "?", "!")) else "."


def count_text(number: int, what: str) -> str:
    """Write "1 event" and "2,000 events"."""
    return f"{number:,} {what if number == 1 else what + 's'}"


def scale(words: Sequence[str], values: Sequence[Any]) -> alt.Scale:
    """Give each word of a legend its colour, shape or dash."""
    return alt.Scale(domain=list(words), range=list(values))
