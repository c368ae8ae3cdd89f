"""The sheet of lesson 10, checkpoints and barriers. Every right answer comes from the engine."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import wmviz
from wmviz.course.answers import AnswerError
from wmviz.course.harness import run_with
from wmviz.course.judging import judge_duration, judge_job, judge_names
from wmviz.course.own_code import called, made
from wmviz.course.questions import Question, Task, Verdict, not_yet, right, wrong
from wmviz.scenario import Scenario
from wmviz.times import time_ms
from wmviz.trace import CheckpointPhase, Kind, Trace

ON_FLINK = json.loads(Path(__file__).with_name("barriers_on_flink.json").read_text(encoding="utf-8"))["cases"]
"""What Flink's own handler asked for at barriers of aligned checkpoints, recorded; a test asks Flink again."""

TILLS = Scenario.of(
    name="two-tills",
    title="Two tills of a shop",
    unit="items",
    bound="5 s",
    emission="interval",
    interval="10 s",
    window="1 min",
    start="10:00:00",
    partitions=2,
    subtasks=2,
    work="2 s",
    checkpoints={"interval": "1 min", "first": "5 s"},
    events=[
        ["left", 2, "9:59:58", "10:00:00.100", 0],
        ["right", 3, "9:59:58", "10:00:00.200", 1],
        ["left", 1, "9:59:59", "10:00:01", 0],
        ["left", 4, "10:00:00", "10:00:02", 0],
        ["left", 2, "10:00:02", "10:00:03", 0],
        ["right", 5, "10:00:03", "10:00:04", 1],
        ["right", 1, "10:00:06", "10:00:07", 1],
        ["left", 3, "10:00:07", "10:00:08", 0],
        ["right", 2, "10:00:11", "10:00:12", 1],
        ["left", 1, "10:01:10", "10:01:11", 0],
        ["right", 1, "10:01:12", "10:01:13", 1],
    ],
)
"""Tasks 1 and 2: a slow operator, and a barrier that comes by one channel before the other."""

LAX = TILLS.replace(
    name="at-least-once-tills",
    checkpoints={"mode": "at_least_once"},
    happenings=[{"what": "crash", "at": "10:00:30"}],
)
"""Task 3: nobody waits, and the job crashes once the checkpoint is complete."""

HASTY = TILLS.replace(name="short-timeout", checkpoints={"timeout": "5 s"})
"""Task 4: a checkpoint takes longer than it may."""

GIVEN = {"snapshot": TILLS, "blocked": TILLS, "counted-twice": LAX, "short-timeout": HASTY}


def snapshot() -> Task:
    """Task 1: what the window operator has in its snapshot."""
    stored = frozenset(_stored(wmviz.simulate(TILLS)))
    whys = {
        "right@10:00:06": "right's 10:00:06 is behind the barrier of its channel: it belongs to the next checkpoint.",
        "left@10:00:07": "left's 10:00:07 is behind the barrier of its channel: it belongs to the next checkpoint.",
        "left@10:00:02": "left's 10:00:02 is in front of its channel's barrier, however late the operator takes it.",
        "left@10:00": "left's 10:00 was sent before the barrier, so it is in front of it.",
        "right@10:00:03": "right's 10:00:03 was sent before the barrier, so it is in front of it.",
    }
    return Task(
        "Which events are in the window operator's snapshot for checkpoint 1?",
        lambda answer: judge_names(
            answer,
            stored,
            whys,
            "All that was sent in front of the barriers of 10:00:05, and nothing that was sent behind them.",
        ),
        (
            "The sources send their barriers at 10:00:05. Which events had they sent by then?",
            "A barrier stays in line with the events. The operator takes its snapshot when both are there.",
        ),
    )


def _stored(trace: Trace) -> list[str]:
    """Name the events that no restart from checkpoint 1 would have to read again."""
    crash = {"what": "crash", "at": "10:00:13"}
    rows = wmviz.simulate(trace.scenario.replace(happenings=[crash]))
    again = {getattr(row.subject, "id", "") for row in rows if row.kind is Kind.REWOUND}
    return [e.id for e in trace.scenario.events if e.arrival_time_ms < time_ms("10:00:13") and e.id not in again]


