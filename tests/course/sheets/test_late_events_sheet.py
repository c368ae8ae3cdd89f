"""Sheet 4: right answers in any form, and the message that each typical wrong one gets."""

from datetime import timedelta

import wmviz
from tests.course.sheets.answered import AnsweredTasks
from wmviz.course.sheets import late_events as sheet
from wmviz.times import time_ms


def rule(end_ms, lateness_ms, watermark_ms):
    return end_ms - 1 + lateness_ms <= watermark_ms


MENDED = sheet.SLIDING.replace(lateness="1 min")

NUMBER = "4"

RIGHT = [
    ("too-late", ["west@9:01:59"]),
    ("too-late", "west@9:01:59"),
    ("too-late", {"west@9:01:59"}),
    ("fires-again", 3),
    ("fires-again", "3"),
    ("final-at", "9:02:53"),
    ("final-at", time_ms("9:02:53")),
    ("lateness", "15.001 s"),
    ("lateness", 15_001),
    ("lateness", timedelta(milliseconds=15_001)),
    ("short-count", MENDED),
    ("short-count", sheet.SLIDING.replace(lateness="1 min", late_to="side")),
    ("short-count", sheet.SLIDING.replace(bound="2 min")),
    ("rule", rule),
    ("rule", lambda end, lateness, watermark: not watermark < end + lateness - 1),
]

WRONG = [
    ("short-count", sheet.SLIDING.replace(partitions=2), "no window ever fires"),
    ("short-count", sheet.SLIDING.replace(strategy="none"), "no window ever fires"),
    ("short-count", sheet.SLIDING.replace(lateness="1 h", subtasks=2), "no window ever fires"),
    ("too-late", ["west@9:01:40", "west@9:01:59"], "west@9:01:40 is behind the watermark"),
    ("too-late", ["east@9:02:05", "west@9:01:59"], "That window has not fired"),
    ("too-late", ["west@9:01:30", "west@9:01:59"], "late, but not too late"),
    ("too-late", [], "at that watermark the state is gone"),
    ("too-late", ["west@9:01:59", "west@9:01:55"], "meets 9:02:49 − 10 s − 1 ms = 9:02:38.999"),
    ("too-late", ["west@9:01:59", "nobody@9:00"], "nobody@9:00 does not belong there."),
    ("fires-again", 1, "fires again, at once, for each late event"),
    ("fires-again", 2, "One late event that counts is missing"),
    ("fires-again", 4, "One too many"),
    ("fires-again", 12, "12 is too many"),
    ("final-at", "9:02:39.999", "That is the watermark"),
    ("final-at", "9:02:40", "The server's clock moves no watermark"),
    ("final-at", "9:02:50", "one second short"),
    ("final-at", "9:04:31", "belongs to the operator"),
    ("lateness", "15 s", "One millisecond short: at that very watermark"),
    ("lateness", "10 s", "more goes there than that one"),
    ("lateness", "41 s", "a shorter one does, too"),
    ("lateness", "2 min", "Now nothing goes to the side output"),
    ("lateness", -1, "cannot be negative"),
    ("short-count", sheet.SLIDING.replace(late_to="side"), "only an event that is too late for all its windows"),
    ("short-count", sheet.SLIDING.replace(lateness="40 s"), "Still 1 times"),
    ("short-count", sheet.SLIDING.replace(window={"slide": "2 min"}), "With other windows"),
    ("short-count", sheet.SLIDING.replace(events=[]), "The events are what they are"),
    ("short-count", sheet.SLIDING.by_server_clock(), "By the server's clock"),
    ("rule", lambda end, lateness, watermark: end + lateness <= watermark, "one millisecond late"),
    ("rule", lambda end, lateness, watermark: end - 1 <= watermark, "You left out the lateness"),
    ("rule", lambda end, lateness, watermark: end - 2 + lateness <= watermark, "one millisecond early"),
    ("rule", lambda end, lateness, watermark: False, "still takes events when the state is gone"),
]


UNREAD = [
    ("rule", lambda end, lateness, mark: mark > end if end != 120_000 else {}[end], "is_late stops with KeyError"),
    ("too-late", 3),
    ("fires-again", "some"),
    ("final-at", "soon"),
    ("lateness", "a while"),
    ("short-count", "yes"),
    ("short-count", sheet.SLIDING),
    ("rule", 5),
    ("rule", lambda end, lateness, watermark: None),
]


class TestAnswers(AnsweredTasks):
    """What is said to each answer."""


def test_what_the_whole_sheet_goes_by():
    trace = wmviz.simulate(sheet.DOOR)
    assert trace.outcomes().late == {"west@9:01:59"}
    assert trace.seen_watermarks["west@9:01:40"] == time_ms("9:01:59.998")
    assert wmviz.simulate(sheet.SLIDING).ledger().missed == 3
