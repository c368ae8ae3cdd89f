"""The parts of the live panel as HTML: the verdict, its causes, the watermarks with their past, and the rest."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import ceil
from typing import Any

from wmviz.diagnosis.case import Cause
from wmviz.diagnosis.history import History
from wmviz.diagnosis.result import Diagnosis, worth_showing
from wmviz.diagnosis.words import duration, moment
from wmviz.times import MAX_MS

MOST_ROWS = 40
HEADS = (
    "Task",
    "Subtask",
    "Watermark (UTC)",
    "Behind the clock",
    "Lately",
    "Dropped",
    "Busy / idle / backpressured, ms of a second",
)


def waiting(name: str, missing_s: float) -> str:
    """Say that one reading is there and another is needed."""
    return _verdict(
        "wmviz-waiting",
        "…",
        f"{name}: one reading is there. The verdict needs a second one, {ceil(missing_s)} s later.",
    )


def beginning(address: str) -> str:
    """Say that nothing was read yet."""
    return _verdict("wmviz-waiting", "…", f"The first reading of {address} is on its way.")


def failed(sentence: str) -> str:
    """Say why nothing could be read at all."""
    return _verdict("wmviz-fault", "✗", sentence)


def trouble(sentence: str) -> str:
    """Say why there is nothing newer."""
    return f"<p>{escape(sentence)}</p>"


def verdict(found: Diagnosis) -> str:
    """Say in a line what was found."""
    if found.healthy:
        return _verdict("wmviz-healthy", "✓", found.headline)
    return _verdict("wmviz-fault", "✗", found.headline)


def _verdict(kind: str, mark: str, sentence: str) -> str:
    return f'<p class="{kind}"><span aria-hidden="true">{mark}</span> {escape(sentence)}</p>'


def causes(found: Diagnosis) -> str:
    """Give each cause with its evidence and its fix; the first one open."""
    return "".join(_cause(number, cause, found.language) for number, cause in enumerate(found.causes, 1))


def _cause(number: int, cause: Cause, language: str) -> str:
    text = cause.fix.get(language) or next(iter(cause.fix.values()), "")
    fix = f'<pre tabindex="0" aria-label="The fix as code">{escape(text)}</pre>' if text else ""
    title = f"{number}. {escape(cause.title)} <em>({escape(cause.certainty)})</em>"
    if number == 1:  # the verdict above has said it
        title = "What speaks for it, and what to do"
    return (
        f'<details data-key="cause-{escape(cause.name)}"{" open" * (number == 1)}>'
        f"<summary>{title}</summary>"
        f"{_list(cause.evidence)}<p>{escape(cause.advice)}</p>{fix}</details>"
    )


def table(found: Diagnosis, past: History) -> str:
    """Give a row for each subtask and each split, with a line of how far its watermark was behind the clock."""
    rows = found.rows
    head = "".join(f'<th scope="col">{name}</th>' for name in HEADS)
    today = moment(found.facts.now.at_ms)[:10]
    body = "".join(_row(row, past, today) for row in worth_showing(rows, MOST_ROWS))
    more = f"<p>… and {len(rows) - MOST_ROWS:,} more rows</p>" if len(rows) > MOST_ROWS else ""
    return (
        '<div class="wmviz-scroll" data-key="watermarks" tabindex="0" role="region" aria-label="Watermarks by subtask">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{more}"
    )


def _row(row: dict[str, Any], past: History, today: str) -> str:
    is_split, holds = row["split"] is not None, bool(row["holds"])
    name = "" if is_split else escape(row["task"])
    subtask = f"partition {row['split']}" if is_split else str(row["subtask"])
    line = "" if is_split else past.line(row["vertex"], row["subtask"], holds)
    mark = " <strong>holds</strong>" * holds
    cells = (
        f"<td>{escape(subtask)}</td><td>{_moment(row, today)}{mark}</td><td>{_behind(row)}</td><td>{line}</td>"
        f"<td>{'' if row['dropped'] is None else format(row['dropped'], ',')}</td><td>{_load(row)}</td>"
    )
    kind = ' class="wmviz-holder"' if holds else ' class="wmviz-split"' if is_split else ""
    return f'<tr{kind}><th scope="row">{name}</th>{cells}</tr>'


def _moment(row: dict[str, Any], today: str) -> str:
    now_ms = row["watermark_ms"]
    if now_ms is None:
        return "none yet"
    return "the end" if now_ms == MAX_MS else escape(moment(now_ms).removesuffix(" UTC").removeprefix(f"{today} "))


def _behind(row: dict[str, Any]) -> str:
    if row["behind_ms"] is None:
        return "–"
    stands = row["watermark_ms"] == row["before_ms"]
    return escape(duration(row["behind_ms"])) + (", stands" if stands else "")


def _load(row: dict[str, Any]) -> str:
    load = [row["busy"], row["idle"], row["backpressured"]]
    if row["split"] is not None or all(each is None for each in load):
        return ""
    return " / ".join("–" if each is None else str(each) for each in load)


def more(found: Diagnosis) -> str:
    """Give what else was noticed, what was ruled out, the checkpoints, and what could not be seen."""
    checks = [f"{'✓' if check.ruled_out else '!'} {check.sentence}" for check in found.checks]
    checkpoints = f"<p>Checkpoints: {escape(found.checkpoints_text)}</p>" if found.checkpoints else ""
    return (
        checkpoints
        + _folded("noticed", "Noticed", found.notes, is_open=True)
        + _folded("checks", "Ruled out first", checks)
        + _folded("unseen", "Not seen, and why", found.unseen)
    )


def _folded(key: str, title: str, sentences: Sequence[str], is_open: bool = False) -> str:
    if not sentences:
        return ""
    return (
        f'<details data-key="{key}"{" open" * is_open}><summary>{escape(title)}</summary>{_list(sentences)}</details>'
    )


def _list(sentences: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences) + "</ul>"
