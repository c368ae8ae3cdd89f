"""The input gate and its handlers, boundary by boundary. Cases are in semantics, Flink itself in differential."""

import pytest

from wmviz.engine.barriers import (
    Alignment,
    CancelCheckpointMarker,
    CheckpointBarrier,
    CheckpointedInputGate,
    EndOfPartition,
    SingleCheckpointBarrierHandler,
)


class Out:
    """Notes what a gate tells, as short text."""

    def __init__(self):
        self.told = []

    def take(self):
        told, self.told = self.told, []
        return told

    def process(self, channel, item):
        self.told.append(item)

    def reached(self, channel, barrier): ...

    def blocked(self, channel):
        self.told.append(f"block {channel}")

    def resumed(self, channel):
        self.told.append(f"resume {channel}")

    def triggered(self, barrier):
        self.told.append(f"trigger {barrier.id} {'unaligned' if barrier.is_unaligned else 'aligned'}")

    def aborted(self, checkpoint_id, reason):
        self.told.append(f"abort {checkpoint_id} {reason.removeprefix('CHECKPOINT_DECLINED_')}")

    def in_flight(self, checkpoint_id, channels):
        self.told.append(f"in flight {checkpoint_id} {channels}")

    def ended(self, channel):
        self.told.append(f"end {channel}")


class Gate:
    """A gate that drains after each step."""

    def __init__(self, channels=2, *, drains=True, **settings):
        self.out = Out()
        self.gate = CheckpointedInputGate(channels, self.out, **settings)
        self.drains = drains

    def __call__(self, channel, *elements):
        for element in elements:
            self.gate.receive(channel, element)
        return self.drain() if self.drains else self.out.take()

    def drain(self):
        while self.gate.poll_next():
            pass
        return self.out.take()


def aligned(checkpoint_id):
    return CheckpointBarrier(checkpoint_id)


def unaligned(checkpoint_id):
    return CheckpointBarrier(checkpoint_id, Alignment.UNALIGNED)


def timeoutable(checkpoint_id, timeout_ms=100, created_at_ms=0):
    return CheckpointBarrier(checkpoint_id, Alignment.TIMEOUTABLE, timeout_ms, created_at_ms)


class TestAligned:
    def test_what_is_behind_a_barrier_waits_until_the_last_barrier_has_come(self):
        gate = Gate()
        assert gate(0, "a", aligned(1), "b") == ["a", "block 0"]
        assert gate(1, "x") == ["x"]
        assert gate(1, aligned(1)) == ["block 1", "trigger 1 aligned", "resume 0", "resume 1", "b"]

    def test_one_channel_alone_takes_the_snapshot_at_once(self):
        assert Gate(1)(0, aligned(1), "a") == ["block 0", "trigger 1 aligned", "resume 0", "a"]

    def test_a_newer_barrier_gives_up_the_older_checkpoint(self):
        gate = Gate()
        gate(0, aligned(1), "a")
        assert gate(1, aligned(2)) == ["resume 0", "abort 1 SUBSUMED", "block 1", "a"]

    def test_an_outdated_barrier_passes(self):
        gate = Gate()
        gate(0, aligned(2))
        assert gate(1, aligned(1), "x") == ["x"]

    def test_a_cancellation_before_any_barrier_lets_its_barriers_pass(self):
        gate = Gate()
        assert gate(0, CancelCheckpointMarker(1)) == ["abort 1 ON_CANCELLATION_BARRIER"]
        assert gate(0, aligned(1), "a") == ["a"]
        assert gate(1, aligned(2)) == ["block 1"]

    def test_an_older_cancellation_is_passed_over(self):
        gate = Gate()
        gate(0, aligned(2))
        assert gate(1, CancelCheckpointMarker(1)) == []

    def test_the_end_of_a_channel_counts_as_its_barrier(self):
        gate = Gate()
        gate(0, aligned(1))
        assert gate(1, EndOfPartition()) == ["trigger 1 aligned", "resume 0", "end 1"]
        assert gate(0, aligned(2)) == ["block 0", "trigger 2 aligned", "resume 0"]

    def test_with_checkpoints_after_finish_off_the_end_gives_up_the_checkpoint(self):
        gate = Gate(checkpoints_after_finish=False)
        gate(0, aligned(1))
        assert gate(1, EndOfPartition()) == ["resume 0", "abort 1 INPUT_END_OF_STREAM", "end 1"]

    def test_an_unaligned_barrier_fails_the_job(self):
        with pytest.raises(RuntimeError, match="takes aligned checkpoints only"):
            Gate()(0, unaligned(1))


class TestAtLeastOnce:
    def test_nothing_blocks_and_what_comes_before_the_last_barrier_is_in_the_snapshot(self):
        gate = Gate(mode="at_least_once")
        assert gate(0, aligned(1), "b") == ["b"]
        assert gate(1, "x", aligned(1), "y") == ["x", "trigger 1 aligned", "y"]

    def test_a_later_checkpoint_that_completes_first_drops_the_older(self):
        gate = Gate(mode="at_least_once")
        gate(0, aligned(1), aligned(2))
        assert gate(1, aligned(2), aligned(1)) == ["trigger 2 aligned"]

    def test_after_51_pending_checkpoints_the_first_is_forgotten(self):
        gate = Gate(mode="at_least_once")
        gate(0, *map(aligned, range(1, 52)))
        assert gate(1, aligned(1), aligned(2)) == ["trigger 2 aligned"]


