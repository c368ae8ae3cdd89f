"""The sheet of lesson 17, at work. Every right answer comes from the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import wmviz
from wmviz.course.judging import judge_job, judge_names, judge_time
from wmviz.course.lessons.at_work import read_again, rings_ms
from wmviz.course.own_code import called, truth
from wmviz.course.questions import Question, Task, Verdict, not_yet, right, wrong
from wmviz.scenario import Scenario
from wmviz.times import DAY_MS, MIN_MS, duration_text, time_ms, time_text
from wmviz.trace import Kind, Trace

MINUTE_MS, HOUR_MS = 60_000, 3_600_000
EVENT_MS = 10_000
"""Task 5: from event to event."""

# What is given -----------------------------------------------------------------------------------------------------

TANKERS = Scenario.of(
    name="two-tankers",
    title="Milk from two tankers",
    unit="litres",
    bound="5 min",
    window="1 h",
    start="7:55",
    partitions=2,
    events=[
        [("hill", "lake")[n % 2], 100, time_ms("8:00") + n * 2 * MINUTE_MS, time_ms("8:01") + n * 2 * MINUTE_MS, n % 2]
        for n in range(60)
    ],
)
"""Task 1: a calm morning. Each incident is a change of it."""


def _with_lake(ahead_ms: int = 0, until_ms: int | None = None) -> list[list[Any]]:
    """Give the events with another clock of lake's tanker, or without what it sends from a time on."""
    return [
        [e.key, e.value, e.event_time_ms + (ahead_ms if e.partition else 0), e.arrival_time_ms, e.partition]
        for e in TANKERS.events
        if not e.partition or until_ms is None or e.arrival_time_ms < until_ms
    ]


def _older(rows: list[list[Any]]) -> list[list[Any]]:
    """Put both tankers into one stream, in which only the newest time counts."""
    return [[*row[:4], 0] for row in rows]


INCIDENTS: Mapping[str, Scenario] = {
    "A": TANKERS.replace(
        name="silent", title="A tanker has no radio from 8:40 on", events=_with_lake(0, time_ms("8:40"))
    ),
    "B": TANKERS.replace(
        name="ahead-side",
        title="A clock is 40 min ahead, and there is a side output",
        partitions=1,
        events=_older(_with_lake(40 * MINUTE_MS)),
        late_to="side",
    ),
    "C": TANKERS.replace(
        name="ahead-drop",
        title="A clock is 40 min ahead, and there is no side output",
        partitions=1,
        events=_older(_with_lake(40 * MINUTE_MS)),
    ),
    "D": TANKERS.replace(
        name="restarts",
        title="A machine fails three times",
        checkpoints={"interval": "1 min"},
        happenings=[{"what": "crash", "at": at, "down": "20 s"} for at in ("8:21", "8:47", "9:15")],
    ),
}
ALERTS = ("watermark", "dropped", "side output", "restarts")
"""Names of the alerts of task 1."""

STOP = {"what": "stop", "at": "9:03", "down": "2 min"}
MILK = Scenario.of(
    name="milk",
    title="Milk from four farms",
    unit="litres",
    bound="5 min",
    late_to="side",
    window="1 h",
    start="8:30",
    happenings=[STOP],
    events=[
        ["hill", 300, "8:35", "8:35:20"],
        ["oak", 700, "8:40", "8:41"],
        ["lake", 500, "8:48", "8:48:30"],
        ["mill", 200, "8:58", "8:59"],
        ["lake", 100, "9:02", "9:02:10"],
        ["hill", 150, "8:55", "9:06"],
        ["lake", 250, "9:05:30", "9:06:30"],
        ["mill", 400, "8:57", "9:09"],
        ["lake", 100, "9:12", "9:12:20"],
        ["oak", 100, "9:31", "9:31:10"],
        ["lake", 50, "9:45", "9:45:10"],
    ],
)
"""Tasks 2 to 4: a job that is stopped at 9:03 and resumed at 9:05."""


def _resumed(**changes: str) -> Scenario:
    return MILK.replace(happenings=[{**STOP, "with": changes}])


WIDER = _resumed(bound="12 min").replace(name="milk-bound-12")
LONGER = _resumed(lateness="30 min").replace(name="milk-lateness-30")

