"""Lesson 13, SQL and DataStream side by side: its questions. Every right answer comes from the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import wmviz
from wmviz.course.answers import read_duration, read_number
from wmviz.course.questions import Choice, Question, Task, Verdict, right, wrong
from wmviz.scenario import Scenario
from wmviz.times import MIN_MS, duration_text, time_ms
from wmviz.trace import Trace

SQL = {"api": "sql", "strategy_at": "after"}


def morning(**changes: Any) -> Scenario:
    """Give the leaderboard without what a window of SQL has not: lateness and side output."""
    about = "Bound 2 min, no lateness, no side output: what comes when its window has fired is dropped."
    plain = wmviz.scenario("leaderboard").replace(
        name="leaderboard-plain", title="The leaderboard without lateness", about=about, lateness=0, late_to="drop"
    )
    return plain.replace(**changes) if changes else plain


def first_event(trace: Trace) -> str:
    """Name the event that makes the first window fire: the last one that met a lower watermark."""
    fired_ms = trace.all_firings[0].watermark_ms
    return max(
        (event for event, met_ms in trace.seen_watermarks.items() if met_ms < fired_ms),
        key=[event.id for event in trace.scenario.events].index,
    )


def newest(at: str, *more: list[Any], **changes: Any) -> Trace:
    """Run one runner's kilometre of 6:30, one newer event, and what comes behind it."""
    rows = [["r9", 1000, "6:30", "6:31"], ["r9", 1000, at, "7:10"], *more]
    return wmviz.simulate(morning(name="newest", events=rows, **changes))


# Questions ---------------------------------------------------------------------------------------------------------


def first_firing() -> Question:
    """Ask which event makes the window of SQL fire."""
    return Question(
        "In SQL the watermark is rowtime - INTERVAL '2' MINUTE. The window [6:00, 7:00) fires when the watermark "
        "reaches 6:59:59.999. Which event makes it fire?",
        (
            Choice(
                "r7@7:02",
                "7:02, as in lesson 3",
                "That is the rule of the DataStream API, with its −1 ms.",
            ),
            Choice(
                "r12@7:01:59.999",
                "7:01:59.999",
                "7:01:59.999 − 2 min = 6:59:59.999. SQL takes the expression as it is, without −1 ms.",
            ),
            Choice("r9@7:05", "7:05", "7:05 − 2 min = 7:03. By then the window has fired long ago."),
        ),
        first_event(wmviz.simulate(morning(**SQL))),
    )


def late_row() -> Question:
    """Ask what a late row does to a window of SQL that has fired, in front of a sink that can overwrite."""
    trace = wmviz.simulate(morning(**SQL))
    often = sum(f.key == "r4471" and f.window.end_ms == time_ms("7:00") for f in trace.all_firings)
    is_dropped = any(record_id == "r4471@6:56" for record_id in trace.dropped["event"])
    answer = {(1, True): "dropped", (2, False): "again"}[often, is_dropped]
    return Question(
        "r4471's 6 am window has fired in SQL. Then its kilometre of 6:56 arrives. The sink has a primary key and can "
        "overwrite. What happens?",
        (
            Choice(
                "again",
                "The window fires again, and the sink overwrites the row",
                "That needs allowed lateness. A window table function has none, whatever the sink can do.",
            ),
            Choice(
                "dropped",
                "The row is dropped, and a counter goes up",
                "Its window is closed: it is dropped, and counted.",
            ),
            Choice(
                "next",
                "It counts for the window that is open now",
                "Its event time is 6:56. No other window has a place for it.",
            ),
        ),
        answer,
    )


