"""Random scenarios for properties: small grids of numbers, so that events meet every boundary often."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace

from hypothesis import strategies as st

from wmviz.runtime import Checkpoints, Happening, WatermarkAlignment
from wmviz.scenario import Event, Scenario, ScenarioError, Window

SMALL = st.integers(-12, 40)
TRIGGERS = ["default", "event_time", "purging_event_time", "count:1", "count:2", "purging_count:2", "never"]


@st.composite
def windows(draw: st.DrawFn) -> Window:
    """Draw a window of any type."""
    kind = draw(st.sampled_from(["tumbling", "sliding", "session", "global", "processing"]))
    if kind == "session":
        if draw(st.integers(0, 4)) == 0:
            return Window("session", gap_ms=draw(st.integers(1, 12)), time="processing")
        return Window("session", gap_ms=draw(st.integers(1, 12)), trigger=draw(st.sampled_from(TRIGGERS)))
    if kind == "global":
        triggers = ["default", "end_of_stream", "count:2", "purging_count:3"]
        return Window("global", trigger=draw(st.sampled_from(triggers)))
    size_ms = draw(st.integers(1, 12))
    slide_ms = draw(st.integers(1, 15)) if kind == "sliding" else 0
    grid_ms = slide_ms or size_ms
    offset_ms = draw(st.integers(1 - grid_ms, grid_ms - 1))
    if kind == "processing":
        triggers = ["default", "purging_processing_time", "count:2"]
        return Window("tumbling", size_ms, 0, offset_ms, "processing", draw(st.sampled_from(triggers)))
    return Window(kind, size_ms, slide_ms, offset_ms, trigger=draw(st.sampled_from(TRIGGERS)))


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """Draw a scenario with up to thirty events."""
    rows = draw(st.lists(st.tuples(st.sampled_from("abc"), st.integers(-5, 9), SMALL, st.integers(0, 6)), max_size=30))
    events, at_ms = [], draw(st.integers(-10, 10))
    partitions = draw(st.sampled_from([1, 1, 2, 3]))
    for number, (key, value, event_time_ms, gap_ms) in enumerate(rows):
        at_ms += gap_ms
        partition = draw(st.integers(0, partitions - 1))
        events.append(Event(f"e{number}", key, value, event_time_ms, at_ms, partition))
    return Scenario(
        name="drawn",
        events=tuple(events),
        strategy=draw(st.sampled_from(["bounded", "bounded", "bounded", "ascending", "none"])),
        bound_ms=draw(st.integers(0, 8)),
        emission=draw(st.sampled_from(["event", "interval"])),
        interval_ms=draw(st.integers(1, 9)),
        strategy_at=draw(st.sampled_from(["source", "after"])),
        idle_timeout_ms=draw(st.sampled_from([None, None, 3, 11])),
        partitions=draw(st.sampled_from([0, partitions, partitions + 1])),
        subtasks=draw(st.sampled_from([1, 1, 2, 3])),
        window_tasks=draw(st.sampled_from([1, 1, 2])),
        window=draw(windows()),
        lateness_ms=draw(st.integers(0, 15)),
        late_to=draw(st.sampled_from(["side", "drop"])),
        aggregate=draw(st.sampled_from(["sum", "count", "max", "min", "average"])),
        sink=draw(st.sampled_from(["upsert", "append"])),
        start_ms=draw(st.sampled_from([None, -20])),
        end_of_input_ms=draw(st.sampled_from([None, at_ms, at_ms + 13])),
    )


@st.composite
def checkpoints(draw: st.DrawFn) -> Checkpoints:
    """Draw checkpoints that go together."""
    mode = draw(st.sampled_from(["aligned", "unaligned", "at_least_once"]))
    return Checkpoints(
        interval_ms=draw(st.integers(10, 40)),
        mode=mode,
        alignment_timeout_ms=draw(st.sampled_from([0, 1, 5])) if mode == "unaligned" else 0,
        first_ms=draw(st.sampled_from([None, 0, 7])),
        min_pause_ms=draw(st.sampled_from([0, 0, 5, 50])),
        timeout_ms=draw(st.sampled_from([600_000, 10])),
        max_concurrent=1 if mode == "unaligned" else draw(st.integers(1, 3)),
        notice_ms=draw(st.sampled_from([0, 0, 3])),
    )


CHANGES = [
    {},
    {"lateness": 20},
    {"bound": 30},
    {"emission": "interval", "interval": 4},
    {"idle_timeout": 6},
    {"work": 3, "channel_capacity": 2},
    {"checkpoints": None},
    {"checkpoints": {"interval": 15, "mode": "unaligned", "max_concurrent": 1}},
]


@st.composite
def happenings(draw: st.DrawFn, scenario: Scenario) -> Happening:
    """Draw something that happens to a scenario's job."""
    what = draw(st.sampled_from(["crash", "crash", "savepoint", "stop", "silence", "finish"]))
    at_ms = scenario.grid_start_ms + draw(st.integers(0, 150))
    if what == "finish":
        partition = draw(st.integers(0, scenario.partition_count - 1))
        last_ms = max(
            (event.arrival_time_ms for event in scenario.events if event.partition == partition), default=at_ms
        )
        return Happening(what, max(at_ms, last_ms), partition=partition)
    if what == "silence":
        until_ms = at_ms + draw(st.integers(1, 60))
        return Happening(what, at_ms, partition=draw(st.integers(0, scenario.partition_count - 1)), until_ms=until_ms)
    after = draw(st.sampled_from(["", *(event.id for event in scenario.events)]))
    down_ms = 1000 if what == "savepoint" else draw(st.sampled_from([0, 1, 10, 60]))
    changes = draw(st.sampled_from(CHANGES)) if what == "stop" else {}
    return Happening(what, None if after else at_ms, after, down_ms, changes=json.dumps(changes, sort_keys=True))


