"""What notebook 21 says in prose: each statement with a number is held against the runs of its own cells."""

import os
import re
from unittest.mock import patch

import wmviz
from tests.notebooks.prose import HeldProse, read_lesson
from wmviz.course.interview.cases import BILLING, CLICKS, FRAUD, SENSORS, first_alarm, rows_of, tried, wait, with_event
from wmviz.times import time_ms, time_text

CELLS, PROSE = read_lesson("21-design-cases")


def run_cells():
    """Run the cells of the notebook here, and give what they have defined."""
    names = {}
    with patch.dict(os.environ, WMVIZ_STAGE="still"):
        for cell in CELLS:
            if cell.cell_type == "code":
                exec(compile(cell.source, cell.id, "exec"), names)
    return names


NB = run_cells()
LEADERBOARDS = tried(NB["leaderboards"], NB["wrong_totals"])
BILLS = tried(NB["bills"], NB["acme"])["readers see"]
DETECTORS = tried(NB["detectors"], lambda trace: first_alarm(trace, "c1", 3))
FLEETS = tried(NB["fleets"], NB["windows_of"])
FEEDS = tried(NB["feeds"], NB["minute"])
SHOPS = tried(NB["shops"], lambda trace: rows_of(trace, "u1"))
FEED, GATEWAYS, OFFLINE = NB["feed"], wmviz.simulate(SENSORS), SENSORS.happenings[0]
ON_FLINK = {
    name: scenario
    for group in ("leaderboards", "bills", "detectors", "fleets", "feeds", "shops")
    for name, scenario in NB[group].items()
    if group != "leaderboards"
}


def fired(scenario, key):
    return [(f.value, time_text(f.at_ms)) for f in wmviz.simulate(scenario).all_firings if f.key == key]


def first_result(scenario):
    """Say how long after the end of its window the first result of 10:00 comes."""
    first = next(f for f in wmviz.simulate(scenario).all_firings if f.window.start_ms == time_ms("10:00"))
    return first.at_ms - first.window.end_ms


TUMBLING = NB["detectors"]["tumbling, 1 min"]
TOO_LATE = wmviz.simulate(NB["saturday"]).outcomes().late
OWN = [event for event in FEED.events if time_ms("10:00") <= event.event_time_ms < time_ms("10:01")]

