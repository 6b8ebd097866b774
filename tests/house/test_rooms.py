"""The rooms: no text names a room above its own, and no room reads a table of another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from house.catalog import SCHEMAS
from house.exceptions import KNOWS, SETTINGS
from support.offenders import assert_none

if TYPE_CHECKING:
    import psycopg

    from house.catalog import Catalog

    Connection = psycopg.Connection[dict[str, Any]]


def above(schema: str, text: str) -> set[str]:
    """Return the schemas in a text that are not omd, the room's own, or one that it may name.

    A command for people (omd call omd_facts.undo) is text, and calls nothing.
    """
    found = set(re.findall(r"(?<!omd call )\b(omd(?:_[a-z]+)?)(?=\.)", text))
    return found - {"omd", schema} - KNOWS.get(schema, set())


def test_no_routine_names_a_room_above_its_own(catalog: Catalog) -> None:
    assert_none(
        (routine.name, f"it names {room}")
        for _, routine in catalog.of_files()
        for room in sorted(above(routine.schema, routine.text))
    )


def test_no_view_names_a_room_above_its_own(installed: Connection) -> None:
    views = installed.execute(
        "SELECT oid::regclass::text AS name, relnamespace::regnamespace::text AS schema,"
        " pg_get_viewdef(oid) AS text FROM pg_class"
        f" WHERE relnamespace IN ({SCHEMAS}) AND relkind IN ('v', 'm')"
    ).fetchall()
    assert len(views) > 20
    rooms = [v for v in views if v["schema"] != "omd_report"]
    assert_none(
        (view["name"], f"it names {room}")
        for view in rooms
        for room in sorted(above(view["schema"], view["text"]))
    )


def test_no_routine_reads_a_table_of_another_room(installed: Connection, catalog: Catalog) -> None:
    rows = installed.execute(
        "SELECT relnamespace::regnamespace || '.' || relname AS name FROM pg_class"
        f" WHERE relnamespace IN ({SCHEMAS}) AND relkind IN ('r', 'p')"
    )
    tables = {row["name"] for row in rows}
    assert len(tables) > 80
    assert_none(
        (routine.name, f"it reads {table}")
        for _, routine in catalog.of_files()
        for table in sorted(
            set(re.findall(r"\b(omd\w*\.\w+)\b(?!\s*\()", routine.text)) & tables - SETTINGS
        )
        if table.split(".")[0] != routine.schema
    )
