"""A run of a Module of any kind, and of a Batch of them (docs/explanation/jobs.md, rule J2).

The database says what is next (`omd.next_act`, `omd.next_member`) and performs what it can.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from types import EllipsisType
from typing import TYPE_CHECKING, Any, TypeVar, overload

from typing_extensions import Self

from omd._core.cost import measured
from omd._core.engines import SPARK
from omd._core.error_codes import MembersFailed, NeedsWorker
from omd._core.errors import CallerError, ConnectionFailed, NotStarted, OmdError, one_line
from omd.doors.acts import ACTS, Act, Connected
from omd.doors.outcomes import with_facts
from omd.rooms.control.blocks import environment_batch, instance_of
from omd.rooms.control.calls import ControlCalls
from omd.rooms.control.codes import Status
from omd.rooms.control.connection import called
from omd.rooms.control.death import await_turn, who_runs
from omd.rooms.control.outcome import Outcome, status_unbegun
from omd.rooms.control.rows import BatchExecutionLogRow
from omd.rooms.control.run import (
    Batch,
    Run,
    call_job,
    context_of,
    require_program,
    session_for,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

    from omd.rooms.control.rows import NextMemberRow

T = TypeVar("T")

# A status that this client does not know is a failure.
_NOT_FAILED = (Status.SUCCEEDED, Status.SKIPPED, Status.ABORTED)


class Performing(Connected):
    """A connection that performs Modules of every kind, and Batches of them."""

    @overload
    def run(
        self,
        code: str,
        job: Callable[[Run[Self]], T],
        *,
        batch: Batch[Any] | int | None = None,
        spark: SparkSession | None = None,
        session: Callable[[], Any] | None = None,
        lease: timedelta | EllipsisType | None = ...,
        rollback_executor: Callable[[str], object] | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> Outcome[T]: ...

    @overload
    def run(
        self,
        code: str,
        job: None = None,
        *,
        batch: Batch[Any] | int | None = None,
        spark: SparkSession | None = None,
        session: Callable[[], Any] | None = None,
        lease: timedelta | EllipsisType | None = ...,
        rollback_executor: Callable[[str], object] | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> Outcome[Any]: ...

    def run(
        self,
        code: str,
        job: Callable[[Run[Self]], T] | None = None,
        *,
        batch: Batch[Any] | int | None = None,
        spark: SparkSession | None = None,
        session: Callable[[], Any] | None = None,
        lease: timedelta | EllipsisType | None = ...,
        rollback_executor: Callable[[str], object] | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> Outcome[T] | Outcome[Any]:
        """Run a Module of any kind, and wait for its end.

        With a job, which is for a Module of kind JOB only, ``job(run)`` is called inside of the
        Module if that may proceed. A topic takes one step, and inside of a Batch all that are full.

        What refuses the call before anything begins is raised: a code that is unknown, a right that
        is missing, another kind. From the begin on three kinds of exceptions are raised: those that
        end the process (Ctrl-C, SIGTERM), a lost database, and a begin that the database refuses
        with an error. All else is in the outcome.

        Args:
            code: the code of the Module.
            job: a function that takes the run.
            batch: the Batch, or the Batch Instance ID, that it is part of; by default that of
                OMD_BATCH_INSTANCE_ID; 0 for none.
            spark: the session of a run on Spark; by default that of the control, or the active one,
                or a new one.
            session: makes a session where there is none; it is called when one is needed.
            lease: a lease other than that of this control; None for none.
            rollback_executor: executes one Spark SQL statement of a rollback.
            context: values to add to the execution context.
        """
        if batch is None:
            batch = environment_batch() or 0
        if job is None:
            return self._perform(
                code,
                spark,
                session=session,
                batch=batch or None,
                lease=lease,
                rollback_executor=rollback_executor,
                context=context,
            )
        require_program(self, code)
        block = self.module(
            code,
            batch=batch,
            lease=lease,
            spark=session_for(self, spark, session),
            rollback_executor=rollback_executor,
            context=context_of(job, context),
        )
        return call_job(block, job)

    def run_batch(
        self,
        code: str,
        *,
        parent: Batch[Any] | int | None = None,
        force: bool = False,
        spark: SparkSession | None = None,
        session: Callable[[], Any] | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> Outcome[Any]:
        """Run a Batch with members of any kind, and wait for its end.

        The members run one after the other: Modules by sequence, then child Batches.

        Args:
            code: the code of the Batch.
            parent: the Batch, or the Batch Instance ID, that it is part of.
            force: run although the frequency says that it is too early.
            spark: the session of runs on Spark; by default that of the control, or the active one,
                or a new one.
            session: makes a session where there is none; it is called when one is needed.
            context: values to add to the execution context.
        """
        if self._permitted.sql:
            await_turn(self, self._wait, batch_code=code, batch_instance_id=instance_of(parent))
            try:
                with self._long_call() as link, measured(link) as performed:
                    ran = ControlCalls(link).run_batch(
                        code,
                        parent_batch_instance_id=instance_of(parent),
                        force=force or None,
                        execution_context=called(link, context),
                    )
                    performed("BATCH", ran.batch_instance_id)
                status = ran.execution_status_code
                aborted = status is Status.ABORTED
                detail = who_runs(self, batch_code=code) if aborted else None
                [run] = self.report(BatchExecutionLogRow, batch_instance_id=ran.batch_instance_id)
                return Outcome(
                    "BATCH", code, ran.batch_instance_id, status, run.reason_code, detail
                )
            except NeedsWorker:
                pass
        block = self.batch(code, parent=parent, force=force, context=context)
        try:
            with block:
                next_ = self._omd.next_member(block.instance_id)
                while next_.act == "MEMBER":
                    problem = self._perform_member(next_, block, spark, session, force)
                    next_ = self._omd.next_member(
                        block.instance_id,
                        member_type=next_.member_type,
                        member_code=next_.member_code,
                        problem=problem,
                    )
                _require_none(next_.detail)
        except NotStarted as error:
            status = status_unbegun(error)
            detail = one_line(error) if block._reason == "RUNNING" else block._reason
            instance = block.instance_id
            return Outcome("BATCH", code, instance, status, block._reason, detail, error=error)
        except ConnectionFailed:
            raise
        except Exception as error:
            if not block._began:
                raise
            failed = isinstance(error, MembersFailed)
            detail = str(error).replace("\n", "; ") if failed else one_line(error)
            instance, status = block.instance_id, Status.FAILED
            return Outcome("BATCH", code, instance, status, None, detail, error=error)
        return Outcome("BATCH", code, block.instance_id, Status.SUCCEEDED)

    def _perform(
        self,
        code: str,
        spark: SparkSession | None,
        *,
        session: Callable[[], Any] | None,
        batch: Batch[Any] | int | None,
        lease: timedelta | EllipsisType | None,
        rollback_executor: Callable[[str], object] | None,
        context: Mapping[str, Any] | None,
    ) -> Outcome[Any]:
        needs: OmdError | None = None
        if self._permitted.sql:
            instance = instance_of(batch)
            await_turn(self, self._wait, module_code=code, batch_instance_id=instance)
            try:
                with self._long_call() as link, measured(link) as performed:
                    ran = ControlCalls(link).run_module(
                        code,
                        batch_instance_id=instance,
                        execution_context=called(link, context),
                    )
                    performed("MODULE", ran.module_instance_id)
                kind = self._omd.module_definition(code).module_kind_code
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
        next_ = self._omd.next_act(code)
        if next_.arguments["engine_code"] != SPARK and needs is None:
            self._permitted.require_sql(f"Module {code}")
        if next_.status is not None:
            status = Status(next_.status)
            kind, reason = next_.arguments["module_kind_code"], _reason(next_.detail)
            return Outcome(kind, code, None, status, reason, self._who(next_.detail, code))
        act = ACTS.get(next_.act)
        if act is None:
            if needs is not None and "hint" not in next_.arguments:
                raise needs
            raise CallerError(next_.detail or next_.act, hint=next_.arguments.get("hint"))
        return act(
            Act(
                self,
                code,
                next_.arguments,
                spark,
                session,
                batch,
                context,
                lease,
                rollback_executor,
            )
        )

    def _who(self, detail: str | None, code: str) -> str | None:
        """Return why it is not S, where it runs with who runs it."""
        return who_runs(self, module_code=code) or detail if detail == "RUNNING" else detail

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
                done = self.run_batch(code, parent=batch, force=force, spark=spark, session=session)
            else:
                done = batch.run(code, spark=spark, session=session)
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
