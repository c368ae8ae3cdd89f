"""Set up wmviz's environment, then open JupyterLab, run the tests or renew the lock.

Needs a Python of 3.8 or later with venv or pip, and nothing else: the standard library fetches uv (the exact one that
requirements.lock names), uv finds or brings a Python that PyFlink supports, and installs what the lock names.

    python3 tools/bootstrap.py setup
    python3 tools/bootstrap.py lab [options of jupyter lab]
    python3 tools/bootstrap.py test [options of pytest]
    python3 tools/bootstrap.py lock
"""

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
UV_HOME = ROOT / ".uv"
PYTHONS = ROOT / ".python"
LOCK = ROOT / "requirements.lock"
BUILD_CONSTRAINTS = ROOT / "build-constraints.txt"
STAMP = VENV / "wmviz-setup.json"

FLINK_PYTHONS = ("3.11", "3.12", "3.10")
OTHER_PYTHONS = ("3.13",)
# The machines for which every package outside PyFlink has a wheel, in the names that platform.machine() gives.
PLATFORMS = {"linux": ("x86_64", "aarch64"), "darwin": ("x86_64", "arm64"), "win32": ("AMD64",)}

FIRST_NOTEBOOK = "notebooks/00-start-here.ipynb"
NOTEBOOK_FOLDERS = ("notebooks", "solutions", "exercises")
# They only guard: a slow machine is no failure. pytest's own limit for each test is in pyproject.toml.
NBVAL_LIMITS = ("--nbval-cell-timeout=800", "--nbval-kernel-startup-timeout=300")
# JupyterLab asks the network for news, updates and extensions unless told not to.
LAB_CONFIG = {
    "LabApp": {
        "check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
        "extension_manager": "readonly",
        "news_url": None,
    }
}
LAB_SETTINGS = {"@jupyterlab/apputils-extension:notification": {"checkForUpdates": False, "fetchNews": "false"}}


class SetupError(Exception):
    """The set-up cannot go on; the message says why and what to do."""


# ---------------------------------------------------------------- small tools


def say(text):
    print("wmviz:", text, file=sys.stderr, flush=True)


def program(home, name):
    """Path of a program inside a virtual environment."""
    return str(home / "Scripts" / (name + ".exe")) if os.name == "nt" else str(home / "bin" / name)


def clean_env(**more):
    """Return the environment without what would lead a tool away from ours."""
    unwanted = {"PYTHONHOME", "PYTHONPATH", "UV_PROJECT_ENVIRONMENT", "UV_PYTHON", "UV_SYSTEM_PYTHON", "VIRTUAL_ENV"}
    env = {name: value for name, value in os.environ.items() if name not in unwanted}
    return {**env, "PIP_USER": "0", "UV_PYTHON_INSTALL_DIR": str(PYTHONS), **more}


def venv_env():
    """Return the environment as an activated .venv has it."""
    path = os.pathsep.join([str(Path(program(VENV, "python")).parent), os.environ.get("PATH", os.defpath)])
    return clean_env(PATH=path, VIRTUAL_ENV=str(VENV), JUPYTER_PREFER_ENV_PATH="1")


