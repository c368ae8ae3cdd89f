"""Lesson 3, when a window fires: its questions. Every right answer comes from the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import wmviz
from wmviz.course.judging import judge_time
from wmviz.course.questions import Choice, Question, Task
from wmviz.scenario import Scenario
from wmviz.times import time_ms, time_text

HOUR_MS, MINUTE_MS = 3_600_000, 60_000


def _badge_job(*arrivals: tuple[str, str], **settings: Any) -> Scenario:
    """Make a job with the settings of the leaderboard from (event time, arrival time) of one runner's kilometres."""
    rows = [["r4471", 1000, happened, arrived] for happened, arrived in arrivals]
    fields = {"bound": "2 min", "lateness": "20 min", "late_to": "side", "window": "1 h", "events": rows}
    return Scenario.of(**{**fields, **settings})


def _fires(newest: int | str, **settings: Any) -> bool:
    """Whether the 6 am window has fired once an event of this time has come."""
    trace = wmviz.simulate(_badge_job(("6:30", "6:30"), (time_text(time_ms(newest)), "12:00"), **settings))
    return any(firing.window.end_ms == 7 * HOUR_MS for firing in trace.all_firings)


def first_firing() -> Question:
    """Ask which newest event makes the 6 am window fire first."""
    whys = {
        "7:00": "You forgot the bound: the watermark then trails by 2 min, and there may be more to come for 6 am.",
        "7:01:59.999": "The watermark is then 6:59:59.998: one millisecond short, for the bound takes 1 ms more.",
        "7:02": "7:02:00.000 − 2 min − 1 ms = 6:59:59.999: the last millisecond of the window.",
        "7:02:00.001": "One millisecond too many: a window fires at its last millisecond, end − 1, not at its end.",
        "7:22": "You added the allowed lateness. It decides when the window's state goes, not when it fires.",
    }
    return Question(
        "The 6 am window ends at 7:00, the bound is 2 min. Which is the earliest event time that makes it fire?",
        tuple(Choice(time, _to_the_ms(time), why) for time, why in whys.items()),
        answer=min((time for time in whys if _fires(time)), key=time_ms),
    )


def fate() -> Question:
    """Ask what becomes of an event behind the watermark whose window has fired but still has state."""
    trace = wmviz.simulate(_badge_job(("6:30", "6:31"), ("7:05", "7:05"), ("6:56", "7:09")))
    again = [firing.value for firing in trace.all_firings if firing.nth == 2]
    before = trace.all_firings[0].value
    choices = (
        Choice("waits", "It is on time and waits for the next firing", "Its window has fired: it is late."),
        Choice(
            before + 1000,
            f"It is late but counted: the window fires again with the whole total, {before + 1000:,} m",
            "The state of the window lives until 7:19:59.999. It fires again at once, with all its events.",
        ),
        Choice(
            1000,
            "It is late but counted: the window fires again with this kilometre alone, 1,000 m",
            "That is what a purging trigger does. By default the content stays, and each firing has all of it.",
        ),
        Choice(
            "side",
            "It goes to the side output",
            "You took late for too late: 6:59:59.999 + 20 min is 7:19:59.999, and the watermark is not there yet.",
        ),
    )
    answer = again[0] if again else "side" if trace.outcomes().late else "waits"
    return Question(
        "One kilometre was counted, and the 6 am window has fired. The watermark is 7:02:59.999, the allowed lateness "
        "20 min. A kilometre of 6:56 arrives. What becomes of it?",
        choices,
        answer,
    )


def behind() -> Question:
    """Ask whether an event behind the watermark is late when its window is still open."""
    trace = wmviz.simulate(_badge_job(("7:15", "7:15"), ("7:10", "7:16"), lateness="0 ms"))
    late = bool(trace.outcomes().late)
    return Question(
        "The watermark is 7:12:59.999, and no lateness is allowed. A kilometre of 7:10 arrives. Is it late?",
        (
            Choice(
                True,
                "Yes: it is behind the watermark",
                "Behind the watermark is not yet late. What counts is its window, and [7:00, 8:00) has not fired.",
            ),
            Choice(
                False,
                "No: its window has not fired yet",
                "An event is late when the watermark has passed its window, not when it has passed the event.",
            ),
        ),
        answer=late,
    )


def state_gone() -> Question:
    """Ask at which watermark the state of the 6 am window is deleted."""
    whys = {
        "6:59:59.999": "There it fires for the first time. With a lateness of 20 min the state stays 20 min longer.",
        "7:19:59.999": "The last millisecond of the window, 6:59:59.999, plus 20 min.",
        "7:20": "One millisecond too late: lateness counts from the window's last millisecond, end − 1.",
        "7:22": "You added the bound. The watermark has the bound in it already; this asks for the watermark.",
    }

    def is_gone(watermark: str) -> bool:
        newest = time_text(time_ms(watermark) + 2 * MINUTE_MS + 1)
        trace = wmviz.simulate(_badge_job(("6:30", "6:30"), (newest, "7:30"), ("6:40", "7:31")))
        return bool(trace.outcomes().late)

    return Question(
        "Allowed lateness is 20 min. At which watermark is the state of the 6 am window deleted?",
        tuple(Choice(time, _to_the_ms(time), why) for time, why in whys.items()),
        answer=min((time for time in whys if is_gone(time)), key=time_ms),
    )


def other_bound() -> Task:
    """Ask for the boundary with another bound, as free text."""
    bound_ms = 90_000
    end_ms = 7 * HOUR_MS
    answer_ms = min(ms for ms in range(end_ms + bound_ms - 2, end_ms + bound_ms + 3) if _fires(ms, bound=bound_ms))
    whys = {
        end_ms: "You forgot the bound: the watermark trails the newest event by 90 s.",
        answer_ms - 1: "The watermark is then 6:59:59.998, one millisecond short of the window's last millisecond.",
        answer_ms + 1: "You compared with the window's end; a window fires at its last millisecond, end − 1.",
        end_ms + 2 * MINUTE_MS: "That is the answer for a bound of 2 min; here it is 90 s.",
        end_ms - 1: "That is the watermark at which it fires. Which event time brings the watermark there?",
    }
    return Task(
        "With a bound of 90 s, which is the earliest event time that makes the 6 am window fire?",
        lambda answer: judge_time(
            answer,
            answer_ms,
            whys,
            f"{time_text(answer_ms)} − 90 s − 1 ms = 6:59:59.999, the window's last millisecond.",
        ),
        (
            "The window fires when the watermark reaches 6:59:59.999.",
            "The watermark is the newest event time − bound − 1 ms. Solve that for the newest event time.",
        ),
    )


def _to_the_ms(time: str) -> str:
    """Write a time with all its digits, so that no choice stands out."""
    text = time_text(time_ms(time))
    text += ":00" if text.count(":") == 1 else ""
    return text if "." in text else f"{text}.000"


ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "first-firing": first_firing,
    "fate": fate,
    "behind": behind,
    "state-gone": state_gone,
    "other-bound": other_bound,
}
