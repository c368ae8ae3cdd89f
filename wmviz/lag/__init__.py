"""Choose the out-of-orderness bound from measured lag: a curve, and not a guess."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from wmviz.lag.advice import Advice, Goal, Job, advise, length_ms
from wmviz.lag.bounds import Point
from wmviz.lag.measured import Measured
from wmviz.lag.reading import LagError, Longs, TimeForm, column_of, times_of
from wmviz.own.columns import with_index
from wmviz.scenario import Scenario
from wmviz.times import duration_ms, duration_text, shown
from wmviz.trace import Trace

if TYPE_CHECKING:
    from wmviz.own import OwnEvents

__all__ = ["Advice", "LagError", "Point", "choose", "frame_of"]


def choose(
    frame: pd.DataFrame | Scenario | Trace | OwnEvents,
    event_time: str = "event_time",
    arrival_time: str = "arrival_time",
    partition: str | None = None,
    key: str | None = None,
    window: int | str | None = None,
    *,
    offset: int | str | None = None,
    goal_on_time: float = 0.995,
    goal_counted: float = 0.999,
    max_wait: int | str | None = None,
    lateness: int | str | None = None,
    idle_timeout: int | str | None = None,
    ahead: int | str = "1 min",
    strategy_at: str | None = None,
    present: tuple[int | str, int | str] | bool | None = None,
    time_unit: str | None = None,
    zone: str | None = None,
    time_format: str | None = None,
) -> Advice:
    """Choose bound and lateness for a stream whose events have been measured.

    What the bound must cover is not the lag to the clock, but how far an event is behind the newest one before it:
    BoundedOutOfOrdernessWatermarks (2.3.0) knows no clock. And only an event whose window has fired is late. Both are
    counted here, for a watermark after every event, and events read in the order of their arrival.

    Parameters
    ----------
    frame
        A pandas table with a row for each event; or a scenario, a trace or own events (`wmviz.own`), whose events are
        taken.
    event_time, arrival_time
        Its columns, or levels of its index: timestamps, text in ISO 8601, or numbers since the epoch.
    partition
        The column with the partition of the source. With it the watermark is the minimum over the partitions, as for
        a strategy on the source; see `strategy_at`.
    key
        The column that the windows are keyed by. It changes no bound: with it, the state is counted by key.
    window
        The length of the tumbling windows: a duration, or ms. Without it: those of the scenario; 1 h for a table.
    offset
        The shift of their grid: a duration, or ms. Without it: that of the scenario, or 0.
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
        The idle timeout (withIdleness) of the job: silences that would trip it are named. Needs no partitions. Without
        it: that of the scenario. `Advice.silences` has the other timeouts.
    ahead
        Events that are dated more than this after their arrival are from the future: named, and left out of the advice.
    strategy_at
        ``"source"``: the watermark is the minimum over the partitions; ``"after"``: it follows the merged stream.
        Without it: ``"source"`` if there are partitions.
    present
        The bound and the lateness that the job has at present, such as ``("2 min", "20 min")``: then the advice says
        what they lose. True: those of the scenario.
    time_unit, zone, time_format
        How the times of a table are written, if the columns do not tell: as for `wmviz.own.read_frame`.

    Returns
    -------
    Advice
        Shown, it is a sentence; it has `curve`, `quantiles`, `by_hour`, `by_partition`, `by_key`, `sensitivity`,
        `silences`, `present`, `warnings`, `at(bound, lateness)`, `chart()` and `code(language)`.

    Raises
    ------
    LagError
        If a column is missing, there are no rows, a time cannot be read, or a goal is no share; or if the scenario has
        other windows than tumbling ones, and `window` is not given.
    TimeError
        If a duration cannot be read.
    """
    scenario, is_own = _scenario_of(frame), False
    if scenario is not None:
        frame, event_time, arrival_time, key = frame_of(scenario), "event_time_ms", "arrival_time_ms", key or "key"
        is_own = partition is None and strategy_at is None
        partition = partition or ("partition" if scenario.partition_count > 1 else None)
        strategy_at = strategy_at or (scenario.strategy_at if partition else None)
        idle_timeout = scenario.idle_timeout_ms if idle_timeout is None else idle_timeout
        window, offset = _window_of(scenario, window, offset)
    if not isinstance(frame, pd.DataFrame):
        raise LagError(f"lag.choose takes a pandas table or a scenario, not {type(frame).__name__}")
    frame = with_index(frame, (event_time, arrival_time, partition, key))
    form = None if scenario else TimeForm(time_unit, zone, time_format)
    place = _place(strategy_at, partition)
    measured, notes = _measure(frame, event_time, arrival_time, partition, key, place, form)
    if scenario is not None and is_own:
        measured = _by_generators(measured, scenario, waits=idle_timeout is None)
    window_ms, offset_ms = length_ms("window", "1 h" if window is None else window), duration_ms(offset or 0)
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
    job = Job(window_ms, offset_ms, idle_ms, _present(present, scenario), notes)
    return advise(measured, goal, job, length_ms("ahead", ahead))


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


def _scenario_of(source: Any) -> Scenario | None:
    """Give the scenario of a trace or of own events, or the scenario itself."""
    if isinstance(source, Scenario):
        return source
    held = getattr(source, "scenario", None)
    return held if isinstance(held, Scenario) else None


def _window_of(
    scenario: Scenario, window: int | str | None, offset: int | str | None
) -> tuple[int | str, int | str | None]:
    """Give the windows that are measured: the tumbling ones of the scenario, unless others are given."""
    if window is not None:
        return window, offset
    own = scenario.window
    if own.type != "tumbling" or own.time != "event" or own.zone is not None:
        kind = own.type if own.type != "tumbling" else "processing-time" if own.time != "event" else "local-time"
        instead = f'"{duration_text(own.slide_ms)}", the slide, to judge each event by the first of its windows'
        raise LagError(
            f"the scenario has {kind} windows, and lag.choose counts tumbling ones by event time: write window="
            + (instead if own.type == "sliding" else 'with a length, such as "1 h"')
        )
    return own.size_ms, own.offset_ms if offset is None else offset


def _by_generators(measured: Measured, scenario: Scenario, *, waits: bool) -> Measured:
    """Tell which generators the scenario has: for its partitions, or its subtasks; with `waits`, silent ones count."""
    partition = np.array([int(name) for name in measured.partitions], dtype=np.int64)[measured.partition]
    if scenario.strategy_at == "after":
        generator, generators = partition % scenario.subtasks, scenario.subtasks
    else:  # a subtask without a partition has no generator, and its channel no watermark
        spare = max(0, scenario.subtasks - scenario.partition_count)
        generator, generators = partition, scenario.partition_count + spare
    if not waits:
        used, generator = np.unique(generator, return_inverse=True)
        generators = len(used)
    return replace(measured, generator=generator.astype(np.int64), generators=generators)


def _present(present: Any, scenario: Scenario | None) -> tuple[int, int] | None:
    """Give the present bound and lateness in ms, if they are to be judged."""
    if present in (None, False):
        return None
    if present is True:
        if scenario is None:
            raise LagError('present is True, but a table has no settings; write present=("2 min", "20 min")')
        return scenario.bound_ms, scenario.lateness_ms
    if not isinstance(present, tuple | list) or len(present) != 2:
        raise LagError(f'present is {shown(present)}; write the bound and the lateness: ("2 min", "20 min")')
    return length_ms("present bound", present[0]), length_ms("present lateness", present[1])


def _measure(
    frame: pd.DataFrame,
    event_time: str,
    arrival_time: str,
    partition: str | None,
    key: str | None,
    place: str,
    form: TimeForm | None,
) -> tuple[Measured, tuple[str, ...]]:
    (event_ms, notes), (arrival_ms, more) = (
        times_of(frame, name, form) if form else (frame[name].to_numpy(dtype=np.int64), ())
        for name in (event_time, arrival_time)
    )
    if not len(frame):
        raise LagError("the table has no rows: there is nothing to measure")
    order = np.argsort(arrival_ms, kind="stable")
    part, parts = _codes(frame, partition)
    keyed, keys = _codes(frame, key)
    columns = (event_ms[order], arrival_ms[order], part[order], keyed[order])
    generator = part[order] if place == "source" else np.zeros(len(order), dtype=np.int64)
    names, generators = parts or ("0",), max(1, len(parts)) if place == "source" else 1
    return Measured(*columns, names, keys, order.astype(np.int64), generator, generators), notes + more


def _codes(frame: pd.DataFrame, name: str | None) -> tuple[Longs, tuple[str, ...]]:
    """Number the values of a column, in order."""
    if name is None:
        return np.zeros(len(frame), dtype=np.int64), ()
    column = column_of(frame, name)
    if missing := int(column.isna().sum()):
        raise LagError(f"{name} is missing in {missing:,} rows; leave them out with frame.dropna()")
    codes, values = pd.factorize(column, sort=True)
    return codes.astype(np.int64), tuple(map(str, values))


def _share(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        hint = f"; for {value} % write {value / 100}" if isinstance(value, int | float) and 1 < value <= 100 else ""
        raise LagError(f"{name} is {shown(value)}; write a share above 0, up to 1, such as 0.995{hint}")
    return float(value)


def _place(strategy_at: str | None, partition: str | None) -> str:
    if strategy_at not in (None, "source", "after"):
        raise LagError(f'strategy_at is {shown(strategy_at)}; write "source" or "after"')
    return strategy_at or ("source" if partition else "after")
