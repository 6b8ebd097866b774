"""The ready list of 2,000 topics with five dependencies each."""

from __future__ import annotations

from bench.lineage import register
from bench.turns import Connection, Take, timed

ROUNDS = 20


def prepare(conn: Connection, size: float = 1) -> Take:
    register(conn, max(20, round(2000 * size)))
    return timed(lambda: conn.execute("SELECT * FROM omd_report.lineage_ready").fetchall())
