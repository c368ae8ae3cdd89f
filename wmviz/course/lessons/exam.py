"""The final exam: 25 questions across the lessons. Each answer comes from a run of a scenario of the catalogue."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import wmviz
from wmviz.course.questions import Choice, Question, Task
from wmviz.times import MIN_MS, time_ms, time_text
from wmviz.trace import CheckpointPhase, Kind, Trace


class Place(NamedTuple):
    """Where a question of the exam comes from: the lesson to read again, and the scenario that gives the answer."""

    lesson: int
    scenario: str


_QUESTIONS: list[tuple[Place, Callable[[], Question]]] = []
_SIX = (time_ms("6:00"), time_ms("7:00"))


def _asks(lesson: int, scenario: str) -> Callable[[Callable[[], Question]], Callable[[], Question]]:
    """Take a function as the next question of the exam."""

    def take(maker: Callable[[], Question]) -> Callable[[], Question]:
        _QUESTIONS.append((Place(lesson, scenario), maker))
        return maker

    return take


@cache
def _run(name: str) -> Trace:
    return wmviz.simulate(wmviz.scenario(name))


def _with(name: str, **changes: Any) -> Trace:
    return wmviz.simulate(wmviz.scenario(name).replace(**changes))


def _question(text: str, answer: object, *choices: tuple[object, str, str]) -> Question:
    """Make a question, its choices in an order that tells nothing and is the same each time."""
    shuffled = [Choice(*choice) for choice in choices]
    random.Random(text).shuffle(shuffled)
    return Question(text, tuple(shuffled), answer)


def _row(trace: Trace, key: str, end: str) -> list[int]:
    """Give what the sink has for a key and the window that ends at a time."""
    return [value for who, window, value in trace.state().sink if who == key and window.end_ms == time_ms(end)]


# Watermarks and windows ----------------------------------------------------------------------------------------------


@_asks(1, "leaderboard")
def server_clock() -> Question:
    """Which hour a late kilometre counts for by the server's clock."""
    trace = wmviz.simulate(wmviz.scenario("leaderboard").by_server_clock())
    window = next(f.window for f in trace.all_firings if "r4471@6:56" in f.event_ids)
    return _question(
        "r4471 ran a kilometre at 6:56; it reached the server at 7:09. The job has processing-time windows of 1 h. For "
        "which hour does it count?",
        (window.start_ms, window.end_ms),
        (_SIX, "6:00 to 7:00, as a late event", "That is event time. Processing time does not know when it was run."),
        ((time_ms("7:00"), time_ms("8:00")), "7:00 to 8:00", "The clock of the server at its arrival decides, 7:09."),
        (None, "For none: it is late", "By the server's clock nothing is ever late."),
    )


@_asks(2, "leaderboard")
def newest_event() -> Question:
    """What the watermark is after an event."""
    trace = _with("leaderboard", events=[["r9", 1000, "7:05", "7:05:10"], ["r9", 1000, "7:04", "7:06"]])
    return _question(
        "Bound 2 min, a watermark after each event. The newest event is 7:05. What is the watermark?",
        trace.seen_watermarks["r9@7:04"],
        (time_ms("7:03"), "7:03:00.000", "Right but for a millisecond: an event of exactly 7:03 is still welcome."),
        (time_ms("7:05"), "7:05:00.000", "The bound is missing: the watermark trails the newest event."),
        (time_ms("7:02:59.999"), "7:02:59.999", "7:05 − 2 min − 1 ms = 7:02:59.999."),
        (time_ms("7:06:59.999"), "7:06:59.999", "The watermark trails the newest event; it never runs ahead."),
    )


@_asks(13, "sql-watermark")
def sql() -> Question:
    """Whether SQL's watermark fires a window one millisecond earlier."""
    jobs = {api: _with("sql-watermark", api=api) for api in ("sql", "datastream")}
    fired = tuple(any(f.at_ms == time_ms("7:02:05") for f in jobs[api].all_firings) for api in ("sql", "datastream"))
    return _question(
        "The newest event is 7:01:59.999, the bound 2 min: in SQL ts - INTERVAL '2' MINUTE, in the DataStream API the "
        "bounded strategy. Has the window from 6:00 to 7:00 fired?",
        fired,
        ((True, True), "In both", "The DataStream API takes 1 ms more off: 6:59:59.998, and that is one short."),
        ((True, False), "In SQL only", "SQL's watermark is 6:59:59.999, that of the DataStream API 6:59:59.998."),
        ((False, True), "In the DataStream API only", "It is SQL that has no −1 ms."),
        ((False, False), "In neither", "SQL's watermark is 6:59:59.999: the last millisecond of the window."),
    )


