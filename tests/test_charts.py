"""Charts: what they show is what the trace holds, drawn without browser and network, safe for any text."""

import base64
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import altair as alt
import pandas as pd
import pytest

import wmviz
from tests.stage.jupyter import CHROMIUM_FLAGS, START_MS, jupyterlab, write_notebook
from wmviz import charts
from wmviz.charts.axes import short_duration
from wmviz.charts.completeness import completeness_rows, disorder_bounds
from wmviz.charts.facts import event_looks
from wmviz.charts.look import BLUE, INK, ORANGE, PURPLE, RED, TEAL, render, svg_of
from wmviz.comparison import Comparison, subtract
from wmviz.flink.recorded import find
from wmviz.stage.marks import Look
from wmviz.stage.picture import picture_of
from wmviz.times import TimeError, time_ms, time_text
from wmviz.trace import TraceError

LEADERBOARD = wmviz.scenario("leaderboard")
SMALL = [name for name in wmviz.scenarios() if len(wmviz.scenario(name).events) < 1_000]
SIMPLE = (charts.watermark, charts.lag, charts.state, charts.firings)
NASTY = '<script>alert(1)</script> a.b[c] & "q" \'s\' datum.x {"signal": "1"} </svg> toString'
SLIDING = wmviz.Scenario.of(
    name="sliding",
    window={"type": "sliding", "size": "30 min", "slide": "10 min"},
    lateness="5 min",
    events=[["a", n, f"6:{n:02}", f"6:{n:02}:30"] for n in range(0, 60, 7)] + [["a", 1, "6:22", "6:57"]],
)


def recorded() -> wmviz.Trace:
    """Give Flink's run of the leaderboard."""
    report = find(LEADERBOARD)
    assert report is not None
    return report.trace(LEADERBOARD, recorded=True)


def compared(changed: wmviz.Scenario = LEADERBOARD) -> Comparison:
    """Compare a run of ours with Flink's run of the leaderboard."""
    ours, flink = wmviz.simulate(changed), recorded()
    return Comparison(ours, flink, subtract(ours.outcomes(), flink.outcomes()))


def data_of(chart: Any, column: str) -> pd.DataFrame:
    """Find the data of a chart, or of the part of it that has a column."""
    parts, found = [chart], []
    while parts:
        part = parts.pop(0)
        if isinstance(getattr(part, "data", None), pd.DataFrame) and column in part.data:
            found.append(part.data)
        for name in ("layer", "vconcat"):
            if isinstance(getattr(part, name, None), list):
                parts += getattr(part, name)
    assert found, column
    return found[0]


def drawn(chart: Any) -> ElementTree.Element:
    """Draw a chart and check that it is a picture of a sane size which fetches nothing."""
    spec = chart.to_dict()
    assert '"url"' not in str(spec).replace("'", '"')
    svg = svg_of(spec)
    assert "NaN" not in svg
    assert "http" not in re.sub(r'xmlns(:\w+)?="[^"]*"', "", svg)
    root = ElementTree.fromstring(svg)
    assert 200 < float(root.attrib["width"]) < 1_000
    assert 50 < float(root.attrib["height"]) < 1_600
    return root