def output_of(command, **env):
    """Run quietly; return the exit code and all that was printed."""
    try:
        done = subprocess.run(
            command,
            cwd=str(ROOT),
            env=clean_env(**env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except OSError as error:
        return 127, str(error)
    return done.returncode, done.stdout.strip()


NETWORK = re.compile(
    r"dns error|error sending request|failed to (fetch|download|establish)|connection (refused|reset|error)|timed? ?out"
    r"|name resolution|name or service|unreachable|no matching distribution|proxy|network (is|was) disabled",
    re.IGNORECASE,
)


def reason(printed):
    """Turn a failed tool's output into the reason and the way out."""
    low = printed.lower()
    if "no space left" in low or "disk quota" in low:
        return "the disk is full: free about 3 GB and run the same command again."
    if "hash mismatch" in low or "do not match the hashes" in low:
        return "a downloaded package is not the one in requirements.lock: look at the package index or mirror in use."
    if "certificate" in low:
        return (
            "the package index's certificate is not trusted: set SSL_CERT_FILE and PIP_CERT to your organisation's "
            "certificates and run the same command again."
        )
    if NETWORK.search(printed):
        return (
            "the package index cannot be reached: connect to the network (behind a proxy, set HTTPS_PROXY) and run "
            "the same command again; it goes on where it stopped."
        )
    log = ROOT / "setup.log"
    log.write_text(printed + "\n", encoding="utf-8")
    return f"the full message is in {log.name}; `make clean` and a new start often help."


def must(command, failed, show=False):
    """Run a step of the set-up; where it fails, say in one sentence why and what to do."""
    if show and sys.stderr.isatty() and subprocess.call(command, cwd=str(ROOT), env=clean_env()) == 0:
        return
    code, printed = output_of(command)
    if code and "certificate" in printed:
        # uv brings its own list of authorities; an organisation's are known to the system only.
        code, printed = output_of(command, UV_SYSTEM_CERTS="1")
    if code:
        raise SetupError(f"{failed}: {reason(printed)}")


# ---------------------------------------------------------------- the steps


def check_platform():
    known = PLATFORMS.get(sys.platform, ())
    musl = "musl" in (sysconfig.get_config_var("HOST_GNU_TYPE") or "")
    if platform.machine() in known and not musl and sys.maxsize > 2**32:
        return
    raise SetupError(
        "this platform ({} {}{}) is not supported: use 64-bit Linux with glibc, macOS or Windows, for example in a "
        "Debian container.".format(sys.platform, platform.machine(), ", musl" if musl else "")
    )


def locked_uv():
    """Return uv's lines in the lock, hashes included: what pip is asked for."""
    found = re.search(r"^uv==\S+ .*?(?=^\S|\Z)", LOCK.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    if not found:
        raise SetupError("requirements.lock names no uv: restore the file with `git checkout requirements.lock`.")
    return found.group()


def get_uv():
    """Return the path of uv; fetch the locked one into .uv unless it is there."""
    wanted = locked_uv()
    version = wanted.split()[0][len("uv==") :]
    uv = program(UV_HOME, "uv")
    if re.match(rf"uv {re.escape(version)}\b", output_of([uv, "--version"])[1]):
        return uv
    say(f"fetching uv {version} ...")
    shutil.rmtree(str(UV_HOME), ignore_errors=True)
    pip = [program(UV_HOME, "python"), "-m", "pip"]
    target = []
    if output_of([sys.executable, "-m", "venv", str(UV_HOME)])[0]:
        # Debian's python3 has venv only with another package; pip alone will do.
        pip, target = [sys.executable, "-m", "pip"], ["--target", str(UV_HOME)]
        if output_of([*pip, "--version"])[0]:
            return uv_on_path()
        shutil.rmtree(str(UV_HOME), ignore_errors=True)
    UV_HOME.mkdir(exist_ok=True)
    (UV_HOME / "uv.txt").write_text(wanted, encoding="utf-8")
    options = ["--quiet", "--no-input", "--retries", "2", "--timeout", "30", "--only-binary", ":all:"]
    must([*pip, "install", *options, *target, "-r", str(UV_HOME / "uv.txt")], "uv could not be fetched")
    return uv


def uv_on_path():
    uv = shutil.which("uv")
    if uv:
        return uv
    raise SetupError(
        f"{sys.executable} has neither venv nor pip: install one (Debian, Ubuntu: `apt install python3-venv`) and run "
        "the same command again."
    )


def flink_has_wheels():
    return sys.platform != "win32" and platform.machine() == "x86_64"


def find_pythons(uv, versions):
    """Return the Pythons of these versions that are here, the running one before others."""
    wanted = list(versions)
    if "{}.{}".format(*sys.version_info) in versions:
        wanted.insert(0, sys.executable)
    find = [uv, "python", "find", "--system", "--no-python-downloads", "--no-project"]
    answers = [output_of([*find, request]) for request in wanted]
    return [printed.splitlines()[-1] for code, printed in answers if not code]


def has_library(python):
    """Say whether this Python has its shared library, into which PyFlink's JVM loads it; Debian's has it only extra."""
    load = "import ctypes, os, sysconfig as s; v = s.get_config_var; "
    load += "ctypes.CDLL(os.path.join(v('LIBDIR'), v('INSTSONAME')))"
    return sys.platform != "linux" or output_of([python, "-c", load])[0] == 0


def get_python(uv):
    """Return a Python for .venv; bring one where the machine has none that fits."""
    versions = FLINK_PYTHONS if flink_has_wheels() else FLINK_PYTHONS + OTHER_PYTHONS
    here = find_pythons(uv, versions)
    fits = [python for python in here if has_library(python)] if flink_has_wheels() else here
    if not fits:
        say("no Python that fits is here: fetching one ...")
        output_of([uv, "python", "install", "--no-bin", FLINK_PYTHONS[0]])
        here = find_pythons(uv, versions)
        fits = [python for python in here if has_library(python)] or here or find_pythons(uv, OTHER_PYTHONS)
    if fits:
        return fits[0]
    raise SetupError(
        "there is no Python 3.10, 3.11 or 3.12 on this machine and none could be fetched: install one (with the "
        "system's packages, pyenv or conda) and run `make setup PYTHON=/path/to/it`."
    )


def venv_version():
    """Return the version of .venv's Python, None where there is no working one."""
    code, printed = output_of([program(VENV, "python"), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"])
    return printed if not code else None


def fingerprint():
    """Return what the environment was made from; the place counts, as scripts hold absolute paths."""
    digest = hashlib.sha256()
    for path in (LOCK, BUILD_CONSTRAINTS, ROOT / "pyproject.toml", Path(__file__)):
        digest.update(path.read_bytes())
    return {"made_from": digest.hexdigest(), "root": str(ROOT)}


def read_stamp():
    try:
        return json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def write_json(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def setup():
    """Make .venv what the lock says. Quick when it is so already."""
    stamp = read_stamp()
    if stamp == fingerprint() and os.path.exists(program(VENV, "python")):
        return
    check_platform()
    uv = get_uv()
    if stamp.get("root") != str(ROOT) or venv_version() not in FLINK_PYTHONS + OTHER_PYTHONS:
        python = get_python(uv)
        say(f"creating .venv with {python} ...")
        create = [uv, "venv", "--quiet", "--clear", "--no-project", "--prompt", "wmviz", "--python", python, str(VENV)]
        must(create, "the environment could not be created")
    write_json(STAMP, {"root": str(ROOT)})  # begun, not finished
    install(uv)
    write_json(STAMP, fingerprint())
    tell_about_flink()
    say("ready.")


def tell_about_flink():
    version = venv_version()
    if not flink_has_wheels():
        say("PyFlink has no packages for this machine: the cells about Flink show recorded runs.")
    elif version not in FLINK_PYTHONS:
        say("PyFlink has no packages for this Python: the cells about Flink show recorded runs.")
        say("For real Flink install Python 3.10, 3.11 or 3.12 and run `make clean setup`.")
    elif not has_library(program(VENV, "python")):
        package = f"libpython{version}"
        say(f"real Flink needs this Python's shared library: install it (Debian, Ubuntu: `apt install {package}`).")


def install(uv):
    into = ["--python", program(VENV, "python")]
    sync = [uv, "pip", "sync", *into, "--require-hashes", "--build-constraints", str(BUILD_CONSTRAINTS), str(LOCK)]
    if output_of([*sync, "--offline"])[0]:  # all may be here already, or in uv's cache
        say("installing what requirements.lock names (about 500 MB to fetch the first time) ...")
        must(sync, "the packages could not be installed", show=True)
    ours = ["--no-deps", "--no-build-isolation", "--offline", "--editable", str(ROOT)]
    must([uv, "pip", "install", *into, *ours], "wmviz itself could not be installed")
    write_json(VENV / "etc" / "jupyter" / "jupyter_lab_config.json", LAB_CONFIG)
    write_json(VENV / "share" / "jupyter" / "lab" / "settings" / "overrides.json", LAB_SETTINGS)


# ---------------------------------------------------------------- commands


def lab(arguments):
    command = [program(VENV, "jupyter"), "lab", "--ServerApp.root_dir=" + str(ROOT)]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    # Not as a file to open: the address that is printed with --no-browser must lead there too.
    command += ["--LabApp.default_url=/lab/tree/" + FIRST_NOTEBOOK, *arguments]
    os.chdir(str(ROOT))
    if os.name != "nt":
        os.execve(command[0], command, venv_env())  # noqa: S606 - so that Ctrl-C and signals reach JupyterLab alone
    return subprocess.call(command, env=venv_env())


def test_env():
    """Return the environment of the tests: what the user has set up for Jupyter and IPython at home is not theirs."""
    home = VENV / "home"
    places = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    env = {**venv_env(), **{place: str(home / place.lower()) for place in places}}
    for place in places:
        os.makedirs(env[place], exist_ok=True)
    return env


def test(arguments):
    """Run every check, all of them even where one fails, so that one run shows all there is to mend."""
    python = [program(VENV, "python"), "-m"]
    pytest = [*python, "pytest", "-n", "2", "--dist", "loadfile", *arguments]
    checks = [
        ("ruff check", [*python, "ruff", "check", "."]),
        ("ruff format", [*python, "ruff", "format", "--check", "."]),
        ("mypy", [*python, "mypy"]),
        ("form of the notebooks", [program(VENV, "python"), "tools/notebooks.py", "check"]),
        ("the tests", [*pytest, "tests"]),
        ("the notebooks", [*pytest, "--nbval", *NBVAL_LIMITS, *NOTEBOOK_FOLDERS]),
    ]
    # Options of pytest may choose tests of one kind; pytest then says 5 for the other: no tests.
    good = (0, 5) if arguments else (0,)
    failed, env = [], test_env()
    for name, command in checks:
        say(name)
        if subprocess.call(command, cwd=str(ROOT), env=env) not in good:
            failed.append(name)
    if failed:
        say("failed: {}.".format(", ".join(failed)))
    return 1 if failed else 0


def lock(arguments):
    """Compile the lock again; `--upgrade` moves to newer versions."""
    uv = get_uv()
    say("compiling requirements.lock ...")
    options = ["--all-extras", "--universal", "--python-version", "3.10", "--generate-hashes", "--no-header"]
    # The machine's own indexes and folders of packages must leave no trace in the lock.
    options += ["--no-config", "--no-emit-index-url", "--no-emit-find-links", "--constraints", "constraints.txt"]
    must([uv, "pip", "compile", "pyproject.toml", *options, "--output-file", LOCK.name, *arguments], "no lock")
    return 0


COMMANDS = {"lab": lab, "test": test}


def main(arguments):
    if sys.version_info < (3, 8):  # noqa: UP036 - this file is what says so
        raise SetupError("Python 3.8 or later is needed to start: run `make lab PYTHON=/path/to/python3`.")
    command = arguments[0] if arguments else ""
    if command == "lock":
        return lock(arguments[1:])
    if command == "setup" and not arguments[1:]:
        setup()
        return 0
    if command in COMMANDS:
        setup()
        return COMMANDS[command](arguments[1:])
    raise SetupError(f"write one of setup, lab, test or lock after {Path(__file__).name}.")


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except SetupError as error:
        say(error)
        sys.exit(1)
    except KeyboardInterrupt:
        say("stopped; run the same command again to go on.")
        sys.exit(130)
