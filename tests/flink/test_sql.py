"""SQL on real Flink: the catalogue, random scenarios, local time, and programs that run alone."""

import random
import re
from dataclasses import replace

import pytest

import wmviz
from tests.flink.test_program import report_of, run_alone
from tests.random_scenarios import SEED, random_scenario, with_happenings, with_inputs
from wmviz.comparison import compare
from wmviz.flink import FlinkError, code, limits, program, sql
from wmviz.scenario import Event, Scenario, Window
from wmviz.times import MIN_MS, time_ms

NUMBER = 30
HOUR_MS = 3_600_000
CATALOGUE = ("sql-watermark", "sql-pushed-down")
ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "+05:30", "UTC")


def daylight_saving():
    """Give the days of the catalogue's scenario as SQL can have them: there is no side output."""
    return wmviz.scenario("daylight-saving").replace(late_to="drop")


def random_sql(number, seed=SEED):
    """Draw scenarios: declared in the table, pushed down, behind the source, with idleness and several inputs."""
    dice = [random.Random(f"{seed}/sql/{n}") for n in range(number)]
    return [_draw(rng, f"sql-{seed}-{n}", _window(rng)) for n, rng in enumerate(dice)]


def random_sessions(number, seed=SEED):
    """Draw scenarios with sessions of SQL."""
    dice = [random.Random(f"{seed}/sessions/{n}") for n in range(number)]
    gaps_ms = [rng.choice([1, 2, 7, 10]) * rng.choice([1, 1000]) for rng in dice]
    return [
        _draw(rng, f"session-{seed}-{n}", Window("session", gap_ms=gap_ms))
        for n, (rng, gap_ms) in enumerate(zip(dice, gaps_ms, strict=True))
    ]


def _draw(dice, name, window):
    scenario = random_scenario(dice, name)
    # What SQL has not is left out before partitions and happenings come in.
    scenario = replace(scenario, strategy="bounded", lateness_ms=0, late_to="drop", window=window)
    kind = dice.choice(["declared", "one input", "inputs", "happenings"])
    if kind in ("inputs", "happenings"):
        scenario = with_inputs(dice, scenario)
    if kind == "happenings":
        scenario = with_happenings(dice, scenario)
    if kind == "declared":
        scenario = replace(scenario, strategy_at="after", emission="event")
    return replace(scenario, api="sql")


