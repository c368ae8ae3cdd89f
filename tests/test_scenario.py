"""Scenarios: reading, refusing in sentences, varying, saving, and the schedule of arrivals and ticks."""

import dataclasses
import doctest
import inspect
import re

import pytest

from wmviz.event import EVENT_FIELDS
from wmviz.runtime import ALIGNMENT_FIELDS, CHECKPOINT_FIELDS, HAPPENING_FIELDS
from wmviz.scenario import FIELDS, Event, Scenario, ScenarioError, Window
from wmviz.times import MAX_MS, MIN_MS, time_ms
from wmviz.window import WINDOW_FIELDS

ONE = ["r9", 1000, "6:56", "7:09"]

REFUSED = [
    ({"bond": "2 min"}, "there is no field 'bond'; did you mean 'bound'?"),
    ({"xyz": 1}, "there is no field 'xyz'; write one of name, title, about, strategy"),
    ({"bound": -1}, 'bound is -1; write a duration, 0 or more: "2 min"'),
    ({"bound": "2 parsecs"}, "bound: '2 parsecs' is not a duration; write \"2 min\""),
    ({"bound": "0.5 ms"}, "bound: '0.5 ms' is no whole number of milliseconds"),
    ({"bound": None}, "bound: None is not a duration"),
    ({"lateness": MAX_MS}, "lateness is 9223372036854775807; write a duration"),
    ({"interval": -1}, 'interval is -1; write a duration, 0 or more: "2 min"'),
    ({"strategy": "perfect"}, 'strategy is \'perfect\'; write "bounded", "ascending" or "none"'),
    ({"strategy": []}, 'strategy is []; write "bounded"'),
    ({"emission": "always"}, 'emission is \'always\'; write "event" or "interval"'),
    ({"late_to": "void"}, 'late_to is \'void\'; write "drop" or "side"'),
    ({"aggregate": "median"}, 'aggregate is \'median\'; write "sum", "count", "max", "min" or "average"'),
    ({"sink": "upsrt"}, 'sink is \'upsrt\'; write "upsert", "append" or "transactional"'),
    ({"name": 5}, "name is 5; write text"),
    ({"title": None}, "title is None; write text"),
    ({"name": "\ud800"}, "name is '\\ud800'; write text"),
    ({"zone": "Middle/Earth"}, "zone: there is no time zone 'Middle/Earth'"),
    ({"zone": 5}, "zone is 5; write a zone"),
    ({"start": "6 am"}, "start: '6 am' is not a time"),
    ({"start": "7:10", "events": [ONE]}, "start is 7:10, after the arrival of r9@6:56; make it earlier"),
    ({"end_of_input": "7:08", "events": [ONE]}, "end_of_input is 7:08, before the arrival of r9@6:56; make it later"),
    ({"window": 1.5}, 'window is 1.5; write {"type": "tumbling", "size": "1 h"}'),
    ({"window": []}, "window is a list; write {"),
    ({"window": {}}, "window.size is 0; tumbling windows need a duration above 0"),
    ({"window": {"sise": "1 h"}}, "there is no field 'window.sise'; did you mean 'size'?"),
    ({"window": {"type": "hopping"}}, 'window.type is \'hopping\'; write "tumbling", "sliding", "session" or "global"'),
    ({"window": {"size": "-1 h"}}, "window.size is -3600000; write a duration, 0 or more"),
    ({"window": {"size": 10, "slide": 5}}, "window.slide belongs to sliding windows; leave it out of tumbling ones"),
    ({"window": {"type": "sliding", "size": 10}}, "window.slide is 0; sliding windows need a duration above 0"),
    ({"window": {"type": "session"}}, "window.gap is 0; session windows need a duration above 0"),
    ({"window": {"type": "session", "gap": 5, "offset": 1}}, "window.offset: session windows lie on no grid"),
    ({"idle_timeout": 0}, "idle_timeout is 0; write a duration above 0"),
    ({"subtasks": 0}, "subtasks is 0; write a number from 1 to 128"),
    ({"partitions": 1, "events": [["a", 1, 0, 0, 1]]}, "partitions is 1, but there are events on number 1"),
    ({"window": {"size": 10, "offset": 10}}, "window.offset is 10 ms; it must be smaller than the size"),
    ({"window": {"size": 10, "offset": -10}}, "window.offset is -10 ms; it must be smaller than the size"),
    (
        {"window": {"type": "sliding", "size": 10, "slide": 5, "offset": 5}},
        "window.offset is 5 ms; it must be smaller than the slide",
    ),
    ({"window": {"type": "sliding", "size": "1 d", "slide": 1}}, "into more than 10000000 windows; make it longer"),
    (
        {"window": {"type": "global", "size": 10}},
        "window.size belongs to tumbling and sliding windows; leave it out of global ones",
    ),
    (
        {"window": {"type": "global", "time": "processing"}},
        "window.time: global windows go by no clock; leave it out",
    ),
    ({"window": {"type": "global", "trigger": "event_time"}}, 'window.trigger "event_time" needs windows with an end'),
    ({"window": {"size": 10, "time": "wall"}}, 'window.time is \'wall\'; write "event" or "processing"'),
    ({"window": {"size": 10, "trigger": "end_of_stream"}}, 'window.trigger "end_of_stream" belongs to global windows'),
    ({"window": {"size": 10, "trigger": "count:0"}}, "window.trigger is 'count:0'; write default, event_time"),
    ({"window": {"size": 10, "trigger": "count:"}}, "window.trigger is 'count:'; write default"),
    ({"window": {"size": 10, "trigger": "count:" + "9" * 5000}}, "window.trigger is 'count:99999"),
    ({"window": {"size": 10, "trigger": "purging_never"}}, "window.trigger is 'purging_never'"),
    ({"window": {"size": 10, "trigger": None}}, "window.trigger is None"),
    (
        {"window": {"size": 10, "time": "processing", "trigger": "event_time"}},
        'window.trigger is "event_time" but the window goes by processing time; make them agree',
    ),
    (
        {"window": {"size": 10, "trigger": "purging_processing_time"}},
        'window.trigger is "purging_processing_time" but the window goes by event time',
    ),
    ({"events": 5}, "events is 5; write a list of events"),
    ({"events": "r9"}, "events is text; write a list of events"),
    ({"events": None}, "events is null; write a list of events"),
    ({"events": [5]}, 'events[0] is 5; write {"key": …'),
    ({"events": [ONE, ["r9"]]}, "events[1] has 1 entries; write [key, value, event time, arrival time, partition]"),
    ({"events": [[*ONE, 0, 1]]}, "events[0] has 6 entries"),
    ({"events": [{"value": 1, "event_time": 5}]}, "events[0] has no key; every event needs key, value and event_time"),
    ({"events": [{"key": "a", "event_time": 5}]}, "events[0] has no value"),
    ({"events": [{"key": "a", "value": 5}]}, "events[0] has no event_time"),
    (
        {"events": [{"key": "a", "value": 1, "evnt_time": 5}]},
        "there is no field 'events[0].evnt_time'; did you mean 'event_",
    ),
    ({"events": [["a", 1.5, 5]]}, "events[0].value is 1.5; write a whole number"),
    ({"events": [["a", True, 5]]}, "events[0].value is True; write a whole number"),
    (
        {"events": [["a", 10**12 + 1, 5]]},
        "events[0].value is 1000000000001; write a whole number, at most",
    ),
    ({"events": [[5, 1, 5]]}, "events[0].key is 5; write text"),
    ({"events": [["a", 1, "soon"]]}, "events[0].event_time: 'soon' is not a time"),
    ({"events": [["a", 1, MIN_MS]]}, "events[0].event_time is -9223372036854775808; write a time"),
    ({"events": [["a", 1, 5, MAX_MS]]}, "events[0].arrival_time is 9223372036854775807; write a time"),
    ({"events": [["a", 1, 5, 6, -1]]}, "events[0].partition is -1; write a number from 0"),
    ({"events": [{"key": "a", "value": 1, "event_time": t, "id": "x"} for t in (1, 2)]}, "events[1].id is 'x' again"),
    ({"events": {"generate": "rains"}}, "events: there is no generator 'rains'; write one of runs, steady"),
    ({"events": {"generate": "runs", "runners": 0}}, "events: runners is 0; write a number from 1"),
]


