"""Drill: which windows take an event."""

from __future__ import annotations

import random

from wmviz.course.drills.exercise import Exercise, Option, Topic
from wmviz.course.drills.streams import HOUR_MS, MINUTE_MS, Came, World, job, simulated, window_text
from wmviz.times import duration_text, time_text

Spans = tuple[tuple[int, int], ...]


def _draw(rng: random.Random, level: int, aim: str) -> Exercise | None:
    place = World(tuple(rng.sample(["ana", "ben", "cem", "dia"], 3)), MINUTE_MS, rng.randint(6, 15) * HOUR_MS)
    return (_tumbling, _sliding, _sessions)[level - 1](rng, place, aim)


def _windows(scenario: object, key: str) -> Spans:
    """The windows of a key that have state at the end; nothing has fired, since the bound is long."""
    state = simulated(scenario).state()  # type: ignore[arg-type]
    return tuple(sorted((w.window.start_ms, w.window.end_ms) for w in state.windows if w.key == key))  # type: ignore[misc]


def _text(spans: Spans) -> str:
    return " and ".join(window_text(*span) for span in spans) if spans else "None"


def _tumbling(rng: random.Random, place: World, aim: str) -> Exercise | None:
    me = place.keys[0]
    offset_ms = rng.choice([0, 15, 30, 45]) * MINUTE_MS
    size_ms = rng.choice([1, 2]) * HOUR_MS
    first = place.at(rng.randint(1, 59))
    start = first - (first - offset_ms) % size_ms
    event_ms = start + size_ms if aim == "at the boundary" else first + rng.randint(1, 50) * MINUTE_MS
    window = {"type": "tumbling", "size": size_ms, "offset": offset_ms}
    scenario = job(place, [Came(place.keys[1], first), Came(me, event_ms)], bound="1 d", window=window)
    answer = _windows(scenario, me)
    ((begin, end),) = answer
    plain = event_ms - event_ms % size_ms
    wrong: dict[Spans, tuple[str, str]] = {
        ((plain, plain + size_ms),): ("You left out the offset.", "no offset"),
        ((first, first + size_ms),): (
            "Windows do not begin with the first event: they are aligned to the epoch.",
            "first event",
        ),
        ((begin - size_ms, begin),): (
            "A window does not have its end: an event at the end belongs to the next one."
            if event_ms == begin
            else "That window is over when the event happens.",
            "end included",
        ),
        ((begin + size_ms, end + size_ms),): ("That begins after the event.", "next one"),
        ((begin + size_ms // 2, end + size_ms // 2),): (
            "That is not a multiple of the size from the epoch and offset.",
            "shifted",
        ),
    }
    shift = f", offset {duration_text(offset_ms)}" if offset_ms else ""
    why = (
        f"Its start is a multiple of {duration_text(size_ms)} from the epoch{', plus the offset' if offset_ms else ''}."
    )
    return Exercise(
        scenario,
        f"Which window takes {scenario.events[-1].id}?",
        answer,
        _options(answer, why, wrong),
        settings=f"Tumbling windows of {duration_text(size_ms)}{shift}.",
    )


def _options(answer: Spans, why: str, wrong: dict[Spans, tuple[str, str]]) -> tuple[Option, ...]:
    others = (Option(spans, _text(spans), *said) for spans, said in wrong.items())
    return (Option(answer, _text(answer), why), *others)


def _sliding(rng: random.Random, place: World, aim: str) -> Exercise | None:
    me = place.keys[0]
    slide = rng.choice([10, 15, 20, 30])
    size = slide * rng.choice([1, 2, 3, 4]) if aim == "overlap" else rng.choice([5, slide // 2])
    event_ms = place.at(rng.randint(0, 59) if rng.random() < 0.7 else slide * rng.randint(0, 60 // slide - 1))
    window = {"type": "sliding", "size": size * MINUTE_MS, "slide": slide * MINUTE_MS}
    scenario = job(place, [Came(me, event_ms)], bound="1 d", window=window)
    answer = len(_windows(scenario, me))
    if (aim == "gap") != (answer == 0) and aim != "overlap" and aim != "inside":
        return None
    if aim == "inside" and answer != 1:
        return None
    if aim == "overlap":
        why = f"Size / slide = {size} / {slide}: that many windows hold any moment."
        few = "Each window is as long as the size, and a new one starts each slide. Count those that hold the event."
    else:
        held = "but the event lies in a window" if answer else "and the event lies in one"
        why = f"The slide is longer than the size, so there are gaps between the windows, {held}."
        few = "The slide is longer than the size: no two windows overlap, and what falls between them is in none."
    options = [
        Option(n, str(n), why if n == answer else few, "" if n == answer else "number of windows") for n in range(5)
    ]
    rng.shuffle(options)
    return Exercise(
        scenario,
        f"How many windows take {scenario.events[-1].id}?",
        answer,
        tuple(options),
        "number",
        f"Sliding windows of {size} min, a new one every {slide} min.",
    )


def _merged(times: list[int], gap_ms: int, touching: bool = True) -> Spans:
    spans: list[tuple[int, int]] = []
    for ms in sorted(times):
        joins = spans and (ms <= spans[-1][1] if touching else ms < spans[-1][1])
        spans = [*spans[:-1], (spans[-1][0], ms + gap_ms)] if joins else [*spans, (ms, ms + gap_ms)]
    return tuple(spans)


def _sessions(rng: random.Random, place: World, aim: str) -> Exercise | None:
    me, other, _ = place.keys
    gap = rng.choice([5, 10, 15])
    first = rng.randint(0, 10)
    second = first + gap + (rng.randint(2, gap - 1) if aim == "bridge" else rng.randint(2, 20))
    times = [place.at(first), place.at(second)]
    if aim == "bridge":
        times.append(place.at(rng.randint(second - gap, first + gap)))
    elif aim == "touch":
        times.append(place.at(second + gap))
    else:
        times.append(place.at(second + gap) + 1)
    came = [Came(me, times[0]), Came(other, place.at(first + gap // 2)), *(Came(me, ms) for ms in times[1:])]
    gap_ms = gap * MINUTE_MS
    scenario = job(place, came, bound="1 d", window={"type": "session", "gap": gap_ms})
    answer = _windows(scenario, me)
    if aim == "bridge" and len(answer) != 1:
        return None
    in_order = tuple(sorted((ms, ms + gap_ms) for ms in set(times)))
    wrong = {
        _merged(times, gap_ms, touching=False): (
            "An event exactly one gap later still joins: touching windows merge.",
            "touching",
        ),
        _merged(times[:-1], gap_ms): (
            "The last event is missing: it opens, prolongs or joins sessions.",
            "last one missing",
        ),
        in_order: ("Sessions of one key that overlap or touch are merged into one.", "no merging"),
        ((min(times), max(times) + gap_ms),): ("More than a gap without an event parts two sessions.", "one session"),
        ((min(times), max(times)),): ("A session ends one gap after its last event.", "end at the last event"),
        ((min(times), min(times) + gap_ms),): ("Each event in it prolongs a session.", "not prolonged"),
    }
    last = time_text(times[-1])
    why = {
        "bridge": f"The event of {last} is less than a gap from both: the two sessions become one.",
        "touch": f"The event of {last} comes exactly one gap after the one before: touching windows merge.",
        "apart": f"The event of {last} comes 1 ms more than a gap after the one before: a session of its own.",
    }[aim]
    return Exercise(
        scenario,
        f"Which sessions does {me} have after all these have arrived? None has fired.",
        answer,
        _options(answer, why, wrong),
        settings=f"Session windows with a gap of {duration_text(gap_ms)}.",
    )


TOPIC = Topic(
    "other windows",
    9,
    "which tumbling, sliding or session windows take an event",
    _draw,
    (("inside", "at the boundary"), ("overlap", "overlap", "gap", "inside"), ("bridge", "touch", "apart")),
)
