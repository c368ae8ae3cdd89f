"""The offline bundle for real: make it, unpack it elsewhere, cut off the network, install, and run the course there.

``python -m benchmarks.offline [BUNDLE.tar]``; a part of ``make soak``. Prints the sizes and how long each step takes.
Where Linux lets us, the steps run where there is no network at all; elsewhere behind a proxy that nothing answers.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CUT_OFF = ["unshare", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
NOWHERE = "http://127.0.0.1:9"
LIMIT_S = 900
SIMULATE = (
    "import wmviz; s = wmviz.scenario('leaderboard'); print(len(wmviz.simulate(s).firings), 'firings');"
    "wmviz.play(s); assert 'wmviz' in wmviz.__file__"
)
AGAIN = ["tools/bootstrap.py", "setup"]  # as `make lab` does first: there must be nothing to do
LAB = """\
import pathlib, re, subprocess, sys, time, urllib.request
log = pathlib.Path("lab.log")
with log.open("w") as out:
    lab = subprocess.Popen(["make", "lab", "ARGS=--no-browser --port=0"], stdout=out, stderr=out)
try:
    deadline = time.monotonic() + 120
    while not (found := re.search(r"(http://127.0.0.1:[0-9]+)/lab[^ ?]*([?]token=[0-9a-f]+)", log.read_text())):
        if lab.poll() is not None or time.monotonic() > deadline:
            sys.exit(log.read_text())
        time.sleep(0.2)
    for page in ("/lab", "/api/contents/notebooks/00-start-here.ipynb"):
        print(page, urllib.request.urlopen(found[1] + page + found[2]).status)
finally:
    lab.terminate()
    lab.wait()
"""


def cut_off() -> list[str]:
    """Give what to write before a command so that it has no network; nothing if that is not allowed here."""
    try:
        allowed = subprocess.run([*CUT_OFF, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        allowed = False
    print("the network is cut off" if allowed else "the network cannot be cut off here; a proxy leads nowhere")
    return CUT_OFF if allowed else []


def environment(home: Path) -> dict[str, str]:
    """Give an environment without caches, settings and proxies of this machine."""
    base = Path(getattr(sys, "_base_executable", sys.executable)).resolve().parent
    path = os.pathsep.join([str(base), "/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"])
    proxies = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), NOWHERE)
    return {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "NO_PROXY": "127.0.0.1,localhost", **proxies}


def step(what: str, command: list[str], folder: Path, env: dict[str, str]) -> bool:
    """Run one step; print how long it took, and what it printed last or, if it fails, all."""
    begun = time.monotonic()
    done = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=LIMIT_S, errors="replace"
    )
    lines = (done.stdout + done.stderr).strip().splitlines()
    print(f"{what:44}{time.monotonic() - begun:7.1f} s  {'ok' if done.returncode == 0 else 'FAILED'}", flush=True)
    for line in lines[-1:] if done.returncode == 0 else lines:
        print(f"    {line}")
    return done.returncode == 0


def size_mb(folder: Path) -> float:
    """Add up what the files of a folder take, each counted once."""
    files = {(at.st_dev, at.st_ino): at.st_blocks * 512 for at in (path.lstat() for path in folder.rglob("*"))}
    return sum(files.values()) / 1e6


def main(arguments: list[str]) -> int:
    """Go through all steps; 1 if one fails."""
    with tempfile.TemporaryDirectory(prefix="wmviz-offline-") as place:
        work = Path(place)
        if arguments:
            bundle = Path(arguments[0]).resolve()
        else:
            made = [sys.executable, "tools/bundle.py", "--out", str(work / "dist")]
            if not step("make the bundle", made, ROOT, dict(os.environ)):
                return 1
            bundle = next((work / "dist").glob("*.tar"))
        return int(not install_and_run(bundle, work))


def install_and_run(bundle: Path, work: Path) -> bool:
    """Unpack and install a bundle, and run the course in it."""
    print(f"{bundle.name}: {bundle.stat().st_size / 1e6:.0f} MB")
    with tarfile.open(bundle) as archive:
        archive.extractall(work / "unpacked", filter="data")
    unpacked, course = next((work / "unpacked").iterdir()), work / "course"
    (work / "home").mkdir()
    env, alone = environment(work / "home"), cut_off()
    python = str(course / ".venv" / "bin" / "python")
    if not step("install", [*alone, "python3", str(unpacked / "install.py"), "course"], work, env):
        return False
    steps = [
        ("set up again: nothing to do", ["python3", *AGAIN], course),
        ("simulate, and a stage", [python, "-c", SIMULATE], course),
        ("doctor, with a run of Flink", [python, "wmviz/doctor", "--run"], course),
        ("make lab", ["python3", "-c", LAB], course),
        ("tests of the engine", [python, "-m", "pytest", "-q", "tests/engine", "tests/test_setup.py"], course),
    ]
    failed = [what for what, command, folder in steps if not step(what, [*alone, *command], folder, env)]
    left = sorted(path.relative_to(work / "home").parts[0] for path in (work / "home").iterdir())
    print(f"installed: {size_mb(course):.0f} MB; left in the home folder: {', '.join(left) or 'nothing'}")
    return not failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
