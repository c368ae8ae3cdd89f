"""What lesson 9 says in prose: each number is held against the engine."""

import json
from collections import Counter
from datetime import date, timedelta

import pytest

import wmviz
from tests.notebooks.prose import HeldProse, read_lesson
from wmviz.engine.windows import assigner_of
from wmviz.flink import timers
from wmviz.scenario import Scenario, ScenarioError
from wmviz.times import time_ms, time_text
from wmviz.window import Window

CELLS, PROSE = read_lesson("09-other-windows")

HOUR_MS, MINUTE_MS = 3_600_000, 60_000
DAY_MS = 24 * HOUR_MS
S = wmviz.scenario("workout-sessions")
T = wmviz.simulate(S)
BOARD = wmviz.scenario("leaderboard")
GAPS = wmviz.scenario("sliding-gaps")
CITY = wmviz.scenario("half-hour-zone")
BERLIN = wmviz.scenario("daylight-saving")
FIXED = BERLIN.replace(window={"zone": None, "offset": "-2 h"})
TIMERS = json.loads(timers.RECORDING.read_text(encoding="utf-8"))["lines"]
PROGRAM = timers.timers_code()
OFFSETS_MIN = {60 * hours for hours in range(-12, 15)} | {330, 345, 525, 570, 765, -210}


def run(scenario, **changes):
    return wmviz.simulate(scenario.replace(**changes))


def windows_of(trace, key):
    return [(time_text(f.window.start_ms), time_text(f.window.end_ms)) for f in trace.all_firings if f.key == key]


def sliding(slide):
    return run(BOARD, window={"type": "sliding", "size": "1 h", "slide": slide})


def first_window(size, offset):
    """Give the start of the first window of a morning in 2026."""
    at = "2026-10-17T07:00+00:00"
    days = run(S, start=None, window={"type": "tumbling", "size": size, "offset": offset}, events=[["r9", 1, at, at]])
    return days.state(days.steps - 1).windows[0].window.start_ms


def windows_per_event(size_ms, slide_ms):
    return len(list(assigner_of(Window("sliding", size_ms, slide_ms)).assign(time_ms("6:56"))))


def results(trigger, **more):
    firings = run(BOARD, window={"type": "global", "trigger": trigger}, **more).all_firings
    return [(f.key, len(f.event_ids)) for f in firings]


