"""The diagnosis: recorded answers of real jobs, made-up variations of them, and servers that answer badly."""

import base64
import json
import re
import shutil
import ssl
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler

import pytest

import wmviz
from tests.flink_like import serving
from wmviz.__main__ import main
from wmviz.diagnosis import Diagnosis, DiagnosisError, answers, case
from wmviz.diagnosis import of as diagnosis_of
from wmviz.diagnosis.options import client_of
from wmviz.flink.broken import HEALTHY, JOBS, RECORDINGS

MIN, MAX = -(2**63), 2**63 - 1
DAY_MS, HOUR_MS, MINUTE_MS = 86_400_000, 3_600_000, 60_000


def dump(name):
    return answers.load(RECORDINGS / f"{name}.json")


def look(told, acceptable_ms=None, silence_ms=None) -> Diagnosis:
    return diagnosis_of(told, case.Limits(acceptable_ms, silence_ms))


def names(diagnosis):
    return [cause.name for cause in diagnosis.causes]


# ------------------------------------------------------------------------------------------------- recorded, real jobs


@pytest.mark.parametrize("name", JOBS)
def test_the_cause_of_each_broken_job_comes_first(name):
    found = wmviz.diagnose(RECORDINGS / f"{name}.json")
    assert names(found) == [name]
    assert not found.healthy
    assert found.causes[0].certainty in ("certain", "likely")
    assert found.causes[0].fix["PyFlink"]
    assert any(re.search(r"\d", sentence) for sentence in found.causes[0].evidence)


@pytest.mark.parametrize("name", [*HEALTHY, *(f"{name}-fixed" for name in JOBS)])
def test_no_alarm_on_a_healthy_job(name):
    found = wmviz.diagnose(RECORDINGS / f"{name}.json")
    assert names(found) == []
    assert found.healthy
    assert "no fault found" in repr(found)


def test_the_numbers_of_the_idle_partition_are_those_that_flink_gave():
    found = wmviz.diagnose(RECORDINGS / "idle-partition.json")
    table = found.watermarks
    sources = table[table["role"] == "source"].set_index("subtask")
    windows = table[table["role"] == "window"]
    assert (windows["watermark_ms"] == sources["watermark_ms"][1]).all()
    assert (windows["watermark_ms"] == windows["before_ms"]).all()
    assert sources["watermark_ms"][0] > sources["before_ms"][0]
    assert sources["holds"].tolist() == [False, True]
    assert (table["behind_ms"] == found.facts.now.at_ms - table["watermark_ms"]).all()
    splits = table[table["role"] == "split"]
    assert splits["split"].tolist() == ["runs-0", "runs-1"]
    assert set(windows["dropped"]) == {0}
    assert (table["busy"] + table["idle"] + table["backpressured"]).dropna().between(900, 1100).all()


def test_the_bound_that_is_found_is_the_one_that_was_set():
    (cause,) = wmviz.diagnose(RECORDINGS / "bound-too-large.json").causes
    assert cause.title in ("Bound too large: about 10 min", "Bound too large: about 10 min 1 s")


def test_every_form_of_the_result_holds_the_same():
    found = wmviz.diagnose(RECORDINGS / "idle-partition.json")
    data = json.loads(json.dumps(found.to_json()))
    assert data["healthy"] is False
    assert data["causes"][0]["name"] == "idle-partition"
    assert data["flink"] == "2.3.0"
    assert len(data["watermarks"]) == len(found.watermarks)
    page = found._repr_html_()
    for text in (found.headline, *found.causes[0].evidence):
        assert text in " ".join(repr(found).split())
        assert text in page
    assert found.checkpoints["completed"] >= 1


def test_names_of_jobs_and_tasks_are_escaped_and_shown_as_they_are():
    told = dump("idle-partition")
    text = (
        json.dumps(told.readings)
        .replace("Source: runs", "<script>alert(1)</script>")
        .replace(': "idle-partition"', ': "<b>x"')
    )
    found = look(replace(told, readings=json.loads(text)))
    assert "<script>" not in found._repr_html_()
    assert "<b>x" not in found._repr_html_()
    assert "<script>" in repr(found)


# -------------------------------------------------------------------------------------------------- made-up variations


def change(name, edit, samples=True):
    """Take a recording and change each metric: edit(reading, task, metric, value) gives the value, or None."""
    told = json.loads(json.dumps(vars(dump(name))))
    for number, reading in enumerate(told["readings"]):
        titles = {vertex["id"]: vertex["name"] for vertex in reading[f"/jobs/{told['job']}"]["vertices"]}
        for path, entries in list(reading.items()):
            if "/vertices/" not in path:
                continue
            title = titles[path.split("/")[4]]
            values = [(each["id"], edit(number, title, each["id"], each["value"])) for each in entries]
            reading[path] = [{"id": metric, "value": str(value)} for metric, value in values if value is not None]
    if not samples:
        told["samples"] = []
    return answers.Answers(**told)


def without_splits(number, title, metric, value):
    return None if ".split." in metric else value


def test_without_split_metrics_as_before_flink_2_1_the_cause_is_still_found():
    found = look(change("idle-partition", without_splits))
    assert names(found) == ["idle-partition"]
    told = change("more-subtasks-than-partitions", without_splits)
    told.once["/config"]["flink-version"] = "1.18.1"
    found = look(told)
    assert names(found) == ["more-subtasks-than-partitions"]
    assert found.causes[0].certainty == "likely"
    assert any("silent from the start looks the same" in sentence for sentence in found.causes[0].evidence)
    assert any("since 2.1" in sentence for sentence in found.unseen)


def test_a_kafka_source_says_which_partitions_a_subtask_has():
    def edit(number, title, metric, value):
        return None if ".split." in metric else value

    told = change("more-subtasks-than-partitions", edit)
    for reading in told.readings:
        path = next(
            path
            for path in reading
            if path.endswith("/metrics") and any(each["id"].endswith("watermarkLag") for each in reading[path])
        )
        reading[path].append(
            {"id": "0.Source__runs.KafkaSourceReader.topic.a.b.partition.0.currentOffset", "value": "5"}
        )
    (cause,) = look(told).causes
    assert (cause.name, cause.certainty) == ("more-subtasks-than-partitions", "certain")
    for reading in told.readings:
        path = next(
            path
            for path in reading
            if path.endswith("/metrics") and any(each["id"].endswith("watermarkLag") for each in reading[path])
        )
        reading[path].append(
            {"id": "1.Source__runs.KafkaSourceReader.topic.a.b.partition.1.currentOffset", "value": "-1"}
        )
    (cause,) = look(told).causes
    assert cause.name == "idle-partition"


