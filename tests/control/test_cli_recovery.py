"""What omd show says of a pending rollback, and omd call purge, run as a user runs them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

import psycopg
import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def failed(dsn: str) -> int:
    """A Module m whose run has failed after it wrote three rows; an earlier run is long ago."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CREATE SCHEMA IF NOT EXISTS dwh")
        conn.execute("CREATE TABLE dwh.t (omd_insert_module_instance_id bigint)")
        conn.execute("CALL omd.register_module('m', 'HSTG', 'dwh.t', 'HSTG')")
        for end in ("success", "success", "failure"):
            begun = conn.execute("CALL omd.begin_module('m')").fetchone()
            assert begun is not None
            conn.execute(f"CALL omd.module_{end}(%s)".encode(), [begun[0]])
        conn.execute("INSERT INTO dwh.t SELECT %s FROM generate_series(1, 3)", [begun[0]])
        conn.execute("SET ROLE omd_owner")
        conn.execute(
            "UPDATE omd.module_instance SET start_datetime = start_datetime - interval '40 days'"
            " WHERE module_instance_id IN (1, 2)"
        )
        return int(begun[0])


def test_rollback_shows_what_would_be_executed(omd_here: Command, dsn: str, failed: int) -> None:
    shown = omd_here("show", "m", "--dsn", dsn)
    assert shown.returncode == 0, shown.stderr
    pending = shown.stdout.partition("\nPending rollback\n")[2]
    assert (
        f"DELETE FROM dwh.t WHERE omd_insert_module_instance_id = ANY ('{{{failed}}}'::bigint[])"
        in pending
    )
    (listed,) = (line for line in shown.stdout.splitlines() if line.startswith("pending_rollback "))
    assert listed.split() == ["pending_rollback", str(failed)]


def test_rollback_counts_on_request(omd_here: Command, dsn: str, failed: int) -> None:
    shown = omd_here("show", "m", "--count", "--output", "json", "--dsn", dsn)
    assert shown.returncode == 0, shown.stderr
    (row,) = json.loads(shown.stdout)["pending_rollback_steps"]
    assert (row["step"], row["platform_code"], row["row_count"]) == (1, "POSTGRES", 3)


def test_rollback_says_nothing_when_nothing_waits(omd_here: Command, dsn: str, failed: int) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CALL omd.begin_module('m')")
    shown = omd_here("show", "m", "--dsn", dsn)
    assert shown.returncode == 0, shown.stderr
    assert "Pending rollback" not in shown.stdout
    assert omd_here("show", "nope", "--dsn", dsn).returncode == 1


def test_purge_deletes_what_is_old(omd_here: Command, dsn: str, failed: int) -> None:
    done = omd_here("call", "purge", "--keep", "30 days", "--output", "json", "--dsn", dsn)
    assert done.returncode == 0, done.stderr
    deleted = json.loads(done.stdout)["deleted"]
    assert {table: count for table, count in deleted.items() if count} == {"omd.module_instance": 2}
    with psycopg.connect(dsn) as conn:
        left = conn.execute(
            "SELECT module_instance_id FROM omd.module_instance WHERE module_instance_id > 0"
        ).fetchall()
    assert left == [(failed,)]


def test_a_purge_without_a_keep_deletes_no_history(
    omd_here: Command, dsn: str, failed: int
) -> None:
    done = omd_here("call", "purge", "--keep-null", "--output", "json", "--dsn", dsn)
    assert done.returncode == 0, done.stderr
    assert not any(json.loads(done.stdout)["deleted"].values())
    assert omd_here("call", "purge", "--keep-null", "--room", "omd", "--dsn", dsn).returncode == 1
