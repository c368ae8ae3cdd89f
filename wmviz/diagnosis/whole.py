"""The job as a whole: whether it runs, is backpressured, gets anything, and has windows that wait for event time."""

from __future__ import annotations

from collections.abc import Iterator

from wmviz.diagnosis import fixes
from wmviz.diagnosis.case import (
    BUSY_MS,
    FULL_MS,
    LEAST_DELAY_MS,
    PATIENCE_MS,
    USUAL_PAUSES,
    Case,
    Cause,
    Check,
    Origin,
)
from wmviz.diagnosis.facts import Task, is_time, subtasks
from wmviz.diagnosis.words import MINUTE_MS, capital, duration, short


def state(case: Case) -> Iterator[Cause | str]:
    """Look whether the job runs at all, and why not."""
    now = case.facts.now
    newest = case.facts.exceptions[0] if case.facts.exceptions else {}
    sentences = [str(each) for each in newest.get("sentences") or []]
    at_ms = newest.get("timestamp")
    since_ms = now.at_ms - (at_ms if isinstance(at_ms, int) else 0)
    fails = bool(sentences) and (now.state != "RUNNING" or since_ms < max(MINUTE_MS, case.facts.elapsed_ms))
    if fails and (sentence := _with(sentences, "Long.MIN_VALUE timestamp")):
        case.wrong.update(now.tasks)
        yield _without_time(now.state, sentence)
    elif fails and "Window" in str(newest.get("task")) and (sentence := _with(sentences, NO_READER)):
        yield _without_reader(now.state, sentence)
    elif now.state == "FINISHED":
        yield "The job is finished: its sources ended, and the last watermark fired every window."
    elif now.state != "RUNNING" or (fails and case.facts.age_ms < MINUTE_MS):
        runs = now.state == "RUNNING"
        what = "The job has just begun again." if runs else f"The job is {now.state.lower()}."
        causes = [each for each in sentences if each.startswith("Caused by: ")]
        yield Cause(
            "not-running",
            "The job fails" if fails else f"The job is {now.state.lower()}",
            "likely" if runs else "certain",
            (what, *[f"Its last error: {_cut(each)}" for each in (causes or sentences)[-1:]]),
            MEND if sentences else START,
            rank=0.99,
        )
    elif not now.is_batch and (cause := _not_begun(case)):
        yield cause


def _not_begun(case: Case) -> Cause | None:
    """Look for tasks that do not run although the job has been said to run for a while."""
    for statuses, patience_ms in ((("CREATED", "SCHEDULED"), PATIENCE_MS), (("DEPLOYING", "INITIALIZING"), MINUTE_MS)):
        waiting = [task for task in case.facts.now.tasks.values() if task.status in statuses]
        if not waiting or case.facts.age_ms < patience_ms:
            continue
        first, total = waiting[0], len(case.facts.now.tasks)
        needs = f"at least {max(task.parallelism for task in waiting)}"
        for_slots = first.status in ("CREATED", "SCHEDULED")
        return Cause(
            "not-running",
            f"The job {'waits for slots' if for_slots else 'is still starting'}: {short(first.name)} is "
            f"{first.status.lower()}",
            "likely" if for_slots else "possible",
            (
                f"{len(waiting)} of its {total} tasks do not run, {duration(case.facts.age_ms)} after the job began.",
                "Until then nothing is read, and no watermark moves.",
            ),
            SLOTS.format(needs) if for_slots else RESTORE,
            rank=0.985,
        )
    return None


def batch(case: Case) -> Iterator[Cause | str]:
    """Say why watermarks are not looked at in batch mode."""
    if case.facts.now.state == "RUNNING":
        yield "The job runs in batch mode: no watermark moves before its end, and then every window fires."


MEND = "Mend the error first. After each restart all watermarks begin anew."
START = (
    "Flink tells of no error: somebody stopped it, or it has not begun. Start it from its last savepoint or "
    "checkpoint; without one all watermarks and windows begin anew."
)
SLOTS = "Look at the free slots: the job needs {}. Add TaskManagers, or lower the parallelism."
RESTORE = "Large state takes long to restore. Look at the log of its TaskManager."
CATCHES_UP, KEEPS_UP = 1.2, 0.9
"""How many times faster than the clock a watermark moves that catches up, or keeps up."""
NO_READER = "ClassCastException: class [Ljava.lang.Object;"
"""What PyFlink's windows fail with when a late record is to go to a side output that was never asked for."""


