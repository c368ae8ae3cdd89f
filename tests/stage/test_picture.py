"""What the stage shows equals the trace, at every step."""

from bisect import bisect_right
from collections import Counter

import pytest

import wmviz
from wmviz.event import write_events
from wmviz.scenario import Scenario
from wmviz.stage.picture import Look, State, needs_dates, picture_of, window_text
from wmviz.stage.subject import MOST_EVENTS, drawable, show, told
from wmviz.times import time_text
from wmviz.trace import Kind, Trace, TraceError
from wmviz.window import AnyWindow, TimeWindow

LEADERBOARD = wmviz.scenario("leaderboard")
SCENARIOS = {
    **{name: wmviz.scenario(name) for name in wmviz.scenarios() if name != "busy-saturday"},
    "busy-saturday": wmviz.scenario("busy-saturday").sample(keys=15),
    "sliding": LEADERBOARD.replace(window={"type": "sliding", "size": "30 min", "slide": "10 min"}, late_to="drop"),
    "gaps": LEADERBOARD.replace(window={"type": "sliding", "size": "10 min", "slide": "20 min"}, late_to="drop"),
    "count": LEADERBOARD.replace(window={"type": "global", "trigger": "count:2"}, sink="append"),
    "purging": LEADERBOARD.replace(window={"type": "tumbling", "size": "1 h", "trigger": "purging_event_time"}),
    "processing": LEADERBOARD.replace(window={"type": "tumbling", "size": "30 min", "time": "processing"}),
    "no watermarks": LEADERBOARD.replace(strategy="none"),
    "interval": LEADERBOARD.replace(emission="interval", interval="1 min", sink="append"),
    "ended": LEADERBOARD.replace(end_of_input="8:30", lateness="3 h"),
    "never": LEADERBOARD.replace(window={"type": "tumbling", "size": "1 h", "trigger": "never"}),
    "empty": Scenario.of(events=[]),
    "two tasks": LEADERBOARD.replace(
        events=[
            {**event, "partition": index % 3}
            for index, event in enumerate(write_events(LEADERBOARD.events, LEADERBOARD.zone))
        ],
        subtasks=2,
        window_tasks=2,
        late_to="drop",
    ),
}


@pytest.fixture(params=SCENARIOS)
def trace(request: pytest.FixtureRequest) -> Trace:
    return wmviz.simulate(SCENARIOS[request.param])


def standing(steps: list[int], step: int) -> int:
    return bisect_right(steps, step) - 1


def test_marbles_equal_the_ledger_at_every_step(trace: Trace) -> None:
    picture = picture_of(trace)
    for step in range(trace.steps):
        looks = Counter()
        for changes in picture["event_looks"]:
            stands = standing(changes[::2], step)
            if stands >= 0:
                looks[changes[2 * stands + 1]] += 1
        ledger = trace.ledger(step)
        assert looks[Look.ON_TIME] + looks[Look.LATE_COUNTED] == ledger.counted
        assert looks[Look.IN_FLIGHT] == ledger.in_flight
        assert looks[Look.SIDE_OUTPUT] == ledger.side_output
        assert looks[Look.DROPPED] == ledger.dropped
        assert looks[Look.NO_WINDOW] == ledger.in_no_window
        assert sum(looks.values()) == ledger.arrived
        pairs = picture["pairs"]
        stands = standing([pair[0] for pair in pairs], step)
        assert (pairs[stands][1:] == [ledger.accepted, ledger.missed]) if stands >= 0 else (ledger.missed == 0)
        stands = standing([seen[0] for seen in picture["seen"]], step)
        once, more = picture["seen"][stands][1:] if stands >= 0 else (0, 0)
        seen = dict(ledger.seen)
        unseen = seen.pop(0, 0)
        assert (once, more) == (seen.pop(1, 0), sum(seen.values()))
        assert unseen + once + more == ledger.arrived


def test_results_and_watermark_equal_the_state_at_every_step(trace: Trace) -> None:
    picture = picture_of(trace)
    zone = trace.scenario.zone
    dated = needs_dates(trace.scenario, (window for _, window in trace.windows))
    written: dict[tuple[str, str], list[int]] = {}
    row = 0

    def label(window: AnyWindow) -> str:
        return window_text(window, zone, dated)

    for step in range(trace.steps):
        state = trace.state(step)
        while row < len(trace) and trace.step[row] <= step:
            if trace.kind[row] == Kind.WRITTEN:
                key, window = trace.windows[trace.subject[row]]
                values = written.setdefault((key, label(window)), [])
                if trace.scenario.sink == "upsert":
                    values.clear()
                values.append(trace.value[row])
            row += 1
        shown, sink = {}, {}
        for result in picture["results"]:
            stands = standing([change[0] for change in result["changes"]], step)
            if stands >= 0:
                name = (result["key"], picture["bands"][result["band"]]["label"])
                _, running, in_sink, firings, *_ = result["changes"][stands]
                if running:
                    shown[name] = (running, firings)
                if in_sink:
                    sink[name] = in_sink
        alive = {(w.key, label(w.window)): (f"{w.value:,}", w.firings) for w in state.windows if w.event_ids}
        assert shown == alive
        assert sink == {
            name: ("… " if len(values) > 4 else "") + ", ".join(f"{value:,}" for value in values[-4:])
            for name, values in written.items()
        }
        for clock in picture["watermarks"]:
            stands = standing(clock["values"][::2], step)
            text = picture["times"][clock["values"][2 * stands + 1]][1] if stands >= 0 else "MIN"
            assert text == time_text(state.watermarks[clock["name"]], zone)
            stands = standing(clock["status"][::2], step)
            assert (clock["status"][2 * stands + 1] if stands >= 0 else 0) == state.statuses[clock["name"]]


