"""What the ledger costs a run, what a question to it costs, and what a recall costs.

* ``run``: begin + success of a Module with declared inputs, beside one without, in turns. It
  says what a declaration costs; `before.py REVISION --only begin` says what the ledger does.
  Bound: 1.03.
* ``readers``: `omd_provenance.readers_of`, directly, of runs in a history of ``--instances`` runs
  (10 million by default): the pages that it reads per reader and reading Module. Bound: 20. Half of
  the reading Modules read all of the table, half read it by windows.
* ``recall``: plan and act of a recall of one step of a chain of ten topics of ``--rows`` rows,
  beside bare DELETEs of the same rows (`_recall.py`). Bounds: plan 1.2, act 1.5.

Run: ``python tests/benchmarks/provenance.py [--instances N] [--rows N] [--dsn …] [--only NAME]``.
Without a DSN it starts an embedded server of its own in a temporary folder and removes it.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import psycopg
from _recall import recall
from bench.server import durable_server, new_database

Connection = psycopg.Connection[Any]
STAMP = "omd_insert_module_instance_id"
MODULES = 40  # of these the first writes, and the next READERS read it
READERS = 20
HISTORY = """
    INSERT INTO omd.module_instance (
        module_id, start_datetime, end_datetime, execution_status_code, processing_indicator,
        next_run_indicator, success_order, newest_instance_id
    )
    SELECT 1 + n %% %(modules)s, '2020-01-01'::timestamptz + n * interval '1 second',
        '2020-01-01'::timestamptz + n * interval '1 second', 'S', 'P', 'P', n, n
    FROM generate_series(1, %(runs)s) AS s (n);
    INSERT INTO omd.source_control (
        module_instance_id, module_id, start_value, start_id, end_value, end_id
    )
    SELECT mi.module_instance_id, mi.module_id,
        mi.start_datetime - %(modules)s * interval '1 second', 0, mi.start_datetime, 0
    FROM omd.module_instance AS mi
    WHERE mi.module_id BETWEEN %(first)s AND %(last)s;
    SELECT setval('omd.success_order', %(runs)s);
"""


def prepare(conn: Connection, instances: int) -> None:
    """Make Modules, their declarations, and the history of their runs."""
    conn.execute(
        f"CREATE TABLE public.t (pos timestamptz, id bigint, {STAMP} bigint);"
        f"CREATE TABLE public.o ({STAMP} bigint)".encode()
    )
    for number in range(1, MODULES + 1):
        table = "public.t" if number == 1 else "public.o"
        conn.execute("CALL omd.register_module(%s, 'HSTG', %s)", (f"m{number}", table))
    for number in range(2, READERS + 2):
        kind = {"table": "public.t", "kind": "ALL"}
        if number > READERS // 2 + 1:
            kind = {"table": "public.t", "kind": "WINDOW", "pos": "pos", "id": "id"}
        conn.execute(
            "SELECT omd.save_inputs((SELECT module_id FROM omd.module WHERE module_code = %s),"
            " 'ROOM', %s::jsonb)",
            (f"m{number}", psycopg.types.json.Jsonb([kind])),
        )
    rows = {"modules": MODULES, "runs": instances, "first": READERS // 2 + 2, "last": READERS + 1}
    with psycopg.ClientCursor(conn) as cur:
        cur.execute(HISTORY, rows)  # type: ignore[arg-type]
    conn.execute("VACUUM ANALYZE")


def pages(conn: Connection, run: int) -> tuple[int, int]:
    """Return the pages that the question about a run reads, and its readers."""
    query = "SELECT * FROM omd_provenance.direct_readers(ARRAY[%s])"
    conn.execute(query, (run,)).fetchall()
    readers = len(conn.execute(query, (run,)).fetchall())
    row = conn.execute("EXPLAIN (ANALYZE, BUFFERS, FORMAT json) " + query, (run,)).fetchone()
    assert row is not None
    plan = row[0][0]["Plan"]
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"], readers


def readers(dsn: str, instances: int) -> None:
    """Ask for the readers of runs near the end of the history."""
    with psycopg.connect(new_database(dsn, "omd_ledger"), autocommit=True) as conn:
        prepare(conn, instances)
        for behind in (1, 10, 100):
            run = instances - instances % MODULES - behind * MODULES
            conn.execute(
                f"DELETE FROM public.t; INSERT INTO public.t SELECT start_datetime, 0,"
                f" {run} FROM omd.module_instance WHERE module_instance_id = {run}".encode()
            )
            start = time.perf_counter()
            count, found = pages(conn, run)
            seconds = time.perf_counter() - start
            print(
                f"readers: {count} pages for {found} readers of {READERS} Modules in"
                f" {instances:,} runs, {count / (found + READERS):.1f} each"
                f" ({seconds * 1000 / 3:.1f} ms)"
            )


def runs(dsn: str) -> None:
    """Take begin and success in turns, with inputs and without."""
    with psycopg.connect(new_database(dsn, "omd_ledger"), autocommit=True) as conn:
        conn.execute(f"CREATE TABLE public.t ({STAMP} bigint)".encode())
        for code in ("with", "without"):
            conn.execute("CALL omd.register_module(%s, 'HSTG', 'public.t')", (code,))
        conn.execute("CALL omd.declare_inputs('with', '{public.t}')")

        def take(code: str) -> float:
            start = time.perf_counter()
            for _ in range(20):
                row = conn.execute("CALL omd.begin_module(%s)", (code,)).fetchone()
                assert row is not None
                conn.execute("CALL omd.module_success(%s)", (row[0],))
            return time.perf_counter() - start

        take("with"), take("without")
        ratios = [take("with") / take("without") for _ in range(100)]
        print(f"run: with declared inputs to without {statistics.median(ratios):.3f}")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", type=int, default=10_000_000)
    parser.add_argument("--dsn")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", choices=("run", "readers", "recall"))
    arguments = parser.parse_args()
    with durable_server(arguments.dsn) as dsn:
        if arguments.only in (None, "run"):
            runs(dsn)
        if arguments.only in (None, "readers"):
            readers(dsn, arguments.instances)
        if arguments.only in (None, "recall"):
            recall(dsn, arguments.rows)


if __name__ == "__main__":
    main()
