"""How soon ready work runs: from the commit that makes it ready to the end of its run.

A worker (``omd dispatch run``) has nothing to do; one thing after the other gets ready.

* ``load``: a delta comes into the queue of an interface, until its load has ended. Beside it, the
  floor: the same call by hand.
* ``steps``: a step of the topic ``app.a`` ends, until those of ten topics on it have. The floor:
  the ten calls by hand.

* ``many``: a step of each of ``--ready`` topics is ready at once, and four slots of a worker make
  them. The floor: the calls in four sessions by hand. Both in turns.

Bounds: p50 under 1 s, p99 under 2 s; the median of load and steps together at most 6 times the
calls by hand; many at most 2.5 times.

Run: ``python tests/benchmarks/work_latency.py [--dsn …] [--turns N] [--ready N]``. Without a DSN it
starts an embedded, durable server of its own in a temporary folder and removes it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from bench.server import durable_server, new_database
from psycopg.rows import dict_row

sys.path.insert(0, str(Path(__file__).parents[1]))

from facts.store import Store, entity

TOPICS = 10
SLOTS = 4


def set_up(conn: psycopg.Connection[Any]) -> Store:
    conn.execute(
        "CREATE SCHEMA app; CREATE TABLE app.src (pos timestamptz, id bigint);"
        "CREATE INDEX ON app.src (pos, id); CALL omd_lineage.register_topic('app.src')"
    )
    for name, base in (("a", "src"), *((f"b{n}", "a") for n in range(TOPICS))):
        conn.execute(
            f"CREATE TABLE app.{name} (pos timestamptz, id bigint,"
            " omd_insert_module_instance_id bigint);"
            f"CREATE INDEX ON app.{name} (pos, id);"
            f"CREATE VIEW app.v_{name} AS SELECT b.pos, b.id FROM app.{base} AS b"
            " WHERE omd_lineage.in_block(b.pos, b.id);"
            f"CALL omd_lineage.register_topic('app.{name}', ARRAY['app.{base}'],"
            f" p_transforms => ARRAY['app.v_{name}'], p_repeat => '0')".encode()
        )
    store = Store(conn)
    store.set_up(entity("person", ["nbr"], ["nbr", "age"]))
    return store


def ended(
    conn: psycopg.Connection[Any], like: str, since: int, number: int = 1, pause: float = 0.005
) -> float:
    """Wait until so many runs of these Modules have succeeded; return when the last one has."""
    while True:
        rows = conn.execute(
            "SELECT extract(epoch FROM mi.end_datetime)::float8 AS at"
            " FROM omd.module_instance AS mi INNER JOIN omd.module AS m USING (module_id)"
            " WHERE m.module_code LIKE %s"
            " AND mi.module_instance_id > %s AND mi.execution_status_code = 'S'",
            [like, since],
        ).fetchall()
        if len(rows) >= number:
            return float(max(row["at"] for row in rows))
        time.sleep(pause)


def newest(conn: psycopg.Connection[Any]) -> int:
    row = conn.execute("SELECT max(module_instance_id) AS id FROM omd.module_instance").fetchone()
    assert row is not None
    return int(row["id"])


@contextmanager
def worker(dsn: str) -> Iterator[None]:
    command = [Path(sys.executable).with_name("omd"), "dispatch", "run", "--workers", str(SLOTS)]
    process = subprocess.Popen(
        command, env={**os.environ, "OMD_DSN": dsn}, stderr=subprocess.DEVNULL
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def feed(conn: psycopg.Connection[Any]) -> None:
    conn.execute("INSERT INTO app.src VALUES (clock_timestamp(), 1)")
    conn.execute("CALL omd_lineage.probe_sources()")


def seconds(call: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def many(server: str, ready: int, turns: int) -> None:
    dsn = new_database(server, "work_latency_many")
    with psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as conn:
        conn.execute(
            "CREATE SCHEMA app; CREATE TABLE app.src (pos timestamptz, id bigint);"
            "CREATE INDEX ON app.src (pos, id); CALL omd_lineage.register_topic('app.src')"
        )
        for n in range(ready):
            conn.execute(
                f"CREATE TABLE app.t{n} (pos timestamptz, id bigint,"
                " omd_insert_module_instance_id bigint);"
                f"CREATE VIEW app.v_t{n} AS SELECT b.pos, b.id FROM app.src AS b"
                " WHERE omd_lineage.in_block(b.pos, b.id);"
                f"CALL omd_lineage.register_topic('app.t{n}', ARRAY['app.src'],"
                f" p_transforms => ARRAY['app.v_t{n}'], p_repeat => '0')".encode()
            )
        feed(conn)  # the newest row is read when there is one after it

        def by_hand(slot: int) -> None:
            with psycopg.connect(dsn, autocommit=True) as session:
                for n in range(slot, ready, SLOTS):
                    session.execute("CALL omd_lineage.step(%s)", (f"app.t{n}",))

        floors, found = [], []
        for turn in range(turns + 1):
            feed(conn)
            conn.execute("VACUUM (ANALYZE)")
            with ThreadPoolExecutor(SLOTS) as pool:
                floor = seconds(lambda pool=pool: list(pool.map(by_hand, range(SLOTS))))
            conn.execute("CALL omd_dispatch.set_work(TRUE)")
            with worker(dsn):
                time.sleep(3)  # it has nothing to do
                since = newest(conn)
                feed(conn)
                at = time.time()
                taken = ended(conn, "app.t%", since, ready, 0.5) - at
            conn.execute("CALL omd_dispatch.set_work(FALSE)")
            if turn:  # the first is for the caches
                floors.append(floor)
                found.append(taken)
    ratio = statistics.median(a / b for a, b in zip(found, floors, strict=True))
    print(
        f"many   {ready:,} steps {statistics.median(found):.1f} s; by hand"
        f" {statistics.median(floors):.1f} s: {ratio:.2f} times (bound 2.5)"
    )


def latency(server: str, turns: int) -> None:
    dsn = new_database(server, "work_latency")
    with psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as conn:
        store = set_up(conn)
        days = iter(range(1, 100_000))

        def queue() -> None:
            n = next(days)
            store.push(f"2020-01-01 00:00:{n / 1000:06.3f}+00", person=[("N", n, n)])

        floors: dict[str, list[float]] = {"load": [], "steps": []}
        found: dict[str, list[float]] = {"load": [], "steps": []}
        for _ in range(turns):
            queue()
            floors["load"].append(seconds(lambda: conn.execute("CALL omd_facts.load('shop')")))
            feed(conn)
            conn.execute("CALL omd_lineage.step('app.a')")
            floors["steps"].append(
                seconds(
                    lambda: [
                        conn.execute(f"CALL omd_lineage.step('app.b{n}')".encode())
                        for n in range(TOPICS)
                    ]
                )
            )
        conn.execute("CALL omd_dispatch.set_work(TRUE)")
        with worker(dsn):
            for turn in range(turns + 5):
                time.sleep(0.7)  # it has nothing to do
                since = newest(conn)
                queue()
                conn.execute("NOTIFY omd_delivery")
                at = time.time()
                load = ended(conn, "facts.shop", since) - at
                time.sleep(0.7)
                since = newest(conn)
                feed(conn)
                at = ended(conn, "app.a", since)
                steps = ended(conn, "app.b%", since, TOPICS) - at
                if turn >= 5:
                    found["load"].append(load)
                    found["steps"].append(steps)
    for name, values in found.items():
        values.sort()
        floor = statistics.median(floors[name])
        print(
            f"{name:6} p50 {statistics.median(values):.3f} s, p99 {values[-1]:.3f} s;"
            f" by hand {floor:.4f} s: {statistics.median(values) / floor:.1f} times"
        )
    both = [a + b for a, b in zip(found["load"], found["steps"], strict=True)]
    hand = sum(statistics.median(values) for values in floors.values())
    print(f"both   p50 {statistics.median(both):.3f} s: {statistics.median(both) / hand:.1f} times")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn")
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--ready", type=int, default=2_000)
    given = parser.parse_args()
    with durable_server(given.dsn) as server:
        if given.turns:
            latency(server, given.turns)
        if given.ready:
            many(server, given.ready, 3)


if __name__ == "__main__":
    main()
