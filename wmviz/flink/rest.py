"""Flink's REST interface: small calls with a time limit, and a view of a running job as tables."""

from __future__ import annotations

import http.client
import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from wmviz.flink.startup import FlinkError
from wmviz.times import MIN_MS

if TYPE_CHECKING:
    import pandas as pd

    from wmviz.flink.standalone import Cluster
    from wmviz.trace import Record

LIMIT_S = 5.0
IDS_PER_CALL = 40
TASK = {"busy": "busyTimeMsPerSecond", "idle": "idleTimeMsPerSecond", "backpressured": "backPressuredTimeMsPerSecond"}
SPENT = {
    "busy_ms": "accumulateBusyTimeMs",
    "idle_ms": "accumulateIdleTimeMs",
    "backpressured_ms": "accumulateBackPressuredTimeMs",
}
OPERATOR = {
    "input_watermark_ms": "currentInputWatermark",
    "output_watermark_ms": "currentOutputWatermark",
    "dropped": "numLateRecordsDropped",
}
SPLIT = {"watermark_ms": "currentWatermark", "idle": "idleTimeMsPerSecond", "paused": "pausedTimeMsPerSecond"}
TABLE = ["task", "subtask", "operator", *OPERATOR, *TASK, *SPENT]
LOOK = [*TABLE, "at_s"]
"""Columns of what is seen of a job again and again."""
EVERY_S, JOIN_S = 0.25, 10.0
ENDED = frozenset({"FINISHED", "FAILED", "CANCELED"})


class Rest:
    """The REST interface at an address.

    Parameters
    ----------
    address
        As ``"http://localhost:8081"`` or ``"localhost:8081"``.

    Raises
    ------
    FlinkError
        If that is no address.
    """

    def __init__(self, address: str) -> None:
        """Keep the address; nothing is asked yet."""
        parts = urlsplit(address if "://" in str(address) else f"http://{address}")
        try:
            self.host, self.port = parts.hostname or "", parts.port or 8081
        except ValueError:
            self.host = ""
        if parts.scheme not in ("http", "https") or not self.host:
            raise FlinkError(f'{address!r} is no address of a cluster; write one like "http://localhost:8081"')
        self._connection = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._path = parts.path.rstrip("/")
        self.address = f"{parts.scheme}://{self.host}:{self.port}{self._path}"

    def get(self, path: str, limit_s: float = LIMIT_S) -> Any:
        """Give what a path answers.

        Raises
        ------
        FlinkError
            If nothing answers in time, or with an error.
        """
        return self.ask("GET", path, limit_s)

    def ask(self, method: str, path: str, limit_s: float = LIMIT_S) -> Any:
        """Send a request without a body and give the answer.

        Raises
        ------
        FlinkError
            If nothing answers in time, or with an error.
        """
        connection = self._connection(self.host, self.port, timeout=limit_s)
        try:
            connection.request(method, self._path + path)
            answer = connection.getresponse()
            text = answer.read().decode()
        except (OSError, http.client.HTTPException) as error:
            raise FlinkError(f"No Flink answers at {self.address}: {str(error) or type(error).__name__}.") from None
        finally:
            connection.close()
        try:
            data = json.loads(text) if text else None
        except ValueError:
            raise FlinkError(f"{self.address}{path} answers, but not like Flink: {text[:80]!r}") from None
        if answer.status >= 400:
            raise FlinkError(f"{self.address}{path} answers {answer.status}: {_first_error(data)}")
        return data


def _first_error(data: Any) -> str:
    errors = data.get("errors") if isinstance(data, dict) else None
    return next((line for line in str(errors[0]).splitlines() if line), "no reason given") if errors else str(data)


def live(where: Cluster | str, job: str | None = None) -> Live:
    """Look into a job while it runs.

    Parameters
    ----------
    where
        A cluster from `wmviz.flink.cluster`, or the address of one.
    job
        Name or id of the job; None: the one that was started last and runs.

    Returns
    -------
    Live
        Its tables ask Flink anew each time.

    Raises
    ------
    FlinkError
        If nothing answers there, or there is no such job.
    """
    rest = Rest(where) if isinstance(where, str) else where.rest
    jobs = sorted(rest.get("/jobs/overview")["jobs"], key=lambda each: -int(each["start-time"]))
    fitting = [each for each in jobs if (job in (each["name"], each["jid"]) if job else each["state"] not in ENDED)]
    if not fitting:
        names = ", ".join(f"{each['name']} ({each['state'].lower()})" for each in jobs) or "none"
        raise FlinkError(f"{rest.address} has no {f'job {job!r}' if job else 'running job'}; its jobs are: {names}")
    return Live(rest, fitting[0]["jid"], fitting[0]["name"])


