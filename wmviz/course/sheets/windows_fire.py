"""The sheet of lesson 3, when a window fires. Every right answer comes from the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import wmviz
from wmviz.course.answers import AnswerError, read_duration, read_time
from wmviz.course.judging import judge_job, judge_time, judge_watermarks
from wmviz.course.questions import Question, Task, Verdict, not_yet, right, wrong
from wmviz.scenario import Event, Scenario
from wmviz.times import MIN_MS, duration_text, time_ms, time_text
from wmviz.trace import Kind, Trace, WindowOf

HOUR_MS = 3_600_000

RUN_CLUB = Scenario.of(
    name="run-club",
    title="Saturday's run club",
    bound="5 min",
    lateness="10 min",
    late_to="side",
    window="1 h",
    events=[
        ["ana", 1000, "8:41", "8:41:10"],
        ["ben", 1000, "8:58", "8:58:20"],
        ["ana", 1000, "9:03", "9:03:05"],
        ["ben", 1000, "8:52", "9:03:40"],
        ["cem", 1000, "9:04:59.999", "9:05:02"],
        ["ana", 1000, "8:55", "9:05:30"],
        ["cem", 1000, "9:07:30", "9:07:41"],
        ["ben", 1000, "8:57", "9:08"],
        ["ana", 1000, "9:15", "9:15:02"],
        ["cem", 1000, "8:59", "9:15:20"],
    ],
)
"""Tasks 1 and 2. The numbers differ from the lesson's, so that nothing can be copied."""

HILLY_ROUTE = Scenario.of(
    name="hilly-route",
    title="A route with no signal on the hill",
    bound="0 ms",
    late_to="side",
    window="1 h",
    events=[
        ["dia", 1000, "8:50", "8:50:20"],
        ["eli", 1000, "8:59:30", "8:59:40"],
        ["dia", 1000, "9:01", "9:01:05"],
        ["eli", 1000, "8:58", "9:01:20"],
        ["dia", 1000, "9:03", "9:03:04"],
        ["eli", 1000, "9:06", "9:06:02"],
        ["dia", 1000, "8:56", "9:09"],
        ["eli", 1000, "9:12:30", "9:12:31"],
    ],
)
"""Task 3."""

PHONE_ROWS = (
    ("r4471", 1000, 1792216800 + 50 * 60, (1792216800 + 50 * 60 + 4) * 1000),
    ("r9", 1000, 1792216800 + 55 * 60, (1792216800 + 55 * 60 + 3) * 1000),
    ("r4471", 1000, 1792216800 + 58 * 60, (1792216800 + 59 * 60) * 1000),
    ("r9", 1000, 1792216800 + 63 * 60, (1792216800 + 63 * 60 + 2) * 1000),
    ("r4471", 1000, 1792216800 + 64 * 60, (1792216800 + 64 * 60 + 5) * 1000),
)
"""Task 4: runner, metres, the phone's clock in seconds, the server's clock in milliseconds."""

GIVEN = {"watermark": RUN_CLUB, "firing": RUN_CLUB, "settings": HILLY_ROUTE, "silent-job": PHONE_ROWS}


def watermark() -> Task:
    """Task 1: the watermark after four arrivals."""
    trace = wmviz.simulate(RUN_CLUB)
    answer_ms = trace.seen_watermarks[RUN_CLUB.events[4].id]  # what the fifth event meets
    newest, last = RUN_CLUB.events[2], RUN_CLUB.events[3]
    bound_ms = RUN_CLUB.bound_ms
    whys = {
        answer_ms
        + 1: "You left out the −1 ms. The watermark says that nothing at or before it comes any more. Another "
        "event of exactly the newest time − bound may still come, so the watermark stays 1 ms below.",
        last.event_time_ms - bound_ms - 1: "You took the last event. An old event never moves the clock back: the "
        "watermark follows the newest event time seen so far.",
        last.event_time_ms
        - bound_ms: "You took the last event, and left out the −1 ms. The watermark follows the newest "
        "event time seen so far.",
        last.arrival_time_ms
        - bound_ms
        - 1: "You counted from the arrival time. The server's clock plays no part: only "
        "event times move the watermark.",
        last.arrival_time_ms
        - bound_ms: "You counted from the arrival time. The server's clock plays no part: only event "
        "times move the watermark.",
        newest.event_time_ms: "You forgot the bound: the watermark trails the newest event time by 5 min and 1 ms.",
        newest.event_time_ms - 1: "You forgot the bound: the watermark trails the newest event time by 5 min and 1 ms.",
        newest.event_time_ms
        + bound_ms: "You added the bound. The watermark trails the newest event; it never runs ahead.",
    }
    return Task(
        "What is the watermark after ben's 8:52 has arrived?",
        lambda answer: judge_time(
            answer,
            answer_ms,
            whys,
            f"The newest event is {_at(newest)}; minus 5 min, minus 1 ms: {time_text(answer_ms)}.",
        ),
        (
            "Which event time is the newest among the first four arrivals? The order of arrival does not matter.",
            "The bounded strategy emits the newest event time − bound − 1 ms.",
            "Now do it by hand: 9:03 − 5 min, and then one millisecond less.",
        ),
    )


