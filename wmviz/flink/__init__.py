"""The same scenarios on real Flink 2.3.0, through PyFlink.

Importing this starts nothing; the first `run` starts one JVM, which serves this process from then on.
"""

from wmviz.flink.alignment import AlignmentRun, align, alignment_code
from wmviz.flink.barriers import Barriers, barriers, barriers_code
from wmviz.flink.broken import BrokenJob, broken_job, broken_jobs
from wmviz.flink.file_sink import file_sink_code, write_files
from wmviz.flink.program import code, strategy_source
from wmviz.flink.recovery import Recovery, recover, recovery_code
from wmviz.flink.replay import run, run_many
from wmviz.flink.rest import Live, live
from wmviz.flink.resume import Resumed, resume, resume_code
from wmviz.flink.sql_query import query
from wmviz.flink.standalone import Cluster, cluster
from wmviz.flink.startup import FlinkError, available, java_stack
from wmviz.flink.traps_pyflink import Trap, TrapRun, trap, traps

__all__ = [
    "AlignmentRun",
    "Barriers",
    "BrokenJob",
    "Cluster",
    "FlinkError",
    "Live",
    "Recovery",
    "Resumed",
    "Trap",
    "TrapRun",
    "align",
    "alignment_code",
    "available",
    "barriers",
    "barriers_code",
    "broken_job",
    "broken_jobs",
    "cluster",
    "code",
    "file_sink_code",
    "java_stack",
    "live",
    "query",
    "recover",
    "recovery_code",
    "resume",
    "resume_code",
    "run",
    "run_many",
    "strategy_source",
    "trap",
    "traps",
    "write_files",
]
