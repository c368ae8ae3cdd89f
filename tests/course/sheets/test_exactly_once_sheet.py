"""Sheet 12: right answers in any form, and the message that each typical wrong one gets."""

from datetime import timedelta

import pytest

import wmviz
from tests.course.sheets.answered import AnsweredTasks
from wmviz import course
from wmviz.course.sheets import exactly_once as sheet
from wmviz.times import time_text
from wmviz.trace import Kind, TransactionPhase

BILL = sheet.BILL
PURGING = {"trigger": "purging_event_time"}
SUMS = {"append": 52, "upsert": 20, "transactional": 32}
WISHES = {"screen": "upsert", "books": "transactional", "lamp": "append"}
COMMITTING = BILL.replace(sink="transactional")

NUMBER = "12"

RIGHT = [
    ("added-up", {"Append": "52 kWh", "UPSERT": 20, "transactional": 32}),
    ("added-up", "52, 20, 32"),
    ("wishes", {"Screen": "upsert", "Books": "transactional", "Lamp": "append"}),
    ("two-readers", ([12], [12, 20, 20])),
    ("two-readers", [[12], [20, 12, 20]]),
    ("two-readers", (12, "20, 20, 12")),
    ("added-up", SUMS),
    ("added-up", [52, 20, 32]),
    ("added-up", {"transactional": "32 kWh", "append": "52 kWh", "upsert": "20"}),
    ("wishes", WISHES),
    ("wishes", ["upsert", "transactional", "append"]),
    ("wishes", {"screen": "Upsert", "books": " transactional", "lamp": "append"}),
    ("never-found", ["dock 9", "mall 3"]),
    ("never-found", "mall 3, dock 9"),
    ("never-found", {"mall 3", "dock 9"}),
    ("whole-minutes", "11 min"),
    ("whole-minutes", 11),
    ("whole-minutes", "11"),
    ("whole-minutes", timedelta(minutes=11)),
    ("right-sum", BILL.replace(sink="upsert")),
    ("right-sum", BILL.replace(sink="upsert", checkpoints={"interval": "30 s"})),
    ("right-sum", COMMITTING.replace(window=PURGING)),
    ("right-sum", COMMITTING.replace(window=PURGING, transaction_timeout="15 min")),
    ("right-sum", COMMITTING.replace(bound="2 min")),
    ("right-sum", COMMITTING.replace(window=PURGING, transaction_timeout="3 min 34 s")),
    ("right-sum", BILL.replace(sink="upsert", checkpoints=None)),
]

WRONG = [
    ("right-sum", sheet.BILL.replace(emission="interval", interval="1 h"), "After some crash it is not"),
    ("right-sum", sheet.BILL.replace(bound="5 min", checkpoints={"interval": "10 s"}), "appends what is written after"),
    ("whole-minutes", 10**30, "More than a day is safe"),
    ("whole-minutes", "1000 d", "More than a day is safe"),
    ("two-readers", ([12, 20], [12, 20, 20]), "When does the sink hear"),
    ("two-readers", ([], [12, 20, 20]), "Nothing takes it back"),
    ("two-readers", ([20], [12, 20, 20]), "overwrites nothing"),
    ("two-readers", ([12, 20, 20], [12, 20, 20]), "The restart aborts it"),
    ("two-readers", ([12, 8], [12, 20, 20]), "the reader finds one row"),
    ("two-readers", ([12], [12, 20]), "not how often"),
    ("two-readers", ([12], [12]), "as soon as it is written"),
    ("two-readers", ([12], [12, 8]), "the whole result"),
    ("two-readers", ([12], [7]), "finds 3 rows"),
    ("added-up", SUMS | {"append": 32}, "That is so without a crash"),
    ("added-up", SUMS | {"append": 20}, "That is the true amount"),
    ("added-up", SUMS | {"upsert": 32}, "The newest one counts"),
    ("added-up", SUMS | {"upsert": 12}, "that overwrites the row"),
    ("added-up", SUMS | {"transactional": 20}, "two results, and both are committed"),
    ("added-up", SUMS | {"transactional": 52}, "that the restart aborts"),
    ("added-up", SUMS | {"transactional": 12}, "The correction is committed, too"),
    ("added-up", SUMS | {"append": 99}, "99 kWh are too many"),
    ("wishes", WISHES | {"screen": "append"}, "screen: append does not do: it has more than one row"),
    ("wishes", WISHES | {"screen": "transactional"}, "the screen wants them at once"),
    ("wishes", WISHES | {"books": "append"}, "after a crash rows stand there twice"),
    ("wishes", WISHES | {"books": "upsert"}, "overwrites the first result"),
    ("wishes", WISHES | {"lamp": "upsert"}, "a correction is no new row there"),
    ("wishes", WISHES | {"lamp": "transactional"}, "the lamp blinks at once"),
    ("never-found", [], "Where is its row?"),
    ("never-found", ["dock 9", "mall 3", "mall 7"], "the window takes the late event again"),
    ("never-found", ["dock 9"], "Its late event makes it fire again"),
    ("never-found", ["dock 9", "mall 3", "dock 2"], "has not fired before the crash"),
    ("never-found", ["dock 9", "mall 3", "mall 10"], "committed at 18:06:04"),
    ("whole-minutes", "7 min", "the outage alone"),
    ("whole-minutes", "8 min", "up to one interval old"),
    ("whole-minutes", "9 min", "for the crash of task 4"),
    ("whole-minutes", "10 min", "up to 4 s after its barrier"),
    ("whole-minutes", "3 min", "That is the interval"),
    ("whole-minutes", "6 min", "the timeout of before"),
    ("whole-minutes", "1 min", "With 1 min there is a crash"),
    ("whole-minutes", "15 min", "a minute less is safe, too"),
    ("whole-minutes", 0, "no transaction lives"),
    ("right-sum", COMMITTING, "12 kWh too many already"),
    ("right-sum", BILL.replace(window=PURGING), "A crash still repeats rows"),
    ("right-sum", BILL.replace(sink="upsert", window=PURGING), "the difference overwrites the first result"),
    ("right-sum", COMMITTING.replace(lateness=0), "8 kWh are missing"),
    ("right-sum", COMMITTING.replace(checkpoints=None), "Without checkpoints nobody commits"),
    ("right-sum", COMMITTING.replace(window=PURGING, transaction_timeout="3 min"), "a transaction too old"),
    ("right-sum", COMMITTING.replace(window=PURGING, transaction_timeout="3 min 33 s"), "a transaction too old"),
    ("right-sum", BILL.replace(checkpoints={"interval": "10 s"}), "12 kWh too many already"),
    ("right-sum", BILL.replace(sink="upsert", happenings=[]), "Crashes come when they will"),
    ("right-sum", BILL.replace(sink="upsert", replay="none"), "The source can go back"),
    ("right-sum", BILL.replace(sink="upsert", window={"size": "10 min"}), "are what they are"),
    ("right-sum", BILL.by_server_clock(), "By the server's clock"),
]

