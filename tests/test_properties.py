"""Properties of every scenario: what must hold whatever the events and settings are."""

from __future__ import annotations

import json
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

import wmviz
from tests.strategies import running_scenarios, scenarios
from wmviz.engine import job
from wmviz.engine.windows import assigner_of
from wmviz.scenario import Scenario, ScenarioError
from wmviz.times import MAX_MS, MIN_MS
from wmviz.trace import Kind, Status, Trace

MANY = settings(max_examples=100)


def columns(trace: Trace) -> tuple[list[int], ...]:
    named = (trace.kind, trace.subject, trace.value, trace.cause, trace.step, trace.step_place, trace.step_at_ms)
    return tuple(list(column) for column in named)


@MANY
@given(scenarios())
def test_the_same_scenario_gives_the_same_trace(scenario):
    first, second = wmviz.simulate(scenario), wmviz.simulate(scenario)
    assert columns(first) == columns(second)
    assert first.windows == second.windows
    assert first.outcomes() == second.outcomes()


@MANY
@given(scenarios())
def test_no_clock_goes_back(scenario):
    trace = wmviz.simulate(scenario)
    assert list(trace.step_at_ms) == sorted(trace.step_at_ms)
    for place in range(len(trace.places)):
        values = [trace.value[row] for row in trace.rows_of.get(("clock", place), [])]
        assert values == sorted(set(values))


@MANY
@given(scenarios())
def test_results_alone_are_those_of_the_full_trace(scenario):
    full, results = wmviz.simulate(scenario), wmviz.simulate(scenario, trace="results")
    assert results.all_firings == full.all_firings
    ours, theirs = results.outcomes(), full.outcomes()
    assert (ours.firings, ours.late, ours.dropped) == (theirs.firings, theirs.late, theirs.dropped)
    for kind in (Kind.LATE, Kind.DROPPED):
        assert [(r.subject, r.value, r.at_ms) for r in full if r.kind == kind] == [
            (r.subject, r.value, r.at_ms) for r in results if r.kind == kind
        ]


@MANY
@given(scenarios())
def test_the_ledger_balances_at_every_step(scenario):
    trace = wmviz.simulate(scenario)
    for step in range(-1, trace.steps):
        ledger = trace.ledger(step)
        assert ledger.balances
        assert sum(ledger.seen.values()) == ledger.arrived
    last = trace.ledger()
    assert last.arrived == len(scenario.events)
    assert last.in_flight == 0


@MANY
@given(scenarios())
def test_every_event_has_one_fate_in_the_step_that_follows_its_arrival(scenario):
    trace = wmviz.simulate(scenario)
    for index in range(len(scenario.events)):
        rows = trace.rows_of["event", index]
        assert trace.kind[rows[0]] == Kind.ARRIVED
        fates = {trace.kind[row] for row in rows} & {Kind.ADDED, Kind.LATE, Kind.DROPPED, Kind.NO_WINDOW}
        assert len(fates) == 1
        assert {trace.step[row] for row in rows[1:]} == {trace.step[rows[0]] + 1}


@MANY
@given(scenarios())
def test_every_pair_of_event_and_window_is_accepted_or_missed_or_turned_away_with_the_event(scenario):
    trace = wmviz.simulate(scenario)
    assigner = assigner_of(scenario.window)
    for index, event in enumerate(scenario.events):
        at_ms = event.event_time_ms if scenario.window.time == "event" else event.arrival_time_ms
        rows = trace.rows_of["event", index]
        added = [trace.windows[trace.subject[row]].window for row in rows if trace.kind[row] == Kind.ADDED]
        missed = [trace.windows[trace.value[row]].window for row in rows if trace.kind[row] == Kind.MISSED]
        assert not set(added) & set(missed)
        if scenario.window.type == "session":
            assert all(w.start_ms <= at_ms and w.end_ms >= at_ms + scenario.window.gap_ms for w in added)
        elif added:
            assert sorted(added + missed) == sorted(assigner.assign(at_ms))


