"""What a person may say about the job to be read, checked: where it is, who asks, how long, and what counts as late."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, TypeGuard

from wmviz.diagnosis.case import Limits
from wmviz.diagnosis.client import Client, DiagnosisError
from wmviz.times import TimeError, duration_ms


def is_dump(where: object) -> TypeGuard[str | Path]:
    """Say whether a file is meant, and not an address."""
    if isinstance(where, Path):
        return True
    if not isinstance(where, str) or "://" in where or re.match(r"https?(:/|/)", where):
        return False
    if re.match(r"[\w.-]+:\d+/", where) and not os.path.exists(where):
        return False  # as localhost:8081/flink, behind a proxy
    return where.endswith(".json") or os.sep in where.rstrip(os.sep) or os.path.exists(where)


def client_of(where: object, **options: Any) -> Client:
    """Give who reads an address, or a cluster that has one; options as for `Client`."""
    address = getattr(where, "address", where)
    if not isinstance(address, str):
        raise DiagnosisError(f'{where!r} is no address of Flink; write one like "http://localhost:8081"')
    return Client(address, **options)


def limits_of(acceptable_delay: int | str | None, acceptable_silence: int | str | None) -> Limits:
    """Give what counts as too late and too silent."""
    return Limits(
        None if acceptable_delay is None else ms_of(acceptable_delay, "acceptable_delay"),
        None if acceptable_silence is None else ms_of(acceptable_silence, "acceptable_silence"),
    )


def ms_of(value: int | str, name: str) -> int:
    """Read a duration that has a name."""
    try:
        return duration_ms(value)
    except TimeError as error:
        raise DiagnosisError(f"{name}: {error}") from None


def seconds_of(value: float | str, name: str) -> float:
    """Read seconds, or text as ``"15 s"``, between half a second and an hour."""
    seconds = value if isinstance(value, (int, float)) else ms_of(value, name) / 1000
    if not 0.5 <= seconds <= 3600:
        raise DiagnosisError(f"{name} is {value!r}; write a time from 0.5 s to 1 h")
    return seconds
