"""The engine SPARK: the methods of `omd._core.engines.Engine`.

Nothing of Spark is imported before it is needed: a run that has its own session and moves its rows
itself needs only that session.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from omd._core.engines import SPARK, Engine
from omd._core.lazy import forwarded

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

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
        application = session.conf.get("spark.app.id", None)
        return context if application is None else {**context, "application_id": application}

    attach = forwarded("omd.spark.sessions.tag_jobs")

    def hand_on(self, session: SparkSession, parent: Callable[[], str | None]) -> None:
        """Set the parent for the listener of OpenLineage, where the session has it."""
        listeners = session.conf.get("spark.extraListeners", None) or ""
        if "openlineage" not in listeners.lower():
            return
        namespace, _, rest = (parent() or "").partition("/")
        name, _, run_id = rest.rpartition("/")
        for key, value in (("JobNamespace", namespace), ("JobName", name), ("RunId", run_id)):
            session.conf.set(f"spark.openlineage.parent{key}", value)

    cancel = forwarded("omd.spark.sessions.cancel_jobs")

    def release(self, session: SparkSession, tag: str) -> None:
        """Stop tagging the jobs of this thread."""
        from omd.spark.sessions import untag_jobs

        try:
            untag_jobs(session, tag)
        except Exception as error:  # noqa: BLE001 - the session may be gone
            _log.debug("the tag %s was not removed: %s", tag, error)

    interrupted = forwarded("omd.spark.sessions.forget_answer")

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

    renew = forwarded("omd.spark.sessions.renew")

    # The rows of a run
    snapshot = forwarded("omd.spark.snapshots.HeldSnapshot")  # a connection to PostgreSQL
    read = forwarded("omd.spark.job.read")
    stamp = forwarded("omd.spark.job.stamp")
    write = forwarded("omd.spark.job.write")
    window = forwarded("omd.tables.window.window")
    roll_back = forwarded("omd.spark.lake.execute_rollback")
    roll_back_tables = forwarded("omd.spark.tables.roll_back")
    rewrite_files = forwarded("omd.spark.tables.rewrite")

    # What rooms run on it
    step = forwarded("omd.spark.lineage.step")
    decide = forwarded("omd.spark.decision.run.run")
    compile_checks = forwarded("omd.spark.delivery.checks.compile_checks")
    reserve = forwarded("omd.spark.delivery.staging.session.reserve")
    deliver = forwarded("omd.spark.delivery.run.deliver")
    delivered_in = forwarded("omd.spark.delivery.run.delivered_in")
    files_at = forwarded("omd.spark.delivery.staging.files.files_at")
    folders = forwarded("omd.spark.delivery.arrivals.RemoteFolders")
    export = forwarded("omd.spark.facts.export.export")
    absolute = forwarded("omd.spark.folders.absolute")
    join_files = forwarded("omd.spark.tables.join")
    forget = forwarded("omd.spark.erasure.forget")
    join_delta_files = forwarded("omd.spark.delta.join")


engine = SparkEngine()
