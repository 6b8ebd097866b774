"""A clock that was ahead and is set back stops nothing: what was due then is due now.

What the clock has left in the tables is moved ahead, since no test may set the clock of a machine;
tests/faults/platform.py lets the clock of a server jump.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Room

HOUR = "interval '1 hour'"


@pytest.fixture
def ahead(room: Room) -> Room:
    """The clock was an hour ahead until now: a worker has registered, and a task was created."""
    room.family()
    room.member("w1", ttl=timedelta(seconds=2))
    return room


def set_back(room: Room) -> None:
    """Let all that was noted be noted by a clock that was an hour ahead."""
    room.owner(f"UPDATE omd_dispatch.backend_registration SET registration_time"
               f" = registration_time + {HOUR}")  # fmt: skip
    room.owner(
        f"UPDATE omd_dispatch.task_data_f SET execution_time = execution_time + {HOUR},"
        f" created_at = created_at + {HOUR}, pending_since = pending_since + {HOUR},"
        f" claimed_at = claimed_at + {HOUR}"
    )


def test_a_task_that_was_due_is_due(ahead: Room) -> None:
    task = ahead.create()
    set_back(ahead)
    assert ahead.reason(task) == "NOT_DUE"
    ahead.maintain()
    assert [row["task_id"] for row in ahead.claim()] == [task]


def test_a_task_for_which_somebody_has_named_a_time_keeps_it(ahead: Room) -> None:
    at = ahead.one("SELECT clock_timestamp() + interval '90 minutes'")
    task = ahead.create(execution_time=at)
    set_back(ahead)
    ahead.maintain()
    assert ahead.task(task)["execution_time"] == at + timedelta(hours=1)
    assert ahead.claim() == []


def test_a_task_that_waits_for_another_attempt_waits_as_long_as_it_should(ahead: Room) -> None:
    ahead.type(backoff=timedelta(seconds=50))
    task = ahead.create()
    ahead.complete(ahead.claim(), "F")
    set_back(ahead)
    ahead.maintain()
    left = ahead.one(
        "SELECT execution_time - clock_timestamp() FROM omd_dispatch.task_data_f"
        " WHERE task_id = %s",
        task,
    )
    assert timedelta(seconds=40) < left <= timedelta(seconds=50)


def test_a_worker_that_died_while_the_clock_was_ahead_is_dead_after_its_ttl(ahead: Room) -> None:
    ahead.create()
    ahead.claim()
    set_back(ahead)
    assert ahead.maintain()["reclaimed"] == 0, "it has its TTL from now on"
    ahead.conn.execute("SELECT pg_sleep(2.1)")
    assert ahead.maintain()["reclaimed"] == 1


def test_a_worker_that_lives_goes_on(ahead: Room) -> None:
    set_back(ahead)
    ahead.maintain()
    assert ahead.call("renew_backend", backend_id="w1")["members"] == 1


def test_a_source_is_read_again(room: Room) -> None:
    room.family("F", ("CODE",))
    room.conn.execute("CREATE VIEW public.v AS SELECT 'a' AS code")
    room.call("register_source", family_code="F", task_type="T", source="public.v")
    assert room.call("fire_sources")["created"] == 1
    room.owner("DELETE FROM omd_dispatch.task_data_f")
    room.owner("DELETE FROM omd_dispatch.mutex")
    room.owner(
        f"UPDATE omd_dispatch.task_source SET last_fired_at = last_fired_at + {HOUR}"
        " WHERE family_code = 'F'"
    )
    assert room.call("fire_sources")["created"] == 0
    room.maintain()
    assert room.call("fire_sources")["created"] == 1
