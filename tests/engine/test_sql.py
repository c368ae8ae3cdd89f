"""The watermark operator of SQL."""

import pytest

from tests.engine.noted import Noted
from wmviz.engine.sql import WatermarkAssignerOperator, timer_interval_ms


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
