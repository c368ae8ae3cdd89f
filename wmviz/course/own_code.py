"""Call what a learner wrote: what goes wrong inside it, or comes out in a form of its own, becomes a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

from wmviz.course.answers import AnswerError, listed
from wmviz.times import shown


def called(method: Any, name: str, *arguments: Any) -> Any:
    """Call what a learner wrote; what goes wrong inside becomes a sentence, not a traceback through the engine."""
    try:
        return method(*arguments)
    except Exception as error:  # noqa: BLE001 - it is the learner's code, anything may come out of it
        raise AnswerError(f"{name} stops with {type(error).__name__}: {error}") from None


def made(maker: Any, argument: int, *methods: str) -> Any:
    """Make an object of a learner's class, and see whether it has what is asked of it."""
    if not isinstance(maker, type):
        raise AnswerError("Give the class itself, without brackets: it is made anew for each stream.")
    own = called(maker, "__init__", argument)
    for name in methods:
        if not callable(getattr(own, name, None)):
            raise AnswerError(f"The class has no method {name}.")
    return own


def milliseconds(value: Any, name: str, what: str = "A watermark") -> int:
    """Read a time, such as a watermark, that a learner's method gave."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise AnswerError(f"{name} gives {value!r}. {what} is a whole number of milliseconds.")
    return int(value)


def truth(value: Any, name: str) -> bool:
    """Read a yes or a no, also one of numpy, that a learner's function gave."""
    if type(value).__name__ not in ("bool", "bool_"):
        gives = "nothing so far" if value is None or value is ... else shown(value)
        raise AnswerError(f"{name} gives {gives}. Let it return True or False.")
    return bool(value)


def several(value: Any, name: str, what: str) -> list[Any]:
    """Read a list that a learner's function gave: of any kind, a generator and an array as well.

    Parameters
    ----------
    value
        What came out.
    name
        Of the function.
    what
        What is to be in the list, such as ``"names"``.
    """
    value = listed(value)
    if value is None or value is ...:
        raise AnswerError(f"{name} gives nothing so far. Let it return a list of {what}.")
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise AnswerError(f"{name} gives {shown(value)}. Let it return a list of {what}.")
    found: list[Any] = called(list, name, value)
    return found
