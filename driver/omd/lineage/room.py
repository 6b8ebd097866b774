"""Lineage as Python sees it: the routines as methods, and a step whatever its engine.

`Lineage` hands a call to the database and its answer back as a typed object; `StepRun` is a step
on Spark as a block. Which topic is ready, which block is next and what a retry takes is the
database's answer (docs/explanation/lineage.md).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import psycopg

from omd._core import engines, signals
from omd._core.errors import CallerError, ConnectionFailed, NotInstalled
from omd._core.listener import Listener
from omd.control.run import describe
from omd.lineage.calls import LineageCalls
from omd.lineage.codes import StepResult
from omd.lineage.errors import StepNotStarted, WrongTopicState
from omd.lineage.rows import ReadyListRow
from omd.lineage.step import StepOutcome, StepRun, hostid

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import timedelta
    from types import EllipsisType

    from pyspark.sql import SparkSession

    from omd.control.room import Control

__all__ = ["Lineage"]


class Lineage(LineageCalls):
    """The room lineage: ``control.lineage`` (docs/explanation/lineage.md).

    Examples:
        with omd.connect() as control:
            lineage = control.lineage
            lineage.register_topic("stg.ticket")
            lineage.register_topic(
                "fact.ticket", depends_on=["stg.ticket"], transforms=["etl.ticket"]
            )
            lineage.probe_sources()
            print(lineage.step("fact.ticket").outcome)

    Args:
        control: the connection; it may serve other calls too.
    """

    def __init__(self, control: Control) -> None:
        super().__init__(control._link)
        self.control = control

    def ready_list(
        self, topic: str | None = None, *, only_ready: bool = False
    ) -> list[ReadyListRow]:
        """Every topic with a processor, greatest lag first (docs/explanation/lineage.md, rule L5).

        Args:
            topic: only this one.
            only_ready: only those that may run now.
        """
        return self.report(ReadyListRow, topic=topic, is_ready=True if only_ready else None)

    def listen(self) -> Listener:
        """A connection that hears when an offset moves: the topics whose offset did."""
        return Listener(self.control.new_link(name="-listen"), "omd_lineage")

    def step(  # type: ignore[override] # the routine, and the same on Spark
        self,
        topic: str,
        *,
        spark: SparkSession | None = None,
        session: Callable[[], Any] | None = None,
        lease: timedelta | EllipsisType | None = ...,
        context: Mapping[str, Any] | None = None,
    ) -> StepOutcome:
        """Run one step of a topic, whatever its engine (rule L8); waits for its end.

        Args:
            topic: the topic.
            spark: for one on Spark: the session; default: the control's, else the active one.
            session: makes one where there is none; called when the step has begun.
            lease: of a step on Spark, other than the control's.
            context: added to its execution context.

        Returns:
            How it went. What a job on Spark raised is recorded, and its `error`.

        Raises:
            UnknownTopic: no topic has this name.
            ConnectionFailed: the database can't be reached.
        """
        definition = self.topic_definition(topic)
        if definition.engine != "SPARK":
            return self._step_in_database(topic)
        run = StepRun(self, definition, spark=spark, session=session, lease=lease, context=context)
        try:
            with run:
                engines.engine("SPARK").transform(run)
        except StepNotStarted:
            begun = run.begun
            assert begun is not None  # noqa: S101 - what else has told that it is not started
            return StepOutcome(
                topic, begun.outcome, begun.module_instance_id, detail=begun.detail or begun.reason
            )
        except ConnectionFailed:
            raise
        except Exception as error:  # noqa: BLE001 - it is recorded, and told as data
            return _failed(run, error) if run._began else self._not_begun(topic, error)
        return StepOutcome(
            topic, StepResult.DONE, run.module_instance_id, run._rows.get("rows_inserted", 0)
        )

    def _step_in_database(self, topic: str) -> StepOutcome:
        """A step takes long: on a connection of its own. SIGTERM and Ctrl-C cancel it."""
        link = self.control.new_link()
        signals.enter(lambda: None)
        try:
            answer = LineageCalls(link).step(topic, hostid=hostid())
        except ConnectionFailed:
            raise
        except psycopg.Error as error:
            told = _recorded(error)
            if told is None:
                return self._not_begun(topic, error)
            return StepOutcome(topic, StepResult.ERROR, told, detail=_one_line(error))
        except BaseException:
            link.cancel()
            raise
        finally:
            link.close()
            signals.leave()
        return StepOutcome(
            topic, answer.outcome, answer.module_instance_id, answer.rows, answer.detail
        )

    def _not_begun(self, topic: str, error: Exception) -> StepOutcome:
        """A step that could not begin counts as tried, so that the topic backs off.

        Raises:
            Exception: the call itself was wrong, or no database could note it.
        """
        if isinstance(error, CallerError | WrongTopicState | NotInstalled):
            raise error
        self.note_error(topic, describe(error)[0])
        return StepOutcome(topic, StepResult.ERROR, detail=_one_line(error), error=error)


def _failed(run: StepRun, error: Exception) -> StepOutcome:
    return StepOutcome(
        run.topic, StepResult.ERROR, run.module_instance_id, detail=_one_line(error), error=error
    )


def _recorded(error: psycopg.Error) -> int | None:
    """The step that was cancelled, and whose failure is recorded."""
    if not isinstance(error, psycopg.errors.QueryCanceled):
        return None
    try:
        instance = json.loads(error.diag.message_detail or "{}").get("module_instance_id")
    except (ValueError, AttributeError):
        return None
    return instance if isinstance(instance, int) else None


def _one_line(error: BaseException) -> str:
    told = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    return " ".join(f"{type(error).__name__}: {told or error}".split())
