"""A run of a Module of any kind, and of a Batch of them (docs/explanation/jobs.md, rule J1).

The database performs what it can, and says what needs a worker; that is performed here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from omd._core.cost import measured
from omd._core.engines import SPARK
from omd._core.errors import CallerError, ConnectionFailed, one_line
from omd._core.functions import function_named
from omd.doors import arrivals
from omd.doors.outcomes import with_facts
from omd.doors.rooms import Doors
from omd.rooms.control.blocks import Blocks
from omd.rooms.control.calls import ControlCalls
from omd.rooms.control.codes import ExecutionStatus
from omd.rooms.control.connection import called
from omd.rooms.control.death import await_turn, who_runs
from omd.rooms.control.errors import (
    BatchSkipped,
    MembersFailed,
    NeedsWorker,
    NotStarted,
)
from omd.rooms.control.outcome import Outcome
from omd.rooms.control.rows import BatchExecutionLogRow, BatchListRow
from omd.rooms.decision.rows import DecisionStageListRow
from omd.rooms.delivery.rows import ArrivalLocationsRow, DeliveryStateRow
from omd.rooms.facts.rows import FactsExportsRow
from omd.rooms.lineage.rows import LineageTopicsRow
from omd.rooms.provenance.rows import RecallReturnsRow

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

    from omd.rooms.control.rows import BatchMembersRow, ModuleDefinitionRow
    from omd.rooms.control.run import Batch

_WAIT = timedelta(seconds=10)  # so long a delivery may keep its worker before it begins
_REASON = re.compile(r"[A-Z][A-Z_]+")  # a code of omd.reason
# A status that this client does not know is a failure.
_NOT_FAILED = (ExecutionStatus.SUCCEEDED, ExecutionStatus.CANCELLED, ExecutionStatus.ABORTED)


class Performing(Blocks, Doors):
    """A connection that performs Modules of every kind, and Batches of them."""

    def perform(
        self,
        code: str,
        spark: SparkSession | None = None,
        *,
        session: Callable[[], Any] | None = None,
        batch: Batch[Any] | int | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> Outcome[Any]:
        """Run a Module, whatever its kind, and wait for its end.

        Args:
            code: the code of the Module.
            spark: the session of a run on Spark; by default that of the control, or the active one,
                or a new one.
            session: makes a session where there is none; it is called when one is needed.
            batch: the Batch, or the Batch Instance ID, that it is part of.
            context: values to add to the execution context.

        Raises:
            NeedsWorker: it has neither SQL nor a job.
            KindOfRoom: it never runs on its own.
            ConnectionFailed: the database can't be reached.
        """
        if not self.permitted.sql:
            return self._perform_without_sql(code, spark, session, batch, context)
        instance = _instance_of(batch)
        await_turn(self, self.wait, module_code=code, batch_instance_id=instance)
        try:
            with self.long_call() as link, measured(link) as performed:
                ran = ControlCalls(link).run_module(
                    code,
                    batch_instance_id=instance,
                    execution_context=called(link, context),
                )
                performed("MODULE", ran.module_instance_id)
            status, detail = ran.execution_status_code, ran.detail
            reason = detail if detail and _REASON.fullmatch(detail) else None
            if detail == "RUNNING":
                detail = who_runs(self, module_code=code) or detail
            kind = self.module_definition(code).module_kind_code
            done: Outcome[Any] = Outcome(kind, code, ran.module_instance_id, status, reason, detail)
            return with_facts(self, done)
        except NeedsWorker:
            module = self.module_definition(code)
            work = _work_of(module)
            if work is None:
                raise
        return work(
            _Run(self, code, module.module_kind_code, module.job, spark, session, batch, context)
        )

    def _perform_without_sql(
        self,
        code: str,
        spark: SparkSession | None,
        session: Callable[[], Any] | None,
        batch: Batch[Any] | int | None,
        context: Mapping[str, Any] | None,
    ) -> Outcome[Any]:
        """Run a Module that the database does not perform; refuse any other."""
        module = self.module_definition(code)
        work = _work_of(module)
        if work is None or module.engine_code != SPARK:
            self.permitted.require_sql(f"Module {code}")
        assert work is not None  # noqa: S101 - it is refused above
        return work(
            _Run(self, code, module.module_kind_code, module.job, spark, session, batch, context)
        )

    def perform_batch(
        self,
        code: str,
        spark: SparkSession | None = None,
        *,
        session: Callable[[], Any] | None = None,
        parent: Batch[Any] | None = None,
        force: bool = False,
        context: Mapping[str, Any] | None = None,
    ) -> Outcome[Any]:
        """Run a Batch with members of any kind, and wait for its end.

        The members run one after the other: Modules by sequence, then child Batches.

        Args:
            code: the code of the Batch.
            spark: the session of runs on Spark; by default that of the control, or the active one,
                or a new one.
            session: makes a session where there is none; it is called when one is needed.
            parent: the Batch that it is part of.
            force: run although the frequency says that it is too early.
            context: values to add to the execution context.

        Raises:
            UnknownBatch: no Batch has this code.
            ConnectionFailed: the database can't be reached.
        """
        if self.permitted.sql:
            await_turn(self, self.wait, batch_code=code, batch_instance_id=_instance_of(parent))
            try:
                with self.long_call() as link, measured(link) as performed:
                    ran = ControlCalls(link).run_batch(
                        code,
                        parent_batch_instance_id=_instance_of(parent),
                        force=force or None,
                        execution_context=called(link, context),
                    )
                    performed("BATCH", ran.batch_instance_id)
                status = ran.execution_status_code
                aborted = status is ExecutionStatus.ABORTED
                detail = who_runs(self, batch_code=code) if aborted else None
                reason = self._reason_of(ran.batch_instance_id)
                return Outcome("BATCH", code, ran.batch_instance_id, status, reason, detail)
            except NeedsWorker:
                pass
        (row,) = self.report(BatchListRow, batch_code=code)
        block = (
            self.batch(code, force=force, context=context)
            if parent is None
            else parent.batch(code, force=force, context=context)
        )
        failed: list[str] = []
        try:
            with block:
                for member in self.batch_members(code):
                    failed += self._perform_member(member, block, spark, session, force)
                    if failed and not row.continue_on_failure:
                        break
                _require_none(failed)
        except NotStarted as error:
            skipped = isinstance(error, BatchSkipped)
            status = ExecutionStatus.CANCELLED if skipped else ExecutionStatus.ABORTED
            detail = one_line(error) if block.reason == "RUNNING" else block.reason
            instance = block.batch_instance_id
            return Outcome("BATCH", code, instance, status, block.reason, detail, error=error)
        except ConnectionFailed:
            raise
        except Exception as error:
            if not block._began:
                raise
            detail = "; ".join(failed) if isinstance(error, MembersFailed) else one_line(error)
            instance, status = block.batch_instance_id, ExecutionStatus.FAILED
            return Outcome("BATCH", code, instance, status, None, detail, error=error)
        return Outcome("BATCH", code, block.batch_instance_id, ExecutionStatus.SUCCEEDED)

    def _reason_of(self, batch_instance_id: int) -> str | None:
        """Return why a Batch was skipped or aborted."""
        [run] = self.report(BatchExecutionLogRow, batch_instance_id=batch_instance_id)
        return run.reason_code

    def _perform_member(
        self,
        member: BatchMembersRow,
        batch: Batch[Any],
        spark: SparkSession | None,
        session: Callable[[], Any] | None,
        force: bool,
    ) -> list[str]:
        """Perform a member of a Batch; return what the Batch says of its failure."""
        name = f"{member.member_type.capitalize()} {member.member_code} failed"
        try:
            if member.member_type == "BATCH":
                done = self.perform_batch(
                    member.member_code, spark, session=session, parent=batch, force=force
                )
            else:
                done = self.perform(member.member_code, spark, session=session, batch=batch)
        except ConnectionFailed:
            raise
        except Exception as error:  # noqa: BLE001 - it could not begin, which fails the Batch
            code = getattr(error, "sqlstate", None)
            return [f"{name}: {one_line(error)} ({code})" if code else name]
        return [] if done.status in _NOT_FAILED else [name]


# What a worker does, by kind ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Run:
    """A run that the database does not perform."""

    control: Performing
    code: str
    kind: str
    job: str | None
    spark: SparkSession | None
    session: Callable[[], Any] | None
    batch: Batch[Any] | int | None
    context: Mapping[str, Any] | None

    def ready_session(self) -> Any:
        """Return the session that the caller has or makes; None: whoever needs one makes it."""
        if self.spark is None and self.control.spark is None and self.session is not None:
            return self.session()
        return self.spark

    def nothing(self, detail: str = "there is nothing to do") -> Outcome[Any]:
        return Outcome(self.kind, self.code, None, ExecutionStatus.CANCELLED, None, detail)

    @property
    def agreement(self) -> str:
        return self.code.partition(".")[2]


def _call_job(run: _Run) -> Outcome[Any]:
    """Call the function of a Module inside the Module."""
    job = function_named(run.job or "", run.control.permitted)
    options = {"spark": run.ready_session(), "context": run.context}
    if run.batch is None or isinstance(run.batch, int):
        # It is no part of the Batch that the environment may name.
        outcome = run.control.run(run.code, job, batch_instance_id=run.batch or 0, **options)
    else:
        outcome = run.batch.run(run.code, job, **options)
    return outcome


def _step(run: _Run) -> Outcome[Any]:
    """Take steps of a topic on Spark: one, or in a Batch until no block is full."""
    lineage = run.control.lineage
    (row,) = run.control.report(LineageTopicsRow, module_code=run.code)
    last = None
    while True:
        outcome = lineage.step(
            row.topic, spark=run.spark, session=run.session, batch=run.batch, context=run.context
        )
        if last is not None and outcome.status in ("C", "A"):
            return last  # what was there is done
        last = replace(outcome, code=run.code)
        if run.batch is None or not last.succeeded or not _is_full(run.control, row.topic):
            return last


def _is_full(control: Performing, topic: str) -> bool:
    return any(row.reason == "FULL" for row in control.lineage.ready_list(topic))


def _run_stage(run: _Run) -> Outcome[Any]:
    (row,) = run.control.report(DecisionStageListRow, module_code=run.code)
    outcome = run.control.decision.run(
        row.stage_code, engine=SPARK, spark=run.ready_session(), batch=run.batch
    )
    return replace(outcome, code=run.code)


def _export(run: _Run) -> Outcome[Any]:
    """Run the export that is due, or the oldest that was ordered and not published."""
    facts = run.control.facts
    delivery_id = facts.due_export(run.agreement)
    if delivery_id is None:
        exports = facts.report(
            FactsExportsRow,
            agreement_code=run.agreement,
            delivery_status="RECEIVED",
            order_by=["delivery_id"],
            limit=1,
        )
        if not exports:
            return run.nothing()
        delivery_id = exports[0].delivery_id
    outcome = facts.resume_export(
        delivery_id,
        spark=run.ready_session(),
        batch_instance_id=_instance_of(run.batch),
        context=run.context,
    )
    return replace(outcome, code=run.code)


def _deliver(run: _Run) -> Outcome[Any]:
    """Deliver what comes again after a recall, else the oldest folder that has arrived."""
    returns = run.control.report(RecallReturnsRow, module_kind_code="DELIVERY", code=run.agreement)
    if any(r.return_status in ("DUE", "RUNNING") for r in returns):
        done = _redeliver(run)
        if done is not None:
            return done
    if not run.control.report(ArrivalLocationsRow, agreement_code=run.agreement):
        return _deliver_by_hand(run)
    return _delivered(
        run,
        arrivals.perform(run.control, run.ready_session(), run.agreement, wait=_WAIT),
    )


def _delivered(run: _Run, outcome: Outcome[Any] | None) -> Outcome[Any]:
    return run.nothing() if outcome is None else replace(outcome, code=run.code)


def _redeliver(run: _Run) -> Outcome[Any] | None:
    """Deliver again from its recorded files what a recall took back, where these are unchanged."""
    control = run.control
    taken = control.delivery.take_arrival(run.agreement)
    returns = control.report(RecallReturnsRow, delivery_id=taken.delivery_id or 0)
    if not returns or taken.folder is not None:
        return None
    recall_id = returns[0].recall_id
    answer = control.provenance.redeliver(recall_id, delivery_id=taken.delivery_id)
    if answer.outcome != "RUN":
        return None  # its tenant brings it
    roots = {file["entity"]: file["root"] for file in _list_of(answer.files)}
    session = run.ready_session() or control.spark
    session = session or control.engines[SPARK].active() or control.engines[SPARK].session()
    seen = control.engines[SPARK].files_at(roots, session)
    answer = control.provenance.redeliver(recall_id, delivery_id=taken.delivery_id, files=seen)
    if answer.outcome != "RUN":
        problem = "its files are gone or have changed: its tenant must deliver it"
        return run.nothing(problem)
    return _delivered(
        run,
        control.delivery.deliver(
            delivery_id=taken.delivery_id, entities=roots, spark=session, wait=_WAIT
        ),
    )


def _list_of(document: Any) -> list[Any]:
    return document if isinstance(document, list) else []


def _deliver_by_hand(run: _Run) -> Outcome[Any]:
    """Say what a delivery needs of which nobody knows where its data is."""
    deliveries = run.control.report(
        DeliveryStateRow, agreement_code=run.agreement, order_by=["delivery_id"], limit=1
    )
    if not deliveries:
        return run.nothing()
    raise CallerError(
        f"nothing says where the data of delivery {deliveries[0].delivery_id} is",
        hint=f"control.deliver(delivery_id={deliveries[0].delivery_id}, files='folder/')",
    )


_WORK: dict[str, Callable[[_Run], Outcome[Any]]] = {
    "TOPIC": _step,
    "STAGE": _run_stage,
    "EXPORT": _export,
    "DELIVERY": _deliver,
}


def _work_of(module: ModuleDefinitionRow) -> Callable[[_Run], Outcome[Any]] | None:
    """Return what a worker does for a Module; None: no worker performs it.

    A program has another kind in the database of a former version, so its job says that it is one.
    """
    return _WORK.get(module.module_kind_code) if module.job is None else _call_job


def _require_none(failed: list[str]) -> None:
    if failed:
        raise MembersFailed("\n".join(failed))


def _instance_of(batch: Batch[Any] | int | None) -> int | None:
    return batch if batch is None or isinstance(batch, int) else batch.batch_instance_id