INTAKE = Scenario.of(
    name="intake",
    title="The scales of the dairy",
    unit="litres",
    bound="10 s",
    window="2 min",
    start="9:50",
    checkpoints={"interval": "10 min", "notice": "5 s"},
    sink="transactional",
    transaction_timeout="2 min",
    events=[
        [("north", "south")[n % 2], 50, time_ms("9:50:05") + n * EVENT_MS, time_ms("9:50:05") + n * EVENT_MS]
        for n in range(150)
    ],
)
"""Task 5: the plan for restarts that has to be mended."""

DOWN_MS, MOST_AGAIN, VISIBLE_MS, CHECKPOINT_MS = 4 * MINUTE_MS, 6, 90_000, 20_000
"""Task 5: how long the job is down, how many events it may read again, how soon a result is due, and how long a
checkpoint takes."""


class Look(NamedTuple):
    """What a monitoring sees of the window operator at a time.

    Attributes
    ----------
    now_ms
        The clock.
    watermark_ms
        The metric currentInputWatermark.
    last_event_ms
        When the last event arrived; None if none has.
    """

    now_ms: int
    watermark_ms: int
    last_event_ms: int | None


def _morning(silent_from: str = "") -> Scenario:
    """Make a morning on which each of two tankers sends every 2 min, 3 min under way, but for a pause at 11:00."""
    rows = []
    for at_ms in range(time_ms("8:10"), time_ms("13:10"), 2 * MINUTE_MS):
        if time_ms("11:00") <= at_ms < time_ms("11:50"):
            continue
        for tanker, name in enumerate(("hill", "lake")):
            if not silent_from or not tanker or at_ms < time_ms(silent_from):
                arrives_ms = at_ms + 20_000 + 20_000 * tanker
                rows.append([name, 100, arrives_ms - 3 * MINUTE_MS, arrives_ms, tanker])
    return TANKERS.replace(events=rows, start="8:00")


CALM = _morning().replace(name="calm", title="A calm morning, with a pause from 11:00 to 11:50")
SILENT = _morning("9:30").replace(name="silent-tanker", title="A tanker falls silent at 9:30")
DUE_MS = time_ms("9:50")
"""When the alert on the silent tanker must have rung."""


@cache
def looks(job: Scenario) -> tuple[Look, ...]:
    """Look at a job every minute from its start to its last event."""
    trace = wmviz.simulate(job)
    arrivals = [e.arrival_time_ms for e in job.events]
    seen = []
    for now_ms in range(job.grid_start_ms, max(arrivals) + 1, MINUTE_MS):
        before = [ms for ms in arrivals if ms <= now_ms]
        watermark_ms = trace.state(trace.step_at(now_ms)).watermarks["window"] if before else MIN_MS
        seen.append(Look(now_ms, watermark_ms, max(before, default=None)))
    return tuple(seen)


GIVEN: Mapping[str, Any] = {
    "which-alert": INCIDENTS,
    "new-bound": WIDER,
    "left-behind": LONGER,
    "safe-change": LONGER,
    "restart-plan": INTAKE,
    "alert-rule": {"calm day": CALM, "silent tanker": SILENT},
}


# Task 1 --------------------------------------------------------------------------------------------------------------


def ringing(trace: Trace) -> tuple[str, ...]:
    """Name the alerts that ring in a run; that on the watermark rings when it is 30 min behind the clock."""
    rings = {
        "watermark": rings_ms(trace, 30 * MINUTE_MS) is not None,
        "dropped": bool(trace.dropped_count),
        "side output": bool(trace.outcomes().late),
        "restarts": any(record.kind == Kind.CRASHED for record in trace),
    }
    return tuple(name for name in ALERTS if rings[name])


_WHY_NOT = {
    ("A", "dropped"): "In A the watermark stands still, and at a watermark that stands still nothing new is late.",
    ("A", "side output"): "In A the watermark stands still, and there is no side output.",
    ("B", "dropped"): "B has a side output: then numLateRecordsDropped stays 0.",
    ("C", "side output"): "C has no side output. What is too late is dropped, and counted.",
    ("B", "watermark"): "In B the watermark is not behind the clock. The wrong clock drives it ahead.",
    ("C", "watermark"): "In C the watermark is not behind the clock. The wrong clock drives it ahead.",
    ("D", "watermark"): "In D the job is back after 20 s, and reads again what it had not stored. Nothing is behind.",
    ("D", "dropped"): "In D the state comes back and the watermark begins anew. Nothing is late.",
}


