"""Many inputs, many keys, a job with checkpoints, and questions to its trace: ``python -m benchmarks.jobs_speed``.

Ratios are of runs in this process; the two times of questions are in milliseconds.
"""

from __future__ import annotations

import random
import sys
import time
from dataclasses import replace

from benchmarks.engine_speed import BOUND_MS, LATENESS_MS, SIZE_MS, seconds
from wmviz import Scenario, simulate
from wmviz.trace import Trace

AIMS = {
    "8 partitions x 4 subtasks x 4 window tasks, times a single stream": 3.0,
    "100,000 keys (a window for each event), times 100 keys": 4.0,
    "checkpoints and a crash, times neither": 5.0,
    "time per event with checkpoints, 100,000 against 1,000 events": 1.5,
    "value of a subject at a step of a long trace, ms": 1.0,
    "state at a step of a long trace, ms": 20.0,
}
EVENTS = 100_000


def stream(events: int = EVENTS, keys: int = 100, **changes: object) -> Scenario:
    """Make the leaderboard's job with watermarks on ticks: an event a second, out of order within five minutes."""
    generated = {"generate": "steady", "events": events, "keys": keys, "spacing": "1 s", "disorder": "5 min"}
    return Scenario.of(
        name="speed",
        events=generated,
        emission="interval",
        bound=BOUND_MS,
        window=SIZE_MS,
        lateness=LATENESS_MS,
        late_to="side",
        **changes,
    )


def spread(of: Scenario) -> Scenario:
    """Deal the events to 8 partitions, read by 4 subtasks, for 4 window tasks."""
    events = tuple(replace(event, partition=number % 8) for number, event in enumerate(of.events))
    return replace(of, events=events, generated=None, subtasks=4, window_tasks=4)


def guarded(of: Scenario) -> Scenario:
    """Add a checkpoint every five minutes, and a crash in the middle."""
    middle_ms = of.events[len(of.events) // 2].arrival_time_ms
    return of.replace(checkpoints="5 min", happenings=[{"what": "crash", "at": middle_ms}])


def questions_ms(trace: Trace) -> tuple[float, float]:
    """Time the value of a subject, and the whole state, at random steps; what is built once is built before."""
    steps = [random.Random(7).randrange(trace.steps) for _ in range(200)]
    trace.state(0)

    def each_ms(ask: object) -> float:
        begun = time.process_time()
        for step in steps:
            ask(step)  # type: ignore[operator]
        return (time.process_time() - begun) / len(steps) * 1000

    clock = ("clock", trace.window_clock)
    return each_ms(lambda step: trace.value_at(clock, step)), each_ms(trace.state)


def measure() -> dict[str, float]:
    """Measure everything once, by the names of `AIMS`."""
    one = stream()
    wide, keyed, safe, few = spread(one), stream(keys=EVENTS), guarded(one), guarded(stream(1_000))
    single, many, keys, checkpointed, short = seconds(
        lambda: simulate(one),
        lambda: simulate(wide),
        lambda: simulate(keyed),
        lambda: simulate(safe),
        lambda: [simulate(few) for _ in range(50)],
    )
    growth = (checkpointed / EVENTS) / (short / 50_000)
    found = (many / single, keys / single, checkpointed / single, growth, *questions_ms(simulate(safe)))
    return dict(zip(AIMS, found, strict=True))


def main() -> int:
    """Print each measure beside its aim; 1 if one is missed."""
    measures = measure()
    for name, found in measures.items():
        print(f"{name:66} {found:6.2f}  aim {AIMS[name]:g}{'' if found <= AIMS[name] else '  MISSED'}")
    return int(any(found > AIMS[name] for name, found in measures.items()))


if __name__ == "__main__":
    sys.exit(main())
