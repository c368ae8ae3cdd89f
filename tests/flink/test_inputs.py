"""Scenarios with several inputs on real Flink: the same as ours, and an engine with one rule broken is not.

Flink runs once. Nothing of a replay comes from our engine: partitions, idleness and the valve are Flink's own classes.
"""

import pytest

import wmviz
from tests.random_scenarios import SEED, random_inputs
from wmviz.comparison import compare
from wmviz.engine import multiplexer, subtasks, valve, watermarks
from wmviz.flink import FlinkError, code, limits, replay
from wmviz.times import MAX_MS, time_ms

pytestmark = pytest.mark.flink

NUMBER = 100
BEHIND = [["r9", 1000, "6:15", "8:05:20", 1], ["r7", 1000, "8:30", "8:05:22", 0], ["r7", 1000, "8:31", "8:05:24", 0]]
CATALOGUE = ("quiet-partition", "spare-subtask", "idle-bet")
REASONS = {
    "backpressure": "how long its events wait is up to the machine",
    "crash-and-replay": r"no two runs on Flink are alike, .* wmviz.flink.recover shows a crash on Flink",
    "watermark-alignment": "sources hear of its limit when a message comes through",
    "savepoint": r"what a checkpoint holds .* wmviz.flink.resume shows a savepoint on Flink",
    "transactional-sink": r"it commits when a checkpoint is complete: .* wmviz.flink.write_files",
    "daylight-saving": "cuts its windows in local time",
}


@pytest.fixture(scope="module")
def runs(flink):
    """Return scenarios with what Flink reported of them."""
    catalogue = [wmviz.scenario(name) for name in CATALOGUE]
    quiet = wmviz.scenario("quiet-partition")
    scenarios = [
        *catalogue,
        *map(wmviz.scenario, ("finished-input", "finished-partition", "silent-partition", "two-inputs")),
        quiet.replace(name="returns", idle_timeout="10 s"),
        quiet.replace(name="strategy-after", strategy_at="after"),
        quiet.replace(name="behind-itself", idle_timeout="10 s", events=[*quiet.to_json()["events"], *BEHIND]),
        quiet.replace(name="ends", end_of_input="9:00"),
        quiet.replace(name="ends-idle", idle_timeout="10 s", end_of_input="9:00"),
        *random_inputs(NUMBER),
    ]
    return list(zip(scenarios, replay.reports(scenarios), strict=True))


def different(runs):
    return [scenario.name for scenario, report in runs if not compare(scenario, report.trace(scenario)).same]


def test_both_engines_are_the_same(runs):
    comparisons = [compare(scenario, report.trace(scenario)) for scenario, report in runs]
    assert [repr(comparison) for comparison in comparisons if not comparison.same] == [], f"seed {SEED}"
    seen = {what: sum(c.counts[what] for c in comparisons) for what in comparisons[0].counts}
    assert all(number > 50 for number in seen.values()), f"these scenarios test too little: {seen}"


def test_the_last_watermark_of_an_idle_source_is_lost(runs):
    """The replay's own end sends MAX, which must not pass for the scenario's."""
    last_ms = {scenario.name: report.last_ms for scenario, report in runs if scenario.end_of_input_ms is not None}
    assert last_ms["ends"] == MAX_MS
    assert last_ms["ends-idle"] == time_ms("8:02:59.999")
    assert sum(watermark_ms != MAX_MS for watermark_ms in last_ms.values()) > 3


def test_a_quiet_partition_holds_every_window_back_until_it_is_idle(runs):
    firings = {scenario.name: report.trace(scenario).outcomes().firings for scenario, report in runs}
    assert firings["quiet-partition"] == firings["spare-subtask"] == {}
    assert len(firings["returns"]) > 3
    assert len(firings["strategy-after"]) > 3


def idle_at_the_timeout(patch):
    """A silence of exactly the timeout makes an input idle."""
    idle = watermarks.WatermarksWithIdleness._is_idle

    def mutant(self):
        timeout_ms, self._timeout_ms = self._timeout_ms, self._timeout_ms - 1
        found = idle(self)
        self._timeout_ms = timeout_ms
        return found

    patch.setattr(watermarks.WatermarksWithIdleness, "_is_idle", mutant)


def silence_counts_from_the_last_event(patch):
    """The timer starts at once, not at the first tick without an event."""

    def mutant(self):
        now_ms = self.clock.relative_time_ms()
        if self._events != self._events_at_last_tick or self._silent_since_ms == 0:
            self._events_at_last_tick, self._silent_since_ms = self._events, now_ms
        return now_ms - self._silent_since_ms > self._timeout_ms

    patch.setattr(watermarks.WatermarksWithIdleness, "_is_idle", mutant)