# A piece of the prose → whether it is so.
FACTS = {
    "97 % within 2 minutes, 99.5 % within 20, a few take hours": (
        "97 % of the kilometres arrive within 2 minutes, 99.5 % within 20, a few take hours"
        in wmviz.scenario("busy-saturday").about
    ),
    "54 of 500 totals are wrong": LEADERBOARDS["readers see"].iloc[0] == "54 of 500 totals wrong",
    "nothing is late and nobody waits": (
        LEADERBOARDS["too late"].iloc[0] == 0 and LEADERBOARDS["first result after"].iloc[0] == "0 ms"
    ),
    "A bound of 2 min with a lateness of 20 min leaves 16 wrong. So does a bound of 20 min without lateness": (
        list(LEADERBOARDS["readers see"].iloc[3:]) == ["16 of 500 totals wrong"] * 2
    ),
    "its first result comes after 20 minutes and not after 2": (
        [text.split(" min")[0] for text in LEADERBOARDS["first result after"].iloc[3:]] == ["2", "20"]
    ),
    "The 16 that are left are hours late": all(
        e.arrival_time_ms - e.event_time_ms > time_ms("0:20") for e in NB["saturday"].events if e.id in TOO_LATE
    ),
    "acme makes calls for 40 + 60 + 20 = 120 cents": [e.value for e in BILLING.events if e.key == "acme"]
    == [40, 60, 20],
    "After the first result the job crashes before the next checkpoint": (
        [at for _, at in fired(BILLING, "acme")][:2] == ["9:01:06", "9:01:25"]
    ),
    "three windows answer": len(wmviz.simulate(NB["detectors"][DETECTORS.index[4]]).all_firings) == 3,
    "four results, the first one a few seconds after its end": (
        sum(f.window.start_ms == time_ms("10:00") for f in wmviz.simulate(FEED).all_firings) == 4
    ),
    "those are the 16 that no setting of the table catches": len(TOO_LATE) == 16,
    "what the sink holds at 9:01:06": fired(NB["bills"]["transactional, parts"], "acme")[0] == (100, "9:01:06"),
    "Two of seven designs bill 120 cents": (
        {name for name, seen in BILLS.items() if seen.endswith("= 120 cents")}
        == {"upsert, whole totals", "transactional, parts"}
        and len(BILLS) == 7
    ),
    "**Parts with a sink that commits**: 100 + 20": BILLS["transactional, parts"].startswith("100 + 20 ="),
    "Whole totals that are added count the first 100 again: 220, and with the crash 320": (
        BILLS["transactional, whole totals"].endswith("= 220 cents")
        and BILLS["append, whole totals"].endswith("= 320 cents")
    ),
    "Parts that are overwritten leave the last one, 20": BILLS["upsert, parts"] == "20 = 20 cents",
    "and 100 is billed: right, if a note of 20 follows": BILLS["upsert, no lateness"] == "100 = 100 cents",
    "Card c1 pays at 10:00:40, 10:00:55 and 10:01:10": (
        sorted(time_text(e.event_time_ms) for e in FRAUD.events if e.key == "c1")
        == ["10:00:40", "10:00:55", "10:01:10"]
    ),
    "The payment of 10:00:55 arrives last, at 10:01:12": (
        max((e.arrival_time_ms, e.event_time_ms) for e in FRAUD.events if e.key == "c1")
        == (time_ms("10:01:12"), time_ms("10:00:55"))
    ),
    "Tumbling windows see no fraud": DETECTORS["readers see"].iloc[0] == "no alarm",
    "One of the two is even too late, since its window fires at 10:01:10.500": (
        wmviz.simulate(TUMBLING).outcomes().late == {"c1@10:00:55"} and fired(TUMBLING, "c1")[0] == (1, "10:01:10.500")
    ),
    "when the watermark passes the end of the first one that has all three: at 10:01:30.400": (
        DETECTORS["readers see"].iloc[1].startswith("alarm at 10:01:30.400")
    ),
    "with 1 min it comes at 10:02:30.300": DETECTORS["readers see"].iloc[3].startswith("alarm at 10:02:30.300"),
    "A trigger that fires at each third payment answers at 10:01:12": (
        DETECTORS["readers see"].iloc[4] == "alarm at 10:01:12, in 3 of its windows"
    ),
    "18 s **before** the end of its windows": DETECTORS["first result after"].iloc[4] == "−18 s",
    "One fraud, three windows, three alarms": len(wmviz.simulate(NB["detectors"][DETECTORS.index[4]]).all_firings) == 3,
    "s2's gateway is offline from 9:03 to 9:20:30": (
        (OFFLINE.at_ms, OFFLINE.until_ms) == (time_ms("9:03"), time_ms("9:20:30"))
        and {e.partition for e in SENSORS.events if e.key == "s2"} == {OFFLINE.partition}
    ),
    "the first results for the window from 9:00 come at 9:20:30, s1's too. All are complete": (
        (fired(SENSORS, "s1")[0][1], fired(SENSORS, "s2")[0][1]) == ("9:20:30", "9:20:30")
        and not GATEWAYS.outcomes().late
    ),
    "With a timeout of 2 min they come after about 1 min": FLEETS["first result after"].iloc[1] == "1 min 1 s",
    "six temperatures of s2 are too late, and two of its four windows have no result": (
        FLEETS["too late"].iloc[1] == 6 and FLEETS["readers see"].iloc[1] == "windows of s1: 4, of s2: 2"
    ),
    "A lateness of 30 min brings these back": (
        FLEETS["too late"].iloc[2] == 0 and FLEETS["readers see"].iloc[2] == "windows of s1: 4, of s2: 4"
    ),
    "One clock that says 12:00 makes 27 temperatures too late, of both sensors": (
        FLEETS["too late"].iloc[3] == 27
        and {event[:2] for event in wmviz.simulate(NB["fleets"][FLEETS.index[3]]).outcomes().late} == {"s1", "s2"}
    ),
    "it says 12:00 at 9:06": any(
        (e.event_time_ms, e.arrival_time_ms) == (time_ms("12:00"), time_ms("9:06:30"))
        for e in NB["fleets"][FLEETS.index[3]].events
    ),
    "p99 of the measured lag is 1.2 s. With 0.8 s for safety that makes 2 s": FEED.bound_ms == 1_200 + 800,
    "With all six prices the average of the minute from 10:00 is 10,235 cents": (
        len(OWN) == 6 and sum(event.value for event in OWN) / 6 == 10_235
    ),
    "The screen has 10,240 with the chosen design: 10:00:20 is too late": (
        FEEDS["readers see"].iloc[0] == "10,240" and wmviz.simulate(FEED).outcomes().late == {"gold@10:00:20"}
    ),
    "The first result came after some seconds": 2_000 < first_result(FEED) < 10_000,
    "gives four rows for one minute": FEEDS["readers see"].iloc[1].count(", ") == 3,
    "gives one row, and it is right: 10,235. It comes after more than a minute": (
        FEEDS["readers see"].iloc[4] == "10,235" and first_result(NB["feeds"][FEEDS.index[4]]) > 60_000
    ),
    "A bound of 0 loses a price more than one of 2 s": list(FEEDS["too late"].iloc[[2, 0]]) == [2, 1],
    "u1 clicks at 14:00, 14:08, 14:20 and 14:32": (
        sorted(time_text(e.event_time_ms) for e in CLICKS.events if e.key == "u1")
        == ["14:00", "14:08", "14:20", "14:32"]
    ),
    "the click of 14:20 arrives at 14:40": any(
        (e.event_time_ms, e.arrival_time_ms) == (time_ms("14:20"), time_ms("14:40")) for e in CLICKS.events
    ),
    "14:00 to 14:47 with 4 clicks. But the row 14:00 to 14:23 with 2 clicks **stays behind**": (
        SHOPS["readers see"].iloc[0] == "14:00 to 14:23: 2; 14:00 to 14:47: 4"
    ),
    "Who adds up finds 6 clicks": sum(v for key, _, v in wmviz.simulate(CLICKS).state().sink if key == "u1") == 6,
    "14:00 to 14:23 and 14:20 to 14:47, two visits that overlap. No event was too late": (
        SHOPS["readers see"].iloc[1] == "14:00 to 14:23: 2; 14:20 to 14:47: 2" and SHOPS["too late"].iloc[1] == 0
    ),
    "A bound of 20 min gives the right row alone, 33 minutes later than the corrected one with 1 min": (
        fired(NB["shops"][SHOPS.index[2]], "u1") == [(4, "15:25:02")]
        and fired(CLICKS, "u1")[-1] == (4, "14:52:02")
        and time_ms("15:25:02") - time_ms("14:52:02") == time_ms("0:33")
    ),
    "A gap of 5 min makes four visits of one, a gap of 30 min one": (
        [text.count(" to ") for text in SHOPS["readers see"].iloc[3:]] == [4, 1]
    ),
}


