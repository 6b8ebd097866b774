"""Rulesets: kinds, versions, test cases, and when a version is in effect."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from decision.conftest import FUNCTION, together
from support.readable import readable

if TYPE_CHECKING:
    from collections.abc import Callable

    from decision.conftest import Room

NOW = datetime.now(timezone.utc)
MODEL: dict[str, Any] = {
    "nodes": [
        {"id": "1", "type": "inputNode", "name": "in"},
        {"id": "2", "type": "expressionNode", "name": "e", "content": {}},
        {"id": "3", "type": "outputNode", "name": "out"},
    ],
    "edges": [
        {"id": "a", "sourceId": "1", "targetId": "2"},
        {"id": "b", "sourceId": "2", "targetId": "3"},
    ],
}


def problems(room: Room, **ruleset: Any) -> dict[str, str]:
    given = {"ruleset": "r", **ruleset}
    detail = room.refused("OM082", "define_ruleset", ruleset=Jsonb(given))
    return {p["path"]: p["text"] for p in detail["problems"]}


def test_every_problem_of_a_ruleset_is_told_at_once(room: Room) -> None:
    room.conn.execute(
        "CREATE SCHEMA app; CREATE FUNCTION app.v(p jsonb) RETURNS jsonb VOLATILE LANGUAGE sql"
        " AS 'SELECT p'; CREATE FUNCTION app.t(p text) RETURNS jsonb STABLE LANGUAGE sql"
        " AS $$SELECT '{}'::jsonb$$;"
        "CREATE FUNCTION app.s(p jsonb) RETURNS SETOF jsonb STABLE LANGUAGE sql AS 'SELECT p'"
    )
    tests = [{"name": "t", "input": [], "more": 1}, {"name": "t"}, 3]
    assert problems(room, kind="function", content="app.v", tests=tests, typo=1).keys() == {
        "kind",
        "typo",
        "tests.t.input",
        "tests.t.more",
        "tests.t.expected",
        "tests.t.name",
        "tests[2]",
    }
    for content in ("app.v", "app.t", "app.s", "app.nix", "nix", 5, {}):
        assert problems(room, kind="FUNCTION", content=content).keys() == {"content"}
    for content in ("f", "a:b:c", "os.path:", 5):
        assert problems(room, kind="PYTHON", content=content).keys() == {"content"}
    assert problems(room, kind="JDM", content="care").keys() == {"content"}
    cyclic = {**MODEL, "edges": [*MODEL["edges"], {"sourceId": "3", "targetId": "2"}]}
    assert problems(room, kind="JDM", content=cyclic) == {"content.edges": "the nodes form a cycle"}
    code = {"id": "4", "type": "functionNode", "name": "code", "content": "…"}
    odd = {
        "nodes": [*MODEL["nodes"], code, MODEL["nodes"][0]],
        "edges": [{"sourceId": "9", "targetId": "1"}],
    }
    assert problems(room, kind="JDM", content=odd).keys() == {
        "content.nodes",
        "content.nodes[0].id",
        "content.nodes[3].type",
        "content.nodes[4].id",
        "content.edges[0]",
    }
    assert room.ruleset({"ruleset": "r", "kind": "JDM", "content": MODEL}) == 1
    assert problems(room, kind="PYTHON", content="m:f").keys() == {"kind"}
    room.refused("OM081", "activate_ruleset", ruleset_code="r", version=2)
    room.refused("OM081", "deactivate_ruleset", ruleset_code="nix", version=1)


def test_other_content_is_the_next_version(room: Room, another: Callable[..., Room]) -> None:
    room.scene()
    assert room.ruleset(FUNCTION) == 1
    room.function("'[]'")
    assert room.ruleset(FUNCTION) == 2  # the same name, another function
    model = {"ruleset": "m", "kind": "JDM", "content": MODEL}
    assert [room.ruleset(model), room.ruleset(model, activate=False)] == [1, 1]
    sessions = [another(role="omd_admin") for _ in range(3)]
    answers = together(
        *(
            lambda s=s, n=n: s.ruleset({**model, "content": {**MODEL, "n": n}})
            for n, s in enumerate(sessions)
        )
    )
    assert sorted(answers) == [2, 3, 4]
    rows = room.rows("SELECT * FROM omd_report.decision_ruleset_list ORDER BY 2, 4")
    assert [(r["ruleset_code"], r["version"], r["state"]) for r in rows] == [
        ("f", 1, "ACTIVE"),
        ("f", 2, "ACTIVE"),
        *(("m", n, "ACTIVE") for n in (1, 2, 3, 4)),
    ]
    assert len({r["content_hash"] for r in rows}) == 6


def test_a_version_is_active_only_when_it_has_passed_every_case(room: Room) -> None:
    room.scene()
    room.function("CASE WHEN p ? 'x' THEN p ELSE to_jsonb(1 / (p ->> 'z')::integer) END")
    good = {"name": "good", "input": {"x": 1.0}, "expected": {"x": 1}}
    bad = {"name": "bad", "input": {"x": 1}, "expected": {"x": 2}}
    broken = {"name": "broken", "input": {"z": 0}, "expected": {}}
    document = {**FUNCTION, "tests": [good, bad, broken]}
    detail = room.refused("OM180", "define_ruleset", ruleset=Jsonb(document), activate=True)
    assert detail["tests"] == ["bad", "broken"]
    assert room.ruleset(document, activate=False) == 2
    rows = room.rows("SELECT * FROM omd_decision.test_ruleset('f')")
    assert [(r["test_name"], r["passed"], r["actual"], r["error"]) for r in rows] == [
        ("bad", False, {"x": 1}, None),
        ("broken", False, None, "division by zero (22012)"),
        ("good", True, {"x": 1.0}, None),
    ]
    room.refused("OM180", "activate_ruleset", ruleset_code="f", version=2)
    # Absent test cases stay; an empty list removes them.
    assert room.ruleset(FUNCTION, activate=False) == 2
    room.refused("OM180", "activate_ruleset", ruleset_code="f", version=2)
    assert room.ruleset({**FUNCTION, "tests": [good]}) == 2
    room.function("'{}'")
    room.refused("OM287", "activate_ruleset", ruleset_code="f", version=2)


def test_results_of_other_kinds_are_recorded(room: Room) -> None:
    case = {"name": "c", "input": {}, "expected": {"a": [1]}}
    model = {"ruleset": "m", "kind": "JDM", "content": MODEL, "tests": [case]}
    assert room.ruleset(model, activate=False) == 1
    room.refused("OM180", "activate_ruleset", ruleset_code="m", version=1)

    def record(**given: Any) -> bool:
        answer = room.call(
            "record_test_result", ruleset_code="m", version=1, test_name="c", **given
        )
        return bool(answer["passed"])

    assert not record(actual=Jsonb({"a": [2]}))
    assert not record(error="boom")
    assert not record()
    assert record(actual=Jsonb({"a": [1.0]}))
    room.call("activate_ruleset", ruleset_code="m", version=1)
    row = room.rows("SELECT * FROM omd_report.decision_ruleset_list")[0]
    assert (row["tests"], row["passed"], row["state"]) == (1, 1, "ACTIVE")
    # A case that changes has not been passed.
    room.ruleset({**model, "tests": [{**case, "expected": {}}]}, activate=False)
    room.refused("OM180", "activate_ruleset", ruleset_code="m", version=1)
    room.refused("OM013", "record_test_result", ruleset_code="m", version=1, test_name="nix")
    assert room.rows("SELECT * FROM omd_decision.ruleset_test_result") == []
    with pytest.raises(psycopg.Error) as caught:
        room.rows("SELECT * FROM omd_decision.test_ruleset('m')")
    assert caught.value.sqlstate == "OM288"


def test_a_run_takes_the_version_that_is_in_effect(room: Room) -> None:
    room.scene("jsonb_build_object('out', jsonb_build_object('n', 1))")
    room.fill("a", (1, 1))
    for number in (2, 3, 4):
        room.function(f"jsonb_build_object('out', jsonb_build_object('n', {number}))")
        assert room.ruleset(FUNCTION, activate=False) == number

    def taken(at: datetime | None = None) -> int:
        run = room.run(effective_at=at)
        return int(
            room.one(
                "SELECT ruleset_version FROM omd_decision.run WHERE module_instance_id = %s",
                run["module_instance_id"],
            )
        )

    # The function is that of version 4, so only this one runs.
    day = timedelta(days=1)
    room.refused("OM287", "run_stage", stage_code="s")
    room.call("activate_ruleset", ruleset_code="f", version=4, effective_from=NOW - 3 * day)
    room.refused("OM287", "run_stage", stage_code="s")  # version 1 is from now on
    assert taken(NOW - 2 * day) == 4
    room.call("deactivate_ruleset", ruleset_code="f", version=1)
    room.call("deactivate_ruleset", ruleset_code="f", version=1)
    assert taken() == 4
    room.call(
        "activate_ruleset",
        ruleset_code="f",
        version=4,
        effective_from=NOW - 3 * day,
        effective_to=NOW - day,
    )
    assert taken(NOW - 2 * day) == 4
    room.refused("OM286", "run_stage", stage_code="s", effective_at=NOW - day)
    room.refused("OM286", "run_stage", stage_code="s", effective_at=NOW - 4 * day)
    room.refused(
        "OM013",
        "activate_ruleset",
        ruleset_code="f",
        version=4,
        effective_from=NOW,
        effective_to=NOW,
    )
    before = room.one("SELECT count(*) FROM omd.module_instance")
    room.refused("OM286", "run_stage", stage_code="s")
    assert room.one("SELECT count(*) FROM omd.module_instance") == before


def test_a_model_does_not_run_in_the_database(room: Room) -> None:
    document = room.scene()
    room.ruleset({"ruleset": "m", "kind": "JDM", "content": MODEL})
    room.define({**document, "ruleset": "m"})
    room.refused("OM288", "run_stage", stage_code="s")
    begun = room.call("begin_stage", stage_code="s")
    assert begun["ruleset"]["content"] == MODEL
    assert (begun["ruleset"]["kind"], begun["ruleset"]["version"]) == ("JDM", 1)


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        ("no person Jane Roe\nat all (P0001)", "error P0001"),
        ("KeyError: 'Jane Roe'", "error KeyError"),
        ("Jane Roe", "error without a code"),
    ],
)
def test_who_reads_no_rows_sees_what_kind_of_error_a_case_met(
    room: Room, another: Callable[..., Room], error: str, shown: str
) -> None:
    case = {"name": "c", "input": {}, "expected": {}}
    room.ruleset({"ruleset": "m", "kind": "JDM", "content": MODEL, "tests": [case]}, activate=False)
    room.call("record_test_result", ruleset_code="m", version=1, test_name="c", error=error)
    query = "SELECT error FROM omd_report.decision_test_list"
    for role in ("omd_reader", "omd_admin"):
        reader = another(role=role)
        assert reader.one(query) == shown
        assert "Jane" not in readable(reader, role)
    assert another(role="omd_runner").one(query) == error
