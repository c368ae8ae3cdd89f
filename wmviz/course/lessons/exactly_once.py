"""Lesson 12, exactly once to the sink: its questions. Every right answer comes from the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import wmviz
from wmviz.course.answers import read_duration, read_number
from wmviz.course.questions import Choice, Question, Task, Verdict, right, wrong
from wmviz.times import duration_text, time_ms, time_text
from wmviz.trace import Kind, Trace


class Seen(NamedTuple):
    """What two readers of a sink find from one time on.

    Attributes
    ----------
    at_ms
        When it changes.
    committed, uncommitted
        Numbers of rows: for a reader of committed results, and for one who reads everything.
    """

    at_ms: int
    committed: int
    uncommitted: int


def readers(trace: Trace) -> list[Seen]:
    """Say how many rows two readers of the sink find, whenever that changes."""
    found: list[Seen] = []
    for step in range(trace.steps):
        state = trace.state(step)
        now = Seen(state.at_ms, len(state.sink), len(state.uncommitted))
        if found and found[-1].at_ms == now.at_ms:
            found.pop()
        if not found or found[-1][1:] != now[1:]:
            found.append(now)
    return found


def rows_of(trace: Trace, key: str, at: int | str | None = None) -> list[int]:
    """Give a runner's values in the sink, oldest first, for a reader of committed results."""
    last = trace.steps if at is None else sum(ms <= time_ms(at) for ms in trace.step_at_ms)
    return [value for runner, _, value in trace.state(last - 1).sink if runner == key]


def visible_ms(trace: Trace, key: str = "r9") -> int | None:
    """Say when a reader of committed results finds a first result of a runner; None if never."""
    return next(
        (state.at_ms for state in map(trace.state, range(trace.steps)) if key in {r[0] for r in state.sink}), None
    )


def _run(name: str, **changes: Any) -> Trace:
    scenario = wmviz.scenario(name)
    return wmviz.simulate(scenario.replace(**changes) if changes else scenario)


# Questions ---------------------------------------------------------------------------------------------------------


def gap() -> Question:
    """Ask how often a result stands in an append sink after a crash."""
    return Question(
        "The sink appends a row for each result. At 7:02:05 it has one row of r9: 1,200 m. The job crashes at 7:02:10 "
        "and runs again at 7:02:15, from the checkpoint of 7:01:40. What has the sink of r9 at 7:02:16?",
        (
            Choice(
                0, "Nothing: the crash takes the row back", "The row stands outside of Flink. Nothing takes it back."
            ),
            Choice(1, "The row of before: a window does not fire twice", "In the checkpoint it has not fired yet."),
            Choice(2, "The same row twice", "The restored window fires again, and the first row is still there."),
        ),
        len(rows_of(_run("written-twice"), "r9", "7:02:16")),
    )


def visible() -> Question:
    """Ask when a reader of committed results finds the first result."""
    trace = _run("transactional-sink")
    return Question(
        "Now the sink writes in transactions. The crash is the same: written at 7:02:05, crash at 7:02:10, again at "
        "7:02:15. Checkpoint 3 is complete at 7:02:15, and the sink hears of it 2 s later. When does a reader of "
        "committed results find r9's 1,200 m first?",
        (
            Choice(
                time_ms("7:02:05"), "7:02:05, when they are written", "That transaction is open, and aborted later."
            ),
            Choice(
                time_ms("7:02:15"), "7:02:15, at the barrier", "There it is only prepared. Nobody has committed it."
            ),
            Choice(
                time_ms("7:02:17"),
                "7:02:17, when the sink hears that the checkpoint is complete",
                "The checkpoint holds the transaction, so the sink may commit it.",
            ),
            Choice(
                time_ms("7:03:17"),
                "7:03:17, with the checkpoint after that",
                "It waits for one checkpoint, not for two.",
            ),
        ),
        visible_ms(trace),
    )


def lost() -> Question:
    """Ask what becomes of a prepared transaction whose timeout is over before the restart."""
    trace = _run("transaction-timeout")
    values = rows_of(trace, "r4471")
    answer = "once" if values else "lost"
    answer = "twice" if len(values) > len(set(values)) else answer
    return Question(
        "The 6 am results are in checkpoint 3: their transaction is prepared at 7:02:40. At 7:02:41 the job crashes, "
        "before it can commit. It is down for 5 min. Kafka ends a transaction after 2 min. What does a reader of "
        "committed results find in the end?",
        (
            Choice(
                "once",
                "Each result once: the checkpoint has the transaction",
                "It has its name. The rows are with the broker, and the broker has thrown them away.",
            ),
            Choice(
                "twice",
                "Each result twice",
                "Checkpoint 3 holds windows that have fired, so they do not fire again.",
            ),
            Choice(
                "lost",
                "No 6 am result",
                "The broker has aborted the transaction, and the restored windows have fired already.",
            ),
        ),
        answer,
    )


def no_checkpoints() -> Question:
    """Ask what a reader finds of a job without checkpoints."""
    trace = _run("transactional-sink", checkpoints=None, happenings=[])
    return Question(
        "The job writes with a transactional sink, the input never ends, and nobody has set a checkpoint interval. "
        "What does a reader of committed results find?",
        (
            Choice(
                "at once", "Each result at once: there is nothing to wait for", "Who would commit? A checkpoint does."
            ),
            Choice("nothing", "Nothing", "A commit needs a complete checkpoint, and there is none."),
            Choice(
                "late", "Each result after the default interval", "There is no default interval: checkpoints are off."
            ),
        ),
        "nothing" if visible_ms(trace) is None else "at once",
    )


