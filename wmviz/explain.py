"""Every kind of record has its sentence: what happened, and why, with the numbers.

The one table is `SENTENCES`. A sentence is made from the row and the rows before it, never stored.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from html import escape

from wmviz.engine.windows import assigner_of
from wmviz.explain_runtime import RUNTIME_SENTENCES, capital, counted, is_reset, reset_sentence
from wmviz.scenario import Event
from wmviz.times import MAX_MS, MIN_MS, duration_text, time_text
from wmviz.trace import Kind, Record, Status, Trace, WindowOf
from wmviz.window import AnyWindow


class Story(tuple[str, ...]):
    """Sentences in order; shows as a list in a notebook, and as lines in a terminal."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Give one sentence a line."""
        return "\n".join(self)

    __str__ = __repr__

    def _repr_html_(self) -> str:
        """Give an ordered list."""
        return "<ol>" + "".join(f"<li>{escape(line)}</li>" for line in self) + "</ol>"


def sentence(trace: Trace, row: int) -> str:
    """Say in a sentence what a row means and why it happened."""
    record, teller = trace[row], _Teller(trace, row)
    made = reset_sentence if is_reset(trace, record) else SENTENCES[record.kind]
    return made(teller, record)


def life(trace: Trace, event_id: str) -> Story:
    """Tell the life of one event, from its arrival to what a reader of the sink sees of it.

    Raises
    ------
    TraceError
        If the scenario has no such event.
    """
    event = trace.event_index(event_id)
    rows = set(trace.rows_of.get(("event", event), ()))
    windows = {trace.subject[row] for row in rows if trace.kind[row] == Kind.ADDED}
    merges = [row for row, kind in enumerate(trace.kind) if kind == Kind.MERGED and row > min(rows, default=0)]
    for row in merges:
        if trace.value[row] in windows:
            windows.add(trace.subject[row])
            rows.add(row)
    fired = (row for row in trace.contents if trace.kind[row] == Kind.FIRED)
    asked = (row for row in fired if trace.subject[row] in windows or Kind.ADDED not in trace.observed)
    firings = [row for row in asked if event in trace.firing_events(row)]
    rows.update(firings)
    lines = [f"{_clock(trace, row)}: {sentence(trace, row)}" for row in sorted(rows)]
    if not rows:
        return Story([_unread(trace, event)])
    return Story([*lines, _Teller(trace).seen(event, firings)])


def _unread(trace: Trace, event: int) -> str:
    """Say why nothing is told of an event."""
    it = trace.scenario.events[event]
    if trace.observed != frozenset(Kind):
        return f"{it.id} is not in what this run reports."
    subtask, partition = trace.places[it.partition % trace.scenario.subtasks], f"partition {it.partition}"
    held = sorted({subtask, partition} & trace.state().paused)
    why = f": watermark alignment still lets {_task(held[0])} wait, which is too far ahead" if held else ""
    return f"The source has not read {it.id} by the end of this run{why}."


def _clock(trace: Trace, row: int) -> str:
    return time_text(trace.step_at_ms[trace.step[row]], trace.scenario.zone)


