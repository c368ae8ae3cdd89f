"""The sheet of lesson 7, idle inputs. Every right answer comes from the engine."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import wmviz
from wmviz.course.answers import read_duration
from wmviz.course.judging import judge_names, judge_time, judge_watermarks
from wmviz.course.own_code import called, made, milliseconds
from wmviz.course.questions import Question, Task, Verdict, right, wrong
from wmviz.engine.valve import StatusWatermarkValve
from wmviz.scenario import Scenario
from wmviz.times import MIN_MS, duration_text, time_ms, time_text
from wmviz.trace import Kind, Status

BUOYS = Scenario.of(
    name="two-buoys",
    title="Waves counted by two buoys",
    unit="waves",
    bound="0 ms",
    emission="event",
    interval="10 s",
    idle_timeout="3 min",
    window="10 min",
    late_to="side",
    start="7:04",
    partitions=2,
    subtasks=2,
    events=[
        ["pier", 4, "7:05", "7:05:05", 0],
        ["reef", 9, "7:06", "7:06:05", 1],
        ["pier", 3, "7:07", "7:07:05", 0],
        ["pier", 5, "7:09", "7:09:05", 0],
        ["pier", 4, "7:10", "7:10:05", 0],
        ["reef", 8, "7:08", "7:10:40", 1],
        ["pier", 6, "7:12", "7:12:05", 0],
        ["reef", 7, "7:11", "7:12:30", 1],
        ["pier", 5, "7:14", "7:14:05", 0],
        ["reef", 9, "7:14:30", "7:14:40", 1],
        ["pier", 4, "7:17", "7:17:05", 0],
        ["reef", 8, "7:17:30", "7:17:40", 1],
        ["pier", 5, "7:20", "7:20:05", 0],
        ["reef", 7, "7:20:30", "7:20:40", 1],
    ],
)
"""All tasks: a buoy that falls silent for some minutes, and comes back."""

SILENT = BUOYS.replace(
    name="reef-silent-for-good",
    events=[
        [e.key, e.value, e.event_time_ms, e.arrival_time_ms, e.partition]
        for e in BUOYS.events
        if e.partition == 0 or e.arrival_time_ms < time_ms("7:07")
    ],
)
"""Task 3: the same, but the reef never comes back."""

OUT_BY_MS = time_ms("7:12")

GIVEN = {"goes-idle": BUOYS, "lost": BUOYS, "timeout": BUOYS, "one-subtask": BUOYS}


def goes_idle() -> Task:
    """Task 1: when the silent buoy counts as idle."""
    trace = wmviz.simulate(BUOYS)
    answer_ms = next(
        r.at_ms
        for r in trace
        if r.kind is Kind.STATUS
        and r.value == Status.IDLE
        and r.subject == "source[1]"
        and r.at_ms > time_ms("7:06:05")
    )
    whys = {
        time_ms("7:09:05"): "That is the timeout after the event. Nothing happens between two ticks.",
        time_ms("7:09:10"): "That is the first tick after the timeout. But the timer does not start with the event.",
        time_ms("7:09:20"): "The timer shows 3 min then. It must show more than the timeout.",
        time_ms("7:10:05"): "It is idle before that: pier's 7:10 only shows it.",
    }
    return Task(
        "At what time by the server's clock does reef become idle?",
        lambda answer: judge_time(
            answer,
            answer_ms,
            whys,
            "7:06:10 sees the event, 7:06:20 starts the timer, 7:09:20 shows 3 min, 7:09:30 shows more.",
        ),
        (
            "Flink looks on ticks: 7:06:10, 7:06:20, 7:06:30 …",
            "The first tick after the event sees it. The second one starts the timer.",
            "It is idle at the first tick at which the timer shows more than 3 min.",
        ),
    )


def lost() -> Task:
    """Task 2: what the bet costs."""
    late = frozenset(wmviz.simulate(BUOYS).outcomes().late)
    whys = {
        "reef@7:08": "reef's 7:08 comes when [7:00, 7:10) has fired without it: pier alone moved the time.",
        "reef@7:11": "reef's 7:11 is behind the watermark 7:11:59.999, but its window [7:10, 7:20) has not fired.",
        "reef@7:06": "reef's 7:06 came in time. Being idle later takes no event back.",
        "reef@7:14:30": "reef's 7:14:30 is not even behind.",
    }
    return Task(
        "Which events go to the side output?",
        lambda answer: judge_names(
            answer,
            late,
            whys,
            "reef was idle, pier's 7:10 moved the watermark to 7:09:59.999, and [7:00, 7:10) was deleted.",
        ),
        (
            "When does [7:00, 7:10) fire, and who is waited for at that moment?",
            "What arrives after that for [7:00, 7:10) is too late. Behind the watermark alone is not late.",
        ),
    )


def timeout() -> Task:
    """Task 3: a timeout that loses nothing and does not wait too long."""
    return Task("Choose an idle timeout so that both wishes come true.", _judge_timeout, _TIMEOUT_HINTS)


_TIMEOUT_HINTS = (
    "Wish 1: reef must not be idle before its 7:08 has come, at 7:10:40. When did its timer start?",
    "The timer starts at 7:06:20. At the last tick before 7:10:40 it must not show more than the timeout.",
    "Wish 2: at the tick of 7:12:00 it must show more than the timeout.",
)


def _judge_timeout(answer: object) -> Verdict:
    length_ms = read_duration(answer)
    if length_ms <= 0:
        return wrong("A timeout is longer than nothing.")
    if wmviz.simulate(BUOYS.replace(idle_timeout=length_ms)).outcomes().late:
        return wrong(
            f"Wish 1 fails. With {duration_text(length_ms)} reef is idle before its 7:08 comes, and [7:00, 7:10) fires "
            "without it."
        )
    firings = wmviz.simulate(SILENT.replace(idle_timeout=length_ms)).all_firings
    out_ms = min((f.at_ms for f in firings if f.window.end_ms == time_ms("7:10")), default=None)
    if out_ms is None:
        return wrong("Wish 2 fails. If reef stays silent, nothing comes out as long as this stream goes on.")
    if out_ms > OUT_BY_MS:
        return wrong(f"Wish 2 fails. If reef stays silent, the first results come at {time_text(out_ms)}, too late.")
    return right("reef's pause is shorter than the timeout, and a reef that is gone for good delays nothing for long.")


def one_subtask() -> Task:
    """Task 4: the same two partitions in one subtask."""
    at_ms = time_ms("7:12:05")
    together = wmviz.simulate(BUOYS.replace(name="one-subtask", subtasks=1))
    answer_ms = together.state(together.step_at(at_ms)).watermarks["window"]
    apart_ms = wmviz.simulate(BUOYS).state(wmviz.simulate(BUOYS).step_at(at_ms)).watermarks["window"]
    whys = {
        apart_ms: "That is so with a subtask each. Inside one subtask, who is back counts at once.",
        time_ms("7:07:59.999"): "That is reef's own watermark. The combined one never goes back to it.",
        answer_ms + 1: "The −1 ms is missing.",
        time_ms("7:12"): "The −1 ms is missing, and reef counts, too.",
    }
    return Task(
        "One source subtask reads both partitions. What is the watermark of the window operator at 7:12:05, when "
        "pier's 7:12 has arrived?",
        lambda answer: judge_time(
            answer,
            answer_ms,
            whys,
            f"reef is back since 7:10:40, behind. In the same subtask it counts at once, so the watermark stays at "
            f"{time_text(answer_ms)}.",
        ),
        (
            "Which watermark had gone through before reef came back?",
            "reef's own is 7:07:59.999 then. It cannot pull the combined one back, but it can hold it.",
        ),
    )


def valve() -> Task:
    """Task 5: build the valve with idleness."""
    return Task("Build the valve.", _judge_valve, _VALVE_HINTS)


_VALVE_HINTS = (
    "Keep three things for each channel: its watermark, whether it is idle, whether it is left out.",
    "The lowest over the channels that are neither idle nor left out goes through, if it is higher than before.",
    "In on_active: the channel is left out if its watermark is below what went through last; on_watermark ends that.",
    "In on_idle: only if the channel's watermark is the one that went through last, look for a new lowest.",
    "And if all are idle then, take the highest of all in place of the lowest.",
)


def _judge_valve(maker: Any) -> Verdict:
    names = ("return-from-idle-channel", "all-idle", "idle-bet", "busy-is-not-idle", "spare-subtask")
    jobs = (BUOYS, SILENT, *map(wmviz.scenario, names))
    verdict = judge_watermarks(
        maker,
        jobs,
        "valve",
        _valve_slip,
        otherwise="Look at what goes through when a channel becomes idle, the last one too.",
        because=f"The window operator ran {len(jobs)} jobs behind your valve, and every result is the engine's own. In "
        f"{_TRIES * len(_LENGTHS):,} rows of random steps the same goes through, too.",
    )
    if verdict.right and (slip := _steps_slip(maker)):
        return wrong(slip)
    return verdict


_TRIES, _LENGTHS = 150, range(3, 13)
"""So many rows of random steps for each length; short ones come first, so that the slip is easy to follow."""


class _Through:
    """Keeps what the engine's valve lets through."""

    watermark_ms: int | None = None

    def watermark(self, watermark_ms: int) -> None:
        """Keep it."""
        self.watermark_ms = watermark_ms

    def idle(self) -> None:
        """Take no notice."""

    def active(self) -> None:
        """Take no notice."""


