"""Workers of dispatch in processes of their own."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HANDLERS = Path(__file__).parents[1] / "dispatch"  # the module of handlers of tests


class Process:
    """A worker in a process of its own.

    Attributes:
        told: what it has told on stderr so far.
    """

    def __init__(self, dsn: str, *arguments: str) -> None:
        self.told: list[str] = []
        self._more = threading.Condition()
        self.process = subprocess.Popen(
            [Path(sys.executable).with_name("omd"), "worker", *arguments],
            stderr=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "OMD_DSN": dsn,
                "PYTHONPATH": os.pathsep.join([str(HANDLERS), os.environ.get("PYTHONPATH", "")]),
            },
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._more:
                self.told.append(line)
                self._more.notify_all()
        with self._more:
            self.told.append("")  # the end
            self._more.notify_all()

    def until(self, pattern: str) -> str:
        """Wait until it has told that; return the line."""

        def found() -> str | None:
            return next((line for line in self.told if re.search(pattern, line)), None)

        with self._more:
            self._more.wait_for(lambda: found() or "" in self.told, timeout=180)
        line = found()
        assert line is not None, f"{pattern} was not told:\n{''.join(self.told)}"
        return line

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def ends(self, code: int = 0) -> str:
        """Wait for its end with this exit code; return what it has told."""
        ended = self.process.wait(timeout=180)
        self._reader.join(timeout=10)
        assert ended == code, "".join(self.told)
        return "".join(self.told)


@pytest.fixture
def start(dsn: str) -> Iterator[Callable[..., Process]]:
    """A function that starts a worker."""
    with contextlib.ExitStack() as stack:

        def run(*arguments: str) -> Process:
            worker = Process(dsn, *arguments)
            stack.callback(worker.process.wait)
            stack.callback(worker.process.kill)
            return worker

        yield run


def until(condition: Callable[[], Any], seconds: float = 180) -> Any:
    """Wait for the database, so long at most."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found
