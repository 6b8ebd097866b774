"""What a recall costs: ten topics in a chain, and one step of the first of them is recalled.

The plan and the act are compared with ten bare DELETEs by the stamps of the same runs in one
transaction, each in a copy of the same database. Bounds: act 1.5, plan 1.2.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

import psycopg
from bench.server import new_database

Connection = psycopg.Connection[Any]
CHAIN = 10
BLOCKS = 100
STAMP = "omd_insert_module_instance_id"
TABLE = (
    f"CREATE TABLE app.{{0}} (id bigint GENERATED ALWAYS AS IDENTITY, v bigint, {STAMP} bigint,"
    " omd_insert_datetime timestamptz NOT NULL DEFAULT clock_timestamp());"
    "CREATE INDEX ON app.{0} (omd_insert_datetime, id)"
)


def prepare(conn: Connection, rows: int) -> int:
    """Make the chain, and run each topic over the whole; return a step in the middle."""
    conn.execute("CREATE SCHEMA app")
    conn.execute("CREATE TABLE app.src (pos timestamptz, id bigint, v bigint)")
    conn.execute(
        "INSERT INTO app.src SELECT '2020-01-01'::timestamptz + n * interval '1 ms', n, n"
        f" FROM generate_series(1, {rows + 1}) AS n".encode()
    )
    conn.execute("CREATE INDEX ON app.src (pos, id)")
    conn.execute("CALL omd_lineage.register_topic('app.src', p_source_offset => 'HAND')")
    conn.execute(
        "CALL omd_lineage.set_offset('app.src',"
        " '2020-01-01'::timestamptz + %s * interval '1 ms', %s)",
        [rows + 1, rows + 1],
    )
    for place in range(1, CHAIN + 1):
        before = "src" if place == 1 else f"t{place - 1}"
        pos = "pos" if place == 1 else "omd_insert_datetime"
        conn.execute(TABLE.format(f"t{place}").encode())
        conn.execute(
            f"CREATE VIEW app.v{place} AS SELECT v FROM app.{before}"
            f" WHERE omd_lineage.in_block({pos}, id)".encode()
        )
        conn.execute(
            "CALL omd_lineage.register_topic(%s, %s, p_transforms => %s, p_repeat => '0',"
            " p_maxstep => %s, p_start_pos => '-infinity', p_pos_column => %s)",
            [f"app.t{place}", [f"app.{before}"], [f"app.v{place}"], rows // BLOCKS, pos],
        )
    for place in range(1, CHAIN + 1):
        while True:
            row = conn.execute("CALL omd_lineage.step(%s)", [f"app.t{place}"]).fetchone()
            assert row is not None
            if row[0] != "DONE":
                break
    conn.execute("VACUUM ANALYZE")
    row = conn.execute(
        "SELECT module_instance_id FROM omd.module_instance INNER JOIN omd.module USING (module_id)"
        " WHERE module_code = 'app.t1' ORDER BY 1 OFFSET %s LIMIT 1",
        [BLOCKS // 2],
    ).fetchone()
    assert row is not None
    return int(row[0])


def timed(conn: Connection, statement: str) -> tuple[float, Any]:
    """Execute a statement; return how long it took, and its answer."""
    start = time.perf_counter()
    cursor = conn.execute(statement.encode())
    answer = cursor.fetchone() if cursor.description else None
    return time.perf_counter() - start, answer


def recall(dsn: str, rows: int) -> None:
    """Compare plan and act with bare DELETEs, in turns that are rolled back."""
    with psycopg.connect(new_database(dsn, "omd_recall"), autocommit=True) as conn:
        step = prepare(conn, rows)
        plan = (
            f"CALL omd_provenance.plan_recall(p_module_instance_id => {step}, p_reason => 'bench')"
        )
        _, answer = timed(conn, plan)
        recall_id, items, blocked = answer
        assert not blocked
        gone = conn.execute(
            "SELECT string_agg(format('DELETE FROM %%s WHERE " + STAMP + " = ANY(%%L);', t, r), '')"
            " FROM (SELECT table_code AS t, array_agg(module_instance_id) AS r"
            " FROM omd_report.recall_items WHERE recall_id = %s GROUP BY 1) AS g",
            [recall_id],
        ).fetchone()
        assert gone is not None
        plans, acts = [], []
        for _ in range(3):
            with conn.transaction(force_rollback=True):
                bare, _ = timed(conn, gone[0])
            with conn.transaction(force_rollback=True):
                seconds, _ = timed(conn, plan)
                plans.append(seconds / bare)
            with conn.transaction(force_rollback=True):
                seconds, answer = timed(
                    conn, f"CALL omd_provenance.recall({recall_id}, p_wait => '0')"
                )
                acts.append(seconds / bare)
            print(
                f"  {items} runs, {answer[1]:,} rows of {rows * CHAIN:,}: bare {bare:.2f} s, plan"
                f" {plans[-1]:.2f}, act {acts[-1]:.2f} times"
            )
        print(
            f"recall: plan {statistics.median(plans):.2f} (bound 1.2), act"
            f" {statistics.median(acts):.2f} (bound 1.5) times ten bare DELETEs"
        )
