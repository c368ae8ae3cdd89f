"""Sheet 3: right answers in any form, and the message that each typical wrong one gets."""

from datetime import timedelta

import wmviz
from tests.course.sheets.answered import AnsweredTasks
from tests.sums import check_sums
from wmviz import course
from wmviz.course.questions import find
from wmviz.course.sheets import windows_fire as sheet
from wmviz.times import MIN_MS, time_ms

NUMBER = "3"
MINUTE_MS = 60_000


def phones(factor: int = 1, **settings) -> wmviz.Scenario:
    rows = [[key, metres, phone * factor, server] for key, metres, phone, server in sheet.PHONE_ROWS]
    return wmviz.Scenario.of(**{"name": "phones", "bound": "2 min", "window": "1 h", "events": rows, **settings})


def generator(start="-(2**63)", update="max(self.newest_ms, timestamp_ms)", emit="self.newest_ms - self.bound_ms - 1"):
    source = (
        "class Bounded:\n"
        "    def __init__(self, bound_ms):\n"
        f"        self.bound_ms, self.newest_ms = bound_ms, {start}\n"
        "    def on_event(self, timestamp_ms):\n"
        f"        self.newest_ms = {update}\n"
        "    def on_periodic_emit(self):\n"
        f"        return {emit}\n"
    )
    namespace: dict[str, type] = {}
    exec(source, namespace)
    return namespace["Bounded"]


class KeepsTheWatermark:
    """Is right: keeps the watermark in place of the newest time."""

    def __init__(self, bound_ms):
        self.bound_ms, self.watermark_ms = bound_ms, MIN_MS

    def on_event(self, timestamp_ms):
        self.watermark_ms = max(self.watermark_ms, timestamp_ms - self.bound_ms - 1)

    def on_periodic_emit(self):
        return self.watermark_ms


class NoneAtFirst:
    """Is right: there is no newest time before the first event, and no watermark."""

    def __init__(self, bound_ms):
        self.bound_ms, self.newest_ms = bound_ms, None

    def on_event(self, timestamp_ms):
        self.newest_ms = timestamp_ms if self.newest_ms is None else max(self.newest_ms, timestamp_ms)

    def on_periodic_emit(self):
        return None if self.newest_ms is None else self.newest_ms - self.bound_ms - 1


class SinceTheLastTick(KeepsTheWatermark):
    """Is right: begins anew at each tick, but whoever emits lets no watermark go back, in Flink as well."""

    def on_periodic_emit(self):
        watermark_ms, self.watermark_ms = self.watermark_ms, MIN_MS
        return watermark_ms


class NothingIsZero(NoneAtFirst):
    """Takes the time 0 for no time."""

    def on_event(self, timestamp_ms):
        self.newest_ms = max(self.newest_ms, timestamp_ms) if self.newest_ms else timestamp_ms


class LastTen(KeepsTheWatermark):
    """Keeps the last ten times only."""

    def __init__(self, bound_ms):
        self.bound_ms, self.times_ms = bound_ms, []

    def on_event(self, timestamp_ms):
        self.times_ms = [*self.times_ms, timestamp_ms][-10:]

    def on_periodic_emit(self):
        return max(self.times_ms, default=MIN_MS) - self.bound_ms - 1


class TheOneBefore(KeepsTheWatermark):
    """Takes an event that is far ahead of the others for a fault."""

    def on_event(self, timestamp_ms):
        if self.watermark_ms == MIN_MS or timestamp_ms - self.watermark_ms <= 2 * self.bound_ms:
            super().on_event(timestamp_ms)


class KeepsItInTheClass(KeepsTheWatermark):
    """Has one watermark for all streams."""

    def __init__(self, bound_ms):
        self.bound_ms = bound_ms

    watermark_ms = MIN_MS

    def on_event(self, timestamp_ms):
        type(self).watermark_ms = max(self.watermark_ms, timestamp_ms - self.bound_ms - 1)


