"""Cards about checkpoints, restarts and what the sink shows."""

from __future__ import annotations

from wmviz.course.interview.card import InterviewCard as Card

CARDS = (
    Card(
        name="what-a-checkpoint-holds",
        level="junior",
        topic="barriers",
        lesson=10,
        scenario="crash-and-replay",
        ask="What is in a checkpoint, and what is not?",
        say="The offsets of the sources and the state of all tasks, timers too, all of the same point in the stream. "
        "The checkpoint of {begun} has {reloaded r4471@6:58:20} for {who r4471@6:58:20}, and the offset right behind "
        "that event. The watermark of the window operator is not in it. After the restore it is {restart window}, "
        "until events come again.",
        more=(
            (
                "Are the events in it?",
                (
                    "Not as a rule, so the source has to keep them. An unaligned checkpoint holds those that were in "
                    "the channels."
                ),
            ),
            (
                "Is checkpointing on by default?",
                "No. You have to set an interval.",
            ),
        ),
        flags=("Says that the watermark is restored.", "Calls it a backup of all data."),
    ),
    Card(
        name="barriers-align",
        level="mid",
        topic="barriers",
        lesson=10,
        scenario="barrier-alignment",
        ask="How do barriers make a checkpoint consistent when a task has several inputs?",
        say="Each source sends a barrier and stores its offset at that point. What is in front of the barrier "
        "belongs to the checkpoint, what is behind it does not. A task that has the barrier from one input must not "
        "take more from there until the others are in. Here the barrier of one source is in at "
        "{blocked source[1] → window}. Its channel is blocked until {unblocked source[1] → window}. Then the task "
        "takes its snapshot. The checkpoint began at {begun} and is complete at {complete}.",
        more=(
            (
                "What if it took more events from the blocked channel?",
                (
                    "They would be in the state, and the source would read them again after a crash. They would "
                    "count twice."
                ),
            ),
            (
                "Why does backpressure make checkpoints slow?",
                "A barrier waits behind the events in front of it, like everybody else.",
            ),
        ),
        flags=("Says that the whole job stops for a checkpoint.", "Mixes up barriers and watermarks."),
    ),
    Card(
        name="unaligned",
        level="mid",
        topic="barriers",
        lesson=10,
        scenario="unaligned-barriers",
        jobs={"aligned": "barrier-alignment"},
        ask="What are unaligned checkpoints, and when do you use them?",
        say="The barrier overtakes the events that wait in the channels, and those become part of the checkpoint. "
        "Nothing is blocked. In this job the checkpoint begins at {begun}. Unaligned it is complete at {complete}, "
        "aligned at {complete | aligned}. The price is size: {stored} events from the channels are stored. I use "
        "them when backpressure makes aligned checkpoints too slow, and I look for the cause of the backpressure, "
        "too.",
        more=(
            (
                "Do barriers always overtake then?",
                "With a timeout they begin aligned, and overtake only if it takes too long.",
            ),
            (
                "Are savepoints unaligned?",
                "No. In exactly-once mode they are always aligned.",
            ),
            (
                "What do they not help with?",
                (
                    "With what a task is doing right now. A barrier overtakes what waits, but not one slow element, "
                    "and not the many windows that fire at one watermark. And a slow store gets more to do."
                ),
            ),
        ),
        flags=("Says that unaligned means at-least-once.", "Turns them on, and leaves the backpressure as it is."),
    ),
    Card(
        name="at-least-once",
        level="senior",
        topic="barriers",
        lesson=10,
        scenario="at-least-once",
        jobs={"exact": {"checkpoints": {"mode": "aligned"}}},
        ask="What does at-least-once mode do, and what can you see after a crash?",
        say="Barriers are counted, but nothing is blocked. A task takes events that are behind a barrier, and they "
        "get into the snapshot, although the source has not stored them as read. Here {who r9@6:59:55} has a "
        "kilometre of {at r9@6:59:55} that came so. After the crash at {crashed} it is read again. The sink shows "
        "{shows r9@6:59:50}. With aligned barriers it is {shows r9@6:59:50 | exact}.",
        more=(
            (
                "When would you take it?",
                "If latency matters, and counting twice does no harm: a maximum, or a set, for example.",
            ),
            (
                "Does it matter with a single input channel?",
                "No. There is nothing to wait for, so the snapshot is exact.",
            ),
        ),
        flags=("Says that events can be lost.", "Thinks that the mode is about the sink."),
    ),
    Card(
        name="crash-and-totals",
        level="junior",
        topic="restore",
        lesson=11,
        scenario="crash-and-replay",
        ask="A job crashes and is restored. Why are the totals still right?",
        say="State and offsets go back together. The checkpoint has {reloaded r4471@6:58:20} for "
        "{who r4471@6:58:20}. Then {amount r4471@6:59} more are counted, and the job crashes at {crashed}. Those "
        "metres are gone from the state. But the source goes back to its offset and reads {again} event again. In "
        "the end the total is {shows r4471@6:58:20}, as without a crash.",
        more=(
            (
                "What must the source be able to do?",
                "Go back to an offset, and still have the events. Kafka can, as long as it keeps them.",
            ),
            (
                "Are outputs repeated?",
                "They can be. What was written after the checkpoint is written again. That is the sink's part.",
            ),
            (
                "Do committed offsets in Kafka matter for the restore?",
                "No. The offsets in the checkpoint count. The committed ones only show progress to others.",
            ),
        ),
        flags=("Says that Flink replays all events from the beginning.", "Says that each event is handled only once."),
    ),
    Card(
        name="watermark-after-restore",
        level="mid",
        topic="restore",
        lesson=11,
        scenario="restore-overwrites-total",
        ask="What is the watermark right after a restore, and what follows from that?",
        say="It is at its start, {restart window}, since it is not part of the state. It comes back with the events. "
        "Until then nothing is late. The event of {at r4471@6:58} shows it. Before the crash it met the watermark "
        "{met r4471@6:58}, and it was too late. After the restore at {restored} it is read again, and now a window "
        "takes it in and fires.",
        more=(
            (
                "Do windows fire too early because of it?",
                "No. A low watermark makes windows wait. It never makes them fire.",
            ),
            (
                "Does the time while the job was down make events late?",
                "No. Watermarks come from event times, so a stopped job is only late by the server's clock.",
            ),
            (
                "Is the watermark never in a checkpoint?",
                (
                    "There are exceptions. Window aggregation in SQL keeps it in its state. And an unaligned "
                    "checkpoint stores what is in the channels, watermarks too."
                ),
            ),
        ),
        flags=("Says that the watermark comes from the checkpoint.", "Wants more lateness because of restarts."),
    ),
    Card(
        name="savepoint-or-checkpoint",
        level="junior",
        topic="restore",
        lesson=11,
        scenario="savepoint",
        ask="What is the difference between a checkpoint and a savepoint?",
        say="A checkpoint is taken by Flink, for restarts after a failure. A savepoint is asked for by a person, for "
        "a planned stop or an upgrade, and it belongs to that person. In this run a savepoint is taken, and the job "
        "crashes at {crashed}. It goes back to the checkpoint of {begun}, and not to the newer savepoint. So it "
        "reads {again} event again, and {who r9@6:59} still has {shows r9@6:59}.",
        more=(
            (
                "What do you do before you deploy a new version?",
                "Stop with a savepoint, and start the new code from it.",
            ),
            ("Who deletes a savepoint?", "You do. Flink deletes only its checkpoints."),
            (
                "Can the job go on with another parallelism?",
                (
                    "Yes, from either of them, up to the maximum parallelism. The windows move with their keys, and "
                    "the watermark starts anew."
                ),
            ),
        ),
        flags=("Uses both words for the same thing.",),
    ),
    Card(
        name="replay-overwrites",
        level="senior",
        topic="restore",
        lesson=11,
        scenario="restore-overwrites-total",
        ask="Your sink overwrites by key and window. Can a restart still spoil a result?",
        say="Yes. Here the total of {who r4471@6:30} for {hour r4471@6:30} is {result r4471@6:30}. It is final, and "
        "its state is deleted. A late event of {amount r4471@6:58} is refused. Then the job crashes. After the "
        "restore the watermark is {restart window}, so that event is not late any more. It opens the window anew, "
        "without the others, and fires. The sink shows {shows r4471@6:30}.",
        more=(
            (
                "How do you prevent it?",
                (
                    "Keep the highest watermark in state, and refuse an event whose window it has closed. Or let the "
                    "sink accept no smaller total for a window that is final."
                ),
            ),
            (
                "When can it happen at all?",
                (
                    "When the checkpoint is older than the late event, and newer than the deletion of the window. And "
                    "the event is read again before the watermark has come back."
                ),
            ),
        ),
        flags=("Says that an idempotent sink solves everything.", "Expects that a refused event is refused again."),
    ),
    Card(
        name="exactly-once-of-what",
        level="junior",
        topic="exactly-once",
        lesson=12,
        scenario="written-twice",
        ask="Flink promises exactly-once. Exactly once what?",
        say="Each event changes the state exactly once. That says nothing about the output. Here a sink appends. The "
        "window of {who r9@6:40} fires at {fired r9@6:40}, the job crashes at {crashed}, before the next checkpoint, "
        "and the window fires again at {fired r9@6:40 2}. Both results are right, {result r9@6:40 1} and "
        "{result r9@6:40 2}. But the sink has the row {seen r9@6:40}.",
        more=(
            (
                "What is needed from end to end?",
                (
                    "A source that can go back, state in checkpoints, and a sink that overwrites or commits with the "
                    "checkpoint."
                ),
            ),
            ("Which part decides?", "The weakest of them."),
        ),
        flags=("Says that Flink handles each event only once.",),
    ),
    Card(
        name="two-ways-to-the-sink",
        level="mid",
        topic="exactly-once",
        lesson=12,
        scenario="written-twice",
        jobs={"upsert": {"sink": "upsert"}, "transactional": "transactional-sink"},
        ask="How do you avoid that a result is in the sink twice?",
        say="There are two ways. The sink overwrites by a key that comes from the data. Then the second write does "
        "no harm: the result is there {seen r9@6:40 | upsert}, and readers see it at {readable r9@6:40 | upsert}. Or "
        "the sink commits with the checkpoint. What was written without one is aborted. The result is there "
        "{seen r9@6:40 | transactional}, but readers see it only at {readable r9@6:40 | transactional}. A sink that "
        "appends has it {seen r9@6:40}.",
        more=(
            (
                "Which one do you prefer?",
                "Overwriting, where the sink can do it. It is simpler, and readers see results at once.",
            ),
            (
                "When is overwriting not enough?",
                "If readers act on each change, such as a payment. Or if the value is a difference and not a total.",
            ),
        ),
        flags=("Knows one of the two only.", "Makes the key of the row from the time of writing."),
    ),
    Card(
        name="when-is-it-visible",
        level="mid",
        topic="exactly-once",
        lesson=12,
        scenario="transactional-sink",
        ask="With a transactional sink your users complain that results come late. Why?",
        say="Results are written when the window fires, but into a transaction that is open. Readers of committed "
        "rows see them when the sink hears that the next checkpoint is complete. Here the first result of "
        "{who r9@6:40} is written at {fired r9@6:40}. The job crashes before the checkpoint, so it is written again. "
        "It can be read at {readable r9@6:40}. With checkpoints every {length checkpoints}, that is what a result "
        "may wait. The interval of the checkpoints becomes the delay for your readers.",
        more=(
            (
                "Some readers see results twice. How?",
                (
                    "They read uncommitted rows, which is the default of a Kafka consumer. They have to read "
                    "committed ones."
                ),
            ),
            (
                "And with no checkpoints at all?",
                "Then nothing is committed while the job runs.",
            ),
        ),
        flags=("Looks for the cause in the watermark only.", "Does not know that the reader has a part in it."),
    ),
    Card(
        name="transaction-timeout",
        level="senior",
        topic="exactly-once",
        lesson=12,
        scenario="transaction-timeout",
        ask="Can a transactional sink lose data for good?",
        say="Yes, if the transaction times out before it is committed. Here the results are prepared, and the "
        "checkpoint is complete at {complete 3}. The job crashes at {crashed}, before the sink hears of it. It is "
        "down for {length down}, and the transaction timeout is {length transactions}. The broker aborts it. The "
        "state is from after the firing, so nothing is written again. The sink shows {shows r9@6:40}. The timeout "
        "has to be longer than the interval, plus the longest checkpoint, plus the longest time down.",
        more=(
            (
                "What are the defaults with Kafka?",
                (
                    "Flink's sink asks for {default transaction timeout}, and a broker allows "
                    "{default broker limit}. So one of the two has to be changed, or the job fails when it starts."
                ),
            ),
            (
                "How would you notice the loss?",
                "By an error in the log at the restart, and by comparing counts. The sink goes on otherwise.",
            ),
        ),
        flags=("Trusts the word exactly-once without the timeout.",),
    ),
)
