"""A process that is proven dead is not waited for; of any other the lease holds, and it is said."""

# ruff: noqa: PT012, SIM117 - the tests are about what happens in which block

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import omd
from omd.rooms.control import death
from support.driver import setup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Connection = psycopg.Connection[dict[str, Any]]

pytestmark = pytest.mark.kill

PROGRAM = """
import os, subprocess, sys, time
import psycopg
import omd
with omd.connect() as control:
    {block}
        {body}
        print("up", flush=True)
        time.sleep(600)
"""
ALONE = 'with control.module("m_alone") as run:'
MEMBER = 'with control.batch("b") as batch, batch.module("m_1") as run:'
WAITING = """
import omd
from datetime import timedelta
with omd.connect(wait=timedelta(minutes=10)) as control, control.module("m_alone"):
    pass
"""
FIVE = ("host", "boot_id", "pid_namespace", "pid", "start_time")


@pytest.fixture
def control(dsn: str) -> Iterator[omd.Control]:
    with omd.connect(dsn) as control:
        setup(control)
        yield control


@pytest.fixture
def killed(dsn: str) -> Iterator[Callable[..., None]]:
    """A function that runs a program until it is up, and kills it."""
    started: list[subprocess.Popen[str]] = []

    def run(body: str = "pass", block: str = ALONE, *before: str, reap: bool = True) -> None:
        text = PROGRAM.format(block=block, body=textwrap.indent(body, " " * 8).strip())
        program = subprocess.Popen(
            [*before, sys.executable, "-c", text],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMD_DSN": dsn},
        )
        started.append(program)
        assert program.stdout is not None
        assert program.stdout.readline() == "up\n"
        program.send_signal(signal.SIGKILL)
        if reap:
            program.wait()

    yield run
    for program in started:
        program.kill()
        program.wait()
        assert program.stdout is not None
        program.stdout.close()


def statuses(conn: Connection) -> list[str]:
    rows = conn.execute(
        "SELECT execution_status_code FROM omd.module_instance"
        " WHERE module_instance_id > 0 ORDER BY module_instance_id"
    )
    return [row["execution_status_code"] for row in rows]


def contexts(conn: Connection) -> list[dict[str, Any]]:
    rows = conn.execute(
        "SELECT execution_context FROM omd.module_instance"
        " WHERE module_instance_id > 0 ORDER BY module_instance_id"
    )
    return [row["execution_context"] for row in rows]


def test_what_was_killed_is_started_again_at_once(
    control: omd.Control, conn: Connection, killed: Callable[..., None]
) -> None:
    killed()
    with control.module("m_alone") as run:  # the lease of the first one holds for five minutes
        assert run.instance_array
    assert statuses(conn) == ["F", "S"]
    first, second = contexts(conn)
    assert first["writers"] == second["writers"] == "FENCED"
    assert first.keys() >= set(FIVE)
    assert "seen_alive" not in second
    events = conn.execute(
        "SELECT event_detail, event_return_code_details AS code FROM omd.event_log"
        " WHERE event_type_code = '2'"
    ).fetchall()
    assert [e["code"] for e in events] == ["GIVEN UP"]
    assert (
        f"its process is gone: pid {first['pid']} on {first['host']}" in events[0]["event_detail"]
    )


def test_a_zombie_is_dead(
    control: omd.Control, conn: Connection, killed: Callable[..., None]
) -> None:
    killed(reap=False)
    pid = contexts(conn)[0]["pid"]
    deadline = time.monotonic() + 20
    while death._stat(pid)[0] != "Z":
        assert time.monotonic() < deadline
    with control.module("m_alone"):
        pass
    assert statuses(conn) == ["F", "S"]


@pytest.mark.parametrize(
    "body",
    [
        "psycopg.connect(run.dsn)",
        "run.environment()",
        pytest.param("run.snapshot()", marks=pytest.mark.spark),
        "control._dsn",
        "control._executor_dsn",
        "with control.transaction() as connection: connection.execute('SELECT 1')",
    ],
)
def test_what_was_given_out_takes_it_back(
    control: omd.Control, conn: Connection, killed: Callable[..., None], body: str
) -> None:
    killed(body)
    assert "writers" not in contexts(conn)[0]
    with pytest.raises(omd.errors.Aborted) as refused, control.module("m_alone"):
        pass
    assert statuses(conn) == ["E", "A"]
    running = contexts(conn)[0]
    text = str(refused.value)
    assert f"on {running['host']} with pid {running['pid']}" in text
    assert "executes since" in text
    assert "counts as alive until" in text
    first = conn.execute("SELECT min(module_instance_id) AS id FROM omd.module_instance"
                         " WHERE module_instance_id > 0").fetchone()  # fmt: skip
    assert first
    assert f"omd end run:{first['id']}" in text


