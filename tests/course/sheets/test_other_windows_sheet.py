"""Sheet 9: right answers in any form, and the message that each typical wrong one gets."""

import itertools
import math
import re
from datetime import timedelta

import wmviz
from tests.course.sheets.answered import AnsweredTasks
from wmviz import course
from wmviz.course.sheets import other_windows as sheet
from wmviz.times import time_ms


def start(timestamp_ms, offset_ms, size_ms):
    return timestamp_ms - (timestamp_ms - offset_ms) % size_ms


def as_in_java(timestamp_ms, offset_ms, size_ms):
    rest_ms = int(math.fmod(timestamp_ms - offset_ms, size_ms))
    return timestamp_ms - (rest_ms + size_ms if rest_ms < 0 else rest_ms)


def counted_down(timestamp_ms, offset_ms, size_ms):
    return (timestamp_ms - offset_ms) // size_ms * size_ms + offset_ms


def shifts(**window):
    return sheet.SHIFTS.replace(window=window)


NUMBER = "9"

RIGHT = [
    ("in-windows", ["9:04", "9:12"]),
    ("in-windows", "9:12, 9:04"),
    ("in-windows", "9:04; 9:12"),
    ("in-windows", "9:04 and 9:12"),
    ("in-windows", "[9:04, 9:24), [9:12, 9:32)"),
    ("in-windows", "[(9:04, 9:24), (9:12, 9:32)]"),
    ("in-windows", {time_ms("9:04"), time_ms("9:12")}),
    ("in-windows", [("9:04", "9:24"), ("9:12", "9:32")]),
    ("visits", [("10:00", "10:30"), ("10:22", "10:46")]),
    ("visits", (["10:22", "10:46"], ["10:00", "10:30"])),
    ("visits", [(time_ms("10:00"), time_ms("10:30")), (time_ms("10:22"), time_ms("10:46"))]),
    ("gaps", ("12 min", "19 min 59.999 s")),
    ("gaps", [720_000, 1_199_999]),
    ("gaps", (timedelta(minutes=12), timedelta(milliseconds=1_199_999))),
    ("shifts", shifts(offset="15 min")),
    ("shifts", shifts(offset="-7 h 45 min")),
    ("shifts", shifts(zone="+05:45", offset="6 h")),
    ("shifts", shifts(zone="Asia/Kathmandu", offset="-2 h")),
    ("double-rows", sheet.BRIDGED.replace(bound="5 min")),
    ("double-rows", sheet.BRIDGED.replace(bound="3 min 1 ms", lateness="0 s", late_to="drop")),
    ("build-start", start),
    ("build-start", as_in_java),
    ("build-start", counted_down),
]

