"""One key is read as of the traveling now."""

from __future__ import annotations

from bench.delivery import reads
from bench.turns import Connection, Take

CALLS, ROUNDS = 200, 20
QUERY = "SELECT * FROM asof_lines.line WHERE n = %(n)s"


def prepare(conn: Connection, size: float = 1) -> Take:
    return reads(conn, max(100, round(200_000 * size)), QUERY)
