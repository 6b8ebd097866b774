"""Bulk actions on tasks: a million of them in parts, against one UPDATE of the same columns.

* ``revive``: a million dead tasks are counted, and revived in parts of 10,000, each a commit.
  Bounds: 2.5 times one UPDATE by their owner; the longest part 0.05 of it.
* ``cancel``, ``reschedule``: the same tasks, pending, are rescheduled and then cancelled. No bound.

The tasks lie in two partitions. With ``--key`` they have keys, and the UPDATE has an INSERT of the
keys beside it. Each round has a database of its own, and its own UPDATE.

Run: ``python tests/benchmarks/web_bulk.py [--dsn …] [--tasks N] [--rounds N] [--key]``. Without a
DSN it starts an embedded, durable server of its own in a temporary folder and removes it.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import psycopg
from bench.server import durable_server, new_database
from bench.dispatch import new_family
from psycopg.types.json import Jsonb

Connection = psycopg.Connection[Any]
PART = 10_000
DEAD = Jsonb({"family_code": "F", "statuses": ["DEAD"]})
PENDING = Jsonb({"family_code": "F", "statuses": ["PENDING"]})
REVIVE = (
    "UPDATE omd_dispatch.task_data_f SET status = 'PENDING', attempt = 0, outcome = NULL,"
    " error = NULL, batch_instance_id = NULL, module_instance_id = NULL, finished_at = NULL,"
    " pending_since = clock_timestamp(), execution_time = clock_timestamp(), lane = 'GF',"
    " suspension_id = NULL WHERE status = 'DEAD'"
)

# What a task with a key takes besides.
KEYS = (
    "INSERT INTO omd_dispatch.mutex (key_hash, family_code, task_type, key_text, task_id)"
    " SELECT key_hash, 'F', 'T', jsonb_build_array('F', 'T', func_code)::text, task_id"
    " FROM omd_dispatch.task_data_f ON CONFLICT (key_hash) DO NOTHING"
)


def seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def prepare(server: str, name: str, tasks: int, keyed: bool) -> str:
    dsn = new_database(server, name)
    with psycopg.connect(dsn, autocommit=True) as conn:
        new_family(conn, "F", "{CODE}" if keyed else "{}")
        conn.execute(
            "INSERT INTO omd_dispatch.task_data_f (task_id, partition_code, task_type, lane,"
            " priority, execution_time, status, attempt, created_at, finished_at, outcome, error,"
            " func_code, key_hash) SELECT nextval('omd_dispatch.task_id'), n % 2, 'T', 'GF', 5,"
            " now(), 'DEAD', 3, now(), now(), 'F', 'ValueError: no such row', n::text,"
            f" {'sha256(n::text::bytea)' if keyed else 'NULL'}"
            f" FROM generate_series(1, {tasks}) AS n".encode()
        )
        conn.execute("VACUUM ANALYZE")
        conn.execute("CHECKPOINT")
    return dsn


def in_parts(conn: Connection, call: str, given: Any, tasks: int) -> list[float]:
    """Count, then take part after part; return how long each took."""
    row = conn.execute("SELECT clock_timestamp()").fetchone()
    assert row is not None
    counted_at = row[0]
    counted = conn.execute(
        "SELECT omd_dispatch.count_tasks(%s, %s)", (given, counted_at)
    ).fetchone()
    assert counted == (tasks,), counted
    took, last, changed, more = [], None, 0, True
    while more:
        start = time.perf_counter()
        answer = conn.execute(call.encode(), (given, counted_at, PART, last)).fetchone()
        took.append(time.perf_counter() - start)
        assert answer is not None
        changed += answer[0]
        last, more = answer[2:]
    assert changed == tasks, changed
    return took


def measure(server: str, number: int, tasks: int, keyed: bool) -> tuple[float, float]:
    with psycopg.connect(prepare(server, "bulk_one", tasks, keyed), autocommit=True) as conn:
        statements = (REVIVE, KEYS) if keyed else (REVIVE,)
        one = sum(seconds(partial(conn.execute, s.encode())) for s in statements)
    with psycopg.connect(prepare(server, "bulk_parts", tasks, keyed), autocommit=True) as conn:
        start = time.perf_counter()
        parts = in_parts(conn, "CALL omd_dispatch.revive_tasks(%s, %s, %s, %s)", DEAD, tasks)
        whole, longest = time.perf_counter() - start, max(parts) / one
        print(
            f"round {number}: one UPDATE of {tasks:,} tasks {one:.1f} s; counted and revived in"
            f" {len(parts)} parts {whole:.1f} s: {whole / one:.2f} times; the longest part"
            f" {max(parts):.2f} s: {longest:.3f}",
            flush=True,
        )
        if number == 1:
            for name, call in (
                (
                    "rescheduled",
                    "CALL omd_dispatch.reschedule_tasks(%s, %s, %s, %s, p_priority => 1)",
                ),
                ("cancelled", "CALL omd_dispatch.cancel_tasks(%s, %s, %s, %s)"),
            ):
                parts = in_parts(conn, call, PENDING, tasks)
                print(
                    f"  {name} {sum(parts):.1f} s, the longest part {max(parts):.2f} s", flush=True
                )
    return whole / one, longest


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn")
    parser.add_argument("--tasks", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--key", action="store_true", help="the tasks have keys")
    given = parser.parse_args()
    with durable_server(given.dsn) as server:
        found = [measure(server, n, given.tasks, given.key) for n in range(1, given.rounds + 1)]
    whole, longest = (statistics.median(values) for values in zip(*found, strict=True))
    print(
        f"revive in parts {whole:.2f} times one UPDATE (bound 2.5), the longest part"
        f" {longest:.3f} of it (bound 0.05)"
    )


if __name__ == "__main__":
    main()
