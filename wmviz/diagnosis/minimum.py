"""Who holds the minimum: a silent partition, or a subtask that has none."""

from __future__ import annotations

from collections.abc import Iterator

from wmviz.diagnosis import fixes
from wmviz.diagnosis.case import PATIENCE_MS, USUAL_PAUSES, Case, Cause, Origin
from wmviz.diagnosis.facts import Task, is_time, subtasks
from wmviz.diagnosis.words import SECOND_MS, capital, duration, moment, numbers, short
from wmviz.times import MAX_MS, MIN_MS


def held(case: Case) -> Iterator[Cause | str]:
    """Look for a watermark that stands still while another input's moves."""
    idle: dict[tuple[str, int], tuple[Origin, str, int | None]] = {}
    without: dict[tuple[str, int], tuple[Origin, str, int | None]] = {}
    for task in case.consumers():
        before_ms, now_ms = case.watermark(task)
        if task in case.wrong and now_ms != MIN_MS:
            continue  # how far apart watermarks are that are no times says nothing
        if now_ms is None or now_ms == MAX_MS or (before_ms is not None and now_ms > before_ms):
            continue
        origins = case.origins(task)
        never_sent = case.event_time and any(each.without_record() for each in origins)
        if not any(is_time(ms) for each in origins for ms in _marks(each)) and not never_sent:
            continue  # nothing makes watermarks: by design, or a case of wrong timestamps
        tops = [top for each in origins if (top := _newest_ms(case, each)) is not None]
        if not tops and now_ms != MIN_MS:
            continue
        gap_ms = None if now_ms == MIN_MS else max(tops) - now_ms
        paused = [each for each in origins if each.is_paused]
        moving = bool(paused) or any(each.moves or _splits_move(case, each) or each.read_now > 0 for each in origins)
        if not moving:
            continue
        held_ms = case.facts.age_ms if gap_ms is None else gap_ms
        if paused:  # alignment keeps the gap small, however long it lasts
            held_ms = max([held_ms, *(each.value("sourceIdleTime") or 0 for each in paused)])
        if held_ms < PATIENCE_MS:
            yield (
                f"{short(case.facts.now.tasks[task].name)} has waited {duration(max(held_ms, 0))} for its slowest "
                "input; look again in a while."
            )
            continue
        holders = [each for each in origins if each.now_ms == now_ms] or [
            each for each in origins if each.now_ms is not None and each.now_ms <= now_ms
        ]
        if holders:
            case.waiting.add(task)
        for each in holders:
            if _is_only_slow(case, each, gap_ms):
                yield (
                    f"{capital(each.place)} reads few records and holds the watermark between them, now for "
                    f"{duration(gap_ms or 0)}. If results wait too long for it, use an idle timeout."
                )
                continue
            if _all_is_thin(case, each, origins, gap_ms):
                yield (
                    f"Traffic is thin: {_read_now(origins):,} records in {duration(case.facts.elapsed_ms)} from all "
                    f"inputs. {capital(each.place)} stands since its last event, {duration(gap_ms or 0)} behind the "
                    "newest one; that may be chance. Read again when there is traffic."
                )
                continue
            spare = _has_no_split(each, origins)
            if task in case.wrong and not spare:
                continue
            target = without if spare else idle
            target.setdefault((each.task.id, each.subtask), (each, task, gap_ms))
    if without:
        yield _more_subtasks(case, list(without.values()))
    if idle:
        yield _idle_partition(case, list(idle.values()))


def _is_only_slow(case: Case, origin: Origin, gap_ms: int | None) -> bool:
    """Say whether a silence is no longer than others of the same subtask are likely to be."""
    if not origin.read or origin.read_now or gap_ms is None:
        return False
    quiet_ms = max(origin.value("sourceIdleTime") or 0, case.facts.elapsed_ms)
    usual_ms = max(case.facts.age_ms - quiet_ms, 0) / origin.read
    return quiet_ms < USUAL_PAUSES * usual_ms


def _all_is_thin(case: Case, origin: Origin, origins: list[Origin], gap_ms: int | None) -> bool:
    """Say whether the other inputs read so little that one of them may be silent by chance, as at night."""
    if not origin.read or origin.read_now or gap_ms is None or case.facts.elapsed_ms <= 0:
        return False
    peers = [each for each in origins if each.read_now > 0]
    if not peers:
        return False
    quiet_ms = max(origin.value("sourceIdleTime") or gap_ms, case.facts.elapsed_ms)
    expected = _read_now(peers) / len(peers) * quiet_ms / case.facts.elapsed_ms
    return expected < USUAL_PAUSES


def _read_now(origins: list[Origin]) -> int:
    return sum(each.read_now for each in origins)


def _newest_ms(case: Case, origin: Origin) -> int | None:
    """Give the newest time that an origin knows of: its watermark, that of a split, or of the last event."""
    found = _marks(origin)
    if origin.read_now > 0 and not origin.moves:
        found += [case.now_ms - lag for lag in case.event_lags_ms(origin)[-1:]]
    return max((ms for ms in found if is_time(ms) and ms is not None), default=None)


