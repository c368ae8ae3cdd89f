"""What people ask about event time in Flink, each as a scenario small enough to be counted by hand.

Every scenario is written from the field descriptions alone; the numbers are those of the answer, not of a run.
"""

import pytest

import wmviz
from wmviz.scenario import Scenario, ScenarioError
from wmviz.times import MAX_MS, MIN_MS, time_ms
from wmviz.trace import Kind, Status


def run(**fields):
    return wmviz.simulate(Scenario.of(**fields))


def key_a(*times, value=1):
    """Events of key a, each given as its event time or as (event time, arrival time, partition)."""
    rows = [time if isinstance(time, tuple) else (time,) for time in times]
    return [["a", value, *row] for row in rows]


def end(trace):
    """What stands at the end."""
    return trace.state(trace.steps - 1)


def at(trace, ms):
    """What stands after the last step up to a time."""
    return trace.state(max(step for step in range(trace.steps) if trace.step_at_ms[step] <= ms))


def fired(trace):
    """Every firing: key, start, end, value, and when it was by the server's clock."""
    return [(f.key, f.window.start_ms, f.window.end_ms, f.value, f.at_ms) for f in trace.all_firings]


def when(trace, kind, value):
    """When the named subjects of one kind of row took a value."""
    return [(row.subject, row.at_ms) for row in trace if row.kind == kind and row.value == value]


def rows(read):
    """Rows that a reader of the sink finds: start of the window and value."""
    return [(window.start_ms, value) for _, window, value in read]


def refused(trace, kind=Kind.DROPPED):
    """Events that were dropped (or sent to the side output): event time, and the watermark that they met."""
    return [(row.subject.event_time_ms, trace.watermark_at(row.row)) for row in trace if row.kind == kind]


SQL = {"api": "sql", "strategy_at": "after", "emission": "interval"}
GAP_10 = {"type": "session", "gap": "10 ms"}

ALIGNED = {
    "events": sorted(
        key_a((0, 200, 1), *((minute * 60_000, minute * 1000 + 100, 0) for minute in range(12))), key=lambda row: row[3]
    ),
    "start": 0,
    "emission": "interval",
    "interval": "500 ms",
    "window": "1 min",
    "alignment": {"drift": "2 min"},
}
"""Partition 0 gives a minute of event time each second; partition 1 gives one event."""

EXACTLY_ONCE = {
    "events": key_a(1000, 2000, 11_000, 12_000, 21_000, 22_000, 31_000, 32_000),
    "start": 0,
    "window": "10 s",
    "sink": "transactional",
}
ROWS = [(0, 2), (10_000, 2), (20_000, 2)]
"""What comes out of EXACTLY_ONCE: starts and values of its windows, at 11, 21 and 31 s."""