@st.composite
def plain_scenarios(draw: st.DrawFn) -> Scenario:
    """Draw a scenario for which the short way is enough: SQL and two inputs too."""
    scenario = draw(scenarios())
    if draw(st.integers(0, 4)) == 0:
        size_ms, slide_ms = draw(st.integers(1, 12)), draw(st.integers(0, 12))
        grid = Window("sliding" if slide_ms else "tumbling", size_ms, slide_ms)
        window = draw(st.sampled_from([grid, grid, Window("session", gap_ms=size_ms)]))
        settled = {"strategy": "bounded", "lateness_ms": 0, "late_to": "drop"}
        scenario = replace(scenario, api="sql", window=window, **settled)
    return replace(scenario, inputs=draw(st.sampled_from([1, 2])) if scenario.subtasks > 1 else 1)


@st.composite
def running_scenarios(draw: st.DrawFn) -> Scenario:
    """Draw a scenario with all that may happen to a job."""
    scenario = draw(plain_scenarios())
    work_ms = draw(st.sampled_from([0, 0, 1, 4]))
    aligns = scenario.strategy_at == "source" and scenario.strategy != "none" and draw(st.booleans())
    sink = draw(st.sampled_from(["upsert", "append", "transactional", "transactional"]))
    scenario = replace(
        scenario,
        alignment=draw(st.builds(WatermarkAlignment, st.integers(0, 9), st.integers(1, 9), st.integers(0, 3)))
        if aligns
        else None,
        work_ms=work_ms,
        channel_capacity=draw(st.integers(0, 4)) if work_ms else 0,
        checkpoints=draw(st.none() | checkpoints()),
        replay=draw(st.sampled_from(["offsets", "offsets", "start", "none"])),
        sink=sink,
        transaction_timeout_ms=draw(st.sampled_from([None, 200, 2000])) if sink == "transactional" else None,
    )
    for _ in range(draw(st.sampled_from([0, 1, 1, 2, 3]))):
        happening = draw(happenings(scenario))
        with suppress(ScenarioError):  # changes that this job cannot take, or a partition that would end twice
            scenario = replace(scenario, happenings=(*scenario.happenings, happening))
    return scenario
