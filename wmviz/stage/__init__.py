"""The stage: the animated picture of a trace.

Python turns a trace into marks with steps and sentences (`picture`); the browser draws those that stand at the playhead
(`js/`, `stage.css`). `widget` joins the two in a notebook, `pages` and `still` are the forms that need no kernel.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from wmviz.stage.pages import save_html
from wmviz.stage.predicting import kinds_of
from wmviz.stage.still import Still
from wmviz.stage.subject import subject_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wmviz.comparison import Comparison
    from wmviz.scenario import Scenario
    from wmviz.stage.widget import Stage
    from wmviz.trace import Trace

__all__ = ["Still", "play", "save_html"]


def play(
    source: Scenario | Trace | Comparison,
    other: Scenario | Trace | None = None,
    *,
    step: int = -1,
    speed: float = 1.0,
    predict: bool | str | Sequence[str] = False,
) -> Stage | Still:
    """Put a scenario on the stage, or a run of Flink, or both.

    Parameters
    ----------
    source
        What to show. A scenario is run; one that is too large to draw is sampled by keys, and the stage says so. A
        trace of Flink plays as it is: what Flink does not report is marked "not observed". Of a comparison, as
        ``wmviz.compare`` makes it, both runs stand above each other, with what differs marked.
    other
        A second run of the same scenario, to stand below the first one: ``wmviz.play(scenario, flink_trace)``.
    step
        The step to begin on; -1 is the start.
    speed
        How fast it plays: 0.25, 0.5, 1, 2, 4 or 8.
    predict
        Whether the stage stops before a few moments and asks what will happen: True, or the kinds of questions, of
        ``"firings"`` (which window fires now?), ``"late"`` (what becomes of this event?) and ``"watermark"`` (what
        will it be?). It then plays on, and tells. ``stage.score`` counts.

    Returns
    -------
    Stage or Still
        The widget; or, if the environment variable WMVIZ_STAGE is ``still``, a picture of the end state, which is
        what the notebooks of the course hold when they are saved.

    Raises
    ------
    ScenarioError, TraceError
        If it is neither a scenario nor a run that can be drawn, or the two runs are of different scenarios.
    """
    if os.environ.get("WMVIZ_STAGE") == "still":
        return Still(source, other, predict)
    from wmviz.stage.widget import Stage

    kinds = kinds_of(predict)
    return Stage(subject_of(source, other, is_fixed=bool(kinds)), step=step, speed=speed, questions=kinds)
