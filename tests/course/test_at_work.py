"""What lesson 17 asks: answers come from runs, and each typical wrong answer gets the message that names it."""

import pytest

import wmviz
from wmviz import course
from wmviz.course.lessons.at_work import read_again, resumed_with, rings_ms, steady, total
from wmviz.course.questions import find
from wmviz.times import MIN_MS, time_ms
from wmviz.trace import Kind


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("late", "1500"),
        ("first", MIN_MS),
        ("uid", ("refused", "lost")),
        ("forever", "r9"),
        ("counter", "lag"),
        ("interval", (2, 6)),
    ],
)
def test_runs_give_the_answers(name, value):
    assert find(f"17.{name}").solution.value == value


@pytest.mark.parametrize(
    ("name", "answer"), [("alert", "6:48"), ("alert", "6:47:59.999"), ("batch", 0), ("batch", "0")]
)
def test_a_right_answer_is_right_in_any_form(name, answer):
    verdict = course.check(f"17.{name}", answer)
    assert verdict.right, verdict.sentence


@pytest.mark.parametrize(
    ("name", "answer", "message"),
    [
        ("alert", "6:50", "You counted from 6:20"),
        ("alert", "7:00:10", "You counted from 6:30:10"),
        ("alert", "7:03:10", "windows are due"),
        ("alert", "5:00", "Where does the watermark stand still"),
        ("batch", 1, "20 min of lateness"),
        ("batch", 19, "Where is the watermark"),
    ],
)
def test_a_wrong_answer_gets_the_thought_that_leads_there(name, answer, message):
    verdict = course.check(f"17.{name}", answer)
    assert verdict.state == "wrong"
    assert message in verdict.sentence


@pytest.mark.parametrize(("name", "answer"), [("alert", "soon"), ("batch", ...)])
def test_what_is_no_answer_is_not_yet_wrong(name, answer):
    assert course.check(f"17.{name}", answer).state == "not yet"


def test_an_alert_rings_when_the_watermark_is_too_far_behind_and_not_before():
    trace = wmviz.simulate(wmviz.scenario("quiet-partition"))
    assert rings_ms(trace) == time_ms("6:48")
    assert rings_ms(trace, time_ms("0:28")) == time_ms("6:46")
    assert rings_ms(trace, time_ms("0:20")) == time_ms("6:23"), "6:02:59.999 was too old before the next rise"
    assert rings_ms(trace, time_ms("2:00")) is None
    waits = wmviz.simulate(wmviz.scenario("quiet-partition").replace(partitions=1, events=[["r9", 1, "6:05", "6:05"]]))
    assert rings_ms(waits) is None, "the job has ended before"


def test_events_that_are_read_again_are_counted():
    assert [read_again(wmviz.simulate(steady(text))) for text in ("10 s", "30 s", "10 min")] == [1, 3, 60]
    trace = wmviz.simulate(steady("30 s"))
    assert len(trace.scenario.events) == 72
    assert [record.at_ms for record in trace if record.kind == Kind.CRASHED] == [time_ms("7:09:56")]


def test_a_job_is_resumed_with_what_was_said():
    assert total(wmviz.simulate(resumed_with()), "r7") == 1000
    assert total(wmviz.simulate(resumed_with(bound="20 min")), "r7") == 1500
    assert resumed_with(lateness="20 min").happenings == wmviz.scenario("new-lateness").happenings
