"""The connections of a person: two at most, closed after an idle minute and at logout.

What somebody may do, the database judges, so an action and a business row go through a connection
of the person's own. It is never lent to anybody else.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psycopg

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from omd.programs.web.opening import Connection

    Open = Callable[[], Connection]

MOST = 2
REST = 60.0  # seconds


class AllAtWorkError(psycopg.Error):
    """Each connection that the person may have is at work."""

    def __init__(self) -> None:
        super().__init__("both of your connections are at work; see what is, or wait for its end")


@dataclass(eq=False)
class Held:
    """A connection, or the place of one that is being opened.

    Attributes:
        connection: None while it is opened.
        is_at_work: whether somebody has taken it.
        idle_since: by time.monotonic().
        by: the session that has taken it for more than a request.
        is_ended: it is closed when it is given back.
    """

    connection: Connection | None = None
    is_at_work: bool = True
    idle_since: float = 0.0
    by: object = None
    is_ended: bool = False

    @property
    def opened(self) -> Connection:
        """The connection of what was taken."""
        if self.connection is None:
            raise RuntimeError("The connection is being opened.")
        return self.connection


class Personal:
    """The connections of one person. Every method may be called by any thread.

    Args:
        open_: opens a connection that acts as the person.
        most: so many there are at once.
        rest: seconds after which an idle one is closed.
    """

    def __init__(self, open_: Open, most: int = MOST, rest: float = REST) -> None:
        self._open = open_
        self._most = most
        self._rest = rest
        self._held: list[Held] = []  # guarded by _changed
        self._changed = threading.Condition()
        self._closer: threading.Thread | None = None  # guarded by _changed

    @property
    def is_at_work(self) -> bool:
        """Whether a connection is lent."""
        with self._changed:
            return any(held.is_at_work for held in self._held)

    def renew(self, open_: Open) -> None:
        """Open connections in another way from now on."""
        self._open = open_

    def take(self, wait: float = 5.0, by: object = None) -> Held:
        """Take a connection that has no transaction open; whoever does gives it back.

        Args:
            wait: seconds until one must be free.
            by: the session for which something goes on when its request has ended.

        Raises:
            AllAtWorkError: none was free in time.
        """
        held = self._reserve(time.monotonic() + wait)
        held.by = by
        try:
            if held.connection is not None:
                # It may have died while idle; nothing was sent yet, so another one will do.
                try:
                    held.connection.execute("ROLLBACK")
                except psycopg.OperationalError:
                    held.connection.close()
                    held.connection = None
            if held.connection is None:
                held.connection = self._open()
                _end_with_the_client(held.connection)
            held.connection.pin()
        except BaseException:
            self._drop(held)
            raise
        return held

    def _reserve(self, deadline: float) -> Held:
        with self._changed:
            while True:
                for held in self._held:
                    if not held.is_at_work:
                        held.is_at_work = True
                        return held
                if len(self._held) < self._most:
                    held = Held()
                    self._held.append(held)
                    return held
                left = deadline - time.monotonic()
                if left <= 0:
                    raise AllAtWorkError
                self._changed.wait(left)

    def give_back(self, held: Held) -> None:
        """Keep a connection for a while, or close it when it can't be used again."""
        connection = held.opened
        try:
            if connection.info.transaction_status:
                connection.execute("ROLLBACK")
            is_usable = not connection.closed
        except psycopg.Error:
            is_usable = False
        with self._changed:
            if is_usable and not held.is_ended:
                held.is_at_work, held.by, held.idle_since = False, None, time.monotonic()
                if self._closer is None:
                    self._closer = threading.Thread(
                        target=self._close_idle, name="omd web: idle", daemon=True
                    )
                    self._closer.start()
                self._changed.notify_all()
                return
        self._drop(held)

    @contextlib.contextmanager
    def connection(self, wait: float = 5.0) -> Iterator[Connection]:
        """Lend a connection, in autocommit, for as long as the block lasts."""
        held = self.take(wait)
        try:
            yield held.opened
        finally:
            self.give_back(held)

    def end(self, by: object) -> None:
        """Close what is idle, and end what a session has begun: its person logged out."""
        self._end(lambda held: held.by is by)

    def end_all(self) -> None:
        """Close all, and end what they do."""
        self._end(lambda _: True)

    def rest(self) -> None:
        """Close what is idle, and the others when their work is over: all sessions expired."""
        with self._changed:
            for held in self._held:
                held.is_ended = True
        self._end(lambda _: False)

    def _end(self, is_chosen: Callable[[Held], bool]) -> None:
        with self._changed:
            idle = [held for held in self._held if not held.is_at_work]
            self._held = [held for held in self._held if held.is_at_work]
            chosen = [held for held in self._held if is_chosen(held)]
            for held in chosen:
                held.is_ended = True
            self._changed.notify_all()
        _close(idle)
        for held in chosen:
            if held.connection is not None:
                break_off(held.connection)

    def _drop(self, held: Held) -> None:
        _close([held])
        with self._changed:
            if held in self._held:
                self._held.remove(held)
            self._changed.notify_all()

    def _close_idle(self) -> None:
        while True:
            with self._changed:
                now = time.monotonic()
                idle = [held for held in self._held if not held.is_at_work]
                old = [held for held in idle if now - held.idle_since >= self._rest]
                self._held = [held for held in self._held if held not in old]
                if old:
                    self._changed.notify_all()
                elif not idle:
                    self._closer = None
                    return
                else:
                    oldest = min(held.idle_since for held in idle)
                    self._changed.wait(max(oldest + self._rest - now, 0.01))
            _close(old)


def _close(held: list[Held]) -> None:
    for one in held:
        if one.connection is not None:
            one.connection.close()


def break_off(connection: Connection) -> None:
    """Cancel what a connection does and end it; a thread that waits for it gets an error.

    Closing it here would pull it from under that thread.
    """
    with contextlib.suppress(psycopg.Error):
        connection.cancel_safe(timeout=1.0)
    with (
        contextlib.suppress(psycopg.Error, OSError),
        socket.socket(fileno=os.dup(connection.fileno())) as same,
    ):
        same.shutdown(socket.SHUT_RDWR)


def _end_with_the_client(connection: Connection) -> None:
    """Let the server end a statement whose client is gone; on some platforms it can't see that."""
    if connection.is_pooled:
        return  # its session is not ours
    with contextlib.suppress(psycopg.DataError, psycopg.NotSupportedError):
        connection.execute("SET client_connection_check_interval = '10s'")
