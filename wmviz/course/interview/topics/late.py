"""Cards about late events and the bound."""

from __future__ import annotations

from wmviz.course.interview.card import InterviewCard as Card
from wmviz.scenario import Scenario


def _some_runners(s: Scenario) -> Scenario:
    """Keep a few of the runners: enough to count, and quick."""
    return s.sample(300)


CARDS = (
    Card(
        name="three-ways-for-late",
        level="junior",
        topic="late events",
        lesson=4,
        scenario="leaderboard",
        jobs={"drop": {"late_to": "drop"}},
        ask="What can become of a late event in Flink?",
        say="It depends on what the window still has. If its window still has state, because of the allowed "
        "lateness, the window takes it in and fires again. The event of {at r4471@6:56} that arrives at "
        "{arrival r4471@6:56} {fate r4471@6:56}. If the state is gone and there is a side output, it goes there. The "
        "one that arrives at {arrival r7@6:56} {fate r7@6:56}. Without a side output it {fate r7@6:56 | drop}, and "
        "the counter numLateRecordsDropped says {dropped | drop}.",
        more=(
            ("Which is the default?", "No allowed lateness and no side output. So it is dropped, and counted."),
            (
                "What do you do with the side output?",
                "Write it to a table, watch its size, and correct the totals from it when it matters.",
            ),
        ),
        flags=("Says that Flink always drops late events silently.", "Knows no side output."),
    ),
    Card(
        name="behind-but-not-late",
        level="mid",
        topic="late events",
        lesson=4,
        scenario="leaderboard",
        jobs={"behind": {"events": [["r9", 1000, "7:15", "7:15"], ["r9", 1000, "7:10", "7:16"]], "lateness": "0 ms"}},
        ask="An event is older than the watermark. Is it late?",
        say="The documentation calls it late. But a window does not ask that. For a window it is late only if that "
        "window has fired. Take windows of {length size}, a bound of "
        "{length bound}, and no lateness. An event of {at r9@7:10 | behind} arrives when the watermark is "
        "{met r9@7:10 | behind}. The watermark has passed the event. But its window is {hour r9@7:10 | behind}, and "
        "that is still open. So the event {fate r9@7:10 | behind}.",
        more=(
            (
                "So what does late depend on?",
                (
                    "On the window. The same event can be late for a window of a minute, and on time for a window of "
                    "a day."
                ),
            ),
            (
                "Is there an operator that looks at the event itself?",
                (
                    "Yes. The interval join of the DataStream API refuses what is older than the watermark. So does "
                    "OVER in SQL, if its frame goes back to the first row."
                ),
            ),
        ),
        flags=("Compares the event with the watermark only.", "Compares the event with the server's clock."),
    ),
    Card(
        name="what-lateness-does",
        level="mid",
        topic="late events",
        lesson=4,
        scenario="leaderboard",
        jobs={"none": {"lateness": "0 ms"}},
        ask="What exactly does allowed lateness do? What does it not do?",
        say="It keeps the state of a window after the first firing. Here it is {length lateness}, so the state of "
        "the window {hour r4471@6:56} goes at watermark {gone r4471@6:56}. Until then each late event fires the "
        "window again at once. {who r4471@6:56} had {result r4471@6:56 1} at {fired r4471@6:56 1}, and "
        "{result r4471@6:56 2} at {fired r4471@6:56 2}. It does not delay the first result: without lateness that "
        "comes at {fired r4471@6:30 | none}, too. And it does not change the watermark.",
        more=(
            ("What does it cost?", "State. Each window of each key stays that much longer, and checkpoints grow."),
            (
                "Does it cover a restart of some minutes?",
                (
                    "It has nothing to do with it. While the job is down no watermark moves. Lateness is measured in "
                    "event time."
                ),
            ),
        ),
        flags=("Says that the window waits for the lateness before it fires.", "Mixes it up with the bound."),
    ),
    Card(
        name="total-or-difference",
        level="mid",
        topic="late events",
        lesson=4,
        scenario="leaderboard",
        jobs={"append": {"sink": "append"}},
        ask="A window fires again for a late event. What must the sink do?",
        say="It depends on what the result is. By default each firing has the full total of the window. So the sink "
        "has to overwrite the row of that key and window. {who r4471@6:56} has {shows r4471@6:56} then, which is "
        "right. A sink that appends has {shows r4471@6:56 | append}. If somebody sums that up, it is "
        "{summed r4471@6:56}, and some metres count twice.",
        more=(
            (
                "And if the sink can only add?",
                (
                    "Then a purging trigger: each firing has only what is new. But then a repeated write after a "
                    "crash counts twice."
                ),
            ),
            (
                "Which sink cannot be corrected at all?",
                (
                    "Files that are written once. There I would wait longer, with a larger bound, and allow little "
                    "lateness."
                ),
            ),
        ),
        flags=("Has not thought about a second result for the same window.", "Adds totals up."),
    ),
    Card(
        name="provisional-and-final",
        level="senior",
        topic="late events",
        lesson=4,
        scenario="price-feed",
        ask="When is a result final? What do you tell the people who look at it before?",
        say="Final is when no event can change it any more. That is when the watermark reaches the last millisecond "
        "of the window plus the lateness. In this price feed the minute {hour gold@10:00:10} gives a first average "
        "of {result gold@10:00:10 1} at {fired gold@10:00:10 1}. It {times gold@10:00:10}, and ends with "
        "{result gold@10:00:10 4} at {fired gold@10:00:10 4}. It is final at watermark {gone gold@10:00:10}. Until "
        "then I would show it as provisional. What comes later is in the side output, {late} price here, and "
        "somebody has to decide whether it is worth a correction.",
        more=(
            (
                "How does a reader know that it is final?",
                (
                    "A timer at the end of the lateness writes it, or the reader compares the window with a "
                    "watermark that the job publishes."
                ),
            ),
            (
                "The business wants a single, final result. And now?",
                (
                    "Then it has to wait. Put the lateness into the bound. Nothing is corrected, and everything "
                    "comes later."
                ),
            ),
        ),
        flags=("Calls the first firing final.", "Promises that nothing can come after the lateness."),
    ),
    Card(
        name="what-the-bound-does",
        level="junior",
        topic="bound",
        lesson=5,
        scenario="price-feed",
        jobs={"wide": {"bound": "40 s"}},
        ask="What does the out-of-orderness bound do?",
        say="It holds the watermark back, so that events that are a little out of order are still on time. Here it "
        "is {length bound}. The price of {at gold@10:00:58} arrives {behind gold@10:00:58} behind the newest one, "
        "and it {fate gold@10:00:58}. With a bound of {length bound | wide} it {fate gold@10:00:58 | wide}. But then "
        "everybody waits. The first result of that minute comes at {fired gold@10:00:10}, and with the larger bound "
        "at {fired gold@10:00:10 | wide}.",
        more=(
            ("What if the bound is too small?", "More events are late. They are corrected, or lost."),
            ("And if it is too large?", "Results come late, and more windows have state at the same time."),
        ),
        flags=(
            "Thinks that the bound drops events.",
            "Says that a larger bound is always safer, and forgets the wait.",
        ),
    ),
    Card(
        name="choose-the-bound",
        level="mid",
        topic="bound",
        lesson=5,
        scenario="price-feed",
        jobs={"tight": {"lateness": "0 ms"}, "wide": {"lateness": "0 ms", "bound": "40 s"}},
        ask="How do you choose the bound?",
        say="I measure. What counts is how far an event is behind the newest one before it. The delay to the "
        "server's clock is another number. The price of {at gold@10:00:47} was {delay gold@10:00:47} on its way, and "
        "it is {behind gold@10:00:47} behind. Then I look at what a bound costs. With no lateness, a bound of "
        "{length bound | tight} leaves {late | tight} of {number events} prices out. With {length bound | wide} it "
        "is {late | wide}, but each first result waits that long. So I take a bound that covers the usual disorder, "
        "a lateness for the tail, and a side output for the rest.",
        more=(
            (
                "All events take an hour longer from tomorrow on. Do you change the bound?",
                "No. If all are late by the same time, none is further behind the others.",
            ),
            (
                "Where do you measure?",
                (
                    "Where the strategy is. On the source that is each partition by itself. Behind it, the "
                    "partitions are mixed, and the disorder is larger."
                ),
            ),
        ),
        flags=("Takes a rule of thumb without looking at data.", "Measures only the delay between event and server."),
    ),
    Card(
        name="bound-or-lateness",
        level="senior",
        topic="bound",
        lesson=5,
        scenario="leaderboard",
        jobs={"wide": {"bound": "22 min", "lateness": "0 ms"}},
        ask="Bound {length bound} and lateness {length lateness}, or a bound of {length bound | wide} and no "
        "lateness. What is the difference?",
        say="What is lost is the same: {late} event in the first job, {late | wide} in the second. The state of an "
        "hour goes at the same event in both. The difference is the first result. It comes at {fired r4471@6:30} "
        "with the small bound, and at {fired r4471@6:30 | wide} with the large one. But then it is complete. With "
        "the small bound the window of {who r4471@6:56} {times r4471@6:56}. With the large one it "
        "{times r4471@6:56 | wide}.",
        more=(
            (
                "Which one do you take?",
                "If the sink can overwrite, the small bound. If it cannot, the large one.",
            ),
            (
                "What decides what is lost?",
                "The sum of both. The bound alone decides who waits.",
            ),
        ),
        flags=("Says that it makes no difference.", "Says that the large bound loses less."),
    ),
    Card(
        name="share-within-the-bound",
        level="senior",
        topic="bound",
        lesson=5,
        scenario="busy-saturday",
        jobs={"some": _some_runners},
        ask="Most events arrive within the bound, and a few percent do not. Are those the late ones?",
        say="No, far fewer are late. I take some runners of a busy Saturday. The bound is {length bound}. Of their "
        "kilometres {slow | some} take longer than that. But only {missed | some} miss the first result of their "
        "hour. A kilometre from the beginning of an hour can be slow, and its window is still open. Late are only "
        "those whose window has fired. With the lateness of {length lateness} on top, {late | some} of "
        "{number events | some} are lost to the side output.",
        more=(
            (
                "What if the windows were minutes?",
                (
                    "Then nearly every slow event finds its window closed. The share of late events comes close to "
                    "the share of slow ones."
                ),
            ),
            (
                "Would you take a high percentile of the disorder, plus a margin?",
                "As a start. Then I look at the curve: what one more second of waiting saves.",
            ),
        ),
        flags=("Takes the share beyond the bound for the share of late events.", "Forgets the size of the window."),
    ),
)