class TestRefusals:
    @pytest.mark.parametrize(("fields", "sentence"), REFUSED, ids=[sentence[:50] for _, sentence in REFUSED])
    def test_a_wrong_field_is_refused_by_its_name(self, fields, sentence):
        with pytest.raises(ScenarioError, match=re.escape(sentence)) as refusal:
            Scenario.of(**fields)
        assert "\n" not in str(refusal.value)
        assert len(str(refusal.value)) < 400

    @pytest.mark.parametrize("data", [None, 5, "x", [], [1], True])
    def test_what_is_no_object_is_no_scenario(self, data):
        with pytest.raises(ScenarioError, match="a scenario is an object with fields such as events and window, not "):
            Scenario.from_json(data)

    @pytest.mark.parametrize(
        ("content", "sentence"),
        [
            (b"", "is no JSON: line 1, column 1"),
            (b'{"bound": "2 min",}', "is no JSON: line 1, column"),
            (b"\xff\xfe", "is no JSON: it is not text in UTF-8"),
            (b"[" * 100_000, "is nested too deeply for a scenario"),
            (b'{"bound": ' + b"9" * 5000 + b"}", "cannot be read: Exceeds the limit"),
            (b"[]", "a scenario is an object"),
            (b'{"bond": 1}', "there is no field 'bond'"),
            (b'{"bound": NaN}', "bound: nan is not a duration"),
        ],
    )
    def test_a_bad_file_is_a_sentence_that_names_it(self, content, sentence, tmp_path):
        path = tmp_path / "bad.json"
        path.write_bytes(content)
        with pytest.raises(ScenarioError, match=re.escape(sentence)) as refusal:
            Scenario.load(path)
        assert str(path) in str(refusal.value)

    def test_a_file_that_is_not_there_or_has_no_possible_name_is_a_sentence(self, tmp_path):
        with pytest.raises(ScenarioError, match=r"none\.json cannot be read: No such file"):
            Scenario.load(tmp_path / "none.json")
        with pytest.raises(ScenarioError, match="cannot be read"):
            Scenario.load(tmp_path)
        with pytest.raises(ScenarioError, match="cannot be read: embedded null byte"):
            Scenario.load("a\0b")

    def test_fields_in_code_are_checked_too(self):
        with pytest.raises(ScenarioError, match="bound is -1"):
            Scenario(bound_ms=-1)
        with pytest.raises(ScenarioError, match="out of order; list events by arrival time"):
            Scenario(events=(Event("a", "k", 1, 5, 7), Event("b", "k", 1, 5, 6)))
        with pytest.raises(ScenarioError, match=r"window\.size is 0"):
            Scenario(window=Window())

    def test_it_is_frozen(self):
        with pytest.raises(dataclasses.FrozenInstanceError):
            Scenario().bound_ms = 5

    def test_a_notebook_shows_the_sentence_alone(self):
        assert ScenarioError("that is wrong")._render_traceback_() == ["ScenarioError: that is wrong"]


