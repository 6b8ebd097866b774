"""Whether a pooler stands between client and server, and what it leaves of a session.

In transaction mode a pooler gives a server connection to whoever has a transaction, so what one
client sets, prepares or listens to in a session is another's with the next transaction. A client
sees a pooler by the number of its backend: the pooler makes one up.
"""

from __future__ import annotations

import enum
import os
from typing import TYPE_CHECKING, Any

from omd._core.error_codes import NeedsSession
from omd._core.errors import CallerError, OmdError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import psycopg

SETTING = "OMD_POOLER"
ISOLATION = "default_transaction_isolation"


class Pooler(str, enum.Enum):
    """What stands between client and server."""

    NONE = "none"
    SESSION = "session"
    TRANSACTION = "transaction"


def wished() -> Pooler | None:
    """Return what OMD_POOLER says; None: it is to be found out.

    Raises:
        CallerError: OMD_POOLER is none of its values.
    """
    given = os.environ.get(SETTING, "").strip().lower() or "auto"
    if given == "auto":
        return None
    try:
        return Pooler(given)
    except ValueError:
        raise CallerError(
            f"{SETTING} is {given!r}", hint="It is auto, none, session or transaction."
        ) from None


def judged(announced: int, real: int) -> Pooler:
    """Return what stands between client and server.

    A pooler in session mode looks the same; what is done for transaction mode is right there too.

    Args:
        announced: the number of the backend that libpq got.
        real: that which the backend has.
    """
    return wished() or (Pooler.NONE if announced == real else Pooler.TRANSACTION)


def pooler_of(connection: psycopg.Connection[Any]) -> Pooler:
    """Return what stands between a connection and its server; it may have any row factory."""
    from psycopg.rows import tuple_row

    given = wished()
    if given is not None:
        return given
    with connection.cursor(row_factory=tuple_row) as cursor:
        row = cursor.execute(b"SELECT pg_catalog.pg_backend_pid()", prepare=False).fetchone()
    assert row is not None  # noqa: S101 - it has no FROM
    return judged(connection.info.backend_pid, row[0])


def require_session(connection: psycopg.Connection[Any], what: str) -> None:
    """Refuse a pooler in transaction mode.

    Args:
        connection: a connection to the database.
        what: what needs a session, as the subject of a sentence.

    Raises:
        NeedsSession: there is one.
    """
    if pooler_of(connection) is Pooler.TRANSACTION:
        raise needs_session(what)


def needs_session(what: str) -> OmdError:
    """Return the error for something that a pooler in transaction mode does not give."""
    return NeedsSession(
        f"{what} needs a session of its own, and a pooler in transaction mode gives none",
        hint="Name the server itself, by its host and port; or, if the pooler is in session mode,"
        f" say so: {SETTING}=session.",
    )


def local(settings: Mapping[str, str]) -> bytes:
    """Return the statements that set parameters for the transaction that is open."""
    from psycopg import sql

    parts = [
        # The default is for the next transaction.
        sql.SQL("SET TRANSACTION ISOLATION LEVEL {}").format(sql.SQL(_level(value)))
        if name == ISOLATION
        else sql.SQL("SET LOCAL {} = {}").format(sql.Identifier(*name.split(".")), value)
        # The level comes before what reads.
        for name, value in sorted(settings.items(), key=lambda each: each[0] != ISOLATION)
    ]
    return sql.SQL("; ").join(parts).as_bytes(None)


_LEVELS = ("read uncommitted", "read committed", "repeatable read", "serializable")


def _level(value: str) -> str:
    level = value.strip().lower()
    if level not in _LEVELS:
        raise CallerError(f"{value!r} is no isolation level", hint=f"It is {', '.join(_LEVELS)}.")
    return level.upper()
