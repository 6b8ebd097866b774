"""The rooms: no text names a room above its own, and no room reads a table of another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from house.catalog import FILES, SCHEMAS
from house.exceptions import KNOWS
from house.test_files import name_of

if TYPE_CHECKING:
    from pathlib import Path

    import psycopg

    from house.catalog import Catalog

    Connection = psycopg.Connection[dict[str, Any]]


def above(schema: str, text: str) -> set[str]:
    """Return the schemas in a text that are not omd, the room's own, or one that it may name."""
    found = set(re.findall(r"\b(omd(?:_[a-z]+)?)(?=\.)", text))
    return found - {"omd", schema} - KNOWS.get(schema, set())


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_no_routine_names_a_room_above_its_own(catalog: Catalog, file: Path) -> None:
    routine = catalog.routines[name_of(file)]
    assert above(routine.schema, routine.text) == set()


def test_no_view_names_a_room_above_its_own(installed: Connection) -> None:
    views = installed.execute(
        "SELECT oid::regclass::text AS name, relnamespace::regnamespace::text AS schema,"
        " pg_get_viewdef(oid) AS text FROM pg_class"
        f" WHERE relnamespace IN ({SCHEMAS}) AND relkind IN ('v', 'm')"
    ).fetchall()
    assert len(views) > 20
    rooms = [v for v in views if v["schema"] != "omd_report"]
    assert {v["name"] for v in rooms if above(v["schema"], v["text"])} == set()


def read(conn: Connection, catalog: Catalog, name: str) -> set[str]:
    """Return the tables of other rooms that a body names."""
    rows = conn.execute(
        "SELECT relnamespace::regnamespace || '.' || relname AS name FROM pg_class"
        f" WHERE relnamespace IN ({SCHEMAS}) AND relkind IN ('r', 'p')"
    )
    tables = {row["name"] for row in rows}
    routine = catalog.routines[name]
    named = set(re.findall(r"\b(omd\w*\.\w+)\b(?!\s*\()", routine.text))
    return {table for table in named & tables if table.split(".")[0] != routine.schema}


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_no_routine_reads_a_table_of_another_room(
    installed: Connection, catalog: Catalog, file: Path
) -> None:
    assert read(installed, catalog, name_of(file)) == set()
