"""What lesson 13 asks: answers come from the engine, and each typical wrong answer gets the message that names it."""

import pytest

from wmviz import course
from wmviz.course.questions import find


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("first-firing", "r12@7:01:59.999"),
        ("late-row", "dropped"),
        ("group-by", "counted"),
        ("where", "source"),
    ],
)
def test_the_engine_gives_the_answers_that_flink_gives(name, value):
    assert find(f"13.{name}").solution.value == value


@pytest.mark.parametrize(
    ("name", "answer"), [("mended", "2 min 1 ms"), ("mended", 120_001), ("dropped", 4), ("dropped", "4")]
)
def test_a_right_answer_is_right_in_any_form(name, answer):
    verdict = course.check(f"13.{name}", answer)
    assert verdict.right, verdict.sentence


@pytest.mark.parametrize(
    ("name", "answer", "message"),
    [
        ("mended", "2 min", "SQL is ahead by 1 ms"),
        ("mended", "119999 ms", "goes the wrong way"),
        ("mended", "1 min", "By how much is SQL ahead"),
        ("dropped", 1, "with 20 min of lateness"),
        ("dropped", 3, "So many does the DataStream job drop"),
        ("dropped", 6, "Look at the watermark"),
    ],
)
def test_a_wrong_answer_gets_the_thought_that_leads_there(name, answer, message):
    verdict = course.check(f"13.{name}", answer)
    assert verdict.state == "wrong"
    assert message in verdict.sentence
    assert "2 min 1 ms" not in verdict.sentence


@pytest.mark.parametrize(("name", "answer"), [("mended", "some"), ("mended", ...), ("dropped", "many")])
def test_what_is_no_answer_is_not_yet_wrong(name, answer):
    assert course.check(f"13.{name}", answer).state == "not yet"
