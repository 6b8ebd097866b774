"""The fixtures conn and dsn for a folder whose tests share the emptied database (support.flow)."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from support.scenes import Place

    Connection = psycopg.Connection[dict[str, Any]]


@pytest.fixture
def conn(
    scene_place: Place,
    emptied: Callable[[], Connection],
    new_database: Callable[..., AbstractContextManager[str]],
) -> Iterator[Connection]:
    """A superuser's connection to an emptied database, or to a copy of one with a scene.

    That to the emptied one is used by one test after the other.
    """
    scene_place.is_settled = True
    if scene_place.original is None:
        yield emptied()
        return
    with (
        new_database(scene_place.original) as dsn,
        contextlib.closing(psycopg.connect(dsn, autocommit=True, row_factory=dict_row)) as conn,
    ):
        yield conn


@pytest.fixture
def dsn(conn: Connection, control_dsn: str) -> str:
    """The connection string of a database with OMD, a schema dwh, and nothing but a scene."""
    return make_conninfo(control_dsn, dbname=conn.info.dbname)
