"""Queries on the events of a scenario: every change, errors as sentences, and recorded answers."""

import json

import pytest

import wmviz
from wmviz.course.lessons.sql_and_datastream import SQL, morning
from wmviz.flink import FlinkError, query, sql_query, startup
from wmviz.scenario import ScenarioError

DAY = "SELECT key, window_start, SUM(`value`) AS metres FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(rowtime), {}))"
DAYS_BY_FUNCTION = DAY.format("INTERVAL '1' DAY") + " GROUP BY key, window_start, window_end"
DAYS_IN_OLDER_FORM = "SELECT key, SUM(`value`) AS metres FROM events GROUP BY key, TUMBLE(rowtime, INTERVAL '1' DAY)"
RECORDED = sorted(sql_query.RECORDINGS.glob("*.json"))


def days(zone):
    changes = {"late_to": "drop", "lateness": 0, "window": {"zone": zone}, **SQL}
    return wmviz.scenario("daylight-saving").replace(**changes)


@pytest.mark.flink
@pytest.mark.parametrize(("zone", "by_function"), [("Europe/Berlin", 8), ("Asia/Tokyo", 4)])
def test_window_table_functions_lose_days_where_clocks_never_change(flink, zone, by_function):
    """The lesson says so of Flink 2.3.0; if a later Flink is right, the lesson must change."""
    assert len(query(days(zone), DAYS_BY_FUNCTION)) == by_function
    assert len(query(days(zone), DAYS_IN_OLDER_FORM)) == 8


@pytest.mark.flink
def test_every_change_is_there_in_order(flink):
    changes = query(morning(**SQL), "SELECT key, SUM(`value`) AS metres FROM events GROUP BY key")
    of_r9 = changes[changes["key"] == "r9"]
    assert list(of_r9["op"])[:3] == ["+I", "-U", "+U"]
    assert int(of_r9["metres"].iloc[-1]) == sum(event.value for event in morning().events if event.key == "r9")


@pytest.mark.flink
def test_what_flink_refuses_is_a_sentence(flink):
    with pytest.raises(FlinkError, match=r"The Flink job failed: .*requires the timecol is a time attribute"):
        query(
            morning(**SQL),
            "SELECT window_start FROM TABLE(TUMBLE((SELECT DISTINCT key, rowtime FROM events), DESCRIPTOR(rowtime), "
            "INTERVAL '1' HOUR)) GROUP BY window_start, window_end",
        )


@pytest.mark.parametrize("scenario", [morning(), morning(**SQL).replace(idle_timeout="1 min")], ids=["api", "idle"])
def test_a_scenario_with_another_watermark_is_refused(scenario):
    with pytest.raises(ScenarioError, match='query takes a scenario with api "sql"'):
        query(scenario, "SELECT id FROM events")


def test_without_pyflink_the_recorded_answer_is_given(monkeypatch):
    monkeypatch.setattr(startup, "available", lambda: (False, "PyFlink is not installed."))
    met = query(morning(**SQL), "SELECT id, CURRENT_WATERMARK(rowtime) AS met\nFROM events")
    assert list(met["met"])[:2] == [None, "1970-01-01 06:19:00.000"]
    with pytest.raises(FlinkError, match="no recorded run of this query"):
        query(morning(**SQL), "SELECT 1 FROM events")


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_a_recording_has_an_answer(path):
    answer = json.loads(path.read_text(encoding="utf-8"))
    assert answer["query"]
    assert "error" in answer or all(len(change) == 1 + len(answer["columns"]) for change in answer["changes"])
