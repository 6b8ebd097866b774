"""A night through all rooms, where each table, view and function of a user tells who runs it.

The tables belong to a role without a role of OMD. Three logins play: who administers, who loads and
who looks, each with the rights that the how-to pages name. Policies spare who loads and administers
the tables (BYPASSRLS): a rollback refuses a table whose policies may hide rows from it.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from facts.store import Store, entity
from support.flow import Flow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Connection = psycopg.Connection[dict[str, Any]]

PERSONS = {
    "night_tables": "",
    "night_admin": "LOGIN BYPASSRLS IN ROLE omd_admin, omd_data_reader",
    "night_loader": "LOGIN BYPASSRLS IN ROLE omd_runner, omd_data_writer, omd_data_reader",
    "night_reader": "LOGIN IN ROLE omd_reader, omd_data_reader",
}
KEEP = {"facts": {"changes": True}}
ORDERS = entity("orders", ["nbr"], ["nbr", "amount"], **KEEP)
STAMPS = "note user_code.checked, omd_insert_module_instance_id bigint"
WRITTEN = (
    f"row_id bigint GENERATED ALWAYS AS IDENTITY, {STAMPS},"
    " omd_insert_datetime timestamptz NOT NULL DEFAULT clock_timestamp()"
)
TABLES = f"""
    CREATE SCHEMA app AUTHORIZATION night_tables;
    SET ROLE night_tables;
    CREATE TABLE app.made (v bigint, {WRITTEN});
    CREATE INDEX ON app.made (omd_insert_datetime, row_id);
    CREATE TABLE app.copied (v bigint, {STAMPS});
    CREATE TABLE app.bill (v bigint, n bigint, {STAMPS});
    CREATE TABLE app.order_now (nbr integer, amount integer, acm_record_ind text, {STAMPS});
    CREATE UNIQUE INDEX ON app.order_now (nbr);
    CREATE TABLE app.judged (v bigint, {STAMPS});
    CREATE FUNCTION app.judge(p jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('judged', jsonb_build_object('v', p #> '{{m,0,v}}'))
    WHERE user_code.watch('a ruleset') $$;
    CREATE FUNCTION app.louder(p_operation text, p_old jsonb, p_new jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
        PERFORM user_code.watch('a control');
        RETURN jsonb_build_object('amount', 11);
    END $$;
    RESET ROLE;
    GRANT USAGE ON SCHEMA app TO omd_owner;
    GRANT CREATE ON SCHEMA app TO night_admin;
    GRANT USAGE ON SCHEMA app TO night_loader, night_admin, night_reader;
    GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON ALL TABLES IN SCHEMA app TO night_loader;
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA app TO night_admin;
    GRANT SELECT ON app.made, app.copied TO night_reader;
"""
# Who makes a view names routines of OMD, so it is the administrator.
VIEWS = """
    SET ROLE night_admin;
    CREATE VIEW app.v_copied AS
    SELECT m.v FROM app.made AS m WHERE omd_lineage.in_block(m.omd_insert_datetime, m.row_id);
    CREATE VIEW app.v_bill AS SELECT m.v, count(*) AS n FROM app.made AS m GROUP BY m.v;
    CREATE VIEW app.v_order_now AS
    SELECT o.nbr, o.amount, o.acm_record_ind FROM changes_shop.orders AS o;
    GRANT SELECT ON app.v_copied, app.v_bill, app.v_order_now TO night_loader;
    RESET ROLE;
"""
MAKE = (
    "INSERT INTO app.made (v, note, omd_insert_module_instance_id)"
    " SELECT n, 'made', current_setting('omd.module_instance_id')::bigint"
    " FROM generate_series(1, 3) AS n WHERE user_code.watch('an executable')"
)
# An array of a domain is checked where the text is parsed.
PARSED = "INSERT INTO app.made (v, note) SELECT 1, unnest('{made}'::user_code.checked[])"
UNDO = (
    "DELETE FROM {table} WHERE {insert_instance_column} = ANY ({instance_array})"
    " AND user_code.watch('a template')"
)
STAGE = {
    "stage": "judge",
    "mode": "KEY",
    "keys": [{"column": "v"}],
    "ruleset": "judge",
    "links": [{"name": "m", "source": "app.made", "arrival": "row_id"}],
    "outputs": [{"name": "judged", "table": "app.judged"}],
    "window": {"column": "omd_insert_datetime"},
}
FROM_MADE = {
    "depends_on": ["app.made"],
    "pos_column": "omd_insert_datetime",
    "id_column": "row_id",
    "start_pos": "-infinity",
    "repeat": timedelta(0),
}
TOPICS: dict[str, dict[str, Any]] = {
    "app.copied": {**FROM_MADE, "transforms": ["app.v_copied"]},
    "app.bill": {**FROM_MADE, "processor": "RELOAD", "transforms": ["app.v_bill"]},
    "app.order_now": {
        "depends_on": ["gdal_shop.orders"],
        "transforms": ["app.v_order_now"],
        "merge_key": ["nbr"],
        "start_pos": "-infinity",
        "repeat": timedelta(0),
    },
}


class Person(Store):
    """The calls of a login, none of which plays another role."""

    def topic(self, topic: str, **attributes: Any) -> None:
        Flow.call(self, "omd_lineage.register_topic", topic=topic, **attributes)

    def step(self, topic: str) -> dict[str, Any]:
        return Flow.call(self, "omd_lineage.step", topic=topic)

    def go(self, code: str) -> int:
        ran = self.call("omd.run_module", module_code=code)
        assert ran["execution_status_code"] == "S", ran
        return int(ran["module_instance_id"])


@pytest.fixture
def persons(
    conn: Connection, dsn: str, connect: Callable[..., Connection]
) -> Iterator[Callable[[str], Person]]:
    """A function that returns the calls of a login."""
    for name, its in PERSONS.items():
        conn.execute(f"CREATE ROLE {name} {its}".encode())
    conn.execute(TABLES.encode())
    yield lambda name: Person(connect(make_conninfo(dsn, user=f"night_{name}")))
    names = ", ".join(PERSONS)
    conn.execute(f"DROP OWNED BY {names} CASCADE; DROP ROLE {names}".encode())


def last_run(conn: Connection, code: str) -> int:
    row = conn.execute(
        "SELECT max(i.module_instance_id) AS id FROM omd.module_instance AS i"
        " INNER JOIN omd.module AS m USING (module_id) WHERE m.module_code = %s",
        [code],
    ).fetchone()
    assert row
    return int(row["id"])


def test_a_night_runs_nobody_s_code_as_the_owner(
    conn: Connection, persons: Callable[[str], Person]
) -> None:
    admin, loader, reader = persons("admin"), persons("loader"), persons("reader")
    # What there is.
    admin.set_up(ORDERS)
    admin.agree("desk", layer_code="EXPORT")
    conn.execute(
        "GRANT USAGE ON SCHEMA changes_shop, gdal_shop, asof_shop TO night_loader, night_admin;"
        " GRANT SELECT ON ALL TABLES IN SCHEMA changes_shop, gdal_shop, asof_shop"
        " TO night_loader, night_admin"
    )
    conn.execute(VIEWS)
    admin.call(
        "omd.register_module",
        module_code="make",
        area_code="HSTG",
        table_code="app.made",
        executable=MAKE,
    )
    admin.call(
        "omd.register_module",
        module_code="parsed",
        area_code="HSTG",
        table_code="app.made",
        executable=PARSED,
    )
    admin.call("omd.register_rollback", module_code="make", statement_template=UNDO)
    ruleset = {"ruleset": "judge", "kind": "FUNCTION", "content": "app.judge"}
    admin.call("omd_decision.define_ruleset", ruleset=ruleset, activate=True)
    admin.call("omd_decision.define_stage", stage=STAGE)
    for topic, attributes in TOPICS.items():
        admin.topic(topic, **attributes)
    # Deliveries and facts.
    for day in (1, 2):
        run, _ = loader.accept(day, rows={"orders": [("N", day, 10)]})
        assert loader.take()["outcome"] == "PERSISTED"
    load = last_run(conn, "facts.shop")
    admin.call("omd_facts.undo", interface_code="shop", module_instance_id=load)
    assert loader.take()["outcome"] == "PERSISTED"
    # Writes of a person, which a control completes.
    admin.agree("written", layer_code="GDAL")
    for operation in ("INSERT", "UPDATE"):
        admin.call(
            "omd_facts.register_control",
            interface_code="shop",
            entity_code="orders",
            control_code=f"louder_{operation}",
            operation=operation,
            timing="BEFORE",
            function="app.louder",
        )
    written = loader.call("omd_facts.open_delivery", agreement_code="written")["delivery_id"]
    loader.conn.execute("INSERT INTO gdal_shop.orders (nbr, amount) VALUES (3, 5)")
    loader.conn.execute("UPDATE gdal_shop.orders SET amount = 6 WHERE nbr = 1")
    loader.call("omd_facts.close_delivery", delivery_id=written)
    assert loader.now("orders", "nbr, amount") == [(1, 11), (2, 10), (3, 11)]
    # Runs, steps and decisions.
    first = loader.go("make")
    for topic in TOPICS:
        assert loader.step(topic)["outcome"] == "DONE", topic
    decided = loader.go("judge")
    # A run that fails is rolled back by the next, and one that is to be, too.
    begun = loader.call("omd.begin_module", module_code="make")["module_instance_id"]
    loader.conn.execute(
        "INSERT INTO app.made (v, omd_insert_module_instance_id) VALUES (9, %s)", [begun]
    )
    loader.call("omd.module_failure", module_instance_id=begun)
    second = loader.go("make")
    admin.call("omd.set_next_run_indicator", next_run_indicator="R", module_instance_id=second)
    third = loader.go("make")
    admin.rows("SELECT * FROM omd.preview_rollback(%s)", third)
    # Exports.
    order = loader.call("omd_facts.create_export", agreement_code="desk", target_uri="/out/")
    export = loader.call("omd_facts.begin_export", delivery_id=order["delivery_id"])
    for part in export["plan"]:
        loader.rows(part["query"].replace("%", "%%"))
    loader.call(
        "omd_facts.finish_export",
        delivery_id=order["delivery_id"],
        module_instance_id=export["module_instance_id"],
        manifest={"entities": [{"rows": 1}]},
    )
    # What people see.
    for run in (first, decided, third, last_run(conn, "app.copied")):
        reader.rows("SELECT * FROM omd_provenance.trace(%s)", run)
        reader.rows("SELECT * FROM omd_provenance.sources_of(%s)", run)
        reader.rows("SELECT * FROM omd_provenance.readers_of(%s)", run)
    reader.rows("SELECT * FROM omd_provenance.explain('app.copied', '{\"v\": 1}', 'v')")
    reader.rows("SELECT * FROM omd_provenance.trace_row('app.copied', '{\"v\": 1}')")
    for view in reader.rows(
        "SELECT table_name AS name FROM information_schema.views WHERE table_schema = 'omd_report'"
    ):
        reader.rows(f"SELECT v.*::text FROM omd_report.{view['name']} AS v")
    # What is set back, repaired and taken back.
    Flow.call(admin, "omd_lineage.set_offset", topic="app.copied", pos="2020-01-01", id=0)
    assert loader.step("app.copied")["outcome"] == "DONE"
    admin.topic("app.copied", **{**TOPICS["app.copied"], "start_pos": "2020-01-01"})
    assert loader.step("app.copied")["outcome"] == "DONE"
    recall = admin.call(
        "omd_provenance.plan_recall", reason="it was wrong", module_instance_id=first
    )["recall_id"]
    admin.rows("CALL omd_provenance.recall(%s, '{UNKNOWN}')", recall)
    for topic in TOPICS:
        loader.step(topic)
    # What is old goes.
    admin.call("omd.purge", keep=timedelta(days=1))
