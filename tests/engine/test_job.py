"""The running job, piece by piece: each rule on the smallest stream that shows it."""

import pytest

import wmviz
from wmviz.runtime import Happening
from wmviz.scenario import Scenario, ScenarioError
from wmviz.times import MAX_MS, time_ms
from wmviz.trace import CheckpointPhase, Kind

TEN = {"size": 10}


def run(*events, **fields):
    """Run rows [key, value, event time, arrival time, partition]; names are e0, e1 and so on."""
    names = ("key", "value", "event_time", "arrival_time", "partition")
    named = [{"id": f"e{n}", **dict(zip(names, row, strict=False))} for n, row in enumerate(events)]
    return wmviz.simulate(Scenario.of(**{"window": TEN, "events": named, **fields}))


def rows(trace, *kinds):
    """Give (time, kind, subject, value) of some kinds of rows."""
    found = [record for record in trace if record.kind in kinds]
    return [(r.at_ms, r.kind.name, getattr(r.subject, "id", r.subject), r.value) for r in found]


def firings(trace):
    return [(f.window.start_ms, f.value, f.at_ms) for f in trace.all_firings]


def of_checkpoint(number):
    """Give barriers of one checkpoint only, at 5 ms."""
    return {"interval": 1_000_000, "first": 5, **number}


class TestCrash:
    @pytest.mark.parametrize(("at_ms", "arrivals"), [(19, 2), (20, 2), (10, 3), (9, 3)])
    def test_it_is_behind_all_else_of_its_millisecond_and_what_is_behind_the_checkpoint_is_read_again(
        self, at_ms, arrivals
    ):
        # The checkpoint of 15 ms has e0 and e1, if the crash lets it come to that.
        crash = {"what": "crash", "at": at_ms, "down": 5}
        checkpoints = {"interval": 15}
        trace = run(["a", 1, 1, 0], ["a", 2, 2, 10], ["a", 4, 3, 20], happenings=[crash], checkpoints=checkpoints)
        read = [record.subject.id for record in trace if record.kind == Kind.ARRIVED]
        again = {19: [], 20: ["e2"], 10: ["e0", "e1"], 9: ["e0"]}[at_ms]
        assert sorted(read) == sorted(["e0", "e1", "e2", *again])
        assert [r.subject.id for r in trace if r.kind == Kind.REWOUND] == again
        assert trace.state(trace.steps - 1).windows[0].value == 7

    def test_after_an_event_it_is_before_the_next_one_of_the_same_millisecond(self):
        trace = run(["a", 1, 1, 5], ["a", 2, 2, 5], happenings=[{"what": "crash", "after": "e0", "down": 3}])
        told = [name for _, name, _, _ in rows(trace, Kind.ARRIVED, Kind.CRASHED, Kind.RESTORED)]
        assert told == ["ARRIVED", "CRASHED", "RESTORED", "ARRIVED", "ARRIVED"]

    def test_while_the_job_is_down_another_one_does_nothing(self):
        crashes = [{"what": "crash", "at": at, "down": 10} for at in (5, 10)]
        trace = run(["a", 1, 1, 0], ["a", 1, 2, 30], happenings=crashes)
        assert [(at, name) for at, name, _, _ in rows(trace, Kind.CRASHED, Kind.RESTORED)] == [
            (5, "CRASHED"),
            (15, "RESTORED"),
        ]

    def test_events_that_come_while_the_job_is_down_are_read_at_the_restart(self):
        trace = run(["a", 1, 1, 0], ["a", 2, 2, 7], happenings=[{"what": "crash", "at": 5, "down": 10}])
        assert rows(trace, Kind.ARRIVED)[1:] == [(15, "ARRIVED", "e0", 1), (15, "ARRIVED", "e1", 2)]

    @pytest.mark.parametrize(("replay", "total"), [("offsets", 7), ("start", 8), ("none", 5)])
    def test_a_source_that_replays_from_the_start_counts_twice_and_one_that_does_not_replay_loses(self, replay, total):
        trace = run(
            ["a", 1, 1, 0],
            ["a", 2, 2, 10],
            ["a", 4, 3, 20],
            checkpoints=of_checkpoint({}),
            happenings=[{"what": "crash", "at": 12, "down": 2}],
            replay=replay,
            end_of_input=30,
        )
        assert firings(trace) == [(0, total, 30)]
        lost = [record.subject.id for record in trace if record.kind == Kind.LOST]
        assert lost == (["e1"] if replay == "none" else [])

    def test_a_late_event_is_late_no_more_where_the_watermark_is_back_at_the_start(self):
        events = ["a", 1, 1, 0], ["a", 9, 40, 4], ["a", 2, 2, 10], ["a", 9, 40, 30]
        crash = {"what": "crash", "at": 7, "down": 0}
        assert run(*events, checkpoints=of_checkpoint({})).dropped_count == 1
        trace = run(*events, checkpoints=of_checkpoint({}), happenings=[crash])
        assert trace.dropped_count == 0
        assert firings(trace) == [(0, 1, 4), (0, 2, 30)]  # a second, partial firing


