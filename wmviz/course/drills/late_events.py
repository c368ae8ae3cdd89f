"""Drill: what becomes of an event."""

from __future__ import annotations

import random

from wmviz.course.drills.exercise import Exercise, Option, Topic
from wmviz.course.drills.streams import Came, World, fate, job, said, simulated, strategy_text, window_text, world
from wmviz.scenario import Scenario
from wmviz.trace import Kind

FATES = {
    "on time": "It is on time: it waits in its window for the first firing",
    "counted": "It is late but counted: its window fires again at once",
    "side": "It is too late: it goes to the side output",
    "dropped": "It is too late: it is dropped, and the counter grows",
}


def fate_options(scenario: Scenario, answer: str, right_why: str) -> tuple[Option, ...]:
    """Give the four fates, with the thought behind each wrong one."""
    other_way = "side" if scenario.late_to == "drop" else "dropped"
    where = (
        "No side output is set in this job." if other_way == "side" else "A side output is set, so nothing is dropped."
    )
    whys = {
        "on time": "Its window has fired already: the watermark has passed the last millisecond, end − 1.",
        "counted": "A window fires again only between end − 1 and the end of its lateness, end − 1 + lateness."
        if answer == "on time"
        else "The state of its window is gone: the watermark has reached end − 1 + lateness.",
        "side": where if other_way == "side" else "",
        "dropped": where if other_way == "dropped" else "",
    }
    too_late = (
        "Behind the watermark is not late: what counts is its window, and that has not fired."
        if answer == "on time"
        else "Late is not too late: the state lives until the watermark reaches end − 1 + lateness."
    )
    return tuple(
        Option(
            name,
            text,
            right_why if name == answer else whys[name] or too_late,
            "" if name == answer else f"took for {name}",
        )
        for name, text in FATES.items()
    )


def _newest(rng: random.Random, place: World, level: int, aim: str, event_ms: int, times: tuple[int, int]) -> int:
    """Give the watermark that the event shall meet."""
    lateness_ms = times[1]
    last_ms, unit = place.end_ms - 1, place.unit_ms
    gone_ms = last_ms + lateness_ms
    if aim == "ahead":
        return event_ms - 1 - rng.randint(0, 5) * unit
    if aim == "behind":
        return last_ms - 1 if level > 1 else rng.randrange(event_ms + 1, last_ms - 1)
    if aim == "counted":
        return rng.choice([last_ms, gone_ms - 1]) if level > 1 else rng.randrange(last_ms + unit, gone_ms - unit)
    return gone_ms if level > 1 else gone_ms + rng.randint(1, 5) * unit


def _draw(rng: random.Random, level: int, aim: str) -> Exercise | None:
    place = world(rng)
    if level == 3:
        return _sliding(rng, place, aim)
    me, other, _ = place.keys
    times = (rng.choice([2, 3, 5]) * place.unit_ms, rng.choice([10, 15, 20]) * place.unit_ms)
    event_ms = place.at(rng.randint(35, 54))
    newest_ms = _newest(rng, place, level, aim, event_ms, times) + times[0] + 1
    if level == 1:
        newest_ms -= newest_ms % place.unit_ms
    came = [Came(me, place.at(rng.randint(3, 25))), Came(other, newest_ms), Came(me, event_ms)]
    late_to = rng.choice(["side", "drop"])
    scenario = job(place, came, bound=times[0], lateness=times[1], late_to=late_to)
    trace = simulated(scenario)
    event = scenario.events[-1]
    answer = fate(trace, event.id)
    wanted = {"ahead": "on time", "behind": "on time", "counted": "counted"}.get(
        aim, "side" if late_to == "side" else "dropped"
    )
    if answer != wanted:
        return None
    to = "goes to a side output" if late_to == "side" else "is dropped"
    return Exercise(
        scenario,
        f"{event.id} is the last to arrive. What becomes of it?",
        answer,
        fate_options(scenario, answer, said(trace, event.id)),
        settings=f"{strategy_text(scenario)}; what is later {to}.",
    )


def _sliding(rng: random.Random, place: World, aim: str) -> Exercise | None:
    """Two windows hold each event: late for one of them, the other, or both."""
    me, other, _ = place.keys
    half, unit = 30 * place.unit_ms, place.unit_ms
    bound_ms = rng.choice([1, 2, 3]) * unit
    lateness_ms = rng.choice([0, 0, 5]) * unit
    first_gone = place.end_ms - 1 + lateness_ms
    second_gone = first_gone + half
    watermark = {"2": first_gone - 1, "1": rng.choice([first_gone, second_gone - 1]), "0": second_gone}[aim]
    event_ms = place.at(rng.randint(32, 58))
    came = [Came(me, place.at(rng.randint(32, 45))), Came(other, watermark + bound_ms + 1), Came(me, event_ms)]
    window = {"type": "sliding", "size": place.window_ms, "slide": half}
    scenario = job(place, came, bound=bound_ms, lateness=lateness_ms, late_to="side", window=window)
    trace = simulated(scenario)
    event = scenario.events[-1]
    rows = trace.rows_of["event", trace.event_index(event.id)]
    taken = sum(trace.kind[row] == Kind.ADDED for row in rows)
    aside = any(trace.kind[row] == Kind.LATE for row in rows)
    first = window_text(place.start_ms, place.end_ms)
    second = window_text(place.start_ms + half, place.end_ms + half)
    whys = {
        (2, False): "In both: each window goes by its own end, and the state of neither is gone.",
        (
            1,
            False,
        ): f"Late for {first} alone. One window that takes it is enough: neither counter nor side output knows.",
        (1, True): "The side output gets an event only if none of its windows takes it.",
        (0, True): "Too late for both windows: only then does it go to the side output.",
        (0, False): "A side output is set: what no window takes goes there.",
    }
    texts = {
        (2, False): "In both windows",
        (1, False): f"In {second} only; nothing reports that {first} misses it",
        (1, True): f"In {second}, and in the side output for {first}",
        (0, True): "In no window: it goes to the side output",
        (0, False): "Nowhere: it is dropped",
    }
    answer = (taken, aside)
    wrong = {
        (2, False): f"The state of {first} is gone: the watermark has reached its end − 1 + lateness.",
        (1, False): "Each window has its own end − 1 + lateness. Compare the watermark with both.",
        (1, True): whys[1, True],
        (0, True): "One of its windows still has state, and one is enough.",
        (0, False): whys[0, False],
    }
    options = tuple(
        Option(
            value, text, whys[value] if value == answer else wrong[value], "" if value == answer else f"sliding {value}"
        )
        for value, text in texts.items()
    )
    return Exercise(
        scenario,
        f"{event.id} is the last to arrive; {first} and {second} are its windows. Where does it appear?",
        answer,
        options,
        settings=f"{strategy_text(scenario)}, a side output, sliding windows.",
    )


TOPIC = Topic(
    "late events",
    4,
    "what becomes of an event: on time, late but counted, or too late",
    _draw,
    (("ahead", "behind", "counted", "counted", "too late", "too late"),) * 2 + (("2", "1", "0"),),
)
