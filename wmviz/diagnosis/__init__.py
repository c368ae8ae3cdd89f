"""Diagnose a silent or lossy job: read a running job over Flink's REST interface and name the likely cause.

It speaks HTTP with the standard library alone, reads and never writes, and needs neither PyFlink nor Java.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from wmviz.diagnosis import answers, facts, result
from wmviz.diagnosis.case import Case, Cause, Check, Limits
from wmviz.diagnosis.causes import find
from wmviz.diagnosis.client import LIMIT_S, DiagnosisError
from wmviz.diagnosis.options import client_of, is_dump, limits_of, seconds_of
from wmviz.diagnosis.result import Diagnosis

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
    acceptable_silence: int | str | None = None,
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
    acceptable_silence
        How long no source at all may read a record before that counts as a fault: ms, or text as ``"8 h"`` for a
        topic that sleeps at night; None: five times the usual pause, at least 10 s.
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
    limits = limits_of(acceptable_delay, acceptable_silence)
    if is_dump(where):
        told = answers.load(where)
        if job not in (None, told.job):
            raise DiagnosisError(f"the dump is of job {told.job}, not of {job!r}")
    else:
        client = client_of(where, token=token, user=user, password=password, ca=ca, limit_s=limit_s)
        wait_s = None if wait is None else seconds_of(wait, "wait")
        told = answers.ask(client, job, wait_s, all_limit_s, tell or (lambda sentence: None))
    return of(told, limits)


def of(told: answers.Answers, limits: Limits) -> Diagnosis:
    """Find the causes in what a cluster answered."""
    case = Case(facts.read(told), limits)
    return result.make(case, *find(case))
