"""The tool that runs, normalises and derives notebooks."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output


@pytest.fixture(scope="session")
def tool(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("notebooks_tool", root / "tools" / "notebooks.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


SOLUTION = """\
newest_ms = 5
# SOLUTION BEGIN
watermark = newest_ms - 2 - 1
# IN THE SHEET
# watermark = ...
# SOLUTION END
print(watermark)"""


def test_a_region_is_replaced_by_what_the_sheet_shows(tool):
    assert tool.without_answers(SOLUTION) == "newest_ms = 5\nwatermark = ...\nprint(watermark)"


def test_indentation_and_empty_lines_survive(tool):
    source = (
        "def f():\n    # SOLUTION BEGIN\n    return 1\n    # IN THE SHEET\n    # if x:\n    #     pass\n    #\n"
        "    # return ...\n    # SOLUTION END"
    )
    assert tool.without_answers(source) == "def f():\n    if x:\n        pass\n\n    return ..."


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("# SOLUTION BEGIN\nx = 1", "has no"),
        ("# SOLUTION BEGIN\nx = 1\n# SOLUTION END", "in this order"),
        ("# IN THE SHEET\n# x", "in this order"),
        ("# SOLUTION BEGIN\nx = 1\n# IN THE SHEET\nx = 2\n# SOLUTION END", "this one is not: 'x = 2'"),
    ],
)
def test_marks_that_do_not_fit_are_refused_with_a_sentence(tool, source, message):
    with pytest.raises(tool.SheetError, match=message):
        tool.without_answers(source)


def test_a_sheet_has_no_answers_no_outputs_and_no_solution_cells(tool):
    solution = new_notebook(
        cells=[
            new_markdown_cell("# Task", id="task-one"),
            new_code_cell(SOLUTION, id="answer-one", outputs=[new_output("stream", text="2")], execution_count=3),
            new_markdown_cell("Because 5 - 2 - 1 = 2.", metadata={"tags": ["solution"]}),
        ]
    )
    sheet = tool.sheet(solution)
    assert [cell.id for cell in sheet.cells] == ["task-one", "answer-one"]
    assert sheet.cells[1].outputs == []
    assert sheet.cells[1].execution_count is None
    assert not [line for line in tool.answers_of(solution) if line in tool.text_of(sheet)]
    assert tool.answers_of(solution) == ["watermark = newest_ms - 2 - 1", "Because 5 - 2 - 1 = 2."]


def test_normalising_twice_changes_nothing(tool):
    notebook = new_notebook(cells=[new_markdown_cell("# A title"), new_code_cell("import wmviz")])
    once = tool.text_of(tool.normalise(notebook))
    assert tool.text_of(tool.normalise(nbformat.reads(once, as_version=4))) == once


def test_ids_come_from_the_text_once_and_then_stay(tool):
    notebook = new_notebook(cells=[new_code_cell("import wmviz"), new_code_cell("import wmviz")])
    cells = tool.normalise(notebook).cells
    assert [cell.id for cell in cells] == ["code-import-wmviz", "code-import-wmviz-2"]
    cells[0].source = "changed"
    assert tool.normalise(notebook).cells[0].id == "code-import-wmviz"


def test_the_id_of_a_solution_cell_tells_no_answer(tool):
    source = "# SOLUTION BEGIN\nevent = 'cem'\n# IN THE SHEET\n# event = ...\n# SOLUTION END\ncheck(event)"
    assert tool.normalise(new_notebook(cells=[new_code_cell(source)])).cells[0].id == "code-event-check-event"


def test_what_differs_between_machines_is_dropped(tool):
    outputs = [
        new_output("stream", name="stdout", text="a"),
        new_output("stream", name="stdout", text="b"),
        new_output("display_data", data={"text/plain": "x", tool.WIDGET_VIEW: {"model_id": "9f"}}, metadata={"k": 1}),
    ]
    cell = new_code_cell("f()", outputs=outputs, metadata={"collapsed": True, "tags": ["keep"]})
    notebook = new_notebook(
        cells=[cell], metadata={"kernelspec": {"name": "mine", "display_name": "Mine"}, "widgets": {"state": {}}}
    )
    done = tool.normalise(notebook)
    assert done.metadata == tool.KERNEL
    assert done.cells[0].metadata == {"tags": ["keep"]}
    assert [output.get("text") or output.data for output in done.cells[0].outputs] == ["ab", {"text/plain": "x"}]


def test_run_executes_in_place_with_still_pictures(tool, tmp_path):
    path = tmp_path / "one.ipynb"
    path.write_text(tool.text_of(new_notebook(cells=[new_code_cell("import os; os.environ['WMVIZ_STAGE']")])))
    assert tool.main(["run", str(path)]) == 0
    assert tool.read(path).cells[0].outputs[0].data == {"text/plain": "'still'"}


def test_run_reports_a_failing_cell_and_keeps_the_file(tool, tmp_path, capfd):
    path = tmp_path / "one.ipynb"
    path.write_text(tool.text_of(new_notebook(cells=[new_code_cell("1/0")])))
    before = path.read_text()
    assert tool.main(["run", str(path)]) == 1
    assert "one.ipynb: a cell failed." in capfd.readouterr().err
    assert path.read_text() == before


def test_check_finds_a_stale_sheet(tool, tmp_path, monkeypatch):
    for name in ("LESSONS", "SOLUTIONS", "EXERCISES"):
        folder = tmp_path / name.lower()
        folder.mkdir()
        monkeypatch.setattr(tool, name, folder)
    solution = tool.normalise(new_notebook(cells=[new_code_cell(SOLUTION)]))
    (tool.SOLUTIONS / "s.ipynb").write_text(tool.text_of(solution))
    assert tool.check() == ["exercises/s.ipynb is out of date: python tools/notebooks.py exercises"]
    assert tool.main(["exercises"]) == 0
    assert tool.check() == []
    (tool.EXERCISES / "old.ipynb").write_text("{}")
    assert tool.check() == ["exercises/old.ipynb has no solution: remove it."]
