"""What a stage shows: a scenario made small enough to draw, and of its trace the picture and the sentences."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

from wmviz.scenario import FIELDS, Scenario
from wmviz.stage.parameters import sliders
from wmviz.stage.picture import Frame, picture_of
from wmviz.trace import Kind, Trace, TraceError

MOST_EVENTS = 20_000
"""More events than this are not drawn: the stage then shows a sample of the keys, and says so."""
SAMPLE_EVENTS = 1_500
"""About how many events a sample holds."""


class Sample(NamedTuple):
    """A scenario that can be drawn, and the note that says what was left out; empty if nothing was."""

    scenario: Scenario
    note: str


def drawable(scenario: Scenario) -> Sample:
    """Give the scenario itself, or a sample of its keys if it is too large to draw."""
    total = len(scenario.events)
    if total <= MOST_EVENTS:
        return Sample(scenario, "")
    keys = len({event.key for event in scenario.events})
    kept = max(1, keys * SAMPLE_EVENTS // total)
    sample = scenario.sample(keys=kept)
    note = (
        f"A sample: {kept:,} of {keys:,} keys, {len(sample.events):,} of {total:,} events. "
        "The watermark follows the events of the sample."
    )
    return Sample(sample, note)


def show(trace: Trace, first: Scenario, note: str = "", frame: Frame | None = None) -> dict[str, Any]:
    """Draw up the picture of a trace with its sliders.

    Parameters
    ----------
    trace
        A full trace.
    first
        The scenario that the stage began with.
    note
        What a reader must know about the picture, such as that it shows a sample.
    frame
        The axes; those that fit best if none are given.

    Returns
    -------
    dict
        The picture; its ``id`` is a checksum of the trace and of its words.

    Raises
    ------
    TraceError
        If the trace does not hold every row of a run.
    """
    if trace.observed != frozenset(Kind):
        raise TraceError('the stage needs every row of a run; simulate with trace="full"')
    parameters = sliders(trace.scenario, first)
    picture = picture_of(trace, frame)
    if picture["about"] and trace.scenario != first:
        # What is said about a scenario holds for the settings that it came with.
        picture["about"] = f"Before the change: {picture['about']}"
    place = f"{picture['origin']} {picture['x']} {picture['y']}" if frame else ""
    # What tells it from another picture comes last: values of widgets are compared from their end.
    return {**picture, "note": note, "parameters": parameters, "id": checksum(trace, note + place)}


def checksum(trace: Trace, note: str = "") -> str:
    """Give a short name that the same run has in every process."""
    digest = hashlib.blake2b(digest_size=6)
    for column in (trace.kind, trace.subject, trace.value, trace.step, trace.step_at_ms):
        digest.update(column.tobytes())
    for event in trace.scenario.events:
        digest.update(event.id.encode())
    for field in FIELDS:
        value = getattr(trace.scenario, field.attribute)
        if field.name != "events" and value != field.default:
            digest.update(f"{field.name} {value!r}".encode())
    digest.update(note.encode())
    return digest.hexdigest()
