"""What lesson 11 asks: answers come from the engine, and each typical wrong answer gets the message that names it."""

import pytest

import wmviz
from tests.sums import check_sums
from wmviz import course
from wmviz.course.lessons.crash_and_restore import replay_begins_with, six_am
from wmviz.course.questions import find
from wmviz.times import MIN_MS, time_ms


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("total", 11_200),
        ("final", 500),
        ("watermark", MIN_MS),
        ("downtime", False),
        ("source", "socket-loses-events"),
    ],
)
def test_the_engine_gives_the_answers_that_flink_gives(name, value):
    assert find(f"11.{name}").solution.value == value


@pytest.mark.parametrize(
    ("name", "answer"),
    [("begins-again", 2000), ("begins-again", "2,000"), ("safe", "7:22"), ("safe", time_ms("7:22:00.000"))],
)
def test_a_right_answer_is_right_in_any_form(name, answer):
    verdict = course.check(f"11.{name}", answer)
    assert verdict.right, verdict.sentence
    check_sums(verdict.sentence)


@pytest.mark.parametrize(
    ("name", "answer", "message"),
    [
        ("begins-again", 1000, "right for a source with offsets"),
        ("begins-again", 3000, "not three times"),
        ("begins-again", 20_600, "r4471's total"),
        ("begins-again", 5, "What does checkpoint 1 have"),
        ("safe", "7:21:59.999", "one millisecond short"),
        ("safe", "7:22:00.001", "One millisecond earlier is enough"),
        ("safe", "7:20", "You forgot the bound"),
        ("safe", "7:19:59.999", "That is the watermark"),
        ("safe", "7:02", "There the window would fire"),
        ("safe", "7:40", "too late"),
        ("safe", "6:30", "too early"),
    ],
)
def test_a_wrong_answer_gets_the_thought_that_leads_there(name, answer, message):
    verdict = course.check(f"11.{name}", answer)
    assert verdict.state == "wrong"
    assert message in verdict.sentence
    assert "7:22:00" not in verdict.sentence


@pytest.mark.parametrize(
    ("name", "answer"), [("begins-again", "much"), ("begins-again", ...), ("safe", "soon"), ("safe", None)]
)
def test_what_is_no_answer_is_not_yet_wrong(name, answer):
    assert course.check(f"11.{name}", answer).state == "not yet"


def test_the_replay_begins_with_the_event_that_was_asked_for():
    trace = wmviz.simulate(replay_begins_with("7:24"))
    read_again = [record.subject.id for record in trace if record.kind.name == "REWOUND"]
    assert read_again == ["r9@7:24", "r4471@6:58"]
    assert six_am(trace) == 3_000
