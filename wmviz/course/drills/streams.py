"""Streams for drills: two small worlds, and what the engine says of them."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any, NamedTuple

import wmviz
from wmviz.scenario import Scenario
from wmviz.times import duration_text, time_text
from wmviz.trace import Kind, Trace

HOUR_MS, MINUTE_MS, SECOND_MS = 3_600_000, 60_000, 1000


class World(NamedTuple):
    """Where the events come from. Its window is 60 units long."""

    keys: tuple[str, ...]
    unit_ms: int
    start_ms: int

    @property
    def window_ms(self) -> int:
        """The length of its windows."""
        return 60 * self.unit_ms

    @property
    def end_ms(self) -> int:
        """The end of its first window."""
        return self.start_ms + self.window_ms

    def at(self, units: float) -> int:
        """Give the time so many units after the start."""
        return self.start_ms + round(units * self.unit_ms)


def world(rng: random.Random) -> World:
    """Draw runners with windows of an hour, or prices with windows of a minute."""
    if rng.random() < 0.6:
        return World(tuple(rng.sample(["ana", "ben", "cem", "dia", "eli"], 3)), MINUTE_MS, rng.randint(6, 15) * HOUR_MS)
    start_ms = rng.randint(8, 18) * HOUR_MS + rng.randint(0, 50) * MINUTE_MS
    return World(tuple(rng.sample(["gold", "tin", "zinc", "oil"], 3)), SECOND_MS, start_ms)


class Came(NamedTuple):
    """An event before it has its arrival time."""

    key: str
    event_time_ms: int
    partition: int = 0
    value: int = 1000


def job(place: World, came: Iterable[Came], **settings: Any) -> Scenario:
    """Let events arrive in this order, each soon after it happened or soon after the one before."""
    rows, at_ms = [], place.start_ms
    for number, event in enumerate(came):
        soon_ms = (10_000 if place.unit_ms == MINUTE_MS else 200) * (1 + number % 3)
        at_ms = max(at_ms + soon_ms, event.event_time_ms + soon_ms)
        rows.append([event.key, event.value, event.event_time_ms, at_ms, event.partition])
    fields = {"name": "drill", "title": "A drill", "window": place.window_ms, "start": place.start_ms, "events": rows}
    return Scenario.of(**{**fields, **settings})


def seconds(rng: random.Random, level: int) -> float:
    """Draw what an event time has beside whole units: nothing at level 1, else now and then a little."""
    return 0.0 if level == 1 else rng.choice([0.0, 0.25, 0.5, 0.75])


def watermark_at(trace: Trace, at_ms: int) -> int:
    """Give the watermark of the window operator at a processing time."""
    return trace.state(trace.step_at(at_ms)).watermarks["window"]


def fate(trace: Trace, event_id: str) -> str:
    """Say what became of an event on arrival: on time, counted, side or dropped."""
    event = trace.event_index(event_id)
    rows = [row for row in trace.rows_of["event", event] if trace.kind[row] != Kind.ARRIVED]
    kinds = {Kind(trace.kind[row]) for row in rows}
    if Kind.LATE in kinds:
        return "side"
    if Kind.DROPPED in kinds:
        return "dropped"
    arrived_ms = trace.scenario.events[event].arrival_time_ms
    again = any(f.nth > 1 and f.at_ms == arrived_ms and event_id in f.event_ids for f in trace.all_firings)
    return "counted" if again else "on time"


def said(trace: Trace, event_id: str) -> str:
    """Give the engine's sentence about what became of an event on arrival."""
    rows = trace.rows_of["event", trace.event_index(event_id)]
    return trace.sentence(next(row for row in rows if trace.kind[row] != Kind.ARRIVED))


def simulated(scenario: Scenario) -> Trace:
    """Run the engine."""
    return wmviz.simulate(scenario)


def window_text(start_ms: int, end_ms: int) -> str:
    """Write a window as the stage does."""
    return f"[{time_text(start_ms)}, {time_text(end_ms)})"


def strategy_text(scenario: Scenario) -> str:
    """Say what the job has, in a line."""
    parts = [f"windows of {duration_text(scenario.window.size_ms)}"] if scenario.window.type == "tumbling" else []
    parts.append(f"bound {duration_text(scenario.bound_ms)}")
    if scenario.lateness_ms:
        parts.append(f"allowed lateness {duration_text(scenario.lateness_ms)}")
    if scenario.api != "sql" and scenario.emission == "event":
        parts.append("a watermark after each event")
    return ", ".join(parts)
