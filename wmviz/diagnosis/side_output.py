"""Late events that no counter has: a side output that nobody reads."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wmviz.diagnosis import fixes
from wmviz.diagnosis.case import Case, Cause
from wmviz.diagnosis.facts import Task, Window, subtasks
from wmviz.diagnosis.words import SECOND_MS, duration

LATE_SAMPLES = 2
"""One late event in a sample proves little."""


def unread_side_output(case: Case) -> Iterator[Cause | str]:
    """Look for late events that no counter has: they go to a side output, and perhaps nobody reads it."""
    for window in case.event_time:
        task = case.facts.now.tasks[window.task]
        if window.task in case.wrong or (task.total("numLateRecordsDropped", window.operator) or 0) > 0:
            continue
        if dead := _dead_end(case, task):
            name, count, rise = dead
            received = task.total("numRecordsIn", window.operator) or 0
            share = f", {count / received:.1%} of what {window.operator} received" if received else ""
            yield Cause(
                "unread-side-output",
                f"Late data goes to a side output that nobody reads (behind {window.operator})",
                "likely",
                (
                    (
                        f"{count:,} records{share}, went into {name!r}, which nothing follows and which is no sink; "
                        f"{rise:,} of them in the last {duration(case.facts.elapsed_ms)}."
                    ),
                    f"numLateRecordsDropped of {window.operator} is 0: with a side output it does not count.",
                ),
                "Give the side output a sink, and watch how much goes there. " + fixes.REDEPLOY,
                fixes.READ_SIDE_OUTPUT,
                0.72,
            )
            continue
        late, seen, oldest_ms = _late_samples(case, window)
        if late < LATE_SAMPLES:
            continue
        evidence = [
            (
                f"{late} of {seen} events that were sampled at the source were more than a window behind the watermark "
                f"(the oldest was {duration(oldest_ms)} old)."
            ),
            f"But numLateRecordsDropped of {window.operator} is 0.",
        ]
        if _branches(case, task) > 1:
            yield " ".join(evidence) + " A second stream leaves the windows: it may be the side output, and it is read."
            continue
        if _fires_again(case, window):
            yield " ".join(evidence) + " Windows fire again between their ends, so allowed lateness counts them."
            continue
        yield Cause(
            "unread-side-output",
            f"Late data goes to a side output that nobody reads (behind {window.operator})",
            "possible",
            (
                *evidence,
                "No second stream leaves the windows, and they fire at their ends only: nothing counts these events.",
            ),
            "If the job sets side_output_late_data, give it a sink. REST does not show a side output that nobody "
            "reads; allowed lateness that has not fired yet would look the same. " + fixes.REDEPLOY,
            fixes.READ_SIDE_OUTPUT,
            0.6,
        )


def _dead_end(case: Case, task: Task) -> tuple[str, int, int] | None:
    """Give an operator behind the windows that receives records, is no sink, and hands them to nobody."""
    ends = [leaf for leaf in task.leaves()[:20] if not re.search("sink|writer|committer", leaf, re.IGNORECASE)]
    if len(task.leaves()) < 2 or not ends:
        return None
    handed_on = sum(task.value(s, "numRecordsOut") or 0 for s in subtasks(task))
    for leaf in ends:
        name = _among_metrics(task, leaf)
        received = task.total("numRecordsIn", name) or 0
        rise = received - (case.facts.earlier(task).total("numRecordsIn", name) or 0)
        if received > 0 and (not case.facts.readers(task.id) or handed_on == 0):
            return leaf, received, rise
    return None


def _among_metrics(task: Task, leaf: str) -> str:
    """Give the name that an operator of the plan has among the metrics: cut at 80 letters, and with others for some."""
    plain = re.sub(r"\W", "_", leaf)[:80]
    names = task.operators("numRecordsIn")
    return next((name for name in names if re.sub(r"\W", "_", name)[:80] == plain), leaf)


def _late_samples(case: Case, window: Window) -> tuple[int, int, int]:
    """Count sampled events that were late for their window: how many, of how many, and the age of the oldest."""
    late, seen, oldest_ms = 0, set(), 0
    size_ms = window.size_ms or 0
    for task in {each.task.id for each in case.origins(window.task)}:
        samples = [sample.get(task, {}) for sample in case.facts.answers.samples]
        for sample in samples:
            for name, text in sample.items():
                if not name.endswith(".currentEmitEventTimeLag"):
                    continue
                trails = sample.get(name.replace("currentEmitEventTimeLag", "watermarkLag"))
                if trails is None or not text.lstrip("-").isdecimal() or not trails.lstrip("-").isdecimal():
                    continue
                lag_ms, trails_ms = int(text), int(trails)
                key = (name, lag_ms)
                if lag_ms < 0 or key in seen:
                    continue
                seen.add(key)
                if lag_ms > trails_ms + size_ms + SECOND_MS:
                    late += 1
                    oldest_ms = max(oldest_ms, lag_ms)
    return late, len(seen), oldest_ms


def _branches(case: Case, task: Task) -> int:
    """Count the streams that leave a task with windows."""
    return max(len(task.leaves()), 1) - 1 + max(len(case.facts.readers(task.id)), 1)


def _fires_again(case: Case, window: Window) -> bool:
    """Say whether results came while the watermark passed no end of a window, as with allowed lateness."""
    if window.every_ms is None:
        return True  # ends of such windows are anywhere
    again = 0
    last: dict[str, tuple[int, int]] = {}
    for sample in case.facts.answers.samples:
        metrics = sample.get(window.task, {})
        for name, text in metrics.items():
            subtask, _, rest = name.partition(".")
            if rest != f"{window.operator}.currentInputWatermark":
                continue
            out = metrics.get(f"{subtask}.{window.operator}.numRecordsOut")
            if out is None:
                continue
            ended, results = (int(text) + 1) // window.every_ms, int(out)
            before = last.get(subtask)
            # A firing takes a moment: results may be counted one look after the end was passed.
            if (
                before is not None
                and results > before[1]
                and ended == before[0]
                and (int(text) + 1) % window.every_ms > SECOND_MS
            ):
                again += 1
            last[subtask] = (ended, results)
    return again > 0
