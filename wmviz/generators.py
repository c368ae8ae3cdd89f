"""Seeded generators: a large scenario names one of these instead of listing its events.

A generator is a function of keyword arguments that gives rows [key, value, event time, arrival time]; the same
arguments give the same rows on every machine.
"""

from __future__ import annotations

import inspect
import random
from bisect import bisect_left
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from wmviz.times import MAX_MS, MIN_MS, duration_ms, shown, time_ms

Row = tuple[str, int, int, int]
MOST_EVENTS = 5_000_000


def generate(spec: Mapping[str, Any]) -> list[Row]:
    """Run the generator that a scenario names.

    Parameters
    ----------
    spec
        ``{"generate": name, ...}`` with the arguments of that generator, ``"seed"`` among them.

    Returns
    -------
    list of (key, value, event time in ms, arrival time in ms)
        In order of arrival.

    Raises
    ------
    ValueError
        If there is no such generator, or an argument is unknown or wrong; the message is a sentence.
    """
    arguments = dict(spec)
    name = arguments.pop("generate", None)
    if not isinstance(name, str) or name not in GENERATORS:
        raise ValueError(f"there is no generator {shown(name)}; write one of {', '.join(GENERATORS)}")
    known = inspect.signature(GENERATORS[name]).parameters
    for argument, value in arguments.items():
        if argument not in known:
            raise ValueError(f"generator {name} takes no {shown(argument)}; write one of {', '.join(known)}")
        if isinstance(known[argument].default, int) and (not isinstance(value, int) or isinstance(value, bool)):
            raise ValueError(f"{argument} is {shown(value)}; write a whole number")
        if argument in ("runners", "events", "keys") and not 0 < value <= MOST_EVENTS:
            raise ValueError(f"{argument} is {shown(value)}; write a number from 1 to {MOST_EVENTS}")
    rows = sorted(GENERATORS[name](**arguments), key=lambda row: row[3])
    if rows and not (min(row[2] for row in rows) > MIN_MS and rows[-1][3] < MAX_MS):
        raise ValueError("the times of the events leave the 64-bit range; write a start nearer to the epoch")
    return rows


def runs(
    runners: int = 22_000,
    seed: int = 7,
    start: str | int = "6:00",
    end: str | int = "10:00",
    lag: tuple[tuple[float, str | int], ...] | list[list[Any]] = (
        (0.5, "5 s"),
        (0.97, "2 min"),
        (0.995, "20 min"),
        (1, "3 h"),
    ),
) -> list[Row]:
    """Make a morning of runners: each starts at some time, runs 3 to 15 km, and sends 1,000 m with every kilometre.

    Parameters
    ----------
    lag
        Quantiles of the time from the phone to the server, as (share, lag) pairs; lags in between are spread evenly.
    """
    rng = random.Random(seed)
    start_ms, end_ms, quantiles = time_ms(start), time_ms(end), _quantiles(lag)
    if end_ms <= start_ms:
        raise ValueError(f"end is {end!r}; write a time after the start, {start!r}")
    rows = []
    for runner in range(1, runners + 1):
        pace_ms = rng.randint(270_000, 480_000)
        at_ms = rng.randint(start_ms, end_ms - 1)
        for _ in range(rng.randint(3, 15)):
            at_ms += pace_ms + rng.randint(-15_000, 15_000)
            if at_ms >= end_ms:
                break
            rows.append((f"r{runner}", 1000, at_ms, at_ms + _draw_ms(rng, quantiles)))
    return rows


def steady(
    events: int = 1_000,
    keys: int = 10,
    seed: int = 7,
    start: str | int = "6:00",
    spacing: str | int = "1 s",
    disorder: str | int = "10 s",
) -> list[Row]:
    """Make a steady stream: one arrival every `spacing`, each event up to `disorder` old, keys and values are drawn."""
    rng = random.Random(seed)
    start_ms, spacing_ms, disorder_ms = time_ms(start), duration_ms(spacing), duration_ms(disorder)
    if spacing_ms < 0 or disorder_ms < 0:
        raise ValueError("spacing and disorder are durations, 0 or more")
    rows = []
    for index in range(events):
        arrival_ms = start_ms + index * spacing_ms
        key = f"k{rng.randrange(keys)}"
        rows.append((key, rng.randint(1, 100), arrival_ms - rng.randint(0, disorder_ms), arrival_ms))
    return rows


GENERATORS: dict[str, Callable[..., list[Row]]] = {"runs": runs, "steady": steady}


def _quantiles(lag: Any) -> list[tuple[float, int]]:
    try:
        pairs = [(float(share), size) for share, size in lag]
    except (TypeError, ValueError):
        raise ValueError('lag is a list of pairs: [[0.97, "2 min"], [1, "3 h"]]') from None
    points = [(0.0, 0), *((share, duration_ms(size)) for share, size in pairs)]
    rising = all(low <= high for pair in pairwise(points) for low, high in zip(*pair, strict=True))
    if not rising or points[-1][0] != 1:
        raise ValueError('lag is a list of rising pairs that ends with share 1: [[0.97, "2 min"], [1, "3 h"]]')
    return points


def _draw_ms(rng: random.Random, quantiles: list[tuple[float, int]]) -> int:
    share = rng.random()
    upper = max(1, bisect_left(quantiles, (share, 0)))
    (low, low_ms), (high, high_ms) = quantiles[upper - 1], quantiles[upper]
    return low_ms + int((high_ms - low_ms) * (share - low) / (high - low)) if high > low else high_ms