def _with(sentences: list[str], part: str) -> str | None:
    return next((_cut(each) for each in sentences if part in each), None)


def _cut(sentence: str) -> str:
    text = sentence.removeprefix("Caused by: ")
    return text if len(text) <= 300 else f"{text[:297]}..."


def _without_time(state: str, sentence: str) -> Cause:
    return Cause(
        "wrong-timestamps",
        "Wrong timestamps: the records have none",
        "certain",
        (
            f"The job is {state.lower()}; it failed with: {sentence}",
            "A window cannot place a record without a timestamp, so the job fails and begins again.",
        ),
        "No assigner is in force, and the source gives its records no time. In PyFlink from_source ignores a "
        "Python assigner, and with_idleness or with_watermark_alignment after it loses it. " + fixes.REDEPLOY,
        fixes.ASSIGNER,
        1.0,
    )


def _without_reader(state: str, sentence: str) -> Cause:
    why = (
        "PyFlink's windows fail so on a late record where side_output_late_data is set and get_side_output is never "
        "called; a function whose results are of another type than declared fails so too."
    )
    return Cause(
        "unread-side-output",
        "Late data goes to a side output that nobody reads, and PyFlink fails on it",
        "likely",
        (f"The job is {state.lower()}; it failed with: {sentence}", why),
        "Read the side output, or leave side_output_late_data out. " + fixes.REDEPLOY,
        fixes.READ_SIDE_OUTPUT,
        0.995,
    )


def backpressure(case: Case) -> Iterator[Cause | str]:
    """Look whether sources are held back by what follows, or by the work that is chained to them."""
    for task in case.facts.now.tasks.values():
        held_ms, busy_ms = _most(task, "backPressuredTimeMsPerSecond"), _most(task, "busyTimeMsPerSecond")
        if not task.is_source or max(held_ms, busy_ms - FULL_MS + BUSY_MS) < BUSY_MS:
            continue
        is_held = held_ms >= BUSY_MS
        text = " ".join(evidence := _load(case, task, is_held))
        origins = [each for each in case.origins() if each.task.id == task.id and is_time(each.now_ms)]
        paces = [case.pace(each) for each in origins]
        is_fresh = bool(origins) and _behind_ms(case, origins) <= LEAST_DELAY_MS
        if origins and not is_fresh and max(paces) >= CATCHES_UP:
            case.held.update(case.consumers())
            yield text + " It reads old events and catches up, as fast as the job can."
        elif not is_held and (is_fresh or not origins or max(paces) >= KEEPS_UP or not _reads_old(case, origins)):
            continue  # a source may be busy with waiting
        elif not is_fresh or max(paces) <= 0.5:
            case.held.update(case.consumers())
            yield _overload(case, task, origins, evidence, is_held)
        else:
            yield text


def _load(case: Case, task: Task, is_held: bool) -> tuple[str, ...]:
    """Say how busy a source is, and what follows it."""
    if not is_held:
        ms = _most(task, "busyTimeMsPerSecond")
        return (f"{short(task.name)} is busy {ms} ms of each second, with all that is chained to it.",)
    busy = [
        f"{short(each.name)} is busy {ms} ms of each second."
        for each in case.facts.now.tasks.values()
        if not each.is_source and (ms := _most(each, "busyTimeMsPerSecond")) >= BUSY_MS
    ]
    return (
        f"{short(task.name)} is backpressured {_most(task, 'backPressuredTimeMsPerSecond')} ms of each second.",
        *busy,
    )


def _behind_ms(case: Case, origins: list[Origin]) -> int:
    return max(case.now_ms - (each.now_ms or 0) for each in origins)


def _reads_old(case: Case, origins: list[Origin]) -> bool:
    """Say whether events were old when they were read; where Flink does not say, they may have been."""
    lags = [lag for each in origins for lag in case.event_lags_ms(each)]
    return not lags or max(lags) > LEAST_DELAY_MS


