"""The fixtures conn and dsn for a folder whose tests share the emptied database (support.flow)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg

    Connection = psycopg.Connection[dict[str, Any]]


@pytest.fixture
def conn(emptied: Callable[[], Connection]) -> Connection:
    """A superuser's connection, used by one test after the other, to an emptied database."""
    return emptied()


@pytest.fixture
def dsn(conn: Connection, control_dsn: str) -> str:
    """The connection string of a database with OMD, nothing registered, and a schema dwh."""
    return control_dsn
