"""The forms of a stage without a browser: the widget's answers, the still, the parts that a notebook keeps."""

import asyncio
import base64
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import traitlets

import wmviz
from wmviz.scenario import Scenario, ScenarioError
from wmviz.stage import pages, widget
from wmviz.stage.player import module_text, palette
from wmviz.stage.still import Still, still_svg
from wmviz.times import duration_ms

LEADERBOARD = wmviz.scenario("leaderboard")
HOSTILE = '</script><img src=x onerror="window.hacked=1">'
SVG = "{http://www.w3.org/2000/svg}"


def hostile() -> Scenario:
    return Scenario.of(
        name=HOSTILE,
        title=HOSTILE,
        about=HOSTILE,
        window="1 h",
        events=[{"key": HOSTILE, "value": 1, "event_time": "6:10", "id": HOSTILE}, [HOSTILE + "2", 2, "7:10"]],
    )


# ------------------------------------------------------------------------------------------------- the widget


def test_a_slider_runs_the_scenario_again_and_the_playhead_keeps_its_time() -> None:
    stage = wmviz.play(LEADERBOARD)
    stage.step = 40
    at_ms = stage.trace.step_at_ms[40]
    before = stage.picture["id"]
    stage.bound = "30 min"
    assert stage.scenario == LEADERBOARD.replace(bound="30 min")
    assert stage.trace.watermarks.equals(wmviz.simulate(stage.scenario).watermarks)
    assert stage.picture["id"] != before
    assert stage.sentences["id"] == stage.picture["id"]
    assert stage.trace.step_at_ms[stage.step] <= at_ms
    assert stage.step + 1 == stage.trace.steps or stage.trace.step_at_ms[stage.step + 1] > at_ms
    assert (stage.problem, stage.answer) == ("", 1)


def test_the_ends_of_the_run_stay_the_ends() -> None:
    stage = wmviz.play(LEADERBOARD)
    stage.lateness = "0 ms"
    assert stage.step == -1
    stage.step = 10**9
    assert stage.step == stage.trace.steps - 1
    stage.bound = "1 h"
    assert stage.step == stage.trace.steps - 1


@pytest.mark.parametrize("text", ["soon", "-2 min", "", "1 parsec", "9999999999999 d"])
def test_a_bad_parameter_is_answered_with_a_sentence(text: str) -> None:
    stage = wmviz.play(LEADERBOARD)
    trace = stage.trace
    stage.bound = text
    assert stage.problem.startswith("bound")
    assert stage.trace is trace
    assert stage.answer == 1
    stage.bound = "3 min"
    assert (stage.problem, stage.scenario.bound_ms) == ("", 180_000)


def test_what_is_said_about_a_scenario_is_not_said_of_other_settings() -> None:
    stage = wmviz.play(LEADERBOARD)
    assert stage.picture["about"] == LEADERBOARD.about
    stage.lateness = "0"
    assert stage.picture["about"] == f"Before the change: {LEADERBOARD.about}"
    stage.lateness = "20 min"
    assert stage.picture["about"] == LEADERBOARD.about


def test_sliders_stop_at_round_durations_around_the_present_one() -> None:
    for name in wmviz.scenarios():
        if name != "busy-saturday":
            for slider in wmviz.play(wmviz.scenario(name)).picture["parameters"]:
                stops = [duration_ms(stop) for stop in slider["stops"] if stop != "none"]
                assert stops == sorted(set(stops))
                assert (stops[0] == 0) == ("none" not in slider["stops"])
                assert slider["stops"][slider["at"]] == slider["text"]
                assert len(stops) > slider["at"] + 1 or slider["text"] == "none"


def test_parameters_that_change_nothing_are_not_offered() -> None:
    def names(**changes: object) -> list[str]:
        return [p["name"] for p in wmviz.play(LEADERBOARD.replace(**changes)).picture["parameters"]]

    assert names() == ["bound", "lateness"]
    assert names(strategy="none") == ["lateness"]
    assert names(window={"type": "global"}) == ["bound"]


