"""Tables with times that a person can read."""

import wmviz
from wmviz import course


def test_milliseconds_become_times_and_lists_become_text():
    table = course.readable(wmviz.simulate(wmviz.scenario("leaderboard")).firings)
    assert list(table.columns) == ["key", "from", "to", "nth", "value", "events", "watermark", "server's clock"]
    row = ["r4471", "6:00", "7:00", 2, 3000, "r4471@6:30, r4471@6:44, r4471@6:56", "7:02:59.999", "7:09"]
    assert list(table.iloc[4]) == row


def test_the_global_window_has_no_bounds_and_the_table_itself_is_not_changed():
    s = wmviz.scenario("leaderboard").replace(window={"type": "global", "trigger": "count:2"})
    firings = wmviz.simulate(s).firings
    before = firings.copy()
    assert set(course.readable(firings)["to"]) == {""}
    assert firings.equals(before)


def test_late_events_in_another_zone():
    late = wmviz.simulate(wmviz.scenario("leaderboard")).late
    assert list(course.readable(late, zone="+05:30")["event_time"]) == ["1970-01-01 12:26"]
