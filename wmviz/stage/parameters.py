"""The parameters that the stage offers as sliders, and the values that a slider stops at."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from wmviz.fields import STEP, ScenarioError
from wmviz.scenario import Scenario
from wmviz.times import DAY_MS, duration_text

NEVER = "none"
"""The text of a timeout that is not set."""


@dataclass(frozen=True)
class Parameter:
    """A setting of a scenario that the stage can change.

    Attributes
    ----------
    name, label, about
        What the stage calls it, its label, and what it does.
    of
        Gives the present value in ms; None where it is not set.
    matters
        Tells whether it means anything for a scenario.
    into
        Gives a scenario with the value of a text.
    unset
        Whether it can be without a value.
    """

    name: str
    label: str
    about: str
    of: Callable[[Scenario], int | None]
    matters: Callable[[Scenario], bool]
    into: Callable[[Scenario, str], Scenario]
    unset: bool = False

    def text(self, scenario: Scenario) -> str:
        """Give the present value as text."""
        value_ms = self.of(scenario)
        return NEVER if value_ms is None else duration_text(value_ms)


def _field(name: str) -> Callable[[Scenario, str], Scenario]:
    """Make the function that sets a field of a scenario by its JSON name."""
    return lambda scenario, text: scenario.replace(**{name: None if text == NEVER else text})


def _part(part: str, attribute: str) -> Callable[[Scenario, str], Scenario]:
    """Make the function that sets a duration in one of a scenario's parts."""

    def into(scenario: Scenario, text: str) -> Scenario:
        try:
            value_ms = STEP.read(text)
        except ValueError as error:
            raise ScenarioError(f"{part}: {error}") from None
        return replace(scenario, **{part: replace(getattr(scenario, part), **{attribute: value_ms})})

    return into


def _has_inputs(scenario: Scenario) -> bool:
    return scenario.strategy != "none" and max(scenario.partition_count, scenario.subtasks) > 1


PARAMETERS = (
    Parameter(
        "bound",
        "Out-of-orderness bound",
        "How far the watermark stays behind the newest event.",
        lambda scenario: scenario.bound_ms,
        lambda scenario: scenario.strategy == "bounded",
        _field("bound"),
    ),
    Parameter(
        "lateness",
        "Allowed lateness",
        "How long the state of a window that has fired is kept.",
        lambda scenario: scenario.lateness_ms,
        lambda scenario: scenario.window.type != "global" and scenario.window.time == "event",
        _field("lateness"),
    ),
    Parameter(
        "idle_timeout",
        "Idle timeout",
        "After how long a silent input is left out (withIdleness).",
        lambda scenario: scenario.idle_timeout_ms,
        lambda scenario: scenario.idle_timeout_ms is not None or _has_inputs(scenario),
        _field("idle_timeout"),
        unset=True,
    ),
    Parameter(
        "work",
        "Work per event",
        "How long a window task needs for an event.",
        lambda scenario: scenario.work_ms,
        lambda scenario: scenario.work_ms > 0 or scenario.checkpoints is not None,
        _field("work"),
    ),
    Parameter(
        "checkpoint_interval",
        "Checkpoint interval",
        "From one checkpoint to the next.",
        lambda scenario: scenario.checkpoints.interval_ms if scenario.checkpoints else None,
        lambda scenario: scenario.checkpoints is not None,
        _part("checkpoints", "interval_ms"),
    ),
    Parameter(
        "drift",
        "Alignment drift",
        "How far the watermark of a source may be ahead of the lowest one.",
        lambda scenario: scenario.alignment.drift_ms if scenario.alignment else None,
        lambda scenario: scenario.alignment is not None,
        _part("alignment", "drift_ms"),
    ),
)
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
    return [parameter for parameter in PARAMETERS if parameter.matters(scenario)]


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
        {
            **{name: getattr(parameter, name) for name in ("name", "label", "about")},
            "text": parameter.text(scenario),
            **_stops(parameter, scenario, first),
        }
        for parameter in parameters_of(scenario)
    ]


def _stops(parameter: Parameter, scenario: Scenario, first: Scenario) -> dict[str, Any]:
    begun_ms = parameter.of(first) or 0
    # Around what it began with, or around the window where that is 0: from 0 to well above.
    top_ms = max(6 * begun_ms, (first.window.size_ms or 60_000) // 2, 1)
    end = min(max(bisect_left(_STOPS_MS, top_ms), 1), len(_STOPS_MS) - 1)
    start = max(1, end - _MOST_STOPS + 1)
    stops_ms = sorted({0, *_STOPS_MS[start : end + 1], begun_ms})
    texts = [duration_text(stop_ms) for stop_ms in stops_ms]
    now_ms = parameter.of(scenario)
    if parameter.unset:  # 0 would be refused, and without a value it never comes to anything
        stops_ms, texts = stops_ms[1:], [*texts[1:], NEVER]
    if now_ms is None:
        return {"stops": texts, "at": len(texts) - 1}
    return {"stops": texts, "at": min(range(len(stops_ms)), key=lambda index: abs(stops_ms[index] - now_ms))}
