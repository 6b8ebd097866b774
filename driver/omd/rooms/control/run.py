"""Blocks around a job: `Batch` and `Run` (docs/explanation/jobs.md, rule J1)."""

from __future__ import annotations

import functools
import hashlib
import inspect
import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from omd._core import spans
from omd._core.error_codes import NoRollbackExecutor, RollbackBlocked
from omd._core.errors import (
    CallerError,
    ConnectionFailed,
    NotStarted,
    one_line,
)
from omd._core.link import Link
from omd.rooms.control.block import Block, describe
from omd.rooms.control.calls import ControlCalls
from omd.rooms.control.codes import ProcessingIndicator, Status
from omd.rooms.control.connection import C, Connection
from omd.rooms.control.death import await_turn, begun, report_batches, report_modules
from omd.rooms.control.outcome import Outcome, status_of, status_unbegun
from omd.rooms.control.reads import LoadWindow, Reads
from omd.rooms.control.writer import RunConnection, Writers

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from omd.rooms.control.rows import (
        BeginModuleAnswer,
        ModuleDefinitionRow,
        RollbackStepsRow,
    )

T = TypeVar("T")
R = TypeVar("R", bound="Run")

_log = logging.getLogger("omd.run")

BATCH_VARIABLE = "OMD_BATCH_INSTANCE_ID"
MODULE_VARIABLE = "OMD_MODULE_INSTANCE_ID"
DSN_VARIABLE = "OMD_DSN"


