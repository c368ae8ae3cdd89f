"""Wrong timestamps: watermarks that are no times of today, or none in spite of records."""

from __future__ import annotations

from collections.abc import Iterator

from wmviz.diagnosis import fixes
from wmviz.diagnosis.case import CATCHING_UP, PATIENCE_MS, Case, Cause, Origin
from wmviz.diagnosis.facts import is_time
from wmviz.diagnosis.words import HOUR_MS, MINUTE_MS, SECOND_MS, capital, duration, moment, short
from wmviz.times import DAY_MS, MAX_MS, MIN_MS

AHEAD_MS = 10 * SECOND_MS
"""Clocks of machines differ; a watermark further ahead than this has a wrong time in it."""
NEAR_NOW_MS = 400 * DAY_MS


def wrong_timestamps(case: Case) -> Iterator[Cause | str]:
    """Look for watermarks that are no times of today, or none at all in spite of records."""
    scaled: dict[str, list[Origin]] = {}
    ahead: list[Origin] = []
    never: list[Origin] = []
    old: list[Origin] = []
    origins = case.origins()
    for origin in origins:
        if origin.now_ms is None or origin.now_ms == MAX_MS:
            continue
        if origin.now_ms == MIN_MS:
            if origin.without_record():
                continue  # a partition that sent nothing yet holds this subtask
            if origin.read > 0 and not any(is_time(v.get("currentWatermark")) for v in origin.splits().values()):
                never.append(origin)
            continue
        unit = _unit(origin.now_ms, case.now_ms)
        lag_ms = case.now_ms - origin.now_ms
        lags = case.event_lags_ms(origin)
        if unit:
            scaled.setdefault(unit, []).append(origin)
        elif lag_ms < -AHEAD_MS:
            ahead.append(origin)
        elif case.facts.is_stale:
            continue  # how fast it moves is not known
        elif lag_ms > DAY_MS and case.pace(origin) < CATCHING_UP and (not lags or min(lags) > DAY_MS):
            old.append(origin)
    for unit, found in scaled.items():
        yield _wrong_unit(case, unit, found)
    if ahead:
        yield _ahead(case, ahead)
    if never and case.event_time and not case.wrong:
        yield from _never(case, never, origins)
    if old:
        yield _old(case, old)


UNITS = {
    "seconds": (1e-3, "* 1000", "* 1000", "time_s * 1000"),
    "microseconds": (1e3, "// 1000", "/ 1000", "time_us / 1000"),
    "nanoseconds": (1e6, "// 1_000_000", "/ 1_000_000", "time_ns / 1000000"),
}


def _unit(watermark_ms: int, now_ms: int) -> str | None:
    """Give the unit in which a watermark would be near the clock, if that is not ms."""
    for unit, (per_ms, *_) in UNITS.items():
        if abs(watermark_ms / per_ms - now_ms) < NEAR_NOW_MS:
            return unit
    if -7 * DAY_MS < watermark_ms < 60 * DAY_MS and now_ms > 10 * 365 * DAY_MS:
        return "none"
    return None


def _wrong_unit(case: Case, unit: str, found: list[Origin]) -> Cause:
    first = found[0]
    assert first.now_ms is not None
    case.wrong.update(case.consumers())
    moved = first.now_ms - (first.before_ms or first.now_ms)
    evidence = [
        (
            f"The watermark of {first.place} is {moment(first.now_ms)} ({first.now_ms:,}); "
            f"the clock is {moment(case.now_ms)} ({case.now_ms:,})."
        )
    ]
    if unit == "none":
        evidence.append("A time near the start of 1970 is a field that holds no date, or 0 where one is missing.")
        return Cause(
            "wrong-timestamps",
            "Wrong timestamps: the times are near 1970, so another field is read",
            "likely",
            tuple(evidence),
            "Take the field that says when it happened, in ms since 1970. " + fixes.REDEPLOY,
            fixes.ASSIGNER,
            0.93,
        )
    per_ms, python, java, sql = UNITS[unit]
    evidence.append(f"Read as {unit} it is {moment(round(first.now_ms / per_ms))}, near the clock.")
    if moved:
        evidence.append(
            f"In {duration(case.facts.elapsed_ms)} it moved by {moved:,} ms only."
            if unit == "seconds"
            else f"In {duration(case.facts.elapsed_ms)} it moved by {moved:,}."
        )
    sizes = [window.size_ms for window in case.event_time if window.size_ms]
    if unit == "seconds" and sizes:
        evidence.append(f"A window of {duration(sizes[0])} would need {duration(sizes[0] * 1000)} of events to fire.")
    return Cause(
        "wrong-timestamps",
        f"Wrong timestamps: {unit} where Flink expects milliseconds",
        "certain",
        tuple(evidence),
        f"Turn {unit} into ms in the assigner. The windows so far are in the wrong place: start without their state.",
        fixes.filled(fixes.UNIT, unit=unit, python=python, java=java, sql=sql),
        0.96,
    )


