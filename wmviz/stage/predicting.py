"""Predict mode: the moments of a run that are worth a question, each with its answer and the sentence that explains it.

All of it is settled here, so that the browser needs no rule. A question stops the stage before a moment; what the
reader needs to answer it, and no more, stands on the picture then.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from wmviz.fields import ScenarioError
from wmviz.stage.marks import LOOKS, Look, State
from wmviz.stage.picture import is_complete, needs_dates, window_text
from wmviz.times import MIN_MS, duration_text, time_text
from wmviz.trace import Kind, Trace, TraceError
from wmviz.window import AnyWindow

KINDS = ("firings", "late", "watermark")
MOST_QUESTIONS = 6
MOST_WINDOWS = 4
"""Windows among which the reader chooses; with more of them open, the question is about one."""
HEADING = "What happens next?"
_NEAR_MS = 1_000
_RESTARTS = frozenset({Kind.CRASHED, Kind.STOPPED, Kind.RESTORED})
_LATE_SCORES = {Look.LATE_COUNTED: 90, Look.SIDE_OUTPUT: 85, Look.DROPPED: 85, Look.NO_WINDOW: 60}


@dataclass(frozen=True)
class Question:
    """A question before a moment.

    Attributes
    ----------
    kind
        One of `KINDS`.
    moment
        The index of the moment that it is about; the stage stops at the end of the one before.
    lead, ask
        What comes next, and what is asked.
    choices
        What can be answered: each a text, with ``look`` for a fate or ``band`` for a window; empty where a time is
        to be written.
    answer
        The index of the right choice, or the right time as text.
    why
        The sentence that explains it.
    event
        The index of the event that comes, or -1.
    spellings
        Texts that count as the right time, in lower case.
    slips
        Wrong times that have a common reason: text → that reason.
    score
        How much it is worth asking.
    """

    kind: str
    moment: int
    lead: str
    ask: str
    answer: int | str
    why: str
    score: int
    choices: tuple[dict[str, Any], ...] = ()
    event: int = -1
    spellings: tuple[str, ...] = ()
    slips: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Give it as plain JSON."""
        names = ("kind", "moment", "lead", "ask", "answer", "why", "choices", "event", "spellings", "slips")
        return {name: getattr(self, name) for name in names}


def kinds_of(predict: Any) -> tuple[str, ...]:
    """Read which kinds of questions are wanted: True for all, False for none, or the name of one, or a list of names.

    Raises
    ------
    ScenarioError
        If it is nothing of these.
    """
    wanted = KINDS if predict is True else () if predict in (False, None) else predict
    wanted = (wanted,) if isinstance(wanted, str) else wanted
    if not isinstance(wanted, list | tuple) or not all(kind in KINDS for kind in wanted):
        raise ScenarioError(f"predict is {predict!r}; write True, or one or a list of {', '.join(map(repr, KINDS))}")
    return tuple(wanted)


def asked(trace: Trace, picture: dict[str, Any], kinds: tuple[str, ...]) -> dict[str, Any]:
    """Give what a stage in predict mode has: its ``questions``, and the ``heading`` in place of the scenario's title.

    The ``title`` and what is said ``about`` the scenario may tell what happens, so they come at the end.
    """
    told = {name: picture[name] for name in ("title", "about")}
    return {"questions": questions_of(trace, picture, kinds), "heading": HEADING, **told}