class TestCheckpoints:
    SLOW = (["a", 1, 1, 0, 0], ["a", 2, 2, 1, 0], ["a", 4, 3, 2, 0], ["a", 8, 4, 12, 1])

    def test_at_least_once_counts_twice_what_comes_between_two_barriers(self):
        # One barrier is behind 8 ms of work, the other at the front of its channel.
        fields = {"work": 4, "subtasks": 2, "end_of_input": 40, "happenings": [{"what": "crash", "at": 20, "down": 0}]}
        events = [*self.SLOW[:3], ["a", 8, 4, 6, 1]]
        totals = {
            mode: run(*events, checkpoints=of_checkpoint({"mode": mode}), **fields).all_firings[-1].value
            for mode in ("aligned", "unaligned", "at_least_once")
        }
        assert totals == {"aligned": 15, "unaligned": 15, "at_least_once": 23}

    def test_an_unaligned_one_stores_what_waits_and_a_restart_takes_it_from_there(self):
        checkpoints = of_checkpoint({"mode": "unaligned"})
        crash = {"what": "crash", "at": 9, "down": 0}
        trace = run(*self.SLOW[:3], work=4, checkpoints=checkpoints, happenings=[crash], end_of_input=20)
        stored = next(record for record in trace if record.kind == Kind.STORED)
        sent = [row for elements in trace.details[stored.row].values() for row in elements]
        assert [trace[row].subject.id for row in sent if trace.kind[row] == Kind.ARRIVED] == ["e2"]
        assert [r.subject.id for r in trace if r.kind == Kind.ARRIVED] == ["e0", "e1", "e2"]  # nothing is read again
        assert firings(trace)[-1][:2] == (0, 7)

    @pytest.mark.parametrize(("timeout_ms", "stored"), [(2, True), (3, True), (30, False)])
    def test_a_barrier_that_waits_for_its_timeout_becomes_unaligned(self, timeout_ms, stored):
        checkpoints = of_checkpoint({"mode": "unaligned", "alignment_timeout": timeout_ms})
        trace = run(*self.SLOW[:3], work=4, checkpoints=checkpoints, end_of_input=20)
        assert bool(rows(trace, Kind.STORED)) == stored

    def test_one_that_takes_too_long_is_given_up_and_nothing_goes_back_to_it(self):
        checkpoints = of_checkpoint({"timeout": 10, "tolerable_failures": 9})
        events = [["a", 1, n, 0] for n in range(9)]
        trace = run(*events, work=5, checkpoints=checkpoints, happenings=[{"what": "crash", "at": 25, "down": 0}])
        assert rows(trace, Kind.CHECKPOINT)[:2] == [
            (5, "CHECKPOINT", 1, CheckpointPhase.STARTED),
            (15, "CHECKPOINT", 1, CheckpointPhase.FAILED),
        ]
        assert rows(trace, Kind.RESTORED) == [(25, "RESTORED", "job", 0)]

    def test_an_ended_source_sends_barriers_until_one_of_its_checkpoints_is_complete(self):
        trace = run(
            ["a", 1, 1, 0, 0],
            ["a", 1, 1, 60, 1],
            subtasks=2,
            checkpoints={"interval": 20},
            happenings=[{"what": "finish", "partition": 0, "at": 10}],
        )
        assert [(at, where) for at, _, where, _ in rows(trace, Kind.SNAPSHOT) if where == "source[0]"] == [
            (20, "source[0]")
        ]
        assert len(rows(trace, Kind.CHECKPOINT)) >= 6

    def test_a_barrier_takes_no_room_in_a_channel(self):
        events = [["a", 1, n, 0] for n in range(6)]
        trace = run(*events, work=7, channel_capacity=1, checkpoints={"interval": 10, "first": 0}, end_of_input=0)
        assert trace.ledger().counted == 6


