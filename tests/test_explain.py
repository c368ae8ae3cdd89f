"""Sentences: every kind of record has one, with the right numbers; the life of an event from arrival to sink."""

import re

import pytest

import wmviz
from tests.sums import check_sums
from wmviz.explain import SENTENCES
from wmviz.scenario import Scenario
from wmviz.trace import Kind

SLIDING = {"type": "sliding", "size": 10, "slide": 5}
TWO = [["a", 1, 5], ["a", 1, 12]]


@pytest.fixture(scope="module")
def leaderboard():
    return wmviz.simulate(wmviz.scenario("leaderboard"))


def sentences(trace, kind):
    return [trace.sentence(row.row) for row in trace if row.kind == kind]


def run(events, **fields):
    return wmviz.simulate(Scenario.of(events=events, **{"window": 10, **fields}))


class TestEveryKind:
    def test_has_a_sentence(self):
        assert set(SENTENCES) == set(Kind)

    def test_arrived(self, leaderboard):
        assert (
            leaderboard.sentence(leaderboard.rows_of["event", 10][0])
            == "r4471@6:56 (1,000 m) reaches the source at 7:09, 13 min after it happened."
        )
        assert "as it happens" in sentences(run([["a", 1, 5]]), Kind.ARRIVED)[0]
        assert "2 ms before it happened" in sentences(run([["a", 1, 5, 3]]), Kind.ARRIVED)[0]

    def test_watermark(self, leaderboard):
        told = sentences(leaderboard, Kind.WATERMARK)
        minus = "minus the bound of 2 min, minus 1 ms"
        assert f"The newest event time is 7:02; {minus}, the source sends watermark 6:59:59.999." in told
        assert "The watermark of the window operator is now 6:59:59.999: no event at or before it is expected." in told
        ascending = sentences(run([["a", 1, 5]], strategy="ascending"), Kind.WATERMARK)[0]
        assert ascending.startswith("The newest event time is 0:00:00.005; minus 1 ms")
        ended = sentences(run([["a", 1, 5]], end_of_input=9), Kind.WATERMARK)[-2:]
        assert all(told.startswith("The input has ended: ") for told in ended)

    def test_added(self, leaderboard):
        told = " ".join(sentences(leaderboard, Kind.ADDED))
        assert "r9@6:21 is on time: window [6:00, 7:00) of r9 now holds 1,200 m." in told
        assert (
            "r4471@6:56 is late: the last millisecond of its window [6:00, 7:00) is 6:59:59.999 and the watermark is "
            "7:02:59.999; the state lasts to 7:19:59.999 (6:59:59.999 + 20 min of lateness), so it still counts: "
            "window [6:00, 7:00) of r4471 now holds 3,000 m."
        ) in told
        assert "behind the watermark 0:00:00.004 but not late" in " ".join(
            sentences(run([["a", 1, 5], ["a", 1, 4, 6]]), Kind.ADDED)
        )

    def test_late_and_dropped(self, leaderboard):
        (late,) = sentences(leaderboard, Kind.LATE)
        assert late == (
            "r7@6:56 is too late: its window [6:00, 7:00) was deleted at watermark 7:19:59.999 "
            "(6:59:59.999 + 20 min of lateness), and the watermark is 7:19:59.999; it goes to the side output."
        )
        dropped = sentences(run([["a", 1, 25], ["a", 1, 4, 26]]), Kind.DROPPED)[0]
        assert dropped.endswith("it is dropped, and numLateRecordsDropped goes up by one.")
        both = sentences(run([["a", 1, 25], ["a", 1, 4, 26]], window=SLIDING), Kind.DROPPED)[0]
        assert "all its windows were deleted, the last one at watermark 0:00:00.009" in both

    def test_missed_and_no_window(self):
        told = sentences(run([["a", 1, 11], ["a", 1, 8, 12]], window=SLIDING), Kind.MISSED)
        missed = "a@0:00:00.008 is too late for window [0:00, 0:00:00.010), which was deleted at 0:00:00.009"
        assert told == [f"{missed}; its other windows have it, so nothing reports this."]
        gap = {"type": "sliding", "size": 3, "slide": 10}
        assert sentences(run([["a", 1, 5]], window=gap), Kind.NO_WINDOW) == [
            "a@0:00:00.005 falls between two windows and is ahead of the watermark: it vanishes uncounted."
        ]
        behind = sentences(run([["a", 1, 20], ["a", 1, 5, 21]], window=gap), Kind.DROPPED)
        assert behind[0].startswith("a@0:00:00.005 falls between two windows and is behind the watermark 0:00:00.019")

    def test_fired(self, leaderboard):
        told = sentences(leaderboard, Kind.FIRED)
        assert (
            "[6:00, 7:00) of r9 fires with 2,500 m from 2 events: "
            "the watermark has reached 6:59:59.999, its last millisecond."
        ) in told
        assert (
            "[6:00, 7:00) of r4471 fires again with 3,000 m from 3 events (firing 2): "
            "a late event came, and the watermark 7:02:59.999 is already past 6:59:59.999."
        ) in told
        jumped = sentences(run([["a", 1, 5], ["a", 1, 500]]), Kind.FIRED)[0]
        assert "the watermark is 0:00:00.499, past 0:00:00.009, its last millisecond" in jumped

    @pytest.mark.parametrize(
        ("fields", "why"),
        [
            ({"window": {"size": 10, "trigger": "count:1"}}, "the count trigger 1 is reached"),
            ({"window": {"size": 10, "time": "processing"}}, "the server's clock has reached its end, 0:00:00.010"),
            ({"window": {"type": "global", "trigger": "end_of_stream"}, "end_of_input": 9}, "the input has ended"),
        ],
    )
    def test_fired_for_another_reason(self, fields, why):
        assert sentences(run([["a", 1, 5]], **fields), Kind.FIRED)[0].endswith(f"{why}.")

    def test_purged_cleaned_and_written(self, leaderboard):
        purged = run([["a", 1, 5], ["a", 1, 25]], window={"size": 10, "trigger": "purging_event_time"})
        assert sentences(purged, Kind.PURGED) == [
            "The purging trigger empties [0:00, 0:00:00.010) of a: the next firing starts from nothing."
        ]
        assert (
            "The state of [6:00, 7:00) of r9 is deleted: the watermark is 7:19:59.999 and the state lasts to "
            "7:19:59.999 (6:59:59.999 + 20 min of lateness)."
        ) in sentences(leaderboard, Kind.CLEANED)
        written = sentences(leaderboard, Kind.WRITTEN)
        assert "The sink's row for r4471 and [6:00, 7:00) is written: 2,000 m." in written
        assert "The sink's row for r4471 and [6:00, 7:00) is overwritten: 2,000 m becomes 3,000 m." in written
        assert sentences(run([["a", 1, 5], ["a", 1, 25]], sink="append"), Kind.WRITTEN) == [
            "A new row for a and [0:00, 0:00:00.010) is appended: 1."
        ]

    def test_ended(self):
        assert sentences(run([["a", 1, 5]], end_of_input=9), Kind.ENDED) == [
            "The input ends at 0:00:00.009: the source sends a last watermark, MAX."
        ]


