"""What lesson 3 says in prose: each statement with a number is held against the engine, the trap against Flink."""

import re

import pytest

import wmviz
from tests.notebooks.prose import HeldProse, read_lesson
from wmviz.times import duration_ms, time_ms, time_text

CELLS, PROSE = read_lesson("03-windows-fire")

S = wmviz.scenario("leaderboard")
T = wmviz.simulate(S)
EVENTS = {event.id: event for event in S.events}
MINUTE_MS = 60_000
SEVEN_MS = time_ms("7:00")


def six_am(trace):
    return {key: metres for (key, _, end_ms), metres in trace.totals.items() if end_ms == SEVEN_MS}


def firings(key, nth):
    return next(f for f in T.all_firings if (f.key, f.window.end_ms, f.nth) == (key, SEVEN_MS, nth))


BY_CLOCK = wmviz.simulate(S.by_server_clock())
FIRST_AT = {
    bound: min(f.at_ms for f in wmviz.simulate(S.replace(bound=bound)).all_firings) for bound in ("2 min", "10 min")
}

# A piece of the prose → whether it is so.
FACTS = {
    "Look at row 10: r4471 ran a kilometre that ended at 6:56, and the server heard of it at 7:09, 13 minutes later": (
        S.events[10].id == "r4471@6:56"
        and S.events[10].arrival_time_ms == time_ms("7:09") == S.events[10].event_time_ms + 13 * MINUTE_MS
    ),
    "its last millisecond is 6:59:59.999": firings("r9", 1).window.max_timestamp_ms == time_ms("6:59:59.999"),
    "Here it is 2 minutes": S.bound_ms == 2 * MINUTE_MS,
    "Rows 0 to 3 are the 6 am windows of the four runners": (
        [(f.window.end_ms, f.nth) for f in T.all_firings[:4]] == [(SEVEN_MS, 1)] * 4
        and len({f.key for f in T.all_firings[:4]}) == 4
    ),
    "They fire together, when r7's 7:02 arrives": (
        {f.at_ms for f in T.all_firings[:4]} == {EVENTS["r7@7:02"].arrival_time_ms}
    ),
    "Rows 4 and 5 are second firings": [f.nth for f in T.all_firings[4:6]] == [2, 2],
    "Three kilometres ended at 6:56": [e.id for e in S.events if e.event_time_ms == time_ms("6:56")]
    == ["r12@6:56", "r4471@6:56", "r7@6:56"],
    "**The first meets 6:59:59.998.** It arrives at 7:02:30": (
        T.seen_watermarks["r12@6:56"] == time_ms("6:59:59.998")
        and EVENTS["r12@6:56"].arrival_time_ms == time_ms("7:02:30")
        and "r12@6:56" in firings("r12", 1).event_ids
    ),
    "almost 6 minutes older than the newest event": (
        EVENTS["r12@7:01:59.999"].event_time_ms - EVENTS["r12@6:56"].event_time_ms == 6 * MINUTE_MS - 1
    ),
    "**The second meets 7:02:59.999.**": T.seen_watermarks["r4471@6:56"] == time_ms("7:02:59.999"),
    "allows a lateness of 20 minutes": S.lateness_ms == 20 * MINUTE_MS,
    "**The third meets 7:19:59.999.**": T.seen_watermarks["r7@6:56"] == time_ms("7:19:59.999"),
    "first 2,000 m, then 3,000 m": (firings("r4471", 1).value, firings("r4471", 2).value) == (2000, 3000),
    "2,000 + 3,000 = 5,000 m": firings("r4471", 1).value + firings("r4471", 2).value == 5000,
    "r4471 loses the kilometre that was 13 minutes on its way": (
        six_am(T)["r4471"] - six_am(BY_CLOCK)["r4471"] == EVENTS["r4471@6:56"].value
    ),
    "r9 gets a badge that r4471 ran for": (
        max(six_am(T), key=six_am(T).get) == "r4471" and max(six_am(BY_CLOCK), key=six_am(BY_CLOCK).get) == "r9"
    ),
    "one kilometre of 6 am is missing too: r7's, which came 28 minutes late": (
        EVENTS["r7@6:56"].arrival_time_ms - EVENTS["r7@6:56"].event_time_ms == 28 * MINUTE_MS
        and (T.outcomes().late, T.dropped_count) == ({"r7@6:56"}, 0)
    ),
    "r12 loses two of three events": six_am(T)["r12"] - six_am(BY_CLOCK)["r12"]
    == EVENTS["r12@6:56"].value + EVENTS["r12@6:58"].value,
    "every event is counted": sum(BY_CLOCK.totals.values()) == sum(event.value for event in S.events),
    "the result is out right at 7:00": BY_CLOCK.all_firings[0].at_ms == SEVEN_MS,
    "no 8 am window has fired, though r9 ran at 8:02": (
        "r9@8:02" in EVENTS and not [f for f in T.all_firings if f.window.start_ms == time_ms("8:00")]
    ),
    "No event of 9:02 or later": max(event.event_time_ms for event in S.events) < time_ms("9:02"),
    "the first one now comes at 7:22:05 instead of 7:03:10": (
        [time_text(FIRST_AT[bound]) for bound in ("10 min", "2 min")] == ["7:22:05", "7:03:10"]
    ),
    "totals are kept 20 minutes longer": S.lateness_ms == 20 * MINUTE_MS,
    "every 200 ms": S.replace(emission="interval").interval_ms == duration_ms("200 ms"),
}


