"""Keeping a lease (docs/explanation/recovery.md, rule R6)."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from omd._core.errors import StateError

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta

    from omd._core.link import Link

_log = logging.getLogger("omd.heartbeat")


class Heartbeat:
    """Renews a lease every fifth of it, and tells when that no longer works.

    Two threads: one talks to the database, on a connection of its own that is opened at the first
    renewal; the other watches the clock, since a call to a database that hangs does not return.

    Args:
        name: of the instance, for threads and messages.
        lease: its length.
        granted: when it was asked for, in `time.monotonic` seconds.
        connect: makes the connection.
        renew: asks the database once.
        lost: called once, with the reason, a tenth of the lease before its end at the latest.
        after_loss: called every second from then on until `stop`.
    """

    def __init__(
        self,
        name: str,
        lease: timedelta,
        granted: float,
        *,
        connect: Callable[[], Link],
        renew: Callable[[Link], None],
        lost: Callable[[str], None],
        after_loss: Callable[[], None],
    ) -> None:
        self._lease = lease.total_seconds()
        self._deadline = granted + self._lease
        self._connect = connect
        self._renew = renew
        self._lost = lost
        self._after_loss = after_loss
        self._refused: str | None = None
        self._wake = threading.Event()
        self._stopped = threading.Event()
        self._threads = [
            threading.Thread(target=self._beat, name=f"omd-heartbeat-{name}", daemon=True),
            threading.Thread(target=self._watch, name=f"omd-lease-{name}", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop; a renewal on its way does not delay the caller for long."""
        self._stopped.set()
        self._wake.set()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(timeout=1.0)

    def _beat(self) -> None:
        interval = self._lease / 5
        retry = min(interval / 5, 5.0)
        link = self._connect()
        try:
            pause = interval - (time.monotonic() - (self._deadline - self._lease))
            while not self._stopped.wait(max(pause, 0)):
                asked = time.monotonic()
                try:
                    self._renew(link)
                except StateError as refusal:
                    self._refused = refusal.message
                    self._wake.set()
                    return
                except Exception as error:  # noqa: BLE001 - whatever it is, only time decides
                    _log.warning("lease not renewed, trying again: %s", error)
                    pause = retry
                else:
                    self._deadline = asked + self._lease
                    pause = interval
        finally:
            link.close()

    def _watch(self) -> None:
        while True:
            left = self._deadline - self._lease / 10 - time.monotonic()
            if left <= 0 or self._wake.wait(left):
                break
        if self._stopped.is_set():
            return
        self._lost(self._refused or "the lease could not be renewed in time")
        # A job may start another Spark job after the first was cancelled: cancel until it gives up.
        while not self._stopped.wait(1.0):
            self._after_loss()
