"""The scenarios of running jobs: each shows what its line promises, to the millisecond."""

import pytest

import wmviz
from wmviz.times import MIN_MS, time_ms
from wmviz.trace import CheckpointPhase, Kind, Status, TransactionPhase


def run(name, **changes):
    return wmviz.simulate(wmviz.scenario(name).replace(**changes))


def at_6(trace):
    return {key: value for (key, start, _), value in trace.totals.items() if start == time_ms("6:00")}


def times(trace, kind, value=None):
    return [r.at_ms for r in trace if r.kind == kind and value in (None, r.value)]


def state_at(trace, time):
    """The state after the last step up to a time."""
    ms = time_ms(time)
    return trace.state(max(step for step in range(trace.steps) if trace.step_at_ms[step] <= ms))


class TestCrashAndRestore:
    def test_a_replay_overwrites_the_full_total(self):
        trace = run("restore-overwrites-total")
        assert at_6(trace) == {"r4471": 500}
        assert [(f.nth, f.value) for f in trace.all_firings if f.key == "r4471"] == [(1, 3000), (2, 500)]
        assert trace.outcomes().late == {"r4471@6:58"}  # before the crash it was too late
        assert at_6(run("restore-overwrites-total", happenings=[])) == {"r4471": 3000}

    def test_nothing_is_overwritten_if_the_watermark_regains_the_cleanup_time_first(self):
        # The checkpoint at 7:19 is before r9's kilometre of 7:23, so that is read again first and raises the watermark.
        assert at_6(run("restore-overwrites-total", checkpoints={"first": "55 min"})) == {"r4471": 3000}

    def test_offsets_and_state_go_back_together(self):
        trace, undisturbed = run("crash-and-replay"), run("crash-and-replay", happenings=[])
        assert trace.totals == undisturbed.totals
        assert at_6(trace)["r4471"] == 11_200
        rewound = [r.subject.id for r in trace if r.kind == Kind.REWOUND]
        assert rewound == ["r4471@6:59"]
        assert state_at(trace, "6:59:30").is_running is False
        assert state_at(trace, "6:59:40").watermarks["window"] > MIN_MS  # what was read again has raised it

    def test_a_list_counts_twice_and_a_socket_loses(self):
        assert at_6(run("list-starts-again")) == {"r4471": 20_600, "r9": 2000}
        assert at_6(run("socket-loses-events")) == {"r4471": 9400, "r9": 1000}
        assert run("socket-loses-events").ledger().lost == 2
        assert dict(run("list-starts-again").ledger().seen) == {0: 1, 1: 2, 2: 2}

    def test_a_savepoint_is_no_checkpoint(self):
        trace = run("savepoint")
        restored = [r for r in trace if r.kind == Kind.RESTORED]
        assert [r.value for r in restored] == [1]
        assert [c.savepoint for c in trace.checkpoints][:3] == [False, True, False]
        assert [r.subject.id for r in trace if r.kind == Kind.REWOUND] == ["r9@6:59"]

    def test_a_new_lateness_corrects_and_leaves_behind_what_gets_no_event(self):
        trace = run("new-lateness")
        assert at_6(trace) == {"r4471": 3000, "r9": 1300, "r7": 1500}
        last = trace.state(trace.steps - 1)
        assert [(w.key, w.value) for w in last.windows if w.window.start_ms == time_ms("6:00")] == [("r9", 1300)]
        assert last.watermarks["window"] > time_ms("7:19:59.999")
        old = run("new-lateness", happenings=[{"what": "stop", "at": "7:02", "down": "1 min"}])
        assert at_6(old)["r7"] == 1000


