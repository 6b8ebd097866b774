"""The text that is shown is the text that is sent: one call, whatever the names and the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.flow import Flow

    Connection = psycopg.Connection[dict[str, Any]]

HOSTILE = [
    "b'; DROP SCHEMA omd CASCADE; --",
    "b\\'); SELECT 1; --",
    'b"$$b$$',
    "b; COMMIT; /*",
    "%s %(x)s {x} :x",
    "\u202egnp.b\u200b\u2066",
    "b\u2028COMMIT;\u0085\x0b",
    "b\nCOMMIT;\nb",
    "b/\u00e9/\U0001f525",
    "b" * 10_000,
]


def statement(conn: Connection, code: str, key: Any, /, reason: Any = None, **given: Any) -> str:
    arguments = Jsonb({f"p_{name}": value for name, value in given.items()})
    row = conn.execute(
        "SELECT omd_web.statement(%s, %s, %s, %s) AS s", [code, str(key), arguments, reason]
    ).fetchone()
    assert row
    return str(row["s"])


def test_a_call_has_the_types_of_the_signature(flow: Flow) -> None:
    flow.batch("b")
    flow.module("m")
    conn = flow.conn
    run = flow.begin_batch("b").id
    assert statement(conn, "BATCH_END", run) == (
        f"CALL omd.end_batch_instance(p_batch_instance_id => '{run}'::bigint);"
    )
    assert statement(conn, "BATCH_RUN", "b", priority=1, execution_time=None) == (
        "BEGIN;\n"
        "SET LOCAL omd.reason = 'by hand';\n"
        "CALL omd_dispatch.create_task(p_family_code => 'RUN'::text, p_task_type => 'BATCH'::text,"
        " p_criteria => '{\"CODE\": \"b\"}'::jsonb, p_priority => '1'::integer);\n"
        "COMMIT;"
    )
    assert statement(conn, "SUSPEND", "RUN/BATCH", "x", criteria={"CODE": ["a"]}).split("\n")[
        2
    ] == (
        "CALL omd_dispatch.suspend(p_family_code => 'RUN'::text,"
        " p_task_types => '{BATCH}'::text[], p_criteria => '{\"CODE\": [\"a\"]}'::jsonb);"
    )
    assert statement(conn, "BATCH_END", run, "  ") == statement(conn, "BATCH_END", run)


def test_an_array_is_given_as_a_list_or_as_its_text(flow: Flow) -> None:
    flow.owner(
        "INSERT INTO omd_provenance.recall (target, reason, planned_by) VALUES ('{}', 'x', 'x')"
    )
    recall = flow.one("SELECT recall_id FROM omd_provenance.recall")
    texts = {
        statement(flow.conn, "RECALL", recall, accept=accept)
        for accept in (["BY_HAND", "GROWTH"], "{BY_HAND,GROWTH}")
    }
    call = f"CALL omd_provenance.recall(p_recall_id => '{recall}'::bigint,"
    assert texts == {f"{call} p_accept => '{{BY_HAND,GROWTH}}'::text[]);"}


def test_where_the_procedure_commits_no_transaction_is_around_it(flow: Flow) -> None:
    flow.call(
        "omd_dispatch.register_schedule",
        schedule_code="s",
        family_code="RUN",
        task_type="BATCH",
        criteria={"CODE": "x"},
        every="1 day",
    )
    call = "CALL omd_dispatch.fire_schedule(p_schedule_code => 's'::text);"
    assert statement(flow.conn, "FIRE_SCHEDULE", "s", "why").split("\n") == [
        "SET omd.reason = 'why';",
        call,
        "RESET omd.reason;",
    ]
    commits = {
        row["routine"]: row["commits"]
        for row in flow.rows(
            "SELECT DISTINCT a.routine, omd_web._commits(a.routine) AS commits"
            " FROM omd_web.action AS a"
        )
    }
    # By the words of the procedures, and of those that they call for it.
    assert {routine for routine, does in commits.items() if does} == {
        row["routine"]
        for row in flow.rows(
            "SELECT DISTINCT a.routine FROM omd_web.action AS a, pg_proc AS p"
            " WHERE p.oid = a.routine::regproc AND (p.prosrc ~ '\\mCOMMIT;' OR EXISTS ("
            "SELECT FROM pg_proc AS c WHERE c.prokind = 'p' AND c.prosrc ~ '\\mCOMMIT;'"
            " AND position('CALL ' || c.pronamespace::regnamespace || '.' || c.proname || '('"
            " IN p.prosrc) > 0))"
        )
    }


@pytest.mark.parametrize("name", HOSTILE)
def test_names_and_reasons_are_only_texts(
    name: str, flow: Flow, connect: Callable[..., Connection]
) -> None:
    # Not by register_batch, which refuses some of them: others may have written them.
    flow.conn.execute(
        "INSERT INTO omd.batch (batch_code, frequency_code) VALUES (%s, 'Adhoc')", [name]
    )
    conn = connect(role="omd_admin")
    text = statement(
        conn, "BATCH_SET_PARAMETER", name, name, parameter_code="p", parameter_value=name
    )
    lines = text.splitlines()
    assert [line.split()[0] for line in lines] == ["BEGIN;", "SET", "CALL", "COMMIT;"]
    # An editor that shows the text shows all of it, in its order.
    assert all(c.isprintable() for line in lines for c in line)
    conn.execute(text.encode())
    assert flow.rows(
        "SELECT b.batch_code, p.parameter_value FROM omd.batch AS b"
        " INNER JOIN omd.batch_parameter AS p USING (batch_id)"
    ) == [{"batch_code": name, "parameter_value": name}]
    reasons = flow.rows(
        "SELECT DISTINCT reason FROM omd_report.event_log WHERE event_type_code = 4"
        " AND event_return_code_details LIKE 'INSERT %%parameter'"
    )
    assert reasons == [{"reason": name}]
    [offered] = [
        row
        for row in flow.rows("SELECT * FROM omd_web.actions('BATCH', %s)", name)
        if row["action_code"] == "BATCH_SET_PARAMETER"
    ]
    assert offered["statement"].startswith("CALL omd.set_parameter(p_parameter_code => :p_param")
    assert len(offered["statement"].splitlines()) == 1


def test_only_what_is_asked_can_be_given(flow: Flow) -> None:
    flow.batch("b")
    for given in ({"batch_code": "c"}, {"next_run_indicator": "R"}, {"x'": 1}):
        with pytest.raises(psycopg.Error) as caught:
            statement(flow.conn, "BATCH_RUN", "b", **given)
        assert caught.value.sqlstate == "OM013"
    with pytest.raises(psycopg.Error) as caught:
        statement(flow.conn, "BATCH_SET_PARAMETER", "b", parameter_code="p")
    assert (caught.value.sqlstate, caught.value.diag.message_detail) == (
        "OM005",
        '{"argument": "p_parameter_value"}',
    )
    for wrong in ("[]", "null", "1"):
        query = "SELECT omd_web.statement('BATCH_RUN', 'b', %s::jsonb)"
        with pytest.raises(psycopg.Error) as caught:
            flow.rows(query, wrong)
        assert caught.value.sqlstate == "OM013"
    assert flow.one("SELECT omd_web.statement('BATCH_RUN', 'b', NULL) LIKE 'BEGIN;%%'")


def test_what_is_unknown_is_said(flow: Flow) -> None:
    flow.batch("b")
    calls = {
        "SELECT omd_web.statement('NONE', 'b')": "OM098",
        "SELECT omd_web.statement('BATCH_RUN', 'x')": "OM098",
        "SELECT omd_web.statement('BATCH_END', '1; SELECT 1')": "OM098",
        "SELECT omd_web.statement('BATCH_END', '-1')": "OM098",
        "SELECT omd_web.statement('REVIVE_TASK', '1')": "OM098",
        "SELECT omd_web.statement(NULL, 'b')": "OM005",
        "SELECT omd_web.statement('BATCH_RUN', NULL)": "OM005",
        "SELECT * FROM omd_web.actions('NONE', 'b')": "OM098",
        "SELECT * FROM omd_web.actions('BATCH', 'x')": "OM098",
        "SELECT * FROM omd_web.actions('TASK_TYPE', 'RUN')": "OM098",
        "SELECT * FROM omd_web.actions(NULL, 'b')": "OM005",
        "SELECT * FROM omd_web.actions('BATCH', NULL)": "OM005",
    }
    for call, sqlstate in calls.items():
        with pytest.raises(psycopg.Error) as caught:
            flow.rows(call)
        assert caught.value.sqlstate == sqlstate, call
        assert caught.value.diag.message_hint


def test_psql_says_why_too(flow: Flow) -> None:
    """And programs that say nothing leave no event of what they do all day."""
    flow.module("m")
    run = flow.run_module("m")
    flow.conn.execute("SET omd.reason = 'ticket 4711'")
    flow.set_next("R", module=run)
    flow.conn.execute("RESET omd.reason")
    flow.set_next("P", module=run)
    flow.conn.execute("SET omd.reason = ''")
    flow.set_next("C", module=run)
    events = flow.rows(
        "SELECT event_return_code_details AS change, reason FROM omd.event_log"
        " WHERE module_instance_id = %s ORDER BY event_id",
        run,
    )
    assert [tuple(event.values()) for event in events] == [
        ("P -> R", "ticket 4711"),
        ("R -> P", None),
        ("P -> C", None),
    ]
    count = "SELECT count(*) FROM omd.event_log"
    before = flow.one(count)
    for reason in (None, "by hand"):
        if reason:
            flow.conn.execute("SET omd.reason = 'by hand'")
        task = flow.call(
            "omd_dispatch.create_task", family_code="RUN", task_type="BATCH", criteria={"CODE": "b"}
        )["task_id"]
        flow.call("omd_dispatch.reschedule_task", task_id=task, priority=1)
        flow.call("omd_dispatch.cancel_task", task_id=task)
        assert flow.one(count) == before + (3 if reason else 0)
