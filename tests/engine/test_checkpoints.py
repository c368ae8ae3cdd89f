"""The coordinator of checkpoints, boundary by boundary."""

import pytest

from wmviz.engine.checkpoints import CheckpointCoordinator, CheckpointSettings


class Out:
    def __init__(self):
        self.told = []

    def triggered(self, checkpoint):
        self.told.append(("start", checkpoint.id, checkpoint.started_ms))

    def completed(self, checkpoint):
        self.told.append(("complete", checkpoint.id, checkpoint.completed_ms))

    def failed(self, checkpoint):
        self.told.append((checkpoint.failed, checkpoint.id))


def coordinator(*, tasks=("t",), first_ms=100, **settings):
    out = Out()
    made = CheckpointCoordinator(CheckpointSettings(100, **settings), tasks, out)
    made.start(0, first_ms)
    return made, out.told


def test_it_is_complete_when_all_tasks_have_handed_in_their_state():
    made, told = coordinator(tasks=("source", "window"))
    made.acknowledge(1, "source", {"offset": 3}, 110)
    assert told == [("start", 1, 100)]
    made.acknowledge(1, "source", {"offset": 9}, 115)  # twice: passed over
    made.acknowledge(1, "window", "panes", 120)
    assert told[1:] == [("complete", 1, 120)]
    assert made.latest.states == {"source": {"offset": 3}, "window": "panes"}


def test_due_times_stay_on_their_grid_and_one_that_must_wait_starts_when_there_is_room():
    made, told = coordinator()
    made.acknowledge(1, "t", None, 230)
    made.advance(300)
    assert told == [("start", 1, 100), ("complete", 1, 230), ("start", 2, 230)]


@pytest.mark.parametrize(("completed_ms", "next_ms"), [(120, 200), (121, 201)])
def test_exactly_at_the_end_of_the_pause_it_starts(completed_ms, next_ms):
    made, told = coordinator(min_pause_ms=80)
    made.acknowledge(1, "t", None, completed_ms)
    made.advance(next_ms - 1)
    assert len(told) == 2
    made.advance(next_ms)
    assert told[2:] == [("start", 2, next_ms)]


def test_a_failure_starts_no_pause():
    made, told = coordinator(min_pause_ms=80)
    made.decline(1, "CHECKPOINT_DECLINED", 190)
    made.advance(200)
    assert told[1:] == [("CHECKPOINT_DECLINED", 1), ("start", 2, 200)]


def test_a_later_one_that_completes_gives_up_the_earlier():
    made, told = coordinator(max_concurrent=2)
    made.acknowledge(2, "t", None, 250)
    assert told[2:] == [("complete", 2, 250), ("CHECKPOINT_SUBSUMED", 1)]


def test_one_that_takes_too_long_is_given_up():
    made, told = coordinator(timeout_ms=150)
    assert made.next_time_ms == 100
    made.advance(250)
    assert told == [("start", 1, 100), ("CHECKPOINT_EXPIRED", 1), ("start", 2, 250)]
    made.acknowledge(1, "t", None, 260)
    assert made.latest is None


def test_a_savepoint_heeds_neither_pause_nor_room_and_is_no_point_to_restart_from():
    made, told = coordinator(min_pause_ms=80)
    made.savepoint(110)
    made.acknowledge(2, "t", None, 120)
    assert told == [("start", 1, 100), ("start", 2, 110), ("complete", 2, 120)]
    assert made.latest is None
    assert list(made.pending) == [1]


def test_a_restart_gives_up_what_is_pending_and_begins_after_the_pause():
    made, told = coordinator(min_pause_ms=80)
    made.stop(130)
    assert made.next_time_ms is None
    made.start(500)
    made.advance(580)
    assert told[1:] == [("CHECKPOINT_COORDINATOR_SUSPEND", 1), ("start", 2, 580)]


@pytest.mark.parametrize("wrong", [{"interval_ms": 9}, {"min_pause_ms": -1}, {"max_concurrent": 0}, {"timeout_ms": 9}])
def test_settings_out_of_range_are_refused_by_name(wrong):
    (name,) = wrong
    with pytest.raises(ValueError, match=name):
        CheckpointSettings(**{"interval_ms": 100, **wrong})


def test_a_pause_longer_than_the_interval_is_the_interval():
    assert CheckpointSettings(100, min_pause_ms=150).base_interval_ms == 150
