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
    """A database as the release left it, with a Module whose run has failed."""
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
    """Grants have no order, and the surrogate keys of the templates tell how old the rows are."""
    rows = re.sub(r"(INSERT INTO omd.rollback_template .*?VALUES \()\d+", r"\1", dumped)
    return sorted(rows.splitlines())


def test_there_is_a_release_to_upgrade() -> None:
    assert RELEASED
