"""Roles of the server for tests of who may look; they are dropped afterwards."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import psycopg
from psycopg import sql


@contextlib.contextmanager
def roles(conn: psycopg.Connection[Any], **attributes: str) -> Iterator[None]:
    """Create roles by their names with their attributes, as LOGIN PASSWORD 'x' IN ROLE y."""
    names = [sql.Identifier(name) for name in attributes]
    gone = sql.SQL("DROP ROLE IF EXISTS {}").format(sql.SQL(", ").join(names))
    conn.execute(gone)
    try:
        for name, its in attributes.items():
            conn.execute(sql.SQL("CREATE ROLE {} {}").format(sql.Identifier(name), sql.SQL(its)))
        yield
    finally:
        conn.execute(gone)
