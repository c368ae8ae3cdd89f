"""A stretch of a long run: few enough events to draw, with late events and firings, and the watermark as it was."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from math import log1p
from typing import NamedTuple

from wmviz.engine.simulate import simulate
from wmviz.fields import is_int
from wmviz.scenario import Scenario, ScenarioError
from wmviz.times import shown, time_text
from wmviz.trace import Kind, Trace
from wmviz.window import AnyWindow

_STEPS = 8
"""Stretches begin at every eighth of their length."""


class _Run(NamedTuple):
    """What a run came to, by the places of events: those that are late, and behind which something fired.

    First results are counted by window, and not for each of its keys.
    """

    late: list[int]
    first_results: list[int]
    corrections: list[int]


def stretch(scenario: Scenario, most: int) -> Scenario:
    """Give a stretch of at most `most` events, in order of arrival; see `Scenario.sample`.

    The watermark of an event depends on the newest event of each partition before it. These, and those at the last
    tick before, are kept from the time before the stretch: at most two for each partition.

    Raises
    ------
    ScenarioError
        If `most` is no number, or too small for them.
    """
    held = 2 * scenario.partition_count
    if not is_int(most) or most <= held:
        raise ScenarioError(
            f"most is {shown(most)}; write a number above {held}: two for each partition, and a stretch"
        )
    if len(scenario.events) <= most:
        return scenario
    if scenario.happenings:
        raise ScenarioError("sample(most=…) takes a job to which nothing happens; write replace(happenings=[]) before")
    trace = simulate(scenario, trace="results")
    run = _run_of(trace)
    size = most - held
    start = _best_start(run, len(scenario.events), size)
    kept = _holders(scenario, start)
    sample = _cut(scenario, kept, start, start + size)
    return replace(sample, about=_about(scenario, sample, run, start, size, len(kept)))


def _run_of(trace: Trace) -> _Run:
    arrivals = [event.arrival_time_ms for event in trace.scenario.events]
    late: set[int] = set()
    first_results: dict[AnyWindow, int] = {}
    corrections: list[int] = []
    for row, kind in enumerate(trace.kind):
        if kind in (Kind.LATE, Kind.DROPPED):
            late.add(trace.event_of(row))
        elif kind == Kind.FIRED:
            place = max(bisect_right(arrivals, trace.step_at_ms[trace.step[row]]) - 1, 0)
            if trace.nth_firing[row] == 1:
                first_results.setdefault(trace.windows[trace.subject[row]].window, place)
            else:
                corrections.append(place)
    return _Run(sorted(late), sorted(first_results.values()), sorted(corrections))


def _best_start(run: _Run, total: int, size: int) -> int:
    """Choose where it begins: where late events, first results and corrections are many, each counted by its log."""
    step = max(size // _STEPS, 1)
    starts = {*range(0, total - size + 1, step), total - size}
    starts |= {min(max(place - size // 2, 0), total - size) for place in run.late[:1] + run.corrections[:1]}

    def worth(start: int) -> float:  # by the log, since thousands of one kind make up for none of another
        return sum(log1p(_within(places, start, start + size)) for places in run)

    best: int = max(sorted(starts), key=worth)
    return best


def _within(places: Sequence[int], start: int, stop: int) -> int:
    return bisect_left(places, stop) - bisect_left(places, start)


def _holders(scenario: Scenario, start: int) -> list[int]:
    """Give the events before the stretch that the watermark at its beginning goes by.

    Of each partition the newest one; and the one that was so at the last tick, if watermarks come with ticks.
    """
    events = scenario.events
    kept = set(_newest(scenario, start))
    if scenario.emission == "interval" and scenario.interval_ms and start:
        first_ms = events[start].arrival_time_ms
        tick_ms = scenario.next_tick_ms(first_ms - scenario.interval_ms)
        tick_ms -= scenario.interval_ms * (tick_ms >= first_ms)  # on equal milliseconds the arrival comes first
        at_tick = bisect_right([event.arrival_time_ms for event in events[:start]], tick_ms)
        kept |= set(_newest(scenario, at_tick))
    return sorted(kept)


def _newest(scenario: Scenario, stop: int) -> list[int]:
    """Give the newest event of each partition among the first ones; the first of equals."""
    newest: dict[int, int] = {}
    for place, event in enumerate(scenario.events[:stop]):
        known = newest.get(event.partition)
        if known is None or event.event_time_ms > scenario.events[known].event_time_ms:
            newest[event.partition] = place
    return list(newest.values())


def _cut(scenario: Scenario, kept: list[int], start: int, stop: int) -> Scenario:
    """Make the job of the stretch; its ticks stay where they were."""
    events = (*(scenario.events[place] for place in kept), *scenario.events[start:stop])
    grid_ms, interval_ms = scenario.grid_start_ms, scenario.interval_ms or 1
    start_ms = grid_ms + (events[0].arrival_time_ms - grid_ms) // interval_ms * interval_ms
    if start_ms == events[0].arrival_time_ms and start_ms > grid_ms:
        start_ms -= interval_ms  # the first tick of all is one interval after the start
    return replace(
        scenario,
        name=f"{scenario.name}-sample",
        events=events,
        generated=None,
        partitions=scenario.partition_count,
        start_ms=start_ms,
        end_of_input_ms=scenario.end_of_input_ms if stop >= len(scenario.events) else None,
    )


def _about(scenario: Scenario, sample: Scenario, run: _Run, start: int, size: int, held: int) -> str:
    """Say what the sample holds, and what not."""
    late, corrections = (_within(places, start, start + size) for places in (run.late, run.corrections))
    here = _run_of(simulate(sample, trace="results"))
    stretch_of = sample.events[held:]
    begin, end = (time_text(event.arrival_time_ms, scenario.zone) for event in (stretch_of[0], stretch_of[-1]))
    text = (
        f"A stretch of {size:,} of {len(scenario.events):,} events, which arrived from {begin} to {end}. It has "
        f"{late:,} of {len(run.late):,} late events and {corrections:,} of {len(run.corrections):,} corrections, and "
        f"{_windows(len(here.first_results))} a first result."
    )
    if held:
        from_before = "1 event from before it keeps" if held == 1 else f"{held:,} events from before it keep"
        text += f" {from_before} the watermark where it was; windows that were open then lack their other events."
    differ = _differing(sample, here, {scenario.events[place].id for place in run.late}, held)
    if differ:
        text += f" {differ:,} of its events are late here and not in the whole run, or the other way round."
    return text


def _windows(count: int) -> str:
    return "1 window gives" if count == 1 else f"{count:,} windows give"


def _differing(sample: Scenario, here: _Run, late: set[str], held: int) -> int:
    """Count events that are late in one run only: the silences before the stretch are not in the sample."""
    in_sample = {sample.events[place].id for place in here.late if place >= held}
    return len(in_sample ^ (late & {event.id for event in sample.events[held:]}))
