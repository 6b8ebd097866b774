"""An autovacuum that works on a table; the servers of the tests have it off."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.rows import tuple_row

from support.workers import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import psycopg

# It comes each second, and who waits for it for 300 ms ends it.
SETTINGS = {"autovacuum": "on", "autovacuum_naptime": "1", "deadlock_timeout": "'300ms'"}
# It rests for a twentieth of a second at each page, so hundreds of pages take most of a minute.
SLOWLY = """
    autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_insert_threshold = 0, autovacuum_vacuum_insert_scale_factor = 0,
    autovacuum_vacuum_cost_delay = 50, autovacuum_vacuum_cost_limit = 1
"""
WORKS = """
    SELECT a.pid FROM pg_stat_activity AS a INNER JOIN pg_locks AS l ON a.pid = l.pid
    WHERE a.backend_type = 'autovacuum worker' AND l.relation = %s
"""
COUNT = "SELECT autovacuum_count FROM pg_stat_all_tables WHERE relid = %s"


@pytest.fixture
def autovacuum(conn: psycopg.Connection[Any]) -> Iterator[Callable[..., Any]]:
    """A function of a table and of what fills it.

    Its context begins when an autovacuum is at work on the table, and none may come to its end
    while the context lasts.
    """

    def execute(query: str, *values: Any) -> Any:
        return conn.execute(query.encode(), values or None)

    @contextmanager
    def works(table: str, fill: Callable[[], Any]) -> Iterator[None]:
        execute(f"ALTER TABLE {table} SET ({SLOWLY})")
        fill()
        with conn.cursor(row_factory=tuple_row) as cursor:
            (oid,) = cursor.execute("SELECT %s::regclass::oid", [table]).fetchone() or (None,)
        until(lambda: execute(WORKS, oid).fetchone(), 60)
        before = execute(COUNT, oid).fetchone()
        yield
        assert execute(COUNT, oid).fetchone() == before, "it was waited for"

    for name, value in SETTINGS.items():
        execute(f"ALTER SYSTEM SET {name} = {value}")
    execute("SELECT pg_reload_conf()")
    yield works
    for name in SETTINGS:
        execute(f"ALTER SYSTEM RESET {name}")
    execute("SELECT pg_reload_conf()")
