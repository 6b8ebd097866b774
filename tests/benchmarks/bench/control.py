"""Modules and their runs."""

from __future__ import annotations

import psycopg
from bench.turns import Connection, Take, seconds

STAMP = "omd_insert_module_instance_id"


def module(conn: Connection, code: str, table: str = "public.target") -> None:
    """Register a Module; its table is made if it is not there."""
    conn.execute(f"CREATE TABLE IF NOT EXISTS {table} ({STAMP} bigint)".encode())
    conn.execute("CALL omd.register_module(%s, 'HSTG', %s)", (code, table))


def begin(conn: Connection, code: str, batch: int | None = None) -> int:
    """Begin a run, which proceeds; return it."""
    row = conn.execute("CALL omd.begin_module(%s, %s)", (code, batch)).fetchone()
    assert row is not None and row[1] == "P", row
    return int(row[0])


def run(conn: Connection, code: str, batch: int | None = None) -> None:
    """Begin and success: two round trips, two transactions."""
    instance = begin(conn, code, batch)
    conn.execute("CALL omd.module_success(%s, p_rows_inserted => 1)", (instance,))


def ended(conn: Connection, count: int, status: str = "S") -> None:
    """Insert runs of the Modules m_… as their owner: ended ones, or with E such as execute."""
    conn.execute(
        """
        INSERT INTO omd.module_instance (
            module_id, start_datetime, end_datetime, execution_status_code, processing_indicator,
            next_run_indicator, has_proceeded
        )
        SELECT
            m.module_id, clock_timestamp(), CASE WHEN %s = 'S' THEN clock_timestamp() END, %s,
            'P', 'P', TRUE
        FROM omd.module AS m
        CROSS JOIN generate_series(1, 1 + %s / (SELECT count(*)::integer FROM omd.module)) AS n
        WHERE starts_with(m.module_code, 'm_')
        LIMIT %s
        """,
        (status, status, count, count),
    )


def rolled_back(conn: Connection, table: str, rows: int, held: int, more: str = "") -> Take:
    """Return the path of a begin that rolls back a failed run, which wrote ``rows`` rows."""
    conn.execute(
        f"CREATE TABLE public.{table} (n bigint PRIMARY KEY, v text, {STAMP} bigint);"
        f" CREATE INDEX ON public.{table} ({STAMP});"
        f" INSERT INTO public.{table} SELECT -n, 'v', 0 FROM generate_series(1, {held}) AS n;"
        f" {more}".encode()
    )
    module(conn, table, f"public.{table}")
    conn.execute("VACUUM ANALYZE")

    def take() -> float:
        failed = begin(conn, table)
        conn.execute(
            f"INSERT INTO public.{table} SELECT n, 'v', %s"
            " FROM generate_series(1, %s) AS n".encode(),
            (failed, rows),
        )
        conn.execute("CALL omd.module_failure(%s)", (failed,))
        again: list[psycopg.rows.TupleRow] = []
        call = "CALL omd.begin_module(%s)"
        taken = seconds(lambda: again.extend(conn.execute(call, (table,)).fetchall()))
        assert again[0][1:3] == ("P", [failed]), again
        conn.execute("CALL omd.module_success(%s)", (again[0][0],))
        return taken

    return take
