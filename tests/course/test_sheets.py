"""What holds for every exercise sheet: tasks are named in it, untouched cells say so, and no answer is given away."""

import ast
import json
from pathlib import Path

import pytest

from wmviz import course
from wmviz.course.questions import LESSONS, SHEETS, Task, find, items

ROOT = Path(__file__).parents[2]
SOLUTIONS = sorted((ROOT / "solutions").glob("*.ipynb"))


def code_of(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def text_of(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells)


def answers(path):
    """Give the lines of a solution that the sheet must not have."""
    found, inside = [], False
    for line in code_of(path).splitlines():
        mark = line.strip()
        if mark == "# SOLUTION BEGIN":
            inside = True
        elif mark in ("# IN THE SHEET", "# SOLUTION END"):
            inside = False
        elif inside and mark:
            found.append(mark)
    return found


def number_of(path):
    return str(int(path.name[:2]))


@pytest.mark.parametrize("solution", SOLUTIONS, ids=lambda path: path.stem)
def test_no_answer_stands_in_the_sheet(solution):
    sheet = code_of(ROOT / "exercises" / solution.name)
    given_away = [line for line in answers(solution) if line in [part.strip() for part in sheet.splitlines()]]
    assert answers(solution)
    assert not given_away


@pytest.mark.parametrize("solution", SOLUTIONS, ids=lambda path: path.stem)
def test_a_sheet_has_some_tasks_and_names_them(solution):
    number = number_of(solution)
    tasks = [name for name in items(number) if f'course.check("{number}.{name}"' in code_of(solution)]
    assert 3 <= len(tasks) <= 6
    assert all(isinstance(find(f"{number}.{name}"), Task) for name in tasks)
    sheet = code_of(ROOT / "exercises" / solution.name)
    assert all(f'course.check("{number}.{name}"' in sheet for name in tasks)
    assert f'course.hint("{number}.' in text_of(ROOT / "exercises" / solution.name)


def names_set(cell):
    """Give the names that a cell sets at its top level, and those that it takes from what is given."""
    names, given = set(), set()
    for node in ast.parse("".join(cell["source"])).body:
        found = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names |= found
            given |= found if isinstance(node, ast.Assign) and "course.given(" in ast.unparse(node.value) else set()
    return names, given


@pytest.mark.parametrize("solution", SOLUTIONS, ids=lambda path: path.stem)
def test_what_is_given_keeps_its_name_when_one_goes_back_to_an_earlier_task(solution):
    cells = json.loads((ROOT / "exercises" / solution.name).read_text(encoding="utf-8"))["cells"]
    sets = [names_set(cell) for cell in cells if cell["cell_type"] == "code"]
    for at, (_, given) in enumerate(sets):
        others = set().union(*(names for place, (names, _) in enumerate(sets) if place != at))
        assert not given & others


@pytest.mark.parametrize("number", SHEETS)
def test_every_task_of_a_sheet_is_in_its_notebook(number):
    (solution,) = (path for path in SOLUTIONS if number_of(path) == number)
    from importlib import import_module

    module = import_module(f"wmviz.course.sheets.{SHEETS[number]}")
    assert all(f'"{number}.{name}"' in code_of(solution) for name in module.ITEMS)


@pytest.mark.parametrize("number", SHEETS)
def test_a_task_without_an_answer_is_not_yet_wrong_and_has_hints(number):
    from importlib import import_module

    for name in import_module(f"wmviz.course.sheets.{SHEETS[number]}").ITEMS:
        for empty in (..., None, "", [...]):
            assert course.check(f"{number}.{name}", empty).state == "not yet"
        hints = find(f"{number}.{name}").hints
        assert len(hints) >= 2
        assert len(set(hints)) == len(hints)


@pytest.mark.parametrize("solution", SOLUTIONS, ids=lambda path: path.stem)
def test_a_sheet_has_no_outputs_and_names_no_mended_job(solution):
    cells = json.loads((ROOT / "exercises" / solution.name).read_text(encoding="utf-8"))["cells"]
    assert not any(cell.get("outputs") for cell in cells)
    assert "].mended" not in text_of(ROOT / "exercises" / solution.name)


def test_sheets_belong_to_lessons():
    assert set(SHEETS) <= set(LESSONS)


@pytest.mark.parametrize("number", SHEETS)
def test_a_sheet_takes_no_name_of_its_lesson(number):
    from importlib import import_module

    lesson = import_module(f"wmviz.course.lessons.{LESSONS[number]}")
    sheet = import_module(f"wmviz.course.sheets.{SHEETS[number]}")
    assert not set(lesson.ITEMS) & set(sheet.ITEMS)


LONG = "x" * 10_000
TEXT_IS_SHOWN = [("6", "fires"), ("13", "same-watermark"), ("15", "holding-partition"), ("16", "least-run")]


@pytest.mark.parametrize(("number", "name"), TEXT_IS_SHOWN)
def test_a_message_does_not_repeat_an_answer_of_any_length(number, name):
    assert len(course.check(f"{number}.{name}", LONG).sentence) < 500
