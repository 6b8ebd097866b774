"""What guards the work of dispatch: rows and tables that nobody but OMD can lock."""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from conftest import Room


def in_thread(call: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    """Call in a thread; return it, and the list of what went wrong or came out."""
    ends: list[Any] = []

    def run() -> None:
        try:
            ends.append(call())
        except psycopg.Error as error:
            ends.append(error.sqlstate)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, ends


@pytest.fixture
def hurried(another: Callable[..., Room]) -> Room:
    """A worker whose calls may not wait for long."""
    room = another(role="omd_runner")
    room.conn.execute("SET statement_timeout = '10s'")
    return room


def has_turn(room: Room, of: Room) -> bool:
    """Whether a session waits for the model of F, between two turns or in one."""
    return bool(
        room.one(
            "SELECT EXISTS (SELECT FROM pg_locks"
            " WHERE pid = %s AND mode = 'ShareUpdateExclusiveLock'"
            " AND relation = 'omd_dispatch.task_model_f'::regclass)",
            of.conn.info.backend_pid,
        )
    )


CHANGES: dict[str, Callable[[Room], Any]] = {
    "lanes": lambda room: room.type(max_running=2),
    "criteria": lambda room: room.call("register_family", family_code="F", criteria={"X": "text"}),
    "index": lambda room: room.call(
        "allow_search", family_code="F", index_name="BY", criteria=["CODE"]
    ),
    "model": lambda room: room.call("set_migration_status", family_code="F", migration_status=3),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_that_waits_stops_nobody_and_one_that_is_made_stops_its_family_alone(
    room: Room,
    another: Callable[..., Room],
    hurried: Room,
    background: Callable[..., Future[Any]],
    cancelled: Callable[..., Any],
    change: str,
) -> None:
    room.family("F")
    room.family("G", (), criteria={"CODE": "text"})
    room.call("register_task_type", family_code="G", task_type="T", handler="PYTHON", target="m:f")
    hurried.member()
    writer, admin = another(autocommit=False), another(autocommit=False)
    waiting = writer.create("of an open transaction")
    thread, ends = in_thread(lambda: CHANGES[change](admin))
    while not has_turn(room, admin):
        assert thread.is_alive()
    hurried.conn.execute("SET lock_timeout = '1500ms'")  # a turn is short
    for n in range(10):
        hurried.create(f"f{n}")
        hurried.call("create_task", family_code="G", task_type="T", criteria={"CODE": f"g{n}"})
        assert hurried.maintain()["reclaimed"] == 0
    hurried.conn.execute("RESET lock_timeout")
    claimed: list[Any] = []
    while len(claimed) < 20:  # a claim that meets a turn passes over F
        tasks = hurried.claim()
        claimed += tasks
        assert hurried.complete(tasks) == []
    assert thread.is_alive()
    writer.conn.commit()
    thread.join()
    assert ends == [{}] or ends == [None]
    # The change has come, and is not committed: G goes on, F waits.
    g = hurried.call("create_task", family_code="G", task_type="T", criteria={"CODE": "g"})
    lost = hurried.member("w2")
    assert [task["task_id"] for task in hurried.claim(by="w2")] == [g["task_id"]]
    room.owner("DELETE FROM omd_dispatch.backend_registration WHERE backend_id = %s", lost)
    assert hurried.maintain()["reclaimed"] == 1
    tasks = hurried.claim()
    assert [task["task_id"] for task in tasks] == [g["task_id"]]
    hurried.call("renew_backend", backend_id="w1")
    hurried.call("release_tasks", backend_id="w1", task_ids=[g["task_id"]])
    tasks = hurried.claim()
    assert hurried.reason(g["task_id"]) == "CLAIMED"
    assert hurried.complete(tasks) == []
    with pytest.raises(psycopg.errors.QueryCanceled):
        cancelled(hurried, background(hurried.create, "waits"))
    admin.conn.commit()
    assert [task["task_id"] for task in hurried.claim()] == [waiting]


def test_a_change_waits_as_long_as_its_caller_lets_it_and_two_find_their_deadlock(
    room: Room, another: Callable[..., Room]
) -> None:
    room.family("F")
    writer, admin = another(autocommit=False), another(autocommit=False)
    writer.create("a")
    admin.conn.execute("SET LOCAL lock_timeout = '300ms'")
    assert in_thread_result(lambda: admin.type(max_running=2)) == "55P03"
    admin.conn.rollback()
    # Both have written tasks of the family, so that each waits for the other.
    admin.create("b")
    ends = [in_thread(functools.partial(one.type, max_running=3)) for one in (writer, admin)]
    for thread, _ in ends:
        thread.join(30)
        assert not thread.is_alive()
        for one in (writer, admin):
            if one.conn.info.transaction_status is psycopg.pq.TransactionStatus.INERROR:
                one.conn.rollback()
    assert sorted(str(end) for _, (end,) in ends) == ["40P01", "None"]


def in_thread_result(call: Callable[[], Any]) -> Any:
    thread, ends = in_thread(call)
    thread.join()
    (end,) = ends
    return end


def test_nobody_who_computes_the_keys_of_before_stops_anything(
    room: Room, another: Callable[..., Room], hurried: Room
) -> None:
    """The advisory locks of before, and every lock of a table that a reader can take."""
    room.family("F")
    room.type(max_running=1)
    villain = another(role="omd_runner", autocommit=False)
    villain.conn.execute("SELECT pg_advisory_lock(7302501, 0)")
    for key in (
        "omd_dispatch model F",
        "omd_dispatch F WORKER/T",
        "omd_dispatch schedule s",
    ):
        villain.conn.execute("SELECT pg_advisory_lock(hashtextextended(%s, 7302500))", [key])
    villain.conn.execute("SELECT pg_advisory_lock(%s)", [0])
    tables = room.rows(
        "SELECT oid::regclass::text AS name FROM pg_class"
        " WHERE relnamespace = 'omd_dispatch'::regnamespace AND relkind IN ('r', 'p')"
    )
    for table in tables:
        villain.conn.execute(f"LOCK TABLE {table['name']} IN ACCESS SHARE MODE".encode())
    for table in tables:
        for mode in ("ROW SHARE", "ROW EXCLUSIVE", "SHARE UPDATE EXCLUSIVE", "ACCESS EXCLUSIVE"):
            villain.conn.execute("SAVEPOINT s")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                villain.conn.execute(f"LOCK TABLE {table['name']} IN {mode} MODE NOWAIT".encode())
            villain.conn.execute("ROLLBACK TO SAVEPOINT s")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            villain.conn.execute(f"SELECT FROM {table['name']} FOR KEY SHARE".encode())
        villain.conn.execute("ROLLBACK TO SAVEPOINT s")
    admin = another(role="omd_admin")
    admin.conn.execute("SET statement_timeout = '10s'")
    admin.call(
        "register_schedule",
        schedule_code="s",
        family_code="F",
        task_type="T",
        criteria={"CODE": "s"},
        every="1 day",
        next_time=room.one("SELECT now()"),
    )
    hurried.member()
    assert hurried.maintain()["fired"] == 1
    assert len(hurried.claim()) == 1
    admin.type(max_running=2)
    room.owner("DELETE FROM omd_dispatch.backend_registration")
    assert hurried.maintain()["reclaimed"] == 1


def test_a_limited_lane_that_another_claim_holds_is_passed_over_and_others_are_not(
    room: Room, another: Callable[..., Room], hurried: Room
) -> None:
    room.family("F")
    room.type(max_running=3, limit_criterion="CODE")
    room.member()
    for code in ("a", "a", "b", "a/b", "x" * 1500):
        room.create(code)
    holder = another(autocommit=False)
    assert [task["criteria"]["CODE"] for task in holder.claim(1)] == ["a"]
    # New lanes of the type wait for the commit of who makes one; those that are known do not.
    assert hurried.claim() == []
    holder.conn.commit()
    assert len(hurried.claim()) == 4
    for code in ("a", "b"):
        room.create(code)
    assert [task["criteria"]["CODE"] for task in holder.claim(1)] == ["a"]
    assert [task["criteria"]["CODE"] for task in hurried.claim()] == ["b"]
    holder.conn.rollback()
    # Rows that were made long ago go, and come again.
    room.owner("UPDATE omd_dispatch.limited_lane SET made_at = now() - interval '2 days'")
    held = another(autocommit=False)
    assert len(held.claim()) == 1
    room.maintain()
    assert room.one("SELECT count(*) FROM omd_dispatch.limited_lane") == 1
    held.conn.commit()
    room.maintain()
    assert room.one("SELECT count(*) FROM omd_dispatch.limited_lane") == 0
    room.create("b")
    assert len(hurried.claim()) == 1
    assert room.one("SELECT count(*) FROM omd_dispatch.limited_lane") == 1


def test_two_registrations_of_a_schedule_at_once_are_one(
    room: Room, another: Callable[..., Room]
) -> None:
    room.family("F")
    first, second = another(autocommit=False), another()
    given = {"family_code": "F", "task_type": "T", "criteria": {"CODE": "a"}}
    first.call("register_schedule", schedule_code="s", every="1 hour", **given)
    thread, ends = in_thread(
        lambda: second.call("register_schedule", schedule_code="s", priority=1, **given)
    )
    while not room.one(
        "SELECT cardinality(pg_blocking_pids(%s)) > 0", second.conn.info.backend_pid
    ):
        assert thread.is_alive()
    first.conn.commit()
    thread.join()
    assert isinstance(ends[0], dict)
    (row,) = room.rows("SELECT every, priority FROM omd_dispatch.task_schedule")
    assert (str(row["every"]), row["priority"]) == ("1:00:00", 1)


def test_a_member_that_comes_back_while_a_family_changes_has_nothing_of_its_former_life(
    room: Room, another: Callable[..., Room]
) -> None:
    room.family("F")
    room.member()
    task_id = room.create()
    (former,) = room.claim()
    changing = another(autocommit=False)
    changing.type(max_running=5)
    room.conn.execute("SET statement_timeout = '10s'")
    room.member()
    assert room.claim() == []
    changing.conn.commit()
    assert room.maintain()["reclaimed"] == 1
    (task,) = room.claim()
    assert (task["task_id"], task["attempt"]) == (task_id, 2)
    assert room.complete([former]) == [task_id]
    assert room.maintain()["reclaimed"] == 0
    assert room.complete([task]) == []
