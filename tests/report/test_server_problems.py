"""What is wrong with the server, as a view: for psql, for omd doctor and for the page."""

from __future__ import annotations

from collections.abc import Callable
from subprocess import CompletedProcess
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.rows import dict_row

NAME = 'a "b"; %s'  # of a table of a user


def problems(conn: psycopg.Connection[Any]) -> dict[tuple[str, str], dict[str, Any]]:
    with conn.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute("SELECT * FROM omd_report.server_problems").fetchall()
    assert all(row["text"] and row["way_out"] for row in rows)
    return {(row["problem_code"], row["object_key"]): row for row in rows}


def test_who_may_read_omd_sees_what_is_wrong_with_the_server(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CREATE SCHEMA IF NOT EXISTS dwh")
        table = sql.Identifier("dwh", NAME)
        conn.execute(sql.SQL("CREATE TABLE {} (omd_insert_module_instance_id int)").format(table))
        code = f'dwh."{NAME.replace(chr(34), chr(34) * 2)}"'
        conn.execute("CALL omd.register_module('m', 'INT', %s, 'HUB')", [code])
        conn.execute("SET ROLE omd_reader")
        conn.execute("SET synchronous_commit = on; SET jit = off")
        before = problems(conn)
        assert ("IDENTITY_MISSING", code) not in before
        conn.execute("RESET ROLE")
        conn.execute("CREATE PUBLICATION everything FOR ALL TABLES")
        conn.execute("SET ROLE omd_reader")
        conn.execute("SET synchronous_commit = off")
        new = {key: row for key, row in problems(conn).items() if key not in before}
        assert set(new) == {("IDENTITY_MISSING", code), ("SETTING_UNSAFE", "synchronous_commit")}
        found = new["IDENTITY_MISSING", code]
        assert (found["severity"], found["subject"]) == ("ERROR", "replica identity")
        conn.execute("RESET ROLE")
        conn.execute(found["way_out"].removesuffix("  (or a primary key)"))
        assert ("IDENTITY_MISSING", code) not in problems(conn)


def test_who_has_no_role_of_omd_sees_nothing_of_it(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CREATE ROLE test_nobody")
        conn.execute("SET ROLE test_nobody")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            problems(conn)
        conn.execute("RESET ROLE")
        conn.execute("DROP ROLE test_nobody")


def test_the_view_has_the_columns_of_problems(dsn: str) -> None:
    columns = (
        "SELECT attname, atttypid::regtype::text FROM pg_attribute WHERE attrelid = %s::regclass"
        " AND attnum > 0 ORDER BY attnum"
    )
    with psycopg.connect(dsn) as conn:
        server, rooms = (
            conn.execute(columns, [f"omd_report.{view}"]).fetchall()
            for view in ("server_problems", "problems")
        )
    assert server == rooms


def test_the_file_for_people_shows_them(
    dsn: str, omd_here: Callable[..., CompletedProcess[str]], tmp_path: Any
) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("UPDATE omd.installation SET system_identifier = 1, database_oid = 1")
    file = tmp_path / "status.html"
    omd_here("status", "--html", str(file), dsn=dsn)
    assert "was copied, restored or moved" in file.read_text(encoding="utf-8")
