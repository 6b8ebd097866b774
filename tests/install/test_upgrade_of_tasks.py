"""Families of tasks that are there already get what an upgrade adds, while workers are at work."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg

from omd import install
from support.released import install_as_before

COLUMNS = (
    "SELECT c.relname, col_description(a.attrelid, a.attnum),"
    " has_column_privilege('omd_reader', c.oid, a.attnum, 'SELECT')"
    " FROM pg_attribute AS a INNER JOIN pg_class AS c ON a.attrelid = c.oid"
    " WHERE a.attname = 'pending_since' AND c.relkind IN ('r', 'p') ORDER BY 1"
)


def as_before(conn: psycopg.Connection[Any]) -> None:
    """Make a database of the version in which no task said since when it is pending again."""
    conn.execute("SET ROLE omd_owner")
    for family in ("run", "call", "work", "old"):
        for table in (f"task_data_{family}", f"task_data_{family}_swap", f"old_task_data_{family}"):
            conn.execute(
                f"ALTER TABLE IF EXISTS omd_dispatch.{table} DROP COLUMN pending_since".encode()
            )
    conn.execute("DELETE FROM omd.installed_file WHERE path LIKE '%V117__pending_since.sql'")
    conn.execute("RESET ROLE")


def test_tasks_say_since_when_they_are_pending_again_after_an_upgrade(empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        install_as_before(conn)
        conn.execute("CALL omd_dispatch.register_family('OLD', p_migration_status => 2)")
        conn.execute("CALL omd_dispatch.register_task_type('OLD', 'OLD_T', 'PYTHON', 'm:f')")
        conn.execute("CALL omd_dispatch.create_task('OLD', 'OLD_T')")
        there = conn.execute(COLUMNS).fetchall()
        as_before(conn)
        assert len(there) > 40
        assert conn.execute(COLUMNS).fetchall() == []
        worker = psycopg.connect(empty_dsn)
        worker.execute("SELECT FROM omd_dispatch.old_task_data_old FOR UPDATE")
        with ThreadPoolExecutor(1) as pool, psycopg.connect(empty_dsn, autocommit=True) as other:
            upgrade = pool.submit(install.install, other)
            waits = (
                "SELECT count(*) FROM pg_locks AS l WHERE NOT l.granted AND l.locktype = 'relation'"
                " AND l.relation = 'omd_dispatch.old_task_data_old'::regclass"
            )
            while conn.execute(waits).fetchone() == (0,) and not upgrade.done():
                pass
            # The worker goes on: the installation holds nothing that it may want.
            worker.execute("SELECT count(*) FROM omd.module_instance")
            worker.commit()
            upgrade.result()
        assert conn.execute(COLUMNS).fetchall() == there
        assert conn.execute("SELECT * FROM omd_dispatch.compare_models('OLD')").fetchall() == []
        conn.execute("CALL omd_dispatch.create_task('OLD', 'OLD_T')")
        assert conn.execute("SELECT * FROM omd_dispatch.compare_models('OLD')").fetchall() == []
        worker.close()
