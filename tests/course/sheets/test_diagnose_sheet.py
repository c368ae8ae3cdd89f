"""Sheet 15: right answers in any form, and the message that each typical wrong one gets."""

import json
from datetime import timedelta

import numpy as np
import pytest

import wmviz
from tests.course.sheets.answered import AnsweredTasks
from wmviz import course
from wmviz.course.sheets import diagnose as sheet
from wmviz.course.sheets.trams import JOBS, RECORDINGS, TramJob

NIGHT = sheet.TUNNEL
CAUSES = {"a": "wrong-timestamps", "b": "healthy", "c": "spare-subtask", "d": "everything-idle"}
NOT_YET_THERE = {**CAUSES, "b": ...}


def watchdog(rows):
    still = {row["watermark_ms"] for row in rows if row["role"] == "window" and row["watermark_ms"] == row["before_ms"]}
    return [row["subtask"] for row in rows if row["role"] == "source" and row["watermark_ms"] in still]


def all_that_stand_still(rows):
    return {row["subtask"] for row in rows if row["role"] == "source" and row["watermark_ms"] == row["before_ms"]}


def the_lowest(rows):
    known = [row for row in rows if row["role"] == "source" and row["watermark_ms"] is not None]
    lowest_ms = min(row["watermark_ms"] for row in known)
    return [row["subtask"] for row in known if row["watermark_ms"] == lowest_ms]


def but_those_without(rows):
    return [n for n in watchdog(rows) if any(r["subtask"] == n and r["role"] == "split" for r in rows)]


def everyone_where_windows_stand(rows):
    windows = [row for row in rows if row["role"] == "window"]
    stand = all(row["watermark_ms"] == row["before_ms"] for row in windows)
    return [row["subtask"] for row in rows if row["role"] == "source"] if stand else []


def still(row):
    return row["watermark_ms"] == row["before_ms"]


def of_role(rows, role):
    return [row for row in rows if row["role"] == role]


def one_by_one(rows):
    """Is right: each pair of a window and a source."""
    pairs = ((window, source) for window in of_role(rows, "window") for source in of_role(rows, "source"))
    for window, source in pairs:
        if still(window) and still(source) and window["watermark_ms"] == source["watermark_ms"]:
            yield source["subtask"]


def by_numpy(rows):
    """Is right, and gives an array."""
    return np.array(watchdog(rows))


def no_window_moves(rows):
    """Is right: begins with whether all windows stand."""
    windows = of_role(rows, "window")
    if not all(map(still, windows)):
        return ()
    return tuple(row["subtask"] for row in of_role(rows, "source") if row["watermark_ms"] == windows[0]["watermark_ms"])


def the_first_one(rows):
    return watchdog(rows)[:1]


def up_to_the_windows(rows):
    at_ms = of_role(rows, "window")[0]["watermark_ms"]
    low = [row for row in of_role(rows, "source") if (row["watermark_ms"] or 0) <= (at_ms or 0)]
    return [row["subtask"] for row in low] if all(map(still, of_role(rows, "window"))) else []


def who_stands_while_windows_stand(rows):
    stand = all(map(still, of_role(rows, "window")))
    return [row["subtask"] for row in of_role(rows, "source") if stand and still(row)]


def the_lowest_while_windows_stand(rows):
    sources = of_role(rows, "source")
    lowest = min(row["watermark_ms"] or 0 for row in sources)
    stand = all(map(still, of_role(rows, "window")))
    return [row["subtask"] for row in sources if stand and (row["watermark_ms"] or 0) == lowest]


def of_any_role(rows):
    held = {row["watermark_ms"] for row in of_role(rows, "window") if still(row)}
    return [row["subtask"] for row in rows if row["role"] in ("source", "other") and row["watermark_ms"] in held]


def the_windows_themselves(rows):
    return [row["subtask"] for row in of_role(rows, "window") if still(row)]


def who_reads_nothing(rows):
    return [row["subtask"] for row in of_role(rows, "source") if row["read"] == 0]


def the_splits(rows):
    held = {row["watermark_ms"] for row in of_role(rows, "window") if still(row)}
    return [row["subtask"] for row in of_role(rows, "split") if row["watermark_ms"] in held]


def at_the_same_value(rows):
    values = {row["watermark_ms"] for row in of_role(rows, "window")}
    return [row["subtask"] for row in of_role(rows, "source") if row["watermark_ms"] in values]