def naive_states(trace: Trace):
    """Fold all rows from the first to each step, as plainly as can be."""
    clocks = dict.fromkeys(trace.clocks, MIN_MS)
    statuses = dict.fromkeys(trace.clocks, Status.ACTIVE)
    content: dict[int, list[int]] = {}
    value: dict[int, int] = {}
    fired: Counter[int] = Counter()
    sink: defaultdict[int, list[int]] = defaultdict(list)
    states = []
    for record in trace:
        if record.step > len(states):
            states += [snapshot(trace, clocks, statuses, content, value, fired, sink)] * (record.step - len(states))
        index = trace.subject[record.row]
        if record.kind == Kind.WATERMARK:
            clocks[record.subject] = record.value
        elif record.kind == Kind.STATUS:
            statuses[record.subject] = Status(record.value)
        elif record.kind == Kind.MERGED:
            content.setdefault(index, []).extend(content.pop(record.value))
        elif record.kind == Kind.ADDED:
            content.setdefault(index, []).append(trace.event_of(record.row))
            value[index] = record.value
        elif record.kind == Kind.FIRED:
            fired[index] += 1
        elif record.kind == Kind.PURGED:
            content[index], value[index] = [], 0
        elif record.kind == Kind.CLEANED:
            del content[index]
        elif record.kind == Kind.WRITTEN:
            sink[index] = [*sink[index], record.value] if trace.scenario.sink == "append" else [record.value]
    states += [snapshot(trace, clocks, statuses, content, value, fired, sink)] * (trace.steps - len(states))
    return states


def snapshot(trace, clocks, statuses, content, value, fired, sink):
    windows = {
        (*trace.windows[index], value[index], trace.event_ids(events), fired[index])
        for index, events in content.items()
    }
    return (
        dict(clocks),
        dict(statuses),
        windows,
        {(*trace.windows[index], tuple(values)) for index, values in sink.items()},
    )


@MANY
@given(scenarios())
def test_the_state_at_a_step_is_the_fold_of_all_rows_up_to_it(scenario):
    trace = wmviz.simulate(scenario)
    for step, (clocks, statuses, windows, sink) in enumerate(naive_states(trace)):
        state = trace.state(step)
        assert state.watermarks == clocks
        assert state.statuses == statuses
        assert {tuple(window) for window in state.windows} == windows
        rows: defaultdict[tuple, list[int]] = defaultdict(list)
        for key, window, value in state.sink:
            rows[key, window].append(value)
        assert {(*row, tuple(values)) for row, values in rows.items()} == sink
        assert state.at_ms == trace.step_at_ms[step]


@MANY
@given(scenarios())
def test_state_is_gone_at_cleanup_and_not_before(scenario):
    trace = wmviz.simulate(scenario)
    if scenario.window.time != "event":
        return
    for step in range(trace.steps):
        state = trace.state(step)
        watermark_ms = min(ms for name, ms in state.watermarks.items() if name in trace.places and "window" in name)
        for window in state.windows:
            cleanup_ms = min(window.window.max_timestamp_ms + scenario.lateness_ms, MAX_MS)
            assert cleanup_ms > watermark_ms or window.window.start_ms is None
    for record in trace:
        if record.kind == Kind.CLEANED:
            cleanup_ms = record.subject.window.max_timestamp_ms + scenario.lateness_ms
            clock = trace.rows_of["clock", trace.places.index(record.place)]
            before = [trace.value[row] for row in clock if row < record.row]
            assert before[-1] >= cleanup_ms
            assert len(before) == 1 or before[-2] < cleanup_ms


@MANY
@given(scenarios())
def test_a_firing_holds_the_right_events_and_value(scenario):
    trace = wmviz.simulate(scenario)
    events = {event.id: event for event in scenario.events}
    of = {
        "sum": sum,
        "count": len,
        "max": max,
        "min": min,
        "average": lambda values: sum(values) // len(values),
    }[scenario.aggregate]
    for firing in trace.all_firings:
        assert firing.value == of([events[event_id].value for event_id in firing.event_ids])
        assert {events[event_id].key for event_id in firing.event_ids} == {firing.key}


@MANY
@given(scenarios())
def test_the_cause_of_a_row_is_an_earlier_row(scenario):
    trace = wmviz.simulate(scenario)
    for record in trace:
        assert record.cause is None or record.cause < record.row
        if record.kind == Kind.ADDED:
            assert trace.kind[record.cause] == Kind.ARRIVED
        if record.kind == Kind.WRITTEN:
            assert trace.kind[record.cause] == Kind.FIRED


@MANY
@given(scenarios())
def test_every_row_has_its_sentence_and_every_event_its_life(scenario):
    trace = wmviz.simulate(scenario)
    for row in range(len(trace)):
        sentence = trace.sentence(row)
        assert sentence.endswith(".")
        assert "\n" not in sentence
    for event in scenario.events:
        assert trace.explain(event.id)


@MANY
@given(scenarios())
def test_a_scenario_is_read_back_as_it_was_saved(scenario):
    assert Scenario.from_json(json.loads(json.dumps(scenario.to_json()))) == scenario
    with tempfile.TemporaryDirectory() as folder:
        scenario.save(Path(folder, "it.json"))
        assert Scenario.load(Path(folder, "it.json")) == scenario


@MANY
@given(scenarios(), st.integers(1, 9))
def test_more_lateness_never_loses_an_event(scenario, more_ms):
    def counted(of: Scenario) -> int:
        return wmviz.simulate(of).ledger().accepted

    assert counted(scenario.replace(lateness=scenario.lateness_ms + more_ms)) >= counted(scenario)


