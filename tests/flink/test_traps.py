"""The traps: each one really run, the broken program with the symptom and the mended one without it; and recorded."""

import difflib
import os
import subprocess
import sys

import pytest

from wmviz.flink import FlinkError, startup, trap, traps, traps_pyflink
from wmviz.flink.program import Program
from wmviz.flink.traps_pyflink import NO_TIMESTAMP, Outcome, TrapRun, run_program
from wmviz.scenario import ScenarioError

NAMES = list(traps()["trap"])
LOST = ["assigner-before-idleness", "assigner-before-alignment", "assigner-on-the-source"]


@pytest.mark.parametrize("lost", [0, 1, 2, 3])
def test_an_exception_that_has_lost_its_sentence_is_asked_for_again(lost, monkeypatch):
    bare, whole = Outcome((), "java.lang.NullPointerException"), Outcome((), 'Cannot invoke "x" because "y" is null')
    runs = iter([bare] * lost + [whole])
    monkeypatch.setattr(traps_pyflink, "_run_once", lambda text, limit_s: next(runs))
    assert run_program(trap("null-timestamps").broken) == (whole if lost < 3 else bare)


@pytest.mark.flink
@pytest.mark.parametrize("name", NAMES)
def test_the_broken_program_has_the_symptom_and_the_mended_one_has_not(name):
    done = trap(name).run()
    assert done.shown, done
    assert done == trap(name).recorded, "the recording is what Flink does now"


@pytest.mark.flink
def test_with_checkpoints_a_wrong_python_is_not_even_an_error():
    """Flink restarts the job again and again, and nothing is printed."""
    broken = trap("wrong-python").broken
    begins = "    return env.from_collection"
    silent = Program(broken.replace(begins, f"    env.enable_checkpointing(1000)\n{begins}"), "silent")
    assert run_program(silent, 6) == Outcome((), "The Flink job did not end within 6 s and was cancelled.")


@pytest.mark.flink
def test_a_program_that_takes_too_long_is_cancelled_and_shows_nothing():
    done = trap("no-watermark-interval").run(limit_s=0)
    assert done.broken.error == "The Flink job did not end within 0 s and was cancelled."
    assert not done.shown
    assert done.verdict.startswith("These runs do not show the trap")
    names = startup.job().get_gateway().jvm.System.getProperties().keySet()
    assert not [name for name in names if str(name).startswith("numLateRecordsDropped")], "no counter is left"


@pytest.mark.flink
def test_a_program_runs_alone(tmp_path):
    path = trap("wrong-field").mended.save(tmp_path)
    command = [sys.executable, "-W", "ignore", str(path)]
    quick = {**os.environ, "JVM_ARGS": startup.SHORT_JOBS}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=quick)
    assert sorted(done.stdout.splitlines()) == list(trap("wrong-field").recorded.mended.lines), done.stderr[-2000:]


# Without Flink -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_where_flink_is_missing_a_recorded_run_is_given(monkeypatch, name):
    monkeypatch.setattr(startup, "available", lambda: (False, "PyFlink is not installed."))
    done = trap(name).run()
    assert done.shown
    assert done.verdict == f"The broken program {done.trap.symptom}; the mended one does not."
    assert "/" not in str((done.broken.error, done.mended.error)), "no path of the machine that it was made on"


@pytest.mark.parametrize("name", LOST)
def test_a_lost_assigner_is_a_missing_timestamp(name):
    assert NO_TIMESTAMP in trap(name).recorded.broken.error


@pytest.mark.parametrize("name", NAMES)
def test_both_programs_are_complete_and_differ_in_the_mistake_only(name, tmp_path):
    broken, mended = trap(name).broken, trap(name).mended
    for text in (broken, mended):
        compile(text, text.save(tmp_path), "exec")
        assert text._repr_markdown_().startswith('```python\n"""')
        assert not [line for line in text.splitlines() if line.startswith(("@", "+", "-"))]
    check = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F,E9,W6,I", str(tmp_path)]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    changed = [line for line in difflib.ndiff(broken.splitlines(), mended.splitlines()) if line[0] in "+-"]
    assert 2 <= len(changed) <= 6
    assert all(f"{line[0]}{line[2:]}" in trap(name).difference.splitlines() for line in changed)


def test_a_verdict_comes_from_the_runs():
    lost = trap("assigner-before-idleness")
    failed, printed = Outcome((), f"Record has Java {NO_TIMESTAMP}"), Outcome(("6 am r9 2500 m",))
    assert TrapRun(lost, failed, printed).shown
    assert not TrapRun(lost, printed, printed).shown
    assert not TrapRun(lost, failed, failed).shown
    assert not TrapRun(lost, failed, Outcome((), "The disk is full.")).shown
    late = trap("nothing-late")
    assert TrapRun(late, printed, Outcome(("6 am r9 1200 m", "late: r9 1300 m"))).shown
    assert not TrapRun(late, Outcome((), "The disk is full."), Outcome(("late: r9 1300 m",))).shown


def test_a_run_is_told_line_by_line_and_text_is_escaped():
    done = TrapRun(trap("wrong-field"), Outcome(("7 am r4471 1000 m", "<b>")), Outcome(()))
    assert repr(done).splitlines() == [
        "broken  7 am r4471 1000 m",
        "        <b>",
        "mended  prints nothing",
        "→ The broken program counts a kilometre of 6 am for 7 am, without any error; the mended one does not.",
    ]
    assert "&lt;b&gt;" in done._repr_html_()


def test_the_last_cause_comes_first():
    stack = "java.lang.Exception: outer\n\tat x\nCaused by: java.io.IOException: a command\nlast line\n\tat y\n"
    assert traps_pyflink._last_cause(FlinkError("The Flink job failed: a command", stack)) == "last line"
    plain = "java.lang.Exception: outer\n\tat x\nCaused by: java.lang.NullPointerException\n\tat y\n"
    assert traps_pyflink._last_cause(FlinkError("The Flink job failed: it is null", plain)) == "it is null"


def test_an_unknown_trap_is_refused_in_a_sentence():
    with pytest.raises(ScenarioError, match="there is no trap 'wrong-fild'; did you mean 'wrong-field'"):
        trap("wrong-fild")
    with pytest.raises(ScenarioError, match=r"there is no trap 7; wmviz.flink.traps\(\) lists them"):
        trap(7)