RIGHT = [
    ("watermark", "8:57:59.999"),
    ("watermark", " 08:57:59.999"),
    ("watermark", time_ms("8:57:59.999")),
    ("watermark", timedelta(hours=8, minutes=57, seconds=59, milliseconds=999)),
    ("firing", ("cem@9:07:30", "9:02:29.999")),
    ("firing", ["cem 9:07:30.000", time_ms("9:02:29.999")]),
    ("firing", ("9:07:30", "9:02:29.999")),
    ("firing", (time_ms("9:07:30"), "9:02:29.999")),
    ("settings", ("2 min", "6 min")),
    ("settings", (timedelta(minutes=3), 9 * MINUTE_MS)),
    ("settings", (MINUTE_MS + 1, "6 min")),
    ("silent-job", phones(1000)),
    ("silent-job", phones(1000, name="mine")),
    ("generator", generator()),
    ("generator", generator(emit="float(self.newest_ms - self.bound_ms - 1)")),
    ("generator", generator(start="float('-inf')")),
    ("generator", KeepsTheWatermark),
    ("generator", NoneAtFirst),
    ("generator", SinceTheLastTick),
]
WRONG = [
    ("watermark", "8:58", "left out the −1 ms"),
    ("watermark", "8:46:59.999", "You took the last event"),
    ("watermark", "8:47", "You took the last event"),
    ("watermark", "8:58:39.999", "counted from the arrival time"),
    ("watermark", "9:03", "You forgot the bound"),
    ("watermark", "9:08", "You added the bound"),
    ("watermark", "8:00", "too early, by more than a second"),
    ("firing", ("ana@9:03", "9:02:59.999"), "You forgot the bound"),
    ("firing", ("cem@9:04:59.999", "8:59:59.999"), "one millisecond short"),
    ("firing", ("ana@8:55", "8:59:59.999"), "moves no watermark"),
    ("firing", ("ben@8:57", "9:02:29.999"), "makes ben's window fire again"),
    ("firing", ("ana@9:15", "9:09:59.999"), "not kept per key"),
    ("firing", ("cem@9:07:30", "8:59:59.999"), "The watermark jumps"),
    ("firing", ("cem@9:07:30", "9:02:30"), "left out the −1 ms"),
    ("settings", ("13 min", "0 min"), "Wish 1 fails"),
    ("settings", ("1 min", "9 min"), "Wish 2 fails"),
    ("settings", ("2 min", "3 min"), "Wish 3 fails. dia's 8:56 meets"),
    ("settings", ("2 min", "4 min"), "Wish 3 fails by one millisecond"),
    ("settings", ("2 min", "13 min"), "Wish 4 fails"),
    ("settings", ("-2 min", "13 min"), "negative"),
    ("silent-job", phones(window={"type": "tumbling", "size": "1 h", "time": "processing"}), "by the server's clock"),
    ("silent-job", phones(end_of_input="2026-10-18T00:00Z"), "a real stream does not end"),
    ("silent-job", phones(window={"type": "tumbling", "size": "1 h", "trigger": "count:1"}), "a count knows no hours"),
    ("silent-job", phones(events=[[k, m, at, at] for k, m, _, at in sheet.PHONE_ROWS]), "with the server's clock"),
    ("silent-job", phones(bound="0 ms"), "The settings are not the cause"),
    ("silent-job", phones(1000, bound="0 ms"), "Only the event times were wrong"),
    ("silent-job", phones(100), "Only the event times were wrong"),
    ("silent-job", phones(1000).replace(events=phones(1000).events[:4]), "Only the event times were wrong"),
    ("generator", generator(emit="self.newest_ms - self.bound_ms"), "You left out the −1 ms"),
    ("generator", generator(emit="self.newest_ms - 1"), "You forgot the bound"),
    ("generator", generator(emit="self.newest_ms + self.bound_ms"), "Your watermark runs ahead"),
    ("generator", generator(start="0"), "event times before 1970 are negative"),
    ("generator", generator(update="timestamp_ms"), "An older event must not replace the newest time"),
    (
        "generator",
        generator(update="min(self.newest_ms, timestamp_ms)", start="2**62"),
        "follows another event than the newest",
    ),
    ("generator", generator(start="-1"), "event times before 1970 are negative"),
    ("generator", generator(emit="self.newest_ms - self.bound_ms + 1"), "The 1 ms comes off"),
    (
        "generator",
        generator(emit="self.newest_ms - 300_001"),
        "the bound of another stream. Here",
    ),
    ("generator", generator(emit="self.newest_ms - self.bound_ms // 1000 - 1"), "in milliseconds already"),
    ("generator", generator(emit=f"{10**12} - self.bound_ms - 1"), "No event so far is so new"),
    ("generator", generator(emit="max(self.newest_ms - self.bound_ms - 1, 0)"), "event times before 1970 are negative"),
    ("generator", NothingIsZero, "before-1970-on-a-timer"),
    ("generator", LastTen, "On long-wait"),
    ("generator", TheOneBefore, "An older event must not replace the newest time"),
    ("generator", KeepsItInTheClass, "no clock, and no other stream"),
    ("generator", generator(emit="self.newest_ms - 2 * self.bound_ms - 1"), "Work it out by hand"),
]
UNREAD = [
    ("watermark", [1], "cannot be read as a time"),
    ("firing", "cem@9:07:30", "Give two things"),
    ("firing", ("zoe@9:07:30", "9:02"), "There is no event"),
    ("firing", ("cem@9:07:30", ...), "three dots"),
    ("settings", "2 min", "Give two lengths"),
    ("settings", ("two", "3"), "cannot be read as a length of time"),
    ("silent-job", 3, "Give the job itself"),
    ("watermark", ..., "three dots"),
    ("watermark", "  ", "three dots"),
    ("silent-job", phones(), "Nothing has changed so far"),
    ("generator", generator(emit="..."), "gives no watermark so far"),
    ("generator", generator(emit="None"), "gives no watermark so far"),
    ("generator", generator(emit="'7:02'"), "A watermark is a whole number"),
    ("generator", generator(emit="1 / 0"), "on_periodic_emit stops with ZeroDivisionError"),
    ("generator", generator(update="unknown"), "on_event stops with NameError"),
    ("generator", generator()(1), "Give the class itself"),
    ("generator", type("Empty", (), {"__init__": lambda self, bound_ms: None}), "has no method on_event"),
    ("generator", type("NoBound", (), {}), "__init__ stops with TypeError"),
]


