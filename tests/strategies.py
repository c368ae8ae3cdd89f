"""Random scenarios for properties: small grids of numbers, so that events meet every boundary often."""

from __future__ import annotations

from hypothesis import strategies as st

from wmviz.scenario import Event, Scenario, Window

SMALL = st.integers(-12, 40)
TRIGGERS = ["default", "event_time", "purging_event_time", "count:1", "count:2", "purging_count:2", "never"]


@st.composite
def windows(draw: st.DrawFn) -> Window:
    """Draw a window of any type."""
    kind = draw(st.sampled_from(["tumbling", "sliding", "session", "global", "processing"]))
    if kind == "session":
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
