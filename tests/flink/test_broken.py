"""The jobs to practise on: each program as it is written, and two of them really run and diagnosed."""

import ast
import json
import subprocess
import sys
import time
from contextlib import suppress

import pytest

import wmviz
from wmviz.diagnosis import DiagnosisError
from wmviz.flink import broken_job, broken_jobs, program
from wmviz.flink.broken import HEALTHY, JOBS
from wmviz.flink.standalone import free_port
from wmviz.scenario import ScenarioError

FIXABLE = [broken_job(name) for name in JOBS]


def test_there_is_one_for_each_cause_of_the_table():
    assert broken_jobs() == [
        "idle-partition",
        "more-subtasks-than-partitions",
        "wrong-timestamps",
        "bound-too-large",
        "bound-too-small",
        "unread-side-output",
    ]


@pytest.mark.parametrize("job", [*FIXABLE, *(job.fixed for job in FIXABLE), *map(broken_job, HEALTHY)], ids=repr)
def test_the_program_is_whole_and_uses_all_that_it_imports(job):
    tree = ast.parse(job.program)
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert imported <= used
    assert "$" not in job.program
    assert job.build in job.program
    assert program.source("Topic.java") in job.program
    formatted = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--line-length", "120", "-"],
        input=job.program,
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    ).stdout
    assert job.program == formatted
    assert max(map(len, job.program.splitlines())) <= 120


@pytest.mark.parametrize("job", FIXABLE, ids=repr)
def test_the_fix_changes_one_or_two_lines_of_the_job(job):
    before, after = (
        [line for line in one.program.splitlines() if not any(part in line for part in (job.title, job.name, "import"))]
        for one in (job, job.fixed)
    )
    assert 1 <= len(set(after) - set(before)) <= 2
    assert len(set(before) - set(after)) <= 1


def test_what_does_not_exist_is_named():
    with pytest.raises(ScenarioError, match="there is no job 'x'; there are: idle-partition, "):
        broken_job("x")
    with pytest.raises(ScenarioError, match="'steady-traffic' is healthy; there is nothing to fix"):
        _ = broken_job("steady-traffic").fixed
    with pytest.raises(ScenarioError, match="cluster is 'here'"):
        broken_job("idle-partition").run("here")


def test_without_pyflink_a_recorded_run_is_diagnosed(monkeypatch):
    monkeypatch.setattr("wmviz.flink.startup.available", lambda: (False, "It is not there."))
    found = broken_job("bound-too-large").diagnose()
    assert found.to_json() == broken_job("bound-too-large").recorded().to_json()


@pytest.mark.flink
def test_a_job_runs_in_this_process_and_its_cause_is_found(flink):
    with broken_job("more-subtasks-than-partitions").run() as running:
        time.sleep(14)
        found = running.diagnose(wait=3)
    assert [cause.name for cause in found.causes] == ["more-subtasks-than-partitions"]
    assert found.job == "more-subtasks-than-partitions"
    with suppress(DiagnosisError):  # it is gone, or its cluster is
        assert wmviz.diagnose(running.address, running.job, wait=1, limit_s=2).facts.now.state == "CANCELED"


@pytest.mark.flink
def test_a_side_output_that_is_never_asked_for_makes_the_job_fail(flink, monkeypatch):
    """PyFlink's window hands the late record to the main stream, where it has the wrong type; the diagnosis says so."""
    job = broken_job("unread-side-output")
    text = job.program.replace("    late_runs = totals.get_side_output(late)\n", "")
    monkeypatch.setattr(type(job), "program", property(lambda _: program.Program(text, job.name)))
    with job.run() as running:
        deadline = time.monotonic() + 600
        while (
            time.monotonic() < deadline
            and not running.rest.get(f"/jobs/{running.job}/exceptions")["exceptionHistory"]["entries"]
        ):
            time.sleep(0.5)
        found = running.diagnose(wait=1)
    assert found.causes[0].name == "unread-side-output"
    assert "ClassCastException" in found.causes[0].evidence[0]


@pytest.mark.flink
def test_the_saved_program_runs_alone_and_the_terminal_reads_it(flink, tmp_path):
    job = broken_job("bound-too-small")
    port = free_port()
    with subprocess.Popen(
        [sys.executable, str(job.program.save(tmp_path)), str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        try:
            deadline, done = time.monotonic() + 600, None
            while time.monotonic() < deadline and process.poll() is None:
                asked = [sys.executable, "-m", "wmviz", "diagnose", f"localhost:{port}", "--json", "--wait", "5"]
                done = subprocess.run(asked, capture_output=True, text=True, timeout=600)
                if done.returncode == 1 and causes(done)[:1] == ["bound-too-small"]:  # at first it may be another one
                    break
                time.sleep(2)
        finally:
            process.kill()
        assert done is not None
        assert done.returncode == 1, (done.stderr, process.stderr.read()[-2000:])
    assert causes(done)[0] == "bound-too-small"


def causes(done):
    return [cause["name"] for cause in json.loads(done.stdout)["causes"]]
