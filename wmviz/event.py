"""Events: what a stream is made of, and how they are read from a scenario file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from wmviz.fields import MOMENT, TEXT, Field, Kind, ScenarioError, is_int, kind_words, read_fields, same
from wmviz.times import time_text

MOST_VALUE = 10**12
"""The largest value of an event, so that no sum leaves 64 bits."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event of the stream.

    Attributes
    ----------
    id
        Its name, unique in the scenario: ``key@time``, repeats get ``#2``.
    key
        What the stream is keyed by.
    value
        A whole number in the smallest unit (metres, cents), so that sums are exact.
    event_time_ms
        When it happened: the record's timestamp.
    arrival_time_ms
        When it reaches the source: processing time.
    partition
        The partition that it arrives on, from 0.
    """

    id: str
    key: str
    value: int
    event_time_ms: int
    arrival_time_ms: int
    partition: int = 0


EVENT_FIELDS = (
    Field("key", "key", TEXT, None, "What the stream is keyed by."),
    Field(
        "value",
        "value",
        Kind(
            same,
            same,
            lambda v: is_int(v) and abs(v) <= MOST_VALUE,
            f"a whole number, at most {MOST_VALUE}",
            {"type": "integer"},
        ),
        None,
        "A whole number in the smallest unit: metres, cents.",
    ),
    Field("event_time", "event_time_ms", MOMENT, None, "When it happened."),
    Field("arrival_time", "arrival_time_ms", MOMENT, None, "When it reaches the source; left out: at once."),
    Field(
        "partition",
        "partition",
        Kind(
            same,
            same,
            lambda v: is_int(v) and 0 <= v < 1024,
            "a number from 0 to 1023",
            {"type": "integer", "minimum": 0},
        ),
        0,
        "The partition that it arrives on.",
    ),
    Field("id", "id", TEXT, None, "Its name; left out: key@time."),
)
EVENT_ROW = ("key", "value", "event_time", "arrival_time", "partition")


def read_events(value: Any, zone: str | None) -> tuple[Event, ...]:
    """Read a list of events, in order of arrival afterwards; `zone` is the one that their names are made in."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ScenarioError(f"events is {kind_words(value)}; write a list of events")
    taken: dict[str, int] = {}
    events = [_read_event(item, index, zone, taken) for index, item in enumerate(value)]
    return tuple(sorted(events, key=lambda event: event.arrival_time_ms))


def named_events(rows: Iterable[tuple[str, int, int, int]], zone: str | None) -> tuple[Event, ...]:
    """Make events of the rows of a generator, which need no check."""
    taken: dict[str, int] = {}
    return tuple(Event(event_id(row[0], row[2], zone, taken), *row) for row in rows)


def _read_event(item: Any, index: int, zone: str | None, taken: dict[str, int]) -> Event:
    if isinstance(item, Event):
        return item
    where = f"events[{index}]"
    if isinstance(item, (list, tuple)):
        if not 3 <= len(item) <= len(EVENT_ROW):
            raise ScenarioError(
                f"{where} has {len(item)} entries; write [key, value, event time, arrival time, partition]"
            )
        item = dict(zip(EVENT_ROW, item, strict=False))
    if not isinstance(item, Mapping):
        raise ScenarioError(
            f'{where} is {kind_words(item)}; write {{"key": …, "value": …, "event_time": …, "arrival_time": …}}'
        )
    read = read_fields(item, EVENT_FIELDS, f"{where}.")
    for needed in ("key", "value", "event_time"):
        if needed not in item:
            raise ScenarioError(f"{where} has no {needed}; every event needs key, value and event_time")
    read.setdefault("arrival_time_ms", read["event_time_ms"])
    if "id" not in read:
        read["id"] = event_id(read["key"], read["event_time_ms"], zone, taken)
    return Event(**read)


def event_id(key: str, event_time_ms: int, zone: str | None, taken: dict[str, int]) -> str:
    """Name an event ``key@time``; a repeat gets ``#2``, ``#3``.

    Parameters
    ----------
    taken
        How often each name was given before; it is brought up to date.
    """
    plain = f"{key}@{time_text(event_time_ms, zone)}"
    taken[plain] = count = taken.get(plain, 0) + 1
    return plain if count == 1 else f"{plain}#{count}"


def write_events(events: Iterable[Event], zone: str | None) -> list[dict[str, Any]]:
    """Give events as JSON data; an id or partition that would be read back the same is left out."""
    taken: dict[str, int] = {}
    rows = []
    for event in events:
        row = {field.name: field.write(getattr(event, field.attribute)) for field in EVENT_FIELDS}
        if event.id == event_id(event.key, event.event_time_ms, zone, taken):
            del row["id"]
        if event.partition == 0:
            del row["partition"]
        rows.append(row)
    return rows
