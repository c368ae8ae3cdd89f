"""Idleness: its timer, its clock, and what of it leaves the operator."""

import pytest

from tests.engine.noted import Noted
from wmviz.engine.watermarks import (
    IDLE,
    BoundedOutOfOrdernessWatermarks,
    NoWatermarksGenerator,
    PausableRelativeClock,
    TimestampsAndWatermarksOperator,
    WatermarkEmitter,
    WatermarksWithIdleness,
    emit_periodically,
)
from wmviz.times import MAX_MS, MIN_MS


class Machine:
    def __init__(self, now_ms=0):
        self.ms = now_ms

    def now_ms(self):
        return self.ms


@pytest.fixture
def out():
    return Noted()


class TestEmitter:
    def test_idle_and_active_are_sent_once(self, out):
        emitter = WatermarkEmitter(out)
        emitter.mark_active()
        for mark in (emitter.mark_idle, emitter.mark_idle, emitter.mark_active, emitter.mark_active):
            mark()
        assert out.calls == ["idle", "active"]

    def test_the_end_of_the_input_wakes_an_idle_stream(self, out):
        emitter = WatermarkEmitter(out)
        emitter.mark_idle()
        emitter.end_of_input()
        assert out.calls == ["idle", "active", ("watermark", MAX_MS)]

    @pytest.mark.parametrize(("idle", "sent"), [(True, ["idle"]), (False, [("watermark", MAX_MS)])])
    def test_a_source_that_ends_while_idle_loses_its_max(self, out, idle, sent):
        emitter = WatermarkEmitter(out)
        if idle:
            emitter.mark_idle()
        emitter.end_of_source()
        assert out.calls == sent

    def test_the_sign_for_idle_is_no_watermark_even_where_nobody_looks_for_it(self, out):
        WatermarkEmitter(out).emit(IDLE)
        assert out.calls == []


class TestPausableRelativeClock:
    def test_it_stands_still_while_paused_and_goes_on_from_there(self):
        machine = Machine(100)
        clock = PausableRelativeClock(machine.now_ms)
        clock.pause()
        machine.ms = 150
        assert clock.relative_time_ms() == 100
        clock.unpause()
        machine.ms = 160
        assert clock.relative_time_ms() == 110

    def test_pauses_nest_and_count_once(self):
        machine = Machine(100)
        clock = PausableRelativeClock(machine.now_ms)
        for machine.ms, call in ((110, clock.pause), (120, clock.pause), (130, clock.unpause), (140, clock.unpause)):
            call()
        machine.ms = 150
        assert clock.relative_time_ms() == 120

    def test_the_end_of_a_pause_that_never_began_is_refused(self):
        with pytest.raises(RuntimeError, match="without a pause"):
            PausableRelativeClock(Machine().now_ms).unpause()


class TestIdleness:
    @pytest.fixture
    def machine(self):
        return Machine(1000)

    @pytest.fixture
    def generator(self, machine):
        inner = BoundedOutOfOrdernessWatermarks(0)
        return WatermarksWithIdleness(inner, 500, PausableRelativeClock(machine.now_ms))

    def ticks(self, generator, machine, *times_ms):
        given = []
        for machine.ms in times_ms:
            given.append(generator.on_periodic_emit())
        return given

    def test_the_timer_starts_at_the_first_tick_without_an_event(self, generator, machine):
        generator.on_event(7)
        given = self.ticks(generator, machine, 1200, 1400, 1600, 1800, 2000, 2200)
        assert given == [6, 6, 6, 6, IDLE, None]

    def test_exactly_the_timeout_is_not_idle(self, generator, machine):
        assert self.ticks(generator, machine, 1000, 1500, 1501) == [MIN_MS, MIN_MS, IDLE]

    def test_an_event_between_two_ticks_starts_all_over(self, generator, machine):
        self.ticks(generator, machine, 1000, 1500)
        generator.on_event(7)
        assert self.ticks(generator, machine, 1501, 2100, 2600, 2601) == [6, 6, 6, IDLE]

    def test_after_an_event_it_is_marked_idle_again(self, generator, machine):
        assert self.ticks(generator, machine, 1000, 1501)[-1] == IDLE
        generator.on_event(7)
        assert self.ticks(generator, machine, 1600, 1700, 2300) == [6, 6, IDLE]

    def test_what_a_punctuated_generator_gives_for_an_event_passes_at_once(self, machine):
        class Punctuated(NoWatermarksGenerator):
            def on_event(self, timestamp_ms):
                return timestamp_ms

        generator = WatermarksWithIdleness(Punctuated(), 500, PausableRelativeClock(machine.now_ms))
        assert generator.on_event(7) == 7

    @pytest.mark.parametrize("timeout_ms", [0, -1])
    def test_a_timeout_that_is_not_above_0_is_refused(self, timeout_ms):
        with pytest.raises(ValueError, match="above 0"):
            WatermarksWithIdleness(NoWatermarksGenerator(), timeout_ms, PausableRelativeClock(Machine().now_ms))

    def test_a_tick_tells_the_output_a_watermark_idle_or_nothing(self, generator, machine, out):
        for machine.ms in (1000, 1501, 1600):
            emit_periodically(generator, out)
        assert out.calls == [("emit", MIN_MS), "mark_idle"]


class TestOperatorBehindTheSource:
    def test_the_record_goes_before_the_watermark_that_it_causes(self, out):
        class Punctuated(NoWatermarksGenerator):
            def on_event(self, timestamp_ms):
                return timestamp_ms

        TimestampsAndWatermarksOperator(Punctuated(), out).process(7, 7)
        assert out.calls == [("record", 7), ("watermark", 7)]

    def test_from_upstream_only_max_passes(self, out):
        operator = TimestampsAndWatermarksOperator(NoWatermarksGenerator(), out)
        operator.watermark(MAX_MS - 1)
        operator.idle()
        operator.active()
        assert out.calls == []
        operator.watermark(MAX_MS)
        assert out.calls == [("watermark", MAX_MS)]

    def test_at_the_end_the_generator_is_asked_once_more(self, out):
        operator = TimestampsAndWatermarksOperator(BoundedOutOfOrdernessWatermarks(0), out)
        operator.process(7, 7)
        operator.finish()
        assert out.calls == [("record", 7), ("watermark", 6)]
