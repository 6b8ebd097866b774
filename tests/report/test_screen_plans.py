"""What a screen reads does not grow with history: one of seven Modules has nearly all runs.

PostgreSQL counts the rows that it reads of each table, by index or as a whole; a view that walked
the history would read all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg.rows import dict_row

from support.flow import Flow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    import psycopg

    Connection = psycopg.Connection[dict[str, Any]]

RUNS = 24_000
MODULES = 7
EVENTS = 2 * RUNS
# A span of time is read by ranges of blocks, of which the log has a few.
MOST = {"batch_instance": 600, "module_instance": 1200, "event_log": 16_000}
SPAN = ">= now() - interval '1 day'"
# The newest of a span come first, and then what the view says of them.
NEWEST = (
    "(SELECT i.{kind}_instance_id FROM omd.{kind}_instance AS i WHERE i.start_datetime "
    + SPAN
    + " ORDER BY i.start_datetime DESC LIMIT 100) AS n"
    " INNER JOIN omd_report.{kind}_execution_log USING ({kind}_instance_id)"
)


@pytest.fixture(scope="module")
def history(
    new_database: Callable[[], AbstractContextManager[str]],
) -> Iterator[Flow]:
    """Modules and Batches, of which the last has all runs but ten of each other one."""
    import psycopg

    with (
        new_database() as dsn,
        psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as conn,
    ):
        flow = Flow(conn)
        conn.execute("CREATE SCHEMA dwh; CREATE TABLE dwh.m (omd_insert_module_instance_id bigint)")
        for n in range(1, MODULES + 1):
            flow.module(f"m{n}", table_code="dwh.m")
            flow.batch(f"b{n}", f"m{n}", frequency_code="Daily")
        code = f"CASE WHEN n <= {10 * MODULES} THEN 1 + n %% {MODULES} ELSE {MODULES} END"
        times = "now() - (%s - n) * interval '10 minutes'"
        # Each fifth run has failed, and the next one has undone it.
        status = "CASE WHEN n %% 5 = 0 THEN 'F' ELSE 'S' END"
        for kind, more, values in (
            ("batch", "", ""),
            (
                "module",
                ", batch_instance_id, rolled_back_by_module_instance_id",
                ", n, CASE WHEN n %% 5 = 0 THEN n + 1 END",
            ),
        ):
            flow.owner(
                f"INSERT INTO omd.{kind}_instance ({kind}_id, start_datetime, end_datetime,"
                f" execution_status_code, processing_indicator, next_run_indicator{more})"
                f" SELECT {code}, {times}, {times}, {status}, 'P', 'P'{values}"
                f" FROM generate_series(1, {RUNS}) AS n",
                RUNS, RUNS,
            )  # fmt: skip
        flow.owner(
            "INSERT INTO omd.event_log (event_datetime, event_type_code, module_instance_id,"
            " event_return_code_details, event_detail)"
            f" SELECT {times}, CASE n %% 50 WHEN 0 THEN 2 ELSE 1 END, n, '22012', 'x'"
            f" FROM generate_series(1, {EVENTS}) AS n",
            EVENTS,
        )
        for n in range(1, MODULES):
            flow.begin_module(f"m{n}", flow.begin_batch(f"b{n}", force=True).id)
        # Of small tables PostgreSQL often has no statistics.
        conn.execute("VACUUM ANALYZE omd.module_instance, omd.batch_instance, omd.event_log")
        yield flow


@pytest.mark.parametrize(
    "query",
    [
        "omd_report.todo",
        "omd_report.problems",
        "omd_report.exceptions",
        "omd_report.module_list",
        "omd_report.module_list WHERE module_code = 'm2'",
        "omd_report.batch_list",
        "omd_report.directives",
        "omd_report.pending_rollbacks",
        "omd_report.current_processing ORDER BY start_datetime LIMIT 50",
        "omd_report.work",
        "omd_report.work_summary",
        "omd_report.ready_work",
        "omd_report.flow",
        "omd_report.flow_nodes",
        "omd_report.metrics",
        "omd_report.trace WHERE module_instance_id = 9",
        "omd_report.run_inputs WHERE module_instance_id = 9",
        "omd_report.write_log WHERE module_instance_id = 9",
        "omd_provenance.trace(9)",
        "omd.explain_begin(p_module_code => 'm2')",
        "omd.explain_begin(p_module_code => 'm7')",
        "omd.explain_begin(p_batch_code => 'b2')",
        "omd.explain_begin(p_batch_code => 'b7')",
        "omd_report.module_execution_log ORDER BY module_instance_id DESC LIMIT 100",
        "omd_report.module_execution_log WHERE batch_instance_id = 9 AND batch_instance_id <> 0",
        NEWEST.format(kind="module"),
        NEWEST.format(kind="batch"),
        "omd_report.batch_execution_log WHERE batch_instance_id = 9",
        f"omd_report.failures WHERE event_datetime {SPAN} ORDER BY event_datetime DESC LIMIT 50",
        "omd_report.event_log ORDER BY event_id DESC LIMIT 100",
        "omd_report.event_log WHERE module_instance_id = 11",
        "omd_web.grid()",
        "omd_web.grid(p_limit => 1, p_after => 'b1')",
        "omd_web.grid_modules('b2')",
        "omd_web.grid_modules('b7')",
        "omd_web.find('11')",
        "omd_web.find('m2')",
    ],
)
def test_a_look_reads_what_is_open_or_newest_or_asked_for(history: Flow, query: str) -> None:
    before = read(history)
    history.rows(f"SELECT * FROM {query}".replace("%", "%%"))
    after = read(history)
    for table, most in MOST.items():
        assert after[table] - before[table] <= most, table


def test_the_history_is_long_enough_to_be_missed(history: Flow) -> None:
    """The measure sees a look that reads all of it."""
    before = read(history)
    history.rows("SELECT sum(length(reason_code)) FROM omd.module_instance WHERE module_id = 2")
    assert read(history)["module_instance"] - before["module_instance"] <= MOST["module_instance"]
    before = read(history)
    history.rows("SELECT count(*) FROM omd_report.module_execution_log")
    assert read(history)["module_instance"] - before["module_instance"] >= RUNS


def write_history(flow: Flow, statements: str) -> None:
    """Fill tables of rooms with what fits nowhere else, and tell the planner."""
    flow.conn.execute("SET session_replication_role = replica")
    flow.conn.execute(statements.encode())
    flow.conn.execute("RESET session_replication_role")
    flow.conn.execute("VACUUM ANALYZE")


def read(flow: Flow) -> dict[str, int]:
    """How many rows of each table of history were read so far."""
    flow.conn.execute("SELECT pg_stat_force_next_flush()")
    rows = flow.rows(
        "SELECT t.relname, t.seq_tup_read + ("
        "SELECT sum(i.idx_tup_read) FROM pg_stat_user_indexes AS i WHERE i.relid = t.relid"
        ")::bigint AS rows FROM pg_stat_user_tables AS t"
        " WHERE t.schemaname = 'omd' AND t.relname = ANY(%s)",
        list(MOST),
    )
    return {row["relname"]: row["rows"] for row in rows}
