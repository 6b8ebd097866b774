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


# How a run is undone

WAYS: list[dict[str, Any]] = [
    {"area_code": "STG"},
    {"area_code": "HSTG"},
    {"table_type_code": "HUB"},
    {"business_key_columns": ["k2"]},
    {"effective_date_column": "k2"},
    {"expiry_date_column": "k2"},
    {"current_indicator_column": "k2"},
    {"update_instance_column": "k2"},
    {"open_expiry_date": "2999-12-31"},
    {"companion_module_codes": ["other"]},
]


@pytest.fixture
def satellite(flow: Flow) -> None:
    flow.conn.execute(
        "CREATE TABLE dwh.s (k integer, k2 bigint, omd_effective_date date, omd_expiry_date date,"
        " omd_current_record_indicator text, omd_insert_module_instance_id bigint,"
        " omd_update_module_instance_id bigint)"
    )
    flow.module("other")
    flow.module("s", table_type_code="SAT", business_key_columns=["k"])


@pytest.mark.parametrize("way", WAYS, ids=lambda way: next(iter(way)))
@pytest.mark.parametrize("waits", ["failed", "marked", "executing"])
def test_what_decides_how_it_is_undone_stays_while_a_rollback_waits(
    flow: Flow, satellite: None, way: dict[str, Any], waits: str
) -> None:
    id = flow.begin_module("s").id
    if waits != "executing":
        flow.end_module(id, "F" if waits == "failed" else "S")
    if waits == "marked":
        flow.set_next("R", module=id)
    before = flow.rows("SELECT * FROM omd.module WHERE module_code = 's'")
    with pytest.raises(psycopg.Error) as caught:
        flow.call("register_module", module_code="s", **way)
    assert caught.value.sqlstate == "OM111"
    assert flow.rows("SELECT * FROM omd.module WHERE module_code = 's'") == before
    assert flow.rows("SELECT * FROM omd.module_companion") == []
    flow.call("register_module", module_code="s", module_description="x", executable="SELECT 1")

    if waits == "executing":
        flow.end_module(id, "S")
    else:
        flow.run_module("s")
    flow.call("register_module", module_code="s", **way)


def test_what_can_not_be_undone_as_it_is_may_be_mended(flow: Flow) -> None:
    flow.conn.execute(
        "CREATE TABLE dwh.s (k integer, omd_effective_date date, omd_expiry_date date,"
        " omd_current_record_indicator text, omd_insert_module_instance_id bigint)"
    )
    flow.module("s", table_type_code="SAT", business_key_columns=["nope"])
    flow.run_module("s", "F")
    flow.refused("OM205", "begin_module", module_code="s")
    flow.call("register_module", module_code="s", business_key_columns=["k"])
    assert flow.begin_module("s").pi == "P"
    flow.module("p", area_code="PRES", table_type_code="DIM")
    flow.run_module("p", "F")
    flow.refused("OM201", "begin_module", module_code="p")
    flow.call("register_module", module_code="p", area_code="HSTG")
    assert flow.begin_module("p").pi == "P"


@pytest.mark.parametrize("date", ["9999-12-31", "99991231", "2999-12-31 23:59:59+00", "infinity"])
def test_an_open_expiry_date_that_every_session_reads_alike(flow: Flow, date: str) -> None:
    flow.call("register_module", module_code="m", open_expiry_date=date)
    assert registered(flow)["open_expiry_date"] == date


@pytest.mark.parametrize(
    "date", ["", "never", "tomorrow", "now", "31-12-9999", "12/31/9999", "9999-13-31", "-infinity"]
)
def test_another_open_expiry_date_is_refused(flow: Flow, date: str) -> None:
    detail = flow.refused("OM013", "register_module", module_code="m", open_expiry_date=date)
    assert detail["argument"] == "p_open_expiry_date"


def test_spark_knows_no_infinity(flow: Flow) -> None:
    flow.call("register_module", module_code="m", platform_code="SPARK")
    flow.refused("OM013", "register_module", module_code="m", open_expiry_date="infinity")


# A view


def test_a_view_is_undone_by_delete(flow: Flow) -> None:
    flow.conn.execute("CREATE VIEW dwh.v AS SELECT * FROM dwh.m")
    flow.module("v", area_code="STG")
    flow.write(777)
    id = flow.begin_module("v").id
    flow.write(id, "dwh.v")
    flow.end_module(id, "F")
    (row,) = flow.rows("SELECT statement FROM omd.build_rollback_sql(%s)", id)
    assert row["statement"].startswith("DELETE FROM dwh.v")
    assert flow.begin_module("v").array == [id]
    assert flow.stamps() == {777: 2}


@pytest.mark.parametrize("area", ["STG", "HSTG"])
def test_a_view_that_takes_no_delete_is_named(flow: Flow, area: str) -> None:
    flow.conn.execute("CREATE VIEW dwh.v AS SELECT DISTINCT * FROM dwh.m")
    flow.module("v", area_code=area)
    problems = "SELECT problem_code, severity FROM omd_report.readiness WHERE module_code = 'v'"
    assert flow.rows(problems) == [{"problem_code": "TARGET_TAKES_NO_DELETE", "severity": "ERROR"}]
    failed = flow.run_module("v", "F")
    detail = flow.refused("OM112", "begin_module", module_code="v")
    assert "takes no DELETE" in detail["problem"]
    flow.conn.execute(
        "CREATE FUNCTION dwh.gone() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN DELETE FROM dwh.m WHERE omd_insert_module_instance_id"
        " = OLD.omd_insert_module_instance_id; RETURN OLD; END $$;"
        " CREATE TRIGGER gone INSTEAD OF DELETE ON dwh.v FOR EACH ROW EXECUTE FUNCTION dwh.gone()"
    )
    assert flow.rows(problems) == []
    flow.write(failed)
    assert flow.begin_module("v").array == [failed]
    assert flow.stamps() == {}


def test_how_far_a_table_may_be_read_is_known_without_all_other_tables(flow: Flow) -> None:
    """The planner expects a thousand rows of a function, and would read the whole catalogue."""
    look = "SELECT * FROM omd.readable_until('dwh.other', 'pos')"
    scans = (
        "SELECT pg_stat_get_xact_numscans('pg_class'::regclass)"
        " + pg_stat_get_xact_numscans('pg_attribute'::regclass) AS scans"
    )
    flow.conn.execute("ANALYZE pg_class, pg_attribute")
    flow.rows(look)  # the caches of the session are filled
    with flow.conn.transaction():
        before = flow.rows(scans)
        flow.rows(look)
        assert flow.rows(scans) == before
