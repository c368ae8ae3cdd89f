"""What a stage shows: a run small enough to draw, of our engine or of Flink, or both; and the picture of a run."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any, NamedTuple

from wmviz.comparison import Comparison
from wmviz.engine.simulate import simulate
from wmviz.scenario import FIELDS, Scenario, check_scenario
from wmviz.stage.observed_marks import unseen_words
from wmviz.stage.parameters import sliders
from wmviz.stage.picture import Frame, engine_name, is_complete, picture_of
from wmviz.trace import Trace, TraceError

OUR_ENGINE = "wmviz"

MOST_EVENTS = 20_000
"""More events than this are not drawn: the stage then shows a sample, and says so."""
SAMPLE_EVENTS = 1_500
"""About how many events a sample holds."""


class Sample(NamedTuple):
    """A scenario that can be drawn, and the note that says what was left out; empty if nothing was."""

    scenario: Scenario
    note: str


class Subject(NamedTuple):
    """What a stage is about.

    Attributes
    ----------
    trace, other
        The run on the stage, and the one beside it (None: there is none).
    note
        What a reader must know about the picture.
    is_fixed
        Whether it stays as it is: a run of Flink cannot follow the hand.
    """

    trace: Trace
    other: Trace | None
    note: str
    is_fixed: bool

    @property
    def scenario(self) -> Scenario:
        """The scenario that is run."""
        return self.trace.scenario


def subject_of(source: Any, other: Any = None, taker: str = "play", *, is_fixed: bool = False) -> Subject:
    """Read what is to be shown: a scenario, a trace, a comparison, or two traces of one scenario.

    Parameters
    ----------
    source, other
        The first and, if there is one, the second run.
    taker
        The function that was called, for the sentence about what it cannot take.
    is_fixed
        Whether the stage stays as it is and shows one run, as in predict mode.

    Raises
    ------
    ScenarioError, TraceError
        If it is nothing of these, or too large to draw.
    """
    if is_fixed:
        if other is not None or isinstance(source, Comparison):
            raise TraceError("predict asks about one run; leave the second one out")
        return subject_of(source, taker=taker)._replace(is_fixed=True)
    if isinstance(source, Comparison) and other is None:
        return subject_of(source.ours, source.flink, taker)
    if other is not None:
        return _two(source, other, taker)
    if isinstance(source, Trace) and source.engine != OUR_ENGINE:
        _small_enough(source)
        return Subject(source, None, f"What {engine_name(source)} reported. {unseen_words(source)}", is_fixed=True)
    if isinstance(source, Trace):
        return subject_of(source.scenario, taker=taker)
    check_scenario(source, taker)
    scenario, note = drawable(source)
    return Subject(simulate(scenario), None, note, is_fixed=False)


def _two(source: Any, other: Any, taker: str) -> Subject:
    traces = [source, other]
    for nth, one in enumerate(traces):
        if isinstance(one, Scenario):
            traces[nth] = simulate(one)
        elif not isinstance(one, Trace):
            words = f"not {type(one).__name__}; write {taker}(scenario, wmviz.flink.run(scenario))"
            raise TraceError(f"{taker} takes a scenario or a trace beside another one, {words}")
        _small_enough(traces[nth])
    if traces[0].scenario != traces[1].scenario:
        raise TraceError(
            f"{taker} shows two runs of one scenario beside each other; these are of different ones. "
            "Two variants of a scenario: play one, press Keep as B, and change it"
        )
    unseen = [unseen_words(trace) for trace in traces if trace.engine != OUR_ENGINE]
    return Subject(traces[0], traces[1], unseen[-1] if unseen else "", is_fixed=True)


def _small_enough(trace: Trace) -> None:
    if len(trace.scenario.events) > MOST_EVENTS:
        raise TraceError(
            f"{len(trace.scenario.events):,} events are too many to draw a run of {trace.engine}; "
            "run a part: wmviz.flink.run(scenario.sample(keys=20))"
        )


def drawable(scenario: Scenario) -> Sample:
    """Give the scenario itself; if it is too large to draw, a stretch of it, or of made-up events some of the keys."""
    total = len(scenario.events)
    if total <= MOST_EVENTS:
        return Sample(scenario, "")
    if scenario.generated is None and not scenario.happenings:  # events of one's own may all have the same key
        stretch = scenario.sample(most=max(SAMPLE_EVENTS, 4 * scenario.partition_count))
        return Sample(replace(stretch, about=scenario.about), stretch.about)
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
        A full trace of our engine, or one of Flink.
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
    if not is_complete(trace) and trace.engine == OUR_ENGINE:
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
