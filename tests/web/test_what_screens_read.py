"""No screen reads history as a whole: the texts that it sends, with nearly all of one object.

PostgreSQL counts the rows that it reads of each table, by index or as a whole.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from omd.programs.web.person import Rights
from omd.programs.web.routes import screen_of
from omd.programs.web.section import Asked, Select
from report.test_screen_plans import history, write_history

if TYPE_CHECKING:
    from support.flow import Flow

__all__ = ["history"]

OTHERS = """
    INSERT INTO omd_delivery.tenant (tenant_code, tenant_name) VALUES ('t', 'T');
    INSERT INTO omd_delivery.interface (interface_id, interface_code, model_version)
    OVERRIDING SYSTEM VALUE SELECT n, 'i' || n, 1 FROM generate_series(1, 3) AS n;
    INSERT INTO omd_delivery.agreement (
        agreement_id, agreement_code, tenant_id, interface_id, layer_code, completeness, context,
        settings, options
    ) OVERRIDING SYSTEM VALUE
    SELECT n, 'a' || n, (SELECT min(tenant_id) FROM omd_delivery.tenant),
        CASE n WHEN 7 THEN 3 ELSE 1 + n % 2 END, 'LVL', 'PARTIAL', '{}', '{}', '{}'
    FROM generate_series(1, 7) AS n;
    CREATE TEMP TABLE one AS
    SELECT n, CASE WHEN n <= 70 THEN 1 + n % 7 ELSE 7 END AS at FROM generate_series(1, 24000) AS n;
    INSERT INTO omd_delivery.delivery (
        agreement_id, interface_id, layer_code, snapshot_datetime, delivery_status, verdict
    )
    SELECT at, CASE at WHEN 7 THEN 3 ELSE 1 + at % 2 END, 'LVL', now(),
        CASE WHEN n <= 70 AND n % 10 = 0 THEN 'REFUSED' ELSE 'PERSISTED' END, 'ACCEPTED' FROM one;
    INSERT INTO omd_delivery.arrival (
        agreement_id, folder, snapshot_datetime, arrival_status, changed_datetime, delivery_id
    ) SELECT at, 'f' || n, now(), 'DONE', now(), n FROM one;
    INSERT INTO omd_delivery.delivery_event (
        delivery_id, from_status, to_status, event, attempt, editor
    ) SELECT n, 'RECEIVED', 'LOADED', 'report_loaded', 1, 'x' FROM one;
    INSERT INTO omd_delivery.delta_queue (
        interface_id, delivery_id, snapshot_datetime, queue_status, delete_type, row_counts
    ) SELECT CASE at WHEN 7 THEN 3 ELSE 1 + at % 2 END, n, now(), 'PERSISTED', 'LOGICAL', '{}'
    FROM one;
    INSERT INTO omd_decision.ruleset (ruleset_id, ruleset_code, kind)
    OVERRIDING SYSTEM VALUE VALUES (1, 'r1', 'JDM');
    INSERT INTO omd_decision.ruleset_version (
        ruleset_id, version, content, content_hash, state, defined_by
    ) VALUES (1, 1, '{}', 'x', 'DRAFT', 'x');
    INSERT INTO omd_decision.stage (stage_id, stage_code, version, module_id)
    OVERRIDING SYSTEM VALUE SELECT n, 's' || n, 1, n FROM generate_series(1, 7) AS n;
    INSERT INTO omd_decision.stage_version (stage_id, version, definition, defined_by)
    SELECT n, 1, '{}', 'x' FROM generate_series(1, 7) AS n;
    INSERT INTO omd_decision.run (
        module_instance_id, stage_id, stage_version, ruleset_id, ruleset_version, content_hash,
        engine, batch_size, effective_at
    ) SELECT n, at, 1, 1, 1, 'x', 'POSTGRES', 0, now() FROM one;
    INSERT INTO omd_lake.table_commit (
        table_code, table_format_code, sequence_number, snapshot_id, commit_datetime,
        module_instance_id, operation, added_files, added_rows, removed_files, removed_rows
    ) SELECT 't.x' || at, 'ICEBERG', n, n, now(), n, 'APPEND', 1, 1, 0, 0 FROM one;
