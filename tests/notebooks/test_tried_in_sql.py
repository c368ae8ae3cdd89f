"""What lesson 13 says was tried on Flink in SQL: each trial is run again, those with several inputs in step."""

import os
import time

import pytest

import wmviz
from tests.notebooks import tried
from tests.notebooks.prose import read_lesson
from tests.notebooks.test_sql_and_datastream import QUERY, changes
from wmviz.flink import FlinkError, startup
from wmviz.times import MIN_MS

_, PROSE = read_lesson("13-sql-and-datastream")
FAR_MS = 10**12
RATES = """
    CREATE TEMPORARY VIEW rates AS SELECT id, key, rowtime FROM
    (SELECT *, ROW_NUMBER() OVER (PARTITION BY key ORDER BY rowtime DESC) AS place FROM {}) WHERE place = 1"""


def tables_of(env):
    from pyflink.table import StreamTableEnvironment

    tables = StreamTableEnvironment.create(env)
    tables.get_config().set("table.local-time-zone", "UTC")
    return tables


def add_table(env, tables, name, rows, wait_for):
    """Add a table of rows that each wait for a word: (word, side, id, key, time, the watermark behind it)."""
    from pyflink.common import Row, Types
    from pyflink.table import Schema

    def waited(row):
        wait_for(row[0])
        return Row(*row[1:])

    names = ["side", "id", "key", "at_ms", "watermark_ms"]
    kinds = [Types.STRING()] * 3 + [Types.LONG()] * 2
    stream = env.from_collection(rows, Types.TUPLE([Types.STRING(), *kinds]))
    stream = stream.map(waited, Types.ROW_NAMED(names, kinds)).disable_chaining()
    schema = Schema.new_builder().column_by_expression("rowtime", "TO_TIMESTAMP_LTZ(at_ms, 3)")
    schema = schema.watermark("rowtime", "TO_TIMESTAMP_LTZ(watermark_ms, 3)").build()
    tables.create_temporary_view(name, stream, schema)


def answer(tables, sql, say=lambda word: None):
    """Give the changes of a query as text, and say the first column of each."""

    def told(row):
        say(str(row[0]))
        return f"{row.get_row_kind()} {' '.join(map(str, row))}"

    return tables.to_changelog_stream(tables.sql_query(sql)).map(told, tried.text())


def left_interval_join(folder):
    """Between two rows a pair of the test itself shows that the join has seen the first and its watermark."""
    rows = [("L", "L10", 10), ("R", "R12", 12), ("R", "R100", 100), ("L", "L11", 11), ("L", "L98", 98)]

    def make(env):
        wait_for, say = tried.words(folder)
        tables, named, highest_ms = tables_of(env), [], 0
        for n, (side, name, at_ms) in enumerate(rows):
            highest_ms = max(highest_ms, at_ms)
            named.append((f"word{n - 1}" if n else "", side, name, "a", at_ms, highest_ms))
            named += [("", both, f"word{n}", "test", FAR_MS + 10 * n, 0) for both in "LR"]
        add_table(env, tables, "sides", named, wait_for)
        return answer(
            tables,
            "SELECT l.id, r.id FROM (SELECT * FROM sides WHERE side = 'L') l LEFT JOIN (SELECT * FROM sides WHERE "
            "side = 'R') r ON l.key = r.key AND l.rowtime BETWEEN r.rowtime - INTERVAL '0.005' SECOND "
            "AND r.rowtime + INTERVAL '0.005' SECOND",
            say,
        )

    return make


def temporal_join(kind):
    """With rates of 10 and 20 and a watermark of 40 an order of 16 comes, and then a rate of 24."""
    rows = [
        ("", "R", "rate10", "a", 10, 10),
        ("", "L", "o15", "a", 15, 15),
        ("o15", "R", "rate20", "a", 20, 20),
        ("", "L", "o25", "a", 25, 40),
        ("o25", "L", "o16", "a", 16, 40),
        ("", "R", "rate24", "a", 24, 40),
        ("", "L", "o50", "a", 50, 50),
    ]

    def of(folder):
        def make(env):
            wait_for, say = tried.words(folder)
            tables = tables_of(env)
            add_table(env, tables, "sides", rows, wait_for)
            tables.execute_sql(RATES.format("sides WHERE side = 'R'"))
            orders = "(SELECT * FROM sides WHERE side = 'L')"
            return answer(
                tables,
                f"SELECT o.id, r.id FROM {orders} o {kind} JOIN rates FOR SYSTEM_TIME AS OF o.rowtime AS r "
                "ON o.key = r.key",
                say,
            )

        return make

    return of


