"""A scenario as Python code, to copy into a cell."""

from __future__ import annotations

from typing import Any

from wmviz import catalogue
from wmviz.scenario import FIELDS, Scenario


def python_code(scenario: Scenario) -> str:
    """Write the code that makes a scenario and plays it: a variation of the catalogue's, or all of it.

    Parameters
    ----------
    scenario
        What to write.
    """
    return f"import wmviz\n\nscenario = {_made(scenario)}\nwmviz.play(scenario)\n"


def _made(scenario: Scenario) -> str:
    base = catalogue.scenario(scenario.name) if scenario.name in catalogue.names() else None
    if base is None or base.window != scenario.window:
        return f"wmviz.Scenario.of({_arguments(scenario.to_json())})"
    fields = [known for known in FIELDS if getattr(base, known.attribute) != getattr(scenario, known.attribute)]
    changes = {known.name: known.write(getattr(scenario, known.attribute)) for known in fields}
    if base.events != scenario.events:
        changes["events"] = scenario.to_json().get("events", [])
    call = f"wmviz.scenario({scenario.name!r})"
    return f"{call}.replace({_arguments(changes)})" if changes else call


def _arguments(fields: dict[str, Any]) -> str:
    lines = [f"    {name}={_value(value)},\n" for name, value in fields.items()]
    return f"\n{''.join(lines)}" if lines else ""


def _value(value: Any) -> str:
    if not isinstance(value, list):
        return repr(value)
    rows = "".join(f"        {row!r},\n" for row in value)
    return f"[\n{rows}    ]"