class TestBackpressure:
    def test_it_stops_the_clock_of_idleness(self):
        events = [["a", 1, n, n] for n in range(4)]
        fields = {"idle_timeout": 20, "emission": "interval", "interval": 5, "work": 30}
        idle = [run(*events, **fields, channel_capacity=capacity) for capacity in (0, 1)]
        at_ms = [rows(trace, Kind.STATUS)[0][0] for trace in idle]
        pressed = rows(idle[1], Kind.BACKPRESSURED)
        assert at_ms[0] < pressed[-1][0] < at_ms[1]
        assert pressed[-1][3] == 0

    def test_the_end_of_the_input_waits_like_any_event(self):
        trace = run(*[["a", 1, n, 0] for n in range(3)], work=10, channel_capacity=1, end_of_input=0)
        ended = rows(trace, Kind.ENDED)
        assert ended[0][0] > 0
        assert trace.ledger().counted == 3
        assert trace.value_at(("pressure", 0), trace.steps - 1) in (0, None)


class TestAlignment:
    def test_a_fast_partition_waits_until_the_slow_one_is_near(self):
        events = [["a", 1, n * 100, n, 0] for n in range(20)] + [["b", 1, 500 * n, 10 + 10 * n, 1] for n in range(6)]
        events.sort(key=lambda row: row[3])
        trace = run(*events, alignment={"drift": 300, "interval": 2, "buffer": 0}, window={"size": 100})
        paused = rows(trace, Kind.PAUSED)
        assert paused[0][2:] == ("partition 0", 1)
        assert any(row[2:] == ("partition 0", 0) for row in paused)
        assert trace.ledger().in_flight == 0
        free = run(*events, window={"size": 100})
        last = [max(r.at_ms for r in t if r.kind == Kind.ARRIVED and r.subject.partition == 0) for t in (free, trace)]
        assert last[0] == 19 < last[1]

    def test_after_the_source_it_does_nothing(self):
        events = [["a", 1, n * 100, n] for n in range(9)]
        trace = run(*events, alignment={"drift": 1, "interval": 1}, strategy_at="after")
        assert not rows(trace, Kind.PAUSED, Kind.ALLOWED)


