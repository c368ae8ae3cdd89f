"""Checkpoint barriers at the inputs of a task: what blocks and resumes, when the snapshot is taken, what it holds.

The handlers are pure: barriers go in; block, resume, trigger and abort come out. `CheckpointedInputGate` puts one
behind the queues of the channels.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Protocol

SUBSUMED = "CHECKPOINT_DECLINED_SUBSUMED"
CANCELLED = "CHECKPOINT_DECLINED_ON_CANCELLATION_BARRIER"
INPUT_ENDED = "CHECKPOINT_DECLINED_INPUT_END_OF_STREAM"

_MOST_TRACKED = 50


class Alignment(Enum):
    """How a barrier is handled: CheckpointOptions.AlignmentType, with the timeout as a kind of its own."""

    ALIGNED = "aligned"
    TIMEOUTABLE = "timeoutable"
    UNALIGNED = "unaligned"


@dataclass(frozen=True)
class CheckpointBarrier:
    """A barrier of a checkpoint.

    Attributes
    ----------
    id
        Of the checkpoint.
    alignment
        How to handle it.
    timeout_ms
        For a timeoutable barrier: how long after `created_at_ms` it stays aligned.
    created_at_ms
        When the coordinator started the checkpoint, so that delays upstream count.

    Notes
    -----
    Flink 2.3.0: CheckpointBarrier with its CheckpointOptions.
    """

    id: int
    alignment: Alignment = Alignment.ALIGNED
    timeout_ms: int = 0
    created_at_ms: int = 0

    @classmethod
    def of(
        cls, checkpoint_id: int, created_at_ms: int, *, unaligned: bool, timeout_ms: int = 0, savepoint: bool = False
    ) -> CheckpointBarrier:
        """Make the barrier for a configuration (CheckpointOptions.forConfig): savepoints are always aligned."""
        if savepoint or not unaligned:
            return cls(checkpoint_id, created_at_ms=created_at_ms)
        alignment = Alignment.TIMEOUTABLE if timeout_ms else Alignment.UNALIGNED
        return cls(checkpoint_id, alignment, timeout_ms, created_at_ms)

    @property
    def is_unaligned(self) -> bool:
        """Whether it overtakes what is queued in front of it."""
        return self.alignment is Alignment.UNALIGNED

    @property
    def is_timeoutable(self) -> bool:
        """Whether it is announced, and becomes unaligned after a time."""
        return self.alignment is Alignment.TIMEOUTABLE and self.timeout_ms > 0

    def as_unaligned(self) -> CheckpointBarrier:
        """Give the same barrier as one that need not wait."""
        return self if self.is_unaligned else replace(self, alignment=Alignment.UNALIGNED)


@dataclass(frozen=True)
class CancelCheckpointMarker:
    """Says that a checkpoint has been given up upstream."""

    id: int


@dataclass(frozen=True)
class EndOfData:
    """Says that only barriers can follow in a channel: its sender waits for a last checkpoint."""


@dataclass(frozen=True)
class EndOfPartition:
    """Says that a channel has ended."""


class BarrierOutput(Protocol):
    """What a handler asks of the channels and of the task (Flink's CheckpointableInput and CheckpointableTask)."""

    def block_consumption(self, channel: int) -> None:
        """Leave what is behind the barrier of a channel where it is."""

    def resume_consumption(self, channel: int) -> None:
        """Let a channel go on, if it is blocked."""

    def convert_to_priority_event(self, channel: int) -> None:
        """Let the announced barrier of a channel overtake what is queued in front of it."""

    def checkpoint_started(self, checkpoint_id: int) -> None:
        """Begin to store what each channel has and gets in front of its barrier."""

    def checkpoint_stopped(self, checkpoint_id: int, *, aborted: bool) -> None:
        """Store no more: all barriers are in, or the checkpoint is given up."""

    def trigger_checkpoint(self, barrier: CheckpointBarrier) -> None:
        """Take the snapshot now."""

    def abort_checkpoint(self, checkpoint_id: int, reason: str) -> None:
        """Give up a checkpoint; the reason is the name of a CheckpointFailureReason."""


class CheckpointBarrierHandler(Protocol):
    """What both handlers take in."""

    next_time_ms: int | None

    def advance(self, now_ms: int) -> None:
        """Let the machine's clock reach a time; the timer of an alignment timeout runs when it is due."""

    def process_barrier(self, barrier: CheckpointBarrier, channel: int) -> None:
        """Take in a barrier that has come to the front of its channel."""

    def process_announcement(self, barrier: CheckpointBarrier, channel: int) -> None:
        """Take in the news that a timeoutable barrier has joined the queue of its channel."""

    def process_cancellation(self, checkpoint_id: int, channel: int) -> None:
        """Take in a cancellation marker."""

    def process_end(self, channel: int) -> None:
        """Take in the end of a channel."""


class SingleCheckpointBarrierHandler:
    """Exactly once: one checkpoint at a time, aligned, unaligned, or first one and then the other.

    Parameters
    ----------
    channels
        Number of open channels.
    out
        Is told what to do.
    mode
        ``"aligned"``, ``"unaligned"`` or ``"alternating"``. A job with unaligned checkpoints runs the alternating one,
        which goes by the kind of each barrier, so that its savepoints are aligned.
    checkpoints_after_finish
        Whether the end of a channel counts as its barrier (the default); otherwise it aborts a pending checkpoint.

    Attributes
    ----------
    next_time_ms
        When the alignment times out, or None.

    Notes
    -----
    Flink 2.3.0: SingleCheckpointBarrierHandler. Its six classes of states are two flags here: `_unaligned`
    (Alternating…Unaligned) and `_collecting` (…CollectingBarriers…: a barrier has been handled, and if unaligned the
    snapshot is taken).
    """

    def __init__(
        self, channels: int, out: BarrierOutput, *, mode: str = "aligned", checkpoints_after_finish: bool = True
    ) -> None:
        if mode not in ("aligned", "unaligned", "alternating"):
            raise ValueError(f"mode is {mode!r}; write 'aligned', 'unaligned' or 'alternating'")
        self.next_time_ms: int | None = None
        self._now_ms = 0
        self._out, self._mode, self._after_finish = out, mode, checkpoints_after_finish
        self._open = channels
        self._current = self._last_done = -1
        self._pending: CheckpointBarrier | None = None
        self._target = 0
        self._aligned: set[int] = set()
        self._blocked: set[int] = set()
        self._announced: set[int] = set()
        self._unaligned = self._collecting = False
        self._reset()

    def advance(self, now_ms: int) -> None:
        """Let the machine's clock reach a time; the timer runs at the timeout, not after it."""
        self._now_ms = now_ms
        if self.next_time_ms is not None and self.next_time_ms <= now_ms:
            self.next_time_ms = None
            if self._pending is not None and self._open:
                self._time_out(self._pending)

    def process_barrier(self, barrier: CheckpointBarrier, channel: int) -> None:
        """Take in a barrier: an outdated one is passed over, a newer one gives up the pending checkpoint."""
        if self._outdated(barrier):
            if not barrier.is_unaligned:
                self._out.resume_consumption(channel)
            return
        self._start_if_new(barrier)
        self._mark(channel, lambda: self._received(barrier, channel))

    def process_announcement(self, barrier: CheckpointBarrier, channel: int) -> None:
        """Take in an announcement: it starts the checkpoint and its timer, before any barrier is handled."""
        self._start_if_new(barrier)
        if self._outdated(barrier):
            return
        if self._unaligned:
            self._out.convert_to_priority_event(channel)
        else:
            self._announced.add(channel)

    def process_cancellation(self, checkpoint_id: int, channel: int) -> None:
        """Take in a cancellation: a newer checkpoint, or the current one if a barrier of it has been handled."""
        if checkpoint_id > self._current or (checkpoint_id == self._current and self._aligned):
            self._abort(checkpoint_id, CANCELLED)

    def process_end(self, channel: int) -> None:
        """Take in the end of a channel."""
        self._open -= 1
        if not self._is_pending():
            return
        if self._after_finish:
            self._mark(channel, lambda: self._ended(channel))
        else:
            self._abort(self._current, INPUT_ENDED)

    def _is_pending(self) -> bool:
        return self._current != self._last_done and self._current >= 0

    def _outdated(self, barrier: CheckpointBarrier) -> bool:
        return barrier.id < self._current or (barrier.id == self._current and not self._is_pending())

    def _start_if_new(self, barrier: CheckpointBarrier) -> None:
        if barrier.id <= self._current:
            return
        if self._is_pending():
            self._abort(self._current, SUBSUMED)
        self._current, self._pending, self._target = barrier.id, barrier, self._open
        self._aligned.clear()
        if self._mode == "alternating" and barrier.is_timeoutable:
            self.next_time_ms = max(barrier.created_at_ms + barrier.timeout_ms, self._now_ms)

    def _mark(self, channel: int, act: Callable[[], None]) -> None:
        """Count a channel as aligned, act on it, and note whether that was the last."""
        self._aligned.add(channel)
        act()
        if self._all_received():
            self._aligned.clear()
            self._last_done = self._current
            self.next_time_ms = None

    def _all_received(self) -> bool:
        return len(self._aligned) == self._target

    def _received(self, barrier: CheckpointBarrier, channel: int) -> None:
        if not self._unaligned:
            if not barrier.is_unaligned:
                self._received_aligned(barrier, channel)
                return
            if self._mode == "aligned":
                raise RuntimeError(f"barrier {barrier.id} is unaligned, but this job takes aligned checkpoints only")
            self._time_out(barrier)
        if not barrier.is_unaligned:
            self._block(channel)
        self._received_unaligned(barrier)

    def _received_aligned(self, barrier: CheckpointBarrier, channel: int) -> None:
        self._announced.discard(channel)
        self._block(channel)
        if self._all_received():
            self._out.trigger_checkpoint(barrier)
            self._resume_all()
        elif self._timed_out(barrier):
            self._time_out(barrier)
            self._received_unaligned(barrier)
        else:
            self._collecting = True

    def _received_unaligned(self, barrier: CheckpointBarrier) -> None:
        if not self._collecting:
            self._snapshot_unaligned(barrier)
        if self._all_received():
            self._stop(barrier.id)

    def _ended(self, channel: int) -> None:
        self._blocked.discard(channel)
        self._announced.discard(channel)
        pending = self._pending
        if not self._collecting or not self._all_received() or pending is None:
            return
        if self._unaligned:
            self._stop(pending.id)
        else:
            self._out.trigger_checkpoint(pending)
            self._resume_all()

    def _timed_out(self, barrier: CheckpointBarrier) -> bool:
        """Say whether a barrier that is handled now is over its time: later than the timeout, not at it."""
        return (
            self._mode == "alternating"
            and barrier.is_timeoutable
            and barrier.timeout_ms < self._now_ms - barrier.created_at_ms
        )

    def _time_out(self, barrier: CheckpointBarrier) -> None:
        """Go on unaligned; if a barrier has been handled, the snapshot is taken now, otherwise on the first."""
        if self._unaligned:
            return
        for channel in sorted(self._announced):
            self._out.convert_to_priority_event(channel)
        self._announced.clear()
        self._unaligned = True
        if self._collecting:
            self._snapshot_unaligned(barrier)

    def _snapshot_unaligned(self, barrier: CheckpointBarrier) -> None:
        self._collecting = True
        self._out.checkpoint_started(barrier.id)
        self._out.trigger_checkpoint(barrier.as_unaligned())

    def _stop(self, checkpoint_id: int, *, aborted: bool = False) -> None:
        self._out.checkpoint_stopped(checkpoint_id, aborted=aborted)
        self._resume_all()

    def _abort(self, checkpoint_id: int, reason: str) -> None:
        self._current = self._last_done = checkpoint_id
        self._pending, self._target, self.next_time_ms = None, 0, None
        self._aligned.clear()
        if self._unaligned and self._collecting:
            self._stop(checkpoint_id, aborted=True)
        else:
            self._resume_all()
        self._out.abort_checkpoint(checkpoint_id, reason)

    def _block(self, channel: int) -> None:
        self._blocked.add(channel)
        self._out.block_consumption(channel)

    def _resume_all(self) -> None:
        for channel in sorted(self._blocked):
            self._out.resume_consumption(channel)
        self._reset()

    def _reset(self) -> None:
        self._blocked.clear()
        self._announced.clear()
        self._unaligned, self._collecting = self._mode == "unaligned", False


@dataclass
class _Count:
    """A checkpoint of which some barriers have come (CheckpointBarrierTracker.CheckpointBarrierCount)."""

    id: int
    barrier: CheckpointBarrier | None
    aligned: set[int]
    target: int
    aborted: bool = False

    def mark(self, channel: int) -> bool:
        """Count a channel; say whether all are in."""
        self.aligned.add(channel)
        return len(self.aligned) == self.target


class CheckpointBarrierTracker:
    """At least once: nothing blocks, several checkpoints may be pending, and the last barrier takes the snapshot.

    Parameters
    ----------
    channels
        Number of open channels.
    out
        Is told what to do: only triggers and aborts.
    checkpoints_after_finish
        Whether the end of a channel counts as its barrier; otherwise it aborts all pending checkpoints.

    Notes
    -----
    Flink 2.3.0: CheckpointBarrierTracker.
    """

    next_time_ms: int | None = None

    def __init__(self, channels: int, out: BarrierOutput, *, checkpoints_after_finish: bool = True) -> None:
        self._open, self._out, self._after_finish = channels, out, checkpoints_after_finish
        self._latest = -1
        self._pending: deque[_Count] = deque()

    def advance(self, now_ms: int) -> None:
        """Let time pass: nothing here depends on it."""

    def process_announcement(self, barrier: CheckpointBarrier, channel: int) -> None:
        """Pass over it: barriers of this mode do not wait."""

    def process_barrier(self, barrier: CheckpointBarrier, channel: int) -> None:
        """Take in a barrier: the last one of its checkpoint takes the snapshot and drops the older checkpoints."""
        if barrier.id > self._latest and self._open == 1:
            self._out.trigger_checkpoint(barrier)  # not remembered, as in Flink
            return
        count = next((count for count in self._pending if count.id == barrier.id), None)
        if count is not None:
            if count.mark(channel):
                self._complete(count)
        elif barrier.id > self._latest:
            self._latest = barrier.id
            self._pending.append(_Count(barrier.id, barrier, {channel}, self._open))
            if len(self._pending) > _MOST_TRACKED:
                self._pending.popleft()

    def process_cancellation(self, checkpoint_id: int, channel: int) -> None:
        """Take in a cancellation: it aborts the older ones too; what is still to come of its own is passed over."""
        if checkpoint_id > self._latest and self._open == 1:
            self._out.abort_checkpoint(checkpoint_id, CANCELLED)
            return
        while self._pending and self._pending[0].id < checkpoint_id:
            self._abort(self._pending.popleft(), CANCELLED)
        if self._pending and self._pending[0].id == checkpoint_id:
            count = self._pending[0]
            self._abort(count, CANCELLED)
            if count.mark(channel):
                self._pending.popleft()
        elif checkpoint_id > self._latest:
            self._latest = checkpoint_id
            count = _Count(checkpoint_id, None, {channel}, self._open)
            self._abort(count, CANCELLED)
            self._pending.appendleft(count)

    def process_end(self, channel: int) -> None:
        """Take in the end of a channel: the newest checkpoint that waited for it alone is complete."""
        self._open -= 1
        if not self._after_finish:
            while self._pending:
                self._abort(self._pending.popleft(), INPUT_ENDED)
            return
        for count in reversed(self._pending):
            if count.mark(channel):
                self._complete(count)
                return

    def _complete(self, count: _Count) -> None:
        while self._pending.popleft() is not count:
            pass
        if not count.aborted and count.barrier is not None:
            self._out.trigger_checkpoint(count.barrier)

    def _abort(self, count: _Count, reason: str) -> None:
        if not count.aborted:
            count.aborted = True
            self._out.abort_checkpoint(count.id, reason)


class GateOutput(Protocol):
    """What comes out of an input gate, in order."""

    def process(self, channel: int, item: Any) -> None:
        """Tell that an element has come to the operator."""

    def reached(self, channel: int, barrier: CheckpointBarrier) -> None:
        """Tell that a barrier is handled now."""

    def blocked(self, channel: int) -> None:
        """Tell that a channel waits for the barriers of the others."""

    def resumed(self, channel: int) -> None:
        """Tell that a blocked channel goes on."""

    def triggered(self, barrier: CheckpointBarrier) -> None:
        """Tell that the snapshot is to be taken now."""

    def aborted(self, checkpoint_id: int, reason: str) -> None:
        """Tell that a checkpoint is given up."""

    def in_flight(self, checkpoint_id: int, channels: dict[int, list[Any]]) -> None:
        """Tell the channel state of an unaligned checkpoint, once all barriers are in; without empty channels."""

    def data_ended(self, channel: int) -> None:
        """Tell that only barriers can follow in a channel."""

    def ended(self, channel: int) -> None:
        """Tell that a channel has ended."""


@dataclass(frozen=True)
class _Overtaken:
    """Where a barrier stood that has been handled before what was in front of it."""

    id: int


@dataclass
class _Entry:
    serial: int
    element: Any


class _Capture:
    """What a running unaligned checkpoint stores (Flink's ChannelStatePersister, one for all channels)."""

    def __init__(self, checkpoint_id: int) -> None:
        self.id = checkpoint_id
        self.items: dict[int, list[Any]] = {}
        self.waits: set[int] = set()


class CheckpointedInputGate:
    """The input of a task: a queue for each channel, with a barrier handler behind them.

    Parameters
    ----------
    channels
        How many.
    out
        Is told what comes out.
    mode
        ``"aligned"``, ``"unaligned"``, ``"alternating"`` or ``"at_least_once"``.
    capacity
        Elements that a channel holds before `is_full` says so; None for no limit.
    checkpoints_after_finish
        Whether the end of a channel counts as its barrier.
    new_handler
        Makes a handler of one's own in place of that of the mode.

    Attributes
    ----------
    is_held
        Whether the task is at work: barriers that overtake, and timers, then wait for `advance`.

    Notes
    -----
    Flink 2.3.0: CheckpointedInputGate; RemoteInputChannel for overtaking and for what is stored.
    """

    def __init__(
        self,
        channels: int,
        out: GateOutput,
        *,
        mode: str = "aligned",
        capacity: int | None = None,
        checkpoints_after_finish: bool = True,
        new_handler: Callable[[int, BarrierOutput], CheckpointBarrierHandler] | None = None,
    ) -> None:
        self.is_held = False
        self._out, self._capacity = out, capacity
        self._waiting, self._barriers = [0] * channels, [0] * channels
        self._queues: list[deque[_Entry]] = [deque() for _ in range(channels)]
        self._blocked: set[int] = set()
        self._in_turn: deque[int] = deque()  # channels that may have something to take, in the order of their turns
        self._last_barrier = [-1] * channels
        self._announced: dict[int, _Entry] = {}
        self._priority: deque[tuple[int, CheckpointBarrier]] = deque()
        self._capture: _Capture | None = None
        self._serial = self._now_ms = 0
        self._handler: CheckpointBarrierHandler
        if new_handler is not None:
            self._handler = new_handler(channels, self)
        elif mode == "at_least_once":
            self._handler = CheckpointBarrierTracker(channels, self, checkpoints_after_finish=checkpoints_after_finish)
        else:
            self._handler = SingleCheckpointBarrierHandler(
                channels, self, mode=mode, checkpoints_after_finish=checkpoints_after_finish
            )

    @property
    def next_time_ms(self) -> int | None:
        """The next time at which `advance` has something to do, or None."""
        return self._handler.next_time_ms

    def is_full(self, channel: int) -> bool:
        """Say whether the sender of a channel must wait: backpressure."""
        waiting = self._waiting[channel] - self._barriers[channel]  # a barrier takes up no network buffer
        return self._capacity is not None and waiting >= self._capacity

    def waiting(self, channel: int) -> int:
        """Give how many elements wait in a channel; its end is none."""
        return self._waiting[channel]

    def is_blocked(self, channel: int) -> bool:
        """Say whether a channel waits for the barriers of the others."""
        return channel in self._blocked

    def queued(self, channel: int) -> list[Any]:
        """List what waits in a channel, oldest first."""
        return [entry.element for entry in self._queues[channel] if not isinstance(entry.element, _Overtaken)]

    def receive(self, channel: int, element: Any) -> None:
        """Put an element at the end of a channel; an unaligned barrier overtakes and is handled at once."""
        self._serial += 1
        entry = _Entry(self._serial, element)
        self._queues[channel].append(entry)
        self._count(channel, element, 1)
        self._take_turn(channel)
        if isinstance(element, CheckpointBarrier):
            self._arrived(channel, element, entry)
        elif self._capture and channel in self._capture.waits and _is_data(element):
            self._capture.items[channel].append(element)

    def _count(self, channel: int, element: Any, number: int) -> None:
        self._waiting[channel] += 0 if isinstance(element, (EndOfData, EndOfPartition)) else number
        self._barriers[channel] += number if isinstance(element, CheckpointBarrier) else 0

    def _arrived(self, channel: int, barrier: CheckpointBarrier, entry: _Entry) -> None:
        self._last_barrier[channel] = max(self._last_barrier[channel], barrier.id)
        if self._capture and barrier.id >= self._capture.id:
            self._capture.waits.discard(channel)
        if barrier.is_unaligned:
            self._overtake(channel, barrier, entry)
        elif barrier.is_timeoutable:
            self._announced[channel] = entry
            self._handler.process_announcement(barrier, channel)
        self._settle()

    def poll(self, channel: int) -> bool:
        """Let one element of a channel through; False if it is blocked or empty."""
        queue = self._queues[channel]
        while queue and isinstance(queue[0].element, _Overtaken):
            queue.popleft()
        if not queue or channel in self._blocked:
            return False
        element = queue.popleft().element
        self._count(channel, element, -1)
        match element:
            case CheckpointBarrier():
                self._out.reached(channel, element)
                self._handler.process_barrier(element, channel)
            case CancelCheckpointMarker():
                self._handler.process_cancellation(element.id, channel)
            case EndOfData():
                self._out.data_ended(channel)
            case EndOfPartition():
                self._handler.process_end(channel)
                self._out.ended(channel)
            case _:
                self._out.process(channel, element)
                return True
        self._settle()
        return True

    def poll_next(self) -> bool:
        """Let through the element that has waited longest in a channel that is not blocked; False if there is none."""
        heads = [
            (queue[0].serial, channel)
            for channel, queue in enumerate(self._queues)
            if queue and channel not in self._blocked
        ]
        if not heads:
            return False
        return self.poll(min(heads)[1]) or self.poll_next()  # what was overtaken is no element

    def poll_in_turn(self) -> bool:
        """Let one element of the channel through whose turn it is; False if nothing can come.

        Notes
        -----
        Flink 2.3.0: SingleInputGate.inputChannelsWithData: a channel that has more goes behind the others, and so does
        one that is resumed.
        """
        while self._in_turn:
            channel = self._in_turn.popleft()
            if self.poll(channel):
                self._take_turn(channel)
                return True
        return False

    def _take_turn(self, channel: int) -> None:
        if self._queues[channel] and channel not in self._blocked and channel not in self._in_turn:
            self._in_turn.append(channel)

    def advance(self, now_ms: int) -> None:
        """Let the machine's clock reach a time."""
        self._now_ms = now_ms
        if not self.is_held:
            self._handler.advance(now_ms)
            self._settle()

    def _settle(self) -> None:
        """Handle the barriers that have overtaken, and a timer that is due at once."""
        while not self.is_held:
            if self._priority:
                channel, barrier = self._priority.popleft()
                self._out.reached(channel, barrier)
                self._handler.process_barrier(barrier, channel)
            elif self._handler.next_time_ms is not None and self._handler.next_time_ms <= self._now_ms:
                self._handler.advance(self._now_ms)
            else:
                return

    def _overtake(self, channel: int, barrier: CheckpointBarrier, entry: _Entry) -> None:
        entry.element = _Overtaken(barrier.id)
        self._count(channel, barrier, -1)
        self._priority.append((channel, barrier.as_unaligned()))

    # ------------------------------------------------------------------------------------- what the handler asks for

    def block_consumption(self, channel: int) -> None:
        """Block a channel."""
        self._blocked.add(channel)
        self._out.blocked(channel)

    def resume_consumption(self, channel: int) -> None:
        """Let a blocked channel go on."""
        if channel in self._blocked:
            self._blocked.discard(channel)
            self._take_turn(channel)
            self._out.resumed(channel)

    def convert_to_priority_event(self, channel: int) -> None:
        """Let the announced barrier of a channel overtake."""
        entry = self._announced.pop(channel)
        self._overtake(channel, entry.element, entry)

    def checkpoint_started(self, checkpoint_id: int) -> None:
        """Begin to store: what is in front of the barrier of each channel, all if that is still to come."""
        capture = self._capture = _Capture(checkpoint_id)
        for channel, queue in enumerate(self._queues):
            if self._last_barrier[channel] < checkpoint_id:
                capture.waits.add(channel)
            elif not any(_is_barrier(entry.element, checkpoint_id) for entry in queue):
                continue  # already through: what is here came after it
            items = capture.items[channel] = []
            for entry in queue:
                if _is_barrier(entry.element, checkpoint_id):
                    break
                if _is_data(entry.element):
                    items.append(entry.element)

    def checkpoint_stopped(self, checkpoint_id: int, *, aborted: bool) -> None:
        """Tell what was stored, unless the checkpoint is given up."""
        capture, self._capture = self._capture, None
        if capture and not aborted:
            self._out.in_flight(checkpoint_id, {channel: items for channel, items in capture.items.items() if items})

    def trigger_checkpoint(self, barrier: CheckpointBarrier) -> None:
        """Pass it on."""
        self._out.triggered(barrier)

    def abort_checkpoint(self, checkpoint_id: int, reason: str) -> None:
        """Pass it on."""
        self._out.aborted(checkpoint_id, reason)


def _is_data(element: Any) -> bool:
    """Say whether an element is stored with its channel: records, watermarks and statuses are, the rest is not."""
    events = CheckpointBarrier, CancelCheckpointMarker, EndOfData, EndOfPartition, _Overtaken
    return not isinstance(element, events)


def _is_barrier(element: Any, checkpoint_id: int) -> bool:
    return isinstance(element, (CheckpointBarrier, _Overtaken)) and element.id >= checkpoint_id