def words_in(root: ElementTree.Element) -> list[str]:
    return [" ".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")]


def subtitle(chart: Any) -> str:
    return " ".join(chart.to_dict()["title"]["subtitle"])


# ----------------------------------------------------------------------------------- the leaderboard, by hand


def test_the_watermark_trails_the_newest_event_by_the_bound() -> None:
    chart = charts.watermark(LEADERBOARD)
    lines = data_of(chart, "watermark_ms")
    steps = [(time_text(at), time_text(mark)) for at, mark in zip(lines["at_ms"], lines["watermark_ms"], strict=True)]
    assert steps == [
        ("6:21:20", "6:18:59.999"),
        ("6:30:15", "6:27:59.999"),
        ("6:35:40", "6:32:59.999"),
        ("6:44:10", "6:41:59.999"),
        ("6:49:10", "6:45:59.999"),
        ("6:52:30", "6:49:59.999"),
        ("7:02:05", "6:59:59.998"),
        ("7:03:10", "6:59:59.999"),
        ("7:05:20", "7:02:59.999"),
        ("7:09:01", "7:05:59.999"),
        ("7:22:05", "7:19:59.998"),
        ("7:22:30", "7:19:59.999"),
        ("7:31:25", "7:28:59.999"),
        ("7:40:15", "7:37:59.999"),
        ("8:02:20", "7:59:59.999"),
    ]
    assert set(lines["line"]) == {"watermark"}
    events = data_of(chart, "fate").set_index("event")["fate"]
    assert len(events) == 19
    assert dict(events[events != "on time"]) == {
        "r4471@6:56": "late but counted",
        "r12@6:58": "late but counted",
        "r7@6:56": "side output",
    }
    assert {"7:00", "7:30", "8:00", "processing time", "event time"} <= set(words_in(drawn(chart)))


def test_lags_are_counted_in_round_ranges() -> None:
    chart = charts.lag(LEADERBOARD)
    frame = data_of(chart, "share")
    assert list(frame["from_ms"] // 1000) == [5, 10, 30, 60, 120, 300, 600]
    assert list(frame["events"]) == [2, 7, 3, 3, 0, 1, 3]
    assert frame["arrived"].iloc[-1] == 1
    assert frame["share"].iloc[1] == pytest.approx(7 / 19)
    assert "half arrive within 30 s, 95 % within 28 min, the last after 28 min" in subtitle(chart)


def test_firings_are_counted_by_first_and_again() -> None:
    frame = data_of(charts.firings(LEADERBOARD), "firings")
    rows = list(frame[["window", "firing", "firings"]].itertuples(index=False, name=None))
    assert rows == [
        ("[6:00, 7:00)", "first result", 4),
        ("[6:00, 7:00)", "fired again", 2),
        ("[7:00, 8:00)", "first result", 4),
        ("[7:00, 8:00)", "fired again", 0),
    ]


def test_state_grows_to_the_cleanup_and_shrinks_there() -> None:
    frame = data_of(charts.state(LEADERBOARD), "windows").set_index("at_ms")
    assert tuple(frame.loc[time_ms("6:52:30")]) == (4, 6)
    assert tuple(frame.loc[time_ms("7:09:01")]) == (8, 12)
    assert tuple(frame.loc[time_ms("7:22:10")]) == (8, 14)
    # The watermark 7:19:59.999 is the cleanup time of the 6 o'clock windows: four of eight go, with nine events.
    assert tuple(frame.loc[time_ms("7:22:30")]) == (4, 6)


def test_a_longer_bound_completes_results_and_delays_them() -> None:
    frame = data_of(charts.completeness(LEADERBOARD, ["0", "2 min", "30 min"]), "share")
    by_bound = frame.groupby("bound_ms")
    events = {bound: dict(zip(part["outcome"], part["events"], strict=True)) for bound, part in by_bound}
    # Without a bound r12's 6:56 is late too; 7:24 is behind 7:22 by 26 min, so that 30 min wait for all.
    assert events[0] == {"in the first result": 15, "counted late": 2, "late": 2}
    assert events[120_000] == {"in the first result": 16, "counted late": 2, "late": 1}
    assert events[1_800_000] == {"in the first result": 19, "counted late": 0, "late": 0}
    added = frame.drop_duplicates("bound_ms").set_index("bound_ms")["added_latency_ms"]
    # Four windows fire at 7:03:10 instead of 7:02:05, four at 8:02:20 either way.
    assert added[0] == 0
    assert added[120_000] == 4 * 65_000 / 8


def test_engines_that_agree_and_that_do_not() -> None:
    same = charts.engines(compared())
    counts = data_of(same, "outcomes")
    agreed = counts[counts["found"] == "the same"]
    assert dict(zip(agreed["kind"], agreed["outcomes"], strict=True)) == {
        "firings": 10,
        "late events": 1,
        "seen watermarks": 19,
        "totals": 8,
    }
    assert counts.loc[counts["found"] == "different", "outcomes"].sum() == 0
    values = data_of(same, "value")
    assert values["agrees"].all()
    assert dict(values[values["firing"] == "r4471 [6:00, 7:00) no. 2"].set_index("engine")["value"]) == {
        "wmviz": 3000,
        "Flink 2.3.0": 3000,
    }
    differ = charts.engines(compared(LEADERBOARD.replace(lateness=0)))
    values = data_of(differ, "value")
    assert set(values.loc[~values["agrees"], "firing"]) == {"r12 [6:00, 7:00) no. 2 ≠", "r4471 [6:00, 7:00) no. 2 ≠"}
    assert set(values.loc[~values["agrees"], "engine"]) == {"Flink 2.3.0"}
    assert "8 the same, 2 different" in words_in(drawn(differ))


def test_a_run_of_flink_says_what_was_not_observed() -> None:
    chart = charts.watermark(recorded())
    fates = Counter(data_of(chart, "fate")["fate"])
    # The last event is in no firing, so that nobody reported what became of it.
    assert fates == {"on time": 15, "late but counted": 2, "side output": 1, "fate not observed": 1}
    drawn(chart)
    with pytest.raises(TraceError, match=r"Flink 2\.3\.0 reports.*give the scenario"):
        charts.state(recorded())


# ------------------------------------------------------------------------------------------- all scenarios


@pytest.mark.parametrize("name", SMALL)
def test_every_chart_of_the_catalogue_is_drawn(name: str) -> None:
    for make in SIMPLE:
        drawn(make(wmviz.scenario(name)))
    drawn(charts.completeness(wmviz.scenario(name), ["0", "1 min"]))


@pytest.mark.parametrize("scenario", [*map(wmviz.scenario, SMALL), SLIDING], ids=lambda scenario: scenario.name)
def test_data_is_the_trace(scenario: wmviz.Scenario) -> None:
    trace = wmviz.simulate(scenario)
    last_step = {at_ms: step for step, at_ms in enumerate(trace.step_at_ms)}
    for at_ms, windows, events in data_of(charts.state(trace), "windows").iloc[:-1].itertuples(index=False):
        there = trace.state(last_step[at_ms]).windows
        assert (windows, events) == (len(there), sum(len(window.event_ids) for window in there))
    lines = data_of(charts.watermark(trace), "watermark_ms")
    for clock, line in lines.groupby("clock"):
        index = trace.clocks.index(clock)
        rows = trace.rows_of["clock", index]
        assert list(dict.fromkeys(line["watermark_ms"])) == list(dict.fromkeys(trace.value[row] for row in rows))
        assert set(line["at_ms"]) >= {trace.step_at_ms[trace.step[row]] for row in rows}
    assert data_of(charts.firings(trace), "firings")["firings"].sum() == len(trace.firings)
    # The stage tells the fate of an event in its own pass.
    assert event_looks(trace) == [looks[-1] if looks else Look.IN_FLIGHT for looks in picture_of(trace)["event_looks"]]


def test_the_shares_of_completeness_are_a_whole() -> None:
    for scenario in (LEADERBOARD, SLIDING, wmviz.scenario("workout-sessions"), wmviz.scenario("idle-bet")):
        frame = completeness_rows(scenario, disorder_bounds(scenario))
        assert frame.groupby("bound_ms")["events"].sum().unique().tolist() == [len(scenario.events)]
        first = frame[frame["outcome"] == "in the first result"]["share"].tolist()
        # An idle source loses its last watermark, so that what waits for it never comes to a result.
        assert first == sorted(first) or scenario.idle_timeout_ms is not None


def test_several_inputs_have_a_line_each_and_say_when_they_are_idle() -> None:
    lines = data_of(charts.watermark(wmviz.scenario("idle-bet")), "watermark_ms")
    assert set(lines["line"]) == {"source[0]", "source[1]", "combined (window)"}
    root = drawn(charts.watermark(wmviz.scenario("idle-bet")))
    assert {"idle", "source[0]", "combined (window)"} <= set(words_in(root))


def test_times_are_those_of_the_zone() -> None:
    words = words_in(drawn(charts.watermark(wmviz.scenario("half-hour-zone"))))
    assert "processing time (2026-10-17, +05:30)" in words
    assert "07:30" in words


def test_windows_of_the_night_when_clocks_go_back_are_two() -> None:
    events = [["a", 1, f"2026-10-25T0{hour}:{minute}:00+00:00"] for hour in range(3) for minute in (10, 40)]
    scenario = wmviz.Scenario.of(zone="Europe/Berlin", window="30 min", events=events)
    assert "[02:00, 02:30) #2" in set(data_of(charts.firings(scenario), "firings")["window"])


# ---------------------------------------------------------------------------------------------- large runs


@pytest.fixture(scope="module")
def large() -> wmviz.Trace:
    """Run more events than Altair takes rows, in 100 windows of many keys."""
    rows = [[f"k{n % 50}", 1, 10_000 * n - (n % 9) * 3_000, 10_000 * n + 10] for n in range(6_000)]
    scenario = wmviz.Scenario.of(name="large", window="10 min", bound="1 s", events=rows, end_of_input=70_000_000)
    return wmviz.simulate(scenario)


def test_large_runs_are_drawn_and_say_what_is_left_out(large: wmviz.Trace) -> None:
    watermark, lag, state, firings = made = [make(large) for make in SIMPLE]
    for chart in made:
        assert sum(len(rows) for rows in chart.to_dict()["datasets"].values()) < 4_000  # Altair refuses more than 5,000
        drawn(chart)
    assert "400 of its changes" in subtitle(watermark)
    assert "Drawn are 400 of 6,000 events on time" in subtitle(watermark)
    assert "highest of every 8 moments" in subtitle(state)
    assert "share a bar" in subtitle(firings)
    # Nothing is lost by that: every firing is in a bar, every lag in a range, and the peak is drawn.
    assert data_of(firings, "firings")["firings"].sum() == len(large.all_firings)
    assert data_of(lag, "events")["events"].sum() == 6_000
    peak = max(range(large.steps - 150, large.steps), key=lambda step: len(large.state(step).windows))
    sizes = data_of(state, "windows")
    assert sizes.loc[sizes["at_ms"] > large.step_at_ms[large.steps - 150], "windows"].max() >= len(
        large.state(peak).windows
    )
    engines = charts.engines(Comparison(large, large, ()))
    drawn(engines)
    assert "30 are drawn" in subtitle(engines)


# ------------------------------------------------------------------------------------------ text from users


def test_text_from_users_is_text() -> None:
    events = [[NASTY, 1000, "6:56", "7:09"], ["a.b[c]", 500, "6:57", "7:10"], ["", 5, "8:58", "9:20"]]
    scenario = wmviz.Scenario.of(name=NASTY, title=NASTY, unit="<m>.[x]", late_to="side", events=events)
    trace = wmviz.simulate(scenario)
    made = [make(trace) for make in SIMPLE]
    made += [charts.completeness(scenario), charts.engines(Comparison(trace, trace, ()))]
    for chart in made:
        root = drawn(chart)
        assert NASTY[:20] in " ".join(words_in(root))
        assert not [element for element in root.iter() if element.tag.endswith(("script", "foreignObject", "}a"))]
        html = chart._repr_mimebundle_()["text/html"]
        assert re.fullmatch(
            r'<img src="data:image/svg\+xml;base64,[\w+/=]+" alt="[^"<>]*" width="[\d.]+" style="[^"<>]*">', html
        )
    words = words_in(drawn(made[-1]))
    assert "a.b[c] [6:00, 7:00)" in words
    assert "value of the firing (<m>.[x])" in words


# ---------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize("make", [*SIMPLE, charts.completeness, charts.engines], ids=lambda make: make.__name__)
def test_wrong_things_are_refused_in_a_sentence(make: Any) -> None:
    for wrong in (None, "leaderboard", 7, [1]):
        with pytest.raises(TraceError, match=rf"charts\.{make.__name__} takes .*; write "):
            make(wrong)
    given = compared() if make is charts.engines else LEADERBOARD
    for width in ("wide", 0, 99_999, True, 3.5):
        with pytest.raises(TraceError, match=r"width is .*; write a whole number of pixels"):
            make(given, width=width)


@pytest.mark.parametrize("make", [*SIMPLE, charts.completeness], ids=lambda make: make.__name__)
def test_no_events_are_nothing_to_draw(make: Any) -> None:
    with pytest.raises(TraceError, match="nothing to draw: there are no events"):
        make(wmviz.Scenario.of(events=[]))


def test_results_alone_are_too_little_for_watermark_and_state() -> None:
    results = wmviz.simulate(LEADERBOARD, trace="results")
    for make in (charts.watermark, charts.state):
        with pytest.raises(TraceError, match=r'holds results only; simulate with trace="full"'):
            make(results)
    assert data_of(charts.firings(results), "firings")["firings"].sum() == 10


def test_completeness_says_which_windows_and_bounds_it_can_take() -> None:
    with pytest.raises(TraceError, match='strategy is "ascending", which has no bound'):
        charts.completeness(LEADERBOARD.replace(strategy="ascending"))
    with pytest.raises(TraceError, match="windows that fire when the watermark"):
        charts.completeness(LEADERBOARD.replace(window={"type": "global", "trigger": "count:2"}))
    with pytest.raises(TimeError, match="needs a unit"):
        charts.completeness(LEADERBOARD, ["0", "5"])
    for bounds, words in (("2 min", "list of durations"), ([], "1 to 40"), (range(99), "1 to 40"), ([-1], "0 or more")):
        with pytest.raises(TraceError, match=words):
            charts.completeness(LEADERBOARD, bounds)


def test_lag_takes_tables_of_numbers_or_timestamps() -> None:
    numbers = pd.DataFrame({"event_time_ms": [0, 1_000, 5_000], "arrival_time_ms": [40, 1_250, 4_000]})
    counted = data_of(charts.lag(numbers), "share")
    stamps = numbers.set_axis(["event_time", "arrival_time"], axis=1).apply(pd.to_datetime, unit="ms", utc=True)
    stamps["arrival_time"] = stamps["arrival_time"].dt.tz_convert("Asia/Kolkata")
    pd.testing.assert_frame_equal(data_of(charts.lag(stamps), "share"), counted)
    assert counted["events"].tolist()[0] == 1
    assert counted["from_ms"].isna().tolist()[0]  # before it happened
    assert "1 event before it happened: a clock is wrong" in subtitle(charts.lag(numbers))
    drawn(charts.lag(numbers))


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"when": [1]}, "this one has when"),
        ({"event_time_ms": [1, None], "arrival_time_ms": [1, 2]}, "event_time_ms is missing in 1 row"),
        ({"event_time_ms": ["6:5x"], "arrival_time_ms": [2]}, "row 0 of event_time_ms: '6:5x' is not a time"),
        ({"event_time_ms": [], "arrival_time_ms": []}, "no events"),
    ],
)
def test_lag_says_what_is_wrong_with_a_table(table: dict[str, Any], words: str) -> None:
    with pytest.raises(TraceError, match=words):
        charts.lag(pd.DataFrame(table, dtype=None if any(table.values()) else "int64"))


