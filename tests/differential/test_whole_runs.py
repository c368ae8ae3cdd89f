"""Whole runs with many inputs: beside Flink's own strategy, multiplexer and valve, ticked all over the grid."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import pytest

import wmviz
from tests.differential.java import java_function
from tests.random_scenarios import SEED, random_scenario, with_inputs
from wmviz.engine.aggregates import AGGREGATES
from wmviz.engine.merging import MergingWindowOperator
from wmviz.engine.triggers import trigger_of
from wmviz.engine.window_operator import WindowOperator
from wmviz.engine.windows import assigner_of
from wmviz.scenario import Scenario
from wmviz.times import MIN_MS
from wmviz.trace import Kind, Trace

RUNS = 400
Step = tuple[str, int, int, int, int, int]  # what, subtask, time, partition, timestamp, event


@pytest.fixture(scope="module")
def whole_runs(flink):
    """Return Flink's source subtasks and valve, wired."""
    return java_function("WholeRun")


def drawn(number: int) -> Scenario:
    """Draw a scenario with several inputs."""
    dice = random.Random(f"{SEED}/whole/{number}")
    return with_inputs(dice, random_scenario(dice, f"whole-{SEED}-{number}"))


def steps_of(scenario: Scenario) -> Iterator[Step]:
    """Walk through arrivals, every tick of the grid, and the end."""
    subtasks, tick_ms = range(scenario.subtasks), scenario.grid_start_ms + scenario.interval_ms
    last_ms = scenario.events[-1].arrival_time_ms if scenario.events else scenario.grid_start_ms
    end_ms = scenario.end_of_input_ms
    silent_ms = last_ms + (scenario.idle_timeout_ms or 0) + 5 * scenario.interval_ms
    arrivals = [(event.arrival_time_ms, index) for index, event in enumerate(scenario.events)]
    for at_ms, index in [*arrivals, (silent_ms if end_ms is None else end_ms + 1, -1)]:
        while tick_ms < at_ms:
            yield from (("tick", subtask, tick_ms, 0, 0, -1) for subtask in subtasks)
            tick_ms += scenario.interval_ms
        if index >= 0:
            event = scenario.events[index]
            yield "event", event.partition % scenario.subtasks, at_ms, event.partition, event.event_time_ms, index
    if end_ms is not None:
        yield from (("end", subtask, end_ms, 0, 0, -1) for subtask in subtasks)


def line_of(scenario: Scenario, steps: Sequence[Step]) -> str:
    settings = (
        scenario.subtasks,
        scenario.partition_count,
        scenario.strategy_at,
        scenario.strategy,
        scenario.emission,
        scenario.bound_ms,
        scenario.idle_timeout_ms or 0,
        scenario.grid_start_ms,
    )
    return "\t".join([" ".join(map(str, settings)), *(" ".join(map(str, step)) for step in steps)])


class Told:
    """What the window operator tells, in the form that traces are compared in."""

    added = None

    def __init__(self) -> None:
        self.at_ms, self.watermark_ms = MIN_MS, MIN_MS
        self.results: list[tuple[object, ...]] = []

    def fired(self, pane, value):
        self.results.append((self.at_ms, "fired", pane.key, pane.window, value, tuple(pane.events), self.watermark_ms))

    def late(self, event):
        self.results.append((self.at_ms, "late", event, self.watermark_ms))

    def dropped(self, event):
        self.results.append((self.at_ms, "dropped", event, self.watermark_ms))

    def ignore(self, *_):
        """It is no result."""

    purged = cleaned = missed = no_window = watermark = merged = ignore


def expected(scenario: Scenario, steps: Sequence[Step], answer: str):
    """Give what each clock does, the watermark that each event meets, and the results, on Flink's watermarks."""
    said: dict[int, list[tuple[str, str]]] = {}
    for text in filter(None, answer.split("\t")):
        step, who, what = text.split(" ")
        said.setdefault(int(step), []).append((who, what))
    told, (trigger, purging) = Told(), trigger_of(scenario.window)
    operator = (MergingWindowOperator if scenario.window.type == "session" else WindowOperator)(
        assigner_of(scenario.window),
        trigger,
        AGGREGATES[scenario.aggregate],
        told,
        purging=purging,
        lateness_ms=scenario.lateness_ms,
        side_output=scenario.late_to == "side",
    )
    clocks: dict[str, list[tuple[int, str]]] = {}
    seen = {}
    for number, (_, _, at_ms, _, timestamp_ms, index) in enumerate(steps):
        told.at_ms = at_ms
        if index >= 0:
            event = scenario.events[index]
            seen[event.id] = told.watermark_ms
            operator.process(event.key, timestamp_ms, event.value, index)
        for who, what in said.get(number, []):
            clocks.setdefault(who, []).append((at_ms, what))
            if who == "v" and what not in ("idle", "active"):
                told.watermark_ms = int(what)
                operator.advance(told.watermark_ms)
    return clocks, seen, sorted(told.results, key=repr)


def of_ours(scenario: Scenario, trace: Trace):
    """Give the same of our trace, and refuse it if the window tasks disagree."""
    clocks: dict[str, list[tuple[int, str]]] = {}
    names = {scenario.subtasks + number: f"v{number}" for number in range(scenario.window_tasks)}
    results = []
    for row in trace:
        index, watermark_ms = trace.subject[row.row], trace.watermark_at(row.row)
        if row.kind in (Kind.WATERMARK, Kind.STATUS) and index < len(trace.places):
            what = str(row.value) if row.kind == Kind.WATERMARK else ("active", "idle")[row.value]
            clocks.setdefault(names.get(index, str(index)), []).append((row.at_ms, what))
        elif row.kind == Kind.FIRED:
            events = tuple(trace.firing_events(row.row))
            results.append((row.at_ms, "fired", row.subject.key, row.subject.window, row.value, events, watermark_ms))
        elif row.kind in (Kind.LATE, Kind.DROPPED):
            results.append((row.at_ms, row.kind.name.lower(), index, watermark_ms))
    tasks = [clocks.pop(f"v{number}", []) for number in range(scenario.window_tasks)]
    assert all(task == tasks[0] for task in tasks)
    if tasks[0]:
        clocks["v"] = tasks[0]
    return clocks, trace.seen_watermarks, sorted(results, key=repr)


def test_a_whole_run_is_that_of_flinks_own_classes_ticked_at_every_point_of_the_grid(whole_runs):
    scenarios = [drawn(number) for number in range(RUNS)]
    steps = [list(steps_of(scenario)) for scenario in scenarios]
    answers = whole_runs("\n".join(map(line_of, scenarios, steps))).split("\n")
    for scenario, taken, answer in zip(scenarios, steps, answers[:RUNS], strict=True):
        ours, theirs = of_ours(scenario, wmviz.simulate(scenario)), expected(scenario, taken, answer)
        for what, one, other in zip(("clocks", "watermarks met", "results"), ours, theirs, strict=True):
            assert one == other, f"{what} of {scenario.to_json()}"
