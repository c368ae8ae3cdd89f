"""Folders of this process for what Flink needs, and those that processes which are gone have left."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def new_folder(prefix: str) -> Path:
    """Make a temporary folder and note in it whose it is."""
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    claim(folder)
    return folder


def claim(folder: Path) -> None:
    """Note in a folder that it belongs to this process."""
    (folder / "owner").write_text(f"{os.getpid()}\n{began(os.getpid())}", encoding="utf-8")


def left_behind(prefix: str) -> Iterator[Path]:
    """Give the folders of this kind whose process is gone.

    A process that was killed, such as a kernel that was restarted, removes nothing. What has no owner is left alone.
    """
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with suppress(OSError, ValueError):
            owner, _, then = (folder / "owner").read_text(encoding="utf-8").partition("\n")
            if began(int(owner)) != then:  # the number may have gone to another process
                yield folder


def began(pid: int) -> str:
    """Say when a process began, so that it can be told from a later one with its number; empty text if there is none.

    Linux counts clock ticks since it started. The date that ps makes of them moves when the clock is set, and with it
    all processes would seem to be gone.
    """
    if sys.platform != "linux":
        return ask_ps(pid, "lstart")
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return status.rpartition(")")[2].split()[19]


def ask_ps(pid: int, what: str) -> str:
    """Ask ps about a process; empty text if there is none."""
    asked = ["ps", "-ww", "-o", f"{what}=", "-p", str(pid)]
    return subprocess.run(asked, capture_output=True, text=True, check=False, timeout=10).stdout.strip()
