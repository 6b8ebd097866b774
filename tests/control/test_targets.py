"""Targets: which one a Module may get, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    from support.flow import Flow

OTHER: list[dict[str, Any]] = [
    {"table_code": "dwh.other"},
    {"platform_code": "SPARK"},
    {"insert_instance_column": "other"},
]
PROTECTED = [
    "omd.event_log",
    '"omd".event_log',
    "OMD.Event_Log",
    "omd_report.module_list",
    "omd_lineage.offsets",
    "omd_facts.later",
    "pg_catalog.pg_class",
    "information_schema.sql_features",
    "pg_toast.pg_toast_1255",
    "pg_temp.t",
]


@pytest.fixture(autouse=True)
def target(flow: Flow) -> None:
    flow.module()
    flow.conn.execute("CREATE TABLE dwh.other (LIKE dwh.m)")


def registered(flow: Flow) -> dict[str, Any]:
    (row,) = flow.rows("SELECT * FROM omd.module")
    return row


@pytest.mark.parametrize("other", OTHER)
def test_no_other_target_while_a_rollback_waits(flow: Flow, other: dict[str, Any]) -> None:
    failed = flow.begin_module().id
    flow.write(failed)
    flow.end_module(failed, "F")
    before = registered(flow)
    detail = flow.refused("OM111", "register_module", module_code="m", **other)
    assert detail["module_instance_ids"] == [failed]
    assert registered(flow) == before

    # the solution that the HINT names
    flow.end_module(flow.begin_module().id, "S")
    assert flow.stamps() == {}
    flow.call("register_module", module_code="m", **other)
    assert registered(flow) != before


@pytest.mark.parametrize("other", OTHER)
def test_no_other_target_while_a_run_executes(flow: Flow, other: dict[str, Any]) -> None:
    id = flow.begin_module().id
    assert flow.refused("OM111", "register_module", module_code="m", **other)
    flow.end_module(id, "S")
    flow.call("register_module", module_code="m", **other)


def test_no_other_target_while_a_marked_success_waits(flow: Flow) -> None:
    id = flow.run_module()
    flow.set_next("R", module=id)
    assert flow.refused("OM111", "register_module", module_code="m", table_code="dwh.other")


def test_the_same_target_in_another_spelling_is_none(flow: Flow) -> None:
    flow.run_module("m", "F")
    flow.call("register_module", module_code="m", table_code='DWH."m"', module_description="x")
    assert registered(flow)["table_code"] == "dwh.m"


def test_a_target_that_was_renamed_may_be_followed(flow: Flow) -> None:
    failed = flow.begin_module().id
    flow.write(failed)
    flow.end_module(failed, "F")
    flow.conn.execute("ALTER TABLE dwh.m RENAME TO renamed")
    flow.call("register_module", module_code="m", table_code="dwh.renamed")
    flow.conn.execute("ALTER TABLE dwh.renamed RENAME omd_insert_module_instance_id TO by_run")
    flow.call("register_module", module_code="m", insert_instance_column="by_run")
    assert flow.begin_module().array == [failed]
    assert flow.one("SELECT count(*) FROM dwh.renamed") == 0


def test_no_other_target_for_rows_on_spark(flow: Flow) -> None:
    flow.call("register_module", module_code="m", platform_code="SPARK")
    flow.run_module("m", "F")
    assert flow.refused("OM111", "register_module", module_code="m", table_code="lake.dwh.m")


@pytest.mark.parametrize("table", PROTECTED)
def test_a_table_of_omd_or_postgresql_is_no_target(flow: Flow, table: str) -> None:
    before = registered(flow)
    assert flow.refused("OM210", "register_module", module_code="m", table_code=table)
    detail = flow.refused(
        "OM210", "register_module", module_code="n", area_code="HSTG", table_code=table
    )
    assert detail["table_code"] == flow.one("SELECT omd.quote_table(%s, 'POSTGRES')", table)
    assert registered(flow) == before


def test_a_table_of_omd_is_no_target_of_a_topic(flow: Flow) -> None:
    with pytest.raises(psycopg.Error) as caught:
        flow.conn.execute(
            "CALL omd_lineage.register_topic('omd.event_log', ARRAY['dwh.m'],"
            " p_transforms => ARRAY['dwh.v'])"
        )
    assert caught.value.sqlstate == "OM210"


def test_a_table_of_omd_may_not_come_here_from_spark(flow: Flow) -> None:
    flow.call("register_module", module_code="m", platform_code="SPARK", table_code="omd.batch")
    assert flow.refused("OM210", "register_module", module_code="m", platform_code="POSTGRES")


@pytest.mark.parametrize("schema", ["omdata", "OMD", "my_omd", "pgdata"])
def test_a_schema_of_ones_own_with_a_name_alike_is_taken(flow: Flow, schema: str) -> None:
    flow.conn.execute(f'CREATE SCHEMA "{schema}"; CREATE TABLE "{schema}".t (id bigint)'.encode())
    try:
        flow.call("register_module", module_code="m", table_code=f'"{schema}".t')
    finally:
        flow.conn.execute(f'DROP SCHEMA "{schema}" CASCADE'.encode())
