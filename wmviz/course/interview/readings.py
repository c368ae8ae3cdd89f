"""What the text of a card can read off the runs of its scenario.

A card's text has fields such as ``{met r9@7:05}``: a reading, and what it is about, mostly an event by its id. After a
bar comes the job that is read, where the card has several: ``{late | no bound}``. Every number in an answer is such a
field, so it is what the engine says. The few that no run can show are `DEFAULTS`, each with its source.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, TypeVar

import wmviz
from wmviz.scenario import Event, Scenario
from wmviz.times import duration_text, time_text
from wmviz.trace import CheckpointPhase, Firing, Kind, Record, Trace, TraceError, WindowOf

FIELD = re.compile(r"\{([^{}]+)\}")


class Default(NamedTuple):
    """A number of Flink that no scenario shows, and where it stands."""

    text: str
    source: str


DEFAULTS: Mapping[str, Default] = {
    "watermark interval": Default("200 ms", "pipeline.auto-watermark-interval"),
    "watermark step": Default("1 ms", "BoundedOutOfOrdernessWatermarks.onPeriodicEmit: newest - bound - 1"),
    "transaction timeout": Default("1 hour", "KafkaSinkBuilder.DEFAULT_KAFKA_TRANSACTION_TIMEOUT"),
    "broker limit": Default("15 minutes", "transaction.max.timeout.ms of a Kafka broker"),
    "full second": Default("1,000 ms", "idleTimeMsPerSecond + busyTimeMsPerSecond + backPressuredTimeMsPerSecond"),
    "first year": Default("1970", "timestamps are milliseconds since 1970-01-01T00:00:00Z"),
    "samples": Default("3", "pipeline.watermark-alignment.buffer-size"),
}
"""Name → what an answer may say without a run."""


class FieldError(ValueError):
    """A field of a card that cannot be read; the message is a sentence."""


@dataclass(frozen=True)
class Run:
    """A job and what came out of it."""

    scenario: Scenario
    trace: Trace

    def event(self, event_id: str) -> Event:
        """Give an event by its id."""
        return self.scenario.events[self.trace.event_index(event_id)]

    def pane(self, event_id: str) -> WindowOf:
        """Give the window of a key that took an event in; of a late one, the window that it came too late for."""
        index = self.trace.event_index(event_id)
        for row in self.trace.rows_of.get(("event", index), ()):
            if self.trace.kind[row] == Kind.ADDED:
                return self._after_merges(self.trace.subject[row])
        event = self.scenario.events[index]
        for pane in self.trace.windows:
            start_ms, end_ms = pane.window.start_ms, pane.window.end_ms
            within = start_ms is not None and end_ms is not None and start_ms <= event.event_time_ms < end_ms
            if within and pane.key == event.key:
                return pane
        raise FieldError(f"{event_id} is in no window of {self.scenario.name}.")

    def firings(self, event_id: str) -> list[Firing]:
        """Give the firings of the window of an event."""
        pane = self.pane(event_id)
        return [f for f in self.trace.all_firings if (f.key, f.window) == pane]

    def firing(self, event_id: str, nth: str) -> Firing:
        """Give one firing of the window of an event, counted from 1; the first if no number is given."""
        return self.firings(event_id)[int(nth or 1) - 1]

    def records(self, *kinds: Kind) -> Iterator[Record]:
        """Give the rows of some kinds, in order."""
        return (record for record in self.trace if record.kind in kinds)

    def sink(self, event_id: str) -> list[int]:
        """Give what a reader of the sink finds for the window of an event."""
        pane = self.pane(event_id)
        return [value for key, window, value in self.trace.state().sink if (key, window) == pane]

    def _after_merges(self, index: int) -> WindowOf:
        """Follow a session to the one that it has become part of."""
        into = {record.value: self.trace.subject[record.row] for record in self.records(Kind.MERGED)}
        while index in into:
            index = into[index]
        return self.trace.windows[index]


@cache
def run_of(scenario: Scenario) -> Run:
    """Run a job, once: the same job gives the same run."""
    return Run(scenario, wmviz.simulate(scenario))


# How a value is written ----------------------------------------------------------------------------------------------

Write = Callable[[Run, Any], str]


def _time(run: Run, ms: int) -> str:
    zone = run.scenario.zone
    text = time_text(ms, zone)
    return text if zone is None or run.scenario.window.zone else text.split()[-1].removeprefix("0")


def _length(_: Run, ms: int) -> str:
    return duration_text(ms)


def _number(_: Run, value: int) -> str:
    return f"{value:,}"


def _amount(run: Run, value: int) -> str:
    return f"{value:,} {run.scenario.unit}".strip()


def _words(_: Run, value: str) -> str:
    return value


class _Reading(NamedTuple):
    take: Callable[[Run, str], Any]
    write: Write


READINGS: dict[str, _Reading] = {}
"""Name of a reading → how its value is taken from a run, and how it is written."""


_Value = TypeVar("_Value")


def _reads(write: Write) -> Callable[[Callable[[Run, str], _Value]], Callable[[Run, str], _Value]]:
    """Take a function as a reading of its name."""

    def take(function: Callable[[Run, str], _Value]) -> Callable[[Run, str], _Value]:
        READINGS[function.__name__] = _Reading(function, write)
        return function

    return take


def read(text: str, runs: Callable[[str], Run]) -> str:
    """Fill the fields of a text.

    Parameters
    ----------
    text
        A text of a card.
    runs
        Gives the run of a job by its name; the empty name is the card's scenario itself.

    Raises
    ------
    FieldError
        If there is no such reading, or the run has nothing of that kind.
    """

    def filled(field: re.Match[str]) -> str:
        about, _, job = field[1].partition("|")
        run = runs(job.strip())
        name = about.split()[0]
        if name not in READINGS:
            raise FieldError(f"There is no reading {name!r}; there are {', '.join(sorted(READINGS))}.")
        return READINGS[name].write(run, _value(run, about.strip()))

    return FIELD.sub(filled, text)


def _value(run: Run, about: str) -> Any:
    name, _, rest = about.partition(" ")
    try:
        value = READINGS[name].take(run, rest.strip())
    except (LookupError, StopIteration, TraceError) as error:
        raise FieldError(f"{run.scenario.name} has nothing to read for {about!r}.") from error
    if value is None:
        raise FieldError(f"{run.scenario.name} has no value for {about!r}.")
    return value


# Settings ------------------------------------------------------------------------------------------------------------


@_reads(_words)
def default(_: Run, name: str) -> str:
    """Give a number of Flink itself."""
    return DEFAULTS[name].text


_LENGTHS: Mapping[str, Callable[[Scenario], int | None]] = {
    "bound": lambda s: s.bound_ms,
    "lateness": lambda s: s.lateness_ms,
    "interval": lambda s: s.interval_ms,
    "timeout": lambda s: s.idle_timeout_ms,
    "size": lambda s: s.window.size_ms,
    "slide": lambda s: s.window.slide_ms,
    "gap": lambda s: s.window.gap_ms,
    "offset": lambda s: s.window.offset_ms,
    "work": lambda s: s.work_ms,
    "drift": lambda s: s.alignment.drift_ms if s.alignment else None,
    "checkpoints": lambda s: s.checkpoints.interval_ms if s.checkpoints else None,
    "transactions": lambda s: s.transaction_timeout_ms,
    "down": lambda s: s.happenings[-1].down_ms,
}


@_reads(_length)
def length(run: Run, name: str) -> int | None:
    """Give a length of time among the settings."""
    return _LENGTHS[name](run.scenario)


_NUMBERS: Mapping[str, Callable[[Scenario], int]] = {
    "partitions": lambda s: s.partition_count,
    "subtasks": lambda s: s.subtasks,
    "events": lambda s: len(s.events),
    "keys": lambda s: len({event.key for event in s.events}),
    "room": lambda s: s.channel_capacity,
    "trigger": lambda s: int(s.window.trigger.partition(":")[2]),
}


@_reads(_number)
def number(run: Run, name: str) -> int:
    """Count partitions, subtasks, events, keys, elements that a channel holds, or what a count trigger counts to."""
    return _NUMBERS[name](run.scenario)


# One event -----------------------------------------------------------------------------------------------------------


@_reads(_time)
def at(run: Run, event_id: str) -> int:
    """Give the time of an event."""
    return run.event(event_id).event_time_ms


@_reads(_time)
def arrival(run: Run, event_id: str) -> int:
    """Give when an event reaches the source."""
    return run.event(event_id).arrival_time_ms


@_reads(_words)
def who(run: Run, event_id: str) -> str:
    """Give the key of an event."""
    return run.event(event_id).key


@_reads(_amount)
def amount(run: Run, event_id: str) -> int:
    """Give the value of an event."""
    return run.event(event_id).value


@_reads(_length)
def delay(run: Run, event_id: str) -> int:
    """Give how long an event was on its way."""
    return arrival(run, event_id) - at(run, event_id)


@_reads(_length)
def behind(run: Run, event_id: str) -> int:
    """Give how far an event is behind the newest one that came before it."""
    index = run.trace.event_index(event_id)
    return max(e.event_time_ms for e in run.scenario.events[: index + 1]) - at(run, event_id)


@_reads(_time)
def met(run: Run, event_id: str) -> int:
    """Give the watermark that an event met at the window operator."""
    return run.trace.seen_watermarks[event_id]


_FATES = {
    Kind.LATE: "goes to the side output",
    Kind.DROPPED: "is dropped",
    Kind.NO_WINDOW: "is in no window",
    Kind.LOST: "is lost",
}


@_reads(_words)
def fate(run: Run, event_id: str) -> str:
    """Say what becomes of an event: "is on time", "is late but counted", "goes to the side output" ..."""
    index = run.trace.event_index(event_id)
    kinds = [(Kind(run.trace.kind[row]), row) for row in run.trace.rows_of[("event", index)]]
    for kind, row in reversed(kinds):
        if kind in _FATES:
            return _FATES[kind]
        if kind == Kind.ADDED:
            window = run.trace.windows[run.trace.subject[row]].window
            late = window.end_ms is not None and met(run, event_id) >= window.end_ms - 1
            return "is late but counted" if late else "is on time"
    raise LookupError(event_id)


# The window of an event ----------------------------------------------------------------------------------------------


@_reads(_time)
def start(run: Run, event_id: str) -> int | None:
    """Give where the window of an event starts."""
    return run.pane(event_id).window.start_ms


@_reads(_time)
def end(run: Run, event_id: str) -> int | None:
    """Give where the window of an event ends."""
    return run.pane(event_id).window.end_ms


@_reads(_words)
def hour(run: Run, event_id: str) -> str:
    """Write the window of an event: "6:00 to 7:00"."""
    return f"{_time(run, start(run, event_id) or 0)} to {_time(run, end(run, event_id) or 0)}"


@_reads(_time)
def last(run: Run, event_id: str) -> int:
    """Give the last millisecond of the window of an event."""
    return (end(run, event_id) or 0) - 1


@_reads(_number)
def hours(run: Run, event_id: str) -> int:
    """Count the hours of the window of an event."""
    return ((end(run, event_id) or 0) - (start(run, event_id) or 0)) // 3_600_000


@_reads(_time)
def fired(run: Run, about: str) -> int:
    """Give when the window of an event fired by the server's clock: the first time, or the n-th."""
    event_id, _, nth = about.partition(" ")
    return run.firing(event_id, nth).at_ms


