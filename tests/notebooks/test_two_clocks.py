"""What lesson 1 says in prose: numbers are held against the engine, the code that it shows against Flink."""

import re
import time
from typing import Any

import pytest

import wmviz
from tests.notebooks.prose import HeldProse, read_lesson
from wmviz.course.lessons.two_clocks import by_ingestion_time, metres_of, read_again
from wmviz.times import time_ms, time_text

CELLS, PROSE = read_lesson("01-two-clocks")
MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS

S = wmviz.scenario("leaderboard")
T = wmviz.simulate(S)
EVENTS = {event.id: event for event in S.events}
LAGS_MS = {event.id: event.arrival_time_ms - event.event_time_ms for event in S.events}
BY_CLOCK = wmviz.simulate(S.by_server_clock())
INGESTED = wmviz.simulate(by_ingestion_time(S))
NOON = read_again(S)
AT_ONCE = wmviz.simulate(
    S.replace(
        emission="interval",
        interval="200 ms",
        start="12:00",
        events=[[e.key, e.value, e.event_time_ms, "12:00"] for e in S.events],
        end_of_input="12:00",
    )
)
SLOW = S.replace(
    start="6:59",
    work="4 s",
    events=[
        ["r9", 1000, "6:59:40", "6:59:50"],
        ["r4471", 1000, "6:59:41", "6:59:51"],
        ["r12", 1000, "6:59:42", "6:59:52"],
        ["r7", 1000, "6:59:43", "6:59:53"],
        ["r9", 1000, "8:00:10", "8:00:15"],
    ],
)


def winner(trace):
    metres = metres_of(trace)
    return max(metres, key=metres.get)


def handled(trace):
    """When the window operator took in each event."""
    return [time_text(record.at_ms) for record in trace if record.kind.name == "ADDED"]


