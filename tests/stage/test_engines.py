"""Runs of Flink on the stage: alone, and below ours, with what was not observed and what differs marked."""

from dataclasses import replace
from pathlib import Path

import pytest

import wmviz
from wmviz.flink import recorded
from wmviz.flink.report import Report
from wmviz.scenario import ScenarioError
from wmviz.stage import save_html
from wmviz.stage.marks import Look
from wmviz.stage.picture import picture_of
from wmviz.stage.still import Still
from wmviz.trace import Kind, Trace, TraceError

LEADERBOARD = wmviz.scenario("leaderboard")
NAMES = ["leaderboard", "price-feed", "quiet-partition", "finished-input", "all-idle", "half-hour-zone", "sliding-gaps"]


def flink(name: str = "leaderboard") -> Trace:
    """Give the recorded run of a scenario of the catalogue."""
    scenario = wmviz.scenario(name)
    return recorded.find(scenario).trace(scenario, recorded=True)


def mutated() -> Trace:
    """Give a run that differs: another value in the second firing of r4471, one event late that is not, one drop."""
    report = recorded.find(LEADERBOARD)
    again = next(n for n, f in enumerate(report.firings) if f.key == "r4471" and len(f.event_ids) == 3)
    firings = list(report.firings)
    firings[again] = firings[again]._replace(value=2_999)
    seen = report.seen | {"r9@7:31": report.seen["r9@7:31"] - 1}
    report = Report(report.engine, firings, [*report.late, "r7@7:02"], 1, seen)
    return report.trace(LEADERBOARD, recorded=True)


@pytest.mark.parametrize("name", NAMES)
def test_the_picture_says_what_flink_reported_and_nothing_else(name: str) -> None:
    trace = flink(name)
    picture = picture_of(trace)
    outcomes = trace.outcomes()
    assert (picture["complete"], picture["engine"]) == (False, "Flink 2.3.0 (recorded)")
    ends = {
        event[0]: looks[-1] for event, looks in zip(picture["events"], picture["event_looks"], strict=True) if looks
    }
    assert {event for event, look in ends.items() if look == Look.SIDE_OUTPUT} == outcomes.late
    fired = {event for _, ids, _ in outcomes.firings.values() for event in ids}
    assert {event for event, look in ends.items() if look in (Look.ON_TIME, Look.LATE_COUNTED)} == fired - outcomes.late
    assert {event for event, look in ends.items() if look == Look.IN_FLIGHT} == ends.keys() - fired - outcomes.late
    assert picture["looks"][Look.IN_FLIGHT] == "not observed"
    assert sum(len(band["fires"]) for band in picture["bands"]) <= len(outcomes.firings)
    source, window = picture["watermarks"]
    assert source["values"] == []
    assert len(window["values"]) // 2 == sum(1 for kind in trace.kind if kind == Kind.WATERMARK)
    for result in picture["results"]:
        assert {change[1] for change in result["changes"]} == {"not observed"}
        assert {change[4] for change in result["changes"]} == {"fired"}
    assert "pipeline" not in picture["parts"]


def test_late_events_and_moments_are_those_of_our_engine() -> None:
    ours, theirs = picture_of(wmviz.simulate(LEADERBOARD)), picture_of(flink())
    fates = [[looks[-1] for looks in picture["event_looks"]] for picture in (ours, theirs)]
    assert fates[1][:-1] == fates[0][:-1]
    assert (fates[0][-1], fates[1][-1]) == (Look.ON_TIME, Look.IN_FLIGHT)  # its window does not fire any more
    assert len(theirs["moments"]) == len(ours["moments"]) == len(LEADERBOARD.events)
    assert [fire[2] for band in theirs["bands"] for fire in band["fires"]] == [
        fire[2] for band in ours["bands"] for fire in band["fires"]
    ]
    assert theirs["late_from"].keys() == ours["late_from"].keys()


def test_a_run_of_flink_plays_and_stays_what_it_was() -> None:
    trace = flink()
    stage = wmviz.play(trace)
    assert stage.trace is trace
    assert not stage.editable
    assert stage.picture["note"].startswith("What Flink 2.3.0 (recorded) reported. Not observed: the watermarks of")
    assert stage.sentences["texts"] == [trace.sentence(row) for row in range(len(trace))]
    before = stage.picture
    stage.bound = "5 min"
    assert stage.problem == "this stage stays as it is; play the scenario alone to change it"
    stage.command = {"do": "crash", "serial": 1}
    assert stage.picture == before
    assert repr(stage).startswith(f"{LEADERBOARD.title}: 19 events arrived: 17 counted, 1 side output, 1 not")


def test_dropped_events_are_counted_but_not_named() -> None:
    report = recorded.find(LEADERBOARD)
    dropping = replace(report, late=[], dropped=1)
    scenario = LEADERBOARD.replace(late_to="drop")
    stage = wmviz.play(dropping.trace(scenario))
    assert "which events are dropped (Flink counts 1)" in stage.picture["note"]
    looks = [looks[-1] for looks in stage.picture["event_looks"]]
    assert looks.count(Look.IN_FLIGHT) == 2
    assert "2 not observed" in repr(stage)


def test_two_runs_that_agree_say_so() -> None:
    stage = wmviz.play(wmviz.compare(LEADERBOARD, flink()))
    assert [caption[0] for caption in stage.differing["captions"]] == ["wmviz", "Flink 2.3.0 (recorded)"]
    assert stage.differing["lines"] == [
        "wmviz and Flink 2.3.0 agree on 10 firings, 1 late event, 0 dropped events, 19 seen watermarks, 8 totals"
    ]
    assert stage.differing["events"] == [[], []]
    assert (stage.other["x"], stage.other["y"]) == (stage.picture["x"], stage.picture["y"])


