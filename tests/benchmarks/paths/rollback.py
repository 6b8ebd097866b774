"""A begin that rolls back a failed run of 10 rows."""

from __future__ import annotations

from bench.control import rolled_back
from bench.turns import Connection, Take

ROUNDS = 60


def prepare(conn: Connection, size: float = 1) -> Take:
    return rolled_back(conn, "few", 10, max(10, round(100_000 * size)))