def test_a_silent_partition_beside_a_busy_one_in_the_same_subtask_is_named():
    """One subtask reads both partitions: its watermark stands although records flow."""
    told = change("idle-partition", lambda number, title, metric, value: None if metric.startswith("1.") else value)
    stands = next(
        each["value"]
        for path, entries in dump("idle-partition").readings[0].items()
        if path.endswith("/metrics")
        for each in entries
        if each["id"] == "1.Source__runs.currentOutputWatermark"
    )
    for reading in told.readings:
        for vertex in reading[f"/jobs/{told.job}"]["vertices"]:
            vertex["parallelism"] = 1
        for path, entries in reading.items():
            if not path.endswith("/metrics") or not any(each["id"].endswith("watermarkLag") for each in entries):
                continue
            for each in entries:
                if re.fullmatch(r"0\.\w+\.currentOutputWatermark", each["id"]):
                    each["value"] = stands
            entries.append({"id": "0.Source__runs.split.runs-1.watermark.currentWatermark", "value": stands})
    (cause,) = look(told).causes
    assert cause.name == "idle-partition"
    assert "runs-1 in subtask 0" in cause.title
    assert any("some of its partitions are silent" in sentence for sentence in cause.evidence)


def test_a_partition_that_sends_now_and_then_is_no_fault():
    """One record in about 20 s, and silent for 26 s."""

    def edit(number, title, metric, value):
        is_source = title.startswith("Source") and metric.startswith("1.")
        return 2 if is_source and metric.endswith(("numRecordsOut", "numRecordsIn")) else value

    told = change("idle-partition", edit)
    for reading in told.readings:
        detail = reading[f"/jobs/{told.job}"]
        detail["timestamps"]["RUNNING"] = detail["now"] - 60_000
    found = look(told)
    assert names(found) == []
    assert any("reads few records" in note for note in found.notes)
    for reading in told.readings:
        detail = reading[f"/jobs/{told.job}"]
        detail["timestamps"]["RUNNING"] = detail["now"] - 30_000
    assert names(look(told)) == ["idle-partition"]


def moved(shift):
    """Move every watermark: shift(ms) gives the new one."""

    def edit(number, title, metric, value):
        is_mark = metric.endswith(("currentInputWatermark", "currentOutputWatermark", "currentWatermark"))
        return shift(int(value)) if is_mark and MIN < int(value) < MAX else value

    return edit


