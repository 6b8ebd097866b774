"""Blocks around a job: `Batch` and `ModuleRun` (docs/explanation/jobs.md, rule J1).

A block begins an instance, and leaving it ends the instance: success, or failure with what was
raised. Whether and how a run proceeds is the database's answer.
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
from typing import TYPE_CHECKING, Any, Concatenate, Generic, Literal, ParamSpec, TypeVar

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
    from collections.abc import Callable, Mapping, Sequence

    from pyspark.sql import Column, DataFrame, SparkSession

    from omd._core.engines import Snapshot
    from omd.control.room import Control
    from omd.control.rows import BeginModuleAnswer, ModuleDefinitionRow
    from omd.spark.engine import SparkEngine
    from omd.spark.job import WriteResult

__all__ = ["Batch", "LoadWindow", "ModuleRun", "Outcome"]

P = ParamSpec("P")
T = TypeVar("T")
B = TypeVar("B", bound="_Block")

_log = logging.getLogger("omd.run")

BATCH_VARIABLE = "OMD_BATCH_INSTANCE_ID"
MODULE_VARIABLE = "OMD_MODULE_INSTANCE_ID"
DSN_VARIABLE = "OMD_DSN"


@dataclass(frozen=True, slots=True)
class LoadWindow:
    """The slice of the source that a run reads: after the start, up to the end; pairs of both."""

    start_value: datetime | None
    start_id: int | None
    end_value: datetime | None
    end_id: int | None


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """How `run` or a decorated job ended (docs/explanation/jobs.md, rule J1).

    Attributes:
        code: the Module's or Batch's code.
        instance_id: its instance.
        status: S, F, C or A.
        indicator: P, C or A: what the evaluation answered in the end.
        reason: the reason code of a skip or an abort.
        value: what the job returned.
        error: what the job raised; `NotStarted` when it was not called.
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
        """What the job returned; raises what the job raised, or `NotStarted`."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]


class _Block(ABC):
    """What the blocks share: the lease, the signal, and how an instance ends."""

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
        """How long the database waits for a sign of life; None: for as long as it takes."""
        return self._lease

    @property
    def lost(self) -> bool:
        """Whether the lease was lost: the database gave this run up, or could not be reached."""
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
            # A begin that rolls back may take longer than the lease, which is granted at its end.
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

    def _lose(self, reason: str) -> None:
        if self._lost is None:
            self._lost = reason
            _log.error("%s %s lost its lease: %s", self._kind, self, reason)
            self.cancel()

    def _end(self, error: BaseException | None) -> None:
        """End the instance. What the job raised goes on its way, whatever happens here."""
        self._open = False
        if self._heartbeat is not None:
            self._heartbeat.stop()
        if error is not None:
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
            _note(failure, f"The success of {self._kind} {self} may not be recorded.")
            raise
        except Exception as refusal:
            self._record(refusal)
            raise
        finally:
            self._closed()
        if self._lost is None:
            assert error is not None  # noqa: S101 - no error and no loss has returned above
            self._record(error)
            return
        lost = LeaseLost(
            f"{self._kind} {self} outlived its lease: {self._lost}",
            hint="Its rows are rolled back by the next begin; start it again.",
        )
        self._record(error or lost)
        if error is not None and not isinstance(error, Exception):
            _note(error, str(lost))  # Ctrl-C and SIGTERM stay what they are
            return
        raise lost from error

    def _record(self, error: BaseException) -> None:
        """Record a failure; when that fails, say so beside the error, never instead of it."""
        detail, name = describe(error)
        try:
            self._fail(detail, name)
        except (InstanceNotExecuting, LeaseExpired) as refusal:
            _log.info("%s %s: %s", self._kind, self, refusal.message)  # given up already: as good
        except Exception as failure:  # noqa: BLE001 - the job's own exception is on its way
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

    def _prepare(self) -> None:  # noqa: B027 - nothing is a fine default
        """What follows a begin and may take long."""

    @abstractmethod
    def _renew(self, calls: ControlCalls, lease: timedelta) -> None: ...

    @abstractmethod
    def cancel(self) -> None:
        """Cancel the Spark jobs of this run; it does not end the block."""

    def _interrupted(self) -> None:  # noqa: B027 - nothing is a fine default
        """A signal has ended the job, wherever it was."""

    @abstractmethod
    def _succeed(self) -> None: ...

    @abstractmethod
    def _fail(self, detail: str, name: str) -> None: ...

    def _closed(self) -> None:  # noqa: B027 - nothing is a fine default
        """What follows the end, however it went."""


class Batch(_Block):
    """A Batch Instance as a block; `Control.batch` makes one.

    Leaving the block ends the Batch. It fails when an exception passes, and when a Module of it
    failed: a Module run by `run` raises nothing, but its Batch can't succeed.

    Attributes:
        batch_code: None for a Batch joined through the environment.
        batch_instance_id: 0 before the begin.
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
        self._children: set[_Block] = set()
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
        """A Module of this Batch as a block; parameters as for `Control.module`.

        A rerun skips what has succeeded, so expect `ModuleSkipped`: `run` returns it, and
        ``with suppress(omd.ModuleSkipped), batch.module("m_x") as run:`` passes over it.
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
        """Call ``job(run)`` if the Module may proceed, and return how it went.

        Only what ends the process (Ctrl-C, SIGTERM), a lost database and a begin that the database
        refuses as an error are raised. Options as for `module`.
        """
        return call_job(self.module(code, **with_checksum(options, job)), job)

    def module_job(
        self, code: str, **options: Any
    ) -> Callable[[Callable[Concatenate[ModuleRun, P], T]], Callable[P, Outcome[T]]]:
        """Decorator: calling the function runs it as a Module of this Batch, as `run` does."""
        return make_decorator(lambda **more: self.module(code, **more), options)

    def batch(
        self,
        code: str,
        *,
        force: bool = False,
        lease: timedelta | EllipsisType | None = ...,
        context: Mapping[str, Any] | None = None,
    ) -> Batch:
        """A child Batch as a block (rule P1)."""
        return self.control.batch(code, parent=self, force=force, lease=lease, context=context)

    def environment(self) -> dict[str, str]:
        """The variables with which another process joins this Batch.

        They hold the connection string with its password: for the environment of a child, not for
        a log.
        """
        return {
            BATCH_VARIABLE: str(self.batch_instance_id),
            DSN_VARIABLE: self.control.dsn,
        }

    def cancel(self) -> None:
        """Cancel the Spark jobs of every open Module of this Batch."""
        for child in self._open_children():
            child.cancel()

    def _open_children(self) -> list[_Block]:
        with self._children_lock:
            return list(self._children)

    def _add(self, child: _Block) -> None:
        with self._children_lock:
            self._children.add(child)

    def _remove(self, child: _Block) -> None:
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
            execution_context=_execution_context(None, self._context),
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
        if not self._joined:  # who began it ends it
            super()._end(error)

    def _closed(self) -> None:
        if self._parent is not None:
            self._parent._remove(self)

    def _succeed(self) -> None:
        self.control.batch_success(self.batch_instance_id)

    def _fail(self, detail: str, name: str) -> None:
        self.control.batch_failure(
            self.batch_instance_id, event_detail=detail, event_return_code_details=name
        )


class ModuleRun(_Block):
    """A Module Instance as a block; `Batch.module` and `Control.module` make one.

    Attributes:
        module_code: the Module.
        module_instance_id: the id to stamp on every row; 0 before the begin.
        batch_instance_id: 0 when run on its own.
        instance_array: what this run rolled back before it proceeded.
        reason: the reason code of the evaluation.
        load_window: the slice of the source that `window` recorded; None before.
        spark: the session given, else the control's, else the active one at the begin.
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
        super().__init__(control, code, lease=lease, context=context)
        self.module_code = code
        self.module_instance_id = 0
        self.batch_instance_id = batch_instance_id or 0
        self.instance_array: list[int] = []
        self.spark = spark if spark is not None else control.spark
        self._batch = batch
        self._rollback_executor = rollback_executor or control.rollback_executor
        self._rollback_pending = False
        self._sessions: list[SparkSession] = []
        self._rows: dict[str, int] = {}
        self._rows_lock = threading.Lock()
        self.load_window: LoadWindow | None = None
        self._snapshots: dict[str, Snapshot] = {}
        self._held: list[Snapshot] = []
        self._held_lock = threading.Lock()

    @property
    def _instance_id(self) -> int:
        return self.module_instance_id

    @property
    def dsn(self) -> str:
        """A connection string for executors, most often with a password: never log it."""
        return self.control.executor_dsn

    @functools.cached_property
    def module(self) -> ModuleDefinitionRow:
        """The Module as registered: its target, platform, keys and audit columns."""
        return self.control.module_definition(self.module_code)

    @property
    def tag(self) -> str:
        """The tag on the Spark jobs of this run."""
        return f"omd-{self.module_instance_id}"

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
        """Add to the row counts that success reports; from any thread, as often as needed."""
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

    def check(self) -> None:
        """Raise `LeaseLost` when this run must stop; for loops without Spark."""
        if self._lost is not None:
            raise LeaseLost(f"module {self} outlived its lease: {self._lost}")

    def attach(self, spark: SparkSession) -> None:
        """Tag the Spark jobs that this thread starts from now on, so that they can be cancelled.

        `read`, `write` and `stamp` do it; sessions known at the begin are attached by then. A job
        started from another thread has to attach there.
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
                _log.warning("Spark jobs of module %s not cancelled: %s", self, error)

    def environment(self) -> dict[str, str]:
        """The variables with which another process joins the Batch of this run.

        They hold the connection string with its password: for the environment of a child, not for
        a log.
        """
        variables = {
            MODULE_VARIABLE: str(self.module_instance_id),
            DSN_VARIABLE: self.control.dsn,
        }
        if self.batch_instance_id:
            variables[BATCH_VARIABLE] = str(self.batch_instance_id)
        return variables

    def window(self, *, end_value: datetime | None = None, end_id: int | None = None) -> LoadWindow:
        """Record which slice of the source this run reads: from where the last one ended to here.

        The end is part of the slice, the start is not. A run that failed has not moved the start:
        the next one reads its slice again. Rows that come late, under a time or an id that is
        already behind an end, are in no slice: choose an end that every writer has passed.

        Args:
            end_value: an instant; the first window has no start: `start_value` is None.
            end_id: an id, alone or as the second part of the end.
        """
        start = self.control.create_load_window(
            self.module_instance_id, end_value=end_value, end_id=end_id
        )
        self.load_window = LoadWindow(start.start_value, start.start_id, end_value, end_id)
        return self.load_window

    def snapshot(self, url: str | None = None, *, renew: bool = False) -> str:
        """The id of the exported snapshot that `read` reads from; held until this run ends.

        One per database, so that all reads see the same moment. After a write of this run there is
        a new one.

        Args:
            url: another database than that of the run.
            renew: take another one for the reads to come.
        """
        server = url or self.dsn
        with self._held_lock:
            held = self._snapshots.get(server)
            if renew or held is None or not held.is_held():
                if not self._open or self._lost is not None:
                    raise CallerError(f"module {self} has ended", hint="Read while it runs.")
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
        window: str | tuple[str | None, str | None] | None = None,
        predicates: Sequence[str] | None = None,
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
            **options,
        )

    def write(
        self,
        df: DataFrame,
        table: str | None = None,
        *,
        mode: Literal["append", "overwrite"] = "append",
    ) -> WriteResult:
        """Write a DataFrame to the target, stamped and fenced; see `omd.spark.write`."""
        self.attach(df.sparkSession)
        try:
            return self._engine.write(self, df, table, mode=mode)
        finally:
            with self._held_lock:
                self._snapshots.clear()  # what is read from now on shall see it

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

    @property
    def _engine(self) -> SparkEngine:
        """Where this run's rows move; imported when it is asked for."""
        engine: SparkEngine = engines.engine("SPARK")
        return engine

    def _begin(self) -> None:
        if self._batch is not None:
            self.batch_instance_id = self._batch.batch_instance_id
        if self.spark is None:
            self.spark = engines.active_session()
        granted = time.monotonic()
        answer = self._ask(_execution_context(self.spark, self._context))
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
        """The begin itself."""
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
        """Execute the rollback that the database asks for, where it can't reach the target."""
        execute = self._rollback_executor
        if execute is None and self.spark is not None:
            execute = functools.partial(self._engine.roll_back, self.spark)
        if execute is None:
            raise NoRollbackExecutor(
                f"module {self} must roll back {self.instance_array} on Spark and has no session",
                hint="Pass spark=… or rollback_executor=… to batch.module() or omd.connect().",
            )
        for statement in self.control.build_rollback_sql(self.module_instance_id):
            _log.info("module %s rolls back: %s", self, statement.statement)
            execute(statement.statement)
        self.control.confirm_rollback(self.module_instance_id)

    def _interrupted(self) -> None:
        for spark in self._sessions:
            self._engine.interrupted(spark)

    def _renew(self, calls: ControlCalls, lease: timedelta) -> None:
        calls.heartbeat(self.module_instance_id, lease)

    def _closed(self) -> None:
        self._let_go()
        if self._batch is not None:
            self._batch._remove(self)
        for spark in self._sessions:
            self._engine.release(spark, self.tag)

    def _succeed(self) -> None:
        self.control.module_success(self.module_instance_id, **self._rows)

    def _fail(self, detail: str, name: str) -> None:
        self.control.module_failure(
            self.module_instance_id, event_detail=detail, event_return_code_details=name
        )


