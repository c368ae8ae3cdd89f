"""Taking hold of a scenario: each gesture gives another scenario, and where the event in hand is in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from wmviz.event import Event, event_id
from wmviz.fields import ScenarioError, is_int
from wmviz.runtime import Happening
from wmviz.scenario import Scenario
from wmviz.times import MAX_MS, MIN_MS

FAR_MS = 2**53
"""What a browser can count exactly; no gesture goes further."""


class Edited(NamedTuple):
    """A scenario after a gesture, and the index of the event in hand (-1: none)."""

    scenario: Scenario
    selected: int


def moved(scenario: Scenario, index: int, changes: Mapping[str, Any]) -> Edited:
    """Move an event.

    Parameters
    ----------
    scenario
        What is on the stage.
    index
        Which event.
    changes
        New values of ``arrival_time_ms``, ``event_time_ms`` and ``partition``; what is left out stays.

    Raises
    ------
    ScenarioError
        If there is no such event, or the scenario would not allow it there.
    """
    event = event_at(scenario, index)
    return _with(scenario, index, replace(event, **_checked(changes)))


def added(scenario: Scenario, like: int, changes: Mapping[str, Any]) -> Edited:
    """Add an event, with the key, value and partition of another one where nothing else is said."""
    model = scenario.events[like if 0 <= like < len(scenario.events) else 0] if scenario.events else _FIRST
    event = replace(model, **_checked(changes))
    return _with(scenario, None, event)


def duplicated(scenario: Scenario, index: int, by_ms: int) -> Edited:
    """Add an event like another one, which arrives a little later."""
    event = event_at(scenario, index)
    return _with(scenario, None, replace(event, arrival_time_ms=event.arrival_time_ms + by_ms))


def deleted(scenario: Scenario, index: int) -> Edited:
    """Take an event out."""
    event_at(scenario, index)
    kept = _named(scenario)
    del kept[index]
    return Edited(_scenario(scenario, kept), -1)


def crashed(scenario: Scenario, at_ms: int, down_ms: int) -> Scenario:
    """Let the job crash at some time."""
    return _happens(scenario, Happening("crash", at_ms=at_ms, down_ms=down_ms))


def silenced(scenario: Scenario, partition: int, at_ms: int, until_ms: int) -> Scenario:
    """Let a partition deliver nothing for a while; its events come when that is over."""
    return _happens(scenario, Happening("silence", at_ms=at_ms, until_ms=until_ms, partition=partition))


def _happens(scenario: Scenario, happening: Happening) -> Scenario:
    return replace(scenario, happenings=(*scenario.happenings, happening))


_FIRST = Event("", "a", 1, 0, 0)


def event_at(scenario: Scenario, index: int) -> Event:
    """Give an event by its index.

    Raises
    ------
    ScenarioError
        If there is no such event.
    """
    if not is_int(index) or not 0 <= index < len(scenario.events):
        raise ScenarioError("there is no such event; choose one on the plane first")
    return scenario.events[index]


def _checked(changes: Mapping[str, Any]) -> dict[str, Any]:
    for name, value in changes.items():
        if not is_int(value) or not max(MIN_MS, -FAR_MS) <= value <= min(MAX_MS, FAR_MS):
            raise ScenarioError(f"{name} is {value!r}; write a whole number of ms")
        if name == "partition" and value < 0:
            raise ScenarioError(f"partition is {value}; write a number from 0")
    return dict(changes)


def _named(scenario: Scenario) -> list[tuple[Event, bool]]:
    """Give the events, each with whether it is named after its key and time."""
    found = []
    for event in scenario.events:
        name = event_id(event.key, event.event_time_ms, scenario.zone, {})
        repeat = event.id.removeprefix(f"{name}#")
        found.append((event, event.id == name or (repeat != event.id and repeat.isdigit())))
    return found


def _with(scenario: Scenario, index: int | None, event: Event) -> Edited:
    """Put an event in the place of another, or add it."""
    events = _named(scenario)
    named_after_time = True
    if index is not None:
        named_after_time = events.pop(index)[1]
    # Behind those that arrive in the same millisecond, but where it was if it has not moved in arrival.
    at = next((n for n, (other, _) in enumerate(events) if other.arrival_time_ms > event.arrival_time_ms), len(events))
    if index is not None and scenario.events[index].arrival_time_ms == event.arrival_time_ms:
        at = index
    events.insert(at, (event, named_after_time))
    return Edited(_scenario(scenario, events), at)


def _scenario(scenario: Scenario, events: list[tuple[Event, bool]]) -> Scenario:
    """Name the events anew, since a name tells the time, and make the scenario."""
    taken: dict[str, int] = {}
    given = {event.id for event, named_after_time in events if not named_after_time}
    named = []
    for event, named_after_time in events:
        if named_after_time:
            name = event_id(event.key, event.event_time_ms, scenario.zone, taken)
            while name in given:
                name = event_id(event.key, event.event_time_ms, scenario.zone, taken)
            event = replace(event, id=name)
        named.append(event)
    return replace(scenario, events=tuple(named), generated=None)
