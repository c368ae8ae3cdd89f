"""What the lessons say was tried on Flink with the DataStream API: each trial is run again, most of them in one job."""

import importlib.util
import os
import time
import zipfile
from pathlib import Path

import pytest

from tests.notebooks import tried
from tests.notebooks.prose import NOTEBOOKS, read_lesson
from wmviz.flink import FlinkError
from wmviz.times import MAX_MS, MIN_MS

PROSE = {path.stem[:2]: read_lesson(path.stem)[1] for path in NOTEBOOKS.glob("*.ipynb")}
MINUTE_MS, HOUR_MS = 60_000, 3_600_000


def windowed(stream, lateness_ms=0, size_ms=10):
    from pyflink.common import Time, Types
    from pyflink.datastream.window import TumblingEventTimeWindows

    keyed = stream.key_by(lambda row: row[0], Types.STRING())
    return keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(size_ms))).allowed_lateness(lateness_ms)


def content():
    from pyflink.datastream.functions import ProcessWindowFunction

    class Content(ProcessWindowFunction):
        """Gives what is in a window, in its order."""

        def process(self, key, context, rows):
            yield f"{context.window().start}: {[row[1] for row in rows]} at {context.current_watermark()}"

    return Content()


def met():
    from pyflink.datastream.functions import ProcessFunction

    class Met(ProcessFunction):
        def process_element(self, row, context):
            yield f"{row[1]} has {context.timestamp()} and meets {context.timer_service().current_watermark()}"

    return Met()


# Lesson 2 -----------------------------------------------------------------------------------------------------------


def strategy_twice(env):
    """The second strategy takes twice the time, and has a bound of 5 ms."""
    from pyflink.datastream.functions import KeyedProcessFunction

    first = tried.stamped(env, [("a", 9), ("a", 30), ("a", 50)])
    twice = first.assign_timestamps_and_watermarks(tried.strategy(5, lambda row: 2 * row[1]))

    class Numbered(KeyedProcessFunction):
        place = 0

        def process_element(self, row, context):
            self.place += 1
            context.timer_service().register_event_time_timer(10**15)
            yield f"{self.place}. {context.timestamp()} meets {context.timer_service().current_watermark()}"

        def on_timer(self, time_ms, context):
            yield f"{self.place + 1}. timer at {context.timer_service().current_watermark()}"

    return twice.key_by(lambda row: row[0]).process(Numbered(), tried.text())


def filter_in_front(env):
    rows = env.from_collection([("a", 10), ("x", 1000), ("a", 20)], tried.row()).filter(lambda row: row[0] == "a")
    return rows.assign_timestamps_and_watermarks(tried.strategy()).process(met(), tried.text())


def filter_behind(env):
    rows = tried.stamped(env, [("a", 10), ("x", 1000), ("a", 20)])
    return rows.filter(lambda row: row[0] == "a").process(met(), tried.text())


# Lesson 4 -----------------------------------------------------------------------------------------------------------


def order(env):
    rows = tried.stamped(env, [("a", at) for at in (9, 2, 5, 1, 30)], bound_ms=20)
    return windowed(rows).process(content(), tried.text())


def split(env):
    """Run the function of the lesson as it stands there."""
    from pyflink.datastream import OutputTag
    from pyflink.datastream.functions import ProcessFunction

    names = {"ProcessFunction": ProcessFunction, "LATE": OutputTag("late"), "__name__": "__main__"}
    exec(tried.block(PROSE["04"], "class Split"), names)
    rows = tried.stamped(env, [("a", 10), ("a", 30), ("a", 29), ("a", 30)])
    in_time = rows.process(names["Split"](), tried.row())
    late = in_time.get_side_output(names["LATE"]).map(lambda row: f"late {row[1]}", tried.text())
    return in_time.map(lambda row: f"in time {row[1]}", tried.text()).union(late)


LATE = [("a", 1), ("a", 30), ("a", 2), ("a", 3), ("a", 50), ("a", 15)]


