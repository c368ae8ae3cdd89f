"""What the stage shows equals the trace, at every step."""

from bisect import bisect_right
from collections import Counter

import pytest

import wmviz
from wmviz.event import write_events
from wmviz.scenario import Scenario
from wmviz.stage.clocks import ENDED
from wmviz.stage.marks import Look, State
from wmviz.stage.picture import needs_dates, picture_of, window_text
from wmviz.stage.subject import MOST_EVENTS, drawable, show
from wmviz.stage.telling import told
from wmviz.times import time_text
from wmviz.trace import Kind, Status, Trace, TraceError
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

_TWO = [["ab"[n % 2], n, f"6:00:{n:02}", f"6:00:{n:02}", n % 2] for n in range(30)]
_JOB = Scenario.of(events=_TWO, window="10 s", subtasks=2, sink="append", checkpoints="5 s", end_of_input="6:01")
_UNEVEN = [["a", 1, f"6:{n:02}", f"6:00:{n:02}", 0] for n in range(20)] + [
    ["b", 1, f"6:00:{n:02}", f"6:00:{n:02}", 1] for n in range(20)
]
RUNNING = {
    "crash": _JOB.replace(happenings=[{"what": "crash", "at": "6:00:14", "down": "2 s"}]),
    "transactions": _JOB.replace(happenings={"what": "crash", "at": "6:00:24"}, sink="transactional", lateness="5 s"),
    "no checkpoint": _JOB.replace(happenings={"what": "crash", "at": "6:00:14"}, checkpoints=None, sink="upsert"),
    "lost": _JOB.replace(happenings={"what": "crash", "at": "6:00:14"}, replay="none", window="4 s"),
    "slow": _JOB.replace(work="1200 ms", channel_capacity=2),
    "slow, unaligned": _JOB.replace(work="1200 ms", checkpoints={"interval": "5 s", "mode": "unaligned"}),
    "slow, two tasks": _JOB.replace(work="1500 ms", channel_capacity=3, window_tasks=2),
    "stop": _JOB.replace(happenings={"what": "stop", "at": "6:00:14", "with": {"lateness": "1 min"}}),
    "silence": _JOB.replace(happenings={"what": "silence", "at": "6:00:05", "until": "6:00:20", "partition": 1}),
    "alignment": _JOB.replace(events=_UNEVEN, alignment={"drift": "4 min"}, window="5 min"),
}
SCENARIOS |= RUNNING


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
        assert looks[Look.LOST] == ledger.lost
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

    def label(window: AnyWindow) -> str:
        return window_text(window, zone, dated)

    for step in range(trace.steps):
        state = trace.state(step)
        written: dict[tuple[str, str], list[int]] = {}
        for key, window, value in state.sink:
            written.setdefault((key, label(window)), []).append(value)
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
            status = clock["status"][2 * stands + 1] if stands >= 0 else 0
            assert (Status.ACTIVE if status == ENDED else status) == state.statuses[clock["name"]]


def test_open_windows_of_the_pipeline_equal_the_state_at_every_step(trace: Trace) -> None:
    counts = [
        count
        for task in picture_of(trace)["pipeline"]["tasks"]
        for count in task["counts"]
        if count[0] == "open windows"
    ]
    for step in range(trace.steps):
        places = [(numbers[1::2], standing(numbers[::2], step)) for _, *numbers in counts]
        shown = sum(values[stands] for values, stands in places if stands >= 0)
        assert shown == len(trace.state(step).windows)


def merged(trace: Trace, window: AnyWindow, step: int) -> bool:
    """Say whether all windows that this stretch of time has lost, since it last was empty, are part of others now."""
    alive, closed = set(), False
    for row, kind in enumerate(trace.kind):
        if trace.step[row] > step:
            break
        index = trace.value[row] if kind == Kind.MERGED else trace.subject[row]
        if kind not in (Kind.ADDED, Kind.RELOADED, Kind.MERGED, Kind.CLEANED) or trace.windows[index].window != window:
            continue
        if kind in (Kind.ADDED, Kind.RELOADED):
            closed = closed and bool(alive)
            alive.add(index)
        else:
            closed = closed or kind == Kind.CLEANED
            alive.discard(index)
    return not closed


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
                gone = any(kind == Kind.GONE for kind in trace.kind)
                closed = State.MERGED if merged(trace, window, step) else State.CLOSED
                assert shown in ((closed,) if ever[index] and not gone else (State.NONE, closed))


def test_lines_and_flags_know_the_rows_that_they_stand_for(trace: Trace) -> None:
    picture = picture_of(trace)
    for index, clock in enumerate(picture["watermarks"]):
        steps, times = clock["values"][::2], clock["values"][1::2]
        assert len(clock["rows"]) in (0, len(steps))
        for row, step, time in zip(clock["rows"], steps, times, strict=False):
            assert (trace.kind[row], trace.subject[row], trace.step[row]) == (Kind.WATERMARK, index, step)
            assert picture["times"][time][1] == time_text(trace.value[row], trace.scenario.zone)
    for band in picture["bands"]:
        for step, *_, row in band["fires"]:
            assert (trace.kind[row], trace.step[row]) == (Kind.FIRED, step)


def test_late_but_counted_is_what_fires_again() -> None:
    trace = wmviz.simulate(LEADERBOARD)
    picture = picture_of(trace)
    late = {event[0] for event, looks in zip(picture["events"], picture["event_looks"], strict=True) if looks[-1] == 2}
    assert late == {"r4471@6:56", "r12@6:58"}
    assert [words for _, late, words, _ in picture["bands"][0]["fires"] if late] == ["fires again", "fires again"]


