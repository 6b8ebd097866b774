"""The control plane as Python sees it: one method per procedure (process-control.md section 3).

`Control` hands a call to the database and its answer back as a typed object. It decides nothing.
The blocks around a job (`Control.batch`, `Control.module`, …) are in `omd.run`.
"""

from __future__ import annotations

import functools
import json
import os
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import psycopg
from psycopg import sql
from psycopg.pq import TransactionStatus
from psycopg.types.json import Jsonb

from omd._link import Link, resolve_conninfo, routine_arguments
from omd._types import (
    AuditColumnValue,
    BatchBegun,
    BatchEvaluation,
    BatchRan,
    ExecutionStatus,
    LoadWindowStart,
    ModuleBegun,
    ModuleDefinition,
    ModuleEvaluation,
    ModuleRan,
    NextRunIndicator,
    Outcome,
    PreviousBatchInstance,
    PreviousModuleInstance,
    Purged,
    Reaped,
    RollbackPreview,
    RollbackStatement,
)
from omd.errors import AnswerLost, CallerError, MissingArgument, OmdError, StateError
from omd.run import BATCH_VARIABLE, Batch, ModuleRun, call_job, make_decorator, with_checksum

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import EllipsisType

__all__ = ["Control", "connect"]

P = ParamSpec("P")
T = TypeVar("T")

_dumps = functools.partial(json.dumps, default=str)


def connect(
    conninfo: str | None = None,
    *,
    lease: timedelta | None = timedelta(minutes=5),
    application_name: str = "omd",
    patience: timedelta = timedelta(minutes=1),
    spark: Any = None,
    rollback_executor: Callable[[str], object] | None = None,
    executor_dsn: str | None = None,
) -> Control:
    """Connect to the control plane.

    Args:
        conninfo: libpq connection string or URL; else OMD_DSN, DATABASE_URL, libpq's settings.
        lease: how long a run of this driver may go unheard of before it is given up; a background
            thread renews it every fifth of that. None: never given up, not even when this dies.
        application_name: as seen in pg_stat_activity.
        patience: how long a broken connection is tried again before `ConnectionFailed`.
        spark: the Spark session of the runs, where they name no other.
        rollback_executor: executes one Spark SQL statement of a rollback, without a session.
        executor_dsn: connection string for Spark's processes; else OMD_EXECUTOR_DSN, else this
            connection's own with its password. ``service=dwh`` lets libpq find the rest where they
            run, so that no secret passes through Spark.

    Raises:
        ConnectionFailed: the database does not answer.
    """
    return Control(
        resolve_conninfo(conninfo),
        lease=lease,
        application_name=application_name,
        patience=patience,
        spark=spark,
        rollback_executor=rollback_executor,
        executor_dsn=executor_dsn or os.environ.get("OMD_EXECUTOR_DSN"),
    )


@dataclass(frozen=True, slots=True)
class _Nothing:
    """The answer of a procedure without OUT values."""


@dataclass(frozen=True, slots=True)
class _Value:
    value: Any


