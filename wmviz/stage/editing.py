"""Taking hold of a scenario: each gesture gives another scenario, and where the event in hand is in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    """A scenario after a gesture, the index of the event in hand (-1: none), and those of all that are chosen."""

    scenario: Scenario
    selected: int
    group: tuple[int, ...] = ()


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


def shifted(scenario: Scenario, index: int, group: Sequence[int], changes: Mapping[str, Any]) -> Edited:
    """Move several events together: the one in hand to a place, as in `moved`, the others as far in both times."""
    event = event_at(scenario, index)
    by = {name: value - getattr(event, name) for name, value in _checked(changes).items()}

    def move(one: Event) -> Event:
        return replace(one, **_checked({name: getattr(one, name) + far for name, far in by.items()}))

    return _changed(scenario, index, group, move, keep=False)


def duplicated(scenario: Scenario, index: int, group: Sequence[int], gap_ms: int) -> Edited:
    """Add events like the chosen ones, which arrive that much behind the last of them: one, or a burst."""
    event_at(scenario, index)
    arrivals_ms = [event_at(scenario, other).arrival_time_ms for other in {index, *group}]
    by_ms = max(arrivals_ms) - min(arrivals_ms) + gap_ms

    def later(one: Event) -> Event:
        return replace(one, arrival_time_ms=one.arrival_time_ms + by_ms)

    return _changed(scenario, index, group, later, keep=True)


def deleted(scenario: Scenario, index: int, group: Sequence[int] = ()) -> Edited:
    """Take events out."""
    gone = {index, *group}
    for other in gone:
        event_at(scenario, other)
    kept = [pair for other, pair in enumerate(_named(scenario)) if other not in gone]
    return Edited(_scenario(scenario, kept), -1)


def _changed(
    scenario: Scenario, index: int, group: Sequence[int], change: Callable[[Event], Event], *, keep: bool
) -> Edited:
    """Put changed events in the place of the chosen ones, or beside them; behind those of the same millisecond."""
    chosen = sorted({index, *group})
    for other in chosen:
        event_at(scenario, other)
    pairs = _named(scenario)
    rest = [(pair, -1) for other, pair in enumerate(pairs) if keep or other not in chosen]
    new = [((change(pairs[other][0]), keep or pairs[other][1]), other) for other in chosen]
    placed = sorted([*rest, *new], key=lambda one: one[0][0].arrival_time_ms)
    where = {from_: at for at, (_, from_) in enumerate(placed) if from_ >= 0}
    made = _scenario(scenario, [pair for pair, _ in placed])
    return Edited(made, where[index], tuple(sorted(where.values())))


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
