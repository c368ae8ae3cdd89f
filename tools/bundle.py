"""Make a bundle with which the course is set up without a network: ``make bundle``.

It holds a wheel of each package in requirements.lock for this system and this Python's version, the course, and an
installer. What comes as source is built into a wheel here, so that nothing is compiled there.

    python tools/bundle.py [--with-python] [--out dist]
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import bootstrap
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

ROOT = bootstrap.ROOT
WORK = ROOT / "build" / "bundle"
INSTALLER = "tools/install_offline.py"
PYTHON = "{}.{}".format(*sys.version_info)
# What is no part of the course, where there is no git to say what is.
NOT_OURS = re.compile(
    r"(^|/)(\.venv|\.uv|\.python|\.git|build|dist|__pycache__|\.ipynb_checkpoints|\.\w+_cache|\.hypothesis|\.wmviz)(/|$)"
    r"|\.py[co]$|\.egg-info(/|$)|(^|/)setup\.log$"
)
# What the older names of Linux wheels stand for.
GLIBC = {"manylinux1": (2, 5), "manylinux2010": (2, 12), "manylinux2014": (2, 17)}

INSTALL = """\
wmviz {wmviz}: the course, without a network

For {system} on {machine}{glibc}, with Python {python}.{brought}

1. Unpack it:         tar -xf {name}.tar
2. Install:           python3 {name}/install.py
3. Look:              cd wmviz && make doctor ARGS=--run
4. Open the course:   make lab

Step 2 makes the folder wmviz here; for another one name it after install.py. Step 3 says what this machine lacks, and
starts Flink once.

