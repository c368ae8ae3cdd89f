"""How a claim is tried: runs of a job, cases read off the runs, and a verdict counted from the cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import wmviz
from wmviz.scenario import Scenario
from wmviz.times import time_ms
from wmviz.trace import Firing, Trace

TRUE, FALSE, DEPENDS, NOT_RUN = "true", "false", "it depends", "not run"
VERDICTS = (TRUE, FALSE, DEPENDS)
"""What a reader can vote for."""

Jobs = Mapping[str, Scenario]
Runs = Mapping[str, Trace]


class Case(NamedTuple):
    """One situation in which a claim is tried.

    Attributes
    ----------
    where
        The situation, in words.
    holds
        Whether the run was as the claim says.
    seen
        What the run did, with its numbers.
    """

    where: str
    holds: bool
    seen: str


@dataclass(frozen=True)
class Claim:
    """A sentence from tutorials, and how it is tried.

    Attributes
    ----------
    number
        From 1; the names of its question and of its runs have it.
    said
        The claim.
    instead
        What is right, in a sentence or two.
    lesson
        Number of the lesson that explains it.
    jobs
        Gives what is run, by name.
    cases
        Reads the cases off the runs. It takes only the runs that there are, so that an engine may leave some out.
    asks, answers
        Name of a question that only Flink itself can answer (`wmviz.flink.checks`), and the cases in its answer.
    elsewhere
        Where Flink cannot be shown here: what holds the claim against it, or why nothing does.
    """

    number: int
    said: str
    instead: str
    lesson: str
    jobs: Callable[[], Jobs] = dict
    cases: Callable[[Runs], Iterable[Case]] = lambda _: ()
    asks: str = ""
    answers: Callable[[Mapping[str, Any]], Iterable[Case]] = lambda _: ()
    elsewhere: str = ""

    @property
    def can_be_run(self) -> bool:
        """Whether there is anything to run."""
        return bool(self.asks) or self.jobs is not dict


@dataclass(frozen=True)
class Trial:
    """A claim and the cases that one engine gave.

    Attributes
    ----------
    claim, engine
        What was tried, and by whom: ``"wmviz"`` or ``"Flink"``.
    cases
        In the order in which they were tried.
    """

    claim: Claim
    engine: str
    cases: tuple[Case, ...] = field(default=())

    @property
    def verdict(self) -> str:
        """True if the claim holds in every case, false if in none; else it depends. Without a case: not run."""
        return verdict_of(self.cases)

    def has_common_cases(self, other: Trial) -> bool:
        """Whether both have a case in common, so that they can be compared one by one."""
        return bool({case.where for case in self.cases} & {case.where for case in other.cases})

    def agrees_with(self, other: Trial) -> bool:
        """Whether each case that both have came out the same; without one, whether both saw the claim hold or fail."""
        theirs = {case.where: case for case in other.cases}
        common = [case for case in self.cases if case.where in theirs]
        if not common:
            return {case.holds for case in other.cases} <= {case.holds for case in self.cases}
        return all(case == theirs[case.where] for case in common)


def verdict_of(cases: Iterable[Case]) -> str:
    """Count the cases in which a claim holds."""
    held = {case.holds for case in cases}
    if not held:
        return NOT_RUN
    return DEPENDS if len(held) == 2 else TRUE if held == {True} else FALSE


@cache
def on_our_engine(claim: Claim) -> Trial:
    """Try a claim on the engine of this course, once: the same jobs give the same results."""
    return Trial(claim, "wmviz", tuple(claim.cases({name: wmviz.simulate(s) for name, s in claim.jobs().items()})))


def tried(claim: Claim, ask: Callable[[str], Mapping[str, Any]] | None = None) -> Trial:
    """Try a claim on the engine of this course, or by a question to Flink if only Flink can answer.

    Parameters
    ----------
    ask
        Asks Flink; without it the recorded answer is taken.
    """
    if claim.jobs is not dict or not claim.asks:
        return on_our_engine(claim)
    from wmviz.flink import checks

    return Trial(claim, "Flink", tuple(claim.answers((ask or checks.answered)(claim.asks))))


@cache
def asked(name: str) -> Mapping[str, Any]:
    """Ask Flink once; the answer does not change while this process lives."""
    from wmviz.flink import checks

    return checks.ask(name)


def on_flink(claims: Iterable[Claim]) -> dict[int, Trial]:
    """Try claims on Flink, as far as it can replay what they run; all in one job.

    Returns
    -------
    dict
        Number of the claim → the trial. It has no cases where Flink can replay nothing of it.
    """
    from wmviz.flink.limits import replayable

    claims = list(claims)
    jobs = {claim.number: {name: s for name, s in claim.jobs().items() if replayable(s)} for claim in claims}
    runs = _flink_runs(list(dict.fromkeys(s for named in jobs.values() for s in named.values())))
    trials = {}
    for claim in claims:
        told = {name: runs[scenario] for name, scenario in jobs[claim.number].items()}
        replayed = claim.cases(told) if told else ()
        answered = claim.answers(asked(claim.asks)) if claim.asks else ()
        trials[claim.number] = Trial(claim, "Flink", (*replayed, *answered))
    return trials


def _flink_runs(scenarios: list[Scenario]) -> dict[Scenario, Trace]:
    """Run scenarios on Flink in one job."""
    from wmviz import flink

    return dict(zip(scenarios, flink.run_many(scenarios), strict=True))


# What the claims are tried on -------------------------------------------------------------------------------------

SIX_MS, SEVEN_MS = time_ms("6:00"), time_ms("7:00")


def job(name: str, *rows: tuple[Any, ...], **settings: Any) -> Scenario:
    """Make a job from rows (runner, event time, arrival time, partition); each row is a kilometre, or 1,000 m.

    It is the leaderboard's job, a bound of 2 min and windows of 1 h, but without any lateness.
    """
    chosen = {"bound": "2 min", "window": "1 h", "unit": "m", **settings}
    return Scenario.of(name=name, events=[[runner, 1000, *times] for runner, *times in rows], **chosen)


def prices(name: str, *rows: tuple[Any, ...], **settings: Any) -> Scenario:
    """Make a job from prices (event time, arrival time): a bound of 2 s and windows of 1 min."""
    chosen = {"bound": "2 s", "window": "1 min", "aggregate": "count", "unit": "prices", **settings}
    return Scenario.of(name=name, events=[["gold", 10_000, *times] for times in rows], **chosen)


def six_am(trace: Trace) -> list[Firing]:
    """Give the firings of the window from 6:00 to 7:00."""
    return [firing for firing in trace.all_firings if firing.window.start_ms == SIX_MS]


def lost(trace: Trace) -> int:
    """Count the events that were dropped or went to the side output."""
    return len(trace.outcomes().late) + (trace.dropped_count or 0)


def counted(number: int, what: str) -> str:
    """Write "no result", "1 result" or "2 results"."""
    return f"no {what}" if number == 0 else f"1 {what}" if number == 1 else f"{number:,} {what}s"
