"""The parts of a lesson that ask: questions with choices, tasks with a judge, and what is said about an answer."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from wmviz.course.answers import AnswerError, listed

LESSONS = {
    "0": "start_here",
    "1": "two_clocks",
    "2": "watermarks",
    "3": "windows_fire",
    "4": "late_events",
    "5": "choosing_the_bound",
    "6": "many_inputs",
    "7": "idle_inputs",
    "8": "alignment",
    "9": "other_windows",
    "10": "barriers",
    "11": "crash_and_restore",
    "12": "exactly_once",
    "13": "sql_and_datastream",
    "14": "pyflink_traps",
    "15": "diagnose",
    "16": "claims",
    "17": "at_work",
    "18": "exam",
}
"""Number of the lesson → module in ``wmviz.course.lessons`` that holds what it asks."""

SHEETS = {
    "2": "watermarks",
    "3": "windows_fire",
    "4": "late_events",
    "5": "choosing_the_bound",
    "6": "many_inputs",
    "7": "idle_inputs",
    "8": "alignment",
    "9": "other_windows",
    "10": "barriers",
    "11": "crash_and_restore",
    "12": "exactly_once",
    "13": "sql_and_datastream",
    "14": "pyflink_traps",
    "15": "diagnose",
    "16": "claims",
    "17": "at_work",
}
"""Number of the lesson → module in ``wmviz.course.sheets`` that holds the tasks of its exercise sheet."""


class CourseError(ValueError):
    """A call that names no question, or a choice that does not exist; the message is a sentence."""

    def _render_traceback_(self) -> list[str]:
        """Let a notebook show the sentence alone."""
        return [f"CourseError: {self}"]


@dataclass(frozen=True)
class Verdict:
    """What is said about an answer.

    Parameters
    ----------
    state
        ``"not yet"`` means that there is no answer to judge.
    sentence
        Why, in plain words. A wrong answer gets the misconception behind it, not the right answer.
    hints
        What may be shown next, one step at a time.
    """

    state: Literal["right", "wrong", "not yet"]
    sentence: str
    item: str = ""
    hints: tuple[str, ...] = ()

    @property
    def right(self) -> bool:
        """Whether the answer is right."""
        return self.state == "right"

    def __str__(self) -> str:
        """Return the head word and the sentence."""
        return f"{HEADS[self.state]} {self.sentence}"

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        from wmviz.course import cards  # ipywidgets only when something is shown

        return cards.verdict(self)


HEADS = {"right": "Right.", "wrong": "No.", "not yet": "Not yet."}


def right(sentence: str) -> Verdict:
    """Say that an answer is right, and why."""
    return Verdict("right", sentence)


def wrong(sentence: str) -> Verdict:
    """Say that an answer is wrong, and which thought leads there."""
    return Verdict("wrong", sentence)


def not_yet(sentence: str) -> Verdict:
    """Say that there is nothing to judge so far."""
    return Verdict("not yet", sentence)


@dataclass(frozen=True)
class Choice:
    """One choice of a question: its value, how it reads, and what is said to the person who takes it."""

    value: object
    text: str
    why: str


@dataclass(frozen=True)
class Question:
    """A question with choices. The right one is the choice whose value equals ``answer``, which is computed.

    Parameters
    ----------
    text
        The question.
    choices
        In the order in which they are shown.
    answer
        What the engine says.
    """

    text: str
    choices: tuple[Choice, ...]
    answer: object

    @property
    def solution(self) -> Choice:
        """The choice that is right; there is exactly one."""
        (choice,) = (choice for choice in self.choices if choice.value == self.answer)
        return choice

    def judge(self, letter: object) -> Verdict:
        """Judge the choice with this letter."""
        choice = self.choice(letter)
        return right(choice.why) if choice.value == self.answer else wrong(choice.why)

    def choice(self, letter: object) -> Choice:
        """Return the choice with this letter.

        Raises
        ------
        CourseError
            If there is no such choice.
        """
        index = self.letters.find(str(letter).strip().lower() or "?")
        if index < 0 or len(str(letter).strip()) != 1:
            raise CourseError(f'There is no choice {letter!r}; write a letter from "a" to "{self.letters[-1]}".')
        return self.choices[index]

    @property
    def letters(self) -> str:
        """The letters of the choices, ``"abc"``."""
        return "".join(chr(ord("a") + i) for i in range(len(self.choices)))


@dataclass(frozen=True)
class Task:
    """A task with an answer of one's own.

    Parameters
    ----------
    text
        What is asked, in a sentence.
    judge
        Takes the answer and says what it is worth. It gets no answer that is ``...`` or ``None``.
    hints
        From a nudge to nearly the answer.
    """

    text: str
    judge: Callable[[Any], Verdict]
    hints: tuple[str, ...] = ()


def find(item: str) -> Question | Task:
    """Look up what a lesson asks, for example ``"3.badge"``.

    Raises
    ------
    CourseError
        If there is none of this name.
    """
    number, _, name = str(item).partition(".")
    makers = items(number) if number in LESSONS else {}
    if name in makers:
        return makers[name]()
    known = [f"{n}.{key}" for n in LESSONS for key in items(n)]
    near = difflib.get_close_matches(str(item), known, n=1) or known[:1]
    raise CourseError(f'The course asks nothing called {item!r}; did you mean "{near[0]}"?')


def items(number: str) -> Mapping[str, Callable[[], Question | Task]]:
    """Return what the lesson with this number and its sheet ask, by name."""
    makers: dict[str, Callable[[], Question | Task]] = {}
    for module in _modules(number):
        makers |= module.ITEMS
    return makers


def given(item: str) -> Any:
    """Return what is given in a task, usually a scenario.

    Raises
    ------
    CourseError
        If there is no such task, or nothing is given in it.
    """
    find(item)
    number, _, name = item.partition(".")
    for module in _modules(number):
        if name in getattr(module, "GIVEN", {}):
            return module.GIVEN[name]
    raise CourseError(f'"{item}" gives nothing to start from.')


def _modules(number: str) -> list[Any]:
    """Import what asks something under this number: the lesson, and its sheet if there is one."""
    names = [f"lessons.{LESSONS[number]}", *([f"sheets.{SHEETS[number]}"] if number in SHEETS else [])]
    return [importlib.import_module(f"wmviz.course.{name}") for name in names]


def judged(item: str, answer: object) -> Verdict:
    """Judge an answer to any question or task."""
    asked = find(item)
    hints = asked.hints if isinstance(asked, Task) else ()
    answer = listed(answer)
    try:
        if _is_open(answer):
            said = not_yet("There is no answer so far. Put yours in place of the three dots, or into the field.")
        else:
            said = asked.judge(answer)
    except AnswerError as error:
        said = not_yet(str(error))
    return replace(said, item=item, hints=hints)


def _is_open(answer: object) -> bool:
    """Whether there is no answer yet: three dots, nothing, or either of them among several answers."""
    if isinstance(answer, (tuple, list)):
        return any(_is_open(part) for part in answer)
    return answer is None or answer is ... or (isinstance(answer, str) and not answer.strip())
