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
import statistics
import time
from collections.abc import Callable

import psycopg
from bench.server import durable_server, new_database

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


def control(conn: psycopg.Connection) -> Callable[[int], None]:
    """Do one begin and one success: two round trips, two transactions."""

    def run(_: int) -> None:
        row = conn.execute("CALL omd.begin_module(%s)", (MODULE,)).fetchone()
        assert row is not None and row[1] == "P", row
        conn.execute("CALL omd.module_success(%s, p_rows_inserted => 1)", (row[0],))

    return run


def minimal(conn: psycopg.Connection) -> Callable[[int], None]:
    """Do two one-row inserts, each committed durably."""

    def run(n: int) -> None:
        conn.execute("INSERT INTO public.minimal VALUES (%s, 'a')", (2 * n,))
        conn.execute("INSERT INTO public.minimal VALUES (%s, 'b')", (2 * n + 1,))

    return run


def compare(
    left: Callable[[int], None], right: Callable[[int], None], rounds: int, per_round: int
) -> tuple[float, float, float]:
    """Return each side's median time in seconds per call, and the median ratio of all rounds."""
    for n in range(per_round):
        left(-1 - n), right(-1 - n)
    lefts: list[float] = []
    rights: list[float] = []
    for r in range(rounds):
        sides = [(left, lefts), (right, rights)]
        for side, times in sides if r % 2 else reversed(sides):
            start = time.perf_counter()
            for n in range(per_round):
                side(r * per_round + n)
            times.append((time.perf_counter() - start) / per_round)
    ratios = [a / b for a, b in zip(lefts, rights, strict=True)]
    return statistics.median(lefts), statistics.median(rights), statistics.median(ratios)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn")
    parser.add_argument("--history", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--per-round", type=int, default=100)
    args = parser.parse_args()
    with durable_server(args.dsn) as server:
        small, large = new_database(server, "bench_small"), new_database(server, "bench_large")
        prepare(small, 10_000)
        prepare(large, args.history)
        with (
            psycopg.connect(small, autocommit=True) as s1,
            psycopg.connect(small, autocommit=True) as s2,
            psycopg.connect(large, autocommit=True) as l1,
        ):
            a, b, ratio = compare(control(s1), minimal(s2), args.rounds, args.per_round)
            print(
                f"begin + success {a * 1e6:,.0f} us, two minimal durable writes {b * 1e6:,.0f} us"
            )
            print(f"ratio overhead {ratio:.2f} (bound 1.5)")
            a, b, ratio = compare(control(l1), control(s1), args.rounds, args.per_round)
            print(
                f"with {args.history:,} instances {a * 1e6:,.0f} us, with 10,000 {b * 1e6:,.0f} us"
            )
            print(f"ratio history {ratio:.2f} (bound 1.1)")


if __name__ == "__main__":
    main()
