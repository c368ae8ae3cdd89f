"""Cards about diagnosis and operations."""

from __future__ import annotations

from wmviz.course.interview.card import InterviewCard as Card
from wmviz.scenario import Scenario

CARDS = (
    Card(
        name="nothing-comes-out",
        level="junior",
        topic="diagnosis",
        lesson=15,
        scenario="quiet-partition",
        ask="The job runs, events go in, and nothing comes out. What do you look at first?",
        say="At the watermark of the window operator, twice, a minute apart. If it stands still, I go back to the "
        "sources and look which one stands at that value. In this run the window is at {mark window}. One partition "
        "is at {mark partition 0}, the other at {mark partition 1}. So the second one holds it. Then I ask why that "
        "partition is silent, before I set a timeout.",
        more=(
            (
                "Why read twice?",
                "One reading shows where it stands. Two show whether it moves.",
            ),
            (
                "What do consumer lag and committed offsets say?",
                "How far the reading is. Nothing about event time.",
            ),
        ),
        flags=("Restarts first.", "Looks only at errors in the log."),
    ),
    Card(
        name="late-or-missing",
        level="mid",
        topic="diagnosis",
        lesson=15,
        scenario="backpressure",
        jobs={"quick": lambda s: s.replace(work="0 ms", channel_capacity=0)},
        ask="Results come later and later. Are events lost?",
        say="Not by that. It looks like backpressure. A task is busy, the channels are full, and the sources cannot "
        "send. Watermarks wait in the same channels. Here an event takes {length work}, and a channel holds "
        "{number room} elements. The result comes at {fired r4471@6:59:50}. A task that is quick enough has it at "
        "{fired r4471@6:59:50 | quick}. Both are complete, {result r4471@6:59:50} and "
        "{result r4471@6:59:50 | quick}. I look for the first busy task behind the last one that is backpressured.",
        more=(
            (
                "Which metrics show it?",
                (
                    "idleTimeMsPerSecond, busyTimeMsPerSecond and backPressuredTimeMsPerSecond. For each subtask "
                    "they add up to about {default full second}."
                ),
            ),
            (
                "The source is idle and not backpressured, and nothing comes out. And now?",
                "Then nothing blocks it. I look for a watermark that stands still.",
            ),
        ),
        flags=("Says that backpressure drops events.", "Raises the parallelism before knowing which task is busy."),
    ),
    Card(
        name="totals-too-low",
        level="senior",
        topic="diagnosis",
        lesson=15,
        scenario="leaderboard",
        jobs={
            "drop": {"late_to": "drop", "lateness": "0 ms"},
            "wide": {"late_to": "drop", "lateness": "0 ms", "bound": "30 min"},
        },
        ask="Finance says that your totals are too low. How do you go about it?",
        say="First I ask whether the results are not complete, or not yet complete. Then I look at "
        "numLateRecordsDropped. If it rises, the bound or the lateness is too small. In this job without lateness it "
        "says {dropped | drop}, and with a bound of {length bound | wide} it says {dropped | wide}. If it is zero, I "
        "look for a side output that nobody reads. This job as it is says {dropped}, and {late} event is in the side "
        "output. After that I compare the counts: what went in, what the windows took in, what the sink has. I "
        "change one thing at a time, and read the same number again.",
        more=(
            (
                "You raise the bound. What tells you that it was right?",
                "The counter stands still, and the results come later by the difference. Both, on the running job.",
            ),
            (
                "What if in and out agree, and they still complain?",
                "Then it is the meaning: another time zone, another field as event time, windows by another clock.",
            ),
        ),
        flags=("Changes several settings at once.", "Promises that no event will be lost."),
    ),
    Card(
        name="change-at-a-savepoint",
        level="mid",
        topic="operations",
        lesson=17,
        scenario="new-lateness",
        ask="You want a longer lateness in a job that runs. How, and what about open windows?",
        say="I stop the job with a savepoint, and start it from there with the new setting. The windows are kept. "
        "The lateness is part of the code, not of the savepoint, so it holds from then on. In this run the job has "
        "none at first. After the restart {amount r7@6:57} come late, at {arrival r7@6:57}. They still count: the "
        "total of {who r7@6:57} goes from {result r7@6:57 1} to {result r7@6:57 2}.",
        more=(
            (
                "What must stay the same for the state to be found?",
                (
                    "The uid of each operator. With a new one Flink refuses to start, or starts with empty windows "
                    "if told so."
                ),
            ),
            ("Can you change the bound the same way?", "Yes. The watermark is not in the savepoint."),
            (
                "Does the new lateness leave anything behind?",
                (
                    "Yes. The timer that deletes a window was set by the old code. A window that is open at the "
                    "savepoint, and gets no event after it, still fires. Then it keeps its state for good."
                ),
            ),
        ),
        flags=("Cancels the job and starts it anew.", "Has set no uids."),
    ),
    Card(
        name="what-to-alert-on",
        level="mid",
        topic="operations",
        lesson=17,
        scenario="quiet-partition",
        ask="What would you alert on in a job that works with event time?",
        say="On how far the window's watermark is behind the clock. That catches most of it. Here at the end the "
        "newest event is {at r4471@8:05}, and the watermark is {mark window}: {span mark window to at r4471@8:05} "
        "behind. Then on late records, dropped or in the side output. On checkpoints that fail or take long. And on "
        "restarts and backpressure. For each of them I would ask when it rings for nothing. The first one rings in a "
        "quiet night.",
        more=(
            (
                "Why not on the state of the job?",
                "It says RUNNING the whole time, also when nothing comes out.",
            ),
            (
                "And consumer lag?",
                "It is worth having, but it is zero when a partition is silent.",
            ),
        ),
        flags=("Alerts on CPU and memory only.",),
    ),
    Card(
        name="checkpoint-interval",
        level="senior",
        topic="operations",
        lesson=17,
        scenario="crash-and-replay",
        jobs={"rare": {"checkpoints": {"interval": "2 min"}}},
        ask="How often do you take checkpoints?",
        say="It is a trade. Often means less to read again after a crash, and earlier results in a transactional "
        "sink. It also means more work while all is well. Here the job crashes at {crashed}. With an interval of "
        "{length checkpoints} it reads {again} event again. With {length checkpoints | rare} there is no checkpoint "
        "yet, so it reads {again | rare} again, from the start. The total is right in both: {shows r4471@6:58:20} "
        "and {shows r4471@6:58:20 | rare}. I start from how long a checkpoint takes, and how long a restart may "
        "take.",
        more=(
            (
                "What is the pause between checkpoints for?",
                "It makes sure that some normal work is done between two of them, even if they take long.",
            ),
            (
                "What must Kafka do?",
                "Keep events for longer than the job can be down, and then some.",
            ),
        ),
        flags=("Names a number without a reason.", "Takes checkpoints so often that they never stop."),
    ),
    Card(
        name="design-the-leaderboard",
        level="senior",
        topic="operations",
        lesson=17,
        scenario="leaderboard",
        jobs={"server": Scenario.by_server_clock},
        ask="Design a leaderboard: each hour, who ran the most? Phones can be offline. Tell me how you handle time.",
        say="First, I count by event time. A kilometre of {at r4471@6:56} may arrive at {arrival r4471@6:56}, and by "
        "the server's clock it would count for {hour r4471@6:56 | server}. Second, watermarks: newest event minus a "
        "bound. An hour fires when the watermark reaches its last millisecond, here {last r4471@6:56}. Third, the "
        "bound. I take it from the measured disorder, here {length bound}, so first results come soon. Fourth, "
        "lateness of {length lateness} for the tail, and a side output for the rest. The sink overwrites totals, and "
        "the screen says provisional until watermark {gone r4471@6:56}. Fifth, a silent partition holds the minimum. "
        "I set an idle timeout, and I know that it is a bet. Sixth, checkpoints, so that state and offsets go back "
        "together. The sink overwrites, so a repeated result does no harm.",
        more=(
            (
                "Who has the lead after the first result, and who in the end?",
                (
                    "{who r9@6:21} has {result r9@6:21}. {who r4471@6:56} has {result r4471@6:56 1} at first, and "
                    "{result r4471@6:56 2} after the late kilometre. So the badge must wait for the final result."
                ),
            ),
            (
                "What do you watch in production?",
                "How far the watermark is behind the clock, late events, checkpoints, and the size of the side output.",
            ),
        ),
        flags=(
            "Starts with Kafka and the cluster, and never says by which time to count.",
            "Takes the bound out of the air.",
            "Promises that nothing is ever lost.",
        ),
    ),
)
