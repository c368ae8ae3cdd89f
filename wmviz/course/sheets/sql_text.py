"""Read the watermark expression of a table, ``rowtime - INTERVAL '2' MINUTE``, in any form that Flink's SQL takes."""

from __future__ import annotations

import re

from wmviz.course.answers import AnswerError

_UNIT_MS = {"DAY": 86_400_000, "HOUR": 3_600_000, "MINUTE": 60_000, "SECOND": 1_000}
_UNIT = r"(DAY|HOUR|MINUTE|SECOND)S?\b"
_INTERVAL = re.compile(
    rf"INTERVAL\s*(-?)\s*(?:'\s*([+-]?)([\d:. ]+?)\s*'|(\d+))\s*{_UNIT}(?:\s*\(\s*(\d+)\s*(?:,\s*\d+\s*)?\))?"
    rf"(?:\s*TO\s+{_UNIT}(?:\s*\(\s*\d+\s*\))?)?"
)
_TOKEN = re.compile(rf"\s*(?:(?P<interval>{_INTERVAL.pattern})|(?P<name>[A-Z_]\w*|`\w+`)|(?P<sign>[-+()]))")
_DECLARED = re.compile(r"\s*WATERMARK\s+FOR\s+`?\w+`?\s+AS\b")


def subtracted_ms(answer: object, column: str) -> int:
    """Read what a watermark expression takes from a column, in ms; the line ``WATERMARK FOR … AS`` may stand before it.

    Parameters
    ----------
    answer
        The text.
    column
        The name of the time attribute.

    Raises
    ------
    AnswerError
        If Flink would not take it, or it is no such expression; the message says how to write it.
    """
    if not isinstance(answer, str):
        raise AnswerError(f"Give a text in quotation marks: \"{column} - INTERVAL '2' MINUTE\".")
    text = _DECLARED.sub("", answer.upper().strip().rstrip(",;"), count=1)
    if "MILLISECOND" in text:
        raise AnswerError(
            "Flink's SQL has no MILLISECOND. Write milliseconds as a part of a second, as in '7.250' SECOND."
        )
    columns, sum_ms = _sum(text, column)
    if columns != 1:
        raise AnswerError(f"A watermark comes from the column {column}: begin with it, and subtract from it.")
    return -sum_ms


def _sum(text: str, column: str) -> tuple[int, int]:
    """Add up an expression: how often the column is in it, and the lengths in ms."""
    columns, sum_ms, at = 0, 0, 0
    signs, sign, is_due = [1], 1, True  # the signs of the brackets around; that of the next part; whether one is due
    while text[at:].strip():
        token = _TOKEN.match(text, at)
        if token is None:
            raise _unread(text[at:], column)
        at, mark = token.end(), token["sign"]
        if mark == ")" and len(signs) > 1 and not is_due:
            signs.pop()
        elif mark == "(" and is_due:
            signs.append(signs[-1] * sign)
            sign = 1
        elif mark in ("+", "-") and not is_due:
            sign, is_due = (-1 if mark == "-" else 1), True
        elif mark is None and is_due:
            if token["interval"]:
                sum_ms += signs[-1] * sign * interval_ms(token["interval"])
            elif token["name"].strip("`") == column.upper():
                columns += signs[-1] * sign
            else:
                raise _unknown(token["name"], column)
            sign, is_due = 1, False
        else:
            raise _unread(token[0], column)
    if is_due or len(signs) > 1:
        raise _unread(text or "nothing", column)
    return columns, sum_ms


def _unknown(name: str, column: str) -> AnswerError:
    if name == "INTERVAL":
        return AnswerError("Behind INTERVAL stand a number in quotation marks and a unit: INTERVAL '2' MINUTE.")
    return AnswerError(f"Which column is {name.lower()[:60]}? The time attribute is {column}.")


def _unread(part: str, column: str) -> AnswerError:
    return AnswerError(
        f"{part.strip()[:30]!r} cannot be read here. Write it as {column} - INTERVAL '2' MINUTE; several lengths may "
        "follow each other, each with its own sign."
    )


def interval_ms(text: str) -> int:
    """Read one ``INTERVAL`` of SQL, in capitals, as Flink 2.3.0 does (tested there).

    Raises
    ------
    AnswerError
        If Flink refuses it.
    """
    found = _INTERVAL.fullmatch(text)
    assert found is not None
    outer, inner, quoted, bare, first, precision, last = found.groups()
    fields = re.split("[ :]", quoted or bare)
    units = list(_UNIT_MS)[list(_UNIT_MS).index(first) : list(_UNIT_MS).index(last or first) + 1]
    fraction = r"(?:\.\d{1,9})?" if units[-1:] == ["SECOND"] and quoted else ""
    whole = [r"\d{1,9}", *[r"[0-5]?\d"] * (len(units) - 1)]
    forms = [*whole[:-1], whole[-1] + fraction] if units else []
    if len(fields) != len(units) or not all(map(re.fullmatch, forms, fields)):
        raise AnswerError(f"Flink cannot read {text}. Write whole numbers; only seconds may go on: '7.250' SECOND.")
    digits = len(fields[0].split(".")[0].lstrip("0"))
    if quoted and digits > int(precision or 2):
        raise AnswerError(f"Flink refuses {text}: more than two digits must be announced, as {first}({digits}).")
    seconds, _, part = fields[-1].partition(".")
    size_ms = sum(int(n) * _UNIT_MS[unit] for n, unit in zip([*fields[:-1], seconds], units, strict=True))
    size_ms += int(part[:3].ljust(3, "0")) if part else 0  # what is shorter than a millisecond is cut off
    return -size_ms if (outer == "-") != (inner == "-") else size_ms
