"""The stage: the animated picture of a trace.

Python turns a trace into marks with steps and sentences (`picture`); the browser draws those that stand at the playhead
(`js/`, `stage.css`). `widget` joins the two in a notebook, `pages` and `still` are the forms that need no kernel.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from wmviz.scenario import Scenario, check_scenario
from wmviz.stage.pages import save_html
from wmviz.stage.still import Still

if TYPE_CHECKING:
    from wmviz.stage.widget import Stage

__all__ = ["Still", "play", "save_html"]


def play(scenario: Scenario, *, step: int = -1, speed: float = 1.0) -> Stage | Still:
    """Put a scenario on the stage.

    Parameters
    ----------
    scenario
        What to run. One that is too large to draw is sampled by keys, and the stage says so.
    step
        The step to begin on; -1 is the start.
    speed
        How fast it plays: 0.25, 0.5, 1, 2, 4 or 8.

    Returns
    -------
    Stage or Still
        The widget; or, if the environment variable WMVIZ_STAGE is ``still``, a picture of the end state, which is
        what the notebooks of the course hold when they are saved.

    Raises
    ------
    ScenarioError
        If it is no scenario.
    """
    check_scenario(scenario, "play")
    if os.environ.get("WMVIZ_STAGE") == "still":
        return Still(scenario)
    from wmviz.stage.widget import Stage

    return Stage(scenario, step=step, speed=speed)
