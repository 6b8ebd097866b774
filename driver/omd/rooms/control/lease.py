"""The lease of a run, and its renewal (docs/explanation/recovery.md, rule R6)."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from omd._core.error_codes import InstanceNotExecuting, LeaseExpired
from omd._core.errors import LeaseLost
from omd._core.periodic import Periodic
from omd.rooms.control.calls import ControlCalls

if TYPE_CHECKING:
    from omd._core.link import Link
    from omd.rooms.control.connection import Connection

_log = logging.getLogger("omd.run")


class Lease:
    """Whether a run may go on. It is renewed after each fifth of its length while the run executes.

    It has two threads. One calls the database, on a connection of its own that it opens at the
    first renewal. The other watches the clock, because a call to a database that hangs does not
    return.

    Args:
        length: after how long without a renewal the run is declared dead; None: never.
        run: what is cancelled when the lease is lost, and what messages name.
    """

    def __init__(self, length: timedelta | None, run: Any) -> None:
        self.length = length
        self.lost: str | None = None  # why the run must stop; None: it may go on
        self._run = run
        self._deadline = 0.0  # in seconds of `time.monotonic`
        self._refused: str | None = None  # what the database said to a renewal
        self._wake = threading.Event()
        self._stopped = threading.Event()
        self._beats: Periodic | None = None  # None: it is not renewed
        self._watcher: threading.Thread | None = None

    @property
    def is_lost(self) -> bool:
        """Whether the run was declared dead, or could not renew its lease."""
        return self.lost is not None

    def start(
        self,
        control: Connection,
        granted: float,
        renew: Callable[[ControlCalls, timedelta], None],
    ) -> None:
        """Renew it from now on.

        Args:
            control: the connection of the run.
            granted: when the lease was requested, in seconds of `time.monotonic`.
            renew: asks the database for one renewal.
        """
        if self.length is None:
            return
        length, seconds = self.length, self.length.total_seconds()
        if time.monotonic() - granted > seconds / 5:
            # A begin that rolls back may take longer than the lease, which starts at its end.
            granted = time.monotonic()
            try:
                renew(control._omd, length)
            except (InstanceNotExecuting, LeaseExpired) as refusal:
                self.lose(refusal.message)
                raise
        self._deadline = granted + seconds
        link = control._new_link(  # the first beat opens it
            name="-heartbeat",
            patience=timedelta(0),
            connect_timeout=str(max(2, int(seconds / 5))),
            tcp_user_timeout=str(max(1000, int(seconds * 200))),
        )
        name = f"{self._run._kind}-{self._run._instance_id}"
        self._beats = Periodic(
            f"heartbeat-{name}",
            seconds / 5,
            seconds / 5 - (time.monotonic() - granted),
            call=lambda: self._beat(link, length, renew),
            refused=self._refuse,
            link=link,
        )
        self._watcher = threading.Thread(target=self._watch, name=f"omd-lease-{name}", daemon=True)
        self._watcher.start()

    def stop(self) -> None:
        """Stop the renewals; one that is on its way delays the caller by a second at most."""
        self._stopped.set()
        self._wake.set()
        if self._beats is not None:
            self._beats.stop()
        if self._watcher not in (None, threading.current_thread()):
            self._watcher.join(timeout=1.0)

    def lose(self, reason: str) -> None:
        """Stop the run, for a reason; of several the first counts."""
        if self.lost is None:
            self.lost = reason
            _log.error("%s %s lost its lease: %s", self._run._kind, self._run, reason)
            self._run._cancel()

    def check(self) -> None:
        """Raise `LeaseLost` when the run must stop."""
        if self.is_lost:
            raise self.error()

    def error(self) -> LeaseLost:
        """Return what is raised in a run that must stop."""
        return LeaseLost(
            f"{self._run._kind} {self._run} outlived its lease: {self.lost}",
            hint="Start it again: the next begin rolls its rows back.",
        )

    def _beat(
        self, link: Link, length: timedelta, renew: Callable[[ControlCalls, timedelta], None]
    ) -> bool:
        asked = time.monotonic()
        renew(ControlCalls(link), length)
        self._deadline = asked + length.total_seconds()
        return False

    def _refuse(self, message: str) -> None:
        self._refused = message
        self._wake.set()

    def _watch(self) -> None:
        """Lose the lease when it is refused, at the latest a tenth of it before it expires."""
        length = self.length.total_seconds() if self.length is not None else 0.0
        while True:
            left = self._deadline - length / 10 - time.monotonic()
            if left <= 0 or self._wake.wait(left):
                break
        if self._stopped.is_set():
            return
        self.lose(self._refused or "the lease could not be renewed in time")
        # A job may start another Spark job after the first was cancelled: cancel until it ends.
        while not self._stopped.wait(1.0):
            self._run._cancel()