# A piece of the prose → whether it is so.
FACTS = {
    "less than two minutes. Four took far longer": sum(lag < 2 * MINUTE_MS for lag in LAGS_MS.values()) == 15
    and sorted(LAGS_MS.values())[15] > 6 * MINUTE_MS,
    "Look at row 10: r4471 ran a kilometre that ended at 6:56, and the server heard of it at 7:09, 13 minutes later": (
        S.events[10].id == "r4471@6:56" and LAGS_MS["r4471@6:56"] == 13 * MINUTE_MS
    ),
    "Four events of nineteen": len(S.events) == 19
    and sum(e.event_time_ms // HOUR_MS != e.arrival_time_ms // HOUR_MS for e in S.events) == 4,
    "r4471 loses the kilometre that was 13 minutes on its way, and r9 gets a badge that r4471 ran for": (
        metres_of(T)["r4471"] - metres_of(BY_CLOCK)["r4471"] == EVENTS["r4471@6:56"].value
        and (winner(T), winner(BY_CLOCK)) == ("r4471", "r9")
    ),
    "every event is counted, and the result is out right at 7:00": (
        sum(BY_CLOCK.totals.values()) == sum(event.value for event in S.events)
        and BY_CLOCK.all_firings[0].at_ms == time_ms("7:00")
    ),
    "r7 ran two in that hour, and gets 1,000 m. Its second one came 28 minutes late": (
        sum(e.value for e in S.events if e.key == "r7" and e.event_time_ms < time_ms("7:00")) == 2000
        and metres_of(T)["r7"] == 1000
        and LAGS_MS["r7@6:56"] == 28 * MINUTE_MS
        and T.outcomes().late == {"r7@6:56"}
    ),
    "The same wrong badge": metres_of(INGESTED) == metres_of(BY_CLOCK),
    "the windows need 4 s for each event": SLOW.work_ms == 4000,
    "at 6:59:50, 6:59:54, 6:59:58 and 7:00:02": (
        handled(wmviz.simulate(SLOW.by_server_clock()))[:4] == ["6:59:50", "6:59:54", "6:59:58", "7:00:02"]
    ),
    "r7's kilometre counts for 7 am, although it was there at 6:59:53": (
        "r7" not in metres_of(wmviz.simulate(SLOW.by_server_clock()))
        and metres_of(wmviz.simulate(by_ingestion_time(SLOW)))["r7"] == 1000
        and SLOW.events[3].arrival_time_ms == time_ms("6:59:53")
    ),
    "one every 100 ms": NOON.events[1].arrival_time_ms - NOON.events[0].arrival_time_ms == 100,
    "the whole morning falls into one hour, from 12:00 to 13:00": (
        {end_ms for _, _, end_ms in wmviz.simulate(NOON.by_server_clock()).totals} == {time_ms("13:00")}
    ),
    "By ingestion time it would be the same": (
        {end_ms for _, _, end_ms in wmviz.simulate(by_ingestion_time(NOON).replace(end_of_input="12:00:05")).totals}
        == {time_ms("13:00")}
    ),
    "By event time nothing has changed": wmviz.simulate(NOON).outcomes() == T.outcomes(),
    "r7's second kilometre counts now": metres_of(AT_ONCE)["r7"] == 2000,
    "r9 has a result for 8 am": metres_of(AT_ONCE, time_ms("9:00")) == {"r9": 1000},
    "the result is out at the full hour": BY_CLOCK.all_firings[0].at_ms == time_ms("7:00"),
    "here that is the one of 7:02:05": INGESTED.all_firings[0].at_ms == time_ms("7:02:05"),
    "up to 2 minutes out of order": S.bound_ms == 2 * MINUTE_MS,
    "By event time, no window fires": not wmviz.simulate(S.replace(partitions=2)).all_firings,
}


class TestProse(HeldProse):
    """What the prose says is so."""


def test_the_notebook_makes_its_variations_as_the_questions_do():
    names: dict[str, Any] = {}
    for cell in CELLS:
        if cell.cell_type == "code" and not cell.source.startswith(("wmviz", "course")):
            exec(cell.source.replace("wmviz.play(by_clock)", ""), names)
        if "read_again" in names:
            break
    assert names["by_ingestion_time"](S).events == by_ingestion_time(S).events
    assert names["read_again"](100).events == NOON.events


@pytest.mark.flink
def test_on_flink_a_list_gives_nothing_by_processing_time_and_all_of_now_by_ingestion_time(flink):
    """Run the very lines that the lesson shows."""
    from wmviz.flink import startup

    job = startup.job()
    from pyflink.common import Time, Types, WatermarkStrategy
    from pyflink.common.watermark_strategy import TimestampAssigner
    from pyflink.datastream.functions import ProcessWindowFunction
    from pyflink.datastream.window import TumblingEventTimeWindows, TumblingProcessingTimeWindows

    class Total(ProcessWindowFunction):
        def process(self, key, context, rows):
            yield f"{key} {context.window().start} {sum(row[1] for row in rows)}"

    assigner, _, trap = re.findall(r"```python\n(.*?)```", PROSE, re.DOTALL)
    settings = job.Configuration()
    settings.set_string("python.execution-mode", "thread")
    env = job.StreamExecutionEnvironment.get_execution_environment(settings)
    env.set_parallelism(1)
    names = {
        "env": env,
        "rows": [(event.key, event.value, event.event_time_ms) for event in S.events],
        "Time": Time,
        "TimestampAssigner": TimestampAssigner,
        "Total": Total,
        "TumblingProcessingTimeWindows": TumblingProcessingTimeWindows,
        "Types": Types,
        "time": time,
    }

    def hour():
        return int(time.time() * 1000) // HOUR_MS

    began = None
    while began != hour():  # a window that ends while the job runs may fire
        began = hour()
        exec(trap, names)
        fired = startup.collect(names["fired"], "list", 600)
    assert fired == []

    exec(assigner, names)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(names["WhenRead"]())
    stamped = env.from_collection(names["rows"]).assign_timestamps_and_watermarks(strategy)
    hourly = stamped.key_by(lambda row: row[0]).window(TumblingEventTimeWindows.of(Time.hours(1)))
    before_ms = int(time.time() * 1000)
    lines = [line.split() for line in startup.collect(hourly.process(Total(), Types.STRING()), "read", 600)]
    assert sum(int(metres) for _, _, metres in lines) == sum(event.value for event in S.events)
    assert all(before_ms - HOUR_MS < int(start) <= time.time() * 1000 for _, start, _ in lines)
