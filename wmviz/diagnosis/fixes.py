"""What to change in the job, as code to paste: PyFlink, Java and SQL."""

from __future__ import annotations

REDEPLOY = (
    "Apply it from a savepoint (stop with a savepoint, start the new job from it), then read the same metric again."
)

IDLENESS = {
    "PyFlink": """\
# The assigner comes last: with_idleness after it would lose it.
strategy = (
    WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(20))
    .with_idleness(Duration.of_minutes(1))
    .with_timestamp_assigner(EventTime())
)""",
    "Java": """\
WatermarkStrategy.<Event>forBoundedOutOfOrderness(Duration.ofSeconds(20))
    .withTimestampAssigner((event, recordTimestamp) -> event.timeMs)
    .withIdleness(Duration.ofMinutes(1))""",
    "SQL": "SET 'table.exec.source.idle-timeout' = '1 min';",
}

PARALLELISM = {
    "PyFlink": """\
# One subtask for each partition, or fewer.
stream = env.from_source(source, strategy, "runs").set_parallelism({splits})""",
    "Java": """\
// One subtask for each partition, or fewer.
env.fromSource(source, strategy, "runs").setParallelism({splits})""",
    "SQL": """\
SET 'parallelism.default' = '{splits}';
-- or: SET 'table.exec.source.idle-timeout' = '1 min';""",
}

UNIT = {
    "PyFlink": """\
class EventTime(TimestampAssigner):
    def extract_timestamp(self, event, record_timestamp):
        return event.time {python}  # {unit} → ms""",
    "Java": ".withTimestampAssigner((event, recordTimestamp) -> event.time {java})  // {unit} → ms",
    "SQL": """\
rt AS TO_TIMESTAMP_LTZ({sql}, 3),  -- {unit} → ms
WATERMARK FOR rt AS rt - INTERVAL '20' SECOND""",
}

ASSIGNER = {
    "PyFlink": """\
class EventTime(TimestampAssigner):
    def extract_timestamp(self, event, record_timestamp):
        return event.time_ms  # ms since 1970, UTC

# In PyFlink the assigner works behind the source only, and only if it is attached last.
strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(20))
strategy = strategy.with_timestamp_assigner(EventTime())
stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "runs")
stream = stream.assign_timestamps_and_watermarks(strategy)""",
    "Java": """\
env.fromSource(
    source,
    WatermarkStrategy.<Event>forBoundedOutOfOrderness(Duration.ofSeconds(20))
        .withTimestampAssigner((event, recordTimestamp) -> event.timeMs),  // ms since 1970, UTC
    "runs")""",
    "SQL": """\
rt AS TO_TIMESTAMP_LTZ(time_ms, 3),
WATERMARK FOR rt AS rt - INTERVAL '20' SECOND""",
}

SMALLER_BOUND = {
    "PyFlink": "WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(20))  # not {bound}",
    "Java": "WatermarkStrategy.<Event>forBoundedOutOfOrderness(Duration.ofSeconds(20))  // not {bound}",
    "SQL": "WATERMARK FOR rt AS rt - INTERVAL '20' SECOND  -- not {bound}",
}

LATENESS = {
    "PyFlink": """\
late = OutputTag("late", Types.STRING())  # the type of your events
results = (
    keyed.window(TumblingEventTimeWindows.of(Time.minutes(1)))
    .allowed_lateness(20 * 60_000)  # for the tail; the bound is for the usual disorder
    .side_output_late_data(late)  # for what comes later still
    .process(Total())
)
results.get_side_output(late).sink_to(late_sink)""",
    "Java": """\
OutputTag<Event> late = new OutputTag<>("late") {};
SingleOutputStreamOperator<Result> results = keyed
    .window(TumblingEventTimeWindows.of(Duration.ofMinutes(1)))
    .allowedLateness(Duration.ofMinutes(20))
    .sideOutputLateData(late)
    .process(new Total());
results.getSideOutput(late).sinkTo(lateSink);""",
    "SQL": "WATERMARK FOR rt AS rt - INTERVAL '2' MINUTE  -- a larger bound: window queries drop what is late",
}

READ_SIDE_OUTPUT = {
    "PyFlink": "results.get_side_output(late).sink_to(late_sink)  # the very tag of side_output_late_data",
    "Java": "results.getSideOutput(late).sinkTo(lateSink);  // the very tag of sideOutputLateData",
}

TRIGGER = {
    "PyFlink": "keyed.window(GlobalWindows.create()).trigger(CountTrigger.of(100))",
    "Java": "keyed.window(GlobalWindows.create()).trigger(PurgingTrigger.of(CountTrigger.of(100)))",
}


def filled(fix: dict[str, str], **parts: object) -> dict[str, str]:
    """Put values into the code of a fix."""
    found = dict(fix)
    for language, text in found.items():
        for name, value in parts.items():
            text = text.replace(f"{{{name}}}", str(value))
        found[language] = text
    return found
