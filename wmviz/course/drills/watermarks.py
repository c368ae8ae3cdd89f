"""Drill: what the watermark is after some events."""

from __future__ import annotations

import random

from wmviz.course.drills.exercise import Exercise, Option, Topic
from wmviz.course.drills.streams import Came, job, seconds, simulated, strategy_text, watermark_at, world
from wmviz.scenario import Scenario
from wmviz.times import MIN_MS, duration_text, time_text

_NONE_YET = "None has been sent yet"


def _draw(rng: random.Random, level: int, aim: str) -> Exercise | None:
    place = world(rng)
    times = [place.at(units + seconds(rng, level)) for units in sorted(rng.sample(range(2, 58), 3 + level))]
    if aim == "older last":
        times.insert(rng.randrange(len(times)), times.pop())
    if level > 1:
        times = [ms + rng.choice([0, 0, 1, -1]) for ms in times]
    bound_ms = round(rng.choice([1, 2, 3, 5]) * place.unit_ms * (1 if level == 1 else rng.choice([1, 1.5, 0.5])))
    settings: dict[str, object] = {"bound": bound_ms}
    if aim == "sql":
        settings["api"] = "sql"
    elif aim == "interval":
        settings.update(emission="interval", interval=10 * place.unit_ms)
    scenario = job(place, [Came(rng.choice(place.keys), ms) for ms in times], **settings)
    trace = simulated(scenario)
    at_ms = scenario.events[-1].arrival_time_ms
    answer = watermark_at(trace, at_ms)
    as_each_event = max(times) - bound_ms - 1
    if (aim == "older last") == (times[-1] == max(times)) and aim in ("older last", "newest last"):
        return None
    if aim == "interval" and answer == as_each_event:
        return None
    last = scenario.events[-1].id
    return Exercise(
        scenario,
        f"{last} has just arrived. What is the watermark of the window operator now?",
        answer,
        _options(scenario, answer, times, rng),
        "time",
        _settings(scenario),
    )


def _settings(scenario: Scenario) -> str:
    if scenario.api == "sql":
        return f"Flink SQL: WATERMARK FOR ts AS ts - {duration_text(scenario.bound_ms)}, after each event."
    if scenario.emission == "interval":
        every = duration_text(scenario.interval_ms)
        first = time_text(scenario.grid_start_ms + scenario.interval_ms)
        return f"{strategy_text(scenario)}, a watermark every {every} of the server's clock, first at {first}."
    return f"{strategy_text(scenario)}."


def _options(scenario: Scenario, answer: int, times: list[int], rng: random.Random) -> tuple[Option, ...]:
    bound_ms, newest, last = scenario.bound_ms, max(times), times[-1]
    minus = 0 if scenario.api == "sql" else 1
    arrived = scenario.events[-1].arrival_time_ms
    below = [
        Option(
            last - bound_ms - minus, "", "That follows the last event. An old event never moves the clock back.", "last"
        ),
        Option(min(times) - bound_ms - minus, "", "That follows the lowest event time. The newest counts.", "lowest"),
    ]
    if last == newest:
        text = "That was so before the last event arrived. It is the newest, and moves the clock."
        below[0] = Option(max(times[:-1]) - bound_ms - minus, "", text, "before")
    above = [
        Option(
            arrived - bound_ms - minus, "", "That counts from the server's clock, which plays no part here.", "server"
        ),
        Option(newest, "", "That is the newest event time. You forgot the bound.", "no bound"),
        Option(newest + bound_ms, "", "You added the bound. The watermark trails behind the newest event.", "added"),
    ]
    always = Option(
        newest - bound_ms, "", "One millisecond too many: it is the newest time − bound − 1 ms.", "minus one"
    )
    if scenario.api == "sql":
        always = Option(
            newest - bound_ms - 1, "", "The −1 ms belongs to the DataStream API; SQL has none.", "sql minus one"
        )
    if scenario.emission == "interval":
        text = "That counts from the server's clock. It says when a watermark is sent, and not which one."
        above[0] = above[0]._replace(why=text)
        text = "This source sends one on a timer only. And 1 ms comes off: newest time − bound − 1 ms."
        above.append(always._replace(why=text))
        below.append(Option(MIN_MS, "", "The timer has come by since the first event.", "timer"))
        text = "That would be right for a watermark after each event; this source sends one on a timer only."
        always = Option(newest - bound_ms - 1, "", text, "timer")
    # How many of the choices are lower is drawn: the right one is not always at the same place among them.
    lower = rng.randrange(3)
    wrong = [always, *rng.sample(below, lower), *rng.sample(above, 3 - lower)]
    right = Option(answer, "", _why(scenario, answer, newest))
    return tuple(o._replace(text=_NONE_YET if o.value == MIN_MS else time_text(o.value)) for o in (right, *wrong))


def _why(scenario: Scenario, answer: int, newest: int) -> str:
    bound = duration_text(scenario.bound_ms)
    if answer == MIN_MS:
        return "The timer has not come by since the first event: no watermark has been sent."
    if scenario.api == "sql":
        return f"SQL takes what you wrote: {time_text(newest)} − {bound} = {time_text(answer)}, without −1 ms."
    if scenario.emission == "interval":
        then = answer + scenario.bound_ms + 1
        return (
            f"When the timer last came by, the newest event time was {time_text(then)}; minus {bound}, minus 1 ms: "
            f"{time_text(answer)}. What came since waits for the next time."
        )
    return f"The newest event time is {time_text(newest)}; minus {bound}, minus 1 ms: {time_text(answer)}."


TOPIC = Topic(
    "watermarks",
    2,
    "what the watermark is after some events",
    _draw,
    (("older last", "newest last"), ("older last", "newest last"), ("sql", "interval")),
)
