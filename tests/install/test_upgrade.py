"""Each released version is upgraded to the same database as a new installation.

``released/Vnnn.sql.gz`` is what the release with that last migration installs:
``pg_dump --inserts`` of an empty database after its ``psql -f sql/install.sql``, on PostgreSQL 15.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from omd import install

RELEASED = sorted((Path(__file__).parent / "released").glob("V*.sql.gz"))


@pytest.fixture
def upgraded(empty_dsn: str, request: pytest.FixtureRequest, psql, tmp_path) -> str:
    """A database as the release has installed it, with a Module whose run has failed."""
    dsn = empty_dsn
    dumped = tmp_path / "released.sql"
    roles = install.sql_root() / "sql" / "roles.sql"
    dumped.write_bytes(roles.read_bytes() + gzip.decompress(request.param.read_bytes()))
    loaded = psql(dsn, dumped)
    assert "ERROR" not in loaded.stderr, loaded.stderr
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CREATE SCHEMA dwh")
        conn.execute("CREATE TABLE dwh.t (omd_insert_module_instance_id bigint)")
        conn.execute("CALL omd.register_module('m', 'HSTG', 'dwh.t')")
        conn.execute("CALL omd.begin_module('m')")
        conn.execute("INSERT INTO dwh.t VALUES (1)")
        conn.execute("CALL omd.module_failure(1, 'gone')")
    return dsn


@pytest.mark.parametrize("upgraded", RELEASED, indirect=True, ids=lambda file: file.name[:4])
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
        for table in ("module", "event_log"):
            conn.execute(f"DELETE FROM omd.{table}".encode())
        conn.execute("DELETE FROM omd.module_instance WHERE module_instance_id > 0")
    assert comparable(dump(upgraded)) == comparable(dump(dsn))


def comparable(dumped: str) -> list[str]:
    """Grants have no order, and the surrogate keys of templates depend on the age of the rows."""
    rows = re.sub(r"(INSERT INTO omd.rollback_template .*?VALUES \()\d+", r"\1", dumped)
    return sorted(rows.splitlines())


def test_there_is_a_release_to_upgrade() -> None:
    assert RELEASED


LINEAGE = [file for file in RELEASED if file.name >= "V004"]


@pytest.mark.parametrize("upgraded", LINEAGE, indirect=True, ids=lambda file: file.name[:4])
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


@pytest.mark.parametrize("upgraded", LINEAGE, indirect=True, ids=lambda file: file.name[:4])
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
