"""The sheet of lesson 8, watermark alignment. Every right answer comes from the engine."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import wmviz
from wmviz.charts.state import sizes
from wmviz.course.answers import AnswerError, read_time
from wmviz.course.harness import run_with
from wmviz.course.judging import judge_job, judge_names, judge_time
from wmviz.course.own_code import called, made, truth
from wmviz.course.questions import Question, Task, Verdict, not_yet, right, wrong
from wmviz.scenario import Scenario
from wmviz.times import MAX_MS, MIN_MS, duration_text, time_ms, time_text
from wmviz.trace import Kind, Trace

ON_FLINK = json.loads(Path(__file__).with_name("alignment_on_flink.json").read_text(encoding="utf-8"))["cases"]
"""Whether Flink's own source waited after each sample and each limit, recorded; a test asks Flink again."""

MOST_EVENTS, MOST_STOPS, MOST_KEPT = 40, 10, 50
"""Task 4: events in the windows, and stops of the sources. Task 5: events in the windows."""


def _readings(key: str, partition: int, number: int, first: str, every_ms: int) -> list[list[Any]]:
    """Give the readings of a station, one for every 5 minutes since 2:00."""
    start_ms = time_ms(first)
    return [[key, 1, time_ms("2:00") + n * 300_000, start_ms + n * every_ms, partition] for n in range(number)]


def _merged(*stations: list[list[Any]]) -> list[list[Any]]:
    return sorted((row for station in stations for row in station), key=lambda row: row[3])


ARCHIVE = Scenario.of(
    name="weather-archive",
    title="Two weather stations are read again",
    unit="readings",
    bound="1 min",
    emission="interval",
    interval="500 ms",
    window="30 min",
    start="9:00:00",
    partitions=2,
    subtasks=2,
    alignment={"drift": "12 min", "interval": "2 s"},
    events=_merged(
        _readings("hill", 0, 40, "9:00:00.300", 1000),
        _readings("valley", 1, 10, "9:00:00.400", 4000),
    ),
)
"""Task 2: hill is read four times as fast as valley."""

FOUR = ARCHIVE.replace(
    name="four-stations",
    title="Four stations in one group",
    partitions=4,
    subtasks=4,
    idle_timeout="10 s",
    alignment={"drift": "20 min"},
    events=[
        ["hill", 1, "4:00", "9:00:02.300", 0],
        ["lake", 1, "3:50", "9:00:03.300", 2],
        ["valley", 1, "4:05", "9:00:04.300", 1],
        ["hill", 1, "4:20", "9:00:12.300", 0],
        ["valley", 1, "4:15", "9:00:16.300", 1],
        ["hill", 1, "4:50", "9:00:22.300", 0],
        ["valley", 1, "4:10", "9:00:24.300", 1],
        ["cape", 1, "3:40", "9:00:50.300", 3],
    ],
)
"""Task 1: one station is idle, and one has not started."""

MIXED = ARCHIVE.replace(
    name="mixed-up",
    title="Readings that are out of order",
    late_to="side",
    alignment={"drift": 0},
    events=[
        ["hill", 1, "3:00", "9:00:01.300", 0],
        ["valley", 1, "3:00", "9:00:01.400", 1],
        ["hill", 1, "3:20", "9:00:02.300", 0],
        ["hill", 1, "3:40", "9:00:03.300", 0],
        ["hill", 1, "4:00", "9:00:04.300", 0],
        ["hill", 1, "3:25", "9:00:05.300", 0],
        ["valley", 1, "3:10", "9:00:05.400", 1],
        ["hill", 1, "4:20", "9:00:06.300", 0],
        ["hill", 1, "4:40", "9:00:07.300", 0],
        ["valley", 1, "3:35", "9:00:09.400", 1],
        ["valley", 1, "3:20", "9:00:11.400", 1],
        ["valley", 1, "4:05", "9:00:13.400", 1],
        ["valley", 1, "3:50", "9:00:15.400", 1],
        ["valley", 1, "4:02", "9:00:17.400", 1],
        ["valley", 1, "4:50", "9:00:21.400", 1],
    ],
)
"""Task 3: four events are behind the watermark of their own source, and two of them are too late."""

