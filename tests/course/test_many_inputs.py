"""What lesson 6 asks: answers come from the engine, and each typical wrong answer gets the message that names it."""

import pytest

from tests.sums import check_sums
from wmviz import course
from wmviz.course.questions import find


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("which-fire", frozenset()),
        ("minimum", "6:46:59.999"),
        ("spare", 0),
        ("own-clock", "6:17:59.999"),
        ("goes-on", (False, True)),
    ],
)
def test_the_engine_gives_the_answers_that_flink_gives(name, value):
    assert find(f"6.{name}").solution.value == value


@pytest.mark.parametrize("answer", ["7:02", "07:02:00.000", 7 * 3_600_000 + 120_000])
def test_a_right_time_is_right_in_any_form(answer):
    verdict = course.check("6.next-event", answer)
    assert verdict.right
    assert check_sums(verdict.sentence) == 1


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("7:00", "You forgot the bound"),
        ("7:01:59.999", "one millisecond short"),
        ("7:02:00.001", "One millisecond too many"),
        ("6:59:59.999", "That is the watermark"),
        ("8:05", "need not be as far as partition 0"),
        ("8:02", "for the 7 am windows"),
        ("6:25", "does not reach the last millisecond"),
        ("8:30", "an earlier event would do"),
    ],
)
def test_a_wrong_time_gets_the_thought_that_leads_there(answer, message):
    verdict = course.check("6.next-event", answer)
    assert verdict.state == "wrong"
    assert message in verdict.sentence


def test_what_is_no_time_is_not_yet_wrong():
    assert course.check("6.next-event", "soon").state == "not yet"


def test_hints_come_in_steps_and_give_nothing_away():
    hints = find("6.next-event").hints
    assert len(hints) == 2
    assert not any("7:02" in hint for hint in hints)
