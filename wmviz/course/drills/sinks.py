"""Drill: what the reader of a sink finds, by kind of sink and of reader."""

from __future__ import annotations

import random
from typing import Any

from wmviz.course.drills.exercise import Exercise, Option, Topic
from wmviz.course.drills.streams import HOUR_MS, MINUTE_MS, SECOND_MS, World, simulated, window_text
from wmviz.scenario import Scenario
from wmviz.times import time_text
from wmviz.trace import Trace

_READERS = {
    "committed": "The reader reads committed results only.",
    "all": "The reader has the default isolation level, read_uncommitted.",
}
_SINKS = {
    "append": "The sink appends each result as a row, at once.",
    "upsert": "The sink overwrites the row of its key and window, at once.",
    "transactional": "The sink is transactional and appends each result as a row.",
}


def _draw(rng: random.Random, level: int, aim: str) -> Exercise | None:
    place = World(tuple(rng.sample(["ana", "ben", "cem", "dia"], 3)), MINUTE_MS, rng.randint(6, 15) * HOUR_MS)
    return (_count, _first, _rows)[level - 1](rng, place, aim)


def _job(place: World, start_ms: int, rows: list[list[Any]], **settings: Any) -> Scenario:
    """Make a job with windows of an hour; it starts soon before the end of the first."""
    fields = {"name": "drill", "title": "A drill", "bound": "2 min", "window": "1 h", "unit": "m", "start": start_ms}
    return Scenario.of(**{**fields, "sink": "transactional", "events": rows, **settings})


def _crash(at_ms: int, down_ms: int) -> list[dict[str, Any]]:
    return [{"what": "crash", "at": at_ms, "down": down_ms}]


def _found(trace: Trace, reader: str, at_ms: int, key: str, place: World) -> tuple[int, ...]:
    """Give the values of a key's first window that a reader finds at a time, oldest first."""
    state = trace.state(trace.step_at(at_ms))
    rows = state.sink if reader == "committed" or trace.scenario.sink != "transactional" else state.uncommitted
    return tuple(value for who, window, value in rows if who == key and window.end_ms == place.end_ms)


def _checkpoints(at_ms: int, notice_ms: int, crashes: bool) -> str:
    """Say when checkpoints are taken, and when the sink hears of them."""
    more = ", and one as soon as the job runs again; the source reads again from its offsets" if crashes else ""
    return (
        f"Checkpoints every minute, one of them at {time_text(at_ms)}{more}. The sink hears {notice_ms // SECOND_MS} s "
        "after each that it is complete."
    )


# Level 1: how many rows, for two readers of a transactional sink ----------------------------------------------------


def _count(rng: random.Random, place: World, aim: str) -> Exercise | None:
    reader, when = aim.split(", ")
    me, other, _ = place.keys
    start = place.end_ms - 20 * SECOND_MS
    fires = start + 2 * MINUTE_MS + rng.randint(23, 29) * SECOND_MS
    crash = fires + rng.randint(4, 10) * SECOND_MS
    back = crash + 5 * SECOND_MS
    notice = rng.randint(8, 12) * SECOND_MS
    rows = [
        [me, rng.randint(5, 40) * 100, place.at(rng.randint(20, 55)), start + 10 * SECOND_MS],
        [other, 1000, place.end_ms + 2 * MINUTE_MS, fires],
    ]
    checkpoints = {"interval": MINUTE_MS, "notice": notice}
    scenario = _job(place, start, rows, checkpoints=checkpoints, happenings=_crash(crash, 5 * SECOND_MS))
    trace = simulated(scenario)
    asked = {"written": crash - SECOND_MS, "fired again": back + 3 * SECOND_MS, "complete": back + 30 * SECOND_MS}[when]
    answer = len(_found(trace, reader, asked, me, place))
    texts = ("No row", "One row", "Two rows", "Three rows")
    options = [
        Option(n, text, _why_count(reader, when) if n == answer else _why_not_count(reader, n, answer, when), "")
        for n, text in enumerate(texts)
    ]
    named = [o if o.value == answer else o._replace(thought=_thought_count(reader, o.value, answer)) for o in options]
    so_far = "" if when == "written" else f"The job crashes at {time_text(crash)} and runs again at {time_text(back)}. "
    return Exercise(
        scenario,
        f"{so_far}It is {time_text(asked)}. How many rows for {me} and {window_text(place.start_ms, place.end_ms)} "
        "does the reader find?",
        answer,
        tuple(named),
        "number",
        f"{_SINKS['transactional']} {_READERS[reader]} The window fires at {time_text(fires)} for the first time. "
        f"{_checkpoints(start + 2 * MINUTE_MS, notice, crashes=when != 'written')}",
    )


