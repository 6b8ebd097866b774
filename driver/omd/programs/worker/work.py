"""A task of the family WORK: a run of a Module of any kind (docs/explanation/dispatch.md).

The database says which Modules are ready, and what a failure means; here a run is performed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omd._core.calls import Calls, Repeat, Routine
from omd._core.cost import measured
from omd._core.engines import SPARK
from omd.doors import arrivals
from omd.rooms.control.calls import ControlCalls
from omd.rooms.control.codes import Status
from omd.rooms.dispatch.calls import DispatchCalls
from omd.rooms.lineage.calls import LineageCalls

if TYPE_CHECKING:
    from omd._core.link import Link
    from omd.doors.control import Control
    from omd.doors.task import Task
    from omd.programs.worker.sources import News

SOURCES = frozenset(("omd_report.work_tasks_database", "omd_report.work_tasks_spark"))
"""The views for which `near` stands."""

_AT_ONCE = 1000
_NEAR = Routine(
    "omd_report.ready_tasks_near",
    {"p_codes": "text[]", "p_topics": "text[]", "p_deliveries": "jsonb"},
    required=3,
    repeat=Repeat(),
    is_function=True,
)


def perform(task: Task) -> str:
    """Run the Module that the criterion CODE names, as its KIND says.

    Returns:
        S when it succeeded, or a delivery was refused; C when there was nothing to do or the run is
        skipped, A when another one works at it.

    Raises:
        RuntimeError: the run failed.
    """
    code = str(task.criteria["CODE"])
    if task._claim.task_type == "DATABASE":
        task.control._permitted.require_sql(f"Module {code}")
        link = task.control._link
        with task._interrupted_by(link.cancel):
            if task.cancelled:
                raise RuntimeError("it was not begun")
            with measured(link) as performed:
                ran = ControlCalls(link).run_module(code, until_done=True)
                performed("MODULE", ran.module_instance_id)
        return _outcome(code, ran.execution_status_code, ran.detail)
    control = task.control

    def session() -> Any:
        return control._engines[SPARK].session(task._master)

    done = control.run(code, session=session, batch=0)
    if done.reason == "REJECTED":  # that is an answer, which the tenant gets: the task is done
        return "S"
    return _outcome(code, done.status, done.detail, done.error)


def refresh(control: Control) -> None:
    """Look for what no session announces: rows in sources of topics, and folders that arrive."""
    LineageCalls(control._link).probe_sources()
    for agreement in arrivals.due(control):
        arrivals.look(control, agreement)


@dataclass(frozen=True, slots=True)
class _Near:
    """Ready work that depends on news."""

    task_type: str
    code: str
    kind: str


def near(link: Link, news: News) -> None:
    """Create the tasks of the ready work that depends on news, without a look at all the others."""
    rows = Calls(link)._rows(_NEAR, _Near, sorted(news.codes), sorted(news.topics), news.deliveries)
    for task_type in sorted({row.task_type for row in rows}):
        tasks = [
            {"criteria": {"CODE": row.code, "KIND": row.kind}}
            for row in rows
            if row.task_type == task_type
        ]
        for first in range(0, len(tasks), _AT_ONCE):
            DispatchCalls(link).create_tasks(
                "WORK", task_type, tasks[first : first + _AT_ONCE], on_duplicate="EXISTING"
            )


def _outcome(code: str, status: Status, detail: str | None, error: Exception | None = None) -> str:
    if status not in ("S", "C", "A"):
        raise RuntimeError(detail or f"the run of {code} failed") from error
    return str(status)