def _window(dice):
    unit_ms = 7 * dice.choice([1, 100, 1000])  # SQL's intervals have thousandths of a second, too
    if dice.random() < 0.5:
        size_ms = dice.randint(1, 10) * unit_ms
        return Window("tumbling", size_ms, offset_ms=dice.choice([0, 0, dice.randrange(-size_ms + 1, size_ms)]))
    slide_ms = dice.randint(1, 6) * unit_ms
    if dice.random() < 0.3:  # a slide that does not divide the size
        return Window("sliding", slide_ms + dice.randint(1, 4) * unit_ms // 2, slide_ms)
    return Window(
        "sliding", slide_ms * dice.randint(1, 4), slide_ms, dice.choice([0, dice.randrange(-slide_ms + 1, slide_ms)])
    )


def random_local(number, seed=SEED):
    """Draw scenarios in local time around the night in which the clocks go back."""
    return [_draw_local(random.Random(f"{seed}/local/{n}"), f"local-{seed}-{n}") for n in range(number)]


def _draw_local(dice, name):
    at_ms = time_ms("2026-10-24T17:00Z")
    events = []
    for number in range(dice.randint(5, 25)):
        at_ms += dice.choice([0, 600_000, 1_800_000, HOUR_MS, 2 * HOUR_MS])
        behind_ms = dice.choice([-1, 0, 0, 1, 600_000, 1_800_000, HOUR_MS, 3 * HOUR_MS])
        events.append(Event(f"e{number}", dice.choice("ab"), dice.randint(-5, 50), at_ms - behind_ms, at_ms))
    size_ms, zone = dice.choice([1_800_000, HOUR_MS, 2 * HOUR_MS, 6 * HOUR_MS, 24 * HOUR_MS]), dice.choice(ZONES)
    sliding = dice.random() < 0.4
    window = Window(
        "sliding" if sliding else "tumbling", size_ms, size_ms // dice.choice([1, 2, 3]) * sliding, zone=zone
    )
    return Scenario(
        name=name,
        events=tuple(events),
        bound_ms=dice.choice([0, 600_000, HOUR_MS]),
        strategy_at=dice.choice(["source", "after"]),
        api=dice.choice(["sql", "datastream"]),
        window=window,
        aggregate=dice.choice(["sum", "average", "max"]),
    )


def differing(flink, scenarios):
    """Run scenarios on both; give the comparisons that differ, and how much was compared."""
    comparisons = [compare(s, trace) for s, trace in zip(scenarios, flink.run_many(scenarios), strict=True)]
    seen = {what: sum(c.counts[what] for c in comparisons) for what in comparisons[0].counts}
    return [repr(comparison) for comparison in comparisons if not comparison.same], seen


@pytest.mark.flink
def test_sql_of_the_catalogue_is_the_same_on_both(flink):
    scenarios = [*map(wmviz.scenario, CATALOGUE), daylight_saving()]
    behind = wmviz.scenario("sql-pushed-down").replace(strategy_at="after")
    found, seen = differing(flink, [*scenarios, behind, wmviz.scenario("leaderboard")])
    assert found == []
    assert seen["dropped events"] == 4  # one, none, one, and two that only the source would have waited for


@pytest.mark.flink
def test_random_sql_is_the_same_on_both(flink):
    scenarios = random_sql(NUMBER)
    assert all(map(limits.replayable, scenarios))
    found, seen = differing(flink, scenarios)
    assert found == [], f"seed {SEED}"
    assert min(seen["firings"], seen["seen watermarks"], seen["dropped events"]) > 20, f"too little: {seen}"


@pytest.mark.flink
@pytest.mark.parametrize("form", ["SESSION(TABLE", "SESSION_START("])
def test_random_sessions_of_sql_are_the_same_on_both(flink, monkeypatch, form):
    """Both forms: the table function, and the older GROUP BY SESSION."""
    monkeypatch.setattr(sql, "uses_table_function", lambda _: form == "SESSION(TABLE")
    scenarios = random_sessions(NUMBER)
    assert form in code(scenarios[0])
    found, seen = differing(flink, scenarios)
    assert found == [], f"seed {SEED}"
    assert min(seen["firings"], seen["seen watermarks"], seen["dropped events"]) > 20, f"too little: {seen}"


@pytest.mark.flink
def test_random_windows_in_local_time_are_the_same_on_both(flink):
    found, seen = differing(flink, random_local(NUMBER))
    assert found == [], f"seed {SEED}"
    assert min(seen["firings"], seen["seen watermarks"], seen["dropped events"]) > 20, f"too little: {seen}"


@pytest.mark.flink
@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("sql-watermark", "rowtime - INTERVAL '2' MINUTE\")", "rowtime - INTERVAL '120.001' SECOND(3, 3)\")"),
        ("sql-pushed-down", "True,  # the strategy is on the source", "False,  # the strategy is on the source"),
        ("daylight-saving", '"Europe/Berlin")', '"GMT+02:00")'),
        ("daylight-saving", '"7200000 ms"', '"7199999 ms"'),
    ],
)
def test_a_job_that_is_a_little_different_is_caught(flink, monkeypatch, name, right, wrong):
    """The comparison is worth something only if it fails where the job is not that of the scenario."""
    scenario = daylight_saving() if name == "daylight-saving" else wmviz.scenario(name)
    if "7200000" in right:  # r12's run of Sunday meets the last watermark at which Sunday is still there
        scenario = at_the_last_moment(scenario)
    text = code(scenario, name="mutant")
    assert text.count(right) == 1
    mutant = program.Program(text.replace(right, wrong), text.name, text.data)
    assert compare(scenario, flink.run(scenario)).same
    monkeypatch.setattr(program, "code", lambda scenario, name: mutant_named(mutant, name))
    assert not compare(scenario, flink.run(scenario)).same


