"""Judge an answer against the right one: a time, a length of time, or a number, with the thought behind a wrong one."""

from __future__ import annotations

from collections.abc import Mapping

from wmviz.course.answers import read_duration, read_number, read_time
from wmviz.course.questions import Verdict, not_yet, right, wrong
from wmviz.times import time_text


def judge_time(answer: object, answer_ms: int, whys: Mapping[int, str], because: str) -> Verdict:
    """Judge a point in time.

    Parameters
    ----------
    answer
        In any form that `read_time` takes.
    answer_ms
        The right one, in ms.
    whys
        Typical wrong answers in ms, and what is said to each; if the right one is among them, that is passed over.
    because
        Said to the right answer.
    """
    got_ms = read_time(answer)
    if got_ms == answer_ms:
        return right(because)
    return wrong(whys.get(got_ms, f"{time_text(got_ms)} is {_off_by(got_ms - answer_ms)}"))


def judge_number(answer: object, number: int, whys: Mapping[int, str], because: str) -> Verdict:
    """Judge a whole number; the parameters are those of `judge_time`."""
    got = read_number(answer)
    if got == number:
        return right(because)
    amount = "few" if got < number else "many"
    return wrong(whys.get(got, f"{got:,} is too {amount}. Go through the events one by one, or ask for a hint."))


def judge_names(answer: object, names: frozenset[str], whys: Mapping[str, str], because: str) -> Verdict:
    """Judge a set of names, such as the ids of events.

    Parameters
    ----------
    answer
        A list, a tuple, a set, or text with commas; an empty list means none.
    names
        The right ones.
    whys
        For names, what is said if one is missing or too much; the first that applies is said.
    because
        Said to the right answer.
    """
    if isinstance(answer, str):
        answer = [part for part in answer.split(",") if part.strip()]
    if not isinstance(answer, (list, tuple, set, frozenset)):
        return not_yet('Give a list of names, such as ["ana@9:03", "ben@9:10"]; an empty list means none.')
    got = frozenset(str(name).strip() for name in answer)
    if got == names:
        return right(because)
    for name, why in whys.items():
        if (name in got) != (name in names):
            return wrong(why)
    extra = sorted(got - names)
    return wrong(f"{extra[0]} does not belong there." if extra else "There is at least one more.")


def judge_duration(answer: object, length_ms: int, whys: Mapping[int, str], because: str) -> Verdict:
    """Judge a length of time; the parameters are those of `judge_time`."""
    got_ms = read_duration(answer)
    if got_ms == length_ms:
        return right(because)
    return wrong(whys.get(got_ms, f"Too {'long' if got_ms > length_ms else 'short'}. Write the sum down step by step."))


def _off_by(difference_ms: int) -> str:
    """Say in which direction an unknown wrong answer is off, but not by how much."""
    near = "by a few milliseconds" if abs(difference_ms) < 1000 else "by more than a second"
    return (
        f"too {'late' if difference_ms > 0 else 'early'}, {near}. Write the sum down step by step, or ask for a hint."
    )
