"""Tables and files become scenarios; each row that does not is told, with its place and the reason."""

import doctest
import gzip
import json
import sys
import warnings

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wmviz
from wmviz import own
from wmviz.own import OwnEventsError, OwnEventsWarning, progress
from wmviz.own.progress import Progress
from wmviz.scenario import Scenario, ScenarioError
from wmviz.times import time_ms

ROWS = [
    ("a", 3, "2026-10-17T07:00Z", "2026-10-17T07:02Z", 0),
    ("b", 5, "2026-10-17T06:59Z", "2026-10-17T07:01Z", 1),
    ("a", 7, "2026-10-17T07:03Z", "2026-10-17T07:03Z", 0),
]
NAMES = ["key", "value", "event_time", "arrival_time", "partition"]
EXPECTED = [
    ("b", 5, time_ms("2026-10-17T06:59Z"), time_ms("2026-10-17T07:01Z"), 1),
    ("a", 3, time_ms("2026-10-17T07:00Z"), time_ms("2026-10-17T07:02Z"), 0),
    ("a", 7, time_ms("2026-10-17T07:03Z"), time_ms("2026-10-17T07:03Z"), 0),
]


def frame_of(rows=ROWS, names=NAMES):
    return pd.DataFrame(rows, columns=names)


def events_of(scenario):
    return [(e.key, e.value, e.event_time_ms, e.arrival_time_ms, e.partition) for e in scenario.events]


def csv_of(rows=ROWS, names=NAMES, divider=","):
    return "".join(divider.join(map(str, row)) + "\n" for row in [names, *rows])


def read_rows(tmp_path, text, name="events.csv", **options):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return own.read_csv(path, **options)


# ------------------------------------------------------------------------------------------------- all forms


def test_a_table_becomes_a_scenario_in_order_of_arrival():
    read = own.read_frame(frame_of(), bound="1 min", window="10 min", name="rides")
    assert events_of(read.scenario) == EXPECTED
    assert (read.scenario.name, read.scenario.bound_ms, read.scenario.partition_count) == ("rides", 60_000, 2)
    assert (read.rows, read.rows_set_aside, len(read.set_aside), read.notes) == (3, 0, 0, ())
    assert "No row was set aside." in repr(read)
    by_hand = Scenario.of(events=[list(row) for row in ROWS], bound="1 min", window="10 min")
    assert wmviz.simulate(read.scenario).totals == wmviz.simulate(by_hand).totals
    assert [event.id for event in read.scenario.events] == [event.id for event in by_hand.events]


@pytest.mark.parametrize("divider", [",", ";", "\t", "|"])
def test_csv_becomes_the_same(tmp_path, divider):
    read = read_rows(tmp_path, csv_of(divider=divider))
    assert events_of(read.scenario) == EXPECTED
    assert len(read.notes) == (divider != ",")
    assert events_of(read_rows(tmp_path, "\ufeff" + csv_of(divider=divider), separator=divider).scenario) == EXPECTED


def test_csv_may_be_zipped_quoted_and_without_names(tmp_path):
    path = tmp_path / "events.csv.gz"
    path.write_bytes(gzip.compress(csv_of([('"a,\n1"', *ROWS[0][1:]), *ROWS[1:]]).encode()))
    assert [event.key for event in own.read_csv(path).scenario.events] == ["b", "a,\n1", "a"]
    bare = csv_of().split("\n", 1)[1]
    assert events_of(read_rows(tmp_path, bare, names=NAMES).scenario) == EXPECTED


def test_json_lines_become_the_same(tmp_path):
    path = tmp_path / "events.jsonl"
    lines = [json.dumps(dict(zip(NAMES, row, strict=True))) for row in ROWS]
    path.write_text("\n\n".join(lines), encoding="utf-8")
    assert events_of(own.read_json_lines(path).scenario) == EXPECTED


