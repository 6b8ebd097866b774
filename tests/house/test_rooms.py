"""The rooms: no text names a room above its own, and none reads a table of another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from house.catalog import FILES, ORDER, REPORT, SCHEMAS
from house.exceptions import READS_TABLES_OF_ANOTHER_ROOM
from house.test_files import name_of

if TYPE_CHECKING:
    from pathlib import Path

    import psycopg

    from house.catalog import Catalog

    Connection = psycopg.Connection[dict[str, Any]]


def above(schema: str) -> set[str]:
    """The schemas that a room does not know; delivery is the one that facts knows."""
    if schema == "omd_facts":
        return set(ORDER) - {"omd", "omd_delivery", "omd_facts"} | {REPORT}
    return set(ORDER) - {"omd", schema} | {REPORT}


def schemas_in(text: str) -> set[str]:
    return set(re.findall(r"\b(omd(?:_[a-z]+)?)(?=\.)", text))


def test_every_schema_has_its_place(installed: Connection) -> None:
    rows = installed.execute("SELECT nspname FROM pg_namespace WHERE nspname ~ '^omd(_|$)'")
    assert {row["nspname"] for row in rows} <= {*ORDER, REPORT}


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_no_routine_names_a_room_above_its_own(catalog: Catalog, file: Path) -> None:
    routine = catalog.routines[name_of(file)]
    assert schemas_in(routine.text) & above(routine.schema) == set()


def test_no_view_names_a_room_above_its_own(installed: Connection) -> None:
    views = installed.execute(
        "SELECT oid::regclass::text AS name, relnamespace::regnamespace::text AS schema,"
        " pg_get_viewdef(oid) AS text FROM pg_class"
        f" WHERE relnamespace IN ({SCHEMAS}) AND relkind IN ('v', 'm')"
    ).fetchall()
    assert len(views) > 20
    found = {v["name"] for v in views if v["schema"] != REPORT} & {
        v["name"] for v in views if schemas_in(v["text"]) & above(v["schema"])
    }
    assert found == set()


def read(conn: Connection, catalog: Catalog, name: str) -> set[str]:
    """The tables of other rooms that a body names."""
    rows = conn.execute(
        "SELECT relnamespace::regnamespace || '.' || relname AS name FROM pg_class"
        f" WHERE relnamespace IN ({SCHEMAS}) AND relkind IN ('r', 'p')"
    )
    tables = {row["name"] for row in rows}
    routine = catalog.routines[name]
    named = set(re.findall(r"\b(omd\w*\.\w+)\b(?!\s*\()", routine.text))
    return {table for table in named & tables if table.split(".")[0] != routine.schema}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name_of(file),
            marks=pytest.mark.xfail(
                strict=True, reason="rooms read tables of omd until issue 10 item 6"
            )
            if name_of(file) in READS_TABLES_OF_ANOTHER_ROOM
            else (),
        )
        for file in FILES
    ],
)
def test_no_routine_reads_a_table_of_another_room(
    installed: Connection, catalog: Catalog, name: str
) -> None:
    assert read(installed, catalog, name) == set()
