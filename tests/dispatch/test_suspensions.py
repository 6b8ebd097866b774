"""Suspensions hold at once, and let go in order."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Room


def codes(tasks: list[dict[str, object]]) -> list[str]:
    return sorted(t["criteria"]["CODE"] for t in tasks)  # type: ignore[index]


def test_a_suspension_holds_by_type_and_value_what_is_there_and_what_comes(room: Room) -> None:
    room.family("F", criteria={"CODE": "text", "N": "numeric"})
    room.type("U")
    for task_type in "TU":
        room.call("set_custom", family_code="F", task_type=task_type, criterion="N", mode="O")
    room.member()
    for code in "abc":
        room.create(code)
    room.create("u", task_type="U")
    room.create(criteria={"CODE": "n", "N": 2})
    held = room.call("suspend", family_code="F", task_types=["T"], criteria={"CODE": ["a", "b"]})
    assert held["held"] == 2
    number = room.call("suspend", family_code="F", criteria={"N": 2.0})
    assert number["held"] == 1
    late = room.create("b")
    assert room.reason(late) == "SUSPENDED"
    assert codes(room.claim()) == ["c", "u"]
    everything = room.call("suspend", family_code="F", reason="maintenance")
    assert everything["held"] == 0
    free = room.create("free")
    assert room.call("resume", suspension_id=held["suspension_id"])["resumed"] == 0
    assert room.claim() == []
    assert room.call("resume", suspension_id=everything["suspension_id"])["resumed"] == 4
    assert codes(room.claim()) == ["a", "b", "b", "free"]
    assert room.reason(free) == "CLAIMED"
    assert room.rows("SELECT suspension_id, family_code FROM omd_report.dispatch_suspensions") == [
        {"suspension_id": number["suspension_id"], "family_code": "F"}
    ]
    room.refused("OM073", "resume", suspension_id=held["suspension_id"])
    room.refused("OM071", "suspend", family_code="F", task_types=["X"])
    room.refused("OM075", "suspend", family_code="F", criteria={"X": 1})
    room.refused("OM078", "suspend", family_code="F", criteria={"N": "many"})
    room.refused("OM013", "suspend", family_code="F", criteria={"N": {}})


def test_the_guard_holds_what_is_not_marked_yet_and_maintain_goes_on(room: Room) -> None:
    room.family()
    room.member()
    room.create_many([{"criteria": {"CODE": str(n)}} for n in range(12_000)])
    last = room.create("last")
    answer = room.call("suspend", family_code="F")
    assert answer["held"] == 500
    assert room.reason(last) == "SUSPENDED"
    assert room.claim() == []
    marked = "SELECT count(suspension_id) FROM omd_dispatch.task_data_f"
    assert room.one(marked) == 1500  # a claim marks what it meets, at most 1,000
    assert room.maintain()["more"] is True
    assert room.one(marked) == 11_500
    assert room.maintain()["more"] is False
    assert room.one(marked) == 12_001
    assert room.call("resume", suspension_id=answer["suspension_id"])["resumed"] == 500
    assert len(room.claim(1000)) == 500
    assert room.maintain()["more"] is True
    assert room.maintain()["more"] is False
    assert room.one(marked) == 0
    assert room.rows("SELECT * FROM omd_dispatch.task_suspension") == []


def test_what_people_read_is_true_before_marks_are_set_and_before_they_are_gone(room: Room) -> None:
    room.family("F", criteria={"CODE": "text", "DAY": "date"})
    room.call("set_custom", family_code="F", task_type="T", criterion="DAY", mode="O")
    room.call("allow_search", family_code="F", index_name="by_code", criteria=["CODE"])
    room.member()
    # Those that are held come behind the first ones that a call looks at.
    days = [{"criteria": {"CODE": str(n), "DAY": "2026-01-01"}} for n in range(600)]
    room.create_many([*days, *({"criteria": {"CODE": "a", "DAY": "2026-02-01"}} for _ in range(9))])
    later = room.create("a", execution_time="2100-01-01")
    marked = "SELECT count(suspension_id) FROM omd_dispatch.task_data_f"
    filter_ = {"family_code": "F", "statuses": ["PENDING", "CLAIMED", "DEAD"]}

    def is_told(first: int | None, held: int, second: int | None = None) -> None:
        lane = "SELECT due, later, suspended FROM {} WHERE family_code = 'F'"
        count = {"due": 609 - held, "later": 0, "suspended": held + 1}
        if first is None:
            count = {"due": 609, "later": 1, "suspended": 0}
        assert room.rows(lane.format("omd_report.dispatch_queue")) == [count]
        assert room.rows(lane.format("omd_dispatch.queue_lanes()")) == [count]
        found = room.rows("SELECT * FROM omd_dispatch.search_tasks('F', '{\"CODE\": \"a\"}')")
        assert [t["suspension_id"] for t in found] == [first] * 10
        assert room.reason(later) == ("NOT_DUE" if first is None else "SUSPENDED")
        for suspension, tasks in ((first, held + 1), (second, 0)):
            if suspension is not None:
                count_of = Jsonb({**filter_, "suspension_id": suspension})
                assert room.one("SELECT omd_dispatch.count_tasks(%s, now())", count_of) == tasks

    held = room.call("suspend", family_code="F", criteria={"CODE": "a"})
    assert (held["held"], room.one(marked)) == (0, 0)
    is_told(held["suspension_id"], 9)
    # Another one holds them too, which a resume leaves; both before any mark is set.
    both = room.call("suspend", family_code="F", criteria={"CODE": ["a", "x"]})["suspension_id"]
    is_told(held["suspension_id"], 9, both)
    assert room.call("resume", suspension_id=held["suspension_id"])["resumed"] == 0
    is_told(both, 9, held["suspension_id"])
    while room.maintain()["more"]:
        pass
    assert room.one(marked) == 10
    is_told(both, 9)
    first = [t["task_id"] for t in room.claim(600)]
    assert len(first) == len({*first} - {later}) == 600
    room.call("release_tasks", backend_id="w1", task_ids=first)
    # Marks of a suspension that was resumed hold nobody's count.
    everything = room.call("suspend", family_code="F")["suspension_id"]
    while room.maintain()["more"]:
        pass
    assert room.one(marked) == 610
    room.call("resume", suspension_id=both)
    assert room.call("resume", suspension_id=everything)["resumed"] == 500
    assert room.one(marked) == 110
    is_told(None, 0)
    rest = room.one(
        "SELECT min(task_id) FROM omd_dispatch.task_data_f"
        " WHERE suspension_id IS NOT NULL AND execution_time < now()"
    )
    (explained,) = room.rows("SELECT * FROM omd_dispatch.explain_task(%s)", rest)
    assert (explained["reason"], explained["suspension_id"]) == ("DUE", None)
    assert f"takes the mark of suspension {everything} off" in explained["detail"]
    while room.maintain()["more"]:
        pass
    assert (room.one(marked), len(room.claim(1000))) == (0, 609)


def test_a_call_and_a_round_read_as_much_of_many_tasks_as_of_few(room: Room) -> None:
    room.family()
    read: dict[int, list[int]] = {}
    for tasks in (3_000, 30_000):
        room.owner("DELETE FROM omd_dispatch.task_data_f")
        room.owner(
            "INSERT INTO omd_dispatch.task_data_f (task_id, partition_code, task_type, lane,"
            " priority, execution_time, status, attempt, created_at, func_code)"
            " SELECT nextval('omd_dispatch.task_id'), n %% 8, 'T', 'WORKER', 5,"
            " now() + n * interval '1 second', 'PENDING', 0, now(), (n > %s - 400)::text"
            " FROM generate_series(1, %s) AS n",
            tasks,
            tasks,
        )
        room.conn.execute("VACUUM ANALYZE omd_dispatch.task_data_f")
        seen = [_read(room)]
        rare = room.call("suspend", family_code="F", criteria={"CODE": "true"})
        seen.append(_read(room))
        every = room.call("suspend", family_code="F")
        seen.append(_read(room))
        room.rows("SELECT omd_dispatch._maintain_suspensions(1000)")
        seen.append(_read(room))
        room.call("resume", suspension_id=rare["suspension_id"])
        room.call("resume", suspension_id=every["suspension_id"])
        seen.append(_read(room))
        assert (rare["held"], every["held"]) == (0, 500)
        read[tasks] = [after - before for before, after in itertools.pairwise(seen)]
        while room.maintain()["more"]:
            pass
    for few, many in zip(read[3_000], read[30_000], strict=True):
        assert many <= 1.1 * few + 50, read


def _read(room: Room) -> int:
    """How many entries of tasks were read so far, in all ways."""
    room.conn.execute("SELECT pg_stat_force_next_flush()")
    return int(
        room.one(
            "SELECT sum(t.seq_tup_read)::bigint + (SELECT sum(i.idx_tup_read)::bigint"
            " FROM pg_stat_user_indexes AS i WHERE i.relname LIKE 'task\\_data\\_f%%')"
            " FROM pg_stat_user_tables AS t WHERE t.relname LIKE 'task\\_data\\_f%%'"
        )
    )


def test_who_was_resumed_comes_before_the_marks_of_others(room: Room) -> None:
    """A round goes on with one suspension; what may run again waits for it, marks do not."""
    room.family()
    room.create_many([{"criteria": {"CODE": str(n)}} for n in range(2_000)])
    held = room.call("suspend", family_code="F")["suspension_id"]
    marking = "SELECT omd_dispatch._maintain_suspensions(1000)"
    while room.one(marking):
        pass
    room.call("suspend", family_code="F", criteria={"CODE": "1"})
    other = room.call("suspend", family_code="F", criteria={"CODE": "2"})["suspension_id"]
    room.call("resume", suspension_id=held)
    of = "SELECT count(*) FROM omd_dispatch.task_data_f WHERE suspension_id = %s"
    assert room.one(of, held) == 1500
    room.one(marking)
    assert room.one(of, held) == 500
    while room.one(marking):
        pass
    assert (room.one(of, held), room.one(of, other)) == (0, 1)


def test_two_suspensions_of_one_moment_share_the_tasks(
    room: Room, another: Callable[..., Room]
) -> None:
    """Each marks what the other one has not; together they hold all, and each lets its own go."""
    room.family()
    room.member()
    room.create_many([{"criteria": {"CODE": str(n)}} for n in range(800)])
    one, two = another(autocommit=False), another(autocommit=False)
    first = one.call("suspend", family_code="F")
    second = two.call("suspend", family_code="F")
    assert (first["held"], second["held"]) == (500, 0)
    one.conn.rollback()
    two.conn.commit()
    assert room.claim() == []
    while room.maintain()["more"]:
        pass
    of = "SELECT count(*) FROM omd_dispatch.task_data_f WHERE suspension_id = %s"
    assert room.one(of, second["suspension_id"]) == 800
    assert room.call("resume", suspension_id=second["suspension_id"])["resumed"] == 500
    while room.maintain()["more"]:
        pass
    assert len(room.claim(1000)) == 800


def test_a_task_that_waits_after_a_failure_is_held_too(room: Room) -> None:
    room.family()
    room.member()
    room.type(backoff="0")
    task_id = room.create()
    tasks = room.claim()
    room.call("suspend", family_code="F", criteria=Jsonb({"CODE": "a"}))
    room.complete(tasks, "F")
    assert room.claim() == []
    assert room.reason(task_id) == "SUSPENDED"
    room.call("cancel_task", task_id=task_id)
    assert room.task(task_id)["suspension_id"] is None
