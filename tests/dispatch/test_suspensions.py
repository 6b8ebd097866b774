"""Suspensions hold at once, and let go in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psycopg.types.json import Jsonb

if TYPE_CHECKING:
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
    assert answer["held"] == 10_000
    assert room.reason(last) == "SUSPENDED"
    assert room.claim() == []
    marked = "SELECT count(suspension_id) FROM omd_dispatch.task_data_f"
    assert room.one(marked) == 11_000  # a claim marks what it meets, at most 1,000
    assert room.maintain()["more"] is False
    assert room.one(marked) == 12_001
    assert room.call("resume", suspension_id=answer["suspension_id"])["resumed"] == 10_000
    assert len(room.claim(1000)) == 1000
    room.maintain()
    assert room.one(marked) == 0
    assert room.rows("SELECT * FROM omd_dispatch.task_suspension") == []


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