def questions_of(trace: Trace, picture: dict[str, Any], kinds: tuple[str, ...]) -> list[dict[str, Any]]:
    """Choose a few questions about a run, in the order of its moments.

    Parameters
    ----------
    trace, picture
        A full trace and its picture.
    kinds
        Which kinds are wanted.

    Raises
    ------
    TraceError, ScenarioError
        If what Flink reported is too little to ask about, or the run has no such moment.
    """
    if not is_complete(trace):
        raise TraceError(f"{trace.engine} does not report what the questions are about; predict the scenario itself")
    found = [question for kind in kinds for question in _ASKERS[kind](_Moments(trace, picture))]
    if not found:
        raise ScenarioError(f"{trace.scenario.name} has no moment to ask about {' or '.join(kinds)}; leave predict out")
    chosen = _chosen(found, -(-MOST_QUESTIONS // len(set(kinds))))
    return [question.to_json() for question in sorted(chosen, key=lambda question: question.moment)]


def _chosen(found: list[Question], most_of_a_kind: int) -> list[Question]:
    """Take the best ones: few of a kind, one in a moment, and not always with the same answer."""
    chosen: list[Question] = []
    while found and len(chosen) < MOST_QUESTIONS:
        best = max(found, key=lambda question: (question.score - _worn(question, chosen), -question.moment))
        chosen.append(best)
        full = sum(other.kind == best.kind for other in chosen) >= most_of_a_kind
        found = [one for one in found if one.moment != best.moment and not (full and one.kind == best.kind)]
    return chosen


def _worn(question: Question, chosen: list[Question]) -> int:
    same = [other for other in chosen if other.kind == question.kind and other.choices == question.choices]
    return 25 * sum(other.answer == question.answer for other in same) if question.choices else 0


class _Moments:
    """What is known before and after each moment of a run."""

    def __init__(self, trace: Trace, picture: dict[str, Any]) -> None:
        self.trace = trace
        self.scenario = trace.scenario
        self.picture = picture
        self.windows = sorted({window for _, window in trace.windows}, key=lambda w: (w.start_ms or 0, w.end_ms or 0))
        self._clock = ("clock", trace.window_clock)

    def __iter__(self) -> Iterator[_Moment]:
        """Go through the moments that something can be asked about."""
        first = 0
        for index, last in enumerate(self.picture["moments"]):
            moment = _Moment(self, index, first, last)
            if moment.can_be_asked:
                yield moment
            first = last + 1

    def time(self, ms: int) -> str:
        """Write a time."""
        return time_text(ms, self.scenario.zone)

    def watermark_ms(self, step: int) -> int:
        """Give the watermark of the window task at a step; MIN before there is one."""
        value_ms = self.trace.value_at(self._clock, step)
        return MIN_MS if value_ms is None else value_ms


class _Moment:
    """One moment: its rows, the event that arrives in it, the watermark before and after it."""

    def __init__(self, run: _Moments, index: int, first: int, last: int) -> None:
        self.run, self.index, self.first, self.last = run, index, first, last
        rows = run.picture["first_rows"]
        self.rows = range(rows[first], rows[last + 1])
        trace = run.trace
        arrived = [row for row in self.rows if trace.kind[row] == Kind.ARRIVED]
        self.event = trace.subject[arrived[0]] if arrived else -1
        is_new = self.event < 0 or run.picture["event_looks"][self.event][0] >= first
        starts_again = any(trace.kind[row] in _RESTARTS for row in self.rows)
        self.can_be_asked = len(arrived) <= 1 and is_new and not starts_again
        self.before_ms, self.after_ms = run.watermark_ms(first - 1), run.watermark_ms(last)

    @property
    def lead(self) -> str:
        """What comes next, as far as it can be known before."""
        run, at = self.run, self.run.time(self.run.trace.step_at_ms[self.first])
        if self.event < 0:
            return f"Next, at {at}, no event arrives."
        event = run.scenario.events[self.event]
        partition = f" on partition {event.partition}" if run.scenario.partition_count > 1 else ""
        return f"Next, at {at}, {event.id} arrives{partition}: it happened at {run.time(event.event_time_ms)}."

    def open_bands(self) -> list[int]:
        """Give the windows that have state before it."""
        alive = (State.FILLING, State.FIRED)
        bands = self.run.picture["bands"]
        return [index for index, band in enumerate(bands) if _standing(band["states"], self.first - 1) in alive]

    def fired_bands(self) -> dict[int, int]:
        """Give the windows that fire in it, each with the row of its flag."""
        bands = self.run.picture["bands"]
        fires = ((index, fire) for index, band in enumerate(bands) for fire in band["fires"])
        return {index: fire[3] for index, fire in fires if self.first <= fire[0] <= self.last}


def _standing(changes: list[Any], step: int) -> Any:
    found = bisect_right(changes, step, key=lambda change: change[0])
    return changes[found - 1][1] if found else None


# ------------------------------------------------------------------------------------------- which window fires


def _firings(run: _Moments) -> Iterator[Question]:
    if run.scenario.window.time != "event" or run.scenario.window_tasks > 1 or run.scenario.window.type == "global":
        return
    for moment in run:
        bands, fired = moment.open_bands(), moment.fired_bands()
        if bands and set(fired) <= set(bands):
            score, focus = _closest(run, moment, bands, fired)
            if score:
                yield _firing_question(run, moment, bands, fired, focus, score)


def _closest(run: _Moments, moment: _Moment, bands: list[int], fired: dict[int, int]) -> tuple[int, int]:
    """Give the window that is nearest to firing or not, and how much that is worth; 0 if it is plain to see."""
    found = [(0, bands[0])]
    for band in bands:
        last_ms = run.windows[band].max_timestamp_ms
        margin_ms = moment.after_ms - last_ms
        if band in fired and moment.before_ms >= last_ms:
            found.append((80, band))  # a late event makes it fire again
        elif band in fired:
            found.append((100 if margin_ms == 0 else 70 if margin_ms <= _NEAR_MS else 55, band))
        elif moment.before_ms < moment.after_ms and -_NEAR_MS <= margin_ms < 0:
            found.append((100 if margin_ms == -1 else 65, band))
    return max(found, key=lambda one: one[0])


def _firing_question(
    run: _Moments, moment: _Moment, bands: list[int], fired: dict[int, int], focus: int, score: int
) -> Question:
    labels = run.picture["bands"]
    why = run.trace.sentence(fired[focus]) if focus in fired else _missing(run, moment, run.windows[focus])
    about: dict[str, Any] = {
        "moment": moment.index,
        "lead": moment.lead,
        "why": why,
        "event": moment.event,
        "score": score,
    }
    if 1 < len(bands) <= MOST_WINDOWS and len(fired) <= 1:
        choices = [*({"text": labels[band]["label"], "band": band} for band in bands), {"text": "no window"}]
        answer = bands.index(focus) if focus in fired else len(bands)
        return Question("firings", ask="Which window fires now?", choices=tuple(choices), answer=answer, **about)
    again = "fire again" if moment.before_ms >= run.windows[focus].max_timestamp_ms else "fire"
    ask = f"Does the window {labels[focus]['label']} {again} now?"
    yes_no = ({"text": f"yes, it {'fires again' if again == 'fire again' else 'fires'}", "band": focus}, {"text": "no"})
    return Question("firings", ask=ask, choices=yes_no, answer=0 if focus in fired else 1, **about)


def _missing(run: _Moments, moment: _Moment, window: AnyWindow) -> str:
    """Say why a window does not fire."""
    last_ms, now_ms = window.max_timestamp_ms, moment.after_ms
    name = window_text(window, run.scenario.zone, needs_dates(run.scenario, run.windows))
    if now_ms == MIN_MS:
        return f"There is no watermark yet, so {name} cannot fire."
    return (
        f"The watermark is {run.time(now_ms)}, and the last millisecond of {name} is {run.time(last_ms)}: "
        f"{duration_text(last_ms - now_ms)} is missing."
    )


# --------------------------------------------------------------------------------------- what an event comes to


def _late(run: _Moments) -> Iterator[Question]:
    if run.scenario.window.time != "event":
        return
    for moment in run:
        look = _fate_in(run, moment)
        if look is None:
            continue
        row = _fate_row(run.trace, moment)
        event = run.scenario.events[moment.event]
        score = _LATE_SCORES.get(look, 75 if event.event_time_ms <= moment.before_ms else 0)
        if not score or row < 0:
            continue
        fates = [Look.ON_TIME, Look.LATE_COUNTED, Look.SIDE_OUTPUT if run.scenario.late_to == "side" else Look.DROPPED]
        fates += [look] if look not in fates else []
        yield Question(
            "late",
            moment.index,
            moment.lead,
            f"What becomes of {event.id}?",
            answer=fates.index(look),
            why=run.trace.sentence(row),
            score=score + (15 if abs(event.event_time_ms - moment.before_ms) <= 1 else 0),
            choices=tuple({"text": LOOKS[fate], "look": int(fate)} for fate in fates),
            event=moment.event,
        )


def _fate_in(run: _Moments, moment: _Moment) -> Look | None:
    """Give the fate of the event that arrives, if that is settled in the same moment."""
    if moment.event < 0:
        return None
    changes = run.picture["event_looks"][moment.event]
    settled = [look for step, look in zip(changes[::2], changes[1::2], strict=True) if step <= moment.last]
    return Look(settled[-1]) if settled and settled[-1] != Look.IN_FLIGHT else None


def _fate_row(trace: Trace, moment: _Moment) -> int:
    kinds = (Kind.ADDED, Kind.LATE, Kind.DROPPED, Kind.NO_WINDOW)
    rows = (row for row in moment.rows if trace.kind[row] in kinds and trace.event_of(row) == moment.event)
    return next(rows, -1)


# --------------------------------------------------------------------------------------------- the watermark


def _watermark(run: _Moments) -> Iterator[Question]:
    if run.scenario.strategy == "none" or run.scenario.work_ms:  # a slow task takes it later
        return
    risen = False
    for moment in run:
        rises = moment.after_ms > moment.before_ms
        worth = _worth(run, moment, first=rises and not risen)
        risen |= rises
        right = run.time(moment.after_ms)
        if not worth or right in ("MIN", "MAX") or right.endswith(" ms"):
            continue
        yield Question(
            "watermark",
            moment.index,
            moment.lead,
            "What is the watermark of the window operator then? Write a time.",
            answer=right,
            why=_watermark_why(run, moment),
            score=worth,
            event=moment.event,
            spellings=_spellings(right),
            slips=_slips(run, moment),
        )


def _worth(run: _Moments, moment: _Moment, *, first: bool) -> int:
    if moment.after_ms > moment.before_ms:
        return 60 if first else 50
    # Between two ticks of the generators nothing can move it.
    if moment.event < 0 or run.scenario.emission == "interval":
        return 0
    ahead = run.scenario.events[moment.event].event_time_ms - run.scenario.bound_ms - 1 > moment.before_ms
    return 62 if ahead else 58  # another input holds it back, or the event is out of order


def _watermark_why(run: _Moments, moment: _Moment) -> str:
    trace = run.trace
    sources = [index for index, name in enumerate(trace.clocks) if name.startswith("source") and " → " not in name]
    told_by = trace.window_clock if len(sources) > 1 else sources[0]
    rows = [row for row in moment.rows if trace.kind[row] == Kind.WATERMARK and trace.subject[row] == told_by]
    if rows:
        return trace.sentence(rows[-1])
    now = run.time(moment.after_ms)
    if moment.event >= 0 and len(sources) == 1 and run.scenario.partition_count == 1:
        event = run.scenario.events[moment.event]
        return f"{event.id} is not newer than the newest event so far, so the watermark stays at {now}."
    return f"The lowest input counts, and it has not moved: the watermark stays at {now}."


def _spellings(right: str) -> tuple[str, ...]:
    """Give the ways to write a time: with its date or without, with a leading zero or without."""
    date, _, clock = right.rpartition(" ")
    short = clock.removeprefix("0") if clock[1] != ":" else clock
    clocks = {clock, short, f"0{short}" if short[1] == ":" else short}
    clocks |= {f"{one}:00" for one in clocks if one.count(":") == 1}
    return tuple(sorted({*clocks, *(f"{date} {one}" for one in clocks if date)}))


def _slips(run: _Moments, moment: _Moment) -> dict[str, str]:
    """Give wrong times that one comes to when a part of the rule is forgotten."""
    scenario, right_ms = run.scenario, moment.after_ms
    bound_ms = scenario.bound_ms if scenario.strategy == "bounded" else 0
    reasons = {
        right_ms + 1: "That forgets the 1 ms.",
        right_ms + 1 + bound_ms: f"That is the newest event time, without the bound of {duration_text(bound_ms)}.",
    }
    if moment.before_ms != MIN_MS:
        reasons[moment.before_ms] = "That is the watermark before this event."
    if moment.event >= 0:
        alone_ms = scenario.events[moment.event].event_time_ms - bound_ms - 1
        reasons[alone_ms] = "That follows this event alone; the watermark never goes back, and waits for all inputs."
    known = ((ms, words) for ms, words in reasons.items() if ms != right_ms)
    return {text: words for ms, words in known for text in _spellings(run.time(ms))}


_ASKERS: dict[str, Callable[[_Moments], Iterator[Question]]] = {
    "firings": _firings,
    "late": _late,
    "watermark": _watermark,
}
