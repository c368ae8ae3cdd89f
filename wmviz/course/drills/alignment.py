"""Drill: how far watermark alignment lets a source read, and who waits."""

from __future__ import annotations

import random
from typing import Any

from wmviz.course.drills.exercise import Exercise, Option, Topic
from wmviz.course.drills.streams import HOUR_MS, MINUTE_MS, SECOND_MS, World, simulated
from wmviz.scenario import Scenario
from wmviz.times import duration_text, time_text
from wmviz.trace import Kind, Trace

SOURCES = 3
_TIMEOUT_MS = 4 * SECOND_MS


def _draw(rng: random.Random, level: int, aim: str) -> Exercise | None:
    place = World(tuple(rng.sample(["ana", "ben", "cem", "dia"], 3)), MINUTE_MS, rng.randint(6, 15) * HOUR_MS)
    return (_limit, _waiting, _special)[level - 1](rng, place, aim)


def _job(rng: random.Random, place: World, newest_ms: list[int], drift_ms: int, **settings: Any) -> Scenario:
    """Let each source read two events, the last of which is its newest one or the one before."""
    clock_ms = place.end_ms
    rows = []
    for turn in range(2):
        for source, ms in enumerate(newest_ms):
            event_ms = ms if turn == 0 or rng.random() < 0.3 else ms - rng.randint(1, 3) * MINUTE_MS
            clock_ms += 100
            rows.append([rng.choice(place.keys), 1000, event_ms, clock_ms, source])
    fields = {
        "name": "drill",
        "title": "A drill",
        "bound": rng.choice([0, 1, 2]) * MINUTE_MS,
        "emission": "interval",
        "interval": 200,
        "window": "1 h",
        "start": place.end_ms,
        "partitions": SOURCES,
        "subtasks": SOURCES,
        "alignment": {"drift": drift_ms, "interval": "1 s"},
        "events": rows,
    }
    return Scenario.of(**{**fields, **settings})


def _asked_ms(scenario: Scenario) -> int:
    """Give a time at which three samples of each source are taken."""
    return scenario.grid_start_ms + 7 * SECOND_MS


def _settings(scenario: Scenario, more: str = "") -> str:
    assert scenario.alignment is not None
    where = "after the source" if scenario.strategy_at == "after" else "on the source"
    bound = f"bound {duration_text(scenario.bound_ms)}" if scenario.bound_ms else "no bound"
    return (
        f"{SOURCES} source subtasks, source[0] reads partition 0 and so on; the strategy is {where}, {bound}; "
        "watermark alignment with a drift of "
        f"{duration_text(scenario.alignment.drift_ms)}, compared once a second.{more}"
    )


def _own(scenario: Scenario, newest_ms: list[int]) -> list[int]:
    return [ms - scenario.bound_ms - 1 for ms in newest_ms]


# Level 1: the greatest watermark allowed -----------------------------------------------------------------------------


def _limit(rng: random.Random, place: World, aim: str) -> Exercise | None:
    newest = [place.at(units) for units in rng.sample(range(5, 58), SOURCES)]
    if (newest.index(min(newest)) == 0) != (aim == "first"):
        return None
    scenario = _job(rng, place, newest, rng.choice([1, 2, 3, 5, 10]) * MINUTE_MS)
    assert scenario.alignment is not None
    drift_ms, own = scenario.alignment.drift_ms, _own(scenario, newest)
    told = [r.value for r in simulated(scenario) if r.kind is Kind.ALLOWED and r.at_ms <= _asked_ms(scenario)]
    answer = told[-1]
    lowest, drift = time_text(min(own)), duration_text(drift_ms)
    last_ms = [e.event_time_ms for e in scenario.events if e.partition == own.index(min(own))][-1]
    options = [
        Option(answer, "", f"The lowest watermark of the group is {lowest}, and {drift} more is allowed."),
        Option(max(own) + drift_ms, "", "That is the highest watermark plus the drift. The slowest counts.", "maximum"),
        Option(answer + 1, "", "The −1 ms of the watermark is missing.", "minus one"),
        Option(min(own), "", "That is the lowest watermark itself. The drift comes on top.", "no drift"),
        Option(min(own) - drift_ms, "", "The drift says how far one may be ahead, so add it.", "subtracted"),
        Option(last_ms + drift_ms, "", "The last event does not matter. The newest one counts.", "last"),
        Option(
            min(newest) + drift_ms,
            "",
            "You counted from an event. What is compared are watermarks: newest event − bound − 1 ms.",
            "no bound",
        ),
    ]
    same = {"last"} if last_ms == min(newest) else set()  # then it is the newest one, and no mistake
    same |= {"no bound"} if scenario.bound_ms == 0 else set()
    options = [o for o in options if o.thought not in same]
    wrong = options[1:]
    rng.shuffle(wrong)
    return Exercise(
        scenario,
        f"All these have been read, and it is {time_text(_asked_ms(scenario))}. Up to which watermark may the sources "
        "read on?",
        answer,
        tuple(o._replace(text=time_text(o.value)) for o in (options[0], *wrong)),
        "time",
        _settings(scenario),
    )