The installer runs on any Python from 3.8 on, and looks for Python {python} itself. It needs {room:.1f} GB of disk
and no network. It writes into the folder of the course only.
Without make: python3 tools/bootstrap.py lab. On Windows write py for python3.
To remove it all, delete the folder.
"""


# ---------------------------------------------------------------------------------------------------------- the wheels


def get_pip() -> list[str]:
    """Return the command of a pip of this Python: of its own venv, or one that uv fetches."""
    home = WORK / "pip"
    program = bootstrap.program(home, "python")
    if bootstrap.output_of([program, "-m", "pip", "--version"])[0]:
        base = getattr(sys, "_base_executable", sys.executable)
        shutil.rmtree(home, ignore_errors=True)
        if bootstrap.output_of([base, "-m", "venv", str(home)])[0]:
            seed = [bootstrap.get_uv(), "venv", "--quiet", "--clear", "--no-project", "--seed", "--python", base]
            bootstrap.must([*seed, str(home)], "a pip for the wheels could not be had")
    return [program, "-m", "pip"]


class Locked(NamedTuple):
    """A package in requirements.lock, with its hashes."""

    requirement: Requirement
    hashes: str

    def pinned(self) -> str:
        """Name it without the condition for which it is locked."""
        return f"{self.requirement.name}{self.requirement.specifier} {self.hashes}\n"


def read_lock(text: str) -> list[Locked]:
    """Read the packages of a lock."""
    blocks = re.findall(r"^\w.*?(?=^\w|\Z)", text, re.MULTILINE | re.DOTALL)
    pairs = [(block.splitlines()[0].rstrip("\\ "), re.findall(r"--hash=\S+", block)) for block in blocks]
    return [Locked(Requirement(line), " ".join(hashes)) for line, hashes in pairs]


def needed(lock: list[Locked]) -> list[list[Locked]]:
    """Give what the oldest and, beyond that, what the newest Python of this version needs on this system.

    The lock has other versions of a few packages for 3.11.2 than for 3.11.7; the bundle must fit both.
    """
    oldest, newest = (
        [one for one in lock if one.requirement.marker is None or one.requirement.marker.evaluate(environment)]
        for environment in ({**default_environment(), "python_full_version": f"{PYTHON}.{n}"} for n in (0, 99))
    )
    return [oldest, [one for one in newest if one not in oldest]]


def make_wheels(folder: Path, parts: list[list[Locked]]) -> list[Path]:
    """Fetch or build a wheel of each package."""
    shutil.rmtree(folder, ignore_errors=True)
    wheel = [*get_pip(), "wheel", "--quiet", "--no-input", "--no-deps", "--require-hashes", "--ignore-requires-python"]
    # The tools that build a package are not in the lock; their versions are pinned here.
    os.environ["PIP_CONSTRAINT"] = str(bootstrap.BUILD_CONSTRAINTS)
    asked = WORK / "asked.txt"
    for part in filter(None, parts):  # one after the other: a package may be in both, in two versions
        asked.write_text("".join(one.pinned() for one in part), encoding="utf-8")
        command = [*wheel, "--wheel-dir", str(folder), "--requirement", str(asked)]
        bootstrap.must(command, "the wheels could not be had")
    return sorted(folder.glob("*.whl"))


def requirements(lock: list[Locked], wheels: list[Path]) -> str:
    """Name each package with the hash of its wheel: the lock of the bundle, as the lock knows no wheel built here."""
    by_name = {parse_wheel_filename(wheel.name)[:2]: wheel for wheel in wheels}
    lines = []
    for one in lock:
        name = canonicalize_name(one.requirement.name)
        found = [
            wheel for (of, version), wheel in by_name.items() if of == name and version in one.requirement.specifier
        ]
        if len(found) != 1:
            raise bootstrap.SetupError(f"there are {len(found)} wheels of {one.requirement}; there must be one.")
        lines.append(f"{one.requirement} --hash=sha256:{digest(found[0])}")
    return "\n".join(lines) + "\n"


def oldest_glibc(wheels: list[Path]) -> str:
    """Say which glibc all wheels run on; empty text on other systems."""
    needed = [found for wheel in wheels if (found := _glibc_of(wheel))]
    return "{}.{}".format(*max(needed)) if needed else ""


def _glibc_of(wheel: Path) -> tuple[int, int] | None:
    tags = wheel.stem.split("-")[-1].split(".")
    named = [GLIBC[tag.split("_")[0]] for tag in tags if tag.split("_")[0] in GLIBC]
    named += [(int(read[1]), int(read[2])) for tag in tags if (read := re.match(r"manylinux_(\d+)_(\d+)_", tag))]
    if named:
        return min(named)
    return _glibc_in(wheel) if tags[0].startswith("linux_") else None


def _glibc_in(wheel: Path) -> tuple[int, int] | None:
    """Read which glibc a wheel asks for that was built here, and so has no tag that says it."""
    found: set[tuple[int, int]] = set()
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.endswith(".so"):
                asked = re.findall(rb"GLIBC_(\d+)\.(\d+)", archive.read(name))
                found |= {(int(major), int(minor)) for major, minor in asked}
    return max(found, default=None)


# ---------------------------------------------------------------------------------------------------------- the course


def project_files() -> list[str]:
    """Name the files of the course: all but what git ignores; without git, all but what tools make."""
    if (ROOT / ".git").exists():
        # A teacher's own notebooks come along too, though they are not committed.
        listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
        listed = subprocess.run(listing, cwd=ROOT, capture_output=True, check=True).stdout.decode()
        names = [name for name in set(listed.split("\0")) if name]
    else:
        places = (path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*") if path.is_file())
        names = [name for name in places if not NOT_OURS.search(name)]
    return sorted(name for name in names if (ROOT / name).is_file())


def copy_project(folder: Path) -> list[str]:
    """Copy the course aside, so that nothing changes while it is packed; give its files."""
    shutil.rmtree(folder, ignore_errors=True)
    files = project_files()
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return files


def get_python(folder: Path) -> Path:
    """Fetch a Python that needs no installation, and pack it."""
    uv = bootstrap.get_uv()
    os.environ["UV_PYTHON_INSTALL_DIR"] = str(folder)
    bootstrap.PYTHONS = folder
    bootstrap.must([uv, "python", "install", "--no-bin", PYTHON], f"Python {PYTHON} could not be fetched")
    return pack_python(next(path for path in sorted(folder.glob("cpython-*")) if not path.is_symlink()))


def pack_python(home: Path) -> Path:
    """Pack a Python into one file, since a bundle holds plain files only and a Python holds links."""
    packed = WORK / "python.tar"
    with tarfile.open(packed, "w") as archive:
        archive.add(home, home.name, filter=_plain)
    return packed


# ---------------------------------------------------------------------------------------------------------- the bundle


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            found.update(block)
    return found.hexdigest()


def members(wheels: list[Path], project: Path, files: list[str], python: Path | None) -> Iterator[tuple[str, Path]]:
    """Give name in the bundle and place here of all that is copied as it is."""
    yield "install.py", project / INSTALLER
    for name in files:
        yield f"project/{name}", project / name
    for wheel in wheels:
        yield f"wheels/{wheel.name}", wheel
    if python is not None:
        yield "python.tar", python


def describe(copied: list[tuple[str, Path]], wheels: list[Path]) -> dict[str, object]:
    """Say whom the bundle is for, and what must be in it."""
    return {
        "wmviz": version("wmviz"),
        "python": PYTHON,
        "system": sys.platform,
        "machine": platform.machine(),
        "glibc": oldest_glibc(wheels),
        "files": {name: digest(path) for name, path in copied},
    }


def bundle_name() -> str:
    """Name the bundle by what it fits."""
    system = {"linux": "linux", "darwin": "macos", "win32": "windows"}[sys.platform]
    return f"wmviz-{version('wmviz')}-{system}-{platform.machine()}-python{PYTHON}".lower()


def install_text(name: str, about: dict[str, object], size: int) -> str:
    """Write what to do with the bundle."""
    glibc = f" with glibc {about['glibc']} or later" if about["glibc"] else ""
    brought = " That Python is in the bundle." if "python.tar" in about["files"] else ""  # type: ignore[operator]
    system = {"linux": "Linux", "darwin": "macOS", "win32": "Windows"}[str(about["system"])]
    # Wheels are compressed to about a third of what they become.
    told = {**about, "name": name, "system": system, "glibc": glibc, "brought": brought, "room": 3 * size / 1e9}
    return INSTALL.format(**told)


def write(path: Path, name: str, copied: list[tuple[str, Path]], texts: dict[str, str]) -> None:
    """Write the bundle; wheels are compressed already."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".part")
    with tarfile.open(unfinished, "w") as archive:
        for inside, text in texts.items():
            content = text.encode()
            entry = tarfile.TarInfo(f"{name}/{inside}")
            entry.size, entry.mtime, entry.mode = len(content), int(time.time()), 0o644
            archive.addfile(entry, io.BytesIO(content))
        for inside, place in copied:
            archive.add(place, f"{name}/{inside}", filter=_plain)
    unfinished.replace(path)


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Leave out who owned a file here."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def make(out: Path, with_python: bool) -> Path:
    """Make the bundle."""
    WORK.mkdir(parents=True, exist_ok=True)
    bootstrap.say(f"fetching and building the wheels for Python {PYTHON} ...")
    parts = needed(read_lock(bootstrap.LOCK.read_text(encoding="utf-8")))
    wheels = make_wheels(WORK / "wheels", parts)
    python = get_python(WORK / "python") if with_python else None
    files = copy_project(WORK / "project")
    copied = list(members(wheels, WORK / "project", files, python))
    about = describe(copied, wheels)
    name = bundle_name()
    texts = {
        "INSTALL.txt": install_text(name, about, sum(path.stat().st_size for _, path in copied)),
        "bundle.json": json.dumps(about, indent=1) + "\n",
        "wheels.txt": requirements([one for part in parts for one in part], wheels),
    }
    path = out / f"{name}.tar"
    write(path, name, copied, texts)
    shutil.rmtree(WORK, ignore_errors=True)
    return path


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="make bundle", description=__doc__.splitlines()[0])
    parser.add_argument("--with-python", action="store_true", help="bring Python itself too, as uv has it")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder for the bundle (dist)")
    chosen = parser.parse_args(arguments)
    path = make(chosen.out, chosen.with_python)
    bootstrap.say(f"{path} is ready, {path.stat().st_size / 1e6:.0f} MB; INSTALL.txt in it says what to do.")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except bootstrap.SetupError as error:
        bootstrap.say(error)
        sys.exit(1)