class TestNothingComesOut:
    def test_a_subtask_without_a_partition_holds_back_the_watermark_of_a_sql_job(self):
        """The topic has one partition, the SQL source two subtasks: rows go in, no window comes out."""
        one = {**SQL, "window": "10 s", "bound": "3 s", "events": key_a(1000, 12_000, 24_000), "partitions": 1}
        stuck = run(**one, subtasks=2)
        assert (fired(stuck), end(stuck).ledger.counted) == ([], 3)
        assert end(stuck).watermarks["source[0]"] == 21_000  # in SQL without the minus one
        assert end(stuck).watermarks["source[1]"] == end(stuck).watermarks["window"] == MIN_MS
        results = [("a", 0, 10_000, 1, 24_000), ("a", 10_000, 20_000, 1, 24_000)]
        assert fired(run(**one, subtasks=1)) == results
        timeout = run(**one, subtasks=2, idle_timeout="5 s")
        assert fired(timeout) == results
        # The job starts at 0:00:01; its clock of idleness with its first timer, 0.2 s later.
        assert ("source[1]", 6200) in when(timeout, Kind.STATUS, Status.IDLE)

    def test_parallelism_3_over_one_partition_writes_no_row_and_parallelism_1_does(self):
        """A job of three subtasks reads a topic of one partition into 5 min windows: the table stays empty."""
        job = {
            "events": key_a(*range(0, 12 * 60_000, 60_000)),
            "partitions": 1,
            "bound": "5 s",
            "window": "5 min",
            "aggregate": "count",
        }
        stuck = run(**job, subtasks=3, window_tasks=3)
        assert stuck.totals == {}
        assert {end(stuck).watermarks[f"window[{task}]"] for task in range(3)} == {MIN_MS}
        # Minute 5 gives the watermark 4:54.999, so only minute 6 closes the first window.
        mended = run(**job, subtasks=1)
        assert fired(mended) == [("a", 0, 300_000, 5, 360_000), ("a", 300_000, 600_000, 5, 660_000)]

    def test_all_keys_on_one_partition_give_1000_a_window_once_the_others_are_idle(self):
        """Every key hashes to partition 0 of three: the promised 1000 clicks for each 15 s never show."""
        clicks = {
            "events": key_a(*range(0, 45_000, 15)),
            "partitions": 3,
            "subtasks": 3,
            "bound": "200 ms",
            "emission": "interval",
            "window": "15 s",
            "aggregate": "count",
        }
        assert fired(run(**clicks)) == []
        mended = run(**clicks, idle_timeout="5 s")
        # The probe starts at the first tick, 0.2 s; 5.2 s is not more than 5 s after it, 5.4 s is.
        assert when(mended, Kind.STATUS, Status.IDLE)[:2] == [
            ("source[1]", 5400),
            ("source[1] → window", 5400),
        ]
        # 15.195 is there at the tick of 15.2: watermark 14.994. At that of 15.4 it is 15.390 - 0.201 = 15.189.
        assert fired(mended) == [("a", 0, 15_000, 1000, 15_400), ("a", 15_000, 30_000, 1000, 30_400)]

    def test_sliding_windows_of_sql_are_empty_until_the_one_shard_has_one_subtask(self):
        """HOP of 2 min every minute, watermark 20 s behind, one shard under several subtasks: nothing is printed."""
        job = {
            "events": key_a("0:00:30", "0:01:10", "0:01:19.999", "0:01:20", "0:02:20"),
            "api": "sql",
            "strategy_at": "after",
            "bound": "20 s",
            "window": {"type": "sliding", "size": "2 min", "slide": "1 min"},
            "partitions": 1,
        }
        assert fired(run(**job, subtasks=4)) == []
        # SQL's watermark at 0:01:19.999 is 59.999: the window that ends at 1:00 fires then, not at 0:01:20.
        assert fired(run(**job)) == [("a", -60_000, 60_000, 1, 79_999), ("a", 0, 120_000, 4, 140_000)]

    @pytest.mark.parametrize(("subtasks", "watermark_ms"), [(1, 10_999), (2, 10_999), (3, MIN_MS)])
    def test_only_subtasks_in_excess_of_the_shards_hold_the_watermark(self, subtasks, watermark_ms):
        """Two shards and another parallelism: does any difference stop the watermark?"""
        events = key_a((1000, 1000, 0), (1000, 1000, 1), (11_000, 11_000, 0), (11_000, 11_000, 1))
        trace = run(events=events, partitions=2, subtasks=subtasks, window="10 s")
        assert end(trace).watermarks["window"] == watermark_ms
        assert len(trace.all_firings) == (0 if watermark_ms == MIN_MS else 1)

    def test_a_window_takes_events_in_but_gives_no_result_while_a_partition_is_silent(self):
        """The aggregate's `add` is called, its `getResult` never: where is the result?"""
        job = {"events": key_a(1000, 4000, 12_000), "start": 0, "partitions": 2, "window": "10 s"}
        stuck = run(**job)
        assert fired(stuck) == []
        assert [(w.window.start_ms, w.value, w.firings) for w in end(stuck).windows] == [(0, 2, 0), (10_000, 1, 0)]
        result = [("a", 0, 10_000, 2, 12_000)]
        assert fired(run(**job, idle_timeout="2 s")) == result
        assert fired(run(**job, strategy_at="after")) == result  # one generator for both partitions waits for neither

    def test_without_a_strategy_and_with_a_silent_partition_it_is_the_same_min(self):
        """5 s windows whose function is never called: no strategy was given, or one partition holds the minimum."""
        events = key_a(1000, 6000, 12_000)
        for cause in ({"strategy": "none"}, {"partitions": 2}):
            trace = run(events=events, window="5 s", **cause)
            assert (fired(trace), end(trace).watermarks["window"]) == ([], MIN_MS)
        assert [f[:3] for f in fired(run(events=events, window="5 s"))] == [("a", 0, 5000), ("a", 5000, 10_000)]

    def test_a_printed_watermark_is_min_first_and_then_that_of_the_channel_that_went_quiet(self):
        """The log shows an event with watermark -9223372036854775808, and 20 minutes later one that lags by them."""
        first, quiet, later = 1760172645145, 1760172645140, 1760173855145
        job = {
            "events": key_a((first, 1000, 0), (quiet, 2000, 1), (later, 1_212_000, 0)),
            "bound": "5 s",
            "subtasks": 2,
            "window": "10 s",
        }
        stuck = run(**job)
        assert list(stuck.seen_watermarks.values()) == [MIN_MS, MIN_MS, 1760172640139]
        assert later - 1760172640139 == 1_215_006
        assert end(stuck).watermarks["source[1]"] == quiet - 5001 == 1760172640139
        freed = run(**job, idle_timeout="30 s")
        assert end(freed).watermarks["window"] == later - 5001

    def test_when_all_is_idle_the_last_window_waits_for_a_heartbeat(self):
        """All inputs stop: idleness is set, and still the final window stays open for ever."""
        events = [*key_a((1000, 1000, 0), (2000, 1000, 1), (11_000, 11_000, 0), (11_500, 11_000, 1))]
        job = {"events": events, "start": 0, "window": "10 s", "idle_timeout": "1 s"}
        silent = run(**job)
        assert fired(silent) == [("a", 0, 10_000, 2, 11_000)]
        assert end(silent).watermarks["window"] == 11_499  # the highest of all, and no further
        assert end(silent).statuses["window"] == Status.IDLE
        heartbeat = run(**{**job, "events": [*events, ["heartbeat", 0, 20_000, 30_000, 0]]})
        assert fired(heartbeat)[1:] == [("a", 10_000, 20_000, 2, 30_000)]

    def test_the_end_of_the_input_fires_the_last_window_unless_the_source_is_idle_by_then(self):
        """Does a bounded input close what idleness has left open?"""
        job = {"events": key_a(1000, 11_000), "start": 0, "window": "10 s", "end_of_input": 60_000}
        last = ("a", 10_000, 20_000, 1, 60_000)
        assert fired(run(**job))[-1] == last
        # While a source is IDLE its output drops every watermark, that one too.
        lost = run(**job, idle_timeout="1 s")
        assert (fired(lost)[-1][1], end(lost).watermarks["window"]) == (0, 10_999)
        # An operator behind the source becomes active again with a higher watermark, and so with MAX.
        assert fired(run(**job, idle_timeout="1 s", strategy_at="after"))[-1] == last

    def test_an_idle_side_lets_a_connected_stream_go_on(self):
        """Two connected streams, one silent: the other side's windows must not wait for it."""
        job = {
            "events": [["a", 1, 1000, 1000, 0], ["b", 1, 1000, 1000, 1], *key_a((11_000, 11_000), (21_000, 21_000))],
            "start": 0,
            "inputs": 2,
            "subtasks": 2,
            "window": "10 s",
        }
        assert fired(run(**job)) == []
        released = run(**job, idle_timeout="2 s")
        assert fired(released) == [
            ("a", 0, 10_000, 1, 11_000),
            ("b", 0, 10_000, 1, 11_000),
            ("a", 10_000, 20_000, 1, 21_000),
        ]

    def test_the_idle_timeout_of_sql_counts_from_exactly_the_timeout_on(self):
        """table.exec.source.idle-timeout is set: is the silent source left out, and from when?"""
        events = [*key_a((1000, 1000, 0), (11_000, 11_000, 0), (21_000, 21_000, 0)), ["b", 1, 1000, 1000, 1]]
        job = {**SQL, "window": "10 s", "events": events, "start": 0, "subtasks": 2}
        assert fired(run(**job)) == []
        left_out = run(**job, idle_timeout="2 s")
        # Inclusive: 2 s after its row of 0:00:01. The DataStream's timer would say so at 3.4 s.
        assert ("source[1]", 3000) in when(left_out, Kind.STATUS, Status.IDLE)
        datastream = run(**{**job, "api": "datastream"}, idle_timeout="2 s")
        assert ("source[1]", 3400) in when(datastream, Kind.STATUS, Status.IDLE)
        assert [f[1:] for f in fired(left_out) if f[0] == "a"] == [
            (0, 10_000, 1, 11_000),
            (10_000, 20_000, 1, 21_000),
        ]

    @pytest.mark.parametrize("first", [0, 1])
    def test_two_splits_that_go_idle_end_at_the_higher_watermark_in_either_order(self, first):
        """Splits report 5 and 4, then both fall silent, one before the other: where does the source end?"""
        split_of = {0: (6, 0), 1: (5, 1)}
        events = key_a((split_of[first][0], 0, first), (split_of[1 - first][0], 400, 1 - first))
        trace = run(events=events, window="10 ms", idle_timeout="500 ms", start=0)
        assert [(s, ms) for s, ms in when(trace, Kind.STATUS, Status.IDLE) if s.startswith("partition")] == [
            (f"partition {first}", 1000),  # probed from 0.4 s on, over the timeout at 1 s
            (f"partition {1 - first}", 1200),
        ]
        state = end(trace)
        assert (state.watermarks["partition 0"], state.watermarks["partition 1"]) == (5, 4)
        assert state.watermarks["source"] == state.watermarks["window"] == 5


