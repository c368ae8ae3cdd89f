"""Whole runs: the wiring of source, clock, watermarks and windows."""

import pytest

import wmviz
from wmviz.engine.watermarks import BoundedOutOfOrdernessWatermarks
from wmviz.scenario import Scenario
from wmviz.times import MAX_MS, MIN_MS
from wmviz.trace import Kind


def run(events, **fields):
    return wmviz.simulate(Scenario.of(events=events, **{"window": 10, **fields}))


def fired(trace):
    return [(f.key, f.window.start_ms, f.value, f.watermark_ms, f.at_ms) for f in trace.all_firings]


class TestEmissionPerEvent:
    def test_the_record_goes_first_and_its_own_watermark_behind_it(self):
        trace = run([["x", 1, 9], ["x", 2, 10]])
        kinds = [row.kind for row in trace][:8]
        pair = [Kind.ARRIVED, Kind.ADDED, Kind.WATERMARK, Kind.WATERMARK]
        assert kinds == pair * 2
        assert trace.seen_watermarks == {"x@0:00:00.009": MIN_MS, "x@0:00:00.010": 8}
        assert fired(trace) == [("x", 0, 1, 9, 10)]

    def test_a_watermark_that_is_no_progress_leaves_no_row(self):
        trace = run([["x", 1, 9], ["x", 2, 9, 10], ["x", 3, 3, 11]])
        assert [row.value for row in trace if row.kind == Kind.WATERMARK and row.place == "window"] == [8]

    def test_the_bound_delays_and_the_ascending_strategy_has_none(self):
        events = [["x", 1, 1], ["x", 2, 12]]
        assert fired(run(events, bound=2)) == [("x", 0, 1, 9, 12)]
        assert fired(run(events, bound=3)) == []
        assert fired(run(events, bound=3, strategy="ascending")) == [("x", 0, 1, 11, 12)]

    def test_without_a_strategy_nothing_fires_until_the_end(self):
        events = [["x", 1, 1], ["x", 2, 500]]
        assert fired(run(events, strategy="none")) == []
        assert [f[3] for f in fired(run(events, strategy="none", end_of_input=600))] == [MAX_MS, MAX_MS]


class TestEmissionOnTheGrid:
    def test_events_between_two_ticks_meet_the_old_watermark(self):
        trace = run([["x", 1, 1, 0], ["x", 2, 50, 10], ["x", 4, 2, 20], ["x", 8, 3, 250]], emission="interval")
        assert trace.watermarks["watermark_ms"].tolist() == [MIN_MS, MIN_MS, MIN_MS, 49]
        assert fired(trace) == [("x", 0, 5, 49, 200)]
        assert trace.dropped["event"].tolist() == ["x@0:00:00.003"]

    def test_an_arrival_at_the_tick_comes_before_it(self):
        trace = run([["x", 1, 1, 0], ["x", 2, 50, 200], ["x", 4, 2, 200]], emission="interval")
        assert trace.watermarks["watermark_ms"].tolist() == [MIN_MS, MIN_MS, MIN_MS]
        assert fired(trace) == [("x", 0, 5, 49, 200)]

    def test_the_grid_begins_at_the_start_of_the_job(self):
        trace = run([["x", 1, 20, 110]], emission="interval", interval=100, start=50)
        assert [row.at_ms for row in trace if row.kind == Kind.WATERMARK] == [150, 150]

    def test_a_tick_has_no_event_as_its_cause(self):
        trace = run([["x", 1, 20, 110]], emission="interval")
        assert next(row for row in trace if row.kind == Kind.WATERMARK).cause is None

    def test_the_end_comes_before_a_tick_that_is_later(self):
        trace = run([["x", 1, 20, 110]], emission="interval", end_of_input=200)
        assert [row.value for row in trace if row.kind == Kind.WATERMARK and row.place == "window"] == [MAX_MS]

    def test_thirty_silent_days_cost_nothing(self):
        trace = run([["x", 1, 0, 0], ["x", 1, 0, 2_592_000_000]], emission="interval")
        assert trace.steps < 10


class TestEndOfInput:
    def test_max_fires_all_that_is_open_and_the_trace_says_that_the_input_ended(self):
        trace = run([["x", 1, 1], ["y", 2, 25]], bound=100, end_of_input=30)
        assert fired(trace) == [("x", 0, 1, MAX_MS, 30), ("y", 20, 2, MAX_MS, 30)]
        ended = next(row for row in trace if row.kind == Kind.ENDED)
        assert trace[ended.row + 1].cause == ended.row

    @pytest.mark.parametrize("strategy_at", ["source", "after"])
    def test_what_the_generator_was_not_asked_for_before_the_end_is_never_sent(self, strategy_at):
        trace = run([["x", 1, 1], ["y", 2, 25]], emission="interval", strategy_at=strategy_at, end_of_input=30)
        assert [f[3] for f in fired(trace)] == [MAX_MS, MAX_MS]

    def test_without_an_end_the_source_runs_on_and_windows_stay_open(self):
        trace = run([["x", 1, 1], ["y", 2, 25]], bound=100)
        assert fired(trace) == []
        assert len(trace.state(trace.steps - 1).windows) == 2

    def test_a_stream_without_events_may_end(self):
        trace = run([], end_of_input=30)
        assert [row.kind for row in trace] == [Kind.ENDED, Kind.WATERMARK, Kind.WATERMARK]


CLOCK = {"window": {"size": 10, "time": "processing"}, "strategy": "none"}