def test_every_parameter_runs_the_scenario_again_and_can_be_undone() -> None:
    stage = wmviz.play(wmviz.scenario("quiet-partition"))
    assert [p["name"] for p in stage.picture["parameters"]] == ["bound", "lateness", "idle_timeout"]
    assert (stage.idle_timeout, stage.trace.all_firings) == ("none", ())
    stage.idle_timeout = "10 min"
    assert stage.scenario.idle_timeout_ms == 600_000
    assert stage.trace.all_firings
    stage.idle_timeout = "0 ms"
    assert stage.problem.startswith("idle_timeout")
    stage.idle_timeout = "none"
    assert stage.scenario == wmviz.scenario("quiet-partition")
    job = wmviz.play(wmviz.scenario("crash-and-replay"))
    job.checkpoint_interval = "45 s"
    assert job.scenario.checkpoints.interval_ms == 45_000
    job.checkpoint_interval = "soon"
    assert job.problem.startswith("checkpoints: 'soon' is not a duration")
    aligned = wmviz.play(wmviz.scenario("watermark-alignment"))
    aligned.drift = "5 min"
    assert aligned.scenario.alignment.drift_ms == 300_000
    aligned.command = {"do": "undo", "serial": 1}
    assert aligned.drift == "2 min"


def test_the_sentences_wait_until_the_sliders_rest() -> None:
    stage = wmviz.play(LEADERBOARD)

    async def slide() -> tuple[bool, bool]:
        stage.bound = "5 min"
        stage.bound = "6 min"
        at_once = stage.sentences["id"] == stage.picture["id"]
        await asyncio.sleep(4 * widget.REST_S)
        return at_once, stage.sentences["id"] == stage.picture["id"]

    assert asyncio.run(slide()) == (False, True)


def test_an_unknown_speed_is_refused() -> None:
    with pytest.raises(traitlets.TraitError, match="write one of"):
        wmviz.play(LEADERBOARD, speed=3.0)


def test_what_is_no_scenario_is_refused_in_a_sentence() -> None:
    with pytest.raises(ScenarioError, match="play takes a scenario, not str"):
        wmviz.play("leaderboard")


def test_the_page_comes_when_it_is_asked_for() -> None:
    stage = wmviz.play(LEADERBOARD)
    assert stage.given == {}
    stage.command = {"do": "page", "serial": 1}
    assert (stage.given["name"], stage.given["serial"]) == ("page", 1)
    plain = pages.page(stage.trace, LEADERBOARD)
    assert abs(len(stage.given["text"]) - len(plain)) < 200


# -------------------------------------------------------------------------------------------------- the still


def test_the_still_is_the_same_in_every_process(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    monkeypatch.setenv("WMVIZ_STAGE", "still")
    still = wmviz.play(LEADERBOARD)
    assert isinstance(still, Still)
    code = "import wmviz; print(wmviz.play(wmviz.scenario('leaderboard'))._repr_mimebundle_())"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=600, check=True
        ).stdout
        for _ in range(2)
    }
    assert outputs == {f"{still._repr_mimebundle_()}\n"}


def test_the_still_shows_the_end_with_its_legend() -> None:
    svg = ET.fromstring(still_svg(Still(LEADERBOARD).picture))
    texts = [node.text for node in svg.iter(f"{SVG}text")]
    assert {"on time: 16", "late but counted: 2", "side output: 1", "arrived: 19"} <= set(texts)
    assert "watermark 7:59:59.999" in texts
    assert svg.find(f"{SVG}title").text == LEADERBOARD.title
    assert "of 19 events, 16 on time, 2 late but counted, 1 side output" in svg.find(f"{SVG}desc").text
    ids = [node.get("id") for node in svg.iter() if node.get("id")]
    assert len(ids) == len(set(ids)) == 2
    assert svg.get("aria-labelledby") == " ".join(ids)


def test_the_still_tells_of_both_readers_of_a_transactional_sink() -> None:
    still = Still(wmviz.scenario("transactional-sink"))
    state = still.trace.state()
    words = f"A reader of committed results finds {len(state.sink)} of them; one of uncommitted results, "
    assert f"{words}{len(state.uncommitted)}." in still_svg(still.picture)
    assert len(state.uncommitted) > len(state.sink)
    assert "A reader of committed" not in still_svg(Still(LEADERBOARD).picture)


def test_many_marbles_share_their_shapes() -> None:
    events = [["a", 1, n * 1_000, n * 1_000 + n * 7_919 % 30_000] for n in range(100)]
    scenario = Scenario.of(events=events, window="10 s", bound="5 s")
    still = Still(scenario)
    svg = ET.fromstring(still_svg(still.picture))
    ids = {node.get("id") for node in svg.iter(f"{SVG}g") if node.get("id")}
    uses = [node.get("href") for node in svg.iter(f"{SVG}use")]
    assert len(uses) == 100
    assert {use[1:] for use in uses} == ids


