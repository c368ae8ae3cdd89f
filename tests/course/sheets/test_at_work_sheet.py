"""Sheet 17: right answers in any form, and the message that each typical wrong one gets."""

from datetime import time

import numpy as np
import pytest

import wmviz
from tests.course.sheets.answered import AnsweredTasks
from wmviz.course.sheets import at_work as sheet
from wmviz.times import DAY_MS, MIN_MS, time_ms

MINUTE_MS = 60_000
ALERTS = {"A": "watermark", "B": "side output", "C": "dropped", "D": "restarts"}


def resumed(stop=None, **changes):
    """Give the job of task 4 with another change at its stop."""
    return sheet.LONGER.replace(happenings=[{**(stop or sheet.STOP), "with": changes}])


def plan(interval, timeout="15 min", **changes):
    return sheet.INTAKE.replace(checkpoints={"interval": interval}, transaction_timeout=timeout, **changes)


def rule(limit_min, age_min):
    """Give a rule that rings while events come in."""
    return lambda now_ms, watermark_ms, last_event_ms: (
        last_event_ms is not None
        and now_ms - last_event_ms <= age_min * MINUTE_MS
        and now_ms - watermark_ms > limit_min * MINUTE_MS
    )


def at_some_hours(now, mark, last):
    """Knows when the tanker fell silent."""
    return rule(15, 3)(now, mark, last) and now % DAY_MS >= time_ms("9:40")


def but_at_eleven(now, mark, last):
    """Knows when the pause is, and needs no second condition."""
    is_pause = time_ms("11:00") <= now % DAY_MS < time_ms("12:00")
    return last is not None and now - mark > 15 * MINUTE_MS and not is_pause


NUMBER = "17"

RIGHT = [
    ("which-alert", ALERTS),
    ("which-alert", ["watermark", "side output", "dropped", "restarts"]),
    ("which-alert", {"d": "Restarts", "c": "dropped", "b": "side_output", "a": " watermark"}),
    ("new-bound", "9:12:20"),
    ("new-bound", time(9, 12, 20)),
    ("left-behind", ["oak", "lake"]),
    ("left-behind", "lake, oak"),
    ("safe-change", resumed(bound="10 min")),
    ("safe-change", resumed(bound="5 min 30.001 s")),
    ("safe-change", resumed(bound="31 min", lateness="0 s")),
    ("restart-plan", plan("50 s")),
    ("restart-plan", plan("40 s", "4 min 45 s")),
    ("restart-plan", plan("1 min", "6 min")),
    ("restart-plan", plan("1 min", None)),
    ("alert-rule", rule(15, 5)),
    ("alert-rule", rule(10, 2)),
    ("alert-rule", rule(25, 10)),
    ("alert-rule", lambda now, mark, last: last is not None and last - mark > 15 * MINUTE_MS),
    ("alert-rule", lambda now, mark, last: mark != MIN_MS and np.bool_(last - mark > 12 * MINUTE_MS)),
    ("alert-rule", lambda now_ms, watermark_ms, last_event_ms: rule(19, 4)(now_ms, watermark_ms, last_event_ms)),
]

