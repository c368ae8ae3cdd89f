"""What goes in: a Scenario is a stream of events and the settings of the job that reads it.

A scenario is data only. It is written in JSON with the names of `FIELDS`, times as ``"6:56"`` or ISO 8601 and
durations as ``"2 min"``; in code the same fields are ints with the unit in the name (``bound_ms``). ``Scenario.of`` and
``Scenario.replace`` take the JSON names.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from wmviz.generators import generate
from wmviz.times import MAX_MS, MIN_MS, TimeError, duration_ms, duration_text, iso_text, time_ms, time_text, zone_info

MOST_WINDOWS_PER_EVENT = 10_000_000
"""Flink's limit on size / slide (SlidingEventTimeWindows)."""
MOST_VALUE = 10**12
"""The largest value of an event, so that no sum leaves 64 bits."""


class ScenarioError(ValueError):
    """A scenario that cannot be; the message is a sentence that says what is wrong, where, and what to write."""

    def _render_traceback_(self) -> list[str]:
        """Let a notebook show the sentence alone: the mistake is in the input, not in our code."""
        return [f"ScenarioError: {self}"]


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


@dataclass(frozen=True, slots=True)
class Window:
    """How the stream is cut into windows.

    Attributes
    ----------
    type
        ``"tumbling"``, ``"sliding"`` or ``"global"``: TumblingEventTimeWindows, SlidingEventTimeWindows, GlobalWindows.
    size_ms, slide_ms, offset_ms
        Length of a window, distance of two starts (sliding), shift of the grid against the epoch.
    time
        ``"event"``, or ``"processing"`` for windows by the clock of the machine (TumblingProcessingTimeWindows).
    trigger
        ``"default"``, ``"event_time"``, ``"processing_time"``, ``"count:N"``, ``"end_of_stream"`` (global windows),
        ``"never"``; the first three kinds also with ``"purging_"`` in front.
    """

    type: str = "tumbling"
    size_ms: int = 0
    slide_ms: int = 0
    offset_ms: int = 0
    time: str = "event"
    trigger: str = "default"


