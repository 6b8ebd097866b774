"""Rule J10: the cost of the fence in the commit of a run's connection.

A transaction of one row by ``run.connect()`` against the same by a connection of psycopg, on the
same durable server, in turns, in the median of all rounds. Bound: 1.3.

Run: ``python tests/benchmarks/fenced_commit.py [--dsn …]``. Without a DSN it starts an embedded,
durable server of its own in a temporary folder and removes it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
from bench.control import module
from bench.server import a_server, new_database
from bench.turns import compare

import omd

INSERT = "INSERT INTO public.target VALUES (%s)"


def one_row(db: psycopg.Connection[Any], instance: int) -> Callable[[int], None]:
    """Write one row and commit."""

    def run(_: int) -> None:
        db.execute(INSERT, (instance,))
        db.commit()

    return run


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--per-round", type=int, default=100)
    args = parser.parse_args()
    with a_server(args.dsn) as server:
        dsn = new_database(server, "bench_fenced")
        with psycopg.connect(dsn, autocommit=True) as conn:
            module(conn, "m_fenced")
        with (
            omd.connect(dsn, lease=timedelta(minutes=1)) as control,
            control.module("m_fenced") as run,
            run.connect() as fenced,
            psycopg.connect(dsn) as plain,
        ):
            instance = run.instance_id
            a, b, ratio = compare(
                one_row(fenced, instance), one_row(plain, instance), args.rounds, args.per_round
            )
        print(f"one row with the fence {a * 1e6:,.0f} us, without {b * 1e6:,.0f} us")
        print(f"ratio fence {ratio:.2f} (bound 1.3)")


if __name__ == "__main__":
    main()
