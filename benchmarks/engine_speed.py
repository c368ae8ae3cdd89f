"""The reference engine against a bare loop, and its growth: ``python -m benchmarks.engine_speed``.

The bare loop is what one would write by hand for this one job, with the same firings and the same contents. All
numbers are ratios within one run, since machines differ.
"""

from __future__ import annotations

import gc
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from heapq import heappop, heappush

from wmviz import Scenario, simulate

BOUND_MS, SIZE_MS, LATENESS_MS = 120_000, 3_600_000, 1_200_000
REPEATS = 5
AIMS = {
    "results only, times a bare loop": 3.0,
    "full trace, times a bare loop": 8.0,
    "time per event, 1,000,000 against 1,000 events": 1.5,
    "full trace of 1,000,000 events, GB": 1.0,
}

Firing = tuple[str, int, int, list[int], int, int]


def scenario(events: int) -> Scenario:
    """Make the leaderboard's job over a steady stream: an event a second, out of order within five minutes.

    However many events there are, an hour has the same number of them, so the work per event is the same.
    """
    stream = {"generate": "steady", "events": events, "keys": 100, "spacing": "1 s", "disorder": "5 min"}
    return Scenario.of(
        name="speed", events=stream, bound=BOUND_MS, window=SIZE_MS, lateness=LATENESS_MS, late_to="side"
    )


def bare(of: Scenario) -> tuple[list[Firing], list[int]]:
    """Run the job as a hand-written loop.

    Returns
    -------
    tuple of (list of firings, list of int)
        (key, start, value, events, how many of them, watermark) of each firing, and the late events.
    """
    windows: dict[int, dict[str, list]] = {}
    timers: list[tuple[int, int, bool]] = []
    firings: list[Firing] = []
    late: list[int] = []
    watermark = newest = -(2**63)
    for index, event in enumerate(of.events):
        time_ms = event.event_time_ms
        start = time_ms - time_ms % SIZE_MS
        by_key = windows.get(start)
        if by_key is None and start + SIZE_MS - 1 + LATENESS_MS > watermark:
            by_key = windows[start] = {}
            heappush(timers, (start + SIZE_MS - 1, start, False))
            heappush(timers, (start + SIZE_MS - 1 + LATENESS_MS, start, True))
        if by_key is None:
            late.append(index)
        else:
            state = by_key.get(event.key)
            if state is None:
                state = by_key[event.key] = [0, []]
            state[0] += event.value
            state[1].append(index)
            if start + SIZE_MS - 1 <= watermark:
                firings.append((event.key, start, state[0], state[1], len(state[1]), watermark))
        if time_ms > newest:
            newest = time_ms
            watermark = newest - BOUND_MS - 1
            while timers and timers[0][0] <= watermark:
                _, start, gone = heappop(timers)
                if gone:
                    del windows[start]
                    continue
                for key, (value, content) in windows[start].items():
                    firings.append((key, start, value, content, len(content), watermark))
    return firings, late


def same_firings(of: Scenario) -> bool:
    """Say whether the bare loop and the engine fire the same windows with the same contents."""
    firings, late = bare(of)
    ids = [event.id for event in of.events]
    by_hand = [
        (key, start, value, tuple(ids[event] for event in sorted(content[:size])), watermark)
        for key, start, value, content, size, watermark in firings
    ]
    trace = simulate(of, trace="results")
    engine = [(f.key, f.window.start_ms, f.value, f.event_ids, f.watermark_ms) for f in trace.all_firings]
    return sorted(by_hand) == sorted(engine) and {ids[event] for event in late} == trace.outcomes().late


def seconds(*jobs: Callable[[], object]) -> list[float]:
    """Time jobs against each other: the best of several rounds of each, taken in turn."""
    best = [float("inf")] * len(jobs)
    for _ in range(REPEATS):
        for number, job in enumerate(jobs):
            gc.collect()
            begun = time.process_time()  # not the wall clock: other work on the machine must not count
            job()
            best[number] = min(best[number], time.process_time() - begun)
    return best


def memory_gb(events: int) -> float:
    """Give the peak memory of a process that makes the events and their full trace."""
    code = f"import benchmarks.engine_speed as b; b.simulate(b.scenario({events})); print(b.peak_gb())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def peak_gb() -> float:
    """Give the peak memory of this process; Linux counts it in KiB, macOS in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**30 if sys.platform == "darwin" else 2**20)


def measure() -> dict[str, float]:
    """Measure everything once.

    Returns
    -------
    dict of str to float
        The measures, by the names of `AIMS`.
    """
    day = scenario(100_000)
    if not same_firings(day):
        raise RuntimeError("the bare loop and the engine differ: this benchmark compares nothing")
    by_hand, results, full = seconds(lambda: bare(day), lambda: simulate(day, trace="results"), lambda: simulate(day))
    small, large = scenario(1_000), scenario(1_000_000)
    few, many = seconds(lambda: [simulate(small) for _ in range(50)], lambda: simulate(large))
    found = (results / by_hand, full / by_hand, (many / 1_000_000) / (few / 50_000), memory_gb(1_000_000))
    return dict(zip(AIMS, found, strict=True))


def main() -> int:
    """Print each measure beside its aim; 1 if one is missed."""
    measures = measure()
    for name, found in measures.items():
        print(f"{name:50} {found:6.2f}  aim {AIMS[name]:g}{'' if found <= AIMS[name] else '  MISSED'}")
    if "--json" in sys.argv:
        print(json.dumps(measures))
    return int(any(found > AIMS[name] for name, found in measures.items()))


if __name__ == "__main__":
    sys.exit(main())
