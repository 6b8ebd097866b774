"""`Store` has the calls of facts in one line each; deliveries are those of tests/delivery."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from facts.store import Store
from support.emptied import conn, dsn

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg

    Connection = psycopg.Connection[dict[str, Any]]

__all__ = ["conn", "dsn"]


@pytest.fixture
def store(conn: Connection) -> Store:
    # Tests give the same names to tables of other types.
    conn.prepare_threshold = None
    return Store(conn)


@pytest.fixture
def stores(connect: Callable[..., Connection]) -> Callable[..., Store]:
    """A function that returns the calls over a connection of their own."""
    return lambda **arguments: Store(connect(**arguments))