class TestUnaligned:
    def gate(self, channels=2):
        return Gate(channels, mode="alternating", drains=False)

    def test_the_first_barrier_takes_the_snapshot_before_what_is_in_front_of_it(self):
        gate = self.gate()
        assert gate(0, "a", unaligned(1)) == ["trigger 1 unaligned"]
        gate(1, "x")
        assert gate(1, unaligned(1)) == ["in flight 1 {0: ['a'], 1: ['x']}"]
        assert gate.drain() == ["a", "x"]

    def test_what_was_consumed_before_is_not_stored_and_what_is_consumed_after_is(self):
        gate = self.gate()
        gate(0, "a", "b")
        gate.gate.poll(0)
        gate(1, "x", unaligned(1))
        gate.drain()
        assert gate(0, unaligned(1)) == ["in flight 1 {0: ['b'], 1: ['x']}"]

    def test_what_comes_behind_the_barrier_of_its_channel_is_not_stored(self):
        gate = self.gate()
        gate(0, unaligned(1), "a")
        assert gate(1, unaligned(1)) == ["in flight 1 {}"]

    def test_a_newer_checkpoint_stores_anew_what_is_still_there(self):
        gate = self.gate()
        gate(0, "a", unaligned(1), "b")
        assert gate(1, unaligned(2)) == ["abort 1 SUBSUMED", "trigger 2 unaligned"]
        assert gate(0, unaligned(2)) == ["in flight 2 {0: ['a', 'b']}"]

    def test_a_savepoint_is_aligned(self):
        gate = self.gate()
        gate(0, aligned(1), "a")
        assert gate.drain() == ["block 0"]


class TestAlignmentTimeout:
    def gate(self, channels=2):
        return Gate(channels, mode="alternating", drains=False)

    def test_at_the_timeout_announced_barriers_overtake(self):
        gate = self.gate()
        gate(0, "a", timeoutable(1))
        assert gate.gate.next_time_ms == 100
        gate.gate.advance(99)
        assert gate.out.take() == []
        gate.gate.advance(100)
        assert gate.out.take() == ["trigger 1 unaligned"]
        assert gate.gate.next_time_ms is None

    def test_a_blocked_channel_resumes_when_all_are_in(self):
        gate = self.gate()
        gate(0, timeoutable(1), "b")
        gate.gate.poll(0)
        assert gate(1, "x", timeoutable(1)) == ["block 0"]
        gate.gate.advance(100)
        assert gate.out.take() == ["trigger 1 unaligned", "in flight 1 {1: ['x']}", "resume 0"]

    def test_delay_upstream_counts(self):
        gate = self.gate()
        gate.gate.advance(500)
        assert gate(0, "a", timeoutable(1, 100, 400)) == ["trigger 1 unaligned"]

    def test_in_time_it_stays_aligned_and_nothing_is_stored(self):
        gate = self.gate()
        gate(0, "a", timeoutable(1))
        gate(1, timeoutable(1))
        assert gate.drain() == ["a", "block 0", "block 1", "trigger 1 aligned", "resume 0", "resume 1"]
        assert gate.gate.next_time_ms is None


class TestQueues:
    def test_a_channel_is_full_at_its_capacity(self):
        gate = Gate(drains=False, capacity=2)
        gate(0, "a")
        assert not gate.gate.is_full(0)
        gate(0, "b")
        assert gate.gate.is_full(0)
        assert not gate.gate.is_full(1)

    def test_a_blocked_channel_gives_nothing(self):
        gate = Gate(drains=False)
        gate(0, aligned(1), "a")
        assert gate.gate.poll(0)
        assert gate.gate.is_blocked(0)
        assert not gate.gate.poll(0)
        assert gate.gate.queued(0) == ["a"]

    def test_elements_come_in_order_of_arrival_over_all_channels(self):
        gate = Gate(drains=False)
        gate(1, "x")
        gate(0, "a")
        gate(1, "y")
        assert gate.drain() == ["x", "a", "y"]


class TestBarrierOfASetting:
    def test_savepoints_are_aligned_whatever_is_set(self):
        assert CheckpointBarrier.of(1, 0, unaligned=True, savepoint=True).alignment is Alignment.ALIGNED

    def test_a_timeout_of_0_is_unaligned_from_the_start(self):
        assert CheckpointBarrier.of(1, 0, unaligned=True).alignment is Alignment.UNALIGNED

    def test_a_timeout_makes_it_timeoutable(self):
        assert CheckpointBarrier.of(1, 5, unaligned=True, timeout_ms=30) == timeoutable(1, 30, 5)

    def test_without_unaligned_checkpoints_the_timeout_means_nothing(self):
        assert CheckpointBarrier.of(1, 0, unaligned=False, timeout_ms=30).alignment is Alignment.ALIGNED

    def test_an_unknown_mode_is_refused(self):
        with pytest.raises(ValueError, match="mode is 'exactly'"):
            SingleCheckpointBarrierHandler(1, None, mode="exactly")
