"""The programs that are shown: they are complete, safe, and do the same as `run`."""

import json
import os
import subprocess
import sys

import pytest

import wmviz
from tests.random_scenarios import random_inputs, random_scenarios
from wmviz.flink import code, strategy_source
from wmviz.flink.report import Report
from wmviz.scenario import Scenario

FORMS = ("replay", "work")
NASTY = 'x"""\n\\import os\x00\'${name} $title {x}'


def run_alone(program, folder):
    """Run a program where wmviz cannot be imported, neither in it nor in the Python inside Flink."""
    blocked = folder / "blocked"
    blocked.mkdir()
    (blocked / "wmviz.py").write_text("raise ImportError('wmviz is blocked here')")
    environment = {**os.environ, "PYTHONPATH": str(blocked)}
    blocks = subprocess.run([sys.executable, "-c", "import wmviz"], env=environment, cwd=folder, capture_output=True)
    assert blocks.returncode != 0, "wmviz must not be importable in this test"
    done = subprocess.run(
        [sys.executable, str(program.save(folder))],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def report_of(lines):
    report = Report("Flink 2.3.0")
    for line in lines:
        report.take(line)
    return report


@pytest.mark.parametrize("form", FORMS)
def test_every_program_compiles_and_imports_what_it_uses(form, tmp_path):
    for number, scenario in enumerate([*random_scenarios(60, seed=3), *random_inputs(40, seed=3)]):
        program = code(scenario, form)
        compile(program, program.name, "exec")
        (tmp_path / f"p{number}.py").write_text(program)
    unused_or_undefined = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F,E9,W6", str(tmp_path)]
    done = subprocess.run(unused_or_undefined, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("form", FORMS)
def test_text_from_a_scenario_stays_data(form):
    rows = [[NASTY, 1, 0], ["r9", 2, 7_200_000]]
    program = code(Scenario.of(name=NASTY, title=NASTY, about=NASTY, events=rows), form)
    names = {}
    exec(compile(program.split("# --- the pipeline")[0], "program", "exec"), {"__file__": "x"}, names)
    assert names["ROWS"][0][1] == NASTY
    assert program.name == names["NAME"] == "x-import-os-name-title-x"


def test_large_scenarios_have_their_events_in_a_file_beside(tmp_path):
    scenario = wmviz.scenario("busy-saturday").sample(20)
    program = code(scenario)
    path = program.save(tmp_path)
    rows = [json.loads(line) for line in path.with_suffix(".jsonl").read_text().splitlines()]
    assert [row[0] for row in rows] == [event.id for event in scenario.events]
    assert "r1@" not in program


def test_a_notebook_shows_it_as_code():
    program = code(wmviz.scenario("leaderboard"))
    assert program._repr_markdown_() == f"```python\n{program}```"
    assert strategy_source() in program
    assert "withIdleness" not in program


def test_an_unknown_form_is_refused():
    with pytest.raises(ValueError, match='write "replay" or "work"'):
        code(wmviz.scenario("leaderboard"), "home")


def test_the_forms_differ_in_the_strategy():
    scenario = wmviz.scenario("leaderboard").replace(bound="2 min")
    assert "replay.ReplayStrategy" in code(scenario)
    work = code(scenario, "work")
    assert "WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(120000))" in work
    assert "ReplayStrategy" not in work
    assert work.index("for_bounded") < work.index("with_timestamp_assigner")


@pytest.mark.flink
def test_a_program_alone_reports_the_same_as_run(tmp_path):
    scenario = wmviz.scenario("leaderboard")
    report = report_of(run_alone(code(scenario), tmp_path))
    assert report.trace(scenario).outcomes() == wmviz.flink.run(scenario).outcomes()
    assert report.firings


@pytest.mark.flink
def test_a_program_with_ticks_and_a_file_of_events_reports_the_same_as_run(tmp_path):
    scenario = wmviz.scenario("busy-saturday").sample(20)
    scenario = scenario.replace(emission="interval", interval="1 min", late_to="drop", lateness=0, aggregate="average")
    report = report_of(run_alone(code(scenario), tmp_path))
    assert report.trace(scenario).outcomes() == wmviz.flink.run(scenario).outcomes()
    assert report.dropped > 0


@pytest.mark.flink
def test_a_program_with_several_inputs_reports_the_same_as_run(tmp_path):
    scenario = wmviz.scenario("idle-bet").replace(end_of_input="9:01")
    report = report_of(run_alone(code(scenario), tmp_path))
    assert report.trace(scenario).outcomes() == wmviz.flink.run(scenario).outcomes()
    assert report.firings


@pytest.mark.flink
def test_at_work_nothing_in_a_short_list_is_late(tmp_path):
    """The form of work shows why the replay form is needed: no event meets a watermark, all windows fire at the end."""
    scenario = wmviz.scenario("leaderboard")
    report = report_of(run_alone(code(scenario, "work"), tmp_path))
    assert set(report.seen) == {event.id for event in scenario.events}
    assert not report.late
    assert {firing.watermark_ms for firing in report.firings} == {2**63 - 1}
