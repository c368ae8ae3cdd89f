"""The final exam: 25 questions at once, then a grade, with the lessons to read again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from wmviz.course import cards, memory
from wmviz.course.lessons.exam import ITEMS, PLACES
from wmviz.course.questions import CourseError, Question, find

NUMBER = "18"
PASSED_SHARE = 0.8
"""A share of right answers from which on the course counts as known."""


@dataclass(frozen=True)
class Grade:
    """What an exam is worth.

    Attributes
    ----------
    answers
        Number of the question → letter; a question without an answer is missing.
    """

    answers: Mapping[int, str]

    @property
    def wrong(self) -> list[int]:
        """The numbers of the questions that are not right, those without an answer among them."""
        return [n for n in range(1, len(ITEMS) + 1) if not self._is_right(n)]

    @property
    def points(self) -> int:
        """How many answers are right."""
        return len(ITEMS) - len(self.wrong)

    @property
    def passed(self) -> bool:
        """Whether at least 20 of the 25 are right."""
        return self.points >= PASSED_SHARE * len(ITEMS)

    @property
    def lessons(self) -> dict[int, list[int]]:
        """Lesson to read again → the questions that say so."""
        found: dict[int, list[int]] = {}
        for number in self.wrong:
            found.setdefault(PLACES[number - 1].lesson, []).append(number)
        return dict(sorted(found.items()))

    def lines(self) -> list[str]:
        """Say it in sentences: the points, each wrong answer with its reason, and where to read."""
        word = "passed" if self.passed else f"not passed yet: {round(PASSED_SHARE * len(ITEMS))} are wanted"
        lines = [f"{self.points} of {len(ITEMS)}: {word}."]
        for number in (n for n in self.wrong if n in self.answers):
            place = PLACES[number - 1]
            why = _question(number).choice(self.answers[number]).why
            lines.append(f'{number}. {why} Lesson {place.lesson}; play wmviz.scenario("{place.scenario}").')
        if missing := [str(n) for n in self.wrong if n not in self.answers]:
            lines.append(f"No answer to {', '.join(missing)}.")
        if self.lessons:
            lines.append("Read again: " + ", ".join(f"lesson {lesson}" for lesson in self.lessons) + ".")
        return lines

    def __repr__(self) -> str:
        """Return the sentences."""
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        return cards.saying(*self.lines()).html

    def _is_right(self, number: int) -> bool:
        return number in self.answers and _question(number).judge(self.answers[number]).right


def exam(answers: str | Mapping[int, str] | None = None) -> cards.Card | Grade:
    """Ask the 25 questions of the exam, or grade the answers to them.

    Parameters
    ----------
    answers
        A letter for each question in their order, as text (``"b d a a …"``; ``-`` for one that is left out), or a
        mapping from the number of a question to its letter. If left out, the questions are shown, in JupyterLab with
        buttons.

    Returns
    -------
    Card or Grade
        The questions; or the points, what each wrong answer overlooks, and the lessons to read again.

    Raises
    ------
    CourseError
        If there are too many letters, or one that no choice has.
    """
    if answers is None:
        return _paper()
    grade = Grade(_read(answers))
    for number in grade.answers:
        memory.note_try(f"{NUMBER}.q{number}", number not in grade.wrong)
    return grade


def _question(number: int) -> Question:
    question = find(f"{NUMBER}.q{number}")
    assert isinstance(question, Question)
    return question


def _read(answers: str | Mapping[int, str]) -> dict[int, str]:
    if isinstance(answers, str):
        letters = re.findall(r"[a-z-]", answers.lower())
        if len(letters) > len(ITEMS):
            raise CourseError(f"There are {len(ITEMS)} questions, and {len(letters)} letters; put one for each.")
        answers = {number: letter for number, letter in enumerate(letters, 1) if letter != "-"}
    read = {}
    for number, letter in answers.items():
        if number not in range(1, len(ITEMS) + 1):
            raise CourseError(f"The exam has questions 1 to {len(ITEMS)}; there is no question {number!r}.")
        try:
            _question(number).choice(letter)
        except CourseError as error:
            raise CourseError(f"Question {number}: {error}") from None
        read[number] = str(letter).strip().lower()
    return read


def _lines(number: int) -> list[str]:
    question = _question(number)
    choices = zip(question.letters, question.choices, strict=True)
    return [f"{number}. {question.text}", *(f"   {letter}) {choice.text}" for letter, choice in choices)]


def _paper() -> cards.Card:
    numbers = range(1, len(ITEMS) + 1)
    html = "".join(
        f'<p style="margin:8px 0 4px"><strong>{escape(head)}</strong></p><p style="margin:0 0 0 1em">'
        f"{'<br>'.join(escape(line.strip()) for line in choices)}</p>"
        for head, *choices in map(_lines, numbers)
    )
    text = "\n".join(line for number in numbers for line in _lines(number))
    return cards.Card(text, f'<div style="max-width:46em;line-height:1.5">{html}</div>', _paper_widget)


def _paper_widget() -> Any:
    """Show each question with its choices as buttons, and a button that grades."""
    import ipywidgets as w  # type: ignore[import-untyped]

    picked: dict[int, str] = {}
    result, count = w.HTML(), w.HTML(f"0 of {len(ITEMS)} answered")

    def block(number: int) -> Any:
        def pick(letter: str) -> str:
            picked[number] = letter
            count.value = f"{len(picked)} of {len(ITEMS)} answered"
            return "Noted. You may still change it."

        asked = _question(number)
        widget = cards.asking(replace(asked, text=f"{number}. {asked.text}"), pick).widget
        return w.HTML() if widget is None else widget()

    button = w.Button(description="Grade", button_style="primary")

    def clicked(_: object) -> None:
        grade = exam(picked)
        assert isinstance(grade, Grade)
        result.value = grade._repr_html_()

    button.on_click(clicked)
    return w.VBox([*map(block, range(1, len(ITEMS) + 1)), w.HBox([button, count]), result])
