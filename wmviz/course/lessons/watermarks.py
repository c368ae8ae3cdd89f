"""Lesson 2, watermarks: its questions. Every right answer comes from the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import wmviz
from wmviz.course.answers import read_duration, read_time
from wmviz.course.questions import Choice, Question, Task, Verdict, right, wrong
from wmviz.scenario import Scenario
from wmviz.times import duration_text, time_ms, time_text
from wmviz.trace import Trace

FEED = wmviz.scenario("price-feed").replace(
    lateness=0, about="Bound 2 s: the watermark trails the newest price by 2 s and 1 ms."
)
"""The lesson's scenario: without lateness, which lesson 3 brings in."""


def behind(trace: Trace) -> list[str]:
    """Give the ids of the events that meet a watermark at or after their own time."""
    events = trace.scenario.events
    return [event.id for event in events if event.event_time_ms <= trace.seen_watermarks[event.id]]


def _last_watermark(scenario: Scenario) -> int:
    trace = wmviz.simulate(scenario)
    return trace.state(trace.steps - 1).watermarks["window"]


def _job(*times: str, **settings: Any) -> Scenario:
    """Make a job from event times; each event arrives a second after the one before."""
    rows = [["gold", 10_000, time, time_ms("12:00") + 1000 * place] for place, time in enumerate(times)]
    return FEED.replace(events=rows, start="12:00", **settings)


# Questions ---------------------------------------------------------------------------------------------------------


def newest() -> Question:
    """Ask for the watermark after an event that is older than the newest."""
    answer_ms = _last_watermark(FEED.replace(events=_rows(FEED)[:4]))
    whys = {
        "10:00:55.999": "You took the last price, 10:00:58. An old event never moves the watermark back.",
        "10:01:02.999": "The newest price is 10:01:05.000, whatever comes after it: "
        "10:01:05.000 − 2 s − 1 ms = 10:01:02.999.",
        "10:01:03.000": "One millisecond too high: a price of exactly 10:01:03.000 is 2 s behind and still welcome.",
        "10:01:05.000": "You forgot the bound. The watermark trails the newest price by 2 s and 1 ms.",
    }
    return Question(
        "The bound is 2 s. Prices of 10:00:10, 10:00:31 and 10:01:05 have arrived, then one of 10:00:58. "
        "What is the watermark now?",
        tuple(Choice(time_ms(time), time, why) for time, why in whys.items()),
        answer=answer_ms,
    )


def equal_times() -> Question:
    """Ask whether an event with the newest time is behind the watermark of ascending timestamps."""
    trace = wmviz.simulate(_job("10:01:05", "10:01:05", strategy="ascending"))
    is_behind = bool(behind(trace))
    return Question(
        "The strategy is for_monotonous_timestamps, and the newest price is 10:01:05.000. "
        "Another price of exactly 10:01:05.000 arrives. Is it behind the watermark?",
        (
            Choice(True, "Yes: it is not newer than the newest", "The watermark is 1 ms below the newest time."),
            Choice(
                False,
                "No: the watermark is 10:01:04.999",
                "Ascending means a bound of 0, and the 1 ms is taken off here too. Equal times are in order.",
            ),
        ),
        answer=is_behind,
    )


def smaller_bound() -> Question:
    """Ask what a smaller bound changes."""
    wide, narrow = (wmviz.simulate(FEED.replace(bound=bound)) for bound in ("7 s", "2 s"))
    earlier = narrow.all_firings[0].at_ms < wide.all_firings[0].at_ms
    more = len(narrow.outcomes().late) > len(wide.outcomes().late)
    return Question(
        "Someone lowers the bound of the price feed from 7 s to 2 s. What happens to the first result, and how many "
        "prices are too late for theirs?",
        (
            Choice((False, False), "It comes later, and fewer are too late", "That is what a larger bound does."),
            Choice(
                (False, True), "It comes later, and more are too late", "A smaller bound waits less: it comes earlier."
            ),
            Choice((True, False), "It comes earlier, and fewer are too late", "Waiting less cannot catch more prices."),
            Choice(
                (True, True),
                "It comes earlier, and more are too late",
                "The watermark is 5 s further ahead: windows fire earlier, and what comes after them is too late.",
            ),
        ),
        answer=(earlier, more),
    )


