"""Set the course up from this bundle, without a network: ``python3 install.py [FOLDER]``.

Runs on any Python from 3.8 on with the standard library alone. It checks that the bundle is whole and fits this
machine, copies the course, and makes its environment from the wheels beside this file. What it began and could not end
it removes.
"""

import hashlib
import importlib.util
import json
import os
import platform
import shutil
import sys
import tarfile
import zipfile
from pathlib import Path

BUNDLE = Path(__file__).resolve().parent
SYSTEMS = {"linux": "Linux", "darwin": "macOS", "win32": "Windows"}


class InstallError(Exception):
    """The installation cannot go on; the message says why and what to do."""


def say(text):
    print("wmviz:", text, file=sys.stderr, flush=True)


# ---------------------------------------------------------------- the bundle and the machine


def read_bundle(folder):
    """Return what the bundle says of itself."""
    try:
        return json.loads((folder / "bundle.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise InstallError(f"there is no bundle.json in {folder}: unpack the bundle again, all of it.") from None


def check_machine(about, system, machine, glibc):
    """Refuse a bundle that was made for other machines."""
    wanted, here = (about["system"], about["machine"]), (system, machine)
    if wanted != here:
        names = [f"{SYSTEMS.get(name, name)} on {kind}" for name, kind in (wanted, here)]
        raise InstallError(
            "the bundle is for {}, and this is {}: run `make bundle` on a machine like this one.".format(*names)
        )
    if about["glibc"] and numbers(glibc) < numbers(about["glibc"]):
        raise InstallError(
            "the bundle needs glibc {} or later, and this system has {}: run `make bundle` on a system as old as "
            "this one.".format(about["glibc"], glibc or "another library")
        )


def numbers(version):
    return [int(part) for part in version.split(".") if part.isdigit()]


def check_files(folder, files):
    """Refuse a bundle that is not whole."""
    for name, wanted in files.items():
        found = hashlib.sha256()
        try:
            with (folder / name).open("rb") as file:
                for block in iter(lambda: file.read(1 << 20), b""):
                    found.update(block)
        except OSError:
            raise InstallError(f"{name} is missing in the bundle: unpack it again, all of it.") from None
        if found.hexdigest() != wanted:
            raise InstallError(f"{name} is damaged: copy the bundle again, and unpack it again.")


# ---------------------------------------------------------------- the steps


def copy_course(folder, files, target):
    for name in files:
        inside, _, path = name.partition("/")
        if inside == "project":
            place = target / path
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(str(folder / name), str(place))


def load_bootstrap(target):
    """Return the set-up of the course itself; the installer only gives it what it would fetch."""
    spec = importlib.util.spec_from_file_location("bootstrap", str(target / "tools" / "bootstrap.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def unpack_uv(wheels, place):
    """Take the program uv out of its wheel, to where the set-up looks for it."""
    wheel = next(iter(sorted(wheels.glob("uv-*.whl"))), None)
    if wheel is None:
        raise InstallError("there is no uv in the folder wheels: unpack the bundle again, all of it.")
    with zipfile.ZipFile(str(wheel)) as archive:
        inside = next(name for name in archive.namelist() if name.endswith(f".data/scripts/{place.name}"))
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(archive.read(inside))
    place.chmod(0o755)
    return str(place)


def unpack_python(packed, place):
    """Unpack the Python that the bundle brings, if it brings one."""
    if packed.exists():
        with tarfile.open(str(packed)) as archive:
            # Our own file, checked by its hash; older Pythons know no filter.
            safe = {"filter": "tar"} if hasattr(tarfile, "tar_filter") else {}
            archive.extractall(str(place), **safe)  # noqa: S202


def choose_python(bootstrap, uv, version):
    """Return a Python of the version that the wheels are for, with a shared library if there is one."""
    here = bootstrap.find_pythons(uv, (version,))
    fits = [python for python in here if bootstrap.has_library(python)] or here
    if fits:
        return fits[0]
    raise InstallError(
        f"the bundle is for Python {version}, and there is none on this machine: install it (Debian, Ubuntu: `apt "
        f"install python{version}`), or use a bundle that was made with `make bundle ARGS=--with-python`."
    )


def stay_offline(wheels, cache):
    """Let uv look at the wheels alone, and keep what it unpacks beside the course."""
    unwanted = [name for name in os.environ if name.startswith(("UV_", "PIP_"))]
    for name in unwanted:
        del os.environ[name]
    os.environ.update(
        UV_OFFLINE="1",
        UV_NO_INDEX="1",
        UV_FIND_LINKS=str(wheels),
        UV_NO_CONFIG="1",
        UV_CACHE_DIR=str(cache),
        UV_PYTHON_DOWNLOADS="never",
    )


def make_environment(bootstrap, folder, version):
    """Make .venv of the wheels, and leave it as the set-up of the course would."""
    cache = bootstrap.UV_HOME / "cache"
    stay_offline(folder / "wheels", cache)
    uv = unpack_uv(folder / "wheels", Path(bootstrap.program(bootstrap.UV_HOME, "uv")))
    unpack_python(folder / "python.tar", bootstrap.PYTHONS)
    python = choose_python(bootstrap, uv, version)
    say(f"installing the packages for {python} ...")
    create = [uv, "venv", "--quiet", "--clear", "--no-project", "--prompt", "wmviz", "--python", python]
    bootstrap.must([*create, str(bootstrap.VENV)], "the environment could not be created")
    into = ["--python", bootstrap.program(bootstrap.VENV, "python")]
    sync = [uv, "pip", "sync", *into, "--require-hashes", "--no-build", str(folder / "wheels.txt")]
    bootstrap.must(sync, "the packages could not be installed")
    lock = bootstrap.LOCK
    bootstrap.LOCK = folder / "wheels.txt"  # what is built from source has other hashes than in the lock
    bootstrap.install(uv)
    bootstrap.LOCK = lock
    bootstrap.write_json(bootstrap.STAMP, bootstrap.fingerprint())
    shutil.rmtree(str(cache), ignore_errors=True)


def install(folder, target):
    about = read_bundle(folder)
    check_machine(about, sys.platform, platform.machine(), platform.libc_ver()[1])
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InstallError(f"{target} is there already: name another folder, as in `python3 install.py wmviz-2`.")
    say("checking the bundle ...")
    check_files(folder, about["files"])
    try:
        say(f"copying the course to {target} ...")
        copy_course(folder, about["files"], target)
        bootstrap = load_bootstrap(target)
        try:
            make_environment(bootstrap, folder, about["python"])
        except bootstrap.SetupError as error:
            raise InstallError(explain(bootstrap, str(error))) from None
        bootstrap.tell_about_flink()
    except BaseException:
        shutil.rmtree(str(target), ignore_errors=True)
        raise
    say(f"ready: cd {target}, then `make doctor` or `make lab`.")


def explain(bootstrap, sentence):
    """Keep the tool's own message: the folder that it was written to is removed."""
    log = bootstrap.ROOT / "setup.log"
    if not log.exists():
        return sentence
    kept = Path.cwd() / "wmviz-install.log"
    shutil.copy(str(log), str(kept))
    return "{}: the full message is in {}.".format(sentence.partition(":")[0], kept)


def main(arguments):
    if sys.version_info < (3, 8):  # noqa: UP036 - this file is what says so
        raise InstallError("Python 3.8 or later is needed to start: name another one instead of python3.")
    if len(arguments) > 1 or (arguments and arguments[0].startswith("-")):
        raise InstallError("write at most one folder after install.py; without one it is wmviz, here.")
    target = Path(arguments[0] if arguments else "wmviz")
    try:
        install(BUNDLE, Path.cwd() / target)
    except OSError as error:
        raise InstallError(f"{error.filename or target}: {error.strerror}; mend that and start again.") from None


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except InstallError as error:
        say(error)
        sys.exit(1)
    except KeyboardInterrupt:
        say("stopped; nothing is left behind.")
        sys.exit(130)
