"""Every committed notebook: its shape, its outputs, its links; every sheet: up to date, and nothing leaks."""

import importlib.util
import re
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from tests.sums import check_sums
from wmviz import course
from wmviz.flink import startup

ROOT = Path(__file__).resolve().parent.parent.parent
START = ROOT / "notebooks" / "00-start-here.ipynb"
# The exam and what stands behind it, the notebooks for an interview, are no lessons and have a shape of their own.
APART = sorted(path for path in (ROOT / "notebooks").glob("*.ipynb") if path.stem >= "18")
LESSONS = sorted(set((ROOT / "notebooks").glob("*.ipynb")) - {START, *APART})
SOLUTIONS = sorted((ROOT / "solutions").glob("*.ipynb"))
EXERCISES = sorted((ROOT / "exercises").glob("*.ipynb"))
EXECUTED = [START, *LESSONS, *APART, *SOLUTIONS]
MACHINE = re.compile(r"/(?:root|home|work|tmp|usr|Users|var)/|[A-Z]:\\|site-packages|\.venv|at 0x[0-9a-f]{6,}")
NAMES = {"ids": lambda path: f"{path.parent.name}/{path.stem}"}

# The parts of a lesson, in their order: what is looked for in the text of a cell.
PARTS = [
    r"^# \d+ · ",
    r"^\*\*After this lesson you can\*\*",
    r"^course\.predict\(",
    r"^wmviz\.play\(",
    r"^course\.outcome\(",
    r"^## The same on real Flink",
    r"wmviz\.flink\.code\(",
    r"wmviz\.compare\(",
    r"^## A trap",
    r"^## Check yourself",
    r"^course\.(quiz|check)\(",
    r"^## Key points",
    r"^## Where to read on",
]


