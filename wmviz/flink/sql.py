"""The SQL in a program: the table of events with its watermark, the windows, and what tells us how they ran."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from string import Template

from wmviz.engine.sql import timer_interval_ms
from wmviz.scenario import Scenario
from wmviz.times import duration_text, sql_interval, zone_info

LAST_MS = 253_402_300_799_999
"""The last millisecond of the year 9999, where SQL's TIMESTAMP ends."""
FIRST_MS = -62_135_596_800_000
"""The first millisecond of the year 1."""

EVERY_TIMER_MS = 100 * 365 * 86_400_000
"""As long as a scenario can last."""
FIELDS = "# The fields of a row: id, key, value, event time in ms"


_WINDOWS = '''\
WINDOWS = """
SELECT key, $start, $end,
  $columns
FROM $source
GROUP BY key, $group"""'''

_SEEN = '''\
# The watermark of the operator that reads a row: the row itself has not moved it yet. NULL before the first.
SEEN = """
SELECT JSON_OBJECT($kind'event' VALUE id, 'watermark' VALUE CURRENT_WATERMARK(rowtime))
FROM $source"""'''

_FIRING = '''\
class Firing(KeyedProcessFunction):
    """Adds the watermark that made a window fire: SQL sends it on right behind the rows of the window."""

    def __init__(self):
        self.waiting = []

    def process_element(self, row, context):
        timers = context.timer_service()
        self.waiting.append(row)
        timers.register_event_time_timer(timers.current_watermark() + 1)  # runs at the next watermark

    def on_timer(self, time, context):
        for row in self.waiting:
            yield line(row, context.timer_service().current_watermark())
        self.waiting.clear()'''

_FIRING_AGAIN = '''\
class Firing(KeyedProcessFunction):
    """Adds the watermark that made a window fire: SQL sends it on right behind the rows of the window.

    A window that fires again for a late row has the watermark that was there before. The timestamp of what it sends is
    its last millisecond.
    """

    def __init__(self):
        self.waiting = []

    def process_element(self, row, context):
        timers = context.timer_service()
        if row.get_row_kind() == RowKind.UPDATE_BEFORE:
            return  # takes back the result before
        if context.timestamp() <= timers.current_watermark():
            yield line(row, timers.current_watermark())
        else:
            self.waiting.append(row)
            timers.register_event_time_timer(timers.current_watermark() + 1)  # runs at the next watermark

    def on_timer(self, time, context):
        for row in self.waiting:
            yield line(row, context.timer_service().current_watermark())
        self.waiting.clear()'''

_LINE = '''\
def line(row, watermark_ms):
    """Make a line of JSON of what a window sent."""
    window = [row.window_start, row.window_end]
    events = list(json.loads(row.events))
    result = {"fired": row.key, "window": window, "value": $value, "events": events}
    return json.dumps({**result, "watermark_ms": watermark_ms})'''

ROW_TYPE = """
TYPES = [Types.STRING(), Types.STRING(), Types.LONG(), Types.LONG()]
ROW = Types.ROW_NAMED(["id", "key", "value", "event_time"], TYPES)"""


def in_sql(scenario: Scenario) -> bool:
    """Say whether a scenario's windows are those of SQL: by its api, or because they are cut in local time."""
    return scenario.api == "sql" or scenario.window.zone is not None


def is_declared(scenario: Scenario) -> bool:
    """Say whether WATERMARK FOR in the table makes each watermark of a scenario right behind its row."""
    return scenario.api == "sql" and scenario.strategy_at == "after" and scenario.emission == "event"


def has_own_emission(scenario: Scenario) -> bool:
    """Say whether a scenario sets table.exec.emit options, which would reach the pipelines that a job has behind it."""
    return in_sql(scenario) and scenario.lateness_ms > 0


def timed(scenario: Scenario) -> Scenario:
    """Give the scenario with the ticks of SQL's operator: its timer sees idleness more often than it emits."""
    if scenario.api != "sql" or scenario.strategy_at != "after":
        return scenario
    return replace(scenario, interval_ms=_timer_ms(scenario), emission="interval")


def settling_ms(scenario: Scenario) -> int:
    """Give how long ticks matter behind the last event.

    SQL's operator counts its interval from timer to timer. So where the timer runs more often, each run of it matters.
    """
    has_own_step = 0 < timed(scenario).interval_ms < scenario.interval_ms and scenario.emission == "interval"
    return EVERY_TIMER_MS if has_own_step else scenario.idle_timeout_ms or 0


def zone_name(scenario: Scenario) -> str:
    """Give the zone of a scenario's windows as table.local-time-zone wants it."""
    zone = scenario.window.zone or "UTC"
    return f"GMT{zone}" if zone[0] in "+-" else zone


