"""Columns of a pandas table, read into milliseconds; what cannot be read gets a sentence with its row."""

from __future__ import annotations

import difflib
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from wmviz.times import TimeError, shown, time_ms
from wmviz.trace import TraceError

Longs = NDArray[np.int64]
Flags = NDArray[np.bool_]
_MILLISECOND = pd.Timedelta(milliseconds=1)
_FARTHEST_MS = 10**14
"""The year 5138; larger numbers are microseconds or nanoseconds."""


class LagError(TraceError):
    """A table, or a wish, from which no bound can be chosen; the message is a sentence."""

    def _render_traceback_(self) -> list[str]:
        """Let a notebook show the sentence alone."""
        return [f"LagError: {self}"]


def column_of(frame: pd.DataFrame, name: Any) -> pd.Series[Any]:
    """Give the one column of this name.

    Raises
    ------
    LagError
        If there is none, or several.
    """
    if name not in frame.columns:
        has = ", ".join(map(str, frame.columns[:8])) or "none"
        near = difflib.get_close_matches(str(name), list(map(str, frame.columns)), n=1)
        hint = f'; did you mean "{near[0]}"?' if near else ""
        raise LagError(f"there is no column {shown(name)}; the table has {has}{hint}")
    if list(frame.columns).count(name) > 1:
        raise LagError(f"there are several columns named {name}; rename all but one")
    column: pd.Series[Any] = frame[name]
    return column


def column_ms(frame: pd.DataFrame, name: Any, *, text: bool = False) -> Longs:
    """Read a column of times.

    Parameters
    ----------
    frame
        The table.
    name
        Its column: timestamps (without a zone they are UTC), or whole numbers of ms since the epoch.
    text
        Whether text is read too: ISO 8601, or a time of the first day such as ``"6:56"``.

    Returns
    -------
    numpy.ndarray
        Milliseconds since 1970-01-01 00:00 UTC, as 64-bit integers.

    Raises
    ------
    LagError
        If a time is missing, or cannot be read; with the number of its row.
    """
    column = column_of(frame, name)
    if missing := int(column.isna().sum()):
        rows = "1 row" if missing == 1 else f"{missing:,} rows"
        raise LagError(f"{name} is missing in {rows}; leave them out with frame.dropna()")
    if pd.api.types.is_datetime64_any_dtype(column):
        return _stamps_ms(column)
    if pd.api.types.is_bool_dtype(column):
        raise LagError(f"{name} holds true and false; name a column of times")
    if pd.api.types.is_integer_dtype(column):
        return _near(column.to_numpy(dtype=np.int64), name)
    if text and pd.api.types.is_float_dtype(column) and bool((column % 1 == 0).all()):
        return _near(column.to_numpy(dtype=np.int64), name)
    if text and (pd.api.types.is_object_dtype(column) or pd.api.types.is_string_dtype(column)):
        return _texts_ms(column, name)
    raise LagError(f"{name} holds {column.dtype}; write whole numbers of ms, or timestamps: pandas.to_datetime(…)")


def _stamps_ms(column: pd.Series[Any]) -> Longs:
    utc = column.dt.tz_localize("UTC") if column.dt.tz is None else column.dt.tz_convert("UTC")
    ms: Longs = ((utc - pd.Timestamp(0, tz="UTC")) // _MILLISECOND).to_numpy(dtype=np.int64)
    return ms


def _texts_ms(column: pd.Series[Any], name: Any) -> Longs:
    """Read text: ISO 8601 all at once, and what is left one by one."""
    read = pd.to_datetime(column.astype(str), format="ISO8601", utc=True, errors="coerce")
    left = read.isna().to_numpy()
    ms = np.zeros(len(column), dtype=np.int64)
    ms[~left] = _stamps_ms(read[~left])
    for row in np.flatnonzero(left):
        value = column.iloc[row]
        try:
            ms[row] = time_ms(value)
        except TimeError as error:
            raise LagError(f"row {row} of {name}: {error}") from None
    return ms


def _near(ms: Longs, name: Any) -> Longs:
    """Refuse numbers that are no milliseconds."""
    far = np.flatnonzero((ms > _FARTHEST_MS) | (ms < -_FARTHEST_MS))
    if len(far):
        raise LagError(
            f"row {far[0]} of {name} is {ms[far[0]]}, which is no time in ms; "
            "divide microseconds by 1000, nanoseconds by 1000000"
        )
    return ms
