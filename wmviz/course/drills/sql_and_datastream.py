"""Drill: the same rows in SQL and in the DataStream API."""

from __future__ import annotations

import random
from typing import Any

from wmviz.course.drills.exercise import Exercise, Option, Topic
from wmviz.course.drills.streams import (
    Came,
    World,
    fate,
    job,
    seconds,
    simulated,
    watermark_at,
    window_text,
    world,
)
from wmviz.scenario import Scenario
from wmviz.times import duration_text, time_text

SQL: dict[str, Any] = {"api": "sql", "strategy_at": "after"}

_WHO = {"both": "In both", "sql": "In SQL only", "datastream": "In the DataStream API only", "neither": "In neither"}


def _draw(rng: random.Random, level: int, aim: str) -> Exercise | None:
    return (_watermark, _fired, _late)[level - 1](rng, world(rng), aim)


# Level 1: the watermark of each --------------------------------------------------------------------------------------


def _watermark(rng: random.Random, place: World, aim: str) -> Exercise | None:
    times = [place.at(units) for units in sorted(rng.sample(range(2, 58), 4))]
    times.insert(rng.randrange(1, 4), times.pop())
    bound_ms = rng.choice([1, 2, 3, 5]) * place.unit_ms
    streams = job(place, [Came(rng.choice(place.keys), ms) for ms in times], bound=bound_ms)
    scenario = streams.replace(**SQL) if aim == "sql" else streams
    at_ms = scenario.events[-1].arrival_time_ms
    answer = watermark_at(simulated(scenario), at_ms)
    newest, last = max(times), times[-1]
    other = streams if aim == "sql" else streams.replace(**SQL)
    other_ms = watermark_at(simulated(other), at_ms)
    other_why = (
        "The −1 ms belongs to the DataStream API." if aim == "sql" else "That is so in SQL. Here 1 ms comes off."
    )
    options = [
        Option(answer, "", _why_watermark(aim, newest, bound_ms, answer)),
        Option(other_ms, "", other_why, "the other API"),
        Option(last - newest + answer, "", "That follows the last event. The newest one counts.", "last"),
        Option(newest, "", "That is the newest event time. The bound is missing.", "no bound"),
        Option(answer + 2 * bound_ms, "", "You added the bound. The watermark trails behind.", "added"),
    ]
    return Exercise(
        scenario,
        "All these have arrived. What is the watermark of the window operator?",
        answer,
        tuple(o._replace(text=time_text(o.value)) for o in options),
        "time",
        _settings(aim, bound_ms),
    )


def _settings(api: str, bound_ms: int) -> str:
    bound = duration_text(bound_ms)
    if api == "sql":
        return f"SQL: WATERMARK FOR ts AS ts - {bound}, after each row."
    return f"DataStream API: forBoundedOutOfOrderness({bound}), a watermark after each event."


def _why_watermark(api: str, newest_ms: int, bound_ms: int, answer_ms: int) -> str:
    less = "" if api == "sql" else " − 1 ms"
    what = "SQL takes the expression as it is" if api == "sql" else "The DataStream API takes 1 ms more off"
    return f"{what}: {time_text(newest_ms)} − {duration_text(bound_ms)}{less} = {time_text(answer_ms)}."


# Level 2: which of the two has fired ---------------------------------------------------------------------------------

_NEWEST_MS = {"neither": (-2, -3, -1000), "sql only": (-1,), "both": (0, 1, 1000)}
"""The newest event time, counted from window end + bound."""