@_reads(_time)
def cause(run: Run, about: str) -> int:
    """Give the time of the event that made the window of an event fire."""
    fired_ms = fired(run, about)
    return next(e.event_time_ms for e in run.scenario.events if e.arrival_time_ms == fired_ms)


@_reads(_amount)
def result(run: Run, about: str) -> int:
    """Give the result of the window of an event: of its first firing, or of the n-th."""
    event_id, _, nth = about.partition(" ")
    return run.firing(event_id, nth).value


@_reads(_words)
def times(run: Run, event_id: str) -> str:
    """Say how often the window of an event fires: "fires twice", "does not fire"."""
    count = len(run.firings(event_id))
    return f"fires {_often(count)}" if count else "does not fire"


@_reads(_words)
def seen(run: Run, event_id: str) -> str:
    """Say how often the result of the first firing is in the sink, for its reader."""
    first = run.firing(event_id, "1").value
    return _often(run.sink(event_id).count(first))


@_reads(_words)
def shows(run: Run, event_id: str) -> str:
    """Write what a reader of the sink finds for the window of an event."""
    found = [_amount(run, value) for value in run.sink(event_id)]
    return " and ".join(found) or "nothing"


@_reads(_amount)
def summed(run: Run, event_id: str) -> int:
    """Add up the results of all firings of the window of an event, as a sink that adds would."""
    return sum(f.value for f in run.firings(event_id))


