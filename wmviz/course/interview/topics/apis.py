"""Cards about Flink SQL and PyFlink."""

from __future__ import annotations

from typing import Any

from wmviz.course.interview.card import InterviewCard as Card
from wmviz.scenario import Scenario


def _timed(s: Scenario, **changes: Any) -> Scenario:
    """Give the events with their arrival time as event time."""
    return s.replace(events=[[e.key, e.value, e.arrival_time_ms, e.arrival_time_ms] for e in s.events], **changes)


def _in_seconds(s: Scenario) -> Scenario:
    """Give the events with times in seconds, which Flink takes for milliseconds."""
    return s.replace(events=[[e.key, e.value, e.event_time_ms // 1000, e.arrival_time_ms] for e in s.events])


def _as_list(s: Scenario) -> Scenario:
    """Give the same events as a list that is read in an instant, before the first watermark."""
    start_ms = s.grid_start_ms
    rows = [[e.key, e.value, e.event_time_ms, start_ms + i] for i, e in enumerate(s.events, 1)]
    return s.replace(events=rows, start=start_ms, emission="interval", interval="200 ms", end_of_input=start_ms + 100)


CARDS = (
    Card(
        name="late-row-in-sql",
        level="junior",
        topic="SQL",
        lesson=13,
        scenario="sql-watermark",
        ask="In Flink SQL a row comes too late for its TUMBLE window. Does the result change?",
        say="No. A window table function gives one result, and drops late rows. The row of {at r4471@6:56} meets the "
        "watermark {met r4471@6:56}, so it {fate r4471@6:56}. The window of {who r4471@6:56} {times r4471@6:30}, "
        "with {result r4471@6:30}. A sink that can overwrite does not change that, because no second result comes.",
        more=(
            (
                "Does a plain GROUP BY drop late rows, too?",
                (
                    "No. It looks at no watermark. It counts every row, and updates its result. The sink gets a "
                    "changelog, so it has to take rows back, or overwrite them by a key."
                ),
            ),
            (
                "So does a declared WATERMARK filter rows?",
                "No. Only operators that keep time use it: windows, OVER, interval joins, pattern matching.",
            ),
            (
                "What do you do with late rows, then?",
                (
                    "A window table function has no lateness and no side output. So a larger bound, or I split the "
                    "rows behind CURRENT_WATERMARK off before the window, into a table that somebody reads."
                ),
            ),
        ),
        flags=("Expects a correction because the sink has a primary key.",),
    ),
    Card(
        name="sql-millisecond",
        level="mid",
        topic="SQL",
        lesson=13,
        scenario="sql-watermark",
        jobs={"datastream": {"api": "datastream"}},
        ask="The same job as SQL and in the DataStream API, the same bound. Do windows fire at the same event?",
        say="Not always. SQL takes the expression as it stands, newest minus bound. The DataStream API subtracts "
        "{default watermark step} more. The newest event is {at r9@7:01:59.999}, the bound {length bound}. In SQL "
        "the watermark is {met r4471@6:56}, and the window {times r4471@6:30}, with {result r4471@6:30}. In the "
        "DataStream API it is {met r4471@6:56 | datastream} then, one millisecond short. So the next row "
        "{fate r4471@6:56} in SQL, and it {fate r4471@6:56 | datastream} in the other.",
        more=(
            (
                "Is one of them wrong?",
                "No. They promise different things. In SQL a row that is exactly one bound old can be late.",
            ),
            (
                "How do you make them equal?",
                "Make SQL's interval a millisecond longer.",
            ),
        ),
        flags=("Says that both are the same engine, so the results must be the same.",),
    ),
    Card(
        name="pushed-down",
        level="senior",
        topic="SQL",
        lesson=13,
        scenario="sql-pushed-down",
        jobs={"behind": {"strategy_at": "after"}},
        ask="Your SQL job loses rows of slow partitions. What do you look for in the plan?",
        say="For an operator called WatermarkAssigner. If it is there, the watermark is made behind the source, from "
        "all partitions together. If it is not, it has been pushed into the source, and each partition has its own. "
        "In this query {dropped} rows are dropped when it is pushed down. Behind the source {dropped | behind} are, "
        "because the fast partition moves the watermark for all.",
        more=(
            (
                "What keeps it from being pushed down?",
                "A connector that cannot take it. The one for Kafka can.",
            ),
            (
                "Does the counter tell you how many rows are lost?",
                "It tells that rows are lost. With local aggregation in front it counts sums of rows.",
            ),
        ),
        flags=("Does not know where the watermark of a table is made.", "Raises the bound until it stops."),
    ),
    Card(
        name="seconds-for-milliseconds",
        level="junior",
        topic="PyFlink",
        lesson=14,
        scenario="leaderboard",
        jobs={"seconds": _in_seconds},
        ask="A new job gives no results and no error. The times in the data are in seconds. What happens?",
        say="Flink takes every number as milliseconds. So all events are in {default first year}, and event time "
        "creeps. The whole morning is {stretch} long, and for this job it is {stretch | seconds}. That is not enough "
        "for a single window of an hour, so there are {results | seconds} results. With milliseconds there are "
        "{results}. I multiply in the assigner.",
        more=(
            (
                "How do you see it quickly?",
                "Compare the watermark with the clock. It is decades behind, and it moves by milliseconds.",
            ),
            (
                "What would have caught it early?",
                "A check in front of the strategy: send times that are far from the clock another way, and count them.",
            ),
        ),
        flags=("Waits for an error message.", "Blames the bound."),
    ),
    Card(
        name="lost-assigner",
        level="mid",
        topic="PyFlink",
        lesson=14,
        scenario="leaderboard",
        jobs={"kafka": _timed},
        ask="In PyFlink your timestamp assigner seems to be ignored. Where do you look?",
        say="At two things. It has to be in assign_timestamps_and_watermarks, because from_source ignores an "
        "assigner written in Python. And it has to be attached last: with_idleness after it returns a strategy "
        "without it. With Kafka nothing fails then. The time of the record is used, which is often the time of the "
        "upload. The kilometre that arrives at {arrival r4471@6:56} counts for {hour r4471@7:09 | kafka}, and not "
        "for {hour r4471@6:56}. That is the server's clock again, by mistake.",
        more=(
            (
                "What do you lose behind the source?",
                "Watermarks for each partition, and watermark alignment.",
            ),
            (
                "And in Java?",
                "There the order of the calls does not matter, and the strategy can be on the source.",
            ),
        ),
        flags=("Concludes that it works since there is no error.",),
    ),
    Card(
        name="nothing-late-in-the-test",
        level="senior",
        topic="PyFlink",
        lesson=14,
        scenario="leaderboard",
        jobs={"list": _as_list},
        ask="Your unit test reads a list, and no event is ever late. Does the test prove anything?",
        say="Not about late events. The list is read in an instant. Watermarks are sent every "
        "{default watermark interval}, so no window fires while it is read. At its end the list sends the highest "
        "watermark, and everything fires. In this run the list has {late | list} events that are too late. The same "
        "events at their own pace have {late}. And the window of {who r4471@6:56} {times r4471@6:56 | list}. At "
        "their own pace it {times r4471@6:56}.",
        more=(
            (
                "How do you test lateness then?",
                "Send watermarks with the events: a generator that emits on each event, or a test harness.",
            ),
            (
                "Does the last window of the real job fire?",
                "Only when later events come. The test hides that, because its list ends.",
            ),
        ),
        flags=("Takes a green test for a proof.", "Puts sleeps into the test."),
    ),
)
