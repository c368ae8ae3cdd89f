"""Drill: which of many watermarks counts."""

from __future__ import annotations

import random
from typing import Any

from wmviz.course.drills.exercise import Exercise, Option, Topic
from wmviz.course.drills.streams import Came, job, simulated, strategy_text, watermark_at, world
from wmviz.scenario import Scenario
from wmviz.times import MIN_MS, time_text
from wmviz.trace import Trace

_NONE_YET = "None: it is still at its start"


def _draw(rng: random.Random, level: int, aim: str) -> Exercise | None:
    place = world(rng)
    count = 3 if aim == "holder" else rng.choice([2, 3])
    units = rng.sample(range(5, 58), 2 * count)
    partitions = [*range(count), *range(count)]
    rng.shuffle(partitions)
    came = [Came(rng.choice(place.keys), place.at(u), p) for u, p in zip(units, partitions, strict=True)]
    settings: dict[str, Any] = {"bound": rng.choice([1, 2, 3]) * place.unit_ms, "partitions": count}
    if aim == "silent":
        settings["partitions"] = count + 1
    elif aim == "after":
        settings["strategy_at"] = "after"
    elif aim == "spare":
        settings["subtasks"] = count + 1
    elif aim == "each its subtask":
        settings["subtasks"] = count
    scenario = job(place, came, **settings)
    trace = simulated(scenario)
    newest = {p: max(e.event_time_ms for e in scenario.events if e.partition == p) for p in range(count)}
    if aim == "holder":
        return _holder(scenario, trace, newest)
    answer = watermark_at(trace, scenario.events[-1].arrival_time_ms)
    return Exercise(
        scenario,
        "All these have arrived. What is the watermark of the window operator?",
        answer,
        _options(scenario, answer, newest),
        "time",
        _settings(scenario),
    )


def _settings(scenario: Scenario) -> str:
    partitions, subtasks = scenario.partition_count, scenario.subtasks
    readers = "one source subtask" if subtasks == 1 else f"{subtasks} source subtasks"
    where = "after the source" if scenario.strategy_at == "after" else "on the source"
    strategy = f"the strategy is {where}; {strategy_text(scenario)}; no idle timeout."
    return f"{partitions} partitions, read by {readers}; {strategy}"


def _options(scenario: Scenario, answer: int, newest: dict[int, int]) -> tuple[Option, ...]:
    less = scenario.bound_ms + 1
    lowest, highest, last = min(newest.values()), max(newest.values()), scenario.events[-1].event_time_ms
    after = scenario.strategy_at == "after"
    silent = answer == MIN_MS
    low_why = (
        "After the source there are no partitions any more: the strategy sees one stream, and follows its newest event."
        if after
        else "Somebody has sent no watermark at all, and is waited for: a partition or subtask without events."
    )
    near = highest if after else lowest
    wrong = [
        Option(highest - less, "", "That is the furthest of them. The slowest counts, not the fastest.", "maximum"),
        Option(lowest - less, "", low_why, "minimum"),
        Option(
            near - less + 1, "", low_why if silent else "The −1 ms is missing.", "minimum" if silent else "minus one"
        ),
        Option(MIN_MS, "", "Every partition has sent a watermark, and so has every subtask.", "waits for all"),
        Option(last - less, "", "The last event to arrive does not matter by itself.", "last"),
        Option(highest, "", f"The bound is missing{'' if after else ', and the slowest counts'}.", "no bound"),
    ]
    right = Option(answer, "", _why(scenario, answer, after, silent))
    return tuple(o._replace(text=_NONE_YET if o.value == MIN_MS else time_text(o.value)) for o in (right, *wrong))


def _why(scenario: Scenario, answer: int, after: bool, silent: bool) -> str:
    if silent and scenario.subtasks > scenario.partition_count:
        return "One subtask has no partition: it never sends a watermark, and the window operator waits for it."
    if silent:
        return "One partition has no event so far. Its watermark is at the start, and the lowest counts."
    newest = time_text(answer + scenario.bound_ms + 1)
    if after:
        return f"One stream, one watermark: the newest event of all is {newest}, minus the bound, minus 1 ms."
    return f"The lowest counts: the newest event of the slowest partition is {newest}, minus the bound, minus 1 ms."


def _holder(scenario: Scenario, trace: Trace, newest: dict[int, int]) -> Exercise | None:
    watermarks = trace.state().watermarks
    own = {p: watermarks[f"partition {p}"] for p in newest}
    if len(set(own.values())) < len(own):
        return None
    answer = min(own, key=lambda p: own[p])
    furthest = max(own, key=lambda p: own[p])
    last = scenario.events[-1].partition

    def why(partition: int) -> str:
        if partition == answer:
            return f"Its newest event is {time_text(newest[partition])}: the lowest of all, so its watermark counts."
        if partition == furthest:
            return "That one is ahead of all others. The others hold the clock back, not this one."
        if partition == last:
            return "It sent the last event, but what counts is its newest event time."
        return "Another one is further behind. Take the newest event time of each partition, then the lowest."

    thoughts = {furthest: "maximum", last: "last"}
    options = [
        Option(p, f"Partition {p}", why(p), "" if p == answer else thoughts.get(p, "not the lowest"))
        for p in sorted(own)
    ]
    return Exercise(
        scenario,
        "All these have arrived. Which partition holds the watermark of the window operator back?",
        answer,
        tuple(options),
        "number",
        _settings(scenario),
    )


TOPIC = Topic(
    "many inputs",
    6,
    "the watermark of several partitions, and which of them holds it",
    _draw,
    (("lowest", "holder"), ("silent", "lowest", "holder"), ("after", "spare", "each its subtask")),
)
