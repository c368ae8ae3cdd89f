"""What lesson 15 asks: answers come from the engine and from real jobs; each typical wrong answer is named."""

from datetime import timedelta

import pytest

from tests.sums import check_sums
from wmviz import course
from wmviz.course.lessons import diagnose
from wmviz.course.questions import Question, find, items
from wmviz.flink.broken import HEALTHY, JOBS
from wmviz.times import time_ms

QUESTIONS = [name for name in items("15") if isinstance(find(f"15.{name}"), Question)]
TASKS = [name for name in items("15") if name not in QUESTIONS]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("holder", time_ms("6:17:59.999")),
        ("backpressured", (True, True)),
        ("counter", (0, 1)),
        ("case-a", "bound-too-large"),
        ("case-b", "healthy"),
        ("case-c", "wrong-timestamps"),
    ],
)
def test_the_engine_and_the_diagnosis_give_the_answers(name, value):
    assert find(f"15.{name}").solution.value == value


def test_the_cases_of_the_drill_are_broken_jobs_and_do_not_say_which():
    assert set(diagnose.CASES.values()) <= {*JOBS, *HEALTHY}
    for name, job in diagnose.CASES.items():
        rows = course.given(f"15.{name}")
        assert len(rows) >= 3
        assert job not in str(rows)
    assert len({str(course.given(f"15.{name}")) for name in diagnose.CASES}) == len(diagnose.CASES)


def test_the_choices_of_the_drill_are_causes_that_the_diagnosis_knows():
    assert set(diagnose.NAMES) <= {*JOBS, diagnose.HEALTHY}


@pytest.mark.parametrize("answer", ["83 h 20 min", "3 d 11 h 20 min", 300_000_000, timedelta(hours=83, minutes=20)])
def test_a_right_answer_is_right_in_any_form(answer):
    verdict = course.check("15.seconds", answer)
    assert verdict.right, verdict.sentence
    assert check_sums(verdict.sentence) >= 0


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("5 min", "if the times were milliseconds"),
        ("300 ms", "You divided by 1,000"),
        ("83 h", "Near. Work it out to the minute"),
        ("2 h", "event time moves by 1 ms"),
    ],
)
def test_a_wrong_answer_gets_the_thought_that_leads_there(answer, message):
    verdict = course.check("15.seconds", answer)
    assert verdict.state == "wrong"
    assert message in verdict.sentence


def test_what_is_no_answer_is_not_yet_wrong():
    assert course.check("15.seconds", "long").state == "not yet"
    assert course.check("15.seconds", ...).state == "not yet"


@pytest.mark.parametrize("name", TASKS)
def test_hints_come_in_steps(name):
    hints = find(f"15.{name}").hints
    assert len(hints) >= 2
    assert str(course.hint(f"15.{name}")) == f"Hint 1 of {len(hints)}: {hints[0]}"
