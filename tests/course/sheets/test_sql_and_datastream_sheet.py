"""Sheet 13: right answers in any form, and the message that each typical wrong one gets."""

import pytest

import wmviz
from tests.course.sheets.answered import AnsweredTasks
from wmviz.course.answers import AnswerError
from wmviz.course.sheets import sql_and_datastream as sheet
from wmviz.course.sheets.sql_text import subtracted_ms
from wmviz.times import time_ms

FILTERED = ["t1@8:00:20", "t2@8:00:55", "t2@8:00:58", "t2@8:00:59.500", "t1@8:01:59.999"]

NUMBER = "13"

RIGHT = [
    ("in-two-steps", ("window_time AS minute_time", "8:00")),
    ("in-two-steps", ("window time", "8:00")),
    ("met-by-both", ["8:00:59.998", "8:00:59.997"]),
    ("met-by-both", "8:00:59.998, 08:00:59.997"),
    ("met-by-both", (time_ms("8:00:59.998"), time_ms("8:00:59.997"))),
    ("met-by-both", {"query": "8:00:59.998", "program": "8:00:59.997"}),
    ("only-in-program", ["t2@8:00:58", "t1@8:01:59.999"]),
    ("only-in-program", "t1@8:01:59.999, t2@8:00:58"),
    ("same-watermark", "rowtime - INTERVAL '90.001' SECOND"),
    ("same-watermark", "WATERMARK FOR rowtime AS rowtime - INTERVAL '1' MINUTE - INTERVAL '30.001' SECOND,"),
    ("same-watermark", "watermark for `rowtime` as `rowtime`-interval '1:30' minute to second-interval '0.001' second"),
    ("same-watermark", "rowtime - (INTERVAL '90' SECOND + INTERVAL '0.001' SECOND)"),
    ("same-watermark", "rowtime - INTERVAL '2' MINUTE + INTERVAL '29.999' SECOND"),
    ("in-two-steps", ["window_time", "8:00"]),
    ("in-two-steps", ("DESCRIPTOR(`window_time`)", time_ms("8:00"))),
    ("in-two-steps", "WINDOW_TIME, 8:00"),
    ("on-time-only", FILTERED),
    ("on-time-only", set(FILTERED)),
    ("silent-turbine", sheet.STOPPED.replace(idle_timeout="45 s")),
    ("silent-turbine", sheet.STOPPED.replace(idle_timeout="58 s", bound="4 s")),
    ("silent-turbine", sheet.STOPPED.replace(strategy_at="after", bound="20 s")),
    ("silent-turbine", sheet.STOPPED.replace(strategy_at="after", subtasks=2, idle_timeout="45 s")),
]

WRONG = [
    ("silent-turbine", sheet.STOPPED.replace(idle_timeout="40 s", aggregate="count"), "the sum of each minute"),
    ("silent-turbine", sheet.STOPPED.replace(strategy_at="after", bound="1 h"), "each result waits that long"),
    ("met-by-both", ["8:00:59.997", "8:00:59.997"], "The query: SQL takes the expression as it stands"),
    ("met-by-both", ["8:00:59.998", "8:00:59.998"], "The program: The DataStream API takes 1 ms more off"),
    ("met-by-both", ["8:00:50", "8:00:49.999"], "The query: You took off 5 s from the row's own time"),
    ("met-by-both", ["8:01:04.998", "8:01:04.998"], "The bound comes off"),
    ("met-by-both", ["8:00:59.999", "8:00:59.998"], "is not there yet"),
    ("met-by-both", ["9:00", "8:00:59.997"], "The query: 9:00 is too late"),
    ("only-in-program", ["t2@8:00:58"], "exactly 5 s older"),
    ("only-in-program", ["t1@8:01:59.999"], "Which watermark does it bring"),
    ("only-in-program", ["t2@8:00:55", "t2@8:00:58", "t1@8:01:59.999"], "its window is open in both"),
    ("only-in-program", ["t2@8:00:58", "t2@8:00:59.500", "t1@8:01:59.999"], "the program's window has fired, too"),
    ("same-watermark", "rowtime - INTERVAL '90' SECOND", "SQL is ahead by 1 ms"),
    ("same-watermark", "rowtime - INTERVAL '89.999' SECOND", "goes the wrong way: SQL is ahead by 2 ms"),
    ("same-watermark", "rowtime - INTERVAL '5' SECOND", "You take off 5 s"),
    ("same-watermark", "rowtime + INTERVAL '90.001' SECOND", "not behind the rows"),
    ("same-watermark", "rowtime - INTERVAL '90.0001' SECOND", "SQL is ahead by 1 ms"),
    ("in-two-steps", ["window_end", "8:05"], "window_end is a plain timestamp"),
    ("in-two-steps", ["window_start", "8:00"], "window_start is a plain timestamp"),
    ("in-two-steps", ["rowtime", "8:00"], "rowtime is gone"),
    ("in-two-steps", ["window_time", "8:05"], "That would be by window_end"),
    ("in-two-steps", ["window_time", "8:04"], "That is the minute itself"),
    ("in-two-steps", ["window_time", "8:04:59.999"], "That is the time of its result"),
    ("in-two-steps", ["event_time", "8:00"], "has no column event_time"),
    ("on-time-only", FILTERED[1:], "Is anything greater than NULL?"),
    ("on-time-only", [name for name in FILTERED if name != "t2@8:00:55"], "A filter asks for no window"),
    ("on-time-only", FILTERED[:-1], "and is not greater"),
    ("on-time-only", [*FILTERED, "t2@8:00:40"], "is ahead of it"),
    ("silent-turbine", sheet.STOPPED.replace(idle_timeout="30 s"), "After 30 s turbine 2 already counts as idle"),
    ("silent-turbine", sheet.STOPPED.replace(idle_timeout="2 min"), "[8:02, 8:03) comes 1 min 47 s after its minute"),
    ("silent-turbine", sheet.STOPPED.replace(idle_timeout="10 min"), "after its minute"),
    ("silent-turbine", sheet.STOPPED.replace(strategy_at="after"), "How large is its delay?"),
    (
        "silent-turbine",
        sheet.STOPPED.replace(strategy_at="after", idle_timeout="45 s"),
        "one watermark counts for both",
    ),
    ("silent-turbine", sheet.STOPPED.replace(bound="30 s"), "whatever the bound"),
    ("silent-turbine", sheet.STOPPED.replace(interval="200 ms"), "Results are still missing"),
    ("silent-turbine", sheet.STOPPED.replace(window="5 min"), "With other windows"),
    ("silent-turbine", sheet.STOPPED.replace(api="datastream"), "It is to stay a query"),
    ("silent-turbine", sheet.STOPPED.replace(events=[]), "deliver what they deliver"),
]