class TestLateData:
    def test_an_event_behind_the_watermark_is_late_only_when_no_window_of_it_lives(self):
        """1, 2, 1337, 42, 3, 4, 5 with a watermark 10 ms behind: why is the side output empty for 1 d windows?"""
        job = {"events": key_a(*((ms, i) for i, ms in enumerate([1, 2, 1337, 42, 3, 4, 5]))), "bound": "9 ms"}
        job |= {"lateness": "10 ms", "late_to": "side"}
        days = run(**job, window="1 d")
        assert (refused(days, Kind.LATE), end(days).ledger.counted) == ([], 7)
        short = run(**job, window="10 ms")
        assert refused(short, Kind.LATE) == [(42, 1327), (3, 1327), (4, 1327), (5, 1327)]
        # [0, 10) is gone when the watermark is 9 + 10; [40, 50) would have been at 59.
        assert fired(short) == [("a", 0, 10, 2, 2)]

    def test_a_late_event_is_counted_as_dropped_or_fires_again_or_goes_to_the_side_output(self):
        """Where does a late event go?"""
        job = {"events": key_a(1000, (12_000, 12_000), (5000, 13_000)), "window": "10 s"}
        dropped = run(**job)
        assert (dropped.dropped_count, refused(dropped, Kind.LATE), dropped.totals) == (1, [], {("a", 0, 10_000): 1})
        updated = run(**job, lateness="5 s")
        assert [(f.nth, f.value) for f in updated.all_firings] == [(1, 1), (2, 2)]
        assert updated.dropped_count == 0
        side = run(**job, late_to="side")
        assert (side.dropped_count, refused(side, Kind.LATE)) == (0, [(5000, 11_999)])

    def test_each_accepted_late_event_fires_the_whole_window_again(self):
        """Bound 2 ms, windows of 10 ms, lateness 5 ms: the same window is printed many times."""
        arrivals = [3, 12, 7, 16, 2, 17, 4]
        job = {"events": key_a(*((ms, i) for i, ms in enumerate(arrivals))), "bound": 2, "lateness": 5}
        updates = run(**job, window="10 ms", sink="append")
        assert [(f.nth, f.value, f.watermark_ms) for f in updates.all_firings] == [(1, 1, 9), (2, 2, 9), (3, 3, 13)]
        assert refused(updates) == [(4, 14)]  # 9 + 5: the window is gone
        assert updates.totals == {("a", 0, 10): [1, 2, 3]}
        assert run(**job, window="10 ms").totals == {("a", 0, 10): 3}
        purging = run(**job, window={"size": "10 ms", "trigger": "purging_event_time"})
        assert [f.value for f in purging.all_firings] == [1, 1, 1]
        assert purging.totals == {("a", 0, 10): 1}  # overwritten by a part: such results must be added up

    def test_the_counter_of_dropped_events_stays_0_with_a_side_output_or_if_one_window_still_takes_it(self):
        """Rows are missing, and numLateRecordsDropped is 0."""
        sliding = {
            "events": key_a(4000, 12_000, (7000, 13_000), (25_000, 25_000)),
            "window": {"type": "sliding", "size": "10 s", "slide": "5 s"},
        }
        trace = run(**sliding)
        # 0:00:07 is late for [0, 10), which has fired, and not for [5, 15).
        assert (trace.dropped_count, end(trace).ledger.missed) == (0, 1)
        assert trace.totals[("a", 0, 10_000)] == 1
        assert trace.totals[("a", 5000, 15_000)] == 2
        tagged = run(events=key_a(4000, 12_000, (7000, 13_000)), window="10 s", late_to="side")
        assert (tagged.dropped_count, refused(tagged, Kind.LATE)) == (0, [(7000, 11_999)])

    def test_a_late_row_does_not_update_a_closed_window_of_sql_even_in_an_upsert_sink(self):
        """The sink upserts by window: will a late row correct the result of TUMBLE?"""
        job = {"events": key_a(1000, 13_000, (5000, 14_000)), "bound": "3 s", "window": "10 s", "sink": "upsert"}
        trace = run(**job, api="sql", strategy_at="after")
        assert trace.totals == {("a", 0, 10_000): 1}
        assert (trace.dropped_count, len(trace.all_firings)) == (1, 1)
        with pytest.raises(ScenarioError, match="lateness"):
            run(**job, api="sql", strategy_at="after", lateness="5 s")

    def test_a_count_without_windows_takes_rows_from_behind_the_watermark(self):
        """The watermark is 5 s behind; a row of eleven minutes ago comes. Why does GROUP BY not drop it?"""
        rows = key_a(("12:08:22", "12:08:22"), ("12:11:09", "12:11:09"), ("12:00:30", "12:11:10"))
        trace = run(events=rows, bound="5 s", window={"type": "global", "trigger": "count:1"}, aggregate="count")
        assert [f.value for f in trace.all_firings] == [1, 2, 3]
        assert trace.seen_watermarks["a@12:00:30"] == time_ms("12:11:03.999")
        assert trace.dropped_count == 0

    def test_a_late_row_counts_for_the_later_windows_of_sql_and_the_emitted_one_stays(self):
        """A window is out, a row for it and for the next one comes: is the first result corrected?"""
        trace = run(
            events=key_a("10:59:30", "11:00:20", ("10:59:40", "11:00:30"), "11:01:10"),
            api="sql",
            strategy_at="after",
            window={"type": "sliding", "size": "2 min", "slide": "1 min"},
            aggregate="count",
        )
        results = [(f.window.end_ms, f.value) for f in trace.all_firings]
        assert results == [(time_ms("11:00"), 1), (time_ms("11:01"), 3)]
        assert (end(trace).ledger.missed, trace.dropped_count) == (1, 0)

    def test_after_a_restore_sql_still_knows_its_watermark_and_the_datastream_does_not(self):
        """The same late row before and after a restart: why does the result differ?"""
        job = {
            "events": key_a("10:59:30", "11:00:20", ("10:59:40", "11:00:50"), "11:01:10"),
            "start": "10:59",
            "strategy_at": "after",
            "window": "1 min",
            "checkpoints": "30 s",
            "happenings": [{"what": "crash", "at": "11:00:40"}],
        }
        window = ("a", time_ms("10:59"), time_ms("11:00"))
        sql = run(**job, api="sql")
        assert (sql.totals[window], sql.dropped_count) == (1, 1)
        datastream = run(**job)
        assert (datastream.totals[window], datastream.dropped_count) == (1, 0)
        again = [f for f in datastream.all_firings if f.window.start_ms == window[1]]
        assert [(f.nth, f.event_ids) for f in again] == [(1, ("a@10:59:30",)), (2, ("a@10:59:40",))]

    def test_ascending_timestamps_drop_what_is_a_millisecond_behind_once_the_window_is_closed(self):
        """forMonotonousTimestamps on a stream that is a little disordered: rows are lost."""
        trace = run(events=key_a(1, (10, 10), (9, 11)), strategy="ascending", window="10 ms")
        assert fired(trace) == [("a", 0, 10, 1, 10)]
        assert refused(trace) == [(9, 9)]
        open_yet = run(events=key_a(1, (5, 5), (4, 6), (10, 10)), strategy="ascending", window="10 ms")
        assert fired(open_yet) == [("a", 0, 10, 3, 10)]

    def test_an_event_without_a_timestamp_is_refused(self):
        """Record has Long.MIN_VALUE timestamp: can a window take it?"""
        with pytest.raises(ScenarioError, match=r"events\[0\]\.event_time is -9223372036854775808; write a time"):
            run(events=key_a((MIN_MS, 0)), window="10 ms")
        with pytest.raises(ScenarioError, match="has no event_time"):
            run(events=[{"key": "a", "value": 1}], window="10 ms")

    def test_a_list_is_read_before_the_first_tick_so_nothing_in_it_is_late(self):
        """A test with from_collection: the late element is never late."""
        job = {"events": key_a((0, 0), (20_000, 0), (1000, 0)), "window": "10 s", "end_of_input": 100}
        ticks = run(**job, emission="interval")
        assert set(ticks.seen_watermarks.values()) == {MIN_MS}
        assert (ticks.dropped_count, ticks.totals[("a", 0, 10_000)]) == (0, 2)
        assert {f.watermark_ms for f in ticks.all_firings} == {MAX_MS}
        punctuated = run(**job, emission="event")
        assert (punctuated.dropped_count, punctuated.totals[("a", 0, 10_000)]) == (1, 1)


