"""The tests of provenance share the emptied database; `Store` has the calls of facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from facts.store import Store
from support.emptied import conn, dsn

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[dict[str, Any]]

__all__ = ["conn", "dsn"]


@pytest.fixture
def store(conn: Connection) -> Store:
    # Tests give the same names to tables of other types.
    conn.prepare_threshold = None
    return Store(conn)
