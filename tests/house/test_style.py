"""The rules of style for every object in the database and for every SQL file."""

from __future__ import annotations

import re

from omd.programs import install
from support.offenders import assert_none

ROUTINES = "FROM pg_proc p WHERE p.pronamespace::regnamespace::text ~ '^omd(_|$)'"
RELATIONS = "c.relnamespace::regnamespace::text ~ '^omd(_|$)' AND c.relkind IN ('r', 'v', 'm', 'p')"


def names(conn, query):
    return {row["name"] for row in conn.execute(query)}


OBJECTS = {
    "schemas": """
        SELECT nspname AS name, obj_description(oid, 'pg_namespace') AS comment
          FROM pg_namespace WHERE nspname ~ '^omd(_|$)'""",
    "tables and views": f"""
        SELECT c.oid::regclass::text AS name, obj_description(oid, 'pg_class') AS comment
          FROM pg_class c WHERE {RELATIONS}""",
    "columns": f"""
        SELECT c.oid::regclass || '.' || attname AS name,
               col_description(attrelid, attnum) AS comment
          FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
         WHERE {RELATIONS} AND attnum > 0 AND NOT attisdropped""",
    "routines": f"""
        SELECT p.oid::regprocedure::text AS name, obj_description(oid, 'pg_proc') AS comment
        {ROUTINES}""",
    "triggers": f"""
        SELECT tgname AS name, obj_description(t.oid, 'pg_trigger') AS comment
          FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid
         WHERE {RELATIONS} AND NOT tgisinternal""",
}


def test_everything_is_explained(installed):
    unexplained = []
    for objects, query in OBJECTS.items():
        rows = installed.execute(query).fetchall()
        assert rows, objects
        unexplained += [(r["name"], objects) for r in rows if not (r["comment"] or "").strip()]
    assert_none(unexplained)


def test_there_are_no_overloads(installed):
    query = f"""
        SELECT p.pronamespace::regnamespace || '.' || p.proname AS name {ROUTINES}
         GROUP BY 1 HAVING count(*) > 1
    """
    assert names(installed, query) == set()


def test_constraints_and_indexes_follow_the_naming(installed):
    query = """
        SELECT conname AS name FROM pg_constraint
         WHERE connamespace::regnamespace::text ~ '^omd(_|$)' AND contype IN ('p', 'u', 'f', 'c')
           AND conname !~ CASE contype WHEN 'p' THEN '^pk_' WHEN 'u' THEN '^uq_'
                                       WHEN 'f' THEN '^fk_' ELSE '^ck_' END
        UNION ALL
        SELECT c.relname FROM pg_class c
         WHERE c.relnamespace::regnamespace::text ~ '^omd(_|$)' AND c.relkind = 'i'
           AND c.relname !~ '^(pk|uq|ix)_'
        UNION ALL
        SELECT t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
         WHERE NOT t.tgisinternal AND c.relnamespace::regnamespace::text ~ '^omd(_|$)'
           AND t.tgname !~ '^trg_'
    """
    assert names(installed, query) == set()


def test_every_exception_has_an_sqlstate():
    raised = [
        (entry.path, statement)
        for entry in install.read_manifest()
        for statement in re.findall(r"RAISE\s+EXCEPTION\b[^;]*;", entry.text, re.IGNORECASE)
    ]
    assert len(raised) > 20
    assert_none(r for r in raised if not re.search(r"ERRCODE\s*=", r[1], re.IGNORECASE))


def test_no_view_calls_a_volatile_function(conn):
    """Such a view is computed as a whole before a LIMIT or a condition applies."""
    query = """
        SELECT v.oid::regclass::text || ': ' || p.proname AS name
          FROM pg_class v
          JOIN pg_rewrite w ON w.ev_class = v.oid
          CROSS JOIN LATERAL regexp_matches(w.ev_action::text, ':funcid (\\d+)', 'g') AS used (m)
          JOIN pg_proc p ON p.oid = used.m[1]::oid
         WHERE v.relnamespace::regnamespace::text ~ '^omd(_|$)' AND p.provolatile = 'v'
    """
    assert names(conn, query) == set()
    conn.execute("CREATE VIEW omd_report.bad AS SELECT clock_timestamp() AS now")
    assert names(conn, query) == {"omd_report.bad: clock_timestamp"}
