"""What a worker does for each act of `omd.next_act` (docs/explanation/jobs.md, rule J2).

The database has chosen the act and named its arguments; here it is done, and what became of it is
said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import EllipsisType
from typing import TYPE_CHECKING, Any

from omd._core.engines import SPARK
from omd._core.errors import ConnectionFailed, NotStarted, Skipped, one_line
from omd._core.functions import function_named
from omd.doors import arrivals
from omd.doors.rooms import Doors
from omd.rooms.control.blocks import Blocks
from omd.rooms.control.calls import ControlCalls
from omd.rooms.control.codes import Status
from omd.rooms.lineage.codes import StepResult

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from omd.rooms.control.run import Batch

_WAIT = timedelta(seconds=10)  # so long a delivery may keep its worker before it begins
_OF_STEP = {
    StepResult.DONE: Status.SUCCEEDED,
    StepResult.NOJOBS: Status.SKIPPED,
    StepResult.SKIPPED: Status.SKIPPED,
    StepResult.MUTEX: Status.ABORTED,
    StepResult.ABORTED: Status.ABORTED,
}
_NOTHING = "there is nothing to do"


@dataclass(frozen=True, slots=True)
class Performed:
    """What became of a Module or Batch that was performed.

    Attributes:
        code: its code.
        instance_id: its instance, of several runs the last one; None where there is none.
        status: S or F as the run; C where there was nothing to do or the run is skipped; A where
            another works at it.
        detail: why it is not S, in one line.
        error: the exception of a run that failed in this process.
    """

    code: str
    instance_id: int | None
    status: Status
    detail: str | None = None
    error: BaseException | None = None

    @property
    def succeeded(self) -> bool:
        """Whether it ran to its end."""
        return self.status is Status.SUCCEEDED


class Connected(Blocks, Doors):
    """A connection with the blocks and the doors."""


@dataclass(frozen=True, slots=True)
class Act:
    """An act that the database leaves to a worker."""

    control: Connected
    code: str
    arguments: Mapping[str, Any]  # those of next_act
    spark: SparkSession | None
    session: Callable[[], Any] | None
    batch: Batch[Any] | int | None
    context: Mapping[str, Any] | None
    lease: timedelta | EllipsisType | None = ...
    rollback_executor: Callable[[str], object] | None = None

    @property
    def batch_instance_id(self) -> int | None:
        """The Batch Instance that it is part of; None: it is on its own."""
        batch = self.batch
        return batch if batch is None or isinstance(batch, int) else batch.instance_id

    def ready_session(self) -> Any:
        """Return the session that the caller has or makes; None: whoever needs one makes it."""
        if self.spark is None and self.control._spark is None and self.session is not None:
            return self.session()
        return self.spark

    def ended(self, status: Status, instance: int | None = None, *args: Any) -> Performed:
        """Say how it ended, and why."""
        return Performed(self.code, instance, status, *args)

    def refused(self, refusal: NotStarted, instance: int | None = None) -> Performed:
        """Say that process control did not let it begin."""
        skipped = isinstance(refusal, Skipped)
        status = Status.SKIPPED if skipped else Status.ABORTED
        return self.ended(status, instance, one_line(refusal), refusal)


def call_function(act: Act) -> Performed:
    """Call the function of a Module inside the Module."""
    job = function_named(act.arguments["job"], act.control._permitted)
    outcome = act.control._run(
        act.code,
        job,
        batch=act.batch or 0,  # it is no part of the Batch that the environment may name
        spark=act.ready_session(),
        lease=act.lease,
        rollback_executor=act.rollback_executor,
        context=act.context,
    )
    detail = outcome.reason if outcome.error is None else one_line(outcome.error)
    return act.ended(outcome.status, outcome.instance_id, detail, outcome.error)


def step(act: Act) -> Performed:
    """Take steps of a topic on Spark: one, or in a Batch until no block is full."""
    last = None
    while True:
        outcome = act.control._lineage.step(
            act.arguments["topic"],
            spark=act.spark,
            session=act.session,
            lease=act.lease,
            batch=act.batch,
            context=act.context,
        )
        status = _OF_STEP.get(outcome.outcome, Status.FAILED)
        if last is not None and status in (Status.SKIPPED, Status.ABORTED):
            return last  # what was there is done
        last = act.ended(status, outcome.module_instance_id, outcome.detail, outcome.error)
        if act.batch is None or not last.succeeded:
            return last
        next_ = ControlCalls(act.control._link).next_act(act.code)
        if next_.arguments.get("reason") != "FULL":
            return last


def run_stage(act: Act) -> Performed:
    """Run a stage on Spark."""
    outcome = act.control.decision.run(
        act.arguments["stage_code"], engine=SPARK, spark=act.ready_session(), batch=act.batch
    )
    return act.ended(outcome.status, outcome.module_instance_id, outcome.detail, outcome.error)


def export(act: Act) -> Performed:
    """Create the export that is due, and run it."""
    delivery_id = act.control.facts._calls.due_export(act.arguments["agreement_code"])
    if delivery_id is None:  # somebody else was faster
        return act.ended(Status.SKIPPED, None, _NOTHING)
    return _run_export(act, delivery_id)


def resume(act: Act) -> Performed:
    """Go on with an export, or with a delivery, that has not ended."""
    if act.arguments["module_kind_code"] == "EXPORT":
        return _run_export(act, act.arguments["delivery_id"])
    return deliver(act)


def _run_export(act: Act, delivery_id: int) -> Performed:
    run = act.control.facts._export_run(
        delivery_id,
        spark=act.ready_session(),
        batch_instance_id=act.batch_instance_id,
        context=act.context,
    )
    try:
        run.export()
    except NotStarted as refusal:
        return act.refused(refusal, refusal.instance_id)
    except ConnectionFailed:
        raise
    except Exception as failure:  # noqa: BLE001 - the run has recorded it
        instance = run.module_instance_id or None
        return act.ended(Status.FAILED, instance, one_line(failure), failure)
    return act.ended(Status.SUCCEEDED, run.module_instance_id or None)


def deliver(act: Act) -> Performed:
    """Deliver what comes again after a recall, else the folder that has arrived, or what waits."""
    agreement = act.arguments["agreement_code"]
    if "recall_id" in act.arguments:
        done = _redeliver(act, agreement)
        if done is not None:
            return done
    if "location" not in act.arguments:
        return act.ended(Status.SKIPPED, None, _NOTHING)
    return _delivered(
        act, lambda: arrivals.perform(act.control, act.ready_session(), agreement, wait=_WAIT)
    )


def _delivered(act: Act, deliver: Callable[[], object | None]) -> Performed:
    """Deliver, and say what became of it."""
    try:
        receipt = deliver()
    except NotStarted as refusal:
        return act.refused(refusal)
    except ConnectionFailed:
        raise
    except Exception as failure:  # noqa: BLE001 - the run has recorded it
        return act.ended(Status.FAILED, None, one_line(failure), failure)
    if receipt is None:
        return act.ended(Status.SKIPPED, None, _NOTHING)
    return act.ended(Status.SUCCEEDED)


def _redeliver(act: Act, agreement: str) -> Performed | None:
    """Deliver again from its recorded files what a recall took back, where these are unchanged."""
    control, recall_id = act.control, act.arguments["recall_id"]
    taken = control.delivery._calls.take_arrival(agreement)
    if taken.delivery_id is None or taken.folder is not None:
        return None
    answer = control.provenance._calls.redeliver(recall_id, delivery_id=taken.delivery_id)
    if answer.outcome != "RUN":
        return None  # its tenant brings it
    files: Any = answer.files  # a list; JSON is typed as an object
    roots = {file["entity"]: file["root"] for file in files or ()}
    engine = control._engines[SPARK]
    session = act.ready_session() or control._spark or engine.active() or engine.session()
    seen = engine.files_at(roots, session)
    answer = control.provenance._calls.redeliver(recall_id, taken.delivery_id, seen)
    if answer.outcome != "RUN":
        problem = "its files are gone or have changed: its tenant must deliver it"
        return act.ended(Status.SKIPPED, None, problem)
    return _delivered(
        act,
        lambda: control.delivery.deliver(
            delivery_id=taken.delivery_id, entities=roots, spark=session, wait=_WAIT
        ),
    )


ACTS: dict[str, Callable[[Act], Performed]] = {
    "FUNCTION": call_function,
    "STEP": step,
    "STAGE": run_stage,
    "EXPORT": export,
    "RESUME": resume,
    "DELIVER": deliver,
}
"""What is done for each act that the database does not do itself."""
