"""Lesson 11, crash, restore, replay: its questions. Every right answer comes from the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import wmviz
from wmviz.course.answers import read_number, read_time
from wmviz.course.questions import Choice, Question, Task, Verdict, right, wrong
from wmviz.scenario import Scenario
from wmviz.times import MIN_MS, time_ms, time_text
from wmviz.trace import Kind, Trace

SIX_MS, SEVEN_MS = time_ms("6:00"), time_ms("7:00")


def six_am(trace: Trace, key: str = "r4471") -> int:
    """Give a runner's metres in the window from 6:00 to 7:00, as the sink has them at the end."""
    metres: int = trace.totals[key, SIX_MS, SEVEN_MS]
    return metres


def replay_begins_with(time: int | str) -> Scenario:
    """Give restore-overwrites-total with one more event of r9, which is the first that is read again."""
    scenario = wmviz.scenario("restore-overwrites-total")
    rows = [[event.key, event.value, event.event_time_ms, event.arrival_time_ms] for event in scenario.events]
    first = ["r9", 1000, time, "7:24:05"]
    return scenario.replace(name="replay-begins-with-r9", events=[*rows[:4], first, *rows[4:]])


# Questions ---------------------------------------------------------------------------------------------------------


def total() -> Question:
    """Ask for the total after a crash, with a source that can go back."""
    return Question(
        "Checkpoint 1 of 6:59 has 9,400 m of r4471. Then come 800 m at 6:59:10, the crash at 6:59:20, and 1,000 m at "
        "6:59:30, while the job is down. What is r4471's 6 am total in the end?",
        (
            Choice(9_400, "9,400 m", "That is the checkpoint alone. The source goes back too, and reads on."),
            Choice(10_400, "10,400 m", "You lost the 800 m that came after the checkpoint. They are read again."),
            Choice(
                11_200,
                "11,200 m",
                "9,400 m from the checkpoint, 800 m read again, 1,000 m read for the first time.",
            ),
            Choice(12_000, "12,000 m", "You counted the 800 m twice. The state that had them is gone with the crash."),
        ),
        six_am(wmviz.simulate(wmviz.scenario("crash-and-replay"))),
    )


def final() -> Question:
    """Ask what a late event does that is read again after the restore."""
    trace = wmviz.simulate(wmviz.scenario("restore-overwrites-total"))
    return Question(
        "The 500 m of 6:58 were too late before the crash. Checkpoint 6 of 7:24 has no 6 am window any more. "
        "After the crash the source reads the 500 m again. What does the sink say of r4471 at 6 am?",
        (
            Choice(3_000, "3,000 m: the event is too late again", "It would be, if the watermark were still there."),
            Choice(
                3_500, "3,500 m: now it is added", "To add it, the job would need the 3,000 m, and they are deleted."
            ),
            Choice(500, "500 m: it opens the window anew", "The watermark is at the start again, so nothing is late."),
        ),
        six_am(trace),
    )


def watermark() -> Question:
    """Ask for the window operator's watermark right after a restore."""
    trace = wmviz.simulate(wmviz.scenario("crash-and-replay"))
    (restored,) = (record.row for record in trace if record.kind == Kind.RESTORED)
    now_ms = trace.state(trace.step[restored]).watermarks["window"]
    before_ms = trace.state(trace.step[restored] - 2).watermarks["window"]
    at_checkpoint = next(record.step for record in trace if record.kind == Kind.SNAPSHOT and record.place == "window")
    then_ms = trace.state(at_checkpoint).watermarks["window"]
    return Question(
        f"At checkpoint 1 the watermark is {time_text(then_ms)}, at the crash it is {time_text(before_ms)}. What is it "
        "right after the restore?",
        (
            Choice(then_ms, time_text(then_ms), "A checkpoint of the DataStream API holds no watermark."),
            Choice(before_ms, time_text(before_ms), "That was in the memory of a task that is gone."),
            Choice(
                MIN_MS, "At its lowest value, as in a new job", "It comes back with the events that are read again."
            ),
            Choice(
                time_ms("6:59:39.999"),
                "The server's clock, minus 1 ms",
                "Nothing moves event time but events.",
            ),
        ),
        now_ms,
    )


