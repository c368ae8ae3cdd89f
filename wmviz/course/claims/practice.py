"""Claims about running it: which call, which setting, which rule of thumb."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import wmviz
from wmviz.course.claims.court import Case, Claim, Jobs, Runs, counted
from wmviz.scenario import Scenario
from wmviz.times import duration_text


def _call(answer: Mapping[str, Any]) -> Iterator[Case]:
    source, window = answer["source"], answer["window"]
    yield Case(
        "GET /jobs/:id/vertices/:vid/watermarks of the source",
        bool(source),
        f"it answers {json.dumps(source)}; that of the window has {counted(len(window), 'value')}",
    )


def _last(answer: Mapping[str, Any]) -> Iterator[Case]:
    for api, kept in answer.items():
        how = "the assigner is still there" if kept else "the assigner is gone"
        yield Case(f"{api}: withTimestampAssigner, then withIdleness", kept, how)


MOST_PERCENT, MOST_OF_WINDOW = 1, 10
"""What is wanted: at most 1 % of the events too late, and a bound of at most a tenth of the window."""


def _percentile_ms(scenario: Scenario, percent: int) -> int:
    """Give the lag that so many percent of the events do not exceed, in full seconds."""
    lags_ms = sorted(event.arrival_time_ms - event.event_time_ms for event in scenario.events)
    return -(-lags_ms[len(lags_ms) * percent // 100] // 1000) * 1000


def _rules() -> Jobs:
    saturday = wmviz.scenario("busy-saturday").sample(100)
    bounds_ms = {
        "97 % of the lag": _percentile_ms(saturday, 97),
        "99 % and half as much again": _percentile_ms(saturday, 99) * 3 // 2,
        "5 s": 5_000,
        "30 s": 30_000,
    }
    return {
        f"{rule}, windows of {size}": saturday.replace(
            name=f"rule-{place}-{size}", title="", about="", bound=bound_ms, window=size, lateness="0 ms"
        )
        for size in ("1 h", "5 min")
        for place, (rule, bound_ms) in enumerate(bounds_ms.items())
    }


def _rules_cases(runs: Runs) -> Iterator[Case]:
    for where, trace in runs.items():
        late, bound_ms = len(trace.outcomes().late), trace.scenario.bound_ms
        percent = 100 * late / len(trace.scenario.events)
        fits = percent <= MOST_PERCENT and bound_ms * MOST_OF_WINDOW <= trace.scenario.window.size_ms
        yield Case(where, fits, f"{percent:.1f} % too late, a result waits {duration_text(bound_ms)}")


CLAIMS = (
    Claim(
        16,
        "To see the watermark of the source, ask the watermarks call for the source vertex.",
        "For a source that call answers `[]`. Read the metric `currentOutputWatermark` of the source; for a window "
        "the call works.",
        "15",
        asks="watermarks-call",
        answers=_call,
    ),
    Claim(
        22,
        "Call withIdleness last.",
        "In Java the order does not matter. In PyFlink the assigner must be the last call, or it is lost without a "
        "word.",
        "14",
        asks="assigner-order",
        answers=_last,
    ),
    Claim(
        23,
        "Kafka Streams uses watermarks, too.",
        "It has none. It keeps a stream time, the newest timestamp so far, and a grace period for each window. "
        "(Kafka Streams is not run in this course.)",
        "2",
        elsewhere="Kafka Streams is not part of Flink; nothing here runs it",
    ),
    Claim(
        28,
        "There is a rule for the bound: 97 % of the lag, or 99 % and a margin, or 5 to 30 s.",
        "Each rule fits some streams. Measure the lag, then look at what is lost and how long the results wait.",
        "5",
        _rules,
        _rules_cases,
    ),
)
