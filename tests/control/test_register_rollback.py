"""omd.register_rollback says how a target without a standard rollback is undone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    from support.flow import Flow

BY_ID = "DELETE FROM {table} WHERE {insert_instance_column} = ANY ({instance_array})"
COUNT = "SELECT count(*) FROM {table}"


def templates(flow: Flow) -> list[dict[str, Any]]:
    return flow.rows(
        "SELECT step, statement_template AS statement, count_template AS count, keeps_rows"
        " FROM omd.rollback_template WHERE module_id IS NOT NULL ORDER BY step"
    )


def register(flow: Flow, **arguments: Any) -> None:
    flow.call("register_rollback", module_code="m", **arguments)


@pytest.mark.parametrize(("area", "type"), [("PRES", "DIM"), ("HELPER", None), ("INT", "3NF")])
def test_the_default_deletes_by_the_insert_instance_id(
    flow: Flow, area: str, type: str | None
) -> None:
    flow.module("m", area_code=area, table_type_code=type)
    good = flow.begin_module().id
    flow.write(good)
    flow.end_module(good, "S")
    failed = flow.begin_module().id
    flow.write(failed, rows=3)
    flow.end_module(failed, "F")
    register(flow)
    (row,) = flow.rows("SELECT * FROM omd.preview_rollback(%s)", failed)
    assert row["row_count"] == 3
    assert flow.begin_module().array == [failed]
    assert flow.stamps() == {good: 2}


@pytest.mark.parametrize(
    ("format", "start"),
    [(None, "DELETE FROM `dwh`.`m`"), ("PARQUET", "ALTER TABLE `dwh`.`m` DROP")],
)
def test_the_default_fits_the_platform_and_the_format(
    flow: Flow, format: str | None, start: str
) -> None:
    flow.module("m", area_code="PRES", platform_code="SPARK", table_format_code=format)
    register(flow)
    failed = flow.run_module("m", "F")
    (row,) = flow.rows("SELECT statement FROM omd.build_rollback_sql(%s)", failed)
    assert row["statement"].startswith(start)


def test_called_twice_it_is_there_once(flow: Flow) -> None:
    flow.module("m", area_code="PRES")
    register(flow)
    before = templates(flow)
    register(flow)
    assert templates(flow) == before
    assert [row["statement"] for row in before] == [BY_ID]


def test_null_keeps_the_present_value(flow: Flow) -> None:
    flow.module("m", area_code="PRES")
    register(flow, statement_template="DELETE FROM {table}", count_template=COUNT, keeps_rows=True)
    register(flow)
    expected = {"step": 1, "statement": "DELETE FROM {table}", "count": COUNT, "keeps_rows": True}
    assert templates(flow) == [expected]
    register(flow, keeps_rows=False)
    assert templates(flow) == [expected | {"keeps_rows": False}]


def test_a_count_goes_with_its_statement(flow: Flow) -> None:
    flow.module("m", area_code="PRES")
    register(flow)
    register(flow, statement_template="TRUNCATE {table}")
    assert [row["count"] for row in templates(flow)] == [None]
    register(flow, count_template=COUNT)
    assert [row["count"] for row in templates(flow)] == [COUNT]


def test_steps_are_registered_and_removed_one_by_one(flow: Flow) -> None:
    flow.module("m", area_code="HSTG")
    register(flow, statement_template="DELETE FROM {table}", step=2)
    register(flow)
    assert [row["step"] for row in templates(flow)] == [1, 2]
    register(flow, step=2, is_removed=True)
    register(flow, step=2, is_removed=True)
    assert [row["step"] for row in templates(flow)] == [1]
    register(flow, is_removed=True)
    assert templates(flow) == []
    failed = flow.run_module("m", "F")
    assert flow.begin_module().array == [failed]


@pytest.mark.parametrize("argument", ["statement_template", "count_template"])
@pytest.mark.parametrize("text", ["DELETE FROM {tabel}", " \n", ""])
def test_a_template_that_could_not_be_filled_is_refused(
    flow: Flow, argument: str, text: str
) -> None:
    flow.module("m", area_code="PRES")
    assert flow.refused("OM209", "register_rollback", module_code="m", **{argument: text})
    assert templates(flow) == []


def test_every_placeholder_that_the_table_describes_is_taken(flow: Flow) -> None:
    flow.module("m", area_code="PRES")
    described = flow.one(
        "SELECT string_agg(p[1], ' ') FROM regexp_matches(col_description("
        "'omd.rollback_template'::regclass, (SELECT attnum FROM pg_attribute"
        " WHERE attrelid = 'omd.rollback_template'::regclass AND attname = 'statement_template')),"
        r" '\{[a-z_]+\}', 'g') AS p"
    )
    known = set(flow.one("SELECT omd._rollback_values(1, '{}')"))
    assert set(described.replace("{", "").replace("}", "").split()) == known
    register(flow, statement_template=described)


def test_bad_arguments_are_refused(flow: Flow) -> None:
    flow.module("m", area_code="PRES")
    for sqlstate, arguments in (
        ("OM002", {"module_code": "nope"}),
        ("OM005", {"module_code": None}),
        ("OM005", {"module_code": "m", "step": None}),
        ("OM005", {"module_code": "m", "is_removed": None}),
        ("OM013", {"module_code": "m", "step": 0}),
        ("OM013", {"module_code": "m", "is_removed": True, "statement_template": "SELECT 1"}),
    ):
        flow.refused(sqlstate, "register_rollback", **arguments)
    assert templates(flow) == []


def test_a_format_without_a_default_asks_for_a_statement(flow: Flow) -> None:
    flow.owner("INSERT INTO omd.table_format VALUES ('ORC', 'x')")
    flow.module("m", area_code="PRES", platform_code="SPARK", table_format_code="ORC")
    try:
        flow.refused("OM209", "register_rollback", module_code="m")
        register(flow, statement_template="DROP {table}")
    finally:
        flow.conn.execute("DELETE FROM omd.rollback_template WHERE module_id IS NOT NULL")
        flow.conn.execute("DELETE FROM omd.module")
        flow.owner("DELETE FROM omd.table_format WHERE table_format_code = 'ORC'")


def test_who_changed_what_is_in_the_event_log(flow: Flow) -> None:
    flow.module("m", area_code="PRES")
    flow.conn.execute("SET ROLE omd_admin")
    register(flow)
    register(flow, statement_template="TRUNCATE {table}")
    register(flow, is_removed=True)
    flow.conn.execute("RESET ROLE")
    events = flow.rows("SELECT event_detail AS d FROM omd.event_log ORDER BY event_id")
    assert [row["d"].split()[0] for row in events] == ["INSERT", "UPDATE", "DELETE"]
    for row in events:
        assert "Module m" in row["d"]
        assert " as omd_admin" in row["d"]


@pytest.mark.parametrize("role", ["omd_runner", "omd_reader"])
def test_only_an_administrator_registers_a_rollback(flow: Flow, role: str) -> None:
    flow.module("m", area_code="PRES")
    flow.conn.execute(f"SET ROLE {role}".encode())
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        register(flow)


def test_a_topic_gets_one_where_its_area_has_none(flow: Flow) -> None:
    flow.conn.execute(
        "CREATE TABLE dwh.src (id bigint, pos timestamptz);"
        "CREATE TABLE dwh.m (id bigint, omd_insert_module_instance_id bigint)"
    )
    topic = (
        "CALL omd_lineage.register_topic('dwh.m', ARRAY['dwh.src'],"
        " p_transforms => ARRAY['dwh.v'], p_area_code => %s)"
    )
    flow.conn.execute(topic, ["HSTG"])
    assert templates(flow) == []
    flow.conn.execute(topic, ["PRES"])
    assert [row["statement"] for row in templates(flow)] == [BY_ID]
    flow.call("register_rollback", module_code="dwh.m", statement_template="TRUNCATE {table}")
    flow.conn.execute(topic, ["PRES"])
    assert [row["statement"] for row in templates(flow)] == ["TRUNCATE {table}"]