class TestReading:
    def test_rows_and_mappings_are_the_same_events(self):
        row = Scenario.of(events=[["r9", 1000, "6:56", "7:09", 2]])
        named = {"key": "r9", "value": 1000, "event_time": "6:56", "arrival_time": "7:09", "partition": 2}
        assert row == Scenario.of(events=[named])
        assert row.events == (Event("r9@6:56", "r9", 1000, time_ms("6:56"), time_ms("7:09"), 2),)

    def test_without_an_arrival_time_an_event_arrives_at_once(self):
        assert Scenario.of(events=[["a", 1, "6:00"]]).events[0].arrival_time_ms == time_ms("6:00")

    def test_events_are_put_in_order_of_arrival_and_ties_keep_their_place(self):
        scenario = Scenario.of(events=[["a", 1, 5, 9], ["b", 1, 6, 8], ["c", 1, 7, 8]])
        assert [event.key for event in scenario.events] == ["b", "c", "a"]

    def test_ids_are_key_at_time_and_repeats_are_numbered(self):
        scenario = Scenario.of(events=[["a", 1, "6:00"], ["a", 1, "6:00"], ["b", 1, "6:00"], ["a", 1, "6:00"]])
        assert [event.id for event in scenario.events] == ["a@6:00", "a@6:00#2", "b@6:00", "a@6:00#3"]

    def test_ids_are_in_the_zone_of_the_scenario(self):
        scenario = Scenario.of(zone="+05:30", events=[["a", 1, "2026-10-17T07:00+05:30"]])
        assert scenario.events[0].id == "a@2026-10-17 07:00"

    def test_a_window_may_be_its_size_alone(self):
        assert Scenario.of(window="1 h").window == Window("tumbling", 3_600_000)

    def test_schema_references_in_a_file_are_ignored(self):
        assert Scenario.from_json({"$schema": "scenario.schema.json"}) == Scenario()

    def test_a_generator_is_run_and_remembered(self):
        spec = {"generate": "steady", "events": 20}
        scenario = Scenario.of(events=spec)
        assert len(scenario.events) == 20
        assert scenario.to_json()["events"] == spec
        assert scenario.replace(events={"seed": 8}).events != scenario.events
        assert len(scenario.replace(events={"events": 5}).events) == 5


