"""A saved page in a browser with no network: it plays, steps and explains, and shows what the trace says."""

import re
from collections import Counter
from pathlib import Path

import nbformat
import pytest

import wmviz
from tests.stage.test_forms import hostile
from tests.stage.test_picture import SCENARIOS
from wmviz.stage import pages, save_html
from wmviz.stage.marks import LOOKS, Look
from wmviz.stage.player import module_text
from wmviz.stage.subject import show
from wmviz.stage.telling import told

pytestmark = pytest.mark.browser

LEADERBOARD = wmviz.scenario("leaderboard")
TRACE = wmviz.simulate(LEADERBOARD)
PICTURE = show(TRACE, LEADERBOARD)

READ = """() => {
  const counts = {};
  for (const row of document.querySelectorAll(".wmviz-fate")) {
    counts[row.querySelector(".wmviz-words").textContent] = Number(row.querySelector(".wmviz-count").textContent);
  }
  const drawn = [...document.querySelectorAll(".wmviz-plane-box path.wmviz-marble[data-look]")];
  const marbles = drawn.filter((marble) => marble.style.display !== "none");
  const rows = [...document.querySelectorAll(".wmviz-results tbody tr:not(.wmviz-group)")].filter((row) => !row.hidden);
  return {
    counts,
    marbles: marbles.map((m) => Number(m.dataset.look)),
    rows: rows.map((row) => [...row.cells].map((cell) => cell.textContent)),
    when: document.querySelector(".wmviz-when").textContent,
    sentences: [...document.querySelectorAll(".wmviz-sentences li")].map((item) => item.textContent),
    watermark: document.querySelector(".wmviz-watermark-name").textContent,
    now: Number(document.querySelector(".wmviz-now").getAttribute("x1")),
  };
}"""


def saved(tmp_path: Path, scenario: wmviz.Scenario, name: str = "stage.html") -> str:
    return save_html(scenario, tmp_path / name).as_uri()


@pytest.fixture
def page(tmp_path: Path, open_page):
    page = open_page(saved(tmp_path, LEADERBOARD))
    page.locator(".wmviz-plane-box").focus()
    return page


def assert_shows(seen: dict, trace: wmviz.Trace, step: int) -> None:
    ledger = trace.ledger(step)
    counts = seen["counts"]
    assert counts["arrived"] == ledger.arrived
    assert counts[LOOKS[Look.ON_TIME]] + counts[LOOKS[Look.LATE_COUNTED]] == ledger.counted
    assert counts[LOOKS[Look.SIDE_OUTPUT]] == ledger.side_output
    assert counts[LOOKS[Look.DROPPED]] == ledger.dropped
    assert counts[LOOKS[Look.NO_WINDOW]] == ledger.in_no_window
    assert counts[LOOKS[Look.IN_FLIGHT]] == ledger.in_flight
    assert Counter(seen["marbles"]) == {look: counts[words] for look, words in enumerate(LOOKS) if counts[words]}


@pytest.mark.parametrize("name", ["leaderboard", "price-feed", "half-hour-zone", "sliding", "gaps", "processing"])
def test_every_moment_shows_what_the_trace_says(name: str, tmp_path: Path, open_page) -> None:
    trace = wmviz.simulate(SCENARIOS[name])
    picture = show(trace, SCENARIOS[name])
    moments = told(trace, picture)["moments"]
    page = open_page(saved(tmp_path, SCENARIOS[name]))
    page.locator(".wmviz-plane-box").focus()
    for moment, step in enumerate(picture["moments"]):
        page.keyboard.press("ArrowRight")
        seen = page.evaluate(READ)
        assert f"moment {moment + 1} of {len(picture['moments'])}" in seen["when"]
        assert_shows(seen, trace, step)
        first = picture["first_rows"][picture["moments"][moment - 1] + 1 if moment else 0]
        _, left_out, *rows = moments[moment]
        more = [f"… and {left_out} more like these."] if left_out else []
        assert seen["sentences"] == [*(trace.sentence(first + row) for row in rows), *more]
    for step in reversed([-1, *picture["moments"][:-1]]):
        page.keyboard.press("ArrowLeft")
        if step >= 0:
            assert_shows(page.evaluate(READ), trace, step)
    assert page.evaluate(READ)["marbles"] == []


