"""The splits of a source and the inputs of an operator."""

import pytest

from tests.engine.noted import Noted
from wmviz.engine.multiplexer import CombinedInputs, CombinedWatermarkStatus, WatermarkOutputMultiplexer
from wmviz.times import MAX_MS, MIN_MS


@pytest.fixture
def out():
    return Noted()


class TestSplits:
    @pytest.fixture
    def mux(self, out):
        mux = WatermarkOutputMultiplexer(out)
        mux.register("a")
        mux.register("b")
        return mux

    def test_the_lowest_split_holds_and_a_split_without_watermark_stands_at_min(self, mux, out):
        mux.immediate_output("a").emit(10)
        assert out.take() == []
        mux.immediate_output("b").emit(7)
        assert out.take() == [("emit", 7)]

    def test_what_a_tick_emits_shows_when_all_splits_were_asked(self, mux, out):
        mux.deferred_output("a").emit(10)
        mux.deferred_output("b").emit(5)
        assert out.take() == []
        mux.on_periodic_emit()
        assert out.take() == [("emit", 5)]

    def test_an_idle_split_lets_go_at_once(self, mux, out):
        mux.immediate_output("a").emit(10)
        mux.immediate_output("b").emit(5)
        mux.immediate_output("b").mark_idle()
        assert out.calls == [("emit", 5), ("emit", 10)]

    def test_when_all_are_idle_the_highest_goes_out_before_the_status(self, mux, out):
        for split, watermark_ms in (("a", 5), ("b", 4)):
            mux.immediate_output(split).emit(watermark_ms)
        mux.immediate_output("a").mark_idle()
        mux.immediate_output("b").mark_idle()
        assert out.calls == [("emit", 4), ("emit", 5), "mark_idle"]

    def test_a_split_that_comes_back_behind_stalls_the_rest(self, mux, out):
        mux.immediate_output("a").emit(10)
        mux.immediate_output("b").mark_idle()
        mux.immediate_output("b").emit(6)
        mux.immediate_output("a").emit(30)
        assert out.take() == [("emit", 10)]
        mux.immediate_output("b").emit(25)
        assert out.take() == [("emit", 25)]

    def test_a_finished_split_lets_go_when_the_others_are_combined_next(self, mux, out):
        mux.immediate_output("a").emit(10)
        assert mux.unregister("b") is True
        assert out.take() == []
        mux.on_periodic_emit()
        assert out.take() == [("emit", 10)]

    def test_without_splits_nothing_comes(self, mux, out):
        mux.unregister("a")
        mux.unregister("b")
        mux.on_periodic_emit()
        assert out.calls == []

    def test_a_split_is_registered_once_and_known_before_it_is_used(self, mux):
        assert mux.unregister("c") is False
        with pytest.raises(RuntimeError, match="'a' is registered already"):
            mux.register("a")
        with pytest.raises(ValueError, match="'c' is not registered"):
            mux.immediate_output("c")
        with pytest.raises(ValueError, match="'c' is not registered"):
            mux.deferred_output("c")


class TestInputs:
    @pytest.fixture
    def inputs(self, out):
        return CombinedInputs(2, out)

    def test_the_lower_input_holds(self, inputs, out):
        inputs.watermark(0, 10)
        inputs.watermark(1, 5)
        assert out.calls == [("watermark", 5)]

    def test_one_idle_input_leaves_time_to_the_other_and_no_status_goes_on(self, inputs, out):
        inputs.watermark(0, 10)
        inputs.idle(1)
        assert out.calls == [("watermark", 10)]

    def test_both_idle_flush_the_higher_watermark_before_the_status(self, inputs, out):
        inputs.watermark(0, 10)
        inputs.watermark(1, 5)
        inputs.idle(0)
        inputs.idle(1)
        assert out.calls == [("watermark", 5), ("watermark", 10), "idle"]

    def test_a_watermark_ends_idleness_silently_so_the_status_behind_it_is_no_news(self, inputs, out):
        inputs.idle(0)
        inputs.idle(1)
        inputs.watermark(0, 6)
        inputs.active(0)
        assert out.calls == ["idle", ("watermark", 6)]

    def test_one_ended_and_one_idle_input_end_event_time(self, inputs, out):
        inputs.watermark(1, MAX_MS)
        inputs.idle(0)
        assert out.calls == [("watermark", MAX_MS)]


def test_nothing_combines_to_nothing():
    status = CombinedWatermarkStatus()
    assert status.update() is False
    assert (status.watermark_ms, status.is_idle) == (MIN_MS, False)
