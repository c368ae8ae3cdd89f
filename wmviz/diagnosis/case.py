"""What the causes need: a job's facts, looked at from the windows that wait back to the sources."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from wmviz.diagnosis.facts import Facts, Task, is_time, subtasks
from wmviz.diagnosis.words import MINUTE_MS, SECOND_MS, short
from wmviz.times import DAY_MS

PATIENCE_MS = 10 * SECOND_MS
"""A watermark that is held for less than this may only be between two events."""
USUAL_PAUSES = 5
"""An input that has been silent for so many of its usual pauses is silent."""
CATCHING_UP = 3.0
"""A watermark that moves so many times faster than the clock reads old events: lag is no fault then."""
LONGEST_DELAY_MS = 5 * MINUTE_MS
LEAST_DELAY_MS = 30 * SECOND_MS
BUSY_MS = 500
FULL_MS = 950
"""A task that is busy for so many ms of each second can do no more."""


@dataclass(frozen=True)
class Cause:
    """Why a job may be silent or lossy.

    Attributes
    ----------
    name
        A short name: ``"idle-partition"``, …
    title
        It in a few words, with the place.
    certainty
        ``"certain"``, ``"likely"`` or ``"possible"``.
    evidence
        Sentences with the numbers that speak for it.
    advice
        What to do, and what that costs.
    fix
        The change as code: language → text.
    rank
        The higher, the more of the evidence it explains.
    """

    name: str
    title: str
    certainty: str
    evidence: tuple[str, ...]
    advice: str
    fix: dict[str, str] = field(default_factory=dict)
    rank: float = 0.5

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {**asdict(self), "evidence": list(self.evidence)}


@dataclass(frozen=True)
class Check:
    """Something that was ruled out, or not: a name, whether it is ruled out, and a sentence."""

    name: str
    ruled_out: bool
    sentence: str


@dataclass(frozen=True)
class Origin:
    """A subtask from which watermarks come, at both moments."""

    task: Task
    subtask: int
    before_ms: int | None
    now_ms: int | None
    read: int
    """Records since the job began."""
    read_now: int
    """Records between the two moments."""

    @property
    def moves(self) -> bool:
        """Whether its watermark moved."""
        return self.before_ms is not None and self.now_ms is not None and self.now_ms > self.before_ms

    @property
    def is_paused(self) -> bool:
        """Whether watermark alignment lets it wait, since it is too far ahead of others."""
        return (self.value("watermarkAlignmentDrift") or 0) > 0

    @property
    def place(self) -> str:
        """Say where it is."""
        return f"subtask {self.subtask} of {short(self.task.name)}"

    def splits(self) -> dict[str, dict[str, int]]:
        """Give its splits and their metrics."""
        return self.task.splits_of(self.subtask)

    def without_record(self) -> list[str]:
        """Give the partitions of a Kafka source from which no record came since the job began; others sent some."""
        offsets = {p: offset for (subtask, p), offset in self.task.offsets.items() if subtask == self.subtask}
        return sorted(p for p, offset in offsets.items() if offset is not None and offset < 0) if self.read else []

    def value(self, metric: str) -> int | None:
        """Give a metric of the source operator in this subtask."""
        return max(self.task.of_subtask(self.subtask, metric), default=None)


@dataclass(frozen=True)
class Limits:
    """What counts as a fault; None: what a job like this may have.

    Attributes
    ----------
    delay_ms
        How far a watermark may trail the events.
    silence_ms
        How long no source at all may read a record.
    """

    delay_ms: int | None = None
    silence_ms: int | None = None


class Case:
    """The facts of a job, looked at in the ways that the causes need."""

    def __init__(self, facts: Facts, limits: Limits | None = None) -> None:
        """Look at facts; `limits` says what counts as a fault."""
        self.facts = facts
        self.limits = limits or Limits()
        self.event_time = [w for w in facts.windows if w.kind in ("event time", "unknown")]
        self.held: set[str] = set()
        """Tasks in front of which everything waits: no lag there is a sign of a bound."""
        self.waiting: set[str] = set()
        """Tasks whose watermark is held by one input; the others go on."""
        self.wrong: set[str] = set()
        """Tasks whose watermarks are no times: nothing else can be said of those."""

    @property
    def now_ms(self) -> int:
        """The cluster's clock at the second moment."""
        return self.facts.now.at_ms

    def consumers(self) -> list[str]:
        """Give the ids of the tasks that keep time: those with windows, else all that read others."""
        windows = list(dict.fromkeys(window.task for window in self.event_time))
        if windows or self.facts.windows:
            return windows
        return [task.id for task in self.facts.now.tasks.values() if not task.is_source]

    def origins(self, task: str | None = None) -> list[Origin]:
        """Give the subtasks from which the watermarks of a task come; None: of all that keep time."""
        names = self.consumers() if task is None else [task]
        tasks = {each.id: each for name in names for each in self.facts.upstream(name)}
        return [self._origin(each, subtask) for each in tasks.values() for subtask in subtasks(each)]

    def _origin(self, task: Task, subtask: int) -> Origin:
        before = self.facts.earlier(task)
        read = task.records(subtask)
        return Origin(
            task, subtask, before.output_ms(subtask), task.output_ms(subtask), read, read - before.records(subtask)
        )

    def watermark(self, task: str) -> tuple[int | None, int | None]:
        """Give the lowest watermark that a task has received, at both moments."""
        now = self.facts.now.tasks[task]
        found = []
        for each in (self.facts.earlier(now), now):
            known = [ms for s in subtasks(each) if (ms := each.input_ms(s)) is not None]
            known = known or [ms for s in subtasks(each) for ms in each.of_subtask(s, "currentInputWatermark")]
            found.append(min(known, default=None))
        return found[0], found[1]

    def pace(self, origin: Origin) -> float:
        """Say how many times faster than the clock a watermark moves."""
        apart_ms = self.facts.apart_ms(origin.task.id, origin.subtask)
        if not (is_time(origin.before_ms) and is_time(origin.now_ms)) or apart_ms <= 0:
            return 0.0
        assert origin.before_ms is not None
        assert origin.now_ms is not None
        return (origin.now_ms - origin.before_ms) / apart_ms

    def silent_partitions(self, origin: Origin) -> list[str]:
        """Give the partitions that hold a subtask: its lowest split, or those of Kafka that sent nothing."""
        marks = {split: values.get("currentWatermark") for split, values in origin.splits().items()}
        if known := {split: ms for split, ms in marks.items() if ms is not None}:
            return [min(known, key=lambda split: known[split])]
        before = self.facts.earlier(origin.task).offsets
        mine = {each: offset for each, offset in origin.task.offsets.items() if each[0] == origin.subtask}
        return sorted(each[1] for each, offset in mine.items() if offset is not None and offset == before.get(each))

    def event_lags_ms(self, origin: Origin) -> list[int]:
        """Give how old events were when they left the source; without those that say: not known."""
        lags = self.facts.sampled(origin.task.id, origin.subtask, "currentEmitEventTimeLag")
        return [lag for lag in lags if lag != -1 and abs(lag) < 200 * 365 * DAY_MS]
