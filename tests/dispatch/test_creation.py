"""Families, types and the creation of tasks."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Room

MODEL = {"CODE": "text", "DAY": "date", "N": "numeric", "FLAG": "boolean", "AT": "timestamptz"}


def test_criteria_are_checked_in_the_order_of_the_rules(room: Room) -> None:
    room.call("register_family", family_code="F", criteria=MODEL, key_criteria=["CODE", "N"])
    room.type()
    for criterion in ("DAY", "AT", "N"):
        room.call("set_custom", family_code="F", task_type="T", criterion=criterion, mode="O")
    room.call("set_custom", family_code="F", task_type="T", criterion="FLAG", mode="D")
    room.call(
        "set_external_name",
        family_code="F",
        task_type="T",
        criterion="CODE",
        external_name="file",
    )

    def refused(sqlstate: str, **arguments: object) -> dict[str, object]:
        return room.refused(
            sqlstate, "create_task", **{"family_code": "F", "task_type": "T", **arguments}
        )

    refused("OM070", family_code="G")
    refused("OM071", task_type="U")
    refused("OM013", criteria={"file": "a", "CODE": "a", "WRONG": 1})
    assert refused("OM075", criteria={"WRONG": 1, "FLAG": True})["criterion"] == "WRONG"
    assert refused("OM077", criteria={"FLAG": True})["criterion"] == "FLAG"
    assert refused("OM076", criteria={"DAY": [1], "CODE": None})["criterion"] == "CODE"
    assert refused("OM078", criteria={"CODE": "a", "DAY": ["2026-01-01"]})["criterion"] == "DAY"
    assert refused("OM078", criteria={"CODE": "a", "DAY": "2026-02-30"})["criterion"] == "DAY"
    refused("OM013", criteria={"CODE": "a"}, execution_time="infinity")
    refused("OM013", criteria={"CODE": "a"}, priority=10)

    task = room.task(room.create(criteria={"file": "a", "N": 1.50, "FLAG": None}))
    assert (task["func_code"], str(task["func_n"]), task["func_flag"]) == ("a", "1.5", None)
    refused("OM170", criteria={"CODE": "a", "N": 1.500})
    room.create(criteria={"CODE": "a"})
    refused("OM170", criteria={"CODE": "a"})


def test_all_tasks_of_a_call_are_created_or_none(room: Room) -> None:
    room.family("F", ("CODE",))
    first = room.create("a")
    tasks = [{"criteria": {"CODE": c}} for c in "bab"]
    detail = room.refused(
        "OM170",
        "create_tasks",
        family_code="F",
        task_type="T",
        tasks=Jsonb(tasks),
    )
    assert detail["task_id"] == first
    assert room.one("SELECT count(*) FROM omd_dispatch.task_data_f") == 1
    answer = room.create_many(tasks, on_duplicate="EXISTING")
    b = answer["task_ids"][0]
    assert answer == {"task_ids": [b, first, b], "created": 1}
    assert room.create_many([])["task_ids"] == []


@pytest.mark.parametrize("end", ["commit", "rollback"])
def test_the_second_of_two_creators_of_a_key_waits_for_the_first(
    room: Room, another: Callable[..., Room], end: str
) -> None:
    room.family("F", ("CODE",))
    first, second = another(autocommit=False), another()
    task_id = first.create("a")
    answers: list[object] = []

    def create() -> None:
        try:
            answers.append(second.create("a"))
        except psycopg.Error as error:
            answers.append(error.sqlstate)

    thread = threading.Thread(target=create)
    thread.start()
    waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND pid = %s"
    while not room.one(waits, second.conn.info.backend_pid):
        assert thread.is_alive()
    getattr(first.conn, end)()
    thread.join()
    assert answers == ["OM170"] if end == "commit" else answers[0] != task_id


def test_a_family_is_extended_and_never_changed(room: Room) -> None:
    room.family("F", ("CODE",))
    room.create("a")
    room.family("F", ("CODE",), criteria={"DAY": "date", "CODE": "text"})
    room.refused("OM076", "create_task", family_code="F", task_type="T", criteria={"CODE": "b"})
    for wrong in (
        {"criteria": {"CODE": "bigint"}},
        {"key_criteria": ["DAY"]},
        {"partition_count": 9},
        {"scheme_code": "WEEK_RING"},
        {"retention": "7 days"},
        {"criteria": {"code": "text"}},
        {"migration_status": 5},
    ):
        room.refused("OM013", "register_family", family_code="F", **wrong)
    cached = "SELECT version FROM omd_dispatch.cache_version WHERE part = 'task_conf_type_desc'"
    version = room.one(cached)
    room.type(max_running=3)
    room.type(max_running=3)
    assert room.one(cached) == version + 1


def test_a_change_of_lanes_moves_pending_tasks(room: Room) -> None:
    room.family()
    task_id = room.create("x")
    lanes = []
    for change in (
        {"max_running": 2},
        {"limit_criterion": "CODE"},
        {"max_running": 0, "limit_criterion": ""},
    ):
        room.type(**change)
        lanes.append(room.task(task_id)["lane"])
    assert lanes == ["WORKER/T", "WORKER/T/x", "WORKER"]


def test_a_task_is_rescheduled_cancelled_and_revived(room: Room) -> None:
    room.family("F", ("CODE",))
    task_id = room.create("a")
    room.call("reschedule_task", task_id=task_id, execution_time="2100-01-01", priority=0)
    assert room.reason(task_id) == "NOT_DUE"
    room.call("cancel_task", task_id=task_id)
    other = room.create("a")
    assert room.refused("OM170", "revive_task", task_id=task_id)["task_id"] == other
    room.call("cancel_task", task_id=other)
    room.call("revive_task", task_id=task_id)
    assert room.reason(task_id) == "NO_BACKEND"
    room.refused("OM171", "revive_task", task_id=task_id)
    room.refused("OM171", "cancel_task", task_id=other)
    room.refused("OM171", "reschedule_task", task_id=other)
    room.refused("OM072", "cancel_task", task_id=0)


def test_a_family_without_criteria_needs_none(room: Room) -> None:
    room.type("REFRESH", family_code="CALL", handler="SQL", target="app.refresh")
    given = {"family_code": "CALL", "task_type": "REFRESH"}
    ids = [
        room.create(**given, criteria=criteria, payload={"day": "2026-07-01"})
        for criteria in (None, {}, Jsonb(None))
    ]
    assert [room.task(i, family="call")["payload"] for i in ids] == [{"day": "2026-07-01"}] * 3
    assert room.create_many([{}, {"criteria": None, "payload": None}], **given)["created"] == 2
    room.refused("OM075", "create_task", **given, criteria={"CODE": "a"})
    room.refused("OM013", "create_task", **given, criteria=Jsonb([1]))
