"""What could run now, after a step."""

from __future__ import annotations

from bench.lineage import make_topic, step
from bench.turns import Connection, Take, seconds

CALLS, ROUNDS = 10, 40


def prepare(conn: Connection, size: float = 1) -> Take:
    make_topic(conn)

    def take() -> float:
        query = "SELECT * FROM omd_report.ready_work"
        return seconds(lambda: (step(conn), conn.execute(query).fetchall()))

    return take
