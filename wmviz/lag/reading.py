"""Columns of a pandas table, read into milliseconds; what cannot be read gets a sentence with its row.

`wmviz.own.moments` reads the times, here as for events of one's own; here the first row that is bad ends it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from wmviz.own.columns import one_column
from wmviz.own.errors import MISSING, OwnEventsError
from wmviz.own.moments import Flags, Longs, read_moments
from wmviz.times import shown
from wmviz.trace import TraceError

__all__ = ["Flags", "LagError", "Longs", "TimeForm", "column_ms", "column_of", "times_of"]


class LagError(TraceError):
    """A table, or a wish, from which no bound can be chosen; the message is a sentence."""

    def _render_traceback_(self) -> list[str]:
        """Let a notebook show the sentence alone."""
        return [f"LagError: {self}"]


class TimeForm(NamedTuple):
    """How times are written, where the column does not tell; see `wmviz.own.read_frame`."""

    time_unit: str | None = None
    zone: str | None = None
    time_format: str | None = None


def column_of(frame: pd.DataFrame, name: Any) -> pd.Series[Any]:
    """Give the one column of this name.

    Raises
    ------
    LagError
        If there is none, or several.
    """
    try:
        return one_column(frame, name)
    except OwnEventsError as error:
        raise LagError(str(error)) from None


def times_of(frame: pd.DataFrame, name: Any, form: TimeForm) -> tuple[Longs, tuple[str, ...]]:
    """Read a column of times.

    Returns
    -------
    tuple of (numpy.ndarray, tuple of str)
        Milliseconds since 1970-01-01 00:00 UTC, as 64-bit integers; and what was assumed, in sentences.

    Raises
    ------
    LagError
        If there is no such column, or a time is missing or cannot be read; with the number of its row.
    """
    column = column_of(frame, name)
    try:
        read = read_moments(column, str(name), **form._asdict())
    except OwnEventsError as error:
        raise LagError(str(error)) from None
    if missing := int((read.reasons == MISSING).sum()):
        rows = "1 row" if missing == 1 else f"{missing:,} rows"
        raise LagError(f"{name} is missing in {rows}; leave them out with frame.dropna(), or read with wmviz.own")
    if not read.fine.all():
        row = int(np.flatnonzero(~read.fine)[0])
        value, reason = str(column.iloc[row]), str(read.reasons[row])
        said = reason if reason.startswith((shown(value), value)) else f"{value} {reason}"
        raise LagError(f"row {row} of {name}: {said}; wmviz.own.read_frame(…) sets such rows aside")
    return read.ms, read.notes


def column_ms(frame: pd.DataFrame, name: Any) -> Longs:
    """Read a column of times; `times_of` without its notes."""
    return times_of(frame, name, TimeForm())[0]