def test_fine_steps_show_an_event_in_flight(page) -> None:
    page.keyboard.press("Shift+ArrowRight")
    seen = page.evaluate(READ)
    assert seen["counts"]["in flight"] == 1
    assert seen["sentences"] == [TRACE.sentence(0)]
    for step in range(1, 8):
        page.keyboard.press("Shift+ArrowRight")
        assert_shows(page.evaluate(READ), TRACE, step)
    page.keyboard.press("Shift+ArrowLeft")
    assert_shows(page.evaluate(READ), TRACE, 6)


def test_it_plays_to_the_end_and_stops(page) -> None:
    page.get_by_label("Speed").select_option("8")
    start = page.evaluate(READ)["now"]
    page.get_by_role("button", name="Play").click()
    page.get_by_role("button", name="Pause").wait_for()
    page.wait_for_function("document.querySelector('.wmviz-total .wmviz-count').textContent === '19'")
    page.get_by_role("button", name="Play").wait_for()
    seen = page.evaluate(READ)
    assert seen["now"] > start + 300
    assert_shows(seen, TRACE, TRACE.steps - 1)
    assert ["r4471", "–", "3,000highest", "2", "final"] in seen["rows"]
    assert seen["watermark"] == "watermark 7:59:59.999"


def test_pause_holds_and_play_goes_on(page) -> None:
    page.keyboard.press("Space")
    page.wait_for_function("Number(document.querySelector('.wmviz-total .wmviz-count').textContent) >= 2")
    page.keyboard.press("Space")
    held = page.evaluate(READ)
    page.wait_for_timeout(400)
    assert page.evaluate(READ) == held
    page.keyboard.press("Space")
    page.wait_for_function(
        f"Number(document.querySelector('.wmviz-total .wmviz-count').textContent) > {held['counts']['arrived']}"
    )


def test_keys_and_the_scrubber_reach_every_moment(page) -> None:
    page.keyboard.press("End")
    assert_shows(page.evaluate(READ), TRACE, TRACE.steps - 1)
    page.keyboard.press("Home")
    assert page.evaluate(READ)["marbles"] == []
    page.get_by_label("Moment", exact=True).fill("10")
    assert_shows(page.evaluate(READ), TRACE, PICTURE["moments"][10])


def test_marbles_stand_where_their_times_are(page) -> None:
    page.keyboard.press("End")
    places = page.evaluate(
        """() => [...document.querySelectorAll(".wmviz-plane-box path.wmviz-marble[data-look]")].map(
             (m) => m.getAttribute("transform").match(/[-\\d.]+/g).map(Number))"""
    )
    events = LEADERBOARD.events
    (x0, y0), (x1, y1) = places[0], places[-1]
    across = (x1 - x0) / (events[-1].arrival_time_ms - events[0].arrival_time_ms)
    up = (y1 - y0) / (events[-1].event_time_ms - events[0].event_time_ms)
    assert across > 0 > up
    for event, (x, y) in zip(events, places, strict=True):
        assert x == pytest.approx(x0 + across * (event.arrival_time_ms - events[0].arrival_time_ms), abs=0.01)
        assert y == pytest.approx(y0 + up * (event.event_time_ms - events[0].event_time_ms), abs=0.01)


