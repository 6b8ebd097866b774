"""What waits for a person is in `omd_report.todo`, and is gone when its action was taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dispatch.conftest import Room
from provenance.recalls import Recalls
from report.test_problems import Seen, drop, fail, module, shop, store
from support.flow import PASSED, Flow

if TYPE_CHECKING:
    from pathlib import Path

    import psycopg

    from delivery.test_arrivals import Drop

    Connection = psycopg.Connection[dict[str, Any]]

__all__ = ["drop", "shop", "store"]

COLUMNS = "object_kind key title since problem action_code"
HOSTILE = ["a b", 'it\'s; "x" $(id)', "\x1b[31mé\n|", "100%"]


@pytest.fixture
def seen(conn: Connection, omd_here: Any, dsn: str) -> Seen:
    conn.prepare_threshold = None
    return Seen(conn, omd_here, dsn)


def todo(flow: Flow) -> list[dict[str, Any]]:
    rows = flow.rows("SELECT * FROM omd_report.todo ORDER BY object_kind, key, action_code")
    for row in rows:
        assert row["title"]
        assert row["problem"]
        assert row["action_code"]
        assert row["key"]
    offered = flow.rows(
        "SELECT t.object_kind, t.key, t.action_code, a.is_offered, a.why_not"
        " FROM omd_report.todo AS t LEFT JOIN LATERAL omd_web.actions(t.object_kind, t.key) AS a"
        " ON t.action_code = a.action_code"
    )
    assert len(offered) == len(rows)
    assert all(row["is_offered"] for row in offered), offered
    return rows


def what(flow: Flow) -> list[tuple[str, str, str]]:
    return [(row["object_kind"], row["key"], row["action_code"]) for row in todo(flow)]


def test_the_columns_are_those_of_the_contract(flow: Flow) -> None:
    found = flow.conn.execute("SELECT * FROM omd_report.todo").description
    assert [column.name for column in found or ()] == COLUMNS.split()
    assert what(flow) == []


@pytest.mark.parametrize("code", ["m", *HOSTILE])
def test_a_failed_module_is_run_and_one_given_up_is_retried(seen: Seen, code: str) -> None:
    module(seen, code, max_failures=2)
    fail(seen, code)
    assert what(seen.flow) == [("MODULE", code, "RUN")]
    fail(seen, code)
    [row] = todo(seen.flow)
    assert (row["object_kind"], row["key"], row["action_code"]) == ("MODULE", code, "RETRY")
    assert row["since"] is not None
    with seen.flow.conn.transaction():
        seen.flow.conn.execute("SET LOCAL ROLE omd_reader")
        shown = todo(seen.flow)[0]["problem"]
    assert "4711" not in shown
    seen.flow.call("retry", module_code=code)
    assert what(seen.flow) == []


def test_a_module_whose_job_is_started_elsewhere_is_not_forgiven(flow: Flow) -> None:
    flow.module("m", platform_code="SPARK", table_code="lake.t")
    flow.end_module(flow.begin_module("m").id, "F")
    assert what(flow) == [("MODULE", "m", "UNDO")]
    assert flow.call("retry", module_code="m")["was"] is False
    assert what(flow) == [("MODULE", "m", "UNDO")]
    answer = flow.call("undo_left", module_code="m")
    assert (answer["outcome"], answer["module_instance_id"]) == ("ELSEWHERE", None)
    assert "Start its job again" in answer["detail"]
    assert what(flow) == [("MODULE", "m", "UNDO")]


def test_a_failed_or_late_batch_is_run(flow: Flow) -> None:
    flow.batch("late", frequency_code="Daily")
    flow.batch("b", "m")
    assert what(flow) == [("BATCH", "late", "BATCH_RUN")]
    flow.end_batch(flow.begin_batch("late").id, "S")
    flow.end_batch(flow.begin_batch("b").id, "F")
    assert what(flow) == [("BATCH", "b", "BATCH_RUN")]
    flow.run_batch("b", m="S")
    assert what(flow) == []


def test_a_directive_is_cleared_or_stays_for_the_rows_of_a_failure(flow: Flow) -> None:
    flow.batch("b", "m")
    run = flow.run_batch("b", m="S")
    flow.call("set_next_run_indicator", next_run_indicator="C", module_instance_id=run["m"].id)
    assert what(flow) == [("MODULE_INSTANCE", str(run["m"].id), "CLEAR_DIRECTIVE")]
    [row] = todo(flow)
    assert "skipped" in row["problem"]
    assert row["since"] is not None
    flow.call("set_next_run_indicator", next_run_indicator="P", module_instance_id=run["m"].id)
    assert what(flow) == []
    flow.call("set_next_run_indicator", next_run_indicator="C", batch_instance_id=run.id)
    assert ("BATCH_INSTANCE", str(run.id), "BATCH_CLEAR_DIRECTIVE") in what(flow)
    flow.call("set_next_run_indicator", next_run_indicator="P", batch_instance_id=run.id)
    assert what(flow) == []
    flow.call("set_next_run_indicator", next_run_indicator="R", module_instance_id=run["m"].id)
    # Its job is started elsewhere, so nobody can run it from here.
    assert what(flow) == [("MODULE_INSTANCE", str(run["m"].id), "CLEAR_DIRECTIVE")]
    flow.call("set_next_run_indicator", next_run_indicator="P", module_instance_id=run["m"].id)
    failed = flow.run_module("m", "F")
    flow.owner("DELETE FROM omd.module_state")
    assert what(flow) == [], "a failure is undone by the next begin, and nobody has to ask"
    flow.call("set_next_run_indicator", next_run_indicator="C", module_instance_id=failed)
    assert what(flow) == [("MODULE_INSTANCE", str(failed), "ROLL_BACK_NEXT")]
    flow.call("set_next_run_indicator", next_run_indicator="R", module_instance_id=failed)
    assert what(flow) == []


def test_a_run_whose_lease_has_expired_is_ended(flow: Flow) -> None:
    flow.batch("b", "m")
    batch = flow.begin_batch("b", lease=PASSED).id
    run = flow.begin_module("m", batch, lease=PASSED).id
    assert what(flow) == [
        ("BATCH_INSTANCE", str(batch), "BATCH_END"),
        ("MODULE_INSTANCE", str(run), "END"),
    ]
    flow.call("end_batch_instance", batch_instance_id=batch)
    assert [kind for kind, _, _ in what(flow)] == ["BATCH", "MODULE"], "they have failed now"


def test_dead_tasks_are_one_row_by_type_and_code_of_error(flow: Flow) -> None:
    room = Room(flow.conn)
    room.family()
    room.type("T", max_attempts=1)
    room.type("U", max_attempts=1)
    room.member()

    def die(error: str, task_type: str = "T") -> int:
        task = room.create(task_type=task_type)
        room.complete(room.claim(), "F", error=error, error_class=error.partition(":")[0])
        return task

    first = die("22P02: invalid input: 'secret'")
    die("22P02: invalid input: 'other secret'")
    other = die("ValueError: secret")
    alone = die("22P02: invalid input", "U")
    flow.conn.execute("SET ROLE omd_reader")
    rows = todo(flow)
    flow.conn.execute("RESET ROLE")
    assert {(r["object_kind"], r["key"], r["action_code"]) for r in rows} == {
        ("TASK", str(task), "REVIVE_TASK") for task in (first, other, alone)
    }
    assert {r["title"] for r in rows} == {
        "2 dead tasks of F/T", "1 dead task of F/T", "1 dead task of F/U",
    }  # fmt: skip
    assert "secret" not in str(rows)
    for row in flow.rows("SELECT task_id FROM omd_report.dispatch_dead"):
        room.call("revive_task", task_id=row["task_id"])
    assert [row for row in what(flow) if row[0] == "TASK"] == []


def test_a_suspension_is_resumed_when_a_day_has_passed(flow: Flow) -> None:
    room = Room(flow.conn)
    room.family()
    held = str(room.call("suspend", family_code="F", reason="a night")["suspension_id"])
    assert what(flow) == []
    flow.owner("UPDATE omd_dispatch.task_suspension SET suspended_at = now() - interval '25 hours'")
    assert what(flow) == [("SUSPENSION", held, "RESUME")]
    assert "a night" in todo(flow)[0]["problem"]
    room.call("resume", suspension_id=int(held))
    assert what(flow) == []


def test_a_schedule_that_can_not_fire_is_fired_by_hand(flow: Flow) -> None:
    room = Room(flow.conn)
    room.family()
    room.conn.execute("CREATE VIEW dwh.source AS SELECT 'a' AS code")
    room.call(
        "register_schedule", schedule_code="s", family_code="F", task_type="T",
        every="1 hour", source="dwh.source",
    )  # fmt: skip
    room.conn.execute("DROP VIEW dwh.source")
    room.owner("UPDATE omd_dispatch.task_schedule SET next_time = now() - interval '1 minute'")
    room.call("fire_schedule", schedule_code="s")
    assert what(flow) == [("SCHEDULE", "s", "FIRE_SCHEDULE")]
    # The next occurrence has not come: nobody has to do anything yet.
    room.owner("UPDATE omd_dispatch.task_schedule SET next_time = now() + interval '1 hour'")
    assert what(flow) == []


def test_a_planned_recall_is_executed_and_a_return_by_hand_is_dropped(flow: Flow) -> None:
    recalls = Recalls(flow.conn)
    recalls.made("a")
    recalls.made("b", "a")
    run = recalls.go("a")
    recalls.go("b")
    planned = recalls.plan(run, awaits_correction=True)
    [row] = todo(flow)
    assert (row["object_kind"], row["key"], row["action_code"]) == (
        "RECALL", str(planned), "RECALL",
    )  # fmt: skip
    assert row["since"] is not None
    recalls.recall(planned)
    [row] = todo(flow)
    assert (row["object_kind"], row["key"], row["action_code"]) == (
        "RECALL", str(planned), "DROP_RETURN",
    )  # fmt: skip
    assert row["title"].startswith("entry 1 of recall")
    recalls.call(
        "omd_provenance.drop_return", recall_id=planned, position=1, reason="it will not come"
    )
    assert what(flow) == []


def test_who_has_read_what_was_undone_is_rolled_back_next(flow: Flow) -> None:
    recalls = Recalls(flow.conn)
    recalls.made("a")
    recalls.made("b", "a")
    run = recalls.go("a")
    reader = recalls.go("b")
    recalls.call("set_next_run_indicator", next_run_indicator="R", module_instance_id=run)
    recalls.go("a")
    assert ("MODULE_INSTANCE", str(reader), "ROLL_BACK_NEXT") in what(flow)
    recalls.call("set_next_run_indicator", next_run_indicator="R", module_instance_id=reader)
    assert ("MODULE_INSTANCE", str(reader), "ROLL_BACK_NEXT") not in what(flow)
    assert ("MODULE", "b", "RUN") in what(flow)
    recalls.go("b")
    assert what(flow) == []


def test_a_folder_that_does_not_fit_is_forgotten(seen: Seen, drop: Drop, tmp_path: Path) -> None:
    (tmp_path / "it's $(x)").mkdir()
    seen.omd("deliver", "a", "--arrived", "--dry-run")
    arrival = str(seen.flow.one("SELECT arrival_id FROM omd_delivery.arrival"))
    assert what(seen.flow) == [("ARRIVAL", arrival, "FORGET_ARRIVAL")]
    (tmp_path / "it's $(x)").rmdir()
    seen.omd("deliver", "a", "--arrived", "--dry-run")
    assert what(seen.flow) == []


@pytest.mark.parametrize(
    ("status", "action"), [("RECEIVED", "CANCEL_DELIVERY"), ("ACCEPTED", "REVERT")]
)
def test_what_came_of_a_folder_that_changed_is_taken_back(
    seen: Seen, drop: Drop, tmp_path: Path, status: str, action: str
) -> None:
    path = tmp_path / "2020-01-01"
    path.mkdir()
    (path / "customer.csv").write_text("nbr\n1\n")
    (path / "_SUCCESS").touch()
    seen.omd("deliver", "a", "--arrived", "--dry-run")
    delivery, _ = drop.take()
    assert delivery is not None
    if status == "ACCEPTED":
        drop.accept(delivery)
        drop.shop.call("finish_arrival", delivery_id=delivery)
    (path / "customer.csv").write_text("nbr\n1\n2\n")
    seen.omd("deliver", "a", "--arrived", "--dry-run")
    assert what(seen.flow) == [("DELIVERY", str(delivery), action)]
    routine = {"REVERT": "revert_delivery"}.get(action, "cancel_delivery")
    drop.shop.call(routine, delivery_id=delivery, reason="it has changed")
    assert ("DELIVERY", str(delivery), action) not in what(seen.flow)


def test_a_reader_may_look(flow: Flow) -> None:
    flow.batch("late", frequency_code="Daily")
    flow.conn.execute("SET ROLE omd_reader")
    assert what(flow) == [("BATCH", "late", "BATCH_RUN")]
