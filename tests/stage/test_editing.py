"""Gestures on a scenario, their history, two variants, and the forms to take away; no browser."""

import json
from collections import Counter

import pytest

import wmviz
from wmviz.scenario import Scenario, ScenarioError
from wmviz.stage import editing
from wmviz.stage.code import python_code
from wmviz.stage.differences import settings
from wmviz.times import time_ms

LEADERBOARD = wmviz.scenario("leaderboard")


def do(stage, name: str, **values: object) -> None:
    stage.command = {"do": name, "serial": stage.command.get("serial", 0) + 1, **values}


@pytest.fixture
def stage():
    return wmviz.play(LEADERBOARD)


def names(scenario: Scenario) -> Counter:
    return Counter(event.id for event in scenario.events)


# --------------------------------------------------------------------------------------------- one gesture


def test_a_moved_event_is_in_order_of_arrival_and_named_after_its_time() -> None:
    index = next(n for n, event in enumerate(LEADERBOARD.events) if event.id == "r4471@6:56")
    edited = editing.moved(LEADERBOARD, index, {"arrival_time_ms": time_ms("7:50"), "event_time_ms": time_ms("7:01")})
    event = edited.scenario.events[edited.selected]
    assert (event.id, event.arrival_time_ms) == ("r4471@7:01", time_ms("7:50"))
    arrivals = [event.arrival_time_ms for event in edited.scenario.events]
    assert arrivals == sorted(arrivals)
    assert names(edited.scenario) - names(LEADERBOARD) == Counter(["r4471@7:01"])
    assert names(LEADERBOARD) - names(edited.scenario) == Counter(["r4471@6:56"])


def test_names_that_were_given_stay_and_repeats_are_numbered() -> None:
    events = [{"key": "a", "value": 1, "event_time": "6:00", "id": "mine"}, ["a", 2, "6:01"], ["a", 3, "6:02"]]
    scenario = Scenario.of(events=events, window="1 h")
    moved = editing.moved(scenario, 0, {"event_time_ms": time_ms("6:02")}).scenario
    assert [event.id for event in moved.events] == ["mine", "a@6:01", "a@6:02"]
    same = editing.moved(scenario, 1, {"event_time_ms": time_ms("6:02")}).scenario
    assert [event.id for event in same.events] == ["mine", "a@6:02", "a@6:02#2"]
    clash = Scenario.of(events=[{"key": "a", "value": 1, "event_time": "6:00", "id": "a@6:05"}, ["a", 2, "6:01"]])
    met = editing.moved(clash, 1, {"event_time_ms": time_ms("6:05")}).scenario
    assert [event.id for event in met.events] == ["a@6:05", "a@6:05#2"]


def test_an_added_event_is_like_the_chosen_one() -> None:
    edited = editing.added(LEADERBOARD, 0, {"arrival_time_ms": time_ms("7:00"), "event_time_ms": time_ms("6:59")})
    event, like = edited.scenario.events[edited.selected], LEADERBOARD.events[0]
    assert (event.key, event.value, event.event_time_ms) == (like.key, like.value, time_ms("6:59"))
    assert len(edited.scenario.events) == len(LEADERBOARD.events) + 1
    empty = editing.added(Scenario.of(events=[]), -1, {"arrival_time_ms": 0, "event_time_ms": 0, "partition": 0})
    assert [event.id for event in empty.scenario.events] == ["a@0:00"]


def test_a_duplicate_arrives_later_and_a_deleted_event_is_gone() -> None:
    twice = editing.duplicated(LEADERBOARD, 3, (), 1_000)
    assert twice.selected == 4
    assert names(twice.scenario)[f"{LEADERBOARD.events[3].id}#2"] == 1
    assert editing.deleted(twice.scenario, 4).scenario.events == LEADERBOARD.events


