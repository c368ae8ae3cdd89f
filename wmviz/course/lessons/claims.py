"""Lesson 16, claims on trial: a vote on each claim, and the questions at the end. Every right answer is computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import wmviz
from wmviz.course.answers import read_time
from wmviz.course.claims import CLAIMS
from wmviz.course.claims.court import DEPENDS, FALSE, TRUE, Trial, job, lost, tried
from wmviz.course.questions import Choice, Question, Task, Verdict, right, wrong
from wmviz.times import duration_ms, time_ms, time_text

GIVEN: Mapping[str, Any] = {}


# Votes -------------------------------------------------------------------------------------------------------------


def vote(number: int) -> Question:
    """Ask whether a claim is true, false, or whether it depends."""
    trial = tried(CLAIMS[number])
    choices = tuple(Choice(verdict, text, _why(trial, verdict)) for verdict, text in _TEXTS.items())
    return Question(f"Is it so? {trial.claim.said}", choices, trial.verdict)


_TEXTS = {TRUE: "True", FALSE: "False", DEPENDS: "It depends"}


def _why(trial: Trial, verdict: str) -> str:
    """Answer a vote: with a case that speaks against it, or with what is right."""
    if verdict == trial.verdict:
        return trial.claim.instead
    if verdict == DEPENDS:
        return f"On what? In each case that was tried it is {trial.verdict}."
    against = next(case for case in trial.cases if case.holds != (verdict == TRUE))
    return f"There is a case where it is {'not so' if verdict == TRUE else 'so'} ({against.where}): {against.seen}."


# Check yourself ----------------------------------------------------------------------------------------------------


def sentence() -> Question:
    """Ask which of four sentences about a window is right."""
    rows = [("r9", "6:30", "6:31"), ("r7", "7:05", "7:06"), ("r9", "6:56", "7:07")]
    kept = wmviz.simulate(job("sentence", *rows, lateness="20 min"))
    gone = wmviz.simulate(job("sentence", *rows))
    six = [(f.key, f.nth, time_text(f.watermark_ms)) for f in kept.all_firings]
    return Question(
        "Four sentences about the 6 am window, with a lateness of 20 min. Which one can stay?",
        (
            Choice("open", "It stays open until 7:20, and fires then", "It fires at 6:59:59.999, as without lateness."),
            Choice(
                "purged",
                "Its first firing purges it",
                "The default trigger keeps the content, so that a late event adds to it.",
            ),
            Choice(
                "again",
                "It fires at 6:59:59.999, and again for each late event while its state lives",
                "That is what the run shows: one firing, then one for 6:56.",
            ),
            Choice(
                "late",
                "6:56 is late, so it is dropped",
                "Late and dropped are two things. Without lateness it would be dropped.",
            ),
        ),
        "again" if (lost(kept), lost(gone)) == (0, 1) and [n for k, n, _ in six if k == "r9"] == [1, 2] else "other",
    )


def depends() -> Question:
    """Ask on what the most common claim depends."""
    trial = tried(CLAIMS[11])
    (held,) = (case.where.partition(":")[0] for case in trial.cases if case.holds)
    return Question(
        '"An event behind the watermark is late." It depends. On what?',
        (
            Choice(
                "far",
                "On how far it is behind",
                "A minute or an hour, it does not matter. Which window does it belong to?",
            ),
            Choice("key", "On its key", "All keys of a subtask share one watermark."),
            Choice(
                "its window has fired",
                "On its window: whether it has fired",
                "Until the window has fired, the event is on time.",
            ),
            Choice("bound", "On the bound", "The bound decides where the watermark is. Here the watermark is given."),
        ),
        held,
    )


def evidence() -> Question:
    """Ask what one run proves about a sentence that says "always"."""
    verdicts = {number: tried(claim) for number, claim in CLAIMS.items()}
    mixed = verdicts[27].verdict == DEPENDS and any(case.holds for case in verdicts[27].cases)
    return Question(
        'A colleague sets a timeout in one job; its windows fire, nothing is lost. "So always use withIdleness." '
        "What does this lesson answer?",
        (
            Choice(
                "yes",
                "A run has shown it, so it is true",
                "A run shows what is so in that case. The next case can differ.",
            ),
            Choice(
                "no", "It is false: a timeout always loses events", "It loses none if the silent input stays silent."
            ),
            Choice(
                "counter",
                "One case that holds does not make it true: try one in which the input comes back",
                "With an input that sends every 4 s and a timeout of 1 s, three events are too late.",
            ),
        ),
        "counter" if mixed else "other",
    )


def edge() -> Task:
    """Ask for the event that closes a window in SQL."""

    def fires(newest_ms: int) -> bool:
        rows = (("r9", "6:30"), ("r7", newest_ms))
        return bool(wmviz.simulate(job("edge", *rows, bound="5 min", api="sql", strategy_at="after")).all_firings)

    guess_ms = time_ms("7:05")
    answer_ms = min(ms for ms in range(guess_ms - 3, guess_ms + 4) if fires(ms))

    def judge(answer: object) -> Verdict:
        got_ms = read_time(answer)
        if got_ms == answer_ms:
            return right(
                f"{time_text(answer_ms)} − 5 min = {time_text(answer_ms - duration_ms('5 min'))}, its last millisecond."
            )
        if got_ms == answer_ms + 1:
            return wrong("That is so in the DataStream API, with its −1 ms. SQL takes the expression as it is.")
        return wrong(
            "The window fires when the watermark reaches its last millisecond, 6:59:59.999. Solve for the newest row."
        )

    return Task(
        "A table has `WATERMARK FOR t AS t - INTERVAL '5' MINUTE`. Which is the earliest time of a row after which the "
        "window from 6:00 to 7:00 has its result?",
        judge,
        (
            "In SQL the watermark is newest − 5 min, without the −1 ms.",
            "It has to reach the last millisecond of the window.",
        ),
    )


ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    **{f"claim-{n}": partial(vote, n) for n, claim in CLAIMS.items() if claim.can_be_run},
    "sentence": sentence,
    "depends": depends,
    "evidence": evidence,
    "edge": edge,
}
