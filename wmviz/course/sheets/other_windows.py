"""The sheet of lesson 9, other windows. Every right answer comes from the engine."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import wmviz
from wmviz.course.answers import AnswerError, read_duration, read_time
from wmviz.course.harness import run_with
from wmviz.course.judging import judge_job
from wmviz.course.own_code import called
from wmviz.course.questions import Question, Task, Verdict, not_yet, right, wrong
from wmviz.engine.windows import window_start_ms
from wmviz.scenario import Scenario
from wmviz.times import time_ms, time_text
from wmviz.trace import Trace

MINUTE_MS = 60_000

ORDERS = Scenario.of(
    name="last-orders",
    title="Orders of the last 20 minutes, new every 8 minutes",
    unit="orders",
    window={"type": "sliding", "size": "20 min", "slide": "8 min"},
    start="9:00",
    end_of_input="10:00",
    events=[["shop", 1, "9:16", "9:16:02"]],
)
"""Task 1. The size is no multiple of the slide, and 9:00 is no start."""

CLICKS = Scenario.of(
    name="tea-shop-visits",
    title="Visits to the web shop",
    unit="clicks",
    bound="2 min",
    late_to="side",
    window={"type": "session", "gap": "15 min"},
    start="10:00",
    events=[
        ["kim", 1, "10:00", "10:00:05"],
        ["lou", 1, "10:12", "10:12:05"],
        ["kim", 1, "10:15", "10:15:05"],
        ["kim", 1, "10:31", "10:31:05"],
        ["lou", 1, "10:41", "10:41:05"],
        ["kim", 1, "10:22", "10:42"],
        ["kim", 1, "10:05", "10:43"],
        ["lou", 1, "11:10", "11:10:05"],
    ],
)
"""Task 2."""

LOGGED_IN = Scenario.of(
    name="logged-in",
    title="Visits of people who logged in",
    window={"type": "session", "gap": "5 min"},
    start="14:00",
    end_of_input="16:00",
    events=[
        ["noor", 1, "14:00", "14:00:05"],
        ["omar", 1, "14:02", "14:02:05"],
        ["noor", 1, "14:05", "14:05:05"],
        ["omar", 1, "14:13", "14:13:05"],
        ["noor", 1, "14:17", "14:17:05"],
        ["omar", 2, "14:33", "14:33:05"],
        ["omar", 2, "14:39", "14:39:05"],
        ["noor", 2, "14:40", "14:40:05"],
        ["noor", 2, "14:48", "14:48:05"],
    ],
)
"""Task 3. The value of a click is the number of the visit, which the shop knows from the log-in."""

SHIFTS = Scenario.of(
    name="tea-factory-shifts",
    title="Tea per shift",
    unit="kg",
    bound="5 min",
    lateness="30 min",
    late_to="side",
    window="8 h",
    zone="+05:45",
    start="2026-04-06T05:00+05:45",
    end_of_input="2026-04-07T15:00+05:45",
    events=[
        ["line1", kg, f"2026-04-{day}T{at}+05:45", f"2026-04-{day}T{at}:20+05:45"]
        for kg, day, at in [
            (7, "06", "05:50"),
            (40, "06", "06:10"),
            (55, "06", "13:40"),
            (9, "06", "13:55"),
            (60, "06", "14:05"),
            (8, "06", "21:50"),
            (30, "06", "22:15"),
            (35, "07", "05:30"),
            (6, "07", "05:57"),
            (50, "07", "06:02"),
        ]
    ],
)
"""Task 4: shifts from 6, from 14 and from 22 o'clock, where the clock is 5 h 45 min ahead."""

SHIFT_STARTS = ("06:00", "14:00", "22:00")

CLOSES_MS = time_ms("16:00")

