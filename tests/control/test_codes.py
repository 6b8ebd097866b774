"""The three codes: the values that each event sets, and refused transitions (rules P2 and P3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

if TYPE_CHECKING:
    from support.flow import Flow

FINAL = ["S", "F", "A", "C"]


@pytest.fixture(autouse=True)
def scene(flow: Flow) -> None:
    flow.batch("b", "m")


@pytest.mark.parametrize("kind", ["batch", "module"])
def test_an_instance_is_created_executing_and_not_yet_let_in(flow: Flow, kind: str) -> None:
    id = flow.create_batch() if kind == "batch" else flow.create_module()
    assert flow.codes(**{kind: id}) == "E A P"
    assert (
        flow.one(f"SELECT end_datetime FROM omd.{kind}_instance WHERE {kind}_instance_id = 1")
        is None
    )


def test_a_run_without_a_batch_has_batch_instance_0(flow: Flow) -> None:
    id = flow.create_module()
    assert (
        flow.one(
            "SELECT batch_instance_id FROM omd.module_instance WHERE module_instance_id = %s", id
        )
        == 0
    )


def test_no_batch_instance_means_the_same_as_0(flow: Flow) -> None:
    id = flow.call("begin_module", module_code="m")["module_instance_id"]
    assert (
        flow.one(
            "SELECT batch_instance_id FROM omd.module_instance WHERE module_instance_id = %s", id
        )
        == 0
    )


def test_evaluation_lets_a_batch_proceed(flow: Flow) -> None:
    assert flow.codes(batch=flow.begin_batch().id) == "E P P"


def test_evaluation_lets_a_module_proceed(flow: Flow) -> None:
    assert flow.codes(module=flow.begin_module().id) == "E P P"


def test_evaluation_tells_a_module_to_roll_back_first(flow: Flow) -> None:
    flow.module("spark", platform_code="SPARK")
    flow.run_module("spark", "F")
    assert flow.codes(module=flow.begin_module("spark").id) == "E R P"


@pytest.mark.parametrize(
    ("status", "codes"), [("S", "S P P"), ("F", "F P R"), ("C", "C C P"), ("A", "A A P")]
)
def test_the_end_of_a_module_sets(flow: Flow, status: str, codes: str) -> None:
    id = flow.begin_module().id
    before = flow.one("SELECT clock_timestamp()")
    flow.end_module(id, status)
    assert flow.codes(module=id) == codes
    end = flow.one("SELECT end_datetime FROM omd.module_instance WHERE module_instance_id = %s", id)
    assert before <= end <= flow.one("SELECT clock_timestamp()")


@pytest.mark.parametrize(
    ("status", "codes"), [("S", "S P P"), ("F", "F P P"), ("C", "C C P"), ("A", "A A P")]
)
def test_the_end_of_a_batch_sets(flow: Flow, status: str, codes: str) -> None:
    id = flow.begin_batch().id
    before = flow.one("SELECT clock_timestamp()")
    flow.end_batch(id, status)
    assert flow.codes(batch=id) == codes
    end = flow.one("SELECT end_datetime FROM omd.batch_instance WHERE batch_instance_id = %s", id)
    assert before <= end <= flow.one("SELECT clock_timestamp()")


def test_a_failure_before_the_evaluation_keeps_the_processing_indicator(flow: Flow) -> None:
    module, batch = flow.create_module(), flow.create_batch()
    assert flow.codes(module=flow.end_module(module, "F")) == "F A R"
    assert flow.codes(batch=flow.end_batch(batch, "F")) == "F A P"


def test_a_failure_during_the_rollback_keeps_the_processing_indicator(flow: Flow) -> None:
    flow.module("spark", platform_code="SPARK")
    first = flow.run_module("spark", "F")
    second = flow.begin_module("spark")
    assert flow.codes(module=flow.end_module(second.id, "F")) == "F R R"
    assert flow.begin_module("spark").array == [first, second.id]


def test_an_evaluation_that_skips_closes_the_instance(flow: Flow) -> None:
    flow.deactivate("module", "true")
    flow.deactivate("batch", "true")
    assert flow.codes(module=flow.begin_module().id) == "C C P"
    assert flow.codes(batch=flow.begin_batch().id) == "C C P"


def test_an_evaluation_that_aborts_closes_the_instance(flow: Flow) -> None:
    flow.begin_module()
    flow.begin_batch()
    assert flow.codes(module=flow.begin_module().id) == "A A P"
    assert flow.codes(batch=flow.begin_batch().id) == "A A P"


def test_success_needs_an_evaluation(flow: Flow) -> None:
    module, batch = flow.create_module(), flow.create_batch()
    flow.refused("OM102", "module_success", module_instance_id=module)
    flow.refused("OM102", "batch_success", batch_instance_id=batch)
    assert flow.codes(module=module) == flow.codes(batch=batch) == "E A P"


def test_success_needs_the_rollback(flow: Flow) -> None:
    flow.module("spark", platform_code="SPARK")
    flow.run_module("spark", "F")
    begun = flow.begin_module("spark")
    flow.refused("OM102", "module_success", module_instance_id=begun.id)
    assert flow.codes(module=begun.id) == "E R P"
    flow.call("confirm_rollback", module_instance_id=begun.id)
    flow.end_module(begun.id, "S")
    assert flow.codes(module=begun.id) == "S P P"


@pytest.mark.parametrize("status", FINAL)
@pytest.mark.parametrize(
    "call",
    [
        "module_success",
        "module_failure",
        "module_skip",
        "module_abort",
        "evaluate_module",
        "rollback_module",
        "confirm_rollback",
        "heartbeat",
        "create_load_window",
    ],
)
def test_a_module_instance_that_has_ended_stays_as_it_is(
    flow: Flow, status: str, call: str
) -> None:
    id = flow.end_module(flow.begin_module().id, status)
    before = flow.rows("SELECT * FROM omd.module_instance WHERE module_instance_id > 0")
    events = flow.one("SELECT count(*) FROM omd.event_log")
    more = {"heartbeat": {"lease": "5 minutes"}, "create_load_window": {"end_id": 1}}.get(call, {})
    detail = flow.refused("OM101", call, module_instance_id=id, **more)
    assert detail["execution_status_code"] == status
    why = detail["because"]
    assert why is None or not why.startswith(":")
    assert detail["outcome"] == (status if why is None else f"{status}: {why}")
    assert flow.rows("SELECT * FROM omd.module_instance WHERE module_instance_id > 0") == before
    assert flow.one("SELECT count(*) FROM omd.event_log") == events


@pytest.mark.parametrize("status", FINAL)
@pytest.mark.parametrize(
    "call",
    [
        "batch_success",
        "batch_failure",
        "batch_skip",
        "batch_abort",
        "evaluate_batch",
        "heartbeat_batch",
    ],
)
def test_a_batch_instance_that_has_ended_stays_as_it_is(flow: Flow, status: str, call: str) -> None:
    id = flow.end_batch(flow.begin_batch().id, status)
    before = flow.rows("SELECT * FROM omd.batch_instance WHERE batch_instance_id > 0")
    events = flow.one("SELECT count(*) FROM omd.event_log")
    more = {"lease": "5 minutes"} if call == "heartbeat_batch" else {}
    flow.refused("OM101", call, batch_instance_id=id, **more)
    assert flow.rows("SELECT * FROM omd.batch_instance WHERE batch_instance_id > 0") == before
    assert flow.one("SELECT count(*) FROM omd.event_log") == events


@pytest.mark.parametrize("kind", ["batch", "module"])
@pytest.mark.parametrize(
    "change",
    [
        "end_datetime = now()",
        "execution_status_code = 'S'",
        "execution_status_code = 'X', end_datetime = now()",
        "processing_indicator = 'E'",
        "next_run_indicator = 'E'",
        "next_run_indicator = 'A'",
        "execution_status_code = NULL",
        "processing_indicator = NULL",
        "next_run_indicator = NULL",
    ],
)
def test_the_tables_refuse_impossible_codes_from_anybody(
    flow: Flow, kind: str, change: str
) -> None:
    flow.begin_batch()
    flow.begin_module()
    with pytest.raises(psycopg.IntegrityError):
        flow.owner(f"UPDATE omd.{kind}_instance SET {change} WHERE {kind}_instance_id = 1")


@pytest.mark.parametrize("table", ["processing_indicator", "next_run_indicator"])
def test_e_can_not_become_an_indicator(flow: Flow, table: str) -> None:
    with pytest.raises(psycopg.IntegrityError):
        flow.owner(f"INSERT INTO omd.{table} VALUES ('E', 'Executing')")


@pytest.mark.parametrize(
    ("table", "codes"),
    [
        ("execution_status", "ACEFS"),
        ("processing_indicator", "ACPR"),
        ("next_run_indicator", "CPR"),
    ],
)
def test_every_code_has_a_description(flow: Flow, table: str, codes: str) -> None:
    rows = flow.conn.execute(f"SELECT * FROM omd.{table} ORDER BY 1".encode()).fetchall()
    assert "".join(next(iter(row.values())) for row in rows) == codes
    assert all(len(list(row.values())[1]) > 10 for row in rows)


def test_the_placeholders_appear_in_no_report(flow: Flow) -> None:
    assert flow.one("SELECT count(*) FROM omd.batch_instance") == 1
    assert flow.one("SELECT count(*) FROM omd.module_instance") == 1
    reports = flow.rows("SELECT viewname FROM pg_views WHERE schemaname = 'omd_report'")
    assert reports
    definitions = (
        "batch_list", "module_list", "batch_module_list", "audit_columns",
        "dispatch_sources", "dispatch_sessions", "dispatch_schedules", "history",
        "work", "work_states", "work_summary", "batch_work", "flow", "flow_nodes",
        "metric_list", "metrics", "prometheus", "routine_list", "server", "server_problems",
        "footprint", "upgrade",
    )  # fmt: skip
    for report in reports:
        if report["viewname"] not in definitions:
            assert flow.rows(f"SELECT * FROM omd_report.{report['viewname']}") == []


def test_row_counts_are_kept(flow: Flow) -> None:
    counts = ["input", "inserted", "updated", "deleted", "discarded", "rejected"]
    given = {f"rows_{count}": 2**40 + n for n, count in enumerate(counts)}
    id = flow.begin_module().id
    flow.call("module_success", module_instance_id=id, **given)
    (row,) = flow.rows("SELECT * FROM omd.module_instance WHERE module_instance_id = %s", id)
    assert {name: row[name] for name in given} == given


def test_counts_that_are_not_given_are_0(flow: Flow) -> None:
    id = flow.run_module()
    (row,) = flow.rows("SELECT * FROM omd.module_instance WHERE module_instance_id = %s", id)
    assert {value for name, value in row.items() if name.startswith("rows_")} == {0}


def test_the_execution_context_is_kept(flow: Flow) -> None:
    context = {"platform": "spark", "host": 'a "b" \\ c', "nested": {"x": [1, None]}}
    module = flow.begin_module(execution_context=context).id
    batch = flow.begin_batch(execution_context=context).id
    for kind, id in (("module", module), ("batch", batch)):
        kept = flow.one(
            f"SELECT execution_context FROM omd.{kind}_instance WHERE {kind}_instance_id = %s", id
        )
        assert kept == context
