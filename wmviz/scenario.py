"""What goes in: a Scenario is a stream of events and the settings of the job that reads it.

A scenario is data only. It is written in JSON with the names of `FIELDS`, times as ``"6:56"`` or ISO 8601 and
durations as ``"2 min"``; in code the same fields are ints with the unit in the name (``bound_ms``). ``Scenario.of`` and
``Scenario.replace`` take the JSON names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import fill
from typing import Any

from wmviz.event import EVENT_FIELDS, EVENT_ROW, Event, named_events, read_events, write_events
from wmviz.fields import (
    DURATION,
    LENGTH,
    MOMENT,
    STEP,
    TEXT,
    ZONE,
    Field,
    Kind,
    ScenarioError,
    is_int,
    kind_words,
    one_of,
    optional,
    read_fields,
    same,
)
from wmviz.generators import generate
from wmviz.runtime import (
    ALIGNMENT,
    ALIGNMENT_FIELDS,
    CHECKPOINT_FIELDS,
    CHECKPOINTS,
    HAPPENING_FIELDS,
    HAPPENINGS,
    Checkpoints,
    Happening,
    WatermarkAlignment,
    check_settings,
    read_alignment,
    read_checkpoints,
)
from wmviz.times import MAX_MS, MIN_MS, iso_text, shown
from wmviz.window import WINDOW_FIELDS, Window, check_window, read_window, write_window

__all__ = ["FIELDS", "Event", "Scenario", "ScenarioError", "Window", "json_schema"]


_HOURLY = Window(size_ms=3_600_000)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A stream of events and the job that reads it; frozen, and checked when it is made.

    Make one with `Scenario.of`, `Scenario.load` or ``wmviz.scenario(name)``, and vary it with `replace`. These take the
    names and values of a JSON file, which are listed below. As arguments of `Scenario` and as attributes, times and
    durations are ints in milliseconds, under the names in brackets.

    Raises
    ------
    ScenarioError
        If a field is unknown, of the wrong kind, or out of its range: one sentence that names the field.

    Examples
    --------
    >>> import wmviz
    >>> late = ["r9", 500, "6:58", "7:03"]  # key, value, when it happened, when it arrived
    >>> s = wmviz.Scenario.of(events=[["r9", 1000, "6:56"], ["r7", 800, "7:02"], late], bound="1 min", window="1 h")
    >>> wmviz.simulate(s).totals
    {('r9', 21600000, 25200000): 1000}
    >>> wmviz.simulate(s.replace(lateness="10 min")).totals
    {('r9', 21600000, 25200000): 1500}
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
    strategy_at: str = "source"
    api: str = "datastream"
    idle_timeout_ms: int | None = None
    alignment: WatermarkAlignment | None = None
    partitions: int = 0
    subtasks: int = 1
    inputs: int = 1
    window_tasks: int = 1
    work_ms: int = 0
    channel_capacity: int = 0
    window: Window = _HOURLY
    lateness_ms: int = 0
    late_to: str = "drop"
    aggregate: str = "sum"
    checkpoints: Checkpoints | None = None
    happenings: tuple[Happening, ...] = ()
    replay: str = "offsets"
    sink: str = "upsert"
    transaction_timeout_ms: int | None = None
    start_ms: int | None = None
    end_of_input_ms: int | None = None
    unit: str = ""
    zone: str | None = None
    partition_count: int = field(init=False, repr=False, compare=False)
    """Number of partitions, silent ones included."""

    def __post_init__(self) -> None:
        """Check what no single field can check alone."""
        for known in FIELDS:
            known.check(getattr(self, known.attribute))
        check_window(self.window)
        check_settings(self.checkpoints, "checkpoints")
        check_settings(self.alignment, "alignment")
        _check_events(self)
        used = 1 + max((event.partition for event in self.events), default=0)
        object.__setattr__(self, "partition_count", self.partitions or used)
        if used > self.partition_count:
            raise ScenarioError(f"partitions is {self.partitions}, but there are events on number {used - 1}; add some")
        _check_job(self)
        _check_happenings(self)

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
        return cls(**_read(fields))

    @classmethod
    def from_json(cls, data: Any) -> Scenario:
        """Make a scenario from parsed JSON (a mapping with the names of `FIELDS`)."""
        if not isinstance(data, Mapping):
            raise ScenarioError(
                f"a scenario is an object with fields such as events and window, not {kind_words(data)}"
            )
        return cls.of(**{str(name): value for name, value in data.items() if name != "$schema"})

    @classmethod
    def load(cls, path: str | Path) -> Scenario:
        """Read a scenario from a JSON file.

        Raises
        ------
        ScenarioError
            If the file cannot be read, is no JSON, or is no scenario. The sentence names the file.
        """
        if not isinstance(path, str | Path):
            raise ScenarioError(f"Scenario.load takes the path of a file, not {kind_words(path)}")
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
        except ValueError as error:  # a name that no file can have, or a number that no int is read from
            raise ScenarioError(f"{str(path)!r} cannot be read: {str(error).partition(';')[0]}") from None

    @classmethod
    def from_frame(cls, frame: Any, *columns: Any, **options: Any) -> Scenario:
        """Make a scenario of a pandas table of your own; the short form of `wmviz.own.read_frame`.

        Parameters
        ----------
        frame
            A pandas table, with a row for each event.
        *columns, **options
            As for `wmviz.own.read_frame`: the columns event_time, arrival_time, key, value and partition, in this order
            or by name; how they are read; and the fields of a scenario: ``bound="2 min"``.

        Warns
        -----
        OwnEventsWarning
            If rows were set aside, or something was assumed. `wmviz.own.read_frame` gives the rows and the reasons.

        Raises
        ------
        ScenarioError
            If a column is missing, no row can be read, or a setting is wrong.
        """
        return _own_events("read_frame", frame, columns, options)

    @classmethod
    def from_csv(cls, path: str | Path, *columns: Any, **options: Any) -> Scenario:
        """Make a scenario of a CSV file of your own; as `from_frame`; see `wmviz.own.read_csv`."""
        return _own_events("read_csv", path, columns, options)

    @classmethod
    def from_json_lines(cls, path: str | Path, *columns: Any, **options: Any) -> Scenario:
        """Make a scenario of a file with a JSON object in each line; see `wmviz.own.read_json_lines`."""
        return _own_events("read_json_lines", path, columns, options)

    @classmethod
    def from_parquet(cls, path: str | Path, *columns: Any, **options: Any) -> Scenario:
        """Make a scenario of a Parquet file, with pyarrow; see `wmviz.own.read_parquet`."""
        return _own_events("read_parquet", path, columns, options)

    def to_json(self) -> dict[str, Any]:
        """Give the scenario as JSON data; fields that have their default are left out."""
        changed = [field for field in FIELDS if getattr(self, field.attribute) != field.default]
        data: dict[str, Any] = {field.name: field.write(getattr(self, field.attribute)) for field in changed}
        if self.generated is not None:
            data["events"] = json.loads(self.generated)
        elif self.events:
            data["events"] = write_events(self.events, self.zone)
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
            without a type changes the present one; a generator given without a name changes the present one, and so do
            the fields of checkpoints and alignment.
        """
        return replace(self, **_read(changes, self))

    def by_server_clock(self) -> Scenario:
        """Give the same arrivals counted by the clock of the server: processing-time windows, no watermarks."""
        window = replace(self.window, time="processing", trigger="default")
        return replace(self, name=f"{self.name}-by-server-clock", window=window, strategy="none", lateness_ms=0)

    def sample(self, keys: int | None = None, *, most: int | None = None) -> Scenario:
        """Give a part of the events, in order of arrival; the settings stay.

        Parameters
        ----------
        keys
            Keep the first so many keys. The watermark then follows their events alone.
        most
            Or keep a stretch of at most so many events, without a gap, where there are late events and firings; and
            before it the few events that the watermark came from, so that an event is late in the stretch if it is
            late in the whole run. `about` says what was left out.

        Raises
        ------
        ScenarioError
            If neither is given, or both, or `most` is too small.
        """
        if (keys is None) == (most is None):
            raise ScenarioError("sample takes one number: write sample(keys=20) or sample(most=2_000)")
        if most is not None:
            from wmviz.own.stretch import stretch  # it runs the engine, which imports this module

            return stretch(self, most)
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
        ticks = self.emission == "interval" and self.strategy != "none" and self.interval_ms > 0
        last_ms = MAX_MS if self.end_of_input_ms is None else self.end_of_input_ms
        tick_ms = None
        for index, event in enumerate(self.events):
            at_ms = event.arrival_time_ms
            if tick_ms is not None and tick_ms < at_ms:
                yield tick_ms, None
            yield at_ms, index
            if ticks:
                tick_ms = self.next_tick_ms(at_ms)
        if tick_ms is not None and tick_ms <= last_ms:
            yield tick_ms, None

    def next_tick_ms(self, at_ms: int) -> int:
        """Give the first periodic tick at or after a time; the first of all is one interval after the start."""
        ticks = -((self.grid_start_ms - at_ms) // self.interval_ms)
        return self.grid_start_ms + max(1, ticks) * self.interval_ms

    def partitions_of(self, subtask: int) -> range:
        """Give the partitions that a subtask of the source reads: dealt round-robin."""
        return range(subtask, self.partition_count, self.subtasks)

    @property
    def grid_start_ms(self) -> int:
        """When the job starts: `start_ms`, or the first arrival if none is set."""
        if self.start_ms is not None:
            return self.start_ms
        return self.events[0].arrival_time_ms if self.events else 0

    def __repr__(self) -> str:
        """Say in a line what it is."""
        return f"<Scenario {self.name}: {len(self.events)} events>"


def _own_events(reader: str, source: Any, columns: tuple[Any, ...], options: dict[str, Any]) -> Scenario:
    from wmviz import own  # it needs pandas, which nothing else here does

    read: own.OwnEvents = getattr(own, reader)(source, *columns, **options)
    own.warn_of(read, stacklevel=3)
    return read.scenario


def check_scenario(value: Any, taker: str) -> None:
    """Say in a sentence that a function takes a scenario, if it was given anything else.

    Raises
    ------
    ScenarioError
        If it is no scenario.
    """
    if not isinstance(value, Scenario):
        raise ScenarioError(
            f'{taker} takes a scenario, not {type(value).__name__}; write wmviz.scenario("leaderboard")'
        )


def _check_events(scenario: Scenario) -> None:
    previous_ms, seen = MIN_MS, set()
    for index, event in enumerate(scenario.events):
        if event.id in seen:
            raise ScenarioError(f"events[{index}].id is {shown(event.id)} again; every event needs its own id")
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


def _check_job(scenario: Scenario) -> None:
    """Check that the parts of the job go together."""
    if scenario.inputs > scenario.subtasks:
        raise ScenarioError("inputs is 2: each input has subtasks of its own; write subtasks 2 or more")
    if scenario.transaction_timeout_ms is not None and scenario.sink != "transactional":
        raise ScenarioError(f'transaction_timeout belongs to the sink "transactional", not {shown(scenario.sink)}')
    if scenario.channel_capacity and not scenario.work_ms:
        raise ScenarioError("channel_capacity: without work nothing waits in a channel; set work, the time per event")
    if scenario.alignment is not None and scenario.emission == "event" and scenario.strategy == "none":
        raise ScenarioError('alignment compares watermarks, and the strategy "none" makes none; choose another')
    if scenario.api == "sql":
        _check_sql(scenario)


def _check_sql(scenario: Scenario) -> None:
    """Check that SQL has what the scenario asks for: a window there has no lateness, side output or trigger."""
    window = scenario.window
    for name, value, fits, instead in (
        ("window.type", window.type, window.type != "global", '"tumbling", "sliding" or "session"'),
        ("window.time", window.time, window.time == "event", '"event"'),
        ("window.trigger", window.trigger, window.trigger in ("default", "event_time"), '"default"'),
        ("lateness", scenario.lateness_ms, not scenario.lateness_ms, "0"),
        ("late_to", scenario.late_to, scenario.late_to == "drop", '"drop"'),
        ("strategy", scenario.strategy, scenario.strategy == "bounded", '"bounded"'),
    ):
        if not fits:
            raise ScenarioError(f'{name} is {shown(value)}; with api "sql" write {instead}')
    if scenario.alignment is not None and scenario.strategy_at == "after":
        raise ScenarioError('alignment: in SQL only the source itself knows it; write strategy_at "source"')


def _check_happenings(scenario: Scenario) -> None:
    ids = {event.id for event in scenario.events} if any(h.after for h in scenario.happenings) else set()
    settings = scenario  # each stop changes what the ones before have left
    for index, happening in enumerate(scenario.happenings):
        where = f"happenings[{index}]"
        check_settings(happening, where)
        if happening.after and happening.after not in ids:
            raise ScenarioError(f"{where}.after is {shown(happening.after)}, but no event has that id")
        if happening.at_ms is not None and happening.at_ms < scenario.grid_start_ms:
            raise ScenarioError(f"{where}.at is {iso_text(happening.at_ms)}, before the job starts; make it later")
        if happening.what in ("silence", "finish") and happening.partition >= scenario.partition_count:
            last = scenario.partition_count - 1
            raise ScenarioError(f"{where}.partition is {happening.partition}, but partitions go from 0 to {last}")
        if happening.what == "finish":
            _check_finished(scenario, happening, where)
        changes = happening.changed_fields
        if changes:
            try:
                settings = replace(settings, happenings=(), **_read(changes, settings))
            except ScenarioError as error:
                raise ScenarioError(f"{where}.with: {error}") from None


def _check_finished(scenario: Scenario, happening: Happening, where: str) -> None:
    last = next((event for event in reversed(scenario.events) if event.partition == happening.partition), None)
    if last is not None and happening.at_ms is not None and last.arrival_time_ms > happening.at_ms:
        raise ScenarioError(f"{where}.at is before the arrival of {last.id} on that partition; make it later")


WINDOW = Kind(
    read_window, write_window, lambda v: isinstance(v, Window), 'an object: {"type": "tumbling", "size": "1 h"}', {}
)
EVENTS = Kind(
    same, same, lambda v: isinstance(v, tuple) and all(isinstance(e, Event) for e in v), "a list of events", {}
)
PARALLELISM = Kind(same, same, lambda v: is_int(v) and 0 <= v <= 1024, "a number from 0 to 1024", {"type": "integer"})
TASKS = Kind(same, same, lambda v: is_int(v) and 1 <= v <= 128, "a number from 1 to 128", {"type": "integer"})
INPUTS = Kind(same, same, lambda v: is_int(v) and v in (1, 2), "1 or 2", {"enum": [1, 2]})
CAPACITY = Kind(same, same, lambda v: is_int(v) and 0 <= v <= 10**6, "a number from 0 to 1000000", {"type": "integer"})
FIELDS = (
    Field("name", "name", TEXT, "untitled", "Its name in the catalogue."),
    Field("title", "title", TEXT, "", "What it is called on the stage."),
    Field("about", "about", TEXT, "", "One line on what to look at."),
    Field(
        "strategy",
        "strategy",
        one_of("bounded", "ascending", "none"),
        "bounded",
        "The watermark. bounded: newest event time - bound - 1 ms. ascending: with a bound of 0. none: none, but MAX "
        "at the end.",
    ),
    Field("bound", "bound_ms", LENGTH, 0, "How far an event may be behind the newest one (forBoundedOutOfOrderness)."),
    Field(
        "emission",
        "emission",
        one_of("event", "interval"),
        "event",
        "event: a watermark right after each event. interval: on periodic ticks, as Flink's own strategies do. In "
        "SQL, event is scan.watermark.emit.strategy on-event in the source, and behind it an interval of 0.",
    ),
    Field(
        "interval",
        "interval_ms",
        LENGTH,
        200,
        "Between two periodic ticks, from the start on (pipeline.auto-watermark-interval); idleness too is seen on a "
        "tick. 0: no ticks.",
    ),
    Field(
        "strategy_at",
        "strategy_at",
        one_of("source", "after"),
        "source",
        "source: in it, with a generator and an idle timeout for each partition. after: in an operator behind it "
        "(assignTimestampsAndWatermarks), with one for each subtask.",
    ),
    Field(
        "api",
        "api",
        one_of("datastream", "sql"),
        "datastream",
        "Whose rules hold. sql: no -1 ms in the watermark, TUMBLE, HOP or SESSION without lateness. strategy_at "
        "source: the watermark is pushed into the source, as for a table of Kafka; after: in an operator, idle at "
        "exactly the timeout.",
    ),
    Field(
        "idle_timeout",
        "idle_timeout_ms",
        optional(STEP),
        None,
        "How long a partition or subtask is silent before nobody waits for its watermark (withIdleness); null: for "
        "ever.",
    ),
    Field(
        "alignment",
        "alignment",
        ALIGNMENT,
        None,
        "Watermark alignment: a partition or subtask that is too far ahead waits; a bare duration is its drift; null: "
        "none.",
    ),
    Field(
        "partitions",
        "partitions",
        PARALLELISM,
        0,
        "How many partitions there are, silent ones too; 0: as many as the events name.",
    ),
    Field("subtasks", "subtasks", TASKS, 1, "Parallelism of the source; partition p is read by subtask p % subtasks."),
    Field(
        "inputs",
        "inputs",
        INPUTS,
        1,
        "2: two sources meet in a two-input operator; source subtask s belongs to input s % 2, so write subtasks 2 or "
        "more.",
    ),
    Field(
        "window_tasks",
        "window_tasks",
        TASKS,
        1,
        "Parallelism of the window operator; each key belongs to one of its tasks.",
    ),
    Field("work", "work_ms", LENGTH, 0, "Time that a window task needs for an event: a slow operator."),
    Field(
        "channel_capacity",
        "channel_capacity",
        CAPACITY,
        0,
        "Elements that a channel holds before its source must wait (backpressure), if there is work; 0: no limit.",
    ),
    Field(
        "window", "window", WINDOW, _HOURLY, "How the stream is cut into windows; a bare duration is a tumbling one."
    ),
    Field(
        "lateness",
        "lateness_ms",
        LENGTH,
        0,
        "Allowed lateness: how far the watermark may be past a window's last ms before its state goes; until then "
        "each late event fires it again.",
    ),
    Field(
        "late_to",
        "late_to",
        one_of("drop", "side"),
        "drop",
        "Events for which no window is left: dropped and counted (numLateRecordsDropped), or to the side output.",
    ),
    Field(
        "aggregate",
        "aggregate",
        one_of("sum", "count", "max", "min", "average"),
        "sum",
        "Result of a window, from the values of its events; average: sum // count.",
    ),
    Field(
        "checkpoints",
        "checkpoints",
        CHECKPOINTS,
        None,
        "Checkpoints of the running job; a bare duration is their interval; null: none, so a crash goes back to the "
        "start.",
    ),
    Field(
        "happenings",
        "happenings",
        HAPPENINGS,
        (),
        "What happens to the job while it runs; a single one may stand alone.",
    ),
    Field(
        "replay",
        "replay",
        one_of("offsets", "start", "none"),
        "offsets",
        "Where the source goes on after a restore: at the offsets of the checkpoint (Kafka, files), at its start "
        "again (a list), or with what comes next (a socket).",
    ),
    Field(
        "sink",
        "sink",
        one_of("upsert", "append", "transactional"),
        "upsert",
        "upsert: one row per key and window, which each firing overwrites. append: a row per firing. transactional: a "
        "row per firing, committed when the next checkpoint is complete.",
    ),
    Field(
        "transaction_timeout",
        "transaction_timeout_ms",
        optional(STEP),
        None,
        "Age at which the broker aborts a transaction that is not committed (transaction.timeout.ms); null: never.",
    ),
    Field(
        "start",
        "start_ms",
        optional(MOMENT),
        None,
        "When the job starts, by the server's clock: ticks and checkpoints are counted from here; null: the first "
        "arrival.",
    ),
    Field(
        "end_of_input",
        "end_of_input_ms",
        optional(MOMENT),
        None,
        "When the input ends, by the server's clock, with a last watermark MAX; null: it runs on.",
    ),
    Field("unit", "unit", TEXT, "", "The unit of the values, for sentences: m, cents."),
    Field("zone", "zone", optional(ZONE), None, "The zone that times are shown in; null: UTC."),
    Field(
        "events",
        "events",
        EVENTS,
        (),
        'Rows [key, value, event time, arrival time, partition], the last two optional; or {"generate": "runs", '
        '"seed": 1}.',
    ),
)


_PARTS = {
    "alignment": ALIGNMENT_FIELDS,
    "window": WINDOW_FIELDS,
    "checkpoints": CHECKPOINT_FIELDS,
    "happenings": HAPPENING_FIELDS,
    "events": EVENT_FIELDS,
}
"""Fields that are objects, or lists of them, and the fields of those."""


def _field_help(fields: tuple[Field, ...], indent: str) -> Iterator[str]:
    """Say of each field what it is called, what it takes, its default, and what it means; parts follow further in."""
    for known in fields:
        in_code = f" ({known.attribute})" if known.attribute != known.name else ""
        default = f"; default {json.dumps(known.write(known.default))}" if known.kind.fits(known.default) else ""
        yield f"{indent}{known.name}{in_code} : {known.kind.words}{default}"
        deeper = f"{indent}    "
        yield fill(known.about, 116, initial_indent=deeper, subsequent_indent=deeper, break_on_hyphens=False)
        yield from _field_help(_PARTS.get(known.name, ()) if fields is FIELDS else (), deeper)


Scenario.__doc__ = f"""{(Scenario.__doc__ or "").rstrip()}

    Fields
    ------
    A duration is "2 min", "1 h 30 min", "1.5 s", "200 ms", or a number of milliseconds. A time is "6:56" or
    "6:59:59.999", on 1970-01-01 in UTC; ISO 8601 with an offset, "2026-10-17T07:00+05:30"; or milliseconds since the
    epoch.

{chr(10).join(_field_help(FIELDS, "    "))}
    """


def _read(data: Mapping[str, Any], present: Scenario | None = None) -> dict[str, Any]:
    """Read fields by their JSON names into the arguments of `Scenario`; what is left out stays as at present."""
    rest = {name: value for name, value in data.items() if name != "events"}
    if "window" in rest:
        rest["window"] = read_window(rest["window"], present.window if present else None)
    for name, read_settings in (("checkpoints", read_checkpoints), ("alignment", read_alignment)):
        if rest.get(name) is not None:
            rest[name] = read_settings(rest[name], getattr(present, name) if present else None)
    read = read_fields(rest, FIELDS)
    zone = read.get("zone", present.zone if present else None)
    events = data.get("events")
    if isinstance(events, Mapping):
        spec = dict(events)
        if "generate" not in spec and present and present.generated:
            spec = {**json.loads(present.generated), **spec}
        try:
            read["events"] = named_events(generate(spec), zone)
            read["generated"] = json.dumps(spec)
        except (TypeError, ValueError) as error:
            raise ScenarioError(f"events: {error}") from None
    elif "events" in data:
        read["events"], read["generated"] = read_events(events, zone), None
    return read


def json_schema() -> dict[str, Any]:
    """Give the JSON Schema of scenario files; ``catalogue/scenario.schema.json`` is a copy of it."""

    def properties(fields: tuple[Field, ...]) -> dict[str, Any]:
        return {field.name: {"description": field.about, **field.kind.schema} for field in fields}

    event = {"type": "object", "properties": properties(EVENT_FIELDS), "required": ["key", "value", "event_time"]}
    row = {"type": "array", "minItems": 3, "maxItems": len(EVENT_ROW)}
    listed = {"type": "array", "items": {"anyOf": [{**event, "additionalProperties": False}, row]}}
    generator = {"type": "object", "properties": {"generate": {"type": "string"}}, "required": ["generate"]}
    window = {"type": "object", "properties": properties(WINDOW_FIELDS), "additionalProperties": False}
    fields = properties(FIELDS)
    fields["window"].update({"anyOf": [window, *DURATION["anyOf"]]})
    fields["events"].update({"anyOf": [listed, generator]})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "wmviz scenario",
        "type": "object",
        "properties": {"$schema": {"type": "string"}, **fields},
        "additionalProperties": False,
    }


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
