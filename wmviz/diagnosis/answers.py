"""What a cluster answered about a job: asked twice over REST, kept in a file, and read from one."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from wmviz.diagnosis.client import Client, DiagnosisError, like_flink
from wmviz.times import TimeError, duration_ms, shown

FORMAT = "wmviz: answers of Flink's REST interface, 1"
ENDED = frozenset({"FINISHED", "FAILED", "CANCELED"})
FETCHER = "metrics.fetcher.update-interval"
USUAL_FETCHER_MS = 10_000
LEAST_WAIT_S = 5.0
WARM_UP_S = 1.0
SLACK_S = 2.0
LONGEST_LINE = 3_000
"""Characters of an address; Flink refuses a request whose first line has more than 4,096."""
MOST_METRICS = 5_000
MOST_SAMPLES = 40
LONGEST_TRACE = 4_000

TASK = ("busyTimeMsPerSecond", "idleTimeMsPerSecond", "backPressuredTimeMsPerSecond")
WORKED = ("accumulateBusyTimeMs", "accumulateIdleTimeMs", "accumulateBackPressuredTimeMs")
"""Together they are the ms since a task began: they say when its numbers were taken."""
FLOW = ("numRecordsIn", "numRecordsOut")
SAMPLED = ("watermarkLag", "currentEmitEventTimeLag", "numLateRecordsDropped")
JOIN = ("leftNumLateRecordsDropped", "rightNumLateRecordsDropped")
"""What SQL's join of windows counts in place of numLateRecordsDropped."""
OPERATOR = (
    *FLOW,
    *SAMPLED,
    *JOIN,
    *("currentInputWatermark", "currentOutputWatermark", "sourceIdleTime", "watermarkAlignmentDrift"),
)
SPLIT = ("currentWatermark", "idleTimeMsPerSecond", "accumulatedIdleTimeMs", "pausedTimeMsPerSecond")
WANTED = re.compile(
    rf"\d+\.((.+\.)?({'|'.join([*OPERATOR, *TASK, *WORKED])})"
    rf"|.+\.split\..+\.watermark\.({'|'.join(SPLIT)})|.+\.partition\.\d+\.currentOffset)"
)
IN_SAMPLES = re.compile(rf"\d+\..+\.({'|'.join([*SAMPLED, 'currentInputWatermark', 'numRecordsOut'])})")


@dataclass(frozen=True)
class Answers:
    """All that the diagnosis knows; a dump holds exactly this.

    Attributes
    ----------
    address
        Whom it was asked of.
    job
        Id of the job.
    once
        Path → answer, for what was asked once.
    readings
        Path → answer, for what was asked twice.
    samples
        Metrics that were asked again and again between the two readings: vertex → metric → value.
    refused
        Path → sentence, for what was asked in vain.
    """

    address: str
    job: str
    once: dict[str, Any]
    readings: list[dict[str, Any]]
    samples: list[dict[str, dict[str, str]]] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)

    def save(self, path: str | Path) -> Path:
        """Write them into a file, and give its path."""
        data = {"format": FORMAT} | {name: getattr(self, name) for name in self.__dataclass_fields__}
        target = Path(path)
        try:
            target.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        except OSError as error:
            raise DiagnosisError(f"{shown(str(path))} cannot be written: {error.strerror}") from None
        return target


class JobEndedError(DiagnosisError):
    """The job ended while it was read."""


# ------------------------------------------------------------------------------------------------------------- asking


def ask(client: Client, job: str | None, wait_s: float | None, limit_s: float, tell: Callable[[str], None]) -> Answers:
    """Ask a cluster about a job, twice.

    Parameters
    ----------
    job
        Name or id; None: the only one that runs.
    wait_s
        Seconds from reading to reading; None: as long as the cluster needs for new numbers.
    limit_s
        Seconds that all answers together may take, without the wait.
    tell
        Is called with a sentence about what is done now.
    """
    client.limit(limit_s)
    if client.is_exposed:
        tell(f"{client.address} is asked without TLS: whoever listens on the way can read the token or password.")
    asking = begin(client, job)
    wait_s = asking.wait_s() if wait_s is None else wait_s
    client.limit(limit_s + wait_s)
    if asking.ended:
        return asking.answers([asking.detail()])
    asking.warm_up()
    tell(f"First reading of job {asking.name}; the second one follows in {wait_s:g} s.")
    first = asking.reading()
    asking.sample(wait_s)
    second = asking.reading()
    _refuse_a_cache(client, [each.get(f"/jobs/{asking.job}") for each in (first, second)])
    return asking.answers([first, second])


def _refuse_a_cache(client: Client, details: list[Any]) -> None:
    """Refuse two readings of one moment: nothing moves between them, and every fault would be overlooked."""
    times = [each.get("now") for each in details if isinstance(each, dict)]
    if len(times) == 2 and times[0] is not None and times[0] == times[1]:
        raise DiagnosisError(
            f"{client.address} answers the second reading with the time of the first: something in between, as a "
            "proxy, answers from a cache; give the address of Flink itself, or have the proxy keep nothing"
        )


