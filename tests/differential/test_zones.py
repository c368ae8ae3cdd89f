"""Local time: Flink's conversions, and whole windows of SQL."""

import random

from tests.differential.java import java_function
from tests.differential.local_windows import expected, on_flink
from tests.semantics.cases import files, load
from wmviz.engine.local_time import LocalClock
from wmviz.engine.windows import assigner_of
from wmviz.times import MAX_MS, time_ms
from wmviz.window import Window

HOUR_MS, DAY_MS = 3_600_000, 86_400_000
CHANGES = {
    "Europe/Berlin": ("2026-03-29T01:00Z", "2026-10-25T01:00Z"),
    "America/New_York": ("2026-03-08T07:00Z", "2026-11-01T06:00Z"),
    "America/Havana": ("2026-03-08T05:00Z", "2026-11-01T05:00Z"),  # at midnight
    "America/Santiago": ("2026-04-05T03:00Z", "2026-09-06T04:00Z"),  # at midnight, in the south
    "America/St_Johns": ("2026-03-08T05:30Z", "2026-11-01T04:30Z"),  # at half past in UTC
    "Australia/Adelaide": ("2026-04-04T16:30Z", "2026-10-03T16:30Z"),
    "Australia/Lord_Howe": ("2026-04-04T15:00Z", "2026-10-03T15:30Z"),  # by half an hour
    "Antarctica/Troll": ("2026-03-29T01:00Z", "2026-10-25T01:00Z"),  # by two hours
    "Europe/Dublin": ("2026-03-29T01:00Z", "2026-10-25T01:00Z"),  # winter time is the one that is saved
    "Pacific/Apia": ("2011-12-30T10:00Z", "2010-09-26T11:00Z"),  # skipped a day; has given daylight saving up
    "Asia/Kathmandu": ("1985-12-31T18:30Z",),
    "Asia/Shanghai": ("1991-09-14T17:00Z",),
    "+05:30": ("2026-10-25T01:00Z",),
}
FULL_HOURS = ["Europe/Berlin", "America/New_York", "America/Havana", "America/Santiago", "Europe/Dublin"]
"""Zones that change their clocks by an hour at a full hour of UTC, every year."""
CASES = [case for path in files() for case in load(path) if case["mechanism"] == "local_window"]


def near(dice, zone):
    """Give a moment near a change of the clock, in any year of its present rule, or anywhere."""
    change_ms = time_ms(dice.choice(CHANGES[zone]))
    kind = dice.random()
    if kind < 0.6:
        return change_ms + dice.randint(-16, 16) * 900_000 + dice.choice((-1, 0, 0, 1))
    if kind < 0.8:
        return change_ms + dice.randint(-3, 3) * DAY_MS + dice.randint(0, DAY_MS)
    if kind < 0.9:
        return dice.randint(time_ms("1970-01-02T00:00Z"), time_ms("9999-12-01T00:00Z"))
    return dice.choice((-1, 1)) * int(2 ** dice.uniform(43, 62))


def test_the_clock_and_the_timers_are_those_of_flink_at_changes_far_ahead_and_long_ago(flink):
    dice = random.Random(1)
    questions = [
        (what, zone, near(dice, zone) + (what == "timer") * dice.randint(-12, 12) * HOUR_MS)
        for zone in CHANGES
        for what in ("local", "timer")
        for _ in range(1_500)
    ]
    answers = java_function("Zones")("\n".join(" ".join(map(str, question)) for question in questions)).split()
    clocks = {zone: LocalClock(zone) for zone in CHANGES}
    wrong = []
    for (what, zone, ms), answer in zip(questions, answers, strict=True):
        ours = clocks[zone].local_ms(ms) if what == "local" else clocks[zone].timer_ms(ms)
        if answer != str(ours):
            wrong.append((what, zone, ms, int(answer), ours))
    assert wrong == []


def random_case(seed):
    """Make a case around a change. Sliding windows share their state on Flink, which only full hours are safe for."""
    dice = random.Random(seed)
    zone = dice.choice(list(CHANGES))
    size_ms = dice.choice((30 * 60_000, HOUR_MS, HOUR_MS, 90 * 60_000, 2 * HOUR_MS, DAY_MS, DAY_MS, 7 * DAY_MS))
    params = {"assigner": "tumbling", "size_ms": size_ms, "zone": zone}
    if zone in FULL_HOURS and dice.random() < 0.6:
        params.update(assigner="sliding", slide_ms=size_ms // dice.choice((1, 2, 3)))
    elif dice.random() < 0.5:
        params["lateness_ms"] = dice.choice((1, 15 * 60_000, HOUR_MS, 5 * HOUR_MS))
    around_ms = min(size_ms, DAY_MS) * 2
    now_ms, steps = time_ms(dice.choice(CHANGES[zone])) - around_ms, []
    for number in range(40):
        now_ms += dice.choice((0, 1, around_ms // 8, around_ms // 16))
        at_ms = now_ms // 900_000 * 900_000 if dice.random() < 0.7 else now_ms
        if dice.random() < 0.6:
            steps.append({"op": "event", "ts": at_ms - dice.randint(0, 6) * around_ms // 12, "v": f"e{number:02}"})
        else:
            steps.append({"op": "watermark", "ts": at_ms - dice.choice((0, 1, 1))})
    steps.append({"op": "watermark", "ts": MAX_MS})
    return {"id": f"local {seed}", "mechanism": "local_window", "params": params, "input": steps}


def in_sql(case):
    """Write the zone of a case as SQL wants it."""
    zone = case["params"]["zone"]
    return {**case, "params": {**case["params"], "zone": f"GMT{zone}" if zone[0] in "+-" else zone}}


def differing(cases, **how):
    fired = zip(cases, on_flink(list(map(in_sql, cases)), **how), strict=True)
    return [(case, flink, ours) for case, flink in fired if flink != (ours := expected(case))]


def shares_timers(case):
    """Say whether windows of an event end in an hour that the clock skips: GROUP BY HOP deletes a part of them."""
    params = {name: value for name, value in case["params"].items() if name not in ("assigner", "lateness_ms")}
    assigner = assigner_of(Window(type=case["params"]["assigner"], **params))
    events = (step["ts"] for step in case["input"] if step["op"] == "event")
    timers = ([window.max_timestamp_ms for window in assigner.assign(ts)] for ts in events)
    return any(len(set(times)) < len(times) for times in timers)


class TestWindowsOfSql:
    def test_group_windows_fire_when_ours_do_with_the_same_events(self, flink):
        cases = [case for case in map(random_case, range(80)) if not shares_timers(case)]
        assert len(cases) > 60
        assert sum(len(expected(case)) for case in cases) > 400
        assert differing(cases) == []

    def test_the_conformance_cases_are_what_flink_gives(self, flink):
        assert differing([case for case in CASES if not shares_timers(case)]) == []

    def test_where_timers_are_shared_table_functions_give_the_whole_content(self, flink):
        cases = [case for case in CASES if shares_timers(case)]
        assert cases
        assert differing(cases, table_function=True) == []
