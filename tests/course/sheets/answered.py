"""The tests that the tasks of every sheet have to pass."""

import re

import pytest

from wmviz import course
from wmviz.course.questions import find


class AnsweredTasks:
    """Right, wrong and unreadable answers to the tasks of a sheet; a module with NUMBER and the three lists has them.

    RIGHT has (task, answer), WRONG (task, answer, part of the message), UNREAD (task, answer), with a part of the
    message where it matters. `conftest` gives them one by one.
    """

    def test_a_right_answer_is_right_in_any_form(self, right: tuple, request: pytest.FixtureRequest) -> None:
        """Hear that it is right."""
        task, answer = right
        verdict = course.check(f"{request.module.NUMBER}.{task}", answer)
        assert verdict.right, verdict

    def test_a_wrong_answer_gets_the_thought_that_leads_there(
        self, wrong: tuple, request: pytest.FixtureRequest
    ) -> None:
        """Hear which thought leads there."""
        task, answer, message = wrong
        verdict = course.check(f"{request.module.NUMBER}.{task}", answer)
        assert verdict.state == "wrong", verdict
        assert message in verdict.sentence

    def test_what_cannot_be_judged_is_not_yet_wrong(self, unread: tuple, request: pytest.FixtureRequest) -> None:
        """Hear how to write it."""
        task, answer, *message = unread
        verdict = course.check(f"{request.module.NUMBER}.{task}", answer)
        assert verdict.state == "not yet", verdict
        assert "".join(message) in verdict.sentence

    def test_each_task_is_answered_right_and_wrong_twice(self, request: pytest.FixtureRequest) -> None:
        """Miss no task: the lists have each."""
        module = request.module
        tasks = set(module.sheet.ITEMS)
        assert {task for task, _ in module.RIGHT} == tasks
        assert all(sum(task == name for name, *_ in module.WRONG) >= 2 for task in tasks)
        assert {task for task, *_ in module.UNREAD} == tasks

    def test_the_first_hint_has_no_time_and_no_event_of_an_answer(self, request: pytest.FixtureRequest) -> None:
        """Begin gently: what a right answer names is not in the hint that comes first."""
        module = request.module
        for task, answer in module.RIGHT:
            first = find(f"{module.NUMBER}.{task}").hints[0]
            named = [text for text in _texts(answer) if re.search(r"\d:\d\d|@", text)]
            assert not any(text in first for text in named), task


def _texts(answer: object) -> list[str]:
    """Give all texts in an answer: itself, or those in its list."""
    if isinstance(answer, str):
        return [part.strip() for part in answer.split(",")]
    parts = answer if isinstance(answer, (list, tuple, set, frozenset)) else []
    return [text for part in parts for text in _texts(part)]