@_asks(3, "leaderboard")
def fires_first() -> Question:
    """Which event makes a window fire."""
    found = next(f for f in _run("leaderboard").all_firings if f.window.end_ms == _SIX[1])
    cause = next(e for e in wmviz.scenario("leaderboard").events if e.arrival_time_ms == found.at_ms)
    return _question(
        "Bound 2 min, windows of 1 h. These arrive one after the other: 7:01:59.999, 7:02, 7:05. Which one makes the "
        "6 am windows fire?",
        time_text(cause.event_time_ms),
        ("7:01:59.999", "7:01:59.999", "The watermark is then 6:59:59.998: one millisecond short."),
        ("7:02", "7:02", "7:02 − 2 min − 1 ms = 6:59:59.999, the last millisecond of the window."),
        ("7:05", "7:05", "It has fired before: the watermark need not pass the end, it must reach end − 1."),
        (None, "None of them: the lateness of 20 min has to be over", "Lateness delays no firing."),
    )


# Late events ---------------------------------------------------------------------------------------------------------


@_asks(4, "leaderboard")
def behind() -> Question:
    """Whether an event behind the watermark is late."""
    rows = [["r9", 1000, "7:15", "7:15"], ["r9", 1000, "7:10", "7:16"]]
    late = bool(_with("leaderboard", events=rows, lateness="0 ms").outcomes().late)
    return _question(
        "The watermark is 7:12:59.999, windows of 1 h, no lateness. An event of 7:10 arrives. Is it late?",
        late,
        (True, "Yes: the watermark has passed it", "It has passed the event, but not its window [7:00, 8:00)."),
        (False, "No: its window has not fired", "Late is what finds its window over, and nothing else."),
    )


@_asks(4, "leaderboard")
def counter() -> Question:
    """What the counter says where there is a side output."""
    sides, drops = _run("leaderboard"), _with("leaderboard", late_to="drop")
    return _question(
        "One event is too late, in a job with a side output, and in the same job without. What does "
        "numLateRecordsDropped say in each?",
        (sides.dropped_count, drops.dropped_count),
        ((1, 1), "1 and 1", "What goes to the side output is not dropped, and not counted."),
        ((0, 1), "0 and 1", "With a side output the counter is not used at all."),
        ((0, 0), "0 and 0: it is dropped silently", "It is dropped, but the counter says so."),
        ((1, 0), "1 and 0", "The side output takes the event away from the counter, not the other way round."),
    )


@_asks(4, "leaderboard")
def state_gone() -> Question:
    """At which watermark a window's state goes."""
    trace = _run("leaderboard")
    rows = (r for r in trace if r.kind is Kind.CLEANED)
    gone = next(r for r in rows if getattr(r.subject, "window", None) and r.subject.window.end_ms == _SIX[1])  # type: ignore[union-attr]
    met = trace.state(gone.step).watermarks["window"]
    return _question(
        "Window 6:00 to 7:00, allowed lateness 20 min. At which watermark is its state deleted?",
        met,
        (time_ms("6:59:59.999"), "6:59:59.999", "There it fires for the first time."),
        (time_ms("7:19:59.999"), "7:19:59.999", "end − 1 + lateness: 6:59:59.999 + 20 min."),
        (time_ms("7:20"), "7:20:00.000", "One millisecond too late: it counts from end − 1."),
        (time_ms("7:22"), "7:22:00.000", "The bound is in the watermark already."),
    )


@_asks(5, "price-feed")
def bound() -> Question:
    """What a larger bound costs and brings."""
    jobs = [_with("price-feed", bound=b, lateness="0 s") for b in ("2 s", "40 s")]
    late = tuple(len(job.outcomes().late) for job in jobs)
    met_ms = jobs[0].seen_watermarks
    last = max(jobs[0].scenario.events, key=lambda e: met_ms[e.id] - e.event_time_ms)
    newest = time_text(met_ms[last.id] + jobs[0].scenario.bound_ms + 1)
    return _question(
        f"Prices in windows of 1 min, no lateness. With a bound of 2 s {late[0]} of 12 are too late. The last of "
        f"them is of {time_text(last.event_time_ms)}, and comes when the newest is of {newest}. How many of the 12 are "
        "too late with a bound of 40 s?",
        late[1],
        (late[0], f"{late[0]}: the bound plays no part", "The bound holds the watermark back, so more is on time."),
        (0, "None: but every first result waits 40 s", "The price of a bound is the wait, for everyone."),
        (1, "1: the last of them", "With 40 s its window is still open when it comes: what counts is its end."),
    )


