"""Cards about windows: when they fire and close, and windows of other kinds."""

from __future__ import annotations

from wmviz.course.interview.card import InterviewCard as Card
from wmviz.scenario import Scenario

CARDS = (
    Card(
        name="when-a-window-fires",
        level="junior",
        topic="windows",
        lesson=3,
        scenario="leaderboard",
        ask="When does a tumbling window in event time fire?",
        say="When the watermark reaches the last millisecond of the window. For the window {hour r4471@6:30} that is "
        "{last r4471@6:30}. The bound is {length bound}, so an event of {cause r4471@6:30} is needed to bring the "
        "watermark there. By the server's clock it fires at {fired r4471@6:30}, when that event arrives. But that is "
        "only when the event came. The server's clock plays no part.",
        more=(
            (
                "What if no such event ever comes?",
                "Then it does not fire. The last window of a quiet stream stays open.",
            ),
            (
                "Which window does an event of exactly {end r4471@6:30} belong to?",
                "To the next one. A window takes its start, and leaves out its end.",
            ),
        ),
        flags=("Says that it fires when the server's clock passes the end.", "Adds the allowed lateness to it."),
    ),
    Card(
        name="firing-is-not-closing",
        level="junior",
        topic="windows",
        lesson=3,
        scenario="leaderboard",
        ask="Is a window gone when it has fired?",
        say="No. Firing sends the result, and keeps the state. The state is deleted when the watermark reaches the "
        "last millisecond plus the allowed lateness. For the window {hour r4471@6:56} that is {last r4471@6:56} plus "
        "{length lateness}, so {gone r4471@6:56}. In between each late event makes it fire again. For "
        "{who r4471@6:56} it {times r4471@6:56}: first {result r4471@6:56 1}, then {result r4471@6:56 2}.",
        more=(
            (
                "And with no allowed lateness?",
                "Then the state is deleted right after the first firing, at the same watermark.",
            ),
            (
                "What would a purging trigger change?",
                (
                    "It empties the window at each firing. The next result has only what came since, so the sink has "
                    "to add up."
                ),
            ),
        ),
        flags=("Says that firing deletes the state.", "Expects one result for each window in all cases."),
    ),
    Card(
        name="one-key-one-clock",
        level="mid",
        topic="windows",
        lesson=3,
        scenario="leaderboard",
        ask="You key by runner. Does each runner have a watermark?",
        say="No. A watermark belongs to a task, and a task has many keys. When it passes the end of an hour, the "
        "windows of all keys in that task fire. Here the hour of {who r9@6:21} fires at {fired r9@6:21}, and that of "
        "{who r7@6:52} at {fired r7@6:52}. One event of one runner has moved the watermark "
        "there, the one of {cause r9@6:21}.",
        more=(
            (
                "So can a fast runner make others late?",
                (
                    "Yes. The newest event of anybody moves the watermark of its partition. If no other partition is "
                    "behind, it moves for everybody."
                ),
            ),
            (
                "What if one key is always half an hour behind?",
                "Then a larger bound for all, or a job of its own for that key. There is no bound for each key.",
            ),
        ),
        flags=("Thinks that a slow key holds back only its own windows.", "Says that keyBy splits the watermark."),
    ),
    Card(
        name="two-kinds-of-timer",
        level="mid",
        topic="windows",
        lesson=3,
        scenario="leaderboard",
        jobs={"server": Scenario.by_server_clock},
        ask="What is the difference between a timer in event time and one in processing time?",
        say="The first is called when the watermark reaches its time, the second when the server's clock does. A "
        "window is state and such a timer. Here the hour {hour r4471@6:30} has its timer at {last r4471@6:30}. In "
        "event time it is called at {fired r4471@6:30}, when the event of {cause r4471@6:30} has moved the watermark "
        "there. In processing time it is called at {fired r4471@6:30 | server}, whatever is still on its way.",
        more=(
            (
                "What becomes of them after a restart?",
                (
                    "Both are in the checkpoint. One in processing time that is overdue is called at once. One in "
                    "event time waits until the watermark has come back."
                ),
            ),
            (
                "State has a TTL of an hour. An hour by which clock?",
                (
                    "By the server's. There is no TTL in event time. If state must go by event time, a timer in "
                    "event time deletes it."
                ),
            ),
            (
                "A function sets the same timer for a key again and again. How often is it called?",
                "Once. Flink keeps one timer for each key and time.",
            ),
        ),
        flags=("Expects a timer in event time to be called in a quiet stream.", "Takes a TTL for event time."),
    ),
    Card(
        name="sliding-copies",
        level="junior",
        topic="other windows",
        lesson=9,
        scenario="leaderboard",
        jobs={
            "sliding": {"window": {"type": "sliding", "size": "1 h", "slide": "15 min"}},
            "global": {"window": {"type": "global"}},
        },
        ask="What is the difference between a tumbling and a sliding window?",
        say="Tumbling windows stand side by side. An event is in exactly one of them. Sliding windows overlap. Take "
        "a size of {length size | sliding} and a slide of {length slide | sliding}. Then an event is in "
        "{copies r4471@6:30 | sliding} windows, and in tumbling ones in {copies r4471@6:30}. Each of them keeps its "
        "own result, so the state is that much larger.",
        more=(
            (
                "Can an event be late for one window and not for another?",
                (
                    "Yes. The older windows have fired, the newer ones have not. It then counts in those that are "
                    "still there."
                ),
            ),
            (
                "A size of a day and a slide of a second. What do you say?",
                (
                    "Each event would go to as many windows as a day has seconds. I would use small tumbling "
                    "windows, and add them up."
                ),
            ),
            (
                "And a global window?",
                (
                    "It has no end, and its default trigger never fires. This job gives {results | global} results "
                    "with it, and {results} with hourly windows. You have to set a trigger, and to purge."
                ),
            ),
        ),
        flags=("Does not know that the state grows with the size divided by the slide.",),
    ),
    Card(
        name="sessions-that-join",
        level="mid",
        topic="other windows",
        lesson=9,
        scenario="workout-sessions",
        ask="A late event falls between two sessions. What happens, and what does the sink see?",
        say="It belongs to both, so the sessions become one. Here the gap is {length gap}. The kilometre of "
        "{at r4471@6:15} arrives at {arrival r4471@6:15}, after the first session has fired. It touches that session "
        "and the next one. Now the session is {hour r4471@6:15}, and it has {result r4471@6:15}. But the old row is "
        "not taken back. The sink has {rows r4471@6:15} rows of this runner, because the key of a row is the window, "
        "and the window has changed.",
        more=(
            (
                "How do you keep the sink right?",
                (
                    "The key of the row must not have the end in it. Or the reader takes the longest session that "
                    "covers a time, or the job sends a delete."
                ),
            ),
            (
                "When does a session fire?",
                "When the watermark reaches its last event plus the gap, less a millisecond.",
            ),
        ),
        flags=("Expects that Flink retracts the first result.", "Thinks that sessions are aligned to the clock."),
    ),
    Card(
        name="half-hour-zone",
        level="mid",
        topic="other windows",
        lesson=9,
        scenario="half-hour-zone",
        jobs={"offset": {"window": {"offset": "30 min"}}, "berlin": "daylight-saving"},
        ask="A team in India has hourly windows. Their results look shifted. What is wrong?",
        say="Windows are aligned to the epoch in UTC. The clock in India is off by a whole number of hours and a "
        "half. So an event of {at r4471@2026-10-17 07:00} local time is in the window {hour r4471@2026-10-17 07:00}. "
        "An offset of {length offset | offset} mends it. Then it is in {hour r4471@2026-10-17 07:00 | offset}.",
        more=(
            (
                "And windows of a day in Berlin?",
                (
                    "A fixed offset is right for one half of the year only. The clocks go back in the day that begins "
                    "at {start r9@2026-10-25 10:00 | berlin}, so it has {hours r9@2026-10-25 10:00 | berlin} hours."
                ),
            ),
            (
                "Where do you convert to local time then?",
                ("For hours: an offset. For days: a window assigner of your own, or Flink SQL with a local time zone."),
            ),
        ),
        flags=("Adds the offset to the timestamps, so that every time in the data is wrong.",),
    ),
)
