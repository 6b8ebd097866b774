"""What a fleet of idle workers costs the server, beside many topics of which none is ready.

Work is switched on, the topics have five dependencies each, on sources whose offsets are set by
hand, and no task waits. After the workers have started and have read everything once, it is
counted for ``--seconds`` what all sessions of the database together execute and consume:

* transactions: the workers have no other ones than a statement each, or a few;
* processor seconds of the server's processes for them, from ``/proc``, in per cent of one core;
* sessions.

One worker alone is counted first, then the whole fleet. Bounds: 2 transactions a second for one
worker, 4 sessions each, and for the fleet 5 % of one core.

Run: ``python tests/benchmarks/idle_fleet.py [--dsn …] [--workers 20] [--topics 10000]
[--seconds 60]``. The server must be on this machine. Without a DSN it starts an embedded one of its
own in a temporary folder and removes it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psycopg
from bench.lineage import register
from bench.server import a_server, new_database
from bench.turns import Connection

from omd.programs.cli.common import PROGRAM

TICKS = os.sysconf("SC_CLK_TCK")
SESSIONS = """\
SELECT array_agg(pid) FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend'
    AND pid <> pg_backend_pid()"""


class Counts(NamedTuple):
    """What was counted so far."""

    transactions: int
    seconds: dict[int, float]  # of the processor, by session


def set_up(dsn: str, topics: int) -> None:
    """Make the topics, none of which is ready, and switch work on."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        register(conn, topics)
        conn.execute(
            "UPDATE omd_lineage.offsets SET last = ROW(timestamptz '2024-02-01', 0),"
            " run = now() WHERE topic LIKE 'f.%'"
        )
        conn.execute("CALL omd_dispatch.set_work(true)")
        conn.execute("VACUUM (ANALYZE)")


@contextmanager
def running(dsn: str, workers: int) -> Iterator[None]:
    """Run so many workers until the end of the block."""
    processes = [
        subprocess.Popen(
            [*PROGRAM, "worker"], env={**os.environ, "OMD_DSN": dsn}, stderr=subprocess.DEVNULL
        )
        for _ in range(workers)
    ]
    try:
        yield
        assert all(process.poll() is None for process in processes), "a worker has ended"
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()


def started(conn: Connection, workers: int, rest: float) -> None:
    """Wait until all workers are registered, and what each of them does first is done."""
    until = time.monotonic() + 600
    while True:
        row = conn.execute("SELECT count(*) FROM omd_report.dispatch_backends").fetchone()
        if row and row[0] >= workers:
            break
        if time.monotonic() > until:
            raise TimeoutError("the workers have not registered")
        time.sleep(0.2)
    time.sleep(rest)


def count(conn: Connection) -> Counts:
    """Return the counts of the database and its sessions."""
    time.sleep(1.1)  # a session that does nothing tells its counts a second later
    row = conn.execute(
        "SELECT xact_commit + xact_rollback FROM pg_stat_database"
        " WHERE datname = current_database()"
    ).fetchone()
    seconds = {}
    for pid in (conn.execute(SESSIONS).fetchone() or ([],))[0] or []:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        seconds[pid] = (int(fields[11]) + int(fields[12])) / TICKS
    assert row is not None
    return Counts(row[0], seconds)


def measure(dsn: str, workers: int, seconds: float, rest: float) -> None:
    """Print what so many idle workers cost."""
    with psycopg.connect(dsn, autocommit=True) as conn, running(dsn, workers):
        started(conn, workers, rest)
        began, before = time.monotonic(), count(conn)
        time.sleep(seconds)
        after, took = count(conn), time.monotonic() - began
    # Two transactions are those of the second count, and of what it waits for.
    transactions = (after.transactions - before.transactions - 2) / took
    used = sum(after.seconds[pid] - before.seconds.get(pid, 0.0) for pid in after.seconds)
    print(
        f"{workers:3} idle: {transactions:.1f} transactions a second,"
        f" {transactions / workers:.2f} of each (bound 2);"
        f" {100 * used / took:.1f} % of a core (bound 5 for 20);"
        f" {len(after.seconds) / workers:.1f} sessions each (bound 4)",
        flush=True,
    )


def main() -> None:
    """Count beside one worker, and beside the fleet."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dsn")
    parser.add_argument("--workers", type=int, default=20)
    parser.add_argument("--topics", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rest", type=float, default=30, help="seconds before it is counted")
    given = parser.parse_args()
    with a_server(given.dsn) as server:
        dsn = new_database(server, "idle_fleet")
        set_up(dsn, given.topics)
        for workers in dict.fromkeys((1, given.workers)):
            measure(dsn, workers, given.seconds, given.rest)


if __name__ == "__main__":
    main()