# Many inputs ---------------------------------------------------------------------------------------------------------


@_asks(6, "spare-subtask")
def spare() -> Question:
    """What mends a job with a subtask too many."""
    tries: dict[str, dict[str, Any]] = {
        "bound": {"bound": "0 s"},
        "after": {"strategy_at": "after"},
        "subtasks": {"subtasks": 1},
    }
    (mends,) = (name for name, change in tries.items() if _with("spare-subtask", **change).all_firings)
    return _question(
        "One partition, two source subtasks, and no window ever fires. Which change mends it?",
        mends,
        ("bound", "A bound of 0", "The second subtask never sends a watermark, whatever the bound."),
        ("after", "The strategy after the source", "There, too, one subtask sees no event."),
        ("subtasks", "One source subtask", "Nobody is without a partition then. An idle timeout mends it, too."),
        ("wait", "Nothing: it only takes longer", "It takes for ever: that subtask stays at its start."),
    )


@_asks(7, "idle-bet")
def idle_bet() -> Question:
    """What the timeout costs when a partition comes back."""
    late = len(_run("idle-bet").outcomes().late)
    return _question(
        "One input sends every 4 s; the idle timeout is 1 s. Meanwhile the watermark of the other input passes 7:00. "
        "Then the slow one sends 6:02, 6:03 and 6:04. Windows of 1 h, no lateness: how many of the three are too late?",
        late,
        (0, "None: an idle input is waited for when it is back", "A watermark never goes back."),
        (1, "One: then it is awake", "Awake or not, the 6 am windows are gone."),
        (3, "All three", "A timeout is a bet that nothing old will come."),
    )


@_asks(7, "return-from-idle-partition")
def two_merges() -> Question:
    """Where an input that is back holds the watermark."""
    at = time_ms("7:00:07")
    names = ("return-from-idle-partition", "return-from-idle-channel")
    held = tuple(
        _run(name).state(_run(name).step_at(at)).watermarks["window"] == time_ms("7:04:59.999") for name in names
    )
    return _question(
        "An idle input is back, but behind. Does it hold the watermark at once: as a partition in the same source "
        "subtask, and as a channel from another subtask?",
        held,
        (
            (True, True),
            "Both hold it",
            "The valve in front of an operator leaves a channel out until it has caught up.",
        ),
        (
            (True, False),
            "The partition does, the channel does not",
            "The valve leaves a channel out until it has caught up; inside a subtask it counts at once.",
        ),
        (
            (False, True),
            "The channel does, the partition does not",
            "The valve leaves a channel out; a source subtask does not.",
        ),
        ((False, False), "Neither", "Inside a source subtask it counts again at once."),
    )


@_asks(7, "all-idle")
def all_idle() -> Question:
    """Whether the last window comes out when all are idle."""
    trace = _run("all-idle")
    return _question(
        "Idle timeout 2 s. Both inputs fall silent after 7:05. Does the 7 am window fire?",
        any(f.window.start_ms == _SIX[1] for f in trace.all_firings),
        (True, "Yes, after the timeout", "Idleness takes an input out of the minimum. If all are out, nothing moves."),
        (False, "No, not before the next event", "When all are idle the watermark stands still."),
    )


@_asks(8, "watermark-alignment")
def alignment() -> Question:
    """What alignment needs."""
    paused = tuple(
        any(r.kind is Kind.PAUSED for r in _run(name)) for name in ("watermark-alignment", "alignment-after-source")
    )
    return _question(
        "Watermark alignment is set in a strategy on the source, and in one after it. Where is a source paused?",
        paused,
        ((True, True), "In both", "Only the source itself can pause its reading."),
        (
            (True, False),
            "On the source only; after it nothing happens, and nothing warns",
            "After it the setting has no effect.",
        ),
        ((False, True), "After the source only", "What stands after the source cannot pause its reading."),
    )


# Other windows -------------------------------------------------------------------------------------------------------


@_asks(9, "half-hour-zone")
def half_hour() -> Question:
    """Where hourly windows lie at +05:30."""
    first = _run("half-hour-zone").all_firings[0].window
    zone = wmviz.scenario("half-hour-zone").zone
    return _question(
        "Real epochs, windows of 1 h without an offset, a team at +05:30. In local time, which window has an event of "
        "7:00?",
        time_text(first.start_ms, zone)[-5:] if first.start_ms is not None else None,
        ("07:00", "7:00 to 8:00", "Windows are aligned to the epoch in UTC, not to the local hour."),
        ("06:30", "6:30 to 7:30", "Midnight UTC is 5:30 there: the grid is half an hour off."),
        ("06:00", "6:00 to 7:00", "An event at the end of a window belongs to the next one, in any zone."),
    )


