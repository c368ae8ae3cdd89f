"""What a checkpoint has of the window operators, and what a restored one does with it."""

import random

import pytest

from wmviz.engine.aggregates import AGGREGATES
from wmviz.engine.merging import MergedWindowLateError, MergingWindowOperator
from wmviz.engine.triggers import trigger_of
from wmviz.engine.window_operator import WindowOperator
from wmviz.engine.windows import SessionWindows, assigner_of
from wmviz.scenario import Window
from wmviz.times import MAX_MS, MIN_MS


class Out:
    """Notes everything that an operator tells but watermarks."""

    def __init__(self):
        self.told = []

    def added(self, pane, event):
        self.told.append(("added", pane.key, pane.window, event))

    def fired(self, pane, value):
        self.told.append(("fired", pane.key, pane.window, sorted(pane.events), value))

    def purged(self, pane):
        self.told.append(("purged", pane.key, pane.window))

    def cleaned(self, pane):
        self.told.append(("cleaned", pane.key, pane.window, sorted(pane.events)))

    def missed(self, event, key, windows):
        self.told.append(("missed", event, tuple(windows)))

    def late(self, event):
        self.told.append(("late", event))

    def dropped(self, event):
        self.told.append(("dropped", event))

    def no_window(self, event):
        self.told.append(("no window", event))

    def merged(self, pane, windows):
        self.told.append(("merged", pane.key, pane.window))

    def watermark(self, watermark_ms): ...

    def take(self):
        told, self.told = self.told, []
        return told


def start(window, lateness_ms=0, gap_ms=0):
    out = Out()
    trigger, purging = trigger_of(window)
    make = MergingWindowOperator if gap_ms else WindowOperator
    assigner = SessionWindows(gap_ms) if gap_ms else assigner_of(window)
    return make(assigner, trigger, AGGREGATES["sum"], out, purging=purging, lateness_ms=lateness_ms), out


def restarted(operator, *settings):
    new, out = start(*settings)
    new.restore(operator.snapshot())
    return new, out


TUMBLING = Window(type="tumbling", size_ms=10)


class TestRestored:
    def test_it_does_not_know_the_watermark(self):
        operator, _ = start(TUMBLING)
        operator.advance(7)
        assert restarted(operator, TUMBLING)[0].watermark_ms == MIN_MS

    def test_an_open_window_fires_when_the_watermark_comes_again(self):
        operator, _ = start(TUMBLING)
        operator.process("k", 1, 5, 0)
        operator.advance(8)
        operator, out = restarted(operator, TUMBLING)
        operator.process("k", 2, 6, 1)
        out.take()
        operator.advance(8)
        assert out.take() == []
        operator.advance(9)
        assert out.take()[0][3:] == ([0, 1], 11)

    def test_an_event_of_a_window_that_is_gone_counts_again(self):
        operator, out = start(TUMBLING)
        operator.process("k", 1, 5, 0)
        operator.advance(9)
        operator.process("k", 2, 6, 1)
        assert ("dropped", 1) in out.take()
        operator, out = restarted(operator, TUMBLING)
        operator.process("k", 2, 6, 1)
        operator.advance(9)
        assert [told[3:] for told in out.take() if told[0] == "fired"] == [([1], 6)]

    def test_a_window_that_has_fired_fires_again_only_for_a_key_that_gets_an_element_and_with_all_of_it(self):
        operator, _ = start(TUMBLING, 20)
        operator.process("a", 1, 5, 0)
        operator.process("b", 1, 7, 1)
        operator.advance(9)
        operator, out = restarted(operator, TUMBLING, 20)
        operator.process("a", 2, 6, 2)
        operator.process("c", 3, 1, 3)
        out.take()
        operator.advance(9)
        assert [(told[1], told[3:]) for told in out.take()] == [("a", ([0, 2], 11)), ("c", ([3], 1))]
        operator.advance(29)
        assert sorted(told[:2] for told in out.take()) == [("cleaned", "a"), ("cleaned", "b"), ("cleaned", "c")]
        assert operator.snapshot() == []

    def test_a_window_that_has_fired_takes_a_late_element_as_before_once_the_watermark_is_regained(self):
        operator, _ = start(TUMBLING, 20)
        operator.process("a", 1, 5, 0)
        operator.advance(12)
        operator, out = restarted(operator, TUMBLING, 20)
        operator.advance(12)
        operator.process("a", 2, 6, 1)
        assert out.take()[-1][3:] == ([0, 1], 11)

    def test_a_count_goes_on(self):
        window = Window(type="tumbling", size_ms=10, trigger="count:3")
        operator, _ = start(window)
        operator.process("k", 1, 1, 0)
        operator.process("k", 1, 1, 1)
        operator, out = restarted(operator, window)
        operator.process("k", 1, 1, 2)
        assert out.take()[-1][0] == "fired"

    def test_a_snapshot_is_not_changed_by_what_comes_after_it(self):
        operator, _ = start(TUMBLING)
        operator.process("k", 1, 5, 0)
        snapshot = operator.snapshot()
        operator.process("k", 2, 6, 1)
        operator, out = start(TUMBLING)
        operator.restore(snapshot)
        operator.process("k", 3, 7, 2)
        operator.advance(9)
        assert out.take()[1][3:] == ([0, 2], 12)

    def test_a_session_that_has_fired_and_grows_fires_at_its_new_end(self):
        settings = (TUMBLING, 20, 5)
        operator, _ = start(*settings)
        operator.process("k", 1, 5, 0)
        operator.advance(6)
        operator, out = restarted(operator, *settings)
        operator.process("k", 4, 6, 1)
        out.take()
        operator.advance(7)
        assert out.take() == []
        operator.advance(8)
        assert out.take()[0][3:] == ([0, 1], 11)