YEAR = ARCHIVE.replace(
    name="long-archive",
    title="A long archive is read again",
    work="150 ms",
    channel_capacity=2,
    alignment={"drift": "4 h"},
    events=_merged(
        _readings("hill", 0, 150, "9:00:00.300", 400),
        _readings("valley", 1, 30, "9:00:00.400", 2000),
    ),
)
"""Task 4: the state is large, and the drift alone does not make it small."""

CAPE = YEAR.replace(
    name="cape-is-off",
    title="A station that has been switched off",
    partitions=3,
    subtasks=3,
    alignment={"drift": "30 min", "interval": "1 s"},
    events=_merged(
        _readings("hill", 0, 75, "9:00:00.300", 800),
        _readings("valley", 1, 15, "9:00:00.400", 4000),
        _readings("cape", 2, 2, "9:00:00.350", 4000),
    ),
)
"""Task 5: cape sends two readings and then nothing, so everybody waits for it."""

START = ARCHIVE.replace(
    name="quick-start",
    title="A source that is far ahead before three samples are there",
    events=_merged(
        _readings("hill", 0, 40, "9:00:00.300", 100),
        _readings("valley", 1, 10, "9:00:00.400", 4000),
    ),
)
"""Task 6, with the others."""

GIVEN = {
    "allowed": FOUR,
    "stands": ARCHIVE,
    "too-old": MIXED,
    "small-state": YEAR,
    "hangs": CAPE,
    "must-wait": ARCHIVE,
}


def stops(trace: Trace) -> int:
    """Say how often a source subtask begins to wait."""
    return sum(record.kind is Kind.PAUSED and record.value == 1 for record in trace)


def most_kept(trace: Trace) -> int:
    """Say how many events the windows hold at most."""
    return max(events for _, _, events in sizes(trace))


# Task 1 ------------------------------------------------------------------------------------------------------------


def allowed() -> Task:
    """Task 1: the limit of a group in which not everybody counts."""
    told = [r.value for r in wmviz.simulate(FOUR) if r.kind is Kind.ALLOWED and r.at_ms <= time_ms("9:00:26")]
    whys = {
        time_ms("4:08:59.999"): "You count lake. Nothing has come from it for more than 10 s: it is idle.",
        time_ms("3:58:59.999"): "You count cape. Before its first event it has no watermark, and reports nothing.",
        time_ms("5:08:59.999"): "That is hill's watermark plus the drift. The lowest one of the group counts.",
        time_ms("4:28:59.999"): "valley's newest reading is 4:15. The older one of 4:10 takes no watermark back.",
        time_ms("4:13:59.999"): "That is the lowest watermark that counts. The drift comes on top.",
        time_ms("4:35"): "You left out the bound and the 1 ms of the watermark.",
        time_ms("4:34:59.999"): "You left out the bound.",
        time_ms("4:34"): "You left out the 1 ms of the watermark.",
        time_ms("3:53:59.999"): "You subtracted the drift. It says how far one may be ahead, so add it.",
        time_ms(
            "4:38:59.999"
        ): "That was the limit at 9:00:16, when valley was idle. Now it counts, and a limit may fall.",
    }
    return Task(
        "Which limit is announced to the sources at 9:00:26?",
        lambda answer: judge_time(
            answer,
            told[-1],
            whys,
            f"hill and valley count. valley is lower: 4:15 − 1 min − 1 ms = 4:13:59.999, and 20 min more is "
            f"{time_text(told[-1])}.",
        ),
        (
            "Which of the four report a watermark at 9:00:26? One is idle, and one has sent nothing so far.",
            "A watermark is the newest event time − bound − 1 ms. An older event does not take it back.",
            "Take the lowest watermark of hill and valley, and add the drift.",
        ),
    )


# Task 2 ------------------------------------------------------------------------------------------------------------


def stands() -> Task:
    """Task 2: when the fast source stops, and when it reads again."""
    changes = [r.at_ms for r in wmviz.simulate(ARCHIVE) if r.kind is Kind.PAUSED and r.place == "source[0]"]
    return Task(
        "When does hill stop reading for the first time, and when does it read again?",
        lambda answer: _judge_stands(answer, *changes[:2]),
        (
            "Make a table with a row for each report: 9:00:02, 9:00:04 … Write down both watermarks and the limit.",
            "hill stops when its oldest of three samples is over the limit. The limit rises meanwhile.",
            "While it waits, hill's watermark stands still. It reads again when a limit has come up to that.",
        ),
    )