def blocked() -> Task:
    """Task 2: for how long a channel is blocked."""
    gates = [r for r in wmviz.simulate(TILLS) if r.kind is Kind.BLOCKED and r.subject == "source[1] → window"]
    begins, ends = (row.at_ms for row in gates[:2])  # value 1: checkpoint 1 blocks it; value 0: it goes on
    whys = {
        0: "Its barrier comes first. Until the other one is there, nothing is taken from it.",
        7100: "That is how long the checkpoint takes. A channel is blocked once its own barrier is at the front.",
        4000: "While the operator waits for the other barrier, it takes one event of the left channel, not two.",
    }
    return Task(
        "For how long is the channel of the right till blocked?",
        lambda answer: judge_duration(
            answer,
            ends - begins,
            whys,
            "Its barrier is taken at 10:00:10.100. left's 10:00:02 is still in front of the other one: 2 s of work.",
        ),
        (
            "The operator takes the channels in turn, 2 s an event: left at 0.1 s, right at 2.1 s, left at 4.1 s …",
            "A barrier takes no time, and the turn goes on with what is next.",
            "Write down what it takes at 6.1 s, 8.1 s, 10.1 s and 12.1 s.",
        ),
    )


def twice() -> Task:
    """Task 3: what counts twice with at-least-once."""
    trace = wmviz.simulate(LAX)
    names = frozenset(e for f in trace.all_firings for e, n in Counter(f.event_ids).items() if n > 1)
    whys = {
        "right@10:00:06": "right's 10:00:06 is behind its barrier, and is taken before the other barrier is there.",
        "left@10:00:02": "left's 10:00:02 is in front of its barrier: its source does not read it again.",
        "left@10:00:07": "left's 10:00:07 is behind the last barrier: it is not in the snapshot.",
        "right@10:00:11": "right's 10:00:11 is taken after the snapshot.",
    }
    return Task(
        "Which events count twice in the end?",
        lambda answer: judge_names(
            answer,
            names,
            whys,
            "It is behind the barrier of its channel, so its source reads it again; and the snapshot has it already.",
        ),
        (
            "In this mode the operator goes on taking events of a channel whose barrier has come.",
            "Which events behind a barrier does it take before the last barrier is there? The snapshot has them.",
        ),
    )


def short_timeout() -> Task:
    """Task 4: mend a job whose checkpoint never completes."""
    too_long = "checkpoint 1 takes longer than 5 s, and that fails the job."
    return Task(
        "Mend the job so that its first checkpoint completes.",
        lambda job: judge_job(job, HASTY, too_long, _judge_short_timeout),
        _TIMEOUT_HINTS,
    )


_TIMEOUT_HINTS = (
    "How long does the barrier need to get through the channel of the left till? Count the events in front of it.",
    "Either the checkpoint may take longer, or its barrier must not wait behind the events.",
)


def _judge_short_timeout(job: Scenario) -> Verdict:
    if job.events != HASTY.events or job.work_ms != HASTY.work_ms:
        return wrong("The events and the work for each of them are what they are. Change the checkpoints.")
    if job.checkpoints is None:
        return wrong("Without checkpoints no checkpoint fails. But after a crash everything is gone, too.")
    trace = wmviz.simulate(job)
    first = [r.value for r in trace if r.kind is Kind.CHECKPOINT and getattr(r.subject, "id", 0) == 1]
    if CheckpointPhase.COMPLETED in first:
        if job.checkpoints.mode == "at_least_once":
            return wrong("It completes, but in another mode: after a crash events may count twice.")
        if job.checkpoints.first_ms != TILLS.checkpoints.first_ms:  # type: ignore[union-attr]
            return wrong("You only chose a quieter moment. With full channels it fails as before.")
        if job.checkpoints.mode == "unaligned":
            return right("The barriers overtake the events that wait; those become part of the checkpoint.")
        return right("Now it may take as long as its barrier needs. A restart goes back further meanwhile.")
    if job.checkpoints.tolerable_failures:
        return wrong("The job lives on, but checkpoint 1 still fails: with channels full for long, none completes.")
    if job.checkpoints.mode == "at_least_once":
        return wrong("Nobody is blocked in this mode, and still each barrier waits behind the events in front of it.")
    return wrong("Checkpoint 1 still takes longer than its timeout.")


