"""The same scenarios on real Flink 2.3.0, through PyFlink.

Importing this starts nothing; the first `run` starts one JVM, which serves this process from then on.
"""

from wmviz.flink.program import code, strategy_source
from wmviz.flink.replay import run, run_many
from wmviz.flink.startup import FlinkError, available

__all__ = ["FlinkError", "available", "code", "run", "run_many", "strategy_source"]