BRIDGED = Scenario.of(
    name="bridged-visit",
    title="A click that joins two visits",
    unit="clicks",
    bound="1 min",
    lateness="20 min",
    late_to="side",
    window={"type": "session", "gap": "10 min"},
    start="15:00",
    end_of_input=CLOSES_MS,
    events=[
        ["mia", 1, "15:00", "15:00:05"],
        ["mia", 1, "15:06", "15:06:05"],
        ["ned", 1, "15:18", "15:18:05"],
        ["mia", 1, "15:19", "15:19:05"],
        ["mia", 1, "15:12", "15:20"],
        ["ned", 1, "15:45", "15:45:05"],
    ],
)
"""Task 5."""

GIVEN = {
    "in-windows": ORDERS,
    "visits": CLICKS,
    "gaps": LOGGED_IN,
    "shifts": SHIFTS,
    "double-rows": BRIDGED,
}


def in_windows() -> Task:
    """Task 1: in which sliding windows an event on a border is."""
    starts = frozenset(w.start_ms for f in wmviz.simulate(ORDERS).all_firings if (w := f.window).start_ms is not None)
    return Task(
        "In which windows is the order of 9:16? Give their starts.",
        lambda answer: _judge_starts(answer, starts),
        (
            "Where does the grid begin? Not at the full hour, and not with the first order.",
            "A start is a whole number of slides from midnight. 9:16 is minute 556 of the day, and the slide is 8.",
            "Take the last start that is not after 9:16. Go back by 8 min as long as start + 20 min is after 9:16.",
        ),
    )


def _judge_starts(answer: object, starts: frozenset[int]) -> Verdict:
    order_ms, window = ORDERS.events[0].event_time_ms, ORDERS.window
    got = frozenset(_starts_in(answer))
    if got == starts:
        return right("Minute 556 of the day: the last start is 69 slides of 8 min after midnight, 9:12, then 9:04.")
    off = sorted(ms for ms in got if ms % window.slide_ms)
    if off:
        return wrong(
            f"{time_text(off[0])} is no start. The grid begins at midnight, not at the full hour and not with the "
            "order: a start is a whole number of slides of 8 min from 0:00."
        )
    if order_ms - window.size_ms in got:
        return wrong(
            "[8:56, 9:16) ends at 9:16, and a window does not have its end: 9:15:59.999 is its last millisecond."
        )
    if any(ms > order_ms for ms in got):
        return wrong("A window that starts after 9:16 cannot have the order.")
    if any(ms < order_ms - window.size_ms for ms in got):
        return wrong("One of your windows is over before 9:16: it ends 20 min after its start.")
    return wrong("There is at least one more: a window starts every 8 min, and each is 20 min long, so they overlap.")


def _starts_in(answer: object) -> list[int]:
    """Read starts of windows: times in a list or in text; of pairs, and of windows such as [9:00, 9:20), the first."""
    if isinstance(answer, str):
        windows = re.findall(r"[\[(]([^\[(,]+),[^\[(,]+[\])]", answer)
        answer = windows or re.sub(r"[\[\](){}]|\band\b", " ", answer).replace(",", " ").replace(";", " ").split()
    if not isinstance(answer, (list, tuple, set, frozenset)):
        raise AnswerError('Give the starts, such as "8:40, 8:50".')
    return [read_time(one[0] if isinstance(one, (list, tuple)) and one else one) for one in answer]


def visits() -> Task:
    """Task 2: which sessions of one visitor come out."""
    trace = wmviz.simulate(CLICKS)
    due = _sessions(trace, "kim")
    return Task(
        "Which sessions of kim come out? Give the start and the end of each.",
        lambda answer: _judge_visits(answer, due),
        (
            "Each click has a window of its own, [time, time + 15 min). Which of kim's overlap or touch?",
            "Which click brings the watermark past kim's first session? Then it is gone: there is no lateness.",
            "First a late click is joined with sessions that are still open. Only then Flink asks whether it is late.",
        ),
    )


def _sessions(trace: Trace, key: str) -> frozenset[tuple[int, int]]:
    """Give the sessions of a key that have fired."""
    windows = (firing.window for firing in trace.all_firings if firing.key == key)
    return frozenset((w.start_ms, w.end_ms) for w in windows if w.start_ms is not None and w.end_ms is not None)


