"""Lesson 7, idle inputs and the bet: its questions. Every right answer comes from the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import wmviz
from wmviz.course.answers import read_time
from wmviz.course.questions import Choice, Question, Task, Verdict, right, wrong
from wmviz.scenario import Scenario
from wmviz.times import time_ms, time_text
from wmviz.trace import Kind, Status, Trace

GIVEN: Mapping[str, Any] = {}

NEWEST_MS, STUCK_MS, FORUM_BOUND_MS = 1760173855145, 1760172640139, 5_000
"""A question from a forum: the event that was seen last, the watermark that it met, the bound."""


def _window_watermark(trace: Trace) -> int:
    return trace.state(trace.steps - 1).watermarks["window"]


def bet() -> Question:
    """Ask what becomes of the events of an input that was idle."""
    s = wmviz.scenario("idle-bet")
    trace = wmviz.simulate(s)
    after = frozenset(event.id for event in s.events if event.partition == 1 and event.id != "r9@6:01")
    return Question(
        "r9's input sends at 9:00:00.150, 9:00:04.150, 9:00:08.150 and 9:00:12.150; the timeout is 1 s. What becomes "
        "of its kilometres of 6:02, 6:03 and 6:04?",
        (
            Choice(
                (frozenset(), False),
                "They count: the 6 am windows wait for them",
                "That is so without a timeout. An idle input is not waited for.",
            ),
            Choice(
                (frozenset(), True),
                "They count: the windows fire, and fire again for each of them",
                "Only with allowed lateness. Here the state is deleted when the windows fire.",
            ),
            Choice(
                (frozenset({"r9@6:02"}), True),
                "6:02 is too late, but it wakes the input up; 6:03 and 6:04 count",
                "Awake or not: the time has passed 7:00, and a watermark never goes back.",
            ),
            Choice(
                (after, True),
                "All three are too late",
                "While the input was idle, the others moved the time past 7:00, and the 6 am windows were deleted.",
            ),
        ),
        answer=(frozenset(trace.outcomes().late), bool(trace.all_firings)),
    )


def when() -> Question:
    """Ask when an input becomes idle."""
    trace = wmviz.simulate(
        Scenario.of(
            emission="interval",
            interval="200 ms",
            idle_timeout="500 ms",
            window="1 h",
            start="9:00:00",
            events=[["r9", 1000, "6:01", "9:00:01.050"]],
        )
    )
    # Without any event it is idle before, too: from the start on it is silent.
    idle_ms = max(record.at_ms for record in trace if record.kind is Kind.STATUS and record.value == Status.IDLE)
    whys = {
        "9:00:01.550": "That is the timeout after the event. Nothing happens between two ticks.",
        "9:00:01.600": "That is the first tick after the timeout, but the timer does not start with the event.",
        "9:00:01.800": "The timer has started at 9:00:01.400, the second tick after the event. Then it shows 0.4 s.",
        "9:00:02.000": "9:00:01.200 sees the event, 9:00:01.400 starts the timer, 9:00:02.000 shows 0.6 s.",
    }
    return Question(
        "Ticks are every 200 ms: 9:00:01.000, 9:00:01.200, … The timeout is 500 ms. The last event comes at "
        "9:00:01.050. When is the input idle?",
        tuple(Choice(time_ms(time), time, why) for time, why in whys.items()),
        answer=idle_ms,
    )


def back() -> Question:
    """Ask what the watermark does while a channel that is back from idleness is behind."""
    trace = wmviz.simulate(wmviz.scenario("return-from-idle-channel"))
    whys = {
        "6:54:59.999": "A watermark never goes back, whoever returns.",
        "7:19:59.999": "The channel is behind what has gone through, so it is left out until it has caught up.",
        "7:04:59.999": "That is so for two partitions in one subtask, where the one that is back holds the clock.",
    }
    return Question(
        "Two subtasks. The windows are at 7:04:59.999. An idle channel is active again with 6:54:59.999. Then the "
        "other one brings 7:19:59.999. What is the watermark of the windows?",
        tuple(Choice(time_ms(time), time, why) for time, why in whys.items()),
        answer=trace.seen_watermarks["r9@6:58"],
    )


def all_idle() -> Question:
    """Ask where the watermark stays when all inputs are idle."""
    trace = wmviz.simulate(wmviz.scenario("all-idle"))
    whys = {
        "6:57:59.999": "That is the minimum while someone waits for it. With the last input idle, nobody does.",
        "7:04:59.999": "The highest that any input has promised is let through. Further it does not go.",
        "MAX": "MAX comes from an input that has ended. An idle one may still send something.",
        "on": "No generator runs on the wall clock: without events there is no newer watermark.",
    }
    texts = {"on": "It goes on with the server's clock, 2 s behind"}
    return Question(
        "Two inputs stand at 7:04:59.999 and 6:57:59.999. Both are silent for longer than the timeout of 2 s. Where "
        "does the watermark stay?",
        tuple(Choice(value, texts.get(value, value), why) for value, why in whys.items()),
        answer=time_text(_window_watermark(trace)),
    )


def shortest() -> Question:
    """Ask for the shortest timeout that loses nothing."""
    s = wmviz.scenario("idle-bet")
    whys = {
        "1 s": "r9 is silent for 4 s at a time. After 1 s it is given up, and the windows fire without it.",
        "3 s": "Ticks and the start of the timer add a little, but 3 s and three ticks are still less than 4 s.",
        "4 s": "The silence of r9 is never more than 4 s, so its input is never idle while it still sends.",
        "8 s": "This loses nothing either, but a shorter one does as well.",
    }
    safe = [timeout for timeout in whys if not wmviz.simulate(s.replace(idle_timeout=timeout)).outcomes().late]
    return Question(
        "r9 sends every 4 s. Which is the shortest of these timeouts with which none of its kilometres is too late?",
        tuple(Choice(timeout, timeout, why) for timeout, why in whys.items()),
        answer=safe[0],
    )


def forum(quiet_ms: int) -> Scenario:
    """Give the job of the forum, with a newest event on the quiet input."""
    rows = [
        ["a", 1, quiet_ms + 5, quiet_ms + 100, 0],
        ["b", 1, quiet_ms, quiet_ms + 200, 1],
        ["a", 1, NEWEST_MS, NEWEST_MS + 100, 0],
    ]
    return Scenario.of(bound=FORUM_BOUND_MS, window="1 h", subtasks=2, events=rows)


def stuck() -> Task:
    """Ask for the newest event of the input that holds the watermark."""
    near = range(STUCK_MS + FORUM_BOUND_MS - 2, STUCK_MS + FORUM_BOUND_MS + 5)
    answer_ms = next(ms for ms in near if _window_watermark(wmviz.simulate(forum(ms))) == STUCK_MS)
    whys = {
        NEWEST_MS: "That is the newest event of the busy input. The watermark is the lowest, so another one holds it.",
        NEWEST_MS - FORUM_BOUND_MS - 1: "That is the watermark of the busy input. The lower one counts.",
        STUCK_MS: "That is the watermark itself. It trails the newest event of its input by the bound and 1 ms.",
        answer_ms - 1: "You left out the 1 ms.",
        STUCK_MS - FORUM_BOUND_MS - 1: "You subtracted the bound. The watermark trails the event, so add it.",
        STUCK_MS - FORUM_BOUND_MS: "You subtracted the bound. The watermark trails the event, so add it.",
    }

    def judge(answer: object) -> Verdict:
        got_ms = read_time(answer)
        if got_ms == answer_ms:
            return right(
                f"{STUCK_MS} + 5000 + 1 = {answer_ms}. Since then this input has sent nothing, while the other has "
                f"moved on by {(NEWEST_MS - answer_ms) // 60_000} minutes. The busy input is not the problem."
            )
        return wrong(whys.get(got_ms, "The watermark of an input is its newest event − 5000 − 1. Solve for the event."))

    return Task(
        f"A debug print says: event {NEWEST_MS} meets the watermark {STUCK_MS}. The bound is 5 s, and the pattern that "
        "is looked for is never found. What is the timestamp of the newest event on the input that holds the "
        "watermark, in milliseconds?",
        judge,
        (
            "The watermark is the lowest of all inputs, and each of them trails its own newest event.",
            "Newest event of that input − bound − 1 ms = the watermark. The bound is 5000 ms.",
        ),
    )


ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "bet": bet,
    "when": when,
    "back": back,
    "all-idle": all_idle,
    "shortest": shortest,
    "stuck": stuck,
}
