"""The sheet of lesson 11, crash, restore, replay. Every right answer comes from the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import wmviz
from wmviz.course.answers import AnswerError, read_duration, read_number
from wmviz.course.judging import judge_job, judge_names
from wmviz.course.own_code import called, truth
from wmviz.course.questions import Question, Task, Verdict, not_yet, right, wrong
from wmviz.scenario import Scenario
from wmviz.times import duration_text, time_ms
from wmviz.trace import CheckpointPhase, Kind, Trace

BELTS = Scenario.of(
    name="parcel-belts",
    title="Parcels on two belts",
    unit="parcels",
    bound="15 s",
    window="10 min",
    start="8:00",
    checkpoints={"interval": "1 min"},
    happenings=[
        {"what": "savepoint", "at": "8:03:20"},
        {"what": "crash", "at": "8:03:40", "down": "30 s"},
    ],
    events=[
        ["north", 40, "8:00:30", "8:00:35"],
        ["south", 25, "8:01:50", "8:01:55"],
        ["north", 30, "8:02:50", "8:02:58"],
        ["south", 15, "8:02:55", "8:03:05"],
        ["north", 20, "8:03:10", "8:03:12"],
        ["north", 10, "8:03:25", "8:03:28"],
        ["south", 35, "8:03:45", "8:03:50"],
        ["north", 5, "8:04:20", "8:04:25"],
        ["south", 10, "8:10:20", "8:10:25"],
    ],
)
"""Tasks 1 and 2: a savepoint is newer than the last checkpoint, and one event comes while the job is down."""

DOCKS = Scenario.of(
    name="loading-docks",
    title="Parcels at two docks",
    unit="parcels",
    bound="10 s",
    late_to="side",
    window="5 min",
    start="9:00",
    checkpoints={"interval": "2 min"},
    happenings=[{"what": "crash", "at": "9:06:40", "down": "20 s"}],
    events=[
        ["north", 10, "9:01", "9:01:05"],
        ["south", 8, "9:03", "9:03:04"],
        ["north", 12, "9:05:30", "9:05:34"],
        ["south", 3, "9:04:40", "9:05:50"],
        ["north", 4, "9:04:50", "9:06:10"],
        ["south", 6, "9:04:55", "9:06:20"],
        ["north", 9, "9:06:05", "9:06:25"],
        ["south", 2, "9:04:58", "9:06:30"],
        ["north", 7, "9:10:30", "9:10:35"],
    ],
)
"""Tasks 3 and 4: four events are too late, and a crash comes after them."""

MOST = 25
"""Task 5: how many events may be read again."""


def _arrivals() -> Iterator[int]:
    """Give the arrivals of task 5 in ms: one every 4 s, from 8:06 to 8:08 one every second."""
    at_ms, end_ms = time_ms("8:00"), time_ms("8:12")
    while at_ms < end_ms:
        yield at_ms + 500
        at_ms += 1_000 if time_ms("8:06") <= at_ms < time_ms("8:08") else 4_000


RUSH = Scenario.of(
    name="rush-on-the-belt",
    title="A belt with a rush of two minutes",
    unit="parcels",
    bound="2 s",
    window="1 min",
    start="8:00",
    checkpoints={"interval": "2 min"},
    events=[["belt", 1, at_ms - 500, at_ms] for at_ms in _arrivals()],
)
"""Task 5."""

SCANNER = DOCKS.replace(
    name="scanner-corrections",
    title="Two docks, with corrections",
    lateness="30 s",
    events=[
        ["north", 10, "9:01", "9:01:05"],
        ["north", 14, "9:02", "9:02:05"],
        ["south", 8, "9:03", "9:03:04"],
        ["south", 5, "9:03:30", "9:03:35"],
        ["north", 12, "9:05:30", "9:05:34"],
        ["north", -3, "9:04:40", "9:05:50"],
        ["north", 9, "9:05:50", "9:05:55"],
        ["south", 30, "9:04:30", "9:06:10"],
        ["north", 4, "9:04:50", "9:06:20"],
        ["north", 7, "9:10:30", "9:10:35"],
    ],
)
"""Task 6: a correction that lowers a total, and a part that is larger than the whole."""

BUSY = SCANNER.replace(
    name="busy-docks",
    title="Two docks, with many late events",
    events=[
        ["north", 10, "9:01", "9:01:05"],
        ["north", 14, "9:02", "9:02:05"],
        ["north", 6, "9:03", "9:03:04"],
        ["south", 5, "9:03:30", "9:03:35"],
        ["north", 2, "9:04", "9:04:05"],
        ["north", 12, "9:05:30", "9:05:34"],
        ["north", -3, "9:04:40", "9:05:50"],
        ["north", 9, "9:05:50", "9:05:55"],
        ["north", 30, "9:04:30", "9:06:10"],
        ["north", 4, "9:04:50", "9:06:20"],
        ["north", -4, "9:04:55", "9:06:25"],
        ["north", 7, "9:10:30", "9:10:35"],
    ],
)
"""Task 6, with the other: here a part has up to three events, and the whole has five."""

GIVEN = {
    "read-again": BELTS,
    "three-sources": BELTS,
    "late-no-more": DOCKS,
    "overwritten": DOCKS,
    "checkpoint-interval": RUSH,
    "guard": SCANNER,
}


def _read_again(trace: Trace) -> list[str]:
    """Name the events that a restore made the source give again."""
    return [getattr(row.subject, "id", "") for row in trace if row.kind is Kind.REWOUND]


def read_again() -> Task:
    """Task 1: which events are read a second time."""
    whys = {
        "north@8:02:50": "north's 8:02:50 was read before checkpoint 3 of 8:03: its 30 parcels are in the state.",
        "south@8:03:45": "south's 8:03:45 comes while the job is down. It is read after the restart, but only once.",
        "south@8:02:55": "Of south's 8:02:55 look at the arrival: the source reads it after the checkpoint of 8:03.",
        "north@8:03:10": "After a crash Flink goes back to a checkpoint. The savepoint of 8:03:20 is newer, but is not "
        "used.",
        "north@8:04:20": "north's 8:04:20 comes when the job runs again. It is read only once.",
    }
    return Task(
        "Which events does the source read a second time?",
        lambda answer: judge_names(
            answer,
            frozenset(_read_again(wmviz.simulate(BELTS))),
            whys,
            "They were read between checkpoint 3 of 8:03:00 and the crash of 8:03:40.",
        ),
        (
            "To which point in time does the job go back? A checkpoint is taken at 8:01, 8:02, and so on.",
            "A savepoint belongs to the person who asked for it. After a crash Flink does not go back to it.",
            "What the source read from 8:03:00 on, up to the crash, is read again. Compare with the arrivals.",
        ),
    )


# --------------------------------------------------------------------------------------------------- three sources

SOURCES = {
    "offsets": "A source with offsets",
    "start": "A source that starts again",
    "none": "A source that keeps nothing",
}


def three_sources() -> Task:
    """Task 2: north's total with three kinds of sources."""
    totals = {replay: _north(wmviz.simulate(BELTS.replace(replay=replay))) for replay in SOURCES}
    stored = sum(e.value for e in BELTS.events[:3] if e.key == "north")
    seen = sum(e.value for e in BELTS.events[:6] if e.key == "north")
    whys = {
        "offsets": {
            stored: "that is the checkpoint alone. The source goes back too, and reads on.",
            seen: "that is the state at the crash. It is gone; and 5 parcels come after the restart.",
            totals["offsets"] + 30: "the 20 and the 10 count once: the state that had them is gone with the crash.",
        },
        "start": {
            totals["offsets"]: "the list begins at its first event, and the state has some of them already.",
            totals["offsets"] + seen: "what was counted after the checkpoint is gone. Only the state of 8:03 is added.",
        },
        "none": {
            stored: "5 parcels come after the restart. A socket gives what is sent from then on.",
            totals["offsets"]: "a socket gives nothing a second time: what came since the checkpoint is lost.",
        },
    }
    return Task(
        "What is north's total of [8:00, 8:10) with each of the three sources?",
        lambda answer: _judge_three(answer, totals, whys),
        (
            "All three begin with the same state: that of checkpoint 3. How many parcels of north does it have?",
            "It has 40 + 30 = 70. What does each source give after it: what follows, everything, or only what is new?",
            "With offsets: 20, 10 and 5. From the start: all five events of north. A socket: the last one of north.",
        ),
    )


