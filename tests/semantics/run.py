"""Run conformance cases: ``python -m tests.semantics.run FILE…``; each failing case is a line, the sum the last."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tests.semantics.cases import Case, load, outputs, same
from tests.semantics.outbox import NotBuiltError


def verdict(case: Case) -> str | None:
    """Run a case.

    Returns
    -------
    str or None
        What was expected and what came, in one line; None if the case passes.
    """
    try:
        expected = case["expected"]
        came = outputs(case)
    except NotBuiltError as error:
        return f"{case['id']}: {error}"
    except KeyError as error:
        return f"{case['id']}: {error} is missing, or no name that is known"
    except Exception as error:  # noqa: BLE001 - a fault of the engine or the case: the other cases still run
        return f"{case['id']}: it broke with {type(error).__name__}: {error}"
    if same(expected, came):
        return None
    return f"{case['id']}: expected {json.dumps(expected)}, came {json.dumps(came)}"


def main(arguments: list[str] | None = None) -> int:
    """Run the files named on the command line; 0 if all pass, 1 if a case fails, 2 if a file is no list of cases."""
    parser = argparse.ArgumentParser(prog="python -m tests.semantics.run", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    paths = parser.parse_args(arguments).files
    try:
        cases = [case for path in paths for case in load(path)]
    except (OSError, ValueError) as error:
        print(f"cannot read the cases: {error}", file=sys.stderr)
        return 2
    failures = [line for case in cases if (line := verdict(case)) is not None]
    print(*failures, f"{len(cases) - len(failures)} passed, {len(failures)} failed", sep="\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
