"""Maintain the notebooks: run them, keep their diffs small, derive the exercise sheets.

    python tools/notebooks.py run [NOTEBOOK ...]        execute lessons and solutions in place
    python tools/notebooks.py normalise [NOTEBOOK ...]  tidy metadata and cell ids, nothing else
    python tools/notebooks.py exercises                 write exercises/ out of solutions/
    python tools/notebooks.py check                     fail if any of this is out of date

A sheet is its solution with the answers taken out. In a code cell of a solution, write

    # SOLUTION BEGIN
    watermark = newest_ms - bound_ms - 1
    # IN THE SHEET
    # watermark = ...
    # SOLUTION END

The sheet gets the lines after `# IN THE SHEET`, without their `# `. A cell with the tag `solution` is left out.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError
from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parent.parent
LESSONS, SOLUTIONS, EXERCISES = ROOT / "notebooks", ROOT / "solutions", ROOT / "exercises"

CELL_LIMIT_S = 180
NOTEBOOK_LIMIT_S = 420

KERNEL = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
KEPT_CELL_METADATA = ("tags", "jupyter")
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
NAMED_ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

COLOUR = re.compile(r"\x1b\[[0-9;]*m")

BEGIN, INSTEAD, END = "# SOLUTION BEGIN", "# IN THE SHEET", "# SOLUTION END"


class SheetError(ValueError):
    """A solution whose marks do not fit together."""


def read(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def text_of(notebook: NotebookNode) -> str:
    """Return the exact text that is stored in the file."""
    nbformat.validate(notebook)
    return nbformat.writes(notebook, version=4).rstrip("\n") + "\n"


# Normalise ---------------------------------------------------------------------------------------------------------


def normalise(notebook: NotebookNode) -> NotebookNode:
    """Drop all that differs from machine to machine, and give each cell an id that stays."""
    notebook.metadata = nbformat.from_dict(KERNEL)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    taken: set[str] = set()
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({k: cell.metadata[k] for k in KEPT_CELL_METADATA if cell.metadata.get(k)})
        cell.id = _free(cell.id if _is_named(cell.get("id", "")) else _name(cell), taken)
        taken.add(cell.id)
        if cell.cell_type == "code":
            plain = (_plain_output(output) for output in _joined(cell.outputs))
            cell.outputs = [output for output in plain if output.get("data") != {}]
    return notebook


def _is_named(cell_id: str) -> bool:
    return bool(NAMED_ID.fullmatch(cell_id)) and not UUID.fullmatch(cell_id)


def _name(cell: NotebookNode) -> str:
    """Name a new cell after its first words in the sheet, where no answer may show; later it keeps the name."""
    words = re.findall(r"[a-z0-9]+", without_answers(cell.source).lower().replace("'", ""))[:5]
    return "-".join([{"markdown": "text"}.get(cell.cell_type, cell.cell_type), *words])[:60].rstrip("-")


def _free(name: str, taken: set[str]) -> str:
    return next(n for n in (name, *(f"{name}-{i}" for i in range(2, 1000))) if n not in taken)


def _joined(outputs: list[NotebookNode]) -> Iterator[NotebookNode]:
    """Join neighbouring pieces of one stream: how a kernel cuts its text differs from run to run."""
    last: NotebookNode | None = None
    for output in outputs:
        if last is not None and output.output_type == last.output_type == "stream" and output.name == last.name:
            last.text += output.text
            continue
        if last is not None:
            yield last
        last = output
    if last is not None:
        yield last


def _plain_output(output: NotebookNode) -> NotebookNode:
    if "data" in output:
        output.data.pop(WIDGET_VIEW, None)
        output.metadata = nbformat.from_dict({})
    return output


# Run ---------------------------------------------------------------------------------------------------------------


def run(path: Path) -> NotebookNode:
    """Execute a notebook as it is committed: still pictures, no progress kept, limits on time."""
    notebook = read(path)
    client = NotebookClient(
        notebook, timeout=CELL_LIMIT_S, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}
    )
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "WMVIZ_STAGE": "still", "WMVIZ_DATA": folder, "PYTHONHASHSEED": "0"}
        asyncio.run(asyncio.wait_for(client.async_execute(env=environment), NOTEBOOK_LIMIT_S))
    return normalise(notebook)


def _run_all(paths: Iterable[Path]) -> list[str]:
    complaints = []
    for path in paths:
        print(f"run {path.name}", flush=True)
        try:
            path.write_text(text_of(run(path)), encoding="utf-8")
        except CellExecutionError as error:
            complaints.append(f"{path.name}: a cell failed.\n{COLOUR.sub('', str(error))}")
        except CellTimeoutError:
            complaints.append(f"{path.name}: a cell took longer than {CELL_LIMIT_S} s.")
        except (TimeoutError, asyncio.TimeoutError):
            complaints.append(f"{path.name}: took longer than {NOTEBOOK_LIMIT_S} s.")
    return complaints


# Exercises ---------------------------------------------------------------------------------------------------------


def sheet(solution: NotebookNode) -> NotebookNode:
    """Return the exercise sheet of a solution: no answers, no outputs, the same cell ids."""
    out = nbformat.v4.new_notebook()
    for cell in solution.cells:
        tags = cell.metadata.get("tags", [])
        if "solution" in tags:
            continue
        fields: dict[str, Any] = {"id": cell.id, "metadata": {"tags": tags} if tags else {}}
        if cell.cell_type == "code":
            try:
                source = without_answers(cell.source)
            except SheetError as error:
                raise SheetError(f"Cell {cell.id}: {error}") from None
            out.cells.append(nbformat.v4.new_code_cell(source, **fields))
        else:
            out.cells.append(nbformat.v4.new_markdown_cell(cell.source, **fields))
    return normalise(out)


def without_answers(source: str) -> str:
    """Replace each marked region of a code cell by what the sheet shows instead."""
    out: list[str] = []
    kept: list[str] | None = None  # the lines of the sheet, inside a region
    state = END
    for line in source.splitlines():
        mark = line.strip()
        if mark in (BEGIN, INSTEAD, END):
            if (state, mark) not in ((END, BEGIN), (BEGIN, INSTEAD), (INSTEAD, END)):
                raise SheetError(f'"{mark}" stands after "{state}". Write {BEGIN}, {INSTEAD}, {END}: in this order.')
            if mark == BEGIN:
                kept = []
            elif mark == END:
                out += kept or []
            state = mark
        elif state == END:
            out.append(line)
        elif state == INSTEAD and kept is not None:
            kept.append(_uncommented(line))
    if state != END:
        raise SheetError(f'"{state}" has no "{END}".')
    return "\n".join(out)


def _uncommented(line: str) -> str:
    found = re.fullmatch(r"(\s*)#(?: (.*))?", line)
    if found is None:
        raise SheetError(f'After "{INSTEAD}" each line is a comment; this one is not: {line.strip()!r}.')
    return (found[1] + (found[2] or "")).rstrip()


def answers_of(solution: NotebookNode) -> list[str]:
    """Return the lines that must not be found in the sheet."""
    lines: list[str] = []
    for cell in solution.cells:
        if "solution" in cell.metadata.get("tags", []):
            lines += cell.source.splitlines()
            continue
        for region in re.findall(f"{BEGIN}\n(.*?){INSTEAD}", cell.source, re.DOTALL):
            lines += textwrap.dedent(region).splitlines()
    return [line.strip() for line in lines if line.strip()]


def _sheets() -> Iterator[tuple[Path, str]]:
    for path in _notebooks(SOLUTIONS):
        yield EXERCISES / path.name, text_of(sheet(read(path)))


# Commands ----------------------------------------------------------------------------------------------------------


def _notebooks(*folders: Path) -> list[Path]:
    return [path for folder in folders for path in sorted(folder.glob("*.ipynb"))]


def _rewrite(paths: Iterable[Path], change: Callable[[NotebookNode], NotebookNode]) -> None:
    for path in paths:
        path.write_text(text_of(change(read(path))), encoding="utf-8")


def _write_sheets() -> None:
    EXERCISES.mkdir(exist_ok=True)
    wanted = dict(_sheets())
    for path in _notebooks(EXERCISES):
        if path not in wanted:
            path.unlink()
    for path, text in wanted.items():
        path.write_text(text, encoding="utf-8")


def check() -> list[str]:
    """Return a sentence for each file that is not as these tools would write it."""
    complaints = [
        f"{path.parent.name}/{path.name} is not normalised: python tools/notebooks.py normalise"
        for path in _notebooks(LESSONS, SOLUTIONS)
        if text_of(normalise(read(path))) != path.read_text(encoding="utf-8")
    ]
    wanted = dict(_sheets())
    for path, text in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            complaints.append(f"exercises/{path.name} is out of date: python tools/notebooks.py exercises")
    complaints += [
        f"exercises/{path.name} has no solution: remove it." for path in _notebooks(EXERCISES) if path not in wanted
    ]
    return complaints


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "normalise", "exercises", "check"])
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: every lesson and solution")
    options = parser.parse_args(arguments)
    paths = options.notebooks or _notebooks(LESSONS, SOLUTIONS)
    if missing := [str(path) for path in paths if not path.is_file()]:
        parser.error(f"no such notebook: {', '.join(missing)}")

    complaints: list[str] = []
    try:
        if options.command == "run":
            complaints = _run_all(paths)
        elif options.command == "normalise":
            _rewrite(paths, normalise)
        elif options.command == "exercises":
            _write_sheets()
        else:
            complaints = check()
    except SheetError as error:
        complaints = [str(error)]
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
