"""After a failover no number is given twice; on a server that is not known no worker begins."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from omd.errors import lookup
from omd.programs.worker.worker import Worker
from support.workers import until

if TYPE_CHECKING:
    from conftest import Room

MILLION = 1_000_000
FAILOVER = "UPDATE omd.installation SET timeline_id = timeline_id - 1"
MOVED = "UPDATE omd.installation SET system_identifier = system_identifier - 1"


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


def test_a_worker_that_is_refused_leaves_nothing_behind(room: Room, dsn: str) -> None:
    def own() -> list[str]:
        return [thread.name for thread in threading.enumerate() if thread.name.startswith("omd-")]

    assert not own()
    room.owner(MOVED)
    with pytest.raises(lookup("OM109")):
        Worker(dsn, until_quiet=True).run()
    until(lambda: not own(), 20)