def classes(scenario: Scenario, *, replay: bool, inputs: bool) -> str:
    """Write the queries and, for a replay, what tells how they ran."""
    if not replay:
        return _windows(scenario, replay=False)
    source = "replay WHERE kind IN ('event', 'last')" if inputs else "events"
    seen = Template(_SEEN).substitute(kind="'kind' VALUE kind, " if inputs else "", source=source)
    line = Template(_LINE).substitute(value=_VALUES[scenario.aggregate])
    firing = _FIRING_AGAIN if scenario.lateness_ms else _FIRING
    return "\n\n\n".join([f"{_windows(scenario, replay=True)}\n\n{seen}", line, firing])


def build(scenario: Scenario, strategy: list[str], *, replay: bool, inputs: bool) -> list[str]:
    """Write the lines that build the pipeline.

    Parameters
    ----------
    strategy
        The lines that make a watermark strategy; empty where the table declares its watermark.
    """
    lines = [*strategy, *([""] * bool(strategy)), *_settings(scenario, replay=replay), ""]
    lines += _inputs_table() if inputs else _stream_table() if strategy else _declared_table(scenario)
    if not replay:
        return [*lines, "return tables.sql_query(WINDOWS)"]
    stream = "to_changelog_stream" if scenario.lateness_ms else "to_data_stream"
    return [
        *lines,
        f"windows = tables.{stream}(tables.sql_query(WINDOWS))",
        'name_operator(windows, "WindowAggregate", f"window of {NAME}")',
        "fired = windows.key_by(lambda row: 0).process(Firing(), Types.STRING())",
        "seen = tables.to_data_stream(tables.sql_query(SEEN)).map(lambda row: row[0], Types.STRING())",
        "return fired.union(seen)",
    ]


def strategy(scenario: Scenario) -> list[str]:
    """Write the lines that make SQL's watermarks for a replay, where the table itself cannot make them."""
    bound_ms, timeout_ms = scenario.bound_ms, scenario.idle_timeout_ms or 0
    if scenario.strategy_at == "source":
        when = "after every row (on-event)" if scenario.emission == "event" else "on every tick"
        return [
            f"# WATERMARK FOR rowtime AS rowtime - {sql_interval(bound_ms)}, pushed down into the source; {when}.",
            f"strategy = WatermarkStrategy(jvm.replay.SqlWatermarks({bound_ms}, {scenario.emission == 'event'}))",
        ]
    interval_ms = scenario.interval_ms if scenario.emission == "interval" else 0
    return [
        f"# WATERMARK FOR rowtime AS rowtime - {sql_interval(bound_ms)}, in an operator behind the source.",
        "strategy = WatermarkStrategy(jvm.replay.SqlWatermarks(",
        f"    {bound_ms},  # bound",
        f"    {interval_ms},  # pipeline.auto-watermark-interval",
        f"    {timeout_ms},  # table.exec.source.idle-timeout",
        f"    {_timer_ms(scenario)},  # how often its timer runs",
        "))",
    ]


def _timer_ms(scenario: Scenario) -> int:
    interval_ms = scenario.interval_ms if scenario.emission == "interval" else 0
    return timer_interval_ms(interval_ms, scenario.idle_timeout_ms or 0)


def uses_table_function(scenario: Scenario) -> bool:
    """Say whether a table function, such as TUMBLE, does it; else the older form, GROUP BY TUMBLE, is written.

    The older form has lateness (table.exec.emit.allow-lateness), and its slide need not divide its size. And it keeps
    every row: in a zone without daylight saving the table functions of Flink 2.3.0 lose rows and do not count them. In
    one with daylight saving it is the older HOP that fires too early while the clock changes.
    """
    window = scenario.window
    divides = window.type != "sliding" or window.size_ms % window.slide_ms == 0
    return divides and not scenario.lateness_ms and (window.zone is None or _saves_daylight(window.zone))


def _saves_daylight(zone: str) -> bool:
    """Say whether the rule of the years to come changes the zone's clock, as Java's TimeZone.useDaylightTime."""
    return len({zone_info(zone).utcoffset(datetime(2300, month, 15)) for month in range(1, 13)}) > 1


# ---------------------------------------------------------------------------------------------------- parts of a build


def _settings(scenario: Scenario, *, replay: bool) -> list[str]:
    settings = {"table.local-time-zone": f'"{zone_name(scenario)}")  # windows are cut and shown in it'}
    if replay:
        settings["table.optimizer.agg-phase-strategy"] = '"ONE_PHASE")  # with two, not every dropped row is counted'
    elif scenario.api == "sql" and scenario.idle_timeout_ms:
        timeout = duration_text(scenario.idle_timeout_ms)
        settings["table.exec.source.idle-timeout"] = f'"{scenario.idle_timeout_ms} ms")  # {timeout}'
    if scenario.lateness_ms:
        settings["table.exec.emit.allow-lateness"] = f'"{scenario.lateness_ms} ms")'
        settings["table.exec.emit.late-fire.enabled"] = '"true")'
        settings["table.exec.emit.late-fire.delay"] = '"0 ms")  # again for every late row'
    return [
        *(["env.get_config().set_auto_watermark_interval(0)  # no watermark by the wall clock"] * replay),
        "tables = StreamTableEnvironment.create(env)",
        "settings = tables.get_config()",
        *(f'settings.set("{name}", {value}' for name, value in settings.items()),
    ]


