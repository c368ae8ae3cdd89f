"""Properties of every job that runs on a clock of its own: checkpoints, crash, backpressure, alignment."""

from __future__ import annotations

from collections import Counter, defaultdict

from hypothesis import given, settings

import wmviz
from tests.strategies import plain_scenarios, running_scenarios
from wmviz.engine.job import RunningJob
from wmviz.engine.parts import Parts
from wmviz.engine.runtime_recording import RunningResultsRecorder, RuntimeRecording
from wmviz.times import MAX_MS, MIN_MS
from wmviz.trace import CheckpointPhase, Kind, Status, Trace, TransactionPhase

MANY = settings(max_examples=60)
FATES = {
    Kind.ARRIVED: "in_flight",
    Kind.REWOUND: "in_flight",
    Kind.ADDED: "counted",
    Kind.LATE: "side_output",
    Kind.DROPPED: "dropped",
    Kind.NO_WINDOW: "in_no_window",
    Kind.LOST: "lost",
}


def columns(trace: Trace) -> tuple[object, ...]:
    named = (trace.kind, trace.subject, trace.value, trace.cause, trace.step, trace.step_place, trace.step_at_ms)
    contents = {row: content.events[: content.size] for row, content in trace.contents.items()}
    return (*(list(column) for column in named), trace.windows, contents)


@MANY
@given(plain_scenarios())
def test_where_nothing_can_wait_or_fail_the_running_job_does_what_the_short_way_does(scenario):
    for trace, make in (("full", RuntimeRecording), ("results", RunningResultsRecorder)):
        recorder = make(scenario)
        RunningJob(scenario, recorder, Parts()).run()
        assert columns(recorder.trace) == columns(wmviz.simulate(scenario, trace=trace))


@MANY
@given(running_scenarios())
def test_the_same_scenario_gives_the_same_trace(scenario):
    first, second = wmviz.simulate(scenario), wmviz.simulate(scenario)
    assert columns(first) == columns(second)
    assert (first.checkpoints, first.details) == (second.checkpoints, second.details)


@MANY
@given(running_scenarios())
def test_results_alone_are_those_of_the_full_trace(scenario):
    full, results = wmviz.simulate(scenario), wmviz.simulate(scenario, trace="results")
    assert results.all_firings == full.all_firings
    for kind in (Kind.LATE, Kind.DROPPED):
        assert [(r.subject, r.value, r.at_ms) for r in full if r.kind == kind] == [
            (r.subject, r.value, r.at_ms) for r in results if r.kind == kind
        ]


@MANY
@given(running_scenarios())
def test_clocks_go_back_only_where_the_job_goes_down_and_causes_are_earlier_rows(scenario):
    trace = wmviz.simulate(scenario)
    assert list(trace.step_at_ms) == sorted(trace.step_at_ms)
    clocks: dict[int, int] = {}
    for record in trace:
        assert record.cause is None or record.cause < record.row
        subject = trace.subject[record.row]
        if record.kind == Kind.WATERMARK:
            down = record.cause is not None and trace.kind[record.cause] in (Kind.CRASHED, Kind.STOPPED)
            assert record.value > clocks.get(subject, MIN_MS) or (down and record.value == MIN_MS)
            clocks[subject] = record.value
        if record.kind == Kind.ADDED:
            assert trace.kind[record.cause] == Kind.ARRIVED
        if record.kind == Kind.TAKEN:
            assert trace.kind[record.cause] == Kind.QUEUED


@MANY
@given(running_scenarios())
def test_at_the_end_every_event_that_may_be_read_has_its_fate(scenario):
    trace = wmviz.simulate(scenario)
    last = trace.ledger()
    if (Kind.CRASHED, MAX_MS) in zip(trace.kind, trace.value, strict=True):
        # Each of its checkpoints takes too long, so that it fails again and again, and the run ends there.
        assert not trace.state(trace.steps - 1).is_running
        assert scenario.checkpoints is not None
        return
    assert last.in_flight == 0
    fates = {trace.event_of(row) for row, kind in enumerate(trace.kind) if kind in FATES}
    if trace.steps:
        state = trace.state(trace.steps - 1)
        # Alignment may hold an input back for good: for one that has fallen silent, without idleness.
        assert len(fates) == len(scenario.events) or state.paused
        assert state.is_running
        assert not any(channel.waiting for channel in state.channels.values())


@MANY
@given(running_scenarios())
def test_every_row_has_its_sentence_and_every_event_its_life(scenario):
    trace = wmviz.simulate(scenario)
    for row in range(len(trace)):
        sentence = trace.sentence(row)
        assert sentence.endswith("."), sentence
        assert "\n" not in sentence
    for event in scenario.events:
        assert len(trace.explain(event.id)) > (("event", trace.event_index(event.id)) in trace.rows_of)