def _ahead(case: Case, found: list[Origin]) -> Cause:
    worst = max(found, key=lambda each: each.now_ms or 0)
    assert worst.now_ms is not None
    case.wrong.update(case.consumers())
    lead_ms = worst.now_ms - case.now_ms
    evidence = [
        (
            f"The watermark of {worst.place} is {moment(worst.now_ms)}, {duration(lead_ms)} ahead of the clock "
            f"({moment(case.now_ms)}). So an event has a time that has not come yet."
        )
    ]
    if not worst.moves and worst.read_now > 0:
        evidence.append(
            f"It stands still although {worst.read_now:,} records came meanwhile: they are all behind it, so late."
        )
    hours, rest_ms = divmod(lead_ms + 10 * MINUTE_MS, HOUR_MS)
    zone = 1 <= hours <= 14 and rest_ms <= 20 * MINUTE_MS
    if zone:
        evidence.append(f"The lead is about {hours} h: a local time may have been taken for UTC.")
    return Cause(
        "wrong-timestamps",
        "Wrong timestamps: event times lie in the future",
        "certain" if lead_ms > MINUTE_MS else "likely",
        tuple(evidence),
        "Mend the time where it is made (zone, clock, field). Until then filter or cap times ahead of the clock: one "
        "such event moves the watermark for good. A restart begins with a new watermark.",
        fixes.ASSIGNER,
        0.94,
    )


def _never(case: Case, never: list[Origin], origins: list[Origin]) -> Iterator[Cause | str]:
    some_move = any(is_time(each.now_ms) for each in origins)
    read = sum(each.read for each in never)
    if case.facts.age_ms < PATIENCE_MS or (some_move and never[0].task.is_source is False):
        yield f"{capital(never[0].place)} has no watermark yet; the job runs for {duration(case.facts.age_ms)} only."
        return
    if some_move:
        return  # the strategy works elsewhere: a split that never sent anything holds this subtask
    case.wrong.update(case.consumers())
    known = any(each.splits() for each in never)
    yield Cause(
        "wrong-timestamps",
        "Wrong timestamps: no watermark ever leaves its start",
        "certain" if known else "likely",
        (
            (
                f"{read:,} records were read in {duration(case.facts.age_ms)}, and the watermark of every subtask of "
                f"{short(never[0].task.name)} is still Long.MIN_VALUE (−9,223,372,036,854,775,808)."
            ),
            "So no strategy makes watermarks, or the assigner is lost and the records have no time."
            + (
                ""
                if known
                else " Flink does not tell here of single partitions: one that never sent anything, read by a subtask "
                "that reads others too, looks the same."
            ),
        ),
        "Give the source a strategy with an assigner, or attach it behind the source. In PyFlink from_source ignores a "
        "Python assigner, and with_idleness after it loses it. An auto-watermark interval of 0 does the same. "
        + fixes.REDEPLOY,
        fixes.ASSIGNER,
        0.92,
    )


def _old(case: Case, old: list[Origin]) -> Cause:
    first = old[0]
    assert first.now_ms is not None
    lags = case.event_lags_ms(first)
    behind_ms = case.now_ms - first.now_ms
    seen = f" Events are {duration(min(lags))} old when they are read." if lags else ""
    case.wrong.update(case.consumers())
    return Cause(
        "wrong-timestamps",
        "Wrong timestamps: event times lie far in the past",
        "possible",
        (
            (
                f"The watermark of {first.place} is {moment(first.now_ms)}, {duration(behind_ms)} behind "
                f"the clock, and does not catch up ({case.pace(first):.1f} times the clock).{seen}"
            ),
        ),
        "Another field than the event's time may be read (a date of birth, of an order). If the events are really that "
        "old, this is a replay and no fault.",
        fixes.ASSIGNER,
        0.6,
    )