def _judge_stands(answer: object, stops_ms: int, reads_ms: int) -> Verdict:
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        return not_yet("Give both times: (stops, reads_again), as the sheet does.")
    got_stops_ms, got_reads_ms = (read_time(part) for part in answer)
    if got_stops_ms != stops_ms:
        verdict = judge_time(got_stops_ms, stops_ms, _STOP_SLIPS, "")
        return wrong(f"Stops: {verdict.sentence}")
    if got_reads_ms != reads_ms:
        verdict = judge_time(got_reads_ms, reads_ms, _READ_SLIPS, "")
        return wrong(f"Reads again: {verdict.sentence}")
    return right(
        "Its sample of 9:00:06 is over the limit when it is the oldest of three. Then its watermark stands at "
        "2:43:59.999, and the limit is past that with 2:45:59.999."
    )


_STOP_SLIPS = {
    time_ms("9:00:04"): "hill's watermark is over the limit then. But that counts only as the oldest of three samples.",
    time_ms("9:00:03.500"): "Nobody compares at this moment. Samples are taken every 2 s.",
    time_ms("9:00:03.300"): "Nobody compares at this moment. Samples are taken every 2 s.",
    time_ms("9:00:06"): "The oldest of three samples is that of 9:00:02 then. Is that one over the limit?",
    time_ms(
        "9:00:08"
    ): "The oldest sample is that of 9:00:04 then. It was over the limit, but the limit has risen since.",
    time_ms("9:00:12"): "A sample too late. The oldest of three is the one of two intervals before, not of three.",
}
_READ_SLIPS = {
    time_ms("9:00:12"): "The limit is far below its watermark then. Only valley's progress lifts it.",
    time_ms("9:00:14"): "A new limit comes then. hill's three samples have all become higher than that meanwhile.",
    time_ms("9:00:22"): "Did you take the sample of 9:00:06? While hill waits, its samples become 2:43:59.999.",
    time_ms("9:00:26"): "The limit is 2:40:59.999 then, and hill's watermark 2:43:59.999.",
    time_ms("9:00:34"): "A report too late. At the limit a source reads, below it too.",
}


# Task 3 ------------------------------------------------------------------------------------------------------------


def too_old() -> Task:
    """Task 3: which events are late with alignment."""
    late = frozenset(wmviz.simulate(MIXED).outcomes().late)
    saved = "Its watermark is the lowest one, so the operator's, too. That hill waits does not help it."
    whys = {
        "hill@3:25": "hill's 3:25 is behind the watermark of its own source. But the operator goes by the lower one, "
        "and that is valley's: 2:58:59.999.",
        "valley@3:20": f"valley's 3:20 comes after its 3:35. {saved}",
        "valley@3:50": f"valley's 3:50 comes after its 4:05. {saved}",
        "valley@4:02": "valley's 4:02 is behind the watermark 4:03:59.999. But its window [4:00, 4:30) has not fired.",
    }
    return Task(
        "Which events go to the side output, with a drift of 0?",
        lambda answer: judge_names(
            answer,
            late,
            whys,
            "It is the same without alignment: both are behind the watermark of their own source, the slow one.",
        ),
        (
            "Does it matter for an event of valley whether hill waits?",
            "The operator's watermark is the lower one. Until the end that is valley's.",
            "An event is too late if the last millisecond of its window is not after that watermark.",
        ),
    )


# Task 4 ------------------------------------------------------------------------------------------------------------


def small_state() -> Task:
    """Task 4: choose settings with which the state stays small, and the fast source does not stop all the time."""
    trace = wmviz.simulate(YEAR)
    now = f"the windows hold up to {most_kept(trace)} events."
    return Task(
        f"Choose the alignment: at most {MOST_EVENTS} events in the windows, and at most {MOST_STOPS} stops.",
        lambda job: judge_job(job, YEAR, now, _judge_small_state),
        (
            "Try a drift of 0 with nothing else changed. Is that enough?",
            "Besides the drift, hill is ahead by what it reads until it stops. How long is that?",
            "Three samples, one every 2 s. Let them come more often, or let fewer count. Then choose the drift.",
        ),
    )


