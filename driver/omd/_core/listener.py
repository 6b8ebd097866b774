"""A connection that listens to channels; behind a pooler in transaction mode it only ticks."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql

from omd._core.errors import ConnectionFailed

if TYPE_CHECKING:
    from omd._core.link import Link

TICK = 1.0  # seconds between two looks, where nothing can be heard


class Listener:
    """Listens to channels; `fileno` becomes readable when a notification has arrived.

    A pooler in transaction mode hands no notification on. There `fileno` becomes readable once in a
    second, and nothing was heard: whoever waits looks (`polls`).

    Raises:
        ConnectionFailed: the connection broke, or could not be made.
    """

    def __init__(self, link: Link, channel: str) -> None:
        self._link = link
        self._listens_on: psycopg.Connection[Any] | None = None
        # What has arrived while a statement was executed: psycopg has taken it already.
        self._caught: list[psycopg.Notify] = []
        link.open()
        self._clock = _Clock() if link.is_pooled else None
        self._first = link._connection
        self.listen(channel)

    def __enter__(self) -> Listener:
        return self

    def __exit__(self, *_: object) -> None:
        if self._clock is not None:
            self._clock.close()
        self._link.close()

    def require(self) -> None:
        """Raise when another connection has taken the place of that which listens to all."""
        if self._link._connection is not self._first:
            raise ConnectionFailed("the connection that listens was lost")

    @property
    def has_heard(self) -> bool:
        """Whether something has arrived of which `fileno` does not tell."""
        return bool(self._caught)

    @property
    def polls(self) -> bool:
        """Whether it hears nothing, so that each tick is a reason to look."""
        return self._clock is not None

    def fileno(self) -> int:
        """Return the file descriptor of the socket."""
        if self._clock is not None:
            return self._clock.fileno()
        return self._connection().fileno()

    def listen(self, channel: str) -> None:
        """Listen to one channel more."""
        if self._clock is None:
            listen = sql.SQL("LISTEN {}").format(sql.Identifier(channel)).as_bytes(None)
            self._link.execute(listen, (), tuple, repeatable=True)
            if self._listens_on is not self._link._connection:
                self._connection().add_notify_handler(self._caught.append)
        self._listens_on = self._link._connection

    def unlisten(self, channel: str) -> None:
        """Listen to one channel less."""
        if self._clock is None:
            unlisten = sql.SQL("UNLISTEN {}").format(sql.Identifier(channel)).as_bytes(None)
            self._link.execute(unlisten, (), tuple, repeatable=True)

    @property
    def listens(self) -> bool:
        """Whether it listens: a connection that replaces a lost one does not."""
        return self._listens_on is not None and self._listens_on is self._link._connection

    def heard(self) -> set[str]:
        """Return the payloads that have arrived since the last call, without waiting."""
        return {payload for _, payload in self.heard_on()}

    def heard_on(self) -> set[tuple[str, str]]:
        """Return the same, each with its channel."""
        if self._clock is not None:
            self._clock.read()
            if not self._link.is_alive:
                raise ConnectionFailed("the connection that polls was lost")
            return set()
        pgconn = self._connection().pgconn
        heard = {(notice.channel, notice.payload) for notice in self._caught}
        self._caught.clear()
        try:
            pgconn.consume_input()
            while (notice := pgconn.notifies()) is not None:
                heard.add((notice.relname.decode(), notice.extra.decode()))
        except psycopg.Error as error:
            raise ConnectionFailed(f"the connection that listens was lost: {error}") from error
        return heard

    def _connection(self) -> psycopg.Connection[Any]:
        connection = self._link._connection
        if connection is None or connection.closed:
            raise ConnectionFailed("the connection that listens was lost")
        return connection


class _Clock:
    """A file descriptor that becomes readable after each tick, until it is closed."""

    def __init__(self) -> None:
        self._read, self._write = socket.socketpair()
        self._read.setblocking(False)
        self._write.setblocking(False)
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="omd-tick", daemon=True)
        self._thread.start()

    def fileno(self) -> int:
        return self._read.fileno()

    def read(self) -> None:
        with suppress(BlockingIOError):
            while self._read.recv(4096):
                pass

    def close(self) -> None:
        self._closed.set()
        self._thread.join()
        self._read.close()
        self._write.close()

    def _run(self) -> None:
        while not self._closed.wait(TICK):
            with suppress(BlockingIOError):  # nobody reads, and it is readable already
                self._write.send(b"\0")
