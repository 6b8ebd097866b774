"""The old model and the new one are kept in step, forward and back, while workers go on."""

from __future__ import annotations

import itertools
import threading
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Room

CRITERIA = {"CODE": "text", "N": "numeric", "AT": "timestamptz"}


def step(room: Room, status: int) -> None:
    room.call("set_migration_status", family_code="F", migration_status=status)


def differences(room: Room) -> list[dict[str, object]]:
    return room.rows("SELECT * FROM omd_dispatch.compare_models('F')")


@pytest.fixture
def old(room: Room) -> Room:
    """A family in the old model."""
    room.family("F", ("CODE",), criteria=CRITERIA, migration_status=0)
    for criterion in ("N", "AT"):
        room.call("set_custom", family_code="F", task_type="T", criterion=criterion, mode="O")
    room.member()
    return room


def test_the_old_model_serves_alone(old: Room) -> None:
    old.type(max_running=1)
    ids = [old.create(criteria={"CODE": c, "N": 1.50}) for c in "abc"]
    old.refused("OM170", "create_task", family_code="F", task_type="T", criteria={"CODE": "a"})
    old.refused("OM173", "suspend", family_code="F")
    assert old.rows("SELECT * FROM omd_dispatch.job_type") == [
        {"task_type": "T", "family_code": "F"}
    ]
    for table, group in (("trigger_id_task_type", "trigger"), ("deliver_id_task_type", "deliver")):
        assert old.rows(f"SELECT {group}_id, task_type FROM omd_dispatch.{table}") == [
            {f"{group}_id": "WORKER", "task_type": "T"}
        ]
    (task,) = old.claim()
    assert task["criteria"] == {"CODE": "a", "N": 1.5}
    assert [old.reason(i) for i in ids] == ["CLAIMED", "LANE_FULL", "LANE_FULL"]
    old.complete([task], "F")
    old.call("cancel_task", task_id=ids[0])
    old.call("revive_task", task_id=ids[0])
    (task,) = old.claim()
    old.owner("DELETE FROM omd_dispatch.backend_registration")
    assert old.maintain()["reclaimed"] == 1
    queue = "SELECT due, claimed FROM omd_report.dispatch_queue WHERE family_code = 'F'"
    assert old.rows(queue) == [{"due": 3, "claimed": 0}]
    assert old.one("SELECT count(*) FROM omd_dispatch.job_t") == 3
    assert old.one("SELECT count(*) FROM omd_dispatch.task_data_f") == 0
    values = "SELECT criterion_value FROM omd_dispatch.job_criteria_value_t WHERE task_id = %s"
    assert old.rows(values + " ORDER BY criterion DESC", ids[0]) == [
        {"criterion_value": "1.5"},
        {"criterion_value": "a"},
    ]


def test_a_family_goes_all_the_way_and_back_under_load(
    old: Room, another: Callable[..., Room]
) -> None:
    errors: list[Exception] = []
    started: list[int] = []
    created: list[int] = []
    over = threading.Event()

    done, wanted = threading.Semaphore(0), threading.Semaphore(20)

    def create(session: Room) -> None:
        for n in itertools.count():
            wanted.acquire()
            if over.is_set():
                break
            criteria = {"CODE": str(n), "AT": "2026-01-01 12:00+02"}
            created.append(session.create(criteria=criteria))

    def work(session: Room, name: str) -> None:
        session.member(name)
        while not errors and (threads[0].is_alive() or len(started) < len(created)):
            tasks = session.claim(2, by=name)
            assert session.complete(tasks, by=name) == []
            started.extend(t["task_id"] for t in tasks)
            done.release(len(tasks)) if tasks else None
            wanted.release(len(tasks)) if tasks else None

    def guarded(function: Callable[..., None], *arguments: object) -> threading.Thread:
        def run() -> None:
            try:
                function(*arguments)
            except Exception as error:  # noqa: BLE001
                errors.append(error)
                over.set()

        return threading.Thread(target=run)

    threads = [
        guarded(create, another()),
        guarded(work, another(), "w2"),
        guarded(work, another(), "w3"),
    ]
    for thread in threads:
        thread.start()
    for status in (1, 2, 3, 4, 3, 2, 1, 0):
        for _ in range(10):
            assert done.acquire(timeout=20), errors
        step(old, status)
    over.set()
    wanted.release()
    for thread in threads:
        thread.join()
    assert errors == []
    assert sorted(started) == sorted(created)
    assert len(set(started)) == len(started)
    assert old.rows("SELECT * FROM omd_dispatch.task_migration_discrepancy") == []
    assert old.one("SELECT count(*) FROM omd_dispatch.task_data_f") == 0
    assert old.one("SELECT count(*) FROM omd_dispatch.mutex") == 0


def test_differences_are_told_mended_and_stop_a_change_of_the_master(old: Room) -> None:
    ids = [old.create(c) for c in "abcd"]
    old.refused("OM173", "set_migration_status", family_code="F", migration_status=2)
    old.refused("OM013", "set_migration_status", family_code="F", migration_status=7)
    step(old, 1)
    step(old, 2)
    assert differences(old) == []
    old.owner("DELETE FROM omd_dispatch.task_data_f WHERE task_id = %s", ids[0])
    old.owner("UPDATE omd_dispatch.task_data_f SET priority = 1 WHERE task_id = %s", ids[1])
    old.owner(
        "INSERT INTO omd_dispatch.task_data_f"
        " SELECT (jsonb_populate_record(t, '{\"task_id\": 99}')).*"
        " FROM omd_dispatch.task_data_f AS t WHERE t.task_id = %s",
        ids[2],
    )
    assert [(d["task_id"], d["kind"], d["detail"]) for d in differences(old)] == [
        (ids[0], "MISSING", None),
        (ids[1], "DIFFERENT", "priority"),
        (99, "EXTRA", None),
    ]
    old.refused("OM174", "set_migration_status", family_code="F", migration_status=3)
    for task_id in ids[:2]:
        old.call("reschedule_task", task_id=task_id, priority=3)
    old.owner("DELETE FROM omd_dispatch.task_data_f WHERE task_id = 99")
    told = "SELECT task_id, kind, detail FROM omd_dispatch.task_migration_discrepancy ORDER BY 1"
    assert [tuple(r.values()) for r in old.rows(told)] == [
        (ids[0], "MISSING", None),
        (ids[1], "DIFFERENT", "priority"),
    ]
    step(old, 3)
    # A copy that fails does not stop the work.
    old.conn.execute(
        "ALTER TABLE omd_dispatch.job_t ADD CONSTRAINT ck_no CHECK (status <> 'CLAIMED')"
    )
    assert len(old.claim()) == 4
    kinds = old.rows(
        "SELECT kind FROM omd_dispatch.task_migration_discrepancy WHERE kind = 'FAILED'"
    )
    assert len(kinds) == 4
    old.refused("OM174", "set_migration_status", family_code="F", migration_status=2)
    step(old, 4)
    assert old.one("SELECT count(*) FROM omd_dispatch.job_t") == 0
    assert differences(old) == []
