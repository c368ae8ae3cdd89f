"""Drill: what the sink shows after a crash."""

from __future__ import annotations

import random
from typing import Any

from wmviz.course.drills.exercise import Exercise, Option, Topic
from wmviz.course.drills.streams import HOUR_MS, MINUTE_MS, SECOND_MS, World, simulated, window_text
from wmviz.scenario import Scenario
from wmviz.times import time_text
from wmviz.trace import Trace


def _draw(rng: random.Random, level: int, aim: str) -> Exercise | None:
    place = World(tuple(rng.sample(["ana", "ben", "cem", "dia"], 3)), MINUTE_MS, rng.randint(6, 15) * HOUR_MS)
    return (_total, _reader, _overwritten)[level - 1](rng, place, aim)


_SOURCES = {
    "offsets": "The source remembers offsets, and reads again from there.",
    "none": "The source is a socket: what it has sent is gone.",
    "start": "The source is a list that starts again from its beginning, whatever the checkpoint says.",
}


def _total(rng: random.Random, place: World, aim: str) -> Exercise | None:
    me, other, _ = place.keys
    start = place.end_ms - 90 * SECOND_MS
    before, between, after = rng.sample(range(300, 9900, 100), 3)
    crash = start + 50 * SECOND_MS
    rows = [
        [me, before, place.at(rng.randint(40, 50)), start + rng.randint(2, 25) * SECOND_MS],
        [me, between, place.at(rng.randint(51, 56)), start + rng.randint(32, 48) * SECOND_MS],
        [me, after, place.at(rng.randint(57, 59)), start + 75 * SECOND_MS],
        [other, 1000, place.end_ms + 2 * MINUTE_MS, start + 5 * MINUTE_MS],
    ]
    scenario = Scenario.of(
        name="drill",
        title="A drill",
        bound="2 min",
        window="1 h",
        start=start,
        unit="m",
        checkpoints={"interval": "30 s"},
        happenings=[{"what": "crash", "at": crash, "down": "10 s"}],
        replay=aim,
        events=rows,
    )
    answer = _last_total(simulated(scenario), me, place)
    again = "That counts twice what came since the checkpoint. "
    both = {
        "offsets": f"{again}State and offsets go back together, so what is read again is not in the state.",
        "none": f"{again}A socket sends nothing again, so what the crash took is not counted at all.",
        "start": f"{again}That went with the crash, and the list gives it once. What the checkpoint has counts twice.",
    }[aim]
    wrong = {
        before + between + after: ("That is the total without a crash.", "as without a crash"),
        before + after: (
            "What came between the checkpoint and the crash is missing there.",
            "lost since the checkpoint",
        ),
        before + 2 * between + after: (both, "counted twice"),
        2 * before + between + after: (
            "Look at what the state holds after the restore, and what is read again.",
            "from the start",
        ),
        before: ("Events that come after the restore count too.", "only the checkpoint"),
        between + after: ("The state of the checkpoint is restored; it is not empty.", "state lost"),
    }
    why = {
        "offsets": f"The state goes back to {before:,} m; {between:,} m is read again, once; then {after:,} m comes.",
        "none": f"The state goes back to {before:,} m; the {between:,} m since then cannot be read again.",
        "start": f"The state goes back to {before:,} m, and the list gives that and all the rest once more.",
    }[aim]
    return Exercise(
        scenario,
        f"The job crashes at {time_text(crash)} and is restored. In the end the window "
        f"{window_text(place.start_ms, place.end_ms)} of {me} fires. With which total?",
        answer,
        _numbers(answer, why, wrong, "m"),
        "number",
        f"A checkpoint every 30 s, first at {time_text(start + 30 * SECOND_MS)}. {_SOURCES[aim]}",
    )


def _numbers(answer: int, why: str, wrong: dict[int, tuple[str, str]], unit: str) -> tuple[Option, ...]:
    others = (Option(value, f"{value:,} {unit}", *said) for value, said in wrong.items())
    return (Option(answer, f"{answer:,} {unit}", why), *others)


def _last_total(trace: Trace, key: str, place: World) -> int:
    return next(value for who, window, value in trace.state().sink if who == key and window.end_ms == place.end_ms)


_SINKS = {
    "append": "The sink appends each result as a line.",
    "upsert": "The sink overwrites the row of its key and window.",
    "transactional": "The sink is transactional; the reader reads committed results only.",
}


def _reader(rng: random.Random, place: World, aim: str) -> Exercise | None:
    """The window fires, and the job crashes before or after the next checkpoint."""
    sink, when = aim.split(", ")
    me, other, _ = place.keys
    start = place.end_ms - 20 * SECOND_MS
    fires = start + 2 * MINUTE_MS + rng.randint(23, 29) * SECOND_MS
    first = start + 3 * MINUTE_MS
    crash = first + rng.randint(5, 30) * SECOND_MS if when == "after" else fires + rng.randint(3, 10) * SECOND_MS
    asked = crash - SECOND_MS if when == "no crash yet" else crash + 3 * MINUTE_MS
    rows = [
        [me, 2000, place.at(rng.randint(40, 55)), start + 10 * SECOND_MS],
        [other, 1000, place.end_ms + 2 * MINUTE_MS, fires],
    ]
    crashes = [] if when == "no crash yet" else [{"what": "crash", "at": crash, "down": "5 s"}]
    scenario = Scenario.of(
        name="drill",
        title="A drill",
        bound="2 min",
        window="1 h",
        start=start,
        unit="m",
        checkpoints={"interval": "1 min"},
        sink=sink,
        happenings=crashes,
        events=rows,
    )
    trace = simulated(scenario)
    sink_rows = trace.state(trace.step_at(asked)).sink
    answer = sum(1 for key, window, _ in sink_rows if key == me and window.end_ms == place.end_ms)
    options = tuple(
        Option(
            n,
            text,
            _why_rows(sink, when, n) if n == answer else _why_not_rows(n, answer),
            "" if n == answer else f"rows {n}",
        )
        for n, text in enumerate(("No row", "One row", "Two rows", "Three rows"))
    )
    window = window_text(place.start_ms, place.end_ms)
    what = (
        "The job has not crashed."
        if not crashes
        else f"The job crashes at {time_text(crash)} and is restored after 5 s."
    )
    return Exercise(
        scenario,
        f"It is {time_text(asked)}. How many rows for {me} and {window} does a reader see?",
        answer,
        options,
        "number",
        f"Checkpoints every minute, first at {time_text(start + MINUTE_MS)}. The window fires at {time_text(fires)}. "
        f"{what} {_SINKS[sink]} The source reads again from its offsets.",
    )