def _spans(*spans: tuple[str, str]) -> frozenset[tuple[int, int]]:
    return frozenset((time_ms(start), time_ms(end)) for start, end in spans)


def _judge_visits(answer: object, due: frozenset[tuple[int, int]]) -> Verdict:
    got = _spans_in(answer)
    if got == due:
        return right(
            "The first has fired and is gone when 10:22 comes. Its window [10:22, 10:37) is joined with the open one."
        )
    first, late_joins, late_left_out = ("10:00", "10:30"), ("10:22", "10:46"), ("10:31", "10:46")
    whys = {
        _spans(("10:00", "10:46")): "lou's 10:41 brings the watermark to 10:38:59.999: [10:00, 10:30) fires, and "
        "without lateness it is gone. What is gone joins nothing.",
        _spans(first, late_left_out): "You left out kim's 10:22. Its own window is over, but Flink joins first: "
        "[10:22, 10:37) overlaps the open session, and that one is not over.",
        _spans(("10:00", "10:15"), ("10:15", "10:30"), late_joins): "10:15 is exactly one gap after 10:00. The windows "
        "[10:00, 10:15) and [10:15, 10:30) touch, and that is enough.",
        _spans(("10:00", "10:15"), ("10:22", "10:31")): "A session ends one gap after its last click, not with it.",
    }
    if got in whys:
        return wrong(whys[got])
    if any(end_ms % 1000 == 999 for _, end_ms in got):
        return wrong(
            "A session is named by its end, which is one gap after the last click. 1 ms before is still in it."
        )
    starts = {start for start, _ in got}
    if time_ms("10:05") in starts:
        return wrong(
            "kim's 10:05 touches no session that is still open: [10:05, 10:20) ends before 10:22. So it stays alone, "
            "and alone it is late."
        )
    if starts & {time_ms("10:12"), time_ms("10:41")} or time_ms("10:56") in {end for _, end in got}:
        return wrong("You took clicks of lou. A session belongs to one key.")
    return wrong("Go through kim's clicks in the order of arrival, and join what overlaps or touches.")


def _spans_in(answer: object) -> frozenset[tuple[int, int]]:
    """Read pairs of times."""
    form = 'Give a list of pairs, such as [("9:00", "9:20"), ("9:50", "10:05")].'
    if isinstance(answer, (list, tuple)) and len(answer) == 2 and not any(isinstance(a, (list, tuple)) for a in answer):
        answer = [answer]
    if not isinstance(answer, (list, tuple, set, frozenset)):
        raise AnswerError(form)
    if any(not isinstance(one, (list, tuple)) or len(one) != 2 for one in answer):
        raise AnswerError(form)
    return frozenset((read_time(start), read_time(end)) for start, end in answer)


def gaps() -> Task:
    """Task 3: the shortest and the longest gap that give a session for each visit."""
    return Task(
        "Which is the shortest gap that gives exactly one session for each visit, and which is the longest?",
        _judge_gaps,
        (
            "Write down the pauses: the longest inside of a visit, and the shortest between two visits of one person.",
            "Windows that touch are joined. So what happens if a pause is exactly as long as the gap?",
            "A pause of exactly the gap joins. The shortest gap may be such a pause; the longest is 1 ms below one.",
        ),
    )


