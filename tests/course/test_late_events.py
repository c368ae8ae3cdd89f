"""What lesson 4 asks: answers come from the engine, and each typical wrong answer gets the message that names it."""

import pytest

import wmviz
from tests.sums import check_sums
from wmviz import course
from wmviz.course.lessons import late_events
from wmviz.course.questions import find
from wmviz.times import time_ms


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("results", 4),
        ("eight-seconds", (True, False)),
        ("counter", (0, 1)),
        ("purging", 1),
        ("sliding", (1, 0, 1)),
    ],
)
def test_the_engine_gives_the_answers_that_flink_gives(name, value):
    assert find(f"4.{name}").solution.value == value


def test_the_events_of_the_questions_meet_the_watermarks_that_are_told():
    tutorial = late_events._prices(("0:00:11.001", "10:00"), ("0:00:08", "10:01"), bound="0 ms")
    assert wmviz.simulate(tutorial).seen_watermarks["gold@0:00:08"] == time_ms("0:00:11")
    two = late_events._prices(("10:01:05", "10:01:06"), ("10:00:58", "10:01:07"))
    assert wmviz.simulate(two).seen_watermarks["gold@10:00:58"] == time_ms("10:01:02.999")


def test_the_other_choices_of_the_purging_question_are_what_the_others_do():
    rows = [("10:00:10", "10:00:11"), ("10:00:31", "10:00:32"), ("10:01:05", "10:01:06"), ("10:00:58", "10:01:07")]
    minute = ("gold", time_ms("10:00"), time_ms("10:01"))
    counted = late_events._prices(*rows, aggregate="count")
    assert wmviz.simulate(counted).totals[minute] == 3
    assert wmviz.simulate(counted.replace(lateness="0 ms")).totals[minute] == 2


@pytest.mark.parametrize("answer", ["10:01:47", "10:01:47.000", time_ms("10:01:47")])
def test_the_right_time_is_right_in_any_form(answer):
    assert course.check("4.final", answer).right


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("10:01:02", "fires for the first time"),
        ("10:01:32", "a lateness of 30 s"),
        ("10:01:45", "You forgot the bound"),
        ("10:01:44.999", "That is the watermark"),
        ("10:01:43", "You subtracted the bound"),
        ("10:01:46.999", "one millisecond short"),
        ("10:01:47.001", "One millisecond too many"),
        ("10:01:40", "would still correct the minute"),
        ("10:02", "an older event time is enough"),
    ],
)
def test_a_wrong_time_gets_the_thought_that_leads_there(answer, message):
    verdict = course.check("4.final", answer)
    assert verdict.state == "wrong"
    assert message in verdict.sentence
    assert "10:01:47" not in verdict.sentence


def test_what_is_no_time_is_not_yet_wrong():
    assert course.check("4.final", "soon").state == "not yet"


def test_hints_come_in_steps_and_give_nothing_away():
    hints = find("4.final").hints
    assert len(hints) == 2
    assert not any("10:01" in hint for hint in hints)


def test_every_sum_that_is_said_is_right():
    assert check_sums(course.check("4.final", "10:01:47").sentence) == 2
