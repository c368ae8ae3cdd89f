"""Sheet 2: right answers in any form, and the message that each typical wrong one gets."""

import wmviz
from tests.course.sheets.answered import AnsweredTasks
from wmviz.course.sheets import watermarks as sheet
from wmviz.times import MIN_MS, time_ms

JOB = sheet.SILENT


class Bounded(sheet.Capped):
    """Follows every leap."""

    def on_event(self, timestamp_ms):
        self.newest_ms = max(self.newest_ms, timestamp_ms)


class UnderAnHour(sheet.Capped):
    """Takes an hour for a leap."""

    def on_event(self, timestamp_ms):
        if self.newest_ms < 0 or timestamp_ms < self.newest_ms + 3_600_000:
            self.newest_ms = max(self.newest_ms, timestamp_ms)


class NoBound(sheet.Capped):
    """Leaves out the bound."""

    def on_periodic_emit(self):
        return self.newest_ms - 1


class FromTheLast(sheet.Capped):
    """Compares with the last event that it took, and not with the newest."""

    def on_event(self, timestamp_ms):
        if self.newest_ms == MIN_MS or timestamp_ms <= self.last_ms + sheet.HOUR_MS:
            self.newest_ms, self.last_ms = max(self.newest_ms, timestamp_ms), timestamp_ms


class GoesBack(sheet.Capped):
    """Lets an older event replace the newest time."""

    def on_event(self, timestamp_ms):
        if self.newest_ms == MIN_MS or timestamp_ms <= self.newest_ms + sheet.HOUR_MS:
            self.newest_ms = timestamp_ms


NUMBER = "2"

RIGHT = [
    ("each-event", "9:06:29.999"),
    ("each-event", time_ms("9:06:29.999")),
    ("timer", "9:02:59.999"),
    ("least-bound", "70.001 s"),
    ("least-bound", 70_001),
    ("no-timer", JOB.replace(interval="200 ms")),
    ("no-timer", JOB.replace(emission="event")),
    ("capped", sheet.Capped),
]

WRONG = [
    ("capped", FromTheLast, "was left out, or the newest time went back"),
    ("capped", GoesBack, "was left out, or the newest time went back"),
    ("no-timer", sheet.SILENT.replace(emission="event", bound="1 d"), "none reaches the end of a window"),
    ("no-timer", sheet.SILENT.replace(emission="event", partitions=2), "no watermark comes through"),
    ("no-timer", sheet.SILENT.replace(strategy="none"), "An interval of 0"),
    ("each-event", "9:06:30", "You left out the −1 ms"),
    ("each-event", "9:05:09.999", "You took the last event"),
    ("each-event", "9:07:19.999", "You counted from the arrival"),
    ("each-event", "9:08", "You forgot the bound"),
    ("timer", "9:06:29.999", "When did the timer last come by?"),
    ("timer", "9:01:49.999", "but not the newest"),
    ("timer", "9:07:59.999", "The timer reads no clock"),
    ("least-bound", "70 s", "One millisecond short"),
    ("least-bound", "60 s", "its window has fired before"),
    ("least-bound", "115 s", "less is enough"),
    ("least-bound", "150 s", "not measured by the server's clock"),
    ("least-bound", "90 s", "a shorter bound does it, too"),
    ("least-bound", -1, "cannot be negative"),
    ("no-timer", JOB.replace(bound="0 s"), "Still no watermark is ever sent"),
    ("no-timer", JOB.by_server_clock(), "by the server's clock now"),
    ("no-timer", JOB.replace(end_of_input="10:00"), "because the input ends"),
    ("no-timer", JOB.replace(window="1 min"), "were not the fault"),
    ("capped", Bounded, "A leap of more than an hour was followed"),
    ("capped", UnderAnHour, "Exactly an hour is not more than an hour"),
    ("capped", NoBound, "Without a leap your generator must do what the bounded one does"),
]


UNREAD = [
    ("each-event", "soon"),
    ("timer", "x"),
    ("least-bound", "some"),
    ("no-timer", JOB),
    ("no-timer", 1),
    ("capped", 3),
]


class TestAnswers(AnsweredTasks):
    """What is said to each answer."""


def test_what_the_whole_sheet_goes_by():
    assert not wmviz.simulate(sheet.SILENT).all_firings
    assert not wmviz.simulate(sheet.PARCELS).outcomes().late
    assert max(e.arrival_time_ms - e.event_time_ms for e in sheet.PARCELS.events) == 150_000
