"""The live panel: what it reads and when it stops, on a server that plays a recording; and recordings as they are."""

import json
import re
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest

import wmviz
from tests.flink_like import serving
from wmviz.diagnosis import DiagnosisError, answers, history, panel, watching
from wmviz.diagnosis.case import Limits
from wmviz.diagnosis.options import client_of
from wmviz.diagnosis.words import duration
from wmviz.flink.broken import HEALTHY, JOBS, RECORDINGS

LIMIT_S = 120


def dump(name):
    return answers.load(RECORDINGS / f"{name}.json")


@pytest.fixture
def flink_like():
    """Return a server that plays a silent partition; its clock goes on by 5 s with each reading."""
    with serving(dump("idle-partition")) as server:
        server.tick_ms = 5_000
        yield server


@pytest.fixture
def watch(flink_like):
    """Give a function that watches the server quickly; what it has made is stopped."""
    made = []

    def begin(**options):
        made.append(wmviz.watch(flink_like.address, **{"every": 0.5, "wait": 1, **options}))
        return made[-1]

    yield begin
    for each in made:
        each.stop()


def until(condition):
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come to that in time")


def ended(watched):
    return lambda: not watched._thread.is_alive()


def test_it_reads_again_and_again(flink_like, watch):
    watched = watch()
    assert watched.running
    until(lambda: watched.diagnosis is not None and watched._count >= 4)
    assert watched.diagnosis.causes[0].name == "idle-partition"
    assert set(flink_like.asked) == {"GET"}
    assert "readings, the last at" in watched.line
    points = watched._past.points(watched.diagnosis.rows[0]["vertex"], 0)
    assert len(points) >= 3
    assert len({at for at, _ in points}) == len(points)


def test_before_the_second_reading_it_says_what_is_missing(watch):
    watched = watch(wait=3600)
    until(lambda: watched._count >= 1)
    assert watched.diagnosis is None
    assert "The verdict needs a second one" in watched.verdict


def test_it_stops_and_goes_on_and_asks_nothing_meanwhile(flink_like, watch):
    watched = watch()
    until(lambda: watched._count >= 2)
    watched.stop()
    until(ended(watched))
    asked = len(flink_like.asked)
    time.sleep(1)
    assert len(flink_like.asked) == asked
    assert watched.line.startswith("Stopped after")
    watched.start()
    watched.stop()
    watched.start()
    count = watched._count
    until(lambda: watched._count >= count + 2)


def test_when_nobody_sees_it_any_more_it_stops(watch):
    watched = watch()
    watched._hear(None, {"views": 1}, None)
    watched._hear(None, {"views": 1}, None)
    watched._hear(None, {"views": -1}, None)
    assert watched.running
    watched._hear(None, "nonsense", None)
    watched._hear(None, {"views": -1}, None)
    assert not watched.running


def test_the_panel_that_the_same_cell_showed_before_stops(watch, monkeypatch):
    cell = "one"
    monkeypatch.setattr(panel, "_cell", lambda: cell)
    first = watch()
    cell = "another"
    other = watch()
    assert first.running
    cell = "one"
    again = watch()
    assert (first.running, other.running, again.running) == (False, True, True)


def test_it_stops_by_itself(watch):
    watched = watch(stop_after="1 s")
    until(lambda: not watched.running)
    until(ended(watched))
    assert watched.line.startswith("Stopped by itself after 1 s")


def test_a_job_that_ends_is_said_and_the_last_diagnosis_stays(flink_like, watch):
    watched = watch()
    until(lambda: watched.diagnosis is not None)
    flink_like.ends_after = flink_like.details
    until(lambda: not watched.running)
    assert "ended while it was read" in watched.trouble
    assert "What stands below is older" in watched.trouble
    assert "idle-partition" in watched.causes