def order_waits_for_the_rates(folder):
    """The watermark of the rates rises half a second after that of the orders, and leaves a word before."""
    place = str(folder)

    def make(env):
        wait_for, say = tried.words(folder)
        tables = tables_of(env)

        def late_word(word):
            if word == "later":
                time.sleep(0.5)
                say("risen")
            else:
                wait_for(word)

        add_table(env, tables, "orders", [("", "L", "o15", "a", 15, 15), ("", "L", "o99", "a", 99, 99)], wait_for)
        rates = [("", "R", "rate10", "a", 10, 10), ("later", "R", "rate12", "b", 12, 12)]
        add_table(env, tables, "versions", rates, late_word)
        tables.execute_sql(RATES.format("versions"))
        joined = answer(
            tables,
            "SELECT o.id, r.id FROM orders o LEFT JOIN rates FOR SYSTEM_TIME AS OF o.rowtime AS r ON o.key = r.key",
        )
        return joined.map(lambda line: f"{line}, risen: {os.path.exists(place + '/risen')}", tried.text())

    return make


def total_that_expires(folder):
    """The rows of a key are half a second apart, and a day in event time."""

    def make(env):
        tables = tables_of(env)
        tables.get_config().set("table.exec.state.ttl", "100 ms")
        rows = [(f"row{n}", "", "", "a", n, n) for n in range(3)]
        add_table(env, tables, "rows_", rows, lambda word: time.sleep(0.5))
        return answer(tables, "SELECT key, COUNT(*) FROM rows_ GROUP BY key")

    return make


def schema_of_the_lesson():
    from pyflink.table import Schema

    names = {"Schema": Schema}
    exec(tried.block(PROSE, "schema = Schema"), names)
    return names["schema"]


def stream_of(env):
    from pyflink.common import Types

    columns = Types.ROW_NAMED(["key", "ms"], [Types.STRING(), Types.LONG()])
    return env.from_collection([("a", 10), ("a", 30), ("a", 12), ("a", 50)], columns).assign_timestamps_and_watermarks(
        tried.strategy()
    )


def stream_to_table(folder):
    def make(env):
        tables = tables_of(env)
        tables.create_temporary_view("events", stream_of(env), schema_of_the_lesson())
        return answer(
            tables, "SELECT ms, CAST(rowtime AS STRING), CAST(CURRENT_WATERMARK(rowtime) AS STRING) FROM events"
        )

    return make


def and_back(folder):
    def make(env):
        from pyflink.datastream.functions import ProcessFunction

        class Met(ProcessFunction):
            def process_element(self, row, context):
                yield f"{row[1]} has {context.timestamp()} and meets {context.timer_service().current_watermark()}"

        tables = tables_of(env)
        tables.create_temporary_view("events", stream_of(env), schema_of_the_lesson())
        back = tables.to_data_stream(tables.sql_query("SELECT key, ms, rowtime FROM events"))
        return back.process(Met(), tried.text())

    return make


PIPELINES = {
    "left interval join": left_interval_join,
    "left temporal join": temporal_join("LEFT"),
    "temporal join": temporal_join(""),
    "order waits": order_waits_for_the_rates,
    "total": total_that_expires,
    "table": stream_to_table,
    "stream": and_back,
}


@pytest.fixture(scope="module")
def lines(flink, tmp_path_factory):
    """Run all pipelines in one job."""
    return tried.run_all({name: of(tmp_path_factory.mktemp("words")) for name, of in PIPELINES.items()}, interval_ms=0)


def test_a_left_interval_join_gives_out_a_late_row_alone_whose_partner_is_gone(lines):
    found = [line for line in lines["left interval join"] if "word" not in line]
    assert found == ["+I L10 R12", "+I L11 None", "+I L98 R100"]


def test_a_late_order_finds_no_old_rate_and_a_late_rate_is_taken_in(lines):
    assert lines["temporal join"] == ["+I o15 rate10", "+I o25 rate20", "+I o50 rate24"]
    assert set(lines["left temporal join"]) - set(lines["temporal join"]) == {"+I o16 None"}
    assert "With rates of 10 and 20 and a watermark of 40, a late order of 16 met no rate" in PROSE


def test_an_order_waits_for_the_watermark_of_the_rates(lines):
    assert lines["order waits"] == ["+I o15 rate10, risen: True", "+I o99 rate10, risen: True"]


def test_a_total_that_has_expired_begins_again(lines):
    assert lines["total"] == ["+I a 1"] * 3


def test_times_and_watermarks_go_from_a_stream_to_a_table_and_back(lines):
    day = "1970-01-01 00:00:00"
    assert lines["table"] == [
        f"+I 10 {day}.010 None",
        f"+I 12 {day}.012 {day}.029",
        f"+I 30 {day}.030 {day}.009",
        f"+I 50 {day}.050 {day}.029",
    ]
    assert lines["stream"] == [
        f"10 has 10 and meets {MIN_MS}",
        "12 has 12 and meets 29",
        "30 has 30 and meets 9",
        "50 has 50 and meets 29",
    ]


HOURS = """
    SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(rowtime), INTERVAL '1' HOUR))
    GROUP BY window_start, window_end"""