def test_parquet_becomes_the_same(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "events.parquet"
    frame = frame_of()
    frame["event_time"] = pd.to_datetime(frame["event_time"])
    frame.to_parquet(path)
    assert events_of(own.read_parquet(path).scenario) == EXPECTED


@pytest.mark.parametrize("backend", ["pyarrow", "numpy_nullable"])
@pytest.mark.parametrize("form", ["text", "stamps", "naive", "ms"])
def test_tables_of_other_makes_become_the_same(backend, form):
    pytest.importorskip("pyarrow")
    frame = frame_of([*ROWS, (None, None, None, None, None)])
    for name in ("event_time", "arrival_time"):
        stamps = pd.to_datetime(frame[name])
        kinds = {"text": frame[name], "stamps": stamps, "naive": stamps.dt.tz_localize(None)}
        ms = (stamps - pd.Timestamp(0, tz="UTC")) // pd.Timedelta(milliseconds=1)
        frame[name] = {**kinds, "ms": ms.astype("Int64")}[form]
    read = own.read_frame(frame.convert_dtypes(dtype_backend=backend))
    assert events_of(read.scenario) == EXPECTED
    assert set(read.set_aside["reason"]) == {"is missing"}


def test_the_short_form_gives_the_scenario_alone(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Scenario.from_frame(frame_of(), bound=5) == own.read_frame(frame_of(), bound=5).scenario
        (tmp_path / "e.csv").write_text(csv_of(), encoding="utf-8")
        assert events_of(Scenario.from_csv(tmp_path / "e.csv", "event_time")) == EXPECTED
        (tmp_path / "e.jsonl").write_text(json.dumps(dict(zip(NAMES, ROWS[0], strict=True))), encoding="utf-8")
        assert events_of(Scenario.from_json_lines(tmp_path / "e.jsonl")) == EXPECTED[1:2]


def test_the_short_form_warns_where_it_is_called():
    bad = frame_of([*ROWS, ("a", 1, "soon", "2026-10-17T07:03Z", 0)])
    with pytest.warns(
        OwnEventsWarning, match="1 row was set aside; row 3: event_time 'soon' is not a time.*read_frame"
    ) as got:
        assert len(Scenario.from_frame(bad).events) == 3
    assert got[0].filename == __file__
    with pytest.warns(OwnEventsWarning, match="There is no value: events are counted"):
        Scenario.from_frame(frame_of().drop(columns="value"))


# ---------------------------------------------------------------------------------------- what is assumed


def test_without_a_value_events_are_counted_unless_something_else_is_said():
    plain = frame_of().drop(columns="value")
    read = own.read_frame(plain)
    assert read.scenario.aggregate == "count"
    assert [event.value for event in read.scenario.events] == [1, 1, 1]
    assert own.read_frame(plain, aggregate="max").scenario.aggregate == "max"
    assert own.read_frame(frame_of()).scenario.aggregate == "sum"


def test_without_arrival_times_the_order_of_the_rows_counts():
    read = own.read_frame(frame_of().drop(columns=["arrival_time", "key"]))
    seven = time_ms("2026-10-17T07:00Z")
    assert [(e.event_time_ms - seven, e.arrival_time_ms - seven) for e in read.scenario.events] == [
        (0, 0),
        (-60_000, 0),
        (180_000, 180_000),
    ]
    assert {event.key for event in read.scenario.events} == {"all"}
    assert "Note: There is no arrival time: the order of the rows is the order of arrival." in repr(read)


def test_columns_of_any_name_and_settings():
    frame = frame_of().set_axis(["who", "m", "left", "came", "line"], axis=1)
    read = own.read_frame(frame, "left", "came", "who", "m", "line", lateness="1 min", late_to="side", unit="m")
    assert events_of(read.scenario) == EXPECTED
    assert (read.scenario.lateness_ms, read.scenario.late_to, read.scenario.unit) == (60_000, "side", "m")


def test_partitions_are_numbered_in_their_order():
    frame = frame_of().assign(partition=["EWR", "10", "9"])
    read = own.read_frame(frame)
    assert [event.partition for event in read.scenario.events] == [1, 2, 0]
    assert read.notes == ("partition: numbered in order: 9 is 0, 10 is 1, EWR is 2.",)
    gaps = own.read_frame(frame.assign(partition=[0, 3, 0]))
    assert "partitions=… says how many there are" in gaps.notes[0]
    assert gaps.scenario.partition_count == 2
    known = own.read_frame(frame.assign(partition=[0, 3, 0]), partitions=6)
    assert ([e.partition for e in known.scenario.events], known.scenario.partition_count) == ([3, 0, 0], 6)
    with pytest.raises(OwnEventsError, match="partition has '3'; with partitions=2 write numbers from 0 to 1"):
        own.read_frame(frame.assign(partition=[0, 3, 0]), partitions=2)
    with pytest.raises(OwnEventsError, match=r"1,025 different values.*rather a key"):
        own.read_frame(pd.DataFrame({"event_time_ms": range(1_025), "partition": range(1_025)}))


def test_values_are_whole_numbers_of_the_smallest_unit():
    euros = frame_of().assign(value=[1.5, 2.25, 3])
    with pytest.raises(OwnEventsError, match=r"value has fractions, the first is 1.5; .*write scale=100"):
        own.read_frame(euros)
    read = own.read_frame(euros, scale=100)
    assert [event.value for event in read.scenario.events] == [225, 150, 300]
    assert read.notes == ("value: multiplied by 100, so 1 is 0.01 of the column's unit.",)
    assert "2 values were rounded" in own.read_frame(euros, scale=3).notes[1]
    assert own.read_frame(euros.assign(value=["0.1", "0.2", "0.3"]), scale=10).scenario.events[0].value == 2
    huge = own.read_frame(euros.assign(value=[1, 2, 1.7e308]), scale=1_000)
    assert huge.reasons() == {f"value {huge.set_aside['reason'].iloc[0]}": 1}
    with pytest.raises(OwnEventsError, match="scale is 0; write a number above 0"):
        own.read_frame(euros, scale=0)


def test_keys_are_text():
    keys = own.read_frame(frame_of().assign(key=[7, 12, 7])).scenario
    assert [event.key for event in keys.events] == ["12", "7", "7"]
    missing = own.read_frame(frame_of().assign(key=[7, None, 7]))
    assert ([e.key for e in missing.scenario.events], missing.reasons()) == (["7", "7"], {"key is missing": 1})

    names = own.read_frame(frame_of().assign(key=["NA", "null", " "]))
    assert [event.key for event in names.scenario.events] == ["null", "NA"]
    nested = own.read_frame(frame_of().assign(key=[["x"], {"a": 1}, None]))
    assert ({e.key for e in nested.scenario.events}, nested.rows_set_aside) == ({"['x']", "{'a': 1}"}, 1)


def test_columns_may_have_any_name_and_one_may_have_two_roles():
    frame = frame_of([*ROWS, ("a", "x", None, "2026-10-17T07:03Z", 0)]).set_axis(range(5), axis=1)
    read = own.read_frame(frame, 2, 3, key=4, value=1, partition=4)
    assert [event.key for event in read.scenario.events] == ["1", "0", "0"]
    assert list(read.set_aside["column"]) == ["2", "1"]


# -------------------------------------------------------------------------------- forms that others write

KAFKA = [
    {
        "timestamp": 1_792_220_400_000 + n,
        "key": "u",
        "value": json.dumps({"at": "2026-10-17T07:00Z", "eur": n}),
        "m": {"p": n},
    }
    for n in range(3)
]


def json_of(tmp_path, rows):
    path = tmp_path / "events.jsonl"
    path.write_text("".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_points_lead_into_objects_and_into_objects_written_as_text(tmp_path):
    path = json_of(tmp_path, [*KAFKA, {"timestamp": 1_792_220_400_009, "key": "u", "value": "null"}])
    read = own.read_json_lines(path, "value.at", "timestamp", value="value.eur", partition="m.p")
    expected = [("u", n, time_ms("2026-10-17T07:00Z"), 1_792_220_400_000 + n, n) for n in range(3)]
    assert events_of(read.scenario) == expected
    assert read.reasons() == {"value.at is missing": 1, "value.eur is missing": 1, "m.p is missing": 1}
    with pytest.raises(
        OwnEventsError, match=r"no column 'value.att'; the table has timestamp, key, .*did you mean \"value.at\""
    ):
        own.read_json_lines(path, "value.att")


def test_a_column_of_objects_is_no_column_of_events(tmp_path):
    path = json_of(tmp_path, KAFKA)
    with pytest.raises(OwnEventsError, match=r'm holds objects; name a field of them: key="m\.p"'):
        own.read_json_lines(path, "timestamp", key="m")
    read = own.read_json_lines(path, "timestamp")
    assert [event.value for event in read.scenario.events] == [1, 1, 1]
    assert read.notes[0].startswith("value: holds objects, so it is not used. To name a field of them: value=")
    dotted = json_of(tmp_path, [{"event_time": "6:00", "a.b": 1, "a": {"b": 2}}])
    assert own.read_json_lines(dotted, value="a.b").scenario.events[0].value == 1


def test_a_name_that_an_object_has_twice_is_told(tmp_path):
    read = own.read_json_lines(
        json_of(tmp_path, ['{"event_time": "6:00", "key": 1, "key": 2}\n', {"event_time": "6:00"}])
    )
    assert (read.rows, read.set_aside["reason"].tolist()) == (2, ["has the name key twice"])


def test_a_first_line_that_tells_the_separator(tmp_path):
    read = read_rows(tmp_path, "sep=;\r\nevent_time;key\r\n6:00;a\r\nx;b\r\n")
    assert (read.scenario.events[0].key, read.set_aside["line"].tolist()) == ("a", [4])


def test_a_file_zipped_by_gzip_is_known_by_its_first_bytes(tmp_path):
    (tmp_path / "e.csv").write_bytes(gzip.compress(b"event_time\n6:00\n"))
    assert own.read_csv(tmp_path / "e.csv").rows == 1


def test_a_column_that_is_empty_in_every_row_is_not_used(tmp_path):
    read = read_rows(tmp_path, "event_time,arrival_time,key,value\n6:00,,a, \n6:01, ,b,\n")
    assert [(e.key, e.value) for e in read.scenario.events] == [("a", 1), ("b", 1)]
    assert "arrival_time: empty in every row, so it is not used." in read.notes
    assert "There is no value: events are counted." in read.notes
    assert own.read_frame(frame_of().assign(arrival_time=pd.NaT)).rows_set_aside == 0


def test_levels_of_an_index_are_columns_if_they_are_named():
    indexed = frame_of().set_index(["event_time", "key"])
    read = own.read_frame(indexed, "event_time", key="key")
    assert events_of(read.scenario) == EXPECTED
    stamps = pd.DataFrame({"n": [1]}, index=pd.to_datetime(["2026-10-17"]))
    with pytest.raises(OwnEventsError, match=r'times in its index; write frame.reset_index\(names="event_time"\)'):
        own.read_frame(stamps)


def test_a_table_of_another_make_is_told_what_to_write():
    class Table:
        __module__ = "polars.frame"

        def to_pandas(self):
            raise AssertionError

    with pytest.raises(OwnEventsError, match=r"not a Table of polars; write table.to_pandas\(\)"):
        own.read_frame(Table())


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("21,5", "'21,5' is not a number; decimals have a point here"),
        ("1.234,5", "decimals have a point here"),
        ("1,000", "say what the comma divides"),
        ("1 000 000", "write it without what divides the thousands"),
        ("€5", "'€5' is not a number"),
    ],
)
def test_a_number_in_another_form_is_told_what_to_write(cell, words):
    read = own.read_frame(frame_of().astype({"value": object}).assign(value=[1, 2, cell]))
    assert words in read.set_aside["reason"].iloc[0]


# ------------------------------------------------------------------------------------------- set aside


CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.integers(1_600_000_000, 1_900_000_000),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(
        ["2026-10-17T07:00Z", "2026-10-17 07:00", "6:56", "NaN", "1e400", "1_000", "\x00", "2026-10-17T25:00Z"]
    ),
    st.datetimes(),
    st.dates(),
    st.lists(st.integers(), max_size=2),
    st.binary(max_size=3),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS, CELLS, CELLS, CELLS), min_size=1, max_size=6), st.sampled_from([None, 1000]))
