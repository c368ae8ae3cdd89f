"""The calls that a notebook makes: predict, outcome, quiz, check, hint."""

from __future__ import annotations

from typing import overload

from wmviz.course import cards, memory
from wmviz.course.questions import CourseError, Question, Task, Verdict, find, judged

_steps_shown: dict[str, int] = {}
_FROM_A_FORM = object()


def predict(item: str, letter: str | None = None) -> cards.Card:
    """Ask for a prediction. It is noted, not judged: `outcome` compares it with what happened.

    Parameters
    ----------
    item
        Name of the question, for example ``"3.badge"``.
    letter
        The choice, if it is made in code and not by a click.
    """
    question = _question(item)
    if letter is None:
        return cards.asking(question, lambda picked: _noted(item, question, picked))
    return cards.saying(_noted(item, question, letter))


def outcome(item: str) -> cards.Card:
    """Say what happened, and compare it with the prediction if there was one."""
    question = _question(item)
    happened = question.solution
    letter = memory.load().get(item, {}).get("prediction")
    if letter not in list(question.letters):
        return cards.saying(f"What happened: {happened.text}.", happened.why)
    picked = question.choice(letter)
    if picked is happened:
        return cards.saying(f"You predicted it: {happened.text}.", happened.why)
    return cards.saying(f"You predicted: {picked.text}. {picked.why}", f"What happened: {happened.text}.", happened.why)


@overload
def quiz(item: str) -> cards.Card: ...
@overload
def quiz(item: str, letter: str) -> Verdict: ...
def quiz(item: str, letter: str | None = None) -> cards.Card | Verdict:
    """Ask a question with choices and judge the answer at once.

    Parameters
    ----------
    item
        Name of the question.
    letter
        The choice, if it is made in code and not by a click.
    """
    question = _question(item)
    if letter is None:
        return cards.asking(question, lambda picked: check(item, picked))
    return check(item, letter)


@overload
def check(item: str) -> cards.Card: ...
@overload
def check(item: str, answer: object) -> Verdict: ...
def check(item: str, answer: object = _FROM_A_FORM) -> cards.Card | Verdict:
    """Judge an answer: right, wrong with the misconception behind it, or not yet.

    Parameters
    ----------
    item
        Name of the task or question.
    answer
        Times may be text (``"6:59:59.999"``) or milliseconds. ``...`` means that there is none yet. If left out, a form
        asks for it.
    """
    if answer is _FROM_A_FORM:
        asked = find(item)
        return quiz(item) if isinstance(asked, Question) else cards.field(asked.text, lambda a: check(item, a))
    verdict = judged(item, answer)
    if verdict.state != "not yet":
        memory.note_try(item, verdict.right)
    return verdict


def hint(item: str, step: int | None = None) -> cards.Card:
    """Show the next step of the hint; each call shows one more.

    Parameters
    ----------
    item
        Name of the task.
    step
        Show this step, counted from 1, and not the next one.
    """
    asked = find(item)
    hints = asked.hints if isinstance(asked, Task) else ()
    if not hints:
        raise CourseError(f'"{item}" has no hints.')
    step = min(_steps_shown.get(item, 0) + 1, len(hints)) if step is None else step
    if not 1 <= step <= len(hints):
        raise CourseError(f'"{item}" has hints 1 to {len(hints)}; there is no hint {step}.')
    _steps_shown[item] = step
    memory.note_hint(item, step)
    return cards.saying(f"Hint {step} of {len(hints)}: {hints[step - 1]}")


def _question(item: str) -> Question:
    asked = find(item)
    if not isinstance(asked, Question):
        raise CourseError(f'"{item}" has no choices; answer it with course.check("{item}", your_answer).')
    return asked


def _noted(item: str, question: Question, letter: str) -> str:
    picked = question.choice(letter)
    memory.note(item, prediction=letter.strip().lower())
    return f"Noted: {picked.text}. Now look whether it happens."