class TestSessions:
    def test_merging_never_moves_the_end_of_a_session_back(self):
        """The end of an event-time window cannot become earlier than the watermark by merging: can sessions do so?"""
        trace = run(events=key_a((5, 0), (12, 1), (1, 2), (30, 3)), window=GAP_10)
        assert fired(trace) == [("a", 1, 22, 3, 3)]
        merges = [row for row in trace if row.kind == Kind.MERGED]
        assert [(row.subject.window.end_ms, trace.watermark_at(row.row)) for row in merges][-1] == (22, 11)

    @pytest.mark.parametrize(("lateness", "results"), [("20 ms", [1]), ("100 ms", [1, 2, 3])])
    def test_late_events_of_a_session_leave_no_empty_window_that_fires(self, lateness, results):
        """Several late events in one session: is there a firing with nothing in it?"""
        trace = run(events=key_a((0, 0), (50, 1), (3, 2), (5, 3), (500, 4), (900, 5)), window=GAP_10, lateness=lateness)
        assert [f.value for f in trace.all_firings if f.window.start_ms == 0] == results
        assert all(f.event_ids for f in trace.all_firings)
        assert trace.dropped_count == (2 if lateness == "20 ms" else 0)

    def test_a_bridge_between_two_sessions_that_have_fired_fires_once_at_once(self):
        """A late event joins two sessions, all behind the watermark: how often does the result fire?"""
        events = key_a((0, 0), (12, 1), (60, 2), (8, 3), (100, 4))
        trace = run(events=events, window=GAP_10, lateness="100 ms")
        assert fired(trace) == [
            ("a", 0, 10, 1, 1),
            ("a", 12, 22, 1, 2),
            ("a", 0, 22, 3, 3),
            ("a", 60, 70, 1, 4),
        ]

    def test_an_event_is_judged_late_after_its_session_has_merged(self):
        """Is an event dropped whose own gap is over, if it touches a session that is open?"""
        trace = run(events=key_a((5, 0), (12, 1), (1, 2), (-10, 3)), window=GAP_10)
        # [1, 11) alone ends behind watermark 11, but [1, 22) does not; [-10, 0) touches nothing.
        assert trace.seen_watermarks["a@0:00:00.001"] == 11
        assert refused(trace) == [(-10, 11)]
        assert [(w.window.start_ms, w.window.end_ms, w.value) for w in end(trace).windows] == [(1, 22, 3)]


