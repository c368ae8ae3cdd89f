"""What lesson 16 says in prose, held against runs; and that every claim and its verdict is in its outputs."""

import re

import pytest

import wmviz
from tests.notebooks.prose import HeldProse, read_lesson
from wmviz.course.claims import CLAIMS, THEMES, practice, tried
from wmviz.course.claims.court import job
from wmviz.flink import replay
from wmviz.times import MIN_MS, time_ms, time_text

CELLS, PROSE = read_lesson("16-claims-on-trial")
TRIALS = {number: tried(claim) for number, claim in CLAIMS.items()}
ON_OURS = [number for number, trial in TRIALS.items() if trial.engine == "wmviz" and trial.cases]
SILENT, BET = (case for case in TRIALS[27].cases)


def shown(start):
    """Give the text output of the cell whose code starts so."""
    (cell,) = (cell for cell in CELLS if cell.cell_type == "code" and cell.source.startswith(start))
    return "\n".join(str(o.get("text") or o.get("data", {}).get("text/plain", "")) for o in cell.outputs)


def run(*rows, **settings):
    return wmviz.simulate(job("asked", *rows, **settings))


NEAR = ("r9", "6:30"), ("r9", "7:00"), ("r9", "7:00:59.999"), ("r9", "7:01")
KEPT = wmviz.simulate(CLAIMS[2].jobs()["lateness 20 min"])

# A piece of the prose → whether it is so.
FACTS = {
    "takes **30 claims**": len(CLAIMS) == 30,
    "Input 1 sends every 4 s, the timeout is 1 s": (
        wmviz.scenario("idle-bet").idle_timeout_ms == 1000 and "every 4 s" in BET.where
    ),
    "and loses three kilometres": "3 events too late" in BET.seen and not BET.holds,
    "With a partition that stays silent the timeout is what brings the results": (
        SILENT.holds and "in place of 0" in SILENT.seen
    ),
    "15 of the 25 are right somewhere, none is right in all its cases": (
        len(ON_OURS) == 25
        and sum(any(case.holds for case in TRIALS[number].cases) for number in ON_OURS) == 15
        and not any(TRIALS[number].verdict == "true" for number in ON_OURS)
    ),
    "at most 1 % of the kilometres too late, and a bound of at most a tenth of the window": (
        (practice.MOST_PERCENT, practice.MOST_OF_WINDOW) == (1, 10)
    ),
    "For hours, two of the rules do. For windows of 5 min none does": (
        [sum(case.holds for case in TRIALS[28].cases if size in case.where) for size in ("1 h", "5 min")] == [2, 0]
    ),
    "100 of its runners": len({e.key for e in next(iter(CLAIMS[28].jobs().values())).events}) == 100,
    "Claims 16, 18, 22 and 24 are about things that only Flink has": (
        [number for number, trial in TRIALS.items() if trial.engine == "Flink"] == [16, 18, 22, 24]
    ),
    "number 23 is about Kafka Streams": [n for n, trial in TRIALS.items() if not trial.cases] == [23],
    "Here are the first and the last, 20 minutes apart": (
        KEPT.scenario.lateness_ms == time_ms("0:20") and len([f for f in KEPT.all_firings if f.key == "r9"]) == 2
    ),
    "Claim 4 has one case in which it is so": sum(case.holds for case in TRIALS[4].cases) == 1,
    "here a minute, like a bound of a minute more": (
        [time_text(run(*NEAR, bound=bound).all_firings[0].at_ms) for bound in ("0 s", "1 min")] == ["7:00", "7:01"]
    ),
    "11.200000000000001": 9.4 + 1.8 == 11.200000000000001,
    "Flink deals partitions to the subtasks of the source in turn": (
        [list(wmviz.scenario("quiet-partition").replace(partitions=5, subtasks=2).partitions_of(s)) for s in (0, 1)]
        == [[0, 2, 4], [1, 3]]
    ),
}


class TestProse(HeldProse):
    """What the prose says is so."""


@pytest.mark.parametrize("theme", THEMES)
def test_a_theme_is_voted_on_before_it_is_shown_and_every_verdict_is_there(theme):
    sources = [cell.source for cell in CELLS]
    assert sources.index(f'ballot("{theme}")') + 1 == sources.index(f'verdicts("{theme}")')
    text = shown(f'verdicts("{theme}")')
    for claim in THEMES[theme]:
        assert claim.said in shown(f'ballot("{theme}")')
        assert re.search(rf"^{claim.number}  .+\n   {TRIALS[claim.number].verdict.upper()}\b", text, re.MULTILINE)


def test_the_table_has_every_claim_with_its_verdict_and_flink_differs_nowhere():
    rows = shown("flink = on_flink").splitlines()[1:]
    assert [int(row.split()[0]) for row in rows] == list(CLAIMS)
    for row, trial in zip(rows, TRIALS.values(), strict=True):
        assert re.match(rf"\d+ +{trial.verdict} ", row)
    text = "\n".join(rows)
    assert "OTHER" not in text
    assert text.count("the same") >= 15
    assert text.count("in line") == 3


def test_an_interval_join_of_sql_holds_the_watermark_back_by_its_larger_bound(flink):
    """What stands behind the join meets watermarks that are a minute lower than those in front of it."""
    job_of_flink = flink.startup.job()
    from pyflink.common import Types
    from pyflink.datastream.functions import ProcessFunction
    from pyflink.table import Schema, StreamTableEnvironment

    class Seen(ProcessFunction):
        def process_element(self, row, context):
            yield context.timer_service().current_watermark()

    env = job_of_flink.environment(replay.jar())
    env.get_config().set_auto_watermark_interval(0)  # in SQL: a watermark after every row
    tables = StreamTableEnvironment.create(env)
    columns = Types.ROW_NAMED(["runner", "at_ms"], [Types.STRING(), Types.LONG()])
    times = [time_ms(at) for at in ("6:30", "7:00", "7:01")]
    for side in "ab":
        schema = Schema.new_builder().column_by_expression("run_at", "TO_TIMESTAMP_LTZ(at_ms, 3)")
        rows = env.from_collection([("r9", at) for at in times], columns)
        table = tables.from_data_stream(rows, schema.watermark("run_at", "run_at").build())
        tables.create_temporary_view(side, table)
    joined = tables.sql_query(
        "SELECT a.runner, a.run_at FROM a JOIN b ON a.runner = b.runner "
        "AND a.run_at BETWEEN b.run_at - INTERVAL '1' MINUTE AND b.run_at + INTERVAL '30' SECOND"
    )
    with tables.to_data_stream(joined).process(Seen(), Types.LONG()).execute_and_collect() as seen:
        met = set(seen) - {MIN_MS}
    assert met
    assert met <= {at - 60_000 for at in times}
    assert "holds the watermark back by the larger of its two bounds" in PROSE
