"""Searches, and purges among workers, other purges, locks and deaths."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support.autovacuum import autovacuum

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from conftest import Room

__all__ = ["autovacuum"]


def current(room: Room) -> int:
    return int(room.one("SELECT omd_dispatch._partition_code('DAY_RING', 8, clock_timestamp())"))


def purge(room: Room, slot: int) -> dict[str, Any]:
    return room.call("purge_partition", family_code="F", partition_code=slot)


def write(room: Room, slot: int, count: int, status: str = "DONE") -> None:
    """Write tasks that have ended, in a slot."""
    room.owner(
        "INSERT INTO omd_dispatch.task_data_f (task_id, partition_code, task_type, lane, priority,"
        " execution_time, status, attempt, created_at, finished_at, outcome)"
        " SELECT nextval('omd_dispatch.task_id'), %s, 'T', 'WORKER', 5, now(), %s, 1, now(), now(),"
        " 'S' FROM generate_series(1, %s) AS n",
        slot,
        status,
        count,
    )


def in_slot(room: Room, slot: int) -> int:
    return int(
        room.one("SELECT count(*) FROM omd_dispatch.task_data_f WHERE partition_code = %s", slot)
    )


def test_a_purge_that_is_ended_at_any_point_can_be_called_again(
    room: Room,
    another: Callable[..., Room],
    background: Callable[..., Future[Any]],
    cancelled: Callable[..., Any],
) -> None:
    """In the session that was cancelled, or in another one while that one stays."""
    room.family("F", ("CODE",))
    slot = (current(room) + 3) % 8
    ids = [room.create(c) for c in "abc"]
    room.owner("UPDATE omd_dispatch.task_data_f SET partition_code = %s", slot)
    write(room, slot, 10)
    holder, purger = another(autocommit=False), another()
    # It moves, waits for the lock and is cancelled.
    holder.rows(f"SELECT * FROM omd_dispatch.task_data_f_p{slot}")
    with pytest.raises(psycopg.errors.QueryCanceled):
        cancelled(purger, background(purge, purger, slot))
    assert {room.task(i)["partition_code"] for i in ids} == {current(room)}
    holder.conn.rollback()
    assert purge(room, slot) == {"outcome": "PURGED", "moved": 0}
    # It has exchanged and is killed before it empties the twin.
    write(room, slot, 10)
    room.owner(f"SELECT omd_dispatch._exchange_partition('F', {slot})")
    assert room.one("SELECT count(*) FROM omd_dispatch.task_data_f_swap") == 10
    other = (slot + 1) % 8
    write(room, other, 5)
    assert purge(room, other) == {"outcome": "PURGED", "moved": 0}
    assert room.one("SELECT count(*) FROM omd_dispatch.task_data_f_swap") == 0
    assert in_slot(room, other) == 0
    # Keys, marks and ids of what has moved are as they were.
    room.refused("OM170", "create_task", family_code="F", task_type="T", criteria={"CODE": "a"})
    room.call("cancel_task", task_id=ids[0])
    room.create("a")
    room.member()
    assert [t["task_id"] for t in room.claim()][:2] == ids[1:]


def test_purges_at_once_empty_their_slots_and_nothing_else(
    room: Room, another: Callable[..., Room]
) -> None:
    room.family("F")
    now = current(room)
    slots = [(now + n) % 8 for n in range(2, 6)]
    for slot in slots:
        write(room, slot, 20_000)
    write(room, now, 100, "DEAD")
    room.create_many([{"criteria": {"CODE": "x"}}] * 300)
    answers: list[Any] = []
    done: list[int] = []

    def run(session: Room, slot: int) -> None:
        try:
            while (outcome := purge(session, slot)["outcome"]) == "CONTENDED":
                pass
            answers.append(outcome)
        except Exception as error:  # noqa: BLE001
            answers.append(error)

    def work(session: Room) -> None:
        try:
            session.member()
            while tasks := session.claim(3):
                session.create("new", execution_time="2100-01-01")
                assert session.complete(tasks) == []
                done.extend(t["task_id"] for t in tasks)
        except Exception as error:  # noqa: BLE001
            answers.append(error)

    threads = [threading.Thread(target=run, args=(another(), s)) for s in slots]
    threads.append(threading.Thread(target=work, args=(another(),)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == ["PURGED"] * 4
    assert len(set(done)) == len(done) == 300
    assert [in_slot(room, s) for s in slots] == [0] * 4
    assert in_slot(room, now) == 100 + 300 + 100
    assert room.one("SELECT count(*) FROM omd_dispatch.task_data_f_swap") == 0


def test_purges_at_once_and_changes_of_a_family_find_no_difference_of_its_twin(
    room: Room, another: Callable[..., Room]
) -> None:
    room.family("F")
    slot = (current(room) + 2) % 8
    outcomes: list[Any] = []
    errors: list[Exception] = []

    def run(session: Room, work: Callable[[Room, int], Any]) -> None:
        try:
            for n in range(10):
                work(session, n)
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    def search(session: Room, n: int) -> None:
        criteria = None if n % 2 else ["CODE"]
        session.call("allow_search", family_code="F", index_name="S", criteria=criteria)

    def add(session: Room, n: int) -> None:
        session.call("register_family", family_code="F", criteria=Jsonb({f"C{n}": "text"}))

    def run_purge(session: Room, _: int) -> None:
        outcomes.append(purge(session, slot)["outcome"])

    threads = [
        threading.Thread(target=run, args=(another(), work))
        for work in (run_purge, run_purge, run_purge, search, add)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(outcomes) == 30
    assert {*outcomes} <= {"PURGED", "CONTENDED"}
    assert purge(room, slot)["outcome"] == "PURGED"


def test_an_autovacuum_does_not_hold_a_purge_up(room: Room, autovacuum: Callable[..., Any]) -> None:
    """That of a large partition takes longer than a purge has patience."""
    room.family("F", retention="2 days")
    old = (current(room) + 4) % 8
    with autovacuum(f"omd_dispatch.task_data_f_p{old}", lambda: write(room, old, 20_000)):
        assert purge(room, old) == {"outcome": "PURGED", "moved": 0}
    assert in_slot(room, old) == 0


def test_what_lives_in_a_slot_is_left(room: Room) -> None:
    room.family("F", ("CODE",), retention="2 days")
    room.member()
    old = (current(room) + 4) % 8
    claimed, _, held = (room.create(c) for c in "abc")
    room.call("suspend", family_code="F", criteria={"CODE": "c"})
    assert [t["task_id"] for t in room.claim(1)] == [claimed]
    room.owner("UPDATE omd_dispatch.task_data_f SET partition_code = %s", old)
    assert purge(room, old) == {"outcome": "LIVE_ROWS", "moved": 2}
    assert room.call("purge_family", family_code="F") == {"purged": [], "left": [old]}
    assert room.task(held)["partition_code"] == current(room)
    room.call("cancel_task", task_id=claimed, running=True)
    room.call("leave_backend", backend_id="w1")
    assert room.call("purge_family", family_code="F") == {"purged": [old], "left": []}
    assert room.call("purge_family", family_code="F") == {"purged": [], "left": []}
    room.refused("OM072", "revive_task", task_id=claimed)
    # The present slot is emptied of what has ended when nothing lives in it.
    assert purge(room, current(room)) == {"outcome": "LIVE_ROWS", "moved": 0}
    for slot in (-1, 8, 2**31 - 1):
        assert purge(room, slot) == {"outcome": "MISSING", "moved": 0}
    for sqlstate, wrong in (
        ("OM005", {"family_code": None}),
        ("OM005", {"partition_code": None}),
        ("OM070", {"family_code": "f"}),
    ):
        room.refused(
            sqlstate, "purge_partition", **{"family_code": "F", "partition_code": 1, **wrong}
        )
    room.refused("OM005", "purge_family", family_code=None)
    room.refused("OM070", "purge_family", family_code="G")


def test_a_dead_task_is_kept_for_the_retention_from_its_death_on(
    room: Room, another: Callable[..., Room]
) -> None:
    """However long ago it was created: its slot says when, and not when it died."""
    room.family("F", ("CODE",), retention="2 days")
    room.type(max_attempts=1)
    room.member()
    old = (current(room) + 4) % 8
    young, aged, done, cancelled = (room.create(c) for c in ("young", "aged", "done", "cancelled"))
    tasks = {task["task_id"]: task for task in room.claim()}
    room.complete([tasks[young], tasks[aged]], "F")
    room.complete([tasks[done]])
    room.call("release_tasks", backend_id="w1", task_ids=[cancelled])
    room.call("cancel_task", task_id=cancelled)
    room.owner("UPDATE omd_dispatch.task_data_f SET partition_code = %s", old)
    room.owner(
        "UPDATE omd_dispatch.task_data_f SET finished_at = now() - interval '2 days 1 minute'"
        " WHERE task_id = %s",
        aged,
    )
    # Somebody revives it at this moment: the slot is left to the next purge.
    holder = another(autocommit=False)
    holder.call("revive_task", task_id=young)
    holder.conn.execute(b"ROLLBACK; BEGIN")
    holder.rows(f"SELECT FROM omd_dispatch.task_data_f WHERE task_id = {young} FOR UPDATE")
    assert purge(room, old)["outcome"] in {"LIVE_ROWS", "CONTENDED"}
    holder.conn.rollback()
    assert purge(room, old) == {"outcome": "PURGED", "moved": 1}
    assert room.rows("SELECT task_id, status FROM omd_dispatch.task_data_f") == [
        {"task_id": young, "status": "DEAD"}
    ]
    # The present slot is no place to lose it from either.
    assert purge(room, current(room)) == {"outcome": "LIVE_ROWS", "moved": 0}
    room.call("revive_task", task_id=young)
    assert [task["task_id"] for task in room.claim()] == [young]


TWIN = "omd_dispatch.task_data_f_swap"
DIFFERENCES = [
    f"ALTER TABLE {TWIN} ADD COLUMN extra int",
    f"ALTER TABLE {TWIN} DROP COLUMN error",
    f"ALTER TABLE {TWIN} ALTER COLUMN error TYPE varchar",
    f"ALTER TABLE {TWIN} ALTER COLUMN error SET NOT NULL",
    f"ALTER TABLE {TWIN} ALTER COLUMN error SET DEFAULT 'x'",
    f'ALTER TABLE {TWIN} ALTER COLUMN lane TYPE text COLLATE "POSIX"',
    f"ALTER TABLE {TWIN} DROP CONSTRAINT ck_task_data_priority",
    f"ALTER TABLE {TWIN} RENAME CONSTRAINT ck_task_data_priority TO ck_other",
    f"ALTER TABLE {TWIN} ADD CHECK (priority < 5)",
    f"ALTER TABLE {TWIN} ADD FOREIGN KEY (schedule_code) REFERENCES omd_dispatch.task_schedule",
    f"CREATE INDEX ON {TWIN} (error)",
    f"CREATE UNIQUE INDEX ON {TWIN} (task_id)",
    "DROP INDEX omd_dispatch.ix_task_data_f_swap_claimed",
    f"ALTER TABLE {TWIN} SET UNLOGGED",
    f"ALTER TABLE {TWIN} ENABLE ROW LEVEL SECURITY",
    f"CREATE TRIGGER t AFTER INSERT ON {TWIN} EXECUTE FUNCTION omd_dispatch._raise_cache_version()",
    f"CREATE RULE r AS ON INSERT TO {TWIN} DO INSTEAD NOTHING",
    f"CREATE TABLE omd_dispatch.child () INHERITS ({TWIN})",
    f"DROP TABLE {TWIN}",
    f"DROP TABLE {TWIN}; CREATE VIEW {TWIN} AS SELECT * FROM omd_dispatch.task_data_f",
]


def test_any_difference_of_the_twin_is_refused_before_anything_moves(room: Room) -> None:
    room.family("F")
    slot = (current(room) + 3) % 8
    task_id = room.create()
    room.owner("UPDATE omd_dispatch.task_data_f SET partition_code = %s", slot)
    purged = room.conn.execute(
        "SELECT pg_get_functiondef('omd_dispatch._require_spare_partition'::regproc)"
    ).fetchone()
    assert purged
    for difference in DIFFERENCES:
        # A purge needs no transaction block, so the check is called as the purge does.
        with room.conn.transaction(force_rollback=True):
            room.conn.execute(difference.encode())
            with pytest.raises(psycopg.Error) as caught:
                room.rows("SELECT omd_dispatch._require_spare_partition('F', %s)", slot)
            assert caught.value.sqlstate == "OM270", difference
    room.conn.execute(DIFFERENCES[0].encode())
    room.refused("OM270", "purge_partition", family_code="F", partition_code=slot)
    assert room.task(task_id)["partition_code"] == slot
    room.conn.execute(f"ALTER TABLE {TWIN} DROP COLUMN extra".encode())
    assert purge(room, slot) == {"outcome": "PURGED", "moved": 1}


def test_searches(room: Room) -> None:
    room.family("F", criteria={"CODE": "text", "DAY": "date", "N": "numeric"})
    room.type("U")
    for task_type in "TU":
        for criterion in ("DAY", "N"):
            room.call(
                "set_custom", family_code="F", task_type=task_type, criterion=criterion, mode="O"
            )

    def allow(name: str | None, criteria: list[str | None] | None, family: str = "F") -> None:
        room.call("allow_search", family_code=family, index_name=name, criteria=criteria)

    for sqlstate, arguments in (
        ("OM005", (None, ["CODE"])),
        ("OM013", ("", ["CODE"])),
        ("OM013", ("I", [])),
        ("OM013", ("I", [None])),
        ("OM075", ("I", ["code"])),
        ("OM070", ("I", ["CODE"], "G")),
        ("OM013", ("I;", ["CODE"])),
    ):
        with pytest.raises(psycopg.Error) as caught:
            allow(*arguments)  # type: ignore[arg-type]
        assert caught.value.sqlstate == sqlstate, arguments
    allow("B", ["DAY", "CODE"])
    allow("A", ["CODE", "DAY"])
    allow("Z", ["N"])
    allow("L" * 30, ["N"])
    allow("NEVER", None)
    allow("B", ["DAY", "CODE", "DAY"])
    with pytest.raises(psycopg.Error) as caught:
        allow("b", ["N"])
    assert caught.value.sqlstate == "OM013"

    def index(criteria: object) -> Any:
        return room.one("SELECT omd_dispatch.search_index('F', %s)", Jsonb(criteria))

    assert index({"CODE": "a", "DAY": "2026-01-01", "N": 1}) == "A"
    assert index({"N": 1, "DAY": "2026-01-01"}) == "L" * 30
    ids = [
        room.create(criteria={"CODE": c, "DAY": "2026-01-01", "N": n}, task_type=t)
        for c, n, t in (("a", 1, "T"), ("a", 2, "U"), ("b", 1, "T"), ("a", 1.0, "T"))
    ]

    def search(criteria: object, *more: object) -> list[int]:
        holes = ", ".join(["%s"] * len(more))
        rows = room.rows(
            f"SELECT * FROM omd_dispatch.search_tasks('F', %s{', ' + holes if more else ''})",
            None if criteria is None else Jsonb(criteria),
            *more,
        )
        return [r["task_id"] for r in rows]

    both = {"CODE": "a", "DAY": "20260101"}
    assert search(both) == [ids[3], ids[1], ids[0]]
    assert search({**both, "N": "1.00"}) == [ids[3], ids[0]]
    assert search({**both, "N": None}) == [ids[3], ids[1], ids[0]]
    assert search(both, ["U"]) == [ids[1]]
    assert search(both, None, ["PENDING"], 2) == [ids[3], ids[1]]
    assert search(both, None, None, 1000, ids[1]) == [ids[0]]
    assert search(both, ["U"], ["DONE"]) == []
    assert search({"N": 3}) == []
    for sqlstate, arguments in (
        ("OM079", (None,)),
        ("OM079", ({"CODE": "a", "DAY": None},)),
        ("OM079", ({"DAY": "x"},)),
        ("OM075", ({"N": 1, "n": 1},)),
        ("OM013", (["N"],)),
        ("OM078", ({"CODE": ["a"], "DAY": "2026-01-01"},)),
        ("OM078", ({"N": {}},)),
        ("OM078", ({"N": "x"},)),
        ("OM071", (both, ["X"])),
        ("OM013", (both, None, ["PENDING", "pending"])),
        ("OM013", (both, None, None, 0)),
        ("OM013", (both, None, None, 1001)),
        ("OM013", (both, None, None, -1)),
        ("OM013", (both, None, None, None)),
    ):
        with pytest.raises(psycopg.Error) as caught:
            search(*arguments)
        assert caught.value.sqlstate in {sqlstate, "OM005"}, arguments
    # An index that lost its twin can be removed, and then the slots can be purged again.
    room.conn.execute("DROP INDEX omd_dispatch.ix_task_data_f_swap_s_z")
    room.refused("OM270", "purge_partition", family_code="F", partition_code=current(room))
    for name in ("A", "B", "Z", "L" * 30):
        allow(name, None)
    with pytest.raises(psycopg.Error) as caught:
        index(both)
    assert caught.value.sqlstate == "OM079"
    assert purge(room, (current(room) + 2) % 8)["outcome"] == "PURGED"
