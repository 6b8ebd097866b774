"""`control.calls`: every routine as in SQL, and over which connection it is called."""

from __future__ import annotations

import inspect
import signal
import subprocess
import sys
import textwrap
import threading
import time
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import omd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Connection = psycopg.Connection[dict[str, Any]]
    Row = Callable[[int], dict[str, Any]]

# What a call takes: all that takes a value, but an INOUT parameter that is there to answer.
PUBLIC = """
    SELECT n.nspname AS schema, p.proname AS name, p.proargnames AS names,
        p.proargmodes::text[] AS modes, p.pronargs AS taken, p.pronargdefaults AS optional,
        obj_description(p.oid, 'pg_proc') AS comment
    FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
    WHERE n.nspname ~ '^omd(_|$)' AND p.proname !~ '^_' AND p.prorettype <> 'trigger'::regtype
        AND coalesce(obj_description(p.oid, 'pg_proc'), '') !~ '^For (rooms|the driver):'
        AND EXISTS (
            SELECT FROM aclexplode(p.proacl) AS a
            WHERE a.privilege_type = 'EXECUTE' AND a.grantee <> p.proowner
        )
"""
# Python has no type for what they take or answer.
SQL_ONLY = {"omd_lineage.block_end", "omd_lineage.block_start"}
SLOW = "SELECT pg_sleep(60)"
AT_WORK = """
    SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND query ~ 'run_module' AND wait_event = 'PgSleep'
"""


@pytest.fixture
def slow(control: omd.Control) -> omd.Control:
    """There is a Module m_slow, whose SQL takes a minute."""
    register(control, "m_slow", SLOW)
    return control


def register(control: omd.Control, code: str, sql: str) -> None:
    control.calls.omd.register_module(code, "INT", "dwh.t", "HUB", "POSTGRES", sql)


def wait_for(conn: Connection, query: str) -> None:
    until = time.monotonic() + 30
    while conn.execute(query.encode()).rowcount == 0:
        assert time.monotonic() < until
        time.sleep(0.02)


def taken(row: dict[str, Any]) -> Iterator[str]:
    """Yield the parameters that a caller gives, in their order."""
    modes = row["modes"] or ["i"] * row["taken"]
    inputs = [(n, m) for n, m in zip(row["names"] or [], modes, strict=True) if m in "ibv"]
    takes = row["comment"].partition("Takes too: ")[2].partition(".")[0].split(", ")
    for place, (name, mode) in enumerate(inputs):
        is_optional = place >= len(inputs) - row["optional"]
        if mode == "i" or not is_optional or name in takes:
            yield name.removeprefix("p_")


def test_every_public_routine_is_there_with_its_parameters(
    control: omd.Control, conn: Connection
) -> None:
    rows = conn.execute(PUBLIC.encode()).fetchall()
    assert len(rows) > 150
    wrong = {}
    for row in rows:
        name = f"{row['schema']}.{row['name']}"
        method = getattr(getattr(control.calls, row["schema"], None), row["name"], None)
        if method is None:
            wrong[name] = "is not there"
            continue
        given = [p.removesuffix("_") for p in inspect.signature(method).parameters]
        if given != list(taken(row)):
            wrong[name] = f"takes {given}"
    assert wrong.keys() == SQL_ONLY, wrong


def test_a_call_takes_names_places_and_json_and_answers_values_and_rows(
    control: omd.Control,
) -> None:
    calls = control.calls
    assert calls.omd.register_batch("b_new", "Daily") > 0
    begun = calls.omd.begin_module(module_code="m_alone", execution_context={"who": ["me"]})
    assert begun.processing_indicator == "P"
    assert calls.omd.module_success(begun.module_instance_id, rows_inserted=3) is None
    task = calls.omd_dispatch.create_task("RUN", "BATCH", {"CODE": "b"})
    assert calls.omd_dispatch.explain_task(task.task_id)
    assert calls.omd.previous_batch_instance("b") is None


def test_a_call_that_takes_long_holds_up_no_other_thread(
    slow: omd.Control, conn: Connection
) -> None:
    found: list[Any] = []

    def run() -> None:
        with pytest.raises(psycopg.errors.QueryCanceled) as caught:
            slow.calls.omd.run_module("m_slow")
        found.append(caught.value)

    thread = threading.Thread(target=run)
    thread.start()
    wait_for(conn, AT_WORK)
    [row] = slow.report("module_execution_log", module_code="m_slow")
    assert row.execution_status_code == "E"  # it has answered while the call is at work
    conn.execute(AT_WORK.replace("SELECT", "SELECT pg_cancel_backend(pid)", 1).encode())
    thread.join(30)
    assert len(found) == 1
    [row] = slow.report("module_execution_log", module_code="m_slow")
    assert row.execution_status_code == "F"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_cancels_a_call_that_takes_long(
    slow: omd.Control, dsn: str, conn: Connection, number: int
) -> None:
    program = f"""
        import omd, threading, time
        with omd.connect({dsn!r}) as control:
            def look():
                while True:
                    control.report("module_list", limit=1)
                    print("looked", flush=True)
                    time.sleep(0.1)
            threading.Thread(target=look, daemon=True).start()
            control.calls.omd.run_module("m_slow")
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(conn, AT_WORK)
    assert process.stdout is not None
    assert process.stdout.readline() == "looked\n"
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode in (143, -signal.SIGINT), said
    wait_for(
        conn,
        "SELECT FROM omd_report.module_execution_log"
        " WHERE module_code = 'm_slow' AND execution_status_code = 'F'",
    )


def test_inside_a_transaction_a_call_uses_it(control: omd.Control, conn: Connection) -> None:
    calls = control.calls

    def run_inside() -> None:
        with control.transaction() as connection:
            calls.omd.register_batch("b_lost", frequency_code="Daily")
            # What may take long would wait for the lock of its own caller.
            connection.execute("LOCK TABLE omd.batch IN ACCESS EXCLUSIVE MODE")
            calls.omd.run_batch("b_lost")

    with pytest.raises(psycopg.DatabaseError) as caught:
        run_inside()
    assert caught.value.sqlstate == "OM018"
    assert control.report("batch_list", batch_code="b_lost") == []


def test_who_called_is_in_the_context_of_a_run(
    control: omd.Control, module_row: Row, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACEPARENT", "00-1-2-01")
    register(control, "m_quick", "SELECT 1")
    ran = control.calls.omd.run_module("m_quick", execution_context={"who": "me"})
    assert ran.module_instance_id is not None
    context = module_row(ran.module_instance_id)["execution_context"]
    assert (context["who"], context["traceparent"]) == ("me", "00-1-2-01")