def test_no_row_of_a_statement_that_outlives_its_driver_stays(
    control: omd.Control, conn: Connection, killed: Callable[..., None], dsn: str
) -> None:
    """The INSERT commits when its driver is long dead; the lease holds, and then it is undone."""
    conn.execute("CREATE TABLE IF NOT EXISTS dwh.told (n int)")
    killed(
        "import threading\n"
        "dsn, id = run.dsn, run.instance_id\n"
        "def insert():\n"
        "    with psycopg.connect(dsn, autocommit=True) as connection:\n"
        "        connection.execute('INSERT INTO dwh.t SELECT %s FROM pg_sleep(4)', [id])\n"
        "threading.Thread(target=insert, daemon=True).start()\n"
        "with psycopg.connect(dsn, autocommit=True) as look:\n"
        "    while look.execute('SELECT FROM pg_stat_activity WHERE wait_event = %s',"
        " ['PgSleep']).rowcount != 1: pass"
    )
    with pytest.raises(omd.errors.Aborted), control.module("m_alone"):
        pass
    id_ = conn.execute(
        "SELECT module_instance_id AS id FROM omd.module_instance"
        " WHERE execution_status_code = 'E' AND module_instance_id > 0"
    ).fetchone()
    assert id_
    while conn.execute(
        "SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND pid <> pg_backend_pid()"
    ).rowcount:
        time.sleep(0.1)
    assert conn.execute("SELECT FROM dwh.t").rowcount == 1
    conn.execute("CALL omd.end_module_instance(%s)", [id_["id"]])
    with control.module("m_alone"):
        pass
    assert conn.execute("SELECT FROM dwh.t").rowcount == 0


def test_a_statement_over_run_connect_leaves_no_row_and_holds_nobody(
    control: omd.Control, conn: Connection, killed: Callable[..., None]
) -> None:
    killed(
        "import threading\n"
        "id = run.instance_id\n"
        "with run.connect() as writer: writer.execute('INSERT INTO dwh.t VALUES (%s)', [id])\n"
        "def insert():\n"
        "    with run.connect() as writer:\n"
        "        writer.execute('INSERT INTO dwh.t SELECT %s FROM pg_sleep(20)', [id])\n"
        "threading.Thread(target=insert, daemon=True).start()\n"
        "with run.connect() as look:\n"
        "    while look.execute('SELECT FROM pg_stat_activity WHERE wait_event = %s',"
        " ['PgSleep']).rowcount != 1: look.rollback()"
    )
    assert contexts(conn)[0]["writers"] == "FENCED"
    assert conn.execute("SELECT FROM dwh.t").rowcount == 1
    with control.module("m_alone"):
        pass
    assert statuses(conn) == ["F", "S"]
    assert conn.execute("SELECT FROM dwh.t").rowcount == 0
    conn.execute(
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
        " WHERE wait_event = 'PgSleep' AND datname = current_database()"
    )
    assert conn.execute("SELECT FROM dwh.t").rowcount == 0


def test_a_child_that_has_the_environment_is_not_taken_for_dead(
    control: omd.Control, conn: Connection, killed: Callable[..., None]
) -> None:
    killed(
        "subprocess.Popen(['sleep', '5'], env={**os.environ, **run.environment()},"
        " stdout=subprocess.DEVNULL)"
    )
    with pytest.raises(omd.errors.Aborted), control.module("m_alone"):
        pass
    assert statuses(conn) == ["E", "A"]


def test_a_batch_that_was_killed_is_started_again_with_its_members(
    control: omd.Control, conn: Connection, killed: Callable[..., None]
) -> None:
    killed(block=MEMBER)
    with control.batch("b") as batch, batch.module("m_1"):
        pass
    assert statuses(conn) == ["F", "S"]
    rows = conn.execute(
        "SELECT execution_status_code AS s FROM omd.batch_instance"
        " WHERE batch_instance_id > 0 ORDER BY batch_instance_id"
    )
    assert [row["s"] for row in rows] == ["F", "S"]


def test_a_batch_lives_while_a_member_may(
    control: omd.Control, conn: Connection, killed: Callable[..., None]
) -> None:
    killed("run.dsn", MEMBER)
    with pytest.raises(omd.errors.Aborted, match="omd end batchrun:"), control.batch("b"):
        pass
    assert statuses(conn) == ["E"]


def test_a_process_of_another_namespace_proves_nothing(
    control: omd.Control, conn: Connection, killed: Callable[..., None]
) -> None:
    apart = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
    if os.geteuid() != 0:
        apart += ["--user", "--map-current-user"]
    if subprocess.run([*apart, "true"], check=False, capture_output=True).returncode:
        pytest.skip("no namespace can be made here")
    killed("pass", ALONE, *apart)
    assert contexts(conn)[0]["pid_namespace"] != death.identity()["pid_namespace"]
    with pytest.raises(omd.errors.Aborted), control.module("m_alone"):
        pass
    assert statuses(conn) == ["E", "A"]


