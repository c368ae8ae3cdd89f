"""Columns of a table by their role: which one is meant, and keys, values and partitions read from it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from wmviz.event import MOST_VALUE
from wmviz.fields import is_int
from wmviz.own.errors import MISSING, OwnEventsError
from wmviz.own.hints import number_hint
from wmviz.own.moments import MISSING_WORDS, Longs, Reasons, as_text
from wmviz.times import shown

USUAL = {
    "event_time": ("event_time", "event_time_ms"),
    "arrival_time": ("arrival_time", "arrival_time_ms"),
    "key": ("key",),
    "value": ("value",),
    "partition": ("partition",),
}
"""Which columns are taken for a role where none is named."""
MOST_PARTITIONS = 1024
_SCALES = (10, 100, 1_000, 10_000, 100_000, 1_000_000)


def no_column(name: Any, names: Iterable[Any]) -> str:
    """Say that there is no such column, which there are, and which is the nearest."""
    known = [str(one) for one in names]
    near = difflib.get_close_matches(str(name), known, n=1)
    hint = f'; did you mean "{near[0]}"?' if near else ""
    return f"there is no column {shown(name)}; the table has {', '.join(known[:8]) or 'none'}{hint}"


def roles(names: Sequence[Any], wanted: dict[str, Any]) -> dict[str, Any]:
    """Find the column of each role.

    Parameters
    ----------
    names
        The columns that there are.
    wanted
        Role → the name that was given, or None for the usual one, if it is there.

    Returns
    -------
    dict
        Role → column; a role without one is left out.

    Raises
    ------
    OwnEventsError
        If a name that was given is not there, or is there twice; or if there is none for the event time.
    """
    found = {}
    for role, name in wanted.items():
        if name is None:
            name = next((usual for usual in USUAL[role] if usual in names), None)
        elif name not in names:
            raise OwnEventsError(no_column(name, names))
        if name is not None:
            found[role] = name
            if list(names).count(name) > 1:
                raise OwnEventsError(f"there are several columns named {name}; rename all but one")
    if "event_time" not in found:
        raise OwnEventsError(f"{no_column('event_time', names)}; name the one that says when each event happened")
    return found


def with_index(frame: pd.DataFrame, named: Sequence[Any]) -> pd.DataFrame:
    """Make columns of the levels of the index that are named, and are no columns already."""
    columns = list(frame.columns)
    levels = [level for level in frame.index.names if level is not None and level in named and level not in columns]
    return frame.reset_index(level=levels) if levels else frame


def one_column(frame: pd.DataFrame, name: Any) -> pd.Series[Any]:
    """Give the one column of this name.

    Raises
    ------
    OwnEventsError
        If there is none, or several.
    """
    column: pd.Series[Any] = frame[roles(list(frame.columns), {"event_time": name})["event_time"]]
    return column


class Labels(NamedTuple):
    """A column of names: the number of each row's name (-1: missing), the names in order, why rows are bad."""

    codes: Longs
    names: tuple[str, ...]
    reasons: Reasons


def read_labels(column: pd.Series[Any]) -> Labels:
    """Read keys or partitions: what they are called as text; numbers stay in the order of numbers."""
    plain = column.map(str, na_action="ignore") if column.dtype == object else column  # lists have no order
    codes, values = pd.factorize(plain, sort=False)
    names = [_label(value) for value in values]
    absent = np.array([not name.strip() for name in names] or [False])  # "NA" may well be a key
    codes = np.where(absent[codes], -1, codes) if len(values) else codes
    unique = sorted({names[code] for code in set(codes.tolist()) - {-1}}, key=_natural)
    place = {name: number for number, name in enumerate(unique)}
    of_value = np.array([place.get(name, -1) for name in names] + [-1], dtype=np.int64)
    reasons = np.full(len(column), "", dtype=object)
    reasons[codes < 0] = MISSING
    return Labels(of_value[codes], tuple(unique), reasons)


class Values(NamedTuple):
    """A column of values as whole numbers, why rows are bad, and what was assumed."""

    whole: Longs
    reasons: Reasons
    notes: tuple[str, ...]