@pytest.mark.parametrize("index", [-1, 19, 1.5, None])
def test_what_is_not_there_cannot_be_moved(index: object) -> None:
    for act in (lambda: editing.moved(LEADERBOARD, index, {}), lambda: editing.deleted(LEADERBOARD, index)):
        with pytest.raises(ScenarioError, match="there is no such event"):
            act()


@pytest.mark.parametrize("changes", [{"arrival_time_ms": 1.5}, {"event_time_ms": 2**60}, {"partition": -1}])
def test_a_gesture_ends_at_whole_milliseconds_within_reach(changes: dict) -> None:
    with pytest.raises(ScenarioError, match=f"{next(iter(changes))} is"):
        editing.moved(LEADERBOARD, 0, changes)


# ------------------------------------------------------------------------------------------------ the stage


def test_a_drag_is_run_again_and_undone_as_one(stage) -> None:
    stage.selected = 5
    stage.step = stage.trace.steps - 1
    at = LEADERBOARD.events[5].arrival_time_ms - stage.picture["origin"]
    axes = stage.picture["x"]
    for minutes in (10, 20, 30):
        do(stage, "move", arrival=at + minutes * 60_000, gesture="drag 1")
        assert stage.scenario.events[stage.selected].arrival_time_ms == at + minutes * 60_000 + stage.picture["origin"]
        assert stage.trace.outcomes() == wmviz.simulate(stage.scenario).outcomes()
        assert stage.picture["x"] == axes
    assert stage.step == stage.trace.steps - 1
    assert stage.can == {"undo": True, "redo": False, "reset": True, "keep": True, "swap": False, "drop": False}
    moved = stage.scenario
    do(stage, "undo")
    assert stage.scenario == LEADERBOARD
    do(stage, "redo")
    assert stage.scenario == moved
    do(stage, "reset")
    assert stage.scenario == LEADERBOARD
    do(stage, "undo")
    assert stage.scenario == moved


def test_the_axes_grow_when_an_event_leaves_them(stage) -> None:
    stage.selected = 18
    axes = stage.picture["x"]
    for _ in range(30):
        do(stage, "move", by=[10, 0, 0], gesture="nudge 1")
    assert stage.picture["x"] != axes
    assert stage.picture["x"]["to"] >= stage.picture["steps"][-1]
    do(stage, "undo")
    assert stage.scenario == LEADERBOARD


def test_sliders_have_a_history_too(stage) -> None:
    stage.bound = "5 min"
    stage.bound = "6 min"
    stage.lateness = "0 ms"
    do(stage, "undo")
    assert (stage.bound, stage.lateness) == ("6 min", "20 min")
    do(stage, "undo")
    assert (stage.bound, stage.scenario) == ("2 min", LEADERBOARD)


def test_what_cannot_be_is_said_and_changes_nothing(stage) -> None:
    answer = stage.answer
    do(stage, "delete")
    assert stage.problem == "there is no such event; choose one on the plane first"
    do(stage, "load", text="{")
    assert stage.problem.startswith("the file is no JSON")
    do(stage, "load", text='{"bound": "soon"}')
    assert "'soon' is not a duration" in stage.problem
    assert (stage.scenario, stage.answer) == (LEADERBOARD, answer + 3)
    started = wmviz.play(wmviz.scenario("quiet-partition"))
    started.selected = 0
    do(started, "move", arrival=-7 * 3_600_000)
    assert "start is" in started.problem


def test_the_job_crashes_at_the_playhead_and_a_partition_falls_silent(stage) -> None:
    stage.step = 30
    at_ms = stage.trace.step_at_ms[30]
    do(stage, "crash")
    assert [(happening.what, happening.at_ms) for happening in stage.scenario.happenings] == [("crash", at_ms)]
    assert [row[1] for row in stage.picture["pipeline"]["job"]] == [1, 0]
    do(stage, "undo")
    assert stage.scenario == LEADERBOARD
    two = wmviz.play(wmviz.scenario("idle-bet"))
    two.selected = 1
    two.step = 20
    do(two, "silence")
    (silence,) = two.scenario.happenings
    assert (silence.what, silence.partition, silence.at_ms) == ("silence", 1, two.trace.step_at_ms[20])
    begins, ends = two.picture["lanes"][1]["silent"][0]
    assert ends - begins == silence.until_ms - silence.at_ms
    assert two.picture["lanes"][0]["silent"] == []


