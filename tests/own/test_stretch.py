"""A stretch of a run that is too long to draw: who is late in it is late in the whole run, and the other way round."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wmviz
from wmviz.own.stretch import stretch
from wmviz.scenario import Scenario, ScenarioError
from wmviz.stage.subject import MOST_EVENTS, drawable


def rows_of(seed, events, partitions=1, spread_ms=40_000):
    rng, rows, at_ms = random.Random(seed), [], 100_000
    for _ in range(events):
        at_ms += rng.choice((0, 1, 90, 200, 700, 2_500))
        late_ms = rng.choice((0, 0, 50, 700, rng.randrange(spread_ms)))
        rows.append([f"k{rng.randrange(4)}", 1, at_ms - late_ms, at_ms, rng.randrange(partitions)])
    return rows


def job(seed, events=600, partitions=1, **changes):
    fields = {"bound": "2 s", "window": "10 s", "late_to": "side", "events": rows_of(seed, events, partitions)}
    return Scenario.of(**{**fields, **changes})


def late_of(scenario):
    trace = wmviz.simulate(scenario, trace="results")
    return {*trace.late["event"], *trace.dropped["event"]}


def assert_same_late(whole, sample, most):
    """Hold late events and watermarks of the stretch against those of the whole run."""
    assert len(sample.events) <= most
    places = {event.id: place for place, event in enumerate(whole.events)}
    kept = [places[event.id] for event in sample.events]
    stretch_of = [event for event, place in zip(sample.events, kept, strict=True) if place > kept[-1] - (most - 20)]
    held = len(sample.events) - len(stretch_of)
    stretch_places = kept[held:]
    assert stretch_places == list(range(stretch_places[0], stretch_places[-1] + 1))
    in_both = {event.id for event in stretch_of}
    assert late_of(sample) & in_both == late_of(whole) & in_both
    seen_whole, seen = wmviz.simulate(whole).seen_watermarks, wmviz.simulate(sample).seen_watermarks
    assert all(seen[id_] == seen_whole[id_] for id_ in in_both)
    return stretch_of


JOBS = [
    {},
    {"lateness": "3 s"},
    {"late_to": "drop"},
    {"emission": "interval"},
    {"emission": "interval", "interval": "1700 ms", "lateness": "2 s"},
    {"strategy": "ascending"},
    {"window": {"type": "sliding", "size": "10 s", "slide": "4 s"}},
    {"api": "sql", "late_to": "drop"},
]


@pytest.mark.parametrize("changes", JOBS, ids=str)
@pytest.mark.parametrize("partitions", [1, 3])
def test_late_events_of_the_stretch_are_those_of_the_whole_run(changes, partitions):
    for seed in range(3):
        whole = job(seed, partitions=partitions, **changes)
        sample = whole.sample(most=160)
        stretch_of = assert_same_late(whole, sample, 160)
        assert late_of(sample) & {event.id for event in stretch_of}
        assert len(wmviz.simulate(sample).all_firings) > 3
        assert "late here and not in the whole run" not in sample.about


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 3),
    st.sampled_from(["event", "interval"]),
    st.integers(1, 3_000),
    st.integers(0, 8_000),
    st.sampled_from(["source", "after"]),
)
def test_whatever_the_job_watermarks_are_as_in_the_whole_run(seed, partitions, emission, interval, lateness, place):
    changes = {"emission": emission, "interval": interval, "lateness": lateness, "strategy_at": place}
    whole = job(seed, 120, partitions, subtasks=min(partitions, 2), **changes)
    assert_same_late(whole, whole.sample(most=40), 40)


def test_it_begins_where_there_is_something_to_see():
    quiet = [["k", 1, 1_000 * n, 1_000 * n, 0] for n in range(100, 600)]
    rows = [*quiet[:400], ["k", 7, 380_000, 500_001, 0], *quiet[400:]]
    whole = Scenario.of(events=rows, bound="2 s", window="10 s", late_to="side")
    sample = whole.sample(most=60)
    assert late_of(sample) == late_of(whole) == {"k@0:06:20#2"}
    assert "It has 1 of 1 late events and 0 of 0 corrections, and 6 windows give a first result." in sample.about
    assert "1 event from before it keeps the watermark where it was" in sample.about
    assert sample == whole.sample(most=60)
    assert sample.name == "untitled-sample"


def test_a_poisoned_watermark_stays_poisoned():
    rows = rows_of(5, 500)
    rows.insert(20, ["k1", 1, 90_000_000, rows[19][3], 0])
    whole = Scenario.of(events=rows, bound="2 s", window="10 s", late_to="side")
    sample = whole.sample(most=50)
    assert 90_000_000 in {event.event_time_ms for event in sample.events}
    assert_same_late(whole, sample, 50)


def test_what_an_idle_timeout_makes_different_is_said():
    rows = [["k", 1, 100 * n, 100 * n, n % 2] for n in range(50)]
    rows += [["k", 1, 5_000 + 100 * n if n % 2 else 4_000, 5_000 + 100 * n, n % 2] for n in range(400)]
    whole = Scenario.of(events=rows, bound=0, window="1 s", idle_timeout="2 s", late_to="side")
    sample = whole.sample(most=60)
    differ = {event.id for event in sample.events} & (late_of(whole) ^ late_of(sample))
    assert differ
    assert "late here and not in the whole run, or the other way round." in sample.about


def test_small_runs_stay_as_they_are_and_wrong_numbers_get_a_sentence():
    whole = job(1, 50)
    assert whole.sample(most=50) is whole
    assert len(whole.sample(2).events) == len(whole.sample(keys=2).events) < 50
    for arguments in ({}, {"keys": 2, "most": 5}):
        with pytest.raises(ScenarioError, match="sample takes one number"):
            whole.sample(**arguments)
    for most in (2, 0, True, "many"):
        with pytest.raises(ScenarioError, match="write a number above 2: two for each partition, and a stretch"):
            whole.sample(most=most)
    with pytest.raises(ScenarioError, match="a job to which nothing happens"):
        stretch(whole.replace(happenings={"what": "crash", "at": whole.events[-1].arrival_time_ms}), 20)


def test_the_stage_shows_a_stretch_of_events_of_ones_own():
    rows = rows_of(3, MOST_EVENTS + 1)
    whole = Scenario.of(events=[["one", *row[1:]] for row in rows], bound="2 s", window="10 s")
    sample, note = drawable(whole)
    assert len(sample.events) <= 1_500
    assert note == whole.sample(most=1_500).about
    assert sample.about == whole.about
    assert "late events" in note
    busy, note = drawable(wmviz.scenario("busy-saturday"))
    assert note.startswith("A sample: ")
    assert len(busy.events) < MOST_EVENTS