def begin(client: Client, job: str | None) -> Asking:
    """Choose the job that is meant, by name or id, and look how its cluster is set up; None: the only one that runs."""
    return Asking(client, *_choose(client, job or client.job))


def _choose(client: Client, job: str | None) -> tuple[str, str, str]:
    """Give id, name and state of the job that is meant."""
    listed = client.get("/jobs/overview")
    try:
        jobs = sorted(listed["jobs"], key=lambda each: -int(each["start-time"]))
        found = [(str(each["jid"]), str(each["name"]), str(each["state"])) for each in jobs]
    except (KeyError, TypeError, ValueError):
        raise DiagnosisError(f"{client.address} answers, but not like Flink: {shown(listed)}") from None
    running = [each for each in found if each[2] not in ENDED]
    names = ", ".join(f"{name!r} ({jid}, {state.lower()})" for jid, name, state in (running or found)[:20]) or "none"
    if job is not None:
        fitting = [each for each in found if job in each[:2]]
        fitting = [each for each in fitting if each in running] or fitting[:1]
        if not fitting:
            raise DiagnosisError(f"{client.address} has no job {job!r}; its jobs are: {names}")
    else:
        fitting = running or (found if len(found) == 1 else [])
        if not fitting:
            raise DiagnosisError(f"{client.address} has no job that runs; its jobs are: {names}")
    if len(fitting) > 1:
        raise DiagnosisError(
            f"{client.address} runs several jobs; name one with job=… (in a terminal --job), by name or id: {names}"
        )
    return fitting[0]


class Asking:
    """Asks about one job, and remembers what was refused.

    Attributes
    ----------
    job, name
        Id and name of the job.
    ended
        Whether it had ended before anything was asked.
    """

    def __init__(self, client: Client, job: str, name: str, state: str) -> None:
        """Ask how the cluster is set up."""
        self.job, self.name, self.ended = job, name, state in ENDED
        self._client, self._path = client, f"/jobs/{job}"
        self._samples: list[dict[str, dict[str, str]]] = []
        self._ids: dict[str, list[str]] = {}
        self._refused: dict[str, str] = {}
        self._once: dict[str, Any] = {}
        self._maybe("/config", lambda data: {"flink-version": data["flink-version"]})
        self._maybe("/jobmanager/config", lambda data: [each for each in data if each["key"] == FETCHER])

    def wait_s(self) -> float:
        """Give how long it takes until the cluster has new numbers."""
        return max(LEAST_WAIT_S, self._fetcher_s() + SLACK_S)

    def _fetcher_s(self) -> float:
        for entry in self._once.get("/jobmanager/config", ()):
            text = str(entry.get("value"))
            with suppress(TimeError):
                return duration_ms(f"{text} ms" if text.isdecimal() else text) / 1000
        return USUAL_FETCHER_MS / 1000

    def warm_up(self) -> None:
        """Ask for metrics: the JobManager collects them only when somebody asks, and answers with the old ones."""
        until = time.monotonic() + self._fetcher_s() + SLACK_S
        with like_flink(self._client.address):
            vertices = self._vertices(self.detail())
        while time.monotonic() < until:
            listed = [self._client.get(f"{self._path}/vertices/{vertex}/metrics") for vertex in vertices]
            time.sleep(WARM_UP_S)
            if any(listed):
                return

    def detail(self) -> dict[str, Any]:
        """Ask about the job itself."""
        try:
            return {self._path: self._client.get(self._path)}
        except DiagnosisError as error:
            if error.status == 404:
                raise JobEndedError(f"Job {self.name} is gone: it ended while it was read.") from None
            raise

    def reading(self) -> dict[str, Any]:
        """Ask about the job, its metrics and its watermarks."""
        with like_flink(self._client.address):
            return self._reading()

    def _reading(self) -> dict[str, Any]:
        answers = self.detail()
        if answers[self._path]["state"] in ENDED:
            state = answers[self._path]["state"].lower()
            raise JobEndedError(f"Job {self.name} is {state}: it ended while it was read.")
        for vertex in self._vertices(answers):
            path = f"{self._path}/vertices/{vertex}"
            try:
                answers[f"{path}/watermarks"] = self._client.get(f"{path}/watermarks")
            except DiagnosisError as error:
                self._refuse(f"{path}/watermarks", error)
            answers[f"{path}/metrics"] = self._metrics(vertex)
        return answers

    def _vertices(self, answers: dict[str, Any]) -> list[str]:
        return [str(vertex["id"]) for vertex in answers[self._path]["vertices"]]

    def _metrics(self, vertex: str) -> list[dict[str, str]]:
        path = f"{self._path}/vertices/{vertex}/metrics"
        try:
            ids = sorted(
                (str(each["id"]) for each in self._client.get(path) if WANTED.fullmatch(str(each["id"]))), key=_weight
            )
            if len(ids) > MOST_METRICS:
                self._refused[path] = f"it has {len(ids):,} metrics; the {MOST_METRICS:,} that matter most were read"
            self._ids[vertex] = ids[:MOST_METRICS]
            return self._values(vertex, self._ids[vertex])
        except DiagnosisError as error:
            self._refuse(path, error)
            return []

    def _values(self, vertex: str, ids: list[str]) -> list[dict[str, str]]:
        path = f"{self._path}/vertices/{vertex}/metrics"
        values: list[dict[str, str]] = []
        for part in _parts(ids):
            values += self._client.get(f"{path}?get={part}")
        return values

    def sample(self, wait_s: float) -> None:
        """Wait, and read the numbers that jump again and again meanwhile."""
        until = time.monotonic() + wait_s
        every_s = max(self._fetcher_s(), wait_s / MOST_SAMPLES, 0.25)
        wanted = {vertex: [each for each in ids if IN_SAMPLES.fullmatch(each)] for vertex, ids in self._ids.items()}
        while (left_s := until - time.monotonic()) > every_s:
            time.sleep(min(every_s, left_s))
            with suppress(DiagnosisError), like_flink(self._client.address):
                self._samples.append(
                    {
                        vertex: {each["id"]: each["value"] for each in self._values(vertex, ids)}
                        for vertex, ids in wanted.items()
                        if ids
                    }
                )
        time.sleep(max(until - time.monotonic(), 0))

    def answers(
        self, readings: list[dict[str, Any]], samples: list[dict[str, dict[str, str]]] | None = None
    ) -> Answers:
        """Ask what need not be asked twice, and give all; samples: what was seen between the readings."""
        self._maybe(f"{self._path}/checkpoints", lambda data: {n: data.get(n) for n in ("counts", "latest", "history")})
        self._maybe(f"{self._path}/checkpoints/config", lambda data: data)
        self._maybe(f"{self._path}/exceptions", _short_exceptions)
        between = self._samples if samples is None else samples
        return Answers(self._client.address, self.job, dict(self._once), readings, between, dict(self._refused))

    def _maybe(self, path: str, keep: Callable[[Any], Any]) -> None:
        """Ask for what the diagnosis can do without; keep of it what is looked at."""
        try:
            self._once[path] = keep(self._client.get(path))
        except DiagnosisError as error:
            self._refuse(path, error)
        except (KeyError, TypeError, AttributeError, ValueError):
            self._refused[path] = "the answer has another form than Flink's"

    def _refuse(self, path: str, error: DiagnosisError) -> None:
        if error.status is None:
            raise error  # nobody answers at all
        self._refused[path] = str(error)


