"""Lineage as Python sees it: the routines as methods, and a step on any engine.

`Lineage` passes a call to the database and returns its answer as a typed object. The
database decides which topic is ready, which block is next and which block a retry takes
(docs/explanation/lineage.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from types import EllipsisType
from typing import TYPE_CHECKING, Any

from omd._core.listener import Listener
from omd.rooms.control.connection import Connection
from omd.rooms.lineage.calls import LineageCalls
from omd.rooms.lineage.rows import LineageReadyRow, ReadyListByTopicRow

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from omd.rooms.control.outcome import Outcome
    from omd.rooms.control.run import Batch


class _OfTopics(LineageReadyRow):
    """The same row from the view that costs little for a few topics."""

    __slots__ = ()
    view = ReadyListByTopicRow.view


class Lineage(LineageCalls):
    """The routines of the room lineage, what runs topics asks, and a step on any engine.

    Examples:
        with omd.connect() as control:
            lineage = control.lineage
            lineage.register_topic("stg.ticket")
            lineage.register_topic(
                "fact.ticket", depends_on=["stg.ticket"], transforms=["etl.ticket"]
            )
            lineage.probe_sources()
            print(lineage.step("fact.ticket").status)
    """

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection._link, connection._call_apart)
        self._control = connection

    def ready_list(
        self, topic: str | Sequence[str] | None = None, *, only_ready: bool = False
    ) -> list[LineageReadyRow]:
        """Return every topic with a processor, with the greatest lag first (rule L5).

        Args:
            topic: only this topic, or these.
            only_ready: only topics that may run now.
        """
        view = LineageReadyRow if topic is None else _OfTopics
        return self.report(view, topic=topic, is_ready=True if only_ready else None)

    def listen(self) -> Listener:
        """Return a connection that is notified of each topic whose offset moves, by `topic_id`."""
        return Listener(self._control._new_link(name="-listen"), "omd_lineage")

    def step(  # type: ignore[override] # the routine, and the same on Spark
        self,
        topic: str,
        *,
        spark: SparkSession | None = None,
        session: Callable[[], Any] | None = None,
        lease: timedelta | EllipsisType | None = ...,
        context: Mapping[str, Any] | None = None,
        batch: Batch[Any] | int | None = None,
    ) -> Outcome[None]:
        """Run one step of a topic on its engine (rule L8), and wait for its end.

        Args:
            topic: the topic.
            spark: the session of a step on Spark; by default that of the control, or the active
                one.
            session: makes a session where there is none; it is called when the step has begun.
            lease: the lease of a step on Spark, if it is not that of the control.
            context: values to add to the execution context of the step.
            batch: the Batch, or the Batch Instance ID, that a step on Spark is part of.

        Returns:
            The outcome. An exception of a job on Spark is recorded, and returned as `error`.

        Raises:
            CallerError (OM015): no topic has this name.
            ConnectionFailed: the database can't be reached.
        """
        definition = self.topic_definition(topic)
        outcome: Outcome[None] = self._control._engines[definition.engine].step(
            self._control,
            definition,
            spark=spark,
            session=session,
            lease=lease,
            context=context,
            batch=batch,
        )
        return outcome
