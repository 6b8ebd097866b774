"""What a run has cost the server is recorded, where the server shows it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

import omd

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.flow import Flow

    Connection = psycopg.Connection[dict[str, Any]]

ROWS = 5000
COUNTS = ("wal_bytes", "wal_records", "blocks_read", "blocks_hit", "blocks_written")
# It writes rows and reads them again, and takes some seconds.
WORK = "INSERT INTO dwh.m (v) SELECT n::text FROM generate_series(1, {}) AS n; SELECT pg_sleep({})"


def costs(flow: Flow) -> list[dict[str, Any]]:
    return flow.rows("SELECT * FROM omd_event.run_cost ORDER BY instance_id")


def shows_costs(conn: Connection) -> bool:
    return conn.info.server_version >= 180000


def register(flow: Flow, seconds: float) -> None:
    flow.module("m", executable=WORK.format(ROWS, seconds))


def test_the_driver_records_the_cost_of_a_run_that_takes_long(
    flow: Flow, conn: Connection, dsn: str
) -> None:
    register(flow, 0.15)
    with omd.connect(dsn) as control:
        first = control.calls.omd.run_module("m").module_instance_id
        second = control.run("m").instance_id
    found = costs(flow)
    if not shows_costs(conn):
        assert found == []
        return
    assert [(row["subject_type"], row["instance_id"]) for row in found] == [
        ("MODULE", first),
        ("MODULE", second),
    ]
    for row in found:
        # A row is a record of more than 28 bytes, and a page that it is written to is in memory.
        assert ROWS < row["wal_records"] < 3 * ROWS
        assert row["wal_bytes"] > 28 * ROWS
        assert row["blocks_hit"] > ROWS
        assert row["blocks_written"] > 10


def test_a_short_run_is_not_recorded(flow: Flow, dsn: str) -> None:
    register(flow, 0)
    begun = time.monotonic()
    with omd.connect(dsn) as control:
        control.calls.omd.run_module("m")
    assert costs(flow) == [] or time.monotonic() - begun > 0.1


def test_a_cost_is_that_of_the_session_since(
    flow: Flow, connect: Callable[..., Connection]
) -> None:
    instance = flow.begin_module(flow.module()).id
    runner = connect(role="omd_runner")
    before = runner.execute("SELECT omd_event.session_cost() AS c").fetchone()["c"]
    if not shows_costs(runner):
        assert before is None
        runner.execute("CALL omd_event.record_cost('MODULE', %s, NULL)", [instance])
        assert costs(flow) == []
        return
    assert before.keys() == {"pid", "began", *COUNTS}
    for _ in range(2):  # the second call replaces what the first has recorded
        runner.execute("SELECT count(*) FROM pg_catalog.pg_attribute")
        runner.execute("SELECT omd_event.session_cost()")
        runner.execute("CALL omd_event.record_cost('MODULE', %s, %s)", [instance, Jsonb(before)])
    [cost] = costs(flow)
    assert cost["blocks_hit"] > 50
    elsewhere = {**before, "pid": before["pid"] + 1, "blocks_hit": 0}
    after = {name: 9e30 if name in COUNTS else value for name, value in before.items()}
    runner.execute("CALL omd_event.record_cost('MODULE', %s, %s)", [instance, Jsonb(elsewhere)])
    assert costs(flow) == [cost]  # another session says nothing of this one
    runner.execute("CALL omd_event.record_cost('MODULE', %s, %s)", [instance, Jsonb(after)])
    assert {costs(flow)[0][name] for name in COUNTS} == {0}


def test_a_wrong_argument_is_told(flow: Flow, conn: Connection) -> None:
    instance = flow.begin_module(flow.module()).id

    def sqlstate(*arguments: Any) -> str | None:
        with pytest.raises(psycopg.Error) as caught:
            conn.execute("CALL omd_event.record_cost(%s, %s, %s)", arguments)
        return caught.value.sqlstate

    good = Jsonb(flow.one("SELECT omd_event.session_cost()") or {})
    assert sqlstate(None, instance, good) == "OM005"
    assert sqlstate("MODULE", None, good) == "OM005"
    assert sqlstate("TASK", instance, good) == "OM013"
    assert sqlstate("MODULE", instance + 1, good) == "OM004"
    assert sqlstate("BATCH", instance, good) == "OM003"
    if shows_costs(conn):
        assert sqlstate("MODULE", instance, None) == "OM005"
        for wrong in ({}, [], 5, {**good.obj, "wal_bytes": "5"}, {**good.obj, "pid": None}):
            assert sqlstate("MODULE", instance, Jsonb(wrong)) == "OM013"


def test_costs_go_with_their_instances(flow: Flow, conn: Connection) -> None:
    instance = flow.begin_module(flow.module()).id
    for subject_type, id in (("MODULE", instance), ("MODULE", instance + 7), ("BATCH", 7)):
        flow.owner(
            "INSERT INTO omd_event.run_cost VALUES (%s, %s, 0, 0, 0, 0, 0)", subject_type, id
        )
    conn.execute("CALL omd.purge('1 day', 'omd_event')")
    assert [(row["subject_type"], row["instance_id"]) for row in costs(flow)] == [
        ("MODULE", instance)
    ]
