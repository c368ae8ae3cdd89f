"""The sheet of lesson 16, claims on trial. Every right answer comes from the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import combinations
from typing import Any

import wmviz
from wmviz.course.answers import AnswerError
from wmviz.course.claims.court import DEPENDS, FALSE, TRUE, VERDICTS, Case, counted, verdict_of
from wmviz.course.judging import judge_job, judge_time
from wmviz.course.own_code import called, several
from wmviz.course.questions import Question, Task, Verdict, not_yet, right, wrong
from wmviz.event import Event
from wmviz.scenario import Scenario
from wmviz.times import duration_text, time_ms, time_text
from wmviz.trace import Trace

BRIDGES = Scenario.of(
    name="two-bridges",
    title="Bicycles on two bridges",
    unit="bicycles",
    bound="1 min",
    window="10 min",
    start="8:00",
    events=[
        ["west", 4, "8:02", "8:02:20"],
        ["east", 6, "8:05:30", "8:06:10"],
        ["west", 3, "8:09:20", "8:10:10"],
        ["east", 5, "8:10:30", "8:10:40"],
        ["west", 2, "8:09:50", "8:10:45"],
        ["east", 7, "8:11:40", "8:12:10"],
        ["west", 1, "8:13", "8:13:20"],
        ["east", 8, "8:08", "8:14"],
        ["west", 6, "8:22", "8:22:10"],
    ],
)
"""Tasks 1 to 3: all clocks are right, and one count is 6 min under way."""

AHEAD = BRIDGES.replace(
    name="clock-ahead",
    title="The clock of the east bridge is 3 min ahead",
    events=[
        [e.key, e.value, e.event_time_ms + (3 * 60_000 if e.key == "east" else 0), e.arrival_time_ms]
        for e in BRIDGES.events
    ],
)
"""Tasks 1 to 3: the same bicycles, and the clock of one counter is wrong."""

CALM = Scenario.of(
    name="calm-night",
    title="Bicycles at night",
    unit="bicycles",
    bound="30 s",
    window="10 min",
    start="0:00",
    events=[
        ["west", 1, "0:03", "0:03:05"],
        ["east", 2, "0:06", "0:06:05"],
        ["west", 2, "0:10:20", "0:10:25"],
        ["east", 1, "0:09:55", "0:10:27"],
        ["west", 1, "0:11", "0:11:05"],
        ["east", 1, "0:14", "0:14:05"],
        ["west", 2, "0:21", "0:21:05"],
    ],
)
"""Task 4: nothing is late, and each window fires once."""

RUSH = Scenario.of(
    name="morning-rush",
    title="Bicycles in the rush hour",
    unit="bicycles",
    bound="30 s",
    window="10 min",
    start="7:00",
    events=[
        ["west", 9, "7:04", "7:04:10"],
        ["east", 5, "7:09:10", "7:09:20"],
        ["west", 7, "7:09:50", "7:10:20"],
        ["east", 8, "7:11:10", "7:11:15"],
        ["west", 6, "7:09:30", "7:11:20"],
        ["east", 4, "7:12", "7:12:05"],
        ["west", 5, "7:10:15", "7:14:40"],
        ["east", 3, "7:16", "7:16:05"],
    ],
)
"""Task 5: a run that refutes a claim, with more counts than that needs."""

CLAIMS = {
    "within": "A count that arrives within the bound is never lost.",
    "once": "If nothing is late, each window fires once.",
    "longer": "If a count is lost, each count that was longer under way is lost, too.",
}
CONDITIONS = {
    "a": "the windows are longer than the bound",
    "b": "no clock runs ahead",
    "c": "all counts arrive in the order in which they happened",
    "d": "some lateness is allowed",
}
GIVEN: Mapping[str, Any] = {
    "bike-verdict": {"all clocks right": BRIDGES, "one clock ahead": AHEAD},
    "refuting-watermark": AHEAD,
    "missing-condition": CONDITIONS,
    "second-firing": CALM,
    "least-run": RUSH,
    "witnesses": {"all clocks right": BRIDGES, "one clock ahead": AHEAD},
}


# The claims as code ------------------------------------------------------------------------------------------------


def lost(run: Trace) -> frozenset[str]:
    """Name the counts that no window took."""
    return frozenset(run.late["event"]) | frozenset(run.dropped["event"])


def under_way_ms(event: Event) -> int:
    """Say how long a count was under way; less than 0 if its clock was ahead."""
    return event.arrival_time_ms - event.event_time_ms


def refuting(run: Trace) -> frozenset[str]:
    """Name the counts that arrived within the bound and are lost all the same."""
    bound_ms = run.scenario.bound_ms
    return frozenset(e.id for e in run.scenario.events if under_way_ms(e) <= bound_ms and e.id in lost(run))


def longer_but_counted(run: Trace) -> bool:
    """Whether a count is lost and another one, longer under way, is not."""
    gone = [under_way_ms(e) for e in run.scenario.events if e.id in lost(run)]
    kept = [under_way_ms(e) for e in run.scenario.events if e.id not in lost(run)]
    return bool(gone) and bool(kept) and max(kept) > min(gone)


# Tasks 1 and 2 -------------------------------------------------------------------------------------------------------


def bike_verdict() -> Task:
    """Task 1: a verdict on a claim, from two cases."""
    cases = [
        Case(where, not (names := refuting(wmviz.simulate(job))), counted(len(names), "count"))
        for where, job in GIVEN["bike-verdict"].items()
    ]
    answer = verdict_of(cases)
    whys = {
        TRUE: "In one of the cases a count of 55 s under way is lost. One such case is enough against *never*.",
        FALSE: "In one of the cases it holds. What is lost there was 6 min under way: the claim says nothing of it.",
        DEPENDS: "The two cases give the same.",
    }

    def judge(given: object) -> Verdict:
        said = " ".join(str(given).lower().replace("_", " ").split()).strip(" .!").removeprefix("it ")
        votes = {verdict.removeprefix("it "): verdict for verdict in VERDICTS}
        if said not in votes:
            return not_yet('Give one of three verdicts: "true", "false" or "it depends".')
        if votes[said] != answer:
            return wrong(whys[votes[said]])
        return right("It holds while all clocks are right. With one clock ahead west's 8:09:50 is lost after 55 s.")

    return Task(
        f'Which verdict does the claim get from the two cases: "{CLAIMS["within"]}"?',
        judge,
        (
            "Run both cases. For each count that is lost: how long was it under way?",
            "A lost count speaks against the claim only if it arrived within 1 min. Count such counts in both cases.",
        ),
    )


def refuting_watermark() -> Task:
    """Task 2: the number that refutes the claim."""
    run = wmviz.simulate(AHEAD)
    (name,) = refuting(run)
    met_ms = run.seen_watermarks[name]
    newest_ms = met_ms + AHEAD.bound_ms + 1
    whys = {
        wmviz.simulate(BRIDGES).seen_watermarks[name]: "That is so when all clocks are right. Here east's clock is "
        "3 min ahead.",
        met_ms + 1: "The −1 ms of the DataStream API is missing.",
        newest_ms: "That is the newest event time. The bound and 1 ms come off.",
        time_ms("8:10") - 1: "That is the last millisecond of its window: from there on it is too late. Which "
        "watermark did it meet?",
        time_ms("8:10:45"): "That is when it arrived. The watermark goes by event times.",
        max(e.event_time_ms for e in AHEAD.events) - AHEAD.bound_ms - 1: "That is the watermark at the end of the run.",
    }
    return Task(
        "In the case with one clock ahead: which watermark did west's 8:09:50 meet?",
        lambda answer: judge_time(
            answer,
            met_ms,
            whys,
            f"East's clock says {time_text(newest_ms)} at 8:10:40; minus 1 min, minus 1 ms. The window of west's count "
            "ends at 8:10.",
        ),
        (
            "It meets the watermark of the events before it, of both bridges.",
            "The newest of them is the one that arrived at 8:10:40. What does its clock say?",
            "That time, minus the bound, minus 1 ms.",
        ),
    )


# Task 3 --------------------------------------------------------------------------------------------------------------


def _bank() -> dict[str, Scenario]:
    """Give cases in which the conditions come apart."""
    steady = [e for e in BRIDGES.events if under_way_ms(e) < 60_000]
    ordered = sorted(steady, key=lambda e: e.event_time_ms)
    rows = [[e.key, e.value, e.event_time_ms, e.event_time_ms + 30_000] for e in ordered]
    return {
        "all clocks right": BRIDGES,
        "one clock ahead": AHEAD,
        "one clock ahead, 1 min of lateness": AHEAD.replace(lateness="1 min"),
        "all clocks right, windows of 30 s": BRIDGES.replace(window="30 s"),
        "all in order": BRIDGES.replace(events=rows),
    }


_HAS: Mapping[str, Callable[[Scenario], bool]] = {
    "a": lambda job: job.window.size_ms > job.bound_ms,
    "b": lambda job: all(under_way_ms(e) >= 0 for e in job.events),
    "c": lambda job: [e.event_time_ms for e in job.events] == sorted(e.event_time_ms for e in job.events),
    "d": lambda job: job.lateness_ms > 0,
}


@cache
def _tried() -> dict[str, tuple[Scenario, bool]]:
    """Try the claim in each case."""
    return {where: (job, not refuting(wmviz.simulate(job))) for where, job in _bank().items()}


def missing_condition() -> Task:
    """Task 3: the condition that a claim lacks."""
    against = {
        letter: [where for where, (job, holds) in _tried().items() if has(job) and not holds]
        for letter, has in _HAS.items()
    }
    enough = [letter for letter, cases in against.items() if not cases]
    (answer, *_) = sorted(enough, key=lambda letter: -sum(_HAS[letter](job) for job, _ in _tried().values()))

    def judge(given: object) -> Verdict:
        text = " ".join(str(given).lower().split()).strip(" .)").removeprefix("if ")
        letter = {said: name for name, said in CONDITIONS.items()}.get(text, text)
        if letter not in CONDITIONS:
            return not_yet('Give the letter of one condition, such as "a".')
        if letter == answer:
            return right(
                "Then no event time is past the clock. So the watermark is always more than 1 min behind it, and a "
                "count that arrives within 1 min is ahead of it. (In the DataStream API, with its −1 ms.)"
            )
        if against[letter]:
            return wrong(f"It is not enough. In the case «{against[letter][0]}» that is so, and a count is lost.")
        spared = next(where for where, (job, holds) in _tried().items() if holds and not _HAS[letter](job))
        return wrong(
            f"That is enough, but it asks for too much. Without it the claim holds in the case «{spared}», too."
        )

    return Task(
        f'"{CLAIMS["within"].removesuffix(".")}, if …" Which condition is missing?',
        judge,
        (
            "What is different in the case that refutes the claim?",
            "The watermark is the newest event time − 1 min − 1 ms. When is it past a count of less than a minute ago?",
        ),
    )


# Task 4 --------------------------------------------------------------------------------------------------------------


def second_firing() -> Task:
    """Task 4: a setting with which the claim fails."""
    return Task(
        f'Change the job so that it refutes "{CLAIMS["once"]}"',
        lambda job: judge_job(job, CALM, "nothing is late, and each window fires once.", _judge_second_firing),
        (
            "Being late is not the only reason for a second result. What happens to the job while it runs?",
            "After a restore the state is as it was at the checkpoint. Which window had not fired then?",
            'Write `checkpoints={"interval": …}, happenings=[{"what": "crash", "at": …}]`.',
            "Let the crash come after a firing and before the next checkpoint.",
        ),
    )


def _judge_second_firing(job: Scenario) -> Verdict:
    if job.events != CALM.events:
        return wrong("The counts are what they are. Change the settings of the job, or what happens to it.")
    if (job.window.type, job.window.size_ms, job.window.time) != ("tumbling", CALM.window.size_ms, "event"):
        return wrong("The claim is about these windows: 10 min long, by event time. Leave them as they are.")
    run = wmviz.simulate(job)
    behind = sorted(_late(run))
    if behind:
        return wrong(f"{behind[0]} is late in your run. The claim speaks of runs in which nothing is late.")
    again = [f for f in run.all_firings if f.nth > 1]
    if not again:
        said = "There is a crash, but each window still fires once. " if job.happenings else "Each window fires once. "
        return wrong(said + _why_once(job))
    how = "After the restore a window is as it was before it fired, so it fires again."
    if not any(h.what in ("crash", "stop") for h in job.happenings):
        how = "The trigger decides when a window fires, and this one does it more than once."
    return right(f"{time_text(again[0].at_ms)}: {again[0].key}'s window fires for the second time. {how}")


def _late(run: Trace) -> Iterable[str]:
    """Name the counts that came when their window had fired."""
    size_ms, offset_ms = run.scenario.window.size_ms, run.scenario.window.offset_ms
    for event in run.scenario.events:
        start_ms = event.event_time_ms - (event.event_time_ms - offset_ms) % size_ms
        if run.seen_watermarks[event.id] >= start_ms + size_ms - 1:
            yield event.id


def _why_once(job: Scenario) -> str:
    if job.happenings:
        return "Each firing is in a checkpoint, or comes after the restore. When is there one that is in none?"
    if job.lateness_ms:
        return "Allowed lateness makes a window fire again for a late event, and there is none."
    if job.bound_ms != CALM.bound_ms:
        return "The bound moves the firing. It does not double it."
    return "Think of what may happen to a job while it runs."


# Task 5 --------------------------------------------------------------------------------------------------------------


@cache
def _fewest() -> int:
    """Count the events of the smallest part of the run that refutes the claim, by trying all parts."""
    sizes = range(1, len(RUSH.events) + 1)
    return next(n for n in sizes if any(_refutes(part) for part in combinations(RUSH.events, n)))


def _refutes(events: Iterable[Event]) -> bool:
    return longer_but_counted(_run_of(events))


def _run_of(events: Iterable[Event]) -> Trace:
    rows = [[e.key, e.value, e.event_time_ms, e.arrival_time_ms] for e in events]
    return wmviz.simulate(RUSH.replace(events=rows))


def least_run() -> Task:
    """Task 5: the least counter-example."""
    return Task(
        f'Leave out all that is not needed to refute "{CLAIMS["longer"]}"',
        _judge_least_run,
        (
            "Two counts speak against the claim: one that is lost, and one that was longer under way and is counted.",
            "Take these two alone. Is the first one still lost? Something must bring the watermark past its window.",
            "Leave one count out, run the rest, and look whether the claim still fails. Go on until none can go.",
        ),
    )


def _judge_least_run(answer: object) -> Verdict:
    names = _names(answer)
    if names is None:
        return not_yet("Give a list of names out of the first column; or the job that has these counts only.")
    unknown = sorted(names - {e.id for e in RUSH.events})
    if unknown:
        return not_yet(f"{unknown[0][:60]} is no count of this run. Take the names out of the first column.")
    kept = [e for e in RUSH.events if e.id in names]
    if not kept:
        return wrong("A run without counts refutes nothing.")
    if not _refutes(kept):
        return wrong(f"Here the claim holds. {_why_holds(kept)}")
    if len(kept) > _fewest():
        spare = next(e for e in kept if _refutes(other for other in kept if other is not e))
        return wrong(f"It refutes the claim, but it is not the least run: {spare.id} can go.")
    counted_one = max(kept, key=under_way_ms)
    gone = next(e for e in kept if e.id in lost(_run_of(kept)))
    (mover,) = (e for e in kept if e not in (gone, counted_one))
    return right(
        f"{gone.id} is lost after {duration_text(under_way_ms(gone))}, {counted_one.id} is counted after "
        f"{duration_text(under_way_ms(counted_one))}. {mover.id} only moves the watermark."
    )


def _names(answer: object) -> frozenset[str] | None:
    if isinstance(answer, Scenario):
        return frozenset(e.id for e in answer.events)
    if isinstance(answer, str):
        answer = [part for part in answer.split(",") if part.strip()]
    if not isinstance(answer, (list, tuple, set, frozenset)):
        return None
    return frozenset(str(getattr(name, "id", name)).strip() for name in answer)


def _why_holds(kept: list[Event]) -> str:
    gone = lost(_run_of(kept))
    if not gone:
        return "Nothing is lost: no event brings the watermark past a window before a count of it comes."
    return "One count is lost, but none that was longer under way is counted."


# Task 6 --------------------------------------------------------------------------------------------------------------


def witnesses() -> Task:
    """Task 6: the claim as code."""
    return Task(
        f'Build the witness finder: which counts of a run speak against "{CLAIMS["within"]}"?',
        _judge_witnesses,
        (
            "A count speaks against the claim if two things are so: it arrived within the bound, and it is lost.",
            "Lost is what is in `run.dropped` or in `run.late` (the side output); both have a column `event`.",
            "For each `e` in `run.scenario.events`: is `e.arrival_time_ms - e.event_time_ms` within the bound?",
        ),
    )


def _trials() -> dict[str, Scenario]:
    """Give runs in which the usual slips show."""
    edge = [
        ["west", 1, "8:05", "8:05:10"],
        ["east", 1, "8:10:59.999", "8:10:59.999"],
        ["west", 2, "8:09:59.999", "8:10:59.999"],
    ]
    just_over = [
        ["west", 1, "8:05", "8:05:10"],
        ["east", 1, "8:11", "8:11"],
        ["west", 2, "8:09:59.999", "8:11"],
        ["west", 3, "8:09:59.500", "8:11:00.100"],
    ]
    far_ahead = [
        ["east", 1, "8:21:30", "8:09:40"],
        ["west", 2, "8:09:50", "8:09:50"],
        ["west", 3, "8:09:56", "8:09:55"],
        ["west", 4, "8:13", "8:10"],
        ["east", 5, "8:09:58", "8:10:20"],
    ]
    for_a_while = [
        ["west", 1, "8:05", "8:05:10"],
        ["east", 1, "8:13", "8:10:40"],
        ["west", 2, "8:09:50", "8:10:45"],
        ["east", 2, "8:17", "8:10:47"],
        ["west", 3, "8:09:55", "8:10:50"],
        ["west", 4, "8:09:57", "8:12:30"],
    ]
    half = BRIDGES.replace(
        bound="30 s",
        events=[
            ["west", 1, "8:05", "8:05:10"],
            ["east", 1, "8:12", "8:10:10"],
            ["west", 2, "8:09:45", "8:10:15"],
            ["west", 3, "8:09:30", "8:10:20"],
        ],
    )
    return {
        **_bank(),
        "one clock ahead, a side output": AHEAD.replace(late_to="side"),
        "SQL, just within the bound": BRIDGES.replace(events=edge, api="sql", strategy_at="after"),
        "a bound of 30 s": half,
        "just over the bound": BRIDGES.replace(events=just_over, api="sql", strategy_at="after"),
        "one clock 12 min ahead": BRIDGES.replace(events=far_ahead),
        "some lateness, and one clock ahead": BRIDGES.replace(events=for_a_while, lateness="3 min"),
    }


def _judge_witnesses(own: Any) -> Verdict:
    if not callable(own):
        return not_yet("Give the function itself, without brackets behind its name.")
    for where, job in _trials().items():
        run = wmviz.simulate(job)
        try:
            names = _named_by(own, run)
        except AnswerError as error:
            return not_yet(f"In the case «{where}» {str(error)[:1].lower()}{str(error)[1:]}")
        if names != refuting(run):
            return wrong(f"In the case «{where}» it names {_listed(names)}. {_slip(run, names)}")
    return right(f"On {len(_trials())} runs it names the same counts as the engine's own ledger.")


def _named_by(own: Any, run: Trace) -> frozenset[str]:
    said = called(own, "Your function", run)
    names = _names(said if isinstance(said, str) else several(said, "Your function", "names"))
    assert names is not None  # a text or a list
    return names


def _listed(names: frozenset[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"


def _slip(run: Trace, names: frozenset[str]) -> str:
    by_id = {e.id: e for e in run.scenario.events}
    extra, missing = sorted(names - refuting(run)), sorted(refuting(run) - names)
    if extra and extra[0] not in by_id:
        return "That is no count of the run."
    if extra and extra[0] not in lost(run):
        return f"{extra[0]} is not lost."
    if extra and under_way_ms(by_id[extra[0]]) <= run.scenario.bound_ms + run.scenario.lateness_ms:
        return f"{extra[0]} was longer under way than the bound of {duration_text(run.scenario.bound_ms)}."
    if extra:
        way = duration_text(under_way_ms(by_id[extra[0]]))
        return f"{extra[0]} was {way} under way, longer than the bound: the claim says nothing of it."
    if run.scenario.late_to == "side":
        return f"{missing[0]} is in the side output. No window took it, so it is lost, too."
    if under_way_ms(by_id[missing[0]]) == run.scenario.bound_ms:
        return f"{missing[0]} was under way for just the bound. Within the bound has that, too: compare with ≤."
    if under_way_ms(by_id[missing[0]]) <= 0:
        return f"{missing[0]} is lost. Its clock is ahead, so it arrived before its own time: within the bound it is."
    if names:
        return f"{missing[0]} arrived within the bound and is lost, too."
    return f"{missing[0]} arrived within the bound and is lost."


ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "bike-verdict": bike_verdict,
    "refuting-watermark": refuting_watermark,
    "missing-condition": missing_condition,
    "second-firing": second_firing,
    "least-run": least_run,
    "witnesses": witnesses,
}