# Level 2: who waits --------------------------------------------------------------------------------------------------


def _waiting(rng: random.Random, place: World, aim: str) -> Exercise | None:
    drift_ms = rng.choice([2, 3, 5]) * MINUTE_MS
    lowest = place.at(rng.randint(5, 30))
    lead_ms = {
        "nobody": [drift_ms, rng.choice([drift_ms, drift_ms - 1])],
        "one": [drift_ms + rng.choice([1, 1000]), rng.choice([drift_ms, drift_ms - 1])],
        "two": [drift_ms + rng.choice([1, 1000]), drift_ms + rng.choice([1, MINUTE_MS])],
    }[aim]
    newest = [lowest, *(lowest + ms for ms in lead_ms)]
    rng.shuffle(newest)
    scenario = _job(rng, place, newest, drift_ms)
    return _who(rng, scenario, newest, aim, _settings(scenario), _why_waiting(scenario, newest))


def _paused(trace: Trace, at_ms: int) -> tuple[int, ...]:
    """Name the sources that wait at a time."""
    last = {r.place: r.value for r in trace if r.kind is Kind.PAUSED and r.at_ms <= at_ms}
    return tuple(source for source in range(SOURCES) if last.get(f"source[{source}]") == 1)


_WHY_NOT = {
    "nobody waits": "Somebody is more than the drift ahead of the slowest that counts: it waits.",
    "only the furthest": "Compare each source with the slowest one that counts, not only the furthest.",
    "everybody ahead": "Ahead is not enough: who waits is more than the drift ahead of the slowest that counts.",
    "the slow one waits": "The slowest one is past no limit, so it never waits.",
    "all wait": "The slowest one is past no limit. If it waited too, nobody would ever go on.",
    "the middle one": "If that one waits, so does the one that is further ahead.",
}
_BEHIND = "That would be so with the strategy on the source. Look where it is here."
_WHY_NOT_HERE = {
    "after": dict.fromkeys(("only the furthest", "everybody ahead"), _BEHIND),
    "idle, near": {"everybody ahead": "They are ahead of the idle one, and that one is not waited for."},
    "idle, fast": {"everybody ahead": "They are ahead of the idle one, and that one is not waited for."},
    "silent": {"nobody waits": "Silent is not idle. Without a timeout its last watermark counts on."},
}


