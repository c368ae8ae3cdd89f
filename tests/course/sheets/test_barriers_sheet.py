"""Sheet 10: right answers in any form, and the message that each typical wrong one gets."""

import wmviz
from tests.course.sheets.answered import AnsweredTasks
from tests.course.test_harness import Aligned, Hasty
from wmviz.course.sheets import barriers as sheet

STORED = ["left@9:59:58", "right@9:59:58", "left@9:59:59", "left@10:00", "left@10:00:02", "right@10:00:03"]
JOB = sheet.HASTY


class Once(Aligned):
    """Forgets to begin anew."""

    def on_barrier(self, channel, checkpoint_id):
        self.seen.add(channel)
        return "snapshot" if len(self.seen) == self.channels and checkpoint_id == 1 else "block"


class Lax(Aligned):
    """Blocks nobody."""

    def on_barrier(self, channel, checkpoint_id):
        return "snapshot" if super().on_barrier(channel, checkpoint_id) == "snapshot" else "pass"


class OneIsNone(Aligned):
    """Waits for a second barrier where there is one channel only."""

    def on_barrier(self, channel, checkpoint_id):
        return super().on_barrier(channel, checkpoint_id) if self.channels > 1 else "block"


class FailsWithThree(Aligned):
    """Has thought of two channels only."""

    def __init__(self, channels):
        if channels > 2:
            raise ValueError("two are enough")
        super().__init__(channels)


NUMBER = "10"

RIGHT = [
    ("snapshot", STORED),
    ("snapshot", ", ".join(STORED)),
    ("blocked", "2 s"),
    ("blocked", 2000),
    ("counted-twice", ["right@10:00:06"]),
    ("short-timeout", JOB.replace(checkpoints={"mode": "unaligned"})),
    ("short-timeout", JOB.replace(checkpoints={"mode": "unaligned", "alignment_timeout": "1 s"})),
    ("short-timeout", JOB.replace(checkpoints={"timeout": "10 min"})),
    ("handler", Aligned),
]

WRONG = [
    ("snapshot", [*STORED, "right@10:00:06"], "belongs to the next checkpoint"),
    ("snapshot", STORED[:4], "in front of its channel's barrier"),
    ("snapshot", [*STORED, "left@10:00:07"], "belongs to the next checkpoint"),
    ("blocked", "7.1 s", "how long the checkpoint takes"),
    ("blocked", "4 s", "one event of the left channel"),
    ("blocked", "0 s", "Its barrier comes first"),
    ("blocked", "3 s", "Too long"),
    ("counted-twice", [], "taken before the other barrier is there"),
    ("counted-twice", ["right@10:00:06", "left@10:00:07"], "not in the snapshot"),
    ("counted-twice", ["right@10:00:06", "left@10:00:02"], "does not read it again"),
    ("short-timeout", JOB.replace(checkpoints={"mode": "at_least_once"}), "Nobody is blocked in this mode"),
    ("short-timeout", JOB.replace(checkpoints={"mode": "at_least_once", "timeout": "1 h"}), "may count twice"),
    ("short-timeout", JOB.replace(checkpoints={"tolerable_failures": 3}), "The job lives on"),
    ("short-timeout", JOB.replace(checkpoints={"first": "30 s"}), "a quieter moment"),
    ("short-timeout", JOB.replace(checkpoints={"interval": "10 min"}), "still takes longer"),
    ("short-timeout", JOB.replace(checkpoints=None), "Without checkpoints"),
    ("short-timeout", JOB.replace(work="1 s"), "are what they are"),
    ("handler", Hasty, "is complete too early"),
    ("handler", Once, "never completes"),
    ("handler", OneIsNone, "Flink's own handler wants \"snapshot\", and yours 'block'"),
    ("handler", Lax, "was an event taken from a channel whose barrier had come?"),
]


UNREAD = [
    ("handler", FailsWithThree, "__init__ stops with ValueError"),
    ("snapshot", 3),
    ("blocked", "long"),
    ("counted-twice", 1),
    ("short-timeout", JOB),
    ("short-timeout", 3),
    ("handler", 3),
]


class TestAnswers(AnsweredTasks):
    """What is said to each answer."""


def test_what_the_whole_sheet_goes_by():
    totals = wmviz.simulate(sheet.TILLS).totals
    assert [value for (key, _, end), value in totals.items() if key == "right" and end == 36_060_000] == [8]
    lax = wmviz.simulate(sheet.LAX).totals
    assert [value for (key, _, end), value in lax.items() if key == "right" and end == 36_060_000] == [9]
