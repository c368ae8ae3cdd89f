"""The comparison can fail: an engine with one rule broken differs from what real Flink reported.

Flink runs once; each mutant of the engine is compared with that.
"""

import pytest

import wmviz
from tests.random_scenarios import random_scenarios
from wmviz.comparison import compare
from wmviz.engine import sinks, triggers, watermarks, window_operator
from wmviz.engine.longs import wrap

pytestmark = pytest.mark.flink

WindowOperator = window_operator.WindowOperator


@pytest.fixture(scope="module")
def runs(flink):
    """Return scenarios with what Flink reported of them."""
    scenarios = [wmviz.scenario("leaderboard"), *random_scenarios(39, seed=2)]
    return list(zip(scenarios, flink.run_many(scenarios), strict=True))


def no_minus_one(patch):
    """The watermark is max − bound."""
    cls = watermarks.BoundedOutOfOrdernessWatermarks
    patch.setattr(cls, "on_periodic_emit", lambda self: wrap(self._max_timestamp_ms - self._delay_ms + 1))


def timers_run_below_the_watermark(patch):
    """A window fires at a watermark above its last millisecond, not at it: < for <=."""
    run_timers = WindowOperator._run_timers
    patch.setattr(WindowOperator, "_run_timers", lambda self, up_to_ms: run_timers(self, up_to_ms - 1))


def end_is_the_last_millisecond(patch):
    """A window fires when the watermark reaches its end."""
    patch.setattr(triggers.EventTimeTrigger, "timer_ms", lambda self, window: window.max_timestamp_ms + 1)


def lateness_one_longer(patch):
    """State is kept up to and with maxTimestamp + lateness."""
    cleanup_ms = WindowOperator._cleanup_ms
    patch.setattr(WindowOperator, "_cleanup_ms", lambda self, window: cleanup_ms(self, window) + 1)


def lateness_one_shorter(patch):
    """State is gone 1 ms too early."""
    cleanup_ms = WindowOperator._cleanup_ms
    patch.setattr(WindowOperator, "_cleanup_ms", lambda self, window: cleanup_ms(self, window) - 1)


def late_events_do_not_fire_again(patch):
    """A late event is counted silently."""
    patch.setattr(triggers.EventTimeTrigger, "on_element", lambda self, state, watermark_ms: False)


def upsert_adds(patch):
    """The sink adds each result to its row."""

    def write(self, key, window, value):
        self.rows[key, window] = self.rows.get((key, window), 0) + value
        return self.rows[key, window]

    patch.setattr(sinks.UpsertSink, "write", write)


def everything_late_is_dropped(patch):
    """The side output stays empty."""
    turn_away = WindowOperator._turn_away

    def mutant(self, timestamp_ms, event):
        self._side_output = False
        turn_away(self, timestamp_ms, event)

    patch.setattr(WindowOperator, "_turn_away", mutant)


def purging_keeps_the_content(patch):
    """A purging trigger fires without emptying the window."""
    fire = WindowOperator._fire

    def mutant(self, pane):
        self._purging = False
        fire(self, pane)

    patch.setattr(WindowOperator, "_fire", mutant)


def watermark_goes_back(patch):
    """Every watermark is sent on, also a lower one."""

    def emit(self, watermark_ms):
        self.current_ms = watermark_ms
        self._out.watermark(watermark_ms)

    patch.setattr(watermarks.WatermarkEmitter, "emit", emit)
    cls = watermarks.BoundedOutOfOrdernessWatermarks
    patch.setattr(cls, "on_event", lambda self, timestamp_ms: setattr(self, "_max_timestamp_ms", timestamp_ms))


MUTANTS = [
    no_minus_one,
    timers_run_below_the_watermark,
    end_is_the_last_millisecond,
    lateness_one_longer,
    lateness_one_shorter,
    late_events_do_not_fire_again,
    upsert_adds,
    everything_late_is_dropped,
    purging_keeps_the_content,
    watermark_goes_back,
]
SEEN_ON_THE_LEADERBOARD = {
    no_minus_one,
    timers_run_below_the_watermark,
    end_is_the_last_millisecond,
    lateness_one_longer,
    lateness_one_shorter,
    late_events_do_not_fire_again,
    upsert_adds,
    everything_late_is_dropped,
}


def different(runs):
    return [scenario.name for scenario, flink in runs if not compare(scenario, flink).same]


def test_without_a_mutant_both_are_the_same(runs):
    assert different(runs) == []


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_a_mutant_is_caught(runs, mutant, monkeypatch):
    mutant(monkeypatch)
    names = different(runs)
    assert names, mutant.__doc__
    if mutant in SEEN_ON_THE_LEADERBOARD:
        assert "leaderboard" in names, mutant.__doc__
