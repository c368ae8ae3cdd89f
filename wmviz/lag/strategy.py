"""A chosen strategy as code to paste: PyFlink, Java, SQL."""

from __future__ import annotations

from wmviz.times import duration_text, sql_interval

LANGUAGES = ("pyflink", "java", "sql")


def pyflink(bound_ms: int, lateness_ms: int, idle_ms: int | None, window_ms: int, offset_ms: int) -> str:
    """Write the strategy and the window for PyFlink. The assigner comes last, or it is lost (FLINK-32040)."""
    idle = f"\n    .with_idleness(Duration.of_millis({idle_ms}))  # {duration_text(idle_ms)}" if idle_ms else ""
    return f"""from pyflink.common import Duration, Time, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag
from pyflink.datastream.window import TumblingEventTimeWindows


class EventTime(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value.event_time_ms  # ms since the epoch


strategy = (
    WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis({bound_ms}))  # {duration_text(bound_ms)}{idle}
    .with_timestamp_assigner(EventTime())  # last: what comes after it loses the assigner
)
late = OutputTag("late")
results = (
    stream.assign_timestamps_and_watermarks(strategy)
    .key_by(lambda value: value.key)
    .window(TumblingEventTimeWindows.of({_times(window_ms, offset_ms, "Time.milliseconds({})")}))
    .allowed_lateness({lateness_ms})  # {duration_text(lateness_ms)}
    .side_output_late_data(late)
    .process(YourWindowFunction())
)
too_late = results.get_side_output(late)  # give it a sink that somebody reads
"""


def java(bound_ms: int, lateness_ms: int, idle_ms: int | None, window_ms: int, offset_ms: int) -> str:
    """Write the strategy and the window for Java."""
    idle = f"\n        .withIdleness({_duration(idle_ms)})" if idle_ms else ""
    return f"""WatermarkStrategy<Event> strategy =
    WatermarkStrategy.<Event>forBoundedOutOfOrderness({_duration(bound_ms)})
        .withTimestampAssigner((event, recordTimestamp) -> event.eventTimeMs){idle};

OutputTag<Event> late = new OutputTag<>("late") {{}};
SingleOutputStreamOperator<Result> results =
    env.fromSource(source, strategy, "events")  // on the source: a watermark for each partition
        .keyBy(event -> event.key)
        .window(TumblingEventTimeWindows.of({_times(window_ms, offset_ms, "Duration.ofMillis({}L)")}))
        .allowedLateness({_duration(lateness_ms)})
        .sideOutputLateData(late)
        .process(new YourWindowFunction());
DataStream<Event> tooLate = results.getSideOutput(late);  // give it a sink that somebody reads
"""


def sql(bound_ms: int, lateness_ms: int, idle_ms: int | None, window_ms: int, offset_ms: int) -> str:
    """Write the watermark and the window for SQL."""
    idle = f"SET 'table.exec.source.idle-timeout' = '{idle_ms} ms';  -- {duration_text(idle_ms)}\n" if idle_ms else ""
    shift = f", {sql_interval(offset_ms)}" if offset_ms else ""
    lines = [
        "CREATE TABLE events (",
        "    `key` STRING,",
        "    `value` BIGINT,",
        "    event_time TIMESTAMP_LTZ(3),",
        f"    WATERMARK FOR event_time AS event_time - {sql_interval(bound_ms)}  -- {duration_text(bound_ms)}",
        ") WITH ('connector' = '...');",
        "",
        "SELECT `key`, window_start, window_end, SUM(`value`) AS total",
        f"FROM TUMBLE(TABLE events, DESCRIPTOR(event_time), {sql_interval(window_ms)}{shift})",
        "GROUP BY `key`, window_start, window_end;",
        "",
    ]
    if lateness_ms:
        lines[7:7] = [
            f"-- No lateness of {duration_text(lateness_ms)} here: windows of SQL drop and count what is late."
        ]
    return idle + "\n".join(lines)


def _times(window_ms: int, offset_ms: int, form: str) -> str:
    size = form.format(window_ms)
    return f"{size}, {form.format(offset_ms)}" if offset_ms else size


def _duration(ms: int) -> str:
    """Write a length of time in Java, in the largest unit that has it whole."""
    for name, size in (("ofHours", 3_600_000), ("ofMinutes", 60_000), ("ofSeconds", 1_000)):
        if ms and ms % size == 0:
            return f"Duration.{name}({ms // size})"
    return f"Duration.ofMillis({ms}L)"
