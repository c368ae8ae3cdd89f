"""What lesson 11 says in prose: each statement with a number is held against the engine."""

import json
from pathlib import Path

import pytest

import wmviz
from tests.notebooks.prose import HeldProse, read_lesson
from wmviz.course.lessons.crash_and_restore import replay_begins_with, six_am
from wmviz.times import MIN_MS, time_ms
from wmviz.trace import Kind

ROOT = Path(__file__).resolve().parent.parent.parent
CELLS, PROSE = read_lesson("11-crash-and-restore")

S = wmviz.scenario("crash-and-replay")
T = wmviz.simulate(S)
R = wmviz.scenario("restore-overwrites-total")
OVERWRITTEN = wmviz.simulate(R)
FIRST = wmviz.simulate(replay_begins_with("7:24"))
LONG = wmviz.simulate(R.replace(lateness="30 min"))
LIST = wmviz.simulate(wmviz.scenario("list-starts-again"))
SOCKET = wmviz.simulate(wmviz.scenario("socket-loses-events"))
SAVEPOINT = wmviz.simulate(wmviz.scenario("savepoint"))
AT = {event.id: event.arrival_time_ms for event in S.events}
BOARD = wmviz.scenario("leaderboard").replace(checkpoints={"interval": "30 s"})


def rows(trace, kind):
    return [record for record in trace if record.kind == kind]


def down(how_long):
    trace = wmviz.simulate(BOARD.replace(happenings=[{"what": "crash", "at": "7:08", "down": how_long}]))
    return trace.outcomes().late, trace.totals


def watermark_after(trace, record):
    return trace.state(record.step).watermarks["window"]


RELOADED = rows(T, Kind.RELOADED)[0]
EARLIER = wmviz.simulate(S.replace(happenings=[{"what": "crash", "at": "6:59:05", "down": "20 s"}]))

# A piece of the prose → whether it is so.
FACTS = {
    "At 6:59:00 checkpoint 1 is complete. It has 9,400 m of r4471": (
        rows(T, Kind.CHECKPOINT)[1].at_ms == time_ms("6:59")
        and (RELOADED.subject.key, RELOADED.value) == ("r4471", 9400)
    ),
    "6:59:10: another 800 m of r4471 arrive": AT["r4471@6:59"] == time_ms("6:59:10") and S.events[2].value == 800,
    "6:59:20: a machine dies": rows(T, Kind.CRASHED)[0].at_ms == time_ms("6:59:20"),
    "6:59:30: 1,000 m of r4471 arrive in Kafka": (
        AT["r4471@6:59:20"] == time_ms("6:59:30") and S.events[3].value == 1000
    ),
    "6:59:40: the job runs again": rows(T, Kind.RESTORED)[0].at_ms == time_ms("6:59:40"),
    "Source and window go back to the **same point**: two events, 9,400 m": T.state(RELOADED.step).ledger.counted == 2,
    "9,400 m from the checkpoint + 800 m read again + 1,000 m read for the first time = 11,200 m": (
        9_400 + 800 + 1_000 == six_am(T) == 11_200
    ),
    "Starts again: 9,400 m from the checkpoint + the whole list, 11,200 m = 20,600 m": (
        9_400 + 11_200 == six_am(LIST) == 20_600
    ),
    "Keeps nothing: 9,400 m. The 800 m since the checkpoint are lost, and the 1,000 m": (
        six_am(SOCKET) == 9_400 and [r.subject.value for r in rows(SOCKET, Kind.LOST)] == [800, 1000]
    ),
    "`MIN` is the lowest number there is": watermark_after(T, RELOADED) == MIN_MS == -(2**63),
    "after the last one that was read again, it is 6:59:20 − 2 min − 1 ms = 6:57:19.999": (
        max(ms for ms in (watermark_after(T, r) for r in T if r.at_ms == time_ms("6:59:40"))) == time_ms("6:57:19.999")
    ),
    "At 7:24:10 one more event comes, 500 m of 6:58": (
        [(e.value, e.arrival_time_ms) for e in R.events if e.id == "r4471@6:58"] == [(500, time_ms("7:24:10"))]
    ),
    "The checkpoint is that of 7:24:00": max(
        r.at_ms for r in rows(OVERWRITTEN, Kind.CHECKPOINT) if r.at_ms < time_ms("7:24:30")
    )
    == time_ms("7:24"),
    "Before the crash the watermark was 7:20:59.999": (
        watermark_after(OVERWRITTEN, rows(OVERWRITTEN, Kind.LATE)[0]) == time_ms("7:20:59.999")
    ),
    "The 6 am window was deleted at 7:19:59.999": time_ms("6:59:59.999") + R.lateness_ms == time_ms("7:19:59.999"),
    "The next event, r9's 7:25, moves the watermark past 7 o'clock. The window fires with 500 m": (
        (rows(OVERWRITTEN, Kind.FIRED)[-1].at_ms, rows(OVERWRITTEN, Kind.FIRED)[-1].value)
        == (next(e.arrival_time_ms for e in R.events if e.id == "r9@7:25"), 500)
    ),
    "3,000 m become 500 m": [r.value for r in rows(OVERWRITTEN, Kind.WRITTEN)] == [3000, 500],
    "The 500 m are added to 3,000 m, before the crash and after it. The same result is written twice": (
        [r.value for r in rows(LONG, Kind.WRITTEN)] == [3000, 3500, 3500]
    ),
    "7:24 − 2 min − 1 ms = 7:21:59.999. The 500 m are too late as before": (
        [r.value for r in rows(FIRST, Kind.LATE)] == [time_ms("7:21:59.999")] * 2 and six_am(FIRST) == 3000
    ),
    "The leaderboard allows 20 min": BOARD.lateness_ms == 20 * 60_000,
    "Nothing changes but the time at which the results come": down("1 min") == down("20 min") == down("2 h"),
    "The savepoint has number 2 and is ten seconds newer, and still the job goes back to checkpoint 1": (
        rows(SAVEPOINT, Kind.RESTORED)[0].value == 1
        and [(c.id, c.savepoint) for c in SAVEPOINT.checkpoints[:2]] == [(1, False), (2, True)]
        and [r.at_ms for r in rows(SAVEPOINT, Kind.CHECKPOINT)[:3:2]] == [time_ms("6:59"), time_ms("6:59:10")]
    ),
    "Nothing is read again in the first: the 800 m come while the job is down, and wait. The total is the same": (
        not rows(EARLIER, Kind.REWOUND) and six_am(EARLIER) == six_am(T)
    ),
}


class TestProse(HeldProse):
    """What the prose says is so."""

    least_sums = 2


@pytest.mark.parametrize(("name", "file"), [("rec-01", "recovery.json"), ("own-rec-11", "ours/recovery.json")])
def test_the_cases_that_the_lesson_names_were_run_on_flink(name, file):
    assert f"`{name}`" in PROSE
    cases = json.loads((ROOT / "tests" / "semantics" / "cases" / file).read_text(encoding="utf-8"))
    (case,) = (case for case in cases if case["id"] == name)
    assert case["verified"].startswith("run: 2.3.0 local job with checkpoint")
    assert len(case["expected"][-1]["fire"]["elements"]) == 1


def test_the_recovery_job_is_what_the_lesson_says():
    job = wmviz.flink.recovery_code()
    assert "NUMBERS = 300" in job
    assert 'KEYS = "abc"' in job
    assert '"execution.checkpointing.interval": "1 s"' in job
