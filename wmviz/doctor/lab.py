"""Checks of JupyterLab: the extensions that show widgets, the kernel, and browsers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from wmviz.doctor.finding import MISSING, OK, SET_UP, WARNING, Finding, listed

ANYWIDGET, MANAGER = "anywidget", "@jupyter-widgets/jupyterlab-manager"
SHOWS = {ANYWIDGET: "the stage", MANAGER: "sliders and checks"}
# ipywidgets 8 speaks with versions 5 of its part in JupyterLab.
MANAGER_OF_IPYWIDGETS = {"8": "5"}
AGAIN = f"{SET_UP[0].upper()}{SET_UP[1:]}."


class Extension(NamedTuple):
    """An extension as JupyterLab finds it first: version, folder, and the file that switches it off, if one does."""

    version: str
    place: str
    switched_off_in: str = ""


def widgets(found: Mapping[str, Extension], installed: Mapping[str, str]) -> list[Finding]:
    """Judge the extensions of JupyterLab, beside the packages that speak with them."""
    problems = [problem for name in SHOWS for problem in _extension(name, found.get(name), installed)]
    if problems:
        return problems
    versions = listed([f"{name} {found[name].version}" for name in SHOWS])
    return [Finding("Widgets", OK, f"JupyterLab has {versions}.")]


def _extension(name: str, extension: Extension | None, installed: Mapping[str, str]) -> list[Finding]:
    if extension is None:
        return [Finding("Widgets", MISSING, f"JupyterLab lacks {name}: {SHOWS[name]} would not show.", AGAIN)]
    if extension.switched_off_in:
        sentence = f"JupyterLab's extension {name} is switched off in {extension.switched_off_in}."
        return [Finding("Widgets", MISSING, sentence, f"Run `jupyter labextension enable {name}`.")]
    package, wanted = _wanted(name, installed)
    if wanted and f"{extension.version}.".startswith(f"{wanted}."):
        return []
    sentence = f"JupyterLab's extension {name} is {extension.version}; {package} needs {wanted or 'another'}."
    return [Finding("Widgets", MISSING, sentence, f"Remove the folder {extension.place}, and {SET_UP}.")]


def _wanted(name: str, installed: Mapping[str, str]) -> tuple[str, str]:
    """Give the package that speaks with an extension, and the version of the extension that it needs."""
    if name == ANYWIDGET:
        return f"the package {installed.get(ANYWIDGET, '')}".rstrip(), installed.get(ANYWIDGET, "")
    version = installed.get("ipywidgets", "")
    return f"ipywidgets {version}".rstrip(), MANAGER_OF_IPYWIDGETS.get(version.split(".")[0], "")


def kernel(place: str, program: str, executable: str) -> Finding:
    """Judge the kernel that notebooks start.

    Parameters
    ----------
    place
        The folder that describes it; empty if there is none.
    program
        What it starts.
    executable
        This Python.
    """
    if not place:
        return Finding("Kernel", MISSING, "JupyterLab has no kernel for Python.", AGAIN)
    if program in ("python", "python3", executable):  # JupyterLab takes its own Python for these names
        return Finding("Kernel", OK, f"Notebooks run in {executable}.")
    return Finding(
        "Kernel",
        MISSING,
        f"Notebooks run in another Python, {program}, since {place} says so.",
        "Remove that folder: the course has a kernel of its own.",
    )


def browser(name: str) -> Finding:
    """Judge whether there is a browser that JupyterLab can open."""
    if name:
        return Finding("Browser", OK, f"JupyterLab will open {name}.")
    return Finding(
        "Browser",
        WARNING,
        "No browser was found that JupyterLab could open.",
        'Start with `make lab ARGS="--no-browser"` and open the address that it prints.',
    )


def chromium(place: str) -> Finding:
    """Judge Chromium; only the tests of wmviz itself use it."""
    sentence = f"{place}, for the tests." if place else "It is not here; only the tests of wmviz itself need it."
    return Finding("Chromium", OK, sentence)