class TestSavepoint:
    def test_a_restart_does_not_go_back_to_it_and_the_sink_commits_nothing_with_it(self):
        happenings = [{"what": "savepoint", "at": 15}, {"what": "crash", "at": 20, "down": 0}]
        trace = run(["a", 1, 1, 0], ["a", 9, 12, 10], sink="transactional", happenings=happenings)
        assert rows(trace, Kind.RESTORED) == [(20, "RESTORED", "job", 0)]
        assert not [row for row in rows(trace, Kind.COMMITTED) if row[0] <= 20]

    def test_a_stop_goes_on_from_it_with_changed_settings(self):
        events = ["a", 1, 1, 0], ["a", 9, 40, 10], ["a", 9, 60, 30], ["a", 2, 2, 31], ["a", 9, 90, 32]
        stop = {"what": "stop", "at": 20, "down": 5, "with": {"bound": 45, "lateness": 30}}
        trace = run(*events, happenings=[stop])
        assert rows(trace, Kind.STOPPED, Kind.RESTORED) == [(20, "STOPPED", "job", 25), (25, "RESTORED", "job", 1)]
        sent = [row[3] for row in rows(trace, Kind.WATERMARK) if row[2] == "source" and row[0] > 25]
        assert sent == [60 - 45 - 1, 90 - 45 - 1]
        assert trace.dropped_count == 0  # 2 would be behind 59 - 30 without the new bound
        assert trace.settings[0][1].lateness_ms == 30

    def test_a_second_stop_while_the_first_is_under_way_does_nothing(self):
        stops = [{"what": "stop", "at": 5, "down": 3, "with": {"bound": bound}} for bound in (1, 2)]
        trace = run(*[["a", 1, n, 0] for n in range(3)], work=4, happenings=stops)
        assert len(rows(trace, Kind.STOPPED)) == 1
        assert trace.settings[0][1].bound_ms == 1

    def test_the_changes_of_a_second_stop_must_fit_those_of_the_first(self):
        changes = {"checkpoints": {"max_concurrent": 2}}, {"checkpoints": {"mode": "unaligned"}}
        stops = [{"what": "stop", "at": at, "with": with_} for at, with_ in zip((5, 9000), changes, strict=True)]
        with pytest.raises(ScenarioError, match=r"happenings\[1\]\.with: checkpoints\.max_concurrent"):
            run(["a", 1, 1, 0], happenings=stops)

    def test_a_stop_that_the_changes_do_not_fit_is_refused_when_the_scenario_is_made(self):
        with pytest.raises(ScenarioError, match=r"happenings\[0\]\.with is '\{oops'; write an object"):
            Scenario(window=wmviz.Scenario.of(window=TEN).window, happenings=(Happening("stop", 5, changes="{oops"),))


class TestTransactions:
    def test_a_timeout_shorter_than_the_restart_loses_what_was_to_be_committed(self):
        # Prepared at 5 ms, complete at once, but the tasks hear of it only at 15 ms: the crash comes before.
        events = ["a", 1, 1, 0], ["a", 9, 12, 2], ["a", 9, 25, 60]
        checkpoints = of_checkpoint({"notice": 10})
        crash = {"what": "crash", "at": 10, "down": 40}
        lost = {
            timeout: run(
                *events,
                checkpoints=checkpoints,
                happenings=[crash],
                sink="transactional",
                transaction_timeout=timeout,
                end_of_input=70,
            )
            for timeout in (30, 300)
        }
        assert ("a", 0, 10) not in lost[30].totals
        assert lost[300].totals["a", 0, 10] == [1]


class TestSilence:
    def test_the_events_of_a_silent_partition_come_when_it_is_over(self):
        silence = {"what": "silence", "at": 5, "until": 20, "partition": 1}
        trace = run(["a", 1, 1, 5, 1], ["a", 1, 2, 6, 0], ["a", 1, 3, 20, 1], happenings=[silence])
        assert [(at, name) for at, _, name, _ in rows(trace, Kind.ARRIVED)] == [(6, "e1"), (20, "e0"), (20, "e2")]

    def test_it_makes_the_partition_idle(self):
        events = [["a", 1, n, n, n % 2] for n in range(40)]
        silence = {"what": "silence", "at": 5, "until": 35, "partition": 1}
        fields = {"idle_timeout": 8, "emission": "interval", "interval": 2}
        assert not any(row[3] for row in rows(run(*events, **fields), Kind.STATUS) if row[0] < 40)
        idle = [row for row in rows(run(*events, **fields, happenings=[silence]), Kind.STATUS) if row[3]]
        assert idle[0][2] == "partition 1"
        assert 5 + 8 < idle[0][0] < 35


