"""A connection that listens to a channel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql

from omd._core.errors import ConnectionFailed

if TYPE_CHECKING:
    from omd._core.link import Link


class Listener:
    """Listens to a channel; `fileno` becomes readable when a notification has arrived.

    Raises:
        ConnectionFailed: the connection broke, or could not be made.
    """

    def __init__(self, link: Link, channel: str) -> None:
        self._link = link
        link.open()
        listen = sql.SQL("LISTEN {}").format(sql.Identifier(channel)).as_bytes(None)
        link.execute(listen, (), tuple, repeatable=True)

    def __enter__(self) -> Listener:
        return self

    def __exit__(self, *_: object) -> None:
        self._link.close()

    def fileno(self) -> int:
        """Return the file descriptor of the socket."""
        return self._connection().fileno()

    def heard(self) -> set[str]:
        """Return the payloads that have arrived since the last call, without waiting."""
        pgconn = self._connection().pgconn
        payloads = set()
        try:
            pgconn.consume_input()
            while (notice := pgconn.notifies()) is not None:
                payloads.add(notice.extra.decode())
        except psycopg.Error as error:
            raise ConnectionFailed(f"the connection that listens was lost: {error}") from error
        return payloads

    def _connection(self) -> psycopg.Connection[Any]:
        connection = self._link._connection
        if connection is None or connection.closed:
            raise ConnectionFailed("the connection that listens was lost")
        return connection