class TestReplace:
    def test_it_takes_the_json_names_and_leaves_the_rest(self):
        base = Scenario.of(events=[ONE], bound="2 min")
        changed = base.replace(lateness="20 min")
        assert (changed.lateness_ms, changed.bound_ms, changed.events) == (1_200_000, 120_000, base.events)
        assert base.lateness_ms == 0

    def test_a_window_without_a_type_changes_the_present_one(self):
        base = Scenario.of(window={"type": "sliding", "size": "1 h", "slide": "30 min"})
        assert base.replace(window={"slide": "15 min"}).window == Window("sliding", 3_600_000, 900_000)
        assert base.replace(window={"type": "tumbling", "size": "1 h"}).window == Window("tumbling", 3_600_000)

    def test_an_unknown_field_is_refused(self):
        with pytest.raises(ScenarioError, match="there is no field 'bound_ms'; did you mean 'bound'"):
            Scenario().replace(bound_ms=5)

    def test_sample_keeps_the_first_keys(self):
        base = Scenario.of(events=[["a", 1, 1], ["b", 1, 2], ["c", 1, 3], ["a", 1, 4]])
        assert [event.key for event in base.sample(2).events] == ["a", "b", "a"]

    def test_by_server_clock_keeps_arrivals_and_counts_by_them(self):
        base = Scenario.of(events=[ONE], bound="2 min", lateness="20 min")
        clock = base.by_server_clock()
        assert (clock.events, clock.window.time, clock.strategy, clock.lateness_ms) == (
            base.events,
            "processing",
            "none",
            0,
        )


class TestSaving:
    @pytest.mark.parametrize(
        "fields",
        [
            {},
            {"events": [ONE, ['ü–"x"', -5, "-0:01"]], "bound": "2 min", "zone": "Europe/Berlin", "unit": "m"},
            {"events": [{"key": "a", "value": 1, "event_time": MIN_MS + 1, "id": "mine"}], "start": MIN_MS + 1},
            {"window": {"type": "sliding", "size": 7, "slide": 3, "offset": -2, "trigger": "purging_count:2"}},
            {"window": {"type": "global", "trigger": "end_of_stream"}, "end_of_input": "8:00"},
            {"events": {"generate": "steady", "events": 30}, "emission": "interval", "interval": "1 s"},
        ],
    )
    def test_it_is_read_back_as_it_was(self, fields, tmp_path):
        scenario = Scenario.of(**fields)
        scenario.save(tmp_path / "it.json")
        assert Scenario.load(tmp_path / "it.json") == scenario

    def test_defaults_are_left_out_and_each_event_is_a_line(self, tmp_path):
        Scenario.of(name="two", events=[ONE, ONE]).save(tmp_path / "it.json")
        lines = (tmp_path / "it.json").read_text(encoding="utf-8").splitlines()
        assert len([line for line in lines if '"r9"' in line]) == 2
        assert "bound" not in "".join(lines)


