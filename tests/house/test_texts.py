"""Each column that can hold text is listed: what an erasure of a person does with it, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from house.reach import GENERATED
from support.offenders import assert_none

Connection = psycopg.Connection[dict[str, Any]]

# Arrays, domains and composites hold text when what they are made of does.
COLUMNS = """
    WITH RECURSIVE holds AS (
        SELECT t.oid FROM pg_type AS t
        WHERE t.typcategory = 'S' OR t.typname IN ('json', 'jsonb', 'xml', 'bytea', 'hstore')
        UNION
        SELECT p.oid
        FROM holds AS h
        CROSS JOIN LATERAL (
            SELECT t.oid FROM pg_type AS t WHERE t.typbasetype = h.oid OR t.typelem = h.oid
            UNION ALL
            SELECT c.reltype FROM pg_attribute AS a
            INNER JOIN pg_class AS c ON a.attrelid = c.oid
            WHERE a.atttypid = h.oid AND a.attnum > 0 AND NOT a.attisdropped AND c.relkind = 'c'
        ) AS p
    )
    SELECT n.nspname || '.' || c.relname AS table_code, a.attname AS column_name,
        ARRAY(
            SELECT x.treatment FROM omd.text_column AS x
            WHERE n.nspname || '.' || c.relname LIKE x.table_code AND a.attname LIKE x.column_name
        ) AS treatments,
        a.atttypid IN ('text'::regtype, 'jsonb'::regtype) AS can_be_masked
    FROM pg_class AS c
    INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
    INNER JOIN pg_attribute AS a ON c.oid = a.attrelid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE n.nspname ~ '^omd(_|$)' AND c.relkind IN ('r', 'p', 'f')
        AND NOT EXISTS (SELECT FROM pg_inherits AS h WHERE h.inhrelid = c.oid)
        AND a.atttypid IN (SELECT h.oid FROM holds AS h)
    ORDER BY 1, 2
"""


@pytest.fixture(scope="module")
def made(new_database: Callable[[], AbstractContextManager[str]]) -> Iterator[Connection]:
    """A database in which routines have made tables too."""
    with (
        new_database() as dsn,
        psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as conn,
    ):
        conn.execute(GENERATED.encode())
        yield conn


def test_each_column_that_can_hold_text_is_listed_once(made: Connection) -> None:
    rows = made.execute(COLUMNS.encode()).fetchall()
    assert len(rows) > 400
    assert_none(
        (f"{row['table_code']}.{row['column_name']}", str(row["treatments"]))
        for row in rows
        if len(row["treatments"]) != 1
    )


def test_what_is_erased_can_be_masked(made: Connection) -> None:
    rows = made.execute(COLUMNS.encode()).fetchall()
    assert_none(
        (f"{row['table_code']}.{row['column_name']}", "it is neither text nor jsonb")
        for row in rows
        if row["treatments"] == ["ERASED"] and not row["can_be_masked"]
    )


def test_nothing_is_listed_that_is_not_there(made: Connection) -> None:
    rows = made.execute(
        "SELECT x.table_code || '.' || x.column_name AS name FROM omd.text_column AS x"
        " WHERE NOT EXISTS (SELECT FROM pg_class AS c"
        " INNER JOIN pg_attribute AS a ON c.oid = a.attrelid AND NOT a.attisdropped"
        " WHERE c.relkind IN ('r', 'p')"
        " AND c.relnamespace::regnamespace || '.' || c.relname LIKE x.table_code"
        " AND a.attname LIKE x.column_name)"
    )
    assert_none((row["name"], "it is not there") for row in rows)
