"""Two runs of one scenario beside each other, as by our engine and by Flink: where they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

from wmviz.comparison import Comparison, Difference, subtract
from wmviz.explain_runtime import counted
from wmviz.scenario import Scenario
from wmviz.stage.differences import MOST_LINES
from wmviz.stage.picture import Frame
from wmviz.stage.subject import show
from wmviz.times import time_text
from wmviz.trace import Kind, Outcomes, Trace

_FiringName = tuple[str, int | None, int | None, int]


def beside(a: Trace, b: Trace, first: Scenario, frame: Frame) -> dict[str, Any]:
    """Give what a stage shows of a second run: its picture as ``other``, and what differs as ``differing``."""
    other = show(b, first, "", frame)
    return {"other": other, "differing": engine_differences(a, b, show(a, first, "", frame), other)}


def engine_differences(a: Trace, b: Trace, picture: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Compare what two runs came to, as `wmviz.compare` does; the result is that of `differences`.

    Parameters
    ----------
    a, b
        The traces of one scenario.
    picture, other
        Their pictures.
    """
    outcomes = a.outcomes(), b.outcomes()
    found = subtract(*outcomes)
    names = (a.engine, b.engine)
    lines = [_line(difference, names, a.scenario.zone) for difference in found]
    lines = lines or [repr(Comparison(a, b, found)).partition(": ")[2]]
    events = _events(*outcomes)
    firings = _unequal(outcomes[0].firings, outcomes[1].firings)
    return {
        "captions": [[one["engine"], "" if one["complete"] else _seen_words(one)] for one in (picture, other)],
        "events": [sorted(trace.event_index(event) for event in events) for trace in (a, b)],
        "fires": [sorted(_flags(a, picture, firings)), sorted(_flags(b, other, firings))],
        "lines": lines[:MOST_LINES],
        "more": max(0, len(lines) - MOST_LINES),
    }


def _line(difference: Difference, names: tuple[str, str], zone: str | None) -> str:
    """Say in a line where two runs differ, with watermarks as times."""
    said = [_said(value, difference.what, zone) for value in (difference.ours, difference.theirs)]
    return f"{difference.what} {difference.where}: {names[0]} {said[0]}, {names[1]} {said[1]}"


def _said(value: Any, what: str, zone: str | None) -> str:
    if value is None:
        return "has none"
    if value is True:
        return "has it"
    if isinstance(value, tuple):
        result, events, watermark_ms = value
        return f"{result:,} from {counted(len(events), 'event')} at watermark {time_text(watermark_ms, zone)}"
    if what.startswith("watermark"):
        return time_text(value, zone)
    return f"{value:,}" if isinstance(value, int) else str(value)


def _seen_words(picture: dict[str, Any]) -> str:
    unseen = sum(looks[-1] == 0 for looks in picture["event_looks"] if looks)
    return f"reported this; of {counted(unseen, 'event')} the fate is not observed" if unseen else "reported this"


def _unequal(a: Mapping[Any, Any], b: Mapping[Any, Any]) -> set[Any]:
    return {name for name in a.keys() | b.keys() if a.get(name) != b.get(name)}


def _events(a: Outcomes, b: Outcomes) -> Set[str]:
    """Give the ids of events that differ: late in one only, other watermarks met, or in a firing of one only."""
    members = ({event for _, ids, _ in _firings_of(a, b) for event in ids} for a, b in ((a, b), (b, a)))
    first, second = members
    return (a.late ^ b.late) | _unequal(a.seen_watermarks, b.seen_watermarks) | (first ^ second)


def _firings_of(one: Outcomes, other: Outcomes) -> Iterator[tuple[int, tuple[str, ...], int]]:
    """Go through the firings of one run that the other does not have in the same form."""
    return (firing for name, firing in one.firings.items() if other.firings.get(name) != firing)


def _flags(trace: Trace, picture: dict[str, Any], firings: set[_FiringName]) -> Iterator[int]:
    """Give the rows that stand for the flags of some firings: those that one watermark sets off share a flag."""
    fires = {(band["from"], band["to"]): band["fires"] for band in picture["bands"]}
    origin = picture["origin"]
    for row, kind in enumerate(trace.kind):
        if kind != Kind.FIRED:
            continue
        key, window = trace.windows[trace.subject[row]]
        if (key, window.start_ms, window.end_ms, trace.nth_firing[row]) in firings:
            first, end = (None if ms is None else ms - origin for ms in (window.start_ms, window.end_ms))
            yield [fire[3] for fire in fires[first, end] if fire[0] <= trace.step[row]][-1]
