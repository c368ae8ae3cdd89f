"""What the lessons say was tried on Flink: small pipelines, all in one job, each with its lines."""

from __future__ import annotations

import os
import re
import time
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from wmviz.flink import program, startup

LIMIT_S = 300
WORD_LIMIT_S = 120
Lines = dict[str, list[str]]


@cache
def classes() -> str:
    """Compile the strategy whose watermarks do not depend on the wall clock, and the parts that only Java has."""
    java = Path(__file__).with_name("Tried.java").read_text(encoding="utf-8")
    return startup.compiled(program.source("LateCounter.java"), java)


def java() -> Any:
    """Give the classes of the JVM."""
    return startup.job().get_gateway().jvm


def strategy(bound_ms: int = 0, time_of: Callable[[Any], int] = lambda row: row[1]) -> Any:
    """Give a bounded strategy that emits right behind each event."""
    from pyflink.common import WatermarkStrategy
    from pyflink.common.watermark_strategy import TimestampAssigner

    class EventTime(TimestampAssigner):
        def extract_timestamp(self, row, record_timestamp):
            return time_of(row)

    flinks = java().tried.Tried.Strategy(java().java.time.Duration.ofMillis(bound_ms))
    return WatermarkStrategy(flinks).with_timestamp_assigner(EventTime())


def environment(interval_ms: int) -> Any:
    """Make an environment in which nothing waits in a buffer.

    In SQL an interval of 0 is a watermark behind each row.
    """
    jar = classes()
    env = startup.job().environment(jar)
    env.set_buffer_timeout(0)
    env.get_config().set_auto_watermark_interval(interval_ms)
    return env


def text() -> Any:
    """Give the type of a line."""
    from pyflink.common import Types

    return Types.STRING()


def row() -> Any:
    """Give the type of a row: a key and an event time in ms."""
    from pyflink.common import Types

    return Types.TUPLE([Types.STRING(), Types.LONG()])


def stamped(env: Any, rows: list[tuple[str, int]], bound_ms: int = 0) -> Any:
    """Make a stream of (key, event time in ms), with a watermark behind each row."""
    return env.from_collection(rows, row()).assign_timestamps_and_watermarks(strategy(bound_ms))


def run_all(pipelines: dict[str, Callable[[Any], Any]], interval_ms: int = 50) -> Lines:
    """Run pipelines in one job, and give the lines of each, sorted."""
    with startup.sentences(), startup.tidy():
        env = environment(interval_ms)
        streams = [make(env).map(lambda line, name=name: f"{name}: {line}", text()) for name, make in pipelines.items()]
        stream = streams[0].union(*streams[1:]) if len(streams) > 1 else streams[0]
    found = defaultdict(list)
    for line in startup.collect(stream, "tried", LIMIT_S):
        name, _, told = line.partition(": ")
        found[name].append(told)
    return {name: sorted(found[name]) for name in pipelines}


def words(folder: Path) -> tuple[Callable[[str], None], Callable[[str], None]]:
    """Give two functions for what must come one after the other: wait for a word, and say it.

    Parts of a job run in threads of their own; a word is a file, which each of them can see.
    """
    place = str(folder)

    def say(word: str) -> None:
        with open(f"{place}/{word}", "w"):
            pass

    def wait_for(word: str) -> None:
        end = time.monotonic() + WORD_LIMIT_S
        while word and not os.path.exists(f"{place}/{word}"):
            if time.monotonic() > end:
                raise TimeoutError(f"nobody said {word!r}")
            time.sleep(0.005)

    return wait_for, say


def block(prose: str, begins: str) -> str:
    """Give the block of Python in a lesson that begins with these words."""
    (found,) = (code for code in re.findall(r"```python\n(.*?)```", prose, re.DOTALL) if code.startswith(begins))
    return found
