"""Channels that hold elements: where a source subtask of a running job sends, and how a window task takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, Protocol

from wmviz.engine.barriers import (
    BarrierOutput,
    CheckpointBarrier,
    CheckpointBarrierHandler,
    CheckpointedInputGate,
    EndOfData,
    EndOfPartition,
)
from wmviz.engine.runtime_recording import RuntimeRecording
from wmviz.engine.tasks import WindowTask
from wmviz.engine.window_operator import PaneSnapshot


class Carries(Enum):
    """What an element is, beside barriers and the end."""

    RECORD = "record"
    WATERMARK = "watermark"
    IDLE = "idle"
    ACTIVE = "active"


class Element:
    """What travels in a channel.

    Attributes
    ----------
    carries, value
        What it is, and the event's index or the watermark.
    row
        The row of the trace that sent it.
    queued
        The row that says that it waits, or -1.
    """

    __slots__ = ("carries", "queued", "row", "value")

    def __init__(self, carries: Carries, value: int, row: int) -> None:
        self.carries, self.value, self.row = carries, value, row
        self.queued = -1


class TaskSnapshot:
    """What a checkpoint has of a window task.

    Attributes
    ----------
    panes
        The state of its windows and their timers.
    watermark_ms
        Its watermark; only SQL's windows go on with it.
    transactions
        What its sink is to commit.
    in_flight
        Elements of its channels, for an unaligned checkpoint.
    """

    def __init__(self, panes: Sequence[PaneSnapshot], watermark_ms: int, transactions: Sequence[int]) -> None:
        self.panes, self.watermark_ms, self.transactions = panes, watermark_ms, transactions
        self.in_flight: Mapping[int, list[Element]] = {}


class TaskOwner(Protocol):
    """The job, as its window tasks see it."""

    recorder: RuntimeRecording
    given_up: set[int]
    """Checkpoints that the coordinator has given up."""

    def busy(self, task: TaskInput) -> None:
        """Tell that a task needs time for the event that it has taken."""

    def room(self, channel: int) -> None:
        """Tell that a source subtask has one element less in a channel."""

    def acknowledge(self, checkpoint_id: int, place: int, state: Any) -> None:
        """Hand in the snapshot of a task."""

    def decline(self, checkpoint_id: int, reason: str) -> None:
        """Tell that a task gives a checkpoint up."""

    def finished(self, task: TaskInput) -> None:
        """Tell that a task has come to the end of all its channels."""


class TaskInput:
    """A window task behind its input gate: takes one element after the other, and takes snapshots at barriers.

    Parameters
    ----------
    task
        The task itself.
    owner
        The job.
    mode
        How barriers are handled; see `CheckpointedInputGate`.
    channels, capacity
        How many channels there are, and how much each holds (0: no limit).
    work_ms
        Time that it needs for an event.
    deliver
        Hands an event to a task, given its index.
    new_handler
        Makes a barrier handler of one's own in place of that of the mode.

    Notes
    -----
    Flink 2.3.0: OneInputStreamTask, StreamTaskNetworkInput, SubtaskCheckpointCoordinatorImpl.
    """

    def __init__(
        self,
        task: WindowTask,
        owner: TaskOwner,
        mode: str,
        channels: int,
        capacity: int,
        work_ms: int,
        deliver: Callable[[WindowTask, int], None],
        new_handler: Callable[[int, BarrierOutput], CheckpointBarrierHandler] | None = None,
    ) -> None:
        self.task, self.place = task, task.place
        self.gate = CheckpointedInputGate(channels, self, mode=mode, capacity=capacity or None, new_handler=new_handler)
        self.busy_until_ms: int | None = None
        self.is_finished = False
        self._owner, self._recorder, self._work_ms, self._deliver = owner, owner.recorder, work_ms, deliver
        self._open = channels
        self._current = 0
        self._unaligned: dict[int, TaskSnapshot] = {}
        self._queued_barriers: dict[tuple[int, int], int] = {}
        self._sent_barriers: dict[tuple[int, int], int] = {}

    def receive(self, channel: int, element: Element) -> None:
        """Let an element into a channel, and take it at once if nothing is in its way."""
        if self._must_wait(channel):
            waiting = self.gate.waiting(channel) + 1
            element.queued = self._recorder.queued(self._recorder.channel(self.place, channel), waiting, element.row)
        self.gate.receive(channel, element)
        self.drain()

    def receive_barrier(self, channel: int, barrier: CheckpointBarrier, row: int) -> None:
        """Let a barrier into a channel."""
        self._sent_barriers[channel, barrier.id] = row
        if self._must_wait(channel) and not barrier.is_unaligned:
            waiting = self.gate.waiting(channel) + 1
            queued = self._recorder.queued(self._recorder.channel(self.place, channel), waiting, row)
            self._queued_barriers[channel, barrier.id] = queued
        self._at_time()
        self.gate.receive(channel, barrier)
        self.drain()

    def receive_end(self, channel: int, *, of_data: bool) -> None:
        """Let the end of a channel into it, or first that of its data."""
        self.gate.receive(channel, EndOfData() if of_data else EndOfPartition())
        self.drain()

    def _must_wait(self, channel: int) -> bool:
        return self.busy_until_ms is not None or self.gate.is_blocked(channel) or self.gate.waiting(channel) > 0

    def drain(self) -> None:
        """Take what can be taken, up to an event that keeps the task busy."""
        while self.busy_until_ms is None and self.gate.poll_in_turn():
            pass

    def work_done(self) -> None:
        """Go on: the event is worked on."""
        self.busy_until_ms, self.gate.is_held = None, False
        self._at_time()
        self.drain()

    def gate_timer(self) -> None:
        """Let the machine's clock reach the timer of the gate."""
        self._at_time()
        self.drain()

    def _at_time(self) -> None:
        self.gate.advance(self._recorder.at_ms)

    def snapshot(self, checkpoint_id: int) -> TaskSnapshot:
        """Take the snapshot: content of windows, timers, what the sink has to commit."""
        operator = self.task.operator
        panes = operator.snapshot()
        self._recorder.window_snapshot(self.place, checkpoint_id, panes)
        transactions: Sequence[int] = ()
        sink = self._recorder.sink_of(self.place)
        if sink is not None:
            transactions = sink.pre_commit(checkpoint_id, self._recorder.at_ms)
        return TaskSnapshot(panes, operator.watermark_ms, transactions)

    # ------------------------------------------------- GateOutput

    def process(self, channel: int, item: Element) -> None:
        """An element comes to the operator."""
        recorder = self._recorder
        if item.queued >= 0:
            recorder.waited(recorder.channel(self.place, channel), self.gate.waiting(channel), item.queued)
        recorder.cause = item.row
        match item.carries:
            case Carries.RECORD:
                self._deliver(self.task, item.value)
                if self._work_ms:
                    self.busy_until_ms = recorder.at_ms + self._work_ms
                    self.gate.is_held = True
                    self._owner.busy(self)
            case Carries.WATERMARK:
                self.task.receive_watermark(channel, item.value)
            case _:
                self.task.receive_status(channel, idle=item.carries is Carries.IDLE)
        self._owner.room(channel)

    def reached(self, channel: int, barrier: CheckpointBarrier) -> None:
        """A barrier comes to the operator, or overtakes."""
        recorder, which = self._recorder, (channel, barrier.id)
        index = recorder.channel(self.place, channel)
        queued = self._queued_barriers.pop(which, -1)
        if queued >= 0:
            recorder.waited(index, self.gate.waiting(channel), queued)
        recorder.barrier(self.place, index, barrier.id, self._sent_barriers.pop(which, -1))
        self._current = barrier.id

    def blocked(self, channel: int) -> None:
        """A channel waits for the barriers of the others."""
        self._recorder.blocked(self.place, self._recorder.channel(self.place, channel), self._current)

    def resumed(self, channel: int) -> None:
        """A channel goes on."""
        self._recorder.blocked(self.place, self._recorder.channel(self.place, channel), 0)

    def triggered(self, barrier: CheckpointBarrier) -> None:
        """Take the snapshot; that of an unaligned checkpoint is handed in with what is in flight."""
        if barrier.id in self._owner.given_up:
            return
        snapshot = self.snapshot(barrier.id)
        if barrier.is_unaligned:
            self._unaligned[barrier.id] = snapshot
        else:
            self._owner.acknowledge(barrier.id, self.place, snapshot)

    def aborted(self, checkpoint_id: int, reason: str) -> None:
        """Give a checkpoint up."""
        self._unaligned.pop(checkpoint_id, None)
        self._owner.decline(checkpoint_id, reason)

    def in_flight(self, checkpoint_id: int, channels: dict[int, list[Any]]) -> None:
        """Hand in the snapshot of an unaligned checkpoint."""
        snapshot = self._unaligned.pop(checkpoint_id, None)
        if snapshot is None:
            return
        snapshot.in_flight = channels
        self._recorder.stored(self.place, checkpoint_id, channels)
        self._owner.acknowledge(checkpoint_id, self.place, snapshot)

    def ended(self, channel: int) -> None:
        """A channel has ended; all that it had to say was said before."""

    def data_ended(self, channel: int) -> None:
        """The data of a channel has ended."""
        self._open -= 1
        if not self._open:
            self.is_finished = True
            self._owner.finished(self)
