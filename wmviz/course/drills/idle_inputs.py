"""Drill: what a silent input does, and what becomes of it when it is back."""

from __future__ import annotations

import random

from wmviz.course.drills.exercise import Exercise, Option, Topic
from wmviz.course.drills.late_events import fate_options
from wmviz.course.drills.streams import (
    MINUTE_MS,
    SECOND_MS,
    World,
    fate,
    said,
    simulated,
    strategy_text,
    watermark_at,
    window_text,
    world,
)
from wmviz.scenario import Scenario
from wmviz.times import duration_text, time_text
from wmviz.trace import Status

_TIMEOUT_MS = 5 * MINUTE_MS


def _draw(rng: random.Random, level: int, aim: str) -> Exercise | None:
    place = world(rng)
    return (_does_it_fire, _what_becomes, _which_watermark)[level - 1](rng, place, aim)


def _scenario(place: World, rows: list[list[object]], **settings: object) -> Scenario:
    fields: dict[str, object] = {
        "name": "drill",
        "title": "A drill",
        "window": place.window_ms,
        "start": place.end_ms,
        "partitions": 2,
        "subtasks": 2,
        "idle_timeout": _TIMEOUT_MS,
        "interval": 1000,
        "events": rows,
    }
    return Scenario.of(**{**fields, **settings})


def _settings(scenario: Scenario) -> str:
    timeout = scenario.idle_timeout_ms
    idle = "no idle timeout" if timeout is None else f"idle timeout {duration_text(timeout)}"
    readers = (
        "a subtask each" if scenario.subtasks > 1 else "one subtask for both, each partition with its own watermark"
    )
    return f"2 partitions, {readers}; {strategy_text(scenario)}; {idle}."


_REASONS = {
    "fired": "It has fired",
    "no timeout": "It waits for partition 1, and will wait for ever: there is no idle timeout",
    "not yet": "It waits for partition 1, which is not idle yet",
    "all idle": "It waits: both partitions are idle, so nothing moves the watermark",
    "behind": "It waits: partition 1 is idle, but the watermark of partition 0 is not far enough",
}


def _does_it_fire(rng: random.Random, place: World, aim: str) -> Exercise | None:
    me, other, _ = place.keys
    unit, bound_ms = place.unit_ms, rng.choice([1, 2]) * place.unit_ms
    start = place.end_ms + rng.randint(1, 20) * SECOND_MS
    past = place.end_ms + bound_ms + rng.randint(1, 5) * unit
    short = place.end_ms + rng.choice([0, bound_ms - 1])
    rows = [[me, 1000, place.at(rng.randint(5, 40)), start, 0], [other, 1000, place.at(rng.randint(30, 50)), start, 1]]
    waited = {"not yet": rng.randint(2, 4), "all idle": rng.randint(12, 18)}.get(aim, rng.randint(7, 10)) * MINUTE_MS
    newest = short if aim in ("all idle", "behind") else past
    last = start + MINUTE_MS if aim == "all idle" else start + waited - SECOND_MS * rng.randint(5, 20)
    rows.append([other, 1000, newest, last, 0])
    now = start + waited
    scenario = _scenario(place, rows, bound=bound_ms, idle_timeout=None if aim == "no timeout" else _TIMEOUT_MS)
    trace = simulated(scenario)
    state = trace.state(trace.step_at(now))
    fired = any(f.key == me and f.at_ms <= now for f in trace.all_firings)
    idle = [state.statuses[f"source[{i}]"] == Status.IDLE for i in range(2)]
    if fired:
        answer = "fired"
    elif scenario.idle_timeout_ms is None:
        answer = "no timeout"
    else:
        answer = "all idle" if all(idle) else "behind" if idle[1] else "not yet"
    if answer != aim:
        return None
    whys = {
        "fired": "Look for what still holds the watermark: an active partition, or a bound.",
        "no timeout": "There is an idle timeout in the settings.",
        "not yet": "It has been silent for longer than the timeout by now, or no timeout is set.",
        "all idle": "Partition 0 has sent something within the timeout, so it is not idle.",
        "behind": "Take the newest event of partition 0, minus the bound, minus 1 ms, and compare with end − 1.",
    }
    rights = {
        "fired": "Partition 1 is idle and not waited for, and partition 0 brings the watermark past end − 1.",
        "no timeout": "A partition that sends nothing keeps its watermark, and without a timeout it is waited for.",
        "not yet": "Its silence is shorter than the timeout: it still counts, and its watermark is behind.",
        "all idle": "When all are idle, the watermark stands still: idleness helps only as long as somebody sends.",
        "behind": "Partition 1 is not waited for any more, but the watermark of partition 0 is short of end − 1.",
    }
    options = tuple(
        Option(name, text, rights[name] if name == answer else whys[name], "" if name == answer else f"idle: {name}")
        for name, text in _REASONS.items()
    )
    window = window_text(place.start_ms, place.end_ms)
    return Exercise(
        scenario,
        f"It is {time_text(now)} by the server's clock. What about the window {window} of {me}?",
        answer,
        options,
        settings=_settings(scenario),
    )


