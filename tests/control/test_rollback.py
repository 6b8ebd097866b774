"""Rollback: which statement undoes which target, and when it is refused (rule R2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql

if TYPE_CHECKING:
    from support.flow import Flow

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
    flow.owner("UPDATE omd.module SET platform_code = 'POSTGRES'")
    flow.module()
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

    # the command of the HINT repairs it
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


@pytest.mark.parametrize(("area", "count"), [("STG", 5), ("HSTG", 3)])
def test_a_preview_tells_how_many_rows_each_statement_would_touch(
    flow: Flow, area: str, count: int
) -> None:
    flow.module("m", area_code=area)
    good = flow.begin_module().id
    flow.write(good)
    flow.end_module(good, "S")
    failed = flow.begin_module().id
    flow.write(failed, rows=3)
    flow.end_module(failed, "F")
    (built,) = flow.rows("SELECT * FROM omd.build_rollback_sql(%s)", failed)
    (row,) = flow.rows("SELECT * FROM omd.preview_rollback(%s)", failed)
    assert row == built | {"row_count": count}
    assert flow.stamps() == {good: 2, failed: 3}


def test_a_preview_counts_with_the_rights_of_the_caller(flow: Flow) -> None:
    flow.module("m", area_code="HSTG")
    failed = failed_with_rows(flow)
    flow.conn.execute("SET ROLE omd_reader")
    assert flow.rows("SELECT * FROM omd.build_rollback_sql(%s)", failed)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        flow.rows("SELECT * FROM omd.preview_rollback(%s)", failed)


def test_a_template_that_can_not_count_leaves_the_count_open(flow: Flow) -> None:
    flow.module("m", area_code="HSTG")
    failed = failed_with_rows(flow)
    flow.conn.execute(
        "INSERT INTO omd.rollback_template (module_id, step, statement_template)"
        " SELECT module_id, 1, 'DELETE FROM {table}' FROM omd.module"
    )
    (row,) = flow.rows("SELECT * FROM omd.preview_rollback(%s)", failed)
    assert (row["statement"], row["row_count"]) == ("DELETE FROM dwh.m", None)


def test_ten_thousand_instances_are_undone_at_once(flow: Flow) -> None:
    flow.module("m", area_code="HSTG")
    flow.owner(
        "INSERT INTO omd.module_instance (module_id, start_datetime, end_datetime,"
        " execution_status_code, processing_indicator, next_run_indicator)"
        " SELECT module_id, now(), now(), 'F', 'P', 'R' FROM omd.module, generate_series(1, 10000)"
    )
    flow.conn.execute("INSERT INTO dwh.m SELECT 'x', n FROM generate_series(0, 20000) AS n")
    begun = flow.begin_module()
    assert begun.array == list(range(1, 10_001))
    assert flow.one("SELECT count(*) FROM dwh.m WHERE omd_insert_module_instance_id = 0") == 1
    assert flow.one("SELECT count(*) FROM dwh.m") == 10_001


# Companions


def staging(flow: Flow, **attributes: Any) -> None:
    """Register m_stg with its companion m_hstg, both in Batch b, and let m_sat fail."""
    flow.module("m_hstg", area_code="HSTG", table_type_code="HSTG", **attributes)
    flow.module(
        "m_stg",
        area_code="STG",
        table_type_code="STG",
        companion_module_codes=["m_hstg"],
        **attributes,
    )
    flow.batch("b", "m_stg", "m_hstg")


def test_staging_takes_the_history_rows_of_the_same_batch_instances_with_it(flow: Flow) -> None:
    staging(flow)
    flow.conn.execute("CREATE TABLE dwh.victim AS SELECT 1")
    first = flow.begin_batch()
    good = flow.run_module("m_hstg", "S", first.id)
    flow.write(good, "dwh.m_hstg")
    flow.end_batch(first.id, "S")

    second = flow.begin_batch()
    stg = flow.begin_module("m_stg", second.id)
    flow.write(stg.id, "dwh.m_stg")
    hstg = flow.run_module("m_hstg", "S", second.id)
    flow.write(hstg, "dwh.m_hstg")
    flow.end_module(stg.id, "F")
    flow.end_batch(second.id, "F")
    alone = flow.run_module("m_hstg")
    flow.write(alone, "dwh.m_hstg")

    third = flow.begin_batch()
    assert flow.codes(module=hstg) == "S P C"
    built = flow.rows("SELECT * FROM omd.preview_rollback(%s)", stg.id)
    assert [(row["step"], row["row_count"]) for row in built] == [(1, 2), (2, 2)]
    assert "m_hstg" in built[0]["statement"]
    again = flow.begin_module("m_stg", third.id)
    assert again.array == [stg.id]
    assert flow.stamps("dwh.m_stg") == {}
    assert flow.stamps("dwh.m_hstg") == {good: 2, alone: 2}

    # It was undone, so it must run again, but it has nothing left to roll back.
    assert (
        flow.one(
            "SELECT rolled_back_by_module_instance_id FROM omd.module_instance"
            " WHERE module_instance_id = %s",
            hstg,
        )
        == again.id
    )
    rerun = flow.begin_module("m_hstg", third.id)
    assert (rerun.answer, rerun.array) == (("P", None), [])


def test_a_companion_that_ran_in_a_rerun_goes_with_what_it_read(flow: Flow) -> None:
    """The rerun skips staging, which has succeeded; its companion reads what staging has loaded."""
    staging(flow)
    first = flow.begin_batch().id
    stg = flow.run_module("m_stg", "S", first)
    flow.run_module("m_hstg", "F", first)
    flow.end_batch(first, "F")
    second = flow.begin_batch().id
    assert flow.begin_module("m_stg", second).answer == ("C", "ALREADY_SUCCEEDED")
    flow.write(flow.run_module("m_hstg", "S", second), "dwh.m_hstg")
    flow.end_batch(second, "S")
    third = flow.begin_batch().id
    flow.run_module("m_stg", "S", third)
    kept = flow.run_module("m_hstg", "S", third)
    flow.write(kept, "dwh.m_hstg")
    flow.end_batch(third, "S")

    flow.set_next("R", module=stg)
    assert flow.begin_module("m_stg", flow.begin_batch().id).array == [stg]
    assert flow.stamps("dwh.m_hstg") == {kept: 2}


def test_a_companion_gives_up_its_load_windows_too(flow: Flow) -> None:
    staging(flow)
    batch = flow.begin_batch()
    hstg = flow.begin_module("m_hstg", batch.id).id
    window = "CALL omd.create_load_window(%s, p_end_id => %s, p_start_id => 0)"
    flow.conn.execute(window, [hstg, 10])
    flow.end_module(hstg, "S")
    flow.run_module("m_stg", "F", batch.id)
    flow.end_batch(batch.id, "F")
    later = flow.begin_module("m_hstg").id
    flow.conn.execute(window, [later, 20])
    flow.write(later, "dwh.m_hstg")
    flow.end_module(later, "S")

    flow.begin_module("m_stg", flow.begin_batch().id)
    assert flow.stamps("dwh.m_hstg") == {}
    assert flow.one("SELECT bool_and(is_taken_back) FROM omd.source_control")


def test_a_companion_that_executes_is_left_alone(flow: Flow) -> None:
    staging(flow)
    batch = flow.begin_batch()
    flow.run_module("m_stg", "F", batch.id)
    running = flow.begin_module("m_hstg", batch.id).id
    flow.write(running, "dwh.m_hstg")
    flow.begin_module("m_stg", batch.id)
    assert flow.stamps("dwh.m_hstg") == {running: 2}
    flow.end_module(running, "S")


def test_a_run_on_its_own_has_no_companions(flow: Flow) -> None:
    staging(flow)
    hstg = flow.run_module("m_hstg")
    flow.write(hstg, "dwh.m_hstg")
    flow.run_module("m_stg", "F")
    flow.begin_module("m_stg")
    assert flow.stamps("dwh.m_hstg") == {hstg: 2}


def test_a_companion_on_spark_is_rolled_back_by_the_same_caller(flow: Flow) -> None:
    staging(flow, platform_code="SPARK")
    batch = flow.begin_batch()
    hstg = flow.run_module("m_hstg", "S", batch.id)
    flow.run_module("m_stg", "F", batch.id)
    flow.end_batch(batch.id, "F")
    retry = flow.begin_batch()
    begun = flow.begin_module("m_stg", retry.id)
    assert begun.pi == "R"
    # A run that fails from now on is not in the statements, so it is not marked either.
    late = flow.run_module("m_hstg", "F", retry.id)
    statements = flow.rows("SELECT statement FROM omd.build_rollback_sql(%s)", begun.id)
    assert [row["statement"] for row in statements] == [
        f"DELETE FROM `dwh`.`m_hstg` WHERE `omd_insert_module_instance_id` IN ({hstg})",
        "TRUNCATE TABLE `dwh`.`m_stg`",
    ]
    flow.call("confirm_rollback", module_instance_id=begun.id)
    undone = flow.rows(
        "SELECT module_instance_id AS id FROM omd.module_instance"
        " WHERE rolled_back_by_module_instance_id = %s",
        begun.id,
    )
    assert late not in [row["id"] for row in undone]
    assert hstg in [row["id"] for row in undone]


def test_companions_live_on_one_platform(flow: Flow) -> None:
    staging(flow)
    flow.refused("OM204", "register_module", module_code="m_stg", platform_code="SPARK")
    flow.refused("OM204", "register_module", module_code="m_hstg", platform_code="SPARK")
    flow.call(
        "register_module", module_code="m_stg", platform_code="SPARK", companion_module_codes=[]
    )


# Spark


@pytest.mark.parametrize(
    ("area", "table_type"), [("STG", None), ("HSTG", None), ("INT", "HUB"), ("INT", "LINK")]
)
def test_plain_parquet_loses_the_partitions_of_the_array(
    flow: Flow, area: str, table_type: str | None
) -> None:
    flow.module(
        "m",
        area_code=area,
        table_type_code=table_type,
        platform_code="SPARK",
        table_format_code="parquet",
        insert_instance_column="by `run`",
    )
    first = flow.run_module("m", "F")
    second = flow.end_module(flow.begin_module().id, "F")
    (row,) = flow.rows("SELECT * FROM omd.build_rollback_sql(%s)", second)
    assert row["statement"] == (
        "ALTER TABLE `dwh`.`m` DROP IF EXISTS"
        f" PARTITION (`by ``run``` = {first}), PARTITION (`by ``run``` = {second})"
    )


def test_what_is_to_be_rolled_back_is_answered_as_columns(flow: Flow) -> None:
    """No caller has to read a statement to know its kind, its table and its runs."""
    flow.module(
        "m",
        area_code="HSTG",
        table_code='dwh."my m"',
        platform_code="SPARK",
        table_format_code="PARQUET",
        insert_instance_column="by `run`",
    )
    first = flow.run_module("m", "F")
    second = flow.end_module(flow.begin_module().id, "F")
    plan = "SELECT * FROM omd.rollback_steps(%s)"
    (row,) = flow.rows(plan, second)
    assert row == {
        "step": 1,
        "platform_code": "SPARK",
        "statement_kind": "PARTITIONS",
        "table_code": 'dwh."my m"',
        "insert_instance_column": "by `run`",
        "instance_array": [first, second],
        "statement": flow.one("SELECT statement FROM omd.build_rollback_sql(%s)", second),
    }
    # What a user declares is executed as it is, also where it names another table.
    for template in ("DELETE FROM {table}", "ALTER TABLE dwh.x DROP IF EXISTS {partition_list}"):
        flow.call("register_rollback", module_code="m", statement_template=template)
        assert [row["statement_kind"] for row in flow.rows(plan, second)] == ["SQL"]
    flow.call("register_rollback", module_code="m", is_removed=True)
    assert [row["statement_kind"] for row in flow.rows(plan, second)] == ["PARTITIONS"]
    # A target in this database may be asked for too.
    flow.module("here", area_code="HSTG")
    failed = flow.run_module("here", "F")
    (row,) = flow.rows(plan, failed)
    assert (row["statement_kind"], row["instance_array"]) == ("SQL", [failed])


def test_a_format_has_templates_of_its_own_and_no_others(flow: Flow) -> None:
    flow.module("m", table_type_code="SAT", platform_code="SPARK", table_format_code="PARQUET")
    flow.run_module("m", "F")
    assert flow.refused("OM201", "begin_module", module_code="m")["table_format_code"] == "PARQUET"


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
    flow.owner("UPDATE omd.module SET platform_code = 'POSTGRES'")
    flow.module()
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