def test_whatever_stands_in_a_table_each_row_is_read_or_told(rows, scale):
    try:
        read = own.read_frame(frame_of(rows), scale=scale)
    except OwnEventsError:
        return
    assert len(read.scenario.events) + read.set_aside["row"].nunique() == read.rows == len(rows)
    assert read.scenario.events
    wmviz.simulate(read.scenario)
    assert Scenario.from_json(json.loads(json.dumps(read.scenario.to_json()))).events == read.scenario.events
    assert repr(read)
    assert read._repr_html_()


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet='aZ09:-,;"\n\r\t. {}[]Té', max_size=60), st.booleans())
def test_whatever_stands_in_a_file_there_is_a_sentence_or_a_scenario(tmp_path_factory, text, with_header):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_text(("event_time,key\n6:56,a\n" if with_header else "") + text, encoding="utf-8")
    for reader in (own.read_csv, own.read_json_lines):
        try:
            read = reader(path)
        except OwnEventsError:
            continue
        assert len(read.scenario.events) + read.set_aside["line"].nunique() == read.rows


def test_each_bad_cell_is_told_with_its_row_column_and_reason():
    rows = [
        *ROWS,
        ("a", 1, "soon", "2026-10-17T07:03Z", 0),
        (None, float("inf"), "2026-10-17T07:00Z", "2026-10-17T07:03Z", 0),
        ("a", 10**13, None, "2026-10-17T07:03Z", 0),
    ]
    read = own.read_frame(frame_of(rows))
    told = [tuple(row) for row in read.set_aside[["row", "column", "reason"]].itertuples(index=False)]
    assert told == [
        (3, "event_time", "'soon' is not a time"),
        (4, "key", "is missing"),
        (4, "value", "is not finite"),
        (5, "event_time", "is missing"),
        (5, "value", "is larger than 1,000,000,000,000: so large no value may be, or sums would leave 64 bits"),
    ]
    assert read.set_aside["value"].iloc[0] == "soon"
    assert (read.rows, read.rows_set_aside, len(read.scenario.events)) == (6, 3, 3)
    assert events_of(read.scenario) == EXPECTED
    assert (read.scenario.title, read.scenario.about) == ("Your own events", "3 of 6 rows were set aside.")
    assert "Set aside: event_time is not a time: 1" in repr(read)


