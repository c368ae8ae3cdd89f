"""Wrong things in place of scenarios, traces, steps and generators: a sentence says so."""

import re

import pytest

import wmviz
from wmviz.scenario import Scenario, ScenarioError
from wmviz.trace import TraceError

TAKERS = [wmviz.simulate, wmviz.compare, wmviz.play, wmviz.flink.code, wmviz.flink.replay.refuse]
SCENARIO = Scenario.of(events=[["r9", 1000, 1, 2], ["r8", 5, 7, 9]], window=10)


@pytest.mark.parametrize("given", [None, 5, "leaderboard", {}, [SCENARIO], SCENARIO.to_json()])
@pytest.mark.parametrize("taker", TAKERS)
def test_what_is_no_scenario_is_refused(taker, given):
    with pytest.raises(ScenarioError, match=f"takes a scenario, not {type(given).__name__}; write wmviz.scenario"):
        taker(given)


def test_one_scenario_is_no_list_of_them():
    with pytest.raises(ScenarioError, match="run_many takes a list of scenarios, not Scenario"):
        wmviz.flink.run_many(SCENARIO)


@pytest.mark.parametrize("path", [None, 5, [], {"events": []}])
def test_what_is_no_path_is_not_loaded(path):
    with pytest.raises(ScenarioError, match="takes the path of a file, not"):
        Scenario.load(path)


def test_compare_takes_a_trace_of_the_same_scenario():
    with pytest.raises(TraceError, match="takes a trace of Flink, not int"):
        wmviz.compare(SCENARIO, 5)
    with pytest.raises(TraceError, match="other events or settings"):
        wmviz.compare(SCENARIO, wmviz.simulate(SCENARIO.replace(window=20)))


def test_what_is_no_generator_is_refused():
    with pytest.raises(ValueError, match="generator is 5; write an object with on_event"):
        wmviz.simulate(SCENARIO, generator=5)


@pytest.mark.parametrize("step", ["x", 1.5, []])
def test_a_step_is_a_whole_number(step):
    with pytest.raises(TraceError, match="is no whole number"):
        wmviz.simulate(SCENARIO).state(step)


def test_a_step_that_is_not_there_is_a_sentence_for_state_and_ledger():
    trace = wmviz.simulate(SCENARIO)
    for ask in (trace.state, trace.ledger):
        with pytest.raises(TraceError, match=f"step 99 is not there: this run has the steps 0 to {trace.steps - 1}"):
            ask(99)
    with pytest.raises(TraceError, match="step 0 is not there: this run has no steps"):
        wmviz.simulate(Scenario()).state(0)


def test_rows_and_events_are_named_by_numbers_and_ids():
    trace = wmviz.simulate(SCENARIO)
    for row in (1.5, slice(0, 2), "x"):
        with pytest.raises(TraceError, match=re.escape(f"row {row!r} is no whole number")):
            trace[row]
    with pytest.raises(TraceError, match=re.escape("there is no event [] in untitled")):
        trace.explain([])


def test_a_job_that_fails_on_flink_fails_in_a_sentence():
    session = {"type": "session", "gap": 20}
    scenario = Scenario.of(events=[["a", 1, 2000, 0], ["a", 1, 2005, 1]], window=session, lateness=2**63 - 1000)
    with pytest.raises(ScenarioError, match=r"untitled fails: .* arose by merging .* write a shorter lateness"):
        wmviz.simulate(scenario)


def test_partitions_end_at_1023():
    with pytest.raises(ScenarioError, match="partition is 5000; write a number from 0 to 1023"):
        Scenario.of(events=[["a", 1, 1, 1, 5000]])
