"""What lesson 12 says in prose: each statement with a number is held against the engine, each name against PyFlink."""

import ast
import importlib
import re
from itertools import pairwise

import pytest

import wmviz
from tests.notebooks.prose import HeldProse, read_lesson
from wmviz.course.lessons.exactly_once import Seen, readers, rows_of, visible_ms
from wmviz.flink.file_sink import file_sink_code
from wmviz.times import time_ms
from wmviz.trace import CheckpointPhase, Kind, TransactionPhase

CELLS, PROSE = read_lesson("12-exactly-once")

S, X, LATE = (wmviz.scenario(name) for name in ("written-twice", "transactional-sink", "transaction-timeout"))
APPENDED, COMMITTED, OVER = map(wmviz.simulate, (S, X, LATE))
OVERWRITTEN = wmviz.simulate(S.replace(sink="upsert"))
BACK = wmviz.simulate(S.replace(sink="upsert", happenings=[{"what": "crash", "at": "7:02:30", "down": "5 s"}]))
CALM = X.replace(happenings=[])
SHORT = wmviz.simulate(CALM.replace(transaction_timeout="30 s"))
ENDING = wmviz.simulate(CALM.replace(checkpoints=None, end_of_input="7:30"))
QUICK = wmviz.simulate(LATE.replace(happenings=[{"what": "crash", "at": "7:02:41", "down": "5 s"}]))
KEPT, SOCKET = (wmviz.simulate(wmviz.scenario(name)) for name in ("crash-and-replay", "socket-loses-events"))


def at(trace, kind, value=None, nth=0):
    return [r.at_ms for r in trace if r.kind == kind and value in (None, r.value)][nth]


def transactions(trace, phase):
    """Number and time of the transactions that enter a phase."""
    found = [r for r in trace if r.kind == Kind.TRANSACTION and r.value == phase]
    return [(trace.subject[r.row], r.at_ms) for r in found]


def values(trace, key):
    return [(r.at_ms, r.value) for r in trace if r.kind == Kind.WRITTEN and r.subject.key == key]


def interval(text):
    return wmviz.simulate(CALM.replace(checkpoints={"interval": text, "notice": "2 s"}))


# A piece of the prose → whether it is so.
FACTS = {
    "The 6 am results go out at 7:02:05: 1,200 m for r9, 2,000 m for r4471": (
        (values(APPENDED, "r9")[0], values(APPENDED, "r4471")[0])
        == ((time_ms("7:02:05"), 1200), (time_ms("7:02:05"), 2000))
    ),
    "Five seconds later a machine dies": at(APPENDED, Kind.CRASHED) == time_ms("7:02:10"),
    "The last checkpoint is that of 7:01:40": (
        at(APPENDED, Kind.CHECKPOINT, CheckpointPhase.COMPLETED, 1) == time_ms("7:01:40")
    ),
    "At 7:02:15 the job runs again": at(APPENDED, Kind.RESTORED) == time_ms("7:02:15"),
    "Checkpoint 2 of 7:01:40 holds two windows that have **not fired yet**": (
        [(w.key, w.firings) for w in APPENDED.state(APPENDED.step_at(time_ms("7:01:40"))).windows]
        == [("r4471", 0), ("r9", 0)]
    ),
    "1,200 m + 1,200 m = 2,400 m": sum(rows_of(APPENDED, "r9")) == 2400,
    "The state has 1,200 m": rows_of(OVERWRITTEN, "r9") == [1200],
    "2,000 m + 1,000 m = 3,000 m": rows_of(OVERWRITTEN, "r4471") == [3000],
    "It would have them without any crash, too": (
        rows_of(wmviz.simulate(S.replace(happenings=[])), "r4471") == [2000, 3000]
    ),
    "500 m overwrite 3,000 m": (
        [value for _, value in values(wmviz.simulate(wmviz.scenario("restore-overwrites-total")), "r4471")]
        == [3000, 500]
    ),
    "r4471's row falls from 3,000 m to 2,000 m, and is 3,000 m again in the same moment": (
        values(BACK, "r4471")[1:]
        == [(time_ms("7:02:20"), 3000), (time_ms("7:02:35"), 2000), (time_ms("7:02:35"), 3000)]
    ),
    "Transaction 0 has the first rows. No checkpoint holds it, so the restart **aborts** it": (
        transactions(COMMITTED, TransactionPhase.ABORTED) == [(0, time_ms("7:02:15"))]
    ),
    "The barrier of checkpoint 3 ends it, and at 7:02:17 it is committed": (
        transactions(COMMITTED, TransactionPhase.COMMITTED)[0] == (1, time_ms("7:02:17"))
    ),
    "transaction 2, which is committed with checkpoint 4": (
        transactions(COMMITTED, TransactionPhase.COMMITTED)[1][0] == 2
        and at(COMMITTED, Kind.CHECKPOINT, CheckpointPhase.COMPLETED, 3) + X.checkpoints.notice_ms
        == transactions(COMMITTED, TransactionPhase.COMMITTED)[1][1]
    ),
    "hears of a complete checkpoint 2 s later": X.checkpoints.notice_ms == 2000,
    "In the end there are three results, and the second reader has found five": readers(COMMITTED)[-1][1:] == (3, 5),
    "The job started at 6:59:40, so with 5 min the first checkpoint is due at 7:04:40": (
        at(interval("5 min"), Kind.CHECKPOINT) == time_ms("7:04:40") == CALM.start_ms + 300_000
    ),
    "It is more then: the end of the input also makes the open 7 am windows fire": (
        readers(ENDING)[-1][1:] == (5, 5) and len(ENDING.totals) == 4
    ),
    "Here the timeout is 2 min. The 6 am results are prepared at 7:02:40": (
        LATE.transaction_timeout_ms == 120_000
        and transactions(OVER, TransactionPhase.PREPARED) == [(0, time_ms("7:02:40"))]
    ),
    "The job crashes one second later, and is down for 5 min": (
        (at(OVER, Kind.CRASHED), at(OVER, Kind.RESTORED)) == (time_ms("7:02:41"), time_ms("7:07:41"))
    ),
    "the transaction began at 7:02:05, and 7:02:05 + 2 min = 7:04:05": (
        transactions(OVER, TransactionPhase.OPEN) == [(0, time_ms("7:02:05"))]
        and transactions(OVER, TransactionPhase.ABORTED) == [(0, time_ms("7:04:05"))]
    ),
    "At 7:07:41 the job is back and wants to commit it": (
        transactions(OVER, TransactionPhase.LOST) == [(0, time_ms("7:07:41"))]
    ),
    "the sink lacks three results for ever": len(OVER.state(OVER.steps - 1).uncommitted) == 3 and not OVER.totals,
    "5 min are too few for a downtime of 5 min: the transaction was 36 s old when the job crashed": (
        not wmviz.simulate(LATE.replace(transaction_timeout="5 min")).totals
        and time_ms("7:02:41") - time_ms("7:02:05") == 36_000
    ),
    "This time nothing is lost": SHORT.totals == wmviz.simulate(CALM).totals,
    "The socket has lost 1,800 m of r4471": rows_of(KEPT, "r4471")[0] - rows_of(SOCKET, "r4471")[0] == 1800,
    "the results are visible at 7:02:46": visible_ms(QUICK) == time_ms("7:02:46"),
}