def late_stream(env):
    """Give the result of a window, and what is late for it."""
    from pyflink.datastream import OutputTag

    tag = OutputTag("late")
    result = windowed(tried.stamped(env, LATE)).side_output_late_data(tag).process(content(), tried.text())
    return result, tag


def late_stream_with_a_strategy(env):
    result, tag = late_stream(env)
    late = result.get_side_output(tag).map(lambda row: row, tried.row())
    return windowed(late.assign_timestamps_and_watermarks(tried.strategy(100))).process(content(), tried.text())


def in_java(env, rows, method):
    from pyflink.datastream import DataStream

    lines = env.from_collection([f"{key},{at}" for key, at in rows], tried.text())
    stamped = lines.assign_timestamps_and_watermarks(tried.strategy(0, lambda row: int(row.split(",")[1])))
    return DataStream(getattr(tried.java().tried.Tried, method)(stamped._j_data_stream))


def late_stream_in_java(env):
    return in_java(env, LATE[:5], "lateStream")


def corrections_in_java(env):
    return in_java(env, [("a", 1), ("a", 30), ("a", 8)], "corrections")


def second_window(lateness_ms, out):
    """Two runners with a kilometre each, then a late one; first the runners' windows, then that of all."""

    def make(env):
        from pyflink.common import Types
        from pyflink.datastream.functions import ProcessWindowFunction

        class Total(ProcessWindowFunction):
            def process(self, key, context, rows):
                yield "all", len(list(rows))

        class Sum(ProcessWindowFunction):
            def process(self, key, context, rows):
                yield f"{context.window().start}: {' + '.join(str(row[1]) for row in rows)}"

        counted = Types.TUPLE([Types.STRING(), Types.LONG()])
        runs = tried.stamped(env, [("r9", 1), ("r7", 5), ("r4", 25), ("r9", 8), ("r4", 60)])
        first = windowed(runs, 100).process(Total(), counted)
        if out == "times":
            return first.process(met(), tried.text()).disable_chaining()
        return windowed(first, lateness_ms).process(Sum(), tried.text())

    return make


def numbered_firings(env):
    from pyflink.common import Types
    from pyflink.datastream.functions import ProcessWindowFunction
    from pyflink.datastream.state import ValueStateDescriptor

    class Numbered(ProcessWindowFunction):
        def process(self, key, context, rows):
            number = context.window_state().get_state(ValueStateDescriptor("number", Types.LONG()))
            number.update((number.value() or 0) + 1)
            yield f"{context.window().start}: firing {number.value()}"

        def clear(self, context):
            context.window_state().get_state(ValueStateDescriptor("number", Types.LONG())).clear()

    rows = tried.stamped(env, [("a", 1), ("a", 30), ("a", 2), ("a", 3), ("a", 90)])
    return windowed(rows, 50).process(Numbered(), tried.text())


# Lesson 9 -----------------------------------------------------------------------------------------------------------


def on_the_way(env):
    """Write the trigger as the lesson does; nothing new comes between 12 and 31 minutes."""
    from pyflink.common import Time
    from pyflink.datastream.window import ContinuousEventTimeTrigger

    name = "ContinuousEventTimeTrigger.of(Time.minutes(10))"
    assert f"`{name}`" in PROSE["09"]
    trigger = eval(name, {"ContinuousEventTimeTrigger": ContinuousEventTimeTrigger, "Time": Time})
    times = [("a", 1), ("a", 12), ("x", 21), ("x", 31), ("a", 35), ("x", 61)]
    rows = tried.stamped(env, [(key, minute * MINUTE_MS) for key, minute in times])
    return windowed(rows, size_ms=HOUR_MS).trigger(trigger).process(content(), tried.text())


