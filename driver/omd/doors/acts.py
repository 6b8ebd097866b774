"""What a worker does for each act of `omd.next_act` (docs/explanation/jobs.md, rule J2).

The database has chosen the act and named its arguments; here it is done, and what became of it is
said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from types import EllipsisType
from typing import TYPE_CHECKING, Any

from omd._core.engines import SPARK
from omd._core.functions import function_named
from omd.doors import arrivals
from omd.doors.rooms import Doors
from omd.rooms.control.blocks import Blocks, instance_of
from omd.rooms.control.codes import Status
from omd.rooms.control.outcome import Outcome
from omd.rooms.control.run import session_for

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from omd.rooms.control.run import Batch

_WAIT = timedelta(seconds=10)  # so long a delivery may keep its worker before it begins
_NOTHING = "there is nothing to do"


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

    def ready_session(self) -> Any:
        """Return the session that the caller has or makes; None: whoever needs one makes it."""
        return session_for(self.control, self.spark, self.session)

    def nothing(self, why: str = _NOTHING) -> Outcome[Any]:
        """Say that there was nothing to do, and why."""
        kind = self.arguments["module_kind_code"]
        return Outcome(kind, self.code, None, Status.SKIPPED, None, why)


def call_function(act: Act) -> Outcome[Any]:
    """Call the function of a Module inside the Module."""
    job = function_named(act.arguments["job"], act.control._permitted)
    done: Outcome[Any] = act.control.run(
        act.code,
        job,
        batch=act.batch or 0,  # it is no part of the Batch that the environment may name
        spark=act.ready_session(),
        lease=act.lease,
        rollback_executor=act.rollback_executor,
        context=act.context,
    )
    return done


def step(act: Act) -> Outcome[Any]:
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
        if last is not None and outcome.status in ("C", "A"):
            return last  # what was there is done
        last = replace(outcome, code=act.code)
        if act.batch is None or not last.succeeded:
            return last
        next_ = act.control._omd.next_act(act.code)
        if next_.arguments.get("reason") != "FULL":
            return last


def run_stage(act: Act) -> Outcome[Any]:
    """Run a stage on Spark."""
    outcome = act.control.decision.run(
        act.arguments["stage_code"], engine=SPARK, spark=act.ready_session(), batch=act.batch
    )
    return replace(outcome, code=act.code)


def export(act: Act) -> Outcome[Any]:
    """Create the export that is due, and run it."""
    delivery_id = act.control.facts._calls.due_export(act.arguments["agreement_code"])
    if delivery_id is None:  # somebody else was faster
        return act.nothing()
    return _run_export(act, delivery_id)


def resume(act: Act) -> Outcome[Any]:
    """Go on with an export, or with a delivery, that has not ended."""
    if act.arguments["module_kind_code"] == "EXPORT":
        return _run_export(act, act.arguments["delivery_id"])
    return deliver(act)


def _run_export(act: Act, delivery_id: int) -> Outcome[Any]:
    outcome = act.control.facts._resume_export(
        delivery_id,
        spark=act.ready_session(),
        batch_instance_id=instance_of(act.batch),
        context=act.context,
    )
    return replace(outcome, code=act.code)


def deliver(act: Act) -> Outcome[Any]:
    """Deliver what comes again after a recall, else the folder that has arrived, or what waits."""
    agreement = act.arguments["agreement_code"]
    if "recall_id" in act.arguments:
        done = _redeliver(act, agreement)
        if done is not None:
            return done
    if "location" not in act.arguments:
        return act.nothing()
    outcome = arrivals.perform(act.control, act.ready_session(), agreement, wait=_WAIT)
    return act.nothing() if outcome is None else replace(outcome, code=act.code)


def _redeliver(act: Act, agreement: str) -> Outcome[Any] | None:
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
        return act.nothing(problem)
    outcome = control.delivery.deliver(
        delivery_id=taken.delivery_id, entities=roots, spark=session, wait=_WAIT
    )
    return replace(outcome, code=act.code)


ACTS: dict[str, Callable[[Act], Outcome[Any]]] = {
    "FUNCTION": call_function,
    "STEP": step,
    "STAGE": run_stage,
    "EXPORT": export,
    "RESUME": resume,
    "DELIVER": deliver,
}
"""What is done for each act that the database does not do itself."""
