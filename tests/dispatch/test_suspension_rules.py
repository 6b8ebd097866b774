"""Suspensions in races and with every form of what they hold."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Room


def codes(tasks: list[dict[str, Any]]) -> str:
    return "".join(sorted(t["criteria"]["CODE"] for t in tasks))


def suspend(room: Room, **what: Any) -> int:
    return int(room.call("suspend", family_code="F", **what)["suspension_id"])


def resume(room: Room, suspension_id: int) -> int:
    return int(room.call("resume", suspension_id=suspension_id)["resumed"])


def test_what_a_suspension_says(room: Room) -> None:
    room.family("F", criteria={"CODE": "text", "DAY": "date", "AT": "timestamptz"})
    room.type("U")
    for task_type in "TU":
        for criterion in ("DAY", "AT"):
            room.call(
                "set_custom", family_code="F", task_type=task_type, criterion=criterion, mode="O"
            )
    room.member()
    for sqlstate, wrong in (
        ("OM005", {"family_code": None}),
        ("OM070", {"family_code": "G"}),
        ("OM071", {"task_types": ["T", "X"]}),
        ("OM005", {"task_types": [None]}),
        ("OM013", {"criteria": Jsonb(["CODE"])}),
        ("OM013", {"criteria": {"CODE": []}}),
        ("OM013", {"criteria": {"CODE": {"a": 1}}}),
        ("OM075", {"criteria": {"code": "a"}}),
        ("OM078", {"criteria": {"CODE": None}}),
        ("OM078", {"criteria": {"CODE": ["a", None]}}),
        ("OM078", {"criteria": {"CODE": ["a", ["b"]]}}),
        ("OM078", {"criteria": {"DAY": ["2026-01-01", "x"]}}),
    ):
        room.refused(sqlstate, "suspend", **{"family_code": "F", **wrong})
    assert room.rows("SELECT 1 FROM omd_dispatch.task_suspension") == []
    room.refused("OM005", "resume", suspension_id=None)
    room.refused("OM073", "resume", suspension_id=-1)

    for what, free in (
        ({}, ""),
        ({"task_types": [], "criteria": {}}, ""),
        ({"task_types": ["T", "T"]}, "u"),
        ({"task_types": ["T", "U"], "criteria": {"CODE": "a"}}, "bu"),
        ({"criteria": {"CODE": ["a", "u", "a"]}}, "b"),
        ({"criteria": {"DAY": "20260101"}}, "bu"),
        ({"criteria": {"DAY": ["2026-01-02"], "CODE": ["a"]}}, "abu"),
        ({"criteria": {"AT": "2026-01-01 01:00+01"}}, "au"),
    ):
        held = suspend(room, **what)
        room.create(criteria={"CODE": "a", "DAY": "2026-01-01"})
        room.create(criteria={"CODE": "b", "AT": "2026-01-01 00:00+00"})
        room.create("u", task_type="U")
        claimed = room.claim()
        assert codes(claimed) == free, what
        assert resume(room, held) == 3 - len(free)
        claimed += room.claim()
        assert room.complete(claimed) == []
        room.refused("OM073", "resume", suspension_id=held)


def test_a_task_that_several_hold_is_free_after_the_last(room: Room) -> None:
    room.family("F", ("CODE",))
    room.member()
    task_id = room.create("a")
    several = [suspend(room, **w) for w in ({}, {"criteria": {"CODE": "a"}}, {"task_types": ["T"]})]
    assert room.task(task_id)["suspension_id"] == several[0]
    assert resume(room, several[1]) == 0
    assert resume(room, several[0]) == 0
    assert room.task(task_id)["suspension_id"] == several[2]
    assert str(several[2]) in room.one("SELECT detail FROM omd_dispatch.explain_task(%s)", task_id)
    room.call("reschedule_task", task_id=task_id, execution_time="2100-01-01", priority=1)
    assert room.reason(task_id) == "SUSPENDED"
    room.call("cancel_task", task_id=task_id)
    room.call("revive_task", task_id=task_id)
    assert room.task(task_id)["suspension_id"] == several[2]
    assert resume(room, several[2]) == 1
    assert codes(room.claim()) == "a"


def test_marks_that_are_committed_after_the_resume_are_released(
    room: Room, another: Callable[..., Room]
) -> None:
    """A creator, a claim and a resume may mark for a suspension that ends at that moment."""
    room.family("F")
    room.member()
    held = suspend(room, criteria={"CODE": ["a", "b"]})
    creator, claimer = another(autocommit=False), another(autocommit=False)
    created = creator.create("a")
    # The mark of a claim, on a task that was not marked yet.
    room.create("b")
    room.owner("UPDATE omd_dispatch.task_data_f SET suspension_id = NULL")
    assert claimer.claim() == []
    resume(room, held)
    assert room.claim() == []
    creator.conn.commit()
    claimer.conn.commit()
    assert room.task(created)["suspension_id"] == held
    while room.maintain()["more"]:
        pass
    assert codes(room.claim()) == "ab"
    assert room.rows("SELECT 1 FROM omd_dispatch.task_suspension") == []


def test_what_is_created_while_a_suspend_is_not_committed_is_held(
    room: Room, another: Callable[..., Room]
) -> None:
    room.family("F")
    room.member()
    admin, creator = another(autocommit=False), another(autocommit=False)
    before = creator.create("a")
    held = suspend(admin, task_types=["T"])
    after = room.create("b")
    admin.conn.commit()
    creator.conn.commit()
    assert [room.task(t)["suspension_id"] for t in (before, after)] == [None, None]
    assert [room.reason(t) for t in (before, after)] == ["SUSPENDED"] * 2
    assert room.claim() == []
    assert [room.task(t)["suspension_id"] for t in (before, after)] == [held, held]
    assert resume(room, held) == 2
    assert codes(room.claim()) == "ab"
    # A suspend that is rolled back held nothing.
    admin.call("suspend", family_code="F")
    admin.conn.rollback()
    room.create("c")
    assert codes(room.claim()) == "c"


def test_nothing_is_claimed_after_a_suspend_while_many_claim(
    room: Room, another: Callable[..., Room]
) -> None:
    room.family("F")
    room.create_many([{"criteria": {"CODE": str(n % 10)}} for n in range(12_000)])
    errors: list[object] = []
    taken: list[int] = []
    over = threading.Event()

    def work(n: int, session: Room) -> None:
        try:
            name = session.member(f"w{n}")
            while not over.is_set():
                tasks = session.claim(20, by=name)
                errors.extend(session.complete(tasks, by=name))
                taken.extend(t["task_id"] for t in tasks)
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n, another())) for n in range(4)]
    for thread in threads:
        thread.start()
    first = room.call("suspend", family_code="F", criteria={"CODE": ["1", "2", "3"]})
    everything = room.call("suspend", family_code="F")
    at = room.one("SELECT clock_timestamp()")
    while room.maintain()["more"]:
        pass
    pending = "SELECT count(*) FROM omd_dispatch.task_data_f WHERE status = 'PENDING'"
    # Each worker may have had one claim at that moment.
    late = "SELECT count(*) FROM omd_dispatch.task_data_f WHERE finished_at > %s"
    assert room.one(late, at) <= 4 * 20
    assert room.one(pending) > 1000
    for held in (everything, first):
        room.call("resume", suspension_id=held["suspension_id"])
    while room.maintain()["more"]:
        pass
    over.set()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(taken) == len(set(taken))
    assert room.one(pending) + len(taken) == 12_000
    assert room.one(pending + " AND suspension_id IS NOT NULL") == 0
    assert room.rows("SELECT 1 FROM omd_dispatch.task_suspension") == []
