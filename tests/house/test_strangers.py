"""Routines that end transactions have no search path of their own, and spring no trap either."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from house.catalog import FILES as ROUTINES
from house.catalog import name_of
from house.exceptions import CONTROLS_TRANSACTIONS
from support.strangers import assert_nothing_happened, plant

if TYPE_CHECKING:
    from collections.abc import Iterator

FILES = [file for file in ROUTINES if name_of(file) in CONTROLS_TRANSACTIONS]
PREPARED = """
    CREATE SCHEMA dwh;
    CREATE TABLE dwh.base (pos timestamptz, id bigint, PRIMARY KEY (pos, id));
    INSERT INTO dwh.base SELECT clock_timestamp() - interval '1 hour', 1;
    CREATE TABLE dwh.t (id bigint, omd_insert_module_instance_id bigint);
    CREATE TABLE dwh.f (id bigint, omd_insert_module_instance_id bigint);
    CREATE VIEW dwh.v AS SELECT b.id FROM dwh.base AS b WHERE omd_lineage.in_block(b.pos, b.id);
    CALL omd.register_module('m', 'INT', 'dwh.t', 'HUB', p_executable => 'SELECT');
    CALL omd.register_module('bad', 'INT', 'dwh.t', 'HUB', p_executable => 'SELECT FROM nowhere');
    CALL omd.register_batch('b', p_frequency_code => 'Adhoc');
    CALL omd.register_batch('above', p_frequency_code => 'Adhoc');
    CALL omd.add_batch_to_parent_batch('b', 'above');
    CALL omd.add_module_to_batch('b', 'm');
    CALL omd.add_module_to_batch('b', 'bad');
    CALL omd_lineage.register_topic('dwh.base');
    CALL omd_lineage.register_topic('dwh.f', p_depends_on => '{dwh.base}',
        p_transforms => '{dwh.v}');
    CALL omd_dispatch.register_family('PARCEL', '{"DEPOT": "text"}');
    CALL omd_delivery.deploy_model('{"interface": "shop", "entities": [{"name": "orders",
        "key": ["nbr"], "attributes": [{"name": "nbr", "type": "integer"}]}]}');
    CALL omd_facts.deploy('shop')
"""
CALLS = [
    "CALL omd.run_module('m')",
    "CALL omd.run_module('bad')",
    "CALL omd.run_batch('above')",
    "CALL omd.purge('1 day'::pg_catalog.interval)",
    "CALL omd_lineage.probe_sources()",
    "CALL omd_lineage.step('dwh.f')",
    "CALL omd_lineage.restate('dwh.f', '2020-01-01 00:00:00+00', '2020-01-02 00:00:00+00')",
    "CALL omd_dispatch.purge_family('PARCEL')",
    "CALL omd_dispatch.purge_partition('PARCEL', 0)",
    "CALL omd_facts.load('shop')",
    "CALL omd_facts.load_all()",
]


@pytest.fixture
def hostile(conn: Any, dsn: str) -> Iterator[psycopg.Connection[Any]]:
    conn.execute(PREPARED)
    with psycopg.connect(plant(dsn, FILES), autocommit=True) as session:
        yield session


def test_a_routine_without_a_search_path_springs_no_trap(
    hostile: psycopg.Connection[Any], dsn: str
) -> None:
    failures = {}
    for call in CALLS:
        try:
            hostile.execute(call.encode())
        except psycopg.Error as error:
            failures[call] = str(error)
    assert failures == {}
    assert_nothing_happened(dsn)
