"""The trace: columns and views, spans, state at a step, ledger, tables, outcomes; our own and one made of reports."""

import inspect
import pickle
import subprocess
import sys

import pandas as pd
import pytest

import wmviz
from wmviz.observed import OBSERVED, ObservedFiring, observed_trace
from wmviz.scenario import Scenario
from wmviz.times import MAX_MS, MIN_MS, time_ms
from wmviz.trace import CheckpointPhase, Kind, Record, Span, Status, TraceError, TransactionPhase, WindowOf
from wmviz.window import GLOBAL_WINDOW, TimeWindow


def small(**fields):
    """Make ten-millisecond windows of two keys: one late event that counts, one that is too late."""
    events = [["x", 1, 1, 1], ["y", 2, 5, 2], ["x", 4, 12, 12], ["x", 8, 3, 13], ["y", 16, 40, 40], ["x", 32, 4, 41]]
    return Scenario.of(**{"name": "small", "events": events, "window": 10, "lateness": 5, "late_to": "side", **fields})


@pytest.fixture
def trace():
    return wmviz.simulate(small())


class TestRows:
    def test_a_row_is_a_view_with_its_names(self, trace):
        first = trace[0]
        assert first == Record(0, Kind.ARRIVED, "source", trace.scenario.events[0], 1, None, 0, 1)
        assert trace[1].kind == Kind.ADDED
        assert trace[1].subject == WindowOf("x", TimeWindow(0, 10))
        assert (trace[1].value, trace[1].cause, trace[1].place) == (1, 0, "window")

    def test_rows_are_counted_from_either_end(self, trace):
        assert trace[-1] == trace[len(trace) - 1]
        assert len(list(trace)) == len(trace)
        for row in (len(trace), -len(trace) - 1):
            with pytest.raises(IndexError, match=f"row {row} is not there: the trace has {len(trace)} rows"):
                trace[row]

    def test_the_rows_of_the_whole_run_in_order(self, trace):
        told = [(row.kind.name, row.value) for row in trace]
        assert told == [
            ("ARRIVED", 1),
            ("ADDED", 1),
            ("WATERMARK", 0),
            ("WATERMARK", 0),
            ("ARRIVED", 5),
            ("ADDED", 2),
            ("WATERMARK", 4),
            ("WATERMARK", 4),
            ("ARRIVED", 12),
            ("ADDED", 4),
            ("WATERMARK", 11),
            ("WATERMARK", 11),
            ("FIRED", 1),
            ("WRITTEN", 1),
            ("FIRED", 2),
            ("WRITTEN", 2),
            ("ARRIVED", 3),
            ("ADDED", 9),
            ("FIRED", 9),
            ("WRITTEN", 9),
            ("ARRIVED", 40),
            ("ADDED", 16),
            ("WATERMARK", 39),
            ("WATERMARK", 39),
            ("CLEANED", 0),
            ("CLEANED", 0),
            ("FIRED", 4),
            ("WRITTEN", 4),
            ("CLEANED", 0),
            ("ARRIVED", 4),
            ("LATE", 39),
        ]

    def test_a_firing_names_the_watermark_or_the_late_event_as_its_cause(self, trace):
        causes = [trace[row.cause].kind for row in trace if row.kind == Kind.FIRED]
        assert causes == [Kind.WATERMARK, Kind.WATERMARK, Kind.ADDED, Kind.WATERMARK]
        late = next(row for row in trace if row.kind == Kind.FIRED and trace[row.cause].kind == Kind.ADDED)
        assert trace.scenario.events[trace.event_of(late.cause)].id == "x@0:00:00.003"

    def test_repr_says_what_it_is(self, trace):
        assert repr(trace) == f"<Trace of small by wmviz: {len(trace)} rows, {trace.steps} steps>"

    def test_rows_hold_no_objects(self, trace):
        assert {type(getattr(trace, name)).__name__ for name in ("kind", "subject", "value", "cause", "step")} == {
            "array"
        }
        assert pickle.loads(pickle.dumps(trace.kind)) == trace.kind


