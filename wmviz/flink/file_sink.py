"""A sink that commits with the checkpoint, on real Flink: Flink's FileSink, and what a reader of its files finds."""

from __future__ import annotations

import json
import os
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from wmviz.flink import program, recorded, startup
from wmviz.flink.program import Program
from wmviz.flink.replay import RECORD_SWITCH
from wmviz.flink.startup import ENGINE, LIMIT_S, FlinkError
from wmviz.scenario import json_text

RECORDINGS = recorded.FOLDER / "file_sink"


@dataclass(frozen=True)
class Written:
    """What a job that crashed once has written to files.

    Attributes
    ----------
    checkpoints
        Whether it took checkpoints.
    numbers
        How many numbers there are.
    looks
        While it ran, whenever it changed: how many rows stood in finished files, and how many in hidden ones.
    finished, hidden
        The numbers in finished files in the end, and those that were left in hidden ones.
    """

    checkpoints: bool
    numbers: int
    looks: tuple[tuple[int, int], ...]
    finished: tuple[int, ...]
    hidden: tuple[int, ...]

    @property
    def is_right(self) -> bool:
        """Whether the finished files have each number once."""
        return sorted(self.finished) == list(range(self.numbers))

    @property
    def visible_before_the_end(self) -> bool:
        """Whether a reader found some rows, but not all, while the job ran."""
        return any(0 < finished < self.numbers for finished, _ in self.looks)

    def __repr__(self) -> str:
        """Tell it in sentences."""
        with_them = "With" if self.checkpoints else "Without"
        steps = [finished for i, (finished, _) in enumerate(self.looks) if not i or finished != self.looks[i - 1][0]]
        right = "each number once" if self.is_right else "not each number once"
        left = f"{len(self.hidden)} row{' was' if len(self.hidden) == 1 else 's were'} left in hidden files"
        return (
            f"{with_them} checkpoints the finished files had {', '.join(map(str, steps))} rows, one after the other.\n"
            f"In the end they have {right}.\n{left}."
        )


def file_sink_code() -> Program:
    """Give the program that `write_files` runs: it can be saved and run alone."""
    return Program(program.source("file_sink_job.txt"), "file_sink")


def write_files(checkpoints: bool = True, limit_s: float = LIMIT_S) -> Written:
    """Run a job that writes numbers with Flink's FileSink and crashes once, and say what a reader finds meanwhile.

    Parameters
    ----------
    checkpoints
        Whether it takes checkpoints, one each second.
    limit_s
        Seconds after which the job is cancelled.

    Returns
    -------
    Written
        Rows in finished and in hidden files. Where PyFlink is missing they are those of a recorded run.

    Raises
    ------
    FlinkError
        If the job fails, does not end in time, or ended without a crash.
    """
    can, why = startup.available()
    if not can:
        recorded.show_label(ENGINE, why)
        return _recorded(checkpoints)
    startup.job()
    job = file_sink_code().load()
    looks: list[tuple[int, int]] = []
    with tempfile.TemporaryDirectory(prefix="wmviz-file-sink-") as folder:

        def look() -> None:
            finished, hidden = map(len, job.rows(folder))
            if not looks or looks[-1] != (finished, hidden):
                looks.append((finished, hidden))

        with startup.sentences(), startup.tidy():
            env = _environment(job.settings(folder, checkpoints))
            try:
                job.run(env, folder, f"file sink {time.time_ns():x}", look, limit_s)
            except TimeoutError as error:
                raise FlinkError(str(error)) from None
        if not os.path.exists(os.path.join(folder, "crashed")):
            raise FlinkError("The job ended before a checkpoint was complete, so it never crashed; run it again.")
        finished, hidden = job.rows(folder)
    done = Written(checkpoints, job.NUMBERS, tuple(looks), tuple(finished), tuple(hidden))
    if os.environ.get(RECORD_SWITCH):
        RECORDINGS.mkdir(exist_ok=True)
        _path(checkpoints).write_text(json_text(asdict(done)), encoding="utf-8")
    return done


def _path(checkpoints: bool) -> Path:
    return RECORDINGS / f"{'on' if checkpoints else 'off'}.json"


def _recorded(checkpoints: bool) -> Written:
    data = json.loads(_path(checkpoints).read_text(encoding="utf-8"))
    looks = tuple((finished, hidden) for finished, hidden in data["looks"])
    return Written(**{**data, "looks": looks, "finished": tuple(data["finished"]), "hidden": tuple(data["hidden"])})


def _environment(settings: dict[str, str]) -> object:
    from pyflink.common import Configuration
    from pyflink.datastream import StreamExecutionEnvironment

    chosen = Configuration()
    for name, value in settings.items():
        chosen.set_string(name, value)
    return StreamExecutionEnvironment.get_execution_environment(chosen)