def _overload(case: Case, task: Task, origins: list[Origin], evidence: tuple[str, ...], is_held: bool) -> Cause:
    if origins:
        behind = f"Its watermark is {duration(_behind_ms(case, origins))} behind the clock"
        pace = max(case.pace(each) for each in origins)
        evidence += (f"{behind} and moves {pace:.1f} times as fast.",)
    title = f"Backpressure: {short(task.name)} waits for what follows it"
    return Cause(
        "backpressured",
        title if is_held else f"Overload: {short(task.name)} is busy all the time and falls behind",
        "likely",
        evidence,
        "Results are late, not missing. More parallelism or less work for the busy task; the watermark strategy is "
        "not the cause.",
        rank=0.7,
    )


def everything_idle(case: Case) -> Iterator[Cause | str]:
    """Look whether nothing arrives at all."""
    origins = case.origins()
    sources = [task for task in case.facts.now.tasks.values() if task.is_source and task.status == "RUNNING"]
    if case.facts.now.state != "RUNNING" or not sources or case.wrong:
        return
    if case.facts.began_again or case.facts.is_stale or any(each.is_paused for each in origins):
        return
    if any(task.records(s) > case.facts.earlier(task).records(s) for task in sources for s in subtasks(task)):
        return
    if any(each.moves for each in origins):
        return
    if any((task.value(s, "backPressuredTimeMsPerSecond") or 0) >= BUSY_MS for task in sources for s in subtasks(task)):
        return
    quiet = [ms for task in sources for s in subtasks(task) for ms in task.of_subtask(s, "sourceIdleTime")]
    quiet_ms = max(min(quiet, default=0), case.facts.elapsed_ms)
    total = sum(task.records(s) for task in sources for s in subtasks(task))
    usual_ms = max(case.facts.age_ms - quiet_ms, 0) // total if total else 0
    limit_ms = case.limits.silence_ms
    if limit_ms is None:
        limit_ms = max(PATIENCE_MS, USUAL_PAUSES * usual_ms)
    if quiet_ms < limit_ms:
        yield (
            f"No source read a record for {duration(quiet_ms)}; watermarks stand because the newest event stands. "
            f"That counts as a fault from {duration(limit_ms)} on."
        )
        return
    case.held.update(case.consumers())
    evidence = [f"No source subtask read a record for {duration(quiet_ms)}; since the job began they read {total:,}."]
    if total and usual_ms:
        evidence.append(f"Before, there was one in {duration(usual_ms)} on average.")
    evidence += [
        "The watermark stands because the newest event stands: no partition is behind the others.",
        (
            "A watermark moves with events only, so the last windows wait. with_idleness does not help: if every "
            "input is idle, there is none to go on without it."
        ),
    ]
    if not _level(origins):
        evidence.pop(-2)
    yield Cause(
        "everything-idle",
        "Nothing arrives: every source is idle",
        "likely" if quiet_ms >= MINUTE_MS or case.limits.silence_ms is not None else "possible",
        tuple(evidence),
        "Look at the source: topic, group, credentials, the producer. If silence is normal, as at night, say so with "
        "acceptable_silence; a heartbeat event lets the last windows fire.",
        rank=0.65,
    )


def _level(origins: list[Origin]) -> bool:
    """Say whether no input with a watermark is far behind the others."""
    known = [each.now_ms for each in origins if is_time(each.now_ms) and each.now_ms is not None]
    return len(known) == len(origins) and bool(known) and max(known) - min(known) < PATIENCE_MS