class TestSpans:
    def test_a_window_has_a_span_between_each_two_changes(self, trace):
        index = trace.windows.index(WindowOf("x", TimeWindow(0, 10)))
        kinds = [(span.kind.name, span.value) for span in trace.spans(("window", index))]
        assert kinds == [("ADDED", 1), ("FIRED", 1), ("ADDED", 9), ("FIRED", 9), ("CLEANED", 0)]
        spans = trace.spans(("window", index))
        assert [a.end_step for a in spans[:-1]] == [b.first_step for b in spans[1:]]
        assert spans[-1].end_step is None

    def test_the_value_at_a_step_is_the_last_up_to_it(self, trace):
        clock = ("clock", trace.places.index("window"))
        assert trace.value_at(clock, 0) is None
        values = [trace.value_at(clock, step) for step in range(trace.steps)]
        assert [value for value in dict.fromkeys(values) if value is not None] == [0, 4, 11, 39]
        assert trace.spans(clock)[0] == Span(3, Kind.WATERMARK, 0, 3, trace.spans(clock)[1].first_step)

    def test_an_unknown_subject_has_no_spans(self, trace):
        assert trace.spans(("window", 99)) == []
        assert trace.row_at(("window", 99), 5) is None


class TestState:
    def test_before_the_first_step_there_is_nothing(self, trace):
        state = trace.state(-1)
        assert state.windows == state.sink == ()
        assert state.watermarks == {"source": MIN_MS, "window": MIN_MS}
        assert state.ledger.arrived == 0
        assert state.at_ms == 1

    def test_when_the_late_event_has_come(self, trace):
        step = next(row.step for row in trace if row.kind == Kind.FIRED and row.value == 9)
        state = trace.state(step)
        assert [(w.key, w.window.start_ms, w.value, w.firings) for w in state.windows] == [
            ("x", 0, 9, 2),
            ("y", 0, 2, 1),
            ("x", 10, 4, 0),
        ]
        assert state.windows[0].event_ids == ("x@0:00:00.001", "x@0:00:00.003")
        assert state.sink == (("x", TimeWindow(0, 10), 9), ("y", TimeWindow(0, 10), 2))
        assert state.watermarks == {"source": 11, "window": 11}

    def test_at_the_end_only_what_is_not_cleaned_is_left(self, trace):
        state = trace.state(trace.steps - 1)
        assert [(w.key, w.window) for w in state.windows] == [("y", TimeWindow(40, 50))]
        assert len(state.sink) == 3

    def test_an_append_sink_has_a_row_for_each_firing(self):
        trace = wmviz.simulate(small(sink="append"))
        assert [value for *_, value in trace.state(trace.steps - 1).sink] == [1, 9, 2, 4]

    def test_a_step_that_is_not_there_is_a_sentence(self, trace):
        with pytest.raises(TraceError, match=f"step 99 is not there: this run has the steps 0 to {trace.steps - 1}"):
            trace.state(99)
        with pytest.raises(TraceError):
            trace.state(-2)

    def test_without_a_step_it_is_the_last_one(self, trace):
        assert trace.state() == trace.state(trace.steps - 1)
        assert trace.ledger() == trace.ledger(trace.steps - 1)
        assert wmviz.simulate(Scenario.of(events=[], window=10)).state().step == -1

    def test_the_step_at_a_time_is_the_last_one_of_that_millisecond(self, trace):
        times_ms = list(trace.step_at_ms)
        assert times_ms == sorted(times_ms)
        assert trace.step_at(times_ms[0] - 1) == -1
        assert trace.step_at(times_ms[-1] + 1000) == trace.steps - 1
        for at_ms in times_ms:
            step = trace.step_at(at_ms)
            assert times_ms[step] == at_ms
            assert step + 1 == trace.steps or times_ms[step + 1] > at_ms

    def test_a_time_that_is_text_is_a_sentence(self, trace):
        with pytest.raises(TraceError, match=r"at_ms is '7:05'; write milliseconds, as .*time_ms"):
            trace.step_at("7:05")

    def test_a_purged_window_is_open_but_empty(self):
        trace = wmviz.simulate(small(window={"size": 10, "trigger": "purging_event_time"}))
        step = next(row.step for row in trace if row.kind == Kind.PURGED)
        assert [(w.key, w.value, w.event_ids) for w in trace.state(step).windows][:2] == [("x", 0, ()), ("y", 0, ())]
        assert [f.value for f in trace.all_firings] == [1, 2, 8, 4]


