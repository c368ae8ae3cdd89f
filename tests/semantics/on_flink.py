"""Run conformance cases on Flink's own classes: ``python -m tests.semantics.on_flink FILE…``.

This is how the cases in ``cases/ours`` were settled. A case of windows runs as a local job that is one chain in one
thread; assigners and generators are called directly.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.semantics.cases import Case, Output, load, same
from wmviz.flink import FlinkError, program, startup
from wmviz.times import MAX_MS, MIN_MS

RUNS = ("window", "window_assigner", "watermark_generator", "session", "recovery")


def runs(case: Case) -> bool:
    """Say whether a case can be run here.

    A punctuated generator is the user's, so there is none of Flink's to ask. A job that crashes has one lateness, and
    nobody sees its state; ``tests/differential/test_restore.py`` runs the operator alone for that.
    """
    is_of_operator = any(step.get("op") in ("state", "clock") or "lateness_ms" in step for step in case["input"])
    is_of_user = case.get("params", {}).get("generator") == "punctuated_on_marker"
    return case["mechanism"] in RUNS and not is_of_operator and not is_of_user


def outputs_of_all(cases: Sequence[Case]) -> list[list[Output]]:
    """Run cases on Flink and give all that came out of each.

    Raises
    ------
    FlinkError
        If Flink cannot run here.
    """
    oracle = _Oracle()
    windows = [case for case in cases if case["mechanism"] in ("window", "session")]
    # A job that fails takes all its cases with it, so those that should fail go last.
    windows.sort(key=lambda case: any("error" in output for output in case["expected"]))
    ran = dict(zip((case["id"] for case in windows), oracle.windows(windows), strict=True))
    crashing = [case for case in cases if case["mechanism"] == "recovery"]
    ran |= oracle.crashes(crashing)
    alone = {"window_assigner": oracle.assigner, "watermark_generator": oracle.generator}
    return [
        ran[case["id"]] if case["id"] in ran else alone[case["mechanism"]](case.get("params", {}), case["input"])
        for case in cases
    ]


class _Oracle:
    def __init__(self) -> None:
        self._job = startup.job()
        own = [
            Path(__file__).with_name(name).read_text(encoding="utf-8")
            for name in ("CaseJob.java", "CrashingSource.java")
        ]
        self._jar = startup.compiled(*own, program.source("LateCounter.java"))
        self._env = self._job.environment(self._jar)  # makes the classes known to the gateway
        self._java = self._job.get_gateway().jvm
        self._flink = self._java.org.apache.flink
        self._windowing = self._flink.streaming.api.windowing
        self._own = self._java.cases

    def _duration(self, ms: int) -> Any:
        return self._java.java.time.Duration.ofMillis(ms)

    # ------------------------------------------------------------------------------------------------- windows

    def windows(self, cases: Sequence[Case]) -> list[list[Output]]:
        """Run all in one job; a job that fails takes the others with it, so those of a failed job run alone."""
        try:
            return self._run(cases)
        except FlinkError as error:
            if len(cases) == 1:
                return [self._failed(cases[0], _name(error))]
            half = len(cases) // 2
            return [*self.windows(cases[:half]), *self.windows(cases[half:])]

    def crashes(self, cases: Sequence[Case]) -> dict[str, list[Output]]:
        """Run cases of recovery; those again that did not start once more after each of their crashes.

        That is rare: a task that fails while it starts or ends can pass for one that has ended.
        """
        ran: dict[str, list[Output]] = {}
        for _ in range(5):
            cases = [case for case in cases if case["id"] not in ran]
            if not cases:
                break
            came = dict(zip((case["id"] for case in cases), self.windows(cases), strict=True))
            ran |= {case["id"]: came[case["id"]] for case in cases if self._is_whole(case)}
        if left := [case["id"] for case in cases if case["id"] not in ran]:
            raise FlinkError(f"Flink did not restart after each crash in {', '.join(left)}.")
        return ran

    def _is_whole(self, case: Case) -> bool:
        crashes = sum(step["op"] == "fail_and_restore" for step in case["input"])
        return bool(self._java.System.getProperties().get(f"starts of {case['id']}") == crashes + 1)

    def _run(self, cases: Sequence[Case]) -> list[list[Output]]:
        with startup.sentences():
            env = self._job.environment(self._jar)
            if any(case["mechanism"] == "recovery" for case in cases):
                env.configure(self._restarting())
            for case in cases:
                self._pipeline(env, case)
            if cases:
                env.execute("cases")
        return [self._journal(case) for case in cases]

    def _restarting(self) -> Any:
        """Give the settings of a job that takes checkpoints all the time and restarts at once after each crash."""
        settings = self._job.Configuration()
        settings.set_string("execution.checkpointing.interval", "10 ms")
        # A crash takes the checkpoint with it that the other cases of this job wait for; that must not fail them.
        settings.set_string("execution.checkpointing.tolerable-failed-checkpoints", "100000")
        settings.set_string("restart-strategy.type", "fixed-delay")
        settings.set_string("restart-strategy.fixed-delay.attempts", "100000")
        settings.set_string("restart-strategy.fixed-delay.delay", "0 ms")
        return settings

    def _source(self, env: Any, case: Case, rows: Any, begin: Any, text: Any) -> Any:
        """Give the stream of the rows, with timestamps and watermarks."""
        environment, name = env._j_stream_execution_environment, case["id"]
        if case["mechanism"] == "recovery":
            for counted in ("position", "starts"):
                self._java.System.getProperties().put(f"{counted} of {name}", 0)
            return environment.addSource(self._own.CrashingSource(name, rows, begin), text)
        stream = environment.fromCollection(rows, text).map(begin, text)
        return stream.assignTimestampsAndWatermarks(self._own.CaseJob.Strategy()).filter(self._own.CaseJob.Events())

    def _pipeline(self, env: Any, case: Case) -> None:
        params, rows = case["params"], self._java.java.util.ArrayList()
        for step, op in enumerate([*case["input"], {"op": "end"}]):
            rows.add("\t".join(map(str, (step, op["op"], op.get("key", "k"), _timestamp_ms(op), op.get("v", "")))))
        properties, own, name = self._java.System.getProperties(), self._own, case["id"]
        properties.put(f"journal of {name}", self._java.java.util.ArrayList())
        properties.put(f"dropped of {name}", 0)
        properties.put(f"row of {name}", "0\tbefore\t\t\t")
        journal = own.CaseJob.Journal(name)
        text = self._flink.api.common.typeinfo.Types.STRING
        stream = self._source(env, case, rows, own.CaseJob.Begin(journal), text)
        keyed = self._flink.streaming.api.datastream.DataStreamUtils.reinterpretAsKeyedStream(
            stream, own.CaseJob.Key(), text
        )
        windowed = keyed.window(self._assigner(params))
        trigger = self._trigger(params.get("trigger") or "default")
        if trigger is not None:
            windowed = windowed.trigger(trigger)
        if "lateness_ms" in params:
            windowed = windowed.allowedLateness(self._duration(params["lateness_ms"]))
        late = self._flink.util.OutputTag("late", text)
        if params.get("side_output"):
            windowed = windowed.sideOutputLateData(late)
        fired = windowed.process(own.CaseJob.Fire(journal), text).name(f"window of {name}")
        if params.get("side_output"):
            fired.getSideOutput(late).map(own.CaseJob.Late(journal), text)
        watermarks = own.CaseJob.Watermarks(journal)
        sink = self._flink.streaming.api.functions.sink.v2.DiscardingSink()
        fired.transform("watermarks", text, watermarks).sinkTo(sink)

    def _journal(self, case: Case) -> list[Output]:
        properties, came = self._java.System.getProperties(), []
        logs_watermarks = case["params"].get("log_watermarks")
        for line in properties.get(f"journal of {case['id']}"):
            step, what, *rest = line.split("\t")
            if int(step) >= len(case["input"]):
                break  # the source has ended: its MAX is no part of the case
            if what == "fire":
                key, start, end, watermark, *elements = rest
                window = "global" if start == "global" else [int(start), int(end)]
                fire = {"key": key, "window": window, "elements": sorted(elements), "at_watermark": int(watermark)}
                came.append({"step": int(step), "fire": fire})
            elif what != "watermark":
                came.append({"step": int(step), what: rest[0]})
            elif logs_watermarks:
                came.append({"step": int(step), what: int(rest[0])})
        return came

    def _failed(self, case: Case, why: str) -> list[Output]:
        row = self._java.System.getProperties().get(f"row of {case['id']}")
        return [*self._journal(case), {"step": int(row.split("\t")[0]), "error": why}]

    # ------------------------------------------------------------------------------------------------- assigners

    def _assigner(self, params: Mapping[str, Any]) -> Any:
        assigners = self._windowing.assigners
        size = self._duration(params.get("size_ms", 0))
        offset = self._duration(params.get("offset_ms", 0))
        match params["assigner"]:
            case "tumbling":
                return assigners.TumblingEventTimeWindows.of(size, offset)
            case "sliding":
                return assigners.SlidingEventTimeWindows.of(size, self._duration(params["slide_ms"]), offset)
            case "session":
                return assigners.EventTimeSessionWindows.withGap(self._duration(params["gap_ms"]))
            case _:
                return assigners.GlobalWindows.create()

    def _trigger(self, name: str) -> Any:
        triggers = self._windowing.triggers
        base, _, number = name.removeprefix("purging_").partition(":")
        if base == "default":
            return None
        if base == "end_of_stream":
            trigger = self._windowing.assigners.GlobalWindows.createWithEndOfStreamTrigger().getDefaultTrigger()
            trigger = self._own.CaseJob.Asks(trigger)
        elif base == "event_time":
            trigger = triggers.EventTimeTrigger.create()
        else:
            trigger = triggers.CountTrigger.of(int(number))
        return triggers.PurgingTrigger.of(trigger) if name.startswith("purging_") else trigger

    def assigner(self, params: Mapping[str, Any], steps: Iterable[Mapping[str, Any]]) -> list[Output]:
        """Ask an assigner for the windows of each timestamp."""
        try:
            with startup.sentences():
                assigner = self._assigner(params)
        except FlinkError as error:
            return [{"step": 0, "error": _name(error)}]
        clock = self._own.CaseJob.Clock()
        outputs: list[Output] = []
        for step, given in enumerate(steps):
            try:
                with startup.sentences():
                    found = assigner.assignWindows("", _timestamp_ms(given), clock)
            except FlinkError as error:  # noqa: PERF203 - an assigner has no state: the next timestamp is asked too
                outputs.append({"step": step, "error": _name(error)})
            else:
                outputs.append({"step": step, "windows": [_shown(window) for window in found]})
        return outputs

    # ------------------------------------------------------------------------------------------------- generators

    def generator(self, params: Mapping[str, Any], steps: Iterable[Mapping[str, Any]]) -> list[Output]:
        """Call a generator of Flink; at level operator through the filter of TimestampsAndWatermarksOperator."""
        eventtime = self._flink.api.common.eventtime
        strategies, output = eventtime.WatermarkStrategy, self._own.CaseJob.Emitted()
        into = output
        if params["level"] == "operator":
            output = self._own.CaseJob.Passed()
            operators = self._flink.streaming.runtime.operators
            into = operators.TimestampsAndWatermarksOperator.WatermarkEmitter(output)
        outputs: list[Output] = []
        try:
            with startup.sentences():
                strategy = {
                    "bounded": lambda: strategies.forBoundedOutOfOrderness(self._duration(params["bound_ms"])),
                    "ascending": strategies.forMonotonousTimestamps,
                    "none": strategies.noWatermarks,
                }[params["generator"]]()
                generator = strategy.createWatermarkGenerator(None)
        except FlinkError as error:
            return [{"step": 0, "error": _name(error)}]
        for step, given in enumerate(steps):
            if given["op"] == "event":
                if params.get("log_records"):
                    outputs.append({"step": step, "record": given["ts"]})
                generator.onEvent(None, _timestamp_ms(given), into)
            elif given["op"] in ("tick", "finish"):
                generator.onPeriodicEmit(into)
            elif given["op"] == "upstream_watermark" and given["ts"] == MAX_MS and params["level"] == "operator":
                into.emitWatermark(eventtime.Watermark.MAX_WATERMARK)
            outputs += [{"step": step, "watermark": watermark} for watermark in output.take()]
        return outputs


def _name(error: FlinkError) -> str:
    """Give the class of the exception that a Java stack begins with, the innermost one."""
    found = re.findall(r"^(?:Caused by: |: )([\w.$]+)", error.java_stack or "", re.MULTILINE)
    return found[-1].rsplit(".", 1)[-1] if found else str(error)


def _timestamp_ms(step: Mapping[str, Any]) -> int:
    timestamp_ms = step.get("ts")
    return MIN_MS if timestamp_ms is None else int(timestamp_ms)


def _shown(window: Any) -> Any:
    return [window.getStart(), window.getEnd()] if window.getClass().getSimpleName() == "TimeWindow" else "global"


def main(paths: Sequence[str]) -> int:
    """Compare the cases of files with Flink; print each that differs, and the sum."""
    cases = [case for path in paths for case in load(Path(path)) if runs(case)]
    failed = 0
    for case, came in zip(cases, outputs_of_all(cases), strict=True):
        if not same(case["expected"], came):
            failed += 1
            print(f"{case['id']}: expected {json.dumps(case['expected'])}, Flink gave {json.dumps(came)}")
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
