"""After a failover no task and no claim gets a number that was given before."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Room

MILLION = 1_000_000
FAILOVER = "UPDATE omd.installation SET timeline_id = timeline_id - 1"


def test_a_task_and_a_claim_pass_over_a_million(room: Room) -> None:
    room.family()
    room.member()
    first = room.create("a")
    (claimed,) = room.claim()
    room.owner(FAILOVER)
    second = room.create("b")
    assert second == first + MILLION + 1
    (again,) = room.claim()
    assert again["task_id"] == second
    assert again["claim_token"] == claimed["claim_token"] + MILLION + 1
    room.owner(FAILOVER)
    third = room.create("c")
    room.owner(FAILOVER)
    (last,) = room.claim()
    assert last["task_id"] == third
    assert last["claim_token"] == again["claim_token"] + 2 * MILLION + 1
    # What was claimed before is ended by its fence.
    assert room.complete([claimed, again, last]) == []