@_reads(_number)
def rows(run: Run, event_id: str) -> int:
    """Count the rows in the sink of the key of an event."""
    return sum(key == who(run, event_id) for key, _, _ in run.trace.state().sink)


@_reads(_time)
def readable(run: Run, event_id: str) -> int:
    """Give when a reader of the sink first finds a row for the window of an event."""
    pane = run.pane(event_id)
    steps = range(run.trace.steps)
    step = next(s for s in steps if any((key, w) == pane for key, w, _ in run.trace.state(s).sink))
    return run.trace.step_at_ms[step]


@_reads(_time)
def gone(run: Run, event_id: str) -> int:
    """Give the watermark at which the state of the window of an event is deleted."""
    pane = run.pane(event_id)
    row = next(record for record in run.records(Kind.CLEANED) if record.subject == pane)
    return run.trace.watermark_at(row.row)


def _often(count: int) -> str:
    return {0: "not at all", 1: "once", 2: "twice"}.get(count, f"{count} times")


# Counts --------------------------------------------------------------------------------------------------------------


@_reads(_length)
def stretch(run: Run, _: str) -> int:
    """Give the time between the oldest and the newest event, in event time."""
    times_ms = [event.event_time_ms for event in run.scenario.events]
    return max(times_ms) - min(times_ms)


@_reads(_number)
def late(run: Run, _: str) -> int:
    """Count the events in the side output."""
    return len(run.trace.outcomes().late)


