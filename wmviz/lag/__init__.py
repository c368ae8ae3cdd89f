"""Choose the out-of-orderness bound from measured lag: a curve, and not a guess."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from wmviz.lag.advice import Advice, Goal, advise, length_ms
from wmviz.lag.bounds import Point
from wmviz.lag.measured import Measured
from wmviz.lag.reading import LagError, Longs, column_ms, column_of
from wmviz.scenario import Scenario
from wmviz.times import duration_ms, duration_text, shown
from wmviz.trace import Trace

__all__ = ["Advice", "LagError", "Point", "choose", "frame_of"]


def choose(
    frame: pd.DataFrame | Scenario | Trace,
    event_time: str = "event_time",
    arrival_time: str = "arrival_time",
    partition: str | None = None,
    key: str | None = None,
    window: int | str = "1 h",
    *,
    offset: int | str = 0,
    goal_on_time: float = 0.995,
    goal_counted: float = 0.999,
    max_wait: int | str | None = None,
    lateness: int | str | None = None,
    idle_timeout: int | str | None = None,
    ahead: int | str = "1 min",
    strategy_at: str | None = None,
) -> Advice:
    """Choose bound and lateness for a stream whose events have been measured.

    What the bound must cover is not the lag to the clock, but how far an event is behind the newest one before it:
    BoundedOutOfOrdernessWatermarks (2.3.0) knows no clock. And only an event whose window has fired is late. Both are
    counted here, for a watermark after every event, and events read in the order of their arrival.

    Parameters
    ----------
    frame
        A pandas table with a row for each event; or a scenario or a trace, whose events are taken.
    event_time, arrival_time
        Its columns: timestamps (without a zone they are UTC), text in ISO 8601, or whole numbers of ms.
    partition
        The column with the partition of the source. With it the watermark is the minimum over the partitions, as for
        a strategy on the source; see `strategy_at`.
    key
        The column that the windows are keyed by. It changes no bound: with it, the state is counted by key.
    window
        The length of the tumbling windows: a duration, or ms.
    offset
        The shift of their grid: a duration, or ms.
    goal_on_time
        The share of the events, from 0 to 1, that shall be in the first result of their window.
    goal_counted
        The share that shall be counted at all, by which the lateness is chosen.
    max_wait
        How long after its end a window may give its first result, in 95 % of the windows. It goes before
        `goal_on_time` if both cannot be had.
    lateness
        The allowed lateness, if it is given; without it, the advice chooses one.
    idle_timeout
        The idle timeout (withIdleness) of the job: silences that would trip it are named. Needs no partitions.
    ahead
        Events that are dated more than this after their arrival are from the future: named, and left out of the advice.
    strategy_at
        ``"source"``: the watermark is the minimum over the partitions; ``"after"``: it follows the merged stream.
        Without it: ``"source"`` if there are partitions.

    Returns
    -------
    Advice
        Shown, it is a sentence; it has `curve`, `quantiles`, `by_hour`, `by_partition`, `by_key`, `sensitivity`,
        `warnings`, `at(bound, lateness)`, `chart()` and `code(language)`.

    Raises
    ------
    LagError
        If a column is missing, there are no rows, a time cannot be read, or a goal is no share.
    TimeError
        If a duration cannot be read.
    """
    if isinstance(frame, Scenario | Trace):
        scenario = frame.scenario if isinstance(frame, Trace) else frame
        frame, event_time, arrival_time, key = frame_of(scenario), "event_time_ms", "arrival_time_ms", key or "key"
        partition = partition or ("partition" if scenario.partition_count > 1 else None)
        strategy_at = strategy_at or (scenario.strategy_at if partition else None)
    if not isinstance(frame, pd.DataFrame):
        raise LagError(f"lag.choose takes a pandas table or a scenario, not {type(frame).__name__}")
    measured = _measure(frame, event_time, arrival_time, partition, key, _place(strategy_at, partition))
    window_ms, offset_ms = length_ms("window", window), duration_ms(offset)
    if not window_ms:
        raise LagError('window is 0; write a duration such as "1 h"')
    if abs(offset_ms) >= window_ms:
        raise LagError(f"offset is {duration_text(offset_ms)}; it must be smaller than the window")
    goal = Goal(
        _share("goal_on_time", goal_on_time),
        _share("goal_counted", goal_counted),
        None if max_wait is None else length_ms("max_wait", max_wait),
        None if lateness is None else length_ms("lateness", lateness),
    )
    idle_ms = None if idle_timeout is None else length_ms("idle_timeout", idle_timeout)
    if idle_ms == 0:
        raise LagError('idle_timeout is 0; write a duration such as "1 min", or leave it out')
    return advise(measured, window_ms, offset_ms, goal, idle_ms, length_ms("ahead", ahead))


def frame_of(scenario: Scenario) -> pd.DataFrame:
    """Give the events of a scenario as a table.

    Returns
    -------
    pandas.DataFrame
        `key`, `event_time_ms`, `arrival_time_ms`, `partition`.
    """
    columns = ["key", "event_time_ms", "arrival_time_ms", "partition"]
    rows = [(e.key, e.event_time_ms, e.arrival_time_ms, e.partition) for e in scenario.events]
    return pd.DataFrame(rows, columns=columns)


def _measure(
    frame: pd.DataFrame, event_time: str, arrival_time: str, partition: str | None, key: str | None, place: str
) -> Measured:
    event_ms = column_ms(frame, event_time, text=True)
    arrival_ms = column_ms(frame, arrival_time, text=True)
    if not len(frame):
        raise LagError("the table has no rows: there is nothing to measure")
    _check_units(event_ms, arrival_ms, event_time, arrival_time)
    order = np.argsort(arrival_ms, kind="stable")
    part, parts = _codes(frame, partition)
    keyed, keys = _codes(frame, key)
    columns = (event_ms[order], arrival_ms[order], part[order], keyed[order])
    return Measured(*columns, parts or ("0",), keys, order.astype(np.int64), place == "source")


def _codes(frame: pd.DataFrame, name: str | None) -> tuple[Longs, tuple[str, ...]]:
    """Number the values of a column, in order."""
    if name is None:
        return np.zeros(len(frame), dtype=np.int64), ()
    column = column_of(frame, name)
    if missing := int(column.isna().sum()):
        raise LagError(f"{name} is missing in {missing:,} rows; leave them out with frame.dropna()")
    codes, values = pd.factorize(column, sort=True)
    return codes.astype(np.int64), tuple(map(str, values))


def _check_units(event_ms: Longs, arrival_ms: Longs, event_time: str, arrival_time: str) -> None:
    """Refuse a table in which one column is in seconds and the other in ms."""
    happened, arrived = float(np.median(np.abs(event_ms))), float(np.median(np.abs(arrival_ms)))
    for small, large, name, other in (
        (happened, arrived, event_time, arrival_time),
        (arrived, happened, arrival_time, event_time),
    ):
        if small and 900 < large / small < 1_100 and small > 1e8:
            raise LagError(f"{name} is a thousandth of {other}: it is in seconds; multiply it by 1000")


def _share(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        hint = f"; for {value} % write {value / 100}" if isinstance(value, int | float) and 1 < value <= 100 else ""
        raise LagError(f"{name} is {shown(value)}; write a share above 0, up to 1, such as 0.995{hint}")
    return float(value)


def _place(strategy_at: str | None, partition: str | None) -> str:
    if strategy_at not in (None, "source", "after"):
        raise LagError(f'strategy_at is {shown(strategy_at)}; write "source" or "after"')
    return strategy_at or ("source" if partition else "after")
