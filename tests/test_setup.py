"""The files that make the environment say the same thing, and the repository is clean."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
NAMES_ON_CONDA = {"python-tzdata": "tzdata"}
# What environment.yml holds beyond pyproject.toml: Python, pip, and a bound on what conda would choose too new.
ONLY_ON_CONDA = {"python", "pip", "numpy"}
LINUX = {**default_environment(), "sys_platform": "linux", "platform_system": "Linux", "platform_machine": "x86_64"}
LINUX.update(python_version="3.11", python_full_version="3.11.7", os_name="posix")
WITHOUT_FLINK = {
    "Linux on arm64": {"platform_machine": "aarch64"},
    "Apple silicon": {"sys_platform": "darwin", "platform_system": "Darwin", "platform_machine": "arm64"},
    "Windows": {"sys_platform": "win32", "platform_system": "Windows", "platform_machine": "AMD64", "os_name": "nt"},
    "Python 3.13": {"python_version": "3.13", "python_full_version": "3.13.0"},
}
# Addresses that sentences and files may name: this machine, names of formats, and the documentation of Flink.
HOSTS = {
    "127.0.0.1",
    "localhost",
    "json-schema.org",
    "www.w3.org",
    "vega.github.io",
    "www.apache.org",
    "flink.apache.org",
    "nightlies.apache.org",
    # Made-up addresses of a reader's own cluster.
    "flink.example.com",
    "flink.example.org",
    "jobmanager",
    "elsewhere",
}
REGISTRIES = re.compile(r"\b(pypi|pythonhosted|anaconda|npmjs|maven|debian|jsdelivr|unpkg|cdnjs)\.(org|com|net|io)\b")


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def asked(project: dict[str, Any]) -> dict[str, Requirement]:
    """Return what pyproject.toml asks for to run wmviz and its tests."""
    texts = project["dependencies"] + project["optional-dependencies"]["test"]
    return {canonicalize_name(requirement.name): requirement for requirement in map(Requirement, texts)}


@pytest.fixture(scope="module")
def locked() -> dict[str, list[Requirement]]:
    """Return the lock: for some packages it holds one version for each range of Pythons."""
    found: dict[str, list[Requirement]] = {}
    for line in (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines():
        if re.match(r"\w", line):
            requirement = Requirement(line.rstrip("\\ "))
            found.setdefault(canonicalize_name(requirement.name), []).append(requirement)
    return found


@pytest.fixture(scope="module")
def conda() -> dict[str, Requirement]:
    """Return what environment.yml asks for, under the names that pyproject.toml uses."""
    entries = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    by_pip = next(entry["pip"] for entry in entries if isinstance(entry, dict))
    texts = [entry for entry in entries if isinstance(entry, str)] + [text for text in by_pip if text != "-e ."]
    return {
        NAMES_ON_CONDA.get(requirement.name, requirement.name): requirement for requirement in map(Requirement, texts)
    }


@pytest.fixture(scope="module")
def bootstrap() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bootstrap", ROOT / "tools" / "bootstrap.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tracked_texts() -> list[tuple[str, str]]:
    """Return path and text of every tracked file that is text."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    texts = []
    for name in filter(None, listed.split("\0")):
        path = ROOT / name
        content = path.read_bytes() if path.is_file() else b""
        if b"\0" not in content[:8000]:
            texts.append((name, content.decode("utf-8")))
    return texts


@pytest.fixture(scope="module")
def texts() -> list[tuple[str, str]]:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout: there is no list of tracked files")
    return tracked_texts()


# ---------------------------------------------------------------- environment.yml, pyproject.toml and the lock


def test_conda_asks_for_what_pyproject_asks_for(asked: dict[str, Requirement], conda: dict[str, Requirement]) -> None:
    assert set(conda) - ONLY_ON_CONDA == set(asked)
    for name, requirement in asked.items():
        assert conda[name].specifier == requirement.specifier, name
        assert conda[name].marker == requirement.marker, name


def test_conda_allows_what_is_locked(conda: dict[str, Requirement], locked: dict[str, list[Requirement]]) -> None:
    for name in set(conda) - {"python", "pip"}:
        versions = [next(iter(pin.specifier)).version for pin in locked[name]]
        assert [v for v in versions if v not in conda[name].specifier] == [], name


def test_conda_brings_a_python_that_flink_supports(bootstrap: ModuleType, conda: dict[str, Requirement]) -> None:
    allowed = [f"3.{minor}" for minor in range(8, 20) if f"3.{minor}" in conda["python"].specifier]
    assert sorted(allowed) == sorted(bootstrap.FLINK_PYTHONS)