def resumed(operator, lateness_ms, gap_ms=0):
    return restarted(operator, TUMBLING, lateness_ms, gap_ms)


class TestWithAnotherLateness:
    @pytest.mark.parametrize("lateness_ms", [5, 30])
    def test_a_window_that_gets_no_element_is_never_cleaned(self, lateness_ms):
        operator, _ = start(TUMBLING, 20)
        operator.process("k", 1, 5, 0)
        operator.advance(9)
        operator, out = resumed(operator, lateness_ms)
        operator.advance(1000)
        assert out.take() == []
        assert [(stored.key, stored.length, stored.timers_ms) for stored in operator.snapshot()] == [("k", 1, set())]

    @pytest.mark.parametrize(("lateness_ms", "cleanup_ms"), [(5, 14), (30, 39)])
    def test_an_element_brings_the_new_cleanup_time_for_its_key(self, lateness_ms, cleanup_ms):
        operator, _ = start(TUMBLING, 20)
        operator.process("a", 1, 5, 0)
        operator.process("b", 1, 5, 1)
        operator, out = resumed(operator, lateness_ms)
        operator.process("a", 2, 6, 2)
        operator.advance(cleanup_ms - 1)
        fired = [told for told in out.take() if told[0] != "added"]
        assert sorted(fired) == [("fired", "a", (0, 10), [0, 2], 11), ("fired", "b", (0, 10), [1], 5)]
        operator.advance(cleanup_ms)
        assert out.take() == [("cleaned", "a", (0, 10), [0, 2])]

    def test_late_is_what_the_new_lateness_says(self):
        operator, _ = start(TUMBLING, 20)
        operator.process("k", 1, 5, 0)
        operator.advance(9)
        for lateness_ms, told in ((5, "dropped"), (20, "fired"), (30, "fired")):
            new, out = resumed(operator, lateness_ms)
            new.advance(14)
            new.process("k", 2, 6, 1)
            assert out.take()[-1][0] == told

    def test_without_lateness_a_window_fires_and_goes_at_its_one_timer(self):
        operator, _ = start(TUMBLING, 20)
        operator.process("k", 1, 5, 0)
        operator, out = resumed(operator, 0)
        operator.advance(9)
        assert [told[0] for told in out.take()] == ["fired", "cleaned"]

    def test_what_was_left_behind_is_there_for_the_next_element(self):
        operator, _ = start(TUMBLING, 20)
        operator.process("k", 1, 5, 0)
        operator.advance(9)
        operator, out = resumed(operator, 0)
        operator.advance(40)
        operator, out = resumed(operator, 0)
        operator.process("k", 2, 6, 1)
        out.take()
        operator.advance(9)
        assert out.take() == [("fired", "k", (0, 10), [0, 1], 11), ("cleaned", "k", (0, 10), [0, 1])]

    def test_a_stored_timer_outlives_the_lateness_that_it_is_none_of(self):
        operator, _ = start(TUMBLING, 20)
        operator.process("k", 1, 5, 0)
        operator.advance(9)
        for lateness_ms in (5, 30, 20):
            operator, out = resumed(operator, lateness_ms)
        operator.advance(29)
        assert [told[0] for told in out.take()] == ["cleaned"]

    def test_a_late_element_that_lets_an_old_session_grow_fails_the_job(self):
        operator, _ = start(TUMBLING, 20, 5)
        operator.process("k", 1, 5, 0)
        operator.advance(5)
        operator, _ = resumed(operator, 0, 5)
        operator.advance(10)
        with pytest.raises(MergedWindowLateError, match=r"\[1, 8\).*not shorter than it was before"):
            operator.process("k", 3, 5, 1)

    def test_a_late_element_within_an_old_session_is_late(self):
        operator, _ = start(TUMBLING, 20, 5)
        operator.process("k", 1, 5, 0)
        operator.advance(5)
        operator, out = resumed(operator, 0, 5)
        operator.advance(10)
        operator.process("k", 1, 5, 1)
        assert out.take() == [("dropped", 1)]


