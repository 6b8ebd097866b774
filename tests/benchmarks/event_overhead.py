"""What events cost a run, and what a round of the publisher costs (docs/explanation/events.md).

Each ratio is of one run of this program, both sides in turns, the median of all rounds:

* ``publisher``: begin + success of a Module while a publisher and a sender of a sink are at work,
  against the same without them. Bound: 1.03.
* ``bulk``: publishing many runs that have ended, against a bare INSERT … SELECT of as many rows
  into a table with the same columns and key. Bound: 6.
* ``history``: a round in which nothing has happened with ``--history`` instances, against the same
  with 10,000. Bound: 1.1.
* ``open``: such a round with 1,000 runs that execute, against one with none. Bound: 5.
* ``snapshot``, ``begin``: such a round after ``--seconds`` of work beside an old snapshot, and
  beside a begin that does not commit, against one before. Bound: 3.

Run: ``python tests/benchmarks/event_overhead.py [--dsn …] [--only bulk …]``. Without a DSN it
starts an embedded, durable server of its own in a temporary folder and removes it.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from typing import Any

import psycopg
from bench.server import durable_server, new_database

import omd
from omd._core.publisher import Publisher

Connection = psycopg.Connection[Any]

BOUNDS = {
    "publisher": 1.03,
    "bulk": 6.0,
    "history": 1.1,
    "open": 5.0,
    "snapshot": 3.0,
    "begin": 3.0,
}


def connect(dsn: str) -> Connection:
    return psycopg.connect(dsn, autocommit=True)


def prepare(dsn: str, history: int) -> None:
    """Write ended runs of 1,000 Modules, as those of an installation that was upgraded then."""
    with connect(dsn) as conn:
        conn.execute("CREATE TABLE public.target (omd_insert_module_instance_id bigint)")
        for n in range(1000):
            conn.execute("CALL omd.register_module(%s, 'HSTG', 'public.target')", (f"m_{n}",))
        ended(conn, history)
        conn.execute(
            "UPDATE omd_event.setting SET module_instance_id ="
            " (SELECT max(module_instance_id) FROM omd.module_instance)"
        )
        conn.execute("VACUUM (ANALYZE) omd.module_instance")
        conn.execute("CHECKPOINT")


def ended(conn: Connection, count: int, status: str = "S") -> None:
    conn.execute(
        """
        INSERT INTO omd.module_instance (
            module_id, start_datetime, end_datetime, execution_status_code, processing_indicator,
            next_run_indicator, has_proceeded
        )
        SELECT
            1 + n %% 1000, clock_timestamp(),
            CASE WHEN %s = 'S' THEN clock_timestamp() END, %s, 'P', 'P', TRUE
        FROM generate_series(1, %s::bigint) AS n
        """,
        (status, status, count),
    )


def publish(conn: Connection) -> int:
    row = conn.execute("CALL omd_event.publish()").fetchone()
    assert row is not None
    return int(row[0] or 0)


def drain(conn: Connection) -> None:
    while publish(conn):
        pass


def rounds_of(conn: Connection, count: int = 50) -> float:
    """Return the seconds of a round in which nothing has happened."""
    start = time.perf_counter()
    for _ in range(count):
        publish(conn)
    return (time.perf_counter() - start) / count


def in_turns(left: Callable[[], float], right: Callable[[], float], rounds: int) -> float:
    left(), right()
    ratios = []
    for n in range(rounds):
        if n % 2:
            a, b = left(), right()
        else:
            b, a = right(), left()
        ratios.append(a / b)
    return statistics.median(ratios)


def runs(conn: Connection, module: str) -> Callable[[], float]:
    """Return a function that takes 50 runs, and returns the seconds."""

    def take() -> float:
        start = time.perf_counter()
        for _ in range(50):
            row = conn.execute("CALL omd.begin_module(%s)", (module,)).fetchone()
            assert row is not None and row[1] == "P", row
            conn.execute("CALL omd.module_success(%s, p_rows_inserted => 1)", (row[0],))
        return time.perf_counter() - start

    return take


def work(dsn: str, stopped: Event) -> None:
    """Publish and send, in a process of its own, until it is stopped."""
    with (
        omd.connect(dsn) as control,
        Publisher(lambda: control.new_link(name="-publish"), print),
        connect(dsn) as conn,
    ):
        while not stopped.wait(0.2):
            taken = conn.execute(
                "SELECT event_number FROM omd_event.take_events('s', 'h', 1000)"
            ).fetchall()
            if taken:
                conn.execute("CALL omd_event.confirm_events('s', 'h', %s)", taken[-1])


@contextmanager
def at_work(dsn: str) -> Iterator[None]:
    """A publisher and a sender are at work."""
    context = get_context("spawn")
    stopped = context.Event()
    process = context.Process(target=work, args=(dsn, stopped))
    process.start()
    try:
        yield
    finally:
        stopped.set()
        process.join()


def publisher(server: str) -> float:
    with_sink, without = new_database(server, "e_with"), new_database(server, "e_without")
    prepare(with_sink, 10_000)
    prepare(without, 10_000)
    with connect(with_sink) as a, connect(without) as b:
        a.execute("CALL omd_event.register_sink('s', 'PULL')")
        # In the turns of the other side nothing happens here.
        with at_work(with_sink):
            return in_turns(runs(a, "m_1"), runs(b, "m_1"), 60)


def bulk(server: str) -> float:
    dsn = new_database(server, "e_bulk")
    prepare(dsn, 10_000)
    with connect(dsn) as conn:
        conn.execute("CREATE TABLE public.bare (LIKE omd_event.event INCLUDING ALL)")

        def left() -> float:
            ended(conn, 50_000)
            start = time.perf_counter()
            drain(conn)
            return time.perf_counter() - start

        def right() -> float:
            conn.execute("TRUNCATE public.bare")
            start = time.perf_counter()
            for n in range(0, 100_000, 20_000):
                conn.execute(
                    "INSERT INTO public.bare SELECT %s + n, 'RUN_SUCCEEDED', 'MODULE', n, 'm_1',"
                    " clock_timestamp(), clock_timestamp(), clock_timestamp(), NULL, '{}'"
                    " FROM generate_series(1, 20000) AS n",
                    (n,),
                )
            return time.perf_counter() - start

        return in_turns(left, right, 7)


def history(server: str, instances: int) -> float:
    small, large = new_database(server, "e_small"), new_database(server, "e_large")
    prepare(small, 10_000)
    prepare(large, instances)
    with connect(small) as a, connect(large) as b:
        return in_turns(lambda: rounds_of(b), lambda: rounds_of(a), 30)


def open_runs(server: str) -> float:
    none, many = new_database(server, "e_none"), new_database(server, "e_many")
    prepare(none, 10_000)
    prepare(many, 10_000)
    with connect(none) as a, connect(many) as b:
        ended(b, 1000, "E")
        drain(b)
        return in_turns(lambda: rounds_of(b), lambda: rounds_of(a), 30)


def beside(server: str, seconds: float, *, is_begin: bool) -> float:
    dsn = new_database(server, f"e_old_{is_begin}".lower())
    prepare(dsn, 10_000)
    with connect(dsn) as conn, psycopg.connect(dsn) as old:
        drain(conn)
        rounds_of(conn)
        before = statistics.median(rounds_of(conn) for _ in range(9))
        if is_begin:
            old.execute("CALL omd.begin_module('m_2')")
        else:
            old.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            old.execute("SELECT 1 FROM omd_event.setting")
        until = time.monotonic() + seconds
        take = runs(conn, "m_1")
        while time.monotonic() < until:
            take()
            publish(conn)
        drain(conn)
        after = statistics.median(rounds_of(conn) for _ in range(9))
        old.rollback()
        return after / before


def main() -> int:
    """Measure, print, and return 1 where a bound is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn")
    parser.add_argument("--history", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--only", nargs="+", choices=BOUNDS, default=list(BOUNDS))
    args = parser.parse_args()
    broken = 0
    with durable_server(args.dsn) as server:
        measures: dict[str, Callable[[], float]] = {
            "publisher": lambda: publisher(server),
            "bulk": lambda: bulk(server),
            "history": lambda: history(server, args.history),
            "open": lambda: open_runs(server),
            "snapshot": lambda: beside(server, args.seconds, is_begin=False),
            "begin": lambda: beside(server, args.seconds, is_begin=True),
        }
        for name in args.only:
            ratio = measures[name]()
            print(f"ratio {name} {ratio:.2f} (bound {BOUNDS[name]})", flush=True)
            broken += ratio > BOUNDS[name]
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
