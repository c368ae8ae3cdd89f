"""Your own events: a pandas table or a file becomes a scenario, and what cannot be read is set aside with a reason."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from wmviz.own.assemble import Options, assemble
from wmviz.own.columns import USUAL, roles, with_index
from wmviz.own.errors import OwnEventsError, OwnEventsWarning
from wmviz.own.files import SEPARATORS, Table, csv_table, json_lines_table, parquet_table
from wmviz.own.flight_log import flights
from wmviz.own.progress import Progress
from wmviz.own.result import OwnEvents
from wmviz.times import shown

__all__ = [
    "OwnEvents",
    "OwnEventsError",
    "OwnEventsWarning",
    "flights",
    "read_csv",
    "read_frame",
    "read_json_lines",
    "read_parquet",
]


def read_frame(
    frame: pd.DataFrame,
    event_time: Any = None,
    arrival_time: Any = None,
    key: Any = None,
    value: Any = None,
    partition: Any = None,
    *,
    time_unit: str | None = None,
    zone: str | None = None,
    time_format: str | None = None,
    scale: float | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> OwnEvents:
    """Read events from a pandas table.

    Parameters
    ----------
    frame
        A row for each event.
    event_time, arrival_time, key, value, partition
        Its columns, or levels of its index. One that is not named is the column of that name, if there is one. Without
        an arrival time, the order of the rows is the order of arrival. Without a key, all events have one. Without a
        value, events are counted. Partitions are numbered in their order; with ``partitions=12`` they are numbers from
        0 to 11, and silent ones count.
    time_unit
        The unit of times that are numbers: ``"s"``, ``"ms"``, ``"us"``, ``"ns"``. Without it, the end of the column's
        name tells it (``ts_ms``), or the size of the numbers; what was assumed is in the notes.
    zone
        The zone of times that name none, and the one that times are shown in: ``"Europe/Berlin"``. Without it, UTC.
    time_format
        The form of times that are text, if not ISO 8601: ``"%d.%m.%Y %H:%M"``.
    scale
        How many of the smallest unit a value has, since values are whole numbers: 100 for cents in a column of euros.
    progress
        Whether to tell on stderr how far it is. Without it: where somebody looks, and after two seconds.
    **settings
        The job, as for `Scenario.of`: ``bound="2 min", window="1 h", lateness="20 min"``.

    Returns
    -------
    OwnEvents
        The scenario, what was set aside, and what was assumed.

    Raises
    ------
    OwnEventsError
        If a column is missing, the table has no rows, or none can be read.
    ScenarioError
        If a setting is wrong.

    Examples
    --------
    >>> import pandas as pd, wmviz
    >>> rides = pd.DataFrame(
    ...     {"left": ["2026-10-17T07:00Z", "2026-10-17T06:58Z", "soon"], "came": ["2026-10-17T07:01Z"] * 3}
    ... )
    >>> own = wmviz.own.read_frame(rides, "left", "came", bound="1 min")
    >>> own.scenario
    <Scenario own-events: 2 events>
    >>> own.set_aside.iloc[0].to_dict()
    {'row': 2, 'column': 'left', 'value': 'soon', 'reason': "'soon' is not a time"}
    """
    if not isinstance(frame, pd.DataFrame):
        raise OwnEventsError(f"read_frame takes a pandas table, not {_instead(frame)}")
    frame = _with_index(frame, (event_time, arrival_time, key, value, partition))
    found = roles(list(frame.columns), _wanted(event_time, arrival_time, key, value, partition))
    table = Table(frame.reset_index(drop=True), found)
    return _own(table, "the table", Options(time_unit, zone, time_format, scale), settings, Progress(progress))


def read_csv(
    path: str | Path,
    event_time: Any = None,
    arrival_time: Any = None,
    key: Any = None,
    value: Any = None,
    partition: Any = None,
    *,
    separator: str | None = None,
    names: Sequence[str] | None = None,
    time_unit: str | None = None,
    zone: str | None = None,
    time_format: str | None = None,
    scale: float | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> OwnEvents:
    """Read events from a CSV file, ``.csv`` or ``.csv.gz``; what else there is, is as in `read_frame`.

    Parameters
    ----------
    path
        The file, in UTF-8. Its first line names the columns.
    separator
        What divides the cells: a comma, a semicolon, a tab or a bar. Without it, the first line tells.
    names
        The names of the columns, if the file has no first line with them.

    Returns
    -------
    OwnEvents
        The scenario; `set_aside` has the line of the file.

    Raises
    ------
    OwnEventsError
        If the file cannot be read, is empty, has no names, or a column is missing.
    """
    if separator is not None and separator not in SEPARATORS:
        raise OwnEventsError(f'separator is {shown(separator)}; write ",", ";", "|" or a tab')
    if names is not None and (isinstance(names, str) or not all(isinstance(name, str) for name in names)):
        raise OwnEventsError(f'names is {shown(names)}; write a list of names: ["event_time", "key"]')
    file, line = _path(path, "read_csv"), Progress(progress)
    wanted = _wanted(event_time, arrival_time, key, value, partition)
    table = csv_table(file, wanted, separator, list(names) if names else None, line)
    return _own(table, file.name, Options(time_unit, zone, time_format, scale), settings, line)


def read_json_lines(
    path: str | Path,
    event_time: Any = None,
    arrival_time: Any = None,
    key: Any = None,
    value: Any = None,
    partition: Any = None,
    *,
    time_unit: str | None = None,
    zone: str | None = None,
    time_format: str | None = None,
    scale: float | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> OwnEvents:
    """Read events from a file with a JSON object in each line; what else there is, is as in `read_frame`.

    A name with points leads into an object, also into one that is written as text: ``"payload.user.id"``.

    Returns
    -------
    OwnEvents
        The scenario; `set_aside` has the line of the file.

    Raises
    ------
    OwnEventsError
        If the file cannot be read, is empty, holds no objects, or a column is missing.
    """
    file, line = _path(path, "read_json_lines"), Progress(progress)
    table = json_lines_table(file, _wanted(event_time, arrival_time, key, value, partition), line)
    return _own(table, file.name, Options(time_unit, zone, time_format, scale), settings, line)


def read_parquet(
    path: str | Path,
    event_time: Any = None,
    arrival_time: Any = None,
    key: Any = None,
    value: Any = None,
    partition: Any = None,
    *,
    time_unit: str | None = None,
    zone: str | None = None,
    time_format: str | None = None,
    scale: float | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> OwnEvents:
    """Read events from a Parquet file, with pyarrow; what else there is, is as in `read_frame`.

    Returns
    -------
    OwnEvents
        The scenario, what was set aside, and what was assumed.

    Raises
    ------
    OwnEventsError
        If pyarrow is not installed, the file cannot be read, or a column is missing.
    """
    file = _path(path, "read_parquet")
    table = parquet_table(file, _wanted(event_time, arrival_time, key, value, partition))
    return _own(table, file.name, Options(time_unit, zone, time_format, scale), settings, Progress(progress))


def warn_of(own: OwnEvents, stacklevel: int) -> None:
    """Warn in a sentence of rows that were set aside, and of what was assumed."""
    import warnings

    if own.rows_set_aside:
        notes = " ".join(("wmviz.own.read_frame(…), and its like, give them with their reasons.", *own.notes))
        warnings.warn(f"{own.sentence} {notes}", OwnEventsWarning, stacklevel=stacklevel + 1)
    elif own.notes:
        warnings.warn(" ".join(own.notes), OwnEventsWarning, stacklevel=stacklevel + 1)


def _wanted(event_time: Any, arrival_time: Any, key: Any, value: Any, partition: Any) -> dict[str, Any]:
    named = {"arrival_time": arrival_time, "key": key, "value": value, "partition": partition}
    return {"event_time": event_time, **named}


def _instead(table: Any) -> str:
    """Say what a table of another kind is, and how it becomes one of pandas."""
    kind = type(table)
    if hasattr(kind, "to_pandas"):
        return f"a {kind.__name__} of {kind.__module__.partition('.')[0]}; write table.to_pandas()"
    return f"{kind.__name__}; write pandas.DataFrame(…)"


def _with_index(frame: pd.DataFrame, named: tuple[Any, ...]) -> pd.DataFrame:
    """Make columns of the levels of the index that are named; refuse times there that nobody names."""
    columns, frame = list(frame.columns), with_index(frame, named)
    if isinstance(frame.index, pd.DatetimeIndex) and named[0] is None and not set(USUAL["event_time"]) & set(columns):
        raise OwnEventsError(
            'the table has no column event_time, and times in its index; write frame.reset_index(names="event_time")'
        )
    return frame


def _path(path: Any, taker: str) -> Path:
    if not isinstance(path, str | Path):
        raise OwnEventsError(f"{taker} takes the path of a file, not {type(path).__name__}")
    file = Path(path).expanduser()
    if file.is_dir():
        raise OwnEventsError(f"{file} is a folder; name a file in it")
    return file


def _own(table: Table, source: str, options: Options, settings: dict[str, Any], progress: Progress) -> OwnEvents:
    try:
        return OwnEvents(*assemble(table, options, settings, progress), source)
    finally:
        progress.done()
