"""Files read into tables, with the line of each row; lines that are broken are kept aside."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import field as its
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pandas as pd

from wmviz.own.columns import USUAL, roles
from wmviz.own.errors import OwnEventsError
from wmviz.own.moments import Longs
from wmviz.own.nested import ABSENT, TwiceError, field, holds_objects, inner_names, strict_object
from wmviz.own.progress import Progress
from wmviz.times import TimeError, shown, time_ms

SEPARATORS = (",", ";", "\t", "|")
_TELL_EVERY = 20_000
_TELLS_SEPARATOR = re.compile(r"sep=([,;\t|])")
"""A first line that spreadsheets write: what divides the cells."""
_FIRST_BYTES_OF_PARQUET = b"PAR1"
_GZIP, _UTF_16 = b"\x1f\x8b", b"UTF-16"
_INSTEAD = {
    _UTF_16: "text in UTF-16; save it as UTF-8",
    b"PK\x03\x04": "an archive or a workbook: unpack it, or take read_frame(pandas.read_excel(…), …)",
    _FIRST_BYTES_OF_PARQUET: "a Parquet file; write read_parquet",
    b"\x28\xb5\x2f\xfd": "zipped by zstd; unpack it, or zip it by gzip",
    b"BZh": "zipped by bzip2; unpack it, or zip it by gzip",
}
"""First bytes of a file that holds no lines of text → what to do instead."""
Broken = tuple[int, str, Any, str]
"""Line, column, value, reason."""


@dataclass
class Table:
    """A file that was read: the columns that were wanted, by role.

    Attributes
    ----------
    frame
        The columns, under their names.
    roles
        Role → column.
    line
        The line of each row in the file, from 1; None if it has no lines.
    broken
        Lines that are no rows.
    notes
        What was assumed.
    """

    frame: pd.DataFrame
    roles: dict[str, Any]
    line: Longs | None = None
    broken: list[Broken] = its(default_factory=list)
    notes: list[str] = its(default_factory=list)


def csv_table(
    path: Path, wanted: dict[str, Any], separator: str | None, names: list[str] | None, progress: Progress
) -> Table:
    """Read a CSV file, also one that is zipped by gzip; all cells are text.

    Raises
    ------
    OwnEventsError
        If it cannot be read, is empty, has no header, or a column is missing.
    """
    with _opened(path) as file:
        head = file.readline()
        if not head.strip():
            raise OwnEventsError(f"{path} is empty; the first line holds the names of the columns")
        if head.lstrip().startswith("{") and not names:
            raise OwnEventsError(f"{path} holds JSON and no cells; write read_json_lines")
        before, chosen = 0, separator or _separator(head)
        if told := _TELLS_SEPARATOR.fullmatch(head.strip("\r\n")):
            before, chosen, head = 1, separator or told[1], file.readline()
        lines = _rows(chain([head], file), chosen, path, before)
        header = [name.strip() for name in (names or next(lines)[1])]
        if not names:
            _check_header(header, path)
        found = roles(header, wanted)
        table = Table(pd.DataFrame(), found)
        if separator is None and chosen != ",":
            table.notes.append(f"{path.name}: cells are divided by {_spoken(chosen)}, as its first line is.")
        _fill(table, lines, header, path.name, progress)
    if not len(table.frame) and not table.broken:
        raise OwnEventsError(f"{path} has a header and no rows; there is nothing to read")
    return table


def json_lines_table(path: Path, wanted: dict[str, Any], progress: Progress) -> Table:
    """Read a file with a JSON object in each line.

    Raises
    ------
    OwnEventsError
        If it cannot be read, is empty, holds no objects, or no object has a column.
    """
    cells: dict[Any, list[Any]] = {name: [] for name in _candidates(wanted)}
    lines: list[int] = []
    broken: list[Broken] = []
    known: dict[str, None] = {}
    with _opened(path) as file:
        for line, text in enumerate(file, 1):
            if line % _TELL_EVERY == 0:
                progress.tell(f"{path.name}: {line:,} lines read")
            if not text.strip():
                continue
            if not lines and not broken and text.lstrip().startswith("["):
                raise OwnEventsError(f"{path} is one JSON list; JSON lines have an object in each line, no brackets")
            try:
                row = json.loads(text, object_pairs_hook=strict_object)
            except TwiceError as error:
                broken.append((line, "", text.strip()[:60], f"has the name {error} twice"))
                continue
            except (ValueError, RecursionError):
                broken.append((line, "", text.strip()[:60], "is no JSON"))
                continue
            if not isinstance(row, dict):
                broken.append((line, "", text.strip()[:60], "is no JSON object"))
                continue
            known.update(dict.fromkeys(row if lines else [*row, *inner_names(row)]))
            for name, column in cells.items():  # the other fields may be many times larger
                column.append(field(row, name))
            lines.append(line)
    if not lines:
        raise OwnEventsError(f"{path} {_no_objects(broken)}")
    inside = (name for name, column in cells.items() if any(cell is not ABSENT for cell in column))
    found = roles(list(dict.fromkeys([*known, *inside])), wanted)
    return _of_cells(cells, found, wanted, Table(pd.DataFrame(), found, np.array(lines, dtype=np.int64), broken))


def _candidates(wanted: dict[str, Any]) -> list[Any]:
    """Give the names that may be of use: those that were given, and the usual ones."""
    named = [[name] if name is not None else USUAL[role] for role, name in wanted.items()]
    return list(dict.fromkeys(chain.from_iterable(named)))


def _no_objects(broken: list[Broken]) -> str:
    if not broken:
        return "is empty"
    if broken[0][2] == "{":
        return "has an object over several lines; JSON lines have a whole object in each line"
    return f"holds no JSON object; line {broken[0][0]} {broken[0][3]}: {shown(broken[0][2])}"


def _of_cells(cells: dict[Any, list[Any]], found: dict[str, Any], wanted: dict[str, Any], table: Table) -> Table:
    """Make columns of cells. One that holds only objects is no column of times, keys or values."""
    columns = {}
    for role, name in list(found.items()):
        column = [None if cell is ABSENT else cell for cell in cells[name]]
        if example := holds_objects(column):
            fields = ", ".join(f'{role}="{one}"' for one in inner_names({name: example})[:4])
            if wanted[role] is not None or role == "event_time":
                raise OwnEventsError(f"{name} holds objects; name a field of them: {fields}")
            table.notes.append(f"{name}: holds objects, so it is not used. To name a field of them: {fields}.")
            del table.roles[role]
        else:
            columns[name] = pd.Series(column, dtype=object)
    table.frame = pd.DataFrame(columns).infer_objects()
    return table


def parquet_table(path: Path, wanted: dict[str, Any]) -> Table:
    """Read a Parquet file with pyarrow, if that is there.

    Raises
    ------
    OwnEventsError
        If it is not, the file cannot be read, or a column is missing.
    """
    if find_spec("pyarrow") is None:
        raise OwnEventsError("Parquet is read by pyarrow, which is not installed: pip install pyarrow; or write CSV")
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    try:
        with path.open("rb") as file:
            if file.read(4) != _FIRST_BYTES_OF_PARQUET:
                raise OwnEventsError(f"{path} is no Parquet file: it does not begin with PAR1")
        found = roles(parquet.read_schema(path).names, wanted)
        frame = parquet.read_table(path, columns=sorted(set(found.values()))).to_pandas()
    except OSError as error:
        raise OwnEventsError(f"{path} cannot be read: {error.strerror or error}") from None
    except arrow.ArrowException as error:
        raise OwnEventsError(f"{path} cannot be read: {str(error).splitlines()[0]}") from None
    return Table(frame.reset_index(drop=True), found)


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    """Open a text file in UTF-8; what goes wrong while it is read is said in a sentence."""
    try:
        kind = _kind_of(path)
        if instead := _INSTEAD.get(kind):
            raise OwnEventsError(f"{path} is {instead}")
        if path.suffix == ".gz" or kind == _GZIP:
            with gzip.open(path, "rt", encoding="utf-8-sig", newline="") as file:
                yield file
        else:
            with path.open(encoding="utf-8-sig", newline="") as file:
                yield file
    except FileNotFoundError:
        near = f"; the folder {path.parent} is there" if path.parent.is_dir() else f"; nor is the folder {path.parent}"
        raise OwnEventsError(f"there is no file {path}{near}") from None
    except UnicodeDecodeError:
        raise OwnEventsError(f"{path} is not text in UTF-8; save it as UTF-8") from None
    except (OSError, EOFError) as error:
        raise OwnEventsError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _kind_of(path: Path) -> bytes:
    """Tell by its first bytes what a file is that is no text; nothing of a pipe, which gives them once."""
    if not path.is_file():
        return b""
    with path.open("rb") as file:
        first = file.read(64)
    if first[:2] in (b"\xff\xfe", b"\xfe\xff") or (len(first) > 3 and (not any(first[1::2]) or not any(first[::2]))):
        return _UTF_16
    return next((kind for kind in (_GZIP, *_INSTEAD) if first.startswith(kind)), b"")


def _rows(lines: Iterator[str], separator: str, path: Path, before: int) -> Iterator[tuple[int, list[str]]]:
    """Give each row with the line that it ends on; some lines were read before."""
    reader = csv.reader(lines, delimiter=separator, strict=True)  # or an open quote takes in what follows
    try:
        for cells in reader:
            yield before + reader.line_num, cells
    except csv.Error as error:
        raise OwnEventsError(
            f"{path} is no CSV: line {before + reader.line_num}: {error}. A cell that begins with a quote ends with "
            "one, and a quote inside it is written twice"
        ) from None


def _fill(
    table: Table, lines: Iterator[tuple[int, list[str]]], header: list[str], name: str, progress: Progress
) -> None:
    """Read the rows; those with too few or too many cells are broken."""
    wanted = sorted(set(table.roles.values()))
    places = [header.index(one) for one in wanted]
    columns: list[list[str]] = [[] for _ in wanted]
    kept: list[int] = []
    for line, cells in lines:
        if len(cells) != len(header):
            if any(cells):  # an empty line is no row
                what = f"has {len(cells)} cells, and the header has {len(header)}"
                table.broken.append((line, "", ",".join(cells)[:60], what))
            continue
        kept.append(line)
        for place, column in zip(places, columns, strict=True):
            column.append(cells[place])
        if len(kept) % _TELL_EVERY == 0:
            progress.tell(f"{name}: {len(kept):,} rows read")
    data = {one: pd.Series(cells, dtype=object) for one, cells in zip(wanted, columns, strict=True)}
    table.frame, table.line = pd.DataFrame(data), np.array(kept, dtype=np.int64)


def _separator(head: str) -> str:
    """Tell what divides the cells by the first line; the comma if nothing does."""
    return max(SEPARATORS, key=head.count)


def _spoken(separator: str) -> str:
    return {"\t": "tabs", ";": "semicolons", "|": "bars"}.get(separator, shown(separator))


def _check_header(header: list[str], path: Path) -> None:
    """Refuse a first line that is a row of data."""
    for cell in header:
        if _is_number(cell) or _is_time(cell):
            raise OwnEventsError(
                f"{path} has no header: its first line holds {shown(cell)}. Write the names of the columns there, or "
                'name them: names=["event_time", "key", …]'
            )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return cell.strip().lower() not in ("nan", "inf", "infinity")


def _is_time(cell: str) -> bool:
    try:
        time_ms(cell)
    except TimeError as error:
        return "has no zone" in str(error)
    return True