def reader() -> Question:
    """Ask who sees a result twice though the sink is transactional."""
    last = (trace := _run("transactional-sink")).state(trace.steps - 1)
    often = {
        name: sum(row[0] == "r9" for row in rows)
        for name, rows in (("committed", last.sink), ("uncommitted", last.uncommitted))
    }
    (answer,) = (name for name, times in often.items() if times > 1)
    return Question(
        "The job writes to Kafka with EXACTLY_ONCE, and still a service finds r9's result twice. Which reader is it?",
        (
            Choice("committed", "One with isolation.level=read_committed", "It never finds what was aborted."),
            Choice(
                "uncommitted",
                "One with the default isolation level",
                "That is read_uncommitted. It finds the rows of aborted transactions too.",
            ),
        ),
        answer,
    )


def restored() -> Question:
    """Ask what a restore does with a transaction that the checkpoint holds."""
    trace = _run("transaction-timeout", happenings=[{"what": "crash", "at": "7:02:41", "down": "5 s"}])
    ms = visible_ms(trace)
    values = rows_of(trace, "r9")
    answer = "committed" if ms == time_ms("7:02:46") and len(values) == 1 else "other"
    return Question(
        "A transaction is prepared, and its checkpoint is complete. The job crashes before the commit, and is back "
        "5 s later. What happens to the transaction?",
        (
            Choice(
                "aborted", "It is aborted, and its results are computed again", "The windows have fired: no one would."
            ),
            Choice(
                "committed", "It is committed when the job starts again", "The checkpoint holds what must be committed."
            ),
            Choice(
                "next", "It waits for the next checkpoint", "Its own one is complete. There is nothing to wait for."
            ),
        ),
        answer,
    )


def rows() -> Task:
    """Ask how many rows of r4471 the append sink has in the end."""
    trace = _run("written-twice")
    answer = len(rows_of(trace, "r4471"))
    upsert = len(rows_of(_run("written-twice", sink="upsert"), "r4471"))
    calm = len(rows_of(_run("written-twice", happenings=[]), "r4471"))
    whys = {
        upsert: "That is so if the sink overwrites. This one appends.",
        calm: "That is so without a crash: the first result and the corrected one. What does the crash add?",
        len(trace.state(trace.steps - 1).sink): "Those are all rows, r9's too.",
    }

    def judge(got: object) -> Verdict:
        number = read_number(got)
        if number == answer:
            return right("2,000 m before the crash, 2,000 m again after it, 3,000 m with the late kilometre.")
        return wrong(whys.get(number, "Count the firings of r4471's window, before and after the crash."))

    return Task(
        "written-twice, the sink that appends: how many rows of r4471 does it have in the end?",
        judge,
        (
            "Each firing of the window is a row. How often does r4471's 6 am window fire?",
            "Once before the crash, once after it, and once more for the late kilometre of 6:56.",
        ),
    )


def timeout() -> Task:
    """Ask how long the transaction of the scenario must live."""
    trace = _run("transaction-timeout")
    begun_ms = next(record.at_ms for record in trace if record.kind == Kind.TRANSACTION)
    back_ms = next(record.at_ms for record in trace if record.kind == Kind.RESTORED)
    around_ms = back_ms - begun_ms

    def is_safe(ms: int) -> bool:
        return bool(rows_of(_run("transaction-timeout", transaction_timeout=ms), "r9"))

    answer_ms = max(ms for ms in range(around_ms - 2, around_ms + 3) if not is_safe(ms))
    whys = {
        time_ms("0:05"): "That is the downtime. The transaction is older: it began with its first row.",
        time_ms("0:05:01"): "You counted from the barrier, where it was prepared. The clock starts at its first row.",
        time_ms("0:05:02"): "You counted from the barrier, where it was prepared. The clock starts at its first row.",
        time_ms("0:02"): "That is the timeout of the scenario, and it is too short.",
    }

    def judge(got: object) -> Verdict:
        got_ms = read_duration(got)
        if got_ms in (answer_ms, answer_ms + 1):
            return right(f"From {time_text(begun_ms)}, its first row, to {time_text(back_ms)}, when the job is back.")
        side = "That is too short." if got_ms < answer_ms else "That is long enough, but so is a shorter one."
        return wrong(whys.get(got_ms, f"{duration_text(got_ms)}? {side} When does the transaction begin?"))

    return Task(
        "transaction-timeout: its first row comes at 7:02:05, its barrier at 7:02:40, the job is back at 7:07:41. "
        "The timeout must be longer than … ?",
        judge,
        (
            "The broker's clock starts when the transaction begins.",
            "It begins with its first row, and must live until the job is back and commits it.",
        ),
    )


GIVEN: Mapping[str, Any] = {}
ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "gap": gap,
    "visible": visible,
    "lost": lost,
    "no-checkpoints": no_checkpoints,
    "reader": reader,
    "restored": restored,
    "rows": rows,
    "timeout": timeout,
}
