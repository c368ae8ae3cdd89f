"""A diagnosis: what it found, as text, as a page, as tables and as JSON."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from wmviz.diagnosis.answers import Answers
from wmviz.diagnosis.case import Case, Cause, Check
from wmviz.diagnosis.facts import Facts, subtasks
from wmviz.diagnosis.words import duration, moment, short
from wmviz.times import MAX_MS, MIN_MS

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

SPLIT_WATERMARKS_SINCE = (2, 1)
UNCOUNTED = re.compile(r"(IntervalJoin|TemporalSort)\[\d+\]")
"""Operators of SQL that wait for event time and have no counter of late rows."""
COLUMNS = (
    "task",
    "role",
    "subtask",
    "split",
    "watermark_ms",
    "before_ms",
    "behind_ms",
    "holds",
    "dropped",
    "records",
    "busy",
    "idle",
    "backpressured",
)


@dataclass(frozen=True)
class Diagnosis:
    """What `wmviz.diagnose` found out about a job.

    Attributes
    ----------
    causes
        The likely causes, the likeliest first; none if the job is healthy.
    notes
        What else was noticed; no fault.
    checks
        What was ruled out first.
    unseen
        What could not be seen, and why.
    answers
        All that was read; keep it with ``.save(path)``.
    """

    causes: tuple[Cause, ...]
    notes: tuple[str, ...]
    checks: tuple[Check, ...]
    unseen: tuple[str, ...]
    facts: Facts

    @property
    def answers(self) -> Answers:
        """All that was read."""
        return self.facts.answers

    @property
    def healthy(self) -> bool:
        """Whether no cause of a fault was found."""
        return not self.causes

    @property
    def job(self) -> str:
        """Name of the job."""
        return self.facts.now.name

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The watermarks as plain rows; see `watermarks`."""
        return _rows(self.facts)

    @property
    def watermarks(self) -> pd.DataFrame:
        """A row for each subtask, and for each split that a source tells of.

        Watermarks in ms: ``watermark_ms`` what it hands on (sources) or has received (the others), ``before_ms`` at the
        first reading, ``behind_ms`` behind the cluster's clock. They are missing where there is none yet. ``holds``:
        whether it is the lowest in front of a window that waits for it. ``dropped`` is numLateRecordsDropped; busy,
        idle and backpressured are ms of each second.
        """
        import pandas as pd

        rows = self.rows
        numbers = {"task", "role", "split", "holds"}
        return pd.DataFrame(
            {
                name: pd.Series([row[name] for row in rows], dtype=None if name in numbers else "Int64")
                for name in COLUMNS
            },
            columns=list(COLUMNS),
        )

    @property
    def checkpoints(self) -> dict[str, int]:
        """How many checkpoints completed and failed, and how long the newest took in ms; empty if there are none."""
        return self.facts.checkpoints

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data, for machines."""
        return {
            "healthy": self.healthy,
            "job": {"id": self.answers.job, "name": self.job, "state": self.facts.now.state},
            "address": self.answers.address,
            "flink": self.facts.version,
            "clock_ms": self.facts.now.at_ms,
            "elapsed_ms": self.facts.elapsed_ms,
            "causes": [cause.to_json() for cause in self.causes],
            "notes": list(self.notes),
            "checks": [{"name": c.name, "ruled_out": c.ruled_out, "sentence": c.sentence} for c in self.checks],
            "unseen": list(self.unseen),
            "checkpoints": self.checkpoints,
            "watermarks": self.rows,
        }

    def save(self, path: str | Path) -> Path:
        """Write all that was read into a file, which ``wmviz.diagnose(path)`` reads again."""
        return self.answers.save(path)

    # ------------------------------------------------------------------------------------------------------ as text

    @property
    def headline(self) -> str:
        """Say in one line what was found."""
        if self.healthy:
            return f"{self.job}: no fault found."
        more = f" ({len(self.causes) - 1} more)" if len(self.causes) > 1 else ""
        return f"{self.job}: {self.causes[0].title}, {self.causes[0].certainty}{more}."

    def __repr__(self) -> str:
        """Tell it in sentences."""
        return self.text()

    @property
    def language(self) -> str:
        """What the job seems to be written in: ``"PyFlink"``, ``"Java"`` or ``"SQL"``."""
        tasks = self.facts.now.tasks.values()
        names = " ".join(operator for task in tasks for operator in (task.text, *task.operators("numRecordsOut")))
        if re.search(r"\w\[\d+\]", names):
            return "SQL"  # its operators have numbers
        return "PyFlink" if re.search(r"(?i)python|_stream_key_by_map_operator|_KEYED_STREAM", names) else "Java"

    def text(self, language: str | None = None) -> str:
        """Tell it in sentences, with the fix in a language: ``"PyFlink"``, ``"Java"`` or ``"SQL"``; None: the job's."""
        language = language or self.language
        lines = [self.headline, f"  {self._read()}"]
        for number, cause in enumerate(self.causes, 1):
            lines += ["", f"{number}. {cause.title} [{cause.name}, {cause.certainty}]"]
            for sentence in cause.evidence:
                lines += _wrapped(sentence, "   - ")
            lines += _wrapped(cause.advice, "   Do: ")
            if fix := cause.fix.get(language) or next(iter(cause.fix.values()), None):
                lines += ["", *(f"       {line}" for line in fix.splitlines())]
        lines += _listed("Noticed", self.notes)
        lines += ["", "Ruled out first:"]
        lines += [f"  {'✓' if check.ruled_out else '!'} {check.sentence}" for check in self.checks]
        lines += ["", "Watermarks:", *_text_table(self.rows)]
        if self.checkpoints:
            lines += ["", f"Checkpoints: {self.checkpoints_text}"]
        lines += _listed("Not seen", self.unseen)
        return "\n".join(lines)

    def _read(self) -> str:
        version = f"Flink {self.facts.version}, " if self.facts.version else ""
        twice = len(self.answers.readings) > 1
        readings = f"two readings, {duration(self.facts.elapsed_ms)} apart" if twice else "read once"
        return (
            f"{version}job {self.answers.job} is {self.facts.now.state.lower()}; {readings}, "
            f"at {moment(self.facts.now.at_ms)}."
        )

    @property
    def checkpoints_text(self) -> str:
        """Say how the checkpoints fare."""
        told = self.checkpoints
        newest = f"; the newest took {duration(told['newest_duration_ms'])}" if "newest_duration_ms" in told else ""
        return f"{told.get('completed', 0)} completed, {told.get('failed', 0)} failed{newest}."

    # ------------------------------------------------------------------------------------------------------ as a page

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        colour = "#1b7f4b" if self.healthy else "#b3261e"
        parts = [
            (
                f'<div><p style="border-left:4px solid {colour};padding-left:.6em">'
                f"<b>{escape(self.headline)}</b></p><p>{escape(self._read())}</p>"
            )
        ]
        for number, cause in enumerate(self.causes, 1):
            evidence = "".join(f"<li>{escape(sentence)}</li>" for sentence in cause.evidence)
            fixes = "".join(
                f"<details{' open' * (language == self.language)}><summary>{escape(language)}</summary>"
                f'<pre style="{CODE}">{escape(text)}</pre></details>'
                for language, text in cause.fix.items()
            )
            parts.append(
                f"<p><b>{number}. {escape(cause.title)}</b> ({escape(cause.certainty)})</p><ul>{evidence}</ul>"
                f"<p>{escape(cause.advice)}</p>{fixes}"
            )
        parts.append(_html_list("Noticed", self.notes))
        parts.append(
            _html_list("Ruled out first", [f"{'✓' if c.ruled_out else '!'} {c.sentence}" for c in self.checks])
        )
        parts.append(_html_table(self.rows))
        if self.checkpoints:
            parts.append(f"<p>Checkpoints: {escape(self.checkpoints_text)}</p>")
        parts.append(_html_list("Not seen", self.unseen))
        return "".join(parts) + "</div>"


