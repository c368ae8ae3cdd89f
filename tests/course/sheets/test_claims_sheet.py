"""Sheet 16: right answers in any form, and the message that each typical wrong one gets."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import wmviz
from tests.course.sheets.answered import AnsweredTasks
from wmviz.course.claims.court import DEPENDS, Case, verdict_of
from wmviz.course.sheets import claims as sheet
from wmviz.times import time_ms

CRASH = [{"what": "crash", "at": "0:12"}]


def witnesses(run):
    lost = set(run.dropped["event"]) | set(run.late["event"])
    return [e for e in run.scenario.events if sheet.under_way_ms(e) <= run.scenario.bound_ms and e.id in lost]


def all_lost(run):
    return list(run.dropped["event"]) + list(run.late["event"])


def without_the_side_output(run):
    return [e for e in witnesses(run) if e.id in set(run.dropped["event"])]


def only_below_the_bound(run):
    return [e for e in witnesses(run) if sheet.under_way_ms(e) < run.scenario.bound_ms]


def within_the_bound(run):
    return [e for e in run.scenario.events if sheet.under_way_ms(e) <= run.scenario.bound_ms]


def with_ways(holds):
    """Make the function with another rule of what is within the bound."""

    def names(run):
        gone = set(all_lost(run))
        return [e.id for e in run.scenario.events if e.id in gone and holds(sheet.under_way_ms(e), run.scenario)]

    return names


def by_windows_that_have_fired(run):
    size_ms = run.scenario.window.size_ms
    fired = (
        e
        for e in within_the_bound(run)
        if run.seen_watermarks[e.id] >= e.event_time_ms // size_ms * size_ms + size_ms - 1
    )
    return [e.id for e in fired]


def behind_the_watermark(run):
    return [e.id for e in within_the_bound(run) if e.event_time_ms <= run.seen_watermarks[e.id]]


def in_no_firing(run):
    fired = {name for firing in run.all_firings for name in firing.event_ids}
    return [e.id for e in within_the_bound(run) if e.id not in fired]


def by_pandas(run):
    gone = pd.concat([run.dropped, run.late])["event"]
    return gone[gone.isin([e.id for e in within_the_bound(run)])]


NUMBER = "16"

RIGHT = [
    ("bike-verdict", "it depends"),
    ("bike-verdict", "It depends."),
    ("bike-verdict", "depends"),
    ("refuting-watermark", "8:12:29.999"),
    ("refuting-watermark", time_ms("8:12:29.999")),
    ("missing-condition", "b"),
    ("missing-condition", "B)"),
    ("missing-condition", "if no clock runs ahead"),
    ("second-firing", sheet.CALM.replace(checkpoints={"interval": "5 min"}, happenings=CRASH)),
    ("second-firing", sheet.CALM.replace(happenings=CRASH)),
    ("second-firing", sheet.CALM.replace(window={"trigger": "count:1"})),
    ("least-run", ["east@7:11:10", "west@7:09:30", "west@7:10:15"]),
    ("least-run", "west@7:10:15, west@7:09:30, east@7:11:10"),
    ("least-run", sheet.RUSH.replace(events=[sheet.RUSH.events[i] for i in (3, 4, 6)])),
    ("witnesses", witnesses),
    ("witnesses", lambda run: {e.id for e in witnesses(run)}),
    ("witnesses", lambda run: (e.id for e in witnesses(run))),
    ("witnesses", lambda run: ", ".join(e.id for e in witnesses(run))),
    ("witnesses", lambda run: np.array([e.id for e in witnesses(run)])),
    ("witnesses", by_pandas),
]

WRONG = [
    ("bike-verdict", "true", "a count of 55 s under way is lost"),
    ("bike-verdict", "False", "was 6 min under way"),
    ("refuting-watermark", "8:09:29.999", "when all clocks are right"),
    ("refuting-watermark", "8:12:30", "The −1 ms of the DataStream API is missing"),
    ("refuting-watermark", "8:13:30", "That is the newest event time"),
    ("refuting-watermark", "8:09:59.999", "the last millisecond of its window"),
    ("refuting-watermark", "8:10:45", "when it arrived"),
    ("missing-condition", "a", "In the case «one clock ahead» that is so, and a count is lost"),
    ("missing-condition", "c", "Without it the claim holds in the case «all clocks right», too"),
    ("missing-condition", "d", "In the case «one clock ahead, 1 min of lateness»"),
    ("second-firing", sheet.CALM.replace(lateness="5 min"), "and there is none"),
    ("second-firing", sheet.CALM.replace(bound="1 min"), "The bound moves the firing"),
    ("second-firing", sheet.CALM.replace(bound="0 s", lateness="5 min"), "east@0:09:55 is late in your run"),
    ("second-firing", sheet.CALM.replace(events=[]), "The counts are what they are"),
    ("second-firing", sheet.CALM.replace(window="5 min"), "Leave them as they are"),
    (
        "second-firing",
        sheet.CALM.replace(checkpoints={"interval": "1 min"}, happenings=[{"what": "crash", "at": "0:13"}]),
        "Each firing is in a checkpoint",
    ),
    ("second-firing", sheet.CALM.replace(sink="append"), "Think of what may happen to a job"),
    ("least-run", ["west@7:09:30", "west@7:10:15"], "Nothing is lost: no event brings the watermark"),
    ("least-run", ["east@7:11:10", "west@7:09:30"], "none that was longer under way is counted"),
    ("least-run", [e.id for e in sheet.RUSH.events], "not the least run"),
    ("least-run", ["east@7:11:10", "west@7:09:30", "west@7:10:15", "west@7:04"], "west@7:04 can go"),
    ("least-run", [], "refutes nothing"),
    ("witnesses", all_lost, "east@8:08 was 6 min under way"),
    ("witnesses", without_the_side_output, "is in the side output"),
    ("witnesses", only_below_the_bound, "was under way for just the bound"),
    ("witnesses", within_the_bound, "is not lost"),
    ("witnesses", with_ways(lambda way_ms, job: way_ms <= 60_000), "was 50 s under way, longer than the bound"),
    ("witnesses", with_ways(lambda way_ms, job: way_ms <= job.bound_ms + 1), "In the case «just over the bound»"),
    ("witnesses", with_ways(lambda way_ms, job: way_ms // 1000 <= job.bound_ms // 1000), "«just over the bound»"),
    ("witnesses", with_ways(lambda way_ms, job: abs(way_ms) <= job.bound_ms), "west@8:13 is lost. Its clock is ahead"),
    ("witnesses", with_ways(lambda way_ms, job: 0 <= way_ms <= job.bound_ms), "within the bound it is"),
    ("witnesses", with_ways(lambda way_ms, job: way_ms <= job.bound_ms + job.lateness_ms), "than the bound of 1 min"),
    ("witnesses", with_ways(lambda way_ms, job: way_ms > job.bound_ms), "the claim says nothing of it"),
    ("witnesses", lambda run: witnesses(run)[:1], "arrived within the bound and is lost, too"),
    ("witnesses", by_windows_that_have_fired, "In the case «some lateness, and one clock ahead»"),
    ("witnesses", behind_the_watermark, "is not lost"),
    ("witnesses", in_no_firing, "is not lost"),
    ("witnesses", lambda run: ["somebody"], "That is no count of the run"),
    ("witnesses", lambda run: [], "arrived within the bound and is lost"),
]

UNREAD = [
    ("bike-verdict", "perhaps", "Give one of three verdicts"),
    ("refuting-watermark", "late"),
    ("missing-condition", "x", "the letter of one condition"),
    ("second-firing", sheet.CALM, "Nothing has changed so far"),
    ("second-firing", "crash"),
    ("least-run", 3),
    ("least-run", ["west@7:05"], "west@7:05 is no count of this run"),
    ("witnesses", ["west@8:09:50"], "Give the function itself"),
    ("witnesses", lambda run: ..., "nothing so far"),
    ("witnesses", lambda run: run.nothing, "AttributeError"),
]


class TestAnswers(AnsweredTasks):
    """What is said to each answer."""


def test_the_claim_holds_in_the_one_case_and_fails_in_the_other():
    runs = {where: wmviz.simulate(job) for where, job in sheet.GIVEN["bike-verdict"].items()}
    cases = [Case(where, not sheet.refuting(run), "") for where, run in runs.items()]
    assert [case.holds for case in cases] == [True, False]
    assert verdict_of(cases) == DEPENDS
    assert all(sheet.lost(run) for run in runs.values())


def test_exactly_one_condition_is_enough_and_asks_for_no_more():
    cases = sheet._tried().values()
    enough = {letter for letter, has in sheet._HAS.items() if all(holds for job, holds in cases if has(job))}
    assert enough == {"b", "c"}
    assert all(sheet._HAS["b"](job) for job, holds in cases if holds)


def test_what_refutes_the_third_claim_can_always_be_made_smaller_down_to_the_fewest():
    for count in range(sheet._fewest() + 1, len(sheet.RUSH.events) + 1):
        for part in combinations(sheet.RUSH.events, count):
            if sheet._refutes(part):
                assert any(sheet._refutes([e for e in part if e is not gone]) for gone in part)


@pytest.mark.parametrize("size", [1, 2])
def test_no_smaller_part_refutes_the_third_claim(size):
    assert not any(sheet._refutes(part) for part in combinations(sheet.RUSH.events, size))