class TestLives:
    def test_the_kilometre_that_was_13_minutes_late(self, leaderboard):
        life = leaderboard.explain("r4471@6:56")
        assert len(life) == 4
        assert life[0].startswith("7:09: r4471@6:56 (1,000 m) reaches the source")
        assert life[1].startswith("7:09: r4471@6:56 is late")
        assert life[2].startswith("7:09: [6:00, 7:00) of r4471 fires again with 3,000 m")
        assert life[3] == "At the end, the sink counts r4471@6:56 once; 1 firing had it."
        assert str(life).splitlines() == list(life)

    def test_one_that_went_to_the_side_output_is_in_no_result(self, leaderboard):
        assert leaderboard.explain("r7@6:56")[-1] == "At the end, no result counts r7@6:56."

    def test_one_that_two_firings_had_is_counted_once_by_an_upsert_sink_and_twice_by_an_append_sink(self, leaderboard):
        assert leaderboard.explain("r4471@6:30")[-1] == "At the end, the sink counts r4471@6:30 once; 2 firings had it."
        append = wmviz.simulate(wmviz.scenario("leaderboard").replace(sink="append"))
        assert append.explain("r4471@6:30")[-1].startswith(
            "At the end, the sink counts r4471@6:30 twice: an append sink"
        )

    def test_text_of_users_is_escaped_in_html(self):
        life = run([["<b>&", 1, 5]]).explain("<b>&@0:00:00.005")
        assert "<b>" not in life._repr_html_()
        assert "&lt;b&gt;&amp;@0:00:00.005" in life._repr_html_()

    def test_times_are_in_the_zone_of_the_scenario(self):
        trace = wmviz.simulate(wmviz.scenario("half-hour-zone"))
        assert "[2026-10-17 06:30, 2026-10-17 07:30)" in " ".join(sentences(trace, Kind.FIRED))