def _why_count(reader: str, when: str) -> str:
    return {
        ("committed", "written"): "It is written, and its transaction is open. No checkpoint has been complete since.",
        ("committed", "fired again"): "The first transaction was aborted; the second waits for its checkpoint.",
        ("committed", "complete"): "The transaction of before the crash was aborted, the one after it is committed.",
        ("all", "written"): "This reader finds what is written, committed or not.",
        ("all", "fired again"): "It finds the row of the aborted transaction, and that of the open one.",
        ("all", "complete"): "One transaction is committed, one was aborted. This reader finds the rows of both.",
    }[reader, when]


def _why_not_count(reader: str, n: int, answer: int, when: str) -> str:
    if n == 3 and when == "written":
        return "The window has fired once, and nothing has made it fire again."
    if n == 3:
        return "The window fires once before the crash and once after it. There is no third time."
    if reader == "all":
        return (
            "This reader waits for no commit: it finds each row that was written."
            if n < answer
            else "Count the firings up to now: each writes one row."
        )
    if n < answer:
        return "A checkpoint is complete since the second firing, and its transaction is committed."
    return "This reader finds a row only when a checkpoint that covers it is complete; an aborted one it never finds."


def _thought_count(reader: str, n: int, answer: int) -> str:
    if n == 3:
        return "fires three times"
    if reader == "all":
        return "takes it for read_committed" if n < answer else "counts a firing to come"
    return "never committed" if n < answer else "takes it for read_uncommitted"


# Level 2: when a result is found first ------------------------------------------------------------------------------


def _first(rng: random.Random, place: World, aim: str) -> Exercise | None:
    me, other, _ = place.keys
    start = place.end_ms - 20 * SECOND_MS
    notice = rng.randint(2, 4) * SECOND_MS
    fires = start + 2 * MINUTE_MS + rng.randint(10, 25) * SECOND_MS
    barrier = start + 3 * MINUTE_MS
    crash = {"before the barrier": barrier - rng.randint(5, 20) * SECOND_MS, "before the notice": barrier + SECOND_MS}
    down = rng.randint(4, 9) * SECOND_MS
    rows = [
        [me, rng.randint(5, 40) * 100, place.at(rng.randint(20, 55)), start + 10 * SECOND_MS],
        [other, 1000, place.end_ms + 2 * MINUTE_MS, fires],
    ]
    reader = "all" if aim == "reads all" else "committed"
    at = crash.get(aim) or (crash["before the barrier"] if aim == "reads all" else None)
    if at is not None and at <= fires:
        return None
    scenario = _job(
        place,
        start,
        rows,
        checkpoints={"interval": MINUTE_MS, "notice": notice},
        happenings=_crash(at, down) if at else [],
    )
    trace = simulated(scenario)
    moments = sorted(set(trace.step_at_ms))
    answer = next(ms for ms in moments if _found(trace, reader, ms, me, place))
    back = at + down if at else barrier + MINUTE_MS
    wrong = [
        Option(fires, "", "That is when it is written. Its transaction is open, or was aborted.", "written"),
        Option(barrier + notice, "", _WHY_NOT_NOTICE[aim], "the first checkpoint"),
        Option(back, "", _WHY_NOT_BACK[aim], "back" if at else "waits too long"),
        Option(back + notice, "", _WHY_NOT_AFTER[aim], "waits too long"),
        Option(barrier, "", "At the barrier a transaction is only prepared. It is committed later.", "prepared"),
    ]
    right = Option(answer, "", _WHY_FIRST[aim])
    crashes = f"The job crashes at {time_text(at)} and runs again at {time_text(back)}. " if at else ""
    return Exercise(
        scenario,
        f"{crashes}When does the reader first find a row for {me} and {window_text(place.start_ms, place.end_ms)}?",
        answer,
        tuple(o._replace(text=time_text(o.value)) for o in (right, *wrong)),
        "time",
        f"{_SINKS['transactional']} {_READERS[reader]} The last event makes the window fire. "
        f"{_checkpoints(barrier - MINUTE_MS, notice, crashes=bool(at))}",
    )


