"""The diagnosis on what clusters of older Flinks really answered; `older_flinks/README.md` says how."""

import json
import re
import tarfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import wmviz
from tests.flink_like import serving
from wmviz.diagnosis import answers
from wmviz.diagnosis import of as diagnosis_of
from wmviz.diagnosis.case import Case, Limits

FOLDER = Path(__file__).parent / "older_flinks"
VERSIONS = sorted(path.name.removesuffix(".tar.gz") for path in FOLDER.glob("*.tar.gz"))
# Name of a job → the causes that must be found, in their order; none: it is healthy.
EXPECTED = {
    "steady-traffic": [],
    "quiet-partition": [],
    "after-source": [],
    "no-watermarks-no-windows": [],
    "processing-time": [],
    "aligned": [],
    "legacy-source": [],
    "catching-up": [],
    "catching-up-in-chain": [],
    "idle-partition": ["idle-partition"],
    "idle-from-start": ["idle-partition"],
    "idle-in-one-subtask": ["idle-partition"],
    "idle-from-start-in-one": ["idle-partition"],
    "aligned-idle": ["idle-partition"],
    "legacy-source-idle": ["idle-partition"],
    "more-subtasks-than-partitions": ["more-subtasks-than-partitions"],
    "aligned-silent-topic": ["everything-idle"],
    "everything-idle": ["everything-idle"],
    "bound-too-large": ["bound-too-large"],
    "bound-too-small": ["bound-too-small"],
    "unread-side-output": [],  # in Java it leaves no trace in so short a time
    "wrong-timestamps": ["wrong-timestamps"],
    "no-timestamps": ["wrong-timestamps"],
    "no-watermarks": ["wrong-timestamps"],
    "backpressured": ["backpressured"],
    "backpressured-in-chain": ["backpressured"],
    "global-window": ["global-window-without-trigger"],
    "checkpoints-time-out": ["checkpoints-fail"],
    "checkpoints-fail": ["not-running", "checkpoints-fail"],
    "fails": ["not-running"],
    "sql-healthy": [],
    "sql-clock": [],
    "sql-no-windows": [],
    "sql-one-ends": [],
    "sql-late": ["bound-too-small"],
    "sql-old-group": ["bound-too-small"],
    "sql-large": ["bound-too-large"],
}
# Before 2.1 Flink told nothing of single partitions, so these look like another fault.
BEFORE_2_1 = {
    "idle-from-start": ["more-subtasks-than-partitions"],
    "idle-from-start-in-one": ["wrong-timestamps"],
}
# Recorded on some versions only. Kafka's source tells the offset of each partition, whatever the version.
SOME = {
    "sql-window-join": ["bound-too-small"],
    "sql-interval-join": ["bound-too-large"],
    "kafka-steady-traffic": [],
    "kafka-quiet-partition": [],
    "kafka-idle-partition": ["idle-partition"],
    "kafka-idle-in-one-subtask": ["idle-partition"],
    "kafka-idle-from-start-in-one": ["idle-partition"],
    "kafka-more-subtasks-than-partitions": ["more-subtasks-than-partitions"],
    "kafka-no-watermarks": ["wrong-timestamps"],
    "kafka-sql-healthy": [],
    "kafka-sql-idle-in-one-subtask": ["idle-partition"],
    "kafka-sql-idle-from-start-in-one": ["idle-partition"],
    "kafka-sql-large": ["bound-too-large"],
}


@cache
def texts(version):
    """Read the dumps of a version: name → text."""
    with tarfile.open(FOLDER / f"{version}.tar.gz") as archive:
        members = [(member.name, archive.extractfile(member)) for member in archive.getmembers()]
        return {name.removesuffix(".json"): file.read().decode() for name, file in members}


def told(version, name):
    data = json.loads(texts(version)[name])
    assert data.pop("format") == answers.FORMAT
    return answers.Answers(**data)


def look(version, name):
    return diagnosis_of(told(version, name), Limits())


def knows_splits(version):
    return tuple(map(int, version.split(".")[:2])) >= (2, 1)


def expected(version):
    return EXPECTED if knows_splits(version) else EXPECTED | BEFORE_2_1


def names(diagnosis):
    return [cause.name for cause in diagnosis.causes]


def test_there_are_recordings_from_the_first_to_the_last_version_that_the_page_names(root):
    page = (root / "docs/diagnose.md").read_text(encoding="utf-8")
    assert [version for version in VERSIONS if version not in page] == []
    assert {"1.18", "1.20", "2.0", "2.2"} <= {version.rpartition(".")[0] for version in VERSIONS}
    assert all(set(EXPECTED) <= set(texts(version)) for version in VERSIONS)
    assert {name for version in VERSIONS for name in texts(version)} == {*EXPECTED, *SOME}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", EXPECTED)