def _declared_table(scenario: Scenario) -> list[str]:
    return [
        "schema = (",
        "    Schema.new_builder()",
        '    .column_by_expression("rowtime", "TO_TIMESTAMP_LTZ(event_time, 3)")',
        f'    .watermark("rowtime", "rowtime - {sql_interval(scenario.bound_ms)}")',
        "    .build()",
        ")",
        'tables.create_temporary_view("events", env.from_collection(ROWS, ROW), schema)',
    ]


_SOURCE_WATERMARK = [
    "schema = (",
    "    Schema.new_builder()",
    '    .column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)")  # the timestamp of the stream',
    '    .watermark("rowtime", "SOURCE_WATERMARK()")  # and its watermark',
    "    .build()",
    ")",
]


def _stream_table() -> list[str]:
    return [
        "events = env.from_collection(ROWS, ROW).assign_timestamps_and_watermarks(strategy)",
        *_SOURCE_WATERMARK,
        'tables.create_temporary_view("events", events, schema)',
    ]


def _inputs_table() -> list[str]:
    return [
        "text, number = Types.STRING(), Types.LONG()",
        "row = Types.TUPLE([text, text, number, number, number, number, text])",
        "rows = env.from_collection(ROWS, row).assign_timestamps_and_watermarks(strategy)",
        *_SOURCE_WATERMARK,
        'tables.create_temporary_view("arrivals", rows, schema)',
        'names = "f0 AS kind, f1 AS key, f2 AS `value`, f6 AS id, rowtime"',
        'tables.execute_sql(f"CREATE TEMPORARY VIEW replay AS SELECT {names} FROM arrivals")',
        "tables.execute_sql(\"CREATE TEMPORARY VIEW events AS SELECT * FROM replay WHERE kind = 'event'\")",
    ]


# --------------------------------------------------------------------------------------------------------- the query


def _windows(scenario: Scenario, *, replay: bool) -> str:
    """Write the query of the windows."""
    details = ",\n  JSON_STRING(COLLECT(id)) AS events" if replay else ""
    if uses_table_function(scenario):
        source, group, parts = f"TABLE({_table_function(scenario)})", "window_start, window_end", _TABLE_PARTS
    else:
        kind, lengths = _function(scenario)
        source, group = "events", f"{kind}(rowtime, {lengths})"
        parts = {part: f"{kind}_{part.upper()}(rowtime, {lengths})" for part in ("start", "end")}
        if scenario.lateness_ms and replay:
            details += f",\n  {kind}_ROWTIME(rowtime, {lengths}) AS window_time"
    cast = {part: _column(name, f"window_{part}", as_text=replay) for part, name in parts.items()}
    columns = f"{_COLUMNS[scenario.aggregate]}{details}"
    return Template(_WINDOWS).substitute(columns=columns, source=source, group=group, **cast)


_COLUMNS = {
    "sum": "SUM(`value`) AS total",
    "count": "COUNT(*) AS number",
    "max": "MAX(`value`) AS highest",
    "min": "MIN(`value`) AS lowest",
    "average": "SUM(`value`) AS total, COUNT(*) AS number",
}
_VALUES = {
    "sum": "row.total",
    "count": "row.number",
    "max": "row.highest",
    "min": "row.lowest",
    "average": "row.total // row.number",  # AVG would round towards 0
}
_TABLE_PARTS = {"start": "window_start", "end": "window_end"}


def _column(what: str, name: str, *, as_text: bool) -> str:
    written = f"CAST({what} AS STRING)" if as_text else what
    return name if written == name else f"{written} AS {name}"


def _function(scenario: Scenario) -> tuple[str, str]:
    """Give the name of the window function and its lengths."""
    window = scenario.window
    if window.type == "tumbling":
        return "TUMBLE", sql_interval(window.size_ms)
    if window.type == "session":
        return "SESSION", sql_interval(window.gap_ms)
    return "HOP", f"{sql_interval(window.slide_ms)}, {sql_interval(window.size_ms)}"


def _table_function(scenario: Scenario) -> str:
    kind, lengths = _function(scenario)
    offset_ms = scenario.window.offset_ms
    offset = f", {sql_interval(offset_ms)}" if offset_ms else ""
    keyed = " PARTITION BY key" if kind == "SESSION" else ""
    return f"{kind}(TABLE events{keyed}, DESCRIPTOR(rowtime), {lengths}{offset})"