def _marks(origin: Origin) -> list[int | None]:
    return [origin.now_ms, *(values.get("currentWatermark") for values in origin.splits().values())]


def _splits_move(case: Case, origin: Origin) -> bool:
    before = case.facts.earlier(origin.task).splits
    return any(
        values.get("currentWatermark", MIN_MS) > before.get((origin.subtask, split), {}).get("currentWatermark", MAX_MS)
        for split, values in origin.splits().items()
    )


def _has_no_split(origin: Origin, origins: list[Origin]) -> bool:
    """Say whether a subtask that never read anything has nothing to read."""
    if origin.read or origin.now_ms != MIN_MS or origin.splits():
        return False
    if any(subtask == origin.subtask for subtask, _ in origin.task.offsets):
        return False
    return origin.task.is_source


def _knows_splits(task: Task) -> bool:
    return bool(task.splits or task.offsets)


def _more_subtasks(case: Case, found: list[tuple[Origin, str, int | None]]) -> Cause:
    first, window, _ = found[0]
    knows = _knows_splits(first.task)
    splits = len(first.task.splits or first.task.offsets) if knows else None
    busy = sum(1 for s in subtasks(first.task) if first.task.records(s) > 0)
    names = numbers([each.subtask for each, *_ in found])
    evidence = [
        (
            f"{short(first.task.name)} has {first.task.parallelism} subtasks; {names} never read a record, "
            f"and {'its watermark is' if len(found) == 1 else 'their watermarks are'} still Long.MIN_VALUE."
        ),
        f"{short(case.facts.now.tasks[window].name)} takes the minimum of its inputs, so it waits without a watermark.",
    ]
    if knows:
        evidence.insert(1, f"The source has {splits} partition{'s' * (splits != 1)} in all, and none is theirs.")
    else:
        evidence.append(
            "Flink does not say here which partitions a subtask has; a partition that is silent from the "
            "start looks the same, and the second fix helps there too."
        )
    return Cause(
        "more-subtasks-than-partitions",
        f"More source subtasks than partitions: {names} of {short(first.task.name)} "
        f"{'has' if len(found) == 1 else 'have'} nothing to read",
        "certain" if knows else "likely",
        tuple(evidence),
        "Lower the parallelism of the source to the number of partitions, or let idle inputs be left out: "
        "with_idleness, table.exec.source.idle-timeout. " + fixes.REDEPLOY,
        fixes.filled(fixes.PARALLELISM, splits=splits or max(busy, 1)),
        0.91,
    )


def _idle_partition(case: Case, found: list[tuple[Origin, str, int | None]]) -> Cause:
    evidence = []
    for each, window, gap_ms in found[:5]:
        silent = _partitions(case.silent_partitions(each))
        who = f"{silent} in {each.place}" if silent and each.splits() else each.place
        stands = "has no watermark" if each.now_ms == MIN_MS else f"stands at {moment(each.now_ms or 0)}"
        task = short(case.facts.now.tasks[window].name)
        evidence.append(
            f"The watermark of {who} {stands}, and {task} sits at that value."
            + (f" Other inputs are {duration(gap_ms)} ahead." if gap_ms is not None else "")
        )
        evidence.append(_what_it_read(each, silent))
    paused = [each for each in case.origins(found[0][1]) if each.is_paused]
    if paused:
        evidence.append(
            f"Watermark alignment lets {' and '.join(each.place for each in paused[:3])} wait for it, so they read "
            "nothing either."
        )
    some_move = any(is_time(ms) for each in case.origins(found[0][1]) for ms in _marks(each))
    if not some_move:
        evidence.append("No input has a watermark yet, so a source without a strategy would look the same.")
    knows = some_move and any(case.silent_partitions(each) or each.read_now == 0 for each, *_ in found)
    first = found[0][0]
    names = case.silent_partitions(first)
    which = f"{', '.join(names[:3])}{', …' * (len(names) > 3)} in " if names else ""
    return Cause(
        "idle-partition",
        f"Idle partition: {which}{first.place} holds the watermark",
        "certain" if knows else "likely",
        tuple(evidence),
        "Let an input that is silent be left out of the minimum: with_idleness, table.exec.source.idle-timeout. "
        "That is a bet: what the partition sends after the timeout may be late. Find out why it is silent. "
        + fixes.REDEPLOY,
        fixes.IDLENESS,
        0.9 if knows else 0.85,
    )


def _partitions(names: list[str]) -> str:
    return f"partition{'s' * (len(names) > 1)} {', '.join(names[:5])}{', …' * (len(names) > 5)}" if names else ""


def _what_it_read(origin: Origin, silent: str) -> str:
    quiet_ms = origin.value("sourceIdleTime")
    if origin.read_now == 0:
        since = f" for {duration(quiet_ms)}" if quiet_ms and quiet_ms > SECOND_MS else ""
        return f"{capital(origin.place)} has read nothing{since}; it read {origin.read:,} records before."
    read = f"{capital(origin.place)} read {origin.read_now:,} records meanwhile"
    if silent and not origin.splits():
        return f"{read}, and none from {silent}: the offset there stayed what it was."
    return f"{read}: some of its partitions are silent."
