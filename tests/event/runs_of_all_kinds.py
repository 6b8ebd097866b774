"""`World` has runs of all kinds in a database of its own, and their events in OpenLineage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg.types.json import Jsonb

from facts.store import T, entity
from provenance.middle import Middle
from support.flow import Begun, Flow
from support.scene import Scene

if TYPE_CHECKING:
    import psycopg

CALLER = "airflow/dag.task/018f0000-0000-7000-8000-000000000001"
ROOT = "https://airflow.example/my/dag/018f0000-0000-7000-8000-000000000002"
HOSTILE = "a\"b'c\\d{}\n/%é"
ORDERS = entity(
    "orders",
    ["nbr"],
    ["nbr", ("amount", "text(20)")],
    constraints=[
        {"name": "short", "type": "value", "attribute": "amount", "check": "length(amount) < 9"}
    ],
    facts={"changes": True},
)


class World:
    """Runs of all kinds, and their events."""

    def __init__(self, conn: psycopg.Connection[dict[str, Any]]) -> None:
        conn.prepare_threshold = None
        self.conn = conn
        self.flow = Flow(conn)
        self.ids: dict[str, int] = {}
        self.flow.conn.execute("CREATE SCHEMA IF NOT EXISTS dwh")
        self.batches()
        self.contexts()
        self.statements()
        self.topics(Scene(conn, changes_role=False))
        self.deliveries(Middle(conn))
        self.lake()
        self.publish()

    def publish(self) -> None:
        while self.flow.call("omd_event.publish")["published"] != 0:
            pass

    def batches(self) -> None:
        """A Batch in a Batch, which a program has called; one run fails, and is undone later."""
        flow = self.flow
        flow.batch("inner", "m_1", "m_2")
        flow.batch("outer", batch_description="All of it")
        flow.call("add_batch_to_parent_batch", parent_batch_code="outer", batch_code="inner")
        outer = flow.begin_batch(
            "outer",
            execution_context={"openlineage_parent_id": CALLER, "openlineage_root_parent_id": ROOT},
        )
        inner = flow.begin_batch("inner", parent_batch_instance_id=outer.id)
        one = flow.begin_module("m_1", inner.id)
        flow.call(
            "module_success",
            module_instance_id=one.id,
            rows_input=9,
            rows_inserted=3,
            rows_updated=4,
            rows_rejected=1,
        )
        two = flow.begin_module("m_2", inner.id)
        flow.call(
            "module_failure",
            module_instance_id=two.id,
            event_detail="the secret of Anna",
            event_return_code_details="22012",
        )
        flow.end_batch(inner.id, "F")
        flow.end_batch(outer.id, "F")
        again = flow.begin_module("m_2")
        assert again.array == [two.id], again
        flow.end_module(again.id, "S")
        self.ids |= {"outer": outer.id, "inner": inner.id, "one": one.id}
        self.ids |= {"two": two.id, "again": again.id}

    def run(self, code: str, status: str, **arguments: Any) -> Begun:
        self.flow.module(code)
        begun = self.flow.begin_module(code, **arguments)
        self.flow.end_module(begun.id, status)
        return begun

    def contexts(self) -> None:
        self.run("m_called", "S", execution_context={"openlineage_parent_id": CALLER})
        self.run("m_odd", "A", execution_context={"openlineage_parent_id": "no/such text"})
        self.run("m_spark", "S", execution_context={"spark": "4.3.0"})

    def statements(self) -> None:
        """A statement, a name that is no identifier, and a code with all that hurts."""
        self.conn.execute(
            'CREATE TABLE dwh."Odd ""name""" (n int, omd_insert_module_instance_id bigint);'
            " CREATE TABLE dwh.read (n int, omd_insert_module_instance_id bigint)"
        )
        self.flow.call(
            "register_module",
            module_code=HOSTILE,
            area_code="STG",
            table_code='dwh."Odd ""name"""',
            platform_code="POSTGRES",
            module_description="What it\nloads",
            executable='INSERT INTO dwh."Odd ""name""" SELECT n FROM dwh.read',
        )
        assert self.flow.call("run_module", module_code=HOSTILE)["execution_status_code"] == "S"

    def topics(self, scene: Scene) -> None:
        scene.source("dwh.src", 1, 2, 3)
        scene.topic("dwh.f")
        assert scene.step("dwh.f").outcome == "DONE"
        scene.insert(4, 5)
        assert scene.step("dwh.f").outcome == "DONE"
        scene.view("dwh.v_all", "dwh.f")
        self.conn.execute(
            "CREATE OR REPLACE VIEW dwh.v_all AS SELECT max(t.pos) AS pos, t.id, sum(t.v)::int AS v"
            " FROM dwh.f AS t WHERE t.pos IS NOT NULL GROUP BY t.id"
        )
        scene.topic("dwh.all_of", "dwh.f", transforms=["dwh.v_all"], processor="RELOAD")
        assert scene.step("dwh.all_of").outcome == "DONE"

    def deliveries(self, middle: Middle) -> None:
        middle.set_up(ORDERS)
        middle.agree("a", settings={"orders.short": {"action": "NO ACTION", "threshold": 3}})
        run = middle.run(T[1], entities={"orders": "DELTA"})
        run.validate(violations={"orders.short": 2})
        run.write("orders", ("N", 1, "5"))
        run.apply(written={"orders": 1})
        self.ids["entity"] = run.instances["orders"]
        self.ids["load"] = middle.load_all()[0]

    def lake(self) -> None:
        call = self.flow.call
        call("omd_lake.register_namespace", namespace="lake", location="s3a://bucket/house")
        call(
            "register_module",
            module_code="iceberg",
            area_code="HSTG",
            table_code="lake.ice",
            table_type_code="HSTG",
            platform_code="SPARK",
            table_format_code="ICEBERG",
        )
        call(
            "omd_lake.register_table",
            table_code="lake.ice",
            metadata_location="s3a://bucket/house/ice/metadata/0.json",
        )
        instance = self.flow.begin_module("iceberg", execution_context={"spark": "4.3.0"}).id
        with self.conn.transaction():
            call("omd_lake.open_commit", module_instance_id=instance, tables=["lake.ice"])
            call(
                "omd_lake.commit_tables",
                module_instance_id=instance,
                commits=Jsonb(
                    [
                        {
                            "table": "lake.ice",
                            "format": "ICEBERG",
                            "from": "s3a://bucket/house/ice/metadata/0.json",
                            "to": "s3a://bucket/house/ice/metadata/1.json",
                            "sequence_number": 1,
                            "snapshot_id": 7_000_000_000_000_000_001,
                            "operation": "OVERWRITE",
                            "writes": [{"write_number": 1, "rows": 10}],
                            "counts": {"added_files": 1, "added_rows": 10},
                        }
                    ]
                ),
            )
        self.flow.end_module(instance, "S")

    def events(self, code: str, kind: str | None = None) -> list[dict[str, Any]]:
        """Return the events of a Module or Batch, in order."""
        rows = self.flow.rows(
            "SELECT event FROM omd_report.openlineage_event"
            " WHERE code = %s AND (%s::text IS NULL OR event ->> 'eventType' = %s)"
            " ORDER BY event_number",
            code,
            kind,
            kind,
        )
        return [row["event"] for row in rows]

    def event(self, code: str, kind: str) -> dict[str, Any]:
        return self.events(code, kind)[-1]

    def all_events(self) -> list[dict[str, Any]]:
        rows = self.flow.rows(
            "SELECT event FROM omd_report.openlineage_event ORDER BY event_number"
        )
        return [row["event"] for row in rows]
