"""What lesson 13 says in prose: each statement with a number is held against a run, ours or a recorded one of Flink."""

import json
import re
from itertools import pairwise

import pytest

import wmviz
from tests.notebooks.prose import HeldProse, read_lesson
from wmviz.course.lessons.sql_and_datastream import SQL, first_event, morning, newest
from wmviz.flink import recorded, sql_query
from wmviz.times import time_ms, time_text
from wmviz.trace import Kind

CELLS, PROSE = read_lesson("13-sql-and-datastream")
QUERY = morning(**SQL)
OURS, THEIRS = wmviz.simulate(QUERY), wmviz.simulate(morning())
FLINK = recorded.find(QUERY)
PUSHED = wmviz.scenario("sql-pushed-down")
KOLKATA = wmviz.scenario("half-hour-zone").replace(late_to="drop", lateness=0, window={"zone": "Asia/Kolkata"}, **SQL)

WORKOUTS = wmviz.scenario("workout-sessions").replace(name="workouts-in-sql", lateness=0, late_to="drop", **SQL)
SESSIONS = wmviz.simulate(WORKOUTS)


def answers():
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sql_query.RECORDINGS.glob("*.json")]
    return {" ".join(answer["query"].split()): answer for answer in found}


def changes(part):
    (answer,) = (answer for text, answer in answers().items() if part in text)
    return answer["changes"]


def minus(length):
    """Give what Flink made of r9's 6:21 minus an interval: a time, or why not."""
    (answer,) = (answer for text, answer in answers().items() if f"rowtime - INTERVAL {length} AS t" in text)
    return answer["error"] if "error" in answer else answer["changes"][0][1][11:]


def sessions_of(key):
    fired = [f for f in SESSIONS.all_firings if f.key == key]
    return [(time_text(f.window.start_ms), time_text(f.window.end_ms), f.value) for f in fired]


def shared_sessions():
    """Give the sessions without PARTITION BY as they are in the end, and whether a row of them was taken back."""
    rows = changes("SESSION(TABLE events, DESCRIPTOR")
    return {(key, start[11:16], end[11:16]) for _, key, start, end, _ in rows}, any(op == "-U" for op, *_ in rows)


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
    "Both drop each row that is behind the watermark": all(
        {row[1] for row in changes(part)} == {e.id for e in QUERY.events} - set(OURS.dropped["event"])
        for part in ("RANGE UNBOUNDED PRECEDING", "MATCH_RECOGNIZE")
    ),
    "The kilometre of 6:56 came behind the watermark 7:03. Still it is paired, with 6:44 and with 7:08": (
        OURS.seen_watermarks["r4471@6:56"] == time_ms("7:03")
        and {("r4471@6:44", "r4471@6:56"), ("r4471@6:56", "r4471@7:08")}
        == {tuple(row[1:]) for row in changes("events a JOIN events b") if "r4471@6:56" in row}
    ),
    "A row is kept for 20 min of event time here, that of 6:44 until the watermark is past 7:04": (
        time_ms("6:44") + 20 * 60_000 == time_ms("7:04")
    ),
    "The first step, 6:00 to 6:30, is out with 1,000 m when the 200 m of 6:25 arrive": (
        changes("CUMULATE")[0][-1] == "1000"
    ),
    "1,000 + 500 + 200 = 1,700 m": changes("CUMULATE")[1][-1] == "1700",
    "The smallest unit is `SECOND`: a millisecond is `'0.001' SECOND`": (
        minus("'0.001' SECOND") == "06:20:59.999" and 'Encountered "MILLISECOND"' in minus("'1' MILLISECOND")
    ),
    "Digits beyond the millisecond are cut off, without a word: 1.9 ms become 1 ms": (
        minus("'0.0019' SECOND") == minus("'0.001' SECOND")
    ),
    "`'120' SECOND` is refused, `'120' SECOND(3)` is 2 minutes": (
        "exceeds precision of SECOND(2)" in minus("'120' SECOND") and minus("'120' SECOND(3)") == "06:19:00.000"
    ),
    "So the first step is 200 m short for good": changes("CUMULATE")[0][-1] == "1000",
    "a session of a runner ends after 10 minutes of silence": WORKOUTS.window.gap_ms == 600_000,
    "Two kilometres come behind the watermark": (
        {e.id for e in WORKOUTS.events if SESSIONS.seen_watermarks[e.id] >= e.event_time_ms}
        == {"r4471@6:15", "r9@6:04"}
    ),
    "The session of 6:40 fires here because on Flink the list ends": (
        ("r9", "06:40", "06:50") in shared_sessions()[0] and sessions_of("r9")[-1][0] == "6:14"
    ),
    "r4471's 6:15 meets the watermark that has made [6:00, 6:16) fire": (
        SESSIONS.seen_watermarks["r4471@6:15"] == SESSIONS.all_firings[1].watermark_ms == time_ms("6:23")
    ),
    "they become [6:15, 6:35). So one workout has two rows, 2,000 m each": (
        sessions_of("r4471") == [("6:00", "6:16", 2000), ("6:15", "6:35", 2000)]
    ),
    "r9's 6:04 touches no open session. It is dropped and counted": list(SESSIONS.dropped["event"]) == ["r9@6:04"],
    "both runners have [6:00, 6:35)": {("r4471", "06:00", "06:35"), ("r9", "06:00", "06:35")} < shared_sessions()[0],
    "r9's own workouts, [6:03, 6:13) and [6:14, 6:24), have become one": (
        sessions_of("r9") == [("6:03", "6:13", 1000), ("6:14", "6:24", 1000)]
    ),
    "none of 6:00, 6:03, 6:06, 6:14, 6:15 and 6:25 is more than 10 minutes after the one before": (
        (times := sorted(e.event_time_ms for e in WORKOUTS.events if e.id not in SESSIONS.dropped["event"].tolist()))
        == [time_ms(at) for at in ("6:00", "6:03", "6:06", "6:14", "6:15", "6:25", "6:40")]
        and max(b - a for a, b in pairwise(times[:-1])) == WORKOUTS.window.gap_ms
    ),
    "(Without it the `GROUP BY` is a plain one, and gives a new result with each row.)": shared_sessions()[1],
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
    assert sum("wmviz.compare(" in source for source in sources) == 4
    assert OURS.dropped_count == sum(record.kind == Kind.DROPPED for record in OURS)