def test_the_last_event_can_go(stage) -> None:
    for _ in LEADERBOARD.events:
        stage.selected = 0
        do(stage, "delete")
    assert stage.scenario.events == ()
    assert (stage.selected, stage.problem, stage.picture["steps"]) == (-1, "", [])
    do(stage, "add", arrival=0, time=0)
    assert [event.key for event in stage.scenario.events] == ["a"]


def test_a_variant_stands_beside_the_stage_on_the_same_axes(stage) -> None:
    do(stage, "keep")
    assert stage.differing["captions"][1] == ["B", "kept · the same settings and events"]
    assert stage.differing["lines"] == ["At the end nothing differs."]
    stage.lateness = "0 ms"
    assert stage.other["id"] != stage.picture["id"]
    assert (stage.other["x"], stage.other["y"]) == (stage.picture["x"], stage.picture["y"])
    assert stage.differing["captions"][1][1] == "kept · lateness: A 0 ms, B 20 min"
    late = {event[0] for index, event in enumerate(stage.events) if index in stage.differing["events"][0]}
    assert late == {"r4471@6:56", "r12@6:58"}
    assert "r4471@6:56: side output in A, late but counted in B." in stage.differing["lines"]
    assert "[6:00, 7:00) of r4471: 2,000 m in A, 3,000 m in B." in stage.differing["lines"]
    do(stage, "swap")
    assert (stage.lateness, stage.differing["captions"][1][1]) == ("20 min", "kept · lateness: A 20 min, B 0 ms")
    do(stage, "drop")
    assert (stage.other, stage.differing) == ({}, {})


def test_events_that_are_chosen_together_move_together() -> None:
    first, second = 2, 5
    events = LEADERBOARD.events
    target = {"arrival_time_ms": events[first].arrival_time_ms + 90_000}
    edited = editing.shifted(LEADERBOARD, first, (first, second), target)
    assert len(edited.scenario.events) == len(events)
    assert edited.scenario.events[edited.selected].event_time_ms == events[first].event_time_ms
    moved = sorted(edited.scenario.events[index].arrival_time_ms for index in edited.group)
    assert moved == [events[first].arrival_time_ms + 90_000, events[second].arrival_time_ms + 90_000]
    arrivals = [event.arrival_time_ms for event in edited.scenario.events]
    assert arrivals == sorted(arrivals)
    back = {"arrival_time_ms": events[first].arrival_time_ms}
    assert editing.shifted(edited.scenario, edited.selected, edited.group, back).scenario.events == events


def test_a_burst_is_duplicated_behind_itself_and_taken_out_again() -> None:
    group = (3, 4, 5)
    events = LEADERBOARD.events
    edited = editing.duplicated(LEADERBOARD, 4, group, 1_000)
    span_ms = events[5].arrival_time_ms - events[3].arrival_time_ms
    added = [edited.scenario.events[index] for index in edited.group]
    assert [event.arrival_time_ms for event in added] == [
        events[index].arrival_time_ms + span_ms + 1_000 for index in group
    ]
    assert [event.event_time_ms for event in added] == [events[index].event_time_ms for index in group]
    assert len({event.id for event in edited.scenario.events}) == len(events) + 3
    assert editing.deleted(edited.scenario, edited.selected, edited.group).scenario.events == events


