"""The stage taken hold of, in a browser with Python behind it: what is dragged is run again and comes back."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import wmviz
from tests.stage.test_browser import HOSTED, READ, assert_shows, saved
from tests.stage.test_forms import HOSTILE, hostile
from tests.stage.test_picture import SCENARIOS
from wmviz.scenario import Scenario
from wmviz.stage.player import module_text, style_text
from wmviz.times import MAX_MS
from wmviz.trace import Status

pytestmark = pytest.mark.browser

LEADERBOARD = wmviz.scenario("leaderboard")
QUIET = wmviz.scenario("quiet-partition")

# What a widget's comm does: changes go to Python, and what Python changes comes back, all at once.
TALKING = """(style) => {
  document.head.append(Object.assign(document.createElement("style"), { textContent: style }));
  const { model } = window;
  const set = model.set;
  let changed = {};
  window.busy = 0;
  model.set = (name, value) => {
    changed[name] = value;
    set(name, value);
  };
  model.save_changes = async () => {
    const told = changed;
    changed = {};
    window.busy += 1;
    const answer = await window.askPython(told);
    window.take(answer);
    window.busy -= 1;
  };
}"""
MARBLES = """(part) => [...document.querySelectorAll(`${part} path.wmviz-marble`)].map((mark) => {
  const box = mark.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
})"""
PLANE, LANES = ".wmviz-plane-box", ".wmviz-lanes-box"


class Live:
    """A stage in a page, and the Python side of it."""

    def __init__(self, page, scenario: Scenario) -> None:
        self.page = page
        self.stage = wmviz.play(scenario)
        self._known: dict = {}
        page.set_viewport_size({"width": 1280, "height": 1600})
        page.expose_function("askPython", self._ask)
        page.evaluate(HOSTED, [module_text(), self._changed()])
        page.evaluate(TALKING, style_text())
        page.locator(".wmviz-plane").first.wait_for()
        self.plane.focus()

    def _changed(self) -> dict:
        left_out = ("layout", "tooltip", "tabbable", "comm")
        names = [name for name in self.stage.keys if not name.startswith("_") and name not in left_out]
        state = {name: getattr(self.stage, name) for name in names}
        changed = {name: value for name, value in state.items() if self._known.get(name) != value}
        self._known |= changed
        return changed

    def _ask(self, changes: dict) -> dict:
        self._known |= changes
        for name, value in changes.items():
            setattr(self.stage, name, value)
        self.stage._tell_now()
        return self._changed()

    @property
    def plane(self):
        return self.page.locator(PLANE)

    def settle(self) -> None:
        """Wait until nothing is on its way: what a gesture asks for goes out with the next frame."""
        next_frames = "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(go, 30)))"
        self.page.evaluate(f"new Promise((go) => {next_frames})")
        self.page.wait_for_function("window.busy === 0")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.settle()

    def tool(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()
        self.settle()

    def drag(self, part: str, index: int, dx: float, dy: float) -> tuple[float, float]:
        """Drag a marble; give where the hand lets it go."""
        x, y = self.page.evaluate(MARBLES, part)[index]
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        for part_of in (0.3, 0.7, 1):
            self.page.mouse.move(x + dx * part_of, y + dy * part_of)
            self.settle()
        self.page.mouse.up()
        self.settle()
        return x + dx, y + dy

    def assert_in_step(self) -> None:
        """What the page shows is the trace of what Python has."""
        trace = wmviz.simulate(self.stage.scenario)
        assert_shows(self.page.evaluate(READ), trace, self.page.evaluate("window.model.get('step')"))


@pytest.fixture
def live(open_page) -> Callable[[Scenario], Live]:
    return lambda scenario: Live(open_page("about:blank"), scenario)


# ---------------------------------------------------------------------------------------------- hands and keys


def test_a_marble_is_dragged_in_both_times_and_stays_under_the_hand(live) -> None:
    stage = live(LEADERBOARD)
    stage.press("End")
    index = stage.stage.trace.event_index("r12@7:21:59.999")
    before = LEADERBOARD.events[index]
    x, y = stage.drag(PLANE, index, 60, 90)
    event = stage.stage.scenario.events[stage.stage.selected]
    assert event.key == "r12"
    assert event.arrival_time_ms > before.arrival_time_ms
    assert event.event_time_ms < before.event_time_ms
    place = stage.page.evaluate(MARBLES, PLANE)[stage.stage.selected]
    assert place == [pytest.approx(x, abs=4), pytest.approx(y, abs=4)]
    stage.assert_in_step()
    assert stage.page.locator(".wmviz-life h4").text_content() == f"The life of {event.id}"
    stage.tool("Undo")
    assert stage.stage.scenario == LEADERBOARD
    stage.assert_in_step()
    stage.tool("Redo")
    assert stage.stage.scenario.events[stage.stage.selected].arrival_time_ms == event.arrival_time_ms
    stage.tool("Reset")
    stage.assert_in_step()
    assert stage.page.get_by_role("button", name="Reset", exact=True).is_disabled()


def test_several_marbles_are_chosen_and_dragged_together(live) -> None:
    stage = live(LEADERBOARD)
    stage.press("End")
    marbles = stage.page.evaluate(MARBLES, PLANE)
    stage.page.mouse.click(*marbles[3])
    stage.settle()
    stage.page.keyboard.down("Shift")
    stage.page.mouse.click(*marbles[17])
    stage.page.keyboard.up("Shift")
    stage.settle()
    assert sorted(stage.stage.group) == [3, 17]
    assert stage.page.locator(f"{PLANE} .wmviz-over .wmviz-member").count() == 2
    before = [LEADERBOARD.events[index] for index in (3, 17)]
    stage.drag(PLANE, 17, -40, 0)
    after = [stage.stage.scenario.events[index] for index in sorted(stage.stage.group)]
    far = {now.arrival_time_ms - then.arrival_time_ms for now, then in zip(after, before, strict=True)}
    assert len(far) == 1
    assert far.pop() < 0
    stage.assert_in_step()
    stage.tool("Undo")
    assert stage.stage.scenario == LEADERBOARD


def test_a_box_chooses_a_burst_that_is_duplicated_and_deleted(live) -> None:
    stage = live(LEADERBOARD)
    stage.press("End")
    marbles = stage.page.evaluate(MARBLES, PLANE)
    (x0, y0), (x1, y1) = marbles[0], marbles[3]
    stage.page.keyboard.down("Shift")
    stage.page.mouse.move(x0 - 14, y1 - 14)
    stage.page.mouse.down()
    stage.page.mouse.move(x1, y0, steps=3)
    stage.page.mouse.move(x1 + 10, y0 + 10)
    stage.page.mouse.up()
    stage.page.keyboard.up("Shift")
    stage.settle()
    assert sorted(stage.stage.group) == [0, 1, 2, 3]
    stage.press("d")
    assert len(stage.stage.scenario.events) == len(LEADERBOARD.events) + 4
    stage.assert_in_step()
    stage.press("Delete")
    assert stage.stage.scenario.events == LEADERBOARD.events
    stage.press("ArrowDown", "Shift+ArrowDown")
    assert len(stage.stage.group) == 2
    stage.press("Escape")
    assert (stage.stage.selected, stage.stage.group) == (-1, [])


def test_in_the_lanes_a_marble_moves_in_arrival_and_to_another_partition(live) -> None:
    stage = live(QUIET)
    stage.press("End")
    lane = stage.page.evaluate(MARBLES, LANES)
    down = lane[1][1] - lane[0][1]
    x, _ = stage.drag(LANES, 0, 40, down)
    event = stage.stage.scenario.events[stage.stage.selected]
    assert (event.id, event.partition) == (QUIET.events[0].id, 1)
    assert event.arrival_time_ms > QUIET.events[0].arrival_time_ms
    assert stage.page.evaluate(MARBLES, LANES)[stage.stage.selected] == [
        pytest.approx(x, abs=4),
        pytest.approx(lane[1][1], abs=1),
    ]
    stage.assert_in_step()


def test_in_the_lanes_the_keyboard_changes_the_partition(live) -> None:
    stage = live(QUIET)
    stage.press("End", "ArrowDown")
    stage.page.locator(LANES).focus()
    assert stage.stage.scenario.events[stage.stage.selected].partition == 0
    stage.press("Alt+ArrowDown", "Alt+ArrowDown")
    assert stage.stage.scenario.events[stage.stage.selected].partition == 1
    stage.press("Alt+ArrowUp", "Alt+ArrowLeft")
    event = stage.stage.scenario.events[stage.stage.selected]
    assert (event.partition, event.event_time_ms) == (0, QUIET.events[-1].event_time_ms)
    assert event.arrival_time_ms < QUIET.events[-1].arrival_time_ms
    stage.assert_in_step()


def test_a_watermark_and_a_flag_tell_why(live) -> None:
    stage = live(LEADERBOARD)
    stage.press("End")
    bubble = stage.page.locator(".wmviz-bubble")
    trace = stage.stage.trace
    flag = stage.page.locator(f"{PLANE} .wmviz-again .wmviz-flag").first.bounding_box()
    # The second piece of the staircase begins at the height of the first watermark.
    piece = stage.page.locator(f"{PLANE} .wmviz-rises path").nth(1).bounding_box()
    for x, y, row in (
        (flag["x"] + flag["width"] / 2, flag["y"] + flag["height"] / 2, stage.stage.picture["bands"][0]["fires"][1][3]),
        (
            piece["x"] + piece["width"] / 2,
            piece["y"] + piece["height"],
            stage.stage.picture["watermarks"][1]["rows"][0],
        ),
    ):
        stage.page.mouse.move(x, y)
        assert bubble.text_content() == trace.sentence(row)
    stage.page.mouse.down()
    stage.page.mouse.up()
    stage.settle()
    assert_shows(stage.page.evaluate(READ), trace, trace.step[row])


def test_a_click_is_no_drag(live) -> None:
    stage = live(LEADERBOARD)
    stage.press("End")
    x, y = stage.page.evaluate(MARBLES, PLANE)[4]
    stage.page.mouse.click(x + 2, y)
    stage.settle()
    assert stage.stage.selected == 4
    assert stage.stage.scenario == LEADERBOARD


def test_the_keyboard_does_all_of_it(live) -> None:
    stage = live(LEADERBOARD)
    stage.press("End", "ArrowDown")
    last = LEADERBOARD.events[-1]
    snap_x, snap_y = stage.stage.picture["snap"]
    stage.press("Alt+ArrowRight", "Alt+Shift+ArrowRight", "Alt+ArrowDown")
    event = stage.stage.scenario.events[-1]
    assert event.arrival_time_ms == last.arrival_time_ms + 11 * snap_x
    assert event.event_time_ms == last.event_time_ms - snap_y
    stage.press("d")
    assert len(stage.stage.scenario.events) == 20
    stage.press("Delete", "Control+z", "Control+z")
    while stage.stage.can["undo"]:  # nudges at once are one; with a pause between them they are several
        stage.press("Control+z")
    assert stage.stage.scenario == LEADERBOARD
    stage.press("Control+Shift+z", "Control+z", "b")
    assert stage.stage.can["drop"]
    stage.press("Home", "a")
    assert stage.stage.scenario.events[0].arrival_time_ms < LEADERBOARD.events[0].arrival_time_ms
    stage.press("End")
    stage.assert_in_step()


def test_a_click_adds_an_event_where_it_is(live) -> None:
    stage = live(LEADERBOARD)
    stage.press("End")
    stage.tool("Add")
    box = stage.page.locator(".wmviz-plane-box .wmviz-plane-svg").first.bounding_box()
    x, y = box["x"] + 0.45 * box["width"], box["y"] + 0.7 * box["height"]
    stage.page.mouse.click(x, y)
    stage.settle()
    assert len(stage.stage.scenario.events) == 20
    place = stage.page.evaluate(MARBLES, PLANE)[stage.stage.selected]
    assert place == [pytest.approx(x, abs=4), pytest.approx(y, abs=4)]
    assert stage.page.get_by_role("button", name="Add", exact=True).get_attribute("aria-pressed") == "false"
    stage.assert_in_step()


def test_what_cannot_be_is_said_and_the_marble_stays(live) -> None:
    stage = live(QUIET)
    stage.press("End")
    before = stage.page.evaluate(MARBLES, PLANE)
    stage.drag(PLANE, 0, -60, 0)
    assert "start is 6:00, after the arrival of r4471" in stage.page.locator(".wmviz-problem").text_content()
    assert stage.page.evaluate(MARBLES, PLANE)[1:] == before[1:]
    stage.assert_in_step()


# --------------------------------------------------------------------------------------------- two, and files


def test_two_variants_stand_below_each_other_and_what_differs_is_marked(live) -> None:
    stage = live(LEADERBOARD)
    stage.press("End")
    stage.tool("Keep as B")
    stage.page.get_by_label("Allowed lateness", exact=True).focus()
    stage.press("Home")
    lines = stage.page.locator(".wmviz-differences li").all_text_contents()
    assert "r4471@6:56: side output in A, late but counted in B." in lines
    assert stage.page.locator(".wmviz-variant-name").nth(1).text_content() == "B kept · lateness: A 0 ms, B 20 min"
    for part in (PLANE, ".wmviz-variant"):
        rings = stage.page.locator(f"{part} .wmviz-member")
        assert rings.count() == 2
    looks = stage.page.evaluate(
        "[...document.querySelectorAll('.wmviz-variant path.wmviz-marble')].map((m) => Number(m.dataset.look))"
    )
    assert looks == [changes[-1] for changes in stage.stage.other["event_looks"]]
    places = [stage.page.evaluate(MARBLES, part) for part in (PLANE, ".wmviz-variant")]
    assert [x for x, _ in places[0]] == pytest.approx([x for x, _ in places[1]])
    stage.tool("Swap A and B")
    assert stage.stage.lateness == "20 min"
    stage.assert_in_step()
    stage.tool("Drop B")
    assert stage.page.locator(".wmviz-variant").is_hidden()


def test_a_saved_page_keeps_the_variant_and_the_open_parts(open_page, tmp_path: Path) -> None:
    stage = wmviz.play(LEADERBOARD)
    stage.command = {"do": "keep", "serial": 1}
    stage.bound, stage.parts = "10 min", ["lanes"]
    stage.command = {"do": "page", "serial": 2}
    path = tmp_path / "two.html"
    path.write_text(stage.given["text"], encoding="utf-8")
    page = open_page(path.as_uri())
    page.locator(PLANE).focus()
    page.keyboard.press("End")
    assert page.locator(".wmviz-variant-name").nth(1).text_content() == "B kept · bound: A 10 min, B 2 min"
    looks = "[...document.querySelectorAll('.wmviz-variant path.wmviz-marble')].map((m) => Number(m.dataset.look))"
    assert page.evaluate(looks) == [changes[-1] for changes in stage.other["event_looks"]]
    assert page.locator(LANES).is_visible()
    assert page.locator(".wmviz-results").is_hidden()
    assert_shows(page.evaluate(READ), stage.trace, stage.trace.steps - 1)


def test_code_and_files_take_the_scenario_along(live, tmp_path: Path) -> None:
    stage = live(LEADERBOARD)
    stage.press("End", "ArrowDown", "Delete")
    kept = stage.stage.scenario
    stage.tool("Python")
    code = stage.page.locator(".wmviz-code").input_value()
    space: dict = {}
    exec(code.replace("wmviz.play(scenario)", ""), space)
    assert space["scenario"] == kept
    stage.tool("Close")
    with stage.page.expect_download() as download:
        stage.page.get_by_role("button", name="JSON", exact=True).click()
    path = tmp_path / "kept.json"
    download.value.save_as(path)
    assert Scenario.load(path) == kept
    path.write_text(json.dumps({**json.loads(path.read_text()), "title": "Mine", "partitions": 3}), encoding="utf-8")
    stage.page.locator(".wmviz-editor input[type=file]").set_input_files(path)
    stage.page.locator(".wmviz-name", has_text="Mine").wait_for()
    stage.settle()
    assert stage.page.locator(".wmviz-lane-name").count() == 3
    stage.assert_in_step()


def test_a_saved_page_offers_nothing_that_needs_python(tmp_path: Path, open_page) -> None:
    page = open_page(saved(tmp_path, LEADERBOARD))
    page.locator(PLANE).focus()
    page.keyboard.press("End")
    assert page.locator(".wmviz-editor").is_hidden()
    before = page.evaluate(MARBLES, PLANE)
    x, y = before[3]
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 80, y, steps=4)
    page.mouse.up()
    for key in ("a", "d", "Delete", "Alt+ArrowRight", "Control+z"):
        page.keyboard.press(key)
    assert page.evaluate(MARBLES, PLANE) == before


def test_parts_open_and_close_and_the_model_knows(live) -> None:
    stage = live(LEADERBOARD)
    assert stage.page.locator(LANES).is_hidden()
    stage.tool("Lanes")
    stage.tool("Pipeline")
    stage.tool("Results")
    assert stage.stage.parts == ["lanes", "pipeline"]
    assert stage.page.locator(LANES).is_visible()
    assert stage.page.locator(".wmviz-box-name").all_text_contents() == ["source", "window", "sink"]
    stage.press("End")
    assert stage.page.locator(".wmviz-results").is_hidden()
    stage.assert_in_step()


# ------------------------------------------------------------------------------------------- ask why, go back


def test_a_result_leads_to_its_events_and_a_late_event_to_the_watermark(live) -> None:
    stage = live(LEADERBOARD)
    stage.press("End")
    row = stage.page.locator(".wmviz-results tr", has_text="r4471").first
    row.get_by_role("button").click()
    stage.settle()
    ids = [firing.event_ids for firing in stage.stage.trace.all_firings if firing.key == "r4471"][1]
    told = stage.page.locator(".wmviz-life li").all_text_contents()
    assert sorted(text.split(": 1,000 m: ")[0] for text in told) == sorted(ids)
    assert stage.page.locator(f"{PLANE} .wmviz-member").count() == len(ids)
    stage.page.locator(".wmviz-life li button", has_text="r4471@6:56").click()
    stage.settle()
    since = stage.page.locator(".wmviz-since button")
    index = stage.stage.trace.event_index("r4471@6:56")
    late = stage.stage.picture["late_from"][index]
    assert since.get_attribute("title") == stage.stage.trace.sentence(late)
    since.click()
    stage.settle()
    assert_shows(stage.page.evaluate(READ), stage.stage.trace, stage.stage.trace.step[late])
    stage.plane.focus()
    stage.press("Escape")
    assert stage.page.locator(f"{PLANE} .wmviz-member").count() == 0


SEEN = """() => {
  const text = (node) => node.textContent;
  const all = (where) => [...document.querySelectorAll(where)];
  return {
    legend: all(".wmviz-legend li").map((item) => [...item.children].slice(1).map(text)),
    lanes: all(".wmviz-lane-state").map(text),
    boxes: all(".wmviz-pipeline .wmviz-watermark-name").map(text),
    gates: all(".wmviz-pipeline .wmviz-gate-state").map(text),
    job: all(".wmviz-job").map(text),
  };
}"""


@pytest.mark.parametrize("name", ["quiet-partition", "spare-subtask", "idle-bet", "two tasks", "transactions"])
def test_every_moment_of_many_inputs_shows_what_the_trace_says(name: str, tmp_path: Path, open_page) -> None:
    scenario = SCENARIOS[name]
    stage = wmviz.play(scenario)
    trace, picture = stage.trace, stage.picture
    page = open_page(saved(tmp_path, scenario))
    page.evaluate("document.querySelector('.wmviz-part:nth-child(2)[aria-pressed=false]')?.click()")
    page.locator(PLANE).focus()
    lines = [clock for clock in picture["watermarks"] if clock["role"] == "window" or clock["line"] >= 0]
    lines.sort(key=lambda clock: clock["role"] != "window")
    for step in picture["moments"]:
        page.keyboard.press("ArrowRight")
        seen, state = page.evaluate(SEEN), trace.state(step)

        def shown(clock: str, state=state) -> str:
            ms = state.watermarks[clock]
            rows = trace.rows_of.get(("clock", trace.clocks.index(clock)), ())
            ever = any(trace.step[row] <= state.step for row in rows)
            return wmviz.times.time_text(ms, scenario.zone) if ever else ""

        for clock, (label, value, words) in zip(lines, seen["legend"], strict=True):
            name_of = clock["name"]
            assert label == name_of.split(" → ")[0]
            assert value == (shown(name_of) or "no watermark yet")
            idle = state.statuses[name_of] != Status.ACTIVE
            assert not idle or re.search("idle|left out", words)
        for lane, text in zip(picture["lanes"], seen["lanes"], strict=False):
            assert (shown(trace.clocks[lane["clock"]]) or "no watermark yet") in text
        boxes = [*picture["pipeline"]["sources"], *picture["pipeline"]["tasks"]]
        assert seen["boxes"] == [
            f"watermark {shown(trace.clocks[box['clock']])}"
            if shown(trace.clocks[box["clock"]])
            else "no watermark yet"
            for box in boxes
        ]
        gates = [trace.clocks[clock] for box in boxes for clock in box["inputs"]]
        for gate, text in zip(gates, seen["gates"], strict=True):
            assert text.startswith(shown(gate) or "no watermark")
            if " → " in gate:
                lowest = min(
                    (state.watermarks[other], other)
                    for other in gates
                    if other.endswith(gate.split(" → ")[1]) and " → " in other
                )[0]
                counts = state.statuses[gate] == Status.ACTIVE
                active = [other for other in gates if other.endswith(gate.split(" → ")[1])]
                least = min((state.watermarks[o] for o in active if state.statuses[o] == Status.ACTIVE), default=lowest)
                assert text.endswith("◂") == (counts and state.watermarks[gate] == least < MAX_MS)
        if seen["job"] and not state.is_running:
            assert seen["job"][0].startswith("✕ The job has crashed")


def test_text_from_users_stays_text_in_every_part(live) -> None:
    scenario = Scenario.of(
        name=HOSTILE,
        title=HOSTILE,
        unit=HOSTILE,
        window="1 h",
        partitions=2,
        events=[*({**e, "partition": n} for n, e in enumerate(hostile().to_json()["events"]))],
    )
    stage = live(scenario)
    stage.press("End", "b", "ArrowDown", "d")
    stage.tool("Pipeline")
    stage.tool("Python")
    x, y = stage.page.evaluate(MARBLES, PLANE)[0]
    stage.page.mouse.move(x, y)
    assert HOSTILE in stage.page.locator(".wmviz-bubble").text_content()
    assert stage.page.evaluate("window.hacked") is None
    assert stage.page.locator("img").count() == 0


@pytest.mark.parametrize("name", ["idle-bet", "slow, two tasks", "transactions"])
@pytest.mark.parametrize("width", [360, 800])
def test_no_part_is_wider_than_the_page(name: str, width: int, tmp_path: Path, open_page) -> None:
    page = open_page(saved(tmp_path, SCENARIOS[name]), width=width)
    page.locator(PLANE).focus()
    page.keyboard.press("End")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    outside = page.evaluate(
        """() => [...document.querySelectorAll(".wmviz-pipeline, .wmviz-lanes")].flatMap((part) => {
          const frame = part.getBoundingClientRect();
          return [...part.querySelectorAll("text")].filter((text) => {
            const box = text.getBoundingClientRect();
            return text.textContent && box.width && (box.left < frame.left - 1 || box.right > frame.right + 1);
          }).map((text) => text.textContent);
        })"""
    )
    assert outside == []
