"""The advice on the bound: every number against a run of the engine, and what is said when the data are wrong."""

import random
import re
import time
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wmviz
from wmviz import charts, lag
from wmviz.lag import LagError
from wmviz.lag.bounds import ROUND_MS, round_down, round_up
from wmviz.lag.strategy import pyflink, sql
from wmviz.scenario import Scenario
from wmviz.times import TimeError, time_ms, time_text
from wmviz.trace import Kind, Status

WINDOW_MS = 10_000


def scenario_of(rows, **changes):
    """Make a job from (key, event time, arrival time, partition)."""
    events = [[key, 1, happened, arrived, partition] for key, happened, arrived, partition in rows]
    fields = {"bound": 0, "lateness": 0, "late_to": "side", "window": WINDOW_MS, "events": events}
    return Scenario.of(**{**fields, **changes})


def random_rows(seed, events=120, keys=3, partitions=1, spread=30_000):
    rng = random.Random(seed)
    rows, at_ms = [], 100_000
    for _ in range(events):
        at_ms += rng.choice((0, 1, 200, 900, 4_000))
        late_ms = rng.choice((0, 50, 700, rng.randrange(spread)))
        rows.append((f"k{rng.randrange(keys)}", at_ms - late_ms, at_ms, rng.randrange(partitions)))
    return rows


def brute(scenario):
    """Run a scenario and count: on time, late but counted, too late."""
    trace = wmviz.simulate(scenario)
    window_ms, offset_ms = scenario.window.size_ms, scenario.window.offset_ms
    counts = Counter()
    lost = trace.outcomes().late
    for event in scenario.events:
        end_ms = event.event_time_ms - (event.event_time_ms - offset_ms) % window_ms + window_ms
        if event.id in lost:
            counts["lost"] += 1
        else:
            counts["late" if trace.seen_watermarks[event.id] >= end_ms - 1 else "on_time"] += 1
    return trace, (counts["on_time"], counts["late"], counts["lost"])


def peak_state(trace):
    """Give the most windows that have state after an event."""
    steps = [row.step for row in trace if row.kind is Kind.ADDED]
    return max((len(trace.state(step).windows) for step in steps), default=0)


def first_results(trace):
    """Give the time of each window's first result, whatever the key."""
    firsts = {}
    for firing in trace.all_firings:
        firsts.setdefault(firing.window.end_ms, firing.at_ms)
    return firsts


def check(rows, bounds_ms, latenesses_ms, **changes):
    scenario = scenario_of(rows, **changes)
    offset_ms = scenario.window.offset_ms
    advice = lag.choose(scenario, window=WINDOW_MS, offset=offset_ms, ahead="1 d")
    for bound_ms in bounds_ms:
        for lateness_ms in latenesses_ms:
            trace, counts = brute(scenario.replace(bound=bound_ms, lateness=lateness_ms))
            point = advice.at(bound_ms, lateness_ms)
            assert (point.on_time, point.late, point.lost) == counts
            waits_ms = [at_ms - end_ms for end_ms, at_ms in first_results(trace).items()]
            if waits_ms:
                assert point.mean_wait_ms == pytest.approx(sum(waits_ms) / len(waits_ms))
            else:
                assert point.mean_wait_ms is None
            assert point.state == peak_state(trace)


# ------------------------------------------------------------------------------------------ against brute force


@pytest.mark.parametrize("seed", range(6))
def test_every_number_is_what_a_run_gives(seed):
    rows = random_rows(seed)
    check(rows, (0, 1, 999, 5_000, 9_999, 10_000, 28_000, 60_000), (0, 1, 7_000))


@pytest.mark.parametrize("seed", range(4))
def test_every_number_over_partitions_is_what_a_run_gives(seed):
    rows = random_rows(seed, partitions=3)
    check(rows, (0, 700, 5_000, 30_000), (0, 7_000), strategy_at="source")


def test_a_shifted_grid_is_counted_too():
    check(random_rows(3), (0, 2_500), (0, 4_000), window={"size": WINDOW_MS, "offset": 2_500})


@pytest.mark.parametrize("place", ["source", "after"])
@pytest.mark.parametrize(("partitions", "subtasks"), [(3, 2), (4, 2), (3, 3), (2, 3), (1, 2)])
def test_every_subtask_counts_as_in_a_run(place, partitions, subtasks):
    changes = {"strategy_at": place, "subtasks": subtasks, "partitions": partitions}
    check(random_rows(7, partitions=partitions), (0, 700, 5_000, 30_000), (0, 7_000), **changes)