class TestProse(HeldProse):
    """What the prose says is so."""

    least_sums = 1


def test_readers_tell_each_change_once():
    seen = readers(COMMITTED)
    assert seen[1] == Seen(time_ms("7:02:05"), 0, 2)
    assert all(one[1:] != other[1:] and one.at_ms < other.at_ms for one, other in pairwise(seen))


def test_the_job_with_files_is_what_the_lesson_says():
    job = file_sink_code()
    assert "writes 120 numbers, takes a checkpoint each second" in PROSE
    assert "NUMBERS = 120" in job
    assert '"execution.checkpointing.interval"] = "1 s"' in job
    assert "CRASH = 60" in job


# The code about Kafka, which is not run ----------------------------------------------------------------------------

KAFKA = "".join(re.findall(r"```python\n(.*?)```", PROSE, re.DOTALL))


def test_the_code_about_kafka_says_that_it_is_not_run():
    first = next(i for i, cell in enumerate(CELLS) if "```python" in cell.source)
    assert "**not run here**" in CELLS[first - 1].source


def test_every_name_of_the_code_about_kafka_is_in_pyflink():
    pytest.importorskip("pyflink")
    tree, found = ast.parse(KAFKA), {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            module = importlib.import_module(node.module)
            found |= {alias.name: getattr(module, alias.name) for alias in node.names}
    kafka = importlib.import_module("pyflink.datastream.connectors.kafka")
    builders = (kafka.KafkaSinkBuilder, kafka.KafkaRecordSerializationSchemaBuilder)
    assert found["DeliveryGuarantee"].EXACTLY_ONCE.name == "EXACTLY_ONCE"
    called = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr.startswith("set_")}
    assert called == {
        "set_topic",
        "set_value_serialization_schema",
        "set_bootstrap_servers",
        "set_record_serializer",
        "set_delivery_guarantee",
        "set_transactional_id_prefix",
        "set_property",
    }
    assert all(any(hasattr(builder, name) for builder in builders) for name in called)
    assert hasattr(kafka.KafkaSourceBuilder, "set_property")
    assert [each.name for each in found["DeliveryGuarantee"]] == ["EXACTLY_ONCE", "AT_LEAST_ONCE", "NONE"]


def test_the_timeout_of_the_code_is_the_15_minutes_of_its_comment():
    assert int(re.search(r'"transaction.timeout.ms", "(\d+)"', KAFKA)[1]) == 15 * 60_000
