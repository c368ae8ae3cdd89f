"""What `choose` gives back: the advice in a sentence, the curve behind it, what to look out for, the code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from wmviz.lag import checks, strategy
from wmviz.lag.bounds import ROUND_MS, Bounds, Point, round_down, round_up
from wmviz.lag.measured import Measured
from wmviz.lag.reading import LagError, Longs
from wmviz.times import duration_ms, duration_text, shown

if TYPE_CHECKING:
    import altair as alt

SHARES = (0.5, 0.9, 0.95, 0.97, 0.99, 0.995, 0.999, 1.0)
_HOUR_MS = 3_600_000
_MOST_KEYS = 10
_FIRST_SHARE = 0.02
"""The curve begins where so many of the late events would be on time."""


@dataclass(frozen=True)
class Goal:
    """What is wanted: shares from 0 to 1, times in ms."""

    on_time: float
    counted: float
    max_wait_ms: int | None
    lateness_ms: int | None


class Job(NamedTuple):
    """The job that the bound is for: its windows, its idle timeout, its present settings; and what was assumed."""

    window_ms: int
    offset_ms: int
    idle_ms: int | None
    present_ms: tuple[int, int] | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Advice:
    """A bound and a lateness for a measured stream, with the reasons. Made by `wmviz.lag.choose`.

    Attributes
    ----------
    bound_ms, lateness_ms
        What is advised.
    idle_timeout_ms
        The idle timeout that was given, or None.
    goal
        What was wanted.
    warnings
        Sentences on what no bound can mend.
    notes
        Sentences on how the table was read.
    present_ms
        The bound and the lateness that the job has at present, if they were given.
    """

    measured: Measured
    as_is: Bounds
    judged: Bounds
    goal: Goal
    bound_ms: int
    lateness_ms: int
    idle_timeout_ms: int | None
    warnings: tuple[str, ...]
    notes: tuple[str, ...] = ()
    present_ms: tuple[int, int] | None = None

    @property
    def present(self) -> Point | None:
        """What the present settings come to, on all the data as they are; None if they were not given."""
        return None if self.present_ms is None else self.as_is.at(*self.present_ms)

    @property
    def present_sentence(self) -> str:
        """What the present settings lose, in words; empty if they were not given."""
        now = self.present
        if now is None:
            return ""
        missing = now.late + now.lost
        advised = self.as_is.at(self.bound_ms, self.lateness_ms)
        return (
            f"At present, with bound {_text(now.bound_ms)} and lateness {_text(now.lateness_ms)}, "
            f"{_share(missing, now.events)} ({missing:,}) of {now.events:,} events miss the first result of their "
            f"window, and {_share(now.lost, now.events)} ({now.lost:,}) are lost to it for good. With what is advised, "
            f"{_verb(advised.late + advised.lost, 'misses', 'miss')} it, and {_verb(advised.lost, 'is', 'are')} lost."
        )

    @property
    def point(self) -> Point:
        """What the advised bound and lateness come to, without events from the future."""
        return self.judged.at(self.bound_ms, self.lateness_ms)

    @property
    def met(self) -> bool:
        """Whether the advice reaches the goal."""
        return self._reaches(self.point)

    def at(self, bound: int | str, lateness: int | str | None = None) -> Point:
        """Say what other settings come to, for example the present ones, on all the data as they are.

        Parameters
        ----------
        bound, lateness
            Durations as text, or ms. Without a lateness, the advised one.

        Returns
        -------
        Point
            Numbers of events, waits and state.
        """
        lateness_ms = self.lateness_ms if lateness is None else length_ms("lateness", lateness)
        return self.as_is.at(length_ms("bound", bound), lateness_ms)

    @cached_property
    def curve(self) -> pd.DataFrame:
        """Bounds against what they come to, with the advised lateness, on all the data as they are.

        One row for each bound: `bound`, the fields of `Point`, and the shares `on_time_share`, `late_share` and
        `lost_share` (from 0 to 1).
        """
        return self.curve_at(self._bounds_ms)

    def curve_at(self, bounds: Sequence[int | str]) -> pd.DataFrame:
        """Give the curve at bounds of your own: durations as text, or ms."""
        points = [self.at(bound) for bound in bounds]
        frame = pd.DataFrame(points, columns=list(Point._fields))
        frame.insert(0, "bound", [_text(ms) for ms in frame["bound_ms"]])
        for name in ("on_time", "late", "lost"):
            frame[f"{name}_share"] = frame[name] / frame["events"]
        return frame

    @cached_property
    def quantiles(self) -> pd.DataFrame:
        """How much lag and how much disorder a share of the events does not exceed, in ms.

        `lag_ms`: arrival time minus event time. `behind_ms`: behind the newest event before it, which is what a bound
        covers. `behind_in_partition_ms`: the same on its own partition.
        """
        columns = {"lag_ms": self.measured.lag_ms, "behind_ms": self.measured.behind_ms}
        if len(self.measured.partitions) > 1:
            columns["behind_in_partition_ms"] = self.measured.behind_in_partition_ms
        rows = {share: {name: _quantile(ms, share) for name, ms in columns.items()} for share in SHARES}
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("share")

    @cached_property
    def by_hour(self) -> pd.DataFrame:
        """Lag by hour of arrival (`hour_ms`, its start), and the share on time with the advised bound."""
        hours = self.measured.arrival_ms // _HOUR_MS * _HOUR_MS
        return self._by(hours, "hour_ms").reset_index()

    @cached_property
    def by_partition(self) -> pd.DataFrame:
        """Lag by partition; `behind_ms`: at most behind its own newest; `longest_gap_ms`: its longest silence."""
        frame = self._by(self.measured.partition, "partition")
        parts = pd.DataFrame(
            {
                "partition": self.measured.partition,
                "behind_ms": self.measured.behind_in_partition_ms,
                "longest_gap_ms": self.measured.gap_ms,
            }
        )
        frame = frame.join(parts.groupby("partition").max())
        frame.index = pd.Index([self.measured.partitions[number] for number in frame.index], name="partition")
        return frame.reset_index()

    @cached_property
    def by_key(self) -> pd.DataFrame:
        """Lag of the keys with the largest 95 % quantile, the worst first; empty without keys."""
        if not self.measured.keys:
            return pd.DataFrame()
        frame = self._by(self.measured.key, "key").nlargest(_MOST_KEYS, "p95_lag_ms")
        frame.index = pd.Index([self.measured.keys[number] for number in frame.index], name="key")
        return frame.reset_index()

    @cached_property
    def silences(self) -> pd.DataFrame:
        """Idle timeouts against the silences that would trip them, partition by partition.

        A silence goes from one event of a partition to its next; before its first one, it goes from the first event of
        all, and behind its last one to the last event of all. `timeout`, `timeout_ms`;
        `silences`: how many are longer; `partitions`: of how many partitions; `to_the_end`: how many of them last to
        the end; `behind`: how many end with an event behind the newest one, which the timeout puts at risk;
        `worst_behind_ms`: by how much at most.
        """
        return silences(self.measured)

    @cached_property
    def sensitivity(self) -> pd.DataFrame:
        """The advice under other eyes: half and twice the bound, and each half of the data alone.

        `what`, `bound`, `on_time_share`, `least_ms` (the least bound that reaches the goal there).
        """
        rows = []
        for what, factor in (("advised", 1), ("half", 0.5), ("twice", 2)):
            bound_ms = int(self.bound_ms * factor)
            rows.append((what, _text(bound_ms), self.judged.on_time(bound_ms) / len(self.judged.measured)))
        for what, part in halves(self.judged).items():
            rows.append((what, _text(self.bound_ms), part.on_time(self.bound_ms) / len(part.measured)))
        least = [self.judged] * 3 + list(halves(self.judged).values())
        frame = pd.DataFrame(rows, columns=["what", "bound", "on_time_share"])
        return frame.assign(least_ms=[bounds.least(self.goal.on_time) for bounds in least])

    @property
    def sentence(self) -> str:
        """The advice in words, with the numbers."""
        point, goal = self.point, self.goal
        windows = "windows of keys" if self.measured.keys else "windows"
        text = (
            f"Bound {_text(point.bound_ms)}: {_share(point.on_time, point.events)} of {point.events:,} events are in "
            f"the first result of their window (goal {_percent(goal.on_time)}). "
        )
        if point.wait_ms is None:
            text += "The data end before the windows have fired, so how long they wait cannot be told. "
        else:
            added = f", {checks.rough(round(point.added_ms))} of it for the bound" if point.added_ms else ""
            most = f" (goal {duration_text(goal.max_wait_ms)})" if goal.max_wait_ms is not None else ""
            text += (
                f"In 95 % of the windows the first result comes within {checks.rough(point.wait_ms)} of the window's "
                f"end{most}, on average {checks.rough(round(point.mean_wait_ms or 0))} after it{added}. "
            )
        text += f"{self._of_the_rest(point)} At most {point.state:,} {windows} have state at once."
        return text if self.met else f"{self._shortfall()} {text}"

    def code(self, language: str = "pyflink") -> str:
        """Write the strategy, the lateness and the window as code to paste.

        Parameters
        ----------
        language
            ``"pyflink"``, ``"java"`` or ``"sql"``. In PyFlink the strategy comes after the source, so with partitions
            it gets the bound of the merged stream.

        Raises
        ------
        LagError
            If it is none of these.
        """
        if language not in strategy.LANGUAGES:
            raise LagError(f'there is no code in {shown(language)}; write "pyflink", "java" or "sql"')
        write = {"pyflink": strategy.pyflink, "java": strategy.java, "sql": strategy.sql}[language]
        bound_ms, note = self._bound_of_merged() if language == "pyflink" else (self.bound_ms, "")
        window = self.judged.window_ms, self.judged.offset_ms
        return note + write(bound_ms, self.lateness_ms, self.idle_timeout_ms, *window)

    def chart(self, **options: Any) -> alt.LayerChart:
        """Draw the curve: `wmviz.charts.completeness` of this advice."""
        from wmviz import charts

        return charts.completeness(self, **options)

    def __repr__(self) -> str:
        """Return the advice as text."""
        said = [text for text in (self.sentence, self.present_sentence) if text]
        notes = (f"Note: {note}" for note in self.notes)
        return "\n".join([*said, *(f"Look out: {warning}" for warning in self.warnings), *notes])

    def _repr_html_(self) -> str:
        said = "".join(f"<p>{escape(text)}</p>" for text in (self.sentence, self.present_sentence) if text)
        items = "".join(f"<li>{escape(warning)}</li>" for warning in self.warnings)
        notes = "".join(f"<p>Note: {escape(note)}</p>" for note in self.notes)
        return said + (f"<p>Look out:</p><ul>{items}</ul>" if items else "") + notes

    @property
    def _bounds_ms(self) -> list[int]:
        """Round bounds from 0 to the largest that is needed, and the advised one."""
        needed_ms = self.judged.sorted_ms[self.judged.sorted_ms > 0]
        if not len(needed_ms):
            return sorted({0, self.bound_ms})
        first_ms, last_ms = round_up(_quantile(needed_ms, _FIRST_SHARE)), round_up(int(needed_ms[-1]))
        return sorted({0, self.bound_ms, last_ms, *(ms for ms in ROUND_MS if first_ms <= ms <= last_ms)})

    def _reaches(self, point: Point) -> bool:
        enough = point.on_time >= self.goal.on_time * point.events - 1e-6
        most_ms = self.goal.max_wait_ms
        return enough and (most_ms is None or (point.wait_ms is not None and point.wait_ms <= most_ms))

    def _bound_of_merged(self) -> tuple[int, str]:
        """Give the bound for one generator that sees all partitions mixed, and a line that says why it differs."""
        if self.measured.generators < 2:
            return self.bound_ms, ""
        mixed = replace(self.judged, measured=self.judged.measured.merged())
        bound_ms = _bound(mixed, self.goal, self.lateness_ms)
        return bound_ms, (
            "# In PyFlink the strategy comes after the source, and sees all partitions mixed: measured so, the bound\n"
            f"# is {_text(bound_ms)}. On the source, in Java, it is {_text(self.bound_ms)}.\n"
        )

    def _of_the_rest(self, point: Point) -> str:
        if point.on_time == point.events:
            return "None is late."
        lost = f"{_share(point.lost, point.events)} ({point.lost:,})" if point.lost else "none"
        if not point.lateness_ms:
            return f"Without lateness, {lost} are late: side output, or dropped."
        return (
            f"With a lateness of {_text(point.lateness_ms)}, {_share(point.late, point.events)} are counted late, and "
            f"{lost} are later than that: side output, or dropped."
        )

    def _shortfall(self) -> str:
        least_ms = self.judged.least(self.goal.on_time)
        wait_ms = self.judged.at(least_ms, self.lateness_ms).wait_ms
        after = "no window fires" if wait_ms is None else f"the first result comes after {checks.rough(wait_ms)}"
        return (
            f"No bound reaches both goals: {_percent(self.goal.on_time)} on time needs a bound of {_text(least_ms)}, "
            f"and then {after} in 95 % of the windows. The wait is kept to, as far as it can be."
        )

    def _by(self, groups: Longs, name: str) -> pd.DataFrame:
        needed = np.zeros(len(self.measured), dtype=bool)
        needed[:] = self.as_is.needed_ms <= self.bound_ms
        frame = pd.DataFrame({name: groups, "lag_ms": self.measured.lag_ms, "on_time": needed})
        grouped = frame.groupby(name)
        lags = grouped["lag_ms"]
        return pd.DataFrame(
            {
                "events": lags.size(),
                "median_lag_ms": lags.median().round().astype("int64"),
                "p95_lag_ms": lags.quantile(0.95, interpolation="higher").astype("int64"),
                "largest_lag_ms": lags.max(),
                "on_time_share": grouped["on_time"].mean(),
            }
        )


def advise(measured: Measured, goal: Goal, job: Job, ahead_ms: int) -> Advice:
    """Choose bound and lateness, and say what to look out for."""
    window_ms, offset_ms, idle_ms = job.window_ms, job.offset_ms, job.idle_ms
    as_is = Bounds(measured, window_ms, offset_ms)
    future = checks.from_the_future(measured, ahead_ms)
    judged = Bounds(measured.only(~future), window_ms, offset_ms) if future.any() and not future.all() else as_is
    lateness_ms = goal.lateness_ms or 0
    bound_ms = _bound(judged, goal, lateness_ms)
    if goal.lateness_ms is None:
        lateness_ms = round_up(max(0, judged.least(goal.counted) - bound_ms))
    warnings: list[str] = []
    if future.any():
        warnings.append(checks.future_warning(measured, future, as_is, bound_ms))
    warnings += checks.early(measured, ahead_ms)
    warnings += checks.skews(judged.measured)
    warnings += checks.never(judged.measured)
    if idle_ms is None:
        warnings += checks.holding(judged.measured, judged, bound_ms)
    warnings += checks.silences(judged.measured, idle_ms)
    warnings += checks.small(judged, goal.on_time)
    warnings += checks.unsteady({what: part.least(goal.on_time) for what, part in halves(judged).items()})
    told = tuple(warnings), job.notes, job.present_ms
    return Advice(measured, as_is, judged, goal, bound_ms, lateness_ms, idle_ms, *told)


def halves(bounds: Bounds) -> dict[str, Bounds]:
    """Give the first and the second half of the events as data of their own."""
    first = np.arange(len(bounds.measured)) < len(bounds.measured) // 2
    if not first.any():
        return {}
    parts = {"first half of the data": first, "second half of the data": ~first}
    return {what: replace(bounds, measured=bounds.measured.only(wanted)) for what, wanted in parts.items()}


def silences(measured: Measured) -> pd.DataFrame:
    """Count the silences that are longer than each round timeout; see `Advice.silences`."""
    arrival_ms = measured.arrival_ms
    last = pd.Series(arrival_ms).groupby(measured.partition).max()
    ends_ms = int(arrival_ms[-1]) - last.to_numpy()
    is_first = ~pd.Series(measured.partition).duplicated().to_numpy()
    gap_ms = np.concatenate([np.where(is_first, arrival_ms - arrival_ms[0], measured.gap_ms), ends_ms])
    partition = np.concatenate([measured.partition, last.index.to_numpy()])
    behind_ms = np.concatenate([measured.behind_ms, np.zeros(len(ends_ms), dtype=np.int64)])
    at_end = np.arange(len(gap_ms)) >= len(measured)
    rows: list[tuple[Any, ...]] = []
    for timeout_ms in ROUND_MS:
        trips = gap_ms > timeout_ms
        if not trips.any():
            break
        risky = behind_ms[trips]
        counts = int(trips.sum()), len(np.unique(partition[trips])), int((trips & at_end).sum())
        if len(rows) == 1 and rows[0][2] == counts[0]:
            rows.clear()  # timeouts so short that they tell nothing apart
        rows.append((_text(timeout_ms), timeout_ms, *counts, int((risky > 0).sum()), int(risky.max())))
    columns = ["timeout", "timeout_ms", "silences", "partitions", "to_the_end", "behind", "worst_behind_ms"]
    return pd.DataFrame(rows, columns=columns)


def length_ms(name: str, value: Any) -> int:
    """Read a length of time that is 0 or more.

    Raises
    ------
    LagError
        If it is below 0.
    TimeError
        If it is no duration.
    """
    ms = duration_ms(value)
    if ms < 0:
        raise LagError(f"{name} is {duration_text(ms)}; write 0 or more")
    return ms


def _bound(judged: Bounds, goal: Goal, lateness_ms: int) -> int:
    """Give a round bound that reaches the goal, or the exact one; or the longest that the wait allows."""
    least_ms = judged.least(goal.on_time)
    if goal.max_wait_ms is None:
        return round_up(least_ms)
    longest_ms = judged.longest(goal.max_wait_ms, lateness_ms)
    if longest_ms is None:
        return 0
    if least_ms <= longest_ms:
        return round_up(least_ms) if round_up(least_ms) <= longest_ms else least_ms
    return round_down(longest_ms)


def _quantile(ms: Longs, share: float) -> int:
    place = max(int(np.ceil(share * len(ms) - 1e-9)) - 1, 0)
    return int(np.partition(ms, place)[place])


def _text(ms: int) -> str:
    return duration_text(int(ms)) if ms else "0"


def _percent(share: float) -> str:
    return f"{share * 100:.4f}".rstrip("0").rstrip(".") + " %"


def _verb(count: int, one: str, more: str) -> str:
    """Write a number with its verb."""
    return f"{count:,} {one if count == 1 else more}"


def _share(part: int, whole: int) -> str:
    """Write a share so that it is neither 0 nor 100 % unless it is so."""
    if part in (0, whole):
        return "none" if part == 0 else "all"
    digits = next(number for number in range(2, 9) if 0 < round(100 * part / whole, number) < 100 or number == 8)
    return f"{100 * part / whole:.{digits}f} %"
