"""The prose of a lesson, held against its cells and against the facts that its tests know."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import nbformat

NOTEBOOKS = Path(__file__).resolve().parent.parent.parent / "notebooks"
TIME = re.compile(r"\d+:\d\d(?::\d\d(?:\.\d+)?)?")


def read_lesson(name: str) -> tuple[list[Any], str]:
    """Give the cells of a lesson, and the text of those that are prose."""
    cells = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4).cells
    return cells, "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def unknown_times(cells: list[Any], prose: str, facts: Iterable[str]) -> set[str]:
    """Give the times in the prose that no fact, no output and no code of a cell has."""
    shown = "".join(str(cell.get("outputs", "")) + cell.source * (cell.cell_type == "code") for cell in cells)
    known = shown + "".join(facts)
    return {time for time in TIME.findall(prose) if time not in known}
