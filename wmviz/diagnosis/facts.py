"""What the answers say about a job: its tasks, their watermarks and counters, at two moments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import unescape
from statistics import median
from typing import Any

from wmviz.diagnosis.answers import JOIN, SPLIT, WORKED, Answers
from wmviz.diagnosis.client import like_flink
from wmviz.times import MAX_MS, MIN_MS, TimeError, duration_ms

SPLIT_METRIC = re.compile(rf"(\d+)\..+?\.split\.(.+)\.watermark\.({'|'.join(SPLIT)})")
KAFKA_OFFSET = re.compile(r"(\d+)\..+\.topic\.(.+)\.partition\.(\d+)\.currentOffset")
PLAIN_METRIC = re.compile(r"(\d+)\.(?:(.+)\.)?(\w+)")
EVENT_TIME_WINDOW = re.compile(
    r"(Tumbling|Sliding|DynamicSession|Session)?EventTime(?:Session)?Windows?\((\d+)(?:, (\d+))?"
)
SQL_WINDOW = re.compile(r"(TUMBLE|HOP|CUMULATE|SESSION)\(.*?(?:size|gap|max_size)=\[([^\]]+)\]")
GROUP_WINDOW = re.compile(r"(?:Tumbling|Sliding|Session)GroupWindow\('w\$, (\w+), (\d+)")
TIME_COLUMN = re.compile(r"time_col=\[(\w+)\]")
SQL_BOUND = re.compile(
    r"watermark=\[(?:\w+|\([^\[\]]+ - (\d+):INTERVAL[A-Z ]*\)|-\([^\[\]]+, (\d+):INTERVAL[A-Z ]*\))\]"
)
"""As the plan says it of an operator, and of a source that makes the watermarks itself."""
GENERATORS = ("Timestamps_Watermarks", "Timestamps/Watermarks", "WatermarkAssigner")


@dataclass
class Task:
    """A vertex of the job graph: operators that are chained together, in some subtasks.

    Attributes
    ----------
    id, name, status
        As Flink says.
    text
        Its operators and their arguments, a line each, indented as they are chained.
    parallelism
        How many subtasks.
    inputs
        Ids of the tasks that it reads.
    values
        (subtask, operator, metric) → number; the operator is empty where a metric is of the whole task.
    splits
        (subtask, split) → metric → number.
    offsets
        (subtask, partition) → offset of the last record that a Kafka source read from it; below 0: none yet.
    """

    id: str
    name: str
    status: str
    text: str
    parallelism: int
    inputs: list[str]
    values: dict[tuple[int, str, str], int] = field(default_factory=dict)
    splits: dict[tuple[int, str], dict[str, int]] = field(default_factory=dict)
    offsets: dict[tuple[int, str], int | None] = field(default_factory=dict)

    @property
    def is_source(self) -> bool:
        """Whether it reads no other task."""
        return not self.inputs

    @property
    def generates(self) -> bool:
        """Whether its watermarks come from it: from a source, or from a strategy behind one."""
        return self.is_source or any(op.startswith(GENERATORS) for op in self.operators("currentOutputWatermark"))

    def operators(self, metric: str) -> list[str]:
        """Give the operators that have a metric, by name."""
        return self._operators.get(metric, [])

    def value(self, subtask: int, metric: str, operator: str = "") -> int | None:
        """Give a number, or None where there is none."""
        return self.values.get((subtask, operator, metric))

    def of_subtask(self, subtask: int, metric: str) -> list[int]:
        """Give the numbers of all operators of a subtask."""
        return self._of_subtasks.get((subtask, metric), [])

    def total(self, metric: str, operator: str = "") -> int | None:
        """Add a number up over the subtasks."""
        return self._totals.get((metric, operator))

    def splits_of(self, subtask: int) -> dict[str, dict[str, int]]:
        """Give the splits of a subtask and their metrics."""
        return self._splits_of.get(subtask, {})

    # A job with hundreds of subtasks has thousands of numbers, so each way to look them up is made once.

    @cached_property
    def _operators(self) -> dict[str, list[str]]:
        found: dict[str, set[str]] = {}
        for _, operator, metric in self.values:
            if operator:
                found.setdefault(metric, set()).add(operator)
        return {metric: sorted(names) for metric, names in found.items()}

    @cached_property
    def _of_subtasks(self) -> dict[tuple[int, str], list[int]]:
        found: dict[tuple[int, str], list[int]] = {}
        for (subtask, operator, metric), value in self.values.items():
            if operator:
                found.setdefault((subtask, metric), []).append(value)
        return found

    @cached_property
    def _totals(self) -> dict[tuple[str, str], int]:
        found: dict[tuple[str, str], int] = {}
        for (_, operator, metric), value in self.values.items():
            found[metric, operator] = found.get((metric, operator), 0) + value
        return found

    @cached_property
    def _splits_of(self) -> dict[int, dict[str, dict[str, int]]]:
        found: dict[int, dict[str, dict[str, int]]] = {}
        for (subtask, split), values in sorted(self.splits.items()):
            found.setdefault(subtask, {})[split] = values
        return found

    def input_ms(self, subtask: int) -> int | None:
        """Give the watermark that a subtask has received."""
        return self.value(subtask, "currentInputWatermark")

    def output_ms(self, subtask: int) -> int | None:
        """Give the watermark that a subtask hands on: that of a strategy behind the source, if there is one."""
        return max(self.of_subtask(subtask, "currentOutputWatermark"), default=None)

    def mark_ms(self, subtask: int) -> int | None:
        """Give the watermark that counts of a subtask: what a source hands on, what another task has received."""
        if self.generates:
            return self.output_ms(subtask)
        known = self.input_ms(subtask)
        return known if known is not None else min(self.of_subtask(subtask, "currentInputWatermark"), default=None)

    def counted_ms(self, subtask: int) -> int | None:
        """Give how long a subtask had run when its numbers were taken, or None where it does not say."""
        parts = [self.value(subtask, metric) for metric in WORKED]
        return None if None in parts else sum(each or 0 for each in parts)

    @property
    def sql_bound_ms(self) -> int | None:
        """Give the bound that the table declares in SQL, or None where there is none, or another expression."""
        bounds = {int(found[1] or found[2] or 0) for found in SQL_BOUND.finditer(self.text)}
        return bounds.pop() if len(bounds) == 1 and self.text.count("watermark=[") == 1 else None

    def records(self, subtask: int) -> int:
        """Give how many records a subtask has handed on or received, whichever is more."""
        numbers = [*self.of_subtask(subtask, "numRecordsOut"), *self.of_subtask(subtask, "numRecordsIn")]
        return max(numbers, default=0)

    def leaves(self) -> list[str]:
        """Give the operators that no other operator of this task follows."""
        lines = [line for line in re.split(r"<br/?>|\n", self.text) if line.strip()]
        depths = [_depth(line) for line in lines]
        ends = [i for i, depth in enumerate(depths) if i + 1 == len(depths) or depths[i + 1] <= depth]
        return [lines[i][depths[i] :].strip() for i in ends]


def _depth(line: str) -> int:
    found = re.match(r"(?:[:+ |]  |[:+]- )*", line)
    return len(found[0]) if found else 0


@dataclass(frozen=True)
class Window:
    """An operator that counts late records: one with windows.

    Attributes
    ----------
    task
        Id of the task that it is in.
    operator
        Its name among the metrics.
    kind
        ``"event time"``, ``"processing time"``, ``"global"`` or ``"unknown"``.
    size_ms, every_ms
        How long a window is, and how often one ends; None where Flink does not tell.
    never
        Whether it is global and its trigger never fires.
    """

    task: str
    operator: str
    kind: str
    size_ms: int | None = None
    every_ms: int | None = None
    never: bool = False


@dataclass
class Moment:
    """A job at one moment.

    Attributes
    ----------
    at_ms
        The cluster's clock.
    name, state
        Of the job.
    began_ms
        When it last began to run; None if it does not run.
    tasks
        Id → task.
    is_batch
        Whether it runs in batch mode, where no watermark moves before the end.
    """

    at_ms: int
    name: str
    state: str
    began_ms: int | None
    tasks: dict[str, Task]
    is_batch: bool = False


@dataclass
class Facts:
    """A job at two moments.

    Attributes
    ----------
    answers
        What it is read from.
    before, now
        The two moments; the same one where there is only one.
    """

    answers: Answers
    before: Moment
    now: Moment

    @property
    def elapsed_ms(self) -> int:
        """Milliseconds from moment to moment."""
        return self.now.at_ms - self.before.at_ms

    @property
    def began_again(self) -> bool:
        """Whether the job began again between the moments, and all its numbers with it."""
        return (self.now.began_ms or 0) > self.before.at_ms

    @cached_property
    def _apart(self) -> dict[tuple[str, int], int]:
        found = {}
        for task in self.now.tasks.values():
            earlier = self.earlier(task)
            for subtask in subtasks(task):
                now_ms, before_ms = task.counted_ms(subtask), earlier.counted_ms(subtask)
                if earlier is not task and now_ms is not None and before_ms is not None and now_ms >= before_ms:
                    found[task.id, subtask] = now_ms - before_ms
        return found

    def apart_ms(self, task: str, subtask: int) -> int:
        """Give how far apart the numbers of a subtask were taken: a cluster takes them now and then only."""
        known = self._apart
        usual = round(median(known.values())) if known else self.elapsed_ms
        return known.get((task, subtask), usual)

    @property
    def is_stale(self) -> bool:
        """Whether the cluster gave the numbers of the first moment again at the second."""
        return bool(self._apart) and max(self._apart.values()) == 0 and self.elapsed_ms > 0

    @property
    def age_ms(self) -> int:
        """Milliseconds since the job last began to run."""
        return 0 if self.now.began_ms is None else max(self.now.at_ms - self.now.began_ms, 0)

    @property
    def version(self) -> str | None:
        """Version of Flink, if it says."""
        told = _dict(self.answers.once.get("/config")).get("flink-version")
        return None if told is None else str(told)

    @property
    def exceptions(self) -> list[dict[str, Any]]:
        """The last exceptions, the newest first."""
        told = self.answers.once.get(f"/jobs/{self.answers.job}/exceptions")
        return [each for each in told if isinstance(each, dict)] if isinstance(told, list) else []

    @property
    def checkpoints(self) -> dict[str, int]:
        """How many checkpoints completed and failed, and how long the newest took in ms; empty if there are none."""
        counts = _dict(self._checkpoints.get("counts"))
        newest = _dict(_dict(self._checkpoints.get("latest")).get("completed"))
        found = {name: counts.get(name) for name in ("completed", "failed", "in_progress")}
        found |= {
            "newest_duration_ms": newest.get("end_to_end_duration"),
            "newest_bytes": newest.get("checkpointed_size"),
        }
        return {name: value for name, value in found.items() if isinstance(value, int)}

    @property
    def newest_checkpoints(self) -> list[str]:
        """How the last checkpoints ended, the newest first, as ``"FAILED"``."""
        history = self._checkpoints.get("history")
        return [str(_dict(each).get("status")) for each in history] if isinstance(history, list) else []

    @property
    def checkpoint_failure(self) -> str | None:
        """Why the newest checkpoint that failed did so, if Flink says."""
        message = _dict(_dict(self._checkpoints.get("latest")).get("failed")).get("failure_message")
        return str(message).splitlines()[0] if message else None

    @property
    def _checkpoints(self) -> dict[str, Any]:
        return _dict(self.answers.once.get(f"/jobs/{self.answers.job}/checkpoints"))

    @cached_property
    def windows(self) -> list[Window]:
        """Every operator with windows."""
        tasks = self.now.tasks.values()
        found = [_window(task, op) for task in tasks for op in task.operators("numLateRecordsDropped")]
        return [replace(each, kind="processing time") if self._goes_by_the_clock(each) else each for each in found]

    def _goes_by_the_clock(self, window: Window) -> bool:
        """Say whether SQL's window is over a column that is PROCTIME(): the plan says so where the column is made."""
        text = self.now.tasks[window.task].text
        column = TIME_COLUMN.search(text) or GROUP_WINDOW.search(text)
        if window.kind == "global" or not column:
            return False
        made = [each.text for each in self.above(window.task)]
        return any(f"PROCTIME() AS {column[1]}" in each for each in made) and not any(
            f"rowtime=[{column[1]}]" in each for each in made
        )

    def above(self, task: str) -> list[Task]:
        """Give a task and all from which its records come."""
        found: dict[str, Task] = {}
        todo = [task]
        while todo:
            each = self.now.tasks.get(todo.pop())
            if each is not None and each.id not in found:
                found[each.id] = each
                todo += each.inputs
        return list(found.values())

    def upstream(self, task: str) -> list[Task]:
        """Give the tasks from which the watermarks of a task come."""
        found: list[Task] = []
        seen: set[str] = set()
        todo = list(self.now.tasks[task].inputs)
        while todo:
            each = self.now.tasks.get(todo.pop())
            if each is None or each.id in seen:
                continue
            seen.add(each.id)
            if each.generates:
                found.append(each)
            else:
                todo += each.inputs
        return found

    def readers(self, task: str) -> list[Task]:
        """Give the tasks that read a task."""
        return [each for each in self.now.tasks.values() if task in each.inputs]

    def earlier(self, task: Task) -> Task:
        """Give the same task at the first moment; itself, if the job began again since."""
        if self.began_again:
            return task
        return self.before.tasks.get(task.id, task)

    def sampled(self, task: str, subtask: int, metric: str) -> list[int]:
        """Give every number that a metric of a subtask had between the two moments and at them; the newest is last."""
        return self._sampled.get((task, subtask, metric), [])

    @cached_property
    def _sampled(self) -> dict[tuple[str, int, str], list[int]]:
        found: dict[tuple[str, int, str], list[int]] = {}
        for sample in self.answers.samples:
            for task, metrics in sample.items():
                for name, text in metrics.items():
                    plain, number = PLAIN_METRIC.fullmatch(name), _number(text)
                    if plain and number is not None:
                        found.setdefault((task, int(plain[1]), plain[3]), []).append(number)
        for at in (self.before, self.now):
            for task, told in at.tasks.items():
                for (subtask, operator, metric), number in told.values.items():
                    if operator:
                        found.setdefault((task, subtask, metric), []).append(number)
        return found


