"""Lesson 10, checkpoints and barriers: its questions. Every right answer comes from the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import wmviz
from wmviz.course.answers import read_number, read_time
from wmviz.course.questions import Choice, Question, Task, Verdict, right, wrong
from wmviz.times import MIN_MS, time_ms, time_text
from wmviz.trace import CheckpointPhase, Kind, Trace


class Contents(NamedTuple):
    """What the first checkpoint of a run holds, and how long it took.

    Attributes
    ----------
    read
        Events that the sources say they have read.
    counted
        Events in the windows.
    stored
        Elements that waited in channels and are part of the checkpoint.
    blocked_ms
        For how long in all a channel was blocked.
    started_ms, complete_ms
        When it started and when it was complete; None if it never was.
    """

    read: int
    counted: int
    stored: int
    blocked_ms: int
    started_ms: int
    complete_ms: int | None


def contents(trace: Trace) -> Contents:
    """Say what checkpoint 1 of a run holds."""
    read = counted = stored = blocked_ms = 0
    blocked_since: dict[Any, int] = {}
    times: dict[int, int] = {}
    for record in trace:
        detail: Any = trace.details.get(record.row)
        if record.kind == Kind.SNAPSHOT and record.value == 1:
            read += sum(detail.offsets.values())
            counted += detail.events
        elif record.kind == Kind.STORED and record.value == 1:
            stored += sum(len(elements) for elements in detail.values())
        elif record.kind == Kind.BLOCKED and record.value == 1:
            blocked_since[record.subject] = record.at_ms
        elif record.kind == Kind.BLOCKED and record.value == 0 and record.subject in blocked_since:
            blocked_ms += record.at_ms - blocked_since.pop(record.subject)
        elif record.kind == Kind.CHECKPOINT and trace.checkpoints[trace.subject[record.row]].id == 1:
            times[record.value] = record.at_ms
    started_ms = times[CheckpointPhase.STARTED]
    return Contents(read, counted, stored, blocked_ms, started_ms, times.get(CheckpointPhase.COMPLETED))


def counted_before_snapshot(trace: Trace, event_id: str) -> bool:
    """Say whether a window took in an event before checkpoint 1 took its state."""
    for record in trace:
        if record.kind == Kind.SNAPSHOT and record.value == 1 and record.place == "window":
            return False
        if record.kind == Kind.ADDED and trace.event_ids([trace.event_of(record.row)]) == (event_id,):
            return True
    return False


# Questions ---------------------------------------------------------------------------------------------------------


def in_the_checkpoint() -> Question:
    """Ask whether an event behind a barrier is in the checkpoint of that barrier."""
    trace = wmviz.simulate(wmviz.scenario("barrier-alignment"))
    answer = "in" if counted_before_snapshot(trace, "r9@6:59:55") else "lost" if trace.ledger().lost else "waits"
    return Question(
        "Barrier 1 of source[1] is at the window operator at 7:00:04, that of source[0] only at 7:00:06. In between, "
        "at 7:00:04.5, source[1] sends one more kilometre of r9. Is it part of checkpoint 1?",
        (
            Choice(
                "in",
                "Yes: it arrives before the state is stored at 7:00:06",
                "Then the state would have it, but source[1] has stored that it read 1 event: after a crash it reads "
                "the second one again, and it counts twice.",
            ),
            Choice(
                "lost",
                "No, and it is lost: nothing may come between the two barriers",
                "Nothing is lost. What comes too early for the next part of the stream has to wait.",
            ),
            Choice(
                "waits",
                "No: it stands behind barrier 1 of its channel, and waits until the state is stored",
                "The channel of source[1] is blocked from 7:00:04 to 7:00:06. Then the kilometre is counted; it "
                "belongs to checkpoint 2.",
            ),
        ),
        answer,
    )


def not_in_it() -> Question:
    """Ask what a checkpoint does not hold."""
    trace = wmviz.simulate(wmviz.scenario("crash-and-replay"))
    step = trace.step[next(record.row for record in trace if record.kind == Kind.RELOADED)]
    state = trace.state(step)
    has = {
        "offsets": any(record.kind == Kind.SNAPSHOT and trace.details[record.row].offsets for record in trace),
        "windows": bool(state.windows),
        "timers": bool(trace.all_firings),
        "watermark": any(ms != MIN_MS for ms in state.watermarks.values()),
    }
    (missing,) = (name for name, is_there in has.items() if not is_there)
    return Question(
        "A job of the DataStream API goes back to a checkpoint. Which of these does it not find there?",
        (
            Choice("offsets", "How far each partition has been read", "It is there: the sources go on from it."),
            Choice("windows", "The totals of the open windows", "They are there: they are the state of the windows."),
            Choice(
                "watermark",
                "The watermark",
                "Every watermark starts at its lowest value again, and comes back with the events that are read.",
            ),
            Choice(
                "timers",
                "The timers that let the windows fire",
                "They are there: a restored window fires when the new watermark passes its last millisecond.",
            ),
        ),
        missing,
    )


def overtakes() -> Question:
    """Ask what becomes of events that a barrier overtakes."""
    found = contents(wmviz.simulate(wmviz.scenario("unaligned-barriers")))
    answer = "stored" if found.counted + found.stored == found.read and found.stored else "other"
    return Question(
        "A barrier of an unaligned checkpoint overtakes the events that wait in front of it. What becomes of them?",
        (
            Choice(
                "next", "They belong to the next checkpoint", "The source has stored them as read: they must be in."
            ),
            Choice(
                "stored",
                "They are stored with the checkpoint, and counted afterwards",
                "State and stored events together are exactly what the sources have read.",
            ),
            Choice("again", "The source sends them again", "It does so after a crash only, and only what is behind."),
            Choice("other", "They are counted before the barrier", "Then it would not overtake them: that is aligned."),
        ),
        answer,
    )


def twice() -> Question:
    """Ask for r9's total in at-least-once mode after a crash."""
    totals = wmviz.simulate(wmviz.scenario("at-least-once")).totals
    (metres,) = (total for (key, _, end_ms), total in totals.items() if (key, end_ms) == ("r9", time_ms("7:00")))
    return Question(
        "At-least-once mode, r9 ran 2,000 m. The state of the checkpoint has both kilometres, but source[1] has stored "
        "that it read one event. The job crashes and goes back. What is r9's total?",
        (
            Choice(1000, "1,000 m", "Nothing is lost in this mode: at least once."),
            Choice(2000, "2,000 m", "It would be right, but the source reads the second kilometre again."),
            Choice(3000, "3,000 m", "The second kilometre is in the state, and it is read again: it counts twice."),
        ),
        metres,
    )