class TestByTheClock:
    @pytest.mark.parametrize("gap_ms", [0, 10])
    def test_timers_that_are_overdue_run_at_once_the_earliest_first(self, gap_ms):
        def run():
            out = Out()
            window = Window(type="tumbling", size_ms=10, time="processing")
            make = MergingWindowOperator if gap_ms else WindowOperator
            assigner = SessionWindows(gap_ms) if gap_ms else assigner_of(window)
            return make(assigner, trigger_of(window)[0], AGGREGATES["sum"], out, event_time=False), out

        operator, _ = run()
        operator.process("b", 10, 1, 0)
        operator.process("a", 0, 2, 1)
        snapshot = operator.snapshot()
        operator, out = run()
        operator.restore(snapshot)
        assert operator.next_processing_time_ms() == 10
        operator.advance_processing_time(100)
        assert [told[:2] for told in out.take()] == [(what, key) for key in "ab" for what in ("fired", "cleaned")]


KINDS = [
    (TUMBLING, 0, 0),
    (TUMBLING, 15, 0),
    (Window(type="tumbling", size_ms=10, trigger="purging_event_time"), 15, 0),
    (Window(type="tumbling", size_ms=10, trigger="count:2"), 5, 0),
    (Window(type="sliding", size_ms=10, slide_ms=4), 7, 0),
    (Window(type="sliding", size_ms=10, slide_ms=15), 0, 0),
    (Window(type="global", trigger="count:3"), 0, 0),
    (Window(type="global", trigger="end_of_stream"), 0, 0),
    (TUMBLING, 0, 4),
    (TUMBLING, 9, 4),
]


def drive(operator, dice, steps, now_ms, first):
    for event in range(first, first + steps):
        if dice.random() < 0.3:
            now_ms += dice.randint(1, 6)
            operator.advance(now_ms)
        else:
            operator.process(dice.choice("abc"), now_ms + dice.randint(-20, 20), event, event)
    return now_ms


@pytest.mark.parametrize("settings", KINDS, ids=str)
def test_given_its_watermark_again_it_goes_on_as_if_nothing_had_been(settings):
    for seed in range(150):
        dice = random.Random(seed)
        undisturbed, expected = start(*settings)
        now_ms = drive(undisturbed, dice, dice.randint(1, 40), 0, 0)
        operator, out = restarted(undisturbed, *settings)
        expected.take()
        operator.advance(undisturbed.watermark_ms)
        assert out.take() == [], seed
        seed_of_rest = dice.random()
        for each in (undisturbed, operator):
            drive(each, random.Random(seed_of_rest), 30, now_ms, 100)
            each.advance(MAX_MS)
        assert sorted(map(str, out.take())) == sorted(map(str, expected.take())), seed
