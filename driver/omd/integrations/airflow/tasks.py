"""Runs that a worker of dispatch performs: one task of the family RUN for one try of Airflow."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import omd
from omd._core.error_codes import UnknownTask, WrongTaskState
from omd._core.errors import CallerError, ConfigurationError
from omd.rooms.dispatch.calls import DispatchCalls
from omd.rooms.dispatch.rows import ExplainTaskRow

ERRORS = omd.errors  # of all rooms; psycopg raises them by their SQLSTATE


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run has ended.

    Attributes:
        status: S, F, C or A.
        instance_id: the instance; None: there is none.
        detail: why it is not S.
        is_final: no other try helps.
    """

    status: str
    instance_id: int | None
    detail: str | None = None
    is_final: bool = False


def create_task(
    dispatch: DispatchCalls, task_type: str, code: str, context: dict[str, Any]
) -> int | None:
    """Create the task of a try; return its id, None while somebody else's task has the code.

    A try that died after this call has left its task, which the next one waits for.
    """
    created = dispatch.create_task(
        "RUN",
        task_type,
        {"CODE": code},
        payload={"execution_context": context},
        on_duplicate="EXISTING",
    )
    if created.is_new:
        return created.task_id
    state = dispatch.explain_task(created.task_id)
    is_ours = _origin(state.payload) == _origin({"execution_context": context})
    return created.task_id if is_ours and not state.cancel_requested else None


def _origin(payload: Any) -> Any:
    """Return what in Airflow a task was made for, whichever try of it."""
    context = payload.get("execution_context") if isinstance(payload, dict) else None
    origin = context.get("airflow") if isinstance(context, dict) else None
    if not isinstance(origin, dict):
        return None
    return {name: value for name, value in origin.items() if name != "try_number"}


def cancel_task(dispatch: DispatchCalls, task_id: int) -> None:
    """Cancel a task that waits or runs; one that has ended stays as it is."""
    with suppress(UnknownTask, WrongTaskState):
        dispatch.cancel_task(task_id, running=True)


def end_of_task(dispatch: DispatchCalls, task_id: int, abort_at: float) -> Ended | None:
    """Return how a task has ended; None: it has not.

    Airflow decides about other tries, so a task that would be tried again after a failure is
    cancelled. One that others keep from beginning is tried again until `abort_at`, a moment as
    time.time() says it.
    """
    state = dispatch.explain_task(task_id)
    if state.status == "PENDING" and (
        state.outcome == "F" or (state.outcome == "A" and time.time() >= abort_at)
    ):
        try:
            dispatch.cancel_task(task_id)
        except WrongTaskState:  # a worker has it again
            return None
        return _ended(state, state.outcome)
    if state.status in ("PENDING", "CLAIMED"):
        return None
    if state.status == "DONE":
        return _ended(state, state.outcome or "F")
    if state.status == "DEAD":
        # It has not even begun, and is not tried again: a mistake, which stays one.
        return _ended(state, "F", is_final=_instance(state) is None)
    return Ended("F", _instance(state), "the task was cancelled")


def _ended(state: ExplainTaskRow, status: str, *, is_final: bool = False) -> Ended:
    return Ended(status, _instance(state), state.error, is_final)


def _instance(state: ExplainTaskRow) -> int | None:
    return state.batch_instance_id or state.module_instance_id


def is_mistake(error: BaseException) -> bool:
    """Return whether an error is one of the caller or of the configuration: no try helps."""
    return isinstance(error, (CallerError, ConfigurationError))
