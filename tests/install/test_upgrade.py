"""Each released version is upgraded to the same database as a new installation."""

from __future__ import annotations

import re
from collections.abc import Callable

import psycopg

from omd.programs import install
from support.released import RELEASED, released, unnamed


@released
def test_a_released_version_is_upgraded(
    upgraded: str, dsn: str, dump: Callable[[str], str]
) -> None:
    with psycopg.connect(upgraded, autocommit=True) as conn:
        install.install(conn)
        begun = conn.execute("CALL omd.begin_module('m')").fetchone()
        assert begun is not None
        assert begun[:3] == (2, "P", [1])
        assert conn.execute("SELECT count(*) FROM dwh.t").fetchone() == (0,)
        conn.execute("DROP SCHEMA dwh CASCADE")
        conn.execute("SET session_replication_role = replica")
        for table in ("module", "module_state", "undone_run", "event_log"):
            conn.execute(f"DELETE FROM omd.{table}".encode())
        conn.execute("DELETE FROM omd.module_instance WHERE module_instance_id > 0")
        conn.execute("UPDATE omd_event.setting SET module_instance_id = 0")
        conn.execute("TRUNCATE omd_event.outbox RESTART IDENTITY")
    assert comparable(dump(upgraded)) == comparable(dump(dsn))


def comparable(dumped: str) -> list[str]:
    """Grants have no order; keys of templates, and steps that were done, depend on the age."""
    rows = re.sub(r"(INSERT INTO omd.rollback_template .*?VALUES \()\d+", r"\1", unnamed(dumped))
    return sorted(row for row in rows.splitlines() if "omd.upgrade_step VALUES" not in row)


def test_there_is_a_release_to_upgrade() -> None:
    assert RELEASED


@released
def test_psql_upgrades_too_and_drops_what_is_retired(upgraded: str, psql) -> None:
    done = psql(upgraded, install.sql_root() / install.MANIFEST)
    assert done.returncode == 0, done.stderr
    with psycopg.connect(upgraded, autocommit=True) as conn:
        left = conn.execute(
            "SELECT p.oid::regprocedure::text FROM pg_proc AS p"
            " WHERE obj_description(p.oid, 'pg_proc') LIKE 'Retired.%'"
        )
        assert left.fetchall() == []
        assert conn.execute("CALL omd.begin_module('m')").fetchone()[:3] == (2, "P", [1])