class TestOtherJobs:
    def test_an_empty_one_ends(self):
        happenings = [{"what": "crash", "at": 3}, {"what": "savepoint", "at": 1}]
        trace = run(happenings=happenings, checkpoints={"interval": 10}, sink="transactional", end_of_input=40)
        assert rows(trace, Kind.ENDED)[0][0] >= 40

    def test_sql_goes_on_with_its_watermark(self):
        events = ["a", 1, 1, 0], ["a", 9, 40, 4], ["a", 2, 2, 10], ["a", 9, 60, 30]
        crash = {"what": "crash", "at": 7, "down": 0}
        sql = {"api": "sql", "strategy_at": "after"}
        trace = run(*events, checkpoints=of_checkpoint({}), happenings=[crash], **sql)
        assert trace.dropped_count == 1
        assert firings(trace) == [(0, 1, 4), (40, 9, 30)]

    def test_processing_time_windows_that_were_due_while_the_job_was_down_fire_at_the_restart(self):
        crash = {"what": "crash", "at": 7, "down": 20}
        window = {"size": 10, "time": "processing"}
        trace = run(["a", 1, 1, 2], ["a", 2, 2, 40], window=window, checkpoints=of_checkpoint({}), happenings=[crash])
        assert firings(trace) == [(0, 1, 27), (40, 2, 50)]

    def test_two_inputs_hold_each_other_back(self):
        events = [["a", 1, 5, 0, 0], ["a", 2, 50, 1, 0], ["a", 4, 6, 20, 1], ["a", 8, 60, 30, 1]]
        trace = run(*events, subtasks=2, inputs=2, happenings=[{"what": "savepoint", "at": 10}])
        assert firings(trace) == [(0, 5, 30)]

    def test_without_end_there_is_no_last_watermark(self):
        trace = run(["a", 1, 1, 0], checkpoints={"interval": 10})
        assert MAX_MS not in trace.value

    def test_checkpoints_without_end_are_refused(self, monkeypatch):
        monkeypatch.setattr("wmviz.engine.job.MOST_CHECKPOINTS", 5)
        with pytest.raises(ScenarioError, match=r"more than 5 checkpoints; write a longer checkpoints\.interval"):
            run(["a", 1, 1, 0], checkpoints={"interval": 10}, end_of_input=1000)

    def test_a_window_that_has_been_purged_is_there_again_without_events(self):
        window = {"size": 10, "trigger": "purging_count:1"}
        crash = {"what": "crash", "at": 7, "down": 0}
        trace = run(["a", 1, 1, 0], window=window, checkpoints=of_checkpoint({}), happenings=[crash], end_of_input=20)
        again = next(record for record in trace if record.kind == Kind.RELOADED)
        assert (again.value, trace.firing_events(again.row)) == (0, [])
        assert [record.at_ms for record in trace if record.kind == Kind.CLEANED] == [20]


class TestExpiredCheckpoints:
    """Flink 2.3.0: CheckpointFailureManager counts them; SubtaskCheckpointCoordinatorImpl.notifyCheckpointAborted."""

    def busy(self, **checkpoints):
        return wmviz.simulate(
            wmviz.scenario("barrier-alignment").replace(checkpoints={"timeout": "3 s", **checkpoints})
        )

    def test_by_default_the_first_one_fails_the_job_which_then_has_more_to_do_and_fails_again(self):
        trace = self.busy()
        assert [r.at_ms for r in trace if r.kind == Kind.CRASHED] == [
            time_ms(f"7:00:{s}") for s in ("05.500", "09.500", "13.500", "17.500")
        ]
        assert not trace.state().is_running
        assert "so this run ends here" in trace.sentence(max(r.row for r in trace if r.kind == Kind.CRASHED))

    def test_one_that_is_tolerated_leaves_the_job_alone_and_no_task_takes_its_snapshot(self):
        trace = self.busy(tolerable_failures=1)
        assert [r for r in trace if r.kind == Kind.CRASHED] == []
        snapshots = [(r.subject, r.value) for r in trace if r.kind == Kind.SNAPSHOT]
        assert ("window", 1) not in snapshots
        assert ("window", 2) in snapshots
