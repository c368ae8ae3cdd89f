"""The sheet of lesson 2, watermarks. Every right answer comes from the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import wmviz
from wmviz.course.answers import read_duration
from wmviz.course.harness import run_with
from wmviz.course.judging import judge_job, judge_time, judge_watermarks
from wmviz.course.questions import Question, Task, Verdict, right, wrong
from wmviz.scenario import Scenario
from wmviz.times import MIN_MS, duration_text, time_ms, time_text

HOUR_MS = 3_600_000

PARCELS = Scenario.of(
    name="parcels",
    title="Parcels scanned in a depot",
    unit="parcels",
    bound="90 s",
    late_to="side",
    window="10 min",
    start="9:00",
    events=[
        ["gate", 1, "9:02", "9:02:10"],
        ["belt", 1, "9:04:30", "9:04:40"],
        ["gate", 1, "9:03:20", "9:05:05"],
        ["belt", 1, "9:08", "9:08:15"],
        ["gate", 1, "9:06:40", "9:08:50"],
        ["belt", 1, "9:11:10", "9:11:20"],
        ["gate", 1, "9:09:15", "9:11:45"],
        ["belt", 1, "9:13", "9:13:10"],
        ["gate", 1, "9:12:30", "9:13:20"],
    ],
)
"""Tasks 1 to 3."""

SILENT = PARCELS.replace(name="no-timer", emission="interval", interval="0 ms")
"""Task 4: the timer is off."""

POISONED = PARCELS.replace(
    name="wrong-clock",
    events=[
        ["gate", 1, "9:02", "9:02:10"],
        ["belt", 1, "9:04", "9:04:10"],
        ["gate", 1, "14:00", "9:05"],
        ["belt", 1, "9:06", "9:06:10"],
        ["gate", 1, "9:09", "9:09:10"],
        ["belt", 1, "9:12", "9:12:10"],
        ["gate", 1, "9:11", "9:13"],
        ["belt", 1, "10:30", "10:31"],
        ["gate", 1, "10:31", "10:31:30"],
    ],
)
"""Task 5: one scanner has a wrong clock."""

GIVEN = {"each-event": PARCELS, "timer": PARCELS, "least-bound": PARCELS, "no-timer": SILENT, "capped": POISONED}


def each_event() -> Task:
    """Task 1: the watermark behind five arrivals."""
    trace = wmviz.simulate(PARCELS)
    answer_ms = trace.seen_watermarks[PARCELS.events[5].id]
    less = PARCELS.bound_ms + 1
    whys = {
        answer_ms + 1: "You left out the −1 ms.",
        time_ms("9:06:40") - less: "You took the last event. An older one never moves the watermark back.",
        time_ms("9:08:50") - less: "You counted from the arrival. The server's clock plays no part.",
        time_ms("9:08"): "You forgot the bound.",
        time_ms("9:08") - 60_001: "The bound is 90 s, one and a half minutes.",
    }
    return Task(
        "A watermark follows each event. gate's 9:06:40 has just arrived. What is the watermark?",
        lambda answer: judge_time(
            answer, answer_ms, whys, f"The newest event time is 9:08; 9:08 − 90 s − 1 ms = {time_text(answer_ms)}."
        ),
        ("Which event time is the newest among the first five arrivals?", "Take off the bound, and then 1 ms."),
    )


def timer() -> Task:
    """Task 2: the same with a watermark on a timer."""
    at_ms = time_ms("9:08:55")
    trace = wmviz.simulate(PARCELS.replace(name="every-two-minutes", emission="interval", interval="2 min"))
    answer_ms = trace.state(trace.step_at(at_ms)).watermarks["window"]
    less = PARCELS.bound_ms + 1
    whys = {
        time_ms("9:08") - less: "That is right for a watermark behind each event. When did the timer last come by?",
        answer_ms + 1: "You left out the −1 ms.",
        time_ms("9:03:20") - less: "9:03:20 was the last event before the timer, but not the newest.",
        time_ms("9:08") - 1: "The timer reads no clock: the watermark follows event times.",
    }
    return Task(
        "Now the source sends a watermark every 2 min of the server's clock: 9:02, 9:04, 9:06, 9:08 … It is 9:08:55. "
        "What is the watermark of the window operator?",
        lambda answer: judge_time(
            answer,
            answer_ms,
            whys,
            f"At 9:08:00 the newest was 9:04:30; 9:08 came later. 9:04:30 − 90 s − 1 ms = {time_text(answer_ms)}.",
        ),
        ("When did the timer come by for the last time?", "Which event time was the newest at 9:08:00?"),
    )


def least_bound() -> Task:
    """Task 3: the least bound with which nothing is late."""
    return Task(
        "What is the least bound with which no event comes too late? A watermark follows each event.",
        _judge_bound,
        (
            "Which event comes behind a newer one of another window? Only such an event can be late.",
            "gate's 9:09:15 comes behind 9:11:10. Its window [9:00, 9:10) must not have fired.",
            "The watermark must stay below 9:09:59.999: 9:11:10 − bound − 1 ms < 9:09:59.999.",
        ),
    )


def _judge_bound(answer: object) -> Verdict:
    bound_ms = read_duration(answer)
    if bound_ms < 0:
        return wrong("A bound cannot be negative.")

    def loses(length_ms: int) -> bool:
        return bool(wmviz.simulate(PARCELS.replace(bound=length_ms)).outcomes().late)

    if loses(bound_ms):
        if not loses(bound_ms + 1):
            return wrong("One millisecond short: the watermark is then exactly at the last millisecond of the window.")
        return wrong(f"With {duration_text(bound_ms)} gate's 9:09:15 is too late: its window has fired before.")
    if bound_ms and not loses(bound_ms - 1):
        lag_ms = max(e.arrival_time_ms - e.event_time_ms for e in PARCELS.events)
        if bound_ms == lag_ms:
            return wrong("That is the longest way to the server. The bound is not measured by the server's clock.")
        if bound_ms == time_ms("9:11:10") - time_ms("9:09:15"):
            return wrong(
                "So far is it behind the newest event. But its window waits until 9:09:59.999: less is enough."
            )
        return wrong("Nothing is late then, but a shorter bound does it, too.")
    return right("9:11:10 − 70.001 s − 1 ms = 9:09:59.998: one millisecond below the last one of [9:00, 9:10).")


def no_timer() -> Task:
    """Task 4: mend a job whose timer is off."""
    return Task(
        "Mend the job so that it fires.",
        lambda job: judge_job(job, SILENT, "no watermark is ever sent.", _judge_no_timer),
        _TIMER_HINTS,
    )


_TIMER_HINTS = (
    "The events and the strategy are right. When is the generator asked for a watermark?",
    "Look at the interval: it is pipeline.auto-watermark-interval. What does 0 mean?",
)


def _judge_no_timer(job: Scenario) -> Verdict:
    if job.events != SILENT.events or (job.window.time == "event" and job.window != SILENT.window):
        return wrong("The events and the windows were not the fault.")
    if job.window.time == "processing":
        return wrong(
            "It fires by the server's clock now: a parcel counts for the time at which the news of it arrived."
        )
    if job.end_of_input_ms is not None:
        return wrong("It fires now because the input ends. The depot goes on, and you want results before that.")
    trace = wmviz.simulate(job)
    if not trace.all_firings and max(trace.seen_watermarks.values()) > MIN_MS:
        return wrong("Watermarks are sent now. But none reaches the end of a window: look at your other changes.")
    if not trace.all_firings and (job.emission == "event" or job.interval_ms):
        return wrong("The generator is asked now. But no watermark comes through: look at your other changes.")
    if not trace.all_firings:
        return wrong("Still no watermark is ever sent. An interval of 0 does not mean all the time: it means never.")
    if job.emission == "event":
        return right("A watermark follows each event now. That is exact, and costs a message an event.")
    return right("The timer comes by again, and asks the generator for a watermark.")


class Capped:
    """The generator of task 5: a bounded one that takes no leap of more than an hour."""

    def __init__(self, bound_ms: int) -> None:
        self.bound_ms, self.newest_ms = bound_ms, MIN_MS

    def on_event(self, timestamp_ms: int) -> None:
        """Take note of an event, unless it is too far ahead."""
        if self.newest_ms == MIN_MS or timestamp_ms <= self.newest_ms + HOUR_MS:
            self.newest_ms = max(self.newest_ms, timestamp_ms)

    def on_periodic_emit(self) -> int:
        """Give the watermark."""
        return self.newest_ms - self.bound_ms - 1


def capped() -> Task:
    """Task 5: build a generator that a wrong clock cannot poison."""
    return Task("Build the generator that takes no leap of more than an hour.", _judge_capped, _CAPPED_HINTS)


_CAPPED_HINTS = (
    "Start as the bounded generator does: remember the newest event time.",
    "An event that is more than an hour newer than the newest one changes nothing.",
    "The first event of all has nothing to be compared with: take it as it is.",
)


def _judge_capped(maker: Any) -> Verdict:
    exactly = POISONED.replace(
        name="an-hour-ahead",
        events=[["gate", 1, "9:00", "9:00:10"], ["belt", 1, "10:00", "10:00:10"], ["gate", 1, "9:59", "10:00:20"]],
    )
    older = POISONED.replace(
        name="from-the-newest",
        events=[
            ["gate", 1, "9:00", "9:00:10"],
            ["belt", 1, "9:50", "9:50:10"],
            ["gate", 1, "9:10", "9:50:20"],
            ["belt", 1, "10:20", "10:20:10"],
            ["gate", 1, "10:21", "10:21:10"],
        ],
    )
    # The emitter lets no watermark go back, so only a timer shows whether the newest time is really kept.
    on_a_timer = older.replace(name="from-the-newest-on-a-timer", emission="interval", interval="1 min")
    return judge_watermarks(
        maker,
        (PARCELS, POISONED, exactly, older, on_a_timer),
        "generator",
        _capped_slip,
        otherwise="Does your class keep state outside of itself?",
        because="One scanner with a wrong clock no longer stops the depot, and honest scanners are followed as before.",
        due=lambda job: run_with(Capped, job),
    )


def _capped_slip(job: Scenario, event_id: str, got_ms: int, due_ms: int) -> str:
    if job is PARCELS:
        return "Without a leap your generator must do what the bounded one does: newest − bound − 1 ms."
    if got_ms > due_ms:
        return "A leap of more than an hour was followed."
    if job.name == "an-hour-ahead":
        return "Exactly an hour is not more than an hour: that event counts."
    return "An event that is not too far ahead was left out, or the newest time went back."


ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "each-event": each_event,
    "timer": timer,
    "least-bound": least_bound,
    "no-timer": no_timer,
    "capped": capped,
}