def which_alert() -> Task:
    """Task 1: which alert tells of which incident."""
    answer = {name: ringing(wmviz.simulate(job)) for name, job in INCIDENTS.items()}
    assert all(len(rung) == 1 for rung in answer.values())

    def judge(given: object) -> Verdict:
        said = _four(given)
        if said is None:
            names = '", "'.join(ALERTS)
            return not_yet(f'Give a dict with an alert for each of A, B, C and D. The alerts are "{names}".')
        for name, alert in said.items():
            if alert != answer[name][0]:
                return wrong(_WHY_NOT.get((name, alert), f"In {name} that one does not ring. What is wrong there?"))
        return right("Each of the four is silent in three of the incidents, so a job needs all of them.")

    return Task(
        "Which alert rings in which incident?",
        judge,
        (
            "Ask in each incident: does the watermark stand still, does it run ahead, or is it not touched at all?",
            "A watermark that runs ahead makes events late. What is too late is put aside, or dropped and counted.",
            "Run it: `run = wmviz.simulate(job)`; look at `run.dropped_count`, `len(run.late)` and the last watermark.",
        ),
    )


def _four(given: object) -> dict[str, str] | None:
    """Read an alert for each incident; None if it cannot be read."""
    if isinstance(given, (list, tuple)) and len(given) == len(INCIDENTS):
        given = dict(zip(INCIDENTS, given, strict=True))
    if not isinstance(given, Mapping):
        return None
    said = {str(k).strip().upper(): " ".join(str(v).lower().replace("_", " ").split()) for k, v in given.items()}
    if set(said) != set(INCIDENTS) or not set(said.values()) <= set(ALERTS):
        return None
    return {name: said[name] for name in INCIDENTS}


# Tasks 2 to 4 --------------------------------------------------------------------------------------------------------


def new_bound() -> Task:
    """Task 2: when a window fires that is resumed with another bound."""
    fired_ms = _first_ms(WIDER)
    whys = {
        _first_ms(_resumed(bound="5 min")): "That is so with the bound of before. The code that runs now decides.",
        time_ms("9:12"): "That is the event time. By the server's clock, when does that event arrive?",
        time_ms(
            "9:31:10"
        ): "One event before that is enough: 9:12 − 12 min − 1 ms is the last millisecond of the window.",
        time_ms("9:09"): "That event is older than the newest one. It moves no watermark.",
        time_ms("9:05"): "At the start there is no watermark at all, so nothing fires.",
    }
    return Task(
        "At what time by the server's clock does mill's window [8:00, 9:00) fire?",
        lambda answer: judge_time(
            answer,
            fired_ms,
            whys,
            "9:12 − 12 min − 1 ms = 8:59:59.999, and the window has the state of before the stop.",
        ),
        (
            "State comes from the savepoint. Bound and watermark do not: the bound is that of the new code.",
            "From 9:05 on: newest event time − 12 min − 1 ms. When does it reach 8:59:59.999?",
        ),
    )


def _first_ms(job: Scenario, key: str = "mill") -> int:
    return next(f.at_ms for f in wmviz.simulate(job).all_firings if f.key == key and _is_eight(f.window.end_ms))


def _is_eight(end_ms: int | None) -> bool:
    return end_ms == time_ms("9:00")


def _kept(trace: Trace) -> frozenset[str]:
    """Name the farms whose window of 8 o'clock still has state in the end."""
    return frozenset(w.key for w in trace.state(trace.steps - 1).windows if _is_eight(w.window.end_ms))


def left_behind() -> Task:
    """Task 3: whose state stays for ever after a change of the lateness."""
    names = _kept(wmviz.simulate(LONGER))
    whys = {
        "hill": "hill's 8:55 comes after the resume and sets a timer for the new end, 9:29:59.999.",
        "mill": "mill's late 8:57 comes after the resume and sets a timer for the new end, 9:29:59.999.",
        "oak": "oak's window of 8 o'clock gets no event after the resume. Its 9:31 belongs to the next window.",
        "lake": "lake sends more, but nothing of 8 o'clock. Each window has timers of its own.",
    }
    return Task(
        "Whose window [8:00, 9:00) still has state in the end?",
        lambda answer: judge_names(
            answer,
            names,
            whys,
            "Their timers are those of the old lateness. They fire the window, and nobody sets a new one.",
        ),
        (
            "State is deleted by a timer. Who sets it, and when?",
            "An event sets it as it comes into its window: for end − 1 ms + the lateness of that moment.",
            "Which windows of 8 o'clock get an event after 9:05?",
        ),
    )