class TestSchedule:
    def test_with_emission_per_event_there_are_arrivals_only(self):
        scenario = Scenario.of(events=[["a", 1, 0, 5], ["a", 1, 0, 1000]])
        assert list(scenario.schedule()) == [(5, 0), (1000, 1)]

    def test_ticks_lie_on_the_grid_from_the_start_and_the_arrival_comes_first_on_equal_milliseconds(self):
        events = [["a", 1, 0, at] for at in (0, 199, 200, 200, 201, 1000)]
        scenario = Scenario.of(events=events, emission="interval", interval=200)
        assert list(scenario.schedule()) == [
            (0, 0),
            (199, 1),
            (200, 2),
            (200, 3),
            (200, None),
            (201, 4),
            (400, None),
            (1000, 5),
            (1000, None),
        ]

    def test_the_first_tick_is_one_interval_after_the_start(self):
        scenario = Scenario.of(events=[["a", 1, 0, 50]], emission="interval", interval=200, start=50)
        assert list(scenario.schedule()) == [(50, 0), (250, None)]
        scenario = Scenario.of(events=[["a", 1, 0, 250]], emission="interval", interval=200, start=50)
        assert list(scenario.schedule()) == [(250, 0), (250, None)]

    def test_ticks_before_the_epoch(self):
        scenario = Scenario.of(events=[["a", 1, 0, -7]], emission="interval", interval=10, start=-20)
        assert list(scenario.schedule()) == [(-7, 0), (0, None)]

    def test_no_tick_comes_after_the_end_of_the_input(self):
        events = [["a", 1, 0, 50]]
        assert list(Scenario.of(events=events, emission="interval", end_of_input=249).schedule()) == [(50, 0)]
        assert list(Scenario.of(events=events, emission="interval", end_of_input=250).schedule()) == [
            (50, 0),
            (250, None),
        ]

    def test_no_tick_comes_without_a_strategy_or_beyond_the_long_range(self):
        events = [["a", 1, 0, MAX_MS - 1]]
        assert list(Scenario.of(events=events, emission="interval", strategy="none").schedule()) == [(MAX_MS - 1, 0)]
        assert list(Scenario.of(events=events, emission="interval").schedule()) == [(MAX_MS - 1, 0)]

    def test_a_long_silence_costs_no_ticks(self):
        scenario = Scenario.of(events=[["a", 1, 0, 0], ["a", 1, 0, 2_592_000_000]], emission="interval")
        assert len(list(scenario.schedule())) == 4


class TestHelp:
    def test_the_docstring_alone_has_every_field_and_what_it_means(self):
        text = " ".join(inspect.getdoc(Scenario).split())
        for fields in (FIELDS, WINDOW_FIELDS, CHECKPOINT_FIELDS, ALIGNMENT_FIELDS, HAPPENING_FIELDS, EVENT_FIELDS):
            for known in fields:
                in_code = f" ({known.attribute})" if known.attribute != known.name else ""
                assert f"{known.name}{in_code} : {known.kind.words}" in text
                assert known.about in text

    def test_its_example_is_true(self):
        examples = doctest.DocTestFinder(recurse=False).find(Scenario, "Scenario")
        assert sum(doctest.DocTestRunner().run(example).attempted for example in examples) == 5
        assert sum(doctest.DocTestRunner().run(example).failed for example in examples) == 0
