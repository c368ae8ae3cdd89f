"""The parameters that the stage offers as sliders, and the values that a slider stops at."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, NamedTuple

from wmviz.scenario import Scenario
from wmviz.times import DAY_MS, duration_text


class Parameter(NamedTuple):
    """A setting of a scenario that the stage can change: its JSON name, its label, and what it does."""

    name: str
    label: str
    about: str

    def text(self, scenario: Scenario) -> str:
        """Give the present value as text."""
        return duration_text(getattr(scenario, f"{self.name}_ms"))


BOUND = Parameter("bound", "Out-of-orderness bound", "How far the watermark stays behind the newest event.")
LATENESS = Parameter("lateness", "Allowed lateness", "How long the state of a window that has fired is kept.")
_STOPS_MS = [
    *(0, 1, 10, 50, 100, 200, 500),
    *(seconds * 1_000 for seconds in (1, 2, 5, 10, 15, 20, 30, 45)),
    *(minutes * 60_000 for minutes in (1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 45)),
    *(hours * 3_600_000 for hours in (1, 2, 3, 6, 12)),
    *(days * DAY_MS for days in (1, 2, 7, 30, 365)),
]
_MOST_STOPS = 18


def parameters_of(scenario: Scenario) -> list[Parameter]:
    """List the parameters that matter for a scenario."""
    found = []
    if scenario.strategy == "bounded":
        found.append(BOUND)
    if scenario.window.type != "global" and scenario.window.time == "event":
        found.append(LATENESS)
    return found


def sliders(scenario: Scenario, first: Scenario) -> list[dict[str, Any]]:
    """Describe each slider: its stops, and which one is nearest to the present value.

    Parameters
    ----------
    scenario
        What is shown now.
    first
        What the stage began with: the stops are chosen around its values, so that they stay while a slider moves.
    """
    return [
        {**parameter._asdict(), "text": parameter.text(scenario), **_stops(parameter, scenario, first)}
        for parameter in parameters_of(scenario)
    ]


def _stops(parameter: Parameter, scenario: Scenario, first: Scenario) -> dict[str, Any]:
    begun_ms = getattr(first, f"{parameter.name}_ms")
    # Around what it began with, or around the window where that is 0: from 0 to well above.
    top_ms = max(6 * begun_ms, (first.window.size_ms or 60_000) // 2, 1)
    end = min(max(bisect_left(_STOPS_MS, top_ms), 1), len(_STOPS_MS) - 1)
    start = max(1, end - _MOST_STOPS + 1)
    stops_ms = sorted({0, *_STOPS_MS[start : end + 1], begun_ms})
    now_ms = getattr(scenario, f"{parameter.name}_ms")
    nearest = min(range(len(stops_ms)), key=lambda index: abs(stops_ms[index] - now_ms))
    return {"stops": [duration_text(stop_ms) for stop_ms in stops_ms], "at": nearest}
