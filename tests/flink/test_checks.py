"""Questions that only Flink can answer: the recorded answers are those of a real Flink."""

import pytest

from wmviz.flink import checks, startup
from wmviz.scenario import ScenarioError
from wmviz.times import MAX_MS, MIN_MS, time_ms


@pytest.mark.parametrize("name", [name for name in checks.QUESTIONS if name not in checks.LONG])
def test_flink_answers_as_it_was_recorded(name, flink):
    assert checks.ask(name) == checks.answered(name)


def test_the_recorded_answers_are_those_of_the_documentation():
    assert checks.answered("state-backend")["default"] == "hashmap"
    assert checks.answered("assigner-order") == {"Java": True, "PyFlink": False}
    assert checks.answered("watermarks-call")["source"] == []
    assert checks.answered("watermarks-call")["source_has_metric"]
    assert checks.answered("without-windows")["timer"] == {"with": time_ms("7:00") - 1, "without": MAX_MS}


@pytest.mark.parametrize("name", checks.LONG)
def test_a_long_question_has_the_answer_of_the_recorded_run(name, monkeypatch):
    monkeypatch.setattr(startup, "available", lambda: (False, "PyFlink is not here."))
    assert checks.QUESTIONS[name]() == checks.answered(name)
    assert checks.ask(name) == checks.answered(name)


def test_a_savepoint_holds_no_watermark():
    assert checks.answered("savepoint")["after_ms"] == MIN_MS < checks.answered("savepoint")["before_ms"]


def test_without_pyflink_the_recorded_answer_is_given(monkeypatch):
    monkeypatch.setattr(startup, "available", lambda: (False, "PyFlink is not here."))
    assert {name: checks.ask(name) for name in checks.QUESTIONS} == {
        name: checks.answered(name) for name in checks.QUESTIONS
    }


def test_what_is_no_question_is_named():
    with pytest.raises(ScenarioError, match="'weather' is no question to Flink; write one of state-backend"):
        checks.ask("weather")
