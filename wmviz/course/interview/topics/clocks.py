"""Cards about clocks and watermarks."""

from __future__ import annotations

from wmviz.course.interview.card import InterviewCard as Card
from wmviz.scenario import Scenario
from wmviz.times import time_ms


def _again(s: Scenario, every_ms: int) -> Scenario:
    """Give the same events in the same order, read again in the evening, one every few milliseconds."""
    start_ms = time_ms("20:00")
    rows = [[e.key, e.value, e.event_time_ms, start_ms + i * every_ms] for i, e in enumerate(s.events, 1)]
    return s.replace(events=rows, start=start_ms)


def _with_future(s: Scenario) -> Scenario:
    """Add a kilometre of 15:00 that arrives in the morning."""
    rows = [[e.key, e.value, e.event_time_ms, e.arrival_time_ms] for e in s.events]
    return s.replace(events=sorted([*rows, ["r9", 1000, time_ms("15:00"), time_ms("6:30:30")]], key=lambda row: row[3]))


CARDS = (
    Card(
        name="two-clocks",
        level="junior",
        topic="clocks",
        lesson=1,
        scenario="leaderboard",
        jobs={"server": Scenario.by_server_clock},
        ask="What is the difference between event time and processing time? Give me an example.",
        say="Event time is when something happened, and the event brings it along. Processing time is what the "
        "server's clock says when the event is handled. Take a runner whose kilometre ends at {at r4471@6:56}. The "
        "phone has no signal, so the server gets it at {arrival r4471@6:56}. By event time it counts for "
        "{hour r4471@6:56}. By the server's clock it counts for {hour r4471@6:56 | server}, and the wrong runner may "
        "win that hour.",
        more=(
            (
                "What is ingestion time?",
                (
                    "The source stamps each event when it reads it. All later operators agree on that time, but it "
                    "still does not say when the event happened."
                ),
            ),
            (
                "What does event time cost?",
                (
                    "You have to wait, because nobody knows what is still on its way. And you have to decide what "
                    "becomes of late events."
                ),
            ),
        ),
        flags=(
            "Says that processing time is the same, only less exact.",
            "Believes that events arrive in the order in which they happened.",
        ),
    ),
    Card(
        name="when-processing-time",
        level="mid",
        topic="clocks",
        lesson=1,
        scenario="leaderboard",
        jobs={"server": Scenario.by_server_clock},
        ask="When is processing time the right choice?",
        say="When the question is about the server itself. How many requests per second do we handle, for example. "
        "Then the server's clock is the truth, there is no watermark, and nothing waits. Nothing is ever late: in "
        "this job {late | server} events are late by the server's clock, and {late} by event time. But the results "
        "cannot be repeated. A replay counts everything for the hour of the replay.",
        more=(
            (
                "And when does neither of them need a stream?",
                (
                    "If nobody waits for the result, a batch over night is enough. Flink runs the same program so: "
                    "no watermark but the highest one at the end, each window fires once, and nothing is late."
                ),
            ),
            (
                "My windows do not fire. I switch to processing time, and they do. Is that a fix?",
                (
                    "No. The job now answers another question. The cause is still there: most likely a watermark "
                    "that stands still."
                ),
            ),
        ),
        flags=("Takes processing time because it is simpler to set up.", "Cannot name what is lost by it."),
    ),
    Card(
        name="same-again",
        level="senior",
        topic="clocks",
        lesson=1,
        scenario="leaderboard",
        jobs={
            "evening": lambda s: _again(s, 1000),
            "fast": lambda s: _again(s, 5).replace(emission="interval", interval="200 ms"),
            "server": lambda s: _again(s, 1000).by_server_clock(),
        },
        ask="You read last Saturday again from Kafka. Do you get the same results?",
        say="By event time the totals of what is on time are the same. Here {who r4471@6:56} has {shows r4471@6:56} "
        "for its hour in the morning, and {shows r4471@6:56 | evening} when I read the events again in the evening, "
        "in the same order. By the server's clock the same kilometre counts for {hour r4471@6:56 | server}. But what "
        "is late is not promised to be the same. It depends on the order of arrival, and on when watermarks are "
        "sent. If I read fast, and watermarks come every {length interval | fast}, all events are there before the "
        "first watermark: {late | fast} are too late, in place of {late}.",
        more=(
            (
                "Why does the order change in a replay?",
                (
                    "Several partitions are read side by side, and nobody promises how they interleave. In each of "
                    "them the order holds."
                ),
            ),
            (
                "What would you compare to check a replay?",
                "The final totals by key and window. Not the number of firings, and not the number of late events.",
            ),
        ),
        flags=(
            "Says that event time makes everything deterministic.",
            "Does not mention that late events depend on the order of arrival.",
        ),
    ),
    Card(
        name="what-is-a-watermark",
        level="junior",
        topic="watermarks",
        lesson=2,
        scenario="leaderboard",
        ask="What is a watermark?",
        say="It is a marker in the stream that carries a time. It says: I expect no more events up to this time. "
        "Flink makes it from the events. It takes the newest event time so far, and subtracts the bound and "
        "{default watermark step}. Here the bound is {length bound}. The newest event is {at r9@7:05}, so the "
        "watermark is {met r4471@6:56}. Windows and timers wait for it.",
        more=(
            (
                "Is it a guarantee?",
                "No. It is an expectation. An event of {at r4471@6:56} still comes after it, and it {fate r4471@6:56}.",
            ),
            ("Can it go back?", "No. A watermark never goes down. An old event does not move it."),
        ),
        flags=("Says that the watermark is the time of the last event.", "Mixes it up with a checkpoint or a barrier."),
    ),
    Card(
        name="minus-one",
        level="mid",
        topic="watermarks",
        lesson=2,
        scenario="leaderboard",
        ask="The bound is {length bound}. The newest event is of {at r12@7:01:59.999}. What is the watermark, and "
        "has the window {hour r12@6:56} fired?",
        say="The watermark is {at r12@7:01:59.999} minus {length bound} minus {default watermark step}. That is "
        "{met r12@6:56}. The window fires when the watermark reaches its last millisecond, {last r12@6:56}. So it "
        "has not fired. One millisecond is missing. The event of {cause r12@6:56} makes it fire.",
        more=(
            (
                "Why is that millisecond subtracted?",
                (
                    "The watermark says that all events up to its time are there, that time included. An event that "
                    "is exactly one bound old may still come."
                ),
            ),
            (
                "Is it the same in SQL?",
                "No. SQL takes the expression as it stands. Without its own minus one it is one millisecond higher.",
            ),
        ),
        flags=(
            "Says that the window fires when an event after its end arrives.",
            "Forgets the bound, or compares with the server's clock.",
        ),
    ),
    Card(
        name="when-is-it-sent",
        level="mid",
        topic="watermarks",
        lesson=2,
        scenario="leaderboard",
        jobs={"periodic": {"emission": "interval", "interval": "10 min"}},
        ask="When does Flink send a watermark? Does it matter?",
        say="By default periodically, every {default watermark interval} of the server's clock, and only if it has "
        "risen. A generator can also send one after each event. It matters, because between two watermarks nothing "
        "becomes late. Take an interval of {length interval | periodic}, so that we can see it. The event of "
        "{at r4471@6:56} arrives at {arrival r4471@6:56}. With a watermark after each event it {fate r4471@6:56}. "
        "With the long interval it {fate r4471@6:56 | periodic}, because its window has not fired yet.",
        more=(
            (
                "Would you send one after each event?",
                "Only for tests or rare events. Each watermark goes to all tasks behind, so many of them cost time.",
            ),
            (
                "Why is nothing late in my small test?",
                (
                    "The events are read before the first watermark is sent. And a list that ends sends the highest "
                    "watermark, which fires everything."
                ),
            ),
        ),
        flags=("Says that watermarks are sent when a window is full.", "Thinks that the interval is event time."),
    ),
    Card(
        name="event-from-the-future",
        level="senior",
        topic="watermarks",
        lesson=5,
        scenario="leaderboard",
        jobs={"future": _with_future},
        ask="One phone has a wrong clock and sends an event that is hours ahead. What happens to your job?",
        say="The watermark follows the newest event, so it jumps. In this run a kilometre of {at r9@15:00 | future} "
        "arrives at {arrival r9@15:00 | future}. The next event meets the watermark {met r12@6:35 | future}. All "
        "windows before that fire at once, and they are gone. From then on everybody else is too late. "
        "{late | future} of {number events | future} events go to the side output. Without that phone it is {late}. "
        "The watermark does not go back, so the job does not heal until the real time has caught up.",
        more=(
            (
                "How do you protect the job?",
                (
                    "In front of the watermark strategy I send events that are too far ahead of the server's clock "
                    "another way, and I count them. If the strategy is on the source, nothing is in front of it. "
                    "There I write a generator that ignores such events."
                ),
            ),
            (
                "Does a larger bound help?",
                "Only if it is larger than the error of the clock. Then everybody waits that long.",
            ),
        ),
        flags=("Says that the event simply waits for its window.", "Wants to lower the watermark again."),
    ),
)