def read_values(column: pd.Series[Any], name: str, scale: Any) -> Values:
    """Read values into whole numbers of the smallest unit.

    Parameters
    ----------
    column
        Numbers, or text that holds numbers.
    name
        What it is called.
    scale
        How many of the smallest unit one of the column's has: 100 for cents in a column of euros. None: 1.

    Raises
    ------
    OwnEventsError
        If there are fractions and no scale, or `scale` is none.
    """
    if scale is not None and (isinstance(scale, bool) or not isinstance(scale, int | float) or not 0 < scale < 1e12):
        raise OwnEventsError(f"scale is {shown(scale)}; write a number above 0: 100 for cents in a column of euros")
    missing = column.isna().to_numpy(dtype=bool)
    plain = column
    if not pd.api.types.is_numeric_dtype(column):
        plain = as_text(column).str.strip()
        missing |= plain.str.lower().isin(MISSING_WORDS).to_numpy(dtype=bool)
    numbers = pd.to_numeric(plain, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    reasons = np.full(len(column), "", dtype=object)
    reasons[np.isinf(numbers)] = "is not finite"
    reasons[missing] = MISSING
    for row in np.flatnonzero(np.isnan(numbers) & ~missing):
        reasons[row] = f"{shown(plain.iloc[row])} is not a number{number_hint(str(plain.iloc[row]))}"
    # What is cut off here is too large anyway, and must not overflow.
    scaled = np.clip(np.where(reasons == "", numbers, 0.0), -1e200, 1e200) * (1 if scale is None else scale)
    far = np.abs(scaled) > MOST_VALUE
    reasons[far] = f"is larger than {MOST_VALUE:,}: so large no value may be, or sums would leave 64 bits"
    scaled[far] = 0
    return Values(*_whole(scaled, name, scale, reasons))


def _whole(
    scaled: NDArray[np.float64], name: str, scale: Any, reasons: Reasons
) -> tuple[Longs, Reasons, tuple[str, ...]]:
    whole = np.rint(scaled)
    odd = np.flatnonzero(np.abs(scaled - whole) > 1e-9 * np.maximum(1, np.abs(scaled)))
    if len(odd) and scale is None:
        raise OwnEventsError(
            f"{name} has fractions, the first is {scaled[odd[0]]:g}; values are whole numbers of "
            f"the smallest unit, so that sums are exact: write scale={_enough(scaled)}"
        )
    notes = []
    if scale not in (None, 1):
        notes.append(f"{name}: multiplied by {scale:g}, so 1 is {1 / scale:g} of the column's unit.")
    if len(odd):
        notes.append(f"{name}: {len(odd):,} values were rounded to whole numbers after that.")
    return whole.astype(np.int64), reasons, tuple(notes)


def _enough(values: NDArray[np.float64]) -> int:
    """Give the least power of ten that makes the values whole; at most a million."""
    for scale in _SCALES:
        times = values * scale
        if bool((np.abs(times - np.rint(times)) <= 1e-6 * np.maximum(1, np.abs(values))).all()):
            return scale
    return _SCALES[-1]


def read_partitions(column: pd.Series[Any], name: str, partitions: Any) -> tuple[Labels, tuple[str, ...]]:
    """Read partitions: numbered in their order, or as they are if it is said how many there are.

    Raises
    ------
    OwnEventsError
        If there are too many, or one that there cannot be.
    """
    labels = read_labels(column)
    if len(labels.names) > MOST_PARTITIONS:
        raise OwnEventsError(
            f"{name} has {len(labels.names):,} different values; there are at most {MOST_PARTITIONS} partitions. "
            "A column with so many is rather a key"
        )
    numbers = [int(one) if one.isascii() and one.isdecimal() else None for one in labels.names]
    if is_int(partitions) and partitions:
        wrong = next((one for one, n in zip(labels.names, numbers, strict=True) if n is None or n >= partitions), None)
        if wrong is not None:
            raise OwnEventsError(
                f"{name} has {shown(wrong)}; with partitions={partitions} write numbers from 0 to {partitions - 1}"
            )
        as_given = np.array([*numbers, -1], dtype=np.int64)
        return labels._replace(codes=as_given[labels.codes]), ()
    if numbers == list(range(len(numbers))):
        return labels, ()
    listed = ", ".join(f"{one} is {n}" for n, one in enumerate(labels.names[:4]))
    more = ", and so on" if len(labels.names) > 4 else ""
    silent = "" if None in numbers else " Silent partitions are not among them: partitions=… says how many there are."
    return labels, (f"{name}: numbered in order: {listed}{more}.{silent}",)


def _label(value: Any) -> str:
    """Write a key as text; a whole float is a number of a column that has missing ones."""
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    return text.encode("utf-8", "replace").decode("utf-8")


def _natural(name: str) -> tuple[int, int, str]:
    number = name.isascii() and name.isdecimal()
    return (0, int(name), name) if number else (1, 0, name)
