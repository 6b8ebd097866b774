"""Blocks around a job: `Batch` and `ModuleRun` (docs/explanation/jobs.md, rule J1)."""

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
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar

from omd._core import spans
from omd._core.engines import WriteResult
from omd._core.error_codes import NoRollbackExecutor, RollbackBlocked
from omd._core.errors import (
    Aborted,
    CallerError,
    ConnectionFailed,
    NotStarted,
    Skipped,
    one_line,
)
from omd._core.link import Link
from omd.rooms.control.block import Block, describe
from omd.rooms.control.calls import ControlCalls
from omd.rooms.control.codes import ExecutionStatus, ProcessingIndicator
from omd.rooms.control.connection import C
from omd.rooms.control.death import await_turn, begun, report_batches, report_modules
from omd.rooms.control.engine_block import EngineBlock, LoadWindow
from omd.rooms.control.outcome import Outcome, status_of
from omd.rooms.control.writer import RunConnection, Writers

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from omd.rooms.control.rows import (
        BeginModuleAnswer,
        ModuleDefinitionRow,
        RollbackStepsRow,
    )

P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R", bound="ModuleRun")

_log = logging.getLogger("omd.run")

BATCH_VARIABLE = "OMD_BATCH_INSTANCE_ID"
MODULE_VARIABLE = "OMD_MODULE_INSTANCE_ID"
DSN_VARIABLE = "OMD_DSN"


class Batch(Block[C]):
    """A Batch Instance as a block; `Control.batch` makes one.

    Leaving the block ends the Batch. It fails when an exception leaves the block, and when one of
    its Modules failed: `run` does not raise the failure of a Module, but the Batch can't succeed.

    Attributes:
        batch_code: the code of the Batch; None for a Batch joined through the environment.
        batch_instance_id: the ID of the instance; 0 before the begin.
        reason: the reason code of the evaluation.
    """

    _kind = "batch"
    _span_name = "batch"
    _may_be_fenced = True

    def __init__(
        self,
        control: C,
        code: str | None,
        *,
        parent_batch_instance_id: int | None = None,
        parent: Batch[C] | None = None,
        force: bool = False,
        lease: timedelta | EllipsisType | None = ...,
        context: Mapping[str, Any] | None = None,
        joined: int | None = None,
    ) -> None:
        super().__init__(control, code, lease=lease, context=context)
        self.batch_code = code
        self.batch_instance_id = joined or 0
        self._joined = joined is not None
        self._parent = parent
        self._parent_batch_instance_id = parent_batch_instance_id
        self._force = force
        self._children: set[Block[C]] = set()
        self._children_lock = threading.Lock()

    @property
    def _instance_id(self) -> int:
        return self.batch_instance_id

    def module(
        self,
        code: str,
        *,
        lease: timedelta | EllipsisType | None = ...,
        spark: SparkSession | None = None,
        rollback_executor: Callable[[str], object] | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> ModuleRun[C]:
        """Return a Module of this Batch as a block; the parameters are those of `Control.module`.

        A rerun skips what has succeeded, so expect `Skipped`: `run` returns it, and
        ``with suppress(omd.errors.Skipped), batch.module("m_x") as run:`` continues behind the
        block.
        """
        return ModuleRun(
            self.control,
            code,
            batch=self,
            lease=lease,
            spark=spark,
            rollback_executor=rollback_executor,
            context=context,
        )

    def run(self, code: str, job: Callable[[ModuleRun[C]], T], **options: Any) -> Outcome[T]:
        """Call ``job(run)`` if the Module may proceed, and return the outcome.

        Only three kinds of exceptions are raised: those that end the process (Ctrl-C, SIGTERM), a
        lost database, and a begin that the database refuses with an error. The options are those
        of `module`.
        """
        return call_job(self.module(code, **with_checksum(options, job)), job)

    def module_job(
        self, code: str, **options: Any
    ) -> Callable[[Callable[Concatenate[ModuleRun[C], P], T]], Callable[P, Outcome[T]]]:
        """Return a decorator: a call of the function runs it as a Module of this Batch."""
        return make_decorator(lambda **more: self.module(code, **more), options)

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
            self.control,
            code,
            parent=self,
            parent_batch_instance_id=self.batch_instance_id,
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
            **self.control.environment_of("BATCH", self.batch_instance_id),
            BATCH_VARIABLE: str(self.batch_instance_id),
            DSN_VARIABLE: self.control.dsn,
        }

    def _begin_span(self) -> spans.Span | None:
        return None if self._joined else super()._begin_span()  # who began it has one

    def _above(self) -> Block[Any] | None:
        return self._parent

    def _measures(self) -> dict[str, Any]:
        return {"batch_instance_id": self.batch_instance_id or None}

    def cancel(self) -> None:
        """Cancel the Spark jobs of every open Module of this Batch."""
        for child in self._open_children():
            child.cancel()

    def _open_children(self) -> list[Block[C]]:
        with self._children_lock:
            return list(self._children)

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
        assert self._code is not None  # noqa: S101 - only a joined Batch has none
        code, granted = self._code, time.monotonic()
        answer = begun(
            lambda context: self.control.begin_batch(
                code,
                parent_batch_instance_id=self._parent_batch_instance_id,
                execution_context=context,
                lease=self._lease,
                force=self._force or None,
            ),
            lambda answer: bool(answer.batch_instance_id),
            lambda: report_batches(self.control, batch_code=code),
            self._execution_context(),
        )
        self.batch_instance_id = answer.batch_instance_id
        self.reason = answer.reason
        self._began = True
        if answer.processing_indicator is ProcessingIndicator.CANCEL:
            raise Skipped(self._code, self.batch_instance_id, self.reason, kind="batch")
        if answer.processing_indicator is ProcessingIndicator.ABORT:
            raise Aborted(
                self._code,
                self.batch_instance_id,
                self.reason,
                self._who_runs(batch_code=code),
                kind="batch",
            )
        if answer.processing_indicator is not ProcessingIndicator.PROCEED:
            self._refuse_indicator(answer.processing_indicator, Aborted, self.control.batch_abort)
        self._open = True
        self.control.fenced.add(self)
        if self._parent is not None:
            self._parent._add(self)
        self._start_heartbeat(granted)

    def _await_turn(self) -> None:
        if not self._joined:
            await_turn(
                self.control,
                self.control.wait,
                batch_code=self._code,
                batch_instance_id=self._parent_batch_instance_id,
            )

    def _renew(self, calls: ControlCalls, lease: timedelta) -> None:
        calls.heartbeat_batch(self.batch_instance_id, lease)

    def _lose(self, reason: str) -> None:
        super()._lose(reason)
        for child in self._open_children():
            child._lose(f"its batch lost its lease: {reason}")

    def _end(self, error: BaseException | None) -> None:
        if not self._joined:  # the process that began the Batch ends it
            super()._end(error)

    def _closed(self) -> None:
        if self._parent is not None:
            self._parent._remove(self)

    def _succeed(self) -> None:
        self._stop_heartbeat()
        self.control.batch_success(self.batch_instance_id)

    def _fail(self, detail: str, name: str) -> None:
        self.control.batch_failure(
            self.batch_instance_id, event_detail=detail, event_return_code_details=name
        )


