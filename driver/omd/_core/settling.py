"""Who connects settles a failover first, so that no run does it inside of its own transaction."""

from __future__ import annotations

import logging
from typing import Any

import psycopg

_log = logging.getLogger("omd.connection")

# One statement, which is its own transaction. Another session that settles is waited for shortly: a
# call that gives an ID waits as long as it must.
_SETTLE = b"""DO $settle$
DECLARE
    v_kind pg_catalog.text;
BEGIN
    IF EXISTS (
        SELECT FROM pg_catalog.pg_proc AS p
        INNER JOIN pg_catalog.pg_namespace AS n ON p.pronamespace OPERATOR(pg_catalog.=) n.oid
        WHERE n.nspname OPERATOR(pg_catalog.=) 'omd'
            AND p.proname OPERATOR(pg_catalog.=) 'settle_server'
            AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
            AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE')
    ) THEN
        PERFORM pg_catalog.set_config('lock_timeout', '2s', TRUE);
        CALL omd.settle_server(v_kind);
    END IF;
END
$settle$"""


def settle(connection: psycopg.Connection[Any]) -> None:
    """Let the database compare its server with the one that it knows; it needs no right to.

    Where that can't be done now, as on a connection that only reads, the next call that gives an ID
    does it.

    Raises:
        psycopg.OperationalError: the connection is lost.
    """
    try:
        connection.execute(_SETTLE)
    except psycopg.Error as error:
        if connection.closed:
            raise
        _log.info("the server was not settled: %s", error)
