"""Checkpoints: when the coordinator starts them, what becomes of them, and what a completed one holds."""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection, Hashable
from dataclasses import dataclass, field
from typing import Any, Protocol

SUBSUMED = "CHECKPOINT_SUBSUMED"
EXPIRED = "CHECKPOINT_EXPIRED"
SUSPENDED = "CHECKPOINT_COORDINATOR_SUSPEND"

_MOST_REQUESTS = 1000
_LEAST_MS = 10
_LOOKS = 2
"""How often the end of a checkpoint lets the decider look: once itself, once when its files are cleaned up."""


@dataclass(frozen=True)
class CheckpointSettings:
    """How often checkpoints are taken.

    Attributes
    ----------
    interval_ms
        From one due time to the next (execution.checkpointing.interval); at least the minimum pause.
    min_pause_ms
        From the end of the last successful checkpoint to the next start.
    max_concurrent
        How many may be pending.
    timeout_ms
        When a pending one is given up (execution.checkpointing.timeout).

    Notes
    -----
    Flink 2.3.0: CheckpointCoordinatorConfiguration, and the constructor of CheckpointCoordinator.
    """

    interval_ms: int
    min_pause_ms: int = 0
    max_concurrent: int = 1
    timeout_ms: int = 600_000

    def __post_init__(self) -> None:
        """Refuse what Flink refuses."""
        for name, value, least in (
            ("interval_ms", self.interval_ms, _LEAST_MS),
            ("min_pause_ms", self.min_pause_ms, 0),
            ("max_concurrent", self.max_concurrent, 1),
            ("timeout_ms", self.timeout_ms, _LEAST_MS),
        ):
            if value < least:
                raise ValueError(f"{name} of the checkpoints is {value}; write {least} or more")

    @property
    def base_interval_ms(self) -> int:
        """The interval that counts: it makes no sense to ask more often than the pause allows."""
        return max(self.interval_ms, self.min_pause_ms)


@dataclass
class Checkpoint:
    """One checkpoint or savepoint: pending until all tasks have acknowledged it.

    Attributes
    ----------
    id, started_ms
        Its number, and when the coordinator started it.
    savepoint
        Whether a person asked for it; it is no link in the chain of checkpoints.
    waits_for
        Tasks that have not acknowledged it yet.
    states
        What each task has handed in: positions, panes, timers, transactions, elements in flight. Never a watermark.
    completed_ms
        When the last acknowledgement came, or None.
    failed
        The name of a CheckpointFailureReason, or None.

    Notes
    -----
    Flink 2.3.0: PendingCheckpoint and CompletedCheckpoint.
    """

    id: int
    started_ms: int
    savepoint: bool = False
    waits_for: set[Hashable] = field(default_factory=set)
    states: dict[Hashable, Any] = field(default_factory=dict)
    completed_ms: int | None = None
    failed: str | None = None


class CheckpointOutput(Protocol):
    """What the coordinator tells."""

    def triggered(self, checkpoint: Checkpoint) -> None:
        """Tell that a checkpoint has started: barriers leave the sources now."""

    def completed(self, checkpoint: Checkpoint) -> None:
        """Tell that it is complete: sinks may commit."""

    def failed(self, checkpoint: Checkpoint) -> None:
        """Tell that it is given up; `checkpoint.failed` says why."""


@dataclass(order=True)
class _Request:
    """A request that waits; savepoints go first (CheckpointRequestDecider's order)."""

    rank: int
    serial: int
    savepoint: bool = field(compare=False)
    forced: bool = field(compare=False)