class Live:
    """A job on a cluster, seen over REST; made by `live`.

    Attributes
    ----------
    rest
        The interface that is asked.
    job, name
        Id and name of the job.
    """

    def __init__(self, rest: Rest, job: str, name: str) -> None:
        """Keep whom to ask; the tables ask."""
        self.rest, self.job, self.name = rest, job, name

    @property
    def state(self) -> str:
        """Flink's word for how the job is: RUNNING, RESTARTING, FINISHED, FAILED, …."""
        return str(self.rest.get(f"/jobs/{self.job}")["state"])

    @property
    def table(self) -> pd.DataFrame:
        """A row for each operator in each subtask.

        Watermarks are in ms, missing where there is none yet; ``dropped`` is numLateRecordsDropped. The others are of
        the task that the operator is chained into: ``busy``, ``idle`` and ``backpressured`` in ms per second, which
        Flink makes of the last minute, so that they follow slowly; ``busy_ms``, ``idle_ms`` and ``backpressured_ms``
        in all, since the task began.
        """
        rows = []
        for task, metrics in self._metrics():
            found: dict[tuple[str, str], dict[str, str]] = {}
            for subtask, operator, name, value in _parts(metrics, rf"(\d+)\.(.+)\.({'|'.join(OPERATOR.values())})"):
                found.setdefault((subtask, operator), {})[name] = value
            for (subtask, operator), values in sorted(found.items()):
                of_operator = [_number(values.get(name)) for name in OPERATOR.values()]
                of_task = [_number(metrics.get(f"{subtask}.{name}")) for name in (*TASK.values(), *SPENT.values())]
                rows.append([task, int(subtask), operator, *of_operator, *of_task])
        return _frame(TABLE, rows)

    @property
    def splits(self) -> pd.DataFrame:
        """A row for each split of a source: watermark in ms; idle, and paused by alignment, in ms per second."""
        found: dict[tuple[str, int, str], dict[str, str]] = {}
        for task, metrics in self._metrics():
            pattern = rf"(\d+)\..+\.split\.(.+)\.watermark\.({'|'.join(SPLIT.values())})"
            for subtask, split, name, value in _parts(metrics, pattern):
                found.setdefault((task, int(subtask), split), {})[name] = value
        rows = [[*place, *(_number(found[place].get(name)) for name in SPLIT.values())] for place in sorted(found)]
        return _frame(["task", "subtask", "split", *SPLIT], rows)

    @property
    def checkpoints(self) -> pd.DataFrame:
        """A row for each checkpoint that Flink remembers, the oldest first."""
        history = self.rest.get(f"/jobs/{self.job}/checkpoints")["history"]
        return checkpoint_table(history)

    def watch(self, limit_s: float = 60.0, every_s: float = 0.5) -> pd.DataFrame:
        """Look again and again until the job ends.

        Parameters
        ----------
        limit_s
            Seconds after which this ends anyway.
        every_s
            Seconds from look to look.

        Returns
        -------
        pandas.DataFrame
            The rows of `table` with ``at_s``, seconds since the first look. ``wmviz.charts.live`` draws them, and
            `trace_rows` makes trace rows of the watermarks in them.
        """
        began, looks = time.monotonic(), []
        while (at_s := time.monotonic() - began) < limit_s:
            with suppress(FlinkError):  # between an end and a restart there is nothing to see
                looks.append(self.table.assign(at_s=round(at_s, 2)))
            if self._has_ended():
                break
            time.sleep(every_s)
        return _together(looks)

    def _has_ended(self) -> bool:
        try:
            return self.state in ENDED
        except FlinkError:
            return True  # a cluster that lives in the job's own process goes with it

    def __repr__(self) -> str:
        """Say in a line what it is."""
        return f"<Job {self.name} on {self.rest.address}: {self.state.lower()}>"

    def _repr_html_(self) -> str:
        """Show the table."""
        return str(self.table.to_html(index=False, na_rep="–"))

    def _metrics(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Give the metrics that the tables need, task by task."""
        wanted = re.compile(rf"\.({'|'.join([*TASK.values(), *SPENT.values(), *OPERATOR.values(), *SPLIT.values()])})$")
        for task in self.rest.get(f"/jobs/{self.job}")["vertices"]:
            path = f"/jobs/{self.job}/vertices/{task['id']}/metrics"
            ids = sorted(each["id"] for each in self.rest.get(path) if wanted.search(each["id"]))
            values: dict[str, str] = {}
            for first in range(0, len(ids), IDS_PER_CALL):
                asked = quote(",".join(ids[first : first + IDS_PER_CALL]))
                values |= {each["id"]: each["value"] for each in self.rest.get(f"{path}?get={asked}")}
            yield task["name"], values


class Watching:
    """Looks at a job that runs in this process, again and again, while something else waits for it."""

    def __init__(self) -> None:
        """Nothing has been seen yet."""
        self._began = time.monotonic()
        self._looks: list[pd.DataFrame] = []

    @contextmanager
    def of(self, port: int) -> Iterator[None]:
        """Look at what runs behind a port, until the block is left."""
        over = threading.Event()
        thread = threading.Thread(target=self._run, args=(f"localhost:{port}", over), daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join(JOIN_S)

    def _run(self, address: str, over: threading.Event) -> None:
        while not over.wait(EVERY_S):
            with suppress(FlinkError):  # there is nothing yet, or not any more
                self._looks.append(live(address).table.assign(at_s=round(time.monotonic() - self._began, 2)))

    @property
    def looks(self) -> pd.DataFrame:
        """All that was seen; the seconds begin with the first look."""
        return _together(self._looks)


def _together(looks: list[pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    seen = [look for look in looks if len(look)]
    if not seen:
        return no_looks()
    rows = pd.concat(seen, ignore_index=True)
    return rows.assign(at_s=(rows["at_s"] - rows["at_s"].min()).round(2))


def no_looks() -> pd.DataFrame:
    """Give looks at nothing."""
    return _frame(LOOK, [])


def write_looks(looks: pd.DataFrame) -> list[list[Any]]:
    """Give looks as JSON data: the rows, in the order of `LOOK`."""

    def plain(value: Any) -> Any:
        return (value.item() if hasattr(value, "item") else value) if _is_there(value) else None

    return [list(map(plain, row)) for row in looks[LOOK].itertuples(index=False)]


def read_looks(rows: list[list[Any]]) -> pd.DataFrame:
    """Make looks of what `write_looks` gave."""
    return _frame(LOOK, rows)


def place_of(task: str, subtask: int) -> str:
    """Give a short name of a task in a subtask: that of its first operator, as ``"window[0]"``."""
    first = task.partition(" -> ")[0].removeprefix("Source: ")
    return f"{first}[{subtask}]"


def watermarks(looks: pd.DataFrame) -> pd.DataFrame:
    """Give the watermark of each task in each subtask at each look: the one that its operators have sent on, or got.

    Returns
    -------
    pandas.DataFrame
        With ``place``, ``at_s`` and ``watermark_ms``, missing where there was none.
    """
    seen = looks["output_watermark_ms"].fillna(looks["input_watermark_ms"])
    places = [place_of(task, subtask) for task, subtask in zip(looks["task"], looks["subtask"], strict=True)]
    found = looks.assign(place=places, watermark_ms=seen).groupby(["at_s", "place"], sort=False)["watermark_ms"]
    return found.max().reset_index()[["place", "at_s", "watermark_ms"]]


def trace_rows(looks: pd.DataFrame) -> list[Record]:
    """Give the watermarks that were seen as rows like those of a trace: one for each change, in the time of the looks.

    REST tells numbers, and not what happened to an event: no arrival, no firing, no late event by name. So these are
    rows `Kind.WATERMARK` only, of each task in each subtask, without a cause, and what came between two looks is not
    among them. They are no whole `Trace`: that has the scenario, and a live job has none. A watermark that goes away,
    as in a restart, is not a row either. How many events were dropped is a number: `dropped`.

    Parameters
    ----------
    looks
        From `Live.watch`, or the ``looks`` of a run.

    Returns
    -------
    list of Record
        With ``place`` and ``subject`` as ``"window[0]"``; ``at_ms`` are ms since the first look.
    """
    from wmviz.trace import Kind, Record

    rows: list[Record] = []
    last: dict[str, int] = {}
    for place, at_s, watermark_ms in watermarks(looks).dropna().itertuples(index=False):
        if last.get(place) != watermark_ms:
            last[place] = watermark_ms
            at_ms = round(at_s * 1000)
            rows.append(Record(len(rows), Kind.WATERMARK, place, place, int(watermark_ms), None, len(rows), at_ms))
    return rows


def dropped(looks: pd.DataFrame) -> int:
    """Give how many events were dropped as late, as far as it was seen."""
    return int(looks.groupby(["task", "operator", "subtask"])["dropped"].max().sum())


def _is_there(value: Any) -> bool:
    import pandas as pd

    return not pd.isna(value)


def checkpoint_table(history: list[dict[str, Any]]) -> pd.DataFrame:
    """Make a table of what REST tells of checkpoints: id, status, duration in ms, size in bytes, savepoint or not."""
    rows = [
        [c["id"], c["status"], c["end_to_end_duration"], c["checkpointed_size"], c["is_savepoint"]]
        for c in sorted(history, key=lambda checkpoint: int(checkpoint["id"]))
    ]
    return _frame(["id", "status", "duration_ms", "size_bytes", "savepoint"], rows)


def _parts(metrics: dict[str, str], pattern: str) -> Iterator[tuple[str, ...]]:
    """Give the parts of the names that fit, and the value behind each."""
    for name, value in metrics.items():
        if match := re.fullmatch(pattern, name):
            yield (*match.groups(), value)


def _number(text: str | None) -> int | None:
    """Read a metric; None where there is none yet: REST says NaN, and MIN is no watermark."""
    try:
        number = int(text) if text is not None and text.lstrip("-").isdigit() else round(float(text or "nan"))
    except (ValueError, OverflowError):
        return None
    return None if number == MIN_MS else number


def _frame(columns: list[str], rows: list[list[Any]]) -> pd.DataFrame:
    import pandas as pd

    def column(index: int, name: str) -> Any:
        # By way of floats, as pandas would go where values are missing, the last watermark would lose its last digits.
        number = name.endswith("_ms") or name in {*TASK, *OPERATOR, *SPLIT}
        return pd.Series([row[index] for row in rows], dtype="Int64" if number else None)

    return pd.DataFrame({name: column(index, name) for index, name in enumerate(columns)}, columns=columns)