WRONG = [
    ("in-windows", ["9:00", "9:08", "9:16"], "9:00 is no start. The grid begins at midnight"),
    ("in-windows", ["9:16"], "9:16 is no start"),
    ("in-windows", ["8:56", "9:04", "9:12"], "a window does not have its end"),
    ("in-windows", ["9:12"], "There is at least one more"),
    ("in-windows", ["9:12", "9:04", "9:20"], "A window that starts after 9:16"),
    ("in-windows", ["8:48", "9:04", "9:12"], "over before 9:16"),
    ("in-windows", [], "There is at least one more"),
    ("visits", [("10:00", "10:46")], "What is gone joins nothing"),
    ("visits", [("10:00", "10:30"), ("10:31", "10:46")], "You left out kim's 10:22"),
    ("visits", [("10:00", "10:15"), ("10:15", "10:30"), ("10:22", "10:46")], "touch, and that is enough"),
    ("visits", [("10:00", "10:15"), ("10:22", "10:31")], "one gap after its last click"),
    ("visits", [("10:00", "10:30"), ("10:05", "10:46")], "kim's 10:05 touches no session"),
    ("visits", [("10:00", "10:56")], "You took clicks of lou"),
    ("visits", [("10:00", "10:30")], "in the order of arrival"),
    ("visits", [], "in the order of arrival"),
    ("gaps", ("12 min 1 ms", "19 min 59.999 s"), "windows that touch are joined"),
    ("gaps", ("13 min", "19 min 59.999 s"), "Your shortest gap does it, but a shorter one does, too."),
    ("gaps", ("11 min", "19 min 59.999 s"), "With your shortest gap the visit of noor@14:00 falls into parts"),
    ("gaps", ("12 min", "20 min"), "omar's two visits become one"),
    ("gaps", ("12 min", "22 min"), "With your longest gap the session that begins with omar@14:02 holds two visits"),
    ("gaps", ("12 min", "19 min"), "Your longest gap does it, but a longer one does, too."),
    ("gaps", ("19 min", "12 min"), "Write the shortest first"),
    ("gaps", ("0", "12 min"), "A gap is above 0."),
    ("shifts", shifts(offset="-5 h 45 min"), "you have local midnight on the grid"),
    ("shifts", shifts(zone="+05:45"), "you have local midnight on the grid"),
    ("shifts", shifts(offset="5 h 45 min"), "Turn the sign"),
    ("shifts", shifts(offset="-15 min"), "to the other side"),
    ("shifts", shifts(offset="6 h"), "Whole hours do not help"),
    ("shifts", shifts(offset="20 min"), "Now the shifts begin at 06:05, 14:05, 22:05."),
    ("shifts", sheet.SHIFTS.replace(zone="UTC"), "That setting moves no border"),
    ("shifts", sheet.SHIFTS.replace(window="1 d"), "A shift is 8 h long"),
    ("shifts", sheet.SHIFTS.replace(events=[]), "You changed the events"),
    ("shifts", sheet.SHIFTS.by_server_clock(), "By the server's clock"),
    ("shifts", shifts(offset="15 min").replace(aggregate="count"), "the totals differ"),
    ("visits", [("10:00", "10:29:59.999"), ("10:22", "10:45:59.999")], "named by its end"),
    ("double-rows", sheet.BRIDGED.replace(sink="append"), "The sink stays as it is"),
    ("double-rows", sheet.BRIDGED.replace(bound="5 min", sink="transactional", checkpoints={}), "The sink stays"),
    ("double-rows", sheet.BRIDGED.replace(bound="3 min"), "one millisecond more"),
    ("double-rows", sheet.BRIDGED.replace(bound="2 min"), "Still 8 clicks in the table"),
    ("double-rows", sheet.BRIDGED.replace(lateness="0 s"), "But mia's visit is"),
    ("double-rows", sheet.BRIDGED.replace(late_to="drop"), "Still 8 clicks in the table"),
    ("double-rows", sheet.BRIDGED.replace(bound="5 min", end_of_input=None), "clicks are missing"),
    ("double-rows", sheet.BRIDGED.replace(window={"gap": "20 min"}), "With other windows"),
    ("double-rows", sheet.BRIDGED.replace(events=[]), "The clicks are what they are"),
    ("double-rows", sheet.BRIDGED.by_server_clock(), "By the server's clock"),
    ("build-start", lambda t, offset, size: t - t % size, "You left out the offset"),
    ("build-start", lambda t, offset, size: t - t % size + offset, "You moved the start, and not the grid"),
    ("build-start", lambda t, offset, size: t - (t + offset) % size, "to the other side"),
    (
        "build-start",
        lambda t, offset, size: int((t - offset) / size) * size + offset,
        "rounded down, and not towards 0",
    ),
    ("build-start", lambda t, offset, size: t + (offset - t) % size, "That window starts after its event."),
    ("build-start", lambda t, offset, size: 0, "That window ends before its event, at 480000."),
    ("build-start", lambda t, offset, size: t, "A start is a multiple of the size"),
]


UNREAD = [
    ("in-windows", 3),
    ("in-windows", ["soon"]),
    ("visits", "10:00 to 10:30"),
    ("visits", ["10:00", "10:30", "10:22"]),
    ("gaps", "12 min"),
    ("gaps", ("12 min", "long")),
    ("shifts", "15 min"),
    ("shifts", sheet.SHIFTS, "the shifts begin at 05:45, 13:45, 21:45."),
    ("double-rows", "5 min"),
    ("double-rows", sheet.BRIDGED, "the table has 8 clicks, and 6 were made."),
    ("build-start", 5),
    ("build-start", lambda t, offset, size: None, "start gives nothing so far"),
    ("build-start", lambda t, offset, size: 0.5, "A start is a whole number of milliseconds."),
    ("build-start", lambda t: t, "start stops with TypeError"),
    ("build-start", lambda t, offset, size: {0: 0}[size], "start stops with KeyError"),
]


class TestAnswers(AnsweredTasks):
    """What is said to each answer."""


def test_rows_that_come_at_the_end_only_are_right_with_their_price():
    late, soon = (
        course.check("9.double-rows", sheet.BRIDGED.replace(**settings))
        for settings in ({"strategy": "none"}, {"bound": "5 min"})
    )
    assert late.right
    assert "no row is written before the shop closes" in late.sentence
    assert "no row" not in soon.sentence


def test_a_start_that_changes_is_named_by_what_was_given():
    answers = itertools.cycle([0, -3_000])

    def start(timestamp_ms, offset_ms, size_ms):
        due_ms = timestamp_ms - (timestamp_ms - offset_ms) % size_ms
        return due_ms + next(answers)

    given, due = re.search(
        r"gives (-?\d+); it should be (-?\d+)", course.check("9.build-start", start).sentence
    ).groups()
    assert given != due


def test_what_the_whole_sheet_goes_by():
    assert wmviz.simulate(sheet.CLICKS).outcomes().late == {"kim@10:05"}
    assert wmviz.simulate(sheet.CLICKS).seen_watermarks["kim@10:22"] == time_ms("10:38:59.999")
    assert sum(wmviz.simulate(sheet.BRIDGED).totals.values()) == 8
    assert wmviz.simulate(sheet.BRIDGED).seen_watermarks["mia@15:12"] == time_ms("15:17:59.999")
    assert not wmviz.simulate(sheet.SHIFTS).outcomes().late