def firing() -> Task:
    """Task 2: the event that makes ana's 8 am window fire, and the watermark at that moment."""
    found = next(f for f in wmviz.simulate(RUN_CLUB).all_firings if f.key == "ana" and f.window.end_ms == 9 * HOUR_MS)
    cause = next(event for event in RUN_CLUB.events if event.arrival_time_ms == found.at_ms)
    whys = {
        "ana@9:03": "You forgot the bound: it is past the window's end, but the watermark stays 5 min 1 ms behind.",
        "cem@9:04:59.999": "The watermark is then 8:59:59.998: one millisecond short of the window's last one.",
        "ana@8:55": "It goes into its window, that is all. It is old and moves no watermark, so nothing fires.",
        "ben@8:57": "That is late, and makes ben's window fire again. ana's window fired before it came.",
        "ana@9:15": "You waited for ana's next event. The watermark is not kept per key: any runner's event moves it.",
    }

    def judge(answer: object) -> Verdict:
        if not isinstance(answer, (tuple, list)) or len(answer) != 2:
            return not_yet('Give two things: the event, such as "ana@9:03", and the watermark.')
        event_id, at_ms = _event_id(answer[0]), read_time(answer[1])
        if event_id != cause.id:
            return wrong(
                whys.get(event_id, f"{event_id} does not move the watermark to the window's last millisecond.")
            )
        sentence = f"{_at(cause)} − 5 min − 1 ms = {time_text(found.watermark_ms)}, past 8:59:59.999: the window fires."
        return judge_time(
            at_ms,
            found.watermark_ms,
            {
                9 * HOUR_MS
                - 1: "The event is right. The watermark jumps: it does not stop at 8:59:59.999 but goes where "
                "the newest event puts it.",
                found.watermark_ms + 1: "The event is right. You left out the −1 ms of the watermark.",
                cause.event_time_ms: "The event is right. You gave its own time; the watermark trails it by the bound.",
            },
            sentence,
        )

    return Task(
        "Which event makes ana's 8 am window fire first, and what is the watermark then?",
        judge,
        (
            "The window [8:00, 9:00) fires when the watermark reaches 8:59:59.999.",
            "Write the watermark behind each arrival: the newest event time so far − 5 min − 1 ms.",
            "It is the first arrival whose event time is 9:05 or more. Who sent it does not matter.",
        ),
    )


def settings() -> Task:
    """Task 3: choose bound and lateness for given wishes."""
    return Task(
        "Choose bound and lateness so that all four wishes come true.",
        _judge_settings,
        (
            "Wish 1 caps the bound: the newest event is 9:03 when the server shows 9:04.",
            "Wish 2 sets its floor: eli's 8:58 must arrive before the watermark reaches 8:59:59.999.",
            "Wishes 3 and 4 fence in the lateness. Which watermark meets dia's 8:56? Which one follows the last event?",
            "The state goes at 8:59:59.999 + lateness. At that very watermark it is gone already.",
        ),
    )


