"""Several servers: one for each test, or for a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.servers import Servers

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def place() -> Iterator[Servers]:
    """A place for the servers that all tests of a file share."""
    with Servers() as servers:
        yield servers