def _dict(told: object) -> dict[str, Any]:
    return told if isinstance(told, dict) else {}


def read(answers: Answers) -> Facts:
    """Find the facts in the answers.

    Raises
    ------
    DiagnosisError
        If they have another form than Flink's.
    """
    with like_flink(answers.address):
        moments = [_moment(answers.job, reading) for reading in answers.readings]
        return Facts(answers, moments[0], moments[-1])


def moment(told: Answers) -> Moment:
    """Find what the last of the readings says alone.

    Raises
    ------
    DiagnosisError
        If it has another form than Flink's.
    """
    return read(replace(told, readings=told.readings[-1:])).now


def _moment(job: str, reading: dict[str, Any]) -> Moment:
    detail = reading[f"/jobs/{job}"]
    plan = detail.get("plan") or {}
    nodes = {str(node["id"]): node for node in plan.get("nodes", [])}
    tasks = {}
    for vertex in detail["vertices"]:
        node = nodes.get(str(vertex["id"]), {})
        inputs = [str(each["id"]) for each in node.get("inputs") or []]
        text = unescape(str(node.get("description") or vertex["name"]))  # Flink writes it for its web page
        task = Task(
            str(vertex["id"]), str(vertex["name"]), str(vertex["status"]), text, int(vertex["parallelism"]), inputs
        )
        path = f"/jobs/{job}/vertices/{task.id}"
        _take_metrics(task, reading.get(f"{path}/metrics") or [])
        for each in reading.get(f"{path}/watermarks") or []:
            subtask, _, metric = str(each["id"]).partition(".")
            if (number := _number(each["value"])) is not None:
                task.values.setdefault((int(subtask), "", metric), number)
        tasks[task.id] = task
    running = int((detail.get("timestamps") or {}).get("RUNNING") or 0)
    state = str(detail["state"])
    exchanges = [str(each.get("exchange")) for node in nodes.values() for each in node.get("inputs") or []]
    is_batch = "BATCH" in (detail.get("job-type"), plan.get("type")) or "blocking" in exchanges
    began_ms = running or None if state == "RUNNING" else None
    return Moment(int(detail["now"]), str(detail["name"]), state, began_ms, tasks, is_batch)


