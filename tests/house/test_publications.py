"""A publication FOR ALL TABLES stops nothing: each table has a key or a replica identity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from house.catalog import SCHEMAS
from omd.programs import install
from support.flow import Flow
from web.world import build

if TYPE_CHECKING:
    Connection = psycopg.Connection[dict[str, Any]]

# All that makes tables at run time.
GENERATED = """
    CALL omd_dispatch.register_family('PARCEL', '{"DEPOT": "text"}', p_migration_status => 0);
    CALL omd_dispatch.register_task_type('PARCEL', 'LABEL', 'PYTHON', 'depot:label');
    CALL omd_dispatch.set_migration_status('PARCEL', 1);
    CALL omd_delivery.deploy_model('{"interface": "shop", "entities": [
        {"name": "customers", "key": ["nbr"], "attributes": [{"name": "nbr", "type": "integer"},
            {"name": "name", "type": "text"}]},
        {"name": "orders", "key": ["nbr"], "attributes": [{"name": "nbr", "type": "integer"},
            {"name": "customer", "type": "integer"}, {"name": "amount", "type": "integer"}]
        }]}');
    CALL omd_delivery.register_tenant('t');
    CALL omd_delivery.register_agreement('a', 't', 'shop');
    CALL omd_facts.deploy('shop')
"""
WITHOUT_IDENTITY = f"""
    SELECT c.oid::regclass::text AS name FROM pg_class AS c
    WHERE c.relkind IN ('r', 'p') AND c.relpersistence <> 't'
        AND (c.relowner = 'omd_owner'::regrole OR c.relnamespace IN ({SCHEMAS}))
        AND c.relreplident NOT IN ('f', 'i')
        AND NOT EXISTS (SELECT FROM pg_index AS i WHERE i.indrelid = c.oid AND i.indisprimary)
"""
TABLES = """
    SELECT c.oid::regclass::text AS name FROM pg_class AS c
    WHERE c.relkind IN ('r', 'p') AND c.relowner = 'omd_owner'::regrole
"""


@pytest.fixture
def generated(conn: Connection) -> Connection:
    conn.execute(GENERATED)
    return conn


def test_each_table_has_a_key_or_a_replica_identity(generated: Connection) -> None:
    assert generated.execute(WITHOUT_IDENTITY).fetchall() == []


def test_under_a_publication_for_all_tables_each_table_can_be_written(
    generated: Connection,
) -> None:
    """PostgreSQL refuses when a statement begins, whether or not it finds a row."""
    generated.execute("CREATE PUBLICATION everything FOR ALL TABLES")
    tables = [row["name"] for row in generated.execute(TABLES)]
    assert {"omd_lineage.replaced_row", "omd_decision.cycle", "stg_a.orders"} <= set(tables)
    generated.execute("SET session_replication_role = replica")  # the guards of edits pass
    for table in tables:
        generated.execute(f"DELETE FROM {table} WHERE false".encode())
    generated.execute("CREATE TABLE public.bare (i integer)")
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
        generated.execute("DELETE FROM public.bare WHERE false")


def test_an_installation_gives_an_identity_to_what_an_older_one_made(
    generated: Connection, connect: Any
) -> None:
    tables = ("omd_lineage.dependency", "lvl_shop._open_orders", "stg_a.orders")
    for table in tables:
        generated.execute(f"ALTER TABLE {table} REPLICA IDENTITY DEFAULT".encode())
    told: list[str] = []
    generated.add_notice_handler(lambda notice: told.append(str(notice.message_primary)))
    user = connect()
    with user.transaction():
        user.execute("SELECT FROM stg_a.orders")
        install.install(generated)  # it does not wait
    assert [row["name"] for row in generated.execute(WITHOUT_IDENTITY)] == ["stg_a.orders"]
    assert told == [
        "these tables have no replica identity yet, since they are in use: stg_a.orders"
    ]
    install.install(generated)
    assert generated.execute(WITHOUT_IDENTITY).fetchall() == []


def test_no_room_makes_a_table_without_an_identity(conn: Connection) -> None:
    """Objects of each kind, in each state, with all tables that they make."""
    build(conn)
    assert conn.execute(WITHOUT_IDENTITY).fetchall() == []
    conn.execute("CREATE PUBLICATION everything FOR ALL TABLES")
    tables = [row["name"] for row in conn.execute(TABLES)]
    assert {"lvl", "wrk", "stg"} <= {name.split("_")[0] for name in tables}
    conn.execute("SET session_replication_role = replica")
    for table in tables:
        conn.execute(f"DELETE FROM {table} WHERE false".encode())


def test_a_table_of_a_module_that_a_publication_has_without_an_identity_is_named(
    conn: Connection,
) -> None:
    flow = Flow(conn)
    conn.execute("CREATE SCHEMA dwh")
    for code in ("bare", "keyed", "full", "nothing", "partitioned", "inserts"):
        flow.module(code)
    conn.execute("DROP TABLE dwh.partitioned")
    conn.execute(
        """
        ALTER TABLE dwh.keyed ADD PRIMARY KEY (v);
        ALTER TABLE dwh.full REPLICA IDENTITY FULL;
        ALTER TABLE dwh.nothing ADD PRIMARY KEY (v), REPLICA IDENTITY NOTHING;
        CREATE TABLE dwh.partitioned (v text, omd_insert_module_instance_id bigint)
            PARTITION BY LIST (v);
        CREATE TABLE dwh.part_1 PARTITION OF dwh.partitioned FOR VALUES IN ('1');
        CREATE TABLE dwh.part_2 PARTITION OF dwh.partitioned FOR VALUES IN ('2');
        ALTER TABLE dwh.part_2 REPLICA IDENTITY FULL;
        CREATE PUBLICATION inserts FOR TABLE dwh.inserts WITH (publish = 'insert')
        """
    )
    query = "SELECT module_code, publication_name, command FROM omd.targets_without_identity()"
    flow.conn.execute("SET ROLE omd_reader")
    assert flow.rows(query) == []
    flow.conn.execute("RESET ROLE")
    for how in ("", " WITH (publish_via_partition_root = true)"):
        conn.execute(f"CREATE PUBLICATION everything FOR ALL TABLES{how}".encode())
        found = flow.rows(query)
        assert [(row["module_code"], row["publication_name"]) for row in found] == [
            (code, "everything") for code in ("bare", "inserts", "nothing", "partitioned")
        ]
        assert found[3]["command"] == "ALTER TABLE dwh.part_1 REPLICA IDENTITY FULL;"
        conn.execute("DROP PUBLICATION everything")
    conn.execute("CREATE PUBLICATION everything FOR ALL TABLES")
    for row in flow.rows(query):
        conn.execute(row["command"].encode())
    assert flow.rows(query) == []
