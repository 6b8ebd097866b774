"""`omd worker` through PgBouncer: several workers share one server connection."""

from __future__ import annotations

import contextlib
import signal
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from dispatch.test_worker import MODULE, create, ended, register
from support.workers import Process, until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Room

    Connection = psycopg.Connection[dict[str, Any]]


@contextlib.contextmanager
def working(dsn: str, *arguments: str) -> Iterator[Process]:
    worker = Process(dsn, *arguments)
    try:
        yield worker
    finally:
        worker.process.kill()
        worker.process.wait()


@pytest.mark.kill
def test_workers_do_each_task_once_and_leave_nothing_in_the_session(
    room: Room, conn: Connection, pooled_dsn: str
) -> None:
    conn.execute(
        """
        CREATE SCHEMA app;
        CREATE TABLE app.log (payload jsonb, omd_insert_module_instance_id bigint);
        CREATE PROCEDURE app.load(payload jsonb) LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO app.log VALUES (payload);
            COMMIT;
        END $$;
        """
    )
    for code in ("m_good", "m_bad"):
        room.call(
            "omd.register_module",
            module_code=code,
            area_code="HSTG",
            table_code="app.log",
            executable="SELECT 1" if code == "m_good" else "SELECT 1/0",
        )
    room.call("omd.register_batch", batch_code="b_good")
    room.call("omd.add_module_to_batch", batch_code="b_good", module_code="m_good")
    register(room, "NOTHING", "nothing")
    register(room, "FAIL", "fail")
    room.type("LOAD", family_code="CALL", handler="SQL", target="app.load")
    room.type("BEGIN", family_code="RUN", target=f"{MODULE}:begin")
    for handler in ("BATCH", "MODULE"):
        room.type(handler, family_code="RUN", handler=handler, target=None, backoff="1 hour")
    loads = [create(room, "LOAD", {"n": n}) for n in range(30)]
    nothings = [create(room, "NOTHING") for _ in range(30)]
    failing = create(room, "FAIL")

    def run(task_type: str, code: str) -> int:
        return room.create(code, family_code="RUN", task_type=task_type)

    bad = run("MODULE", "m_bad")
    batch = run("BATCH", "b_good")
    with (
        working(pooled_dsn, "--workers", "2") as first,
        working(pooled_dsn, "--workers", "2") as second,
    ):
        done = [*loads, *nothings]
        until(lambda: all(ended(room, i) == ("DONE", "S", 1) for i in done), 60)
        until(lambda: ended(room, failing) == ("PENDING", "F", 1), 60)
        until(lambda: ended(room, bad, "run") == ("PENDING", "F", 1), 60)
        until(lambda: ended(room, batch, "run") == ("DONE", "S", 1), 60)
        # What comes while all is quiet is noticed within the second of the next look.
        begin = run("BEGIN", "m_good")
        until(lambda: ended(room, begin, "run") == ("DONE", "S", 1), 30)
        # Both have lived for longer than a lease of theirs.
        for worker in (first, second):
            worker.signal(signal.SIGTERM)
            worker.ends()
    assert sorted(r["payload"]["n"] for r in room.rows("SELECT payload FROM app.log")) == list(
        range(30)
    )
    for task_id in (bad, batch, begin):
        task = room.task(task_id, "run")
        kind = "module" if task["module_instance_id"] is not None else "batch"
        context = room.one(
            f"SELECT execution_context FROM omd.{kind}_instance WHERE {kind}_instance_id = %s",
            task[f"{kind}_instance_id"],
        )
        assert context["task_id"] == task_id
    assert room.rows("SELECT * FROM omd_report.dispatch_backends") == []
    with psycopg.connect(pooled_dsn, autocommit=True, prepare_threshold=None) as through:
        for query in (
            "SELECT count(*) FROM pg_prepared_statements",
            "SELECT count(*) FROM pg_listening_channels()",
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'",
            "SELECT length(coalesce(current_setting('omd.execution_context', true), ''))",
            "SELECT count(*) FROM pg_settings WHERE source = 'session' AND name ~ 'timeout|path'",
        ):
            assert through.execute(query).fetchone() == (0,), query
