"""What lesson 7 says in prose: each statement with a number is held against the engine, the trap against Flink."""

import re
from itertools import pairwise

import pytest

import wmviz
from tests.notebooks.prose import HeldProse, read_lesson
from wmviz.times import time_ms, time_text
from wmviz.trace import Kind, Status

CELLS, PROSE = read_lesson("07-idle-inputs")

S = wmviz.scenario("idle-bet")
T = wmviz.simulate(S)
EVENTS = {event.id: event for event in S.events}
R9 = [event for event in S.events if event.key == "r9"]
SIX_MS, SEVEN_MS = time_ms("6:00"), time_ms("7:00")
MINUTE_MS = 60_000
CHANNEL = wmviz.simulate(wmviz.scenario("return-from-idle-channel"))
PARTITION = wmviz.simulate(wmviz.scenario("return-from-idle-partition"))
BUSY = wmviz.scenario("busy-is-not-idle")
NIGHT = wmviz.simulate(wmviz.scenario("all-idle"))


def row(event):
    return [event.key, event.value, event.event_time_ms, event.arrival_time_ms, event.partition]


def statuses(trace, place, status=Status.IDLE):
    return [time_text(r.at_ms) for r in trace if r.kind is Kind.STATUS and r.place == place and r.value == status]


def place_at(trace, at, place):
    """Give a watermark after all that has happened up to a time."""
    step = max(step for step in range(trace.steps) if trace.state(step).at_ms <= time_ms(at))
    return time_text(trace.state(step).watermarks[place])


def window_at(trace, at):
    return place_at(trace, at, "window")


def back(event_time, **changes):
    """Give the life of a channel with another event at its return, or another one of the other input after it."""
    channel = CHANNEL.scenario
    rows = [row(event) for event in channel.events]
    rows[3][2] = event_time
    for index, time in changes.pop("others", {}).items():
        rows[index][2] = time
    return wmviz.simulate(channel.replace(events=rows, **changes))


def bet(**changes):
    return wmviz.simulate(S.replace(**changes))


def idle_after_ms(arrival, timeout, interval="200 ms"):
    one = S.replace(
        subtasks=1, partitions=1, interval=interval, idle_timeout=timeout, events=[["k", 1, "6:01", arrival]]
    )
    trace = wmviz.simulate(one)
    first = next(r.at_ms for r in trace if r.kind is Kind.STATUS and r.value == Status.IDLE)
    return first - one.events[0].arrival_time_ms


QUIETLY = wmviz.simulate(wmviz.scenario("quiet-partition").replace(idle_timeout="1 min"))
LEFT_OUT = back("6:55", others={4: "8:01", 7: "8:10"})
HELD = back("6:55", others={4: "8:01", 7: "8:10"}, subtasks=1)
OLDER = back("6:45")
BUSY_TRACE = wmviz.simulate(BUSY)
PRESSURE = [
    (time_text(r.at_ms), r.value) for r in BUSY_TRACE if r.kind is Kind.BACKPRESSURED and r.place == "source[0]"
]

