"""Cases can fail: an engine with one rule broken fails at least one of them, and for the reason that it is broken."""

import pytest

from tests.semantics.cases import files, load
from tests.semantics.run import verdict
from tests.test_mutants import MUTANTS
from wmviz.engine import local_time, triggers, watermarks, windows
from wmviz.engine.longs import wrap
from wmviz.engine.window_operator import WindowOperator
from wmviz.times import MAX_MS

CASES = [case for path in files() for case in load(path)]


def events_are_late_by_their_own_timestamp(patch):
    """An event behind the watermark is late although its window is open."""
    process = WindowOperator.process

    def mutant(self, key, timestamp_ms, value, event):
        if timestamp_ms <= self.watermark_ms:
            self._out.dropped(event)
        else:
            process(self, key, timestamp_ms, value, event)

    patch.setattr(WindowOperator, "process", mutant)


def late_events_are_dropped_and_go_to_the_side_output(patch):
    """A late event counts as dropped beside the side output."""
    turn_away = WindowOperator._turn_away

    def mutant(self, timestamp_ms, event):
        turn_away(self, timestamp_ms, event)
        if self._side_output:
            self._out.dropped(event)

    patch.setattr(WindowOperator, "_turn_away", mutant)


def gaps_are_always_late(patch):
    """An event in no window is late whatever the watermark."""
    patch.setattr(WindowOperator, "_turn_away", lambda self, timestamp_ms, event: self._out.dropped(event))


def watermark_goes_first(patch):
    """The watermark goes downstream before the results that it causes."""

    def mutant(self, watermark_ms):
        self.watermark_ms = watermark_ms
        self._out.watermark(watermark_ms)
        self._run_timers(watermark_ms)

    patch.setattr(WindowOperator, "advance", mutant)


def firing_purges(patch):
    """Every firing empties the window."""
    fire = WindowOperator._fire

    def mutant(self, pane):
        fire(self, pane)
        pane.events = []

    patch.setattr(WindowOperator, "_fire", mutant)


def count_does_not_start_again(patch):
    """A count trigger fires for every element from the n-th on."""

    def mutant(self, state, watermark_ms):
        state.count += 1
        return state.count >= self._max_count

    patch.setattr(triggers.CountTrigger, "on_element", mutant)


def end_of_stream_waits_for_ever(patch):
    """The end-of-stream trigger has no timer."""
    patch.setattr(triggers.EndOfStreamTrigger, "timer_ms", lambda self, window: None)


def windows_are_cut_towards_zero(patch):
    """A window's start is rounded towards zero, not down."""
    patch.setattr(windows, "window_start_ms", lambda ts, offset, size: int((ts - offset) / size) * size + offset)


def offset_goes_the_other_way(patch):
    """The offset is added where it is subtracted."""
    start_ms = windows.window_start_ms
    patch.setattr(windows, "window_start_ms", lambda ts, offset, size: start_ms(ts, -offset, size))


def sliding_windows_are_oldest_first(patch):
    """The windows of an event come in order of their start."""
    assign = windows.SlidingWindows.assign
    patch.setattr(windows.SlidingWindows, "assign", lambda self, ts: assign(self, ts)[::-1])


def no_timestamp_is_a_timestamp(patch):
    """A record without timestamp is put into the window that MIN is in."""
    assign = windows.TumblingWindows.assign
    patch.setattr(windows.TumblingWindows, "assign", lambda self, ts: assign(self, max(ts, -(2**62))))


def cleanup_overflows(patch):
    """A cleanup time that overflows is far in the past."""
    patch.setattr(WindowOperator, "_cleanup_ms", lambda self, window: wrap(window.max_timestamp_ms + self._lateness_ms))


def generator_starts_at_min(patch):
    """The maximum starts at MIN, so the first watermark underflows."""
    init = watermarks.BoundedOutOfOrdernessWatermarks.__init__

    def mutant(self, bound_ms):
        init(self, bound_ms)
        self._max_timestamp_ms = wrap(self._max_timestamp_ms - bound_ms - 1)

    patch.setattr(watermarks.BoundedOutOfOrdernessWatermarks, "__init__", mutant)


def upstream_watermarks_pass(patch):
    """The operator behind the source forwards every watermark from upstream."""
    patch.setattr(
        watermarks.TimestampsAndWatermarksOperator, "watermark", lambda self, ms: self._emitter.emit(min(ms, MAX_MS))
    )


def finish_is_silent(patch):
    """The generator is not asked on finish."""
    patch.setattr(watermarks.TimestampsAndWatermarksOperator, "finish", lambda self: None)


def timers_of_repeated_hours_are_in_the_first_round(patch):
    """A time that the clock shows twice is its first moment."""
    clock = local_time.LocalClock
    patch.setattr(clock, "timer_ms", lambda self, ms: ms - self._offset_ms(ms, 0))


def timers_of_skipped_hours_are_the_last_millisecond(patch):
    """A window that ends in a skipped hour fires one millisecond before the change."""
    timer_ms = local_time.LocalClock.timer_ms
    clock = local_time.LocalClock
    patch.setattr(clock, "timer_ms", lambda self, ms: min(timer_ms(self, ms), self.end_ms(ms + 1) - 1))


def lateness_does_not_know_the_local_clock(patch):
    """Lateness is added to the moment of the last millisecond."""
    patch.setattr(local_time.LocalWindow, "cleanup_ms", lambda self, lateness_ms: self.max_timestamp_ms + lateness_ms)


def events_ahead_of_the_watermark_are_never_late(patch):
    """An event of the second round whose window has fired in the first is not late."""
    turn_away = WindowOperator._turn_away

    def mutant(self, timestamp_ms, event):
        self._leaves_no_gaps = False
        turn_away(self, timestamp_ms, event)

    patch.setattr(WindowOperator, "_turn_away", mutant)


OWN = [
    events_are_late_by_their_own_timestamp,
    late_events_are_dropped_and_go_to_the_side_output,
    gaps_are_always_late,
    watermark_goes_first,
    firing_purges,
    count_does_not_start_again,
    end_of_stream_waits_for_ever,
    windows_are_cut_towards_zero,
    offset_goes_the_other_way,
    sliding_windows_are_oldest_first,
    no_timestamp_is_a_timestamp,
    cleanup_overflows,
    generator_starts_at_min,
    upstream_watermarks_pass,
    finish_is_silent,
    timers_of_repeated_hours_are_in_the_first_round,
    timers_of_skipped_hours_are_the_last_millisecond,
    lateness_does_not_know_the_local_clock,
    events_ahead_of_the_watermark_are_never_late,
]


def broken():
    return [case["id"] for case in CASES if verdict(case) is not None]


def test_without_a_mutant_all_cases_pass():
    assert broken() == []


@pytest.mark.parametrize("mutant", [*MUTANTS, *OWN], ids=lambda mutant: mutant.__name__)
def test_a_mutant_breaks_a_case(mutant, monkeypatch):
    mutant(monkeypatch)
    assert broken(), mutant.__doc__
