"""The sheet of lesson 4, late events. Every right answer comes from the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import wmviz
from wmviz.course.answers import AnswerError, read_duration
from wmviz.course.harness import run_with
from wmviz.course.judging import judge_job, judge_names, judge_number, judge_time
from wmviz.course.own_code import called
from wmviz.course.questions import Question, Task, Verdict, not_yet, right, wrong
from wmviz.scenario import Scenario
from wmviz.times import duration_text, time_ms, time_text

DOOR = Scenario.of(
    name="door-counters",
    title="People through the doors of a museum",
    unit="people",
    bound="10 s",
    lateness="40 s",
    late_to="side",
    window="2 min",
    start="9:00",
    events=[
        ["east", 3, "9:00:20", "9:00:22"],
        ["west", 5, "9:01:50", "9:01:51"],
        ["east", 2, "9:02:09.999", "9:02:11"],
        ["west", 1, "9:01:40", "9:02:13"],
        ["east", 4, "9:02:10", "9:02:14"],
        ["west", 6, "9:01:30", "9:02:15"],
        ["east", 1, "9:02:49", "9:02:50"],
        ["west", 2, "9:01:55", "9:02:52"],
        ["east", 7, "9:02:50", "9:02:53"],
        ["west", 8, "9:01:59", "9:02:54"],
        ["east", 2, "9:02:05", "9:02:56"],
        ["west", 3, "9:04:30", "9:04:31"],
    ],
)
"""Tasks 1 to 3. Other numbers than the lesson's, so that nothing can be copied."""

RADIO = Scenario.of(
    name="radio-gap",
    title="A door whose radio fails now and then",
    unit="people",
    bound="10 s",
    late_to="side",
    window="1 min",
    start="9:00",
    events=[
        ["east", 1, "9:00:10", "9:00:11"],
        ["east", 1, "9:00:50", "9:00:51"],
        ["west", 1, "9:01:05", "9:01:06"],
        ["east", 1, "9:00:57", "9:01:08"],
        ["west", 1, "9:01:25", "9:01:26"],
        ["east", 1, "9:00:59", "9:01:40"],
        ["west", 1, "9:02:05", "9:02:06"],
        ["east", 1, "9:00:30", "9:02:10"],
        ["west", 1, "9:02:10", "9:02:12"],
    ],
)
"""Task 4."""

SLIDING = DOOR.replace(
    name="last-two-minutes",
    title="The last two minutes, every minute",
    lateness="0 s",
    late_to="drop",
    window={"type": "sliding", "size": "2 min", "slide": "1 min"},
)
"""Task 5."""

GIVEN = {"too-late": DOOR, "fires-again": DOOR, "final-at": DOOR, "lateness": RADIO, "short-count": SLIDING}


def too_late() -> Task:
    """Task 1: which events go to the side output."""
    trace = wmviz.simulate(DOOR)
    names = frozenset(trace.outcomes().late)
    behind = (
        "is behind the watermark, but its window has not fired or still has state. Behind the watermark is not late."
    )
    counted = "is late, but not too late: the state of [9:00, 9:02) goes at 9:01:59.999 + 40 s = 9:02:39.999."
    whys = {
        "west@9:01:40": f"west@9:01:40 {behind}",
        "east@9:02:05": "east@9:02:05 belongs to [9:02, 9:04). That window has not fired, however old the event is.",
        "west@9:01:30": f"west@9:01:30 {counted}",
        "west@9:01:55": "west@9:01:55 meets 9:02:49 − 10 s − 1 ms = 9:02:38.999, and the state goes at 9:02:39.999.",
        "west@9:01:59": "west@9:01:59 meets 9:02:50 − 10 s − 1 ms = 9:02:39.999: at that watermark the state is gone.",
    }
    return Task(
        "Which events go to the side output?",
        lambda answer: judge_names(
            answer,
            names,
            whys,
            "It meets the watermark 9:02:39.999, and 9:01:59.999 + 40 s = 9:02:39.999: the state is just gone.",
        ),
        (
            "Write the watermark behind each arrival: the newest event time so far − 10 s − 1 ms.",
            "Only events of a window that is gone are too late. When is the state of [9:00, 9:02) deleted?",
            "At end − 1 + lateness. An event meets the watermark of the events before it.",
        ),
    )