def seconds() -> Question:
    """Ask how long a stream must run until a minute has passed, if seconds are read as milliseconds."""
    whys = {
        60: "That would be so if the job counted in seconds. It takes each second for a millisecond.",
        3_600: "Too short still: 3,600 seconds are read as 3.6 seconds.",
        60_000: "A minute is 60,000 ms. Each second of the stream moves event time by 1 ms: 60,000 s.",
        3_600_000: "That is for a window of one hour: 3,600,000 s, some 42 days.",
    }

    def fires(after_s: int) -> bool:
        rows = [["gold", 10_000, second, second * 1000] for second in (0, after_s)]
        return bool(wmviz.simulate(FEED.replace(events=rows, start=0, bound=0)).all_firings)

    return Question(
        "Event times come in seconds, and the job reads them as milliseconds. Windows have one minute, the bound is 0. "
        "How long must the stream run until the first window fires?",
        tuple(Choice(after_s, duration_text(after_s * 1000), why) for after_s, why in whys.items()),
        answer=min(after_s for after_s in whys if fires(after_s)),
    )


def other_bound() -> Task:
    """Ask for the watermark with another bound, as free text."""
    answer_ms = _last_watermark(_job("10:01:05", "10:01:12", "10:01:09", bound="5 s"))
    whys = {
        answer_ms + 1: "You left out the −1 ms.",
        time_ms("10:01:03.999"): "You took the last price. The watermark follows the newest.",
        time_ms("10:01:04"): "You took the last price, and left out the −1 ms. The watermark follows the newest.",
        time_ms("10:01:09.999"): "That is right for a bound of 2 s; here it is 5 s.",
        time_ms("10:01:12"): "You forgot the bound.",
        time_ms("10:01:11.999"): "You forgot the bound.",
        time_ms("10:01:17"): "You added the bound. The watermark trails the newest event; it never runs ahead.",
    }
    return Task(
        "The bound is 5 s. Prices of 10:01:05, 10:01:12 and 10:01:09 arrive, in this order. What is the watermark?",
        lambda answer: _judged(
            read_time(answer), answer_ms, whys, f"10:01:12 − 5 s − 1 ms = {time_text(answer_ms)}.", time_text
        ),
        ("Which price is the newest? The order of arrival does not matter.", "10:01:12 − 5 s, and 1 ms less."),
    )


def perfect() -> Task:
    """Ask for the smallest bound with which no price of the feed is behind the watermark."""
    candidates = range(0, 120_000, 1_000)
    answer_ms = next(ms for ms in candidates if not behind(wmviz.simulate(FEED.replace(bound=ms))))
    whys = {
        7_000: "That is enough for 10:00:58. Look for prices that are further behind the newest.",
        25_000: "That is enough for 10:00:47. Look for prices that are further behind the newest.",
        32_000: "With that no price misses its window. But one is still behind the watermark.",
        33_000: "With that no price misses its window. But one is still behind the watermark.",
        answer_ms - 1: "One millisecond short: the watermark is then the time of the oldest price itself.",
        answer_ms + 1: "One millisecond too many: the watermark takes its 1 ms off by itself.",
        73_500: "That is how long it was on its way. What counts is how far it is behind the newest price.",
    }
    return Task(
        "Which is the smallest bound with which no price of the feed is behind the watermark that it meets?",
        lambda answer: _judged(
            read_duration(answer),
            answer_ms,
            whys,
            f"10:00:20 comes when the newest is 10:01:32: {duration_text(answer_ms)} behind. For these two minutes "
            "that makes a perfect watermark; tomorrow it may take another bound.",
            duration_text,
        ),
        (
            "For each price: how far is it behind the newest one that came before it?",
            "The worst is the price of 10:00:20. Which one was the newest when it came?",
        ),
    )


def _judged(
    got_ms: int, answer_ms: int, whys: Mapping[int, str], because: str, written: Callable[[int], str]
) -> Verdict:
    if got_ms == answer_ms:
        return right(because)
    way = "large" if got_ms > answer_ms else "small"
    return wrong(whys.get(got_ms, f"{written(got_ms)} is too {way}. Go through the prices in their order of arrival."))


def _rows(scenario: Scenario) -> list[list[Any]]:
    return [[event.key, event.value, event.event_time_ms, event.arrival_time_ms] for event in scenario.events]


ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "newest": newest,
    "equal-times": equal_times,
    "smaller-bound": smaller_bound,
    "seconds": seconds,
    "other-bound": other_bound,
    "perfect": perfect,
}
GIVEN: Mapping[str, Any] = {}
