"""How a job runs and what happens to it: checkpoints, watermark alignment, and happenings such as a crash."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from wmviz.fields import (
    LENGTH,
    MOMENT,
    STEP,
    TEXT,
    Field,
    Kind,
    ScenarioError,
    is_int,
    kind_words,
    one_of,
    optional,
    read_fields,
    same,
)
from wmviz.times import shown


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """How often checkpoints are taken, and how their barriers are handled; `CHECKPOINT_FIELDS` has the meanings."""

    interval_ms: int = 10_000
    mode: str = "aligned"
    alignment_timeout_ms: int = 0
    first_ms: int | None = None
    min_pause_ms: int = 0
    timeout_ms: int = 600_000
    max_concurrent: int = 1
    notice_ms: int = 0
    tolerable_failures: int = 0


@dataclass(frozen=True, slots=True)
class WatermarkAlignment:
    """How far a part of the source may be ahead of the slowest; `ALIGNMENT_FIELDS` has the meanings."""

    drift_ms: int = 0
    interval_ms: int = 1000
    buffer: int = 3


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that happens to the job while it runs; `HAPPENING_FIELDS` has the meanings.

    Attributes
    ----------
    changes
        The changes with which a stopped job resumes, as JSON text.
    """

    what: str = ""
    at_ms: int | None = None
    after: str = ""
    down_ms: int = 1000
    partition: int = 0
    until_ms: int | None = None
    changes: str = "{}"

    @property
    def changed_fields(self) -> dict[str, Any]:
        """The changes, by the JSON names of a scenario's fields."""
        changed: dict[str, Any] = json.loads(self.changes)
        return changed


_LEAST_MS = 10
_OFTEN = Kind(
    STEP.read, STEP.write, lambda v: STEP.fits(v) and v >= _LEAST_MS, 'a duration of 10 ms or more: "10 s"', STEP.schema
)
_COUNT = Kind(same, same, lambda v: is_int(v) and 1 <= v <= 1000, "a number from 1 to 1000", {"type": "integer"})
_BUFFER = Kind(same, same, lambda v: is_int(v) and 0 <= v <= 1000, "a number from 0 to 1000", {"type": "integer"})
_PARTITION = Kind(same, same, lambda v: is_int(v) and 0 <= v < 1024, "a number from 0 to 1023", {"type": "integer"})


def _is_object(text: Any) -> bool:
    try:
        return isinstance(text, str) and isinstance(json.loads(text), dict)
    except ValueError:
        return False


_CHANGES = Kind(
    lambda v: json.dumps(v, sort_keys=True) if isinstance(v, Mapping) else v,
    json.loads,
    _is_object,
    'an object with the changes: {"lateness": "20 min"}',
    {"type": "object"},
)

CHANGEABLE = frozenset(
    [
        "strategy",
        "bound",
        "emission",
        "interval",
        "idle_timeout",
        "lateness",
        "late_to",
        "checkpoints",
        "alignment",
        "work",
        "channel_capacity",
    ]
)
"""Fields of a scenario that a stop may change: the restored state fits the job with any value of these."""

