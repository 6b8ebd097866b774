"""The error for whoever writes on a standby, which only reads."""

from __future__ import annotations

from contextlib import suppress

import psycopg

from omd._core.errors import ServerIsStandby


def refused(conninfo: str, error: psycopg.Error) -> ServerIsStandby | None:
    """Return what to raise in place of an error; None: the server is no standby.

    The connection of the error may be in a transaction that has failed, so another one asks.
    """
    with (
        suppress(psycopg.Error),
        psycopg.connect(
            conninfo, autocommit=True, connect_timeout=10, prepare_threshold=None
        ) as connection,
    ):
        [[is_standby]] = connection.execute("SELECT pg_catalog.pg_is_in_recovery()")
        if is_standby:
            return ServerIsStandby(
                f"the server is a standby, which only reads: {error.diag.message_primary}",
                hint=f"Connect to the primary: {_primary(connection) or 'the server it follows'}",
            )
    return None


def _primary(connection: psycopg.Connection[tuple[str | None]]) -> str | None:
    with suppress(psycopg.Error):  # the database has no OMD, or the user none of its roles
        [[primary]] = connection.execute("SELECT omd.primary_server()")
        return primary
    return None
