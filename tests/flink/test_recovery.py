"""A crash after a checkpoint, in this process and on a cluster: right counts, and work done twice."""

import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import wmviz
from wmviz.flink import FlinkError, live, recover, recovery_code, standalone, startup
from wmviz.flink.leftovers import ask_ps, claim
from wmviz.flink.recovery import Recovery
from wmviz.scenario import ScenarioError

RIGHT = {"a": 100, "b": 100, "c": 100}


@pytest.mark.flink
def test_a_source_that_goes_back_counts_right_and_works_twice():
    done = recover()
    assert done.is_right
    assert done.counts == RIGHT
    assert done.twice, "what came after the checkpoint is worked on again"
    assert done.twice == list(range(done.twice[0], done.twice[-1] + 1))
    assert set(done.worked) == set(range(300))
    assert "COMPLETED" in set(done.checkpoints["status"])
    assert done.crash == "A Python function raised an error"


@pytest.mark.flink
def test_a_list_cannot_go_back_and_counts_wrong():
    done = recover("list")
    assert not done.is_right
    assert sum(done.counts.values()) > 300
    assert done.twice[0] == 0, "it begins anew"
    assert len(done.worked) > sum(done.counts.values()), "the checkpoint forgot what came after it"
    assert "The counts are wrong: a " in repr(done)


@pytest.mark.flink
def test_a_cluster_loses_a_taskmanager_and_counts_right(monkeypatch):
    looks = []

    def look(self):
        """Look at the job as a reader would, before each of the watch's own looks."""
        if self.history and not looks:
            looks.append(live(cluster))
        watched(self)

    with wmviz.flink.cluster(limit_s=300) as cluster:
        from wmviz.flink.recovery import _Watch

        watched = _Watch._look
        monkeypatch.setattr(_Watch, "_look", look)
        assert sorted(cluster.taskmanagers()) == ["taskmanager-1", "taskmanager-2"]
        done = recover(cluster=cluster, limit_s=300)
        assert done.is_right, done
        assert done.twice
        assert done.restored_from is not None
        assert done.crash in ("taskmanager-1 was killed", "taskmanager-2 was killed")
        assert looks[0].job == live(cluster, looks[0].name).job
        # The job's master and the resource manager notice a loss each for itself.
        assert comes_true(lambda: "1 TaskManagers" in repr(cluster)), repr(cluster)
        assert again(cluster) == ["1", "2", "3"], "Python runs on a TaskManager that has run it before"
        assert repr(wmviz.flink.cluster(cluster.address)) == repr(cluster)
        folder = cluster.folder
        pids = [int(pid) for pid in (folder / "pids").read_text().split()]
        assert len(pids) == 2
    assert not folder.exists()
    assert not any(ask_ps(pid, "pid") for pid in pids)


def again(cluster):
    from pyflink.common import Types

    with startup.tidy():
        numbers = cluster.environment().from_collection([1, 2, 3], Types.LONG())
        stream = numbers.map(str, Types.STRING())
    return sorted(startup.collect(stream, "again", 300))


STARTS = """
import os, sys, wmviz
from pathlib import Path
from wmviz.flink.leftovers import claim
claim(Path(sys.argv[1]))
cluster = wmviz.flink.standalone.Cluster(wmviz.flink.rest.Rest("localhost:1"), Path(sys.argv[1]))
cluster.start_taskmanager()
print((cluster.folder / "pids").read_text(), flush=True)
if sys.argv[2] == "guard":
    cluster._guard.kill()
os.kill(os.getpid(), 9)
"""


def started_and_killed(folder, *words):
    """Let a process start a TaskManager and die at once; give the pid of the TaskManager."""
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", STARTS, str(folder), *words], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    return int(done.stdout)


def comes_true(said, limit_s=120):
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        if said():
            return True
        time.sleep(0.1)
    return False


def gone(pid):
    return comes_true(lambda: not ask_ps(pid, "pid"))


@pytest.mark.flink
def test_what_a_killed_process_has_started_ends_with_it(tmp_path):
    folder = tmp_path / f"{standalone.PREFIX}x"
    pid = started_and_killed(folder, "process")
    assert gone(pid)
    assert comes_true(lambda: not folder.exists())