def test_what_differs_is_marked_in_both() -> None:
    theirs = mutated()
    stage = wmviz.play(LEADERBOARD, theirs)
    lines = " ".join(stage.differing["lines"])
    for words in ("firing r4471", "late event r7@7:02", "watermark seen by r9@7:31", "total r4471", "dropped events"):
        assert words in lines
    assert "watermark seen by r9@7:31: wmviz 7:19:59.999, Flink 2.3.0 7:19:59.998" in lines
    assert stage.differing["captions"][1][1] == "reported this; of 1 event the fate is not observed"
    for picture, events, fires in zip(
        (stage.picture | {"events": stage.events}, stage.other),
        stage.differing["events"],
        stage.differing["fires"],
        strict=True,
    ):
        assert {picture["events"][index][0] for index in events} == {"r7@7:02", "r9@7:31"}
        flags = [fire for band in picture["bands"] for fire in band["fires"] if fire[3] in fires]
        assert [words for _, _, words, _ in flags] == ["fires again"]
    assert "firing r4471" in repr(Still(LEADERBOARD, theirs))


def test_a_firing_that_only_one_has_is_marked_with_its_events() -> None:
    report = recorded.find(LEADERBOARD)
    gone = next(firing for firing in report.firings if firing.key == "r7")
    fewer = replace(report, firings=[firing for firing in report.firings if firing != gone])
    stage = wmviz.play(LEADERBOARD, fewer.trace(LEADERBOARD))
    marked = {stage.events[index][0] for index in stage.differing["events"][0]}
    assert marked == set(gone.event_ids)
    assert len(stage.differing["fires"][0]) == 1
    assert stage.differing["fires"][1] == []


def test_runs_of_different_scenarios_are_refused() -> None:
    with pytest.raises(TraceError, match="two runs of one scenario"):
        wmviz.play(LEADERBOARD.replace(bound="5 min"), flink())
    with pytest.raises(TraceError, match="not str; write play"):
        wmviz.play(LEADERBOARD, "flink")
    with pytest.raises(ScenarioError, match="play takes a scenario, not int"):
        wmviz.play(7)


def test_our_own_trace_plays_as_its_scenario() -> None:
    stage = wmviz.play(wmviz.simulate(LEADERBOARD))
    assert stage.editable
    assert stage.picture["id"] == wmviz.play(LEADERBOARD).picture["id"]


@pytest.mark.parametrize("name", NAMES)
def test_the_still_of_both_draws_both(name: str) -> None:
    still = Still(wmviz.scenario(name), flink(name))
    html = still._repr_mimebundle_()["text/html"]
    assert html.count("<img") == 2
    assert "Flink 2.3.0 (recorded)" in html
    assert "agree on" in repr(still)


# ------------------------------------------------------------------------------------------------- in a browser

browser = pytest.mark.browser


@browser
def test_a_page_shows_ours_above_flinks_with_what_differs_marked(tmp_path: Path, open_page) -> None:
    page = open_page(save_html(LEADERBOARD, tmp_path / "both.html", mutated()).as_uri())
    page.locator(".wmviz-plane-box").focus()
    page.keyboard.press("End")
    assert page.locator(".wmviz-variant-name strong").all_text_contents() == ["wmviz", "Flink 2.3.0 (recorded)"]
    for part in (".wmviz-plane-box", ".wmviz-variant"):
        differs = page.locator(f"{part} .wmviz-fire.wmviz-differs title")
        assert differs.all_text_contents() == ["[6:00, 7:00) fires again"]
        assert page.locator(f"{part} .wmviz-over .wmviz-member").count() == 2
    lines = " ".join(page.locator(".wmviz-differences li").all_text_contents())
    assert (
        "firing r4471 [6:00, 7:00) no. 2: wmviz 3,000 from 3 events at watermark 7:02:59.999, Flink 2.3.0 2,999"
        in lines
    )
    # Both stand at the same processing time.
    page.get_by_label("Moment", exact=True).fill("8")
    places = [line.get_attribute("x1") for line in page.locator(".wmviz-now").all()]
    assert places[0] == places[1]
    shown = "path.wmviz-marble[data-look]:not([style*='none'])"
    counts = [page.locator(f"{part} {shown}").count() for part in (".wmviz-plane-box", ".wmviz-variant")]
    assert counts == [9, 9]


@browser
def test_a_page_of_flink_says_what_is_not_observed(tmp_path: Path, open_page) -> None:
    trace = flink("finished-input")
    page = open_page(save_html(trace, tmp_path / "flink.html").as_uri())
    page.locator(".wmviz-plane-box").focus()
    page.keyboard.press("End")
    assert "Not observed: the watermarks of sources and channels" in page.locator(".wmviz-note").text_content()
    fates = dict(
        zip(
            page.locator(".wmviz-fate .wmviz-words").all_text_contents(),
            page.locator(".wmviz-fate .wmviz-count").all_text_contents(),
            strict=True,
        )
    )
    fired = {event for row in trace.contents for event in trace.firing_events(row)}
    assert (fates["on time"], fates["not observed"]) == (str(len(fired)), str(5 - len(fired)))
    lanes = page.locator(".wmviz-lane-state").all_text_contents()
    assert lanes == ["watermark not observed"] * 2
    page.get_by_role("button", name="Pipeline", exact=True).click()
    assert page.locator(".wmviz-pipeline").text_content().startswith("Pipeline: not observed.")
    cells = page.locator(".wmviz-results tbody tr:not(.wmviz-group)").first.locator("td").all_text_contents()
    assert cells[1] == "not observed"
    assert page.locator(".wmviz-editor").is_hidden()
