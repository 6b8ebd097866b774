"""A scene that many tests need is built once, and each test gets a copy of the database.

    @pytest.fixture
    def shop(built: Built) -> Store:
        return built(Store, orders_and_customers)

The first test calls ``orders_and_customers(store)`` in a database that is as an emptied one; what
the object keeps of it, as the code of the interface, goes with each copy. The scene is built in the
emptied database itself where a test has got its connection before, and for a test that uses
``by_hand``: one of each scene does so.
"""

from __future__ import annotations

import contextlib
import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import psycopg
import pytest
from psycopg.rows import dict_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    Connection = psycopg.Connection[dict[str, Any]]

T = TypeVar("T")


class Built(Protocol):
    """A function that returns an object with calls, over a database with its scene."""

    def __call__(self, kind: Callable[[Connection], T], build: Callable[[T], object]) -> T: ...


@dataclass
class Place:
    """The database of a test: a copy of this one, or one without a scene."""

    original: str | None = None
    is_settled: bool = False


@pytest.fixture
def scene_place() -> Place:
    return Place()


@pytest.fixture
def by_hand(scene_place: Place) -> None:
    """The scene of this test is built in the emptied database."""
    scene_place.is_settled = True


@pytest.fixture(scope="session")
def originals(
    new_database: Callable[..., AbstractContextManager[str]],
) -> Iterator[Callable[..., tuple[str, dict[str, Any]]]]:
    """A function that returns where a scene was built, and what its object keeps of it."""
    made: dict[Any, tuple[str, dict[str, Any]]] = {}
    with contextlib.ExitStack() as stack:

        def original(kind: Any, build: Any) -> tuple[str, dict[str, Any]]:
            if (kind, build) not in made:
                dsn = stack.enter_context(new_database())
                with contextlib.closing(
                    psycopg.connect(dsn, autocommit=True, row_factory=dict_row)
                ) as conn:
                    conn.execute("CREATE SCHEMA dwh")
                    scene = kind(conn)
                    build(scene)
                    kept = {name: value for name, value in vars(scene).items() if name != "conn"}
                    made[kind, build] = conn.info.dbname, kept
            return made[kind, build]

        yield original


@pytest.fixture
def built(
    request: pytest.FixtureRequest,
    scene_place: Place,
    originals: Callable[..., tuple[str, dict[str, Any]]],
) -> Built:
    """A function that returns an object over a copy of the database with its scene."""

    def built(kind: Callable[[Connection], T], build: Callable[[T], object]) -> T:
        assert "<" not in build.__qualname__, "it would be another scene for each test"
        kept = None
        if not scene_place.is_settled:
            scene_place.original, kept = originals(kind, build)
        conn = request.getfixturevalue("conn")
        assert scene_place.is_settled, "this conn has a database that is no copy"
        # In the shared session, tests give the same names to tables of other types.
        conn.prepare_threshold = None
        made = kind(conn)
        if kept is None:
            build(made)
        else:
            vars(made).update(copy.deepcopy(kept))
        return made

    return built