def _north(trace: Trace) -> int:
    total: int = trace.totals["north", time_ms("8:00"), time_ms("8:10")]
    return total


def _judge_three(answer: object, totals: Mapping[str, int], whys: Mapping[str, Mapping[int, str]]) -> Verdict:
    """Judge the three numbers one by one; the first wrong one is spoken of."""
    if isinstance(answer, str):
        answer = answer.split(",")
    if isinstance(answer, Mapping):
        answer = list(answer.values())
    if not isinstance(answer, (list, tuple)) or len(answer) != len(totals):
        return not_yet("Give three numbers in a list: with offsets, starts again, keeps nothing.")
    for replay, got in zip(totals, map(read_number, answer), strict=True):
        if got != totals[replay]:
            amount = "few" if got < totals[replay] else "many"
            why = whys[replay].get(got, f"{got:,} is too {amount}. Begin with the state of checkpoint 3.")
            return wrong(f"{SOURCES[replay]}: {why}")
    return right(
        "70 from the checkpoint, and then 20 + 10 + 5; or all 105 of the list; or only the 5 after the restart."
    )


# ---------------------------------------------------------------------------------------------------- late no more


def late_no_more() -> Task:
    """Task 3: which events are too late before the crash, and counted after it."""
    trace = wmviz.simulate(DOCKS)
    counted = {event for firing in trace.all_firings for event in firing.event_ids}
    names = frozenset(wmviz.simulate(DOCKS.replace(happenings=[])).outcomes().late & counted)
    whys = {
        "north@9:04:50": "Right after the restore the watermark is at MIN. What can be late then?",
        "south@9:04:40": "south's 9:04:40 was read before the checkpoint of 9:06. Nobody reads it again.",
        "south@9:04:58": "When south's 9:04:58 is read again, north's 9:06:05 comes before it, and has brought the "
        "watermark back.",
        "north@9:06:05": "north's 9:06:05 was never late: its window is [9:05, 9:10).",
        "south@9:04:55": "north's 9:04:50 brings the watermark to 9:04:39.999 only. What does south's 9:04:55 meet?",
    }
    return Task(
        "Which events are too late before the crash, and count after it?",
        lambda answer: judge_names(
            answer, names, whys, "They meet MIN and 9:04:39.999: the watermark is not yet back at 9:04:59.999."
        ),
        (
            "Go through what is read again, in order. Which watermark does each of them meet?",
            "A checkpoint holds no watermark. The first event that is read again meets MIN.",
            "After each event the watermark is the newest event time since the restart − 10 s − 1 ms.",
        ),
    )


