"""A block whose jobs run on an engine, and what such a run reads."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Protocol

from omd._core.engines import SPARK, Engine, Snapshot
from omd._core.errors import CallerError, LeaseLost
from omd._core.link import Link
from omd.rooms.control.block import Block
from omd.rooms.control.connection import C

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


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


class EngineBlock(Block[C]):
    """A block whose jobs run on an engine: it tags them, cancels them, and holds their snapshots.

    Attributes:
        spark: the session given, or that of the control, or the active one at the begin.
        uncommitted: what it has written and not committed; None where writes commit themselves.
    """

    def __init__(
        self,
        control: C,
        code: str | None,
        *,
        lease: timedelta | EllipsisType | None,
        context: Mapping[str, Any] | None,
        spark: SparkSession | None,
    ) -> None:
        super().__init__(control, code, lease=lease, context=context)
        self._spark = spark if spark is not None else control._spark
        self._sessions: list[SparkSession] = []
        self._load_window: LoadWindow | None = None
        self._block: str | None = None  # what views of changes show, as omd._core.snapshots has it
        self._uncommitted: Uncommitted | None = None
        self._snapshots: dict[str, Snapshot] = {}
        self._held: list[Snapshot] = []
        self._held_lock = threading.Lock()

    @property
    def dsn(self) -> str:
        """A connection string for executors. It usually holds a password: never log it.

        What writes by it has no fence of the driver. So it is one's own duty to stamp each row and
        to call `omd.fence` last, in one message with the COMMIT; else a process that was declared
        dead and wakes up writes on. A program in Python writes by `run.connect()`. From now on a
        start after a kill waits for the lease.
        """
        self._give_out()
        return self._control._executor_dsn

    @property
    def _tag(self) -> str:
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
        self._give_out()  # its executors write by themselves
        if not any(session is spark for session in self._sessions):
            self._sessions.append(spark)
            self._engine.hand_on(
                spark,
                lambda: self._control._environment_of("MODULE", self._instance_id).get(
                    "OPENLINEAGE_PARENT_ID"
                ),
            )
        self._engine.attach(spark, self._tag)
        self.check()

    def _cancel(self) -> None:
        """Cancel the Spark jobs that carry this run's tag."""
        for spark in list(self._sessions):
            try:
                self._engine.cancel(spark, self._tag)
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
        self._give_out()
        server = url or self.dsn
        with self._held_lock:
            held = self._snapshots.get(server)
            if renew or held is None or not held.is_held():
                if not self._open or self._lost is not None:
                    raise CallerError(f"{self._kind} {self} has ended", hint="Read while it runs.")
                held = self._snapshots[server] = self._engine.snapshot(server)
                self._held.append(held)
        return held.id

    def _release_snapshots(self) -> None:
        with self._held_lock:
            self._snapshots.clear()
            while self._held:
                self._held.pop().close()

    def _lose(self, reason: str) -> None:
        super()._lose(reason)
        self._release_snapshots()

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
        """Return what is read as a DataFrame; see `omd.Run.read`."""
        self.attach(spark)
        rows: DataFrame = self._engine.read(
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
        return rows

    @property
    def _engine(self) -> Engine:
        """The engine that moves the rows of this run; it is imported on first use."""
        return self._control._engines[SPARK]

    def _interrupted(self) -> None:
        for spark in self._sessions:
            self._engine.interrupted(spark)

    def _closed(self) -> None:
        self._release_snapshots()
        for spark in self._sessions:
            self._engine.release(spark, self._tag)
