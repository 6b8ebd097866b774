"""A DBA finds each object explained, and each routine in the file of its name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import omd.install

if TYPE_CHECKING:
    from support.flow import Flow

FILES = sorted((omd.install.sql_root() / "procedures" / "omd").glob("*.sql"))
SCHEMAS = "('omd'::regnamespace, 'omd_lineage'::regnamespace, 'omd_report'::regnamespace)"
RELATIONS = f"c.relnamespace IN {SCHEMAS} AND c.relkind IN ('r', 'v', 'm', 'p', 'f')"
OBJECTS = {
    "schemas": f"""
        SELECT nspname AS name, obj_description(oid, 'pg_namespace') AS comment
        FROM pg_namespace WHERE oid IN {SCHEMAS}""",
    "tables and views": f"""
        SELECT relname AS name, obj_description(oid, 'pg_class') AS comment
        FROM pg_class AS c WHERE {RELATIONS}""",
    "columns": f"""
        SELECT relname || '.' || attname AS name, col_description(attrelid, attnum) AS comment
        FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid
        WHERE {RELATIONS} AND attnum > 0 AND NOT attisdropped""",
    "routines": f"""
        SELECT proname AS name, obj_description(oid, 'pg_proc') AS comment
        FROM pg_proc WHERE pronamespace IN {SCHEMAS}""",
    "triggers": f"""
        SELECT tgname AS name, obj_description(t.oid, 'pg_trigger') AS comment
        FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = tgrelid
        WHERE {RELATIONS} AND NOT tgisinternal""",
}


@pytest.mark.parametrize("objects", OBJECTS)
def test_everything_is_explained(flow: Flow, objects: str) -> None:
    rows = flow.rows(OBJECTS[objects])
    assert rows
    assert [row["name"] for row in rows if not (row["comment"] or "").strip()] == []


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_a_file_holds_the_routine_of_its_name(file: Path) -> None:
    text = file.read_text()
    created = re.findall(r"^CREATE OR REPLACE (PROCEDURE|FUNCTION) omd\.(\w+)", text, re.MULTILINE)
    assert [name for _, name in created] == [file.stem]
    (kind, name) = created[0]
    assert len(re.findall(r"^CREATE ", text, re.MULTILINE)) == 1
    assert len(re.findall(rf"^COMMENT ON {kind} omd\.{name}\b", text, re.MULTILINE)) == 1
    assert (
        len(re.findall(rf"^REVOKE ALL ON {kind} omd\.{name} FROM PUBLIC;", text, re.MULTILINE)) == 1
    )


def test_every_routine_has_its_file(flow: Flow) -> None:
    rows = flow.rows("SELECT proname FROM pg_proc WHERE pronamespace = 'omd'::regnamespace")
    assert sorted(row["proname"] for row in rows) == [file.stem for file in FILES]
