"""Diagnose a silent or lossy job: read a running job over Flink's REST interface and name the likely cause.

It speaks HTTP with the standard library alone, reads and never writes, and needs neither PyFlink nor Java.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from wmviz.diagnosis import answers, facts, result
from wmviz.diagnosis.case import Case, Cause, Check
from wmviz.diagnosis.causes import find
from wmviz.diagnosis.client import LIMIT_S, Client, DiagnosisError
from wmviz.diagnosis.result import Diagnosis
from wmviz.times import TimeError, duration_ms

__all__ = ["Cause", "Check", "Diagnosis", "DiagnosisError", "diagnose"]

ALL_LIMIT_S = 60.0


def diagnose(
    where: object,
    job: str | None = None,
    *,
    wait: float | str | None = None,
    token: str | None = None,
    user: str | None = None,
    password: str | None = None,
    ca: str | Path | None = None,
    acceptable_delay: int | str | None = None,
    limit_s: float = LIMIT_S,
    all_limit_s: float = ALL_LIMIT_S,
    tell: Callable[[str], None] | None = None,
) -> Diagnosis:
    """Say why a job gives no results, or loses some.

    It reads the job's watermarks and counters twice, some seconds apart, and compares them. It sends GET requests only.

    Parameters
    ----------
    where
        Address of Flink's REST interface or web page, as ``"http://localhost:8081"``; a cluster of
        `wmviz.flink.cluster`; or a file that ``Diagnosis.save`` wrote.
    job
        Name or id of the job; None: the only one that runs.
    wait
        From reading to reading: seconds, or text as ``"15 s"``; None: as long as the cluster takes to collect new
        numbers, which is 12 s with Flink's defaults.
    token
        For a gateway that wants a bearer token.
    user, password
        For one that wants basic authentication.
    ca
        File with the certificate of your own authority, for TLS.
    acceptable_delay
        How far a watermark may trail the events before the bound counts as too large: ms, or text as ``"10 min"``;
        None: twice the window, at least 30 s, at most 5 min.
    limit_s, all_limit_s
        Seconds for one answer, and for all together without the wait.
    tell
        Is called with a sentence about what is done now.

    Returns
    -------
    Diagnosis
        ``.healthy``, ``.causes`` (the likeliest first), ``.watermarks`` (a table), ``.to_json()``, ``.save(path)``.

    Raises
    ------
    DiagnosisError
        If the job cannot be read; the message says why in a sentence.
    """
    acceptable_ms = None if acceptable_delay is None else _duration_ms(acceptable_delay, "acceptable_delay")
    if isinstance(where, Path) or (isinstance(where, str) and _is_path(where)):
        told = answers.load(where)
        if job not in (None, told.job):
            raise DiagnosisError(f"the dump is of job {told.job}, not of {job!r}")
    else:
        address = getattr(where, "address", where)
        if not isinstance(address, str):
            raise DiagnosisError(f'{where!r} is no address of Flink; write one like "http://localhost:8081"')
        wait_s = None if wait is None else wait if isinstance(wait, (int, float)) else _duration_ms(wait, "wait") / 1000
        if wait_s is not None and not 0.5 <= wait_s <= 3600:
            raise DiagnosisError(f"wait is {wait!r}; write a time from 0.5 s to 1 h")
        client = Client(address, token=token, user=user, password=password, ca=ca, limit_s=limit_s)
        told = answers.ask(client, job, wait_s, all_limit_s, tell or (lambda sentence: None))
    case = Case(facts.read(told), acceptable_ms)
    return result.make(case, *find(case))


def _is_path(text: str) -> bool:
    return "://" not in text and (text.endswith(".json") or os.sep in text.rstrip(os.sep) or os.path.exists(text))


def _duration_ms(value: int | str, name: str) -> int:
    try:
        return duration_ms(value)
    except TimeError as error:
        raise DiagnosisError(f"{name}: {error}") from None