def stored() -> Task:
    """Ask how many elements are stored with another alignment timeout."""

    def elements(timeout: str) -> int:
        scenario = wmviz.scenario("alignment-timeout").replace(checkpoints={"alignment_timeout": timeout})
        return contents(wmviz.simulate(scenario)).stored

    answer = elements("1 s")
    whys = {
        elements("0 ms"): "That is unaligned from the start. With a timeout of 1 s the task works on for a while.",
        elements("2 s"): "That is the timeout of 2 s. With 1 s the barrier overtakes earlier, and more is waiting.",
        0: "That is an aligned checkpoint: it needs until 7:00:06, and 1 s is over before.",
    }

    def judge(got: object) -> Verdict:
        number = read_number(got)
        if number == answer:
            return right(
                "At 7:00:03.5 the time is over; at 7:00:04 the task is free. It has 4 of the 6 events in its state, "
                f"and {answer} wait in front of the barrier of source[0]."
            )
        return wrong(whys.get(number, "State and stored events together are the 6 events that the sources have read."))

    return Task(
        "The alignment timeout is 1 s in place of 2 s. How many events are stored with checkpoint 1?",
        judge,
        (
            "The checkpoint starts at 7:00:02.5. When is 1 s over, and when is the task free after that?",
            "The task takes one event each second. How many of the 6 has it counted at 7:00:04?",
        ),
    )


def pause() -> Task:
    """Ask when the next checkpoint starts, with a pause between checkpoints."""

    def second_start_ms(pause: str) -> int:
        scenario = wmviz.scenario("barrier-alignment").replace(checkpoints={"interval": "2 s", "min_pause": pause})
        return next(ms for number, ms, _ in checkpoint_times(wmviz.simulate(scenario)) if number == 2)

    answer_ms = second_start_ms("1500 ms")
    whys = {
        time_ms(
            "7:00:04.5"
        ): "That is one interval after the start, but checkpoint 1 is not complete yet: one at a time.",
        second_start_ms("0 ms"): "That is without a pause: as soon as there is room.",
        time_ms("7:00:06.5"): "That is a due time, but it lies in the pause.",
        time_ms("7:00:04"): "The pause counts from the end of checkpoint 1, not from its start.",
        time_ms("7:00:08.5"): "It does not wait for the next due time: it starts when the pause is over.",
    }

    def judge(got: object) -> Verdict:
        got_ms = read_time(got)
        if got_ms == answer_ms:
            return right("The pause counts from the end of checkpoint 1: 7:00:06 and 1.5 s.")
        return wrong(whys.get(got_ms, f"{time_text(got_ms)} is {'too late' if got_ms > answer_ms else 'too early'}."))

    return Task(
        "Checkpoint 1 starts at 7:00:02.5 and is complete at 7:00:06. The interval is 2 s, the minimum pause 1.5 s. "
        "When does checkpoint 2 start?",
        judge,
        (
            "A due checkpoint waits while another is pending.",
            "The pause counts from the end of the last complete checkpoint.",
        ),
    )


def checkpoint_times(trace: Trace) -> list[tuple[int, int, int | None]]:
    """Give the number of each checkpoint, when it started, and when it was complete (None: never)."""
    times: dict[int, dict[int, int]] = {}
    for record in trace:
        if record.kind == Kind.CHECKPOINT:
            number = trace.checkpoints[trace.subject[record.row]].id
            times.setdefault(number, {})[record.value] = record.at_ms
    return [
        (number, at[CheckpointPhase.STARTED], at.get(CheckpointPhase.COMPLETED)) for number, at in sorted(times.items())
    ]


GIVEN: Mapping[str, Any] = {}
ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "in-the-checkpoint": in_the_checkpoint,
    "not-in-it": not_in_it,
    "overtakes": overtakes,
    "twice": twice,
    "stored": stored,
    "pause": pause,
}
