"""What a run reads on an engine: the sessions, the moment that all reads see, and the slice."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from omd._core.engines import SPARK, Engine, Snapshot
from omd._core.errors import CallerError
from omd._core.link import Link

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from omd.rooms.control.block import Block

_log = logging.getLogger("omd.run")


@dataclass(frozen=True, slots=True)
class LoadWindow:
    """The slice of the source that a run reads: the rows after the start and up to the end."""

    start_value: datetime | None
    start_id: int | None
    end_value: datetime | None
    end_id: int | None


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


class Reads:
    """The sessions of a run, whose jobs bear its tag, and the snapshots that it reads from.

    Args:
        run: the run.
        spark: the session given; by default that of the control.
    """

    def __init__(self, run: Block, spark: SparkSession | None) -> None:
        self.run = run
        # The session given, or that of the control, or the active one at the begin.
        self.spark = spark if spark is not None else run._control._spark
        self.window: LoadWindow | None = None
        self.block: str | None = None  # what views of changes show, as omd._core.snapshots has it
        # What the run has written to lake tables, which its reads of them see; None: nothing.
        self.uncommitted: Uncommitted | None = None
        self._sessions: list[SparkSession] = []
        self._snapshots: dict[str, Snapshot] = {}  # that of each database, for the reads to come
        self._held: list[Snapshot] = []  # all of them
        self._held_lock = threading.Lock()

    @property
    def engine(self) -> Engine:
        """The engine that moves the rows of this run; it is imported on first use."""
        return self.run._control._engines[SPARK]

    @property
    def dsn(self) -> str:
        """A connection string for executors, which write without the fence of the driver."""
        self.run._give_out()
        return self.run._control._executor_dsn

    def find_session(self) -> SparkSession | None:
        """Take the active session where the run was given none."""
        if self.spark is None:
            self.spark = self.run._control._engines.active_session()
        return self.spark

    def attach(self, spark: SparkSession) -> None:
        """Tag the jobs that this thread starts from now on, so that they can be cancelled."""
        run = self.run
        run._give_out()  # its executors write by themselves
        if not any(session is spark for session in self._sessions):
            self._sessions.append(spark)
            self.engine.hand_on(
                spark,
                lambda: run._control._environment_of("MODULE", run._instance_id).get(
                    "OPENLINEAGE_PARENT_ID"
                ),
            )
        self.engine.attach(spark, run._tag)
        run._lease.check()

    def read(self, spark: SparkSession, table: str | None = None, **options: Any) -> DataFrame:
        """Return what is read as a DataFrame; see `omd.Run.read`."""
        self.attach(spark)
        rows: DataFrame = self.engine.read(self, spark, table, **options)
        return rows

    def snapshot(self, url: str | None = None, *, renew: bool = False) -> str:
        """Return the id of the exported snapshot of a database; see `omd.Run.snapshot`."""
        run = self.run
        run._give_out()
        server = url or self.dsn
        with self._held_lock:
            held = self._snapshots.get(server)
            if renew or held is None or not held.is_held():
                if not run._open or run._lease.is_lost:
                    raise CallerError(f"{run._kind} {run} has ended", hint="Read while it runs.")
                held = self._snapshots[server] = self.engine.snapshot(server)
                self._held.append(held)
        return held.id

    def renew(self) -> None:
        """Let the reads that follow see another moment, since the run has written."""
        with self._held_lock:
            self._snapshots.clear()

    def cancel(self) -> None:
        """Cancel the jobs that bear the tag; a run that is lost holds no moment any longer."""
        for spark in list(self._sessions):
            try:
                self.engine.cancel(spark, self.run._tag)
            except Exception as error:  # noqa: BLE001 - a dead JVM has no jobs left to cancel
                _log.warning(
                    "the Spark jobs of %s %s were not cancelled: %s",
                    self.run._kind,
                    self.run,
                    error,
                )
        if self.run._lease.is_lost:
            self._release()

    def interrupted(self) -> None:
        """Clean up after a signal that ended the job at any point."""
        for spark in self._sessions:
            self.engine.interrupted(spark)

    def close(self) -> None:
        """Release the snapshots, and stop tagging the jobs of this thread."""
        self._release()
        for spark in self._sessions:
            self.engine.release(spark, self.run._tag)

    def _release(self) -> None:
        with self._held_lock:
            self._snapshots.clear()
            while self._held:
                self._held.pop().close()