@pytest.mark.parametrize("name", [name for name in wmviz.scenarios() if name != "busy-saturday"])
def test_every_sentence_of_the_catalogue_is_one_sentence_and_its_sums_are_right(name):
    trace = wmviz.simulate(wmviz.scenario(name))
    for row in range(len(trace)):
        told = trace.sentence(row)
        assert re.fullmatch(r"[^\n]+\.", told)
        check_sums(told)


SILENT = {"emission": "interval", "interval": 10, "idle_timeout": 20, "partitions": 2}


def test_when_every_input_is_idle_the_highest_watermark_counts_and_max_is_lost():
    said = sentences(run([["x", 1, 5, 0, 0], ["x", 1, 9, 0, 1]], **SILENT, end_of_input=200), Kind.WATERMARK)
    assert any(
        "is now 0:00:00.004, the lowest that counts: partition 0 0:00:00.004, partition 1" in one for one in said
    )
    assert any("is now 0:00:00.008, the highest of all, since every one is idle" in one for one in said)
    (ended,) = sentences(run([["x", 1, 5, 0, 0]], **SILENT, end_of_input=200), Kind.ENDED)
    assert ended == "The input ends at 0:00:00.200: the source is idle, so its last watermark, MAX, is lost on the way."


def test_each_source_ends_by_its_name():
    ended = sentences(run([["x", 1, 5, 0]], subtasks=2, end_of_input=20), Kind.ENDED)
    assert ended == [f"The input ends at 0:00:00.020: source[{n}] sends a last watermark, MAX." for n in (0, 1)]


def test_a_source_without_a_strategy_is_not_said_to_have_had_no_event():
    said = sentences(run([["x", 1, at, at] for at in range(100)], **SILENT, strategy="none"), Kind.STATUS)
    assert "The source has sent no watermark for more than 20 ms, whatever events came: it counts as idle." in said


def test_an_event_in_a_gap_within_the_lateness_is_not_said_to_be_ahead_of_the_watermark():
    gaps = {"type": "sliding", "size": 5, "slide": 10}
    said = sentences(run([["x", 1, 8, 0], ["x", 1, 12, 1], ["x", 1, 7, 2]], window=gaps, lateness=9), Kind.NO_WINDOW)
    assert [one.partition("two windows and ")[2] for one in said] == [
        "is ahead of the watermark: it vanishes uncounted.",
        "is behind the watermark 0:00:00.011, but by no more than the allowed lateness: it vanishes uncounted.",
    ]


def test_the_global_window_begins_a_sentence_like_any_other():
    (said,) = sentences(run([["x", 7, 8, 0]], window={"type": "global", "trigger": "count:1"}), Kind.FIRED)
    assert said.startswith("The global window of x fires with 7 from 1 event: ")