@cache
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("notebooks_tool", ROOT / "tools" / "notebooks.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@cache
def cells_of(path: Path):
    return tool().read(path).cells


def code_cells(path):
    return [cell for cell in cells_of(path) if cell.cell_type == "code"]


def prose(path):
    return "\n\n".join(cell.source for cell in cells_of(path) if cell.cell_type == "markdown")


def test_there_are_lessons():
    assert START.exists()
    assert LESSONS


@pytest.mark.parametrize("path", LESSONS, **NAMES)
def test_a_lesson_has_all_its_parts_in_order(path):
    at = 0
    sources = [cell.source for cell in cells_of(path)]
    for part in PARTS:
        found = [i for i, source in enumerate(sources) if i >= at and re.search(part, source, re.MULTILINE)]
        assert found, f"no cell from {at} on has {part}"
        at = found[0]


@pytest.mark.parametrize("path", EXERCISES, **NAMES)
def test_a_sheet_has_a_solution_and_a_lesson_that_names_it(path):
    assert (ROOT / "solutions" / path.name).exists()
    assert f"../exercises/{path.name}" in prose(ROOT / "notebooks" / path.name)


@pytest.mark.parametrize("path", LESSONS, **NAMES)
def test_one_idea_a_cell(path):
    for cell in cells_of(path):
        limit = 20 if cell.cell_type == "code" else 16
        assert len(cell.source.splitlines()) <= limit, cell.id
        assert len(cell.source) <= 1_300, cell.id


def test_the_map_lists_what_exists_and_nothing_else():
    linked = re.findall(r"\]\(([^)]+\.ipynb)\)", prose(START))
    assert sorted({name for name in linked if "/" not in name}) == [path.name for path in [*LESSONS, *APART]]
    assert sorted({Path(name).name for name in linked if "exercises/" in name}) == [path.name for path in EXERCISES]


@pytest.mark.parametrize("path", [*EXECUTED, *EXERCISES], **NAMES)
def test_links_between_notebooks_lead_somewhere(path):
    for target in re.findall(r"\]\(((?!https?:)[^)#]+)\)", prose(path)):
        assert (path.parent / target).exists(), target


@pytest.mark.parametrize("path", [*EXECUTED, *EXERCISES], **NAMES)
def test_files_named_in_the_text_exist(path):
    for name in re.findall(r"`(wmviz/[\w/.]+)`", prose(path)):
        assert (ROOT / name).exists(), name


@pytest.mark.parametrize("path", EXECUTED, **NAMES)
def test_it_is_committed_executed_from_top_to_bottom(path):
    cells = code_cells(path)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    for cell in cells:
        for output in cell.outputs:
            assert output.output_type != "error", cell.id
            assert output.get("name") != "stderr", cell.id


@pytest.mark.parametrize("path", EXECUTED, **NAMES)
def test_outputs_hold_nothing_of_this_machine_and_no_widget(path):
    for cell in code_cells(path):
        for output in cell.outputs:
            data = output.get("data", {"text/plain": output.get("text", "")})
            assert tool().WIDGET_VIEW not in data, cell.id
            for mime, content in data.items():
                if mime.startswith("text/"):
                    found = MACHINE.search(re.sub(r"base64,[\w+/=]+", "", str(content)))
                    assert not found, (cell.id, found)


@pytest.mark.parametrize("path", EXECUTED, **NAMES)
def test_a_cell_that_ends_in_an_expression_shows_something(path):
    for cell in code_cells(path):
        if re.match(r"course\.|wmviz\.|print\(|t\.explain", cell.source.splitlines()[-1]):
            assert cell.outputs, cell.id


@pytest.mark.parametrize("path", [*EXECUTED, *EXERCISES], **NAMES)
def test_metadata_are_normalised(path):
    assert tool().read(path).metadata == tool().KERNEL


@pytest.mark.parametrize("path", [*EXECUTED, *EXERCISES], **NAMES)
def test_every_sum_in_the_text_is_right(path):
    check_sums(prose(path))


@pytest.mark.parametrize("path", [*EXECUTED, *EXERCISES], **NAMES)
def test_it_speaks_of_the_project_only(path):
    assert not re.search(r"\bTODO\b|\bissue #?\d|shared/|localhost", prose(path), re.IGNORECASE)


def test_sheets_are_up_to_date_and_notebooks_normalised():
    assert tool().check() == []


@pytest.mark.parametrize("path", EXERCISES, **NAMES)
def test_a_sheet_has_no_outputs_no_marks_and_no_answers(path):
    text = path.read_text(encoding="utf-8")
    for cell in code_cells(path):
        assert cell.outputs == []
        assert cell.execution_count is None
    for mark in (tool().BEGIN, tool().INSTEAD, tool().END, '"solution"'):
        assert mark not in text
    lines = {line.strip() for cell in cells_of(path) for line in cell.source.splitlines()}
    assert not lines & set(tool().answers_of(tool().read(ROOT / "solutions" / path.name)))


@pytest.mark.parametrize("path", SOLUTIONS, **NAMES)
def test_no_literal_answer_of_a_solution_is_found_in_the_sheet(path):
    sheet = (ROOT / "exercises" / path.name).read_text(encoding="utf-8")
    answers = "\n".join(line for line in tool().answers_of(tool().read(path)) if re.match(r"\w+ = \"", line))
    literals = [text for text in re.findall(r'"([^"]+)"', answers) if "min" not in text and "@" not in text]
    assert literals
    assert not [text for text in literals if text in sheet]


def run(path, monkeypatch):
    """Run the cells of a notebook here, without a kernel, and give the verdicts."""
    verdicts = {}
    check = course.check

    def remembering(item, *answer):
        verdicts[item] = check(item, *answer)
        return verdicts[item]

    monkeypatch.setattr(course, "check", remembering)
    namespace: dict[str, object] = {}
    for cell in code_cells(path):
        exec(compile(cell.source, cell.id, "exec"), namespace)
    return verdicts


@pytest.fixture
def still(monkeypatch):
    monkeypatch.setenv("WMVIZ_STAGE", "still")


@pytest.mark.parametrize("path", EXERCISES, **NAMES)
@pytest.mark.usefixtures("still")
def test_an_untouched_sheet_runs_clean_and_says_not_yet(path, monkeypatch):
    verdicts = run(path, monkeypatch)
    assert len(verdicts) >= 4
    assert {verdict.state for verdict in verdicts.values()} == {"not yet"}


@pytest.mark.parametrize("path", SOLUTIONS, **NAMES)
@pytest.mark.usefixtures("still")
def test_a_solution_passes_every_check(path, monkeypatch):
    """Without PyFlink: nbval runs the solutions with it."""
    monkeypatch.setattr(startup, "available", lambda: (False, "PyFlink is not installed."))
    verdicts = run(path, monkeypatch)
    assert {item: verdict.sentence for item, verdict in verdicts.items() if not verdict.right} == {}
    assert len(verdicts) >= 4
