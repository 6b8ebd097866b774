"""The registration of a worker as a backend of its group."""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Callable
from datetime import timedelta

from omd._core.link import Link
from omd._core.periodic import Periodic
from omd.programs.worker.slots import Slots
from omd.rooms.dispatch.calls import DispatchCalls


class Registration:
    """A backend of a group, under a name that nobody has had before; a thread renews it.

    Args:
        group: the group.
        ttl: seconds after which it counts as dead when it is not renewed.
        slots: start tasks of this backend, as long as it is renewed in time.
        connect: makes the connection of the renewals.
        wake: has the main thread look at what a renewal has answered.
    """

    def __init__(
        self,
        group: str,
        ttl: float,
        slots: Slots,
        connect: Callable[[], Link],
        wake: Callable[[], None],
    ) -> None:
        self.backend_id = ""  # its name; the main thread sets it
        self.is_gone = False  # the database knows it no more; both threads set it
        self.position: int | None = None  # its place in its group; the renewals set it
        self._cancelled: set[int] = set()  # the renewals add to it, the main thread takes it
        self._group = group
        self._ttl = ttl
        self._slots = slots
        self._connect = connect
        self._wake = wake
        self._renewal: Periodic | None = None

    def begin(self, calls: DispatchCalls) -> None:
        """Register under a fresh name, and renew that from now on."""
        self.end()
        backend_id = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self.backend_id = backend_id
        asked = time.monotonic()
        self.position = calls.register_backend(
            self._group,
            backend_id,
            ttl=timedelta(seconds=self._ttl),
            slots=len(self._slots.slots),
        ).position
        self.is_gone = False
        self._slots.backend_id = backend_id
        self._slots.start_until = asked + self._ttl * 2 / 3
        link = self._connect()
        self._renewal = Periodic(
            "renewal",
            self._ttl / 3,
            self._ttl / 3,
            call=lambda: self._renew(link, backend_id),
            refused=self._refuse,
            link=link,
        )

    def end(self) -> None:
        """Renew it no more."""
        if self._renewal is not None:
            self._renewal.stop()

    def take_cancelled(self) -> set[int]:
        """Return the tasks to be cancelled, which renewals have named since the last call."""
        cancelled, self._cancelled = self._cancelled, set()
        return cancelled

    def _renew(self, link: Link, backend_id: str) -> bool:
        asked = time.monotonic()
        answer = DispatchCalls(link).renew_backend(backend_id)
        self._slots.start_until = asked + self._ttl * 2 / 3
        self.position = answer.position
        if answer.cancel:
            self._cancelled.update(answer.cancel)
            self._wake()
        return False

    def _refuse(self, _message: str) -> None:
        self.is_gone = True
        self._wake()
