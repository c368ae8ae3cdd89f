"""Lesson 17, at work: its questions. Right answers come from the engine, and from a recorded run of Flink for uids."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import wmviz
from wmviz.course.answers import read_number, read_time
from wmviz.course.questions import Choice, Question, Task, Verdict, right, wrong
from wmviz.flink.resume import recorded_run
from wmviz.scenario import Scenario
from wmviz.times import MIN_MS, time_ms, time_text
from wmviz.trace import Kind, Trace

LIMIT_MS = time_ms("0:30")
STOP = {"what": "stop", "at": "7:02", "down": "1 min"}


def resumed_with(**changes: str) -> Scenario:
    """Give the lesson's scenario, resumed with these changes; without any, as it was."""
    stop = {**STOP, "with": changes} if changes else STOP
    name = "-".join(["resumed", *(f"{field}-{value}" for field, value in changes.items())]).replace(" ", "")
    return wmviz.scenario("new-lateness").replace(name=name, happenings=[stop])


def total(trace: Trace, key: str) -> int:
    """Give what a runner's 6 am window has in the sink in the end."""
    return int(trace.totals[key, time_ms("6:00"), time_ms("7:00")])


def first_fired_ms(trace: Trace, key: str) -> int:
    """Say when a runner's 6 am window fires first."""
    return next(f.at_ms for f in trace.all_firings if f.key == key and f.window.end_ms == time_ms("7:00"))