class TestAlignmentAndKeys:
    def test_alignment_waits_for_a_silent_source_but_not_for_one_that_is_idle_or_finished(self):
        """A source stopped reading and never resumed: who holds it?"""
        held = run(**ALIGNED, subtasks=2)
        assert end(held).paused == {"source[0]"}
        assert end(held).allowed_ms == (119_999,)  # the slow one's -1, plus the drift
        # Minute 3 (179,999) is the first that is too high. Samples are taken each second and the oldest of 3 counts.
        assert when(held, Kind.PAUSED, 1) == [("source[0]", 6000)]
        assert end(held).ledger.arrived == 7
        for way in (
            {"idle_timeout": "2 s"},
            {"happenings": [{"what": "finish", "partition": 1, "at": 3000}]},
        ):
            free = run(**ALIGNED, subtasks=2, **way)
            assert end(free).ledger.arrived == 13
            assert "source[0]" not in end(free).paused

    def test_a_subtask_without_a_split_does_not_hold_the_others_and_the_limit_does_not_overflow(self):
        """One subtask has no split, and the drift is as large as it can be: does alignment stop all?"""
        job = {**ALIGNED, "alignment": {"drift": MAX_MS - 1}, "partitions": 2}
        trace = run(**job, subtasks=3)
        assert end(trace).allowed_ms == (MAX_MS - 2,)
        assert (end(trace).ledger.arrived, end(trace).paused) == (13, frozenset())
        late_min = run(**{**job, "events": key_a((60_000, 100, 0), (60_000, 200, 1))}, subtasks=3)
        assert end(late_min).allowed_ms == (MAX_MS,)  # 59,999 + the drift would be over

    def test_one_key_makes_events_of_another_late(self):
        """Has each key a watermark of its own?"""
        trace = run(events=[["a", 1, 1000], ["b", 1, 25_000], ["a", 1, 9000, 26_000]], window="10 s", window_tasks=2)
        assert refused(trace) == [(9000, 24_999)]
        assert end(trace).watermarks["window[0]"] == end(trace).watermarks["window[1]"] == 24_999