def mutant_named(mutant, name):
    """Give it the name by which the job's counter is read."""
    return program.Program(mutant.replace("NAME = 'mutant'", f"NAME = {name!r}"), mutant.name, mutant.data)


def at_the_last_moment(scenario):
    """Move r9's run of Monday so that the watermark is one ms before the end of Sunday's lateness."""
    moved_ms = time_ms("2026-10-26T00:00+01:00") + scenario.lateness_ms + scenario.bound_ms - 1
    events = [
        replace(event, event_time_ms=moved_ms) if event.id.startswith("r9@2026-10-26 00:10") else event
        for event in scenario.events
    ]
    assert events != list(scenario.events)
    return scenario.replace(events=events)


@pytest.mark.flink
def test_an_event_meets_null_before_the_first_watermark(flink):
    seen = flink.run(wmviz.scenario("sql-watermark")).outcomes().seen_watermarks
    assert list(seen.values()) == [MIN_MS, time_ms("6:28"), time_ms("6:38"), time_ms("6:59:59.999")]


@pytest.mark.flink
@pytest.mark.parametrize("scenario", [*map(wmviz.scenario, CATALOGUE), daylight_saving()], ids=lambda s: s.name)
def test_a_program_alone_reports_the_same_as_run(scenario, flink, tmp_path):
    report = report_of(run_alone(code(scenario), tmp_path))
    assert report.trace(scenario).outcomes() == flink.run(scenario).outcomes()
    assert report.firings


@pytest.mark.parametrize("form", ["replay", "work"])
def test_a_program_shows_its_sql(form):
    text = code(wmviz.scenario("sql-watermark").replace(idle_timeout="1 min"), form)
    assert "FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(rowtime), INTERVAL '1' HOUR))" in text
    assert "rowtime - INTERVAL '2' MINUTE" in text
    assert ('"table.exec.source.idle-timeout", "60000 ms"' in text) == (form == "work")
    assert "CURRENT_WATERMARK(rowtime)" in text or form == "work"


@pytest.mark.parametrize(
    ("length_ms", "sql"),
    [
        (0, "INTERVAL '0' SECOND"),
        (86_400_000, "INTERVAL '1' DAY"),
        (90 * 60_000, "INTERVAL '90' MINUTE"),
        (-(30 * 60_000), "INTERVAL '-30' MINUTE"),
        (121_000, "INTERVAL '121' SECOND(3)"),
        (61_007, "INTERVAL '61.007' SECOND(2, 3)"),
    ],
)
def test_lengths_are_written_as_intervals(length_ms, sql):
    text = code(Scenario.of(api="sql", strategy_at="after", window="1 h", bound=abs(length_ms), events=[["a", 1, 0]]))
    assert f"rowtime - {sql.replace('-', '')}" in re.sub("  +", " ", text)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"late_to": "side"}, 'which Flink has in SQL only, and has what SQL has not: a side output .* late_to "drop"'),
        ({"window": {"trigger": "count:2"}}, 'the trigger count:2. For a run on Flink write trigger "default"'),
        ({"window": {"offset": "1 h"}}, "an offset of such windows. For a run on Flink leave it out"),
        ({"events": [["a", 1, "9999-12-31T20:00Z"]]}, "a@.* outside the years 1 to 9999"),
    ],
)
def test_what_sql_has_not_is_refused_in_a_sentence(changes, sentence):
    scenario = daylight_saving().replace(**changes)
    for ask in (wmviz.flink.run, code):
        with pytest.raises(FlinkError, match=sentence):
            ask(scenario)