def handler() -> Task:
    """Task 5: build the barrier handler."""
    return Task("Build the barrier handler of an aligned checkpoint.", _judge_handler, _HANDLER_HINTS)


_HANDLER_HINTS = (
    "Remember which checkpoint you wait for, and from which channels its barrier has come.",
    'As long as one is missing: "block". When the last one comes: "snapshot". The next checkpoint begins anew.',
    'A higher id begins anew, too, in the middle of a wait. A lower id comes too late: "pass".',
)


def _judge_handler(maker: Any) -> Verdict:
    jobs = (TILLS, TILLS.replace(happenings=[{"what": "crash", "at": "10:00:30"}]), wmviz.scenario("barrier-alignment"))
    for job in jobs:
        ours = wmviz.simulate(job)
        try:
            theirs = run_with(maker, job, "barriers")
        except AnswerError as error:
            return not_yet(str(error))
        if _completed(theirs) != _completed(ours):
            return wrong(_handler_slip(job, ours, theirs))
        if theirs.outcomes() != ours.outcomes():
            return wrong(
                f"On {job.name} the checkpoints complete, but after the crash the totals differ: who was blocked?"
            )
    try:
        slip = _flink_slip(maker)
    except AnswerError as error:
        return not_yet(str(error))
    if slip:
        return wrong(slip)
    return right(
        f"{len(jobs)} jobs ran with your handler: same checkpoints, same totals, also after a crash. And to each of "
        f"{sum(len(case['barriers']) for case in ON_FLINK)} barriers it says what Flink's own handler says."
    )


def _flink_slip(maker: Any) -> str | None:
    """Ask the learner's handler what Flink's was asked, and say where it answers something else."""
    for case in ON_FLINK:
        own = made(maker, case["channels"], "on_barrier")
        newest = 0
        for (channel, number), due in zip(case["barriers"], case["asked"], strict=True):
            answer = called(own.on_barrier, "on_barrier", channel, number)
            if answer != due:
                return (
                    f"With {case['channels']} channels, at the barrier of checkpoint {number} on channel {channel}, "
                    f'Flink\'s own handler wants "{due}", and yours {answer!r}. {_thought(number, newest, due, answer)}'
                )
            newest = max(newest, number)
    return None


def _thought(number: int, newest: int, due: str, answer: object) -> str:
    """Name the thought behind a wrong answer to a barrier, given the highest id before it."""
    if number < newest:
        return (
            f"Checkpoint {newest} has begun before, so checkpoint {number} is given up, and its barrier is an old one: "
            "nobody waits for it, and nobody counts it."
        )
    if number > newest and answer == "pass":
        return f"The checkpoint before it will never be complete: checkpoint {number} takes its place at once."
    if due == "block" and answer == "snapshot":
        return "Only barriers with the same id belong together: those of another checkpoint do not count."
    if due == "snapshot":
        return f"All barriers of checkpoint {number} are there now. Those with another id play no part."
    return "Its channel must wait until the barriers of all channels are there."


def _completed(trace: Trace) -> list[tuple[int, int]]:
    """Give the checkpoints that were complete, each with its time."""
    rows = (r for r in trace if r.kind is Kind.CHECKPOINT and r.value == CheckpointPhase.COMPLETED)
    return [(getattr(r.subject, "id", 0), r.at_ms) for r in rows]


def _handler_slip(job: Scenario, ours: Trace, theirs: Trace) -> str:
    due, got = dict(_completed(ours)), dict(_completed(theirs))
    first = min(n for n in {*due, *got} if due.get(n) != got.get(n))
    where = f"On {job.name}, checkpoint {first} "
    if first not in got:
        return (
            where + "never completes: is the snapshot taken when the last barrier is there, for each checkpoint anew?"
        )
    if first not in due or got[first] < due[first]:
        return where + "is complete too early: the snapshot is taken before every channel's barrier is there."
    return where + "is complete too late: was an event taken from a channel whose barrier had come?"


ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "snapshot": snapshot,
    "blocked": blocked,
    "counted-twice": twice,
    "short-timeout": short_timeout,
    "handler": handler,
}
