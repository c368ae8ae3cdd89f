"""Lesson 6, many inputs and the minimum: its questions. Every right answer comes from the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import wmviz
from wmviz.course.answers import read_time
from wmviz.course.questions import Choice, Question, Task, Verdict, right, wrong
from wmviz.scenario import Scenario
from wmviz.times import time_ms, time_text
from wmviz.trace import Trace

MINUTE_MS = 60_000
SEVEN_MS = time_ms("7:00")

GIVEN: Mapping[str, Any] = {}


def _quiet() -> Scenario:
    return wmviz.scenario("quiet-partition")


def _fired(trace: Trace) -> frozenset[tuple[str, str]]:
    """Which windows have fired: runner and end of the hour."""
    return frozenset((firing.key, time_text(firing.window.end_ms or 0)) for firing in trace.all_firings)


def _window_watermark(trace: Trace, place: str = "window") -> int:
    return trace.state(trace.steps - 1).watermarks[place]


def which_fire() -> Question:
    """Ask which windows have fired at the end of the silent morning."""
    s = _quiet()
    by_newest = _fired(wmviz.simulate(s.replace(strategy_at="after")))  # one generator: the newest event of all
    alive = {event.key for event in s.events if event.partition == 0}
    return Question(
        "8:05 has arrived on partition 0; partition 1 has been silent since 6:20. Which windows have fired?",
        (
            Choice(
                by_newest,
                "All windows of 6 am and 7 am",
                "That takes the newest event of all. But nobody can promise that partition 1 has nothing older.",
            ),
            Choice(
                frozenset(window for window in by_newest if window[0] in alive),
                "Those of r4471 and r7 only: their partition is far enough",
                "A runner has no clock of his own. All windows of an operator share one watermark.",
            ),
            Choice(
                frozenset(window for window in by_newest if window[1] == "7:00"),
                "All windows of 6 am, none of 7 am",
                "Partition 1 stands at 6:17:59.999, which is not enough for any hour.",
            ),
            Choice(
                frozenset(),
                "None",
                "The lowest watermark counts: that of partition 1, 6:20 − 2 min − 1 ms = 6:17:59.999.",
            ),
        ),
        answer=_fired(wmviz.simulate(s)),
    )


def minimum() -> Question:
    """Ask for the watermark after the slowest of three inputs has jumped ahead."""
    rows = [
        ["a", 1, "6:41", "7:20:00", 0],
        ["b", 1, "6:55", "7:20:01", 1],
        ["c", 1, "6:47", "7:20:02", 2],
        ["a", 1, "7:10", "7:20:03", 0],
    ]
    trace = wmviz.simulate(Scenario.of(bound="0 ms", window="1 h", subtasks=3, events=rows))
    whys = {
        "7:09:59.999": "That is the highest. An operator never goes by its fastest input.",
        "6:40:59.999": "It was that before. The input that held it back has moved on.",
        "6:46:59.999": "The new lowest: now the third input holds the time.",
        "6:54:59.999": "That is neither the lowest nor the newest. The third input has promised less.",
    }
    return Question(
        "Three channels stand at 6:40:59.999, 6:54:59.999 and 6:46:59.999. The first one jumps to 7:09:59.999. What is "
        "the watermark of the operator now?",
        tuple(Choice(time, time, why) for time, why in whys.items()),
        answer=time_text(_window_watermark(trace)),
    )


def spare() -> Question:
    """Ask what a job does whose source has more subtasks than partitions."""
    rows = [
        [f"r{i}", 1000, time, f"9:00:{second:02d}", i]
        for second, (i, time) in enumerate((i, time) for time in ("6:30", "7:10") for i in range(4))
    ]
    fits = Scenario.of(bound="2 min", window="1 h", partitions=4, subtasks=4, events=rows)
    fired = len(wmviz.simulate(fits.replace(subtasks=6)).all_firings)
    all_fire = len(wmviz.simulate(fits).all_firings)
    return Question(
        f"A topic has 4 partitions, all are busy, and with 4 source subtasks {all_fire} windows have fired. Now the "
        "source gets 6 subtasks; there is no idle timeout. How many windows fire?",
        (
            Choice(
                all_fire,
                f"All {all_fire}: two subtasks have just nothing to do",
                "Nothing to do, and nothing to say: an input without a watermark holds the minimum at MIN.",
            ),
            Choice(
                all_fire - 1,
                f"{all_fire - 1}: some keys go to the two new subtasks",
                "Keys choose a subtask of the windows. Who reads a partition has nothing to do with them.",
            ),
            Choice(
                0,
                "None",
                "The two subtasks without a partition never send a watermark, and the minimum with MIN is MIN.",
            ),
        ),
        answer=fired,
    )


def own_clock() -> Question:
    """Ask for the watermark of a window subtask whose keys all come from a fast partition."""
    s = _quiet()
    trace = wmviz.simulate(s.replace(subtasks=2, window_tasks=2))
    end = trace.state(trace.steps - 1).watermarks
    fast = time_text(end["source[0] → window[0]"])
    return Question(
        "In quiet-partition two subtasks share the windows. One of them has r4471 only, whose events all come from "
        "partition 0. What is the watermark of this subtask at the end?",
        (
            Choice(
                fast,
                f"{fast}, that of partition 0",
                "It gets the events of partition 0 only, but the watermarks of every source subtask.",
            ),
            Choice(
                "6:17:59.999",
                "6:17:59.999, the lowest of both",
                "Watermarks go to every subtask of the windows, whatever its keys are.",
            ),
            Choice(
                "MIN",
                "MIN: it has never had an event from partition 1",
                "It has had a watermark from there. Watermarks travel without events.",
            ),
        ),
        answer=time_text(end["window[0]"]),
    )


def goes_on() -> Question:
    """Ask what a silent partition does not stop."""
    s = _quiet()
    hours = bool(wmviz.simulate(s).all_firings)
    counts = bool(wmviz.simulate(s.replace(window={"type": "global", "trigger": "count:2"})).all_firings)
    return Question(
        "One partition is silent. A job filters events into a table, counts every second event of a runner, and sums "
        "metres per hour of event time. What still puts out results?",
        (
            Choice(
                (False, False),
                "Nothing: the whole job stands still",
                "The events flow on. What stands still is event time.",
            ),
            Choice(
                (False, True), "The filter and the count", "They do not wait for event time. The hours do, and wait."
            ),
            Choice(
                (True, True),
                "All three: the other partitions are busy",
                "The hours wait for the lowest watermark, and the silent partition holds it.",
            ),
        ),
        answer=(hours, counts),
    )


def next_event() -> Task:
    """Ask which event on the silent partition makes the 6 am windows fire."""
    s = _quiet()
    rows = [[e.key, e.value, e.event_time_ms, e.arrival_time_ms, e.partition] for e in s.events]

    def fires(newest_ms: int) -> bool:
        more = s.replace(events=[*rows, ["r9", 1000, newest_ms, "8:05:20", 1]])
        return any(end == "7:00" for _, end in _fired(wmviz.simulate(more)))

    near = range(SEVEN_MS + s.bound_ms - 2, SEVEN_MS + s.bound_ms + 3)
    answer_ms = min(ms for ms in near if fires(ms))
    whys = {
        SEVEN_MS: "You forgot the bound: partition 1 would stand at 6:57:59.999.",
        answer_ms - 1: "Partition 1 would stand at 6:59:59.998, one millisecond short.",
        answer_ms + 1: "One millisecond too many: a window fires at its last millisecond, end − 1.",
        SEVEN_MS - 1: "That is the watermark it takes. Which event time brings partition 1 there?",
        time_ms("6:20") + 1: "Any newer event moves partition 1, but it has to move past the end of the hour.",
        time_ms("8:05"): "Partition 1 need not be as far as partition 0. It only has to reach the end of the hour.",
        time_ms("9:02"): "That is for the 8 am windows.",
        time_ms("8:02"): "That is for the 7 am windows.",
    }

    def judge(answer: object) -> Verdict:
        got_ms = read_time(answer)
        if got_ms == answer_ms:
            return right(
                "7:02 − 2 min − 1 ms = 6:59:59.999 on partition 1, and partition 0 is further: the minimum is that."
            )
        if got_ms < answer_ms:
            return wrong(whys.get(got_ms, "Then the minimum does not reach the last millisecond of the hour."))
        return wrong(whys.get(got_ms, "They fire then, but an earlier event would do as well."))

    return Task(
        "In quiet-partition, r9 sends one more event on partition 1 after 8:05:10. Which is its earliest event time "
        "that makes the 6 am windows fire?",
        judge,
        (
            "The 6 am windows fire when the lower of the two watermarks reaches 6:59:59.999.",
            "Partition 0 is far enough. So partition 1 alone has to get there: its newest event − bound − 1 ms.",
        ),
    )


ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "which-fire": which_fire,
    "minimum": minimum,
    "spare": spare,
    "own-clock": own_clock,
    "goes-on": goes_on,
    "next-event": next_event,
}
