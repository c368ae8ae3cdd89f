"""After a crash: totals as if nothing had been, but where an event comes before the watermark has come back."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

import wmviz
from tests.strategies import checkpoints, plain_scenarios
from wmviz.engine.windows import assigner_of
from wmviz.runtime import Happening
from wmviz.scenario import Scenario
from wmviz.times import MAX_MS, MIN_MS
from wmviz.trace import Kind, Trace

MANY = settings(max_examples=60)
AGGREGATES = {"sum": sum, "count": len, "max": max, "min": min, "average": lambda values: sum(values) // len(values)}


@st.composite
def disturbed(draw: st.DrawFn, scenario: Scenario) -> Scenario:
    """Draw checkpoints that make nothing count twice, a crash at some millisecond, and perhaps a slow operator."""
    wanted = replace(draw(checkpoints()), timeout_ms=600_000)
    if wanted.mode == "at_least_once":
        wanted = replace(wanted, mode="aligned")
    work_ms, down_ms = draw(st.sampled_from([0, 1, 4])), draw(st.sampled_from([0, 30]))
    crash = Happening("crash", scenario.grid_start_ms + draw(st.integers(0, 180)), down_ms=down_ms)
    last_ms = scenario.events[-1].arrival_time_ms if scenario.events else scenario.grid_start_ms
    return replace(
        scenario,
        checkpoints=wanted,
        work_ms=work_ms,
        channel_capacity=draw(st.integers(0, 4)) if work_ms else 0,
        happenings=(crash,),
        end_of_input_ms=last_ms + draw(st.integers(0, 40)),
    )


@st.composite
def single_streams(draw: st.DrawFn) -> Scenario:
    """Draw a job with one channel, whose watermarks come behind events: then its elements have one order."""
    scenario = draw(plain_scenarios())
    events = tuple(replace(event, partition=0) for event in scenario.events)
    window = scenario.window
    if window.type not in ("tumbling", "sliding") or window.time != "event":
        window = replace(window, type="tumbling", size_ms=7, slide_ms=0, offset_ms=0, gap_ms=0, time="event")
    scenario = replace(
        scenario,
        events=events,
        partitions=0,
        subtasks=1,
        inputs=1,
        window_tasks=1,
        api="datastream",
        strategy="bounded",
        emission="event",
        idle_timeout_ms=None,
        window=replace(window, trigger="default"),
        sink="upsert",
    )
    return draw(disturbed(scenario))


def sent(scenario: Scenario, events: range) -> list[tuple[str, int]]:
    """Give what a source sends that begins with the first of some events: each, and the watermark behind it."""
    elements, top_ms = [], MIN_MS
    for index in events:
        elements.append(("event", index))
        watermark_ms = scenario.events[index].event_time_ms - scenario.bound_ms - 1
        if watermark_ms > top_ms:
            top_ms = watermark_ms
            elements.append(("watermark", top_ms))
    return elements


def watermarks_met(elements: list[tuple[str, int]], watermark_ms: int = MIN_MS) -> dict[int, int]:
    """Give for each event the watermark that it meets."""
    met = {}
    for what, value in elements:
        if what == "event":
            met[value] = watermark_ms
        else:
            watermark_ms = max(watermark_ms, value)
    return met


def after_the_crash(scenario: Scenario, trace: Trace) -> tuple[list[tuple[str, int]], list[tuple[str, int]]] | None:
    """Give what the restored state has taken in, and what came then: what was in flight, and what was read again."""
    restored = next((record for record in trace if record.kind == Kind.RESTORED), None)
    if restored is None:
        return None
    offset, in_flight = 0, 0
    for record in trace:
        if record.row < restored.row and record.value == restored.value:
            if record.kind == Kind.SNAPSHOT and record.place == "source":
                offset = trace.details[record.row].offsets[0]
            elif record.kind == Kind.STORED:
                in_flight = sum(len(rows) for rows in trace.details[record.row].values())
    before = sent(scenario, range(offset))
    done = len(before) - in_flight
    return before[:done], before[done:] + sent(scenario, range(offset, len(scenario.events)))


@MANY
@given(single_streams())
def test_a_restart_changes_only_what_was_late_before_and_is_not_late_now(scenario):
    undisturbed = wmviz.simulate(replace(scenario, happenings=()))
    trace = wmviz.simulate(scenario)
    parts = after_the_crash(scenario, trace)
    expected = dict(undisturbed.totals)
    if parts is not None:
        done, to_come = parts
        assign = assigner_of(scenario.window).assign
        met = watermarks_met(sent(scenario, range(len(scenario.events))))
        meets = watermarks_met(to_come)
        reached_ms = max((value for what, value in done if what == "watermark"), default=MIN_MS)
        counted, late_no_more = defaultdict(list), set()
        for index, event in enumerate(scenario.events):
            for window in assign(event.event_time_ms):
                cleanup_ms = window.max_timestamp_ms + scenario.lateness_ms
                row = event.key, window.start_ms, window.end_ms
                if index not in meets:  # it is in the restored state, if the window still is
                    if met[index] < cleanup_ms and reached_ms < cleanup_ms:
                        counted[row].append(event.value)
                elif meets[index] < cleanup_ms:
                    counted[row].append(event.value)
                    if met[index] >= cleanup_ms:
                        late_no_more.add(row)
        for row in late_no_more:
            expected[row] = AGGREGATES[scenario.aggregate](counted[row])
    assert trace.totals == expected


@st.composite
def patient_jobs(draw: st.DrawFn) -> Scenario:
    """Draw a job of any shape whose bound is so large that nothing is late."""
    scenario = draw(plain_scenarios())
    window = scenario.window
    if window.type != "global" and (window.time == "processing" or window.trigger not in ("default", "event_time")):
        window = replace(window, time="event", trigger="default")
    if window.type == "global":
        window = replace(window, trigger="end_of_stream")
    scenario = replace(
        scenario,
        window=window,
        strategy="bounded",
        bound_ms=1000,
        idle_timeout_ms=None,
        sink=draw(st.sampled_from(["upsert", "transactional"])),
    )
    return draw(disturbed(scenario))


@MANY
@given(patient_jobs())
def test_where_nothing_is_late_a_crash_leaves_no_trace_in_the_totals(scenario):
    undisturbed = wmviz.simulate(replace(scenario, happenings=()))
    trace = wmviz.simulate(scenario)
    assert trace.totals == undisturbed.totals
    if scenario.sink == "transactional":
        assert all(len(values) == 1 for values in trace.totals.values())
    accepted = {row.subject.id for row in undisturbed if row.kind == Kind.ARRIVED}
    assert accepted == {event.id for event in scenario.events}
    assert undisturbed.ledger().counted == len(accepted) or scenario.window.slide_ms > scenario.window.size_ms
    assert MAX_MS in trace.value or not scenario.events