class Fold:
    """What stands after some rows, as plainly as can be."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.clocks = dict.fromkeys(trace.clocks, MIN_MS)
        self.statuses = dict.fromkeys(trace.clocks, Status.ACTIVE)
        self.content: dict[int, list[int]] = {}
        self.value: Counter[int] = Counter()
        self.fired: Counter[int] = Counter()
        self.written: defaultdict[int, list[int]] = defaultdict(list)
        self.committed: defaultdict[int, list[int]] = defaultdict(list)
        self.waiting: defaultdict[str, list[int]] = defaultdict(list)  # rows QUEUED
        self.blocked: Counter[str] = Counter()
        self.paused: set[str] = set()
        self.pressed: set[str] = set()
        self.allowed: dict[int, int] = {}
        self.is_running = True
        self.recovers_to = 0
        self.pending: dict[tuple[int, bool], list[str]] = {}
        self.transactions: dict[int, list[int]] = {}  # phase, number of results
        self.open_at: dict[str, int] = {}
        self.fates: dict[int, str] = {}
        self.pairs: Counter[Kind] = Counter()

    def take(self, record) -> None:
        index, value = self.trace.subject[record.row], record.value
        if record.kind in FATES:
            event = self.trace.event_of(record.row)
            self.fates[event] = FATES[record.kind]
        self.pairs[record.kind] += 1
        match record.kind:
            case Kind.WATERMARK:
                self.clocks[record.subject] = value
            case Kind.STATUS:
                self.statuses[record.subject] = Status(value)
            case Kind.ADDED:
                self.content.setdefault(index, []).append(self.trace.event_of(record.row))
                self.value[index] = value
            case Kind.MERGED:
                self.content.setdefault(index, []).extend(self.content.pop(value))
            case Kind.PURGED:
                self.content[index], self.value[index] = [], 0
            case Kind.CLEANED | Kind.GONE:
                del self.content[index]
            case Kind.RELOADED:
                assert index not in self.content
                self.content[index], self.value[index] = list(self.trace.firing_events(record.row)), value
            case Kind.FIRED:
                self.fired[index] += 1
            case Kind.WRITTEN:
                self.written[index].append(value)
                if record.place in self.open_at:
                    self.transactions[self.open_at[record.place]][1] += 1
            case Kind.COMMITTED:
                self.committed[index].append(value)
            case Kind.QUEUED:
                self.waiting[record.subject].append(record.row)
                assert value == len(self.waiting[record.subject])
            case Kind.TAKEN:
                self.waiting[record.subject].remove(record.cause)
                assert value == len(self.waiting[record.subject])
            case Kind.EMPTIED:
                self.waiting[record.subject].clear()
            case Kind.BLOCKED:
                self.blocked[record.subject] = value
            case Kind.PAUSED:
                (self.paused.add if value else self.paused.discard)(record.subject)
            case Kind.BACKPRESSURED:
                (self.pressed.add if value else self.pressed.discard)(record.subject)
            case Kind.ALLOWED:
                self.allowed[index] = value
            case Kind.CRASHED | Kind.STOPPED:
                self.is_running = False
            case Kind.RESTORED:
                self.is_running, self.recovers_to = True, value
            case Kind.CHECKPOINT if value == CheckpointPhase.STARTED:
                self.pending[record.subject] = []
            case Kind.CHECKPOINT:
                del self.pending[record.subject]
                if value == CheckpointPhase.COMPLETED and not record.subject.savepoint:
                    self.recovers_to = record.subject.id
            case Kind.SNAPSHOT:
                for which, places in self.pending.items():
                    if which[0] == value:
                        places.append(record.place)
            case Kind.TRANSACTION:
                self.transactions.setdefault(index, [0, 0])[0] = value
                if value == TransactionPhase.OPEN:
                    self.open_at[record.place] = index

    def windows(self) -> set[tuple[object, ...]]:
        return {
            (
                *self.trace.windows[index],
                self.value[index] if events else 0,
                self.trace.event_ids(events),
                self.fired[index],
            )
            for index, events in self.content.items()
        }

    def rows(self, found: dict[int, list[int]]) -> Counter:
        last = slice(-1, None) if self.trace.scenario.sink == "upsert" else slice(None)
        return Counter((*self.trace.windows[index], value) for index, values in found.items() for value in values[last])

    def assert_is(self, state) -> None:
        trace = self.trace
        transactional = trace.scenario.sink == "transactional"
        assert state.watermarks == self.clocks
        assert state.statuses == self.statuses
        assert Counter(map(tuple, state.windows)) == Counter(self.windows())
        assert Counter(state.sink) == self.rows(self.committed if transactional else self.written)
        assert Counter(state.uncommitted) == self.rows(self.written)
        assert state.is_running == self.is_running
        channels = {
            name: ([trace.cause[row] for row in self.waiting[name]], self.blocked[name])
            for name in trace.channels
            if self.waiting[name] or self.blocked[name]
        }
        assert {name: (list(c.waiting), c.blocked_by) for name, c in state.channels.items()} == channels
        assert (state.paused, state.under_pressure) == (self.paused, self.pressed)
        assert state.allowed_ms == tuple(self.allowed[which] for which in sorted(self.allowed))
        assert state.checkpoint == self.recovers_to
        pending = {(p.id, p.savepoint): sorted(p.snapshots) for p in state.pending}
        assert pending == {which: sorted(places) for which, places in self.pending.items()}
        undecided = (TransactionPhase.OPEN, TransactionPhase.PREPARED)
        found = [(n, phase, size) for n, (phase, size) in self.transactions.items() if phase in undecided]
        assert list(map(tuple, state.transactions)) == found
        counts, ledger = Counter(self.fates.values()), state.ledger
        assert ledger.balances
        assert ledger.arrived == len(self.fates)
        assert {fate: getattr(ledger, fate) for fate in FATES.values()} == {f: counts[f] for f in FATES.values()}
        assert (ledger.accepted, ledger.missed) == (self.pairs[Kind.ADDED], self.pairs[Kind.MISSED])
        assert sum(ledger.seen.values()) == ledger.arrived


@MANY
@given(running_scenarios())
def test_the_state_at_a_step_is_the_fold_of_all_rows_up_to_it(scenario):
    trace = wmviz.simulate(scenario)
    fold, row = Fold(trace), 0
    for step in range(-1, trace.steps):
        while row < len(trace) and trace.step[row] <= step:
            fold.take(trace[row])
            row += 1
        fold.assert_is(trace.state(step))