def timers(env):
    """At 8 the time 1 is over; nothing is called while the source says nothing for a while."""
    from pyflink.datastream.functions import KeyedProcessFunction

    class Timers(KeyedProcessFunction):
        def __init__(self):
            self.place = 0

        def told(self, text):
            self.place += 1
            return f"{self.place}. {text}"

        def process_element(self, row, context):
            context.timer_service().register_event_time_timer({5: 25, 8: 1, 30: 10**15}[row[1]])
            yield self.told(f"{row[1]} meets {context.timer_service().current_watermark()}")

        def on_timer(self, time_ms, context):
            yield self.told(f"timer {time_ms} at {context.timer_service().current_watermark()}")

    def slow(row):
        time.sleep(0.3 if row[1] == 30 else 0)
        return row

    rows = env.from_collection([("a", 5), ("a", 8), ("a", 30)], tried.row()).map(slow, tried.row())
    keyed = rows.assign_timestamps_and_watermarks(tried.strategy()).key_by(lambda row: row[0])
    return keyed.process(Timers(), tried.text())


def timer_of_expired_state(env):
    from pyflink.common import Time, Types
    from pyflink.datastream.functions import KeyedProcessFunction
    from pyflink.datastream.state import StateTtlConfig, ValueStateDescriptor

    class Expires(KeyedProcessFunction):
        def open(self, context):
            number = ValueStateDescriptor("number", Types.LONG())
            number.enable_time_to_live(StateTtlConfig.new_builder(Time.milliseconds(100)).build())
            self.number = context.get_state(number)

        def process_element(self, row, context):
            if row[1] == 0:
                self.number.update(7)
                context.timer_service().register_event_time_timer(10)
            else:
                time.sleep(0.5)  # before the watermark that calls the timer

        def on_timer(self, time_ms, context):
            yield f"timer {time_ms}, state {self.number.value()}"

    return tried.stamped(env, [("a", 0), ("a", 100)]).key_by(lambda row: row[0]).process(Expires(), tried.text())


# Lesson 6 -----------------------------------------------------------------------------------------------------------


def keyed_met(say=lambda word: None):
    """Say each row, and "moved" when there is a watermark at last."""
    from pyflink.datastream.functions import KeyedProcessFunction

    class Met(KeyedProcessFunction):
        def process_element(self, row, context):
            met_ms = context.timer_service().current_watermark()
            yield f"{row[0]} {row[1]} meets {met_ms}"
            say(f"{row[0]} {row[1]}")
            if row[0] == "run" and met_ms > -(2**63):
                say("moved")

    return Met()


def no_watermarks():
    from pyflink.common import WatermarkStrategy

    return WatermarkStrategy.no_watermarks()


def after(env, wait_for, rows):
    """Make a stream of rows that each wait for a word: (word, key, time)."""
    from pyflink.common import Types

    def waited(row):
        wait_for(row[0])
        return row[1:]

    three = Types.TUPLE([Types.STRING(), Types.STRING(), Types.LONG()])
    return env.from_collection(rows, three).map(waited, tried.row()).disable_chaining()


def union_with_a_silent_one(folder):
    """The silent one goes on until all rows of the other have been seen, and then has a row, too."""

    def make(env):
        wait_for, say = tried.words(folder)
        runs = tried.stamped(env, [("run", 10), ("run", 20), ("run", 30)])
        silent = after(env, wait_for, [("run 30", "rule", 1)]).assign_timestamps_and_watermarks(no_watermarks())
        return runs.union(silent).key_by(lambda row: 1).process(keyed_met(say), tried.text())

    return make


def broadcast(runs, rules, out):
    from pyflink.common import Types
    from pyflink.datastream.functions import KeyedBroadcastProcessFunction
    from pyflink.datastream.state import MapStateDescriptor

    state = MapStateDescriptor("rules", Types.STRING(), Types.LONG())

    class Both(KeyedBroadcastProcessFunction):
        def process_element(self, row, context):
            assert not hasattr(context.get_broadcast_state(state), "put")
            context.timer_service().register_event_time_timer(row[1])
            yield row

        def process_broadcast_element(self, row, context):
            context.get_broadcast_state(state).put(row[0], row[1])
            yield row

        def on_timer(self, time_ms, context):
            return []

    return runs.key_by(lambda row: row[0], Types.STRING()).connect(rules.broadcast(state)).process(Both(), out)


