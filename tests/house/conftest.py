"""The catalog is read once; a test that changes the database gets one of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import dict_row

from house.catalog import Catalog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    Connection = psycopg.Connection[dict[str, Any]]


@pytest.fixture(scope="session")
def installed(new_database: Callable[[], AbstractContextManager[str]]) -> Iterator[Connection]:
    """A database as it is installed, which is only read."""
    with new_database() as dsn, psycopg.connect(dsn, row_factory=dict_row) as conn:
        conn.autocommit = True
        conn.execute("SET default_transaction_read_only = on")
        yield conn


@pytest.fixture(scope="session")
def catalog(installed: Connection) -> Catalog:
    return Catalog(installed)
