"""A step on Spark as a block, and a step in the database (docs/explanation/lineage.md, rule L8)."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Mapping
from datetime import timedelta
from types import EllipsisType
from typing import TYPE_CHECKING, Any

import psycopg

from omd._core.errors import Aborted, Skipped, one_line, recorded_instance
from omd._core.link import Link
from omd.rooms.control.codes import Status
from omd.rooms.control.connection import C
from omd.rooms.control.outcome import Outcome, status_of
from omd.rooms.control.reads import LoadWindow
from omd.rooms.control.rows import BeginModuleAnswer
from omd.rooms.control.run import Batch, Run
from omd.rooms.lineage.calls import LineageCalls
from omd.rooms.lineage.codes import StepResult

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from omd.rooms.lineage.rows import BeginStepAnswer, TopicDefinitionRow

KIND = "TOPIC"


_NOTHING_TO_DO = (StepResult.NOJOBS, StepResult.SKIPPED)


class StepRun(Run[C]):
    """A step on Spark as a block: its success moves the offset, its failure keeps the block.

    Like `Run`, it has a lease, handles signals, rolls back, and counts and stamps rows.

    Attributes:
        topic: the topic of the step.
        definition: the registered definition of the topic.
        begun: the answer of the database to the begin; None before.
        nulls: for each column written, how many rows had a NULL.
    """

    _kind = "step"
    _kind_code = KIND
    _may_be_fenced = False
    _span_name = "step"

    def __init__(
        self,
        connection: C,
        definition: TopicDefinitionRow,
        *,
        spark: SparkSession | None = None,
        session: Callable[[], Any] | None = None,
        lease: timedelta | EllipsisType | None = ...,
        rollback_executor: Callable[[str], object] | None = None,
        context: Mapping[str, Any] | None = None,
        batch: Batch[Any] | int | None = None,
    ) -> None:
        super().__init__(
            connection,
            definition.topic,
            batch=batch if isinstance(batch, Batch) else None,
            batch_instance_id=None if isinstance(batch, Batch) else batch,
            lease=lease,
            spark=spark,
            rollback_executor=rollback_executor,
            context=context,
        )
        self.topic = definition.topic
        self.definition = definition
        self._module_code = definition.module_code or definition.topic
        self.begun: BeginStepAnswer | None = None
        self.nulls: dict[str, int] = {}
        self._calls = LineageCalls(connection._link)
        self._session = session

    def _ask(self, execution_context: dict[str, Any]) -> BeginModuleAnswer:
        begun = self.begun = self._calls.begin_step(
            self.topic,
            hostid=hostid(),
            lease=self._lease.length,
            execution_context={**execution_context, "platform": "spark"},
            batch_instance_id=self._batch_instance_id or None,
        )
        self._instance_id = begun.module_instance_id or 0
        if begun.outcome is not StepResult.RUN:
            refusal = Skipped if begun.outcome in _NOTHING_TO_DO else Aborted
            raise refusal(self.topic, self._instance_id, str(begun.outcome), kind="step of")
        if self.definition.source_code is not None:
            self._reads.block = self._block_of(self.definition.source_code, begun)
        if self.definition.pos_column:
            self._reads.window = LoadWindow(
                begun.start_pos, begun.start_id, begun.end_pos, begun.end_id
            )
        else:
            self._reads.window = LoadWindow(None, begun.start_id, None, begun.end_id)
        return BeginModuleAnswer(
            self._instance_id,
            begun.processing_indicator,  # type: ignore[arg-type] # None is refused as unknown
            begun.instance_array or [],
            begun.reason,
        )

    def _record_read(
        self,
        table: str | None,
        query: str | None,
        window: bool | str | tuple[str | None, str | None] | None,
    ) -> None:
        """Record what lies beyond the block, which the topic has declared."""
        if not window and not (
            self._reads.block is not None and (table or "").startswith("changes_")
        ):
            super()._record_read(table, query, window)

    def _block_of(self, source_code: str, begun: BeginStepAnswer) -> str:
        """Return the block of changes that all reads of this step show."""
        if self.definition.processor == "RELOAD":  # all rows as of its end, and none of it alone
            return json.dumps([source_code, None, begun.end_id, begun.end_id])
        pos = None if begun.start_pos is None else begun.start_pos.isoformat()
        return json.dumps([source_code, pos, begun.start_id, begun.end_id])

    def _prepare(self) -> None:
        # Spark is started only after the begin: its start takes seconds, and most begins find that
        # another process holds the topic.
        if self._reads.spark is None and self._session is not None:
            self._reads.spark = self._session()
        super()._prepare()

    def _report_success(self, link: Link) -> None:
        assert self.begun is not None  # noqa: S101 - an open step has begun
        LineageCalls(link).commit_step(
            self._instance_id,
            self.begun.plan_number or 0,
            rows_inserted=self._rows.get("rows_inserted", 0),
            nulls=self.nulls,
            query_id=self._query_id(),
        )

    def _query_id(self) -> str:
        """Return how Spark names the jobs of this step, in its log and in its history server."""
        context = {} if self._reads.spark is None else self._reads.engine.context(self._reads.spark)
        application: str | None = context.get("application_id")
        return f"{application}, tag {self._tag}" if application else f"tag {self._tag}"

    def _fail(self, detail: str, name: str) -> None:
        self._calls.fail_step(
            self._instance_id, event_detail=detail, event_return_code_details=name
        )


def hostid() -> str:
    """Return the name under which this process holds topics."""
    return f"{socket.gethostname()}:{os.getpid()}"


def step_in_database(link: Link, topic: str) -> Outcome[None]:
    """Run a step over a connection that nobody else uses; one that was cancelled has failed."""
    try:
        answer = LineageCalls(link).step(topic, hostid=hostid())
    except psycopg.errors.QueryCanceled as error:
        return failed(topic, recorded_instance(error), error)
    done = answer.outcome is StepResult.DONE
    return Outcome(
        KIND,
        topic,
        answer.module_instance_id,
        answer.execution_status_code,
        None if done else str(answer.outcome),
        answer.detail,
        facts={"rows": answer.rows} if done else {},
    )


def failed(topic: str, instance: int | None, error: Exception) -> Outcome[None]:
    """Return the outcome of a step whose failure was raised in this process."""
    status = status_of(error)
    reason = "ERROR" if status is Status.FAILED else "ABORTED"
    return Outcome(KIND, topic, instance, status, reason, one_line(error), error=error)


def in_words(outcome: Outcome[None]) -> str:
    """Return the outcome of a step in one line, for people."""
    line = f"{outcome.code}: {outcome.reason or StepResult.DONE}"
    rows = outcome.facts.get("rows")
    if rows is not None:
        line += f", {rows} row{'' if rows == 1 else 's'}"
    if outcome.instance_id:
        line += f" (instance {outcome.instance_id})"
    return f"{line}: {outcome.detail}" if outcome.detail else line