def test_after_the_source_the_merged_stream_counts():
    rows = random_rows(5, partitions=3)
    scenario = scenario_of(rows, strategy_at="after")
    merged = lag.choose(scenario, window=WINDOW_MS)
    for bound_ms in (0, 3_000, 12_000):
        assert brute(scenario.replace(bound=bound_ms, lateness=5_000))[1] == merged.at(bound_ms, 5_000)[3:6]
    split = lag.choose(scenario, window=WINDOW_MS, strategy_at="source")
    assert [split.at(b, 0).on_time > merged.at(b, 0).on_time for b in (0, 3_000)] == [True, True]


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 40), st.integers(0, 60), st.integers(0, 1)).map(lambda t: ("k", t[0], t[1], t[2])),
        min_size=1,
        max_size=25,
    ),
    st.integers(0, 30),
    st.integers(0, 15),
)
def test_small_streams_with_ties_are_counted_as_a_run_counts_them(rows, bound_ms, lateness_ms):
    scenario = scenario_of(rows, window=10, strategy_at="source")
    point = lag.choose(scenario, window=10, ahead="1 d").at(bound_ms, lateness_ms)
    trace, counts = brute(scenario.replace(bound=bound_ms, lateness=lateness_ms))
    assert point[3:6] == counts
    assert point.state == peak_state(trace)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 40)), min_size=1, max_size=20),
    st.integers(0, 12),
    st.sampled_from([0.5, 0.9, 0.95, 1.0]),
)
def test_the_least_bound_is_the_first_of_all_bounds_that_were_run(times, lateness_ms, share):
    scenario = scenario_of([("k", happened, arrived, 0) for happened, arrived in times], window=10)
    advice = lag.choose(scenario, ahead="1 d", goal_on_time=share, lateness=lateness_ms)
    counts = [brute(scenario.replace(bound=bound_ms, lateness=lateness_ms))[1] for bound_ms in range(32)]
    assert [advice.at(bound_ms)[3:6] for bound_ms in range(32)] == counts
    reached = [on_time >= share * len(times) - 1e-9 for on_time, _, _ in counts]
    assert advice.judged.least(share) == reached.index(True)
    assert reached[min(advice.bound_ms, 31)]


def test_the_largest_bound_that_keeps_the_wait_is_the_largest():
    advice = lag.choose(scenario_of(random_rows(1)), window=WINDOW_MS)
    longest_ms = advice.judged.longest(9_000, 0)
    assert advice.at(longest_ms, 0).wait_ms <= 9_000 < advice.at(longest_ms + 1, 0).wait_ms


@pytest.mark.parametrize("share", [0.5, 0.9, 0.97, 0.995, 1.0])
def test_the_least_bound_reaches_the_share_and_one_ms_less_does_not(share):
    advice = lag.choose(scenario_of(random_rows(2, events=400)), window=WINDOW_MS)
    least_ms = advice.judged.least(share)
    assert advice.at(least_ms).on_time >= share * 400
    assert least_ms == 0 or advice.at(least_ms - 1).on_time < share * 400


def test_the_minimum_over_partitions_is_the_minimum():
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(
        {"event_time": rng.integers(0, 10**6, 3_000), "arrival_time": np.arange(3_000), "p": rng.integers(0, 7, 3_000)}
    )
    measured = lag.choose(frame, partition="p", ahead="1 d").measured
    newest = {}
    for place, (event_ms, number) in enumerate(zip(measured.event_ms, measured.partition, strict=True)):
        newest[number] = max(event_ms, newest.get(number, event_ms))
        if len(newest) == 7:
            assert measured.clock_ms[place] == min(newest.values())
        else:
            assert measured.clock_ms[place] < 0


def test_a_million_rows_take_seconds():
    rng = np.random.default_rng(1)
    arrival = np.sort(rng.integers(0, 86_400_000, 1_000_000))
    frame = pd.DataFrame(
        {
            "event_time": arrival - rng.exponential(20_000, 1_000_000).astype("int64"),
            "arrival_time": arrival,
            "partition": rng.integers(0, 16, 1_000_000),
            "key": rng.integers(0, 20_000, 1_000_000),
        }
    )
    started = time.process_time()
    advice = lag.choose(frame, partition="partition", key="key")
    assert len(advice.curve) > 5
    assert "1,000,000 events" in advice.sentence
    assert time.process_time() - started < 120  # some 5 s; a busy machine does not count
    assert advice.by_key["p95_lag_ms"].is_monotonic_decreasing


