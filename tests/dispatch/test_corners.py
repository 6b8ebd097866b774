"""What two sessions do at once, and what stays after settings have gone."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Room


def test_the_time_of_a_member_counts_from_the_start_of_the_server(room: Room) -> None:
    room.family()
    room.member("w1")
    room.member("w2")
    age = "UPDATE omd_dispatch.backend_registration SET"
    age += " registration_time = pg_postmaster_start_time() - interval '1 day',"
    age += " ttl = clock_timestamp() - pg_postmaster_start_time() + %s::interval"
    room.owner(f"{age} WHERE backend_id = 'w1'", "1 hour")
    room.owner(f"{age} WHERE backend_id = 'w2'", "-1 microsecond")
    room.call("renew_backend", backend_id="w1")
    room.refused("OM172", "renew_backend", backend_id="w2")


def test_two_registrations_of_a_family_at_once_are_both_made(
    room: Room, another: Callable[..., Room]
) -> None:
    second = another()
    thread = threading.Thread(
        target=lambda: second.family(criteria={"CODE": "text", "N": "bigint"})
    )
    with room.conn.transaction():
        room.family(criteria={"CODE": "text", "M": "date"})
        thread.start()
        waits = "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pid = %s)"
        while not room.one(waits, second.conn.info.backend_pid):
            assert thread.is_alive()
    thread.join()
    room.member()
    room.create(criteria={"CODE": "a", "M": "2026-01-01", "N": 1})
    (task,) = room.claim()
    assert task["criteria"] == {"CODE": "a", "M": "2026-01-01", "N": 1}


def test_members_take_their_share_first_and_a_limit_counts_for_all_of_them(room: Room) -> None:
    room.family()
    room.type("L", max_running=3)
    for name in ("w0", "w1"):
        room.member(name)
    room.create_many([{"criteria": {"CODE": "x"}} for _ in range(10)])
    assert {t["task_id"] % 2 for t in room.claim(5, by="w1")} == {1}
    first = room.claim(8, by="w0")
    assert [t["task_id"] % 2 for t in first] == [0] * 5
    limited = room.create_many([{"criteria": {"CODE": "y"}} for _ in range(6)], task_type="L")
    taken = room.claim(2, by="w0")
    assert {t["task_id"] % 2 for t in taken} == {0}
    assert len(room.claim(5, by="w1")) == 1
    assert room.claim(5, by="w0") == []
    assert room.complete(taken[:1], by="w0") == []
    (rest,) = room.claim(5, by="w1")
    assert rest["task_id"] in limited["task_ids"]


def test_a_purge_takes_the_copies_too_and_its_settings_can_be_taken_back(room: Room) -> None:
    room.family(migration_status=3)
    name = {"family_code": "F", "task_type": "T", "criterion": "CODE"}
    room.call("set_external_name", **name, external_name="code")
    room.create(criteria={"code": "a"})
    room.call("set_external_name", **name, external_name=None)
    room.call("set_external_name", **name, external_name=None)
    room.refused("OM075", "create_task", family_code="F", task_type="T", criteria={"code": "a"})
    room.member()
    assert room.complete(room.claim()) == []
    dead = room.create("b")
    room.owner("UPDATE omd_dispatch.task_data_f SET status = 'DEAD' WHERE task_id = %s", dead)
    slot = room.one("SELECT DISTINCT partition_code FROM omd_dispatch.task_data_f")
    old = "SELECT (SELECT count(*) FROM omd_dispatch.old_task_data_f), count(*) AS criteria"
    old += " FROM omd_dispatch.old_task_criteria_f"
    assert room.rows(old) == [{"count": 2, "criteria": 2}]
    purged = room.call("purge_partition", family_code="F", partition_code=slot)
    assert purged == {"outcome": "PURGED", "moved": 0}
    assert room.rows(old) == [{"count": 0, "criteria": 0}]
    assert room.rows("SELECT * FROM omd_dispatch.compare_models('F')") == []


def test_a_suspension_is_marked_when_no_task_is_left_that_was_locked(
    room: Room, another: Callable[..., Room]
) -> None:
    room.family()
    task_id = room.create()
    room.create("b")
    other = another()
    marked = "SELECT is_marked FROM omd_dispatch.task_suspension"
    with other.conn.transaction():
        other.rows("SELECT FROM omd_dispatch.task_data_f WHERE task_id = %s FOR UPDATE", task_id)
        assert room.call("suspend", family_code="F")["held"] == 1
        assert not room.one(marked)
        assert room.maintain()["more"]
    assert not room.maintain()["more"]
    assert room.one(marked)
    assert room.task(task_id)["suspension_id"] is not None
