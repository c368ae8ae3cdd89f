"""What lesson 10 asks: answers come from the engine, and each typical wrong answer gets the message that names it."""

import pytest

import wmviz
from wmviz import course
from wmviz.course.lessons.barriers import checkpoint_times, contents
from wmviz.course.questions import find
from wmviz.times import time_ms


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


def test_contents_says_what_the_first_checkpoint_holds():
    found = contents(wmviz.simulate(wmviz.scenario("alignment-timeout")))
    assert found == (6, 5, 1, 1_000, time_ms("7:00:02.5"), time_ms("7:00:05"))
    given_up = wmviz.simulate(wmviz.scenario("barrier-alignment").replace(checkpoints={"timeout": "3 s"}))
    assert contents(given_up).complete_ms is None
    assert checkpoint_times(given_up)[0] == (1, time_ms("7:00:02.5"), None)
