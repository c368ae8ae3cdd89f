"""What lesson 12 asks: answers come from the engine, and each typical wrong answer gets the message that names it."""

import pytest

from wmviz import course
from wmviz.course.questions import find
from wmviz.times import time_ms


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("gap", 2),
        ("visible", time_ms("7:02:17")),
        ("lost", "lost"),
        ("no-checkpoints", "nothing"),
        ("reader", "uncommitted"),
        ("restored", "committed"),
    ],
)
def test_the_engine_gives_the_answers(name, value):
    assert find(f"12.{name}").solution.value == value


@pytest.mark.parametrize(
    ("name", "answer"),
    [("rows", 3), ("rows", "3"), ("timeout", "5 min 36 s"), ("timeout", 336_000), ("timeout", 336_001)],
)
def test_a_right_answer_is_right_in_any_form(name, answer):
    verdict = course.check(f"12.{name}", answer)
    assert verdict.right, verdict.sentence


@pytest.mark.parametrize(
    ("name", "answer", "message"),
    [
        ("rows", 1, "if the sink overwrites"),
        ("rows", 2, "without a crash"),
        ("rows", 5, "r9's too"),
        ("rows", 7, "Count the firings"),
        ("timeout", "5 min", "That is the downtime"),
        ("timeout", "5 min 1 s", "counted from the barrier"),
        ("timeout", "2 min", "timeout of the scenario"),
        ("timeout", "4 min", "too short"),
        ("timeout", "1 h", "so is a shorter one"),
    ],
)
def test_a_wrong_answer_gets_the_thought_that_leads_there(name, answer, message):
    verdict = course.check(f"12.{name}", answer)
    assert verdict.state == "wrong"
    assert message in verdict.sentence
    assert "5 min 36 s" not in verdict.sentence


@pytest.mark.parametrize(("name", "answer"), [("rows", "many"), ("rows", ...), ("timeout", "long"), ("timeout", None)])
def test_what_is_no_answer_is_not_yet_wrong(name, answer):
    assert course.check(f"12.{name}", answer).state == "not yet"
