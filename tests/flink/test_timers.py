"""Timers by two clocks, and state that expires: live and recorded."""

import pytest

from wmviz.flink import FlinkError, startup, timers

LINES = (
    "timer of event time called, watermark past 6:59:59.999: True",
    "timer of processing time called, watermark past 6:59:59.999: False",
    "workout of day 1, after 0 s: count 1",
    "workout of day 8, after 0 s: count 2",
    "workout of day 8, after 5 s: count 1",
)


def test_one_timer_a_time_one_that_is_never_called_and_a_ttl_by_the_servers_clock(flink):
    """A time set three times is one call, an hour ahead is none, and seven days of event time expire nothing."""
    assert timers.timers() == LINES


def test_a_job_that_takes_too_long_is_cancelled(flink):
    with pytest.raises(FlinkError, match=r"did not end within 0\.05 s and was cancelled"):
        timers.timers(limit_s=0.05)


def test_without_pyflink_a_recorded_run_is_shown(monkeypatch):
    monkeypatch.setattr(startup, "available", lambda: (False, "there is no PyFlink"))
    monkeypatch.setattr(timers.recorded, "show_label", lambda engine, why: None)
    assert timers.timers() == LINES
