"""Texts of errors hold values of rows: omd_reader, and so the server's monitoring, sees none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg import sql

from house.catalog import SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.flow import Flow

    Another = Callable[..., Flow]

SECRET = "Jane Roe 4711"
# What is registered is control data, so it does not name the value.
VALUE = "current_setting('test.value')"
FAILING = {
    "m_check": f"INSERT INTO dwh.person SELECT {VALUE}, -1",
    "m_double": f"INSERT INTO dwh.person SELECT {VALUE}, 5 FROM generate_series(1, 2)",
    "m_cast": f"SELECT {VALUE}::integer",
    "m_raise": f"DO $$ BEGIN RAISE 'no person %', {VALUE} USING DETAIL = {VALUE}; END $$",
    "m_word": f"DO $$ BEGIN RAISE '%', {VALUE} USING ERRCODE = 'ABCDE'; END $$",
    "m_ours": f"DO $$ BEGIN RAISE '%', {VALUE} USING ERRCODE = 'OM283'; END $$",
    "m_function": f"SELECT dwh.strict({VALUE})",
}
READABLE = f"""
    SELECT n.nspname AS schema, c.relname AS name,
        array_agg(a.attname::text ORDER BY a.attnum) AS columns
      FROM pg_class AS c
      JOIN pg_namespace AS n ON n.oid = c.relnamespace
      JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.relnamespace IN ({SCHEMAS}) AND c.relkind IN ('r', 'p', 'v')
       AND has_column_privilege(%s, c.oid, a.attnum, 'SELECT')
     GROUP BY n.nspname, c.relname
"""


@pytest.fixture(autouse=True)
def scene(flow: Flow) -> None:
    flow.conn.execute(
        "CREATE TABLE dwh.person (name text, age integer CONSTRAINT ck_age CHECK (age > 0),"
        " CONSTRAINT uq_person UNIQUE (name), omd_insert_module_instance_id bigint);"
        "CREATE FUNCTION dwh.strict(p_name text) RETURNS integer LANGUAGE plpgsql AS"
        " $$ BEGIN RETURN p_name::integer; END $$"
    )
    flow.conn.execute("SELECT set_config('test.value', %s, false)", [SECRET])
    flow.batch("b")
    for code, executable in FAILING.items():
        flow.module(code, executable=executable, table_code="dwh.person")
        flow.call("run_module", module_code=code)
    for told in (None, "psycopg.errors.NotNullViolation", "ValueError"):
        run = flow.call("begin_module", module_code="m_cast")["module_instance_id"]
        flow.call(
            "module_failure",
            module_instance_id=run,
            event_detail=f"Failing row contains ({SECRET}).",
            event_return_code_details=told,
        )


def readable(session: Flow, role: str) -> str:
    """Return all that the role can read, as one text."""
    found = []
    for relation in session.rows(READABLE, role):
        rows = session.conn.execute(
            sql.SQL("SELECT {} FROM {}").format(
                sql.SQL(", ").join(
                    sql.SQL("{}::text").format(sql.Identifier(name)) for name in relation["columns"]
                ),
                sql.Identifier(relation["schema"], relation["name"]),
            )
        ).fetchall()
        found.append(f"{relation['schema']}.{relation['name']}: {rows}")
    return "\n".join(found)


@pytest.mark.parametrize("role", ["omd_reader", "omd_admin"])
def test_who_reads_no_rows_sees_no_value_of_one(another: Another, role: str) -> None:
    told = readable(another(role=role), role)
    assert [line[:400] for line in told.splitlines() if SECRET in line] == []


def test_who_reads_rows_sees_the_whole_text(another: Another) -> None:
    runner = another(role="omd_runner")
    texts = runner.one("SELECT string_agg(event_detail, '|') FROM omd_report.failures")
    assert texts.count(SECRET) >= len(FAILING) + 3
    assert "division" not in texts


def test_what_everybody_sees_says_what_kind_of_error_it_was(another: Another) -> None:
    reader = another(role="omd_reader")
    rows = reader.rows("SELECT code, event_detail FROM omd_report.failures ORDER BY event_id")
    told: dict[str, Any] = {}
    for row in rows:
        told.setdefault(row["code"], row["event_detail"])
    assert told == {
        "m_check": ('new row for relation "person" violates check constraint "ck_age"'),
        "m_double": 'duplicate key value violates unique constraint "uq_person"',
        "m_cast": "error 22P02 in omd.execute_module",
        "m_raise": "error P0001 in inline_code_block",
        "m_word": "error ABCDE in inline_code_block",
        "m_ours": "error OM283 in inline_code_block",
        "m_function": "error 22P02 in dwh.strict",
    }
    assert [row["event_detail"] for row in rows][-3:] == [
        "error without a code",
        "error psycopg.errors.NotNullViolation",
        "error ValueError",
    ]


def test_a_text_of_omd_itself_is_for_everybody(flow: Flow, another: Another) -> None:
    run = flow.call("begin_module", module_code="m_raise")["module_instance_id"]
    flow.call("end_module_instance", module_instance_id=run, event_detail="it hangs")
    reader = another(role="omd_reader")
    (event,) = reader.rows(
        "SELECT event_detail FROM omd_report.failures WHERE instance_id = %s", run
    )
    assert event["event_detail"].endswith(": it hangs")