def unseen(facts: Facts) -> list[str]:
    """Say what could not be seen, and why."""
    found = [f"{path}: {sentence}" for path, sentence in facts.answers.refused.items()]
    if facts.now.state != "RUNNING":
        return found
    sources = [task for task in facts.now.tasks.values() if task.is_source]
    if sources and not any(task.splits for task in sources):
        old = facts.version is not None and _version(facts.version) < SPLIT_WATERMARKS_SINCE
        why = "Flink tells of them since 2.1" if old else "the source does not tell of them"
        offsets = any(task.offsets for task in sources)
        what = "whole subtasks, and the offsets of partitions," if offsets else "only whole subtasks"
        found.append(f"Watermarks of single partitions: {why}, so {what} were compared.")
    declared = [each for each in facts.now.tasks.values() if each.generates]
    if (
        sources
        and not any(task.operators("currentEmitEventTimeLag") for task in sources)
        and not all(each.sql_bound_ms is not None for each in declared)
    ):
        found.append(
            "How old events are: the source has no currentEmitEventTimeLag, so a bound cannot be told from old events."
        )
    if facts.is_stale:
        found.append(
            f"What moves: within {duration(facts.elapsed_ms)} the cluster gave no new numbers. Read again with a "
            "longer wait."
        )
    if not any(task.operators("numRecordsOut") for task in facts.now.tasks.values()):
        found.append(
            "Metrics: the cluster gave none; its TaskManagers may not have reported yet. Wait, and read again."
        )
    names = [op for task in facts.now.tasks.values() for op in task.operators("numRecordsIn") if UNCOUNTED.match(op)]
    if names:
        found.append(f"Late rows in {', '.join(names[:5])}: they may be lost there, and SQL counts none of them.")
    found.append(
        "A side output that nobody reads, and events that were late but counted: no metric of Flink counts them."
    )
    return found


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("-")[0].split(".")[:2] if part.isdecimal())