class TestProse(HeldProse):
    """What the prose says is so."""


def test_six_cases_and_each_has_all_its_parts():
    parts = re.split(r"^## Case \d: ", PROSE, flags=re.MULTILINE)[1:]
    assert len(parts) == 6
    wanted = (
        "> *",
        "**Ask back**",
        "<b>A design</b>",
        "**What can be traded.**",
        "**On the stage**",
        "**Red flags**",
        "**Key points**",
    )
    for part in parts:
        places = [part.index(text) for text in wanted]
        assert places == sorted(places)
        for row in ("time, strategy", "idleness", "windows", "lateness", "later still", "sink", "checkpoints"):
            assert f"| {row} |" in part


def test_a_job_with_one_more_event_keeps_the_order_of_arrival():
    more = with_event(CLICKS, "u9", 1, "14:01", "14:30", 0)
    arrivals = [event.arrival_time_ms for event in more.events]
    assert arrivals == sorted(arrivals)
    assert [event.id for event in more.events if event.key == "u9"] == ["u9@14:01"]
    assert len(more.events) == len(CLICKS.events) + 1


def test_a_job_that_never_fires_has_no_wait():
    silent = wmviz.simulate(CLICKS.replace(bound="9 h"))
    assert wait(silent) == "no result"
    assert rows_of(silent, "u1") == "nothing"
    assert first_alarm(silent, "u1", 1) == "no alarm"


def test_flink_says_the_same_of_every_design_that_it_can_replay(flink):
    """Replay all designs without a crash at once; those with one are replayed without it."""
    scenarios = [
        scenario.replace(name=f"design-{number}", checkpoints=None, sink="upsert", happenings=kept)
        for number, scenario in enumerate(ON_FLINK.values())
        for kept in [[h for h in scenario.to_json().get("happenings", []) if h["what"] != "crash"]]
    ]
    traces = flink.run_many(scenarios)
    assert [wmviz.compare(*pair).differences for pair in zip(scenarios, traces, strict=True)] == [()] * len(scenarios)
