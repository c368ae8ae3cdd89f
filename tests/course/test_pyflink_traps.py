"""What lesson 14 asks: answers come from the engine or from recorded runs, and wrong ones get what leads there."""

import pytest

from wmviz import course
from wmviz.course.questions import Question, find, items
from wmviz.flink import startup

QUESTIONS = [name for name in items("14") if isinstance(find(f"14.{name}"), Question)]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seconds", "nothing"),
        ("idleness", "fails"),
        ("source", "fails"),
        ("late-in-list", 0),
        ("interval", False),
        ("bound-in-sql", "6 am r9 1200 m"),
        ("order", "first"),
        ("counter", 1),
        ("no-watermark", "waits"),
    ],
)
def test_the_runs_say_so(name, value):
    assert find(f"14.{name}").answer == value


def test_nothing_is_started_to_ask(monkeypatch):
    monkeypatch.setattr(startup, "job", lambda: pytest.fail("Flink is started"))
    assert len(QUESTIONS) == 9
    assert all(find(f"14.{name}") for name in items("14"))


@pytest.mark.parametrize("answer", ["83 h 20 min", "3 d 11 h 20 min", "3.5 days", 300_000_000])
def test_a_right_length_is_right_in_any_form(answer):
    assert course.check("14.window-in-seconds", answer).right


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("5 min", "each second of real time is only 1 ms"),
        ("300 ms", "event time is slow, not fast"),
        ("2 h", "How many milliseconds does the window have"),
    ],
)
def test_a_wrong_length_gets_the_thought_that_leads_there(answer, message):
    verdict = course.check("14.window-in-seconds", answer)
    assert verdict.state == "wrong"
    assert message in verdict.sentence
    assert "83" not in verdict.sentence


def test_what_is_no_length_is_not_yet_wrong():
    assert course.check("14.window-in-seconds", "long").state == "not yet"
