"""The calls, one by one, and the connection under them."""
# ruff: noqa: PT012 - what happens in a block, and in which, is what is tested

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

import omd
from omd import _types as t
from omd import errors

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.driver.conftest import Wire

    Connection = psycopg.Connection[dict[str, Any]]
    Row = Callable[[int], dict[str, Any]]


def pid_of(conn: Connection, application: str = "omd") -> int:
    row = conn.execute(
        "SELECT pid FROM pg_stat_activity WHERE application_name = %s"
        " AND datname = current_database()",
        [application],
    ).fetchone()
    assert row is not None
    return int(row["pid"])


def terminate(conn: Connection, pid: int) -> None:
    conn.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])


def test_a_module_by_hand(control: omd.Control, module_row: Row) -> None:
    begun = control.begin_module("m_alone", execution_context={"who": "me"})
    assert begun.processing_indicator is omd.ProcessingIndicator.PROCEED
    assert begun.instance_array == []
    assert control.module_active_instance_control(begun.module_instance_id) == "Process"
    control.module_success(begun.module_instance_id, rows_input=5, rows_inserted=3, rows_rejected=2)
    row = module_row(begun.module_instance_id)
    assert row["execution_status_code"] == "S"
    assert (row["rows_input"], row["rows_inserted"], row["rows_rejected"]) == (5, 3, 2)
    assert row["execution_context"]["who"] == "me"


def test_a_server_that_vanished_is_noticed_within_a_minute(control: omd.Control, dsn: str) -> None:
    settings = conninfo_to_dict(control.dsn)
    idle, interval, count = (
        int(str(settings[f"keepalives_{name}"])) for name in ("idle", "interval", "count")
    )
    assert idle + interval * count <= 60
    assert settings["tcp_user_timeout"] == "60000"
    with omd.connect(make_conninfo(dsn, tcp_user_timeout="5000"), lease=None) as impatient:
        assert conninfo_to_dict(impatient.dsn)["tcp_user_timeout"] == "5000"


def test_creating_and_evaluating_in_two_calls(control: omd.Control, batch_row: Row) -> None:
    batch = control.create_batch_instance("b")
    assert control.evaluate_batch(batch).processing_indicator is omd.ProcessingIndicator.PROCEED
    module = control.create_module_instance("m_1", batch_instance_id=batch)
    assert control.evaluate_module(module).processing_indicator is omd.ProcessingIndicator.PROCEED
    assert control.batch_active_instance_control(batch) == "Process"
    control.module_success(module)
    control.batch_success(batch)
    assert batch_row(batch)["execution_status_code"] == "S"


def test_closing_by_hand(control: omd.Control, module_row: Row, batch_row: Row) -> None:
    module = control.create_module_instance("m_alone")
    control.module_skip(module)
    assert module_row(module)["execution_status_code"] == "C"
    module = control.create_module_instance("m_alone")
    control.module_abort(module)
    assert module_row(module)["execution_status_code"] == "A"
    batch = control.create_batch_instance("b")
    control.batch_skip(batch)
    assert batch_row(batch)["execution_status_code"] == "C"
    batch = control.create_batch_instance("b")
    control.batch_abort(batch)
    assert batch_row(batch)["execution_status_code"] == "A"


def test_a_failed_module_is_the_previous_run_and_pending(control: omd.Control) -> None:
    begun = control.begin_module("m_alone")
    control.module_failure(begun.module_instance_id, event_detail="broken \0 text \ud800")
    previous = control.previous_module_instance("m_alone")
    assert previous is not None
    assert previous.execution_status_code is omd.ExecutionStatus.FAILED
    assert previous.next_run_indicator is omd.NextRunIndicator.ROLLBACK
    assert previous.instance_array == [begun.module_instance_id]
    [event] = control.report(t.EventRow, module_instance_id=begun.module_instance_id)
    assert event.event_detail == "broken \\x00 text \\ud800"
    [listed] = control.report(t.ModuleRow, module_code="m_alone")
    assert listed.pending_rollback == [begun.module_instance_id]
    assert control.previous_batch_instance("b") is None


def test_the_next_run_indicator(control: omd.Control) -> None:
    begun = control.begin_module("m_alone")
    control.module_success(begun.module_instance_id)
    control.set_next_run_indicator("C", module_instance_id=begun.module_instance_id)
    [directive] = control.report(t.DirectiveRow)
    assert directive.next_run_indicator is omd.NextRunIndicator.CANCEL
    again = control.begin_module("m_alone")
    assert (again.processing_indicator.value, again.reason) == ("C", "DIRECTIVE")


def test_parameters(control: omd.Control) -> None:
    control.set_parameter("region", "EU", batch_code="b")
    batch = control.begin_batch("b").batch_instance_id
    module = control.begin_module("m_1", batch_instance_id=batch).module_instance_id
    assert control.parameter_value("region", module_instance_id=module) == "EU"
    control.set_parameter("region", "US", module_code="m_1")
    assert control.parameter_value("region", module_instance_id=module) == "US"


