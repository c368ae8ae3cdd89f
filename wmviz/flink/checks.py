"""What only Flink itself can answer: small questions to its classes, or to a job that runs for a moment."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from wmviz.flink import program, recorded, startup
from wmviz.flink.alignment import align
from wmviz.flink.barriers import barriers
from wmviz.flink.replay import RECORD_SWITCH, jar
from wmviz.flink.rest import Rest, live
from wmviz.flink.resume import resume
from wmviz.flink.standalone import free_port
from wmviz.flink.startup import ENGINE, LIMIT_S, FlinkError
from wmviz.scenario import ScenarioError, json_text
from wmviz.times import MIN_MS, time_ms

FOLDER = recorded.FOLDER / "checks"
POLL_S = 0.1
SEEN_SOON = {"metrics.fetcher.update-interval": "200", "web.refresh-interval": "100"}

Answer = Mapping[str, Any]


def ask(name: str) -> Answer:
    """Ask Flink.

    Parameters
    ----------
    name
        One of `QUESTIONS`.

    Returns
    -------
    Mapping
        The answer, as JSON data; where PyFlink is missing, and to the questions of `LONG`, one that was recorded.

    Raises
    ------
    ScenarioError
        If there is no such question.
    FlinkError
        If the job behind the question fails or takes too long.
    """
    if name not in QUESTIONS:
        raise ScenarioError(f"{name!r} is no question to Flink; write one of {', '.join(QUESTIONS)}")
    can, why = startup.available()
    recording = bool(os.environ.get(RECORD_SWITCH))
    if not can or (name in LONG and not recording):
        recorded.show_label(ENGINE, why or LONG[name])
        return answered(name)
    startup.job()
    with startup.sentences():
        answer = QUESTIONS[name]()
    if recording:
        FOLDER.mkdir(exist_ok=True)
        _path(name).write_text(json_text(dict(answer)), encoding="utf-8")
    return answer


def answered(name: str) -> Answer:
    """Give the recorded answer to a question."""
    answer: Answer = json.loads(_path(name).read_text(encoding="utf-8"))
    return answer


def _path(name: str) -> Path:
    return FOLDER / f"{name}.json"


def _java() -> Any:
    return startup.job().get_gateway().jvm


def _state_backends() -> Answer:
    """Say which class Flink loads for each setting of ``state.backend.type``, and which is its default."""
    java = _java()
    loader = java.java.lang.Thread.currentThread().getContextClassLoader()

    def backend(setting: str | None) -> str:
        settings = java.org.apache.flink.configuration.Configuration()
        if setting is not None:
            settings.setString("state.backend.type", setting)
        loaded = java.org.apache.flink.runtime.state.StateBackendLoader.loadStateBackendFromConfig(
            settings, loader, None
        )
        return str(loaded.getClass().getSimpleName())

    default = java.org.apache.flink.configuration.StateBackendOptions.STATE_BACKEND.defaultValue()
    return {
        "default": default,
        "backends": {"nothing is set": backend(None), "state.backend.type: rocksdb": backend("rocksdb")},
    }


def _assigner_order() -> Answer:
    """Say in which API an assigner is still there when ``withIdleness`` is called after it."""
    from pyflink.common import Duration, WatermarkStrategy

    java = _java()
    compiler = java.org.codehaus.janino.SimpleCompiler()
    compiler.cook(program.source("Numbers.java"))
    numbers = compiler.getClassLoader().loadClass("checks.Numbers").newInstance()
    strategy = java.org.apache.flink.api.common.eventtime.WatermarkStrategy.forMonotonousTimestamps()
    strategy = strategy.withTimestampAssigner(numbers).withIdleness(java.java.time.Duration.ofMillis(1000))
    stamped = strategy.createTimestampAssigner(None).extractTimestamp(7, MIN_MS)

    own = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(_event_time())
    after = own.with_idleness(Duration.of_millis(1000))
    return {"Java": stamped == 7000, "PyFlink": after._timestamp_assigner is not None}


def _watermarks_call() -> Answer:
    """Let a job run, and say what the REST call for watermarks answers for its source and for its window."""
    from pyflink.common import Configuration, Time, Types
    from pyflink.datastream import DataStream, StreamExecutionEnvironment
    from pyflink.datastream.window import TumblingEventTimeWindows

    java = _java()
    flink, long = java.org.apache.flink, java.org.apache.flink.api.common.typeinfo.Types.LONG
    settings, port, classes = Configuration(), free_port(), _numbers()
    for name, value in {**SEEN_SOON, "rest.port": str(port), "python.execution-mode": "thread"}.items():
        settings.set_string(name, value)
    with startup.tidy():
        env = StreamExecutionEnvironment.get_execution_environment(settings)
        env.add_jars(classes)
        env.set_parallelism(1)
        strategy = flink.api.common.eventtime.WatermarkStrategy.forMonotonousTimestamps()
        strategy = strategy.withTimestampAssigner(java.checks.Numbers())
        rate = flink.connector.datagen.source.DataGeneratorSource(
            java.checks.Numbers(),
            100_000,
            flink.api.connector.source.util.ratelimit.RateLimiterStrategy.perSecond(20.0),
            long,
        )
        numbers = DataStream(env._j_stream_execution_environment.fromSource(rate, strategy, "numbers", long))
        windows = numbers.key_by(lambda _: 0, Types.INT()).window(TumblingEventTimeWindows.of(Time.seconds(10)))
        sums = windows.reduce(lambda one, other: one + other).name("window")
        sums._j_data_stream.sinkTo(flink.streaming.api.functions.sink.v2.DiscardingSink())
        client = env.execute_async("watermarks call")
    try:
        return _ask_both(Rest(f"localhost:{port}"), str(client.get_job_id()))
    finally:
        client.cancel().result()


@cache
def _numbers() -> str:
    """Give the jar of the numbers; it stays until the end, since the JVM goes on looking for it."""
    return startup.compiled(program.source("Numbers.java"), program.source("LateCounter.java"))


def _ask_both(rest: Rest, job: str) -> Answer:
    """Wait until the window has a watermark, then ask for both vertices."""
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        with suppress(FlinkError):
            source, window = rest.get(f"/jobs/{job}")["vertices"][:2]
            told = {
                name: [each["id"] for each in rest.get(f"/jobs/{job}/vertices/{vertex['id']}/watermarks")]
                for name, vertex in (("source", source), ("window", window))
            }
            table = live(rest.address, job).table
            metric = table[table["task"] == source["name"]]["output_watermark_ms"].notna().any()
            if told["window"] and metric:
                return {**told, "source_has_metric": bool(metric)}
        time.sleep(POLL_S)
    raise FlinkError(f"The window had no watermark within {LIMIT_S:g} s.")


ROWS = [("r9", "6:30"), ("r7", "7:02"), ("r9", "7:05")]
"""Runner and event time, in the order of arrival."""


def _without_windows() -> Answer:
    """Run a map and a timer, each with watermarks and without, and say what came out.

    Of the map it is the number of results, of the timer the watermark at which it was called.
    """
    from pyflink.common import Types, WatermarkStrategy
    from pyflink.datastream.functions import KeyedProcessFunction

    class Timer(KeyedProcessFunction):  # type: ignore[misc]
        """Sets a timer for the last millisecond before 7:00."""

        def process_element(self, row: Any, context: Any) -> None:
            context.timer_service().register_event_time_timer(time_ms("7:00") - 1)

        def on_timer(self, timestamp: int, context: Any) -> Any:
            yield str(context.timer_service().current_watermark())

    java, text, classes = _java(), Types.STRING(), jar()
    with startup.tidy():
        env = startup.job().environment(classes)
        rows = [(runner, time_ms(at)) for runner, at in ROWS]
        streams = []
        for how in ("with", "without"):
            strategy = WatermarkStrategy.no_watermarks()
            if how == "with":
                strategy = WatermarkStrategy(
                    java.replay.ReplayStrategy(java.java.time.Duration.ofMillis(120_000), True)
                )
            strategy = strategy.with_timestamp_assigner(_event_time())
            events = env.from_collection(rows).assign_timestamps_and_watermarks(strategy)
            called = events.key_by(lambda row: "all").process(Timer(), text)
            streams += [
                events.map(lambda row, how=how: f"mapped {how} {row[0]}", text),
                called.map(lambda at_ms, how=how: f"timer {how} {at_ms}", text),
            ]
        stream = streams[0].union(*streams[1:])
    lines = [line.split() for line in startup.collect(stream, "without windows", LIMIT_S)]
    told = {
        pair: [value for *its, value in lines if its == list(pair)]
        for pair in product(("mapped", "timer"), ("with", "without"))
    }
    return {
        "mapped": {how: len(told["mapped", how]) for how in ("with", "without")},
        "timer": {how: int(told["timer", how][0]) for how in ("with", "without")},
    }


def _alignment() -> Answer:
    """Say for each place of the strategy whether a fast source was held back."""
    return {place: align(place).is_held for place in ("source", "after")}


def _barriers() -> Answer:
    """Say for each mode whether the barriers of a job whose buffers are full have overtaken events."""
    return {mode: barriers(mode).middle("in_flight_bytes") > 0 for mode in ("aligned", "unaligned")}


def _savepoint() -> Answer:
    """Stop a job with a savepoint and resume it: the watermarks that the last and the first event met."""
    done = resume()
    last, first = ([line["watermark_ms"] for line in lines if "event" in line] for lines in (done.before, done.after))
    return {"before_ms": last[-1], "after_ms": first[0]}


def _event_time() -> Any:
    """Make an assigner that takes the second field of a row."""
    from pyflink.common.watermark_strategy import TimestampAssigner

    class EventTime(TimestampAssigner):  # type: ignore[misc]
        def extract_timestamp(self, row: Any, record_timestamp: int) -> int:
            return int(row[1])

    return EventTime()


QUESTIONS: Mapping[str, Callable[[], Answer]] = {
    "state-backend": _state_backends,
    "assigner-order": _assigner_order,
    "watermarks-call": _watermarks_call,
    "without-windows": _without_windows,
    "alignment": _alignment,
    "barriers": _barriers,
    "savepoint": _savepoint,
}
"""Name of a question → what answers it."""

LONG: Mapping[str, str] = {
    "alignment": "It takes half a minute. wmviz.flink.align() runs it here.",
    "barriers": "It takes half a minute. wmviz.flink.barriers() runs it here.",
    "savepoint": "It takes a while. wmviz.flink.resume() runs it here.",
}
"""Questions that take long → why the recorded answer is shown, and how to ask."""