def never_idle(patch):
    """An idle timeout does nothing."""

    def mutant(self):
        self._is_idle()
        self._marked_idle = True  # so that no tick waits for it
        return self._generator.on_periodic_emit()

    patch.setattr(watermarks.WatermarksWithIdleness, "on_periodic_emit", mutant)


def the_fastest_split_counts(patch):
    """The combined watermark of the splits is the highest."""
    patch.setattr(multiplexer, "min", max, raising=False)


def all_idle_keeps_the_lowest(patch):
    """When every split is idle, the highest watermark is not flushed."""
    patch.setattr(multiplexer, "max", min, raising=False)


def a_watermark_without_progress_leaves_a_split_idle(patch):
    """Only a higher watermark ends the idleness of a split."""
    cls, taken = multiplexer.PartialWatermark, multiplexer.PartialWatermark.set_watermark

    def mutant(self, watermark_ms):
        was_idle, rose = self.is_idle, taken(self, watermark_ms)
        self.is_idle = was_idle and not rose
        return rose

    patch.setattr(cls, "set_watermark", mutant)


def the_valve_waits_for_who_comes_back(patch):
    """A channel that comes back behind holds the others at once."""
    active = valve.StatusWatermarkValve.active

    def mutant(self, channel):
        active(self, channel)
        self._aligned_ms[channel] = self._watermarks_ms[channel]

    patch.setattr(valve.StatusWatermarkValve, "active", mutant)


def an_idle_channel_holds_the_valve(patch):
    """A channel that goes idle still counts."""
    patch.setattr(valve.StatusWatermarkValve, "idle", lambda self, channel: None)


def a_finished_partition_stays_in_the_minimum(patch):
    """The end of a partition changes nothing."""
    patch.setattr(multiplexer.WatermarkOutputMultiplexer, "unregister", lambda self, split: False)


def a_finished_partition_leaves_at_the_next_event(patch):
    """Ticks do not see that a partition has ended."""
    patch.setattr(
        subtasks.SourceSubtask, "_has_released", property(lambda self: False, lambda self, value: None), raising=False
    )


def the_second_input_does_not_count(patch):
    """An operator with two inputs goes by the watermark of the first."""
    taken = multiplexer.CombinedInputs.watermark

    def mutant(self, index, watermark_ms):
        for number in range(len(self.combined.partials)) if index == 0 else ():
            taken(self, number, watermark_ms)

    patch.setattr(multiplexer.CombinedInputs, "watermark", mutant)


def an_idle_source_sends_its_last_watermark(patch):
    """MAX passes whatever the status is."""
    cls = watermarks.WatermarkEmitter
    patch.setattr(cls, "end_of_source", cls.end_of_input)


MUTANTS = [
    idle_at_the_timeout,
    silence_counts_from_the_last_event,
    never_idle,
    the_fastest_split_counts,
    all_idle_keeps_the_lowest,
    a_watermark_without_progress_leaves_a_split_idle,
    the_valve_waits_for_who_comes_back,
    an_idle_channel_holds_the_valve,
    a_finished_partition_stays_in_the_minimum,
    a_finished_partition_leaves_at_the_next_event,
    the_second_input_does_not_count,
    an_idle_source_sends_its_last_watermark,
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_a_mutant_is_caught(runs, mutant, monkeypatch):
    mutant(monkeypatch)
    assert different(runs), mutant.__doc__


@pytest.mark.parametrize("name", REASONS)
def test_what_cannot_be_replayed_is_refused_with_the_reason(name):
    with pytest.raises(FlinkError, match=REASONS[name]):
        limits.refuse(wmviz.scenario(name))


def test_a_clock_of_more_than_a_hundred_years_is_refused_in_a_sentence(flink):
    events = [["a", 1, 0, 0], ["a", 1, 10, 10**13]]
    with pytest.raises(FlinkError, match="lasts longer than 100 years"):
        flink.run(wmviz.Scenario.of(events=events, idle_timeout=1000))


def test_ticks_without_number_take_no_time(flink):
    """A month of ticks at 1 ms: only those that can matter are made."""
    events = [["a", 1, 0, 0, 0], ["b", 1, 5, 20, 1], ["a", 1, 30 * 86_400_000, 30 * 86_400_000, 0]]
    scenario = wmviz.Scenario.of(events=events, emission="interval", interval=1, idle_timeout=50, window="1 h")
    assert compare(scenario, flink.run(scenario, limit_s=60)).same


def test_the_program_shows_what_moves_the_clock():
    program = code(wmviz.scenario("idle-bet").replace(end_of_input="9:01"))
    assert "ticks(32400400),  # 9:00:00.400" in program
    assert program.index("finish(32460000, 1)") < program.index("last(32460000)")
    assert "strategy.with_idleness(Duration.of_millis(1000))  # 1 s" in program
    assert "with_idleness" in code(wmviz.scenario("idle-bet"), "work")
