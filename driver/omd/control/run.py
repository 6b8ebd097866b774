"""Blocks around a job: `Batch` and `ModuleRun` (docs/explanation/jobs.md, rule J1).

Entering a block begins an instance. Leaving it ends the instance: with success, or, when an
exception was raised, with failure. The database decides whether and how a run proceeds.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import logging
import os
import platform
import socket
import threading
import time
import traceback
from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from types import EllipsisType, TracebackType
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    Literal,
    ParamSpec,
    Protocol,
    TypeVar,
)

from omd._core import engines, signals
from omd._core.errors import CallerError, ConnectionFailed
from omd._core.heartbeat import Heartbeat
from omd.control.calls import ControlCalls
from omd.control.codes import ExecutionStatus, ProcessingIndicator
from omd.control.errors import (
    BatchAborted,
    BatchSkipped,
    InstanceNotExecuting,
    LeaseExpired,
    LeaseLost,
    ModuleAborted,
    ModuleSkipped,
    NoRollbackExecutor,
    NotStarted,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pyspark.sql import Column, DataFrame, SparkSession

    from omd._core.engines import Snapshot
    from omd._core.link import Link
    from omd.control.room import Control
    from omd.control.rows import BeginModuleAnswer, ModuleDefinitionRow, RollbackStepsRow
    from omd.spark.engine import SparkEngine
    from omd.spark.job import WriteResult

__all__ = ["Batch", "Block", "EngineBlock", "LoadWindow", "ModuleRun", "Outcome"]

P = ParamSpec("P")
T = TypeVar("T")
B = TypeVar("B", bound="Block")

_log = logging.getLogger("omd.run")

BATCH_VARIABLE = "OMD_BATCH_INSTANCE_ID"
MODULE_VARIABLE = "OMD_MODULE_INSTANCE_ID"
DSN_VARIABLE = "OMD_DSN"


@dataclass(frozen=True, slots=True)
class LoadWindow:
    """The slice of the source that a run reads: the rows after the start and up to the end."""

    start_value: datetime | None
    start_id: int | None
    end_value: datetime | None
    end_id: int | None


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """The outcome of `run` or of a decorated job (docs/explanation/jobs.md, rule J1).

    Attributes:
        code: the code of the Module or Batch.
        instance_id: the ID of its instance.
        status: the execution status: S, F, C or A.
        indicator: the final Processing Indicator of the evaluation: P, C or A.
        reason: the reason code of a skip or an abort.
        value: what the job returned.
        error: what the job raised; `NotStarted` when the job was not called.
    """

    code: str
    instance_id: int
    status: ExecutionStatus
    indicator: ProcessingIndicator
    reason: str | None = None
    value: T | None = None
    error: BaseException | None = None

    @property
    def succeeded(self) -> bool:
        """Whether the job ran to its end."""
        return self.status is ExecutionStatus.SUCCEEDED

    @property
    def not_started(self) -> bool:
        """Whether the job was not called at all."""
        return isinstance(self.error, NotStarted)

    def result(self) -> T:
        """Return what the job returned; raise what the job raised, or `NotStarted`."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]


