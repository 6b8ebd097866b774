"""Rule P19: the cost of begin + success of one Module.

It measures two ratios. Both sides of a ratio run side by side, each on one connection:

* ``overhead``: begin + success against two minimal durable writes (two one-row inserts, each
  committed) on the same server. Bound: 1.5.
* ``history``: begin + success with ``--history`` instances in the log against the same with ten
  thousand. Bound: 1.1.

Run: ``python tests/benchmarks/control_overhead.py [--dsn …] [--history 10000000]``. Without a
DSN it starts an embedded, durable server of its own in a temporary folder and removes it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import psycopg
from bench.control import run
from bench.server import a_server, new_database
from bench.turns import compare

MODULE = "m_bench"


def prepare(dsn: str, history: int) -> None:
    """Write ``history`` ended instances of 1,000 Modules; a tenth of them were skipped."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CREATE TABLE public.minimal (id bigint PRIMARY KEY, note text)")
        conn.execute("CREATE TABLE public.target (omd_insert_module_instance_id bigint)")
        for code in (MODULE, *(f"m_{n}" for n in range(999))):
            conn.execute("CALL omd.register_module(%s, 'HSTG', 'public.target')", (code,))
        conn.execute(
            """
            INSERT INTO omd.module_instance (
                module_id, start_datetime, end_datetime, execution_status_code,
                processing_indicator, next_run_indicator
            )
            SELECT
                1 + n %% 1000,
                clock_timestamp(),
                clock_timestamp(),
                CASE WHEN n %% 10 = 0 THEN 'C' ELSE 'S' END,
                CASE WHEN n %% 10 = 0 THEN 'C' ELSE 'P' END,
                'P'
            FROM generate_series(1, %s::bigint) AS n
            """,
            (history,),
        )
        conn.execute("VACUUM (ANALYZE) omd.module_instance")
        conn.execute("CHECKPOINT")


def minimal(conn: psycopg.Connection) -> Callable[[int], None]:
    """Do two one-row inserts, each committed durably."""

    def run(n: int) -> None:
        conn.execute("INSERT INTO public.minimal VALUES (%s, 'a')", (2 * n,))
        conn.execute("INSERT INTO public.minimal VALUES (%s, 'b')", (2 * n + 1,))

    return run


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn")
    parser.add_argument("--history", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--per-round", type=int, default=100)
    args = parser.parse_args()
    with a_server(args.dsn) as server:
        small, large = new_database(server, "bench_small"), new_database(server, "bench_large")
        prepare(small, 10_000)
        prepare(large, args.history)
        with (
            psycopg.connect(small, autocommit=True) as s1,
            psycopg.connect(small, autocommit=True) as s2,
            psycopg.connect(large, autocommit=True) as l1,
        ):
            a, b, ratio = compare(
                lambda _: run(s1, MODULE), minimal(s2), args.rounds, args.per_round
            )
            print(
                f"begin + success {a * 1e6:,.0f} us, two minimal durable writes {b * 1e6:,.0f} us"
            )
            print(f"ratio overhead {ratio:.2f} (bound 1.5)")
            a, b, ratio = compare(
                lambda _: run(l1, MODULE), lambda _: run(s1, MODULE), args.rounds, args.per_round
            )
            print(
                f"with {args.history:,} instances {a * 1e6:,.0f} us, with 10,000 {b * 1e6:,.0f} us"
            )
            print(f"ratio history {ratio:.2f} (bound 1.1)")


if __name__ == "__main__":
    main()
