"""What all drivers share: the outputs of a case, its refusals, and what to say of a step that is not known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Params = Mapping[str, Any]
Steps = Sequence[Mapping[str, Any]]
Output = dict[str, Any]
Driver = Callable[[Params, Steps], list[Output]]

REFUSALS = (ValueError, RuntimeError, ArithmeticError)
"""What the engine raises where Flink's job would fail. Anything else is a fault of ours."""


class NotBuiltError(Exception):
    """The engine has no such piece yet; the message says which."""


class Outbox:
    """Collects what comes out, each with the step that caused it."""

    def __init__(self) -> None:
        self.outputs: list[Output] = []
        self.step = 0

    def put(self, **output: Any) -> None:
        """Note one output."""
        self.outputs.append({"step": self.step, **output})

    def error(self, error: Exception) -> None:
        """Note a refusal."""
        self.put(error=type(error).__name__)

    def watermark(self, watermark_ms: int) -> None:
        """Note a watermark."""
        self.put(watermark=watermark_ms)

    def idle(self) -> None:
        """Note that the stream goes idle."""
        self.put(status="idle")

    def active(self) -> None:
        """Note that the stream is active again."""
        self.put(status="active")


def unknown(step: Mapping[str, Any]) -> NotBuiltError:
    """Say that a driver does not know a step; that is never a refusal by the engine."""
    return NotBuiltError(f"op {step.get('op')!r} is not known in this mechanism")
