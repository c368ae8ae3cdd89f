"""The likely causes of a silent or lossy job, ranked: every rule looks at the same facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from wmviz.diagnosis import bound, minimum, side_output, timestamps, whole
from wmviz.diagnosis.case import Case, Cause, Check

RULES: tuple[Callable[[Case], Iterator[Cause | str]], ...] = (
    whole.state,
    whole.windows_without_end,
    timestamps.wrong_timestamps,
    whole.backpressure,
    whole.everything_idle,
    minimum.held,
    bound.bound_too_large,
    bound.bound_too_small,
    side_output.unread_side_output,
    whole.checkpoints,
)


IN_BATCH_MODE: tuple[Callable[[Case], Iterator[Cause | str]], ...] = (whole.state, whole.batch)


def find(case: Case) -> tuple[list[Cause], list[str], list[Check]]:
    """Give the causes, the likeliest first; what else was noticed; and what was ruled out."""
    causes: list[Cause] = []
    notes: list[str] = []
    for rule in IN_BATCH_MODE if case.facts.now.is_batch else RULES:
        for found in rule(case):
            if isinstance(found, Cause):
                causes.append(found)
            else:
                notes.append(found)
    causes.sort(key=lambda cause: -cause.rank)
    return causes, list(dict.fromkeys(notes)), whole.checks(case)