NUMBER = "15"

RIGHT = [
    ("holding-partition", "trams-2"),
    ("holding-partition", " Trams-2"),
    ("holding-partition", "partition 2"),
    ("holding-partition", 2),
    ("four-jobs", CAUSES),
    ("four-jobs", list(CAUSES.values())),
    ("four-jobs", "wrong timestamps, healthy, spare subtask, everything idle"),
    ("four-jobs", {letter.upper(): cause.replace("-", "_") for letter, cause in CAUSES.items()}),
    ("caught-up", "3 min"),
    ("caught-up", 185_000),
    ("caught-up", timedelta(seconds=182)),
    ("lost-between", 50),
    ("lost-between", "50 records"),
    ("two-faults", NIGHT.replace(idle_timeout="1 min", lateness="5 min")),
    ("two-faults", NIGHT.replace(idle_timeout="2 min", bound="2 min 1 s")),
    ("two-faults", NIGHT.replace(subtasks=3, idle_timeout="3 min", lateness="10 min")),
    ("two-faults", NIGHT.replace(strategy_at="after", bound="3 min")),
    ("watchdog", watchdog),
    ("watchdog", lambda rows: set(watchdog(rows))),
    ("watchdog", one_by_one),
    ("watchdog", by_numpy),
    ("watchdog", no_window_moves),
    ("watchdog", lambda rows: dict.fromkeys(watchdog(rows)).keys()),
]

WRONG = [
    ("holding-partition", "trams-0", "Another partition of it does not"),
    ("holding-partition", 1, "handed on fewer records says nothing"),
    ("four-jobs", {**CAUSES, "a": "bound-too-large"}, "No bound does that"),
    ("four-jobs", {**CAUSES, "a": "healthy"}, "No event can have happened in two hours"),
    ("four-jobs", {**CAUSES, "b": "bound-too-large"}, "A bound keeps its distance"),
    ("four-jobs", {**CAUSES, "b": "everything-idle"}, "Then no source would have read"),
    ("four-jobs", {**CAUSES, "c": "idle-partition"}, "An idle partition has sent something before"),
    ("four-jobs", {**CAUSES, "c": "healthy"}, "Something is wrong"),
    ("four-jobs", {**CAUSES, "d": "idle-partition"}, "no other input moves the time"),
    ("caught-up", "2 min 14 s", "Meanwhile the clock moves, too"),
    ("caught-up", "8 min 36 s", "That is how far it is behind"),
    ("caught-up", "33 min", "less than the distance"),
    ("caught-up", "1 h", "Too long"),
    ("lost-between", 288, "all since the job began"),
    ("lost-between", 238, "the first reading alone"),
    ("lost-between", 33, "Each of them has a counter of its own"),
    ("lost-between", 526, "You added the two readings"),
    ("lost-between", 0, "There are some"),
    ("two-faults", NIGHT.replace(idle_timeout="1 min"), "2 events are dropped now. While the watermark stood still"),
    ("two-faults", NIGHT.replace(idle_timeout="3 min", lateness="1 min"), "Still 1 event is dropped"),
    ("two-faults", NIGHT.replace(idle_timeout="1 min", late_to="side"), "the side output takes them"),
    ("two-faults", NIGHT.replace(idle_timeout="1 min", bound="10 min"), "3 of 7 windows"),
    ("two-faults", NIGHT.replace(idle_timeout="3 h", lateness="5 min"), "not idle in time"),
    ("two-faults", NIGHT.replace(idle_timeout="1 min", bound="1 h"), "with so large a bound"),
    ("two-faults", NIGHT.replace(subtasks=3), "a subtask of its own now"),
    ("two-faults", NIGHT.replace(bound="0 s"), "line 3 has no newer one"),
    ("two-faults", NIGHT.replace(lateness="5 min"), "lateness begins after the first firing"),
    ("two-faults", NIGHT.replace(end_of_input="22:30"), "Trams go on all night"),
    ("two-faults", NIGHT.replace(events=[]), "The events are what they are"),
    ("two-faults", NIGHT.by_server_clock(), "answer another question"),
    ("watchdog", all_that_stand_still, "Its windows move, so nobody holds them"),
    ("watchdog", the_lowest, "A subtask that has no watermark yet"),
    ("watchdog", but_those_without, "A subtask that has no watermark yet"),
    ("watchdog", everyone_where_windows_stand, "A subtask that has moved on is not waited for"),
    ("watchdog", the_first_one, "two-spare-readers your watchdog names subtask 2. There may be several"),
    ("watchdog", up_to_the_windows, "still below the windows is idle, and left out"),
    ("watchdog", who_stands_while_windows_stand, "still below the windows is idle, and left out"),
    ("watchdog", the_lowest_while_windows_stand, "a source subtask stands at just that value"),
    ("watchdog", of_any_role, "two-spare-readers your watchdog names subtask 0, 1, 2, 3"),
    ("watchdog", the_windows_themselves, "A subtask that has moved on is not waited for"),
    ("watchdog", who_reads_nothing, "Its windows move, so nobody holds them"),
    ("watchdog", the_splits, "A subtask that has no watermark yet"),
    ("watchdog", at_the_same_value, "Its windows move, so nobody holds them"),
    ("watchdog", lambda rows: [], "a source subtask stands at just that value"),
]