def _judge_gaps(answer: object) -> Verdict:
    if not isinstance(answer, (list, tuple)) or len(answer) != 2:
        return not_yet('Give two lengths, the shortest and the longest, such as "5 min", "7 min".')
    shortest_ms, longest_ms = map(read_duration, answer)
    if min(shortest_ms, longest_ms) <= 0:
        return wrong("A gap is above 0.")
    if shortest_ms > longest_ms:
        return wrong("Your shortest gap is longer than your longest one. Write the shortest first.")
    due = _known_visits()
    for gap_ms, which in ((shortest_ms, "shortest"), (longest_ms, "longest")):
        if slip := _gap_slip(gap_ms, due):
            return wrong(f"With your {which} gap {slip}")
    if _sessions_with(shortest_ms - 1) == due:
        exact = _sessions_with(shortest_ms - MINUTE_MS) != due
        return wrong(
            "Your shortest gap does it, but a shorter one does, too."
            + (" A pause of exactly the gap is no break: windows that touch are joined." if exact else "")
        )
    if _sessions_with(longest_ms + 1) == due:
        return wrong("Your longest gap does it, but a longer one does, too. Flink counts in milliseconds.")
    return right(
        "A pause of exactly the gap still joins. So 12 min is enough for noor, and 20 min is too long for omar."
    )


def _known_visits() -> frozenset[frozenset[str]]:
    """Give the clicks of each visit."""
    visits: dict[tuple[str, int], set[str]] = {}
    for event in LOGGED_IN.events:
        visits.setdefault((event.key, event.value), set()).add(event.id)
    return frozenset(map(frozenset, visits.values()))


def _gap_slip(gap_ms: int, due: frozenset[frozenset[str]]) -> str:
    """Say what is wrong with a gap; nothing if it gives the visits."""
    found = _sessions_with(gap_ms)
    if found == due:
        return ""
    if torn := next((visit for visit in due if not any(visit <= session for session in found)), None):
        return f"the visit of {min(torn)} falls into parts: it has a longer pause inside."
    joined = min(min(session) for session in found - due)
    if gap_ms == 20 * MINUTE_MS:
        return "omar's two visits become one: a pause of exactly the gap joins, for windows that touch are joined."
    return f"the session that begins with {joined} holds two visits: there is a shorter pause between them."


def _sessions_with(gap_ms: int) -> frozenset[frozenset[str]]:
    """Give the clicks of each session with a gap; nothing comes late."""
    job = LOGGED_IN.replace(bound="1 d", window={"gap": max(gap_ms, 1)})
    return frozenset(frozenset(firing.event_ids) for firing in wmviz.simulate(job).all_firings)


def shifts() -> Task:
    """Task 4: mend shifts that are cut in UTC."""
    off = ", ".join(sorted(_local_starts(wmviz.simulate(SHIFTS))))
    return Task(
        "Mend the job so that the shifts begin at 6, 14 and 22 o'clock of the local clock.",
        lambda job: judge_job(job, SHIFTS, f"the shifts begin at {off}.", _judge_shifts),
        (
            "Windows of 8 h lie on a grid that begins at midnight UTC. What does the local clock show at that moment?",
            'The offset moves the whole grid: `factory.replace(window={"offset": "1 h"})` moves it by an hour.',
            "It shows 5:45, and a shift shall begin at 6:00. How far is it from there?",
        ),
    )


def _local_starts(trace: Trace) -> set[str]:
    """Give the starts of the shifts by the local clock."""
    windows = (firing.window for firing in trace.all_firings)
    return {time_text(w.start_ms, SHIFTS.zone)[-5:] for w in windows if w.start_ms is not None}