def make(case: Case, causes: list[Cause], notes: list[str], checks: list[Check]) -> Diagnosis:
    """Put a diagnosis together."""
    return Diagnosis(tuple(causes), tuple(notes), tuple(checks), tuple(unseen(case.facts)), case.facts)


# ------------------------------------------------------------------------------------------------------------- tables


def _rows(facts: Facts) -> list[dict[str, Any]]:
    rows = []
    windows = {window.task for window in facts.windows}
    waiting = _waits_for(facts)
    for task in facts.now.tasks.values():
        role = "source" if task.is_source else "window" if task.id in windows else "other"
        before = facts.earlier(task)
        for subtask in subtasks(task):
            now_ms, before_ms = task.mark_ms(subtask), before.mark_ms(subtask)
            dropped = task.of_subtask(subtask, "numLateRecordsDropped")
            rows.append(
                {
                    "vertex": task.id,
                    "task": short(task.name),
                    "role": role,
                    "subtask": subtask,
                    "split": None,
                    **_times(facts, now_ms, before_ms),
                    "holds": task.generates and now_ms is not None and now_ms in waiting,
                    "dropped": sum(dropped) if dropped else None,
                    "records": task.records(subtask),
                    "busy": task.value(subtask, "busyTimeMsPerSecond"),
                    "idle": task.value(subtask, "idleTimeMsPerSecond"),
                    "backpressured": task.value(subtask, "backPressuredTimeMsPerSecond"),
                }
            )
            for split, values in task.splits_of(subtask).items():
                earlier = before.splits.get((subtask, split), {})
                times = _times(facts, values.get("currentWatermark"), earlier.get("currentWatermark"))
                row = {"vertex": task.id} | dict.fromkeys(COLUMNS)
                row |= {"task": short(task.name), "role": "split", "subtask": subtask}
                rows.append(row | {"split": split, "holds": False, **times, "idle": values.get("idleTimeMsPerSecond")})
    return rows


