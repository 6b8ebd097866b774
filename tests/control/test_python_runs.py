"""The blocks around a job: how an instance ends, whatever the job does."""
# ruff: noqa: PT012, SIM117 - the tests are about what happens in which block

from __future__ import annotations

import os
import platform
import socket
import threading
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import omd
from omd import errors
from omd.rooms.control.codes import ProcessingIndicator

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.wire import Wire

    Connection = psycopg.Connection[dict[str, Any]]
    Row = Callable[[int], dict[str, Any]]
    Events = Callable[..., list[dict[str, Any]]]


class JobError(Exception):
    pass


def failing(_run: omd.Run) -> None:
    raise JobError("no such luck")


# How a block ends -------------------------------------------------------------------------------


def test_leaving_the_blocks_ends_module_and_batch_well(
    control: omd.Control, module_row: Row, batch_row: Row
) -> None:
    with control.batch("b") as batch:
        with batch.module("m_1") as run:
            run.rows(input=2, inserted=1)
            run.rows(input=3)
            assert module_row(run.instance_id)["execution_status_code"] == "E"
        with batch.module("m_2") as other:
            pass
    row = module_row(run.instance_id)
    assert (row["execution_status_code"], row["rows_input"], row["rows_inserted"]) == ("S", 5, 1)
    assert row["batch_instance_id"] == batch.instance_id == run._batch_instance_id
    assert module_row(other.instance_id)["execution_status_code"] == "S"
    assert batch_row(batch.instance_id)["execution_status_code"] == "S"


@pytest.mark.parametrize("error", [JobError("no such luck"), KeyboardInterrupt(), SystemExit(3)])
def test_whatever_leaves_a_block_fails_module_and_batch_and_goes_on(
    control: omd.Control,
    module_row: Row,
    batch_row: Row,
    events: Events,
    error: BaseException,
) -> None:
    with pytest.raises(type(error)) as caught, control.batch("b") as batch:
        with batch.module("m_1") as run:
            raise error
    assert caught.value is error
    assert caught.value.__cause__ is None
    assert not getattr(caught.value, "__notes__", [])
    row = module_row(run.instance_id)
    assert (row["execution_status_code"], row["next_run_indicator"]) == ("F", "R")
    row = batch_row(batch.instance_id)
    assert (row["execution_status_code"], row["next_run_indicator"]) == ("F", "P")
    [event] = events(module=run.instance_id)
    assert event["event_return_code_details"].endswith(type(error).__name__)
    assert event["event_detail"].startswith(event["event_return_code_details"])
    assert str(error) in event["event_detail"]
    assert Path(__file__).name in event["event_detail"].splitlines()[1]
    assert "Traceback" in event["event_detail"]
    assert len(events(batch=batch.instance_id)) == 1


def test_the_last_frame_is_where_it_was_raised(control: omd.Control, events: Events) -> None:
    outcome = control.run("m_alone", failing)
    [event] = events(module=outcome.instance_id)
    assert event["event_detail"].splitlines()[1].endswith(" in failing")


