"""Write notebooks/data/parcel-scans.csv, the sample of notebook 22; its figures are made up.

Handheld scanners of a parcel depot send a line for each parcel. Most lines arrive at once; a scanner without network
keeps its lines. One scanner has a wrong clock. The same seed gives the same file on every machine.
"""

from __future__ import annotations

import csv
import io
import random
from datetime import datetime, timedelta, timezone
from pathlib import Path

PATH = Path(__file__).resolve().parent.parent / "notebooks" / "data" / "parcel-scans.csv"
SEED, COUNT, SCANNERS = 22, 2_400, 12
START = datetime(2026, 10, 17, 4, 0, tzinfo=timezone.utc)
HOURS = 12
FUTURE = (700, timedelta(hours=3))
"""Which line has a wrong clock, and how far it is ahead."""


def lines() -> list[tuple[datetime, datetime, str, int]]:
    """Give event time, arrival time, scanner and partition of each line, in the order of arrival."""
    rng = random.Random(SEED)
    made = []
    for number in range(COUNT):
        happened = START + timedelta(seconds=round(rng.uniform(0, HOURS * 3600), 1))
        scanner = rng.randrange(SCANNERS)
        arrived = happened + timedelta(seconds=round(lag_s(rng), 1))
        happened += FUTURE[1] if number == FUTURE[0] else timedelta()
        made.append((happened, arrived, f"scanner-{scanner:02}", scanner % 3))
    return sorted(made, key=lambda line: (line[1], line[0], line[2]))


def lag_s(rng: random.Random) -> float:
    """Draw how long a line is on its way: 96 of 100 within half a minute, the rest up to 40 minutes."""
    return (
        rng.uniform(0.2, 5)
        if rng.random() < 0.9
        else rng.uniform(5, 30)
        if rng.random() < 0.6
        else rng.uniform(30, 2_400)
    )


def text() -> str:
    """Give the file."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["event_time", "arrival_time", "scanner", "partition"])
    for happened, arrived, scanner, partition in lines():
        writer.writerow([iso(happened), iso(arrived), scanner, partition])
    return out.getvalue()


def iso(at: datetime) -> str:
    """Write a time in ISO 8601, to the millisecond."""
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


if __name__ == "__main__":
    PATH.parent.mkdir(exist_ok=True)
    PATH.write_text(text(), encoding="utf-8", newline="")