# ------------------------------------------------------------------------------------------------ what is advised


def test_lag_to_the_clock_is_not_what_the_bound_covers():
    rows = random_rows(4)
    delayed = [(key, happened, arrived + 3_600_000, number) for key, happened, arrived, number in rows]
    plain, late = (lag.choose(scenario_of(r), window=WINDOW_MS) for r in (rows, delayed))
    assert late.quantiles["lag_ms"].min() >= 3_600_000 > plain.quantiles["lag_ms"].max()
    assert (late.bound_ms, late.point.on_time) == (plain.bound_ms, plain.point.on_time)
    pd.testing.assert_series_equal(late.quantiles["behind_ms"], plain.quantiles["behind_ms"])


def test_the_quantiles_are_values_that_the_share_does_not_exceed():
    frame = pd.DataFrame({"event_time": [0] * 100, "arrival_time": range(1, 101)})
    quantiles = lag.choose(frame).quantiles["lag_ms"]
    assert quantiles.to_dict() == {0.5: 50, 0.9: 90, 0.95: 95, 0.97: 97, 0.99: 99, 0.995: 100, 0.999: 100, 1.0: 100}


def test_the_advice_reaches_its_goal_with_a_round_bound():
    advice = lag.choose(scenario_of(random_rows(8, events=2_000)), window=WINDOW_MS, goal_on_time=0.9)
    assert advice.met
    assert advice.bound_ms in ROUND_MS
    assert advice.point.on_time >= 0.9 * 2_000 > advice.at(round_down(advice.bound_ms - 1)).on_time
    assert advice.point.on_time + advice.point.late >= 0.999 * 2_000
    assert f"{advice.point.on_time / 20:.2f} % of 2,000 events" in advice.sentence


def test_the_wait_goes_before_the_share_and_the_sentence_says_so():
    advice = lag.choose(scenario_of(random_rows(8, events=2_000)), window=WINDOW_MS, goal_on_time=1, max_wait="9 s")
    assert not advice.met
    assert 0 < advice.point.wait_ms <= 9_000
    assert advice.sentence.startswith("No bound reaches both goals: 100 % on time needs a bound of ")


def test_a_wait_that_allows_the_exact_bound_only_gets_the_exact_bound():
    advice = lag.choose(scenario_of(random_rows(8, events=2_000)), window=WINDOW_MS, goal_on_time=0.95)
    least_ms = advice.judged.least(0.95)
    wait_ms = advice.at(least_ms, 0).wait_ms
    tight = lag.choose(
        scenario_of(random_rows(8, events=2_000)), window=WINDOW_MS, goal_on_time=0.95, max_wait=wait_ms, lateness=0
    )
    assert tight.met
    assert least_ms <= tight.bound_ms <= round_up(least_ms)


def test_a_lateness_that_is_given_is_kept():
    advice = lag.choose(scenario_of(random_rows(8)), window=WINDOW_MS, lateness="7 s")
    assert advice.lateness_ms == 7_000
    assert advice.at(0).lateness_ms == 7_000
    assert advice.at("2 s", "1 s")[:2] == (2_000, 1_000)


def test_round_durations():
    assert [round_up(ms) for ms in (0, 1, 3, 61_000, 10**10)] == [0, 1, 5, 120_000, 10**10]
    assert [round_down(ms) for ms in (0, 1, 4, 119_999)] == [0, 1, 2, 60_000]


def test_the_curve_rises_and_is_a_whole():
    curve = lag.choose(scenario_of(random_rows(9, events=900)), window=WINDOW_MS).curve
    assert curve["bound_ms"].iloc[0] == 0
    assert curve["on_time"].is_monotonic_increasing
    assert curve["on_time"].iloc[-1] == 900
    assert (curve["on_time"] + curve["late"] + curve["lost"]).eq(900).all()
    assert curve["state"].is_monotonic_increasing


def test_other_eyes_see_half_the_bound_and_half_the_data():
    advice = lag.choose(scenario_of(random_rows(9, events=900)), window=WINDOW_MS, goal_on_time=0.95)
    frame = advice.sensitivity
    shares = frame.set_index("what")["on_time_share"]
    assert list(frame["least_ms"][:3]) == [advice.judged.least(0.95)] * 3
    assert shares["half"] <= shares["advised"] <= shares["twice"]
    assert list(frame["what"])[-2:] == ["first half of the data", "second half of the data"]


