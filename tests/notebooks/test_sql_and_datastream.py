"""What lesson 13 says in prose: each statement with a number is held against a run, ours or a recorded one of Flink."""

import json
import re

import pytest

import wmviz
from tests.notebooks.prose import HeldProse, read_lesson
from wmviz.course.lessons.sql_and_datastream import SQL, first_event, morning, newest
from wmviz.flink import recorded, sql_query
from wmviz.times import time_ms
from wmviz.trace import Kind

CELLS, PROSE = read_lesson("13-sql-and-datastream")
QUERY = morning(**SQL)
OURS, THEIRS = wmviz.simulate(QUERY), wmviz.simulate(morning())
FLINK = recorded.find(QUERY)
PUSHED = wmviz.scenario("sql-pushed-down")
KOLKATA = wmviz.scenario("half-hour-zone").replace(late_to="drop", lateness=0, window={"zone": "Asia/Kolkata"}, **SQL)


def answers():
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sql_query.RECORDINGS.glob("*.json")]
    return {" ".join(answer["query"].split()): answer for answer in found}


def changes(part):
    (answer,) = (answer for text, answer in answers().items() if part in text)
    return answer["changes"]


def fired_hours(trace):
    return {window.start_ms for _, window, *_ in [(f.key, f.window) for f in trace.all_firings]}


# A piece of the prose → whether it is so.
FACTS = {
    "One morning the two tables differ: by one runner, and one kilometre": (
        {key for key in THEIRS.totals if THEIRS.totals[key] != OURS.totals.get(key)}
        == {("r12", time_ms("6:00"), time_ms("7:00"))}
        and THEIRS.totals["r12", time_ms("6:00"), time_ms("7:00")]
        - OURS.totals["r12", time_ms("6:00"), time_ms("7:00")]
        == 1000
    ),
    "7:01:59.999 − 2 min = 6:59:59.999, and the window of SQL fires": (
        len(newest("7:01:59.999", **SQL).all_firings) == 1
    ),
    "With −1 ms it is 6:59:59.998, and the window of the program waits": not newest("7:01:59.999").all_firings,
    "r12's kilometre of 6:56 comes right after r12's 7:01:59.999": (
        [event.id for event in QUERY.events][6:8] == ["r12@7:01:59.999", "r12@6:56"]
        and first_event(OURS) == "r12@7:01:59.999"
    ),
    "Each window of the query has fired once": max(nth for *_, nth in OURS.outcomes().firings) == 1,
    "Here they are just the rows that were dropped": (
        {row[1] for row in changes("rowtime <= CURRENT_WATERMARK")} == set(OURS.dropped["event"])
    ),
    "The total rises with each of r4471's six kilometres, the one of 6:56 too, and nothing is dropped": (
        [row[0] for row in changes("SUM(`value`) AS metres FROM events GROUP BY key") if row[1] == "r4471"].count("+U")
        == 5
        and sum(event.key == "r4471" for event in QUERY.events) == 6
    ),
    "The first step, 6:00 to 6:30, is out with 1,000 m when the 200 m of 6:25 arrive": (
        changes("CUMULATE")[0][-1] == "1000"
    ),
    "1,000 + 500 + 200 = 1,700 m": changes("CUMULATE")[1][-1] == "1700",
    "r4471's 7:03 moves the one watermark there is, and two rows of r9 are too late": (
        list(wmviz.simulate(PUSHED.replace(strategy_at="after")).dropped["key"]) == ["r9", "r9"]
        and not len(wmviz.simulate(PUSHED).dropped)
    ),
    "Only the 8 o'clock windows are there. Those of 6 and of 7 are gone": (
        {row[2][11:13] for row in changes("metres FROM TABLE(TUMBLE(TABLE events")} == {"08"}
    ),
    "the 8 o'clock windows are still open when our scenario stops": (len(fired_hours(wmviz.simulate(KOLKATA))) == 2),
}


class TestProse(HeldProse):
    """What the prose says is so."""

    least_sums = 1


def test_the_recorded_run_agrees_with_the_engine():
    assert FLINK is not None
    assert wmviz.compare(QUERY, FLINK.trace(QUERY)).same


def test_what_is_not_run_says_so():
    for kafka in ("'connector' = 'kafka'",):
        after = PROSE[PROSE.index(kafka) :]
        assert "which is not run here" in after[:200]
    assert "Not run here: a table of Kafka" in PROSE


def test_the_lesson_shows_all_of_the_program():
    sources = [cell.source for cell in CELLS if cell.cell_type == "code"]
    assert "wmviz.flink.code(query)" in sources
    assert sum("wmviz.compare(" in source for source in sources) == 3
    assert OURS.dropped_count == sum(record.kind == Kind.DROPPED for record in OURS)


@pytest.mark.flink
@pytest.mark.timeout(300)
def test_flink_reads_the_table_and_its_plan_shows_where_the_watermark_is_made(flink):
    """The table of the prose with a connector that is there; it takes no watermark in."""
    from wmviz.flink import startup
    from wmviz.flink.replay import jar

    job, classes = startup.job(), jar()
    from pyflink.table import StreamTableEnvironment

    (table,) = re.findall(r"```sql\n(CREATE TABLE .*?)```", PROSE, re.DOTALL)
    tables = StreamTableEnvironment.create(job.environment(classes))
    tables.execute_sql(table.replace("'kafka', ...", "'datagen'"))
    plan = tables.sql_query("SELECT key, rowtime FROM events").explain()
    assert "WatermarkAssigner(rowtime=[rowtime], watermark=[-(rowtime, 120000:INTERVAL MINUTE)])" in plan
