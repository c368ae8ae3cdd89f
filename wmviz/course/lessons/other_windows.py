"""Lesson 9, sliding, session and global windows, and time zones: its questions. Right answers come from the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import wmviz
from wmviz.course.answers import read_time
from wmviz.course.questions import Choice, Question, Task, Verdict, right, wrong
from wmviz.scenario import Scenario, ScenarioError
from wmviz.times import duration_ms, time_ms, time_text
from wmviz.trace import Trace
from wmviz.window import TimeWindow

GIVEN: Mapping[str, Any] = {}

GAP_MS = duration_ms("10 min")


def _workouts(*events: tuple[str, str, str], **settings: Any) -> Scenario:
    """Make a job with the settings of the workouts from (runner, event time, arrival time)."""
    rows = [[runner, 1000, happened, arrived] for runner, happened, arrived in events]
    return wmviz.scenario("workout-sessions").replace(name="workouts", events=rows, **settings)


def _sessions_of(trace: Trace, event_id: str) -> list[tuple[str, str]]:
    """Give the sessions that fired with this event in them, the last one last."""
    found = [firing.window for firing in trace.all_firings if event_id in firing.event_ids]
    return [(time_text(w.start_ms), time_text(w.end_ms)) for w in found if isinstance(w, TimeWindow)]


def workouts() -> Question:
    """Ask what becomes of an event that touches a session before it and one after it."""
    last = _sessions_of(wmviz.simulate(wmviz.scenario("workout-sessions")), "r4471@6:15")[-1]
    return Question(
        "Sessions end after 10 min of silence; the lateness is 10 min. r4471's session [6:00, 6:16) has fired, "
        "[6:25, 6:35) is open. Now r4471's 6:15 comes, 11 min late. In which session is it counted?",
        (
            Choice(
                ("6:00", "6:25"),
                "In the first one, which becomes [6:00, 6:25)",
                "It touches the first one, which still has state. But its own window [6:15, 6:25) reaches to 6:25, "
                "where the second one starts.",
            ),
            Choice(
                ("6:15", "6:35"),
                "In the second one, which becomes [6:15, 6:35); the first has fired and is closed",
                "Fired is not gone: with 10 min of lateness the first one has state until watermark 6:25:59.999.",
            ),
            Choice(
                ("6:00", "6:35"),
                "In both: it joins them, and they become [6:00, 6:35)",
                "Its own window [6:15, 6:25) overlaps the first and touches the second. All three become one.",
            ),
            Choice(
                None,
                "In none: it is too late",
                "The watermark is 6:22:59.999, and even its own window [6:15, 6:25) is still ahead.",
            ),
        ),
        answer=last,
    )


def touch() -> Question:
    """Ask whether two events at a distance of exactly the gap are one session."""
    job = _workouts(("r9", "6:00", "6:00"), ("r9", "6:10", "6:10"), ("r9", "7:00", "7:00"))
    window = wmviz.simulate(job).all_firings[0].window
    return Question(
        "The gap is 10 min. A runner sends a kilometre at 6:00 and the next at 6:10:00.000. One session or two?",
        (
            Choice(
                (time_ms("6:00"), time_ms("6:10")),
                "Two: [6:00, 6:10) and [6:10, 6:20) have no millisecond in common",
                "They have none in common, that is true. But Flink also joins windows that only touch.",
            ),
            Choice(
                (time_ms("6:00"), time_ms("6:20")),
                "One: [6:00, 6:10) and [6:10, 6:20) touch, and that is enough",
                "Exactly the gap is still one session. One millisecond more, and there are two.",
            ),
        ),
        answer=(window.start_ms, window.end_ms),
    )


def grid() -> Question:
    """Ask which event makes the first window fire, when the first event is at 2:02."""

    def first_result(newest: str) -> bool:
        rows = [["k", 1, time, time] for time in ("2:02", "2:04", "2:08", newest)]
        job = Scenario.of(name="grid", bound="0 ms", window="10 min", events=rows)
        return bool(wmviz.simulate(job).all_firings)

    whys = {
        "2:09:59.999": "The watermark is then 2:09:59.998: one millisecond short.",
        "2:10": "The first window is [2:00, 2:10), whoever comes first. 2:10:00.000 − 0 s − 1 ms = 2:09:59.999.",
        "2:12": "You let the window begin with the first event. Windows lie on a grid that starts at 1970-01-01 00:00.",
        "2:20": "There ends the second window, [2:10, 2:20), and nothing is in it so far.",
    }
    return Question(
        "Windows of 10 min, bound 0. The first events are 2:02, 2:04 and 2:08; nothing has come out. Which is the "
        "earliest next event that brings a result?",
        tuple(Choice(time, time, why) for time, why in whys.items()),
        answer=min((time for time in whys if first_result(time)), key=time_ms),
    )


def count() -> Question:
    """Ask how many events are in the second result of a global window with a count trigger."""
    rows = [["r9", 1000, f"6:0{minute}", f"6:0{minute}"] for minute in range(7)]
    job = _workouts(window={"type": "global", "trigger": "count:3"}).replace(events=rows)
    firings = wmviz.simulate(job).all_firings
    return Question(
        "Global windows with CountTrigger.of(3), and no evictor. Seven kilometres of one runner come. How many "
        "results come out, and how many kilometres are in the last one?",
        (
            Choice((2, 3), "2 results, 3 in the last", "That is the purging trigger. CountTrigger alone only fires."),
            Choice(
                (2, 6),
                "2 results, 6 in the last",
                "Firing does not purge: the content grows, and the second result has all six. The seventh waits.",
            ),
            Choice((3, 7), "3 results, 7 in the last", "The seventh is the first of the next three: it waits."),
            Choice((0, 0), "None: global windows never fire", "So it is with their default trigger only."),
        ),
        answer=(len(firings), len(firings[-1].event_ids) if firings else 0),
    )


def offset() -> Question:
    """Ask which offset gives hours of a zone that is half an hour off."""
    whys = {
        "0 ms": "Then hours run from 6:30 to 7:30 there: the grid starts at midnight of UTC.",
        "15 min": "Then hours run from 6:45 to 7:45 there.",
        "30 min": "Midnight of UTC is 5:30 there. Half an hour more, and an hour begins at 6:00.",
        "5 h 30 min": "The right idea, but Flink refuses it: for windows of an hour, an offset is less than an hour.",
    }
    return Question(
        "Someone at +05:30 wants hourly windows from full hour to full hour of the local clock. Which offset?",
        tuple(Choice(text, text.replace("0 ms", "none"), why) for text, why in whys.items()),
        answer=next(text for text in whys if _local_hours(text)),
    )


def _local_hours(offset: str) -> bool:
    """Say whether all windows of the half-hour zone start at a full hour there."""
    scenario = wmviz.scenario("half-hour-zone")
    try:
        trace = wmviz.simulate(scenario.replace(window={"offset": offset}))
    except ScenarioError:
        return False
    starts = [f.window.start_ms for f in trace.all_firings if f.window.start_ms is not None]
    return bool(starts) and all(time_text(ms, scenario.zone).endswith(":00") for ms in starts)


def earliest() -> Task:
    """Ask for the earliest event that still counts, because it touches an open session."""

    def counts(event_ms: int) -> bool:
        job = _workouts(
            ("r4471", "6:20", "6:20"), ("r9", "6:27:00.001", "6:27:10"), ("r4471", time_text(event_ms), "6:28")
        )
        return not wmviz.simulate(job.replace(lateness="0 ms")).outcomes().late

    session_ms, watermark_ms = time_ms("6:20"), time_ms("6:25")
    guess_ms = session_ms - GAP_MS
    answer_ms = min(ms for ms in range(guess_ms - 3, guess_ms + 4) if counts(ms))
    whys = {
        session_ms: "An older one joins the session too. A session can grow to the left.",
        watermark_ms: "Behind the watermark is not late. What counts is the window, here the joined session.",
        watermark_ms + 1: "Behind the watermark is not late. What counts is the window, here the joined session.",
        watermark_ms
        - GAP_MS
        + 1: "Its own window would not be late there. But Flink joins first, and asks then: the session counts.",
        watermark_ms - GAP_MS: "You looked at its own window alone. Flink joins first, and judges the joined session.",
        answer_ms - 1: "Its window then ends 1 ms before the session starts: it joins nothing, and alone it is late.",
        answer_ms + 1: "One millisecond less still touches: a distance of exactly the gap is one session.",
    }

    def judge(answer: object) -> Verdict:
        got_ms = read_time(answer)
        if got_ms == answer_ms:
            return right(
                f"{time_text(answer_ms)} + 10 min = 6:20: its window touches [6:20, 6:30). Joined they are "
                "[6:10, 6:30), and that is ahead of the watermark. It is 15 min behind the watermark and not late."
            )
        before = "That one joins nothing: its window ends before 6:20. And alone it is late."
        return wrong(whys.get(got_ms, before if got_ms < answer_ms else "That one counts, but an older one does too."))

    return Task(
        "No lateness is allowed, the gap is 10 min. r4471's session [6:20, 6:30) is open; the watermark is 6:25. Which "
        "is the earliest kilometre of r4471 that still counts?",
        judge,
        (
            "First the new event's own window [time, time + 10 min) is joined with the sessions that it touches.",
            "Then the joined session is judged: is its last millisecond ahead of the watermark?",
        ),
    )


ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "workouts": workouts,
    "touch": touch,
    "grid": grid,
    "count": count,
    "offset": offset,
    "earliest": earliest,
}
