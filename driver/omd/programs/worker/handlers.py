"""How a worker runs the tasks of a type, and what it reports to the database about their end.

The database decides what becomes of a task; a handler only says how it went.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import psycopg
from psycopg import sql

from omd._core.calls import Calls, Repeat, Routine
from omd._core.cost import measured
from omd._core.engines import SPARK
from omd._core.error_codes import NeedsWorker
from omd._core.errors import CallerError, NotInstalled, one_line
from omd._core.functions import Permitted, function_named, place_of
from omd._core.link import Link
from omd._core.texts import storable
from omd.rooms.control.block import describe
from omd.rooms.control.calls import ControlCalls
from omd.rooms.control.connection import Connection

if TYPE_CHECKING:
    from omd.doors.task import Task
    from omd.programs.worker.sources import News

_LONGEST_ERROR = 8000


class Ending(NamedTuple):
    """How a task went."""

    # S succeeded, F failed, A later, C skipped; None: that of the instance which the task has
    # begun.
    outcome: str | None
    error: str | None = None  # what went wrong
    error_code: str | None = None  # its SQLSTATE
    error_class: str | None = None  # the first word of it, where that is the class of an exception


# That of a function in a thread of the worker that has succeeded: this object, by its identity.
SUCCEEDED = Ending("S")


@dataclass(frozen=True, slots=True, eq=False)  # compared by identity: workers count by it
class TaskType:
    """A type of tasks, as far as a worker needs it; a row of the configuration."""

    view: ClassVar[str] = "omd_dispatch.task_conf_type_desc"

    family_code: str
    task_type: str
    handler: str
    target: str | None
    deliver_id: str
    timeout: timedelta | None

    @property
    def needs_process(self) -> bool:
        """Whether its tasks get a process: it alone can be ended from outside, or starts Spark."""
        if self.handler == "PYTHON":
            return self.timeout is not None
        return self.handler != "SQL" and self.target is not None

    @property
    def may_share_process(self) -> bool:
        """Whether its process may run other such tasks: what they leave behind is known."""
        return self.handler != "PYTHON" or self.target == "omd.work:perform"

    @property
    def follows_instance(self) -> bool:
        """Whether the outcome of its tasks is that of the instance which they have begun."""
        return self.handler in ("BATCH", "MODULE")

    @property
    def is_shown(self) -> bool:
        """Whether people are shown each task that ends well: short ones are many."""
        return self.follows_instance or self.needs_process

    def failure(self, error: BaseException | str, because: str | None = None) -> Ending:
        """Return the ending of a task that has raised an error, or was ended for a reason."""
        code = name = None
        if isinstance(error, str):
            text = error
        elif isinstance(error, psycopg.Error):
            text, code, name = one_line(error), error.sqlstate, type(error).__name__
        else:
            text, name = describe(error)
            name = name.removeprefix("__main__.")
        if because is not None:
            text = f"{because}: {text}"
        outcome = None if self.follows_instance else "F"
        return Ending(outcome, storable(text[:_LONGEST_ERROR]), code, name)


def task_types(calls: Calls) -> dict[tuple[str, str], TaskType]:
    """Return the types of tasks, by family and type."""
    return {(row.family_code, row.task_type): row for row in calls.report(TaskType)}


def session_of(task: Task) -> dict[str, str]:
    """Return the parameters of a session that works for a task."""
    context = {"task_id": task.task_id, "claim_token": task._claim.claim_token}
    return {
        "omd.execution_context": json.dumps(context, separators=(",", ":")),
        # The statement of a worker that was killed ends, long before others get its task.
        "client_connection_check_interval": "1s",
    }


# In the database --------------------------------------------------------------------------------

_QUOTE_TABLE = Routine(
    "omd.quote_table",
    {"p_table_code": "text", "p_platform_code": "text"},
    required=2,
    repeat=Repeat(),
    is_function=True,
)


class _Targets(Calls):
    """Procedures that tasks call."""

    def call(self, target: str, payload_json: str | None) -> None:
        """Call a procedure with one jsonb parameter, outside a transaction block.

        The database quotes the name, which follows the rules of SQL.
        """
        name: str = self._value(_QUOTE_TABLE, target, "POSTGRES")
        self._link.execute(
            sql.SQL("CALL {}($1::pg_catalog.jsonb)").format(sql.SQL(name)).as_bytes(None),
            [payload_json],
            tuple,
            repeatable=False,
            is_alone=True,
        )


def run_in_database(
    task: Task,
    kind: TaskType,
    link: Link,
    permitted: Permitted = Permitted(),  # noqa: B008 - it is frozen
) -> Ending | None:
    """Run a task whose work is a statement: of SQL, and of a BATCH or MODULE without a target.

    Returns:
        How it went; None: nothing has begun, since it needs a process.
    """
    try:
        if kind.handler == "SQL":
            permitted.require_sql(f"procedure {kind.target}")
        elif not permitted.sql:
            return None
        link.set(**session_of(task))
        if task.cancelled:
            return kind.failure("it was not begun", task._ended_because)
        if kind.handler == "SQL":
            _Targets(link).call(kind.target or "", task._claim.payload)
            return Ending("S")
        control, code = ControlCalls(link), str(task.criteria["CODE"])
        context = _context_of(task)
        if kind.handler == "BATCH":
            with measured(link) as performed:
                batch = control.run_batch(code, execution_context=context)
                performed("BATCH", batch.batch_instance_id)
            return _ended(f"Batch Instance {batch.batch_instance_id}", batch.execution_status_code)
        with measured(link) as performed:
            module = control.run_module(code, execution_context=context)
            performed("MODULE", module.module_instance_id)
        return _ended(
            f"Module Instance {module.module_instance_id}",
            module.execution_status_code,
            module.detail,
            has_instance=module.module_instance_id is not None,
        )
    except NeedsWorker:
        return None
    except NotInstalled as error:  # it is the procedure of the user that is missing
        return kind.failure(error.__cause__ or error, task._ended_because)
    except Exception as error:  # noqa: BLE001 - it is reported to the database
        return kind.failure(error, task._ended_because)


def _context_of(task: Task) -> Any:
    """Return what the payload of a BATCH or MODULE says of its run: where and for what it is."""
    payload = task.payload
    return payload.get("execution_context") if isinstance(payload, dict) else None


def _ended(
    name: str, status: str, detail: str | None = None, *, has_instance: bool = True
) -> Ending:
    """Return the ending of a task whose instance says how it went, or else its status."""
    error = None if status in ("S", "C") else f"{name} ended with {status}"
    if has_instance:
        return Ending(None, error)
    return Ending(str(status), None if error is None else detail or error)


# In Python --------------------------------------------------------------------------------------


def run_in_python(
    task: Task,
    kind: TaskType,
    permitted: Permitted = Permitted(),  # noqa: B008 - it is frozen
) -> Ending:
    """Run a task whose work is a function, or the run of a BATCH or MODULE that needs a process."""
    try:
        if kind.handler != "PYTHON" and kind.target is None:
            return _perform(task, kind)
        function = function_named(kind.target or "", permitted)
        if kind.handler == "PYTHON":
            return _answered(kind, function(task))
        _run_job(task, kind, function)
    except BaseException as error:  # noqa: BLE001 - also sys.exit() is reported to the database
        return kind.failure(error, task._ended_because)
    return Ending(None)


def _answered(kind: TaskType, answer: object) -> Ending:
    if answer is None or (isinstance(answer, str) and answer == "S"):
        return SUCCEEDED
    if isinstance(answer, str) and answer in ("A", "C"):
        return Ending(str(answer))
    return kind.failure(
        f"{kind.target} returned {answer!r}; a handler returns None or 'S' (done), 'A' (later) or"
        " 'C' (skipped)"
    )


def _perform(task: Task, kind: TaskType) -> Ending:
    """Perform a Batch or Module, whatever its kind."""
    control, code = task.control, str(task.criteria["CODE"])
    make = control._engines[SPARK].session
    options: dict[str, Any] = {
        "session": lambda: make(task._master),
        "context": _context_of(task),
    }
    if kind.handler == "BATCH":
        done = control.run_batch(code, **options)
    else:  # it is no part of the Batch that the environment of the worker may name
        done = control.run(code, batch=0, **options)
    name = f"{kind.handler.capitalize()} Instance {done.instance_id}"
    return _ended(name, str(done.status), done.detail, has_instance=False)


def _run_job(task: Task, kind: TaskType, job: Callable[[Any], object]) -> None:
    """Run a job on Spark inside its Batch or Module."""
    code = str(task.criteria["CODE"])
    if task._master is not None:
        task.control._spark = task.control._engines[SPARK].session(task._master)
    context = _context_of(task)
    block = (
        task.control.batch(code, context=context)
        if kind.handler == "BATCH"
        # A task is no part of the Batch that the environment of the worker may name.
        else task.control.module(code, batch=0, context=context)
    )
    with block as run:
        job(run)


def refresher(kind: TaskType, permitted: Permitted) -> Callable[[Connection], object] | None:
    """Return the function ``refresh(control)`` of the module of a PYTHON handler, if it has one.

    It looks for news: the view that a schedule of this type reads may need that.
    """
    return getattr(_module_of(kind, permitted), "refresh", None)


def _module_of(kind: TaskType | None, permitted: Permitted) -> ModuleType | None:
    """Return the module of a PYTHON handler; None: there is none, or its function is refused."""
    if kind is None or kind.handler != "PYTHON" or kind.target is None:
        return None
    try:
        permitted.require(kind.target)
    except CallerError:
        return None  # each of its tasks ends with the reason
    return importlib.import_module(place_of(kind.target).partition(":")[0])


def near(
    kind: TaskType | None, source: str, permitted: Permitted
) -> Callable[[Link, News], None] | None:
    """Return the function ``near(link, news)`` of the module of a PYTHON handler.

    It creates the tasks that the view `source` would have because of the news. None: the module has
    no such function, or not for this view, so that the view is to be read.
    """
    module = _module_of(kind, permitted)
    if module is None or source not in getattr(module, "SOURCES", ()):
        return None
    look: Callable[[Link, News], None] = module.near
    return look
