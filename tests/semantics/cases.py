"""Conformance cases: reading them, running them, and comparing what came with what was expected."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from tests.semantics.mechanisms import DRIVERS
from tests.semantics.outbox import NotBuiltError

FOLDER = Path(__file__).parent / "cases"
Case = dict[str, Any]
Output = dict[str, Any]


def files() -> list[Path]:
    """List the case files: the given ones and, in ``ours``, those added later."""
    return sorted(FOLDER.rglob("*.json"))


def load(path: Path) -> list[Case]:
    """Read the cases of a file."""
    cases = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(cases, list) or not all(isinstance(case, dict) and "id" in case for case in cases):
        raise ValueError(f"{path} is no list of cases, each with an id")
    return cases


def outputs(case: Case) -> list[Output]:
    """Run a case through the engine and give all that came out, in order."""
    mechanism = str(case["mechanism"])
    if mechanism not in DRIVERS:
        raise NotBuiltError(f"there is no mechanism {mechanism!r}; there is {', '.join(sorted(DRIVERS))}")
    return DRIVERS[mechanism](case.get("params") or {}, case["input"])


def same(expected: list[Output], came: list[Output]) -> bool:
    """Say whether two lists of outputs are the same, as far as Flink promises an order and a name."""
    if expected and all("trigger" in output and "at_ms" in output for output in expected):
        came = came[: len(expected)]  # a schedule goes on; a case lists its beginning
    return _settled(expected) == _settled(came)


def _settled(listed: list[Output]) -> list[Output]:
    """Drop what is free: the name of a refusal, and the order across keys of timers for the same time."""
    settled: list[Output] = []
    for _, group in groupby(listed, _at_one_time):
        settled += sorted(group, key=lambda output: output["fire"]["key"] if "fire" in output else "")
    return [{**output, "error": "any"} if "error" in output else output for output in settled]


def _at_one_time(output: Output) -> tuple[Any, ...]:
    fire = output.get("fire")
    if isinstance(fire, Mapping):
        window = fire["window"]
        return (output["step"], window if isinstance(window, str) else window[1])
    return (output.get("step"), json.dumps(output, sort_keys=True))
