"""The reporting views have the right rows, and no others (rule P17)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql
from psycopg.errors import InsufficientPrivilege

from support.flow import PASSED

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.flow import Flow

HOSTILE = """m'; DROP TABLE omd.batch; -- "x" \\ é"""
INSERT = "omd_insert_module_instance_id"
VIEWS = """
    SELECT relname AS name FROM pg_class
    WHERE relnamespace = 'omd_report'::regnamespace AND relkind = 'v' ORDER BY relname"""


def look(flow: Flow, view: str, **equal: Any) -> list[dict[str, Any]]:
    """Return the rows of a view, by column and value."""
    condition = sql.SQL(" AND ").join(
        sql.SQL("{} = {}").format(sql.Identifier(k), sql.Placeholder(k)) for k in equal
    )
    query = sql.SQL("SELECT * FROM omd_report.{}").format(sql.Identifier(view))
    if equal:
        query += sql.SQL(" WHERE ") + condition
    return flow.conn.execute(query, equal).fetchall()


def age(flow: Flow, by: str, *, module: int = -1, batch: int = -1) -> None:
    """Move an instance into the past."""
    for kind, id in (("module", module), ("batch", batch)):
        flow.owner(
            f"UPDATE omd.{kind}_instance SET start_datetime = start_datetime - %s::interval,"
            f" end_datetime = end_datetime - %s::interval WHERE {kind}_instance_id = %s",
            by,
            by,
            id,
        )


def exceptions(flow: Flow) -> set[tuple[str, str, str]]:
    rows = look(flow, "exceptions")
    found = [(row["exception_code"], row["instance_type"], row["code"]) for row in rows]
    assert len(found) == len(set(found))
    return set(found)


# All views --------------------------------------------------------------------------------------


def test_the_placeholders_are_in_no_report(flow: Flow) -> None:
    # Two sources of tasks, a schedule, the list of metrics, the server with its sessions and what
    # is wrong with it, what a purge would delete, the steps of the installation and all routines
    # are there at first.
    shipped = {
        "dispatch_sources", "dispatch_schedules", "dispatch_sessions", "history", "metric_list",
        "metrics", "prometheus", "server", "server_problems", "footprint", "upgrade",
        "routine_list",
    }  # fmt: skip
    views = [row["name"] for row in flow.rows(VIEWS) if row["name"] not in shipped]
    assert {"failures", "trace", "module_execution_log"} <= set(views)
    assert {view: look(flow, view) for view in views} == {view: [] for view in views}
    flow.module()
    flow.run_module()  # refers to the placeholder of Batches
    [row] = look(flow, "trace")
    assert (row["parents"], row["batch_code"], row["batch_instance_id"]) == ([], None, 0)


def test_a_hostile_name_is_a_name(flow: Flow) -> None:
    flow.batch(HOSTILE, frequency_code="Daily")
    flow.module(HOSTILE, batches=(HOSTILE,), table_code="dwh.h")
    flow.conn.execute("CREATE TABLE dwh.h (omd_insert_module_instance_id bigint)")
    batch = flow.run_batch(HOSTILE, **{HOSTILE: "F"})
    instance = batch[HOSTILE].id
    for view, column in (
        ("failures", "module_code"),
        ("pending_rollbacks", "module_code"),
        ("exceptions", "code"),
        ("cumulative_load_time", "code"),
        ("audit_columns", "module_code"),
    ):
        assert {row[column] for row in look(flow, view)} >= {HOSTILE}, view
    assert (
        look(flow, "trace", module_instance_id=instance)[0]["parents"][0]["batch_code"] == HOSTILE
    )
    flow.write(instance, "dwh.h")
    found = flow.rows("SELECT * FROM omd.audit_column_values(%s)", HOSTILE)
    assert [(row["problem"], row["row_count"]) for row in found] == [("ROLLBACK_PENDING", 2)]


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("throughput_per_day WHERE day >= now() - interval '30 days'", "ix_module_instance_start"),
        ("cumulative_load_time WHERE day > current_date - 7", "ix_batch_instance_start"),
        ("cumulative_load_time WHERE day > current_date - 7", "ix_module_instance_start"),
        ("common_errors", "ix_event_log_datetime"),
        ("failures WHERE event_datetime >= now() - interval '1 day'", "ix_event_log_datetime"),
        ("failures ORDER BY event_id DESC LIMIT 10", "pk_event_log"),
        ("trace WHERE module_instance_id = 5", "ix_event_log_module_instance"),
        ("exceptions", "ix_batch_instance_executing"),
        ("pending_rollbacks", "pk_module_instance"),
    ],
)
def test_a_look_is_served_by_an_index(flow: Flow, query: str, index: str) -> None:
    """Check whether an index *can* serve it: a table this small would be read as a whole."""
    flow.conn.execute("SET enable_seqscan = off")
    if "LIMIT" in query:
        flow.conn.execute("SET enable_sort = off")
    plan = "\n".join(
        row["QUERY PLAN"] for row in flow.rows(f"EXPLAIN SELECT * FROM omd_report.{query}")
    )
    assert any(name in plan for name in index.split("|")), plan
    for table in ("module_instance", "event_log"):
        assert f"Seq Scan on {table}" not in plan, plan


