"""Each released version is upgraded to the same database as a new installation."""

from __future__ import annotations

import re
from collections.abc import Callable

import psycopg
import pytest

from omd import install
from support.released import (
    RELEASED,
    long_ago_with_lineage,
    released,
    released_with_lineage,
    unnamed,
)


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


@long_ago_with_lineage
def test_topics_and_their_statements_go_on_under_the_new_names(upgraded: str) -> None:
    with psycopg.connect(upgraded, autocommit=True) as conn:
        for statement in (
            "CREATE TABLE dwh.src (pos timestamptz, id bigint, PRIMARY KEY (pos, id))",
            "CREATE TABLE dwh.f (id bigint, omd_insert_module_instance_id bigint)",
            "CREATE TABLE dwh.progress (told timestamptz, seen timestamptz)",
            (
                "CREATE VIEW dwh.v AS SELECT id FROM dwh.src AS s"
                " WHERE omd_lineage.in_block(s.pos, s.id) AND s.pos <= (omd_lineage.block_end()).ts"
            ),
            "CREATE VIEW dwh.report AS SELECT topic, last_ts FROM omd_report.lineage_lag",
            (
                "INSERT INTO dwh.src SELECT timestamptz '2020-01-01 UTC' + n * interval '1 day', n"
                " FROM generate_series(1, 3) AS n"
            ),
            "CALL omd_lineage.register_topic('dwh.src')",
            (
                "CALL omd_lineage.register_topic('dwh.f', ARRAY['dwh.src'], p_maxstep => 1,"
                " p_transforms => ARRAY['dwh.v'], p_after_sql => ARRAY["
                "'INSERT INTO dwh.progress VALUES ((omd_lineage.block_end() ) .ts,"
                " (OMD_LINEAGE.block_start()).TS)'])"
            ),
            "CALL omd_lineage.step('dwh.f')",
        ):
            conn.execute(statement.encode())
        install.install(conn)
        answer = conn.execute("CALL omd_lineage.step('dwh.f')").fetchone()
        assert answer is not None
        assert answer[0] == "DONE", answer
        assert conn.execute("SELECT id FROM dwh.f ORDER BY id").fetchall() == [(1,), (2,)]
        assert conn.execute("SELECT extract(day FROM told AT TIME ZONE 'UTC') FROM dwh.progress"
                            " ORDER BY told").fetchall() == [(2,), (3,)]  # fmt: skip
        seen = conn.execute("SELECT topic, last_ts = timestamptz '2020-01-03 UTC' FROM dwh.report")
        assert seen.fetchall() == [("dwh.f", True)]


@released_with_lineage
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


@long_ago_with_lineage
def test_a_table_that_had_several_spellings_has_one_after_the_upgrade(upgraded: str) -> None:
    with psycopg.connect(upgraded, autocommit=True) as conn:
        for statement in (
            "CREATE TABLE dwh.src (pos timestamptz, id bigint, PRIMARY KEY (pos, id))",
            "CREATE TABLE dwh.f (id bigint, omd_insert_module_instance_id bigint)",
            (
                "CREATE VIEW dwh.v AS SELECT id FROM dwh.src AS s"
                " WHERE omd_lineage.in_block(s.pos, s.id)"
            ),
            (
                "INSERT INTO dwh.src SELECT timestamptz '2020-01-01 UTC' + n * interval '1 day', n"
                " FROM generate_series(1, 3) AS n"
            ),
            "CALL omd.register_module('load', 'HSTG', 'DWH.\"src\"')",
            "CALL omd_lineage.register_topic('DWH.Src')",
            (
                "CALL omd_lineage.register_topic('\"dwh\".F#a', ARRAY['dwh.src'],"
                " p_transforms => ARRAY['DWH.v'])"
            ),
            "CALL omd_lineage.register_topic('DWH.F#a', p_source_offset => 'HAND')",
        ):
            conn.execute(statement.encode())
        with pytest.raises(install.InstallError, match=r"DWH\.F#a") as clash:
            install.install(conn)
        assert "remove_topic" in (clash.value.hint or "")
        conn.execute("CALL omd_lineage.remove_topic('DWH.F#a')")
        install.install(conn)
        assert conn.execute(
            "SELECT t.topic, t.table_code, t.depends_on, t.transforms, o.topic, s.topic"
            " FROM omd_lineage.topic AS t INNER JOIN omd_lineage.offsets AS o USING (topic_id)"
            " LEFT JOIN omd_lineage.dependency AS d USING (topic_id)"
            " LEFT JOIN omd_lineage.topic AS s ON d.source_topic_id = s.topic_id"
            " ORDER BY t.topic"
        ).fetchall() == [
            ("dwh.f#a", "dwh.f", ["dwh.src"], ["dwh.v"], "dwh.f#a", "dwh.src"),
            ("dwh.src", "dwh.src", [], [], "dwh.src", None),
        ]
        modules = conn.execute("SELECT DISTINCT table_code FROM omd.module ORDER BY 1").fetchall()
        assert modules == [("dwh.f",), ("dwh.src",), ("dwh.t",)]
        answer = conn.execute("CALL omd_lineage.step('DWH.F#a')").fetchone()
        assert answer is not None
        assert (answer[0], answer[2]) == ("DONE", 2)