def _judge_shifts(job: Scenario) -> Verdict:
    window = job.window
    if [(e.key, e.event_time_ms, e.value) for e in job.events] != [
        (e.key, e.event_time_ms, e.value) for e in SHIFTS.events
    ]:
        return wrong("You changed the events. Their times are right, as ms since 1970 in UTC; the cut is wrong.")
    if window.time == "processing":
        return wrong("By the server's clock tea counts for the shift in which its row arrives. The cut is the same.")
    if (window.type, window.size_ms) != ("tumbling", SHIFTS.window.size_ms):
        return wrong("A shift is 8 h long, and each kilogram is in one shift. Leave the kind and the size as they are.")
    trace = wmviz.simulate(job)
    starts = _local_starts(trace)
    shown = ", ".join(sorted(starts))
    if starts <= set(SHIFT_STARTS):
        return _judge_shift_totals(job, trace)
    if window == SHIFTS.window:
        return wrong(f"The shifts begin at {shown}, as before. That setting moves no border: it is in the window.")
    if starts <= {"00:00", "08:00", "16:00"}:
        return wrong(
            f"Now the shifts begin at {shown}: you have local midnight on the grid. The first shift begins at 6:00."
        )
    if window.offset_ms == SHIFTS.window.size_ms - 15 * MINUTE_MS or window.offset_ms == -15 * MINUTE_MS:
        return wrong(f"Now the shifts begin at {shown}: that moves the grid to the other side.")
    if window.offset_ms == 345 * MINUTE_MS:
        return wrong(
            f"Now the shifts begin at {shown}. Turn the sign: where the clock is ahead of UTC, borders come earlier."
        )
    if window.offset_ms % (60 * MINUTE_MS) == 0:
        return wrong(f"Now the shifts begin at {shown}. Whole hours do not help where the clock is 5 h 45 min ahead.")
    return wrong(f"Now the shifts begin at {shown}.")


def _judge_shift_totals(job: Scenario, trace: Trace) -> Verdict:
    """Judge what else has changed, once the shifts are right."""
    mended = wmviz.simulate(SHIFTS.replace(window=job.to_json()["window"]))
    if trace.totals != mended.totals:
        return wrong("The shifts begin at the right times, but the totals differ: you changed another setting as well.")
    if job.window.zone is not None:
        return right(
            "In local time the grid begins at local midnight, and 6 h later is 6:00. SQL has such windows; in the "
            "DataStream API the offset alone has to say it."
        )
    return right("Midnight UTC is 5:45 there; 15 min later it is 6:00. Other offsets that differ by 8 h do the same.")


def double_rows() -> Task:
    """Task 5: mend a job that counts clicks twice, because a session has grown after its result."""
    rows = sum(wmviz.simulate(BRIDGED).totals.values())
    still = f"the table has {rows} clicks, and {len(BRIDGED.events)} were made."
    return Task(
        "Mend the job: each visit is one row of the table, and no click is lost.",
        lambda job: judge_job(job, BRIDGED, still, _judge_double_rows),
        (
            "A session that fires and then grows fires again for another window: another row. The first one stays.",
            "No session may fire before mia's 15:12 has come. Which setting makes all windows wait longer?",
            "When 15:12 comes the newest click is 15:19, and the watermark must still be below 15:15:59.999.",
        ),
    )


def _judge_double_rows(job: Scenario) -> Verdict:
    if job.events != BRIDGED.events:
        return wrong("The clicks are what they are. Change the settings of the job.")
    if job.sink != BRIDGED.sink:
        return wrong("The sink stays as it is: one row for each visitor and session, which is overwritten.")
    if job.window.time == "processing":
        return wrong("By the server's clock a visit is what arrives together, and 15:12 belongs to another one.")
    if job.window != BRIDGED.window:
        return wrong("With other windows it is another question. A visit ends after 10 min without a click.")
    clicks, trace = len(job.events), wmviz.simulate(job)
    rows, due = trace.totals, wmviz.simulate(BRIDGED.replace(bound="1 d")).totals
    if rows == due:
        if min(firing.at_ms for firing in trace.all_firings) >= CLOSES_MS:
            return right(
                "15:12 comes before anything fires, and nothing is corrected. But no row is written before the shop "
                "closes: that is a high price. Would a setting do that makes results wait for minutes only?"
            )
        return right(
            "Now 15:12 comes before mia's session is over, and nothing is corrected. The price: all results come later."
        )
    counted = sum(rows.values())
    if counted > clicks:
        near = (
            " The watermark is exactly at 15:15:59.999 then: one millisecond more." if job.bound_ms == 180_000 else ""
        )
        return wrong(f"Still {counted} clicks in the table, and {clicks} were made: mia's session has fired.{near}")
    if counted < clicks:
        return wrong(f"Now clicks are missing in the table: it has {counted} of {clicks}.")
    return wrong(
        "No click is in two rows any more. But mia's visit is: its first part has fired and is gone, and 15:12 begins "
        "another row, though it comes 6 min after 15:06."
    )