def test_a_failure_that_cannot_be_recorded_does_not_hide_the_job_s_own(
    control: omd.Control, wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    with omd.connect(wire.dsn, lease=None, patience=timedelta(milliseconds=100)) as cut:
        with pytest.raises(JobError) as caught, cut.module("m_alone") as run:
            wire.refusing = True
            raise JobError("no such luck")
    assert caught.value.__cause__ is None
    assert "could not be recorded" in caplog.text
    if hasattr(caught.value, "__notes__"):
        assert "could not be recorded" in caught.value.__notes__[0]
        assert str(run.instance_id) in caught.value.__notes__[0]


def test_a_success_that_cannot_be_recorded_is_an_error(control: omd.Control, wire: Wire) -> None:
    with omd.connect(wire.dsn, lease=None, patience=timedelta(milliseconds=100)) as cut:
        with pytest.raises(errors.ConnectionFailed), cut.module("m_alone"):
            wire.refusing = True


def test_an_error_message_with_a_nul_is_recorded(control: omd.Control, module_row: Row) -> None:
    with pytest.raises(JobError), control.module("m_alone") as run:
        raise JobError("a\0b \ud800")
    assert module_row(run.instance_id)["execution_status_code"] == "F"


def test_a_refused_success_fails_the_module(
    control: omd.Control, module_row: Row, events: Events
) -> None:
    with pytest.raises(errors.lookup("OM007")), control.module("m_alone") as run:
        run.rows(inserted=-1)
    assert module_row(run.instance_id)["execution_status_code"] == "F"
    [event] = events(module=run.instance_id)
    assert event["event_return_code_details"] == "omd.errors.NegativeRowCount"


def test_a_run_given_up_meanwhile_can_not_succeed(control: omd.Control, conn: Connection) -> None:
    with pytest.raises(errors.LeaseLost) as caught, control.module("m_alone") as run:
        conn.execute("CALL omd.module_failure(%s)", [run.instance_id])
    assert isinstance(caught.value.__cause__, errors.lookup("OM101"))


def test_a_batch_that_failed_meanwhile_can_not_succeed(
    control: omd.Control, conn: Connection
) -> None:
    with pytest.raises(errors.LeaseLost), control.batch("b") as batch:
        conn.execute("CALL omd.batch_failure(%s)", [batch.instance_id])


# Skipped and aborted ----------------------------------------------------------------------------


def test_a_module_that_runs_already_is_aborted(control: omd.Control, module_row: Row) -> None:
    with control.module("m_alone"):
        with pytest.raises(omd.errors.Aborted) as caught, control.module("m_alone"):
            pytest.fail("the block must not be entered")
    assert (caught.value.code, caught.value.reason) == ("m_alone", "RUNNING")
    assert module_row(caught.value.instance_id)["execution_status_code"] == "A"


def test_a_batch_that_runs_already_is_aborted(control: omd.Control) -> None:
    with control.batch("b"), pytest.raises(omd.errors.Aborted) as caught, control.batch("b"):
        pytest.fail("the block must not be entered")
    assert caught.value.reason == "RUNNING"


def test_an_inactive_module_is_skipped(control: omd.Control, module_row: Row) -> None:
    control.calls.omd.register_module("m_alone", inactive_indicator="Y")
    with pytest.raises(omd.errors.Skipped) as caught, control.module("m_alone"):
        pytest.fail("the block must not be entered")
    assert caught.value.reason == "INACTIVE"
    assert module_row(caught.value.instance_id)["execution_status_code"] == "C"


def test_a_batch_run_too_early_is_skipped_unless_forced(control: omd.Control) -> None:
    control.calls.omd.register_batch("b", frequency_code="Daily")
    with control.batch("b"):
        pass
    with pytest.raises(omd.errors.Skipped) as caught, control.batch("b"):
        pytest.fail("the block must not be entered")
    assert caught.value.reason == "FREQUENCY"
    with control.batch("b", force=True):
        pass


def test_a_rerun_passes_over_what_succeeded(control: omd.Control) -> None:
    with pytest.raises(JobError), control.batch("b") as batch:
        with batch.module("m_1"):
            pass
        with batch.module("m_2") as failed:
            raise JobError
    with control.batch("b") as batch:
        with suppress(omd.errors.Skipped), batch.module("m_1"):
            pytest.fail("it has succeeded")
        with batch.module("m_2") as again:
            assert again.instance_array == [failed.instance_id]


def test_unknown_codes_create_nothing(control: omd.Control, conn: Connection) -> None:
    with pytest.raises(errors.lookup("OM001")), control.batch("nowhere"):
        pass
    with pytest.raises(errors.lookup("OM002")):
        control.run("nowhere", failing)
    assert (
        conn.execute("SELECT FROM omd.module_instance WHERE module_instance_id > 0").rowcount == 0
    )


# Outcomes ---------------------------------------------------------------------------------------


def test_run_returns_what_the_job_returned(control: omd.Control) -> None:
    outcome = control.run("m_alone", lambda run: run.instance_id * 2)
    assert outcome.succeeded
    assert outcome.result() == outcome.value == outcome.instance_id * 2
    assert (outcome.kind, outcome.status, outcome.reason) == ("JOB", "S", None)


def test_run_returns_what_the_job_raised(control: omd.Control) -> None:
    outcome = control.run("m_alone", failing)
    assert (outcome.status, outcome.reason) == ("F", None)
    assert isinstance(outcome.error, JobError)
    with pytest.raises(JobError):
        outcome.result()


def test_run_does_not_call_a_job_that_may_not_proceed(control: omd.Control) -> None:
    with control.module("m_alone"):
        outcome = control.run("m_alone", failing)
    assert (outcome.status, outcome.reason) == ("A", "RUNNING")
    control.calls.omd.register_module("m_alone", inactive_indicator="Y")
    outcome = control.run("m_alone", failing)
    assert (outcome.status, outcome.reason) == ("C", "INACTIVE")
    assert isinstance(outcome.error, omd.errors.Skipped)
    with pytest.raises(omd.errors.Skipped):
        outcome.result()


def test_a_skip_of_another_module_inside_a_job_is_a_failure(control: omd.Control) -> None:
    control.calls.omd.register_module("m_2", inactive_indicator="Y")

    def job(_run: omd.Run) -> None:
        with control.module("m_2"):
            pass

    outcome = control.run("m_alone", job)
    assert outcome.status == "F"
    assert not outcome.succeeded


def test_a_batch_can_not_succeed_over_a_module_that_failed(
    control: omd.Control, batch_row: Row
) -> None:
    with pytest.raises(errors.lookup("OM104")), control.batch("b") as batch:
        assert batch.run("m_1", failing).status == "F"
        assert batch.run("m_2", lambda run: run._batch_instance_id).value == batch.instance_id
    assert batch_row(batch.instance_id)["execution_status_code"] == "F"


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_run_lets_pass_what_ends_the_process(
    control: omd.Control, conn: Connection, error: type[BaseException]
) -> None:
    def job(_run: omd.Run) -> None:
        raise error

    with pytest.raises(error):
        control.run("m_alone", job)
    row = conn.execute("SELECT * FROM omd_report.module_execution_log").fetchone()
    assert row is not None
    assert row["execution_status_code"] == "F"


def test_the_job_is_in_the_execution_context(control: omd.Control, module_row: Row) -> None:
    def load(run: omd.Run) -> str:
        run.rows(inserted=8)
        return "done"

    outcome = control.run("m_alone", load, context={"mine": 1})
    assert outcome.result() == "done"
    row = module_row(outcome.instance_id)
    assert row["rows_inserted"] == 8
    assert row["execution_context"]["mine"] == 1
    assert row["execution_context"]["job"].endswith("load")
    assert len(row["execution_context"]["code_checksum"]) == 64

    with control.batch("b") as batch:
        other = batch.run("m_1", lambda run: run.environment()["OMD_BATCH_INSTANCE_ID"])
        assert other.result() == str(batch.instance_id)


def test_the_execution_context_says_where_it_ran(control: omd.Control, module_row: Row) -> None:
    with control.module("m_alone", context={"ticket": "T-1"}) as run:
        pass
    context = module_row(run.instance_id)["execution_context"]
    assert context["host"] == socket.gethostname()
    assert context["pid"] == os.getpid()
    assert context["python"] == platform.python_version()
    assert context["ticket"] == "T-1"
    assert context["platform"] in ("python", "spark")


# Hierarchy, threads, environment ----------------------------------------------------------------


def test_a_child_batch_knows_its_parent_and_fails_it(control: omd.Control, batch_row: Row) -> None:
    control.calls.omd.register_batch("b_child", frequency_code="Adhoc")
    control.calls.omd.add_batch_to_parent_batch("b_child", "b", sequence=1)
    with control.batch("b") as parent, parent.batch("b_child") as child:
        pass
    row = batch_row(child.instance_id)
    assert row["parent_batch_instance_id"] == parent.instance_id
    with pytest.raises(JobError), control.batch("b") as parent, parent.batch("b_child") as child:
        raise JobError
    assert batch_row(child.instance_id)["execution_status_code"] == "F"
    assert batch_row(parent.instance_id)["execution_status_code"] == "F"


def test_modules_run_in_parallel_threads(control: omd.Control, batch_row: Row) -> None:
    barrier = threading.Barrier(2, timeout=30)
    outcomes: list[omd.Outcome[int]] = []
    with control.batch("b") as batch:
        threads = [
            threading.Thread(
                target=lambda code=code: outcomes.append(
                    batch.run(code, lambda run: barrier.wait())
                )
            )
            for code in ("m_1", "m_2")
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert all(outcome.succeeded for outcome in outcomes)
    assert batch_row(batch.instance_id)["execution_status_code"] == "S"


def test_another_process_joins_by_environment(
    control: omd.Control, monkeypatch: pytest.MonkeyPatch, module_row: Row, batch_row: Row
) -> None:
    with control.batch("b") as batch:
        for name, value in batch.environment().items():
            monkeypatch.setenv(name, value)
        with omd.connect(lease=None) as elsewhere:
            with elsewhere.module("m_1") as run:
                assert run._batch_instance_id == batch.instance_id
                assert run.environment()["OMD_BATCH_INSTANCE_ID"] == str(batch.instance_id)
            joined = elsewhere.batch("b", join=True)
            with joined, joined.module("m_2") as run:
                assert run._batch_instance_id == batch.instance_id
            with elsewhere.module("m_alone", batch=0) as run:
                assert run._batch_instance_id == 0
                assert "OMD_BATCH_INSTANCE_ID" not in run.environment()
        assert batch_row(batch.instance_id)["execution_status_code"] == "E"
    assert batch_row(batch.instance_id)["execution_status_code"] == "S"


def test_without_the_variable_a_batch_begins(
    control: omd.Control, monkeypatch: pytest.MonkeyPatch, batch_row: Row
) -> None:
    with control.batch("b", join=True) as batch:
        pass
    assert batch_row(batch.instance_id)["execution_status_code"] == "S"
    monkeypatch.setenv("OMD_BATCH_INSTANCE_ID", "seven")
    with pytest.raises(ValueError, match="seven"):
        control.batch("b", join=True)


def test_the_definition_is_at_hand(control: omd.Control, dsn: str) -> None:
    with control.module("m_alone") as run:
        assert run._module.table_code == "dwh.t"
        assert run._module.insert_instance_column == "omd_insert_module_instance_id"
        with psycopg.connect(run.dsn) as there, psycopg.connect(dsn) as here:
            assert there.info.dbname == here.info.dbname


# Rollback on Spark ------------------------------------------------------------------------------


@pytest.fixture
def pending(control: omd.Control) -> int:
    """A failed instance of a Module whose target is on Spark."""
    control.calls.omd.register_module("m_alone", platform_code="SPARK")
    return control.run("m_alone", failing).instance_id


def test_the_driver_executes_a_rollback_on_spark_and_confirms_it(
    control: omd.Control, pending: int, module_row: Row
) -> None:
    executed: list[str] = []
    with control.module("m_alone", rollback_executor=executed.append) as run:
        assert run.instance_array == [pending]
        assert module_row(run.instance_id)["processing_indicator"] == "P"
    assert executed
    assert str(pending) in executed[0]
    assert module_row(pending)["rolled_back_by_module_instance_id"] == run.instance_id
    with control.module("m_alone") as run:
        assert run.instance_array == []


def test_a_rollback_without_an_executor_fails_the_instance(
    control: omd.Control, pending: int, module_row: Row, events: Events
) -> None:
    outcome = control.run("m_alone", lambda run: pytest.fail("not called"))
    assert isinstance(outcome.error, errors.lookup("OM241"))
    assert "rollback_executor" in (outcome.error.hint or "")
    assert module_row(outcome.instance_id)["execution_status_code"] == "F"
    [event] = events(module=outcome.instance_id)
    assert event["event_return_code_details"] == "omd.errors.NoRollbackExecutor"


def test_a_rollback_that_fails_stays_pending(
    control: omd.Control, pending: int, module_row: Row
) -> None:
    def refuse(_statement: str) -> None:
        raise JobError("no disk")

    with pytest.raises(JobError), control.module("m_alone", rollback_executor=refuse):
        pytest.fail("the block must not be entered")
    executed: list[str] = []
    with control.module("m_alone", rollback_executor=executed.append) as run:
        assert pending in run.instance_array
        assert len(run.instance_array) == 2
    assert module_row(pending)["rolled_back_by_module_instance_id"] == run.instance_id


def test_a_confirmation_whose_answer_is_lost_is_done(
    wired: omd.Control, wire: Wire, pending: int
) -> None:
    begun = wired.calls.omd.begin_module("m_alone")
    assert begun.processing_indicator is ProcessingIndicator.ROLLBACK
    wire.swallow_answer_to = b"confirm_rollback"
    wired.calls.omd.confirm_rollback(begun.module_instance_id)
    wired.calls.omd.module_success(begun.module_instance_id)


# Rights -----------------------------------------------------------------------------------------


def test_a_runner_needs_no_other_role(control: omd.Control, dsn: str, pending: int) -> None:
    restricted = psycopg.conninfo.make_conninfo(dsn, options="-c role=omd_runner")
    with omd.connect(restricted, lease=timedelta(milliseconds=500)) as runner:
        with runner.batch("b") as batch:
            with batch.module("m_1") as run:
                assert run._module.table_code == "dwh.t"
                runner.calls.omd.heartbeat(run.instance_id, timedelta(minutes=1))
            assert batch.run("m_2", lambda run: run.rows(inserted=1)).succeeded
        executed: list[str] = []
        with runner.module("m_alone", rollback_executor=executed.append) as run:
            assert run.instance_array == [pending]
        assert runner.run("m_alone", failing).status == "F"


def test_executors_get_a_connection_string_of_their_own(
    dsn: str, control: omd.Control, monkeypatch: pytest.MonkeyPatch
) -> None:
    with control.module("m_1") as run:
        assert run.dsn == control._dsn
    with omd.connect(dsn, lease=None, executor_dsn="service=dwh") as told:
        with told.module("m_1") as run:
            assert run.dsn == "service=dwh"
            assert run.environment()["OMD_DSN"] == control._dsn
    monkeypatch.setenv("OMD_EXECUTOR_DSN", "service=other")
    with omd.connect(dsn, lease=None) as told, told.module("m_1") as run:
        assert run.dsn == "service=other"
