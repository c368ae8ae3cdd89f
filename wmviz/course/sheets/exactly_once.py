"""The sheet of lesson 12, exactly once to the sink. Every right answer comes from the engine."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import chain

import wmviz
from wmviz.course.answers import AnswerError, read_duration, read_number
from wmviz.course.judging import judge_job, judge_names
from wmviz.course.questions import Question, Task, Verdict, not_yet, right, wrong
from wmviz.scenario import Scenario
from wmviz.state import SinkRow, State
from wmviz.times import DAY_MS, duration_text, time_ms
from wmviz.trace import Kind, Trace, TransactionPhase

CHARGING = Scenario.of(
    name="charging-points",
    title="Current for electric cars",
    unit="kWh",
    bound="30 s",
    lateness="8 min",
    late_to="side",
    window="5 min",
    start="8:00",
    checkpoints={"interval": "3 min", "notice": "4 s"},
    sink="transactional",
    happenings=[{"what": "crash", "at": "8:07:40", "down": "30 s"}],
    events=[
        ["dock", 7, "8:01", "8:01:10"],
        ["mall", 12, "8:03", "8:03:20"],
        ["dock", 5, "8:05:30", "8:05:40"],
        ["mall", 8, "8:04", "8:06:30"],
        ["mall", 9, "8:07", "8:07:10"],
        ["dock", 6, "8:10:30", "8:10:40"],
        ["mall", 11, "8:11", "8:11:20"],
        ["dock", 4, "8:30", "8:30:10"],
    ],
)
"""Tasks 1 to 3: a late event, and a crash between its result and the next checkpoint."""

OUTAGE = CHARGING.replace(
    name="long-outage",
    title="An evening with a long outage",
    start="18:00",
    transaction_timeout="6 min",
    happenings=[{"what": "crash", "at": "18:12:02", "down": "7 min"}],
    events=[
        ["dock", 6, "18:01", "18:01:10"],
        ["mall", 10, "18:02", "18:02:20"],
        ["mall", 3, "18:05:30", "18:05:40"],
        ["dock", 9, "18:06", "18:06:10"],
        ["dock", 2, "18:10:40", "18:10:50"],
        ["mall", 4, "18:09", "18:12:01"],
        ["mall", 5, "18:20", "18:20:10"],
    ],
)
"""Task 4: the job is down for longer than its transactions may live."""

WORST = OUTAGE.replace(
    name="worst-moment",
    title="A row just behind a barrier, and a crash just before its commit",
    happenings=[{"what": "crash", "at": "18:09:03.999", "down": "7 min"}],
    events=[
        ["dock", 6, "18:01", "18:01:10"],
        ["dock", 2, "18:05:30", "18:06:00.001"],
        ["dock", 1, "18:20", "18:20:10"],
    ],
)
"""Task 5: what the shortest safe timeout has to survive."""

BILL = CHARGING.replace(name="bill", title="A bill that adds up rows", sink="append")
"""Task 6: the bill counts the late current twice, and more after a crash."""

GIVEN = {
    "two-readers": CHARGING,
    "added-up": CHARGING,
    "wishes": CHARGING,
    "never-found": OUTAGE,
    "whole-minutes": OUTAGE,
    "right-sum": BILL,
}

SINKS = ("append", "upsert", "transactional")


def _last(trace: Trace) -> State:
    return trace.state(trace.steps - 1)


def _of_mall(rows: tuple[SinkRow, ...]) -> list[int]:
    """Give the values of mall's first window."""
    return [value for key, window, value in rows if key == "mall" and window.end_ms == time_ms("8:05")]


@cache
def with_sink(sink: str) -> Trace:
    """Run the job of tasks 1 to 3 with one of the sinks."""
    return wmviz.simulate(CHARGING.replace(sink=sink))


# Task 1 ------------------------------------------------------------------------------------------------------------