# ----------------------------------------------------------------------------------------------------- overwritten


def overwritten() -> Task:
    """Task 4: mend a job whose totals a crash overwrites."""
    return Task(
        "Mend the job so that no crash changes a total.",
        lambda job: judge_job(
            job, DOCKS, "after the crash north's total of [9:00, 9:05) is 4 in place of 10.", _judge_overwritten
        ),
        (
            "An event that was too late opens its window anew. When does it find the window as it was?",
            "While the state of the window is in the checkpoint, a replay is harmless. How long must it stay there?",
            "Beyond the watermark that the last late event meets, 9:06:05 − 10 s − 1 ms. Count from 9:04:59.999.",
        ),
    )


def _judge_overwritten(job: Scenario) -> Verdict:
    if refused := _not_the_task(job):
        return wrong(refused)
    if not _outcome(job.replace(happenings=[])):
        return wrong(
            "Now no window fires in this run, with or without a crash: there is no total that a crash could change. "
            "The sink needs its rows."
        )
    crash = next(iter(_spoilt(job)), None)
    if crash is None:
        if job.lateness_ms:
            return right("The windows are still in the checkpoint whenever one of these events is read again.")
        return right("None of them is late now. The price: every result comes that much later.")
    if job.replay != DOCKS.replay:
        return wrong("Now the source cannot go back: a crash loses events, or counts them twice.")
    if _outcome(job) == _outcome(job.replace(happenings=[])):
        quiet = f"The crash of 9:06:40 does no harm now. But let a checkpoint be complete just before {crash} comes"
        if job.lateness_ms > DOCKS.lateness_ms:
            return wrong(f"{quiet}: its window is deleted by then. After a crash it opens the window anew.")
        return wrong(f"{quiet}, and the job crash behind it: it is read again, and nothing is late.")
    if job.checkpoints != DOCKS.checkpoints:
        return wrong("The checkpoints are not to blame: none of them holds a watermark, of whatever kind it is.")
    if job.late_to != DOCKS.late_to:
        return wrong("Where late events go plays no part: after the restore these are not late.")
    if job.lateness_ms or job.bound_ms != DOCKS.bound_ms:
        return wrong(f"Not enough: {crash} can still open its window anew after a crash.")
    return wrong("After a crash there are still other totals. Which setting keeps the state of a window longer?")


