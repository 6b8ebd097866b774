"""The connections of the people: two a person, closed after an idle minute and at logout.

What somebody may do, the database judges, so an action and a business row go through a connection
of the person's own. It is never lent to anybody else, and what it holds belongs to one session: a
second session of the same person counts with the first, but opens its own.
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

    from omd.web.opening import Connection

    Open = Callable[[], Connection]

MOST = 2
REST = 60.0


class AllAtWorkError(psycopg.Error):
    """Each connection that the person may have is at work."""

    def __init__(self) -> None:
        super().__init__("both of your connections are at work; see what is, or wait for its end")


def break_off(connection: Connection) -> None:
    """Cancel what the connection does and end it; a thread that waits for it gets an error.

    Closing it here would pull it from under that thread.
    """
    with contextlib.suppress(psycopg.Error):
        connection.cancel_safe(timeout=2.0)
    with (
        contextlib.suppress(psycopg.Error, OSError),
        socket.socket(fileno=os.dup(connection.fileno())) as same,
    ):
        same.shutdown(socket.SHUT_RDWR)


@dataclass(eq=False)
class Held:
    """A connection, or the place of one that is being opened."""

    user: str
    session: str
    connection: Connection | None = None
    is_at_work: bool = True
    idle_since: float = 0.0

    @property
    def opened(self) -> Connection:
        """The connection of what was taken."""
        if self.connection is None:
            raise RuntimeError("The connection is being opened.")
        return self.connection


class Connections:
    """All connections of all people. Every method may be called by any thread."""

    def __init__(self, most: int = MOST, rest: float = REST) -> None:
        self._most = most
        self._rest = rest
        self._held: list[Held] = []  # guarded by _changed
        self._ended: set[str] = set()  # sessions with a connection at work; guarded by _changed
        self._changed = threading.Condition()
        self._closer: threading.Thread | None = None  # guarded by _changed

    def of(self, user: str, session: str, open_: Open) -> Personal:
        """Return what a session takes its connections from."""
        return Personal(self, user, session, open_)

    def take(self, user: str, session: str, open_: Open, wait: float) -> Held:
        """Return a connection of the session that nobody uses, with no transaction open."""
        deadline = time.monotonic() + wait
        held, dropped = self._reserve(user, session, deadline)
        if dropped is not None:
            dropped.close()
        try:
            if held.connection is not None:
                # It may have died while idle; nothing was sent yet, so another will do.
                try:
                    held.connection.execute("ROLLBACK")
                except psycopg.OperationalError:
                    held.connection.close()
                    held.connection = None
            if held.connection is None:
                held.connection = open_()
                _tell_of_a_lost_client(held.connection)
            self._refuse_if_ended(session)
        except BaseException:
            self._drop(held)
            raise
        return held

    def _refuse_if_ended(self, session: str) -> None:
        with self._changed:
            if session in self._ended:
                raise AllAtWorkError()

    def _reserve(self, user: str, session: str, deadline: float) -> tuple[Held, Connection | None]:
        with self._changed:
            while True:
                theirs = [held for held in self._held if held.user == user]
                idle = [held for held in theirs if not held.is_at_work]
                for held in idle:
                    if held.session == session:
                        held.is_at_work = True
                        return held, None
                if len(theirs) < self._most:
                    held = Held(user, session)
                    self._held.append(held)
                    return held, None
                if idle:  # of another session: its place is free for this one
                    held, connection = idle[0], idle[0].connection
                    held.session, held.connection, held.is_at_work = session, None, True
                    return held, connection
                left = deadline - time.monotonic()
                if left <= 0:
                    raise AllAtWorkError()
                self._changed.wait(left)

    def give_back(self, held: Held) -> None:
        """Keep the connection for a minute, or close it when it can't be used again."""
        connection = held.opened
        try:
            if connection.info.transaction_status:
                connection.execute("ROLLBACK")
            usable = not connection.closed
        except psycopg.Error:
            usable = False
        with self._changed:
            if usable and held.session not in self._ended:
                held.is_at_work, held.idle_since = False, time.monotonic()
                if self._closer is None:
                    self._closer = threading.Thread(
                        target=self._close_idle, name="omd web: idle", daemon=True
                    )
                    self._closer.start()
                self._changed.notify_all()
                return
        self._drop(held)

    def _drop(self, held: Held) -> None:
        if held.connection is not None:
            held.connection.close()
        with self._changed:
            self._held.remove(held)
            if not any(other.session == held.session for other in self._held):
                self._ended.discard(held.session)
            self._changed.notify_all()

    def end(self, session: str) -> None:
        """Close the connections of a session, and end what they do: its person logged out."""
        self._end(lambda held: held.session == session)

    def end_all(self) -> None:
        """Close every connection, and end what they do: the page ends."""
        self._end(lambda _: True)

    def _end(self, chosen: Callable[[Held], bool]) -> None:
        with self._changed:
            ended = [held for held in self._held if chosen(held)]
            idle = [held for held in ended if not held.is_at_work]
            for held in idle:
                self._held.remove(held)
            at_work = [held for held in ended if held.is_at_work]
            self._ended.update(held.session for held in at_work)
            self._changed.notify_all()
        for held in idle:
            if held.connection is not None:
                held.connection.close()
        for held in at_work:
            if held.connection is not None:
                break_off(held.connection)

    def leave(self, session: str) -> None:
        """Close the idle connections of a session that expired; what is at work goes on."""
        with self._changed:
            idle = [h for h in self._held if h.session == session and not h.is_at_work]
            self._held = [held for held in self._held if held not in idle]
            if any(held.session == session for held in self._held):
                self._ended.add(session)
            self._changed.notify_all()
        for held in idle:
            if held.connection is not None:
                held.connection.close()

    def _close_idle(self) -> None:
        while True:
            with self._changed:
                now = time.monotonic()
                idle = [held for held in self._held if not held.is_at_work]
                old = [held for held in idle if now - held.idle_since >= self._rest]
                for held in old:
                    self._held.remove(held)
                if old:
                    self._changed.notify_all()
                elif not idle:
                    self._closer = None
                    return
                else:
                    oldest = min(held.idle_since for held in idle)
                    self._changed.wait(max(oldest + self._rest - now, 0.01))
            for held in old:
                if held.connection is not None:
                    held.connection.close()


class Personal:
    """The connections of a session."""

    def __init__(self, connections: Connections, user: str, session: str, open_: Open) -> None:
        self.user = user
        self.session = session
        self._connections = connections
        self._open = open_

    def take(self, wait: float = 5.0) -> Held:
        """Take a connection, to be given back; ``AllAtWorkError`` when none is free in time."""
        return self._connections.take(self.user, self.session, self._open, wait)

    def give_back(self, held: Held) -> None:
        """Give a connection back; a transaction that is open is undone."""
        self._connections.give_back(held)

    @contextlib.contextmanager
    def connection(self, wait: float = 5.0) -> Iterator[Connection]:
        """Lend a connection of the person's own, in autocommit, for as long as the block lasts."""
        held = self.take(wait)
        try:
            yield held.opened
        finally:
            self.give_back(held)

    def end(self) -> None:
        """Close the connections and end what they do: the person logged out."""
        self._connections.end(self.session)

    def leave(self) -> None:
        """Close the idle connections: the session expired."""
        self._connections.leave(self.session)


def _tell_of_a_lost_client(connection: Connection) -> None:
    """Let the server end a statement whose client is gone; some platforms can't."""
    with contextlib.suppress(psycopg.DataError, psycopg.NotSupportedError):
        connection.execute("SET client_connection_check_interval = '10s'")