CHECKPOINT_FIELDS = (
    Field(
        "interval", "interval_ms", _OFTEN, 10_000, "From one due time to the next (execution.checkpointing.interval)."
    ),
    Field(
        "mode",
        "mode",
        one_of("aligned", "unaligned", "at_least_once"),
        "aligned",
        "aligned: a channel whose barrier is there is blocked until all are. unaligned: barriers overtake what is "
        "queued, which becomes part of the checkpoint. at_least_once: nothing blocks, so events may count twice after "
        "a crash.",
    ),
    Field(
        "alignment_timeout",
        "alignment_timeout_ms",
        LENGTH,
        0,
        "Unaligned mode: for how long a barrier stays aligned (execution.checkpointing.aligned-checkpoint-timeout).",
    ),
    Field(
        "first",
        "first_ms",
        optional(LENGTH),
        None,
        "From the start of the job to the first due time; null: one interval.",
    ),
    Field(
        "min_pause",
        "min_pause_ms",
        LENGTH,
        0,
        "Least time from the completion of one to the next (execution.checkpointing.min-pause).",
    ),
    Field(
        "timeout",
        "timeout_ms",
        _OFTEN,
        600_000,
        "How long one may take before it is given up (execution.checkpointing.timeout).",
    ),
    Field(
        "max_concurrent",
        "max_concurrent",
        _COUNT,
        1,
        "How many may be under way (execution.checkpointing.max-concurrent-checkpoints).",
    ),
    Field(
        "tolerable_failures",
        "tolerable_failures",
        _BUFFER,
        0,
        "How many in a row may be over their timeout before the job fails "
        "(execution.checkpointing.tolerable-failed-checkpoints).",
    ),
    Field(
        "notice",
        "notice_ms",
        LENGTH,
        0,
        "From its completion until the tasks hear of it; a transactional sink commits then.",
    ),
)
ALIGNMENT_FIELDS = (
    Field("drift", "drift_ms", LENGTH, 0, "How far a watermark may be ahead of the lowest one; who is further waits."),
    Field(
        "interval",
        "interval_ms",
        STEP,
        1000,
        "How often watermarks are reported and sampled, and the limit is announced.",
    ),
    Field(
        "buffer",
        "buffer",
        _BUFFER,
        3,
        "How many samples of its watermark a source keeps; the oldest is compared with the limit "
        "(pipeline.watermark-alignment.buffer-size). 0: its watermark of now.",
    ),
)
HAPPENING_FIELDS = (
    Field(
        "what",
        "what",
        one_of("crash", "savepoint", "stop", "silence", "finish"),
        "",
        "crash: the state is gone, and the job goes on from its latest checkpoint. savepoint: one while the job runs "
        "on, which commits nothing and no crash goes back to. stop: with a savepoint, from which the job resumes. "
        "silence: a partition delivers nothing. finish: a partition has come to its end. While the job is "
        "down, a crash, savepoint or stop that is due is ignored.",
    ),
    Field("at", "at_ms", optional(MOMENT), None, "When, by the server's clock; behind all else of that millisecond."),
    Field(
        "after",
        "after",
        TEXT,
        "",
        'In place of at, not for silence and finish: the id of an event ("r9@6:56"); right after the source has read '
        "it.",
    ),
    Field("down", "down_ms", LENGTH, 1000, "Crash and stop: how long the job is down."),
    Field(
        "partition",
        "partition",
        _PARTITION,
        0,
        "Silence: of which partition; its events come when it is over. Finish: which one.",
    ),
    Field("until", "until_ms", optional(MOMENT), None, "Silence: when it is over, by the server's clock."),
    Field(
        "with",
        "changes",
        _CHANGES,
        "{}",
        f"Stop: fields that are changed when the job resumes, of these: {', '.join(sorted(CHANGEABLE))}.",
    ),
)

_Settings = TypeVar("_Settings", Checkpoints, WatermarkAlignment, Happening)


def _reader(
    make: Callable[..., _Settings], table: tuple[Field, ...], where: str, example: str, short: str | None
) -> Callable[..., Any]:
    """Make the function that reads one kind of settings; a bare duration stands for the field `short`."""

    def read(value: Any, present: _Settings | None = None) -> Any:
        if isinstance(value, make):  # type: ignore[arg-type]
            return value
        if short is not None and (isinstance(value, str) or is_int(value)):
            value = {short: value}
        if not isinstance(value, Mapping):
            raise ScenarioError(f"{where} is {kind_words(value)}; write {example}")
        given = read_fields(value, table, f"{where}.")
        return replace(present, **given) if present is not None else make(**given)

    return read


read_checkpoints = _reader(Checkpoints, CHECKPOINT_FIELDS, "checkpoints", '{"interval": "10 s"}, or null', "interval")
read_alignment = _reader(WatermarkAlignment, ALIGNMENT_FIELDS, "alignment", '{"drift": "1 min"}, or null', "drift")


def read_happenings(values: Any) -> Any:
    """Read the list of happenings; a single one may stand alone."""
    if isinstance(values, Mapping | Happening):
        values = [values]
    if not isinstance(values, list | tuple):
        raise ScenarioError(f'happenings is {kind_words(values)}; write [{{"what": "crash", "at": "7:05"}}]')
    return tuple(
        _reader(Happening, HAPPENING_FIELDS, f"happenings[{i}]", '{"what": "crash", "at": "7:05"}', None)(value)
        for i, value in enumerate(values)
    )


