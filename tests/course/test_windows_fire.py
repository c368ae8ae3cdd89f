"""What lesson 3 asks: answers come from the engine, and each typical wrong answer gets the message that names it."""

from datetime import timedelta

import pytest

import wmviz
from tests.sums import check_sums
from wmviz import course
from wmviz.course.lessons import windows_fire
from wmviz.course.questions import Question, find, items
from wmviz.times import time_ms

MINUTE_MS = 60_000
QUESTIONS = [name for name in items("3") if isinstance(find(f"3.{name}"), Question)]
TASKS = [name for name in items("3") if name not in QUESTIONS]


@pytest.mark.parametrize(
    ("name", "value"), [("first-firing", "7:02"), ("fate", 2000), ("behind", False), ("state-gone", "7:19:59.999")]
)
def test_the_engine_gives_the_answers_that_flink_gives(name, value):
    assert find(f"3.{name}").solution.value == value


RIGHT = [
    ("other-bound", "7:01:30"),
    ("other-bound", "07:01:30.000"),
    ("other-bound", time_ms("7:01:30")),
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
]
WRONG = [
    ("other-bound", "7:00", "You forgot the bound"),
    ("other-bound", "7:01:29.999", "one millisecond short"),
    ("other-bound", "7:01:30.001", "compared with the window's end; a window fires at its last millisecond, end − 1"),
    ("other-bound", "7:02", "answer for a bound of 2 min"),
    ("other-bound", "6:59:59.999", "That is the watermark"),
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
]
UNREAD = [
    ("other-bound", "soon", "cannot be read as a time"),
    ("watermark", [1], "cannot be read as a time"),
    ("firing", "cem@9:07:30", "Give two things"),
    ("firing", ("zoe@9:07:30", "9:02"), "There is no event"),
    ("firing", ("cem@9:07:30", ...), "three dots"),
    ("settings", "2 min", "Give two lengths"),
    ("settings", ("two", "3"), "cannot be read as a length of time"),
    ("silent-job", 3, "Give the job itself"),
    ("watermark", ..., "three dots"),
    ("watermark", "  ", "three dots"),
]


@pytest.mark.parametrize(("name", "answer"), RIGHT)
def test_a_right_answer_is_right_in_any_form(name, answer):
    verdict = course.check(f"3.{name}", answer)
    assert verdict.right, verdict.sentence


@pytest.mark.parametrize(("name", "answer", "message"), WRONG)
def test_a_wrong_answer_gets_the_thought_that_leads_there(name, answer, message):
    verdict = course.check(f"3.{name}", answer)
    assert verdict.state == "wrong"
    assert message in verdict.sentence


@pytest.mark.parametrize(("name", "answer", "message"), UNREAD)
def test_what_is_no_answer_is_not_yet_wrong(name, answer, message):
    verdict = course.check(f"3.{name}", answer)
    assert verdict.state == "not yet"
    assert message in verdict.sentence


def test_no_message_gives_the_answer_away():
    for name, answer, _ in WRONG:
        sentence = course.check(f"3.{name}", answer).sentence
        assert not any(text in sentence for text in ("8:57:59.999", "9:02:29.999", "7:01:30"))


def test_settings_are_right_exactly_where_the_four_wishes_hold():
    for bound_ms in (0, MINUTE_MS, MINUTE_MS + 1, 2 * MINUTE_MS, 3 * MINUTE_MS, 3 * MINUTE_MS + 1, 5 * MINUTE_MS):
        ends = (6 * MINUTE_MS - bound_ms, 12 * MINUTE_MS + 30_000 - bound_ms)
        for lateness_ms in {0, ends[0], ends[0] + 1, ends[1], ends[1] + 1} - {-1}:
            if lateness_ms < 0:
                continue
            wishes = MINUTE_MS < bound_ms <= 3 * MINUTE_MS and ends[0] < lateness_ms <= ends[1]
            assert course.check("3.settings", (bound_ms, lateness_ms)).right == wishes, (bound_ms, lateness_ms)


def phones(factor: int = 1, **settings) -> wmviz.Scenario:
    rows = [[key, metres, phone * factor, server] for key, metres, phone, server in course.given("3.silent-job")]
    return wmviz.Scenario.of(**{"name": "phones", "bound": "2 min", "window": "1 h", "events": rows, **settings})


