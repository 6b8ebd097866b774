"""omd.explain_begin returns what a begin would return and by which rule, and changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql

from support.flow import PASSED, checked

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.flow import Flow

    Another = Callable[..., Flow]


@pytest.fixture(autouse=True)
def scene(flow: Flow) -> None:
    flow.batch("b", "m")


def explain(flow: Flow, **arguments: Any) -> dict[str, Any]:
    query = sql.SQL("SELECT * FROM omd.explain_begin({})").format(
        sql.SQL(", ").join(
            sql.SQL("{} => {}").format(sql.Identifier(f"p_{name}"), sql.Literal(value))
            for name, value in arguments.items()
        )
    )
    row = flow.conn.execute(query).fetchone()
    assert row is not None
    return row


def state(flow: Flow) -> Any:
    """Return everything that a begin could change, the ids included."""
    tables = ["batch_instance", "module_instance", "event_log", "source_control", "batch", "module"]
    rows = [
        flow.rows(f"SELECT to_jsonb(t)::text AS row FROM omd.{table} AS t ORDER BY 1")
        for table in tables
    ]
    ids = flow.rows(
        "SELECT * FROM pg_sequences WHERE sequencename ~ '_instance_id_seq$' ORDER BY sequencename"
    )
    return rows, ids


def same(flow: Flow, **arguments: Any) -> dict[str, Any]:
    """Return the explanation, after a comparison with what a begin then returns."""
    before = state(flow)
    told = explain(flow, **arguments)
    assert state(flow) == before
    if "batch_code" in arguments:
        begun = flow.begin_batch(
            arguments["batch_code"], parent_batch_instance_id=arguments.get("batch_instance_id")
        )
        assert told["instance_array"] is None
    else:
        begun = flow.begin_module(arguments["module_code"], arguments.get("batch_instance_id", 0))
        assert told["instance_array"] == begun.array
    assert (told["processing_indicator"], told["reason"]) == begun.answer
    assert told["rule"].endswith(".")
    return told


def test_a_module_that_may_run(flow: Flow) -> None:
    told = same(flow, module_code="m")
    assert (told["rule"], told["details"]) == ("Proceed: the instance may run.", {})


def test_a_module_in_a_batch_that_proceeds(flow: Flow) -> None:
    assert same(flow, module_code="m", batch_instance_id=flow.begin_batch().id)["reason"] is None


def test_who_runs_and_since_when(flow: Flow) -> None:
    id = flow.begin_module(lease="5 minutes", execution_context={"host": "h", "pid": 7}).id
    details = same(flow, module_code="m")["details"]
    assert details["module_instance_id"] == id
    assert details["execution_context"] == {"host": "h", "pid": 7}
    assert details["started_by"] == flow.one("SELECT session_user")
    assert details["start_datetime"] < details["lease_expires_at"]
    batch = flow.begin_batch().id
    assert same(flow, batch_code="b")["details"]["batch_instance_id"] == batch


def test_the_frequency_and_until_when_it_holds(flow: Flow) -> None:
    flow.batch("b", frequency_code="Daily")
    batch = flow.run_batch("b", m="S").id
    told = same(flow, batch_code="b")
    assert told["reason"] == "FREQUENCY"
    assert told["details"]["batch_instance_id"] == batch
    assert told["details"]["holds_until"] > told["details"]["start_datetime"]


@pytest.mark.parametrize("kind", ["batch", "module"])
def test_a_directive_is_not_used_up(flow: Flow, kind: str) -> None:
    run = flow.run_batch("b", m="S")
    id = run.id if kind == "batch" else run["m"].id
    flow.set_next("C", **{kind: id})
    code = {"batch_code": "b"} if kind == "batch" else {"module_code": "m"}
    for _ in range(2):
        assert explain(flow, **code)["reason"] == "DIRECTIVE"
    assert same(flow, **code)["details"] == {f"{kind}_instance_ids": [id]}
    assert same(flow, **code)["processing_indicator"] == "P"


def test_a_partial_restart_and_what_has_succeeded_in_it(flow: Flow) -> None:
    flow.batch("b", "m", "n")
    done = flow.run_batch("b", m="S", n="F")["m"].id
    assert same(flow, batch_code="b")["processing_indicator"] == "P"
    batch = flow.one("SELECT max(batch_instance_id) FROM omd.batch_instance")
    told = same(flow, module_code="m", batch_instance_id=batch)
    assert (told["reason"], told["details"]) == (
        "ALREADY_SUCCEEDED",
        {"module_instance_ids": [done]},
    )


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        ("UPDATE omd.module SET inactive_indicator = 'Y'", "INACTIVE"),
        ("UPDATE omd.batch_module SET inactive_indicator = 'Y'", "INACTIVE_IN_BATCH"),
        ("DELETE FROM omd.batch_module", "NOT_REGISTERED"),
    ],
)
def test_a_module_that_has_no_place(flow: Flow, edit: str, reason: str) -> None:
    batch = flow.begin_batch().id
    flow.owner(edit)
    assert same(flow, module_code="m", batch_instance_id=batch)["reason"] == reason


def test_a_batch_that_has_ended_lets_nothing_in(flow: Flow) -> None:
    batch = flow.run_batch("b", m="S").id
    told = same(flow, module_code="m", batch_instance_id=batch)
    assert told["reason"] == "BATCH_NOT_PROCEEDING"
    assert told["details"]["execution_status_code"] == "S"


def test_a_rollback_is_told_and_not_done(flow: Flow) -> None:
    failed = flow.begin_module().id
    flow.write(failed)
    flow.end_module(failed, "F")
    told = explain(flow, module_code="m")
    assert flow.stamps() == {failed: 2}
    assert told["rule"].startswith("Rollback: ")
    assert same(flow, module_code="m")["instance_array"] == [failed]
    assert flow.stamps() == {}


def test_a_rollback_elsewhere_is_answered_r(flow: Flow) -> None:
    flow.module("s", platform_code="SPARK")
    flow.run_module("s", "F")
    assert same(flow, module_code="s")["processing_indicator"] == "R"


def test_a_rollback_that_can_not_be_built_is_told(flow: Flow) -> None:
    flow.run_module("m", "F")
    flow.owner("UPDATE omd.module SET area_code = 'PRES'")
    told = explain(flow, module_code="m")
    assert (told["processing_indicator"], told["reason"]) == (None, None)
    assert told["rule"].startswith("A begin would fail with OM201: ")
    assert told["details"]["module_code"] == "m"
    with pytest.raises(psycopg.Error, match="no template"):
        flow.begin_module()


@pytest.mark.parametrize("code", [{"module_code": "m"}, {"batch_code": "b"}])
def test_a_dead_run_is_told_and_lives_on(flow: Flow, code: dict[str, str]) -> None:
    kind = "module" if "module_code" in code else "batch"
    dead = (flow.begin_module if kind == "module" else flow.begin_batch)(lease=PASSED).id
    told = same(flow, **code)
    assert told["processing_indicator"] == "P"
    assert told["details"] == {"declared_dead": [dead]}


def test_a_child_under_its_parent(flow: Flow) -> None:
    flow.batch("child")
    flow.call("add_batch_to_parent_batch", batch_code="child", parent_batch_code="b")
    parent = flow.begin_batch().id
    assert same(flow, batch_code="child", batch_instance_id=parent)["reason"] is None
    flow.end_batch(flow.one("SELECT max(batch_instance_id) FROM omd.batch_instance"), "S")
    flow.owner("UPDATE omd.batch_hierarchy SET inactive_indicator = 'Y'")
    assert same(flow, batch_code="child", batch_instance_id=parent)["reason"] == "INACTIVE"


@pytest.mark.parametrize("code", [{"module_code": "m"}, {"batch_code": "b"}])
def test_it_does_not_wait_for_another_begin(
    flow: Flow, another: Another, code: dict[str, str]
) -> None:
    other = another()
    with other.conn.transaction():
        if "module_code" in code:
            other.begin_module()
        else:
            other.begin_batch()
        told = explain(flow, **code)
        assert (told["processing_indicator"], told["reason"], told["details"]) == (None, None, {})
        assert "A begin would wait" in told["rule"]
    assert explain(flow, **code)["reason"] == "RUNNING"
    assert flow.one("SHOW lock_timeout") == "0"


def test_a_reader_may_ask_and_nobody_is_told_or_held_up(flow: Flow, another: Another) -> None:
    flow.conn.execute("LISTEN omd_event")
    reader = another(role="omd_reader")
    with reader.conn.transaction():
        assert explain(reader, module_code="m")["processing_indicator"] == "P"
        assert explain(reader, batch_code="b")["processing_indicator"] == "P"
        # The locks are released already.
        flow.conn.execute("SET lock_timeout = '5s'")
        assert flow.begin_module().pi == "P"
        assert explain(reader, module_code="m")["reason"] == "RUNNING"
    heard = [n.payload for n in flow.conn.notifies(timeout=0)]
    assert len(heard) == 1


@pytest.mark.parametrize(
    ("arguments", "sqlstate"),
    [
        ({}, "OM005"),
        ({"module_code": "m", "batch_code": "b"}, "OM013"),
        ({"module_code": "nope"}, "OM002"),
        ({"batch_code": "nope"}, "OM001"),
        ({"batch_code": "b", "batch_instance_id": 999}, "OM003"),
        ({"module_code": "m", "batch_instance_id": -1}, "OM003"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(
    flow: Flow, arguments: dict[str, Any], sqlstate: str
) -> None:
    with pytest.raises(psycopg.Error) as caught:
        explain(flow, **arguments)
    checked(caught.value, sqlstate)
