"""Static forms that play without Python: a page of its own, and the part that a saved notebook carries."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from wmviz.scenario import Scenario
from wmviz.stage.engines import beside
from wmviz.stage.picture import Frame
from wmviz.stage.player import module_text, style_text
from wmviz.stage.predicting import asked, kinds_of
from wmviz.stage.still import asked_html, image_html, untold
from wmviz.stage.subject import Subject, show, subject_of
from wmviz.stage.telling import told
from wmviz.trace import Trace

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ max-width: 1320px; margin: 0 auto; padding: 16px; background: #fff; }}
@media (prefers-color-scheme: dark) {{ body {{ background: #0e1013; }} }}
@media (max-width: 480px) {{ body {{ padding: 6px; }} }}
</style>
</head>
<body>
{stage}
</body>
</html>
"""


def save_html(source: Any, path: str | Path, other: Any = None, predict: Any = False) -> Path:
    """Save a stage as a page that plays, steps and explains with no kernel and no network.

    Parameters
    ----------
    source, other, predict
        As for ``wmviz.play``: a scenario, a trace, a comparison, or two traces; and what is asked.
    path
        Where to write it.

    Returns
    -------
    Path
        The file.
    """
    kinds = kinds_of(predict)
    subject = subject_of(source, other, "save_html", is_fixed=bool(kinds))
    path = Path(path)
    path.write_text(page(*_laid_out(subject, kinds)), encoding="utf-8")
    return path


def _laid_out(subject: Subject, kinds: tuple[str, ...]) -> tuple[Trace, Scenario, str, Frame | None, dict[str, Any]]:
    """Give what `page` takes."""
    trace, other, note, _ = subject
    if kinds:
        questions = asked(trace, show(trace, trace.scenario, note), kinds)
        return trace, trace.scenario, note, None, {"predicting": questions}
    if other is None:
        return trace, trace.scenario, note, None, {}
    frame = Frame.of(trace, other)
    return trace, trace.scenario, note, frame, beside(trace, other, trace.scenario, frame)


def page(
    trace: Trace, first: Scenario, note: str = "", frame: Frame | None = None, shown: Mapping[str, Any] | None = None
) -> str:
    """Write the page of a trace.

    Parameters
    ----------
    trace, first, note, frame
        As for `show`.
    shown
        What else a stage shows: its open ``parts``; the run beside it, as ``other`` and ``differing``; the questions
        of predict mode, as ``predicting``.
    """
    picture = show(trace, first, note, frame)
    stage = _place(trace, picture, shown or {}) + _player()
    asked = (shown or {}).get("predicting")
    return _PAGE.format(title=escape(asked["heading"] if asked else picture["title"]), stage=stage)


def stage_html(source: Any, predict: Any = False, parts: tuple[str, ...] | None = None) -> str:
    """Write a stage for a page that has several; `player_html` comes once, behind the last of them.

    Parameters
    ----------
    source, predict
        As for ``wmviz.play``: a scenario, a trace or a comparison; and what is asked.
    parts
        The parts that are open beside the plane; those of the picture if left out.
    """
    kinds = kinds_of(predict)
    trace, first, note, frame, shown = _laid_out(subject_of(source, None, "stage_html", is_fixed=bool(kinds)), kinds)
    opened = {} if parts is None else {"parts": list(parts)}
    return _place(trace, show(trace, first, note, frame), {**shown, **opened})


def player_html() -> str:
    """Write the player that turns the stages of a page on."""
    return _player()


def fallback_html(
    trace: Trace, first: Scenario, note: str = "", frame: Frame | None = None, shown: Mapping[str, Any] | None = None
) -> str:
    """Write what a notebook shows where there is no kernel, as `page` does; the player comes once in a notebook."""
    start = "" if _carried.elsewhere() else _player()
    place = _place(trace, show(trace, first, note, frame), shown or {})
    return f"{place}{start}<script>globalThis.wmvizMount?.()</script>"


class _Carried:
    """Remembers which cell of this kernel's notebook carries the player, so that others need not."""

    def __init__(self) -> None:
        self._cell: Any = None

    def elsewhere(self) -> bool:
        """Tell whether another cell has the player; if none has, the present one gets it."""
        cell = _present_cell()
        if self._cell is not None and cell is not None and cell != self._cell:
            return True
        self._cell = cell
        return False


_carried = _Carried()


def _present_cell() -> Any:
    """Give the id of the notebook cell that runs; None outside a notebook."""
    try:
        from IPython.core.getipython import get_ipython
    except ImportError:  # no notebook without IPython
        return None
    shell = get_ipython()
    if shell is None or not hasattr(shell, "get_parent"):
        return None
    return shell.get_parent().get("metadata", {}).get("cellId")


def _place(trace: Trace, picture: dict[str, Any], shown: Mapping[str, Any]) -> str:
    """Write the still picture, with the data that turns it into a stage."""
    values = {
        "events": picture["events"],
        "picture": {name: value for name, value in picture.items() if name != "events"},
        "sentences": told(trace, picture),
        "step": -1,
        "playing": False,
        "speed": 1,
        "selected": -1,
        "result": -1,
        "firing": -1,
        "group": [],
        "problem": "",
        "parts": picture["parts"],
        "replies": [],
        **shown,
    }
    packed = _packed(values)
    predicting = shown.get("predicting")
    still = image_html(untold(picture, predicting)) + asked_html(predicting) if predicting else image_html(picture)
    return (
        f'<div data-wmviz-stage="{picture["id"]}">{still}'
        f'<script type="application/octet-stream">{packed}</script></div>'
    )


_START = """
const bytes = Uint8Array.from(atob("{packed}"), (letter) => letter.charCodeAt(0));
const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
const [style, script] = await new Response(stream).json();
const add = (tag, values) => document.head.append(Object.assign(document.createElement(tag), values));
add("style", {{ textContent: style }});
add("script", {{ type: "module", textContent: script }});
"""


def _player() -> str:
    """Write the player, packed, with the few lines that unpack it."""
    module = _bare(module_text()) + "\nglobalThis.wmvizMount = mountAll;\nmountAll();\n"
    start = _START.format(packed=_packed([_bare(style_text()), module]))
    return f'<script type="module" data-wmviz-player>{start}</script>'


def _bare(text: str) -> str:
    """Take out what only readers of the source need: lines of comment, and the white space before each line."""
    return re.sub(r"^\s*(//.*|/\*.*\*/)?\n?", "", text, flags=re.MULTILINE)


def _packed(values: Any) -> str:
    return base64.b64encode(zlib.compress(json.dumps(values, separators=(",", ":")).encode(), 9)).decode()
