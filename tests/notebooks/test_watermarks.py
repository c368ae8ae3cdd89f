"""What lesson 2 says in prose: numbers are held against the engine, the code that it shows against Flink."""

import re
import time

import pytest

import wmviz
from tests.notebooks.prose import HeldProse, read_lesson
from wmviz.course.lessons.watermarks import FEED, behind
from wmviz.times import MIN_MS, duration_ms, time_ms, time_text

CELLS, PROSE = read_lesson("02-watermarks")

T = wmviz.simulate(FEED)
AT = {event.id: event.arrival_time_ms for event in FEED.events}
ROWS = [[event.key, event.value, event.event_time_ms, event.arrival_time_ms] for event in FEED.events]


def run(**settings):
    return wmviz.simulate(FEED.replace(**settings))


def last(trace):
    return time_text(trace.state(trace.steps - 1).watermarks["window"])


def late(trace):
    return trace.outcomes().late


def first_at(trace):
    return time_text(trace.all_firings[0].at_ms) if trace.all_firings else None


def clocks_at(trace, at):
    """What source and window operator show when all that happens at this time has happened."""
    step = max(step for step in range(trace.steps) if trace.step_at_ms[step] == time_ms(at))
    return [time_text(ms) for ms in trace.state(step).watermarks.values()]


