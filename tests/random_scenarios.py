"""Random scenarios for running two engines against each other: of one stream, or of several inputs.

The seed is 20261017 unless the variable WMVIZ_SEED says otherwise; scenario number n of a seed is always the same one.
"""

import os
import random
from dataclasses import replace

from wmviz.runtime import Happening
from wmviz.scenario import Event, Scenario, Window

SEED = int(os.environ.get("WMVIZ_SEED", "20261017"))
TIME_TRIGGERS = ["default"] * 6 + ["event_time", "purging_event_time", "purging_event_time"]
COUNT_TRIGGERS = ["count:1", "count:2", "count:3", "purging_count:1", "purging_count:2", "purging_count:3"]


def random_scenarios(number: int, seed: int = SEED) -> list[Scenario]:
    """Draw scenarios; small grids of numbers make events meet every boundary often."""
    return [random_scenario(random.Random(f"{seed}/{n}"), f"random-{seed}-{n}") for n in range(number)]


def random_scenario(rng: random.Random, name: str) -> Scenario:
    """Draw one scenario."""
    unit_ms = rng.choice([1, 7, 1000, 60_000])
    window = _window(rng, unit_ms)
    events = _events(rng, unit_ms)
    last_ms = events[-1].arrival_time_ms if events else 0
    return Scenario(
        name=name,
        events=events,
        strategy=rng.choice(["bounded"] * 8 + ["ascending", "none"]),
        bound_ms=rng.choice([0, 1, unit_ms, rng.randrange(6 * unit_ms + 1)]),
        emission=rng.choice(["event", "interval"]),
        interval_ms=rng.choice([1, 3, unit_ms, 4 * unit_ms]),
        strategy_at=rng.choice(["source", "after"]),
        window=window,
        lateness_ms=rng.choice([0, 0, 1, unit_ms, rng.randrange(12 * unit_ms + 1)]),
        late_to=rng.choice(["side", "drop"]),
        aggregate=rng.choice(["sum", "count", "max", "min", "average"]),
        sink=rng.choice(["upsert", "append"]),
        end_of_input_ms=rng.choice([None, last_ms, last_ms + rng.randrange(20 * unit_ms)]),
    )


def random_inputs(number: int, seed: int = SEED) -> list[Scenario]:
    """Draw scenarios with partitions, subtasks and idleness."""
    dice = [random.Random(f"{seed}/inputs/{n}") for n in range(number)]
    drawn = [with_inputs(rng, random_scenario(rng, f"inputs-{seed}-{n}")) for n, rng in enumerate(dice)]
    return [
        with_happenings(rng, scenario) if n % 2 else scenario
        for n, (rng, scenario) in enumerate(zip(dice, drawn, strict=True))
    ]


def with_inputs(dice: random.Random, scenario: Scenario) -> Scenario:
    """Deal a scenario to partitions and subtasks, with idleness; often with inputs that fall silent for a while."""
    partitions = dice.randint(1, 4)
    named = [replace(event, partition=dice.randrange(partitions)) for event in scenario.events]
    if dice.random() < 0.5:  # the last partition has only the first and the last events
        busy = range(len(named) // 4, len(named) - len(named) // 4)
        named = [
            replace(event, partition=event.partition % max(1, partitions - 1)) if index in busy else event
            for index, event in enumerate(named)
        ]
    first_ms = named[0].arrival_time_ms if named else 0
    reach_ms = (named[-1].arrival_time_ms if named else 0) - first_ms + 1
    interval_ms = max(scenario.interval_ms, reach_ms // 60)
    timeout_ms = dice.choice([None, *(max(1, int(interval_ms * steps)) for steps in (0.4, 1, 2, 2, 3.5, 8))])
    return replace(
        scenario,
        events=tuple(named),
        partitions=dice.choice([0, partitions, partitions + 1]),
        subtasks=dice.randint(1, 4),
        window_tasks=dice.randint(1, 3),
        interval_ms=interval_ms,
        idle_timeout_ms=timeout_ms,
        start_ms=dice.choice([None, first_ms - dice.randrange(3 * interval_ms + 1)]),
    )


def with_happenings(dice: random.Random, scenario: Scenario) -> Scenario:
    """Let partitions fall silent or come to their end; now and then with two inputs, or without ticks."""
    first_ms = scenario.grid_start_ms
    last_ms = scenario.events[-1].arrival_time_ms if scenario.events else first_ms
    happenings = []
    for partition in range(scenario.partition_count):
        own = [event.arrival_time_ms for event in scenario.events if event.partition == partition]
        if dice.random() < 0.3:
            from_ms = dice.randint(first_ms, last_ms)
            until_ms = from_ms + dice.choice([1, scenario.interval_ms, dice.randint(1, last_ms - first_ms + 1)])
            happenings.append(Happening("silence", from_ms, partition=partition, until_ms=until_ms))
        if dice.random() < 0.4:
            finish_ms = max([first_ms, *own]) + dice.choice([0, 1, dice.randrange(last_ms - first_ms + 1)])
            happenings.append(Happening("finish", finish_ms, partition=partition))
    return replace(
        scenario,
        happenings=tuple(happenings),
        inputs=dice.choice([1, min(2, scenario.subtasks)]),
        interval_ms=dice.choice([scenario.interval_ms] * 4 + [0]),
    )


def _window(rng: random.Random, unit_ms: int) -> Window:
    kind = rng.choice(["tumbling"] * 5 + ["sliding"] * 4 + ["session"] * 3 + ["global"])
    if kind == "global":
        return Window("global", trigger=rng.choice(["default", "never", "end_of_stream", *COUNT_TRIGGERS]))
    trigger = rng.choice([*TIME_TRIGGERS, rng.choice(COUNT_TRIGGERS), "never"])
    if kind == "session":
        return Window("session", gap_ms=rng.randint(1, 6) * unit_ms, trigger=trigger)
    size_ms = rng.randint(1, 10) * unit_ms
    slide_ms = rng.randint(1, 12) * unit_ms if kind == "sliding" else 0
    grid_ms = slide_ms or size_ms
    offset_ms = rng.choice([0, rng.randrange(-grid_ms + 1, grid_ms)])
    return Window(kind, size_ms, slide_ms, offset_ms, trigger=trigger)


def _events(rng: random.Random, unit_ms: int) -> tuple[Event, ...]:
    """Draw events around the epoch, so that negative times are common, in and out of order."""
    keys = ["a", "b", 'c "quoted"', "d–ü"][: rng.randint(1, 4)]
    disorder_ms = rng.choice([0, 3, 10, 30]) * unit_ms
    at_ms = rng.choice([-20, 0, 1000]) * unit_ms
    events = []
    for number in range(rng.randint(0, 40)):
        at_ms += rng.choice([0, 0, 1, unit_ms, rng.randrange(3 * unit_ms + 1)])
        event_time_ms = at_ms - rng.randint(0, disorder_ms) + rng.choice([0, 0, -1, 1])
        events.append(Event(f"e{number}", rng.choice(keys), rng.randint(-9, 99), event_time_ms, at_ms))
    return tuple(events)
