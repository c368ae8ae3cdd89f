"""Two variants of a scenario beside each other: what differs between A, on the stage, and B, kept beside it."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from wmviz.scenario import FIELDS, Scenario
from wmviz.stage.picture import needs_dates, window_text
from wmviz.times import duration_text, time_text
from wmviz.trace import Trace

MOST_LINES = 12
"""Differences that are listed; the list says how many it leaves out."""
_UNSAID = ("name", "title", "about", "events")


def differences(a: Trace, b: Trace, picture: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Compare the ends of two runs.

    Parameters
    ----------
    a, b
        The traces.
    picture, other
        Their pictures.

    Returns
    -------
    dict
        ``captions``: for each of the two, its name and the rest of a line; ``events``: for each, the indices of the
        events that differ; ``fires``: for each, the rows of the flags that differ; ``lines``: what differs, in words;
        ``more``: how many lines are left out.
    """
    fates = [_fates(one) for one in (picture, other)]
    results = [_results(one) for one in (a, b)]
    lines = [*_lines(*fates), *_lines(*results)]
    moved = {name for name in fates[0].keys() | fates[1].keys() if fates[0].get(name) != fates[1].get(name)}
    return {
        "captions": [["A", "on the stage"], ["B", f"kept · {settings(a.scenario, b.scenario)}"]],
        "events": [_indices(one["events"], moved) for one in (picture, other)],
        "fires": [[], []],
        "lines": lines[:MOST_LINES] or ["At the end nothing differs."],
        "more": max(0, len(lines) - MOST_LINES),
    }


def _indices(events: list[Any], ids: Set[str]) -> list[int]:
    return [index for index, event in enumerate(events) if event[0] in ids]


def settings(a: Scenario, b: Scenario) -> str:
    """Say in a line which settings differ."""
    parts = []
    for field in FIELDS:
        values = [getattr(one, field.attribute) for one in (a, b)]
        if field.name not in _UNSAID and values[0] != values[1]:
            texts = [_setting(field.attribute, field.write(value), value) for value in values]
            parts.append(f"{field.name}: A {texts[0]}, B {texts[1]}")
    if a.events != b.events:
        parts.append(f"events: A {len(a.events):,}, B {len(b.events):,}, not the same")
    return "; ".join(parts) or "the same settings and events"


def _setting(attribute: str, written: Any, value: Any) -> str:
    if isinstance(written, list):
        return "; ".join(_setting("", part, part) for part in written) or "none"
    if isinstance(written, dict):
        return ", ".join(f"{name} {part}" for name, part in written.items())
    if value is None:
        return "none"
    return duration_text(value) if attribute.endswith("_ms") and isinstance(written, str) else str(written)


def _fates(picture: dict[str, Any]) -> dict[str, str]:
    pairs = zip(picture["events"], picture["event_looks"], strict=True)
    return {event[0]: picture["looks"][looks[-1]] for event, looks in pairs if looks}


def _results(trace: Trace) -> dict[str, str]:
    zone, unit = trace.scenario.zone, trace.scenario.unit
    dated = needs_dates(trace.scenario, (window for _, window in trace.windows))
    windows = {(key, window.start_ms, window.end_ms): window for key, window in trace.windows}
    found = {}
    for name, value in trace.totals.items():
        values = value if isinstance(value, list) else [value]
        words = f"{', '.join(f'{one:,}' for one in values)} {unit}".rstrip()
        found[f"{window_text(windows[name], zone, dated)} of {name[0]}"] = words
    last = trace.value_at(("clock", trace.window_clock), trace.steps - 1)
    if last is not None:
        found["The watermark at the end"] = time_text(last, zone)
    return found


def _lines(a: dict[str, str], b: dict[str, str]) -> list[str]:
    """Say for each name what it is in A and in B, where that differs."""
    names = [*a, *(name for name in b if name not in a)]
    differing = (name for name in names if a.get(name) != b.get(name))
    return [f"{name}: {_said(a.get(name))} in A, {_said(b.get(name))} in B." for name in differing]


def _said(words: str | None) -> str:
    return "nothing" if words is None else words