@pytest.mark.parametrize(
    ("shift", "says"),
    [
        (lambda ms: ms // 1000, "seconds where Flink expects milliseconds"),
        (lambda ms: ms * 1000, "microseconds where Flink expects milliseconds"),
        (lambda ms: ms * 1_000_000, "nanoseconds where Flink expects milliseconds"),
        (lambda ms: ms % DAY_MS, "near 1970"),
        (lambda ms: -2001, "near 1970"),
        (lambda ms: ms + 2 * HOUR_MS, "lie in the future"),
        (lambda ms: ms + 400 * DAY_MS, "lie in the future"),
    ],
)
def test_watermarks_that_are_no_times_of_today_are_wrong_timestamps(shift, says):
    found = look(change("steady-traffic", moved(shift)))
    assert found.causes[0].name == "wrong-timestamps"
    assert says in found.causes[0].title


def test_two_hours_ahead_is_a_zone():
    found = look(change("steady-traffic", moved(lambda ms: ms + 2 * HOUR_MS)))
    assert any("about 2 h" in sentence for sentence in found.causes[0].evidence)


def test_old_events_are_a_replay_if_the_watermark_catches_up():
    def edit(number, title, metric, value):
        if metric.endswith("EventTimeLag"):
            return 40 * DAY_MS
        return moved(lambda ms: ms - 40 * DAY_MS + number * HOUR_MS)(number, title, metric, value)

    assert names(look(change("steady-traffic", edit, samples=False))) == []

    def stuck(number, title, metric, value):
        return edit(0, title, metric, value)

    found = look(change("steady-traffic", stuck, samples=False))
    assert names(found) == ["wrong-timestamps"]
    assert found.causes[0].certainty == "possible"


def test_a_watermark_that_never_leaves_its_start_is_no_strategy():
    def edit(number, title, metric, value):
        return MIN if metric.endswith(("Watermark",)) else None if metric.endswith("watermarkLag") else value

    found = look(change("steady-traffic", edit))
    assert names(found) == ["wrong-timestamps"]
    assert "never leaves its start" in found.causes[0].title or "no watermark ever leaves" in found.causes[0].title


def test_the_length_of_a_window_says_what_is_too_large():
    def edit(number, title, metric, value):
        if metric.endswith("watermarkLag"):
            return int(value) + 2 * MINUTE_MS
        return moved(lambda ms: ms - 2 * MINUTE_MS)(number, title, metric, value)

    told = change("steady-traffic", edit)
    assert names(look(told)) == ["bound-too-large"]
    assert names(look(told, acceptable_ms=3 * MINUTE_MS)) == []
    text = json.dumps(told.readings).replace("TumblingEventTimeWindows(5000", "TumblingEventTimeWindows(3600000")
    assert names(look(replace(told, readings=json.loads(text)))) == []


def test_old_events_are_no_bound():
    """Events that are 2 minutes old when they are read, with a bound of 2 s."""

    def edit(number, title, metric, value):
        if metric.endswith(("watermarkLag", "currentEmitEventTimeLag")):
            return int(value) + 2 * MINUTE_MS
        return moved(lambda ms: ms - 2 * MINUTE_MS)(number, title, metric, value)

    assert names(look(change("steady-traffic", edit, samples=False))) == []


def counting(start, rise):
    def edit(number, title, metric, value):
        return start + number * rise if metric.endswith("numLateRecordsDropped") else value

    return edit


def test_drops_that_rise_are_a_fault_and_a_few_old_ones_are_not():
    assert names(look(change("steady-traffic", counting(0, 3)))) == ["bound-too-small"]
    old = look(change("steady-traffic", counting(1, 0)))
    assert names(old) == []
    assert any("did not rise" in note for note in old.notes)
    many = look(change("steady-traffic", counting(300, 0)))
    assert names(many) == ["bound-too-small"]
    assert many.causes[0].certainty == "possible"


def test_drops_after_idleness_name_the_timeout():
    found = look(change("quiet-partition", counting(0, 3)))
    assert any("idle timeout is the cause" in sentence for sentence in found.causes[0].evidence)


def test_two_causes_at_once_are_both_named():
    def edit(number, title, metric, value):
        return counting(5, 5)(number, title, metric, value)

    found = look(change("idle-partition", edit))
    assert names(found) == ["idle-partition", "bound-too-small"]


def test_times_in_the_future_come_before_the_drops_that_they_cause():
    def edit(number, title, metric, value):
        if metric.endswith("numLateRecordsDropped"):
            return 10 + 10 * number
        return moved(lambda ms: 1_900_000_000_000)(number, title, metric, value)

    found = look(change("steady-traffic", edit))
    assert names(found) == ["wrong-timestamps", "bound-too-small"]
    assert any("stands still although" in sentence for sentence in found.causes[0].evidence)


def test_a_job_that_gets_nothing_at_all_is_told_apart():
    first = {}

    def edit(number, title, metric, value):
        if metric.endswith("sourceIdleTime"):
            return 60_000
        return first.setdefault((title, metric), value)

    found = look(change("steady-traffic", edit, samples=False))
    assert names(found) == ["everything-idle"]
    assert any("with_idleness does not help" in sentence for sentence in found.causes[0].evidence)
    assert not next(check for check in found.checks if check.name == "everything idle").ruled_out


def test_backpressure_is_told_apart_from_a_silent_partition():
    first = {}

    def edit(number, title, metric, value):
        if metric.endswith("backPressuredTimeMsPerSecond") and title.startswith("Source"):
            return 990
        if metric.endswith("busyTimeMsPerSecond") and not title.startswith("Source"):
            return 1000
        return first.setdefault((title, metric), value)

    found = look(change("idle-partition", edit, samples=False))
    assert names(found) == ["backpressured"]
    assert not next(check for check in found.checks if check.name == "backpressure").ruled_out


def described(name, text):
    told = dump(name)
    readings = json.dumps(told.readings)
    readings = re.sub(r"Window\(TumblingEventTimeWindows\(5000, 0\), EventTimeTrigger", f"Window({text}", readings)
    return replace(told, readings=json.loads(readings.replace("TumblingEventTimeWindows", "window")))


def test_global_windows_without_a_trigger_are_found():
    told = described("idle-partition", "GlobalWindows(), NeverTrigger")
    found = look(told)
    assert found.causes[0].name == "global-window-without-trigger"
    assert found.causes[0].certainty == "certain"


def test_windows_by_the_servers_clock_wait_for_no_watermark():
    found = look(described("idle-partition", "TumblingProcessingTimeWindows(5000, 0), ProcessingTimeTrigger"))
    assert names(found) == []
    assert any("server's clock" in note for note in found.notes)


def failing(*sentences, state="RESTARTING", task="TumblingEventTimeWindows -> Sink (1/1)"):
    told = dump("steady-traffic")
    now = told.readings[-1][f"/jobs/{told.job}"]
    readings = json.loads(json.dumps(told.readings).replace('"state": "RUNNING"', f'"state": "{state}"'))
    entry = {"timestamp": now["now"], "task": task, "sentences": list(sentences)}
    return replace(told, once={**told.once, f"/jobs/{told.job}/exceptions": [entry]}, readings=readings)


@pytest.mark.parametrize("state", ["RESTARTING", "FAILED"])
def test_records_without_a_time_make_the_job_fail(state):
    text = "java.lang.RuntimeException: Record has Long.MIN_VALUE timestamp (= no timestamp marker). Is …"
    found = look(failing("org.apache.flink.Wrapper: x", f"Caused by: {text}", state=state))
    assert names(found) == ["wrong-timestamps"]
    assert found.causes[0].certainty == "certain"


def test_another_error_is_named():
    found = look(failing("Wrapper: x", "Caused by: java.io.IOException: the broker is away"))
    assert names(found) == ["not-running"]
    assert "the broker is away" in found.causes[0].evidence[1]


def test_pyflink_fails_on_a_tag_that_nobody_reads():
    text = "java.lang.ClassCastException: class [Ljava.lang.Object; cannot be cast to class java.lang.String (…)"
    found = look(failing(text))
    assert names(found) == ["unread-side-output"]
    assert names(look(failing(text, task="Map -> Sink"))) == ["not-running"]


def test_a_job_that_is_just_beginning_is_no_fault():
    told = dump("more-subtasks-than-partitions")
    first_ms = told.readings[0][f"/jobs/{told.job}"]["now"]
    for reading in told.readings:
        reading[f"/jobs/{told.job}"]["timestamps"]["RUNNING"] = first_ms - 1000
    found = look(told)
    assert names(found) == []
    assert any("look again" in note for note in found.notes)


SAMPLES = [(200, 2100)] * 8 + [(30_000, 2100), (31_000, 2100), (29_500, 2200)]


def with_late_samples(name, out=lambda index: 0):
    told = dump(name)
    detail = told.readings[0][f"/jobs/{told.job}"]
    source, window = (
        next(v["id"] for v in detail["vertices"] if v["name"].startswith(n)) for n in ("Source", "Tumbling")
    )
    samples = [
        {
            source: {"0.Source__runs.currentEmitEventTimeLag": str(lag + i), "0.Source__runs.watermarkLag": str(trail)},
            window: {
                "0.TumblingEventTimeWindows.currentInputWatermark": str(1_796_000_002_000 + 10 * i),
                "0.TumblingEventTimeWindows.numRecordsOut": str(out(i)),
            },
        }
        for i, (lag, trail) in enumerate(SAMPLES)
    ]
    return replace(told, samples=samples)


def test_late_events_that_no_counter_has_are_a_side_output_perhaps():
    """As a job in Java looks, where a side output without a reader leaves no trace."""
    found = look(with_late_samples("steady-traffic"))
    assert names(found) == ["unread-side-output"]
    assert found.causes[0].certainty == "possible"


def test_late_events_that_make_windows_fire_again_are_counted():
    assert names(look(with_late_samples("steady-traffic", out=lambda index: index))) == []


# ------------------------------------------------------------------------------- silence: the topic's, or a partition's


def silent_since(quiet_ms, name="steady-traffic"):
    """Let no source read anything between the readings; every watermark stands."""
    first = {}

    def edit(number, title, metric, value):
        return quiet_ms if metric.endswith("sourceIdleTime") else first.setdefault((title, metric), value)

    return change(name, edit, samples=False)


def aged(told, ms):
    """Let the job be so old."""
    for reading in told.readings:
        detail = reading[f"/jobs/{told.job}"]
        detail["timestamps"]["RUNNING"] = detail["now"] - ms
    return told


def test_a_topic_that_is_silent_is_told_apart_from_a_partition_that_is():
    """All watermarks stand, and at the same value: the newest event stands."""
    (cause,) = look(silent_since(HOUR_MS)).causes
    assert (cause.name, cause.certainty) == ("everything-idle", "likely")
    assert any("because the newest event stands: no partition is behind" in sentence for sentence in cause.evidence)
    (cause,) = look(silent_since(HOUR_MS, "idle-partition")).causes
    assert cause.name == "everything-idle"
    assert not any("no partition is behind" in sentence for sentence in cause.evidence)


def test_silence_at_night_is_a_fault_only_if_it_lasts_longer_than_one_says():
    told = silent_since(6 * HOUR_MS)
    found = look(told, silence_ms=8 * HOUR_MS)
    assert found.healthy
    assert any("watermarks stand because the newest event stands" in note for note in found.notes)
    assert names(look(told, silence_ms=5 * HOUR_MS)) == ["everything-idle"]


def test_a_topic_with_an_event_a_minute_is_not_silent_after_half_a_minute():
    told = aged(silent_since(30_000), 700 * MINUTE_MS)
    assert names(look(told)) == []
    assert look(aged(silent_since(30_000), 10 * MINUTE_MS)).causes[0].certainty == "possible"
    busy = aged(silent_since(30 * MINUTE_MS), 700 * MINUTE_MS)
    assert any("on average" in sentence for sentence in look(busy).causes[0].evidence)


def thin(records):
    """Let the input that still moves read so few records between the readings, as at night."""

    def edit(number, title, metric, value):
        if title.startswith("Source") and metric.startswith("0.") and metric.endswith(("RecordsIn", "RecordsOut")):
            return 100_000 + number * records
        return 50_000 if metric.startswith("1.") and metric.endswith(("RecordsIn", "RecordsOut")) else value

    return aged(change("idle-partition", edit, samples=False), 8 * HOUR_MS)


def test_where_traffic_is_thin_one_silent_partition_may_be_chance():
    found = look(thin(1))
    assert names(found) == []
    assert any("Traffic is thin: 1 records" in note and "subtask 1" in note.lower() for note in found.notes)
    assert names(look(thin(5))) == ["idle-partition"]


# ------------------------------------------------------------------------------------------------- two causes at once


def every(*edits):
    """Change a metric by several edits, one after the other."""

    def edit(number, title, metric, value):
        for each in edits:
            value = each(number, title, metric, value) if value is not None else None
        return value

    return edit


def trailing(ms):
    """Let watermarks trail fresh events by so much more, as a larger bound does."""

    def edit(number, title, metric, value):
        if metric.endswith("watermarkLag"):
            return int(value) + ms
        return moved(lambda mark: mark - ms)(number, title, metric, value)

    return edit


IN_SECONDS = moved(lambda ms: ms // 1000)
DROPS = counting(5, 5)


@pytest.mark.parametrize(
    ("recording", "edit", "expected"),
    [
        ("idle-partition", DROPS, ["idle-partition", "bound-too-small"]),
        ("idle-partition", trailing(10 * MINUTE_MS), ["idle-partition", "bound-too-large"]),
        ("more-subtasks-than-partitions", IN_SECONDS, ["wrong-timestamps", "more-subtasks-than-partitions"]),
        (
            "more-subtasks-than-partitions",
            trailing(10 * MINUTE_MS),
            ["more-subtasks-than-partitions", "bound-too-large"],
        ),
        ("wrong-timestamps", DROPS, ["wrong-timestamps", "bound-too-small"]),
        ("bound-too-large", DROPS, ["bound-too-small", "bound-too-large"]),
        ("unread-side-output", trailing(10 * MINUTE_MS), ["bound-too-large", "unread-side-output"]),
        ("unread-side-output", moved(lambda ms: ms + HOUR_MS), ["wrong-timestamps"]),
    ],
)
def test_of_two_causes_both_are_named_and_the_one_that_hides_the_other_comes_first(recording, edit, expected):
    assert names(look(change(recording, edit))) == expected


def test_a_partition_in_seconds_that_is_silent_too_is_wrong_first():
    assert names(look(change("idle-partition", IN_SECONDS)))[0] == "wrong-timestamps"


# ------------------------------------------------------------------------------------------------------- healthy jobs


def test_a_bounded_job_that_has_ended_is_healthy():
    told = dump("steady-traffic")
    reading = json.loads(json.dumps(told.readings[-1]).replace("RUNNING", "FINISHED"))
    found = look(replace(told, readings=[reading], samples=[]))
    assert found.healthy
    assert any("job is finished" in note for note in found.notes)


def test_the_end_of_time_at_a_source_that_has_ended_is_no_time_in_the_future():
    def edit(number, title, metric, value):
        return MAX if metric.endswith(("Watermark", "currentWatermark")) else value

    assert look(change("steady-traffic", edit, samples=False)).healthy


def test_a_high_load_that_keeps_up_is_no_fault():
    def edit(number, title, metric, value):
        if metric.endswith("backPressuredTimeMsPerSecond") and title.startswith("Source"):
            return 800
        if metric.endswith("busyTimeMsPerSecond") and not title.startswith("Source"):
            return 1000
        return value

    found = look(change("steady-traffic", edit))
    assert found.healthy
    assert any("backpressured 800 ms" in note for note in found.notes)


def test_a_job_without_windows_and_without_watermarks_by_design_is_healthy():
    """As noWatermarks and a flatMap: every watermark is Long.MIN_VALUE, and nothing counts late records."""

    def edit(number, title, metric, value):
        if metric.endswith(("numLateRecordsDropped", "watermarkLag")) or ".split." in metric:
            return None
        return MIN if metric.endswith("Watermark") else value

    assert look(change("steady-traffic", edit, samples=False)).healthy


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"job-type": "STREAMING"', '"job-type": "BATCH"'),
        ('"type": "STREAMING"', '"type": "BATCH"'),
        ('"exchange": "pipelined_bounded"', '"exchange": "blocking"'),
    ],
)
def test_in_batch_mode_no_watermark_is_needed_before_the_end(old, new):
    """Every watermark is Long.MIN_VALUE until the end, although the windows are those of event time."""
    told = dump("steady-traffic")
    text = re.sub(r'(Watermark", "value": ")\d+', rf"\g<1>{MIN}", json.dumps(told.readings))
    assert names(look(replace(told, readings=json.loads(text), samples=[]))) == ["wrong-timestamps"]
    assert old in text
    found = look(replace(told, readings=json.loads(text.replace(old, new)), samples=[]))
    assert found.healthy
    assert any("batch mode" in note for note in found.notes)