class Control:
    """A session with the control plane; use `connect` to make one.

    Safe to share between threads: statements are short and go one at a time. It moves no data.
    """

    def __init__(
        self,
        conninfo: str,
        *,
        lease: timedelta | None,
        application_name: str,
        patience: timedelta,
        spark: Any,
        rollback_executor: Callable[[str], object] | None,
        executor_dsn: str | None,
    ) -> None:
        self.lease = lease
        self.spark = spark
        self.rollback_executor = rollback_executor
        self._conninfo = conninfo
        self._executor_dsn = executor_dsn
        self._application_name = application_name
        self._patience = patience
        self._link = self.new_link()
        self._link.open()

    def __enter__(self) -> Control:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection. Open runs stay as they are until their lease passes."""
        self._link.close()

    @property
    def dsn(self) -> str:
        """A connection string for other processes, password included: never log it."""
        return self._link.dsn

    @property
    def executor_dsn(self) -> str:
        """The connection string for Spark's processes: never log it."""
        return self._executor_dsn or self.dsn

    def new_link(
        self, *, name: str = "", patience: timedelta | None = None, **options: str
    ) -> Link:
        """Another connection to the same database, not opened yet; options are libpq's."""
        return Link(
            self._conninfo,
            application_name=self._application_name + name,
            patience=self._patience if patience is None else patience,
            **options,
        )

    @contextmanager
    def transaction(self) -> Iterator[psycopg.Connection[Any]]:
        """Make the calls inside one transaction; for registration, never around a run."""
        with self._link.transaction() as connection:
            yield connection

    def execute_script(self, script: str) -> None:
        """Execute a SQL file, such as one of CALL omd.register_…, in one transaction.

        Raises:
            CallerError: the script ended its transaction itself.
        """
        with self.transaction() as connection:
            connection.execute(script.encode())
            if connection.info.transaction_status is not TransactionStatus.INTRANS:
                raise CallerError("the script must not end its transaction: no COMMIT, no ROLLBACK")

    # Runs ---------------------------------------------------------------------------------------

    def batch(
        self,
        code: str,
        *,
        parent: Batch | int | None = None,
        force: bool = False,
        lease: timedelta | EllipsisType | None = ...,
        context: Mapping[str, Any] | None = None,
    ) -> Batch:
        """A Batch as a block (sections 3 and 4).

        Args:
            code: the Batch.
            parent: the Batch (Instance) that this one is part of.
            force: run although its frequency says that it is too early.
            lease: other than this control's; None for none.
            context: added to the execution context.

        Raises, on entering the block:
            BatchSkipped: there is no need to run now.
            BatchAborted: it runs already.
        """
        instance = parent.batch_instance_id if isinstance(parent, Batch) else parent
        return Batch(
            self,
            code,
            parent=parent if isinstance(parent, Batch) else None,
            parent_batch_instance_id=instance,
            force=force,
            lease=lease,
            context=context,
        )

    def batch_from_environment(self) -> Batch | None:
        """The Batch that OMD_BATCH_INSTANCE_ID names, as a block; None when it names none.

        Leaving the block does not end the Batch: who began it does.
        ``with control.batch_from_environment() or control.batch("b_x") as batch:`` works both ways.
        """
        instance = _environment_batch()
        return None if instance is None else Batch(self, None, joined=instance)

    def module(
        self,
        code: str,
        *,
        batch_instance_id: int | None = None,
        lease: timedelta | EllipsisType | None = ...,
        spark: Any = None,
        rollback_executor: Callable[[str], object] | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> ModuleRun:
        """A Module as a block, on its own or in the Batch of OMD_BATCH_INSTANCE_ID (section 5).

        Args:
            code: the Module.
            batch_instance_id: the Batch to join; 0 for none, whatever the environment says.
            lease: other than this control's; None for none.
            spark: the Spark session of this run.
            rollback_executor: executes one Spark SQL statement of a rollback.
            context: added to the execution context.

        Raises, on entering the block:
            ModuleSkipped: there is no need to run now.
            ModuleAborted: it must not run now.
        """
        return ModuleRun(
            self,
            code,
            batch_instance_id=(
                _environment_batch() if batch_instance_id is None else batch_instance_id
            ),
            lease=lease,
            spark=spark,
            rollback_executor=rollback_executor,
            context=context,
        )

    def run(self, code: str, job: Callable[[ModuleRun], T], **options: Any) -> Outcome[T]:
        """Call ``job(run)`` if the Module may proceed, and return how it went; see `Batch.run`."""
        return call_job(self.module(code, **with_checksum(options, job)), job)

    def module_job(
        self, code: str, **options: Any
    ) -> Callable[[Callable[Concatenate[ModuleRun, P], T]], Callable[P, Outcome[T]]]:
        """Decorator: calling the function runs it as this Module, as `run` does.

        The function's first parameter is the run; the caller gives the others.
        """
        return make_decorator(lambda **more: self.module(code, **more), options)

    # Registration -------------------------------------------------------------------------------

    def register_batch(
        self,
        batch_code: str,
        *,
        frequency_code: str | None = None,
        batch_description: str | None = None,
        inactive_indicator: str | None = None,
        continue_on_failure: bool | None = None,
    ) -> int:
        """Insert or update a Batch by code and answer its id; None keeps the present value."""
        return self._call(
            "register_batch",
            _BatchId,
            p_batch_code=batch_code,
            p_frequency_code=frequency_code,
            p_batch_description=batch_description,
            p_inactive_indicator=inactive_indicator,
            p_continue_on_failure=continue_on_failure,
        ).batch_id

    def register_module(
        self,
        module_code: str,
        *,
        area_code: str | None = None,
        table_code: str | None = None,
        table_type_code: str | None = None,
        platform_code: str | None = None,
        executable: str | None = None,
        module_description: str | None = None,
        business_key_columns: Sequence[str] | None = None,
        effective_date_column: str | None = None,
        expiry_date_column: str | None = None,
        current_indicator_column: str | None = None,
        insert_instance_column: str | None = None,
        update_instance_column: str | None = None,
        companion_module_codes: Sequence[str] | None = None,
        inactive_indicator: str | None = None,
        table_format_code: str | None = None,
        open_expiry_date: str | None = None,
    ) -> int:
        """Insert or update a Module by code and answer its id; None keeps the present value.

        Args:
            module_code: the code.
            area_code: STG, HSTG, INT, PRES, HELPER or one the user added.
            table_code: the target, ``schema.table``.
            table_type_code: HUB, SAT, LSAT, LINK, 3NF, ….
            platform_code: where the target lives: POSTGRES or SPARK.
            executable: SQL text of an in-database Module.
            module_description: free text.
            business_key_columns: the key of the target.
            effective_date_column: start of a row's validity, for a target with history.
            expiry_date_column: end of a row's validity.
            current_indicator_column: marks the newest row of a key.
            insert_instance_column: where it differs from the standard audit column.
            update_instance_column: the same.
            companion_module_codes: Modules rolled back together with this one.
            inactive_indicator: Y or N.
            table_format_code: PARQUET for a target on Spark whose rows can't be deleted.
            open_expiry_date: what the expiry date of a current row says.
        """
        return self._call(
            "register_module",
            _ModuleId,
            p_module_code=module_code,
            p_area_code=area_code,
            p_table_code=table_code,
            p_table_type_code=table_type_code,
            p_platform_code=platform_code,
            p_executable=executable,
            p_module_description=module_description,
            p_business_key_columns=_list(business_key_columns),
            p_effective_date_column=effective_date_column,
            p_expiry_date_column=expiry_date_column,
            p_current_indicator_column=current_indicator_column,
            p_insert_instance_column=insert_instance_column,
            p_update_instance_column=update_instance_column,
            p_companion_module_codes=_list(companion_module_codes),
            p_inactive_indicator=inactive_indicator,
            p_table_format_code=table_format_code,
            p_open_expiry_date=open_expiry_date,
        ).module_id

    def add_module_to_batch(
        self,
        batch_code: str,
        module_code: str,
        *,
        sequence: int | None = None,
        inactive_indicator: str | None = None,
    ) -> None:
        """Give a Module its place in a Batch, or change it."""
        self._call(
            "add_module_to_batch",
            p_batch_code=batch_code,
            p_module_code=module_code,
            p_sequence=sequence,
            p_inactive_indicator=inactive_indicator,
        )

    def add_batch_to_parent_batch(
        self,
        batch_code: str,
        parent_batch_code: str,
        *,
        sequence: int | None = None,
        inactive_indicator: str | None = None,
    ) -> None:
        """Give a Batch its place in another Batch, or change it; a cycle is refused."""
        self._call(
            "add_batch_to_parent_batch",
            p_batch_code=batch_code,
            p_parent_batch_code=parent_batch_code,
            p_sequence=sequence,
            p_inactive_indicator=inactive_indicator,
        )

    def set_parameter(
        self,
        parameter_code: str,
        parameter_value: str,
        *,
        batch_code: str | None = None,
        module_code: str | None = None,
    ) -> None:
        """Set a parameter of a Batch or of a Module; name one of the two."""
        self._call(
            "set_parameter",
            p_parameter_code=parameter_code,
            p_parameter_value=parameter_value,
            p_batch_code=batch_code,
            p_module_code=module_code,
        )

    def parameter_value(
        self,
        parameter_code: str,
        *,
        module_instance_id: int | None = None,
        batch_instance_id: int | None = None,
    ) -> str | None:
        """The value a run sees: the Module's, else the Batch's, else none (section 2)."""
        value: str | None = self._value(
            "parameter_value",
            p_parameter_code=parameter_code,
            p_module_instance_id=module_instance_id,
            p_batch_instance_id=batch_instance_id,
        )
        return value

    def module_definition(self, module_code: str) -> ModuleDefinition:
        """The Module as registered."""
        return self._rows("module_definition", ModuleDefinition, p_module_code=module_code)[0]

    # Batch Instances ----------------------------------------------------------------------------

    def create_batch_instance(
        self,
        batch_code: str,
        *,
        parent_batch_instance_id: int | None = None,
        execution_context: Mapping[str, Any] | None = None,
    ) -> int:
        """Create a Batch Instance without evaluating it; `begin_batch` does both."""
        return self._call_once(
            "create_batch_instance",
            _BatchInstanceId,
            p_batch_code=batch_code,
            p_parent_batch_instance_id=parent_batch_instance_id,
            p_execution_context=_json(execution_context),
        ).batch_instance_id

    def evaluate_batch(self, batch_instance_id: int) -> BatchEvaluation:
        """Evaluate a created Batch Instance (section 4)."""
        return self._call_once(
            "evaluate_batch", BatchEvaluation, p_batch_instance_id=batch_instance_id
        )

    def begin_batch(
        self,
        batch_code: str,
        *,
        parent_batch_instance_id: int | None = None,
        execution_context: Mapping[str, Any] | None = None,
        lease: timedelta | None = None,
        force: bool | None = None,
    ) -> BatchBegun:
        """Create and evaluate a Batch Instance in one transaction (section 4).

        Raises:
            UnknownBatch: no Batch has this code.
            AnswerLost: the connection broke before the answer came.
        """
        return self._call_once(
            "begin_batch",
            BatchBegun,
            p_batch_code=batch_code,
            p_parent_batch_instance_id=parent_batch_instance_id,
            p_execution_context=_json(execution_context),
            p_lease=lease,
            p_force=force,
        )

    def batch_success(self, batch_instance_id: int) -> None:
        """End a Batch Instance well; refused while a Module of it failed or still runs."""
        self._end("batch_success", ExecutionStatus.SUCCEEDED, p_batch_instance_id=batch_instance_id)

    def batch_failure(
        self,
        batch_instance_id: int,
        *,
        event_detail: str | None = None,
        event_return_code_details: str | None = None,
    ) -> None:
        """End a Batch Instance as failed; writes one event."""
        self._end(
            "batch_failure",
            ExecutionStatus.FAILED,
            p_batch_instance_id=batch_instance_id,
            p_event_detail=_text(event_detail),
            p_event_return_code_details=_text(event_return_code_details),
        )

    def batch_skip(self, batch_instance_id: int) -> None:
        """End a Batch Instance as cancelled."""
        self._end("batch_skip", ExecutionStatus.CANCELLED, p_batch_instance_id=batch_instance_id)

    def batch_abort(self, batch_instance_id: int) -> None:
        """End a Batch Instance as aborted."""
        self._end("batch_abort", ExecutionStatus.ABORTED, p_batch_instance_id=batch_instance_id)

    def batch_active_instance_control(self, batch_instance_id: int) -> str:
        """``Process`` or ``Abort``: the multiple-instance check."""
        return str(
            self._value("batch_active_instance_control", p_batch_instance_id=batch_instance_id)
        )

    def previous_batch_instance(self, batch_code: str) -> PreviousBatchInstance | None:
        """The last real run: the newest instance that succeeded or failed."""
        rows = self._rows("previous_batch_instance", PreviousBatchInstance, p_batch_code=batch_code)
        return rows[0] if rows else None

    # Module Instances ---------------------------------------------------------------------------

    def create_module_instance(
        self,
        module_code: str,
        *,
        batch_instance_id: int | None = None,
        execution_context: Mapping[str, Any] | None = None,
    ) -> int:
        """Create a Module Instance without evaluating it; `begin_module` does both."""
        return self._call_once(
            "create_module_instance",
            _ModuleInstanceId,
            p_module_code=module_code,
            p_batch_instance_id=batch_instance_id,
            p_execution_context=_json(execution_context),
        ).module_instance_id

    def evaluate_module(self, module_instance_id: int) -> ModuleEvaluation:
        """Evaluate a created Module Instance (section 5)."""
        return self._call_once(
            "evaluate_module", ModuleEvaluation, p_module_instance_id=module_instance_id
        )

    def begin_module(
        self,
        module_code: str,
        *,
        batch_instance_id: int | None = None,
        execution_context: Mapping[str, Any] | None = None,
        lease: timedelta | None = None,
    ) -> ModuleBegun:
        """Create and evaluate a Module Instance in one transaction (section 5).

        Raises:
            UnknownModule: no Module has this code.
            UnknownBatchInstance: there is no such Batch Instance.
            NoRollbackTemplate: a rollback is pending and nothing says how to do it.
            AnswerLost: the connection broke before the answer came.
        """
        return self._call_once(
            "begin_module",
            ModuleBegun,
            p_module_code=module_code,
            p_batch_instance_id=batch_instance_id,
            p_execution_context=_json(execution_context),
            p_lease=lease,
        )

    def module_success(
        self,
        module_instance_id: int,
        *,
        rows_input: int | None = None,
        rows_inserted: int | None = None,
        rows_updated: int | None = None,
        rows_deleted: int | None = None,
        rows_discarded: int | None = None,
        rows_rejected: int | None = None,
    ) -> None:
        """End a Module Instance well, with its row counts.

        Raises:
            InstanceNotExecuting: it has ended already, or was given up.
            NotProceeding: it was not told to proceed.
            NegativeRowCount: a count below zero.
        """
        self._end(
            "module_success",
            ExecutionStatus.SUCCEEDED,
            p_module_instance_id=module_instance_id,
            p_rows_input=rows_input,
            p_rows_inserted=rows_inserted,
            p_rows_updated=rows_updated,
            p_rows_deleted=rows_deleted,
            p_rows_discarded=rows_discarded,
            p_rows_rejected=rows_rejected,
        )

    def module_failure(
        self,
        module_instance_id: int,
        *,
        event_detail: str | None = None,
        event_return_code_details: str | None = None,
    ) -> None:
        """End a Module Instance as failed; writes one event, and the next run rolls it back."""
        self._end(
            "module_failure",
            ExecutionStatus.FAILED,
            p_module_instance_id=module_instance_id,
            p_event_detail=_text(event_detail),
            p_event_return_code_details=_text(event_return_code_details),
        )

    def module_skip(self, module_instance_id: int) -> None:
        """End a Module Instance as cancelled."""
        self._end("module_skip", ExecutionStatus.CANCELLED, p_module_instance_id=module_instance_id)

    def module_abort(self, module_instance_id: int) -> None:
        """End a Module Instance as aborted."""
        self._end("module_abort", ExecutionStatus.ABORTED, p_module_instance_id=module_instance_id)

    def module_active_instance_control(self, module_instance_id: int) -> str:
        """``Process`` or ``Abort``: the multiple-instance check."""
        return str(
            self._value("module_active_instance_control", p_module_instance_id=module_instance_id)
        )

    def previous_module_instance(self, module_code: str) -> PreviousModuleInstance | None:
        """The last real run, with what a begin would roll back now."""
        rows = self._rows(
            "previous_module_instance", PreviousModuleInstance, p_module_code=module_code
        )
        return rows[0] if rows else None

    def create_load_window(
        self,
        module_instance_id: int,
        *,
        end_value: datetime | None = None,
        end_id: int | None = None,
    ) -> LoadWindowStart:
        """Record the slice of the source this run reads, up to the end given; answers its start.

        The start is exclusive. The very first window has no start: `start_value` is None.
        """
        return self._call(
            "create_load_window",
            LoadWindowStart,
            p_module_instance_id=module_instance_id,
            p_end_value=end_value,
            p_end_id=end_id,
        )

    # Rollback -----------------------------------------------------------------------------------

    def build_rollback_sql(self, module_instance_id: int) -> list[RollbackStatement]:
        """The statements of the pending rollback, in order (section 6); executes nothing."""
        rows = self._rows(
            "build_rollback_sql", RollbackStatement, p_module_instance_id=module_instance_id
        )
        return sorted(rows, key=lambda row: row.step)

    def preview_rollback(self, module_instance_id: int) -> list[RollbackPreview]:
        """The same statements, and how many rows each would touch now; changes nothing."""
        rows = self._rows(
            "preview_rollback", RollbackPreview, p_module_instance_id=module_instance_id
        )
        return sorted(rows, key=lambda row: row.step)

    def rollback_module(self, module_instance_id: int) -> None:
        """Execute the pending rollback of a PostgreSQL target."""
        self._call("rollback_module", p_module_instance_id=module_instance_id)

    def confirm_rollback(self, module_instance_id: int) -> None:
        """Tell that the pending rollback was executed elsewhere."""
        self._send(
            "confirm_rollback",
            _Nothing,
            {"p_module_instance_id": module_instance_id},
            repeatable=True,
            settled=lambda refusal: refusal.detail.get("processing_indicator") == "P",
        )

    # Leases -------------------------------------------------------------------------------------

    def heartbeat(
        self,
        module_instance_id: int,
        lease: timedelta | None = None,
        *,
        link: Link | None = None,
    ) -> None:
        """Renew a Module Instance's lease (section 7).

        Raises:
            InstanceNotExecuting: it was given up.
            LeaseExpired: the lease has passed.
        """
        self._send(
            "heartbeat",
            _Nothing,
            {"p_module_instance_id": module_instance_id, "p_lease": self._lease(lease)},
            repeatable=True,
            link=link,
        )

    def heartbeat_batch(
        self,
        batch_instance_id: int,
        lease: timedelta | None = None,
        *,
        link: Link | None = None,
    ) -> None:
        """Renew a Batch Instance's lease; errors as for `heartbeat`."""
        self._send(
            "heartbeat_batch",
            _Nothing,
            {"p_batch_instance_id": batch_instance_id, "p_lease": self._lease(lease)},
            repeatable=True,
            link=link,
        )

    def reap_expired_instances(self) -> Reaped:
        """Give up every instance whose lease has passed or whose session is gone."""
        return self._call_once("reap_expired_instances", Reaped)

    def purge_history(self, keep: timedelta, *, batch_size: int = 5000) -> Purged:
        """Delete instances and events older than ``keep`` that no evaluation needs.

        Args:
            keep: how much history stays.
            batch_size: rows per transaction.
        """
        return self._call("purge_history", Purged, p_keep=keep, p_batch_size=batch_size)

    # Administration and events ------------------------------------------------------------------

    def set_next_run_indicator(
        self,
        next_run_indicator: NextRunIndicator | str,
        *,
        batch_instance_id: int | None = None,
        module_instance_id: int | None = None,
    ) -> None:
        """Tell the next run to proceed (P), roll back (R) or skip once (C)."""
        self._call_once(
            "set_next_run_indicator",
            _Nothing,
            p_next_run_indicator=str(next_run_indicator),
            p_batch_instance_id=batch_instance_id,
            p_module_instance_id=module_instance_id,
        )

    def log_event(
        self,
        event_detail: str,
        *,
        module_instance_id: int | None = None,
        batch_instance_id: int | None = None,
        event_type_code: int | None = None,
        event_return_code_details: str | None = None,
        error_bitmap: int | None = None,
    ) -> None:
        """Write an entry to the event log."""
        self._call_once(
            "log_event",
            _Nothing,
            p_event_detail=_text(event_detail),
            p_module_instance_id=module_instance_id,
            p_batch_instance_id=batch_instance_id,
            p_event_type_code=event_type_code,
            p_event_return_code_details=_text(event_return_code_details),
            p_error_bitmap=error_bitmap,
        )

    # In-database runs ---------------------------------------------------------------------------

    def run_module(
        self,
        module_code: str,
        *,
        batch_instance_id: int | None = None,
        executable: str | None = None,
    ) -> ModuleRan:
        """Run a Module whose executable is SQL, in the database (section 8); waits for its end."""
        with self._own_link() as link:
            return self._send(
                "run_module",
                ModuleRan,
                {
                    "p_module_code": module_code,
                    "p_batch_instance_id": batch_instance_id,
                    "p_executable": executable,
                },
                link=link,
            )[0]

    def run_batch(
        self, batch_code: str, *, parent_batch_instance_id: int | None = None
    ) -> BatchRan:
        """Run a Batch of SQL Modules in the database (section 8); waits for its end."""
        with self._own_link() as link:
            return self._send(
                "run_batch",
                BatchRan,
                {
                    "p_batch_code": batch_code,
                    "p_parent_batch_instance_id": parent_batch_instance_id,
                },
                link=link,
            )[0]

    # Reports ------------------------------------------------------------------------------------

    def report(
        self,
        row: type[T],
        *,
        order_by: Sequence[str] = (),
        descending: bool = False,
        limit: int | None = None,
        after: Mapping[str, Any] | None = None,
        **equal: Any,
    ) -> list[T]:
        """Rows of a view in omd_report (section 10), as the class that names it.

        Args:
            row: `BatchRow`, `ModuleRow`, `EventRow`, ….
            order_by: columns.
            descending: last first.
            limit: at most so many rows.
            after: columns that must be greater than a value.
            equal: columns that must equal a value; None is no condition.
        """
        values: dict[str, Any] = {}
        conditions = []
        for operator, wanted in (("=", equal), (">", after or {})):
            for name, value in wanted.items():
                if value is not None:
                    conditions.append(
                        sql.SQL("{} {} {}").format(
                            sql.Identifier(name),
                            sql.SQL(operator),
                            sql.Placeholder(f"v{len(values)}"),
                        )
                    )
                    values[f"v{len(values)}"] = value
        query = sql.SQL("SELECT {} FROM omd_report.{}").format(
            _columns(row),
            sql.Identifier(row.view),  # type: ignore[attr-defined]
        )
        if conditions:
            query += sql.SQL(" WHERE ") + sql.SQL(" AND ").join(conditions)
        if order_by:
            direction = sql.SQL(" DESC" if descending else "")
            query += sql.SQL(" ORDER BY ") + sql.SQL(", ").join(
                sql.Identifier(name) + direction for name in order_by
            )
        if limit is not None:
            query += sql.SQL(" LIMIT {}").format(limit)
        return self._link.execute(query, values, row, repeatable=True)

    def audit_column_values(self, module_code: str) -> list[AuditColumnValue]:
        """Stamps in the target of a Module that should not be there; reads the whole table."""
        return self._rows("audit_column_values", AuditColumnValue, p_module_code=module_code)

    def _lease(self, lease: timedelta | None) -> timedelta:
        found = self.lease if lease is None else lease
        if found is None:
            raise MissingArgument("a lease is needed: this control has none")
        return found

    # How a call is made -------------------------------------------------------------------------

    def _call(self, routine: str, row: type[T] = _Nothing, **arguments: Any) -> T:  # type: ignore[assignment]
        """Call a procedure that does the same when it is called twice."""
        return _one(self._send(routine, row, arguments, repeatable=True), row)

    def _call_once(self, routine: str, row: type[T], **arguments: Any) -> T:
        """Call a procedure that must not be called twice.

        When the answer of a begin is lost, the instance may or may not exist. A second begin
        would not be wrong, only useless: if the first one exists, the second finds it running and
        aborts. So the caller is told, and the lease frees the Module or Batch.
        """
        try:
            return _one(self._send(routine, row, arguments), row)
        except AnswerLost as error:
            lease = arguments.get("p_lease")
            raise AnswerLost(
                f"{error}; whether {routine} was executed is unknown, so it is not repeated",
                hint=f"If it was, its lease of {lease} frees it; then start again."
                if lease
                else "See what runs with: omd status",
            ) from error

    def _end(self, routine: str, status: ExecutionStatus, **arguments: Any) -> None:
        """Call a procedure that ends an instance; ended already with this status is as good."""
        self._send(
            routine,
            _Nothing,
            arguments,
            repeatable=True,
            settled=lambda refusal: refusal.detail.get("execution_status_code") == status,
        )

    def _send(
        self,
        routine: str,
        row: type[T],
        arguments: Mapping[str, Any],
        *,
        repeatable: bool = False,
        settled: Callable[[StateError], bool] | None = None,
        link: Link | None = None,
    ) -> list[T]:
        named, values = routine_arguments(arguments)
        query = sql.SQL("CALL omd.{}({})").format(sql.Identifier(routine), named)
        return (link or self._link).execute(
            query, values, row, repeatable=repeatable, settled=settled
        )

    def _rows(self, function: str, row: type[T], **arguments: Any) -> list[T]:
        """Call a function that answers rows."""
        named, values = routine_arguments(arguments)
        query = sql.SQL("SELECT {} FROM omd.{}({})").format(
            _columns(row), sql.Identifier(function), named
        )
        return self._link.execute(query, values, row, repeatable=True)

    def _value(self, function: str, **arguments: Any) -> Any:
        """Call a function that answers one value."""
        named, values = routine_arguments(arguments)
        query = sql.SQL("SELECT omd.{}({}) AS value").format(sql.Identifier(function), named)
        return self._link.execute(query, values, _Value, repeatable=True)[0].value

    @contextmanager
    def _own_link(self) -> Iterator[Link]:
        """A connection for a call that takes long, so that heartbeats and others need not wait."""
        link = self.new_link()
        try:
            yield link
        finally:
            link.close()


@dataclass(frozen=True, slots=True)
class _BatchId:
    batch_id: int


@dataclass(frozen=True, slots=True)
class _ModuleId:
    module_id: int


@dataclass(frozen=True, slots=True)
class _BatchInstanceId:
    batch_instance_id: int


@dataclass(frozen=True, slots=True)
class _ModuleInstanceId:
    module_instance_id: int


def _environment_batch() -> int | None:
    told = os.environ.get(BATCH_VARIABLE)
    if not told:
        return None
    try:
        return int(told)
    except ValueError:
        raise ValueError(f"{BATCH_VARIABLE} is not a Batch Instance ID: {told!r}") from None


def _one(rows: list[T], row: type[T]) -> T:
    if rows:
        return rows[0]
    if row is _Nothing:
        return row()
    raise OmdError(f"the database answered nothing where a {row.__name__} was expected")


def _columns(row: type) -> sql.Composed:
    return sql.SQL(", ").join(sql.Identifier(field.name) for field in fields(row))


def _list(values: Sequence[str] | None) -> list[str] | None:
    return None if values is None else list(values)


def _text(text: str | None) -> str | None:
    """Text as PostgreSQL can store it: no NUL, no lone surrogates.

    What a job's exception says must never be the reason why its failure is not recorded.
    """
    if text is None:
        return None
    return text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()


def _json(context: Mapping[str, Any] | None) -> Jsonb | None:
    return None if context is None else Jsonb(dict(context), dumps=_dumps)
