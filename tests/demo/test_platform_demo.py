"""``omd demo platform`` shows what is true, needs no glue, and its proof can fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import dict_row

from omd.programs.demo import files
from omd.programs.demo.platform import night, proof
from omd.programs.demo.platform.supplier import Supplier

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

pytestmark = [pytest.mark.spark, pytest.mark.kill]

# What is neither OMD's nor made of the model.
OWN = (
    "n.nspname !~ '^(pg_|omd|user_code$|information_schema$"
    "|(lvl|cfl|gdal|asof|history|changes)_nyc_night)'"
)


@pytest.fixture(scope="module")
def accepted(tmp_path_factory: pytest.TempPathFactory) -> dict[int, list[list[str]]]:
    source = files.prepare(tmp_path_factory.mktemp("source"))
    return Supplier(source, tmp_path_factory.mktemp("drop"), night.DAYS).flights


@pytest.fixture(scope="module")
def played(
    new_database: Callable[[], AbstractContextManager[str]],
    omd_command: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[psycopg.Connection[dict[str, Any]], subprocess.CompletedProcess[str]]]:
    """A database in which the demo was played, and its output."""
    lake = str(tmp_path_factory.mktemp("lake"))
    with new_database() as dsn:
        command = ("demo", "platform", "--master", "local[2]", "--folder", lake)
        done = omd_command(*command, dsn=dsn, timeout=1200)
        with psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as connection:
            yield connection, done


def test_the_night_ends_well_and_needs_no_glue(played: Any, accepted: Any) -> None:
    connection, done = played
    assert done.returncode == 0, done.stdout + done.stderr
    assert "accepted flights is in each table once" in done.stdout
    assert done.stdout.count("kill -KILL") == 2

    def names(query: str) -> list[str]:
        return [row["name"] for row in connection.execute(query.encode())]

    assert (
        names(
            "SELECT p.oid::regprocedure::text AS name FROM pg_proc AS p"
            f" JOIN pg_namespace AS n ON n.oid = p.pronamespace WHERE {OWN}"
        )
        == []
    )
    assert (
        names(
            "SELECT c.oid::regclass::text AS name FROM pg_class AS c"
            " JOIN pg_namespace AS n ON n.oid = c.relnamespace"
            " JOIN pg_rewrite AS r ON r.ev_class = c.oid"
            " JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid"
            " AND d.refclassid = 'pg_class'::regclass"
            " JOIN pg_class AS o ON o.oid = d.refobjid"
            f" WHERE {OWN} AND o.relnamespace::regnamespace::text LIKE 'omd%'"
        )
        == []
    )
    assert names("SELECT schedule_code AS name FROM omd_report.dispatch_schedules") == ["omd.purge"]
    assert (
        names(
            "SELECT code AS name FROM omd_report.work WHERE state NOT IN ('IDLE', 'WAITING')"
            " OR failures > 0 OR task_id IS NOT NULL"
        )
        == []
    )
    assert names("SELECT code AS name FROM omd_report.ready_work") == []


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM {} WHERE ctid = (SELECT ctid FROM {} LIMIT 1)",
        "UPDATE {} SET flight = flight + 1000000 WHERE ctid = (SELECT ctid FROM {} LIMIT 1)",
        "UPDATE {} SET omd_insert_module_instance_id = 0",
    ],
)
@pytest.mark.parametrize("table", ["departure", "care"])
def test_a_row_that_is_lost_changed_or_of_no_run_is_noticed(
    played: Any, accepted: Any, table: str, change: str
) -> None:
    connection, _ = played
    name = f"mart_nyc_night.{table}"
    with connection.transaction(force_rollback=True):
        assert all(check.holds for check in proof.prove(connection, proof.NAME, accepted))
        connection.execute(change.replace("{}", name).encode())
        wrong = [c for c in proof.prove(connection, proof.NAME, accepted) if not c.holds]
    assert [check.expected.table_code for check in wrong] == [name]
    assert wrong[0].problem
