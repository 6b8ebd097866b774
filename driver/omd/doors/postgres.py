"""The engine POSTGRES: the database performs the run, over a connection that nobody else uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omd._core.cost import measured
from omd._core.engines import POSTGRES, Engine
from omd._core.lazy import forwarded

if TYPE_CHECKING:
    from omd.rooms.control.connection import Connection
    from omd.rooms.control.outcome import Outcome
    from omd.rooms.lineage.rows import TopicDefinitionRow


class PostgresEngine(Engine):
    """The engine in the database; it has no sessions, and cancels by the connection of a call."""

    name = POSTGRES
    needs_process = False

    snapshot = forwarded("omd.spark.snapshots.HeldSnapshot")  # a connection to PostgreSQL
    window = forwarded("omd.tables.window.window")

    def step(
        self, connection: Connection, definition: TopicDefinitionRow, **_options: Any
    ) -> Outcome[None]:
        """See `omd.rooms.lineage.step.step_in_database`; the options are those on Spark."""
        from omd.doors.outcomes import with_facts
        from omd.rooms.lineage.step import step_in_database

        with connection._long_call() as link, measured(link) as performed:
            outcome = step_in_database(link, definition.topic)
            performed("MODULE", outcome.instance_id)
        return with_facts(connection, outcome)

    def decide(self, connection: Connection, stage: str, **options: Any) -> Outcome[None]:
        """See `omd.rooms.decision.run.run_in_database`."""
        from omd.rooms.decision.run import run_in_database

        with connection._long_call() as link, measured(link) as performed:
            outcome = run_in_database(
                link,
                stage,
                options["batch"],
                options["end_value"],
                options["effective_at"],
                options["end_id"],
            )
            performed("MODULE", outcome.instance_id)
            return outcome


engine = PostgresEngine()