def test_a_load_window(control: omd.Control) -> None:
    first = control.begin_module("m_alone").module_instance_id
    end = datetime(2013, 2, 1, tzinfo=timezone.utc)
    window = control.create_load_window(first, end_value=end, end_id=9)
    assert window == t.LoadWindowStart(None, -(2**63))
    assert control.create_load_window(first, end_value=end, end_id=9) == window
    control.module_success(first)
    second = control.begin_module("m_alone").module_instance_id
    window = control.create_load_window(second, end_value=end + timedelta(days=1), end_id=1)
    assert window == t.LoadWindowStart(end, 9)


def test_the_definition_of_a_module(control: omd.Control) -> None:
    control.register_module("m_alone", business_key_columns=["a", "b"])
    definition = control.module_definition("m_alone")
    assert (definition.table_code, definition.platform_code) == ("dwh.t", "POSTGRES")
    assert definition.business_key_columns == ["a", "b"]
    with pytest.raises(errors.UnknownModule):
        control.module_definition("nowhere")


def test_a_hierarchy(control: omd.Control) -> None:
    control.register_batch("b_child", frequency_code="Adhoc")
    control.add_batch_to_parent_batch("b_child", "b", sequence=5)
    places = control.report(t.BatchModuleRow, batch_code="b", order_by=["sequence"])
    assert {row.module_code or row.child_batch_code for row in places} == {"m_1", "m_2", "b_child"}
    with pytest.raises(errors.CyclicHierarchy):
        control.add_batch_to_parent_batch("b", "b_child", sequence=1)


def test_an_in_database_run(control: omd.Control) -> None:
    ran = control.run_module("m_alone", executable="INSERT INTO dwh.t VALUES (1), (2)")
    assert ran.execution_status_code is omd.ExecutionStatus.SUCCEEDED
    [row] = control.report(t.ModuleExecutionRow, module_instance_id=ran.module_instance_id)
    assert row.rows_inserted == 2
    for code in ("m_1", "m_2"):
        control.register_module(code, executable="SELECT 1/0" if code == "m_2" else "SELECT 1")
    assert control.run_batch("b").execution_status_code is omd.ExecutionStatus.FAILED


def test_reaping_what_was_left(control: omd.Control, conn: Connection) -> None:
    begun = control.begin_module("m_alone", lease=timedelta(microseconds=1))
    assert control.reap_expired_instances().reaped == [begun.module_instance_id]
    with pytest.raises(errors.InstanceNotExecuting):
        control.heartbeat(begun.module_instance_id, timedelta(minutes=1))


def test_a_heartbeat_needs_a_lease(control: omd.Control) -> None:
    with pytest.raises(errors.MissingArgument):
        control.heartbeat(control.begin_module("m_alone").module_instance_id)


def test_every_report_has_the_columns_of_its_class(control: omd.Control) -> None:
    batch = control.begin_batch("b")
    control.begin_module("m_1", batch_instance_id=batch.batch_instance_id)
    for row in vars(t).values():
        if isinstance(row, type) and hasattr(row, "view"):
            control.report(row, limit=1)
    assert {row.code for row in control.report(t.CurrentRow)} == {"b", "m_1"}
    assert len(control.report(t.ModuleRow, after={"module_code": "m_1"})) == 2


def test_errors_leave_the_connection_usable(control: omd.Control) -> None:
    for _ in range(10):  # beyond the point where psycopg prepares statements
        with pytest.raises(errors.UnknownModule):
            control.begin_module("nowhere")
    assert control.report(t.BatchRow, batch_code="b")


def test_registration_in_one_transaction(control: omd.Control) -> None:
    with pytest.raises(errors.UnknownModule), control.transaction():
        control.register_batch("b_new", frequency_code="Daily")
        control.add_module_to_batch("b_new", "nowhere", sequence=1)
    assert control.report(t.BatchRow, batch_code="b_new") == []


def test_a_script_must_not_end_its_transaction(control: omd.Control) -> None:
    with pytest.raises(errors.CallerError, match="COMMIT"):
        control.execute_script("SELECT 1; COMMIT;")
    assert control.report(t.BatchRow, batch_code="b")


def test_a_connection_found_broken_is_replaced_before_a_begin(
    control: omd.Control, conn: Connection
) -> None:
    terminate(conn, pid_of(conn))
    assert control.begin_module("m_alone").processing_indicator.value == "P"


