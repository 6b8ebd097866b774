"""The command omd recall, and the door control.provenance."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

import omd
from omd.errors import lookup

if TYPE_CHECKING:
    from collections.abc import Callable

    from provenance.recalls import Recalls

    Command = Callable[..., Any]


@pytest.fixture
def command(omd_here: Command, dsn: str) -> Command:
    """A function that runs omd recall."""
    return lambda *arguments: omd_here("recall", *map(str, arguments), dsn=dsn)


@pytest.fixture
def run_of(recalls: Recalls) -> dict[str, int]:
    recalls.made("a")
    recalls.made("b", "a")
    return {name: recalls.go(name) for name in "ab"}


def test_a_plan_is_shown_and_executed(
    recalls: Recalls, run_of: dict[str, int], command: Command
) -> None:
    planned = command(f"run:{run_of['a']}", "--reason", "wrong")
    assert planned.returncode == 0
    recall = recalls.one("SELECT recall_id FROM omd_report.recalls")
    assert f"omd recall execute {recall}" in planned.stderr
    assert recalls.standing() == list(run_of.values())
    assert recalls.rows("SELECT recall_status, items FROM omd_report.recalls") == [
        {"recall_status": "PLANNED", "items": 2}
    ]
    done = command("execute", recall, "--output", "json")
    assert [(r["action"], r["module_instance_id"]) for r in json.loads(done.stdout)] == [
        ("UNDO", run_of["b"]),
        ("UNDO", run_of["a"]),
    ]
    assert "Rows that went: 6; came back: 0" in done.stderr
    assert recalls.standing() == []
    again = command("execute", recall)
    assert (again.returncode, "OM193" in again.stderr) == (1, True)


def test_plan_and_act_are_one_transaction(
    recalls: Recalls, run_of: dict[str, int], command: Command
) -> None:
    recalls.module("s", platform_code="SPARK", table_code="lake.s", table_type_code="HUB")
    recalls.call("declare_inputs", module_code="s", tables=["dwh.a"])
    reader = recalls.run_module("s")
    given = (f"run:{run_of['a']}", "--reason", "wrong", "--execute", "--wait", "0")
    refused = command(*given)
    assert (refused.returncode, "OM192" in refused.stderr) == (1, True)
    assert recalls.rows("SELECT * FROM omd_report.recalls") == []
    assert recalls.standing() == [*run_of.values(), reader]
    done = command(*given, "--accept", "PENDING")
    assert done.returncode == 0
    assert recalls.rows("SELECT recall_status AS s FROM omd_report.recalls") == [{"s": "EXECUTED"}]


def test_what_is_in_the_way_gives_the_code_of_a_failure(
    recalls: Recalls, run_of: dict[str, int], command: Command
) -> None:
    recalls.conn.execute("DROP TABLE dwh.b")
    planned = command(f"run:{run_of['a']}", "--reason", "wrong")
    assert (planned.returncode, "1 of them in the way" in planned.stderr) == (1, True)


def test_stale_runs_are_recalled(
    recalls: Recalls, run_of: dict[str, int], command: Command
) -> None:
    recalls.set_next("R", module=run_of["a"])
    recalls.go("a")
    assert command("stale", "--reason", "undone").returncode == 0
    recall = recalls.one("SELECT recall_id FROM omd_report.recalls")
    assert recalls.items(recall, "module_instance_id", "relation") == [(run_of["b"], "TARGET")]


def test_an_entry_is_dropped(recalls: Recalls, run_of: dict[str, int], command: Command) -> None:
    recall = recalls.recalled(run_of["a"])
    assert command("drop", recall, 1, "never again").returncode == 0
    assert recalls.work("a")[0] == "IDLE"
    assert recalls.perform() == ["b"]


def test_the_door_plans_and_recalls(recalls: Recalls, run_of: dict[str, int], dsn: str) -> None:
    with omd.connect(dsn) as control:
        room = control.provenance
        planned = room._calls.plan_recall(module_instance_id=run_of["b"], reason="wrong")
        assert [i.action for i in room._items(planned.recall_id)] == ["UNDO"]
        done = room.recall(planned.recall_id, wait=timedelta(0))
        assert (done.kind, done.code, done.status) == ("RECALL", str(planned.recall_id), "S")
        assert done.facts == {"rows_gone": 3, "rows_returned": 0}
        assert recalls.one(
            "SELECT module_code FROM omd_report.module_execution_log WHERE module_instance_id = %s",
            done.instance_id,
        ) == "provenance.recall"  # fmt: skip
        [row] = control.report("recalls", recall_id=planned.recall_id)
        assert row.recall_status == "EXECUTED"
        with pytest.raises(lookup("OM090")):
            room.recall(99, wait=timedelta(0))
        at_once = room._recall_at_once(module_instance_id=run_of["a"], reason="wrong")
        returns = control.report("recall_returns", recall_id=at_once.recall_id)
        assert [e.code for e in returns] == ["a"]
        recalls.module("s", platform_code="SPARK", table_code="lake.s", table_type_code="HUB")
        recalls.call("declare_inputs", module_code="s", tables=["dwh.a"])
        run = recalls.go("a")
        recalls.run_module("s")
        with pytest.raises(lookup("OM192")):
            room._recall_at_once(module_instance_id=run, reason="wrong")


def test_a_recall_of_what_is_undone_already_has_nothing_to_take_back(
    recalls: Recalls, run_of: dict[str, int], command: Command, dsn: str
) -> None:
    recall = recalls.plan(run_of["b"])
    recalls.set_next("R", module=run_of["b"])
    recalls.go("b")
    with omd.connect(dsn) as control:
        nothing = control.provenance.recall(recall, wait=timedelta(0))
    assert (nothing.status, nothing.reason, nothing.instance_id) == ("C", "NOTHING", None)
    with pytest.raises(omd.errors.Skipped):
        nothing.result()
    done = command("execute", recall)
    assert (done.returncode, "stands any more" in done.stderr) == (3, True)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["run:1"], "Missing option '--reason'"),
        (["run:1", "--reason", "r", "--since", "2026-01-01"], "takes no --since"),
        (["run", "1", "--reason", "r"], "use omd recall run:ID"),
        (["list"], "use omd report recalls"),
        (["execute"], "Missing argument 'ID'"),
        (["run:1", "execute", "--reason", "r"], "unexpected extra argument"),
        (["task:1", "--reason", "r"], "it must be run, delivery, batchrun or agreement"),
    ],
)
def test_wrong_use_is_told(
    recalls: Recalls, run_of: dict[str, int], command: Command, given: list[str], said: str
) -> None:
    done = command(*given)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_the_help_has_the_target_and_the_commands(command: Command) -> None:
    told = command("--help").stdout
    assert "omd recall TARGET --reason TEXT" in told
    for word in ("--since", "--await-correction", "drop", "execute", "redeliver"):
        assert word in told
    assert "ID POSITION REASON" in command("drop", "--help").stdout