def test_a_job_that_had_ended_before_is_read_once(flink_like, watch):
    finished = json.loads(json.dumps(flink_like.told.readings).replace("RUNNING", "FINISHED"))
    flink_like.told = replace(flink_like.told, readings=finished)
    flink_like.jobs[0]["state"] = "FINISHED"
    watched = watch()
    until(lambda: not watched.running)
    until(lambda: "finished" in watched.line)
    assert watched.diagnosis.healthy


def test_a_cluster_that_is_away_for_a_while_is_asked_again(flink_like, watch):
    flink_like.special["/jobs/overview"] = (503, {}, b"Service temporarily unavailable")
    watched = watch()
    until(lambda: "answers 503" in watched.verdict)
    assert "Tried again" in watched.verdict
    del flink_like.special["/jobs/overview"]
    until(lambda: watched.diagnosis is not None)
    flink_like.special["/metrics"] = (503, {}, b"away")
    flink_like.special[f"/jobs/{flink_like.told.job}"] = (503, {}, b"away")
    until(lambda: "answers 503" in watched.trouble)
    flink_like.special.clear()
    until(lambda: watched.trouble == "")
    assert watched.running


@pytest.mark.parametrize(
    ("special", "says"),
    [
        ((401, {}, b""), "answers 401"),
        ((403, {}, b""), "answers 403"),
        ((200, {}, b"<h1>Sign in</h1>"), "not like Flink"),
        ((302, {"Location": "http://elsewhere/"}, b""), "sends on to"),
    ],
)
def test_a_wrong_password_is_not_tried_twice(flink_like, watch, special, says):
    flink_like.special["/jobs/overview"] = special
    watched = watch(token="secret")
    until(ended(watched))
    assert not watched.running
    assert says in watched.verdict
    assert len(flink_like.asked) == 1


def test_a_server_that_hangs_holds_up_nothing_and_the_cell_goes_on_at_once(flink_like, watch):
    answers_now = flink_like.special["/jobs/overview"] = threading.Event()
    watched = watch(limit_s=3600)
    until(lambda: flink_like.asked)
    watched.stop()
    assert watched._thread.is_alive(), "it still waits for an answer, and nobody waits for it"
    answers_now.set()
    until(ended(watched))


def test_a_job_that_began_again_is_compared_with_nothing_older(flink_like, watch):
    watched = watch()
    until(lambda: watched.diagnosis is not None)
    before = watched._reader.latest.began_ms
    for reading in flink_like.told.readings:
        reading[f"/jobs/{flink_like.told.job}"]["timestamps"]["RUNNING"] += 20_000
    count = watched._count
    until(lambda: watched._reader.latest.began_ms != before and watched._count > count + 2)
    began = {moment.began_ms for moment, _ in list(watched._reader._readings)}
    assert began == {before + 20_000}


def test_a_long_wait_keeps_the_first_reading_and_not_all(flink_like, monkeypatch):
    monkeypatch.setattr(watching, "MOST_READINGS", 5)
    reader = watching.Watch(client_of(flink_like.address), None, Limits(), wait_s=60.0)
    found = [reader.look() for _ in range(18)]
    assert len(reader._readings) == 5
    assert found[0] is None
    first = flink_like.told.readings[0][f"/jobs/{flink_like.told.job}"]["now"]
    assert found[-1].facts.before.at_ms == first
    assert found[-1].facts.elapsed_ms >= 60_000
    assert [cause.name for cause in found[-1].causes] == ["idle-partition"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"every": 0}, "every is 0; write a time from 0.5 s to 1 h"),
        ({"every": "soon"}, "every: 'soon' is not a duration"),
        ({"stop_after": "never"}, "stop_after: 'never' is not a duration"),
        ({"acceptable_silence": "x"}, "acceptable_silence: 'x'"),
        ({"token": "a b"}, "token has a blank"),
    ],
)
def test_a_wrong_option_gets_a_sentence(options, says):
    with pytest.raises(DiagnosisError, match=re.escape(says)):
        wmviz.watch("localhost:1", **options)


