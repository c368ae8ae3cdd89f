"""Any query of SQL on the events of a scenario, run on Flink."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wmviz.flink import recorded, startup
from wmviz.flink.limits import has_inputs, refuse
from wmviz.flink.replay import RECORD_SWITCH, jar
from wmviz.flink.schedule import of_one_input
from wmviz.flink.sql import is_declared, zone_name
from wmviz.flink.startup import ENGINE, LIMIT_S, FlinkError
from wmviz.scenario import Scenario, ScenarioError, check_scenario, json_text
from wmviz.times import sql_interval

if TYPE_CHECKING:
    import pandas as pd

RECORDINGS = recorded.FOLDER / "sql"


def query(scenario: Scenario, sql: str, limit_s: float = LIMIT_S) -> pd.DataFrame:
    """Run a query on the table ``events`` of a scenario and give every change of its result, in order.

    The table has the columns id, key, value, event_time (ms) and rowtime, a TIMESTAMP_LTZ(3) with the watermark of the
    scenario: ``wmviz.flink.code(scenario)`` shows how it is made. Each watermark follows its row.

    Parameters
    ----------
    scenario
        One with api "sql", strategy_at "after" and emission "event".
    sql
        A query: ``SELECT id, CURRENT_WATERMARK(rowtime) AS watermark FROM events``.
    limit_s
        Seconds after which the job is cancelled.

    Returns
    -------
    pandas.DataFrame
        A row for each change, all values as text. ``op`` is +I for a new row, -U for one that is taken back, +U for the
        one in its place, -D for one that is gone. Where PyFlink is missing, that of a recorded run.

    Raises
    ------
    ScenarioError
        If the scenario has another watermark.
    FlinkError
        If Flink refuses the query, or is not there and the query is not recorded.
    """
    import pandas as pd

    check_scenario(scenario, "query")
    if not is_declared(scenario) or has_inputs(scenario):
        raise ScenarioError(
            'query takes a scenario with api "sql", strategy_at "after", emission "event" and one input'
        )
    refuse(scenario)
    can, why = startup.available()
    answer = _run(scenario, sql, limit_s) if can else _recorded(scenario, sql, why)
    if can and os.environ.get(RECORD_SWITCH):
        RECORDINGS.mkdir(exist_ok=True)
        _path(scenario, sql).write_text(json_text({"query": sql, **answer}), encoding="utf-8")
    if "error" in answer:
        raise FlinkError(answer["error"])
    return pd.DataFrame(answer["changes"], columns=["op", *answer["columns"]])


def _run(scenario: Scenario, sql: str, limit_s: float) -> dict[str, Any]:
    """Give the columns and the changes, or the error of Flink."""
    job = startup.job()
    classes = jar()
    from pyflink.common import Types
    from pyflink.table import Schema, StreamTableEnvironment

    try:
        with startup.sentences(), startup.tidy():
            env = job.environment(classes)
            env.get_config().set_auto_watermark_interval(0)
            tables = StreamTableEnvironment.create(env)
            tables.get_config().set("table.local-time-zone", zone_name(scenario))
            kinds = [Types.STRING(), Types.STRING(), Types.LONG(), Types.LONG()]
            rows = [row for _, row in of_one_input(scenario, ticks=False)]
            stream = env.from_collection(rows, Types.ROW_NAMED(["id", "key", "value", "event_time"], kinds))
            schema = (
                Schema.new_builder()
                .column_by_expression("rowtime", "TO_TIMESTAMP_LTZ(event_time, 3)")
                .watermark("rowtime", f"rowtime - {sql_interval(scenario.bound_ms)}")
                .build()
            )
            tables.create_temporary_view("events", stream, schema)
            answer = tables.sql_query(sql)
            columns = answer.get_schema().get_field_names()
            tables.create_temporary_view("answer", answer)
            texts = ", ".join(f"CAST(`{name}` AS STRING) AS `{name}`" for name in columns)
            changes = tables.to_changelog_stream(tables.sql_query(f"SELECT {texts} FROM answer"))  # noqa: S608
            lines = changes.map(_line, Types.STRING())
        found = startup.collect(lines, "query", limit_s)
    except FlinkError as error:
        return {"error": str(error)}
    return {"columns": columns, "changes": [json.loads(line) for line in found]}


def _line(row: Any) -> str:
    return json.dumps([str(row.get_row_kind()), *row])


def _recorded(scenario: Scenario, sql: str, why: str) -> dict[str, Any]:
    path = _path(scenario, sql)
    if not path.exists():
        raise FlinkError(f"{why} There is no recorded run of this query; those of the lessons are recorded.")
    recorded.show_label(ENGINE, why)
    answer: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return answer


def _path(scenario: Scenario, sql: str) -> Path:
    rows = [list(row) for _, row in of_one_input(scenario, ticks=False)]
    text = json.dumps([rows, scenario.bound_ms, zone_name(scenario), " ".join(sql.split())])
    return RECORDINGS / f"{hashlib.sha256(text.encode()).hexdigest()[:12]}.json"