def fires_again() -> Task:
    """Task 2: how often west's first window fires."""
    firings = [f for f in wmviz.simulate(DOOR).all_firings if f.key == "west" and f.window.end_ms == time_ms("9:02")]
    whys = {
        1: "It fires again, at once, for each late event that still counts.",
        2: "One late event that counts is missing. Which watermark does west's 9:01:55 meet?",
        4: "One too many. west's 9:01:40 and 9:01:59 lie close to the boundaries: which watermark does each meet?",
        5: "Not every event of west is late, and not every late one counts.",
    }
    return Task(
        "How often does west's window [9:00, 9:02) fire?",
        lambda answer: judge_number(
            answer,
            len(firings),
            whys,
            f"Once at the watermark 9:01:59.999, and once for each of {len(firings) - 1} late events that still count.",
        ),
        (
            "Its first firing is at the watermark 9:01:59.999. Which event brings it there? Any door's may.",
            "9:02:09.999 is one millisecond short. So west's 9:01:40 comes before the first firing.",
        ),
    )


def final_at() -> Task:
    """Task 3: by the server's clock, when the first window is final."""
    trace = wmviz.simulate(DOOR)
    gone_ms = time_ms("9:02") - 1 + DOOR.lateness_ms
    cause = next(
        e for e in DOOR.events if trace.state(trace.step_at(e.arrival_time_ms)).watermarks["window"] >= gone_ms
    )
    whys = {
        time_ms("9:02:39.999"): "That is the watermark. By the server's clock, which arrival brings it there?",
        time_ms("9:02:40"): "The server's clock moves no watermark: an event has to bring it there.",
        time_ms("9:02:50"): "The event of 9:02:49 arrives then. Its watermark is one second short.",
        time_ms("9:04:31"): "You waited for an event of the same door. The watermark belongs to the operator.",
        time_ms("9:02:54"): "That event is too late already. The window was final before it came.",
    }
    return Task(
        "At what time by the server's clock does [9:00, 9:02) become final?",
        lambda answer: judge_time(
            answer,
            cause.arrival_time_ms,
            whys,
            f"{time_text(cause.event_time_ms)} − 10 s − 1 ms = {time_text(gone_ms)}: the state goes.",
        ),
        (
            "It is final when its state is deleted. At which watermark is that?",
            "Which event brings the watermark to 9:02:39.999? Give its arrival.",
        ),
    )


def lateness() -> Task:
    """Task 4: the least lateness with which only one event goes aside."""
    return Task(
        "What is the least allowed lateness with which nothing but east's 9:00:30 goes to the side output?",
        _judge_lateness,
        (
            "Which watermark does east's 9:00:59 meet?",
            "It meets 9:01:25 − 10 s − 1 ms. The state of [9:00, 9:01) must live longer than that.",
            "The state is gone **at** end − 1 + lateness. So that must be one millisecond more.",
        ),
    )


def _judge_lateness(answer: object) -> Verdict:
    length_ms = read_duration(answer)
    if length_ms < 0:
        return wrong("An allowed lateness cannot be negative.")
    late = wmviz.simulate(RADIO.replace(lateness=length_ms)).outcomes().late
    if late != {"east@9:00:30"}:
        if not late:
            return wrong("Now nothing goes to the side output, not even east's 9:00:30.")
        met_ms = wmviz.simulate(RADIO).seen_watermarks["east@9:00:59"]
        gone_ms = time_ms("9:01") - 1 + length_ms
        if met_ms == gone_ms:
            return wrong(
                "One millisecond short: at that very watermark the state is gone, and east's 9:00:59 meets it."
            )
        return wrong(
            f"With {duration_text(length_ms)} more goes there than that one: the state of [9:00, 9:01) is gone when "
            "east's 9:00:59 comes."
        )
    less = wmviz.simulate(RADIO.replace(lateness=length_ms - 1)).outcomes().late if length_ms else late
    if less == {"east@9:00:30"}:
        return wrong(
            "That does it, but a shorter one does, too. Lateness counts from the window's end, not from the event: the "
            "delay of the event is not the lateness that it needs."
        )
    return right(
        "east's 9:00:59 meets 9:01:25 − 10 s − 1 ms = 9:01:14.999, and 9:00:59.999 + 15.001 s is 1 ms past it."
    )


