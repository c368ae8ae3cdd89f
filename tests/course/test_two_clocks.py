"""What lesson 1 asks: answers come from the engine, and each typical wrong answer gets the message that names it."""

import pytest

from wmviz import course
from wmviz.course.questions import find


@pytest.mark.parametrize(
    ("name", "value"), [("badge", "r9"), ("stamp", "7:00"), ("again", "event time"), ("listed", 0)]
)
def test_the_engine_gives_the_answers_that_flink_gives(name, value):
    assert find(f"1.{name}").solution.value == value


@pytest.mark.parametrize("answer", [3500, 3500.0, "3500", "3,500 m", " 3 500 metres", "3_500"])
def test_a_right_number_is_right_in_any_form(answer):
    assert course.check("1.moved", answer).right


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (4, "That is how many events there are"),
        (2500, "You left out r7's kilometre"),
        (1000, "not only r4471's kilometre"),
        ("4,000 m", "Not every event has 1,000 m"),
        (-3500, "Take the rows"),
    ],
)
def test_a_wrong_number_gets_the_thought_that_leads_there(answer, message):
    verdict = course.check("1.moved", answer)
    assert verdict.state == "wrong"
    assert message in verdict.sentence
    assert "3,500" not in verdict.sentence


@pytest.mark.parametrize("answer", ["a lot", "3.5 km", [3500], True, 3500.5, ""])
def test_what_is_no_number_is_not_yet_wrong(answer):
    assert course.check("1.moved", answer).state == "not yet"
