"""Sheet 8: right answers in any form, and the message that each typical wrong one gets."""

import numpy as np
import pytest

import wmviz
from tests.course.sheets.answered import AnsweredTasks
from tests.course.test_harness_alignment import Never, Waiting
from wmviz.course.sheets import alignment as sheet
from wmviz.times import MAX_MS, MIN_MS, time_ms

YEAR, CAPE = sheet.YEAR, sheet.CAPE


class Strict(Waiting):
    """Stops at the limit already."""

    def must_wait(self, limit_ms):
        return self.kept[0] >= limit_ms


class Newest(Waiting):
    """Lets a short lead count."""

    def must_wait(self, limit_ms):
        return self.kept[-1] > limit_ms


class Early:
    """Does not wait for the third sample."""

    def __init__(self, samples):
        self.kept, self.samples = [], samples

    def on_sample(self, watermark_ms):
        self.kept = [*self.kept, watermark_ms][-self.samples :]

    def must_wait(self, limit_ms):
        return bool(self.kept) and self.kept[0] > limit_ms


class Full(Early):
    """Is right, with a list."""

    def must_wait(self, limit_ms):
        return len(self.kept) == self.samples and min(self.kept) > limit_ms


class Old(Early):
    """Forgets nothing."""

    def on_sample(self, watermark_ms):
        self.kept.append(watermark_ms)

    def must_wait(self, limit_ms):
        return len(self.kept) >= self.samples and self.kept[0] > limit_ms


class AlwaysThree(Waiting):
    """Does not ask how many count."""

    def __init__(self, samples):
        super().__init__(3)


class FailsWithOne(Full):
    """Has thought of three samples only, and waits too soon."""

    def __init__(self, samples):
        if samples == 1:
            raise ValueError("one is too few")
        super().__init__(samples)

    def must_wait(self, limit_ms):
        return super().must_wait(limit_ms - (3_600_000 if limit_ms > 1_000 else 0))


class InARing:
    """Is right: overwrites the oldest sample."""

    def __init__(self, samples):
        self.kept_ms, self.at = [MIN_MS] * samples, 0

    def on_sample(self, watermark_ms):
        self.kept_ms[self.at] = watermark_ms
        self.at = (self.at + 1) % len(self.kept_ms)

    def must_wait(self, limit_ms):
        return np.bool_(self.kept_ms[self.at] > limit_ms)


class Each(Early):
    """Is right: all that are kept are over the limit."""

    def must_wait(self, limit_ms):
        return len(self.kept) == self.samples and all(ms > limit_ms for ms in self.kept)


class OnlyWatermarks(Full):
    """Is right: keeps no sample before the first watermark, which makes no difference."""

    def on_sample(self, watermark_ms):
        if watermark_ms > MIN_MS:
            super().on_sample(watermark_ms)


class Largest(Full):
    """Is right: keeps the largest ones, and watermarks never go back."""

    def on_sample(self, watermark_ms):
        self.kept = sorted([*self.kept, watermark_ms])[-self.samples :]


class AnyOfThree(Full):
    """Waits when one sample is over the limit."""

    def must_wait(self, limit_ms):
        return len(self.kept) == self.samples and max(self.kept) > limit_ms


class Average(Full):
    """Goes by the average."""

    def must_wait(self, limit_ms):
        return len(self.kept) == self.samples and sum(self.kept) / self.samples > limit_ms


