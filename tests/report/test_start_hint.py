"""A failed job that a program outside begins: how it is started again, and what undoes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from support.flow import Flow

    Command = Callable[..., subprocess.CompletedProcess[str]]

WORK = "SELECT state, reason, failures, last_problem FROM omd_report.work WHERE code = 'm'"
TODO = "SELECT action_code, problem FROM omd_report.todo WHERE key = 'm'"


def fail(flow: Flow, **context: Any) -> int:
    """Let a job outside write a row and fail."""
    answer = flow.call(
        "begin_module", module_code="m", execution_context=Jsonb(context) if context else None
    )
    run = int(answer["module_instance_id"])
    flow.conn.execute("INSERT INTO dwh.m (omd_insert_module_instance_id) VALUES (%s)", [run])
    flow.call("module_failure", module_instance_id=run, event_detail="no")
    return run


def way_out(flow: Flow) -> Any:
    return flow.one("SELECT way_out FROM omd_report.problems WHERE object_key = 'm'")


def rows(flow: Flow) -> int:
    return int(flow.one("SELECT count(*) FROM dwh.m"))


def test_the_hint_of_a_person_is_kept_and_removed(flow: Flow) -> None:
    flow.module("m", start_hint="airflow: dag nightly")
    hint = "SELECT start_hint FROM omd.module WHERE module_code = 'm'"
    assert flow.one(hint) == "airflow: dag nightly"
    flow.call("register_module", module_code="m", module_description="a job")
    assert flow.one(hint) == "airflow: dag nightly"
    flow.call("register_module", module_code="m", start_hint="")
    assert flow.one(hint) is None


def test_it_says_how_it_is_started_again(flow: Flow) -> None:
    flow.module("m")
    fail(flow, host="h1", platform="airflow", job="nightly", command="secret", environment="secret")
    assert way_out(flow) == "Start its job again: platform airflow, host h1, job nightly"
    flow.call("register_module", module_code="m", start_hint="airflow: dag nightly")
    assert way_out(flow) == "Start its job again: airflow: dag nightly"
    (row,) = flow.rows(TODO)
    assert row["action_code"] == "UNDO"
    assert "Start its job again: airflow: dag nightly" in row["problem"]


@pytest.mark.no_user_code("omd_runner undoes rows that a policy may hide from it")
@pytest.mark.parametrize("role", [None, "omd_runner"])
def test_what_it_left_is_undone_now_and_every_light_is_green(flow: Flow, role: str | None) -> None:
    flow.module("m")
    run = fail(flow)
    assert rows(flow) == 1
    if role:
        flow.conn.execute("GRANT SELECT, DELETE ON dwh.m TO omd_runner")
        flow.conn.execute("GRANT USAGE ON SCHEMA dwh TO omd_runner; SET ROLE omd_runner")
    answer = flow.call("undo_left", module_code="m")
    flow.conn.execute("RESET ROLE")
    assert (answer["outcome"], answer["instance_array"]) == ("UNDONE", [run])
    assert flow.one(
        "SELECT execution_status_code FROM omd.module_instance WHERE module_instance_id = %s",
        answer["module_instance_id"],
    ) == "C"  # fmt: skip
    assert rows(flow) == 0
    (row,) = flow.rows(WORK)
    assert tuple(row.values()) == ("IDLE", None, 0, None)
    assert flow.rows("SELECT * FROM omd_report.problems") == []
    assert flow.rows(TODO) == []
    assert flow.call("undo_left", module_code="m")["outcome"] == "NOTHING"
    flow.refused("OM005", "undo_left", module_code=None)
    flow.refused("OM002", "undo_left", module_code="none")


def test_what_runs_now_is_not_undone(flow: Flow) -> None:
    flow.module("m")
    fail(flow)
    flow.call("begin_module", module_code="m")
    fresh = flow.call("undo_left", module_code="m")
    assert fresh["outcome"] == "NOTHING"  # the begin has undone it


def test_retry_says_the_same_and_changes_no_light(flow: Flow, omd_here: Command, dsn: str) -> None:
    flow.module("m", start_hint="airflow: dag nightly", max_failures=1)
    fail(flow)
    before = flow.rows(WORK)
    done = omd_here("retry", "m", dsn=dsn)
    assert done.returncode == 0, done.stderr
    assert "Start its job again: airflow: dag nightly" in done.stderr
    assert "omd.undo_left" in done.stderr
    assert "did not wait" not in done.stderr
    assert flow.rows(WORK) == before
    assert before[0]["state"] == "FAILED"
    assert rows(flow) == 1
