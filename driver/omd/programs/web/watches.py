"""Watches: sections of screens, computed once for all tabs that show them, while they are shown.

One connection listens to the channels of all rooms. A notification is a reason to look, and so is a
new connection; what it says is not read. Two connections compute: one the watches that last took
long, one the others, so that a long one does not hold up a short one. Between two computations a
watch rests for nine times what the last one took, so it never takes more than a tenth of a
connection. Without viewers there is no statement, and after a minute no connection.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
import threading
import time
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

import psycopg

from omd.programs.page.markup import Html
from omd.programs.web import opening
from omd.programs.web.bell import Bell
from omd.programs.web.opening import is_standby

REST = 0.25  # seconds between two computations of a watch, at least
SHARE = 9  # and so many times as long as the last one took
INTERVAL = 2.0  # what does not notify is seen after so many seconds
LONG = 0.1  # seconds; what last took longer has a connection of its own
IDLE = 60.0  # seconds without viewers until the connections are closed
CHANNELS = ("omd_event", "omd_dispatch", "omd_delivery", "omd_lineage", "omd_published")
_SIZE = 8  # bytes of a digest

_log = logging.getLogger("omd.web")

Connection = psycopg.Connection[Any]


def digest(html: str) -> str:
    """Return a short text that is the same for the same markup."""
    return hashlib.blake2b(html.encode(), digest_size=_SIZE).hexdigest()


def is_digest(text: str) -> bool:
    """Return whether a text looks like one of `digest`."""
    return re.fullmatch(f"[0-9a-f]{{{2 * _SIZE}}}", text) is not None


@dataclass(frozen=True)
class Picture:
    """What a computation has made."""

    number: int
    html: Html
    digest: str


class Viewer(Protocol):
    """Who looks at watches; both methods are called by other threads."""

    def see(self, watch: Watch) -> None:
        """Take notice that the watch has a new picture."""

    def be_live(self, is_live: bool) -> None:
        """Take notice that the pictures are live from now on, or no longer."""


class Watch:
    """One section with its parameters.

    `compute` makes its markup through a connection, and raises only when this is lost.
    """

    def __init__(self, key: Hashable, compute: Callable[[Connection], Html]) -> None:
        self.key = key
        self.compute = compute
        self.viewers: set[Viewer] = set()
        self.picture: Picture | None = None
        self.number = 0  # of the computation that began last
        self.asked: float | None = None  # when there was a reason to look, since then
        self.is_at_work = False
        self.begun = self.ended = float("-inf")
        self.took = 0.0

    @property
    def rested(self) -> float:
        """When it may be computed again, on the clock of `time.monotonic`."""
        return self.ended + max(REST, SHARE * self.took)

    @property
    def due(self) -> float:
        """When it is to be computed again."""
        return max(self.rested, self.begun + INTERVAL if self.asked is None else self.asked)

    @property
    def turn(self) -> float:
        """Whose is smaller goes first: of those that are due at once, the shorter one."""
        return self.due + 2 * self.took

    def ask(self) -> None:
        """Take notice of a reason to look."""
        if self.asked is None:
            self.asked = time.monotonic()


class Watches:
    """All watches of a page.

    Args:
        connect: opens a connection of the page that is in autocommit.
    """

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._changed = threading.Condition()
        self._watches: dict[Hashable, Watch] = {}
        self._viewers: dict[Viewer, int] = {}
        self._left = float("-inf")  # when the last viewer left
        self._unwell: set[str] = set()  # the threads that have no connection
        self._connections: dict[str, Connection] = {}
        self._threads: list[threading.Thread] = []
        self._closing = threading.Event()
        self._bell: Bell | None = None

    @property
    def is_live(self) -> bool:
        """Whether all connections work, as far as is known."""
        return not self._unwell

    @property
    def is_closed(self) -> bool:
        """Whether the page ends."""
        return self._closing.is_set()

    def bell(self) -> Bell:
        """Return what wakes the viewers of the loop that runs."""
        loop = asyncio.get_running_loop()
        if self._bell is None or self._bell.loop is not loop:
            self._bell = Bell(loop)
        return self._bell

    def show(
        self, key: Hashable, compute: Callable[[Connection], Html], viewer: Viewer
    ) -> tuple[Watch, int]:
        """Return the watch, which the viewer looks at from now on, and a number.

        Pictures with a smaller number were begun before, and may be older than what it has.
        """
        with self._changed:
            self._start()
            watch = self._watches.get(key)
            if watch is None:
                watch = self._watches[key] = Watch(key, compute)
            watch.viewers.add(viewer)
            self._viewers[viewer] = self._viewers.get(viewer, 0) + 1
            watch.ask()
            self._changed.notify_all()
            return watch, watch.number + 1

    def leave(self, watch: Watch, viewer: Viewer) -> None:
        """Look at the watch no longer."""
        with self._changed:
            if viewer not in watch.viewers:
                return
            watch.viewers.remove(viewer)
            self._viewers[viewer] -= 1
            if not self._viewers[viewer]:
                del self._viewers[viewer]
            if not self._viewers:
                self._left = time.monotonic()
            self._changed.notify_all()

    def end(self) -> None:
        """Say that the page ends; streams end, and nothing more is computed."""
        self._closing.set()
        with self._changed:
            self._changed.notify_all()
            viewers = list(self._viewers)
        for viewer in viewers:
            viewer.be_live(False)

    def close(self) -> None:
        """End, cancel what is computed, and close the connections."""
        self.end()
        with self._changed:
            connections = list(self._connections.values())
        for connection in connections:
            with suppress(psycopg.Error):
                connection.cancel_safe(timeout=1)
        for thread in self._threads:
            thread.join(timeout=2)

    def _start(self) -> None:
        if self._threads or self._closing.is_set():
            return
        works = {"listener": self._listen, "short": self._compute, "long": self._compute}
        for name, work in works.items():
            thread = threading.Thread(target=self._keep, args=(name, work), name=f"omd web {name}")
            thread.daemon = True
            self._threads.append(thread)
            thread.start()

    def _keep(self, name: str, work: Callable[[str, Connection], None]) -> None:
        """Work with a connection while there are viewers, and replace it when it is lost."""
        pause = 0.1
        while self._await_viewers():
            try:
                with self._connect() as connection:
                    self._connections[name] = connection
                    work(name, connection)
                    pause = 0.1
            except psycopg.Error as error:
                if self._closing.is_set():
                    return
                _log.warning("the %s connection was lost: %s", name, str(error).strip())
                self._be_well(name, is_well=False)
                self._closing.wait(pause)
                pause = min(2 * pause, 2.0)
            finally:
                self._connections.pop(name, None)

    def _await_viewers(self) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._viewers or self._closing.is_set())
        return not self._closing.is_set()

    def _is_needed(self) -> bool:
        return not self._closing.is_set() and (
            bool(self._viewers) or time.monotonic() < self._left + IDLE
        )

    def _be_well(self, name: str, *, is_well: bool) -> None:
        with self._changed:
            was_live = self.is_live
            (self._unwell.discard if is_well else self._unwell.add)(name)
            viewers = list(self._viewers) if self.is_live != was_live else []
        for viewer in viewers:
            viewer.be_live(is_well)

    def _listen(self, name: str, connection: Connection) -> None:
        if is_standby(connection):  # it sends nothing; each watch looks at its interval
            self._be_well(name, is_well=True)
            while self._is_needed() and is_standby(connection):
                self._closing.wait(INTERVAL)
            if not self._is_needed():
                return
        if (
            isinstance(connection, opening.Connection) and connection.is_pooled
        ):  # nothing can be heard: each watch looks after INTERVAL
            self._be_well(name, is_well=True)
            self._ask_all()
            while self._is_needed():
                self._closing.wait(1)
                connection.execute("SELECT")
            return
        connection.execute("; ".join(f"LISTEN {channel}" for channel in CHANNELS))
        self._be_well(name, is_well=True)
        self._ask_all()
        while self._is_needed():
            if list(connection.notifies(timeout=1, stop_after=1)):
                self._ask_all()
                # Each watch rests for longer anyway; a flood is read in larger pieces.
                self._closing.wait(REST / 2)

    def _ask_all(self) -> None:
        with self._changed:
            for watch in self._watches.values():
                watch.ask()
            self._changed.notify_all()

    def _compute(self, name: str, connection: Connection) -> None:
        self._be_well(name, is_well=True)
        while (watch := self._take(is_long=name == "long")) is not None:
            html = None
            try:
                html = watch.compute(connection)
            finally:
                self._put(watch, html)

    def _take(self, *, is_long: bool) -> Watch | None:
        """Return the watch whose turn it is, or None when the connection is no longer needed."""
        with self._changed:
            while self._is_needed():
                now = time.monotonic()
                mine = [
                    watch
                    for watch in self._watches.values()
                    if watch.viewers and not watch.is_at_work and (watch.took > LONG) == is_long
                ]
                due = [watch for watch in mine if watch.due <= now]
                if due:
                    watch = min(due, key=lambda each: each.turn)
                    watch.is_at_work, watch.asked = True, None
                    watch.number += 1
                    watch.begun = now
                    return watch
                if mine:
                    self._changed.wait(min(watch.due for watch in mine) - now)
                else:
                    self._changed.wait(None if self._viewers else self._left + IDLE - now)
        return None

    def _put(self, watch: Watch, html: Html | None) -> None:
        with self._changed:
            watch.is_at_work = False
            watch.ended = time.monotonic()
            watch.took = watch.ended - watch.begun
            if html is None:
                watch.ask()
            else:
                watch.picture = Picture(watch.number, html, digest(html))
            viewers = list(watch.viewers)
            # One that nobody looks at is forgotten when it has rested, not before: whoever opens
            # and closes a tab again and again gains nothing.
            for each in list(self._watches.values()):
                if not each.viewers and not each.is_at_work and each.rested < watch.ended:
                    del self._watches[each.key]
            self._changed.notify_all()
        if html is not None:
            for viewer in viewers:
                viewer.see(watch)
