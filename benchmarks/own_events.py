"""A million events of one's own: read from CSV and simulated: ``python -m benchmarks.own_events``.

Each form is read in a process of its own, so that its peak memory can be told. Seconds are those of the processor, so
other work on the machine does not count.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.engine_speed import peak_gb

ROWS = 1_000_000
MOST_SECONDS, MOST_GB = 60.0, 2.0
_FORMS = {"ISO 8601 text": "iso", "numbers, ms since the epoch": "ms"}


def write(path: Path, form: str, rows: int = ROWS) -> None:
    """Write a day of events in order of arrival, 2 % of them late by minutes."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(7)
    arrival_ms = 1_792_216_800_000 + np.sort(rng.integers(0, 86_400_000, rows))
    slow = np.where(rng.random(rows) < 0.02, 300_000, 2_000)
    event_ms = arrival_ms - rng.exponential(slow).astype("int64")
    columns = {"event_time": event_ms, "arrival_time": arrival_ms}
    if form == "iso":
        stamps = {name: pd.Series(pd.to_datetime(ms, unit="ms", utc=True)) for name, ms in columns.items()}
        columns = {name: at.dt.strftime("%Y-%m-%dT%H:%M:%S.%fZ") for name, at in stamps.items()}
    keys = pd.Series(rng.integers(0, 500, rows)).map("sensor-{}".format)
    partition, value = rng.integers(0, 4, rows), rng.integers(0, 1_000, rows)
    pd.DataFrame({**columns, "key": keys, "value": value, "partition": partition}).to_csv(path, index=False)


def measure(path: str) -> None:
    """Read and simulate one file, and print what it took."""
    import wmviz

    begun = time.process_time()
    own = wmviz.own.read_csv(path, bound="30 s", window="10 min", lateness="5 min", progress=False)
    read = time.process_time() - begun
    if own.rows_set_aside or len(own.scenario.events) != ROWS:
        raise RuntimeError("rows were set aside: this benchmark measures something else")
    begun = time.process_time()
    trace = wmviz.simulate(own.scenario, trace="results")
    ran = time.process_time() - begun
    begun = time.process_time()
    own.sample(most=2_000)
    print(read, ran, time.process_time() - begun, len(trace.all_firings), peak_gb())


def main() -> int:
    """Print what each form takes; 1 if one takes too much."""
    missed = False
    for what, form in _FORMS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "events.csv"
            write(path, form)
            command = [sys.executable, "-m", "benchmarks.own_events", str(path)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        read, ran, sampled, firings, gigabytes = map(float, done.stdout.split())
        over = read + ran > MOST_SECONDS or gigabytes > MOST_GB
        missed |= over
        print(
            f"{ROWS:,} rows, {what}: read {read:.1f} s, simulated {ran:.1f} s ({firings:,.0f} firings); aim "
            f"{MOST_SECONDS:g} s for both. Peak {gigabytes:.2f} GB, aim {MOST_GB:g}. A sample: {sampled:.1f} s."
            + ("  MISSED" if over else "")
        )
    return int(missed)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(sys.argv[1])
    else:
        sys.exit(main())
