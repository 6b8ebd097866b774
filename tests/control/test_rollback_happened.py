"""A rollback that did not happen does not count as one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.flow import Flow

STAMPED = "ALTER TABLE dwh.m ALTER omd_insert_module_instance_id SET DATA TYPE {}"


def failed_with_rows(flow: Flow, code: str = "m", batch: int = 0) -> int:
    id = flow.begin_module(code, batch).id
    flow.write(id, f"dwh.{code}")
    return flow.end_module(id, "F")


# A rule, a trigger or a policy keeps rows

KEPT = {
    "rule": "CREATE RULE keep AS ON DELETE TO dwh.m DO INSTEAD NOTHING",
    "trigger": "CREATE FUNCTION dwh.keep() RETURNS trigger LANGUAGE plpgsql AS"
    " $$ BEGIN RETURN NULL; END $$;"
    " CREATE TRIGGER keep BEFORE DELETE ON dwh.m FOR EACH ROW EXECUTE FUNCTION dwh.keep()",
}


@pytest.mark.parametrize("kind", KEPT)
def test_a_delete_that_deletes_nothing_is_no_rollback(flow: Flow, kind: str) -> None:
    flow.module()
    failed = failed_with_rows(flow)
    flow.conn.execute(KEPT[kind].encode())
    detail = flow.refused("OM112", "begin_module", module_code="m")
    assert (detail["module_code"], detail["table_code"]) == ("m", "dwh.m")
    assert detail["module_instance_ids"] == [failed]
    assert flow.stamps() == {failed: 2}
    assert flow.one("SELECT max(module_instance_id) FROM omd.module_instance") == failed
    flow.conn.execute(f"DROP {kind} keep ON dwh.m".encode())
    assert flow.begin_module().array == [failed]
    assert flow.stamps() == {}


def test_a_policy_that_hides_rows_stops_the_rollback(flow: Flow) -> None:
    flow.module()
    failed = failed_with_rows(flow)
    flow.conn.execute(
        "GRANT USAGE ON SCHEMA dwh TO omd_runner; GRANT SELECT, DELETE ON dwh.m TO omd_runner;"
        " ALTER TABLE dwh.m ENABLE ROW LEVEL SECURITY"
    )
    flow.conn.execute("SET ROLE omd_runner")
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
        flow.begin_module()
    flow.conn.execute("RESET ROLE")
    assert flow.stamps() == {failed: 2}
    assert flow.one("SHOW row_security") == "on"
    assert flow.begin_module().array == [failed]


def test_rows_of_a_companion_that_stay_are_seen(flow: Flow) -> None:
    flow.module("m", area_code="HSTG")
    flow.module("m_stg", area_code="STG", companion_module_codes=["m"])
    flow.batch("b", "m_stg", "m")
    batch = flow.begin_batch().id
    failed_with_rows(flow, "m_stg", batch)
    history = flow.run_module("m", "S", batch)
    flow.write(history)
    flow.end_batch(batch, "F")
    flow.conn.execute(KEPT["rule"].encode())
    detail = flow.refused("OM112", "begin_module", module_code="m_stg")
    assert (detail["module_code"], detail["module_instance_ids"]) == ("m", [history])


def test_a_template_may_keep_rows_when_it_says_so(flow: Flow) -> None:
    flow.module("m", area_code="PRES")
    failed = failed_with_rows(flow)
    flow.call("register_rollback", module_code="m", statement_template="SELECT 1 FROM {table}")
    flow.refused("OM112", "begin_module", module_code="m")
    flow.call("register_rollback", module_code="m", keeps_rows=True)
    assert flow.begin_module().array == [failed]
    assert flow.stamps() == {failed: 2}


@pytest.mark.parametrize("type", ["integer", "numeric", "text"])
def test_a_staging_table_with_another_type_of_stamp_is_emptied(flow: Flow, type: str) -> None:
    flow.module("m", area_code="STG")
    flow.conn.execute(STAMPED.format(type).encode())
    failed = failed_with_rows(flow)
    assert flow.begin_module().array == [failed]
    assert flow.stamps() == {}


def test_a_staging_table_without_a_stamp_is_emptied(flow: Flow) -> None:
    flow.module("m", area_code="STG")
    failed = failed_with_rows(flow)
    flow.conn.execute("ALTER TABLE dwh.m DROP omd_insert_module_instance_id")
    assert flow.begin_module().array == [failed]
    assert flow.one("SELECT count(*) FROM dwh.m") == 0


# Confirmed by hand


def told(flow: Flow) -> tuple[int, int]:
    """Make a failed run with rows, and one whose evaluation returned R without a rollback."""
    failed = failed_with_rows(flow)
    id = flow.create_module()
    flow.rows("SELECT * FROM omd._answer_module(%s)", id)
    return failed, id


def test_a_rollback_here_that_nobody_executed_is_not_confirmed(flow: Flow) -> None:
    flow.module()
    failed, id = told(flow)
    detail = flow.refused("OM112", "confirm_rollback", module_instance_id=id)
    assert detail["module_instance_ids"] == [failed]
    assert flow.codes(module=id) == "E R P"


def test_statements_executed_by_hand_are_confirmed(flow: Flow) -> None:
    flow.module()
    _, id = told(flow)
    for row in flow.rows("SELECT statement FROM omd.build_rollback_sql(%s)", id):
        flow.conn.execute(row["statement"].encode())
    flow.call("confirm_rollback", module_instance_id=id)
    assert flow.codes(module=id) == "E P P"


def test_only_who_may_look_confirms_a_rollback_here(flow: Flow) -> None:
    flow.module()
    _, id = told(flow)
    flow.conn.execute("DELETE FROM dwh.m")
    flow.conn.execute("SET ROLE omd_runner")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        flow.call("confirm_rollback", module_instance_id=id)


# Satellites whose key has a NULL


def satellite(flow: Flow) -> None:
    flow.conn.execute(
        "CREATE TABLE dwh.m (k1 integer, k2 text, omd_effective_date date, omd_expiry_date date,"
        " omd_current_record_indicator text, omd_insert_module_instance_id bigint,"
        " omd_update_module_instance_id bigint)"
    )
    flow.module("m", table_type_code="SAT", business_key_columns=["k1", "k2"])


def load(flow: Flow, id: int, since: str, *keys: tuple[int | None, str | None]) -> None:
    """Close the open version of each key, then insert the new one."""
    for key in keys:
        flow.conn.execute(
            "UPDATE dwh.m SET omd_expiry_date = %s, omd_current_record_indicator = 'N',"
            " omd_update_module_instance_id = %s WHERE (k1, k2) IS NOT DISTINCT FROM (%s, %s)"
            " AND omd_current_record_indicator = 'Y'",
            [since, id, *key],
        )
        flow.conn.execute(
            "INSERT INTO dwh.m VALUES (%s, %s, %s, '9999-12-31', 'Y', %s)", [*key, since, id]
        )


def history(flow: Flow) -> list[dict[str, Any]]:
    return flow.rows(
        "SELECT k1, k2, omd_effective_date, omd_expiry_date, omd_current_record_indicator,"
        " omd_insert_module_instance_id FROM dwh.m ORDER BY 1, 2, 3"
    )


KEYS: list[tuple[int | None, str | None]] = [(1, "a"), (1, None), (None, "a"), (None, None)]


@pytest.mark.parametrize("touched", [KEYS, KEYS[1:], KEYS[:1], KEYS[3:]])
def test_a_key_with_a_null_is_open_again(
    flow: Flow, touched: list[tuple[int | None, str | None]]
) -> None:
    satellite(flow)
    good = flow.begin_module().id
    load(flow, good, "2026-01-01", *KEYS)
    load(flow, good, "2026-02-01", *KEYS[:2])
    flow.end_module(good, "S")
    before = history(flow)
    id = flow.begin_module().id
    load(flow, id, "2026-03-01", *touched, (2, None))
    flow.end_module(id, "F")
    (row,) = flow.rows("SELECT * FROM omd.preview_rollback(%s)", id)
    assert row["row_count"] == 2 * len(touched) + 1
    flow.begin_module()
    assert history(flow) == before


def test_the_keys_are_found_by_their_index(flow: Flow) -> None:
    satellite(flow)
    flow.conn.execute(
        "INSERT INTO dwh.m SELECT n, 'a', '2026-01-01', '9999-12-31', 'Y', -1, NULL"
        " FROM generate_series(1, 20000) AS n"
    )
    for index in ("k1, k2", "omd_insert_module_instance_id", "omd_update_module_instance_id"):
        flow.conn.execute(f"CREATE INDEX ON dwh.m ({index})".encode())
    id = flow.begin_module().id
    load(flow, id, "2026-03-01", (5, "a"), (7, "a"))
    flow.end_module(id, "F")
    flow.conn.execute("ANALYZE dwh.m")
    statement = flow.one("SELECT statement FROM omd.build_rollback_sql(%s)", id)
    with flow.conn.transaction(force_rollback=True):
        plan = "\n".join(
            row["QUERY PLAN"]
            for row in flow.rows(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {statement}")
        )
    read = [line for line in plan.splitlines() if "Seq Scan on m" in line]
    assert all("never executed" in line for line in read), plan
    assert "(k1 = " in plan


# A count changes nothing

WRITES = {
    "deletes": "WITH gone AS (DELETE FROM {table} RETURNING 1) SELECT count(*) FROM gone",
    "deletes in a function": "SELECT dwh.harm('DELETE FROM dwh.m')",
    "creates": "SELECT dwh.harm('CREATE TABLE dwh.made ()')",
    "takes a number": "SELECT nextval('dwh.numbers')",
    "is no SELECT": "DELETE FROM {table}",
}


@pytest.mark.parametrize("kind", WRITES)
def test_a_count_that_writes_is_refused_and_changes_nothing(flow: Flow, kind: str) -> None:
    flow.conn.execute(
        "CREATE SEQUENCE dwh.numbers; CREATE FUNCTION dwh.harm(text) RETURNS bigint"
        " LANGUAGE plpgsql AS $$ BEGIN EXECUTE $1; RETURN 1; END $$"
    )
    flow.module()
    failed = failed_with_rows(flow)
    flow.call(
        "register_rollback",
        module_code="m",
        statement_template="DELETE FROM {table}",
        count_template=WRITES[kind],
    )
    with pytest.raises(psycopg.Error) as caught:
        flow.rows("SELECT * FROM omd.preview_rollback(%s)", failed)
    assert caught.value.sqlstate == "OM209"
    assert flow.stamps() == {failed: 2}
    assert flow.one("SELECT is_called FROM dwh.numbers") is False
    assert flow.rows("SELECT 1 FROM pg_class WHERE relname = 'made'") == []


def test_after_a_preview_its_transaction_can_write(flow: Flow) -> None:
    flow.module()
    failed = failed_with_rows(flow)
    with flow.conn.transaction():
        (row,) = flow.rows("SELECT * FROM omd.preview_rollback(%s)", failed)
        flow.write(failed)
    assert row["row_count"] == 2
    assert flow.stamps() == {failed: 4}


# Two Modules on one staging table


def test_staging_that_two_modules_load_loses_only_the_rows_of_the_array(flow: Flow) -> None:
    flow.module("m", area_code="STG")
    flow.module("other", area_code="STG", table_code='"dwh".M')
    good = flow.begin_module("other").id
    flow.write(good)
    flow.end_module(good, "S")
    failed = failed_with_rows(flow)
    (row,) = flow.rows("SELECT * FROM omd.preview_rollback(%s)", failed)
    assert row["row_count"] == 2
    assert flow.begin_module().array == [failed]
    assert flow.stamps() == {good: 2}


def test_staging_that_two_modules_load_on_spark_too(flow: Flow) -> None:
    flow.module("m", area_code="STG", platform_code="SPARK")
    flow.module("other", area_code="STG", platform_code="SPARK", table_code="dwh.m")
    failed = flow.run_module("m", "F")
    (row,) = flow.rows("SELECT statement FROM omd.build_rollback_sql(%s)", failed)
    assert row["statement"].startswith("DELETE FROM `dwh`.`m` WHERE")


def test_shared_staging_without_a_stamp_is_still_emptied(flow: Flow) -> None:
    flow.module("m", area_code="STG")
    flow.module("other", area_code="STG", table_code="dwh.m")
    failed_with_rows(flow)
    flow.conn.execute("ALTER TABLE dwh.m DROP omd_insert_module_instance_id")
    flow.begin_module()
    assert flow.one("SELECT count(*) FROM dwh.m") == 0


def test_a_module_with_a_template_of_its_own_keeps_it(flow: Flow) -> None:
    flow.module("m", area_code="STG")
    flow.module("other", area_code="STG", table_code="dwh.m")
    flow.call("register_rollback", module_code="m", statement_template="TRUNCATE {table}")
    failed = failed_with_rows(flow)
    (row,) = flow.rows("SELECT statement FROM omd.build_rollback_sql(%s)", failed)
    assert row["statement"] == "TRUNCATE dwh.m"


def test_sharing_a_table_gives_no_template_where_there_is_none(flow: Flow) -> None:
    for code in ("m", "other"):
        flow.module(code, area_code="PRES", table_code="dwh.m", table_type_code="DIM")
    flow.run_module("m", "F")
    flow.refused("OM201", "begin_module", module_code="m")


# The predicate

PREDICATES = {
    "_awaits_rollback": "SELECT module_instance_id FROM omd.module_instance AS mi"
    " WHERE mi.module_id = 1 AND omd._awaits_rollback(mi.execution_status_code,"
    " mi.next_run_indicator, mi.rolled_back_by_module_instance_id)",
    "_is_open": "SELECT module_instance_id FROM omd.module_instance AS mi"
    " WHERE mi.module_id = 1 AND omd._is_open(mi.execution_status_code,"
    " mi.next_run_indicator, mi.rolled_back_by_module_instance_id)",
}


@pytest.mark.parametrize(
    ("predicate", "role", "index"),
    [
        ("_awaits_rollback", "omd_owner", "ix_module_instance_waiting"),
        ("_awaits_rollback", "omd_reader", "ix_module_instance_waiting"),
        ("_is_open", "omd_owner", "ix_module_instance_executing"),
        ("_is_open", "omd_owner", "ix_module_instance_waiting"),
    ],
)
def test_what_waits_or_is_open_is_found_by_an_index_of_such(
    another: Callable[..., Flow], flow: Flow, predicate: str, role: str, index: str
) -> None:
    """The functions are inlined, and ask for nothing that these indexes do not hold."""
    flow.module()
    flow.owner(
        "INSERT INTO omd.module_instance (module_id, start_datetime, end_datetime,"
        " execution_status_code, processing_indicator, next_run_indicator)"
        " SELECT 1, now(), now(), 'S', 'P', 'P' FROM generate_series(1, 20000)"
    )
    flow.conn.execute("ANALYZE omd.module_instance")
    rows = another(role=role).rows(f"EXPLAIN (COSTS OFF) {PREDICATES[predicate]}")
    plan = "\n".join(row["QUERY PLAN"] for row in rows)
    assert index in plan
    assert "Seq Scan" not in plan
    assert predicate not in plan