class TestProse(HeldProse):
    """What the prose says is so."""

    least_sums = 3
    by_hand = frozenset({"6:41", "7:02:00.000", "9:02"})


@pytest.mark.flink
def test_on_flink_nothing_is_late_in_the_list_of_the_trap(flink):
    """Run the very lines that the lesson shows, with Flink's own strategy, and look at the side output."""
    from wmviz.flink import startup

    job = startup.job()
    from pyflink.common import Duration, Time, Types, WatermarkStrategy
    from pyflink.common.watermark_strategy import TimestampAssigner
    from pyflink.datastream import OutputTag
    from pyflink.datastream.functions import ProcessWindowFunction
    from pyflink.datastream.window import TumblingEventTimeWindows

    class EventTime(TimestampAssigner):
        def extract_timestamp(self, row, record_timestamp):
            return row[2]

    class Total(ProcessWindowFunction):
        def process(self, key, context, rows):
            yield f"{key} {context.window().end} {sum(row[1] for row in rows)}"

    (lines,) = re.findall(r"```python\n(.*?)```", PROSE, re.DOTALL)
    settings = job.Configuration()
    settings.set_string("python.execution-mode", "thread")
    env = job.StreamExecutionEnvironment.get_execution_environment(settings)
    env.set_parallelism(1)
    names = {
        "env": env,
        "rows": [(event.key, event.value, event.event_time_ms) for event in S.events],
        "WatermarkStrategy": WatermarkStrategy,
        "Duration": Duration,
        "EventTime": EventTime,
    }
    exec(lines, names)
    late = OutputTag("late")
    fired = (
        names["events"]
        .key_by(lambda row: row[0])
        .window(TumblingEventTimeWindows.of(Time.hours(1)))
        .allowed_lateness(20 * MINUTE_MS)
        .side_output_late_data(late)
        .process(Total(), Types.STRING())
    )
    beside = fired.get_side_output(late).map(lambda row: f"late {row[0]}", Types.STRING())
    found = sorted(startup.collect(fired.union(beside), "trap", 60))

    listed = S.replace(
        emission="interval",
        start="12:00",
        events=[[e.key, e.value, e.event_time_ms, "12:00"] for e in S.events],
        end_of_input="12:00",
    )
    totals = wmviz.simulate(listed).totals
    assert found == sorted(f"{key} {end_ms} {value}" for (key, _, end_ms), value in totals.items())
