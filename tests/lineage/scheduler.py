"""A small scheduler, which test_faults.py kills: python scheduler.py SEED < DSN.

It runs one topic after the other in its own session, so that a hundred steps cost little. The real
scheduler, `omd worker --kind TOPIC`, works beside it.
"""

from __future__ import annotations

import contextlib
import random
import sys
import time

import psycopg


def work(conn: psycopg.Connection, rng: random.Random) -> None:
    while True:
        conn.execute("CALL omd_lineage.probe_sources()")
        ready = conn.execute("SELECT topic FROM omd_report.lineage_ready WHERE is_ready").fetchall()
        if not ready:
            time.sleep(0.05)
        # Only a part of the list is taken, or all schedulers would try the same topics.
        for (topic,) in rng.sample(ready, (len(ready) + 3) // 4):
            with contextlib.suppress(psycopg.errors.QueryCanceled):
                conn.execute("CALL omd_lineage.step(%s, %s)", [topic, f"scheduler {sys.argv[1]}"])


def main() -> None:
    dsn = sys.stdin.read()
    rng = random.Random(sys.argv[1])
    while True:
        try:
            with psycopg.connect(dsn, autocommit=True, application_name="scheduler") as conn:
                work(conn, rng)
        except (psycopg.OperationalError, psycopg.errors.QueryCanceled):
            time.sleep(0.05)


if __name__ == "__main__":
    main()