def test_a_begin_whose_answer_is_lost_is_not_repeated(
    control: omd.Control, conn: Connection, connect: Callable[..., Connection]
) -> None:
    blocker = connect(autocommit=False)
    blocker.execute("SELECT FROM omd.module WHERE module_code = 'm_alone' FOR UPDATE")
    caught: list[Exception] = []

    def begin() -> None:
        try:
            control.begin_module("m_alone", lease=timedelta(minutes=3))
        except Exception as error:  # noqa: BLE001
            caught.append(error)

    thread = threading.Thread(target=begin)
    thread.start()
    pid = pid_of(conn)
    while not conn.execute("SELECT pg_blocking_pids(%s) <> '{}' AS yes", [pid]).fetchone()["yes"]:
        time.sleep(0.01)
    terminate(conn, pid)
    thread.join()
    blocker.rollback()
    [error] = caught
    assert isinstance(error, errors.ConnectionFailed)
    assert "begin_module" in str(error)
    assert error.hint is not None
    assert "0:03:00" in error.hint
    # The control goes on with a new connection.
    assert control.begin_module("m_alone").processing_indicator.value == "P"


@pytest.mark.parametrize("close", ["module_success", "module_failure"])
def test_an_end_whose_answer_is_lost_is_done(
    wired: omd.Control, wire: Wire, module_row: Row, close: str
) -> None:
    begun = wired.begin_module("m_alone")
    wire.swallow_answer_to = close.encode()
    getattr(wired, close)(begun.module_instance_id)
    assert wire.swallow_answer_to is None  # it did happen
    assert module_row(begun.module_instance_id)["execution_status_code"] == close[7].upper()


def test_an_end_sent_again_is_refused_when_the_instance_ended_otherwise(
    wired: omd.Control, wire: Wire, control: omd.Control
) -> None:
    begun = wired.begin_module("m_alone")
    control.module_failure(begun.module_instance_id)
    wire.swallow_answer_to = b"module_success"
    with pytest.raises(errors.InstanceNotExecuting):
        wired.module_success(begun.module_instance_id)


def test_a_second_success_is_refused_without_a_lost_connection(control: omd.Control) -> None:
    begun = control.begin_module("m_alone")
    control.module_success(begun.module_instance_id)
    with pytest.raises(errors.InstanceNotExecuting):
        control.module_success(begun.module_instance_id)


def test_it_comes_back_when_the_server_does(wired: omd.Control, wire: Wire) -> None:
    wire.refusing = True
    threading.Timer(0.5, setattr, [wire, "refusing", False]).start()
    assert wired.report(t.BatchRow, batch_code="b")


def test_it_gives_up_when_its_patience_ends(control: omd.Control, wire: Wire) -> None:
    with omd.connect(wire.dsn, patience=timedelta(milliseconds=300)) as impatient:
        wire.refusing = True
        with pytest.raises(errors.ConnectionFailed):
            impatient.report(t.BatchRow)


def test_no_server_is_told_at_once() -> None:
    with pytest.raises(errors.ConnectionFailed) as caught:
        omd.connect("host=/nowhere")
    assert caught.value.hint


def test_a_malformed_connection_string_is_told() -> None:
    with pytest.raises(errors.ConnectionFailed):
        omd.connect("what is this")


def test_a_database_without_omd_is_told(empty_dsn: str) -> None:
    with omd.connect(empty_dsn) as control:
        with pytest.raises(errors.NotInstalled) as caught:
            control.begin_module("m")
        assert caught.value.hint == "Run: omd install"
        with pytest.raises(errors.NotInstalled):
            control.report(t.BatchRow)


def test_the_connection_string_comes_from_the_environment(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", dsn)
    omd.connect().close()
    monkeypatch.setenv("OMD_DSN", "host=/nowhere")
    with pytest.raises(errors.ConnectionFailed):
        omd.connect()
    omd.connect(dsn).close()


def test_the_dsn_is_complete_without_libpqs_environment(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(dsn) as conn:
        info = conn.info
        for name, value in (
            ("PGHOST", info.host),
            ("PGPORT", str(info.port)),
            ("PGUSER", info.user),
            ("PGDATABASE", info.dbname),
            ("PGPASSWORD", info.password or "secret"),
        ):
            monkeypatch.setenv(name, value)
    with omd.connect() as control:
        told = control.dsn
    for name in ("PGHOST", "PGPORT", "PGUSER", "PGDATABASE", "PGPASSWORD"):
        monkeypatch.delenv(name)
    omd.connect(told).close()


def test_notices_of_the_server_are_logged(
    control: omd.Control, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "omd.server"):
        control.execute_script("DO $$BEGIN RAISE NOTICE 'hello'; RAISE WARNING 'careful'; END$$")
    told = {(record.levelname, record.message) for record in caplog.records}
    assert told >= {("INFO", "hello"), ("WARNING", "careful")}


def test_threads_share_a_control(control: omd.Control) -> None:
    results: list[Any] = []
    threads = [
        threading.Thread(target=lambda: results.append(control.begin_module("m_alone")))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(r.processing_indicator.value for r in results) == ["A"] * 7 + ["P"]


def test_importing_omd_does_not_import_spark() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import omd, sys; sys.exit('pyspark' in sys.modules)"], check=False
    )
    assert done.returncode == 0
