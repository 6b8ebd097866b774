"""Families of tasks that are there already are those of the new version, and workers go on."""

from __future__ import annotations

from typing import Any

import psycopg

from omd.programs import install
from support.released import released

# What belongs to a family, with its rights and its comment.
OBJECTS = """
    SELECT replace(lower(o.name), lower(%(family)s), 'family'), replace(o.rights, %(family)s, ''),
        replace(o.comment, %(family)s, 'FAMILY')
    FROM (
        SELECT c.relname, c.relacl::text, obj_description(c.oid, 'pg_class') FROM pg_class AS c
        WHERE c.relnamespace = 'omd_dispatch'::regnamespace AND c.relkind IN ('r', 'p', 'v')
        UNION ALL
        SELECT a.attrelid::regclass || '.' || a.attname, a.attacl::text,
            col_description(a.attrelid, a.attnum)
        FROM pg_attribute AS a INNER JOIN pg_class AS c ON a.attrelid = c.oid
        WHERE c.relnamespace = 'omd_dispatch'::regnamespace AND a.attnum > 0
        UNION ALL
        SELECT p.oid::regprocedure::text, p.proacl::text, obj_description(p.oid, 'pg_proc')
        FROM pg_proc AS p WHERE p.pronamespace = 'omd_dispatch'::regnamespace
    ) AS o (name, rights, comment)
    WHERE o.name ~* ('_' || %(family)s || '(_|$|[.(])')
    ORDER BY 1
"""


def register(conn: psycopg.Connection[Any], family: str) -> None:
    conn.execute("CALL omd_dispatch.register_family(%s, p_migration_status => 2)", [family])
    conn.execute(
        "CALL omd_dispatch.register_task_type(%s, %s, 'PYTHON', 'm:f')", [family, f"{family}_T"]
    )
    conn.execute("CALL omd_dispatch.create_task(%s, %s)", [family, f"{family}_T"])


@released
def test_a_family_of_before_is_one_of_the_new_version(upgraded: str) -> None:
    with (
        psycopg.connect(upgraded, autocommit=True) as conn,
        psycopg.connect(upgraded) as worker,
    ):
        register(conn, "XOLD")
        worker.execute("SELECT FROM omd_dispatch.old_task_data_xold FOR UPDATE")
        install.install(conn)
        worker.execute("SELECT count(*) FROM omd.module_instance")
        worker.commit()
        register(conn, "XNEW")
        conn.execute("CALL omd_dispatch.create_task('XOLD', 'XOLD_T')")
        for family in ("XOLD", "XNEW"):
            differs = conn.execute("SELECT * FROM omd_dispatch.compare_models(%s)", [family])
            assert differs.fetchall() == []
        old, new = (conn.execute(OBJECTS, {"family": f}).fetchall() for f in ("XOLD", "XNEW"))
        assert len(new) > 40
        assert old == new
