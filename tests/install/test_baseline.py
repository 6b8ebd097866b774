"""A new database begins with the baselines, an old one gets the migrations that it lacks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from omd import errors, install
from omd.install import Action
from omd.install.manifest import Phase
from support.released import begin_as_before, install_as_before, released, unnamed

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.server


def catalogue(dumped: str) -> list[str]:
    """Return a dump in its order, with columns in theirs; only grants have no order."""
    grants = re.compile(r"(GRANT|REVOKE|ALTER DEFAULT PRIVILEGES) ")
    # This build of PostgreSQL 15 gives some columns an option with a number of its own.
    lines = [line for line in dumped.splitlines() if " SET (pg_attver=" not in line]
    return [line for line in lines if not grants.match(line)] + sorted(filter(grants.match, lines))


def build(dsn: str, way: str, psql: Callable[..., Any]) -> None:
    if way == "omd":
        with psycopg.connect(dsn, autocommit=True) as conn:
            install.install(conn)
    else:
        done = psql(dsn, install.sql_root() / install.MANIFEST)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("way", ["omd", "psql"])
def test_the_migrations_of_before_lead_to_the_baselines(
    empty_dsn: str, dsn: str, dump: Callable[[str], str], psql: Callable[..., Any], way: str
) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        begin_as_before(conn)
    build(empty_dsn, way, psql)
    assert catalogue(dump(empty_dsn)) == catalogue(dump(dsn))
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        assert recorded(conn) == {
            entry.recorded for entry in install.read_manifest() if entry.kind.value == "migration"
        }


@released
@pytest.mark.parametrize("way", ["omd", "psql"])
def test_a_released_version_has_its_columns_in_the_order_of_a_new_database(
    upgraded: str, dsn: str, psql: Callable[..., Any], dump: Callable[..., str], way: str
) -> None:
    build(upgraded, way, psql)
    with psycopg.connect(upgraded, autocommit=True) as conn:
        conn.execute("DROP SCHEMA dwh CASCADE")

    def schema(dsn: str) -> list[str]:
        return catalogue(unnamed(dump(dsn, "--schema-only")))

    assert schema(upgraded) == schema(dsn)


@pytest.mark.parametrize("way", ["omd", "psql"])
def test_a_new_database_gets_only_the_baselines(
    empty_dsn: str, psql: Callable[..., Any], way: str
) -> None:
    build(empty_dsn, way, psql)
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        assert recorded(conn) == {
            entry.recorded
            for entry in install.read_manifest()
            if entry.kind.value == "migration" and entry.phase is not Phase.BEFORE
        }
        versions = conn.execute("SELECT DISTINCT product_version FROM omd.installed_file")
        assert versions.fetchall() == [(install.product_version(),)]


def recorded(conn: psycopg.Connection[Any]) -> set[str]:
    return {
        row[0]
        for row in conn.execute("SELECT path FROM omd.installed_file WHERE kind = 'migration'")
    }


def test_the_state_before_the_baselines_gets_them_recorded_and_nothing_else(
    empty_dsn: str, dsn: str, dump: Callable[[str], str]
) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        install_as_before(conn)
        steps = install.install(conn)
        done = {
            step.path: step.action for step in steps if step.action.value not in ("keep", "run")
        }
        assert set(done.values()) == {Action.APPLY}
        assert all(path.startswith("migrations/V1") for path in done)
        assert not install.needs_install(conn)
    assert catalogue(dump(empty_dsn)) == catalogue(dump(dsn))


@pytest.mark.parametrize("way", ["omd", "psql"])
def test_a_moved_migration_is_the_same_entry(
    empty_dsn: str, psql: Callable[..., Any], way: str
) -> None:
    """By its name and checksum, wherever it lay when it was applied."""
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        install_as_before(conn)
        before = recorded(conn)
        build(empty_dsn, way, psql)
        after = recorded(conn)
        assert len(after) == len({path.rpartition("/")[2] for path in after})
        assert before < after


def test_a_changed_migration_of_before_is_refused(empty_dsn: str, tree: Any) -> None:
    path = "migrations/before_1_0/V001__process_control.sql"
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        install_as_before(conn)
        tree.append(path, "SELECT 1;\n")
        tree.release(path)
        with pytest.raises(errors.MigrationChanged, match="after it was applied"):
            install.install(conn, tree.root)


def test_each_room_with_tables_has_a_baseline_in_the_order_of_the_list() -> None:
    baselines = [e for e in install.read_manifest() if e.phase is Phase.BASELINE]
    assert [e.name.partition("__")[2] for e in baselines] == [e.room for e in baselines]
    assert [int(e.name[1:4]) for e in baselines] == list(range(150, 150 + len(baselines)))
