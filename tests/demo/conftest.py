"""What a demo has left: each module of tests plays one, with its own fixture ``played``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith("tests/demo/"):
            item.add_marker(pytest.mark.no_user_code("a demo shows a database that is new"))


@pytest.fixture
def connection(played: tuple[str, Any]) -> Iterator[psycopg.Connection[Any]]:
    """A transaction in the demo's database that is undone after the test."""
    with psycopg.connect(played[0]) as connection:
        yield connection
        connection.rollback()
