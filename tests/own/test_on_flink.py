"""Events of one's own on real Flink: a stretch of the flights, on three partitions."""

import pytest

import wmviz


@pytest.mark.flink
def test_flink_agrees_on_a_stretch_of_the_flights(flink):
    own = wmviz.own.flights(bound="3 h", lateness="1 h", late_to="side", partition="origin")
    comparison = wmviz.compare(own.sample(most=300))
    assert comparison.same, comparison
    assert comparison.ours.outcomes().late
    assert len(comparison.ours.all_firings) > 30