class ModuleRun(EngineBlock[C]):
    """A Module Instance as a block; `Batch.module` and `Control.module` make one.

    Attributes:
        module_code: the code of the Module.
        module_instance_id: the ID to stamp on every row; 0 before the begin.
        batch_instance_id: the Batch Instance; 0 when the Module runs on its own.
        instance_array: the Module Instances that this run rolled back before it proceeded.
        reason: the reason code of the evaluation.
        load_window: the slice of the source that `window` has recorded; None before.
    """

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
        super().__init__(control, code, lease=lease, context=context, spark=spark)
        self.module_code = code
        self.module_instance_id = 0
        self.batch_instance_id = batch_instance_id or 0
        self.instance_array: list[int] = []
        self._batch = batch
        self._rollback_executor = rollback_executor or control.rollback_executor
        self._rollback_pending = False
        self._recorded: set[str] = set()  # what it has said that it reads
        self._rows: dict[str, int] = {}
        self._rows_lock = threading.Lock()
        self._writers = Writers(self)

    @property
    def _instance_id(self) -> int:
        return self.module_instance_id

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

    def cancel(self) -> None:
        """Cancel the Spark jobs of this run, and what its connections execute."""
        super().cancel()
        self._writers.interrupt()

    @functools.cached_property
    def module(self) -> ModuleDefinitionRow:
        """The Module as registered: its target, platform, keys and audit columns."""
        return self.control.module_definition(self.module_code)

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
            **self.control.environment_of("MODULE", self.module_instance_id),
            MODULE_VARIABLE: str(self.module_instance_id),
            DSN_VARIABLE: self.control.dsn,
        }
        if self.batch_instance_id:
            variables[BATCH_VARIABLE] = str(self.batch_instance_id)
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
        """Record what is read, then read it as a DataFrame; see `omd.spark.read`.

        It is recorded before, so that who takes rows back finds a run that is reading them.
        """
        url = options.get("url")
        if url is None or str(url) == self.dsn:
            self._record_read(table, query, window)
        return super().read(spark, table, query=query, window=window, **options)

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
            self.control.record_input(table, module_instance_id=self.module_instance_id)
        else:
            self.control.record_query(name, module_instance_id=self.module_instance_id)
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
            self.load_window = self._engine.window(self, table)
            return self.load_window
        start = self.control.create_load_window(
            self.module_instance_id, end_value=end_value, end_id=end_id
        )
        self.load_window = LoadWindow(start.start_value, start.start_id, end_value, end_id)
        return self.load_window

    def write(
        self,
        df: DataFrame,
        table: str | None = None,
        *,
        mode: Literal["append", "overwrite", "history"] = "append",
        partition_by: Sequence[str] | None = None,
    ) -> WriteResult:
        """Write a DataFrame to the target, stamped and fenced; see `omd.spark.write`."""
        self.attach(df.sparkSession)
        try:
            return self._engine.write(self, df, table, mode=mode, partition_by=partition_by)
        finally:
            with self._held_lock:
                self._snapshots.clear()  # the reads that follow must see the rows written

    def commit(self) -> None:
        """Commit what this run has written to lake tables, before its end.

        It is visible from now on; if the run fails later, the next begin takes it back.
        """
        if self.uncommitted is not None:
            self.check()
            try:
                self.uncommitted.commit()
            finally:
                with self._held_lock:
                    self._snapshots.clear()  # the reads that follow must see it

    def stamp(
        self,
        df: DataFrame,
        *,
        record_source: str | None = None,
        event_datetime: Column | datetime | None = None,
        effective_date: Column | date | datetime | None = None,
    ) -> DataFrame:
        """Add the audit columns to a DataFrame; see `omd.spark.stamp`."""
        self.attach(df.sparkSession)
        rows: DataFrame = self._engine.stamp(
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
            "module_code": self.module_code,
            "module_instance_id": self.module_instance_id or None,
            "batch_instance_id": self.batch_instance_id or None,
            **self._rows,
        }

    def _begin(self) -> None:
        if self._batch is not None:
            self.batch_instance_id = self._batch.batch_instance_id
        if self.spark is None:
            self.spark = self.control.engines.active_session()
        granted = time.monotonic()
        answer = self._ask(self._execution_context(self.spark))
        self.module_instance_id = answer.module_instance_id
        self.instance_array = list(answer.instance_array or [])
        self.reason = answer.reason
        self._began = True
        if answer.processing_indicator is ProcessingIndicator.CANCEL:
            raise Skipped(self.module_code, self.module_instance_id, self.reason, kind="module")
        if answer.processing_indicator is ProcessingIndicator.ABORT:
            raise Aborted(
                self.module_code,
                self.module_instance_id,
                self.reason,
                self._who_runs(module_code=self.module_code),
                kind="module",
            )
        self._rollback_pending = answer.processing_indicator is ProcessingIndicator.ROLLBACK
        if not (
            self._rollback_pending or answer.processing_indicator is ProcessingIndicator.PROCEED
        ):
            self._refuse_indicator(answer.processing_indicator, Aborted, self.control.module_abort)
        self._open = True
        self.control.fenced.add(self)
        if self._batch is not None:
            self._batch._add(self)
        self._start_heartbeat(granted)

    def _ask(self, execution_context: dict[str, Any]) -> BeginModuleAnswer:
        """Ask the database to begin the instance."""
        try:
            return begun(
                lambda context: self.control.begin_module(
                    self.module_code,
                    batch_instance_id=self.batch_instance_id or None,
                    execution_context=context,
                    lease=self._lease,
                ),
                lambda answer: bool(answer.module_instance_id),
                lambda: report_modules(self.control, module_code=self.module_code),
                execution_context,
            )
        except RollbackBlocked as refusal:
            # With the begin its instance is gone, and nobody would see that it has failed.
            detail, name = describe(refusal)
            self.control.record_failure(
                self.module_code,
                batch_instance_id=self.batch_instance_id or None,
                event_detail=detail,
                event_return_code_details=name,
                execution_context=execution_context,
            )
            raise

    def _await_turn(self) -> None:
        batch = self._batch.batch_instance_id if self._batch is not None else self.batch_instance_id
        await_turn(
            self.control,
            self.control.wait,
            module_code=self.module_code,
            batch_instance_id=batch or None,
        )

    def _prepare(self) -> None:
        if self.spark is not None:
            self.attach(self.spark)
        if self._rollback_pending:
            self._roll_back()

    def _roll_back(self) -> None:
        """Execute the rollback of a target that the database can't reach."""
        steps = self.control.rollback_steps(self.module_instance_id)
        executed = [step for step in steps if step.statement_kind != "LAKE"]
        if executed or not steps:
            self._execute_rollback(executed)
        of_lake = (step for step in steps if step.statement_kind == "LAKE")
        undone = {run for step in of_lake for run in step.instance_array}
        if undone:
            # It is confirmed in the transaction that takes the rows back.
            self._engine.roll_back_tables(self, sorted(undone))
        else:
            self.control.confirm_rollback(self.module_instance_id)

    def _execute_rollback(self, steps: Iterable[RollbackStepsRow]) -> None:
        self._give_out()  # what executes it writes by itself
        execute, spark = self._rollback_executor, self.spark
        if execute is None and spark is None:
            raise NoRollbackExecutor(
                f"module {self} must roll back {self.instance_array} on Spark and has no session",
                hint="Pass spark=… or rollback_executor=… to batch.module() or omd.connect().",
            )
        for step in steps:
            _log.info("module %s rolls back: %s", self, step.statement)
            if execute is not None:
                execute(step.statement)
            elif spark is not None:
                self._engine.roll_back(spark, step)

    def _renew(self, calls: ControlCalls, lease: timedelta) -> None:
        with self._writers.beat():
            calls.heartbeat(self.module_instance_id, lease)

    def _end(self, error: BaseException | None) -> None:
        left = self._writers.unsettled() if error is None and self._lost is None else None
        super()._end(error if left is None else left)
        if left is not None:
            raise left

    def _closed(self) -> None:
        self._writers.close()
        super()._closed()
        if self._batch is not None:
            self._batch._remove(self)

    def _succeed(self) -> None:
        if self.uncommitted is not None:
            self.uncommitted.commit(self._report_success, self._stop_heartbeat)
        else:
            self._stop_heartbeat()
            self._report_success(self.control._link)

    def _report_success(self, link: Link) -> None:
        """Record the success over this connection, perhaps in the transaction of a commit."""
        ControlCalls(link).module_success(self.module_instance_id, **self._rows)

    def _fail(self, detail: str, name: str) -> None:
        self.control.module_failure(
            self.module_instance_id, event_detail=detail, event_return_code_details=name
        )


