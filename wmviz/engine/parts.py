"""What a job is built of: Flink's rules, or pieces of one's own in their place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from wmviz.engine.alignment import AlignmentOutput, SourceOperatorAlignment
from wmviz.engine.barriers import BarrierOutput, CheckpointBarrierHandler
from wmviz.engine.valve import StatusWatermarkValve
from wmviz.engine.watermarks import Downstream, WatermarkGenerator
from wmviz.engine.window_operator import WindowOperator


@dataclass(frozen=True)
class Parts:
    """The pieces that can be exchanged; each default is the engine's own.

    Attributes
    ----------
    generator
        In place of that of the strategy.
    valve
        Makes what stands before an operator with several channels, given their number and where to send.
    window_operator
        In place of `WindowOperator`; session windows keep theirs.
    barrier_handler
        Makes what deals with the barriers of a task's channels, given their number and whom to tell.
    alignment
        Makes what lets a source subtask wait for slower ones, given whom to tell and the number of samples.
    """

    generator: WatermarkGenerator | None = None
    valve: Callable[[int, Downstream], StatusWatermarkValve] = StatusWatermarkValve
    window_operator: type[WindowOperator] = WindowOperator
    barrier_handler: Callable[[int, BarrierOutput], CheckpointBarrierHandler] | None = None
    alignment: Callable[[AlignmentOutput, int], SourceOperatorAlignment] = SourceOperatorAlignment
