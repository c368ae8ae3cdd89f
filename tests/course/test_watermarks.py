"""What lesson 2 asks: answers come from the engine, and each typical wrong answer gets the message that names it."""

from datetime import timedelta

import pytest

from tests.sums import check_sums
from wmviz import course
from wmviz.course.questions import Question, find, items
from wmviz.times import time_ms

QUESTIONS = [name for name in items("2") if isinstance(find(f"2.{name}"), Question)]
TASKS = [name for name in items("2") if name not in QUESTIONS]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("newest", time_ms("10:01:02.999")),
        ("equal-times", False),
        ("smaller-bound", (True, True)),
        ("seconds", 60_000),
    ],
)
def test_the_engine_gives_the_answers_that_flink_gives(name, value):
    assert find(f"2.{name}").solution.value == value


RIGHT = [
    ("other-bound", "10:01:06.999"),
    ("other-bound", " 10:01:06.999"),
    ("other-bound", time_ms("10:01:06.999")),
    ("perfect", "72 s"),
    ("perfect", "1 min 12 s"),
    ("perfect", 72_000),
    ("perfect", timedelta(seconds=72)),
]
WRONG = [
    ("other-bound", "10:01:07", "You left out the −1 ms"),
    ("other-bound", "10:01:03.999", "You took the last price"),
    ("other-bound", "10:01:04", "You took the last price, and left out"),
    ("other-bound", "10:01:09.999", "right for a bound of 2 s"),
    ("other-bound", "10:01:12", "You forgot the bound"),
    ("other-bound", "10:01:17", "You added the bound"),
    ("other-bound", "9:00", "too small"),
    ("perfect", "7 s", "enough for 10:00:58"),
    ("perfect", "25 s", "enough for 10:00:47"),
    ("perfect", "33 s", "still behind the watermark"),
    ("perfect", "71999 ms", "One millisecond short"),
    ("perfect", "72001 ms", "One millisecond too many"),
    ("perfect", "73500 ms", "how long it was on its way"),
    ("perfect", "2 h", "too large"),
]


@pytest.mark.parametrize(("name", "answer"), RIGHT)
def test_a_right_answer_is_right_in_any_form(name, answer):
    verdict = course.check(f"2.{name}", answer)
    assert verdict.right, verdict.sentence


@pytest.mark.parametrize(("name", "answer", "message"), WRONG)
def test_a_wrong_answer_gets_the_thought_that_leads_there(name, answer, message):
    verdict = course.check(f"2.{name}", answer)
    assert verdict.state == "wrong"
    assert message in verdict.sentence
    assert not any(text in verdict.sentence for text in ("10:01:06.999", "72 s", "1 min 12 s"))


@pytest.mark.parametrize(("name", "answer"), [("other-bound", "soon"), ("perfect", "long"), ("perfect", ...)])
def test_what_is_no_answer_is_not_yet_wrong(name, answer):
    assert course.check(f"2.{name}", answer).state == "not yet"


@pytest.mark.parametrize("name", TASKS)
def test_hints_come_in_steps(name):
    hints = find(f"2.{name}").hints
    shown = [str(course.hint(f"2.{name}")) for _ in range(len(hints) + 1)]
    assert shown[0] == f"Hint 1 of {len(hints)}: {hints[0]}"
    assert shown[-1] == shown[-2] == f"Hint {len(hints)} of {len(hints)}: {hints[-1]}"


def test_every_sum_that_is_said_is_right():
    said = [choice.why for name in QUESTIONS for choice in find(f"2.{name}").choices]
    said += [course.check(f"2.{name}", answer).sentence for name, answer in RIGHT]
    assert sum(map(check_sums, said)) >= 2
