"""The tasks of the job and the channels between them: source subtasks, keyed exchange, window tasks."""

from __future__ import annotations

from binascii import crc32
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from wmviz.engine.multiplexer import CombinedInputs
from wmviz.engine.recording import Recorder
from wmviz.engine.valve import StatusWatermarkValve
from wmviz.engine.watermarks import Downstream
from wmviz.engine.window_operator import WindowOperator
from wmviz.scenario import Scenario
from wmviz.trace import Status

AnyTask = TypeVar("AnyTask")


class WindowTask:
    """A subtask of the window operator, with the valve that makes one watermark of those of its channels.

    Parameters
    ----------
    place
        Its number in the trace.
    operator
        Keeps the windows of its keys.
    channels
        How many source subtasks send to it.
    recorder
        Writes down what happens.
    inputs
        2 for an operator with two inputs, each with a valve of its own; channel c belongs to input c % 2.
    new_valve
        Makes a valve, given the number of channels and where to send.
    """

    def __init__(
        self,
        place: int,
        operator: WindowOperator,
        channels: int,
        recorder: Recorder,
        inputs: int = 1,
        new_valve: Callable[[int, Downstream], StatusWatermarkValve] = StatusWatermarkValve,
    ) -> None:
        self.operator, self.place, self._recorder = operator, place, recorder
        self.process = operator.process
        self._valves: list[StatusWatermarkValve] = []
        if inputs > 1:
            combined = CombinedInputs(inputs, self)
            sizes = [len(range(number, channels, inputs)) for number in range(inputs)]
            self._valves = [new_valve(size, _Input(number, combined)) for number, size in enumerate(sizes)]
        elif channels > 1:
            self._valves = [new_valve(channels, self)]

    def receive_watermark(self, channel: int, watermark_ms: int) -> None:
        """Take a watermark from a channel."""
        self._recorder.delivered(self.place)
        if not self._valves:
            self.watermark(watermark_ms)
            return
        valve, number = self._valve(channel)
        left_out = valve.leaves_out(number)
        self._recorder.channel_watermark(self.place, channel, watermark_ms)
        if left_out and watermark_ms >= valve.watermark_ms:
            self._recorder.channel_status(self.place, channel, Status.ACTIVE)
        valve.watermark(number, watermark_ms)

    def receive_status(self, channel: int, *, idle: bool) -> None:
        """Take a status from a channel."""
        self._recorder.delivered(self.place)
        if not self._valves:
            self._status(idle=idle)
            return
        valve, number = self._valve(channel)
        if idle:
            self._recorder.channel_status(self.place, channel, Status.IDLE)
            valve.idle(number)
        else:
            status = Status.LEFT_OUT if valve.is_behind(number) else Status.ACTIVE
            self._recorder.channel_status(self.place, channel, status)
            valve.active(number)

    def _valve(self, channel: int) -> tuple[StatusWatermarkValve, int]:
        """Give the valve of a channel, and the channel's number there."""
        number, which = divmod(channel, len(self._valves))
        return self._valves[which], number

    def restore_watermark(self, watermark_ms: int) -> None:
        """Go on with a watermark from a checkpoint, as SQL's window aggregation does."""
        self._recorder.advanced(self.place, watermark_ms)
        self.operator.watermark_ms = watermark_ms

    # ------------------------------------------------- what comes out of the valve

    def watermark(self, watermark_ms: int) -> None:
        """Advance event time; one that is behind can come only after `restore_watermark`."""
        if watermark_ms > self.operator.watermark_ms:
            self._recorder.advanced(self.place, watermark_ms)
            self.operator.advance(watermark_ms)

    def idle(self) -> None:
        """Note that every channel is idle."""
        self._status(idle=True)

    def active(self) -> None:
        """Note that a channel is active again."""
        self._status(idle=False)

    def _status(self, *, idle: bool) -> None:
        self._recorder.task_status(self.place, idle=idle)


class _Input:
    """One of several inputs of an operator: what its valve lets through."""

    def __init__(self, number: int, combined: CombinedInputs) -> None:
        self.watermark = partial(combined.watermark, number)
        self.idle = partial(combined.idle, number)
        self.active = partial(combined.active, number)


def _delivery(task_of_key: dict[str, WindowTask], recorder: Recorder) -> Callable[[int], None]:
    """Make the function that takes a record to the task of its key; a closure, for its speed."""
    scenario = recorder.trace.scenario
    events, event_time, delivered = scenario.events, scenario.window.time == "event", recorder.record_delivered

    def deliver(record: int) -> None:
        event = events[record]
        key = event.key
        task = task_of_key[key]
        if delivered is not None:
            delivered(task.place)
        task.process(key, event.event_time_ms if event_time else recorder.at_ms, event.value, record)

    return deliver


class Exchange:
    """Where a source subtask sends: each record to the task of its key, watermarks and statuses to all.

    Parameters
    ----------
    subtask
        Which source subtask it is; also its place in the trace.
    tasks, of_key
        The window tasks, and the one of each key.
    recorder
        Writes down what is sent.

    Attributes
    ----------
    record
        Delivers a record, given its number.

    Notes
    -----
    Flink 2.3.0: RecordWriterOutput with KeyGroupStreamPartitioner. Which task a key goes to differs from Flink; no
    outcome depends on it.
    """

    def __init__(
        self, subtask: int, tasks: list[WindowTask], of_key: dict[str, WindowTask], recorder: Recorder
    ) -> None:
        self._subtask, self._tasks = subtask, tasks
        self._recorder = recorder
        self.record = _delivery(of_key, recorder)

    def watermark(self, watermark_ms: int) -> None:
        """Deliver a watermark to every task."""
        sent = self._recorder.sent(self._subtask, watermark_ms)
        for task in self._tasks:
            self._recorder.cause = sent
            task.receive_watermark(self._subtask, watermark_ms)

    def idle(self) -> None:
        """Deliver the status IDLE to every task."""
        self._status(idle=True)

    def active(self) -> None:
        """Deliver the status ACTIVE to every task."""
        self._status(idle=False)

    def _status(self, *, idle: bool) -> None:
        before = self._recorder.cause
        sent = self._recorder.sent_status(self._subtask, idle=idle)
        for task in self._tasks:
            self._recorder.cause = sent
            task.receive_status(self._subtask, idle=idle)
        self._recorder.cause = before  # in SQL the record follows that has made the stream active

    def split_watermark(self, split: int, watermark_ms: int) -> None:
        """Note that a split's watermark has risen."""
        self._recorder.split_watermark(self._subtask, split, watermark_ms)

    def split_status(self, split: int, *, idle: bool) -> None:
        """Note that a split has become idle or active."""
        self._recorder.split_status(self._subtask, split, idle=idle)


def tasks_of_keys(scenario: Scenario, tasks: Sequence[AnyTask]) -> dict[str, AnyTask]:
    """Give the window task of each key; the same on every machine."""
    keys = {event.key for event in scenario.events}
    return {key: tasks[crc32(key.encode("utf-8", "surrogatepass")) % len(tasks)] for key in keys}