def test_lines_of_csv_are_told_by_their_number_in_the_file(tmp_path):
    lines = csv_of().splitlines()
    text = "\n".join([*lines[:2], "", "a,1,2026-10-17T07:00Z", *lines[2:], "a,x,2026-10-17T07:00Z,2026-10-17T07:05Z,0"])
    read = read_rows(tmp_path, text)
    assert [tuple(row) for row in read.set_aside.itertuples(index=False)] == [
        (4, "", "a,1,2026-10-17T07:00Z", "has 3 cells, and the header has 5"),
        (7, "value", "x", "'x' is not a number"),
    ]
    assert events_of(read.scenario) == EXPECTED
    assert "2 rows were set aside; line 4: has 3 cells" in read.sentence


def test_lines_that_are_no_json_are_told(tmp_path):
    path = tmp_path / "events.jsonl"
    good = json.dumps(dict(zip(NAMES, ROWS[0], strict=True)))
    path.write_text(f'{good}\n{{"key": \n[1, 2]\n{{"key": "a", "value": 2}}\n', encoding="utf-8")
    read = own.read_json_lines(path)
    assert list(zip(read.set_aside["line"], read.set_aside["reason"], strict=True)) == [
        (2, "is no JSON"),
        (3, "is no JSON object"),
        (4, "is missing"),
        (4, "is missing"),
        (4, "is missing"),
    ]
    assert events_of(read.scenario) == EXPECTED[1:2]