def _judge_small_state(job: Scenario) -> Verdict:
    if job.replace(name=YEAR.name, alignment=YEAR.alignment) != YEAR:
        return wrong("Change the alignment only. The rest of the job stays as it is.")
    trace = wmviz.simulate(job)
    kept, stopped = most_kept(trace), stops(trace)
    if job.alignment is None:
        return wrong(f"Without alignment hill never waits, and the windows hold up to {kept} events.")
    if kept > MOST_EVENTS:
        return wrong(_too_much_kept(job, kept))
    if stopped > MOST_STOPS:
        return wrong(
            f"Only {kept} events are in the windows, but the sources stop {stopped} times. With a drift near 0, or "
            "without samples, a source stops and starts all the time."
        )
    return right(f"At most {kept} events in the windows, and {stopped} stops.")


def _too_much_kept(job: Scenario, kept: int) -> str:
    assert job.alignment is not None
    held = f"The windows still hold up to {kept} events"
    least = wmviz.simulate(job.replace(alignment={"drift": 0}))
    if most_kept(least) > MOST_EVENTS:
        late_ms = job.alignment.interval_ms * max(job.alignment.buffer, 1)
        return (
            f"{held}. With these samples not even a drift of 0 is enough: until hill stops it goes on reading for "
            f"about {duration_text(late_ms)}."
        )
    return f"{held}. The samples are quick enough now, but the drift lets hill go far ahead."


# Task 5 ------------------------------------------------------------------------------------------------------------


def hangs() -> Task:
    """Task 5: mend a job that waits for ever."""
    trace = wmviz.simulate(CAPE)
    now = f"{_read(trace)} of {len(CAPE.events)} events are read, and then everybody waits."
    return Task(
        f"Mend the job: every event is read by 9:02, none is late, and at most {MOST_KEPT} are in the windows.",
        lambda job: judge_job(job, CAPE, now, _judge_hangs),
        (
            "Which member of the group has the lowest watermark? What does it report every second?",
            "A member that is idle is not waited for. What makes it idle?",
            "valley sends every 4 s, and is not to become idle. cape sends nothing any more.",
        ),
    )


def _read(trace: Trace) -> int:
    return sum(record.kind is Kind.ARRIVED for record in trace)


def _judge_hangs(job: Scenario) -> Verdict:
    if job.events != CAPE.events or job.window != CAPE.window or job.happenings:
        return wrong("The events, the windows and what happens are what they are. Change the other settings.")
    if job.end_of_input_ms is not None:
        return wrong(
            "You let the input end. But the stations go on sending, and cape's partition stays: it has no end."
        )
    trace = wmviz.simulate(job)
    read, kept, ledger = _read(trace), most_kept(trace), trace.ledger()
    late = ledger.dropped + ledger.side_output
    if read < len(CAPE.events):
        return wrong(
            f"Only {read} of {len(CAPE.events)} events are read. cape's last watermark still counts, so the limit "
            "stands still; a larger drift only lets it take longer until all wait."
        )
    last_ms = max(record.at_ms for record in trace if record.kind is Kind.ARRIVED)
    if last_ms > time_ms("9:02"):
        return wrong(
            f"All is read, but the last event at {time_text(last_ms)} only. Until cape is idle, all wait for it."
        )
    if late:
        return wrong(
            f"All is read, but {late} events are late. Does valley become idle, too? Then nobody waits for it, "
            "neither hill nor the windows."
        )
    if kept > MOST_KEPT:
        return wrong(_hangs_state(job, trace, kept))
    return right("cape becomes idle, reports MAX, and holds nobody. valley does not, so hill still waits for it.")


def _hangs_state(job: Scenario, trace: Trace, kept: int) -> str:
    if job.lateness_ms > CAPE.lateness_ms:
        return (
            f"All is read, but up to {kept} events are kept: with an allowed lateness of "
            f"{duration_text(job.lateness_ms)} each window is kept that long after it has fired."
        )
    if job.bound_ms > CAPE.bound_ms:
        return (
            f"All is read, but up to {kept} events are kept: with a bound of {duration_text(job.bound_ms)} all windows "
            "fire that much later."
        )
    if not trace.all_firings:
        return (
            f"All is read, but no window fires, and {kept} events are kept: the windows wait for cape as well, whether "
            "the sources do or not."
        )
    return f"All is read, and the windows fire. But up to {kept} events are kept: is hill held, and closely enough?"


