"""Drivers of barriers, of the timing of checkpoints, and of watermark alignment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.semantics.outbox import REFUSALS, Outbox, Output, Params, Steps, unknown
from wmviz.engine.alignment import SourceCoordinator, SourceOperatorAlignment, WatermarkAggregator
from wmviz.engine.barriers import (
    Alignment,
    CancelCheckpointMarker,
    CheckpointBarrier,
    CheckpointedInputGate,
    EndOfPartition,
)
from wmviz.engine.checkpoints import Checkpoint, CheckpointCoordinator, CheckpointSettings
from wmviz.times import MAX_MS

Step = Mapping[str, Any]

MODES = {"unaligned": "alternating", "strictly_unaligned": "unaligned"}
"""A job with unaligned checkpoints runs the alternating handler; whether it waits is said by the barriers."""


class _GateOutbox(Outbox):
    """Notes what an input gate tells."""

    def process(self, channel: int, item: Any) -> None:
        self.put(process={"ch": channel, "item": item})

    def reached(self, channel: int, barrier: CheckpointBarrier) -> None: ...

    def blocked(self, channel: int) -> None:
        self.put(block=channel)

    def resumed(self, channel: int) -> None:
        self.put(resume=channel)

    def triggered(self, barrier: CheckpointBarrier) -> None:
        self.put(trigger={"id": barrier.id, "mode": "unaligned" if barrier.is_unaligned else "aligned"})

    def aborted(self, checkpoint_id: int, reason: str) -> None:
        self.put(abort={"id": checkpoint_id, "reason": reason})

    def in_flight(self, checkpoint_id: int, channels: dict[int, list[Any]]) -> None:
        named = {str(channel): items for channel, items in channels.items()}
        self.put(inflight={"id": checkpoint_id, "channels": named})

    def ended(self, channel: int) -> None: ...


def _element(step: Step, now_ms: int) -> Any:
    """Give what arrives. A barrier that does not say when its checkpoint began has had no delay upstream."""
    if "barrier" in step:
        alignment = Alignment(step.get("kind", "aligned"))
        return CheckpointBarrier(
            step["barrier"], alignment, step.get("timeout_ms", 0), step.get("created_at_ms", now_ms)
        )
    if "cancel" in step:
        return CancelCheckpointMarker(step["cancel"])
    return EndOfPartition() if step.get("end") else step["item"]


def barriers(params: Params, steps: Steps, make: type[CheckpointedInputGate] = CheckpointedInputGate) -> list[Output]:
    """Run the input gate of a task."""
    outbox = _GateOutbox()
    mode: str = params.get("mode", "aligned")
    # The flag about finished tasks goes by more than one name.
    after_finish = all(value for name, value in params.items() if "finish" in name)
    try:
        gate = make(params["channels"], outbox, mode=MODES.get(mode, mode), checkpoints_after_finish=after_finish)
        now_ms = params.get("clock_start_ms", 0)
        gate.advance(now_ms)
        for outbox.step, step in enumerate(steps):
            drains = params.get("auto_drain", True)
            match step["op"]:
                case "arrive":
                    gate.receive(step["ch"], _element(step, now_ms))
                case "clock":
                    now_ms = step["at_ms"]
                    gate.advance(now_ms)
                case "poll":
                    gate.poll(step["ch"])
                case "drain":
                    drains = True
                case _:
                    raise unknown(step)
            while drains and gate.poll_next():
                pass
    except REFUSALS as error:
        outbox.error(error)  # the job has failed; nothing follows
    return outbox.outputs


class _Schedule:
    """Notes when checkpoints start; a schedule has no steps."""

    def __init__(self) -> None:
        self.outputs: list[Output] = []

    def triggered(self, checkpoint: Checkpoint) -> None:
        self.outputs.append({"trigger": checkpoint.id, "at_ms": checkpoint.started_ms})

    def completed(self, checkpoint: Checkpoint) -> None: ...
    def failed(self, checkpoint: Checkpoint) -> None: ...


def checkpoint_scheduling(params: Params, steps: Steps) -> list[Output]:
    """Run the coordinator through the ends of its checkpoints, and on until no more can start."""
    schedule = _Schedule()
    settings = CheckpointSettings(
        params["interval_ms"], params.get("min_pause_ms", 0), params.get("max_concurrent", 1), timeout_ms=MAX_MS
    )
    coordinator = CheckpointCoordinator(settings, ["task"], schedule)
    coordinator.start(0, params.get("first_trigger_ms"))
    for step in steps:
        match step["op"]:
            case "complete":
                coordinator.acknowledge(step["id"], "task", None, step["at_ms"])
            case "fail":
                coordinator.decline(step["id"], "CHECKPOINT_DECLINED", step["at_ms"])
            case _:
                raise unknown(step)
    while len(coordinator.pending) < settings.max_concurrent and (due_ms := coordinator.next_time_ms) is not None:
        coordinator.advance(due_ms)
    return schedule.outputs


class _ReaderOutbox(Outbox):
    """Notes whether a reader waits."""

    def paused(self) -> None:
        self.put(reader="paused")

    def resumed(self) -> None:
        self.put(reader="resumed")

    def splits_paused(self, splits: list[str]) -> None:
        self.put(splits_paused=splits)

    def splits_resumed(self, splits: list[str]) -> None:
        self.put(splits_resumed=splits)


class _Groups:
    """The sources of all alignment groups."""

    def __init__(self, max_drift_ms: int) -> None:
        self._max_drift_ms = max_drift_ms
        self._groups: dict[str, WatermarkAggregator] = {}
        self._sources: dict[tuple[str, str], SourceCoordinator] = {}

    def report(self, step: Step) -> None:
        """Take in what a subtask of a source reports."""
        group, name = step.get("group", ""), step.get("source", "")
        if (group, name) not in self._sources:
            shared = self._groups.setdefault(group, WatermarkAggregator())
            self._sources[group, name] = SourceCoordinator(name, shared, self._max_drift_ms)
        watermark_ms = MAX_MS if step.get("idle") or step.get("finished") else step["wm"]
        self._sources[group, name].report(step.get("subtask", 0), watermark_ms)

    def announced(self, step: Step) -> int | None:
        """Give what the sources of a group are told; all of them are told the same."""
        names = [key for key in self._sources if key[0] == step.get("group", "")]
        return self._sources[names[0]].announce() if names else None


def watermark_alignment(params: Params, steps: Steps) -> list[Output]:
    """Run the coordinator's side and the reader's; a case uses one of them."""
    outbox = _ReaderOutbox()
    try:
        groups = _Groups(params.get("max_drift_ms", 0))
        reader = SourceOperatorAlignment(outbox, params.get("buffer_size", 3))
        for outbox.step, step in enumerate(steps):
            match step["op"]:
                case "report":
                    groups.report(step)
                case "announce":
                    allowed_ms = groups.announced(step)
                    if allowed_ms is not None:
                        outbox.put(max_allowed=allowed_ms)
                case "reader_watermark":
                    reader.watermark(step["wm"])
                case "sample":
                    reader.sample()
                case "max_allowed":
                    reader.max_allowed(step["wm"])
                case _:
                    raise unknown(step)
    except REFUSALS as error:
        outbox.error(error)
    return outbox.outputs