# A piece of the prose → whether it is so.
FACTS = {
    "Every finished hour comes out, and nothing is lost": (
        {time_text(f.window.end_ms) for f in QUIETLY.all_firings} == {"7:00", "8:00"} and not QUIETLY.outcomes().late
    ),
    "each input has a subtask of its own, the timeout is 1 s, the bound 2 min, and no lateness is allowed": (
        (S.subtasks, S.partition_count, S.idle_timeout_ms, S.bound_ms, S.lateness_ms) == (2, 2, 1000, 2 * MINUTE_MS, 0)
    ),
    "almost two hours of running arrive within 9 s": (
        100 * MINUTE_MS
        < max(e.event_time_ms for e in S.events) - min(e.event_time_ms for e in S.events)
        < 120 * MINUTE_MS
        and EVENTS["r4471@7:50"].arrival_time_ms - S.grid_start_ms < 9000
    ),
    "sends every 4 s. Its kilometres are of 6:01, 6:02, 6:03 and 6:04": (
        {b.arrival_time_ms - a.arrival_time_ms for a, b in pairwise(R9)} == {4000}
        and [time_text(e.event_time_ms) for e in R9] == ["6:01", "6:02", "6:03", "6:04"]
    ),
    "9:00:00.150: r9's 6:01 arrives": EVENTS["r9@6:01"].arrival_time_ms == time_ms("9:00:00.150"),
    "9:00:01.600: no event for more than 1 s": statuses(T, "source[1]")[0] == "9:00:01.600",
    "9:00:02.600: r4471's 7:03 moves the watermark to 7:00:59.999. All 6 am windows fire": (
        {(f.at_ms, f.watermark_ms) for f in T.all_firings} == {(time_ms("9:00:02.600"), time_ms("7:00:59.999"))}
        and {f.key for f in T.all_firings} == {e.key for e in S.events if e.event_time_ms < SEVEN_MS}
        and EVENTS["r4471@7:03"].arrival_time_ms == time_ms("9:00:02.600")
    ),
    "9:00:04.150: r9's 6:02 arrives. It is not out of order: on its partition it is the newest event": (
        EVENTS["r9@6:02"].arrival_time_ms == time_ms("9:00:04.150")
        and sorted(e.event_time_ms for e in R9) == [e.event_time_ms for e in R9]
    ),
    "Had nobody used a timeout, the windows would have waited": not bet(idle_timeout=None).all_firings,
    "A timeout of 4 s survives it and loses nothing; then the results come only when **everyone** has gone silent, at "
    "9:00:16.600": (
        not bet(idle_timeout="4 s").outcomes().late
        and min(f.at_ms for f in bet(idle_timeout="4 s").all_firings) == time_ms("9:00:16.600")
        and statuses(bet(idle_timeout="4 s"), "window")[-1] == "9:00:16.600"
    ),
    "A timeout of 1 s, 2 s or 3 s loses all three kilometres": all(
        len(bet(idle_timeout=timeout).outcomes().late) == 3 for timeout in ("1 s", "2 s", "3 s")
    ),
    "With 20 minutes r9's 6:02 counts: it meets 7:17:59.999": (
        T.seen_watermarks["r9@6:02"] == time_ms("7:17:59.999")
        and bet(lateness="20 min").outcomes().late == {"r9@6:03", "r9@6:04"}
    ),
    "With 2 hours all count": not bet(lateness="2 h").outcomes().late,
    "Without a side output the three are dropped": bet(late_to="drop").dropped_count == 3,
    "yet it was idle at 9:00:01.600 only, 1.45 s later": idle_after_ms("9:00:00.150", "1 s") == 1450,
    "here every 200 ms": S.interval_ms == 200,
    "here 1.4 s to 1.6 s after the event for a timeout of 1 s": (
        {idle_after_ms(f"9:00:00.{ms:03d}", "1 s") for ms in range(1, 201)} == set(range(1400, 1600))
    ),
    "With a timeout of 1 s and a tick of 1 s it is up to four seconds": (
        idle_after_ms("9:00:00.001", "1 s", interval="1 s") == 3999
    ),
    "An input that has never sent anything is silent from the start of the job on, and becomes idle too": (
        statuses(wmviz.simulate(wmviz.scenario("spare-subtask").replace(idle_timeout="1 min")), "source[1]")[0]
        == "6:01:02"
    ),
    "its generator still says 6:49:59.999": (
        place_at(OLDER, "7:00:07", "source[1]") == "6:49:59.999"
        and "7:00:06" not in statuses(OLDER, "source[1]", Status.ACTIVE)
    ),
    "The 6:58 brings a higher watermark, and with it the input is active": (
        statuses(OLDER, "source[1]", Status.ACTIVE) == ["7:00:08"]
    ),
    "Now r9 is back at 7:00:06 with a 6:55, which does bring a higher watermark. But the windows are at 7:04:59.999": (
        statuses(CHANNEL, "source[1]", Status.ACTIVE) == ["7:00:06"] and window_at(CHANNEL, "7:00:06") == "7:04:59.999"
    ),
    "r4471's 7:20 moves the time to 7:19:59.999": window_at(CHANNEL, "7:00:07") == "7:19:59.999",
    "**holds the clock** at 7:04:59.999, until it has passed it at 7:00:09": (
        window_at(PARTITION, "7:00:08") == "7:04:59.999" and window_at(PARTITION, "7:00:09") == "7:19:59.999"
    ),
    "r9's 6:55 and 6:58 are too late in both": (
        CHANNEL.outcomes().late == PARTITION.outcomes().late == {"r9@6:55", "r9@6:58"}
    ),
    "at 7:00:07 its 8:01 comes in place of 7:20": (
        CHANNEL.scenario.events[4].arrival_time_ms == time_ms("7:00:07")
        and CHANNEL.scenario.events[4].event_time_ms == time_ms("7:20")
    ),
    "7 am is out at once, and r9's 7:30 is late as well": (
        "r9@7:30" in LEFT_OUT.outcomes().late and window_at(LEFT_OUT, "7:00:07") == "8:00:59.999"
    ),
    "it makes all wait until it has caught up, and its 7:30 counts": "r9@7:30" not in HELD.outcomes().late,
    "lets the **highest** watermark of all through, 7:04:59.999": (
        window_at(NIGHT, "7:00:04") == "6:57:59.999" and window_at(NIGHT, "7:00:05") == "7:04:59.999"
    ),
    "r4471's 7:05 is in the window of 7 am, and that one waits": (
        [(w.key, w.event_ids) for w in NIGHT.state(NIGHT.steps - 1).windows] == [("r4471", ("r4471@7:05",))]
    ),
    "the timeout is 3 s. From 7:00:00.300 to 7:00:06 `source[0]` cannot send": (
        BUSY.idle_timeout_ms == 3000 and PRESSURE[:2] == [("7:00:00.300", 1), ("7:00:06", 0)]
    ),
    "it can send again at 7:00:16, all its events have been read, and after more than 3 s": (
        PRESSURE[-1] == ("7:00:16", 0)
        and time_ms(statuses(BUSY_TRACE, "source[0]")[0]) > time_ms("7:00:16") + 3000
        and not [
            r for r in BUSY_TRACE if r.kind is Kind.ARRIVED and r.place == "source[0]" and r.at_ms > time_ms("7:00:16")
        ]
    ),
    "one subtask less needs no timeout at all": bool(
        wmviz.simulate(wmviz.scenario("spare-subtask").replace(subtasks=1)).all_firings
    ),
}


