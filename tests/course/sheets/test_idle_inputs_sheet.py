"""Sheet 7: right answers in any form, and the message that each typical wrong one gets."""

from datetime import timedelta

import wmviz
from tests.course.sheets.answered import AnsweredTasks
from tests.course.test_harness import Minimum, Valve
from wmviz.course.sheets import idle_inputs as sheet
from wmviz.times import time_ms


class CountsTheIdle(Valve):
    """Waits for idle channels, too."""

    def counted(self):
        return self.newest


class NothingAtTheEnd(Valve):
    """Lets nothing through when the last channel becomes idle."""

    def on_idle(self, channel):
        through = super().on_idle(channel)
        return None if all(self.idle) else through


class Hurried(Valve):
    """Leaves out whoever has sent nothing."""

    def counted(self):
        return [ms for ms in super().counted() if ms > -(2**63)]


class TakesWhileIdle(Valve):
    """Takes what an idle channel sends."""

    def on_watermark(self, channel, watermark_ms):
        self.idle[channel] = False
        return super().on_watermark(channel, watermark_ms)


class LeavesOutTheEqual(Valve):
    """Leaves out a channel that is not behind."""

    def on_active(self, channel):
        super().on_active(channel)
        self.left_out[channel] = True

    def on_watermark(self, channel, watermark_ms):
        if self.left_out[channel] and watermark_ms <= self.out:
            return None
        return super().on_watermark(channel, watermark_ms)


class AlwaysLooks(Valve):
    """Looks for a new lowest whichever channel falls idle."""

    def on_idle(self, channel):
        self.idle[channel] = True
        counted = self.newest if all(self.idle) else self.counted()
        lowest_or_highest = max if all(self.idle) else min
        return self.through(lowest_or_highest(counted)) if counted else None


class FailsWithThree(Valve):
    """Has thought of two channels only."""

    def __init__(self, channels):
        if channels > 2:
            raise ValueError("two are enough")
        super().__init__(channels)


NUMBER = "7"

RIGHT = [
    ("goes-idle", "7:09:30"),
    ("goes-idle", time_ms("7:09:30")),
    ("lost", ["reef@7:08"]),
    ("lost", "reef@7:08"),
    ("timeout", "5 min"),
    ("timeout", "4 min 10 s"),
    ("timeout", timedelta(minutes=5, seconds=39)),
    ("one-subtask", "7:09:59.999"),
    ("valve", Valve),
]

WRONG = [
    ("valve", TakesWhileIdle, "yours gives"),
    ("valve", LeavesOutTheEqual, "yours gives"),
    ("valve", AlwaysLooks, "At the last one nothing goes through; yours gives 10"),
    ("goes-idle", "7:09:05", "Nothing happens between two ticks"),
    ("goes-idle", "7:09:10", "the timer does not start with the event"),
    ("goes-idle", "7:09:20", "It must show more than the timeout"),
    ("goes-idle", "7:10:05", "It is idle before that"),
    ("lost", [], "pier alone moved the time"),
    ("lost", ["reef@7:08", "reef@7:11"], "has not fired"),
    ("lost", ["reef@7:08", "reef@7:06"], "came in time"),
    ("timeout", "3 min", "Wish 1 fails"),
    ("timeout", "4 min 9 s", "Wish 1 fails"),
    ("timeout", "5 min 40 s", "Wish 2 fails"),
    ("timeout", "0 s", "longer than nothing"),
    ("one-subtask", "7:11:59.999", "with a subtask each"),
    ("one-subtask", "7:07:59.999", "never goes back"),
    ("one-subtask", "7:10", "The −1 ms is missing"),
    ("valve", Minimum, "Someone holds the watermark who should not"),
    ("valve", CountsTheIdle, "Someone holds the watermark who should not"),
    ("valve", Hurried, "A channel that has sent nothing and is not idle counts"),
    ("valve", NothingAtTheEnd, "the last one too"),
]


UNREAD = [
    ("valve", FailsWithThree, "__init__ stops with ValueError"),
    ("goes-idle", "soon"),
    ("lost", 3),
    ("timeout", "long"),
    ("one-subtask", "x"),
    ("valve", Valve(2)),
    ("valve", 3),
]


class TestAnswers(AnsweredTasks):
    """What is said to each answer."""


def test_what_the_whole_sheet_goes_by():
    assert wmviz.simulate(sheet.BUOYS).outcomes().late == {"reef@7:08"}
    lost = wmviz.simulate(sheet.BUOYS.replace(idle_timeout="4 min 9 s 999 ms")).outcomes().late
    assert lost == {"reef@7:08"}
