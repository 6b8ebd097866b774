"""The control plane as Python sees it: the routines as methods, and the blocks around a job.

`Control` passes a call to the database and returns its answer as a typed object. It decides
nothing. The routines are in `omd.control.calls`, which is generated; the blocks are in
`omd.control.run`.
"""

from __future__ import annotations

import functools
import importlib
import os
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from psycopg.pq import TransactionStatus

from omd._core import signals
from omd._core.conninfo import resolve_conninfo
from omd._core.errors import CallerError
from omd._core.link import Link
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
    """Give a call that takes long its own connection, so that other calls need not wait for it."""

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
        conninfo: libpq connection string or URL; by default OMD_DSN, DATABASE_URL, or libpq's own
            settings.
        lease: after how long without a renewal a run of this driver is declared dead; a background
            thread renews the lease after each fifth of it. With None a run is never declared dead,
            not even when this process dies.
        application_name: the name that pg_stat_activity shows.
        patience: for how long a broken connection is tried again before `ConnectionFailed`.
        spark: the Spark session of the runs, where they name no other.
        rollback_executor: executes one Spark SQL statement of a rollback, without a session.
        executor_dsn: connection string for Spark's processes; by default OMD_EXECUTOR_DSN, or that
            of this connection with its password. With ``service=dwh`` libpq finds the rest on the
            machines of these processes, so that no secret passes through Spark.

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

    Threads may share it: statements are short and are executed one at a time. It moves no data.
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
        self._settings: dict[str, str] = {}
        importlib.import_module("omd.errors")  # psycopg raises them by their SQLSTATE
        super().__init__(self.new_link())
        self._link.open()

    def __enter__(self) -> Control:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection. Open runs stay as they are until their leases expire."""
        self._link.close()

    @property
    def dsn(self) -> str:
        """A connection string for other processes. It holds the password: never log it."""
        return self._link.dsn

    @property
    def executor_dsn(self) -> str:
        """The connection string for Spark's processes. It may hold a password: never log it."""
        return self._executor_dsn or self.dsn

    def new_link(
        self, *, name: str = "", patience: timedelta | None = None, **options: str
    ) -> Link:
        """Return another connection to the same database, not yet open; options are libpq's."""
        link = Link(
            self._conninfo,
            application_name=self._application_name + name,
            patience=self._patience if patience is None else patience,
            **options,
        )
        link.set(**self._settings)
        return link

    @contextmanager
    def long_call(self) -> Iterator[Link]:
        """Yield another connection for one call that takes long; SIGTERM and Ctrl-C cancel it."""
        link = self.new_link()
        signals.enter(lambda: None)
        try:
            yield link
        except BaseException:
            link.cancel()
            raise
        finally:
            link.close()
            signals.leave()

    def set(self, **settings: str) -> None:
        """Set parameters of the session, and of those that this control opens from now on."""
        self._settings.update(settings)
        self._link.set(**settings)

    @contextmanager
    def transaction(self) -> Iterator[psycopg.Connection[Any]]:
        """Make the calls inside one transaction; use it for registration, never around a run."""
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
                raise CallerError("the script must not end its transaction by COMMIT or ROLLBACK")

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
        """Return a Batch as a block (rules P1 and P4).

        Args:
            code: the code of the Batch.
            parent: the Batch, or the Batch Instance ID, that this one is part of.
            force: run although the frequency says that it is too early.
            lease: a lease other than that of this control; None for none.
            context: values to add to the execution context.

        Raises, on entering the block:
            BatchSkipped: there is no need to run now.
            BatchAborted: it must not run now.
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
        """Return the Batch that OMD_BATCH_INSTANCE_ID names, as a block; None when it names none.

        Leaving the block does not end the Batch: the process that began it does.
        ``with control.batch_from_environment() or control.batch("b_x") as batch:`` joins a Batch
        where the variable is set, and begins one where it is not.
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
        """Return a Module as a block, alone or in the Batch of OMD_BATCH_INSTANCE_ID (rule P5).

        Args:
            code: the code of the Module.
            batch_instance_id: the Batch Instance to join; 0 for none, whatever the environment
                says.
            lease: a lease other than that of this control; None for none.
            spark: the Spark session of this run.
            rollback_executor: executes one Spark SQL statement of a rollback.
            context: values to add to the execution context.

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
        """Call ``job(run)`` if the Module may proceed, and return the outcome; see `Batch.run`."""
        return call_job(self.module(code, **with_checksum(options, job)), job)

    def module_job(
        self, code: str, **options: Any
    ) -> Callable[[Callable[Concatenate[ModuleRun, P], T]], Callable[P, Outcome[T]]]:
        """Return a decorator: a call of the function runs it as this Module, as `run` does.

        The first parameter of the function is the run; the caller gives the others.
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