_WHY_NOT_NOTICE = {
    "calm": "That is when the sink hears of it.",
    "before the barrier": "The crash comes before that barrier, and aborts the open transaction.",
    "before the notice": "By then the job is down: the sink does not hear of it. The checkpoint is complete all the "
    "same.",
    "reads all": "This reader does not wait for a commit.",
}
_WHY_NOT_BACK = {
    "calm": "That is the barrier of another checkpoint. One is enough.",
    "before the barrier": "The window fires again, and opens a transaction. It is committed later.",
    "before the notice": "",
    "reads all": "This reader does not wait for the restore.",
}
_WHY_NOT_AFTER = {
    "calm": "It waits for one checkpoint, not for two.",
    "before the barrier": "",
    "before the notice": "The checkpoint of before the crash is complete. It needs no other one.",
    "reads all": "This reader does not wait for a commit.",
}
_WHY_FIRST = {
    "calm": "The sink hears that the checkpoint is complete, and commits.",
    "before the barrier": "The crash aborts the first transaction. After the restore the window fires again, and the "
    "sink commits when it hears that the next checkpoint is complete.",
    "before the notice": "The checkpoint is complete and holds the prepared transaction: the restore commits it.",
    "reads all": "This reader finds a row when it is written, even if its transaction is aborted later.",
}


# Level 3: which rows, with a correction and a crash -------------------------------------------------------------------