def call_job(
    block: R, job: Callable[Concatenate[R, P], T], *args: P.args, **kwargs: P.kwargs
) -> Outcome[T]:
    """Call a job inside its block, and return the outcome as data."""

    def outcome(status: ExecutionStatus, **what: Any) -> Outcome[T]:
        error = what.get("error")
        detail = block.reason if error is None else one_line(error)
        kind, code, instance = block._kind_code, block.module_code, block.module_instance_id
        return Outcome(kind, code, instance or None, status, block.reason, detail, **what)

    try:
        with block:
            value = job(block, *args, **kwargs)
    except ConnectionFailed:
        raise
    except Exception as error:
        if not block._began:
            raise
        if isinstance(error, NotStarted) and error.instance_id == block.module_instance_id:
            skipped = isinstance(error, Skipped)
            status = ExecutionStatus.CANCELLED if skipped else ExecutionStatus.ABORTED
            return outcome(status, error=error)
        return outcome(status_of(error), error=error)
    return outcome(ExecutionStatus.SUCCEEDED, value=value)


def make_decorator(
    make: Callable[..., R], options: dict[str, Any]
) -> Callable[[Callable[Concatenate[R, P], T]], Callable[P, Outcome[T]]]:
    """Return the decorator of `Control.module_job` and `Batch.module_job`."""

    def decorate(job: Callable[Concatenate[R, P], T]) -> Callable[P, Outcome[T]]:
        given = with_checksum(options, job)

        @functools.wraps(job)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> Outcome[T]:
            return call_job(make(**given), job, *args, **kwargs)

        del wrapper.__wrapped__  # its signature lacks the run
        return wrapper

    return decorate


def with_checksum(options: Mapping[str, Any], job: Callable[..., Any]) -> dict[str, Any]:
    """Return the options with the job's name and checksum in the execution context."""
    context = {"job": f"{job.__module__}.{getattr(job, '__qualname__', type(job).__qualname__)}"}
    try:
        context["code_checksum"] = hashlib.sha256(inspect.getsource(job).encode()).hexdigest()
    except (OSError, TypeError):  # the job was typed at a prompt, or is not a function
        code = getattr(job, "__code__", None)
        if code is not None:
            context["code_checksum"] = hashlib.sha256(code.co_code).hexdigest()
    return {**options, "context": {**context, **(options.get("context") or {})}}
