"""Cases of windows in local time on real Flink: TUMBLE and HOP of SQL over a TIMESTAMP_LTZ."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from tests.semantics.cases import outputs
from wmviz.flink import program, startup
from wmviz.times import MIN_MS

Case = dict[str, Any]
LIMIT_S = 600


class Fired(NamedTuple):
    """A result: the watermark that it meets behind the window operator, and the events in it."""

    met_ms: int
    events: tuple[str, ...]


def expected(case: Case) -> list[Fired]:
    """Run a case on our engine; a watermark goes downstream after the results that it causes."""
    steps = case["input"]
    clocks = list(accumulate((step["ts"] if step["op"] == "watermark" else MIN_MS for step in steps), max))
    fired = []
    for output in outputs(case):
        if fire := output.get("fire"):
            step = output["step"]
            at = step if steps[step]["op"] == "event" else step - 1
            fired.append(Fired(clocks[at] if at >= 0 else MIN_MS, tuple(fire["elements"])))
    return sorted(fired)


def on_flink(cases: Sequence[Case], *, table_function: bool = False) -> list[list[Fired]]:
    """Run cases in one job, each in a pipeline of its own.

    Parameters
    ----------
    table_function
        Whether windows are made by the table function, ``TABLE(TUMBLE(…))``; otherwise by ``GROUP BY TUMBLE(…)``.
    """
    jar = _jar()
    with startup.sentences(), startup.tidy():
        env = startup.job().environment(jar)
        streams = [
            _pipeline(env, str(number), case, table_function=table_function) for number, case in enumerate(cases)
        ]
        stream = streams[0].union(*streams[1:]) if len(streams) > 1 else streams[0]
    found: list[list[Fired]] = [[] for _ in cases]
    for line in startup.collect(stream, "windows in local time", LIMIT_S):
        number, met_ms, row = line.split(";")
        if not row.startswith("-"):  # -U takes back the result before
            found[int(number)].append(Fired(int(met_ms), tuple(sorted(row[3:-1].split(",")))))
    return [sorted(fired) for fired in found]


@cache
def _jar() -> str:
    java = Path(__file__).with_name("LocalWindows.java").read_text(encoding="utf-8")
    return startup.compiled(program.source("LateCounter.java"), java)


def _pipeline(env: Any, number: str, case: Case, *, table_function: bool) -> Any:
    from pyflink.common import Row, Types
    from pyflink.datastream import DataStream
    from pyflink.table import Schema, StreamTableEnvironment

    classes = startup.job().get_gateway().jvm.differential.LocalWindows
    names, types = ["id", "ts", "mark"], [Types.STRING(), Types.LONG(), Types.BOOLEAN()]
    rows = [Row(step.get("v", ""), step["ts"], step["op"] == "watermark") for step in case["input"]]
    source = env.from_collection(rows, Types.ROW_NAMED(names, types))
    stream = DataStream(source._j_data_stream.assignTimestampsAndWatermarks(classes.Strategy()))
    tables = StreamTableEnvironment.create(env)
    settings = tables.get_config()
    settings.set_local_timezone(case["params"]["zone"])
    settings.set("table.optimizer.agg-phase-strategy", "ONE_PHASE")
    lateness_ms = case["params"].get("lateness_ms", 0)  # set in any case: pipelines of a job share their settings
    settings.set("table.exec.emit.allow-lateness", f"{lateness_ms} ms")
    settings.set("table.exec.emit.late-fire.enabled", str(lateness_ms > 0).lower())
    settings.set("table.exec.emit.late-fire.delay", "0 ms")
    schema = Schema.new_builder().column("id", "STRING").column("ts", "BIGINT").column("mark", "BOOLEAN")
    schema = schema.column_by_metadata("rt", "TIMESTAMP_LTZ(3)", "rowtime").watermark("rt", "SOURCE_WATERMARK()")
    tables.create_temporary_view("source_table", tables.from_data_stream(stream, schema.build()))
    tables.create_temporary_view("t", tables.sql_query("SELECT id, rt FROM source_table WHERE NOT mark"))
    result = tables.to_changelog_stream(tables.sql_query(_query(case["params"], table_function=table_function)))
    strings = startup.job().get_gateway().jvm.org.apache.flink.api.common.typeinfo.Types.STRING
    return DataStream(result._j_data_stream.process(classes.Results(number), strings))


def _query(params: dict[str, Any], *, table_function: bool) -> str:
    size, slide = _interval(params["size_ms"]), params.get("slide_ms")
    name = "TUMBLE" if slide is None else "HOP"
    lengths = size if slide is None else f"{_interval(slide)}, {size}"
    if table_function:
        window, groups = f"TABLE({name}(TABLE t, DESCRIPTOR(rt), {lengths}))", "window_start, window_end"
    else:
        window, groups = "t", f"{name}(rt, {lengths})"
    return f"SELECT LISTAGG(id) FROM {window} GROUP BY {groups}"


def _interval(ms: int) -> str:
    days, rest_ms = divmod(ms, 86_400_000)
    minutes, rest_ms = divmod(rest_ms, 60_000)
    clock = f"{minutes // 60:02}:{minutes % 60:02}:{rest_ms / 1000:06.3f}"
    return f"INTERVAL '{days} {clock}' DAY(3) TO SECOND(3)"