def test_a_click_on_a_marble_tells_its_life_and_a_sentence_leads_back(page) -> None:
    page.keyboard.press("End")
    index = TRACE.event_index("r4471@6:56")
    place = page.locator(".wmviz-plane-box path.wmviz-marble[data-look]").nth(index).bounding_box()
    page.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    assert "13 min later" in page.locator(".wmviz-bubble").text_content()
    page.mouse.click(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    life = page.locator(".wmviz-life")
    assert life.locator("h4").text_content() == "The life of r4471@6:56"
    assert life.locator("li").all_text_contents() == [TRACE.sentence(row) for row in PICTURE["lives"][index]]
    life.locator("li button").nth(1).click()
    assert_shows(page.evaluate(READ), TRACE, TRACE.step[PICTURE["lives"][index][1]])
    page.keyboard.press("Escape")
    assert life.is_hidden()


def test_the_keyboard_alone_finds_a_marble(page) -> None:
    page.keyboard.press("End")
    page.keyboard.press("ArrowDown")
    assert page.locator(".wmviz-life h4").text_content() == f"The life of {LEADERBOARD.events[-1].id}"
    page.keyboard.press("ArrowDown")
    assert page.locator(".wmviz-life h4").text_content() == f"The life of {LEADERBOARD.events[-2].id}"
    words = page.locator(".wmviz-plane-box").get_attribute("aria-label")
    assert "Watermark 7:59:59.999. Events: 16 on time, 2 late but counted, 1 side output." in words


def test_text_from_users_stays_text(tmp_path: Path, open_page) -> None:
    page = open_page(saved(tmp_path, hostile()))
    page.locator(".wmviz-plane-box").focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0
    assert page.locator(".wmviz-name").text_content() == hostile().title


def test_reduced_motion_goes_from_moment_to_moment(tmp_path: Path, open_page) -> None:
    page = open_page(saved(tmp_path, LEADERBOARD), reduced_motion="reduce")
    page.evaluate(
        """() => {
          window.places = new Set();
          const line = document.querySelector(".wmviz-now");
          new MutationObserver(() => window.places.add(line.getAttribute("x1"))).observe(line, { attributes: true });
        }"""
    )
    page.get_by_label("Speed").select_option("8")
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("document.querySelector('.wmviz-total .wmviz-count').textContent === '19'")
    assert page.evaluate("window.places.size") <= len(PICTURE["moments"]) + 1


@pytest.mark.parametrize("width", [360, 800, 1600])
@pytest.mark.parametrize("name", ["leaderboard", "sliding", "processing", "count", "empty"])
def test_nothing_is_cut_off(name: str, width: int, tmp_path: Path, open_page) -> None:
    page = open_page(saved(tmp_path, SCENARIOS[name]), width=width)
    page.locator(".wmviz-plane").wait_for()
    page.locator(".wmviz-plane-box").focus()
    page.keyboard.press("End")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    outside = page.evaluate(
        """() => {
          const frame = document.querySelector(".wmviz-plane").getBoundingClientRect();
          const texts = [...document.querySelectorAll(".wmviz-plane-svg text")].filter((text) => text.textContent);
          return texts.filter((text) => {
            const box = text.getBoundingClientRect();
            return box.width && (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1);
          }).map((text) => text.textContent);
        }"""
    )
    assert outside == []


def test_it_follows_the_theme_of_the_system(tmp_path: Path, open_page) -> None:
    address = saved(tmp_path, LEADERBOARD)
    paper = "getComputedStyle(document.querySelector('.wmviz')).backgroundColor"
    colours = {open_page(address, theme=theme).evaluate(paper) for theme in ("light", "dark")}
    assert colours == {"rgb(255, 255, 255)", "rgb(22, 25, 29)"}


def test_many_events_are_painted_on_a_canvas(tmp_path: Path, open_page) -> None:
    events = [
        [f"k{n % 9}", 1, 21_600_000 + n * 3_000, 21_600_000 + n * 3_000 + n * 7919 % 90_000] for n in range(4_000)
    ]
    scenario = wmviz.Scenario.of(events=events, window="1 h", bound="1 min", lateness="10 min")
    page = open_page(saved(tmp_path, scenario))
    page.locator(".wmviz-canvas").wait_for()
    page.locator(".wmviz-plane-box").focus()
    ink = """() => {
      const canvas = document.querySelector(".wmviz-canvas");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return data.filter((value, index) => index % 4 === 3 && value).length;
    }"""
    assert page.evaluate(ink) == 0
    page.keyboard.press("End")
    assert page.locator(".wmviz-total .wmviz-count").text_content() == "4,000"
    full = page.evaluate(ink)
    assert full > 4_000
    page.get_by_label("Moment", exact=True).fill("1000")
    assert 0 < page.evaluate(ink) < full
    page.keyboard.press("Home")
    assert page.evaluate(ink) == 0


def test_a_saved_notebook_plays_as_a_page(tmp_path: Path, open_page, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two stages, one player; the saved output holds no state of the widgets, so that the page part is taken."""
    nbconvert = pytest.importorskip("nbconvert")
    monkeypatch.setattr(pages, "_carried", pages._Carried())
    names = iter(["one", "two"])
    monkeypatch.setattr(pages, "_present_cell", lambda: next(names))
    cells = []
    for scenario in (LEADERBOARD, SCENARIOS["sliding"]):
        data, metadata = wmviz.play(scenario)._repr_mimebundle_()
        cell = nbformat.v4.new_code_cell("wmviz.play(...)")
        cell.outputs = [nbformat.v4.new_output("display_data", data=data, metadata=metadata)]
        cells.append(cell)
    exporter = nbconvert.HTMLExporter()
    text, _ = exporter.from_notebook_node(nbformat.v4.new_notebook(cells=cells))
    path = tmp_path / "notebook.html"
    path.write_text(re.sub(r'<script[^>]+src="https?://[^>]*></script>', "", text), encoding="utf-8")
    page = open_page(path.as_uri())
    page.locator(".wmviz-plane").nth(1).wait_for()
    assert page.locator(".wmviz").count() == 2
    page.locator(".wmviz-plane-box").first.focus()
    page.keyboard.press("End")
    assert page.locator(".wmviz-total .wmviz-count").all_text_contents() == ["19", "0"]


HOSTED = """async ([module, values]) => {
  const { default: widget } = await import(URL.createObjectURL(new Blob([module], { type: "text/javascript" })));
  const heard = {};
  window.saves = [];
  window.model = {
    get: (name) => values[name],
    set: (name, value) => {
      const before = values[name];
      values[name] = value;
      if (before !== value) for (const act of heard[`change:${name}`] ?? []) act();
    },
    save_changes: () => window.saves.push(performance.now()),
    on: (name, act) => (heard[name] ??= []).push(act),
  };
  // As a widget's model: all values are there before anyone hears of one.
  window.take = (news) => {
    Object.assign(values, news);
    for (const name of Object.keys(news)) for (const act of heard[`change:${name}`] ?? []) act();
  };
  const el = document.createElement("div");
  document.body.replaceChildren(el);
  window.stop = widget.render({ model: window.model, el });
}"""


@pytest.fixture
def hosted(open_page):
    """Give a page with the stage in a widget whose model tells of its own changes, as Jupyter's does."""
    page = open_page("about:blank")
    stage = wmviz.play(LEADERBOARD)
    names = [name for name in stage.keys if not name.startswith("_") and name not in ("layout", "tooltip", "tabbable")]
    values = {name: getattr(stage, name) for name in names if name != "comm"}
    page.evaluate(HOSTED, [module_text(), values])
    page.locator(".wmviz-plane").wait_for()
    page.locator(".wmviz-plane-box").focus()
    return page


def test_a_model_that_tells_of_its_own_changes_does_not_hold_the_play_back(hosted) -> None:
    places = hosted.evaluate(
        """() => new Promise((resolve) => {
          const places = [];
          const tick = () => {
            places.push(Number(document.querySelector(".wmviz-now").getAttribute("x1")));
            if (document.querySelector(".wmviz-total .wmviz-count").textContent === "19") resolve(places);
            else requestAnimationFrame(tick);
          };
          window.model.set("speed", 2); // so that a slow machine has enough frames, too
          window.model.set("playing", true);
          requestAnimationFrame(tick);
        })"""
    )
    assert places == sorted(places)
    assert len(set(places)) > len(PICTURE["moments"])


def test_the_playhead_is_told_at_most_ten_times_a_second(hosted) -> None:
    seconds = hosted.evaluate(
        """() => new Promise((resolve) => {
          const scrub = document.querySelector(".wmviz-scrub");
          const begun = performance.now();
          let moment = 0;
          const timer = setInterval(() => {
            scrub.value = moment++ % 19;
            scrub.dispatchEvent(new Event("input"));
            if (performance.now() - begun < 1500) return;
            clearInterval(timer);
            setTimeout(() => resolve((performance.now() - begun) / 1000), 250);
          }, 10);
        })"""
    )
    saves = hosted.evaluate("window.saves.length")
    assert 3 <= saves <= 10 * seconds + 1
    shown = int(hosted.evaluate("document.querySelector('.wmviz-scrub').value"))
    assert hosted.evaluate("window.model.get('step')") == PICTURE["moments"][shown]


def test_python_moves_the_playhead_and_a_closed_stage_stands_still(hosted) -> None:
    hosted.evaluate("window.model.set('step', 39)")
    assert_shows(hosted.evaluate(READ), TRACE, 39)
    hosted.evaluate("window.model.set('playing', true)")
    hosted.evaluate("window.stop()")
    hosted.wait_for_timeout(200)
    before = hosted.evaluate(READ)["now"]
    hosted.wait_for_timeout(200)
    assert hosted.evaluate(READ)["now"] == before


@pytest.mark.parametrize("step", [-1, 20, 67])
def test_another_picture_of_the_same_events_is_drawn_into_the_same_frame(step: int, hosted) -> None:
    hosted.keyboard.press("End")
    hosted.evaluate("window.before = [...document.querySelectorAll('.wmviz-plane-box path.wmviz-marble[data-look]')]")
    other = LEADERBOARD.replace(bound="30 min", lateness="0 ms")
    trace = wmviz.simulate(other)
    step = min(step, trace.steps - 1)
    picture = show(trace, LEADERBOARD)
    del picture["events"]
    hosted.evaluate("(step) => window.model.set('step', step)", step)
    hosted.evaluate("(picture) => window.model.set('picture', picture)", picture)
    seen = hosted.evaluate(READ)
    if step < 0:
        assert seen["marbles"] == []
    else:
        assert_shows(seen, trace, step)
    assert hosted.evaluate("window.before.every((mark) => mark.isConnected)")
    hosted.evaluate("(step) => window.model.set('step', step)", trace.steps - 1)
    assert_shows(hosted.evaluate(READ), trace, trace.steps - 1)
    assert hosted.evaluate("document.querySelectorAll('.wmviz-plane-box path.wmviz-marble[data-look]').length") == 19


def test_a_change_of_width_changes_no_numbers(page) -> None:
    page.keyboard.press("End")
    for width in (700, 1280, 1279, 1280, 360):
        page.set_viewport_size({"width": width, "height": 800})
    page.wait_for_function("document.querySelector('.wmviz-plane').clientWidth < 340")
    page.wait_for_timeout(100)
    assert_shows(page.evaluate(READ), TRACE, TRACE.steps - 1)
    page.set_viewport_size({"width": 900, "height": 800})
    page.set_viewport_size({"width": 360, "height": 800})
    page.wait_for_timeout(200)
    assert_shows(page.evaluate(READ), TRACE, TRACE.steps - 1)


def test_the_same_picture_again_shows_the_same(hosted) -> None:
    hosted.keyboard.press("End")
    hosted.evaluate("window.model.set('picture', { ...window.model.get('picture') })")
    assert_shows(hosted.evaluate(READ), TRACE, TRACE.steps - 1)