def _not_the_task(job: Scenario) -> str | None:
    """Say what was changed that is not to be changed; None if nothing was."""
    if job.events != DOCKS.events:
        return "The events are what they are. Change the settings of the job."
    if job.window != DOCKS.window or job.strategy != DOCKS.strategy:
        return "With other windows or no watermark it is another question. Keep both."
    if job.start_ms != DOCKS.start_ms:
        return "The start of the job is what it is: 9:00. Change what it does."
    if job.happenings != DOCKS.happenings:
        return "Machines fail whether the job expects it or not. Keep the crash, and change what it does."
    if job.checkpoints is None:
        return (
            "Without a checkpoint everything since the beginning is read again. The totals would be right, but "
            "after a year of data nobody could wait for it."
        )
    if job.sink != DOCKS.sink:
        return "The window sends a part of the total; another sink only writes that down in another way."
    return None


def _crashes(job: Scenario) -> Iterator[tuple[str, Scenario]]:
    """Let a checkpoint be complete just before any event, and the job crash after that one or a later one."""
    for number, event in enumerate(job.events):
        first_ms = event.arrival_time_ms - 1_000 - job.grid_start_ms
        for last in job.events[number:]:
            crash = {"what": "crash", "after": last.id, "down": "20 s"}
            yield event.id, job.replace(checkpoints={"first": first_ms, "interval": "1 h"}, happenings=[crash])


def _spoilt(job: Scenario) -> Iterator[str]:
    """Name the events whose replay spoils a total."""
    quiet = _outcome(job.replace(happenings=[]))
    return (event for event, crashed in _crashes(job) if _outcome(crashed) != quiet)


def _outcome(job: Scenario) -> dict[Any, Any]:
    return wmviz.simulate(job).totals


# --------------------------------------------------------------------------------------------- checkpoint interval


def checkpoint_interval() -> Task:
    """Task 5: the longest interval with which a crash makes the source read few events again."""
    return Task(
        f"Which is the longest checkpoint interval with which a crash lets at most {MOST} events be read again?",
        _judge_interval,
        (
            "The crash may come at any time. The worst is one just before the next checkpoint.",
            "What is read again is what has arrived since the last checkpoint. When do the most events arrive?",
            "In the rush one event arrives every second. How long does it take until there are more than allowed?",
        ),
    )


def most_read_again(interval_ms: int) -> int:
    """Give how many events the source reads again if the job of task 5 crashes at the worst moment."""
    job = RUSH.replace(checkpoints={"interval": interval_ms})
    done_ms = _completed_ms(wmviz.simulate(job))
    since, worst, event_id = 0, 0, ""
    for before, event in pairwise([RUSH.events[0], *RUSH.events]):
        is_new = any(before.arrival_time_ms <= at_ms < event.arrival_time_ms for at_ms in done_ms)
        since = 1 if is_new else since + 1
        if since > worst:
            worst, event_id = since, event.id
    return len(_read_again(wmviz.simulate(job.replace(happenings=[{"what": "crash", "after": event_id}]))))


def _completed_ms(trace: Trace) -> list[int]:
    return [r.at_ms for r in trace if r.kind is Kind.CHECKPOINT and r.value == CheckpointPhase.COMPLETED]