def test_it_shows_itself_as_html_without_what_users_wrote_as_html():
    rows = [*ROWS, *[("a", 1, "<b>", "2026-10-17T07:03Z", 0)] * 12]
    page = own.read_frame(frame_of(rows))._repr_html_()
    assert "<b>" not in page
    assert page.count("&lt;b&gt;</td>") == 10
    assert "The first 10 of 12" in page


def test_nothing_is_lost_without_a_word():
    rows = [(f"k{n}", n, *times, 0) for n, times in enumerate([("x", "y"), ("", "6:00"), *[("6:00", "6:01")] * 5])]
    read = own.read_frame(frame_of(rows))
    assert len(read.scenario.events) + read.set_aside["row"].nunique() == read.rows == len(rows)


# ---------------------------------------------------------------------------------------------- sentences


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"event_time": "event_tme"},
            "there is no column 'event_tme'; the table has key, value.*did you mean \"event_time\"",
        ),
        ({"key": "user"}, "there is no column 'user'"),
        ({"bound": "5"}, "bound: '5' is not a duration"),
        ({"bounds": "5 s"}, "there is no field 'bounds'; did you mean 'bound'"),
        ({"events": []}, "events is no setting here"),
        ({"time_unit": "h"}, "time_unit is 'h'"),
        ({"zone": "Mars"}, "there is no time zone 'Mars'"),
    ],
)
def test_what_is_wrong_gets_a_sentence(options, words):
    with pytest.raises(ValueError, match=words):
        own.read_frame(frame_of(), **options)


