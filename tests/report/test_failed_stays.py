"""What has failed stays failed, of Modules that no worker tries again and of Batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from support.flow import Flow

WORK = "SELECT state, reason, failures, not_before FROM omd_report.work WHERE code = %s"
BATCH = "SELECT * FROM omd_report.batch_work WHERE code = %s"


def module(flow: Flow, code: str = "m", **given: Any) -> None:
    flow.conn.execute(b"CREATE TABLE IF NOT EXISTS dwh.t (omd_insert_module_instance_id bigint)")
    flow.call("register_module", module_code=code, area_code="HSTG", table_code="dwh.t", **given)


def fail(flow: Flow, code: str = "m", **given: Any) -> int:
    run = flow.call("begin_module", module_code=code, **given)["module_instance_id"]
    flow.call(
        "module_failure",
        module_instance_id=run,
        event_detail="no",
        event_return_code_details="22012",
    )
    return int(run)


def state(flow: Flow, code: str = "m") -> tuple[Any, ...]:
    (row,) = flow.rows(WORK, code)
    return tuple(row.values())


@pytest.mark.parametrize("given", [{}, {"executable": "SELECT 1"}, {"job": "jobs:load"}])
def test_no_end_of_a_pause_makes_a_failed_module_idle(flow: Flow, given: dict[str, Any]) -> None:
    module(flow, **given)
    for failures in (1, 2):
        fail(flow)
        flow.owner("UPDATE omd.module_state SET not_before = now() - interval '1 day'")
        assert state(flow) == ("FAILED", "WAITS_FOR_A_PERSON", failures, None)
    assert flow.rows("SELECT state, reason, modules FROM omd_report.work_summary") == [
        {"state": "FAILED", "reason": "WAITS_FOR_A_PERSON", "modules": 1}
    ]
    flow.owner("UPDATE omd.module SET inactive_indicator = 'Y'")
    assert state(flow)[0] == "FAILED"
    flow.owner("UPDATE omd.module SET inactive_indicator = 'N'")
    run = flow.call("begin_module", module_code="m")["module_instance_id"]
    assert state(flow)[:2] == ("RUNNING", "RUNNING")
    flow.call("module_success", module_instance_id=run)
    assert state(flow) == ("IDLE", None, 0, None)


def test_a_rollback_that_was_settled_and_skipped_ends_it(flow: Flow) -> None:
    module(flow)
    fail(flow)
    fail(flow)
    run = flow.call("begin_module", module_code="m")
    assert (run["processing_indicator"], run["instance_array"]) == ("P", [2])
    flow.call("module_skip", module_instance_id=run["module_instance_id"])
    assert state(flow)[:2] == ("IDLE", None)
    assert flow.rows("SELECT * FROM omd_report.problems") == []


def test_a_skip_that_has_undone_nothing_ends_nothing(flow: Flow) -> None:
    module(flow)
    # It failed elsewhere, left no row, and has nothing to undo.
    flow.call("record_failure", module_code="m")
    run = flow.call("begin_module", module_code="m")
    flow.call("module_skip", module_instance_id=run["module_instance_id"])
    assert state(flow)[:3] == ("FAILED", "WAITS_FOR_A_PERSON", 1)


def test_a_run_that_has_undone_the_last_one_and_fails_is_the_next_failure(flow: Flow) -> None:
    module(flow)
    fail(flow)
    fail(flow)
    assert state(flow)[:3] == ("FAILED", "WAITS_FOR_A_PERSON", 2)
    assert flow.one("SELECT rolled_back_by_module_instance_id FROM omd.module_instance"
                    " WHERE module_instance_id = 1") == 2  # fmt: skip


def test_a_failed_batch_stays_failed_until_it_succeeds(flow: Flow) -> None:
    module(flow)
    flow.batch("b", "m")
    (row,) = flow.rows(BATCH, "b")
    assert row == {
        "code": "b", "state": "IDLE", "reason": None, "failures": 0, "last_problem": None,
        "since": None,
    }  # fmt: skip
    flow.run_batch("b", m="F")
    first = flow.one("SELECT min(end_datetime) FROM omd.batch_instance WHERE batch_id IS NOT NULL")
    flow.run_batch("b", m="F")
    (row,) = flow.rows(BATCH, "b")
    assert (row["state"], row["reason"], row["failures"]) == ("FAILED", "WAITS_FOR_A_PERSON", 2)
    assert row["since"] == first
    assert row["last_problem"]
    run = flow.call("begin_batch", batch_code="b")["batch_instance_id"]
    (row,) = flow.rows(BATCH, "b")
    assert (row["state"], row["reason"], row["failures"]) == ("RUNNING", "RUNNING", 2)
    flow.call("batch_failure", batch_instance_id=run)
    flow.run_batch("b", m="S")
    (row,) = flow.rows(BATCH, "b")
    assert (row["state"], row["failures"], row["last_problem"]) == ("IDLE", 0, None)
    flow.call("register_batch", batch_code="b", inactive_indicator="Y")
    (row,) = flow.rows(BATCH, "b")
    assert (row["state"], row["reason"]) == ("PAUSED", "INACTIVE")


def test_a_batch_whose_rows_were_undone_and_that_was_skipped_is_settled(flow: Flow) -> None:
    module(flow)
    flow.batch("b", "m")
    flow.run_batch("b", m="F")
    run = flow.call("begin_batch", batch_code="b")["batch_instance_id"]
    flow.call("batch_skip", batch_instance_id=run)
    assert flow.rows(BATCH, "b")[0]["state"] == "FAILED"
    again = flow.call("begin_module", module_code="m")["module_instance_id"]
    flow.call("module_skip", module_instance_id=again)
    assert flow.rows(BATCH, "b")[0]["state"] == "IDLE"
    assert flow.rows("SELECT * FROM omd_report.problems") == []
