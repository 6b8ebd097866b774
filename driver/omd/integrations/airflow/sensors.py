"""Sensors: each waits for what is in the database, here or in the triggerer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar

from airflow.sdk import BaseSensorOperator, PokeReturnValue

import omd
from omd.integrations.airflow.contexts import end_of, moment_of, start_of
from omd.integrations.airflow.failing import mistakes_fail, raise_of
from omd.integrations.airflow.hooks import OmdHook
from omd.integrations.airflow.links import OmdRunLink, link_of
from omd.integrations.airflow.looks import LOOKS
from omd.integrations.airflow.names import AirflowFailException
from omd.integrations.airflow.triggers import OmdSensorTrigger


class _OmdSensor(BaseSensorOperator):
    """Waits for what one look at the database answers."""

    ui_color = "#dfe9f5"

    look: ClassVar[str]  # a name of LOOKS

    def __init__(
        self,
        *,
        omd_conn_id: str = OmdHook.default_conn_name,
        deferrable: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.omd_conn_id = omd_conn_id
        self.deferrable = deferrable

    def _arguments(self, context: Any) -> dict[str, Any]:
        """Return the arguments of the look, as JSON can hold them."""
        raise NotImplementedError

    def poke(self, context: Any) -> PokeReturnValue:
        """Look once."""
        with OmdHook(self.omd_conn_id).get_conn() as control, mistakes_fail():
            answer = LOOKS[self.look](control, **self._arguments(context))
            self._seen(control, answer)
        return PokeReturnValue(is_done=answer is not None, xcom_value=answer)

    def execute(self, context: Any) -> Any:
        """Wait here, or look once and leave the waiting to a trigger."""
        if not self.deferrable:
            return super().execute(context)
        seen = self.poke(context)
        if seen:
            return seen.xcom_value
        self.defer(
            trigger=OmdSensorTrigger(self.omd_conn_id, self.look, self._arguments(context)),
            method_name="execute_complete",
            timeout=timedelta(seconds=self.timeout),
        )
        return None

    def execute_complete(self, context: Any, event: Mapping[str, Any]) -> Any:
        """Go on when it is there."""
        raise_of(event)
        with OmdHook(self.omd_conn_id).get_conn() as control:
            self._seen(control, event["answer"])
        return event["answer"]

    def _seen(self, control: omd.Control, answer: Any) -> None:
        """Take note of what was found; None: it is not there yet."""


class OmdRunSensor(_OmdSensor):
    """Waits for a run of a Module or Batch that has succeeded, and was not rolled back.

    Args:
        code: the Module or Batch.
        subject: MODULE or BATCH.
        since: the run ended after this moment; by default after the start of the data interval of
            the DAG run, or after the DAG run was due.
        omd_conn_id: a connection of the type ``omd``.
        deferrable: a trigger waits.
    """

    template_fields: Sequence[str] = ("code", "subject", "since")
    operator_extra_links = (OmdRunLink(),)
    look = "run"

    def __init__(
        self,
        *,
        code: str,
        subject: str = "MODULE",
        since: datetime | str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.code = code
        self.subject = subject
        self.since = since

    def _arguments(self, context: Any) -> dict[str, Any]:
        subject = self.subject.upper()
        if subject not in ("MODULE", "BATCH"):
            raise AirflowFailException(f"subject is {self.subject!r}, but must be MODULE or BATCH")
        since = moment_of(self.since or start_of(context))
        return {"code": self.code, "subject": subject, "since": since.isoformat()}

    def _seen(self, control: omd.Control, answer: Any) -> None:
        self.run_link = (
            "" if answer is None else link_of(control, self.subject.lower(), answer["instance_id"])
        )


class OmdTopicSensor(_OmdSensor):
    """Waits until a topic is complete up to a moment.

    Args:
        topic: the topic.
        upto: the moment; by default the end of the data interval of the DAG run, or when the DAG
            run was due.
        omd_conn_id: a connection of the type ``omd``.
        deferrable: a trigger waits.
    """

    template_fields: Sequence[str] = ("topic", "upto")
    look = "topic"

    def __init__(self, *, topic: str, upto: datetime | str | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.topic = topic
        self.upto = upto

    def _arguments(self, context: Any) -> dict[str, Any]:
        upto = moment_of(self.upto or end_of(context))
        return {"topic": self.topic, "upto": upto.isoformat()}


class OmdDeliverySensor(_OmdSensor):
    """Waits for a delivery.

    Args:
        agreement: the agreement.
        since: the delivery got its status after this moment; by default after the start of the data
            interval of the DAG run, or after the DAG run was due.
        statuses: the statuses that count; by default those of a delivery that the facts have, and
            of an export that is published.
        omd_conn_id: a connection of the type ``omd``.
        deferrable: a trigger waits.
    """

    template_fields: Sequence[str] = ("agreement", "since")
    look = "delivery"

    def __init__(
        self,
        *,
        agreement: str,
        since: datetime | str | None = None,
        statuses: Sequence[str] = (
            "PERSISTED",
            "PERSISTED WITH VIOLATED CONSTRAINTS",
            "EXPORTED",
        ),
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.agreement = agreement
        self.since = since
        self.statuses = list(statuses)

    def _arguments(self, context: Any) -> dict[str, Any]:
        since = moment_of(self.since or start_of(context))
        return {
            "agreement": self.agreement,
            "since": since.isoformat(),
            "statuses": self.statuses,
        }
