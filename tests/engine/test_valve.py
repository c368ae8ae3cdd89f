"""The valve in front of an operator's input."""

import pytest

from tests.engine.noted import Noted
from tests.semantics.cases import FOLDER, load
from wmviz.engine.valve import StatusWatermarkValve
from wmviz.times import MAX_MS, MIN_MS


@pytest.fixture
def out():
    return Noted()


def test_the_lowest_channel_holds(out):
    valve = StatusWatermarkValve(2, out)
    valve.watermark(0, 10)
    valve.watermark(1, 5)
    assert out.calls == [("watermark", 5)]


def test_min_is_never_let_through(out):
    StatusWatermarkValve(1, out).watermark(0, MIN_MS)
    assert out.calls == []


def test_a_watermark_on_an_idle_channel_is_not_remembered(out):
    valve = StatusWatermarkValve(1, out)
    valve.idle(0)
    valve.watermark(0, 50)
    valve.active(0)
    valve.watermark(0, 40)
    assert out.calls == ["idle", "active", ("watermark", 40)]


@pytest.mark.parametrize(("watermark_ms", "let_through"), [(19, 22), (20, 20), (21, 21)])
def test_a_channel_that_is_behind_counts_again_when_it_reaches_the_output(out, watermark_ms, let_through):
    valve = StatusWatermarkValve(2, out)
    valve.idle(1)
    valve.watermark(0, 20)
    valve.active(1)
    valve.watermark(1, watermark_ms)
    valve.watermark(0, 22)
    assert valve.watermark_ms == let_through


def test_the_last_channel_flushes_the_highest_watermark_if_it_held_the_output_back(out):
    valve = StatusWatermarkValve(2, out)
    valve.watermark(0, 10)
    valve.watermark(1, 5)
    valve.idle(0)
    valve.idle(1)
    assert out.calls == [("watermark", 5), ("watermark", 10), "idle"]


def test_a_status_that_repeats_is_no_news(out):
    valve = StatusWatermarkValve(1, out)
    for status in (valve.active, valve.idle, valve.idle, valve.active, valve.active):
        status(0)
    assert out.calls == ["idle", "active"]


def test_max_on_one_channel_leaves_time_to_the_others(out):
    valve = StatusWatermarkValve(2, out)
    valve.watermark(0, 10)
    valve.watermark(1, MAX_MS)
    valve.watermark(0, MAX_MS)
    assert out.calls == [("watermark", 10), ("watermark", MAX_MS)]


def test_the_rule_after_2_3_flushes_in_any_case(out):
    (case,) = (case for case in load(FOLDER / "valve.json") if case["id"] == "valve-13")
    valve = StatusWatermarkValve(case["params"]["channels"], out, always_flushes=True)
    for step in case["input"]:
        getattr(valve, step["op"])(step["ch"], *([step["ts"]] if "ts" in step else []))
    later = [
        out["status"] if "status" in out else ("watermark", out["watermark"]) for out in case["expected_after_fix"]
    ]
    assert out.calls == later