# ------------------------------------------------------------------------------------- look, and being lazy


def test_a_notebook_keeps_a_picture_that_is_the_same_every_time() -> None:
    first, second = (charts.watermark(LEADERBOARD)._repr_mimebundle_() for _ in range(2))
    assert first == second
    assert set(first) == {"text/plain", "text/html"}
    assert (
        first["text/plain"] == f"{LEADERBOARD.title} Watermark against time (wmviz). 19 events; it ends at 7:59:59.999."
    )
    svg = base64.b64decode(first["text/html"].split("base64,")[1].split('"')[0])
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert len(first["text/html"]) < 60_000


def test_charts_can_be_changed_and_put_side_by_side() -> None:
    beside = charts.lag(LEADERBOARD, width=250) | charts.lag(wmviz.scenario("price-feed"), width=250)
    assert "base64" in beside._repr_mimebundle_()["text/html"]
    assert charts.state(LEADERBOARD).properties(title="Mine").to_dict()["title"] == "Mine"


def test_colours_have_contrast_on_light_and_dark_paper() -> None:
    def light(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05

    for colour in (INK, BLUE, ORANGE, PURPLE, RED, TEAL):
        least = 4.3 if colour == INK else 3.5
        assert light("#ffffff") / light(colour) > least
        assert light(colour) / light("#111111") > least


def test_lengths_of_time_are_as_precise_as_needed() -> None:
    said = {86: "86 ms", 5_086: "5.1 s", 2_000: "2 s", 115_120: "1 min 55 s", 10_786_241: "3 h", -2_500: "-2.5 s"}
    assert {ms: short_duration(ms) for ms in said} == said


def python(code: str) -> str:
    """Run code in a process of its own."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_altair_is_loaded_when_charts_are_first_needed() -> None:
    code = "import sys, wmviz; print('altair' in sys.modules, 'pandas' in sys.modules)"
    assert python(code).split() == ["False", "False"]
    assert python(f"{code}; wmviz.charts; print('altair' in sys.modules)").split()[-1] == "True"


def test_a_look_that_you_have_chosen_stays() -> None:
    code = "import altair as alt; alt.renderers.enable('svg'); alt.theme.enable('dark'); import wmviz.charts"
    assert python(f"{code}; print(alt.renderers.active, alt.theme.active)").split() == ["svg", "dark"]
    assert (alt.renderers.active, alt.theme.active) == ("wmviz", "wmviz")


def test_a_chart_of_your_own_is_a_picture_too() -> None:
    own = alt.Chart(pd.DataFrame({"a": [1, 2]})).mark_point().encode(x="a:Q")
    assert render(own.to_dict())["text/plain"] == "A chart"


# ---------------------------------------------------------------------------------------------- JupyterLab

CELLS = (
    "import wmviz",
    *(f"wmviz.charts.{name}(wmviz.scenario('leaderboard'))" for name in ("watermark", "lag", "completeness", "state")),
    "wmviz.charts.firings(wmviz.scenario('leaderboard'))",
)


@pytest.mark.browser
def test_jupyterlab_draws_them_without_the_network(chromium_path: str, tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright

    folder, home = tmp_path / "notebooks", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    write_notebook(folder / "charts.ipynb", *CELLS)
    abroad: list[str] = []
    with jupyterlab(folder, home) as address, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=chromium_path, args=CHROMIUM_FLAGS)
        page = chromium.new_page(viewport={"width": 1280, "height": 2_400})
        page.set_default_timeout(START_MS)
        page.route(
            lambda url: not url.startswith(address), lambda route: (abroad.append(route.request.url), route.abort())
        )
        page.goto(f"{address}/lab/tree/charts.ipynb?reset")
        page.get_by_text("| Idle").wait_for(timeout=START_MS)
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        pictures = page.locator(".jp-OutputArea-output img[alt*='leaderboard']")
        pictures.nth(len(CELLS) - 2).wait_for(timeout=START_MS)
        sizes = pictures.evaluate_all(
            "images => images.map(image => [image.complete, image.naturalWidth, image.width])"
        )
        chromium.close()
    assert len(sizes) == len(CELLS) - 1
    assert all(complete and natural > 400 and shown > 400 for complete, natural, shown in sizes)
    assert [url for url in abroad if not url.startswith(("data:", "blob:"))] == []
