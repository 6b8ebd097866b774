"""What flows where, in a small company."""

from __future__ import annotations

from bench.company import small
from bench.turns import Connection, Take, timed

ROUNDS = 15
QUERY = "SELECT * FROM omd_report.flow"


def prepare(conn: Connection, size: float = 1) -> Take:
    small(conn, size)
    return timed(lambda: conn.execute(QUERY).fetchall())
