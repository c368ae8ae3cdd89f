"""Our engine against what a learner would otherwise run: local PyFlink, and Beam's DirectRunner, which comes with it.

The same events, windows and aggregate everywhere; results only. PyFlink runs warm, in thread mode, with the punctuated
strategy and an incremental aggregate, and only the job itself is timed, not the building of it. Beam has its own
event-time windows. All three must give the same totals.

Run: ``python -m benchmarks.flink_speed``. Prints the times of one run and their ratios.
"""

import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import cloudpickle

from wmviz.engine.simulate import simulate
from wmviz.flink import replay, startup
from wmviz.scenario import Scenario

SIZES = (10_000, 100_000)
AIMS = {"PyFlink": 50, "Beam": 20}
WINDOW_MS = 60_000
LIMIT_S = 600
Totals = dict[tuple[str, int], int]


def steady(events: int) -> Scenario:
    """Make a steady stream of an event a second for 10 keys, up to 10 s out of order; nothing is late."""
    generator = {"generate": "steady", "events": events, "keys": 10, "seed": 7, "spacing": "1 s", "disorder": "10 s"}
    scenario = Scenario.of(events=generator, bound="11 s", window="1 min")
    return scenario.replace(end_of_input=scenario.events[-1].arrival_time_ms + 1)


def ours(scenario: Scenario) -> tuple[float, Totals]:
    """Time our engine: the best of three."""
    runs = [_timed(lambda: simulate(scenario, trace="results")) for _ in range(3)]
    trace = runs[0][1]
    return min(seconds for seconds, _ in runs), {(f.key, f.window.start_ms): f.value for f in trace.all_firings}


def pyflink(scenario: Scenario) -> tuple[float, Totals]:
    """Time a warm PyFlink job."""
    stream = _pyflink_job(scenario)
    seconds, lines = _timed(lambda: startup.collect(stream, "benchmark", LIMIT_S))
    return seconds, _totals(lines)


def _totals(lines: list[str]) -> Totals:
    return {(key, int(start)): int(value) for key, start, value in map(str.split, lines)}


def _pyflink_job(scenario: Scenario):
    job = startup.job()
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    from pyflink.common import Time, Types, WatermarkStrategy
    from pyflink.common.watermark_strategy import TimestampAssigner
    from pyflink.datastream.functions import AggregateFunction, ProcessWindowFunction
    from pyflink.datastream.window import TumblingEventTimeWindows

    class EventTime(TimestampAssigner):
        def extract_timestamp(self, row, record_timestamp):
            return row[2]

    class Total(AggregateFunction):
        def create_accumulator(self):
            return 0

        def add(self, row, total):
            return total + row[1]

        def get_result(self, total):
            return total

        def merge(self, a, b):
            return a + b

    class Line(ProcessWindowFunction):
        def process(self, key, context, totals):
            yield f"{key} {context.window().start} {next(iter(totals))}"

    jvm = job.get_gateway().jvm
    env = job.environment(replay.jar())
    strategy = jvm.replay.ReplayStrategy(jvm.java.time.Duration.ofMillis(scenario.bound_ms), True)
    rows = [(event.key, event.value, event.event_time_ms) for event in scenario.events]
    return (
        env.from_collection(rows)
        .assign_timestamps_and_watermarks(WatermarkStrategy(strategy).with_timestamp_assigner(EventTime()))
        .key_by(lambda row: row[0])
        .window(TumblingEventTimeWindows.of(Time.milliseconds(WINDOW_MS)))
        .aggregate(Total(), Line(), output_type=Types.STRING())
    )


def beam(scenario: Scenario) -> tuple[float, Totals]:
    """Time Beam's DirectRunner."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import apache_beam
        from apache_beam.transforms import trigger, window

    results = Path(tempfile.mkdtemp(), "totals")  # the runner works on copies of its functions

    class Keep(apache_beam.DoFn):
        def start_bundle(self):
            self.lines = []

        def process(self, total, bounds=apache_beam.DoFn.WindowParam):
            self.lines.append(f"{total[0]} {bounds.start.micros // 1000} {total[1]}\n")
            return ()

        def finish_bundle(self):
            with results.open("a") as file:
                file.writelines(self.lines)

    pipeline = apache_beam.Pipeline("DirectRunner")
    rows = [((event.key, event.value), event.event_time_ms / 1000) for event in scenario.events]
    _ = (
        pipeline
        | apache_beam.Create(rows)
        | apache_beam.MapTuple(lambda row, seconds: window.TimestampedValue(row, seconds))
        | apache_beam.WindowInto(
            window.FixedWindows(WINDOW_MS // 1000),
            trigger=trigger.AfterWatermark(),
            accumulation_mode=trigger.AccumulationMode.ACCUMULATING,
        )
        | apache_beam.CombinePerKey(sum)
        | apache_beam.ParDo(Keep())
    )
    seconds, _ = _timed(lambda: pipeline.run().wait_until_finish())
    return seconds, _totals(results.read_text().splitlines())


def _timed(work: Callable):
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def main() -> None:
    """Print the times and ratios."""
    os.environ.setdefault("JVM_ARGS", "")  # Java as it comes, not tuned for short jobs
    scenarios = [steady(size) for size in SIZES]
    # Beam comes first: once PyFlink is loaded it claims Beam's operators for itself.
    for name, run in (("Beam", beam), ("PyFlink", pyflink)):
        run(steady(1_000))
        for scenario in scenarios:
            before, our_totals = ours(scenario)
            seconds, totals = run(scenario)
            our_seconds = min(before, ours(scenario)[0])  # on both sides: the machine may be busy with other things
            same = "the same totals" if totals == our_totals else "OTHER TOTALS"
            print(
                f"{len(scenario.events):,} events: wmviz {our_seconds:.3f} s, {name} {seconds:.3f} s, "
                f"{seconds / our_seconds:.0f} times ours (aim {AIMS[name]}), {same}",
                flush=True,
            )


if __name__ == "__main__":
    main()
