"""A checkpoint, a crash and what follows, on real Flink: in this process, or on a cluster that loses a TaskManager."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wmviz.flink import program, recorded, startup
from wmviz.flink.program import Program
from wmviz.flink.replay import RECORD_SWITCH
from wmviz.flink.rest import Rest, checkpoint_table
from wmviz.flink.standalone import Cluster, free_port
from wmviz.flink.standalone import cluster as start_cluster
from wmviz.flink.startup import ENGINE, LIMIT_S, FlinkError
from wmviz.scenario import ScenarioError, json_text

if TYPE_CHECKING:
    import pandas as pd

SOURCES = ("sequence", "list")
POLL_S = 0.1
CANCEL_S = 5.0
RECORDINGS = recorded.FOLDER / "recovery"
KEPT = ("id", "status", "end_to_end_duration", "checkpointed_size", "is_savepoint")
"""What a recording keeps of each checkpoint: no paths of the machine that it was made on."""
COMPLETE, NUMBERS_LATER = 2, 5
"""So many checkpoints, so many numbers later the TaskManager is killed: some are in a checkpoint, some come twice."""


@dataclass(frozen=True)
class Recovery:
    """What a job that crashed once has done.

    Attributes
    ----------
    source
        ``"sequence"``, which can go back, or ``"list"``, which cannot.
    crash
        What happened, in words.
    counts
        Key → how many numbers of that key the job counted.
    right
        Key → how many there are.
    worked
        The numbers in the order in which the Python function worked on them.
    restored_from
        Id of the checkpoint that Flink restored, or None if it was not seen.
    history
        What Flink's REST interface told of each checkpoint.
    """

    source: str
    crash: str
    counts: dict[str, int]
    right: dict[str, int]
    worked: tuple[int, ...]
    restored_from: int | None
    history: tuple[dict[str, Any], ...]

    @property
    def is_right(self) -> bool:
        """Whether every number was counted once."""
        return self.counts == self.right

    @property
    def twice(self) -> list[int]:
        """The numbers that the function worked on more than once."""
        return sorted(number for number, times in Counter(self.worked).items() if times > 1)

    @property
    def program(self) -> Program:
        """The program that ran, to read and copy."""
        return recovery_code()

    @property
    def checkpoints(self) -> pd.DataFrame:
        """The checkpoints: id, status, duration in ms, size in bytes, savepoint or not."""
        return checkpoint_table(list(self.history))

    def __repr__(self) -> str:
        """Tell it in sentences."""
        restored = "the last checkpoint" if self.restored_from is None else f"checkpoint {self.restored_from}"
        twice = self.twice
        again = f"{len(twice)} numbers were worked on twice: {twice[0]} to {twice[-1]}" if twice else None
        wrong = {key: f"{self.counts.get(key, 0)} instead of {n}" for key, n in self.right.items()}
        counted = ", ".join(f"{key} {count}" for key, count in (self.right if self.is_right else wrong).items())
        return (
            f"{self.crash}; Flink restored {restored}.\n"
            f"The counts are {'right' if self.is_right else 'wrong'}: {counted}.\n"
            f"{again or 'No number was worked on twice'}."
        )


def recovery_code() -> Program:
    """Give the program that `recover` runs: it can be saved and run alone.

    Returns
    -------
    Program
        Text that a notebook shows as code. Save it with ``.save(folder)``.
    """
    return Program(program.source("recovery_job.txt"), "recovery")


def recover(source: str = "sequence", cluster: Cluster | bool | None = None, limit_s: float = LIMIT_S) -> Recovery:
    """Run a job that counts numbers, let it crash once after a checkpoint, and say what the result is.

    Parameters
    ----------
    source
        ``"sequence"``: a source that reads again from where the checkpoint says. ``"list"``: one that cannot go back.
    cluster
        From `wmviz.flink.cluster`; or True: one that is started for this run and stopped after it. If it was started
        here the crash is the death of the TaskManager that runs the job; otherwise, and without a cluster, it is an
        error in a Python function.
    limit_s
        Seconds after which the job is cancelled.

    Returns
    -------
    Recovery
        The counts, what was done twice, and the checkpoints. Where PyFlink is missing, and no cluster is given, they
        are those of a recorded run.

    Raises
    ------
    FlinkError
        If Flink is not there for a cluster, the job does not end in time, or it ended without a crash.
    ScenarioError
        If the source is neither.
    """
    if source not in SOURCES:
        raise ScenarioError(f'source is {source!r}; write "sequence" or "list"')
    if not (cluster is None or cluster is True or isinstance(cluster, Cluster)):
        raise ScenarioError(f"cluster is {cluster!r}; make one with wmviz.flink.cluster(), or write True")
    name = source if cluster is None else f"{source}-cluster"
    can, why = startup.available()
    if not can and not isinstance(cluster, Cluster):
        recorded.show_label(ENGINE, why)
        return _recorded(name)
    if cluster is True:
        with start_cluster() as own:
            done = _recover(source, own, limit_s)
    else:
        done = _recover(source, cluster, limit_s)
    if os.environ.get(RECORD_SWITCH) and not isinstance(cluster, Cluster):
        _record(done, name)
    return done


def _recover(source: str, cluster: Cluster | None, limit_s: float) -> Recovery:
    startup.job()
    victim = cluster if cluster is not None and cluster.folder is not None else None
    with tempfile.TemporaryDirectory(prefix="wmviz-recovery-") as name:
        folder = Path(name)
        job = recovery_code().load()
        settings = job.settings(name)
        if cluster is not None:
            del settings["python.execution-mode"]  # that is up to the cluster
        rest = Rest(f"localhost:{free_port()}") if cluster is None else cluster.rest
        if victim is not None and len(victim.taskmanagers()) < 2:
            victim.start_taskmanager()  # one must be left
        with startup.sentences(), startup.tidy():
            env = _environment(settings, rest) if cluster is None else cluster.environment(settings)
            stream = job.build(env, name, source, crashes=victim is None)
        watch = _Watch(rest, folder, victim)
        try:
            with watch:
                lines = startup.collect(stream, watch.name, limit_s)
        except KeyboardInterrupt:
            watch.cancel()
            raise
        if not (folder / "crashed").exists():
            raise FlinkError("The job ended before a checkpoint was complete, so it never crashed; run it again.")
        effects = folder / "side-effects"
        worked = tuple(map(int, effects.read_text(encoding="utf-8").split())) if effects.exists() else ()
    counts: dict[str, int] = {}
    for line in map(json.loads, lines):
        counts[line["key"]] = line["count"]
    right = dict.fromkeys(job.KEYS, job.NUMBERS // len(job.KEYS))
    return Recovery(source, watch.crash, counts, right, worked, watch.restored_from, tuple(watch.history))


def _recorded(name: str) -> Recovery:
    data = json.loads((RECORDINGS / f"{name}.json").read_text(encoding="utf-8"))
    return Recovery(**{**data, "worked": tuple(data["worked"]), "history": tuple(data["history"])})


def _record(done: Recovery, name: str) -> None:
    history = [{name: each[name] for name in KEPT} for each in done.history]
    RECORDINGS.mkdir(exist_ok=True)
    data = {**asdict(done), "history": history}
    (RECORDINGS / f"{name}.json").write_text(json_text(data), encoding="utf-8")


class _Watch:
    """Looks at a job over REST while it runs and, if it is to, kills the TaskManager after a checkpoint."""

    def __init__(self, rest: Rest, folder: Path, victim: Cluster | None) -> None:
        self.name = f"recovery {time.time_ns():x}"
        self.crash = "A Python function raised an error"
        self.restored_from: int | None = None
        self.history: list[dict[str, Any]] = []
        self._rest, self._folder, self._victim = rest, folder, victim
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(30)
        with suppress(FlinkError):
            self._look()

    def _run(self) -> None:
        worked_then = None
        while not self._over.wait(POLL_S):
            with suppress(FlinkError):
                self._look()
            if self._victim is None or sum(each["status"] == "COMPLETED" for each in self.history) < COMPLETE:
                continue
            worked = _lines(self._folder / "side-effects")
            worked_then = worked if worked_then is None else worked_then
            if worked >= worked_then + NUMBERS_LATER:
                with suppress(FlinkError):
                    busy = self._victim.busy_taskmanager(self._job())
                    self.crash = f"{self._victim.kill_taskmanager(busy)} was killed"
                    (self._folder / "crashed").touch()
                    self._victim = None

    def cancel(self) -> None:
        """Cancel the job; if it is not there yet, wait for it a little."""
        deadline = time.monotonic() + CANCEL_S
        while time.monotonic() < deadline:
            with suppress(FlinkError):
                if job := self._job():
                    self._rest.ask("PATCH", f"/jobs/{job}?mode=cancel")
                    return
            time.sleep(POLL_S)

    def _job(self) -> str | None:
        jobs = self._rest.get("/jobs/overview", 2)["jobs"]
        return next((str(job["jid"]) for job in jobs if job["name"] == self.name), None)

    def _look(self) -> None:
        job = self._job()
        if job is None:
            return
        told = self._rest.get(f"/jobs/{job}/checkpoints", 2)
        self.history = told["history"] or self.history
        restored = told["latest"]["restored"]
        self.restored_from = restored["id"] if restored else self.restored_from


def _lines(path: Path) -> int:
    return len(path.read_bytes().splitlines()) if path.exists() else 0


def _environment(settings: dict[str, str], rest: Rest) -> Any:
    from pyflink.common import Configuration
    from pyflink.datastream import StreamExecutionEnvironment

    chosen = Configuration()
    for name, value in {**settings, "rest.port": str(rest.port), "web.refresh-interval": "100"}.items():
        chosen.set_string(name, value)
    return StreamExecutionEnvironment.get_execution_environment(chosen)