def build_start() -> Task:
    """Task 6: build the start of a window."""
    return Task(
        "Build the start of the window that a time is in.",
        _judge_start,
        (
            "Without an offset a start is a whole number of sizes. How far is the time past the last one? `%` says it.",
            "With an offset the grid is moved: measure from the offset, timestamp − offset, and take the rest.",
            "Subtract that rest from the timestamp. The rest must not be negative before 1970; Python's `%` never is.",
        ),
    )


def _start_jobs() -> tuple[Scenario, ...]:
    """Give the jobs that a learner's start has to run: moved grids, slides, and times before 1970."""
    mended = SHIFTS.replace(name="tea-factory-mended", window={"offset": "15 min"})
    rows = [["k", 1, at_ms, 4_000 + at_ms] for at_ms in range(-2_100, 2_100, 50)]
    before = Scenario.of(name="before-1970", window="1 s", end_of_input="0:01", events=rows)
    moved = [
        before.replace(name=name, window={"offset": offset})
        for name, offset in (("moved-later", "250 ms"), ("moved-earlier", "-250 ms"), ("moved-most", "999 ms"))
    ]
    return ORDERS, before, *moved, mended, wmviz.scenario("half-hour-zone"), wmviz.scenario("sliding-gaps")


def _judge_start(own: Any) -> Verdict:
    jobs = _start_jobs()
    for job in jobs:
        try:
            theirs = run_with(own, job, "window start")
        except AnswerError as error:
            return not_yet(str(error))
        if theirs.outcomes() != wmviz.simulate(job).outcomes():
            return wrong(f"On {job.name}: {_start_slip(own, job)}")
    return right(f"The window operator cut {len(jobs)} streams by your rule, and each window is the engine's own.")


def _start_slip(own: Callable[[int, int, int], int], job: Scenario) -> str:
    """Name the thought behind the first wrong start in a job."""
    step_ms, offset_ms = job.window.slide_ms or job.window.size_ms, job.window.offset_ms
    asked = ((event.event_time_ms, offset_ms, step_ms) for event in job.events)
    slips = (_slip_at(got_ms, *of) for of in asked if (got_ms := called(own, "start", *of)) != window_start_ms(*of))
    return next(slips, "the windows differ. Does your function give the same start each time it is asked?")


def _slip_at(got_ms: int, timestamp_ms: int, offset_ms: int, size_ms: int) -> str:
    due_ms = window_start_ms(timestamp_ms, offset_ms, size_ms)
    where = f"start({timestamp_ms}, {offset_ms}, {size_ms}) gives {got_ms}; it should be {due_ms}. "
    plain_ms = window_start_ms(timestamp_ms, 0, size_ms)
    if offset_ms and got_ms == plain_ms:
        return where + "You left out the offset: it moves the grid."
    if offset_ms and got_ms == plain_ms + offset_ms:
        return where + "You moved the start, and not the grid: the rest, too, is counted from the offset."
    if offset_ms and (got_ms - due_ms + 2 * offset_ms) % size_ms == 0:
        return where + "You moved the grid to the other side: a start is a multiple of the size plus the offset."
    if got_ms > timestamp_ms:
        before = " Before 1970, too, it is rounded down, and not towards 0." if timestamp_ms < 0 else ""
        return where + "That window starts after its event." + before
    if got_ms + size_ms <= timestamp_ms:
        return where + f"That window ends before its event, at {got_ms + size_ms}."
    return where + "A start is a multiple of the size, plus the offset."


ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "in-windows": in_windows,
    "visits": visits,
    "gaps": gaps,
    "shifts": shifts,
    "double-rows": double_rows,
    "build-start": build_start,
}