def test_the_cause_is_found_and_no_other(version, name):
    found = look(version, name)
    assert names(found) == expected(version)[name], found.text()
    assert found.facts.version == version


@pytest.mark.parametrize("name", SOME)
def test_kafkas_offsets_name_a_silent_partition_and_a_join_of_windows_counts_late_rows(name):
    for version in VERSIONS:
        if name not in texts(version):
            continue
        found = look(version, name)
        assert names(found) == SOME[name], found.text()
        assert any("Late rows in IntervalJoin" in each for each in found.unseen) == (name == "sql-interval-join")
        if SOME[name] == ["idle-partition"]:
            assert "-1 in subtask 0 of" in found.causes[0].title
        if SOME[name] == ["bound-too-large"]:
            assert found.causes[0].title == "Bound too large: about 10 min"


@pytest.mark.parametrize("version", VERSIONS)
def test_what_a_version_does_not_tell_is_said(version):
    unseen = " ".join(look(version, "steady-traffic").unseen)
    assert ("Flink tells of them since 2.1" in unseen) != knows_splits(version)
    assert "currentEmitEventTimeLag" not in unseen
    legacy = " ".join(look(version, "legacy-source").unseen)
    assert "currentEmitEventTimeLag" in legacy
    assert "Watermarks of single partitions" in legacy
    assert "currentEmitEventTimeLag" not in " ".join(look(version, "sql-large").unseen)  # the plan tells the bound
    assert any("A side output that nobody reads" in each for each in look(version, "unread-side-output").unseen)


@pytest.mark.parametrize("version", VERSIONS)
def test_where_two_faults_look_the_same_it_is_said(version):
    if knows_splits(version):
        assert look(version, "idle-from-start-in-one").causes[0].certainty == "certain"
        return
    (cause,) = look(version, "idle-from-start-in-one").causes
    assert cause.certainty == "likely"
    assert any("one that never sent anything" in each and "looks the same" in each for each in cause.evidence)
    (cause,) = look(version, "idle-from-start").causes
    assert any("silent from the start looks the same" in each for each in cause.evidence)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_numbers_that_the_evidence_names_are_those_of_the_jobs(version):
    (large,) = look(version, "bound-too-large").causes
    # The numbers may be as old as the cluster's interval of 10 s when they are read.
    assert re.fullmatch(r"Bound too large: about 10 min( (\d|1[0-2]) s)?", large.title)
    (large,) = look(version, "sql-large").causes
    assert large.title == "Bound too large: about 10 min"
    assert any("declares a bound of 10 min" in each for each in large.evidence)
    (paused,) = look(version, "aligned-idle").causes
    assert any("Watermark alignment lets subtask 0 of Source: runs wait" in each for each in paused.evidence)
    (timed_out,) = look(version, "checkpoints-time-out").causes
    assert "0 completed" in timed_out.evidence[0]
    assert "Checkpoint expired before completing" in timed_out.evidence[0]
    (chained,) = look(version, "backpressured-in-chain").causes
    assert "is busy 1000 ms of each second" in chained.evidence[0]


@pytest.mark.parametrize("version", VERSIONS)
def test_over_http_the_same_is_found(version):
    with serving(told(version, "idle-partition")) as server:
        found = wmviz.diagnose(server.address, wait=0.6)
        assert names(found) == ["idle-partition"]
        assert found.rows == look(version, "idle-partition").rows
        assert found.facts.version == version


# ------------------------------------------------------------------------------------------------ variations of them


def changed(version, name, edit):
    """Take a recording and change its text."""
    text = json.loads(edit(texts(version)[name]))
    text.pop("format")
    return answers.Answers(**text)


def without(told, *endings):
    """Leave metrics out."""
    for reading in told.readings:
        for path, entries in reading.items():
            if path.endswith("/metrics"):
                reading[path] = [each for each in entries if not each["id"].endswith(endings)]
    return told


def test_a_cluster_that_gave_no_new_numbers_is_not_a_silent_topic():
    """As where a TaskManager does not answer the JobManager for a while."""
    old = told(VERSIONS[-1], "steady-traffic")
    old.samples.clear()
    job = f"/jobs/{old.job}"
    old.readings[1] = {**old.readings[0], job: {**old.readings[0][job], "now": old.readings[1][job]["now"]}}
    found = diagnosis_of(old, Limits())
    assert found.healthy
    assert any("the cluster gave no new numbers" in sentence for sentence in found.unseen)
    blind = diagnosis_of(without(old, *answers.WORKED), Limits())
    assert names(blind) == ["everything-idle"]  # as long as nothing says when the numbers were taken