def test_halves_that_need_different_bounds_are_named():
    rows = steady(100) + [("k", 60_000 * m - 150_000 * (m % 2), 60_000 * m + 500, 0) for m in range(100, 200)]
    warnings = lag.choose(scenario_of(rows), window="1 min").warnings
    assert any(
        w.startswith("The bound that reaches the goal is not steady: it is 0 in the first half") for w in warnings
    )


def test_tables_by_hour_and_partition():
    rows = [("a", time_ms("6:10"), time_ms("6:11"), 0), ("a", time_ms("6:50"), time_ms("7:20"), 1)]
    rows += [("b", time_ms("7:30"), time_ms("7:30:10"), 0)]
    advice = lag.choose(scenario_of(rows, window="1 h"))
    assert [time_text(ms) for ms in advice.by_hour["hour_ms"]] == ["6:00", "7:00"]
    assert list(advice.by_hour["largest_lag_ms"]) == [60_000, 1_800_000]
    parts = advice.by_partition.set_index("partition")
    assert parts.loc["0", "longest_gap_ms"] == time_ms("1:19:10")
    assert list(advice.by_key["key"]) == ["a", "b"]


# ------------------------------------------------------------------------------------------ the job as it is


def test_the_windows_are_those_of_the_scenario():
    scenario = scenario_of(random_rows(3), window={"size": WINDOW_MS, "offset": 2_500})
    own, named = lag.choose(scenario), lag.choose(scenario, window=WINDOW_MS, offset=2_500)
    assert (own.judged.window_ms, own.judged.offset_ms) == (WINDOW_MS, 2_500)
    pd.testing.assert_frame_equal(own.curve, named.curve)
    assert lag.choose(scenario, window="1 h").judged.window_ms == 3_600_000
    assert lag.choose(lag.frame_of(scenario), "event_time_ms", "arrival_time_ms").judged.window_ms == 3_600_000


@pytest.mark.parametrize(
    ("window", "words"),
    [
        ({"type": "sliding", "size": "10 min", "slide": "5 min"}, 'sliding windows.*window="5 min", the slide'),
        ({"type": "session", "gap": "5 min"}, "session windows.*with a length"),
        ({"type": "tumbling", "size": "1 h", "time": "processing"}, "processing-time windows"),
        ({"type": "tumbling", "size": "1 d", "zone": "Europe/Berlin"}, "local-time windows"),
    ],
)
def test_windows_that_are_not_counted_are_refused_unless_a_length_is_given(window, words):
    changes = {"window": window}
    if window.get("zone"):
        changes.update(api="sql", late_to="drop")
    scenario = scenario_of(random_rows(3), **changes)
    with pytest.raises(LagError, match=words):
        lag.choose(scenario)
    assert lag.choose(scenario, window="1 min").judged.window_ms == 60_000


