"""The pieces of the offline bundle, and each reason for which its installer refuses.

All of it for real, with the network cut off, takes minutes: ``python -m benchmarks.offline``, a part of ``make soak``.
"""

import ast
import hashlib
import importlib.util
import json
import os
import platform
import re
import signal
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from benchmarks import seat_memory
from tests.test_setup import REGISTRIES
from wmviz.doctor.machine import CLUSTER_MB, FLINK_MB

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / "tools"


LOCK = """\
crcmod==1.7 ; sys_platform != 'none' \\
    --hash=sha256:aa \\
    --hash=sha256:bb
    # via apache-beam
debugpy==1.8
    --hash=sha256:cc
numpy==2.1.3 ; python_full_version < '{python}.5'
    --hash=sha256:dd
numpy==2.2.0 ; python_full_version >= '{python}.5'
    --hash=sha256:ee
pandas==2.2.3 ; sys_platform == 'none'
    --hash=sha256:ff
""".replace("{python}", "{}.{}".format(*sys.version_info))


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tool() -> Any:
    sys.path.insert(0, str(TOOLS))
    try:
        yield load("bundle")
    finally:
        sys.path.remove(str(TOOLS))


@pytest.fixture(scope="module")
def installer() -> ModuleType:
    return load("install_offline")


def make_wheel(folder: Path, name: str, content: bytes = b"", inside: str = "module.so") -> Path:
    path = folder / name
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(inside, content)
    return path


@pytest.fixture
def wheels(tmp_path: Path) -> list[Path]:
    folder = tmp_path / "made"
    folder.mkdir()
    uv = "uv.exe" if sys.platform == "win32" else "uv"
    return [
        make_wheel(folder, "crcmod-1.7-cp311-cp311-linux_x86_64.whl", b"\0GLIBC_2.4\0GLIBC_2.17\0GLIBC_2.2.5\0"),
        make_wheel(folder, "debugpy-1.8-cp311-cp311-manylinux_2_34_x86_64.whl"),
        make_wheel(folder, "numpy-2.1.3-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"),
        make_wheel(folder, "pandas-2.2.3-py3-none-any.whl"),
        make_wheel(
            folder, "uv-0.9-py3-none-manylinux1_x86_64.whl", b"#!/bin/sh\nexit 1\n", f"uv-0.9.data/scripts/{uv}"
        ),
    ]


@pytest.fixture
def bundle(tool: ModuleType, wheels: list[Path], tmp_path: Path) -> Path:
    """Return an unpacked bundle of the right form, with wheels that hold nothing."""
    copied = list(tool.members(wheels, ROOT, ["tools/bootstrap.py", "README.md", "requirements.lock"], None))
    about = tool.describe(copied, wheels)
    texts = {
        "INSTALL.txt": tool.install_text("course", about, 10**9),
        "bundle.json": json.dumps({**about, "glibc": ""}),
        "wheels.txt": tool.requirements(tool.read_lock(LOCK)[:3], wheels),
    }
    tool.write(tmp_path / "out" / "course.tar", "course", copied, texts)
    with tarfile.open(tmp_path / "out" / "course.tar") as archive:
        safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # from Python 3.12 on it has to be said
        archive.extractall(tmp_path / "unpacked", **safe)
        assert {(entry.uid, entry.uname) for entry in archive} == {(0, "")}
    return tmp_path / "unpacked" / "course"


def change(bundle: Path, **values: object) -> None:
    about = json.loads((bundle / "bundle.json").read_text(encoding="utf-8"))
    (bundle / "bundle.json").write_text(json.dumps({**about, **values}), encoding="utf-8")


