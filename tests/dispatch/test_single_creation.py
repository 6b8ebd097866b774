"""A task that is created alone has a way of its own; it does what an array of one does."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support.lots import seeds

if TYPE_CHECKING:
    from conftest import Room

TASK = {"family_code": "F", "task_type": "T"}
MODEL = {"CODE": "text", "DAY": "date", "N": "numeric"}
VALUES: dict[str, list[Any]] = {
    "CODE": ["a", "b", "", 1, True, 'a"b\\', "x" * 999, "y" * 9000],
    "DAY": ["2026-01-31", "20260131", "2026-02-30", 5],
    "N": [1, 1.50, "2.0", "x", 10**30],
}
ODD = [None, None, {}, []]  # in place of a value


def ways(room: Room) -> dict[str, int]:
    """Return how often each way was taken by calls that have committed in this session."""
    room.conn.execute("SELECT pg_stat_force_next_flush()")
    return {
        row["funcname"]: row["calls"]
        for row in room.rows(
            "SELECT funcname, calls FROM pg_stat_user_functions"
            " WHERE schemaname = 'omd_dispatch'"
            " AND funcname IN ('_create_new_task', '_insert_tasks')"
        )
    }


def outcome(room: Room, routine: str, **arguments: Any) -> Any:
    """Return what a call answers and has written, or how it is refused; take it back."""
    with room.conn.transaction(force_rollback=True):
        try:
            with room.conn.transaction():
                answer = room.call(routine, **arguments)
        except psycopg.Error as error:
            return error.sqlstate, error.diag.message_primary, error.diag.message_detail
        task_id = answer["task_id"] if routine == "create_task" else answer["task_ids"][0]
        is_new = answer["is_new"] if routine == "create_task" else answer["created"] == 1
        rows = room.rows(
            "SELECT to_jsonb(t) - '{task_id,created_at,execution_time}'::text[] AS task,"
            " t.execution_time BETWEEN now() - interval '1 h' AND clock_timestamp() AS is_now,"
            " (SELECT to_jsonb(m) - 'task_id' FROM omd_dispatch.mutex AS m"
            " WHERE m.task_id = t.task_id) AS key"
            " FROM omd_dispatch.task_data_f AS t WHERE t.task_id = %s",
            task_id,
        )
        return is_new, rows, None if is_new else task_id


def test_a_plain_task_takes_the_short_way(room: Room) -> None:
    room.call("register_family", family_code="F", criteria=MODEL, key_criteria=["CODE"])
    room.type()
    room.call("set_custom", **TASK, criterion="DAY", mode="O")
    room.conn.execute("SET track_functions = 'all'")
    before = ways(room)
    room.call("create_task", **TASK, criteria={"CODE": "a", "N": 1})
    room.call("create_task", **TASK, criteria={"CODE": "a", "N": 1}, on_duplicate="EXISTING")
    room.refused("OM170", "create_task", **TASK, criteria={"CODE": "a", "N": 1})
    after = ways(room)
    assert after["_create_new_task"] - before.get("_create_new_task", 0) >= 2
    assert after.get("_insert_tasks", 0) == before.get("_insert_tasks", 0)


def test_a_task_of_its_own_takes_one_transaction_number(room: Room) -> None:
    """A subtransaction would take another one."""
    room.family("F", ("CODE",))
    room.create("a")
    first = room.one("SELECT xmin::text::bigint FROM omd_dispatch.task_data_f")
    room.create("b")
    assert room.one("SELECT max(xmin::text::bigint) FROM omd_dispatch.task_data_f") == first + 1


@pytest.mark.random
@pytest.mark.parametrize("seed", seeds(3))
def test_it_does_what_an_array_of_one_does(room: Room, seed: int) -> None:
    chance = random.Random(seed)
    keys = chance.choice([[], ["CODE"], ["CODE", "N"]])
    room.call("register_family", family_code="F", criteria=MODEL, key_criteria=keys)
    room.type()
    for turn in range(40):
        if turn % 10 == 0:
            mode = chance.choice(["D", "O", None])
            room.call("set_custom", **TASK, criterion=chance.choice(list(MODEL)), mode=mode)
            for criterion in MODEL:
                room.call("set_external_name", **TASK, criterion=criterion, external_name=None)
            if chance.random() < 0.5:
                named = {**TASK, "criterion": chance.choice(list(MODEL))}
                room.call("set_external_name", **named, external_name="file")
            limit = chance.choice([None, 2])
            room.type(max_running=limit, limit_criterion=None if limit is None else "CODE")
            if chance.random() < 0.3:
                room.call("suspend", family_code="F", criteria={"CODE": ["a"]})
        criteria: Any = {
            name: chance.choice(ODD) if chance.random() < 0.1 else chance.choice(VALUES[name])
            for name in MODEL
            if chance.random() < 0.8
        }
        if chance.random() < 0.3 and "CODE" in criteria:
            criteria["file"] = criteria.pop("CODE")
        if chance.random() < 0.1:
            criteria[chance.choice(["X", "file"])] = "a"
        if chance.random() < 0.05:
            criteria = None
        task: dict[str, Any] = {"criteria": criteria, "payload": chance.choice([None, {"n": 1}])}
        if chance.random() < 0.2:
            task["execution_time"] = chance.choice(["2020-01-01 00:00Z", "2099-01-01 00:00Z"])
        if chance.random() < 0.2:
            task["priority"] = chance.randrange(10)
        duplicate = {"on_duplicate": chance.choice(["EXISTING", "ERROR", None])}
        given = {k: Jsonb(v) if k == "payload" and v else v for k, v in task.items()}
        one = outcome(room, "create_task", **TASK, **given, **duplicate)
        many = outcome(room, "create_tasks", **TASK, tasks=Jsonb([task]), **duplicate)
        assert one == many, task
        if isinstance(one[0], bool) and chance.random() < 0.5:
            room.call("create_task", **TASK, **given, on_duplicate="EXISTING")
