"""Who looks: the rights to read, and the connections that nobody else uses (A1, A2)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import psycopg

from omd.web.opening import Connection
from omd.web.section import Row, Select

CONNECTIONS = 2
IDLE = 60.0  # seconds after which a connection that nobody uses is closed


@dataclass(frozen=True)
class Rights:
    """What a database user may read.

    Attributes:
        roles: those of OMD that the user has.
    """

    roles: tuple[str, ...] = ()

    @property
    def is_reader(self) -> bool:
        """Whether the user may look at all."""
        return "omd_reader" in self.roles

    @property
    def is_data_reader(self) -> bool:
        """Whether the user may see business rows and the texts of errors."""
        return "omd_data_reader" in self.roles


_RIGHTS = """\
SELECT r.rolname
FROM pg_catalog.pg_roles AS r
WHERE r.rolname IN (
    'omd_reader', 'omd_data_reader', 'omd_data_writer', 'omd_runner', 'omd_admin', 'omd_owner'
) AND EXISTS (
    SELECT FROM pg_catalog.pg_roles AS u
    WHERE u.rolname = %(user)s AND pg_catalog.pg_has_role(u.oid, r.oid, 'USAGE')
)
ORDER BY r.oid"""


def rights_of(user: str, read: Callable[[Select], list[Row]]) -> Rights:
    """Return the rights of a database user; one who is not there has none."""
    return Rights(tuple(row["rolname"] for row in read(Select(_RIGHTS, {"user": user}))))


class Person:
    """A database user who looks, with at most two connections of their own.

    Args:
        user: the name in the database.
        open_: opens a connection that acts as this user.
        is_shown_only: whether actions that run a user's SQL are only shown (login ``header``).
    """

    def __init__(
        self, user: str, open_: Callable[[], Connection], *, is_shown_only: bool = False
    ) -> None:
        self.user = user
        self.is_shown_only = is_shown_only
        self.rights = Rights()
        self.judged_at = float("-inf")  # time.monotonic() when the rights were looked at
        self._open = open_
        self._free = threading.BoundedSemaphore(CONNECTIONS)
        self._lock = threading.Lock()
        self._idle: list[tuple[float, Connection]] = []
        self._lent: set[Connection] = set()
        self._is_gone = False

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles of OMD that the user has."""
        return self.rights.roles

    @property
    def is_data_reader(self) -> bool:
        """Whether the user may see business rows and the texts of errors."""
        return self.rights.is_data_reader

    @contextmanager
    def own(self) -> Iterator[Connection]:
        """Lend a connection of this person's own; a third one waits until one is free.

        It comes without an open transaction. One that is left in a transaction is closed.
        """
        with self._free:
            connection = self._alive() or self._open()
            with self._lock:
                self._lent.add(connection)
            try:
                yield connection
            finally:
                with self._lock:
                    self._lent.discard(connection)
                    idle = psycopg.pq.TransactionStatus.IDLE
                    keeps = not self._is_gone and connection.info.transaction_status == idle
                    if keeps:
                        self._idle.append((time.monotonic(), connection))
                if not keeps:
                    connection.close()

    def read(self, select: Select, patience: str = "5s") -> list[Row]:
        """Return the rows of a query that only this person may see."""
        with self.own() as connection, connection.transaction():
            # One text would be one implicit transaction too, but would say less about an error.
            connection.execute(
                f"SET TRANSACTION READ ONLY; SET LOCAL statement_timeout = '{patience}'"
            )
            return connection.execute(select.sent.encode()).fetchall()

    def tidy(self) -> None:
        """Close connections that nobody has used for a minute."""
        with self._lock:
            old = [c for at, c in self._idle if time.monotonic() - at > IDLE]
            self._idle = [(at, c) for at, c in self._idle if c not in old]
        for connection in old:
            with suppress(psycopg.Error):
                connection.close()

    def leave(self) -> None:
        """Close all connections; what they execute is cancelled."""
        with self._lock:
            self._is_gone = True
            idle, self._idle = self._idle, []
            lent = list(self._lent)
        for connection in lent:
            with suppress(psycopg.Error):
                connection.cancel_safe(timeout=2)
        for _, connection in idle:
            with suppress(psycopg.Error):
                connection.close()

    def _alive(self) -> Connection | None:
        """Return an idle connection that still answers."""
        while True:
            with self._lock:
                if not self._idle:
                    return None
                _, connection = self._idle.pop()
            try:
                connection.execute("")
            except psycopg.Error:
                connection.close()
            else:
                return connection