def _fired(rng: random.Random, place: World, aim: str) -> Exercise | None:
    bound_ms = round(rng.choice([1, 1.5, 2, 3]) * place.unit_ms)
    newest = place.end_ms + bound_ms + rng.choice(_NEWEST_MS[aim])
    early = [Came(rng.choice(place.keys), place.at(u + seconds(rng, 2))) for u in rng.sample(range(5, 58), 3)]
    after = [Came(rng.choice(place.keys), place.end_ms + bound_ms // rng.randint(2, 9))]
    streams = job(place, [*early, *after, Came(rng.choice(place.keys), newest)], bound=bound_ms)
    at_ms = streams.events[-1].arrival_time_ms
    fired = {api: _has_fired(s, place, at_ms) for api, s in _both(streams).items()}
    answer = _who(fired)
    last_ms = place.end_ms - 1
    ways = f"SQL is at {time_text(newest - bound_ms)}, the DataStream API 1 ms before that"
    whys = {
        "both": f"{ways}. Look whether both are at the last millisecond.",
        "sql": f"{ways}. The window fires at its last millisecond, {time_text(last_ms)}.",
        "datastream": "The watermark of SQL is never behind the other one.",
        "neither": "At least one of them is at the last millisecond of the window. Write both watermarks down.",
    }
    options = [
        Option(who, text, _why_fired(answer, ways, last_ms) if who == answer else whys[who], _thought(who, answer))
        for who, text in _WHO.items()
    ]
    return Exercise(
        streams,
        f"All these have arrived. In which job has the window {window_text(place.start_ms, place.end_ms)} fired?",
        answer,
        tuple(options),
        "letter",
        f"{_two_jobs(bound_ms)} No lateness.",
    )


def _both(streams: Scenario) -> dict[str, Scenario]:
    return {"datastream": streams, "sql": streams.replace(**SQL)}


def _has_fired(scenario: Scenario, place: World, at_ms: int) -> bool:
    return any(f.window.end_ms == place.end_ms and f.at_ms <= at_ms for f in simulated(scenario).all_firings)


def _who(so: dict[str, bool]) -> str:
    """Name the one for which it is so; both or neither if they do not differ."""
    if so["sql"] == so["datastream"]:
        return "both" if so["sql"] else "neither"
    return "sql" if so["sql"] else "datastream"


def _two_jobs(bound_ms: int) -> str:
    bound = duration_text(bound_ms)
    return (
        f"The same rows go to two jobs: SQL with WATERMARK FOR ts AS ts - {bound}, and the DataStream API with "
        f"forBoundedOutOfOrderness({bound}). Each sends a watermark after each event."
    )


def _why_fired(answer: str, ways: str, last_ms: int) -> str:
    said = {"both": "both are there", "sql": "only SQL is there", "neither": "neither is there"}[answer]
    return f"{ways}; the window fires at {time_text(last_ms)}: {said}."


def _thought(who: str, answer: str) -> str:
    if who == answer:
        return ""
    return {"both": "no difference", "neither": "waits for more", "sql": "1 ms too far"}.get(who, "the other way round")


# Level 3: what becomes of a late row ---------------------------------------------------------------------------------


def _late(rng: random.Random, place: World, aim: str) -> Exercise | None:
    bound_ms = rng.choice([2, 3, 4]) * place.unit_ms
    lateness_ms = 10 * place.unit_ms if aim == "lateness" else 0
    beyond = {"1 ms": -1, "in time": -2, "too late": 1000, "mended": -1}.get(aim, 0)
    newest = place.end_ms + bound_ms + beyond
    if aim == "lateness":
        newest += rng.randint(1, 9) * place.unit_ms
    rows = [Came(rng.choice(place.keys), place.at(u)) for u in rng.sample(range(5, 40), 2)]
    behind = Came(rng.choice(place.keys), place.at(rng.randint(41, 57)))
    streams = job(place, [*rows, Came(rng.choice(place.keys), newest), behind], bound=bound_ms, lateness=lateness_ms)
    subtracted_ms = bound_ms + (1 if aim == "mended" else 0)
    jobs = {"datastream": streams, "sql": streams.replace(**SQL, bound=subtracted_ms, lateness=0)}
    event = streams.events[-1].id
    answer = _who({api: fate(simulated(s), event) in ("on time", "counted") for api, s in jobs.items()})
    met = f"It meets {time_text(newest - subtracted_ms)} in SQL, {time_text(newest - bound_ms - 1)} in the other"
    lateness = f"allowed lateness {duration_text(lateness_ms)}" if lateness_ms else "no lateness"
    kept = f"the window ends at {time_text(place.end_ms)}"
    options = [
        Option(who, text, _why_late(aim, met, kept) if who == answer else _why_not_late(who, aim, met), "")
        for who, text in _WHO.items()
    ]
    named = [o if o.value == answer else o._replace(thought=_late_thought(o.value, aim)) for o in options]
    return Exercise(
        streams,
        f"The last row, {event}, has arrived. In which job does {window_text(place.start_ms, place.end_ms)} count it?",
        answer,
        tuple(named),
        "letter",
        f"The same rows go to two jobs. SQL: WATERMARK FOR ts AS ts - {duration_text(subtracted_ms)}, windows by "
        f"TUMBLE. DataStream API: forBoundedOutOfOrderness({duration_text(bound_ms)}), {lateness}. Each sends a "
        "watermark after each event.",
    )


def _why_late(aim: str, met: str, kept: str) -> str:
    return {
        "1 ms": f"{met}; {kept}. So in SQL it has fired, and the row is dropped. The other job still waits.",
        "mended": f"{met}, so they are the same. The extra 1 ms in SQL does that, and both still wait.",
        "in time": f"{met}; {kept}. Neither is at its last millisecond, so nothing is late.",
        "too late": f"{met}; {kept}. Both windows have fired, and there is no lateness.",
        "lateness": f"{met}; {kept}. Both have fired. The DataStream API fires again; a window of SQL has no lateness.",
    }[aim]


def _why_not_late(who: str, aim: str, met: str) -> str:
    if who == "sql":
        return "A window of SQL never takes more than that of the DataStream API here: its watermark is not behind."
    if aim == "lateness":
        return "A table window drops what comes after its firing. Allowed lateness is there in the DataStream API only."
    return f"{met}. Compare each with the last millisecond of the window, end − 1 ms."


def _late_thought(who: str, aim: str) -> str:
    if who == "sql":
        return "the other way round"
    if aim == "lateness":
        return {"both": "SQL has lateness", "neither": "late is dropped"}.get(who, "only one")
    return {"both": "no difference", "neither": "behind is late"}.get(who, "always 1 ms")


TOPIC = Topic(
    "sql and datastream",
    13,
    "the watermark, the firing and the late row in SQL and in the DataStream API",
    _draw,
    (
        ("sql", "datastream"),
        ("neither", "sql only", "both"),
        ("1 ms", "in time", "mended", "too late", "too late", "lateness"),
    ),
)