class TestBoundaries:
    @pytest.mark.parametrize(
        ("bound", "closing", "too_early"), [("0", "2:10", "2:09:59.999"), ("1 min", "2:11", "2:10:59.999")]
    )
    def test_the_window_of_2_to_2_10_fires_with_the_first_event_of_2_10_plus_the_bound(self, bound, closing, too_early):
        """Data of 2:02, 2:04 and 2:08 is there. When does it come out, and for which ten minutes?"""
        three = ["2:02", "2:04", "2:08"]
        assert fired(run(events=key_a(*three), bound=bound, window="10 min")) == []
        assert fired(run(events=key_a(*three, too_early), bound=bound, window="10 min")) == []
        trace = run(events=key_a(*three, closing), bound=bound, window="10 min")
        # Windows are aligned to the epoch, so it begins at 2:00 and not at the first event.
        assert fired(trace) == [("a", time_ms("2:00"), time_ms("2:10"), 3, time_ms(closing))]


class TestCheckpointsAndSinks:
    def test_a_reader_of_uncommitted_results_sees_duplicates_after_a_crash(self):
        """The sink is exactly-once and the consumer still finds rows twice."""
        crash = [{"what": "crash", "at": 24_500}]
        trace = run(**EXACTLY_ONCE, checkpoints={"interval": "10 s", "notice": "1 s"}, happenings=crash)
        assert rows(end(trace).sink) == ROWS
        assert rows(end(trace).uncommitted) == [(0, 2), (10_000, 2), (10_000, 2), (20_000, 2)]

    def test_a_transaction_timeout_below_the_time_between_checkpoints_aborts_results(self):
        """Checkpoints every 15 s, transactions of at most 11 s: what does the broker do?"""
        job = {**EXACTLY_ONCE, "checkpoints": "15 s"}
        trace = run(**job, transaction_timeout="11 s")
        # The result of 31 s would be committed at 45 s and is aborted at 42 s; the job fails there and replays.
        assert [row.at_ms for row in trace if row.kind == Kind.CRASHED] == [45_000]
        assert rows(at(trace, 45_500).sink) == ROWS[:2]
        assert rows(end(trace).sink) == ROWS
        long = run(**job, transaction_timeout="15 s")
        assert [row for row in long if row.kind == Kind.CRASHED] == []
        assert rows(end(long).sink) == ROWS

    def test_results_show_when_the_checkpoint_behind_them_is_complete_and_never_without_one(self):
        """The job runs, the table is empty; at the end the last row is missing."""
        none = run(**EXACTLY_ONCE)
        assert (end(none).sink, len(end(none).uncommitted)) == ((), 3)
        trace = run(**EXACTLY_ONCE, checkpoints="10 s")
        commits = [(row.subject.window.start_ms, row.at_ms) for row in trace if row.kind == Kind.COMMITTED]
        assert commits == [(0, 20_000), (10_000, 30_000), (20_000, 40_000)]
        # The third result is there at 31 s; until 40 s a reader finds two of three.
        assert rows(at(trace, 39_000).sink) == ROWS[:2]
        assert rows(at(trace, 39_000).uncommitted) == ROWS
        assert rows(at(trace, 40_000).sink) == ROWS

    def test_a_stream_without_event_time_fires_only_by_the_clock_of_the_server(self):
        """After a regular join the time attribute is gone: what is left for a window?"""
        lost = Scenario.of(
            events=key_a((1000, 61_000), (2000, 62_000), (25_000, 85_000)), window="10 s", strategy="none"
        )
        assert fired(wmviz.simulate(lost)) == []
        by_clock = wmviz.simulate(lost.by_server_clock())
        assert fired(by_clock)[0] == ("a", 60_000, 70_000, 2, 70_000)  # Flink adds 1 ms to such timers

    def test_a_watermark_that_is_held_back_by_a_join_bound_delays_the_window_behind_it(self):
        """An interval join lets rows of up to a minute ago through: how late does the next window fire?"""
        events = key_a("0:00:30", "0:10", "0:10:59.999", "0:11")
        assert fired(run(events=events, window="10 min"))[0][4] == time_ms("0:10")
        assert fired(run(events=events, window="10 min", bound="1 min"))[0][4] == time_ms("0:11")

    def test_an_interval_of_0_never_emits_and_a_watermark_of_the_server_clock_drops_what_was_on_its_way(self):
        """The configuration has autoWatermarkInterval 0, or the watermark is the system time."""
        events = key_a((1000, 1000), (9000, 10_500), (21_000, 21_000))
        assert fired(run(events=events, window="10 s", emission="interval")) != []
        never = run(events=events, window="10 s", emission="interval", interval=0)
        assert (fired(never), end(never).watermarks["window"]) == ([], MIN_MS)
        # A key that tells the server's time with every arrival has the same effect as such a watermark.
        clock = [["clock", 0, ms, ms] for ms in (1000, 10_500, 21_000)]
        by_clock = run(events=[row for pair in zip(clock, events, strict=True) for row in pair], window="10 s")
        assert refused(by_clock) == [(9000, 10_499)]
        assert by_clock.totals[("a", 0, 10_000)] == 1


