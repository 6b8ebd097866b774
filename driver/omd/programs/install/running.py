"""Files of SQL that are executed, and errors that say where."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from omd.programs.install.manifest import InstallError


@contextmanager
def pinned(conn: psycopg.Connection[Any]) -> Iterator[None]:
    """Open a transaction in which names mean those of PostgreSQL, whatever is in public.

    Whoever may create functions there would otherwise take over the rights of a superuser: a
    function whose parameters fit better wins over one of pg_catalog.
    """
    with conn.transaction():
        conn.execute("SET LOCAL search_path = pg_catalog, pg_temp")
        yield


def require_idle(conn: psycopg.Connection[Any]) -> None:
    """Refuse a connection that is in a transaction: what is installed has its own."""
    if conn.info.transaction_status is not TransactionStatus.IDLE:
        raise InstallError(
            "The connection is in a transaction.", hint="Commit or roll back, then try again."
        )


def execute(conn: psycopg.Connection[Any], path: str, text: str) -> psycopg.Cursor[Any]:
    """Execute a file's text and return the cursor; an error of the server names file and line."""
    try:
        return conn.execute(text.encode())
    except psycopg.Error as error:
        if error.sqlstate is None:  # the connection was lost; the file has no fault
            raise
        hint = error.diag.message_hint
        if isinstance(error, psycopg.errors.InsufficientPrivilege):
            hint = hint or "Install as a superuser, or as who has installed OMD."
        elif isinstance(error, psycopg.errors.OutOfMemory):
            # Each object that is made is locked to the end of the transaction.
            hint = (
                "Nothing was changed. Set max_locks_per_transaction to 256, restart the server, "
                "and install again; one installation at a time needs less."
            )
        failure = InstallError(_where(error, path, text), hint=hint)
        failure.sqlstate = error.sqlstate
        raise failure from error


def _where(error: psycopg.Error, path: str, text: str) -> str:
    diag = error.diag
    if diag.statement_position:
        # The position counts characters from 1; the line breaks before it tell the line.
        line = text.count("\n", 0, int(diag.statement_position) - 1) + 1
        path = f"{path}, line {line}"
    context = f" ({diag.context.splitlines()[0]})" if diag.context else ""
    return f"{path}: {diag.message_primary or error}{context}"