class TestProcessingTime:
    def test_an_event_counts_for_the_window_that_the_clock_is_in(self):
        trace = run([["x", 1, 500, 9], ["x", 2, 3, 10]], **CLOCK)
        assert [(f.window.start_ms, f.value, f.at_ms) for f in trace.all_firings] == [(0, 1, 10), (10, 2, 20)]

    def test_the_window_fires_before_the_arrival_of_the_same_millisecond(self):
        trace = run([["x", 1, 0, 9], ["x", 2, 0, 10]], **CLOCK)
        assert [row.kind.name for row in trace if row.at_ms == 10][:3] == ["FIRED", "WRITTEN", "CLEANED"]

    def test_a_tick_comes_behind_the_arrival_of_the_same_millisecond_even_if_a_timer_is_due_then(self):
        window = {"size": 10, "time": "processing"}
        trace = run([["x", 1, 3, 5], ["x", 2, 4, 10]], window=window, emission="interval", interval=5)
        rows = [(row.kind.name, row.value) for row in trace if row.at_ms == 10 and row.place == "source"]
        assert rows == [("ARRIVED", 4), ("WATERMARK", 3)]

    def test_at_the_end_of_the_input_a_window_that_is_not_due_never_fires(self):
        assert [f.value for f in run([["x", 1, 0, 5]], **CLOCK, end_of_input=9).all_firings] == []
        assert [f.value for f in run([["x", 1, 0, 5]], **CLOCK, end_of_input=10).all_firings] == [1]

    def test_nothing_is_late(self):
        trace = run([["x", 1, 500, 5], ["x", 2, 0, 300]], **CLOCK)
        assert trace.ledger().counted == 2


class TestWaysToRun:
    def test_results_only_are_the_same_results(self):
        scenario = wmviz.scenario("leaderboard")
        full, results = wmviz.simulate(scenario), wmviz.simulate(scenario, trace="results")
        assert results.all_firings == full.all_firings
        assert len(results) < len(full)

    def test_another_way_is_a_sentence(self):
        with pytest.raises(ValueError, match='trace is \'half\'; write "full" or "results"'):
            wmviz.simulate(Scenario(), trace="half")

    def test_a_generator_of_ones_own_takes_the_place_of_the_strategy(self):
        class Boldly(BoundedOutOfOrdernessWatermarks):
            def on_periodic_emit(self):
                return super().on_periodic_emit() + 1

        scenario = Scenario.of(events=[["x", 1, 5], ["x", 2, 9]], window=10)
        assert [f.watermark_ms for f in wmviz.simulate(scenario, generator=Boldly(0)).all_firings] == [9]
        assert wmviz.simulate(scenario).all_firings == ()

    @pytest.mark.parametrize("emission", ["event", "interval"])
    def test_what_a_generator_of_ones_own_gives_at_an_event_goes_out(self, emission):
        class Punctuated:
            def on_event(self, timestamp_ms):
                return timestamp_ms

            def on_periodic_emit(self):
                return None

        scenario = Scenario.of(events=[["x", 1, 5], ["x", 2, 9]], window=10, emission=emission)
        assert [f.watermark_ms for f in wmviz.simulate(scenario, generator=Punctuated()).all_firings] == [9]


def statuses(trace):
    return [(row.at_ms, row.value) for row in trace if row.kind == Kind.STATUS and row.place == "source"]


class TestIdleness:
    @pytest.mark.parametrize("shift_ms", [-1000, -400, -200, 0, 5000])
    def test_no_time_of_a_scenario_is_special_to_the_timer(self, shift_ms):
        trace = run([["x", 1, shift_ms]], emission="interval", idle_timeout=300)
        assert statuses(trace) == [(shift_ms + 800, 1)]

    @pytest.mark.parametrize("partitions", [1, 2])
    def test_a_source_that_never_emits_is_idle_although_its_events_come(self, partitions):
        events = [["x", 1, at_ms, at_ms, number % partitions] for number, at_ms in enumerate(range(0, 1000, 100))]
        trace = run(events, strategy="none", emission="interval", idle_timeout=300)
        assert [row.at_ms for row in trace if row.kind == Kind.STATUS and row.subject == "source"] == [600]

    def test_a_watermark_that_is_no_progress_ends_the_idleness_of_a_split(self):
        """Partition 1 falls silent, and comes back with an old event: partition 0 waits for it again."""
        events = [
            ["x", 1, 0, 0, 0],
            ["x", 1, 10, 0, 1],
            *(["x", 1, at_ms, at_ms, 0] for at_ms in range(100, 1300, 100)),
            ["x", 1, 5, 1250, 1],
            ["x", 1, 1300, 1300, 0],
        ]
        seen = list(run([*events, ["x", 1, 1400, 1400, 0]], idle_timeout=300).seen_watermarks.values())
        assert seen[-3:] == [1199, 1199, 1199]


def test_without_ticks_nothing_is_emitted_on_ticks_and_nothing_goes_idle():
    scenario = wmviz.scenario("leaderboard").replace(emission="interval", interval=0, idle_timeout="1 min")
    trace = wmviz.simulate(scenario)
    assert trace.all_firings == ()
    assert len(wmviz.simulate(scenario.replace(end_of_input="9:00")).all_firings) > 0
    assert (
        wmviz.simulate(scenario.replace(emission="event")).totals
        == wmviz.simulate(wmviz.scenario("leaderboard")).totals
    )