def test_the_first_of_its_sliding_windows_decides():
    rows = random_rows(6)
    sliding = {"type": "sliding", "size": WINDOW_MS, "slide": "5 s"}
    scenario = scenario_of(rows, window=sliding, bound=700)
    point = lag.choose(scenario, window="5 s", ahead="1 d").at(700, 0)
    trace = wmviz.simulate(scenario)
    firsts = [event.event_time_ms // 5_000 * 5_000 + 5_000 for event in scenario.events]
    met = [trace.seen_watermarks[event.id] for event in scenario.events]
    assert point.on_time == sum(seen < end_ms - 1 for seen, end_ms in zip(met, firsts, strict=True))


def test_a_level_of_the_index_is_a_column_too():
    frame = lag.frame_of(scenario_of(random_rows(8)))
    indexed = frame.set_index(["event_time_ms", "key"])
    names = {"event_time": "event_time_ms", "arrival_time": "arrival_time_ms", "key": "key"}
    assert repr(lag.choose(indexed, **names)) == repr(lag.choose(frame, **names))


def test_one_event_is_and_several_are_lost():
    second = 1_000
    times = [(0, 0), (2 * second, 2 * second), (9 * second, 9 * second), (second, 10 * second)]
    frame = pd.DataFrame(times, columns=["event_time_ms", "arrival_time_ms"])
    advice = lag.choose(
        frame, "event_time_ms", "arrival_time_ms", window=5 * second, goal_on_time=0.5, lateness=0, present=(0, 0)
    )
    assert "With what is advised, 1 misses it, and 1 is lost." in advice.present_sentence


def test_what_present_settings_lose_is_said_and_is_what_a_run_gives():
    scenario = scenario_of(random_rows(8, events=600), bound="1 s", lateness="2 s")
    _, (on_time, late, lost) = brute(scenario)
    advice = lag.choose(scenario, present=True)
    assert advice.present[3:6] == (on_time, late, lost)
    assert f"({late + lost:,}) of 600 events miss the first result of their window" in repr(advice)
    advised = brute(scenario.replace(bound=advice.bound_ms, lateness=advice.lateness_ms))[1]
    assert f"With what is advised, {sum(advised[1:]):,} miss it, and {advised[2]:,} are lost." in repr(advice)
    assert advice.present_sentence in advice._repr_html_()
    given = lag.choose(
        lag.frame_of(scenario), "event_time_ms", "arrival_time_ms", key="key", window=WINDOW_MS, present=("1 s", 2_000)
    )
    assert given.present == advice.present
    assert (lag.choose(scenario).present, lag.choose(scenario).present_sentence) == (None, "")


def test_own_events_are_measured_as_their_scenario_is():
    frame = pd.DataFrame(random_rows(8), columns=["key", "event_time_ms", "arrival_time_ms", "partition"])
    own = wmviz.own.read_frame(frame, window=WINDOW_MS, bound="1 s")
    pd.testing.assert_frame_equal(lag.choose(own).curve, lag.choose(own.scenario).curve)
    assert own.choose().present == own.choose(present=True).present
    table = lag.choose(frame, "event_time_ms", "arrival_time_ms", key="key", window=WINDOW_MS)
    pd.testing.assert_frame_equal(table.curve, lag.choose(own).curve)


def test_what_was_assumed_of_the_times_is_said():
    frame = pd.DataFrame(
        {"event_time": [1792216800, 1792216900], "arrival_time": ["2026-10-17 08:00", "2026-10-17 08:02"]}
    )
    advice = lag.choose(frame, zone="Europe/Berlin")
    assert list(advice.measured.lag_ms) == [0, 20_000]
    assert "Note: event_time: numbers, read as s by their size" in repr(advice)
    assert "read as Europe/Berlin" in advice._repr_html_()


def test_partitions_that_send_nothing_hold_every_window():
    scenario = scenario_of(random_rows(3), partitions=2)
    advice = lag.choose(scenario)
    assert "1 partition or subtask sends nothing: without an idle timeout no window ever fires" in repr(advice)
    assert advice.point.wait_ms is None
    assert not wmviz.simulate(scenario).all_firings
    assert "sends nothing" not in repr(lag.choose(scenario, idle_timeout="1 min"))
    assert lag.choose(scenario.replace(idle_timeout="1 min")).idle_timeout_ms == 60_000


@pytest.mark.parametrize("seed", range(3))
def test_silences_are_those_that_were_counted_one_by_one(seed):
    rows = sorted(random_rows(seed, partitions=3), key=lambda row: row[2])
    frame = lag.choose(scenario_of(rows)).silences
    assert frame["silences"].is_monotonic_decreasing
    assert len(frame) > 5
    for row in frame.itertuples():
        last, newest, found = dict.fromkeys(range(3), rows[0][2]), -1, []
        for _, happened, arrived, partition in rows:
            if arrived - last[partition] > row.timeout_ms:
                found.append((partition, max(newest - happened, 0), False))
            last[partition], newest = arrived, max(newest, happened)
        found += [(p, 0, True) for p, at_ms in last.items() if rows[-1][2] - at_ms > row.timeout_ms]
        assert row.silences == len(found)
        assert row.partitions == len({partition for partition, _, _ in found})
        assert row.to_the_end == sum(at_end for _, _, at_end in found)
        assert (row.behind, row.worst_behind_ms) == (
            sum(behind > 0 for _, behind, _ in found),
            max(behind for _, behind, _ in found),
        )


@pytest.mark.parametrize("timeout_ms", [5_000, 10_000, 15_000])
def test_silences_are_those_after_which_the_engine_marks_a_partition_idle(timeout_ms):
    scenario = scenario_of(random_rows(4, partitions=3), idle_timeout=timeout_ms, emission="interval", interval=1)
    trace = wmviz.simulate(scenario)
    last_ms = scenario.events[-1].arrival_time_ms  # after that the job runs on, and every partition is idle in the end
    rows = [row for row in trace if row.kind is Kind.STATUS and row.value == Status.IDLE and row.at_ms <= last_ms]
    idle = sum("partition" in str(row.subject) for row in rows)
    frame = lag.choose(scenario).silences.set_index("timeout_ms")
    assert idle == frame.loc[timeout_ms, "silences"]


# ------------------------------------------------------------------------------------------------- warnings


def steady(minutes=120, lag_ms=500, partition=0):
    return [("k", 60_000 * m, 60_000 * m + lag_ms, partition) for m in range(1, minutes)]


def test_one_event_from_the_future_is_named_and_left_out():
    rows = [*steady(), ("k", time_ms("9:00"), time_ms("0:30:20"), 0)]
    advice = lag.choose(scenario_of(rows), window="10 min")
    assert advice.bound_ms == 0
    (warning,) = [text for text in advice.warnings if "future" in text]
    assert "1 event is dated into the future, the worst (row 30) by 8 h 29 min" in warning
    late = brute(scenario_of(rows, window="10 min"))[1]
    assert f"{late[1] + late[2]} events are late" in warning
    assert late[2] > 80
    assert advice.at(0, 0)[3:6] == late  # the curve shows the data as they are


def test_a_clock_that_is_behind_is_named():
    rows = steady() + [(key, happened - 600_000, arrived, 1) for key, happened, arrived, _ in steady()]
    warnings = " ".join(lag.choose(scenario_of(rows), window="10 min").warnings)
    assert "Partition 1 is off by 10 min" in warnings
    assert "Partition 0" not in warnings


def test_of_three_partitions_the_odd_one_is_named():
    rows = [row for p in range(2) for row in steady(partition=p)]
    rows += [(key, happened - 600_000, arrived, 2) for key, happened, arrived, _ in steady()]
    warnings = [text for text in lag.choose(scenario_of(rows), window="10 min").warnings if "is off by" in text]
    assert len(warnings) == 1
    assert warnings[0].startswith("Partition 2 is off by 10 min: even its quickest events arrive so much later")


def test_silences_that_would_trip_the_timeout_are_named():
    rows = steady(partition=0) + [row for row in steady(partition=1) if not 20 <= row[1] // 60_000 < 40]
    warnings = lag.choose(scenario_of(rows), window="10 min", idle_timeout="5 min").warnings
    assert any(
        "Partition 1 is silent for longer than the idle timeout of 5 min once, at most for 21 min" in w
        for w in warnings
    )
    held = lag.choose(scenario_of(rows), window="10 min").warnings
    assert any("Without an idle timeout, the watermark of the whole source stands still" in w for w in held)


def test_events_before_their_time_and_too_little_data_are_named():
    rows = [*steady(minutes=30), ("k", time_ms("0:20:10"), time_ms("0:20:05"), 0)]
    warnings = " ".join(lag.choose(scenario_of(rows), window="1 h").warnings)
    assert "1 event arrives before it happened, by up to 5 s" in warnings
    assert "There is 1 window only" in warnings
    assert "too few to tell" in warnings


# ------------------------------------------------------------------------------------------------ reading, code


@pytest.mark.parametrize(
    "times",
    [
        [time_ms("6:56"), time_ms("7:09")],
        ["6:56", "7:09"],
        ["1970-01-01T06:56:00Z", "1970-01-01 08:09:00+01:00"],
        [float(time_ms("6:56")), float(time_ms("7:09"))],
        [pd.Timestamp(time_ms("6:56"), unit="ms"), pd.Timestamp(time_ms("7:09"), unit="ms")],
    ],
)
def test_times_in_many_forms(times):
    frame = pd.DataFrame({"event_time": times, "arrival_time": pd.to_datetime(["1970-01-01T08:00Z"] * 2)})
    assert list(lag.choose(frame).measured.event_ms) == [time_ms("6:56"), time_ms("7:09")]


@pytest.mark.parametrize(
    ("table", "options", "words"),
    [
        ({"event": [1], "arrival_time": [2]}, {}, "no column 'event_time'; the table has event, arrival_time; did you"),
        ({"event_time": [], "arrival_time": []}, {}, "no rows"),
        ({"event_time": ["6:5x"], "arrival_time": [2]}, {}, "row 0 of event_time: '6:5x' is not a time"),
        ({"event_time": [1, None], "arrival_time": [1, 2]}, {}, "event_time is missing in 1 row"),
        ({"event_time": [float("inf")], "arrival_time": [2]}, {}, "row 0 of event_time: inf is not finite"),
        ({"event_time": [1], "arrival_time": [2]}, {"time_unit": "min"}, "time_unit is 'min'; write"),
        ({"event_time": [True], "arrival_time": [2]}, {}, "holds true and false"),
        ({"event_time": [10**18], "arrival_time": [2]}, {"time_unit": "ms"}, "row 0 of event_time: 10+ looks like ns"),
        (
            {"t": [1792216800, 1792216800123, 1792216801]},
            {"event_time": "t", "arrival_time": "t"},
            "row 1 of t: .* like ms",
        ),
        ({"event_time": [1], "arrival_time": [2]}, {"present": True}, "present is True, but a table has no settings"),
        ({"event_time": [1], "arrival_time": [2]}, {"present": "2 min"}, "present is '2 min'; write the bound and"),
        ({"event_time": [1], "arrival_time": [2]}, {"goal_on_time": -0.5}, "goal_on_time is -0.5; write a share"),
        ({"event_time": [1], "arrival_time": [2]}, {"goal_on_time": 99.5}, "for 99.5 % write 0.995"),
        ({"event_time": [1], "arrival_time": [2]}, {"max_wait": "-1 s"}, "max_wait is -1 s; write 0 or more"),
        ({"event_time": [1], "arrival_time": [2]}, {"window": 0}, "window is 0"),
        ({"event_time": [1], "arrival_time": [2]}, {"offset": "2 h"}, "smaller than the window"),
        ({"event_time": [1], "arrival_time": [2]}, {"key": "who"}, "no column 'who'"),
        ({"event_time": [1], "arrival_time": [2], "p": [None]}, {"partition": "p"}, "p is missing in 1 row"),
        ({"event_time": [1], "arrival_time": [2]}, {"idle_timeout": 0}, "idle_timeout is 0"),
        ({"event_time": [1], "arrival_time": [2]}, {"strategy_at": "sink"}, "strategy_at is 'sink'"),
    ],
)
def test_what_is_wrong_gets_a_sentence(table, options, words):
    with pytest.raises(LagError, match=words):
        lag.choose(pd.DataFrame(table, dtype=None if any(table.values()) else "int64"), **options)


def test_a_wrong_duration_or_a_wrong_thing_gets_a_sentence():
    frame = pd.DataFrame({"event_time": [1], "arrival_time": [2]})
    with pytest.raises(TimeError, match="needs a unit"):
        lag.choose(frame, window="5")
    with pytest.raises(LagError, match="takes a pandas table or a scenario, not list"):
        lag.choose([1, 2])
    with pytest.raises(LagError, match='write "pyflink", "java" or "sql"'):
        lag.choose(frame).code("scala")
    assert LagError("x")._render_traceback_() == ["LagError: x"]


def advice_with_timeout():
    scenario = scenario_of(random_rows(8, events=2_000))
    return lag.choose(scenario, window=WINDOW_MS, goal_on_time=0.9, idle_timeout="1 min")


def test_the_code_has_the_numbers():
    advice = advice_with_timeout()
    python = advice.code()
    compile(python, "strategy", "exec")
    assert f"Duration.of_millis({advice.bound_ms})" in python
    assert python.index("with_idleness") < python.index("with_timestamp_assigner(EventTime())  # last")
    assert "forBoundedOutOfOrderness(Duration.ofSeconds(" in advice.code("java")
    assert "withIdleness(Duration.ofMinutes(1))" in advice.code("java")
    assert "SET 'table.exec.source.idle-timeout' = '60000 ms'" in advice.code("sql")
    assert "windows of SQL drop and count" in advice.code("sql")
    assert "withIdleness" not in lag.choose(scenario_of(random_rows(8)), window=WINDOW_MS).code("java")


def test_in_pyflink_the_bound_is_that_of_the_mixed_partitions():
    rows = [("k", 10_000 * n, 10_000 * n + 500 + late, p) for n in range(900) for p, late in ((0, 0), (1, 300_000))]
    advice = lag.choose(scenario_of(rows, strategy_at="source"), window="10 min", goal_on_time=1)
    mixed = lag.choose(scenario_of(rows, strategy_at="after"), window="10 min", goal_on_time=1)
    assert (advice.bound_ms, mixed.bound_ms) == (0, 300_000)
    assert "Duration.of_millis(300000)" in advice.code("pyflink")
    assert "On the source, in Java, it is 0." in advice.code("pyflink")
    assert "ofMillis(0L)" in advice.code("java")
    assert mixed.code("pyflink").startswith("from pyflink")


def test_it_shows_itself_as_text_and_as_html():
    advice = lag.choose(scenario_of([*steady(), ("<b>", time_ms("9:00"), time_ms("0:30:20"), 0)]), window="10 min")
    assert repr(advice).startswith("Bound 0: all of 119 events are in the first result")
    assert "Look out: 1 event is dated" in repr(advice)
    assert "<li>1 event is dated" in advice._repr_html_()


def test_the_charts_take_an_advice():
    advice = lag.choose(scenario_of(random_rows(8, events=2_000)), window=WINDOW_MS)
    assert advice.chart()._repr_mimebundle_()["text/plain"].startswith("What a bound leaves out. Advised: bound ")
    frame = charts.completeness(advice, ["0", "5 s"]).data.set_index(["bound_ms", "outcome"])["share"]
    for bound_ms in (0, 5_000):
        point = advice.at(bound_ms)
        assert frame[bound_ms, "missing in the first result"] == pytest.approx(1 - point.on_time / 2_000)
        assert frame[bound_ms, "never counted"] == pytest.approx(point.lost / 2_000)


def test_the_curve_is_that_of_the_chart_that_runs_the_scenario():
    scenario = scenario_of(random_rows(8, events=300, keys=1))
    advice = lag.choose(scenario, window=WINDOW_MS, lateness=0)
    ran = charts.completeness(scenario, ["0", "2 s", "10 s"]).data.set_index(["bound_ms", "outcome"])
    for bound_ms in (0, 2_000, 10_000):
        point = advice.at(bound_ms)
        of_bound = ran.loc[bound_ms]
        assert of_bound["events"].get("in the first result", 0) == point.on_time
        assert of_bound["events"].get("late", 0) == point.lost


def test_importing_wmviz_does_not_load_it():
    assert wmviz.lag is lag


@pytest.mark.flink
def test_flink_takes_the_sql_for_any_length(flink):
    """Flink plans the query, with intervals of any number of digits."""
    flink.startup.job()
    from pyflink.table import EnvironmentSettings, TableEnvironment

    for bound_ms, window_ms, offset_ms in (
        (0, 60_000, 0),
        (45_000, 3_600_000, 1_800_000),
        (123_456, 86_400_000, -7_200_000),
        (7_200_000, 123_000, 500),
        (150_000, 360_000_000, 0),
        (1, 604_800_000, 0),
    ):
        tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        text = sql(bound_ms, 60_000, 60_000, window_ms, offset_ms).replace("'...'", "'datagen'")
        setting, table, query = (part for part in text.split(";") if part.strip())
        tables.get_config().set(*re.findall("'(.*?)'", setting))
        tables.execute_sql(table)
        plan = tables.explain_sql(query)
        assert f"- {bound_ms}:INTERVAL" in plan, plan
        assert "TUMBLE" in plan


@pytest.mark.flink
def test_flink_runs_the_strategy_in_pyflink(flink):
    """The code that is pasted runs; only the stream and the window function are the reader's."""
    flink.startup.job()
    from pyflink.common import Row, Types
    from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment

    class Sum(ProcessWindowFunction):
        def process(self, key, context, elements):
            yield f"{key} {context.window().start} {sum(element.value for element in elements)}"

    code = pyflink(2_000, 5_000, 60_000, WINDOW_MS, 0).replace(
        "YourWindowFunction()", "YourWindowFunction(), Types.STRING()"
    )
    types = Types.ROW_NAMED(["key", "value", "event_time_ms"], [Types.STRING(), Types.LONG(), Types.LONG()])
    with flink.startup.tidy():
        env = StreamExecutionEnvironment.get_execution_environment()
        env.set_parallelism(1)
        rows = [Row("a", 1, 1_000), Row("a", 2, 9_999), Row("a", 4, 10_000)]
        names = {"stream": env.from_collection(rows, types), "YourWindowFunction": Sum, "Types": Types}
        exec(compile(code, "pasted", "exec"), names)
        fired = flink.startup.collect(names["results"], "pasted", 60)
    assert sorted(fired) == ["a 0 3", "a 10000 4"]
