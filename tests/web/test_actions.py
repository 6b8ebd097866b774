"""What can be done with each kind of object, in each state, by whom, and that it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from web.world import Keys, build

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    Connection = psycopg.Connection[dict[str, Any]]

pytestmark = pytest.mark.no_user_code("omd_runner undoes rows that a policy may hide from it")

GIVEN = {
    "p_reason": "it was wrong",
    "p_parameter_code": "a parameter",
    "p_parameter_value": "a value",
    "p_max_running": 3,
    "p_from": "2020-01-01 12:00+00",
    "p_to": "2020-01-01 12:03+00",
    "p_version": 1,
    "p_position": 1,
}
# What each action is done to, and what the row of the object shows then; None: it is gone.
DONE: dict[str, tuple[str, dict[str, Any] | None]] = {
    "RUN": ("active", {}),
    "RETRY": ("paused", {}),
    "ACTIVATE": ("inactive", {"inactive_indicator": "N"}),
    "DEACTIVATE": ("active", {"inactive_indicator": "Y"}),
    "SET_PARAMETER": ("active", {}),
    "BATCH_RUN": ("active", {}),
    "BATCH_ACTIVATE": ("inactive", {"inactive_indicator": "N"}),
    "BATCH_DEACTIVATE": ("active", {"inactive_indicator": "Y"}),
    "BATCH_SET_PARAMETER": ("active", {}),
    "ROLL_BACK_NEXT": ("s", {"next_run_indicator": "R"}),
    "SKIP_NEXT": ("c", {"next_run_indicator": "C"}),
    "CLEAR_DIRECTIVE": ("p", {"next_run_indicator": "P"}),
    "END": ("e", {"execution_status_code": "F", "reason_code": None}),
    "ABORT": ("e2", {"execution_status_code": "A"}),
    "PLAN_RECALL": ("sql", {}),
    "BATCH_ROLL_BACK_NEXT": ("s", {"next_run_indicator": "R"}),
    "BATCH_SKIP_NEXT": ("c", {"next_run_indicator": "C"}),
    "BATCH_CLEAR_DIRECTIVE": ("p", {"next_run_indicator": "P"}),
    "BATCH_END": ("e", {"execution_status_code": "F"}),
    "BATCH_ABORT": ("e2", {"execution_status_code": "A"}),
    "BATCH_PLAN_RECALL": ("sql", {}),
    "REVIVE_TASK": ("dead", {"status": "PENDING"}),
    "RESCHEDULE_TASK": ("pending", {"status": "PENDING", "priority": 1}),
    "CANCEL_TASK": ("pending", {"status": "CANCELLED"}),
    "CANCEL_RUNNING_TASK": ("claimed", {"cancel_requested": True}),
    "RESUME": ("held", None),
    "PAUSE_SCHEDULE": ("later", {"inactive_indicator": "Y"}),
    "RESUME_SCHEDULE": ("inactive", {"inactive_indicator": "N"}),
    "FIRE_SCHEDULE": ("due", {"created_count": 1}),
    "REMOVE_SCHEDULE": ("gone", None),
    "SUSPEND": ("registered", {}),
    "SET_LIMIT": ("registered", {"max_running": 3}),
    "RESTATE": ("still", {"restatements": 0}),
    "CANCEL_RESTATE": ("asked", {"restatements": 0}),
    "RELEASE": ("held", {"hostid": None}),
    "REJECT": ("RECEIVED", {"delivery_status": "REJECTED"}),
    "CANCEL_DELIVERY": ("LOADED", {"delivery_status": "CANCELLED"}),
    "REVERT": ("ACCEPTED", {"delivery_status": "REVERTED"}),
    "PLAN_RECALL_DELIVERY": ("loaded", {}),
    "FORGET_ARRIVAL": ("REFUSED", {"arrival_status": "INCOMPLETE"}),
    "UNDO_LOAD": ("loaded", {"queued_items": 1}),
    "RESYNC": ("other", {}),
    "CANCEL_EXPORT": ("RECEIVED", {"delivery_status": "CANCELLED"}),
    "ACTIVATE_RULESET": ("draft", {}),
    "DEACTIVATE_RULESET": ("active", {}),
    "RECALL": ("planned", {"recall_status": "EXECUTED"}),
    "DROP_RETURN": ("executed", {}),
    "UNDO": ("undo", {"last_execution_status_code": "C"}),
}


@pytest.fixture(scope="module")
def world(
    new_database: Callable[[], AbstractContextManager[str]],
) -> Iterator[tuple[str, Keys]]:
    with (
        new_database() as dsn,
        psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as conn,
    ):
        conn.prepare_threshold = None
        yield dsn, build(conn)


@pytest.fixture
def keys(world: tuple[str, Keys]) -> Keys:
    return world[1]


@pytest.fixture
def person(
    world: tuple[str, Keys], connect: Callable[..., Connection]
) -> Callable[..., Connection]:
    """A function that connects to the world, as a role of OMD or as a superuser."""
    return lambda role=None: connect(world[0], role=role)


def asked(keys: Keys, action: dict[str, Any]) -> Jsonb:
    given = {**GIVEN, "p_module_instance_id": keys["LOAD"]["last"]}
    return Jsonb({name: given[name] for name, ask in action["asks"].items() if ask["required"]})


def actions(conn: Connection, kind: str, key: str) -> dict[str, dict[str, Any]]:
    rows = conn.execute("SELECT * FROM omd_web.actions(%s, %s)", [kind, key])
    return {row["action_code"]: row for row in rows}


def statement(conn: Connection, code: str, key: str, *more: Any) -> str:
    marks = ", %s" * len(more)
    row = conn.execute(f"SELECT omd_web.statement(%s, %s{marks})".encode(), [code, key, *more])
    return str(row.fetchone()["statement"])  # type: ignore[index]


def row_of(conn: Connection, kind: str, key: str) -> dict[str, Any] | None:
    try:
        found = conn.execute("SELECT omd_web._evaluate(%s, %s) AS o", [kind, key]).fetchone()
    except psycopg.DatabaseError as error:
        if error.sqlstate != "OM098":
            raise
        return None
    assert found
    row = dict(found["o"]["row"])
    row.pop("duration", None)  # it grows
    return row


def action_text(conn: Connection, keys: Keys, action: dict[str, Any], key: str) -> bytes:
    """Return the call without the transaction of a reason."""
    text = statement(conn, action["action_code"], key, asked(keys, action))
    [call] = [line for line in text.split("\n") if line.startswith("CALL ")]
    return call.encode()


def attempt(conn: Connection, keys: Keys, action: dict[str, Any], kind: str, key: str) -> Any:
    """Make the call and undo it; return the SQLSTATE of its error, and the row after it."""
    with conn.transaction(force_rollback=True):
        try:
            conn.execute(action_text(conn, keys, action, key))
        except psycopg.Error as error:
            return error.sqlstate, None
        return None, row_of(conn, kind, key)


def test_what_is_offered_and_what_is_tried_agree_with_the_call(
    keys: Keys, person: Callable[..., Connection]
) -> None:
    """In each state: what is not offered is refused by a code of OMD, or changes nothing.

    A preview says just what the call says, and the object is as it was before.
    """
    conn = person()
    seen = set()
    states = [
        (kind, state, key)
        for kind, of in keys.items()
        if kind != "LOAD"
        for state, key in of.items()
    ]
    for kind, state, key in states:
        for code, action in actions(conn, kind, key).items():
            seen.add((code, action["is_offered"]))
            before = row_of(conn, kind, key)
            answer = conn.execute(
                "SELECT * FROM omd_web.preview(%s, %s, %s)", [code, key, asked(keys, action)]
            ).fetchone()
            assert answer
            assert row_of(conn, kind, key) == before, (code, state)
            assert (action["why_not"] is None) == action["is_offered"], (code, state)
            if action["is_offered"] and answer["outcome"] == "UNKNOWN":
                continue
            sqlstate, after = attempt(conn, keys, action, kind, key)
            if answer["outcome"] != "UNKNOWN":
                assert answer["sqlstate_code"] == sqlstate, (code, state, answer)
                assert answer["outcome"] == ("DONE" if sqlstate is None else "REFUSED")
                assert (answer["hint"] is None) == (sqlstate is None), (code, state)
            if not action["is_offered"]:
                assert (sqlstate or "OM").startswith("OM"), (code, state, sqlstate)
                assert sqlstate or after == before, (code, state)
    # Each action was offered, and each condition was not met once.
    listed = conn.execute("SELECT action_code, offered_when <> 'TRUE' AS c FROM omd_web.action")
    conditional = {row["action_code"]: row["c"] for row in listed}
    assert {code for code, offered in seen if offered} == conditional.keys()
    assert {code for code, offered in seen if not offered} == {
        code for code, is_conditional in conditional.items() if is_conditional
    }


def test_each_action_is_done_and_leaves_an_event(
    keys: Keys, person: Callable[..., Connection]
) -> None:
    """By omd_admin, or by omd_runner where only that may, with a reason."""
    kinds = {
        row["action_code"]: row["object_kind"]
        for row in person().execute("SELECT action_code, object_kind FROM omd_web.action")
    }
    assert kinds.keys() == DONE.keys()
    people = {role: person(role) for role in ("omd_admin", "omd_runner")}
    for code, (state, expected) in DONE.items():
        kind = kinds[code]
        key = keys[kind][state]
        allowed = [
            role for role, conn in people.items() if actions(conn, kind, key)[code]["is_permitted"]
        ]
        role = allowed[0]
        conn = people[role]
        action = actions(conn, kind, key)[code]
        assert action["is_offered"], code
        given = asked(keys, action)
        if code == "RESCHEDULE_TASK":
            given.obj["p_priority"] = 1
        reason = f"ticket 4711 for {code}"
        text = statement(conn, code, key, given, reason)
        lines = text.split("\n")
        if lines[0] == "BEGIN;":
            assert [line.split()[0] for line in lines] == ["BEGIN;", "SET", "CALL", "COMMIT;"]
            conn.execute(text.encode())
        else:
            assert [line.split()[0] for line in lines] == ["SET", "CALL", "RESET"], code
            for line in lines:
                conn.execute(line.encode())
        events = person().execute(
            "SELECT event_detail FROM omd.event_log WHERE reason = %s AND event_type_code = 4"
            " AND event_detail LIKE %s",
            [reason, f"%postgres as {role}%"],
        )
        assert events.fetchall(), code
        assert conn.execute("SHOW omd.reason").fetchone() == {"omd.reason": ""}, code
        after = row_of(person(), kind, key)
        if expected is None:
            assert after is None, code
        else:
            assert after
            assert {name: after[name] for name in expected} == expected, code
    found = person().execute(
        "SELECT s.status, s.criteria FROM omd_dispatch.task_data_work AS t,"
        " omd_dispatch.explain_task(t.task_id) AS s"
    )
    assert [tuple(row.values()) for row in found] == [
        ("PENDING", {"CODE": "m_active", "KIND": "JOB"})
    ]
