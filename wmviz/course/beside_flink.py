"""A piece that a learner wrote, beside real Flink."""

from __future__ import annotations

from typing import Any

from wmviz.comparison import Comparison, subtract
from wmviz.course.answers import AnswerError
from wmviz.course.harness import run_with
from wmviz.course.questions import Verdict, not_yet
from wmviz.scenario import Scenario

_NAMES = {"lateness": "lateness rule"}


def beside_flink(own: Any, scenario: Scenario, piece: str = "generator") -> Comparison | Verdict:
    """Run a scenario on a piece of your own and on real Flink, and compare.

    Parameters
    ----------
    own, piece
        What you wrote, and which piece it is; see `run_with`.
    scenario
        One that Flink can replay.

    Returns
    -------
    Comparison or Verdict
        Where they agree and where they differ; "not yet" as long as your piece cannot run, and then no Flink starts.
        Where PyFlink is missing, Flink's run is a recorded one.
    """
    try:
        ours = run_with(own, scenario, piece)
    except AnswerError as error:
        return not_yet(str(error))
    from wmviz.flink import run

    flink = run(scenario)
    return Comparison(ours, flink, subtract(ours.outcomes(), flink.outcomes()), f"your {_NAMES.get(piece, piece)}")
