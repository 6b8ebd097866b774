"""Renewal of a lease (docs/explanation/recovery.md, rule R6)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

from omd._core.periodic import Periodic

if TYPE_CHECKING:
    from omd._core.link import Link


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
        self._renew = renew
        self._lost = lost
        self._after_loss = after_loss
        self._refused: str | None = None
        self._wake = threading.Event()
        self._stopped = threading.Event()
        interval = self._lease / 5
        link = connect()  # the first beat opens it
        self._beats = Periodic(
            f"heartbeat-{name}",
            interval,
            interval - (time.monotonic() - granted),
            call=lambda: self._beat(link),
            refused=self._refuse,
            link=link,
        )
        self._watcher = threading.Thread(target=self._watch, name=f"omd-lease-{name}", daemon=True)
        self._watcher.start()

    def stop(self) -> None:
        """Stop the renewals; one that is on its way delays the caller by a second at most."""
        self._stopped.set()
        self._wake.set()
        self._beats.stop()
        if self._watcher is not threading.current_thread():
            self._watcher.join(timeout=1.0)

    def _beat(self, link: Link) -> bool:
        asked = time.monotonic()
        self._renew(link)
        self._deadline = asked + self._lease
        return False

    def _refuse(self, message: str) -> None:
        self._refused = message
        self._wake.set()

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