class TestChoosingTheBound:
    def test_the_bound_is_read_off_how_far_events_were_behind_the_newest(self):
        """How long should the bound be, if it is not guessed?"""
        delays = [0, 0, 0, 1000, 0, 2000, 0, 5000, 0, 9000]
        times = range(0, 100_000, 1000)
        events = sorted((key_a((ms, ms + delays[ms // 1000 % 10]))[0] for ms in times), key=lambda event: event[3])
        newest, behind = MIN_MS, []
        for _, _, event_time, _ in events:
            newest = max(newest, event_time)
            behind.append(newest - event_time)
        bound = sorted(behind)[int(len(behind) * 0.9) - 1]  # nine of ten events are no further behind
        assert (bound, max(behind)) == (4000, 7000)
        for bound_ms, overtaken in ((bound, 9), (bound - 1, 18), (max(behind), 0)):
            trace = run(events=events, bound=bound_ms, window="1 ms")
            assert sum(e.event_time_ms <= trace.seen_watermarks[e.id] for e in trace.scenario.events) == overtaken
            assert trace.dropped_count == overtaken  # in longer windows some of them would still count


class TestInTheWorkshop:
    def test_a_burst_at_a_slow_operator_gives_a_late_result_that_is_complete(self):
        """50 events arrive in one millisecond and each takes 100 ms: is any of them late?"""
        burst = key_a(*((ms, 1000) for ms in range(50)), (12_000, 12_000))
        slow = run(events=burst, window="10 s", work="100 ms", channel_capacity=5)
        # The 50th is done at 6 s, the event that closes the window at 12.1 s.
        assert fired(slow) == [("a", 0, 10_000, 50, 12_100)]
        assert at(slow, 3000).under_pressure == {"source"}
        assert slow.dropped_count == 0

    @pytest.mark.parametrize(("ahead", "watermark_ms"), [(301_000, 299_999), ("2100-01-01T00:00+00:00", 4102444798999)])
    def test_one_device_with_a_wrong_clock_makes_the_events_of_all_others_late(self, ahead, watermark_ms):
        """One phone is five minutes ahead, or in the year 2100."""
        events = [["good", 1, 1000], ["ahead", 1, ahead, 1500], ["good", 1, 2000], ["good", 1, 3000]]
        trace = run(events=events, window="10 s", bound="1 s")
        assert refused(trace) == [(2000, watermark_ms), (3000, watermark_ms)]
        assert trace.totals == {("good", 0, 10_000): 1}

    def test_a_slow_partition_holds_results_back_and_an_idle_timeout_loses_its_events(self):
        """One partition delivers nothing for 20 s and then all at once: wait for it, or not?"""
        events = sorted(key_a(*((s * 1000, s * 1000, s % 2) for s in range(30))), key=lambda row: row[3])
        job = {"events": events, "window": "10 s", "happenings": {"what": "silence", "partition": 1}}
        job["happenings"] |= {"at": 4500, "until": 25_500}
        waits = run(**job, start=0)
        assert (fired(waits)[0], waits.dropped_count) == (("a", 0, 10_000, 10, 25_500), 0)
        goes_on = run(**job, start=0, idle_timeout="2 s")
        assert fired(goes_on)[0] == ("a", 0, 10_000, 7, 10_000)  # even seconds, 1 and 3
        # Of 5, 7, 9 ... 25 those before 20 s are too late: watermark 23.999 has closed two windows.
        assert [ms for ms, _ in refused(goes_on)] == [5000, 7000, 9000, 11_000, 13_000, 15_000, 17_000, 19_000]

    def test_after_a_stop_with_another_bound_the_watermark_begins_anew_and_is_further_behind(self):
        """The job is stopped with a savepoint and resumes with a bound of 5 s: when do its windows fire?"""
        stop = {"what": "stop", "at": 17_000, "down": "1 s", "with": {"bound": "5 s"}}
        trace = run(events=key_a(*range(0, 40_000, 4000)), window="10 s", happenings=stop)
        # 12 closes the first; 24 - 5 s is not enough for the second, 28 - 5 s is.
        assert fired(trace) == [
            ("a", 0, 10_000, 3, 12_000),
            ("a", 10_000, 20_000, 2, 28_000),
            ("a", 20_000, 30_000, 3, 36_000),
        ]
        assert at(trace, 18_000).watermarks["window"] == MIN_MS

    def test_a_crash_while_a_window_is_kept_for_late_events_delays_its_next_firing(self):
        """A late event comes after the restart: does it fire the window at once?"""
        events = key_a(1000, 11_000, (5000, 12_000), (6000, 14_000), 31_000)
        job = {"events": events, "start": 0, "window": "10 s", "lateness": "10 s"}
        assert [f[3:] for f in fired(run(**job)) if f[1] == 0] == [(1, 11_000), (2, 12_000), (3, 14_000)]
        crash = run(**job, checkpoints="12.5 s", happenings={"what": "crash", "at": 13_000})
        # The watermark is back at MIN, so the window counts as not yet over until 0:00:31 arrives.
        assert [f[3:] for f in fired(crash) if f[1] == 0] == [(1, 11_000), (2, 12_000), (3, 31_000)]

    def test_a_result_waits_for_the_next_checkpoint_and_for_the_word_that_it_is_complete(self):
        """Exactly-once with a checkpoint every 20 s that takes 15 s to be known: how old is what a reader sees?"""
        events = key_a(*range(0, 60_000, 5000))
        trace = run(
            events=events,
            start=0,
            window="10 s",
            sink="transactional",
            checkpoints={"interval": "20 s", "notice": "15 s"},
        )
        written = {f[1]: f[4] for f in fired(trace)}
        seen = {row.subject.window.start_ms: row.at_ms for row in trace if row.kind == Kind.COMMITTED}
        assert {start: seen[start] - written[start] for start in written} == {
            0: 25_000,
            10_000: 15_000,
            20_000: 25_000,
            30_000: 15_000,
            40_000: 25_000,
        }

    def test_timestamps_in_seconds_put_a_quarter_of_an_hour_into_one_second(self):
        """The field is in seconds since the epoch, Flink reads milliseconds: no window fires."""
        seconds = [1760172645, 1760172655, 1760173655]
        events = key_a(*((s, s * 1000) for s in seconds))
        wrong = run(events=events, window="10 s")
        assert fired(wrong) == []
        assert {(w.window.start_ms, w.value) for w in end(wrong).windows} == {(1760170000, 3)}  # in January 1970
        assert len(fired(run(events=key_a(*(s * 1000 for s in seconds)), window="10 s"))) == 2

    def test_windows_before_1970_are_cut_downwards(self):
        """Events before the epoch: which window has -5 ms, and what is late?"""
        trace = run(events=key_a((-15, 0), (-5, 1), (-16, 2), (5, 3)), window="10 ms", bound=3)
        assert fired(trace) == [("a", -20, -10, 1, 1), ("a", -10, 0, 1, 3)]
        assert refused(trace) == [(-16, -9)]

    def test_in_sliding_windows_a_late_event_may_fire_one_window_again_and_miss_another(self):
        """Windows of 10 ms every 5 ms, lateness 10 ms: which results change for an event of 7 at watermark 21?"""
        events = key_a((4, 0), (22, 1), (7, 2), (13, 3))
        trace = run(events=events, window={"type": "sliding", "size": 10, "slide": 5}, lateness=10)
        # [0, 10) is gone at 19; [5, 15) lives until 24 and [10, 20) until 29.
        assert fired(trace)[2:] == [("a", 5, 15, 1, 2), ("a", 10, 20, 1, 3), ("a", 5, 15, 2, 3)]
        assert (end(trace).ledger.missed, trace.dropped_count) == (1, 0)

    def test_a_session_goes_on_growing_after_a_crash(self):
        """A session is open when the job crashes: is what comes later a new session?"""
        job = {"events": key_a((0, 0), (5, 5), (30, 30), (20, 40), (100, 100)), "start": 0, "bound": 20}
        trace = run(
            **job,
            window={"type": "session", "gap": 12},
            checkpoints={"interval": 10},
            happenings={"what": "crash", "at": 33, "down": 2},
        )
        assert [(w.window, w.value) for w in at(trace, 35).windows] == [((0, 17), 2), ((30, 42), 1)]
        assert fired(trace) == [("a", 0, 17, 2, 100), ("a", 20, 42, 2, 100)]
