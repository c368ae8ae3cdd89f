"""Scenarios on real Flink: the catalogue to the millisecond, and random ones against our engine."""

import pytest

import wmviz
from tests.random_scenarios import SEED, random_scenarios
from wmviz.comparison import compare
from wmviz.flink import FlinkError, limits, record
from wmviz.times import time_ms

pytestmark = pytest.mark.flink

NUMBER = 100


@pytest.fixture(scope="module")
def leaderboard(flink):
    return flink.run(wmviz.scenario("leaderboard"))


def test_the_leaderboard_fires_at_the_exact_boundaries(leaderboard):
    start_ms, end_ms = time_ms("6:00"), time_ms("7:00")
    firings, late = leaderboard.outcomes().firings, leaderboard.outcomes().late
    assert firings["r12", start_ms, end_ms, 1][2] == time_ms("6:59:59.999")
    again = (3000, ("r4471@6:30", "r4471@6:44", "r4471@6:56"), time_ms("7:02:59.999"))
    assert firings["r4471", start_ms, end_ms, 2] == again
    assert firings["r12", start_ms, end_ms, 2][2] == time_ms("7:19:59.998")
    assert late == {"r7@6:56"}


def test_a_trace_of_flink_holds_only_what_flink_reported(leaderboard):
    assert leaderboard.engine == "Flink 2.3.0"
    assert not leaderboard.recorded
    assert wmviz.trace.Kind.ADDED not in leaderboard.observed
    assert leaderboard.dropped_count == 0


@pytest.mark.parametrize("name", [name for name in wmviz.scenarios() if limits.replayable(wmviz.scenario(name))])
def test_the_catalogue_is_the_same_on_both(flink, name):
    scenario = record.recordable(wmviz.scenario(name))
    comparison = compare(scenario, flink.run(scenario))
    assert comparison.same, comparison


def test_random_scenarios_are_the_same_on_both(flink):
    scenarios = random_scenarios(NUMBER)
    comparisons = [compare(s, trace) for s, trace in zip(scenarios, flink.run_many(scenarios), strict=True)]
    assert [repr(comparison) for comparison in comparisons if not comparison.same] == [], f"seed {SEED}"
    seen = {what: sum(c.counts[what] for c in comparisons) for what in comparisons[0].counts}
    assert all(number > 50 for number in seen.values()), f"these scenarios test too little: {seen}"


def test_the_dropped_counter_is_flinks_own(flink):
    scenario = wmviz.scenario("leaderboard").replace(late_to="drop")
    assert flink.run(scenario).outcomes().dropped == 1
    assert flink.run(scenario.replace(late_to="side")).outcomes().dropped == 0


def test_a_running_input_has_no_last_watermark(flink):
    scenario = wmviz.scenario("leaderboard")
    running, ended = flink.run_many([scenario.replace(end_of_input=None), scenario.replace(end_of_input="12:00")])
    assert len(ended.outcomes().firings) > len(running.outcomes().firings)


def test_processing_time_is_refused_in_a_sentence(flink):
    with pytest.raises(FlinkError, match="a wall clock cannot be replayed"):
        flink.run(wmviz.scenario("leaderboard").by_server_clock())


def test_windows_at_the_end_of_time_are_refused_in_a_sentence(flink):
    scenario = wmviz.Scenario.of(events=[["a", 1, 2**63 - 5]], window="1 h")
    with pytest.raises(FlinkError, match=r"a@.* is too far from 1970"):
        flink.run(scenario)


def test_no_scenarios_need_no_job(flink):
    assert flink.run_many([]) == []