def _steps(rng: random.Random, channels: int, length: int) -> Iterator[tuple[str, int, int]]:
    """Draw steps: the method, the channel, and a watermark, which rises on each channel."""
    idle, newest_ms = [False] * channels, [0] * channels
    for _ in range(length):
        channel = rng.randrange(channels)
        if rng.random() < 0.4:
            idle[channel] = not idle[channel]
            yield ("on_idle" if idle[channel] else "on_active"), channel, 0
        else:
            newest_ms[channel] += rng.randint(1, 3)
            yield "on_watermark", channel, newest_ms[channel]


_LAST_IS_BEHIND = [
    ("on_watermark", 0, 10),
    ("on_watermark", 1, 5),
    ("on_watermark", 2, 1),
    ("on_idle", 2, 0),
    ("on_idle", 0, 0),
    ("on_active", 2, 0),
    ("on_idle", 1, 0),
    ("on_idle", 2, 0),
]
"""The last active channel is one that is left out. It goes idle, and nothing goes through: rules 4 and 5 together."""


def _steps_slip(maker: Any) -> str | None:
    """Give the learner's valve and the engine's the same steps, and say where something else goes through."""
    for length in _LENGTHS:
        for seed in range(_TRIES):
            rng = random.Random(f"{length}/{seed}")
            channels = rng.choice((2, 3))
            if slip := _slip_of(maker, channels, list(_steps(rng, channels, length))):
                return slip
    return _slip_of(maker, 3, _LAST_IS_BEHIND)


