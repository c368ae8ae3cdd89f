"""What holds for everything that a lesson asks: one right choice, a reason for each, and hints in steps."""

from importlib import import_module

import pytest

from wmviz import course
from wmviz.course.questions import LESSONS, Question, Task, find


def asked(kind):
    """Give (lesson, item) of every question or task of the lessons."""
    names = [
        (lesson, f"{lesson}.{name}")
        for lesson, module in LESSONS.items()
        for name in import_module(f"wmviz.course.lessons.{module}").ITEMS
    ]
    return [(lesson, item) for lesson, item in names if isinstance(find(item), kind)]


QUESTIONS, TASKS = asked(Question), asked(Task)


@pytest.mark.parametrize("item", [item for _, item in QUESTIONS])
def test_exactly_one_choice_is_right_and_each_says_why(item):
    question = find(item)
    verdicts = [course.check(item, letter) for letter in question.letters]
    assert sum(verdict.right for verdict in verdicts) == 1
    assert len({verdict.sentence for verdict in verdicts}) == len(question.choices)
    assert len({choice.text for choice in question.choices}) == len(question.choices)
    assert all(len(verdict.sentence) > 20 for verdict in verdicts)


@pytest.mark.parametrize("lesson", dict.fromkeys(lesson for lesson, _ in QUESTIONS))
def test_the_right_choice_is_not_always_at_the_same_place(lesson):
    questions = [find(item) for number, item in QUESTIONS if number == lesson]
    assert len({question.choices.index(question.solution) for question in questions}) > 1


@pytest.mark.parametrize("item", [item for _, item in TASKS])
def test_hints_come_in_steps(item):
    hints = find(item).hints
    assert len(hints) >= 2
    assert len(set(hints)) == len(hints)
