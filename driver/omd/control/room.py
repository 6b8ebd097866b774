"""The control plane as Python sees it: the routines as methods, and the blocks around a job.

`Control` hands a call to the database and its answer back as a typed object. It decides nothing.
The routines are in `omd.control.calls`, generated; the blocks in `omd.control.run`.
"""

from __future__ import annotations

import functools
import importlib
import os
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from psycopg.pq import TransactionStatus

from omd._core.errors import CallerError
from omd._core.link import Link, resolve_conninfo
from omd._doors import Doors
from omd.control.calls import ControlCalls
from omd.control.run import (
    BATCH_VARIABLE,
    Batch,
    ModuleRun,
    call_job,
    make_decorator,
    with_checksum,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import EllipsisType

    import psycopg
    from pyspark.sql import SparkSession

    from omd.control.run import Outcome

__all__ = ["Control", "connect"]

P = ParamSpec("P")
T = TypeVar("T")


def _on_its_own_connection(
    call: Callable[Concatenate[ControlCalls, P], T],
) -> Callable[Concatenate[Control, P], T]:
    """A call that takes long, on a connection of its own: heartbeats and others need not wait."""

    def wrapper(control: Control, /, *args: P.args, **kwargs: P.kwargs) -> T:
        link = control.new_link()
        try:
            return call(ControlCalls(link), *args, **kwargs)
        finally:
            link.close()

    functools.update_wrapper(wrapper, call)
    return wrapper


def connect(
    conninfo: str | None = None,
    *,
    lease: timedelta | None = timedelta(minutes=5),
    application_name: str = "omd",
    patience: timedelta = timedelta(minutes=1),
    spark: SparkSession | None = None,
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


class Control(ControlCalls, Doors):
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
        spark: SparkSession | None,
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
        importlib.import_module("omd.errors")  # psycopg raises them by their SQLSTATE
        super().__init__(self.new_link())
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

    run_batch = _on_its_own_connection(ControlCalls.run_batch)
    run_module = _on_its_own_connection(ControlCalls.run_module)

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
        """A Batch as a block (rules P1 and P4).

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
        spark: SparkSession | None = None,
        rollback_executor: Callable[[str], object] | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> ModuleRun:
        """A Module as a block, on its own or in the Batch of OMD_BATCH_INSTANCE_ID (rule P5).

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


def _environment_batch() -> int | None:
    told = os.environ.get(BATCH_VARIABLE)
    if not told:
        return None
    try:
        return int(told)
    except ValueError:
        raise ValueError(f"{BATCH_VARIABLE} is not a Batch Instance ID: {told!r}") from None