def _take_metrics(task: Task, metrics: list[dict[str, str]]) -> None:
    for each in metrics:
        name = str(each["id"])
        if kafka := KAFKA_OFFSET.fullmatch(name):
            task.offsets[int(kafka[1]), f"{kafka[2]}-{kafka[3]}"] = _number(each.get("value"))
            continue
        number = _number(each.get("value"))
        if number is None:
            continue
        if split := SPLIT_METRIC.fullmatch(name):
            task.splits.setdefault((int(split[1]), split[2]), {})[split[3]] = number
        elif plain := PLAIN_METRIC.fullmatch(name):
            metric = "numLateRecordsDropped" if plain[3] in JOIN else plain[3]
            place = (int(plain[1]), plain[2] or "", metric)
            task.values[place] = number + (task.values.get(place, 0) if plain[3] in JOIN else 0)


def _number(text: object) -> int | None:
    """Read a metric; None where there is none yet, which Flink calls NaN."""
    try:
        return int(str(text))
    except ValueError:
        pass
    try:
        return round(float(str(text)))
    except (ValueError, OverflowError):
        return None


def _window(task: Task, operator: str) -> Window:
    """Find out what can be known of an operator's windows, from its name and its arguments."""
    text = f"{operator} {task.text}"
    if "GlobalWindows" in text:
        return Window(task.id, operator, "global", never="NeverTrigger" in text)
    if "PROCTIME" in text or ("ProcessingTime" in text and "EventTime" not in text):
        return Window(task.id, operator, "processing time")
    if found := EVENT_TIME_WINDOW.search(text):
        size_ms = int(found[2])
        is_session = "Session" in found[0]
        every_ms = int(found[3]) if found[1] == "Sliding" and found[3] else size_ms
        return Window(task.id, operator, "event time", size_ms, None if is_session else every_ms)
    if found := SQL_WINDOW.search(text):
        return Window(task.id, operator, "event time", _sql_ms(found[2]))
    if found := GROUP_WINDOW.search(text):
        return Window(task.id, operator, "event time", int(found[2]))
    return Window(task.id, operator, "event time" if "EventTime" in text else "unknown")


def _sql_ms(text: str) -> int | None:
    try:
        return duration_ms(text)
    except TimeError:
        return None


def is_time(watermark_ms: int | None) -> bool:
    """Say whether a watermark is a time, neither the one before any nor the one at the end."""
    return watermark_ms is not None and MIN_MS < watermark_ms < MAX_MS


def subtasks(task: Task) -> Iterator[int]:
    """Give the numbers of the subtasks."""
    yield from range(task.parallelism)