# Failures ---------------------------------------------------------------------------------------


def test_a_failure_is_one_row_whatever_else_the_run_logged(flow: Flow) -> None:
    flow.batch("b", "m")
    batch = flow.begin_batch().id
    begun = flow.begin_module("m", batch).id
    flow.call("log_event", event_detail="before", module_instance_id=begun, event_type_code=2)
    flow.call(
        "module_failure",
        module_instance_id=begun,
        event_detail="the reason",
        event_return_code_details="22012",
    )
    flow.call("log_event", event_detail="after", module_instance_id=begun, event_type_code=2)
    flow.call("log_event", event_detail="before", batch_instance_id=batch, event_type_code=2)
    flow.call("batch_failure", batch_instance_id=batch, event_detail="a Module failed")
    found = {row["instance_type"]: row for row in look(flow, "failures")}
    assert len(look(flow, "failures")) == 2
    module = found["MODULE"]
    assert (module["instance_id"], module["code"], module["batch_code"]) == (begun, "m", "b")
    assert (module["event_detail"], module["event_return_code_details"]) == ("the reason", "22012")
    assert (found["BATCH"]["instance_id"], found["BATCH"]["code"]) == (batch, "b")
    assert found["BATCH"]["event_detail"] == "a Module failed"
    assert found["BATCH"]["module_code"] is None


def test_a_failure_tells_who_undid_it(flow: Flow) -> None:
    flow.module()
    failed = flow.run_module("m", "F")
    [row] = look(flow, "failures", instance_id=failed)
    assert (row["is_rolled_back"], row["rolled_back_by_module_instance_id"]) == (False, None)
    undoing = flow.run_module()
    [row] = look(flow, "failures", instance_id=failed)
    assert (row["is_rolled_back"], row["rolled_back_by_module_instance_id"]) == (True, undoing)


def test_what_did_not_fail_is_no_failure(flow: Flow) -> None:
    flow.module()
    succeeded = flow.begin_module().id
    flow.call("log_event", event_detail="x", module_instance_id=succeeded, event_type_code=2)
    assert look(flow, "failures") == []
    flow.end_module(succeeded, "S")
    flow.call("log_event", event_detail="x", module_instance_id=succeeded, event_type_code=2)
    flow.call("log_event", event_detail="nobody's", event_type_code=2)
    assert look(flow, "failures") == []


# Exceptions -------------------------------------------------------------------------------------


def test_a_failed_last_run_is_an_exception_until_a_run_succeeds(flow: Flow) -> None:
    flow.batch("b", "m", "other")
    flow.run_batch("b", m="S", other="S")
    assert exceptions(flow) == set()
    flow.run_batch("b", m="F", other="S")
    # A skip and an abort decide nothing.
    flow.deactivate("batch", "batch_code = 'b'")
    assert flow.begin_batch().pi == "C"
    flow.deactivate("batch", "batch_code = 'b'", "N")
    failed = {("LAST_RUN_FAILED", "BATCH", "b"), ("LAST_RUN_FAILED", "MODULE", "m")}
    assert exceptions(flow) == failed
    flow.run_batch("b", m="S", other="S")
    assert exceptions(flow) == set()