def two_readers() -> Task:
    """Task 1: what two readers find between a barrier and its commit."""
    trace = with_sink("transactional")
    state = trace.state(sum(at_ms <= time_ms("8:08:12") for at_ms in trace.step_at_ms) - 1)
    due = _of_mall(state.sink), _of_mall(state.uncommitted)
    return Task(
        "At 8:08:12, which values of mall's window [8:00, 8:05) does each of the two readers find?",
        lambda answer: _judge_readers(answer, *due),
        (
            "When does mall's window fire? Once more than it would without the crash.",
            "Each row lies in a transaction. Which barrier ends it, and when does the sink hear of the checkpoint?",
            "The last transaction is prepared at 8:08:10, and committed 4 s later. The one of 8:06:30 is aborted.",
        ),
    )


def _judge_readers(answer: object, committed: list[int], everything: list[int]) -> Verdict:
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        return not_yet("Give both lists: (committed, everything), as the sheet does.")
    got_committed, got_everything = (_values(part) for part in answer)
    if got_committed != committed:
        return wrong(_committed_slip(got_committed, committed))
    if got_everything != everything:
        return wrong(_everything_slip(got_everything, committed, everything))
    return right(
        "Transaction 0 is committed since 8:06:04. The next one is aborted, the one after it is only prepared: "
        "their rows are there for the reader of everything."
    )


def _committed_slip(got: list[int], due: list[int]) -> str:
    if not got:
        return "Committed: the first row was committed at 8:06:04, before the crash. Nothing takes it back."
    if 20 in got and 12 not in got:
        return "Committed: this sink overwrites nothing. A row that is committed stays."
    if got.count(20) > 1:
        return "Committed: one of those rows is in a transaction that no checkpoint has. The restart aborts it."
    if 20 in got:
        return "Committed: the new row is prepared at 8:08:10. When does the sink hear that the checkpoint is complete?"
    return f"Committed: the reader finds {_how_many(len(due))}. Go through the transactions one by one."


def _everything_slip(got: list[int], committed: list[int], everything: list[int]) -> str:
    if got == committed:
        return "Everything: who does not wait for the commit finds a row as soon as it is written."
    if sorted(set(got)) == sorted(set(everything)):
        return (
            "Everything: the values are right, but not how often. A crash takes no row back: those of an aborted "
            "transaction stay for this reader."
        )
    if 8 in got:
        return "Everything: a firing has the whole result of its window, not only what the late event adds."
    return f"Everything: the reader finds {_how_many(len(everything))}. How often does the window fire?"


def _how_many(rows: int) -> str:
    return "one row" if rows == 1 else f"{rows} rows"


def _values(part: object) -> list[int]:
    """Read a list of whole numbers, in any order; a single one may stand alone."""
    if isinstance(part, str):
        part = [piece for piece in part.strip("[]() ").split(",") if piece.strip()]
    return sorted(read_number(value) for value in (part if isinstance(part, (list, tuple)) else [part]))


# Task 2 ------------------------------------------------------------------------------------------------------------


def added_up() -> Task:
    """Task 2: what a reader gets who adds up all rows, for each sink."""
    due = {sink: sum(_of_mall(_last(with_sink(sink)).sink)) for sink in SINKS}
    calm = sum(_of_mall(_last(wmviz.simulate(CHARGING.replace(sink="append", happenings=[]))).sink))
    true = sum(e.value for e in CHARGING.events if e.key == "mall" and e.event_time_ms < time_ms("8:05"))
    whys = {
        ("append", calm): "That is so without a crash. After it the window fires once more.",
        ("append", true): "That is the true amount. A sink that appends keeps each row, the first result as well.",
        ("upsert", due["transactional"]): "It has one row for each charging point and window. The newest one counts.",
        ("upsert", due["append"]): "It has one row for each charging point and window. The newest one counts.",
        ("upsert", 12): "The late event makes the window fire again, and that overwrites the row.",
        ("transactional", true): "A transaction keeps out what a crash repeats. The first result and its correction "
        "are two results, and both are committed.",
        ("transactional", due["append"]): "One of these rows is in a transaction that the restart aborts.",
        ("transactional", 12): "The correction is committed, too, with the checkpoint after the restart.",
    }
    return Task(
        "A reader of committed results adds up mall's rows of [8:00, 8:05) in the end. What comes out, for each sink?",
        lambda answer: _judge_sums(answer, due, whys),
        (
            "Write down the firings of this window: before the crash, after it, and the value of each.",
            "Which of those rows does each sink keep: all, only the newest, or those that are committed?",
            "A firing has the whole result. So the late 8 kWh come as 12 + 8 = 20, not as 8.",
        ),
    )


