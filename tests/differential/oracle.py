"""Many conformance cases in one call: on Flink's own classes, on ours, and a disagreement made small."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from tests.semantics.cases import outputs, same
from wmviz.flink import startup

Case = dict[str, Any]
Output = dict[str, Any]
RUNS = frozenset({"idleness", "multiplexer", "valve", "two_input", "sql_watermark_assigner", "window_assigner"})
"""Mechanisms that the oracle knows."""


class Oracle:
    """Flink's own classes, driven by a Java class compiled on the spot."""

    def __init__(self) -> None:
        gateway = startup.job().get_gateway()
        compiler = gateway.jvm.org.codehaus.janino.SimpleCompiler()
        compiler.cook(Path(__file__).with_name("Oracle.java").read_text(encoding="utf-8"))
        made = compiler.getClassLoader().loadClass("differential.Oracle")
        none = gateway.new_array(gateway.jvm.Class, 0)
        self._oracle = made.getConstructor(none).newInstance(gateway.new_array(gateway.jvm.Object, 0))

    def outputs(self, cases: Sequence[Case]) -> list[list[Output]]:
        """Give all that came out of each case."""
        answers = self._oracle.apply("\n".join(map(case_line, cases))).split("\n")
        return [[_output(text) for text in line.split("\t") if text] for line in answers[: len(cases)]]


def case_line(case: Case) -> str:
    return "\t".join([case["mechanism"], _pairs(case.get("params", {})), *map(_pairs, case["input"])])


def _pairs(values: dict[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items()) or "op=ask"


def _output(text: str) -> Output:
    step, what, value = text.split(" ")
    read: dict[str, Callable[[str], Any]] = {"watermark": int, "windows": _windows}
    return {"step": int(step), what: read.get(what, str)(value)}


def _windows(text: str) -> list[Any]:
    windows = filter(None, text.split(","))
    return ["global" if window == "global" else [int(end) for end in window.split(":")] for window in windows]


def disagreement(cases: Iterable[Case], ask: Callable[[Sequence[Case]], list[list[Output]]]) -> str | None:
    """Find the first case on which Flink and our engine differ, and take away every step that it does not need.

    Parameters
    ----------
    cases
        What to compare.
    ask
        Runs cases on Flink.

    Returns
    -------
    str or None
        A case as it would stand in ``tests/semantics/cases/ours``, and what our engine gives; None if all agree.
    """
    differing = _differing(list(cases), ask)
    if differing is None:
        return None
    while (smaller := _differing(_shorter(differing), ask)) is not None:
        differing = smaller
    (flink,) = ask([differing])
    return json.dumps({**differing, "expected": flink}) + f"\nour engine gives {json.dumps(outputs(differing))}"


def _differing(cases: Sequence[Case], ask: Callable[[Sequence[Case]], list[list[Output]]]) -> Case | None:
    if not cases:
        return None
    answers = zip(cases, ask(cases), strict=True)
    return next((case for case, flink in answers if not same(flink, outputs(case))), None)


def _shorter(case: Case) -> list[Case]:
    """Give the case without half of its steps, a quarter, and so on down to each single one."""
    steps = case["input"]
    shorter, length = [], len(steps) // 2
    while length:
        shorter += [
            {**case, "input": steps[:first] + steps[first + length :]} for first in range(0, len(steps), length)
        ]
        length //= 2
    return [smaller for smaller in shorter if len(smaller["input"]) < len(steps)]
