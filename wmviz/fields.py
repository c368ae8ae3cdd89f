"""Fields of a scenario as tables: how each is read from JSON, written back, checked, and described in the schema."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from wmviz.times import MAX_MS, MIN_MS, TimeError, duration_ms, duration_text, iso_text, shown, time_ms, zone_info


class ScenarioError(ValueError):
    """A scenario that cannot be; the message is a sentence that says what is wrong, where, and what to write."""

    def _render_traceback_(self) -> list[str]:
        """Let a notebook show the sentence alone: the mistake is in the input, not in our code."""
        return [f"ScenarioError: {self}"]


class Kind(NamedTuple):
    """A kind of field: how it is read from JSON, written back, checked in code, and described in the JSON Schema."""

    read: Callable[[Any], Any]
    write: Callable[[Any], Any]
    fits: Callable[[Any], bool]
    words: str
    schema: dict[str, Any]


def is_int(value: Any) -> bool:
    """Say whether it is a whole number, which True is not."""
    return isinstance(value, int) and not isinstance(value, bool)


def _in_long(value: Any) -> bool:
    return is_int(value) and MIN_MS < value < MAX_MS


def _is_text(value: Any) -> bool:
    # Half of a surrogate pair may stand in JSON, but no file can be written with it.
    return isinstance(value, str) and not any("\ud800" <= character <= "\udfff" for character in value)


def same(value: Any) -> Any:
    """Give it back: it is the same in JSON and in code."""
    return value


def one_of(*words: str) -> Kind:
    """Make the kind of a field that takes one of some words."""
    listed = " or ".join((", ".join(f'"{word}"' for word in words[:-1]), f'"{words[-1]}"'))
    return Kind(same, same, lambda value: value in words, listed, {"enum": list(words)})


def optional(kind: Kind) -> Kind:
    """Make the kind of a field that may also be null."""
    return Kind(
        lambda value: None if value is None else kind.read(value),
        lambda value: None if value is None else kind.write(value),
        lambda value: value is None or kind.fits(value),
        f"{kind.words}, or null",
        {"anyOf": [kind.schema, {"type": "null"}]},
    )


DURATION = {"anyOf": [{"type": "string", "examples": ["2 min", "1 h 30 min", "200 ms"]}, {"type": "integer"}]}
_TIME = {"anyOf": [{"type": "string", "examples": ["6:56", "2026-10-17T07:00+05:30"]}, {"type": "integer"}]}
TEXT = Kind(same, same, _is_text, "text", {"type": "string"})
LENGTH = Kind(duration_ms, duration_text, lambda v: _in_long(v) and v >= 0, 'a duration, 0 or more: "2 min"', DURATION)
STEP = Kind(duration_ms, duration_text, lambda v: _in_long(v) and v > 0, 'a duration above 0: "200 ms"', DURATION)
SHIFT = Kind(duration_ms, duration_text, _in_long, 'a duration, which may be negative: "30 min"', DURATION)
MOMENT = Kind(time_ms, iso_text, _in_long, 'a time: "6:56"', _TIME)


def _is_zone(value: Any) -> bool:
    zone_info(value)
    return True


ZONE = Kind(
    same,
    same,
    lambda v: isinstance(v, str) and _is_zone(v),
    'a zone: "+05:30" or "Europe/Berlin"',
    {"type": "string"},
)


class Field(NamedTuple):
    """A field of a scenario or of its window: its JSON name, its name in code, kind, default and meaning."""

    name: str
    attribute: str
    kind: Kind
    default: Any
    about: str

    def read(self, value: Any) -> Any:
        """Read the JSON value; what is not of the kind is refused by the field's name."""
        try:
            return self.check(self.kind.read(value))
        except TimeError as error:
            raise ScenarioError(f"{self.name}: {error}") from None

    def check(self, value: Any) -> Any:
        """Give the value back if it fits."""
        try:
            if self.kind.fits(value):
                return value
        except TimeError as error:
            raise ScenarioError(f"{self.name}: {error}") from None
        except TypeError:
            pass
        raise ScenarioError(f"{self.name} is {shown(value)}; write {self.kind.words}")

    def write(self, value: Any) -> Any:
        """Give the value as JSON."""
        return self.kind.write(value)


def kind_words(value: Any) -> str:
    """Say what kind of JSON a value is."""
    names = {list: "a list", tuple: "a list", str: "text", dict: "an object", type(None): "null"}
    return names.get(type(value), shown(value))


def read_fields(data: Mapping[Any, Any], fields: tuple[Field, ...], where: str = "") -> dict[str, Any]:
    """Read a mapping with JSON names into one with the names in code; `where` goes before a name in errors."""
    known = {field.name: field for field in fields}
    read = {}
    for name, value in data.items():
        if name not in known:
            close = difflib.get_close_matches(str(name), known, n=1, cutoff=0.5)
            hint = f"did you mean {close[0]!r}?" if close else f"write one of {', '.join(known)}"
            raise ScenarioError(f"there is no field {where + str(name)!r}; {hint}")
        field = known[name]
        read[field.attribute] = field._replace(name=where + field.name).read(value)
    return read