class Block(ABC):
    """The parts that the blocks share: the lease, the signal, and the end of an instance."""

    _kind: str

    def __init__(
        self,
        control: Control,
        code: str | None,
        *,
        lease: timedelta | EllipsisType | None,
        context: Mapping[str, Any] | None,
    ) -> None:
        self.control = control
        self._code = code
        self._lease = control.lease if isinstance(lease, EllipsisType) else lease
        self._context = dict(context or {})
        self._heartbeat: Heartbeat | None = None
        self._began = False
        self._open = False
        self._lost: str | None = None
        self.reason: str | None = None

    @property
    def lease(self) -> timedelta | None:
        """The lease, after which the run is declared dead if it is not renewed; None for none."""
        return self._lease

    @property
    def lost(self) -> bool:
        """Whether the lease was lost: the run was declared dead, or could not renew its lease."""
        return self._lost is not None

    def __enter__(self: B) -> B:
        signals.enter(self._interrupted)
        try:
            with signals.held():
                self._begin()
            signals.deliver()
            self._prepare()
        except BaseException as error:
            try:
                if self._open:
                    with signals.held():
                        self._end(error)
            finally:
                signals.leave()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            with signals.held():
                self._end(error)
            if error is None:
                signals.deliver()
        finally:
            signals.leave()

    def _start_heartbeat(self, granted: float) -> None:
        lease = self._lease
        if lease is None:
            return
        seconds = lease.total_seconds()
        if time.monotonic() - granted > seconds / 5:
            # A begin that rolls back may take longer than the lease, which starts at its end.
            granted = time.monotonic()
            try:
                self._renew(self.control, lease)
            except (InstanceNotExecuting, LeaseExpired) as refusal:
                self._lose(refusal.message)
                raise
        self._heartbeat = Heartbeat(
            f"{self._kind}-{self._instance_id}",
            lease,
            granted,
            connect=lambda: self.control.new_link(
                name="-heartbeat",
                patience=timedelta(0),
                connect_timeout=str(max(2, int(seconds / 5))),
                tcp_user_timeout=str(max(1000, int(seconds * 200))),
            ),
            renew=lambda link: self._renew(ControlCalls(link), lease),
            lost=self._lose,
            after_loss=self.cancel,
        )

    def _stop_heartbeat(self) -> None:
        if self._heartbeat is not None:
            self._heartbeat.stop()

    def _lose(self, reason: str) -> None:
        if self._lost is None:
            self._lost = reason
            _log.error("%s %s lost its lease: %s", self._kind, self, reason)
            self.cancel()

    def _end(self, error: BaseException | None) -> None:
        """End the instance. An exception of the job is raised on, whatever happens here."""
        self._open = False
        if error is not None:
            self._stop_heartbeat()
            if not isinstance(error, Exception):
                self._interrupted()
            self.cancel()
        try:
            if self._lost is None and error is None:
                self._succeed()
                return
        except (InstanceNotExecuting, LeaseExpired) as refusal:
            self._lost = refusal.message
            error = refusal
        except ConnectionFailed as failure:
            _note(failure, f"The success of {self._kind} {self} is perhaps not recorded.")
            raise
        except Exception as refusal:
            self._record(refusal)
            raise
        finally:
            self._stop_heartbeat()
            self._closed()
        if self._lost is None:
            assert error is not None  # noqa: S101 - no error and no loss has returned above
            self._record(error)
            return
        lost = LeaseLost(
            f"{self._kind} {self} outlived its lease: {self._lost}",
            hint="Start it again: the next begin rolls its rows back.",
        )
        self._record(error or lost)
        if error is not None and not isinstance(error, Exception):
            _note(error, str(lost))  # Ctrl-C and SIGTERM are raised as they are
            return
        raise lost from error

    def _record(self, error: BaseException) -> None:
        """Record a failure; when that fails, add a note to the error and do not replace it."""
        self._stop_heartbeat()
        detail, name = describe(error)
        try:
            self._fail(detail, name)
        except (InstanceNotExecuting, LeaseExpired) as refusal:
            # The run was declared dead already, which records the failure as well.
            _log.info("%s %s: %s", self._kind, self, refusal.message)
        except Exception as failure:  # noqa: BLE001 - the job's own exception is raised on
            _log.exception("the failure of %s %s could not be recorded", self._kind, self)
            _note(error, f"The failure of {self._kind} {self} could not be recorded: {failure}")

    def __str__(self) -> str:
        return f"{self._code} (instance {self._instance_id})"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"

    @property
    @abstractmethod
    def _instance_id(self) -> int: ...

    @abstractmethod
    def _begin(self) -> None: ...

    def _prepare(self) -> None:  # noqa: B027 - to do nothing is a good default
        """Do what follows a begin and may take long."""

    @abstractmethod
    def _renew(self, calls: ControlCalls, lease: timedelta) -> None: ...

    @abstractmethod
    def cancel(self) -> None:
        """Cancel the Spark jobs of this run; it does not end the block."""

    def _interrupted(self) -> None:  # noqa: B027 - to do nothing is a good default
        """Clean up after a signal that ended the job at any point."""

    @abstractmethod
    def _succeed(self) -> None:
        """End the instance with success; it stops the heartbeat before."""

    @abstractmethod
    def _fail(self, detail: str, name: str) -> None: ...

    def _closed(self) -> None:  # noqa: B027 - to do nothing is a good default
        """Do what follows the end of the instance, whatever its outcome."""


