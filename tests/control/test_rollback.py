"""Rolling back: what is undone by which statement, and where it is refused (section 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql

if TYPE_CHECKING:
    from tests.control.conftest import Flow

HOSTILE = [
    "UPPER",
    "with space",
    'a "quoted" name',
    "semi; DROP TABLE dwh.victim; --",
    "'); DELETE FROM dwh.victim; --",
    "{insert_instance_column}",
    "%s %I $1",
    "select",
    "ünïcode",
]


def failed_with_rows(flow: Flow, table: str = "dwh.m") -> int:
    id = flow.begin_module().id
    flow.write(id, table)
    return flow.end_module(id, "F")


@pytest.mark.parametrize(
    ("area", "table_type"), [("HSTG", "HSTG"), ("HSTG", None), ("INT", "HUB"), ("INT", "LINK")]
)
def test_insert_only_targets_lose_the_rows_of_the_array(
    flow: Flow, area: str, table_type: str | None
) -> None:
    flow.module("m", area_code=area, table_type_code=table_type)
    good = flow.begin_module().id
    flow.write(good)
    flow.write(0)
    flow.end_module(good, "S")
    failed = failed_with_rows(flow)
    second = flow.begin_module()
    assert (second.pi, second.array) == ("P", [failed])
    assert flow.stamps() == {0: 2, good: 2}
    flow.write(second.id)
    flow.end_module(second.id, "F")
    assert flow.begin_module().array == [second.id]
    assert flow.stamps() == {0: 2, good: 2}


@pytest.mark.parametrize("table_type", ["STG", "HUB", None])
def test_a_staging_table_is_emptied(flow: Flow, table_type: str | None) -> None:
    flow.module("m", area_code="STG", table_type_code=table_type)
    good = flow.begin_module().id
    flow.write(good)
    flow.end_module(good, "S")
    failed_with_rows(flow)
    flow.begin_module()
    assert flow.stamps() == {}


def test_several_failed_runs_are_undone_together(flow: Flow) -> None:
    flow.module(platform_code="SPARK")
    ids = [flow.run_module("m", "F")]
    ids += [flow.end_module(flow.begin_module().id, "F") for _ in range(3)]
    flow.module(platform_code="POSTGRES")
    for id in ids:
        flow.write(id)
    assert flow.begin_module().array == ids
    assert flow.stamps() == {}


def test_the_rollback_leaves_a_line_in_the_event_log(flow: Flow) -> None:
    flow.module()
    failed_with_rows(flow)
    id = flow.begin_module().id
    query = (
        "SELECT count(*) FROM omd.event_log WHERE event_type_code = 5 AND module_instance_id = %s"
    )
    assert flow.one(query, id) == 1


def test_rollback_and_marking_are_one_transaction(flow: Flow) -> None:
    flow.module()
    failed = failed_with_rows(flow)
    with flow.conn.transaction(force_rollback=True):
        assert flow.begin_module().array == [failed]
        assert flow.stamps() == {}
    assert flow.stamps() == {failed: 2}
    assert flow.begin_module().array == [failed]


# Configuration


@pytest.mark.parametrize(
    ("area", "table_type"), [("PRES", "DIM"), ("INT", "3NF"), ("HELPER", None)]
)
def test_a_pending_rollback_without_a_template_stops_the_run(
    flow: Flow, area: str, table_type: str | None
) -> None:
    flow.module("m", area_code=area, table_type_code=table_type)
    flow.run_module()
    failed = failed_with_rows(flow)
    detail = flow.refused("OM201", "begin_module", module_code="m")
    assert (detail["module_code"], detail["area_code"]) == ("m", area)
    assert flow.one("SELECT max(module_instance_id) FROM omd.module_instance") == failed
    created = flow.create_module()
    flow.refused("OM201", "evaluate_module", module_instance_id=created)
    assert flow.codes(module=created) == "E A P"
    flow.end_module(created, "A")

    # the command of the HINT mends it
    with pytest.raises(psycopg.Error) as caught:
        flow.begin_module()
    assert caught.value.diag.message_hint
    flow.conn.execute(caught.value.diag.message_hint.encode())
    assert flow.begin_module().array == [failed]
    assert flow.stamps() == {}


def test_without_a_pending_rollback_no_template_is_needed(flow: Flow) -> None:
    flow.module("m", area_code="PRES", table_type_code="DIM", table_code="no.such_table")
    assert flow.begin_module().answer == ("P", None)


@pytest.mark.parametrize(("area", "table_type"), [("STG", "STG"), ("HSTG", None), ("INT", "HUB")])
def test_a_missing_target_stops_the_run(flow: Flow, area: str, table_type: str | None) -> None:
    flow.module("m", area_code=area, table_type_code=table_type)
    failed = failed_with_rows(flow)
    flow.conn.execute("DROP TABLE dwh.m")
    detail = flow.refused("OM202", "begin_module", module_code="m")
    assert detail["module_code"] == "m"
    assert flow.one("SELECT max(module_instance_id) FROM omd.module_instance") == failed
    flow.module("m")
    assert flow.begin_module().array == [failed]


def test_a_template_of_the_module_counts_alone(flow: Flow) -> None:
    flow.module("m", area_code="STG")
    flow.conn.execute("CREATE TABLE dwh.log (id bigint)")
    for step, statement in (
        (2, "INSERT INTO dwh.log SELECT 2"),
        (1, "DELETE FROM {table} WHERE {insert_instance_column} = ANY ({instance_array})"),
    ):
        flow.conn.execute(
            "INSERT INTO omd.rollback_template (module_id, step, statement_template)"
            " SELECT module_id, %s, %s FROM omd.module",
            [step, statement],
        )
    flow.write(0)
    failed_with_rows(flow)
    flow.begin_module()
    assert flow.stamps() == {0: 2}
    assert flow.one("SELECT id FROM dwh.log") == 2


def test_a_users_template_for_an_area_is_used(flow: Flow) -> None:
    flow.conn.execute(
        "INSERT INTO omd.rollback_template (area_code, platform_code, step, statement_template)"
        " VALUES ('PRES', 'POSTGRES', 1, 'TRUNCATE {table}')"
    )
    flow.module("m", area_code="PRES", table_type_code="DIM")
    failed_with_rows(flow)
    flow.begin_module()
    assert flow.stamps() == {}


# Building without executing


def test_the_statements_can_be_built_without_executing(flow: Flow) -> None:
    flow.module(platform_code="SPARK")
    first = flow.run_module("m", "F")
    second = flow.end_module(flow.begin_module().id, "F")
    id = flow.begin_module().id
    rows = flow.rows("SELECT * FROM omd.build_rollback_sql(%s)", id)
    assert [(row["step"], row["platform_code"]) for row in rows] == [(1, "SPARK")]
    assert rows[0]["statement"] == (
        f"DELETE FROM `dwh`.`m` WHERE `omd_insert_module_instance_id` IN ({first}, {second})"
    )
    assert flow.codes(module=id) == "E R P"


def test_nothing_to_roll_back_builds_nothing(flow: Flow) -> None:
    flow.module()
    assert flow.rows("SELECT * FROM omd.build_rollback_sql(%s)", flow.begin_module().id) == []


def test_building_executes_nothing_in_this_database(flow: Flow) -> None:
    flow.module()
    failed = failed_with_rows(flow)
    flow.rows("SELECT * FROM omd.build_rollback_sql(%s)", flow.create_module())
    assert flow.stamps() == {failed: 2}


# Spark


def test_a_spark_target_is_rolled_back_by_the_caller_who_confirms(flow: Flow) -> None:
    flow.module(platform_code="SPARK")
    failed = flow.run_module("m", "F")
    begun = flow.begin_module()
    assert (begun.pi, begun.reason, begun.array) == ("R", None, [failed])
    flow.call("confirm_rollback", module_instance_id=begun.id)
    assert flow.codes(module=begun.id) == "E P P"
    flow.end_module(begun.id, "S")
    assert flow.begin_module().array == []


def test_a_rollback_is_confirmed_once(flow: Flow) -> None:
    flow.module(platform_code="SPARK")
    flow.run_module("m", "F")
    id = flow.begin_module().id
    flow.call("confirm_rollback", module_instance_id=id)
    flow.refused("OM103", "confirm_rollback", module_instance_id=id)
    flow.refused("OM103", "rollback_module", module_instance_id=id)


def test_without_a_rollback_there_is_nothing_to_confirm(flow: Flow) -> None:
    flow.module()
    created = flow.create_module()
    for call in ("confirm_rollback", "rollback_module"):
        flow.refused("OM103", call, module_instance_id=created)
    flow.evaluate_module(created)
    for call in ("confirm_rollback", "rollback_module"):
        flow.refused("OM103", call, module_instance_id=created)
    assert flow.codes(module=created) == "E P P"


def test_this_database_can_not_roll_a_spark_target_back(flow: Flow) -> None:
    flow.module(platform_code="SPARK")
    flow.run_module("m", "F")
    id = flow.begin_module().id
    flow.refused("OM204", "rollback_module", module_instance_id=id)
    assert flow.codes(module=id) == "E R P"


def test_a_pending_rollback_of_a_target_that_moved_here_is_executed_here(flow: Flow) -> None:
    flow.module(platform_code="SPARK")
    failed = flow.run_module("m", "F")
    id = flow.begin_module().id
    flow.module(platform_code="POSTGRES")
    flow.write(failed)
    flow.call("rollback_module", module_instance_id=id)
    assert flow.codes(module=id) == "E P P"
    assert flow.stamps() == {}


# Identifiers


def target(flow: Flow, schema: str, table: str, column: str) -> sql.Composed:
    name = sql.SQL("{}.{}").format(sql.Identifier(schema), sql.Identifier(table))
    flow.conn.execute("CREATE TABLE dwh.victim AS SELECT 1")
    flow.conn.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(schema)))
    flow.conn.execute(sql.SQL("CREATE TABLE {} ({} bigint)").format(name, sql.Identifier(column)))
    return name


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("area", ["STG", "HSTG"])
def test_no_name_of_a_target_does_harm(flow: Flow, hostile: str, area: str) -> None:
    name = target(flow, hostile, f"{hostile} t", f"{hostile} c")
    flow.call(
        "register_module",
        module_code="m",
        area_code=area,
        table_code=name.as_string(flow.conn),
        insert_instance_column=f"{hostile} c",
    )
    id = flow.begin_module().id
    flow.conn.execute(sql.SQL("INSERT INTO {} VALUES ({})").format(name, id))
    flow.end_module(id, "F")
    assert flow.begin_module().array == [id]
    assert flow.conn.execute(sql.SQL("SELECT * FROM {}").format(name)).fetchall() == []
    assert flow.one("SELECT count(*) FROM dwh.victim") == 1


@pytest.mark.parametrize("hostile", [*HOSTILE, "back`tick"])
def test_no_name_escapes_a_spark_statement(flow: Flow, hostile: str) -> None:
    name = sql.SQL("{}.{}").format(sql.Identifier(hostile), sql.Identifier("t"))
    flow.call(
        "register_module",
        module_code="m",
        area_code="HSTG",
        table_code=name.as_string(flow.conn),
        platform_code="SPARK",
        insert_instance_column=hostile,
    )
    failed = flow.run_module("m", "F")
    (row,) = flow.rows("SELECT * FROM omd.build_rollback_sql(%s)", flow.begin_module().id)
    quoted = "`" + hostile.replace("`", "``") + "`"
    assert row["statement"] == f"DELETE FROM {quoted}.`t` WHERE {quoted} IN ({failed})"


def test_a_name_without_quotes_is_what_postgresql_takes_it_for(flow: Flow) -> None:
    flow.module("m", area_code="HSTG", table_code="DWH.Target", insert_instance_column="id")
    flow.conn.execute("CREATE TABLE dwh.target (id bigint)")
    id = flow.begin_module().id
    flow.conn.execute("INSERT INTO dwh.target VALUES (%s)", [id])
    flow.end_module(id, "F")
    flow.begin_module()
    assert flow.one("SELECT count(*) FROM dwh.target") == 0


def test_a_hostile_search_path_leads_no_rollback_astray(flow: Flow) -> None:
    flow.module("m", area_code="HSTG")
    failed = failed_with_rows(flow)
    flow.conn.execute("CREATE TEMP TABLE m (omd_insert_module_instance_id bigint)")
    flow.conn.execute("INSERT INTO m VALUES (%s)", [failed])
    flow.begin_module()
    assert flow.stamps() == {}
    assert flow.stamps("pg_temp.m") == {failed: 1}


def test_a_failing_rollback_is_reported_and_changes_nothing(flow: Flow) -> None:
    flow.module()
    failed = failed_with_rows(flow)
    flow.conn.execute("CREATE TABLE dwh.child AS SELECT 1")
    flow.conn.execute(
        "CREATE FUNCTION dwh.no() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE EXCEPTION 'never' USING ERRCODE = 'check_violation'; END $$"
    )
    flow.conn.execute("CREATE TRIGGER no BEFORE DELETE ON dwh.m EXECUTE FUNCTION dwh.no()")
    with pytest.raises(psycopg.errors.CheckViolation):
        flow.begin_module()
    assert flow.stamps() == {failed: 2}
    assert flow.one("SELECT max(module_instance_id) FROM omd.module_instance") == failed
    flow.conn.execute("DROP TRIGGER no ON dwh.m")
    assert flow.begin_module().array == [failed]


def test_a_partitioned_table_is_a_target_too(flow: Flow) -> None:
    flow.conn.execute(
        "CREATE TABLE dwh.m (omd_insert_module_instance_id bigint)"
        " PARTITION BY HASH (omd_insert_module_instance_id)"
    )
    for n in range(2):
        flow.conn.execute(
            f"CREATE TABLE dwh.m_{n} PARTITION OF dwh.m"
            f" FOR VALUES WITH (MODULUS 2, REMAINDER {n})".encode()
        )
    arguments: dict[str, Any] = {"area_code": "HSTG", "table_code": "dwh.m"}
    flow.call("register_module", module_code="m", **arguments)
    failed_with_rows(flow)
    flow.begin_module()
    assert flow.stamps() == {}