# Task 6 ------------------------------------------------------------------------------------------------------------


def must_wait() -> Task:
    """Task 6: build the rule of waiting."""
    return Task("Build the rule: does this source have to wait?", _judge_rule, _RULE_HINTS)


_RULE_HINTS = (
    "Keep the last samples, as many as count, and drop the older ones.",
    "`must_wait` compares the oldest sample that is kept with the limit.",
    "With fewer samples than count, nobody waits. And at the limit a source still reads: compare with >.",
)


def _judge_rule(own: Any) -> Verdict:
    one_sample = YEAR.replace(name="one-sample", alignment={"buffer": 1, "drift": "1 h"})
    jobs = (ARCHIVE, START, CAPE.replace(idle_timeout="5 s"), one_sample, wmviz.scenario("watermark-alignment"))
    try:
        differs = next(
            (job for job in jobs if _waits(run_with(own, job, "alignment")) != _waits(wmviz.simulate(job))), None
        )
        if differs is not None:
            return wrong(f"On {differs.name} the sources wait at other times. {_rule_slip(own)}")
        slip = _flink_slip(own)
    except AnswerError as error:
        return not_yet(str(error))
    if slip:
        return wrong(slip)
    asked = sum(len(case["steps"]) for case in ON_FLINK)
    return right(
        f"The sources of {len(jobs)} jobs ran on your rule. They stop and read again when the engine's do. And after "
        f"each of {asked} samples and limits it says what Flink's own source did."
    )


def _flink_slip(own: Any) -> str | None:
    """Give the learner's rule the samples and limits that Flink's source got, and say where it says something else."""
    for case in ON_FLINK:
        rule, limit_ms = made(own, case["samples"], "on_sample", "must_wait"), MAX_MS
        for number, ((what, value_ms), due) in enumerate(zip(case["steps"], case["waits"], strict=True), 1):
            if what == "sample":
                called(rule.on_sample, "on_sample", value_ms)
            else:
                limit_ms = value_ms
            if truth(called(rule.must_wait, "must_wait", limit_ms), "must_wait") != due:
                told = ", ".join(f"{name} {'MIN' if ms == MIN_MS else ms}" for name, ms in case["steps"][:number])
                return (
                    f"After {told}, with {case['samples']} samples, Flink's own source {'waits' if due else 'reads'}, "
                    f"and yours does not. {_rule_slip(own)}"
                )
    return None


def _waits(trace: Trace) -> list[tuple[int, str, int]]:
    return [(r.at_ms, r.place, r.value) for r in trace if r.kind is Kind.PAUSED]


def _rule_slip(own: Any) -> str:
    """Name the thought by asking the rule about a few samples."""

    def says(samples: list[int], limit_ms: int, count: int = 3) -> bool:
        rule = made(own, count, "on_sample", "must_wait")
        for sample in samples:
            called(rule.on_sample, "on_sample", sample)
        return bool(called(rule.must_wait, "must_wait", limit_ms))

    if says([20, 20, 20], 20):
        return "At the limit a source still reads. It waits when it is over it."
    if not says([30, 30, 30], 20):
        return "A source that has been over the limit for three samples must wait."
    if says([10, 20, 30], 15):
        return "You let a short lead count. Of three samples the oldest counts."
    if not says([10, 20, 30, 40], 15):
        return "An old sample still counts. Of four samples the first one is forgotten."
    if says([MIN_MS, 30, 30], 20) or says([30, 30], 20):
        return "Before three samples are there, nobody waits."
    if not says([30], 20, count=1) or says([10, 20, 30], 15, count=4):
        return "How many samples count is told when the object is made. It is not always three."
    falling = made(own, 1, "on_sample", "must_wait")
    called(falling.on_sample, "on_sample", 30)
    called(falling.must_wait, "must_wait", 40)
    if not called(falling.must_wait, "must_wait", 20):
        return "A limit may fall. The one that it is asked about counts, not the highest so far."
    return "What does it remember between two calls? It may be asked several times after one sample."


ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "allowed": allowed,
    "stands": stands,
    "too-old": too_old,
    "small-state": small_state,
    "hangs": hangs,
    "must-wait": must_wait,
}
