"""What lesson 3 asks: answers come from the engine, and each typical wrong answer gets the message that names it."""

import pytest

from tests.sums import check_sums
from wmviz import course
from wmviz.course.lessons.windows_fire import ITEMS
from wmviz.course.questions import Question, find
from wmviz.times import time_ms

QUESTIONS = [name for name in ITEMS if isinstance(find(f"3.{name}"), Question)]


@pytest.mark.parametrize(
    ("name", "value"), [("first-firing", "7:02"), ("fate", 2000), ("behind", False), ("state-gone", "7:19:59.999")]
)
def test_the_engine_gives_the_answers_that_flink_gives(name, value):
    assert find(f"3.{name}").solution.value == value


@pytest.mark.parametrize("answer", ["7:01:30", "07:01:30.000", time_ms("7:01:30")])
def test_a_right_time_is_right_in_any_form(answer):
    verdict = course.check("3.other-bound", answer)
    assert verdict.right
    assert check_sums(verdict.sentence) == 1


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("7:00", "You forgot the bound"),
        ("7:01:29.999", "one millisecond short"),
        ("7:01:30.001", "compared with the window's end; a window fires at its last millisecond, end − 1"),
        ("7:02", "answer for a bound of 2 min"),
        ("6:59:59.999", "That is the watermark"),
    ],
)
def test_a_wrong_time_gets_the_thought_that_leads_there(answer, message):
    verdict = course.check("3.other-bound", answer)
    assert verdict.state == "wrong"
    assert message in verdict.sentence
    assert "7:01:30" not in verdict.sentence


def test_what_is_no_time_is_not_yet_wrong():
    assert "cannot be read as a time" in course.check("3.other-bound", "soon").sentence
    assert course.check("3.other-bound", "soon").state == "not yet"


def test_each_call_shows_one_more_hint_and_the_last_one_stays():
    hints = find("3.other-bound").hints
    shown = [str(course.hint("3.other-bound")) for _ in range(len(hints) + 1)]
    assert shown[0] == f"Hint 1 of {len(hints)}: {hints[0]}"
    assert shown[-1] == shown[-2] == f"Hint {len(hints)} of {len(hints)}: {hints[-1]}"


def test_every_sum_that_is_said_is_right():
    said = [choice.why for name in QUESTIONS for choice in find(f"3.{name}").choices]
    said += find("3.other-bound").hints
    assert sum(map(check_sums, said)) >= 1
