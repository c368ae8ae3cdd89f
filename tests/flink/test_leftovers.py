"""Temporary folders: they go with their process, and what a killed one has left goes with the next."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from wmviz.flink import leftovers, startup

KILLED = """
import os, sys, tempfile
tempfile.tempdir = sys.argv[1]
from wmviz.flink import startup
print(startup.folder(), flush=True)
if sys.argv[2] == "jvm":
    import wmviz
    wmviz.flink.run(wmviz.scenario("leaderboard"))
    java = startup.job().get_gateway().jvm.System
    assert java.getProperty("java.io.tmpdir") == str(startup.folder())
if sys.argv[3] == "killed":
    os.kill(os.getpid(), 9)
"""


def run(place, what, end):
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(place), what, end], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == (-signal.SIGKILL if end == "killed" else 0), done.stderr
    return Path(done.stdout.strip())


def test_a_process_that_ends_takes_its_folder_along(tmp_path):
    assert not run(tmp_path, "no jvm", "ended").exists()
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_has_left_goes_with_the_next(tmp_path):
    left = run(tmp_path, "no jvm", "killed")
    assert left.exists()
    run(tmp_path, "no jvm", "ended")
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_a_living_process_and_one_without_an_owner_are_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ours = leftovers.new_folder(startup.PREFIX)
    (tmp_path / f"{startup.PREFIX}nobody").mkdir()
    assert list(leftovers.left_behind(startup.PREFIX)) == []
    (ours / "owner").write_text(f"{os.getpid()}\nthe number of another process", encoding="utf-8")
    assert list(leftovers.left_behind(startup.PREFIX)) == [ours]


def test_a_process_began_when_it_began_whatever_the_clock_says(monkeypatch):
    then = leftovers.began(os.getpid())
    assert then
    if sys.platform == "linux":
        monkeypatch.setattr(leftovers, "ask_ps", lambda pid, what: "a date made of another clock")
    assert leftovers.began(os.getpid()) == then
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait(timeout=600)
    assert leftovers.began(ended.pid) == ""


@pytest.mark.flink
def test_all_that_flink_needs_is_in_that_folder(tmp_path):
    """Its JVM writes nothing beside it, and a killed kernel leaves nothing that the next one does not find."""
    run(tmp_path, "jvm", "ended")
    assert list(tmp_path.iterdir()) == []
    left = run(tmp_path, "jvm", "killed")
    assert list(tmp_path.iterdir()) == [left]
    assert any(left.glob("**/replay.jar"))
    while str(left) in subprocess.run(["ps", "-ww", "-eo", "command"], capture_output=True, text=True).stdout:
        time.sleep(0.1)  # the JVM ends a moment after its process
    run(tmp_path, "no jvm", "ended")
    assert list(tmp_path.iterdir()) == []