@dataclass(frozen=True, slots=True)
class Scenario:
    """A stream of events and the job that reads it; frozen, and checked when it is made.

    `FIELDS` lists every field with its JSON name and meaning. Make one with `Scenario.of`, `Scenario.load` or
    ``wmviz.scenario(name)``, and vary it with `replace`.

    Raises
    ------
    ScenarioError
        If a field is unknown, of the wrong kind, or out of its range: one sentence that names the field.
    """

    name: str = "untitled"
    title: str = ""
    about: str = ""
    events: tuple[Event, ...] = ()
    generated: str | None = None
    strategy: str = "bounded"
    bound_ms: int = 0
    emission: str = "event"
    interval_ms: int = 200
    window: Window = Window(size_ms=3_600_000)
    lateness_ms: int = 0
    late_to: str = "drop"
    aggregate: str = "sum"
    sink: str = "upsert"
    start_ms: int | None = None
    end_of_input_ms: int | None = None
    unit: str = ""
    zone: str | None = None

    def __post_init__(self) -> None:
        """Check what no single field can check alone."""
        for field in FIELDS:
            field.check(getattr(self, field.attribute))
        _check_window(self.window)
        _check_events(self)

    @classmethod
    def of(cls, **fields: Any) -> Scenario:
        """Make a scenario from fields with their JSON names.

        Parameters
        ----------
        **fields
            The names of `FIELDS`: ``Scenario.of(events=[["r9", 1000, "6:56", "7:09"]], bound="2 min", window="1 h")``.
            An event is a row [key, value, event time, arrival time, partition] or a mapping with those names.

        Raises
        ------
        ScenarioError
            If a field is unknown or wrong.
        """
        return cls(**_read(fields, {}))

    @classmethod
    def from_json(cls, data: Any) -> Scenario:
        """Make a scenario from parsed JSON (a mapping with the names of `FIELDS`)."""
        if not isinstance(data, Mapping):
            raise ScenarioError(f"a scenario is an object with fields such as events and window, not {_kind(data)}")
        return cls.of(**{str(name): value for name, value in data.items() if name != "$schema"})

    @classmethod
    def load(cls, path: str | Path) -> Scenario:
        """Read a scenario from a JSON file.

        Raises
        ------
        ScenarioError
            If the file cannot be read, is no JSON, or is no scenario. The sentence names the file.
        """
        try:
            return cls.from_json(json.loads(Path(path).read_text(encoding="utf-8")))
        except OSError as error:
            raise ScenarioError(f"{path} cannot be read: {error.strerror}") from None
        except json.JSONDecodeError as error:
            raise ScenarioError(f"{path} is no JSON: line {error.lineno}, column {error.colno}: {error.msg}") from None
        except UnicodeDecodeError:
            raise ScenarioError(f"{path} is no JSON: it is not text in UTF-8") from None
        except RecursionError:
            raise ScenarioError(f"{path} is nested too deeply for a scenario") from None
        except ScenarioError as error:
            raise ScenarioError(f"{path}: {error}") from None

    def to_json(self) -> dict[str, Any]:
        """Give the scenario as JSON data; fields that have their default are left out."""
        data = {}
        for field in FIELDS:
            value = getattr(self, field.attribute)
            if value != field.default:
                data[field.name] = _write_events(self) if field.name == "events" else field.write(value)
        return data

    def save(self, path: str | Path) -> None:
        """Write the scenario to a JSON file, one event a line."""
        Path(path).write_text(json_text(self.to_json()), encoding="utf-8")

    def replace(self, **changes: Any) -> Scenario:
        """Give a variation of this scenario.

        Parameters
        ----------
        **changes
            Fields with their JSON names: ``replace(bound="2 min", window={"offset": "30 min"})``. A window given
            without a type changes the present one; a generator given without a name changes the present one.
        """
        return replace(self, **_read(changes, {"window": self.window, "generated": self.generated}))

    def by_server_clock(self) -> Scenario:
        """Give the same arrivals counted by the clock of the server: processing-time windows, no watermarks."""
        window = replace(self.window, time="processing", trigger="default")
        return replace(self, name=f"{self.name}-by-server-clock", window=window, strategy="none", lateness_ms=0)

    def sample(self, keys: int) -> Scenario:
        """Keep the events of the first `keys` keys, in order of arrival; the settings stay."""
        kept = set(list(dict.fromkeys(event.key for event in self.events))[:keys])
        events = tuple(event for event in self.events if event.key in kept)
        return replace(self, name=f"{self.name}-sample", events=events, generated=None)

    def schedule(self) -> Iterator[tuple[int, int | None]]:
        """Walk through what happens at the source, in order.

        Yields
        ------
        tuple of (int, int or None)
            Processing time in ms and the index of the event that arrives, or None for a periodic tick. Only the ticks
            that can change something are given: the first one after each group of arrivals. Ticks lie on a grid of
            ``interval_ms`` from the scenario's start; on equal milliseconds the arrival comes first.
        """
        ticks = self.emission == "interval" and self.strategy != "none"
        tick_ms = None
        for index, event in enumerate(self.events):
            at_ms = event.arrival_time_ms
            if tick_ms is not None and tick_ms < at_ms:
                yield tick_ms, None
            yield at_ms, index
            if ticks:
                tick_ms = self.next_tick_ms(at_ms)
        if tick_ms is not None and (self.end_of_input_ms is None or tick_ms <= self.end_of_input_ms):
            yield tick_ms, None

    def next_tick_ms(self, at_ms: int) -> int:
        """Give the first periodic tick at or after a time; the first of all is one interval after the start."""
        ticks = -((self.grid_start_ms - at_ms) // self.interval_ms)
        return self.grid_start_ms + max(1, ticks) * self.interval_ms

    @property
    def grid_start_ms(self) -> int:
        """When the job starts: `start_ms`, or the first arrival if none is set."""
        if self.start_ms is not None:
            return self.start_ms
        return self.events[0].arrival_time_ms if self.events else 0

    def __repr__(self) -> str:
        """Say in a line what it is."""
        return f"<Scenario {self.name}: {len(self.events)} events>"


def json_text(data: Mapping[str, Any]) -> str:
    """Write JSON data with one line for each field and each event."""
    lines = []
    for name, value in data.items():
        if isinstance(value, list):
            rows = ",\n".join(f"    {json.dumps(row, ensure_ascii=False)}" for row in value)
            text = f"[\n{rows}\n  ]"
        else:
            text = json.dumps(value, ensure_ascii=False)
        lines.append(f"  {json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


# ---------------------------------------------------------------------------------------------- kinds of fields


class Kind(NamedTuple):
    """A kind of field: how it is read from JSON, written back, checked in code, and described in the JSON Schema."""

    read: Callable[[Any], Any]
    write: Callable[[Any], Any]
    fits: Callable[[Any], bool]
    words: str
    schema: dict[str, Any]


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _in_long(value: Any) -> bool:
    return _is_int(value) and MIN_MS < value < MAX_MS


def _same(value: Any) -> Any:
    return value


def _one_of(*words: str) -> Kind:
    listed = " or ".join((", ".join(f'"{word}"' for word in words[:-1]), f'"{words[-1]}"'))
    return Kind(_same, _same, lambda value: value in words, listed, {"enum": list(words)})


def _optional(kind: Kind) -> Kind:
    return Kind(
        lambda value: None if value is None else kind.read(value),
        lambda value: None if value is None else kind.write(value),
        lambda value: value is None or kind.fits(value),
        f"{kind.words}, or null",
        {"anyOf": [kind.schema, {"type": "null"}]},
    )


_DURATION = {"anyOf": [{"type": "string", "examples": ["2 min", "1 h 30 min", "200 ms"]}, {"type": "integer"}]}
_TIME = {"anyOf": [{"type": "string", "examples": ["6:56", "2026-10-17T07:00+05:30"]}, {"type": "integer"}]}
TEXT = Kind(_same, _same, lambda value: isinstance(value, str), "text", {"type": "string"})
LENGTH = Kind(duration_ms, duration_text, lambda v: _in_long(v) and v >= 0, 'a duration, 0 or more: "2 min"', _DURATION)
STEP = Kind(duration_ms, duration_text, lambda v: _in_long(v) and v > 0, 'a duration above 0: "200 ms"', _DURATION)
SHIFT = Kind(duration_ms, duration_text, _in_long, 'a duration, which may be negative: "30 min"', _DURATION)
MOMENT = Kind(time_ms, iso_text, _in_long, 'a time: "6:56"', _TIME)


def _is_zone(value: Any) -> bool:
    zone_info(value)
    return True


ZONE = Kind(
    _same,
    _same,
    lambda v: isinstance(v, str) and _is_zone(v),
    'a zone: "+05:30" or "Europe/Berlin"',
    {"type": "string"},
)


class Field(NamedTuple):
    """A field of a scenario or of its window: its JSON name, its name in code, kind, default and meaning."""

    name: str
    attribute: str
    kind: Kind
    default: Any
    about: str

    def read(self, value: Any) -> Any:
        """Read the JSON value; what is not of the kind is refused by the field's name."""
        try:
            return self.check(self.kind.read(value))
        except TimeError as error:
            raise ScenarioError(f"{self.name}: {error}") from None

    def check(self, value: Any) -> Any:
        """Give the value back if it fits."""
        try:
            if self.kind.fits(value):
                return value
        except TimeError as error:
            raise ScenarioError(f"{self.name}: {error}") from None
        except TypeError:
            pass
        raise ScenarioError(f"{self.name} is {_shown(value)}; write {self.kind.words}")

    def write(self, value: Any) -> Any:
        """Give the value as JSON."""
        return self.kind.write(value)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _kind(value: Any) -> str:
    names = {list: "a list", tuple: "a list", str: "text", dict: "an object", type(None): "null"}
    return names.get(type(value), _shown(value))


# ------------------------------------------------------------------------------------------------------- windows

TRIGGERS = "default, event_time, processing_time, count:N, end_of_stream, never, or purging_ before the first four"


def _is_trigger(value: Any) -> bool:
    base = value.removeprefix("purging_") if isinstance(value, str) else ""
    if base.startswith("count:"):
        return base[6:].isascii() and base[6:].isdigit() and 0 < int(base[6:]) < 2**31
    return base in ("event_time", "processing_time") or value in ("default", "end_of_stream", "never")


TRIGGER = Kind(_same, _same, _is_trigger, TRIGGERS, {"type": "string", "examples": ["purging_event_time", "count:2"]})
WINDOW_FIELDS = (
    Field("type", "type", _one_of("tumbling", "sliding", "global"), "tumbling", "How windows are cut."),
    Field("size", "size_ms", LENGTH, 0, "Length of a window; every type but global needs it."),
    Field("slide", "slide_ms", LENGTH, 0, "Distance between the starts of two sliding windows."),
    Field("offset", "offset_ms", SHIFT, 0, "Shift of the grid of windows against 1970-01-01 00:00 UTC."),
    Field("time", "time", _one_of("event", "processing"), "event", "The clock that windows go by."),
    Field("trigger", "trigger", TRIGGER, "default", "When a window fires."),
)


def _read_window(value: Any, present: Window | None = None) -> Window:
    if isinstance(value, Window):
        return value
    if isinstance(value, str) or _is_int(value):
        value = {"type": "tumbling", "size": value}
    if not isinstance(value, Mapping):
        raise ScenarioError(f'window is {_kind(value)}; write {{"type": "tumbling", "size": "1 h"}}')
    read = _read_fields(value, WINDOW_FIELDS, "window.")
    return replace(present, **read) if present and "type" not in read else Window(**read)


def _write_window(window: Window) -> dict[str, Any]:
    kept = (
        field for field in WINDOW_FIELDS if field.name == "type" or getattr(window, field.attribute) != field.default
    )
    return {field.name: field.write(getattr(window, field.attribute)) for field in kept}


def _check_window(window: Window) -> None:
    for field in WINDOW_FIELDS:
        field._replace(name=f"window.{field.name}").check(getattr(window, field.attribute))
    if window.type == "global":
        if window.size_ms or window.slide_ms or window.offset_ms or window.time != "event":
            raise ScenarioError("window: global windows have no size, slide, offset or time; leave them out")
    elif window.size_ms == 0:
        raise ScenarioError('window.size is 0; write a duration above 0: "1 h"')
    if (window.type == "sliding") != (window.slide_ms > 0):
        raise ScenarioError("window.slide belongs to sliding windows: a duration above 0 there, left out elsewhere")
    grid_ms, grid = (window.slide_ms, "slide") if window.type == "sliding" else (window.size_ms, "size")
    if window.type != "global" and abs(window.offset_ms) >= grid_ms:
        raise ScenarioError(f"window.offset is {duration_text(window.offset_ms)}; it must be smaller than the {grid}")
    if window.slide_ms and window.size_ms // window.slide_ms > MOST_WINDOWS_PER_EVENT:
        raise ScenarioError(
            f"window.slide puts an event into more than {MOST_WINDOWS_PER_EVENT} windows; make it longer"
        )
    base = window.trigger.removeprefix("purging_")
    if base == "end_of_stream" and window.type != "global":
        raise ScenarioError(
            'window.trigger "end_of_stream" belongs to global windows (GlobalWindows.createWithEndOfStreamTrigger)'
        )
    if base in ("event_time", "processing_time") and base != f"{window.time}_time":
        raise ScenarioError(
            f'window.trigger is "{window.trigger}" but the window goes by {window.time} time; make them agree'
        )


# -------------------------------------------------------------------------------------------------------- events

EVENT_FIELDS = (
    Field("key", "key", TEXT, None, "What the stream is keyed by."),
    Field(
        "value",
        "value",
        Kind(
            _same,
            _same,
            lambda v: _is_int(v) and abs(v) <= MOST_VALUE,
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
            _same, _same, lambda v: _is_int(v) and 0 <= v < 1024, "a number from 0", {"type": "integer", "minimum": 0}
        ),
        0,
        "The partition that it arrives on.",
    ),
    Field("id", "id", TEXT, None, "Its name; left out: key@time."),
)
_EVENT_ROW = ("key", "value", "event_time", "arrival_time", "partition")


def _read_events(value: Any, zone: str | None) -> tuple[Event, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ScenarioError(f"events is {_kind(value)}; write a list of events")
    taken: dict[str, int] = {}
    events = [_read_event(item, index, zone, taken) for index, item in enumerate(value)]
    return tuple(sorted(events, key=lambda event: event.arrival_time_ms))


def _named_events(rows: Iterable[tuple[str, int, int, int]], zone: str | None) -> tuple[Event, ...]:
    """Make events of the rows of a generator, which need no check."""
    taken: dict[str, int] = {}
    return tuple(Event(event_id(row[0], row[2], zone, taken), *row) for row in rows)


def _read_event(item: Any, index: int, zone: str | None, taken: dict[str, int]) -> Event:
    if isinstance(item, Event):
        return item
    where = f"events[{index}]"
    if isinstance(item, (list, tuple)):
        if not 3 <= len(item) <= len(_EVENT_ROW):
            raise ScenarioError(
                f"{where} has {len(item)} entries; write [key, value, event time, arrival time, partition]"
            )
        item = dict(zip(_EVENT_ROW, item, strict=False))
    if not isinstance(item, Mapping):
        raise ScenarioError(
            f'{where} is {_kind(item)}; write {{"key": …, "value": …, "event_time": …, "arrival_time": …}}'
        )
    read = _read_fields(item, EVENT_FIELDS, f"{where}.")
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


def _write_events(scenario: Scenario) -> Any:
    if scenario.generated is not None:
        return json.loads(scenario.generated)
    taken: dict[str, int] = {}
    rows = []
    for event in scenario.events:
        row = {field.name: field.write(getattr(event, field.attribute)) for field in EVENT_FIELDS}
        if event.id == event_id(event.key, event.event_time_ms, scenario.zone, taken):
            del row["id"]
        if event.partition == 0:
            del row["partition"]
        rows.append(row)
    return rows


def _check_events(scenario: Scenario) -> None:
    previous_ms, seen = MIN_MS, set()
    for index, event in enumerate(scenario.events):
        if event.id in seen:
            raise ScenarioError(f"events[{index}].id is {_shown(event.id)} again; every event needs its own id")
        seen.add(event.id)
        if event.arrival_time_ms < previous_ms:
            raise ScenarioError(f"events[{index}] ({event.id}) is out of order; list events by arrival time")
        previous_ms = event.arrival_time_ms
    if not scenario.events:
        return
    first, last = scenario.events[0], scenario.events[-1]
    if scenario.start_ms is not None and first.arrival_time_ms < scenario.start_ms:
        raise ScenarioError(f"start is {iso_text(scenario.start_ms)}, after the arrival of {first.id}; make it earlier")
    if scenario.end_of_input_ms is not None and last.arrival_time_ms > scenario.end_of_input_ms:
        end = iso_text(scenario.end_of_input_ms)
        raise ScenarioError(f"end_of_input is {end}, before the arrival of {last.id}; make it later or null")


# ------------------------------------------------------------------------------------------------- the whole

WINDOW = Kind(
    _read_window, _write_window, lambda v: isinstance(v, Window), 'an object: {"type": "tumbling", "size": "1 h"}', {}
)
EVENTS = Kind(
    _same, _same, lambda v: isinstance(v, tuple) and all(isinstance(e, Event) for e in v), "a list of events", {}
)
FIELDS = (
    Field("name", "name", TEXT, "untitled", "Its name in the catalogue."),
    Field("title", "title", TEXT, "", "What it is called on the stage."),
    Field("about", "about", TEXT, "", "One line on what to look at."),
    Field("strategy", "strategy", _one_of("bounded", "ascending", "none"), "bounded", "The watermark strategy."),
    Field("bound", "bound_ms", LENGTH, 0, "Out-of-orderness bound of the bounded strategy."),
    Field("emission", "emission", _one_of("event", "interval"), "event", "Watermarks after every event, or on ticks."),
    Field("interval", "interval_ms", STEP, 200, "Distance of two ticks (pipeline.auto-watermark-interval)."),
    Field("window", "window", WINDOW, Window(size_ms=3_600_000), "How the stream is cut into windows."),
    Field("lateness", "lateness_ms", LENGTH, 0, "Allowed lateness."),
    Field(
        "late_to",
        "late_to",
        _one_of("drop", "side"),
        "drop",
        "Late events: dropped and counted, or to the side output.",
    ),
    Field(
        "aggregate",
        "aggregate",
        _one_of("sum", "count", "max", "min", "average"),
        "sum",
        "Result of a window; average: sum // count.",
    ),
    Field(
        "sink",
        "sink",
        _one_of("upsert", "append"),
        "upsert",
        "One row per key and window that is overwritten, or a row per firing.",
    ),
    Field(
        "start",
        "start_ms",
        _optional(MOMENT),
        None,
        "When the job starts, and with it the grid of ticks; null: first arrival.",
    ),
    Field(
        "end_of_input",
        "end_of_input_ms",
        _optional(MOMENT),
        None,
        "When the input ends with a last watermark MAX; null: it runs on.",
    ),
    Field("unit", "unit", TEXT, "", "The unit of the values, for sentences: m, cents."),
    Field("zone", "zone", _optional(ZONE), None, "The zone that times are shown in."),
    Field("events", "events", EVENTS, (), "The stream, or a seeded generator of it."),
)


def _read_fields(data: Mapping[Any, Any], fields: tuple[Field, ...], where: str = "") -> dict[str, Any]:
    known = {field.name: field for field in fields}
    read = {}
    for name, value in data.items():
        if name not in known:
            close = difflib.get_close_matches(str(name), known, n=1, cutoff=0.5)
            hint = f"did you mean {close[0]!r}?" if close else f"write one of {', '.join(known)}"
            raise ScenarioError(f"there is no field {where + str(name)!r}; {hint}")
        field = known[name]
        read[field.attribute] = field._replace(name=where + field.name).read(value)
    return read


def _read(data: Mapping[str, Any], present: Mapping[str, Any]) -> dict[str, Any]:
    """Read fields by their JSON names into the arguments of `Scenario`."""
    events, rest = data.get("events"), {name: value for name, value in data.items() if name != "events"}
    if "window" in rest:
        rest["window"] = _read_window(rest["window"], present.get("window"))
    read = _read_fields(rest, FIELDS)
    if isinstance(events, Mapping):
        spec = dict(events) if "generate" in events else {**json.loads(present.get("generated") or "{}"), **events}
        try:
            rows = generate(spec)
        except (TimeError, TypeError, ValueError) as error:
            raise ScenarioError(f"events: {error}") from None
        read["events"] = _named_events(rows, read.get("zone"))
        read["generated"] = json.dumps(spec)
    elif "events" in data:
        read["events"], read["generated"] = _read_events(events, read.get("zone")), None
    return read


def json_schema() -> dict[str, Any]:
    """Give the JSON Schema of scenario files; ``catalogue/scenario.schema.json`` is a copy of it."""

    def properties(fields: tuple[Field, ...]) -> dict[str, Any]:
        return {field.name: {"description": field.about, **field.kind.schema} for field in fields}

    event = {"type": "object", "properties": properties(EVENT_FIELDS), "required": ["key", "value", "event_time"]}
    row = {"type": "array", "minItems": 3, "maxItems": len(_EVENT_ROW)}
    listed = {"type": "array", "items": {"anyOf": [{**event, "additionalProperties": False}, row]}}
    generator = {"type": "object", "properties": {"generate": {"type": "string"}}, "required": ["generate"]}
    window = {"type": "object", "properties": properties(WINDOW_FIELDS), "additionalProperties": False}
    fields = properties(FIELDS)
    fields["window"].update({"anyOf": [window, *_DURATION["anyOf"]]})
    fields["events"].update({"anyOf": [listed, generator]})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "wmviz scenario",
        "type": "object",
        "properties": {"$schema": {"type": "string"}, **fields},
        "additionalProperties": False,
    }
