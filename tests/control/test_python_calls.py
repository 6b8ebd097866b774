"""The calls of process control through the driver, one by one."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import omd
from omd import errors
from omd.rooms.control import rows as t
from omd.rooms.control.codes import NextRunIndicator, ProcessingIndicator

if TYPE_CHECKING:
    from collections.abc import Callable

    Connection = psycopg.Connection[dict[str, Any]]
    Row = Callable[[int], dict[str, Any]]


def test_a_module_by_hand(control: omd.Control, module_row: Row) -> None:
    begun = control.calls.omd.begin_module("m_alone", execution_context={"who": "me"})
    assert begun.processing_indicator is ProcessingIndicator.PROCEED
    assert begun.instance_array == []
    control.calls.omd.module_success(
        begun.module_instance_id, rows_input=5, rows_inserted=3, rows_rejected=2
    )
    row = module_row(begun.module_instance_id)
    assert row["execution_status_code"] == "S"
    assert (row["rows_input"], row["rows_inserted"], row["rows_rejected"]) == (5, 3, 2)
    assert row["execution_context"]["who"] == "me"


def test_creating_and_evaluating_in_two_calls(control: omd.Control, batch_row: Row) -> None:
    batch = control.calls.omd.create_batch_instance("b")
    assert (
        control.calls.omd.evaluate_batch(batch).processing_indicator is ProcessingIndicator.PROCEED
    )
    module = control.calls.omd.create_module_instance("m_1", batch_instance_id=batch)
    assert (
        control.calls.omd.evaluate_module(module).processing_indicator
        is ProcessingIndicator.PROCEED
    )
    control.calls.omd.module_success(module)
    control.calls.omd.batch_success(batch)
    assert batch_row(batch)["execution_status_code"] == "S"


def test_closing_by_hand(control: omd.Control, module_row: Row, batch_row: Row) -> None:
    module = control.calls.omd.create_module_instance("m_alone")
    control.calls.omd.module_skip(module)
    assert module_row(module)["execution_status_code"] == "C"
    module = control.calls.omd.create_module_instance("m_alone")
    control.calls.omd.module_abort(module)
    assert module_row(module)["execution_status_code"] == "A"
    batch = control.calls.omd.create_batch_instance("b")
    control.calls.omd.batch_skip(batch)
    assert batch_row(batch)["execution_status_code"] == "C"
    batch = control.calls.omd.create_batch_instance("b")
    control.calls.omd.batch_abort(batch)
    assert batch_row(batch)["execution_status_code"] == "A"


def test_a_failed_module_is_the_previous_run_and_pending(control: omd.Control) -> None:
    begun = control.calls.omd.begin_module("m_alone")
    control.calls.omd.module_failure(begun.module_instance_id, event_detail="broken \0 text \ud800")
    previous = control.calls.omd.previous_module_instance("m_alone")
    assert previous is not None
    assert previous.execution_status_code is omd.Status.FAILED
    assert previous.next_run_indicator is NextRunIndicator.ROLLBACK
    assert previous.instance_array == [begun.module_instance_id]
    [event] = control.report(t.EventLogRow, module_instance_id=begun.module_instance_id)
    assert event.event_detail == "broken \\x00 text \\ud800"
    [listed] = control.report(t.ModuleListRow, module_code="m_alone")
    assert listed.pending_rollback == [begun.module_instance_id]
    assert control.calls.omd.previous_batch_instance("b") is None


def test_the_next_run_indicator(control: omd.Control) -> None:
    begun = control.calls.omd.begin_module("m_alone")
    control.calls.omd.module_success(begun.module_instance_id)
    control.calls.omd.set_next_run_indicator("C", module_instance_id=begun.module_instance_id)
    [directive] = control.report(t.DirectivesRow)
    assert directive.next_run_indicator is NextRunIndicator.CANCEL
    again = control.calls.omd.begin_module("m_alone")
    assert (again.processing_indicator.value, again.reason) == ("C", "DIRECTIVE")


def test_parameters(control: omd.Control) -> None:
    control.calls.omd.set_parameter("region", "EU", batch_code="b")
    batch = control.calls.omd.begin_batch("b").batch_instance_id
    module = control.calls.omd.begin_module("m_1", batch_instance_id=batch).module_instance_id
    assert control.calls.omd.parameter_value("region", module_instance_id=module) == "EU"
    control.calls.omd.set_parameter("region", "US", module_code="m_1")
    assert control.calls.omd.parameter_value("region", module_instance_id=module) == "US"


def test_a_load_window(control: omd.Control) -> None:
    first = control.calls.omd.begin_module("m_alone").module_instance_id
    end = datetime(2013, 2, 1, tzinfo=timezone.utc)
    window = control.calls.omd.create_load_window(first, end_value=end, end_id=9)
    assert window == t.CreateLoadWindowAnswer(None, -(2**63))
    assert control.calls.omd.create_load_window(first, end_value=end, end_id=9) == window
    control.calls.omd.module_success(first)
    second = control.calls.omd.begin_module("m_alone").module_instance_id
    window = control.calls.omd.create_load_window(
        second, end_value=end + timedelta(days=1), end_id=1
    )
    assert window == t.CreateLoadWindowAnswer(end, 9)


def test_the_definition_of_a_module(control: omd.Control) -> None:
    control.calls.omd.register_module("m_alone", business_key_columns=["a", "b"])
    definition = control.calls.omd.module_definition("m_alone")
    assert (definition.table_code, definition.platform_code) == ("dwh.t", "POSTGRES")
    assert definition.business_key_columns == ["a", "b"]
    with pytest.raises(errors.lookup("OM002")):
        control.calls.omd.module_definition("nowhere")


def test_a_hierarchy(control: omd.Control) -> None:
    control.calls.omd.register_batch("b_child", frequency_code="Adhoc")
    control.calls.omd.add_batch_to_parent_batch("b_child", "b", sequence=5)
    places = control.report(t.BatchModuleListRow, batch_code="b", order_by=["sequence"])
    assert {row.module_code or row.child_batch_code for row in places} == {"m_1", "m_2", "b_child"}
    with pytest.raises(errors.lookup("OM008")):
        control.calls.omd.add_batch_to_parent_batch("b", "b_child", sequence=1)


def test_an_in_database_run(control: omd.Control) -> None:
    ran = control.calls.omd.run_module("m_alone", executable="INSERT INTO dwh.t VALUES (1), (2)")
    assert ran.execution_status_code is omd.Status.SUCCEEDED
    [row] = control.report(t.ModuleExecutionLogRow, module_instance_id=ran.module_instance_id)
    assert row.rows_inserted == 2
    for code in ("m_1", "m_2"):
        control.calls.omd.register_module(
            code, executable="SELECT 1/0" if code == "m_2" else "SELECT 1"
        )
    assert control.calls.omd.run_batch("b").execution_status_code is omd.Status.FAILED


def test_reaping_what_was_left(control: omd.Control, conn: Connection) -> None:
    begun = control.calls.omd.begin_module("m_alone", lease=timedelta(milliseconds=10))
    conn.execute("SELECT pg_sleep(0.01)")
    assert control.calls.omd.reap_expired_instances().reaped == [begun.module_instance_id]
    with pytest.raises(errors.lookup("OM101")):
        control.calls.omd.heartbeat(begun.module_instance_id, timedelta(minutes=1))


def test_a_heartbeat_needs_a_lease(control: omd.Control) -> None:
    with pytest.raises(errors.lookup("OM005")):
        control.calls.omd.heartbeat(
            control.calls.omd.begin_module("m_alone").module_instance_id, None
        )  # type: ignore[arg-type]


def test_every_report_has_the_columns_of_its_class(control: omd.Control) -> None:
    batch = control.calls.omd.begin_batch("b")
    control.calls.omd.begin_module("m_1", batch_instance_id=batch.batch_instance_id)
    for row in vars(t).values():
        if isinstance(row, type) and hasattr(row, "view"):
            control.report(row, limit=1)
    assert {row.code for row in control.report(t.CurrentProcessingRow)} == {"b", "m_1"}
    assert len(control.report(t.ModuleListRow, after={"module_code": "m_1"})) == 2
