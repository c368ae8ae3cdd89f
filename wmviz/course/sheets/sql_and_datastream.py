"""The sheet of lesson 13, SQL and DataStream. Every right answer comes from the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import wmviz
from wmviz.course.answers import read_time
from wmviz.course.judging import judge_job, judge_names, judge_time
from wmviz.course.questions import Question, Task, Verdict, not_yet, right, wrong
from wmviz.course.sheets.sql_text import subtracted_ms
from wmviz.scenario import Scenario
from wmviz.times import MIN_MS, duration_text, time_ms, time_text
from wmviz.trace import Firing

QUERY = Scenario.of(
    name="two-turbines",
    title="What two wind turbines yield each minute",
    unit="kWh",
    api="sql",
    strategy_at="after",
    bound="5 s",
    window="1 min",
    start="8:00",
    events=[
        ["t1", 3, "8:00:20", "8:00:21"],
        ["t2", 4, "8:00:40", "8:00:42"],
        ["t1", 2, "8:01:04.998", "8:01:06"],
        ["t2", 5, "8:00:55", "8:01:07"],
        ["t1", 1, "8:01:04.999", "8:01:08"],
        ["t2", 6, "8:00:58", "8:01:09"],
        ["t1", 4, "8:01:05", "8:01:10"],
        ["t2", 2, "8:00:59.500", "8:01:11"],
        ["t1", 3, "8:02:04.999", "8:02:06"],
        ["t1", 7, "8:01:59.999", "8:02:08"],
        ["t2", 1, "8:02:30", "8:02:31"],
    ],
)
"""Tasks 1, 2 and 5: rows on both sides of a millisecond."""

PROGRAM = QUERY.replace(name="two-turbines-in-a-program", api="datastream", strategy_at="source")
"""The same in the DataStream API."""

WIDER = PROGRAM.replace(name="wider-bound", bound="1 min 30 s")
"""Task 3."""

STEPS = QUERY.replace(
    name="minutes-and-five-minutes",
    events=[
        ["t1", 5, "8:03:20", "8:03:21"],
        ["t2", 4, "8:04:10", "8:04:11"],
        ["t1", 6, "8:04:50", "8:04:51"],
        ["t2", 3, "8:05:15", "8:05:16"],
        ["t1", 2, "8:06:00", "8:06:01"],
    ],
)
"""Task 4: windows of windows."""


def _rows() -> list[list[object]]:
    """Give the rows of task 6: turbine 1 every 10 s, and turbine 2 with gaps, 15 s under way, until it stops."""
    steady = [("t1", 2, at_ms, at_ms + 1_000, 0) for at_ms in range(time_ms("8:00:05"), time_ms("8:04:50"), 10_000)]
    slow_ms = map(time_ms, ("8:00:20", "8:00:58", "8:01:20", "8:01:45", "8:02:10", "8:02:30"))
    rows = sorted([*steady, *(("t2", 3, at_ms, at_ms + 15_000, 1) for at_ms in slow_ms)], key=lambda row: row[3])
    return [list(row) for row in rows]


STOPPED = Scenario.of(
    name="a-turbine-that-stops",
    title="One turbine is slow, and then it stops",
    unit="kWh",
    api="sql",
    strategy_at="source",
    emission="interval",
    interval="1 s",
    bound="5 s",
    window="1 min",
    start="8:00",
    events=_rows(),
)
"""Task 6: pushed down into the source; the partition of turbine 2 falls silent."""

MOST_MS = 45_000
"""Task 6: how long after its window's end a result may come."""
LAST_MS = time_ms("8:04")
"""Task 6: the end of the last window that the rows are enough for."""

GIVEN = {
    "met-by-both": QUERY,
    "only-in-program": QUERY,
    "same-watermark": WIDER,
    "in-two-steps": STEPS,
    "on-time-only": QUERY,
    "silent-turbine": STOPPED,
}


