"""A run of a stage on Spark as a block (docs/explanation/decision.md, rule C10)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, NoReturn

from omd.rooms.control.codes import ProcessingIndicator
from omd.rooms.control.connection import Connection
from omd.rooms.control.rows import BeginModuleAnswer, TraceRow
from omd.rooms.control.run import Batch, Run
from omd.rooms.decision.calls import DecisionCalls
from omd.rooms.decision.run import raise_error

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class StageRun(Run):
    """A run of a stage on Spark as a block.

    Like `Run`, it has a lease, handles signals and rolls back. Its success writes the counts.
    """

    _kind = "stage"
    _kind_code = "STAGE"
    _may_be_fenced = False

    def __init__(
        self,
        connection: Connection,
        stage: str,
        *,
        spark: SparkSession | None = None,
        links: Mapping[str, DataFrame] | None = None,
        batch: Batch | int | None = None,
        end_value: datetime | None = None,
        end_id: int | None = None,
        effective_at: datetime | None = None,
        parallelism: int | None = None,
    ) -> None:
        self.links = dict(links or {})  # DataFrames instead of the sources of links
        if spark is None and self.links:
            spark = next(iter(self.links.values())).sparkSession
        super().__init__(
            connection,
            stage,
            batch=batch if isinstance(batch, Batch) else None,
            batch_instance_id=None if isinstance(batch, Batch) else batch,
            spark=spark,
        )
        self.calls = DecisionCalls(connection._link)  # the routines of the room
        self.stage = stage  # the stage
        # Into how many partitions the records are cut; None: as Spark does.
        self.parallelism = parallelism
        self.definition: dict[str, Any] = {}  # the document of the stage that the run has pinned
        self.ruleset: dict[str, Any] = {}  # the version of the ruleset that it has pinned
        self.counts: dict[str, Any] = {}  # what success reports
        self._end_value = end_value
        self._end_id = end_id
        self._effective_at = effective_at

    def _record_read(
        self,
        table: str | None,
        query: str | None,
        window: bool | str | tuple[str | None, str | None] | None,
    ) -> None:
        """Record nothing: the stage has declared what its links read."""

    def refuse(self, sqlstate: str, **detail: Any) -> NoReturn:
        """Raise an error of the catalogue, with the text that the database has for it."""
        raise_error(self.calls, sqlstate, {"stage_code": self.stage, **detail})

    def window_of_run(self) -> tuple[datetime | None, datetime | None]:
        """Return the start (exclusive) and the end (inclusive) of the window of this run."""
        [trace] = self._control.report(TraceRow, module_instance_id=self._instance_id)
        return trace.window_start_value, trace.window_end_value

    def _ask(self, execution_context: dict[str, Any]) -> BeginModuleAnswer:
        begun = self.calls.begin_stage(
            self.stage,
            batch_instance_id=self._batch_instance_id or None,
            execution_context={**execution_context, "platform": "spark"},
            lease=self._lease.length,
            end_value=self._end_value,
            effective_at=self._effective_at,
            end_id=self._end_id,
        )
        if begun.processing_indicator is ProcessingIndicator.PROCEED:
            assert begun.definition is not None  # noqa: S101 - the run proceeds
            assert begun.ruleset is not None  # noqa: S101
            self.definition, self.ruleset = begun.definition, begun.ruleset
            # Every read shows the block that the begin has fixed, in a snapshot taken after it.
            self._reads.block = None if begun.block is None else json.dumps(begun.block)
            self._module_code = self.definition["module"]["module_code"]
        return BeginModuleAnswer(
            begun.module_instance_id or 0,  # there was nothing to decide
            begun.processing_indicator,
            begun.instance_array or [],
            begun.reason,
        )

    def _prepare(self) -> None:
        # Spark is started only after the begin: many begins find that another run is at work.
        if self._reads.spark is None:
            self._reads.spark = self._reads.engine.session(quiet=True)
        super()._prepare()

    def _succeed(self) -> None:
        self._lease.stop()
        self.calls.commit_stage(self._instance_id, self.counts)

    def _fail(self, detail: str, name: str) -> None:
        self.calls.fail_stage(
            self._instance_id, event_detail=detail, event_return_code_details=name
        )