# ------------------------------------------------------------------------------------------------------- fuzzing

NAMES = ["name", "bound", "lateness", "window", "events", "strategy", "emission", "interval", "zone", "start", "sink"]
NAMES += [
    "checkpoints",
    "alignment",
    "happenings",
    "replay",
    "work",
    "inputs",
    "api",
    "subtasks",
    "transaction_timeout",
]
WORDS = ["2 min", "6:56", "tumbling", "1 h", "count:2", "bounded", "UTC", "generate", "steady", "", "\0", "\ud800"]
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from([*WORDS, MIN_MS, MAX_MS])
)
INNER = ["mode", "drift", "buffer", "first", "what", "at", "after", "down", "until", "with", "max_concurrent", *NAMES]
INNER += ["type", "size", "slide", "offset", "trigger", "time", "key", "value", "event_time", "id", "partition"]
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.sampled_from(INNER) | st.text(max_size=5), inner, max_size=5)
    ),
    max_leaves=12,
)
VALID = [wmviz.scenario(name).to_json() for name in wmviz.scenarios() if name != "busy-saturday"]
EVENTS = [["a", 1, 5, 6], ["b", 2, 7, 20, 1], ["a", 3, 30, 40]]
VALID += [
    {
        "events": EVENTS,
        "window": {"size": 10},
        "subtasks": 2,
        "inputs": 2,
        "work": 2,
        "channel_capacity": 3,
        "checkpoints": {"interval": 10, "mode": "unaligned", "alignment_timeout": 5, "first": 3, "min_pause": 4},
        "alignment": {"drift": 5, "interval": 3, "buffer": 1},
        "happenings": [
            {"what": "crash", "at": 17, "down": 5},
            {"what": "stop", "after": "b@0:00:00.007", "with": {"lateness": 20, "checkpoints": {"interval": 30}}},
            {"what": "silence", "at": 9, "until": 25, "partition": 1},
            {"what": "savepoint", "at": 33},
        ],
        "replay": "start",
        "sink": "transactional",
        "transaction_timeout": 50,
        "end_of_input": 60,
    },
    {"events": EVENTS, "window": {"size": 10}, "api": "sql", "strategy_at": "after", "checkpoints": {"interval": 10}},
] * 4


def is_refused_in_a_sentence_or_runs(data):
    try:
        scenario = Scenario.from_json(data)
        with mock.patch.object(job, "MOST_CHECKPOINTS", 100):  # an interval may be short, and a stream long
            wmviz.simulate(scenario, trace="results")
    except ScenarioError as error:
        sentence = str(error)
        assert sentence == sentence.strip()
        assert len(sentence.splitlines()) == 1
        assert len(sentence) < 600
        sentence.encode()


@MANY
@given(JSON)
def test_any_json_is_a_scenario_or_a_sentence(data):
    is_refused_in_a_sentence_or_runs(data)


@MANY
@given(st.dictionaries(st.sampled_from(NAMES), JSON, max_size=4))
def test_any_values_of_the_fields_are_a_scenario_or_a_sentence(data):
    is_refused_in_a_sentence_or_runs(data)


@st.composite
def mutated(draw):
    """Draw a valid file in which one value somewhere is another."""
    data = json.loads(json.dumps(draw(st.sampled_from(VALID))))
    place = data
    while True:
        choices = list(place) if isinstance(place, dict) else list(range(len(place)))
        at = draw(st.sampled_from(choices))
        if not isinstance(place[at], (dict, list)) or not place[at] or draw(st.integers(0, 3)) == 0:
            place[at] = draw(JSON)
            return data
        place = place[at]


@MANY
@given(mutated())
def test_a_file_with_one_wrong_value_is_a_scenario_or_a_sentence(data):
    is_refused_in_a_sentence_or_runs(data)


@MANY
@given(st.binary(max_size=60) | mutated().map(lambda data: json.dumps(data).encode()[:-1]))
def test_any_bytes_are_a_scenario_or_a_sentence(content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "it.json")
        path.write_bytes(content)
        try:
            said = repr(Scenario.load(path))
        except ScenarioError as error:
            said = str(error)
    assert len(said.splitlines()) == 1


@MANY
@given(running_scenarios())
def test_a_running_scenario_is_read_back_as_it_was_saved(scenario):
    assert Scenario.from_json(json.loads(json.dumps(scenario.to_json()))) == scenario
    assert scenario.replace() == scenario
    with tempfile.TemporaryDirectory() as folder:
        scenario.save(Path(folder, "it.json"))
        assert Scenario.load(Path(folder, "it.json")) == scenario