def runs_until(env, wait_for, folder, last):
    """Give a run every 20 ms until the windows have a watermark, and then the last ones."""
    place = str(folder)

    def runs(_):
        at_ms = 0
        while not os.path.exists(f"{place}/moved"):
            at_ms += 10
            yield "run", at_ms
            time.sleep(0.02)
        for word, at_ms in last:
            wait_for(word)
            yield "run", at_ms

    stream = env.from_collection([0]).flat_map(runs, tried.row()).disable_chaining()
    return stream.assign_timestamps_and_watermarks(tried.strategy())


def silent_rules(folder):
    """The stream of rules ends when all runs have been seen."""

    def make(env):
        wait_for, say = tried.words(folder)
        runs = tried.stamped(env, [("run", 10), ("run", 20), ("run", 30)])
        rules = after(env, wait_for, [("", "rule", 1), ("run 30", "rule", 2)])
        both = broadcast(runs, rules.assign_timestamps_and_watermarks(no_watermarks()), tried.row())
        return both.key_by(lambda row: 1).process(keyed_met(say), tried.text())

    return make


def rules_that_end(folder):
    def make(env):
        wait_for, say = tried.words(folder)
        rules = env.from_collection([("rule", 1)], tried.row()).assign_timestamps_and_watermarks(no_watermarks())
        both = broadcast(runs_until(env, wait_for, folder, []), rules, tried.row())
        return both.key_by(lambda row: 1).process(keyed_met(say), tried.text())

    return make


def idle_rules(folder):
    """A second rule comes when the first has been idle; after it the watermark goes on at once."""

    def make(env):
        from pyflink.common import Duration

        wait_for, say = tried.words(folder)
        last = [("rule 2", 10**6), ("", 10**6 + 10), ("", 10**6 + 20)]
        rules = after(env, wait_for, [("", "rule", 1), ("moved", "rule", 2), (f"run {last[-1][1]}", "rule", 3)])
        idle = no_watermarks().with_idleness(Duration.of_millis(300))
        runs = runs_until(env, wait_for, folder, last)
        both = broadcast(runs, rules.assign_timestamps_and_watermarks(idle), tried.row())
        return both.key_by(lambda row: 1).process(keyed_met(say), tried.text())

    return make


# Lesson 13 ----------------------------------------------------------------------------------------------------------

FAR_MS = 10**12
ON_BOTH_SIDES = "both"


def interval_join(folder):
    """Between two rows a pair of the test itself shows that the join has seen the first and its watermark."""
    rows = [("L", "a", 10), ("R", "a", 12), ("R", "a", 100), ("L", "a", 98), ("L", "a", 99), ("L", "a", 110)]
    rows += [("R", "a", 108), ("R", "a", 109)]

    def make(env):
        from pyflink.common import Types
        from pyflink.datastream import DataStream

        wait_for, say = tried.words(folder)
        named = []
        for n, row in enumerate(rows):
            named += [(f"word{n - 1}" if n else "", *row), ("", ON_BOTH_SIDES, f"word{n}", FAR_MS + n)]

        def waited(row):
            wait_for(row[0])
            return row[1:]

        def said(line):
            if "word" in line:
                say(line.split(",")[0].split()[-1])
            return line

        kind = Types.TUPLE([Types.STRING()] * 3 + [Types.LONG()])
        three = Types.TUPLE([Types.STRING()] * 2 + [Types.LONG()])
        stream = env.from_collection(named, kind).map(waited, three).disable_chaining()
        stamped = stream.assign_timestamps_and_watermarks(tried.strategy(0, lambda row: row[2]))
        sides = [
            stamped.filter(lambda row, side=side: row[0] in (side, "both"))
            .map(lambda row: f"{row[1]},{row[2]}", tried.text())
            ._j_data_stream
            for side in "LR"
        ]
        return DataStream(tried.java().tried.Tried.intervalJoin(*sides)).map(said, tried.text())

    return make


