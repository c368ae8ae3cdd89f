"""Cards about windows: when they fire and close, and windows of other kinds."""

from __future__ import annotations

from wmviz.course.interview.card import InterviewCard as Card

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
                "Which windows does an event of exactly {end r4471@6:30} belong to?",
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
        "{who r7@6:52} {span fired r9@6:21 to fired r7@6:52} later. One event of one runner has moved the watermark "
        "there, the one of {cause r9@6:21}.",
        more=(
            (
                "So can a fast runner make others late?",
                "Yes. The newest event of anybody moves the watermark for everybody in that source.",
            ),
            (
                "What if one key is always half an hour behind?",
                "Then a larger bound for all, or a job of its own for that key. There is no bound for each key.",
            ),
        ),
        flags=("Thinks that a slow key holds back only its own windows.", "Says that keyBy splits the watermark."),
    ),
    Card(
        name="sliding-copies",
        level="junior",
        topic="other windows",
        lesson=9,
        scenario="leaderboard",
        jobs={"sliding": {"window": {"type": "sliding", "size": "1 h", "slide": "15 min"}}},
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
        ),
        flags=("Does not know that the state grows with size by slide.",),
    ),
    Card(
        name="global-window",
        level="junior",
        topic="other windows",
        lesson=9,
        scenario="leaderboard",
        jobs={
            "global": {"window": {"type": "global"}},
            "counting": {"window": {"type": "global", "trigger": "count:2"}},
        },
        ask="You use a global window, and nothing comes out. Why?",
        say="A global window has no end. So no watermark can make it fire, and its default trigger never does. In "
        "this run it gives {results | global} results, where hourly windows give {results}. You have to set a "
        "trigger. With one that fires after every {number trigger | counting} events of a runner there are "
        "{results | counting}.",
        more=(
            (
                "What happens to the state?",
                "It grows for ever, since nothing closes the window. Purge it in the trigger, or use an evictor.",
            ),
            (
                "What would you use in place of it?",
                "Mostly a process function with state and a timer. There it is plain what is kept, and how long.",
            ),
        ),
        flags=("Looks for the cause in the watermark.",),
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
        jobs={"offset": {"window": {"offset": "30 min"}}},
        ask="A team in India has hourly windows. Their results look shifted. What is wrong?",
        say="Windows are aligned to the epoch in UTC. The clock in India is off by a whole number of hours and a "
        "half. So an event of {at r4471@2026-10-17 07:00} local time is in the window {hour r4471@2026-10-17 07:00}. "
        "An offset of {length offset | offset} mends it. Then it is in {hour r4471@2026-10-17 07:00 | offset}.",
        more=(
            (
                "And windows of a day in Berlin?",
                (
                    "A fixed offset is right for one half of the year only. When the clocks change, a day is longer "
                    "or shorter."
                ),
            ),
            (
                "Where do you convert to local time then?",
                (
                    "For hours: an offset. For days: a window assigner that knows the zone, or Flink SQL with a "
                    "local time zone."
                ),
            ),
        ),
        flags=("Adds the offset to the timestamps, so that every time in the data is wrong.",),
    ),
    Card(
        name="day-of-25-hours",
        level="senior",
        topic="other windows",
        lesson=9,
        scenario="daylight-saving",
        jobs={"fixed": {"window": {"zone": None, "offset": "-2 h"}}},
        ask="You sum up metres per local day. What happens on the day when the clocks go back?",
        say="That day is longer. In this run Saturday has {hours r9@2026-10-24 09:10} hours, and Sunday has "
        "{hours r9@2026-10-25 10:00}. A tumbling window of a day with a fixed offset always has "
        "{hours r4471@2026-10-25 23:30 | fixed}. So it cuts Sunday too early. The run of {at r4471@2026-10-25 23:30} "
        "gets into the window that begins at {start r4471@2026-10-25 23:30 | fixed}, which is nearly all Monday. "
        "With windows that follow the local calendar it is in the day that begins at {start r4471@2026-10-25 23:30}.",
        more=(
            (
                "Two events have the same local time in that night. Are they the same moment?",
                "No. An hour comes twice. In milliseconds since the epoch they are apart, and that is what Flink uses.",
            ),
            (
                "What would you send from the phones?",
                "Milliseconds in UTC, and the zone as a field of its own if somebody needs it.",
            ),
        ),
        flags=("Stores local time without an offset.", "Says that a day always has the same length."),
    ),
)
