"""Plans of deliveries, as the database makes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.types.json import Jsonb

from omd.rooms.delivery.source import source_of
from omd.spark.delivery import staging
from omd.spark.delivery.plan import Plan
from omd.spark.delivery.stage1 import check
from omd.spark.delivery.staging import working_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from omd.spark.delivery.stage1 import Checked
    from omd.spark.delivery.staging import Staged


class Desk:
    """A database with OMD in which each model is an interface of its own."""

    def __init__(self, dsn: str) -> None:
        self.conn = psycopg.connect(dsn, autocommit=True)
        self.count = 0
        self.call("register_tenant", tenant_code="t")

    def call(self, routine: str, /, **arguments: Any) -> tuple[Any, ...]:
        names = ", ".join(f"p_{name} => %s" for name in arguments)
        values = [Jsonb(v) if isinstance(v, (dict, list)) else v for v in arguments.values()]
        cursor = self.conn.execute(f"CALL omd_delivery.{routine}({names})", values)
        return (cursor.fetchone() if cursor.description else None) or ()

    def plan(
        self,
        *entities: dict[str, Any],
        settings: dict[str, Any] | None = None,
        loads: Any = None,
        at: str = "2020-02-29 23:30:00-05",
        **options: Any,
    ) -> Plan:
        """Return the plan of stage 1 for a delivery of these entities."""
        self.count += 1
        code = f"i{self.count}"
        model = {"interface": code, "entities": list(entities), "settings": settings or {}}
        self.call("deploy_model", model=model)
        self.call(
            "register_agreement",
            agreement_code=code,
            tenant_code="t",
            interface_code=code,
            options=options,
        )
        delivery, _ = self.call(
            "create_delivery", agreement_code=code, snapshot_datetime=at, entities=loads
        )
        self.call("report_loaded", delivery_id=delivery)
        assert self.call("begin_delivery", delivery_id=delivery)[0] == "RUN"
        row = self.conn.execute(
            "SELECT omd_delivery.validation_plan(%s, 1)", (delivery,)
        ).fetchone()
        assert row is not None
        return Plan.read(row[0])


def stage(spark: SparkSession, plan: Plan, given: Any) -> dict[str, Staged]:
    """Return the staged rows of a folder, or of what is given for each entity."""
    is_folder = not isinstance(given, Mapping)
    return staging.stage(
        spark, plan, source_of(files=given) if is_folder else source_of(entities=given)
    )


def checked(spark: SparkSession, plan: Plan, given: Any, entity: str = "e", **more: Any) -> Checked:
    """Return an entity of the plan after stage 1."""
    staged = stage(spark, plan, given)
    return check(plan.entities[entity], staged[entity], **more)


def violated(found: Checked) -> dict[str, int]:
    """Return how many rows violate each constraint that is violated."""
    counts = {c.partition(".")[2]: v["rows"] for c, v in found.measures()["violations"].items()}
    return {c: n for c, n in counts.items() if n}


def another_session(spark: SparkSession, **settings: str) -> SparkSession:
    session = spark.newSession()
    for name, value in settings.items():
        session.conf.set("spark.sql." + name.replace("_", "."), value)
    return session


__all__ = ["Desk", "another_session", "checked", "stage", "violated", "working_session"]
