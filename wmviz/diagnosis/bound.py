"""The bound: so large that results wait, or so small that records are dropped."""

from __future__ import annotations

from collections.abc import Iterator

from wmviz.diagnosis import fixes
from wmviz.diagnosis.case import CATCHING_UP, LEAST_DELAY_MS, LONGEST_DELAY_MS, Case, Cause, Origin
from wmviz.diagnosis.facts import Window, is_time
from wmviz.diagnosis.words import SECOND_MS, duration


def bound_too_large(case: Case) -> Iterator[Cause | str]:
    """Look for a watermark that moves steadily and trails far behind fresh events."""
    worst: tuple[Origin, int, int | None] | None = None
    for task in case.consumers():
        if task in case.held or task in case.wrong:
            continue
        sizes = [window.size_ms for window in case.event_time if window.task == task and window.size_ms]
        limit_ms = case.limits.delay_ms
        if limit_ms is None:
            limit_ms = min(max(2 * min(sizes), LEAST_DELAY_MS), LONGEST_DELAY_MS) if sizes else LONGEST_DELAY_MS
        for origin in case.origins(task):
            pace = case.pace(origin)
            if not is_time(origin.now_ms) or not 0 < pace < CATCHING_UP:
                continue
            behind_ms = case.now_ms - (origin.now_ms or 0)
            lags = [max(lag, 0) for lag in case.event_lags_ms(origin)]
            events_ms = min(lags) if lags else None
            if origin.task.sql_bound_ms is not None:
                events_ms = max(behind_ms - origin.task.sql_bound_ms, 0)
            if events_ms is None and task in case.waiting:
                continue  # one fault is seen; that there is another would be a guess
            extra_ms = behind_ms - (events_ms or 0)
            if extra_ms > limit_ms and (worst is None or extra_ms > worst[1]):
                worst = (origin, extra_ms, events_ms)
    if worst is None:
        return
    origin, extra_ms, events_ms = worst
    behind_ms = case.now_ms - (origin.now_ms or 0)
    evidence = [
        (
            f"The watermark of {origin.place} moves steadily ({case.pace(origin):.1f} times the clock) "
            f"but trails the clock by {duration(behind_ms)}."
        )
    ]
    if events_ms is None:
        evidence.append(
            "Flink does not say here how old the events are, so old events and a large bound look the same."
        )
    elif origin.task.sql_bound_ms is not None:
        evidence.append(f"The table declares a bound of {duration(origin.task.sql_bound_ms)} (WATERMARK FOR).")
    else:
        evidence.append(
            f"Fresh events are only {duration(events_ms)} old when read: about {duration(extra_ms)} is the bound."
        )
    sizes = [window.size_ms for window in case.event_time if window.size_ms]
    if sizes and not case.waiting:
        evidence.append(f"A window of {duration(min(sizes))} gives its result {duration(behind_ms)} after its end.")
    yield Cause(
        "bound-too-large",
        f"Bound too large: about {duration(extra_ms)}",
        "likely" if events_ms is not None else "possible",
        tuple(evidence),
        "Lower the bound to the usual disorder and use allowed lateness for the tail. In a test with few events a "
        "bound like this looks like windows that never fire. " + fixes.REDEPLOY,
        fixes.filled(fixes.SMALLER_BOUND, bound=duration(extra_ms)),
        0.75 if events_ms is not None else 0.55,
    )


def bound_too_small(case: Case) -> Iterator[Cause | str]:
    """Look for late records that are dropped."""
    for window in case.facts.windows:
        task = case.facts.now.tasks[window.task]
        before = case.facts.earlier(task)
        dropped = task.total("numLateRecordsDropped", window.operator) or 0
        risen = dropped - (before.total("numLateRecordsDropped", window.operator) or 0)
        received = task.total("numRecordsIn", window.operator) or 0
        lately = received - (before.total("numRecordsIn", window.operator) or 0)
        if dropped <= 0:
            continue
        share = f" of {received:,} records ({dropped / received:.1%})" if received else ""
        evidence = [f"{window.operator} has dropped {dropped:,}{share} as late since the job began."]
        if risen > 0:
            evidence.append(
                f"In {duration(case.facts.elapsed_ms)} numLateRecordsDropped rose by {risen:,}"
                + (f" of {lately:,} records ({risen / lately:.1%})." if lately > 0 else ".")
            )
        elif case.facts.began_again:
            evidence.append("The job began again between the two readings, so how fast it rises is not known.")
        elif received and dropped / received < 0.01:
            yield evidence[0] + " It did not rise between the two readings."
            continue
        else:
            evidence.append("It did not rise between the two readings.")
        if any("LocalWindowAggregate" in each.text for each in case.facts.now.tasks.values()):
            evidence.append(
                "SQL's two-phase plan counts groups of late rows, not rows: the loss is larger than the counter says."
            )
        ages = [lag for each in case.origins(window.task) for lag in case.event_lags_ms(each)]
        if ages and max(ages) > 0:
            evidence.append(f"The oldest event that was seen meanwhile was {duration(max(ages))} old.")
        idle = _was_idle(case, window)
        if idle:
            evidence.append(
                f"{idle} was marked idle for a while: what it sends after its return may be what is dropped. Then the "
                "idle timeout is the cause, not the bound."
            )
        wrong = window.task in case.wrong
        yield Cause(
            "bound-too-small",
            f"Bound too small: {window.operator} drops late records",
            "possible" if wrong or risen <= 0 else "likely",
            tuple(evidence),
            "Set the bound to the usual disorder, measured, not guessed; allowed lateness for the tail; a side output "
            "for the rest. " + fixes.REDEPLOY,
            fixes.LATENESS,
            0.5 if wrong or risen <= 0 else 0.8,
        )


def _was_idle(case: Case, window: Window) -> str | None:
    for each in case.origins(window.task):
        for split, values in each.splits().items():
            if values.get("accumulatedIdleTimeMs", 0) > SECOND_MS:
                return f"Partition {split}"
    return None