def test_every_conda_dependency_has_a_reason() -> None:
    lines = (ROOT / "environment.yml").read_text(encoding="utf-8").partition("dependencies:")[2].splitlines()
    entries = [line for line in lines if line.lstrip().startswith("- ") and line.strip() != "- pip:"]
    assert [line for line in entries if not re.search(r" # \S+ \S+", line)] == []


def test_lock_pins_what_pyproject_asks_for(project: dict[str, Any], locked: dict[str, list[Requirement]]) -> None:
    extras = project["optional-dependencies"]
    for requirement in map(Requirement, project["dependencies"] + extras["test"] + extras["dev"]):
        pins = locked[canonicalize_name(requirement.name)]
        assert all(next(iter(pin.specifier)).version in requirement.specifier for pin in pins), requirement


def test_lock_holds_exact_versions_with_hashes_and_no_places(locked: dict[str, list[Requirement]]) -> None:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert [str(pin) for pins in locked.values() for pin in pins if [s.operator for s in pin.specifier] != ["=="]] == []
    entries = re.split(r"^(?=\w)", text, flags=re.MULTILINE)[1:]
    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry] == []
    assert re.findall(r"^\s*(?:-i|--index|--extra|--find|--trusted|.*://|.* @ ).*", text, re.MULTILINE) == []


def test_lock_pins_one_version_for_each_python(locked: dict[str, list[Requirement]], bootstrap: ModuleType) -> None:
    for version in bootstrap.FLINK_PYTHONS + bootstrap.OTHER_PYTHONS:
        environment = {**LINUX, "python_version": version, "python_full_version": version + ".5"}
        for name, pins in locked.items():
            fitting = [pin for pin in pins if pin.marker is None or pin.marker.evaluate(environment)]
            assert len(fitting) <= 1, (name, version)


@pytest.mark.parametrize("place", WITHOUT_FLINK)
def test_flink_and_what_comes_with_it_stay_away_where_there_are_no_wheels(
    place: str, locked: dict[str, list[Requirement]]
) -> None:
    environment = {**LINUX, **WITHOUT_FLINK[place]}
    for name in ("apache-flink", "apache-flink-libraries", "apache-beam", "pemja", "pyarrow", "py4j"):
        (pin,) = locked[name]
        assert pin.marker is not None
        assert pin.marker.evaluate(LINUX)
        assert not pin.marker.evaluate(environment)
    for name in ("jupyterlab", "pandas", "altair", "ipywidgets", "anywidget", "pytest"):
        assert any(pin.marker is None or pin.marker.evaluate(environment) for pin in locked[name])


def test_python_of_the_bootstrap_is_that_of_pyproject(project: dict[str, Any], bootstrap: ModuleType) -> None:
    allowed = SpecifierSet(project["requires-python"])
    pythons = bootstrap.FLINK_PYTHONS + bootstrap.OTHER_PYTHONS
    assert sorted(pythons) == sorted(f"3.{minor}" for minor in range(8, 20) if f"3.{minor}.1" in allowed)


# ---------------------------------------------------------------- the bootstrap


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ("error: No space left on device (os error 28)", "the disk is full"),
        ("invalid peer certificate: UnknownIssuer", "certificate is not trusted"),
        ("client error (Connect): dns error: failed to lookup", "cannot be reached"),
        ("ERROR: No matching distribution found for uv==0.1", "cannot be reached"),
        ("error: Hash mismatch for `pandas==2.2.3`", "not the one in requirements.lock"),
    ],
)
def test_a_failed_tool_becomes_a_sentence(bootstrap: ModuleType, printed: str, said: str) -> None:
    sentence = bootstrap.reason(printed)
    assert said in sentence
    assert "\n" not in sentence
    assert sentence.endswith(".")


def test_an_unknown_failure_is_kept_for_reading(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "ROOT", tmp_path)
    assert "setup.log" in bootstrap.reason("something odd")
    assert (tmp_path / "setup.log").read_text(encoding="utf-8") == "something odd\n"


@pytest.mark.parametrize("platform", [("linux", "riscv64"), ("linux", "i686"), ("freebsd14", "amd64")])
def test_an_unsupported_platform_is_refused(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch, platform: tuple[str, str]
) -> None:
    monkeypatch.setattr(bootstrap.sys, "platform", platform[0])
    monkeypatch.setattr(bootstrap.platform, "machine", lambda: platform[1])
    with pytest.raises(bootstrap.SetupError, match=f"{platform[0]} {platform[1]}.*not supported: use "):
        bootstrap.check_platform()