@pytest.mark.flink
def test_what_is_left_over_is_stopped_by_the_next_call(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = tmp_path / f"{standalone.PREFIX}x"
    pid = started_and_killed(folder, "guard")
    # A script has become Java by then.
    assert comes_true(lambda: str(folder) in ask_ps(pid, "command")), "nobody ended it"
    assert standalone.stop_stale() == 1
    assert gone(pid)
    assert not folder.exists()


def test_a_folder_of_a_living_process_or_without_an_owner_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ours, broken = tmp_path / f"{standalone.PREFIX}a", tmp_path / f"{standalone.PREFIX}b"
    ours.mkdir()
    broken.mkdir()
    claim(ours)
    assert standalone.stop_stale() == 0
    assert ours.exists()
    assert broken.exists()


@pytest.mark.flink
def test_a_port_that_is_taken_is_said():
    import socket

    with socket.socket() as taken:
        taken.bind(("localhost", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(FlinkError, match=rf"Port {port} cannot be used .*leave it out and a free one is taken"):
            wmviz.flink.cluster(port=port)
    with pytest.raises(FlinkError, match="taskmanagers is 0; write a number from 1 to 16"):
        wmviz.flink.cluster(taskmanagers=0)


@pytest.mark.flink
def test_a_cluster_that_does_not_start_says_why_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setitem(standalone.SETTINGS, "jobmanager.memory.process.size", "1m")
    with pytest.raises(FlinkError, match=r"The jobmanager did not start: Sum of configured JVM Metaspace"):
        wmviz.flink.cluster()
    assert list(tmp_path.glob(f"{standalone.PREFIX}*")) == []


def test_where_flink_is_missing_a_cluster_says_so(monkeypatch):
    monkeypatch.setattr(startup, "available", lambda: (False, "PyFlink is not installed."))
    with pytest.raises(FlinkError, match="PyFlink is not installed"):
        wmviz.flink.cluster()


def test_wrong_things_are_refused_in_a_sentence():
    with pytest.raises(ScenarioError, match='source is \'kafka\'; write "sequence" or "list"'):
        recover("kafka")
    with pytest.raises(ScenarioError, match=r"make one with wmviz.flink.cluster\(\)"):
        recover(cluster="localhost:8081")


def test_the_program_is_complete(tmp_path):
    program = recovery_code()
    path = program.save(tmp_path)
    assert path.name == "recovery.py"
    compile(program, path, "exec")
    check = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F,E9,W6", str(tmp_path)]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert Path(path).read_text() == program


def test_it_is_told_in_sentences():
    done = Recovery("sequence", "taskmanager-1 was killed", RIGHT, RIGHT, (0, 1, 2, 1, 2, 3), 4, ())
    assert repr(done).splitlines() == [
        "taskmanager-1 was killed; Flink restored checkpoint 4.",
        "The counts are right: a 100, b 100, c 100.",
        "2 numbers were worked on twice: 1 to 2.",
    ]
    wrong = Recovery("list", "A Python function raised an error", {"a": 102}, RIGHT, (0,), None, ())
    assert "Flink restored the last checkpoint.\nThe counts are wrong: a 102 instead of 100, b 0 instead" in repr(wrong)
    assert repr(wrong).endswith("No number was worked on twice.")


@pytest.mark.parametrize(("source", "is_right"), [("sequence", True), ("list", False)])
def test_where_flink_is_missing_a_recorded_run_is_given(monkeypatch, source, is_right):
    monkeypatch.setattr(startup, "available", lambda: (False, "PyFlink is not installed."))
    done = recover(source)
    assert (done.source, done.is_right) == (source, is_right)
    assert done.right == RIGHT
    assert done.twice
    assert "COMPLETED" in set(done.checkpoints["status"])
    assert "/" not in str(done.history), "no path of the machine that it was made on"


def test_a_cluster_that_is_started_for_a_run_is_recorded_too(monkeypatch):
    monkeypatch.setattr(startup, "available", lambda: (False, "PyFlink is not installed."))
    done = recover(cluster=True)
    assert done.is_right
    assert done.twice
    assert done.crash.endswith("was killed")
    assert done.restored_from is not None


def test_a_recording_is_what_was_recorded(monkeypatch, tmp_path):
    from wmviz.flink import recovery

    monkeypatch.setattr(recovery, "RECORDINGS", tmp_path / "recovery")
    checkpoint = dict.fromkeys(recovery.KEPT, 7)
    done = Recovery("list", "a crash", {"a": 102}, RIGHT, (0, 1, 0), None, ({**checkpoint, "external_path": "/x"},))
    recovery._record(done, "list-cluster")
    assert recovery._recorded("list-cluster") == Recovery(
        "list", "a crash", {"a": 102}, RIGHT, (0, 1, 0), None, (checkpoint,)
    )