def test_moments_begin_where_nothing_is_the_cause() -> None:
    trace = wmviz.simulate(LEADERBOARD)
    picture = picture_of(trace)
    assert len(picture["moments"]) == len(LEADERBOARD.events)
    interval = wmviz.simulate(SCENARIOS["interval"])
    arrivals_and_ticks = list(SCENARIOS["interval"].schedule())
    assert len(LEADERBOARD.events) < len(picture_of(interval)["moments"]) <= len(arrivals_and_ticks)


def test_every_row_has_its_sentence_and_every_moment_tells_of_its_rows(trace: Trace) -> None:
    picture = show(trace, trace.scenario)
    sentences = told(trace, picture)
    moments, texts = sentences["moments"], sentences["texts"]
    assert texts == [trace.sentence(row) for row in range(len(trace))]
    assert len(moments) == len(picture["moments"])
    begin = 0
    for (head, left_out, *told_rows), last in zip(moments, picture["moments"], strict=True):
        first = picture["first_rows"][begin]
        rows = [first + row for row in told_rows]
        steps = [trace.step[row] for row in rows]
        assert all(begin <= step <= last for step in steps)
        assert rows == sorted(rows)
        assert first + head in rows or not rows
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


@pytest.mark.parametrize("name", RUNNING)
def test_the_job_equals_the_state_at_every_step(name: str) -> None:
    trace = wmviz.simulate(RUNNING[name])
    picture = picture_of(trace)
    pipeline = picture["pipeline"]

    def at(changes: list, step: int, before: object) -> object:
        stands = standing([change[0] for change in changes], step)
        return changes[stands][1:] if stands >= 0 else before

    def element(row: int) -> str:
        kind, value = trace.kind[row], trace.value[row]
        if kind == Kind.ARRIVED:
            return f"e{trace.subject[row]}"
        words = time_text(value, trace.scenario.zone)
        return f"w{words}" if kind == Kind.WATERMARK else f"b{value}@{row}" if kind == Kind.SNAPSHOT else "s"

    sources = [place for place in trace.places if place.startswith("source")]
    for step in range(trace.steps):
        state = trace.state(step)
        for task, name in zip(pipeline["tasks"], picture["watermarks"][len(sources) :], strict=False):
            for source, channel in zip(sources, task["channels"], strict=True):
                real = state.channels.get(f"{source} → {name['name']}")
                count, *elements = at(channel.get("queue", []), step, [0])
                assert count == (len(real.waiting) if real else 0)
                assert elements == [element(row) for row in (real.waiting if real else ())][:12]
                assert at(channel.get("blocked", []), step, [0]) == [real.blocked_by if real else 0]
        down, _ = at(pipeline["job"], step, [0, ""])
        assert bool(down) != state.is_running
        paused = {trace.clocks[clock] for clock, *changes in pipeline["paused"] if at(changes, step, [0]) == [1]}
        assert paused == set(state.paused)
        pressed = [
            trace.places[index]
            for index, source in enumerate(pipeline["sources"])
            if any("backpressure" in line for line in at(source["notes"], step, []))
        ]
        assert set(pressed) == set(state.under_pressure)
        lines = at(pipeline["checkpoint"], step, [])
        for pending in state.pending:
            words = "Savepoint" if pending.savepoint else "Checkpoint"
            snapshots = f"{len(pending.snapshots)} of {len(trace.places) - 1} snapshots"
            assert f"{words} {pending.id} is under way: {snapshots}" in lines
        assert sum("under way" in line for line in lines) == len(state.pending)
        for transaction in state.transactions:
            phase = transaction.phase.name.lower()
            line = f"transaction {transaction.number} {phase}: {transaction.results}"
            assert line in at(pipeline["transactions"], step, [])


@pytest.mark.parametrize("name", ["slow", "crash", "alignment"])
def test_what_is_on_its_way_comes_through(name: str) -> None:
    trace = wmviz.simulate(RUNNING[name])
    for task in picture_of(trace)["pipeline"]["tasks"]:
        for channel in task["channels"]:
            assert all(first < end for first, end, _ in channel["travels"])
            barriers = [element for _, _, element in channel["travels"] if element.startswith("b")]
            assert barriers == sorted(set(barriers), key=lambda barrier: int(barrier[1:].split("@")[0]))


def test_a_partition_that_has_ended_holds_nothing_back() -> None:
    finished = wmviz.scenario("finished-input").replace(subtasks=1)
    source, _, first, second = picture_of(wmviz.simulate(finished))["watermarks"]
    assert (first["status"], second["status"][-1]) == ([], ENDED)
    assert source["held"][-1][2] == "partition 0"


def test_a_session_that_has_become_part_of_another_is_called_merged():
    picture = picture_of(wmviz.simulate(wmviz.scenario("workout-sessions")))
    bands = {band["label"]: band["states"][-1][2] for band in picture["bands"]}
    assert bands == {
        "[6:00, 6:10)": "merged",
        "[6:00, 6:16)": "fired, then merged",
        "[6:00, 6:35)": "fired, provisional",
        "[6:03, 6:13)": "closed, final",
        "[6:14, 6:24)": "closed, final",
        "[6:25, 6:35)": "merged",
        "[6:40, 6:50)": "filling",
    }


def test_a_stretch_of_which_one_session_ends_and_another_merges_is_closed():
    rows = [["a", 1, "6:00"], ["b", 1, "6:00"], ["a", 1, "6:06"], ["a", 1, "6:40"]]
    job = wmviz.Scenario.of(events=rows, window={"type": "session", "gap": "10 min"}, bound="1 min")
    bands = {band["label"]: band["states"][-1][2] for band in picture_of(wmviz.simulate(job))["bands"]}
    assert bands["[6:00, 6:10)"] == "closed, final"