def downtime() -> Question:
    """Ask what a long downtime does to late events."""
    s = wmviz.scenario("leaderboard").replace(checkpoints={"interval": "30 s"})
    late = {
        down: len(wmviz.simulate(s.replace(happenings=[{"what": "crash", "at": "7:08", "down": down}])).outcomes().late)
        for down in ("1 min", "2 h")
    }
    return Question(
        "The leaderboard has 20 min of allowed lateness. It crashes at 7:08 and is down for 2 h. Are more events too "
        "late than after a minute?",
        (
            Choice(
                True,
                "Yes: 2 hours are more than 20 minutes",
                "Lateness counts in event time, and that stood still.",
            ),
            Choice(
                False,
                "No: while the job is down, its event time stands still",
                "The events wait in Kafka, are read in the same order, and meet the same watermarks.",
            ),
        ),
        late["2 h"] > late["1 min"],
    )


def source() -> Question:
    """Ask which source loses events."""
    names = ("crash-and-replay", "list-starts-again", "socket-loses-events")
    lost = {name: wmviz.simulate(wmviz.scenario(name)).ledger().lost for name in names}
    (loses,) = (name for name, count in lost.items() if count)
    return Question(
        "The state goes back to the checkpoint. With which source are events missing from the totals then?",
        (
            Choice("list-starts-again", "One that begins at its first event again", "It counts too much: twice."),
            Choice(
                "socket-loses-events",
                "One that keeps nothing, like a socket",
                "What came since then is gone.",
            ),
            Choice("crash-and-replay", "One with offsets, like Kafka", "It goes back together with the state."),
        ),
        loses,
    )


def begins_again() -> Task:
    """Ask for r9's total with a source that begins at its first event again."""
    trace = wmviz.simulate(wmviz.scenario("list-starts-again"))
    answer = six_am(trace, "r9")
    whys = {
        six_am(wmviz.simulate(wmviz.scenario("crash-and-replay")), "r9"): "That is right for a source with offsets.",
        3 * answer // 2: "It is read twice in all, not three times.",
        six_am(trace): "That is r4471's total.",
    }

    def judge(got: object) -> Verdict:
        number = read_number(got)
        if number == answer:
            return right("1,000 m from the checkpoint, and the same kilometre again from the start of the list.")
        return wrong(whys.get(number, "What does checkpoint 1 have of r9, and what does the list give again?"))

    return Task(
        "And r9? It ran 1,000 m in the 6 am hour, before checkpoint 1. What is its 6 am total when the list starts "
        "again?",
        judge,
        ("What does the restored window of r9 hold?", "The list begins at its first event. r9's kilometre is in it."),
    )


def safe() -> Task:
    """Ask from which event time on a replay is harmless."""

    def is_safe(time: int) -> bool:
        return six_am(wmviz.simulate(replay_begins_with(time))) == 3_000

    around_ms = time_ms("7:22")
    answer_ms = min(ms for ms in range(around_ms - 2, around_ms + 3) if is_safe(ms))
    whys = {
        time_ms("7:00"): "There the window would fire. Its state must count as deleted, which is 20 min later.",
        time_ms("7:02"): "There the window would fire. Its state must count as deleted, which is 20 min later.",
        time_ms("7:20"): "You forgot the bound: the watermark trails the newest event by 2 min and 1 ms.",
        time_ms("7:19:59.999"): "That is the watermark. Which event time brings it there?",
        answer_ms - 1: "The watermark is then 7:19:59.998, one millisecond short of the cleanup time.",
        answer_ms + 1: "One millisecond earlier is enough: at its cleanup time a window is gone.",
    }

    def judge(got: object) -> Verdict:
        got_ms = read_time(got)
        if got_ms == answer_ms:
            return right(f"{time_text(answer_ms)} − 2 min − 1 ms = 7:19:59.999: there the 6 am window is gone.")
        side = "too late: an earlier one is enough" if got_ms > answer_ms else "too early: the 6:58 is accepted"
        return wrong(whys.get(got_ms, f"{time_text(got_ms)} is {side}."))

    return Task(
        "The bound is 2 min, the lateness 20 min. After the restore the source reads an event of r9, then r4471's "
        "6:58. Which is the earliest event time of r9 that keeps the 3,000 m safe?",
        judge,
        (
            "The 6:58 must be too late again. At which watermark is the 6 am window gone?",
            "It is gone at 6:59:59.999 + 20 min. The watermark is the newest event time − 2 min − 1 ms.",
        ),
    )


GIVEN: Mapping[str, Any] = {}
ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "total": total,
    "final": final,
    "watermark": watermark,
    "downtime": downtime,
    "source": source,
    "begins-again": begins_again,
    "safe": safe,
}
