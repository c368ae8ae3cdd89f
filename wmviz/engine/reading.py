"""A subtask of the source in a running job: it reads its partitions, may have to wait, and knows its offsets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from wmviz.engine.agenda import Agenda, Turn
from wmviz.engine.alignment import AlignmentOutput, SourceOperatorAlignment
from wmviz.engine.barriers import CheckpointBarrier
from wmviz.engine.channels import Carries, Element, TaskInput
from wmviz.engine.runtime_recording import RuntimeRecording
from wmviz.engine.subtasks import SourceSubtask
from wmviz.engine.watermarks import WatermarkGenerator
from wmviz.scenario import Scenario
from wmviz.times import MAX_MS


class Partitions:
    """The log that the source reads: per partition, the events in order of arrival, and when each can be read.

    It is outside of the job, so a crash takes nothing from it.

    Parameters
    ----------
    scenario
        Has the events, and the silences of partitions.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.events: list[list[int]] = [[] for _ in range(scenario.partition_count)]
        self.available_ms: list[int] = []
        silences: dict[int, list[tuple[int, int]]] = {}
        for happening in scenario.happenings:
            if happening.what == "silence" and happening.at_ms is not None and happening.until_ms is not None:
                silences.setdefault(happening.partition, []).append((happening.at_ms, happening.until_ms))
        for index, event in enumerate(scenario.events):
            self.events[event.partition].append(index)
            at_ms = event.arrival_time_ms
            for from_ms, until_ms in sorted(silences.get(event.partition, ())):
                if from_ms <= at_ms < until_ms:
                    at_ms = until_ms
            self.available_ms.append(at_ms)


class ReaderOwner(Protocol):
    """The job, as its readers see it."""

    agenda: Agenda
    tasks: list[TaskInput]
    scenario: Scenario
    recorder: RuntimeRecording
    partitions: Partitions
    stops_reading: bool

    def task_of(self, event: int) -> TaskInput:
        """Give the window task of an event's key."""

    def has_read(self, event: int) -> None:
        """Tell that an event has been read."""

    def aligns_again(self) -> None:
        """Tell that a watermark or status has changed, which alignment may care for."""