@pytest.mark.parametrize("version", VERSIONS)
def test_how_fast_a_watermark_moves_is_measured_by_the_clock_of_its_task(version):
    """The cluster collects numbers each 10 s, so those of two readings 12 s apart may be 10 or 20 s apart."""
    case = Case(look(version, "steady-traffic").facts)
    assert [round(case.pace(origin), 1) for origin in case.origins()] == [1.0, 1.0]


def test_a_job_that_began_again_between_the_readings_is_not_silent():
    old = told(VERSIONS[0], "everything-idle")
    assert names(diagnosis_of(old, Limits())) == ["everything-idle"]
    first, second = (reading[f"/jobs/{old.job}"] for reading in old.readings)
    second["timestamps"]["RUNNING"] = first["now"] + 1000
    found = diagnosis_of(old, Limits())
    assert found.healthy
    assert any("began again between the two readings" in check.sentence for check in found.checks)


@pytest.mark.parametrize(
    ("sink", "certainty"), [("Sink: out: Writer -> Sink: out: Committer", "likely"), ("Sink: Print", "possible")]
)
def test_checkpoints_that_fail_matter_more_where_a_sink_commits(sink, certainty):
    found = diagnosis_of(
        changed(VERSIONS[-1], "checkpoints-time-out", lambda text: text.replace("Sink: Writer", sink)), Limits()
    )
    assert [(cause.name, cause.certainty) for cause in found.causes] == [("checkpoints-fail", certainty)]


def test_one_checkpoint_that_failed_is_only_noticed():
    old = told(VERSIONS[-1], "checkpoints-time-out")
    history = old.once[f"/jobs/{old.job}/checkpoints"]["history"]
    history[:] = [{"status": "IN_PROGRESS"}, {"status": "FAILED"}]
    found = diagnosis_of(old, Limits())
    assert found.healthy
    assert any("The newest checkpoint failed" in note for note in found.notes)
    history.insert(1, {"status": "COMPLETED"})
    assert diagnosis_of(old, Limits()).notes == ()


def test_a_window_of_sql_goes_by_the_clock_only_where_its_column_is_proctime():
    by_event_time = changed(
        VERSIONS[-1], "sql-clock", lambda text: text.replace("PROCTIME() AS p", "CURRENT_TIMESTAMP() AS p")
    )
    assert names(diagnosis_of(by_event_time, Limits())) == ["wrong-timestamps"]


def test_an_empty_partition_of_kafka_is_no_fault_where_nothing_waits_for_event_time():
    name = "kafka-idle-from-start-in-one"
    old = told(next(version for version in VERSIONS if name in texts(version)), name)
    assert names(diagnosis_of(old, Limits())) == ["idle-partition"]
    assert diagnosis_of(without(old, "numLateRecordsDropped"), Limits()).healthy


@pytest.mark.parametrize(
    ("status", "after_ms", "certainty", "says"),
    [
        ("SCHEDULED", 30_000, "likely", "waits for slots"),
        ("CREATED", 5_000, None, ""),
        ("INITIALIZING", 120_000, "possible", "is still starting"),
        ("INITIALIZING", 30_000, None, ""),
    ],
)
def test_tasks_that_do_not_run_are_told(status, after_ms, certainty, says):
    """As with too few slots: Flink says of the job that it runs, and no task has a metric."""
    old = without(told(VERSIONS[0], "steady-traffic"), "")
    for reading in old.readings:
        detail = reading[f"/jobs/{old.job}"]
        detail["timestamps"]["RUNNING"] = old.readings[1][f"/jobs/{old.job}"]["now"] - after_ms
        for vertex in detail["vertices"]:
            vertex["status"] = status
    found = diagnosis_of(replace(old, samples=[]), Limits())
    assert [(cause.name, cause.certainty) for cause in found.causes] == [("not-running", certainty)] * bool(certainty)
    assert says in found.headline


def test_a_job_that_somebody_stopped_is_not_blamed_for_an_error():
    old = told(VERSIONS[0], "steady-traffic")
    last = json.loads(json.dumps(old.readings[-1]).replace('"RUNNING"', '"CANCELED"'))
    found = diagnosis_of(replace(old, readings=[last], samples=[]), Limits())
    assert names(found) == ["not-running"]
    assert "no error" in found.causes[0].advice
    assert "read once" in repr(found)