class Middle(Full):
    """Goes by the sample in the middle."""

    def must_wait(self, limit_ms):
        return len(self.kept) == self.samples and self.kept[self.samples // 2] > limit_ms


class OneMore(Full):
    """Waits a sample later."""

    def __init__(self, samples):
        super().__init__(samples + 1)


class OneLess(Full):
    """Waits a sample sooner."""

    def __init__(self, samples):
        super().__init__(max(samples - 1, 1))


class HighestLimit(Full):
    """Takes no limit back."""

    limit_ms = MIN_MS

    def must_wait(self, limit_ms):
        if limit_ms < MAX_MS:
            self.limit_ms = max(self.limit_ms, limit_ms)
        return super().must_wait(max(self.limit_ms, limit_ms))


class ReadsAgainLater(Full):
    """Once it waits, it goes by the newest sample."""

    waits = False

    def must_wait(self, limit_ms):
        self.waits = self.kept[-1] > limit_ms if self.waits else super().must_wait(limit_ms)
        return self.waits


class ForEver(Full):
    """Never reads again."""

    waits = False

    def must_wait(self, limit_ms):
        self.waits = self.waits or super().must_wait(limit_ms)
        return self.waits


class CountsQuestions:
    """Counts how often it was asked while it was over the limit."""

    def __init__(self, samples):
        self.samples, self.times, self.newest_ms = samples, 0, MIN_MS

    def on_sample(self, watermark_ms):
        self.newest_ms = watermark_ms

    def must_wait(self, limit_ms):
        self.times = self.times + 1 if self.newest_ms > limit_ms else 0
        return self.times >= self.samples


class ByThatDaysLimit:
    """Counts samples that were over the limit of their own moment."""

    def __init__(self, samples):
        self.samples, self.times, self.limit_ms = samples, 0, MAX_MS

    def on_sample(self, watermark_ms):
        self.times = self.times + 1 if watermark_ms > self.limit_ms else 0

    def must_wait(self, limit_ms):
        self.limit_ms = limit_ms
        return self.times >= self.samples


class OnlyWhatRises(Full):
    """Keeps no sample twice, so a source that waits is never done."""

    def on_sample(self, watermark_ms):
        if watermark_ms not in self.kept:
            super().on_sample(watermark_ms)


def aligned(**settings):
    return YEAR.replace(alignment=settings)


NUMBER = "8"

RIGHT = [
    ("allowed", "4:33:59.999"),
    ("allowed", "04:33:59,999"),
    ("allowed", time_ms("4:33:59.999")),
    ("stands", ("9:00:10", "9:00:30")),
    ("stands", ["09:00:10", time_ms("9:00:30")]),
    ("too-old", ["valley@3:20", "valley@3:50"]),
    ("too-old", "valley@3:50, valley@3:20"),
    ("small-state", aligned(drift="1 h", interval="500 ms")),
    ("small-state", aligned(drift="30 min", interval="1 s")),
    ("small-state", aligned(drift="1 h", buffer=1)),
    ("hangs", CAPE.replace(idle_timeout="5 s")),
    ("hangs", CAPE.replace(idle_timeout="40 s")),
    ("must-wait", Waiting),
    ("must-wait", Full),
    ("must-wait", InARing),
    ("must-wait", Each),
    ("must-wait", OnlyWatermarks),
    ("must-wait", Largest),
]

WRONG = [
    ("allowed", "4:08:59.999", "You count lake"),
    ("allowed", "3:58:59.999", "You count cape"),
    ("allowed", "5:08:59.999", "The lowest one of the group counts"),
    ("allowed", "4:28:59.999", "takes no watermark back"),
    ("allowed", "4:13:59.999", "The drift comes on top"),
    ("allowed", "4:35", "the bound and the 1 ms"),
    ("allowed", "4:34", "left out the 1 ms"),
    ("allowed", "4:34:59.999", "left out the bound."),
    ("allowed", "3:53:59.999", "so add it"),
    ("allowed", "4:38:59.999", "when valley was idle"),
    ("stands", ("9:00:04", "9:00:30"), "Stops: hill's watermark is over the limit then"),
    ("stands", ("9:00:08", "9:00:30"), "the limit has risen since"),
    ("stands", ("9:00:06", "9:00:30"), "that of 9:00:02"),
    ("stands", ("9:00:03.500", "9:00:30"), "Nobody compares"),
    ("stands", ("9:00:12", "9:00:30"), "A sample too late"),
    ("stands", ("9:00:10", "9:00:26"), "Reads again: The limit is 2:40:59.999"),
    ("stands", ("9:00:10", "9:00:22"), "its samples become 2:43:59.999"),
    ("stands", ("9:00:10", "9:00:12"), "Only valley's progress lifts it"),
    ("stands", ("9:00:10", "9:00:14"), "have all become higher"),
    ("stands", ("9:00:10", "9:00:34"), "A report too late"),
    ("too-old", [], "That hill waits does not help it"),
    ("too-old", ["valley@3:20"], "valley's 3:50 comes after its 4:05"),
    ("too-old", ["valley@3:20", "valley@3:50", "hill@3:25"], "the operator goes by the lower one"),
    ("too-old", ["valley@3:20", "valley@3:50", "valley@4:02"], "its window [4:00, 4:30) has not fired"),
    ("small-state", aligned(drift=0), "not even a drift of 0 is enough"),
    ("small-state", aligned(drift="30 min"), "goes on reading for about 6 s"),
    ("small-state", aligned(interval="500 ms"), "the drift lets hill go far ahead"),
    ("small-state", aligned(drift=0, buffer=1), "stops and starts all the time"),
    ("small-state", aligned(drift="1 h", buffer=0), "stop 11 times"),
    ("small-state", YEAR.replace(alignment=None), "Without alignment hill never waits"),
    ("small-state", YEAR.replace(work="10 ms"), "Change the alignment only"),
    ("hangs", CAPE.replace(idle_timeout="1 s"), "Does valley become idle, too?"),
    ("hangs", CAPE.replace(idle_timeout="10 min"), "Until cape is idle, all wait"),
    ("hangs", CAPE.replace(alignment={"drift": "2 h"}), "cape's last watermark still counts"),
    ("hangs", CAPE.replace(alignment={"drift": "20 h"}), "no window fires"),
    ("hangs", CAPE.replace(alignment=None), "no window fires"),
    ("hangs", CAPE.replace(alignment=None, idle_timeout="5 s"), "is hill held"),
    ("hangs", CAPE.replace(strategy_at="after", idle_timeout="5 s"), "is hill held"),
    ("hangs", CAPE.replace(events=CAPE.events[:50]), "are what they are"),
    ("hangs", CAPE.replace(end_of_input="9:01:30"), "You let the input end"),
    ("hangs", CAPE.replace(end_of_input="9:01:30", idle_timeout="5 s"), "You let the input end"),
    ("hangs", CAPE.replace(idle_timeout="5 s", lateness="10 h"), "an allowed lateness of 10 h"),
    ("hangs", CAPE.replace(idle_timeout="5 s", bound="10 h"), "with a bound of 10 h"),
    ("must-wait", Strict, "At the limit a source still reads"),
    ("must-wait", Newest, "You let a short lead count"),
    ("must-wait", Early, "Before three samples are there"),
    ("must-wait", Old, "An old sample still counts"),
    ("must-wait", Never, "must wait"),
    ("must-wait", AnyOfThree, "You let a short lead count"),
    ("must-wait", Average, "You let a short lead count"),
    ("must-wait", Middle, "You let a short lead count"),
    ("must-wait", OneLess, "You let a short lead count"),
    ("must-wait", OneMore, "for three samples must wait"),
    ("must-wait", HighestLimit, "Flink's own source waits, and yours does not. A limit may fall"),
    ("must-wait", ReadsAgainLater, "What does it remember between two calls?"),
    ("must-wait", ForEver, "What does it remember between two calls?"),
    ("must-wait", CountsQuestions, "for three samples must wait"),
    ("must-wait", ByThatDaysLimit, "for three samples must wait"),
    ("must-wait", OnlyWhatRises, "for three samples must wait"),
    ("must-wait", AlwaysThree, "It is not always three"),
]

UNREAD = [
    ("must-wait", FailsWithOne, "__init__ stops with ValueError"),
    ("allowed", "soon"),
    ("stands", "9:00:10", "Give both times"),
    ("stands", ("9:00:10", ...)),
    ("stands", ("9:00:10", "then")),
    ("too-old", 2),
    ("small-state", 40),
    ("small-state", YEAR, "up to 97 events"),
    ("hangs", CAPE, "22 of 92 events"),
    ("hangs", "idle"),
    ("must-wait", Waiting(3), "Give the class itself"),
    ("must-wait", 3),
]


class TestAnswers(AnsweredTasks):
    """What is said to each answer."""


def test_without_alignment_the_same_are_late():
    """Hold what is said to the right answer of task 3, and that shorter intervals make one more late."""
    lates = [
        wmviz.simulate(sheet.MIXED.replace(alignment=alignment)).outcomes().late
        for alignment in (None, {"drift": 0}, {"drift": 0, "interval": "500 ms"})
    ]
    assert lates[0] == lates[1]
    assert lates[2] - lates[1] == {"hill@3:25"}


def test_who_counts_in_the_first_task():
    trace = wmviz.simulate(sheet.FOUR)
    at = trace.state(sum(ms <= time_ms("9:00:26") for ms in trace.step_at_ms) - 1)
    assert [at.statuses.get(f"source[{n}]", 0) for n in range(3)] == [0, 0, 1]
    assert at.watermarks["source[1]"] == time_ms("4:13:59.999")
    assert at.watermarks.get("source[3]", MIN_MS) == MIN_MS


@pytest.mark.parametrize(("timeout", "idles"), [("1 s", True), ("5 s", False)])
def test_valley_is_idle_while_it_still_sends_with_a_short_timeout_only(timeout, idles):
    trace = wmviz.simulate(CAPE.replace(idle_timeout=timeout))
    last_ms = max(e.arrival_time_ms for e in CAPE.events if e.key == "valley")
    found = [r for r in trace if r.kind.name == "STATUS" and r.subject == "source[1]" and r.value == 1]
    assert any(r.at_ms < last_ms for r in found) is idles