class Reader:
    """A source subtask: reads the next event when it may, and sends to the channels of all window tasks.

    Parameters
    ----------
    number
        Which subtask; also its place.
    owner
        The job.
    own
        A generator in place of that of the strategy.
    start_ms
        When it starts.
    aligner
        Makes what decides whether it has to wait for slower ones.

    Attributes
    ----------
    offsets
        Partition → number of its events that have been read.
    is_ended, is_finished
        Whether its input has ended, and whether a checkpoint since then is complete: until then it sends barriers.
    alignment
        Decides whether it has to wait for slower ones; None without alignment.

    Notes
    -----
    Flink 2.3.0: SourceOperator, RecordWriterOutput. As a task whose output is not available, it reads nothing while a
    channel is full; watermarks of its timer go out all the same.
    """

    def __init__(
        self,
        number: int,
        owner: ReaderOwner,
        own: WatermarkGenerator | None,
        start_ms: int,
        aligner: Callable[[AlignmentOutput, int], SourceOperatorAlignment],
    ) -> None:
        scenario = owner.scenario
        self.place = number
        self.offsets = dict.fromkeys(scenario.partitions_of(number), 0)
        self.is_ended = self.is_finished = False
        self._last_checkpoint: int | None = None
        self.alignment: SourceOperatorAlignment | None = None
        if scenario.alignment is not None and scenario.strategy_at == "source":
            self.alignment = aligner(self, scenario.alignment.buffer)
        self._owner, self._recorder, self._agenda = owner, owner.recorder, owner.agenda
        end_ms = MAX_MS if scenario.end_of_input_ms is None else scenario.end_of_input_ms
        self._ends_ms: dict[int | None, int] = {None: end_ms, **dict.fromkeys(self.offsets, end_ms)}
        for happening in scenario.happenings:
            if happening.what == "finish" and happening.partition in self.offsets and happening.at_ms is not None:
                self._ends_ms[happening.partition] = min(happening.at_ms, end_ms)
        if self.offsets:  # the last partition to end takes the subtask with it
            del self._ends_ms[None]
        self._under_pressure = False
        self._planned: tuple[int, int] | None = None
        self.subtask = SourceSubtask(scenario, number, self, owner.recorder, own, start_ms)

    def start(self) -> None:
        """Put the first read, the first tick and the ends on the agenda; what is at its end already ends now."""
        self._end_what_is_read(self._recorder.at_ms - 1)
        self.plan_read()
        self._plan_tick(self._recorder.at_ms)
        for at_ms in {*self._ends_ms.values()} - {MAX_MS}:
            self._plan_end(at_ms)

    # ------------------------------------------------- reading

    def _head(self) -> tuple[int, int, int] | None:
        """Give the next event that may be read: when, its index, its partition."""
        partitions = self._owner.partitions
        paused = self.alignment.paused_splits if self.alignment else ()
        heads = []
        for partition, offset in self.offsets.items():
            events = partitions.events[partition]
            if offset < len(events) and str(partition) not in paused:
                heads.append((partitions.available_ms[events[offset]], events[offset], partition))
        return min(heads, default=None)

    @property
    def _waits(self) -> bool:
        """Whether it reads nothing for now, whatever there is."""
        held_back = self.alignment is not None and self.alignment.is_waiting
        return self._under_pressure or held_back or self._owner.stops_reading

    def plan_read(self) -> None:
        """Put the next read on the agenda, unless the subtask has to wait."""
        if self._waits or self.is_ended:
            return
        if min(self._ends_ms.values(), default=MAX_MS) <= self._recorder.at_ms:
            self._plan_end(self._recorder.at_ms)
        head = self._head()
        if head is None:
            return
        planned = max(head[0], self._recorder.at_ms), head[1]
        if planned != self._planned:
            self._planned = planned
            self._agenda.plan(planned[0], Turn.READ, lambda: self._read(planned), tie=planned[1])

    def _read(self, planned: tuple[int, int]) -> None:
        """Read an event, if it is still the one that was planned."""
        if self._planned != planned:
            return
        self._planned = None
        head = self._head()
        if self._waits or head is None or head[1] != planned[1]:
            self.plan_read()
            return
        _, index, partition = head
        self.offsets[partition] += 1
        event = self._owner.scenario.events[index]
        if self._recorder.arrived is not None:
            self._recorder.arrived(self.place, index, event)
        self._owner.has_read(index)
        self.subtask.process(index, event.event_time_ms, partition)
        if self.subtask.ticks:
            self.subtask.unasked = True
            self._plan_tick(self._recorder.at_ms)
        self._check_pressure()
        self.plan_read()

    def _plan_tick(self, earliest_ms: int) -> None:
        tick_ms = None if self.is_ended else self.subtask.plan_tick(earliest_ms)
        if tick_ms is not None:
            self._agenda.plan(tick_ms, Turn.TICK, lambda: self._tick(tick_ms), tie=self.place)

    def _tick(self, tick_ms: int) -> None:
        if self.subtask.next_tick_ms != tick_ms or self.is_ended:  # another took its place
            return
        self.subtask.next_tick_ms = None
        self.subtask.tick()
        self._check_pressure()
        self._plan_tick(tick_ms + 1)

    def _plan_end(self, at_ms: int) -> None:
        self._agenda.plan(at_ms, Turn.END, lambda: self._end_what_is_read(at_ms), tie=self.place)

    def _end_what_is_read(self, now_ms: int) -> None:
        """Let partitions end whose time has come, once they have been read; with the last one ends the input.

        Like any event, the end is only seen by a subtask that does not have to wait.
        """
        if self._waits or self.is_ended:
            return
        ended = [split for split, at_ms in self._ends_ms.items() if at_ms <= now_ms and self._is_read(split)]
        if len(ended) < len(self._ends_ms):
            for split in ended:
                self._end_split(split)
            return
        self.is_ended = True
        if self.alignment is not None:
            self.alignment.finish()
        self.subtask.end()
        for task in self._owner.tasks:
            task.receive_end(self.place, of_data=True)

    def complete(self, checkpoint_id: int) -> None:
        """Take in that a checkpoint is complete: the first one since the end of the input is what a source waits for.

        Notes
        -----
        Flink 2.3.0: StreamTask.afterInvoke, finalCheckpointCompleted.
        """
        if self._last_checkpoint is not None and checkpoint_id >= self._last_checkpoint and not self.is_finished:
            self.is_finished = True
            for task in self._owner.tasks:
                task.receive_end(self.place, of_data=False)

    def _is_read(self, split: int | None) -> bool:
        if split is None:
            return True
        is_paused = self.alignment is not None and str(split) in self.alignment.paused_splits
        return not is_paused and self.offsets[split] == len(self._owner.partitions.events[split])

    def _end_split(self, split: int | None) -> None:
        del self._ends_ms[split]
        if split is not None:
            self.subtask.release(split)
            self._plan_tick(self._recorder.at_ms + 1)
            if self.alignment is not None:
                self.alignment.split_finished(str(split))

    # ------------------------------------------------- waiting

    def _check_pressure(self) -> None:
        """Wait while a channel is full; silence is then not the fault of the input, so the clocks of idleness stop."""
        if not self._owner.scenario.channel_capacity:
            return
        full = any(task.gate.is_full(self.place) for task in self._owner.tasks)
        if full == self._under_pressure or self.is_ended:
            return
        self._under_pressure = full
        self._recorder.backpressured(self.place, full)
        self._pause_clocks(list(self.subtask.clocks), full)
        self.plan_read()

    def room(self) -> None:
        """Take note that a channel has one element less."""
        if self._under_pressure:
            self._check_pressure()

    def _pause_clocks(self, which: Sequence[int | None], is_paused: bool) -> None:
        for name in which:
            clock = self.subtask.clocks.get(name)
            if clock is not None and is_paused:
                clock.pause()
            elif clock is not None:
                clock.unpause()
        if not is_paused:
            self._plan_tick(self._recorder.at_ms)

    # ------------------------------------------------- AlignmentOutput

    def paused(self) -> None:
        """Read nothing for the time being."""
        self._recorder.paused(self.place, None, True)
        self._pause_clocks(list(self.subtask.clocks), True)

    def resumed(self) -> None:
        """Read again."""
        self._recorder.paused(self.place, None, False)
        self._pause_clocks(list(self.subtask.clocks), False)
        self.plan_read()

    def splits_paused(self, splits: list[str]) -> None:
        """Leave partitions out."""
        self._pause_splits(splits, True)

    def splits_resumed(self, splits: list[str]) -> None:
        """Read partitions again."""
        self._pause_splits(splits, False)
        self.plan_read()

    def _pause_splits(self, splits: list[str], is_paused: bool) -> None:
        if len(self.offsets) < 2:
            return  # a single split overtakes no other: the subtask as a whole waits
        for split in splits:
            self._recorder.paused(self.place, int(split), is_paused)
        self._pause_clocks([int(split) for split in splits], is_paused)

    # ------------------------------------------------- sending

    def record(self, record: int) -> None:
        """Send a record to the task of its key."""
        self._owner.task_of(record).receive(self.place, Element(Carries.RECORD, record, self._recorder.cause))

    def watermark(self, watermark_ms: int) -> None:
        """Send a watermark to every task."""
        self._to_all(Carries.WATERMARK, watermark_ms, self._recorder.sent(self.place, watermark_ms))
        if self.alignment is not None:
            self.alignment.watermark(watermark_ms)
            self._owner.aligns_again()

    def idle(self) -> None:
        """Send the status IDLE to every task."""
        self._status(idle=True)

    def active(self) -> None:
        """Send the status ACTIVE to every task."""
        self._status(idle=False)

    def _status(self, *, idle: bool) -> None:
        carries, before = Carries.IDLE if idle else Carries.ACTIVE, self._recorder.cause
        self._to_all(carries, 0, self._recorder.sent_status(self.place, idle=idle))
        self._recorder.cause = before  # in SQL the record follows that has made the stream active
        if self.alignment is not None:
            self.alignment.idle = idle
            self._owner.aligns_again()

    def _to_all(self, carries: Carries, value: int, row: int) -> None:
        for task in self._owner.tasks:
            task.receive(self.place, Element(carries, value, row))

    def barrier(self, barrier: CheckpointBarrier, cause: int) -> Mapping[int, int]:
        """Take the snapshot, send the barrier behind all that was sent, and give the snapshot."""
        if self.is_ended and self._last_checkpoint is None:
            self._last_checkpoint = barrier.id
        row = self._recorder.source_snapshot(self.place, barrier.id, self.offsets, cause)
        for task in self._owner.tasks:
            task.receive_barrier(self.place, barrier, row)
        return dict(self.offsets)

    def split_watermark(self, split: int, watermark_ms: int) -> None:
        """Note that a split's watermark has risen."""
        self._recorder.split_watermark(self.place, split, watermark_ms)
        if self.alignment is not None:
            self.alignment.split_watermark(str(split), watermark_ms)
            self._owner.aligns_again()

    def split_status(self, split: int, *, idle: bool) -> None:
        """Note that a split has become idle or active."""
        self._recorder.split_status(self.place, split, idle=idle)
        if self.alignment is not None:
            self.alignment.split_idle(str(split), idle)
            self._owner.aligns_again()