def _rows(rng: random.Random, place: World, aim: str) -> Exercise | None:
    sink, reader, when = aim.split(", ")
    me, other, _ = place.keys
    start = place.end_ms - 20 * SECOND_MS
    fires = start + 2 * MINUTE_MS + rng.randint(10, 20) * SECOND_MS
    barrier = start + 3 * MINUTE_MS
    notice, down = 2 * SECOND_MS, 5 * SECOND_MS
    total, more = rng.sample(range(300, 4000, 100), 2)
    late = barrier + rng.randint(30, 35) * SECOND_MS
    crash = {
        "first": fires + rng.randint(5, 15) * SECOND_MS,
        "correction": late + rng.randint(5, 15) * SECOND_MS,
        "timeout": barrier + SECOND_MS,
    }[when]
    if when == "timeout":
        down, late = 5 * MINUTE_MS, barrier + 6 * MINUTE_MS
    rows = [
        [me, total, place.at(rng.randint(20, 40)), start + 10 * SECOND_MS],
        [other, 1000, place.end_ms + 2 * MINUTE_MS, fires],
        [me, more, place.at(rng.randint(41, 55)), late],
        [other, 1000, place.end_ms + 3 * MINUTE_MS, barrier + 10 * MINUTE_MS],
    ]
    scenario = _job(
        place,
        start,
        rows,
        lateness="20 min",
        late_to="side",
        checkpoints={"interval": MINUTE_MS, "notice": notice},
        sink=sink,
        happenings=_crash(crash, down),
        **({"transaction_timeout": 2 * MINUTE_MS} if sink == "transactional" else {}),
    )
    trace = simulated(scenario)
    answer = _found(trace, reader, trace.step_at_ms[-1], me, place)
    both = total + more
    wrong = {
        (total, both): _WHY_NOT_BOTH[sink, reader, when],
        (both,): ("Only a sink that overwrites has the last total alone.", "overwrites"),
        (total, total, both): ("Ask which firings come after the crash, and what the sink does with them.", "first"),
        (total, both, both): ("Ask which firings come after the crash, and what the sink does with them.", "second"),
        (total, total, both, both): ("Only what no checkpoint has yet fires again, not everything.", "all again"),
        (total,): ("The late event still counts: the window fires again with it.", "no correction"),
    }
    if sink == "upsert":
        wrong.pop((both,))
    ways = [Option(value, _listed(value), *said) for value, said in wrong.items() if value != answer]
    happened = f"{me} has a result at {time_text(fires)}, and a late event at {time_text(late)}."
    return Exercise(
        scenario,
        f"{happened} The job crashes at {time_text(crash)} and runs again at {time_text(crash + down)}. "
        f"Which rows for {me} and {window_text(place.start_ms, place.end_ms)} does the reader find in the end?",
        answer,
        (Option(answer, _listed(answer), _why_rows(sink, reader, when)), *ways),
        "letter",
        f"{_SINKS[sink]} {_reader_text(sink, reader)}Allowed lateness 20 min. "
        f"{_checkpoints(barrier, notice, crashes=True)}{_timeout_text(sink)}",
    )


_WHY_NOT_BOTH = {
    (sink, reader, when): said
    for when in ("first", "correction", "timeout")
    for sink, reader, said in (
        ("append", "all", ("That is so without the crash. What no checkpoint has fires again.", "no crash")),
        ("upsert", "all", ("This sink overwrites: the old total is gone.", "appends")),
        ("transactional", "all", ("This reader also finds the rows that were aborted.", "reads committed")),
        (
            "transactional",
            "committed",
            ("The prepared transaction was older than its timeout when the job came back.", "no timeout"),
        ),
    )
}


def _listed(values: tuple[int, ...]) -> str:
    return ", then ".join(f"{value:,} m" for value in values) or "None"


def _reader_text(sink: str, reader: str) -> str:
    return f"{_READERS[reader]} " if sink == "transactional" else ""


def _timeout_text(sink: str) -> str:
    return " The broker ends a transaction after 2 min." if sink == "transactional" else ""


def _why_rows(sink: str, reader: str, when: str) -> str:
    if sink == "upsert":
        return "However often the window fires, there is one row, and the last total is in it."
    if when == "timeout":
        return (
            "The first result was prepared, and its transaction ended while the job was down. The window had fired, "
            "so nobody writes that row again; the correction comes in a new transaction."
        )
    again = "first result" if when == "first" else "correction"
    if reader == "committed":
        return f"The {again} of before the crash was aborted. Each result is committed once."
    stays = "its aborted row is found too" if sink == "transactional" else "its first row stays"
    return f"No checkpoint had the {again}, so it is written again after the restore, and {stays}."


TOPIC = Topic(
    "sinks",
    12,
    "what a reader finds in an appending, overwriting or transactional sink around a crash",
    _draw,
    (
        (
            *("committed, written", "committed, fired again"),
            *("committed, complete", "all, written"),
            *("all, fired again", "all, complete"),
        ),
        ("calm", "before the barrier", "before the notice", "reads all"),
        (
            *("append, all, first", "append, all, correction"),
            *("upsert, all, first", "upsert, all, correction"),
            *("transactional, committed, first", "transactional, committed, correction"),
            *("transactional, all, first", "transactional, all, correction"),
            "transactional, committed, timeout",
        ),
    ),
)
