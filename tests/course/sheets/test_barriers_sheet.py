"""Sheet 10: right answers in any form, and the message that each typical wrong one gets."""

import wmviz
from tests.course.sheets.answered import AnsweredTasks
from tests.course.test_harness import Aligned
from wmviz.course.sheets import barriers as sheet

STORED = ["left@9:59:58", "right@9:59:58", "left@9:59:59", "left@10:00", "left@10:00:02", "right@10:00:03"]
JOB = sheet.HASTY


class Handler:
    """Flink's rule; each near miss below changes one thing."""

    def __init__(self, channels):
        self.channels, self.current, self.seen = channels, 0, set()

    def on_barrier(self, channel, checkpoint_id):
        if checkpoint_id < self.current:
            return "pass"
        if checkpoint_id > self.current:
            self.current, self.seen = checkpoint_id, set()
        self.seen.add(channel)
        return "snapshot" if len(self.seen) == self.channels else "block"


class Missing:
    """Is right: goes by the channels that are missing."""

    def __init__(self, channels):
        self.channels, self.current, self.missing = channels, None, set()

    def on_barrier(self, channel, checkpoint_id):
        if self.current is None or checkpoint_id > self.current:
            self.current, self.missing = checkpoint_id, set(range(self.channels))
        if checkpoint_id < self.current:
            return "pass"
        self.missing.discard(channel)
        return "block" if self.missing else "snapshot"


class LastOfEach:
    """Is right: keeps the last id of each channel."""

    def __init__(self, channels):
        self.last = [0] * channels

    def on_barrier(self, channel, checkpoint_id):
        if checkpoint_id < max(self.last):
            return "pass"
        self.last[channel] = checkpoint_id
        return "snapshot" if min(self.last) == checkpoint_id else "block"


class PerCheckpoint:
    """Is right: a set for each checkpoint, and old ones are passed."""

    def __init__(self, channels):
        self.channels, self.seen = channels, {}

    def on_barrier(self, channel, checkpoint_id):
        if checkpoint_id < max(self.seen, default=0):
            return "pass"
        self.seen.setdefault(checkpoint_id, set()).add(channel)
        return "snapshot" if len(self.seen[checkpoint_id]) == self.channels else "block"


class CountsDown:
    """Is right: counts down for each checkpoint."""

    def __init__(self, channels):
        self.channels, self.current, self.left = channels, 0, 0

    def on_barrier(self, channel, checkpoint_id):
        if checkpoint_id > self.current:
            self.current, self.left = checkpoint_id, self.channels
        self.left -= checkpoint_id == self.current
        return "pass" if checkpoint_id < self.current else "block" if self.left else "snapshot"


class Hasty(Handler):
    """Takes the snapshot at the first barrier and forgets the others."""

    def on_barrier(self, channel, checkpoint_id):
        return "snapshot" if super().on_barrier(channel, checkpoint_id) == "block" else "pass"


class Once(Handler):
    """Forgets to begin anew."""

    def on_barrier(self, channel, checkpoint_id):
        self.seen.add(channel)
        return "snapshot" if len(self.seen) == self.channels and checkpoint_id == 1 else "block"


class Lax(Handler):
    """Blocks nobody."""

    def on_barrier(self, channel, checkpoint_id):
        return "snapshot" if super().on_barrier(channel, checkpoint_id) == "snapshot" else "pass"


class OneIsNone(Handler):
    """Waits for a second barrier where there is one channel only."""

    def on_barrier(self, channel, checkpoint_id):
        return super().on_barrier(channel, checkpoint_id) if self.channels > 1 else "block"


class Two(Handler):
    """Has thought of two channels only."""

    def __init__(self, channels):
        super().__init__(min(channels, 2))


class BlocksTheFirstOnly(Handler):
    """Lets the second of three channels go on."""

    def on_barrier(self, channel, checkpoint_id):
        answer, others = super().on_barrier(channel, checkpoint_id), len(self.seen)
        return "pass" if answer == "block" and others > 1 else answer


class CountsBarriers:
    """Counts barriers, whatever their checkpoint."""

    def __init__(self, channels):
        self.channels, self.count = channels, 0

    def on_barrier(self, channel, checkpoint_id):
        self.count = (self.count + 1) % self.channels
        return "block" if self.count else "snapshot"


class OldCounts(Handler):
    """Keeps a set for each checkpoint, and still counts for one that is given up."""

    def __init__(self, channels):
        self.channels, self.each = channels, {}

    def on_barrier(self, channel, checkpoint_id):
        self.each.setdefault(checkpoint_id, set()).add(channel)
        return "snapshot" if len(self.each[checkpoint_id]) == self.channels else "block"


class OldBeginsAnew(Handler):
    """Begins anew at each other id, also at a lower one."""

    def on_barrier(self, channel, checkpoint_id):
        self.current = min(self.current, checkpoint_id)
        return super().on_barrier(channel, checkpoint_id)


class NewWaits(Handler):
    """Lets a newer checkpoint wait until the older one is complete."""

    def on_barrier(self, channel, checkpoint_id):
        if 0 < len(self.seen) < self.channels and checkpoint_id > self.current:
            return "pass"
        return super().on_barrier(channel, checkpoint_id)


class TakesOver(Handler):
    """Begins a newer checkpoint with what has come for the older one."""

    def on_barrier(self, channel, checkpoint_id):
        seen = self.seen if 0 < len(self.seen) < self.channels else set()
        if checkpoint_id > self.current:
            self.current, self.seen = checkpoint_id, seen
        return super().on_barrier(channel, checkpoint_id)


class SavesTheOld(Handler):
    """Takes what there is of the older checkpoint when a newer one begins."""

    def on_barrier(self, channel, checkpoint_id):
        is_open = 0 < len(self.seen) < self.channels and checkpoint_id > self.current
        answer = super().on_barrier(channel, checkpoint_id)
        return "snapshot" if is_open else answer


class ExpectsEach(Handler):
    """Waits for each number in turn."""

    def on_barrier(self, channel, checkpoint_id):
        if checkpoint_id > self.current + 1:
            return "block"
        return super().on_barrier(channel, checkpoint_id)


class FailsWithThree(Handler):
    """Cannot be made for more than two channels."""

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
    ("handler", Handler),
    ("handler", Missing),
    ("handler", LastOfEach),
    ("handler", PerCheckpoint),
    ("handler", CountsDown),
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
    ("handler", Two, "yours 'snapshot'. Only barriers with the same id belong together"),
    ("handler", BlocksTheFirstOnly, "Its channel must wait until the barriers of all channels are there"),
    ("handler", Aligned, "Checkpoint 2 has begun before, so checkpoint 1 is given up, and its barrier is an old one"),
    ("handler", CountsBarriers, "so checkpoint 1 is given up"),
    ("handler", OldCounts, "so checkpoint 1 is given up"),
    ("handler", OldBeginsAnew, "so checkpoint 1 is given up"),
    ("handler", NewWaits, "checkpoint 2 takes its place at once"),
    ("handler", TakesOver, "Only barriers with the same id belong together"),
    ("handler", SavesTheOld, "Only barriers with the same id belong together"),
    ("handler", ExpectsEach, "checkpoint"),
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
