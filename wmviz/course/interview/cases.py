"""Jobs for an interview: a leaderboard that meets one trouble after the other, and small jobs of design questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from statistics import median
from typing import TYPE_CHECKING, Any

import wmviz
from wmviz.charts.facts import event_looks
from wmviz.scenario import Scenario
from wmviz.stage.marks import Look
from wmviz.times import duration_text, time_ms, time_text
from wmviz.trace import Trace

if TYPE_CHECKING:
    import pandas as pd

LADDER = Scenario.of(
    name="ladder",
    title="A leaderboard with two partitions",
    about="r9 sends to partition 1, the others to partition 0; r4471's kilometre of 6:56 is 13 minutes on its way.",
    unit="m",
    bound="2 min",
    interval="1 s",
    partitions=2,
    window="1 h",
    lateness="20 min",
    late_to="side",
    start="6:14",
    events=[
        ["r9", 3000, "6:20", "6:20:10", 1],
        ["r4471", 2000, "6:30", "6:30:10", 0],
        ["r7", 1000, "6:38", "6:38:10", 0],
        ["r7", 1000, "6:46", "6:46:10", 0],
        ["r9", 500, "6:50", "6:50:10", 1],
        ["r7", 1000, "6:54", "6:54:40", 0],
        ["r9", 1000, "7:02", "7:02:02", 1],
        ["r7", 1000, "7:01:59.999", "7:02:05", 0],
        ["r7", 1000, "7:02", "7:02:10", 0],
        ["r4471", 1000, "6:56", "7:09", 0],
        ["r7", 1000, "7:15", "7:15:10", 0],
        ["r9", 1000, "7:22", "7:22:05", 1],
        ["r7", 1000, "7:22", "7:22:10", 0],
        ["r7", 1000, "7:26", "7:26:10", 0],
        ["r9", 1000, "7:27", "7:27:10", 1],
    ],
)
SILENCE = {"what": "silence", "partition": 1, "at": "6:25", "until": "7:24:10"}
_CHECKPOINTS = {"interval": "10 min", "min_pause": "1 min", "notice": "2 s"}
_BEFORE_THE_CHECKPOINT = {"what": "crash", "at": "7:03:30", "down": "10 s"}
_AFTER_THE_PURGE = {"what": "crash", "at": "7:24:30", "down": "10 s"}

RUNGS: dict[str, dict[str, Any]] = {
    "bound": {},
    "idle": {"happenings": [SILENCE]},
    "harm": {"happenings": [SILENCE], "idle_timeout": "10 min"},
    "crash": {"checkpoints": _CHECKPOINTS, "happenings": [_BEFORE_THE_CHECKPOINT]},
    "overwrite": {
        "checkpoints": _CHECKPOINTS,
        "happenings": [SILENCE, _AFTER_THE_PURGE],
        "idle_timeout": "10 min",
    },
    "sink": {"checkpoints": _CHECKPOINTS, "happenings": [_BEFORE_THE_CHECKPOINT], "sink": "append"},
}
"""What each rung of the ladder changes in `LADDER`."""
# What they say, a candidate reads before the answer is given.
_TITLES = {
    "bound": "Question 1: the bound",
    "idle": "Question 2: the empty screen",
    "harm": "Question 3: the timeout",
    "crash": "Question 4: the crash",
    "overwrite": "Question 5: the total that gets smaller",
    "sink": "Question 6: the sink",
}


def rung(name: str, **changes: Any) -> Scenario:
    """Give a rung of the ladder, with more changes if there are any."""
    return LADDER.replace(name=f"ladder-{name}", title=_TITLES[name], **{**RUNGS[name], **changes})


def hour(trace: Trace, key: str, start: str = "6:00") -> Any:
    """Give what the sink has in the end for a runner's hour: a number, or all rows of a sink that appends."""
    start_ms = time_ms(start)
    return trace.totals.get((key, start_ms, start_ms + time_ms("1:00")))


BILLING = Scenario.of(
    name="billing",
    title="Calls of an interface, billed by the minute",
    about="The minute from 9:00 is written at 9:01:06; the job crashes before the next checkpoint.",
    unit="cents",
    bound="5 s",
    window="1 min",
    lateness="10 min",
    late_to="side",
    start="9:00",
    checkpoints={"interval": "30 s", "notice": "1 s"},
    happenings=[{"what": "crash", "at": "9:01:20", "down": "5 s"}],
    sink="upsert",
    events=[
        ["acme", 40, "9:00:10", "9:00:11"],
        ["acme", 60, "9:00:50", "9:00:52"],
        ["beta", 30, "9:01:05", "9:01:06"],
        ["acme", 20, "9:00:58", "9:01:40"],
        ["beta", 10, "9:01:50", "9:01:51"],
        ["beta", 10, "9:02:06", "9:02:07"],
    ],
)