class TestLedger:
    def test_at_the_end_every_event_is_somewhere(self, trace):
        ledger = trace.ledger()
        assert ledger.balances
        assert (ledger.arrived, ledger.in_flight, ledger.counted, ledger.side_output) == (6, 0, 5, 1)
        assert (ledger.dropped, ledger.in_no_window, ledger.accepted, ledger.missed) == (0, 0, 5, 0)

    def test_an_event_is_in_flight_between_source_and_window(self, trace):
        assert trace.ledger(0).in_flight == 1
        assert trace.ledger(1).in_flight == 0

    def test_the_reader_of_an_upsert_sink_sees_each_event_once(self, trace):
        assert trace.ledger().seen == {0: 2, 1: 4}

    def test_the_reader_of_an_append_sink_sees_an_event_once_for_each_firing(self):
        assert wmviz.simulate(small(sink="append")).ledger().seen == {0: 2, 1: 3, 2: 1}

    def test_dropped_missed_and_no_window_have_their_own_counts(self):
        events = [["x", 1, 7, 1], ["x", 1, 20, 2], ["x", 1, 6, 3]]
        dropped = wmviz.simulate(Scenario.of(events=events, window=10)).ledger()
        assert (dropped.dropped, dropped.counted) == (1, 2)
        sliding = {"type": "sliding", "size": 10, "slide": 5}
        missed = wmviz.simulate(Scenario.of(events=[["x", 1, 7, 1], ["x", 1, 11, 2], ["x", 1, 8, 3]], window=sliding))
        assert (missed.ledger().missed, missed.ledger().counted, missed.ledger().accepted) == (1, 3, 5)
        gaps = {"type": "sliding", "size": 3, "slide": 10}
        nowhere = wmviz.simulate(Scenario.of(events=[["x", 1, 5, 1]], window=gaps)).ledger()
        assert (nowhere.in_no_window, nowhere.counted) == (1, 0)

    def test_an_upsert_sink_may_still_show_an_event_that_is_lost(self):
        crash = {"what": "crash", "at": 15, "down": 1}
        lossy = Scenario.of(events=[["x", 1, 5], ["x", 1, 12]], window=10, replay="none", happenings=[crash])
        ledger = wmviz.simulate(lossy).ledger()
        assert (ledger.lost, ledger.seen) == (2, {0: 1, 1: 1})

    def test_a_trace_of_results_has_none_and_says_what_to_do(self):
        trace = wmviz.simulate(small(), trace="results")
        for question in (trace.ledger, lambda: trace.state(0)):
            with pytest.raises(TraceError, match=r"holds only results; simulate with trace='full'"):
                question()


class TestTables:
    def test_firings(self, trace):
        table = trace.firings
        assert list(table) == ["key", "start_ms", "end_ms", "nth", "value", "events", "watermark_ms", "at_ms"]
        third = table.iloc[2].to_dict()
        assert third == {
            "key": "x",
            "start_ms": 0,
            "end_ms": 10,
            "nth": 2,
            "value": 9,
            "events": ("x@0:00:00.001", "x@0:00:00.003"),
            "watermark_ms": 11,
            "at_ms": 13,
        }

    def test_a_global_window_has_no_bounds(self):
        trace = wmviz.simulate(small(window={"type": "global", "trigger": "count:2"}))
        assert trace.firings["start_ms"].isna().all()
        assert trace.all_firings[0].window == GLOBAL_WINDOW

    def test_late_and_dropped(self, trace):
        assert trace.late.to_dict("records") == [
            {"event": "x@0:00:00.004", "key": "x", "event_time_ms": 4, "watermark_ms": 39, "at_ms": 41}
        ]
        assert trace.dropped.empty
        dropped = wmviz.simulate(small(late_to="drop"))
        assert dropped.dropped["event"].tolist() == ["x@0:00:00.004"]
        assert dropped.late.empty
        assert dropped.dropped_count == 1

    def test_watermarks_are_those_that_each_event_met(self, trace):
        assert trace.watermarks["watermark_ms"].tolist() == [MIN_MS, 0, 4, 11, 11, 39]
        assert trace.watermarks["event"].tolist() == [event.id for event in trace.scenario.events]

    def test_the_table_of_all_rows_has_a_sentence_for_each(self, trace):
        table = trace.table()
        assert len(table) == len(trace)
        assert list(table) == ["step", "at_ms", "place", "kind", "subject", "value", "sentence"]
        assert table["sentence"].str.endswith(".").all()

    def test_extreme_watermarks_stay_whole_numbers(self):
        table = wmviz.simulate(small(end_of_input=50)).firings
        assert table["watermark_ms"].dtype == "int64"
        assert table["watermark_ms"].iloc[-1] == MAX_MS

    def test_a_run_without_events_has_empty_tables_with_columns(self):
        trace = wmviz.simulate(Scenario())
        assert len(trace) == 0
        for table in (trace.firings, trace.late, trace.dropped, trace.watermarks, trace.table()):
            assert isinstance(table, pd.DataFrame)
            assert table.empty
            assert len(table.columns) > 1

    def test_the_package_is_light_until_a_table_is_asked_for(self):
        code = "import sys, wmviz; wmviz.simulate(wmviz.scenario('leaderboard')); print('pandas' in sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "False"


