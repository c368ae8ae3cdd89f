"""The sheet of lesson 6, many inputs. Every right answer comes from the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import wmviz
from wmviz.course.judging import judge_job, judge_names, judge_time, judge_watermarks
from wmviz.course.questions import Question, Task, Verdict, not_yet, right, wrong
from wmviz.scenario import Scenario
from wmviz.times import MIN_MS, shown, time_ms, time_text

BRIDGE = Scenario.of(
    name="toll-bridge",
    title="Cars on a toll bridge, by lane",
    unit="cars",
    bound="30 s",
    window="10 min",
    late_to="side",
    start="8:00",
    partitions=3,
    events=[
        ["north", 1, "8:03", "8:03:05", 0],
        ["south", 1, "8:04:10", "8:04:15", 1],
        ["north", 1, "8:07:20", "8:07:30", 2],
        ["south", 1, "8:10:40", "8:10:50", 0],
        ["north", 1, "8:08:15", "8:11", 1],
        ["south", 1, "8:12", "8:12:20", 2],
        ["north", 1, "8:09:50", "8:12:30", 1],
        ["south", 1, "8:11:30", "8:13", 0],
        ["north", 1, "8:10:29.999", "8:13:30", 1],
        ["south", 1, "8:09:55", "8:13:40", 1],
        ["north", 1, "8:10:30", "8:14", 1],
        ["south", 1, "8:14:10", "8:14:20", 2],
    ],
)
"""Tasks 1, 2 and 4: three lanes, each a partition, read by one subtask."""

SPARE = BRIDGE.replace(name="four-readers", subtasks=4)
"""Task 3."""

CLOSED = BRIDGE.replace(
    name="one-subtask-each",
    subtasks=3,
    events=[
        ["north", 1, "8:05", "8:05:05", 0],
        ["north", 1, "8:02", "8:05:10", 2],
        ["south", 1, "8:11", "8:11:05", 1],
        ["north", 1, "8:06", "8:11:10", 2],
        ["south", 1, "8:12", "8:12:05", 0],
        ["south", 1, "8:09:10", "8:12:10", 2],
        ["north", 1, "8:21", "8:21:05", 2],
        ["north", 1, "8:22", "8:22:05", 1],
        ["north", 1, "8:21:30", "8:22:10", 0],
    ],
)
"""Task 5: three channels into the window operator."""

GIVEN = {"combined": BRIDGE, "fires": BRIDGE, "four-readers": SPARE, "after-the-source": BRIDGE}

_ASKED_MS = time_ms("8:12:30")


def combined() -> Task:
    """Task 1: the watermark of the window operator after seven arrivals."""
    trace = wmviz.simulate(BRIDGE)
    answer_ms = trace.state(trace.step_at(_ASKED_MS)).watermarks["window"]
    less, shown = BRIDGE.bound_ms + 1, time_text(answer_ms)
    whys = {
        answer_ms + 1: "You left out the −1 ms.",
        time_ms("8:12") - less: "That is the partition that is furthest ahead. The one that is furthest behind counts.",
        time_ms("8:10:40") - less: "That is partition 0. Another one is further behind.",
        time_ms("8:08:15") - less: "That is an older event of partition 1. It has sent a newer one since.",
        time_ms("8:03") - less: "You took the oldest event. First take the newest of each partition, then the lowest.",
        time_ms("8:09:50"): "You forgot the bound: the watermark trails the newest event of the partition.",
    }
    return Task(
        "It is 8:12:30 by the server's clock; north's 8:09:50 has just arrived. What is the watermark of the window "
        "operator?",
        lambda answer: judge_time(
            answer,
            answer_ms,
            whys,
            f"Partition 2 has 8:12, partition 0 has 8:10:40; partition 1 is behind: 8:09:50 − 30 s − 1 ms = {shown}.",
        ),
        (
            "Write down the newest event time of each partition at that moment.",
            "Each partition has a watermark of its own. The lowest of the three counts.",
        ),
    )


def fires() -> Task:
    """Task 2: the event that makes the first window fire."""
    trace = wmviz.simulate(BRIDGE)
    found = next(f for f in trace.all_firings if f.window.end_ms == time_ms("8:10"))
    cause = next(e for e in BRIDGE.events if e.arrival_time_ms == found.at_ms)
    whys = {
        "south@8:10:40": "It brings the watermark of its own partition there, but partitions 1 and 2 are behind.",
        "south@8:12": "Partitions 0 and 2 are past the window then, and still partition 1 is not.",
        "north@8:10:29.999": "One millisecond short: partition 1 is then at 8:09:59.998.",
        "south@8:14:10": "The window has fired before it came.",
    }

    def judge(answer: object) -> Verdict:
        name = str(answer).strip().replace(" ", "@", 1)
        if name not in {event.id for event in BRIDGE.events}:
            return not_yet(
                f'There is no event {shown(answer)} in the table. Write it as in the first column: "north@8:03".'
            )
        if name == cause.id:
            return right(
                f"{time_text(cause.event_time_ms)} − 30 s − 1 ms = 8:09:59.999: now the last of the three is there."
            )
        return wrong(whys.get(name, f"{name} does not bring the lowest of the three watermarks to 8:09:59.999."))

    return Task(
        "Which event makes the windows [8:00, 8:10) fire?",
        judge,
        (
            "All three partitions have to be there. Which one comes last?",
            "Partition 1 needs an event whose time − 30 s − 1 ms is 8:09:59.999 or more.",
        ),
    )


def four_readers() -> Task:
    """Task 3: mend a job with a subtask too many."""
    silent = "one source subtask has no partition and never sends a watermark."
    return Task(
        "Mend the job so that it fires.",
        lambda job: judge_job(job, SPARE, silent, _judge_four_readers),
        _FOUR_HINTS,
    )


_FOUR_HINTS = (
    "How many partitions are there, and how many subtasks read them?",
    "Print `wmviz.simulate(job).state().watermarks`. Which source subtask is still at its start?",
    "Either nobody is without a partition, or whoever sends nothing is not waited for.",
)


def _judge_four_readers(job: Scenario) -> Verdict:
    if job.events != SPARE.events:
        return wrong("The events are what they are. Change the settings of the job.")
    if job.window.time == "processing":
        return wrong("It fires by the server's clock now: a car counts for the time at which the news of it arrived.")
    if job.end_of_input_ms is not None or job.window.trigger != "default":
        return wrong("It fires now, but not because event time has passed. The bridge does not close, and cars go on.")
    if job.window != SPARE.window:
        return wrong("The windows were not the fault: what they wait for is the watermark.")
    trace = wmviz.simulate(job)
    if not trace.all_firings:
        stuck = [n for n, ms in trace.state().watermarks.items() if n.startswith("source") and ms == MIN_MS]
        if job.bound_ms != SPARE.bound_ms:
            return wrong(
                "The bound is not the cause: a watermark that is never sent is not made better by a smaller one."
            )
        if job.strategy_at == "after":
            return wrong(
                "After the source each subtask still has its own strategy, and one of them never sees an event."
            )
        return wrong(f"Still nothing fires: {', '.join(stuck) or 'a source subtask'} is still at its start.")
    if lost := len(trace.outcomes().late) + (trace.dropped_count or 0):
        return wrong(
            f"It fires, but lost cars: {lost}. A lane that is slow is no lane that is silent; wait longer for it."
        )
    if job.idle_timeout_ms is not None and job.subtasks > job.partition_count:
        return right(
            "The subtask without a partition is idle after the timeout, and nobody waits for it. A bet on the rest."
        )
    return right("Every subtask has a partition now, so each sends a watermark, and the lowest moves.")


def after_the_source() -> Task:
    """Task 4: what is lost when the strategy stands after the source."""
    after = BRIDGE.replace(name="after", strategy_at="after")
    late = frozenset(wmviz.simulate(after).outcomes().late)
    whys = {
        "north@8:08:15": "north's 8:08:15 meets 8:10:40 − 30 s − 1 ms = 8:10:09.999, and that is past the window.",
        "north@8:09:50": "north's 8:09:50 belongs to [8:00, 8:10), which has fired by then.",
        "south@8:09:55": "south's 8:09:55 is the last one of [8:00, 8:10), and far behind.",
        "south@8:11:30": "south's 8:11:30 is behind the watermark, but its window [8:10, 8:20) has not fired.",
        "north@8:10:29.999": "north's 8:10:29.999 lies in [8:10, 8:20): that window has not fired.",
        "north@8:10:30": "north's 8:10:30 lies in [8:10, 8:20): that window has not fired.",
    }
    return Task(
        "With the strategy after the source, which events go to the side output?",
        lambda answer: judge_names(
            answer,
            late,
            whys,
            "One strategy sees all lanes as one stream. It runs with the fastest, and the slow lane is late.",
        ),
        (
            "There is one watermark now: the newest event of all lanes − 30 s − 1 ms.",
            "Which event brings it to 8:09:59.999? No lateness is set: what comes then for [8:00, 8:10) is lost.",
        ),
    )


def minimum() -> Task:
    """Task 5: build the valve in front of the window operator."""
    return Task("Build the minimum over the inputs.", _judge_minimum, _MINIMUM_HINTS)


_MINIMUM_HINTS = (
    "Remember the watermark of each channel. Before a channel has sent one it is at `MIN_MS`.",
    "The lowest of them all counts; `min` finds it.",
    "Return it only if it is higher than what went through before, otherwise None.",
)


def _judge_minimum(maker: Any) -> Verdict:
    jobs = (CLOSED, SPARE, wmviz.scenario("finished-input"), wmviz.scenario("spare-subtask"))
    return judge_watermarks(
        maker,
        jobs,
        "valve",
        _minimum_slip,
        otherwise="Does your valve let the last watermarks through?",
        because=f"The window operator ran {len(jobs)} jobs behind your valve, and every result is the engine's own.",
    )


def _minimum_slip(job: Scenario, event_id: str, got_ms: int, due_ms: int) -> str:
    if due_ms == MIN_MS:
        return "A channel that has sent nothing so far counts, too: it is at its start."
    if got_ms > due_ms:
        return "The lowest counts, not the highest and not the last."
    return "Your valve holds a watermark back: it goes through as soon as the lowest of all is higher than before."


ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "combined": combined,
    "fires": fires,
    "four-readers": four_readers,
    "after-the-source": after_the_source,
    "build-minimum": minimum,
}