def safe_change() -> Task:
    """Task 4: another change, which loses nothing and leaves nothing behind."""
    return Task(
        "Resume the job in another way: mill's 400 litres count, and no state stays behind.",
        lambda job: judge_job(job, LONGER, "the windows of two farms keep their state for ever.", _judge_safe_change),
        (
            "Lateness sets timers. What else lets a window take an event that comes late?",
            "A wider bound. mill's 8:57 arrives at 9:09; by then the newest event is 9:05:30.",
            "So the bound must be more than 5 min 30 s. By 9:35 an event of 9:31 has come: not more than 31 min.",
        ),
    )


def _judge_safe_change(job: Scenario) -> Verdict:
    stop, *more = job.happenings or (None,)
    if stop is None or more or stop.what != "stop":
        return wrong("The job must be stopped with a savepoint, once, and resumed.")
    if job.replace(name=LONGER.name, happenings=[]) != LONGER.replace(happenings=[]):
        return wrong('The job runs since 8:30, so its past is as it is. Change only what stands behind "with".')
    if (stop.at_ms, stop.down_ms) != (LONGER.happenings[0].at_ms, LONGER.happenings[0].down_ms):
        return wrong("Leave the stop at 9:03, for 2 min. Nobody knew at that time what comes at 9:09.")
    run = wmviz.simulate(job)
    if run.outcomes().late or run.dropped_count:
        return wrong(_why_lost(job, stop.changed_fields))
    if kept := sorted(_kept(run)):
        if run.all_firings and {f.key for f in run.all_firings if _is_eight(f.window.end_ms)} >= set(kept):
            return wrong(f"Nothing is lost, but the state of {kept[0]}'s window stays: its timer is the one of before.")
        return wrong("Nothing is lost, but the windows of 8 o'clock have no result at the end of the morning.")
    last_ms = max(_first_ms(job, key) for key in ("hill", "oak", "lake", "mill"))
    if last_ms > time_ms("9:35"):
        return wrong(
            f"Nothing is lost, but the results of 8 o'clock come at {time_text(last_ms)}. They are due by 9:35."
        )
    return right(
        "A bound sets no timers. The price: from now on each result waits for it. Those of 8 o'clock come at "
        f"{time_text(last_ms)}."
    )


def _why_lost(job: Scenario, changes: Mapping[str, Any]) -> str:
    if "late_to" in changes:
        return "Where it goes is not the question: mill's 400 litres are in no result."
    met = wmviz.simulate(job).seen_watermarks["mill@8:57"]
    return f"mill's 8:57 meets the watermark {time_text(met)}, which is not before 8:59:59.999. It is too late."


# Task 5 --------------------------------------------------------------------------------------------------------------


def restart_plan() -> Task:
    """Task 5: a plan for restarts."""
    return Task(
        "Mend the plan, so that all four demands are met whenever the job crashes.",
        lambda job: judge_job(job, INTAKE, _first_fault(INTAKE), _judge_restart_plan),
        (
            "Begin with the interval. One demand says how long it must be, two say how long it may be.",
            "At least twice 20 s. All events of an interval may be read again, and a result waits for it and for 5 s.",
            "A transaction may begin just behind a barrier. It must outlive the interval, the 5 s, and the 4 min.",
        ),
    )


def _judge_restart_plan(job: Scenario) -> Verdict:
    free = {"name": INTAKE.name, "sink": INTAKE.sink, "transaction_timeout": None, "checkpoints": None}
    if job.sink not in ("append", "transactional"):
        return wrong("This sink cannot overwrite: it appends, in transactions or without.")
    if job.replace(**free) != INTAKE.replace(**free):
        return wrong("Change checkpoints, sink and transaction_timeout only. The rest is not a matter of the plan.")
    if job.checkpoints is None:
        return wrong("Without checkpoints a crash loses all state, and a transactional sink never commits.")
    if job.checkpoints.notice_ms != 5000 or job.checkpoints.first_ms not in (None, job.checkpoints.interval_ms):
        return wrong("When the sink hears of a checkpoint, and when the first one is, you cannot choose.")
    fault = _first_fault(job)
    if fault:
        return wrong(fault[:1].upper() + fault[1:])
    return right(
        f"A checkpoint every {duration_text(job.checkpoints.interval_ms)} is often enough for the readers and seldom "
        "enough for the machines, and each transaction outlives the 4 min."
    )


