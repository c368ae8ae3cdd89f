"""Watermark alignment on real Flink: whether a fast source waits for a slow one."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from wmviz.flink import program, recorded, startup
from wmviz.flink.program import Program
from wmviz.flink.replay import RECORD_SWITCH
from wmviz.flink.startup import ENGINE, LIMIT_S, FlinkError
from wmviz.scenario import ScenarioError, json_text
from wmviz.times import MIN_MS, duration_text, shown

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

PLACES = {
    "source": "Alignment on the source",
    "after": "Alignment after the source",
    "off": "No alignment",
}
WAIT_NUMBERS = 6
"""Numbers that the slow source sends while the fast one sends none: fewer may be a machine that is busy."""
RECORDINGS = recorded.FOLDER / "alignment"


class Look(NamedTuple):
    """What was seen when a source sent a number.

    Attributes
    ----------
    source
        ``"fast"`` or ``"slow"``.
    at_ms
        Wall-clock time since the first look.
    event_time_ms
        Event time of the number.
    watermark_ms
        Watermark of the source just before the number; None before its first.
    """

    source: str
    at_ms: int
    event_time_ms: int
    watermark_ms: int | None


@dataclass(frozen=True)
class AlignmentRun:
    """How far a fast source ran ahead of a slow one on Flink.

    Attributes
    ----------
    where
        ``"source"`` or ``"after"``: the place of the strategy with alignment; ``"off"``: there is no alignment.
    drift_ms
        How far a source may be ahead of the slowest of its group, in event time.
    looks
        One for each number, in the order of the wall clock.
    """

    where: str
    drift_ms: int
    looks: tuple[Look, ...]

    @property
    def leads(self) -> list[tuple[int, int]]:
        """Event time of each number of the slow source, and how far the fast one was ahead then, in ms."""
        fast_ms, found = None, []
        for look in self.looks:
            if look.source == "fast":
                fast_ms = look.event_time_ms
            elif fast_ms is not None:
                found.append((look.event_time_ms, fast_ms - look.event_time_ms))
        return found

    @property
    def lead_ms(self) -> int:
        """The largest lead of the fast source over the slow one, in event time, until the slow one ended."""
        return max((lead_ms for _, lead_ms in self.leads), default=0)

    @property
    def waits(self) -> list[tuple[int, int]]:
        """From when to when the fast source sent nothing though the slow one did (ms since the first look)."""
        return list(_waits(self.looks))

    @property
    def is_held(self) -> bool:
        """Whether the lead no longer grew after the first third of the slow source's way.

        From there on the fast source goes as far as the slow one if it is held, and several times as far if it is not;
        the line is drawn at twice as far.
        """
        leads = self.leads
        if not leads:
            return False
        (begin_ms, _), (end_ms, last_ms) = leads[0], leads[-1]
        third_ms = begin_ms + (end_ms - begin_ms) // 3
        then_ms, lead_then_ms = next(each for each in leads if each[0] >= third_ms)
        return last_ms - lead_then_ms < end_ms - then_ms

    @property
    def program(self) -> Program:
        """The program that ran, to read and copy."""
        return alignment_code()

    @property
    def table(self) -> pd.DataFrame:
        """A row for each number: the columns of `Look`; times in ms."""
        import pandas as pd

        frame = pd.DataFrame(self.looks, columns=list(Look._fields))
        return frame.astype({name: "Int64" for name in Look._fields if name.endswith("_ms")})

    def chart(self) -> alt.LayerChart:
        """Draw both sources against the wall clock: `wmviz.charts.alignment`."""
        from wmviz import charts

        return charts.alignment(self)

    @property
    def verdict(self) -> str:
        """Say where the strategy was and whether the fast source was held."""
        return f"{PLACES[self.where]}: the fast source was {'held' if self.is_held else 'not held'}."

    @property
    def told(self) -> str:
        """Say how far the fast source was ahead, and how long it waited."""
        end_ms = max((event_time_ms for event_time_ms, _ in self.leads), default=0)
        drift = "" if self.where == "off" else f" (allowed: {duration_text(self.drift_ms)})"
        waits = [end - begin for begin, end in self.waits]
        waited = f"waited {_times(len(waits))}, {sum(waits) / 1000:.1f} s in all" if waits else "never waited"
        return (
            f"While the slow one went to {duration_text(end_ms)} of event time, "
            f"it was at most {duration_text(self.lead_ms)} ahead{drift}; it {waited}."
        )

    def __repr__(self) -> str:
        """Tell it in sentences."""
        return f"{self.verdict}\n{self.told}"

    def _repr_html_(self) -> str:
        """Show the picture, whose words are the same."""
        from wmviz.charts.look import render

        return render(self.chart().to_dict())["text/html"]


def alignment_code() -> Program:
    """Give the program that `align` runs: it can be saved and run alone.

    Returns
    -------
    Program
        Text that a notebook shows as code. Save it with ``.save(folder)``.
    """
    return Program(program.source("alignment_job.txt"), "alignment")


def align(where: str = "source", limit_s: float = LIMIT_S) -> AlignmentRun:
    """Run a fast and a slow source in one alignment group, and say how far the fast one ran ahead.

    The fast source sends four numbers where the slow one sends one; each number is a second of event time. What is
    watched is what the sources send: Flink 2.3.0 counts paused time for single splits only, not for a source that waits
    as a whole.

    Parameters
    ----------
    where
        ``"source"``: the strategy, with alignment, on the source. ``"after"``: the same strategy behind it, by
        ``assign_timestamps_and_watermarks``. ``"off"``: on the source, without alignment.
    limit_s
        Seconds after which the job is cancelled.

    Returns
    -------
    AlignmentRun
        What was seen of both sources, and whether the fast one was held. Where PyFlink is missing it is that of a
        recorded run.

    Raises
    ------
    FlinkError
        If the job fails or does not end in time.
    ScenarioError
        If `where` is none of these.
    """
    if where not in tuple(PLACES):
        raise ScenarioError(f'where is {shown(where)}; write "source", "after" or "off"')
    can, why = startup.available()
    if not can:
        recorded.show_label(ENGINE, why)
        return _recorded(where)
    startup.job()
    job = alignment_code().load()
    with tempfile.TemporaryDirectory(prefix="wmviz-alignment-") as folder:
        with startup.sentences(), startup.tidy():
            stream = job.build(_environment(job.settings()), folder, where)
        lines = startup.collect(stream, f"alignment: {where}", limit_s)
    if len(lines) < sum(job.NUMBERS.values()):
        raise FlinkError("The job ended before both sources had sent all their numbers; run it again.")
    run = AlignmentRun(where, job.DRIFT_MS, _looks(lines))
    if os.environ.get(RECORD_SWITCH):
        _record(run)
    return run


def _looks(lines: list[str]) -> tuple[Look, ...]:
    """Order what the job told by the wall clock."""
    told = sorted((Look(**json.loads(line)) for line in lines), key=lambda look: look.at_ms)
    return tuple(
        look._replace(
            at_ms=look.at_ms - told[0].at_ms, watermark_ms=None if look.watermark_ms == MIN_MS else look.watermark_ms
        )
        for look in told
    )


def _waits(looks: tuple[Look, ...]) -> Iterator[tuple[int, int]]:
    last_ms, slow_since = None, 0
    for look in looks:
        if look.source == "slow":
            slow_since += 1
            continue
        if last_ms is not None and slow_since >= WAIT_NUMBERS:
            yield last_ms, look.at_ms
        last_ms, slow_since = look.at_ms, 0


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _recorded(where: str) -> AlignmentRun:
    data = json.loads((RECORDINGS / f"{where}.json").read_text(encoding="utf-8"))
    return AlignmentRun(**{**data, "looks": tuple(Look(*look) for look in data["looks"])})


def _record(run: AlignmentRun) -> None:
    RECORDINGS.mkdir(exist_ok=True)
    data = {**asdict(run), "looks": [list(look) for look in run.looks]}
    (RECORDINGS / f"{run.where}.json").write_text(json_text(data), encoding="utf-8")


def _environment(settings: dict[str, str]) -> Any:
    from pyflink.common import Configuration
    from pyflink.datastream import StreamExecutionEnvironment

    chosen = Configuration()
    for name, value in settings.items():
        chosen.set_string(name, value)
    return StreamExecutionEnvironment.get_execution_environment(chosen)