def _judge_settings(answer: object) -> Verdict:
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        return not_yet('Give two lengths of time, for example ("30 s", "1 h").')
    bound_ms, lateness_ms = map(read_duration, answer)
    if bound_ms < 0 or lateness_ms < 0:
        return wrong("Neither the bound nor the lateness can be negative; Flink refuses that.")
    trace = wmviz.simulate(HILLY_ROUTE.replace(bound=bound_ms, lateness=lateness_ms))
    eight = [f for f in trace.all_firings if f.window.end_ms == 9 * HOUR_MS]
    first = {f.key: f for f in eight if f.nth == 1}
    if any(key not in first or first[key].at_ms > time_ms("9:04") for key in ("dia", "eli")):
        return wrong(
            f"Wish 1 fails. With a bound of {duration_text(bound_ms)} the first results of 8 am come too late: a bound "
            "makes every result wait, also for runners who are never late."
        )
    if "eli@8:58" not in first["eli"].event_ids:
        return wrong(
            f"Wish 2 fails. With a bound of {duration_text(bound_ms)} the 8 am window has fired before eli's 8:58 "
            "comes: usual disorder should be covered by the bound, not corrected afterwards."
        )
    met_ms = trace.seen_watermarks["dia@8:56"]
    gone_ms = 9 * HOUR_MS - 1 + lateness_ms
    if trace.outcomes().late:
        if met_ms == gone_ms:
            return wrong(
                "Wish 3 fails by one millisecond. The state is deleted when the watermark reaches "
                f"{time_text(gone_ms)}, and dia's 8:56 meets that very watermark."
            )
        return wrong(
            f"Wish 3 fails. dia's 8:56 meets the watermark {time_text(met_ms)}, and the state of 8 am went at "
            f"{time_text(gone_ms)}, which is 8:59:59.999 + lateness."
        )
    if not all(_is_cleaned(trace, key) for key in ("dia", "eli")):
        return wrong(
            f"Wish 4 fails. The state of 8 am lives until the watermark reaches {time_text(gone_ms)}. Lateness is not "
            "the delay of the slowest event: it counts from the window's end, and the bound waits already."
        )
    return right(
        f"First results by 9:04, and dia's correction still counts: it meets the watermark {time_text(met_ms)}, and "
        f"the state lives until {time_text(gone_ms)}."
    )


def silent_job() -> Task:
    """Task 4: mend a job that never fires."""
    broken = _phone_job(1)
    mended = wmviz.simulate(_phone_job(1000))

    def judge(job: Scenario) -> Verdict:
        trace = wmviz.simulate(job)
        if job.window.time == "processing":
            return wrong(
                "It fires now, but by the server's clock: a kilometre counts for the hour in which it arrives. That is "
                "another question, and the wrong badge of the lesson. The windows were not the fault."
            )
        if job.end_of_input_ms is not None or job.window.trigger != "default":
            return wrong(
                "It fires now, but not because event time has passed: a real stream does not end, and a count knows no "
                "hours. Look at the event times first."
            )
        if [event.event_time_ms for event in job.events] == [event.arrival_time_ms for event in job.events]:
            return wrong(
                "You stamped each event with the server's clock. The windows fire, but the time of the phone is lost, "
                "and late kilometres count for the wrong hour again."
            )
        times = [event.event_time_ms for event in job.events]
        if times == [event.event_time_ms for event in broken.events]:
            return wrong(
                "The settings are not the cause. The newest event time is still on 21 January 1970, and it moves 1,000 "
                "times too slowly: one window of an hour would take 3.6 million seconds, about 42 days."
            )
        if trace.outcomes() != mended.outcomes():
            return wrong(
                "It fires, but other results than it should. Only the event times were wrong: mend nothing else."
            )
        return right(
            "Flink counts in milliseconds. The phones sent seconds, so event time crept 1,000 times too slowly."
        )

    still = "all events still fall on 21 January 1970, and nothing fires."
    return Task(
        "Mend the job so that it fires.",
        lambda job: judge_job(job, broken, still, judge),
        (
            "The bound and the window are the lesson's own. So look at what goes in: print the first event.",
            "Turn the event time into a date. Which year is it?",
            "The phones send seconds; an event time is in milliseconds.",
        ),
    )


def _phone_job(factor: int) -> Scenario:
    rows = [[key, metres, phone * factor, server] for key, metres, phone, server in PHONE_ROWS]
    return Scenario.of(name="phones", bound="2 min", window="1 h", events=rows)


def generator() -> Task:
    """Task 5: build the bounded-out-of-orderness generator."""
    return Task(
        "Build the watermark generator.",
        _judge_generator,
        (
            "Remember one number: the newest event time so far. An older event must not change it.",
            "The watermark is that number − bound − 1.",
            "Before the first event there is no newest time. Start so low that every event is newer, even before 1970.",
        ),
    )


