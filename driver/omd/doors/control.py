"""The control plane as its users see it: the routines, the blocks around a job, the rooms.

Nothing below imports this module, for type checkers neither.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING

import omd.errors  # noqa: F401 - psycopg raises them by their SQLSTATE
from omd._core.conninfo import resolve_conninfo
from omd._core.engines import Engines
from omd.doors.calls import Namespace
from omd.doors.performing import Performing
from omd.doors.registry import ENGINES
from omd.rooms.event.calls import EventCalls

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Control(Performing):
    """A session with the control plane; use `connect` to make one.

    Threads may share it: statements are short and are executed one at a time. It moves no data.
    """

    @cached_property
    def calls(self) -> Namespace:
        """Every routine, as in SQL: ``control.calls.omd_lineage.restate(…)``.

        The parameters have the names and the order of SQL, without ``p_``; those that only answer
        are left out. JSON is a dict or a list. A call answers the one value, a row with an
        attribute for each, or a list of rows.

        A call that may take long has a connection of its own, so that other threads need not wait
        for it, and SIGTERM and Ctrl-C cancel it. Inside of `transaction` every call is part of the
        transaction.
        """
        return Namespace(self)

    def _environment_of(self, subject_type: str, instance_id: int) -> dict[str, str]:
        """Return variables for a process that a run starts: there it is the parent.

        Args:
            subject_type: MODULE or BATCH.
            instance_id: the Module Instance or Batch Instance.
        """
        parent = EventCalls(self._link).parent_id(subject_type, instance_id)
        return {"OPENLINEAGE_PARENT_ID": parent}


def connect(
    conninfo: str | None = None,
    *,
    lease: timedelta | None = timedelta(minutes=5),
    application_name: str = "omd",
    patience: timedelta = timedelta(minutes=1),
    wait: timedelta | None = None,
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
        wait: for how long at most a start waits while another run of the same Module or Batch
            executes; None: it is refused at once.
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
        wait=wait,
        spark=spark,
        rollback_executor=rollback_executor,
        executor_dsn=executor_dsn or os.environ.get("OMD_EXECUTOR_DSN"),
        engines=Engines(ENGINES),
    )
