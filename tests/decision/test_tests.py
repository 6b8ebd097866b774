"""``omd test``: a version of a ruleset, or the file of one, against its test cases."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from decision.conftest import Room

CASE = {"name": "late", "input": {"a": []}, "expected": {"out": {"k": 1}}}
RULESET = {"ruleset": "care", "kind": "FUNCTION", "content": "app.care", "tests": [CASE]}


@pytest.fixture
def command(omd_here: Callable[..., Any], dsn: str, room: Room) -> Callable[..., Any]:
    """A function that runs omd test."""
    room.scene()
    room.function("jsonb_build_object('out', jsonb_build_object('k', 1))", "app.care")
    return lambda *arguments: omd_here("test", *map(str, arguments), dsn=dsn)


def test_a_file_is_tested_before_it_is_applied(
    command: Callable[..., Any], room: Room, tmp_path: Path
) -> None:
    path = tmp_path / "care.json"
    path.write_text(json.dumps(RULESET))
    done = command("care", path)
    assert (done.returncode, "Test cases: 1; failed: 0." in done.stderr) == (0, True), done.stderr
    wrong = {**RULESET, "tests": [CASE, {**CASE, "name": "early", "expected": {"out": {"k": 2}}}]}
    path.write_text(json.dumps(wrong))
    done = command("care", path, "--output", "json")
    assert done.returncode == 1
    assert {row["test_name"]: row["passed"] for row in json.loads(done.stdout)} == {
        "early": False, "late": True
    }  # fmt: skip
    assert room.rows("SELECT FROM omd_decision.ruleset WHERE ruleset_code = 'care'") == []
    other = command("nix", path)
    assert (other.returncode, "no document of ruleset nix" in other.stderr) == (2, True)
    neither = command("care", tmp_path / "none")
    assert (neither.returncode, "neither a version nor a file" in neither.stderr) == (2, True)


def test_a_model_in_a_file_is_tested_too(
    command: Callable[..., Any], room: Room, tmp_path: Path
) -> None:
    """A ruleset that Python calls needs the transaction that its definition is in."""
    pytest.importorskip("zen")
    model = {
        "nodes": [
            {"id": "1", "type": "inputNode", "name": "in"},
            {"id": "2", "type": "outputNode", "name": "out"},
        ],
        "edges": [{"id": "a", "sourceId": "1", "targetId": "2"}],
    }
    case = {"name": "same", "input": {"a": [1]}, "expected": {"a": [1]}}
    path = tmp_path / "m.json"
    path.write_text(json.dumps({"ruleset": "m", "kind": "JDM", "content": model, "tests": [case]}))
    done = command("m", path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert room.rows("SELECT FROM omd_decision.ruleset WHERE ruleset_code = 'm'") == []


def test_a_version_that_is_not_there_is_refused(command: Callable[..., Any], room: Room) -> None:
    room.ruleset(RULESET, activate=False)
    assert command("care", 1).returncode == 0
    assert "SQLSTATE: OM081" in command("care", 9).stderr
    assert 'there is no ruleset "nix"' in command("nix").stderr