def _returns(rng: random.Random, place: World, newest: int, back: int, **settings: object) -> Scenario:
    """Partition 1 sends one event, is silent for too long, and comes back after partition 0 went on."""
    me, other, _ = place.keys
    start = place.end_ms + rng.randint(1, 20) * SECOND_MS
    rows: list[list[object]] = [
        [me, 1000, place.at(rng.randint(5, 25)), start, 0],
        [me, 1000, place.at(rng.randint(5, 25)), start, 1],
        [other, 1000, newest, start + _TIMEOUT_MS + MINUTE_MS, 0],
        [me, 1000, back, start + _TIMEOUT_MS + 2 * MINUTE_MS, 1],
    ]
    return _scenario(place, rows, **settings)


def _what_becomes(rng: random.Random, place: World, aim: str) -> Exercise | None:
    unit = place.unit_ms
    bound_ms, lateness_ms = rng.choice([1, 2]) * unit, rng.choice([5, 10]) * unit
    met = {
        "on time": place.end_ms - 2 - rng.randint(0, 1) * unit,
        "counted": place.end_ms - 1 + rng.randint(0, 4) * unit,
        "too late": place.end_ms - 1 + lateness_ms + rng.randint(0, 4) * unit,
    }[aim]
    late_to = rng.choice(["side", "drop"])
    fields = {"bound": bound_ms, "lateness": lateness_ms, "late_to": late_to}
    scenario = _returns(rng, place, met + bound_ms + 1, place.at(rng.randint(30, 50)), **fields)
    trace = simulated(scenario)
    event = scenario.events[-1]
    answer = fate(trace, event.id)
    if answer != {"too late": "side" if late_to == "side" else "dropped"}.get(aim, aim):
        return None
    to = "goes to a side output" if late_to == "side" else "is dropped"
    return Exercise(
        scenario,
        f"Partition 1 was silent, and is back with {event.id}. What becomes of it?",
        answer,
        fate_options(scenario, answer, said(trace, event.id)),
        settings=f"{_settings(scenario)[:-1]}; what is later {to}.",
    )


def _which_watermark(rng: random.Random, place: World, aim: str) -> Exercise | None:
    unit, (_, other, _) = place.unit_ms, place.keys
    bound_ms = rng.choice([1, 2, 3]) * unit
    newest = place.end_ms + rng.randint(5, 15) * unit
    back = place.at(rng.randint(30, 50))
    fields = {"bound": bound_ms, "subtasks": 2 if aim == "channels" else 1}
    first = _returns(rng, place, newest, back, **fields)
    last = newest + rng.randint(3, 9) * unit
    at_ms = first.events[-1].arrival_time_ms + 10 * SECOND_MS
    rows = [[e.key, e.value, e.event_time_ms, e.arrival_time_ms, e.partition] for e in first.events]
    scenario = _scenario(place, [*rows, [other, 1000, last, at_ms, 0]], **fields)
    trace = simulated(scenario)
    answer = watermark_at(trace, at_ms)
    advanced, held, gone_back = (ms - bound_ms - 1 for ms in (last, newest, back))
    whys = {
        advanced: "Both partitions are in one subtask: the one that is back counts at once, and holds the watermark.",
        held: "Between subtasks, an input that is back but behind is left out until it has caught up.",
        gone_back: "A watermark never goes back. What is behind can only hold it where it is.",
        last - 1: "The bound is missing.",
    }
    rights = {
        advanced: "A channel that is back but behind is left out until it has caught up: partition 0 moves the clock.",
        held: "Inside one subtask it counts again at once: its watermark is behind, and the combined one stands.",
    }
    thoughts = {advanced: "left out", held: "holds at once", gone_back: "goes back", last - 1: "no bound"}
    options = tuple(
        Option(ms, time_text(ms), rights[ms] if ms == answer else why, "" if ms == answer else thoughts[ms])
        for ms, why in whys.items()
        if ms != answer or ms in rights
    )
    return Exercise(
        scenario,
        "Partition 1 was idle and is back, behind; then partition 0 sent one more. What is the watermark of the window "
        "operator now?",
        answer,
        options,
        "time",
        _settings(scenario),
    )


TOPIC = Topic(
    "idle inputs",
    7,
    "what a silent input does to the others, and what becomes of its events",
    _draw,
    (
        ("fired", "no timeout", "not yet", "all idle", "behind"),
        ("on time", "counted", "too late"),
        ("channels", "one subtask"),
    ),
)
