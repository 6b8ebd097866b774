"""Triggers: they wait in the triggerer, which keeps one connection for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import asdict
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent

from omd._core.errors import one_line
from omd.integrations.airflow.hooks import OmdHook
from omd.integrations.airflow.looks import LOOKS
from omd.integrations.airflow.tasks import cancel_task, end_of_task, is_mistake
from omd.integrations.airflow.watch import Watch
from omd.rooms.dispatch.calls import DispatchCalls


class _OmdTrigger(BaseTrigger):
    """Waits until a look at the database answers something, and says what."""

    omd_conn_id: str
    code: str | None  # of the run whose end is a reason to look
    abort_at = 0.0
    has_fired = False

    def look(self, calls: DispatchCalls) -> Any:
        """Return what the trigger waits for; None: it is not there yet."""
        raise NotImplementedError

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Wait, and yield one event: {"answer": …}, or {"error": …, "is_final": …}."""
        try:
            conninfo = await OmdHook(self.omd_conn_id).aconninfo()
            answer = await Watch.until(conninfo, self.look, self.code, self.abort_at)
        except Exception as error:  # noqa: BLE001 - the task raises it
            event = {"error": one_line(error), "is_final": is_mistake(error)}
        else:
            event = {"answer": answer}
        self.has_fired = True
        yield TriggerEvent(event)


class OmdTaskTrigger(_OmdTrigger):
    """Waits for the end of a task of dispatch.

    Args:
        omd_conn_id: the connection.
        dispatch_task_id: the task.
        code: of the Batch or Module that it runs.
        abort_at: as time.time() says it: until then it may be kept from beginning by others.
    """

    def __init__(self, omd_conn_id: str, dispatch_task_id: int, code: str, abort_at: float) -> None:
        super().__init__()
        self.omd_conn_id = omd_conn_id
        self.dispatch_task_id = dispatch_task_id
        self.code = code
        self.abort_at = abort_at

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return the class and its arguments."""
        return f"{__name__}.OmdTaskTrigger", {
            "omd_conn_id": self.omd_conn_id,
            "dispatch_task_id": self.dispatch_task_id,
            "code": self.code,
            "abort_at": self.abort_at,
        }

    def look(self, calls: DispatchCalls) -> dict[str, Any] | None:
        """Return how the task has ended."""
        ended = end_of_task(calls, self.dispatch_task_id, self.abort_at)
        return None if ended is None else asdict(ended)

    async def on_kill(self) -> None:
        """Cancel the task: somebody has marked or cleared the task of Airflow."""
        conninfo = await OmdHook(self.omd_conn_id).aconninfo()
        await asyncio.to_thread(_cancel, conninfo, self.dispatch_task_id)

    if not hasattr(BaseTrigger, "on_kill"):  # before Airflow 3.3

        async def cleanup(self) -> None:
            """Cancel the task, if the task of Airflow no longer waits for it."""
            if not self.has_fired and await asyncio.to_thread(_is_given_up, self.task_instance):
                await self.on_kill()


class OmdSensorTrigger(_OmdTrigger):
    """Waits for what a sensor waits for.

    Args:
        omd_conn_id: the connection.
        look: which look it is, a name of `LOOKS`.
        arguments: its arguments.
    """

    def __init__(self, omd_conn_id: str, look: str, arguments: Mapping[str, Any]) -> None:
        super().__init__()
        self.omd_conn_id = omd_conn_id
        self.name_of_look = look
        self.arguments = dict(arguments)
        self.code = self.arguments.get("code")

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return the class and its arguments."""
        return f"{__name__}.OmdSensorTrigger", {
            "omd_conn_id": self.omd_conn_id,
            "look": self.name_of_look,
            "arguments": self.arguments,
        }

    def look(self, calls: DispatchCalls) -> Any:
        """Return what the sensor waits for."""
        look: Callable[..., Any] = LOOKS[self.name_of_look]
        return look(calls, **self.arguments)


def _cancel(conninfo: str, dispatch_task_id: int) -> None:
    import omd

    with omd.connect(conninfo, application_name="omd-airflow") as control:
        cancel_task(control.calls.omd_dispatch, dispatch_task_id)


def _is_given_up(ti: Any) -> bool:
    """Return whether a task of Airflow waits no longer: somebody has marked or cleared it."""
    from airflow.sdk.execution_time.task_runner import RuntimeTaskInstance

    states = RuntimeTaskInstance.get_task_states(
        dag_id=ti.dag_id, task_ids=[ti.task_id], run_ids=[ti.run_id], map_index=ti.map_index
    )
    by_task = states.get(ti.run_id, {})
    state = by_task.get(ti.task_id if ti.map_index < 0 else f"{ti.task_id}_{ti.map_index}")
    return bool(state != "deferred")
