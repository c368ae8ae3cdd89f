"""Sinks: what their readers find, before and after a crash."""

import pytest

from wmviz.engine.sinks import AppendSink, TransactionalSink, UpsertSink
from wmviz.window import TimeWindow

WINDOW = TimeWindow(0, 10)


class Out:
    def __init__(self):
        self.told = []

    def transaction(self, transaction):
        self.told.append((transaction.phase.name.lower(), transaction.number))


def sink(timeout_ms=None):
    out = Out()
    return TransactionalSink(out, timeout_ms), out.told


def decided(told):
    return [(phase, number) for phase, number in told if phase not in ("open", "prepared")]


def values(made, *, committed=True):
    return [row.value for row in made.read(committed=committed)]


def test_an_upsert_sink_keeps_the_last_value_and_an_append_sink_all():
    upsert, append = UpsertSink(), AppendSink()
    for value in (1, 3):
        upsert.write("k", WINDOW, value)
        append.write("k", WINDOW, value)
    assert upsert.rows == {("k", WINDOW): 3}
    assert [row.value for row in append.rows] == [1, 3]


class TestTransactions:
    def test_rows_are_visible_to_readers_of_committed_rows_when_the_checkpoint_is_complete(self):
        made, told = sink()
        made.write("k", WINDOW, 1)
        assert made.pre_commit(1, 100) == [0]
        made.write("k", WINDOW, 2)
        assert values(made) == []
        assert values(made, committed=False) == [1, 2]
        made.commit(1)
        assert values(made) == [1]
        assert decided(told) == [("committed", 0)]

    def test_a_checkpoint_that_fails_is_made_up_for_by_the_next(self):
        made, _ = sink()
        made.write("k", WINDOW, 1)
        made.pre_commit(1, 100)
        made.write("k", WINDOW, 2)
        assert made.pre_commit(2, 200) == [0, 1]
        made.commit(2)
        assert values(made) == [1, 2]

    def test_after_a_crash_what_the_checkpoint_holds_is_committed_and_the_rest_is_aborted(self):
        made, told = sink()
        made.write("k", WINDOW, 1)
        snapshot = made.pre_commit(1, 100)
        made.write("k", WINDOW, 2)
        made.pre_commit(2, 200)
        made.write("k", WINDOW, 3)
        made.restore(snapshot, 250)
        assert decided(told) == [("committed", 0), ("aborted", 1), ("aborted", 2)]
        made.write("k", WINDOW, 2)
        assert values(made) == [1]
        assert values(made, committed=False) == [1, 2, 3, 2]

    def test_a_restore_commits_nothing_twice(self):
        made, told = sink()
        made.write("k", WINDOW, 1)
        snapshot = made.pre_commit(1, 100)
        made.commit(1)
        made.restore(snapshot, 150)
        made.commit(1)
        assert decided(told) == [("committed", 0)]

    def test_without_a_checkpoint_all_is_aborted(self):
        made, told = sink()
        made.write("k", WINDOW, 1)
        made.restore([], 50)
        assert decided(told) == [("aborted", 0)]


class TestTimeout:
    @pytest.mark.parametrize(("restart_ms", "told_last"), [(299, ("committed", 0)), (300, ("lost", 0))])
    def test_a_restart_that_takes_longer_loses_what_was_prepared(self, restart_ms, told_last):
        made, told = sink(300)
        made.write("k", WINDOW, 1)
        snapshot = made.pre_commit(1, 100)
        made.restore(snapshot, restart_ms)
        assert told_last in told
        assert values(made) == ([1] if told_last[0] == "committed" else [])

    def test_it_counts_from_the_first_row_of_the_transaction(self):
        made, told = sink(300)
        made.advance(20)
        assert made.next_time_ms is None
        made.write("k", WINDOW, 1)
        assert made.next_time_ms == 320
        made.pre_commit(1, 290)
        made.advance(320)
        assert decided(told) == [("aborted", 0)]
        assert made.next_time_ms is None
        made.commit(1)
        assert decided(told)[1:] == [("lost", 0)]

    def test_what_is_lost_is_told_once(self):
        made, told = sink(300)
        made.write("k", WINDOW, 1)
        snapshot = made.pre_commit(1, 100)
        made.advance(300)
        made.commit(1)
        made.restore(snapshot, 310)
        assert told.count(("lost", 0)) == 1

    def test_an_open_transaction_that_is_timed_out_fails_the_job(self):
        made, _ = sink(300)
        made.write("k", WINDOW, 1)
        made.advance(300)
        with pytest.raises(RuntimeError, match="write a longer transaction_timeout"):
            made.write("k", WINDOW, 1)
        with pytest.raises(RuntimeError, match="write a longer transaction_timeout"):
            made.pre_commit(1, 310)

    def test_no_time_at_all_is_refused(self):
        with pytest.raises(ValueError, match="more than 0"):
            sink(0)
