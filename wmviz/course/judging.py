"""Judge an answer: a time, a length, a number, names, a mended job, a piece; with the thought behind a wrong one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from wmviz.course.answers import AnswerError, read_duration, read_number, read_time
from wmviz.course.harness import run_with
from wmviz.course.questions import Verdict, not_yet, right, wrong
from wmviz.engine.simulate import simulate
from wmviz.scenario import Scenario
from wmviz.times import MIN_MS, time_text
from wmviz.trace import Trace


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
        answer = [part for part in re.split("[,;]", answer.strip("[](){}")) if part.strip()]
    if not isinstance(answer, (list, tuple, set, frozenset)):
        return not_yet('Give a list of names, such as ["ana@9:03", "ben@9:10"]; an empty list means none.')
    plain = {_plain_name(name): name for name in (*names, *whys)}
    got = frozenset(plain.get(_plain_name(name), str(name).strip()) for name in answer)
    if got == names:
        return right(because)
    for name, why in whys.items():
        if (name in got) != (name in names):
            return wrong(why)
    extra = sorted(got - names)
    return wrong(f"{extra[0]} does not belong there." if extra else "There is at least one more.")


def _plain_name(name: object) -> str:
    """Write a name so that capitals, quotation marks, a full stop and a nought before the hour play no part."""
    return re.sub(
        r"@0(?=\d:)", "@", " ".join(str(name).split()).removesuffix(".").strip("\"'` ").removesuffix(".").casefold()
    )


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


def judge_job(job: Any, given: Scenario, unchanged: str, judge: Callable[[Scenario], Verdict]) -> Verdict:
    """Judge a job that was to be mended.

    Parameters
    ----------
    job
        What came back.
    given
        The job as it was given; the same again is not yet an answer.
    unchanged
        Said to it: what is so as long as nothing has changed.
    judge
        Judges any other job.
    """
    if not isinstance(job, Scenario):
        return not_yet("Give the job itself, a Scenario, as the sheet makes it.")
    if job == given:
        return not_yet(f"Nothing has changed so far: {unchanged}")
    return judge(job)


def judge_watermarks(
    own: Any,
    jobs: Iterable[Scenario],
    piece: str,
    slip: Callable[[Scenario, str, int, int], str],
    *,
    otherwise: str,
    because: str,
    due: Callable[[Scenario], Trace] = simulate,
) -> Verdict:
    """Judge a piece that makes watermarks, by the watermark that each event meets and by the results.

    Parameters
    ----------
    own, piece
        What a learner wrote, and which piece it is; see `run_with`.
    jobs
        The jobs that it has to run.
    slip
        Names the thought behind a wrong watermark, given the job, the event, that watermark and the right one.
    otherwise
        Said if only the results differ.
    because
        Said to the right answer.
    due
        Runs a job as it should be; by default on Flink's rule.
    """
    for job in jobs:
        right_one = due(job)
        try:
            theirs = run_with(own, job, piece)
        except AnswerError as error:
            return not_yet(str(error))
        for event in job.events:
            got_ms, due_ms = theirs.seen_watermarks[event.id], right_one.seen_watermarks[event.id]
            if got_ms != due_ms:
                met = f"{event.id} meets the watermark {_shown(got_ms)}; it should be {_shown(due_ms)}"
                return wrong(f"On {job.name}, {met}. {slip(job, event.id, got_ms, due_ms)}")
        if theirs.outcomes() != right_one.outcomes():
            return wrong(f"On {job.name} every event meets the right watermark, but the results differ. {otherwise}")
    return right(because)


def _shown(watermark_ms: int) -> str:
    return "the start (MIN)" if watermark_ms == MIN_MS else time_text(watermark_ms)