def _judge_interval(answer: object) -> Verdict:
    interval_ms = read_duration(answer)
    if interval_ms <= 0:
        return wrong("An interval is longer than 0.")
    if interval_ms % 1_000:
        return not_yet('Give whole seconds and their unit, such as "40 s"; a number alone is read as milliseconds.')
    again = most_read_again(interval_ms)
    if again > MOST:
        rush = f"A crash in the rush lets {again} events be read again."
        if interval_ms == MOST * 4_000:
            return wrong(f"{rush} You reckoned with one event every 4 s, as in the quiet minutes.")
        if interval_ms // 1_000 == MOST * 720 // len(RUSH.events):
            return wrong(f"{rush} You reckoned with the average; a crash may come when the most arrives.")
        return wrong(f"{rush} The worst moment counts.")
    if most_read_again(interval_ms + 1_000) <= MOST:
        return wrong(f"That does it, but a longer one does, too: with {duration_text(interval_ms)} it is {again}.")
    return right(f"In the rush {again} events arrive between two checkpoints, and one more with a second more.")


# ------------------------------------------------------------------------------------------------------------ guard


class Row(NamedTuple):
    """A row of the sink: a window's total and the number of its events."""

    total: int
    events: int


def guard() -> Task:
    """Task 6: build the rule by which a sink refuses a part in place of the whole."""
    return Task("Build the rule: may the new row overwrite the old one?", _judge_guard, _GUARD_HINTS)


_GUARD_HINTS = (
    "Which number tells a correction from a part: the total, or how many events are in it?",
    "A correction has all events of the old row and one more. A part after a restore has few.",
    "Compare `new.events` with `old.events`. The totals play no part.",
)


def _judge_guard(own: Any) -> Verdict:
    if not callable(own):
        return not_yet("Give the function itself, without brackets behind its name.")
    crashed = [(docks, job) for docks in (SCANNER, BUSY) for _, job in _crashes(docks)]
    try:
        for docks in (SCANNER, BUSY):
            if not _keeps_totals(own, docks, docks.replace(happenings=[])):
                return wrong(_guard_slip(own))
        for docks, job in crashed:
            if not _keeps_totals(own, docks, job):
                return wrong(_guard_slip(own))
    except AnswerError as error:
        return not_yet(str(error))
    return right(f"The job crashed at {len(crashed)} places, with your rule in its sink: no total is lost.")


def _keeps_totals(own: Callable[[Row, Row], object], docks: Scenario, job: Scenario) -> bool:
    """Say whether a sink with the learner's rule ends with the totals of a run without a crash."""
    return _guarded(own, wmviz.simulate(job)) == _outcome(docks.replace(happenings=[]))


def _guarded(own: Callable[[Row, Row], object], trace: Trace) -> dict[Any, int]:
    """Give the totals in a sink that asks the learner's rule."""
    rows: dict[Any, Row] = {}
    for firing in trace.all_firings:
        place = (firing.key, firing.window.start_ms, firing.window.end_ms)
        new = Row(firing.value, len(firing.event_ids))
        if place not in rows or _asked(own, rows[place], new):
            rows[place] = new
    return {place: row.total for place, row in rows.items()}


def _asked(own: Callable[[Row, Row], object], old: Row, new: Row) -> bool:
    return truth(called(own, "overwrites", old, new), "overwrites")


def _guard_slip(own: Callable[[Row, Row], object]) -> str:
    """Name the thought by asking the rule about some pairs of rows."""
    if not _asked(own, Row(24, 2), Row(21, 3)):
        return (
            "It refuses a correction: north's 24 of 2 events become 21 of 3, when the −3 comes. A total may fall, and "
            "a first row is not the last."
        )
    if _asked(own, Row(35, 5), Row(29, 3)) and not _asked(own, Row(21, 3), Row(4, 1)):
        return (
            "A part of 3 events still overwrites a whole of 5. How many are a part depends on how many the old row has."
        )
    if _asked(own, Row(29, 5), Row(-4, 1)) and not _asked(own, Row(21, 3), Row(4, 1)):
        return "A part with a total below 0 still overwrites the whole. How low it is plays no part, either."
    if not _asked(own, Row(13, 2), Row(30, 1)):
        return "A part still overwrites the whole: after a restore north's 21 of 3 events become 4 of 1."
    if _asked(own, Row(21, 3), Row(4, 1)):
        return "It lets everything through: after a restore north's 21 of 3 events become 4 of 1."
    return "After a restore south's 30 of 1 event overwrite 13 of 2. A larger total is not always the whole."


ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "read-again": read_again,
    "three-sources": three_sources,
    "late-no-more": late_no_more,
    "overwritten": overwritten,
    "checkpoint-interval": checkpoint_interval,
    "guard": guard,
}