def met_by_both() -> Task:
    """Task 1: the watermark that a row meets in the query, and in the program."""
    row = "t2@8:00:55"
    in_query_ms, in_program_ms = (wmviz.simulate(job).seen_watermarks[row] for job in (QUERY, PROGRAM))
    shared = {
        time_ms("8:00:50"): "You took off 5 s from the row's own time. A row meets the watermark of those before it.",
        time_ms(
            "8:00:49.999"
        ): "You took off 5 s from the row's own time. A row meets the watermark of those before it.",
        time_ms("8:01:04.998"): "That is the newest event time. The bound comes off.",
        time_ms("8:00:59.999"): "That comes later: 8:01:04.999 is not there yet when t2's 8:00:55 arrives.",
    }
    in_query = shared | {in_program_ms: "SQL takes the expression as it stands. The −1 ms belongs to the program."}
    in_program = shared | {in_query_ms: "The DataStream API takes 1 ms more off."}

    def judge(answer: object) -> Verdict:
        both = _two(answer, "two times in a list: that of the query, then that of the program")
        if isinstance(both, Verdict):
            return both
        for name, got, answer_ms, whys in (
            ("The query", both[0], in_query_ms, in_query),
            ("The program", both[1], in_program_ms, in_program),
        ):
            said = judge_time(got, answer_ms, whys, "")
            if not said.right:
                return wrong(f"{name}: {said.sentence}")
        return right("8:01:04.998 − 5 s = 8:00:59.998; and 1 ms less in the program.")

    return Task(
        "Which watermark does t2's 8:00:55 meet in the query, and which in the program?",
        judge,
        (
            "Which rows arrive before it? The newest event time among them counts.",
            "In SQL the watermark is the expression as it stands: newest − bound. In the program it is 1 ms less.",
            "The newest event time is 8:01:04.998, the bound 5 s.",
        ),
    )


def _two(answer: object, what: str) -> list[object] | Verdict:
    """Give the two parts of an answer, or say how to write it."""
    if isinstance(answer, str):
        answer = answer.split(",")
    if isinstance(answer, Mapping):
        answer = list(answer.values())
    if not isinstance(answer, (list, tuple)) or len(answer) != 2:
        return not_yet(f"Give {what}.")
    return list(answer)


def only_in_program() -> Task:
    """Task 2: which rows the query drops and the program counts."""
    in_query, in_program = ({*wmviz.simulate(job).dropped["event"]} for job in (QUERY, PROGRAM))
    whys = {
        "t2@8:00:55": "t2's 8:00:55 is behind the watermark, but at 8:00:59.998 its window is open in both.",
        "t2@8:00:59.500": "t2's 8:00:59.500 comes behind t1's 8:01:05. By then the program's window has fired, too.",
        "t2@8:00:58": "t1's 8:01:04.999 comes just before t2's 8:00:58. Which watermark does it bring in SQL?",
        "t1@8:01:59.999": "t1's 8:01:59.999 is exactly 5 s older than 8:02:04.999. Is that late in SQL?",
    }
    return Task(
        "Which rows does the query drop, but the program counts?",
        lambda answer: judge_names(
            answer,
            frozenset(in_query - in_program),
            whys,
            "Each of them meets the last millisecond of its window in SQL, and one less in the program.",
        ),
        (
            "A row is dropped if its window has fired: if it meets the window's last millisecond or more.",
            "Write down both watermarks behind each arrival: newest − 5 s in SQL, 1 ms less in the program.",
            "Look for rows right behind an event time that ends in 04.999.",
        ),
    )


# --------------------------------------------------------------------------------------------------- same watermark


def same_watermark() -> Task:
    """Task 3: write the watermark of a table that goes with a program."""
    return Task(
        "What must the table declare to have the watermarks of the program, with its bound of 1 min 30 s?",
        _judge_expression,
        (
            "By how much is SQL ahead of the program if both have the same bound?",
            "Several lengths may be subtracted, one behind the other. Flink's SQL has no MILLISECOND.",
            "A millisecond is INTERVAL '0.001' SECOND.",
        ),
    )