UNREAD = [
    ("two-readers", 12, "Give both lists"),
    ("two-readers", ([12], ...)),
    ("two-readers", (["much"], [12])),
    ("added-up", SUMS | {"upsert": ...}, "An answer is missing"),
    ("added-up", 52, "one answer for each name"),
    ("added-up", SUMS | {"append": "some"}),
    ("wishes", {"screen": "upsert"}, "one answer for each name"),
    ("wishes", WISHES | {"lamp": ...}, "An answer is missing"),
    ("wishes", WISHES | {"lamp": "kafka"}, "there is no sink 'kafka'"),
    ("never-found", 2),
    ("whole-minutes", "long"),
    ("whole-minutes", "10 min 30 s"),
    ("whole-minutes", 630.5),
    ("whole-minutes", "90 s", "give whole minutes"),
    ("right-sum", "upsert"),
    ("right-sum", BILL, "32 kWh too many"),
    ("right-sum", BILL.replace(sink="upsert", checkpoints={"interval": "100 ms"}), "Take 1 s or more"),
]


class TestAnswers(AnsweredTasks):
    """What is said to each answer."""


@pytest.mark.parametrize("wish", sheet.WISHES)
def test_each_reader_has_one_sink_that_fits(wish):
    fits = [sink for sink in sheet.SINKS if all(gives(sink) for gives, _ in sheet.WISHES[wish])]
    assert fits == [WISHES[wish]]


def test_what_the_sheet_says_about_the_morning():
    rows = wmviz.simulate(sheet.CHARGING)
    commits = [time_text(r.at_ms) for r in rows if r.kind is Kind.TRANSACTION and r.value == TransactionPhase.COMMITTED]
    aborts = [time_text(r.at_ms) for r in rows if r.kind is Kind.TRANSACTION and r.value == TransactionPhase.ABORTED]
    assert commits[:2] == ["8:06:04", "8:08:14"]
    assert aborts == ["8:08:10"]


def test_what_the_sheet_says_about_the_evening():
    phases = [(time_text(r.at_ms), r.value) for r in wmviz.simulate(sheet.OUTAGE) if r.kind is Kind.TRANSACTION]
    for said in [("18:06:04", 2), ("18:10:50", 0), ("18:12", 1), ("18:16:50", 3), ("18:19:02", 4)]:
        assert said in phases


def test_no_crash_is_worse_than_the_worst():
    """Lose nothing with the shortest safe timeout, whenever the job crashes."""
    job = sheet.OUTAGE.replace(transaction_timeout="11 min")
    assert not any(sheet.lost_results(trace) for trace in sheet.crashed(job, "18:03", "18:20"))
    ends = [at_ms + 3 for at_ms in range(0, 5_000, 100)]
    crashes = [{"what": "crash", "at": 18 * 3_600_000 + 9 * 60_000 + end, "down": "7 min"} for end in ends]
    for crash in crashes:
        assert not sheet.lost_results(wmviz.simulate(job.replace(events=sheet.WORST.events, happenings=[crash])))


def test_an_unreadable_row_is_named():
    assert "cannot be read as a whole number" in course.check("12.added-up", SUMS | {"append": "some"}).sentence


def test_the_bill_is_not_run_more_often_than_a_person_waits_for(monkeypatch):
    """Count the runs, which a checkpoint every second makes half a second long each."""
    runs, simulate = [], wmviz.simulate
    monkeypatch.setattr(wmviz, "simulate", lambda job: runs.append(job) or simulate(job))
    assert course.check("12.right-sum", BILL.replace(sink="upsert")).right
    assert 20 < len(runs) < 40
