"""What lesson 10 asks: answers come from the engine, and each typical wrong answer gets the message that names it."""

import pytest

import wmviz
from wmviz import course
from wmviz.course.lessons.barriers import checkpoint_times, contents
from wmviz.course.questions import Question, find, items
from wmviz.times import time_ms

QUESTIONS = [name for name in items("10") if isinstance(find(f"10.{name}"), Question)]
TASKS = [name for name in items("10") if name not in QUESTIONS]


@pytest.mark.parametrize("name", QUESTIONS)
def test_exactly_one_choice_is_right_and_each_says_why(name):
    question = find(f"10.{name}")
    verdicts = [course.check(f"10.{name}", letter) for letter in question.letters]
    assert sum(verdict.right for verdict in verdicts) == 1
    assert len({verdict.sentence for verdict in verdicts}) == len(question.choices)
    assert all(len(verdict.sentence) > 20 for verdict in verdicts)


def test_the_right_choice_is_not_always_at_the_same_place():
    assert len({find(f"10.{name}").choices.index(find(f"10.{name}").solution) for name in QUESTIONS}) > 1


@pytest.mark.parametrize(
    ("name", "value"),
    [("in-the-checkpoint", "waits"), ("not-in-it", "watermark"), ("overtakes", "stored"), ("twice", 3000)],
)
def test_the_engine_gives_the_answers_that_flink_gives(name, value):
    assert find(f"10.{name}").solution.value == value


@pytest.mark.parametrize(
    ("name", "answer"),
    [("stored", 2), ("stored", "2"), ("pause", "7:00:07.5"), ("pause", time_ms("7:00:07.500"))],
)
def test_a_right_answer_is_right_in_any_form(name, answer):
    verdict = course.check(f"10.{name}", answer)
    assert verdict.right, verdict.sentence


@pytest.mark.parametrize(
    ("name", "answer", "message"),
    [
        ("stored", 0, "That is an aligned checkpoint"),
        ("stored", 1, "That is the timeout of 2 s"),
        ("stored", 3, "unaligned from the start"),
        ("stored", 6, "State and stored events together"),
        ("pause", "7:00:04.5", "one at a time"),
        ("pause", "7:00:06", "without a pause"),
        ("pause", "7:00:06.5", "lies in the pause"),
        ("pause", "7:00:04", "not from its start"),
        ("pause", "7:00:08.5", "It does not wait for the next due time"),
        ("pause", "7:00:10", "too late"),
        ("pause", "7:00:03", "too early"),
    ],
)
def test_a_wrong_answer_gets_the_thought_that_leads_there(name, answer, message):
    verdict = course.check(f"10.{name}", answer)
    assert verdict.state == "wrong"
    assert message in verdict.sentence


@pytest.mark.parametrize(("name", "answer"), [("stored", "many"), ("stored", ...), ("pause", "soon"), ("pause", None)])
def test_what_is_no_answer_is_not_yet_wrong(name, answer):
    assert course.check(f"10.{name}", answer).state == "not yet"


@pytest.mark.parametrize("name", TASKS)
def test_hints_come_in_steps(name):
    assert len(find(f"10.{name}").hints) >= 2


def test_contents_says_what_the_first_checkpoint_holds():
    found = contents(wmviz.simulate(wmviz.scenario("alignment-timeout")))
    assert found == (6, 5, 1, 1_000, time_ms("7:00:02.5"), time_ms("7:00:05"))
    given_up = wmviz.simulate(wmviz.scenario("barrier-alignment").replace(checkpoints={"timeout": "3 s"}))
    assert contents(given_up).complete_ms is None
    assert checkpoint_times(given_up)[0] == (1, time_ms("7:00:02.5"), None)
