"""Checks of the machine: Python, processor, memory, disk, loopback, small programs."""

from __future__ import annotations

from collections.abc import Mapping

from wmviz.doctor.finding import MISSING, OK, SET_UP, WARNING, Finding, listed

OLDEST, NEWEST, NEWEST_FOR_FLINK = (3, 10), (3, 13), (3, 12)
PLATFORMS = {"linux": ("x86_64", "aarch64"), "darwin": ("x86_64", "arm64"), "win32": ("AMD64",)}
SYSTEMS = {"linux": "Linux", "darwin": "macOS", "win32": "Windows"}
MB, GB = 1 << 20, 1 << 30
# Measured with benchmarks/seat_memory.py: JupyterLab and a kernel without Flink, a lesson with one JVM, and lesson 17.
LESSON_MB, FLINK_MB, CLUSTER_MB = 300, 900, 2_000
# The environment after the set-up, with the download cache; later only progress, exports and Flink's temporary files.
SET_UP_MB, RUN_MB = 3_000, 300
LAB_PORT = 8888


def python(version: tuple[int, ...]) -> Finding:
    """Judge the version of Python."""
    number = ".".join(map(str, version[:3]))
    if OLDEST <= tuple(version[:2]) <= NEWEST:
        return Finding("Python", OK, f"Python {number}.")
    return Finding(
        "Python",
        MISSING,
        f"This is Python {number}; the course needs 3.10, 3.11 or 3.12 (3.13 without Flink).",
        f"{SET_UP[0].upper()}{SET_UP[1:]}: it finds or fetches a Python that fits.",
    )


def machine(system: str, processor: str, musl: bool) -> Finding:
    """Judge system and processor, as far as packages other than PyFlink need them."""
    name = f"{SYSTEMS.get(system, system)} on {processor}"
    if processor in PLATFORMS.get(system, ()) and not musl:
        return Finding("Machine", OK, f"{name}.")
    return Finding(
        "Machine",
        MISSING,
        f"{name}{', with musl' if musl else ''}: some packages cannot be had for it.",
        "Use 64-bit Linux with glibc, macOS or Windows, for example in a Debian container.",
    )


def why_no_flink(version: tuple[int, ...], system: str, processor: str) -> str:
    """Say why PyFlink cannot be had here; empty text if it can."""
    if system not in ("linux", "darwin") or processor != "x86_64":
        return f"there are no packages for {SYSTEMS.get(system, system)} on {processor}"
    if not OLDEST <= tuple(version[:2]) <= NEWEST_FOR_FLINK:
        return f"there are no packages for Python {version[0]}.{version[1]}"
    return ""


def memory(free_bytes: int | None) -> Finding:
    """Judge the memory that programs can still have."""
    if free_bytes is None:
        return Finding("Memory", OK, f"It cannot be read here how much is free; a seat with Flink needs {FLINK_MB} MB.")
    free = f"{free_bytes / GB:.1f} GB free"
    close = "Close other programs, and other notebooks (Kernel, Shut Down All Kernels)"
    if free_bytes < LESSON_MB * MB:
        return Finding("Memory", MISSING, f"{free}; a lesson needs {LESSON_MB} MB.", f"{close}.")
    if free_bytes < FLINK_MB * MB:
        return Finding("Memory", WARNING, f"{free}; a lesson that starts Flink needs {FLINK_MB} MB.", f"{close}.")
    if free_bytes < CLUSTER_MB * MB:
        return Finding("Memory", WARNING, f"{free}; the cluster of lesson 17 needs {CLUSTER_MB} MB.", f"{close}.")
    return Finding("Memory", OK, f"{free}.")


def disk(free_bytes: int, ready: bool, unwritable: list[str]) -> Finding:
    """Judge the disk: room for what comes, and folders that can be written."""
    if unwritable:
        return Finding(
            "Disk",
            MISSING,
            f"Nothing can be written into {listed(unwritable)}.",
            "Give yourself the right to write there, or copy the course to a folder of yours.",
        )
    needed = RUN_MB if ready else SET_UP_MB
    free = f"{free_bytes / GB:.1f} GB free"
    if free_bytes < needed * MB:
        what = "Flink's temporary files need" if ready else "the set-up needs"
        return Finding("Disk", MISSING, f"{free}; {what} {needed / 1000:g} GB.", "Free some space on this disk.")
    return Finding("Disk", OK, f"{free}.")


def loopback(error: str, lab_port_free: bool) -> Finding:
    """Judge whether programs of this machine can talk to each other; `error` is empty if they can."""
    if error:
        return Finding(
            "Ports",
            MISSING,
            f"A program cannot reach another one on 127.0.0.1: {error}.",
            "Let the firewall allow connections on the loopback interface; JupyterLab and Flink use free ports there.",
        )
    if lab_port_free:
        return Finding("Ports", OK, f"Ports on 127.0.0.1 can be used; {LAB_PORT} is free.")
    return Finding("Ports", OK, f"Ports on 127.0.0.1 can be used; {LAB_PORT} is taken, JupyterLab will take the next.")


def tools(places: Mapping[str, str | None]) -> Finding:
    """Judge the small programs with which Flink's processes are looked after."""
    missing = [name for name, place in places.items() if place is None]
    if not missing:
        return Finding("Programs", OK, f"{listed(list(places))} are here.")
    return Finding(
        "Programs",
        MISSING,
        f"There is no {listed(missing)} on the path; starting Flink needs {'it' if len(missing) == 1 else 'them'}.",
        "Install it; on Debian and Ubuntu ps is in the package procps.",
    )