def _judge_expression(answer: object) -> Verdict:
    bound_ms = subtracted_ms(answer, "rowtime")
    if bound_ms <= 0:
        return wrong("This watermark is not behind the rows. What is to come later must be subtracted.")
    due = wmviz.simulate(WIDER).seen_watermarks
    got = wmviz.simulate(QUERY.replace(bound=bound_ms)).seen_watermarks
    if got == due:
        return right(f"It takes off {duration_text(bound_ms)}, and so does the program: each row meets the same.")
    if bound_ms == WIDER.bound_ms:
        return wrong("The same bound, and SQL is ahead by 1 ms: the program takes off 1 ms more.")
    row = next(event for event, met_ms in due.items() if got[event] != met_ms and met_ms != MIN_MS)
    ahead_ms = got[row] - due[row]
    where = f"{row} meets {time_text(got[row])} in the query and {time_text(due[row])} in the program."
    if ahead_ms == 2:
        return wrong(f"{where} The millisecond goes the wrong way: SQL is ahead by 2 ms now.")
    return wrong(f"{where} You take off {duration_text(bound_ms)}. How much does the program take off?")


# ----------------------------------------------------------------------------------------------------- in two steps

_COLUMNS = {
    "window_end": "window_end is a plain timestamp, and the planner refuses it. And it is the first moment behind the "
    "window: the minute up to 8:05 would count for the next five minutes.",
    "window_start": "window_start is a plain timestamp, and the planner refuses it.",
    "rowtime": "rowtime is gone behind the GROUP BY: many rows have become one.",
}


def in_two_steps() -> Task:
    """Task 4: which column is the time of a window's result, and where it counts in larger windows."""
    ends_ms = {_end_ms(firing) for firing in wmviz.simulate(STEPS).all_firings}
    result_ms = min(ends_ms - {time_ms("8:04")}) - 1  # window_time of the minute from 8:04 on
    result = ["minute", 1, result_ms, result_ms + 6_000]
    five = wmviz.simulate(QUERY.replace(events=[result, ["minute", 1, "8:10:05", "8:10:06"]], window="5 min"))
    start_ms = five.all_firings[0].window.start_ms
    assert start_ms is not None
    whys = {
        time_ms("8:05"): "That would be by window_end. The time of a window's result is its last millisecond.",
        time_ms("8:04"): "That is the minute itself. In which window of five minutes does it lie?",
        result_ms: "That is the time of its result. In which window of five minutes does it lie?",
    }

    def judge(answer: object) -> Verdict:
        both = _two(answer, "the name of the column and the start of the window, in a list")
        if isinstance(both, Verdict):
            return both
        column = _column(both[0])
        got_ms = read_time(both[1])
        if column != "window_time":
            return wrong(_COLUMNS.get(column, f"The result of the minutes has no column {column}."))
        return judge_time(
            got_ms, start_ms, whys, "window_time is 8:04:59.999, and a time attribute: it lies in [8:00, 8:05)."
        )

    return Task(
        "Which column goes in place of the question marks, and when does the window of five minutes begin in which the "
        "minute [8:04, 8:05) counts?",
        judge,
        (
            "A window needs a time attribute. Which column of a window's result still is one?",
            "A window table function adds three columns to each row; two of them are plain timestamps.",
            "That column has the window's last millisecond: 8:04:59.999.",
        ),
    )


def _column(answer: object) -> str:
    """Read the name of a column, quoted or as DESCRIPTOR(name)."""
    name = str(answer).strip().lower().removeprefix("descriptor").removesuffix("as minute_time").strip("()` \"'")
    return name.replace(" ", "_")


# ----------------------------------------------------------------------------------------------------- on time only


def on_time_only() -> Task:
    """Task 5: which rows a filter by CURRENT_WATERMARK takes out."""
    seen = wmviz.simulate(QUERY).seen_watermarks  # MIN: there is no watermark yet, which is NULL in SQL
    names = frozenset(e.id for e in QUERY.events if seen[e.id] == MIN_MS or e.event_time_ms <= seen[e.id])
    whys = {
        "t1@8:00:20": "Look at the first row. CURRENT_WATERMARK is NULL there. Is anything greater than NULL?",
        "t2@8:00:55": "t2's 8:00:55 meets 8:00:59.998. A filter asks for no window, open or not.",
        "t1@8:01:59.999": "t1's 8:01:59.999 meets just 8:01:59.999, and is not greater.",
        "t2@8:00:40": "t2's 8:00:40 meets 8:00:15, and is ahead of it.",
    }
    return Task(
        "Which rows are not in the result of the filter?",
        lambda answer: judge_names(
            answer, names, whys, "Four are not greater than the watermark that they meet, and the first one meets NULL."
        ),
        (
            "Write the watermark beside each row that it meets: the newest event time before it, minus 5 s.",
            "Which rows are at or behind that watermark? Windows play no part.",
            "What does the first row meet? In SQL a comparison with NULL is not true.",
        ),
    )


