"""A session with the control plane, as every block and every room takes it.

It passes a call to the database and returns its answer as a typed object. It decides nothing. The
routines are in `omd.rooms.control.calls`, which is generated.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
from typing_extensions import Self, TypeVar

from omd._core import signals
from omd._core.calls import CONTEXT, Reports, Routine
from omd._core.cost import measured
from omd._core.former import Renamed
from omd._core.functions import Permitted
from omd._core.link import Link
from omd._core.texts import storable
from omd.rooms.control.calls import ControlCalls

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from omd._core.engines import Engines

    # Blocks keep the type of their connection: that of `omd.Control`, which stands above them, is
    # their users'.
    C = TypeVar("C", bound="Connection", default="Connection", covariant=True)
else:
    from typing import TypeVar

    C = TypeVar("C")

__all__ = ["C", "Connection", "Door", "callers"]

T = TypeVar("T")


# Who called, as OpenLineage and W3C Trace Context name it; a variable has the name in capitals.
_CALLERS = ("openlineage_parent_id", "openlineage_root_parent_id", "traceparent", "tracestate")
_SETTING = "omd.execution_context"


def callers() -> dict[str, str]:
    """Return what the environment says about who called."""
    given = {key: os.environ.get(key.upper()) for key in _CALLERS}
    return {key: storable(value) for key, value in given.items() if value}


def called(link: Link, context: Any) -> Any:
    """Return the execution context of a run that the database performs, with who called.

    The setting tells it to the members of a Batch too. What the caller gives stays, and so does
    what the session says already.
    """
    if context is not None and not isinstance(context, Mapping):
        return context  # the database refuses it
    who = {key: value for key, value in callers().items() if key not in (context or {})}
    if who:
        said = json.loads(link.settings.get(_SETTING) or "{}")
        link.set(**{_SETTING: json.dumps({**who, **said})})
    return None if context is None else dict(context)


class Connection(Renamed, Reports):
    """A session with the control plane, and what every block needs of it.

    Threads may share it: statements are short and are executed one at a time. It moves no data.
    """

    _formerly = ("omd.Control",)
    # Runs of Modules and Batches of any kind; `omd.Control` knows how.
    run: Callable[..., Any]
    run_batch: Callable[..., Any]

    def __init__(
        self,
        conninfo: str,
        *,
        lease: timedelta | None,
        application_name: str,
        patience: timedelta,
        wait: timedelta | None = None,
        spark: SparkSession | None,
        rollback_executor: Callable[[str], object] | None,
        executor_dsn: str | None,
        engines: Engines,
    ) -> None:
        self._lease = lease
        self._wait = wait
        self._engines = engines
        self._spark = spark
        self._rollback_executor = rollback_executor
        self._conninfo = conninfo
        self._given_executor_dsn = executor_dsn
        self._application_name = application_name
        self._patience = patience
        self._settings: dict[str, str] = {}
        self._permitted = Permitted()  # what it executes of what is registered; a worker sets it
        # Open runs whose writers are all fenced, until something is given out that could write.
        self._fenced: set[Any] = set()
        self._opened: Link | None = None
        self._link = self._new_link()
        self._omd = ControlCalls(self._link)
        self._link.open()
        self._opened = self._link

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection. Open runs stay as they are until their leases expire."""
        self._link.close()

    @property
    def _dsn(self) -> str:
        """A connection string for other processes. It holds the password: never log it."""
        self._give_out()
        return self._link.dsn

    def _give_out(self) -> None:
        for block in list(self._fenced):
            block._give_out()

    @contextmanager
    def _calls_of_its_own(self) -> Iterator[ControlCalls]:
        """Yield calls that are committed at once, also while a transaction is open here."""
        if not self._link.is_in_transaction:
            yield self._omd
            return
        link = self._new_link()
        try:
            yield ControlCalls(link)
        finally:
            link.close()

    @property
    def _executor_dsn(self) -> str:
        """The connection string for Spark's processes. It may hold a password: never log it."""
        self._give_out()
        return self._given_executor_dsn or self._dsn

    def _new_link(
        self, *, name: str = "", patience: timedelta | None = None, **options: str
    ) -> Link:
        """Return another connection to the same database, not yet open; options are libpq's."""
        link = Link(
            self._conninfo,
            application_name=self._application_name + name,
            patience=self._patience if patience is None else patience,
            like=self._opened,
            **options,
        )
        link.set(**self._settings)
        return link

    @contextmanager
    def _long_call(self) -> Iterator[Link]:
        """Yield another connection for one call that takes long; SIGTERM and Ctrl-C cancel it."""
        link = self._new_link()
        if threading.current_thread() is not threading.main_thread():
            # A signal ends the process here, and nobody cancels: the server looks for its client.
            link.set(client_connection_check_interval="1s")
        signals.enter(lambda: None)
        try:
            yield link
        except BaseException:
            link.cancel()
            raise
        finally:
            link.close()
            signals.leave()

    def _call_apart(
        self,
        routine: Routine,
        values: Sequence[Any],
        call: Callable[[Link, Sequence[Any]], list[T]],
    ) -> list[T]:
        """Make a call that may take long over its own connection, so that others need not wait."""
        with self._long_call() as link, measured(link) as performed:
            values = list(values)
            if CONTEXT in routine.parameters:
                place = list(routine.parameters).index(CONTEXT)
                values[place] = called(link, values[place])
            rows = call(link, values)
            for row in rows[:1]:
                performed("BATCH", getattr(row, "batch_instance_id", None))
                performed("MODULE", getattr(row, "module_instance_id", None))
            return rows

    def _environment_of(
        self,
        subject_type: str,  # noqa: ARG002 - omd.Control needs it
        instance_id: int,  # noqa: ARG002
    ) -> dict[str, str]:
        """Return variables for a process that a run starts; `omd.Control` knows some."""
        return {}

    def _set(self, **settings: str) -> None:
        """Set parameters of the session, and of those that this control opens from now on."""
        self._settings.update(settings)
        self._link.set(**settings)

    @contextmanager
    def transaction(self) -> Iterator[psycopg.Connection[Any]]:
        """Make the calls inside one transaction; use it for registration, never around a run."""
        self._give_out()  # it commits without a fence
        with self._link.transaction() as connection:
            yield connection


class Door(Renamed):
    """What the doors to the rooms have in common: `control.delivery` and the others.

    Args:
        connection: the connection; it may serve other calls too.
    """

    def __init__(self, connection: Connection) -> None:
        self._control = connection
        self._link = connection._link