def windows_without_end(case: Case) -> Iterator[Cause | str]:
    """Look for global windows that nothing fires, and for windows that count by the server's clock."""
    for window in case.facts.windows:
        task = case.facts.now.tasks[window.task]
        results = task.total("numRecordsOut", window.operator)
        received = task.total("numRecordsIn", window.operator) or 0
        if window.kind == "global" and received and (window.never or results == 0):
            yield Cause(
                "global-window-without-trigger",
                f"Global windows that never fire: {window.operator}",
                "certain" if window.never else "likely",
                (f"{window.operator} received {received:,} records and gave {results or 0:,} results.",)
                + ("Its trigger is NeverTrigger, the default of GlobalWindows.",) * window.never,
                "Give the windows a trigger, for example one that counts. Watermarks play no part here.",
                fixes.TRIGGER,
                0.97 if window.never else 0.6,
            )
        elif window.kind == "processing time":
            yield (
                f"{window.operator} counts by the server's clock: it fires whatever the watermarks do, and a late "
                "event counts for the window in which it arrives."
            )


def checkpoints(case: Case) -> Iterator[Cause | str]:
    """Look whether checkpoints complete."""
    completed, failed = (case.facts.checkpoints.get(name, 0) for name in ("completed", "failed"))
    ended = [status for status in case.facts.newest_checkpoints if status != "IN_PROGRESS"][:3]
    if not failed or not ended or any(status != "FAILED" for status in ended):
        return
    which = f"last {len(ended)} checkpoints" if len(ended) > 1 else "newest checkpoint"
    counted = f"the {which} failed ({completed} completed, {failed} failed)"
    reason = case.facts.checkpoint_failure
    because = f" The newest failed with: {_cut(reason)}" if reason else ""
    if len(ended) < 3:
        yield f"{capital(counted)}.{because}"
        return
    committer = next((short(task.name) for task in case.facts.now.tasks.values() if _commits(task)), None)
    shows = (
        f"{committer} commits with checkpoints. If it writes exactly once, it has shown nothing since."
        if committer
        else "A sink that commits with checkpoints shows nothing since; whether this job has one, Flink does not say."
    )
    yield Cause(
        "checkpoints-fail",
        "Checkpoints fail",
        "likely" if committer else "possible",
        (f"{capital(counted)}.{because}", shows, "A restart goes back to the last checkpoint that completed."),
        "Look at the checkpoints in Flink's web page: which subtask fails, or does not answer in time, and why. "
        "Backpressure and large state are the usual reasons. Watermarks play no part here.",
        rank=0.68,
    )


def _commits(task: Task) -> bool:
    return "Committer" in f"{task.name} {task.text}"


def _most(task: Task, metric: str) -> int:
    """Give the largest number of any subtask."""
    return max((task.value(subtask, metric) or 0 for subtask in subtasks(task)), default=0)


def checks(case: Case) -> list[Check]:
    """Say what was ruled out, in the order in which one asks."""
    tasks = case.facts.now.tasks.values()
    windows = case.facts.windows
    sources = [task for task in tasks if task.is_source]
    held_back = max(
        (task.value(s, "backPressuredTimeMsPerSecond") or 0 for task in tasks for s in subtasks(task)), default=0
    )
    flowing = sum(task.records(s) - case.facts.earlier(task).records(s) for task in sources for s in subtasks(task))
    flow = f"the sources read {flowing:,} records between the two readings."
    if case.facts.began_again:
        flow = "the job began again between the two readings, so the records of both cannot be compared."
    finished = [task for task in sources if task.status == "FINISHED"]
    if not windows:
        kinds = "no operator counts late records, so the job has no windows, or does not run yet"
    else:
        kinds = ", ".join(f"{window.operator} ({window.kind})" for window in windows)
    return [
        Check("windows", bool(windows), f"Windows: {kinds}."),
        Check(
            "global windows without trigger",
            not any(window.kind == "global" for window in windows),
            "Global windows: " + ("there are some." if any(w.kind == "global" for w in windows) else "none."),
        ),
        Check(
            "processing-time windows",
            not any(window.kind == "processing time" for window in windows),
            "Windows by the server's clock: "
            + ("there are some." if any(w.kind == "processing time" for w in windows) else "none is seen."),
        ),
        Check(
            "backpressure",
            held_back < BUSY_MS and not case.held,
            f"Backpressure: at most {held_back} ms of each second in any subtask.",
        ),
        Check("everything idle", flowing > 0, f"Input: {flow}"),
        Check(
            "finished sources",
            not finished,
            f"Finished sources: {', '.join(short(task.name) for task in finished) or 'none'}.",
        ),
    ]