def test_a_run_is_long_by_the_history_of_its_own(flow: Flow) -> None:
    flow.batch("b", "m")
    for minutes in (2, 2, 30):  # the median counts, so one slow run changes nothing
        run = flow.run_batch("b", m="S")
        longer = "start_datetime = start_datetime - make_interval(mins => %s)"
        flow.owner(
            f"UPDATE omd.module_instance SET {longer} WHERE module_instance_id = %s",
            minutes,
            run["m"].id,
        )
        flow.owner(
            f"UPDATE omd.batch_instance SET {longer} WHERE batch_instance_id = %s", minutes, run.id
        )
    batch = flow.begin_batch().id
    begun = flow.begin_module("m", batch).id
    assert exceptions(flow) == set()
    age(flow, "5 minutes", module=begun, batch=batch)
    assert exceptions(flow) == set()
    age(flow, "2 minutes", module=begun)
    assert exceptions(flow) == {("RUNNING_LONG", "MODULE", "m")}
    age(flow, "2 minutes", batch=batch)
    assert exceptions(flow) == {("RUNNING_LONG", "MODULE", "m"), ("RUNNING_LONG", "BATCH", "b")}
    flow.end_module(begun, "S")
    flow.end_batch(batch, "S")
    assert exceptions(flow) == set()


def test_a_run_is_not_long_within_a_minute_or_without_history(flow: Flow) -> None:
    flow.module()
    for _ in range(3):
        flow.run_module()  # a few milliseconds each
    age(flow, "50 seconds", module=flow.begin_module().id)
    flow.module("new")
    flow.run_module("new")
    age(flow, "10 days", module=flow.begin_module("new").id)
    assert exceptions(flow) == set()


def test_not_run_for_two_intervals_of_the_frequency(flow: Flow) -> None:
    flow.batch("daily", "m", frequency_code="Daily")
    flow.batch("adhoc", "never")
    assert exceptions(flow) == {("NOT_RUN", "BATCH", "daily"), ("NOT_RUN", "MODULE", "m")}
    run = flow.run_batch("daily", m="S")
    assert exceptions(flow) == set()
    age(flow, "47 hours", module=run["m"].id, batch=run.id)
    assert exceptions(flow) == set()
    age(flow, "2 hours", module=run["m"].id, batch=run.id)
    assert exceptions(flow) == {("NOT_RUN", "BATCH", "daily"), ("NOT_RUN", "MODULE", "m")}
    [row] = look(flow, "exceptions", instance_type="MODULE")
    assert row["instance_id"] == run["m"].id
    assert row["detail"] == "frequency Daily of Batch daily"
    # What executes runs; what is inactive need not.
    batch = flow.begin_batch("daily").id
    assert exceptions(flow) == {("NOT_RUN", "MODULE", "m")}
    flow.end_batch(batch, "A")
    flow.deactivate("batch", "batch_code = 'daily'")
    assert exceptions(flow) == {("DISABLED", "BATCH", "daily")}


def test_the_shortest_frequency_of_a_module_counts(flow: Flow) -> None:
    flow.batch("weekly", "m", frequency_code="Weekly")
    flow.batch("hourly", "m", frequency_code="Hourly")
    for code in ("weekly", "hourly"):
        run = flow.run_batch(code, m="S")
        age(flow, "3 hours", module=run["m"].id)
    assert exceptions(flow) == {("NOT_RUN", "MODULE", "m")}
    flow.deactivate(
        "batch_module", "batch_id = (SELECT batch_id FROM omd.batch WHERE batch_code = 'hourly')"
    )
    assert exceptions(flow) == {("DISABLED", "MODULE", "m")}


def test_everything_that_is_disabled_is_told_once_with_where(flow: Flow) -> None:
    flow.batch("top")
    flow.batch("b1", "m")
    flow.batch("b2", "m")
    flow.call("add_batch_to_parent_batch", batch_code="b1", parent_batch_code="top")
    flow.deactivate("batch", "batch_code = 'b1'")
    flow.deactivate("batch_hierarchy", "TRUE")
    flow.deactivate("batch_module", "TRUE")
    flow.deactivate("module", "module_code = 'm'")
    assert {row["code"]: row["detail"] for row in look(flow, "exceptions")} == {
        "b1": "everywhere, under Batch top",
        "m": "everywhere, in Batch b1, in Batch b2",
    }


def test_a_dead_run_is_an_exception_before_anybody_gives_it_up(flow: Flow) -> None:
    flow.batch("b", "m")
    batch = flow.begin_batch("b", lease=PASSED).id
    flow.begin_module("m", lease=PASSED)
    dead = {("LEASE_EXPIRED", "BATCH", "b"), ("LEASE_EXPIRED", "MODULE", "m")}
    assert exceptions(flow) == dead
    flow.call("reap_expired_instances")
    assert exceptions(flow) == {
        ("LAST_RUN_FAILED", "BATCH", "b"),
        ("LAST_RUN_FAILED", "MODULE", "m"),
    }
    [row] = look(flow, "exceptions", instance_type="BATCH")
    assert row["instance_id"] == batch
    assert row["detail"]


