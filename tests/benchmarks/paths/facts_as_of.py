"""The rows as of the traveling now are read."""

from __future__ import annotations

from bench.delivery import reads
from bench.turns import Connection, Take

CALLS, ROUNDS = 1, 20
QUERY = "SELECT a, sum(x) FROM asof_lines.line GROUP BY a"


def prepare(conn: Connection, size: float = 1) -> Take:
    return reads(conn, max(100, round(200_000 * size)), QUERY)
