"""Scenarios that live by the wall clock, many times: ``python -m benchmarks.soak_clock 30``, a part of ``make soak``.

A crash, a savepoint, barriers, alignment, files that are committed, a TaskManager that is killed: no two runs are
alike, but each must come to the same verdict. Prints the verdicts that came and how often; ends with 1 if one is not
the right one. Names behind the number choose some of them: ``python -m benchmarks.soak_clock 5 resume barriers``.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable

from wmviz.flink import FlinkError, align, barriers, cluster, recover, resume, write_files

NUMBER = 30
Verdict = tuple[object, ...]


def crash(source: str) -> Verdict:
    """Say whether the counts are right, and whether something was worked on twice."""
    done = recover(source)
    return done.is_right, bool(done.twice)


def files(checkpoints: bool) -> Verdict:
    """Say whether the files are right, and whether a reader found some of them early."""
    done = write_files(checkpoints)
    return done.is_right, done.visible_before_the_end


def savepoint() -> Verdict:
    """Say whether our engine says the same, how many firings hold events from before, and what is late."""
    done = resume()
    return done.same, len(done.carried), *done.late


def both_barriers() -> Verdict:
    """Say which checkpoints hold events in flight, and whether unaligned ones were quicker."""
    aligned, unaligned, loose = (barriers(mode) for mode in ("aligned", "unaligned", "at-least-once"))
    held = tuple(bool(done.middle("in_flight_bytes")) for done in (aligned, unaligned, loose))
    return *held, unaligned.middle("duration_ms") < aligned.middle("duration_ms")


def aligned() -> Verdict:
    """Say where the fast source was held back: with the strategy on the source, behind it, and without alignment."""
    return tuple(align(where).is_held for where in ("source", "after", "off"))


def killed() -> Verdict:
    """Say whether the counts are right after a TaskManager has died, and which checkpoint helped."""
    with cluster() as own:
        done = recover(cluster=own)
    return done.is_right, bool(done.twice), done.restored_from is not None, done.crash.endswith("was killed")


RUNS: dict[str, tuple[Callable[[], Verdict], Verdict]] = {
    "recover": (lambda: crash("sequence"), (True, True)),
    "recover-list": (lambda: crash("list"), (False, True)),
    "files": (lambda: files(True), (True, True)),
    "files-off": (lambda: files(False), (True, False)),
    "resume": (savepoint, (True, 4)),
    "barriers": (both_barriers, (False, True, False, True)),
    "alignment": (aligned, (True, False, False)),
    "cluster": (killed, (True, True, True, True)),
}
"""Name → the run, and the verdict that it must come to."""


def verdict_of(run: Callable[[], Verdict]) -> Verdict:
    """Run it; what Flink says of a failure is a verdict too."""
    try:
        return run()
    except FlinkError as error:
        return ("FlinkError", str(error))


def main(number: int, names: list[str]) -> int:
    """Run each so many times; give the exit code."""
    wrong = 0
    for name in names or RUNS:
        run, right = RUNS[name]
        began = time.perf_counter()
        verdicts = Counter(verdict_of(run) for _ in range(number))
        wrong += number - verdicts[right]
        seconds = (time.perf_counter() - began) / number
        print(f"{name:14} {verdicts[right]} of {number} right, {seconds:.1f} s each", flush=True)
        for verdict, times in verdicts.items():
            if verdict != right:
                print(f"  {times} times {verdict}, and not {right}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else NUMBER, sys.argv[2:]))