def test_bands_follow_their_windows(trace: Trace) -> None:
    picture = picture_of(trace)
    by_event_time = trace.scenario.window.time == "event"
    windows = sorted({window for _, window in trace.windows}, key=lambda w: (w.start_ms or 0, w.end_ms or 0))
    ever = [False] * len(windows)
    for step in range(trace.steps):
        state = trace.state(step)
        alive = {window.window for window in state.windows}
        clocks = [ms for name, ms in state.watermarks.items() if name.startswith("window")]
        clock = min(clocks) if by_event_time else state.at_ms
        for index, window in enumerate(windows):
            ever[index] |= window in alive
            states = picture["bands"][index]["states"]
            stands = standing([change[0] for change in states], step)
            shown = State.NONE if stands < 0 else states[stands][1]
            if window in alive:
                assert shown == (State.FIRED if clock >= window.max_timestamp_ms else State.FILLING)
            else:
                assert shown in ((State.CLOSED,) if ever[index] else (State.NONE, State.CLOSED))


def test_late_but_counted_is_what_fires_again() -> None:
    trace = wmviz.simulate(LEADERBOARD)
    picture = picture_of(trace)
    late = {event[0] for event, looks in zip(picture["events"], picture["event_looks"], strict=True) if looks[-1] == 2}
    assert late == {"r4471@6:56", "r12@6:58"}
    assert [words for _, late, words in picture["bands"][0]["fires"] if late] == ["fires again", "fires again"]


def test_moments_begin_where_nothing_is_the_cause() -> None:
    trace = wmviz.simulate(LEADERBOARD)
    picture = picture_of(trace)
    assert len(picture["moments"]) == len(LEADERBOARD.events)
    interval = wmviz.simulate(SCENARIOS["interval"])
    arrivals_and_ticks = list(SCENARIOS["interval"].schedule())
    assert len(LEADERBOARD.events) < len(picture_of(interval)["moments"]) <= len(arrivals_and_ticks)


def test_every_row_has_its_sentence_and_every_moment_tells_of_its_rows(trace: Trace) -> None:
    picture = show(trace, trace.scenario)
    texts = told(trace, picture)["texts"]
    assert texts == [trace.sentence(row) for row in range(len(trace))]
    assert len(picture["told"]) == len(picture["moments"])
    begin = 0
    for (head, left_out, *rows), last in zip(picture["told"], picture["moments"], strict=True):
        steps = [trace.step[row] for row in rows]
        assert all(begin <= step <= last for step in steps)
        assert rows == sorted(rows)
        assert head in rows or not rows
        assert left_out >= 0
        begin = last + 1


def test_the_winner_is_marked() -> None:
    picture = picture_of(wmviz.simulate(LEADERBOARD))
    six = {row["key"]: row["changes"][-1] for row in picture["results"] if picture["bands"][row["band"]]["from"] < 0}
    assert [key for key, change in six.items() if change[6]] == ["r4471"]
    assert six["r4471"][2] == "3,000"


def test_a_large_scenario_is_sampled_and_says_so() -> None:
    busy = wmviz.scenario("busy-saturday")
    sample, note = drawable(busy)
    assert len(sample.events) <= MOST_EVENTS < len(busy.events)
    assert note.startswith("A sample: ")
    assert f"{len(sample.events):,} of {len(busy.events):,} events" in note
    assert drawable(LEADERBOARD) == (LEADERBOARD, "")


def test_a_trace_of_results_only_is_refused_in_a_sentence() -> None:
    with pytest.raises(TraceError, match="the stage needs every row"):
        show(wmviz.simulate(LEADERBOARD, trace="results"), LEADERBOARD)


def test_windows_are_dated_where_they_lie_on_several_days() -> None:
    days = [["a", 1, f"2026-10-{day}T{hour}:00+00:00"] for day in (17, 18) for hour in (10, 22)]
    scenario = Scenario.of(events=days, window="12 h", zone="UTC")
    labels = [band["label"] for band in picture_of(wmviz.simulate(scenario))["bands"]]
    assert labels == [
        "[10-17 00:00, 12:00)",
        "[10-17 12:00, 10-18 00:00)",
        "[10-18 00:00, 12:00)",
        "[10-18 12:00, 10-19 00:00)",
    ]
    assert window_text(TimeWindow(6 * 3_600_000, 7 * 3_600_000), None) == "[6:00, 7:00)"


def test_a_lead_needs_others_to_be_ahead_of() -> None:
    events = [["a", 5, "6:00"], ["b", 5, "6:01"], ["c", 3, "6:02"], ["d", 1, "7:30"], ["c", 4, "6:03", "7:31"]]
    scenario = Scenario.of(events=events, window="1 h", lateness="1 h")
    picture = picture_of(wmviz.simulate(scenario))
    leads = {row["key"]: [change[6] for change in row["changes"]] for row in picture["results"] if row["band"] == 0}
    assert leads == {"a": [0, 1, 0], "b": [0, 1, 0], "c": [0, 0, 1]}