def test_windows_by_the_servers_clock_need_no_watermark():
    told = described("steady-traffic", "TumblingProcessingTimeWindows(5000, 0), ProcessingTimeTrigger")
    text = json.dumps(told.readings)
    text = re.sub(r'(Watermark", "value": ")\d+', rf"\g<1>{MIN}", text)
    assert look(replace(told, readings=json.loads(text), samples=[])).healthy


# --------------------------------------------------------------------------------------------------- older Flinks' form


def test_since_2_1_a_plan_may_have_null_where_there_was_nothing():
    """FLINK-37511 made the plan an object of its own, with fields that may be null."""
    told = dump("idle-partition")
    readings = json.loads(json.dumps(told.readings))
    for reading in readings:
        for node in reading[f"/jobs/{told.job}"]["plan"]["nodes"]:
            node.setdefault("inputs", None)
            node["operator"] = node["optimizer_properties"] = None
        reading[f"/jobs/{told.job}"]["plan"]["type"] = None
    assert names(look(replace(told, readings=readings))) == ["idle-partition"]


@pytest.mark.parametrize(
    ("plan", "metric"), [("late runs &lt;1 min&gt;", "late_runs_<1_min>"), ("late " * 20, ("late_" * 20)[:80])]
)
def test_an_operator_of_the_plan_is_found_among_the_metrics(plan, metric):
    """Flink escapes its name in the plan, and replaces letters in it and cuts it among the metrics."""
    told = dump("unread-side-output")
    late = look(told).causes[0].evidence[0].split("'")[1]
    readings = json.loads(json.dumps(told.readings).replace(f".{late}.", f".{metric}."))
    for reading in readings:
        for node in reading[f"/jobs/{told.job}"]["plan"]["nodes"]:
            node["description"] = node["description"].replace(f"- {late}<br/>", f"- {plan}<br/>")
    assert plan in json.dumps(readings)
    (cause,) = look(replace(told, readings=readings)).causes
    assert (cause.name, cause.certainty) == ("unread-side-output", "likely")
    assert "&lt;" not in repr(cause)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10000", 10), ("10 s", 10), ("10s", 10), ("1 min", 60), ("5000 ms", 5), ("PT20S", 10), ("often", 10)],
)
def test_how_often_the_cluster_collects_numbers_is_read_in_each_form(flink_like, text, seconds):
    """Before 2.0 it was a number of ms; what cannot be read is Flink's default."""
    flink_like.special["/jobmanager/config"] = (
        200,
        {},
        json.dumps([{"key": "metrics.fetcher.update-interval", "value": text}]).encode(),
    )
    asking = answers.begin(client_of(flink_like.address), None)
    assert asking.wait_s() == max(seconds + answers.SLACK_S, answers.LEAST_WAIT_S)