class TestProse(HeldProse):
    """What the prose says is so."""

    least_sums = 2
    by_hand = frozenset({"9:00:00.400", "9:00:01.400", "5:58:59.999", "6:59:59.999", "7:19:59.999"})


@pytest.mark.parametrize("timeout", ["100 ms", "200 ms", "900 ms", "1 s", "1 min"])
def test_idle_comes_more_than_one_and_at_most_three_ticks_after_the_timeout(timeout):
    timeout_ms = S.replace(idle_timeout=timeout).idle_timeout_ms
    over = [idle_after_ms(f"9:00:00.{ms:03d}", timeout) - timeout_ms for ms in range(1, 201)]
    assert min(over) > 200
    assert max(over) <= 600


def test_two_inputs_do_as_partitions_do():
    trace = wmviz.simulate(wmviz.scenario("two-inputs"))
    assert window_at(trace, "7:00:06.500") == window_at(trace, "7:00:08.500")


@pytest.mark.flink
def test_on_flink_the_order_of_the_trap_loses_the_assigner(flink):
    """Run the very lines that the lesson shows: the first order fails, the second gives the totals."""
    wrong, right = re.findall(r"```python\n(.*?)```", PROSE, re.DOTALL)
    with pytest.raises(Exception, match=r"Long\.MIN_VALUE timestamp"):
        run_trap(wrong)
    totals = wmviz.simulate(wmviz.scenario("leaderboard")).scenario.events
    assert sum(int(line.split()[-1]) for line in run_trap(right)) == sum(event.value for event in totals)


def run_trap(lines):
    from wmviz.flink import startup

    job = startup.job()
    from pyflink.common import Duration, Time, Types, WatermarkStrategy
    from pyflink.common.watermark_strategy import TimestampAssigner
    from pyflink.datastream.functions import ProcessWindowFunction
    from pyflink.datastream.window import TumblingEventTimeWindows

    class EventTime(TimestampAssigner):
        def extract_timestamp(self, row, record_timestamp):
            return row[2]

    class Total(ProcessWindowFunction):
        def process(self, key, context, rows):
            yield f"{key} {context.window().end} {sum(row[1] for row in rows)}"

    settings = job.Configuration()
    settings.set_string("python.execution-mode", "thread")
    env = job.StreamExecutionEnvironment.get_execution_environment(settings)
    env.set_parallelism(1)
    events = wmviz.scenario("leaderboard").events
    names = {
        "env": env,
        "rows": [(event.key, event.value, event.event_time_ms) for event in events],
        "WatermarkStrategy": WatermarkStrategy,
        "Duration": Duration,
        "EventTime": EventTime,
    }
    exec(lines, names)
    keyed = names["events"].key_by(lambda row: row[0])
    fired = keyed.window(TumblingEventTimeWindows.of(Time.hours(1))).process(Total(), Types.STRING())
    return startup.collect(fired, "trap", 60)