def test_who_lives_is_waited_for_as_before(
    control: omd.Control, conn: Connection, dsn: str
) -> None:
    with control.module("m_alone") as first, omd.connect(dsn) as other:
        with pytest.raises(omd.errors.Aborted) as refused, other.module("m_alone"):
            pass
        assert refused.value.instance_id > first.instance_id
        assert f"instance {first.instance_id} executes since" in str(refused.value)
    assert statuses(conn) == ["S", "A"]


# The database decides ----------------------------------------------------------------------------


def report(conn: Connection, instance_id: int, evidence: Any, kind: str = "MODULE") -> Any:
    row = conn.execute(
        "SELECT omd.report_death(%s, %s, %s) AS dead", [kind, instance_id, json.dumps(evidence)]
    ).fetchone()
    assert row
    return row["dead"]


def test_the_evidence_is_compared_with_what_the_run_has_said(
    control: omd.Control, conn: Connection
) -> None:
    with control.module("m_alone") as run:
        id_ = run.instance_id
        evidence = {key: contexts(conn)[0][key] for key in FIVE}
        for key in FIVE:
            assert report(conn, id_, {**evidence, key: "another"}) is False
            assert report(conn, id_, {k: v for k, v in evidence.items() if k != key}) is False
            assert report(conn, id_, {**evidence, key: None}) is False
        conn.execute("CREATE ROLE death_other IN ROLE omd_runner")
        conn.execute("SET ROLE death_other")
        assert report(conn, id_, evidence) is False
        conn.execute("RESET ROLE")
        conn.execute("DROP ROLE death_other")
        assert statuses(conn) == ["E"]
        conn.execute("CALL omd.withdraw_fenced('MODULE', %s)", [id_])
        assert report(conn, id_, evidence) is False
    assert report(conn, id_, evidence) is True  # it has ended
    assert statuses(conn) == ["S"]


def test_a_fence_on_its_way_holds_the_report_for_a_second(
    control: omd.Control, conn: Connection, dsn: str
) -> None:
    with pytest.raises(omd.errors.LeaseLost), control.module("m_alone") as run:
        id_ = run.instance_id
        evidence = {key: contexts(conn)[0][key] for key in FIVE}
        with psycopg.connect(dsn) as writer:
            writer.execute("CALL omd.fence(%s)", [id_])
            assert report(conn, id_, evidence) is False
        assert report(conn, id_, evidence) is True
    assert statuses(conn) == ["F"]


# To wait -----------------------------------------------------------------------------------------


def test_a_start_waits_for_its_turn_and_begins_once(
    control: omd.Control, conn: Connection, dsn: str
) -> None:
    other = omd.connect(dsn, wait=timedelta(minutes=1))

    def second() -> None:
        with other.module("m_alone"):
            pass

    thread = threading.Thread(target=second)
    with control.module("m_alone"):
        thread.start()
        while not conn.execute(
            "SELECT FROM pg_stat_activity WHERE application_name = 'omd-wait'"
            " AND datname = current_database()"
        ).rowcount:
            time.sleep(0.02)
        assert statuses(conn) == ["E"]
    thread.join()
    other.close()
    assert statuses(conn) == ["S", "S"]


def test_a_wait_that_is_over_is_refused_as_without_it(
    control: omd.Control, conn: Connection, dsn: str, omd_program: Callable[..., Any]
) -> None:
    with control.module("m_alone") as run, control.batch("b"):
        began = time.monotonic()
        with omd.connect(dsn, wait=timedelta(seconds=1.5)) as other:
            with pytest.raises(omd.errors.Aborted), other.module("m_alone"):
                pass
        assert time.monotonic() - began >= 1.5
        assert statuses(conn) == ["E", "A"]
        control.calls.omd.register_module("m_alone", executable="SELECT 1")
        for code in ("m_alone", "batch:b"):
            done = omd_program("run", code, "--wait", "1s", dsn=dsn)
            assert done.returncode == 4, done.stderr
            assert "executes since" in done.stderr
        assert f"omd end run:{run.instance_id}" in str(
            omd_program("run", "m_alone", dsn=dsn).stderr
        )


def test_sigterm_ends_a_wait_at_once(control: omd.Control, conn: Connection, dsn: str) -> None:
    with control.module("m_alone"):
        waiting = subprocess.Popen(
            [sys.executable, "-c", WAITING],
            env={**os.environ, "OMD_DSN": dsn},
            stderr=subprocess.DEVNULL,
        )
        while not conn.execute(
            "SELECT FROM pg_stat_activity WHERE application_name = 'omd-wait'"
            " AND datname = current_database()"
        ).rowcount:
            time.sleep(0.02)
        waiting.terminate()
        assert waiting.wait(timeout=5) == 143
        assert statuses(conn) == ["E"]