@cache
def _first_fault(job: Scenario) -> str:
    """Say which demand the plan does not meet; empty if it meets all."""
    assert job.checkpoints is not None
    every = duration_text(job.checkpoints.interval_ms)
    if job.checkpoints.interval_ms < 2 * CHECKPOINT_MS:
        return f"a checkpoint takes 20 s. One every {every} takes more than half of the time."
    timeout_ms = job.transaction_timeout_ms
    if timeout_ms is not None and timeout_ms < job.checkpoints.interval_ms:
        return f"a transaction ends after {duration_text(timeout_ms)}, before its checkpoint comes, and the job fails."
    waits_ms = _longest_wait_ms(job)
    if waits_ms is None or waits_ms > VISIBLE_MS:
        seen = "is never found" if waits_ms is None else f"is found {duration_text(waits_ms)} after it was written"
        return f"with a checkpoint every {every} a result {seen}. It is due after 90 s."
    for crash_ms in range(time_ms("10:00:02"), time_ms("10:02:02"), 5000):
        crash = {"what": "crash", "at": crash_ms, "down": DOWN_MS}
        run = wmviz.simulate(job.replace(happenings=[crash]))
        fault = _rows_fault(run)
        if fault:
            return f"if the job crashes at {time_text(crash_ms)}, {fault}"
        again = read_again(run)
        if again > MOST_AGAIN:
            return f"if the job crashes at {time_text(crash_ms)}, it reads {again} events again. Six are allowed."
    return _luck(job)


def _luck(job: Scenario) -> str:
    """Say what goes well in these runs and not in all, since barriers might stand elsewhere; empty if nothing."""
    assert job.checkpoints is not None
    interval_ms, notice_ms = job.checkpoints.interval_ms, job.checkpoints.notice_ms
    every = duration_text(interval_ms)
    if interval_ms > MOST_AGAIN * EVENT_MS:
        return f"in these runs it goes well, but {every} may have more than six events, and a crash reads them again."
    if interval_ms + notice_ms > VISIBLE_MS:
        wait = duration_text(interval_ms + notice_ms)
        return f"in these runs it goes well, but a result just behind a barrier waits for {wait}. It is due after 90 s."
    lives_ms = interval_ms + notice_ms + DOWN_MS
    if job.sink == "transactional" and (job.transaction_timeout_ms or lives_ms) < lives_ms:
        return (
            "in these runs it goes well, but a transaction that begins just behind a barrier has to live for "
            f"{every} + 5 s + 4 min."
        )
    return ""


def _longest_wait_ms(job: Scenario) -> int | None:
    """Say how long a result waits at most for its reader, in a run without a crash; None if one is never found."""
    run = wmviz.simulate(job)
    found: dict[tuple[str, Any], int] = {}
    for step in range(run.steps):
        state = run.state(step)
        for key, window, _ in state.sink:
            found.setdefault((key, window), state.at_ms)
    due = [f for f in run.all_firings if f.at_ms <= time_ms("10:08")]
    if any((f.key, f.window) not in found for f in due):
        return None
    return max(found[f.key, f.window] - f.at_ms for f in due)


def _rows_fault(run: Trace) -> str:
    """Say which result a reader finds not once; empty if there is none."""
    rows = [(key, window.end_ms) for key, window, _ in run.state(run.steps - 1).sink]
    for end_ms in range(time_ms("9:52"), time_ms("10:07"), 2 * MINUTE_MS):
        for key in ("north", "south"):
            times = rows.count((key, end_ms))
            if times != 1:
                window = f"[{time_text(end_ms - 2 * MINUTE_MS)}, {time_text(end_ms)})"
                if not times:
                    return f"a reader never finds {key}'s {window}: its transaction ends while the job is down."
                return f"a reader finds {key}'s {window} {times} times: what was written before the crash stays."
    return ""