def test_the_silent_job_is_silent_and_the_mended_one_is_not():
    assert wmviz.simulate(phones()).all_firings == ()
    assert course.check("3.silent-job", phones()).state == "not yet"
    assert course.check("3.silent-job", phones(1000)).right
    assert course.check("3.silent-job", phones(1000, name="mine")).right


@pytest.mark.parametrize(
    ("job", "message"),
    [
        (phones(window={"type": "tumbling", "size": "1 h", "time": "processing"}), "by the server's clock"),
        (phones(end_of_input="2026-10-18T00:00Z"), "a real stream does not end"),
        (phones(window={"type": "tumbling", "size": "1 h", "trigger": "count:1"}), "a count knows no hours"),
        (phones(events=[[k, m, at, at] for k, m, _, at in windows_fire.PHONE_ROWS]), "with the server's clock"),
        (phones(bound="0 ms"), "The settings are not the cause"),
        (phones(1000, bound="0 ms"), "Only the event times were wrong"),
        (phones(100), "Only the event times were wrong"),
        (phones(1000).replace(events=phones(1000).events[:4]), "Only the event times were wrong"),
    ],
)
def test_other_ways_to_make_it_fire_are_refused_with_the_reason(job, message):
    verdict = course.check("3.silent-job", job)
    assert verdict.state == "wrong"
    assert message in verdict.sentence


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


@pytest.mark.parametrize("emit", ["self.newest_ms - self.bound_ms - 1", "float(self.newest_ms - self.bound_ms - 1)"])
def test_a_right_generator_runs_the_engine(emit):
    verdict = course.check("3.generator", generator(emit=emit))
    assert verdict.right, verdict.sentence
    club = course.given("3.firing")
    assert course.run_with(generator(), club).outcomes() == wmviz.simulate(club).outcomes()


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"emit": "self.newest_ms - self.bound_ms"}, "You left out the −1 ms"),
        ({"emit": "self.newest_ms - 1"}, "You forgot the bound"),
        ({"emit": "self.newest_ms + self.bound_ms"}, "Your watermark runs ahead"),
        ({"start": "0"}, "event times before 1970 are negative"),
        ({"update": "timestamp_ms"}, "An older event must not replace the newest time"),
        ({"update": "min(self.newest_ms, timestamp_ms)", "start": "2**62"}, "follows another event than the newest"),
        ({"emit": "self.newest_ms - 2 * self.bound_ms - 1"}, "Work it out by hand"),
    ],
)
def test_a_wrong_generator_gets_the_thought_that_leads_there(parts, message):
    verdict = course.check("3.generator", generator(**parts))
    assert verdict.state == "wrong"
    assert message in verdict.sentence


@pytest.mark.parametrize(
    ("maker", "message"),
    [
        (generator(emit="..."), "gives no watermark so far"),
        (generator(emit="None"), "gives no watermark so far"),
        (generator(emit="'7:02'"), "A watermark is a whole number"),
        (generator(emit="1 / 0"), "on_periodic_emit stops with ZeroDivisionError"),
        (generator(update="unknown"), "on_event stops with NameError"),
        (generator()(1), "Give the class itself"),
        (type("Empty", (), {"__init__": lambda self, bound_ms: None}), "has no method on_event"),
        (type("NoBound", (), {}), "__init__ stops with TypeError"),
    ],
)
def test_a_generator_that_does_not_run_gets_a_sentence(maker, message):
    verdict = course.check("3.generator", maker)
    assert verdict.state == "not yet"
    assert message in verdict.sentence


@pytest.mark.parametrize("name", TASKS)
def test_hints_come_in_steps(name):
    hints = find(f"3.{name}").hints
    assert len(hints) >= 2
    shown = [str(course.hint(f"3.{name}")) for _ in range(len(hints) + 1)]
    assert shown[0] == f"Hint 1 of {len(hints)}: {hints[0]}"
    assert shown[-1] == shown[-2] == f"Hint {len(hints)} of {len(hints)}: {hints[-1]}"


def test_every_sum_that_is_said_is_right():
    said = [choice.why for name in QUESTIONS for choice in find(f"3.{name}").choices]
    said += [course.check(f"3.{name}", answer).sentence for name, answer in RIGHT]
    said += [hint for name in TASKS for hint in find(f"3.{name}").hints]
    assert sum(map(check_sums, said)) >= 3
