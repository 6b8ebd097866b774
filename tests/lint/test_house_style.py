"""What the style asks of every object in the database, and of every SQL file."""

from __future__ import annotations

import re

import pytest

from omd import install

# These end their own transactions, which PostgreSQL refuses to a routine with SET; or a SET would
# hide the settings that they look at.
CONTROLS_TRANSACTIONS = {
    "omd.run_module",
    "omd.run_batch",
    "omd.execute_module",
    "omd._execute_batch",
    "omd.purge_history",
    "omd.require_no_transaction_block",
    "omd._restore_settings",
    "omd_lineage.step",
}

ROUTINES = "FROM pg_proc p WHERE p.pronamespace::regnamespace::text ~ '^omd'"
RELATIONS = "c.relnamespace::regnamespace::text ~ '^omd' AND c.relkind IN ('r', 'v', 'm', 'p')"


def names(conn, query):
    return {row["name"] for row in conn.execute(query)}


def test_every_routine_has_a_comment(conn):
    query = f"SELECT p.oid::regprocedure::text AS name {ROUTINES}"
    assert names(conn, query)
    assert names(conn, f"{query} AND obj_description(p.oid, 'pg_proc') IS NULL") == set()


def test_every_table_view_and_column_has_a_comment(conn):
    relations = f"SELECT c.oid::regclass::text AS name FROM pg_class c WHERE {RELATIONS}"
    assert names(conn, relations)
    assert names(conn, f"{relations} AND obj_description(c.oid, 'pg_class') IS NULL") == set()
    columns = f"""
        SELECT c.oid::regclass || '.' || a.attname AS name
          FROM pg_class c
          JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
         WHERE {RELATIONS} AND col_description(c.oid, a.attnum) IS NULL
    """
    assert names(conn, columns) == set()


def test_no_routine_is_executable_by_everyone(conn):
    query = f"""
        SELECT p.oid::regprocedure::text AS name {ROUTINES} AND EXISTS (
            SELECT FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a
             WHERE a.grantee = 0)
    """
    assert names(conn, query) == set()


def test_every_routine_pins_its_search_path(conn):
    # A body of BEGIN ATOMIC is resolved when it is created: no search path reaches it.
    query = f"""
        SELECT p.pronamespace::regnamespace || '.' || p.proname AS name {ROUTINES}
           AND p.prosqlbody IS NULL
           AND NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (p.proconfig), false)
    """
    assert names(conn, query) - CONTROLS_TRANSACTIONS == set()


def test_there_are_no_overloads(conn):
    query = f"""
        SELECT p.pronamespace::regnamespace || '.' || p.proname AS name {ROUTINES}
         GROUP BY 1 HAVING count(*) > 1
    """
    assert names(conn, query) == set()


def test_constraints_and_indexes_follow_the_naming(conn):
    query = """
        SELECT conname AS name FROM pg_constraint
         WHERE connamespace::regnamespace::text ~ '^omd' AND contype IN ('p', 'u', 'f', 'c')
           AND conname !~ CASE contype WHEN 'p' THEN '^pk_' WHEN 'u' THEN '^uq_'
                                       WHEN 'f' THEN '^fk_' ELSE '^ck_' END
        UNION ALL
        SELECT c.relname FROM pg_class c
         WHERE c.relnamespace::regnamespace::text ~ '^omd' AND c.relkind = 'i'
           AND c.relname !~ '^(pk|uq|ix)_'
        UNION ALL
        SELECT t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
         WHERE NOT t.tgisinternal AND c.relnamespace::regnamespace::text ~ '^omd'
           AND t.tgname !~ '^trg_'
    """
    assert names(conn, query) == set()


@pytest.mark.parametrize("entry", install.read_manifest(), ids=lambda entry: entry.path)
def test_every_exception_has_an_sqlstate(entry):
    raised = re.findall(r"RAISE\s+EXCEPTION\b[^;]*;", entry.text, re.IGNORECASE)
    assert [r for r in raised if not re.search(r"ERRCODE\s*=", r, re.IGNORECASE)] == []


def test_no_view_calls_a_volatile_function(conn):
    """A view that does is computed whole before a LIMIT or a condition reaches it."""
    query = """
        SELECT v.oid::regclass::text || ': ' || p.proname AS name
          FROM pg_class v
          JOIN pg_rewrite w ON w.ev_class = v.oid
          CROSS JOIN LATERAL regexp_matches(w.ev_action::text, ':funcid (\\d+)', 'g') AS used (m)
          JOIN pg_proc p ON p.oid = used.m[1]::oid
         WHERE v.relnamespace::regnamespace::text ~ '^omd' AND p.provolatile = 'v'
    """
    assert names(conn, query) == set()
    conn.execute("CREATE VIEW omd_report.bad AS SELECT clock_timestamp() AS now")
    assert names(conn, query) == {"omd_report.bad: clock_timestamp"}
