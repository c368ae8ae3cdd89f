"""Recorded runs: there for every scenario of the catalogue, right, and used where PyFlink is missing."""

import json

import pytest

import wmviz
from wmviz.comparison import compare
from wmviz.flink import FlinkError, limits, record, recorded, startup
from wmviz.flink.report import Report

WHY = "PyFlink is not installed."


@pytest.fixture
def no_flink(monkeypatch):
    monkeypatch.setattr(startup, "available", lambda: (False, WHY))


def recorded_names():
    return [name for name in wmviz.scenarios() if limits.replayable(wmviz.scenario(name))]


@pytest.mark.parametrize("name", recorded_names())
def test_every_scenario_of_the_catalogue_is_recorded(no_flink, name):
    scenario = record.recordable(wmviz.scenario(name))
    trace = wmviz.flink.run(scenario)
    assert trace.recorded
    assert trace.engine == "Flink 2.3.0"
    assert compare(scenario).same


@pytest.mark.parametrize("found", recorded.recordings(), ids=lambda found: found.scenario.name)
def test_every_recording_agrees_with_our_engine(found):
    comparison = compare(found.scenario, found.report.trace(found.scenario))
    assert comparison.same, comparison
    assert found.report.seen  # a run that saw no event would agree with anything


def test_a_recording_serves_whatever_flink_does_not_see(no_flink):
    scenario = wmviz.scenario("leaderboard").replace(title="Another title", sink="append")
    trace = wmviz.flink.run(scenario)
    assert trace.scenario.sink == "append"
    assert trace.outcomes().totals["r4471", 21_600_000, 25_200_000] == [2000, 3000]


def test_what_is_not_recorded_is_said(no_flink):
    with pytest.raises(FlinkError, match=rf"{WHY} There is no recorded run of this form of leaderboard"):
        wmviz.flink.run(wmviz.scenario("leaderboard").replace(bound="17 s"))


def test_a_report_survives_its_file():
    report = Report("Flink 2.3.0", late=["a"], dropped=3, seen={"a": -(2**63)})
    report.take(
        {"fired": "k", "start_ms": None, "end_ms": None, "value": 1, "events": ["a"], "watermark_ms": 2**63 - 1}
    )
    report.take({"fired": "k", "start_ms": -5, "end_ms": 0, "value": 1, "events": ["a", "b"], "watermark_ms": -1})
    assert Report.from_json(json.loads(json.dumps(report.to_json()))) == report


@pytest.mark.flink
def test_recordings_are_what_flink_reports_now(flink):
    found = [found for found in recorded.recordings() if len(found.scenario.events) < 100]
    for now, then in zip(flink.run_many([f.scenario for f in found]), found, strict=True):
        assert now.outcomes() == then.report.trace(then.scenario).outcomes()


def test_the_label_of_a_recorded_run_has_no_text_form(monkeypatch):
    """So a notebook's text outputs are the same on machines with and without PyFlink."""
    shown = []
    monkeypatch.setattr("IPython.core.getipython.get_ipython", lambda: type("Shell", (), {"kernel": 1}))
    monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append(data))
    recorded.show_label("Flink 2.3.0", WHY)
    assert [list(data) for data in shown] == [["application/vnd.jupyter.widget-view+json"]]


def test_many_scenarios_are_recorded_ones_too(no_flink):
    names = ("leaderboard", "price-feed", "idle-bet")
    traces = wmviz.flink.run_many(map(wmviz.scenario, names))
    assert [trace.scenario.name for trace in traces] == list(names)
    assert all(trace.recorded for trace in traces)
    with pytest.raises(FlinkError, match="There is no recorded run of this form of price-feed"):
        wmviz.flink.run_many([wmviz.scenario("leaderboard"), wmviz.scenario("price-feed").replace(bound="7 s")])