def _why_rows(sink: str, when: str, n: int) -> str:
    if sink == "append" and n == 2:
        return (
            "The result was written, no checkpoint followed, and after the restore the window fired again: two lines."
        )
    if sink == "append":
        return "The firing is in the checkpoint: after the restore the window does not fire again."
    if sink == "upsert":
        return "However often it fires, it writes the same row with the same total."
    if n == 0:
        return "The result is written, but its transaction is committed only when the next checkpoint is complete."
    return "What was written before the crash without a checkpoint was aborted; one committed transaction has it."


def _why_not_rows(n: int, answer: int) -> str:
    if n < answer:
        return "More is there: ask when each result was written, and when it can be read."
    if n == 1 and not answer:
        return "It is written, but not yet committed: that waits for a complete checkpoint."
    return "Too many: ask whether the window really fires again, and what the sink does with it."


def _overwritten(rng: random.Random, place: World, aim: str) -> Exercise | None:
    """A final total, a late event that was refused, and a crash."""
    me, other, _ = place.keys
    start = place.end_ms - 36 * MINUTE_MS
    parts = rng.sample(range(500, 5000, 100), 2)
    late = rng.choice([v for v in range(200, 900, 100) if v not in parts])
    checkpoint = start + 60 * MINUTE_MS
    purging = checkpoint - 50 * SECOND_MS if aim == "partial" else checkpoint + 5 * SECOND_MS
    late_at = checkpoint + (10 if aim != "counted" else 3) * SECOND_MS
    rows: list[list[Any]] = [
        [me, parts[0], place.at(rng.randint(25, 40)), start + 6 * MINUTE_MS],
        [me, parts[1], place.at(rng.randint(41, 55)), start + 26 * MINUTE_MS],
        [other, 1000, place.end_ms + 5 * MINUTE_MS, start + 41 * MINUTE_MS],
        [other, 1000, place.end_ms + 23 * MINUTE_MS, purging],
        [me, late, place.at(58), late_at],
        [other, 1000, place.end_ms + 25 * MINUTE_MS, checkpoint + 70 * SECOND_MS],
    ]
    rows.sort(key=lambda row: row[3])
    crash = checkpoint + 30 * SECOND_MS
    scenario = Scenario.of(
        name="drill",
        title="A drill",
        bound="2 min",
        lateness="20 min",
        late_to="side",
        window="1 h",
        start=start,
        unit="m",
        checkpoints={"interval": "10 min"},
        happenings=[{"what": "crash", "at": crash, "down": "10 s"}],
        events=rows,
    )
    trace = simulated(scenario)
    answer = _last_total(trace, me, place)
    full = sum(parts)
    wrong = {
        full: (
            "The late event changes the row: ask which state is restored, and which watermark it meets.",
            "final is final",
        ),
        late: (
            "The state of the window is in the checkpoint, so a total does not begin again from nothing.",
            "partial",
        ),
        full + late: ("Ask whether the window still has state when the late event is read after the restore.", "added"),
        full + 2 * late: ("State and offsets go back together: nothing is counted twice.", "twice"),
        parts[1] + late: (
            "Both earlier events are in the same state: it is there as a whole, or gone as a whole.",
            "half",
        ),
    }
    why = {
        "partial": "The state was gone at the checkpoint and the watermark starts again: the replayed event opens the "
        "window anew, fires alone, and overwrites the row.",
        "refused": "The restored state is whole; the replay deletes it again before the late event comes, which is "
        "refused.",
        "counted": "The window still has state when the late event is read, before the crash and after: it counts "
        "once.",
    }[aim]
    return Exercise(
        scenario,
        f"The job crashes at {time_text(crash)} and is restored. What does the row of {me} and "
        f"{window_text(place.start_ms, place.end_ms)} show in the end?",
        answer,
        _numbers(answer, why, wrong, "m"),
        "number",
        "bound 2 min, allowed lateness 20 min, then a side output. Checkpoints every 10 min, the last one at "
        f"{time_text(checkpoint)}. The sink overwrites the row of its key and window.",
    )


TOPIC = Topic(
    "crash",
    11,
    "what the sink shows after a crash and a restore",
    _draw,
    (
        ("offsets", "none", "start"),
        ("append, before",) * 3
        + ("transactional, no crash yet",) * 3
        + ("append, after", "upsert, before", "transactional, before"),
        ("partial", "refused", "counted"),
    ),
)
