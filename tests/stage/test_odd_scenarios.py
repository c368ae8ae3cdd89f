"""The stage on scenarios that no lesson has: one event, a clock a year ahead, chains of sessions."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

import wmviz
from wmviz.scenario import Scenario
from wmviz.stage import save_html
from wmviz.stage.axes import axis_of, without_far
from wmviz.stage.picture import Frame, needs_dates, window_text
from wmviz.stage.predicting import asked
from wmviz.stage.still import LEFT, TOP, WIDTH, still_svg
from wmviz.stage.subject import show
from wmviz.times import DAY_MS, time_ms
from wmviz.window import TimeWindow

MINUTE = 60_000
RAIL = r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" rx="3"'


def at(minute: int, year: int = 2026) -> str:
    return f"{year}-03-01T06:{minute:02}+00:00"


YEAR_AHEAD = Scenario.of(
    events=[
        *(["a", 1, at(minute), at(minute)] for minute in range(0, 24, 4)),
        ["b", 1, at(25, 2027), at(25)],
        ["a", 1, at(28), at(28)],
    ],
    window="10 min",
)
SERVER_CLOCK = Scenario.of(
    events=[["k", 1, 6 * 60 * MINUTE + n * 9_000, 6 * 60 * MINUTE + n * 9_000] for n in range(24)],
    strategy="none",
    window={"type": "sliding", "size": "1 min", "slide": "20 s", "time": "processing"},
)
CHAIN = Scenario.of(
    events=[["ab"[n % 2], 1, n * 7_000, n * 7_000] for n in range(20)], window={"type": "session", "gap": "30 s"}
)
ALIGNED = Scenario.of(
    events=[["k", 1, n * 4_000 * (1 + 9 * (n % 2)), n * 4_000, n % 4] for n in range(60)],
    subtasks=2,
    partitions=4,
    alignment={"drift": "40 s", "interval": "5 s"},
    window="1 min",
)


def picture(scenario: Scenario) -> dict:
    return show(wmviz.simulate(scenario), scenario)


def texts(svg: str, pattern: str) -> list[tuple[float, float, str]]:
    found = re.findall(r'<text x="([-\d.]+)" y="([-\d.]+)"[^>]*>([^<]*)</text>', svg)
    return [(float(x), float(y), words) for x, y, words in found if re.search(pattern, words)]


# ------------------------------------------------------------------------------------------------------ axes


def test_the_axis_of_one_event_shows_its_window():
    trace = wmviz.simulate(Scenario.of(events=[["a", 1, "6:00"]], window="10 min"))
    _, x, y = Frame.of(trace)
    assert y.holds([time_ms("6:00"), time_ms("6:10")])
    assert x.to_ms - x.from_ms > 500


def test_few_times_that_are_far_off_do_not_set_the_axis():
    near = [n * MINUTE for n in range(10)]
    assert without_far([*near, 365 * DAY_MS]) == near
    assert without_far([-365 * DAY_MS, *near, 365 * DAY_MS, 366 * DAY_MS]) == near
    three = [365 * DAY_MS + n for n in range(3)]
    assert without_far([*near, *three]) == [*near, *three], "more than a fifth are no exception"
    assert without_far([*near, 100 * MINUTE]) == [*near, 100 * MINUTE], "not that far off"
    assert without_far([5, 5, 5, 5, 9]) == [5, 5, 5, 5, 9], "one instant is no measure"
    assert without_far([]) == []


def test_an_event_a_year_ahead_stands_at_the_edge_and_the_axis_says_so():
    trace = wmviz.simulate(YEAR_AHEAD)
    drawn = picture(YEAR_AHEAD)
    assert drawn["y"]["title"].endswith("(2026-03-01; 1 event far above)")
    assert drawn["y"]["to"] < 60 * MINUTE
    assert Frame.of(trace).holds(trace), "else each gesture would move the axes"
    svg = still_svg(drawn)
    assert "watermark 2027-03-01 06:24:59.999 ↑" in svg
    assert svg.count("l4 -5l4 5") == 1
    early = YEAR_AHEAD.replace(events=[["z", 1, "2020-01-01T00:00Z", at(0)], *write(YEAR_AHEAD)])
    assert "1 event far above, 1 event far below" in picture(early)["y"]["title"]


def write(scenario: Scenario) -> list:
    return scenario.to_json()["events"]


def test_ticks_that_are_months_apart_name_the_year():
    axis = axis_of([time_ms(at(0)), time_ms(at(0, 2028))], (), None)
    assert all(re.fullmatch(r"202\d-\d\d-\d\d", text) for _, text in axis.ticks)


def test_windows_on_the_same_day_of_two_years_are_told_apart():
    windows = [window for _, window in wmviz.simulate(YEAR_AHEAD.replace(window="1 d")).windows]
    dated = needs_dates(YEAR_AHEAD, windows)
    labels = {window_text(window, None, dated) for window in windows}
    assert labels == {"[2026-03-01 00:00, 2026-03-02 00:00)", "[2027-03-01 00:00, 2027-03-02 00:00)"}
    day = TimeWindow(time_ms(at(0)), time_ms(at(10)))
    assert window_text(day, None, needs_dates(YEAR_AHEAD, [day])) == "[06:00, 06:10)"


def test_a_question_about_windows_of_a_week_names_their_days():
    weeks = Scenario.of(
        events=[["a", 1, n * DAY_MS + 25 * DAY_MS, n * DAY_MS + 25 * DAY_MS] for n in range(22)], window="7 d"
    )
    trace = wmviz.simulate(weeks)
    questions = asked(trace, picture(weeks), ("firings",))["questions"]
    assert questions
    assert not [question["why"] for question in questions if "[00:00, 00:00)" in question["why"]]


# -------------------------------------------------------------------------------------------------- the job


def test_nothing_is_held_back_at_the_end_of_the_input():
    clocks = picture(Scenario.of(events=[["a", 1, n * 1000, n * 1000, n % 2] for n in range(4)], end_of_input="0:01"))
    source = next(clock for clock in clocks["watermarks"] if clock["role"] == "source")
    assert source["held"][-1][1:] == [(), ""]
    assert source["held"][-2][2] != ""


def test_what_has_no_line_and_no_box_is_counted():
    many = Scenario.of(events=[["a", 1, n * 1000, n * 1000, n] for n in range(12)], checkpoints="5 s")
    drawn = picture(many.replace(end_of_input="0:00:30"))
    assert drawn["inputs_left_out"] == 4
    assert drawn["pipeline"]["left_out"] == "Not drawn: 4 more partitions of a source subtask."
    assert drawn["pipeline"]["sources"][0]["notes"][-1][1] == "snapshot 6: read 1, 1, 1, 1, …"


def test_a_job_that_resumes_with_other_settings_says_which():
    stopped = Scenario.of(
        events=[["a", 1, n * 1000, n * 1000] for n in range(9)],
        happenings={"what": "stop", "at": "0:00:04", "with": {"bound": "2 s"}},
    )
    assert picture(stopped)["pipeline"]["job"][-1][2] == (
        "Running again with the state of checkpoint 1; changed: bound 2 s."
    )


# --------------------------------------------------------------------------------------------------- stills


def test_merged_sessions_have_no_band_in_a_still():
    drawn = picture(CHAIN)
    alive = [band for band in drawn["bands"] if not band["states"][-1][2].endswith("merged")]
    assert len(alive) == 2 < len(drawn["bands"])
    names = texts(still_svg(drawn), r"^\[")
    assert [words for *_, words in names] == [band["label"] for band in alive]
    heights = [y for _, y, _ in names]
    assert abs(heights[0] - heights[1]) >= 28, "names of two sessions lie on each other"


def test_names_and_ticks_stay_inside_a_still():
    fast = Scenario.of(events=[["a", 1, 100 + n, 100 + n] for n in range(20)], window=5)
    weeks = Scenario.of(
        events=[["a", 1, at(0), at(0)], ["a", 1, "2026-03-15T00:00Z", "2026-03-15T00:00Z"]],
        window="7 d",
        title="x" * 300,
    )
    for scenario in (fast, weeks, CHAIN):
        svg = still_svg(picture(scenario))
        named = texts(svg, r"^\[|\)$")
        assert named
        assert all(x + 6.6 * len(words) < WIDTH for x, _, words in named if x > LEFT + 400), scenario.title
        ends = re.findall(r'<text x="([\d.]+)" y="[\d.]+"[^>]*text-anchor="end">([\d:.-]+)</text>', svg)
        assert all(float(x) - 6 * len(words) >= 0 for x, words in ends), scenario.title
        title = texts(svg, "")[0]
        assert len(title[2]) < 110


def test_sliding_windows_of_the_server_clock_lie_across_the_top_of_a_still():
    svg = still_svg(picture(SERVER_CLOCK))
    rails = [tuple(map(float, rail)) for rail in re.findall(RAIL, svg)]
    assert len(rails) == len(picture(SERVER_CLOCK)["bands"])
    for x, y, wide, high in rails:
        assert x + wide <= WIDTH - 20
        assert TOP <= y < y + high <= TOP + 3 * 16
    assert not any(one[0] + one[2] > other[0] for one, other in neighbours(rails, lane=1, along=0))


def neighbours(rails: list[tuple[float, ...]], lane: int, along: int) -> list[tuple[tuple[float, ...], ...]]:
    """Give each rail with the next one of its lane."""
    ordered = sorted(rails, key=lambda rail: (rail[lane], rail[along]))
    return [(one, other) for one, other in pairwise(ordered) if one[lane] == other[lane]]


def test_of_very_many_sliding_windows_every_so_manieth_has_a_rail():
    sliding = CHAIN.replace(window={"type": "sliding", "size": "2 min", "slide": "2 s"})
    svg = still_svg(picture(sliding))
    assert "1 window in 10" in svg
    rails = [tuple(map(float, rail)) for rail in re.findall(RAIL, svg)]
    assert len({rail[0] for rail in rails}) == 6
    assert not any(one[1] + one[3] > other[1] for one, other in neighbours(rails, lane=0, along=1))


def test_words_from_right_to_left_keep_the_numbers_behind_them_in_place():
    scenario = Scenario.of(events=[["שלום", 5, 0], ["b", 6, 1000]], title="سجل 12")
    svg = still_svg(picture(scenario))
    assert "\u2068שלום\u2069" in svg
    assert "\u2068سجل\u2069 12" in svg


def test_a_page_of_predict_mode_asks_where_nothing_runs(tmp_path: Path):
    text = save_html(wmviz.scenario("leaderboard"), tmp_path / "s.html", predict=True).read_text(encoding="utf-8")
    assert "What happens next?" in text
    question = picture_asked()["questions"][0]
    assert question["ask"] in text
    assert "badge" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)


def picture_asked() -> dict:
    scenario = wmviz.scenario("leaderboard")
    return asked(wmviz.simulate(scenario), picture(scenario), ("firings", "late", "watermark"))


# -------------------------------------------------------------------------------------------- in the browser

SHOWN = """() => {
  const names = ["gate-name", "gate-state", "box-name", "watermark-name", "band-name", "rail-name"];
  const shown = (node) => node.getClientRects().length && node.style.display !== "none" && node.textContent.trim();
  const over = (a, b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;
  const beside = (a, b) => a.left < b.left - 2 || a.right > b.right + 2 || a.top < b.top - 2 || a.bottom > b.bottom + 2;
  const faults = document.documentElement.scrollWidth > innerWidth ? ["the page scrolls sideways"] : [];
  for (const svg of document.querySelectorAll(".wmviz-plane-svg")) {
    const nodes = [...svg.querySelectorAll(names.map((name) => `.wmviz-${name}`).join())].filter(shown);
    const boxes = nodes.map((node) => node.getBoundingClientRect());
    boxes.forEach((box, nth) => {
      if (beside(box, svg.getBoundingClientRect())) faults.push(`outside: ${nodes[nth].textContent}`);
      const others = boxes.findIndex((other, more) => more > nth && over(box, other));
      if (others >= 0) faults.push(`${nodes[nth].textContent} on ${nodes[others].textContent}`);
    });
  }
  return faults;
}"""


@pytest.mark.parametrize("width", [1280, 700, 390])
def test_names_of_odd_scenarios_lie_on_nothing(open_page, tmp_path: Path, width: int):
    dated = [["a" * 60, 1, f"2026-03-{day:02}T06:00Z", f"2026-03-{day:02}T06:00Z", day % 3] for day in range(1, 29)]
    scenarios = {
        "aligned": ALIGNED,
        "clock": SERVER_CLOCK,
        "chain": CHAIN,
        "ahead": YEAR_AHEAD,
        "dated": Scenario.of(
            events=dated, subtasks=2, partitions=3, window="7 d", unit="kilowatt hours per square metre"
        ),
    }
    for name, scenario in scenarios.items():
        page = open_page(save_html(scenario, tmp_path / f"{name}.html").as_uri(), width=width)
        plane = page.locator(".wmviz-plane-box")
        for _ in range(len(scenario.events) // 2):
            plane.press("ArrowRight")
        assert page.evaluate(SHOWN) == [], f"{name} in the middle"
        plane.press("End")
        assert page.evaluate(SHOWN) == [], f"{name} at the end"
        page.close()


def test_merged_sessions_leave_the_stage(open_page, tmp_path: Path):
    page = open_page(save_html(CHAIN, tmp_path / "chain.html").as_uri())
    page.locator(".wmviz-plane-box").press("End")
    bands = picture(CHAIN)["bands"]
    alive = [band["label"] for band in bands if not band["states"][-1][2].endswith("merged")]
    names = page.locator(".wmviz-band-name").evaluate_all(
        "(nodes) => nodes.filter((node) => node.style.display !== 'none').map((node) => node.textContent)"
    )
    assert sorted(names) == sorted(alive)
    rows = page.locator(".wmviz-group").evaluate_all("(lines) => lines.filter((line) => !line.hidden).length")
    assert rows == len(alive)


def test_who_goes_to_the_end_of_predict_mode_hears_the_score_and_the_title(open_page, tmp_path: Path):
    page = open_page(save_html(wmviz.scenario("leaderboard"), tmp_path / "s.html", predict=True).as_uri())
    plane = page.locator(".wmviz-plane-box")
    plane.press("End")
    assert "The rest is skipped." in page.locator(".wmviz-said").inner_text()
    assert "who wins the 6 am badge?" in page.locator(".wmviz-said").inner_text()
    page.get_by_role("button", name="Again").click()
    while not page.locator(".wmviz-answers button").count():  # to the first question
        plane.press("ArrowRight")
    plane.press("End")
    assert "who wins the 6 am badge?" in page.locator(".wmviz-said").inner_text()