UNREAD = [
    ("met-by-both", "8:00:59.998", "two times in a list"),
    ("met-by-both", ["soon", "later"]),
    ("only-in-program", 2),
    ("same-watermark", 90_001, "quotation marks"),
    ("same-watermark", "INTERVAL '90.001' SECOND", "begin with it"),
    ("same-watermark", "rowtime - INTERVAL '1' MILLISECOND", "has no MILLISECOND"),
    ("same-watermark", "rowtime - INTERVAL '120' SECOND", "as SECOND(3)"),
    ("same-watermark", "rowtime - INTERVAL '1.5' MINUTE", "Flink cannot read INTERVAL '1.5' MINUTE"),
    ("same-watermark", "rowtime - INTERVAL 90.001 SECOND", "a number in quotation marks"),
    ("same-watermark", "ts - INTERVAL '90.001' SECOND", "Which column is ts?"),
    ("same-watermark", "rowtime minus 90 s", "cannot be read here"),
    ("in-two-steps", "window_time", "in a list"),
    ("in-two-steps", ["window_time", "first"]),
    ("on-time-only", 5),
    ("silent-turbine", "45 s"),
    ("silent-turbine", sheet.STOPPED, "Nothing has changed"),
]


class TestAnswers(AnsweredTasks):
    """What is said to each answer."""


def test_what_the_whole_sheet_goes_by():
    seen = wmviz.simulate(sheet.QUERY).seen_watermarks
    assert seen["t2@8:00:58"] == time_ms("8:00:59.999")
    assert wmviz.simulate(sheet.PROGRAM).seen_watermarks["t2@8:00:58"] == time_ms("8:00:59.998")
    assert {f.window.end_ms for f in wmviz.simulate(sheet.STOPPED).all_firings} == {time_ms("8:01"), time_ms("8:02")}


LENGTHS = {
    "INTERVAL '90.001' SECOND": 90_001,
    "INTERVAL '90.001' SECOND(2, 3)": 90_001,
    "INTERVAL '90.0019' SECOND": 90_001,
    "INTERVAL '1' MINUTE - INTERVAL '30.001' SECOND": 90_001,
    "INTERVAL '1:30.001' MINUTE TO SECOND": 90_001,
    "INTERVAL '0:01:30.001' HOUR TO SECOND": 90_001,
    "INTERVAL '0 00:01:30.001' DAY TO SECOND": 90_001,
    "INTERVAL '90' SECONDS": 90_000,
    "INTERVAL 90 SECOND": 90_000,
    "INTERVAL '120' SECOND(3)": 120_000,
    "INTERVAL '2' HOUR": 7_200_000,
    "INTERVAL '-90.001' SECOND": -90_001,
    "INTERVAL -'90.001' SECOND": -90_001,
}
"""Lengths as Flink reads them."""

REFUSED = [
    "INTERVAL '1' MILLISECOND",
    "INTERVAL '120' SECOND",
    "INTERVAL '1.5' MINUTE",
    "INTERVAL 90.001 SECOND",
    "INTERVAL '.001' SECOND",
    "INTERVAL '1:75' MINUTE TO SECOND",
    "INTERVAL '1' SECOND TO MINUTE",
    "INTERVAL '1'",
    "INTERVAL '1' MINUTE)",
]


@pytest.mark.parametrize("text", LENGTHS)
def test_lengths_in_sql_are_read_as_flink_reads_them(text):
    assert subtracted_ms(f"rowtime - {text}", "rowtime") == LENGTHS[text]


@pytest.mark.parametrize("text", REFUSED)
def test_what_flink_refuses_is_refused(text):
    with pytest.raises(AnswerError):
        subtracted_ms(f"rowtime - {text}", "rowtime")


def test_flink_reads_the_same_lengths(flink):
    columns = ", ".join(f"CAST(rowtime - {text} AS STRING) AS c{i}" for i, text in enumerate(LENGTHS))
    row = flink.query(sheet.QUERY, f"SELECT {columns} FROM events").iloc[0]
    for i, length_ms in enumerate(LENGTHS.values()):
        read_ms = time_ms(row[f"c{i}"].replace(" ", "T") + "Z")
        assert time_ms("8:00:20") - read_ms == length_ms


@pytest.mark.parametrize("text", REFUSED)
def test_flink_refuses_them_too(flink, text):
    with pytest.raises(flink.FlinkError):
        flink.query(sheet.QUERY, f"SELECT rowtime - {text} AS c FROM events")


def test_flink_filters_the_same_rows(flink):
    kept = flink.query(sheet.QUERY, "SELECT id FROM events WHERE rowtime > CURRENT_WATERMARK(rowtime)")
    assert {event.id for event in sheet.QUERY.events} - {*kept["id"]} == set(FILTERED)
