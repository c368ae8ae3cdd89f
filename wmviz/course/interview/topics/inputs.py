"""Cards about several inputs: the minimum, idleness, watermark alignment."""

from __future__ import annotations

from typing import Any

from wmviz.course.interview.card import InterviewCard as Card
from wmviz.scenario import Scenario
from wmviz.times import time_ms


def _longer(s: Scenario, **changes: Any) -> Scenario:
    """Let both inputs go on at their pace: one sends a minute of event time each second, the other every 2 s."""
    start_ms, first_ms = s.grid_start_ms, time_ms("6:50")
    fast = [["r4471", 1000, first_ms + i * 60_000, start_ms + 100 + i * 1_000, 0] for i in range(24)]
    slow = [["r9", 1000, first_ms + i * 60_000, start_ms + 200 + i * 2_000, 1] for i in range(12)]
    return s.replace(events=sorted([*fast, *slow], key=lambda row: int(row[3])), **changes)


def _rules(s: Scenario, **changes: Any) -> Scenario:
    """Let nothing come from input 1, as from a stream of rules that hardly ever change."""
    rows = [[e.key, e.value, e.event_time_ms, e.arrival_time_ms, 0] for e in s.events if e.partition == 0]
    return s.replace(events=rows, **changes)


def _ended(s: Scenario) -> Scenario:
    """Let input 1 send the highest watermark at once, as when it has come to its end."""
    return _rules(s, idle_timeout="1 s", happenings=[{"what": "finish", "partition": 1, "at": "7:00:00.050"}])


