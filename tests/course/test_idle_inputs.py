"""What lesson 7 asks: answers come from the engine, and each typical wrong answer gets the message that names it."""

import pytest

from wmviz import course
from wmviz.course.questions import find
from wmviz.times import time_ms


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bet", (frozenset({"r9@6:02", "r9@6:03", "r9@6:04"}), True)),
        ("when", time_ms("9:00:02")),
        ("back", time_ms("7:19:59.999")),
        ("all-idle", "7:04:59.999"),
        ("shortest", "4 s"),
    ],
)
def test_the_engine_gives_the_answers_that_flink_gives(name, value):
    assert find(f"7.{name}").solution.value == value


@pytest.mark.parametrize("answer", [1760172645140, "1760172645140", " 1760172645140 "])
def test_the_right_event_is_right_in_any_form(answer):
    verdict = course.check("7.stuck", answer)
    assert verdict.right
    assert "moved on by 20 minutes" in verdict.sentence


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (1760173855145, "newest event of the busy input"),
        (1760173850144, "watermark of the busy input"),
        (1760172640139, "watermark itself"),
        (1760172645139, "left out the 1 ms"),
        (1760172635138, "subtracted the bound"),
        (1760172635139, "subtracted the bound"),
        (5000, "Solve for the event"),
    ],
)
def test_a_wrong_event_gets_the_thought_that_leads_there(answer, message):
    verdict = course.check("7.stuck", answer)
    assert verdict.state == "wrong"
    assert message in verdict.sentence


def test_what_is_no_time_is_not_yet_wrong():
    assert course.check("7.stuck", "soon").state == "not yet"


def test_hints_come_in_steps_and_give_nothing_away():
    hints = find("7.stuck").hints
    assert len(hints) == 2
    assert not any("1760172645140" in hint for hint in hints)
