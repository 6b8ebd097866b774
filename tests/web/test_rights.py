"""Who may what: the role of the caller decides, and the answer names the role that is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.flow import Flow

    Connection = psycopg.Connection[dict[str, Any]]


def offers(conn: Connection, kind: str, key: Any) -> dict[str, tuple[bool, str | None]]:
    rows = conn.execute("SELECT * FROM omd_web.actions(%s, %s)", [kind, str(key)])
    return {row["action_code"]: (row["is_permitted"], row["why_not"]) for row in rows}


def test_each_role_is_told_what_it_may(flow: Flow, connect: Callable[..., Connection]) -> None:
    flow.module("m")
    run = flow.begin_module("m").id
    admin, runner = "it needs the role omd_admin", "it needs the role omd_runner"
    nothing = (
        "execution_status_code is E, next_run_indicator is P, rolled_back_by_module_instance_id"
    )
    of_reader = {
        "ROLL_BACK_NEXT": (False, admin),
        "SKIP_NEXT": (False, admin),
        "CLEAR_DIRECTIVE": (False, admin),
        "END": (False, admin),
        "ABORT": (False, runner),
        "PLAN_RECALL": (False, admin),
    }
    assert offers(connect(role="omd_reader"), "MODULE_INSTANCE", run) == of_reader
    assert offers(connect(role="omd_runner"), "MODULE_INSTANCE", run) == {
        **of_reader,
        "ABORT": (True, None),
    }
    of_admin = {code: (code != "ABORT", None) for code in of_reader}
    assert offers(connect(role="omd_admin"), "MODULE_INSTANCE", run) == {
        **of_admin,
        "ABORT": (False, runner),
        "CLEAR_DIRECTIVE": (True, f"{nothing} is NULL"),
    }
    assert offers(connect(role="omd_reader"), "MODULE", "m")["RUN"] == (
        False,
        "it needs the role omd_admin or omd_runner",
    )


def test_the_statement_is_for_all_and_the_call_is_not(
    flow: Flow, connect: Callable[..., Connection]
) -> None:
    flow.module("m")
    run = flow.begin_module("m").id
    for role in ("omd_reader", "omd_runner"):
        conn = connect(role=role)
        row = conn.execute(
            "SELECT s, p.* FROM omd_web.statement('END', %s) AS s, omd_web.preview('END', %s) AS p",
            [str(run)] * 2,
        ).fetchone()
        assert row
        assert (row["outcome"], row["sqlstate_code"]) == ("REFUSED", "42501")
        with pytest.raises(psycopg.errors.InsufficientPrivilege) as caught:
            conn.execute(row["s"].encode())
        assert caught.value.diag.message_primary == row["message"]
        # What is not tried is refused alike.
        answer = conn.execute(
            "SELECT * FROM omd_web.preview('PLAN_RECALL', %s, '{\"p_reason\": \"x\"}')", [str(run)]
        ).fetchone()
        assert answer
        assert (answer["outcome"], answer["sqlstate_code"]) == ("REFUSED", "42501")
        with pytest.raises(psycopg.errors.InsufficientPrivilege) as caught:
            conn.execute(
                "CALL omd_provenance.plan_recall(p_module_instance_id => 1, p_reason => 'x')"
            )
        assert answer["message"].replace("omd_provenance.", "") == caught.value.diag.message_primary
    for role in ("omd_reader", "omd_admin"):
        for table in ("action", "object_kind"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connect(role=role).execute(f"DELETE FROM omd_web.{table}".encode())


def test_who_is_no_reader_sees_nothing(connect: Callable[..., Connection]) -> None:
    conn = connect(role="omd_data_reader")  # the right to see values is no right to look
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        conn.execute("SELECT * FROM omd_web.actions('BATCH', 'b')")


def test_every_kind_has_a_row_for_its_key(conn: Connection) -> None:
    """The view and its key are there, and each expression and condition is understood."""
    kinds = conn.execute("SELECT * FROM omd_web.object_kind").fetchall()
    assert len(kinds) == 15
    for kind in kinds:
        assert kind["path"].count("{key}") == 1, kind
        with pytest.raises(psycopg.DatabaseError) as caught:
            conn.execute("SELECT omd_web._evaluate(%s, '0/0')", [kind["object_kind"]])
        assert caught.value.sqlstate == "OM098"
        with pytest.raises(psycopg.DatabaseError) as caught:
            conn.execute("SELECT omd_web._evaluate(%s, '987654321')", [kind["object_kind"]])
        assert caught.value.sqlstate == "OM098"