# Task 6 --------------------------------------------------------------------------------------------------------------


def alert_rule() -> Task:
    """Task 6: an alert on the watermark."""
    return Task(
        "Build the alert: does it ring at this look?",
        _judge_alert_rule,
        (
            "How far is the watermark behind the clock on the calm day, while events come in? Ring well above that.",
            "In the pause the clock runs away from the watermark. `last_event_ms` tells that nothing comes in.",
            "Before the first watermark the metric is a very large negative number. Then no event has come, either.",
            "Three conditions with `and`: an event has come, not long ago, and the watermark is too far behind.",
        ),
    )


def _judge_alert_rule(own: Any) -> Verdict:
    if not callable(own):
        return not_yet("Give the function itself, without brackets behind its name.")
    days = {day: looks(job) for day, job in GIVEN["alert-rule"].items()}
    rung = {day: [look for look in seen if _rings(own, look)] for day, seen in days.items()}
    verdict = _rung(rung["calm day"], rung["silent tanker"], days["silent tanker"])
    tomorrow = [look for look in map(_tomorrow, days["silent tanker"]) if _rings(own, look)]
    if verdict.right and list(map(_tomorrow, rung["silent tanker"])) != tomorrow:
        return wrong(
            "On these days it rings when it must. But with the same events 20 hours later it does not: only how far "
            "things are apart counts, not the time of day."
        )
    return verdict


def _rings(own: Callable[..., object], look: Look) -> bool:
    return truth(called(own, f"At {time_text(look.now_ms)} your rule", *look), "Your rule")


def _tomorrow(look: Look) -> Look:
    """Give the same look on the next day, four hours earlier: what counts is how far things are apart."""
    later_ms = DAY_MS - 4 * HOUR_MS
    last_ms = None if look.last_event_ms is None else look.last_event_ms + later_ms
    watermark_ms = look.watermark_ms if look.watermark_ms == MIN_MS else look.watermark_ms + later_ms
    return Look(look.now_ms + later_ms, watermark_ms, last_ms)


def _comes_in(look: Look) -> bool:
    """Say whether the last event is no older than it may be while the other tanker sends."""
    return look.last_event_ms is not None and look.now_ms - look.last_event_ms < 2 * MINUTE_MS


def _rung(calm: list[Look], silent: list[Look], seen: Sequence[Look]) -> Verdict:
    """Judge when the alert rang on the two days; the looks of the second one are given as well."""
    if calm:
        look = calm[0]
        at = f"On the calm day it rings at {time_text(look.now_ms)}. "
        if look.last_event_ms is None:
            return wrong(
                at + "No event has come, so there is no watermark: the metric says −9,223,372,036,854,775,808."
            )
        if look.now_ms - look.last_event_ms > 2 * MINUTE_MS:
            since = duration_text(look.now_ms - look.last_event_ms)
            return wrong(
                at + f"No event has come for {since}: it is the pause, and the clock runs away from the watermark."
            )
        behind = duration_text(look.now_ms - look.watermark_ms - 1)
        return wrong(at + f"The watermark is {behind} behind. That is as usual: the bound, and the way of the events.")
    in_time = [look for look in silent if look.now_ms <= DUE_MS]
    if not silent:
        return wrong("On the other day it never rings, though a tanker is silent from 9:30 on.")
    if not in_time:
        return wrong(f"On the other day it rings at {time_text(silent[0].now_ms)} only. By 9:50 somebody must know.")
    if in_time[0].now_ms < time_ms("9:30"):
        return wrong(f"On the other day it rings at {time_text(in_time[0].now_ms)}, when nothing is wrong.")
    rang_ms = silent[0].now_ms
    quiet = next((each for each in seen if each.now_ms > rang_ms and each not in silent and _comes_in(each)), None)
    if quiet is not None:
        return wrong(
            f"On the other day it rings at {time_text(rang_ms)}, and is silent again at "
            f"{time_text(quiet.now_ms)}. The watermark is further behind then, and nobody has mended it."
        )
    return right(
        f"Silent on the calm day, in its pause, too; on the other day it rings at {time_text(in_time[0].now_ms)}."
    )


ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "which-alert": which_alert,
    "new-bound": new_bound,
    "left-behind": left_behind,
    "safe-change": safe_change,
    "restart-plan": restart_plan,
    "alert-rule": alert_rule,
}
