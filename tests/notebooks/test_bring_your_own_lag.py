"""What notebook 22 says about its sample is so, and the sample is what its seed gives."""

import importlib.util
import sys
from datetime import timedelta
from functools import cache
from pathlib import Path

import pandas as pd

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
    pass


def test_the_sample_has_no_more_columns_than_the_text_asks_for():
    assert list(FRAME) == ["event_time", "arrival_time", "scanner", "partition"]


def test_events_are_in_the_order_of_arrival():
    assert ARRIVED.is_monotonic_increasing


def test_without_the_wrong_clock_the_warning_is_gone():
    clean = wmviz.lag.choose(FRAME[timedelta(0) <= LAG], partition="partition", window="15 min")
    assert not [warning for warning in clean.warnings if "future" in warning]
