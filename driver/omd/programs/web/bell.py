"""How threads wake the tabs of a loop."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress


class Bell:
    """Sets events of a loop for other threads, and wakes it once for many of them.

    A loop is woken by a byte in a pipe, which also brings the signals; with a byte for each of
    hundreds of tabs it is full, and SIGTERM is lost.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._lock = threading.Lock()
        self._rung: set[asyncio.Event] = set()

    def ring(self, event: asyncio.Event) -> None:
        """Set an event soon; any thread may call it."""
        with self._lock:
            is_first = not self._rung
            self._rung.add(event)
        if is_first:
            with suppress(RuntimeError):  # the loop has ended, and its tabs with it
                self.loop.call_soon_threadsafe(self._answer)

    def _answer(self) -> None:
        with self._lock:
            rung, self._rung = self._rung, set()
        for event in rung:
            event.set()