class CheckpointCoordinator:
    """Starts checkpoints when they are due, and keeps the last completed one.

    Parameters
    ----------
    settings
        How often.
    tasks
        All that must acknowledge a checkpoint.
    out
        Is told what happens.
    last_id
        The number of the last checkpoint before.
    forced_savepoints
        Whether savepoints pass over the limit on pending checkpoints: they do unless unaligned checkpoints are on.

    Attributes
    ----------
    latest
        The last completed checkpoint (no savepoint), which a restart goes back to, or None.
    pending
        Those not complete yet, oldest first.

    Notes
    -----
    Flink 2.3.0: CheckpointCoordinator, CheckpointRequestDecider. Every due time leaves a request. One that finds no
    free place waits, and so does the next: after a long checkpoint they are made up for one after the other.
    """

    def __init__(
        self,
        settings: CheckpointSettings,
        tasks: Collection[Hashable],
        out: CheckpointOutput,
        *,
        forced_savepoints: bool = True,
        last_id: int = 0,
    ) -> None:
        self.latest: Checkpoint | None = None
        self.pending: dict[int, Checkpoint] = {}
        self._settings, self._tasks, self._out, self._forced_savepoints = settings, tasks, out, forced_savepoints
        self._now_ms = 0
        self._due_ms: int | None = None
        self._last_success_ms: int | None = None
        self._requests: list[_Request] = []
        self._serial = 0
        self.last_id = last_id

    def start(self, now_ms: int, delay_ms: int | None = None) -> None:
        """Begin to start checkpoints periodically; if it has begun already, it stops first.

        Parameters
        ----------
        now_ms
            The time now.
        delay_ms
            Until the first one: for a new job a random time from the minimum pause to the interval, on Flink; None
            means the minimum pause, as after a restart.
        """
        if self._due_ms is not None:
            self.stop(now_ms)
        self._now_ms = now_ms
        self._due_ms = now_ms + (self._settings.min_pause_ms if delay_ms is None else delay_ms)

    def stop(self, now_ms: int) -> None:
        """Stop starting checkpoints, and give up those that are pending: the job has failed or ends."""
        self.advance(now_ms)
        self._due_ms = None
        self._requests.clear()
        for checkpoint in list(self.pending.values()):
            self._give_up(checkpoint, SUSPENDED)

    @property
    def next_time_ms(self) -> int | None:
        """The next time at which `advance` has something to do, or None."""
        times = [checkpoint.started_ms + self._settings.timeout_ms for checkpoint in self.pending.values()]
        if self._due_ms is not None:
            times.append(self._due_ms)
        return min(times, default=None)

    def advance(self, now_ms: int) -> None:
        """Let the clock reach a time: checkpoints are given up that take too long, and those start that are due."""
        while (time_ms := self.next_time_ms) is not None and time_ms <= now_ms:
            self._now_ms = time_ms
            for checkpoint in list(self.pending.values()):
                if checkpoint.started_ms + self._settings.timeout_ms <= time_ms:
                    self._fail(checkpoint, EXPIRED)
            if self._due_ms == time_ms:
                self._due_ms = time_ms + self._settings.base_interval_ms
                self._request(savepoint=False)
        self._now_ms = now_ms

    def savepoint(self, now_ms: int) -> None:
        """Ask for a savepoint: it heeds no pause, and goes before the checkpoints that wait."""
        self.advance(now_ms)
        self._request(savepoint=True)

    def acknowledge(self, checkpoint_id: int, task: Hashable, state: Any, now_ms: int) -> None:
        """Take in what a task hands in; with the last one the checkpoint is complete.

        Parameters
        ----------
        checkpoint_id, task, state
            Which checkpoint, who, and its snapshot; passed over if the checkpoint is not pending.
        now_ms
            The time now.
        """
        self.advance(now_ms)
        checkpoint = self.pending.get(checkpoint_id)
        if checkpoint is None or task not in checkpoint.waits_for:
            return
        checkpoint.waits_for.discard(task)
        checkpoint.states[task] = state
        if not checkpoint.waits_for:
            self._complete(checkpoint)

    def decline(self, checkpoint_id: int, reason: str, now_ms: int) -> None:
        """Take in that a task cannot take part; the pause still counts from the last success."""
        self.advance(now_ms)
        checkpoint = self.pending.get(checkpoint_id)
        if checkpoint is not None:
            self._fail(checkpoint, reason)

    def _request(self, *, savepoint: bool) -> None:
        self._serial += 1
        forced = savepoint and self._forced_savepoints
        insort(self._requests, _Request(0 if savepoint else 1, self._serial, savepoint, forced))
        del self._requests[_MOST_REQUESTS:]
        self._serve()

    def _serve(self) -> None:
        """Look once at what waits: start it as far as there is room; in the pause, drop the first request."""
        while self._requests:
            first = self._requests[0]
            if len(self.pending) >= self._settings.max_concurrent:
                if not first.forced:
                    return
            elif not first.savepoint and self._last_success_ms is not None:
                earliest_ms = self._last_success_ms + self._settings.min_pause_ms
                if self._now_ms < earliest_ms:
                    del self._requests[0]
                    self._due_ms = earliest_ms
                    return
            self._trigger(self._requests.pop(0))

    def _trigger(self, request: _Request) -> None:
        self.last_id += 1
        checkpoint = Checkpoint(self.last_id, self._now_ms, request.savepoint, set(self._tasks))
        self.pending[checkpoint.id] = checkpoint
        self._out.triggered(checkpoint)

    def _complete(self, checkpoint: Checkpoint) -> None:
        del self.pending[checkpoint.id]
        checkpoint.completed_ms = self._last_success_ms = self._now_ms
        self._out.completed(checkpoint)
        looks = _LOOKS
        if not checkpoint.savepoint:
            looks += self.latest is not None  # which is cleaned up now
            self.latest = checkpoint
            for older in [other for other in self.pending.values() if other.id < checkpoint.id and not other.savepoint]:
                self._give_up(older, SUBSUMED)
                looks += _LOOKS
        for _ in range(looks):
            self._serve()

    def _fail(self, checkpoint: Checkpoint, reason: str) -> None:
        self._give_up(checkpoint, reason)
        for _ in range(_LOOKS):
            self._serve()

    def _give_up(self, checkpoint: Checkpoint, reason: str) -> None:
        del self.pending[checkpoint.id]
        checkpoint.failed = reason
        self._out.failed(checkpoint)