ALONE = [
    strategy_twice,
    filter_in_front,
    filter_behind,
    order,
    split,
    late_stream_with_a_strategy,
    late_stream_in_java,
    corrections_in_java,
    numbered_firings,
    on_the_way,
    timers,
    timer_of_expired_state,
]
IN_STEP = [union_with_a_silent_one, silent_rules, rules_that_end, idle_rules, interval_join]


@pytest.fixture(scope="module")
def lines(flink, tmp_path_factory):
    """Run all pipelines in one job."""
    pipelines = {make.__name__: make for make in ALONE}
    pipelines["corrections dropped"] = second_window(0, "sums")
    pipelines["corrections added"] = second_window(100, "sums")
    pipelines["first results"] = second_window(0, "times")
    pipelines |= {make.__name__: make(tmp_path_factory.mktemp(make.__name__)) for make in IN_STEP}
    return tried.run_all(pipelines)


def test_of_two_strategies_the_second_counts_and_only_max_of_the_first_goes_through(lines):
    assert lines["strategy_twice"] == [
        f"1. 18 meets {MIN_MS}",
        "2. 60 meets 12",
        "3. 100 meets 54",
        f"4. timer at {MAX_MS}",
    ]


def test_a_strategy_behind_a_filter_sees_only_what_passes(lines):
    assert lines["filter_in_front"] == [f"10 has 10 and meets {MIN_MS}", "20 has 20 and meets 9"]
    assert lines["filter_behind"] == [f"10 has 10 and meets {MIN_MS}", "20 has 20 and meets 999"]


def test_a_window_has_its_events_in_their_order_of_arrival(lines):
    assert lines["order"][0] == "0: [9, 2, 5, 1] at 9"


def test_late_events_are_split_off_without_a_window(lines):
    assert lines["split"] == ["in time 10", "in time 30", "in time 30", "late 29"]


def test_the_late_stream_keeps_its_clock_in_java_and_needs_a_strategy_of_its_own(lines):
    assert {"late a,2 has 2 and meets 29", "late again a,2", "late again a,3"} < set(lines["late_stream_in_java"])
    assert not [line for line in lines["late_stream_in_java"] if line.startswith(("second window", "behind a map"))]
    assert lines["late_stream_with_a_strategy"] == [f"0: [2, 3] at {MAX_MS}", f"10: [15] at {MAX_MS}"]


def test_a_correction_is_dropped_by_a_second_window_or_counts_beside_the_first_result(lines):
    assert "the sum stays 1 + 1 = 2" in PROSE["04"].lower()
    assert [line for line in lines["corrections dropped"] if line.startswith("0:")] == ["0: 1 + 1"]
    assert "1 + 1 + 2 = 4" in PROSE["04"]
    assert [line for line in lines["corrections added"] if line.startswith("0:")] == ["0: 1 + 1", "0: 1 + 1 + 2"]


def test_a_result_has_the_last_millisecond_of_its_window_and_comes_before_the_watermark(lines):
    """In PyFlink a correction has the time of the late event, in Java that of the window."""
    assert lines["first results"].count("1 has 9 and meets 4") == 2
    assert "2 has 8 and meets 24" in lines["first results"]
    assert "a,1+a,8 has 9 and meets 29" in lines["corrections_in_java"]


def test_a_window_function_can_count_its_firings(lines):
    assert [line for line in lines["numbered_firings"] if line.startswith(("0:", "30:"))] == [
        "0: firing 1",
        "0: firing 2",
        "0: firing 3",
        "30: firing 1",
    ]


def test_a_continuous_trigger_fires_each_ten_minutes_of_event_time_also_without_anything_new(lines):
    found = [line for line in lines["on_the_way"] if line.startswith("0: [60000")]
    assert found[-3:] == [f"0: [60000, 720000] at {at}" for at in (1_259_999, 1_859_999, 719_999)]
    assert set(found[:-3]) == {"0: [60000, 720000, 2100000] at 3659999"}


