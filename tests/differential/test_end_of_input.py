"""The last watermark of an input: lost if the source is idle, and the only one if no tick came before it."""

from pathlib import Path

import pytest

import wmviz
from tests.engine.noted import Noted
from wmviz.engine.watermarks import WatermarkEmitter
from wmviz.flink import program, startup
from wmviz.scenario import Scenario
from wmviz.times import MAX_MS
from wmviz.trace import Kind

CASE_JOB = Path(__file__).parents[1] / "semantics" / "CaseJob.java"


def watermarks_of_flink(name, *, idleness=False, behind=False, interval_ms=20):
    """Run a bounded source in real time, an event a second, and give the watermarks behind it."""
    job = startup.job()
    sources = (CASE_JOB, Path(__file__).with_name("IdleSource.java"))
    jar = startup.compiled(*(path.read_text(encoding="utf-8") for path in sources), program.source("LateCounter.java"))
    stream, java = job.environment(jar)._j_stream_execution_environment, job.get_gateway().jvm
    flink, properties = java.org.apache.flink, java.System.getProperties()
    properties.put(f"journal of {name}", java.java.util.ArrayList())
    properties.put(f"row of {name}", "0\tbefore\t\t\t")
    text = flink.api.common.typeinfo.Types.STRING
    strategy = flink.api.common.eventtime.WatermarkStrategy.forMonotonousTimestamps()
    strategy = strategy.withTimestampAssigner(java.differential.IdleSource.Stamps())
    if idleness:
        strategy = strategy.withIdleness(java.java.time.Duration.ofMillis(100))
    slowly = flink.api.connector.source.util.ratelimit.RateLimiterStrategy.perSecond(1.0)
    source = flink.connector.datagen.source.DataGeneratorSource(java.differential.IdleSource(), 3, slowly, text)
    stream.getConfig().setAutoWatermarkInterval(interval_ms)
    watermarks = java.cases.CaseJob.Watermarks(java.cases.CaseJob.Journal(name))
    sink = flink.streaming.api.functions.sink.v2.DiscardingSink()
    none = flink.api.common.eventtime.WatermarkStrategy.noWatermarks()
    events = stream.fromSource(source, none if behind else strategy, "source", text)
    if behind:
        events = events.assignTimestampsAndWatermarks(strategy)
    events.transform("watermarks", text, watermarks).sinkTo(sink)
    stream.execute(name)
    return [int(line.split("\t")[2]) for line in properties.get(f"journal of {name}")]


def watermarks_of_ours(last_ms, *, idle):
    out = Noted()
    emitter = WatermarkEmitter(out)
    emitter.emit(last_ms)
    if idle:
        emitter.mark_idle()
    emitter.end_of_source()
    return [call[1] for call in out.calls if call[0] == "watermark"]


@pytest.mark.parametrize("idleness", [True, False])
def test_max_arrives_only_if_the_source_is_not_idle(flink, idleness):
    came = watermarks_of_flink(f"ends idle {idleness}", idleness=idleness)
    assert came == [-1, 999, *watermarks_of_ours(1999, idle=idleness)]
    assert (came[-1] == MAX_MS) is not idleness


@pytest.mark.parametrize("behind", [True, False])
def test_max_comes_before_a_generator_is_asked_a_last_time(flink, behind):
    came = watermarks_of_flink(f"ends between ticks {behind}", behind=behind, interval_ms=3_600_000)
    settings = {"emission": "interval", "interval": "1 h", "strategy_at": "after" if behind else "source"}
    ours = wmviz.simulate(Scenario.of(events=[["k", 1, 0], ["k", 1, 1000]], window=10, end_of_input=2000, **settings))
    assert came == [MAX_MS]
    assert came == [row.value for row in ours if row.kind == Kind.WATERMARK and row.place == "window"]