def test_the_global_window_takes_events_in():
    (said,) = sentences(run([["x", 7, 8, 0]], window={"type": "global"}), Kind.ADDED)
    assert said == "x@0:00:00.008 is taken in: the global window of x now holds 7."


def test_an_event_that_a_firing_holds_twice_is_counted_twice():
    story = wmviz.simulate(wmviz.scenario("at-least-once")).explain("r9@6:59:55")
    assert list(story)[-1] == "At the end, the sink counts r9@6:59:55 twice; 1 firing had it."


class TestRunningJob:
    def test_after_a_savepoint_the_next_checkpoint_commits_unless_the_job_stops(self):
        job = {"sink": "transactional", "checkpoints": 20, "end_of_input": 90}
        saved = run(TWO, **job, happenings=[{"what": "savepoint", "at": 15}])
        first = sentences(saved, Kind.TRANSACTION)[1]
        assert first == (
            "The barrier of savepoint 1 ends transaction 0: it is committed with the next checkpoint, or with the "
            "savepoint if the job stops with it."
        )
        usual = sentences(run(TWO, **job), Kind.TRANSACTION)[1]
        assert usual == "The barrier ends transaction 0: it is committed when the checkpoint is complete."

    def test_without_checkpoints_the_end_of_the_input_commits(self):
        told = sentences(run(TWO, sink="transactional", end_of_input=90), Kind.TRANSACTION)
        assert told[1:] == [
            "The end of the input ends transaction 0: it is committed at once.",
            "Transaction 0 is committed: every reader sees its results.",
        ]
        crashed = run(TWO, sink="transactional", happenings=[{"what": "crash", "at": 15}])
        assert "Transaction 0 is aborted, since no checkpoint has it: its results never count." in sentences(
            crashed, Kind.TRANSACTION
        )

    def test_the_broker_s_timeout_is_a_duration(self):
        job = {"sink": "transactional", "transaction_timeout": "11 s", "checkpoints": "20 s", "window": "1 s"}
        told = sentences(run([["a", 1, 0], ["a", 1, 2000], ["a", 1, 4000]], **job), Kind.CRASHED)
        assert told[0].startswith(
            "The job crashes: the broker has aborted its open transaction after 11 s, before a checkpoint ended it; "
        )

    def test_what_a_crash_resets_is_not_active_or_running_again(self):
        idle = run(
            [["a", 1, 5, 5, 0], ["a", 1, 400, 400, 1]],
            idle_timeout=20,
            interval=10,
            happenings=[{"what": "crash", "at": 500, "down": 10}],
        )
        told = sentences(idle, Kind.STATUS)
        assert "Partition 0 is back at the start with its task: it counts as active." in told
        assert "Partition 0 is active again." not in told
        full = run(
            [["a", 1, ms, ms] for ms in range(5)],
            work="1 s",
            channel_capacity=1,
            happenings=[{"what": "crash", "at": 500, "down": 10}],
        )
        assert "The source is back at the start with its task: no channel of it is full." in sentences(
            full, Kind.BACKPRESSURED
        )

    def test_two_inputs_are_called_inputs(self):
        fields = {"subtasks": 2, "partitions": 2, "idle_timeout": 20, "interval": 10}
        events = [["a", 1, 5, 5, 0], ["a", 1, 5, 5, 1]]
        for inputs, word in ((1, "channel"), (2, "input")):
            told = sentences(run(events, **fields, inputs=inputs), Kind.STATUS)
            assert any(text.startswith(f"Every {word} of the window operator is idle") for text in told)


def test_an_event_that_alignment_keeps_unread_is_told_so():
    full = wmviz.scenario("watermark-alignment")
    quiet = full.replace(events=[e for e in full.events if e.partition == 0 or e.arrival_time_ms < 25_203_000])
    last = quiet.events[-1]
    assert str(wmviz.simulate(quiet).explain(last.id)) == (
        f"The source has not read {last.id} by the end of this run: watermark alignment still lets source[0] wait, "
        "which is too far ahead."
    )
