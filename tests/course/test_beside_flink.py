"""A learner's piece beside real Flink: where it is Flink's rule, they agree; where it is not, it shows."""

import pytest

import wmviz
from wmviz import course
from wmviz.flink import startup


def lateness_rule(end_ms, lateness_ms, watermark_ms):
    return end_ms - 1 + lateness_ms <= watermark_ms


def one_millisecond_late(end_ms, lateness_ms, watermark_ms):
    return end_ms + lateness_ms <= watermark_ms


def test_a_piece_that_is_not_written_yet_starts_no_flink(monkeypatch):
    monkeypatch.setattr(wmviz.flink, "run", lambda scenario: pytest.fail("Flink was started"))
    found = course.beside_flink(lambda *_: ..., wmviz.scenario("leaderboard"), "lateness")
    assert found.state == "not yet"
    assert "True or False" in found.sentence


@pytest.mark.parametrize("there", [pytest.param(True, marks=pytest.mark.flink), False])
def test_flinks_rule_agrees_and_another_differs(monkeypatch, there):
    if not there:
        monkeypatch.setattr(startup, "available", lambda: (False, "PyFlink is not installed."))
    leaderboard = wmviz.scenario("leaderboard")
    found = course.beside_flink(lateness_rule, leaderboard, "lateness")
    assert found.same
    assert repr(found).startswith("leaderboard: your lateness rule and Flink 2.3.0 agree on 10 firings")
    assert found.flink.recorded is not there
    found = course.beside_flink(one_millisecond_late, leaderboard, "lateness")
    assert not found.same
    assert "late event r7@6:56: your lateness rule has none, Flink has it" in repr(found)
    assert "<th>your lateness rule</th>" in found._repr_html_()


def smallest_bounds(times_ms, size_ms, off_ms=0):
    newest_ms = times_ms[0]
    for at_ms in times_ms:
        yield max(newest_ms - (at_ms - at_ms % size_ms + size_ms) + 1 + off_ms, 0)
        newest_ms = max(newest_ms, at_ms)


def test_smallest_bounds_are_compared_with_who_is_late_on_flink(monkeypatch):
    monkeypatch.setattr(startup, "available", lambda: (False, "PyFlink is not installed."))  # the recorded run
    buoys = course.given("5.least-for-all").replace(bound="1 min")
    assert course.beside_flink(smallest_bounds, buoys, "smallest bounds").same
    short = course.beside_flink(lambda *given: smallest_bounds(*given, off_ms=-1), buoys, "smallest bounds")
    assert "late event reef@7:19:10: your smallest bounds has none, Flink has it" in repr(short)