def of_many(told, count):
    """Let a recording of 2 subtasks be one of `count`: subtask 1 is the last one, all others are as subtask 0."""

    def spread(entries):
        parts = [
            (int(subtask), name, each["value"]) for each in entries for subtask, _, name in [each["id"].partition(".")]
        ]
        first = [(name, value) for subtask, name, value in parts if subtask == 0]
        last = [(count - 1, name, value) for subtask, name, value in parts if subtask == 1]
        made = [(number, name, value) for number in range(count - 1) for name, value in first] + last
        return [{"id": f"{number}.{name}", "value": value} for number, name, value in made]

    readings = json.loads(json.dumps(told.readings))
    for reading in readings:
        for path, answer in reading.items():
            if "/vertices/" in path:
                reading[path] = spread(answer)
            else:
                for vertex in answer["vertices"]:
                    vertex["parallelism"] = count
    return replace(told, readings=readings, samples=[])


def test_of_hundreds_of_subtasks_the_one_that_holds_is_found_and_shown():
    told = of_many(dump("idle-partition"), 512)
    began = time.process_time()
    found = look(told)
    text = found.text()
    assert time.process_time() - began < 5  # it was 20 s while each look-up went through all numbers
    assert names(found) == ["idle-partition"]
    assert "subtask 511" in found.causes[0].title
    held = [line for line in text.splitlines() if "← holds" in line]
    assert len(held) == 1
    assert "more rows" in text
    assert "511" in held[0]
    assert found._repr_html_().count("holds</td>") == 1


@pytest.mark.parametrize("most", [16, 24])
def test_where_metrics_are_too_many_the_watermarks_are_read_first(flink_like, monkeypatch, most):
    monkeypatch.setattr(answers, "MOST_METRICS", most)
    found = wmviz.diagnose(flink_like.address, **QUICK)
    assert names(found) == ["idle-partition"]
    assert any(f"the {most} that matter most were read" in sentence for sentence in found.unseen)


# ---------------------------------------------------------------------------------------------------- dumps and files


def test_a_dump_is_read_again_as_it_was(tmp_path):
    found = wmviz.diagnose(RECORDINGS / "idle-partition.json")
    again = wmviz.diagnose(str(found.save(tmp_path / "dump.json")))
    assert again.to_json() == found.to_json()
    assert wmviz.diagnose(tmp_path).to_json() == found.to_json()


