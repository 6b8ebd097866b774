"""How the page opens a connection."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.abc import AdaptContext, Buffer
from psycopg.abc import Loader as LoaderProtocol
from psycopg.adapt import Loader
from psycopg.pq import Format
from psycopg.rows import DictRow, dict_row, tuple_row

from omd._core import transactional
from omd._core.adapters import adapt
from omd._core.pooling import Pooler, pooler_of

APPLICATION = "omd web"


class Connection(transactional.Connection[DictRow]):
    """A connection of the page, in autocommit.

    Attributes:
        is_pooled: whether a pooler in transaction mode is between, so that nothing may be set, or
            listened to, in the session.
        may_become_others: whether code that is called in its session could take on the role of
            another person (login ``header``).
    """

    is_pooled = False
    may_become_others = False

    def pin(self) -> None:
        """Read without the schemas of PostgreSQL's own names, and call no code of users."""
        if self.is_pooled:
            self.first = PINNED_LOCAL
        else:
            self.execute(PINNED)


# What the page reads is shown without the schemas of PostgreSQL's own names; so nobody's function
# that fits better may be called instead. What a screen asks is answered from what OMD has
# recorded, whoever looks: a view of a user calls functions with the rights of who reads it.
PINNED = "SET search_path = pg_catalog, pg_temp; SET omd.user_code = off"
PINNED_LOCAL = PINNED.replace("SET ", "SET LOCAL ")

# A server that has vanished is noticed within a minute.
_SETTINGS = {
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",
}


def opened(dsn: str, **settings: Any) -> Connection:
    """Open an autocommit connection whose rows are dictionaries; settings come before ``dsn``."""
    connection = Connection.connect(
        dsn,
        autocommit=True,
        prepare_threshold=None,
        row_factory=dict_row,
        application_name=APPLICATION,
        client_encoding="utf8",
        **{**_SETTINGS, **settings},
    )
    adapt(connection)
    try:
        connection.is_pooled = pooler_of(connection) is Pooler.TRANSACTION
    except BaseException:
        connection.close()
        raise
    for name in ("date", "timestamp", "timestamptz", "interval"):
        _as_text_if_too_large(connection, name)
    return connection


def is_standby(connection: psycopg.Connection[Any]) -> bool:
    """Return whether the server only reads, and follows another one."""
    with connection.cursor(row_factory=tuple_row) as cursor:
        [[is_in_recovery]] = cursor.execute("SELECT pg_catalog.pg_is_in_recovery()").fetchall()
    return bool(is_in_recovery)


def _as_text_if_too_large(connection: Connection, name: str) -> None:
    """Let a value of a type that Python can't hold, such as a day before Christ, come as a text."""
    registered = connection.adapters.get_loader(connection.adapters.types[name].oid, Format.TEXT)
    assert registered is not None  # noqa: S101 - psycopg has one for each of them
    known: type[LoaderProtocol] = registered

    class Lenient(Loader):
        def __init__(self, oid: int, context: AdaptContext | None = None) -> None:
            super().__init__(oid, context)
            self._known = known(oid, context)

        def load(self, data: Buffer) -> Any:
            try:
                return self._known.load(data)
            except psycopg.DataError:
                return bytes(data).decode()

    connection.adapters.register_loader(name, Lenient)


class NotLetInError(psycopg.OperationalError):
    """The database is there, but lets this user in no more: another password, or no right."""
