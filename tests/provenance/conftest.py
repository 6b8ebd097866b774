"""The tests share the emptied database; those of topics play their scenes in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.emptied import conn, dsn
from support.scene import Scene

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.scene import Connection

__all__ = ["conn", "dsn"]


@pytest.fixture
def another(connect: Callable[..., Connection]) -> Callable[..., Scene]:
    """A function that returns the calls over a connection of their own, also as a role."""
    return lambda **arguments: Scene(connect(**arguments), changes_role="role" not in arguments)
