"""Hands events to programs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress

from omd.programs.sender.sender import Outcome, Refused, Settled, Wait
from omd.programs.service.loop import signal_name
from omd.rooms.event.rows import TakeEventsRow

TIMEOUT = 10.0  # seconds that a program has
_UNFIT = 65  # EX_DATAERR of sysexits.h: the fault is the event's


class Command:
    """Starts a program for each event, without a shell, and gives it the body on stdin.

    What the program prints goes where this process prints its messages.

    Args:
        program: its path, without arguments.
        allowed: the paths of the programs that may be started.
        timeout: seconds that it has; then it and its children are killed.
    """

    def __init__(
        self, program: str, *, allowed: Sequence[str], timeout: float | None = None
    ) -> None:
        self.timeout = TIMEOUT if timeout is None else timeout
        self._program = program
        self._allowed = allowed

    def send(self, event: TakeEventsRow) -> Outcome:
        """Start the program, once."""
        # Who registers a sink is no user of this host, so the path must be named here too.
        if self._program not in self._allowed or not os.path.isabs(self._program):  # noqa: PTH117
            return Wait("its program is not named by --allow-command")
        try:
            process = subprocess.Popen(  # noqa: S603 - one that was named, without a shell
                [self._program],
                stdin=subprocess.PIPE,
                stdout=sys.stderr.fileno(),
                start_new_session=True,
            )
        except OSError as error:
            return Wait(f"its program can't be started: {error.strerror}")
        try:
            process.communicate(event.body.encode(), timeout=self.timeout)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if process.stdin is not None:
                process.stdin.close()
            return Wait(f"its program did not end within {self.timeout:g} s")
        if process.returncode == 0:
            return Settled()
        if process.returncode == _UNFIT:
            return Refused(_UNFIT, "")
        if process.returncode < 0:
            return Wait(f"its program was killed by {signal_name(-process.returncode)}")
        return Wait(f"its program ended with exit code {process.returncode}")

    def close(self) -> None:
        """It holds nothing."""