BOUNDS = {bound: run(bound=bound) for bound in ("0 s", "2 s", "7 s", "33 s", "72 s")}
AHEAD = run(events=[*ROWS[:2], ["gold", 10250, "11:00", "10:00:40"], *ROWS[2:]])
SECONDS = run(events=[[key, cents, at_ms // 1000, came_ms] for key, cents, at_ms, came_ms in ROWS])
NO_TICKS = run(emission="interval", interval="0 ms")
SQL = {"api": "sql", "strategy_at": "after", "late_to": "drop"}
NEWEST = [["gold", 10300, "10:01:05", "10:01:06"]]

# A piece of the prose → whether it is so.
FACTS = {
    "The price of 10:00:58 comes after that of 10:01:05": AT["gold@10:00:58"] > AT["gold@10:01:05"],
    "out of order by up to **2 s**": FEED.bound_ms == 2000,
    "After the fourth price, 10:00:58, there is no new mark": (
        FEED.events[3].id == "gold@10:00:58"
        and T.seen_watermarks["gold@10:01:12"] == T.seen_watermarks["gold@10:00:58"]
    ),
    "With it, the first window fires: its last millisecond is 10:00:59.999": (
        (T.all_firings[0].watermark_ms, T.all_firings[0].window.max_timestamp_ms)
        == (time_ms("10:01:02.999"), time_ms("10:00:59.999"))
    ),
    "nothing at or before 10:01:02.999 is expected": True,
    "a price of exactly 10:01:03.000 is still in order": not behind(
        run(events=[["gold", 1, "10:01:05", "10:01:05"], ["gold", 1, "10:01:03", "10:01:06"]])
    ),
    "−9223372036854775808, stands in its place": MIN_MS == -9223372036854775808,
    "**Ascending** is a bound of 0": run(strategy="ascending").outcomes() == BOUNDS["0 s"].outcomes(),
    "each that is older than the newest may be too late": len(late(run(strategy="ascending"))) == 4,
    "A window by event time never fires with it": not run(strategy="none").all_firings,
    "**every 200 ms**": wmviz.Scenario().interval_ms == duration_ms("200 ms"),
    "The rule is the same, so the last watermark is, too": (
        {last(run(emission="interval", interval=ticks)) for ticks in ("200 ms", "1 s", "5 s")} == {last(T)}
    ),
    "with 1 s, the price of 10:00:58, which comes 0.7 s after 10:01:05, slips in": (
        AT["gold@10:00:58"] - AT["gold@10:01:05"] == 700
        and late(T) - late(run(emission="interval", interval="1 s")) == {"gold@10:00:58"}
    ),
    "At 10:01:05.200 the source is at 10:01:02.999 and the window operator still at 10:00:28.999": (
        clocks_at(run(work="3 s"), "10:01:05.200") == ["10:01:02.999", "10:00:28.999"]
    ),
    "the first result comes at 10:01:05, then 10:01:12, then 10:01:58, then not": (
        [first_at(trace) for trace in BOUNDS.values()][1:] == ["10:01:05.200", "10:01:12.250", "10:01:58.300", None]
    ),
    "fewer and fewer prices are too late": [len(late(trace)) for trace in BOUNDS.values()][1:] == [4, 3, 0, 0],
    "Look at 33 s: one price is behind the watermark, but none is too late": (
        len(behind(BOUNDS["33 s"])) == 1 and not late(BOUNDS["33 s"])
    ),
    "A bound of 72 s is perfect for these two minutes": not behind(BOUNDS["72 s"]) and behind(run(bound=71_999)),
    "one price with 11:00 at 10:00:40": True,
    "All ten that come after it are too late, and the minute fires 20 s before its end": (
        len(late(AHEAD)) == 10
        and time_ms("10:01") - AHEAD.all_firings[0].at_ms == 20_000
        and len(AHEAD.all_firings) == 1
    ),
    '"newest 10:01:05.000, bound 2 s: the watermark is 10:01:03.000."': last(run(events=NEWEST)) == "10:01:02.999",
    "after 10:01:05.000, `CURRENT_WATERMARK(t)` is 10:01:03.000": last(run(events=NEWEST, **SQL)) == "10:01:03",
    "so the window is open until 10:01:30": (
        wmviz.scenario("price-feed").lateness_ms == 30_000
        and wmviz.simulate(wmviz.scenario("price-feed")).seen_watermarks["gold@10:00:20"] == time_ms("10:01:29.999")
        and late(wmviz.simulate(wmviz.scenario("price-feed"))) == {"gold@10:00:20"}
    ),
    "W(10:00:45) behind an event of 10:00:55, and W(10:00:58) behind one of 10:01:05": True,
    "**It fits no single bound.**": not [
        bound_ms
        for bound_ms in range(20_000)
        if time_ms("10:00:55") - bound_ms - 1 == time_ms("10:00:45")
        and time_ms("10:01:05") - bound_ms - 1 == time_ms("10:00:58")
    ],
    "event time moved by 112 ms": (
        SECONDS.scenario.events[-1].event_time_ms - SECONDS.scenario.events[0].event_time_ms == 112
        and not SECONDS.all_firings
    ),
    "needs 60,000 s that way, which is 16 h 40 min": duration_ms("16 h 40 min") == 60_000 * 1000,
    "If it is in January 1970": time_text(1_792_219_800).startswith("1970-01"),
    "the watermark stays at `MIN`": last(NO_TICKS) == "MIN" and not NO_TICKS.all_firings,
}


class TestProse(HeldProse):
    """What the prose says is so."""

    least_sums = 2


def test_the_lesson_runs_the_scenario_of_its_questions():
    names: dict[str, wmviz.Scenario] = {}
    exec(next(cell.source for cell in CELLS if cell.cell_type == "code"), names)
    assert names["p"] == FEED


@pytest.mark.flink
def test_on_flink_sql_takes_its_expression_without_a_millisecond_less(flink, tmp_path):
    """Make the table that the lesson shows, and ask for its watermark; an interval of 0 is one after each row."""
    from wmviz.flink import startup

    job = startup.job()
    from pyflink.table import StreamTableEnvironment

    (table,) = re.findall(r"```sql\n(.*?)```", PROSE, re.DOTALL)
    prices = tmp_path / "prices.csv"
    times = [time_ms("10:00:31"), time_ms("10:01:05"), time_ms("10:00:58"), time_ms("10:01:06")]
    prices.write_text("".join(f"1,1970-01-01 {time_text(ms)}.000\n" for ms in times), encoding="utf-8")
    settings = job.Configuration()
    settings.set_string("pipeline.auto-watermark-interval", "0 ms")
    env = job.StreamExecutionEnvironment.get_execution_environment(settings)
    env.set_parallelism(1)
    tables = StreamTableEnvironment.create(env)
    found = {}
    for name, bound in (("prices", "'2'"), ("dearer", "'2.001'")):
        asked = table.replace("TABLE prices", f"TABLE {name}").replace("'2'", bound)
        tables.execute_sql(f"{asked} WITH ('connector' = 'filesystem', 'path' = '{prices.as_uri()}', 'format' = 'csv')")
        with tables.execute_sql(f"SELECT t, CURRENT_WATERMARK(t) FROM {name}").collect() as rows:
            found[name] = [str(row[1])[11:] for row in rows]
    assert found["prices"] == ["", "10:00:29", "10:01:03", "10:01:03"]
    assert found["dearer"][2] == "10:01:02.999000"


@pytest.mark.flink
def test_on_flink_the_three_strategies_give_these_watermarks_and_an_interval_of_0_none(flink):
    """Run the lines that the lesson shows, on a source that takes its time."""
    from wmviz.flink import startup

    job = startup.job()
    from pyflink.common import Duration, Types, WatermarkStrategy
    from pyflink.common.watermark_strategy import TimestampAssigner
    from pyflink.datastream.functions import KeyedProcessFunction

    class EventTime(TimestampAssigner):
        def extract_timestamp(self, row, record_timestamp):
            return row[1]

    class Met(KeyedProcessFunction):
        def process_element(self, row, context):
            yield str(context.timer_service().current_watermark())

    def met(strategy, interval, pause_s=0.0):
        def slowly(row):
            time.sleep(pause_s)
            return row

        settings = job.Configuration()
        settings.set_string("python.execution-mode", "thread")
        settings.set_string("pipeline.auto-watermark-interval", interval)
        env = job.StreamExecutionEnvironment.get_execution_environment(settings)
        env.set_parallelism(1)
        rows = [("gold", time_ms("10:01:05")), ("gold", time_ms("10:00:58")), ("gold", time_ms("10:01:12"))]
        slow = (
            env.from_collection(rows).map(slowly, Types.PICKLED_BYTE_ARRAY()).rebalance()
        )  # its own task: no tick waits
        stamped = slow.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(EventTime()))
        lines = stamped.key_by(lambda row: row[0]).process(Met(), Types.STRING())
        return [time_text(int(ms)) for ms in startup.collect(lines, "strategies", 600)]

    lines = re.findall(r"(WatermarkStrategy\..*?\))(?:  +#|$)", PROSE, re.MULTILINE)
    bounded, ascending, none = (
        eval(line, {"WatermarkStrategy": WatermarkStrategy, "Duration": Duration}) for line in lines
    )
    # A pause is long enough for a row to get through and for a tick after it, on a slow machine, too.
    assert met(bounded, "200 ms", 2.0) == ["MIN", "10:01:02.999", "10:01:02.999"]
    assert met(ascending, "200 ms", 2.0) == ["MIN", "10:01:04.999", "10:01:04.999"]
    assert met(none, "200 ms") == ["MIN"] * 3
    assert met(bounded, "0 ms") == ["MIN"] * 3