def _slip_of(maker: Any, channels: int, steps: list[tuple[str, int, int]]) -> str | None:
    own, out = made(maker, channels, "on_watermark", "on_idle", "on_active"), _Through()
    engines = StatusWatermarkValve(channels, out)
    told: list[str] = []
    for method, channel, watermark_ms in steps:
        arguments = (channel, watermark_ms) if method == "on_watermark" else (channel,)
        before_ms, out.watermark_ms = engines.watermark_ms, None
        getattr(engines, method.removeprefix("on_"))(*arguments)
        answer = called(getattr(own, method), method, *arguments)
        got_ms = None if answer is None else milliseconds(answer, method)
        got_ms = None if got_ms == before_ms else got_ms  # what has gone through may be said again
        told.append(f"{method}({', '.join(map(str, arguments))})")
        if got_ms != out.watermark_ms:
            due, got = ("nothing" if ms is None else str(ms) for ms in (out.watermark_ms, got_ms))
            return (
                f"With {channels} channels: {', '.join(told)}. At the last one {due} goes through; yours gives {got}."
            )
    return None


def _valve_slip(job: Scenario, event_id: str, got_ms: int, due_ms: int) -> str:
    if due_ms == MIN_MS:
        return "A channel that has sent nothing and is not idle counts: it is at its start."
    if got_ms > due_ms:
        return "Someone who counts was not waited for: an active channel counts, unless it is back and behind."
    return "Someone holds the watermark who should not: an idle channel, or one that is back but behind."


ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "goes-idle": goes_idle,
    "lost": lost,
    "timeout": timeout,
    "one-subtask": one_subtask,
    "valve": valve,
}