class _Teller:
    """Words for the things of one trace: times in its zone, values with its unit."""

    def __init__(self, trace: Trace, row: int = 0) -> None:
        self.trace = trace
        self.scenario = trace.settings_at(row)

    # ------------------------------------------------------------ words

    def time(self, ms: int) -> str:
        """A point in time, in the scenario's zone."""
        return time_text(ms, self.scenario.zone)

    def window(self, window: AnyWindow) -> str:
        """A window as [start, end)."""
        if window.start_ms is None:
            return "the global window"
        return f"[{self.time(window.start_ms)}, {self.time(window.end_ms)})"

    def value(self, value: int) -> str:
        """A value with its unit."""
        return f"{value:,} {self.scenario.unit}".rstrip()

    def place(self, name: str) -> str:
        """A task or partition in the middle of a sentence."""
        return _task(name)

    def cleanup(self, window: AnyWindow) -> str:
        """Where the cleanup time of a window comes from."""
        last_ms, lateness_ms = window.max_timestamp_ms, self.scenario.lateness_ms
        if not lateness_ms:
            return self.time(last_ms)
        gone_ms = window.cleanup_ms(lateness_ms)
        clock = "" if gone_ms in (last_ms + lateness_ms, MAX_MS) else f" by the clock of {self.scenario.window.zone}"
        return f"{self.time(gone_ms)} ({self.time(last_ms)} + {duration_text(lateness_ms)} of lateness{clock})"

    def last(self, window: AnyWindow) -> str:
        """What the time of a window's timer is to the window."""
        if window.end_ms is None or window.max_timestamp_ms == window.end_ms - 1:
            return "its last millisecond"
        return f"where Flink sets its timer near a change of the clock in {self.scenario.window.zone}"

    def watermark_at(self, row: int) -> int:
        """The window operator's watermark at a row."""
        return self.trace.watermark_at(row)

    def seen(self, event: int, firings: list[int]) -> str:
        """What a reader of the sink sees of an event at the end."""
        name, trace = self.scenario.events[event].id, self.trace
        if not firings:
            return f"At the end, no result counts {name}."
        # After a crash an event may be in one firing twice.
        times = {row: trace.firing_events(row).count(event) for row in firings}
        if self.scenario.sink == "append":
            how_often = _times(sum(times.values()))
            return f"At the end, the sink counts {name} {how_often}: an append sink keeps a row per firing."
        if self.scenario.sink == "transactional":
            readable = {trace.cause[row] for row, kind in enumerate(trace.kind) if kind == Kind.COMMITTED}
            seen = sum(times.get(trace.cause[row], 0) for row in readable)
            return f"At the end, a reader of committed results counts {name} {_times(seen)}."
        fired = (row for row in trace.contents if trace.kind[row] == Kind.FIRED)
        last = {trace.subject[row]: row for row in fired}
        kept = sum(count for row, count in times.items() if last[trace.subject[row]] == row)
        return f"At the end, the sink counts {name} {_times(kept)}; {counted(len(firings), 'firing')} had it."

    # ------------------------------------------------------------ sentences

    def arrived(self, record: Record) -> str:
        """ARRIVED."""
        event = _event(record)
        if record.at_ms != event.arrival_time_ms:
            return self._read_later(event, record)
        lag_ms = event.arrival_time_ms - event.event_time_ms
        side = "after" if lag_ms > 0 else "before"
        lag = f"{duration_text(abs(lag_ms))} {side} it happened" if lag_ms else "as it happens"
        return f"{event.id} ({self.value(event.value)}) reaches the source at {self.time(record.at_ms)}, {lag}."

    def _read_later(self, event: Event, record: Record) -> str:
        """Tell of an event that was not read when it came."""
        who = f"{event.id} ({self.value(event.value)})"
        rows = self.trace.rows_of["event", self.trace.subject[record.row]]
        if any(row < record.row and self.trace.kind[row] == Kind.ARRIVED for row in rows):
            return f"The source reads {who} again at {self.time(record.at_ms)}."
        since = self.time(event.arrival_time_ms)
        return f"The source reads {who} at {self.time(record.at_ms)}; it has waited there since {since}."

    def watermark(self, record: Record) -> str:
        """WATERMARK: of a source, a partition, a channel, or the window operator."""
        name, now = str(record.subject), self.time(record.value)
        if "→" in name and record.value == MIN_MS:
            return f"The watermark of channel {name} is back at the start."
        if "→" in name:
            source, task = name.split(" → ")
            return f"Watermark {now} of {source} reaches {_task(task)}."
        who = _task(name)
        if record.value == MIN_MS:
            return f"The watermark of {who} is back at the start: it is no part of a checkpoint."
        if record.value == MAX_MS:
            return f"The input has ended: the watermark of {who} is MAX, so nothing can come any more."
        if members := self._members(name, record.row):
            idle = all(status == Status.IDLE for _, status in members)
            which = "the highest of all, since every one is idle" if idle else "the lowest that counts"
            return f"The watermark of {who} is now {now}, {which}: {', '.join(text for text, _ in members)}."
        if name.startswith("window"):
            return f"The watermark of {who} is now {now}: no event at or before it is expected."
        if name.startswith("partition"):
            return f"{self._newest(record.value, f' of {who}')}, its watermark is {now}."
        return f"{self._newest(record.value)}, {who} sends watermark {now}."

    def _newest(self, watermark_ms: int, where: str = "") -> str:
        if self.scenario.api == "sql":
            reached = self.time(watermark_ms + self.scenario.bound_ms)
            bound = f"; minus the bound of {duration_text(self.scenario.bound_ms)}" if self.scenario.bound_ms else ""
            return f"The newest event time{where} is {reached}{bound}, and in SQL minus nothing"
        bound_ms = 0 if self.scenario.strategy == "ascending" else self.scenario.bound_ms
        newest = f"The newest event time{where} is {self.time(watermark_ms + bound_ms + 1)}"
        bound = "" if self.scenario.strategy == "ascending" else f"minus the bound of {duration_text(bound_ms)}, "
        return f"{newest}; {bound}minus 1 ms"

    def _members(self, name: str, row: int) -> list[tuple[str, Status]]:
        """What a task combines: each input with its watermark, and whether it counts; empty for a single one."""
        trace = self.trace
        if name.startswith("window"):
            inputs = [clock for clock in trace.clocks if clock.endswith(f"→ {name}")]
        elif name.startswith("source"):
            subtask = trace.places.index(name)
            read = {f"partition {number}" for number in self.scenario.partitions_of(subtask)}
            inputs = [clock for clock in trace.clocks if clock in read]
        else:
            inputs = []
        return [self._member(clock, row) for clock in inputs]

    def _member(self, clock: str, row: int) -> tuple[str, Status]:
        index, name = self.trace.clocks.index(clock), clock.split(" → ")[0]
        if not name.startswith("source") and self.trace.value_before(("input", index), row) is not None:
            return f"{name} (ended)", Status.IDLE
        status = Status(self.trace.value_before(("status", index), row) or 0)
        watermark_ms = self.trace.value_before(("clock", index), row)
        at = self.time(MIN_MS if watermark_ms is None else watermark_ms)
        why = {Status.ACTIVE: "", Status.IDLE: " (idle)", Status.LEFT_OUT: " (left out)"}[status]
        return f"{name} {at}{why}", status

    def status(self, record: Record) -> str:
        """STATUS: of a source, a partition, a channel, or the window operator."""
        name, status = str(record.subject), Status(record.value)
        if "→" in name:
            return self._channel_status(name, status, record)
        who = _task(name)
        if status == Status.ACTIVE:
            return capital(f"{who} is active again.")
        timeout = duration_text(self.scenario.idle_timeout_ms or 0)
        if name.startswith("source") and self.scenario.strategy == "none" and self.scenario.strategy_at == "source":
            return capital(
                f"{who} has sent no watermark for more than {timeout}, whatever events came: it counts as idle."
            )
        if self._members(name, record.row):
            of_window = "input" if self.scenario.inputs == 2 else "channel"
            inputs = of_window if name.startswith("window") else "partition"
            return f"Every {inputs} of {who} is idle: nobody waits for its watermark, which stands still."
        if name.startswith("window"):
            return capital(f"{who} is idle with its source: its watermark stands still.")
        is_reached = self.scenario.api == "sql" and self.scenario.strategy_at == "after"
        silence = timeout if is_reached else f"more than {timeout}"
        return capital(f"{who} had no event for {silence}: it is idle, and nobody waits for its watermark.")

    def _channel_status(self, channel: str, status: Status, record: Record) -> str:
        source, task = channel.split(" → ")
        task = _task(task)
        if status == Status.IDLE:
            return capital(f"{task} no longer waits for {source}, which is idle.")
        if status == Status.ACTIVE:
            return capital(f"{task} counts the watermark of {source} again.")
        now = self.time(self.watermark_at(record.row))
        return capital(
            f"{source} is active again but behind the watermark of {task}, {now}: until it catches up, it is left out."
        )

    def added(self, record: Record) -> str:
        """ADDED."""
        event = self.scenario.events[self.trace.event_of(record.row)]
        window = _window(record)
        kind = "" if window.start_ms is None else "window "
        holds = f"{kind}{self.window(window)} of {event.key} now holds {self.value(record.value)}"
        if self.scenario.window.time == "processing":
            return f"{event.id} counts for the window that the server's clock is in: {holds}."
        watermark_ms, last_ms = self.watermark_at(record.row), window.max_timestamp_ms
        if window.start_ms is not None and last_ms <= watermark_ms:
            return (
                f"{event.id} is late: the last millisecond of its window {self.window(window)} is {self.time(last_ms)} "
                f"and the watermark is {self.time(watermark_ms)}; the state lasts to {self.cleanup(window)}, "
                f"so it still counts: {holds}."
            )
        if event.event_time_ms <= watermark_ms:
            return (
                f"{event.id} is behind the watermark {self.time(watermark_ms)} but not late: the last millisecond of "
                f"its window, {self.time(last_ms)}, is still ahead; {holds}."
            )
        if window.start_ms is None:
            return f"{event.id} is taken in: {holds}."
        return f"{event.id} is on time: {holds}."

    def missed(self, record: Record) -> str:
        """MISSED."""
        event, window = _event(record), self.trace.windows[record.value].window
        return (
            f"{event.id} is too late for window {self.window(window)}, which was deleted at {self.cleanup(window)}; "
            f"its other windows have it, so nothing reports this."
        )

    def late(self, record: Record) -> str:
        """LATE."""
        return f"{self._too_late(record)}; it goes to the side output."

    def dropped(self, record: Record) -> str:
        """DROPPED."""
        return f"{self._too_late(record)}; it is dropped, and numLateRecordsDropped goes up by one."

    def _too_late(self, record: Record) -> str:
        event, watermark = _event(record), self.time(record.value)
        windows = assigner_of(self.scenario.window).assign(event.event_time_ms)
        if not windows:
            return f"{event.id} falls between two windows and is behind the watermark {watermark}"
        gone = self.cleanup(windows[0])
        if self.scenario.window.type == "session":
            own = f"its own window {self.window(windows[0])} lasts only to watermark {gone}"
            return f"{event.id} is too late: it touches no live session, {own}, and the watermark is {watermark}"
        which = f"its window {self.window(windows[0])} was" if len(windows) == 1 else "all its windows were"
        last = "deleted at" if len(windows) == 1 else "deleted, the last one at"
        return f"{event.id} is too late: {which} {last} watermark {gone}, and the watermark is {watermark}"

    def no_window(self, record: Record) -> str:
        """NO_WINDOW."""
        event, watermark_ms = _event(record), self.watermark_at(record.row)
        where = "is ahead of the watermark"
        if event.event_time_ms <= watermark_ms:
            where = f"is behind the watermark {self.time(watermark_ms)}, but by no more than the allowed lateness"
        return f"{event.id} falls between two windows and {where}: it vanishes uncounted."

    def fired(self, record: Record) -> str:
        """FIRED."""
        key, window = _of(record)
        nth, events = self.trace.nth_firing[record.row], self.trace.firing_events(record.row)
        what = capital(f"{self.window(window)} of {key} fires{' again' if nth > 1 else ''}")
        result = f"{self.value(record.value)} from {counted(len(events), 'event')}"
        return f"{what} with {result}{f' (firing {nth})' if nth > 1 else ''}: {self._why_fired(record, window)}."

    def _why_fired(self, record: Record, window: AnyWindow) -> str:
        watermark_ms, last_ms = self.watermark_at(record.row), window.max_timestamp_ms
        if "count" in self.scenario.window.trigger:
            return f"the count trigger {self.scenario.window.trigger.split(':')[1]} is reached"
        if self.scenario.window.time == "processing":
            return f"the server's clock has reached its end, {self.time(record.at_ms)}"
        if window.start_ms is None:
            return "the input has ended"
        by_event = record.cause is not None and self.trace.kind[record.cause] == Kind.ADDED
        if by_event or (self.trace.engine != "wmviz" and self.trace.nth_firing[record.row] > 1):
            return (
                f"a late event came, and the watermark {self.time(watermark_ms)} is already past {self.time(last_ms)}"
            )
        reach = "has reached" if watermark_ms == last_ms else f"is {self.time(watermark_ms)}, past"
        return f"the watermark {reach} {self.time(last_ms)}, {self.last(window)}"

    def purged(self, record: Record) -> str:
        """PURGED."""
        key, window = _of(record)
        return f"The purging trigger empties {self.window(window)} of {key}: the next firing starts from nothing."

    def cleaned(self, record: Record) -> str:
        """CLEANED."""
        key, window = _of(record)
        if self.scenario.window.time == "processing":
            return f"The state of {self.window(window)} of {key} is deleted with its firing."
        watermark = self.time(self.watermark_at(record.row))
        return (
            f"The state of {self.window(window)} of {key} is deleted: the watermark is {watermark} "
            f"and the state lasts to {self.cleanup(window)}."
        )

    def written(self, record: Record) -> str:
        """WRITTEN."""
        key, window = _of(record)
        row = f"The sink's row for {key} and {self.window(window)}"
        if self.scenario.sink == "transactional":
            where = f"for {key} and {self.window(window)}"
            return f"A new row {where} joins the open transaction: {self.value(record.value)}."
        if self.scenario.sink == "append":
            return f"A new row for {key} and {self.window(window)} is appended: {self.value(record.value)}."
        rows = self.trace.rows_of["sink", self.trace.subject[record.row]]
        before = bisect_left(rows, record.row) - 1
        if before < 0:
            return f"{row} is written: {self.value(record.value)}."
        was = self.value(self.trace.value[rows[before]])
        return f"{row} is overwritten: {was} becomes {self.value(record.value)}."

    def merged(self, record: Record) -> str:
        """MERGED."""
        key, window = _of(record)
        old = self.trace.windows[record.value].window
        return f"Session {self.window(old)} of {key} becomes part of {self.window(window)}: an event touches it."

    def ended(self, record: Record) -> str:
        """ENDED."""
        if str(record.subject).startswith("partition"):
            return f"{capital(str(record.subject))} has come to its end: nobody waits for its watermark any more."
        who, at = _task(str(record.subject)), self.time(record.at_ms)
        idle = self.trace.value_before(("status", self.trace.subject[record.row]), record.row) == Status.IDLE
        if idle and self.scenario.strategy_at == "source":
            return f"The input ends at {at}: {who} is idle, so its last watermark, MAX, is lost on the way."
        return f"The input ends at {at}: {who} sends a last watermark, MAX."


