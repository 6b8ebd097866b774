"""A publication FOR ALL TABLES stops nothing: each table has a key or a replica identity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from house.catalog import SCHEMAS
from omd import install

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
