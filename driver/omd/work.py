"""A task of the family WORK: a run of a Module of any kind (docs/explanation/dispatch.md).

The database says which Modules are ready, and what a failure means; here a run is performed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omd._core.cost import measured
from omd._core.engines import SPARK
from omd.control.calls import ControlCalls
from omd.control.codes import ExecutionStatus
from omd.delivery import arrivals
from omd.lineage.calls import LineageCalls

if TYPE_CHECKING:
    from omd.dispatch.task import Task
    from omd.doors import Control


_OUTCOMES = {
    ExecutionStatus.SUCCEEDED: "S",
    ExecutionStatus.CANCELLED: "C",
    ExecutionStatus.ABORTED: "A",
}


def perform(task: Task) -> str:
    """Run the Module that the criterion CODE names, as its KIND says.

    Returns:
        S when it succeeded, C when there was nothing to do or the run is skipped, A when another
        one works at it.

    Raises:
        RuntimeError: the run failed.
    """
    code = str(task.criteria["CODE"])
    if task.task_type == "DATABASE":
        link = task.control._link
        with task.interrupted_by(link.cancel):
            if task.cancelled:
                raise RuntimeError("it was not begun")
            with measured(link) as performed:
                ran = ControlCalls(link).run_module(code, until_done=True)
                performed("MODULE", ran.module_instance_id)
        return _outcome(code, ran.execution_status_code, ran.detail)
    control = task.control

    def session() -> Any:
        return control.engines[SPARK].session(task.master)

    done = control.perform(code, session=session)
    return _outcome(code, done.status, done.detail, done.error)


def refresh(control: Control) -> None:
    """Look for what no session announces: rows in sources of topics, and folders that arrive."""
    LineageCalls(control._link).probe_sources()
    for agreement in arrivals.due(control):
        arrivals.look(control, agreement)


def _outcome(
    code: str, status: ExecutionStatus, detail: str | None, error: BaseException | None = None
) -> str:
    answer = _OUTCOMES.get(status)
    if answer is None:
        raise RuntimeError(detail or f"the run of {code} failed") from error
    return answer