# Rollbacks that wait ----------------------------------------------------------------------------


def test_pending_rollbacks_are_what_a_begin_undoes(flow: Flow) -> None:
    flow.module("clean")
    flow.run_module("clean")
    flow.module("m")
    first = flow.run_module("m", "F")
    assert flow.begin_module("m").array == [first]
    flow.call("reap_expired_instances")
    running = flow.one("SELECT max(module_instance_id) FROM omd.module_instance")
    assert look(flow, "pending_rollbacks") == []
    flow.end_module(running, "F")
    [row] = look(flow, "pending_rollbacks")
    assert (row["module_code"], row["table_code"]) == ("m", "dwh.m")
    assert (row["platform_code"], row["module_instance_ids"]) == ("POSTGRES", [running])
    assert row["since_datetime"] == flow.one(
        "SELECT end_datetime FROM omd.module_instance WHERE module_instance_id = %s", running
    )


# Errors -----------------------------------------------------------------------------------------


def test_errors_are_counted_by_what_they_say(flow: Flow) -> None:
    flow.module()
    told = (
        "task 17 of \"stage 3\" can't read 'a.csv' at 0x7ffee1, it isn't there\nTraceback 1",
        "task 18 of \"stage 4\" can't read 'b.csv' at 0x7ffee2, it isn't there\nTraceback 2",
        "no space for 3f2504e0-4f89-11d3-9a0c-0305e82c3301 on node 12.5",
    )
    for detail in told:
        failed = flow.begin_module().id
        flow.call("module_failure", module_instance_id=failed, event_detail=detail)
    flow.call("log_event", event_detail="task 9, no error", event_type_code=6)
    found = {row["message"]: row for row in look(flow, "common_errors")}
    assert {message: row["event_count"] for message, row in found.items()} == {
        "task # of ? can't read ? at #, it isn't there": 2,
        "no space for # on node #": 1,
    }
    twice = found["task # of ? can't read ? at #, it isn't there"]
    assert twice["last_module_instance_id"] == failed - 1
    assert twice["first_datetime"] < twice["last_datetime"]


def test_an_error_of_last_year_is_not_common_now(flow: Flow) -> None:
    flow.module()
    flow.run_module("m", "F")
    flow.owner("UPDATE omd.event_log SET event_datetime = event_datetime - interval '31 days'")
    assert look(flow, "common_errors") == []


# By day -----------------------------------------------------------------------------------------


def test_throughput_counts_a_day_by_status_and_rows(flow: Flow) -> None:
    flow.batch("b", "m")
    for day, seconds in ((0, 10), (0, 30), (2, 10)):
        begun = flow.begin_module("m").id
        flow.call(
            "module_success", module_instance_id=begun, rows_input=100, rows_inserted=60,
            rows_updated=20,
        )  # fmt: skip
        flow.owner(
            "UPDATE omd.module_instance SET start_datetime = current_date - %s + time '00:00',"
            " end_datetime = current_date - %s + make_interval(secs => %s)"
            " WHERE module_instance_id = %s",
            day,
            day,
            seconds,
            begun,
        )
    flow.run_module("m", "F")
    age(flow, "400 days", module=flow.run_module("m"))
    running = flow.begin_module("m").id
    assert flow.begin_module("m").pi == "A"
    flow.deactivate("module", "TRUE")
    flow.end_module(running, "S")
    assert flow.begin_module("m").pi == "C"
    rows = flow.rows("SELECT current_date - day AS ago, * FROM omd_report.throughput_per_day")
    found = {row["ago"]: row for row in rows}
    assert found.keys() == {0, 2}
    statuses = ("instances", "executing", "succeeded", "failed", "aborted", "skipped")
    assert [found[0][s] for s in statuses] == [6, 0, 3, 1, 1, 1]
    assert [found[2][s] for s in statuses] == [1, 0, 1, 0, 0, 0]
    assert (found[0]["rows_input"], found[0]["rows_inserted"]) == (200, 120)
    assert found[2]["load_time"] == timedelta(seconds=10)
    assert found[2]["rows_per_second"] == 8.0
    recent = flow.rows(
        "SELECT day FROM omd_report.throughput_per_day WHERE day >= now() - interval '2 days'"
    )
    assert len(recent) == 1