def _judge_sums(answer: object, due: Mapping[str, int], whys: Mapping[tuple[str, int], str]) -> Verdict:
    sums = _by_name(answer, SINKS, '{"append": 1, "upsert": 2, "transactional": 3}')
    if sums is None:
        return not_yet("An answer is missing. Put yours in place of the three dots, for each sink.")
    for sink in SINKS:
        got = read_number(sums[sink])
        if got != due[sink]:
            amount = "few" if got < due[sink] else "many"
            return wrong(f"{sink}: {whys.get((sink, got), f'{got} kWh are too {amount}. Which rows does it have?')}")
    return right("Overwriting gives the true amount. Committing keeps out the repeated row, not the first result.")


def _by_name(answer: object, names: tuple[str, ...], example: str) -> Mapping[str, object] | None:
    """Read one answer for each name; None if one is open."""
    if isinstance(answer, str):
        answer = answer.split(",")
    if isinstance(answer, (tuple, list)) and len(answer) == len(names):
        answer = dict(zip(names, answer, strict=True))
    if isinstance(answer, Mapping):
        answer = {str(name).strip().lower(): part for name, part in answer.items()}
    if not isinstance(answer, Mapping) or set(answer) != set(names):
        raise AnswerError(f"Give one answer for each name, as {example}.")
    return None if any(part is ... or part is None for part in answer.values()) else answer


# Task 3 ------------------------------------------------------------------------------------------------------------


def crashed(job: Scenario, first: str = "8:03", last: str = "8:14", every_ms: int = 7000) -> Iterator[Trace]:
    """Run a job with its crash at another moment, every so often from one to another."""
    for at_ms in range(time_ms(first), time_ms(last), every_ms):
        yield _crashed_at(job, at_ms)


def _crashed_at(job: Scenario, at_ms: int) -> Trace:
    (crash,) = job.happenings
    return wmviz.simulate(job.replace(happenings=[{"what": "crash", "at": at_ms, "down": crash.down_ms}]))


