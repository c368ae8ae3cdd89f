"""A job that is read again and again: each reading is compared with one that is old enough."""

from __future__ import annotations

from collections import deque
from typing import Any

from wmviz.diagnosis import answers, facts, of
from wmviz.diagnosis.case import Limits
from wmviz.diagnosis.client import Client
from wmviz.diagnosis.result import Diagnosis

MOST_READINGS = 60
"""Readings that are kept; of a large job each has thousands of numbers."""


class Watch:
    """Reads a job over REST as often as it is told to, and diagnoses it from what it has read.

    Parameters
    ----------
    client
        Whom to ask.
    job
        Name or id; None: the only one that runs.
    limits
        What counts as a fault.
    wait_s
        How old a reading must be to be compared with; None: as long as the cluster needs for new numbers.
    limit_s
        Seconds that the answers of one look may take together.

    Attributes
    ----------
    latest
        The newest reading alone, as a moment; None before the first.
    """

    def __init__(
        self, client: Client, job: str | None, limits: Limits, wait_s: float | None = None, limit_s: float = 60.0
    ) -> None:
        """Keep whom to ask; nothing is asked yet."""
        self._client, self._job, self._limits, self._wait_s, self._limit_s = client, job, limits, wait_s, limit_s
        self._asking: answers.Asking | None = None
        self._readings: deque[tuple[facts.Moment, dict[str, Any]]] = deque()

    @property
    def latest(self) -> facts.Moment | None:
        """Give the newest reading alone."""
        return self._readings[-1][0] if self._readings else None

    @property
    def missing_s(self) -> float:
        """Say how many seconds are missing until two readings are far enough apart."""
        if not self._readings:
            return self._wait_s or 0.0
        return max((self._wait_s or 0.0) - (self._readings[-1][0].at_ms - self._readings[0][0].at_ms) / 1000, 0.0)

    def look(self) -> Diagnosis | None:
        """Read the job once more; give the diagnosis, or None as long as there is nothing to compare with.

        Raises
        ------
        DiagnosisError
            If the job cannot be read now.
        JobEndedError
            If there will be nothing to read any more.
        """
        self._client.limit(self._limit_s)
        if self._asking is None:
            self._asking = answers.begin(self._client, self._job)
            self._wait_s = self._asking.wait_s() if self._wait_s is None else self._wait_s
            if self._asking.ended:
                return of(self._asking.answers([self._asking.detail()]), self._limits)
            self._asking.warm_up()
        self._keep(self._asking.reading())
        if self.missing_s > 0:
            return None
        readings = [reading for _, reading in self._readings]
        between = [answers.sample_of(reading) for reading in readings[1:-1]]
        return of(self._asking.answers([readings[0], readings[-1]], between), self._limits)

    def _keep(self, reading: dict[str, Any]) -> None:
        """Keep a reading, and forget those that are older than what it is compared with."""
        assert self._asking is not None
        moment = facts.moment(answers.Answers(self._client.address, self._asking.job, {}, [reading]))
        if self._readings and self._readings[-1][0].began_ms != moment.began_ms:
            self._readings.clear()  # it began again, and its numbers with it
        self._readings.append((moment, reading))
        wait_ms = (self._wait_s or 0.0) * 1000
        while len(self._readings) > 2 and moment.at_ms - self._readings[1][0].at_ms >= wait_ms:
            self._readings.popleft()
        if len(self._readings) > MOST_READINGS:
            del self._readings[1]  # the first is what will be compared with
