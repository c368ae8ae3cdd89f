"""Sheet 6: right answers in any form, and the message that each typical wrong one gets."""

import wmviz
from tests.course.sheets.answered import AnsweredTasks
from wmviz.course.sheets import many_inputs as sheet
from wmviz.times import MIN_MS, time_ms


class Minimum:
    def __init__(self, channels):
        self.watermarks_ms = [MIN_MS] * channels
        self.through_ms = MIN_MS

    def combined(self):
        return min(self.watermarks_ms)

    def on_watermark(self, channel, watermark_ms):
        self.watermarks_ms[channel] = watermark_ms
        lowest_ms = self.combined()
        if lowest_ms <= self.through_ms:
            return None
        self.through_ms = lowest_ms
        return lowest_ms


class Maximum(Minimum):
    def combined(self):
        return max(self.watermarks_ms)


class OnlyThoseSeen(Minimum):
    def combined(self):
        return min(ms for ms in self.watermarks_ms if ms > MIN_MS)


class Slow(Minimum):
    """Lets a watermark through one too late."""

    def __init__(self, channels):
        super().__init__(channels)
        self.before_ms = MIN_MS

    def combined(self):
        before_ms, self.before_ms = self.before_ms, min(self.watermarks_ms)
        return before_ms


NUMBER = "6"

RIGHT = [
    ("combined", "8:09:19.999"),
    ("combined", time_ms("8:09:19.999")),
    ("fires", "north@8:10:30"),
    ("fires", "north 8:10:30"),
    ("four-readers", sheet.SPARE.replace(subtasks=3)),
    ("four-readers", sheet.SPARE.replace(subtasks=1)),
    ("four-readers", sheet.SPARE.replace(idle_timeout="5 min")),
    ("after-the-source", ["north@8:08:15", "north@8:09:50", "south@8:09:55"]),
    ("after-the-source", "south@8:09:55, north@8:09:50, north@8:08:15"),
    ("build-minimum", Minimum),
]

WRONG = [
    ("combined", "8:09:20", "You left out the −1 ms"),
    ("combined", "8:11:29.999", "furthest ahead"),
    ("combined", "8:10:09.999", "That is partition 0"),
    ("combined", "8:02:29.999", "You took the oldest event"),
    ("combined", "8:09:50", "You forgot the bound"),
    ("fires", "south@8:10:40", "partitions 1 and 2 are behind"),
    ("fires", "north@8:10:29.999", "One millisecond short"),
    ("fires", "south@8:14:10", "has fired before it came"),
    ("fires", "north@8:03", "does not bring the lowest"),
    (
        "four-readers",
        sheet.SPARE.replace(strategy_at="after"),
        "After the source each subtask still has its own strategy",
    ),
    ("four-readers", sheet.SPARE.replace(bound="0 s"), "The bound is not the cause"),
    ("four-readers", sheet.SPARE.replace(lateness="5 min"), "Still nothing fires"),
    ("four-readers", sheet.SPARE.replace(subtasks=3, idle_timeout="10 s"), "lost cars"),
    ("four-readers", sheet.SPARE.by_server_clock(), "by the server's clock now"),
    ("four-readers", sheet.SPARE.replace(end_of_input="9:00"), "The bridge does not close"),
    ("four-readers", sheet.SPARE.replace(window={"trigger": "count:1"}), "not because event time has passed"),
    ("four-readers", sheet.SPARE.replace(window="5 min"), "The windows were not the fault"),
    ("four-readers", sheet.SPARE.replace(events=[]), "The events are what they are"),
    ("after-the-source", [], "north's 8:08:15 meets"),
    ("after-the-source", ["north@8:08:15", "north@8:09:50", "south@8:09:55", "south@8:11:30"], "has not fired"),
    ("build-minimum", Maximum, "it is at its start"),
    ("build-minimum", OnlyThoseSeen, "it is at its start"),
    ("build-minimum", Slow, "Your valve holds a watermark back"),
]


UNREAD = [
    ("combined", "soon"),
    ("fires", "north@9:00"),
    ("four-readers", "three"),
    ("four-readers", sheet.SPARE),
    ("after-the-source", 3),
    ("build-minimum", Minimum(3)),
    ("build-minimum", lambda: None),
]


class TestAnswers(AnsweredTasks):
    """What is said to each answer."""


def test_what_the_whole_sheet_goes_by():
    assert not wmviz.simulate(sheet.SPARE).all_firings
    assert not wmviz.simulate(sheet.BRIDGE).outcomes().late
    assert len(wmviz.simulate(sheet.BRIDGE).all_firings) == 2