class Batch(Block):
    """A Batch Instance as a block; `Control.batch` makes one.

    Leaving the block ends the Batch. It fails when an exception leaves the block, and when one of
    its Modules failed: `run` does not raise the failure of a Module, but the Batch can't succeed.

    Attributes:
        batch_code: the code of the Batch; None for a Batch joined through the environment.
        batch_instance_id: the ID of the instance; 0 before the begin.
        reason: the reason code of the evaluation.
    """

    _kind = "batch"

    def __init__(
        self,
        control: Control,
        code: str | None,
        *,
        parent_batch_instance_id: int | None = None,
        parent: Batch | None = None,
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
        self._children: set[Block] = set()
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
    ) -> ModuleRun:
        """Return a Module of this Batch as a block; the parameters are those of `Control.module`.

        A rerun skips what has succeeded, so expect `ModuleSkipped`: `run` returns it, and
        ``with suppress(omd.ModuleSkipped), batch.module("m_x") as run:`` continues behind the
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

    def run(self, code: str, job: Callable[[ModuleRun], T], **options: Any) -> Outcome[T]:
        """Call ``job(run)`` if the Module may proceed, and return the outcome.

        Only three kinds of exceptions are raised: those that end the process (Ctrl-C, SIGTERM), a
        lost database, and a begin that the database refuses with an error. The options are those
        of `module`.
        """
        return call_job(self.module(code, **with_checksum(options, job)), job)

    def module_job(
        self, code: str, **options: Any
    ) -> Callable[[Callable[Concatenate[ModuleRun, P], T]], Callable[P, Outcome[T]]]:
        """Return a decorator: a call of the function runs it as a Module of this Batch."""
        return make_decorator(lambda **more: self.module(code, **more), options)

    def batch(
        self,
        code: str,
        *,
        force: bool = False,
        lease: timedelta | EllipsisType | None = ...,
        context: Mapping[str, Any] | None = None,
    ) -> Batch:
        """Return a child Batch as a block (rule P1)."""
        return self.control.batch(code, parent=self, force=force, lease=lease, context=context)

    def environment(self) -> dict[str, str]:
        """Return the variables with which another process joins this Batch.

        They hold the connection string with its password: put them into the environment of a child,
        never into a log.
        """
        return {
            BATCH_VARIABLE: str(self.batch_instance_id),
            DSN_VARIABLE: self.control.dsn,
        }

    def cancel(self) -> None:
        """Cancel the Spark jobs of every open Module of this Batch."""
        for child in self._open_children():
            child.cancel()

    def _open_children(self) -> list[Block]:
        with self._children_lock:
            return list(self._children)

    def _add(self, child: Block) -> None:
        with self._children_lock:
            self._children.add(child)

    def _remove(self, child: Block) -> None:
        with self._children_lock:
            self._children.discard(child)

    def _begin(self) -> None:
        if self._joined:
            self._began = self._open = True
            return
        assert self._code is not None  # noqa: S101 - only a joined Batch has none
        granted = time.monotonic()
        answer = self.control.begin_batch(
            self._code,
            parent_batch_instance_id=self._parent_batch_instance_id,
            execution_context=execution_context(None, self._context),
            lease=self._lease,
            force=self._force or None,
        )
        self.batch_instance_id = answer.batch_instance_id
        self.reason = answer.reason
        self._began = True
        if answer.processing_indicator is ProcessingIndicator.CANCEL:
            raise BatchSkipped(self._code, self.batch_instance_id, self.reason)
        if answer.processing_indicator is not ProcessingIndicator.PROCEED:
            raise BatchAborted(self._code, self.batch_instance_id, self.reason)
        self._open = True
        if self._parent is not None:
            self._parent._add(self)
        self._start_heartbeat(granted)

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


class Uncommitted(Protocol):
    """What a run has written in a way that needs a commit to be visible."""

    def commit(
        self,
        finish: Callable[[Link], None] | None = None,
        before: Callable[[], None] | None = None,
    ) -> None:
        """Commit it, and in the same transaction do what ends the run.

        Args:
            finish: ends the run, over the connection of the commit.
            before: called before the instance is touched, so that no renewal waits for it.
        """
        ...


class EngineBlock(Block):
    """A block whose jobs run on an engine: it tags them, cancels them, and holds their snapshots.

    Attributes:
        spark: the session given, or that of the control, or the active one at the begin.
        uncommitted: what it has written and not committed; None where writes commit themselves.
    """

    def __init__(
        self,
        control: Control,
        code: str | None,
        *,
        lease: timedelta | EllipsisType | None,
        context: Mapping[str, Any] | None,
        spark: SparkSession | None,
    ) -> None:
        super().__init__(control, code, lease=lease, context=context)
        self.spark = spark if spark is not None else control.spark
        self._sessions: list[SparkSession] = []
        self.load_window: LoadWindow | None = None
        self.uncommitted: Uncommitted | None = None
        self._snapshots: dict[str, Snapshot] = {}
        self._held: list[Snapshot] = []
        self._held_lock = threading.Lock()

    @property
    def dsn(self) -> str:
        """A connection string for executors. It usually holds a password: never log it."""
        return self.control.executor_dsn

    @property
    def tag(self) -> str:
        """The tag on the Spark jobs of this run."""
        return f"omd-{self._instance_id}"

    def check(self) -> None:
        """Raise `LeaseLost` when this run must stop; call it in loops without Spark."""
        if self._lost is not None:
            raise LeaseLost(f"{self._kind} {self} outlived its lease: {self._lost}")

    def attach(self, spark: SparkSession) -> None:
        """Tag the Spark jobs that this thread starts from now on, so that they can be cancelled.

        `read`, `write` and `stamp` call it, and a session known at the begin is attached there. A
        thread that the job itself starts has to call it too.
        """
        if not any(session is spark for session in self._sessions):
            self._sessions.append(spark)
        self._engine.attach(spark, self.tag)
        self.check()

    def cancel(self) -> None:
        """Cancel the Spark jobs that carry this run's tag."""
        for spark in list(self._sessions):
            try:
                self._engine.cancel(spark, self.tag)
            except Exception as error:  # noqa: BLE001 - a dead JVM has no jobs left to cancel
                _log.warning(
                    "the Spark jobs of %s %s were not cancelled: %s", self._kind, self, error
                )

    def snapshot(self, url: str | None = None, *, renew: bool = False) -> str:
        """Return the id of the exported snapshot that `read` reads from, held until this run ends.

        There is one per database, so that all reads see the same moment. After a write of this run
        there is a new one.

        Args:
            url: the database, if it is not that of the run.
            renew: take another snapshot for the reads that follow.
        """
        server = url or self.dsn
        with self._held_lock:
            held = self._snapshots.get(server)
            if renew or held is None or not held.is_held():
                if not self._open or self._lost is not None:
                    raise CallerError(f"{self._kind} {self} has ended", hint="Read while it runs.")
                held = self._snapshots[server] = self._engine.snapshot(server)
                self._held.append(held)
        return held.id

    def _let_go(self) -> None:
        with self._held_lock:
            self._snapshots.clear()
            while self._held:
                self._held.pop().close()

    def _lose(self, reason: str) -> None:
        super()._lose(reason)
        self._let_go()

    def read(
        self,
        spark: SparkSession,
        table: str | None = None,
        *,
        query: str | None = None,
        columns: Sequence[str] | None = None,
        window: bool | str | tuple[str | None, str | None] | None = None,
        predicates: Sequence[str] | None = None,
        format: str | None = None,  # noqa: A002 - Spark's name for it
        as_of: datetime | int | None = None,
        **options: object,
    ) -> DataFrame:
        """Read a table, a query or the slice of this run as a DataFrame; see `omd.spark.read`."""
        self.attach(spark)
        return self._engine.read(
            self,
            spark,
            table,
            query=query,
            columns=columns,
            window=window,
            predicates=predicates,
            format=format,
            as_of=as_of,
            **options,
        )

    @property
    def _engine(self) -> SparkEngine:
        """The engine that moves the rows of this run; it is imported on first use."""
        engine: SparkEngine = engines.engine("SPARK")
        return engine

    def _interrupted(self) -> None:
        for spark in self._sessions:
            self._engine.interrupted(spark)

    def _closed(self) -> None:
        self._let_go()
        for spark in self._sessions:
            self._engine.release(spark, self.tag)


