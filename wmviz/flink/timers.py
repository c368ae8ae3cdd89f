"""Timers by two clocks, and state with a time to live, on real Flink: who calls a timer, and who deletes state."""

from __future__ import annotations

import json
import os

from wmviz.flink import program, recorded, startup
from wmviz.flink.program import Program
from wmviz.flink.replay import RECORD_SWITCH
from wmviz.flink.startup import ENGINE, LIMIT_S, FlinkError
from wmviz.flink.traps_pyflink import run_program
from wmviz.scenario import json_text

RECORDING = recorded.FOLDER / "timers" / "timers.json"


def timers_code() -> Program:
    """Give the program that `timers` runs: it can be saved and run alone."""
    return Program(program.source("timers_job.txt"), "timers")


def timers(limit_s: float = LIMIT_S) -> tuple[str, ...]:
    """Run a job with timers by both clocks and with state that expires, and give what it printed, sorted.

    Parameters
    ----------
    limit_s
        Seconds after which the job is cancelled.

    Returns
    -------
    tuple of str
        A line for each call of a timer, and for each count. Where PyFlink is missing, those of a recorded run.

    Raises
    ------
    FlinkError
        If the job fails or does not end in time.
    """
    can, why = startup.available()
    if not can:
        recorded.show_label(ENGINE, why)
        return tuple(json.loads(RECORDING.read_text(encoding="utf-8"))["lines"])
    outcome = run_program(timers_code(), limit_s)
    if outcome.error is not None:
        raise FlinkError(outcome.error)
    if os.environ.get(RECORD_SWITCH):
        RECORDING.parent.mkdir(exist_ok=True)
        RECORDING.write_text(json_text({"lines": list(outcome.lines)}), encoding="utf-8")
    return outcome.lines