def test_load_time_is_what_ended_runs_cost(flow: Flow) -> None:
    flow.batch("top")
    flow.batch("b", "m")
    flow.call("add_batch_to_parent_batch", batch_code="b", parent_batch_code="top")
    for status, minutes in (("S", 1), ("F", 3)):
        top = flow.begin_batch("top").id
        batch = flow.begin_batch("b", parent_batch_instance_id=top).id
        begun = flow.begin_module("m", batch).id
        if status == "S":
            flow.call("module_success", module_instance_id=begun, rows_inserted=7)
        else:
            flow.end_module(begun, "F")
        flow.end_batch(batch, status)
        flow.end_batch(top, status)
        for kind, id in (("module", begun), ("batch", batch), ("batch", top)):
            flow.owner(
                f"UPDATE omd.{kind}_instance SET start_datetime = current_date + time '00:00',"
                " end_datetime = current_date + make_interval(mins => %s)"
                f" WHERE {kind}_instance_id = %s",
                minutes,
                id,
            )
    assert flow.begin_module("m", batch).pi == "A"  # costs nothing
    found = {(row["instance_type"], row["code"]): row for row in look(flow, "cumulative_load_time")}
    assert found.keys() == {("MODULE", "m"), ("BATCH", "b"), ("BATCH", "top")}
    for row in found.values():
        assert (row["runs"], row["failed_runs"]) == (2, 1)
        assert row["total_duration"] == timedelta(minutes=4)
        assert row["average_duration"] == timedelta(minutes=2)
        assert row["longest_duration"] == timedelta(minutes=3)
    rows = {code: row["rows_inserted"] for (_, code), row in found.items()}
    assert rows == {"m": 7, "b": 7, "top": 0}


# Audit columns ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "problems"),
    [
        (None, ["TABLE_MISSING"]),
        ("x bigint", ["INSERT_COLUMN_MISSING"]),
        ("omd_insert_module_instance_id bigint PRIMARY KEY", []),
        (
            "omd_insert_module_instance_id text",
            ["INSERT_COLUMN_NOT_BIGINT", "INSERT_COLUMN_NULLABLE", "INSERT_COLUMN_NOT_INDEXED"],
        ),
        (
            "omd_insert_module_instance_id bigint PRIMARY KEY, omd_update_module_instance_id int",
            ["UPDATE_COLUMN_NOT_BIGINT"],
        ),
        (
            f"x int, {INSERT} bigint, PRIMARY KEY (x, {INSERT})",
            ["INSERT_COLUMN_NOT_INDEXED"],
        ),
    ],
)
def test_audit_columns_are_checked_in_the_catalogue(
    flow: Flow, another: Callable[..., Flow], columns: str | None, problems: list[str]
) -> None:
    flow.module(HOSTILE, table_code='dwh."T; DROP"')
    if columns:
        flow.conn.execute(f'CREATE TABLE dwh."T; DROP" ({columns})'.encode())
    # Without any right on the schema of the target.
    [row] = look(another(role="omd_reader"), "audit_columns")
    assert row["problems"] == problems
    assert row["table_exists"] == (columns is not None)


def test_a_target_elsewhere_has_no_audit_columns_here(flow: Flow) -> None:
    flow.module("spark", platform_code="SPARK", table_code="lake.t")
    assert look(flow, "audit_columns") == []


def test_each_wrong_stamp_is_told_with_its_rows(flow: Flow) -> None:
    flow.module("m")
    flow.module("also", table_code="dwh.m")
    flow.module("elsewhere")
    rolled_back = flow.run_module("m", "F")
    good = flow.run_module("m")
    never_ran = flow.begin_module("m").id
    flow.end_module(never_ran, "A")
    also = flow.run_module("also")
    elsewhere = flow.run_module("elsewhere")
    pending = flow.run_module("m", "F")
    executing = flow.begin_module("also").id
    assert flow.rows("SELECT * FROM omd.audit_column_values('m')") == []
    for id in (rolled_back, good, never_ran, also, elsewhere, pending, executing, 999):
        flow.write(id)
    flow.conn.execute("INSERT INTO dwh.m DEFAULT VALUES")
    flow.conn.execute("INSERT INTO dwh.m VALUES ('x', 0)")
    found = flow.rows("SELECT * FROM omd.audit_column_values('m')")
    assert {(r["problem"], r["module_instance_id"], r["row_count"]) for r in found} == {
        ("NO_STAMP", None, 1),
        ("UNKNOWN_INSTANCE", 0, 1),
        ("UNKNOWN_INSTANCE", 999, 2),
        ("OTHER_TARGET", elsewhere, 2),
        ("ROLLED_BACK", rolled_back, 2),
        ("NEVER_RAN", never_ran, 2),
        ("ROLLBACK_PENDING", pending, 2),
        ("EXECUTING", executing, 2),
    }


