"""A program in a terminal of so many columns."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import struct
import subprocess
import termios
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


def shown(command: Sequence[str | Path], columns: int, env: Mapping[str, str]) -> str:
    """Return what a terminal shows of what a program prints to stdout and stderr."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    told = b""
    environment = {name: value for name, value in env.items() if name != "COLUMNS"}
    with subprocess.Popen(command, stdin=its, stdout=its, stderr=its, env=environment):
        os.close(its)
        with contextlib.suppress(OSError):  # EIO: it has ended
            while part := os.read(ours, 65536):
                told += part
    os.close(ours)
    return told.decode().replace("\r", "")