class TestBarriers:
    def test_aligned_a_channel_is_blocked_and_its_next_event_waits(self):
        trace = run("barrier-alignment")
        blocked = [
            (r.at_ms, r.subject, r.value) for r in trace if r.kind == Kind.BLOCKED and r.at_ms < time_ms("7:00:20")
        ]
        first, second = "source[1] → window", "source[0] → window"
        assert blocked[0] == (time_ms("7:00:04"), first, 1)
        assert blocked[-1] == (time_ms("7:00:06"), first, 0)
        assert {name for _, name, _ in blocked} == {first, second}
        waiting = state_at(trace, "7:00:05").channels[first]
        assert waiting.blocked_by == 1
        assert [trace.subject_of(row).id for row in waiting.waiting if trace.kind[row] == Kind.ARRIVED] == [
            "r9@6:59:55"
        ]

    def test_unaligned_nothing_is_blocked_and_what_waited_is_stored(self):
        trace = run("unaligned-barriers")
        assert not [r for r in trace if r.kind == Kind.BLOCKED and r.value]
        stored = next(r for r in trace if r.kind == Kind.STORED)
        rows = [row for rows in trace.details[stored.row].values() for row in rows]
        assert [trace.subject_of(row).id for row in rows if trace.kind[row] == Kind.ARRIVED] == [
            "r7@6:59:52",
            "r4471@6:59:53",
            "r7@6:59:54",
        ]
        assert stored.at_ms == time_ms("7:00:03")
        assert trace.totals == run("barrier-alignment").totals

    def test_after_the_timeout_the_waiting_barrier_overtakes(self):
        trace = run("alignment-timeout")
        assert times(trace, Kind.STORED)[0] == time_ms("7:00:05")
        assert times(run("alignment-timeout", checkpoints={"alignment_timeout": "1 min"}), Kind.STORED) == []

    def test_at_least_once_counts_twice_what_was_between_the_barriers(self):
        trace = run("at-least-once")
        assert at_6(trace)["r9"] == at_6(run("at-least-once", happenings=[]))["r9"] + 1000
        assert at_6(run("at-least-once", checkpoints={"mode": "aligned"})) == at_6(run("barrier-alignment"))


class TestSinks:
    def test_a_crash_before_the_checkpoint_writes_twice(self):
        assert at_6(run("written-twice")) == {"r9": [1200, 1200], "r4471": [2000, 2000, 3000]}

    def test_a_reader_of_committed_results_sees_each_once_and_later(self):
        trace = run("transactional-sink")
        assert at_6(trace) == {"r9": [1200], "r4471": [2000, 3000]}
        assert times(trace, Kind.COMMITTED)[0] == time_ms("7:02:17")
        before = state_at(trace, "7:02:16")
        assert before.sink == ()
        assert [value for _, _, value in before.uncommitted] == [2000, 2000, 1200, 1200]
        assert times(trace, Kind.TRANSACTION, TransactionPhase.ABORTED) == [time_ms("7:02:15")]

    def test_a_restart_longer_than_the_timeout_loses_the_results(self):
        trace = run("transaction-timeout")
        assert trace.totals == {}
        assert times(trace, Kind.TRANSACTION, TransactionPhase.LOST) == [time_ms("7:07:41")]
        assert dict(trace.ledger().seen) == {0: 6}
        assert at_6(run("transaction-timeout", transaction_timeout="15 min")) == {"r9": [1200], "r4471": [2000, 3000]}

    def test_without_checkpoints_nothing_is_committed_before_the_end_of_the_input(self):
        without = {"checkpoints": None, "happenings": []}
        assert run("transactional-sink", **without).totals == {}
        ended = run("transactional-sink", **without, end_of_input="7:06")
        assert at_6(ended) == {"r9": [1200], "r4471": [2000, 3000]}
        assert {r.at_ms for r in ended if r.kind == Kind.COMMITTED} == {time_ms("7:06")}


class TestWaiting:
    def test_a_finished_source_is_not_made_to_wait(self):
        finish = [{"what": "finish", "partition": 0, "at": "7:00:08.500"}]
        assert times(run("watermark-alignment", happenings=finish), Kind.PAUSED) == []

    def test_under_backpressure_results_are_late_and_complete(self):
        trace, quick = run("backpressure"), run("backpressure", work=0, channel_capacity=0)
        assert trace.totals == quick.totals == {("r4471", time_ms("6:00"), time_ms("7:00")): 8000}
        assert [t.all_firings[0].at_ms for t in (trace, quick)] == [time_ms("7:00:09"), time_ms("7:00:02")]
        assert times(trace, Kind.BACKPRESSURED, 1)

    def test_backpressure_does_not_make_a_source_idle(self):
        trace = run("busy-is-not-idle")
        pressure = [(r.at_ms, r.value) for r in trace if r.kind == Kind.BACKPRESSURED and r.subject == "source[0]"]
        assert pressure[:2] == [(time_ms("7:00:00.300"), 1), (time_ms("7:00:06"), 0)]
        idle = {r.subject: r.at_ms for r in trace if r.kind == Kind.STATUS and r.value == Status.IDLE}
        assert idle["source[0]"] == time_ms("7:00:19.500")
        assert trace.scenario.idle_timeout_ms == 3000

    def test_the_fast_source_waits_for_the_slow_one(self):
        trace = run("watermark-alignment")
        paused = [(r.at_ms, r.value) for r in trace if r.kind == Kind.PAUSED]
        assert paused == [
            (time_ms("7:00:09"), 1),
            (time_ms("7:00:09"), 0),
            (time_ms("7:00:10"), 1),
            (time_ms("7:00:13"), 0),
        ]

    def test_after_the_source_alignment_does_nothing(self):
        trace, without = run("alignment-after-source"), run("alignment-after-source", alignment=None)
        assert times(trace, Kind.PAUSED) == times(trace, Kind.ALLOWED) == []
        assert [trace.sentence(row) for row in range(len(trace))] == [
            without.sentence(row) for row in range(len(without))
        ]

    def test_what_a_cut_off_partition_held_back_is_late(self):
        trace = run("silent-partition")
        assert trace.outcomes().late == {"r9@6:57"}
        arrived = {r.subject.id: r.at_ms for r in trace if r.kind == Kind.ARRIVED}
        assert arrived["r9@6:57"] == arrived["r9@7:06"] == time_ms("7:00:10")
        assert run("silent-partition", happenings=[]).outcomes().late == frozenset()


