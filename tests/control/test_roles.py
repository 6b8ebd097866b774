"""Roles: each may do what the rules say and no more, and no surroundings do harm (rule P15)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import sql
from psycopg.errors import InsufficientPrivilege

from support.user_code import spared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.flow import Flow

    Another = Callable[..., Flow]

LOAD = "INSERT INTO dwh.m SELECT 'x', current_setting('omd.module_instance_id')::bigint"


@pytest.fixture(autouse=True)
def scene(flow: Flow) -> None:
    flow.module("m", executable=LOAD)
    flow.batch("b", "m")


@pytest.fixture
def runner(flow: Flow, another: Another, dsn: str) -> Iterator[Flow]:
    """A session of omd_runner, with rights on the target and on nothing else."""
    flow.conn.execute("GRANT USAGE ON SCHEMA dwh TO omd_runner")
    flow.conn.execute("GRANT SELECT, INSERT, DELETE, TRUNCATE ON dwh.m TO omd_runner")
    with spared(dsn, "omd_runner"):
        yield another(role="omd_runner")


@pytest.fixture
def person(flow: Flow) -> Iterator[str]:
    """A login without any rights."""
    flow.conn.execute("CREATE ROLE omd_test_anna LOGIN")
    yield "omd_test_anna"
    flow.conn.execute("DROP OWNED BY omd_test_anna")
    flow.conn.execute("DROP ROLE omd_test_anna")


def whole_run(flow: Flow) -> None:
    batch = flow.begin_batch().id
    failed = flow.begin_module("m", batch, lease="5 minutes").id
    flow.call("heartbeat", module_instance_id=failed, lease="5 minutes")
    flow.call("log_event", event_detail="x", module_instance_id=failed)
    flow.write(failed)
    flow.end_module(failed, "F")
    flow.end_batch(batch, "F")
    batch = flow.begin_batch().id
    begun = flow.begin_module("m", batch)
    assert (begun.pi, begun.array) == ("P", [failed])
    assert flow.stamps() == {}
    flow.conn.execute("CALL omd.create_load_window(%s, p_end_id => 1)", [begun.id])
    flow.end_module(begun.id, "S")
    flow.end_batch(batch, "S")
    flow.call("reap_expired_instances")
    created = flow.create_module()
    assert flow.evaluate_module(created).pi == "P"
    flow.end_module(created, "A")
    assert flow.call("run_module", module_code="m")["execution_status_code"] == "S"
    assert (
        flow.call("run_module", module_code="m", executable="SELECT 1/0")["execution_status_code"]
        == "F"
    )
    assert flow.call("run_batch", batch_code="b")["execution_status_code"] == "S"
    assert flow.one("SELECT count(*) FROM omd_report.module_execution_log") == 6


def test_a_runner_runs_with_rights_on_the_target_only(runner: Flow) -> None:
    whole_run(runner)


def test_a_runner_rolls_back_with_its_own_rights(flow: Flow, runner: Flow) -> None:
    failed = runner.begin_module().id
    runner.write(failed)
    runner.end_module(failed, "F")
    flow.conn.execute("REVOKE DELETE ON dwh.m FROM omd_runner")
    with pytest.raises(InsufficientPrivilege):
        runner.begin_module()
    assert flow.stamps() == {failed: 2}
    flow.conn.execute("GRANT DELETE ON dwh.m TO omd_runner")
    assert runner.begin_module().array == [failed]


@pytest.mark.parametrize("role", ["omd_runner", "omd_reader"])
def test_only_administrators_register_or_direct(flow: Flow, role: str) -> None:
    granted = flow.rows(
        "SELECT p.proname AS name FROM pg_proc AS p WHERE p.pronamespace = 'omd'::regnamespace"
        " AND p.proname ~ '^(register_|add_|set_|purge_?|guard_|log_definition|write_|notify_)'"
        " AND has_function_privilege(%s, p.oid, 'EXECUTE')",
        role,
    )
    assert granted == []


def test_a_reader_reads_and_changes_nothing(flow: Flow, another: Another) -> None:
    whole = flow.run_batch("b", m="F")
    reader = another(role="omd_reader")
    assert reader.one("SELECT pg_has_role('pg_monitor', 'omd_reader', 'USAGE')")
    assert reader.rows("SELECT * FROM omd.previous_module_instance('m')")
    with pytest.raises(InsufficientPrivilege):
        reader.begin_module()
    with pytest.raises(InsufficientPrivilege):
        reader.call("set_next_run_indicator", next_run_indicator="R", batch_instance_id=whole.id)


def test_an_administrator_registers(another: Another) -> None:
    admin = another(role="omd_admin")
    admin.call("register_batch", batch_code="new", frequency_code="Daily")
    admin.call("register_module", module_code="m_new", area_code="STG", table_code="stg.t")
    admin.call("add_module_to_batch", batch_code="new", module_code="m_new")
    admin.call("add_batch_to_parent_batch", batch_code="new", parent_batch_code="b")
    admin.call("set_parameter", parameter_code="p", parameter_value="v", batch_code="new")


@pytest.mark.parametrize(
    "routine", ["register_batch", "register_module", "add_module_to_batch", "set_parameter"]
)
def test_a_runner_registers_nothing(runner: Flow, routine: str) -> None:
    with pytest.raises(InsufficientPrivilege):
        runner.conn.execute(sql.SQL("CALL omd.{}('x', 'y')").format(sql.Identifier(routine)))


# An administrator's edits


def edits(flow: Flow) -> list[str]:
    return [
        row["event_detail"]
        for row in flow.rows(
            "SELECT event_detail FROM omd.event_log WHERE event_type_code = 4 ORDER BY 1"
        )
    ]


@pytest.mark.parametrize("kind", ["batch", "module"])
@pytest.mark.parametrize("by", ["update", "procedure"])
def test_an_edit_is_logged_with_old_new_and_who(
    flow: Flow, person: str, kind: str, by: str
) -> None:
    id = flow.run_batch().id if kind == "batch" else flow.run_module()
    flow.conn.execute(f"GRANT omd_admin TO {person}".encode())
    flow.conn.execute(f"SET SESSION AUTHORIZATION {person}".encode())
    if by == "update":
        flow.conn.execute(
            f"UPDATE omd.{kind}_instance SET next_run_indicator = 'R'"
            f" WHERE {kind}_instance_id = 1".encode()
        )
    else:
        flow.call("set_next_run_indicator", next_run_indicator="R", **{f"{kind}_instance_id": id})
    flow.conn.execute("RESET SESSION AUTHORIZATION")
    (event,) = flow.rows("SELECT * FROM omd.event_log WHERE event_type_code = 4")
    assert event[f"{kind}_instance_id"] == id
    assert "P -> R" in event["event_return_code_details"]
    for word in ("P", "R", person, "next_run_indicator"):
        assert word in event["event_detail"]


def test_an_edit_of_many_rows_is_logged_row_by_row(flow: Flow, another: Another) -> None:
    ids = [flow.run_module() for _ in range(3)]
    admin = another(role="omd_admin")
    admin.conn.execute(
        "UPDATE omd.module_instance SET next_run_indicator = 'R' WHERE module_instance_id > 0"
    )
    assert len(edits(flow)) == len(ids)
    assert flow.begin_module().array == ids


def test_an_edit_that_changes_nothing_is_not_logged(flow: Flow) -> None:
    flow.set_next("P", module=flow.run_module())
    assert edits(flow) == []


def test_what_the_routines_set_is_no_edit(flow: Flow) -> None:
    flow.batch("b", "m", "n")
    flow.run_batch("b", m="S", n="F")
    flow.run_batch("b", m="S", n="S")
    assert edits(flow) == []


def test_an_edit_that_is_rolled_back_leaves_no_line(flow: Flow) -> None:
    id = flow.run_module()
    with flow.conn.transaction(force_rollback=True):
        flow.set_next("R", module=id)
    assert edits(flow) == []


@pytest.mark.parametrize("table", ["batch", "module", "batch_module", "batch_hierarchy"])
def test_an_administrator_may_deactivate(flow: Flow, another: Another, table: str) -> None:
    flow.batch("child")
    flow.call("add_batch_to_parent_batch", batch_code="child", parent_batch_code="b")
    admin = another(role="omd_admin")
    updated = admin.conn.execute(f"UPDATE omd.{table} SET inactive_indicator = 'Y'".encode())
    assert updated.rowcount > 0
    with pytest.raises(psycopg.IntegrityError):
        admin.conn.execute(f"UPDATE omd.{table} SET inactive_indicator = 'X'".encode())


@pytest.mark.parametrize("kind", ["batch", "module"])
@pytest.mark.parametrize(
    "change",
    [
        "execution_status_code = 'F'",
        "processing_indicator = 'A'",
        "execution_status_code = 'E', end_datetime = NULL",
        "processing_indicator = 'A', next_run_indicator = 'R'",
    ],
)
def test_the_outcome_of_a_run_can_not_be_edited_even_by_a_superuser(
    flow: Flow, kind: str, change: str
) -> None:
    id = flow.run_batch().id if kind == "batch" else flow.run_module()
    with pytest.raises(psycopg.Error) as caught:
        flow.conn.execute(
            f"UPDATE omd.{kind}_instance SET {change} WHERE {kind}_instance_id = {id}".encode()
        )
    assert caught.value.sqlstate == "OM106"
    assert flow.codes(**{kind: id}) == "S P P"


@pytest.mark.parametrize("kind", ["batch", "module"])
def test_the_placeholder_can_not_be_edited(flow: Flow, kind: str) -> None:
    with pytest.raises(psycopg.Error) as caught:
        flow.conn.execute(
            f"UPDATE omd.{kind}_instance SET next_run_indicator = 'R'"
            f" WHERE {kind}_instance_id = 0".encode()
        )
    assert caught.value.sqlstate == "OM106"


# Surroundings


def test_an_empty_search_path_does_no_harm(flow: Flow, runner: Flow) -> None:
    runner.conn.execute("SET search_path = ''")
    whole_run(runner)


@pytest.mark.parametrize(
    "setting",
    [
        "DateStyle = 'German'",
        "IntervalStyle = 'sql_standard'",
        "TimeZone = 'Pacific/Kiritimati'",
        "bytea_output = 'escape'",
        "standard_conforming_strings = off",
        "transform_null_equals = on",
        "default_transaction_deferrable = on",
        "lc_messages = 'C'",
        "row_security = off",
        "plpgsql.variable_conflict = 'use_column'",
        "session_replication_role = 'origin'",
        "quote_all_identifiers = on",
        "check_function_bodies = off",
        "extra_float_digits = -15",
        "backslash_quote = 'off'",
        "plan_cache_mode = 'force_generic_plan'",
        "plpgsql.extra_errors = 'all'",
        "search_path = pg_temp",
        "array_nulls = off",
        "enable_indexscan = off",
        "client_encoding = 'LATIN1'",
    ],
)
def test_no_setting_of_a_session_changes_an_answer(another: Another, setting: str) -> None:
    session = another()
    session.conn.execute(f"SET {setting}".encode())
    whole_run(session)