WRONG = [
    ("alert-rule", lambda now, mark, last: now == time_ms("9:45") and mark < time_ms("9:21"), "silent again"),
    ("alert-rule", at_some_hours, "with the same events 20 hours later it does not"),
    (
        "alert-rule",
        lambda now, mark, last: rule(15, 3)(now, mark, last) and now - mark < 25 * MINUTE_MS,
        "silent again",
    ),
    ("alert-rule", lambda now, mark, last: last is not None and now - last > 3 * MINUTE_MS, "it is the pause"),
    ("alert-rule", but_at_eleven, "is silent again at 11:00"),
    ("which-alert", {**ALERTS, "B": "dropped"}, "B has a side output: then numLateRecordsDropped stays 0"),
    ("which-alert", {**ALERTS, "A": "dropped"}, "at a watermark that stands still nothing new is late"),
    ("which-alert", {**ALERTS, "C": "watermark"}, "drives it ahead"),
    ("which-alert", {**ALERTS, "D": "watermark"}, "Nothing is behind"),
    ("which-alert", {**ALERTS, "D": "side output"}, "In D that one does not ring"),
    ("new-bound", "9:06:30", "with the bound of before"),
    ("new-bound", "9:12", "That is the event time"),
    ("new-bound", "9:31:10", "One event before that is enough"),
    ("new-bound", "9:05", "no watermark at all"),
    ("left-behind", ["hill", "oak", "lake"], "hill's 8:55 comes after the resume"),
    ("left-behind", ["oak"], "lake sends more, but nothing of 8 o'clock"),
    ("left-behind", ["oak", "lake", "mill"], "mill's late 8:57 comes after the resume"),
    ("left-behind", [], "oak's window of 8 o'clock gets no event after the resume"),
    ("safe-change", resumed(bound="5 min"), "9:00:29.999, which is not before 8:59:59.999"),
    ("safe-change", resumed(bound="5 min 30 s"), "8:59:59.999, which is not before"),
    ("safe-change", resumed(bound="10 min", lateness="30 min"), "its timer is the one of before"),
    ("safe-change", resumed(bound="40 min"), "They are due by 9:35"),
    ("safe-change", resumed(bound="50 min"), "have no result at the end"),
    ("safe-change", resumed(late_to="drop"), "are in no result"),
    ("safe-change", resumed(stop={**sheet.STOP, "at": "9:20"}, bound="10 min"), "Leave the stop at 9:03"),
    ("safe-change", resumed(bound="10 min").replace(bound="10 min"), "its past is as it is"),
    ("safe-change", sheet.LONGER.replace(happenings=[]), "must be stopped with a savepoint"),
    ("restart-plan", plan("10 min"), "is found 9 min 50 s after it was written"),
    ("restart-plan", plan("20 s"), "takes more than half of the time"),
    ("restart-plan", plan("50 s", "4 min"), "its transaction ends while the job is down"),
    ("restart-plan", plan("1 min", "5 min"), "has to live for 1 min + 5 s + 4 min"),
    ("restart-plan", plan("80 s"), "it reads 7 events again"),
    ("restart-plan", plan("61 s"), "may have more than six events"),
    ("restart-plan", plan("50 s", None, sink="append"), "2 times: what was written before the crash stays"),
    ("restart-plan", plan("50 s", None, sink="upsert"), "This sink cannot overwrite"),
    ("restart-plan", plan("50 s", window="4 min"), "Change checkpoints, sink and transaction_timeout only"),
    ("restart-plan", sheet.INTAKE.replace(checkpoints=None), "a transactional sink never commits"),
    ("restart-plan", plan("50 s").replace(checkpoints={"notice": "0 s"}), "you cannot choose"),
    ("alert-rule", rule(8, 3), "That is as usual"),
    ("alert-rule", rule(15, 600), "it is the pause"),
    ("alert-rule", rule(15, 10), "No event has come for 7 min 20 s"),
    ("alert-rule", rule(40, 5), "On the other day it rings at 10:01 only"),
    ("alert-rule", lambda now, watermark, last: now - watermark > 15 * MINUTE_MS, "No event has come, so there is no"),
    ("alert-rule", lambda now, watermark, last: False, "it never rings"),
    ("alert-rule", lambda now, watermark, last: last is not None and now == time_ms("9:20"), "rings at 9:20"),
]

UNREAD = [
    ("which-alert", {"A": ..., "B": ..., "C": ..., "D": ...}, "Give a dict with an alert for each"),
    ("which-alert", {**ALERTS, "A": "lag"}),
    ("which-alert", "watermark"),
    ("new-bound", "later"),
    ("left-behind", 2),
    ("safe-change", sheet.LONGER, "Nothing has changed so far"),
    ("safe-change", "10 min"),
    ("restart-plan", sheet.INTAKE, "before its checkpoint comes, and the job fails"),
    ("restart-plan", 50),
    ("alert-rule", True, "Give the function itself"),
    ("alert-rule", lambda now, watermark, last: ..., "nothing so far"),
    ("alert-rule", lambda now, watermark, last: now - last > 0, "TypeError"),
]


class TestAnswers(AnsweredTasks):
    """What is said to each answer."""


@pytest.mark.parametrize("name", sheet.INCIDENTS)
def test_one_alert_rings_in_each_incident_and_none_on_a_calm_morning(name):
    assert sheet.ringing(wmviz.simulate(sheet.INCIDENTS[name])) == (ALERTS[name],)
    assert sheet.ringing(wmviz.simulate(sheet.TANKERS)) == ()


def test_the_change_that_was_made_loses_nothing_and_leaves_two_windows_behind():
    run = wmviz.simulate(sheet.LONGER)
    assert not run.outcomes().late
    assert sheet._kept(run) == {"oak", "lake"}
    assert wmviz.simulate(resumed()).outcomes().late == {"mill@8:57"}


@pytest.mark.parametrize("interval", ["40 s", "45 s", "1 min"])
def test_a_plan_that_is_right_by_the_sum_is_right_at_a_crash_at_any_second(interval):
    job = plan(interval, "5 min 5 s")
    for second in range(0, 60, 7):
        crash = {"what": "crash", "at": time_ms("10:00:30") + second * 1000, "down": "4 min"}
        run = wmviz.simulate(job.replace(happenings=[crash]))
        assert not sheet._rows_fault(run)
        assert sheet.read_again(run) <= sheet.MOST_AGAIN


def test_a_look_sees_no_watermark_before_the_first_event_and_the_right_one_behind():
    first, *others = sheet.looks(sheet.CALM)
    assert (first.watermark_ms, first.last_event_ms) == (MIN_MS, None)
    behind = [look for look in others if look.last_event_ms]
    for look in behind[:40]:
        newest_ms = {
            p: max(e.event_time_ms for e in sheet.CALM.events if e.partition == p and e.arrival_time_ms <= look.now_ms)
            for p in (0, 1)
        }
        assert look.watermark_ms == min(newest_ms.values()) - sheet.CALM.bound_ms - 1


@pytest.mark.parametrize("job", [sheet.WIDER, sheet.LONGER], ids=lambda job: job.name)
def test_flink_resumes_the_savepoints_of_the_sheet_in_the_same_way(flink, job):
    assert "wmviz says the same" in str(flink.resume(job))
