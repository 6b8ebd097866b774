"""The room in Python: a run and its outcome, on a connection of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import omd
from decision.test_runs import WAITS, until_waiting
from omd import errors
from omd.doors import decision as decision
from omd.doors.decision import Decision

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future
    from pathlib import Path

    from decision.conftest import Room

GOOD = "jsonb_build_object('out', p -> 'a')"


@pytest.fixture
def door(dsn: str) -> Iterator[Decision]:
    with omd.connect(dsn) as control:
        yield control.decision


def test_a_run_answers_what_became_of_it(room: Room, door: Decision) -> None:
    """Also: in a Batch, and with the documents as dicts."""
    document = room.scene(GOOD)
    assert door._calls.define_stage({**document, "keep": "NONE"}).version == 2
    room.fill("a", (1, 1), (2, 1))
    room.fill("b", (1, 9))
    door._control.calls.omd.register_batch("b", frequency_code="Adhoc")
    door._control.calls.omd.add_module_to_batch("b", "s")
    with door._control.batch("b") as batch:
        done = door.run("s", batch=batch)
    counts = {"waves": 1, "cycles": 1, "rows_input": 3, "rows_output": 2, "rows_rejected": 1}
    assert done == omd.Outcome(
        "STAGE",
        "s",
        done.instance_id,
        omd.Status.SUCCEEDED,
        facts={"engine": "POSTGRES", **counts},
    )
    assert done.succeeded
    room.conn.execute("ALTER TABLE app.out ADD CONSTRAINT no CHECK (k <> 1) NOT VALID")
    done = door.run("s", engine="POSTGRES")
    assert (done.status.value, done.succeeded, done.facts.get("cycles")) == ("F", False, None)
    assert 'violates check constraint "no"' in (done.detail or "")
    room.conn.execute("UPDATE omd.module SET inactive_indicator = 'Y'")
    assert door.run("s").status.value in "AC"


def test_what_is_wrong_before_a_run_is_raised(room: Room, door: Decision) -> None:
    document = room.scene(GOOD)
    with pytest.raises(errors.lookup("OM080")):
        door.run("nix")
    for told in ({"engine": "LISP"}, {"engine": "POSTGRES", "links": {"a": object()}}):
        with pytest.raises(errors.CallerError):
            door.run("s", **told)  # type: ignore[arg-type]
    door._calls.define_ruleset(
        {"ruleset": "p", "kind": "PYTHON", "content": "rules:f"}, activate=True
    )
    door._calls.define_stage({**document, "ruleset": "p"})
    with pytest.raises(errors.lookup("OM288")):
        door.run("s", engine="POSTGRES")
    door._calls.deactivate_ruleset("p", 1)
    with pytest.raises(errors.lookup("OM286")):
        door.run("s")


def test_a_run_that_is_cancelled_is_a_failed_one(
    room: Room, door: Decision, background: Callable[..., Future[Any]]
) -> None:
    room.scene(WAITS)
    room.fill("a", (1, 1))
    room.conn.execute("SELECT pg_advisory_lock(15)")
    run = background(door.run, "s")
    until_waiting(room)
    # The door serves other calls meanwhile.
    assert [r.test_name for r in door.test_ruleset("f")] == []
    room.conn.execute(
        "SELECT pg_cancel_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    )
    done = run.result(60)
    assert (done.status.value, done.instance_id) == ("F", 1)
    assert isinstance(done.error, Exception)
    assert room.one("SELECT execution_status_code FROM omd.module_instance WHERE"
                    " module_instance_id = 1") == "F"  # fmt: skip


def test_the_results_of_any_kind_are_recorded(room: Room, door: Decision) -> None:
    room.scene(GOOD)
    case = {"name": "c", "input": {"a": 1}, "expected": {"out": 1}}
    version = door._calls.define_ruleset({"ruleset": "f", "kind": "FUNCTION", "content": "app.f",
                                   "tests": [case]})  # fmt: skip
    passed = [decision.TestResult("c", True, {"out": 1}, {"out": 1}, None)]
    assert door.test_ruleset("f", version) == passed
    assert room.one("SELECT passed FROM omd_report.decision_test_list") is True
    door._calls.define_ruleset(
        {"ruleset": "p", "kind": "PYTHON", "content": "builtins:sorted", "tests": [case]}
    )
    # What a rule answers is compared as JSON, a text too.
    assert [(r.passed, r.actual) for r in door.test_ruleset("p")] == [(False, {"a": 1})]
    door._calls.define_ruleset({"ruleset": "p", "kind": "PYTHON", "content": "json:dumps"})
    [result] = door.test_ruleset("p")
    assert "a list of 1 items" in (result.error or "")


def test_a_function_of_python_is_of_an_allowed_module(
    room: Room, door: Decision, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What is not allowed is not even imported."""
    (tmp_path / "rules_elsewhere.py").write_text(
        f"open({str(tmp_path / 'imported')!r}, 'w')\ndef f(calls): return calls\n"
    )
    (tmp_path / "omd_rules.py").write_text("def f(calls): return calls\n")
    monkeypatch.syspath_prepend(tmp_path)

    def answers(content: str) -> bool:
        case = {"name": "c", "input": {"a": 1}, "expected": {"a": 1}}
        document = {"ruleset": "p", "kind": "PYTHON", "content": content, "tests": [case]}
        door._calls.define_ruleset(document)
        try:
            [result] = door.test_ruleset("p")
        except errors.CallerError as error:
            return "OMD_RULESET_MODULES" not in str(error)
        return result.passed is True

    monkeypatch.delenv("OMD_RULESET_MODULES", raising=False)
    for content in (
        "os:system",
        "subprocess:run",
        "builtins:eval",
        "os.path:join",
        "omd.programs.cli:main",
    ):
        assert not answers(content)
    assert answers("copy:deepcopy")
    assert answers("omd_rules:f")
    for told in ("", "rules", "rules_elsewhere.more,omd_rules", "rules_elsewhere:g"):
        monkeypatch.setenv("OMD_RULESET_MODULES", told)
        assert not answers("rules_elsewhere:f")
        assert not answers("copy:deepcopy")
    assert not (tmp_path / "imported").exists()
    monkeypatch.setenv("OMD_RULESET_MODULES", "x, rules_elsewhere:f ,omd_rules")
    assert answers("rules_elsewhere:f")
    assert answers("omd_rules:f")
    assert (tmp_path / "imported").exists()
