"""The current rows are read."""

from __future__ import annotations

from bench.delivery import reads
from bench.turns import Connection, Take

CALLS, ROUNDS = 1, 20
QUERY = "SELECT a, sum(x) FROM gdal_lines.line GROUP BY a"


def prepare(conn: Connection, size: float = 1) -> Take:
    return reads(conn, max(100, round(200_000 * size)), QUERY)