def test_without_the_second_line_of_the_schema_the_windows_are_refused(flink):
    from pyflink.table import Schema

    env = startup.job().environment(tried.classes())
    tables = tables_of(env)
    first_line = tried.block(PROSE, "schema = Schema").splitlines()[0]
    names = {"Schema": Schema}
    exec(first_line, names)
    tables.create_temporary_view("events", stream_of(env), names["schema"].build())
    with pytest.raises(FlinkError, match="requires the timecol is a time attribute"), startup.sentences():
        tables.sql_query(HOURS).explain()


def test_which_types_a_time_column_may_have(flink):
    tables = tables_of(startup.job().environment(tried.classes()))

    def declare(kind):
        columns = f"rowtime {kind}, WATERMARK FOR rowtime AS rowtime"
        with startup.sentences():
            tables.execute_sql("DROP TEMPORARY TABLE IF EXISTS t")
            tables.execute_sql(f"CREATE TEMPORARY TABLE t ({columns}) WITH ('connector' = 'datagen')")

    for kind in ("TIMESTAMP", "TIMESTAMP_LTZ"):
        for digits in (0, 3):
            declare(f"{kind}({digits})")
        with pytest.raises(FlinkError, match="Invalid data type of time field for watermark definition"):
            declare(f"{kind}(6)")
    for kind in ("BIGINT", "STRING"):
        with pytest.raises(FlinkError, match="Invalid data type of time field for watermark definition"):
            declare(kind)
    assert "*Invalid data type of time field for watermark definition*" in PROSE


def test_windows_over_proctime_need_no_watermark(flink):
    tables = tables_of(startup.job().environment(tried.classes()))
    tables.execute_sql("CREATE TEMPORARY TABLE events (rowtime AS PROCTIME(), n INT) WITH ('connector' = 'datagen')")
    plan = tables.sql_query(HOURS).explain()
    assert "WindowAggregate" in plan
    assert "WatermarkAssigner" not in plan


def test_before_the_first_watermark_a_row_compares_with_null(flink):
    later = "rowtime > CURRENT_WATERMARK(rowtime)"
    mended = "OR CURRENT_WATERMARK(rowtime) IS NULL"
    assert f"`{later}`" in PROSE
    assert f"`{mended}`" in PROSE
    met = flink.query(QUERY, f"SELECT id, {later} AS plain, {later} {mended} AS mended FROM events")
    assert met["plain"].iloc[0] is None
    assert met["mended"].iloc[0] == "TRUE"
    assert list(met["plain"].iloc[1:]) == list(met["mended"].iloc[1:])


OVER = "SELECT SUM(`value`) OVER (PARTITION BY key ORDER BY rowtime RANGE UNBOUNDED PRECEDING) AS total FROM events"
PATTERN = """
    SELECT id FROM events MATCH_RECOGNIZE (PARTITION BY key ORDER BY rowtime MEASURES A.id AS id
    AFTER MATCH SKIP PAST LAST ROW PATTERN (A) DEFINE A AS A.`value` > 0)"""


@pytest.mark.parametrize("sql", [OVER, PATTERN], ids=["OVER", "pattern"])
def test_over_and_patterns_count_the_late_rows_that_they_drop(flink, sql):
    def counted():
        """Read and remove the counters that the job has left."""
        kept = startup.job().get_gateway().jvm.System.getProperties()
        names = [str(name) for name in kept.keySet() if str(name).startswith("numLateRecordsDropped")]
        return sum(kept.remove(name).getCount() for name in names)

    counted()
    flink.query(QUERY, sql)
    assert counted() == len(wmviz.simulate(QUERY).dropped) > 0


def test_rows_of_r4471_that_are_near_are_all_found_however_flink_reads_its_inputs():
    """The join reads the table twice; if one input is ahead, rows are kept longer, and no other pair would appear."""
    runs = [event for event in QUERY.events if event.key == "r4471"]
    near = {
        (a.id, b.id) for a in runs for b in runs if a is not b and 0 <= b.event_time_ms - a.event_time_ms <= 20 * 60_000
    }
    assert near == {tuple(row[1:]) for row in changes("events a JOIN events b")}


def test_the_options_that_the_lesson_names(flink):
    java = startup.job().get_gateway().jvm.org.apache.flink.table
    factory = java.factories.FactoryUtil
    for option in (
        factory.WATERMARK_EMIT_STRATEGY,
        factory.WATERMARK_ALIGNMENT_GROUP,
        factory.WATERMARK_ALIGNMENT_MAX_DRIFT,
    ):
        assert f"`{option.key()}`" in PROSE
    strategies = java.watermark.WatermarkEmitStrategy
    assert {str(strategies.ON_EVENT), str(strategies.ON_PERIODIC)} == {"on-event", "on-periodic"}
    ttl = java.api.config.ExecutionConfigOptions.IDLE_STATE_RETENTION
    assert f"`{ttl.key()}`" in PROSE
    assert ttl.defaultValue().isZero()