def _crashed_behind_rows(job: Scenario) -> Iterator[Trace]:
    """Run a job with its crash right behind and well before each firing, with checkpoints at other moments."""
    last_ms = max(event.arrival_time_ms for event in job.events)
    fired_ms = {f.at_ms for f in wmviz.simulate(job.replace(happenings=[])).all_firings}
    waits_ms = {(last_ms + at_ms) // 2 for at_ms in fired_ms if at_ms > last_ms}
    if job.checkpoints is not None:  # a row and a barrier that meet by chance are apart then
        job = job.replace(checkpoints={"first": job.checkpoints.interval_ms // 2})
    for at_ms in sorted({*waits_ms, *(at_ms + 1 for at_ms in fired_ms)}):
        yield _crashed_at(job, at_ms)


def _crashed_before_commits(job: Scenario) -> Iterator[Trace]:
    """Let each row come just behind a barrier, and the job crash just before the row is committed."""
    if job.checkpoints is None:
        return
    interval_ms, notice_ms = job.checkpoints.interval_ms, job.checkpoints.notice_ms
    for fired_ms in sorted({f.at_ms for f in wmviz.simulate(job.replace(happenings=[])).all_firings}):
        first_ms = (fired_ms - 1 - job.grid_start_ms) % interval_ms or interval_ms
        yield _crashed_at(job.replace(checkpoints={"first": first_ms}), fired_ms + interval_ms + notice_ms - 2)


def _results(trace: Trace) -> Counter[SinkRow]:
    return Counter((f.key, f.window, f.value) for f in trace.all_firings)


def is_prompt(sink: str) -> bool:
    """Say whether a reader finds each result in the moment in which its window fires."""
    trace = wmviz.simulate(CHARGING.replace(sink=sink, happenings=[]))
    return all(
        (f.key, f.window, f.value) in trace.state(sum(ms <= f.at_ms for ms in trace.step_at_ms) - 1).sink
        for f in trace.all_firings
    )


def _in_the_end(sink: str, holds: Callable[[Counter[SinkRow], Counter[SinkRow]], bool]) -> bool:
    """Say whether something holds for the rows of a sink and the results without a crash, whenever it crashes."""
    due = _results(wmviz.simulate(CHARGING.replace(happenings=[])))
    return all(holds(Counter(_last(trace).sink), due) for trace in crashed(CHARGING.replace(sink=sink)))


def one_row_each(sink: str) -> bool:
    """Say whether there is one row for each key and window in the end, whenever the job crashes."""
    return _in_the_end(sink, lambda rows, due: len(rows) == len({row[:2] for row in due}) == rows.total())


def each_version(sink: str) -> bool:
    """Say whether each result and each correction has a row in the end, whenever the job crashes."""
    return _in_the_end(sink, lambda rows, due: not due - rows)


def nothing_twice(sink: str) -> bool:
    """Say whether no row is repeated, whenever the job crashes."""
    return _in_the_end(sink, lambda rows, due: rows == rows & due)


WISHES: Mapping[str, tuple[tuple[Callable[[str], bool], str], ...]] = {
    "screen": (
        (is_prompt, "its rows appear with the next checkpoint only, and the screen wants them at once"),
        (one_row_each, "it has more than one row for a charging point and window, and the screen takes one"),
    ),
    "books": (
        (each_version, "a correction overwrites the first result there, and the books keep both"),
        (nothing_twice, "after a crash rows stand there twice, and the books take each once"),
    ),
    "lamp": (
        (is_prompt, "its rows appear with the next checkpoint only, and the lamp blinks at once"),
        (each_version, "a correction is no new row there, and the lamp sees new rows only"),
    ),
}
"""What each reader needs of a sink, and what is said of a sink that does not give it."""


@cache
def _missed(wish: str, sink: str) -> str:
    """Say what a sink does not give a reader; empty if it gives everything."""
    return next((why for gives, why in WISHES[wish] if not gives(sink)), "")


def wishes() -> Task:
    """Task 3: which sink fits each reader."""
    return Task(
        "Which sink fits each of the three readers?",
        _judge_wishes,
        (
            "Which sinks show a row at once, and which only with the next checkpoint?",
            "What does each do with a correction, and with a result that a crash repeats?",
            "No two readers have the same sink.",
        ),
    )


def _judge_wishes(answer: object) -> Verdict:
    chosen = _by_name(answer, tuple(WISHES), '{"screen": "append", "books": "append", "lamp": "append"}')
    if chosen is None:
        return not_yet("An answer is missing. Put a sink in place of the three dots, for each reader.")
    for wish in WISHES:
        sink = str(chosen[wish]).strip().lower()
        if sink not in SINKS:
            return not_yet(f"{wish}: there is no sink {str(chosen[wish])!r}. There are: {', '.join(SINKS)}.")
        if missed := _missed(wish, sink):
            return wrong(f"{wish}: {sink} does not do: {missed}.")
    return right("Each sink gives up one thing: repeated rows, earlier versions, or time.")


# Task 4 ------------------------------------------------------------------------------------------------------------


def lost_results(trace: Trace) -> frozenset[str]:
    """Name the results that a run without a crash gives and no reader of committed results ever finds."""
    due = _results(wmviz.simulate(trace.scenario.replace(happenings=[])))
    return frozenset(f"{key} {value}" for key, _, value in due - Counter(_last(trace).sink))


def never_found() -> Task:
    """Task 4: what a timeout shorter than the outage loses."""
    whys = {
        "mall 7": "mall 7 is in no checkpoint. Its transaction is gone, but the window takes the late event again.",
        "dock 6": "dock 6 is committed at 18:06:04, long before the crash.",
        "mall 10": "mall 10 is committed at 18:06:04, long before the crash.",
        "dock 2": "dock 2 has not fired before the crash. Its window is in the checkpoint, and fires later.",
        "dock 9": "The window of dock 9 has fired when the checkpoint is taken, and it does not fire again. Where is "
        "its row?",
        "mall 3": "The window of mall 3 has fired when the checkpoint is taken. Its late event makes it fire again, "
        "but with another value.",
    }
    return Task(
        "Which results does a reader of committed results never find?",
        lambda answer: judge_names(
            answer,
            lost_results(wmviz.simulate(OUTAGE)),
            whys,
            "Both are in the transaction of 18:10:50. It is prepared, the broker aborts it at 18:16:50, and the "
            "checkpoint of 18:12 holds windows that have fired.",
        ),
        (
            "For each result: when is it written, which barrier ends its transaction, and when would it be committed?",
            "What is in no checkpoint is computed again. What is committed stays. What is between the two?",
            "Look for a transaction that is prepared when the job crashes. How old is it when the job is back?",
        ),
    )


# Task 5 ------------------------------------------------------------------------------------------------------------

_MINUTE_MS = 60_000


def is_safe(timeout_ms: int) -> bool:
    """Say whether nothing is lost, and the job does not fail, in the worst moment."""
    trace = wmviz.simulate(WORST.replace(transaction_timeout=timeout_ms))
    crashes = sum(record.kind is Kind.CRASHED for record in trace)
    return crashes == len(WORST.happenings) and not lost_results(trace)


def whole_minutes() -> Task:
    """Task 5: the shortest timeout, in whole minutes, that loses nothing."""
    return Task(
        "What is the shortest timeout, in whole minutes, with which no crash loses a result?",
        _judge_minutes,
        (
            "The timeout counts from the first row of a transaction. When is that row as old as it can be?",
            "At worst the row comes just behind a barrier, and the job crashes just before the commit.",
            "Add up: one interval, the time until the sink hears that the checkpoint is complete, and the restart.",
        ),
    )


def _judge_minutes(answer: object) -> Verdict:
    is_bare = isinstance(answer, (int, float)) or (isinstance(answer, str) and answer.strip().isdigit())
    got_ms = read_number(answer) * _MINUTE_MS if is_bare else read_duration(answer)
    if got_ms % _MINUTE_MS:
        return not_yet(f'{duration_text(got_ms)}: give whole minutes, as "4 min".')
    if got_ms <= 0:
        return wrong("With such a timeout no transaction lives.")
    if got_ms > DAY_MS:
        return wrong("More than a day is safe, but far less is safe, too.")
    minutes = got_ms // _MINUTE_MS
    if not is_safe(got_ms):
        return wrong(_TOO_SHORT.get(minutes, f"With {minutes} min there is a crash that loses a result."))
    if is_safe(got_ms - _MINUTE_MS):
        return wrong(f"{minutes} min are safe, but a minute less is safe, too.")
    return right("At worst a row is 3 min + 4 s + 7 min old when the restarted job commits it. That is 10 min 4 s.")


_TOO_SHORT = {
    3: "That is the interval. A restart takes 7 min more, and the timeout counts on while the job is down.",
    6: "That is the timeout of before. It is shorter than the outage alone.",
    7: "That is the outage alone. The transaction is older: it began with its first row.",
    8: "8 min are too short: a row can be up to one interval old when its barrier comes.",
    9: "That would do for the crash of task 4: its row was 72 s old when the job crashed. A row can be older.",
    10: "That is interval and outage. Between them the sink hears of the checkpoint, up to 4 s after its barrier.",
}


# Task 6 ------------------------------------------------------------------------------------------------------------


def sums(trace: Trace) -> dict[tuple[str, int | None], int]:
    """Add up the rows that a reader of committed results finds, for each key and end of a window."""
    found: dict[tuple[str, int | None], int] = defaultdict(int)
    for key, window, value in _last(trace).sink:
        found[key, window.end_ms] += value
    return dict(found)


@cache
def amounts() -> dict[tuple[str, int | None], int]:
    """Give the true amount for each key and end of a window."""
    return sums(wmviz.simulate(BILL.replace(sink="upsert", happenings=[])))


def right_sum() -> Task:
    """Task 6: mend a job so that the sum of its rows is right, whenever it crashes."""
    too_much = sum(sums(wmviz.simulate(BILL)).values()) - sum(amounts().values())
    return Task(
        "Mend the job so that the sum of the rows is right, whenever the job crashes.",
        lambda job: judge_job(job, BILL, f"the bill has {too_much} kWh too many.", _judge_right_sum),
        _SUM_HINTS,
    )


LEAST_INTERVAL_MS = 1_000
"""Task 6: the check runs the job some thirty times, and each checkpoint takes its time in each run."""

_SUM_HINTS = (
    "Two things make the sum too large: the correction comes as a whole new result, and the crash repeats rows.",
    "One sink bears both. Another one bears only the crash; then the correction must change.",
    "A total may be written twice if it overwrites. A difference may be added up if it is written once.",
)


def _judge_right_sum(job: Scenario) -> Verdict:
    if job.events != BILL.events or (job.window.type, job.window.size_ms) != ("tumbling", BILL.window.size_ms):
        return wrong("The events and the windows of 5 min are what they are. Change the other settings.")
    if job.window.time != "event":
        return wrong("By the server's clock current counts where it arrives, not where it was drawn.")
    if job.happenings != BILL.happenings:
        return wrong("Crashes come when they will. Leave the happening as it is.")
    if job.replay != BILL.replay:
        return wrong("The source can go back, and that is good: what it does not give again would be missing.")
    if job.checkpoints is not None and job.checkpoints.interval_ms < LEAST_INTERVAL_MS:
        return not_yet(
            f"A checkpoint every {duration_text(job.checkpoints.interval_ms)} is more than this check can try with "
            "many crashes, and more than a job can bear. Take 1 s or more."
        )
    calm = sums(wmviz.simulate(job.replace(happenings=[])))
    if calm != amounts():
        return wrong(_calm_slip(job, sum(calm.values()) - sum(amounts().values())))
    crashes = chain(_crashed_behind_rows(job), _crashed_before_commits(job), crashed(job, every_ms=41_000))
    spoilt = next((trace for trace in crashes if sums(trace) != amounts()), None)
    if spoilt is not None:
        return wrong(_crash_slip(job, spoilt))
    if job.sink == "upsert":
        return right("The newest total overwrites what was there: a correction and a repeated row do no harm.")
    if job.window.trigger.startswith("purging"):
        return right("Each firing is a difference, and each is committed once. Its price: one checkpoint later.")
    return right("Nothing is late any more, so each window has one result, committed once. Its price: a longer wait.")


def _calm_slip(job: Scenario, too_much: int) -> str:
    """Say why the sum is wrong even if nothing crashes."""
    if job.sink == "transactional" and job.checkpoints is None:
        return "Without checkpoints nobody commits: a reader finds nothing."
    if job.sink == "upsert" and job.window.trigger.startswith("purging"):
        return "Without a crash it is wrong already: the difference overwrites the first result, and that is gone."
    if too_much > 0:
        return (
            f"Without a crash there are {too_much} kWh too many already: the late event brings a row with the whole "
            "total, and the first result is still there."
        )
    if too_much < 0:
        return f"Without a crash {-too_much} kWh are missing: the late event, or a whole result, does not come through."
    return "Without a crash current is in the wrong window already."


def _crash_slip(job: Scenario, spoilt: Trace) -> str:
    """Say why the sum is wrong after some crash."""
    if job.sink == "append" and sum(sums(spoilt).values()) > sum(amounts().values()):
        return (
            "Without a crash the sum is right. A crash still repeats rows: this sink appends what is written after the "
            "last checkpoint a second time."
        )
    if any(r.kind is Kind.TRANSACTION and r.value == TransactionPhase.LOST for r in spoilt):
        return "Without a crash the sum is right. But some crash makes a transaction too old, and its rows are lost."
    return "Without a crash the sum is right. After some crash it is not: which rows does the restored job write again?"


ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "two-readers": two_readers,
    "added-up": added_up,
    "wishes": wishes,
    "never-found": never_found,
    "whole-minutes": whole_minutes,
    "right-sum": right_sum,
}