def steady(interval: str) -> Scenario:
    """Make a job that gets an event every 10 s, takes checkpoints at an interval, and crashes at 7:09:56."""
    events = [
        ["r9", 100, f"{at // 60}:{at % 60:02}:{second:02}"]
        for at in range(time_ms("7:00") // 60_000, time_ms("7:12") // 60_000)
        for second in range(5, 60, 10)
    ]
    return wmviz.scenario("crash-and-replay").replace(
        name=f"every-{interval.replace(' ', '-')}",
        events=events,
        start="7:00",
        checkpoints={"interval": interval},
        happenings=[{"what": "crash", "at": "7:09:56", "down": "20 s"}],
    )


def read_again(trace: Trace) -> int:
    """Count the events that were read a second time."""
    return sum(record.kind == Kind.ARRIVED for record in trace) - len(trace.scenario.events)


def rings_ms(trace: Trace, limit_ms: int = LIMIT_MS) -> int | None:
    """Say when an alert rings that compares the window's watermark with the clock; None if it never does.

    Parameters
    ----------
    limit_ms
        It rings when the watermark is further behind than that, at the end of the events at the latest.
    """
    rises = [(r.at_ms, r.value) for r in trace if r.kind == Kind.WATERMARK and r.subject == "window"]
    ends = [at_ms for at_ms, _ in rises[1:]] + [trace.step_at_ms[-1]]
    for (at_ms, watermark_ms), end_ms in zip(rises, ends, strict=True):
        due_ms = max(at_ms, watermark_ms + limit_ms + 1)
        if watermark_ms != MIN_MS and due_ms <= end_ms:
            return due_ms
    return None


# Questions ---------------------------------------------------------------------------------------------------------


def late() -> Question:
    """Ask what becomes of a late event whose window was in the savepoint, with another lateness."""
    trace = wmviz.simulate(wmviz.scenario("new-lateness"))
    answer = "side" if trace.outcomes().late else f"{total(trace, 'r7')}"
    return Question(
        "The job has no allowed lateness. At 7:02 it is stopped with a savepoint, which holds r7's 6 am window with "
        "1,000 m. It is resumed with 20 min of allowed lateness. At 7:13:05 the window fires. At 7:14 r7's 500 m of "
        "6:57 arrive. What is r7's 6 am total in the end?",
        (
            Choice("500", "500 m: the window begins anew", "Its state is in the savepoint, and the window has it."),
            Choice(
                "side",
                "1,000 m: the window was made without lateness, so the 500 m go to the side output",
                "The state does not keep the lateness. The code that runs now decides.",
            ),
            Choice("1500", "1,500 m", "State of before, lateness of now: the window fires again, with all of it."),
        ),
        answer,
    )


def first() -> Question:
    """Ask which watermark the first event meets after the resume."""
    trace = wmviz.simulate(wmviz.scenario("new-lateness"))
    return Question(
        "Before the stop the watermark is 6:58:59.999. The first event after the resume is r4471's of 6:56. Which "
        "watermark does it meet at the window operator?",
        (
            Choice(time_ms("6:59") - 1, "6:58:59.999, as before", "A savepoint holds state and offsets, no watermark."),
            Choice(MIN_MS, "None at all", "Every watermark begins at its start, before all times."),
            Choice(
                time_ms("6:54") - 1,
                "6:53:59.999, which is 6:56 minus the bound",
                "That is the watermark behind it. It meets the one before it.",
            ),
        ),
        trace.outcomes().seen_watermarks["r4471@6:56"],
    )


def uid() -> Question:
    """Ask what a new uid of the window operator does."""
    scenario = wmviz.scenario("new-lateness")
    refused, lost = (recorded_run(scenario, new_uid=True, drop_state=drop) for drop in (False, True))
    assert refused is not None
    assert lost is not None
    answer = ("refused" if refused.refused else "goes on", "lost" if not lost.carried else "kept")
    return Question(
        "You give the window operator another uid and resume from the savepoint. What does Flink do?",
        (
            Choice(
                ("goes on", "kept"),
                "It finds the state by the name or the place of the operator",
                "It finds state by the uid, and by nothing else.",
            ),
            Choice(
                ("goes on", "lost"),
                "It starts with empty windows, without a word",
                "It does so only if you tell it that state may be left behind.",
            ),
            Choice(
                ("refused", "lost"),
                "It does not start. Told to leave state behind, it starts with empty windows",
                "So nobody loses state without having said so.",
            ),
        ),
        answer,
    )


def forever() -> Question:
    """Ask which 6 am window keeps its state."""
    trace = wmviz.simulate(wmviz.scenario("new-lateness"))
    kept = {w.key for w in trace.state(trace.steps - 1).windows if w.window.end_ms == time_ms("7:00")}
    (answer,) = kept
    return Question(
        "At the end the watermark is 7:21:59.999, past 6:59:59.999 + 20 min. One of the 6 am windows still has its "
        "state. Whose?",
        (
            Choice("r4471", "r4471's", "It got an event after the resume, and with it a timer for the new lateness."),
            Choice("r7", "r7's", "Its late 500 m set a timer for the new lateness."),
            Choice(
                "r9", "r9's", "It got no event after the resume. The timer that it has is the one of the old lateness."
            ),
        ),
        answer,
    )


def alert() -> Task:
    """Ask when an alert on the watermark rings."""
    trace = wmviz.simulate(wmviz.scenario("quiet-partition"))
    answer_ms = rings_ms(trace)
    assert answer_ms is not None
    whys = {
        time_ms("6:50"): "You counted from 6:20, the last event of the quiet partition. Its watermark is behind that.",
        time_ms("6:20") + LIMIT_MS: "You counted from 6:20, the last event. Its watermark is behind that.",
        time_ms("7:00:10"): "You counted from 6:30:10, when the watermark rose last. Count from the watermark itself.",
        time_ms("7:03:10"): "That is when the 6 am windows are due. The alert rings earlier.",
    }

    def judge(got: object) -> Verdict:
        got_ms = read_time(got)
        if got_ms in (answer_ms, answer_ms - 1):
            return right(f"The watermark stands at 6:17:59.999. The clock is 30 min past it at {time_text(answer_ms)}.")
        return wrong(whys.get(got_ms, "Where does the watermark stand still? From there, count 30 min."))

    return Task(
        "quiet-partition: an alert rings when the window's watermark is more than 30 min behind the clock. When?",
        judge,
        (
            "Partition 1 sends its last event, 6:20, and then nothing. Where does the watermark stop?",
            "6:20 minus the bound of 2 min, minus 1 ms. Add 30 min.",
        ),
    )


def counter() -> Question:
    """Ask which numbers tell of a stuck watermark."""
    trace = wmviz.simulate(wmviz.scenario("quiet-partition"))
    outcomes = trace.outcomes()
    answer = "lag" if rings_ms(trace) and not outcomes.dropped and not outcomes.late else "both"
    return Question(
        "In quiet-partition no window fires. Which alert tells you?",
        (
            Choice("dropped", "numLateRecordsDropped rises", "Nothing is late at a watermark that stands still."),
            Choice(
                "lag", "The window's watermark falls behind the clock", "It is the only one of the three that moves."
            ),
            Choice("both", "Both", "For the counter to rise, an event must be behind the watermark."),
            Choice("restarts", "The job restarts", "It runs, and knows of no error."),
        ),
        answer,
    )


def interval() -> Question:
    """Ask what a longer checkpoint interval costs after a crash."""
    again = [read_again(wmviz.simulate(steady(text))) for text in ("20 s", "1 min")]
    return Question(
        "A job gets an event every 10 s. It crashes at 7:09:56. How many events are read again with a checkpoint every "
        "20 s, and with one every minute? (The first is due one interval after 7:00.)",
        (
            Choice((0, 0), "None: the state is in the checkpoint", "What came after the last one is not in it."),
            Choice(
                (2, 6),
                "2 and 6",
                "Since 7:09:40 those of 7:09:45 and 7:09:55; since 7:09 the six of a minute.",
            ),
            Choice((1, 1), "1 and 1: only the one that was being worked on", "All that came since the checkpoint."),
            Choice((6, 2), "6 and 2", "The longer the interval, the more there is to read again."),
        ),
        (again[0], again[1]),
    )


def batch() -> Task:
    """Ask how many events are late for a job that waits for the whole day."""
    leaderboard = wmviz.scenario("leaderboard")
    answer = len(wmviz.simulate(leaderboard.replace(bound="24 h")).outcomes().late)
    stream = len(wmviz.simulate(leaderboard).outcomes().late)

    def judge(got: object) -> Verdict:
        number = read_number(got)
        if number == answer:
            return right("At night all of it is there. Nothing is late, and nothing was early either.")
        if number == stream:
            return wrong("That is the job with a bound of 2 min and 20 min of lateness. This one waits for all.")
        return wrong("Late means behind the watermark. Where is the watermark while the events of the day come in?")

    return Task(
        "leaderboard, but the job waits for the whole day, as a nightly batch does: how many events are in its side "
        "output?",
        judge,
        (
            'Run it: wmviz.simulate(wmviz.scenario("leaderboard").replace(bound="24 h")).',
            "With a bound of 24 h the watermark is a day behind, so no window has fired when the last event comes.",
        ),
    )


GIVEN: Mapping[str, Any] = {}
ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "late": late,
    "first": first,
    "uid": uid,
    "forever": forever,
    "alert": alert,
    "counter": counter,
    "interval": interval,
    "batch": batch,
}
