"""The engine SPARK: the methods of `omd._core.engines.Engine`.

Nothing of Spark is imported before it is needed: a run that has its own session and moves its rows
itself needs only that session.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from omd._core.engines import SPARK, Engine, WriteResult

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile
    from pyspark.sql import DataFrame, SparkSession

    from omd.control.connection import Connection
    from omd.control.engine_block import EngineBlock, LoadWindow
    from omd.control.rows import RollbackStepsRow
    from omd.control.run import ModuleRun
    from omd.decision.run import DecisionOutcome
    from omd.delivery.rows import DeliveryConstraintsRow
    from omd.delivery.run import DeliveryRun
    from omd.facts.export import ExportRun
    from omd.lake.compaction import Group
    from omd.lake.delta import Delta, DeltaFile
    from omd.lake.run import LakeTable, Rewritten
    from omd.lineage.rows import TopicDefinitionRow
    from omd.lineage.step import StepOutcome
    from omd.spark.snapshots import HeldSnapshot

SHORT_LIFE = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""Settings for a JVM that ends soon: its second compiler would cost more than it saves."""

_log = logging.getLogger("omd.spark")


class SparkEngine(Engine):
    """The engine on Spark; a session is a Spark session, which may be one of Spark Connect."""

    name = SPARK
    needs_process = True

    def active(self) -> SparkSession | None:
        """Return the active session of this thread."""
        from pyspark.sql import SparkSession

        return SparkSession.getActiveSession()

    def context(self, session: SparkSession) -> dict[str, Any]:
        """Return the version and the application of a session."""
        context = {"platform": "spark", "spark": session.version}
        spark_context = _context(session)
        if spark_context is not None:
            context["application_id"] = spark_context.applicationId
        return context

    def attach(self, session: SparkSession, tag: str) -> None:
        """Tag the jobs that this thread starts; a tag of the Spark context covers RDD jobs too."""
        context = _context(session)
        if context is not None:
            context.addJobTag(tag)
        else:
            session.addTag(tag)

    def cancel(self, session: SparkSession, tag: str) -> None:
        """Cancel the jobs with this tag."""
        context = _context(session)
        if context is not None:
            context.cancelJobsWithTag(tag)
        else:
            session.interruptTag(tag)

    def release(self, session: SparkSession, tag: str) -> None:
        """Stop tagging the jobs of this thread."""
        try:
            context = _context(session)
            if context is not None:
                context.removeJobTag(tag)
            else:
                session.removeTag(tag)
        except Exception as error:  # noqa: BLE001 - the session may be gone
            _log.debug("the tag %s was not removed: %s", tag, error)

    def interrupted(self, session: SparkSession) -> None:
        """Close this thread's connection to the JVM; the next call opens another.

        A signal may have arrived while the thread waited for an answer. That answer arrives later,
        and would be taken for the answer of the next call.
        """
        # Spark Connect has no such connection, and without pinned threads a thread owns none.
        with suppress(Exception):
            _context(session)._gateway._gateway_client.get_thread_connection().close()

    def roll_back(self, session: SparkSession, step: RollbackStepsRow) -> None:
        """Execute a step of a rollback; see `omd.spark.lake.execute_rollback`."""
        from omd.spark.lake import execute_rollback

        execute_rollback(session, step)

    def roll_back_tables(self, run: ModuleRun, instances: Sequence[int]) -> None:
        """See `omd.spark.tables.roll_back`."""
        from omd.spark.tables import roll_back

        roll_back(run, instances)

    def join_files(
        self,
        run: ModuleRun,
        session: SparkSession,
        table: LakeTable,
        column: str,
        group: Group[DataFile],
    ) -> Rewritten[DataFile]:
        """See `omd.spark.tables.join`."""
        from omd.spark.tables import join

        return join(run, session, table, column, group)

    def join_delta_files(
        self,
        run: ModuleRun,
        session: SparkSession,
        code: str,
        table: Delta,
        column: str,
        group: Group[DeltaFile],
    ) -> tuple[int, int, list[DeltaFile]]:
        """See `omd.spark.delta.join`."""
        from omd.spark.delta import join

        return join(run, session, code, table, column, group)

    def window(self, run: ModuleRun, table: str) -> LoadWindow:
        """See `omd.lake.window.window`."""
        from omd.lake.window import window

        return window(run, table)

    def snapshot(self, dsn: str) -> HeldSnapshot:
        """See `omd.spark.snapshots.HeldSnapshot`, which is a connection to PostgreSQL."""
        from omd.spark.snapshots import HeldSnapshot

        return HeldSnapshot(dsn)

    def read(
        self, run: EngineBlock, session: SparkSession, table: str | None, **options: Any
    ) -> DataFrame:
        """See `omd.spark.read`."""
        from omd.spark.job import read

        return read(run, session, table, **options)

    def write(
        self, run: ModuleRun, df: DataFrame, table: str | None, **options: Any
    ) -> WriteResult:
        """See `omd.spark.write`."""
        from omd.spark.job import write

        return write(run, df, table, **options)

    def stamp(self, run: ModuleRun, df: DataFrame, **options: Any) -> DataFrame:
        """See `omd.spark.stamp`."""
        from omd.spark.job import stamp

        return stamp(run, df, **options)

    def session(
        self, master: str | None = None, *, is_brief: bool = False, quiet: bool = False
    ) -> SparkSession:
        """See `omd.spark.session`.

        Args:
            master: the master URL.
            is_brief: a new session has settings for a short life.
            quiet: what the JVM says at its start is not shown.
        """
        from omd.spark.sessions import quiet_session, session

        return (quiet_session if quiet else session)(master, SHORT_LIFE if is_brief else None)

    def step(
        self, connection: Connection, definition: TopicDefinitionRow, **options: Any
    ) -> StepOutcome:
        """See `omd.spark.lineage.step`."""
        from omd.spark.lineage import step

        return step(connection, definition, **options)

    def decide(self, connection: Connection, stage: str, **options: Any) -> DecisionOutcome:
        """See `omd.spark.decision.run.run`."""
        from omd.spark.decision.run import run

        return run(connection, stage, **options)

    def compile_checks(
        self,
        session: SparkSession,
        document: Mapping[str, Any],
        constraints: Iterable[DeliveryConstraintsRow],
    ) -> None:
        """See `omd.spark.delivery.checks.compile_checks`."""
        from omd.spark.delivery.checks import compile_checks

        compile_checks(session, document, constraints)

    def deliver(self, run: DeliveryRun) -> None:
        """See `omd.spark.delivery.run.deliver`."""
        from omd.spark.delivery.run import deliver

        deliver(run)

    def delivered_in(self, folder: str, spark: SparkSession | None) -> list[str]:
        """See `omd.spark.delivery.run.delivered_in`."""
        from omd.spark.delivery.run import delivered_in

        return delivered_in(folder, spark)

    def export(self, run: ExportRun) -> dict[str, Any]:
        """See `omd.spark.facts.export.export`."""
        from omd.spark.facts.export import export

        return export(run)

    def absolute(self, session: SparkSession, path: str) -> str:
        """See `omd.spark.hadoop.absolute`."""
        from omd.spark.hadoop import absolute

        return absolute(session, path)


def _context(session: SparkSession) -> Any:
    """Return the Spark context; a session of Spark Connect has none."""
    return getattr(session, "sparkContext", None)


engine = SparkEngine()