def _waits_for(facts: Facts) -> set[int]:
    """Give the watermarks at which windows stand still."""
    found = set()
    for window in facts.windows:
        task = facts.now.tasks[window.task]
        before = facts.earlier(task)
        for subtask in subtasks(task):
            now_ms = task.mark_ms(subtask)
            if now_ms is not None and now_ms != MAX_MS and now_ms == before.mark_ms(subtask):
                found.add(now_ms)
    return found


def _times(facts: Facts, now_ms: int | None, before_ms: int | None) -> dict[str, int | None]:
    now_ms, before_ms = (None if ms == MIN_MS else ms for ms in (now_ms, before_ms))
    behind_ms = None if now_ms is None or now_ms == MAX_MS else facts.now.at_ms - now_ms
    return {"watermark_ms": now_ms, "before_ms": before_ms, "behind_ms": behind_ms}


HEADS = ("task", "subtask", "partition", "watermark", "behind", "moved", "dropped", "busy/idle/backpressured")


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    now_ms, before_ms = row["watermark_ms"], row["before_ms"]
    mark = "–" if now_ms is None else "the end" if now_ms == MAX_MS else moment(now_ms)[:19]
    behind = "–" if row["behind_ms"] is None else duration(row["behind_ms"])
    moved = "–" if now_ms is None or before_ms is None else duration(now_ms - before_ms) if now_ms != before_ms else "0"
    load = [row["busy"], row["idle"], row["backpressured"]]
    return (
        row["task"] if row["split"] is None else "",
        str(row["subtask"]),
        row["split"] or "",
        mark + (" ← holds" if row["holds"] else ""),
        behind,
        moved,
        "" if row["dropped"] is None else str(row["dropped"]),
        ""
        if all(each is None for each in load) or row["split"]
        else "/".join("–" if x is None else str(x) for x in load),
    )


MOST_ROWS, WIDTH = 60, 110
CODE = "font-family:monospace;padding:.6em 1em;border-left:2px solid currentColor"
CELL = "text-align:left;white-space:nowrap"


def worth_showing(rows: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """Give so many rows in their order: those that hold a watermark and those that drop records are among them."""
    order = sorted(range(len(rows)), key=lambda number: not (rows[number]["holds"] or rows[number]["dropped"]))
    return [rows[number] for number in sorted(order[:most])]


def _text_table(rows: list[dict[str, Any]]) -> list[str]:
    table = [HEADS, *map(_cells, worth_showing(rows, MOST_ROWS))]
    widths = [max(len(row[column]) for row in table) for column in range(len(HEADS))]
    lines = [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table
    ]
    return lines + [f"  … and {len(rows) - MOST_ROWS} more rows"] * (len(rows) > MOST_ROWS)


def _html_table(rows: list[dict[str, Any]]) -> str:
    head = "".join(f'<th style="{CELL}">{escape(name)}</th>' for name in HEADS)
    body = "".join(
        "<tr>" + "".join(f'<td style="{CELL}">{escape(cell)}</td>' for cell in _cells(row)) + "</tr>"
        for row in worth_showing(rows, MOST_ROWS)
    )
    more = f"<p>… and {len(rows) - MOST_ROWS} more rows</p>" if len(rows) > MOST_ROWS else ""
    return (
        f'<div style="overflow-x:auto"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{more}'
    )


def _listed(title: str, sentences: tuple[str, ...]) -> list[str]:
    lines = ["", f"{title}:"] if sentences else []
    for sentence in sentences:
        lines += _wrapped(sentence, "  - ")
    return lines


def _wrapped(sentence: str, lead: str) -> list[str]:
    return wrap(sentence, WIDTH, initial_indent=lead, subsequent_indent=" " * len(lead), break_on_hyphens=False)


def _html_list(title: str, sentences: tuple[str, ...] | list[str]) -> str:
    if not sentences:
        return ""
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f"<details><summary>{escape(title)}</summary><ul>{items}</ul></details>"