CARDS = (
    Card(
        name="the-minimum",
        level="junior",
        topic="many inputs",
        lesson=6,
        scenario="quiet-partition",
        ask="A source reads several partitions. What is the watermark behind it?",
        say="The lowest of them. Here one partition is at {mark partition 0}, the other at {mark partition 1}. The "
        "window operator has {mark window}. It has to be the lowest, because the slow partition may still send "
        "events of that time, and nobody wants to lose them.",
        more=(
            ("Where else is the minimum taken?", "Wherever streams meet: behind keyBy, union, connect, and joins."),
            (
                "How does a watermark get through the job?",
                (
                    "A task takes the lowest of its inputs, calls its timers, and only then sends the watermark on, to "
                    "all tasks behind it. So results are in front of the watermark that they waited for."
                ),
            ),
            (
                "What if one of them stops for good?",
                (
                    "Then the minimum stands still, and no window fires. It needs an idle timeout, or the input has "
                    "to end."
                ),
            ),
        ),
        flags=("Says that it is the newest or the average.",),
    ),
    Card(
        name="spare-subtask",
        level="mid",
        topic="many inputs",
        lesson=6,
        scenario="spare-subtask",
        jobs={"one": {"subtasks": 1}, "bound": {"bound": "0 s"}},
        ask="A topic with {number partitions} partition, a source with parallelism {number subtasks}. Events come "
        "in, and no window ever fires. Why?",
        say="One subtask has no partition. It never sends a watermark, so its channel stays at the start, "
        "{mark source[1]}. The other one is at {mark source[0]}. The window operator takes the minimum, and that is "
        "{mark window}. With {number subtasks | one} subtask there are {results | one} results. A smaller bound does "
        "not help: it gives {results | bound}.",
        more=(
            ("What else would mend it?", "An idle timeout. Then the subtask without a partition is not waited for."),
            (
                "A job is too slow. You rescale it to more subtasks than partitions. And then?",
                (
                    "The source has subtasks without a partition, and no window fires any more. I leave the source "
                    "as it is, and rescale what is behind it."
                ),
            ),
            (
                "How do you see it on a running job?",
                "The source's currentOutputWatermark, by subtask. One of them has the lowest possible number.",
            ),
        ),
        flags=("Reaches for the bound or the lateness.", "Says that too few events have come."),
    ),
    Card(
        name="on-the-source-or-behind",
        level="senior",
        topic="many inputs",
        lesson=6,
        scenario="sql-pushed-down",
        jobs={"on": {"api": "datastream"}, "behind": {"api": "datastream", "strategy_at": "after"}},
        ask="Does it matter whether the watermark strategy is on the source or behind it?",
        say="Yes. On the source each partition has a watermark of its own, and the source sends the minimum. A slow "
        "partition is waited for. Behind the source the partitions are one stream already. The fast one moves the "
        "watermark, and the slow one is late. Take this job in the DataStream API. On the source {dropped | on} "
        "events are dropped. Behind it {dropped | behind} are, and both are of the slow partition.",
        more=(
            (
                "What else do you lose behind the source?",
                (
                    "Watermark alignment, because only the source can stop reading. And a timeout for idleness then "
                    "sees the task as a whole, and no single partition."
                ),
            ),
            (
                "Why would anybody put it behind?",
                "The time may be known only after parsing. And in PyFlink an assigner in Python works there only.",
            ),
        ),
        flags=("Says that it is a matter of taste.", "Does not know that order holds only within a partition."),
    ),
    Card(
        name="rules-that-are-silent",
        level="mid",
        topic="many inputs",
        lesson=6,
        scenario="two-inputs",
        jobs={"silent": lambda s: _rules(s, idle_timeout=None), "idle": _rules, "highest": _ended},
        ask="You connect a stream of rules to your events, by broadcast. From then on no window fires. Why?",
        say="The operator that has both takes the lower watermark, and all that is behind it gets that one. Rules "
        "come seldom, or they have no event time, so their watermark stands still. In this run the events are at "
        "{mark source[0] | silent}, the rules at {mark source[1] | silent}, and the operator has "
        "{mark window | silent}. There are {results | silent} results. With an idle timeout of "
        "{length timeout | idle} the rules are not waited for. Then the operator has {mark window | idle}, and "
        "there is {results | idle} result.",
        more=(
            (
                "The rules have no times. Why not give them the highest watermark?",
                (
                    "Because an idle timeout of the events then becomes a danger. When they go idle, the highest one "
                    "is all that is left, and event time is over. In a run like this the event of "
                    "{at r4471@7:20 | highest} meets {met r4471@7:20 | highest}, and it {fate r4471@7:20 | highest}."
                ),
            ),
            (
                "Is a rule there before the events that it is for?",
                "Nobody promises that. If it matters, the function keeps events in state until the rule has come.",
            ),
        ),
        flags=("Looks only at the stream of events.", "Sets an idle timeout on the events, and not on the rules."),
    ),
    Card(
        name="join-by-time",
        level="senior",
        topic="many inputs",
        lesson=13,
        scenario="two-inputs",
        ask="You join two streams by time. Window join or interval join? And how do they handle time?",
        say="A window join pairs the events of one window, when that window fires. An interval join pairs events "
        "that are near in time, such as a payment up to an hour after its order. It gives each pair at once. I take "
        "it if a pair may lie across the border of a window. Both go by the lower watermark of their inputs. In "
        "this run one input is at {mark source[0] when r9@7:10}, the other at {mark source[1] when r9@7:10}, and the "
        "operator behind both has {mark window when r9@7:10}. So the slow input decides when state is deleted, and "
        "the fast one fills it.",
        more=(
            (
                "What becomes of a late event?",
                (
                    "The interval join of Java refuses what is older than the watermark, and no counter shows it. A "
                    "side output can. In SQL it still pairs a late row with what it has kept. A window join takes "
                    "it within the lateness, and gives all pairs of that window again."
                ),
            ),
            (
                "And a regular join in SQL?",
                (
                    "It looks at no watermark. It keeps the rows of both sides for ever, unless a TTL is set. Its "
                    "result is a changelog, and the time attribute is lost."
                ),
            ),
            (
                "Windows behind an interval join of SQL come later. Why?",
                "It holds the watermark back by the larger of its bounds, because its rows may be that old.",
            ),
        ),
        flags=("Does not ask how long state has to be kept.", "Takes a regular join, and lets the state grow."),
    ),
    Card(
        name="quiet-partition",
        level="junior",
        topic="idle inputs",
        lesson=7,
        scenario="quiet-partition",
        jobs={"timeout": {"idle_timeout": "1 min"}},
        ask="At night one Kafka partition gets no events, and no results come out. Why, and what do you do?",
        say="The watermark of that partition stands still at {mark partition 1}. The window operator takes the "
        "minimum, so it stands there, too. There are {results} results. I set an idle timeout with withIdleness. Say "
        "it is {length timeout | timeout}. A partition that is silent for that long is not waited for, and there are "
        "{results | timeout} results.",
        more=(
            (
                "What does it cost?",
                "It is a bet. If the partition comes back with old events, they may be late.",
            ),
            (
                "How is the time of silence measured?",
                "By the server's clock, in the source. Event time cannot tell that nothing comes.",
            ),
        ),
        flags=("Restarts the job.", "Switches to processing time."),
    ),
    Card(
        name="the-bet",
        level="mid",
        topic="idle inputs",
        lesson=7,
        scenario="idle-bet",
        jobs={"patient": {"idle_timeout": None}},
        ask="What is the danger of an idle timeout?",
        say="That the input was only slow. Here one input sends every few seconds, and the timeout is "
        "{length timeout}. It is taken for idle, the other one moves on, and the hour fires. When the slow one sends "
        "{at r9@6:02}, the watermark is {met r9@6:02}. So that kilometre {fate r9@6:02}, and so do those behind it: "
        "{late} in all. Without the timeout {late | patient} are late. But then there are {results | patient} "
        "results, and {results} with it. The timeout has to be longer than a usual pause.",
        more=(
            (
                "How do you choose it?",
                (
                    "From the pauses of each partition, measured. Above the usual ones, and below what the users "
                    "will wait."
                ),
            ),
            (
                "Is there a way without the bet?",
                "Let the producers send heartbeats: events that only carry the time.",
            ),
        ),
        flags=("Sets it everywhere, and knows no pauses.", "Believes that a partition that comes back is waited for."),
    ),
    Card(
        name="all-are-idle",
        level="mid",
        topic="idle inputs",
        lesson=7,
        scenario="all-idle",
        ask="Every input is idle, and there is an idle timeout. Does the last window fire?",
        say="No. Idle means: do not wait for this one. If nobody is left, there is no minimum to go by, and the "
        "watermark stands still. Here the timeout is {length timeout}. The watermark goes up to {mark window}, the "
        "highest of the inputs, and stays. (In a source, older versions did not go up to it.) The window "
        "{hour r4471@7:05} {times r4471@7:05}. It waits for the next "
        "event.",
        more=(
            (
                "How do you get the last window out?",
                (
                    "Heartbeats, or a generator that moves on with the server's clock when nothing comes. The second "
                    "one is a bet again."
                ),
            ),
            (
                "And in a test?",
                "Let the source end. Its last watermark fires all.",
            ),
        ),
        flags=("Says that the timeout moves the watermark on.",),
    ),
    Card(
        name="back-from-idle",
        level="senior",
        topic="idle inputs",
        lesson=7,
        scenario="return-from-idle-channel",
        jobs={"partition": "return-from-idle-partition"},
        ask="An idle input is back, but it is behind. Does it hold the watermark again?",
        say="It depends on where it comes in. If it is a channel from another subtask, it is left out until it has "
        "caught up. At {arrival r4471@7:20} the window operator moves on to {mark window when r4471@7:20}. If it is "
        "a partition in the same subtask, it counts at once. Then the watermark stays at "
        "{mark window when r4471@7:20 | partition}. It never goes back, so the old event of {at r9@6:55} "
        "{fate r9@6:55}. In the second case it {fate r9@6:55 | partition}, too.",
        more=(
            (
                "Which class does the first?",
                (
                    "StatusWatermarkValve, in front of each input. Partitions in a source subtask and the two inputs "
                    "of a join are combined by another class, and there it holds the watermark."
                ),
            ),
            (
                "Does holding the watermark help?",
                "Not the events whose window has fired. It helps those whose window is still open.",
            ),
        ),
        flags=("Says that the watermark goes back.", "Gives one answer for both cases without asking which one."),
    ),
    Card(
        name="what-alignment-is-for",
        level="junior",
        topic="alignment",
        lesson=8,
        scenario="watermark-alignment",
        jobs={"longer": _longer, "free": lambda s: _longer(s, alignment=None)},
        ask="What is watermark alignment for?",
        say="For a source that runs far ahead of another one. The windows have to keep what the fast one sends until "
        "the slow one is there, so the state grows. With alignment the fast one stops reading when it is too far "
        "ahead. Here it may be {length drift} ahead. It first waits at {paused}. I let this run go on for a while. "
        "At {arrival r9@6:57 | longer} the slow one is at {mark source[1] when r9@6:57 | longer}. The fast one is at "
        "{mark source[0] when r9@6:57 | longer}, and without alignment it is at "
        "{mark source[0] when r9@6:57 | free}.",
        more=(
            (
                "Does it make results earlier?",
                "No. The slow one decides when windows fire, with and without alignment.",
            ),
            (
                "When do you see such a difference?",
                "In a catch-up after a stop. One partition has little to read, another one a lot.",
            ),
        ),
        flags=("Mixes it up with the alignment of barriers.", "Says that it brings results earlier."),
    ),
    Card(
        name="alignment-behind-the-source",
        level="mid",
        topic="alignment",
        lesson=8,
        scenario="alignment-after-source",
        jobs={
            "longer": _longer,
            "free": lambda s: _longer(s, alignment=None),
            "source": lambda s: _longer(s, strategy_at="source"),
        },
        ask="You set alignment in a strategy behind the source. What happens?",
        say="Nothing, and no warning says so. Only the source can stop reading. What stands behind it gets the "
        "events, whether it likes them or not. I let this job run for a while. At {arrival r9@6:57 | longer} the "
        "fast one is at {mark source[0] when r9@6:57 | longer}. Without alignment it is at "
        "{mark source[0] when r9@6:57 | free}, the same. With the settings on the source it is at "
        "{mark source[0] when r9@6:57 | source}.",
        more=(
            (
                "Why does that matter in PyFlink?",
                "An assigner written in Python has to stand behind the source. So there is no alignment with it.",
            ),
            (
                "What would you do then?",
                (
                    "Let the producer set the time of the Kafka record, and use that on the source. Or write that "
                    "part in Java."
                ),
            ),
        ),
        flags=("Trusts a setting because there was no error.",),
    ),
    Card(
        name="drift-is-no-hard-limit",
        level="senior",
        topic="alignment",
        lesson=8,
        scenario="watermark-alignment",
        jobs={"longer": _longer, "free": lambda s: _longer(s, alignment=None)},
        ask="The allowed drift is {length drift}. Can you rely on it as a limit?",
        say="No. The coordinator announces a limit once in a while, from samples of the watermarks. A source counts "
        "as ahead when all of the last {default samples} samples say so. So the fast one gets further than that. And "
        "when it may go on, it reads what has waited. In a run of some seconds its lead gets to "
        "{lead source[0] of source[1] | longer}, and to {lead source[0] of source[1] | free} without alignment. So "
        "alignment keeps the state smaller, but the drift is not the limit. And it makes no result earlier. The hour "
        "fires at {fired r4471@6:50 | longer} with it, and at {fired r4471@6:50 | free} without.",
        more=(
            (
                "What can make alignment stop the whole group?",
                "A member that is silent and has no idle timeout. Its watermark stands still, and all wait for it.",
            ),
            (
                "What about checkpoints while a source waits?",
                "They go on. A source that waits still sends barriers.",
            ),
        ),
        flags=("Calculates the state from the drift alone.",),
    ),
)