def install(bundle: Path, *arguments: str) -> str:
    """Run the installer, which must refuse; give its last sentence."""
    command = [sys.executable, str(bundle / "install.py"), *arguments]
    done = subprocess.run(command, cwd=bundle.parent, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 1, done.stderr
    return done.stderr.splitlines()[-1]


# -------------------------------------------------------------------------------------------------------- the pieces


def test_the_bundle_says_what_is_in_it(bundle: Path) -> None:
    about = json.loads((bundle / "bundle.json").read_text(encoding="utf-8"))
    there = {path.relative_to(bundle).as_posix() for path in bundle.rglob("*") if path.is_file()}
    assert set(about["files"]) == there - {"bundle.json", "wheels.txt", "INSTALL.txt"}
    assert about["files"]["project/README.md"] == hashlib.sha256((ROOT / "README.md").read_bytes()).hexdigest()
    assert (about["system"], about["machine"]) == (sys.platform, platform.machine())
    assert about["python"] == "{}.{}".format(*sys.version_info)


def test_each_wheel_is_named_with_its_hash_and_its_condition(tool: ModuleType, wheels: list[Path]) -> None:
    lines = tool.requirements(tool.read_lock(LOCK)[:3], wheels).splitlines()
    pinned = [Requirement(line.partition(" --hash")[0]) for line in lines]
    assert [str(pin.specifier) for pin in pinned] == ["==1.7", "==1.8", "==2.1.3"]
    assert pinned[2].marker is not None
    assert lines[0].endswith(hashlib.sha256(wheels[0].read_bytes()).hexdigest())


def test_a_package_without_a_wheel_stops_the_bundle(tool: ModuleType, wheels: list[Path]) -> None:
    with pytest.raises(tool.bootstrap.SetupError, match=r"there are 0 wheels of numpy==2\.2\.0"):
        tool.requirements(tool.read_lock(LOCK), wheels)


def test_the_bundle_fits_the_oldest_and_the_newest_python_of_its_version(tool: ModuleType) -> None:
    oldest, more = tool.needed(tool.read_lock(LOCK))
    assert oldest[0].pinned() == "crcmod==1.7 --hash=sha256:aa --hash=sha256:bb\n"
    assert [str(one.requirement.specifier) for one in oldest] == ["==1.7", "==1.8", "==2.1.3"]
    assert [str(one.requirement.specifier) for one in more] == ["==2.2.0"]


def test_the_whole_lock_is_read(tool: ModuleType) -> None:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    lock = tool.read_lock(text)
    assert sum(one.hashes.count("--hash=sha256:") for one in lock) == text.count("--hash=sha256:")
    assert sum(len(part) for part in tool.needed(lock)) > 100


def test_the_oldest_glibc_is_that_of_the_wheel_that_asks_for_most(tool: ModuleType, wheels: list[Path]) -> None:
    assert tool.oldest_glibc(wheels) == "2.34"
    assert tool.oldest_glibc(wheels[:1]) == "2.17"  # read from what was built here
    assert tool.oldest_glibc(wheels[2:]) == "2.17"
    assert tool.oldest_glibc(wheels[3:4]) == ""


def test_the_course_is_in_it_and_nothing_that_tools_made(tool: ModuleType) -> None:
    tracked = tool.project_files()
    needed = {
        "notebooks/00-start-here.ipynb",
        "wmviz/__init__.py",
        "requirements.lock",
        "tools/bootstrap.py",
        "Makefile",
    }
    assert needed <= set(tracked)
    assert [name for name in tracked if tool.NOT_OURS.search(name)] == []


def test_without_git_it_takes_what_is_not_made_by_tools(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = (
        ".venv/bin/python",
        ".uv/bin/uv",
        ".python/x/bin/python3",
        "wmviz/__pycache__/a.pyc",
        "dist/a.tar",
        "setup.log",
    )
    made += (".wmviz/progress.json", "build/bundle/a.whl", ".ruff_cache/x", "notebooks/.ipynb_checkpoints/a.ipynb")
    ours = ("README.md", "notebooks/00-start-here.ipynb", "wmviz/build.py", ".ci/run")
    for name in made + ours:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    assert tool.project_files() == sorted(ours)
    assert tool.copy_project(tmp_path / "build" / "bundle" / "project") == sorted(ours)
    assert (tmp_path / "build" / "bundle" / "project" / ".ci" / "run").exists()


def test_its_texts_name_no_host_and_no_place_of_this_machine(bundle: Path) -> None:
    for name in ("INSTALL.txt", "bundle.json", "wheels.txt", "install.py"):
        text = (bundle / name).read_text(encoding="utf-8")
        assert re.findall(r"https?://", text) == [], name
        assert REGISTRIES.search(text) is None, name
        assert str(ROOT) not in text, name


def test_the_text_names_the_python_and_the_commands(bundle: Path) -> None:
    text = (bundle / "INSTALL.txt").read_text(encoding="utf-8")
    assert f"with Python {'{}.{}'.format(*sys.version_info)}." in text
    assert "python3 course/install.py" in text
    assert "{" not in text


def test_a_python_is_packed_with_its_links(
    tool: ModuleType, installer: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "cpython-3.11.9-linux"
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "python3.11").write_text("#!", encoding="utf-8")
    (home / "bin" / "python3").symlink_to("python3.11")
    monkeypatch.setattr(tool, "WORK", tmp_path)
    installer.unpack_python(tool.pack_python(home), tmp_path / ".python")
    assert (tmp_path / ".python" / home.name / "bin" / "python3").resolve().name == "python3.11"
    installer.unpack_python(tmp_path / "none.tar", tmp_path / "elsewhere")
    assert not (tmp_path / "elsewhere").exists()


# ------------------------------------------------------------------------------------------- the installer's sentences


def test_a_file_that_is_damaged_or_missing_is_named(bundle: Path) -> None:
    wheel = next((bundle / "wheels").glob("pandas*"))
    wheel.write_bytes(b"half")
    assert install(bundle) == f"wmviz: wheels/{wheel.name} is damaged: copy the bundle again, and unpack it again."
    wheel.unlink()
    assert install(bundle) == f"wmviz: wheels/{wheel.name} is missing in the bundle: unpack it again, all of it."
    (bundle / "bundle.json").unlink()
    assert "there is no bundle.json in" in install(bundle)
    assert not (bundle.parent / "wmviz").exists()


def test_a_bundle_for_another_machine_is_refused(bundle: Path) -> None:
    change(bundle, system="darwin", machine="vax")
    assert "the bundle is for macOS on vax, and this is " in install(bundle)


def test_an_older_glibc_is_refused(installer: ModuleType) -> None:
    about = {"system": "linux", "machine": "x86_64", "glibc": "2.34"}
    installer.check_machine(about, "linux", "x86_64", "2.34")
    installer.check_machine(about, "linux", "x86_64", "2.100")
    for older in ("2.31", ""):
        with pytest.raises(
            installer.InstallError, match=r"needs glibc 2\.34 or later, and this system has (2\.31|anoth)"
        ):
            installer.check_machine(about, "linux", "x86_64", older)


def test_a_folder_that_holds_something_is_left_alone(bundle: Path) -> None:
    mine = bundle.parent / "mine"
    mine.mkdir()
    (mine / "notes.txt").write_text("mine", encoding="utf-8")
    told = install(bundle, "mine")
    assert told == f"wmviz: {mine} is there already: name another folder, as in `python3 install.py wmviz-2`."
    assert [path.name for path in mine.iterdir()] == ["notes.txt"]


@pytest.mark.skipif(sys.platform == "win32", reason="the uv that finds nothing is a shell script")
def test_without_the_python_it_says_so_and_leaves_nothing(bundle: Path) -> None:
    change(bundle, python="3.99")
    told = install(bundle, "new")
    assert told.startswith("wmviz: the bundle is for Python 3.99, and there is none on this machine: install it")
    assert told.endswith("`make bundle ARGS=--with-python`.")
    assert not (bundle.parent / "new").exists()


@pytest.mark.parametrize("arguments", [("a", "b"), ("--help",)])
def test_more_than_a_folder_is_refused(bundle: Path, arguments: tuple[str, ...]) -> None:
    assert (
        install(bundle, *arguments)
        == "wmviz: write at most one folder after install.py; without one it is wmviz, here."
    )


def test_a_tool_that_fails_leaves_its_message(
    installer: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Course:
        ROOT = tmp_path / "course"

    Course.ROOT.mkdir()
    monkeypatch.chdir(tmp_path)
    assert installer.explain(Course, "no packages: the disk is full.") == "no packages: the disk is full."
    (Course.ROOT / "setup.log").write_text("odd", encoding="utf-8")
    told = installer.explain(Course, "no packages: the full message is in setup.log; ...")
    assert told == f"no packages: the full message is in {tmp_path / 'wmviz-install.log'}."
    assert (tmp_path / "wmviz-install.log").read_text(encoding="utf-8") == "odd"


def test_the_settings_of_this_machine_lead_no_tool_away(installer: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installer.os, "environ", {"UV_INDEX_URL": "x", "PIP_FIND_LINKS": "y", "PATH": "/bin"})
    installer.stay_offline(Path("wheels"), Path("cache"))
    assert "UV_INDEX_URL" not in installer.os.environ
    assert "PIP_FIND_LINKS" not in installer.os.environ
    assert installer.os.environ["UV_OFFLINE"] == installer.os.environ["UV_NO_INDEX"] == "1"


def test_the_installer_is_written_for_python_3_8() -> None:
    source = (TOOLS / "install_offline.py").read_text(encoding="utf-8")
    assert ast.parse(source, feature_version=(3, 8))


# ------------------------------------------------------------------------------------------------------ on a server


@pytest.fixture(scope="module")
def recipe() -> dict[str, str]:
    """Return the blocks of the recipe for a server, by their language; the last of each."""
    text = (ROOT / "docs" / "workshop-server.md").read_text(encoding="utf-8")
    return {language or "shell": block for language, block in re.findall(r"^```(\w*)\n(.*?)^```", text, re.M | re.S)}


def test_the_seats_of_the_recipe_have_a_port_and_a_limit_each(recipe: dict[str, str]) -> None:
    seat = yaml.safe_load(recipe["yaml"])["services"]["seat"]
    ports, inside = seat["ports"][0].split(":")
    first, last = map(int, ports.split("-"))
    assert last - first + 1 == seat["deploy"]["replicas"]
    assert f"--port={inside}" in recipe["dockerfile"]
    assert seat["mem_limit"] == "2g"  # CLUSTER_MB, rounded up
    assert CLUSTER_MB <= 2 * 1024


def test_the_image_starts_what_the_course_has(recipe: dict[str, str], tool: ModuleType) -> None:
    command = json.loads(recipe["dockerfile"].rpartition("CMD ")[2])
    assert command[1] in tool.project_files()
    assert command[2] in tool.bootstrap.COMMANDS


def test_the_limits_of_the_doctor_are_what_the_recipe_measured() -> None:
    text = (ROOT / "docs" / "workshop-server.md").read_text(encoding="utf-8")
    most = {what.strip(): int(mb.replace(",", "")) for what, mb in re.findall(r"^\| (.+?) \| ([\d,]+) \|", text, re.M)}
    server, lesson = most["JupyterLab, no notebook open"], most["lesson 04 from top to bottom"]
    longest = most["lesson 17 from top to bottom, with that cluster"]
    assert f"{server} + {lesson} = {server + lesson} MB" in text
    assert f"{server} + {longest:,} = {server + longest:,} MB" in text
    assert f"{server} + 2 × {lesson} = {server + 2 * lesson:,} MB" in text
    assert 0 <= FLINK_MB - (server + lesson) < 100
    assert 0 <= CLUSTER_MB - (server + longest) < 100


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="measured by Linux's /proc")
def test_the_memory_of_a_tree_is_that_of_all_its_processes() -> None:
    child = "import time; b = bytearray(60_000_000); print('there', flush=True); time.sleep(60)"
    nested = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    with subprocess.Popen([sys.executable, "-c", nested], stdout=subprocess.PIPE, text=True) as parent:
        try:
            assert parent.stdout is not None
            assert parent.stdout.readline() == "there\n"
            processes = seat_memory.tree(parent.pid)
            seen = seat_memory.held(parent.pid)
        finally:
            for pid in processes:
                os.kill(pid, signal.SIGKILL)
    assert len(processes) == seen.processes == 2
    assert 60_000 < seen.pss_kb <= seen.rss_kb < 200_000
