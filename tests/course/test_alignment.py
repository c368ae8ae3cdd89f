"""What lesson 8 asks: answers come from the engine, and each typical wrong answer gets the message that names it."""

from itertools import pairwise

import pytest

import wmviz
from wmviz import course
from wmviz.course.lessons.alignment import QUICK_EVENTS, SLOW_EVENTS, history, lead_ms, pauses
from wmviz.course.questions import find
from wmviz.times import time_ms


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("wait", "7:00:09"),
        ("gain", frozenset({"state"})),
        ("silent", (False, True)),
        ("after", frozenset()),
    ],
)
def test_the_engine_gives_the_answers_that_flink_gives(name, value):
    assert find(f"8.{name}").solution.value == value


def test_a_drift_of_an_hour_holds_nobody_on_the_source_either():
    on_it = wmviz.scenario("watermark-alignment")
    held = [drift for drift in ("0 ms", "2 min", "1 h") if pauses(wmviz.simulate(on_it.replace(alignment=drift)))]
    assert held == ["0 ms", "2 min"]


@pytest.mark.parametrize("answer", ["6:51:59.999", time_ms("6:51:59.999")])
def test_the_right_limit_is_right_in_any_form(answer):
    verdict = course.check("8.limit", answer)
    assert verdict.right
    assert "6:46:59.999, and 5 min more" in verdict.sentence


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("6:54:59.999", "The slowest one of the group counts"),
        ("6:52:59.999", "left out the bound"),
        ("6:53", "left out the bound and the 1 ms"),
        ("6:46:59.999", "The drift comes on top"),
        ("6:52", "left out the 1 ms"),
        ("6:41:59.999", "subtracted the drift"),
        ("7:30", "Find the lowest watermark"),
    ],
)
def test_a_wrong_limit_gets_the_thought_that_leads_there(answer, message):
    verdict = course.check("8.limit", answer)
    assert verdict.state == "wrong"
    assert message in verdict.sentence


def test_what_is_no_time_is_not_yet_wrong():
    assert course.check("8.limit", "soon").state == "not yet"


def test_hints_come_in_steps_and_give_nothing_away():
    hints = find("8.limit").hints
    assert len(hints) == 2
    assert not any("6:51" in hint for hint in hints)


def test_the_old_morning_has_two_partitions_of_which_one_is_four_times_as_fast():
    job = history()
    assert [sum(e.partition == n for e in job.events) for n in (0, 1)] == [QUICK_EVENTS, SLOW_EVENTS] == [120, 30]
    assert [e.arrival_time_ms for e in job.events] == sorted(e.arrival_time_ms for e in job.events)
    for partition in (0, 1):
        times = [e.event_time_ms for e in job.events if e.partition == partition]
        assert {b - a for a, b in pairwise(times)} == {60_000}


def test_the_lead_is_of_the_watermarks():
    trace = wmviz.simulate(wmviz.scenario("watermark-alignment"))
    assert lead_ms(trace) == time_ms("6:57:59.999") - time_ms("6:53:59.999")
    assert pauses(trace) == [time_ms("7:00:09"), time_ms("7:00:10")]
    assert lead_ms(wmviz.simulate(wmviz.scenario("leaderboard"))) == 0
