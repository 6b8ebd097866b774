"""Searches by declared indexes, and the purge by exchange."""

from __future__ import annotations

import random
import threading
from typing import TYPE_CHECKING

import psycopg
import pytest

from support.lots import SEED, draws

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Room


def search(room: Room, criteria: dict[str, object], **more: object) -> list[int]:
    names = "".join(f", p_{name} => %s" for name in more)
    rows = room.rows(
        f"SELECT * FROM omd_dispatch.search_tasks('F', %s{names})",
        psycopg.types.json.Jsonb(criteria),
        *more.values(),
    )
    return [row["task_id"] for row in rows]


def test_a_search_needs_a_declared_index(room: Room) -> None:
    room.family("F", criteria={"CODE": "text", "DAY": "date"})
    for index, criteria in (("BY_DAY", ["DAY"]), ("BY_BOTH", ["CODE", "DAY"]), ("ALSO", ["DAY"])):
        room.call("allow_search", family_code="F", index_name=index, criteria=criteria)
    days = ["2026-01-01", "2026-01-01", "2026-01-02"]
    ids = [room.create(criteria={"CODE": "a", "DAY": day}) for day in days]

    def index(**criteria: object) -> str:
        return str(
            room.one(
                "SELECT omd_dispatch.search_index('F', %s)", psycopg.types.json.Jsonb(criteria)
            )
        )

    assert [index(DAY=1), index(DAY=1, CODE="a")] == ["ALSO", "BY_BOTH"]
    assert search(room, {"DAY": "2026-01-01"}) == [ids[1], ids[0]]
    assert search(room, {"DAY": "2026-01-01", "CODE": "a"}, limit=1) == [ids[1]]
    assert search(room, {"DAY": "2026-01-01"}, before_task_id=ids[1]) == [ids[0]]
    assert search(room, {"DAY": "2026-01-01"}, statuses=["DONE"]) == []
    for sqlstate, criteria in (
        ("OM079", {"CODE": "a"}),
        ("OM079", {}),
        ("OM075", {"X": 1}),
        ("OM078", {"DAY": "x"}),
    ):
        with pytest.raises(psycopg.Error) as caught:
            search(room, criteria)
        assert caught.value.sqlstate == sqlstate
    # After a purge the twin's index has another name.
    assert room.call("purge_partition", family_code="F", partition_code=99)["outcome"] == "MISSING"
    slot = room.one("SELECT (partition_code + 3) %% 8 FROM omd_dispatch.task_data_f LIMIT 1")
    assert room.call("purge_partition", family_code="F", partition_code=slot)["outcome"] == "PURGED"
    for name in ("BY_DAY", "BY_BOTH", "ALSO"):
        room.call("allow_search", family_code="F", index_name=name, criteria=None)
    with pytest.raises(psycopg.Error) as caught:
        search(room, {"DAY": "2026-01-01"})
    assert caught.value.sqlstate == "OM079"
    assert room.call("purge_partition", family_code="F", partition_code=slot)["outcome"] == "PURGED"


@pytest.mark.random
def test_searches_with_the_same_criteria_come_and_go_among_purges(room: Room) -> None:
    choose = random.Random(SEED)
    room.family("F", criteria={"CODE": "text", "DAY": "date"})
    names = ("ONE", "TWO", "THREE")
    slot = int(room.one("SELECT omd_dispatch._partition_code('DAY_RING', 8, now())"))
    for _ in range(draws(30)):
        try:
            if choose.random() < 0.3:
                other = (slot + choose.randrange(2, 6)) % 8
                room.call("purge_partition", family_code="F", partition_code=other)
            else:
                room.call(
                    "allow_search",
                    family_code="F",
                    index_name=choose.choice(names),
                    criteria=choose.choice([["DAY"], ["DAY"], ["CODE", "DAY"], None]),
                )
        except psycopg.Error as error:
            raise AssertionError(names) from error
    for name in names:
        room.call("allow_search", family_code="F", index_name=name, criteria=["DAY"])
        room.call("allow_search", family_code="F", index_name=name, criteria=None)
    assert room.one("SELECT count(*) FROM pg_indexes WHERE indexdef LIKE '%%func_day%%'") == 0


def test_a_purge_keeps_live_tasks_and_refuses_another_twin(
    room: Room, another: Callable[..., Room]
) -> None:
    room.family("F", ("CODE",), retention="2 days")
    room.member()
    ids = [room.create(c) for c in "abcd"]
    room.call("suspend", family_code="F", criteria={"CODE": "d"})
    room.complete(room.claim(2))
    (claimed,) = room.claim()
    now = room.task(ids[0])["partition_code"]
    old = (now + 3) % 8
    room.owner("UPDATE omd_dispatch.task_data_f SET partition_code = %s", old)

    def purge() -> tuple[str, int]:
        return tuple(room.call("purge_partition", family_code="F", partition_code=old).values())  # type: ignore[return-value]

    assert purge() == ("LIVE_ROWS", 1)
    assert room.task(ids[3])["partition_code"] == now
    reader = another(autocommit=False)
    reader.rows("SELECT * FROM omd_dispatch.task_data_f")
    room.complete([claimed])
    assert purge() == ("CONTENDED", 0)
    reader.conn.rollback()
    assert room.call("purge_family", family_code="F") == {"purged": [old], "left": []}
    assert room.one("SELECT count(*) FROM omd_dispatch.task_data_f") == 1
    assert room.one("SELECT count(*) FROM omd_dispatch.task_data_f_swap") == 0
    room.conn.execute("ALTER TABLE omd_dispatch.task_data_f_swap ADD COLUMN extra int")
    assert (
        "extra"
        in room.refused("OM270", "purge_partition", family_code="F", partition_code=old)["problem"]
    )
    room.conn.execute("BEGIN")
    room.refused("OM018", "purge_family", family_code="F")
    room.conn.execute("ROLLBACK")


def test_an_exchange_does_not_read_the_slot(room: Room, another: Callable[..., Room]) -> None:
    room.family()
    slot = room.one("SELECT (omd_dispatch._partition_code('DAY_RING', 8, now()) + 3) %% 8")
    room.owner(
        "INSERT INTO omd_dispatch.task_data_f (task_id, partition_code, task_type, lane, priority,"
        " execution_time, status, attempt, created_at, finished_at, outcome)"
        " SELECT n, %s, 'T', 'WORKER', 5, now(), 'DONE', 1, now(), now(), 'S'"
        " FROM generate_series(1, 50000) AS n",
        slot,
    )
    room.create_many([{"criteria": {"CODE": str(n)}} for n in range(300)])
    worker = another()
    worker.member()
    done: list[int] = []

    def work() -> None:
        while tasks := worker.claim(3):
            worker.complete(tasks)
            done.extend(t["task_id"] for t in tasks)

    thread = threading.Thread(target=work)
    thread.start()
    answer = room.call("purge_partition", family_code="F", partition_code=slot)
    thread.join()
    assert answer["outcome"] == "PURGED"
    assert len(set(done)) == len(done) == 300
