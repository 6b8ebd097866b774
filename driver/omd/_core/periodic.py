"""A call of the database again and again, in a thread of its own."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from omd._core.errors import StateError

if TYPE_CHECKING:
    from omd._core.link import Link

_log = logging.getLogger("omd.periodic")


class Periodic:
    """Calls the database after each interval, on a thread of its own.

    After an error the next call follows in a fifth of the interval; a `StateError` ends the calls.

    Args:
        name: of the thread, and of what is called, in messages.
        interval: seconds between the beginnings of two calls.
        first: seconds until the first call.
        call: makes one call; it returns whether the next one follows at once.
        refused: is called with the message of the `StateError` that has ended the calls.
        link: the connection of the calls, if it is theirs alone; the thread closes it.
    """

    def __init__(
        self,
        name: str,
        interval: float,
        first: float,
        *,
        call: Callable[[], bool],
        refused: Callable[[str], None],
        link: Link | None = None,
    ) -> None:
        self._name = name
        self._interval = interval
        self._link = link
        self._call = call
        self._refused = refused
        self._stopped = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=[first], name=f"omd-{name}", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Stop the calls; one that is on its way delays the caller by a second at most."""
        self._stopped.set()
        if self._thread is not threading.current_thread():
            self._thread.join(timeout=1.0)

    def _run(self, pause: float) -> None:
        works = True
        try:
            while not self._stopped.wait(max(pause, 0)):
                asked = time.monotonic()
                try:
                    is_urgent = self._call()
                except StateError as refusal:
                    self._refused(refusal.message)
                    return
                except Exception as error:  # noqa: BLE001 - any error is retried
                    if works:  # it is logged once, not until the database is back
                        _log.warning("%s has failed, trying again: %s", self._name, error)
                    works = False
                    pause = min(self._interval / 5, 5.0)
                else:
                    works = True
                    pause = 0.0 if is_urgent else asked + self._interval - time.monotonic()
        finally:
            if self._link is not None:
                self._link.close()