# ----------------------------------------------------------------------------------------------------------- recorded


@pytest.mark.parametrize("name", [*JOBS, *HEALTHY])
def test_a_recording_is_shown_as_it_is(name):
    shown = wmviz.watch(RECORDINGS / f"{name}.json")
    assert not shown.can_run
    shown.start()
    assert not shown.running
    assert shown.line.startswith(f"Recorded: {name}.json")
    assert ("✓" in shown.verdict) == (name in HEALTHY)
    assert shown.causes.count("<details") == len(shown.diagnosis.causes)
    assert shown.table.count("<tr") == 1 + len(shown.diagnosis.rows)


def test_the_line_of_the_silent_partition_rises_and_the_other_does_not():
    shown = wmviz.watch(RECORDINGS / "idle-partition.json")
    lines = {
        (row["role"], row["subtask"]): [behind for _, behind in shown._past.points(row["vertex"], row["subtask"])]
        for row in shown.diagnosis.rows
        if row["split"] is None
    }
    silent, other = lines["source", 1], lines["source", 0]
    assert silent == sorted(silent)
    assert silent[-1] - silent[0] == shown.diagnosis.facts.elapsed_ms
    assert len(silent) == len(dump("idle-partition").samples) + 2
    assert max(other) - min(other) < 1_000
    assert lines["window", 0] == silent
    assert shown.table.count("wmviz-line wmviz-holds") == 1
    words = f"behind the clock by {duration(silent[0])} at first, {duration(silent[-1])} after"
    assert shown.table.count(words) == 3


def test_where_there_is_no_watermark_there_is_no_line_and_the_words_say_so():
    shown = wmviz.watch(RECORDINGS / "more-subtasks-than-partitions.json")
    assert shown.table.count("<svg") == 1
    assert shown.table.count("none yet") == 3


def test_a_gap_in_the_watermark_is_a_gap_in_the_line():
    past = history.History()
    for at_ms, mark_ms in [(10_000, 9_000), (11_000, 9_500), (12_000, None), (13_000, 12_000), (13_000, 1)]:
        past._add(("v", 0), at_ms, mark_ms)
    assert past.points("v", 0) == [(10_000, 1_000), (11_000, 1_500), (12_000, None), (13_000, 1_000)]
    assert past.line("v", 0).count("<polyline") == 2
    assert past.line("other", 0) == ""


def test_all_that_a_job_says_is_escaped(tmp_path):
    told = dump("idle-partition")
    bad = "<img src=x onerror=alert(1)>\\\"'"
    text = (
        json.dumps(told.readings).replace("Source: runs", f"Source {bad}").replace(': "idle-partition"', f': "{bad}"')
    )
    text = text.replace("split.runs-1.", f"split.{bad}.")
    shown = wmviz.watch(replace(told, readings=json.loads(text)).save(tmp_path / "dump.json"))
    for part in (shown.verdict, shown.causes, shown.table, shown.more):
        assert "<img" not in part
    assert "&lt;img" in shown.verdict + shown.causes + shown.table
    assert "<img" not in panel.page.trouble("<img>") + panel.page.failed("<img>") + panel.page.beginning("<img>")


def test_a_saved_notebook_keeps_the_recording_and_no_more_than_a_sentence_of_a_live_one(watch):
    shown = wmviz.watch(RECORDINGS / "idle-partition.json")
    data, _ = shown._repr_mimebundle_()
    assert shown.diagnosis.headline in data["text/html"]
    assert repr(shown) == data["text/plain"] == f"<{shown.diagnosis.headline}>"
    assert "Run this cell" in watch(wait=3600)._repr_mimebundle_()[0]["text/html"]


def test_the_diagnosis_alone_loads_no_widgets():
    code = "import sys, wmviz; wmviz.diagnose; assert not {'anywidget', 'ipywidgets', 'IPython'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)
