"""``doctor`` in a terminal: its options, what it prints, and its exit code."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence

from wmviz.doctor.examination import as_json, examine, headline, text
from wmviz.doctor.finding import MISSING

READY, NOT_READY = 0, 1
HELP = "say whether this machine is ready for the course"
DESCRIPTION = (
    "Look at Python, packages, Java, Flink, JupyterLab, memory, disk and ports, and say what is missing and what to "
    "do. Nothing is changed, and nothing is fetched."
)
EPILOG = "Exit code: 0 ready, 1 something that the course needs is missing."


def add_options(parser: argparse.ArgumentParser) -> None:
    """Name what can be asked of the doctor."""
    parser.add_argument("--run", action="store_true", help="start Flink once and compare it with wmviz (half a minute)")
    parser.add_argument("--json", action="store_true", help="for machines")
    parser.add_argument("--quiet", action="store_true", help="one line only")


def run(chosen: argparse.Namespace) -> int:
    """Look, tell, and give the exit code."""
    found = examine(run=chosen.run)
    told = headline(found) if chosen.quiet else text(found)
    show(json.dumps(as_json(found), indent=2) if chosen.json else told)
    return NOT_READY if any(finding.state == MISSING for finding in found) else READY


def show(told: str) -> None:
    """Print, also on a terminal that knows few characters, and for a program that reads a few lines only."""
    try:
        try:
            print(told, flush=True)
        except UnicodeEncodeError:
            sys.stdout.buffer.write((told + "\n").encode(sys.stdout.encoding or "ascii", "replace"))
            sys.stdout.buffer.flush()
    except BrokenPipeError:
        # Python writes what is left once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the doctor alone."""
    parser = argparse.ArgumentParser(prog="doctor", description=DESCRIPTION, epilog=EPILOG)
    add_options(parser)
    return run(parser.parse_args(arguments))