class ModuleRun(EngineBlock):
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

    def __init__(
        self,
        control: Control,
        code: str,
        *,
        batch: Batch | None = None,
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
        self._rows: dict[str, int] = {}
        self._rows_lock = threading.Lock()

    @property
    def _instance_id(self) -> int:
        return self.module_instance_id

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
        """Return the variables with which another process joins the Batch of this run.

        They hold the connection string with its password: put them into the environment of a child,
        never into a log.
        """
        variables = {
            MODULE_VARIABLE: str(self.module_instance_id),
            DSN_VARIABLE: self.control.dsn,
        }
        if self.batch_instance_id:
            variables[BATCH_VARIABLE] = str(self.batch_instance_id)
        return variables

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
        return self._engine.stamp(
            self,
            df,
            record_source=record_source,
            event_datetime=event_datetime,
            effective_date=effective_date,
        )

    def _begin(self) -> None:
        if self._batch is not None:
            self.batch_instance_id = self._batch.batch_instance_id
        if self.spark is None:
            self.spark = engines.active_session()
        granted = time.monotonic()
        answer = self._ask(execution_context(self.spark, self._context))
        self.module_instance_id = answer.module_instance_id
        self.instance_array = list(answer.instance_array or [])
        self.reason = answer.reason
        self._began = True
        if answer.processing_indicator is ProcessingIndicator.CANCEL:
            raise ModuleSkipped(self.module_code, self.module_instance_id, self.reason)
        if answer.processing_indicator is ProcessingIndicator.ABORT:
            raise ModuleAborted(self.module_code, self.module_instance_id, self.reason)
        self._rollback_pending = answer.processing_indicator is ProcessingIndicator.ROLLBACK
        self._open = True
        if self._batch is not None:
            self._batch._add(self)
        self._start_heartbeat(granted)

    def _ask(self, execution_context: dict[str, Any]) -> BeginModuleAnswer:
        """Ask the database to begin the instance."""
        return self.control.begin_module(
            self.module_code,
            batch_instance_id=self.batch_instance_id or None,
            execution_context=execution_context,
            lease=self._lease,
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
        undone = {run for step in steps if step not in executed for run in step.instance_array}
        if undone:
            # It is confirmed in the transaction that takes the rows back.
            self._engine.roll_back_tables(self, sorted(undone))
        else:
            self.control.confirm_rollback(self.module_instance_id)

    def _execute_rollback(self, steps: Iterable[RollbackStepsRow]) -> None:
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
        calls.heartbeat(self.module_instance_id, lease)

    def _closed(self) -> None:
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
    block: ModuleRun, job: Callable[Concatenate[ModuleRun, P], T], *args: P.args, **kwargs: P.kwargs
) -> Outcome[T]:
    """Call a job inside its block, and return the outcome as data."""

    def outcome(
        status: ExecutionStatus,
        indicator: ProcessingIndicator = ProcessingIndicator.PROCEED,
        *,
        value: T | None = None,
        error: BaseException | None = None,
    ) -> Outcome[T]:
        return Outcome(
            block.module_code,
            block.module_instance_id,
            status,
            indicator,
            block.reason,
            value,
            error,
        )

    try:
        with block:
            value = job(block, *args, **kwargs)
    except ConnectionFailed:
        raise
    except Exception as error:
        if not block._began:
            raise
        if isinstance(error, NotStarted) and error.instance_id == block.module_instance_id:
            if isinstance(error, ModuleSkipped):
                return outcome(ExecutionStatus.CANCELLED, ProcessingIndicator.CANCEL, error=error)
            return outcome(ExecutionStatus.ABORTED, ProcessingIndicator.ABORT, error=error)
        return outcome(ExecutionStatus.FAILED, error=error)
    return outcome(ExecutionStatus.SUCCEEDED, value=value)


def make_decorator(
    make: Callable[..., ModuleRun], options: dict[str, Any]
) -> Callable[[Callable[Concatenate[ModuleRun, P], T]], Callable[P, Outcome[T]]]:
    """Return the decorator of `Control.module_job` and `Batch.module_job`."""

    def decorate(job: Callable[Concatenate[ModuleRun, P], T]) -> Callable[P, Outcome[T]]:
        told = with_checksum(options, job)

        @functools.wraps(job)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> Outcome[T]:
            return call_job(make(**told), job, *args, **kwargs)

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


def execution_context(spark: Any, extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return the execution context of an instance: where it runs."""
    context: dict[str, Any] = {
        "platform": "python",
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "python": platform.python_version(),
    }
    if spark is not None:
        context |= engines.engine("SPARK").context(spark)
    return {**context, **extra}


def describe(error: BaseException) -> tuple[str, str]:
    """Return the event detail of an error (type, message, last frame, traceback), and its type."""
    kind = type(error)
    name = (
        kind.__qualname__
        if kind.__module__ == "builtins"
        else f"{kind.__module__}.{kind.__qualname__}"
    )
    told = "".join(traceback.format_exception_only(kind, error)).strip()
    frames = traceback.extract_tb(error.__traceback__)
    where = f"\nat {frames[-1].filename}:{frames[-1].lineno} in {frames[-1].name}" if frames else ""
    trace = "".join(traceback.format_exception(kind, error, error.__traceback__))
    return f"{told}{where}\n\n{trace}", name


def _note(error: BaseException, text: str) -> None:
    if hasattr(error, "add_note"):  # Python 3.11
        error.add_note(text)
