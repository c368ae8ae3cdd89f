"""The rows of a replay: events in order of arrival, and between them what else happens at the source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from wmviz.scenario import Scenario
from wmviz.times import MAX_MS, MIN_MS

Row = tuple[str | int, ...]
TICK: Row = ("", "", 0, MIN_MS)
"""The row of a tick where there is one input."""
SETTLED_TICKS = 5
"""So many ticks after the idle timeout nothing changes any more, until something arrives."""


class _Step(NamedTuple):
    """An arrival, or what comes to its end; in the order of these fields."""

    at_ms: int
    is_end: bool
    tie: int
    row: Row


def of_one_input(scenario: Scenario, *, ticks: bool) -> Iterator[tuple[int, Row]]:
    """Give the events as (id, key, value, event time), and a `TICK` for each tick that can change something."""
    for at_ms, index in scenario.schedule():
        if index is not None:
            event = scenario.events[index]
            yield at_ms, (event.id, event.key, event.value, event.event_time_ms)
        elif ticks:
            yield at_ms, TICK


def of_several_inputs(scenario: Scenario) -> Iterator[tuple[int, Row]]:
    """Give what happens as (kind, key, value, event time, partition, when, id).

    The kinds: event; ticks, all up to a time; finish of a partition; end of a subtask without one; last, behind all.
    """
    start_ms, interval_ms, ticked = scenario.grid_start_ms, scenario.interval_ms, 0
    steps = sorted([*_arrivals(scenario), *_ends(scenario)])
    periodic = scenario.emission == "interval" and scenario.strategy != "none"
    # Even where events make the watermarks, it is a tick that leaves a partition out that has come to its end.
    has_ticks = interval_ms > 0 and (periodic or scenario.happenings or scenario.idle_timeout_ms is not None)

    def ticks(before_ms: int) -> Iterator[tuple[int, Row]]:
        nonlocal ticked
        due = (before_ms - 1 - start_ms) // interval_ms if has_ticks else 0
        if due > ticked:
            ticked = due
            yield _control("ticks", start_ms + due * interval_ms)

    for step in steps:
        yield from ticks(step.at_ms + step.is_end)
        yield step.at_ms, step.row
    yield from ticks(settled_ms(scenario) + 1)
    yield _control("last", settled_ms(scenario))


def arrival_times_ms(scenario: Scenario) -> list[int]:
    """Give when each event can be read: what falls into a silence of its partition comes at the end of that."""
    silences = sorted((h.at_ms or 0, h.until_ms or 0, h.partition) for h in scenario.happenings if h.what == "silence")
    times_ms = []
    for event in scenario.events:
        at_ms = event.arrival_time_ms
        for from_ms, until_ms, partition in silences:
            if partition == event.partition and from_ms <= at_ms < until_ms:
                at_ms = until_ms
        times_ms.append(at_ms)
    return times_ms


def settled_ms(scenario: Scenario) -> int:
    """Give the time after which nothing changes any more: the end of the input or, if it runs on, of its last ticks."""
    last_ms = max(arrival_times_ms(scenario), default=scenario.grid_start_ms)
    if scenario.end_of_input_ms is not None:
        return max(scenario.end_of_input_ms, last_ms)
    last_ms = max([last_ms, *(happening.at_ms or 0 for happening in scenario.happenings if happening.what == "finish")])
    return last_ms + (scenario.idle_timeout_ms or 0) + SETTLED_TICKS * scenario.interval_ms


def _control(kind: str, at_ms: int, partition: int = 0) -> tuple[int, Row]:
    return at_ms, (kind, "", 0, 0, partition, at_ms, "")


def _arrivals(scenario: Scenario) -> Iterator[_Step]:
    for index, at_ms in enumerate(arrival_times_ms(scenario)):
        event = scenario.events[index]
        row = ("event", event.key, event.value, event.event_time_ms, event.partition, at_ms, event.id)
        yield _Step(at_ms, False, index, row)


def _ends(scenario: Scenario) -> Iterator[_Step]:
    """Give the ends of partitions, which a silence may delay, and of subtasks that have none."""
    end_ms = MAX_MS if scenario.end_of_input_ms is None else scenario.end_of_input_ms
    ends_ms = dict.fromkeys(range(scenario.partition_count), end_ms)
    for happening in scenario.happenings:
        if happening.what == "finish" and happening.at_ms is not None:
            ends_ms[happening.partition] = min(happening.at_ms, ends_ms[happening.partition])
    last_ms = {event.partition: at_ms for event, at_ms in zip(scenario.events, arrival_times_ms(scenario), strict=True)}
    for partition, planned_ms in ends_ms.items():
        if planned_ms < MAX_MS:
            at_ms, tie = max(planned_ms, last_ms.get(partition, MIN_MS)), partition % scenario.subtasks
            yield _Step(at_ms, True, tie, _control("finish", at_ms, partition)[1])
    for subtask in range(scenario.partition_count, scenario.subtasks):
        if end_ms < MAX_MS:
            yield _Step(end_ms, True, subtask, _control("end", end_ms, subtask)[1])
