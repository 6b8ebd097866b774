"""A begin that rolls back a failed run of 20,000 rows."""

from __future__ import annotations

from bench.control import rolled_back
from bench.turns import Connection, Take

ROUNDS = 15


def prepare(conn: Connection, size: float = 1) -> Take:
    return rolled_back(conn, "many", max(10, round(20_000 * size)), max(10, round(100_000 * size)))