class TestAnswers(AnsweredTasks):
    """What is said to each answer."""


def test_no_message_gives_the_answer_away():
    for name, answer in ((name, answer) for name, answer, _ in WRONG if name in ("watermark", "firing")):
        sentence = course.check(f"3.{name}", answer).sentence
        assert not any(text in sentence for text in ("8:57:59.999", "9:02:29.999"))


def test_settings_are_right_exactly_where_the_four_wishes_hold():
    for bound_ms in (0, MINUTE_MS, MINUTE_MS + 1, 2 * MINUTE_MS, 3 * MINUTE_MS, 3 * MINUTE_MS + 1, 5 * MINUTE_MS):
        ends = (6 * MINUTE_MS - bound_ms, 12 * MINUTE_MS + 30_000 - bound_ms)
        for lateness_ms in {0, ends[0], ends[0] + 1, ends[1], ends[1] + 1} - {-1}:
            if lateness_ms < 0:
                continue
            wishes = MINUTE_MS < bound_ms <= 3 * MINUTE_MS and ends[0] < lateness_ms <= ends[1]
            assert course.check("3.settings", (bound_ms, lateness_ms)).right == wishes, (bound_ms, lateness_ms)


def test_the_silent_job_is_silent():
    assert wmviz.simulate(phones()).all_firings == ()


def test_a_right_generator_runs_the_engine():
    assert course.run_with(generator(), sheet.RUN_CLUB).outcomes() == wmviz.simulate(sheet.RUN_CLUB).outcomes()


def test_every_sum_that_is_said_is_right():
    said = [course.check(f"3.{name}", answer).sentence for name, answer in RIGHT]
    said += [hint for name in sheet.ITEMS for hint in find(f"3.{name}").hints]
    assert sum(map(check_sums, said)) >= 1