"""
PATHS = [
    "/",
    "/todo",
    "/work",
    "/grid",
    "/grid?open=b2",
    "/grid?open=b7",
    "/module/m2",
    "/module/m7",
    "/batch/b2",
    "/batch/b7",
    "/run/module/9",
    "/run/batch/9",
    "/graph",
    "/graph?of=m2",
    "/queue",
    "/deliveries",
    "/deliveries?agreement=a2",
    "/deliveries?interface=i1",
    "/deliveries?status=REFUSED",
    "/delivery/9",
    "/stage/s2",
    "/stage/s7",
    "/decisions/9",
    "/lake",
    "/lake?table=t.x2",
    "/log",
    "/log?run=11",
    "/find?q=11",
]
# So many rows of each table may one query read; a span of the log is read by ranges of blocks, and
# deliveries that no index finds are looked for among the newest 10,000.
MOST = {
    "arrival": 3000,
    "batch_instance": 3000,
    "delivery": 12_000,
    "delivery_event": 3000,
    "delta_queue": 3000,
    "event_log": 16_000,
    "load_log": 3000,
    "module_instance": 3000,
    "run": 3000,
    "source_control": 3000,
    "table_commit": 3000,
    "write_folder": 3000,
}

# The timeline reads a span of time by ranges of blocks, of which tables this small have one or two.
OF_A_SPAN = {"batch_instance", "event_log", "module_instance"}


class Reader:
    """A person who may see everything, as screens ask."""

    user = "postgres"
    roles = ("omd_reader", "omd_data_reader")
    is_data_reader = True
    is_shown_only = False
    rights = Rights(user="postgres", roles=roles)


@pytest.fixture(scope="module")
def whole(history: Flow) -> Flow:
    """The history of runs, and as long a one in the other rooms."""
    write_history(history, OTHERS)
    return history


@pytest.mark.parametrize("address", PATHS)
def test_no_query_of_a_screen_reads_a_history_as_a_whole(whole: Flow, address: str) -> None:
    path, _, parameters = address.partition("?")
    query = dict(p.split("=") for p in parameters.split("&")) if parameters else {}
    found = screen_of(path.split("/")[1:], query)
    assert found is not None
    name, keys = found
    wrong: list[str] = []

    def look(select: Select) -> list[dict[str, Any]]:
        before = read(whole)
        with whole.conn.transaction(force_rollback=True):
            rows = whole.conn.execute(select.sent.encode()).fetchall()
        after = read(whole)
        wrong.extend(
            f"{after[table] - before[table]} of {table}: {select.sent}"
            for table in after
            if after[table] - before[table] > MOST[table]
            and not (address == "/" and table in OF_A_SPAN)
        )
        return rows

    screen = importlib.import_module(f"omd.programs.web.screens.{name}").screen
    sections = screen(Asked(keys, query, Reader(), look)).sections  # type: ignore[arg-type]
    assert sections
    for section in sections:
        for select in section.selects:
            try:
                look(select)
            except psycopg.errors.UndefinedTable:  # an interface that was not deployed
                continue
    assert wrong == []


def read(flow: Flow) -> dict[str, int]:
    """How many rows of each table of history were read so far."""
    flow.conn.execute("SELECT pg_stat_force_next_flush()")
    rows = flow.rows(
        "SELECT t.relname, t.seq_tup_read + coalesce(("
        "SELECT sum(i.idx_tup_read) FROM pg_stat_user_indexes AS i WHERE i.relid = t.relid"
        "), 0)::bigint AS rows FROM pg_stat_user_tables AS t"
        " WHERE t.schemaname LIKE 'omd%%' AND t.relname = ANY(%s)",
        list(MOST),
    )
    assert len(rows) == len(MOST)
    return {row["relname"]: row["rows"] for row in rows}