FRAUD = Scenario.of(
    name="fraud",
    title="Three payments with one card within a minute",
    about="Card c1 pays at 10:00:40, 10:00:55 and 10:01:10: within 30 s, and on both sides of a full minute.",
    bound="10 s",
    window={"type": "sliding", "size": "1 min", "slide": "10 s"},
    late_to="side",
    aggregate="count",
    start="10:00",
    events=[
        ["c2", 1, "10:00:05", "10:00:05.400"],
        ["c1", 1, "10:00:40", "10:00:40.300"],
        ["c1", 1, "10:01:10", "10:01:10.500"],
        ["c1", 1, "10:00:55", "10:01:12"],
        ["c2", 1, "10:01:20", "10:01:20.300"],
        ["c2", 1, "10:01:30", "10:01:30.400"],
        ["c2", 1, "10:02:30", "10:02:30.300"],
    ],
)

_CUT_OFF = {"what": "silence", "partition": 1, "at": "9:03", "until": "9:20:30"}
SENSORS = Scenario.of(
    name="sensors",
    title="Temperatures from two gateways",
    about="The gateway of s2 has no network from 9:03 to 9:20:30, and then sends all that it has kept.",
    unit="°C",
    bound="10 s",
    interval="1 s",
    partitions=2,
    window="5 min",
    late_to="side",
    aggregate="average",
    start="9:00",
    happenings=[_CUT_OFF],
    events=sorted(
        [
            *(["s1", 20, f"9:{minute:02}", f"9:{minute:02}:01", 0] for minute in range(24)),
            *(["s2", 30, f"9:{minute:02}:05", f"9:{minute:02}:06", 1] for minute in range(0, 24, 2)),
        ],
        key=lambda row: time_ms(row[3]),
    ),
)

CLICKS = Scenario.of(
    name="clicks",
    title="Visits to a shop",
    about="u1's click of 14:20 was sent late; it lies between two visits, and joins them.",
    bound="1 min",
    window={"type": "session", "gap": "15 min"},
    lateness="30 min",
    late_to="side",
    aggregate="count",
    start="14:00",
    events=[
        ["u1", 1, "14:00", "14:00:02"],
        ["u1", 1, "14:08", "14:08:02"],
        ["u2", 1, "14:26", "14:26:03"],
        ["u1", 1, "14:32", "14:32:02"],
        ["u1", 1, "14:20", "14:40"],
        ["u2", 1, "14:52", "14:52:02"],
        ["u2", 1, "15:25", "15:25:02"],
    ],
)


def with_event(scenario: Scenario, *row: Any) -> Scenario:
    """Give a scenario with one more event, a row as `Scenario.of` takes them, at its place in the order of arrival."""
    own = [[e.key, e.value, e.event_time_ms, e.arrival_time_ms, e.partition] for e in scenario.events]
    return scenario.replace(events=sorted([*own, list(row)], key=lambda event: time_ms(event[3])))


def tried(designs: Mapping[str, Scenario], readers_see: Callable[[Trace], str]) -> pd.DataFrame:
    """Run designs of one job and put what they come to side by side.

    Parameters
    ----------
    designs
        What each is called, and the scenario.
    readers_see
        Says of a run what the readers of its sink find.

    Returns
    -------
    pandas.DataFrame
        A row for each: how many events were on time, late but counted, and too late (in the side output or dropped);
        how long after the end of a window its first result came, the median of all windows that fired; and what
        readers see.
    """
    import pandas as pd

    rows = []
    for scenario in designs.values():
        trace = wmviz.simulate(scenario)
        looks = Counter(event_looks(trace))
        too_late = looks[Look.SIDE_OUTPUT] + looks[Look.DROPPED]
        rows.append((looks[Look.ON_TIME], looks[Look.LATE_COUNTED], too_late, wait(trace), readers_see(trace)))
    columns = ["on time", "late, counted", "too late", "first result after", "readers see"]
    return pd.DataFrame(rows, columns=columns, index=list(designs))


def wait(trace: Trace) -> str:
    """Say how long after its end a window's first result came, by the server's clock: the median."""
    firsts = [f.at_ms - f.window.end_ms for f in trace.all_firings if f.nth == 1 and f.window.end_ms is not None]
    return duration_text(int(median(firsts))).replace("-", "−") if firsts else "no result"


def rows_of(trace: Trace, key: str) -> str:
    """Write down the rows of a key that a reader finds in the sink in the end, with the times of their windows."""
    found = [
        f"{time_text(window.start_ms)} to {time_text(window.end_ms)}: {value}"
        for row_key, window, value in trace.state().sink
        if row_key == key and window.start_ms is not None
    ]
    return "; ".join(found) or "nothing"


def first_alarm(trace: Trace, key: str, least: int) -> str:
    """Say when a first result of a key reaches a number, and how many of its windows do."""
    alarms = [f for f in trace.all_firings if f.key == key and f.value >= least]
    windows = len({f.window for f in alarms})
    return f"alarm at {time_text(alarms[0].at_ms)}, in {windows} of its windows" if alarms else "no alarm"
