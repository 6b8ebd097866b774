"""The tests of provenance share the emptied database; each part has a class with its calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from facts.store import Store
from provenance.middle import Middle
from provenance.persons import set_up
from provenance.recalls import Recalls
from support.emptied import conn, dsn

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg

    from support.scenes import Built

    Connection = psycopg.Connection[dict[str, Any]]

__all__ = ["conn", "dsn"]


@pytest.fixture
def middle(built: Built) -> Middle:
    return built(Middle, Middle.world)


@pytest.fixture
def middles(connect: Callable[..., Connection]) -> Callable[..., Middle]:
    """A function that returns the calls over a connection of their own."""
    return lambda **arguments: Middle(connect(**arguments))


@pytest.fixture
def recalls(conn: Connection) -> Recalls:
    # Tests give the same names to tables of other types.
    conn.prepare_threshold = None
    return Recalls(conn)


@pytest.fixture
def recallers(connect: Callable[..., Connection]) -> Callable[..., Recalls]:
    """A function that returns the calls over a connection of their own, also as a role."""
    return lambda **arguments: Recalls(connect(**arguments))


@pytest.fixture
def store(conn: Connection) -> Store:
    conn.prepare_threshold = None
    return Store(conn)


@pytest.fixture
def persons(built: Built) -> Store:
    """Anna, Boris and Vera."""
    return built(Store, set_up)


@pytest.fixture
def stores(connect: Callable[..., Connection]) -> Callable[..., Store]:
    """A function that returns the calls over a connection of their own."""
    return lambda **arguments: Store(connect(**arguments))
