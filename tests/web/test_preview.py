"""A preview performs the call and leaves nothing of it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from support.flow import Flow

    Connection = psycopg.Connection[dict[str, Any]]


def preview(conn: Connection, code: str, key: Any, /, **arguments: Any) -> dict[str, Any]:
    row = conn.execute(
        "SELECT * FROM omd_web.preview(%s, %s, %s)",
        [code, str(key), Jsonb({f"p_{name}": value for name, value in arguments.items()})],
    ).fetchone()
    assert row
    return row


def preview_late(conn: Connection, seconds: float) -> tuple[str, str | None]:
    """Let a preview be executed so long after the server has read its text, as under load."""
    pg = conn.pgconn
    pg.enter_pipeline_mode()
    pg.send_prepare(
        b"", b"SELECT outcome, sqlstate_code FROM omd_web.preview('BATCH_DEACTIVATE', 'b')"
    )
    pg.send_flush_request()
    read = pg.get_result()
    assert read
    assert read.status == psycopg.pq.ExecStatus.COMMAND_OK
    assert pg.get_result() is None
    time.sleep(seconds)
    pg.send_query_prepared(b"", [])
    pg.pipeline_sync()
    answer, end, sync = pg.get_result(), pg.get_result(), pg.get_result()
    assert answer
    assert end is None
    assert sync
    pg.exit_pipeline_mode()
    assert answer.status == psycopg.pq.ExecStatus.TUPLES_OK, answer.get_error_message()
    return str(answer.get_value(0, 0), "ascii"), str(answer.get_value(0, 1) or b"", "ascii")


def outcome(answer: dict[str, Any]) -> tuple[str, str | None]:
    return answer["outcome"], answer["sqlstate_code"]


def held(conn: Connection) -> list[dict[str, Any]]:
    """Return the locks that another session could wait for, but those of sequences and readers."""
    return conn.execute(
        "SELECT l.locktype, l.relation::regclass, l.mode FROM pg_locks AS l"
        " LEFT JOIN pg_class AS c ON l.relation = c.oid"
        " WHERE l.pid = pg_backend_pid() AND l.mode <> 'AccessShareLock'"
        " AND l.locktype NOT IN ('virtualxid', 'transactionid') AND c.relkind IS DISTINCT FROM 'S'"
    ).fetchall()


def test_it_shows_the_row_before_and_after(flow: Flow) -> None:
    flow.module("m")
    run = flow.begin_module("m").id
    flow.write(run, rows=5)  # what the run has reported counts, and not the table
    flow.call("omd.module_success", module_instance_id=run, rows_inserted=3)
    answer = preview(flow.conn, "ROLL_BACK_NEXT", run)
    assert outcome(answer) == ("DONE", None)
    assert answer["before"]["next_run_indicator"] == "P"
    assert answer["after"]["next_run_indicator"] == "R"
    [undone] = answer["answer"]
    assert undone == {
        "module_instance_id": run, "module_code": "m", "table_code": "dwh.m", "rows_inserted": 3,
        "rows_updated": 0, "rows_deleted": 0,
        "counts_now": f"SELECT * FROM omd.preview_rollback({run})",
    }  # fmt: skip
    assert flow.codes(module=run)[-1] == "P"
    answer = preview(flow.conn, "END", run, event_detail="x")
    assert outcome(answer) == ("REFUSED", "OM101")
    assert (answer["answer"], answer["after"]) == (None, None)
    assert "it has ended with status S" in answer["message"]
    assert answer["hint"].startswith("Start a new run")


def test_a_plan_that_fails_is_no_refusal(flow: Flow, connect: Callable[..., Connection]) -> None:
    flow.module("m")
    run = flow.run_module("m")
    # It is what the ledger knows, so it needs no right to the table.
    flow.conn.execute("REVOKE ALL ON dwh.m FROM PUBLIC, omd_admin")
    admin = connect(role="omd_admin")
    assert outcome(preview(admin, "ROLL_BACK_NEXT", run)) == ("DONE", None)
    with flow.conn.transaction(force_rollback=True):
        flow.conn.execute(
            "UPDATE omd_web.action SET plan_query = 'SELECT 1 / 0' WHERE plan_query IS NOT NULL"
        )
        answer = preview(flow.conn, "ROLL_BACK_NEXT", run)
    assert outcome(answer) == ("UNKNOWN", "22012")
    assert "division by zero" in answer["message"]


def test_nothing_of_it_stays(flow: Flow, connect: Callable[..., Connection]) -> None:
    """No row, event, notification, lock or setting; in a transaction too."""
    flow.batch("b")
    listener = connect()
    for channel in ("omd_event", "omd_dispatch", "omd_lineage"):
        listener.execute(f"LISTEN {channel}".encode())
    conn = connect(role="omd_admin")
    events = flow.one("SELECT count(*) FROM omd.event_log")
    with conn.transaction():
        for code in ("BATCH_RUN", "BATCH_DEACTIVATE"):
            assert outcome(preview(conn, code, "b")) == ("DONE", None)
        assert held(conn) == []
        for setting in ("lock_timeout", "omd.reason"):
            assert conn.execute(
                "SELECT coalesce(current_setting(%s, TRUE), '') AS v", [setting]
            ).fetchone() in ({"v": ""}, {"v": "0"})
    assert flow.rows("SELECT task_id FROM omd_dispatch.task_data_run") == []
    assert flow.one("SELECT count(*) FROM omd.event_log") == events
    assert flow.one("SELECT inactive_indicator FROM omd.batch WHERE batch_code = 'b'") == "N"
    # Its own notification comes after whatever the previews have sent.
    conn.execute("NOTIFY omd_event, 'last'")
    [notify] = listener.notifies(timeout=10, stop_after=1)
    assert notify.payload == "last"


def test_a_constraint_that_waits_for_the_commit_is_looked_at(flow: Flow) -> None:
    flow.conn.execute(
        """
        CREATE FUNCTION dwh.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE check_violation USING MESSAGE = 'no such value', HINT = 'Take another one.';
        END $$;
        CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON omd.batch_parameter
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION dwh.refuse();
        """
    )
    flow.batch("b")
    answer = preview(flow.conn, "BATCH_SET_PARAMETER", "b", parameter_code="p", parameter_value="v")
    assert outcome(answer) == ("REFUSED", "23514")
    assert (answer["message"], answer["hint"]) == ("no such value", "Take another one.")


def test_who_is_held_up_does_not_know(
    flow: Flow, connect: Callable[..., Connection], background: Callable[..., Future[Any]]
) -> None:
    """A lock that another session keeps is waited for a second; a timeout is an answer too."""
    flow.batch("b")
    holder = connect()
    with holder.transaction():
        holder.execute("SELECT FROM omd.batch WHERE batch_code = 'b' FOR UPDATE")
        answer = preview(connect(role="omd_admin"), "BATCH_DEACTIVATE", "b")
        assert outcome(answer) == ("UNKNOWN", "55P03")

    flow.conn.execute(
        """
        CREATE FUNCTION dwh.wait() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            SET LOCAL lock_timeout = 0;
            PERFORM pg_advisory_xact_lock(39);
            RETURN NEW;
        END $$;
        CREATE TRIGGER wait BEFORE UPDATE ON omd.batch FOR EACH ROW EXECUTE FUNCTION dwh.wait();
        """
    )
    holder.execute("SELECT pg_advisory_lock(39)")
    conn = connect(role="omd_admin")
    conn.execute("SET statement_timeout = '200ms'")
    answer = preview(conn, "BATCH_DEACTIVATE", "b")
    assert outcome(answer) == ("UNKNOWN", "57014")
    assert preview_late(conn, 0.1) == ("UNKNOWN", "57014")
    # Who cancels wants no answer.
    for timeout in ("0", "1h"):
        conn.execute(f"SET statement_timeout = '{timeout}'".encode())
        waits = background(preview, conn, "BATCH_DEACTIVATE", "b")
        pid = conn.info.backend_pid
        while not flow.one(
            "SELECT EXISTS (SELECT FROM pg_locks WHERE pid = %s AND NOT granted)", pid
        ):
            assert not waits.done()
        flow.conn.execute("SELECT pg_cancel_backend(%s)", [pid])
        with pytest.raises(psycopg.errors.QueryCanceled):
            waits.result(10)


def test_what_cannot_be_tried_is_not(flow: Flow) -> None:
    """SQL of users would leave what no rollback takes back, as an advisory lock."""
    flow.conn.execute(
        "CREATE FUNCTION dwh.rule(p jsonb) RETURNS jsonb LANGUAGE sql STABLE AS"
        " $$ SELECT p FROM pg_advisory_lock(4711) $$"
    )
    ruleset = {
        "ruleset": "r",
        "kind": "FUNCTION",
        "content": "dwh.rule",
        "tests": [{"name": "t", "input": {}, "expected": {}}],
    }
    flow.call("omd_decision.define_ruleset", ruleset=Jsonb(ruleset), activate=False)
    locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711"
    flow.conn.execute("SELECT pg_advisory_unlock_all()")
    answer = preview(flow.conn, "ACTIVATE_RULESET", "r", version=1)
    assert outcome(answer) == ("UNKNOWN", None)
    assert "SQL that users have registered" in answer["message"]
    assert flow.one(locks) == 0
    flow.call("omd_decision.activate_ruleset", ruleset_code="r", version=1)
    assert flow.one(locks) == 1  # the test above can fail


def test_it_says_when_nobody_would_run_the_task(flow: Flow) -> None:
    flow.batch("b")
    answer = preview(flow.conn, "BATCH_RUN", "b")
    assert answer["warnings"] == ["no worker of group WORKER lives: omd worker --group WORKER"]
    flow.call("omd_dispatch.register_backend", backend_type="WORKER", backend_id="w")
    assert preview(flow.conn, "BATCH_RUN", "b")["warnings"] == []
    flow.call("omd_dispatch.suspend", family_code="RUN")
    [warning] = preview(flow.conn, "BATCH_RUN", "b")["warnings"]
    assert " holds it: CALL omd_dispatch.resume(" in warning


def test_wrong_arguments_are_refused_as_the_call_would_be(flow: Flow) -> None:
    flow.batch("b")
    assert outcome(preview(flow.conn, "BATCH_RUN", "b", priority="first")) == ("REFUSED", "22P02")
    assert outcome(preview(flow.conn, "BATCH_RUN", "b", priority=10)) == ("REFUSED", "OM013")
    assert outcome(preview(flow.conn, "BATCH_SET_PARAMETER", "b")) == ("REFUSED", "OM005")
    assert outcome(preview(flow.conn, "BATCH_RUN", "b", batch_code="c")) == ("REFUSED", "OM013")
    for code, key, sqlstate in (
        ("NONE", "b", "OM098"),
        ("BATCH_RUN", "none", "OM098"),
        ("END", "b", "OM098"),
        ("END", "99999999999999999999", "OM098"),
        ("REVIVE_TASK", "7", "OM098"),
    ):
        with pytest.raises(psycopg.Error) as caught:
            preview(flow.conn, code, key)
        assert caught.value.sqlstate == sqlstate
    with pytest.raises(psycopg.Error) as caught:
        flow.rows("SELECT omd_web.preview(NULL, 'b')")
    assert caught.value.sqlstate == "OM005"
