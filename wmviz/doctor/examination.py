"""All checks of the doctor, and how their findings are told."""

from __future__ import annotations

import platform
import sys
from textwrap import wrap
from typing import Any

from wmviz.doctor import flink_run, lab, look, machine
from wmviz.doctor import packages as checks
from wmviz.doctor.finding import MISSING, OK, WARNING, Finding

MARKS = {OK: "✓", WARNING: "!", MISSING: "✗"}
NAME_WIDTH, WIDTH = 9, 100


def examine(run: bool = False) -> list[Finding]:
    """Look at all that the course needs; with `run`, start Flink too."""
    needed = checks.needs(look.requirements())
    here = look.installed(needed)
    found = [*_of_machine(ready=set(needed) <= set(here)), *_of_packages(needed, here), *_of_lab(here)]
    if run:
        found.append(flink_run.judge(*flink_run.run()))
    return found


def _of_machine(ready: bool) -> list[Finding]:
    return [
        machine.python(tuple(sys.version_info[:3])),
        machine.machine(sys.platform, platform.machine(), look.musl()),
        machine.memory(look.free_memory()),
        machine.disk(look.free_disk(), ready, look.unwritable()),
        machine.loopback(look.loopback(), look.port_is_free(machine.LAB_PORT)),
    ]


def _of_packages(needed: dict[str, checks.Need], here: dict[str, str]) -> list[Finding]:
    version = tuple(sys.version_info[:3])
    why_not = machine.why_no_flink(version, sys.platform, platform.machine())
    of_flink = (checks.FLINK, checks.JAVA)
    others = [need for name, need in needed.items() if name not in of_flink]
    tried = [need for name, need in needed.items() if name in here]
    found = checks.packages(others, here, look.broken(tried), look.other_environment())
    wanted = needed[checks.FLINK].versions
    python = ".".join(map(str, version[:2]))
    found.append(checks.pyflink(here.get(checks.FLINK), wanted, why_not, look.has_shared_python(), python))
    if not why_not:  # Java and the programs are there for Flink alone
        found.append(checks.java(here.get(checks.JAVA), *look.java(), look.other_java()))
        found.append(machine.tools(look.tools()))
    return found


def _of_lab(here: dict[str, str]) -> list[Finding]:
    seen = [lab.browser(look.browser()), lab.chromium(look.chromium())]
    if "jupyterlab" not in here:  # said above
        return seen
    return [*lab.widgets(look.extensions(), here), lab.kernel(*look.kernel(), sys.executable), *seen]


# ---------------------------------------------------------------------------------------------------------- as text


def headline(found: list[Finding]) -> str:
    """Say in one line what was found."""
    missing = [finding for finding in found if finding.state == MISSING]
    warnings = [finding for finding in found if finding.state == WARNING]
    if missing:
        return f"Not ready: {_counted(len(missing), 'thing')} missing or wrong."
    return f"Ready, with {_counted(len(warnings), 'warning')}." if warnings else "Ready."


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def text(found: list[Finding]) -> str:
    """Tell the findings, a line for each, and what to do."""
    lines = [headline(found)]
    for finding in found:
        lines += _wrapped(f"{MARKS[finding.state]} {finding.name:{NAME_WIDTH}} ", finding.sentence)
        if finding.advice:
            lines += _wrapped(" " * (NAME_WIDTH + 3), f"Do: {finding.advice}")
    return "\n".join(lines)


def _wrapped(before: str, sentence: str) -> list[str]:
    indented = "  " + before
    return wrap(
        sentence,
        WIDTH,
        initial_indent=indented,
        subsequent_indent=" " * len(indented),
        break_long_words=False,
        break_on_hyphens=False,
    )


def as_json(found: list[Finding]) -> dict[str, Any]:
    """Give the findings as plain data, for machines."""
    return {
        "ready": all(finding.state != MISSING for finding in found),
        "python": sys.executable,
        "findings": [finding._asdict() for finding in found],
    }