@_reads(_number)
def dropped(run: Run, _: str) -> int | None:
    """Give what numLateRecordsDropped says."""
    return run.trace.dropped_count


@_reads(_words)
def slow(run: Run, _: str) -> str:
    """Give the share of the events that are on their way for longer than the bound."""
    s = run.scenario
    return _share(sum(e.arrival_time_ms - e.event_time_ms > s.bound_ms for e in s.events), len(s.events))


@_reads(_words)
def missed(run: Run, _: str) -> str:
    """Give the share of the events that are not in the first result of their window."""
    first = sum(len(f.event_ids) for f in run.trace.all_firings if f.nth == 1)
    waiting = sum(len(w.event_ids) for w in run.trace.state().windows if not w.firings)
    count = len(run.scenario.events)
    return _share(count - first - waiting, count)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %"


@_reads(_number)
def results(run: Run, _: str) -> int:
    """Count the firings of all windows."""
    return len(run.trace.all_firings)


@_reads(_number)
def copies(run: Run, event_id: str) -> int:
    """Count the windows that take an event in."""
    index = run.trace.event_index(event_id)
    return sum(run.trace.kind[row] == Kind.ADDED for row in run.trace.rows_of[("event", index)])


# Clocks --------------------------------------------------------------------------------------------------------------


@_reads(_time)
def mark(run: Run, about: str) -> int:
    """Give the watermark of a place at the end, or ``when`` an event has just arrived."""
    place, _, event_id = about.partition(" when ")
    step = run.trace.step_at(arrival(run, event_id)) if event_id else None
    return run.trace.state(step).watermarks[place]


@_reads(_length)
def lead(run: Run, places: str) -> int:
    """Give how far the watermark of one place is ahead of another's, at most."""
    ahead, after = places.split(" of ")
    states = (run.trace.state(step).watermarks for step in range(run.trace.steps))
    both = [(marks[ahead], marks[after]) for marks in states]
    return max(fast - slow for fast, slow in both if min(fast, slow) >= 0)


@_reads(_time)
def paused(run: Run, _: str) -> int:
    """Give when watermark alignment lets a source wait for the first time."""
    return next(r.at_ms for r in run.records(Kind.PAUSED) if r.value)


# Checkpoints and crashes ---------------------------------------------------------------------------------------------


def _phase(run: Run, phase: CheckpointPhase, nth: str) -> int:
    found = [r.at_ms for r in run.records(Kind.CHECKPOINT) if r.value == phase]
    return found[int(nth or 1) - 1]


@_reads(_time)
def begun(run: Run, nth: str) -> int:
    """Give when a checkpoint starts, counted from 1."""
    return _phase(run, CheckpointPhase.STARTED, nth)


@_reads(_time)
def complete(run: Run, nth: str) -> int:
    """Give when a checkpoint is complete, counted from 1."""
    return _phase(run, CheckpointPhase.COMPLETED, nth)


@_reads(_time)
def blocked(run: Run, channel: str) -> int:
    """Give when a channel is blocked for the first time."""
    return next(r.at_ms for r in run.records(Kind.BLOCKED) if r.subject == channel and r.value)


@_reads(_time)
def unblocked(run: Run, channel: str) -> int:
    """Give when a blocked channel goes on."""
    return next(r.at_ms for r in run.records(Kind.BLOCKED) if r.subject == channel and not r.value)


@_reads(_number)
def stored(run: Run, _: str) -> int:
    """Count the elements from channels that become part of the first unaligned checkpoint."""
    row = next(run.records(Kind.STORED))
    return sum(map(len, run.trace.details[row.row].values()))


@_reads(_time)
def crashed(run: Run, _: str) -> int:
    """Give when the job fails."""
    return next(run.records(Kind.CRASHED)).at_ms


@_reads(_time)
def restored(run: Run, _: str) -> int:
    """Give when the job runs again."""
    return next(run.records(Kind.RESTORED)).at_ms


@_reads(_time)
def restart(run: Run, place: str) -> int:
    """Give the watermark of a place right after the restore."""
    return run.trace.state(next(run.records(Kind.RESTORED)).step).watermarks[place]


@_reads(_amount)
def reloaded(run: Run, event_id: str) -> int:
    """Give what the window of an event holds when it comes back from the checkpoint."""
    pane = run.pane(event_id)
    return int(next(r.value for r in run.records(Kind.RELOADED) if r.subject == pane))


@_reads(_number)
def again(run: Run, _: str) -> int:
    """Count the events that the source reads again after the restore."""
    return sum(1 for _ in run.records(Kind.REWOUND))


# Between two readings ------------------------------------------------------------------------------------------------


@_reads(_length)
def span(run: Run, about: str) -> int:
    """Give the time between two readings: ``span fired A to readable A``."""
    first, _, second = about.partition(" to ")
    return int(_value(run, second)) - int(_value(run, first))