SENTENCES: dict[Kind, Callable[[_Teller, Record], str]] = {
    Kind.ARRIVED: _Teller.arrived,
    Kind.WATERMARK: _Teller.watermark,
    Kind.ADDED: _Teller.added,
    Kind.MISSED: _Teller.missed,
    Kind.LATE: _Teller.late,
    Kind.DROPPED: _Teller.dropped,
    Kind.NO_WINDOW: _Teller.no_window,
    Kind.FIRED: _Teller.fired,
    Kind.PURGED: _Teller.purged,
    Kind.CLEANED: _Teller.cleaned,
    Kind.WRITTEN: _Teller.written,
    Kind.ENDED: _Teller.ended,
    Kind.STATUS: _Teller.status,
    Kind.MERGED: _Teller.merged,
    **RUNTIME_SENTENCES,
}


def _task(name: str) -> str:
    """Name a task or partition in the middle of a sentence."""
    return {"source": "the source", "window": "the window operator"}.get(name, name)


def _event(record: Record) -> Event:
    assert isinstance(record.subject, Event)
    return record.subject


def _of(record: Record) -> WindowOf:
    assert isinstance(record.subject, WindowOf)
    return record.subject


def _window(record: Record) -> AnyWindow:
    return _of(record).window


def _times(number: int) -> str:
    return {0: "not at all", 1: "once", 2: "twice"}.get(number, f"{number} times")
