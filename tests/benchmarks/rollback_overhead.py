"""Rule P19: the cost of a begin with a pending rollback, compared with a mere DELETE.

There are two equal tables of ``--rows`` rows, indexed by the insert instance id. In each round a
run writes ``--failed`` more rows to both and fails. Then the begin of the next run, which rolls
them back, is timed against a DELETE of the same rows by the same index. The ratio is the median
over the rounds, in which the two take turns to be first. Bound: 1.3.

Run: ``python tests/benchmarks/rollback_overhead.py [--dsn …]``. Without a DSN it starts an
embedded, durable server of its own in a temporary folder and removes it.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import psycopg
from bench.server import durable_server, new_database

COLUMNS = "n bigint, v text, loaded timestamptz, omd_insert_module_instance_id bigint NOT NULL"


def prepare(conn: psycopg.Connection, rows: int) -> None:
    """Create two tables with the rows of a hundred succeeded runs, and the Module of the first."""
    for table in ("ours", "bare"):
        conn.execute(f"CREATE TABLE public.{table} ({COLUMNS})".encode())
        conn.execute(
            f"INSERT INTO public.{table} SELECT n, md5(n::text), now(), -1 - n / (%s / 100)"
            " FROM generate_series(1, %s) AS n".encode(),
            (rows, rows),
        )
        conn.execute(f"CREATE INDEX ON public.{table} (omd_insert_module_instance_id)".encode())
    conn.execute("CALL omd.register_module('m', 'HSTG', 'public.ours')")


def fail(conn: psycopg.Connection, rows: int) -> int:
    """Let a run write to both tables and fail."""
    begun = conn.execute("CALL omd.begin_module('m')").fetchone()
    assert begun is not None and begun[1] == "P"
    for table in ("ours", "bare"):
        conn.execute(
            f"INSERT INTO public.{table} SELECT n, md5(n::text), now(), %s"
            " FROM generate_series(1, %s) AS n".encode(),
            (begun[0], rows),
        )
        conn.execute(f"VACUUM (ANALYZE) public.{table}".encode())
    conn.execute("CALL omd.module_failure(%s)", (begun[0],))
    conn.execute("CHECKPOINT")
    return int(begun[0])


def begin(conn: psycopg.Connection, failed: int) -> float:
    """Return the seconds of a begin that rolls the failed run back; the run then succeeds."""
    start = time.perf_counter()
    row = conn.execute("CALL omd.begin_module('m')").fetchone()
    taken = time.perf_counter() - start
    assert row is not None and row[1:3] == ("P", [failed]), row
    conn.execute("CALL omd.module_success(%s)", (row[0],))
    return taken


def delete(conn: psycopg.Connection, failed: int) -> float:
    """Return the seconds of a DELETE of the failed run's rows."""
    start = time.perf_counter()
    conn.execute("DELETE FROM public.bare WHERE omd_insert_module_instance_id = %s", (failed,))
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn")
    parser.add_argument("--rows", type=int, default=9_000_000)
    parser.add_argument("--failed", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    with (
        durable_server(args.dsn) as server,
        psycopg.connect(new_database(server, "bench_rollback"), autocommit=True) as conn,
    ):
        prepare(conn, args.rows)
        times: dict[Callable[[psycopg.Connection, int], float], list[float]] = {
            begin: [],
            delete: [],
        }
        for n in range(args.rounds):
            failed = fail(conn, args.failed)
            for side in (begin, delete) if n % 2 else (delete, begin):
                times[side].append(side(conn, failed))
            for table in ("ours", "bare"):
                left = conn.execute(f"SELECT count(*) FROM public.{table}".encode()).fetchone()
                assert left == (args.rows,), left
        ours, bare = times[begin], times[delete]
        ratios = [a / b for a, b in zip(ours, bare, strict=True)]
        print(
            f"begin that rolls back {args.failed:,} of {args.rows + args.failed:,} rows"
            f" {statistics.median(ours):.2f} s, bare DELETE {statistics.median(bare):.2f} s"
        )
        print(f"ratio rollback {statistics.median(ratios):.2f} (bound 1.3)")


if __name__ == "__main__":
    main()
