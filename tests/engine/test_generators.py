"""Generators and the filter behind them: the −1 ms, no way back, MIN never sent."""

import pytest

from wmviz.engine.watermarks import (
    AscendingTimestampsWatermarks,
    BoundedOutOfOrdernessWatermarks,
    NoWatermarksGenerator,
    WatermarkEmitter,
    generator_of,
)
from wmviz.times import MAX_MS, MIN_MS


class Sent(list):
    """Takes watermarks and statuses in order."""

    watermark = list.append

    def idle(self):
        self.append("idle")

    def active(self):
        self.append("active")


class TestBounded:
    @pytest.mark.parametrize(
        ("bound_ms", "events", "watermark_ms"),
        [
            (2000, [10_000, 9_000, 12_000], 9_999),
            (0, [5], 4),
            (10, [-5], -16),
            (10, [100, 50], 89),
            (120_000, [25_320_000], 25_199_999),
            (MAX_MS, [5], MIN_MS + 5),
        ],
    )
    def test_the_watermark_is_the_highest_timestamp_minus_bound_minus_one(self, bound_ms, events, watermark_ms):
        generator = BoundedOutOfOrdernessWatermarks(bound_ms)
        for timestamp_ms in events:
            generator.on_event(timestamp_ms)
        assert generator.on_periodic_emit() == watermark_ms
        assert generator.on_periodic_emit() == watermark_ms

    @pytest.mark.parametrize("bound_ms", [0, 1, 120_000, MAX_MS])
    def test_before_any_event_it_is_exactly_min(self, bound_ms):
        assert BoundedOutOfOrdernessWatermarks(bound_ms).on_periodic_emit() == MIN_MS

    def test_a_negative_bound_is_refused(self):
        with pytest.raises(ValueError, match="bound is -1 ms; the out-of-orderness bound cannot be negative"):
            BoundedOutOfOrdernessWatermarks(-1)

    def test_an_event_alone_emits_nothing(self):
        assert BoundedOutOfOrdernessWatermarks(5).on_event(100) is None


class TestOthers:
    def test_ascending_is_a_bound_of_zero(self):
        generator = AscendingTimestampsWatermarks()
        generator.on_event(5)
        assert generator.on_periodic_emit() == 4

    def test_no_watermarks_gives_none(self):
        generator = NoWatermarksGenerator()
        generator.on_event(5)
        assert generator.on_periodic_emit() is None

    @pytest.mark.parametrize(
        ("strategy", "kind"),
        [
            ("bounded", BoundedOutOfOrdernessWatermarks),
            ("ascending", AscendingTimestampsWatermarks),
            ("none", NoWatermarksGenerator),
        ],
    )
    def test_a_strategy_has_its_generator(self, strategy, kind):
        assert type(generator_of(strategy, 5)) is kind


class TestEmitter:
    def test_only_progress_is_sent(self):
        sent = Sent()
        emitter = WatermarkEmitter(sent)
        for watermark_ms in (MIN_MS, 5, 5, 3, 6):
            emitter.emit(watermark_ms)
        assert sent == [5, 6]

    def test_after_the_end_of_the_input_nothing_is_progress(self):
        sent = Sent()
        emitter = WatermarkEmitter(sent)
        emitter.end_of_input()
        emitter.emit(MAX_MS)
        emitter.emit(7)
        assert sent == [MAX_MS]

    def test_active_goes_before_the_watermark_that_ends_idleness_and_not_before_a_lower_one(self):
        sent = Sent()
        emitter = WatermarkEmitter(sent)
        emitter.emit(5)
        emitter.mark_idle()
        emitter.mark_idle()
        emitter.emit(5)
        emitter.emit(6)
        assert sent == [5, "idle", "active", 6]