def short_count() -> Task:
    """Task 5: mend a job whose sliding windows are short, though no counter shows it."""
    missed = f"{wmviz.simulate(SLIDING).ledger().missed} times an event misses one of its windows."
    return Task(
        "Mend the job so that no window misses an event without a word.",
        lambda job: judge_job(job, SLIDING, missed, _judge_short_count),
        _SHORT_HINTS,
    )


_SHORT_HINTS = (
    "Ask the ledger: `wmviz.simulate(job).ledger().missed` counts pairs of an event and a window that was gone.",
    "A side output does not help: an event that one of its windows takes never goes there.",
    "Keep the state of each window longer, so that the event that is furthest behind still finds it. Or wait longer.",
)


def _judge_short_count(job: Scenario) -> Verdict:
    if job.events != SLIDING.events:
        return wrong("The events are what they are. Change the settings of the job.")
    if (job.window.type, job.window.size_ms, job.window.slide_ms) != ("sliding", 120_000, 60_000):
        return wrong("With other windows it is another question: the last two minutes, every minute.")
    if job.window.time == "processing":
        return wrong(
            "By the server's clock nothing is late, and people count for the minute of the radio, not their own."
        )
    trace = wmviz.simulate(job)
    ledger = trace.ledger()
    if ledger.missed and job.late_to == "side":
        return wrong(
            f"The side output has {ledger.side_output}, and still {ledger.missed} times a window misses an event: only "
            "an event that is too late for all its windows goes there."
        )
    if ledger.missed:
        return wrong(f"Still {ledger.missed} times an event misses one of its windows, and no counter shows it.")
    if ledger.dropped + ledger.side_output:
        return wrong("No window is short without a word, but an event is still too late for all its windows.")
    if not trace.all_firings and job.bound_ms <= SLIDING.bound_ms:
        return wrong(
            "Nothing is missed, for no window ever fires: now no watermark comes. People want to see a result."
        )
    if job.lateness_ms == 0:
        return right("Now each window waits for all of them. Its price: every first result comes that much later.")
    return right("Each window keeps its state until the last of them has come, and fires again for it.")


def rule() -> Task:
    """Task 6: build the rule of lateness."""
    return Task("Build the rule: does this window take no event any more?", _judge_rule, _RULE_HINTS)


_RULE_HINTS = (
    "A window's last millisecond is end − 1.",
    "Its state lives until the watermark reaches end − 1 + lateness.",
    "At that very watermark it is gone: compare with ≤.",
)


def _judge_rule(own: Any) -> Verdict:
    jobs = (DOOR, RADIO, SLIDING, wmviz.scenario("leaderboard"), wmviz.scenario("price-feed"))
    for job in jobs:
        ours = wmviz.simulate(job)
        try:
            theirs = run_with(own, job, "lateness")
        except AnswerError as error:
            return not_yet(str(error))
        if theirs.outcomes() != ours.outcomes() or theirs.ledger().missed != ours.ledger().missed:
            return wrong(_rule_slip(own, job))
    return right(f"The window operator ran {len(jobs)} streams on your rule, and each result is the engine's own.")


def _rule_slip(own: Callable[[int, int, int], object], job: Scenario) -> str:
    """Name the thought by asking the rule around the two boundaries of one window."""
    end_ms, lateness_ms = 120_000, 30_000
    gone_ms = end_ms - 1 + lateness_ms

    def late(end_ms: int, lateness_ms: int, watermark_ms: int) -> bool:
        return bool(called(own, "is_late", end_ms, lateness_ms, watermark_ms))

    where = f"On {job.name} the results differ. "
    if not late(end_ms, lateness_ms, gone_ms):
        if late(end_ms, lateness_ms, gone_ms + 1):
            return where + "You are one millisecond late: at the watermark end − 1 + lateness the state is gone."
        return where + "Your rule still takes events when the state is gone: at end − 1 + lateness and after."
    if late(end_ms, lateness_ms, end_ms):
        return where + "You left out the lateness: behind its first firing a window still takes events for a while."
    if late(end_ms, lateness_ms, gone_ms - 1):
        return where + "You are one millisecond early: the state lives until the watermark reaches end − 1 + lateness."
    return where + "Compare the watermark with end − 1 + lateness, and with nothing else."


ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "too-late": too_late,
    "fires-again": fires_again,
    "final-at": final_at,
    "lateness": lateness,
    "short-count": short_count,
    "rule": rule,
}
