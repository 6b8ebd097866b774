"""A database begins with the baselines, whatever it came from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from omd.programs import install
from omd.programs.install import Action
from omd.programs.install.manifest import Phase
from support.released import released, unnamed

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.server

LISTED = {e.path for e in install.read_manifest() if e.kind is install.Kind.MIGRATION}
FORMER = """
    INSERT INTO omd.installed_file (path, kind, checksum) VALUES
        ('migrations/V001__process_control.sql', 'migration', 'a'),
        ('migrations/V136__claimable_lanes.sql', 'migration', 'b')
"""


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
def test_a_new_database_gets_all_migrations(
    empty_dsn: str, psql: Callable[..., Any], way: str
) -> None:
    build(empty_dsn, way, psql)
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        assert recorded(conn) == LISTED
        versions = conn.execute("SELECT DISTINCT product_version FROM omd.installed_file")
        assert versions.fetchall() == [(install.product_version(),)]


def recorded(conn: psycopg.Connection[Any]) -> set[str]:
    return {
        row[0]
        for row in conn.execute("SELECT path FROM omd.installed_file WHERE kind = 'migration'")
    }


@released
@pytest.mark.parametrize("way", ["omd", "psql"])
def test_what_a_database_has_from_before_the_first_release_is_forgotten(
    upgraded: str, psql: Callable[..., Any], way: str
) -> None:
    """It came to 1.0 by an upgrade, and so has the baselines besides."""
    with psycopg.connect(upgraded, autocommit=True) as conn:
        conn.execute(FORMER)
        if way == "omd":
            planned = {s.path: s for s in install.plan(conn) if s.action is Action.FORGET}
            step = planned["migrations/V001__process_control.sql"]
            assert (step.kind, step.reason) == (install.Kind.MIGRATION, "from before 1.0")
    build(upgraded, way, psql)
    with psycopg.connect(upgraded, autocommit=True) as conn:
        assert recorded(conn) == LISTED
        assert way == "psql" or not install.needs_install(conn)


def test_such_rows_alone_are_forgotten_too(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(FORMER)
        assert install.needs_install(conn)
        done = [s for s in install.install(conn) if s.action not in (Action.RUN, Action.KEEP)]
        assert {step.action for step in done} == {Action.FORGET}
        assert len(done) == 2
        assert recorded(conn) == LISTED


def test_each_room_with_tables_has_a_baseline_in_the_order_of_the_list() -> None:
    baselines = [e for e in install.read_manifest() if e.phase is Phase.BASELINE]
    assert [e.name.partition("__")[2] for e in baselines] == [e.room for e in baselines]
    assert [int(e.name[1:4]) for e in baselines] == list(range(150, 150 + len(baselines)))
