"""SQL's watermarks: the operator behind a source, and the generator in it."""

import pytest

import wmviz
from tests.engine.noted import Noted
from wmviz.engine.sql import DefaultWatermarkGenerator, WatermarkAssignerOperator, timer_interval_ms
from wmviz.scenario import ScenarioError
from wmviz.times import MIN_MS, time_ms
from wmviz.trace import Kind, Status


class Table:
    def __init__(self, interval_ms=200, idle_timeout_ms=0):
        self.out, self.now_ms = Noted(), 0
        self.operator = WatermarkAssignerOperator(interval_ms, idle_timeout_ms, lambda: self.now_ms, self.out)

    def timer(self, at_ms):
        self.now_ms = at_ms
        self.operator.on_timer()
        return self.out.take()

    def row(self, watermark_ms):
        self.operator.process(0, watermark_ms)
        return self.out.take()


@pytest.mark.parametrize(("ahead_ms", "at_once"), [(200, []), (201, [("watermark", 201)])])
def test_a_watermark_further_ahead_than_the_interval_follows_its_row(ahead_ms, at_once):
    assert Table().row(ahead_ms) == [("record", 0), *at_once]


def test_the_timer_sends_the_rest():
    table = Table()
    table.row(150)
    assert table.timer(199) == []
    assert table.timer(200) == [("watermark", 150)]
    assert table.timer(400) == []


def test_nothing_at_or_below_0_goes_out_and_null_is_skipped():
    table = Table()
    for watermark_ms in (-5, 0, None):
        table.row(watermark_ms)
    assert table.timer(200) == []


def test_the_timeout_needs_only_be_reached_and_the_next_row_wakes_the_stream():
    table = Table(idle_timeout_ms=1000)
    table.timer(40)
    assert table.timer(1039) == []
    assert table.timer(1040) == ["idle"]
    assert table.timer(1080) == []
    assert table.row(-1) == ["active", ("record", 0)]


def test_backpressure_stops_the_timeout():
    table = Table(idle_timeout_ms=1000)
    table.timer(40)
    table.operator.clock.pause()
    assert table.timer(5000) == []
    table.operator.clock.unpause()
    assert table.timer(5999) == []
    assert table.timer(6000) == ["idle"]


def test_a_row_without_event_time_is_refused():
    with pytest.raises(ValueError, match="NULL"):
        Table().operator.process(None, 5)


@pytest.mark.parametrize(
    ("interval_ms", "idle_timeout_ms", "timer_ms"),
    [(0, 0, 0), (200, 0, 200), (0, 500, 500), (200, 1000, 40), (200, 1001, 200), (1001, 200, 200), (3, 4, 1)],
)
def test_timers_come_a_fifth_of_the_shorter_time_apart_unless_it_is_far_shorter(interval_ms, idle_timeout_ms, timer_ms):
    assert timer_interval_ms(interval_ms, idle_timeout_ms) == timer_ms


class TestInTheSource:
    def test_the_highest_value_is_given_on_every_tick_with_no_minus_one(self):
        generator = DefaultWatermarkGenerator(10, on_event=False)
        assert generator.on_periodic_emit() == MIN_MS
        assert [generator.on_event(ms) for ms in (5, None, 3)] == [None] * 3
        assert [generator.on_periodic_emit(), generator.on_periodic_emit()] == [-5, -5]

    def test_on_event_only_a_higher_value_goes_out_and_none_on_ticks(self):
        generator = DefaultWatermarkGenerator(10, on_event=True)
        assert [generator.on_event(ms) for ms in (5, 5, 3, None, 6)] == [-5, None, None, None, -4]
        assert generator.on_periodic_emit() is None

    def test_each_partition_has_its_own_watermark_and_behind_the_source_there_is_one(self):
        pushed = wmviz.scenario("sql-pushed-down")
        in_source, behind = (wmviz.simulate(pushed.replace(strategy_at=at)) for at in ("source", "after"))
        assert [(f.key, f.value, f.watermark_ms) for f in in_source.all_firings] == [
            ("r4471", 2000, time_ms("7:01")),
            ("r9", 3000, time_ms("7:01")),
        ]
        assert [(f.key, f.value, f.at_ms) for f in behind.all_firings] == [
            ("r4471", 2000, time_ms("7:03:10")),
            ("r9", 1000, time_ms("7:03:10")),
        ]
        assert (in_source.dropped_count, behind.dropped_count) == (0, 2)

    @pytest.mark.parametrize(("at", "when_ms", "said"), [("source", 3400, "more than 2 s"), ("after", 3000, "for 2 s")])
    def test_in_the_source_the_timeout_must_be_exceeded_and_behind_it_reached(self, at, when_ms, said):
        scenario = wmviz.Scenario.of(
            events=[["a", 1, 1000, 1000]],
            start=0,
            window="10 s",
            api="sql",
            strategy_at=at,
            emission="interval",
            idle_timeout="2 s",
        )
        trace = wmviz.simulate(scenario)
        first = next(row for row in trace if row.kind == Kind.STATUS and row.value == Status.IDLE)
        assert first.at_ms == when_ms
        assert said in trace.sentence(first.row)

    def test_only_in_the_source_a_watermark_waits_for_the_tick(self):
        scenario = wmviz.Scenario.of(
            events=[["a", 1, 1000, 1010]], start=0, window="10 s", api="sql", emission="interval"
        )
        times = {
            at: next(
                row.at_ms for row in wmviz.simulate(scenario.replace(strategy_at=at)) if row.kind == Kind.WATERMARK
            )
            for at in ("source", "after")
        }
        assert times == {"source": 1200, "after": 1010}

    def test_alignment_needs_the_watermark_in_the_source(self):
        scenario = wmviz.scenario("sql-pushed-down").replace(alignment="1 min")
        assert any(row.kind == Kind.PAUSED for row in wmviz.simulate(scenario))
        with pytest.raises(ScenarioError, match=r'alignment: .* write strategy_at "source"'):
            scenario.replace(strategy_at="after")

    def test_sql_takes_no_generator_of_ones_own(self):
        with pytest.raises(ValueError, match='write api "datastream"'):
            wmviz.simulate(wmviz.scenario("sql-watermark"), generator=DefaultWatermarkGenerator(0, on_event=True))


def test_the_interval_is_counted_on_while_there_is_nothing_to_send():
    rows = [["a", 1, 1_000, 1_000], ["a", 1, 1_100, 1_250], ["a", 1, 1_150, 1_630]]
    scenario = wmviz.Scenario.of(
        api="sql", strategy_at="after", emission="interval", interval="200 ms", idle_timeout="500 ms", events=rows
    )
    sent = [row.at_ms for row in wmviz.simulate(scenario) if row.kind is Kind.WATERMARK and row.place == "window"]
    # The first goes behind its row, which is ahead by more than the interval. The timer comes by every 40 ms, but the
    # interval ends on a grid of 200 ms from the start.
    assert sent == [1_000, 1_400, 1_800]
