"""Fields inside the fields of a JSON object: ``payload.user.id``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

ABSENT: Any = object()
"""What `field` gives where there is none."""
_MOST_NAMES = 50


class TwiceError(ValueError):
    """A JSON object that has a name twice; the message is the name."""


def strict_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make the object; one of two equal names would be lost.

    Raises
    ------
    TwiceError
        If a name is there twice.
    """
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        raise TwiceError(next(name for place, name in enumerate(names) if name in names[:place]))
    return made


def field(row: dict[str, Any], name: Any) -> Any:
    """Give a field by its name; points lead into objects, also into those that are written as text."""
    if name in row:
        return row[name]
    if isinstance(name, str):
        for place in (place for place, sign in enumerate(name) if sign == "."):
            inner = as_object(row.get(name[:place]))
            if inner is not None and (found := field(inner, name[place + 1 :])) is not ABSENT:
                return found
    return ABSENT


def as_object(value: Any) -> dict[str, Any] | None:
    """Give an object, or the one that a text holds; None if there is none."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict) else None


def inner_names(row: dict[str, Any], before: str = "") -> list[str]:
    """List the names of the fields inside fields: ``payload.amount``; not more than some."""
    return [name for _, name in zip(range(_MOST_NAMES), _inner(row, before), strict=False)]


def holds_objects(cells: Iterable[Any]) -> dict[str, Any] | None:
    """Give the first object of a column that holds nothing else, apart from missing cells."""
    first = None
    for cell in cells:
        if cell is None:
            continue
        found = as_object(cell)
        if found is None:
            return None
        first = first if first is not None else found
    return first


def _inner(row: dict[str, Any], before: str) -> Iterator[str]:
    for name, value in row.items():
        inner = as_object(value)
        if inner is not None:
            yield from _inner(inner, f"{before}{name}.")
        elif before:
            yield f"{before}{name}"
