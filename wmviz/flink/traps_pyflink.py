"""The traps of PyFlink and of event time, to be run: for each a broken program and a mended one, on real Flink.

Each text in ``wmviz/flink/traps/`` holds both programs. A line with ``-`` in front is in the broken one only, a line
with ``+`` in the mended one only, and ``@name`` stands for a piece that several programs share.
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wmviz.flink import program, recorded, startup
from wmviz.flink.program import Program
from wmviz.flink.replay import RECORD_SWITCH, jar
from wmviz.flink.startup import ENGINE, LIMIT_S, FlinkError
from wmviz.scenario import ScenarioError, json_text

if TYPE_CHECKING:
    import pandas as pd

MOST_RUNS = 3
WITHOUT_SENTENCE = "java.lang.NullPointerException"
RECORDINGS = recorded.FOLDER / "traps"
JOB_FUNCTIONS = ("choose_java", "compile_java", "environment")


@dataclass(frozen=True)
class Outcome:
    """What came of one program.

    Attributes
    ----------
    lines
        What it printed, sorted: the order between two streams is not fixed.
    error
        Why it failed, the last cause in a sentence, or None.
    """

    lines: tuple[str, ...]
    error: str | None = None

    def __repr__(self) -> str:
        """Tell it: a line for each line, or the error."""
        return "\n".join(self.lines) if self.error is None else f"fails: {self.error}"


def _shows(text: str) -> Callable[[Outcome], bool]:
    return lambda outcome: any(text in line for line in outcome.lines)


def _lacks(text: str) -> Callable[[Outcome], bool]:
    return lambda outcome: outcome.error is None and not _shows(text)(outcome)


def _fails(text: str) -> Callable[[Outcome], bool]:
    return lambda outcome: text in (outcome.error or "")


@dataclass(frozen=True)
class Trap:
    """A mistake that real people make, as two programs that differ in it only.

    Attributes
    ----------
    name
        As ``wmviz.flink.trap`` takes it.
    title
        The mistake.
    symptom
        What the broken program does and the mended one does not.
    """

    name: str
    title: str
    symptom: str
    _has: Callable[[Outcome], bool] = field(repr=False)

    @property
    def broken(self) -> Program:
        """The program that falls into the trap, complete: save it with ``.save(folder)``."""
        return Program(_text(self.name, "-"), f"{self.name}-broken")

    @property
    def mended(self) -> Program:
        """The program that does not."""
        return Program(_text(self.name, "+"), f"{self.name}-mended")

    @property
    def difference(self) -> str:
        """What differs between the two, as a diff: lines of the broken one begin with -, of the mended one with +."""
        before, after = self.broken.splitlines(), self.mended.splitlines()
        changes = list(difflib.unified_diff(before, after, lineterm="", n=1))[2:]
        return "\n".join("" if line.startswith("@@") else line.rstrip() for line in changes).strip("\n")

    @property
    def recorded(self) -> TrapRun:
        """What came of the two programs when they were recorded."""
        data = json.loads(_path(self).read_text(encoding="utf-8"))
        forms = (data["broken"], data["mended"])
        return TrapRun(self, *(Outcome(tuple(form["lines"]), form["error"]) for form in forms))

    def run(self, limit_s: float = LIMIT_S) -> TrapRun:
        """Run both programs on Flink.

        Parameters
        ----------
        limit_s
            Seconds after which each of the two jobs is cancelled.

        Returns
        -------
        TrapRun
            What each printed, or its error. Where PyFlink is missing, that of a recorded run.

        Raises
        ------
        FlinkError
            If PyFlink is there but cannot be started.
        """
        can, why = startup.available()
        if not can:
            recorded.show_label(ENGINE, why)
            return self.recorded
        done = _run(self, limit_s)
        if os.environ.get(RECORD_SWITCH):
            _record(done)
        return done

    def __repr__(self) -> str:
        """Tell it in a sentence."""
        return f"{self.name}: {self.title}. The broken program {self.symptom}; the mended one does not."


@dataclass(frozen=True)
class TrapRun:
    """What came of the two programs of a trap.

    Attributes
    ----------
    trap
        Which trap.
    broken, mended
        What each program printed, or its error.
    """

    trap: Trap
    broken: Outcome
    mended: Outcome

    @property
    def shown(self) -> bool:
        """Whether the broken program has the symptom, and the mended one runs to its end without it."""
        return self.trap._has(self.broken) and not self.trap._has(self.mended) and self.mended.error is None

    @property
    def verdict(self) -> str:
        """What the two runs say."""
        if self.shown:
            return f"The broken program {self.trap.symptom}; the mended one does not."
        return f"These runs do not show the trap, which is that the broken program {self.trap.symptom}."

    def __repr__(self) -> str:
        """Tell it line by line."""
        return "\n".join([*_told("broken", self.broken), *_told("mended", self.mended), f"→ {self.verdict}"])

    def _repr_html_(self) -> str:
        rows = (("broken", self.broken), ("mended", self.mended))
        cells = "".join(
            f'<tr><th style="text-align:left;vertical-align:top">{name}</th>'
            f'<td style="text-align:left;white-space:pre-wrap">{escape(repr(outcome))}</td></tr>'
            for name, outcome in rows
        )
        return f"<table>{cells}</table><p>{escape(self.verdict)}</p>"


def _told(name: str, outcome: Outcome) -> list[str]:
    lines = repr(outcome).splitlines() or ["prints nothing"]
    return [f"{name if i == 0 else '':8}{line}" for i, line in enumerate(lines)]


NO_TIMESTAMP = "Long.MIN_VALUE timestamp"
_AT_THE_WINDOW = "fails at the window: its records have no timestamp"
_TRAPS = {
    trap.name: trap
    for trap in (
        Trap(
            "assigner-before-idleness",
            "with_idleness comes after with_timestamp_assigner, and loses the assigner",
            _AT_THE_WINDOW,
            _fails(NO_TIMESTAMP),
        ),
        Trap(
            "assigner-before-alignment",
            "with_watermark_alignment comes after with_timestamp_assigner, and loses the assigner",
            _AT_THE_WINDOW,
            _fails(NO_TIMESTAMP),
        ),
        Trap(
            "assigner-on-the-source",
            "from_source gets a strategy with a Python assigner, and ignores the assigner",
            _AT_THE_WINDOW,
            _fails(NO_TIMESTAMP),
        ),
        Trap(
            "shared-type-information",
            "an OutputTag and a stream share one object of type information",
            "fails before it starts: PyFlink cannot copy the tag for its workers",
            _fails("cannot pickle"),
        ),
        Trap(
            "wrong-python",
            "the workers get a Python that lacks PyFlink",
            "fails when its worker is to start",
            _fails("No module named 'pyflink'"),
        ),
        Trap(
            "nothing-late",
            "a test for late events on a list that is read in an instant",
            "has an empty side output",
            _lacks("late: "),
        ),
        Trap(
            "no-watermark-interval",
            "the watermark interval is 0, so a periodic strategy never emits",
            "fires at the end of the input only",
            _lacks("in time"),
        ),
        Trap(
            "seconds-for-milliseconds",
            "the assigner gives seconds, and Flink takes them for milliseconds",
            "counts in January 1970, all in one hour",
            _shows("1970-01"),
        ),
        Trap(
            "wrong-field",
            "the assigner gives the arrival time, not the event time",
            "counts a kilometre of 6 am for 7 am, without any error",
            _shows("7 am r4471"),
        ),
        Trap(
            "constant-field",
            "the assigner gives a field that is the same in every row",
            "puts all rows into one window",
            _lacks("7 am"),
        ),
        Trap(
            "null-timestamps",
            "some rows have no time",
            "fails at the first row without a time",
            _fails("is null"),
        ),
        Trap(
            "sql-minus-1-ms",
            "SQL takes newest time − bound as it stands; the DataStream API takes 1 ms off",
            "drops a row that is out of order by exactly the bound",
            _lacks("6 am r9 2500 m"),
        ),
        Trap(
            "two-phase-dropped",
            "SQL adds up in two phases, and the counter of late rows sees what is left of them",
            "counts one dropped row where there are three",
            _shows("numLateRecordsDropped: 1"),
        ),
    )
}


def traps() -> pd.DataFrame:
    """List the traps: name and mistake.

    One more, a source that cannot go back after a crash, is ``wmviz.flink.recover("list")``.
    """
    import pandas as pd

    return pd.DataFrame([(trap.name, trap.title) for trap in _TRAPS.values()], columns=["trap", "mistake"])


def trap(name: str) -> Trap:
    """Give a trap by its name.

    Parameters
    ----------
    name
        One of ``wmviz.flink.traps()``.

    Raises
    ------
    ScenarioError
        If there is none of this name.
    """
    if name in _TRAPS:
        return _TRAPS[name]
    close = difflib.get_close_matches(str(name), _TRAPS, n=1)
    hint = f"did you mean {close[0]!r}?" if close else "wmviz.flink.traps() lists them"
    raise ScenarioError(f"there is no trap {name!r}; {hint}")


# ---------------------------------------------------------------------------------------------------- the programs


def _text(name: str, mark: str) -> str:
    """Give the text of a program: common lines, and those with this mark."""
    return "\n".join(_lines(name, mark)) + "\n"


def _lines(name: str, mark: str) -> list[str]:
    found: list[str] = []
    for line in program.source(f"traps/{name}.txt").splitlines():
        if line.startswith("@"):
            found += _shared(line[1:], mark)
        elif not line.startswith(("-", "+")):
            found.append(line)
        elif line.startswith(mark):
            # The mark stands in the place of a blank, if the line begins with blanks.
            found.append(" " + line[1:] if line[1:].startswith(" ") else line[1:])
    return found


def _shared(name: str, mark: str) -> list[str]:
    if name == "late_counter":
        return [f'LATE_COUNTER = """\\\n{program.source("LateCounter.java")}"""']
    if name == "job":
        return [program._functions(JOB_FUNCTIONS)]
    return _lines(f"_{name}", mark)


# -------------------------------------------------------------------------------------------------------- the runs


def _run(trap: Trap, limit_s: float) -> TrapRun:
    return TrapRun(trap, *(run_program(text, limit_s) for text in (trap.broken, trap.mended)))


def run_program(text: Program, limit_s: float = LIMIT_S) -> Outcome:
    """Run a program of a trap on Flink in this process, and say what came of it."""
    # Flink has a weak reference to what was thrown, and its bytes. When Java's garbage collector has taken the former
    # away, the exception that is made of the bytes has lost Java's sentence about what was null.
    runs = (_run_once(text, limit_s) for _ in range(MOST_RUNS))
    return next((outcome for outcome in runs if outcome.error != WITHOUT_SENTENCE), Outcome((), WITHOUT_SENTENCE))


def _run_once(text: Program, limit_s: float) -> Outcome:
    job = startup.job()
    classes = jar()
    try:
        with startup.tidy(), startup.sentences():
            module = text.load()
            lines = startup.collect(module.build(job.environment(classes)), text.name, limit_s)
            if hasattr(module, "counted"):
                lines.append(module.counted())
    except FlinkError as error:
        return Outcome((), _last_cause(error))
    except TypeError as error:  # from PyFlink, while the job is built
        return Outcome((), f"TypeError: {error}")
    finally:
        _forget_counters(job)
    return Outcome(tuple(sorted(lines)))


def _last_cause(error: FlinkError) -> str:
    """Give the last cause in one line; where it is a trace of Python, that is its last line."""
    if error.java_stack is None:
        return str(error)
    cause = error.java_stack.rpartition("Caused by: ")[2].partition("\n\tat ")[0].strip().splitlines()
    sentence = str(error).removeprefix("The Flink job failed: ").removeprefix("<class 'Exception'>: ")
    return cause[-1] if len(cause) > 1 else sentence


def _forget_counters(job: Any) -> None:
    """Take away the counters that our reporter has kept of a run."""
    kept = job.get_gateway().jvm.System.getProperties()
    for name in [name for name in kept.keySet() if str(name).startswith("numLateRecordsDropped")]:
        with suppress(KeyError):
            kept.remove(name)


def _path(trap: Trap) -> Path:
    return RECORDINGS / f"{trap.name}.json"


def _record(done: TrapRun) -> None:
    RECORDINGS.mkdir(exist_ok=True)
    forms = {"broken": done.broken, "mended": done.mended}
    data = {form: {"lines": list(outcome.lines), "error": outcome.error} for form, outcome in forms.items()}
    _path(done.trap).write_text(json_text(data), encoding="utf-8")


def record() -> None:
    """Run every trap and store what came of it."""
    for each in _TRAPS.values():
        _record(_run(each, LIMIT_S))
        print(_path(each))
