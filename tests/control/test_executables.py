"""An executable leaves no setting and no role behind, and the rows that it wrote are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.flow import Flow

SETTINGS = "SELECT name, setting, source FROM pg_settings WHERE name <> 'application_name'"
COUNTS = "SELECT * FROM omd.module_instance WHERE module_instance_id = %s"


def run(flow: Flow, executable: str) -> dict[str, Any]:
    flow.module(executable=executable)
    row = flow.call("run_module", module_code="m")
    assert row["execution_status_code"] == "S", flow.rows("SELECT * FROM omd.event_log")
    return row


@pytest.mark.parametrize(
    "executable",
    [
        "SET work_mem = '7MB'; SET search_path = dwh, pg_temp; SET DateStyle = 'German'",
        "SET LOCAL work_mem = '7MB'",
        "RESET ALL",
        "SELECT set_config('enable_seqscan', 'off', false)",
        "SELECT dwh.sets()",
        "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
        "SET TIME ZONE 'Asia/Tokyo'",
    ],
)
def test_no_setting_reaches_the_session(
    flow: Flow, another: Callable[..., Flow], executable: str
) -> None:
    flow.conn.execute(
        "CREATE FUNCTION dwh.sets() RETURNS void LANGUAGE sql AS"
        " $$ SELECT set_config('work_mem', '9MB', false) $$"
    )
    session = another()
    session.conn.execute("DO 'BEGIN END'; SET enable_sort = off")  # loads the language
    before = session.rows(SETTINGS)
    run(session, executable)
    assert session.rows(SETTINGS) == before


def test_no_setting_of_the_users_own_reaches_the_session(another: Callable[..., Flow]) -> None:
    session = another()
    session.conn.execute("SET my.kept = 'before'")
    run(session, "SET my.kept = 'after'; SELECT set_config('my.new', 'x', false)")
    kept = "SELECT current_setting('my.kept') || current_setting('my.new') AS v"
    assert session.one(kept) == "before"


@pytest.fixture
def other(flow: Flow) -> Iterator[str]:
    flow.conn.execute("CREATE ROLE other")
    yield "other"
    flow.conn.execute("DROP ROLE other")


@pytest.mark.parametrize("what", ["ROLE", "SESSION AUTHORIZATION"])
@pytest.mark.parametrize("before", ["none", "omd_runner"])
def test_no_role_reaches_the_session(
    another: Callable[..., Flow], other: str, what: str, before: str
) -> None:
    session = another()
    session.module(executable=f"SET {what} {other}")
    session.conn.execute(f"SET ROLE {before}".encode())
    who = session.rows("SELECT session_user, current_user, current_setting('role') AS role")
    assert session.call("run_module", module_code="m")["execution_status_code"] == "S"
    assert session.rows("SELECT session_user, current_user, current_setting('role') AS role") == who
    session.conn.close()


def test_the_next_module_of_a_batch_sees_none_of_it(another: Callable[..., Flow]) -> None:
    session = another()
    session.batch("b", "m", "n")
    session.module("m", executable="SET work_mem = '7MB'; SET my.own = 'x'")
    session.module(
        "n",
        executable="INSERT INTO dwh.n (v) VALUES"
        " (current_setting('work_mem') || coalesce(current_setting('my.own', true), ''))",
    )
    work_mem = session.one("SHOW work_mem")
    assert session.call("run_batch", batch_code="b")["execution_status_code"] == "S"
    assert session.one("SELECT v FROM dwh.n") == work_mem


def test_no_module_of_a_batch_tells_the_next_one_what_was_set(another: Callable[..., Flow]) -> None:
    """The settings are listed once in a statement, and no executable may change that list."""
    session = another()
    session.batch("b", "k", "m", "n")
    session.module("k", executable="SELECT 1")
    session.module(
        "m",
        executable="SELECT set_config('omd.session_settings',"
        " replace(current_setting('omd.session_settings'), '5MB', '7MB'), FALSE);"
        " SET work_mem = '7MB'",
    )
    session.module("n", executable="INSERT INTO dwh.n (v) VALUES (current_setting('work_mem'))")
    session.conn.execute("SET work_mem = '5MB'")
    assert session.call("run_batch", batch_code="b")["execution_status_code"] == "S"
    assert session.one("SELECT v FROM dwh.n") == "5MB"
    assert session.one("SHOW work_mem") == "5MB"


def test_what_a_block_sets_between_two_runs_stays(another: Callable[..., Flow]) -> None:
    session = another()
    session.module("m", executable="INSERT INTO dwh.m (v) VALUES (current_setting('work_mem'))")
    session.conn.execute("SET work_mem = '5MB'")
    session.conn.execute(
        "DO $$ DECLARE i bigint; s text; d text; BEGIN"
        " CALL omd.run_module('m', NULL, NULL, i, s, NULL, NULL, d);"
        " PERFORM set_config('work_mem', '6MB', FALSE);"
        " CALL omd.run_module('m', NULL, NULL, i, s, NULL, NULL, d); END $$"
    )
    assert [row["v"] for row in session.rows("SELECT v FROM dwh.m")] == ["5MB", "6MB"]
    assert session.one("SHOW work_mem") == "6MB"


def test_a_failure_leaves_no_setting_either(another: Callable[..., Flow]) -> None:
    session = another()
    session.conn.execute("DO 'BEGIN END'")
    before = session.rows(SETTINGS)
    session.module(executable="SET work_mem = '7MB'; SELECT 1 / 0")
    assert session.call("run_module", module_code="m")["execution_status_code"] == "F"
    assert session.rows(SETTINGS) == before


@pytest.mark.parametrize(
    ("executable", "counts"),
    [
        ("SELECT dwh.loads()", {}),
        ("SELECT * FROM dwh.m", {}),
        ("CALL dwh.does()", {}),
        ("INSERT INTO dwh.m (v) SELECT 'x' FROM generate_series(1, 7); SELECT dwh.loads()", {}),
        ("SELECT dwh.loads(); UPDATE dwh.m SET v = ')' ;", {"rows_updated": 5}),
        ("WITH x AS (SELECT (1)) INSERT INTO dwh.m (v) SELECT 'a' FROM x", {"rows_inserted": 1}),
        ("WITH x AS (INSERT INTO dwh.m (v) VALUES ('a') RETURNING 1) SELECT FROM x", {}),
        ("WITH x AS (SELECT 'select (') DELETE FROM dwh.m -- ; select", {"rows_deleted": 3}),
        ("/* select */ INSERT INTO dwh.m (v) VALUES ($$a;b$$) /* x */", {"rows_inserted": 1}),
        ("CREATE TABLE dwh.made AS SELECT * FROM dwh.m", {"rows_inserted": 3}),
        ("DO $do$ BEGIN INSERT INTO dwh.m (v) VALUES ('a'); END $do$", {}),
        (
            "SELECT dwh.loads(); SELECT omd.tell_row_counts(p_rows_inserted => 2)",
            {"rows_inserted": 2},
        ),
    ],
)
def test_rows_are_counted_when_the_statement_itself_writes(
    flow: Flow, executable: str, counts: dict[str, int]
) -> None:
    flow.module()
    flow.conn.execute(
        "INSERT INTO dwh.m (v) VALUES ('1'), ('2'), ('3');"
        "CREATE FUNCTION dwh.loads() RETURNS void LANGUAGE sql AS"
        " $$ INSERT INTO dwh.m (v) VALUES ('x'), ('y') $$;"
        "CREATE PROCEDURE dwh.does() LANGUAGE sql AS $$ INSERT INTO dwh.m (v) VALUES ('x') $$"
    )
    (row,) = flow.rows(COUNTS, run(flow, executable)["module_instance_id"])
    assert {k: v for k, v in row.items() if k.startswith("rows_") and v} == counts


@pytest.mark.parametrize("where", ["block", "function"])
@pytest.mark.parametrize(
    ("routine", "arguments"),
    [("run_module", "'m'"), ("run_batch", "'b'"), ("purge", "interval '1 year'")],
)
def test_what_commits_says_that_it_can_not_here(
    flow: Flow, where: str, routine: str, arguments: str
) -> None:
    flow.batch("b", "m")
    call = f"CALL omd.{routine}({arguments})"
    if where == "function":
        flow.conn.execute(
            "CREATE FUNCTION dwh.f(what text) RETURNS void LANGUAGE plpgsql AS"
            " 'BEGIN EXECUTE what; END'"
        )
        call = f"SELECT dwh.f($x${call}$x$)"
    else:
        flow.conn.execute("BEGIN")
    with pytest.raises(psycopg.Error) as caught:
        flow.conn.execute(call.encode())
    flow.conn.rollback()
    assert caught.value.sqlstate == "OM018"
    assert flow.rows("SELECT FROM omd.module_instance WHERE module_instance_id <> 0") == []
