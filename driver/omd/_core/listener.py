"""A connection that listens to channels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql

from omd._core.errors import ConnectionFailed

if TYPE_CHECKING:
    from omd._core.link import Link


class Listener:
    """Listens to channels; `fileno` becomes readable when a notification has arrived.

    Raises:
        ConnectionFailed: the connection broke, or could not be made.
    """

    def __init__(self, link: Link, channel: str) -> None:
        self._link = link
        self._listens_on: psycopg.Connection[Any] | None = None
        link.open()
        self.listen(channel)

    def __enter__(self) -> Listener:
        return self

    def __exit__(self, *_: object) -> None:
        self._link.close()

    def fileno(self) -> int:
        """Return the file descriptor of the socket."""
        return self._connection().fileno()

    def listen(self, channel: str) -> None:
        """Listen to one channel more."""
        listen = sql.SQL("LISTEN {}").format(sql.Identifier(channel)).as_bytes(None)
        self._link.execute(listen, (), tuple, repeatable=True)
        self._listens_on = self._link._connection

    def unlisten(self) -> None:
        """Listen to no channel until `listen` is called."""
        self._link.execute(b"UNLISTEN *", (), tuple, repeatable=True)
        self._listens_on = None

    @property
    def listens(self) -> bool:
        """Whether it listens: a connection that replaces a lost one does not."""
        return self._listens_on is not None and self._listens_on is self._link._connection

    def heard(self) -> set[str]:
        """Return the payloads that have arrived since the last call, without waiting."""
        return {payload for _, payload in self.heard_on()}

    def heard_on(self) -> set[tuple[str, str]]:
        """Return the same, each with its channel."""
        pgconn = self._connection().pgconn
        heard = set()
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