UNREAD = [
    ("watchdog", lambda rows: "x" * 10_000, "..."),
    ("holding-partition", "x" * 10_000, "..."),
    ("holding-partition", "subtask 0", "no partition of this job"),
    ("four-jobs", {"a": "healthy"}, "Give a cause for each job"),
    ("four-jobs", {**CAUSES, "a": "rain"}, "write one of"),
    ("four-jobs", NOT_YET_THERE, "no cause yet"),
    ("caught-up", "soon"),
    ("lost-between", "many"),
    ("two-faults", NIGHT),
    ("two-faults", 3),
    ("watchdog", 3),
    ("watchdog", lambda rows: None, "Let it return a list"),
    ("watchdog", lambda rows: ["source"], "the numbers of subtasks"),
    ("watchdog", lambda rows: rows[0]["holds"], "stops with KeyError"),
]


class TestAnswers(AnsweredTasks):
    """What is said to each answer."""


def test_what_the_recorded_jobs_are():
    causes = {name: [cause.name for cause in TramJob(name).recorded().causes] for name in JOBS}
    assert causes == {
        "three-lines": ["idle-partition"],
        "after-outage": [],
        "spare-readers": ["more-subtasks-than-partitions"],
        "summer-time": ["wrong-timestamps"],
        "depot-closed": ["everything-idle"],
        "lost-passengers": ["bound-too-small"],
    }
    assert {path.stem for path in RECORDINGS.glob("*.json")} == set(JOBS)


@pytest.mark.parametrize("name", JOBS)
def test_a_recording_is_of_the_job_that_is_written_here(name):
    job, told = TramJob(name), TramJob(name).recorded()
    tasks = told.facts.now.tasks.values()
    assert told.job == name
    assert {task.parallelism for task in tasks} == {int(job.build.split("set_parallelism(")[1].split(")")[0])}
    splits = {split for task in tasks for _, split in task.splits}
    assert len(splits) == JOBS[name].partitions
    assert all(split in ("trams-0", "trams-1", "trams-2") for split in splits)
    assert "trams-" in job.program
    assert '"runs' not in job.program


def test_jobs_with_other_clocks_change_the_line_that_makes_times():
    for name, line in [("after-outage", "began - 600000L"), ("summer-time", "now + 7200000L")]:
        assert line in TramJob(name).program
    assert "long happened = now - (" in TramJob("three-lines").program


def test_nothing_that_is_given_says_who_holds_or_what_the_job_is_called():
    assert '"holds"' not in json.dumps({name: given for name, given in sheet.GIVEN.items() if name != "two-faults"})
    told = json.dumps([sheet.GIVEN["four-jobs"], sheet.GIVEN["caught-up"]])
    assert not any(name in told for name in JOBS)


def test_what_task_five_goes_by():
    assert not wmviz.simulate(NIGHT).all_firings
    assert wmviz.simulate(NIGHT.replace(idle_timeout="1 min")).dropped_count == 2


def test_the_watchdog_is_tried_on_jobs_that_are_held_and_on_jobs_that_are_not():
    held = [holders for _, holders in sheet._watched().values()]
    assert sum(map(bool, held)) == 7
    assert len(held) == 16
    assert course.check("15.watchdog", watchdog).sentence.startswith(
        "It names the right subtasks for 14 recorded jobs of Flink"
    )