def test_a_still_is_an_image_that_untrusted_notebooks_show() -> None:
    bundle = Still(LEADERBOARD)._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert bundle["text/html"].startswith('<img src="data:image/svg+xml;base64,')
    assert "<script" not in bundle["text/html"]


def test_the_text_names_the_end_state() -> None:
    assert repr(Still(LEADERBOARD)).splitlines() == [
        "The weekend leaderboard: who wins the 6 am badge?: 19 events arrived: 18 counted, 1 side output",
        "watermark at the end: 7:59:59.999; results in the sink: 8",
        "  [6:00, 7:00) r12: 2,500 m",
        "  [6:00, 7:00) r4471: 3,000 m",
        "  [6:00, 7:00) r7: 1,000 m",
        "  [6:00, 7:00) r9: 2,500 m",
        "  [7:00, 8:00) r12: 1,900 m",
        "  [7:00, 8:00) r4471: 3,000 m",
        "  [7:00, 8:00) r7: 1,000 m",
        "  [7:00, 8:00) r9: 2,000 m",
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"window": {"type": "sliding", "size": "30 min", "slide": "10 min"}},
        {"window": {"type": "global", "trigger": "count:2"}},
        {"window": {"type": "tumbling", "size": "30 min", "time": "processing"}},
        {"strategy": "none"},
        {"end_of_input": "9:00"},
        {"events": []},
        {"events": [["a", 1, -(10**15), 10**15], ["a", 1, 10**17, 10**17]]},
    ],
)
def test_every_shape_of_scenario_draws_a_still(changes: dict) -> None:
    still = Still(LEADERBOARD.replace(**changes))
    svg = ET.fromstring(still_svg(still.picture))
    assert svg.find(f"{SVG}title") is not None
    assert not re.search(r"nan|inf", still_svg(still.picture).split("</desc>")[1])
    assert repr(still)


# --------------------------------------------------------------------------------------------- text from users


def test_text_from_users_cannot_end_its_place() -> None:
    still = Still(hostile())
    svg = still_svg(still.picture)
    assert "<img" not in svg
    assert ET.fromstring(svg).find(f"{SVG}title").text == HOSTILE
    assert still._repr_mimebundle_()["text/html"].count("<img") == 1
    page = pages.page(wmviz.simulate(hostile()), hostile())
    assert "onerror" not in page.replace("&lt;img src=x onerror=&quot;window.hacked=1&quot;&gt;", "")


def test_scripts_write_text_only_as_text() -> None:
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", module_text())


# ------------------------------------------------------------------------------------- what a notebook keeps


def test_the_bundle_has_a_widget_a_page_part_and_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "_carried", pages._Carried())
    data, _ = wmviz.play(LEADERBOARD)._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["text/plain"] == repr(Still(LEADERBOARD))
    html = data["text/html"]
    still = base64.b64decode(re.search(r"base64,([^\"]+)\"", html)[1]).decode()
    assert still == still_svg(Still(LEADERBOARD).picture)
    assert len(html) < 150_000


def test_a_busy_stage_of_200_events_stays_small() -> None:
    events = [[f"k{n % 9}", 1, n * 5_000, n * 5_000 + n * 7_919 % 90_000, n % 4] for n in range(200)]
    busy = Scenario.of(
        events=events,
        subtasks=2,
        window_tasks=2,
        work="1 s",
        checkpoints="1 min",
        happenings={"what": "crash", "at": 400_000},
        window="10 min",
        lateness="5 min",
        bound="1 min",
    )
    assert len(pages.page(wmviz.simulate(busy), busy)) < 150_000


def test_the_player_is_in_one_cell_of_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "_carried", pages._Carried())
    cells = iter(["a", "b", "a", "b"])
    monkeypatch.setattr(pages, "_present_cell", lambda: next(cells))
    trace = wmviz.simulate(LEADERBOARD)
    carried = ["data-wmviz-player" in pages.fallback_html(trace, LEADERBOARD) for _ in range(4)]
    assert carried == [True, False, True, False]


def test_colours_of_the_still_come_from_the_stylesheet() -> None:
    colours = palette()
    assert {"ink", "paper", "watermark", "filling", "fired", "closed", *(f"look-{n}" for n in range(6))} <= set(colours)
    assert all(re.fullmatch(r"#[0-9a-f]{6}|rgb\([\d ]+/ \d+%\)", colour) for colour in colours.values())
