"""Servers of a process that was ended or killed: a process beside it stops and removes them.

It gets their folders through a pipe, which the system closes when the writer is dead.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

_beside: subprocess.Popen[str] | None = None


def end_with_us(folder: Path) -> None:
    """Have the servers in a folder stopped, and the folder removed, when this process is gone."""
    global _beside
    if _beside is None:
        _beside = subprocess.Popen(
            [sys.executable, "-IS", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,  # what is sent to our group must not end it
        )
        atexit.register(_end)
        os.register_at_fork(after_in_child=_close)
    assert _beside
    assert _beside.stdin
    _beside.stdin.write(f"{folder}\n")
    _beside.stdin.flush()


def _end() -> None:
    if _beside and _beside.stdin:
        _beside.stdin.close()
        _beside.wait()


def _close() -> None:
    """Close the pipe in a fork, which may outlive us."""
    global _beside
    if _beside and _beside.stdin:
        os.close(_beside.stdin.fileno())
        _beside = None


def _remove(folder: Path) -> None:
    pids = []
    for file in folder.rglob("postmaster.pid"):
        with contextlib.suppress(OSError, ValueError):
            pid = int(file.read_text(encoding="utf-8").partition("\n")[0])
            works_in = Path(f"/proc/{pid}/cwd")  # the number may be another's by now
            if not Path("/proc/self").exists() or works_in.samefile(file.parent):
                os.kill(pid, signal.SIGQUIT)
                pids.append(pid)
    until = time.monotonic() + 30
    for pid in pids:
        with contextlib.suppress(OSError):
            while time.monotonic() < until:
                os.kill(pid, 0)
                time.sleep(0.02)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    for name in sys.stdin.read().splitlines():
        _remove(Path(name))