def _judge_generator(maker: Any) -> Verdict:
    jobs = _generator_jobs()
    return judge_watermarks(
        maker,
        jobs,
        "generator",
        _generator_slip,
        otherwise="Does your class keep state outside of itself?",
        because=f"The window operator ran {len(jobs)} streams on your watermarks, and every firing is the engine's "
        "own.",
    )


def _generator_jobs() -> tuple[Scenario, ...]:
    """Give the streams of task 5.

    The emitter lets no watermark go back, so only a timer shows whether the newest time is really kept.
    """
    on_a_timer = RUN_CLUB.replace(name="run-club-on-a-timer", emission="interval", interval="1 min")
    before = _before_1970()
    behind = [["k", 1, time_ms("8:00") + n, time_ms("9:00:01") + n] for n in range(1_000)]
    long_wait = Scenario.of(
        name="long-wait",
        title="A thousand events behind the newest one",
        start="8:59",
        bound="2 s",
        late_to="side",
        emission="interval",
        interval="10 s",
        events=[["k", 1, "9:00", "9:00:00.500"], *behind, ["k", 1, "8:30", "9:00:15"]],
    )
    return (
        RUN_CLUB,
        on_a_timer,
        before,
        before.replace(name="before-1970-on-a-timer", emission="interval", interval="4 s"),
        long_wait,
        wmviz.scenario("leaderboard"),
    )


def _generator_slip(scenario: Scenario, event_id: str, got_ms: int, due_ms: int) -> str:
    index = next(i for i, event in enumerate(scenario.events) if event.id == event_id)
    seen = [event.event_time_ms for event in scenario.events[:index]]
    newest_ms = max(seen, default=MIN_MS)
    if got_ms == due_ms + 1:
        return "You left out the −1 ms."
    if got_ms == due_ms + 2:
        return "The 1 ms comes off: a watermark says that nothing at or before it comes any more."
    if got_ms > due_ms and newest_ms < 0:
        return "Your first newest time is too high: event times before 1970 are negative."
    if got_ms in (newest_ms, newest_ms - 1):
        return "You forgot the bound."
    if abs(got_ms - newest_ms - scenario.bound_ms) <= 1:
        return "Your watermark runs ahead of the newest event. Subtract the bound, do not add it."
    if got_ms > newest_ms:
        return "No event so far is so new. Only the event times of this stream count: no clock, and no other stream."
    if got_ms in {time - scenario.bound_ms - 1 for time in seen}:
        return "That follows another event than the newest. An older event must not replace the newest time."
    if got_ms in {newest_ms - job.bound_ms - 1 for job in _generator_jobs()}:
        return f"That is the bound of another stream. Here your class is made with {duration_text(scenario.bound_ms)}."
    if got_ms == newest_ms - scenario.bound_ms // 1000 - 1:
        return "The bound is in milliseconds already."
    return "Work it out by hand for this event: the newest event time so far − bound − 1 ms."


def _before_1970() -> Scenario:
    times_ms = (-9_000, -7_000, -8_000, -1_000, 0, -3_000, -4_000, 500, 4_000)
    rows = [["k", 1, at_ms, 1_000 * place + 500] for place, at_ms in enumerate(times_ms, 1)]
    return Scenario.of(name="before-1970", bound="1 s", window="2 s", start="0:00", events=rows)


def _event_id(answer: object) -> str:
    """Read an event: its id, its runner and time, or its event time alone."""
    text = str(answer).strip().replace(" ", "@", 1) if isinstance(answer, str) else ""
    if "@" in text:
        key, _, time = text.partition("@")
        at_ms = read_time(time)
        matching = [event.id for event in RUN_CLUB.events if (event.key, event.event_time_ms) == (key, at_ms)]
    else:
        at_ms = read_time(answer)
        matching = [event.id for event in RUN_CLUB.events if event.event_time_ms == at_ms]
    if not matching:
        raise AnswerError(f'There is no event {answer!r} in the table. Write it as in the first column: "ana@9:03".')
    return matching[0]


def _is_cleaned(trace: Trace, key: str) -> bool:
    """Whether the state of this runner's 8 am window is deleted by the end of the run."""
    gone = (record.subject for record in trace if record.kind is Kind.CLEANED)
    return any(isinstance(of, WindowOf) and (of.key, of.window.end_ms) == (key, 9 * HOUR_MS) for of in gone)


def _at(event: Event) -> str:
    return time_text(event.event_time_ms)


ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "watermark": watermark,
    "firing": firing,
    "settings": settings,
    "silent-job": silent_job,
    "generator": generator,
}