def test_a_timer_that_is_over_waits_for_the_next_watermark_and_none_is_called_in_silence(lines):
    assert lines["timers"] == [
        f"1. 5 meets {MIN_MS}",
        "2. 8 meets 4",
        "3. timer 1 at 7",
        "4. 30 meets 7",
        "5. timer 25 at 29",
        f"6. timer {10**15} at {MAX_MS}",
    ]


def test_a_ttl_deletes_no_timer(lines):
    assert lines["timer_of_expired_state"] == ["timer 10, state None"]


def test_a_silent_stream_of_rules_or_of_a_union_holds_the_watermark(lines):
    for name in ("union_with_a_silent_one", "silent_rules"):
        runs = [line for line in lines[name] if line.startswith("run")]
        assert runs == [f"run {at} meets {MIN_MS}" for at in (10, 20, 30)]


def test_rules_that_end_hold_nothing(lines):
    assert not all(line.endswith(f"meets {MIN_MS}") for line in lines["rules_that_end"])


def test_idle_rules_hold_nothing_and_a_new_rule_makes_them_not_active(lines):
    assert "`WatermarkStrategy.no_watermarks().with_idleness(" in PROSE["06"]
    assert "rule 2" in {line.partition(" meets ")[0] for line in lines["idle_rules"]}
    assert {"run 1000010 meets 999999", "run 1000020 meets 1000009"} < set(lines["idle_rules"])


def test_the_interval_join_of_java_refuses_what_is_older_than_the_watermark_even_with_a_partner(lines):
    assert [line for line in lines["interval_join"] if "word" not in line] == [
        "late left a,98",
        "late right a,108",
        "pair a,10 a,12",
        "pair a,110 a,109",
        "pair a,99 a,100",
    ]


# What fails ----------------------------------------------------------------------------------------------------------


def window_on_the_late_stream(env):
    result, tag = late_stream(env)
    late = result.get_side_output(tag).map(lambda row: row, tried.row())
    return windowed(late).process(content(), tried.text())


def side_output_behind_a_map(env):
    result, tag = late_stream(env)
    mapped = result.map(lambda line: line, tried.text()).disable_chaining()
    return mapped.union(mapped.get_side_output(tag).map(lambda row: f"late {row[1]}", tried.text()))


def timer_without_a_key(env):
    from pyflink.datastream.functions import ProcessFunction

    class Timer(ProcessFunction):
        def process_element(self, row, context):
            context.timer_service().register_event_time_timer(10)
            yield ""

    return tried.stamped(env, [("a", 1)]).process(Timer(), tried.text())


def watermark_in_a_broadcast(env):
    from pyflink.datastream.functions import KeyedBroadcastProcessFunction
    from pyflink.datastream.state import MapStateDescriptor

    class Both(KeyedBroadcastProcessFunction):
        def process_element(self, row, context):
            assert context.timer_service().current_watermark() == -(2**63)
            yield str(context.current_watermark())

        def process_broadcast_element(self, row, context):
            yield str(context.current_watermark())

    rules = tried.stamped(env, [("rule", 1)]).broadcast(MapStateDescriptor("rules", tried.text(), tried.text()))
    runs = tried.stamped(env, [("run", 10)]).key_by(lambda row: row[0], tried.text())
    return runs.connect(rules).process(Both(), tried.text())


def watermark_behind_a_window(env):
    results, _ = late_stream(env)
    pairs = results.map(lambda line: ("a", 1), tried.row())
    return pairs.process(met(), tried.text())


NO_WATERMARK = "'pemja.PyJObject' object has no attribute 'currentWatermark'"


