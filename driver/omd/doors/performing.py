"""A run of a Module of any kind, and of a Batch of them (docs/explanation/jobs.md, rule J2).

The database says what is next (`omd.next_act`, `omd.next_member`) and performs what it can.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from omd._core.cost import measured
from omd._core.engines import SPARK
from omd._core.error_codes import MembersFailed, NeedsWorker
from omd._core.errors import CallerError, ConnectionFailed, NotStarted, OmdError, Skipped, one_line
from omd.doors.acts import ACTS, Act, Connected
from omd.doors.outcomes import with_facts
from omd.rooms.control.calls import ControlCalls
from omd.rooms.control.codes import ExecutionStatus
from omd.rooms.control.connection import called
from omd.rooms.control.death import await_turn, who_runs
from omd.rooms.control.outcome import Outcome
from omd.rooms.control.rows import BatchExecutionLogRow

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

    from omd.rooms.control.rows import NextMemberRow
    from omd.rooms.control.run import Batch

# A status that this client does not know is a failure.
_NOT_FAILED = (ExecutionStatus.SUCCEEDED, ExecutionStatus.CANCELLED, ExecutionStatus.ABORTED)


class Performing(Connected):
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
        needs: OmdError | None = None
        if self.permitted.sql:
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
                kind = self.module_definition(code).module_kind_code
                return with_facts(
                    self,
                    Outcome(
                        kind,
                        code,
                        ran.module_instance_id,
                        ran.execution_status_code,
                        _reason(ran.detail),
                        self._who(ran.detail, code),
                    ),
                )
            except NeedsWorker as error:
                needs = error
        next_ = ControlCalls(self._link).next_act(code)
        if next_.arguments["engine_code"] != SPARK and needs is None:
            self.permitted.require_sql(f"Module {code}")
        if next_.status is not None:
            status = ExecutionStatus(next_.status)
            kind, reason = next_.arguments["module_kind_code"], _reason(next_.detail)
            return Outcome(kind, code, None, status, reason, self._who(next_.detail, code))
        act = ACTS.get(next_.act)
        if act is None:
            if needs is not None and "hint" not in next_.arguments:
                raise needs
            raise CallerError(next_.detail or next_.act, hint=next_.arguments.get("hint"))
        return act(Act(self, code, next_.arguments, spark, session, batch, context))

    def _who(self, detail: str | None, code: str) -> str | None:
        """Return why it is not S, where it runs with who runs it."""
        return who_runs(self, module_code=code) or detail if detail == "RUNNING" else detail

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
                [run] = self.report(BatchExecutionLogRow, batch_instance_id=ran.batch_instance_id)
                return Outcome(
                    "BATCH", code, ran.batch_instance_id, status, run.reason_code, detail
                )
            except NeedsWorker:
                pass
        block = (
            self.batch(code, force=force, context=context)
            if parent is None
            else parent.batch(code, force=force, context=context)
        )
        try:
            with block:
                calls = ControlCalls(self._link)
                next_ = calls.next_member(block.batch_instance_id)
                while next_.act == "MEMBER":
                    problem = self._perform_member(next_, block, spark, session, force)
                    next_ = calls.next_member(
                        block.batch_instance_id,
                        member_type=next_.member_type,
                        member_code=next_.member_code,
                        problem=problem,
                    )
                _require_none(next_.detail)
        except NotStarted as error:
            skipped = isinstance(error, Skipped)
            status = ExecutionStatus.CANCELLED if skipped else ExecutionStatus.ABORTED
            detail = one_line(error) if block.reason == "RUNNING" else block.reason
            instance = block.batch_instance_id
            return Outcome("BATCH", code, instance, status, block.reason, detail, error=error)
        except ConnectionFailed:
            raise
        except Exception as error:
            if not block._began:
                raise
            failed = isinstance(error, MembersFailed)
            detail = str(error).replace("\n", "; ") if failed else one_line(error)
            instance, status = block.batch_instance_id, ExecutionStatus.FAILED
            return Outcome("BATCH", code, instance, status, None, detail, error=error)
        return Outcome("BATCH", code, block.batch_instance_id, ExecutionStatus.SUCCEEDED)

    def _perform_member(
        self,
        member: NextMemberRow,
        batch: Batch[Any],
        spark: SparkSession | None,
        session: Callable[[], Any] | None,
        force: bool,
    ) -> str | None:
        """Perform a member of a Batch; return what is said of its failure, None: there is none."""
        code = member.member_code or ""
        try:
            if member.member_type == "BATCH":
                done = self.perform_batch(code, spark, session=session, parent=batch, force=force)
            else:
                done = self.perform(code, spark, session=session, batch=batch)
        except ConnectionFailed:
            raise
        except Exception as error:  # noqa: BLE001 - it could not begin, which fails the Batch
            sqlstate = getattr(error, "sqlstate", None)
            return f"{one_line(error)} ({sqlstate})" if sqlstate else ""
        return None if done.status in _NOT_FAILED else ""


def _reason(detail: str | None) -> str | None:
    """Return the code of a reason that the database says as the detail."""
    return detail if detail is not None and re.fullmatch("[A-Z_]+", detail) else None


def _require_none(failures: str | None) -> None:
    if failures is not None:
        raise MembersFailed(failures)


def _instance_of(batch: Batch[Any] | int | None) -> int | None:
    return batch if batch is None or isinstance(batch, int) else batch.batch_instance_id