def test_tables_without_what_is_needed_get_a_sentence():
    with pytest.raises(OwnEventsError, match="no column 'event_time'; the table has when; name the one that says when"):
        own.read_frame(pd.DataFrame({"when": [1]}))
    with pytest.raises(OwnEventsError, match="the table has no rows"):
        own.read_frame(frame_of([]))
    with pytest.raises(OwnEventsError, match="no row can be read: row 0: event_time 'x' is not a time"):
        own.read_frame(pd.DataFrame({"event_time": ["x", "y"]}))
    with pytest.raises(OwnEventsError, match="several columns named event_time"):
        own.read_frame(pd.DataFrame([[1, 2]], columns=["event_time", "event_time"]))
    with pytest.raises(OwnEventsError, match="read_frame takes a pandas table, not list"):
        own.read_frame([1])
    assert OwnEventsError("x")._render_traceback_() == ["OwnEventsError: x"]
    assert issubclass(OwnEventsError, ScenarioError)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty; the first line holds the names"),
        ("event_time,key\n", "has a header and no rows"),
        (
            "2026-10-17T07:00Z,a\n2026-10-17T07:01Z,b\n",
            "has no header: its first line holds '2026-10-17T07:00Z'.*names=",
        ),
        ("a,1792220400\nb,1792220401\n", "has no header: its first line holds '1792220400'"),
        ("when,key\n1,a\n", "no column 'event_time'; the table has when, key"),
        (
            'event_time,key\n1,"a\n2,b\n3,c\n',
            "is no CSV: line 4: unexpected end of data. A cell that begins with a quote",
        ),
        ('{"event_time": 1}\n', "holds JSON and no cells; write read_json_lines"),
    ],
)
def test_files_that_are_wrong_get_a_sentence(tmp_path, text, words):
    with pytest.raises(OwnEventsError, match=words):
        read_rows(tmp_path, text)


