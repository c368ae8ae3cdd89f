"""What lesson 9 asks: answers come from the engine, and each typical wrong answer gets the message that names it."""

import pytest

import wmviz
from tests.sums import check_sums
from wmviz import course
from wmviz.course.lessons import other_windows
from wmviz.course.questions import find
from wmviz.times import time_ms


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("workouts", ("6:00", "6:35")),
        ("touch", (time_ms("6:00"), time_ms("6:20"))),
        ("grid", "2:10"),
        ("count", (2, 6)),
        ("offset", "30 min"),
    ],
)
def test_the_engine_gives_the_answers_that_flink_gives(name, value):
    assert find(f"9.{name}").solution.value == value


def test_the_first_question_tells_what_the_events_meet():
    trace = wmviz.simulate(wmviz.scenario("workout-sessions"))
    assert trace.seen_watermarks["r4471@6:15"] == time_ms("6:22:59.999")
    # gone at 6:15:59.999 + 10 min
    for watermark_ms, sessions in ((time_ms("6:25:59.998"), 1), (time_ms("6:25:59.999"), 2)):
        job = other_windows._workouts(
            ("r4471", "6:00", "6:00"),
            ("r4471", "6:06", "6:06"),
            ("r9", "6:23", "6:23"),
            ("r9", str_time(watermark_ms + 120_001), "6:40"),
            ("r4471", "6:16", "6:41"),
            ("r9", "7:30", "7:30"),
        )
        fired = [f.window for f in wmviz.simulate(job).all_firings if f.key == "r4471"]
        assert (len({window.start_ms for window in fired})) == sessions


def str_time(ms):
    return f"{ms // 3_600_000}:{ms // 60_000 % 60:02}:{ms // 1_000 % 60:02}.{ms % 1_000:03}"


@pytest.mark.parametrize(("second", "sessions"), [("6:10", 1), ("6:10:00.001", 2)])
def test_exactly_the_gap_is_one_session(second, sessions):
    job = other_windows._workouts(("r9", "6:00", "6:00"), ("r9", second, "6:10:01"), ("r9", "7:00", "7:00"))
    assert len(wmviz.simulate(job).all_firings) == sessions


def test_the_purging_trigger_does_what_the_wrong_choice_says():
    rows = [["r9", 1000, f"6:0{minute}", f"6:0{minute}"] for minute in range(7)]
    job = other_windows._workouts(window={"type": "global", "trigger": "purging_count:3"}).replace(events=rows)
    assert [len(f.event_ids) for f in wmviz.simulate(job).all_firings] == [3, 3]


@pytest.mark.parametrize("answer", ["6:10", "6:10:00.000", time_ms("6:10")])
def test_the_right_time_is_right_in_any_form(answer):
    assert course.check("9.earliest", answer).right


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("6:20", "can grow to the left"),
        ("6:25", "Behind the watermark is not late"),
        ("6:25:00.001", "Behind the watermark is not late"),
        ("6:15", "its own window alone"),
        ("6:15:00.001", "joins first"),
        ("6:09:59.999", "ends 1 ms before"),
        ("6:10:00.001", "One millisecond less"),
        ("6:05", "joins nothing"),
        ("6:12", "an older one does too"),
    ],
)
def test_a_wrong_time_gets_the_thought_that_leads_there(answer, message):
    verdict = course.check("9.earliest", answer)
    assert verdict.state == "wrong"
    assert message in verdict.sentence
    assert "6:10" not in verdict.sentence


def test_what_is_no_time_is_not_yet_wrong():
    assert course.check("9.earliest", "soon").state == "not yet"


def test_hints_come_in_steps_and_give_nothing_away():
    hints = find("9.earliest").hints
    assert len(hints) == 2
    assert not any("6:10" in hint for hint in hints)


def test_every_sum_that_is_said_is_right():
    assert check_sums(course.check("9.earliest", "6:10").sentence) == 1