class Batch(Block[C]):
    """A Batch Instance as a block; `Control.batch` makes one.

    Leaving the block ends the Batch. It fails when an exception leaves the block, and when one of
    its Modules failed: `run` does not raise the failure of a Module, but the Batch can't succeed.

    Attributes:
        code: the code of the Batch.
        instance_id: the ID of the instance; 0 before the begin.
    """

    _formerly = ("omd.Batch",)
    _kind = "batch"
    _span_name = "batch"
    _may_be_fenced = True

    def __init__(
        self,
        control: C,
        code: str,
        *,
        parent_batch_instance_id: int | None = None,
        parent: Batch[C] | None = None,
        force: bool = False,
        lease: timedelta | EllipsisType | None = ...,
        context: Mapping[str, Any] | None = None,
        joined: int | None = None,
    ) -> None:
        super().__init__(control, code, lease=lease, context=context)
        self._batch_code = code
        self._instance_id = joined or 0
        self._joined = joined is not None
        self._parent = parent
        self._parent_batch_instance_id = parent_batch_instance_id
        self._force = force
        self._children: set[Block[C]] = set()
        self._children_lock = threading.Lock()

    @property
    def code(self) -> str:
        """The code of the Batch."""
        return self._batch_code

    @property
    def instance_id(self) -> int:
        """The Batch Instance ID; 0 before the begin."""
        return self._instance_id

    def module(
        self,
        code: str,
        *,
        lease: timedelta | EllipsisType | None = ...,
        spark: SparkSession | None = None,
        rollback_executor: Callable[[str], object] | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> Run[C]:
        """Return a Module of this Batch as a block; the parameters are those of `Control.module`.

        A rerun skips what has succeeded, so expect `Skipped`: `run` returns it, and
        ``with suppress(omd.errors.Skipped), batch.module("m_x") as run:`` continues behind the
        block.
        """
        return Run(
            self._control,
            code,
            batch=self,
            lease=lease,
            spark=spark,
            rollback_executor=rollback_executor,
            context=context,
        )

    @overload
    def run(self, code: str, job: Callable[[Run[C]], T], **options: Any) -> Outcome[T]: ...

    @overload
    def run(self, code: str, job: None = None, **options: Any) -> Any: ...

    def run(self, code: str, job: Callable[[Run[C]], Any] | None = None, **options: Any) -> Any:
        """Run a Module of any kind as a part of this Batch; the options are `omd.Control.run`'s."""
        return self._control.run(code, job, batch=self, **options)

    def run_batch(
        self,
        code: str,
        *,
        force: bool = False,
        spark: SparkSession | None = None,
        session: Callable[[], Any] | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run a child Batch, and wait for its end; see `omd.Control.run_batch`."""
        return self._control.run_batch(
            code, parent=self, force=force, spark=spark, session=session, context=context
        )

    def batch(
        self,
        code: str,
        *,
        force: bool = False,
        lease: timedelta | EllipsisType | None = ...,
        context: Mapping[str, Any] | None = None,
    ) -> Batch[C]:
        """Return a child Batch as a block (rule P1)."""
        return Batch(
            self._control,
            code,
            parent=self,
            parent_batch_instance_id=self._instance_id,
            force=force,
            lease=lease,
            context=context,
        )

    def environment(self) -> dict[str, str]:
        """Return the variables with which another process joins this Batch, and names it as parent.

        They hold the connection string with its password: put them into the environment of a child,
        never into a log.
        """
        self._give_out()
        return {
            **self._control._environment_of("BATCH", self._instance_id),
            BATCH_VARIABLE: str(self._instance_id),
            DSN_VARIABLE: self._control._dsn,
        }

    def _begin_span(self) -> spans.Span | None:
        return None if self._joined else super()._begin_span()  # who began it has one

    def _above(self) -> Block[Any] | None:
        return self._parent

    def _measures(self) -> dict[str, Any]:
        return {"batch_instance_id": self._instance_id or None}

    def _cancel(self) -> None:
        """Cancel what every open member of this Batch does, which goes with it when it is lost."""
        with self._children_lock:
            children = list(self._children)
        for child in children:
            if self._lease.is_lost:
                child._lease.lose(f"its batch lost its lease: {self._lease.lost}")
            child._cancel()

    def _add(self, child: Block[Any]) -> None:
        with self._children_lock:
            self._children.add(child)

    def _remove(self, child: Block[Any]) -> None:
        with self._children_lock:
            self._children.discard(child)

    def _begin(self) -> None:
        if self._joined:
            self._began = self._open = True
            return
        code, granted = self._batch_code, time.monotonic()
        answer = begun(
            lambda context: self._control._omd.begin_batch(
                code,
                parent_batch_instance_id=self._parent_batch_instance_id,
                execution_context=context,
                lease=self._lease.length,
                force=self._force or None,
            ),
            lambda answer: bool(answer.batch_instance_id),
            lambda: report_batches(self._control, batch_code=code),
            self._execution_context(),
        )
        self._instance_id = answer.batch_instance_id
        self._reason = answer.reason
        self._proceed(answer.processing_indicator, self._control._omd.batch_abort, batch_code=code)
        if self._parent is not None:
            self._parent._add(self)
        self._lease.start(self._control, granted, self._renew)

    def _await_turn(self) -> None:
        if not self._joined:
            await_turn(
                self._control,
                self._control._wait,
                batch_code=self._batch_code,
                batch_instance_id=self._parent_batch_instance_id,
            )

    def _renew(self, calls: ControlCalls, lease: timedelta) -> None:
        calls.heartbeat_batch(self._instance_id, lease)

    def _end(self, error: BaseException | None) -> None:
        if not self._joined:  # the process that began the Batch ends it
            super()._end(error)

    def _closed(self) -> None:
        if self._parent is not None:
            self._parent._remove(self)

    def _succeed(self) -> None:
        self._lease.stop()
        self._control._omd.batch_success(self._instance_id)

    def _fail(self, detail: str, name: str) -> None:
        self._control._omd.batch_failure(
            self._instance_id, event_detail=detail, event_return_code_details=name
        )


class Run(Block[C]):
    """A Module Instance as a block; `Batch.module` and `Control.module` make one.

    Attributes:
        code: the code of the Module.
        instance_id: the ID to stamp on every row; 0 before the begin.
        instance_array: the Module Instances that this run rolled back before it proceeded.
    """

    _formerly = ("omd.ModuleRun", "omd.StepRun")
    _kind = "module"
    _kind_code = "JOB"  # of its outcome
    _may_be_fenced = True

    def __init__(
        self,
        control: C,
        code: str,
        *,
        batch: Batch[C] | None = None,
        batch_instance_id: int | None = None,
        lease: timedelta | EllipsisType | None = ...,
        spark: SparkSession | None = None,
        rollback_executor: Callable[[str], object] | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(control, code, lease=lease, context=context)
        self._module_code = code
        self._batch_instance_id = batch_instance_id or 0
        self._instance_array: list[int] = []
        self._batch = batch
        self._rollback_executor = rollback_executor or control._rollback_executor
        self._rollback_pending = False
        self._recorded: set[str] = set()  # what it has said that it reads
        self._rows: dict[str, int] = {}
        self._rows_lock = threading.Lock()
        self._reads = Reads(self, spark)
        self._writers = Writers(self)

    @property
    def code(self) -> str:
        """The code of the Module."""
        return self._module_code

    @property
    def instance_id(self) -> int:
        """The Module Instance ID, which is stamped on every row; 0 before the begin."""
        return self._instance_id

    @property
    def instance_array(self) -> list[int]:
        """The Module Instances that this run rolled back before it proceeded."""
        return list(self._instance_array)

    def connect(self, **options: Any) -> RunConnection[Any]:
        """Return a connection to the database of the run, whose commits go with its fence.

        It is a psycopg connection like any other, and any thread may ask for one. What a program
        commits by `commit()`, at the end of `with connection` or of `transaction()` is there only
        if the run still lives; a run that was declared dead commits nothing, whenever it wakes up.

        Args:
            options: those of `psycopg.connect`, such as `row_factory`, and parameters of libpq.

        Raises:
            CallerError: the run has not begun or has ended; or autocommit was asked for.
            LeaseLost: the run outlived its lease.
        """
        return self._writers.connect(**options)

    def _cancel(self) -> None:
        """Cancel the Spark jobs of this run, and what its connections execute."""
        self._reads.cancel()
        self._writers.interrupt()

    def _interrupted(self) -> None:
        self._reads.interrupted()

    @property
    def dsn(self) -> str:
        """A connection string for executors. It usually holds a password: never log it.

        What writes by it has no fence of the driver. So it is one's own duty to stamp each row and
        to call `omd.fence` last, in one message with the COMMIT; else a process that was declared
        dead and wakes up writes on. A program in Python writes by `run.connect()`. From now on a
        start after a kill waits for the lease.
        """
        return self._reads.dsn

    def check(self) -> None:
        """Raise `LeaseLost` when this run must stop; call it in loops without Spark."""
        self._lease.check()

    def attach(self, spark: SparkSession) -> None:
        """Tag the Spark jobs that this thread starts from now on, so that they can be cancelled.

        `read`, `write` and `stamp` call it, and a session known at the begin is attached there. A
        thread that the job itself starts has to call it too.
        """
        self._reads.attach(spark)

    def snapshot(self, url: str | None = None, *, renew: bool = False) -> str:
        """Return the id of the exported snapshot that `read` reads from, held until this run ends.

        There is one per database, so that all reads see the same moment. After a write of this run
        there is a new one.

        Args:
            url: the database, if it is not that of the run.
            renew: take another snapshot for the reads that follow.
        """
        return self._reads.snapshot(url, renew=renew)

    @functools.cached_property
    def _module(self) -> ModuleDefinitionRow:
        """The Module as registered: its target, platform, keys and audit columns."""
        return self._control._omd.module_definition(self._module_code)

    def rows(
        self,
        *,
        input: int | None = None,  # noqa: A002 - the source's name for the count
        inserted: int | None = None,
        updated: int | None = None,
        deleted: int | None = None,
        discarded: int | None = None,
        rejected: int | None = None,
    ) -> None:
        """Add to the row counts that success reports; any thread may call it, at any time."""
        counts = {
            "rows_input": input,
            "rows_inserted": inserted,
            "rows_updated": updated,
            "rows_deleted": deleted,
            "rows_discarded": discarded,
            "rows_rejected": rejected,
        }
        with self._rows_lock:
            for name, count in counts.items():
                if count is not None:
                    self._rows[name] = self._rows.get(name, 0) + count

    def environment(self) -> dict[str, str]:
        """Return the variables for another process: it joins the Batch; this run is its parent.

        They hold the connection string with its password: put them into the environment of a child,
        never into a log.
        """
        self._give_out()
        if self._batch is not None:
            self._batch._give_out()
        variables = {
            **self._control._environment_of("MODULE", self._instance_id),
            MODULE_VARIABLE: str(self._instance_id),
            DSN_VARIABLE: self._control._dsn,
        }
        if self._batch_instance_id:
            variables[BATCH_VARIABLE] = str(self._batch_instance_id)
        return variables

    def read(
        self,
        spark: SparkSession,
        table: str | None = None,
        *,
        query: str | None = None,
        window: bool | str | tuple[str | None, str | None] | None = None,
        **options: Any,
    ) -> DataFrame:
        """Record what is read, and return it as a DataFrame.

        All that a run reads from one database, in all partitions, attempts and DataFrames, is of
        one moment: that of its first read, or of the first read after its last write with `write`.
        Changes that the job makes in another way are visible after ``run.snapshot(renew=True)``.
        The DataFrame can be used until the run ends.

        Args:
            spark: the session.
            table: ``schema.table``.
            query: a SELECT instead of a table.
            columns: read only these columns. Without it all columns are read, because Spark does
                not tell a Python data source which columns a job uses.
            window: read only the rows in the load window of the run, by these columns: a time, or
                the pair of a time and an id. Call `Run.window` before. Of a lake table, True reads
                the live rows that the runs in the window have stamped.
            predicates: SQL conditions, each of which is a partition; together they must cover each
                row once.
            format: ICEBERG or DELTA for a lake table; by default that of the Modules that load it.
            as_of: a lake table as it was at an instant, or in the snapshot with this id (of Delta:
                the version).
            options: options of the data source ``omd``, such as ``partitionColumn`` and
                ``numPartitions``. With ``pushFilters=True`` filters on the DataFrame are left to
                the server. Use such a DataFrame once: Spark gives the filters of one use to all
                others.

        Raises:
            OmdError: there is no such table or column, or Spark has no type for it.
            SnapshotGone: Spark raises it, not this call, when the DataFrame is used after the run.
        """
        url = options.get("url")
        if url is None or str(url) == self.dsn:
            self._record_read(table, query, window)
        return self._reads.read(spark, table, query=query, window=window, **options)

    def _record_read(
        self,
        table: str | None,
        query: str | None,
        window: bool | str | tuple[str | None, str | None] | None,
    ) -> None:
        """Record a read, once; `window` has recorded the runs whose commits it holds."""
        if window is True or (name := table or query) is None or name in self._recorded:
            return
        if table is not None:
            self._control._omd.record_input(table, module_instance_id=self._instance_id)
        else:
            self._control._omd.record_query(name, module_instance_id=self._instance_id)
        self._recorded.add(name)

    def window(
        self,
        *,
        end_value: datetime | None = None,
        end_id: int | None = None,
        table: str | None = None,
    ) -> LoadWindow:
        """Record which slice of the source this run reads: from the end of the last one to here.

        The end is part of the slice, the start is not. A run that failed has not moved the start:
        the next one reads its slice again. Rows that arrive late, with a time or an id before an
        end that was recorded already, are in no slice: choose an end that every writer has passed.

        Args:
            end_value: the end as an instant. The first window has no start: `start_value` is None.
            end_id: the end as an id, or the second part of the end.
            table: a lake table instead: the end is its newest commit.
        """
        if table is not None:
            if end_value is not None or end_id is not None:
                raise CallerError("a window ends at a commit of the table, or at a value, not both")
            self._reads.window = self._reads.engine.window(self, table)
            return self._reads.window
        start = self._control._omd.create_load_window(
            self._instance_id, end_value=end_value, end_id=end_id
        )
        self._reads.window = LoadWindow(start.start_value, start.start_id, end_value, end_id)
        return self._reads.window

    def write(
        self,
        df: DataFrame,
        table: str | None = None,
        *,
        mode: Literal["append", "overwrite", "history"] = "append",
        partition_by: Sequence[str] | None = None,
    ) -> int:
        """Write a DataFrame to the target, stamped and fenced; return how many rows it wrote.

        In PostgreSQL each partition is written once or not at all, however often Spark tries it. A
        target on Spark is written by the session: plain Parquet into a partition of the run (the
        table is created if it does not exist), other formats as the session supports them.

        Args:
            df: the rows, under the column names of the table. Columns that it lacks get their
                default; a table may lack omd_insert_datetime and omd_record_source.
            table: the target; by default that of the Module.
            mode: ``overwrite`` truncates and loads as one visible change, through one partition. In
                plain Parquet the partitions of other runs are dropped after the new one is written.
                ``history``, for a lake table, adds the rows as new versions of their business keys,
                and ends those that they follow.
            partition_by: for a lake table that does not exist yet: columns, ``years(c)``,
                ``months(c)``, ``days(c)``, ``hours(c)``, ``truncate(n, c)``.

        Raises:
            WriteFailed: the server refused the rows. The next begin rolls back what was written.
            OmdError: the rows do not fit the table, or the run may not write any more.
        """
        self.attach(df.sparkSession)
        try:
            return self._reads.engine.write(
                self, df, table, mode=mode, partition_by=partition_by
            ).rows
        finally:
            self._reads.renew()

    def commit(self) -> None:
        """Commit what this run has written to lake tables, before its end.

        It is visible from now on; if the run fails later, the next begin takes it back.
        """
        if self._reads.uncommitted is not None:
            self.check()
            try:
                self._reads.uncommitted.commit()
            finally:
                self._reads.renew()

    def stamp(
        self,
        df: DataFrame,
        *,
        record_source: str | None = None,
        event_datetime: Column | datetime | None = None,
        effective_date: Column | date | datetime | None = None,
    ) -> DataFrame:
        """Return the DataFrame with the audit columns of this run.

        The instance id and the insert datetime are always those of this run; a record source that
        the rows have already is kept.

        Args:
            df: the rows.
            record_source: where the rows come from; by default the record source that they have
                already, or the code of the Module.
            event_datetime: when the event of a row happened, if it is known.
            effective_date: the start of the validity, for a target with history. It also adds the
                open end and the current indicator.
        """
        self.attach(df.sparkSession)
        rows: DataFrame = self._reads.engine.stamp(
            self,
            df,
            record_source=record_source,
            event_datetime=event_datetime,
            effective_date=effective_date,
        )
        return rows

    def _above(self) -> Block[Any] | None:
        return self._batch

    def _measures(self) -> dict[str, Any]:
        return {
            "module_code": self._module_code,
            "module_instance_id": self._instance_id or None,
            "batch_instance_id": self._batch_instance_id or None,
            **self._rows,
        }

    def _begin(self) -> None:
        if self._batch is not None:
            self._batch_instance_id = self._batch.instance_id
        spark = self._reads.find_session()
        granted = time.monotonic()
        answer = self._ask(self._execution_context(spark))
        self._instance_id = answer.module_instance_id
        self._instance_array = list(answer.instance_array or [])
        self._reason = answer.reason
        indicator, rollback = answer.processing_indicator, ProcessingIndicator.ROLLBACK
        self._rollback_pending = indicator is rollback
        self._proceed(
            indicator, self._control._omd.module_abort, rollback, module_code=self._module_code
        )
        if self._batch is not None:
            self._batch._add(self)
        self._lease.start(self._control, granted, self._renew)

    def _ask(self, execution_context: dict[str, Any]) -> BeginModuleAnswer:
        """Ask the database to begin the instance."""
        try:
            return begun(
                lambda context: self._control._omd.begin_module(
                    self._module_code,
                    batch_instance_id=self._batch_instance_id or None,
                    execution_context=context,
                    lease=self._lease.length,
                ),
                lambda answer: bool(answer.module_instance_id),
                lambda: report_modules(self._control, module_code=self._module_code),
                execution_context,
            )
        except RollbackBlocked as refusal:
            # With the begin its instance is gone, and nobody would see that it has failed.
            detail, name = describe(refusal)
            self._control._omd.record_failure(
                self._module_code,
                batch_instance_id=self._batch_instance_id or None,
                event_detail=detail,
                event_return_code_details=name,
                execution_context=execution_context,
            )
            raise

    def _await_turn(self) -> None:
        batch = self._batch.instance_id if self._batch is not None else self._batch_instance_id
        await_turn(
            self._control,
            self._control._wait,
            module_code=self._module_code,
            batch_instance_id=batch or None,
        )

    def _prepare(self) -> None:
        if self._reads.spark is not None:
            self.attach(self._reads.spark)
        if self._rollback_pending:
            self._roll_back()

    def _roll_back(self) -> None:
        """Execute the rollback of a target that the database can't reach."""
        steps = self._control._omd.rollback_steps(self._instance_id)
        executed = [step for step in steps if step.statement_kind != "LAKE"]
        if executed or not steps:
            self._execute_rollback(executed)
        of_lake = (step for step in steps if step.statement_kind == "LAKE")
        undone = {run for step in of_lake for run in step.instance_array}
        if undone:
            # It is confirmed in the transaction that takes the rows back.
            self._reads.engine.roll_back_tables(self, sorted(undone))
        else:
            self._control._omd.confirm_rollback(self._instance_id)

    def _execute_rollback(self, steps: Iterable[RollbackStepsRow]) -> None:
        self._give_out()  # what executes it writes by itself
        execute, spark = self._rollback_executor, self._reads.spark
        if execute is None and spark is None:
            raise NoRollbackExecutor(
                f"module {self} must roll back {self._instance_array} on Spark and has no session",
                hint="Pass spark=… or rollback_executor=… to batch.module() or omd.connect().",
            )
        for step in steps:
            _log.info("module %s rolls back: %s", self, step.statement)
            if execute is not None:
                execute(step.statement)
            elif spark is not None:
                self._reads.engine.roll_back(spark, step)

    def _renew(self, calls: ControlCalls, lease: timedelta) -> None:
        with self._writers.beat():
            calls.heartbeat(self._instance_id, lease)

    def _end(self, error: BaseException | None) -> None:
        left = self._writers.unsettled() if error is None and not self._lease.is_lost else None
        super()._end(error if left is None else left)
        if left is not None:
            raise left

    def _closed(self) -> None:
        self._writers.close()
        self._reads.close()
        if self._batch is not None:
            self._batch._remove(self)

    def _succeed(self) -> None:
        if self._reads.uncommitted is not None:
            self._reads.uncommitted.commit(self._report_success, self._lease.stop)
        else:
            self._lease.stop()
            self._report_success(self._control._link)

    def _report_success(self, link: Link) -> None:
        """Record the success over this connection, perhaps in the transaction of a commit."""
        ControlCalls(link).module_success(self._instance_id, **self._rows)

    def _fail(self, detail: str, name: str) -> None:
        self._control._omd.module_failure(
            self._instance_id, event_detail=detail, event_return_code_details=name
        )


def call_job(block: R, job: Callable[[R], T]) -> Outcome[T]:
    """Call a job inside its block, and return the outcome as data."""

    def outcome(status: Status, **what: Any) -> Outcome[T]:
        error = what.get("error")
        detail = block._reason if error is None else one_line(error)
        kind, code, instance = block._kind_code, block.code, block.instance_id
        return Outcome(kind, code, instance or None, status, block._reason, detail, **what)

    try:
        with block:
            value = job(block)
    except ConnectionFailed:
        raise
    except Exception as error:
        if not block._began:
            raise
        if isinstance(error, NotStarted) and error.instance_id == block.instance_id:
            return outcome(status_unbegun(error), error=error)
        return outcome(status_of(error), error=error)
    return outcome(Status.SUCCEEDED, value=value)


def require_program(control: Connection, code: str) -> None:
    """Refuse to call a function inside a Module that is no program.

    Raises:
        CallerError (OM002): no Module has this code.
        CallerError: it is of another kind.
    """
    module = control._omd.module_definition(code)
    if module.job is None and module.module_kind_code not in (None, "JOB"):
        raise CallerError(
            f"Module {code} is of kind {module.module_kind_code}: it takes no function of Python",
            hint=f"control.run({code!r}) runs it.",
        )


def session_for(
    control: Connection, spark: SparkSession | None, session: Callable[[], Any] | None
) -> Any:
    """Return the session that the caller has or makes; None: whoever needs one makes it."""
    if spark is None and control._spark is None and session is not None:
        return session()
    return spark


def context_of(job: Callable[..., Any], context: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the execution context, with the name and the checksum of a job."""
    about = {"job": f"{job.__module__}.{getattr(job, '__qualname__', type(job).__qualname__)}"}
    try:
        about["code_checksum"] = hashlib.sha256(inspect.getsource(job).encode()).hexdigest()
    except (OSError, TypeError):  # the job was typed at a prompt, or is not a function
        code = getattr(job, "__code__", None)
        if code is not None:
            about["code_checksum"] = hashlib.sha256(code.co_code).hexdigest()
    return {**about, **(context or {})}
