"""What each role may do, and that an administrator leaves an event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg.errors import InsufficientPrivilege
from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Room

T = {"family_code": "F", "task_type": "T"}
NEW = {**T, "criteria": {"CODE": "a"}}
EVERY = {**NEW, "schedule_code": "s", "every": "1 hour"}


def test_each_role_does_its_part_and_an_administrator_leaves_events(
    room: Room, another: Callable[..., Room]
) -> None:
    reader, runner, admin = (another(role=f"omd_{r}") for r in ("reader", "runner", "admin"))
    events = "SELECT count(*) FROM omd.event_log"

    def only(
        by: tuple[Room, ...], routine: str, /, *, leaves_event: bool = False, **given: Any
    ) -> dict[str, Any]:
        """Call it as all three; return the answer to the first who may."""
        answers = []
        for role in (reader, runner, admin):
            before = room.one(events)
            if role in by:
                answers.append(role.call(routine, **given))
                assert (room.one(events) > before) == leaves_event, routine
            else:
                with pytest.raises(InsufficientPrivilege):
                    role.call(routine, **given)
        return answers[0]

    def administer(routine: str, /, *, again: bool | None = False, **given: Any) -> Any:
        """Call it as administrator; again: whether a second call leaves an event too."""
        answer = only((admin,), routine, leaves_event=True, **given)
        if again is not None:
            before = room.one(events)
            admin.call(routine, **given)
            assert (room.one(events) > before) == again, routine
        return answer

    administer("register_family", family_code="F", criteria={"CODE": "text", "N": "bigint"})
    administer("register_task_type", **T, handler="PYTHON", target="m:f")
    administer("set_custom", **T, criterion="N", mode="O")
    administer("set_external_name", **T, criterion="CODE", external_name="code")
    administer("allow_search", family_code="F", index_name="I", criteria=["CODE"])
    assert "by " in room.one("SELECT event_detail FROM omd.event_log ORDER BY event_id LIMIT 1")
    administer("register_schedule", **EVERY)
    with pytest.raises(InsufficientPrivilege):
        runner.conn.execute("UPDATE omd_dispatch.task_schedule SET next_time = now()")
    before = room.one(events)
    admin.conn.execute("UPDATE omd_dispatch.task_schedule SET next_time = now()")
    assert room.one(events) == before + 1

    assert only((runner, admin), "maintain") == {"reclaimed": 0, "fired": 1, "more": False}
    administer("remove_schedule", again=None, schedule_code="s")
    only((runner, admin), "create_task", **NEW)
    ids = only((runner, admin), "create_tasks", **T, tasks=Jsonb([{"criteria": {"CODE": "b"}}]))
    (task_id,) = ids["task_ids"]
    only((runner, admin), "reschedule_task", task_id=task_id, priority=1)
    admin.call("cancel_task", task_id=task_id)
    with pytest.raises(InsufficientPrivilege):
        reader.call("cancel_task", task_id=task_id)
    administer("revive_task", again=None, task_id=task_id)
    runner.call("cancel_task", task_id=task_id)

    only((runner,), "register_backend", backend_type="WORKER", backend_id="w1")
    only((runner,), "renew_backend", backend_id="w1")
    for role in (reader, admin):
        with pytest.raises(InsufficientPrivilege):
            role.claim()
    tasks = runner.claim()
    assert len(tasks) == 4
    results = Jsonb([{k: tasks[0][k] for k in ("task_id", "claim_token")} | {"outcome": "S"}])
    assert only((runner,), "complete_tasks", backend_id="w1", results=results) == {"refused": []}
    only((runner,), "release_tasks", backend_id="w1", task_ids=[tasks[1]["task_id"]])
    held = administer("suspend", again=None, family_code="F")
    assert held["held"] == 1
    administer("resume", again=None, suspension_id=held["suspension_id"])
    only((runner,), "leave_backend", backend_id="w1")
    runner.member("w2")
    before = room.one(events)
    admin.conn.execute("DELETE FROM omd_dispatch.backend_registration")
    assert room.one(events) == before + 1
    with pytest.raises(InsufficientPrivilege):
        runner.conn.execute("DELETE FROM omd_dispatch.backend_registration")

    for role in (reader, runner, admin):
        assert role.reason(task_id) == "CANCELLED"
        found = "SELECT task_id FROM omd_dispatch.search_tasks('F', %s)"
        assert {"task_id": task_id} in role.rows(found, Jsonb({"CODE": "b"}))
        assert role.rows("SELECT * FROM omd_dispatch.compare_models('F')") == []
        assert role.rows("SELECT due FROM omd_report.dispatch_queue") == [{"due": 3}]
        assert role.one("SELECT omd_dispatch.cron_next('@daily') > now()")
        assert role.rows("SELECT * FROM omd_dispatch.backend_position('WORKER', 'w2')") == []
        with pytest.raises(InsufficientPrivilege):
            role.conn.execute("UPDATE omd_dispatch.task_data_f SET priority = 0")
    for n in range(3):
        administer("set_migration_status", family_code="F", migration_status=3 - n)
    empty = "SELECT n FROM generate_series(0, 7) AS n WHERE NOT EXISTS (SELECT FROM"
    empty += " omd_dispatch.task_data_f AS t WHERE t.partition_code = n) LIMIT 1"
    administer("purge_partition", again=True, family_code="F", partition_code=room.one(empty))
    for role in (reader, runner):
        with pytest.raises(InsufficientPrivilege):
            role.call("purge_family", family_code="F")
    assert admin.call("purge_family", family_code="F")["left"] == []
