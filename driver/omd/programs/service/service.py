"""What a service manager such as systemd wants to know of a program, by its protocol sd_notify.

A datagram to the Unix socket that NOTIFY_SOCKET names says that the program is ready, that it ends,
and that it lives. Only the main loop says the last, so that a loop that hangs is found; a thread of
its own would say it for ever. Without NOTIFY_SOCKET nothing is said.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Callable, MutableMapping

_log = logging.getLogger("omd.service")

_PATIENCE = 1.0  # seconds for which a message waits for room in the manager's queue
_AGAIN = 1.0  # seconds between two looks at work that does not turn
_LONGEST = 200  # characters of a status


class Service:
    """Tells the service manager how the program is.

    Args:
        address: of the manager's socket: a path, or a name that begins with @; None: there is none.
        watchdog: seconds after which the manager ends a program that is silent; None: never.
    """

    def __init__(self, address: str | None = None, watchdog: float | None = None) -> None:
        self._address = address
        # Half of the time, so that one late beat does not end the program.
        self._interval = None if address is None or watchdog is None else watchdog / 2
        self._next_beat = time.monotonic()
        self._is_ready = self._is_stopping = False
        self._usual = self._status = ""
        # Whether the work turns that the main loop only looks after.
        self.turns: Callable[[], bool] = lambda: True

    @classmethod
    def of_environment(cls, environ: MutableMapping[str, str] | None = None) -> Service:
        """Return what the environment names, and remove it there: it is not meant for children."""
        environ = os.environ if environ is None else environ
        address = environ.pop("NOTIFY_SOCKET", None)
        microseconds = environ.pop("WATCHDOG_USEC", "")
        process = environ.pop("WATCHDOG_PID", "")
        if address is not None and (len(address) < 2 or address[0] not in "/@"):
            _log.warning("NOTIFY_SOCKET names no Unix socket: %s", address)
            address = None
        is_meant = process in ("", str(os.getpid()))
        is_number = microseconds.isascii() and microseconds.isdecimal() and int(microseconds) > 0
        return cls(address, int(microseconds) / 1e6 if is_meant and is_number else None)

    @property
    def pause(self) -> float:
        """The seconds until the next beat is due; infinite without a watchdog."""
        if self._interval is None:
            return float("inf")
        return max(self._next_beat - time.monotonic(), 0.0)

    def ready(self, status: str) -> None:
        """Say, once, that the program has registered or listens."""
        if not self._is_ready:
            self._is_ready = True
            self._usual = self._status = status
            self._send(f"READY=1\nSTATUS={_one_line(status)}")

    def status(self, text: str | None = None) -> None:
        """Say in a few words what the program does; without them, that it does its usual work."""
        text = self._usual if text is None else text
        if text != self._status:
            self._status = text
            self._send(f"STATUS={_one_line(text)}")

    def beat(self) -> None:
        """Say that the program lives, if that is due; called by each turn of the main loop."""
        if self._interval is None or time.monotonic() < self._next_beat:
            return
        if self.turns():
            self._next_beat = time.monotonic() + self._interval
            self._send("WATCHDOG=1")
        else:
            self._next_beat = time.monotonic() + min(self._interval, _AGAIN)

    def stopping(self) -> None:
        """Say, once, that the program ends; a handler of signals may call it."""
        if not self._is_stopping:
            self._is_stopping = True
            self._send("STOPPING=1")

    def _send(self, message: str) -> None:
        if self._address is None:
            return
        address = f"\0{self._address[1:]}" if self._address[0] == "@" else self._address
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as to:
                to.settimeout(_PATIENCE)
                to.sendto(message.encode(), address)
        except OSError as error:  # the program goes on; the manager will see to it
            _log.warning("the service manager does not hear %r: %s", message, error)


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_LONGEST]