def _write(settings: Any, table: tuple[Field, ...], kept: str) -> dict[str, Any]:
    """Give settings as JSON data: what has its default is left out, but for the field `kept`."""
    return {
        field.name: field.write(getattr(settings, field.attribute))
        for field in table
        if field.name == kept or getattr(settings, field.attribute) != field.default
    }


def _object(make: type, table: tuple[Field, ...], read: Callable[[Any], Any], kept: str, words: str) -> Kind:
    properties = {field.name: {"description": field.about, **field.kind.schema} for field in table}
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return Kind(read, lambda v: _write(v, table, kept), lambda v: isinstance(v, make), words, schema)


CHECKPOINTS = optional(_object(Checkpoints, CHECKPOINT_FIELDS, read_checkpoints, "interval", 'as {"interval": "10 s"}'))
ALIGNMENT = optional(
    _object(WatermarkAlignment, ALIGNMENT_FIELDS, read_alignment, "drift", 'an object as {"drift": "1 min"}')
)
_HAPPENING = _object(Happening, HAPPENING_FIELDS, lambda v: v, "what", "")
HAPPENINGS = Kind(
    read_happenings,
    lambda v: [_HAPPENING.write(happening) for happening in v],
    lambda v: isinstance(v, tuple) and all(isinstance(h, Happening) for h in v),
    'a list: [{"what": "crash", "at": "7:05"}]',
    {"type": "array", "items": _HAPPENING.schema},
)


def check_settings(settings: Checkpoints | WatermarkAlignment | Happening | None, where: str) -> None:
    """Check each field of settings that were made in code, and that they go together as Flink wants it."""
    if settings is None:
        return
    tables = {Checkpoints: CHECKPOINT_FIELDS, WatermarkAlignment: ALIGNMENT_FIELDS, Happening: HAPPENING_FIELDS}
    for known in tables[type(settings)]:
        known._replace(name=f"{where}.{known.name}").check(getattr(settings, known.attribute))
    if isinstance(settings, Checkpoints):
        _check_checkpoints(settings)
    elif isinstance(settings, Happening):
        _check_happening(settings, where)


def _check_checkpoints(settings: Checkpoints) -> None:
    if settings.mode == "unaligned" and settings.max_concurrent > 1:
        raise ScenarioError("checkpoints.max_concurrent: Flink takes unaligned checkpoints one at a time; write 1")
    if settings.mode != "unaligned" and settings.alignment_timeout_ms:
        raise ScenarioError(
            'checkpoints.alignment_timeout belongs to unaligned checkpoints; write mode "unaligned", '
            f'not "{settings.mode}"'
        )


_TAKES = {
    "crash": {"at", "after", "down"},
    "savepoint": {"at", "after"},
    "stop": {"at", "after", "down", "with"},
    "silence": {"at", "partition", "until"},
    "finish": {"at", "partition"},
}


def _check_happening(happening: Happening, where: str) -> None:
    takes = _TAKES[happening.what]
    for known in HAPPENING_FIELDS[1:]:
        if known.name not in takes and getattr(happening, known.attribute) != known.default:
            raise ScenarioError(f"{where}.{known.name} does not belong to a {happening.what}; leave it out")
    if (happening.at_ms is None) == (not happening.after):
        ways = 'either at ("7:05") or after (the id of an event)' if "after" in takes else 'at, as "7:05"'
        raise ScenarioError(f"{where}: when does the {happening.what} happen? write {ways}")
    if happening.what == "silence":
        if happening.until_ms is None:
            raise ScenarioError(f'{where}.until is missing: when is the silence over? write "7:10"')
        if happening.at_ms is not None and happening.until_ms <= happening.at_ms:
            raise ScenarioError(f"{where}.until is not later than at; write a later time")
    wrong = sorted(set(happening.changed_fields) - CHANGEABLE)
    if wrong:
        raise ScenarioError(
            f"{where}.with: {shown(wrong[0])} cannot change when a job resumes from its savepoint; "
            f"these can: {', '.join(sorted(CHANGEABLE))}"
        )