def hours(job):
    return [(f.window.end_ms - f.window.start_ms) // HOUR_MS for f in wmviz.simulate(job).all_firings]


def local_starts(job, zone):
    return {time_text(f.window.start_ms, zone)[11:] for f in wmviz.simulate(job).all_firings}


def refused(job, offset):
    with pytest.raises(ScenarioError, match="offset"):
        job.replace(window={"offset": offset})
    return True


def read_again():
    rows = [[e.key, e.value, e.event_time_ms, time_ms("12:00") + 1000 * n] for n, e in enumerate(BOARD.events)]
    return BOARD.replace(start="12:00", events=rows)


def first_result(newest, bound="0 ms"):
    rows = [["k", 1, at, at] for at in ("2:02", "2:04", "2:08", newest)]
    return bool(wmviz.simulate(Scenario.of(name="grid", bound=bound, window="10 min", events=rows)).all_firings)


NO_LATENESS = run(S, lateness="0 ms")
BY_TWO = run(BOARD, window={"trigger": "count:2"})

NEVER_SILENT = run(
    S, start="0:00", events=[["r9", 1, minute * MINUTE_MS, minute * MINUTE_MS] for minute in range(0, 1440, 9)]
)

# A piece of the prose → whether it is so.
FACTS = {
    "Windows of seven days begin on a **Thursday**, for 1970-01-01 was one. With an offset of 4 days they begin on "
    "Monday": (
        [date(1970, 1, 1).weekday(), (date(1970, 1, 1) + timedelta(days=4)).weekday()] == [3, 0]
        and {first_window("168 h", "0 ms") % (7 * DAY_MS), first_window("168 h", "96 h") % (7 * DAY_MS)}
        == {0, 4 * DAY_MS}
    ),
    "A sensor that is never silent for the gap has one session without end: no result, and more and more state": (
        [len(NEVER_SILENT.all_firings), len(NEVER_SILENT.state(NEVER_SILENT.steps - 1).windows)] == [0, 1]
    ),
    "Three kilometres come, of 6:30, 6:40 and 7:02, one a second; the bound is 2 min": all(
        text in PROGRAM
        for text in (
            "6 * HOUR_MS + 30 * M",
            "6 * HOUR_MS + 40 * M",
            "7 * HOUR_MS + 2 * M",
            "time.sleep(1)",
            "minutes(2)",
        )
    ),
    "It was set three times, and called once": [line.startswith("timer of event time") for line in TIMERS].count(True)
    == 1,
    "The one for an hour later is **never** called": len(TIMERS) == 2 + 3 and "now_ms + HOUR_MS" in PROGRAM,
    "Here the TTL is 4 s. The second workout is **seven days** later in event time": (
        all(text in PROGRAM for text in ("Time.seconds(4)", "1 * DAY_MS, 0", "8 * DAY_MS, 0"))
    ),
    "Seven days of event time expire nothing, and 5 s of the server's clock do: the count begins again": (
        TIMERS[3:] == ["workout of day 8, after 0 s: count 2", "workout of day 8, after 5 s: count 1"]
    ),
    "The bound is 2 min, the allowed lateness 10 min": (
        (S.bound_ms, S.lateness_ms, S.window.gap_ms) == (2 * MINUTE_MS, 10 * MINUTE_MS, 10 * MINUTE_MS)
    ),
    "[6:00, 6:16) with 2,000 m": T.totals["r4471", time_ms("6:00"), time_ms("6:16")] == 2000,
    "It does **not** fire at once: the joined session [6:00, 6:35) is not over": (
        windows_of(T, "r4471") == [("6:00", "6:16"), ("6:00", "6:35")]
        and T.all_firings[-1].at_ms > time_ms("6:26") == S.events[5].arrival_time_ms
    ),
    "fires at its new end, with all four kilometres": len(T.all_firings[-1].event_ids) == 4,
    "Without lateness the first session is gone": windows_of(NO_LATENESS, "r4471")
    == [("6:00", "6:16"), ("6:15", "6:35")],
    "When does the first result come? Many answer: at 2:12": (
        not first_result("2:09:59.999") and first_result("2:10") and first_result("2:12")
    ),
    "each event is in size ÷ slide = 2 of them": windows_per_event(HOUR_MS, HOUR_MS // 2) == 2,
    "the kilometre that was 28 minutes late": (
        [e.arrival_time_ms - e.event_time_ms for e in BOARD.events if e.id == "r7@6:56"] == [28 * MINUTE_MS]
    ),
    "still [6:00, 7:00) is a kilometre short": (
        sliding("30 min").totals["r7", time_ms("6:00"), time_ms("7:00")] == 1000
        and sum(e.value for e in BOARD.events if e.key == "r7" and e.event_time_ms < time_ms("7:00")) == 2000
    ),
    "19 kilometres, and each is added to size ÷ slide windows": (
        len(BOARD.events) == 19 and all(windows_per_event(HOUR_MS, m * MINUTE_MS) == 60 // m for m in (60, 30, 15, 5))
    ),
    "With 30 min these are 19 × 2 = 38, and one of them is missed, so 37 are kept": (
        (len(BOARD.events) * 2, sliding("30 min").ledger().missed, sliding("30 min").ledger().accepted) == (38, 1, 37)
    ),
    "With smaller slides it is only missed": all(
        (sliding(slide).ledger().missed > 0, sliding(slide).ledger().side_output) == (True, 0)
        for slide in ("30 min", "15 min", "5 min")
    ),
    "A window of a day with a slide of a minute puts each event into 1,440 windows": (
        windows_per_event(DAY_MS, MINUTE_MS) == 1_440
    ),
    "windows of 10 min start every 15 min": (
        (GAPS.window.size_ms, GAPS.window.slide_ms) == (10 * MINUTE_MS, 15 * MINUTE_MS)
    ),
    "never fires, not even at the end of the input": results("default", end_of_input="8:10") == [],
    "fires once for each key, when the input ends: 5 + 6 + 5 + 3 = 19 kilometres": (
        [number for _, number in results("end_of_stream", end_of_input="8:10")] == [5, 6, 5, 3]
        and len({key for key, _ in results("end_of_stream", end_of_input="8:10")}) == 4
        and results("end_of_stream") == []
    ),
    "the second result of r4471 has six kilometres": results("count:3")[-1] == ("r4471", 6),
    "it has three": results("purging_count:3")[-1] == ("r4471", 3),
    "r7 ran one kilometre in the hour from 6": "r7@6:52" not in {i for f in BY_TWO.all_firings for i in f.event_ids},
    "By event time the hours of r4471 are the same": (run(BOARD).totals == wmviz.simulate(read_again()).totals),
    "puts the whole morning into one hour, 12:00": (
        {start for _, start, _ in wmviz.simulate(read_again().by_server_clock()).totals} == {time_ms("12:00")}
    ),
    "nothing is ever late and every window fires": (
        not wmviz.simulate(BOARD.by_server_clock()).outcomes().late
        and sum(len(f.event_ids) for f in wmviz.simulate(BOARD.by_server_clock()).all_firings) == 19
    ),
    "(If its input ends before the hour is over, that hour gives nothing: lesson 1.)": (
        not wmviz.simulate(read_again().replace(end_of_input="12:00:30").by_server_clock()).all_firings
    ),
    "A result needs an event of 2:10 plus the bound, or later": (
        [first_result(newest, "1 min") for newest in ("2:10", "2:10:59.999", "2:11")] == [False, False, True]
    ),
    "Hours from 6:30 to 7:30": local_starts(CITY, CITY.zone) == {"06:30", "07:30"},
    "midnight UTC is 5:30 there": time_text(0, "+05:30").endswith("05:30"),
    "so −5 h 30 min is refused for windows of 1 h": refused(CITY, "-5 h 30 min"),
    "−30 min or 30 min does the same": (
        run(CITY, window={"offset": "-30 min"}).totals == run(CITY, window={"offset": "30 min"}).totals
    ),
    "−5 h 30 min for days at +05:30": local_starts(
        CITY.replace(window={"size": "24 h", "offset": "-5 h 30 min"}, end_of_input="2026-10-17T09:00+05:30"), CITY.zone
    )
    == {"00:00"},
    "Windows of 1 h fit +02:00, but not +05:30. A day fits nowhere but at UTC": (
        [minutes * MINUTE_MS % HOUR_MS == 0 for minutes in (120, 330)] == [True, False]
        and [minutes for minutes in OFFSETS_MIN if minutes * MINUTE_MS % DAY_MS == 0] == [0]
    ),
    "this Sunday has 25 hours": 25 in hours(BERLIN) and set(hours(FIXED)) == {24},
    "From that Sunday on, the fixed days run from 23:00 to 23:00": local_starts(FIXED, BERLIN.zone) >= {"23:00"},
    "What was run on Sunday at 23:30 counts for Monday": any(
        {"r4471@2026-10-25 23:30", "r4471@2026-10-26 07:30"} <= set(f.event_ids)
        for f in wmviz.simulate(FIXED).all_firings
    ),
    "r4471 ran 4,000 m, and the table has 6,000": (
        sum(e.value for e in S.events if e.key == "r4471") == 4000
        and sum(metres for (key, *_), metres in T.totals.items() if key == "r4471") == 6000
    ),
    "then no session that has fired is ever joined": (
        max(Counter(event for firing in NO_LATENESS.all_firings for event in firing.event_ids).values()) == 1
    ),
    "6:15:59.999 + 5 min = 6:20:59.999, and the watermark is 6:22:59.999": (
        T.seen_watermarks["r4471@6:15"] == time_ms("6:22:59.999")
        and windows_of(run(S, lateness="5 min"), "r4471")[-1] == ("6:15", "6:35")
    ),
}


class TestProse(HeldProse):
    """What the prose says is so."""

    least_sums = 1
    by_hand = frozenset({"00:00", "01:00"})


def test_late_in_a_session_is_a_matter_of_the_other_events():
    rows = [
        ["a", 1, "6:20", "6:20"],
        ["b", 1, "6:27:00.001", "6:27"],
        ["a", 1, "6:12", "6:28"],
        ["c", 1, "6:12", "6:29"],
    ]
    trace = run(S, lateness="0 ms", events=rows)
    assert trace.seen_watermarks["a@6:12"] == trace.seen_watermarks["c@6:12"] == time_ms("6:25")
    assert trace.outcomes().late == {"c@6:12"}


def test_a_late_event_of_a_session_brings_one_firing_with_content():
    rows = [["r9", 1, "6:00", "6:00"], ["r7", 1, "6:15", "6:15"], ["r9", 1, "6:01", "6:16"], ["r9", 1, "5:58", "6:17"]]
    firings = run(S, start="5:50", events=rows).all_firings
    assert [len(f.event_ids) for f in firings] == [1, 2, 3]
    assert len({f.at_ms for f in firings}) == 3
