"""A run of an export (docs/explanation/facts.md): `Exports` begins it, its engine writes the files.

The database fixes the moment, the queries and the folders, and knows which run is the newest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from types import EllipsisType
from typing import TYPE_CHECKING, Any

from omd._core.engines import SPARK
from omd._core.error_codes import ExportEnded
from omd._core.errors import Aborted, ConnectionFailed, NotStarted, Skipped, one_line
from omd.rooms.control.codes import ProcessingIndicator, Status
from omd.rooms.control.connection import Connection, Door
from omd.rooms.control.outcome import Outcome, status_of, status_unbegun
from omd.rooms.control.rows import BeginModuleAnswer
from omd.rooms.control.run import Run
from omd.rooms.facts.calls import FactsCalls
from omd.rooms.facts.rows import FactsExportsRow

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Exports(Door):
    """The methods of the room facts that export facts as files."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._calls = FactsCalls(self._link)

    def export(
        self,
        agreement_code: str,
        target: str,
        *,
        entities: Sequence[str] | None = None,
        mode: str | None = None,
        as_of: datetime | None = None,
        options: Mapping[str, Any] | None = None,
        spark: SparkSession | None = None,
        lease: timedelta | EllipsisType | None = ...,
    ) -> Outcome[None]:
        """Export facts as Parquet files; the facts of the outcome have what was published.

        A failure is returned as data, and so is that another export of the agreement runs.

        Args:
            agreement_code: the EXPORT agreement.
            target: the folder, a local path or a URI that pyarrow and Spark reach.
            entities: the entities; by default all of the agreement.
            mode: FULL, all rows (the default), or CHANGES, the net changes since the newest export
                of the agreement.
            as_of: the moment; by default the traveling now.
            options: ``max_concurrent_entities``, ``partitions``, ``compression``.
            spark: the session; by default that of the control, or the active one, or a new one.
            lease: a lease other than that of the control; None for none.

        Raises:
            InvalidExport: an argument is refused, or nothing is persisted.
        """
        if target.strip():
            engine = self._control._engines[SPARK]
            spark = spark or self._control._spark or engine.active() or engine.session()
            target = engine.absolute(target)
        delivery_id = self._calls.create_export(
            agreement_code,
            target,
            entities=None if entities is None else list(entities),
            mode=mode,
            as_of=as_of,
            options=None if options is None else dict(options),
        )
        return self._resume_export(delivery_id, spark=spark, lease=lease)

    def _perform_export(
        self,
        agreement_code: str,
        *,
        spark: SparkSession | None = None,
        lease: timedelta | EllipsisType | None = ...,
    ) -> Outcome[None] | None:
        """Perform the export that is due under an agreement; return None when there is none.

        One that was begun and not ended goes on. Another one is created when the facts have changed
        since the last one, and as the option ``export`` of the agreement says.

        Args:
            agreement_code: the EXPORT agreement.
            spark: the session; by default that of the control, or the active one, or a new one.
            lease: a lease other than that of the control; None for none.
        """
        delivery_id = self._calls.due_export(agreement_code)
        if delivery_id is None:
            return None
        return self._resume_export(delivery_id, spark=spark, lease=lease)

    def _resume_export(
        self,
        delivery_id: int,
        *,
        spark: SparkSession | None = None,
        lease: timedelta | EllipsisType | None = ...,
        batch_instance_id: int | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> Outcome[None]:
        """Run an export that was created, or whose run has failed, to its end.

        The rows are those of the first run. What was published is not written again.

        Args:
            delivery_id: the export.
            spark: the session; by default that of the control, or the active one, or a new one.
            lease: a lease other than that of the control; None for none.
            batch_instance_id: the Batch Instance that its run is part of; None for none.
            context: values to add to the execution context.

        Raises:
            ExportEnded: it was cancelled before.
        """
        run = ExportRun(
            self._control,
            self._calls,
            delivery_id,
            batch_instance_id,
            lease=lease,
            context=context,
            spark=spark,
        )
        return run.export()


class ExportRun(Run):
    """One attempt at an export, as a block."""

    _kind = "export"
    _may_be_fenced = False

    def __init__(
        self,
        connection: Connection,
        calls: FactsCalls,
        delivery_id: int,
        batch_instance_id: int | None,
        *,
        lease: timedelta | EllipsisType | None,
        context: Mapping[str, Any] | None,
        spark: SparkSession | None,
    ) -> None:
        super().__init__(
            connection,
            "",  # the begin says it
            batch_instance_id=batch_instance_id,
            lease=lease,
            context=context,
            spark=spark,
        )
        self.calls = calls
        self.delivery_id = delivery_id  # the export
        self.attempt = 0  # its number; 0 before the begin
        # What it writes, as ``omd_facts.begin_export`` returns it.
        self.plan: list[dict[str, Any]] = []
        self.options: dict[str, Any] = {}  # the options of the export
        self.head: dict[str, Any] = {}  # what the manifest says of the export
        self.folder = ""  # the folder of the export
        self.manifest: dict[str, Any] = {}  # what was published

    def export(self) -> Outcome[None]:
        """Run it to its end; what was published before is not written again."""
        try:
            with self:
                self.work()
        except ConnectionFailed:
            raise
        except NotStarted as refusal:
            return self.outcome(status_unbegun(refusal), refusal)
        except Exception as error:
            if self.attempt:
                return self.outcome(status_of(error), error)
            rows = self.calls.report(FactsExportsRow, delivery_id=self.delivery_id)
            if not isinstance(error, ExportEnded) or rows[0].manifest is None:
                raise
            self.manifest, self._code = rows[0].manifest, rows[0].agreement_code
            self._instance_id = rows[0].module_instance_id or 0
        return self.outcome(Status.SUCCEEDED)

    def work(self) -> None:
        """Write and publish the files on the engine."""
        self.manifest = self._reads.engine.export(self)

    def fence(self) -> None:
        """Raise when this run must write nothing more."""
        self.check()
        self._control._omd.fence(self.instance_id)

    def outcome(self, status: Status, error: Exception | None = None) -> Outcome[None]:
        """Return what became of it."""
        facts: dict[str, Any] = {"delivery_id": self.delivery_id}
        if status is Status.SUCCEEDED:
            rows = sum(entity["rows"] for entity in self.manifest["entities"])
            facts |= {"manifest": self.manifest, "rows": rows}
        return Outcome(
            "EXPORT",
            (self._code or "").removeprefix("export."),
            self.instance_id or None,
            status,
            getattr(error, "reason", None),
            None if error is None else one_line(error),
            error=error,
            facts=facts,
        )

    def __str__(self) -> str:
        return str(self.delivery_id)

    def _measures(self) -> dict[str, Any]:
        return {
            "delivery_id": self.delivery_id,
            "module_instance_id": self.instance_id or None,
            "batch_instance_id": self._batch_instance_id or None,
            "attempt": self.attempt or None,
        }

    def _record_read(self, *_: object) -> None:
        """Record nothing: the export has declared what it reads."""

    def _await_turn(self) -> None:
        """Wait for nobody: the database knows which run of an export is the newest."""

    def _ask(self, execution_context: dict[str, Any]) -> BeginModuleAnswer:
        answer = self.calls.begin_export(
            self.delivery_id,
            lease=self._lease.length,
            batch_instance_id=self._batch_instance_id or None,
            execution_context=execution_context,
        )
        self._instance_id = answer.module_instance_id
        (export,) = self.calls.report(FactsExportsRow, delivery_id=self.delivery_id)
        self._code = self._module_code = f"export.{export.agreement_code}"
        indicator = answer.processing_indicator
        if answer.attempt is None:
            refusal = Skipped if indicator is ProcessingIndicator.CANCEL else Aborted
            raise refusal(self._code, self.instance_id, None, kind="module")
        if indicator is not ProcessingIndicator.PROCEED:
            self._refuse_indicator(indicator, Aborted, self._control._omd.module_abort)
        self.attempt = answer.attempt
        plan: Any = answer.plan  # a list; JSON is typed as an object
        self.plan = list(plan)
        self.options = dict(export.options)
        self.folder = self.plan[0]["folder"].rpartition("/_attempt=")[0]
        self.head = {
            "delivery_id": self.delivery_id,
            "agreement_code": export.agreement_code,
            "interface_code": export.interface_code,
            "mode": export.export_mode,
            "as_of": export.as_of.astimezone(timezone.utc).isoformat(),
            "module_instance_id": self.instance_id,
            "attempt": self.attempt,
        }
        return BeginModuleAnswer(self.instance_id, indicator, [], None)

    def _succeed(self) -> None:
        self._lease.stop()
        self.calls.finish_export(self.delivery_id, self.instance_id, self.manifest)
