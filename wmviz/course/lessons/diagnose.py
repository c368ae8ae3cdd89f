"""Lesson 15, diagnose a silent or lossy job: its questions. Answers come from the engine and from recorded jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import wmviz
from wmviz.course.answers import read_duration
from wmviz.course.questions import Choice, Question, Task, Verdict, right, wrong
from wmviz.flink.broken import broken_job
from wmviz.scenario import Scenario
from wmviz.times import duration_text, time_text

CASES = {"case-a": "bound-too-large", "case-b": "quiet-partition", "case-c": "wrong-timestamps"}
"""What the drill shows without its name → the job that it is."""
HEALTHY = "healthy"


def _rows(job: str) -> list[dict[str, Any]]:
    """Give what REST told of a recorded job, a row for each subtask and split."""
    return broken_job(job).recorded().rows


GIVEN: Mapping[str, Any] = {name: _rows(job) for name, job in CASES.items()}

WINDOW_MS = 300_000


def holder() -> Question:
    """Ask for the watermark of a window operator behind a silent partition."""
    trace = wmviz.simulate(wmviz.scenario("quiet-partition"))
    marks = trace.state(trace.steps - 1).watermarks
    low, high = marks["partition 1"], marks["partition 0"]
    return Question(
        f"The source reads two partitions. The watermark of partition 0 is {time_text(high)} and moves; that of "
        f"partition 1 is {time_text(low)} and stands still. What is the watermark of the window operator?",
        (
            Choice(
                high, time_text(high), "That is the newest. Then r9's events, if they came, would all be behind it."
            ),
            Choice(
                (low + high) // 2,
                f"{time_text((low + high) // 2)}, half way",
                "A watermark promises something. An average of two promises is kept by nobody.",
            ),
            Choice(low, time_text(low), "The minimum counts. It stands still, and no window fires any more."),
            Choice(
                None, "It has none", "Every partition has sent events, so there is a minimum. It only stands still."
            ),
        ),
        answer=marks["window"],
    )


def backpressured() -> Question:
    """Ask what backpressure does to the results."""
    slow = wmviz.scenario("backpressure")
    quick = slow.replace(work="0 ms", channel_capacity=0)
    traces = wmviz.simulate(slow), wmviz.simulate(quick)
    same = traces[0].totals == traces[1].totals
    first = [min(firing.at_ms for firing in trace.all_firings) for trace in traces]
    return Question(
        "The sources are backpressured 950 ms of each second, the task with the windows is busy 1,000 ms. What is "
        "wrong with the results?",
        (
            Choice((True, True), "They come late, and all of them come", "Events wait in front of the busy task."),
            Choice(
                (False, True),
                "They come late, and some are lost",
                "What waits in a channel is not lost, and watermarks wait there too, in the same order.",
            ),
            Choice(
                (True, False),
                "Nothing: backpressure is normal",
                "A watermark cannot overtake the events in front of it, so it arrives late.",
            ),
        ),
        answer=(same, first[0] > first[1]),
    )


NAMES = {
    "idle-partition": (
        "A partition that fell silent",
        "A source subtask that stands still is not enough: then the windows would stand at its value. Do they?",
    ),
    "more-subtasks-than-partitions": (
        "A source subtask without a partition",
        "Then a subtask has read 0 records and has no split, and the windows have no watermark at all.",
    ),
    "wrong-timestamps": (
        "Wrong timestamps",
        "The watermark is decades behind the clock, and in seconds of the clock it moves by milliseconds.",
    ),
    "bound-too-large": (
        "A bound that is too large",
        "Every watermark moves as fast as the clock, and all trail it by the same 10 minutes.",
    ),
    HEALTHY: (
        "None: the job is healthy",
        "Partition 1 is silent, and the windows move on without it: it is idle, and nobody waits for it.",
    ),
    "bound-too-small": ("A bound that is too small", "Then numLateRecordsDropped rises. Look at the column dropped."),
}


def _case(name: str) -> Callable[[], Question]:
    def ask() -> Question:
        """Ask for the cause of a job of the drill."""
        choices = tuple(Choice(cause, text, why) for cause, (text, why) in NAMES.items())
        causes = broken_job(CASES[name]).recorded().causes
        return Question(f"Case {name[-1].upper()}: which cause is it?", choices, causes[0].name if causes else HEALTHY)

    return ask


def counter() -> Question:
    """Ask what the counter says where there is a side output."""
    leaderboard = wmviz.scenario("leaderboard")
    found = {how: wmviz.simulate(leaderboard.replace(late_to=how)).dropped_count for how in ("side", "drop")}
    return Question(
        "The totals are too small, and numLateRecordsDropped is 0. Which of these can still be the cause?",
        (
            Choice(
                (0, 0),
                "None: without dropped records nothing is late",
                "The counter counts one thing only: records that the window operator threw away.",
            ),
            Choice(
                (0, 1),
                "Late events go to a side output that nobody reads",
                "With a side output the counter stays at 0: the operator hands late records on, and counts nothing.",
            ),
            Choice(
                (1, 1),
                "The bound is too small, and there is no side output",
                "Then the late records are dropped, and the counter rises.",
            ),
        ),
        answer=(found["side"], found["drop"]),
    )


def _fires(newest: int) -> bool:
    """Whether a 5-minute window has fired once an event of this time has come; bound 0."""
    rows = [["r9", 1000, 0, 0], ["r9", 1000, newest, newest]]
    return bool(wmviz.simulate(Scenario.of(name="unit", bound="0 ms", window=WINDOW_MS, events=rows)).all_firings)


def seconds() -> Task:
    """Ask how long a window waits when seconds are taken for milliseconds."""
    newest = min(ms for ms in range(WINDOW_MS - 2, WINDOW_MS + 3) if _fires(ms))
    answer_ms = newest * 1000  # the newest event carries so many seconds
    whys = {
        WINDOW_MS: "That is the window's length if the times were milliseconds. Each second counts as one of them.",
        WINDOW_MS // 1000: "You divided by 1,000. Event time crawls here: it takes 1,000 times longer, not less.",
    }

    def judge(answer: object) -> Verdict:
        given = read_duration(answer)
        if given == answer_ms:
            return right(f"5 min × 1,000 is {duration_text(answer_ms)}, about 3.5 days, and no error is shown.")
        if given in whys:
            return wrong(whys[given])
        near = abs(given - answer_ms) <= 3_600_000
        return wrong("Near. Work it out to the minute." if near else "In 1 s of the clock, event time moves by 1 ms.")

    return Task(
        "The assigner gives seconds since 1970 where Flink expects milliseconds. A window is 5 min long, the bound is "
        "0. How long must events come until the first whole window fires?",
        judge,
        ("In 1 s of the clock the watermark moves by 1 ms.", "5 min are 300,000 ms. Each takes 1 s of the clock."),
    )


ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "holder": holder,
    "backpressured": backpressured,
    "case-a": _case("case-a"),
    "case-b": _case("case-b"),
    "case-c": _case("case-c"),
    "counter": counter,
    "seconds": seconds,
}
