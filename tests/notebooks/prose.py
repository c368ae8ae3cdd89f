"""The prose of a lesson, held against its cells and against the facts that its tests know."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

import nbformat
import pytest

from tests.sums import check_sums

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


class HeldProse:
    """The tests that the prose of every lesson has to pass; a module with CELLS, PROSE and FACTS takes them over.

    FACTS has sentences of the prose, each with whether it is so; `conftest` gives them one by one.
    """

    least_sums: ClassVar[int] = 0
    """How many sums of times there are at least: if their form changes, they must not go unchecked."""
    by_hand: ClassVar[frozenset[str]] = frozenset()
    """Times that a reader works out by hand, so that neither a fact nor an output has them."""

    def test_what_the_prose_says_is_so(self, said: str, request: pytest.FixtureRequest) -> None:
        """Hold a sentence against its fact."""
        assert said in request.module.PROSE
        assert request.module.FACTS[said]

    def test_the_sums_are_worked_out(self, request: pytest.FixtureRequest) -> None:
        """Work out each sum of times."""
        assert check_sums(request.module.PROSE) >= self.least_sums

    def test_every_time_is_known_to_a_fact_or_a_cell(self, request: pytest.FixtureRequest) -> None:
        """Find times that stand in the prose only."""
        module = request.module
        assert unknown_times(module.CELLS, module.PROSE, module.FACTS) <= self.by_hand