def test_what_is_no_dump_is_refused_with_a_sentence(tmp_path):
    for name, text, says in (
        ("a.json", "{", "holds no JSON"),
        ("b.json", "{}", "no dump of the diagnosis"),
        ("c.json", json.dumps({"format": answers.FORMAT, "x": 1}), "damaged"),
        (
            "d.json",
            json.dumps({"format": answers.FORMAT, "address": "a", "job": "j", "once": {}, "readings": []}),
            "not like",
        ),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(DiagnosisError, match=says):
            wmviz.diagnose(tmp_path / name)
    with pytest.raises(DiagnosisError, match="must hold one dump"):
        wmviz.diagnose(tmp_path)
    with pytest.raises(DiagnosisError, match="cannot be read"):
        wmviz.diagnose(tmp_path / "missing.json")


# --------------------------------------------------------------------------------------------------------- over HTTP


@pytest.fixture
def flink_like(request):
    """Return a server that plays a recording."""
    with serving(dump(getattr(request, "param", "idle-partition"))) as server:
        yield server


QUICK = {"wait": 0.6}
IMPATIENT = {"wait": 0.6, "limit_s": 1.0}


def test_over_http_the_same_is_found_as_from_the_recording(flink_like):
    said = []
    found = wmviz.diagnose(flink_like.address, **QUICK, tell=said.append)
    assert names(found) == ["idle-partition"]
    assert found.to_json()["watermarks"] == wmviz.diagnose(RECORDINGS / "idle-partition.json").to_json()["watermarks"]
    assert set(flink_like.asked) == {"GET"}
    assert len(said) == 1


def test_what_the_browser_shows_is_an_address_too(flink_like):
    flink_like.jobs.append({"jid": "b" * 32, "name": "other", "state": "RUNNING", "start-time": 2})
    page = f"{flink_like.address}/#/job/running/{flink_like.told.job}/overview"
    assert wmviz.diagnose(page, **QUICK).job == "idle-partition"


def test_a_proxy_may_put_a_path_in_front(flink_like):
    flink_like.prefix = "/flink/prod"
    for ending in ("", "/", f"/#/job/running/{flink_like.told.job}/overview"):
        found = wmviz.diagnose(f"{flink_like.address}/flink/prod{ending}", **QUICK)
        assert names(found) == ["idle-partition"]
        flink_like.details = 0
    without_scheme = flink_like.address.removeprefix("http://") + "/flink/prod/"
    assert names(wmviz.diagnose(without_scheme, **QUICK)) == ["idle-partition"]
    with pytest.raises(DiagnosisError, match="answers 404: 'nothing here'"):
        wmviz.diagnose(flink_like.address, **QUICK)


@pytest.mark.parametrize("ending", ["/jobs", "/jobs/", "/jobs/overview", "/config", "/overview", "/index.html"])
def test_what_a_script_asks_is_an_address_too(flink_like, ending):
    for prefix in ("", "/flink"):
        assert client_of(f"{flink_like.address}{prefix}{ending}").address == f"{flink_like.address}{prefix}"
    assert client_of(f"{flink_like.address}/all-jobs").address == f"{flink_like.address}/all-jobs"


def test_a_cache_in_between_is_no_healthy_job(flink_like):
    flink_like.details = 9  # both readings are the second one now
    with pytest.raises(DiagnosisError, match=r"the second reading with the time of the first: .*from a cache"):
        wmviz.diagnose(flink_like.address, **QUICK)
    assert {headers["Cache-Control"] for headers in flink_like.headers} == {"no-cache"}


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_token_does_not_go_where_a_server_sends_on_to(flink_like, status):
    with serving(flink_like.told) as elsewhere:
        flink_like.special["/jobs/overview"] = (status, {"Location": f"{elsewhere.address}/jobs/overview"}, b"")
        with pytest.raises(DiagnosisError, match="give that address instead"):
            wmviz.diagnose(flink_like.address, token="secret", **QUICK)
        assert elsewhere.asked == []
    assert flink_like.headers[0]["Authorization"] == "Bearer secret"


def test_a_token_stands_in_no_message_and_no_dump(flink_like, tmp_path):
    flink_like.special["/config"] = (403, {}, b"no")
    found = wmviz.diagnose(flink_like.address, token="secret", **QUICK)
    assert "secret" not in found.save(tmp_path / "dump.json").read_text()
    assert "secret" not in repr(found) + json.dumps(found.to_json())


def test_several_jobs_are_named_and_one_can_be_chosen(flink_like):
    flink_like.jobs.append({"jid": "b" * 32, "name": "other", "state": "RUNNING", "start-time": 2})
    with pytest.raises(DiagnosisError, match=r"runs several jobs; name one .*'other' \(b+, running\), 'runs'"):
        wmviz.diagnose(flink_like.address, **QUICK)
    assert names(wmviz.diagnose(flink_like.address, "runs", **QUICK)) == ["idle-partition"]
    with pytest.raises(DiagnosisError, match="has no job 'mine'; its jobs are"):
        wmviz.diagnose(flink_like.address, "mine", **QUICK)


def test_a_cluster_without_a_job_says_so(flink_like):
    flink_like.jobs = []
    with pytest.raises(DiagnosisError, match="no job that runs; its jobs are: none"):
        wmviz.diagnose(flink_like.address, **QUICK)


@pytest.mark.parametrize("after", [1, 2])
def test_a_job_that_ends_during_the_reading_is_named(flink_like, after):
    flink_like.ends_after = after
    with pytest.raises(DiagnosisError, match="ended while it was read"):
        wmviz.diagnose(flink_like.address, **QUICK)


HTML = b"<html><head><style>x</style></head><body><h1>Sign in</h1></body></html>"


@pytest.mark.parametrize(
    ("special", "says"),
    [
        ((401, {}, b""), "answers 401: it wants to know who asks; send a token"),
        ((403, {}, b"no"), "what was sent does not open it"),
        ((404, {}, b'{"errors": ["Not found: /jobs/overview"]}'), "answers 404: Not found: /jobs/overview"),
        (
            (503, {}, b"Service temporarily unavailable due to an ongoing leader election."),
            "answers 503: .*leader election",
        ),
        ((200, {}, HTML), "not like Flink: 'Sign in'; it is a web page. If it asks to log in"),
        ((200, {}, b""), "not like Flink: 'an empty answer'"),
        ((200, {}, b"[1]"), "not like Flink"),
        ((200, {}, b'{"jobs": [{"id": 3}]}'), "not like Flink"),
        ((302, {"Location": "http://elsewhere/"}, b""), "sends on to 'http://elsewhere/'"),
        ((200, {"Content-Length": "99"}, b"{"), "stops in the middle"),
    ],
)
def test_a_bad_answer_becomes_a_sentence(flink_like, special, says):
    flink_like.special["/jobs/overview"] = special
    with pytest.raises(DiagnosisError, match=says) as caught:
        wmviz.diagnose(flink_like.address, **QUICK)
    assert "\n" not in str(caught.value)


def test_an_answer_that_does_not_come_is_not_waited_for(flink_like):
    never = flink_like.special["/jobs/overview"] = threading.Event()
    with pytest.raises(DiagnosisError, match="did not answer within 1 s"):
        wmviz.diagnose(flink_like.address, **IMPATIENT)
    never.set()


JUNK = [
    *(b"null", b"[]", b"{}", b"7", b'"x"', b"[7]", b"[null]", b"[{}]", b'{"errors": 7}', b'[{"id": 7, "value": {}}]'),
    *(
        b"[" * 100_000,
        b'{"vertices": null, "state": 7, "now": "x"}',
        b'{"vertices": [7], "state": "RUNNING", "now": 1}',
    ),
    b'{"vertices": [{"id": [], "name": null}], "state": "RUNNING", "now": 1e400}',
]


@pytest.mark.parametrize(
    "ending",
    [
        "/jobs/overview",
        "/config",
        "JOB",
        "/watermarks",
        "/metrics",
        "/checkpoints",
        "/jobmanager/config",
        "/exceptions",
    ],
)
def test_an_answer_of_another_form_is_a_sentence_or_does_no_harm(flink_like, ending, monkeypatch):
    for name, value in {"WARM_UP_S": 0.01, "SLACK_S": 0, "USUAL_FETCHER_MS": 200}.items():
        monkeypatch.setattr(answers, name, value)
    client = client_of(flink_like.address, limit_s=5.0)
    for junk in JUNK:
        flink_like.details = 0
        flink_like.special = {f"/jobs/{flink_like.told.job}" if ending == "JOB" else ending: (200, {}, junk)}
        with suppress(DiagnosisError):  # anything else fails the test
            told = answers.ask(client, None, 0.0, 30.0, lambda sentence: None)
            assert diagnosis_of(told, case.Limits()).text()


def test_a_huge_answer_is_not_swallowed(flink_like, monkeypatch):
    monkeypatch.setattr("wmviz.diagnosis.client.MOST_BYTES", 2**20)
    flink_like.special["/jobs/overview"] = (200, {}, b" " * (2**21))
    with pytest.raises(DiagnosisError, match="more than 1 MB; that is not read"):
        wmviz.diagnose(flink_like.address, **QUICK)


def test_a_server_that_drips_is_left_in_time(flink_like):
    class Drip(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            try:
                for _ in range(6_000):
                    self.wfile.write(b" ")
                    time.sleep(0.1)
            except OSError:
                pass

        def log_message(self, *_):
            """Say nothing."""

    flink_like.RequestHandlerClass = Drip
    began = time.monotonic()
    with pytest.raises(DiagnosisError, match="did not answer within 1 s"):
        wmviz.diagnose(flink_like.address, **IMPATIENT)
    assert time.monotonic() - began < 300, "it drips for ten minutes"


def test_all_answers_together_have_a_limit(flink_like):
    flink_like.special["/watermarks"] = 0.8
    with pytest.raises(DiagnosisError, match=r"did not answer within|the time for all answers together is over"):
        wmviz.diagnose(flink_like.address, **QUICK, all_limit_s=1.0)


@pytest.mark.parametrize("status", [403, 404, 503])
def test_what_is_refused_is_listed_and_the_rest_is_diagnosed(flink_like, status):
    for ending in ("/config", "/jobmanager/config", "/exceptions", "/checkpoints", "/watermarks"):
        flink_like.special[ending] = (status, {}, b"no")
    found = wmviz.diagnose(flink_like.address, **QUICK)
    assert names(found) == ["idle-partition"]
    assert sum(f"answers {status}" in sentence for sentence in found.unseen) >= 5


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"token": "abc"}, "Bearer abc"),
        ({"user": "me", "password": "geheim ü"}, "Basic " + base64.b64encode("me:geheim ü".encode()).decode()),
    ],
)
def test_who_asks_is_sent(flink_like, given, sent):
    flink_like.authorization = sent
    with pytest.raises(DiagnosisError, match=r"401: .*send a token, or user and password"):
        wmviz.diagnose(flink_like.address, **QUICK)
    with pytest.raises(DiagnosisError, match=r"401: .*what was sent does not open it"):
        wmviz.diagnose(flink_like.address, **QUICK, token="another")
    assert names(wmviz.diagnose(flink_like.address, **QUICK, **given)) == ["idle-partition"]