def counted() -> Question:
    """Ask what a plain GROUP BY does with a row behind the watermark."""
    trace = wmviz.simulate(morning(**SQL))
    all_ms = sum(event.value for event in trace.scenario.events if event.key == "r4471")
    in_windows = sum(value for (key, *_), value in trace.totals.items() if key == "r4471")
    behind = any(
        trace.seen_watermarks[event.id] >= event.event_time_ms
        for event in trace.scenario.events
        if event.key == "r4471" and trace.seen_watermarks[event.id] != MIN_MS
    )
    assert behind
    assert all_ms > in_windows
    return Question(
        "SELECT key, SUM(`value`) FROM events GROUP BY key, with no window. The table declares a watermark. What "
        "becomes of r4471's kilometre of 6:56, which is behind it?",
        (
            Choice("counted", "It is counted", "Declaring a watermark filters nothing."),
            Choice(
                "dropped",
                "It is dropped: it is behind the watermark",
                "Windows, interval joins and OVER look at the watermark. A plain GROUP BY does not.",
            ),
            Choice("error", "The query is refused", "A GROUP BY needs no time at all, and runs."),
        ),
        "counted",
    )


def where() -> Question:
    """Ask which watermark waits for a slow partition."""
    pushed = wmviz.scenario("sql-pushed-down")
    lost = {at: len(wmviz.simulate(pushed.replace(strategy_at=at)).dropped) for at in ("source", "after")}
    (answer,) = (at for at, number in lost.items() if number == 0)
    return Question(
        "A table of two partitions, one slow. The plan shows no WatermarkAssigner: the watermark is pushed down into "
        "the source. What is so with r9's rows, in the slow partition?",
        (
            Choice(
                "after",
                "They may be dropped: one watermark counts for the whole table",
                "That is so behind the source, where a WatermarkAssigner stands in the plan.",
            ),
            Choice(
                "source",
                "They are waited for: each partition has its own watermark",
                "In the source there is a generator for each partition, and the lowest one counts.",
            ),
        ),
        answer,
    )


def mended() -> Task:
    """Ask for the bound with which SQL has the watermark of the DataStream API."""

    def same(bound_ms: int) -> bool:
        theirs = wmviz.simulate(morning()).seen_watermarks
        return wmviz.simulate(morning(bound=bound_ms, **SQL)).seen_watermarks == theirs

    def judge(got: object) -> Verdict:
        got_ms = read_duration(got)
        if same(got_ms):
            return right("rowtime - INTERVAL '2' MINUTE - INTERVAL '0.001' SECOND gives max − bound − 1 ms.")
        if got_ms == morning().bound_ms:
            return wrong("With the same bound SQL is ahead by 1 ms.")
        if got_ms == morning().bound_ms - 1:
            return wrong("That goes the wrong way: SQL is ahead by 2 ms now.")
        return wrong(f"{duration_text(got_ms)} gives another watermark. By how much is SQL ahead with 2 min?")

    return Task(
        "The DataStream job has a bound of 2 min. What must SQL subtract to have the same watermark?",
        judge,
        (
            "DataStream: newest − bound − 1 ms. SQL: newest − what you write.",
            "So the 1 ms must be in what you write.",
        ),
    )


def dropped() -> Task:
    """Ask how many rows of the morning a window of SQL drops."""
    answer = len(wmviz.simulate(morning(**SQL)).dropped)
    behind = wmviz.simulate(morning(**SQL)).seen_watermarks
    events = {event.id: event.event_time_ms for event in morning().events}
    counts = {
        sum(met_ms >= events[event] for event, met_ms in behind.items()): "Those are all rows behind the watermark. "
        "Is the window of each one closed?",
        len(
            wmviz.simulate(wmviz.scenario("leaderboard")).late
        ): "So many are too late with 20 min of lateness. SQL has none.",
        len(wmviz.simulate(morning()).dropped): "So many does the DataStream job drop. SQL is 1 ms ahead.",
    }
    counts.pop(answer, None)

    def judge(got: object) -> Verdict:
        number = read_number(got)
        if number == answer:
            return right("Each of them meets a watermark of 6:59:59.999 or higher, and belongs to the 6 am hour.")
        return wrong(counts.get(number, "Look at the watermark that each row of the 6 am hour met."))

    return Task(
        "How many rows of the morning does the job in SQL drop?",
        judge,
        (
            "A row is dropped if its window has fired.",
            "The 6 am windows fire at 6:59:59.999. How many met it?",
        ),
    )


GIVEN: Mapping[str, Any] = {}
ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "first-firing": first_firing,
    "late-row": late_row,
    "group-by": counted,
    "where": where,
    "mended": mended,
    "dropped": dropped,
}