# --------------------------------------------------------------------------------------------------- silent turbine


def silent_turbine() -> Task:
    """Task 6: mend a query whose windows stop firing."""
    return Task(
        "Mend the query so that each minute's result comes in time and no row is dropped.",
        lambda job: judge_job(job, STOPPED, "from the minute [8:02, 8:03) on no result comes.", _judge_silent),
        (
            "The watermark is made in the source, one for each partition. Which partition holds back the lowest one?",
            "`idle_timeout` says how long a partition may be silent. Compare it with the gaps between arrivals.",
            "8:00:58 arrives 38 s after the row before it. The last one arrives at 8:02:45, 1 min before 8:03:45.",
        ),
    )


def _judge_silent(job: Scenario) -> Verdict:
    if refused := _not_the_task(job):
        return wrong(refused)
    trace = wmviz.simulate(job)
    if lost := ", ".join(trace.dropped["event"]):
        return wrong(_why_lost(job, lost))
    waits_ms = {(f.key, _end_ms(f)): f.at_ms - _end_ms(f) for f in trace.all_firings}
    due = {(e.key, e.event_time_ms // 60_000 * 60_000 + 60_000) for e in job.events if e.event_time_ms < LAST_MS}
    if due - set(waits_ms):
        return wrong(_why_silent(job))
    key, end_ms = max(due, key=lambda result: waits_ms[result])
    if waits_ms[key, end_ms] > MOST_MS:
        which = f"that of [{time_text(end_ms - 60_000)}, {time_text(end_ms)})"
        wait = duration_text(waits_ms[key, end_ms])
        return wrong(f"All results come and no row is dropped, but {which} comes {wait} after its minute.")
    if _has_one_watermark(job):
        return right("Behind the source nobody waits for a partition, so the bound has to cover the slow one.")
    return right("It is longer than each gap with a row to wait for, and short enough once turbine 2 has stopped.")


def _end_ms(firing: Firing) -> int:
    assert firing.window.end_ms is not None
    return firing.window.end_ms


def _has_one_watermark(job: Scenario) -> bool:
    """Say whether one watermark counts for both partitions, so that nobody waits for either."""
    return job.strategy_at == "after" and job.subtasks == 1


def _not_the_task(job: Scenario) -> str | None:
    """Say what was changed that is not to be changed; None if nothing was."""
    if job.events != STOPPED.events or job.happenings or job.end_of_input_ms is not None:
        return "The turbines deliver what they deliver. Change the settings of the query."
    if job.api != "sql":
        return "It is to stay a query: the analyst writes no program."
    if job.aggregate != STOPPED.aggregate:
        return "It is to stay the sum of each minute."
    if job.window != STOPPED.window:
        return "With other windows it is another question: the yield of each minute."
    return None


def _why_lost(job: Scenario, lost: str) -> str:
    if _has_one_watermark(job) and job.idle_timeout_ms is None:
        return f"Behind the source nobody waits for the slow partition: {lost} is dropped. How large is its delay?"
    if _has_one_watermark(job):
        return f"{lost} is dropped. Behind the source one watermark counts for both partitions, idle or not."
    if job.idle_timeout_ms is None:
        return f"{lost} is dropped: when it arrives, its window has fired."
    timeout = duration_text(job.idle_timeout_ms)
    return f"After {timeout} turbine 2 already counts as idle while a row is still under way: {lost} is dropped."


def _why_silent(job: Scenario) -> str:
    if _has_one_watermark(job):
        return (
            f"With a bound of {duration_text(job.bound_ms)} each result waits that long, and some have not come at all."
        )
    if job.bound_ms != STOPPED.bound_ms:
        return (
            "The bound is not to blame: the lowest watermark counts, and turbine 2's stands still whatever the bound."
        )
    return "Results are still missing: turbine 2's watermark stands still, and the lowest one counts."


ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "met-by-both": met_by_both,
    "only-in-program": only_in_program,
    "same-watermark": same_watermark,
    "in-two-steps": in_two_steps,
    "on-time-only": on_time_only,
    "silent-turbine": silent_turbine,
}
