"""What notebook 22 says about its sample is so, and the sample is what its seed gives."""

import importlib.util
import re
import sys
from datetime import timedelta
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

import wmviz
from tests.notebooks.prose import HeldProse, read_lesson

ROOT = Path(__file__).resolve().parent.parent.parent
CELLS, PROSE = read_lesson("22-bring-your-own-lag")
FRAME = pd.read_csv(ROOT / "notebooks" / "data" / "parcel-scans.csv")
HAPPENED, ARRIVED = (pd.to_datetime(FRAME[name]) for name in ("event_time", "arrival_time"))
LAG = ARRIVED - HAPPENED
ADVICE = wmviz.lag.choose(FRAME, partition="partition", window="15 min", key="scanner", present=("30 s", "0 ms"))


@cache
def tool():
    spec = importlib.util.spec_from_file_location("lag_sample_tool", ROOT / "tools" / "lag_sample.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


# A piece of the prose → whether it is so.
FACTS = {
    "three partitions, twelve hours": (
        FRAME["partition"].nunique() == 3
        and timedelta(hours=11.9) < HAPPENED.max() - HAPPENED.min() < timedelta(hours=12.1)
    ),
    "Most lines arrive within seconds": (timedelta(seconds=30) > LAG).mean() > 0.9,
    "lose the network for up to 40 minutes": timedelta(minutes=35) < LAG.max() <= timedelta(minutes=40),
    "one line has a wrong clock": (timedelta(0) > LAG).sum() == 1,
    "makes everything behind it look hours out of order": ADVICE.quantiles["behind_ms"][0.99] > 2 * 3_600_000,
    "It is named above, under *Look out*": any("dated into the future" in warning for warning in ADVICE.warnings),
    "Read *At present* aloud": "At present" in str(ADVICE),
    "`advice.by_partition` and `advice.by_hour` tell": len(ADVICE.by_partition) == 3 and len(ADVICE.by_hour) > 10,
    'with `key="scanner"`, so does `advice.by_key`': len(ADVICE.by_key) > 0,
    "`advice.silences` counts the silences": ADVICE.silences["silences"].is_monotonic_decreasing,
    '`"pyflink"` and `"sql"` work too': bool(ADVICE.code("pyflink")) and bool(ADVICE.code("sql")),
    "**Its figures are made up**, from a seed": tool().PATH.read_text(encoding="utf-8") == tool().text(),
}


class TestProse(HeldProse):
    by_hand = frozenset({"06:00:22"})  # the form of a time, in the row of the table about such files


def test_the_sample_has_no_more_columns_than_the_text_asks_for():
    assert list(FRAME) == ["event_time", "arrival_time", "scanner", "partition"]


def test_events_are_in_the_order_of_arrival():
    assert ARRIVED.is_monotonic_increasing


def test_without_the_wrong_clock_the_warning_is_gone():
    clean = wmviz.lag.choose(FRAME[timedelta(0) <= LAG], partition="partition", window="15 min")
    assert not [warning for warning in clean.warnings if "future" in warning]


# A file of one's own -------------------------------------------------------------------------------------------------

NAMES = ["event_time", "arrival_time", "partition"]
ROWS = dict(re.findall(r"^\| (\w.+?) \| `(frame.+)` \|$", PROSE, re.MULTILINE))


def mend(start):
    """Give what the notebook says to write for a file that begins its row so."""
    (found,) = (code for what, code in ROWS.items() if what.startswith(start))
    return found


def german(times):
    return times.dt.strftime("%d.%m.%Y %H:%M:%S,") + (times.dt.microsecond // 1000).map("{:03}".format)


def seconds(times):
    return ((times - pd.Timestamp(0, tz="UTC")) / pd.Timedelta("1s")).round(3)


def local(times):
    return times.dt.tz_convert("Europe/Berlin").dt.tz_localize(None)


def write_ugly(path, as_written, zone, names=NAMES, **how):
    """Write the sample as another team would have it."""
    in_zone = local if zone else lambda times: times
    table = pd.DataFrame(
        {
            names[0]: as_written(in_zone(HAPPENED)),
            names[1]: as_written(in_zone(ARRIVED)),
            names[2]: FRAME["partition"],
        }
    )
    table.to_csv(path, index=False, **how)


UGLY = {
    "German numbers": (
        (seconds, False, NAMES, {"sep": ";", "decimal": ","}),
        ("has semicolons", "has numbers"),
    ),
    "seconds, as they are": ((seconds, False, NAMES, {}), ()),
    "no header": ((lambda times: times, False, NAMES, {"header": False}), ("has no header",)),
    "other names": ((lambda times: times, False, ["ts", "received", "partition"], {}), ("has other names",)),
    "German times of Berlin": (
        (german, True, NAMES, {"sep": ";"}),
        ("has semicolons", "has times such as", "has times without a zone"),
    ),
    "no zone": ((lambda times: times, True, NAMES, {}), ("has times without a zone",)),
}


@pytest.mark.parametrize("ugly", UGLY)
def test_a_table_that_is_not_tidy_is_mended_as_the_notebook_says(ugly, tmp_path):
    """The mended table, and every cell after it, give what the tidy sample gives."""
    (as_written, zone, names, how), starts = UGLY[ugly]
    path = tmp_path / "events.csv"
    write_ugly(path, as_written, zone, names, **how)
    space = {"pd": pd, "path": path, "times": NAMES[:2], "frame": pd.read_csv(path)}
    for start in starts:
        exec(mend(start), space)
    codes = [cell.source for cell in CELLS if cell.cell_type == "code"]
    codes[0] = codes[0].replace('frame = pd.read_csv("data/parcel-scans.csv")', "pass")
    for code in codes:
        exec(code, space)
    tidy = wmviz.lag.choose(FRAME[timedelta(0) <= LAG], partition="partition", window="15 min", present=("30 s", 0))
    pd.testing.assert_frame_equal(space["advice"].curve, tidy.curve)
    assert str(space["advice"]).splitlines()[:2] == str(tidy).splitlines()[:2]


def test_each_row_about_an_untidy_file_is_tried():
    used = {start for _, starts in UGLY.values() for start in starts} | {"has no partition", "has rows without"}
    assert sorted(mend(start) for start in used) == sorted(ROWS.values())


def test_a_table_without_partitions_or_with_empty_times_is_mended():
    space = {"frame": FRAME.drop(columns="partition").astype(object)}
    space["frame"].loc[3, "arrival_time"] = None
    for start in ("has no partition", "has rows without"):
        exec(mend(start), space)
    assert len(space["frame"]) == len(FRAME) - 1
    assert wmviz.lag.choose(space["frame"], partition="partition", window="15 min").by_partition is not None