def test_the_stage_edits_what_is_chosen_together(stage) -> None:
    stage.selected, stage.group = 5, [3, 5]
    do(stage, "duplicate")
    assert len(stage.scenario.events) == len(LEADERBOARD.events) + 2
    assert len(stage.group) == 2
    assert stage.selected in stage.group
    do(stage, "move", by=[3, 0, 0])
    do(stage, "delete")
    assert stage.scenario.events == LEADERBOARD.events
    assert (stage.selected, stage.group) == (-1, [])
    stage.selected, stage.group = 5, [3, 99]
    do(stage, "delete")
    assert stage.problem.startswith("there is no such event")


def test_settings_that_differ_are_named_with_their_values() -> None:
    other = LEADERBOARD.replace(sink="append", idle_timeout="1 min", events=[])
    words = settings(LEADERBOARD, other)
    assert "idle_timeout: A none, B 1 min" in words
    assert "sink: A upsert, B append" in words
    assert "events: A 19, B 0, not the same" in words


@pytest.mark.parametrize(
    "scenario",
    [
        LEADERBOARD,
        LEADERBOARD.replace(bound="7 min", idle_timeout="1 h"),
        LEADERBOARD.replace(idle_timeout=None, window={"type": "session", "gap": "5 min"}),
        editing.deleted(wmviz.scenario("idle-bet"), 4).scenario,
        wmviz.scenario("busy-saturday").replace(bound=0),
        Scenario.of(name='it\'s "mine"\n', events=[{"key": "é'", "value": 1, "event_time": "6:00", "id": "\\"}]),
    ],
)
def test_the_code_makes_the_same_scenario(scenario: Scenario) -> None:
    made = python_code(scenario).replace("wmviz.play(scenario)\n", "")
    space: dict = {}
    exec(made, space)
    assert space["scenario"] == scenario


def test_saved_and_opened_it_is_the_same(stage) -> None:
    stage.selected = 2
    do(stage, "duplicate")
    kept = stage.scenario
    do(stage, "json")
    text = stage.given["text"]
    assert Scenario.from_json(json.loads(text)) == kept
    do(stage, "reset")
    do(stage, "load", text=text)
    assert stage.scenario == kept
    assert not stage.can["reset"]
    assert not stage.picture["about"].startswith("Before the change")
    do(stage, "undo")
    assert stage.scenario == LEADERBOARD


# ------------------------------------------------------------------------------- back to the events, and to late


def test_every_result_names_the_events_of_its_last_firing() -> None:
    for scenario in (LEADERBOARD, wmviz.scenario("workout-sessions"), LEADERBOARD.replace(window="30 min")):
        stage = wmviz.play(scenario)
        labels = [band["label"] for band in stage.picture["bands"]]
        for step in range(stage.trace.steps):
            expected = {}
            for row in stage.trace.contents:
                if stage.trace.step[row] <= step:
                    expected[stage.trace.subject[row]] = stage.trace.firing_events(row)
            shown = []
            for result in stage.picture["results"]:
                members: list[int] = []
                for at, keep, *events in result["made"]:
                    if at <= step:
                        members = [*members[:keep], *events]
                fired = [change[3] for change in result["changes"] if change[0] <= step][-1:]
                if fired and fired[0]:
                    shown.append((result["key"], labels[result["band"]], sorted(members)))
            assert len(shown) == len(expected)
            assert sorted(events for *_, events in shown) == sorted(sorted(events) for events in expected.values())


def test_a_late_event_leads_to_the_watermark_that_made_it_late() -> None:
    stage = wmviz.play(LEADERBOARD)
    index = stage.trace.event_index("r4471@6:56")
    row = stage.picture["late_from"][index]
    assert stage.trace[row].value >= time_ms("6:59:59.999")
    assert stage.trace.value_before(("clock", stage.trace.window_clock), row - 1) < time_ms("6:59:59.999")
    late = {index for index, looks in enumerate(stage.picture["event_looks"]) if looks and looks[-1] in (2, 3, 4)}
    assert set(stage.picture["late_from"]) == late
