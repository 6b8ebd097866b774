"""Renewal of a lease (docs/explanation/recovery.md, rule R6)."""

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
    """Renews a lease after each fifth of its length, and reports when that no longer works.

    It has two threads. One calls the database, on a connection of its own that it opens at the
    first renewal. The other watches the clock, because a call to a database that hangs does not
    return.

    Args:
        name: the name of the instance, for threads and messages.
        lease: the length of the lease.
        granted: when the lease was requested, in seconds of `time.monotonic`.
        connect: makes the connection.
        renew: asks the database for one renewal.
        lost: called once, with the reason, at the latest a tenth of the lease before it expires.
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
        """Stop the renewals; one that is on its way delays the caller by a second at most."""
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
                except Exception as error:  # noqa: BLE001 - any error is retried until time is up
                    _log.warning("the lease was not renewed, trying again: %s", error)
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
        # A job may start another Spark job after the first was cancelled: cancel until it ends.
        while not self._stopped.wait(1.0):
            self._after_loss()
