"""Drill: which event makes a window fire, and how often it fires."""

from __future__ import annotations

import random

from wmviz.course.drills.exercise import Exercise, Option, Topic
from wmviz.course.drills.streams import Came, World, job, simulated, strategy_text, window_text, world
from wmviz.scenario import Event, Scenario
from wmviz.times import time_text
from wmviz.trace import Firing, Trace


def _draw(rng: random.Random, level: int, aim: str) -> Exercise | None:
    place = world(rng)
    return _how_often(rng, place, int(aim)) if level == 3 else _which_event(rng, place, level, aim)


def _which_event(rng: random.Random, place: World, level: int, aim: str) -> Exercise | None:
    me, *others = place.keys
    bound_ms = rng.choice([2, 3, 5]) * place.unit_ms
    due_ms = place.end_ms + bound_ms
    if level == 1:
        before = [place.end_ms + rng.randint(0, bound_ms // place.unit_ms - 1) * place.unit_ms]
        first = due_ms + rng.randint(1, 4) * place.unit_ms
    else:
        before = [place.end_ms + rng.choice([0, -1, 1]), due_ms - 1]
        first = due_ms + rng.choice([0, 0, 1])
    old = place.at(rng.randint(30, 58))
    times = [place.at(rng.randint(5, 25)), *before, old]
    if aim == "fires":
        times += [first, first + rng.randint(1, 9) * place.unit_ms]
    else:
        times.insert(2, place.at(rng.randint(26, 50)))
    keys = [me, *(rng.choice(others) for _ in times[1:])]
    if aim == "fires":
        keys[-1] = me
    scenario = job(place, [Came(key, ms) for key, ms in zip(keys, times, strict=True)], bound=bound_ms)
    found = _firings(simulated(scenario), me, place)
    cause = next((e for e in scenario.events if found and e.arrival_time_ms == found[0].at_ms), None)
    if (cause is None) == (aim == "fires"):
        return None
    window = window_text(place.start_ms, place.end_ms)
    options = [_event_option(scenario, event, cause, place) for event in scenario.events[1:]]
    rng.shuffle(options)
    none_why = (
        f"No event brings the watermark to {time_text(place.end_ms - 1)}, the last millisecond of the window."
        if cause is None
        else "One of them does bring the watermark to the last millisecond of the window."
    )
    none = Option("none", "None of them: it has not fired so far", none_why, "" if cause is None else "never fires")
    return Exercise(
        scenario,
        f"Which event makes the window {window} of {me} fire for the first time?",
        "none" if cause is None else cause.id,
        (none, *options),
        settings=f"{strategy_text(scenario)}.",
    )


def _event_option(scenario: Scenario, event: Event, cause: Event | None, place: World) -> Option:
    due_ms = place.end_ms + scenario.bound_ms
    if cause is not None and event.id == cause.id:
        watermark = time_text(event.event_time_ms - scenario.bound_ms - 1)
        why = f"It brings the watermark to {watermark}; the window fires at {time_text(place.end_ms - 1)} or later."
        return Option(event.id, event.id, why)
    if cause is not None and event.arrival_time_ms > cause.arrival_time_ms:
        own = "The window has fired before it came: the clock is that of the operator, and any key's event moves it."
        return Option(event.id, event.id, own, "clock per key")
    if event.event_time_ms == due_ms - 1:
        return Option(event.id, event.id, "The watermark is then one millisecond short of end − 1.", "one ms")
    if event.event_time_ms >= place.end_ms - 1:
        return Option(event.id, event.id, "It is there, but the watermark trails it by the bound and 1 ms.", "no bound")
    return Option(event.id, event.id, "It lies before the window's end and moves no watermark past it.", "old event")


def _how_often(rng: random.Random, place: World, aim: int) -> Exercise | None:
    me, other, _ = place.keys
    bound_ms = rng.choice([1, 2, 3]) * place.unit_ms
    lateness_ms = rng.choice([10, 15, 20]) * place.unit_ms
    fires_ms = place.end_ms + bound_ms + rng.choice([0, 0, place.unit_ms]) - (0 if aim else 1)
    gone_ms = place.end_ms + bound_ms + lateness_ms
    inside = rng.sample(range(5, 58), 4)
    came = [Came(me, place.at(inside[0])), Came(other, fires_ms)]
    came += [Came(me, place.at(units)) for units in inside[1 : max(1, aim)]]
    came += [Came(other, place.at(rng.randint(5, 58)))]
    if aim:
        came += [Came(other, gone_ms), Came(me, place.at(inside[3]))]
    else:
        came += [Came(me, place.at(inside[3]))]
    scenario = job(place, came, bound=bound_ms, lateness=lateness_ms)
    answer = len(_firings(simulated(scenario), me, place))
    if answer != aim:
        return None
    few = "You missed a firing: at end − 1 it fires, and each late event that still counts makes it fire again."
    many = "Too many: an event of another key, one before the first firing, or one that is too late fires nothing here."
    texts = ["Not at all", "Once", "Twice", "Three times", "Four times"]
    options = [
        Option(n, text, _why_often(n) if n == answer else few if n < answer else many, _thought(n, answer))
        for n, text in enumerate(texts)
    ]
    rng.shuffle(options)
    return Exercise(
        scenario,
        f"How often has the window {window_text(place.start_ms, place.end_ms)} of {me} fired after all that?",
        answer,
        tuple(options),
        "number",
        f"{strategy_text(scenario)}, late events beyond that are dropped.",
    )


def _thought(n: int, answer: int) -> str:
    return "" if n == answer else "too few firings" if n < answer else "too many firings"


def _why_often(n: int) -> str:
    if not n:
        return "The watermark stays one millisecond or more short of end − 1."
    again = "no late event of its key came in time" if n == 1 else f"late events that still counted: {n - 1}"
    return f"Once when the watermark reached end − 1; {again}."


def _firings(trace: Trace, key: str, place: World) -> list[Firing]:
    return [f for f in trace.all_firings if f.key == key and f.window.end_ms == place.end_ms]


TOPIC = Topic(
    "firing",
    3,
    "which event makes a window fire, and how often it fires",
    _draw,
    (("fires", "fires", "none"), ("fires", "fires", "none"), ("0", "1", "2", "3")),
)