def test_user_and_password_may_stand_in_the_address_and_are_not_shown(flink_like):
    flink_like.authorization = "Basic " + base64.b64encode(b"me:p@ss").decode()
    found = wmviz.diagnose(flink_like.address.replace("//", "//me:p%40ss@"), **QUICK)
    assert "ss" not in found.answers.address
    assert "p@ss" not in json.dumps(vars(found.answers))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"token": "a b"}, "token has a blank"),
        ({"token": "a", "user": "me"}, "not both"),
        ({"ca": "x.pem"}, "without TLS"),
        ({"wait": "soon"}, "wait: 'soon' is not a duration"),
        ({"wait": 0}, "from 0.5 s to 1 h"),
        ({"limit_s": 0}, "the limit for one answer is 0; write seconds above 0"),
        ({"limit_s": float("nan")}, "the limit for one answer is nan"),
        ({"acceptable_delay": "5"}, "acceptable_delay: '5' is not a duration"),
    ],
)
def test_a_wrong_option_gets_a_sentence(options, says):
    with pytest.raises(DiagnosisError, match=says):
        wmviz.diagnose("localhost:1", **options)


@pytest.mark.parametrize(
    "wrong",
    ["", "ftp://host", "http://", "localhost:port", "localhost:99999999", 7, "http:/flink:8081", "http//flink:8081"],
)
def test_what_is_no_address_is_refused(wrong):
    with pytest.raises(DiagnosisError, match='no address of Flink; write one like "http://localhost:8081"'):
        wmviz.diagnose(wrong)