def test_stamps_are_read_with_the_rights_of_the_caller(
    flow: Flow, another: Callable[..., Flow]
) -> None:
    flow.module()
    reader = another(role="omd_reader")
    with pytest.raises(InsufficientPrivilege):
        reader.rows("SELECT * FROM omd.audit_column_values('m')")
    flow.conn.execute(
        "GRANT USAGE ON SCHEMA dwh TO omd_reader; GRANT SELECT ON dwh.m TO omd_reader"
    )
    assert reader.rows("SELECT * FROM omd.audit_column_values('m')") == []


@pytest.mark.parametrize(
    ("code", "sqlstate"),
    [("unknown", "OM002"), (None, "OM005"), ("spark", "OM204"), ("gone", "OM202")],
)
def test_stamps_of_what_is_not_here_are_refused(
    flow: Flow, code: str | None, sqlstate: str
) -> None:
    flow.module("spark", platform_code="SPARK", table_code="lake.t")
    flow.module("gone", table_code="dwh.not_there")
    with pytest.raises(psycopg.Error) as caught:
        flow.rows("SELECT * FROM omd.audit_column_values(%s)", code)
    assert caught.value.sqlstate == sqlstate
    assert caught.value.diag.message_hint


# Trace ------------------------------------------------------------------------------------------


def test_a_trace_leads_from_an_instance_to_all_about_it(flow: Flow) -> None:
    flow.batch("top")
    flow.batch("b", "m")
    flow.call("add_batch_to_parent_batch", batch_code="b", parent_batch_code="top")
    top = flow.begin_batch("top").id
    batch = flow.begin_batch("b", parent_batch_instance_id=top).id
    failed = flow.begin_module("m", batch, execution_context={"host": "node-1"}).id
    flow.conn.execute("CALL omd.create_load_window(%s, p_end_id => 10)", [failed])
    flow.call("log_event", event_detail="on the way", module_instance_id=failed)
    flow.call("module_failure", module_instance_id=failed, event_detail="the reason")
    undoing = flow.run_module("m", batch=batch)
    [row] = look(flow, "trace", module_instance_id=failed)
    assert [(p["batch_code"], p["batch_instance_id"]) for p in row["parents"]] == [
        ("b", batch),
        ("top", top),
    ]
    assert (row["module_code"], row["table_code"], row["platform_code"]) == (
        "m",
        "dwh.m",
        "POSTGRES",
    )
    assert (row["window_end_id"], row["window_is_taken_back"]) == (10, True)
    assert row["execution_context"] == {"host": "node-1"}
    assert [event["event_detail"] for event in row["events"]] == ["on the way", "the reason"]
    assert row["rolled_back_by_module_instance_id"] == undoing
    assert row["undid_module_instance_ids"] == []
    [row] = look(flow, "trace", module_instance_id=undoing)
    assert row["undid_module_instance_ids"] == [failed]
    assert row["window_is_taken_back"] is None
    assert look(flow, "trace", module_instance_id=0) == []


# One of seven Modules, and of seven Batches, has nearly all runs


def test_views_read_what_is_open_or_newest_and_not_the_runs_of_others(flow: Flow) -> None:
    for n in range(1, 8):
        flow.module(f"m{n}", table_code="dwh.m")
        flow.batch(f"b{n}", f"m{n}", frequency_code="Daily")
    for kind in ("module", "batch"):
        flow.owner(
            f"INSERT INTO omd.{kind}_instance ({kind}_id, start_datetime, end_datetime,"
            " execution_status_code, processing_indicator, next_run_indicator)"
            " SELECT CASE WHEN n <= 70 THEN 1 + n %% 7 ELSE 7 END, now() - interval '1 day',"
            " now() - interval '1 day', 'S', 'P', 'P' FROM generate_series(1, %s) AS n",
            30_000,
        )
    for n in range(1, 8):
        flow.begin_module(f"m{n}")
        flow.begin_batch(f"b{n}", force=True)
    flow.conn.execute("VACUUM ANALYZE omd.module_instance, omd.batch_instance")
    # With two million rows the planner is led astray at the usual costs, too.
    flow.conn.execute("SET random_page_cost = 40")
    for view in ("exceptions", "module_list", "batch_list", "pending_rollbacks"):
        plan = "\n".join(
            row["QUERY PLAN"]
            for row in flow.rows(
                f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) TABLE omd_report.{view}"
            )
        )
        assert "Backward using pk_" not in plan
