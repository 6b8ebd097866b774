"""A Module of each kind with a room fails twice, and a worker performs it a third time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from kinds.conftest import Platform

WORK = "SELECT state, reason, failures, last_problem FROM omd_report.work WHERE code = %s"


@pytest.mark.parametrize("code", ["app.dst", "facts.shop"])
def test_it_is_performed_a_third_time_without_a_person(platform: Platform, code: str) -> None:
    platform.queue(1, item=[("N", 1, 10)])
    platform.come(1, 2, 3)
    platform.call("omd_dispatch.set_work", is_on=True)
    platform.conn.execute("CALL omd_dispatch.register_backend('WORKER', 'w1')")

    def take() -> None:
        platform.owner("UPDATE omd_dispatch.task_source SET took = NULL")
        platform.call("omd_dispatch.fire_sources")

    for failures in (1, 2):
        platform.call("omd.note_failure", module_code=code, detail="no", code="22012")
        (row,) = platform.rows(WORK, code)
        assert (row["state"], row["reason"], row["failures"]) == ("FAILED", "BACK_OFF", failures)
        take()
        assert platform.one(
            "SELECT count(*) FROM omd_dispatch.task_data_work WHERE func_code = %s", code
        ) == 0  # fmt: skip
        platform.owner("UPDATE omd.module_state SET not_before = now() - interval '1 s'")
        (row,) = platform.rows(WORK, code)
        assert (row["state"], row["failures"]) == ("READY", failures)
        assert row["last_problem"]
    take()
    claimed = platform.rows("SELECT * FROM omd_dispatch.claim_tasks('w1', 100)")
    (task,) = [t for t in claimed if t["criteria"]["CODE"] == code]
    context = {key: task[key] for key in ("task_id", "claim_token")}
    platform.rows(
        "SELECT set_config('omd.execution_context', %s::text, FALSE) AS a", Jsonb(context)
    )
    assert platform.go(code)["execution_status_code"] == "S"
    platform.conn.execute("RESET omd.execution_context")
    (row,) = platform.rows(WORK, code)
    assert (row["failures"], row["last_problem"]) == (0, None)