def test_files_that_cannot_be_read_get_a_sentence(tmp_path):
    (tmp_path / "latin.csv").write_bytes("event_time,key\n1,\xe9\n".encode("latin-1"))
    (tmp_path / "bad.csv.gz").write_bytes(b"no gzip")
    (tmp_path / "pretty.json").write_text(json.dumps({"event_time": 1}, indent=1), encoding="utf-8")
    (tmp_path / "wide.csv").write_bytes("event_time\n6:00\n".encode("utf-16"))
    (tmp_path / "narrow.csv").write_bytes("event_time\n6:00\n".encode("utf-16-le"))
    (tmp_path / "book.csv").write_bytes(b"PK\x03\x04" + bytes(80))
    (tmp_path / "arrow.csv").write_bytes(b"PAR1" + bytes(range(80)))
    (tmp_path / "z.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(range(80)))
    (tmp_path / "list.jsonl").write_text("[{}]", encoding="utf-8")
    (tmp_path / "none.jsonl").write_text("\n", encoding="utf-8")
    (tmp_path / "text.jsonl").write_text("hello\n", encoding="utf-8")
    for reader, name, words in (
        (own.read_csv, "nowhere.csv", "there is no file .*; the folder .* is there"),
        (own.read_csv, "x/nowhere.csv", "nor is the folder"),
        (own.read_csv, ".", "is a folder; name a file in it"),
        (own.read_csv, "latin.csv", "is not text in UTF-8"),
        (own.read_csv, "bad.csv.gz", "cannot be read: Not a gzipped file"),
        (own.read_json_lines, "list.jsonl", "is one JSON list"),
        (own.read_json_lines, "none.jsonl", "is empty"),
        (own.read_json_lines, "text.jsonl", "holds no JSON object; line 1 is no JSON: 'hello'"),
        (own.read_json_lines, "pretty.json", "has an object over several lines"),
        (own.read_csv, "wide.csv", "is text in UTF-16; save it as UTF-8"),
        (own.read_csv, "narrow.csv", "is text in UTF-16"),
        (own.read_csv, "book.csv", "is an archive or a workbook: .*pandas.read_excel"),
        (own.read_csv, "arrow.csv", "is a Parquet file; write read_parquet"),
        (own.read_json_lines, "z.jsonl.zst", "is zipped by zstd; unpack it"),
    ):
        with pytest.raises(OwnEventsError, match=words):
            reader(tmp_path / name)
    for options, words in (({"separator": "x"}, "separator is 'x'"), ({"names": "a"}, "names is 'a'; write a list")):
        with pytest.raises(OwnEventsError, match=words):
            own.read_csv(tmp_path / "latin.csv", **options)
    with pytest.raises(OwnEventsError, match="read_csv takes the path of a file, not int"):
        own.read_csv(1)


def test_parquet_that_cannot_be_read_gets_a_sentence(tmp_path, monkeypatch):
    path = tmp_path / "e.parquet"
    path.write_bytes(b"PAR1 and no more")
    monkeypatch.setattr("wmviz.own.files.find_spec", lambda name: None)
    with pytest.raises(OwnEventsError, match="pyarrow, which is not installed: pip install pyarrow; or write CSV"):
        own.read_parquet(path)
    monkeypatch.undo()
    pytest.importorskip("pyarrow")
    with pytest.raises(OwnEventsError, match=r"e\.parquet cannot be read"):
        own.read_parquet(path)
    path.write_text("event_time\n", encoding="utf-8")
    with pytest.raises(OwnEventsError, match="is no Parquet file: it does not begin with PAR1"):
        own.read_parquet(path)
    with pytest.raises(OwnEventsError, match="cannot be read: No such file"):
        own.read_parquet(tmp_path / "no.parquet")


# ------------------------------------------------------------------------------------- progress, flights, docs


def test_progress_is_a_line_that_goes_away(capsys, monkeypatch):
    clock = iter([0.0, 1.0, 2.5, 2.6, 3.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    line = Progress(is_shown=True)
    for what in ("one", "second", "third", "end"):
        line.tell(what)
    line.done()
    assert capsys.readouterr().err == "\rsecond\rend   \r      \r"


def test_nothing_is_told_where_nobody_looks(capsys, monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE_S", -1)
    monkeypatch.setattr(progress.sys, "modules", {name: m for name, m in sys.modules.items() if name != "ipykernel"})
    own.read_frame(frame_of())
    assert capsys.readouterr().err == ""
    own.read_frame(frame_of(), progress=True)
    assert "reading the times of event_time" in capsys.readouterr().err


def test_the_flights_are_real_and_complete():
    read = own.flights()
    lags = [event.arrival_time_ms - event.event_time_ms for event in read.scenario.events]
    assert (read.rows, len(lags), read.rows_set_aside) == (6_759, 6_420, 339)
    assert (min(lags) // 60_000, max(lags) // 60_000) == (42, 650)
    assert {event.key for event in read.scenario.events} == {"EWR", "JFK", "LGA"}
    by_lag = sorted(own.flights(key="destination").scenario.events, key=lambda e: e.arrival_time_ms - e.event_time_ms)
    assert (by_lag[0].key, by_lag[-1].key) == ("PHL", "HNL")
    assert "42 min to Philadelphia, over 10 h to Honolulu" in own.flights.__doc__
    delays = own.flights("scheduled", "departed", partition="origin", bound="1 h").scenario
    assert delays.partition_count == 3
    assert sum(e.arrival_time_ms < e.event_time_ms for e in delays.events) > 2_000
    with pytest.raises(OwnEventsError, match="happens is 'took off'; write"):
        own.flights("took off")
    with pytest.raises(OwnEventsError, match='both "landed"'):
        own.flights("landed", "landed")


@pytest.mark.parametrize("function", [own.read_frame, own.flights])
def test_the_examples_run(function):
    examples = doctest.DocTestFinder(recurse=False).find(function, function.__name__, globs={})
    results = [doctest.DocTestRunner().run(example) for example in examples]
    assert sum(result.attempted for result in results) >= 3
    assert not sum(result.failed for result in results)