def test_whoever_is_not_there_is_named():
    with pytest.raises(DiagnosisError, match=r"No Flink answers at http://127.0.0.1:1: nothing listens on that port"):
        wmviz.diagnose("http://127.0.0.1:1")


def test_tls_with_an_authority_of_ones_own(tmp_path, flink_like):
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate with")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    made = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-keyout",
        key,
        "-out",
        certificate,
    ]
    subprocess.run([*made, *subject], check=True, capture_output=True, timeout=600)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    flink_like.socket = context.wrap_socket(flink_like.socket, server_side=True)
    address = f"https://localhost:{flink_like.server_port}"
    with pytest.raises(DiagnosisError, match=r"is not trusted .*name the file of your authority"):
        wmviz.diagnose(address, **QUICK)
    assert names(wmviz.diagnose(address, ca=certificate, **QUICK)) == ["idle-partition"]
    with pytest.raises(DiagnosisError, match="cannot be read"):
        wmviz.diagnose(address, ca=tmp_path / "missing.pem", **QUICK)


def test_tls_where_there_is_none_is_explained(flink_like):
    with pytest.raises(DiagnosisError, match="does not speak TLS"):
        wmviz.diagnose(flink_like.address.replace("http:", "https:"), **QUICK)


# ------------------------------------------------------------------------------------------------------- the terminal


@pytest.mark.parametrize(("name", "code"), [("steady-traffic", 0), ("bound-too-small", 1)])
def test_the_exit_code_says_whether_there_is_a_fault(name, code, capsys):
    assert main(["diagnose", str(RECORDINGS / f"{name}.json")]) == code
    assert capsys.readouterr().out.startswith(f"{name}: ")


def test_what_cannot_be_read_is_exit_code_2(capsys):
    assert main(["diagnose", "http://127.0.0.1:1"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("wmviz: No Flink answers")


def test_the_terminal_gives_json_for_machines_and_keeps_what_was_read(flink_like, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("WMVIZ_TOKEN", "abc")
    flink_like.authorization = "Bearer abc"
    kept = tmp_path / "dump.json"
    assert main(["diagnose", flink_like.address, "--json", "--wait", "0.6", "--save", str(kept)]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["causes"][0]["name"] == "idle-partition"
    assert err == ""
    assert "abc" not in kept.read_text()
    assert main(["diagnose", str(kept), "--quiet"]) == 1
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_what_cannot_be_read_is_json_too(capsys):
    assert main(["diagnose", "http://127.0.0.1:1", "--json"]) == 2
    out, err = capsys.readouterr()
    assert json.loads(out)["error"].startswith("No Flink answers")
    assert json.loads(out)["error"] in err


@pytest.mark.parametrize(("least", "code"), [("possible", 1), ("likely", 1), ("certain", 0)])
def test_one_may_say_from_which_certainty_on_it_fails(least, code, capsys):
    assert main(["diagnose", str(RECORDINGS / "bound-too-small.json"), "--fail-on", least]) == code
    assert "bound-too-small, likely" in capsys.readouterr().out


def test_user_and_password_may_come_from_the_environment(flink_like, capsys, monkeypatch):
    flink_like.authorization = "Basic " + base64.b64encode(b"me:geheim").decode()
    assert main(["diagnose", flink_like.address, "--quiet", "--wait", "0.6"]) == 2
    monkeypatch.setenv("WMVIZ_USER", "me")
    monkeypatch.setenv("WMVIZ_PASSWORD", "geheim")
    assert main(["diagnose", flink_like.address, "--quiet", "--wait", "0.6"]) == 1


def test_a_token_on_a_wire_that_others_read_is_warned_of():
    for scheme, host, exposed in [
        ("http", "flink.example.com", True),
        ("https", "flink.example.com", False),
        ("http", "localhost", False),
        ("http", "127.0.0.1", False),
        ("http", "[::1]", False),
        ("http", "localhost.example.com", True),
        ("http", "127.0.0.1.example.com", True),
    ]:
        address = f"{scheme}://{host}:8081"
        assert client_of(address, token="secret").is_exposed == exposed, address
        assert not client_of(address).is_exposed


def test_the_page_for_cron_names_every_field_exit_code_option_and_variable(root):
    page = (root / "docs/diagnose.md").read_text(encoding="utf-8")
    data = wmviz.diagnose(RECORDINGS / "idle-partition.json").to_json()
    rows = dict(re.findall(r"^\| `([\w.]+)` \| (.*) \|$", page, re.MULTILINE))
    fields = {*data, *(f"causes.{name}" for name in data["causes"][0])}
    fields |= {f"watermarks.{name}" for name in data["watermarks"][0]}
    assert {name for name in rows if not name.startswith("WMVIZ_")} == fields | {"error"}
    source = (root / "wmviz/__main__.py").read_text(encoding="utf-8")
    assert set(re.findall(r"WMVIZ_\w+", page)) == set(re.findall(r'"(WMVIZ_\w+)"', source))
    options = set(re.findall(r'"(--[\w-]+)"', source[source.index("def _add_diagnose") :]))
    assert set(re.findall(r"(?<![\w-])--[a-z][\w-]+", page)) <= options
    for code, word in [(0, "no fault"), (1, "fault"), (2, "could not be read")]:
        assert re.search(rf"^\| {code} \| .*{word}", page, re.MULTILINE)


def test_the_fix_comes_in_the_language_that_is_asked_for(capsys):
    main(["diagnose", str(RECORDINGS / "idle-partition.json"), "--language", "SQL"])
    assert "SET 'table.exec.source.idle-timeout' = '1 min';" in capsys.readouterr().out


def test_it_runs_as_a_program_without_pyflink_or_pandas():
    code = (
        "import sys; from wmviz.__main__ import main; main(sys.argv[1:]); "
        "assert not {'pandas', 'pyflink', 'ipywidgets', 'altair'} & set(sys.modules)"
    )
    path = str(RECORDINGS / "steady-traffic.json")
    done = subprocess.run([sys.executable, "-c", code, "diagnose", path], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert "no fault found" in done.stdout
