"""Operators: each performs a Batch or a Module, here or by a worker of dispatch."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from datetime import datetime, timedelta, timezone
from typing import Any, ClassVar, NoReturn

from airflow.sdk import BaseOperator

import omd
from omd._core.link import Link
from omd.integrations.airflow.contexts import execution_context
from omd.integrations.airflow.failing import mistakes_fail, raise_of
from omd.integrations.airflow.hooks import OmdHook
from omd.integrations.airflow.links import OmdRunLink, link_of
from omd.integrations.airflow.names import (
    AirflowException,
    AirflowFailException,
    AirflowRescheduleException,
    AirflowSkipException,
    TaskDeferralTimeout,
)
from omd.integrations.airflow.tasks import Ended, cancel_task, create_task
from omd.integrations.airflow.triggers import OmdTaskTrigger
from omd.rooms.control.calls import ControlCalls
from omd.rooms.control.rows import BatchExecutionLogRow

_TASK_ID = "omd_task_id"  # the XCom that names the task of dispatch


class _OmdOperator(BaseOperator):
    """Performs a Batch or Module and does what its status says."""

    operator_extra_links = (OmdRunLink(),)
    ui_color = "#dfe9f5"
    # Up to Airflow 3.2 only what says that it is a sensor waits until it is rescheduled.
    _is_sensor = True
    reschedule = True

    subject: ClassVar[str]

    def __init__(
        self,
        *,
        omd_conn_id: str = OmdHook.default_conn_name,
        execution_context: Mapping[str, Any] | None = None,
        deferrable: bool = False,
        abort_timeout: timedelta | float = timedelta(hours=1),
        abort_interval: timedelta | float = timedelta(seconds=30),
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.omd_conn_id = omd_conn_id
        self.execution_context = execution_context
        self.deferrable = deferrable
        self.abort_timeout = _seconds(abort_timeout)
        self.abort_interval = _seconds(abort_interval)

    @classmethod
    def get_serialized_fields(cls) -> Any:
        """Return the fields that the scheduler knows."""
        return super().get_serialized_fields() | {"_is_sensor", "reschedule"}

    @property
    def _code(self) -> str:
        """The argument batch_code or module_code, under which users and templates know it."""
        return str(getattr(self, f"{self.subject.lower()}_code"))

    def _call(self, calls: ControlCalls, context: dict[str, Any]) -> Ended:
        raise NotImplementedError

    # What Airflow calls

    def execute(self, context: Any) -> dict[str, Any]:
        """Perform it, and wait: for the statement, or deferred, for the task of dispatch."""
        self.run_link = ""
        self._killed = False
        self._link: Link | None = None
        of_run = execution_context(context, self.execution_context)
        with OmdHook(self.omd_conn_id).get_conn() as control:
            with mistakes_fail():
                if self.deferrable:
                    self._create_and_defer(control, context, of_run)
                ended = self._perform(control, of_run)
            return self._answer(control, context, ended)

    def execute_complete(self, context: Any, event: Mapping[str, Any]) -> dict[str, Any]:
        """Go on when the task of dispatch has ended."""
        self.run_link = ""
        raise_of(event)
        with OmdHook(self.omd_conn_id).get_conn() as control:
            return self._answer(control, context, Ended(**event["answer"]), is_last=True)

    def on_kill(self) -> None:
        """Cancel the statement; the run ends F."""
        self._killed = True
        link = getattr(self, "_link", None)
        if link is not None:
            link.cancel()

    def resume_execution(
        self, next_method: str, next_kwargs: dict[str, Any] | None, context: Any
    ) -> Any:
        """Go on after a deferral; when it took too long, the task of dispatch is cancelled."""
        try:
            return super().resume_execution(next_method, next_kwargs, context)
        except TaskDeferralTimeout:
            dispatch_task_id = context["ti"].xcom_pull(task_ids=self.task_id, key=_TASK_ID)
            if dispatch_task_id is not None:
                with OmdHook(self.omd_conn_id).get_conn() as control:
                    cancel_task(control.calls.omd_dispatch, dispatch_task_id)
            raise

    # The two ways

    def _perform(self, control: omd.Control, of_run: dict[str, Any]) -> Ended:
        with closing(control._new_link(name="-run")) as link:
            link.open()
            self._link = link
            if self._killed:
                raise AirflowException("it was killed before it began")
            try:
                return self._call(ControlCalls(link), of_run)
            except BaseException:
                link.end_statement()
                raise

    def _create_and_defer(self, control: omd.Control, context: Any, of_run: dict[str, Any]) -> None:
        task_id = create_task(control.calls.omd_dispatch, self.subject, self._code, of_run)
        if task_id is None:
            self._try_later(context, f"another task runs {self._name}")
        context["ti"].xcom_push(key=_TASK_ID, value=task_id)
        first = _first_try(context)
        self.defer(
            trigger=OmdTaskTrigger(
                self.omd_conn_id, task_id, self._code, first.timestamp() + self.abort_timeout
            ),
            method_name="execute_complete",
            timeout=self.execution_timeout,
        )

    # What a status means

    @property
    def _name(self) -> str:
        return f"{self.subject.capitalize()} {self._code}"

    def _answer(
        self, control: omd.Control, context: Any, ended: Ended, *, is_last: bool = False
    ) -> dict[str, Any]:
        self.run_link = link_of(control, self.subject.lower(), ended.instance_id)
        value = {"instance_id": ended.instance_id, "status": ended.status}
        if ended.status == "S":
            return value
        instance = "" if ended.instance_id is None else f" (instance {ended.instance_id})"
        because = "" if ended.detail is None else f": {ended.detail}"
        if ended.status == "A" and not is_last:  # the trigger has waited for abort_timeout
            self._try_later(context, f"{self._name}{instance} was aborted{because}")
        context["ti"].xcom_push(key="return_value", value=value)
        if ended.status == "C":
            raise AirflowSkipException(f"{self._name}{instance} was skipped{because}")
        raised = AirflowFailException if ended.is_final else AirflowException
        raise raised(f"{self._name}{instance} failed{because}")

    def _try_later(self, context: Any, why: str) -> NoReturn:
        """Put the task off, or fail it when that has gone on for too long."""
        now = datetime.now(timezone.utc)
        if (now - _first_try(context)).total_seconds() >= self.abort_timeout:
            raise AirflowException(f"{why}, for {self.abort_timeout:g} s")
        self.log.info("%s; the next try is in %s s", why, self.abort_interval)
        raise AirflowRescheduleException(now + timedelta(seconds=self.abort_interval))


class OmdBatchOperator(_OmdOperator):
    """Performs a Batch.

    S succeeds, C skips the task, A tries again later, F fails. The XCom is {"instance_id",
    "status"}.

    Args:
        batch_code: the Batch.
        omd_conn_id: a connection of the type ``omd``.
        execution_context: values for the execution context of the run.
        deferrable: a worker of dispatch performs it, and a trigger waits.
        abort_timeout: after so long the task fails if others keep the run from beginning.
        abort_interval: so long it waits between two such tries.
    """

    template_fields = ("batch_code", "execution_context")
    subject = "BATCH"

    def __init__(self, *, batch_code: str, **options: Any) -> None:
        super().__init__(**options)
        self.batch_code = batch_code

    def _call(self, calls: ControlCalls, context: dict[str, Any]) -> Ended:
        ran = calls.run_batch(self.batch_code, execution_context=context)
        detail = None
        if ran.execution_status_code != "S":
            (row,) = calls.report(BatchExecutionLogRow, batch_instance_id=ran.batch_instance_id)
            detail = row.reason_code
        return Ended(str(ran.execution_status_code), ran.batch_instance_id, detail)


class OmdModuleOperator(_OmdOperator):
    """Performs a Module, whatever its kind.

    S succeeds, C skips the task, A tries again later, F fails. The XCom is {"instance_id",
    "status"}.

    Args:
        module_code: the Module.
        omd_conn_id: a connection of the type ``omd``.
        execution_context: values for the execution context of the run.
        deferrable: a worker of dispatch performs it, and a trigger waits.
        abort_timeout: after so long the task fails if others keep the run from beginning.
        abort_interval: so long it waits between two such tries.
    """

    template_fields = ("module_code", "execution_context")
    subject = "MODULE"

    def __init__(self, *, module_code: str, **options: Any) -> None:
        super().__init__(**options)
        self.module_code = module_code

    def _call(self, calls: ControlCalls, context: dict[str, Any]) -> Ended:
        ran = calls.run_module(self.module_code, execution_context=context)
        return Ended(str(ran.execution_status_code), ran.module_instance_id, ran.detail)


def _first_try(context: Any) -> datetime:
    """Return when the task was first put off, else now."""
    first: datetime | None = context["ti"].get_first_reschedule_date(context)
    return first or datetime.now(timezone.utc)


def _seconds(duration: timedelta | float) -> float:
    return duration.total_seconds() if isinstance(duration, timedelta) else float(duration)
