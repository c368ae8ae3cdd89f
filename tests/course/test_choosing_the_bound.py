"""What lesson 5 asks: answers come from runs, and each typical wrong answer gets the message that names it."""

import pytest

import wmviz
from tests.sums import check_sums
from wmviz import course
from wmviz.course.lessons import choosing_the_bound
from wmviz.course.questions import find
from wmviz.times import time_ms


@pytest.mark.parametrize(
    ("name", "words"),
    [("share", "Well below 1 %"), ("delayed", "The same"), ("trade", "As many are lost"), ("future", "too late")],
)
def test_the_right_answers_are_those_of_a_run(name, words):
    assert words in find(f"5.{name}").solution.text


def test_the_share_of_the_first_question_is_that_of_a_run():
    morning = choosing_the_bound._morning()
    trace = wmviz.simulate(morning)
    hour_ms = time_ms("1:00")
    late = [e for e in morning.events if trace.seen_watermarks[e.id] >= (e.event_time_ms // hour_ms + 1) * hour_ms - 1]
    assert 0.004 < len(late) / len(morning.events) < 0.008
    slow = [e for e in morning.events if e.arrival_time_ms - e.event_time_ms > morning.bound_ms]
    assert 0.025 < len(slow) / len(morning.events) < 0.035


def test_the_event_of_the_task_meets_what_is_told():
    leaderboard = wmviz.scenario("leaderboard")
    late = next(event for event in leaderboard.events if event.id == "r7@6:56")
    before = [e.event_time_ms for e in leaderboard.events if e.arrival_time_ms < late.arrival_time_ms]
    assert (late.arrival_time_ms, max(before)) == (time_ms("7:24"), time_ms("7:22"))


@pytest.mark.parametrize("answer", ["22 min 1 ms", 1_320_001])
def test_the_right_bound_is_right_in_any_form(answer):
    assert course.check("5.needed", answer).right


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("28 min", "lag to the clock"),
        ("26 min", "less will do"),
        ("24 min", "You counted to its arrival"),
        ("22 min", "has just fired"),
        ("22 min 2 ms", "One millisecond less"),
        ("2 min", "7:19:59.999"),
        ("10 min", "has fired before"),
        ("1 h", "less is enough"),
    ],
)
def test_a_wrong_bound_gets_the_thought_that_leads_there(answer, message):
    verdict = course.check("5.needed", answer)
    assert verdict.state == "wrong"
    assert message in verdict.sentence
    assert "22 min" not in verdict.sentence


def test_what_is_no_duration_is_not_yet_wrong():
    assert course.check("5.needed", "long").state == "not yet"


def test_hints_come_in_steps_and_give_nothing_away():
    hints = find("5.needed").hints
    assert len(hints) == 2
    assert not any("22 min" in hint for hint in hints)


def test_every_sum_that_is_said_is_right():
    assert check_sums(course.check("5.needed", "22 min 1 ms").sentence) == 1