@pytest.mark.parametrize(
    ("make", "number", "message"),
    [
        (window_on_the_late_stream, "04", "Record has Java Long.MIN_VALUE timestamp"),
        (side_output_behind_a_map, "04", "cannot be cast"),
        (timer_without_a_key, "09", "Register timers is only supported on a keyed stream"),
        (watermark_in_a_broadcast, "14", NO_WATERMARK),
        (watermark_behind_a_window, "14", NO_WATERMARK),
    ],
)
def test_what_the_lessons_say_fails_does_so(flink, make, number, message):
    with pytest.raises(FlinkError, match=message):
        tried.run_all({"fails": make})
    assert message in PROSE[number]


# What Flink's own classes say ---------------------------------------------------------------------------------------


def test_defaults_that_the_lessons_name(flink):
    java = tried.java().org.apache.flink
    bundles, checkpoints = java.python.PythonOptions, java.configuration.CheckpointingOptions
    assert bundles.MAX_BUNDLE_SIZE.defaultValue() == bundles.MAX_BUNDLE_TIME_MILLS.defaultValue() == 1000
    assert bundles.MAX_BUNDLE_SIZE.key() == "python.fn-execution.bundle.size"
    assert bundles.MAX_BUNDLE_TIME_MILLS.key() == "python.fn-execution.bundle.time"
    assert "up to 1,000 rows, or what comes within a second (`python.fn-execution.bundle.size`" in PROSE["14"]
    finished = checkpoints.ENABLE_CHECKPOINTS_AFTER_TASKS_FINISH
    assert finished.defaultValue()
    assert f"`{finished.key()}` is on by default" in PROSE["10"]
    kept = checkpoints.EXTERNALIZED_CHECKPOINT_RETENTION
    assert str(kept.defaultValue()) == "NO_EXTERNALIZED_CHECKPOINTS"
    assert f"its checkpoints are deleted, unless `{kept.key()}` says otherwise" in PROSE["11"]


def test_a_strategy_is_never_changed_but_a_new_one_is_given_back(flink):
    time_package = tried.java().java.time
    strategy = tried.java().org.apache.flink.api.common.eventtime.WatermarkStrategy.forMonotonousTimestamps()
    assert not strategy.withIdleness(time_package.Duration.ofSeconds(1)).equals(strategy)
    from pyflink.common import Duration, WatermarkStrategy

    in_python = WatermarkStrategy.for_monotonous_timestamps()
    assert in_python.with_idleness(Duration.of_seconds(1)) is not in_python
    assert "each call gives back a **new** strategy" in PROSE["07"]


def test_there_is_no_time_characteristic_any_more(flink):
    java = tried.java()
    loader = java.Thread.currentThread().getContextClassLoader()
    environment = "org.apache.flink.streaming.api.environment.StreamExecutionEnvironment"
    methods = {method.getName() for method in java.Class.forName(environment, True, loader).getMethods()}
    assert "execute" in methods
    assert not {name for name in methods if "TimeCharacteristic" in name}
    from pyflink.datastream import StreamExecutionEnvironment

    assert not {name for name in dir(StreamExecutionEnvironment) if "time_characteristic" in name}
    assert "`setStreamTimeCharacteristic`. In 2.3.0 it is gone" in PROSE["01"]


def test_an_operator_with_two_inputs_has_one_watermark_among_its_metrics(flink):
    """The name with a number belongs to operators with any number of inputs, which SQL makes."""
    jar = next((Path(importlib.util.find_spec("pyflink").origin).parent / "lib").glob("flink-dist-*.jar"))
    with zipfile.ZipFile(jar) as classes:
        tasks = "org/apache/flink/streaming/runtime/tasks/{}InputStreamTask.class"
        of_two, of_many = (classes.read(tasks.format(kind)) for kind in ("AbstractTwo", "Multiple"))
    assert b"currentInputWatermark" in of_two
    assert b"MinWatermarkGauge" in of_two
    assert b"currentInputWatermarkName" not in of_two
    assert b"currentInputWatermarkName" in of_many
    assert "(a join, a broadcast) has one `currentInputWatermark`: the lower of both" in PROSE["15"]
