"""The commands of dispatch, run as a user runs them."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from typing import TYPE_CHECKING, Any

import pytest

import omd
from omd.rooms.dispatch.calls import DispatchCalls
from support.views import views_of

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Command = Callable[..., subprocess.CompletedProcess[str]]

HOSTILE = """a 'b' "c" $(d) `e` ; \\ = \x1b[31m\u202e\n<f>"""


@pytest.fixture
def omd_(omd_here: Command, dsn: str) -> Command:
    """``omd dispatch …`` on a database in which nothing but the shipped families is registered."""
    return lambda *arguments, **options: omd_here("dispatch", *arguments, dsn=dsn, **options)


@pytest.fixture
def door(dsn: str) -> Iterator[DispatchCalls]:
    with omd.connect(dsn) as control:
        yield control.calls.omd_dispatch


def told(done: subprocess.CompletedProcess[str], code: int = 0) -> str:
    """Return what a command has printed to stdout, after a look at its exit code."""
    assert done.returncode == code, done.stderr
    return done.stdout


def found(done: subprocess.CompletedProcess[str], code: int = 0) -> Any:
    return json.loads(told(done, code))


def test_a_task_from_its_creation_to_its_death_and_back(omd_: Command, door: DispatchCalls) -> None:
    """Also: the id of a new task is all that stands on stdout, and a duplicate is no second one."""
    done = omd_("create", "RUN", "BATCH", "CODE=b_x", "--priority", "1", "--payload", '{"n": [1]}')
    task = told(done).strip()
    assert done.stderr == f"Task {task} is created.\n"
    again = omd_("create", "RUN", "BATCH", '{"CODE": "b_x"}')
    assert (again.returncode, again.stdout) == (1, "")
    assert "SQLSTATE: OM170" in again.stderr
    existing = omd_("create", "RUN", "BATCH", "CODE=b_x", "--existing")
    assert told(existing).strip() == task
    assert existing.stderr == f"Task {task} has this key already.\n"

    assert re.search(rf"task_id +{task}\n(?s:.*)criteria +{{", told(omd_("show", task)))
    shown = found(omd_("show", task, "--output", "json"))
    assert (shown["criteria"], shown["payload"]) == ({"CODE": "b_x"}, {"n": [1]})
    assert (shown["status"], shown["reason"], shown["priority"]) == ("PENDING", "NO_BACKEND", 1)

    told(omd_("reschedule", task, "--at", "2100-01-01T00:00Z", "--priority", "2"))
    assert found(omd_("show", task, "--output", "json"))["reason"] == "NOT_DUE"
    [row] = found(omd_("queue", "--type", "BATCH", "--output", "json"))
    assert (row["due"], row["later"], row["oldest_due"]) == (0, 1, None)
    other = told(omd_("create", "RUN", "BATCH", "CODE=b_y")).strip()
    done = omd_("cancel", task, "999999", other)  # what is refused does not keep the others
    assert done.returncode == 1
    assert done.stderr.count(" is cancelled, or its worker") == 2
    assert "there is no task 999999" in done.stderr
    told(omd_("revive", task, other))

    door.register_task_type("RUN", "BATCH", max_attempts=1)
    door.register_backend("WORKER", "w1")
    claimed = {str(c.task_id): c for c in door.claim_tasks("w1", limit=10)}
    running = found(omd_("running", "--output", "json"))
    assert {str(row["task_id"]) for row in running} == set(claimed) == {task, other}
    [worker] = found(omd_("backends", "--group", "WORKER", "--output", "json"))
    assert (worker["backend_id"], worker["claimed"], worker["is_alive"]) == ("w1", 2, True)
    assert omd_("cancel", task).returncode == 1
    assert "its worker ends it" in omd_("cancel", "--running", task).stderr
    fence = {"task_id": int(other), "claim_token": claimed[other].claim_token}
    assert door.complete_tasks("w1", [{**fence, "outcome": "F", "error": HOSTILE}]) == []
    assert omd_("dead", "--limit", "1").stderr == "There may be more than 1: --limit shows them.\n"
    dead = list(csv.reader(io.StringIO(told(omd_("dead", "--output", "csv")))))[1]
    assert dead[0] == other
    for table in (omd_("dead"), omd_("show", other)):
        assert "$(d)" in told(table)
        assert not set(table.stdout) & {"\x1b", "\u202e"}
    told(omd_("revive", other, "--at", "2100-01-01"))
    assert found(omd_("dead", "--output", "json")) == []


def test_criteria_are_shown_as_they_are_given(omd_: Command) -> None:
    """Whatever they hold: a line of a table can be copied behind another command."""
    code = "it's $(d); ="
    task = told(omd_("create", "RUN", "MODULE", f"CODE={code}")).strip()
    told(omd_("allow-search", "RUN", "code", "CODE"))
    table = told(omd_("search", "RUN", f"CODE={code}"))
    criteria = re.search("'CODE=.*;  *='", table)
    assert criteria is not None
    copied = ["search", "RUN", *shlex.split(criteria[0]), "--status", "pending", "--type", "MODULE"]
    [row] = found(omd_(*copied, "--output", "json"))
    assert (str(row["task_id"]), row["criteria"]) == (task, {"CODE": code})
    page = omd_("search", "RUN", f"CODE={code}", "--limit", "1")
    assert page.stderr == f"There may be more: --before {task} shows them.\n"
    assert found(omd_("search", "RUN", f"CODE={code}", "--before", task, "--output", "json")) == []
    told(omd_("allow-search", "RUN", "code", "--remove"))
    assert "SQLSTATE: OM079" in omd_("search", "RUN", "CODE=x").stderr


def test_a_suspension_holds_each_value_that_is_given(omd_: Command) -> None:
    for code in ("b_x", "b_y", "b_z"):
        told(omd_("create", "RUN", "BATCH", f"CODE={code}"))
    done = omd_("suspend", "RUN", "CODE=b_x", "CODE=b_y", "--type", "BATCH", "--reason", HOSTILE)
    suspension = told(done).strip()
    assert done.stderr == f"Suspension {suspension} holds; pending tasks marked: 2.\n"
    [row] = found(omd_("suspensions", "--family", "RUN", "--output", "json"))
    assert (row["criteria"], row["task_types"]) == ({"CODE": ["b_x", "b_y"]}, ["BATCH"])
    table = told(omd_("suspensions"))
    assert "CODE=b_x CODE=b_y" in table
    assert "\x1b" not in table
    [row] = found(omd_("queue", "--output", "json"))
    assert (row["due"], row["suspended"]) == (1, 2)
    assert "tasks that are free now: 2" in omd_("resume", suspension).stderr
    assert omd_("resume", suspension).returncode == 1


def test_many_tasks_come_from_a_file_or_from_stdin(omd_: Command, tmp_path: Path) -> None:
    tasks = [{"criteria": {"CODE": f"b_{n}"}} for n in range(3)]
    lines = "\n\n".join(json.dumps(task) for task in tasks)
    done = omd_("create-many", "RUN", "BATCH", "-", input=lines)
    ids = told(done).split()
    assert (len(ids), done.stderr) == (3, "Tasks: 3, of them new: 3.\n")
    file = tmp_path / "tasks.json"
    file.write_text(json.dumps([*tasks[:2], {"criteria": {"CODE": "b_9"}, "priority": 0}]))
    assert omd_("create-many", "RUN", "BATCH", str(file)).returncode == 1
    assert found(omd_("queue", "--output", "json"))[0]["due"] == 3  # all or none
    done = omd_("create-many", "RUN", "BATCH", str(file), "--existing")
    assert told(done).split()[:2] == ids[:2]
    assert done.stderr == "Tasks: 3, of them new: 1.\n"
    done = omd_("create-many", "RUN", "BATCH", "-", input='{"criteria": {}}\n\n{')
    assert (done.returncode, "line 3 is no JSON" in done.stderr) == (2, True)
    assert told(omd_("create-many", "RUN", "BATCH", "-", input="")) == ""


def test_a_family_and_its_types(omd_: Command) -> None:
    key = ("--key-criterion", "CODE", "--key-criterion", "DAY")
    told(omd_("register-family", "LOAD", "CODE=text", "DAY=date", "N=bigint", *key))
    options = ("--handler", "SQL", "--target", "app.load", "--max-running", "2")
    told(omd_("register-type", "LOAD", "FULL", *options, "--timeout", "10 minutes"))
    told(omd_("set-custom", "LOAD", "FULL", "N", "O"))
    told(omd_("set-external-name", "LOAD", "FULL", "DAY", "load_day"))
    told(omd_("create", "LOAD", "FULL", "CODE=a", "load_day=2026-01-31"))
    assert "SQLSTATE: OM170" in omd_("create", "LOAD", "FULL", "CODE=a", "DAY=2026-01-31").stderr
    assert "SQLSTATE: OM078" in omd_("create", "LOAD", "FULL", "CODE=a", "DAY=2026-01-32").stderr
    assert omd_("set-custom", "LOAD", "FULL", "N", "--remove").stderr == "Removed.\n"
    told(omd_("set-external-name", "LOAD", "FULL", "DAY", "--remove"))
    assert "SQLSTATE: OM076" in omd_("create", "LOAD", "FULL", "CODE=b", "DAY=2026-01-31").stderr
    done = omd_("allow-search", "LOAD", "by_code", "CODE", "DAY")
    assert done.stderr == "Index by_code of family LOAD serves searches by CODE, DAY.\n"
    [row] = found(omd_("search", "LOAD", "CODE=a", "DAY=2026-01-31", "--output", "json"))
    assert row["criteria"] == {"CODE": "a", "DAY": "2026-01-31"}


def test_schedules_and_when_they_occur(omd_: Command) -> None:
    paris = ("--time-zone", "Europe/Paris")
    cron = ("cron-next", "30 2 * * *", *paris, "--after", "2026-03-28T00:00Z", "--count", "2")
    times = told(omd_(*cron)).splitlines()[2:]
    assert times == ["2026-03-28 02:30:00+01:00", "2026-03-29 03:00:00+02:00"]
    assert found(omd_(*cron, "--output", "json"))[1]["utc"].startswith("2026-03-29T0")
    assert "SQLSTATE: OM013" in omd_("cron-next", "61 2 * * *").stderr
    assert omd_("cron-next", "* * * * *", "--time-zone", "../etc/passwd").returncode == 1

    of = ("--family", "RUN", "--type", "BATCH")
    told(omd_("register-schedule", "nightly", "CODE=b_x", *of, "--cron", "0 2 * * *", *paris))
    told(omd_("register-schedule", "nightly", "--inactive"))
    rows = found(omd_("schedules", "--output", "json"))
    [row] = [row for row in rows if row["schedule_code"] == "nightly"]
    assert (row["criteria"], row["inactive_indicator"]) == ({"CODE": "b_x"}, "Y")
    told(omd_("register-schedule", "often", *of, "--every", "1 second", "--source", "nope.nope"))
    told(omd_("register-schedule", "soon", "CODE=b_y", *of, "--every", "1 hour"))
    assert "occurs next at " in omd_("register-schedule", "soon").stderr
    assert omd_("register-schedule", "none", *of).returncode == 1
    told(omd_("remove-schedule", "nightly"))
    assert omd_("remove-schedule", "nightly").returncode == 1


def test_a_problem_of_a_schedule_is_told_in_full(omd_: Command, door: DispatchCalls) -> None:
    of = ("--family", "RUN", "--type", "BATCH", "--source", "nope.nope")
    told(omd_("register-schedule", "often", *of, "--every", "1 second"))
    with door._link.transaction() as connection:
        connection.execute(
            "UPDATE omd_dispatch.task_schedule SET next_time = now() - interval '10 s'"
        )
    assert "tasks created: 0" in omd_("maintain").stderr
    done = omd_("schedules")
    told(done, 1)
    assert done.stderr.startswith("often: 42P01: ")


def test_upkeep_tells_by_its_exit_code_what_is_left(omd_: Command) -> None:
    assert omd_("purge", "RUN").stderr == "Slots purged: none; left: none.\n"
    told(omd_("purge", "RUN", "--partition", "77"), 3)
    told(omd_("purge", "RUN", "--partition", "1"))
    assert omd_("set-migration-status", "RUN", "2").returncode == 1
    told(omd_("set-migration-status", "RUN", "3"))
    assert found(omd_("compare", "RUN", "--output", "json")) == []
    told(omd_("set-migration-status", "RUN", "4"))


def test_wrong_use_is_told_before_anything_is_done(omd_: Command) -> None:
    for arguments, hint in {
        ("create", "RUN"): "Missing argument 'TYPE'",
        ("create", "RUN", "BATCH", "CODE"): "CODE is not like NAME=VALUE",
        ("create", "RUN", "BATCH", "=b_x"): "=b_x is not like NAME=VALUE",
        ("create", "RUN", "BATCH", "CODE=a", "CODE=b"): "CODE is given twice",
        ("create", "RUN", "BATCH", '{"CODE": '): "is no JSON",
        ("create", "RUN", "BATCH", "CODE=a", "--payload", "{"): "is no JSON",
        ("create", "RUN", "BATCH", "CODE=a", "--at", "soon"): "soon is not like",
        ("create", "RUN", "BATCH", "CODE=a", "--priority", "high"): "not a valid integer",
        ("cancel",): "Missing argument 'TASK...'",
        ("cancel", "one"): "not a valid integer",
        ("search", "RUN", "CODE=a", "--limit", "1001"): "1<=x<=1000",
        ("set-custom", "RUN", "BATCH", "CODE"): "Give either a value or --remove.",
        ("allow-search", "RUN", "code", "CODE", "--remove"): "Give either a value or --remove.",
        ("create-many", "RUN", "BATCH", "/nowhere"): "No such file",
        ("cron-next", "* * * * *", "--count", "0"): "1<=x<=1000",
    }.items():
        done = omd_(*arguments)
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert hint in done.stderr, done.stderr
    assert found(omd_("queue", "--output", "json")) == []


def test_each_view_of_the_room_is_a_command(omd_: Command) -> None:
    views = views_of("dispatch")
    assert len(views) > 5
    for view in views:
        command = view.removeprefix("dispatch_")
        if command in ("sources", "schedules"):  # of work, and of the purge: shipped, switched off
            shipped = found(omd_(command, "--output", "json"))
            assert shipped
            assert {row["inactive_indicator"] for row in shipped} == {"Y"}
            continue
        table = omd_(command)
        assert told(table).count("\n") == 2
        assert table.stderr == "(none)\n"
        assert found(omd_(command, "--output", "json")) == []


def test_the_help_has_every_command_in_a_section(omd_: Command) -> None:
    text = told(omd_("--help"))
    for title in ("What waits and runs", "Tasks", "Suspensions", "Schedules", "Sources of tasks",
                  "Upkeep"):  # fmt: skip
        assert f"\n{title}:\n" in text
    assert "Commands:" not in text
