"""Tasks, suspensions and schedules from a shell: by omd call, omd report and omd show."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import omd
from omd.rooms.dispatch.calls import DispatchCalls
from support.views import views_of

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

    Command = Callable[..., subprocess.CompletedProcess[str]]

HOSTILE = """a 'b' "c" $(d) `e` ; \\ = \x1b[31m\u202e\n<f>"""
BATCH = ("--family-code", "RUN", "--task-type", "BATCH")


@pytest.fixture
def omd_(omd_here: Command, dsn: str) -> Command:
    """A command on a database in which nothing but the shipped families is registered."""
    return lambda *arguments, **options: omd_here(*arguments, dsn=dsn, **options)


@pytest.fixture
def call(omd_: Command) -> Command:
    return lambda routine, *arguments, **options: omd_(
        "call", f"omd_dispatch.{routine}", *arguments, "--output", "json", **options
    )


@pytest.fixture
def shown(omd_: Command) -> Callable[..., Any]:
    """The rows of a report of dispatch."""

    def shown(view: str, *conditions: str) -> Any:
        where = [word for condition in conditions for word in ("--where", condition)]
        return found(omd_("report", f"dispatch_{view}", *where, "--output", "json"))

    return shown


@pytest.fixture
def door(dsn: str) -> Iterator[DispatchCalls]:
    with omd.connect(dsn) as control:
        yield control.calls.omd_dispatch


def found(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout) if done.stdout else None


def test_a_task_from_its_creation_to_its_death_and_back(
    omd_: Command, call: Command, shown: Callable[..., Any], door: DispatchCalls
) -> None:
    given = (*BATCH, "--criteria", '{"CODE": "b_x"}')
    made = found(call("create_task", *given, "--priority", "1", "--payload", '{"n": [1]}'))
    task = str(made["task_id"])
    assert "SQLSTATE: OM170" in call("create_task", *given).stderr
    again = found(call("create_task", *given, "--on-duplicate", "EXISTING"))
    assert again == {"task_id": int(task), "is_new": False}

    its = found(omd_("show", f"task:{task}", "--output", "json"))
    assert (its["criteria"], its["payload"]) == ({"CODE": "b_x"}, {"n": [1]})
    assert (its["status"], its["reason"], its["priority"]) == ("PENDING", "NO_BACKEND", 1)

    late = ("--execution-time", "2100-01-01T00:00Z")
    found(call("reschedule_task", "--task-id", task, *late, "--priority", "2"))
    [row] = shown("queue", "task_type=BATCH")
    assert (row["due"], row["later"], row["oldest_due"]) == (0, 1, None)
    found(call("cancel_task", "--task-id", task))
    found(call("revive_task", "--task-id", task))

    door.register_task_type("RUN", "BATCH", max_attempts=1)
    door.register_backend("WORKER", "w1")
    [claimed] = door.claim_tasks("w1", limit=10)
    assert [str(row["task_id"]) for row in shown("running")] == [task]
    [worker] = shown("backends", "backend_type=WORKER")
    assert (worker["backend_id"], worker["claimed"], worker["is_alive"]) == ("w1", 1, True)
    assert call("cancel_task", "--task-id", task).returncode == 1
    fence = {"task_id": int(task), "claim_token": claimed.claim_token}
    assert door.complete_tasks("w1", [{**fence, "outcome": "F", "error": HOSTILE}]) == []
    for table in (omd_("report", "dispatch_dead"), omd_("show", f"task:{task}")):
        assert "$(d)" in table.stdout
        assert not set(table.stdout) & {"\x1b", "\u202e"}
    filter_ = '{"family_code": "RUN", "statuses": ["DEAD"]}'
    done = found(call("revive_tasks", "--filter", filter_, "--counted-at", "now"))
    assert (done["changed"], shown("dead")) == (1, [])


def test_a_suspension_holds_each_value_that_is_given(
    call: Command, shown: Callable[..., Any]
) -> None:
    tasks = [{"criteria": {"CODE": f"b_{n}"}} for n in "xyz"]
    made = call("create_tasks", *BATCH, "--tasks", "-", input=json.dumps(tasks))
    assert found(made)["created"] == 3
    held = ("--task-types", "BATCH", "--criteria", '{"CODE": ["b_x", "b_y"]}')
    done = found(call("suspend", "--family-code", "RUN", *held, "--reason", HOSTILE))
    assert done["held"] == 2
    [row] = shown("suspensions", "family_code=RUN")
    assert (row["criteria"], row["task_types"]) == ({"CODE": ["b_x", "b_y"]}, ["BATCH"])
    [row] = shown("queue")
    assert (row["due"], row["suspended"]) == (1, 2)
    suspension = ("--suspension-id", str(done["suspension_id"]))
    assert found(call("resume", *suspension)) == {"resumed": 2}
    assert call("resume", *suspension).returncode == 1


def test_sources_and_schedules_are_shipped_switched_off(shown: Callable[..., Any]) -> None:
    assert len(views_of("dispatch")) > 5
    for view in views_of("dispatch"):
        rows = shown(view.removeprefix("dispatch_"))
        if view in ("dispatch_sources", "dispatch_schedules"):  # of work, and of the purge
            assert rows
            assert {row["inactive_indicator"] for row in rows} == {"Y"}
        else:
            assert rows == []
