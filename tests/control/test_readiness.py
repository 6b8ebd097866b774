"""Readiness and warnings report what would otherwise show only after a Module's first failure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.flow import Flow

HISTORY = "omd_effective_date date, omd_expiry_date date, omd_current_record_indicator text"
STAMP = "omd_insert_module_instance_id bigint"


def readiness(flow: Flow) -> list[tuple[str, str]]:
    return [
        (row["severity"], row["problem_code"])
        for row in flow.rows("SELECT * FROM omd_report.readiness ORDER BY 2, 3")
    ]


def commands(flow: Flow) -> list[str]:
    return [row["command"] for row in flow.rows("SELECT command FROM omd_report.readiness")]


def test_a_module_that_is_ready_is_in_no_list(flow: Flow) -> None:
    flow.module("hub")
    flow.conn.execute(f"CREATE TABLE dwh.s (k int, {STAMP}, {HISTORY})".encode())
    flow.module("s", table_type_code="SAT", business_key_columns=["k"])
    flow.module("spark", platform_code="SPARK")
    assert readiness(flow) == []


def test_a_target_that_is_missing(flow: Flow) -> None:
    flow.call("register_module", module_code="x", area_code="STG", table_code='dwh."My x"')
    assert readiness(flow) == [("ERROR", "TARGET_MISSING")]
    [command] = commands(flow)
    assert command.startswith('CREATE TABLE dwh."My x" (')
    flow.conn.execute(command.replace("…,", "v text,").encode())
    assert readiness(flow) == []


def test_no_template_that_fits(flow: Flow) -> None:
    flow.module("x", area_code="PRES", table_type_code=None)
    assert readiness(flow) == [("ERROR", "TEMPLATE_MISSING")]
    assert commands(flow) == ["CALL omd.register_rollback('x');"]
    problem = flow.one("SELECT problem FROM omd_report.readiness")
    assert problem == "no rollback template fits area PRES, table type none, platform POSTGRES"
    flow.conn.execute(
        "INSERT INTO omd.rollback_template (module_id, step, statement_template)"
        " SELECT module_id, 1, 'DELETE FROM {table}' FROM omd.module"
    )
    assert readiness(flow) == []
    flow.module("y", platform_code="SPARK", table_format_code="PARQUET", table_type_code="SAT")
    assert readiness(flow) == [("ERROR", "TEMPLATE_MISSING")]


@pytest.mark.parametrize("platform", ["POSTGRES", "SPARK"])
def test_a_satellite_without_its_key(flow: Flow, platform: str) -> None:
    flow.conn.execute(f"CREATE TABLE dwh.s (k int, {STAMP}, {HISTORY})".encode())
    flow.module("s", table_type_code="SAT", platform_code=platform)
    assert readiness(flow) == [("ERROR", "KEY_MISSING")]
    [command] = commands(flow)
    flow.conn.execute(command.replace("…", "k").encode())
    assert readiness(flow) == []


def test_a_satellite_without_the_columns_it_names(flow: Flow) -> None:
    flow.conn.execute("CREATE TABLE dwh.s (k int, omd_effective_date date)")
    flow.module("s", table_type_code="SAT", business_key_columns=["k", "nope"])
    assert readiness(flow) == [
        ("ERROR", "HISTORY_COLUMN_MISSING"),
        ("ERROR", "HISTORY_COLUMN_MISSING"),
        ("ERROR", "KEY_MISSING"),
        ("ERROR", "STAMP_COLUMN_MISSING"),
    ]


def test_a_target_without_the_stamp_column(flow: Flow) -> None:
    flow.conn.execute("CREATE TABLE dwh.hub (v text)")
    flow.module("hub")
    assert readiness(flow) == [("ERROR", "STAMP_COLUMN_MISSING")]
    flow.conn.execute("CREATE TABLE dwh.stg (v text)")
    flow.module("stg", area_code="STG", table_type_code=None)
    assert readiness(flow) == [
        ("ERROR", "STAMP_COLUMN_MISSING"),
        ("WARNING", "STAMP_COLUMN_MISSING"),  # TRUNCATE does not need it
    ]
    for command in commands(flow):
        flow.conn.execute(command.encode())
    assert readiness(flow) == []


@pytest.mark.parametrize("partitioned", [False, True])
def test_a_large_target_without_an_index_on_the_stamp(flow: Flow, partitioned: bool) -> None:
    flow.conn.execute(
        f"CREATE TABLE dwh.hub (v text, {STAMP})".encode()
        + (b" PARTITION BY RANGE (v)" if partitioned else b"")
    )
    if partitioned:
        flow.conn.execute("CREATE TABLE dwh.hub_1 PARTITION OF dwh.hub DEFAULT")
    flow.module("hub")
    flow.conn.execute(
        "INSERT INTO dwh.hub (omd_insert_module_instance_id) SELECT 1 FROM generate_series(1, 1000)"
    )
    flow.conn.execute("ANALYZE dwh.hub")
    assert readiness(flow) == []
    flow.conn.execute("UPDATE pg_class SET reltuples = 100000 WHERE oid = 'dwh.hub'::regclass")
    assert readiness(flow) == [("WARNING", "STAMP_COLUMN_NOT_INDEXED")]
    [command] = commands(flow)
    assert ("CONCURRENTLY" in command) != partitioned
    flow.conn.execute(command.encode())
    flow.conn.execute("UPDATE pg_class SET reltuples = 100000 WHERE oid = 'dwh.hub'::regclass")
    assert readiness(flow) == []


def test_an_inactive_module_is_left_out(flow: Flow) -> None:
    flow.module("x", area_code="PRES")
    assert len(readiness(flow)) == 1
    flow.deactivate("module", "TRUE")
    assert readiness(flow) == []


def test_exceptions_show_it_in_one_row_per_module(flow: Flow) -> None:
    flow.call(
        "register_module", module_code="x", area_code="PRES", table_code="dwh.x",
        table_type_code="DIM",
    )  # fmt: skip
    [row] = flow.rows("SELECT * FROM omd_report.exceptions")
    assert (row["exception_code"], row["code"]) == ("NOT_READY", "x")
    assert "does not exist yet" in row["detail"]
    assert "no rollback template" in row["detail"]


def test_registration_warns_of_the_same(flow: Flow) -> None:
    told: list[tuple[str | None, str | None]] = []

    def hear(warning: psycopg.errors.Diagnostic) -> None:
        if warning.severity == "WARNING":
            told.append((warning.message_primary, warning.message_hint))

    flow.conn.execute("CREATE TABLE dwh.ready (omd_insert_module_instance_id bigint)")
    flow.conn.add_notice_handler(hear)
    try:
        flow.call("register_module", module_code="x", area_code="PRES", table_code="dwh.x")
        flow.module("ready")
    finally:
        flow.conn.remove_notice_handler(hear)
    rows = flow.rows("SELECT problem, command FROM omd_report.readiness")
    assert sorted(told) == sorted((f'Module "x": {r["problem"]}', r["command"]) for r in rows)
    assert len(rows) == 2


def test_a_reader_without_rights_on_the_targets_sees_it(
    flow: Flow, another: Callable[..., Flow]
) -> None:
    flow.module("x", area_code="PRES")
    reader = another(role="omd_reader")
    assert readiness(reader) == [("ERROR", "TEMPLATE_MISSING")]
    assert len(reader.rows("SELECT * FROM omd_report.exceptions")) == 1


def test_what_is_not_ready_fails_a_begin_as_told(flow: Flow) -> None:
    flow.conn.execute(f"CREATE TABLE dwh.s (k int, {STAMP}, {HISTORY})".encode())
    flow.module("s", table_type_code="SAT")
    flow.run_module("s", "F")
    assert readiness(flow) == [("ERROR", "KEY_MISSING")]
    detail: dict[str, Any] = flow.refused("OM205", "begin_module", module_code="s")
    assert detail["argument"] == "p_business_key_columns"
