"""Leases are renewed while the job runs, and lost if they are refused or can't be renewed."""
# ruff: noqa: PT012, SIM117 - the tests are about what happens in which block

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import threading
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

import omd
from omd import errors
from omd.rooms.control.codes import ProcessingIndicator

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg

    from support.wire import Wire

    Connection = psycopg.Connection[dict[str, Any]]
    Row = Callable[[int], dict[str, Any]]

SHORT = timedelta(seconds=1)


def wait_until(condition: Callable[[], Any], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def test_a_lease_is_renewed_on_a_connection_of_its_own(
    control: omd.Control, conn: Connection, module_row: Row
) -> None:
    with control.module("m_alone", lease=SHORT) as run:
        first = module_row(run.instance_id)["lease_expires_at"]
        wait_until(lambda: module_row(run.instance_id)["lease_expires_at"] > first + SHORT)
        found = conn.execute(
            "SELECT FROM pg_stat_activity WHERE application_name = 'omd-heartbeat'"
            " AND datname = current_database()"
        )
        assert found.rowcount == 1
    assert module_row(run.instance_id)["execution_status_code"] == "S"
    assert not [t for t in threading.enumerate() if t.name.startswith("omd-")]


def test_a_batch_lease_is_renewed(control: omd.Control, batch_row: Row) -> None:
    with control.batch("b", lease=SHORT) as batch:
        first = batch_row(batch.instance_id)["lease_expires_at"]
        wait_until(lambda: batch_row(batch.instance_id)["lease_expires_at"] > first + SHORT)
    assert batch_row(batch.instance_id)["execution_status_code"] == "S"


def test_without_a_lease_there_is_no_thread(control: omd.Control, module_row: Row) -> None:
    with control.module("m_alone") as run:
        assert module_row(run.instance_id)["lease_expires_at"] is None
        assert not [t for t in threading.enumerate() if t.name.startswith("omd-")]


def test_a_run_given_up_is_told_and_raises_lease_lost(
    control: omd.Control, conn: Connection, module_row: Row
) -> None:
    with pytest.raises(errors.LeaseLost) as caught, control.module("m_alone", lease=SHORT) as run:
        conn.execute("CALL omd.module_failure(%s, 'given up')", [run.instance_id])
        wait_until(lambda: run._lease.is_lost)
        with pytest.raises(errors.LeaseLost):
            run.check()
    assert caught.value.__cause__ is None
    assert module_row(run.instance_id)["execution_status_code"] == "F"


def test_the_job_s_own_exception_is_the_cause_of_a_lost_lease(
    control: omd.Control, conn: Connection
) -> None:
    error = ValueError("cancelled under me")
    with pytest.raises(errors.LeaseLost) as caught, control.module("m_alone", lease=SHORT) as run:
        conn.execute("CALL omd.module_failure(%s, 'given up')", [run.instance_id])
        wait_until(lambda: run._lease.is_lost)
        raise error
    assert caught.value.__cause__ is error


def test_ctrl_c_stays_ctrl_c_when_the_lease_is_lost(control: omd.Control, conn: Connection) -> None:
    with pytest.raises(KeyboardInterrupt), control.module("m_alone", lease=SHORT) as run:
        conn.execute("CALL omd.module_failure(%s, 'given up')", [run.instance_id])
        wait_until(lambda: run._lease.is_lost)
        raise KeyboardInterrupt


@pytest.mark.alone
def test_a_run_that_can_not_reach_the_database_stops_before_its_lease_ends(
    control: omd.Control, wire: Wire, module_row: Row
) -> None:
    lease = timedelta(seconds=2)
    with omd.connect(wire.dsn, lease=lease, patience=timedelta(0)) as cut:
        with pytest.raises(errors.LeaseLost), cut.module("m_alone") as run:
            wait_until(lambda: wire.connections >= 2)  # the heartbeat's own connection
            wire.refusing = True
            before = time.monotonic()
            wait_until(lambda: run._lease.is_lost)
            assert time.monotonic() - before < lease.total_seconds()
            wire.refusing = False
    # The loss is known, so the failure is recorded at once, not when somebody calls reap.
    assert module_row(run.instance_id)["execution_status_code"] == "F"


def test_a_short_interruption_does_not_cost_the_lease(control: omd.Control, wire: Wire) -> None:
    with omd.connect(wire.dsn, lease=timedelta(seconds=3)) as cut:
        with cut.module("m_alone") as run:
            wait_until(lambda: wire.connections >= 2)
            wire.refusing = True
            wait_until(lambda: wire.refused >= 1)
            wire.refusing = False
            seen = wire.connections
            wait_until(lambda: wire.connections > seen)
        assert not run._lease.is_lost


def test_a_hanging_database_costs_the_lease_in_time(
    control: omd.Control, connect: Callable[..., Connection]
) -> None:
    blocker = connect(autocommit=False)
    with pytest.raises(errors.LeaseLost), control.module("m_alone", lease=SHORT) as run:
        blocker.execute(
            "SELECT FROM omd.module_instance WHERE module_instance_id = %s FOR UPDATE",
            [run.instance_id],
        )
        wait_until(lambda: run._lease.is_lost)
        blocker.rollback()


def test_a_lost_batch_takes_its_modules_with_it(
    control: omd.Control, conn: Connection, module_row: Row
) -> None:
    with pytest.raises(errors.LeaseLost), control.batch("b", lease=SHORT) as batch:
        with batch.module("m_1", lease=None) as run:
            conn.execute("CALL omd.batch_failure(%s, 'given up')", [batch.instance_id])
            wait_until(lambda: run._lease.is_lost)
    assert module_row(run.instance_id)["execution_status_code"] == "F"


def test_another_begin_takes_over_from_a_driver_that_died(
    control: omd.Control, conn: Connection, module_row: Row
) -> None:
    begun = control.calls.omd.begin_module(
        "m_alone", lease=timedelta(milliseconds=10)
    )  # nobody renews it
    conn.execute("SELECT pg_sleep(0.01)")
    with control.module("m_alone") as run:
        assert run.instance_array == [begun.module_instance_id]
    assert module_row(begun.module_instance_id)["execution_status_code"] == "F"


def test_a_driver_that_wakes_up_can_neither_write_nor_report_success(
    control: omd.Control, conn: Connection, dsn: str, module_row: Row
) -> None:
    program = textwrap.dedent(f"""
        import omd, psycopg, sys
        from datetime import timedelta
        data = psycopg.connect({dsn!r})
        with omd.connect({dsn!r}, lease=timedelta(seconds=1)) as control:
            with control.module("m_alone") as run:
                data.execute("INSERT INTO dwh.t VALUES (%s)", [run.instance_id])
                print(run.instance_id, flush=True)
                sys.stdin.readline()
                try:
                    data.execute("CALL omd.fence(%s)", [run.instance_id])
                    data.commit()
                except psycopg.Error as refusal:
                    print(refusal.sqlstate, flush=True)
    """)
    driver = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert driver.stdout is not None
    frozen = int(driver.stdout.readline())
    driver.send_signal(signal.SIGSTOP)
    begun: list[Any] = []

    def taken_over() -> bool:
        begun[:] = [control.calls.omd.begin_module("m_alone")]
        return begun[0].processing_indicator is ProcessingIndicator.PROCEED

    try:
        wait_until(taken_over)
    finally:
        driver.send_signal(signal.SIGCONT)
    said, complained = driver.communicate("\n", timeout=30)
    assert said.strip() == "OM101"
    assert driver.returncode == 1
    assert "LeaseLost" in complained
    assert conn.execute("SELECT FROM dwh.t").rowcount == 0
    assert module_row(frozen)["execution_status_code"] == "F"
    control.calls.omd.module_success(begun[0].module_instance_id)


def test_a_rollback_may_take_longer_than_the_lease(
    control: omd.Control, conn: Connection, module_row: Row, batch_row: Row
) -> None:
    conn.execute(
        """INSERT INTO omd.rollback_template (module_id, step, statement_template)
        SELECT module_id, 1, 'SELECT pg_sleep(3)' FROM omd.module WHERE module_id > 0"""
    )
    failed = control.calls.omd.begin_module("m_1").module_instance_id
    control.calls.omd.module_failure(failed)
    with control.batch("b", lease=SHORT) as batch, batch.module("m_1") as run:
        assert run.instance_array == [failed]
    assert module_row(run.instance_id)["execution_status_code"] == "S"
    assert batch_row(batch.instance_id)["execution_status_code"] == "S"


def test_an_impossible_lease_is_refused(control: omd.Control) -> None:
    with pytest.raises(errors.lookup("OM011")), control.module("m_alone", lease=timedelta(0)):
        pass