def sample_of(reading: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Give of a reading what `Asking.sample` would have read at that moment."""
    return {
        path.split("/")[4]: {each["id"]: each["value"] for each in entries if IN_SAMPLES.fullmatch(each["id"])}
        for path, entries in reading.items()
        if path.endswith("/metrics")
    }


def _weight(metric: str) -> tuple[int, str]:
    """Say what to read first where there are too many: the watermarks of all subtasks, then what flows, then loads."""
    name = metric.rpartition(".")[2]
    order = (("currentOutputWatermark", "currentInputWatermark", "numLateRecordsDropped"), (*FLOW, "sourceIdleTime"))
    rank = next((rank for rank, names in enumerate(order) if name in names), len(order))
    return rank + (name in (*TASK, *WORKED)), metric


def _parts(ids: list[str]) -> list[str]:
    """Put names together, as many as fit into the first line of a request."""
    parts: list[str] = []
    for each in map(quote, ids):
        if parts and len(parts[-1]) + len(each) < LONGEST_LINE:
            parts[-1] += f",{each}"
        else:
            parts.append(each)
    return parts


def _short_exceptions(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Keep of each exception when it came and its sentences, without the calls between them."""
    entries = (data.get("exceptionHistory") or {}).get("entries") or []
    return [
        {
            "timestamp": each.get("timestamp"),
            "task": each.get("taskName"),
            "sentences": [
                line for line in str(each.get("stacktrace", ""))[: 10 * LONGEST_TRACE].splitlines() if line[:1].strip()
            ][:20],
        }
        for each in entries[:5]
    ]


# ------------------------------------------------------------------------------------------------------------ reading


def load(path: str | Path) -> Answers:
    """Read a dump.

    Parameters
    ----------
    path
        A file that `Answers.save` wrote, or a folder with one such file.

    Raises
    ------
    DiagnosisError
        If it is none.
    """
    source = Path(path)
    if source.is_dir():
        files = sorted(source.glob("*.json"))
        if len(files) != 1:
            names = ", ".join(file.name for file in files[:10]) or "none"
            raise DiagnosisError(f"{shown(str(path))} must hold one dump; name one of its files: {names}")
        source = files[0]
    try:
        data = json.loads(source.read_text(encoding="utf-8"))
    except OSError as error:
        raise DiagnosisError(f"{shown(str(path))} cannot be read: {error.strerror}") from None
    except ValueError:
        raise DiagnosisError(f"{shown(str(path))} is no dump: it holds no JSON") from None
    if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
        raise DiagnosisError(
            f"{shown(str(path))} is no dump of the diagnosis; make one with: python -m wmviz diagnose URL --save FILE"
        )
    try:
        return Answers(**data)
    except TypeError:
        raise DiagnosisError(f"{shown(str(path))} is a damaged dump; make it again with --save") from None