@_asks(9, "workout-sessions")
def session() -> Question:
    """How many rows a session that grew leaves."""
    rows = sum(key == "r4471" for key, _, _ in _run("workout-sessions").state().sink)
    return _question(
        "A session has fired; then a late event joins it to the next one, and that fires. The sink overwrites by key "
        "and window. How many rows has this runner?",
        rows,
        (1, "1: the second overwrites the first", "The joined session is another window, so it is another row."),
        (2, "2: the old row stays", "Flink does not take back what a grown session wrote before."),
        (3, "3: one for each session and one for both", "The second one never fired alone."),
    )


# Checkpoints, crashes, sinks -----------------------------------------------------------------------------------------


def _completed_ms(name: str) -> int:
    done = (r for r in _run(name) if r.kind is Kind.CHECKPOINT and r.value == CheckpointPhase.COMPLETED)
    return next(done).at_ms


@_asks(10, "barrier-alignment")
def barriers() -> Question:
    """Which checkpoint is complete first."""
    aligned, unaligned = _completed_ms("barrier-alignment"), _completed_ms("unaligned-barriers")
    return _question(
        "A slow operator, full channels. The same checkpoint aligned and unaligned: which is complete first?",
        "unaligned" if unaligned < aligned else "aligned" if aligned < unaligned else "same",
        ("aligned", "The aligned one", "Its barrier waits behind all events in front of it."),
        ("unaligned", "The unaligned one", "Its barriers overtake; what waits becomes part of the checkpoint."),
        ("same", "Both at the same time", "The events in front of a barrier take their time, unless it overtakes."),
    )


@_asks(10, "at-least-once")
def at_least_once() -> Question:
    """What at-least-once does to a total after a crash."""
    totals = tuple(_row(_run(name), "r9", "7:00")[0] for name in ("barrier-alignment", "at-least-once"))
    return _question(
        "In mode at-least-once no channel is blocked: an event behind the barrier of its channel gets into the "
        "snapshot. Then the job crashes and goes back to that checkpoint. What happens to this event?",
        totals[1] - totals[0],
        (
            0,
            "It counts once: it is in the state already",
            "Its source reads it again: the offset was stored before it.",
        ),
        (1000, "It counts twice", "It is in the restored state, and the source sends it once more."),
        (-1000, "It is lost", "Nothing is lost: at least once."),
    )


@_asks(11, "crash-and-replay")
def crash() -> Question:
    """What a total is after a crash and a replay."""
    total = _row(_run("crash-and-replay"), "r4471", "7:00")[0]
    return _question(
        "A checkpoint has r4471 at 9,400 m. 800 m more are counted, then the job crashes. It is restored, the source "
        "reads again from its offsets, and 1,000 m more come. What is the total?",
        total,
        (11_200, "11,200 m", "State and offsets go back together: 9,400 + 800 + 1,000."),
        (12_000, "12,000 m", "The 800 m are not in the restored state: they count once."),
        (10_400, "10,400 m", "The source reads the 800 m again."),
        (20_600, "20,600 m", "That is a source that begins again at its first event."),
    )


@_asks(11, "restore-overwrites-total")
def overwritten() -> Question:
    """What a replay may do to a final total."""
    trace = _run("restore-overwrites-total")
    return _question(
        "r4471's 6 am total is final, 3,000 m, and its state is deleted. Then a checkpoint is taken. A late event of "
        "500 m comes and is refused. Now the job crashes and is restored, and the source reads that event again. The "
        "sink overwrites its row. What does it show?",
        _row(trace, "r4471", "7:00")[0],
        (3000, "3,000 m: the event is refused again", "After the restore the watermark is MIN: nothing is late."),
        (3500, "3,500 m: now it is counted", "The state of the window is gone; only this event is in the new one."),
        (500, "500 m", "The event opens the window anew, fires alone, and overwrites the full total."),
    )


@_asks(11, "crash-and-replay")
def watermark_after_restore() -> Question:
    """What the watermark is right after a restore."""
    trace = _run("crash-and-replay")
    restored = next(r for r in trace if r.kind is Kind.RESTORED)
    return _question(
        "A DataStream job is restored from a checkpoint. What is the watermark of its window operator right then?",
        trace.state(restored.step).watermarks["window"] == MIN_MS,
        (False, "That of the checkpoint", "The watermark is not part of the state of the window operator."),
        (True, "At its start: none", "It comes back with the first events that are read again."),
    )