class TestInputs:
    def test_an_input_that_is_back_from_idle_behind_holds_the_clock(self):
        trace = run("two-inputs")
        assert trace.outcomes().late == {"r9@6:55"}
        assert state_at(trace, "7:00:08").watermarks["window"] == time_ms("7:04:59.999")
        assert state_at(trace, "7:00:09").watermarks["window"] == time_ms("7:09:59.999")
        assert state_at(run("two-inputs", inputs=1), "7:00:08").watermarks["window"] == time_ms("7:19:59.999")

    def test_back_from_idle_a_channel_is_left_out_and_a_partition_holds_the_clock(self):
        channel, partition = run("return-from-idle-channel"), run("return-from-idle-partition")
        assert channel.outcomes().late == partition.outcomes().late == {"r9@6:55", "r9@6:58"}
        assert state_at(channel, "7:00:08").statuses["source[1] → window"] == Status.LEFT_OUT
        assert state_at(channel, "7:00:08").watermarks["window"] == time_ms("7:19:59.999")
        assert state_at(partition, "7:00:08").watermarks["window"] == time_ms("7:04:59.999")

    def test_when_all_are_idle_the_highest_watermark_goes_through_and_time_stands_still(self):
        trace = run("all-idle")
        last = trace.state(trace.steps - 1)
        assert last.watermarks["window"] == time_ms("7:04:59.999")
        assert last.statuses["window"] == Status.IDLE
        assert at_6(trace) == {"r4471": 1000, "r9": 2000}
        assert {w.key for w in last.windows} == {"r4471"}

    def test_the_end_of_a_subtask_fires_at_once_and_that_of_a_partition_at_the_next_tick(self):
        subtask, partition = run("finished-input"), run("finished-partition")
        assert [f.at_ms for f in subtask.all_firings][:2] == [time_ms("7:00:03")] * 2
        assert [f.at_ms for f in partition.all_firings][:2] == [time_ms("7:00:03.200")] * 2
        assert run("finished-partition", idle_timeout="1 s").all_firings, "no timer waits for it any more"
        no_ticks = run("finished-partition", interval=0)
        assert [f.at_ms for f in no_ticks.all_firings][:2] == [time_ms("7:00:04")] * 2
        assert run("finished-input", happenings=[]).all_firings == ()
        assert "partition 1 (ended)" in " ".join(partition.sentence(row) for row in range(len(partition)))

    def test_the_watermark_of_sql_has_no_minus_one(self):
        def fired(**changes):
            return [f.at_ms for f in run("sql-watermark", **changes).all_firings]

        assert fired() == [time_ms("7:02:05")] * 2
        assert fired(api="datastream") == []

    def test_between_windows_events_vanish_or_count_as_dropped(self):
        trace = run("sliding-gaps")
        assert [r.subject.id for r in trace if r.kind == Kind.NO_WINDOW] == ["r4471@6:12"]
        assert trace.dropped["event"].tolist() == ["r9@6:11"]


@pytest.mark.parametrize("name", wmviz.scenarios())
def test_every_row_of_every_scenario_has_a_sentence_and_the_ledger_balances(name):
    scenario = wmviz.scenario(name)
    trace = wmviz.simulate(scenario if len(scenario.events) < 1000 else scenario.sample(keys=20))
    for row in range(len(trace)):
        assert trace.sentence(row).endswith(".")
    assert all(trace.ledger(step).balances for step in range(trace.steps))
    started = [c for c in trace if c.kind == Kind.CHECKPOINT and c.value == CheckpointPhase.STARTED]
    assert len(started) == len(trace.checkpoints)
