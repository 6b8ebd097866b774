"""A run commits a file to an Iceberg table."""

from __future__ import annotations

from bench.lake import open_lake
from bench.turns import Connection, Take

CALLS, ROUNDS = 5, 20


def prepare(conn: Connection, size: float = 1) -> Take:
    table = open_lake(conn, "committed")
    return lambda: table.run()[1][0]