def test_without_a_network_it_says_so(bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_network(command: list[str], **env: str) -> tuple[int, str]:
        return (1, "dns error: failed to look up the address") if "install" in command else (0, "")

    monkeypatch.setattr(bootstrap, "UV_HOME", tmp_path / "uv")
    monkeypatch.setattr(bootstrap, "output_of", no_network)
    with pytest.raises(bootstrap.SetupError, match=r"^uv could not be fetched: .* cannot be reached: .*\.$"):
        bootstrap.get_uv()


def test_without_a_fitting_python_it_says_so(bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "output_of", lambda command, **env: (1, "error: no download found"))
    with pytest.raises(bootstrap.SetupError, match=r"no Python 3\.10, 3\.11 or 3\.12 .* install one .*PYTHON="):
        bootstrap.get_python("uv")


def test_the_second_setup_starts_nothing(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object, **env: object) -> None:
        raise AssertionError("a set-up that is done runs nothing")

    monkeypatch.setattr(bootstrap, "VENV", tmp_path)
    monkeypatch.setattr(bootstrap, "STAMP", tmp_path / "stamp.json")
    monkeypatch.setattr(bootstrap, "get_uv", refuse)
    with pytest.raises(AssertionError, match="a set-up that is done"):
        bootstrap.setup()
    bootstrap.write_json(Path(bootstrap.program(tmp_path, "python")), "there")
    bootstrap.write_json(tmp_path / "stamp.json", bootstrap.fingerprint())
    bootstrap.setup()
    monkeypatch.setattr(bootstrap, "fingerprint", lambda: {"root": "elsewhere"})
    with pytest.raises(AssertionError, match="a set-up that is done"):
        bootstrap.setup()


def test_uv_comes_as_the_lock_has_it(bootstrap: ModuleType, locked: dict[str, list[Requirement]]) -> None:
    first, *hashes = bootstrap.locked_uv().replace("\\\n", "\n").splitlines()
    assert Requirement(first) == locked["uv"][0]
    assert any(line.strip().startswith("--hash=sha256:") for line in hashes)


def test_an_unknown_command_is_refused_in_a_sentence() -> None:
    command = [sys.executable, str(ROOT / "tools" / "bootstrap.py"), "brew"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "wmviz: write one of setup, lab, test or lock after bootstrap.py.\n"


def test_every_target_of_the_makefile_is_explained() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z]+):(.*)", text, re.MULTILINE)
    assert [name for name, rest in targets if "## " not in rest] == ["python"]
    assert {name for name, _ in targets} == set(re.search(r"\.PHONY: (.*)", text)[1].split())  # type: ignore[index]


# ---------------------------------------------------------------- the repository


def test_no_file_names_a_registry_or_an_unknown_host(texts: list[tuple[str, str]]) -> None:
    named = [
        (name, host)
        for name, text in texts
        for host in re.findall(r"https?://(?:[^\s/@\"']*@)?([A-Za-z0-9.-]+)", text)
        if host not in HOSTS
    ]
    assert named == []
    assert [(name, found.group()) for name, text in texts for found in REGISTRIES.finditer(text)] == []


def test_no_file_holds_a_path_of_the_machine_it_was_made_on(texts: list[tuple[str, str]]) -> None:
    places = (str(ROOT), str(Path.home()) + "/")
    assert [(name, place) for name, text in texts for place in places if place in text] == []


def test_every_link_between_files_leads_somewhere(texts: list[tuple[str, str]]) -> None:
    linked = [
        (name, target)
        for name, text in texts
        if name.endswith(".md")
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text)
        if not target.startswith("http")
    ]
    assert [(name, target) for name, target in linked if not (ROOT / name).parent.joinpath(target).exists()] == []


def test_text_files_are_tidy(texts: list[tuple[str, str]]) -> None:
    assert [name for name, text in texts if "\r" in text] == []
    assert [name for name, text in texts if text and not text.endswith("\n")] == []


def test_no_file_is_large(texts: list[tuple[str, str]]) -> None:
    # The recorded runs and the still pictures of lessons are the largest.
    assert [name for name, text in texts if len(text) > 2_000_000] == []


def test_nothing_generated_is_tracked(texts: list[tuple[str, str]]) -> None:
    folders = r"(^|/)(\.venv|\.uv|__pycache__|\.ipynb_checkpoints|node_modules|\.hypothesis)/"
    leftovers = re.compile(folders + r"|\.pyc$|\.egg-info/")
    assert [name for name, _ in texts if leftovers.search(name)] == []


def test_each_name_in_the_code_of_the_readme_is_there_after_the_one_import() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    names = sorted(set(re.findall(r"\bwmviz(?:\.[a-z]\w*)+", code)))
    assert "wmviz.stage.save_html" in names
    done = subprocess.run(
        [sys.executable, "-c", "; ".join(["import wmviz", *names])], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