class TestOutcomes:
    def test_they_are_plain_and_complete(self, trace):
        outcomes = trace.outcomes()
        assert outcomes.firings == {
            ("x", 0, 10, 1): (1, ("x@0:00:00.001",), 11),
            ("y", 0, 10, 1): (2, ("y@0:00:00.005",), 11),
            ("x", 0, 10, 2): (9, ("x@0:00:00.001", "x@0:00:00.003"), 11),
            ("x", 10, 20, 1): (4, ("x@0:00:00.012",), 39),
        }
        assert outcomes.late == {"x@0:00:00.004"}
        assert outcomes.dropped == 0
        assert outcomes.seen_watermarks["x@0:00:00.003"] == 11
        assert outcomes.totals == {("x", 0, 10): 9, ("y", 0, 10): 2, ("x", 10, 20): 4}

    def test_an_append_sink_totals_to_lists(self):
        totals = wmviz.simulate(small(sink="append")).totals
        assert totals == {("x", 0, 10): [1, 9], ("y", 0, 10): [2], ("x", 10, 20): [4]}

    def test_an_unknown_event_is_a_sentence_with_the_others_of_its_key(self, trace):
        with pytest.raises(
            TraceError, match=r"there is no event 'x@9' in small; there is x@0:00:00.001, x@0:00:00.012"
        ):
            trace.event_index("x@9")
        with pytest.raises(TraceError, match=r"there is no event 'z@9' in small$"):
            trace.explain("z@9")


class TestObserved:
    def make(self, **changes):
        ours = wmviz.simulate(small())
        outcomes = ours.outcomes()
        firings = [
            ObservedFiring(f.key, (f.window.start_ms, f.window.end_ms), f.value, f.event_ids, f.watermark_ms)
            for f in ours.all_firings
        ]
        reports = {"firings": firings, "late": outcomes.late, "dropped": 0, "seen": outcomes.seen_watermarks, **changes}
        return ours, observed_trace(ours.scenario, **reports)

    def test_it_has_the_outcomes_that_were_reported(self):
        ours, flink = self.make()
        assert flink.outcomes() == ours.outcomes()
        assert (flink.engine, flink.recorded) == ("Flink 2.3.0", False)

    def test_it_holds_only_what_was_reported(self):
        _, flink = self.make()
        assert flink.observed == OBSERVED
        assert {row.kind for row in flink} <= OBSERVED
        with pytest.raises(TraceError, match="ask our own trace"):
            flink.ledger()

    def test_a_count_that_was_not_read_is_not_made_up(self):
        assert self.make(dropped=None)[1].dropped_count is None
        assert self.make(dropped=3)[1].dropped_count == 3

    def test_firings_come_behind_the_events_that_caused_them(self):
        _, flink = self.make()
        at = {(f.key, f.nth): f.at_ms for f in flink.all_firings if f.window.start_ms == 0}
        assert at == {("x", 1): 12, ("y", 1): 12, ("x", 2): 13}

    def test_a_recorded_run_says_so(self):
        ours, _ = self.make()
        recorded = observed_trace(ours.scenario, [], [], None, {}, recorded=True)
        assert repr(recorded).startswith("<Trace of small by a recorded run of Flink 2.3.0")


def test_times_in_ids_are_the_readable_ones():
    assert wmviz.simulate(wmviz.scenario("leaderboard")).event_index("r4471@6:56") == 10
    assert time_ms("6:56") == 24_960_000


class TestKinds:
    @pytest.mark.parametrize("described", [Kind, CheckpointPhase, TransactionPhase, Status])
    def test_help_says_what_each_member_means(self, described):
        said = " ".join(inspect.getdoc(described).split())
        for member in described:
            assert f"{member.name} {member.__doc__}" in said
            assert member.__doc__.endswith(".")
            assert described(int(member)) is member

    def test_they_are_found_where_one_looks(self):
        assert wmviz.Kind is Kind
        assert "help(wmviz.Kind)" in inspect.getdoc(wmviz.Trace)
        trace = wmviz.simulate(wmviz.scenario("leaderboard"))
        assert isinstance(trace.state(), wmviz.State)
        assert isinstance(trace.ledger(), wmviz.Ledger)
