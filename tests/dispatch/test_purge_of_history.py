"""The schedule omd.purge: shipped inactive and without a keep, and what it does when it is on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from subprocess import CompletedProcess
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from omd.programs.install import install

Command = Callable[..., CompletedProcess[str]]
Connection = psycopg.Connection[dict[str, Any]]


@pytest.fixture
def here(new_database: Callable[[], AbstractContextManager[str]]) -> Iterator[str]:
    """A new database, as an installation leaves it."""
    with new_database() as dsn:
        yield dsn


@pytest.fixture
def conn(here: str) -> Iterator[Connection]:
    """With six runs of two years ago."""
    with psycopg.connect(here, autocommit=True, row_factory=dict_row) as conn:
        conn.execute("CREATE SCHEMA dwh; CREATE TABLE dwh.t (omd_insert_module_instance_id bigint)")
        conn.execute("CALL omd.register_module('m', 'STG', 'dwh.t', p_executable => 'SELECT 1')")
        for _ in range(6):
            conn.execute("CALL omd.run_module('m')")
        conn.execute(
            "SET ROLE omd_owner;"
            " UPDATE omd.module_instance SET start_datetime = start_datetime - interval '2 years'"
            " WHERE module_instance_id > 0; RESET ROLE"
        )
        yield conn


def runs(conn: Connection) -> int:
    row = conn.execute(
        "SELECT count(*) AS runs FROM omd.module_instance WHERE module_instance_id > 0"
    ).fetchone()
    assert row is not None
    count: int = row["runs"]
    return count


def switch_on(conn: Connection, payload: str | None) -> None:
    conn.execute(
        "CALL omd_dispatch.register_schedule('omd.purge', p_payload => %s,"
        " p_inactive_indicator => 'N', p_next_time => now())",
        [payload],
    )


@pytest.fixture
def work(omd_command: Command, here: str) -> Callable[[], None]:
    """Let a worker of the group ADMIN do all that is due."""

    def run() -> None:
        assert omd_command("call", "omd_dispatch.maintain", dsn=here).returncode == 0
        done = omd_command("worker", "--group", "ADMIN", "--until-quiet", dsn=here)
        assert done.returncode == 0, done.stderr
        assert "failed" not in done.stderr, done.stderr

    return run


def test_it_is_shipped_inactive_and_without_a_keep(
    conn: Connection, work: Callable[[], None]
) -> None:
    shipped = "SELECT inactive_indicator, payload FROM omd_dispatch.task_schedule"
    assert conn.execute(shipped).fetchall() == [{"inactive_indicator": "Y", "payload": None}]
    conn.execute("UPDATE omd_dispatch.task_schedule SET next_time = now()")
    work()
    assert runs(conn) == 6
    rows = conn.execute("SELECT is_purged, keep FROM omd_report.history").fetchall()
    assert rows
    assert all(row == {"is_purged": False, "keep": None} for row in rows)


def test_without_a_keep_it_deletes_no_history(conn: Connection, work: Callable[[], None]) -> None:
    switch_on(conn, None)
    work()
    (task,) = conn.execute("SELECT status FROM omd_dispatch.task_data_call").fetchall()
    assert (task["status"], runs(conn)) == ("DONE", 6)
    history = conn.execute("SELECT table_code FROM omd_report.history WHERE is_purged").fetchall()
    assert history == [{"table_code": "omd_facts.change_key"}]


def test_with_a_keep_a_worker_of_its_group_purges(
    conn: Connection, work: Callable[[], None], omd_here: Command, here: str
) -> None:
    told = omd_here("doctor", dsn=here).stdout
    assert "kept for ever. With a keep of 90 days, a purge would delete at most 6 of" in told
    command = conn.execute("SELECT command FROM omd_report.history LIMIT 1").fetchone()
    assert command is not None
    conn.execute(command["command"])
    conn.execute("UPDATE omd_dispatch.task_schedule SET next_time = now()")
    work()
    assert runs(conn) == 1
    assert "kept for 90 days, purged next at " in omd_here("doctor", dsn=here).stdout


def test_an_installation_leaves_what_an_administrator_has_set(conn: Connection, here: str) -> None:
    switch_on(conn, '{"keep": "10 years"}')
    conn.execute("UPDATE omd.installed_file SET checksum = 'x' WHERE path ~ 'dispatch/codes'")
    with psycopg.connect(here, autocommit=True) as other:
        install(other)
    (row,) = conn.execute("SELECT * FROM omd_dispatch.task_schedule").fetchall()
    assert (row["inactive_indicator"], row["payload"]) == ("N", {"keep": "10 years"})
    assert runs(conn) == 6


def test_a_room_that_fails_makes_the_task_fail(conn: Connection) -> None:
    conn.execute(
        "UPDATE omd.purge_step SET step_routine = 'not_there' WHERE schema_name = 'omd_lineage'"
    )
    with pytest.raises(psycopg.Error) as caught:
        conn.execute('CALL omd_dispatch._purge_rooms(\'{"keep": "1 year"}\')')
    assert caught.value.sqlstate == "OM175"
    assert "omd_lineage" in str(caught.value)
    assert runs(conn) == 1