@_asks(12, "written-twice")
def written_twice() -> Question:
    """How often a result is in the sink after a crash."""
    rows = tuple(len(_row(_run(name), "r9", "7:00")) for name in ("written-twice", "transactional-sink"))
    return _question(
        "A window fires, and the job crashes before the next checkpoint is complete. After the restore it fires again. "
        "How often does a reader of committed results find it in the end: in a sink that appends at once, and in one "
        "that commits with the checkpoint?",
        rows,
        ((1, 1), "Once and once: Flink is exactly-once", "That is the state. A sink that appends has it twice."),
        ((2, 1), "Twice and once", "What was written without a checkpoint is aborted; a line in a file stays."),
        ((2, 2), "Twice and twice", "The first transaction was never committed."),
        ((1, 2), "Once and twice", "A line stays where it is; an open transaction is aborted."),
    )


@_asks(12, "transactional-sink")
def when_seen() -> Question:
    """When a committed result is seen."""
    trace = _run("transactional-sink")
    seen = next(step for step in range(trace.steps) if trace.state(step).sink)
    at_ms = trace.step_at_ms[seen]
    done = next(r.at_ms for r in trace if r.kind is Kind.COMMITTED)
    fired = trace.all_firings[0].at_ms
    return _question(
        "A transactional sink, checkpoints every minute. When does a reader of committed results see a result?",
        "checkpoint" if at_ms == done > fired else "firing",
        ("firing", "When the window fires", "It is written then, but in a transaction that is still open."),
        (
            "checkpoint",
            "When the sink hears that the next checkpoint is complete",
            "Then it commits, and what it wrote can be read.",
        ),
        ("lateness", "When the lateness is over", "The sink knows nothing of lateness."),
    )


# At work -------------------------------------------------------------------------------------------------------------


@_asks(14, "leaderboard")
def seconds() -> Question:
    """What seconds in place of milliseconds do."""
    leaderboard = wmviz.scenario("leaderboard")
    rows = [[e.key, e.value, e.event_time_ms // 1000, e.arrival_time_ms] for e in leaderboard.events]
    fired = len(_with("leaderboard", events=rows).all_firings)
    return _question(
        "The phones send their time in seconds, and the assigner returns it as it is. A morning's events run from "
        "6:00 to 8:02. How many hourly windows fire while the job runs?",
        fired,
        (
            0,
            "None: event time creeps",
            "Two hours of seconds are 7.3 s of milliseconds: all is within seconds, in January 1970.",
        ),
        (
            len(_run("leaderboard").all_firings),
            "As many as with milliseconds",
            "Flink takes the number as milliseconds.",
        ),
        (1, "One, with all events", "The watermark moves by 7.3 s only, and does not come to the end of that hour."),
    )


@_asks(15, "quiet-partition")
def diagnose() -> Question:
    """Which cause fits the watermarks of a silent job."""
    trace = _run("quiet-partition")
    state, window = trace.state(), trace.state().watermarks["window"]
    held = [i for i in range(2) if state.watermarks[f"partition {i}"] == window]
    shown = [time_text(state.watermarks[f"partition {i}"]) for i in range(2)]
    return _question(
        f"No results. The partitions' watermarks are {shown[0]} and {shown[1]}, that of the window operator is "
        f"{time_text(window)}; an hour ago the second and the last were the same. Nothing is backpressured. Why?",
        "idle" if held == [1] and not trace.all_firings else "other",
        ("idle", "The second partition has fallen silent", "The lowest counts, and it does not move."),
        ("bound", "The bound is too large", "Then the watermark would trail, but it would move."),
        ("seconds", "Seconds for milliseconds", "Then both would be in January 1970."),
        ("spare", "A source subtask without a partition", "Then the window operator would be at its start."),
    )


@_asks(17, "new-lateness")
def new_lateness() -> Question:
    """What a new lateness does after a savepoint."""
    again = [f for f in _run("new-lateness").all_firings if f.nth == 2]
    return _question(
        "A job without lateness is stopped with a savepoint, before its 6 am windows fire, and resumed with 20 min of "
        "lateness. Now they fire. Then 500 m come for one of them, late by some minutes. What happens?",
        bool(again),
        (True, "They count: the window fires again", "A late event goes by the lateness of the job that is running."),
        (False, "They are dropped: the lateness is part of the savepoint", "State is; settings are not."),
        (None, "The job does not start", "The savepoint fits any lateness."),
    )


PLACES: tuple[Place, ...] = tuple(place for place, _ in _QUESTIONS)
"""For each question, in order: its lesson and its scenario."""

ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    f"q{number}": maker for number, (_, maker) in enumerate(_QUESTIONS, 1)
}
