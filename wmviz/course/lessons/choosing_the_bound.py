"""Lesson 5, choosing the bound: its questions. Every right answer comes from the engine, or from what it counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import wmviz
from wmviz import lag
from wmviz.course.answers import read_duration
from wmviz.course.questions import Choice, Question, Task, Verdict, right, wrong
from wmviz.scenario import Scenario
from wmviz.times import duration_ms, time_ms

GIVEN: Mapping[str, Any] = {}

HOUR_MS, MINUTE_MS = 3_600_000, 60_000


@cache
def _morning() -> Scenario:
    """Make a morning with the lags of the busy Saturday, and a tenth of its runners."""
    spec = {"generate": "runs", "runners": 2_200, "seed": 7}
    return Scenario.of(name="morning", bound="2 min", lateness="20 min", late_to="side", window="1 h", events=spec)


def share() -> Question:
    """Ask how many events are late if 97 % arrive within the bound."""
    point = lag.choose(_morning()).at("2 min", "20 min")
    late = (point.late + point.lost) / point.events
    return Question(
        "97 % of the kilometres arrive within 2 min. The bound is 2 min, the windows are hours. How many kilometres "
        "are missing in the first result of their hour?",
        (
            Choice(
                0.03,
                "About 3 %: those that are not within the bound",
                "A kilometre of 6:10 may be half an hour on its way, and the hour from 6 still waits for 7:02. Only "
                "those whose window has fired are late.",
            ),
            Choice(
                0.006,
                "Well below 1 %",
                "Most of the slow ones come from the middle of an hour, and their hour has not fired yet.",
            ),
            Choice(0.0, "None: the lateness of 20 min catches them", "It lets them correct the result, afterwards."),
        ),
        answer=min((0.03, 0.006, 0.0), key=lambda guess: abs(guess - late)),
    )


def delayed() -> Question:
    """Ask which bound is needed if every event takes an hour longer."""
    frame = lag.frame_of(_morning())
    later = frame.assign(arrival_time_ms=frame["arrival_time_ms"] + HOUR_MS)
    now, then = (
        lag.choose(table, event_time="event_time_ms", arrival_time="arrival_time_ms").judged.least(0.99)
        for table in (frame, later)
    )
    return Question(
        "From tomorrow on every kilometre takes exactly one hour longer to the server. Which bound keeps as many on "
        "time as today?",
        (
            Choice(
                now + HOUR_MS,
                "One that is an hour longer",
                "You compare with the clock. The generator knows no clock: it compares an event with the newest one "
                "before it, and that one is an hour late as well.",
            ),
            Choice(
                now,
                "The same",
                "All are late by the same hour, so none is further behind the others than before. Results come an hour "
                "later, though.",
            ),
            Choice(None, "There is none: all of them are late then", "Late is behind the watermark, not the clock."),
        ),
        answer=then,
    )


def trade() -> Question:
    """Ask how many events are lost if lateness becomes part of the bound."""
    advice = lag.choose(_morning())
    before, after = advice.at("2 min", "20 min"), advice.at("22 min", "0")
    return Question(
        "Bound 2 min and lateness 20 min are changed to bound 22 min and no lateness. What changes?",
        (
            Choice(
                (False, False),
                "Fewer events are lost, for all wait longer now",
                "The state of an hour goes at the same event as before: when the newest one is 22 min past its end.",
            ),
            Choice(
                (True, False),
                "As many are lost as before, but each first result comes about 20 min later, and is more complete",
                "Bound + lateness decides what is counted at all. The bound alone decides what is waited for.",
            ),
            Choice(
                (True, True),
                "Nothing: 2 + 20 is 22",
                "It is, for what is lost. But the first result now waits for the whole 22 min.",
            ),
        ),
        answer=(before.lost == after.lost, before.wait_ms == after.wait_ms),
    )


def future() -> Question:
    """Ask what one event from the future does."""
    rows = [["r9", 1000, 6 * HOUR_MS + m * MINUTE_MS, 6 * HOUR_MS + m * MINUTE_MS + 5_000] for m in range(120)]
    poison = ["r7", 1000, "15:00", "6:30:30"]
    job = _morning().replace(events=[*rows, poison])
    late = wmviz.simulate(job).outcomes().late
    last_ms = 7 * HOUR_MS + 59 * MINUTE_MS
    return Question(
        "At 6:30 a phone whose clock is wrong sends a kilometre of 15:00. All others are right. What happens?",
        (
            Choice(
                "one",
                "That kilometre is counted for 15:00, nothing else happens",
                "It moves the watermark, too. All kilometres go by the same watermark.",
            ),
            Choice(
                "back",
                "The watermark jumps, and comes back with the next right kilometre",
                "A watermark never goes back. The generator keeps the newest time that it has ever seen.",
            ),
            Choice(
                "all",
                "From then on all others are too late, until it really is that time",
                "The watermark stands at 14:57:59.999, and hours that end before it have fired and are gone.",
            ),
        ),
        answer="all"
        if f"r9@{last_ms // HOUR_MS}:{last_ms // MINUTE_MS % 60:02}" in late
        else "back"
        if late
        else "one",
    )


def needed() -> Task:
    """Ask for the smallest bound with which one event is on time."""
    leaderboard = wmviz.scenario("leaderboard")
    late = next(event for event in leaderboard.events if event.id == "r7@6:56")

    def on_time(bound_ms: int) -> bool:
        trace = wmviz.simulate(leaderboard.replace(bound=bound_ms))
        return trace.seen_watermarks[late.id] < time_ms("7:00") - 1

    guess_ms = duration_ms("22 min")
    answer_ms = min(ms for ms in range(guess_ms - 2, guess_ms + 4) if on_time(ms))
    whys = {
        duration_ms("28 min"): "That is its lag to the clock, 7:24 − 6:56. The generator knows no clock.",
        duration_ms("26 min"): "So far it is behind the newest one. Enough, but less will do: its hour must wait only.",
        answer_ms - 1: "The watermark is then 6:59:59.999, and the hour has just fired. One millisecond more.",
        answer_ms + 1: "One millisecond less is enough.",
        duration_ms("24 min"): "You counted to its arrival, 7:24. What counts is the newest event before it, 7:22.",
        duration_ms("2 min"): "With 2 min the watermark is 7:19:59.999 by then.",
    }

    def judge(answer: object) -> Verdict:
        got_ms = read_duration(answer)
        if got_ms == answer_ms:
            return right(
                "7:22 − 22 min − 1 ms = 6:59:59.999 would make the hour fire; with 1 ms more in the bound the "
                "watermark is 6:59:59.998, and it still waits."
            )
        before = "With that bound the hour has fired before r7's 6:56 comes."
        return wrong(whys.get(got_ms, before if got_ms < answer_ms else "It is on time then; but less is enough."))

    return Task(
        "r7's 6:56 arrives at 7:24. The newest event before it is 7:22. Which is the smallest bound with which it is "
        "in the first result of its hour?",
        judge,
        (
            "On time means: its hour [6:00, 7:00) has not fired, so the watermark is below 6:59:59.999.",
            "The watermark that it meets is 7:22 − bound − 1 ms. Solve that for the bound.",
        ),
    )


ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "share": share,
    "delayed": delayed,
    "trade": trade,
    "future": future,
    "needed": needed,
}
