"""Let the engine run on a learner's rule of when a source has to wait for slower ones."""

from __future__ import annotations

from typing import Any

from wmviz.course.answers import AnswerError
from wmviz.course.harness import _called, _made
from wmviz.engine.alignment import AlignmentOutput, SourceOperatorAlignment
from wmviz.engine.parts import Parts
from wmviz.engine.simulate import simulate
from wmviz.scenario import Scenario
from wmviz.trace import Trace


def run_aligned(own: Any, scenario: Scenario) -> Trace:
    """Run a job whose sources wait when a class of your own says so.

    Parameters
    ----------
    own
        A class with ``on_sample(watermark_ms)``, which is told the watermark of the source once in every interval, and
        ``must_wait(limit_ms)``, which says whether the source has to wait with this limit. It is made for each source
        subtask, with the number of samples that count.
    scenario
        The stream and the rest of the job; each source subtask reads one partition.

    Returns
    -------
    Trace
        What the job does on it.

    Raises
    ------
    AnswerError
        If what you wrote raises an error or gives something of the wrong kind; the message says where.
    """
    if scenario.partition_count > scenario.subtasks:
        raise AnswerError(f"In {scenario.name} a subtask reads several partitions; give a job in which each reads one.")
    return simulate(scenario, parts=Parts(alignment=lambda out, samples: _Alignment(own, out, samples)))


class _Alignment(SourceOperatorAlignment):
    """A learner's rule; what to report stays the engine's."""

    def __init__(self, maker: Any, out: AlignmentOutput, samples: int) -> None:
        super().__init__(out, samples)
        self._own = _made(maker, samples, "on_sample", "must_wait")

    def sample(self) -> int | None:
        """Tell the learner's rule the watermark of now."""
        if not self._is_finished:
            _called(self._own.on_sample, "on_sample", self._sampler.latest_ms)
        return super().sample()

    def split_watermark(self, split: str, watermark_ms: int) -> None:
        """Take no notice: a single partition waits when its subtask does."""

    def _is_too_far(self) -> bool:
        waits = _called(self._own.must_wait, "must_wait", self._max_allowed_ms)
        if not isinstance(waits, bool) and type(waits).__name__ not in ("bool_", "bool"):
            raise AnswerError(f"must_wait gives {waits!r}. Let it return True or False.")
        return bool(waits)
