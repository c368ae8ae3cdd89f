"""Let the engine run on a piece that a learner wrote."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from wmviz.course.answers import AnswerError
from wmviz.engine.simulate import simulate
from wmviz.scenario import Scenario
from wmviz.trace import Trace


def run_with(maker: Any, scenario: Scenario) -> Trace:
    """Run a scenario on a watermark generator of your own, in place of Flink's.

    Parameters
    ----------
    maker
        A class with ``on_event(timestamp_ms)`` and ``on_periodic_emit()``; it is made with the bound in ms.
    scenario
        The stream and the rest of the job.

    Returns
    -------
    Trace
        What the job does on these watermarks.

    Raises
    ------
    AnswerError
        If the class raises an error or gives no whole number; the message says where.
    """
    return simulate(scenario, generator=_Checked(maker, scenario.bound_ms))


class _Checked:
    """Passes each call on; what goes wrong inside becomes a sentence, not a traceback through the engine."""

    def __init__(self, maker: Any, bound_ms: int) -> None:
        if not isinstance(maker, type):
            raise AnswerError("Give the class itself, without brackets: it is made anew for each stream.")
        self._own = self._call(maker, "__init__", bound_ms)
        for name in ("on_event", "on_periodic_emit"):
            if not callable(getattr(self._own, name, None)):
                raise AnswerError(f"The class has no method {name}.")

    def on_event(self, timestamp_ms: int) -> None:
        """Pass an event on."""
        self._call(self._own.on_event, "on_event", timestamp_ms)

    def on_periodic_emit(self) -> int:
        """Ask for the watermark, and look at what comes."""
        watermark_ms = self._call(self._own.on_periodic_emit, "on_periodic_emit")
        if watermark_ms is None or watermark_ms is ...:
            raise AnswerError("on_periodic_emit gives no watermark so far. Let it return one, in milliseconds.")
        if isinstance(watermark_ms, float) and watermark_ms.is_integer():
            return int(watermark_ms)
        if isinstance(watermark_ms, bool) or not isinstance(watermark_ms, Integral):
            raise AnswerError(
                f"on_periodic_emit gives {watermark_ms!r}. A watermark is a whole number of milliseconds."
            )
        return int(watermark_ms)

    @staticmethod
    def _call(method: Any, name: str, *arguments: int) -> Any:
        try:
            return method(*arguments)
        except Exception as error:  # noqa: BLE001 - it is the learner's code, anything may come out of it
            raise AnswerError(f"{name} stops with {type(error).__name__}: {error}") from None