def _who(rng: random.Random, scenario: Scenario, newest: list[int], aim: str, settings: str, why: str) -> Exercise:
    """Ask which sources wait."""
    answer = _paused(simulated(scenario), _asked_ms(scenario))
    slow, middle, fast = sorted(range(SOURCES), key=lambda source: newest[source])
    ahead = (min(middle, fast), max(middle, fast))
    thoughts: dict[tuple[int, ...], str] = {
        (): "nobody waits",
        (fast,): "only the furthest",
        ahead: "everybody ahead",
        (slow,): "the slow one waits",
        tuple(range(SOURCES)): "all wait",
        (middle,): "the middle one",
    }
    said = _WHY_NOT | _WHY_NOT_HERE.get(aim, {})
    wrong = [Option(who, _named(who), said[thought], thought) for who, thought in thoughts.items() if who != answer]
    likely, others = wrong[:3], wrong[3:]
    rng.shuffle(others)
    return Exercise(
        scenario,
        f"All these have been read, and it is {time_text(_asked_ms(scenario))}. Which source subtasks does alignment "
        "let wait?",
        answer,
        (Option(answer, _named(answer), why), *likely, *others),
        "letter",
        settings,
    )


def _named(sources: tuple[int, ...]) -> str:
    if len(sources) == SOURCES:
        return "All of them"
    return " and ".join(f"source[{source}]" for source in sources) or "None of them"


def _why_waiting(scenario: Scenario, newest: list[int]) -> str:
    assert scenario.alignment is not None
    own = _own(scenario, newest)
    limit = time_text(min(own) + scenario.alignment.drift_ms)
    each = ", ".join(f"source[{n}] is at {time_text(ms)}" for n, ms in enumerate(own))
    return f"The limit is {limit}; {each}. Only who is past the limit waits."


# Level 3: a silent one, an idle one, and a strategy in the wrong place -----------------------------------------------


def _special(rng: random.Random, place: World, aim: str) -> Exercise | None:
    drift_ms = rng.choice([2, 3, 5]) * MINUTE_MS
    lowest = place.at(rng.randint(5, 30))
    middle_ms = lowest + drift_ms + rng.randint(2, 9) * MINUTE_MS
    fast_ms = middle_ms + (
        drift_ms + MINUTE_MS if aim == "idle, fast" else rng.choice([MINUTE_MS, drift_ms - MINUTE_MS])
    )
    newest = [lowest, middle_ms, fast_ms]
    rng.shuffle(newest)
    slow = newest.index(lowest)
    scenario = _job(rng, place, newest, drift_ms)
    if aim == "after":
        scenario = scenario.replace(strategy_at="after")
    elif aim.startswith("idle"):
        scenario = _going_on(scenario, newest, slow, idle_timeout=_TIMEOUT_MS)
    else:
        scenario = _going_on(scenario, newest, slow)
    more = {
        "after": "",
        "silent": f" No idle timeout. source[{slow}] sends nothing more; the others do.",
    }.get(aim, f" Idle timeout {duration_text(_TIMEOUT_MS)}. source[{slow}] sends nothing more; the others do.")
    return _who(rng, scenario, newest, aim, _settings(scenario, more), _why_special(aim, slow))


def _going_on(scenario: Scenario, newest: list[int], slow: int, **settings: Any) -> Scenario:
    """Let the others send their newest times again, so that only one is silent."""
    more = [
        [event.key, event.value, newest[event.partition], event.arrival_time_ms + seconds * SECOND_MS, event.partition]
        for seconds in (3, 5)
        for event in scenario.events[-SOURCES:]
        if event.partition != slow
    ]
    rows = [[e.key, e.value, e.event_time_ms, e.arrival_time_ms, e.partition] for e in scenario.events]
    return scenario.replace(events=[*rows, *more], **settings)


def _why_special(aim: str, slow: int) -> str:
    return {
        "after": "The strategy is behind the source. There alignment is ignored, without a warning.",
        "silent": f"source[{slow}] is silent, not idle: its last watermark counts on, and both others are past it.",
        "idle, near": f"source[{slow}] is idle and holds nobody. The other two are no more than the drift apart.",
        "idle, fast": f"source[{slow}] is idle and holds nobody. Of the others one is more than the drift ahead.",
    }[aim]


TOPIC = Topic(
    "alignment",
    8,
    "how far watermark alignment lets the sources read, and which of them wait",
    _draw,
    (
        ("first", "not the first", "not the first"),
        ("nobody", "one", "two"),
        ("after", "silent", "silent", "idle, near", "idle, fast", "idle, fast"),
    ),
)
