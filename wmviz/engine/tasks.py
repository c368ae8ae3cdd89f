"""The tasks of the job and the channels between them: source subtasks, keyed exchange, window tasks."""

from __future__ import annotations

from binascii import crc32
from collections.abc import Callable

from wmviz.engine.recording import Recorder
from wmviz.engine.valve import StatusWatermarkValve
from wmviz.engine.window_operator import WindowOperator
from wmviz.scenario import Scenario
from wmviz.trace import Status


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
    """

    def __init__(self, place: int, operator: WindowOperator, channels: int, recorder: Recorder) -> None:
        self.operator, self.place, self._recorder = operator, place, recorder
        self.process = operator.process
        self._valve = StatusWatermarkValve(channels, self) if channels > 1 else None

    def receive_watermark(self, channel: int, watermark_ms: int) -> None:
        """Take a watermark from a channel."""
        self._recorder.delivered(self.place)
        if self._valve is None:
            self.watermark(watermark_ms)
            return
        left_out = self._valve.leaves_out(channel)
        self._recorder.channel_watermark(self.place, channel, watermark_ms)
        if left_out and watermark_ms >= self._valve.watermark_ms:
            self._recorder.channel_status(self.place, channel, Status.ACTIVE)
        self._valve.watermark(channel, watermark_ms)

    def receive_status(self, channel: int, *, idle: bool) -> None:
        """Take a status from a channel."""
        self._recorder.delivered(self.place)
        if self._valve is None:
            self._status(idle=idle)
            return
        if idle:
            self._recorder.channel_status(self.place, channel, Status.IDLE)
            self._valve.idle(channel)
        else:
            status = Status.LEFT_OUT if self._valve.is_behind(channel) else Status.ACTIVE
            self._recorder.channel_status(self.place, channel, status)
            self._valve.active(channel)

    # ------------------------------------------------- what comes out of the valve

    def watermark(self, watermark_ms: int) -> None:
        """Advance event time."""
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
        sent = self._recorder.sent_status(self._subtask, idle=idle)
        for task in self._tasks:
            self._recorder.cause = sent
            task.receive_status(self._subtask, idle=idle)

    def split_watermark(self, split: int, watermark_ms: int) -> None:
        """Note that a split's watermark has risen."""
        self._recorder.split_watermark(self._subtask, split, watermark_ms)

    def split_status(self, split: int, *, idle: bool) -> None:
        """Note that a split has become idle or active."""
        self._recorder.split_status(self._subtask, split, idle=idle)


def tasks_of_keys(scenario: Scenario, tasks: list[WindowTask]) -> dict[str, WindowTask]:
    """Give the window task of each key; the same on every machine."""
    keys = {event.key for event in scenario.events}
    return {key: tasks[crc32(key.encode("utf-8", "surrogatepass")) % len(tasks)] for key in keys}
