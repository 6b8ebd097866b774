"""Runs that execute while a released version is upgraded end well."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import psycopg
import pytest
from tests.install.test_upgrade import RELEASED, upgraded  # noqa: F401 - a fixture

from omd import install

if TYPE_CHECKING:
    from collections.abc import Callable

EXECUTABLE = "SELECT pg_advisory_xact_lock(42)"


def scene(conn: psycopg.Connection) -> None:
    """b contains m1 and m2, and its child c contains m3; m1 waits."""
    conn.execute("CALL omd.register_batch('b', 'Adhoc')")
    conn.execute("CALL omd.register_batch('c', 'Adhoc')")
    conn.execute("CALL omd.add_batch_to_parent_batch('c', 'b')")
    for n, (batch, executable) in enumerate(
        (("b", EXECUTABLE), ("b", "SELECT 1"), ("c", "SELECT 1")), 1
    ):
        call = "CALL omd.register_module(%s, 'HSTG', 'dwh.t', p_executable => %s)"
        conn.execute(call, [f"m{n}", executable])
        conn.execute("CALL omd.add_module_to_batch(%s, %s, %s)", [batch, f"m{n}", n])


@pytest.mark.parametrize("upgraded", RELEASED, indirect=True, ids=lambda file: file.name[:4])
@pytest.mark.parametrize("killed", [False, True])
def test_a_run_that_executes_during_an_upgrade_ends_well(
    upgraded: str,  # noqa: F811
    connect: Callable[..., psycopg.Connection[dict[str, object]]],
    killed: bool,
) -> None:
    conn, runner = (connect(upgraded, row_factory=psycopg.rows.tuple_row) for _ in range(2))
    scene(conn)
    conn.execute("SELECT pg_advisory_lock(42)")
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(lambda: runner.execute("CALL omd.run_batch('b')").fetchone())
        waits = "SELECT cardinality(pg_blocking_pids(%s))"
        while conn.execute(waits, [runner.info.backend_pid]).fetchone() == (0,):
            assert not run.done(), run.result()
        install.install(conn)
        assert conn.execute("CALL omd.begin_batch('b')").fetchone()[1:] == ("A", "RUNNING")
        assert conn.execute("CALL omd.begin_module('m1')").fetchone()[1] == "A"
        assert conn.execute("CALL omd.reap_expired_instances()").fetchone() == ([], [])
        if killed:
            conn.execute("SELECT pg_terminate_backend(%s, 10000)", [runner.info.backend_pid])
            with pytest.raises(psycopg.OperationalError):
                run.result(timeout=20)
        else:
            conn.execute("SELECT pg_advisory_unlock(42)")
            assert run.result(timeout=20)[1] == "S"
            ended = (
                "SELECT string_agg(execution_status_code, '' ORDER BY batch_instance_id)"
                " FROM omd.batch_instance"
            )
            assert conn.execute(f"{ended} WHERE batch_instance_id > 0").fetchone() == ("SAS",)
    conn.execute("SELECT pg_advisory_unlock_all()")
    assert conn.execute("CALL omd.run_batch('b')").fetchone()[1] == "S"
