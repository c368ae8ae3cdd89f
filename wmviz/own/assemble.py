"""From the columns of a table to a scenario: times, keys, values and partitions, in order of arrival."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from wmviz.event import Event, event_id
from wmviz.own.columns import Labels, read_labels, read_partitions, read_values
from wmviz.own.errors import OwnEventsError
from wmviz.own.files import Broken, Table
from wmviz.own.moments import Flags, Longs, Reasons, read_moments
from wmviz.own.progress import Progress
from wmviz.scenario import Scenario
from wmviz.times import time_text

ONE_KEY = "all"
"""The key of every event where no column has one."""
_TELL_EVERY = 20_000


class Options(NamedTuple):
    """How columns are read; see `wmviz.own.read_frame`."""

    time_unit: str | None = None
    zone: str | None = None
    time_format: str | None = None
    scale: float | None = None


class Assembled(NamedTuple):
    """What came of a table: the scenario, what was set aside, what was assumed."""

    scenario: Scenario
    set_aside: pd.DataFrame
    notes: tuple[str, ...]
    rows: int


class _Columns(NamedTuple):
    """Columns of the rows that are kept, in the order of the table."""

    event_ms: Longs
    arrival_ms: Longs
    key: Longs
    keys: tuple[str, ...]
    value: Longs
    partition: Longs
    partitions: int


def assemble(table: Table, options: Options, settings: Mapping[str, Any], progress: Progress) -> Assembled:
    """Make a scenario of a table.

    Raises
    ------
    OwnEventsError
        If no row is left, or a column as a whole cannot be read.
    ScenarioError
        If a setting is wrong.
    """
    _leave_out_empty(table)
    job = _job(settings, options.zone, has_value="value" in table.roles)
    if not len(table.frame) and not table.broken:
        raise OwnEventsError("the table has no rows; there is nothing to read")
    notes, columns, aside = _read(table, options, settings.get("partitions"), progress)
    set_aside = _frame_aside(aside, table)
    rows = len(table.frame) + len(table.broken)
    if not len(columns.event_ms):
        first = set_aside.iloc[0]
        where = f"{'line' if table.line is not None else 'row'} {first.iloc[0]}"
        column = f"{first['column']} " if first["column"] else ""
        raise OwnEventsError(f"no row can be read: {where}: {column}{first['reason']}")
    events = _events(columns, options.zone, progress)
    aside_words = f"{rows - len(events):,} of {rows:,} rows were set aside." if len(events) < rows else ""
    scenario = replace(
        job,
        events=events,
        partitions=job.partitions or columns.partitions,
        about=job.about or aside_words,
    )
    return Assembled(scenario, set_aside, tuple(notes), rows)


def _leave_out_empty(table: Table) -> None:
    """Go without a column that is empty in every row, where one can."""
    for role, name in list(table.roles.items()):
        if role == "event_time" or not len(table.frame):
            continue
        cells = table.frame[name]
        full = cells[cells.notna()]
        if full.dtype == object or pd.api.types.is_string_dtype(full):
            full = full[[not isinstance(cell, str) or bool(cell.strip()) for cell in full]]
        if not len(full):
            table.notes.append(f"{name}: empty in every row, so it is not used.")
            del table.roles[role]


def _job(settings: Mapping[str, Any], zone: str | None, *, has_value: bool) -> Scenario:
    """Make the job without its events: the settings are checked before a long read."""
    for name in ("events", "happenings"):
        if name in settings:
            raise OwnEventsError(f"{name} is no setting here; the events come from the table")
    named = {"name": "own-events", "title": "Your own events"} if "name" not in settings else {}
    given = {**named, **({} if has_value else {"aggregate": "count"}), **settings}
    if zone is not None:
        given["zone"] = zone
    return Scenario.of(**given)


def _read(
    table: Table, options: Options, partitions: Any, progress: Progress
) -> tuple[list[str], _Columns, dict[str, Reasons]]:
    """Read every column; a row is kept if all of them can be read."""
    frame, roles = table.frame, table.roles
    notes, aside = list(table.notes), {}
    times = {}
    for role in ("event_time", "arrival_time"):
        if role in roles:
            progress.tell(f"reading the times of {roles[role]}")
            read = read_moments(
                frame[roles[role]],
                str(roles[role]),
                time_unit=options.time_unit,
                zone=options.zone,
                time_format=options.time_format,
            )
            times[role], aside[str(roles[role])] = read.ms, read.reasons
            notes += read.notes
    progress.tell("reading keys and values")
    keys = read_labels(frame[roles["key"]]) if "key" in roles else None
    value = read_values(frame[roles["value"]], str(roles["value"]), options.scale) if "value" in roles else None
    parts: Labels | None = None
    if "partition" in roles:
        parts, more = read_partitions(frame[roles["partition"]], str(roles["partition"]), partitions)
        notes += more
    for role, labels in (("key", keys), ("value", value), ("partition", parts)):
        if labels is not None:
            aside.setdefault(str(roles[role]), labels.reasons)
    notes += _what_is_missing(roles) + list(value.notes if value else ())
    kept: Flags = np.ones(len(frame), dtype=bool)
    for reasons in aside.values():
        kept &= reasons == ""
    zeros = np.zeros(int(kept.sum()), dtype=np.int64)
    event_ms = times["event_time"][kept]
    arrival_ms = times["arrival_time"][kept] if "arrival_time" in times else np.maximum.accumulate(event_ms)
    columns = _Columns(
        event_ms,
        arrival_ms,
        keys.codes[kept] if keys else zeros,
        keys.names if keys else (ONE_KEY,),
        value.whole[kept] if value else zeros + 1,
        parts.codes[kept] if parts else zeros,
        len(parts.names) if parts else 0,
    )
    return notes, columns, aside


def _what_is_missing(roles: Mapping[str, Any]) -> list[str]:
    """Say what is assumed where there is no column."""
    notes = []
    if "arrival_time" not in roles:
        notes.append(
            "There is no arrival time: the order of the rows is the order of arrival. Each event is taken to arrive "
            "when the newest one before it happened, so lags and waits are at least those shown."
        )
    if "key" not in roles:
        notes.append(f'There is no key: all events have the key "{ONE_KEY}".')
    if "value" not in roles:
        notes.append("There is no value: events are counted.")
    return notes


def _events(columns: _Columns, zone: str | None, progress: Progress) -> tuple[Event, ...]:
    """Make the events, in order of arrival; at equal times in the order of the table."""
    order = np.argsort(columns.arrival_ms, kind="stable")
    lists = (
        columns.key[order].tolist(),
        columns.value[order].tolist(),
        columns.event_ms[order].tolist(),
        columns.arrival_ms[order].tolist(),
        columns.partition[order].tolist(),
    )
    taken: dict[str, int] = {}
    events, keys = [], columns.keys
    for place, (key, value, event_ms, arrival_ms, partition) in enumerate(zip(*lists, strict=True)):
        if place % _TELL_EVERY == 0:
            progress.tell(f"{place:,} of {len(order):,} events made")
        name = keys[key]
        events.append(Event(event_id(name, event_ms, zone, taken), name, value, event_ms, arrival_ms, partition))
    return tuple(events)


def _frame_aside(aside: Mapping[str, Reasons], table: Table) -> pd.DataFrame:
    """List what was set aside, in the order of the table: where, which column, what stands there, why."""
    where = "row" if table.line is None else "line"
    rows: list[Broken] = list(table.broken)
    names = {str(name): name for name in table.roles.values()}
    for column, reasons in aside.items():
        cells = table.frame[names[column]]
        for row in np.flatnonzero(reasons != ""):
            place = int(row if table.line is None else table.line[row])
            rows.append((place, column, cells.iloc[row], reasons[row]))
    rows.sort(key=lambda row: row[0])
    frame = pd.DataFrame(rows, columns=[where, "column", "value", "reason"])
    return frame.astype({where: "int64"})


def span_text(scenario: Scenario) -> str:
    """Say from when to when the events happened."""
    times = [event.event_time_ms for event in scenario.events]
    return f"{time_text(min(times), scenario.zone)} to {time_text(max(times), scenario.zone)}"