def call_job(
    block: ModuleRun, job: Callable[Concatenate[ModuleRun, P], T], *args: P.args, **kwargs: P.kwargs
) -> Outcome[T]:
    """Call a job inside its block, and turn how it went into data."""

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
    """The decorator of `Control.module_job` and `Batch.module_job`."""

    def decorate(job: Callable[Concatenate[ModuleRun, P], T]) -> Callable[P, Outcome[T]]:
        told = with_checksum(options, job)

        @functools.wraps(job)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> Outcome[T]:
            return call_job(make(**told), job, *args, **kwargs)

        del wrapper.__wrapped__  # its signature lacks the run
        return wrapper

    return decorate


def with_checksum(options: Mapping[str, Any], job: Callable[..., Any]) -> dict[str, Any]:
    """The options with the job's name and checksum in the execution context."""
    context = {"job": f"{job.__module__}.{getattr(job, '__qualname__', type(job).__qualname__)}"}
    try:
        context["code_checksum"] = hashlib.sha256(inspect.getsource(job).encode()).hexdigest()
    except (OSError, TypeError):  # typed at a prompt, or not a function
        code = getattr(job, "__code__", None)
        if code is not None:
            context["code_checksum"] = hashlib.sha256(code.co_code).hexdigest()
    return {**options, "context": {**context, **(options.get("context") or {})}}


def _execution_context(spark: Any, extra: Mapping[str, Any]) -> dict[str, Any]:
    """Where this runs (the execution context of an instance)."""
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
    """What the event log holds of an error: type, message, last frame, traceback; and the type."""
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