@pytest.mark.flink
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


STEPS = {  # what stands between the table and a window: whether rowtime is a time attribute behind it
    "SELECT DISTINCT key, rowtime FROM events": False,
    "SELECT a.key, a.rowtime FROM events a JOIN events b ON a.key = b.key": False,
    "SELECT key, rowtime FROM events WHERE `value` > 0": True,
    "SELECT a.key, a.rowtime FROM events a JOIN events b ON a.key = b.key AND a.rowtime = b.rowtime": True,
    "SELECT key, window_time AS rowtime FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(rowtime), INTERVAL '1' MINUTE)) "
    "GROUP BY key, window_start, window_end, window_time": True,
}
HOURS = """
    SELECT window_start, COUNT(*) AS number FROM TABLE(TUMBLE(TABLE step, DESCRIPTOR(rowtime), INTERVAL '1' HOUR))
    GROUP BY window_start, window_end"""


@pytest.mark.flink
def test_flink_says_which_steps_keep_the_time_attribute(flink):
    for step, keeps in STEPS.items():
        ask = f"WITH step AS ({step}) {HOURS}"
        if keeps:
            assert len(wmviz.flink.query(QUERY, ask))
        else:
            with pytest.raises(wmviz.flink.FlinkError, match="requires the timecol is a time attribute"):
                wmviz.flink.query(QUERY, ask)


@pytest.mark.flink
def test_on_flink_a_top_n_keeps_the_time_attribute_and_loses_what_it_gives_out_later(flink):
    best = (
        "SELECT key, rowtime FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY key ORDER BY `value` DESC) AS place "
        "FROM events) WHERE place <= 2"
    )
    op = wmviz.flink.query(QUERY, best)["op"]
    assert list(op).count("+I") - list(op).count("-D") == 8  # two for each of four runners, in the end
    counted = wmviz.flink.query(QUERY, f"WITH step AS ({best}) {HOURS}")
    assert set(counted["op"]) == {"+I"}
    assert counted["number"].astype(int).sum() == 7


@pytest.mark.flink
def test_on_flink_a_table_function_alone_drops_nothing(flink):
    ask = "SELECT id FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(rowtime), INTERVAL '1' HOUR))"
    assert list(wmviz.flink.query(QUERY, ask)["id"]) == [event.id for event in QUERY.events]


EMIT = {
    "table.exec.emit.allow-lateness": "20 min",
    "table.exec.emit.late-fire.enabled": "true",
    "table.exec.emit.late-fire.delay": "0 ms",
}


@pytest.mark.flink
@pytest.mark.parametrize(("options", "again"), [(1, False), (3, True)])
def test_on_flink_the_older_windows_fire_again_with_three_options_only(flink, options, again, monkeypatch):
    from pyflink.table import StreamTableEnvironment

    create = StreamTableEnvironment.create

    def with_options(*args):
        tables = create(*args)
        for name, value in list(EMIT.items())[:options]:
            assert f"`{name}`" in PROSE
            tables.get_config().set(name, value)
        return tables

    monkeypatch.setattr(StreamTableEnvironment, "create", with_options)
    ask = "SELECT key, SUM(`value`) AS total FROM events GROUP BY key, TUMBLE(rowtime, INTERVAL '1' HOUR)"
    assert ("+U" in set(wmviz.flink.query(QUERY, ask)["op"])) == again
